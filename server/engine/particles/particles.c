/* See particles.h. */
#include "server/engine/particles/particles.h"

#include "server/base/array.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/fluids/fluid.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/joint_list.h"
#include "server/engine/particles/particle_birth.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/particles/particle_pairs.h"
#include "server/engine/particles/particle_room.h"
#include "server/engine/particles/particle_sinks.h"
#include "server/engine/particles/particle_skin.h"
#include "server/engine/math/trig.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* Up to here the series is used; so many terms leave an error below rounding. */
#define SERIES_END 0.5
enum { SERIES_TERMS = 18 };
#define HALF_TURN 3.141592653589793 /* rad */

/* ---- rows -------------------------------------------------------------------------------------- */

enum status dynamics_system_reserve(struct dynamics *self, uint32_t systems, uint32_t particles)
{
	struct tables *tables = self->tables;
	enum status status = tables_reserve(tables, TABLE_SYSTEM, tables->system.count + systems);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->system_used, tables->system.capacity);
	if (status == STATUS_OK && particles > 0)
		status = tables_reserve(tables, TABLE_PARTICLE, tables->particle.count + particles);
	return status;
}

uint32_t dynamics_system_take(struct dynamics *self)
{
	ASSERT(self->system_used.count < SYSTEMS_MAX);
	return tables_take_row(self->tables, TABLE_SYSTEM, &self->system_used);
}

uint32_t dynamics_find_system(const struct dynamics *self, system_id id)
{
	const struct system_table *table = &self->tables->system;
	for (uint32_t row = 0; row < table->count && id != 0; row++)
		if (table->id[row] == id)
			return row;
	return DYNAMICS_NONE;
}

uint32_t dynamics_system_capacity(const struct dynamics *self)
{
	const struct system_table *table = &self->tables->system;
	uint32_t sum = 0;
	for (uint32_t row = 0; row < table->count; row++)
		sum += table->most[row];
	ASSERT(sum <= PARTICLES_MAX);
	return sum;
}

/* Whether some particles have links, pins or holds. */
static bool particles_linked(const struct tables *tables)
{
	return tables->link.count + tables->pin.count + tables->hold.count > 0;
}

/* Moves rows from … end − 1 down to `to`. */
static void move_rows(struct tables *tables, uint32_t to, uint32_t from, uint32_t end)
{
	ASSERT(to <= from && from <= end && end <= tables->particle.count);
	if (to == from || from == end)
		return;
	for (uint32_t i = 0; i < table_infos[TABLE_PARTICLE].column_count; i++) {
		size_t bytes = table_infos[TABLE_PARTICLE].columns[i].row_bytes;
		uint8_t *data = tables_column(tables, TABLE_PARTICLE, i);
		memmove(data + to * bytes, data + from * bytes, (end - from) * bytes);
	}
}

/* Removes the particles of system `row`, or, if it is DYNAMICS_NONE, those whose death has come; the
 * others stay in order. */
static void remove_particles(struct dynamics *self, uint32_t row, uint64_t now)
{
	struct tables *tables = self->tables;
	struct particle_table *table = &tables->particle;
	uint32_t count = table->count, kept = 0, run = 0;
	for (uint32_t i = 0; i < count; i++) {
		bool ends = row != DYNAMICS_NONE ? table->system[i] == row
						 : table->death[i] != 0 && table->death[i] <= now;
		if (!ends)
			continue;
		ASSERT(tables->system.alive[table->system[i]] > 0);
		tables->system.alive[table->system[i]]--;
		move_rows(tables, kept, run, i);
		kept += i - run;
		run = i + 1;
	}
	move_rows(tables, kept, run, count);
	tables_truncate(tables, TABLE_PARTICLE, kept + count - run);
	if (tables->particle.count < count && particles_linked(tables))
		particle_links_prune(self, row);
}

void dynamics_system_free(struct dynamics *self, uint32_t row)
{
	ASSERT(self->tables->system.id[row] != 0);
	remove_particles(self, row, 0);
	ASSERT(self->tables->system.alive[row] == 0);
	fluid_forget(self->tables, row);
	particle_sinks_forget(self->tables, row);
	particle_forget_trail(self->tables, self->tables->system.id[row]);
	dynamics_meetings_drop(self, self->tables->system.id[row]);
	tables_free_row(self->tables, TABLE_SYSTEM, row, &self->system_used, NULL);
}

/* ---- the laws of a tick -------------------------------------------------------------------------- */

/* With x = drag h / m: fall = (1 − coast) / x, coast = (1 − decay) / x, decay = e^−x. For small x the
 * series of fall, Σ (−x)^k 2 / (k + 2)!, where the differences would cancel. */
static void damp(struct particle_law *law, double x)
{
	ASSERT(x > 0);
	if (x > SERIES_END) {
		law->decay = trig_exp(-x);
		law->coast = (1 - law->decay) / x;
		law->fall = (1 - law->coast) / x;
		return;
	}
	double series = 1;
	for (uint32_t k = SERIES_TERMS; k > 2; k--)
		series = 1 - x / k * series;
	law->fall = 0.5 * series;
	law->coast = 1 - x * law->fall;
	law->decay = 1 - x * law->coast;
}

void particle_law_of_mass(struct particle_law *law, double mass, double dt)
{
	ASSERT(mass > 0 && dt > 0);
	law->mass = mass;
	law->decay = law->coast = 1;
	law->fall = 0.5;
	if (law->drag > 0)
		damp(law, law->drag / mass * dt);
}

void particle_law_of_system(struct particle_law *law, const struct tables *tables, uint32_t row,
			    double dt)
{
	const struct system_table *system = &tables->system;
	law->acceleration = vec3_scale(force_gravity(tables), system->gravity_scale[row]);
	law->drag = system->drag[row];
	particle_law_of_mass(law, system->mass[row][0], dt);
}

void particle_laws_find(struct particle_motion *motion, const struct tables *tables, double dt)
{
	const struct system_table *system = &tables->system;
	uint32_t categories = 0;
	for (uint32_t row = 0; row < system->count; row++)
		categories |= system->id[row] != 0 ? system->category[row] : 0;
	uint32_t masks = 0;
	motion->field_count = 0;
	for (uint32_t row = 0; row < tables->field.count; row++)
		if (tables->field.id[row] != 0 && (tables->field.mask[row] & categories)) {
			motion->fields[motion->field_count++] = row;
			masks |= tables->field.mask[row];
		}
	for (uint32_t row = 0; row < system->count; row++) {
		struct particle_law *law = &motion->laws[row];
		if (system->id[row] == 0)
			continue;
		law->fields = (system->category[row] & masks) != 0;
		particle_law_of_system(law, tables, row, dt);
	}
}

/* ---- reactions ---------------------------------------------------------------------------------- */

static vec3 within_speed(vec3 v, double most)
{
	ASSERT(most > 0);
	double speed = vec3_length(v);
	return speed > most ? vec3_scale(v, most / speed) : v;
}

/* The body that a particle met in the last tick, if it can still be pushed. */
static uint32_t body_met(const struct dynamics *self, uint32_t particle)
{
	ASSERT(particle < self->tables->particle.count);
	body_id id = self->tables->particle.hit[particle];
	uint32_t row = id != 0 ? dynamics_find_body(self, id) : DYNAMICS_NONE;
	bool pushed = row != DYNAMICS_NONE && self->tables->body.status[row] == BODY_DYNAMIC &&
		      !self->tables->body.quarantined[row];
	return pushed ? row : DYNAMICS_NONE;
}

/* P-22: the impulses of the last tick, in the order of the particles. */
static void push_bodies(struct dynamics *self)
{
	const struct particle_table *table = &self->tables->particle;
	struct body_table *body = &self->tables->body;
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t row = table->hit[i] != 0 ? body_met(self, i) : DYNAMICS_NONE;
		if (row == DYNAMICS_NONE)
			continue;
		struct spatial before = { body->velocity[row], body->angular_velocity[row] };
		vec3 turn = mat3_mul_vec(integrate_inertia_inv(self, row), table->twist[i]);
		body->velocity[row] =
			vec3_mul_add(body->velocity[row], table->impulse[i], body->mass_inv[row]);
		body->angular_velocity[row] = vec3_add(body->angular_velocity[row], turn);
		body->velocity[row] =
			within_speed(body->velocity[row], dynamics_speed_max(self->tables, row));
		body->angular_velocity[row] = within_speed(
			body->angular_velocity[row], dynamics_angular_speed_max(self->tables, row));
		dynamics_body_struck(self, row, before);
	}
}

enum status particles_prepare(struct dynamics *self, double dt)
{
	struct tables *tables = self->tables;
	self->starts.count = self->cuts.count = 0;
	if (self->system_used.count == 0)
		return STATUS_OK;
	uint64_t rows = tables->particle.count + particle_births_max(tables);
	enum status status = tables_reserve(tables, TABLE_PARTICLE, (uint32_t)rows);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->starts, tables->body.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->cuts, rows);
	if (status == STATUS_OK)
		status = particle_room_reserve(self, (uint32_t)rows);
	if (status == STATUS_OK)
		status = particle_skin_reserve(self);
	if (status == STATUS_OK && particle_pairs_active(tables))
		status = particle_pairs_reserve(self);
	if (status == STATUS_OK && particles_linked(tables))
		status = particle_links_reserve(self);
	if (status != STATUS_OK)
		return status;
	const struct body_table *body = &tables->body;
	for (uint32_t row = 0; row < body->count; row++)
		self->starts.items[row] = (struct body_start_state){
			.at = pose_make(body->position[row], body->rotation[row]),
			.velocity = body->velocity[row],
			.angular_velocity = body->angular_velocity[row],
		};
	self->starts.count = body->count;
	push_bodies(self);
	if (particles_linked(tables)) {
		struct particle_motion motion = { .dynamics = self, .dt = dt };
		particle_laws_find(&motion, tables, dt);
		status = particle_cloth_move(self, &motion);
	}
	if (status == STATUS_OK)
		status = fluids_prepare(self, dt);
	if (status != STATUS_OK)
		particles_undo(self);
	return status;
}

void particles_undo(struct dynamics *self)
{
	struct body_table *body = &self->tables->body;
	fluids_undo(self);
	particle_cloth_undo(self);
	ASSERT(self->starts.count == 0 || self->starts.count == body->count);
	for (uint32_t i = 0; i < self->tables->particle.count && self->starts.count > 0; i++) {
		uint32_t row = body_met(self, i);
		if (row == DYNAMICS_NONE)
			continue;
		struct spatial pushed = { body->velocity[row], body->angular_velocity[row] };
		body->velocity[row] = self->starts.items[row].velocity;
		body->angular_velocity[row] = self->starts.items[row].angular_velocity;
		dynamics_body_struck(self, row, pushed);
	}
}

/* Marks the bodies that moved in this tick; returns the bound of the motion of their points, m. */
static double find_moved(struct dynamics *self)
{
	const struct body_table *body = &self->tables->body;
	double most = 0;
	for (uint32_t row = 0; row < self->starts.count; row++) {
		struct body_start_state *start = &self->starts.items[row];
		if (body->id[row] == 0 || (vec3_equal(body->position[row], start->at.position) &&
					   quat_equal(body->rotation[row], start->at.rotation)))
			continue;
		start->moved = true;
		vec3 before = pose_point(start->at, body->centre[row]);
		/* A turn by θ has |vector| = sin θ/2 and moves points by at most R θ ≤ π R sin θ/2. */
		quat turn = quat_mul(body->rotation[row], quat_inverse(start->at.rotation));
		double way = vec3_distance(dynamics_centre(self->tables, row), before);
		way += HALF_TURN * vec3_length(quat_vector(turn)) * self->bodies.items[row].reach;
		most = scalar_max(most, way);
	}
	return most;
}

/* ---- a tick ------------------------------------------------------------------------------------- */

static void move_blocks(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct particle_motion *motion = context;
	uint32_t count = motion->dynamics->tables->particle.count;
	for (uint32_t block = first; block < last; block++)
		particle_path_block(motion, block * PARTICLE_BLOCK,
				    MIN_OF((block + 1) * PARTICLE_BLOCK, count));
}

/* Wakes the bodies that were met, and counts the paths that were cut. */
static void settle_block(struct dynamics *self, uint32_t first, uint32_t last)
{
	struct tables *tables = self->tables;
	uint32_t any = 0;
	for (uint32_t i = first; i < last; i++)
		any |= tables->particle.hit[i] | self->cuts.items[i];
	for (uint32_t i = first; i < last && any != 0; i++) {
		tables->system.cut[tables->particle.system[i]] += self->cuts.items[i];
		uint32_t row = tables->particle.hit[i] != 0 ? body_met(self, i) : DYNAMICS_NONE;
		if (row != DYNAMICS_NONE)
			dynamics_wake(self, row);
	}
}

static void settle_paths(struct dynamics *self)
{
	uint32_t count = self->tables->particle.count;
	for (uint32_t first = 0; first < count; first += PARTICLE_BLOCK)
		settle_block(self, first, MIN_OF(first + PARTICLE_BLOCK, count));
}

static struct aabb bounds_of(const struct world_table *world)
{
	ASSERT(world->count == 1);
	if (world->bounds_mode[0] == BOUNDS_INACTIVE)
		return aabb_make(world->bounds_min[0], world->bounds_max[0]);
	return aabb_make(vec3_all(-LENGTH_MAX), vec3_all(LENGTH_MAX));
}

void particles_step(struct dynamics *self, double dt)
{
	struct tables *tables = self->tables;
	if (self->system_used.count == 0)
		return;
	uint64_t now = tables->world.tick[0] + 1;
	remove_particles(self, DYNAMICS_NONE, now);
	struct particle_motion motion = {
		.dynamics = self,
		.dt = dt,
		.reach = find_moved(self),
		.bounce_speed = tables->parameter.value[PARAMETER_RESTITUTION_SPEED],
		.bounds = bounds_of(&tables->world),
	};
	particle_laws_find(&motion, tables, dt);
	if (particle_pairs_active(tables)) {
		particle_pairs_run(self->pairs, &motion);
		motion.ends = self->pairs->ends.items;
	}
	bool linked = particles_linked(tables);
	if (linked)
		motion.ends = particle_links_run(self->links, &motion, motion.ends);
	motion.ends = fluids_ends(self, motion.ends);
	uint32_t blocks = (tables->particle.count + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
	ASSERT(tables->particle.count <= self->cuts.capacity);
	parallel_run(self->parallel, blocks, 1, move_blocks, &motion);
	settle_paths(self);
	if (linked)
		particle_links_settle(self);
	fluids_settle(self);
	particle_sinks_run(self, now);
	particle_descents(self, now);
	particle_births(self, now);
}
