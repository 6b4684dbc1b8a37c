/* changes.h: which bodies changed between two boundaries, and the sum behind the tick hash.
 *
 * Each body row has the hash of what clients see of it (server/base/body_hash.h). Updating a
 * body replaces its hash in the sum and marks the body moved if the hash differs. So the set of
 * moved bodies is exact and the tick hash costs only the bodies that may have moved. Hashes and
 * sum are a cache, a pure function of the tables; the marks belong to one boundary.
 */
#ifndef CAIRN_ENGINE_WORLD_CHANGES_H
#define CAIRN_ENGINE_WORLD_CHANGES_H

#include "server/base/bitset.h"
#include "server/base/parallel.h"
#include "server/engine/types.h"
#include "server/engine/world/tables.h"

struct id_list {
	body_id *items; /* owned, ascending once listed */
	uint32_t count;
};

/* What an update of the candidates of a word of rows adds. */
struct word_news {
	uint64_t sum, marked;
	uint32_t created;
};

struct changes {
	uint32_t rows;	/* body rows there is room for */
	uint64_t *hash; /* owned, by row: the body's share of `sum`, 0 for a free row */
	uint8_t *
		seen; /* owned, by row: 0 unless in the sum; asleep, quarantined, fast at the last update */
	uint8_t *marks;		  /* owned, by row: what happened since the boundary opened */
	struct bitset candidates; /* rows that may have moved since the boundary opened */
	struct bitset marked;	  /* rows with marks */
	uint64_t *keys, *scratch; /* owned: for sorting ids */
	struct word_news *news;	  /* owned, by 64 rows */
	uint64_t sum;
	uint32_t count;	    /* bodies in the sum */
	uint32_t first_new; /* ids ≥ this were created since the boundary opened */
	bool stale;	    /* the marks have changed since the lists were filled */
	struct id_list created, moved, changed, removed;
};

void changes_release(struct changes *self);
uint64_t changes_memory(const struct changes *self);
/* Room for body rows 0 … rows−1. NO_MEMORY: `rows` is unchanged. */
MUST_CHECK enum status changes_reserve(struct changes *self, uint32_t rows);

/* Clears marks and lists; bodies with ids from `next_body` on will count as created. */
void changes_open(struct changes *self, uint32_t next_body);
/* Replaces the body's hash in the sum; marks it created, moved or changed if it differs. */
void changes_update(struct changes *self, const struct tables *tables, uint32_t row);
/* The same if sleep or quarantine of the body changed; otherwise does nothing. */
void changes_update_sleep(struct changes *self, const struct tables *tables, uint32_t row);
/* changes_update of all candidates, shared among the workers. */
void changes_update_candidates(struct changes *self, const struct tables *tables,
			       const struct parallel *parallel);
/* Marks a body changed: its owner, tag, flags or placements were set. */
void changes_mark(struct changes *self, uint32_t row);
/* Removes a body from the sum and marks it removed. Call it before the row is cleared. */
void changes_remove(struct changes *self, const struct tables *tables, uint32_t row);
/* Fills the four lists from the marks, if there are new ones. */
void changes_list(struct changes *self, const struct tables *tables);

/* Recomputes hashes and sum from the tables; marks stay. */
void changes_rebuild(struct changes *self, const struct tables *tables);

#endif
