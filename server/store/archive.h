/* archive.h: recordings on disk: DIR/recordings/WORLD/NAME.cairn, each a file like a world's own
 * (schema.h), complete in itself, never changed once it has its name.
 *
 * A recording is made from the world's file, row by row, so that a long one can be copied in slices
 * while the world goes on. It is written as `.NAME.part`, synced, and then renamed: a crash leaves no half
 * recording. Clients name recordings, never paths. Functions for one thread at a time (ANSWERS).
 */
#ifndef CAIRN_STORE_ARCHIVE_H
#define CAIRN_STORE_ARCHIVE_H

#include "server/store/keep.h"
#include "server/store/new_file.h"
#include "server/store/recording.h"

/* Of the recording `name` of the world with the file `world`, DIR/WORLD.cairn; with the name "" the folder.
 * False: too long. */
MUST_CHECK bool archive_path(const char *world, const char *name, char path[NEW_FILE_PATH]);

bool archive_exists(const char *world, const char *name);
/* EXISTS, with the remedy. */
MUST_CHECK enum status archive_refuse_taken(const char *world, const char *name,
					    struct reason *why);

/* What a file holds. */
struct archive_entry {
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1], since[32]; /* UTC */
	uint64_t bytes;
	struct recorded_place first, last;
	bool running;
};
/* Of an open file of a world or a recording; `running`: of the part that its recording keeps. */
MUST_CHECK enum status archive_describe(sqlite3 *db, bool running, struct archive_entry *out,
					struct reason *why);
/* The names of a world's recordings, ascending; at most `capacity`; *count is how many there are. */
MUST_CHECK enum status archive_names(const char *world, char (*names)[WIRE_NAME_MAX + 1],
				     uint32_t capacity, uint32_t *count, struct reason *why);
/* MISSING. */
MUST_CHECK enum status archive_open(const char *world, const char *name, sqlite3 **out,
				    struct archive_entry *entry, struct reason *why);
/* MISSING. */
MUST_CHECK enum status archive_remove(const char *world, const char *name, struct reason *why);
/* Appends at most `bytes` bytes of the file at `offset`; *whole is its size. MISSING. */
MUST_CHECK enum status archive_read(const char *world, const char *name, uint64_t offset,
				    uint32_t bytes, struct bytes *out, uint64_t *whole,
				    struct reason *why);

/* A recording that a client sends: its parts in order, from offset 0 on. `room`: bytes that all
 * recordings may take. EXISTS, FULL; RANGE: not the next part. */
MUST_CHECK enum status archive_put(const char *world, const char *name, uint64_t offset,
				   const struct bytes *part, uint64_t room, struct reason *why);
/* After the last part. CORRUPT, VERSION: it is no recording, and is removed. */
MUST_CHECK enum status archive_put_end(const char *world, const char *name,
				       struct archive_entry *entry, struct reason *why);

/* ---- making one ---------------------------------------------------------------------------------- */

struct archive_order {
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1];
	uint64_t begins; /* seq of the checkpoint where it begins */
	uint64_t room;	 /* bytes that all recordings may take */
};
struct archive_copy;
/* `from` is borrowed, with an open read transaction until the end. EXISTS, FULL, IO. */
MUST_CHECK enum status archive_copy_begin(const char *world, sqlite3 *from,
					  const struct archive_order *order,
					  struct archive_copy **out, struct reason *why);
/* Copies some rows; *done: all are copied. */
MUST_CHECK enum status archive_copy_step(struct archive_copy *copy, bool *done, struct reason *why);
/* Closes it, synced and with its name. */
MUST_CHECK enum status archive_copy_end(struct archive_copy *copy, struct archive_entry *entry,
					struct reason *why);
/* Frees it; what is not complete is removed. NULL is ignored. */
void archive_copy_destroy(struct archive_copy *copy);

#endif
