/* table.h: look-up from a 64-bit key to a 32-bit value.
 *
 * Open addressing with linear probing; removal shifts followers back, so there are no tombstones
 * and an old table is as fast as a new one. It cannot be iterated, on purpose: the order of its
 * slots depends on its history, and a world's state must not.
 */
#ifndef CAIRN_BASE_TABLE_H
#define CAIRN_BASE_TABLE_H

#include "server/base/status.h"

struct table_slot; /* private */

struct table {
	struct table_slot *slots; /* owned, a power of two of them or NULL */
	uint32_t capacity;	  /* slots */
	uint32_t count;		  /* keys present; at most three quarters of the slots */
};

/* Zero initialisation is a valid empty table as well. */
void table_init(struct table *self);
void table_release(struct table *self);
/* Afterwards `keys` keys fit in all without allocating. On failure nothing changes. */
MUST_CHECK enum status table_reserve(struct table *self, uint32_t keys);
/* Removes all keys; the memory stays. */
void table_reset(struct table *self);

/* STATUS_OK; STATUS_EXISTS (nothing changes); STATUS_NO_MEMORY (nothing changes). */
MUST_CHECK enum status table_insert(struct table *self, uint64_t key, uint32_t value);
/* Inserts or replaces. STATUS_OK or STATUS_NO_MEMORY (nothing changes). */
MUST_CHECK enum status table_put(struct table *self, uint64_t key, uint32_t value);
/* False when absent, and then `value` is untouched. `value` may be NULL. */
bool table_find(const struct table *self, uint64_t key, uint32_t *value);
/* False when absent. */
bool table_remove(struct table *self, uint64_t key);

#endif
