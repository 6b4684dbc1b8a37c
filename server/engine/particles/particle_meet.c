/* See particle_meet.h. */
#include "server/engine/particles/particle_meet.h"

#include "server/base/heap.h"
#include "server/engine/particles/particle_cells.h"
#include "server/engine/particles/particle_self.h"

enum { MEET_PAIRS = 24 }; /* a particle, on average */
/* Of the thickness: the margin of a list. */
#define MEET_MARGIN 0.5
enum { MEETINGS_MAX = SYSTEMS_MAX * PARTICLE_MEETINGS_MAX / 2 };

struct meet_pair {
	uint32_t a, b; /* nodes */
};

/* Two systems in a tick. */
struct particle_meet {
	struct particle_cells cells; /* of the nodes of b */
	ARRAY_OF(struct meet_pair) pairs;
	ARRAY_OF(vec3) listed; /* places for which the list was made, of a, then of b */
	uint32_t a, b;	       /* linked systems */
	double thickness, friction, margin, overlap;
	uint64_t crowded;
	bool met; /* in this tick */
};

/* ---- rows ------------------------------------------------------------------------------------ */

void dynamics_meeting_set(struct dynamics *self, system_id a, system_id b, double thickness,
			  double friction)
{
	struct tables *tables = self->tables;
	struct meeting_table *table = &tables->meeting;
	system_id low = MIN_OF(a, b), high = MAX_OF(a, b);
	uint32_t row = 0;
	ASSERT(low != 0 && low < high);
	while (row < table->count &&
	       (table->a[row] < low || (table->a[row] == low && table->b[row] < high)))
		row++;
	bool found = row < table->count && table->a[row] == low && table->b[row] == high;
	if (!(thickness > 0)) {
		tables_remove(tables, TABLE_MEETING, row, found);
		return;
	}
	if (!found)
		tables_insert(tables, TABLE_MEETING, row, 1);
	table->a[row] = low;
	table->b[row] = high;
	table->thickness[row] = thickness;
	table->friction[row] = friction;
	table->overlap[row] = 0;
}

void dynamics_meetings_drop(struct dynamics *self, system_id system)
{
	const struct meeting_table *table = &self->tables->meeting;
	ASSERT(system != 0);
	for (uint32_t row = table->count; row-- > 0;)
		if (table->a[row] == system || table->b[row] == system)
			tables_remove(self->tables, TABLE_MEETING, row, 1);
}

uint32_t particle_meetings(const struct tables *tables, system_id system)
{
	const struct meeting_table *table = &tables->meeting;
	uint32_t count = 0;
	for (uint32_t row = 0; row < table->count; row++)
		count += table->a[row] == system || table->b[row] == system;
	return count;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t alive(const struct dynamics *self, system_id id)
{
	uint32_t row = dynamics_find_system(self, id);
	ASSERT(row != DYNAMICS_NONE);
	return self->tables->system.alive[row];
}

enum status particle_meet_reserve(struct dynamics *self)
{
	struct particle_links *links = self->links;
	const struct meeting_table *table = &self->tables->meeting;
	enum status status = STATUS_OK;
	ASSERT(links != NULL && table->count <= MEETINGS_MAX);
	if (table->count > 0 && links->meets == NULL)
		links->meets = heap_alloc_zero(MEETINGS_MAX * sizeof *links->meets);
	if (table->count > 0 && links->meets == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < table->count && status == STATUS_OK; row++) {
		struct particle_meet *meet = &links->meets[row];
		uint64_t a = alive(self, table->a[row]), b = alive(self, table->b[row]);
		status = particle_cells_reserve(&meet->cells, (uint32_t)b);
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&meet->pairs, (a + b) * MEET_PAIRS);
		if (status == STATUS_OK)
			status = ARRAY_RESERVE(&meet->listed, a + b);
	}
	return status;
}

void particle_meet_release(struct particle_links *self)
{
	for (uint32_t row = 0; row < MEETINGS_MAX && self->meets != NULL; row++) {
		particle_cells_release(&self->meets[row].cells);
		ARRAY_RELEASE(&self->meets[row].pairs);
		ARRAY_RELEASE(&self->meets[row].listed);
	}
	heap_free(self->meets);
	self->meets = NULL;
}

uint64_t particle_meet_memory(const struct particle_links *self)
{
	uint64_t sum = self->meets != NULL ? MEETINGS_MAX * sizeof *self->meets : 0;
	for (uint32_t row = 0; row < MEETINGS_MAX && self->meets != NULL; row++) {
		const struct particle_meet *meet = &self->meets[row];
		sum += particle_cells_memory(&meet->cells);
		sum += (uint64_t)meet->pairs.capacity * sizeof *meet->pairs.items;
		sum += (uint64_t)meet->listed.capacity * sizeof *meet->listed.items;
	}
	return sum;
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The linked system with this id, DYNAMICS_NONE: it has no links. */
static uint32_t find_linked(const struct particle_links *self, system_id id)
{
	const struct system_table *table = &self->motion->dynamics->tables->system;
	ASSERT(id != 0);
	for (uint32_t i = 0; i < self->system_count; i++)
		if (table->id[self->systems[i].row] == id)
			return i;
	return DYNAMICS_NONE;
}

void particle_meet_begin(struct particle_links *self)
{
	const struct meeting_table *table = &self->motion->dynamics->tables->meeting;
	for (uint32_t row = 0; row < table->count; row++) {
		struct particle_meet *meet = &self->meets[row];
		meet->a = find_linked(self, table->a[row]);
		meet->b = find_linked(self, table->b[row]);
		meet->met = meet->a != DYNAMICS_NONE && meet->b != DYNAMICS_NONE;
		meet->thickness = table->thickness[row];
		meet->friction = table->friction[row];
		meet->margin = -1; /* no list */
		meet->overlap = 0;
		meet->crowded = 0;
	}
}

/* Grows the box by the ways of nodes since the list was made. */
static struct aabb add_ways(const struct particle_links *self, const struct linked_system *system,
			    const vec3 *listed, struct aabb ways)
{
	for (uint32_t i = 0; i < system->nodes; i++) {
		const struct link_node *node = &self->nodes.items[system->first_node + i];
		if (!particle_is_inside(node->x))
			continue;
		ways = aabb_add_point(ways, vec3_sub(node->x, listed[i]));
		ways = aabb_add_point(ways, vec3_sub(node->before, listed[i]));
	}
	return ways;
}

/* How far two nodes may have moved relative to each other since then, m. */
static double relative_way(const struct particle_links *self, const struct particle_meet *meet)
{
	const struct linked_system *a = &self->systems[meet->a], *b = &self->systems[meet->b];
	struct aabb ways = add_ways(self, a, meet->listed.items, aabb_empty());
	ways = add_ways(self, b, meet->listed.items + a->nodes, ways);
	return ways.min.x <= ways.max.x ? vec3_distance(ways.min, ways.max) : 0;
}

/* Puts the last pair to its place among those of the same first node. */
static void sort_last(struct particle_meet *meet, uint32_t first)
{
	struct meet_pair *pairs = meet->pairs.items, last = pairs[meet->pairs.count - 1];
	uint32_t at = meet->pairs.count - 1;
	for (; at > first && pairs[at - 1].b > last.b; at--)
		pairs[at] = pairs[at - 1];
	pairs[at] = last;
}

static void list_pairs_of(struct particle_meet *meet, uint32_t node, vec3 at, double reach)
{
	struct cell_span spans[CELLS_RANGES];
	uint32_t count = particle_cells_near(&meet->cells, at, spans), first = meet->pairs.count;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = spans[i].first; k < spans[i].last; k++) {
			const struct cell_entry *entry = &meet->cells.sorted.items[k];
			vec3 way = vec3_sub(entry->at, at);
			if (entry->line != spans[i].line ||
			    vec3_length_squared(way) > reach * reach)
				continue;
			if (meet->pairs.count == meet->pairs.capacity) {
				meet->crowded++;
				continue;
			}
			meet->pairs.items[meet->pairs.count++] =
				(struct meet_pair){ node, entry->item };
			sort_last(meet, first);
		}
	}
}

/* The pairs that may meet in this sub-step and in the next ones. */
static void list_pairs(const struct particle_links *self, struct particle_meet *meet)
{
	const struct linked_system *a = &self->systems[meet->a], *b = &self->systems[meet->b];
	const struct link_node *nodes = self->nodes.items;
	ASSERT(a->nodes + b->nodes <= meet->listed.capacity);
	for (uint32_t i = 0; i < a->nodes; i++)
		meet->listed.items[i] = nodes[a->first_node + i].before;
	for (uint32_t i = 0; i < b->nodes; i++)
		meet->listed.items[a->nodes + i] = nodes[b->first_node + i].before;
	double way = scalar_min(relative_way(self, meet), LENGTH_MAX);
	meet->margin = scalar_max(MEET_MARGIN * meet->thickness, way);
	double reach = meet->thickness + meet->margin;
	meet->pairs.count = 0;
	particle_cells_begin(&meet->cells, reach);
	for (uint32_t i = 0; i < b->nodes; i++)
		if (particle_is_inside(nodes[b->first_node + i].before))
			particle_cells_add(&meet->cells, b->first_node + i,
					   nodes[b->first_node + i].before);
	if (meet->cells.entries.count == 0)
		return;
	particle_cells_sort(&meet->cells);
	for (uint32_t bucket = 0; bucket < meet->cells.bucket_count; bucket++)
		meet->crowded += meet->cells.starts.items[bucket + 1] -
				 particle_cells_end(&meet->cells, bucket);
	for (uint32_t i = 0; i < a->nodes; i++)
		if (particle_is_inside(nodes[a->first_node + i].before))
			list_pairs_of(meet, a->first_node + i, nodes[a->first_node + i].before,
				      reach);
}

/* ---- a tick ---------------------------------------------------------------------------------- */

static double overlap_of(const struct particle_links *self, const struct particle_meet *meet)
{
	double least = meet->thickness * meet->thickness;
	for (uint32_t i = 0; i < meet->pairs.count; i++) {
		const struct meet_pair *pair = &meet->pairs.items[i];
		vec3 way = vec3_sub(self->nodes.items[pair->a].x, self->nodes.items[pair->b].x);
		least = scalar_min(least, vec3_length_squared(way));
	}
	return 1 - scalar_sqrt(least) / meet->thickness;
}

void particle_meet_correct(struct particle_links *self)
{
	uint32_t count = self->motion->dynamics->tables->meeting.count;
	for (uint32_t row = 0; row < count; row++) {
		struct particle_meet *meet = &self->meets[row];
		if (!meet->met)
			continue;
		if (meet->margin < 0 || !(relative_way(self, meet) <= meet->margin))
			list_pairs(self, meet);
		for (uint32_t i = 0; i < meet->pairs.count; i++)
			particle_self_part(&self->nodes.items[meet->pairs.items[i].a],
					   &self->nodes.items[meet->pairs.items[i].b],
					   meet->thickness, meet->friction);
		meet->overlap = overlap_of(self, meet);
	}
}

void particle_meet_settle(struct dynamics *self)
{
	struct particle_meet *meets = self->links->meets;
	struct meeting_table *table = &self->tables->meeting;
	for (uint32_t row = 0; row < table->count; row++) {
		bool met = meets != NULL && meets[row].met;
		table->overlap[row] = met ? meets[row].overlap : 0;
		if (!met)
			continue;
		uint32_t system = dynamics_find_system(self, table->a[row]);
		self->tables->system.crowded[system] += meets[row].crowded;
		meets[row].met = false;
	}
}
