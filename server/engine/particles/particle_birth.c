/* particle_birth.c: emitters (ch1-3 P-36…P-41, P-44).
 *
 * Every delay-th tick, from the first on, an emitter makes `rate` particles at the tick's end.
 * Every number is drawn from a normal distribution about its mean with a third of the deviation
 * as standard deviation; numbers beyond the deviation are drawn again (P-38). Each particle has a
 * generator of its own, seeded by the system's seed and id and the particle's serial number. A
 * birth that would overlap a solid body does not happen (P-37), nor one outside of the world, nor,
 * by option, one that would overlap a particle (particle_room.h).
 * Births beyond the capacity or the world's memory_max do not happen either. Both are counted;
 * serial numbers are given to every attempt, so what one birth is does not depend on another.
 *
 *   point    at the emitter's position, along its y axis
 *   planar   at the centres of a square grid across the y axis, with cells of two largest
 *            diameters of this release and ceil(sqrt n) cells a side; as many as fit into a side
 *            of 2 half.x (P-36, parameter 5)
 *   box      anywhere on the surface, evenly by area, along the face's normal
 *   sphere   the k-th of n in the k-th of n cells of equal area (a spiral), along the radius
 *
 *   body     anywhere on the shapes of the body that carries the emitter, evenly by area, along the normal,
 *            a radius outside (particle_skin.h); without such a body there are no births
 *
 * In a planar world all is in its plane: a planar emitter is a row of cells along x, a box a rectangle, a
 * sphere a circle with its particles at equal angles.
 *
 * The direction is turned away from these by a normal angle within `spread`, to any side.
 *
 * An emitter that is mounted on a body has its place in the body's axes. Births have a share of the
 * velocity of the body's point where they are born; the momentum that they have relative to that
 * point is taken from the body as the next tick begins (ch1-3 P-22), as if the body had met them. */
#include "server/engine/particles/particle_birth.h"

#include "server/engine/collision/query.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/particles/particle_room.h"
#include "server/engine/particles/particle_skin.h"
#include "server/engine/dynamics/piece.h"
#include "server/engine/math/trig.h"

#define TURN 6.283185307179586	      /* rad */
#define GOLDEN_TURN 2.399963229728653 /* rad: π (3 − √5), between neighbours of the spiral */
#define DEVIATION_SIGMAS 3.0	      /* a deviation in standard deviations */

/* ---- random numbers ------------------------------------------------------------------------------ */

/* A number that is evenly distributed within mean ± deviation is kept with the probability that the
 * normal density has at it, by its greatest. */
double particle_draw(struct rng *rng, const double parameter[2])
{
	ASSERT(parameter[1] >= 0);
	if (parameter[1] == 0)
		return parameter[0];
	double x, chance;
	do {
		x = rng_range(rng, -DEVIATION_SIGMAS, DEVIATION_SIGMAS);
		chance = rng_double(rng);
	} while (chance >= trig_exp(-0.5 * x * x));
	return parameter[0] + parameter[1] * (x / DEVIATION_SIGMAS);
}

struct rng particle_generator(const struct system_table *table, uint32_t row, uint64_t serial)
{
	uint64_t system = rng_mix(table->seed[row] + table->id[row]);
	return rng_seeded(rng_mix(system ^ serial));
}

/* ---- emitters ------------------------------------------------------------------------------------- */

/* One emission. */
struct release {
	const struct system_table *table;
	uint32_t row;
	uint32_t count; /* births that are tried */
	uint32_t side;	/* planar emitter: cells a side */
	double cell;	/* planar emitter: m */
	bool flat;	/* in a planar world */
	pose at;	/* of the emitter */
	uint32_t body;	/* row of the body that carries it; DYNAMICS_NONE: none */
};

/* In emitter axes. */
struct birth_source {
	vec3 position, direction; /* unit */
};

static struct birth_source source_of_plane(const struct release *release, uint32_t index)
{
	ASSERT(index < release->side * release->side);
	double middle = 0.5 * (release->side - 1);
	double x = (index % release->side - middle) * release->cell;
	double z = release->flat ? 0 : (index / release->side - middle) * release->cell;
	return (struct birth_source){ vec3_make(x, 0, z), vec3_make(0, 1, 0) };
}

static struct birth_source source_of_rectangle(vec3 half, struct rng *rng)
{
	double at = rng_range(rng, 0, half.x + half.y), sign = rng_u32(rng) & 1 ? 1 : -1;
	uint32_t axis = at < half.y ? 0 : 1, along = 1 - axis;
	double half_side = vec3_get(half, along);
	vec3 p = vec3_zero();
	vec3_set(&p, along, rng_range(rng, -half_side, half_side));
	vec3_set(&p, axis, sign * vec3_get(half, axis));
	return (struct birth_source){ p, vec3_scale(vec3_axis(axis), sign) };
}

static struct birth_source source_of_circle(double radius, uint32_t index, uint32_t count)
{
	ASSERT(index < count);
	double sine, cosine;
	trig_sincos(TURN * index / count, &sine, &cosine);
	vec3 out = vec3_make(sine, cosine, 0);
	return (struct birth_source){ vec3_scale(out, radius), out };
}

static struct birth_source source_of_box(vec3 half, struct rng *rng)
{
	double areas[3] = { half.y * half.z, half.z * half.x, half.x * half.y };
	double at = rng_range(rng, 0, areas[0] + areas[1] + areas[2]);
	uint32_t axis = at < areas[0] ? 0 : at < areas[0] + areas[1] ? 1 : 2;
	double sign = rng_u32(rng) & 1 ? 1 : -1;
	vec3 p;
	p.x = rng_range(rng, -half.x, half.x);
	p.y = rng_range(rng, -half.y, half.y);
	p.z = rng_range(rng, -half.z, half.z);
	vec3_set(&p, axis, sign * vec3_get(half, axis));
	return (struct birth_source){ p, vec3_scale(vec3_axis(axis), sign) };
}

static struct birth_source source_of_sphere(double radius, uint32_t index, uint32_t count)
{
	ASSERT(index < count);
	double y = 1 - (2 * index + 1.0) / count, sine, cosine;
	double across = scalar_sqrt(scalar_max(1 - y * y, 0));
	trig_sincos(GOLDEN_TURN * index, &sine, &cosine);
	vec3 out = vec3_make(across * cosine, y, across * sine);
	return (struct birth_source){ vec3_scale(out, radius), out };
}

static struct birth_source source_of(const struct release *release, uint32_t index, struct rng *rng)
{
	vec3 half = release->table->half[release->row];
	switch (release->table->emitter[release->row]) {
	case EMITTER_PLANAR:
		return source_of_plane(release, index);
	case EMITTER_BOX:
		return release->flat ? source_of_rectangle(half, rng) : source_of_box(half, rng);
	case EMITTER_SPHERE:
		return release->flat ? source_of_circle(half.x, index, release->count)
				     : source_of_sphere(half.x, index, release->count);
	default:
		return (struct birth_source){ vec3_zero(), vec3_make(0, 1, 0) };
	}
}

/* In the axes of the body that carries the emitter; false: it has no surface. */
static bool source_of_body(const struct dynamics *self, uint32_t row, double radius,
			   struct rng *rng, struct birth_source *out)
{
	ASSERT(radius > 0);
	if (!particle_skin_draw(self, row, rng, &out->position, &out->direction))
		return false;
	out->position = vec3_mul_add(out->position, out->direction, radius + PARTICLE_SKIN_GAP);
	return true;
}

vec3 particle_turn_away(vec3 direction, double spread, bool planar, struct rng *rng)
{
	if (spread == 0)
		return direction;
	double angle = particle_draw(rng, (const double[2]){ 0, spread }), sine, cosine, x, y;
	vec3 t, k;
	if (planar) {
		trig_sincos(angle, &sine, &cosine);
		return vec3_make(cosine * direction.x - sine * direction.y,
				 sine * direction.x + cosine * direction.y, 0);
	}
	vec3_frame(direction, &t, &k);
	trig_sincos(rng_range(rng, 0, TURN), &y, &x);
	trig_sincos(angle, &sine, &cosine);
	vec3 side = vec3_add(vec3_scale(t, x), vec3_scale(k, y));
	return vec3_add(vec3_scale(direction, cosine), vec3_scale(side, sine));
}

/* ---- admission (P-37) ------------------------------------------------------------------------------ */

struct admission {
	const struct dynamics *dynamics;
	uint32_t mask;
	vec3 position;
	double radius;
	bool blocked;
};

static bool check_obstacle(uint32_t placement, void *context)
{
	struct admission *admission = context;
	const struct tables *tables = admission->dynamics->tables;
	uint32_t body = placement_body(tables, placement);
	bool met = (piece_filter(admission->dynamics, placement).category & admission->mask) != 0 ||
		   tables->body.id[body] == BODY_WALLS;
	if (!met || !body_is_solid(tables, body) ||
	    piece_is_sensor(admission->dynamics, placement) ||
	    bitset_get(&admission->dynamics->one_way, body))
		return true;
	pose frame = pose_make(tables->body.position[body], tables->body.rotation[body]);
	pose in_body = pose_make(tables->placement.position[placement],
				 tables->placement.rotation[placement]);
	vec3 centre = pose_inverse_point(pose_mul(frame, in_body), admission->position);
	const struct shape *shape = admission->dynamics->shapes[tables->placement.shape[placement]];
	admission->blocked = shape_overlap_sphere(shape, centre, admission->radius);
	return !admission->blocked;
}

bool particle_is_blocked(const struct dynamics *self, uint32_t mask, vec3 position, double radius)
{
	ASSERT(radius > 0);
	struct admission admission = { self, mask, position, radius, false };
	struct aabb box = aabb_grow(aabb_of_point(position), radius);
	if (mask != 0)
		broad_phase_query(self->broad_phase, &box, check_obstacle, &admission);
	return admission.blocked;
}

/* ---- births ---------------------------------------------------------------------------------------- */

uint32_t dynamics_system_room(const struct tables *tables, uint32_t row)
{
	const struct system_table *table = &tables->system;
	uint32_t capacity = table->most[row];
	ASSERT(table->alive[row] <= capacity);
	if (table->recycle[row])
		return capacity > table->alive[row] ? capacity - table->alive[row] : 0;
	uint64_t made = table->born[row] - table->refused[row];
	return capacity > made ? capacity - (uint32_t)made : 0;
}

uint64_t particle_death(const struct tables *tables, uint64_t now, double life)
{
	double rate = (double)tables->world.rate_num[0] / (double)tables->world.rate_den[0];
	ASSERT(life >= 0 && life <= PARTICLE_LIFE_MAX);
	return life > 0 ? now + 1 + (uint64_t)(life * rate) : 0;
}

void particle_append(struct dynamics *self, const struct particle_birth *birth)
{
	struct tables *tables = self->tables;
	struct particle_table *table = &tables->particle;
	uint32_t system = birth->system;
	ASSERT(birth->serial <= tables->system.born[system]);
	ASSERT(birth->size > 0 && birth->mass > 0);
	ASSERT(!tables->world.planar[0] || (birth->position.z == 0 && birth->velocity.z == 0));
	uint32_t row = tables_append(tables, TABLE_PARTICLE);
	table->serial[row] = birth->serial;
	table->system[row] = system;
	table->birth[row] = birth->tick;
	table->death[row] = birth->death;
	table->position[row] = birth->position;
	table->velocity[row] = birth->velocity;
	table->radius[row] = 0.5 * birth->size;
	table->mass[row] = birth->mass;
	table->generation[row] = birth->generation;
	tables->system.alive[system]++;
}

void dynamics_particle_add(struct dynamics *self, uint32_t system, vec3 position, vec3 velocity)
{
	struct tables *tables = self->tables;
	struct system_table *table = &tables->system;
	ASSERT(dynamics_system_room(tables, system) > 0);
	uint64_t now = tables->world.tick[0];
	const struct particle_birth birth = {
		.system = system,
		.serial = ++table->born[system],
		.tick = now,
		.death = particle_death(tables, now, table->life[system][0]),
		.position = position,
		.velocity = velocity,
		.size = table->size[system][0],
		.mass = table->mass[system][0],
	};
	particle_append(self, &birth);
}

bool particle_has_room(const struct tables *tables, uint32_t system)
{
	return dynamics_system_room(tables, system) > 0 &&
	       tables_fit(tables, TABLE_PARTICLE, tables->particle.count + 1);
}

/* Where the emitter is, and on which body. */
static void place_release(const struct dynamics *self, struct release *release)
{
	const struct system_table *table = release->table;
	uint32_t row = release->row;
	release->at = pose_make(table->position[row], table->rotation[row]);
	release->body = DYNAMICS_NONE;
	if (table->mount[row] == 0)
		return;
	release->body = dynamics_find_body(self, table->mount[row]);
	ASSERT(release->body != DYNAMICS_NONE);
	pose carrier = body_pose(self->tables, release->body);
	release->at =
		table->emitter[row] == EMITTER_BODY ? carrier : pose_mul(carrier, release->at);
}

/* The velocity of the carrying body's point. */
static vec3 carried_velocity(const struct dynamics *self, uint32_t body, vec3 point)
{
	const struct body_table *table = &self->tables->body;
	ASSERT(body < table->count);
	if (table->status[body] != BODY_DYNAMIC && table->status[body] != BODY_ANIMATED)
		return vec3_zero();
	vec3 arm = vec3_sub(point, dynamics_centre(self->tables, body));
	return vec3_add(table->velocity[body], vec3_cross(table->angular_velocity[body], arm));
}

/* What the last particle takes from the body that carries its emitter. */
static void recoil(struct dynamics *self, uint32_t body, vec3 velocity)
{
	struct particle_table *table = &self->tables->particle;
	uint32_t particle = table->count - 1;
	if (self->tables->body.status[body] != BODY_DYNAMIC || self->tables->body.quarantined[body])
		return;
	vec3 arm = vec3_sub(table->position[particle], dynamics_centre(self->tables, body));
	table->hit[particle] = self->tables->body.id[body];
	table->impulse[particle] = vec3_scale(velocity, -table->mass[particle]);
	table->twist[particle] = vec3_cross(arm, table->impulse[particle]);
	dynamics_wake(self, body);
}

static bool may_be_born(const struct dynamics *self, const struct release *release, vec3 position,
			double radius)
{
	const struct system_table *table = release->table;
	uint32_t row = release->row;
	return vec3_max_component(vec3_abs(position)) <= LENGTH_MAX &&
	       !particle_is_blocked(self, table->mask[row], position, radius) &&
	       !(table->room[row] && particle_room_taken(self, position, radius));
}

static bool give_birth(struct dynamics *self, const struct release *release, uint32_t index,
		       uint64_t serial, uint64_t now)
{
	struct tables *tables = self->tables;
	const struct system_table *table = &tables->system;
	uint32_t row = release->row;
	struct rng rng = particle_generator(table, row, serial);
	double size = particle_draw(&rng, table->size[row]),
	       mass = particle_draw(&rng, table->mass[row]);
	double life = particle_draw(&rng, table->life[row]),
	       speed = particle_draw(&rng, table->speed[row]);
	struct birth_source at = source_of(release, index, &rng);
	if (table->emitter[row] == EMITTER_BODY &&
	    !source_of_body(self, row, 0.5 * size, &rng, &at))
		return false;
	vec3 direction = particle_turn_away(at.direction, table->spread[row], release->flat, &rng);
	at.position =
		vec3_add(release->at.position, quat_rotate(release->at.rotation, at.position));
	vec3 own = vec3_scale(quat_rotate(release->at.rotation, direction), speed);
	vec3 velocity = own, carried = vec3_zero();
	if (release->body != DYNAMICS_NONE) {
		carried = carried_velocity(self, release->body, at.position);
		velocity = vec3_mul_add(own, carried, table->mount_velocity[row]);
		double most = vec3_length(velocity);
		if (most > SPEED_MAX)
			velocity = vec3_scale(velocity, SPEED_MAX / most);
	}
	if (!may_be_born(self, release, at.position, 0.5 * size))
		return false;
	const struct particle_birth birth = {
		.system = row,
		.serial = serial,
		.tick = now,
		.death = particle_death(tables, now, life),
		.position = at.position,
		.velocity = velocity,
		.size = size,
		.mass = mass,
	};
	particle_append(self, &birth);
	particle_room_add(self, tables->particle.count - 1);
	if (release->body != DYNAMICS_NONE && table->recoil[row])
		recoil(self, release->body, vec3_sub(velocity, carried));
	return true;
}

/* How many the emission has; of a planar one, its grid. */
static struct release release_of(const struct tables *tables, uint32_t row)
{
	const struct system_table *table = &tables->system;
	struct release release = { .table = table,
				   .row = row,
				   .flat = tables->world.planar[0] != 0 };
	struct rng rng = particle_generator(table, row, UINT64_MAX - table->born[row]);
	const double rate[2] = { table->rate[row], table->rate_deviation[row] };
	double count = particle_draw(&rng, rate) + 0.5;
	release.count = count < 1 ? 0 : (uint32_t)count;
	if (table->emitter[row] != EMITTER_PLANAR || release.count == 0)
		return release;
	double largest = table->size[row][0];
	for (uint32_t i = 0; i < release.count && table->size[row][1] > 0; i++) {
		rng = particle_generator(table, row, table->born[row] + 1 + i);
		largest = scalar_max(largest, particle_draw(&rng, table->size[row]));
	}
	release.cell = 2 * largest;
	double fits = 2 * table->half[row].x / release.cell * (1 + 4 * SCALAR_EPSILON);
	uint32_t most = fits < 1024 ? (uint32_t)fits : 1024;
	if (release.flat) {
		release.side = release.count = MIN_OF(release.count, most);
		return release;
	}
	while (release.side < most && release.side * release.side < release.count)
		release.side++;
	release.count = MIN_OF(release.count, release.side * release.side);
	return release;
}

void dynamics_mount(struct dynamics *self, uint32_t system, body_id body, bool here)
{
	struct system_table *table = &self->tables->system;
	pose at = pose_make(table->position[system], table->rotation[system]);
	uint32_t before = dynamics_find_body(self, table->mount[system]);
	uint32_t after = dynamics_find_body(self, body);
	ASSERT(body == 0 || after != DYNAMICS_NONE);
	if (here && before != DYNAMICS_NONE)
		at = pose_mul(body_pose(self->tables, before), at);
	if (here && after != DYNAMICS_NONE)
		at = pose_mul(pose_inverse(body_pose(self->tables, after)), at);
	table->mount[system] = body;
	table->position[system] =
		vec3_max(vec3_min(at.position, vec3_all(LENGTH_MAX)), vec3_all(-LENGTH_MAX));
	table->rotation[system] = quat_normalize(at.rotation);
}

void dynamics_mounts_drop(struct dynamics *self, body_id body)
{
	const struct system_table *table = &self->tables->system;
	ASSERT(body != 0);
	for (uint32_t row = 0; row < table->count; row++)
		if (table->id[row] != 0 && table->mount[row] == body)
			dynamics_mount(self, row, 0, true);
}

static bool emits_at(const struct tables *tables, uint32_t row, uint64_t tick)
{
	const struct system_table *table = &tables->system;
	return table->id[row] != 0 && table->emitter[row] != EMITTER_NONE && table->rate[row] > 0 &&
	       (table->emitter[row] != EMITTER_BODY || table->mount[row] != 0) &&
	       (table->recycle[row] || dynamics_system_room(tables, row) > 0) &&
	       (tick - table->since[row]) % table->delay[row] == 0;
}

static void emit(struct dynamics *self, uint32_t row, uint64_t now)
{
	struct tables *tables = self->tables;
	struct system_table *table = &tables->system;
	struct release release = release_of(tables, row);
	place_release(self, &release);
	uint64_t first = table->born[row];
	for (uint32_t i = 0; i < release.count; i++) {
		if (!particle_has_room(tables, row)) {
			table->lost[row] += release.count - i;
			return;
		}
		table->born[row]++;
		if (!give_birth(self, &release, i, first + 1 + i, now))
			table->refused[row]++;
	}
}

void particle_births(struct dynamics *self, uint64_t now)
{
	const struct tables *tables = self->tables;
	ASSERT(now > 0);
	particle_room_begin(self);
	for (uint32_t row = 0; row < tables->system.count; row++)
		if (emits_at(tables, row, now - 1))
			emit(self, row, now);
}

uint64_t particle_births_max(const struct tables *tables)
{
	uint64_t sum = 0;
	for (uint32_t row = 0; row < tables->system.count; row++) {
		uint64_t births = particle_descents_max(tables, row);
		if (emits_at(tables, row, tables->world.tick[0]))
			births += (uint64_t)tables->system.rate[row] +
				  tables->system.rate_deviation[row] + 1;
		sum += MIN_OF(births, (uint64_t)tables->system.most[row]);
	}
	ASSERT(sum <= PARTICLES_MAX);
	return sum;
}
