/* fluids.c: particle systems that are fluids, as clients command, read and store them. */
#include "server/engine/fluids/fluid.h"
#include "server/engine/particles/particle_birth.h"
#include "server/engine/world/checking.h"
#include "server/engine/world/particle_systems.h"

/* Of a spacing: a place that is nearer to a body stays free. A lattice against a wall is half a
 * spacing from it. */
#define FREE 0.45

/* ---- checks -------------------------------------------------------------------------------------- */

enum status check_particles_fluid(struct check *check, struct command *command)
{
	struct command_PARTICLES_FLUID *set = &command->particles_fluid;
	struct planned_system *system;
	enum status status = plan_find_system(check, &set->system, &system);
	if (status != STATUS_OK)
		return status;
	if (set->kernel_radius > 0 && check->planar)
		return REFUSE(check, STATUS_PLANAR, "kernel_radius",
			      "kernel_radius is %.10g: kernels and walls of fluids are those of "
			      "space, so a planar world has no fluids of particles; for a liquid "
			      "that floats bodies there is a force field of kind fluid",
			      set->kernel_radius);
	if (set->kernel_radius > 0 && set->kernel_radius < FLUID_RADIUS_MIN)
		return REFUSE(check, STATUS_RANGE, "kernel_radius",
			      "kernel_radius is %.10g: it must be 0 or at least %g m",
			      set->kernel_radius, FLUID_RADIUS_MIN);
	if (set->kernel_radius > 0 && (system->linked || system->interacts))
		return REFUSE(check, STATUS_FLUID, "system",
			      "system %u has %s: a fluid has none; %s", system->id,
			      system->linked ? "links or pins" : "forces between its particles",
			      system->linked ? "make another system"
					     : "particles_interact with forces 0 and collisions 0 "
					       "ends these");
	if (set->kernel_radius > 0 && !system->fluid)
		check->plan->new_fluids++;
	system->fluid = set->kernel_radius > 0;
	return STATUS_OK;
}

/* Particles along one side. */
static double fill_side(double size, double spacing)
{
	double count = scalar_round(size / spacing);
	return scalar_clamp(count, 1, PARTICLES_MAX + 1.0);
}

uint64_t fill_particles(const struct command_PARTICLES_FILL *fill)
{
	double count = 1;
	if (!(fill->spacing > 0))
		return 0; /* it will be refused */
	for (uint32_t axis = 0; axis < 3; axis++)
		count *= fill_side(vec3_get(fill->size, axis), fill->spacing);
	/* NaN compares false. */
	return count <= PARTICLES_MAX ? (uint64_t)count : PARTICLES_MAX + 1u;
}

enum status check_particles_fill(struct check *check, struct command *command)
{
	struct command_PARTICLES_FILL *fill = &command->particles_fill;
	struct planned_system *system;
	enum status status = plan_find_system(check, &fill->system, &system);
	if (status != STATUS_OK)
		return status;
	if (!system->fluid)
		return REFUSE(check, STATUS_NOT_FLUID, "system",
			      "system %u is no fluid: particles_fluid makes it one", system->id);
	uint64_t count = fill_particles(fill);
	status = check_particle_room(check, system, count);
	if (status != STATUS_OK)
		return status;
	system->alive += (uint32_t)count;
	system->born += count;
	check->plan->new_particles += (uint32_t)count;
	return STATUS_OK;
}

/* ---- applying ------------------------------------------------------------------------------------ */

static uint32_t system_row(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_system(&context->world->dynamics, (system_id)id);
	ASSERT(row != DYNAMICS_NONE);
	return row;
}

/* Its particles are none of a fluid any more. */
static void clear_particles(struct tables *tables, uint32_t system)
{
	ASSERT(system < tables->system.count);
	for (uint32_t row = 0; row < tables->particle.count; row++)
		if (tables->particle.system[row] == system)
			tables->particle.density[row] = tables->particle.pressure[row] =
				tables->particle.multiplier[row] = 0;
}

void apply_particles_fluid(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_FLUID *set = &command->particles_fluid;
	struct tables *tables = &context->world->tables;
	uint32_t system = system_row(context, set->system), row = fluid_find(tables, system);
	if (set->kernel_radius == 0) {
		fluid_forget(tables, system);
		tables->system.unsampled[system] = tables->system.coarse[system] = 0;
		clear_particles(tables, system);
		return;
	}
	if (row == DYNAMICS_NONE)
		row = tables_append(tables, TABLE_FLUID);
	struct fluid_table *table = &tables->fluid;
	ASSERT(table->count <= SYSTEMS_MAX);
	table->system[row] = system;
	table->kernel_radius[row] = set->kernel_radius;
	table->rest_density[row] = set->rest_density;
	table->viscosity[row] = set->viscosity;
	table->wall_viscosity[row] = set->wall_viscosity;
	table->surface_tension[row] = set->surface_tension;
	table->solver[row] = set->solver;
	table->tolerance[row] = set->tolerance;
	table->compression[row] = set->compression;
	table->speed[row] = set->speed;
	table->stiffness[row] = set->stiffness;
	table->step_ratio[row] = set->step_ratio;
	table->substeps_max[row] = set->substeps_max;
}

void apply_particles_fill(const struct apply_context *context, const struct command *command)
{
	const struct command_PARTICLES_FILL *fill = &command->particles_fill;
	struct dynamics *dynamics = &context->world->dynamics;
	struct tables *tables = &context->world->tables;
	uint32_t system = system_row(context, fill->system), fluid = fluid_find(tables, system);
	double spacing = fill->spacing, cube = spacing * spacing * spacing;
	uint32_t side[3];
	ASSERT(fluid != DYNAMICS_NONE);
	for (uint32_t axis = 0; axis < 3; axis++)
		side[axis] = (uint32_t)fill_side(vec3_get(fill->size, axis), spacing);
	vec3 middle =
		vec3_make(0.5 * (side[0] - 1.0), 0.5 * (side[1] - 1.0), 0.5 * (side[2] - 1.0));
	for (uint32_t z = 0; z < side[2]; z++)
		for (uint32_t y = 0; y < side[1]; y++)
			for (uint32_t x = 0; x < side[0]; x++) {
				vec3 at = vec3_scale(vec3_sub(vec3_make(x, y, z), middle), spacing);
				at = vec3_add(fill->position, quat_rotate(fill->rotation, at));
				if (particle_is_blocked(dynamics, tables->system.mask[system], at,
							FREE * spacing)) {
					tables->fluid.blocked[fluid]++;
					continue;
				}
				dynamics_particle_add(dynamics, system, at, fill->velocity);
				tables->particle.mass[tables->particle.count - 1] =
					scalar_max(cube * tables->fluid.rest_density[fluid],
						   PARTICLE_MASS_MIN);
			}
}

/* ---- reading ------------------------------------------------------------------------------------- */

uint32_t world_fluids(const struct world *world, struct fluid_view out[SYSTEMS_MAX])
{
	const struct fluid_table *table = &world->tables.fluid;
	for (uint32_t row = 0; row < table->count; row++)
		out[row] = (struct fluid_view){
			.system = world->tables.system.id[table->system[row]],
			.particles = world->tables.system.alive[table->system[row]],
			.solver = table->solver[row],
			.kernel_radius = table->kernel_radius[row],
			.rest_density = table->rest_density[row],
			.viscosity = table->viscosity[row],
			.wall_viscosity = table->wall_viscosity[row],
			.surface_tension = table->surface_tension[row],
			.tolerance = table->tolerance[row],
			.compression = table->compression[row],
			.speed = table->speed[row],
			.stiffness = table->stiffness[row],
			.step_ratio = table->step_ratio[row],
			.substeps_max = table->substeps_max[row],
			.substeps = table->substeps[row],
			.iterations = table->iterations[row],
			.density_error = table->density_error[row],
			.density_error_max = table->density_error_max[row],
			.residual = table->residual[row],
			.divergence_error = table->divergence_error[row],
			.speed_max = table->speed_max[row],
			.capped = table->capped[row],
			.unconverged = table->unconverged[row],
			.inside = table->inside[row],
			.crowded = table->crowded[row],
			.lost = table->lost[row],
			.bad = table->bad[row],
			.blocked = table->blocked[row],
			.unsampled = world->tables.system.unsampled[table->system[row]],
			.coarse = world->tables.system.coarse[table->system[row]],
		};
	return table->count;
}

/* ---- invariants ----------------------------------------------------------------------------------- */

static enum status check_figures(const struct fluid_table *t, uint32_t row, struct reason *why)
{
	EXPECT(t->substeps[row] <= FLUID_SUBSTEPS_MAX, TABLE_FLUID, row, "substeps");
	EXPECT(check_within(t->density_error[row], 0, SCALAR_MAX), TABLE_FLUID, row,
	       "density_error");
	EXPECT(check_within(t->density_error_max[row], 0, SCALAR_MAX), TABLE_FLUID, row,
	       "density_error_max");
	EXPECT(check_within(t->residual[row], 0, SCALAR_MAX), TABLE_FLUID, row, "residual");
	EXPECT(check_within(t->divergence_error[row], 0, SCALAR_MAX), TABLE_FLUID, row,
	       "divergence_error");
	EXPECT(check_within(t->speed_max[row], 0, SCALAR_MAX), TABLE_FLUID, row, "speed_max");
	return STATUS_OK;
}

static enum status check_fluid(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct fluid_table *t = &tables->fluid;
	uint32_t system = t->system[row];
	EXPECT(system < tables->system.count && tables->system.id[system] != 0, TABLE_FLUID, row,
	       "system");
	EXPECT(fluid_find(tables, system) == row, TABLE_FLUID, row, "system");
	EXPECT(tables->system.links[system] + tables->system.pins[system] == 0, TABLE_FLUID, row,
	       "system");
	EXPECT((tables->system.forces[system] == 0 || tables->system.cutoff[system] == 0) &&
		       tables->system.collisions[system] == 0,
	       TABLE_FLUID, row, "system");
	EXPECT(check_within(t->kernel_radius[row], FLUID_RADIUS_MIN, FLUID_RADIUS_MAX), TABLE_FLUID,
	       row, "kernel_radius");
	EXPECT(check_within(t->rest_density[row], FLUID_DENSITY_MIN, FLUID_DENSITY_MAX),
	       TABLE_FLUID, row, "rest_density");
	EXPECT(check_within(t->viscosity[row], 0, FLUID_VISCOSITY_MAX), TABLE_FLUID, row,
	       "viscosity");
	EXPECT(check_within(t->wall_viscosity[row], 0, FLUID_VISCOSITY_MAX), TABLE_FLUID, row,
	       "wall_viscosity");
	EXPECT(check_within(t->surface_tension[row], 0, FLUID_TENSION_MAX), TABLE_FLUID, row,
	       "surface_tension");
	EXPECT(t->solver[row] <= FLUID_INCOMPRESSIBLE, TABLE_FLUID, row, "solver");
	EXPECT(check_within(t->tolerance[row], FLUID_TOLERANCE_MIN, FLUID_TOLERANCE_MAX),
	       TABLE_FLUID, row, "tolerance");
	EXPECT(check_within(t->compression[row], FLUID_COMPRESSION_MIN, 1), TABLE_FLUID, row,
	       "compression");
	EXPECT(check_within(t->speed[row], 0, SPEED_MAX), TABLE_FLUID, row, "speed");
	EXPECT(check_within(t->stiffness[row], 0, FLUID_STIFFNESS_MAX), TABLE_FLUID, row,
	       "stiffness");
	EXPECT(check_within(t->step_ratio[row], FLUID_RATIO_MIN, 1), TABLE_FLUID, row,
	       "step_ratio");
	EXPECT(t->substeps_max[row] >= 1 && t->substeps_max[row] <= FLUID_SUBSTEPS_MAX, TABLE_FLUID,
	       row, "substeps_max");
	return check_figures(t, row, why);
}

enum status fluids_check_tables(const struct tables *tables, struct reason *why)
{
	enum status status = STATUS_OK;
	EXPECT(tables->fluid.count <= SYSTEMS_MAX, TABLE_FLUID, 0, "system");
	for (uint32_t row = 0; row < tables->fluid.count && status == STATUS_OK; row++)
		status = check_fluid(tables, row, why);
	for (uint32_t row = 0; row < tables->load.count && status == STATUS_OK; row++) {
		const struct load_table *t = &tables->load;
		EXPECT(t->row[row] < tables->body.count, TABLE_LOAD, row, "row");
		EXPECT(row == 0 || t->row[row] > t->row[row - 1], TABLE_LOAD, row, "row");
		EXPECT(t->body[row] != 0, TABLE_LOAD, row, "body");
		EXPECT(vec3_is_finite(t->force[row]), TABLE_LOAD, row, "force");
		EXPECT(vec3_is_finite(t->torque[row]), TABLE_LOAD, row, "torque");
		EXPECT(vec3_is_finite(t->velocity[row]), TABLE_LOAD, row, "velocity");
		EXPECT(vec3_is_finite(t->spin[row]), TABLE_LOAD, row, "spin");
	}
	const struct particle_table *particle = &tables->particle;
	for (uint32_t row = 0; row < particle->count && status == STATUS_OK; row++) {
		EXPECT(check_within(particle->density[row], 0, SCALAR_MAX), TABLE_PARTICLE, row,
		       "density");
		EXPECT(check_within(particle->pressure[row], 0, SCALAR_MAX), TABLE_PARTICLE, row,
		       "pressure");
		EXPECT(check_within(particle->multiplier[row], 0, SCALAR_MAX), TABLE_PARTICLE, row,
		       "multiplier");
	}
	return status;
}
