/* index_heap.h: a binary heap of item numbers, with the place of each, so that an item whose key changed
 * moves in O(log count) and the first one is found at once. The keys belong to the caller.
 *
 * The order must be total (ties decided by ids), so that the first item does not depend on the order in
 * which items were put.
 */
#ifndef CAIRN_BASE_INDEX_HEAP_H
#define CAIRN_BASE_INDEX_HEAP_H

#include "server/base/base.h"

#define INDEX_HEAP_NONE UINT32_MAX

/* True if item `a` comes before item `b`. */
typedef bool index_before(const void *context, uint32_t a, uint32_t b);

struct index_heap {
	uint32_t *items; /* borrowed; [0, count) is the heap */
	uint32_t *place; /* borrowed, by item: its index in `items`, or INDEX_HEAP_NONE */
	uint32_t count;
	index_before *before;
	const void *context;
};

/* An empty heap of items 0 … item_count-1. Both arrays hold `item_count` numbers. */
void index_heap_init(struct index_heap *self, uint32_t *items, uint32_t *place, uint32_t item_count,
		     index_before *before, const void *context);
/* Puts an item in, or moves it after its key changed. Only one item's key may have changed since. */
void index_heap_put(struct index_heap *self, uint32_t item);
/* Nothing happens to an item that is not in the heap. */
void index_heap_remove(struct index_heap *self, uint32_t item);

/* INDEX_HEAP_NONE: the heap is empty. */
static inline uint32_t index_heap_first(const struct index_heap *self)
{
	return self->count > 0 ? self->items[0] : INDEX_HEAP_NONE;
}

#endif
