/* Exact orientation, with 128-bit integers as the oracle. */
#include "server/engine/geometry/orient.h"

#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"

typedef __int128 wide;

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static int sign_of(wide x)
{
	return x > 0 ? 1 : x < 0 ? -1 : 0;
}

/* Integer coordinates below 2^40 in size. */
static int wide_plane(vec3 a, vec3 b, vec3 c, vec3 p)
{
	wide u[3], v[3], w[3], sum = 0;
	for (uint32_t i = 0; i < 3; i++) {
		u[i] = (int64_t)vec3_get(b, i) - (int64_t)vec3_get(a, i);
		v[i] = (int64_t)vec3_get(c, i) - (int64_t)vec3_get(a, i);
		w[i] = (int64_t)vec3_get(p, i) - (int64_t)vec3_get(a, i);
	}
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
		sum += (u[i] * v[j] - u[j] * v[i]) * w[k];
	}
	return sign_of(sum);
}

/* A point of the plane (or line) of a b c, exactly or off by a few units. */
static vec3 point_near_plane(vec3 a, vec3 b, vec3 c, bool line)
{
	double s = (double)rng_below(&rng, 9) - 4, t = line ? 0 : (double)rng_below(&rng, 9) - 4;
	vec3 p = vec3_mul_add(vec3_mul_add(a, vec3_sub(b, a), s), vec3_sub(c, a), t);
	return vec3_add(p, oracle_grid_point(&rng, rng_below(&rng, 2)));
}

START_TEST(signs_agree_with_integer_arithmetic)
{
	uint32_t zero = 0, runs = oracle_runs(100000);
	for (uint32_t run = 0; run < runs; run++) {
		uint32_t size = 1u << rng_below(&rng, 30);
		vec3 a = oracle_grid_point(&rng, size), b = oracle_grid_point(&rng, size),
		     c = oracle_grid_point(&rng, size), p = point_near_plane(a, b, c, run % 2);
		int wanted = wide_plane(a, b, c, p);
		zero += wanted == 0;
		ck_assert_int_eq(orient_plane(a, b, c, p), wanted);
		/* Scaling by a power of two changes no bit of a mantissa. */
		ck_assert_int_eq(orient_plane(vec3_scale(a, 0x1p-60), vec3_scale(b, 0x1p-60),
					      vec3_scale(c, 0x1p-60), vec3_scale(p, 0x1p-60)),
				 wanted);
		for (uint32_t axis = 0; axis < 3; axis++) {
			/* In the plane across the axis a third dimension is a unit step along it. */
			vec3 up = vec3_add(a, vec3_axis(axis));
			ck_assert_int_eq(orient_line(axis, a, b, p), wide_plane(up, b, a, p));
		}
	}
	ck_assert_uint_gt(zero, runs / 4);
}
END_TEST

START_TEST(exchanging_two_points_flips_the_sign_even_where_differences_round)
{
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		vec3 p[4];
		for (uint32_t i = 0; i < 4; i++)
			p[i] = vec3_make(rng_range(&rng, -1, 1) * (i == 0 ? 1e9 : 1e-9),
					 rng_range(&rng, -1, 1) * (i == 1 ? 1e7 : 1e-7),
					 rng_range(&rng, -1, 1));
		if (run % 3 == 0)
			p[3] = vec3_lerp(p[0], p[1], rng_double(&rng));
		int sign = orient_plane(p[0], p[1], p[2], p[3]);
		ck_assert_int_eq(orient_plane(p[1], p[0], p[2], p[3]), -sign);
		ck_assert_int_eq(orient_plane(p[1], p[2], p[0], p[3]), sign);
		ck_assert_int_eq(orient_plane(p[0], p[1], p[3], p[2]), -sign);
		ck_assert_int_eq(orient_plane(p[3], p[1], p[2], p[0]), -sign);
		for (uint32_t axis = 0; axis < 3; axis++)
			ck_assert_int_eq(orient_line(axis, p[0], p[1], p[2]),
					 -orient_line(axis, p[1], p[0], p[2]));
	}
}
END_TEST

START_TEST(one_unit_in_the_last_place_decides_the_sign)
{
	/* 0.1 + 0.2 rounds up: the point lies one unit above the diagonal. */
	vec3 a = vec3_zero(), b = vec3_make(1, 1, 0), above = vec3_make(0.3, 0.1 + 0.2, 0);
	ck_assert_int_eq(orient_line(2, a, b, above), 1);
	ck_assert_int_eq(orient_line(2, a, b, vec3_make(0.3, 0.3, 7)), 0);
	ck_assert_int_eq(orient_plane(a, b, vec3_make(0, 0, 1), above), -1);
	ck_assert(orient_collinear(a, b, vec3_make(0.3, 0.3, 0)));
	ck_assert(!orient_collinear(a, b, above));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/orient");
	TCase *tc = tcase_create("signs");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, signs_agree_with_integer_arithmetic);
	tcase_add_test(tc, exchanging_two_points_flips_the_sign_even_where_differences_round);
	tcase_add_test(tc, one_unit_in_the_last_place_decides_the_sign);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
