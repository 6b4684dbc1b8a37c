/* See contacts.h. */
#include "protocol/contacts.h"

#include <string.h>

#include "protocol/scale.h"
#include "protocol/varint.h"
#include "server/base/bytes.h"
#include "server/base/hash.h"

enum { HAS_OTHER = 1, HAS_CHILDREN = 2, HAS_NORMAL = 4, HAS_FRICTION = 8, HAS_ANY = 15 };

#define FLOAT_MAX 3.4028234663852886e38

_Static_assert(sizeof(float) == 4, "float 32");

/* ---- short numbers ----------------------------------------------------------------------------- */

static int32_t normal_max(enum wire_profile profile)
{
	return profile == WIRE_PROFILE_VIEW ? INT8_MAX : INT16_MAX;
}

/* The nearest float 32, within its range. */
static uint32_t float_bits(double value)
{
	value = MAX_OF(-FLOAT_MAX, MIN_OF(value, FLOAT_MAX));
	float narrow = (float)value;
	uint32_t bits;
	memcpy(&bits, &narrow, sizeof bits);
	return bits;
}

static double float_of(uint32_t bits)
{
	float narrow;
	memcpy(&narrow, &bits, sizeof narrow);
	return (double)narrow;
}

/* The nearest upper half of the float 32, halves rounded away from zero. */
static uint32_t half_of(uint32_t bits)
{
	uint32_t half = (bits >> 16) + (bits >> 15 & 1);
	return (half & 0x7F80) == 0x7F80 ? half - 1 : half;
}

static uint8_t *put_impulse(uint8_t *at, enum wire_profile profile, double value)
{
	uint32_t bits = float_bits(value);
	if (profile == WIRE_PROFILE_SIM) {
		put_le32(at, bits);
		return at + 4;
	}
	uint32_t half = half_of(bits);
	at[0] = (uint8_t)half;
	at[1] = (uint8_t)(half >> 8);
	return at + 2;
}

static uint8_t *put_normal(uint8_t *at, enum wire_profile profile, const int32_t normal[3])
{
	for (uint32_t i = 0; i < 3; i++) {
		*at++ = (uint8_t)normal[i];
		if (profile == WIRE_PROFILE_SIM)
			*at++ = (uint8_t)((uint32_t)normal[i] >> 8);
	}
	return at;
}

/* ---- writing ----------------------------------------------------------------------------------- */

void wire_touches_begin(struct wire_touches_writer *self, enum wire_profile profile, uint8_t *at,
			uint32_t count)
{
	ASSERT(count <= WIRE_BODY_CONTACTS);
	memset(self, 0, sizeof *self);
	self->profile = profile;
	self->at = varint_put(at, count);
}

static uint8_t *put_reals(uint8_t *at, const double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		put_le64(at + 8 * i, bits_of_f64(values[i]));
	return at + (size_t)8 * count;
}

static uint8_t *put_exact(uint8_t *at, const struct wire_touch *touch)
{
	put_le32(at, touch->other);
	put_le32(at + 4, touch->child);
	put_le32(at + 8, touch->other_child);
	at = put_reals(at + 12, touch->point, 3);
	at = put_reals(at, touch->normal, 3);
	at = put_reals(at, &touch->separation, 1);
	at = put_reals(at, &touch->impulse, 1);
	return put_reals(at, touch->friction, 3);
}

/* Writes ids and normal if they differ from those before; returns the bits of the head. */
static uint8_t put_who(struct wire_touches_writer *self, const struct wire_touch *touch)
{
	struct wire_touch_base *base = &self->base;
	uint8_t head = 0;
	ASSERT(touch->other >= base->other);
	if (touch->other != base->other) {
		head |= HAS_OTHER;
		self->at = varint_put(self->at, (uint64_t)touch->other - base->other);
		*base = (struct wire_touch_base){
			.other = touch->other,
			.normal = { base->normal[0], base->normal[1], base->normal[2] },
			.point = { base->point[0], base->point[1], base->point[2] }
		};
	}
	if (touch->child != base->child || touch->other_child != base->other_child) {
		head |= HAS_CHILDREN;
		self->at = varint_put(self->at, base->child = touch->child);
		self->at = varint_put(self->at, base->other_child = touch->other_child);
	}
	int32_t normal[3], max = normal_max(self->profile);
	for (uint32_t i = 0; i < 3; i++)
		normal[i] = (int32_t)wire_nearest(touch->normal[i] * max, max);
	if (memcmp(normal, base->normal, sizeof normal) != 0) {
		head |= HAS_NORMAL;
		self->at = put_normal(self->at, self->profile, normal);
		memcpy(base->normal, normal, sizeof normal);
	}
	return head;
}

void wire_touches_put(struct wire_touches_writer *self, const struct wire_touch *touch)
{
	if (!wire_profile_quantised(self->profile)) {
		self->at = put_exact(self->at, touch);
		return;
	}
	double steps = wire_scale_of(self->profile)->position;
	uint8_t *head = self->at++;
	*head = put_who(self, touch);
	for (uint32_t i = 0; i < 3; i++) {
		int64_t at = wire_nearest(touch->point[i] * steps, WIRE_QUANTISED_POSITION_MAX);
		self->at = varint_put(self->at, zigzag(at - self->base.point[i]));
		self->base.point[i] = at;
	}
	self->at = varint_put(self->at, zigzag(wire_nearest(touch->separation * steps,
							    WIRE_QUANTISED_SPEED_MAX)));
	self->at = put_impulse(self->at, self->profile, touch->impulse);
	const double *friction = touch->friction;
	if (friction[0] == 0 && friction[1] == 0 && friction[2] == 0)
		return;
	*head |= HAS_FRICTION;
	for (uint32_t i = 0; i < 3; i++)
		self->at = put_impulse(self->at, self->profile, friction[i]);
}

uint32_t wire_touches_quantise(enum wire_profile profile, struct wire_slice exact, uint8_t *out)
{
	struct wire_touches touches;
	struct wire_touches_writer writer;
	struct wire_touch touch;
	wire_touches_open(&touches, WIRE_PROFILE_EXACT, exact);
	if (touches.left == 0)
		return 0;
	wire_touches_begin(&writer, profile, out, touches.left);
	while (wire_touches_next(&touches, &touch))
		wire_touches_put(&writer, &touch);
	ASSERT(!touches.broken);
	return (uint32_t)(writer.at - out);
}

uint8_t *wire_touches_copy(uint8_t *at, struct wire_slice value)
{
	if (value.bytes == 0) {
		*at = 0;
		return at + 1;
	}
	memcpy(at, value.at, value.bytes);
	return at + value.bytes;
}

/* ---- reading ----------------------------------------------------------------------------------- */

void wire_touches_open(struct wire_touches *self, enum wire_profile profile,
		       struct wire_slice value)
{
	memset(self, 0, sizeof *self);
	self->profile = profile;
	self->at = self->end = value.at;
	if (value.bytes == 0)
		return; /* `at` may be NULL */
	self->end += value.bytes;
	self->at = varint_get(value.at, self->end, &self->left);
	self->broken = self->at == NULL || self->left > WIRE_BODY_CONTACTS;
}

static const uint8_t *get_reals(const uint8_t *at, double *values, uint32_t count)
{
	for (uint32_t i = 0; i < count && at != NULL; i++) {
		values[i] = f64_of_bits(get_le64(at));
		at = values[i] - values[i] == 0 ? at + 8 : NULL;
	}
	return at;
}

static const uint8_t *get_exact(const uint8_t *at, const uint8_t *end, struct wire_touch *touch)
{
	if (end - at < WIRE_TOUCH_BYTES)
		return NULL;
	touch->other = get_le32(at);
	touch->child = get_le32(at + 4);
	touch->other_child = get_le32(at + 8);
	at = get_reals(at + 12, touch->point, 3);
	at = at != NULL ? get_reals(at, touch->normal, 3) : NULL;
	at = at != NULL ? get_reals(at, &touch->separation, 1) : NULL;
	at = at != NULL ? get_reals(at, &touch->impulse, 1) : NULL;
	return at != NULL ? get_reals(at, touch->friction, 3) : NULL;
}

static const uint8_t *get_impulse(const uint8_t *at, const uint8_t *end, enum wire_profile profile,
				  double *value)
{
	uint32_t bytes = profile == WIRE_PROFILE_VIEW ? 2 : 4;
	if (end - at < (ptrdiff_t)bytes)
		return NULL;
	*value = float_of(bytes == 4 ? get_le32(at) : (uint32_t)(at[0] | at[1] << 8) << 16);
	return *value - *value == 0 ? at + bytes : NULL;
}

static const uint8_t *get_normal(const uint8_t *at, const uint8_t *end, enum wire_profile profile,
				 int32_t normal[3])
{
	int32_t max = normal_max(profile);
	uint32_t width = profile == WIRE_PROFILE_VIEW ? 1 : 2;
	if (end - at < (ptrdiff_t)(3 * width))
		return NULL;
	for (uint32_t i = 0; i < 3; i++, at += width) {
		normal[i] = width == 1 ? (int8_t)at[0] : (int16_t)(uint16_t)(at[0] | at[1] << 8);
		if (normal[i] < -max)
			return NULL;
	}
	return at;
}

/* Reads other, children and normal if the head announces them. */
static const uint8_t *get_who(const uint8_t *at, const uint8_t *end, enum wire_profile profile,
			      uint8_t head, struct wire_touch_base *base)
{
	uint32_t more = 0;
	if (head & HAS_OTHER) {
		at = varint_get(at, end, &more);
		if (at == NULL || more > UINT32_MAX - base->other)
			return NULL;
		base->other += more;
		base->child = base->other_child = 0;
	}
	if (head & HAS_CHILDREN) {
		at = varint_get(at, end, &base->child);
		at = at != NULL ? varint_get(at, end, &base->other_child) : NULL;
	}
	if (at != NULL && (head & HAS_NORMAL))
		at = get_normal(at, end, profile, base->normal);
	return at;
}

static const uint8_t *get_place(const uint8_t *at, const uint8_t *end, enum wire_profile profile,
				struct wire_touch_base *base, struct wire_touch *touch)
{
	double steps = wire_scale_of(profile)->position;
	uint64_t number = 0;
	for (uint32_t i = 0; i < 3 && at != NULL; i++) {
		at = varint_get_long(at, end, VARINT_LONG_MAX, &number);
		base->point[i] += unzigzag(number);
		if (base->point[i] < -WIRE_QUANTISED_POSITION_MAX ||
		    base->point[i] > WIRE_QUANTISED_POSITION_MAX)
			return NULL;
		touch->point[i] = (double)base->point[i] / steps;
	}
	at = at != NULL ? varint_get_long(at, end, VARINT_LONG_MAX, &number) : NULL;
	touch->separation = (double)unzigzag(number) / steps;
	return number <= (uint64_t)WIRE_QUANTISED_SPEED_MAX * 2 ? at : NULL;
}

/* A unit again: length and quotient are rounded once each, the same everywhere. */
static void show_normal(const int32_t steps[3], double normal[3])
{
	double x = steps[0], y = steps[1], z = steps[2];
	double length = __builtin_sqrt(x * x + y * y + z * z);
	for (uint32_t i = 0; i < 3; i++)
		normal[i] = length > 0 ? (double)steps[i] / length : 0;
}

static const uint8_t *get_short(struct wire_touches *self, struct wire_touch *touch)
{
	const uint8_t *at = self->at, *end = self->end;
	struct wire_touch_base *base = &self->base;
	uint8_t head = at < end ? *at++ : UINT8_MAX;
	if (head > HAS_ANY)
		return NULL;
	at = get_who(at, end, self->profile, head, base);
	at = at != NULL ? get_place(at, end, self->profile, base, touch) : NULL;
	at = at != NULL ? get_impulse(at, end, self->profile, &touch->impulse) : NULL;
	memset(touch->friction, 0, sizeof touch->friction);
	for (uint32_t i = 0; i < 3 && at != NULL && (head & HAS_FRICTION); i++)
		at = get_impulse(at, end, self->profile, &touch->friction[i]);
	touch->other = base->other;
	touch->child = base->child;
	touch->other_child = base->other_child;
	show_normal(base->normal, touch->normal);
	return at;
}

bool wire_touches_next(struct wire_touches *self, struct wire_touch *touch)
{
	if (self->left == 0 || self->broken)
		return false;
	const uint8_t *at = wire_profile_quantised(self->profile)
				    ? get_short(self, touch)
				    : get_exact(self->at, self->end, touch);
	self->broken = at == NULL;
	self->at = at;
	self->left--;
	return !self->broken;
}

const uint8_t *wire_touches_pass(enum wire_profile profile, const uint8_t *at, const uint8_t *end)
{
	struct wire_touches touches;
	struct wire_touch touch;
	if (at == end)
		return NULL;
	wire_touches_open(&touches, profile, (struct wire_slice){ at, (uint32_t)(end - at) });
	while (wire_touches_next(&touches, &touch))
		;
	return touches.broken ? NULL : touches.at;
}

uint32_t wire_touches_count(struct wire_slice value)
{
	struct wire_touches touches;
	wire_touches_open(&touches, WIRE_PROFILE_EXACT, value);
	return touches.broken ? 0 : touches.left;
}

uint64_t wire_touches_hash(const uint8_t *record, size_t bytes, struct wire_slice value)
{
	static const uint8_t none;
	struct hasher hasher;
	hasher_init(&hasher, 0);
	hasher_update(&hasher, record, bytes);
	hasher_update(&hasher, value.bytes > 0 ? value.at : &none, MAX_OF(value.bytes, 1u));
	return hasher_digest(&hasher);
}
