/* journal.h: one world's file, seen from its host.
 *
 * The host's thread hands over records; the store thread writes them to SQLite in the order given,
 * many to a transaction, and says how far they are safe. Replay of the file gives every state
 * again:
 *
 * checkpoint(0)  batches before tick 1  hash of tick 1  batches before tick 2  …  checkpoint(n) …
 *
 * Records carry (epoch, tick). The file holds the shapes too, so that it stands alone.
 */
#ifndef CAIRN_STORE_JOURNAL_H
#define CAIRN_STORE_JOURNAL_H

#include "server/base/bytes.h"
#include "server/base/status.h"
#include "server/engine/engine.h"

struct journal;

/* One batch as it was given to world_apply. `commands` is the packed list, as on the wire. */
struct journal_batch {
	uint32_t session;
	uint64_t batch, at;
	uint8_t late;
	bool restricted;
	const uint8_t *commands; /* borrowed */
	uint32_t bytes, count;
};

/* Progress, called on LOOP; borrowed context. */
struct journal_events {
	/* Everything up to (epoch, tick) is on disk (fsynced). */
	void (*durable)(void *context, uint32_t epoch, uint64_t tick);
	/* The next named checkpoint, in the order they were given, is on disk. */
	void (*saved)(void *context);
	/* Writing failed; nothing more will be durable. The journal stays not ready, so its world stops. */
	void (*failed)(void *context, enum status status, const char *text);
	void *context;
};
/* On LOOP, before the first record. */
void journal_set_events(struct journal *journal, const struct journal_events *events);

/* All of these copy what they are given. FULL: the store is too far behind (bytes waiting are
 * bounded); nothing was taken: try again before the next step. The world does not step while its
 * journal is FULL. */

/* The batches of one world_apply call at boundary `tick` (before step tick → tick + 1), in the
 * order applied. */
MUST_CHECK enum status journal_apply(struct journal *journal, uint32_t epoch, uint64_t tick,
				     const struct journal_batch *batches, uint32_t count);
/* Step tick−1 → tick was made; its tick hash. */
MUST_CHECK enum status journal_tick(struct journal *journal, uint32_t epoch, uint64_t tick,
				    uint64_t tick_hash);
/* The world's image with the hash of every table; `name` NULL for a periodic one, else of a SAVE.
 * */
MUST_CHECK enum status journal_checkpoint(struct journal *journal, uint32_t epoch, uint64_t tick,
					  const char *name, const struct bytes *image,
					  uint64_t state_hash, const uint64_t *table_hashes,
					  uint32_t table_count);
/* A shape became known at boundary `tick`. */
MUST_CHECK enum status journal_shape(struct journal *journal, uint32_t epoch, uint64_t tick,
				     const struct shape *shape);
/* The world went back to snapshot `name` and stands at `tick` in the new epoch. */
MUST_CHECK enum status journal_restore(struct journal *journal, uint32_t epoch, uint64_t tick,
				       const char *name);
/* Asks for a transaction's end now; DURABLE follows. */
void journal_flush(struct journal *journal);
/* Whether a step may be made: false while the backlog is over its bound. `wake` (borrowed) is
 * called, on any thread, when it is below again. */
bool journal_ready(struct journal *journal);
void journal_on_ready(struct journal *journal, void (*wake)(void *context), void *context);
/* Writes what waits and closes the file; the handle is gone. */
void journal_close(struct journal *journal);

#endif
