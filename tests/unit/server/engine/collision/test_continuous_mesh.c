/* Meshes in motion (ch1-3 ): the plates of the spec, analytic rotations, and fine
 * sampling as the oracle: no hit is missed and none is late. */
#include "server/engine/collision/continuous_mesh.h"

#include <math.h>

#include "server/base/heap.h"
#include "server/engine/collision/mesh_pair.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

static struct rng rng;
static struct solid solid;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	solid_reset(&solid);
}

static struct shape *box(vec3 half)
{
	solid_reset(&solid);
	solid_add_box(&solid, vec3_negate(half), half, false);
	return solid_shape(&solid);
}

static struct motion motion_of(pose from, pose to, double time)
{
	struct motion motion;
	ck_assert_int_eq(motion_between(from, 0, to, time, &motion), STATUS_OK);
	return motion;
}

static struct motion moving(vec3 from, vec3 to, double time)
{
	return motion_of(pose_make(from, quat_identity()), pose_make(to, quat_identity()), time);
}

static bool find_hit(const struct shape *a, struct motion motion_a, const struct shape *b,
		     struct motion motion_b, double tolerance, struct continuous_mesh_hit *hit,
		     struct continuous_mesh_work *work)
{
	struct continuous_mesh one, other;
	ck_assert_int_eq(continuous_mesh_init(&one, a), STATUS_OK);
	ck_assert_int_eq(continuous_mesh_init(&other, b), STATUS_OK);
	bool found = continuous_mesh_mesh(&one, &motion_a, &other, &motion_b, tolerance, hit, work);
	continuous_mesh_release(&one);
	continuous_mesh_release(&other);
	return found;
}

/* Whether the surfaces cross at time t. */
static bool surfaces_cross_at(const struct shape *a, const struct motion *motion_a,
			      const struct shape *b, const struct motion *motion_b, double t)
{
	pose b_in_a = pose_relative(motion_at(motion_a, t), motion_at(motion_b, t));
	struct mesh_pair walk;
	uint32_t i, j;
	mesh_pair_init(&walk, a->mesh, b->mesh, &b_in_a);
	while (mesh_pair_next(&walk, &i, &j)) {
		vec3 corner[3];
		for (uint32_t k = 0; k < 3; k++)
			corner[k] = mesh_corner(a->mesh, i, k);
		if (intersect_triangle_triangle(corner, walk.corners, NULL))
			return true;
	}
	return false;
}

static bool l_cell(uint32_t i, uint32_t j, uint32_t k, const void *context)
{
	(void)j;
	(void)context;
	return i == 0 || k == 0;
}

START_TEST(a19_a_thin_plate_at_a_hundred_metres_a_second_does_not_pass_a_wall)
{
	double x[3] = { 0, 0.3, 1 }, y[2] = { -0.005, 0.005 }, z[3] = { 0, 0.3, 1 };
	struct solid_lines lines[3] = { { x, 3 }, { y, 2 }, { z, 3 } };
	solid_reset(&solid);
	solid_add_cells(&solid, lines, l_cell, NULL);
	struct shape *plate = solid_shape(&solid), *wall = box(vec3_make(4, 0.005, 4));
	double time = 1.0 / 24;
	struct motion flies =
		moving(vec3_make(0.1, -2, 0.2), vec3_make(0.1, -2 + 100 * time, 0.2), time);
	struct motion stands = moving(vec3_zero(), vec3_zero(), time);
	struct continuous_mesh_hit hit;
	ck_assert(!surfaces_cross_at(plate, &flies, wall, &stands, time));
	ck_assert(find_hit(plate, flies, wall, stands, 1e-6, &hit, NULL));
	ck_assert_double_eq_tol(hit.time, 1.99 / 100, 1e-6);
	ck_assert_double_le(hit.time, 1.99 / 100 + 1e-12);
	ck_assert(vec3_distance(hit.normal, vec3_axis(1)) < 1e-9);
	/* With a small rotation the leading corner of the plate is at most 1 mm ahead. */
	struct motion turns = motion_of(
		flies.from, pose_make(flies.to.position, quat_from_axis_angle(vec3_axis(0), 1e-3)),
		time);
	ck_assert(find_hit(plate, turns, wall, stands, 1e-6, &hit, NULL));
	ck_assert_double_le(hit.time, 1.99 / 100);
	ck_assert_double_ge(hit.time, 1.988 / 100);
	shape_release(plate);
	shape_release(wall);
}
END_TEST

START_TEST(a21_plates_that_pass_at_a_millimetre_miss_and_overlapping_ones_hit)
{
	struct shape *plate = box(vec3_make(1, 0.005, 1));
	double gaps[2] = { 0.001, -0.001 };
	for (uint32_t k = 0; k < 2; k++) {
		vec3 above = vec3_make(-3, 0.01 + gaps[k], 0);
		struct motion flies = moving(above, vec3_add(above, vec3_make(6, 0, 0)), 1);
		struct motion stands = moving(vec3_zero(), vec3_zero(), 1);
		struct continuous_mesh_hit hit;
		ck_assert(find_hit(plate, flies, plate, stands, 1e-6, &hit, NULL) == (k == 1));
		if (k == 1)
			ck_assert_double_eq_tol(hit.time, 1.0 / 6, 1e-9);
		/* The same with a rotation about the path, which does not change the size of the
		 * gap. */
		struct motion rolls = motion_of(
			flies.from,
			pose_make(flies.to.position, quat_from_axis_angle(vec3_axis(0), 1e-5)), 1);
		ck_assert(find_hit(plate, rolls, plate, stands, 1e-6, &hit, NULL) == (k == 1));
	}
	shape_release(plate);
}
END_TEST

START_TEST(a_propeller_hits_a_post_that_its_end_poses_do_not_touch)
{
	/* Half a turn: the shape looks the same at both ends of the motion, and straight paths
	 * would pass through the hub. */
	struct shape *blade = box(vec3_make(2, 0.05, 0.05)), *post = box(vec3_make(0.05, 0.05, 1));
	struct motion turns =
		motion_of(pose_identity(),
			  pose_make(vec3_zero(), quat_from_axis_angle(vec3_axis(2), 3.1)), 1);
	struct motion stands = moving(vec3_make(0, 1.9, 0), vec3_make(0, 1.9, 0), 1);
	struct continuous_mesh_hit hit;
	struct continuous_mesh_work work;
	ck_assert(find_hit(blade, turns, post, stands, 1e-7, &hit, &work));
	/* The long side of the blade, 0.05 from its axis, reaches a corner of the post. */
	vec3 corner = vec3_make(0.05, 1.85, 0);
	double angle = trig_atan2(corner.y, corner.x) -
		       asin(0.05 / scalar_sqrt(corner.x * corner.x + corner.y * corner.y));
	vec3 other = vec3_make(0.05, 1.95, 0);
	angle = scalar_min(angle, trig_atan2(other.y, other.x) - asin(0.05 / vec3_length(other)));
	ck_assert_double_le(3.1 * hit.time, angle + 1e-12);
	ck_assert_double_ge(3.1 * hit.time, angle - 1e-6);
	/* A post beyond the blade's length. */
	stands = moving(vec3_make(0, 2.2, 0), vec3_make(0, 2.2, 0), 1);
	ck_assert(!find_hit(blade, turns, post, stands, 1e-7, &hit, &work));
	shape_release(blade);
	shape_release(post);
}
END_TEST

START_TEST(a_rod_that_recedes_before_it_returns_is_found)
{
	/* The body recedes at first; then its far tip swings round behind it. */
	struct shape *rod = box(vec3_make(2, 0.02, 0.02)), *wall = box(vec3_make(0.1, 3, 3));
	pose from = pose_make(vec3_make(1.2, 0, 0), quat_from_axis_angle(vec3_axis(2), PI / 2));
	pose to = pose_make(vec3_make(1.6, 0, 0), quat_from_axis_angle(vec3_axis(2), PI / 2 + 1.5));
	struct motion swings = motion_of(from, to, 1), stands = moving(vec3_zero(), vec3_zero(), 1);
	struct continuous_mesh_hit hit;
	ck_assert(find_hit(rod, swings, wall, stands, 1e-7, &hit, NULL));
	/* The oracle brackets the time by sampling. */
	double low = 0, high = 1;
	for (uint32_t k = 0; k < 1000; k++) {
		if (surfaces_cross_at(rod, &swings, wall, &stands, k / 1000.0)) {
			high = k / 1000.0;
			low = (k - 1) / 1000.0;
			break;
		}
	}
	for (uint32_t k = 0; k < 40; k++) {
		double middle = 0.5 * (low + high);
		*(surfaces_cross_at(rod, &swings, wall, &stands, middle) ? &high : &low) = middle;
	}
	ck_assert_double_le(hit.time, high);
	ck_assert_double_ge(hit.time, low - 1e-6);
	shape_release(rod);
	shape_release(wall);
}
END_TEST

/* Random bodies of many triangles and random motions. */
START_TEST(random_meshes_miss_no_hit_and_report_none_late_or_early)
{
	enum { SAMPLES = 400 };
	uint32_t hits = 0, misses = 0;
	struct shape *shapes[4];
	shapes[0] = box(vec3_make(0.02, 1, 0.6));
	shapes[1] = box(vec3_make(1.4, 0.03, 0.03));
	solid_reset(&solid);
	solid_add_ring(&solid, 1, 0.1, 12, 5);
	shapes[2] = solid_shape(&solid);
	shapes[3] = make_terrain(4, 0.5, 0.6, 9);
	for (uint32_t round = 0; round < 150; round++) {
		const struct shape *a = shapes[rng_below(&rng, 4)], *b = shapes[rng_below(&rng, 4)];
		bool turning = round % 3 != 0;
		quat qa = random_rotation(&rng), qb = random_rotation(&rng);
		struct motion one = motion_of(
			pose_make(random_vector(&rng, 3), qa),
			pose_make(random_vector(&rng, 3), turning ? random_rotation(&rng) : qa), 1);
		struct motion other = motion_of(
			pose_make(random_vector(&rng, 3), qb),
			pose_make(random_vector(&rng, 3), turning ? random_rotation(&rng) : qb), 1);
		struct continuous_mesh_hit hit;
		bool found = find_hit(a, one, b, other, 1e-6, &hit, NULL);
		double until = found ? hit.time : 1;
		for (uint32_t k = 0; k < SAMPLES; k++) {
			double t = k / (double)SAMPLES;
			if (t >= until)
				break;
			ck_assert(!surfaces_cross_at(a, &one, b, &other, t));
		}
		hits += found;
		misses += !found;
		if (!found)
			continue;
		/* The hit is within tolerance of contact: soon after it the surfaces cross or pass
		 * each other. */
		pose at_a = motion_at(&one, hit.time), at_b = motion_at(&other, hit.time);
		double nearest = SCALAR_MAX;
		for (uint32_t k = 0; k < 2; k++) {
			const struct shape *of = k ? b : a;
			pose at = k ? at_b : at_a;
			uint32_t triangle = k ? hit.triangle_b : hit.triangle_a;
			vec3 corner[3];
			mesh_corners_at(of->mesh, triangle, &at, corner);
			double far =
				closest_point_triangle(hit.point, corner[0], corner[1], corner[2])
					.distance_squared;
			nearest = scalar_min(nearest, scalar_sqrt(far));
			ck_assert_double_le(scalar_sqrt(far), 2e-6);
		}
	}
	ck_assert_uint_gt(hits, 10);
	ck_assert_uint_gt(misses, 5);
	for (uint32_t k = 0; k < 4; k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(exchanging_the_bodies_changes_the_time_by_rounding_only)
{
	struct shape *a = box(vec3_make(0.02, 1, 0.6)), *b = box(vec3_make(1.4, 0.03, 0.03));
	uint32_t hits = 0;
	for (uint32_t round = 0; round < 60; round++) {
		struct motion one =
			motion_of(pose_make(random_vector(&rng, 3), random_rotation(&rng)),
				  pose_make(random_vector(&rng, 1), random_rotation(&rng)), 1);
		struct motion other =
			motion_of(pose_make(random_vector(&rng, 3), random_rotation(&rng)),
				  pose_make(random_vector(&rng, 1), random_rotation(&rng)), 1);
		struct continuous_mesh_hit hit, turned;
		bool found = find_hit(a, one, b, other, 1e-8, &hit, NULL);
		ck_assert(find_hit(b, other, a, one, 1e-8, &turned, NULL) == found);
		if (!found)
			continue;
		hits++;
		ck_assert_double_eq_tol(hit.time, turned.time, 1e-6);
	}
	ck_assert_uint_gt(hits, 10);
	shape_release(a);
	shape_release(b);
}
END_TEST

START_TEST(bodies_that_start_overlapping_hit_at_once_without_allocation)
{
	struct shape *a = box(vec3_all(1)), *b = box(vec3_all(0.7));
	struct continuous_mesh one, other;
	struct continuous_mesh_hit hit;
	struct motion goes = moving(vec3_make(1, 0, 0), vec3_make(5, 0, 0), 1);
	struct motion turns = motion_of(
		pose_identity(), pose_make(vec3_zero(), quat_from_axis_angle(vec3_axis(1), 1)), 1);
	ck_assert_int_eq(continuous_mesh_init(&one, a), STATUS_OK);
	ck_assert_int_eq(continuous_mesh_init(&other, b), STATUS_OK);
	uint64_t calls = heap_calls();
	ck_assert(continuous_mesh_mesh(&one, &goes, &other, &turns, 1e-6, &hit, NULL));
	ck_assert(hit.time == 0);
	ck_assert_uint_eq(heap_calls(), calls);
	continuous_mesh_release(&one);
	continuous_mesh_release(&other);
	shape_release(a);
	shape_release(b);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("continuous_mesh");
	TCase *tc = tcase_create("meshes");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, a19_a_thin_plate_at_a_hundred_metres_a_second_does_not_pass_a_wall);
	tcase_add_test(tc, a21_plates_that_pass_at_a_millimetre_miss_and_overlapping_ones_hit);
	tcase_add_test(tc, a_propeller_hits_a_post_that_its_end_poses_do_not_touch);
	tcase_add_test(tc, a_rod_that_recedes_before_it_returns_is_found);
	tcase_add_test(tc, random_meshes_miss_no_hit_and_report_none_late_or_early);
	tcase_add_test(tc, exchanging_the_bodies_changes_the_time_by_rounding_only);
	tcase_add_test(tc, bodies_that_start_overlapping_hit_at_once_without_allocation);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
