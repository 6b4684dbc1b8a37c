/* The column of contacts: exact values are read back equal, rounded ones within the bounds of contacts.h. */
#include "protocol/contacts.h"

#include <math.h>
#include <string.h>

#include "protocol/quantise.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { POINTS = 12 };
static const enum wire_profile SHORT[] = { WIRE_PROFILE_VIEW, WIRE_PROFILE_SIM };
static uint8_t exact[WIRE_TOUCHES_BYTES_MAX], packed[WIRE_BODY_CONTACTS * WIRE_TOUCH_SHORT_MAX + 2];

/* A random magnitude from 10^-9 to 10^9, or sometimes 0. */
static double some_impulse(struct rng *rng)
{
	double value = rng_range(rng, 0.1, 1);
	for (uint32_t i = rng_below(rng, 19); i > 9; i--)
		value *= 10;
	for (uint32_t i = rng_below(rng, 10); i > 0; i--)
		value *= 0.1;
	return rng_below(rng, 10) == 0 ? 0 : value;
}

static void unit(struct rng *rng, double normal[3])
{
	double square = 0;
	while (square < 0.01) {
		square = 0;
		for (int i = 0; i < 3; i++) {
			normal[i] = rng_range(rng, -1, 1);
			square += normal[i] * normal[i];
		}
	}
	for (int i = 0; i < 3; i++)
		normal[i] /= sqrt(square);
}

static void some_touches(struct rng *rng, struct wire_touch *touches, uint32_t count)
{
	uint32_t other = rng_below(rng, 1000);
	double normal[3];
	unit(rng, normal);
	for (uint32_t i = 0; i < count; i++) {
		struct wire_touch *touch = &touches[i];
		if (rng_below(rng, 3) == 0) {
			other += 1 + rng_below(rng, 100000);
			unit(rng, normal);
		}
		*touch = (struct wire_touch){ .other = other };
		touch->child = rng_below(rng, 3) == 0 ? rng_u32(rng) : 0;
		touch->other_child = rng_below(rng, 3) == 0 ? rng_below(rng, 200) : 0;
		touch->separation = rng_range(rng, -0.2, 0.1);
		touch->impulse = some_impulse(rng);
		memcpy(touch->normal, normal, sizeof normal);
		for (int k = 0; k < 3; k++) {
			touch->point[k] = rng_range(rng, -5000, 5000);
			touch->friction[k] = rng_below(rng, 2) ? some_impulse(rng) : 0;
		}
	}
}

static struct wire_slice write_all(enum wire_profile profile, uint8_t *at,
				   const struct wire_touch *touches, uint32_t count)
{
	struct wire_touches_writer writer;
	wire_touches_begin(&writer, profile, at, count);
	for (uint32_t i = 0; i < count; i++)
		wire_touches_put(&writer, &touches[i]);
	return (struct wire_slice){ at, (uint32_t)(writer.at - at) };
}

START_TEST(an_exact_value_is_read_as_it_was_written)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t count = 0; count <= POINTS; count++) {
		struct wire_touch touches[POINTS], seen;
		struct wire_touches reader;
		memset(touches, 0, sizeof touches);
		some_touches(&rng, touches, count);
		struct wire_slice value = write_all(WIRE_PROFILE_EXACT, exact, touches, count);
		ck_assert_uint_eq(value.bytes, 1 + count * WIRE_TOUCH_BYTES);
		ck_assert_uint_eq(wire_touches_count(value), count);
		wire_touches_open(&reader, WIRE_PROFILE_EXACT, value);
		for (uint32_t i = 0; i < count; i++) {
			memset(&seen, 0, sizeof seen);
			ck_assert(wire_touches_next(&reader, &seen));
			ck_assert_mem_eq(&seen, &touches[i], sizeof seen);
		}
		ck_assert(!wire_touches_next(&reader, &seen) && !reader.broken);
		ck_assert_ptr_eq(
			wire_touches_pass(WIRE_PROFILE_EXACT, value.at, value.at + value.bytes),
			value.at + value.bytes);
	}
}
END_TEST

static double between(const double a[3], const double b[3])
{
	double square = 0;
	for (int i = 0; i < 3; i++)
		square += (a[i] - b[i]) * (a[i] - b[i]);
	return 2 * asin(sqrt(square) / 2);
}

START_TEST(view_and_sim_are_within_their_error_bounds)
{
	struct rng rng = rng_seeded(check_seed());
	enum wire_profile profile = SHORT[_i];
	double step = 1 / wire_scale_of(profile)->position;
	double turn = profile == WIRE_PROFILE_VIEW ? 0.0069 : 0.000027, worst_turn = 0;
	double part = profile == WIRE_PROFILE_VIEW ? 0x1p-8 : 0x1p-24, worst_part = 0;
	for (int round = 0; round < 3000; round++) {
		struct wire_touch touches[POINTS], seen;
		struct wire_touches reader;
		some_touches(&rng, touches, POINTS);
		struct wire_slice value = write_all(WIRE_PROFILE_EXACT, exact, touches, POINTS);
		ck_assert_uint_le(wire_touches_quantise(profile, value, packed),
				  wire_touches_short_max(value));
		value = (struct wire_slice){ packed,
					     wire_touches_quantise(profile, value, packed) };
		wire_touches_open(&reader, profile, value);
		for (uint32_t i = 0; wire_touches_next(&reader, &seen); i++) {
			const struct wire_touch *real = &touches[i];
			ck_assert_uint_eq(seen.other, real->other);
			ck_assert_uint_eq(seen.child, real->child);
			ck_assert_uint_eq(seen.other_child, real->other_child);
			ck_assert(fabs(seen.separation - real->separation) <= step / 2);
			worst_turn = fmax(worst_turn, between(seen.normal, real->normal));
			ck_assert(fabs(seen.impulse - real->impulse) <= part * real->impulse);
			for (int k = 0; k < 3; k++) {
				ck_assert(fabs(seen.point[k] - real->point[k]) <= step / 2);
				double off = fabs(seen.friction[k] - real->friction[k]);
				ck_assert(off <= part * real->friction[k]);
				if (real->friction[k] > 0)
					worst_part = fmax(worst_part, off / real->friction[k]);
			}
		}
		ck_assert(!reader.broken && reader.left == 0 &&
			  reader.at == value.at + value.bytes);
	}
	/* The bounds are met, and not idle. */
	ck_assert(worst_turn <= turn && worst_turn > turn / 2);
	ck_assert(worst_part > part / 2);
}
END_TEST

START_TEST(numbers_out_of_range_are_limited)
{
	static const double BEYOND[] = { 1e300, -1e300, 1e38, -3.5e38, 1e-50, -1e-300, 0.0, -0.0 };
	struct wire_touch touch = { .other = UINT32_MAX, .child = UINT32_MAX };
	for (size_t k = 0; k < COUNT_OF(BEYOND); k++) {
		touch.point[0] = touch.normal[1] = touch.separation = BEYOND[k];
		touch.impulse = touch.friction[2] = BEYOND[k];
		struct wire_slice value = write_all(SHORT[_i], packed, &touch, 1), cut = value;
		ck_assert_uint_le(value.bytes, WIRE_TOUCHES_HEAD + WIRE_TOUCH_SHORT_MAX);
		struct wire_touches reader;
		struct wire_touch seen;
		wire_touches_open(&reader, SHORT[_i], value);
		ck_assert(wire_touches_next(&reader, &seen));
		ck_assert_uint_eq(seen.other, UINT32_MAX);
		ck_assert(isfinite(seen.impulse) && isfinite(seen.point[0]));
		ck_assert(isfinite(seen.normal[1]) && isfinite(seen.friction[2]));
		ck_assert(isfinite(seen.separation));
		for (cut.bytes = 0; cut.bytes < value.bytes; cut.bytes++)
			ck_assert_ptr_null(
				wire_touches_pass(SHORT[_i], cut.at, cut.at + cut.bytes));
	}
}
END_TEST

START_TEST(a_changed_byte_is_refused_or_read_as_finite_numbers)
{
	struct rng rng = rng_seeded(check_seed());
	for (int round = 0; round < 20000; round++) {
		struct wire_touch touches[POINTS], seen;
		struct wire_touches reader;
		some_touches(&rng, touches, POINTS);
		struct wire_slice value = write_all(SHORT[_i], packed, touches, POINTS);
		for (uint32_t i = 0; i <= rng_below(&rng, 3); i++)
			packed[rng_below(&rng, value.bytes)] = (uint8_t)rng_u32(&rng);
		wire_touches_open(&reader, SHORT[_i], value);
		while (wire_touches_next(&reader, &seen)) {
			double sum = seen.separation + seen.impulse * 0x1p-10;
			for (int k = 0; k < 3; k++)
				sum += seen.point[k] + seen.normal[k] + seen.friction[k] * 0x1p-10;
			ck_assert(isfinite(sum));
		}
	}
}
END_TEST

START_TEST(more_points_than_the_limit_of_a_body_are_refused)
{
	uint8_t value[2 + 3] = { 0x81, 0x08 }; /* 1025 */
	ck_assert_ptr_null(wire_touches_pass(WIRE_PROFILE_VIEW, value, value + sizeof value));
	ck_assert_ptr_null(wire_touches_pass(WIRE_PROFILE_EXACT, value, value + sizeof value));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/contacts");
	TCase *values = tcase_create("values");
	tcase_add_test(values, an_exact_value_is_read_as_it_was_written);
	tcase_add_loop_test(values, view_and_sim_are_within_their_error_bounds, 0, 2);
	tcase_add_loop_test(values, numbers_out_of_range_are_limited, 0, 2);
	suite_add_tcase(suite, values);
	TCase *lies = tcase_create("lies");
	tcase_add_loop_test(lies, a_changed_byte_is_refused_or_read_as_finite_numbers, 0, 2);
	tcase_add_test(lies, more_points_than_the_limit_of_a_body_are_refused);
	suite_add_tcase(suite, lies);
	return suite;
}

int main(void)
{
	return check_main(make);
}
