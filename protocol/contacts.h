/* contacts.h: the column `contacts`: the contact points of a body and their impulses.
 *
 * Every contact point belongs to one body, its *holder*: the dynamic body of the two, or of two dynamic
 * bodies the one made last. (A body on a vehicle or a platform is usually made after it, so no body
 * holds hundreds of points, and the ground never holds any.) Normals point to the holder and impulses
 * act on it: over a tick it receives Σ impulse · normal + Σ friction. Points are ordered by
 * (other, child, other_child, number in the manifold). The friction of a manifold is that of its first
 * point; its other points have 0.
 *
 * In `exact` a value is a varint count and for each point WIRE_TOUCH_BYTES:
 *
 *	3 × u32 other, child, other_child; 11 × f64 point, normal, separation, impulse, friction
 *
 * In `view` and `sim` a point is the difference to the point before it (the first: to zeros), never
 * to another tick, so a value can be read without earlier frames:
 *
 *	head		u8, bits: 1 other, 2 children, 4 normal, 8 friction follow
 *	other		varint: difference to the other before; children are then reset to 0, 0
 *	children	2 × varint
 *	normal		3 × i8 or i16: round(127 c) or round(32767 c); shown as a unit again
 *	point		3 × zigzag varint: steps of the profile's positions, minus the point before
 *	separation	zigzag varint: steps
 *	impulse		u16, the upper half of a float 32, or a whole one
 *	friction	3 × the same; 0 without bit 8
 *
 * Largest errors: point half a step on each axis, separation half a step, normal 0.0069 rad or 0.000027
 * rad (½ √3 / 127 or 32767), impulses one part in 256 or in 2^24 (below 2^-126 N s: by so much).
 */
#ifndef CAIRN_PROTOCOL_CONTACTS_H
#define CAIRN_PROTOCOL_CONTACTS_H

#include "protocol/message.h"

struct wire_touch {
	uint32_t other;	      /* body; UINT32_MAX: the world's walls */
	uint32_t child;	      /* child shape of the holder */
	uint32_t other_child; /* child shape of the other body */
	double point[3];      /* m, world */
	double normal[3];     /* unit, from the other to the holder */
	double separation;    /* m, negative if the bodies overlap */
	double impulse;	      /* N s over the tick, along the normal */
	double friction[3];   /* N s over the tick, on the holder */
};

enum {
	WIRE_TOUCH_BYTES = 3 * 4 + 11 * 8,
	/* In `view` and `sim` at most: head, ids, normal, point, separation, four float 32. */
	WIRE_TOUCH_SHORT_MAX = 1 + 3 * 5 + 3 * 2 + 3 * 6 + 5 + 4 * 4,
	WIRE_TOUCHES_HEAD = 2, /* bytes of the count */
	WIRE_TOUCHES_BYTES_MAX = WIRE_TOUCHES_HEAD + WIRE_BODY_CONTACTS * WIRE_TOUCH_BYTES,
};

/* The values to which the next point is a difference. */
struct wire_touch_base {
	uint32_t other, child, other_child;
	int32_t normal[3];
	int64_t point[3];
};

/* Reads a value point by point. */
struct wire_touches {
	enum wire_profile profile;
	const uint8_t *at, *end; /* borrowed */
	uint32_t left;
	bool broken; /* a point was invalid or out of range */
	struct wire_touch_base base;
};
/* `value` has 0 bytes for none; `plain` is read as `exact`. */
void wire_touches_open(struct wire_touches *self, enum wire_profile profile,
		       struct wire_slice value);
/* False after the last point, and if the value is invalid (`broken`). */
bool wire_touches_next(struct wire_touches *self, struct wire_touch *touch);

/* Writes a value; `count` ≤ WIRE_BODY_CONTACTS points are to follow. */
struct wire_touches_writer {
	enum wire_profile profile;
	uint8_t *at; /* its end so far */
	struct wire_touch_base base;
};
void wire_touches_begin(struct wire_touches_writer *self, enum wire_profile profile, uint8_t *at,
			uint32_t count);
void wire_touches_put(struct wire_touches_writer *self, const struct wire_touch *touch);

/* The end of the value that begins at `at`; NULL if it is truncated or invalid. */
const uint8_t *wire_touches_pass(enum wire_profile profile, const uint8_t *at, const uint8_t *end);
/* The number of points of a valid value. */
uint32_t wire_touches_count(struct wire_slice value);
/* Writes an `exact` value in `view` or `sim`; `out` has room for wire_touches_short_max. Returns its
 * bytes, 0 for none. */
uint32_t wire_touches_quantise(enum wire_profile profile, struct wire_slice exact, uint8_t *out);
static inline uint32_t wire_touches_short_max(struct wire_slice exact)
{
	return WIRE_TOUCHES_HEAD + exact.bytes / WIRE_TOUCH_BYTES * WIRE_TOUCH_SHORT_MAX;
}
/* Copies a value, one byte for none; returns its end. */
uint8_t *wire_touches_copy(uint8_t *at, struct wire_slice value);
/* XXH3-64 of a record and the value behind it. */
uint64_t wire_touches_hash(const uint8_t *record, size_t bytes, struct wire_slice value);

#endif
