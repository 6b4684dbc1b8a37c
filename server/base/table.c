/* table.c: linear probing with backward-shift deletion (Knuth, volume 3, section 6.4, algorithm R).
 *
 * A key lies at its home slot or in the run of used slots that follows it. Invariant: no slot
 * between a key's home and its place is free. Removal walks the rest of the run and moves back each
 * key whose home does not lie after the hole, until it meets a free slot.
 */
#include "server/base/table.h"

#include "server/base/heap.h"
#include "server/base/rng.h"

#include <string.h>

struct table_slot {
	uint64_t key;
	uint32_t value;
	uint32_t used; /* 0 or 1; every 64-bit number is a valid key */
};

enum { TABLE_MIN = 16 };

static uint32_t table_home(const struct table *self, uint64_t key)
{
	VALIDATE(self->capacity > 0 && (self->capacity & (self->capacity - 1)) == 0);
	return (uint32_t)rng_mix(key) & (self->capacity - 1);
}

static uint32_t table_after(const struct table *self, uint32_t slot)
{
	VALIDATE(slot < self->capacity);
	return (slot + 1) & (self->capacity - 1);
}

/* The slot that holds the key, or the free one where it would go. */
static uint32_t table_seek(const struct table *self, uint64_t key)
{
	VALIDATE(self->count < self->capacity);
	uint32_t slot = table_home(self, key);
	while (self->slots[slot].used && self->slots[slot].key != key)
		slot = table_after(self, slot);
	return slot;
}

void table_init(struct table *self)
{
	*self = (struct table){ 0 };
}

void table_release(struct table *self)
{
	heap_free(self->slots);
	*self = (struct table){ 0 };
}

enum status table_reserve(struct table *self, uint32_t keys)
{
	uint64_t capacity = MAX_OF(self->capacity, (uint32_t)TABLE_MIN);
	while (capacity / 4 * 3 < keys)
		capacity *= 2;
	if (capacity == self->capacity)
		return STATUS_OK;
	if (capacity > (uint64_t)UINT32_MAX / 2 + 1)
		return STATUS_NO_MEMORY;
	ASSERT((capacity & (capacity - 1)) == 0 && self->count <= capacity / 4 * 3);
	struct table grown = { heap_alloc_zero((size_t)capacity * sizeof(struct table_slot)),
			       (uint32_t)capacity, self->count };
	if (grown.slots == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->capacity; i++)
		if (self->slots[i].used)
			grown.slots[table_seek(&grown, self->slots[i].key)] = self->slots[i];
	heap_free(self->slots);
	*self = grown;
	return STATUS_OK;
}

void table_reset(struct table *self)
{
	if (self->capacity > 0)
		memset(self->slots, 0, (size_t)self->capacity * sizeof(struct table_slot));
	self->count = 0;
}

enum status table_insert(struct table *self, uint64_t key, uint32_t value)
{
	if (table_find(self, key, NULL))
		return STATUS_EXISTS;
	if (self->count == UINT32_MAX)
		return STATUS_NO_MEMORY;
	enum status status = table_reserve(self, self->count + 1);
	if (status != STATUS_OK)
		return status;
	self->slots[table_seek(self, key)] = (struct table_slot){ key, value, 1 };
	self->count++;
	ASSERT(self->count <= self->capacity / 4 * 3);
	return STATUS_OK;
}

enum status table_put(struct table *self, uint64_t key, uint32_t value)
{
	if (!table_find(self, key, NULL))
		return table_insert(self, key, value);
	self->slots[table_seek(self, key)].value = value;
	return STATUS_OK;
}

bool table_find(const struct table *self, uint64_t key, uint32_t *value)
{
	if (self->count == 0)
		return false;
	const struct table_slot *slot = &self->slots[table_seek(self, key)];
	if (slot->used && value != NULL)
		*value = slot->value;
	return slot->used;
}

bool table_remove(struct table *self, uint64_t key)
{
	if (self->count == 0)
		return false;
	uint32_t hole = table_seek(self, key);
	if (!self->slots[hole].used)
		return false;
	uint32_t mask = self->capacity - 1;
	for (uint32_t slot = table_after(self, hole); self->slots[slot].used;
	     slot = table_after(self, slot)) {
		/* A key moves to the hole if its home does not lie after the hole. */
		uint32_t pushed = (slot - table_home(self, self->slots[slot].key)) & mask;
		if (pushed < ((slot - hole) & mask))
			continue;
		self->slots[hole] = self->slots[slot];
		hole = slot;
	}
	self->slots[hole] = (struct table_slot){ 0 };
	self->count--;
	VALIDATE(!table_find(self, key, NULL));
	return true;
}
