/* store.h: the directory of worlds: one SQLite file each (FILE = DIR/NAME.cairn), written by the
 * store thread only.
 *
 * At the start every file is recovered: its last good checkpoint is loaded, the records after it
 * are replayed with every tick hash checked, and a new epoch begins. A transaction torn by a crash
 * is rolled back by SQLite. A file of an earlier schema, or whose last ticks are of an incompatible
 * build (player.h), continues in an epoch `upgraded`; with such ticks after its last checkpoint it
 * is refused with VERSION, unless store_redo was called.
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

/* `directory` is created when missing, and locked against a second daemon (IN_USE) until store_destroy.
 * Called on LOOP before executor_start; uses the store thread's alarm. A file without a checkpoint (a crash
 * while it was created) is logged and ignored. */
MUST_CHECK enum status store_create(const char *directory, struct executor *executor,
				    struct store **out, struct reason *why);
/* How much of each world's history is retained (prune.h). Before executor_start; by default all of it. */
void store_set_retention(struct store *store, const struct retention *retention);
/* Durability of the worlds without their own; TICK by default. Before executor_start. */
void store_set_durability(struct store *store, enum durability durability);
/* Ticks of an incompatible build after the last checkpoint of a file are recomputed with this build. Before
 * store_recover. Without this call such a file is refused. */
void store_redo(struct store *store);
/* After the executor has stopped. Writes the records that wait in journals, closed or not. */
void store_destroy(struct store *store);

/* Names of the worlds that were on disk at store_create, ascending by bytes; at most `capacity`;
 * returns how many there are. */
uint32_t store_worlds(const struct store *store, char (*names)[WIRE_NAME_MAX + 1],
		      uint32_t capacity);

/* A file whose world is not in service, because store_recover refused it. The file is not changed. */
struct refused_file {
	char name[WIRE_NAME_MAX + 1];
	enum status status;
	char text[160];
};
/* The number of refused files that INFO and /readyz list. */
enum { STORE_REFUSED_SHOWN = 64 };
/* Adds a refused file to the list; its name cannot be used for a new world while the file exists.
 * NO_MEMORY. On LOOP. */
MUST_CHECK enum status store_refuse(struct store *store, const char *name,
				    const struct reason *why);
/* The refused files, in the order of store_refuse; borrowed until the next call of this header. */
const struct refused_file *store_refused(const struct store *store, uint32_t *count);

/* A new file for a new world with that durability (not OFF; NULL: the store's). EXISTS, IO. The first
 * records must be the shapes and then a checkpoint. On LOOP; the file's tables are made by the store thread
 * with the first record. */
MUST_CHECK enum status store_create_world(struct store *store, const char *name,
					  const enum durability *durability, struct journal **out,
					  struct reason *why);
/* Writes the name of a world's file, for a reader; false: it does not fit. */
MUST_CHECK bool store_world_path(const struct store *store, const char *name, char *path,
				 size_t bytes);
/* Deletes a world's file; if its journal was just closed, after its records are written. IN_USE, MISSING,
 * IO. On LOOP. */
MUST_CHECK enum status store_remove_world(struct store *store, const char *name,
					  struct reason *why);

struct recovered_snapshot {
	char name[WIRE_NAME_MAX + 1];
	uint64_t tick, state_hash;
	struct bytes image;
};
/* A world recovered from its file, in a new epoch. The caller owns everything. */
struct recovered {
	struct world *world;
	struct shape_library shapes;
	struct journal *journal; /* open for new records */
	uint32_t session_max;	 /* the highest session number in it: new ones must be higher */
	uint64_t checkpoint_tick, replayed; /* of the checkpoint; ticks replayed after it */
	uint64_t redone;		    /* of those, ticks of an incompatible build */
	bool upgraded;			    /* the new epoch has the cause `upgraded` */
	char from[MOTION_TEXT_MAX];	    /* upgraded: the motion numbers of its last epoch */
	bool whole;    /* since its creation; false: the beginning was pruned */
	bool has_pace; /* false: the file is older than the pace record */
	struct journal_pace pace;
	enum durability durability;
	char recording[WIRE_NAME_MAX + 1]; /* that runs; "" none */
	uint32_t checkpoints_corrupt;	   /* skipped; the log names them */
	ARRAY_OF(struct recovered_snapshot) snapshots;
};
/* What a recovery tells about sessions of the last daemon: the numbers of their batches in the file (with bit
 * 63: of the commands of STEPs), and the results of those that are applied again after the checkpoint. */
struct recovery_events {
	void (*number)(void *context, uint32_t session, uint64_t batch);
	void (*result)(void *context, const struct batch_result *result);
	void *context;
};
/* Synchronous, on LOOP before executor_start. `events`: NULL or borrowed. DIVERGED: the hash of a replayed
 * tick differs (`why` names it); CORRUPT, VERSION, IO. The file is written only after all of it has been
 * verified. */
MUST_CHECK enum status store_recover(struct store *store, const char *name,
				     const struct recovery_events *events, struct recovered *out,
				     struct reason *why);

#endif
