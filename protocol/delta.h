/* delta.h: SNAPSHOT and DELTA frames from rows of bodies.
 *
 * Who keeps the history (server/sync) says which bodies changed in which columns since the base,
 * which are new and which are gone; this cuts that into parts that fit the client's frames, and
 * packs each. The frames of one tick look the same to every subscription at the same base, so a
 * part is packed once, without its `sub` (message_pack_head completes it).
 *
 * A change is always sent as the value itself in the profiles `exact` and `plain`: a double that
 * has changed has no small difference. So WIRE_FRAME_ABSOLUTE is always set, and any base will do
 * for which the list of changes is complete. In `view` and `sim` rows carry what they stand on
 * (block_row.from); where that is not known any more, all of a frame's are NULL and it is absolute.
 */
#ifndef CAIRN_PROTOCOL_DELTA_H
#define CAIRN_PROTOCOL_DELTA_H

#include "protocol/block.h"

struct delta_frame {
	bool snapshot; /* all rows are the whole truth; base and removed are not used */
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

/* One message's share: removed[removed_first …] and rows[row_first …]. */
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
