/* contact_index.h: which contact row a pair of pieces has.
 *
 * Open addressing with linear probing over rows; the pair itself stands in the contact table, so a
 * slot is four bytes. Removal shifts followers back. A cache: never walked, and no order of it
 * reaches an answer.
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

/* Zero initialisation is a valid empty index. */
void contact_index_release(struct contact_index *self);
void contact_index_reset(struct contact_index *self);
/* Afterwards `rows` rows fit in all without allocating. NO_MEMORY: nothing changed. */
MUST_CHECK enum status contact_index_reserve(struct contact_index *self,
					     const struct contact_table *table, uint32_t rows);
/* The row's pair must not be present; there is room. */
void contact_index_add(struct contact_index *self, const struct contact_table *table, uint32_t row);
/* The row must be present, its pair still in the table. */
void contact_index_remove(struct contact_index *self, const struct contact_table *table,
			  uint32_t row);
/* UINT32_MAX: there is none. */
uint32_t contact_index_find(const struct contact_index *self, const struct contact_table *table,
			    uint32_t placement_a, uint32_t placement_b, uint32_t child_a,
			    uint32_t child_b);

#endif
