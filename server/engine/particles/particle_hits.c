/* particle_hits.c: collisions of particles with particles (ch1-3 P-15, P-17, P-18, P-24 … P-26).
 *
 * Each actor has a straight path in the tick, in a ball of which the grid below knows, and knows its
 * earliest hit (two swept balls, G-33), within its system or with others. The earliest of all, by
 * (time, numbers), is resolved: both balls go to where they touch, an impulse acts, and the rest of
 * their paths follows from their new velocities; only these two look for hits anew. A hit with a
 * ball whose path has changed since is looked for anew when its turn comes, which is not later than
 * any hit that it hid. So the hits are those of all pairs in the order of their times, and one
 * costs with what is near it and the logarithm of their number.
 *
 * From its PARTICLE_HITS_MAX-th hit on a ball has no restitution (P-04); after as many again both
 * paths end at the hit, and are counted as cut.
 *
 * The impulse: restitution and friction are the means of both systems; balls have no rotation. It
 * stops sliding if it can by static friction, else dynamic friction acts against it (P-26, along
 * the direction of sliding). Impacts slower than restitution.speed are contacts: they do not
 * bounce, and what the tick would still add to both velocities is added first, so it cannot
 * press them together. Hits at one time are resolved one after the other (sequential impulses),
 * not as a system of equations (P-29). */
#include "server/base/rng.h"
#include "server/engine/particles/particle_pairs.h"

#define NO_ACTOR UINT32_MAX

#define NO_HIT 2.0
/* Of both radii: approaches over the rest of a tick that are smaller are rounding. */
#define TOUCH 1e-9

/* ---- a pair -------------------------------------------------------------------------------------- */

/* Where an actor is on its path, at a time of the tick not before its own. */
static vec3 place_at(const struct hit_path *actor, double time)
{
	ASSERT(time >= actor->time && actor->time < 1);
	return vec3_lerp(actor->x, actor->to, (time - actor->time) / (1 - actor->time));
}

/* The time at which two balls come to touch, NO_HIT: not in this tick. */
static double time_of_hit(const struct hit_path *a, const struct hit_path *b)
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

/* ---- the grid ------------------------------------------------------------------------------------ */

/* A path is in the ball about its middle with this radius. On a level cells are twice as wide as on the
 * one below (G-11); a ball is on the lowest level whose cells are at least two radii wide, in the cell of its
 * middle. */
static double extent_of(const struct hit_path *actor)
{
	return 0.5 * vec3_distance(actor->x, actor->to) + actor->radius;
}

static double width_of(const struct particle_pairs *self, uint32_t level)
{
	ASSERT(level < HIT_LEVELS);
	return self->width * (double)(UINT64_C(1) << level);
}

static struct hit_cell cell_of(vec3 at, double width, uint32_t level)
{
	return (struct hit_cell){ (int64_t)scalar_floor(at.x / width),
				  (int64_t)scalar_floor(at.y / width),
				  (int64_t)scalar_floor(at.z / width), level };
}

static uint32_t *head_of(struct particle_pairs *self, struct hit_cell cell)
{
	uint64_t key = rng_mix((uint64_t)cell.x + HIT_LEVELS * (uint64_t)cell.level);
	key = rng_mix(key + (uint64_t)cell.y);
	return &self->heads.items[rng_mix(key + (uint64_t)cell.z) & self->head_mask];
}

static bool same_cell(struct hit_cell a, struct hit_cell b)
{
	return a.x == b.x && a.y == b.y && a.z == b.z && a.level == b.level;
}

static void unlink_actor(struct particle_pairs *self, uint32_t item)
{
	struct hit_link *link = &self->links.items[item];
	if (!link->linked)
		return;
	uint32_t *from = head_of(self, link->cell);
	while (*from != item) {
		ASSERT(*from != NO_ACTOR);
		from = &self->links.items[*from].next;
	}
	*from = link->next;
	link->linked = false;
	self->level_counts[link->cell.level]--;
}

/* Where CELLS_CROWD actors are in a list already, another one is near nothing. */
static void link_actor(struct particle_pairs *self, uint32_t item)
{
	struct hit_link *link = &self->links.items[item];
	const struct hit_path *actor = &self->paths.items[item];
	double extent = extent_of(actor);
	uint32_t level = 0, others = 0;
	ASSERT(!link->linked);
	while (level < HIT_LEVELS - 1 && width_of(self, level) < 2 * extent)
		level++;
	link->cell = cell_of(vec3_lerp(actor->x, actor->to, 0.5), width_of(self, level), level);
	uint32_t *head = head_of(self, link->cell);
	for (uint32_t k = *head; k != NO_ACTOR; k = self->links.items[k].next)
		others++;
	if (others >= CELLS_CROWD) {
		self->motion->dynamics->tables->system.crowded[actor->system]++;
		return;
	}
	link->next = *head;
	link->linked = true;
	*head = item;
	self->level_counts[level]++;
}

/* The width of the lowest level: two mean radii. */
static void begin_grid(struct particle_pairs *self)
{
	double sum = 0;
	uint32_t count = self->actors.count, buckets = 1;
	ASSERT(count > 0);
	while (buckets < count)
		buckets *= 2;
	for (uint32_t i = 0; i < count; i++)
		sum += extent_of(&self->paths.items[i]);
	self->width = scalar_max(2 * sum / count, CELLS_EDGE_MIN);
	self->head_mask = buckets - 1;
	memset(self->level_counts, 0, sizeof self->level_counts);
	for (uint32_t i = 0; i < buckets; i++)
		self->heads.items[i] = NO_ACTOR;
}

/* ---- the earliest hits --------------------------------------------------------------------------- */

/* Keeps the hit of an actor with another one if it is its earliest. */
static void note_hit(struct particle_pairs *self, uint32_t item, uint32_t other, double time)
{
	struct hit_path *a = &self->paths.items[item];
	ASSERT(time >= 0 && time < 1);
	if (time > a->hit_time || (time == a->hit_time && other >= a->hit))
		return;
	a->hit_time = time;
	a->hit = other;
	a->hit_version = self->paths.items[other].hits;
	min_heap_put(&self->earliest, item, time);
}

static void try_pair(struct particle_pairs *self, uint32_t i, uint32_t k)
{
	struct hit_path *a = &self->paths.items[MIN_OF(i, k)],
			*b = &self->paths.items[MAX_OF(i, k)];
	ASSERT(i != k);
	if (!self->laws[a->system][b->system].collisions)
		return;
	double time = time_of_hit(a, b);
	if (time == NO_HIT)
		return;
	note_hit(self, i, k, time);
	note_hit(self, k, i, time);
}

static void try_level(struct particle_pairs *self, uint32_t item, uint32_t level)
{
	const struct hit_path *actor = &self->paths.items[item];
	double width = width_of(self, level), reach = extent_of(actor) + 0.5 * width;
	vec3 at = vec3_lerp(actor->x, actor->to, 0.5);
	struct hit_cell low = cell_of(vec3_sub(at, vec3_all(reach)), width, level);
	struct hit_cell high = cell_of(vec3_add(at, vec3_all(reach)), width, level), cell = low;
	double cells = (double)(high.x - low.x + 1) * (double)(high.y - low.y + 1) *
		       (double)(high.z - low.z + 1);
	if (cells > self->level_counts[level]) {
		for (uint32_t k = 0; k < self->actors.count; k++)
			if (k != item && self->links.items[k].linked &&
			    self->links.items[k].cell.level == level)
				try_pair(self, item, k);
		return;
	}
	for (cell.z = low.z; cell.z <= high.z; cell.z++)
		for (cell.y = low.y; cell.y <= high.y; cell.y++)
			for (cell.x = low.x; cell.x <= high.x; cell.x++)
				for (uint32_t k = *head_of(self, cell); k != NO_ACTOR;
				     k = self->links.items[k].next)
					if (k != item && same_cell(self->links.items[k].cell, cell))
						try_pair(self, item, k);
}

/* Finds the earliest hit of an actor. */
static void find_earliest(struct particle_pairs *self, uint32_t item)
{
	struct hit_path *actor = &self->paths.items[item];
	actor->hit_time = NO_HIT;
	min_heap_remove(&self->earliest, item);
	if (!self->links.items[item].linked)
		return;
	for (uint32_t level = 0; level < HIT_LEVELS; level++)
		if (self->level_counts[level] > 0)
			try_level(self, item, level);
}

static void find_hits(struct particle_pairs *self)
{
	const struct system_table *table = &self->motion->dynamics->tables->system;
	uint32_t count = self->actors.count;
	begin_grid(self);
	min_heap_init(&self->earliest, self->heap_entries.items, self->heap_places.items, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct actor *actor = &self->actors.items[i];
		self->links.items[i].linked = false;
		if (!actor->lost && table->collisions[actor->system] != 0)
			link_actor(self, i);
	}
	for (uint32_t i = 0; i < count; i++)
		find_earliest(self, i);
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
static void advance_actor(struct hit_path *actor, double time)
{
	double part = (time - actor->time) / (1 - actor->time);
	ASSERT(part >= 0 && part <= 1);
	actor->x = place_at(actor, time);
	actor->v = vec3_mul_add(actor->v, actor->gain, part);
	actor->gain = vec3_scale(actor->gain, 1 - part);
	actor->time = time;
}

static void press_actor(struct hit_path *actor)
{
	actor->v = vec3_add(actor->v, actor->gain);
	actor->gain = vec3_zero();
}

static void go_on(const struct particle_pairs *self, struct hit_path *actor)
{
	ASSERT(actor->time <= 1);
	vec3 average = vec3_mul_add(actor->v, actor->gain, 0.5);
	actor->to = vec3_mul_add(actor->x, average, (1 - actor->time) * self->motion->dt);
	actor->hits++;
}

static void collide_actors(const struct particle_pairs *self, struct hit_path *a,
			   struct hit_path *b, bool elastic)
{
	const struct pair_law *law = &self->laws[a->system][b->system];
	advance_actor(a, a->hit_time);
	advance_actor(b, b->hit_time);
	double distance;
	vec3 n = vec3_normalize_length(vec3_sub(a->x, b->x), &distance);
	if (distance == 0)
		n = vec3_axis(1);
	double closing = -vec3_dot(vec3_sub(a->v, b->v), n);
	bool bounces = elastic && law->restitution > 0 && closing >= self->motion->bounce_speed;
	if (!bounces && vec3_dot(vec3_sub(a->gain, b->gain), n) < 0) {
		press_actor(a);
		press_actor(b);
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

/* Ends both paths at the hit. */
static void cut_paths(struct particle_pairs *self, struct hit_path *a, struct hit_path *b)
{
	struct hit_path *both[] = { a, b };
	for (uint32_t k = 0; k < 2; k++) {
		advance_actor(both[k], a->hit_time);
		press_actor(both[k]);
		both[k]->to = both[k]->x;
		both[k]->hits++;
		self->ends.items[both[k]->row].cut = true;
	}
}

static void resolve_hit(struct particle_pairs *self, uint32_t item)
{
	struct hit_path *a = &self->paths.items[item], *b = &self->paths.items[a->hit];
	uint32_t other = a->hit, hits = MAX_OF(a->hits, b->hits);
	if (a->hit_version != b->hits) {
		find_earliest(self, item);
		return;
	}
	b->hit_time = a->hit_time;
	unlink_actor(self, item);
	unlink_actor(self, other);
	if (hits < 2 * PARTICLE_HITS_MAX)
		collide_actors(self, a, b, hits < PARTICLE_HITS_MAX);
	else
		cut_paths(self, a, b);
	link_actor(self, item);
	link_actor(self, other);
	find_earliest(self, item);
	find_earliest(self, other);
}

/* ---- a tick -------------------------------------------------------------------------------------- */

static void set_paths(struct particle_pairs *self)
{
	const struct particle_table *table = &self->motion->dynamics->tables->particle;
	ASSERT(self->actors.count <= self->paths.capacity);
	for (uint32_t i = 0; i < self->actors.count; i++) {
		const struct actor *actor = &self->actors.items[i];
		vec3 velocity = table->velocity[actor->row];
		self->paths.items[i] = (struct hit_path){
			.x = table->position[actor->row],
			.v = velocity,
			.to = actor->x,
			.gain = vec3_sub(actor->v, velocity),
			.mass = actor->mass,
			.radius = actor->radius,
			.hit_time = NO_HIT,
			.row = actor->row,
			.system = actor->system,
		};
	}
}

static void store_struck(struct particle_pairs *self)
{
	for (uint32_t i = 0; i < self->actors.count; i++) {
		const struct hit_path *actor = &self->paths.items[i];
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
	ASSERT(self->actors.count > 0);
	set_paths(self);
	find_hits(self);
	const struct min_heap_entry *first;
	while ((first = min_heap_first(&self->earliest)) != NULL)
		resolve_hit(self, first->item);
	store_struck(self);
}
