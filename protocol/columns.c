/* See columns.h. One switch over columns.def for each direction: sizes, values, hashes. */
#include "protocol/columns.h"

#include <string.h>

#include "server/base/body_hash.h"
#include "server/base/bytes.h"
#include "server/base/hash.h"

static const struct wire_column_info COLUMNS[WIRE_COLUMN_COUNT] = {
#define COLUMN(bit, NAME, name, bytes, doc) { #name, doc, 1u << (bit), bytes },
#include "protocol/columns.def"
};
#define COLUMN(bit, NAME, name, bytes, doc) | 1u << (bit)
enum {
	EVERY_COLUMN = 0
#include "protocol/columns.def"
};
_Static_assert(EVERY_COLUMN == (int)WIRE_COLUMNS_SERVED, "every column is served");

const struct wire_column_info *wire_column_info(uint32_t index)
{
	ASSERT(index < WIRE_COLUMN_COUNT);
	return &COLUMNS[index];
}

const char *wire_column_retired(uint64_t fields)
{
#define COLUMN_RETIRED(bit, name, doc)                                                             \
	if ((fields >> (bit)) & 1)                                                                 \
		return #name " (bit " #bit "): " doc;
#include "protocol/columns.def"
	return NULL;
}

static uint8_t *put_reals(uint8_t *at, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_le64(at + 8 * i, bits_of_f64(values[i]));
	return at + (size_t)8 * count;
}

/* NULL if a number is not finite. */
static const uint8_t *get_reals(const uint8_t *at, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		values[i] = f64_of_bits(get_le64(at + 8 * i));
		if (!(values[i] - values[i] == 0))
			return NULL;
	}
	return at + (size_t)8 * count;
}

void wire_placement_put(uint8_t at[WIRE_SHAPE_BYTES], const struct wire_placement *placement)
{
	memcpy(at, placement->shape.bytes, 32);
	put_reals(put_reals(at + 32, placement->position, 3), placement->rotation, 4);
}

void wire_placement_get(const uint8_t at[WIRE_SHAPE_BYTES], struct wire_placement *placement)
{
	memcpy(placement->shape.bytes, at, 32);
	for (int i = 0; i < 3; i++)
		placement->position[i] = f64_of_bits(get_le64(at + 32 + 8 * i));
	for (int i = 0; i < 4; i++)
		placement->rotation[i] = f64_of_bits(get_le64(at + 56 + 8 * i));
}

static bool reals_differ(const double *a, const double *b, uint32_t count)
{
	return memcmp(a, b, count * sizeof *a) != 0;
}

wire_mask wire_columns_differ(const struct wire_body *a, const struct wire_body *b)
{
	wire_mask mask = 0;
	if (a->contact_bytes != b->contact_bytes ||
	    (a->contact_bytes > 0 && a->contacts != b->contacts &&
	     memcmp(a->contacts, b->contacts, a->contact_bytes) != 0))
		mask |= WIRE_COLUMN_CONTACTS;
	if (reals_differ(a->position, b->position, 3))
		mask |= WIRE_COLUMN_POSITION;
	if (reals_differ(a->rotation, b->rotation, 4))
		mask |= WIRE_COLUMN_ROTATION;
	if (reals_differ(a->velocity, b->velocity, 3))
		mask |= WIRE_COLUMN_VELOCITY;
	if (reals_differ(a->spin, b->spin, 3))
		mask |= WIRE_COLUMN_SPIN;
	if (a->status != b->status || a->flags != b->flags)
		mask |= WIRE_COLUMN_STATUS;
	if (a->owner != b->owner || a->tag != b->tag)
		mask |= WIRE_COLUMN_OWNER;
	if (a->shape_count != b->shape_count ||
	    (a->shape_count > 0 &&
	     memcmp(a->shapes, b->shapes, (size_t)a->shape_count * WIRE_SHAPE_BYTES) != 0))
		mask |= WIRE_COLUMN_SHAPES;
	return mask;
}

void wire_columns_copy(struct wire_body *to, const struct wire_body *from, wire_mask mask)
{
	if (mask & WIRE_COLUMN_POSITION)
		memcpy(to->position, from->position, sizeof to->position);
	if (mask & WIRE_COLUMN_ROTATION)
		memcpy(to->rotation, from->rotation, sizeof to->rotation);
	if (mask & WIRE_COLUMN_VELOCITY)
		memcpy(to->velocity, from->velocity, sizeof to->velocity);
	if (mask & WIRE_COLUMN_SPIN)
		memcpy(to->spin, from->spin, sizeof to->spin);
	if (mask & WIRE_COLUMN_STATUS) {
		to->status = from->status;
		to->flags = from->flags;
	}
	if (mask & WIRE_COLUMN_OWNER) {
		to->owner = from->owner;
		to->tag = from->tag;
	}
	if (mask & WIRE_COLUMN_SHAPES) {
		to->shapes = from->shapes;
		to->shape_count = from->shape_count;
	}
	if (mask & WIRE_COLUMN_CONTACTS) {
		to->contacts = from->contacts;
		to->contact_bytes = from->contact_bytes;
	}
}

uint32_t wire_columns_bytes(const struct wire_body *body, wire_mask mask)
{
	uint32_t bytes = 0;
#define COLUMN(bit, NAME, name, size, doc) bytes += ((mask >> (bit)) & 1) ? (size) : 0;
#include "protocol/columns.def"
	if (mask & WIRE_COLUMN_SHAPES)
		bytes += (uint32_t)body->shape_count * WIRE_SHAPE_BYTES;
	if ((mask & WIRE_COLUMN_CONTACTS) && body->contact_bytes > 1)
		bytes += body->contact_bytes - 1;
	return bytes;
}

uint8_t *wire_column_put(uint8_t *at, const struct wire_body *body, wire_mask bit)
{
	switch (bit) {
	case WIRE_COLUMN_POSITION:
		return put_reals(at, body->position, 3);
	case WIRE_COLUMN_ROTATION:
		return put_reals(at, body->rotation, 4);
	case WIRE_COLUMN_VELOCITY:
		return put_reals(at, body->velocity, 3);
	case WIRE_COLUMN_SPIN:
		return put_reals(at, body->spin, 3);
	case WIRE_COLUMN_STATUS:
		at[0] = body->status;
		at[1] = body->flags;
		return at + 2;
	case WIRE_COLUMN_OWNER:
		put_le32(at, body->owner);
		put_le64(at + 4, (uint64_t)body->tag);
		return at + 12;
	case WIRE_COLUMN_CONTACTS:
		return wire_touches_copy(
			at, (struct wire_slice){ body->contacts, body->contact_bytes });
	default:
		ASSERT(bit == WIRE_COLUMN_SHAPES && body->shape_count <= WIRE_BODY_SHAPES);
		*at++ = body->shape_count;
		if (body->shape_count > 0)
			memcpy(at, body->shapes, (size_t)body->shape_count * WIRE_SHAPE_BYTES);
		return at + (size_t)body->shape_count * WIRE_SHAPE_BYTES;
	}
}

static const uint8_t *get_shapes(const uint8_t *at, const uint8_t *end, struct wire_body *body)
{
	size_t count = *at++;
	if (count > WIRE_BODY_SHAPES || count * WIRE_SHAPE_BYTES > (size_t)(end - at))
		return NULL;
	for (size_t i = 0; i < count; i++) {
		double numbers[7];
		if (get_reals(at + i * WIRE_SHAPE_BYTES + 32, numbers, 7) == NULL)
			return NULL;
	}
	body->shape_count = (uint8_t)count;
	body->shapes = at;
	return at + count * WIRE_SHAPE_BYTES;
}

const uint8_t *wire_contacts_get(enum wire_profile profile, const uint8_t *at, const uint8_t *end,
				 struct wire_body *body)
{
	const uint8_t *past = wire_touches_pass(profile, at, end);
	body->contacts = at;
	body->contact_bytes = past != NULL && *at != 0 ? (uint32_t)(past - at) : 0;
	return past;
}

const uint8_t *wire_column_get(const uint8_t *at, const uint8_t *end, struct wire_body *body,
			       wire_mask bit)
{
	uint32_t index = (uint32_t)__builtin_ctz(bit);
	index -= index > 7;
	ASSERT(index < WIRE_COLUMN_COUNT);
	if (COLUMNS[index].bytes > end - at)
		return NULL;
	switch (bit) {
	case WIRE_COLUMN_CONTACTS:
		return wire_contacts_get(WIRE_PROFILE_EXACT, at, end, body);
	case WIRE_COLUMN_POSITION:
		return get_reals(at, body->position, 3);
	case WIRE_COLUMN_ROTATION:
		return get_reals(at, body->rotation, 4);
	case WIRE_COLUMN_VELOCITY:
		return get_reals(at, body->velocity, 3);
	case WIRE_COLUMN_SPIN:
		return get_reals(at, body->spin, 3);
	case WIRE_COLUMN_STATUS:
		body->status = at[0];
		body->flags = at[1];
		return at + 2;
	case WIRE_COLUMN_OWNER:
		body->owner = get_le32(at);
		body->tag = (int64_t)get_le64(at + 4);
		return at + 12;
	default:
		return get_shapes(at, end, body);
	}
}

/* The contacts are hashed last and in place, because they are too long for the record. */
uint64_t wire_view_hash(const struct wire_body *body, wire_mask fields)
{
	uint8_t record[4 + 24 + 32 + 24 + 24 + 2 + 12 + 1 + WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	put_le32(record, body->id);
	uint8_t *at = record + 4;
	for (uint32_t i = 0; i < WIRE_COLUMN_COUNT; i++) {
		if (fields & COLUMNS[i].bit & WIRE_COLUMNS_ALL)
			at = wire_column_put(at, body, COLUMNS[i].bit);
	}
	if ((fields & WIRE_COLUMN_CONTACTS) == 0)
		return hash64(record, (size_t)(at - record), 0);
	return wire_touches_hash(record, (size_t)(at - record),
				 (struct wire_slice){ body->contacts, body->contact_bytes });
}

uint64_t wire_tick_hash(const struct wire_body *body)
{
	return body_hash(body->id, body->status, body->position, body->rotation, body->velocity,
			 body->spin);
}
