/* particle_pairs.c: forces between particles; see particle_pairs.h.
 *
 * With d = x1 − x2, r = max(|d|, core), the force on 1 is d times
 *
 *   Coulomb        K q1 q2 / r³                             (P-12)
 *   gravitation    −G m1 m2 / r³                            (P-10)
 *   Lennard-Jones  24 ε / r² (2 (σ/r)¹² − (σ/r)⁶)           (P-11)
 *   repulsion      max(0, k (R1 + R2 − |d|) − c ḋ) / |d|    where the balls overlap;
 *                  c = 2 ζ sqrt(k m12), m12 the reduced mass (P-08)
 *
 * so inside of the core the first three fall to 0 as |d| does, and nothing overflows. Particles
 * farther apart than the cutoff exert none of these; the force jumps there. Of two systems G is
 * the geometric mean of both, ε too, σ, ζ and k are the means (of Lorentz and Berthelot), the
 * cutoff is the smaller one and the core the larger one. */
#include "server/engine/particles/particle_pairs.h"

#include "server/base/heap.h"
#include "server/base/prefetch.h"
#include "server/engine/dynamics/force.h"

#define COULOMB 8.9875e9 /* N m²/C² */
#define PLACE_MAX (2 * LENGTH_MAX)
/* Actors that are read soon, in the order of cells. */
enum { AHEAD = 16 };
enum { POINT_COLUMNS = 8, PULLED_BYTES = offsetof(struct actor, x) };

/* ---- the pairs of systems ------------------------------------------------------------------------ */

static bool is_active(const struct system_table *table, uint32_t row)
{
	return table->id[row] != 0 &&
	       ((table->forces[row] != 0 && table->cutoff[row] > 0) || table->collisions[row] != 0);
}

bool particle_pairs_active(const struct tables *tables)
{
	for (uint32_t row = 0; row < tables->system.count; row++)
		if (is_active(&tables->system, row))
			return true;
	return false;
}

static double mean(double a, double b)
{
	return 0.5 * (a + b);
}

static double geometric_mean(double a, double b)
{
	ASSERT(a >= 0 && b >= 0);
	return a == b ? a : scalar_sqrt(a) * scalar_sqrt(b);
}

static struct pair_law law_of(const struct system_table *t, uint32_t a, uint32_t b)
{
	uint8_t side = a == b ? INTERACT_INTERNAL : INTERACT_EXTERNAL;
	ASSERT(t->id[a] != 0 && t->id[b] != 0);
	double cutoff = scalar_min(t->cutoff[a], t->cutoff[b]);
	double core = scalar_max(t->core[a], t->core[b]);
	bool forces = (t->forces[a] & t->forces[b] & side) != 0 && cutoff > 0;
	double sigma = mean(t->well_distance[a], t->well_distance[b]);
	return (struct pair_law){
		.forces = forces,
		.collisions = (t->collisions[a] & t->collisions[b] & side) != 0,
		.cutoff = forces ? cutoff * cutoff : -1,
		.core = core * core,
		.coulomb = COULOMB * (t->charge[a] * t->charge[b]),
		.gravitation = geometric_mean(t->gravitation[a], t->gravitation[b]),
		.depth = geometric_mean(t->well_depth[a], t->well_depth[b]),
		.sigma2 = sigma * sigma,
		.stiffness = mean(t->repulsion[a], t->repulsion[b]),
		.damping_ratio = mean(t->repulsion_damping[a], t->repulsion_damping[b]),
		.restitution = mean(t->restitution[a], t->restitution[b]),
		.sticking = mean(t->static_friction[a], t->static_friction[b]),
		.sliding = mean(t->dynamic_friction[a], t->dynamic_friction[b]),
	};
}

static void find_laws(struct particle_pairs *self, const struct system_table *table)
{
	self->substeps = 1;
	self->reach = 0;
	self->collisions = false;
	self->only = DYNAMICS_NONE;
	uint32_t active = 0;
	for (uint32_t a = 0; a < table->count; a++) {
		if (!is_active(table, a))
			continue;
		self->substeps = MAX_OF(self->substeps, table->substeps[a]);
		self->only = active++ == 0 ? a : DYNAMICS_NONE;
		for (uint32_t b = 0; b < table->count; b++) {
			if (!is_active(table, b))
				continue;
			self->laws[a][b] = law_of(table, a, b);
			self->collisions |= self->laws[a][b].collisions;
			if (self->laws[a][b].forces)
				self->reach = scalar_max(self->reach, self->laws[a][b].cutoff);
		}
	}
	self->reach = scalar_sqrt(self->reach);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static enum status reserve_forces(struct particle_pairs *self, uint32_t count)
{
	uint64_t padded = (uint64_t)count + PARTICLE_LANES_MAX;
	enum status status = particle_cells_reserve(&self->cells, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->actors, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->numbers, POINT_COLUMNS * padded);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->lines, padded);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->systems, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->accelerations, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->ends, count);
	return status;
}

static enum status reserve_hits(struct particle_pairs *self, uint32_t count)
{
	uint64_t buckets = 1;
	while (buckets < count)
		buckets *= 2;
	enum status status = ARRAY_RESERVE(&self->heads, buckets);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->paths, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->heap_entries, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->heap_places, count);
	return status;
}

enum status particle_pairs_reserve(struct dynamics *self)
{
	uint32_t count = self->tables->particle.count;
	bool collisions = false;
	for (uint32_t row = 0; row < self->tables->system.count; row++)
		collisions |= self->tables->system.collisions[row] != 0;
	if (self->pairs == NULL)
		self->pairs = heap_alloc_zero(sizeof *self->pairs);
	if (self->pairs == NULL)
		return STATUS_NO_MEMORY;
	enum status status = reserve_forces(self->pairs, count);
	if (status == STATUS_OK && collisions)
		status = reserve_hits(self->pairs, count);
	return status;
}

void particle_pairs_destroy(struct particle_pairs *self)
{
	if (self == NULL)
		return;
	particle_cells_release(&self->cells);
	ARRAY_RELEASE(&self->actors);
	ARRAY_RELEASE(&self->numbers);
	ARRAY_RELEASE(&self->lines);
	ARRAY_RELEASE(&self->systems);
	ARRAY_RELEASE(&self->accelerations);
	ARRAY_RELEASE(&self->ends);
	ARRAY_RELEASE(&self->heads);
	ARRAY_RELEASE(&self->paths);
	ARRAY_RELEASE(&self->links);
	ARRAY_RELEASE(&self->heap_entries);
	ARRAY_RELEASE(&self->heap_places);
	heap_free(self);
}

uint64_t particle_pairs_memory(const struct particle_pairs *self)
{
	if (self == NULL)
		return 0;
	return sizeof *self + particle_cells_memory(&self->cells) +
	       (uint64_t)self->actors.capacity * sizeof *self->actors.items +
	       (uint64_t)self->numbers.capacity * sizeof *self->numbers.items +
	       (uint64_t)self->lines.capacity * sizeof *self->lines.items +
	       (uint64_t)self->systems.capacity * sizeof *self->systems.items +
	       (uint64_t)self->accelerations.capacity * sizeof *self->accelerations.items +
	       (uint64_t)self->ends.capacity * sizeof *self->ends.items +
	       (uint64_t)self->heads.capacity * sizeof *self->heads.items +
	       (uint64_t)self->paths.capacity * sizeof *self->paths.items +
	       (uint64_t)self->links.capacity * sizeof *self->links.items +
	       (uint64_t)self->heap_entries.capacity * sizeof *self->heap_entries.items +
	       (uint64_t)self->heap_places.capacity * sizeof *self->heap_places.items;
}

static void make_actor(const struct particle_pairs *self, uint32_t row, struct actor *actor)
{
	const struct particle_table *table = &self->motion->dynamics->tables->particle;
	struct particle_law law = { .drag = self->motion->laws[table->system[row]].drag };
	particle_law_of_mass(&law, table->mass[row], self->step);
	*actor = (struct actor){ .x = table->position[row],
				 .v = table->velocity[row],
				 .mass = table->mass[row],
				 .radius = table->radius[row],
				 .row = row,
				 .system = table->system[row],
				 .decay = law.decay,
				 .coast = law.coast,
				 .fall = law.fall };
}

static void find_actors(struct particle_pairs *self)
{
	const struct tables *tables = self->motion->dynamics->tables;
	uint32_t count = tables->particle.count;
	ASSERT(count <= self->actors.capacity && count <= self->ends.capacity);
	self->actors.count = 0;
	self->largest = 0;
	for (uint32_t row = 0; row < count; row++) {
		if (!is_active(&tables->system, tables->particle.system[row])) {
			self->ends.items[row] = (struct particle_end){ 0 };
			continue;
		}
		make_actor(self, row, &self->actors.items[self->actors.count++]);
		self->largest = scalar_max(self->largest, tables->particle.radius[row]);
	}
}

/* ---- forces -------------------------------------------------------------------------------------- */

/* The accelerations of the actors at places first … last − 1, which are in one cell, by those near them. */
static void pull_cell(struct particle_pairs *self, uint32_t first, uint32_t last)
{
	const struct cell_entry *entries = self->cells.sorted.items;
	struct cell_span ranges[CELLS_RANGES];
	vec3 forces[CELLS_CROWD];
	ASSERT(first < last && last - first <= CELLS_CROWD);
	uint32_t count = particle_cells_near(&self->cells, entries[first].at, ranges);
	self->kernels->pull(&self->points, first, last, ranges, count, forces);
	for (uint32_t k = first; k < last; k++)
		self->accelerations.items[entries[k].item] =
			vec3_scale(forces[k - first], 1 / self->points.mass[k]);
}

/* Whether both are in one cell of a bucket. */
static bool share_cell(const struct particle_cells *cells, uint32_t a, uint32_t b)
{
	const struct cell_entry *first = &cells->sorted.items[a], *next = &cells->sorted.items[b];
	ASSERT(a < cells->sorted.count && b < cells->sorted.count);
	return cells->dense ||
	       (first->line == next->line && particle_cells_coordinate(cells, first->at.x) ==
						     particle_cells_coordinate(cells, next->at.x));
}

static void pull_buckets(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct particle_pairs *self = context;
	const struct particle_cells *cells = &self->cells;
	ASSERT(last * (uint64_t)PARTICLE_BLOCK < cells->bucket_count + (uint64_t)PARTICLE_BLOCK);
	uint32_t buckets = MIN_OF(last * PARTICLE_BLOCK, cells->bucket_count);
	for (uint32_t b = first * PARTICLE_BLOCK; b < buckets; b++) {
		uint32_t end = particle_cells_end(cells, b);
		for (uint32_t k = cells->starts.items[b], next; k < end; k = next) {
			next = k + 1;
			while (next < end && share_cell(cells, k, next))
				next++;
			pull_cell(self, k, next);
		}
	}
}

/* Shares the memory among the columns of points. */
static void place_points(struct particle_pairs *self)
{
	double *next = self->numbers.items;
	uint32_t column = self->cells.sorted.count + PARTICLE_LANES_MAX;
	struct pair_points *points = &self->points;
	double **const columns[POINT_COLUMNS] = { points->x,	 points->x + 1,	 points->x + 2,
						  points->v,	 points->v + 1,	 points->v + 2,
						  &points->mass, &points->radius };
	ASSERT((uint64_t)POINT_COLUMNS * column <= self->numbers.capacity);
	for (uint32_t i = 0; i < POINT_COLUMNS; i++, next += column) {
		*columns[i] = next;
		/* Vectors read beyond the end. */
		memset(next + column - PARTICLE_LANES_MAX, 0, PARTICLE_LANES_MAX * sizeof *next);
	}
	points->reach = self->reach * self->reach;
	points->touching = 4 * self->largest * self->largest;
	points->line = self->cells.dense ? NULL : self->lines.items;
	points->system = self->systems.items;
	bool single = self->only != DYNAMICS_NONE;
	points->laws = single ? &self->laws[self->only][self->only] : self->laws[0];
	points->law_stride = single ? 0 : SYSTEMS_MAX;
	memset(self->lines.items + column - PARTICLE_LANES_MAX, 0,
	       PARTICLE_LANES_MAX * sizeof *self->lines.items);
}

static void take_points(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	ASSERT(first < last);
	UNUSED(worker);
	const struct particle_pairs *self = context;
	const struct pair_points *points = &self->points;
	uint32_t end = MIN_OF(last * PARTICLE_BLOCK, self->cells.sorted.count);
	for (uint32_t k = first * PARTICLE_BLOCK; k < end; k++) {
		const struct cell_entry *entry = &self->cells.sorted.items[k];
		const struct actor *actor = &self->actors.items[entry->item];
		if (k + AHEAD < end)
			prefetch(&self->actors.items[entry[AHEAD].item], PULLED_BYTES);
		points->x[0][k] = entry->at.x;
		points->x[1][k] = entry->at.y;
		points->x[2][k] = entry->at.z;
		points->v[0][k] = actor->v.x;
		points->v[1][k] = actor->v.y;
		points->v[2][k] = actor->v.z;
		points->mass[k] = actor->mass;
		points->radius[k] = actor->radius;
		points->system[k] = actor->system;
		if (points->line != NULL)
			points->line[k] = entry->line;
	}
}

static vec3 middle_of(const struct particle_pairs *self, const struct actor *actor)
{
	return vec3_mul_add(actor->x, actor->v, 0.5 * self->step);
}

static void pull(struct particle_pairs *self)
{
	struct system_table *table = &self->motion->dynamics->tables->system;
	memset(self->accelerations.items, 0,
	       self->actors.count * sizeof *self->accelerations.items);
	particle_cells_begin(&self->cells, self->reach);
	for (uint32_t i = 0; i < self->actors.count; i++) {
		const struct actor *actor = &self->actors.items[i];
		vec3 at = middle_of(self, actor);
		if (!actor->lost && vec3_max_component(vec3_abs(at)) <= PLACE_MAX)
			particle_cells_add(&self->cells, i, at);
	}
	if (self->cells.entries.count == 0)
		return;
	particle_cells_sort(&self->cells);
	place_points(self);
	self->kernels = particle_kernels_choose();
	uint32_t blocks = (self->cells.sorted.count + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
	parallel_run(self->motion->dynamics->parallel, blocks, 1, take_points, self);
	blocks = (self->cells.bucket_count + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
	parallel_run(self->motion->dynamics->parallel, blocks, 1, pull_buckets, self);
	for (uint32_t b = 0; b < self->cells.bucket_count && self->cells.crowded; b++)
		for (uint32_t k = particle_cells_end(&self->cells, b);
		     k < self->cells.starts.items[b + 1]; k++)
			table->crowded[self->actors.items[self->cells.sorted.items[k].item]
					       .system]++;
}

/* ---- motion -------------------------------------------------------------------------------------- */

/* As fly_free of particle_path.c, for a sub-step. */
static void move_actor(const struct particle_pairs *self, struct actor *actor, vec3 pulled)
{
	const struct particle_law *law = &self->motion->laws[actor->system];
	double h = self->step;
	vec3 a = vec3_add(law->acceleration, pulled);
	if (law->fields)
		a = vec3_add(a, particle_field_acceleration(self->motion, actor->system,
							    middle_of(self, actor), actor->v,
							    actor->mass));
	vec3 x = vec3_mul_add(vec3_mul_add(actor->x, actor->v, actor->coast * h), a,
			      actor->fall * h * h);
	vec3 v = vec3_mul_add(vec3_scale(actor->v, actor->decay), a, actor->coast * h);
	bool within = vec3_is_finite(x) && vec3_max_component(vec3_abs(x)) <= PLACE_MAX &&
		      vec3_is_finite(v) && vec3_max_component(vec3_abs(v)) <= SPEED_MAX;
	if (!within) {
		actor->lost = true;
		return;
	}
	actor->x = x;
	actor->v = v;
}

static void move_block(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct particle_pairs *self = context;
	ASSERT(first < last);
	uint32_t end = MIN_OF(last * PARTICLE_BLOCK, self->actors.count);
	for (uint32_t i = first * PARTICLE_BLOCK; i < end; i++) {
		vec3 pulled = self->reach > 0 ? self->accelerations.items[i] : vec3_zero();
		if (!self->actors.items[i].lost)
			move_actor(self, &self->actors.items[i], pulled);
	}
}

static void move_actors(struct particle_pairs *self)
{
	uint32_t blocks = (self->actors.count + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
	for (uint32_t step = 0; step < self->substeps; step++) {
		if (self->reach > 0)
			pull(self);
		parallel_run(self->motion->dynamics->parallel, blocks, 1, move_block, self);
	}
}

static void store_ends(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct particle_pairs *self = context;
	uint32_t stop = MIN_OF(last * PARTICLE_BLOCK, self->actors.count);
	for (uint32_t i = first * PARTICLE_BLOCK; i < stop; i++) {
		const struct actor *actor = &self->actors.items[i];
		struct particle_end *end = &self->ends.items[actor->row];
		*end = (struct particle_end){ actor->x, actor->v, .known = true };
		/* Too fast to stay: particle_path.c removes it. */
		if (actor->lost)
			end->velocity = vec3_all(2 * SPEED_MAX);
	}
}

void particle_pairs_run(struct particle_pairs *self, const struct particle_motion *motion)
{
	const struct tables *tables = motion->dynamics->tables;
	self->motion = motion;
	find_laws(self, &tables->system);
	ASSERT(self->substeps >= 1);
	self->step = motion->dt / self->substeps;
	find_actors(self);
	if (self->actors.count == 0)
		return;
	move_actors(self);
	uint32_t blocks = (self->actors.count + PARTICLE_BLOCK - 1) / PARTICLE_BLOCK;
	parallel_run(motion->dynamics->parallel, blocks, 1, store_ends, self);
	if (self->collisions)
		particle_hits_run(self);
}
