/* contact_index.h: hash index from a pair of pieces to its contact row.
 *
 * Open addressing with linear probing. A slot is four bytes, because the key is in the contact table.
 * Removal shifts later entries back. The index is a cache and is never iterated, so its order reaches no
 * result.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_INDEX_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_INDEX_H

#include "server/base/status.h"
#include "server/engine/world/tables.h"

struct contact_index {
	uint32_t *slots;   /* owned: row + 1, 0 free; a power of two of them or NULL */
	uint32_t capacity; /* slots */
	uint32_t count;	   /* rows present; at most three quarters of the slots */
};

/* All 128 bits of the pair reach the high bits, which choose a slot. */
uint64_t contact_index_hash(uint32_t placement_a, uint32_t placement_b, uint32_t child_a,
			    uint32_t child_b);
/* Zero initialisation is a valid empty index. */
void contact_index_release(struct contact_index *self);
void contact_index_reset(struct contact_index *self);
/* Makes room for `rows` rows in all; contact_index_add then does not allocate. NO_MEMORY: unchanged. */
MUST_CHECK enum status contact_index_reserve(struct contact_index *self,
					     const struct contact_table *table, uint32_t rows);
/* The row's pair must not be present, and there must be room (contact_index_reserve). */
void contact_index_add(struct contact_index *self, const struct contact_table *table, uint32_t row);
/* The row must be present, and its pair still in the table. */
void contact_index_remove(struct contact_index *self, const struct contact_table *table,
			  uint32_t row);
/* The pair's row, or UINT32_MAX. */
uint32_t contact_index_find(const struct contact_index *self, const struct contact_table *table,
			    uint32_t placement_a, uint32_t placement_b, uint32_t child_a,
			    uint32_t child_b);

#endif
