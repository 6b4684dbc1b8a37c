/* columns.h: a visible body and its columns (columns.def): the neutral form between the engine's
 * view, the encoders (block.h) and a client's mirror.
 */
#ifndef CAIRN_PROTOCOL_COLUMNS_H
#define CAIRN_PROTOCOL_COLUMNS_H

#include "protocol/contacts.h"
#include "protocol/message.h"

/* A set of columns. */
typedef uint16_t wire_mask;

enum wire_column {
#define COLUMN(bit, NAME, name, bytes, doc) WIRE_COLUMN_##NAME = 1u << (bit),
#include "protocol/columns.def"
};
enum {
	WIRE_COLUMN_COUNT = 8,
	/* All columns but contacts. Contacts are requested separately: they are large, and older
	 * servers refuse them. */
	WIRE_COLUMNS_ALL = 0x7F,
	WIRE_COLUMNS_SERVED = WIRE_COLUMNS_ALL | WIRE_COLUMN_CONTACTS,
	/* The columns of the tick hash; a whole-world subscription with them can check the hash. */
	WIRE_COLUMNS_TICK = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_VELOCITY |
			    WIRE_COLUMN_SPIN | WIRE_COLUMN_STATUS,
	WIRE_SHAPE_BYTES = 32 + 7 * 8,
};

/* wire_body.flags */
enum wire_body_flags {
	WIRE_BODY_ASLEEP = 1,
	WIRE_BODY_QUARANTINED = 2,
	WIRE_BODY_FAST = 4,   /* it does not pass through dynamic bodies either */
	WIRE_BODY_SENSOR = 8, /* it has no contacts and tells which bodies it overlaps */
};

static inline uint8_t wire_body_flags(bool asleep, bool quarantined, bool fast, bool sensor)
{
	return (uint8_t)((asleep ? WIRE_BODY_ASLEEP : 0) |
			 (quarantined ? WIRE_BODY_QUARANTINED : 0) | (fast ? WIRE_BODY_FAST : 0) |
			 (sensor ? WIRE_BODY_SENSOR : 0));
}

struct wire_body {
	uint32_t id;
	uint8_t status; /* enum body_status of the engine */
	uint8_t flags;
	uint8_t shape_count;   /* ≤ WIRE_BODY_SHAPES */
	const uint8_t *shapes; /* shape_count × WIRE_SHAPE_BYTES as in columns.def (borrowed) */
	/* The column in the encoding of the profile (contacts.h; `plain` as `exact`), borrowed;
	 * none: 0 bytes. */
	const uint8_t *contacts;
	uint32_t contact_bytes;
	uint32_t owner;
	int64_t tag;
	double position[3]; /* m */
	double rotation[4]; /* w first */
	double velocity[3]; /* m/s */
	double spin[3];	    /* rad/s */
};

struct wire_placement {
	struct wire_name shape;
	double position[3]; /* m, body axes */
	double rotation[4]; /* shape axes to body axes, w first */
};
void wire_placement_put(uint8_t at[WIRE_SHAPE_BYTES], const struct wire_placement *placement);
void wire_placement_get(const uint8_t at[WIRE_SHAPE_BYTES], struct wire_placement *placement);

struct wire_column_info {
	const char *name;
	const char *doc;
	wire_mask bit;
	uint8_t bytes; /* of one value; SHAPES and CONTACTS: at least */
};
/* i < WIRE_COLUMN_COUNT, in the order of bits. */
const struct wire_column_info *wire_column_info(uint32_t index);

/* The bit of column i; 7 is no column's. */
static inline wire_mask wire_column_bit(uint32_t index)
{
	return (wire_mask)(1u << (index + (index >= 7)));
}

/* A mask on the wire: one byte, or two where there are bits from 8 on. */
static inline uint32_t wire_mask_bytes(wire_mask mask)
{
	return mask >> 8 != 0 ? 2 : 1;
}
static inline uint8_t *wire_mask_put(uint8_t *at, wire_mask mask)
{
	*at++ = (uint8_t)((mask & 0x7F) | (mask >> 8 != 0) << 7);
	if (mask >> 8 != 0)
		*at++ = (uint8_t)(mask >> 8);
	return at;
}
/* The end of the mask; NULL if it is truncated or its second byte is 0. */
static inline const uint8_t *wire_mask_get(const uint8_t *at, const uint8_t *end, wire_mask *mask)
{
	if (at == end)
		return NULL;
	*mask = *at & 0x7F;
	if ((*at++ & 0x80) == 0)
		return at;
	if (at == end || *at == 0)
		return NULL;
	*mask |= (wire_mask)(*at++ << 8);
	return at;
}

/* Visible kinds; numbers are permanent. */
enum wire_visible {
#define KIND(number, NAME, name, layout, doc) WIRE_VISIBLE_##NAME = (number),
#include "protocol/columns.def"
};

/* The text about the first retired column in `fields`, with its replacement; NULL if none is retired. */
const char *wire_column_retired(uint64_t fields);

/* Columns in which two bodies differ, bit by bit (−0 is not 0). */
wire_mask wire_columns_differ(const struct wire_body *a, const struct wire_body *b);
/* Copies the columns of `mask` from one body to another; shapes and contacts stay borrowed. */
void wire_columns_copy(struct wire_body *to, const struct wire_body *from, wire_mask mask);

/* Bytes of the columns of `mask` in profile `exact`. */
uint32_t wire_columns_bytes(const struct wire_body *body, wire_mask mask);
/* Writes one column (a single bit) in profile `exact`, little-endian; returns its end. */
uint8_t *wire_column_put(uint8_t *at, const struct wire_body *body, wire_mask bit);
/* Reads one column from `at` … `end`; returns its end, NULL if it is truncated, holds a number
 * that is not finite, or has too many shapes or contacts. Shapes and contacts are borrowed from `at`. */
const uint8_t *wire_column_get(const uint8_t *at, const uint8_t *end, struct wire_body *body,
			       wire_mask bit);

/* Reads contacts in any profile but `plain`, likewise. */
const uint8_t *wire_contacts_get(enum wire_profile profile, const uint8_t *at, const uint8_t *end,
				 struct wire_body *body);

/* A body's share of a view hash: XXH3-64 (seed 0) of u32 id and the columns of `fields` in profile
 * `exact`. The sum over all bodies is finished by body_hash_finish (server/base/body_hash.h). */
uint64_t wire_view_hash(const struct wire_body *body, wire_mask fields);
/* A body's share of the tick hash. */
uint64_t wire_tick_hash(const struct wire_body *body);

#endif
