/* pile_zones.c: divides a large group of `pile` into zones of bodies that are near each other.
 *
 * A set of bodies is cut across its longest side until its parts are small enough. The cut is at a half, a
 * third or two thirds, in turn from tick to tick, so that what was a border lies within a zone in the
 * next tick. Zones are ordered by how deep they lie along the forces on them, because the upper ones
 * can follow only what has moved before.
 */
#include "server/base/sort.h"
#include "server/engine/methods/pile.h"

struct zone_item {
	double key;
	uint32_t slot;
};

struct zone_work {
	const struct pile *pile;
	struct zone_item *items, *scratch;
	uint32_t *first; /* of each zone */
	uint32_t count;
	uint32_t most;	/* bodies of a zone */
	uint32_t phase; /* of three */
};

static int compare_items(const void *a, const void *b, void *context)
{
	const struct zone_item *x = a, *y = b;
	UNUSED(context);
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->slot < y->slot ? -1 : x->slot > y->slot;
}

static uint32_t longest_side(const struct zone_work *self, uint32_t from, uint32_t to)
{
	struct aabb box = aabb_empty();
	for (uint32_t i = from; i < to; i++)
		box = aabb_add_point(box, self->pile->bodies[self->items[i].slot].centre);
	return vec3_largest_axis(aabb_half(box));
}

static void cut_zone(struct zone_work *self, uint32_t from, uint32_t to)
{
	static const uint32_t SIXTHS[3] = { 3, 2, 4 };
	uint32_t count = to - from;
	ASSERT(count > 0);
	if (count <= self->most) {
		self->first[self->count++] = from;
		return;
	}
	uint32_t axis = longest_side(self, from, to);
	for (uint32_t i = from; i < to; i++)
		self->items[i].key = vec3_get(self->pile->bodies[self->items[i].slot].centre, axis);
	sort_items(self->items + from, self->scratch, count, sizeof *self->items, compare_items,
		   NULL);
	uint32_t middle = from + (uint32_t)((uint64_t)count * SIXTHS[self->phase] / 6);
	cut_zone(self, from, middle);
	cut_zone(self, middle, to);
}

/* J for each body: the mean of force times place. */
static double depth_of(const struct zone_work *self, uint32_t from, uint32_t to)
{
	double sum = 0;
	for (uint32_t i = from; i < to; i++) {
		const struct pile_body *body = &self->pile->bodies[self->items[i].slot];
		sum += vec3_dot(body->force, body->centre);
	}
	ASSERT(to > from);
	return sum / (to - from);
}

enum status pile_divide(const struct pile *self, uint32_t most, uint32_t *slots, uint32_t count,
			uint32_t *first, uint32_t *zones)
{
	struct arena *arena = &self->step->dynamics->scratch;
	struct zone_work work = { .pile = self, .most = most };
	work.items = ARENA_ARRAY(arena, struct zone_item, count);
	work.scratch = ARENA_ARRAY(arena, struct zone_item, count);
	work.first = ARENA_ARRAY(arena, uint32_t, count + 1);
	struct zone_item *order = ARENA_ARRAY(arena, struct zone_item, count);
	if (work.items == NULL || work.scratch == NULL || work.first == NULL || order == NULL)
		return STATUS_NO_MEMORY;
	work.phase = (uint32_t)(self->step->dynamics->tables->world.tick[0] % 3);
	for (uint32_t i = 0; i < count; i++)
		work.items[i] = (struct zone_item){ 0, slots[i] };
	cut_zone(&work, 0, count);
	work.first[work.count] = count;
	for (uint32_t z = 0; z < work.count; z++) {
		order[z] =
			(struct zone_item){ -depth_of(&work, work.first[z], work.first[z + 1]), z };
		for (uint32_t i = work.first[z]; i < work.first[z + 1]; i++)
			work.items[i].key = 0;
		sort_items(work.items + work.first[z], work.scratch,
			   work.first[z + 1] - work.first[z], sizeof *work.items, compare_items,
			   NULL);
	}
	sort_items(order, work.scratch, work.count, sizeof *order, compare_items, NULL);
	uint32_t at = 0;
	for (uint32_t z = 0; z < work.count; z++) {
		uint32_t zone = order[z].slot;
		first[z] = at;
		for (uint32_t i = work.first[zone]; i < work.first[zone + 1]; i++)
			slots[at++] = work.items[i].slot;
	}
	first[work.count] = at;
	*zones = work.count;
	return STATUS_OK;
}
