/* See contact_index.h. */
#include "server/engine/dynamics/contact_index.h"

#include "server/base/heap.h"

#include <string.h>

uint64_t contact_index_hash(uint32_t placement_a, uint32_t placement_b, uint32_t child_a,
			    uint32_t child_b)
{
	uint64_t x = ((uint64_t)placement_a << 32 | placement_b) * UINT64_C(0x9e3779b97f4a7c15);
	x ^= x >> 32;
	x = (x ^ ((uint64_t)child_a << 32 | child_b)) * UINT64_C(0xd6e8feb86659fd93);
	x ^= x >> 29;
	return x * UINT64_C(0xff51afd7ed558ccd);
}

static uint32_t home_of(const struct contact_index *self, uint64_t hash)
{
	ASSERT((self->capacity & (self->capacity - 1)) == 0);
	return (uint32_t)(hash >> 32) & (self->capacity - 1);
}

static uint32_t home_of_row(const struct contact_index *self, const struct contact_table *table,
			    uint32_t row)
{
	return home_of(self, contact_index_hash(table->placement_a[row], table->placement_b[row],
						table->child_a[row], table->child_b[row]));
}

static uint32_t next_slot(const struct contact_index *self, uint32_t slot)
{
	return (slot + 1) & (self->capacity - 1);
}

void contact_index_release(struct contact_index *self)
{
	heap_free(self->slots);
	*self = (struct contact_index){ 0 };
}

void contact_index_reset(struct contact_index *self)
{
	if (self->capacity > 0)
		memset(self->slots, 0, self->capacity * sizeof *self->slots);
	self->count = 0;
}

static void insert_row(struct contact_index *self, const struct contact_table *table, uint32_t row)
{
	ASSERT(row < table->count);
	uint32_t slot = home_of_row(self, table, row);
	while (self->slots[slot] != 0)
		slot = next_slot(self, slot);
	self->slots[slot] = row + 1;
}

enum status contact_index_reserve(struct contact_index *self, const struct contact_table *table,
				  uint32_t rows)
{
	uint64_t wanted = self->capacity;
	while (rows > wanted / 4 * 3)
		wanted = wanted == 0 ? 16 : wanted * 2;
	if (wanted == self->capacity)
		return STATUS_OK;
	if (wanted > UINT32_MAX / 2)
		return STATUS_NO_MEMORY;
	uint32_t *slots = heap_alloc_zero((size_t)wanted * sizeof *slots);
	if (slots == NULL)
		return STATUS_NO_MEMORY;
	struct contact_index old = *self;
	self->slots = slots;
	self->capacity = (uint32_t)wanted;
	for (uint32_t i = 0; i < old.capacity; i++)
		if (old.slots[i] != 0)
			insert_row(self, table, old.slots[i] - 1);
	heap_free(old.slots);
	ASSERT(self->count <= self->capacity / 4 * 3 && rows <= self->capacity / 4 * 3);
	return STATUS_OK;
}

void contact_index_add(struct contact_index *self, const struct contact_table *table, uint32_t row)
{
	ASSERT(self->count < self->capacity / 4 * 3);
	insert_row(self, table, row);
	self->count++;
}

void contact_index_remove(struct contact_index *self, const struct contact_table *table,
			  uint32_t row)
{
	ASSERT(self->capacity > 0);
	uint32_t hole = home_of_row(self, table, row);
	while (self->slots[hole] != row + 1) {
		ASSERT(self->slots[hole] != 0);
		hole = next_slot(self, hole);
	}
	/* An entry moves into the hole if its home slot is not between the hole and itself. */
	uint32_t mask = self->capacity - 1;
	for (uint32_t slot = next_slot(self, hole); self->slots[slot] != 0;
	     slot = next_slot(self, slot)) {
		uint32_t home = home_of_row(self, table, self->slots[slot] - 1);
		if (((slot - home) & mask) < ((slot - hole) & mask))
			continue;
		self->slots[hole] = self->slots[slot];
		hole = slot;
	}
	self->slots[hole] = 0;
	ASSERT(self->count > 0);
	self->count--;
}

uint32_t contact_index_find(const struct contact_index *self, const struct contact_table *table,
			    uint32_t placement_a, uint32_t placement_b, uint32_t child_a,
			    uint32_t child_b)
{
	if (self->count == 0)
		return UINT32_MAX;
	uint32_t slot =
		home_of(self, contact_index_hash(placement_a, placement_b, child_a, child_b));
	for (; self->slots[slot] != 0; slot = next_slot(self, slot)) {
		uint32_t row = self->slots[slot] - 1;
		if (table->placement_a[row] == placement_a &&
		    table->placement_b[row] == placement_b && table->child_a[row] == child_a &&
		    table->child_b[row] == child_b)
			return row;
	}
	return UINT32_MAX;
}
