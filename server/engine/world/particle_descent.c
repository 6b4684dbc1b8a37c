/* particle_descent.c: how particles split and which trails they leave, as clients command it. */
#include "server/engine/particles/particles.h"
#include "server/engine/world/particle_systems.h"

#include <string.h>

enum status check_particles_split(struct check *check, struct command *command)
{
	struct command_PARTICLES_SPLIT *set = &command->particles_split;
	struct planned_system *system;
	enum status status = plan_find_system(check, &set->system, &system);
	if (status == STATUS_OK)
		status = check_deviation(check, "number", set->number, set->number_deviation, 0,
					 PARTICLE_CHILDREN_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "age", set->age, set->age_deviation, 0,
					 PARTICLE_LIFE_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "velocity", set->velocity, set->velocity_deviation,
					 0, PARTICLE_SHARE_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "burst", set->burst, set->burst_deviation, 0,
					 SPEED_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "size", set->size, set->size_deviation, 0,
					 PARTICLE_SHARE_MAX);
	if (status == STATUS_OK)
		status = check_deviation(check, "life", set->life, set->life_deviation, 0,
					 PARTICLE_SHARE_MAX);
	return status;
}

static void put_drawn(double to[2], double mean, double deviation)
{
	to[0] = mean;
	to[1] = deviation;
}

void apply_particles_split(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_SPLIT *set = &command->particles_split;
	struct system_table *table = &context->world->tables.system;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE && set->depth <= PARTICLE_GENERATIONS_MAX);
	table->split_number[row][0] = set->number;
	table->split_number[row][1] = set->number_deviation;
	table->split_delay[row] = set->delay;
	table->split_depth[row] = set->depth;
	table->split_spread[row] = set->spread;
	table->split_spend[row] = set->spend;
	put_drawn(table->split_age[row], set->age, set->age_deviation);
	put_drawn(table->split_velocity[row], set->velocity, set->velocity_deviation);
	put_drawn(table->split_burst[row], set->burst, set->burst_deviation);
	put_drawn(table->split_size[row], set->size, set->size_deviation);
	put_drawn(table->split_life[row], set->life, set->life_deviation);
}

enum status check_particles_trail(struct check *check, struct command *command)
{
	struct command_PARTICLES_TRAIL *set = &command->particles_trail;
	struct planned_system *system, *trail;
	enum status status = STATUS_OK;
	if (set->trail != 0)
		status = plan_find_named_system(check, &set->trail, &trail, "trail");
	if (status == STATUS_OK)
		status = plan_find_system(check, &set->system, &system);
	if (status == STATUS_OK && set->trail != 0 && trail == system)
		return REFUSE(check, STATUS_RANGE, "trail",
			      "trail is %u, the system itself: make another system with emitter "
			      "none, whose particles are the trail",
			      trail->id);
	return status;
}

void apply_particles_trail(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_TRAIL *set = &command->particles_trail;
	struct system_table *table = &context->world->tables.system;
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)set->system);
	ASSERT(row != DYNAMICS_NONE && set->trail != set->system);
	bool some = set->trail != 0;
	table->trail[row] = (system_id)set->trail;
	table->trail_delay[row] = some ? set->delay : 0;
	table->trail_velocity[row] = some ? set->velocity : 0;
	table->trail_depth[row] = some ? set->depth : 0;
}
