/* See min_heap.h. */
#include "server/base/min_heap.h"

#include <string.h>

static bool comes_before(struct min_heap_entry a, struct min_heap_entry b)
{
	return a.key != b.key ? a.key < b.key : a.item < b.item;
}

static void place_entry(struct min_heap *self, uint32_t at, struct min_heap_entry entry)
{
	self->entries[at] = entry;
	self->place[entry.item] = at;
}

/* Moves the entry at `at` to where its key belongs. */
static void sift_entry(struct min_heap *self, uint32_t at)
{
	struct min_heap_entry entry = self->entries[at];
	while (at > 0 && comes_before(entry, self->entries[(at - 1) / 2])) {
		place_entry(self, at, self->entries[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	for (;;) {
		uint64_t child = 2 * (uint64_t)at + 1;
		if (child >= self->count)
			break;
		if (child + 1 < self->count &&
		    comes_before(self->entries[child + 1], self->entries[child]))
			child++;
		if (!comes_before(self->entries[child], entry))
			break;
		place_entry(self, at, self->entries[child]);
		at = (uint32_t)child;
	}
	place_entry(self, at, entry);
}

void min_heap_init(struct min_heap *self, struct min_heap_entry *entries, uint32_t *place,
		   uint32_t items)
{
	*self = (struct min_heap){ entries, place, 0, items };
	for (uint32_t i = 0; i < items; i++)
		place[i] = MIN_HEAP_NONE;
}

void min_heap_grow(struct min_heap *self, struct min_heap_entry *entries, uint32_t *place,
		   uint32_t items)
{
	ASSERT(items >= self->items);
	if (self->count > 0)
		memcpy(entries, self->entries, self->count * sizeof *entries);
	for (uint32_t i = 0; i < items; i++)
		place[i] = i < self->items ? self->place[i] : MIN_HEAP_NONE;
	*self = (struct min_heap){ entries, place, self->count, items };
}

void min_heap_put(struct min_heap *self, uint32_t item, double key)
{
	ASSERT(item < self->items);
	ASSERT(key == key);
	uint32_t at = self->place[item];
	if (at == MIN_HEAP_NONE)
		at = self->count++;
	place_entry(self, at, (struct min_heap_entry){ key, item });
	sift_entry(self, at);
}

void min_heap_remove(struct min_heap *self, uint32_t item)
{
	ASSERT(item < self->items);
	uint32_t at = self->place[item];
	if (at == MIN_HEAP_NONE)
		return;
	self->place[item] = MIN_HEAP_NONE;
	self->count--;
	if (at == self->count)
		return;
	place_entry(self, at, self->entries[self->count]);
	sift_entry(self, at);
}

uint32_t min_heap_up_to(const struct min_heap *self, double key, uint32_t *out)
{
	uint32_t found = 0, next = 0;
	/* An entry's children are not less than it is. Places are collected first, then become items. */
	if (self->count > 0 && self->entries[0].key <= key)
		out[found++] = 0;
	for (; next < found; next++)
		for (uint64_t child = 2 * (uint64_t)out[next] + 1;
		     child <= 2 * (uint64_t)out[next] + 2; child++)
			if (child < self->count && self->entries[child].key <= key)
				out[found++] = (uint32_t)child;
	for (uint32_t i = 0; i < found; i++)
		out[i] = self->entries[out[i]].item;
	return found;
}
