/* See joint_rows.h. A column is a span of struct wire_joint, so packing and comparing share one
 * table. */
#include "protocol/joint_rows.h"

#include <float.h>
#include <string.h>

#include "protocol/pack.h"
#include "protocol/varint.h"
#include "server/base/bytes.h"
#include "server/base/hash.h"

/* ---- columns ------------------------------------------------------------------------------------ */

struct column {
	const char *name, *doc;
	uint32_t bytes;
	uint32_t items; /* of a `plain` row */
};
enum {
	ITEMS_BODIES = 4,
	ITEMS_FRAMES = 14,
	ITEMS_COORDINATES = 6,
	ITEMS_FORCE = 6,
	ITEMS_OWNER = 2,
	ITEMS_BREAK = 2,
};
static const struct column COLUMNS[WIRE_JOINT_COLUMN_COUNT] = {
#define JOINT_COLUMN(bit, NAME, name, bytes, doc) { #name, doc, bytes, ITEMS_##NAME },
#include "protocol/columns.def"
};

/* Columns of real numbers only; the quantised profiles send them in half as many bytes. */
static const wire_mask REALS =
	WIRE_JOINT_FRAMES | WIRE_JOINT_COORDINATES | WIRE_JOINT_FORCE | WIRE_JOINT_BREAK;
/* id and every column */
enum { RECORD_MAX = 4 + 10 + 112 + 48 + 48 + 12 + 16 };

const char *wire_joint_column_name(uint32_t bit)
{
	ASSERT(bit < WIRE_JOINT_COLUMN_COUNT);
	return COLUMNS[bit].name;
}

const char *wire_joint_column_doc(uint32_t bit)
{
	ASSERT(bit < WIRE_JOINT_COLUMN_COUNT);
	return COLUMNS[bit].doc;
}

static uint32_t column_bytes(enum wire_profile profile, uint32_t column)
{
	bool narrow = wire_profile_quantised(profile) && (REALS >> column & 1);
	return narrow ? COLUMNS[column].bytes / 2 : COLUMNS[column].bytes;
}

uint32_t wire_joint_bytes(enum wire_profile profile, wire_mask mask)
{
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		bytes += mask >> i & 1 ? column_bytes(profile, i) : 0;
	return bytes;
}

/* The real numbers of a column, as they follow each other. */
struct spans {
	struct {
		size_t offset; /* in struct wire_joint */
		uint32_t count;
	} items[4];
	uint32_t count;
};
#define SPAN(member)                                                                               \
	{                                                                                          \
		offsetof(struct wire_joint, member),                                               \
			sizeof((struct wire_joint *)NULL)->member / sizeof(double)                 \
	}

static const struct spans *spans_of(wire_mask bit)
{
	static const struct spans frames = {
		{ SPAN(point_a), SPAN(frame_a), SPAN(point_b), SPAN(frame_b) }, 4
	};
	static const struct spans coordinates = { { SPAN(coordinates) }, 1 };
	static const struct spans force = { { SPAN(force), SPAN(torque) }, 2 };
	static const struct spans breaks = { { SPAN(breaks) }, 1 };
	switch (bit) {
	case WIRE_JOINT_FRAMES:
		return &frames;
	case WIRE_JOINT_COORDINATES:
		return &coordinates;
	case WIRE_JOINT_FORCE:
		return &force;
	default:
		ASSERT(bit == WIRE_JOINT_BREAK);
		return &breaks;
	}
}

static double *span_of(struct wire_joint *joint, const struct spans *spans, uint32_t i)
{
	return (double *)(void *)((uint8_t *)joint + spans->items[i].offset);
}

static const double *const_span_of(const struct wire_joint *joint, const struct spans *spans,
				   uint32_t i)
{
	return (const double *)(const void *)((const uint8_t *)joint + spans->items[i].offset);
}

static bool reals_differ(const struct wire_joint *a, const struct wire_joint *b, wire_mask bit)
{
	const struct spans *spans = spans_of(bit);
	for (uint32_t i = 0; i < spans->count; i++)
		if (memcmp(const_span_of(a, spans, i), const_span_of(b, spans, i),
			   spans->items[i].count * sizeof(double)) != 0)
			return true;
	return false;
}

wire_mask wire_joint_differs(const struct wire_joint *a, const struct wire_joint *b)
{
	wire_mask mask = 0;
	if (a->type != b->type || a->flags != b->flags || a->a != b->a || a->b != b->b)
		mask |= WIRE_JOINT_BODIES;
	if (a->owner != b->owner || a->tag != b->tag)
		mask |= WIRE_JOINT_OWNER;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		if ((REALS >> i & 1) && reals_differ(a, b, (wire_mask)(1u << i)))
			mask |= (wire_mask)(1u << i);
	return mask;
}

void wire_joint_copy(struct wire_joint *to, const struct wire_joint *from, wire_mask mask)
{
	if (mask & WIRE_JOINT_BODIES) {
		to->type = from->type;
		to->flags = from->flags;
		to->a = from->a;
		to->b = from->b;
	}
	if (mask & WIRE_JOINT_OWNER) {
		to->owner = from->owner;
		to->tag = from->tag;
	}
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++) {
		if (((REALS & mask) >> i & 1) == 0)
			continue;
		const struct spans *spans = spans_of((wire_mask)(1u << i));
		for (uint32_t k = 0; k < spans->count; k++)
			memcpy(span_of(to, spans, k), const_span_of(from, spans, k),
			       spans->items[k].count * sizeof(double));
	}
}

static float narrowed(double value)
{
	if (value > (double)FLT_MAX || value < -(double)FLT_MAX)
		return value > 0 ? FLT_MAX : -FLT_MAX;
	return (float)value;
}

void wire_joint_show(enum wire_profile profile, struct wire_joint *joint)
{
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT && wire_profile_quantised(profile); i++) {
		if ((REALS >> i & 1) == 0)
			continue;
		const struct spans *spans = spans_of((wire_mask)(1u << i));
		for (uint32_t k = 0; k < spans->count; k++)
			for (uint32_t n = 0; n < spans->items[k].count; n++) {
				double *value = &span_of(joint, spans, k)[n];
				*value = (double)narrowed(*value);
			}
	}
}

static uint8_t *put_reals(uint8_t *at, const struct wire_joint *joint, wire_mask bit, bool narrow)
{
	const struct spans *spans = spans_of(bit);
	for (uint32_t i = 0; i < spans->count; i++) {
		const double *values = const_span_of(joint, spans, i);
		for (uint32_t k = 0; k < spans->items[i].count; k++) {
			if (narrow)
				put_le32(at, bits_of_f32(narrowed(values[k])));
			else
				put_le64(at, bits_of_f64(values[k]));
			at += narrow ? 4 : 8;
		}
	}
	return at;
}

static uint8_t *put_column(enum wire_profile profile, uint8_t *at, const struct wire_joint *joint,
			   wire_mask bit)
{
	switch (bit) {
	case WIRE_JOINT_BODIES:
		at[0] = joint->type;
		at[1] = joint->flags;
		put_le32(at + 2, joint->a);
		put_le32(at + 6, joint->b);
		return at + 10;
	case WIRE_JOINT_OWNER:
		put_le32(at, joint->owner);
		put_le64(at + 4, (uint64_t)joint->tag);
		return at + 12;
	default:
		return put_reals(at, joint, bit, wire_profile_quantised(profile));
	}
}

/* Reads the columns of reals that `bit` names. False if a number is not finite. The caller has checked
 * that enough bytes are left. */
static bool get_reals(const uint8_t *at, struct wire_joint *joint, wire_mask bit, bool narrow)
{
	const struct spans *spans = spans_of(bit);
	for (uint32_t i = 0; i < spans->count; i++) {
		double *values = span_of(joint, spans, i);
		for (uint32_t k = 0; k < spans->items[i].count; k++, at += narrow ? 4 : 8) {
			values[k] = narrow ? (double)f32_of_bits(get_le32(at))
					   : f64_of_bits(get_le64(at));
			if (!(values[k] - values[k] == 0))
				return false;
		}
	}
	return true;
}

static bool get_column(enum wire_profile profile, const uint8_t *at, struct wire_joint *joint,
		       wire_mask bit)
{
	switch (bit) {
	case WIRE_JOINT_BODIES:
		joint->type = at[0];
		joint->flags = at[1];
		joint->a = get_le32(at + 2);
		joint->b = get_le32(at + 6);
		return true;
	case WIRE_JOINT_OWNER:
		joint->owner = get_le32(at);
		joint->tag = (int64_t)get_le64(at + 4);
		return true;
	default:
		return get_reals(at, joint, bit, wire_profile_quantised(profile));
	}
}

uint64_t wire_joint_hash(enum wire_profile profile, const struct wire_joint *joint, wire_mask mask)
{
	uint8_t record[RECORD_MAX];
	uint8_t *at = record + 4;
	put_le32(record, joint->id);
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		if (mask >> i & 1)
			at = put_column(profile, at, joint, (wire_mask)(1u << i));
	return hash64(record, (size_t)(at - record), 0);
}

/* ---- packing ------------------------------------------------------------------------------------ */

static uint32_t plain_items(wire_mask columns)
{
	uint32_t items = 1;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		items += columns >> i & 1 ? COLUMNS[i].items : 0;
	return items;
}

static void pack_plain_row(struct wire_packer *out, wire_mask columns,
			   const struct wire_joint *joint)
{
	wire_pack_array(out, plain_items(columns));
	wire_pack_uint(out, joint->id);
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++) {
		wire_mask bit = columns & (wire_mask)(1u << i);
		if (bit == WIRE_JOINT_BODIES) {
			wire_pack_uint(out, joint->type);
			wire_pack_uint(out, joint->flags);
			wire_pack_uint(out, joint->a);
			wire_pack_uint(out, joint->b);
		} else if (bit == WIRE_JOINT_OWNER) {
			wire_pack_uint(out, joint->owner);
			wire_pack_int(out, joint->tag);
		} else if (bit != 0) {
			const struct spans *spans = spans_of(bit);
			for (uint32_t k = 0; k < spans->count; k++)
				for (uint32_t n = 0; n < spans->items[k].count; n++)
					wire_pack_real(out, const_span_of(joint, spans, k)[n]);
		}
	}
}

static void pack_bin(struct wire_packer *out, enum wire_profile profile, wire_mask columns,
		     const struct joint_row *rows, uint32_t count)
{
	uint32_t bytes = varint_bytes(count), before = 0;
	for (uint32_t i = 0; i < count; before = rows[i++].joint->id) {
		wire_mask mask = rows[i].mask & columns;
		ASSERT(mask != 0 && rows[i].joint->id > before);
		bytes += varint_bytes(rows[i].joint->id - before - 1) + wire_mask_bytes(mask) +
			 wire_joint_bytes(profile, mask);
	}
	wire_pack_bin_header(out, bytes);
	uint8_t *start = wire_pack_take(out, bytes);
	if (start == NULL)
		return;
	uint8_t *at = varint_put(start, count);
	before = 0;
	for (uint32_t i = 0; i < count; before = rows[i++].joint->id)
		at = varint_put(at, rows[i].joint->id - before - 1);
	for (uint32_t i = 0; i < count; i++)
		at = wire_mask_put(at, rows[i].mask & columns);
	for (uint32_t column = 0; column < WIRE_JOINT_COLUMN_COUNT; column++) {
		wire_mask bit = columns & (wire_mask)(1u << column);
		for (uint32_t i = 0; i < count && bit != 0; i++)
			if (rows[i].mask & bit)
				at = put_column(profile, at, rows[i].joint, bit);
	}
	ASSERT(at == start + bytes);
}

void joint_rows_pack(struct wire_packer *out, enum wire_profile profile, wire_mask columns,
		     const struct joint_row *rows, uint32_t count)
{
	if (profile != WIRE_PROFILE_PLAIN) {
		pack_bin(out, profile, columns, rows, count);
		return;
	}
	wire_pack_array(out, count);
	for (uint32_t i = 0; i < count; i++)
		pack_plain_row(out, columns, rows[i].joint);
}

/* Upper bound of the bytes that a row adds to its part. */
static uint32_t row_bytes(const struct joint_frame *frame, const struct joint_row *row)
{
	/* No number takes more than nine bytes. */
	if (frame->profile == WIRE_PROFILE_PLAIN)
		return 3 + 9 * plain_items(frame->columns);
	wire_mask mask = row->mask & frame->columns;
	return VARINT_32_MAX + 2 + wire_joint_bytes(frame->profile, mask);
}

/* Bytes of a part without its ids and rows: head, six integers, two headers, hash, flags, edit. */
enum { FIXED_BYTES_MAX = WIRE_HEAD_MAX + 6 * 9 + 2 * BLOCK_HEADER_BYTES_MAX + 10 + 2 + 5 };

enum status joint_rows_plan(const struct joint_frame *frame, uint32_t content_max,
			    struct delta_part *parts, uint32_t capacity, uint32_t *count)
{
	ASSERT(content_max >= WIRE_FRAME_MIN && content_max <= WIRE_FRAME_DOWN);
	uint32_t room = content_max - FIXED_BYTES_MAX, removed = 0, row = 0;
	*count = 0;
	do {
		if (*count == capacity || *count == WIRE_PARTS_MAX)
			return STATUS_FULL;
		struct delta_part *part = &parts[(*count)++];
		uint32_t used = 0, bytes;
		*part = (struct delta_part){ .removed_first = removed, .row_first = row };
		for (; removed < frame->removed_count && used + BLOCK_ID_BYTES_MAX <= room;
		     removed++)
			used += BLOCK_ID_BYTES_MAX;
		for (; removed == frame->removed_count && row < frame->row_count; row++) {
			bytes = row_bytes(frame, &frame->rows[row]);
			if (bytes > room - used)
				break;
			used += bytes;
		}
		part->removed_count = removed - part->removed_first;
		part->row_count = row - part->row_first;
	} while (removed < frame->removed_count || row < frame->row_count);
	return STATUS_OK;
}

enum status joint_rows_pack_tail(const struct joint_frame *frame, const struct delta_part *parts,
				 uint32_t count, uint32_t index, uint8_t *data, uint32_t capacity,
				 uint32_t *bytes)
{
	ASSERT(index < count);
	const struct delta_part *part = &parts[index];
	const uint32_t *removed =
		part->removed_count > 0 ? frame->removed + part->removed_first : NULL;
	const struct joint_row *rows = part->row_count > 0 ? frame->rows + part->row_first : NULL;
	struct wire_packer out = wire_packer_over(data, capacity);
	/* The fields of messages.def in their order; a test reads them back with message_unpack. */
	wire_pack_uint(&out, frame->epoch);
	wire_pack_uint(&out, frame->tick);
	wire_pack_uint(&out, WIRE_VISIBLE_JOINT);
	wire_pack_uint(&out, index);
	wire_pack_uint(&out, count);
	block_pack_ids(&out, frame->profile, removed, part->removed_count);
	joint_rows_pack(&out, frame->profile, frame->columns, rows, part->row_count);
	if (index + 1 == count && frame->hash.set)
		wire_pack_hash(&out, frame->hash.value);
	else
		wire_pack_nil(&out);
	wire_pack_uint(&out, frame->flags);
	wire_pack_uint(&out, frame->edit);
	*bytes = out.bytes;
	return out.status;
}

/* ---- reading ------------------------------------------------------------------------------------ */

/* Finds the start of each column in one pass over ids and masks; all columns must end exactly at
 * the end. */
static enum status open_bin(struct joint_reader *self, struct wire_cursor *in)
{
	struct wire_slice bin;
	if (wire_take_bin(in, &bin) != STATUS_OK || !wire_at_end(in))
		return STATUS_MALFORMED;
	self->end = bin.at + bin.bytes;
	self->ids = varint_get(bin.at, self->end, &self->left);
	/* Every row has an id and a mask. */
	if (self->ids == NULL || self->left > (size_t)(self->end - self->ids) / 2)
		return STATUS_MALFORMED;
	const uint8_t *at = self->ids;
	uint32_t id = 0;
	for (uint32_t i = 0; i < self->left && at != NULL; i++)
		at = varint_get_id(at, self->end, id, &id);
	self->masks = at;
	uint32_t rows[WIRE_JOINT_COLUMN_COUNT] = { 0 };
	for (uint32_t i = 0; i < self->left && at != NULL; i++) {
		wire_mask mask = 0;
		at = wire_mask_get(at, self->end, &mask);
		if (mask == 0 || (mask & ~self->columns) != 0)
			return STATUS_MALFORMED;
		for (uint32_t column = 0; column < WIRE_JOINT_COLUMN_COUNT; column++)
			rows[column] += mask >> column & 1;
	}
	for (uint32_t column = 0; column < WIRE_JOINT_COLUMN_COUNT && at != NULL; column++) {
		uint64_t bytes = (uint64_t)rows[column] * column_bytes(self->profile, column);
		self->at[column] = at;
		at = bytes > (size_t)(self->end - at) ? NULL : at + bytes;
	}
	return at == self->end ? STATUS_OK : STATUS_MALFORMED;
}

enum status joint_rows_open(struct joint_reader *self, enum wire_profile profile, wire_mask columns,
			    struct wire_slice value)
{
	self->profile = profile;
	self->columns = columns & WIRE_JOINT_COLUMNS_ALL;
	self->left = self->id = 0;
	struct wire_cursor in = wire_cursor_of(value);
	if (profile != WIRE_PROFILE_PLAIN)
		return open_bin(self, &in);
	struct wire_list list;
	if (wire_take_list(&in, &list) != STATUS_OK || !wire_at_end(&in))
		return STATUS_MALFORMED;
	self->left = list.count;
	self->rows = wire_cursor_list(&list);
	return STATUS_OK;
}

static enum status next_in_bin(struct joint_reader *self, struct wire_joint *joint, wire_mask *mask)
{
	self->ids = varint_get_id(self->ids, self->end, self->id, &self->id);
	self->masks = wire_mask_get(self->masks, self->end, mask);
	ASSERT(self->ids != NULL && self->masks != NULL); /* checked by open_bin */
	joint->id = self->id;
	for (uint32_t column = 0; column < WIRE_JOINT_COLUMN_COUNT; column++) {
		if ((*mask >> column & 1) == 0)
			continue;
		if (!get_column(self->profile, self->at[column], joint, (wire_mask)(1u << column)))
			return STATUS_MALFORMED;
		self->at[column] += column_bytes(self->profile, column);
	}
	return STATUS_OK;
}

static bool take_uint(struct wire_cursor *in, uint64_t max, uint64_t *value)
{
	return wire_take_uint(in, max, value) == STATUS_OK;
}

static bool take_column(struct wire_cursor *in, struct wire_joint *joint, wire_mask bit)
{
	uint64_t type, flags, a, b, owner;
	if (bit == WIRE_JOINT_BODIES) {
		if (!take_uint(in, UINT8_MAX, &type) || !take_uint(in, UINT8_MAX, &flags) ||
		    !take_uint(in, UINT32_MAX, &a) || !take_uint(in, UINT32_MAX, &b))
			return false;
		joint->type = (uint8_t)type;
		joint->flags = (uint8_t)flags;
		joint->a = (uint32_t)a;
		joint->b = (uint32_t)b;
		return true;
	}
	if (bit == WIRE_JOINT_OWNER) {
		if (!take_uint(in, UINT32_MAX, &owner) ||
		    wire_take_int(in, &joint->tag) != STATUS_OK)
			return false;
		joint->owner = (uint32_t)owner;
		return true;
	}
	const struct spans *spans = spans_of(bit);
	for (uint32_t i = 0; i < spans->count; i++)
		if (wire_take_reals(in, span_of(joint, spans, i), spans->items[i].count) !=
		    STATUS_OK)
			return false;
	return true;
}

static enum status next_plain(struct joint_reader *self, struct wire_joint *joint, wire_mask *mask)
{
	struct wire_cursor *in = &self->rows;
	uint32_t items, known = plain_items(self->columns);
	uint64_t id;
	if (wire_take_array(in, &items) != STATUS_OK || items < known ||
	    !take_uint(in, UINT32_MAX, &id) || id <= self->id)
		return STATUS_MALFORMED;
	joint->id = self->id = (uint32_t)id;
	for (uint32_t column = 0; column < WIRE_JOINT_COLUMN_COUNT; column++)
		if ((self->columns >> column & 1) &&
		    !take_column(in, joint, (wire_mask)(1u << column)))
			return STATUS_MALFORMED;
	*mask = self->columns;
	return wire_skip_many(in, items - known);
}

enum status joint_rows_next(struct joint_reader *self, struct wire_joint *joint, wire_mask *mask)
{
	if (self->left == 0)
		return STATUS_MISSING;
	self->left--;
	return self->profile == WIRE_PROFILE_PLAIN ? next_plain(self, joint, mask)
						   : next_in_bin(self, joint, mask);
}
