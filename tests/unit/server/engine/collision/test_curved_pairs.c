/* Distances and contacts of cylinders, cones, ellipsoids and rounded hulls: certificates, agreement
 * with finely sampled hulls, symmetry, depth as a way out, what carries a body, planes, meshes and
 * fields. */
#include "server/base/rng.h"
#include "server/engine/collision/advance.h"
#include "server/engine/collision/curved_pair.h"
#include "server/engine/collision/manifold.h"
#include "server/engine/collision/placed.h"
#include "server/engine/collision/query.h"
#include "server/engine/collision/time_of_impact.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/rounded.h"
#include "server/engine/geometry/support.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

#include <math.h>
#include <stdio.h>

enum { KINDS = 9, CURVED = 5, ROUNDED_HULL = 4 };

/* The first CURVED kinds are curved or rounded. */
static struct shape *make_one(struct rng *rng, uint32_t which)
{
	vec3 points[9];
	for (uint32_t i = 0; i < COUNT_OF(points); i++)
		points[i] = random_vector(rng, 1);
	double a = rng_range(rng, 0.2, 1), b = rng_range(rng, 0.2, 1), c = rng_range(rng, 0.2, 1);
	switch (which) {
	case 0:
		return make_cylinder(a, b);
	case 1:
		return make_cone(a, b);
	case 2:
		return make_ellipsoid(a, b, c);
	case 3:
		return make_rounded_box(a, b, c, rng_range(rng, 0.05, 0.5));
	case ROUNDED_HULL:
		return make_rounded_hull(points, COUNT_OF(points), rng_range(rng, 0.05, 0.5));
	case 5:
		return make_sphere(a);
	case 6:
		return make_capsule(a, b);
	case 7:
		return make_box(a, b, c);
	default:
		return make_hull(points, COUNT_OF(points));
	}
}

static void distance_of(const struct shape *a, const struct shape *b, const pose *at,
			struct gjk_result *out)
{
	struct pair pair = { .a = a, .b = b, .b_in_a = *at };
	gjk_shapes(&pair, out);
}

START_TEST(the_bounds_of_a_distance_meet_within_1e_9)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t apart = 0, touching = 0, open = 0;
	double widest = 0;
	uint32_t runs = check_cases(8000);
	for (uint32_t run = 0; run < runs; run++) {
		struct shape *a = make_one(&rng, rng_below(&rng, CURVED));
		struct shape *b = make_one(&rng, rng_below(&rng, KINDS));
		pose at = { random_vector(&rng, 3), awkward_rotation(&rng) };
		struct gjk_result near;
		distance_of(a, b, &at, &near);
		apart += !near.touching;
		touching += near.touching;
		bool met = !near.handed_over || a->kind == SHAPE_ROUNDED;
		open += !met;
		ck_assert_double_le(near.distance - near.lower, 1e-8);
		if (!near.touching && met) {
			widest = fmax(widest, near.distance - near.lower);
			ck_assert_double_le(near.distance - near.lower, 1e-9);
			ck_assert_double_eq_tol(vec3_distance(near.point_a, near.point_b),
						near.distance, 1e-12);
		}
		shape_release(a);
		shape_release(b);
	}
	/* Axes that are parallel up to 1e-9 may leave the bounds open, which is told. */
	ck_assert_uint_le(open, 2);
	ck_assert_uint_gt(apart, runs / 2);
	ck_assert_uint_gt(touching, runs * 3 / 80);
	printf("# widest gap %.3g m\n", widest);
}
END_TEST

/* Points of the surface, for both sides: the least distance of the hulls is an upper bound that
 * converges. */
START_TEST(distances_are_those_of_finely_sampled_hulls)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < check_cases(200); run++) {
		struct shape *a = make_one(&rng, run % CURVED);
		struct shape *b = make_one(&rng, run / CURVED % KINDS);
		pose at = { random_vector(&rng, 3), random_rotation(&rng) };
		struct gjk_result exact, sampled[2];
		distance_of(a, b, &at, &exact);
		for (uint32_t level = 0; level < 2 && !exact.touching; level++) {
			enum { MOST = 1600 };
			vec3 points[2][MOST];
			uint32_t count = level == 0 ? 100 : MOST;
			const struct shape *shapes[2] = { a, b };
			for (uint32_t s = 0; s < 2; s++)
				for (uint32_t i = 0; i < count; i++) {
					/* A spiral of directions. */
					double z = 1 - (2 * i + 1.0) / count, t = 2.399963 * i;
					double r = sqrt(1 - z * z);
					vec3 d = vec3_make(r * cos(t), z, r * sin(t));
					points[s][i] = support_core(shapes[s], 0, d).point;
				}
			struct gjk_core hull_a = { points[0], count, NULL, 0, NULL };
			struct gjk_core hull_b = { points[1], count, NULL, 0, NULL };
			mat3 rotation = mat3_from_quat(at.rotation);
			gjk_distance(&hull_a, &hull_b, &rotation, at.position, NULL,
				     &sampled[level]);
			ck_assert_double_ge(sampled[level].distance, exact.lower - 1e-12);
		}
		if (!exact.touching) {
			ck_assert_double_le(sampled[1].distance - exact.distance, 0.03);
			ck_assert_double_le(sampled[1].distance - exact.distance,
					    0.5 * (sampled[0].distance - exact.distance) + 0.01);
		}
		shape_release(a);
		shape_release(b);
	}
}
END_TEST

/* How far the surfaces are apart along n, A to B. */
static double apart_along(const struct shape *a, const struct shape *b, const pose *at, vec3 n)
{
	vec3 back = pose_inverse_vector(*at, vec3_negate(n));
	double far = vec3_dot(support_core(a, 0, n).point, n) + support_radius(a);
	vec3 near = pose_point(*at, support_core(b, 0, back).point);
	return vec3_dot(near, n) - support_radius(b) - far;
}

static double deepest(const struct manifold *found)
{
	double least = SCALAR_MAX;
	for (uint32_t k = 0; k < found->count; k++)
		least = fmin(least, found->points[k].separation);
	return least;
}

static void collide(const struct shape *a, const struct shape *b, const pose *at, double margin,
		    struct manifold *out)
{
	struct pair_cache cache = { 0 };
	*out = (struct manifold){ .count = 77 };
	collide_pieces((struct piece){ a, 0 }, (struct piece){ b, 0 }, at, margin, &cache, out);
}

START_TEST(a_manifold_is_as_deep_as_the_way_out_along_its_normal)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t contacts = 0, deep = 0, many = 0;
	for (uint32_t run = 0; run < check_cases(3000); run++) {
		struct shape *a = make_one(&rng, rng_below(&rng, CURVED));
		struct shape *b = make_one(&rng, rng_below(&rng, KINDS));
		pose at = { random_vector(&rng, 1.6), awkward_rotation(&rng) };
		struct manifold found;
		struct gjk_result near;
		collide(a, b, &at, 0.1, &found);
		distance_of(a, b, &at, &near);
		double gap = near.distance - support_radius(a) - support_radius(b);
		if (!near.touching)
			ck_assert_int_eq(found.count > 0, gap <= 0.1);
		if (found.count == 0) {
			shape_release(a);
			shape_release(b);
			continue;
		}
		contacts++;
		many += found.count > 1;
		deep += deepest(&found) < -0.05;
		double slop = pair_slop(a, b), separation = deepest(&found);
		ck_assert_double_eq_tol(vec3_length(found.normal), 1, 1e-12);
		/* The deepest point tells the separation along the normal. */
		ck_assert_double_eq_tol(apart_along(a, b, &at, found.normal), separation,
					slop + 1e-9);
		if (!near.touching)
			ck_assert_double_eq_tol(separation, gap, 1e-9);
		/* No other direction of many parts them sooner, by more than the search allows. */
		double best = -SCALAR_MAX;
		for (uint32_t k = 0; k < check_cases(200); k++) {
			vec3 aside = vec3_mul_add(found.normal, random_vector(&rng, 1), 0.05);
			best = fmax(best, apart_along(a, b, &at, vec3_normalize(aside)));
		}
		ck_assert_double_le(best, separation + slop + 1e-9);
		shape_release(a);
		shape_release(b);
	}
	printf("# %u contacts, %u deep, %u of several points\n", contacts, deep, many);
	ck_assert_uint_gt(contacts, check_cases(1200));
	ck_assert_uint_gt(deep, check_cases(500));
	ck_assert_uint_gt(many, check_cases(40));
}
END_TEST

/* Shallow overlaps have one way out, so a search over many directions finds it as well. The separation found
 * is always that of a true way out; in few pairs, near edges, it is another one than the least. */
START_TEST(shallow_depths_are_the_least_of_all_directions)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t tried = 0, longer = 0;
	for (uint32_t run = 0; run < check_cases(600); run++) {
		struct shape *a = make_one(&rng, run % CURVED);
		struct shape *b = make_one(&rng, run / CURVED % KINDS);
		pose at = { vec3_scale(random_direction(&rng), 6), random_rotation(&rng) };
		struct gjk_result near;
		distance_of(a, b, &at, &near);
		double gap = near.distance - support_radius(a) - support_radius(b);
		double depth = 0.02 * fmin(a->extent_min, b->extent_min);
		at.position = vec3_mul_sub(at.position, near.normal, gap + depth);
		struct manifold found;
		collide(a, b, &at, 0, &found);
		distance_of(a, b, &at, &near);
		gap = near.distance - support_radius(a) - support_radius(b);
		if (gap > 0) { /* A sharp end has gone past the other. */
			ck_assert_uint_eq(found.count, 0);
			shape_release(a);
			shape_release(b);
			continue;
		}
		tried++;
		double separation = deepest(&found), slop = pair_slop(a, b), best = -SCALAR_MAX;
		for (uint32_t i = 0; i < check_cases(4000); i++)
			best = fmax(best, apart_along(a, b, &at, random_direction(&rng)));
		longer += best > separation + slop + 1e-9;
		ck_assert_double_ge(separation, -depth - slop - 1e-9);
		shape_release(a);
		shape_release(b);
	}
	printf("# %u of %u longer than the least\n", longer, tried);
	ck_assert_uint_le(longer, 3);
	ck_assert_uint_gt(tried, check_cases(500));
}
END_TEST

START_TEST(a_pair_and_the_swapped_pair_have_the_same_contact)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t contacts = 0;
	for (uint32_t run = 0; run < check_cases(1500); run++) {
		struct shape *a = make_one(&rng, rng_below(&rng, CURVED));
		struct shape *b = make_one(&rng, rng_below(&rng, KINDS));
		pose at = { random_vector(&rng, 1.8), random_rotation(&rng) };
		pose back = pose_inverse(at);
		struct manifold one, two;
		collide(a, b, &at, 0.05, &one);
		collide(b, a, &back, 0.05, &two);
		ck_assert_int_eq(one.count > 0, two.count > 0);
		if (one.count > 0) {
			contacts++;
			double slop = a->kind == b->kind ? pair_slop(a, b) : 0;
			ck_assert_double_eq_tol(deepest(&one), deepest(&two), slop + 1e-9);
			if (a->kind != b->kind)
				expect_near(pose_vector(at, two.normal), vec3_negate(one.normal),
					    1e-5);
		}
		shape_release(a);
		shape_release(b);
	}
	ck_assert_uint_gt(contacts, check_cases(400));
}
END_TEST

/* y of a shape that stands on the floor so that its lowest point is at −depth. */
static pose standing(const struct shape *shape, quat rotation, double depth)
{
	pose at = { vec3_zero(), rotation };
	vec3 down = pose_inverse_vector(at, vec3_make(0, -1, 0));
	vec3 low = pose_point(at, support_core(shape, 0, down).point);
	at.position.y = -depth - (low.y - support_radius(shape));
	return at;
}

/* The number of points of the body on a plane, a large box and a large mesh, which must agree. */
struct floor_points {
	uint32_t plane, box;
	bool missed; /* the lowest point by the mesh, over which the body still is */
};

static struct floor_points points_on_floors(const struct shape *body, quat rotation, double depth)
{
	static const vec3 corners[4] = { { -5, 0, -5 }, { 5, 0, -5 }, { 5, 0, 5 }, { -5, 0, 5 } };
	static const uint32_t halves[2][3] = { { 0, 2, 1 }, { 0, 3, 2 } };
	struct shape *plane = make_plane(vec3_make(0, 1, 0), 0), *box = make_box(5, 1, 5);
	struct shape *mesh = make_mesh(corners, 4, halves, 2);
	pose at = standing(body, rotation, depth), under = { vec3_make(0, -1, 0), quat_identity() };
	struct manifold on_plane, on_box, on_mesh = { .count = 0 };
	pose relative = pose_inverse(at), relative_box = pose_relative(at, under);
	collide(body, plane, &relative, 0.02, &on_plane);
	collide(body, box, &relative_box, 0.02, &on_box);
	expect_near(pose_vector(at, on_plane.normal), vec3_make(0, -1, 0), 1e-12);
	expect_near(pose_vector(at, on_box.normal), vec3_make(0, -1, 0), 1e-9);
	ck_assert_double_eq_tol(deepest(&on_plane), -depth, 1e-9);
	ck_assert_double_eq_tol(deepest(&on_box), -depth, 1e-9);
	double least = SCALAR_MAX;
	for (uint32_t t = 0; t < 2; t++) {
		struct pair_cache cache = { 0 };
		collide_pieces((struct piece){ body, 0 }, (struct piece){ mesh, t }, &relative,
			       0.02, &cache, &on_mesh);
		if (on_mesh.count == 0)
			continue;
		least = fmin(least, deepest(&on_mesh));
		expect_near(pose_vector(at, on_mesh.normal), vec3_make(0, -1, 0), 1e-9);
	}
	bool missed = depth < 0 && least > -depth + 1e-4;
	ck_assert(missed || fabs(least + depth) < 1e-4);
	shape_release(plane);
	shape_release(box);
	shape_release(mesh);
	return (struct floor_points){ on_plane.count, on_box.count, missed };
}

/* The number of points on a plane, which is that on a box. */
static uint32_t points_at_rest(const struct shape *body, quat rotation, double depth)
{
	struct floor_points points = points_on_floors(body, rotation, depth);
	ck_assert_uint_eq(points.plane, points.box);
	ck_assert(!points.missed);
	return points.plane;
}

START_TEST(bodies_stand_on_ends_and_lie_on_sides)
{
	struct shape *cylinder = make_cylinder(0.4, 0.3), *cone = make_cone(0.4, 0.3);
	struct shape *box = make_rounded_box(0.3, 0.2, 0.4, 0.05);
	struct shape *egg = make_ellipsoid(0.3, 0.2, 0.4);
	double slope = atan2(0.8, 0.3), half = sin(PI / 4);
	for (double depth = -0.01; depth < 0.0111; depth += 0.005) {
		ck_assert_uint_eq(points_at_rest(cylinder, quat_identity(), depth), 4);
		ck_assert_uint_eq(points_at_rest(cylinder, quat_make(half, half, 0, 0), depth), 2);
		ck_assert_uint_eq(points_at_rest(cone, quat_identity(), depth), 4);
		/* A cone on its side: turned until a line of its side is level. */
		double turn = 0.5 * (PI - slope);
		quat lying = quat_make(cos(turn), sin(turn), 0, 0);
		ck_assert_uint_ge(points_at_rest(cone, lying, depth), 1);
		ck_assert_uint_eq(points_at_rest(box, quat_identity(), depth), 4);
		ck_assert_uint_eq(points_at_rest(egg, quat_identity(), depth), 1);
	}
	shape_release(cylinder);
	shape_release(cone);
	shape_release(box);
	shape_release(egg);
}
END_TEST

START_TEST(the_deepest_point_of_a_tilted_body_is_exact)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t missed = 0;
	for (uint32_t run = 0; run < check_cases(1000); run++) {
		/* Of an irregular hull the face that faces the floor most need not have the lowest corner. */
		struct shape *body = make_one(&rng, run < 400 ? run % CURVED : ROUNDED_HULL);
		vec3 tilt = random_vector(&rng, run % 2 == 0 ? 0.05 : 1);
		quat q = quat_normalize(quat_make(1, tilt.x, tilt.y, tilt.z));
		double depth = rng_range(&rng, -0.002, 0.002);
		missed += points_on_floors(body, q, depth).missed;
		shape_release(body);
	}
	/* Over the edge of two triangles neither may take a body that is still apart. */
	ck_assert_uint_le(missed, 2);
}
END_TEST

START_TEST(a_body_over_a_mesh_touches_as_over_the_box)
{
	/* A cube as a mesh: near its corners and edges the triangles together act as the solid. */
	static const vec3 corners[8] = {
		{ -1, -1, -1 }, { 1, -1, -1 }, { -1, 1, -1 }, { 1, 1, -1 },
		{ -1, -1, 1 },	{ 1, -1, 1 },  { -1, 1, 1 },  { 1, 1, 1 }
	};
	static const uint32_t faces[12][3] = { { 0, 2, 1 }, { 1, 2, 3 }, { 4, 5, 6 }, { 5, 7, 6 },
					       { 0, 1, 4 }, { 1, 5, 4 }, { 2, 6, 3 }, { 3, 6, 7 },
					       { 0, 4, 2 }, { 2, 4, 6 }, { 1, 3, 5 }, { 3, 7, 5 } };
	struct rng rng = rng_seeded(check_seed());
	struct shape *mesh = make_mesh(corners, 8, faces, 12), *cube = make_box(1, 1, 1);
	uint32_t touched = 0, missed = 0, wrong = 0;
	for (uint32_t run = 0; run < check_cases(1500); run++) {
		struct shape *body = make_one(&rng, run % CURVED);
		pose at = { vec3_scale(random_direction(&rng), 6), random_rotation(&rng) };
		pose relative = pose_inverse(at);
		struct gjk_result near;
		distance_of(body, cube, &relative, &near);
		double gap = near.distance - support_radius(body), depth = 1e-3;
		at.position = vec3_add(at.position,
				       vec3_scale(pose_vector(at, near.normal), gap + depth));
		relative = pose_inverse(at);
		struct manifold whole, found;
		collide(body, cube, &relative, 0.01, &whole);
		ck_assert_uint_ge(whole.count, 1);
		double least = SCALAR_MAX;
		for (uint32_t t = 0; t < 12; t++) {
			struct pair_cache cache = { 0 };
			collide_pieces((struct piece){ body, 0 }, (struct piece){ mesh, t },
				       &relative, 0.01, &cache, &found);
			for (uint32_t k = 0; k < found.count; k++)
				least = fmin(least, found.points[k].separation);
		}
		touched++;
		missed += least == SCALAR_MAX;
		wrong += least != SCALAR_MAX &&
			 fabs(least - deepest(&whole)) > 2 * pair_slop(body, cube) + 1e-4;
		shape_release(body);
	}
	printf("# %u contacts, %u missed, %u of another depth\n", touched, missed, wrong);
	/* A rim in a corner, less deep than the stand-in is off. */
	ck_assert_uint_le(missed, touched / 500);
	ck_assert_uint_le(wrong, touched / 200);
	shape_release(mesh);
	shape_release(cube);
}
END_TEST

START_TEST(casts_end_at_the_surface_and_impacts_at_the_tolerance)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t hits = 0;
	for (uint32_t run = 0; run < check_cases(600); run++) {
		struct shape *a = make_one(&rng, run % CURVED);
		struct shape *b = make_one(&rng, run / CURVED % KINDS);
		struct placed_shape target = { b, { vec3_zero(), random_rotation(&rng) }, 1, 0 };
		pose from = { vec3_scale(random_direction(&rng), 5), random_rotation(&rng) };
		vec3 to = random_vector(&rng, 0.5),
		     way = vec3_scale(vec3_sub(to, from.position), 1.2);
		struct cast_hit hit;
		enum status status;
		uint32_t count = placed_cast(&target, 1, a, from, way, &hit, 1, &status);
		ck_assert_int_eq(status, STATUS_OK);
		if (count > 0 && !hit.uncertain) {
			struct gjk_result near;
			pose end = { vec3_mul_add(from.position, way, hit.fraction),
				     from.rotation };
			pose relative = pose_relative(end, target.at);
			distance_of(a, b, &relative, &near);
			double gap = near.distance - support_radius(a) - support_radius(b);
			ck_assert_double_ge(gap, -1e-9);
			ck_assert_double_le(gap, 2 * SWEEP_TOLERANCE);
			hits++;
		}
		shape_release(a);
		shape_release(b);
	}
	ck_assert_uint_gt(hits, check_cases(300));
}
END_TEST

START_TEST(nearest_points_lie_on_the_surfaces)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t run = 0; run < check_cases(600); run++) {
		struct shape *a = make_one(&rng, run % CURVED);
		struct shape *b = make_one(&rng, run / CURVED % KINDS);
		struct placed_shape one = {
			a, { random_vector(&rng, 3), random_rotation(&rng) }, 1, 0
		};
		struct placed_shape two = {
			b, { random_vector(&rng, 3), random_rotation(&rng) }, 2, 0
		};
		struct closest_pair near;
		ck_assert(placed_closest(&one, 1, &two, 1, 100, &near));
		ck_assert_double_eq_tol(vec3_distance(near.a.point, near.b.point),
					fabs(near.distance), 1e-9);
		pose relative = pose_relative(one.at, two.at);
		ck_assert_int_eq(shape_overlap(a, b, &relative), near.distance <= 0);
		shape_release(a);
		shape_release(b);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("curved_pairs");
	TCase *all = tcase_create("all");
	tcase_set_timeout(all, 120);
	tcase_add_test(all, the_bounds_of_a_distance_meet_within_1e_9);
	tcase_add_test(all, distances_are_those_of_finely_sampled_hulls);
	tcase_add_test(all, a_manifold_is_as_deep_as_the_way_out_along_its_normal);
	tcase_add_test(all, shallow_depths_are_the_least_of_all_directions);
	tcase_add_test(all, a_pair_and_the_swapped_pair_have_the_same_contact);
	tcase_add_test(all, bodies_stand_on_ends_and_lie_on_sides);
	tcase_add_test(all, the_deepest_point_of_a_tilted_body_is_exact);
	tcase_add_test(all, a_body_over_a_mesh_touches_as_over_the_box);
	tcase_add_test(all, casts_end_at_the_surface_and_impacts_at_the_tolerance);
	tcase_add_test(all, nearest_points_lie_on_the_surfaces);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
