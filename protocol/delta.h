/* delta.h: SNAPSHOT and DELTA frames from rows of bodies.
 *
 * The owner of the history (server/sync) lists the bodies that changed since the base and in which
 * columns, the new and the removed ones. This file divides the list into parts that fit the client's
 * frames, and packs each part. All subscriptions with the same base get the same frame of a tick, so a
 * part is packed once, without its `sub` (message_pack_head completes it).
 *
 * In the profiles `exact` and `plain` a changed column is sent as its value, because the difference of
 * two doubles is not shorter. So WIRE_FRAME_ABSOLUTE is always set, and any base is valid for which the
 * list of changes is complete. In `view` and `sim` each row has the base of its differences
 * (block_row.from); if the base is no longer known, all of them are NULL and the frame is absolute.
 */
#ifndef CAIRN_PROTOCOL_DELTA_H
#define CAIRN_PROTOCOL_DELTA_H

#include "protocol/block.h"

struct delta_frame {
	bool snapshot; /* the rows are all bodies; base and removed are not used */
	enum wire_profile profile;
	wire_mask fields;
	uint8_t flags; /* enum wire_frame_flags */
	uint64_t epoch;
	uint64_t tick;
	uint64_t base;
	uint32_t edit, base_edit;
	struct wire_hash hash;
	const uint32_t *removed; /* ascending (borrowed) */
	uint32_t removed_count;
	const struct block_row *rows; /* ascending by id (borrowed) */
	uint32_t row_count;
};

/* The contents of one message: removed[removed_first …] and rows[row_first …]. */
struct delta_part {
	uint32_t removed_first, removed_count;
	uint32_t row_first, row_count;
};

/* Cuts a frame into parts whose content takes at most `content_max` bytes each (≥ WIRE_FRAME_MIN, ≤
 * WIRE_FRAME_DOWN). There is always at least one. Returns STATUS_FULL when there would be more than
 * `capacity`, and STATUS_TOO_LARGE when a single row is larger than a frame. */
MUST_CHECK enum status delta_plan(const struct delta_frame *frame, uint32_t content_max,
				  struct delta_part *parts, uint32_t capacity, uint32_t *count);

/* Packs the tail of part `index` of `count`; send message_pack_head(type, sub, *bytes) before it.
 */
MUST_CHECK enum status delta_pack_tail(const struct delta_frame *frame,
				       const struct delta_part *parts, uint32_t count,
				       uint32_t index, uint8_t *data, uint32_t capacity,
				       uint32_t *bytes);
enum message_type delta_type(const struct delta_frame *frame);

#endif
