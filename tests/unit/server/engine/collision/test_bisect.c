/* Back-tracking by bisection (ch1-3 A-18): the cube of the spec, rotating bodies against fine
 * sampling, and each stop condition. */
#include "server/engine/collision/bisect.h"

#include <math.h>

#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"
#include "tests/lib/solids.h"

static struct rng rng;
static struct solid solid;
static struct regions regions;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
	regions_init(&regions);
}

static void tear_down(void)
{
	regions_release(&regions);
}

static struct shape *box(vec3 half)
{
	solid_reset(&solid);
	solid_add_box(&solid, vec3_negate(half), half, false);
	return solid_shape(&solid);
}

static struct motion motion_of(pose from, pose to)
{
	struct motion motion;
	ck_assert_int_eq(motion_between(from, 0, to, 1, &motion), STATUS_OK);
	return motion;
}

static struct motion moving(vec3 from, vec3 to)
{
	return motion_of(pose_make(from, quat_identity()), pose_make(to, quat_identity()));
}

static struct bisect_result bisect(const struct shape *a, struct motion motion_a,
				   const struct shape *b, struct motion motion_b,
				   struct bisect_options options)
{
	struct bisect_result out;
	ck_assert_int_eq(
		bisect_meshes(&regions, a->mesh, &motion_a, b->mesh, &motion_b, &options, &out),
		STATUS_OK);
	return out;
}

START_TEST(a18_a_cube_falls_onto_a_floor_at_three_quarters)
{
	struct shape *cube = box(vec3_all(0.5)), *floor = box(vec3_make(5, 5, 1));
	struct motion falls = moving(vec3_make(0.3, 0.1, 2), vec3_make(0.3, 0.1, 0));
	struct motion stands = moving(vec3_make(0, 0, -1), vec3_make(0, 0, -1));
	struct bisect_options fine = { 0, 1e-6, 100 };
	struct bisect_result out = bisect(cube, falls, floor, stands, fine);
	ck_assert_int_eq(out.outcome, BISECT_HIT);
	ck_assert_int_eq(out.reason, BISECT_BY_INTERVAL);
	ck_assert_double_le(out.time, 0.75);
	ck_assert_double_ge(out.time, 0.75 - 1e-6);
	ck_assert_uint_eq(regions.region_count, 1);
	ck_assert(vec3_distance(regions.regions[0].normal, vec3_make(0, 0, -1)) < 1e-6);
	/* A stop by depth; the cube moves at 2 m/s. */
	struct bisect_options shallow = { 1e-3, 0, 100 };
	out = bisect(cube, falls, floor, stands, shallow);
	ck_assert_int_eq(out.reason, BISECT_BY_DEPTH);
	ck_assert_double_le(regions.regions[0].depth, 1e-3);
	ck_assert_double_le(out.time, 0.75);
	ck_assert_double_ge(out.time, 0.75 - 2e-3);
	struct bisect_options few = { 0, 0, 7 };
	out = bisect(cube, falls, floor, stands, few);
	ck_assert_int_eq(out.reason, BISECT_BY_ITERATIONS);
	ck_assert_double_le(out.time, 0.75);
	ck_assert_double_ge(out.time_overlap, 0.75);
	/* With no tolerance the bisection ends when no double lies between its bounds. */
	struct bisect_options finest = { 0, 0, 1000 };
	out = bisect(cube, falls, floor, stands, finest);
	ck_assert_int_eq(out.reason, BISECT_BY_INTERVAL);
	ck_assert_double_eq_tol(out.time, 0.75, 1e-15);
	shape_release(cube);
	shape_release(floor);
}
END_TEST

/* C5: unit cubes, centres from 3 to 0.5: they meet at (3 - 1) / 2.5, and end 0.5 deep. */
START_TEST(c5_aligned_cubes_meet_at_four_fifths)
{
	struct shape *cube = box(vec3_all(0.5));
	struct motion stands = moving(vec3_zero(), vec3_zero());
	for (uint32_t axis = 0; axis < 3; axis++) {
		vec3 way = vec3_axis(axis);
		struct motion moves = moving(vec3_scale(way, 3), vec3_scale(way, 0.5));
		struct bisect_options fine = { 0, 1e-6, 100 };
		struct bisect_result out = bisect(cube, stands, cube, moves, fine);
		ck_assert_int_eq(out.outcome, BISECT_HIT);
		ck_assert_double_le(out.time, 0.8);
		ck_assert_double_ge(out.time, 0.8 - 1e-6);
		struct bisect_options shallow = { 1e-3, 0, 100 };
		out = bisect(cube, stands, cube, moves, shallow);
		ck_assert_int_eq(out.reason, BISECT_BY_DEPTH);
		ck_assert_double_gt(regions.regions[0].depth, 0);
		ck_assert_double_eq_tol(regions.regions[0].depth, 2.5 * (out.time_overlap - 0.8),
					1e-12);
		/* At the end of the motion the overlap is 0.5. */
		struct bisect_options once = { 0, 0, 1 };
		out = bisect(cube, stands, cube, moves, once);
		ck_assert_double_eq_tol(regions.regions[0].depth, 0.5, 1e-15);
	}
	shape_release(cube);
}
END_TEST

START_TEST(a18_an_overlap_at_the_start_and_a_clear_end_are_reported)
{
	struct shape *cube = box(vec3_all(0.5)), *floor = box(vec3_make(5, 5, 1));
	struct motion stands = moving(vec3_make(0, 0, -1), vec3_make(0, 0, -1));
	struct bisect_options fine = { 0, 1e-6, 100 };
	struct bisect_result out = bisect(cube, moving(vec3_make(0, 0, 0.25), vec3_make(0, 0, 4)),
					  floor, stands, fine);
	ck_assert_int_eq(out.outcome, BISECT_OVERLAP);
	ck_assert(out.time == 0);
	ck_assert_double_eq_tol(regions.regions[0].depth, 0.25, 1e-12);
	/* A body that passes through and is clear at the end is not searched for. */
	out = bisect(cube, moving(vec3_make(0, 0, 3), vec3_make(0, 0, -7)), floor, stands, fine);
	ck_assert_int_eq(out.outcome, BISECT_CLEAR);
	ck_assert(out.time == 1);
	ck_assert_uint_eq(regions.region_count, 0);
	shape_release(cube);
	shape_release(floor);
}
END_TEST

START_TEST(a18_a_turning_rod_meets_the_wall_at_the_angle_of_the_spec)
{
	/* A thin rod of half length 1, its pivot 0.8 from the wall. */
	struct shape *rod = box(vec3_make(1e-3, 1, 1e-3)), *wall = box(vec3_make(1, 3, 3));
	quat turned = quat_from_axis_angle(vec3_make(0, 0, -1), 1.2);
	struct motion turns = motion_of(pose_identity(), pose_make(vec3_zero(), turned));
	struct motion stands = moving(vec3_make(1.8, 0, 0), vec3_make(1.8, 0, 0));
	struct bisect_options fine = { 0, 1e-9, 100 };
	struct bisect_result out = bisect(rod, turns, wall, stands, fine);
	/* The corner (1e-3, 1) reaches x = 0.8. */
	double angle = asin(0.8 / scalar_sqrt(1 + 1e-6)) - trig_atan2(1e-3, 1);
	ck_assert_int_eq(out.outcome, BISECT_HIT);
	ck_assert_double_eq_tol(1.2 * out.time, angle, 2e-9);
	ck_assert_double_le(1.2 * out.time, angle + 1e-15);
	shape_release(rod);
	shape_release(wall);
}
END_TEST

START_TEST(a18_two_feet_give_two_collisions)
{
	solid_reset(&solid);
	solid_add_octahedron(&solid, vec3_make(-2, 0, 0), 1);
	solid_add_octahedron(&solid, vec3_make(2, 0, 0), 1);
	struct shape *feet = solid_shape(&solid), *floor = box(vec3_make(5, 6, 1));
	struct motion falls = moving(vec3_make(0.1, 0.2, 3), vec3_make(0.1, 0.2, 0.5));
	struct motion stands = moving(vec3_make(0, 0, -1), vec3_make(0, 0, -1));
	struct bisect_options options = { 1e-5, 0, 100 };
	struct bisect_result out = bisect(feet, falls, floor, stands, options);
	ck_assert_int_eq(out.outcome, BISECT_HIT);
	ck_assert_uint_eq(regions.region_count, 2);
	for (uint32_t r = 0; r < 2; r++) {
		ck_assert_double_le(regions.regions[r].depth, 1e-5);
		ck_assert_uint_eq(regions.regions[r].vertices_a, 1);
	}
	shape_release(feet);
	shape_release(floor);
}
END_TEST

START_TEST(a18_the_bracket_starts_clear_and_ends_overlapping)
{
	uint32_t hits = 0;
	for (uint32_t round = 0; round < 60; round++) {
		solid_reset(&solid);
		solid_add_ring(&solid, 1.5, 0.4, 14, 7);
		struct shape *a = solid_shape(&solid);
		struct shape *b =
			box(vec3_make(rng_range(&rng, 0.1, 1), rng_range(&rng, 0.1, 1), 0.5));
		struct motion one =
			motion_of(pose_make(random_vector(&rng, 3), random_rotation(&rng)),
				  pose_make(random_vector(&rng, 1), random_rotation(&rng)));
		struct motion other =
			motion_of(pose_make(random_vector(&rng, 3), random_rotation(&rng)),
				  pose_make(random_vector(&rng, 1), random_rotation(&rng)));
		struct bisect_options options = { 0, 1e-7, 60 };
		struct bisect_result out = bisect(a, one, b, other, options);
		if (out.outcome == BISECT_HIT) {
			hits++;
			ck_assert_double_lt(out.time_overlap - out.time, 1e-7);
			pose clear_a = motion_at(&one, out.time),
			     clear_b = motion_at(&other, out.time);
			pose clear = pose_relative(clear_a, clear_b);
			uint32_t found = regions.region_count;
			ck_assert_uint_gt(found, 0);
			ck_assert(regions.regions[0].depth > 0);
			pose there = pose_relative(out.at_a, out.at_b);
			struct regions again;
			struct regions_options all = regions_options_default();
			regions_init(&again);
			ck_assert_int_eq(regions_find(&again, a->mesh, b->mesh, &there, &all),
					 STATUS_OK);
			ck_assert_uint_eq(again.region_count, found);
			ck_assert_int_eq(regions_find(&again, a->mesh, b->mesh, &clear, &all),
					 STATUS_OK);
			ck_assert(again.region_count == 0 || again.regions[0].depth == 0);
			regions_release(&again);
		}
		shape_release(a);
		shape_release(b);
	}
	ck_assert_uint_gt(hits, 10);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("bisect");
	TCase *tc = tcase_create("times");
	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, a18_a_cube_falls_onto_a_floor_at_three_quarters);
	tcase_add_test(tc, c5_aligned_cubes_meet_at_four_fifths);
	tcase_add_test(tc, a18_an_overlap_at_the_start_and_a_clear_end_are_reported);
	tcase_add_test(tc, a18_a_turning_rod_meets_the_wall_at_the_angle_of_the_spec);
	tcase_add_test(tc, a18_two_feet_give_two_collisions);
	tcase_add_test(tc, a18_the_bracket_starts_clear_and_ends_overlapping);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
