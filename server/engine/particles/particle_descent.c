/* particle_descent.c: particles that come from particles: splits (ch1-3 P-42) and trails (P-43).
 *
 * At a tick's end, before emitters, every particle in the order of rows may split, then leave a
 * particle of its trail.
 *
 *   splits  a particle of generation g < depth splits in the tick in which it becomes older than the age
 *           that was drawn for it, and then every delay-th tick. Its children are of generation g + 1, at
 *           its place. Each draws shares of its parent's velocity, diameter and life; its mass goes with the
 *           cube of the diameter (in a planar world its square), so its density is the parent's. The
 *           law of the book is kinematic:
 *           momentum changes with the shares that are chosen.
 *   trails  every delay-th tick of its life a particle of generation g ≤ trail_depth leaves a particle of
 *           the trail's system behind, which draws size, mass and life as that system's own births do.
 *
 * When a particle splits follows from its serial number and birth, so only the generation is state. What a
 * child is follows from its own serial number, as for an emitter (particle_birth.c). One that would
 * overlap a solid body is refused, and one beyond capacity or memory_max is lost; both are
 * counted. The number of generations is bounded, and that of births by the capacities. */
#include "server/engine/particles/particle_birth.h"

#include "server/engine/math/trig.h"

#define TURN 6.283185307179586 /* rad */

/* Separate streams of numbers, besides those of births. */
#define STREAM_AGES UINT64_C(0x61676573)
#define STREAM_NUMBERS UINT64_C(0x6e756d73)

/* ---- rows ----------------------------------------------------------------------------------------- */

static bool can_split(const struct system_table *table, uint32_t row)
{
	return table->id[row] != 0 && table->split_number[row][0] + table->split_number[row][1] > 0;
}

uint64_t particle_descents_max(const struct tables *tables, uint32_t row)
{
	const struct system_table *table = &tables->system;
	uint64_t most = table->most[row], births = 0;
	ASSERT(row < table->count);
	if (table->id[row] == 0)
		return 0;
	if (can_split(table, row))
		births = (uint64_t)table->alive[row] *
			 (table->split_number[row][0] + table->split_number[row][1]);
	for (uint32_t from = 0; from < table->count; from++)
		births += table->trail[from] == table->id[row] ? table->alive[from] : 0;
	return MIN_OF(births, most);
}

void particle_forget_trail(struct tables *tables, system_id id)
{
	struct system_table *table = &tables->system;
	ASSERT(id != 0);
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->trail[row] != id)
			continue;
		table->trail[row] = table->trail_delay[row] = table->trail_depth[row] = 0;
		table->trail_velocity[row] = 0;
	}
}

/* ---- splits --------------------------------------------------------------------------------------- */

/* Whether a particle splits in the tick `now`. */
static bool splits_at(const struct tables *tables, uint32_t particle, uint64_t now)
{
	const struct system_table *table = &tables->system;
	const struct particle_table *t = &tables->particle;
	uint32_t row = t->system[particle];
	ASSERT(t->birth[particle] <= now);
	if (t->generation[particle] >= table->split_depth[row])
		return false;
	double age = table->split_age[row][0];
	if (table->split_age[row][1] > 0) {
		struct rng rng =
			particle_generator(table, row, rng_mix(t->serial[particle] ^ STREAM_AGES));
		age = particle_draw(&rng, table->split_age[row]);
	}
	double rate = (double)tables->world.rate_num[0] / (double)tables->world.rate_den[0];
	uint64_t first = t->birth[particle] + 1 + (uint64_t)(age * rate), delay;
	if (now <= first || table->split_delay[row] == 0)
		return now == first;
	delay = table->split_delay[row];
	return (now - first) % delay == 0;
}

static uint32_t children_of(const struct system_table *table, uint32_t row, uint64_t serial,
			    uint64_t now)
{
	const double number[2] = { table->split_number[row][0], table->split_number[row][1] };
	struct rng rng = particle_generator(table, row, rng_mix(serial ^ STREAM_NUMBERS) + now);
	double count = particle_draw(&rng, number) + 0.5;
	ASSERT(count < PARTICLE_CHILDREN_MAX + 1);
	return count < 1 ? 0 : (uint32_t)count;
}

/* Any direction with the same probability. */
static vec3 draw_direction(bool planar, struct rng *rng)
{
	double sine, cosine;
	if (planar) {
		trig_sincos(rng_range(rng, 0, TURN), &sine, &cosine);
		return vec3_make(cosine, sine, 0);
	}
	double y = rng_range(rng, -1, 1);
	double across = scalar_sqrt(scalar_max(1 - y * y, 0));
	trig_sincos(rng_range(rng, 0, TURN), &sine, &cosine);
	return vec3_make(across * cosine, y, across * sine);
}

static vec3 draw_velocity(const struct tables *tables, uint32_t row, vec3 parent, struct rng *rng)
{
	const struct system_table *table = &tables->system;
	bool planar = tables->world.planar[0] != 0;
	double share = particle_draw(rng, table->split_velocity[row]), speed;
	vec3 way = vec3_normalize_length(parent, &speed);
	vec3 v = vec3_zero();
	if (speed > 0)
		v = vec3_scale(particle_turn_away(way, table->split_spread[row], planar, rng),
			       share * speed);
	double burst = particle_draw(rng, table->split_burst[row]);
	if (burst > 0)
		v = vec3_mul_add(v, draw_direction(planar, rng), burst);
	double whole = vec3_length(v);
	return whole > SPEED_MAX ? vec3_scale(v, SPEED_MAX / whole) : v;
}

/* The tick of a child's death: at least one tick, and no later than the longest life. */
static uint64_t child_death(const struct tables *tables, uint32_t parent, double share,
			    uint64_t now)
{
	const struct particle_table *t = &tables->particle;
	if (t->death[parent] == 0)
		return 0;
	uint64_t most = particle_death(tables, 0, PARTICLE_LIFE_MAX);
	double ticks = share * (double)(t->death[parent] - t->birth[parent]) + 0.5;
	if (ticks < 1)
		return now + 1;
	return now + (ticks < (double)most ? (uint64_t)ticks : most);
}

/* False: it would overlap a body. `at` is the parent's row. */
static bool make_child(struct dynamics *self, uint32_t at, uint64_t serial, uint64_t now)
{
	struct tables *tables = self->tables;
	const struct system_table *table = &tables->system;
	const struct particle_table *parent = &tables->particle;
	uint32_t row = parent->system[at];
	struct rng rng = particle_generator(table, row, serial);
	double share = particle_draw(&rng, table->split_size[row]);
	double life = particle_draw(&rng, table->split_life[row]);
	vec3 velocity = draw_velocity(tables, row, parent->velocity[at], &rng);
	double size = 2 * parent->radius[at] * share;
	/* A disk in a planar world. */
	double part = share * share * (tables->world.planar[0] ? 1 : share);
	const struct particle_birth birth = {
		.system = row,
		.generation = (uint8_t)(parent->generation[at] + 1),
		.serial = serial,
		.tick = now,
		.death = child_death(tables, at, life, now),
		.position = parent->position[at],
		.velocity = velocity,
		.size = scalar_clamp(size, PARTICLE_SIZE_MIN, PARTICLE_SIZE_MAX),
		.mass = scalar_clamp(parent->mass[at] * part, PARTICLE_MASS_MIN, MASS_MAX),
	};
	/* A smaller one is where its parent is. */
	if (birth.size > 2 * parent->radius[at] &&
	    particle_is_blocked(self, table->mask[row], birth.position, 0.5 * birth.size))
		return false;
	particle_append(self, &birth);
	return true;
}

static void split_particle(struct dynamics *self, uint32_t particle, uint64_t now)
{
	struct tables *tables = self->tables;
	struct system_table *table = &tables->system;
	uint32_t row = tables->particle.system[particle];
	uint32_t count = children_of(table, row, tables->particle.serial[particle], now);
	table->splits[row]++;
	for (uint32_t i = 0; i < count; i++) {
		if (!particle_has_room(tables, row)) {
			table->lost[row] += count - i;
			break;
		}
		uint64_t serial = ++table->born[row];
		if (!make_child(self, particle, serial, now))
			table->refused[row]++;
	}
	/* It goes in the next tick, after the impulse that it has given a body. */
	if (table->split_spend[row])
		tables->particle.death[particle] = now + 1;
}

/* ---- trails --------------------------------------------------------------------------------------- */

static void leave_trail(struct dynamics *self, uint32_t particle, uint32_t trail, uint64_t now)
{
	struct tables *tables = self->tables;
	struct system_table *table = &tables->system;
	const struct particle_table *t = &tables->particle;
	double share = table->trail_velocity[t->system[particle]];
	if (!particle_has_room(tables, trail)) {
		table->lost[trail]++;
		return;
	}
	uint64_t serial = ++table->born[trail];
	struct rng rng = particle_generator(table, trail, serial);
	double size = particle_draw(&rng, table->size[trail]);
	double mass = particle_draw(&rng, table->mass[trail]);
	double life = particle_draw(&rng, table->life[trail]);
	vec3 velocity = vec3_scale(t->velocity[particle], share);
	double speed = vec3_length(velocity);
	if (speed > SPEED_MAX)
		velocity = vec3_scale(velocity, SPEED_MAX / speed);
	const struct particle_birth birth = {
		.system = trail,
		.serial = serial,
		.tick = now,
		.death = particle_death(tables, now, life),
		.position = t->position[particle],
		.velocity = velocity,
		.size = size,
		.mass = mass,
	};
	if (particle_is_blocked(self, table->mask[trail], birth.position, 0.5 * size))
		table->refused[trail]++;
	else
		particle_append(self, &birth);
}

/* The row of the trail of each system, DYNAMICS_NONE: it leaves none. True: some system splits or leaves
 * one. */
static bool find_trails(const struct dynamics *self, uint32_t trails[SYSTEMS_MAX])
{
	const struct system_table *table = &self->tables->system;
	bool some = false;
	ASSERT(table->count <= SYSTEMS_MAX);
	for (uint32_t row = 0; row < table->count; row++) {
		trails[row] = dynamics_find_system(self, table->trail[row]);
		ASSERT(table->trail[row] == 0 || trails[row] != DYNAMICS_NONE);
		some |= trails[row] != DYNAMICS_NONE || can_split(table, row);
	}
	return some;
}

void particle_descents(struct dynamics *self, uint64_t now)
{
	struct tables *tables = self->tables;
	uint32_t trails[SYSTEMS_MAX], count = tables->particle.count;
	if (!find_trails(self, trails))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct particle_table *t = &tables->particle;
		uint32_t row = t->system[i], trail = trails[row];
		/* One that has left the world. */
		if (t->death[i] != 0 && t->death[i] <= now)
			continue;
		if (can_split(&tables->system, row) && splits_at(tables, i, now))
			split_particle(self, i, now);
		if (trail != DYNAMICS_NONE && t->birth[i] < now &&
		    t->generation[i] <= tables->system.trail_depth[row] &&
		    (now - t->birth[i]) % tables->system.trail_delay[row] == 0)
			leave_trail(self, i, trail, now);
	}
}
