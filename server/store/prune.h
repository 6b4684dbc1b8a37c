/* prune.h: which part of a world's history is retained, and the removal of the rest in slices.
 *
 * The records of a file begin at a checkpoint: its first one, or the one that meta's `begins` names
 * (by seq). From there on the history is complete and can be replayed. Below it only shapes remain,
 * and checkpoints that have a name or that a RESTORE in the retained history needs.
 *
 * Used by the thread that writes the file. Each slice is a transaction, so after a crash the file is
 * pruned a little less, and the next slice continues.
 */
#ifndef CAIRN_STORE_PRUNE_H
#define CAIRN_STORE_PRUNE_H

#include "server/store/sql.h"

/* Results are recomputed by a recovery for at least this many ticks, where the file has them, because clients
 * that resume may have missed them: ten seconds at 60 Hz. */
enum { RESULT_TICKS = 600 };

/* With `from_birth`, the first checkpoint of each so many ticks is retained: a replay that begins at the one
 * before any tick makes about five minutes at 60 Hz again. */
enum { OLD_SPACING = 18000 };

struct retention {
	uint32_t checkpoints; /* newest ones to retain; 0: all, with every record */
	bool from_birth; /* all present and later records are retained; checkpoints are thinned */
};

enum prune_statement {
	PRUNE_FIND,
	PRUNE_DROP,
	PRUNE_SESSION,
	PRUNE_BATCHES,
	PRUNE_APPLIES,
	PRUNE_STOPS,
	PRUNE_HASHES,
	PRUNE_EPOCHS,
	PRUNE_PUT_META,
	PRUNE_STATEMENTS
};

/* All zero: nothing is due. */
struct pruner {
	bool due;	      /* records may have become too old */
	bool relaxed;	      /* commits of the connection are without fsync at present */
	bool planned;	      /* the following members are valid */
	uint64_t begins;      /* seq of the checkpoint where the records begin */
	uint64_t oldest_kept; /* seq from which every checkpoint is retained */
	uint64_t tick, session_max;
	uint32_t epoch;
	sqlite3_stmt *statements[PRUNE_STATEMENTS];
};

/* The most that a slice may remove, and the sums of what slices have removed. A row counts as a record. */
struct prune_counts {
	uint64_t checkpoints, records;
};

/* Removes at most `most->checkpoints` checkpoints, and about `most->records` rows of each other
 * table. *more: further rows are to be removed. On failure the slice is rolled back, and nothing
 * is due until the next checkpoint. The connection is relaxed afterwards. */
MUST_CHECK enum status prune_slice(struct pruner *self, sqlite3 *db, const struct retention *keep,
				   const struct prune_counts *most, struct prune_counts *counts,
				   bool *more, struct reason *why);
/* Call before any other write: commits are fsynced again. */
MUST_CHECK enum status prune_strict(struct pruner *self, sqlite3 *db, struct reason *why);
/* A checkpoint was written: the plan is made anew. */
void prune_is_due(struct pruner *self);
/* Before the connection is closed. */
void prune_end(struct pruner *self);

/* The seq of the checkpoint where the records begin; 0: at the file's first one, because the file was never
 * pruned. */
MUST_CHECK enum status prune_begins(sqlite3 *db, uint64_t *seq, struct reason *why);
/* The highest session number of removed batches. */
MUST_CHECK enum status prune_session_max(sqlite3 *db, uint64_t *session, struct reason *why);

#endif
