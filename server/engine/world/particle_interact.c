/* particle_interact.c: what the particles of a system do to each other, as clients command it. */
#include "server/engine/particles/particles.h"
#include "server/engine/world/particle_systems.h"

enum status check_particles_interact(struct check *check, struct command *command)
{
	struct command_PARTICLES_INTERACT *set = &command->particles_interact;
	struct planned_system *system;
	enum status status = plan_find_system(check, &set->system, &system);
	if (status != STATUS_OK)
		return status;
	if (set->well_depth > 0 && !(set->well_distance > 0))
		return REFUSE(check, STATUS_RANGE, "well_distance",
			      "well_distance is %.10g: with well_depth %.10g it must be above 0",
			      set->well_distance, set->well_depth);
	bool interacts = (set->forces != 0 && set->cutoff > 0) || set->collisions != 0;
	if (interacts && system->fluid)
		return REFUSE(
			check, STATUS_FLUID, "system",
			"system %u is a fluid: its particles have no other forces or collisions "
			"between them; set forces and collisions to 0",
			system->id);
	if (interacts && system->linked)
		return REFUSE(check, STATUS_LINKED, "system",
			      "system %u has links or pins: its particles can have no forces or "
			      "collisions between them; set forces and collisions to 0",
			      system->id);
	system->interacts = interacts;
	return STATUS_OK;
}

void apply_particles_interact(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_INTERACT *set = &command->particles_interact;
	struct system_table *table = &context->world->tables.system;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE);
	ASSERT(set->substeps >= 1);
	table->forces[row] = set->forces;
	table->collisions[row] = set->collisions;
	table->substeps[row] = set->substeps;
	table->cutoff[row] = set->cutoff;
	table->core[row] = set->core;
	table->charge[row] = set->charge;
	table->gravitation[row] = set->gravitation;
	table->well_depth[row] = set->well_depth;
	table->well_distance[row] = set->well_distance;
	table->repulsion[row] = set->repulsion;
	table->repulsion_damping[row] = set->repulsion_damping;
}
