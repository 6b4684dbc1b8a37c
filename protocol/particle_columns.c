/* See particle_columns.h. */
#include "protocol/particle_columns.h"

#include <float.h>
#include <string.h>

#include "server/base/bytes.h"
#include "server/base/hash.h"
#include "server/base/status.h"

static const struct {
	const char *name, *doc;
	uint32_t bytes;
} COLUMNS[WIRE_PARTICLE_COLUMN_COUNT] = {
#define PARTICLE_COLUMN(bit, NAME, name, bytes, doc) { #name, doc, bytes },
#include "protocol/columns.def"
};
/* system, serial and every column */
enum { RECORD_MAX = 4 + 8 + 24 + 24 + 16 + 16 + 8 + 8 };

const char *wire_particle_column_name(uint32_t bit)
{
	ASSERT(bit < WIRE_PARTICLE_COLUMN_COUNT);
	return COLUMNS[bit].name;
}

const char *wire_particle_column_doc(uint32_t bit)
{
	ASSERT(bit < WIRE_PARTICLE_COLUMN_COUNT);
	return COLUMNS[bit].doc;
}

static uint32_t index_of(wire_mask bit)
{
	uint32_t index = 0;
	while (bit >> index != 1)
		index++;
	return index;
}

static bool is_narrow(enum wire_profile profile, wire_mask bit)
{
	return bit == WIRE_PARTICLE_SIZE && wire_profile_quantised(profile);
}

/* Of density and pressure. */
static uint32_t scalar_bytes(enum wire_profile profile, wire_mask bit)
{
	if (!wire_profile_quantised(profile))
		return 8;
	return bit == WIRE_PARTICLE_PRESSURE && profile == WIRE_PROFILE_VIEW ? 2 : 3;
}

uint32_t wire_particle_bytes(enum wire_profile profile, wire_mask bit)
{
	if (bit & WIRE_PARTICLE_COLUMNS_SCALAR)
		return scalar_bytes(profile, bit);
	uint32_t bytes = COLUMNS[index_of(bit)].bytes;
	return is_narrow(profile, bit) ? bytes / 2 : bytes;
}

static uint8_t *put_numbers(uint8_t *at, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++, at += 8)
		put_le64(at, bits_of_f64(values[i]));
	return at;
}

static float nearest_f32(double value)
{
	if (value > (double)FLT_MAX || value < -(double)FLT_MAX)
		return value > 0 ? FLT_MAX : -FLT_MAX;
	return (float)value;
}

/* The upper `bytes` bytes of the nearest f32, rounded to the nearest, halves away from 0; the largest
 * finite number where rounding would pass it. */
static uint32_t upper_bits(double value, uint32_t bytes)
{
	const uint32_t infinite = 0x7F800000u;
	uint32_t drop = 32 - 8 * bytes;
	uint32_t bits = bits_of_f32(nearest_f32(value)), half = 1u << (drop - 1);
	uint32_t size = (bits & 0x7FFFFFFFu) + half;
	size = (size >= infinite ? infinite - 1 : size) >> drop << drop;
	return (bits & 0x80000000u) | size;
}

static double scalar_of(const struct wire_particle *from, wire_mask bit)
{
	return bit == WIRE_PARTICLE_DENSITY ? from->density : from->pressure;
}

double wire_particle_rounded(enum wire_profile profile, double value, wire_mask bit)
{
	if (!wire_profile_quantised(profile))
		return value;
	return (double)f32_of_bits(upper_bits(value, scalar_bytes(profile, bit)));
}

static uint8_t *put_scalar(enum wire_profile profile, uint8_t *at, double value, wire_mask bit)
{
	uint32_t bytes = scalar_bytes(profile, bit);
	if (bytes == 8) {
		put_le64(at, bits_of_f64(value));
		return at + 8;
	}
	uint32_t bits = upper_bits(value, bytes) >> (32 - 8 * bytes);
	for (uint32_t i = 0; i < bytes; i++, bits >>= 8)
		*at++ = (uint8_t)bits;
	return at;
}

static bool get_scalar(enum wire_profile profile, const uint8_t *at, double *value, wire_mask bit)
{
	uint32_t bytes = scalar_bytes(profile, bit), bits = 0;
	if (bytes == 8) {
		*value = f64_of_bits(get_le64(at));
	} else {
		for (uint32_t i = 0; i < bytes; i++)
			bits |= (uint32_t)at[i] << (32 - 8 * (bytes - i));
		*value = (double)f32_of_bits(bits);
	}
	return *value - *value == 0;
}

uint8_t *wire_particle_put(enum wire_profile profile, uint8_t *at, const struct wire_particle *from,
			   wire_mask bit)
{
	switch (bit) {
	case WIRE_PARTICLE_VELOCITY:
		return put_numbers(at, from->velocity, 3);
	case WIRE_PARTICLE_POSITION:
		return put_numbers(at, from->position, 3);
	case WIRE_PARTICLE_SIZE:
		if (!is_narrow(profile, bit))
			return put_numbers(at, from->size, 2);
		put_le32(at, bits_of_f32(nearest_f32(from->size[0])));
		put_le32(at + 4, bits_of_f32(nearest_f32(from->size[1])));
		return at + 8;
	case WIRE_PARTICLE_DENSITY:
	case WIRE_PARTICLE_PRESSURE:
		return put_scalar(profile, at, scalar_of(from, bit), bit);
	default:
		ASSERT(bit == WIRE_PARTICLE_LIFE);
		put_le64(at, from->life[0]);
		put_le64(at + 8, from->life[1]);
		return at + 16;
	}
}

static bool get_numbers(const uint8_t *at, double *values, uint32_t count)
{
	bool finite = true;
	for (uint32_t i = 0; i < count; i++, at += 8) {
		values[i] = f64_of_bits(get_le64(at));
		finite = finite && values[i] - values[i] == 0;
	}
	return finite;
}

bool wire_particle_get(enum wire_profile profile, const uint8_t *at, struct wire_particle *to,
		       wire_mask bit)
{
	switch (bit) {
	case WIRE_PARTICLE_VELOCITY:
		return get_numbers(at, to->velocity, 3);
	case WIRE_PARTICLE_POSITION:
		return get_numbers(at, to->position, 3);
	case WIRE_PARTICLE_SIZE:
		if (!is_narrow(profile, bit))
			return get_numbers(at, to->size, 2);
		to->size[0] = (double)f32_of_bits(get_le32(at));
		to->size[1] = (double)f32_of_bits(get_le32(at + 4));
		return to->size[0] - to->size[0] == 0 && to->size[1] - to->size[1] == 0;
	case WIRE_PARTICLE_DENSITY:
		return get_scalar(profile, at, &to->density, bit);
	case WIRE_PARTICLE_PRESSURE:
		return get_scalar(profile, at, &to->pressure, bit);
	default:
		ASSERT(bit == WIRE_PARTICLE_LIFE);
		to->life[0] = get_le64(at);
		to->life[1] = get_le64(at + 8);
		return to->life[0] <= (uint64_t)WIRE_INTEGER_MAX &&
		       to->life[1] <= (uint64_t)WIRE_INTEGER_MAX;
	}
}

bool wire_particle_differs(enum wire_profile profile, const struct wire_particle *a,
			   const struct wire_particle *b, wire_mask bit)
{
	switch (bit) {
	case WIRE_PARTICLE_VELOCITY:
		return memcmp(a->velocity, b->velocity, sizeof a->velocity) != 0;
	case WIRE_PARTICLE_POSITION:
		return memcmp(a->position, b->position, sizeof a->position) != 0;
	case WIRE_PARTICLE_SIZE:
		return memcmp(a->size, b->size, sizeof a->size) != 0;
	case WIRE_PARTICLE_DENSITY:
	case WIRE_PARTICLE_PRESSURE:
		return bits_of_f64(wire_particle_rounded(profile, scalar_of(a, bit), bit)) !=
		       bits_of_f64(wire_particle_rounded(profile, scalar_of(b, bit), bit));
	default:
		ASSERT(bit == WIRE_PARTICLE_LIFE);
		return memcmp(a->life, b->life, sizeof a->life) != 0;
	}
}

void wire_particle_quantise(enum wire_profile profile, const struct wire_particle *from,
			    wire_mask mask, struct wire_particle_steps *to)
{
	const struct wire_scale *scale = wire_scale_of(profile);
	*to = (struct wire_particle_steps){ 0 };
	for (uint32_t i = 0; i < 3; i++) {
		if (mask & WIRE_PARTICLE_VELOCITY)
			to->velocity[i] = wire_nearest(from->velocity[i] * scale->speed,
						       WIRE_QUANTISED_SPEED_MAX);
		if (mask & WIRE_PARTICLE_POSITION)
			to->position[i] = wire_nearest(from->position[i] * scale->position,
						       WIRE_QUANTISED_POSITION_MAX);
	}
}

void wire_particle_dequantise(enum wire_profile profile, const struct wire_particle_steps *from,
			      wire_mask mask, struct wire_particle *to)
{
	const struct wire_scale *scale = wire_scale_of(profile);
	for (uint32_t i = 0; i < 3; i++) {
		if (mask & WIRE_PARTICLE_VELOCITY)
			to->velocity[i] = (double)from->velocity[i] / scale->speed;
		if (mask & WIRE_PARTICLE_POSITION)
			to->position[i] = (double)from->position[i] / scale->position;
	}
}

static uint8_t *put_steps(uint8_t *at, const int64_t steps[3])
{
	for (uint32_t i = 0; i < 3; i++, at += 8)
		put_le64(at, (uint64_t)steps[i]);
	return at;
}

uint64_t wire_particle_hash(enum wire_profile profile, const struct wire_particle *particle,
			    const struct wire_particle_steps *steps, wire_mask mask)
{
	uint8_t record[RECORD_MAX];
	uint8_t *at = record + 12;
	bool quantised = wire_profile_quantised(profile);
	put_le32(record, particle->system);
	put_le64(record + 4, particle->serial);
	for (uint32_t i = 0; i < WIRE_PARTICLE_COLUMN_COUNT; i++) {
		wire_mask bit = mask & WIRE_PARTICLE_COLUMNS_OWN & (wire_mask)(1u << i);
		if (quantised && (bit & WIRE_PARTICLE_COLUMNS_STEPS))
			at = put_steps(at, bit == WIRE_PARTICLE_VELOCITY ? steps->velocity
									 : steps->position);
		else if (bit != 0)
			at = wire_particle_put(profile, at, particle, bit);
	}
	return hash64(record, (size_t)(at - record), 0);
}

/* ---- forecasts ---------------------------------------------------------------------------------- */

/* floor(value + 0.5) within ±max, without a library function. */
static int64_t rounded(double value, int64_t max)
{
	double limit = (double)max;
	if (!(value > -limit))
		return -max;
	if (value >= limit)
		return max;
	double raised = value + 0.5;
	int64_t whole = (int64_t)raised;
	return whole - ((double)whole > raised);
}

int64_t wire_expected_velocity(const struct wire_forecast *forecast,
			       const struct wire_particle_steps *base, uint32_t axis)
{
	return rounded(forecast->decay * (double)base->velocity[axis] + forecast->gain[axis],
		       WIRE_QUANTISED_SPEED_MAX);
}

int64_t wire_expected_position(const struct wire_forecast *forecast,
			       const struct wire_particle_steps *base, int64_t correction,
			       uint32_t axis)
{
	double velocity = (double)base->velocity[axis] + (double)correction / 2;
	return rounded((double)base->position[axis] + forecast->carry * velocity +
			       forecast->shift[axis],
		       WIRE_QUANTISED_POSITION_MAX);
}
