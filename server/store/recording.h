/* recording.h: reads a world's file: its records in the order of execution, the hashes of its ticks, its
 * images and shapes.
 *
 * A file may contain anything: sizes, counts and texts are checked here, commands by their decoder, images
 * by their checksum and then by world_load, shapes by their name and then by shape_cook.
 */
#ifndef CAIRN_STORE_RECORDING_H
#define CAIRN_STORE_RECORDING_H

#include "server/store/record.h"
#include "server/store/sql.h"

enum recorded_kind {
	RECORDED_EPOCH = 1,
	RECORDED_SHAPE = 2,
	RECORDED_APPLY = 3,
	RECORDED_CHECKPOINT = 4,
	RECORDED_STOP = 5,
};

enum epoch_cause { EPOCH_CREATED, EPOCH_RESTORED, EPOCH_RECOVERED, EPOCH_UPGRADED };

struct recorded {
	enum recorded_kind kind;
	uint64_t seq, tick;
	uint32_t epoch;
	/* EPOCH */
	enum epoch_cause cause;
	uint64_t checkpoint; /* seq of the image that a RESTORED or UPGRADED epoch begins with */
	struct motion_numbers numbers; /* of the build that made its ticks */
	/* APPLY */
	uint32_t batches;
	/* STOP */
	enum status status;
};

struct recorded_checkpoint {
	uint64_t seq, tick;
	uint32_t epoch;
	char name[WIRE_NAME_MAX + 1]; /* empty for a periodic one */
	uint64_t state_hash;
	uint32_t table_count;
	uint64_t table_hashes[WORLD_TABLES_MAX];
};

struct recording;

/* Borrows an open connection; reads within one transaction, so that a file that is being written is read as
 * of this call. */
MUST_CHECK enum status recording_open(sqlite3 *db, struct recording **out, struct reason *why);
void recording_close(struct recording *self);

/* recording_next continues with the first record after `seq`. */
MUST_CHECK enum status recording_seek(struct recording *self, uint64_t seq, struct reason *why);
/* The next record; MISSING at the end. */
MUST_CHECK enum status recording_next(struct recording *self, struct recorded *out,
				      struct reason *why);
/* The recorded hash of (epoch, tick); MISSING when that tick was never made. */
MUST_CHECK enum status recording_hash(struct recording *self, uint32_t epoch, uint64_t tick,
				      uint64_t *out, struct reason *why);

/* How many ticks of `epoch` were made after `tick`; with `onward` also those of later epochs. */
MUST_CHECK enum status recording_ticks_after(struct recording *self, uint32_t epoch, uint64_t tick,
					     bool onward, uint64_t *out, struct reason *why);
/* The build that began an epoch, and the numbers of its ticks. */
struct recorded_build {
	char text[64];
	struct motion_numbers numbers;
};
MUST_CHECK enum status recording_build(struct recording *self, uint32_t epoch,
				       struct recorded_build *out, struct reason *why);

/* Batch `position` (from 0) of an APPLY; its commands are borrowed until the next call. */
MUST_CHECK enum status recording_batch(struct recording *self, const struct recorded *apply,
				       uint32_t position, struct journal_batch *out,
				       struct reason *why);
/* The first SHAPE record after `after`: its seq and the name of its shape. MISSING: there is none. */
MUST_CHECK enum status recording_next_shape(struct recording *self, uint64_t after, uint64_t *seq,
					    uint8_t name[SHAPE_NAME_BYTES], struct reason *why);
/* The shape of a SHAPE record, cooked; returned owned. */
MUST_CHECK enum status recording_shape(struct recording *self, uint64_t seq, struct shape **out,
				       struct reason *why);
/* A checkpoint's figures, and its image appended to `image` unless that is NULL. */
MUST_CHECK enum status recording_checkpoint(struct recording *self, uint64_t seq,
					    struct recorded_checkpoint *out, struct bytes *image,
					    struct reason *why);

/* False: records before the first checkpoint have been pruned (prune.h). */
bool recording_is_whole(const struct recording *self);

/* These find a checkpoint among those whose later records are complete: *seq is 0 when there is none. The
 * first one. */
MUST_CHECK enum status recording_first(struct recording *self, uint64_t *seq, struct reason *why);
/* The last one below `before`. */
MUST_CHECK enum status recording_last(struct recording *self, uint64_t before, uint64_t *seq,
				      struct reason *why);
/* The nearest at or before `tick`; of several of that tick the last. */
MUST_CHECK enum status recording_at(struct recording *self, uint64_t tick, uint64_t *seq,
				    struct reason *why);
/* A boundary of a world's history. */
struct recorded_place {
	uint32_t epoch;
	uint64_t tick;
};
/* The nearest one at or before (epoch, tick) in the order of execution, in that epoch or an earlier one. */
MUST_CHECK enum status recording_before(struct recording *self, struct recorded_place place,
					uint64_t *seq, struct reason *why);
/* The last record of a boundary before `place`; *seq is 0 if there is none. O(log records). */
MUST_CHECK enum status recording_records_before(struct recording *self, struct recorded_place place,
						uint64_t *seq, struct reason *why);

/* An epoch as far as the file has it: its first and last tick. */
struct recorded_epoch {
	struct recorded_place begin;
	uint64_t last, seq;
	enum epoch_cause cause;
	uint64_t checkpoint; /* seq of the image that it begins with, 0: the state before it */
};
/* The first epoch over `after` whose beginning is retained; MISSING. */
MUST_CHECK enum status recording_epoch(struct recording *self, uint32_t after,
				       struct recorded_epoch *out, struct reason *why);

/* The named one after `after` (0 at the start), one per name, in order of seq. */
MUST_CHECK enum status recording_snapshot(struct recording *self, uint64_t after, uint64_t *seq,
					  struct reason *why);

struct recording_counts {
	uint64_t ticks, checkpoints, batches, commands, shapes, epochs;
	uint32_t session_max;
};
MUST_CHECK enum status recording_count(struct recording *self, struct recording_counts *out,
				       struct reason *why);

#endif
