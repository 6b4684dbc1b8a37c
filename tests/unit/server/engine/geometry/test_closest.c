/* Nearest points (app A-01…A-04): invariants, degenerate inputs, and sampling as the oracle. */
#include "server/engine/geometry/closest.h"

#include "server/base/rng.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"

static struct rng rng;

START_TEST(a01_the_nearest_point_of_a_line_is_perpendicular_to_it)
{
	double k;
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 1000; run++) {
		vec3 p = random_vector(&rng, 1), a = random_vector(&rng, 1),
		     b = random_vector(&rng, 1);
		vec3 q = closest_point_line(p, a, b, &k);
		ck_assert_double_eq_tol(vec3_dot(vec3_sub(p, q), vec3_sub(b, a)), 0, 1e-13);
	}
	vec3 p = vec3_make(1, 2, 3), a = vec3_make(5, 5, 5);
	ck_assert(vec3_equal(closest_point_line(p, a, a, &k), a) && k == 0);
	ck_assert(vec3_equal(closest_point_segment(p, a, a, &k), a) && k == 0);
}
END_TEST

START_TEST(a02_the_nearest_point_of_a_plane_lies_in_it_at_the_right_distance)
{
	double d;
	/* With a normal that is not unit the distance is |k| |n|, not |k|. */
	vec3 q = closest_point_plane(vec3_make(1, 7, 2), vec3_make(0, 2, 0), 4, &d);
	ck_assert(vec3_equal(q, vec3_make(1, 2, 2)) && d == 5);
	q = closest_point_plane(vec3_make(1, -7, 2), vec3_make(0, 2, 0), 4, &d);
	ck_assert(d == -9);
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 1000; run++) {
		vec3 p = random_vector(&rng, 1), n = random_vector(&rng, 1);
		double offset = rng_range(&rng, -1, 1);
		q = closest_point_plane(p, n, offset, &d);
		ck_assert_double_eq_tol(vec3_dot(q, n), offset, 1e-13);
		ck_assert_double_eq_tol(vec3_distance(p, q), scalar_abs(d), 1e-12);
	}
	q = closest_point_plane(vec3_make(1, 2, 3), vec3_zero(), 4, &d);
	ck_assert(vec3_equal(q, vec3_make(1, 2, 3)) && d == 0);
}
END_TEST

START_TEST(a03_a_segment_misses_a_plane_or_meets_it_in_a_point_or_lies_in_it)
{
	vec3 n = vec3_make(0, 3, 0), p;
	double k;
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 0, 0), vec3_make(1, 4, 0), n, 3, &p, &k),
		SEGMENT_PLANE_POINT);
	ck_assert(k == 0.25 && vec3_equal(p, vec3_make(0.25, 1, 0)));
	/* The ends belong to the segment. */
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 0, 0), vec3_make(1, 1, 0), n, 3, &p, &k),
		SEGMENT_PLANE_POINT);
	ck_assert(k == 1 && vec3_equal(p, vec3_make(1, 1, 0)));
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 0, 0), vec3_make(1, 0.9, 0), n, 3, &p, &k),
		SEGMENT_PLANE_EMPTY);
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 1, 0), vec3_make(9, 1, 2), n, 3, &p, &k),
		SEGMENT_PLANE_WHOLE);
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 2, 0), vec3_make(9, 2, 2), n, 3, &p, &k),
		SEGMENT_PLANE_EMPTY);
	/* A segment parallel up to rounding counts as parallel. */
	ck_assert_int_eq(
		closest_segment_plane(vec3_make(0, 1, 0), vec3_make(9, 1 + 1e-13, 2), n, 3, &p, &k),
		SEGMENT_PLANE_WHOLE);
}
END_TEST

/* The point by the three distances of the appendix, as printed. */
static vec3 a04_as_printed(vec3 a, vec3 b, vec3 h1, vec3 h2)
{
	double k;
	double d1 = vec3_distance(a, closest_point_line(a, h1, h2, &k));
	double d2 = vec3_distance(b, closest_point_line(b, h1, h2, &k));
	vec3 u = vec3_normalize(vec3_sub(h2, h1));
	vec3 on = vec3_mul_sub(b, u, vec3_dot(vec3_sub(b, a), u));
	double d3 = vec3_distance(on, a);
	double kp = scalar_clamp((d1 * d1 - d2 * d2 + d3 * d3) / (2 * d3 * d3), 0, 1);
	return vec3_lerp(a, b, kp);
}

START_TEST(a04_the_point_nearest_to_a_line_agrees_with_the_appendix)
{
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 1000; run++) {
		vec3 a = random_vector(&rng, 1), b = random_vector(&rng, 1);
		vec3 h1 = random_vector(&rng, 1), h2 = random_vector(&rng, 1);
		ck_assert_double_lt(vec3_distance(closest_segment_line(a, b, h1, h2),
						  a04_as_printed(a, b, h1, h2)),
				    1e-9);
	}
	vec3 a = vec3_make(0, 1, 0), b = vec3_make(5, 1, 0);
	vec3 q = closest_segment_line(a, b, vec3_zero(), vec3_make(1, 0, 0));
	ck_assert(vec3_equal(q, a));
	/* A line of zero direction counts as a point. */
	q = closest_segment_line(a, b, vec3_make(3, 0, 0), vec3_make(3, 0, 0));
	ck_assert_double_lt(vec3_distance(q, vec3_make(3, 1, 0)), 1e-15);
}
END_TEST

START_TEST(the_nearest_pair_of_two_segments_is_the_nearest_of_all_samples)
{
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 3000; run++) {
		vec3 a0 = random_vector(&rng, 1), a1 = random_vector(&rng, 1),
		     b0 = random_vector(&rng, 1), b1;
		switch (run % 6) {
		case 0: /* parallel */
			b1 = vec3_mul_add(b0, vec3_sub(a1, a0), rng_range(&rng, -2, 2));
			break;
		case 1: /* nearly parallel */
			b1 = vec3_add(vec3_mul_add(b0, vec3_sub(a1, a0), 1.5),
				      vec3_scale(random_vector(&rng, 1), 1e-7));
			break;
		case 2: /* a point */
			b1 = b0;
			break;
		default:
			b1 = random_vector(&rng, 1);
		}
		if (run % 30 == 2)
			a1 = a0;
		struct segment_pair pair = closest_segment_segment(a0, a1, b0, b1);
		ck_assert(pair.s >= 0 && pair.s <= 1 && pair.t >= 0 && pair.t <= 1);
		ck_assert_double_lt(vec3_distance(pair.first, vec3_lerp(a0, a1, pair.s)), 1e-15);
		ck_assert_double_lt(vec3_distance(pair.second, vec3_lerp(b0, b1, pair.t)), 1e-15);
		double least = scalar_sqrt(pair.distance_squared);
		for (uint32_t i = 0; i <= 20; i++) {
			double k;
			vec3 p = vec3_lerp(a0, a1, i / 20.0), q = vec3_lerp(b0, b1, i / 20.0);
			double d = vec3_distance(p, closest_point_segment(p, b0, b1, &k));
			ck_assert_double_gt(d, least - 1e-9);
			d = vec3_distance(q, closest_point_segment(q, a0, a1, &k));
			ck_assert_double_gt(d, least - 1e-9);
		}
	}
}
END_TEST

START_TEST(parallel_segments_give_the_least_parameter)
{
	struct segment_pair pair = closest_segment_segment(vec3_make(0, 0, 0), vec3_make(4, 0, 0),
							   vec3_make(1, 1, 0), vec3_make(9, 1, 0));
	ck_assert(pair.s == 0.25 && pair.t == 0 && pair.distance_squared == 1);
	pair = closest_segment_segment(vec3_make(2, 0, 0), vec3_make(4, 0, 0), vec3_make(9, 1, 0),
				       vec3_make(1, 1, 0));
	ck_assert(pair.s == 0 && pair.t == 0.875 && pair.distance_squared == 1);
}
END_TEST

START_TEST(the_nearest_point_of_a_triangle_is_the_nearest_of_all_samples)
{
	uint32_t features[TRIANGLE_FACE + 1] = { 0 };
	rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < 3000; run++) {
		vec3 a = random_vector(&rng, 1), b = random_vector(&rng, 1),
		     c = random_vector(&rng, 1);
		vec3 p = vec3_scale(random_vector(&rng, 1), 2);
		if (run % 10 == 0)
			c = vec3_lerp(a, b, rng_range(&rng, -1, 2));
		if (run % 100 == 0)
			b = c = a;
		struct triangle_point nearest = closest_point_triangle(p, a, b, c);
		double least = scalar_sqrt(nearest.distance_squared);
		features[nearest.feature]++;
		ck_assert_double_eq_tol(vec3_distance(p, nearest.point), least, 1e-12);
		for (uint32_t i = 0; i <= 10; i++)
			for (uint32_t k = 0; i + k <= 10; k++) {
				vec3 q = vec3_mul_add(vec3_mul_add(a, vec3_sub(b, a), i / 10.0),
						      vec3_sub(c, a), k / 10.0);
				ck_assert_double_gt(vec3_distance(p, q), least - 1e-9);
			}
	}
	for (uint32_t f = 0; f <= TRIANGLE_FACE; f++)
		ck_assert_uint_gt(features[f], 50);
}
END_TEST

START_TEST(the_reported_feature_contains_the_nearest_point)
{
	vec3 a = vec3_make(0, 0, 0), b = vec3_make(2, 0, 0), c = vec3_make(0, 2, 0);
	static const struct {
		vec3 p;
		enum triangle_feature feature;
	} CASES[] = {
		{ { -1, -1, 1 }, TRIANGLE_VERTEX_0 }, { { 4, -1, 1 }, TRIANGLE_VERTEX_1 },
		{ { -1, 5, 1 }, TRIANGLE_VERTEX_2 },  { { 1, -1, 0 }, TRIANGLE_EDGE_0 },
		{ { 2, 2, 0 }, TRIANGLE_EDGE_1 },     { { -1, 1, 3 }, TRIANGLE_EDGE_2 },
		{ { 0.5, 0.5, 9 }, TRIANGLE_FACE },
	};
	for (uint32_t i = 0; i < COUNT_OF(CASES); i++)
		ck_assert_int_eq(closest_point_triangle(CASES[i].p, a, b, c).feature,
				 CASES[i].feature);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/closest");
	TCase *appendix = tcase_create("appendix");
	tcase_add_test(appendix, a01_the_nearest_point_of_a_line_is_perpendicular_to_it);
	tcase_add_test(appendix, a02_the_nearest_point_of_a_plane_lies_in_it_at_the_right_distance);
	tcase_add_test(appendix, a03_a_segment_misses_a_plane_or_meets_it_in_a_point_or_lies_in_it);
	tcase_add_test(appendix, a04_the_point_nearest_to_a_line_agrees_with_the_appendix);
	suite_add_tcase(suite, appendix);
	TCase *pairs = tcase_create("pairs");
	tcase_add_test(pairs, the_nearest_pair_of_two_segments_is_the_nearest_of_all_samples);
	tcase_add_test(pairs, parallel_segments_give_the_least_parameter);
	tcase_add_test(pairs, the_nearest_point_of_a_triangle_is_the_nearest_of_all_samples);
	tcase_add_test(pairs, the_reported_feature_contains_the_nearest_point);
	suite_add_tcase(suite, pairs);
	return suite;
}

int main(void)
{
	return check_main(make);
}
