/* block_quantised.c: see block_quantised.h.
 *
 * Ids and masks are packed in runs: bodies that were made together often move together, so a run of them
 * costs three bytes at any length. Then one loop per column follows, whose only branch is whether the row
 * has the column: a few nanoseconds a body.
 */
#include "protocol/block_quantised.h"

#include <string.h>

#include "protocol/varint.h"

enum {
	ROW_HEAD_MAX = VARINT_32_MAX + 2, /* largest share of a run's head, and a mask */
	HEADER_MAX = 5,			  /* of a bin */
};

static const struct wire_quantised NOTHING;

static inline const struct wire_quantised *base_of(const struct block_row *row)
{
	return row->from != NULL ? row->from : &NOTHING;
}

/* ---- sizes --------------------------------------------------------------------------------- */

/* Bytes of the exact columns of a mask. */
static inline uint32_t exact_bytes(const struct block_row *row, wire_mask mask)
{
	uint32_t bytes = 0;
	bytes += mask & WIRE_COLUMN_STATUS ? 2 : 0;
	bytes += mask & WIRE_COLUMN_OWNER ? 12 : 0;
	if (mask & WIRE_COLUMN_SHAPES)
		bytes += 1 + (uint32_t)row->body->shape_count * WIRE_SHAPE_BYTES;
	if (mask & WIRE_COLUMN_CONTACTS)
		bytes += MAX_OF(row->contacts.bytes, 1u);
	return bytes;
}

/* The bound as if every row had all columns; shapes and contacts are counted, because they can be large. */
uint64_t block_quantised_bytes_max(wire_mask fields, const struct block_row *rows, uint32_t count)
{
	uint32_t each = ROW_HEAD_MAX;
	each += fields & WIRE_COLUMN_POSITION ? WIRE_CHANGE_POSITION_MAX : 0;
	each += fields & WIRE_COLUMN_ROTATION ? WIRE_CHANGE_ROTATION_MAX : 0;
	each += fields & WIRE_COLUMN_VELOCITY ? WIRE_CHANGE_SPEED_MAX : 0;
	each += fields & WIRE_COLUMN_SPIN ? WIRE_CHANGE_SPEED_MAX : 0;
	each += fields & WIRE_COLUMN_STATUS ? 2 : 0;
	each += fields & WIRE_COLUMN_OWNER ? 12 : 0;
	uint64_t bytes = (uint64_t)each * count;
	for (uint32_t i = 0; i < count && (fields & WIRE_COLUMN_SHAPES) != 0; i++)
		if (rows[i].mask & WIRE_COLUMN_SHAPES)
			bytes += 1 + (uint64_t)rows[i].body->shape_count * WIRE_SHAPE_BYTES;
	for (uint32_t i = 0; i < count && (fields & WIRE_COLUMN_CONTACTS) != 0; i++)
		bytes += MAX_OF(rows[i].contacts.bytes, 1u);
	return bytes;
}

uint32_t block_quantised_row_bytes(wire_mask fields, const struct block_row *row)
{
	wire_mask mask = row->mask & fields;
	uint32_t bytes = ROW_HEAD_MAX + exact_bytes(row, mask);
	for (wire_mask bit = 1; bit <= WIRE_COLUMN_SPIN; bit <<= 1)
		if (mask & bit)
			bytes += wire_change_bytes(base_of(row), row->to, bit);
	return bytes;
}

/* Whether a whole block fits, with its header, and the one byte behind it that wire_change_put may
 * overwrite. */
static bool rows_fit(wire_mask fields, const struct block_row *rows, uint32_t count, uint32_t room)
{
	const uint32_t besides = HEADER_MAX + VARINT_32_MAX + 1;
	uint64_t bytes = besides;
	if (block_quantised_bytes_max(fields, rows, count) + besides <= room)
		return true;
	for (uint32_t i = 0; i < count; i++)
		bytes += block_quantised_row_bytes(fields, &rows[i]);
	return bytes <= room;
}

/* ---- packing ------------------------------------------------------------------------------- */

/* The number of rows with one mask and consecutive ids. */
static uint32_t run_length(wire_mask fields, const struct block_row *rows, uint32_t count)
{
	wire_mask mask = rows[0].mask & fields;
	uint32_t length = 1, id = rows[0].body->id;
	while (length < count && rows[length].body->id == id + length &&
	       (rows[length].mask & fields) == mask)
		length++;
	return length;
}

static uint8_t *put_runs(uint8_t *at, wire_mask fields, const struct block_row *rows,
			 uint32_t count)
{
	uint32_t before = 0;
	at = varint_put(at, count);
	for (uint32_t i = 0; i < count;) {
		uint32_t length = run_length(fields, rows + i, count - i), id = rows[i].body->id;
		ASSERT(id > before && (rows[i].mask & fields) != 0);
		at = varint_put(at, (uint64_t)(id - before - 1) << 1 | (length > 1));
		if (length > 1)
			at = varint_put(at, length - 2);
		at = wire_mask_put(at, rows[i].mask & fields);
		before = id + length - 1;
		i += length;
	}
	return at;
}

/* A loop for each column, so that the bit is a constant in it. */
#define PUT_COLUMN(name, BIT)                                                                      \
	static uint8_t *name(uint8_t *at, const struct block_row *rows, uint32_t count)            \
	{                                                                                          \
		for (uint32_t i = 0; i < count; i++)                                               \
			if (rows[i].mask & (BIT))                                                  \
				at = wire_change_put(at, base_of(&rows[i]), rows[i].to, BIT);      \
		return at;                                                                         \
	}
PUT_COLUMN(put_positions, WIRE_COLUMN_POSITION)
PUT_COLUMN(put_rotations, WIRE_COLUMN_ROTATION)
PUT_COLUMN(put_velocities, WIRE_COLUMN_VELOCITY)
PUT_COLUMN(put_spins, WIRE_COLUMN_SPIN)

static uint8_t *put_exact(uint8_t *at, const struct block_row *rows, uint32_t count, wire_mask bit)
{
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].mask & bit)
			at = wire_column_put(at, rows[i].body, bit);
	return at;
}

static uint8_t *put_contacts(uint8_t *at, const struct block_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].mask & WIRE_COLUMN_CONTACTS)
			at = wire_touches_copy(at, rows[i].contacts);
	return at;
}

static uint8_t *put_columns(uint8_t *at, wire_mask fields, const struct block_row *rows,
			    uint32_t count)
{
	if (fields & WIRE_COLUMN_POSITION)
		at = put_positions(at, rows, count);
	if (fields & WIRE_COLUMN_ROTATION)
		at = put_rotations(at, rows, count);
	if (fields & WIRE_COLUMN_VELOCITY)
		at = put_velocities(at, rows, count);
	if (fields & WIRE_COLUMN_SPIN)
		at = put_spins(at, rows, count);
	for (wire_mask bit = WIRE_COLUMN_STATUS; bit <= WIRE_COLUMN_SHAPES; bit <<= 1)
		if (fields & bit)
			at = put_exact(at, rows, count, bit);
	if (fields & WIRE_COLUMN_CONTACTS)
		at = put_contacts(at, rows, count);
	return at;
}

/* The length is known only at the end, so the bytes are written behind space for the longest
 * header, and moved up behind the header that is needed. */
void block_quantised_pack(struct wire_packer *out, wire_mask fields, const struct block_row *rows,
			  uint32_t count)
{
	uint32_t room = out->capacity - out->bytes;
	if (out->status == STATUS_OK && !rows_fit(fields, rows, count, room))
		out->status = STATUS_FULL;
	if (out->status != STATUS_OK)
		return;
	uint8_t *start = out->data + out->bytes + HEADER_MAX;
	uint8_t *end = put_columns(put_runs(start, fields, rows, count), fields, rows, count);
	uint32_t bytes = (uint32_t)(end - start);
	wire_pack_bin_header(out, bytes);
	uint8_t *final = wire_pack_take(out, bytes);
	if (final != NULL)
		memmove(final, start, bytes);
}
