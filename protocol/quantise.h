/* quantise.h: poses and velocities as integers, for the profiles `view` and `sim`.
 *
 *	                 view               sim
 *	position         1/512 m            1/4096 m          q = round(512 x)
 *	rotation         255                16383             largest component left out, see below
 *	velocity, spin   1/128 m/s, rad/s   1/1024 m/s, rad/s
 *
 * round() takes the nearest integer, halves away from zero, so the error is at most half a step. Values
 * beyond WIRE_QUANTISED_… are limited to it (world coordinates and speeds are far smaller). A rotation
 * (w x y z) is normalised, and negated if its largest component (the first of equal ones) is negative.
 * That component is left out; the other three, in their order, are within ±√½ and become integers
 * within ±N (255 or 16383):
 *
 *	q_i = round(c_i · N / √½)        c_i = q_i · (√½ / N), the one left out √(1 − Σ c_i²)
 *
 * With Δ = ½ √½ / N the left-out one errs by at most 3 Δ, so the rotation by at most 2 √12 Δ:
 * 0.0097 rad in `view`, 0.00015 rad in `sim`.
 *
 * The wire carries a *change*: integer differences to the values before, or to zero if there are none
 * (a created body, an absolute frame). All other columns of a body are exact in these profiles too.
 * Quantised values are for display; the engine never reads them back.
 */
#ifndef CAIRN_PROTOCOL_QUANTISE_H
#define CAIRN_PROTOCOL_QUANTISE_H

#include "protocol/columns.h"
#include "protocol/scale.h"
#include "protocol/varint.h"

/* Columns that are integers in these profiles. */
#define WIRE_COLUMNS_QUANTISED                                                                     \
	(WIRE_COLUMN_POSITION | WIRE_COLUMN_ROTATION | WIRE_COLUMN_VELOCITY | WIRE_COLUMN_SPIN)
struct wire_quantised {
	int64_t position[3];
	int32_t velocity[3];
	int32_t spin[3];
	int16_t rotation[3]; /* without the largest */
	uint8_t largest;     /* the component left out: 0 w, 1 x, 2 y, 3 z */
};

/* `profile` is VIEW or SIM, here and below. Numbers that are not finite and rotations of length 0 become
 * values in range. */
void wire_quantise(enum wire_profile profile, const struct wire_body *body,
		   struct wire_quantised *out);
/* Writes the columns of `mask` into the body as doubles. */
void wire_dequantise(enum wire_profile profile, const struct wire_quantised *from, wire_mask mask,
		     struct wire_body *body);
/* Quantised columns in which two differ. */
wire_mask wire_quantised_differ(const struct wire_quantised *a, const struct wire_quantised *b);
/* Copies the columns of `mask`. */
void wire_quantised_copy(struct wire_quantised *to, const struct wire_quantised *from,
			 wire_mask mask);

/* A body's term of a view hash: as wire_view_hash, with quantised columns as 3 × i64 position, u8 largest and
 * 3 × i16 rotation, 3 × i32 velocity, 3 × i32 spin; contacts in the encoding of the profile. */
uint64_t wire_quantised_hash(const struct wire_body *body, const struct wire_quantised *values,
			     struct wire_slice contacts, wire_mask fields);

/* ---- changes ------------------------------------------------------------------------------- */

struct wire_change {
	int64_t position[3];
	int64_t velocity[3];
	int64_t spin[3];
	int32_t rotation[3];
	bool turned;	 /* another component is left out than before: rotation holds values */
	uint8_t largest; /* if turned: the component left out */
};

/* Upper bounds of the bytes of one column's change. */
enum {
	WIRE_CHANGE_POSITION_MAX = 3 * 6,
	WIRE_CHANGE_ROTATION_MAX = 1 + 3 * 3,
	WIRE_CHANGE_SPEED_MAX = 3 * 5,
};
/* The exact number of bytes. `bit` is a single column, here and below. */
uint32_t wire_change_bytes(const struct wire_quantised *from, const struct wire_quantised *to,
			   wire_mask bit);
/* Writes one column's change; returns its end. It may overwrite one byte beyond the end. */
static inline uint8_t *wire_change_put(uint8_t *at, const struct wire_quantised *from,
				       const struct wire_quantised *to, wire_mask bit);
/* Reads one column's change; NULL if it is truncated or a number is too long. */
const uint8_t *wire_change_get(const uint8_t *at, const uint8_t *end, struct wire_change *change,
			       wire_mask bit);
/* Applies the columns of `mask` to `values`. False if a result is out of range; `values` is then
 * undefined. */
MUST_CHECK bool wire_change_apply(enum wire_profile profile, const struct wire_change *change,
				  wire_mask mask, struct wire_quantised *values);

/* ---- in line, for the loops that pack a thousand bodies -------------------------------------- */

/* Always inlined: with a constant `bit` the compiler removes the branches on it. */
#define WIRE_INLINE static inline __attribute__((always_inline))

WIRE_INLINE uint64_t wire_change_number(const struct wire_quantised *from,
					const struct wire_quantised *to, wire_mask bit, uint32_t i)
{
	switch (bit) {
	case WIRE_COLUMN_POSITION:
		return zigzag(to->position[i] - from->position[i]);
	case WIRE_COLUMN_ROTATION:
		return zigzag((int64_t)to->rotation[i] - from->rotation[i]);
	case WIRE_COLUMN_VELOCITY:
		return zigzag((int64_t)to->velocity[i] - from->velocity[i]);
	default:
		return zigzag((int64_t)to->spin[i] - from->spin[i]);
	}
}

/* The numbers to write for a column: three, or four for a rotation with another component left out. */
WIRE_INLINE uint32_t wire_change_numbers(const struct wire_quantised *from,
					 const struct wire_quantised *to, wire_mask bit,
					 uint64_t numbers[4])
{
	if (bit == WIRE_COLUMN_ROTATION && to->largest != from->largest) {
		numbers[0] = (uint64_t)to->largest << 1 | 1;
		numbers[1] = zigzag(to->rotation[0]);
		numbers[2] = zigzag(to->rotation[1]);
		numbers[3] = zigzag(to->rotation[2]);
		return 4;
	}
	/* The lowest bit of a rotation's first number is 1 if another component is left out. */
	numbers[0] = wire_change_number(from, to, bit, 0) << (bit == WIRE_COLUMN_ROTATION);
	numbers[1] = wire_change_number(from, to, bit, 1);
	numbers[2] = wire_change_number(from, to, bit, 2);
	return 3;
}

/* Writes one or two bytes without a branch, which would be mispredicted: the second byte is always
 * written. */
WIRE_INLINE uint8_t *wire_change_put_short(uint8_t *at, uint64_t number)
{
	uint32_t longer = number >= 0x80;
	at[0] = (uint8_t)(number | longer << 7);
	at[1] = (uint8_t)(number >> 7);
	return at + 1 + longer;
}

WIRE_INLINE uint8_t *wire_change_put(uint8_t *at, const struct wire_quantised *from,
				     const struct wire_quantised *to, wire_mask bit)
{
	uint64_t numbers[4];
	uint32_t count = wire_change_numbers(from, to, bit, numbers);
	if (count == 3 && (numbers[0] | numbers[1] | numbers[2]) < 1u << 14) {
		at = wire_change_put_short(at, numbers[0]);
		at = wire_change_put_short(at, numbers[1]);
		return wire_change_put_short(at, numbers[2]);
	}
	for (uint32_t i = 0; i < count; i++)
		at = varint_put(at, numbers[i]);
	return at;
}

#endif
