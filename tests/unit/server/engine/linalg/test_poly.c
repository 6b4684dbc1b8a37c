/* Roots of polynomials in an interval (ch1-3 G-35). */
#include "server/engine/linalg/poly.h"

#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"

/* c = lead × Π (x − root). */
static void from_roots(double *c, const double *roots, uint32_t degree, double lead)
{
	c[0] = lead;
	for (uint32_t i = 0; i < degree; i++) {
		c[i + 1] = c[i];
		for (uint32_t k = i; k > 0; k--)
			c[k] = c[k - 1] - roots[i] * c[k];
		c[0] *= -roots[i];
	}
}

static void expect_roots(const double *c, uint32_t degree, const double *expected, uint32_t count,
			 double tolerance)
{
	double roots[POLY_DEGREE_MAX];
	uint32_t found = poly_roots(c, degree, 0, 1, roots);
	ck_assert_uint_eq(found, count);
	for (uint32_t i = 0; i < count; i++)
		ck_assert_double_le(scalar_abs(roots[i] - expected[i]), tolerance);
}

START_TEST(three_roots_are_all_found_in_order)
{
	const double roots[] = { 0.2, 0.5, 0.9 };
	double c[4], found[3];
	from_roots(c, roots, 3, 1);
	expect_roots(c, 3, roots, 3, 1e-15);
	from_roots(c, roots, 3, -7e5);
	expect_roots(c, 3, roots, 3, 1e-15);
	ck_assert_uint_eq(poly_roots(c, 3, 0.3, 0.8, found), 1);
	ck_assert_double_le(scalar_abs(found[0] - 0.5), 1e-15);
}
END_TEST

START_TEST(a_double_root_survives_a_perturbation_by_rounding)
{
	const double half[] = { 0.5 };
	for (int sign = -1; sign <= 1; sign++) {
		double c[3] = { 0.25 + sign * 1e-15, -1, 1 }, found[2];
		uint32_t count = poly_roots(c, 2, 0, 1, found);
		ck_assert_uint_ge(count, 1);
		for (uint32_t i = 0; i < count; i++)
			ck_assert_double_le(scalar_abs(found[i] - 0.5), 4e-8);
	}
	double clear[3] = { 0.25 + 1e-12, -1, 1 };
	expect_roots(clear, 2, half, 0, 0);
	/* A double root next to a single one. */
	const double roots[] = { 0.3, 0.3, 0.8 }, distinct[] = { 0.3, 0.8 };
	double c[4];
	from_roots(c, roots, 3, 3);
	expect_roots(c, 3, distinct, 2, 1e-7);
}
END_TEST

START_TEST(vanishing_leading_coefficients_lower_the_degree)
{
	const double line[] = { 0.25 }, parabola[] = { 0.25, 0.75 };
	double c[7] = { -1, 4, 0, 0, 0, 0, 0 };
	for (uint32_t degree = 1; degree <= 6; degree++)
		expect_roots(c, degree, line, 1, 0);
	double p[7] = { 0.1875, -1, 1, 0, 0, 0, 0 };
	for (uint32_t degree = 2; degree <= 6; degree++)
		expect_roots(p, degree, parabola, 2, 1e-15);
	double nothing[4] = { 0 }, constant[4] = { 3 };
	expect_roots(nothing, 3, NULL, 0, 0);
	expect_roots(constant, 3, NULL, 0, 0);
	/* A tiny leading coefficient must not disturb the other roots. */
	double nearly[4] = { 0.1875, -1, 1, 1e-300 };
	expect_roots(nearly, 3, parabola, 2, 1e-15);
}
END_TEST

START_TEST(roots_at_the_ends_belong_to_the_interval)
{
	const double ends[] = { 0, 1 };
	double c[3] = { 0, -1, 1 };
	expect_roots(c, 2, ends, 2, 0);
	double found[2];
	ck_assert_uint_eq(poly_roots(c, 2, 0, 0, found), 1);
	ck_assert_uint_eq(poly_roots(c, 2, 0.5, 0.5, found), 0);
	ck_assert_uint_eq(poly_roots(c, 2, 0x1p-60, 1 - 0x1p-40, found), 0);
}
END_TEST

/* On an interval of two neighbouring doubles every knot is zero up to rounding. */
START_TEST(there_are_never_more_roots_than_the_degree)
{
	for (uint32_t degree = 1; degree <= POLY_DEGREE_MAX; degree++) {
		double c[POLY_DEGREE_MAX + 1] = { 1 }, roots[POLY_DEGREE_MAX + 1];
		/* (x − 1)^degree */
		for (uint32_t power = 1; power <= degree; power++)
			for (uint32_t i = power + 1; i-- > 0;)
				c[i] = (i > 0 ? c[i - 1] : 0) - (i < power ? c[i] : 0);
		roots[degree] = 17;
		uint32_t count = poly_roots(c, degree, 1 - 0x1p-53, 1, roots);
		ck_assert_uint_ge(count, 1);
		ck_assert_uint_le(count, degree);
		ck_assert(roots[degree] == 17);
	}
}
END_TEST

START_TEST(random_roots_are_recovered_up_to_degree_six)
{
	struct rng rng = rng_seeded(check_seed());
	for (int n = 0; n < 3000; n++) {
		uint32_t degree = 1 + rng_below(&rng, POLY_DEGREE_MAX), inside = 0;
		double roots[POLY_DEGREE_MAX], expected[POLY_DEGREE_MAX], c[POLY_DEGREE_MAX + 1];
		/* Roots at least 0.15 apart, some of them outside [0, 1]. */
		double at = rng_range(&rng, -1, 0);
		for (uint32_t i = 0; i < degree; i++) {
			at += rng_range(&rng, 0.15, 0.6);
			roots[i] = at;
			if (at > 0 && at < 1)
				expected[inside++] = at;
		}
		from_roots(c, roots, degree, rng_range(&rng, 1, 100));
		expect_roots(c, degree, expected, inside, 1e-9);
	}
}
END_TEST

START_TEST(every_root_of_a_random_cubic_is_a_sign_change_or_a_touch)
{
	struct rng rng = rng_seeded(check_seed());
	for (int n = 0; n < 20000; n++) {
		double c[4], roots[3], scale = 1e-150;
		for (int i = 0; i < n % 7; i++)
			scale *= 1e50;
		for (int i = 0; i < 4; i++)
			c[i] = rng_range(&rng, -scale, scale);
		uint32_t count = poly_roots(c, 3, -3, 3, roots);
		double before = -3;
		/* The sign is constant between reported roots, so sign changes on a grid count
		 * roots from below. */
		uint32_t changes = 0;
		for (int i = 1; i <= 60; i++) {
			double x = -3 + 0.1 * i, f = poly_value(c, 3, x);
			changes += (f < 0) != (poly_value(c, 3, before) < 0);
			before = x;
		}
		ck_assert_uint_ge(count, changes);
		ck_assert_uint_eq((count - changes) % 2, 0);
		for (uint32_t i = 0; i < count; i++) {
			double x = roots[i], size = scalar_abs(x), terms = 0;
			for (int k = 3; k >= 0; k--)
				terms = terms * size + scalar_abs(c[k]);
			ck_assert_double_le(scalar_abs(poly_value(c, 3, x)), POLY_TOUCH * terms);
			ck_assert(x >= -3 && x <= 3 && (i == 0 || x > roots[i - 1]));
		}
	}
}
END_TEST

START_TEST(wide_intervals_and_tiny_roots_terminate)
{
	double c[3] = { -1e-300, 1e-3, 1e280 }, roots[2];
	ck_assert_uint_eq(poly_roots(c, 2, 0, 1e8, roots), 1);
	ck_assert_double_le(scalar_abs(poly_value(c, 2, roots[0])), 1e-300);
	double cube[4] = { -1e-270, 0, 0, 1 };
	double root[3];
	ck_assert_uint_eq(poly_roots(cube, 3, -1e100, 1e100, root), 1);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("poly");
	TCase *all = tcase_create("poly");
	tcase_add_test(all, three_roots_are_all_found_in_order);
	tcase_add_test(all, a_double_root_survives_a_perturbation_by_rounding);
	tcase_add_test(all, vanishing_leading_coefficients_lower_the_degree);
	tcase_add_test(all, roots_at_the_ends_belong_to_the_interval);
	tcase_add_test(all, there_are_never_more_roots_than_the_degree);
	tcase_add_test(all, random_roots_are_recovered_up_to_degree_six);
	tcase_add_test(all, every_root_of_a_random_cubic_is_a_sign_change_or_a_touch);
	tcase_add_test(all, wide_intervals_and_tiny_roots_terminate);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
