/* The search for separating axes against brute force over all axes (spec G-18). */
#include "server/engine/collision/sat.h"

#include "server/engine/collision/manifold.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_collision.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static struct shape *random_hull(uint32_t count, double size)
{
	vec3 points[64];
	for (uint32_t k = 0; k < count; k++)
		points[k] = vec3_scale(random_direction(&rng), rng_range(&rng, 0.5, 1) * size);
	return make_hull(points, count);
}

static struct placing placing_of(const pose *at)
{
	return (struct placing){ mat3_from_quat(at->rotation), at->position };
}

/* The greatest separation of the three searches. */
static double greatest_of_searches(const struct hull *a, const struct hull *b, const pose *b_in_a,
				   double reach)
{
	struct placing there = placing_of(b_in_a), back = placing_inverse(&there);
	struct sat_face fa = sat_faces(a, b, &there, sat_face_guess(a, b, &there), SCALAR_MAX);
	struct sat_face fb = sat_faces(b, a, &back, sat_face_guess(b, a, &back), SCALAR_MAX);
	double face = scalar_max(fa.separation, fb.separation);
	struct sat_edges edges =
		sat_edges(a, b, &there, face, reach < 0 ? scalar_max(-face, 0) : reach,
			  placing_point(&there, b->vertices[fa.vertex]),
			  placing_point(&back, a->vertices[fb.vertex]));
	return scalar_max(face, edges.separation);
}

START_TEST(the_search_finds_the_greatest_separation_of_hulls)
{
	struct shape *shapes[5];
	for (uint32_t k = 0; k < 5; k++)
		shapes[k] = k == 0 ? make_box(0.5, 0.3, 0.8) : random_hull(4 + 4 * k, 0.7);
	for (int k = 0; k < 2000; k++) {
		const struct hull *a = shapes[rng_below(&rng, 5)]->hull;
		const struct hull *b = shapes[rng_below(&rng, 5)]->hull;
		pose at = pose_make(random_vector(&rng, 1), awkward_rotation(&rng));
		double wanted = oracle_sat(a, b, &at);
		double found = greatest_of_searches(a, b, &at, SCALAR_MAX);
		if (wanted > 2e-5) {
			/* Apart: the faces of the Minkowski sum show a separation, though not its
			 * amount. */
			ck_assert_double_gt(found, 0);
			ck_assert_double_le(found, wanted + 1e-12);
			continue;
		}
		ck_assert_double_eq_tol(found, wanted, 2e-5);
		/* Also without the edges far from the contact. */
		ck_assert_double_eq_tol(greatest_of_searches(a, b, &at, -1), wanted, 2e-5);
	}
	for (uint32_t k = 0; k < 5; k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(an_edge_pair_is_an_axis_only_if_it_is_a_face_of_the_minkowski_sum)
{
	struct shape *one = random_hull(10, 0.7), *other = random_hull(10, 0.7);
	const struct hull *a = one->hull, *b = other->hull;
	for (int k = 0; k < 10; k++) {
		pose at = pose_make(random_vector(&rng, 1), random_rotation(&rng));
		struct placing there = placing_of(&at);
		for (uint32_t i = 0; i < a->edge_count; i++) {
			for (uint32_t j = 0; j < b->edge_count; j++) {
				vec3 n = { 0, 0, 0 };
				double separation = sat_edge_pair(a, b, &there, i, j, &n);
				if (separation == -SCALAR_MAX)
					continue;
				ck_assert_double_eq_tol(vec3_length(n), 1, 1e-12);
				ck_assert_double_eq_tol(oracle_separation(a, b, &at, n), separation,
							1e-9);
			}
		}
	}
	shape_release(one);
	shape_release(other);
}
END_TEST

/* The manifold of two pieces must agree with brute force over all axes: apart or not, and the
 * depth. */
static void check_manifold(const struct shape *a, const struct shape *b, const pose *at,
			   double margin)
{
	struct pair_cache cache = { 0 };
	struct manifold m;
	double axis = oracle_sat(a->hull, b->hull, at);
	double slop = 1.01e-3;
	collide_pieces((struct piece){ a, 0 }, (struct piece){ b, 0 }, at, margin, &cache, &m);
	if (axis > margin + 1e-9) {
		ck_assert_uint_eq(m.count, 0);
		return;
	}
	if (axis < 0)
		ck_assert_uint_gt(m.count, 0);
	if (m.count == 0) {
		/* Within the margin along every axis, yet the distance is larger. */
		ck_assert_double_gt(oracle_distance(a->hull, b->hull, at), margin - 1e-9);
		return;
	}
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < m.count; k++)
		least = scalar_min(least, m.points[k].separation);
	ck_assert_double_eq_tol(vec3_length(m.normal), 1, 1e-9);
	if (axis < 0) {
		/* The normal is an axis whose separation is the greatest up to the slop. */
		double along = oracle_separation(a->hull, b->hull, at, m.normal);
		ck_assert_double_ge(along, axis - slop);
		ck_assert_double_le(along, axis + 1e-9);
		ck_assert_double_ge(least, along - 1e-9);
	} else {
		double distance = oracle_distance(a->hull, b->hull, at);
		ck_assert_double_le(least, distance + slop);
		ck_assert_double_ge(least, axis - 2 * slop);
	}
}

START_TEST(box_verdicts_agree_with_all_axes_in_random_and_aligned_poses)
{
	struct shape *boxes[3] = { make_box(0.5, 0.5, 0.5), make_box(1, 0.2, 0.6),
				   make_box(0.1, 2, 0.1) };
	for (int k = 0; k < 10000; k++) {
		const struct shape *a = boxes[rng_below(&rng, 3)], *b = boxes[rng_below(&rng, 3)];
		vec3 place = random_vector(&rng, 1.5);
		if (k % 3 == 0)
			place = vec3_make(
				0, a->box.half.y + b->box.half.y + rng_range(&rng, -0.03, 0.03), 0);
		if (k % 7 == 0)
			place.x = a->box.half.x + b->box.half.x;
		pose at = pose_make(place, awkward_rotation(&rng));
		check_manifold(a, b, &at, 0.02);
	}
	for (int k = 0; k < 3; k++)
		shape_release(boxes[k]);
}
END_TEST

START_TEST(hull_verdicts_agree_with_all_axes)
{
	struct shape *shapes[4] = { make_box(0.5, 0.3, 0.8), random_hull(6, 0.8),
				    random_hull(14, 0.8), random_hull(50, 0.6) };
	for (int k = 0; k < 1200; k++) {
		const struct shape *a = shapes[rng_below(&rng, 4)],
				   *b = shapes[1 + rng_below(&rng, 3)];
		pose at = pose_make(vec3_scale(random_direction(&rng), rng_range(&rng, 0.5, 1.4)),
				    awkward_rotation(&rng));
		check_manifold(a, b, &at, 0.02);
	}
	for (int k = 0; k < 4; k++)
		shape_release(shapes[k]);
}
END_TEST

/* The example of G-18: separated only by the axis of two z edges, a pair with i = j. */
START_TEST(two_cubes_may_be_separated_only_by_an_edge_pair_of_equal_axes)
{
	struct shape *cube = make_box(1, 1, 1);
	double r = 0.70710678118654752440;
	vec3 n = vec3_make(r, r, 0), z = vec3_make(0, 0, 1);
	mat3 axes = mat3_columns(vec3_normalize(vec3_add(n, z)), vec3_normalize(vec3_sub(n, z)),
				 vec3_normalize(vec3_make(-1, 1, 0)));
	struct pair_cache cache = { 0 };
	struct manifold m;
	pose at = pose_make(vec3_scale(n, 2.9), quat_from_mat3(axes));
	collide_pieces((struct piece){ cube, 0 }, (struct piece){ cube, 0 }, &at, 0, &cache, &m);
	ck_assert_uint_eq(m.count, 0);
	at.position = vec3_scale(n, 2.8);
	collide_pieces((struct piece){ cube, 0 }, (struct piece){ cube, 0 }, &at, 0, &cache, &m);
	ck_assert_uint_eq(m.count, 1);
	ck_assert_double_eq_tol(m.points[0].separation, 2.8 - 2 * 1.41421356237309504880, 1e-12);
	shape_release(cube);
}
END_TEST

START_TEST(the_greatest_separation_does_not_depend_on_the_cached_axis)
{
	struct shape *shapes[4] = { make_box(0.5, 0.3, 0.8), make_box(1, 0.1, 0.4),
				    random_hull(8, 0.7), random_hull(20, 0.7) };
	struct pair_cache kept = { 0 };
	uint32_t remembered = 0;
	for (int k = 0; k < 3000; k++) {
		const struct hull *a = shapes[rng_below(&rng, 4)]->hull;
		const struct hull *b = shapes[rng_below(&rng, 4)]->hull;
		pose at = pose_make(random_vector(&rng, 1), awkward_rotation(&rng));
		struct placing there = placing_of(&at);
		struct pair_cache cold = { 0 }, wild = { (uint8_t)rng_below(&rng, 6), { 0 }, 0, 0 };
		wild.feature_a = (uint16_t)rng_below(&rng, 60);
		wild.feature_b = (uint16_t)rng_below(&rng, 60);
		struct sat_axis one, other, sign;
		sat_greatest(a, b, &there, SCALAR_MAX, &cold, &one);
		sat_greatest(a, b, &there, SCALAR_MAX, &wild, &other);
		sat_greatest(a, b, &there, 0, &kept, &sign);
		remembered += sign.remembered;
		ck_assert_double_eq_tol(one.separation, other.separation, 1e-14);
		if (scalar_abs(one.separation) > 1e-13)
			ck_assert((one.separation > 0) == (sign.separation > 0));
		/* The separation holds along its axis, and no axis of overlapping hulls has a
		 * greater one. */
		ck_assert_double_eq_tol(oracle_separation(a, b, &at, one.normal), one.separation,
					1e-12);
		double wanted = oracle_sat(a, b, &at);
		ck_assert_double_le(one.separation, scalar_max(wanted, 0) + 1e-12);
		if (wanted < 0)
			ck_assert_double_eq_tol(one.separation, wanted, 1e-12);
	}
	ck_assert_uint_gt(remembered, 30);
	for (int k = 0; k < 4; k++)
		shape_release(shapes[k]);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/sat");
	TCase *tcase = tcase_create("sat");
	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, the_search_finds_the_greatest_separation_of_hulls);
	tcase_add_test(tcase, an_edge_pair_is_an_axis_only_if_it_is_a_face_of_the_minkowski_sum);
	tcase_add_test(tcase, box_verdicts_agree_with_all_axes_in_random_and_aligned_poses);
	tcase_add_test(tcase, hull_verdicts_agree_with_all_axes);
	tcase_add_test(tcase, two_cubes_may_be_separated_only_by_an_edge_pair_of_equal_axes);
	tcase_add_test(tcase, the_greatest_separation_does_not_depend_on_the_cached_axis);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
