/* See delta.h. Parts are planned by upper bounds of the sizes of their rows, then packed. */
#include "protocol/delta.h"

#include "protocol/pack.h"

/* Bytes of a part without its ids and rows: head, six integers, three headers, hash, flags, edits. */
enum { FIXED_BYTES_MAX = WIRE_HEAD_MAX + 6 * 9 + 3 * BLOCK_HEADER_BYTES_MAX + 10 + 2 + 2 * 5 };

enum message_type delta_type(const struct delta_frame *frame)
{
	return frame->snapshot ? MESSAGE_SNAPSHOT : MESSAGE_DELTA;
}

/* The bytes that a row adds to its part: the row, and its id once more if the body is created. */
static uint32_t row_bytes(const struct delta_frame *frame, const struct block_row *row)
{
	uint32_t bytes = block_row_bytes(frame->profile, frame->fields, row);
	return bytes + (frame->snapshot || !row->created ? 0 : BLOCK_ID_BYTES_MAX);
}

/* Whether the frame fits into one part by the wide bound, as most frames do; the closer bound takes
 * as long as packing. */
static bool fits_at_once(const struct delta_frame *frame, uint32_t removed_count, uint32_t room)
{
	uint64_t ids = removed_count;
	for (uint32_t i = 0; i < frame->row_count && !frame->snapshot; i++)
		ids += frame->rows[i].created;
	return ids * BLOCK_ID_BYTES_MAX + block_bytes_max(frame->profile, frame->fields,
							  frame->rows, frame->row_count) <=
	       room;
}

enum status delta_plan(const struct delta_frame *frame, uint32_t content_max,
		       struct delta_part *parts, uint32_t capacity, uint32_t *count)
{
	ASSERT(content_max >= WIRE_FRAME_MIN && content_max <= WIRE_FRAME_DOWN);
	uint32_t room = content_max - FIXED_BYTES_MAX;
	uint32_t removed = 0, row = 0;
	uint32_t removed_count = frame->snapshot ? 0 : frame->removed_count;
	*count = 0;
	if (capacity > 0 && fits_at_once(frame, removed_count, room)) {
		parts[(*count)++] = (struct delta_part){ 0, removed_count, 0, frame->row_count };
		return STATUS_OK;
	}
	do {
		if (*count == capacity || *count == WIRE_PARTS_MAX)
			return STATUS_FULL;
		struct delta_part *part = &parts[(*count)++];
		*part = (struct delta_part){ .removed_first = removed, .row_first = row };
		uint32_t used = 0;
		for (; removed < removed_count && used + BLOCK_ID_BYTES_MAX <= room; removed++)
			used += BLOCK_ID_BYTES_MAX;
		for (; removed == removed_count && row < frame->row_count; row++) {
			uint32_t bytes = row_bytes(frame, &frame->rows[row]);
			if (bytes > room)
				return STATUS_TOO_LARGE;
			if (bytes > room - used)
				break;
			used += bytes;
		}
		part->removed_count = removed - part->removed_first;
		part->row_count = row - part->row_first;
	} while (removed < removed_count || row < frame->row_count);
	return STATUS_OK;
}

enum status delta_pack_tail(const struct delta_frame *frame, const struct delta_part *parts,
			    uint32_t count, uint32_t index, uint8_t *data, uint32_t capacity,
			    uint32_t *bytes)
{
	ASSERT(index < count);
	const struct delta_part *part = &parts[index];
	const struct block_row *rows = part->row_count > 0 ? frame->rows + part->row_first : NULL;
	struct wire_packer out = wire_packer_over(data, capacity);
	/* The fields of messages.def in their order; a test reads them back with message_unpack. */
	wire_pack_uint(&out, frame->epoch);
	wire_pack_uint(&out, frame->tick);
	if (!frame->snapshot)
		wire_pack_uint(&out, frame->base);
	wire_pack_uint(&out, index);
	wire_pack_uint(&out, count);
	if (!frame->snapshot) {
		block_pack_created(&out, frame->profile, rows, part->row_count);
		block_pack_ids(&out, frame->profile,
			       part->removed_count == 0 ? NULL
							: frame->removed + part->removed_first,
			       part->removed_count);
	}
	block_pack(&out, frame->profile, frame->fields, rows, part->row_count);
	if (index + 1 == count && frame->hash.set)
		wire_pack_hash(&out, frame->hash.value);
	else
		wire_pack_nil(&out);
	wire_pack_uint(&out, frame->flags);
	wire_pack_uint(&out, frame->edit);
	if (!frame->snapshot)
		wire_pack_uint(&out, frame->base_edit);
	*bytes = out.bytes;
	return out.status;
}
