/* See index_heap.h. */
#include "server/base/index_heap.h"

void index_heap_init(struct index_heap *self, uint32_t *items, uint32_t *place, uint32_t item_count,
		     index_before *before, const void *context)
{
	*self = (struct index_heap){ items, place, 0, before, context };
	for (uint32_t i = 0; i < item_count; i++)
		place[i] = INDEX_HEAP_NONE;
}

static void set_place(struct index_heap *self, uint32_t at, uint32_t item)
{
	self->items[at] = item;
	self->place[item] = at;
}

/* Finds the place of an item whose slot `at` is free. */
static void sift(struct index_heap *self, uint32_t at, uint32_t item)
{
	while (at > 0 && self->before(self->context, item, self->items[(at - 1) / 2])) {
		set_place(self, at, self->items[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint32_t child = 2 * at + 1;
		if (child + 1 < self->count &&
		    self->before(self->context, self->items[child + 1], self->items[child]))
			child++;
		if (child >= self->count || !self->before(self->context, self->items[child], item))
			break;
		set_place(self, at, self->items[child]);
		at = child;
	}
	set_place(self, at, item);
}

void index_heap_put(struct index_heap *self, uint32_t item)
{
	uint32_t at = self->place[item];
	sift(self, at != INDEX_HEAP_NONE ? at : self->count++, item);
}

void index_heap_remove(struct index_heap *self, uint32_t item)
{
	uint32_t at = self->place[item];
	if (at == INDEX_HEAP_NONE)
		return;
	uint32_t last = self->items[--self->count];
	self->place[item] = INDEX_HEAP_NONE;
	if (last != item)
		sift(self, at, last);
}
