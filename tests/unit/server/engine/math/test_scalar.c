/* Functions of one double: NaN, infinities, zeros and the limits of integer conversions included. */
#include "server/engine/math/scalar.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static const double INF = 1.0 / 0.0, NAN_HERE = 0.0 / 0.0;

/* A finite double of any magnitude and sign. */
static double random_double(struct rng *rng)
{
	for (;;) {
		double x = scalar_from_bits(rng_u64(rng));
		if (scalar_is_finite(x))
			return x;
	}
}

START_TEST(finite_and_nan_are_recognised)
{
	ck_assert(scalar_is_finite(0) && scalar_is_finite(-0x1p-1074) &&
		  scalar_is_finite(SCALAR_MAX));
	ck_assert(!scalar_is_finite(INF) && !scalar_is_finite(-INF) && !scalar_is_finite(NAN_HERE));
	ck_assert(scalar_is_nan(NAN_HERE) && scalar_is_nan(-NAN_HERE));
	ck_assert(!scalar_is_nan(INF) && !scalar_is_nan(0));
}
END_TEST

START_TEST(floor_and_ceil_enclose_by_less_than_one)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 50000; i++) {
		double x = i % 2 ? random_double(&rng) : rng_range(&rng, -0x1p53, 0x1p53) / (1 + i);
		double down = scalar_floor(x), up = scalar_ceil(x), cut = scalar_trunc(x);
		ck_assert(down <= x && x - down <= 1 && up >= x && up - x <= 1);
		ck_assert((down == x || down + 1 > x) && (up == x || up - 1 < x));
		ck_assert(scalar_floor(down) == down && scalar_ceil(down) == down);
		ck_assert(cut == (x < 0 ? up : down));
		ck_assert(scalar_floor(-x) == -up);
		if (scalar_abs(x) < 1e15)
			ck_assert(down == (double)(int64_t)down);
	}
}
END_TEST

START_TEST(rounding_goes_to_the_nearest_and_halves_to_even)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = -1000; i < 1000; i++) {
		double half = i + 0.5;
		ck_assert_double_eq(scalar_round(half), i % 2 == 0 ? i : i + 1);
		ck_assert_double_eq(scalar_round(half + 1e-9), i + 1);
		ck_assert_double_eq(scalar_round(half - 1e-9), i);
	}
	for (int i = 0; i < 20000; i++) {
		double x = random_double(&rng), whole = scalar_round(x);
		ck_assert(scalar_abs(whole - x) <= 0.5 && scalar_trunc(whole) == whole);
	}
	ck_assert_double_eq(scalar_round(0x1.fffffffffffffp-2), 0);
	ck_assert_double_eq(scalar_round(0x1.fffffffffffffp51), 0x1p52);
}
END_TEST

START_TEST(rounding_preserves_signed_zeros_infinities_and_nan)
{
	double (*const all[])(double) = { scalar_floor, scalar_ceil, scalar_trunc, scalar_round };
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		ck_assert(scalar_bits(all[i](-0.0)) == scalar_bits(-0.0));
		ck_assert(all[i](INF) == INF && all[i](-INF) == -INF);
		ck_assert(scalar_is_nan(all[i](NAN_HERE)));
	}
	ck_assert(scalar_bits(scalar_ceil(-0.5)) == scalar_bits(-0.0));
}
END_TEST

START_TEST(conversions_to_integers_refuse_values_out_of_range)
{
	int32_t i = 7;
	uint32_t u = 7;
	int64_t l = 7;
	ck_assert(scalar_to_i32(-2147483648.9, &i) && i == INT32_MIN);
	ck_assert(scalar_to_i32(2147483647.9, &i) && i == INT32_MAX);
	ck_assert(scalar_to_u32(-0.9, &u) && u == 0);
	ck_assert(scalar_to_u32(4294967295.9, &u) && u == UINT32_MAX);
	ck_assert(scalar_to_i64(-0x1p63, &l) && l == INT64_MIN);
	i = 7, u = 7, l = 7;
	const double outside[] = { INF, -INF, NAN_HERE, 1e300, -1e300, 0x1p63 };
	for (size_t k = 0; k < COUNT_OF(outside); k++) {
		ck_assert(!scalar_to_i32(outside[k], &i) && !scalar_to_u32(outside[k], &u));
		ck_assert(!scalar_to_i64(outside[k], &l));
	}
	ck_assert(!scalar_to_i32(2147483648.0, &i) && !scalar_to_i32(-2147483649.0, &i));
	ck_assert(!scalar_to_u32(4294967296.0, &u) && !scalar_to_u32(-1.0, &u));
	ck_assert(i == 7 && u == 7 && l == 7);
}
END_TEST

START_TEST(clamped_conversions_are_defined_for_every_double)
{
	ck_assert_int_eq(scalar_to_i32_clamped(1e300), INT32_MAX);
	ck_assert_int_eq(scalar_to_i32_clamped(-INF), INT32_MIN);
	ck_assert_int_eq(scalar_to_i32_clamped(NAN_HERE), 0);
	ck_assert_int_eq(scalar_to_i32_clamped(-3.99), -3);
	ck_assert_float_eq(scalar_to_float(1e300), 0x1.fffffep127f);
	ck_assert_float_eq(scalar_to_float(-INF), -0x1.fffffep127f);
	ck_assert_float_eq(scalar_to_float(NAN_HERE), 0);
	ck_assert_float_eq(scalar_to_float(0.1), 0.1f);
}
END_TEST

START_TEST(clamp_min_and_max_are_defined_for_nan)
{
	ck_assert_double_eq(scalar_clamp(NAN_HERE, 1, 2), 1);
	ck_assert_double_eq(scalar_clamp(5, 1, 2), 2);
	ck_assert_double_eq(scalar_clamp(-5, 1, 2), 1);
	ck_assert_double_eq(scalar_clamp(1.5, 1, 2), 1.5);
	ck_assert_double_eq(scalar_min(NAN_HERE, 1), 1);
	ck_assert_double_eq(scalar_max(NAN_HERE, 1), 1);
	ck_assert_double_eq(scalar_sign(-3), -1);
	ck_assert_double_eq(scalar_sign(NAN_HERE), 0);
	ck_assert(!scalar_near(NAN_HERE, NAN_HERE, 1));
	ck_assert(scalar_bits(scalar_copy_sign(2, -0.0)) == scalar_bits(-2));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scalar");
	TCase *all = tcase_create("scalar");
	tcase_add_test(all, finite_and_nan_are_recognised);
	tcase_add_test(all, floor_and_ceil_enclose_by_less_than_one);
	tcase_add_test(all, rounding_goes_to_the_nearest_and_halves_to_even);
	tcase_add_test(all, rounding_preserves_signed_zeros_infinities_and_nan);
	tcase_add_test(all, conversions_to_integers_refuse_values_out_of_range);
	tcase_add_test(all, clamped_conversions_are_defined_for_every_double);
	tcase_add_test(all, clamp_min_and_max_are_defined_for_nan);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
