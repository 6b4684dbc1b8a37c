/* ring.h: a bounded first-in first-out queue of fixed-size items in the caller's storage.
 *
 * Not synchronised: one thread at a time, or the caller's lock. A full ring is an expected case:
 * ring_push returns STATUS_FULL and changes nothing.
 */
#ifndef CAIRN_BASE_RING_H
#define CAIRN_BASE_RING_H

#include "server/base/status.h"

#include <string.h>

struct ring {
	uint8_t *items; /* borrowed: capacity × item_bytes */
	uint32_t item_bytes;
	uint32_t capacity;
	uint32_t head;	/* slot of the oldest item */
	uint32_t count; /* items waiting */
};

static inline void ring_init(struct ring *self, void *storage, uint32_t capacity,
			     uint32_t item_bytes)
{
	ASSERT(item_bytes > 0);
	*self = (struct ring){ storage, item_bytes, capacity, 0, 0 };
}

/* The item at `position` from the oldest (0); borrowed until it is popped. NULL when there is none. */
static inline void *ring_at(const struct ring *self, uint32_t position)
{
	VALIDATE(self->count <= self->capacity);
	if (position >= self->count)
		return NULL;
	uint64_t slot = ((uint64_t)self->head + position) % self->capacity;
	return self->items + slot * self->item_bytes;
}

/* Copies `item` in as the newest. */
MUST_CHECK static inline enum status ring_push(struct ring *self, const void *item)
{
	VALIDATE(self->count <= self->capacity);
	if (self->count == self->capacity)
		return STATUS_FULL;
	uint64_t slot = ((uint64_t)self->head + self->count) % self->capacity;
	memcpy(self->items + slot * self->item_bytes, item, self->item_bytes);
	self->count++;
	return STATUS_OK;
}

/* Copies the oldest item out (`item` may be NULL: drops it). False when the ring is empty. */
static inline bool ring_pop(struct ring *self, void *item)
{
	if (self->count == 0)
		return false;
	VALIDATE(self->head < self->capacity && self->count <= self->capacity);
	if (item != NULL)
		memcpy(item, self->items + (size_t)self->head * self->item_bytes, self->item_bytes);
	self->head = self->head + 1 == self->capacity ? 0 : self->head + 1;
	self->count--;
	return true;
}

static inline void ring_reset(struct ring *self)
{
	self->head = self->count = 0;
}

#endif
