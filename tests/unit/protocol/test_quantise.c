/* Quantised columns: the errors of quantisation are within their bounds, and changes lead exactly from one
 * value to another. */
#include "protocol/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_message.h"

enum { CASES = 20000 };
static const enum wire_profile PROFILES[] = { WIRE_PROFILE_VIEW, WIRE_PROFILE_SIM };
/* Radians, as docs/PROTOCOL.md states them. */
static const double ROTATION_ERROR[] = { 0.0097, 0.00015 };
/* The largest world coordinates and speeds (server/engine/types.h). */
static const double FAR = 1e6, FAST = 1e4;

static void unit(double q[4])
{
	double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
	for (int i = 0; i < 4; i++)
		q[i] /= length;
}

/* The angle of the rotation between two rotations. */
static double angle_between(const double a[4], const double b[4])
{
	double plus = 0, minus = 0;
	for (int i = 0; i < 4; i++) {
		plus += (a[i] - b[i]) * (a[i] - b[i]);
		minus += (a[i] + b[i]) * (a[i] + b[i]);
	}
	return 4 * asin(fmin(sqrt(fmin(plus, minus)) / 2, 1));
}

static void body_at_random(struct rng *rng, struct wire_body *body)
{
	static const double SPANS[] = { 1, 100, 1e6 };
	double span = SPANS[rng_below(rng, 3)];
	memset(body, 0, sizeof *body);
	for (int i = 0; i < 3; i++) {
		body->position[i] = rng_range(rng, -span, span);
		body->velocity[i] = rng_range(rng, -span / 100, span / 100);
		body->spin[i] = rng_range(rng, -span / 100, span / 100);
	}
	do {
		for (int i = 0; i < 4; i++)
			body->rotation[i] = rng_range(rng, -1, 1);
	} while (body->rotation[0] * body->rotation[0] + body->rotation[1] * body->rotation[1] <
		 1e-3);
	unit(body->rotation);
}

static struct wire_body shown(enum wire_profile profile, const struct wire_body *body)
{
	struct wire_quantised values;
	struct wire_body out = { 0 };
	wire_quantise(profile, body, &values);
	wire_dequantise(profile, &values, WIRE_COLUMNS_ALL, &out);
	return out;
}

START_TEST(quantisation_errs_by_at_most_half_a_step)
{
	struct rng rng = rng_seeded(check_seed());
	enum wire_profile profile = PROFILES[_i];
	double metre = profile == WIRE_PROFILE_VIEW ? 512 : 4096;
	double speed = profile == WIRE_PROFILE_VIEW ? 128 : 1024;
	for (int i = 0; i < CASES; i++) {
		struct wire_body body;
		body_at_random(&rng, &body);
		struct wire_body seen = shown(profile, &body);
		for (int k = 0; k < 3; k++) {
			ck_assert_double_le(fabs(seen.position[k] - body.position[k]), 0.5 / metre);
			ck_assert_double_le(fabs(seen.velocity[k] - body.velocity[k]), 0.5 / speed);
			ck_assert_double_le(fabs(seen.spin[k] - body.spin[k]), 0.5 / speed);
		}
		ck_assert_double_le(angle_between(seen.rotation, body.rotation),
				    ROTATION_ERROR[_i]);
	}
}
END_TEST

/* The bound is reached if all four components are equal, which random samples of the sphere miss. */
START_TEST(the_worst_rotations_stay_within_the_bound)
{
	struct rng rng = rng_seeded(check_seed());
	double worst = 0;
	for (int i = 0; i < CASES; i++) {
		struct wire_body body = { 0 };
		for (int k = 0; k < 4; k++)
			body.rotation[k] =
				(rng_below(&rng, 2) ? 0.5 : -0.5) + rng_range(&rng, -0.004, 0.004);
		unit(body.rotation);
		struct wire_body seen = shown(PROFILES[_i], &body);
		worst = fmax(worst, angle_between(seen.rotation, body.rotation));
	}
	ck_assert_double_le(worst, ROTATION_ERROR[_i]);
	/* And it is no idle bound. */
	ck_assert_double_ge(worst, ROTATION_ERROR[_i] * 0.8);
}
END_TEST

START_TEST(a_rotation_and_its_opposite_are_one)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < CASES; i++) {
		struct wire_body body;
		struct wire_quantised one, other;
		body_at_random(&rng, &body);
		wire_quantise(PROFILES[_i], &body, &one);
		for (int k = 0; k < 4; k++)
			body.rotation[k] = -body.rotation[k];
		wire_quantise(PROFILES[_i], &body, &other);
		ck_assert_uint_eq(wire_quantised_differ(&one, &other), 0);
	}
}
END_TEST

START_TEST(a_shown_value_is_quantised_to_itself)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t turned = 0;
	for (int i = 0; i < CASES; i++) {
		struct wire_body body;
		struct wire_quantised one, again;
		body_at_random(&rng, &body);
		wire_quantise(PROFILES[_i], &body, &one);
		wire_dequantise(PROFILES[_i], &one, WIRE_COLUMNS_ALL, &body);
		wire_quantise(PROFILES[_i], &body, &again);
		/* If two components are almost equal, the shown rotation may have the other as its
		 * largest. */
		if (again.largest != one.largest) {
			turned++;
			continue;
		}
		ck_assert_uint_eq(wire_quantised_differ(&one, &again), 0);
	}
	ck_assert_uint_lt(turned, CASES / 20);
}
END_TEST

START_TEST(halves_are_rounded_away_from_zero)
{
	static const struct {
		double metres;
		int64_t steps;
	} CASES_OF[] = { { 0.5 / 512, 1 }, { -0.5 / 512, -1 },	{ 0.49999999999999994 / 512, 0 },
			 { 1.5 / 512, 2 }, { -1.5 / 512, -2 },	{ -0.0, 0 },
			 { 1, 512 },	   { -1e6, -512000000 } };
	for (size_t i = 0; i < COUNT_OF(CASES_OF); i++) {
		struct wire_body body = { .position = { CASES_OF[i].metres } };
		struct wire_quantised values;
		wire_quantise(WIRE_PROFILE_VIEW, &body, &values);
		ck_assert_int_eq(values.position[0], CASES_OF[i].steps);
	}
}
END_TEST

START_TEST(world_coordinates_are_far_within_range)
{
	struct wire_body body = { .position = { FAR, -FAR, 0 },
				  .velocity = { FAST, -FAST, 0 },
				  .spin = { -FAST, FAST, 0 },
				  .rotation = { 1, 0, 0, 0 } };
	struct wire_body seen = shown(PROFILES[_i], &body);
	ck_assert_uint_eq(wire_columns_differ(&seen, &body), 0);
}
END_TEST

START_TEST(every_number_is_quantised_into_range)
{
	struct rng rng = rng_seeded(check_seed());
	int16_t n = wire_scale_of(PROFILES[_i])->rotation;
	for (int i = 0; i < CASES; i++) {
		struct wire_body body = { 0 };
		struct wire_quantised values;
		double *reals[] = { body.position, body.velocity, body.spin };
		for (int k = 0; k < 3; k++)
			for (int c = 0; c < 3; c++)
				reals[k][c] = gen_real(&rng);
		for (int c = 0; c < 4; c++)
			body.rotation[c] = gen_real(&rng);
		if (i == 0)
			body.position[0] = body.rotation[2] = NAN;
		if (i == 1)
			body.velocity[0] = body.rotation[2] = INFINITY;
		wire_quantise(PROFILES[_i], &body, &values);
		ck_assert_uint_lt(values.largest, 4);
		for (int c = 0; c < 3; c++) {
			ck_assert_int_le(llabs(values.position[c]), WIRE_QUANTISED_POSITION_MAX);
			ck_assert_int_le(llabs(values.velocity[c]), WIRE_QUANTISED_SPEED_MAX);
			ck_assert_int_le(llabs(values.spin[c]), WIRE_QUANTISED_SPEED_MAX);
			ck_assert_int_le(llabs(values.rotation[c]), n);
		}
		wire_dequantise(PROFILES[_i], &values, WIRE_COLUMNS_ALL, &body);
		for (int c = 0; c < 4; c++)
			ck_assert(isfinite(body.rotation[c]));
	}
}
END_TEST

static int64_t draw(struct rng *rng, int64_t max)
{
	uint32_t pick = rng_below(rng, 6);
	if (pick < 2)
		return pick == 0 ? max : -max;
	int64_t span = (int64_t)1 << rng_below(rng, 20);
	if (pick == 2 || span > max)
		span = max;
	return (int64_t)(rng_u64(rng) % (uint64_t)(2 * span + 1)) - span;
}

static void values_at_random(struct rng *rng, int16_t n, struct wire_quantised *out)
{
	for (int i = 0; i < 3; i++) {
		out->position[i] = draw(rng, WIRE_QUANTISED_POSITION_MAX);
		out->velocity[i] = (int32_t)draw(rng, WIRE_QUANTISED_SPEED_MAX);
		out->spin[i] = (int32_t)draw(rng, WIRE_QUANTISED_SPEED_MAX);
		out->rotation[i] = (int16_t)draw(rng, n);
	}
	out->largest = (uint8_t)rng_below(rng, 4);
}

static const uint32_t BYTES_MAX[4] = { WIRE_CHANGE_POSITION_MAX, WIRE_CHANGE_ROTATION_MAX,
				       WIRE_CHANGE_SPEED_MAX, WIRE_CHANGE_SPEED_MAX };

/* The change gives exactly the target, and has the size that wire_change_bytes computes. */
START_TEST(a_change_leads_from_any_value_to_any_other)
{
	struct rng rng = rng_seeded(check_seed());
	int16_t n = wire_scale_of(PROFILES[_i])->rotation;
	for (int i = 0; i < CASES; i++) {
		struct wire_quantised from, to;
		struct wire_change change;
		values_at_random(&rng, n, &from);
		values_at_random(&rng, n, &to);
		if (i % 2)
			to.largest = from.largest;
		for (uint32_t k = 0; k < 4; k++) {
			uint8_t data[32], bit = (uint8_t)(1 << k);
			struct wire_quantised made = from;
			size_t bytes = (size_t)(wire_change_put(data, &from, &to, bit) - data);
			ck_assert_uint_eq(bytes, wire_change_bytes(&from, &to, bit));
			ck_assert_uint_le(bytes, BYTES_MAX[k]);
			ck_assert_ptr_eq(wire_change_get(data, data + bytes, &change, bit),
					 data + bytes);
			for (size_t cut = 0; cut < bytes; cut++)
				ck_assert_ptr_null(wire_change_get(data, data + cut, &change, bit));
			wire_change_get(data, data + bytes, &change, bit);
			ck_assert(wire_change_apply(PROFILES[_i], &change, bit, &made));
			ck_assert_uint_eq(wire_quantised_differ(&made, &to) & bit, 0);
			ck_assert_uint_eq(wire_quantised_differ(&made, &from) & ~bit, 0);
		}
	}
}
END_TEST

START_TEST(a_hash_covers_exactly_the_numbers_of_its_fields)
{
	struct rng rng = rng_seeded(check_seed());
	struct wire_body body = { .id = 9, .status = 2, .tag = 5 };
	struct wire_quantised values, other;
	const struct wire_slice none = { 0 };
	values_at_random(&rng, 255, &values);
	for (wire_mask fields = 1; fields <= WIRE_COLUMNS_ALL; fields++) {
		uint64_t hash = wire_quantised_hash(&body, &values, none, fields);
		for (wire_mask bit = 1; bit <= WIRE_COLUMN_SPIN; bit <<= 1) {
			other = values;
			other.position[2] ^= bit == WIRE_COLUMN_POSITION;
			other.largest ^= bit == WIRE_COLUMN_ROTATION;
			other.velocity[1] ^= bit == WIRE_COLUMN_VELOCITY;
			other.spin[0] ^= bit == WIRE_COLUMN_SPIN;
			bool same = wire_quantised_hash(&body, &other, none, fields) == hash;
			ck_assert(same == ((fields & bit) == 0));
		}
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("protocol/quantise");
	TCase *error = tcase_create("error");
	tcase_add_loop_test(error, quantisation_errs_by_at_most_half_a_step, 0, 2);
	tcase_add_loop_test(error, the_worst_rotations_stay_within_the_bound, 0, 2);
	tcase_add_loop_test(error, a_rotation_and_its_opposite_are_one, 0, 2);
	tcase_add_loop_test(error, a_shown_value_is_quantised_to_itself, 0, 2);
	tcase_add_test(error, halves_are_rounded_away_from_zero);
	tcase_add_loop_test(error, world_coordinates_are_far_within_range, 0, 2);
	tcase_add_loop_test(error, every_number_is_quantised_into_range, 0, 2);
	suite_add_tcase(suite, error);
	TCase *change = tcase_create("change");
	tcase_add_loop_test(change, a_change_leads_from_any_value_to_any_other, 0, 2);
	tcase_add_test(change, a_hash_covers_exactly_the_numbers_of_its_fields);
	suite_add_tcase(suite, change);
	return suite;
}

int main(void)
{
	return check_main(make);
}
