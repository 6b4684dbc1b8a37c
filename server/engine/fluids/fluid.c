/* fluid.c: the fluids of a world in a tick; see fluid.h and fluid_work.h. */
#include "server/engine/fluids/fluid_work.h"

#include "server/engine/math/trig.h"
#include "server/engine/world/parameters.h"

/* The step is such that an explicit viscosity is stable, for Σ V ∇²W = 15/h²: by Gershgorin no difference of
 * velocities decays faster than at four times that rate. */
#define VISCOUS_RATE 15.0
#define VISCOUS_PART 0.5
#define SOUND_PART 0.4 /* of a radius that sound may go in a sub-step */
/* Pressures act along gradients that are constant in a sub-step. A pool whose steps are longer than 0.35 of a
 * radius by the root of p/ρ loses a sixth of its height. */
#define PRESSED_PART 0.28
/* Densities are foreseen linearly. What the last tick left beyond EXCESS times the tolerance shows that its
 * sub-steps were too long for that, so they are shorter in proportion, up to SHORTER times. */
#define EXCESS 2.0
#define SHORTER 4.0
/* Of √(ρ h³/γ): waves of the surface with the length of a few spacings. */
#define CAPILLARY_PART 0.05
#define CORE 0.25 /* of a spacing: the ball that bodies stop */

/* ---- rows ---------------------------------------------------------------------------------- */

uint32_t fluid_find(const struct tables *tables, uint32_t system)
{
	ASSERT(system < tables->system.count);
	for (uint32_t row = 0; row < tables->fluid.count; row++)
		if (tables->fluid.system[row] == system)
			return row;
	return DYNAMICS_NONE;
}

void fluid_forget(struct tables *tables, uint32_t system)
{
	uint32_t row = fluid_find(tables, system);
	if (row == DYNAMICS_NONE)
		return;
	tables_remove(tables, TABLE_FLUID, row, 1);
	ASSERT(fluid_find(tables, system) == DYNAMICS_NONE);
}

uint32_t fluid_find_load(const struct tables *tables, uint32_t body)
{
	const struct load_table *table = &tables->load;
	uint32_t low = 0, high = table->count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (table->row[middle] < body)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < table->count && table->row[low] == body &&
		     table->body[low] == tables->body.id[body];
	return found ? low : DYNAMICS_NONE;
}

/* m: the edge of a cube of a particle's volume. */
static double fluid_spacing(double mass, double rest_density)
{
	ASSERT(mass > 0 && rest_density > 0);
	return trig_pow(mass / rest_density, 1.0 / 3);
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Each array with how many items it has for `count` places. */
#define PLACE_ARRAYS(ARRAY)                                                                        \
	ARRAY(points, count)                                                                       \
	ARRAY(points_before, count)                                                                \
	ARRAY(keys, count)                                                                         \
	ARRAY(key_scratch, count)                                                                  \
	ARRAY(order, count)                                                                        \
	ARRAY(order_scratch, count)                                                                \
	ARRAY(x, count)                                                                            \
	ARRAY(v, count + 1)                                                                        \
	ARRAY(gain, count)                                                                         \
	ARRAY(mass, count)                                                                         \
	ARRAY(volume, count)                                                                       \
	ARRAY(density, count)                                                                      \
	ARRAY(pressure, count)                                                                     \
	ARRAY(diagonal, count)                                                                     \
	ARRAY(target, count)                                                                       \
	ARRAY(beyond, count)                                                                       \
	ARRAY(kept, count)                                                                         \
	ARRAY(load, count)                                                                         \
	ARRAY(course, count)                                                                       \
	ARRAY(effect, count)                                                                       \
	ARRAY(trial, count)                                                                        \
	ARRAY(trace, count)                                                                        \
	ARRAY(drift, count)                                                                        \
	ARRAY(sites, count)                                                                        \
	ARRAY(spots, count)                                                                        \
	ARRAY(sides, count)                                                                        \
	ARRAY(speeds, count)                                                                       \
	ARRAY(weights, count)                                                                      \
	ARRAY(pressures, count)                                                                    \
	ARRAY(turns, count)                                                                        \
	ARRAY(colour, count)                                                                       \
	ARRAY(edge, count)                                                                         \
	ARRAY(pull, count)                                                                         \
	ARRAY(rim_of, count)                                                                       \
	ARRAY(flows, count)                                                                        \
	ARRAY(wall_ends, count)                                                                    \
	ARRAY(liquid, count)                                                                       \
	ARRAY(near_x, count + FLUID_EIGHT)                                                         \
	ARRAY(near_y, count + FLUID_EIGHT)                                                         \
	ARRAY(near_z, count + FLUID_EIGHT)                                                         \
	ARRAY(starts, count)                                                                       \
	ARRAY(pair_ends, count)                                                                    \
	ARRAY(wall_starts, count + 1)                                                              \
	ARRAY(sums, blocks)                                                                        \
	ARRAY(near_starts, blocks + 1)                                                             \
	ARRAY(push_starts, blocks + 1)                                                             \
	ARRAY(part_starts, blocks)                                                                 \
	ARRAY(part_rooms, blocks)                                                                  \
	ARRAY(part_counts, blocks)                                                                 \
	ARRAY(results, count)                                                                      \
	ARRAY(ends, count)
#define OTHER_ARRAYS(ARRAY)                                                                        \
	ARRAY(bodies, 0)                                                                           \
	ARRAY(body_of, 0)                                                                          \
	ARRAY(pairs, 0)                                                                            \
	ARRAY(walls, 0)                                                                            \
	ARRAY(near, 0)                                                                             \
	ARRAY(pushes, 0)                                                                           \
	ARRAY(found, 0)                                                                            \
	ARRAY(rims, 0)                                                                             \
	ARRAY(rim_keys, 0)                                                                         \
	ARRAY(nodes, 0)                                                                            \
	ARRAY(packed, 0)                                                                           \
	ARRAY(node_x, 0)                                                                           \
	ARRAY(node_y, 0)                                                                           \
	ARRAY(node_z, 0)                                                                           \
	ARRAY(loads, 0)                                                                            \
	ARRAY(loads_before, 0)

static enum status reserve_places(struct fluid_work *self, uint64_t count)
{
	uint64_t blocks = (count + FLUID_BLOCK - 1) / FLUID_BLOCK;
	enum status status = STATUS_OK;
	ASSERT(count <= PARTICLES_MAX);
#define RESERVE(name, room)                                                                        \
	if (status == STATUS_OK)                                                                   \
		status = ARRAY_RESERVE(&self->name, room);
	PLACE_ARRAYS(RESERVE)
#undef RESERVE
	return status;
}

void fluids_destroy(struct fluid_work *self)
{
	if (self == NULL)
		return;
	fluid_boundary_release(&self->boundary);
#define RELEASE(name, room) ARRAY_RELEASE(&self->name);
	PLACE_ARRAYS(RELEASE)
	OTHER_ARRAYS(RELEASE)
#undef RELEASE
	heap_free(self);
}

uint64_t fluids_memory(const struct fluid_work *self)
{
	if (self == NULL)
		return 0;
	uint64_t bytes = sizeof *self + fluid_boundary_memory(&self->boundary);
#define MEASURE(name, room) bytes += (uint64_t)self->name.capacity * sizeof *self->name.items;
	PLACE_ARRAYS(MEASURE)
	OTHER_ARRAYS(MEASURE)
#undef MEASURE
	return bytes;
}

/* ---- a group ------------------------------------------------------------------------------- */

/* Whether the fluids of two rows are one. */
static bool are_one(const struct fluid_table *table, uint32_t a, uint32_t b)
{
	return table->kernel_radius[a] == table->kernel_radius[b] &&
	       table->solver[a] == table->solver[b];
}

static void gather_liquid(struct fluid_work *self, uint32_t fluid)
{
	const struct fluid_table *table = &self->dynamics->tables->fluid;
	bool first = self->liquid_count == 0;
	ASSERT(self->liquid_count < SYSTEMS_MAX);
	self->liquids[self->liquid_count++] = (struct fluid_liquid){
		.row = table->system[fluid],
		.fluid = fluid,
		.rest_density = table->rest_density[fluid],
		.viscosity = table->viscosity[fluid],
		.wall_viscosity = table->wall_viscosity[fluid],
		.tension = table->surface_tension[fluid],
		.stiffness = table->stiffness[fluid],
	};
	/* Of several the strictest. */
	self->tolerance = first ? table->tolerance[fluid]
				: scalar_min(self->tolerance, table->tolerance[fluid]);
	self->compression = first ? table->compression[fluid]
				  : scalar_min(self->compression, table->compression[fluid]);
	self->speed = scalar_max(first ? 0 : self->speed, table->speed[fluid]);
	self->step_ratio = first ? table->step_ratio[fluid]
				 : scalar_min(self->step_ratio, table->step_ratio[fluid]);
	self->excess = scalar_max(first ? 0 : self->excess, table->density_error[fluid]);
	self->substeps_max = MAX_OF(first ? 1 : self->substeps_max, table->substeps_max[fluid]);
}

static void gather_points(struct fluid_work *self)
{
	const struct tables *tables = self->dynamics->tables;
	const struct particle_table *table = &tables->particle;
	uint64_t now = tables->world.tick[0] + 1;
	uint8_t liquid_of[SYSTEMS_MAX];
	memset(liquid_of, UINT8_MAX, sizeof liquid_of);
	for (uint32_t i = 0; i < self->liquid_count; i++)
		liquid_of[self->liquids[i].row] = (uint8_t)i;
	self->points.count = 0;
	for (uint32_t row = 0; row < table->count; row++) {
		uint8_t liquid = liquid_of[table->system[row]];
		if (liquid == UINT8_MAX || (table->death[row] != 0 && table->death[row] <= now))
			continue;
		ASSERT(table->multiplier[row] >= 0);
		self->points.items[self->points.count++] = (struct fluid_point){
			.x = table->position[row],
			.v = table->velocity[row],
			.mass = table->mass[row],
			.volume = table->mass[row] / self->liquids[liquid].rest_density,
			.multiplier = table->multiplier[row],
			.row = row,
			.liquid = liquid,
		};
	}
}

/* ---- sub-steps (P-50) ---------------------------------------------------------------------- */

/* m/s: the largest component of a velocity, with what gravity adds in the tick. */
static double fastest(const struct fluid_work *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->points.count; i++)
		most = scalar_max(most, vec3_max_component(vec3_abs(self->points.items[i].v)));
	ASSERT(most <= SPEED_MAX);
	return most + self->dt * vec3_length(force_gravity(self->dynamics->tables));
}

/* m/s: what the group's energy allows: kinetic energy, and height above its lowest particle. It is a
 * mean, because stiffness that followed the fastest particle would feed it. */
static double expected_speed(const struct fluid_work *self)
{
	vec3 gravity = force_gravity(self->dynamics->tables);
	double low = SCALAR_MAX, sum = 0, squares = 0, count = self->points.count;
	for (uint32_t i = 0; i < self->points.count; i++) {
		double height = -vec3_dot(gravity, self->points.items[i].x);
		low = scalar_min(low, height);
		sum += height;
		squares += vec3_length_squared(self->points.items[i].v);
	}
	ASSERT(count > 0);
	double fall =
		4 * scalar_max(sum / count - low, 0) + 2 * self->radius * vec3_length(gravity);
	return scalar_sqrt(3 * squares / count + fall);
}

/* m/s: the root of the largest pressure by density, if that grows with the depth. It is a mean, so
 * a splash does not shorten the step. */
static double pressed_speed(const struct fluid_work *self)
{
	double squares = 0;
	for (uint32_t i = 0; i < self->points.count; i++) {
		const struct fluid_point *point = &self->points.items[i];
		double p = point->multiplier / self->liquids[point->liquid].rest_density;
		squares += p * p;
	}
	ASSERT(self->points.count > 0);
	return scalar_sqrt(scalar_sqrt(3 * squares / self->points.count));
}

/* s: the longest sub-step that the rules allow. */
static double longest_step(struct fluid_work *self)
{
	double speed = fastest(self), h = self->radius, viscous = 0;
	double step = self->step_ratio * h / scalar_max(speed, 1e-6);
	self->now.speed_max = speed;
	self->is_viscous = self->has_tension = false;
	for (uint32_t i = 0; i < self->liquid_count; i++) {
		const struct fluid_liquid *liquid = &self->liquids[i];
		viscous = scalar_max(viscous, liquid->viscosity / liquid->rest_density);
		self->is_viscous |= liquid->viscosity > 0;
		self->has_tension |= liquid->tension > 0;
		if (liquid->tension > 0)
			step = scalar_min(step,
					  CAPILLARY_PART * scalar_sqrt(liquid->rest_density * h *
								       h * h / liquid->tension));
	}
	if (viscous > 0)
		step = scalar_min(step, VISCOUS_PART * h * h / (VISCOUS_RATE * viscous));
	if (self->solver != FLUID_EXPLICIT) {
		double pressed = PRESSED_PART * h / scalar_max(pressed_speed(self), 1e-6);
		double excess = self->excess / (EXCESS * self->tolerance);
		return scalar_min(step, pressed) / scalar_clamp(excess, 1, SHORTER);
	}
	double expected = self->speed > 0 ? self->speed : expected_speed(self);
	self->bulk = expected * expected / (7 * self->compression);
	double sound = scalar_sqrt(7 * self->bulk);
	for (uint32_t i = 0; i < self->liquid_count; i++)
		sound = scalar_max(sound, scalar_sqrt(self->liquids[i].stiffness));
	return scalar_min(step, SOUND_PART * h / (sound + speed));
}

/* As many as are wanted, and as the work that is left pays for with so many pairs; at least 1. */
static uint32_t affordable_steps(const struct fluid_work *self, double pairs, uint32_t wanted)
{
	double each = FLUID_WORK_SUBSTEP * scalar_max(pairs, 1) + self->node_work;
	ASSERT(wanted >= 1);
	return (uint32_t)scalar_clamp(self->work / each, 1, wanted);
}

/* Lowers stiffness and viscosity to what the sub-steps can bear. */
static void soften_liquids(struct fluid_work *self)
{
	double h = self->radius;
	ASSERT(self->step > 0);
	self->thinning = 1;
	for (uint32_t i = 0; i < self->liquid_count; i++) {
		struct fluid_liquid *liquid = &self->liquids[i];
		double rate = VISCOUS_RATE * liquid->viscosity / (liquid->rest_density * h * h);
		if (rate * self->step > VISCOUS_PART)
			self->thinning =
				scalar_min(self->thinning, VISCOUS_PART / (rate * self->step));
	}
	if (!self->now.capped || self->solver != FLUID_EXPLICIT)
		return;
	double speed = scalar_min(self->now.speed_max, 0.5 * SOUND_PART * h / self->step);
	double sound = SOUND_PART * h / self->step - speed;
	ASSERT(sound > 0);
	self->bulk = scalar_min(self->bulk, sound * sound / 7);
	for (uint32_t i = 0; i < self->liquid_count; i++)
		self->liquids[i].stiffness = scalar_min(self->liquids[i].stiffness, sound * sound);
}

/* If the rules want more sub-steps than allowed, the tick is counted. */
static void choose_steps(struct fluid_work *self)
{
	double step = longest_step(self), wanted = scalar_ceil(self->dt / step);
	double pairs = (double)FLUID_PAIRS * self->points.count;
	self->node_work =
		self->has_tension ? FLUID_WORK_NODE * FLUID_NODE_VISITS * self->points.count : 0;
	uint32_t most = affordable_steps(self, pairs, self->substeps_max);
	bool capped = !(wanted <= most);
	self->now.substeps = capped ? most : MAX_OF(1u, (uint32_t)wanted);
	self->now.capped = capped;
	self->substeps_left = self->now.substeps;
	self->step = self->dt / self->now.substeps;
	soften_liquids(self);
}

static void find_laws(struct fluid_work *self)
{
	const struct tables *tables = self->dynamics->tables;
	for (uint32_t i = 0; i < self->liquid_count; i++) {
		struct fluid_liquid *liquid = &self->liquids[i];
		ASSERT(tables->system.id[liquid->row] != 0);
		liquid->law = self->motion->laws[liquid->row];
		particle_law_of_system(&liquid->law, tables, liquid->row, self->step);
	}
}

/* Takes the group's places back to the points, moved. */
static void move_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct fluid_work *self = context;
	for (uint32_t i = first * FLUID_BLOCK; i < fluid_block_end(self, last - 1); i++) {
		struct fluid_point *point = &self->points.items[i];
		vec3 v = self->v.items[i], x = vec3_mul_add(self->x.items[i], v, self->step);
		if (self->solver == FLUID_INCOMPRESSIBLE)
			x = vec3_mul_add(x, self->drift.items[i], self->step);
		bool good = vec3_max_component(vec3_abs(v)) <= SPEED_MAX && vec3_is_finite(v) &&
			    vec3_max_component(vec3_abs(x)) <= 2 * LENGTH_MAX;
		self->sums.items[i / FLUID_BLOCK].bad += !good;
		point->v = good ? v : vec3_zero();
		point->x = good ? x : self->x.items[i];
		double pressure = self->pressure.items[i];
		point->multiplier = pressure < SCALAR_MAX ? scalar_max(pressure, 0) : 0;
		/* An isolated particle has no stress. */
		point->pressure = point->multiplier * scalar_max(self->trace.items[i], 0) / 3;
		point->density = self->density.items[i];
	}
}

static void move_points(struct fluid_work *self)
{
	fluid_run(self, move_blocks);
	for (uint32_t block = 0; block < fluid_blocks(self); block++)
		self->now.bad += self->sums.items[block].bad;
	ASSERT(self->points.count > 0);
}

static enum status substep(struct fluid_work *self)
{
	enum status status = fluid_find_near(self);
	if (status != STATUS_OK)
		return status;
	self->first = false;
	self->work -= FLUID_WORK_SUBSTEP * self->pair_count;
	if (self->has_tension)
		status = fluid_stretch(self);
	if (status != STATUS_OK)
		return status;
	fluid_force(self);
	if (self->solver == FLUID_INCOMPRESSIBLE)
		fluid_solve(self);
	else
		fluid_press(self);
	move_points(self);
	fluid_move_bodies(self);
	return STATUS_OK;
}

/* Crowds have more pairs than was expected: if the work that is left does not pay for the other sub-steps,
 * the rest of the tick is divided into fewer. */
static void stretch_steps(struct fluid_work *self)
{
	uint32_t most = affordable_steps(self, self->pair_count, self->substeps_left);
	ASSERT(most <= self->substeps_left);
	if (most == self->substeps_left)
		return;
	self->step *= (double)self->substeps_left / most;
	self->now.substeps -= self->substeps_left - most;
	self->now.capped = 1;
	self->substeps_left = most;
	soften_liquids(self);
	find_laws(self);
}

static enum status substeps(struct fluid_work *self)
{
	ASSERT(self->substeps_left > 0);
	while (self->substeps_left > 0) {
		enum status status = substep(self);
		if (status != STATUS_OK)
			return status;
		if (--self->substeps_left > 0)
			stretch_steps(self);
	}
	return STATUS_OK;
}

/* ---- results ------------------------------------------------------------------------------- */

static uint32_t find_or_add_load(struct fluid_work *self, uint32_t row)
{
	uint32_t at = 0, count = self->loads.count;
	while (at < count && self->loads.items[at].row < row)
		at++;
	if (at < count && self->loads.items[at].row == row)
		return at;
	ASSERT(count < self->loads.capacity);
	memmove(&self->loads.items[at + 1], &self->loads.items[at],
		(count - at) * sizeof *self->loads.items);
	const struct body_table *body = &self->dynamics->tables->body;
	self->loads.items[at] = (struct fluid_load){ .row = row,
						     .id = body->id[row],
						     .velocity = body->velocity[row],
						     .spin = body->angular_velocity[row] };
	self->loads.count++;
	return at;
}

/* What the group did to bodies that can move. */
static void note_loads(struct fluid_work *self)
{
	const struct body_table *table = &self->dynamics->tables->body;
	for (uint32_t i = 0; i < self->bodies.count; i++) {
		const struct fluid_body *body = &self->bodies.items[i];
		if (table->status[body->row] != BODY_DYNAMIC || !body->touched)
			continue;
		struct fluid_load *load = &self->loads.items[find_or_add_load(self, body->row)];
		if (!body->dynamic)
			continue;
		load->force = vec3_mul_add(load->force, body->push_sum, 1 / self->dt);
		load->torque = vec3_mul_add(load->torque, body->twist_sum, 1 / self->dt);
		ASSERT(load->id != 0);
	}
}

static void note_points(struct fluid_work *self)
{
	for (uint32_t i = 0; i < self->points.count; i++) {
		const struct fluid_point *point = &self->points.items[i];
		const struct fluid_liquid *liquid = &self->liquids[point->liquid];
		struct fluid_end *end = &self->results.items[point->row];
		double radius = self->dynamics->tables->particle.radius[point->row];
		double core = CORE * fluid_spacing(point->mass, liquid->rest_density);
		*end = (struct fluid_end){
			.way = { .to = point->x,
				 .velocity = point->v,
				 .known = true,
				 .core = scalar_min(core, radius) },
			.density = point->density * liquid->rest_density,
			.pressure = point->pressure,
			.multiplier = point->multiplier,
		};
	}
	for (uint32_t i = 0; i < self->liquid_count; i++)
		self->figures[self->liquids[i].row] = self->now;
}

/* ---- a tick -------------------------------------------------------------------------------- */

static enum status run_group(struct fluid_work *self, uint32_t fluid)
{
	const struct fluid_table *table = &self->dynamics->tables->fluid;
	self->solver = (enum fluid_solver)table->solver[fluid];
	self->radius = table->kernel_radius[fluid];
	self->liquid_count = 0;
	self->now = (struct fluid_figures){ 0 };
	for (uint32_t row = fluid; row < table->count; row++)
		if (are_one(table, fluid, row))
			gather_liquid(self, row);
	gather_points(self);
	if (self->points.count == 0)
		return STATUS_OK;
	choose_steps(self);
	find_laws(self);
	self->first = true;
	enum status status = fluid_boundary_prepare(&self->boundary);
	if (status == STATUS_OK)
		status = fluid_find_bodies(self);
	if (status == STATUS_OK)
		status = substeps(self);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->loads,
				       (uint64_t)self->loads.count + self->bodies.count);
	if (status != STATUS_OK)
		return status;
	note_loads(self);
	note_points(self);
	return STATUS_OK;
}

static bool is_first_of_group(const struct fluid_table *table, uint32_t fluid)
{
	for (uint32_t row = 0; row < fluid; row++)
		if (are_one(table, row, fluid))
			return false;
	return true;
}

static enum status swap_loads(struct fluid_work *self)
{
	struct tables *tables = self->dynamics->tables;
	struct load_table *table = &tables->load;
	enum status status = ARRAY_RESERVE(&self->loads_before, table->count);
	if (status == STATUS_OK)
		status = tables_reserve(tables, TABLE_LOAD, self->loads.count);
	if (status != STATUS_OK)
		return status;
	self->loads_before.count = table->count;
	for (uint32_t i = 0; i < table->count; i++)
		self->loads_before.items[i] =
			(struct fluid_load){ table->row[i],    table->body[i],	   table->force[i],
					     table->torque[i], table->velocity[i], table->spin[i] };
	return STATUS_OK;
}

static void store_loads(struct tables *tables, const struct fluid_load *loads, uint32_t count)
{
	struct load_table *table = &tables->load;
	tables_truncate(tables, TABLE_LOAD, 0);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t row = tables_append(tables, TABLE_LOAD);
		ASSERT(row == i);
		table->row[row] = loads[i].row;
		table->body[row] = loads[i].id;
		table->force[row] = loads[i].force;
		table->torque[row] = loads[i].torque;
		table->velocity[row] = loads[i].velocity;
		table->spin[row] = loads[i].spin;
	}
}

static void begin_tick(struct fluid_work *self)
{
	const struct particle_table *table = &self->dynamics->tables->particle;
	uint64_t now = self->dynamics->tables->world.tick[0] + 1;
	self->loads.count = 0;
	memset(self->figures, 0, sizeof self->figures);
	ASSERT(table->count <= self->results.capacity);
	for (uint32_t row = 0; row < table->count; row++)
		self->results.items[row] = (struct fluid_end){ .gone = table->death[row] != 0 &&
								       table->death[row] <= now };
	self->results.count = table->count;
}

enum status fluids_prepare(struct dynamics *self, double dt)
{
	struct tables *tables = self->tables;
	if (tables->fluid.count == 0 && tables->load.count == 0)
		return STATUS_OK;
	if (self->fluid == NULL)
		self->fluid = heap_alloc_zero(sizeof *self->fluid);
	struct fluid_work *work = self->fluid;
	if (work == NULL)
		return STATUS_NO_MEMORY;
	struct particle_motion motion = { .dynamics = self, .dt = dt };
	work->dynamics = self;
	work->motion = &motion;
	work->kernels = fluid_kernels_choose();
	work->dt = dt;
	work->work = FLUID_WORK_MAX;
	enum status status = reserve_places(work, tables->particle.count);
	if (status != STATUS_OK)
		return status;
	particle_laws_find(&motion, tables, dt);
	begin_tick(work);
	for (uint32_t row = 0; row < tables->fluid.count && status == STATUS_OK; row++)
		if (is_first_of_group(&tables->fluid, row))
			status = run_group(work, row);
	if (status == STATUS_OK)
		status = swap_loads(work);
	work->motion = NULL;
	if (status != STATUS_OK)
		return status;
	store_loads(tables, work->loads.items, work->loads.count);
	work->prepared = true;
	return STATUS_OK;
}

void fluids_undo(struct dynamics *self)
{
	if (self->fluid == NULL || !self->fluid->prepared)
		return;
	ASSERT(self->fluid->loads_before.count <= self->fluid->loads_before.capacity);
	store_loads(self->tables, self->fluid->loads_before.items, self->fluid->loads_before.count);
	self->fluid->prepared = false;
}

const struct particle_end *fluids_ends(struct dynamics *self, const struct particle_end *others)
{
	struct fluid_work *work = self->fluid;
	if (work == NULL || !work->prepared)
		return others;
	work->ends.count = 0;
	for (uint32_t row = 0; row < work->results.count; row++) {
		struct fluid_end *end = &work->results.items[row];
		if (end->gone)
			continue;
		uint32_t to = work->ends.count++;
		if (!end->way.known && others != NULL)
			end->way = others[to];
		work->ends.items[to] = end->way;
		work->results.items[to] = *end;
	}
	ASSERT(work->ends.count == self->tables->particle.count);
	return work->ends.items;
}

static void settle_fluid(struct fluid_work *self, uint32_t row)
{
	struct fluid_table *table = &self->dynamics->tables->fluid;
	const struct fluid_figures *figures = &self->figures[table->system[row]];
	ASSERT(row < table->count);
	table->substeps[row] = figures->substeps;
	table->iterations[row] = figures->iterations;
	table->density_error[row] = figures->density_error;
	table->density_error_max[row] = figures->density_error_max;
	table->residual[row] = figures->residual;
	table->divergence_error[row] = figures->divergence_error;
	table->speed_max[row] = figures->speed_max;
	table->capped[row] += figures->capped;
	table->unconverged[row] += figures->unconverged;
	table->inside[row] += figures->inside;
	table->crowded[row] += figures->crowded;
	table->bad[row] += figures->bad;
	struct system_table *system = &self->dynamics->tables->system;
	system->unsampled[table->system[row]] = figures->unsampled;
	system->coarse[table->system[row]] = figures->coarse;
}

void fluids_settle(struct dynamics *self)
{
	struct fluid_work *work = self->fluid;
	struct tables *tables = self->tables;
	if (work == NULL || !work->prepared)
		return;
	for (uint32_t row = 0; row < work->ends.count; row++) {
		uint32_t fluid = work->results.items[row].density > 0
					 ? fluid_find(tables, tables->particle.system[row])
					 : DYNAMICS_NONE;
		if (fluid == DYNAMICS_NONE)
			continue;
		tables->particle.density[row] = work->results.items[row].density;
		tables->particle.pressure[row] = work->results.items[row].pressure;
		tables->particle.multiplier[row] = work->results.items[row].multiplier;
		tables->fluid.lost[fluid] += tables->particle.death[row] == 1;
	}
	for (uint32_t row = 0; row < tables->fluid.count; row++)
		settle_fluid(work, row);
	for (uint32_t i = 0; i < work->loads.count; i++) {
		uint32_t body = dynamics_find_body(self, work->loads.items[i].id);
		if (body != DYNAMICS_NONE && tables->body.status[body] == BODY_DYNAMIC)
			dynamics_wake(self, body);
	}
	work->prepared = false;
	ASSERT(work->results.count >= work->ends.count);
}
