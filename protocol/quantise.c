/* See quantise.h. */
#include "protocol/quantise.h"

#include <string.h>

#include "server/base/bytes.h"
#include "server/base/hash.h"

#define ROOT_HALF 0.70710678118654752440

/* ---- values -------------------------------------------------------------------------------- */

static void quantise_rotation(const double rotation[4], int16_t n, struct wire_quantised *out)
{
	uint32_t largest = 0;
	double square = 0;
	for (uint32_t i = 0; i < 4; i++) {
		square += rotation[i] * rotation[i];
		if (__builtin_fabs(rotation[i]) > __builtin_fabs(rotation[largest]))
			largest = i;
	}
	double length = __builtin_sqrt(square);
	double scale = (double)n / ROOT_HALF / length;
	/* A quaternion of length 0 or with an overflow becomes the identity. */
	if (!(length > 0 && scale > 0)) {
		memset(out->rotation, 0, sizeof out->rotation);
		out->largest = 0;
		return;
	}
	if (rotation[largest] < 0)
		scale = -scale;
	uint32_t at = 0;
	for (uint32_t i = 0; i < 4; i++)
		if (i != largest)
			out->rotation[at++] = (int16_t)wire_nearest(rotation[i] * scale, n);
	out->largest = (uint8_t)largest;
}

void wire_quantise(enum wire_profile profile, const struct wire_body *body,
		   struct wire_quantised *out)
{
	const struct wire_scale *scale = wire_scale_of(profile);
	for (uint32_t i = 0; i < 3; i++) {
		out->position[i] = wire_nearest(body->position[i] * scale->position,
						WIRE_QUANTISED_POSITION_MAX);
		out->velocity[i] = (int32_t)wire_nearest(body->velocity[i] * scale->speed,
							 WIRE_QUANTISED_SPEED_MAX);
		out->spin[i] = (int32_t)wire_nearest(body->spin[i] * scale->speed,
						     WIRE_QUANTISED_SPEED_MAX);
	}
	quantise_rotation(body->rotation, scale->rotation, out);
}

static void show_rotation(const struct wire_quantised *from, int16_t n, double rotation[4])
{
	double step = ROOT_HALF / (double)n, rest = 1;
	uint32_t at = 0;
	for (uint32_t i = 0; i < 4; i++) {
		if (i == from->largest)
			continue;
		rotation[i] = (double)from->rotation[at++] * step;
		rest -= rotation[i] * rotation[i];
	}
	rotation[from->largest] = __builtin_sqrt(MAX_OF(rest, 0.0));
}

void wire_dequantise(enum wire_profile profile, const struct wire_quantised *from, wire_mask mask,
		     struct wire_body *body)
{
	const struct wire_scale *scale = wire_scale_of(profile);
	for (uint32_t i = 0; i < 3; i++) {
		if (mask & WIRE_COLUMN_POSITION)
			body->position[i] = (double)from->position[i] / scale->position;
		if (mask & WIRE_COLUMN_VELOCITY)
			body->velocity[i] = (double)from->velocity[i] / scale->speed;
		if (mask & WIRE_COLUMN_SPIN)
			body->spin[i] = (double)from->spin[i] / scale->speed;
	}
	if (mask & WIRE_COLUMN_ROTATION)
		show_rotation(from, scale->rotation, body->rotation);
}

wire_mask wire_quantised_differ(const struct wire_quantised *a, const struct wire_quantised *b)
{
	wire_mask mask = 0;
	if (memcmp(a->position, b->position, sizeof a->position) != 0)
		mask |= WIRE_COLUMN_POSITION;
	if (a->largest != b->largest || memcmp(a->rotation, b->rotation, sizeof a->rotation) != 0)
		mask |= WIRE_COLUMN_ROTATION;
	if (memcmp(a->velocity, b->velocity, sizeof a->velocity) != 0)
		mask |= WIRE_COLUMN_VELOCITY;
	if (memcmp(a->spin, b->spin, sizeof a->spin) != 0)
		mask |= WIRE_COLUMN_SPIN;
	return mask;
}

void wire_quantised_copy(struct wire_quantised *to, const struct wire_quantised *from,
			 wire_mask mask)
{
	if (mask & WIRE_COLUMN_POSITION)
		memcpy(to->position, from->position, sizeof to->position);
	if (mask & WIRE_COLUMN_ROTATION) {
		memcpy(to->rotation, from->rotation, sizeof to->rotation);
		to->largest = from->largest;
	}
	if (mask & WIRE_COLUMN_VELOCITY)
		memcpy(to->velocity, from->velocity, sizeof to->velocity);
	if (mask & WIRE_COLUMN_SPIN)
		memcpy(to->spin, from->spin, sizeof to->spin);
}

/* ---- hashes -------------------------------------------------------------------------------- */

static uint8_t *hashed_put(uint8_t *at, const struct wire_quantised *values, wire_mask bit)
{
	switch (bit) {
	case WIRE_COLUMN_POSITION:
		for (uint32_t i = 0; i < 3; i++)
			put_le64(at + 8 * i, (uint64_t)values->position[i]);
		return at + 24;
	case WIRE_COLUMN_ROTATION:
		*at++ = values->largest;
		for (uint32_t i = 0; i < 3; i++) {
			*at++ = (uint8_t)values->rotation[i];
			*at++ = (uint8_t)((uint16_t)values->rotation[i] >> 8);
		}
		return at;
	default:
		for (uint32_t i = 0; i < 3; i++)
			put_le32(at + 4 * i,
				 (uint32_t)(bit == WIRE_COLUMN_SPIN ? values->spin[i]
								    : values->velocity[i]));
		return at + 12;
	}
}

uint64_t wire_quantised_hash(const struct wire_body *body, const struct wire_quantised *values,
			     struct wire_slice contacts, wire_mask fields)
{
	uint8_t record[4 + 24 + 7 + 12 + 12 + 2 + 12 + 1 + WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	put_le32(record, body->id);
	uint8_t *at = record + 4;
	for (uint32_t i = 0; i < WIRE_COLUMN_COUNT; i++) {
		wire_mask bit = wire_column_info(i)->bit & fields & WIRE_COLUMNS_ALL;
		if (bit & WIRE_COLUMNS_QUANTISED)
			at = hashed_put(at, values, bit);
		else if (bit != 0)
			at = wire_column_put(at, body, bit);
	}
	if (fields & WIRE_COLUMN_CONTACTS)
		return wire_touches_hash(record, (size_t)(at - record), contacts);
	return hash64(record, (size_t)(at - record), 0);
}

/* ---- changes ------------------------------------------------------------------------------- */

uint32_t wire_change_bytes(const struct wire_quantised *from, const struct wire_quantised *to,
			   wire_mask bit)
{
	uint64_t numbers[4];
	uint32_t count = wire_change_numbers(from, to, bit, numbers), bytes = 0;
	for (uint32_t i = 0; i < count; i++)
		bytes += varint_bytes(numbers[i]);
	return bytes;
}

const uint8_t *wire_change_get(const uint8_t *at, const uint8_t *end, struct wire_change *change,
			       wire_mask bit)
{
	uint64_t numbers[4] = { 0 };
	uint32_t count = 3;
	for (uint32_t i = 0; i < count && at != NULL; i++) {
		at = varint_get_long(at, end, VARINT_LONG_MAX, &numbers[i]);
		if (i == 0 && bit == WIRE_COLUMN_ROTATION && (numbers[0] & 1))
			count = 4;
	}
	if (at == NULL)
		return NULL;
	if (bit == WIRE_COLUMN_ROTATION) {
		change->turned = count == 4;
		/* A difference beyond 32 bits cannot give a value in range. */
		if (numbers[0] >> 32 || numbers[1] >> 32 || numbers[2] >> 32 || numbers[3] >> 32)
			return NULL;
		change->largest = (uint8_t)MIN_OF(numbers[0] >> 1, (uint64_t)UINT8_MAX);
		numbers[0] >>= 1;
		for (uint32_t i = 0; i < 3; i++)
			change->rotation[i] = (int32_t)unzigzag(numbers[change->turned + i]);
		return at;
	}
	int64_t *to = bit == WIRE_COLUMN_POSITION ? change->position
		      : bit == WIRE_COLUMN_SPIN	  ? change->spin
						  : change->velocity;
	for (uint32_t i = 0; i < 3; i++)
		to[i] = unzigzag(numbers[i]);
	return at;
}

/* Both are far within 64 bits: a change is at most 2^55. */
static bool add_small(int32_t *value, int64_t change)
{
	int64_t sum = *value + change;
	*value = (int32_t)sum;
	return sum >= -WIRE_QUANTISED_SPEED_MAX && sum <= WIRE_QUANTISED_SPEED_MAX;
}

static bool change_rotation(const struct wire_change *change, int16_t n,
			    struct wire_quantised *values)
{
	bool fits = true;
	if (change->turned) {
		fits = change->largest < 4;
		values->largest = change->largest;
		memset(values->rotation, 0, sizeof values->rotation);
	}
	for (uint32_t i = 0; i < 3; i++) {
		int64_t sum = (int64_t)values->rotation[i] + change->rotation[i];
		fits = fits && sum >= -n && sum <= n;
		values->rotation[i] = (int16_t)sum;
	}
	return fits;
}

bool wire_change_apply(enum wire_profile profile, const struct wire_change *change, wire_mask mask,
		       struct wire_quantised *values)
{
	bool fits = true;
	for (uint32_t i = 0; i < 3; i++) {
		if (mask & WIRE_COLUMN_POSITION) {
			values->position[i] += change->position[i];
			fits = fits && values->position[i] >= -WIRE_QUANTISED_POSITION_MAX &&
			       values->position[i] <= WIRE_QUANTISED_POSITION_MAX;
		}
		if (mask & WIRE_COLUMN_VELOCITY)
			fits = add_small(&values->velocity[i], change->velocity[i]) && fits;
		if (mask & WIRE_COLUMN_SPIN)
			fits = add_small(&values->spin[i], change->spin[i]) && fits;
	}
	if (mask & WIRE_COLUMN_ROTATION)
		fits = change_rotation(change, wire_scale_of(profile)->rotation, values) && fits;
	return fits;
}
