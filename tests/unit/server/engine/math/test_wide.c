/* test_wide.c: numbers with an unbounded exponent against long double, whose exponent range is
 * larger than a double's. */
#include "server/engine/math/wide.h"

#include <math.h>

#include "server/base/rng.h"
#include "tests/lib/check_main.h"

static double random_double(struct rng *rng)
{
	for (;;) {
		double x = scalar_from_bits(rng_u64(rng));
		if (scalar_is_finite(x))
			return x;
	}
}

static long double long_double_of(wide a)
{
	return ldexpl(a.mantissa, (int)a.exponent);
}

static void expect_near(wide found, long double expected, long double size)
{
	double mantissa = scalar_abs(found.mantissa);
	ck_assert(mantissa == 0 || (mantissa >= 0.5 && mantissa < 1));
	ck_assert(fabsl(long_double_of(found) - expected) <= 0x1p-53L * size);
}

START_TEST(arithmetic_agrees_with_long_double_to_2_to_the_minus_53)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 100000; i++) {
		double a = random_double(&rng), b = random_double(&rng), c = random_double(&rng);
		if (i % 3 == 0 && scalar_abs(a) < 0x1p900)
			b = scalar_shift(a, (int64_t)rng_below(&rng, 120) - 60);
		long double product = (long double)a * b;
		wide wa = wide_of(a), wb = wide_of(b), wc = wide_of(c);
		expect_near(wide_times(wa, wb), product, fabsl(product));
		expect_near(wide_plus(wa, wb), (long double)a + b, fabsl((long double)a + b));
		expect_near(wide_sqrt(wide_abs(wa)), sqrtl(fabsl((long double)a)),
			    sqrtl(fabsl((long double)a)) * 2);
		if (b != 0)
			expect_near(wide_over(wa, wb), (long double)a / b,
				    2 * fabsl((long double)a / b));
		ck_assert(wide_less(wa, wc) == (a < c));
		ck_assert(wide_value(wa) == a);
		ck_assert(wide_value(wide_max(wa, wc)) == scalar_max(a, c));
		ck_assert(wide_value(wide_min(wa, wc)) == scalar_min(a, c));
	}
}
END_TEST

/* Sums, in random order, of terms that cancel in pairs and of one term without a partner. */
START_TEST(the_remainder_of_a_cancelling_sum_is_exact)
{
	enum { TERMS = 12 };
	struct rng rng = rng_seeded(check_seed() + 3);
	for (int i = 0; i < 20000; i++) {
		double a[2 * TERMS + 1], b[2 * TERMS + 1];
		for (int k = 0; k <= 2 * TERMS; k += 2) {
			double x = random_double(&rng), y = rng_double(&rng) - 0.5;
			a[k] = scalar_shift(wide_of(x).mantissa, -900);
			b[k] = y * scalar_shift(1, -(int64_t)rng_below(&rng, 40) - 300);
			if (k < 2 * TERMS)
				a[k + 1] = -a[k], b[k + 1] = b[k];
		}
		long double left = (long double)a[2 * TERMS] * b[2 * TERMS];
		wide2 sum = { { 0, 0 }, 0 };
		for (uint32_t k = 2 * TERMS + 1; k > 0; k--) {
			uint32_t next = rng_below(&rng, k);
			sum = wide2_plus_product(sum, a[next], b[next]);
			a[next] = a[k - 1], b[next] = b[k - 1];
		}
		ck_assert(left != 0 && left > -0x1p-1100L && left < 0x1p-1100L);
		expect_near(wide2_rounded(sum), left, 2 * fabsl(left));
	}
}
END_TEST

START_TEST(scalar_shift_agrees_with_ldexp)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	for (int i = 0; i < 100000; i++) {
		double a = random_double(&rng);
		int e = (int)rng_below(&rng, 4200) - 2100;
		double found = scalar_shift(a, e), expected = ldexp(a, e);
		ck_assert(found == expected ||
			  (fabs(expected) < 0x1p-1022 && fabs(found - expected) <= 0x1p-1074));
	}
}
END_TEST

START_TEST(an_infinite_bound_is_beyond_every_finite_number)
{
	wide none = wide_of(__builtin_inf()),
	     most = wide_times(wide_of(SCALAR_MAX), wide_of(1e300));
	ck_assert(wide_less(most, none) && wide_less(wide_negative(none), wide_negative(most)));
	ck_assert(!wide_less(none, most) && wide_minus(most, none).mantissa < 0);
	ck_assert(wide_ratio(wide_of(0), wide_of(0)) == 0);
	ck_assert(wide_ratio(most, wide_of(0)) == __builtin_inf());
	ck_assert(wide_ratio(most, most) == 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("wide");
	TCase *tcase = tcase_create("arithmetic");
	tcase_add_test(tcase, arithmetic_agrees_with_long_double_to_2_to_the_minus_53);
	tcase_add_test(tcase, the_remainder_of_a_cancelling_sum_is_exact);
	tcase_add_test(tcase, scalar_shift_agrees_with_ldexp);
	tcase_add_test(tcase, an_infinite_bound_is_beyond_every_finite_number);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
