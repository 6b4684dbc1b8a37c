/* keep.h: the running recording of a world: a part of the history in its file that is not pruned.
 *
 *	records ──────────[ checkpoint `begins` ────────────────────► now ]
 *	pruned by retention ┘           kept while the recording runs
 *
 * A recording costs a tick nothing, because the world's file already holds every record. Its beginning is
 * stored in the file's `meta`, so it goes on after a crash, and it is as durable as the world. A bound in
 * ticks makes it a ring: the beginning follows the world. A bound in bytes drops its oldest part. When it is
 * stopped, the part becomes a file of its own (archive.h).
 */
#ifndef CAIRN_STORE_KEEP_H
#define CAIRN_STORE_KEEP_H

#include "server/store/journal.h"
#include "server/store/sql.h"

struct keep {
	struct journal_keep is; /* its name is "" where none runs */
	uint64_t begins;	/* seq of the checkpoint where it begins */
};

MUST_CHECK enum status keep_read(sqlite3 *db, struct keep *out, struct reason *why);
/* Begins at the last checkpoint, in place of one that runs; with the name "" ends. In a transaction. */
MUST_CHECK enum status keep_write(sqlite3 *db, const struct journal_keep *keep, struct reason *why);
/* The last checkpoint with at least so many ticks after it; *seq 0: the file has fewer. */
MUST_CHECK enum status keep_before_ticks(sqlite3 *db, uint64_t ticks, uint64_t *seq,
					 struct reason *why);
/* The checkpoint where a ring begins now; otherwise `begins`. */
MUST_CHECK enum status keep_floor(sqlite3 *db, const struct keep *keep, uint64_t *seq,
				  struct reason *why);
/* Moves the beginning as the bounds demand, but not beyond the checkpoint `most`. *seq: the new one,
 * UINT64_MAX where none runs. In a transaction. */
MUST_CHECK enum status keep_advance(sqlite3 *db, uint64_t most, uint64_t *seq, struct reason *why);

#endif
