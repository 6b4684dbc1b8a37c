/* record.h: a journal's records on their way from the host's thread to the store's.
 *
 * A record buffer contains the records that the host has put since the store thread took the last
 * buffer: in their order, packed one after the other, with images and shapes in separate lists, so
 * that they are copied only once.
 *
 *   u8 kind, u32 epoch, u64 tick, u32 edit of the state after it, then (little-endian)
 *   APPLY       u32 batches, each: u32 session, u64 batch, u64 at, u8 late, u8 restricted, u8 result,
 *               u32 count, u32 bytes, the packed commands
 *   TICK        u64 tick hash
 *   CHECKPOINT  u64 state hash, u32 tables, a u64 for each, u8 named, u32 bytes, the name; its image is
 *               the buffer's next one
 *   SHAPE       nothing; the buffer's next shape
 *   RESTORE     u32 bytes, the snapshot's name; 0 bytes: the state is in the CHECKPOINT that follows
 *   STOP        u8 status
 *   PACE        u8 mode, u32 speed, u32 barrier
 *   KEEP        u64 ticks, u64 bytes, u32 bytes of the name, the name, u32 bytes of the title, the title
 *
 * A record is charged with its size in memory; see journal.h for the bounds.
 */
#ifndef CAIRN_STORE_RECORD_H
#define CAIRN_STORE_RECORD_H

#include "protocol/limits.h"
#include "server/base/array.h"
#include "server/store/journal.h"

enum record_kind {
	RECORD_APPLY = 1,
	RECORD_TICK = 2,
	RECORD_CHECKPOINT = 3,
	RECORD_SHAPE = 4,
	RECORD_RESTORE = 5,
	RECORD_STOP = 6,
	RECORD_PACE = 7,
	RECORD_KEEP = 8,
};

struct record_checkpoint {
	bool named;
	char name[WIRE_NAME_MAX + 1];
	uint64_t state_hash;
	uint32_t table_count; /* at most WORLD_TABLES_MAX */
	uint64_t table_hashes[WORLD_TABLES_MAX];
	struct bytes *image; /* borrowed from the buffer; world_image_seal is due */
};

/* A record as read; slices and pointers are borrowed from the buffer. */
struct record {
	enum record_kind kind;
	uint32_t epoch, edit;
	uint64_t tick;
	union {
		struct {
			uint32_t count;
			struct reader reader; /* at the first batch */
		} apply;
		uint64_t tick_hash;
		struct record_checkpoint checkpoint;
		const struct shape *shape;
		char snapshot[WIRE_NAME_MAX + 1];
		enum status stop;
		struct journal_pace pace;
		struct journal_keep keep;
	};
};

struct record_buffer {
	struct bytes records;
	ARRAY_OF(struct bytes) images;	 /* owned */
	struct bytes spare;		 /* memory for the next image */
	ARRAY_OF(struct shape *) shapes; /* a reference each */
	uint64_t charged;		 /* bytes */
};

/* Zero initialisation is an empty buffer. Reset retains a little memory for the next records. */
void record_buffer_reset(struct record_buffer *self);
void record_buffer_release(struct record_buffer *self);
bool record_buffer_is_empty(const struct record_buffer *self);

/* The charge of a record, bytes. */
uint64_t record_apply_charge(const struct journal_batch *batches, uint32_t count);
uint64_t record_checkpoint_charge(const struct bytes *image);
enum { RECORD_CHARGE = 64 }; /* of every other record, and of each batch beside its commands */

enum { RECORD_KEEP_CHARGE = RECORD_CHARGE + WIRE_NAME_MAX + WIRE_TITLE_MAX };

/* Append a record, copied. NO_MEMORY: the buffer is unchanged. A name is at most WIRE_NAME_MAX bytes. */
MUST_CHECK enum status record_buffer_put_apply(struct record_buffer *self, uint32_t epoch,
					       uint64_t tick, uint32_t edit,
					       const struct journal_batch *batches, uint32_t count);
MUST_CHECK enum status record_buffer_put_tick(struct record_buffer *self, uint32_t epoch,
					      uint64_t tick, uint64_t tick_hash);
MUST_CHECK enum status record_buffer_put_checkpoint(struct record_buffer *self, uint32_t epoch,
						    uint64_t tick, uint32_t edit, const char *name,
						    const struct bytes *image, uint64_t state_hash,
						    const uint64_t *table_hashes,
						    uint32_t table_count);
/* The same with the contents of `image`, for which the caller gets other memory, empty. On failure it keeps
 * its own. */
MUST_CHECK enum status record_buffer_swap_checkpoint(struct record_buffer *self, uint32_t epoch,
						     uint64_t tick, uint32_t edit, const char *name,
						     struct bytes *image, uint64_t state_hash,
						     const uint64_t *table_hashes,
						     uint32_t table_count);
MUST_CHECK enum status record_buffer_put_shape(struct record_buffer *self, uint32_t epoch,
					       uint64_t tick, const struct shape *shape);
MUST_CHECK enum status record_buffer_put_restore(struct record_buffer *self, uint32_t epoch,
						 uint64_t tick, uint32_t edit, const char *name);
/* RESTORE without a name and the CHECKPOINT of the state that it returned to. */
MUST_CHECK enum status
record_buffer_put_restore_state(struct record_buffer *self, uint32_t epoch, uint64_t tick,
				uint32_t edit, const struct bytes *image, uint64_t state_hash,
				const uint64_t *table_hashes, uint32_t table_count);

MUST_CHECK enum status record_buffer_put_stop(struct record_buffer *self, uint32_t epoch,
					      uint64_t tick, enum status stop);

MUST_CHECK enum status record_buffer_put_pace(struct record_buffer *self, uint32_t epoch,
					      uint64_t tick, const struct journal_pace *pace);

MUST_CHECK enum status record_buffer_put_keep(struct record_buffer *self, uint32_t epoch,
					      uint64_t tick, const struct journal_keep *keep);

/* Takes records out in order. */
struct record_reader {
	const struct record_buffer *records; /* borrowed */
	struct reader reader;
	uint32_t images, shapes; /* taken so far */
};
struct record_reader record_buffer_read(const struct record_buffer *records);
/* The next record. MISSING at the end, MALFORMED where the bytes are no record. */
MUST_CHECK enum status record_buffer_next(struct record_reader *self, struct record *out);
/* The next batch of an APPLY, `count` times. MALFORMED. */
MUST_CHECK enum status record_next_batch(struct record *apply, struct journal_batch *out);

#endif
