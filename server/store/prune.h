/* prune.h: what of a world's history is kept, and the slow taking away of the rest.
 *
 * A file's records begin at a checkpoint: its first one, or later the one that meta's `begins` names (by
 * seq). From there on the history is whole, so that it can be made again. Below it stay the shapes and the
 * checkpoints that a name, or a RESTORE in what is kept, still needs.
 *
 * Used by the thread that writes the file. Every slice is a transaction of its own, so a crash leaves a
 * file that is pruned a little less, and the next slice goes on.
 */
#ifndef CAIRN_STORE_PRUNE_H
#define CAIRN_STORE_PRUNE_H

#include "server/store/sql.h"

struct retention {
	uint32_t checkpoints; /* the newest so many stay; 0: all, and every record with them */
	bool from_birth; /* the records stay from where they begin now, whatever becomes of the images */
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

/* All zero: nothing to be done. */
struct pruner {
	bool due;	      /* something may have become too old */
	bool relaxed;	      /* the connection commits without fsync at present */
	bool planned;	      /* what follows holds */
	uint64_t begins;      /* seq of the checkpoint where the records begin */
	uint64_t oldest_kept; /* seq from which every checkpoint stays */
	uint64_t tick, session_max;
	uint32_t epoch;
	sqlite3_stmt *statements[PRUNE_STATEMENTS];
};

/* Of slices: what one may take away, and what they have taken away (they add to it). A row is a record. */
struct prune_counts {
	uint64_t checkpoints, records;
};

/* `most` checkpoints, and about as many rows of each other table as it has records. *more: there is something
 * left. On failure it is as if it never began, and nothing is due until the next checkpoint. Leaves the
 * connection relaxed. */
MUST_CHECK enum status prune_slice(struct pruner *self, sqlite3 *db, const struct retention *keep,
				   const struct prune_counts *most, struct prune_counts *counts,
				   bool *more, struct reason *why);
/* Before anything else is written: commits are fsynced again. */
MUST_CHECK enum status prune_strict(struct pruner *self, sqlite3 *db, struct reason *why);
/* A checkpoint was written: the plan is made anew. */
void prune_is_due(struct pruner *self);
/* Before the connection is closed. */
void prune_end(struct pruner *self);

/* The seq of the checkpoint where the records begin; 0: at the file's first one, since nothing was ever
 * taken away. */
MUST_CHECK enum status prune_begins(sqlite3 *db, uint64_t *seq, struct reason *why);
/* The highest session number of batches that were taken away. */
MUST_CHECK enum status prune_session_max(sqlite3 *db, uint64_t *session, struct reason *why);

#endif
