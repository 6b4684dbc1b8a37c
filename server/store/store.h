/* store.h: the directory of worlds: one SQLite file each (FILE = DIR/NAME.cairn), written by the
 * store thread only.
 *
 * At start every file found is recovered: last good checkpoint, journal replayed on top with every
 * tick hash checked, a new epoch begun. A torn tail (crash in the middle of a transaction) is not
 * there: SQLite's own log sees to that. A file of earlier tables, or whose last ticks are of other bits
 * (engine.h), goes on in an epoch `upgraded`; with such ticks after its last checkpoint it is refused with
 * VERSION, unless they are to be redone.
 */
#ifndef CAIRN_STORE_STORE_H
#define CAIRN_STORE_STORE_H

#include "protocol/limits.h"
#include "server/base/array.h"
#include "server/io/executor.h"
#include "server/store/journal.h"
#include "server/store/prune.h"
#include "server/store/shape_library.h"

struct store;

/* `directory` is made when missing, and held against a second daemon (IN_USE) until store_destroy. Called
 * on LOOP before executor_start; takes the store thread's alarm. A file in which no world has begun (a
 * crash while it was made) is told in the log and counts as not there. */
MUST_CHECK enum status store_create(const char *directory, struct executor *executor,
				    struct store **out, struct reason *why);
/* How much of each world's past stays (prune.h). Before executor_start; without it everything does. */
void store_set_retention(struct store *store, const struct retention *retention);
/* Ticks of other bits after a file's last checkpoint are made again with those of this build. Before
 * store_recover; without it such a file is refused. */
void store_redo(struct store *store);
/* After the executor has stopped. What journals still hold is written, closed or not. */
void store_destroy(struct store *store);

/* Names of the worlds that were on disk at store_create, ascending by bytes; at most `capacity`;
 * returns how many there are. */
uint32_t store_worlds(const struct store *store, char (*names)[WIRE_NAME_MAX + 1],
		      uint32_t capacity);

/* A file that is not in service, because store_recover refused it. It is left as it is. */
struct refused_file {
	char name[WIRE_NAME_MAX + 1];
	enum status status;
	char text[160];
};
/* How many of them INFO and /readyz name. */
enum { STORE_REFUSED_TOLD = 64 };
/* Remembers that; nobody else gets the name while the file is there. NO_MEMORY. On LOOP. */
MUST_CHECK enum status store_refuse(struct store *store, const char *name,
				    const struct reason *why);
/* Those remembered, in the order of store_refuse; borrowed until the next call of this header. */
const struct refused_file *store_refused(const struct store *store, uint32_t *count);

/* A new file for a new world. EXISTS, IO. The first records must be the shapes and then a checkpoint. On
 * LOOP; the file's tables are made by the store thread with the first record. */
MUST_CHECK enum status store_create_world(struct store *store, const char *name,
					  struct journal **out, struct reason *why);
/* Deletes a world's file; of one whose journal was closed just now, once it is written. IN_USE, MISSING,
 * IO. On LOOP. */
MUST_CHECK enum status store_remove_world(struct store *store, const char *name,
					  struct reason *why);

struct recovered_snapshot {
	char name[WIRE_NAME_MAX + 1];
	uint64_t tick, state_hash;
	struct bytes image;
};
/* A world as its file leaves it, standing in a new epoch. Everything is owned by the taker. */
struct recovered {
	struct world *world;
	struct shape_library shapes;
	struct journal *journal; /* open for more */
	uint32_t session_max;	 /* the highest session number in it: new ones must be above */
	uint64_t checkpoint_tick, replayed; /* ticks replayed since; of them */
	uint64_t redone;		    /* with other bits than are recorded */
	bool upgraded;			    /* the epoch it goes on in has that cause */
	char from[MOTION_TEXT_MAX];	    /* upgraded: the numbers of its last epoch */
	bool whole;			    /* from its birth; false: its beginning was pruned */
	bool has_pace;			    /* false: the file is from before it was kept */
	struct journal_pace pace;
	uint32_t checkpoints_corrupt; /* passed over; the log tells which */
	ARRAY_OF(struct recovered_snapshot) snapshots;
};
/* Synchronous, on LOOP before executor_start. DIVERGED: a replayed tick's hash differs (why says
 * which); CORRUPT, VERSION, IO. Nothing is written to a file before all of it was found good. */
MUST_CHECK enum status store_recover(struct store *store, const char *name, struct recovered *out,
				     struct reason *why);

#endif
