/* particle_hits.c: collisions of particles with particles (ch1-3 P-15, P-17, P-18, P-24 … P-26).
 *
 * Each actor has a straight path in the tick. A round finds the earliest hit of each (two swept
 * balls, G-33), within its system and with others at once, and resolves the pairs that are each
 * other's earliest hit: nothing that comes before can change these. Hits are ordered by time and
 * numbers, a total order, so at least the earliest of all is resolved, and the result depends on
 * no order of work. Both balls go to where they touch, an impulse acts, and the rest of their
 * paths follows from their new velocities. Then the next round begins.
 *
 * After PARTICLE_HITS_MAX rounds impacts have no restitution (P-04); after as many again the paths
 * that still end in a hit end there, and are counted as cut.
 *
 * The impulse: restitution and friction are the means of both systems; balls have no rotation. It
 * stops sliding if it can by static friction, else dynamic friction acts against it (P-26, along
 * the direction of sliding). Impacts slower than restitution.speed are contacts: they do not
 * bounce, and what the tick would still add to both velocities is added first, so it cannot
 * press them together. Hits at one time are resolved one after the other (sequential impulses),
 * not as a system of equations (P-29). */
#include "server/engine/dynamics/particle_pairs.h"

#define NO_HIT 2.0
/* Of both radii: approaches over the rest of a tick that are smaller are rounding. */
#define TOUCH 1e-9

static double extent_of(const struct actor *actor)
{
	return 0.5 * vec3_distance(actor->x, actor->to) + actor->radius;
}

/* ---- finding hits -------------------------------------------------------------------------------- */

/* Where an actor is on its path, at a time of the tick not before its own. */
static vec3 place_at(const struct actor *actor, double time)
{
	ASSERT(time >= actor->time && actor->time < 1);
	return vec3_lerp(actor->x, actor->to, (time - actor->time) / (1 - actor->time));
}

/* The time at which two balls come to touch, NO_HIT: not in this tick. */
static double time_of_hit(const struct actor *a, const struct actor *b)
{
	double from = scalar_max(a->time, b->time), touching = a->radius + b->radius;
	if (!(from < 1))
		return NO_HIT;
	vec3 d = vec3_sub(place_at(a, from), place_at(b, from));
	vec3 way = vec3_sub(vec3_sub(a->to, b->to), d);
	double along = vec3_dot(d, way), apart = vec3_length_squared(d) - touching * touching;
	if (!(along < 0))
		return NO_HIT;
	if (apart <= 0)
		return -along > TOUCH * touching * vec3_length(d) ? from : NO_HIT;
	double root = along * along - vec3_length_squared(way) * apart;
	if (root < 0)
		return NO_HIT;
	double part = apart / (scalar_sqrt(root) - along);
	return part < 1 ? from + part * (1 - from) : NO_HIT;
}

/* Keeps the hit of a with b if it is the earliest of a. */
static void note_hit(struct actor *a, uint32_t b, double time)
{
	ASSERT(time >= 0 && time <= 1);
	if (time < a->hit_time || (time == a->hit_time && b < a->hit)) {
		a->hit_time = time;
		a->hit = b;
	}
}

static void try_pair(struct particle_pairs *self, uint32_t i, uint32_t k)
{
	struct actor *a = &self->actors.items[MIN_OF(i, k)], *b = &self->actors.items[MAX_OF(i, k)];
	ASSERT(i != k);
	if (!self->laws[a->system][b->system].collisions)
		return;
	double time = time_of_hit(a, b);
	if (time == NO_HIT)
		return;
	note_hit(a, MAX_OF(i, k), time);
	note_hit(b, MIN_OF(i, k), time);
}

/* The pairs of an entry with others of its level and of wider ones. */
static void try_near(struct particle_pairs *self, const struct cell_entry *entry)
{
	const struct particle_cells *cells = &self->cells;
	struct cell_range ranges[CELLS_RANGES];
	double extent = extent_of(&self->actors.items[entry->item]);
	for (uint32_t level = entry->level; level < CELLS_LEVELS; level++) {
		if (!(cells->levels & 1u << level))
			continue;
		uint32_t count = particle_cells_near(cells, entry->at, level, ranges);
		for (uint32_t i = 0; i < count; i++) {
			for (uint32_t k = ranges[i].first; k < ranges[i].last; k++) {
				const struct cell_entry *other = &cells->sorted.items[k];
				if (other->line != ranges[i].line || other->level != level ||
				    (level == entry->level && other->item <= entry->item))
					continue;
				double both = extent + extent_of(&self->actors.items[other->item]);
				if (vec3_distance_squared(entry->at, other->at) <= both * both)
					try_pair(self, entry->item, other->item);
			}
		}
	}
}

/* The width of the lowest level: two mean extents. */
static double edge_of(const struct particle_pairs *self)
{
	double sum = 0;
	ASSERT(self->actors.count > 0);
	for (uint32_t i = 0; i < self->actors.count; i++)
		sum += extent_of(&self->actors.items[i]);
	return 2 * sum / self->actors.count;
}

static void find_hits(struct particle_pairs *self)
{
	struct particle_cells *cells = &self->cells;
	struct system_table *table = &self->motion->dynamics->tables->system;
	particle_cells_begin(cells, edge_of(self));
	for (uint32_t i = 0; i < self->actors.count; i++) {
		struct actor *actor = &self->actors.items[i];
		actor->hit_time = NO_HIT;
		if (!actor->lost && table->collisions[actor->system] != 0)
			particle_cells_add(cells, i, vec3_lerp(actor->x, actor->to, 0.5),
					   extent_of(actor));
	}
	particle_cells_sort(cells);
	for (uint32_t b = 0; b <= cells->mask; b++) {
		uint32_t end = particle_cells_end(cells, b);
		for (uint32_t k = cells->starts.items[b]; k < end; k++)
			try_near(self, &cells->sorted.items[k]);
		for (uint32_t k = end; k < cells->starts.items[b + 1]; k++)
			table->crowded[self->actors.items[cells->sorted.items[k].item].system]++;
	}
}

/* ---- impulses ------------------------------------------------------------------------------------ */

/* P-25, P-26: the impulse on a, whose relative velocity is u; n points from b to a, u·n < 0. */
static vec3 impulse_of(const struct pair_law *law, double reduced, vec3 u, vec3 n,
		       double restitution)
{
	double closing = -vec3_dot(u, n);
	ASSERT(closing > 0 && restitution <= 1);
	double normal = reduced * (1 + restitution) * closing, speed;
	vec3 slide = vec3_normalize_length(vec3_mul_add(u, n, closing), &speed);
	double stopping = reduced * speed;
	double tangent = stopping <= law->sticking * normal
				 ? stopping
				 : scalar_min(stopping, law->sliding * normal);
	return vec3_mul_sub(vec3_scale(n, normal), slide, tangent);
}

/* To where it is at that time. */
static void advance(struct actor *actor, double time)
{
	double part = (time - actor->time) / (1 - actor->time);
	ASSERT(part >= 0 && part <= 1);
	actor->x = place_at(actor, time);
	actor->v = vec3_mul_add(actor->v, actor->gain, part);
	actor->gain = vec3_scale(actor->gain, 1 - part);
	actor->time = time;
}

static void press(struct actor *actor)
{
	actor->v = vec3_add(actor->v, actor->gain);
	actor->gain = vec3_zero();
}

static void go_on(const struct particle_pairs *self, struct actor *actor)
{
	ASSERT(actor->time <= 1);
	vec3 average = vec3_mul_add(actor->v, actor->gain, 0.5);
	actor->to = vec3_mul_add(actor->x, average, (1 - actor->time) * self->motion->dt);
	actor->hits++;
}

static void collide(const struct particle_pairs *self, struct actor *a, struct actor *b,
		    bool elastic)
{
	const struct pair_law *law = &self->laws[a->system][b->system];
	advance(a, a->hit_time);
	advance(b, b->hit_time);
	double distance;
	vec3 n = vec3_normalize_length(vec3_sub(a->x, b->x), &distance);
	if (distance == 0)
		n = vec3_axis(1);
	double closing = -vec3_dot(vec3_sub(a->v, b->v), n);
	bool bounces = elastic && law->restitution > 0 && closing >= self->motion->bounce_speed;
	if (!bounces && vec3_dot(vec3_sub(a->gain, b->gain), n) < 0) {
		press(a);
		press(b);
	}
	vec3 u = vec3_sub(a->v, b->v);
	if (vec3_dot(u, n) < 0) {
		double reduced = a->mass * b->mass / (a->mass + b->mass);
		vec3 impulse = impulse_of(law, reduced, u, n, bounces ? law->restitution : 0);
		a->v = vec3_mul_add(a->v, impulse, 1 / a->mass);
		b->v = vec3_mul_sub(b->v, impulse, 1 / b->mass);
	}
	go_on(self, a);
	go_on(self, b);
}

/* Resolves the pairs of which each is the other's earliest hit; returns how many. */
static uint32_t resolve(struct particle_pairs *self, bool elastic)
{
	uint32_t resolved = 0;
	for (uint32_t i = 0; i < self->actors.count; i++) {
		struct actor *a = &self->actors.items[i];
		if (a->hit_time == NO_HIT || a->hit < i || self->actors.items[a->hit].hit != i ||
		    self->actors.items[a->hit].hit_time != a->hit_time)
			continue;
		struct actor *b = &self->actors.items[a->hit];
		collide(self, a, b, elastic);
		a->hit_time = b->hit_time = NO_HIT;
		resolved++;
	}
	return resolved;
}

/* ---- a tick -------------------------------------------------------------------------------------- */

static void set_paths(struct particle_pairs *self)
{
	const struct particle_table *table = &self->motion->dynamics->tables->particle;
	for (uint32_t i = 0; i < self->actors.count; i++) {
		struct actor *actor = &self->actors.items[i];
		ASSERT(actor->row < table->count);
		vec3 velocity = table->velocity[actor->row];
		actor->to = actor->x;
		actor->gain = vec3_sub(actor->v, velocity);
		actor->x = table->position[actor->row];
		actor->v = velocity;
	}
}

/* Ends the paths that would still hit something. */
static void cut_paths(struct particle_pairs *self)
{
	ASSERT(self->collisions);
	find_hits(self);
	for (uint32_t i = 0; i < self->actors.count; i++) {
		struct actor *actor = &self->actors.items[i];
		if (actor->hit_time == NO_HIT)
			continue;
		advance(actor, actor->hit_time);
		press(actor);
		actor->to = actor->x;
		actor->hits++;
		self->ends.items[actor->row].cut = true;
	}
}

static void store_struck(struct particle_pairs *self)
{
	for (uint32_t i = 0; i < self->actors.count; i++) {
		const struct actor *actor = &self->actors.items[i];
		struct particle_end *end = &self->ends.items[actor->row];
		ASSERT(end->known);
		if (actor->hits == 0) /* in its own bits, not as a sum of parts */
			continue;
		end->to = actor->to;
		end->velocity = vec3_add(actor->v, actor->gain);
		end->struck = true;
	}
}

void particle_hits_run(struct particle_pairs *self)
{
	if (self->actors.count == 0)
		return;
	set_paths(self);
	uint32_t resolved = 1;
	for (uint32_t round = 0; resolved > 0 && round < 2 * PARTICLE_HITS_MAX; round++) {
		find_hits(self);
		resolved = resolve(self, round < PARTICLE_HITS_MAX);
	}
	if (resolved > 0)
		cut_paths(self);
	store_struck(self);
}
