/* packing_pairs.c: the pairs of polygons that can meet: boxes sorted by their left sides, and swept. A box
 * is compared with those whose left sides it covers, so a long strip costs with its length. */
#include "server/base/sort.h"
#include "server/engine/packing/packing_work.h"

struct packing_box {
	vec2 low, high;
};

static struct packing_box swept_box(const struct packing *self, uint32_t i, const vec2 *moves,
				    double reach)
{
	struct packing_box box = { packing_low(&self->shapes[i]), packing_high(&self->shapes[i]) };
	vec2 move = moves != NULL ? moves[i] : vec2_zero();
	ASSERT(vec2_is_finite(move));
	box.low.x += scalar_min(move.x, 0) - reach;
	box.low.y += scalar_min(move.y, 0) - reach;
	box.high.x += scalar_max(move.x, 0) + reach;
	box.high.y += scalar_max(move.y, 0) + reach;
	return box;
}

enum status packing_each_pair(struct packing *self, const vec2 *moves, double reach,
			      packing_visit *visit, void *context)
{
	struct arena_mark mark = arena_mark(&self->arena);
	struct packing_box *boxes = ARENA_ARRAY(&self->arena, struct packing_box, self->count);
	uint64_t *keys = ARENA_ARRAY(&self->arena, uint64_t, 2 * (size_t)self->count);
	uint32_t *order = ARENA_ARRAY(&self->arena, uint32_t, 2 * (size_t)self->count);
	enum status status =
		boxes != NULL && keys != NULL && order != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	for (uint32_t i = 0; status == STATUS_OK && i < self->count; i++) {
		boxes[i] = swept_box(self, i, moves, reach);
		keys[i] = sort_key_of_double(boxes[i].low.x);
		order[i] = i;
	}
	if (status == STATUS_OK)
		sort_keys(keys, order, keys + self->count, order + self->count, self->count);
	for (uint32_t n = 0; status == STATUS_OK && n < self->count; n++) {
		const struct packing_box *box = &boxes[order[n]];
		for (uint32_t m = n + 1; m < self->count && status == STATUS_OK; m++) {
			const struct packing_box *other = &boxes[order[m]];
			if (other->low.x > box->high.x)
				break;
			if (other->low.y <= box->high.y && other->high.y >= box->low.y)
				status = visit(context, MIN_OF(order[n], order[m]),
					       MAX_OF(order[n], order[m]));
		}
	}
	arena_rewind(&self->arena, mark);
	return status;
}
