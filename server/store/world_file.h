/* world_file.h: a world's file, open for writing: each record buffer becomes one transaction.
 *
 * Used by one thread at a time (STORE; LOOP at the start and at the very end). After the first
 * failure the journal writes no further records; committed transactions stay. If another program has written
 * to the file meanwhile, nothing more is written: two histories in one file would be worth nothing.
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
	GET_DATA_VERSION,
	WORLD_FILE_STATEMENTS
};

struct world_file {
	sqlite3 *db; /* NULL: not open */
	sqlite3_stmt *statements[WORLD_FILE_STATEMENTS];
	uint64_t seq;	/* the last one used */
	uint32_t epoch; /* the last one begun, 0 none */
	/* Of its tables; below SCHEMA_VERSION only world_file_upgraded may be called. */
	uint32_t version;
	bool tables_named;
	uint64_t
		data_version; /* of the database: another number once another program has written */
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

/* What a transaction made durable. */
struct world_file_progress {
	uint32_t epoch, edit;
	uint64_t tick;
	bool moved;		     /* (epoch, tick, edit) was set */
	struct prune_counts written; /* about how many */
};

/* Creates the tables in a new (or empty) file. `durability`: the world's own, NULL: the daemon's. */
MUST_CHECK enum status world_file_create(struct world_file *self, const char *path,
					 const char *world, const char *durability,
					 struct reason *why);
/* Opens an existing file that passes schema_check; one of an earlier version is not converted yet. */
MUST_CHECK enum status world_file_open(struct world_file *self, const char *path,
				       struct reason *why);
/* Any time; zero initialisation is closed. */
void world_file_close(struct world_file *self);

/* Writes the buffer's records in one transaction. On failure it is rolled back. AGAIN: it did not begin,
 * because another program has locked the file; the call may be repeated. */
MUST_CHECK enum status world_file_write(struct world_file *self,
					const struct record_buffer *records,
					struct world_file_progress *progress, struct reason *why);
/* Prunes a slice (prune.h); *more: call again. On failure the slice is rolled back; records can still be
 * written. */
MUST_CHECK enum status world_file_prune(struct world_file *self, const struct retention *keep,
					const struct prune_counts *most,
					struct prune_counts *counts, bool *more,
					struct reason *why);
/* Bytes of the file without its log, and those of its free pages. */
MUST_CHECK enum status world_file_size(struct world_file *self, uint64_t *bytes, uint64_t *free,
				       struct reason *why);
/* Begins `epoch` at `tick`, with the cause `recovered`. Committed when this returns OK. */
MUST_CHECK enum status world_file_recovered(struct world_file *self, uint32_t epoch, uint64_t tick,
					    struct reason *why);
/* The same for a file of an earlier schema or an incompatible build: in one transaction its tables
 * are converted, and `epoch` begins with a checkpoint. `redone`: ticks of the incompatible build
 * that were recomputed before it. */
MUST_CHECK enum status world_file_upgraded(struct world_file *self, uint32_t epoch,
					   const struct world *world, uint64_t redone,
					   struct reason *why);

#endif
