/* world_file.h: one world's file, open for writing: parcels in, transactions out.
 *
 * Used by one thread at a time (the store's; at the start and the very end, LOOP). After the first
 * failure nothing is written any more: what was committed before stays.
 */
#ifndef CAIRN_STORE_WORLD_FILE_H
#define CAIRN_STORE_WORLD_FILE_H

#include "server/store/prune.h"
#include "server/store/record.h"
#include "server/store/sql.h"

enum { HASHES_PER_ROW = 256 };

enum world_file_statement {
	PUT_EPOCH,
	PUT_SHAPE,
	HAS_SHAPE,
	PUT_APPLY,
	PUT_BATCH,
	PUT_HASHES,
	PUT_STOP,
	PUT_CHECKPOINT,
	PUT_TABLE,
	FIND_SNAPSHOT,
	PUT_PACE,
	WORLD_FILE_STATEMENTS
};

struct world_file {
	sqlite3 *db; /* NULL: not open */
	sqlite3_stmt *statements[WORLD_FILE_STATEMENTS];
	uint64_t seq;	/* the last one given */
	uint32_t epoch; /* the last one begun, 0 none */
	uint32_t
		version; /* of its tables; below SCHEMA_VERSION nothing but world_file_upgraded may follow */
	bool tables_named;
	/* The row of hashes at the end: rewritten longer with each transaction until it is full. */
	struct {
		uint32_t epoch, count;
		uint64_t tick; /* of the first */
		uint8_t hashes[HASHES_PER_ROW * 8];
		bool dirty;
	} row;
	struct bytes packed; /* scratch for an image */
	struct pruner pruner;
};

/* What a transaction made safe. */
struct world_file_progress {
	uint32_t epoch, edit;
	uint64_t tick;
	bool moved;		     /* (epoch, tick, edit) was set */
	uint64_t saved;		     /* named checkpoints */
	struct prune_counts written; /* about how many */
};

/* Makes the tables in a new (or empty) file. */
MUST_CHECK enum status world_file_create(struct world_file *self, const char *path,
					 const char *world, struct reason *why);
/* An existing file, as schema_check says; one of an earlier version is left as it is. */
MUST_CHECK enum status world_file_open(struct world_file *self, const char *path,
				       struct reason *why);
/* Any time; zero initialisation is closed. */
void world_file_close(struct world_file *self);

/* One transaction: the parcel's records and COMMIT. On failure it is as if it never began. */
MUST_CHECK enum status world_file_write(struct world_file *self,
					const struct record_buffer *records,
					struct world_file_progress *progress, struct reason *why);
/* A slice of what prune.h takes away; *more: call again. On failure nothing has happened, and what is
 * written afterwards is not in danger. */
MUST_CHECK enum status world_file_prune(struct world_file *self, const struct retention *keep,
					const struct prune_counts *most,
					struct prune_counts *counts, bool *more,
					struct reason *why);
/* Bytes of the file without its log, and those of them in pages that are free to be used again. */
MUST_CHECK enum status world_file_size(struct world_file *self, uint64_t *bytes, uint64_t *free,
				       struct reason *why);
/* The world stands at `tick` and begins `epoch`, recovered. Committed when this returns OK. */
MUST_CHECK enum status world_file_recovered(struct world_file *self, uint32_t epoch, uint64_t tick,
					    struct reason *why);
/* The same of a file whose tables or bits were others: in one transaction its tables step up, and `epoch`
 * begins with a checkpoint. `redone` ticks before it were made again with other bits than are recorded. */
MUST_CHECK enum status world_file_upgraded(struct world_file *self, uint32_t epoch,
					   const struct world *world, uint64_t redone,
					   struct reason *why);

#endif
