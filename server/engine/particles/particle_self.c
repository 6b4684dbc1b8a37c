/* See particle_self.h. */
#include "server/engine/particles/particle_self.h"

#include "server/base/heap.h"
#include "server/engine/particles/particle_cells.h"

#include <string.h>

enum { SELF_PAIRS = 24 };
/* Of the thickness: the margin of a list. */
#define SELF_MARGIN 0.5

struct self_pair {
	uint32_t a, b; /* nodes within the system, a < b */
};

/* Of one system in a tick. */
struct particle_self {
	struct particle_cells cells;
	ARRAY_OF(uint32_t) firsts; /* of each node in `linked`, and the end */
	ARRAY_OF(uint32_t) linked; /* nodes with which it shares a link */
	ARRAY_OF(struct self_pair) pairs;
	ARRAY_OF(vec3) listed; /* places for which the list was made */
	double thickness, friction, margin, overlap;
	uint64_t crowded;
	bool met; /* in this tick */
};

/* ---- memory --------------------------------------------------------------------------------------- */

static enum status reserve_system(struct particle_self *self, const struct tables *tables,
				  uint32_t row)
{
	uint64_t nodes = tables->system.alive[row], links = tables->system.links[row];
	enum status status = particle_cells_reserve(&self->cells, (uint32_t)nodes);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->firsts, nodes + 2);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->linked, links * LINK_ENDS * (LINK_ENDS - 1));
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->pairs, nodes * SELF_PAIRS);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->listed, nodes);
	return status;
}

enum status particle_self_reserve(struct dynamics *self)
{
	struct particle_links *links = self->links;
	const struct tables *tables = self->tables;
	enum status status = STATUS_OK;
	ASSERT(links != NULL);
	for (uint32_t row = 0; row < tables->system.count && status == STATUS_OK; row++) {
		if (!(tables->system.self_thickness[row] > 0) || tables->system.links[row] == 0)
			continue;
		if (links->selves == NULL)
			links->selves = heap_alloc_zero(SYSTEMS_MAX * sizeof *links->selves);
		if (links->selves == NULL)
			return STATUS_NO_MEMORY;
		status = reserve_system(&links->selves[row], tables, row);
	}
	return status;
}

void particle_self_release(struct particle_links *self)
{
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->selves != NULL; row++) {
		struct particle_self *one = &self->selves[row];
		particle_cells_release(&one->cells);
		ARRAY_RELEASE(&one->firsts);
		ARRAY_RELEASE(&one->linked);
		ARRAY_RELEASE(&one->pairs);
		ARRAY_RELEASE(&one->listed);
	}
	heap_free(self->selves);
	self->selves = NULL;
}

uint64_t particle_self_memory(const struct particle_links *self)
{
	uint64_t sum = self->selves != NULL ? SYSTEMS_MAX * sizeof *self->selves : 0;
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->selves != NULL; row++) {
		const struct particle_self *one = &self->selves[row];
		sum += particle_cells_memory(&one->cells);
		sum += ((uint64_t)one->firsts.capacity + one->linked.capacity) * sizeof(uint32_t);
		sum += (uint64_t)one->pairs.capacity * sizeof *one->pairs.items;
		sum += (uint64_t)one->listed.capacity * sizeof *one->listed.items;
	}
	return sum;
}

/* ---- lists ---------------------------------------------------------------------------------------- */

bool particle_self_meets(const struct particle_links *self, const struct linked_system *system)
{
	return self->motion->dynamics->tables->system.self_thickness[system->row] > 0 &&
	       system->bonds > 0;
}

/* Which nodes share a link. */
static void list_linked(struct particle_self *self, const struct particle_links *links,
			const struct linked_system *system)
{
	const struct bond *bonds = links->bonds.items + system->first_bond;
	uint32_t *firsts = self->firsts.items;
	ASSERT(system->nodes + 2 <= self->firsts.capacity);
	memset(firsts, 0, ((size_t)system->nodes + 2) * sizeof *firsts);
	for (uint32_t i = 0; i < system->bonds; i++)
		for (uint32_t k = 0; k < bonds[i].ends; k++)
			firsts[bonds[i].node[k] - system->first_node + 2] += bonds[i].ends - 1;
	for (uint32_t node = 0; node < system->nodes; node++)
		firsts[node + 2] += firsts[node + 1];
	ASSERT(firsts[system->nodes + 1] <= self->linked.capacity);
	for (uint32_t i = 0; i < system->bonds; i++)
		for (uint32_t k = 0; k < bonds[i].ends; k++)
			for (uint32_t m = 0; m < bonds[i].ends; m++) {
				uint32_t node = bonds[i].node[k] - system->first_node;
				if (m != k)
					self->linked.items[firsts[node + 1]++] =
						bonds[i].node[m] - system->first_node;
			}
}

static bool share_link(const struct particle_self *self, uint32_t a, uint32_t b)
{
	for (uint32_t i = self->firsts.items[a]; i < self->firsts.items[a + 1]; i++)
		if (self->linked.items[i] == b)
			return true;
	return false;
}

bool particle_is_inside(vec3 x)
{
	return vec3_max_component(vec3_abs(x)) <= LENGTH_MAX;
}

/* Puts the last pair to its place among those of the same first node. */
static void sort_last(struct particle_self *self, uint32_t first)
{
	struct self_pair *pairs = self->pairs.items, last = pairs[self->pairs.count - 1];
	uint32_t at = self->pairs.count - 1;
	while (at > first && pairs[at - 1].b > last.b) {
		pairs[at] = pairs[at - 1];
		at--;
	}
	pairs[at] = last;
}

static void list_pairs_of(struct particle_self *self, uint32_t node, vec3 at, double reach)
{
	struct cell_span spans[CELLS_RANGES];
	uint32_t count = particle_cells_near(&self->cells, at, spans), first = self->pairs.count;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = spans[i].first; k < spans[i].last; k++) {
			const struct cell_entry *entry = &self->cells.sorted.items[k];
			vec3 way = vec3_sub(entry->at, at);
			if (entry->line != spans[i].line || entry->item <= node ||
			    vec3_length_squared(way) > reach * reach ||
			    share_link(self, node, entry->item))
				continue;
			if (self->pairs.count == self->pairs.capacity) {
				self->crowded++;
				continue;
			}
			self->pairs.items[self->pairs.count++] =
				(struct self_pair){ node, entry->item };
			sort_last(self, first);
		}
	}
}

/* How far two nodes may have moved relative to each other since the list was made, m. */
static double relative_way(const struct particle_self *self, const struct link_node *nodes,
			   uint32_t count)
{
	struct aabb ways = aabb_empty();
	ASSERT(count <= self->listed.capacity);
	for (uint32_t i = 0; i < count; i++)
		if (particle_is_inside(nodes[i].x))
			ways = aabb_add_point(
				aabb_add_point(ways, vec3_sub(nodes[i].x, self->listed.items[i])),
				vec3_sub(nodes[i].before, self->listed.items[i]));
	return ways.min.x <= ways.max.x ? vec3_distance(ways.min, ways.max) : 0;
}

/* The pairs that may meet in this sub-step and in the next ones. */
static void list_pairs(struct particle_self *self, const struct link_node *nodes, uint32_t count)
{
	ASSERT(count <= self->listed.capacity);
	for (uint32_t i = 0; i < count; i++)
		self->listed.items[i] = nodes[i].before;
	/* What has lost all measure would need a list of all pairs: what is beyond the room is counted. */
	double way = scalar_min(relative_way(self, nodes, count), LENGTH_MAX);
	self->margin = scalar_max(SELF_MARGIN * self->thickness, way);
	double reach = self->thickness + self->margin;
	self->pairs.count = 0;
	particle_cells_begin(&self->cells, reach);
	for (uint32_t i = 0; i < count; i++)
		if (particle_is_inside(nodes[i].before))
			particle_cells_add(&self->cells, i, nodes[i].before);
	if (self->cells.entries.count == 0)
		return;
	particle_cells_sort(&self->cells);
	for (uint32_t bucket = 0; bucket < self->cells.bucket_count; bucket++)
		self->crowded += self->cells.starts.items[bucket + 1] -
				 particle_cells_end(&self->cells, bucket);
	for (uint32_t i = 0; i < count; i++)
		if (particle_is_inside(nodes[i].before))
			list_pairs_of(self, i, nodes[i].before, reach);
}

void particle_self_begin(struct particle_links *self, const struct linked_system *system)
{
	if (!particle_self_meets(self, system))
		return;
	const struct system_table *table = &self->motion->dynamics->tables->system;
	struct particle_self *one = &self->selves[system->row];
	one->thickness = table->self_thickness[system->row];
	one->friction = table->self_friction[system->row];
	one->margin = -1; /* no list */
	one->overlap = 0;
	one->crowded = 0;
	one->met = true;
	list_linked(one, self, system);
}

/* ---- contacts ------------------------------------------------------------------------------------- */

/* The direction from b to a as they meet, q before and p after the sub-step; false: they do not. */
static bool find_normal(vec3 q, vec3 p, double thickness, vec3 *n)
{
	vec3 way = vec3_sub(p, q);
	double near = vec3_length_squared(q), most = thickness * thickness;
	ASSERT(thickness > 0);
	if (near < most) {
		*n = near > 0 ? vec3_normalize(q) : vec3_normalize(p);
		if (!(vec3_length_squared(*n) > 0))
			*n = vec3_axis(1);
		return true;
	}
	double a = vec3_length_squared(way), b = vec3_dot(q, way);
	double under = b * b - a * (near - most);
	if (!(b < 0) || !(under >= 0) || -b - scalar_sqrt(under) > a)
		return false;
	*n = vec3_normalize(vec3_mul_add(q, way, (-b - scalar_sqrt(under)) / a));
	return true;
}

/* The impulse along n that ends the approach, and friction within its cone. */
static void stop_approach(struct link_node *a, struct link_node *b, vec3 n, double friction)
{
	double mass_inv = a->mass_inv + b->mass_inv;
	vec3 u = vec3_sub(a->v, b->v);
	double approach = -vec3_dot(u, n);
	ASSERT(mass_inv > 0);
	if (!(approach > 0))
		return;
	vec3 slip = vec3_mul_add(u, n, approach);
	double speed = vec3_length(slip), stop = 0;
	if (speed > 0)
		stop = scalar_min(1, friction * approach / speed);
	vec3 impulse = vec3_scale(vec3_mul_sub(vec3_scale(n, approach), slip, stop), 1 / mass_inv);
	a->v = vec3_mul_add(a->v, impulse, a->mass_inv);
	b->v = vec3_mul_sub(b->v, impulse, b->mass_inv);
}

void particle_self_part(struct link_node *a, struct link_node *b, double thickness, double friction)
{
	vec3 p = vec3_sub(a->x, b->x), q = vec3_sub(a->before, b->before), n;
	double mass_inv = a->mass_inv + b->mass_inv;
	if (!(mass_inv > 0) || !find_normal(q, p, thickness, &n))
		return;
	double error = thickness - vec3_dot(p, n);
	if (!(error > 0) || !scalar_is_finite(error))
		return;
	a->x = vec3_mul_add(a->x, n, a->mass_inv * error / mass_inv);
	b->x = vec3_mul_sub(b->x, n, b->mass_inv * error / mass_inv);
	stop_approach(a, b, n, friction);
}

static double overlap_of(const struct particle_self *self, const struct link_node *nodes)
{
	double least = self->thickness * self->thickness;
	for (uint32_t i = 0; i < self->pairs.count; i++) {
		const struct self_pair *pair = &self->pairs.items[i];
		vec3 way = vec3_sub(nodes[pair->a].x, nodes[pair->b].x);
		least = scalar_min(least, vec3_length_squared(way));
	}
	return 1 - scalar_sqrt(least) / self->thickness;
}

void particle_self_correct(struct particle_links *self, const struct linked_system *system)
{
	if (!particle_self_meets(self, system))
		return;
	struct particle_self *one = &self->selves[system->row];
	struct link_node *nodes = self->nodes.items + system->first_node;
	if (one->margin < 0 || !(relative_way(one, nodes, system->nodes) <= one->margin))
		list_pairs(one, nodes, system->nodes);
	for (uint32_t i = 0; i < one->pairs.count; i++)
		particle_self_part(&nodes[one->pairs.items[i].a], &nodes[one->pairs.items[i].b],
				   one->thickness, one->friction);
	one->overlap = overlap_of(one, nodes);
}

void particle_self_settle(struct dynamics *self)
{
	struct particle_self *selves = self->links->selves;
	struct system_table *table = &self->tables->system;
	for (uint32_t row = 0; row < table->count; row++) {
		bool met = selves != NULL && selves[row].met;
		table->self_overlap[row] = met ? selves[row].overlap : 0;
		if (!met)
			continue;
		table->crowded[row] += selves[row].crowded;
		selves[row].met = false;
	}
}
