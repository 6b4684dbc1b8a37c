/* columns.h: a visible body and its columns (columns.def): the neutral form between the engine's
 * view, the encoders (block.h) and a client's mirror.
 */
#ifndef CAIRN_PROTOCOL_COLUMNS_H
#define CAIRN_PROTOCOL_COLUMNS_H

#include "protocol/message.h"

enum wire_column {
#define COLUMN(bit, NAME, name, bytes, doc) WIRE_COLUMN_##NAME = 1u << (bit),
#include "protocol/columns.def"
};
enum {
	WIRE_COLUMN_COUNT = 7,
	WIRE_COLUMNS_ALL = 0x7F,
	/* What the tick hash is made of; a whole-world subscription with these can check it. */
	WIRE_COLUMNS_TICK = WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_VELOCITY |
			    WIRE_COLUMN_SPIN | WIRE_COLUMN_STATUS,
	WIRE_SHAPE_BYTES = 32 + 7 * 8,
};

/* wire_body.flags */
enum wire_body_flags {
	WIRE_BODY_ASLEEP = 1,
	WIRE_BODY_QUARANTINED = 2,
};

struct wire_body {
	uint32_t id;
	uint8_t status; /* enum body_status of the engine */
	uint8_t flags;
	uint8_t shape_count;   /* ≤ WIRE_BODY_SHAPES */
	const uint8_t *shapes; /* shape_count × WIRE_SHAPE_BYTES as in columns.def (borrowed) */
	uint32_t owner;
	int64_t tag;
	double position[3]; /* m */
	double rotation[4]; /* w first */
	double velocity[3]; /* m/s */
	double spin[3];     /* rad/s */
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
	uint8_t bit;   /* the mask */
	uint8_t bytes; /* of one value; SHAPES: without its shapes */
};
/* i < WIRE_COLUMN_COUNT, in the order of bits. */
const struct wire_column_info *wire_column_info(uint32_t index);

/* The name of the lowest column of a later version in `fields`, NULL when there is none. */
const char *wire_column_later(uint64_t fields);

/* Columns in which two bodies differ, bit by bit (−0 is not 0). */
uint8_t wire_columns_differ(const struct wire_body *a, const struct wire_body *b);
/* Copies the columns of `mask` from one body to another; the shapes stay borrowed. */
void wire_columns_copy(struct wire_body *to, const struct wire_body *from, uint8_t mask);

/* Bytes of the columns of `mask` in profile `exact`. */
uint32_t wire_columns_bytes(const struct wire_body *body, uint8_t mask);
/* Writes one column (a single bit) in profile `exact`, little-endian; returns its end. */
uint8_t *wire_column_put(uint8_t *at, const struct wire_body *body, uint8_t bit);
/* Reads one column from `at` … `end`; returns its end, NULL when it is cut short, holds a number
 * that is not finite, or too many shapes. Shapes are borrowed from `at`. */
const uint8_t *wire_column_get(const uint8_t *at, const uint8_t *end, struct wire_body *body,
			       uint8_t bit);

/* A body's share of a view hash: XXH3-64 (seed 0) of u32 id and the columns of `fields` in profile
 * `exact`. The sum over all bodies is finished by body_hash_finish (server/base/body_hash.h). */
uint64_t wire_view_hash(const struct wire_body *body, uint8_t fields);
/* A body's share of the tick hash. */
uint64_t wire_tick_hash(const struct wire_body *body);

#endif
