/* min_heap.h: the least of a changing set of numbered items, by (key, number).
 *
 * A binary heap that knows the place of each item, so a key changes in O(log n) steps without a search.
 * Keys are not NaN. Equal keys are ordered by number, so the order is a function of the keys alone,
 * whatever was inserted or removed before. The storage is the caller's.
 */
#ifndef CAIRN_BASE_MIN_HEAP_H
#define CAIRN_BASE_MIN_HEAP_H

#include "server/base/base.h"

#define MIN_HEAP_NONE UINT32_MAX

struct min_heap_entry {
	double key;
	uint32_t item;
};

struct min_heap {
	struct min_heap_entry *entries; /* borrowed: room for one entry an item */
	uint32_t *place; /* borrowed: by item, of its entry; MIN_HEAP_NONE: it is absent */
	uint32_t count;	 /* entries */
	uint32_t items;	 /* numbers are below it */
};

/* An empty heap for the numbers 0 … items − 1; both arrays hold `items`. */
void min_heap_init(struct min_heap *self, struct min_heap_entry *entries, uint32_t *place,
		   uint32_t items);
/* Moves the heap into larger arrays, for more numbers; the new ones are absent. */
void min_heap_grow(struct min_heap *self, struct min_heap_entry *entries, uint32_t *place,
		   uint32_t items);
/* Inserts an item or changes its key. */
void min_heap_put(struct min_heap *self, uint32_t item, double key);
/* Removes an item; nothing happens if it is absent. */
void min_heap_remove(struct min_heap *self, uint32_t item);
/* The least entry; NULL if there is none. Borrowed until the next change. */
static inline const struct min_heap_entry *min_heap_first(const struct min_heap *self)
{
	return self->count > 0 ? &self->entries[0] : NULL;
}
/* Writes the items with keys of at most `key`, in an order without meaning, into `out`, which holds as
 * many as the heap has; returns their number, with which it costs. */
uint32_t min_heap_up_to(const struct min_heap *self, double key, uint32_t *out);

#endif
