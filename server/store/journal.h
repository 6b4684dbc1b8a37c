/* journal.h: writes the records of one world to its file.
 *
 * The host's thread puts records; the store thread writes them to SQLite in the order given, many
 * to a transaction, and reports how far they are on disk. A replay of the file recomputes every
 * state:
 *
 *	checkpoint(0)  batches before tick 1  hash of tick 1  batches before tick 2  …  checkpoint(n) …
 *
 * Records contain (epoch, tick). The file contains the shapes too, so it can be replayed alone.
 */
#ifndef CAIRN_STORE_JOURNAL_H
#define CAIRN_STORE_JOURNAL_H

#include "protocol/limits.h"
#include "server/base/bytes.h"
#include "server/base/status.h"
#include "server/engine/engine.h"
#include "server/store/durability.h"

struct journal;

/* One batch as it was given to world_apply. `commands` is the packed list, as on the wire. */
struct journal_batch {
	uint32_t session;
	uint64_t batch, at;
	uint8_t late;
	bool restricted;
	const uint8_t *commands; /* borrowed */
	uint32_t bytes, count;
	uint8_t result; /* enum status of it; JOURNAL_RESULT_UNKNOWN in files of version 1 */
};
enum { JOURNAL_RESULT_UNKNOWN = 255 };

/* Mode and speed of a world: stored beside its states, so that they are the same after a restart.
 * The holder of a lease is not stored, because sessions end with the daemon. */
struct journal_pace {
	uint8_t mode;	  /* enum wire_mode: RUNNING, PAUSED, LOCKSTEP or BARRIER */
	uint32_t speed;	  /* requested, thousandths of real time */
	uint32_t barrier; /* sessions, with BARRIER */
};

/* A recording that begins, or with the name "" ends (keep.h). */
struct journal_keep {
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1];
	uint64_t ticks, bytes; /* bounds of the part of the history it keeps; 0: none */
};

/* Sizes of the world's file, and counts of what retention (store_set_retention) removed since the start. */
struct journal_figures {
	uint64_t file_bytes, free_bytes; /* without its log; of its pages that are free for reuse */
	uint64_t checkpoints_pruned, records_pruned;
	uint64_t prune_failures; /* slices that failed; tried again after the next checkpoint */
	uint64_t commits, commit_ns, commit_ns_max; /* transactions; their time, and the longest */
	uint64_t busy; /* transactions put off because another program had locked the file */
};

/* Progress, called on LOOP; borrowed context. */
struct journal_events {
	/* Everything up to the state (epoch, tick, edit) is on disk (fsynced). */
	void (*durable)(void *context, uint32_t epoch, uint64_t tick, uint32_t edit);
	/* The first `records` records that were put (journal_records) are on disk. */
	void (*stored)(void *context, uint64_t records);
	/* Writing failed; nothing more will be durable. The journal stays not ready, so its world stops. */
	void (*failed)(void *context, enum status status, const char *text);
	/* The figures have changed: after each transaction, and while older records are pruned. */
	void (*figures)(void *context, const struct journal_figures *figures);
	void *context;
};
/* On LOOP, before the first record. */
void journal_set_events(struct journal *journal, const struct journal_events *events);

/* Bytes that may wait for the store thread. Over the first bound the journal is not ready; records are
 * still accepted up to the second. While the backlog is within the first bound, a record of any size is
 * accepted, because an image is as large as its world. */
#define JOURNAL_BACKLOG_MAX ((uint64_t)16 << 20)
#define JOURNAL_BACKLOG_REFUSED ((uint64_t)128 << 20)

/* All of these copy their arguments (of a shape they hold a reference). Epochs ascend, and ticks within an
 * epoch. FULL: over the second bound; NO_MEMORY; after `failed`, its status: the record was not accepted.
 * Only the thread that runs the world calls them. */

/* The batches of one world_apply call at boundary `tick` (before step tick → tick + 1), in the
 * order applied; none for a call that only applied batches kept for this tick. A boundary may have
 * several of them; `edit` is that of the state after this one. */
MUST_CHECK enum status journal_apply(struct journal *journal, uint32_t epoch, uint64_t tick,
				     uint32_t edit, const struct journal_batch *batches,
				     uint32_t count);
/* Step tick−1 → tick was made; its tick hash. */
MUST_CHECK enum status journal_tick(struct journal *journal, uint32_t epoch, uint64_t tick,
				    uint64_t tick_hash);
/* The step from `tick` was tried and failed (world_step's status): the batches kept for the boundary are
 * applied nevertheless, and the world stops. */
MUST_CHECK enum status journal_stopped(struct journal *journal, uint32_t epoch, uint64_t tick,
				       enum status status);
/* The world's image with the hash of every table; `name` NULL for a periodic one, else of a SAVE. */
MUST_CHECK enum status journal_checkpoint(struct journal *journal, uint32_t epoch, uint64_t tick,
					  uint32_t edit, const char *name,
					  const struct bytes *image, uint64_t state_hash,
					  const uint64_t *table_hashes, uint32_t table_count);
/* The same for an image that may be open (world_save_open), and whose contents are taken on OK: the
 * caller gets other memory for its next one. */
MUST_CHECK enum status journal_swap_checkpoint(struct journal *journal, uint32_t epoch,
					       uint64_t tick, uint32_t edit, const char *name,
					       struct bytes *image, uint64_t state_hash,
					       const uint64_t *table_hashes, uint32_t table_count);
/* A shape was added to the world's library at boundary `tick`. */
MUST_CHECK enum status journal_shape(struct journal *journal, uint32_t epoch, uint64_t tick,
				     const struct shape *shape);
/* The world was restored from snapshot `name` and is at (`tick`, `edit`) in the new epoch. */
MUST_CHECK enum status journal_restore(struct journal *journal, uint32_t epoch, uint64_t tick,
				       uint32_t edit, const char *name);
/* The world was restored from a state of its past that is no snapshot: the file gets its image, too. */
MUST_CHECK enum status journal_restore_state(struct journal *journal, uint32_t epoch, uint64_t tick,
					     uint32_t edit, const struct bytes *image,
					     uint64_t state_hash, const uint64_t *table_hashes,
					     uint32_t table_count);
/* Mode and speed have changed. */
MUST_CHECK enum status journal_pace(struct journal *journal, uint32_t epoch, uint64_t tick,
				    const struct journal_pace *pace);
/* A recording begins at the checkpoint put before this record, or ends. */
MUST_CHECK enum status journal_keep(struct journal *journal, uint32_t epoch, uint64_t tick,
				    const struct journal_keep *keep);
/* The number of records put so far; an answer to what they hold may be sent when `stored` has told as many.
 * UINT64_MAX after `failed`. */
uint64_t journal_records(struct journal *journal);
/* Commits without waiting for further records; DURABLE follows. */
void journal_flush(struct journal *journal);
/* True: a step may be made. False while the backlog is over its bound, and after `failed`. */
bool journal_ready(struct journal *journal);
/* OK, or why writing failed (the status and text of `failed`). Any thread. */
MUST_CHECK enum status journal_status(struct journal *journal, struct reason *why);
/* On LOOP: `wake` (borrowed) is called on LOOP when the backlog of a journal that was not ready has fallen
 * to half of the bound, and when writing has failed. */
void journal_on_ready(struct journal *journal, void (*wake)(void *context), void *context);
/* On LOOP; the handle is invalid from now on, and no event is called. Waiting records are still written by
 * the store thread (or by store_destroy), then the file is closed. */
void journal_close(struct journal *journal);

#endif
