/* Primitive tests (ch1-3 G-17…G-27): the values of the spec, and separating axes as the oracle. */
#include "server/engine/geometry/intersect_box_sphere.h"
#include "server/engine/geometry/intersect_box_triangle.h"
#include "server/engine/geometry/intersect_coplanar.h"
#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/intersect_segment_box.h"
#include "server/engine/geometry/intersect_segment_sphere.h"
#include "server/engine/geometry/intersect_segment_triangle.h"
#include "server/engine/geometry/intersect_sphere_triangle.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"

#include "server/base/hash.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static void grid_points(vec3 *out, uint32_t count, uint32_t size)
{
	for (uint32_t i = 0; i < count; i++)
		out[i] = oracle_grid_point(&rng, size);
}

START_TEST(g17_boxes_that_touch_overlap)
{
	struct aabb a = aabb_make(vec3_zero(), vec3_all(1));
	ck_assert(aabb_overlaps(a, aabb_make(vec3_make(1, 0, 0), vec3_make(2, 1, 1))));
	ck_assert(!aabb_overlaps(a, aabb_make(vec3_make(1 + 1e-9, 0, 0), vec3_make(2, 1, 1))));
}
END_TEST

/* The oracle for oriented boxes: the greatest gap over fifteen axes, from all corners. */
static double obb_gap(const struct obb *a, const struct obb *b)
{
	struct oracle_body bodies[2];
	const struct obb *boxes[2] = { a, b };
	for (uint32_t k = 0; k < 2; k++) {
		bodies[k] = oracle_aabb(vec3_negate(boxes[k]->half), boxes[k]->half);
		for (uint32_t i = 0; i < 8; i++)
			bodies[k].point[i] = vec3_add(
				boxes[k]->centre, mat3_mul_vec(boxes[k]->axes, bodies[k].point[i]));
		for (uint32_t i = 0; i < 3; i++)
			bodies[k].edge[i] = mat3_mul_vec(boxes[k]->axes, bodies[k].edge[i]);
	}
	return oracle_gap(&bodies[0], &bodies[1]);
}

START_TEST(g18_boxes_agree_with_projections_of_their_corners)
{
	uint32_t apart = 0, runs = oracle_runs(20000), only[OBB_AXES + 1] = { 0 };
	for (uint32_t run = 0; run < runs; run++) {
		struct obb a, b;
		double size = run % 10 == 0 ? 1e3 : 1;
		a.half = vec3_abs(random_vector(&rng, 1));
		b.half = vec3_scale(vec3_abs(random_vector(&rng, 1)), size);
		a.axes = mat3_from_quat(awkward_rotation(&rng));
		b.axes = run % 7 == 0 ? a.axes : mat3_from_quat(awkward_rotation(&rng));
		a.centre = random_vector(&rng, 1);
		b.centre = random_vector(&rng, 1.2 * size);
		double gap = obb_gap(&a, &b);
		if (scalar_abs(gap) < 1e-12 * size)
			continue;
		uint32_t axis = intersect_obb_obb_axis(&a, &b);
		ck_assert_msg((axis != OBB_OVERLAP) == (gap > 0), "gap %g axis %u", gap, axis);
		ck_assert(intersect_obb_obb(&b, &a) == (gap < 0));
		apart += gap > 0;
		only[axis]++;
	}
	ck_assert_uint_gt(apart, runs / 10);
	for (uint32_t axis = 0; axis <= OBB_AXES; axis++)
		ck_assert_uint_gt(only[axis], 0);
}
END_TEST

START_TEST(g18_one_product_of_edges_can_be_the_only_axis)
{
	double root = scalar_sqrt(0.5);
	vec3 n = vec3_make(root, root, 0), z = vec3_make(0, 0, 1);
	struct obb a = { vec3_zero(), mat3_identity(), vec3_all(1) }, b = a;
	b.axes = mat3_columns(vec3_normalize(vec3_add(n, z)), vec3_normalize(vec3_sub(n, z)),
			      vec3_make(-root, root, 0));
	b.centre = vec3_scale(n, 2.9);
	ck_assert_uint_eq(intersect_obb_obb_axis(&a, &b), 6 + 3 * 2 + 2);
	b.centre = vec3_scale(n, 2.8);
	ck_assert(intersect_obb_obb(&a, &b));
}
END_TEST

START_TEST(g18_parallel_boxes_are_not_separated_by_rounding)
{
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		quat q = awkward_rotation(&rng);
		struct obb a = { random_vector(&rng, 10), mat3_from_quat(q), vec3_all(1) }, b = a;
		double size = 1e-16;
		for (uint32_t k = rng_below(&rng, 10); k > 0; k--)
			size *= 10;
		vec3 off = random_vector(&rng, size);
		b.axes = mat3_from_quat(
			quat_normalize(quat_mul(q, quat_make(1, off.x, off.y, off.z))));
		/* Touching up to rounding, then overlapping by less than the rounding of the
		 * rotation. */
		b.centre = vec3_add(a.centre, vec3_scale(a.axes.x, 2 - 4 * size));
		ck_assert(intersect_obb_obb(&a, &b) && intersect_obb_obb(&b, &a));
	}
}
END_TEST

START_TEST(g19_balls_touch_at_the_sum_of_their_radii)
{
	struct ball a = { vec3_zero(), 1 }, b = { vec3_make(3, 0, 0), 2 };
	ck_assert(intersect_sphere_sphere(a, b));
	b.centre.x += 1e-9;
	ck_assert(!intersect_sphere_sphere(a, b));
}
END_TEST

static bool triangles_meet(const vec3 a[3], const vec3 b[3])
{
	return intersect_triangle_triangle(a, b, NULL);
}

START_TEST(g20_every_combination_of_signs_is_correct)
{
	vec3 a[3] = { { 0, 0, 0 }, { 4, 0, 0 }, { 0, 4, 0 } };
	struct triangle_cut cut;
	/* (0, +, −), the case that the book omits. */
	vec3 forgotten[3] = { { -1, 1, 0 }, { 1, 1, 1 }, { 1, 1, -1 } };
	ck_assert(intersect_triangle_triangle(a, forgotten, &cut));
	ck_assert(!cut.coplanar);
	ck_assert(vec3_distance(cut.from, cut.to) == 1);
	/* Case 1: one vertex on the plane, inside and outside. */
	ck_assert(triangles_meet(a, (vec3[3]){ { 1, 1, 0 }, { 1, 2, 3 }, { 2, 1, 3 } }));
	ck_assert(triangles_meet(a, (vec3[3]){ { 2, 2, 0 }, { 1, 2, 3 }, { 2, 1, 3 } }));
	ck_assert(!triangles_meet(a, (vec3[3]){ { 2, 2.5, 0 }, { 1, 2, 3 }, { 2, 1, 3 } }));
	/* Case 2: an edge on the plane: inside, crossing, outside. */
	ck_assert(triangles_meet(a, (vec3[3]){ { 1, 1, 0 }, { 1.5, 1, 0 }, { 2, 1, 3 } }));
	ck_assert(triangles_meet(a, (vec3[3]){ { -1, 1, 0 }, { 9, 1, 0 }, { 2, 1, 3 } }));
	ck_assert(!triangles_meet(a, (vec3[3]){ { -1, -1, 0 }, { 9, -1, 0 }, { 2, 1, 3 } }));
	/* Case 3: coplanar: crossing, one inside the other in both orders, touching, apart. */
	vec3 inner[3] = { { 1, 1, 0 }, { 1.5, 1, 0 }, { 1, 1.5, 0 } };
	ck_assert(intersect_triangle_triangle(a, inner, &cut) && cut.coplanar);
	ck_assert(triangles_meet(inner, a) && triangles_meet(a, a));
	ck_assert(triangles_meet(a, (vec3[3]){ { -1, 1, 0 }, { 9, 1, 0 }, { 9, 2, 0 } }));
	ck_assert(triangles_meet(a, (vec3[3]){ { 4, 0, 0 }, { 9, 0, 0 }, { 9, 2, 0 } }));
	ck_assert(!triangles_meet(a, (vec3[3]){ { 4, 1, 0 }, { 9, 0, 0 }, { 9, 2, 0 } }));
	/* Case 4: piercing with a known segment, and missing. */
	vec3 blade[3] = { { 1, -1, 1 }, { 1, 9, 1 }, { 1, 1, -9 } };
	ck_assert(intersect_triangle_triangle(a, blade, &cut));
	ck_assert_double_eq_tol(vec3_distance(cut.from, cut.to), 3, 1e-12);
	ck_assert(!triangles_meet(a, (vec3[3]){ { 5, -1, 1 }, { 5, 9, 1 }, { 5, 1, -9 } }));
	ck_assert(!triangles_meet(a, (vec3[3]){ { 1, 1, 1 }, { 1, 2, 1 }, { 2, 1, 3 } }));
}
END_TEST

START_TEST(g20_all_degenerate_pairs_agree_with_separating_axes)
{
	uint32_t runs = oracle_runs(4000), met = 0;
	for (uint32_t run = 0; run < runs; run++) {
		vec3 a[3], b[3];
		uint32_t size = 1 + rng_below(&rng, 3);
		grid_points(a, 3, size);
		grid_points(b, 3, size);
		if (run % 4 == 0)
			for (uint32_t i = 0; i < 3; i++)
				a[i].z = b[i].z = 0;
		if (run % 16 == 1)
			for (uint32_t i = 0; i < 3; i++)
				a[i].z = b[i].z = a[i].y = b[i].y = 0;
		struct oracle_body x = oracle_triangle(a[0], a[1], a[2]);
		struct oracle_body y = oracle_triangle(b[0], b[1], b[2]);
		bool wanted = !oracle_apart(&x, &y);
		met += wanted;
		ck_assert_msg(triangles_meet(a, b) == wanted, "run %u", run);
		ck_assert(triangles_meet(b, a) == wanted);
		ck_assert(triangles_meet((vec3[3]){ a[2], a[1], a[0] },
					 (vec3[3]){ b[1], b[2], b[0] }) == wanted);
		enum segment_triangle segment =
			intersect_segment_triangle(a[0], a[1], b[0], b[1], b[2], NULL);
		x = oracle_segment(a[0], a[1]);
		ck_assert((segment != SEGMENT_TRIANGLE_APART) == !oracle_apart(&x, &y));
		y = oracle_segment(b[0], b[1]);
		ck_assert(intersect_edge_edge(a[0], a[1], b[0], b[1]) == !oracle_apart(&x, &y));
	}
	ck_assert_uint_gt(met, runs / 10);
	ck_assert_uint_lt(met, runs - runs / 10);
}
END_TEST

START_TEST(g20_random_pairs_agree_and_do_not_change_when_moved_together)
{
	uint32_t met = 0;
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		vec3 a[3], b[3], moved_a[3], moved_b[3];
		double scale = run % 5 == 0 ? 1e-3 : 1; /* slivers and size ratios */
		pose all = pose_make(random_vector(&rng, 100), random_rotation(&rng));
		for (uint32_t i = 0; i < 3; i++) {
			a[i] = random_vector(&rng, 1);
			b[i] = random_vector(&rng, 1);
			if (run % 5 == 0 && i > 0)
				b[i] = vec3_mul_add(b[0], random_vector(&rng, 1), scale);
			moved_a[i] = pose_point(all, a[i]);
			moved_b[i] = pose_point(all, b[i]);
		}
		struct oracle_body x = oracle_triangle(a[0], a[1], a[2]);
		struct oracle_body y = oracle_triangle(b[0], b[1], b[2]);
		double gap = oracle_gap(&x, &y);
		struct triangle_cut cut;
		bool meet = intersect_triangle_triangle(a, b, &cut);
		if (scalar_abs(gap) > 1e-13)
			ck_assert_msg(meet == (gap < 0), "run %u gap %g", run, gap);
		if (scalar_abs(gap) > 1e-11)
			ck_assert(triangles_meet(moved_a, moved_b) == meet);
		met += meet;
		if (!meet)
			continue;
		/* Both ends lie in both triangles. */
		vec3 ends[2] = { cut.from, cut.to };
		for (uint32_t k = 0; k < 2; k++) {
			struct triangle_point in_a =
				closest_point_triangle(ends[k], a[0], a[1], a[2]);
			struct triangle_point in_b =
				closest_point_triangle(ends[k], b[0], b[1], b[2]);
			ck_assert_double_lt(in_a.distance_squared, 1e-20);
			ck_assert_double_lt(in_b.distance_squared, 1e-20);
		}
	}
	ck_assert_uint_gt(met, 100);
}
END_TEST

START_TEST(g21_the_nearest_point_of_a_box_decides)
{
	struct aabb box = aabb_make(vec3_zero(), vec3_all(1));
	struct ball ball = { vec3_make(2, 2, 0.5), scalar_sqrt(2) };
	ck_assert(intersect_box_sphere(box, ball));
	ball.radius = 1.4142;
	ck_assert(!intersect_box_sphere(box, ball));
	/* An oriented box gives the same result as the axis-aligned one in its own frame. */
	for (uint32_t run = 0; run < oracle_runs(5000); run++) {
		pose at = pose_make(random_vector(&rng, 10), random_rotation(&rng));
		mat3 rotation = mat3_from_quat(at.rotation);
		struct obb own = { vec3_zero(), mat3_identity(), vec3_abs(random_vector(&rng, 2)) };
		struct obb placed = obb_placed(&own, &at, &rotation);
		struct ball seen = { random_vector(&rng, 3), rng_range(&rng, 0, 1) };
		struct ball moved = { pose_point(at, seen.centre), seen.radius };
		struct aabb flat = aabb_of_centre(vec3_zero(), own.half);
		vec3 near = vec3_min(vec3_max(seen.centre, flat.min), flat.max);
		if (scalar_abs(vec3_distance(near, seen.centre) - seen.radius) < 1e-12)
			continue;
		ck_assert(intersect_obb_sphere(&placed, moved) == intersect_box_sphere(flat, seen));
	}
}
END_TEST

START_TEST(g22_a_sliver_through_a_box_is_found)
{
	struct aabb box = aabb_make(vec3_all(-1), vec3_all(1));
	ck_assert(intersect_box_triangle(box, vec3_make(-10, 0, 0), vec3_make(10, .01, 0),
					 vec3_make(10, -.01, 0)));
	ck_assert(!intersect_box_triangle(box, vec3_make(-10, 0, 1.001), vec3_make(10, .01, 1.001),
					  vec3_make(10, -.01, 1.001)));
	/* In the plane of a face. */
	ck_assert(intersect_box_triangle(box, vec3_make(-10, 0, 1), vec3_make(10, .01, 1),
					 vec3_make(10, -.01, 1)));
	/* The box pierces the middle of a large triangle. */
	ck_assert(intersect_box_triangle(box, vec3_make(-90, -90, 0.3), vec3_make(90, -90, 0.2),
					 vec3_make(0, 90, 0.1)));
}
END_TEST

START_TEST(g22_g26_boxes_agree_with_separating_axes)
{
	uint32_t runs = oracle_runs(3000), met = 0;
	for (uint32_t run = 0; run < runs; run++) {
		vec3 p[5];
		grid_points(p, 5, 1 + rng_below(&rng, 3));
		struct aabb box = aabb_make(vec3_min(p[3], p[4]), vec3_max(p[3], p[4]));
		struct oracle_body x = oracle_aabb(box.min, box.max);
		struct oracle_body y = oracle_triangle(p[0], p[1], p[2]);
		bool wanted = !oracle_apart(&x, &y);
		met += wanted;
		ck_assert(intersect_box_triangle(box, p[0], p[1], p[2]) == wanted);
		ck_assert(intersect_box_triangle(box, p[2], p[0], p[1]) == wanted);
		y = oracle_segment(p[0], p[1]);
		wanted = !oracle_apart(&x, &y);
		ck_assert(intersect_segment_box(p[0], p[1], box) == wanted);
		ck_assert(intersect_segment_box(p[1], p[0], box) == wanted);
	}
	ck_assert_uint_gt(met, runs / 10);
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		vec3 half = vec3_abs(random_vector(&rng, 1)), a = random_vector(&rng, 2),
		     b = random_vector(&rng, 2), c = random_vector(&rng, 2);
		struct oracle_body x = oracle_aabb(vec3_negate(half), half);
		struct oracle_body y = oracle_triangle(a, b, c);
		double gap = oracle_gap(&x, &y);
		if (scalar_abs(gap) > 1e-13)
			ck_assert(intersect_box_triangle(aabb_of_centre(vec3_zero(), half), a, b,
							 c) == (gap < 0));
	}
}
END_TEST

START_TEST(g23_balls_touch_faces_edges_and_corners)
{
	vec3 a = vec3_make(-3, -3, 5), b = vec3_make(3, -3, 5), c = vec3_make(0, 3, 5);
	ck_assert(intersect_sphere_triangle((struct ball){ { 0, 0, 5.5 }, 1 }, a, b, c, NULL));
	ck_assert(!intersect_sphere_triangle((struct ball){ { 0, 0, 6.5 }, 1 }, a, b, c, NULL));
	ck_assert(!intersect_sphere_triangle((struct ball){ { 9, 0, 5.5 }, 1 }, a, b, c, NULL));
	for (uint32_t run = 0; run < oracle_runs(20000); run++) {
		/* The book's four steps. */
		vec3 p[3] = { random_vector(&rng, 1), random_vector(&rng, 1),
			      random_vector(&rng, 1) };
		struct ball ball = { random_vector(&rng, 1.5), rng_range(&rng, 0, 0.8) };
		vec3 n = vec3_normalize(vec3_cross(vec3_sub(p[1], p[0]), vec3_sub(p[2], p[0])));
		double height = vec3_dot(n, vec3_sub(ball.centre, p[0]));
		bool book = false,
		     near_limit = scalar_abs(scalar_abs(height) - ball.radius) < 1e-12;
		vec3 foot = vec3_mul_sub(ball.centre, n, height);
		bool inside = true;
		for (uint32_t i = 0; i < 3; i++) {
			vec3 edge = vec3_sub(p[(i + 1) % 3], p[i]);
			inside = inside && vec3_dot(vec3_cross(n, edge), vec3_sub(foot, p[i])) >= 0;
			book = book || intersect_segment_sphere(p[i], p[(i + 1) % 3], ball);
		}
		book = scalar_abs(height) <= ball.radius && (book || inside);
		if (!near_limit)
			ck_assert(intersect_sphere_triangle(ball, p[0], p[1], p[2], NULL) == book);
	}
}
END_TEST

START_TEST(g24_segments_touch_cross_enter_and_miss_a_ball)
{
	struct ball ball = { vec3_zero(), 1 };
	ck_assert(intersect_segment_sphere(vec3_make(-2, 1, 0), vec3_make(2, 1, 0), ball));
	ck_assert(
		!intersect_segment_sphere(vec3_make(-2, 1.0001, 0), vec3_make(2, 1.0001, 0), ball));
	ck_assert(!intersect_segment_sphere(vec3_make(2, 0, 0), vec3_make(5, 0, 0), ball));
	ck_assert(intersect_segment_sphere(vec3_make(0.5, 0, 0), vec3_make(9, 0, 0), ball));
	ck_assert(intersect_segment_sphere(vec3_make(0, 1, 0), vec3_make(0, 1, 0), ball));
	ck_assert(!intersect_segment_sphere(vec3_make(0, 1.1, 0), vec3_make(0, 1.1, 0), ball));
}
END_TEST

START_TEST(g25_segments_end_on_lie_in_and_pierce_a_triangle)
{
	vec3 a = vec3_zero(), b = vec3_make(4, 0, 0), c = vec3_make(0, 4, 0), at;
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(1, 1, 0), vec3_make(1, 1, 5), a, b, c, &at),
		SEGMENT_TRIANGLE_POINT);
	ck_assert(vec3_equal(at, vec3_make(1, 1, 0)));
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(3, 3, 0), vec3_make(1, 1, 5), a, b, c, &at),
		SEGMENT_TRIANGLE_APART);
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(-1, 1, 0), vec3_make(9, 1, 0), a, b, c, &at),
		SEGMENT_TRIANGLE_FLAT);
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(1, 1, 0), vec3_make(2, 1, 0), a, b, c, &at),
		SEGMENT_TRIANGLE_FLAT);
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(1, 1, 2), vec3_make(1, 1, -2), a, b, c, &at),
		SEGMENT_TRIANGLE_POINT);
	ck_assert(vec3_equal(at, vec3_make(1, 1, 0)));
	/* Through an edge and through a corner. */
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(2, 0, 2), vec3_make(2, 0, -2), a, b, c, NULL),
		SEGMENT_TRIANGLE_POINT);
	ck_assert_int_eq(
		intersect_segment_triangle(vec3_make(0, 0, 2), vec3_make(0, 0, -2), a, b, c, NULL),
		SEGMENT_TRIANGLE_POINT);
}
END_TEST

START_TEST(g26_segments_and_rays_agree_with_slabs)
{
	uint32_t hits = 0, classes[8] = { 0 };
	for (uint32_t run = 0; run < oracle_runs(100000); run++) {
		struct aabb box =
			aabb_of_centre(random_vector(&rng, 1), vec3_abs(random_vector(&rng, 1)));
		vec3 p = random_vector(&rng, 3), q = random_vector(&rng, 3), d = vec3_sub(q, p);
		double enter, leave;
		bool slabs = aabb_clip_line(box, p, d, 1, &enter, &leave);
		ck_assert(intersect_segment_box(p, q, box) == slabs);
		ck_assert(intersect_ray_box(p, d, box) ==
			  aabb_clip_line(box, p, d, 1e9, &enter, &leave));
		hits += slabs;
		classes[(d.x < 0) | (d.y < 0) << 1 | (d.z < 0) << 2] += slabs;
	}
	for (uint32_t k = 0; k < 8; k++)
		ck_assert_uint_gt(classes[k], hits / 20);
}
END_TEST

START_TEST(g27_edges_cross_where_the_spec_says_and_corners_count)
{
	double t, m;
	vec3 p0 = vec3_zero(), p1 = vec3_make(2, 0, 0), q0 = vec3_make(1, -1, 0),
	     q1 = vec3_make(1, 3, 0);
	ck_assert(intersect_edge_edge(p0, p1, q0, q1));
	ck_assert(intersect_edge_edge_at(p0, p1, q0, q1, &t, &m) && t == 0.5 && m == 0.25);
	ck_assert(!intersect_edge_edge_at(p0, p1, q0, vec3_make(9, -1, 0), &t, &m) && t == 0);
	/* Collinear: overlapping, touching, apart. */
	ck_assert(intersect_edge_edge(p0, p1, vec3_make(1, 0, 0), vec3_make(9, 0, 0)));
	ck_assert(intersect_edge_edge(p0, p1, vec3_make(2, 0, 0), vec3_make(9, 0, 0)));
	ck_assert(!intersect_edge_edge(p0, p1, vec3_make(2.1, 0, 0), vec3_make(9, 0, 0)));
	vec3 c = vec3_make(0, 2, 0);
	ck_assert(intersect_point_triangle(vec3_make(0.66, 0.66, 0), p0, p1, c));
	ck_assert(intersect_point_triangle(p0, p0, p1, c) &&
		  intersect_point_triangle(c, p0, p1, c));
	ck_assert(intersect_point_triangle(vec3_make(1, 1, 0), p0, p1, c));
	ck_assert(intersect_point_triangle(vec3_make(1, 0, 0), p0, p1, c));
	ck_assert(!intersect_point_triangle(vec3_make(1, 1 + 1e-15, 0), p0, p1, c));
	ck_assert(!intersect_point_triangle(vec3_make(1, -1e-300, 0), p0, p1, c));
}
END_TEST

START_TEST(the_bits_are_the_same_everywhere)
{
	struct hasher hash;
	hasher_init(&hash, 0);
	struct rng own = rng_seeded(1);
	for (uint32_t run = 0; run < 3000; run++) {
		vec3 a[3], b[3];
		struct triangle_cut cut = { 0 };
		for (uint32_t i = 0; i < 3; i++) {
			a[i] = random_vector(&own, 1);
			b[i] = random_vector(&own, 1);
		}
		hasher_u32(&hash, intersect_triangle_triangle(a, b, &cut));
		hasher_f64(&hash, vec3_dot(cut.from, vec3_make(1, 2, 4)));
		hasher_f64(&hash, vec3_dot(cut.to, vec3_make(1, 2, 4)));
		struct obb x = { a[0], mat3_from_quat(random_rotation(&own)), vec3_abs(a[1]) };
		struct obb y = { b[0], mat3_from_quat(random_rotation(&own)), vec3_abs(b[1]) };
		hasher_u32(&hash, intersect_obb_obb_axis(&x, &y));
		hasher_u32(&hash, intersect_ray_box(
					  a[2], b[2],
					  aabb_make(vec3_min(a[0], b[0]), vec3_max(a[0], b[0]))));
	}
	ck_assert_uint_eq(hasher_digest(&hash), 1174963894723112923u);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/geometry/intersect");
	TCase *tc = tcase_create("pairs");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, g17_boxes_that_touch_overlap);
	tcase_add_test(tc, g18_boxes_agree_with_projections_of_their_corners);
	tcase_add_test(tc, g18_one_product_of_edges_can_be_the_only_axis);
	tcase_add_test(tc, g18_parallel_boxes_are_not_separated_by_rounding);
	tcase_add_test(tc, g19_balls_touch_at_the_sum_of_their_radii);
	tcase_add_test(tc, g20_every_combination_of_signs_is_correct);
	tcase_add_test(tc, g20_all_degenerate_pairs_agree_with_separating_axes);
	tcase_add_test(tc, g20_random_pairs_agree_and_do_not_change_when_moved_together);
	tcase_add_test(tc, g21_the_nearest_point_of_a_box_decides);
	tcase_add_test(tc, g22_a_sliver_through_a_box_is_found);
	tcase_add_test(tc, g22_g26_boxes_agree_with_separating_axes);
	tcase_add_test(tc, g23_balls_touch_faces_edges_and_corners);
	tcase_add_test(tc, g24_segments_touch_cross_enter_and_miss_a_ball);
	tcase_add_test(tc, g25_segments_end_on_lie_in_and_pierce_a_triangle);
	tcase_add_test(tc, g26_segments_and_rays_agree_with_slabs);
	tcase_add_test(tc, g27_edges_cross_where_the_spec_says_and_corners_count);
	tcase_add_test(tc, the_bits_are_the_same_everywhere);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
