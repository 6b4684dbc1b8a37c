/* Conservative advancement (app H-01, H-02): the rod and the balls of the spec, with sampling as
 * the oracle. */
#include "server/engine/collision/advance.h"

#include <math.h>

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/oracle_primitives.h"
#include "tests/lib/poses.h"
#include "tests/lib/shapes.h"

static struct rng rng;

static void set_up(void)
{
	rng = rng_seeded(check_seed());
}

static struct motion motion_of(pose from, pose to)
{
	struct motion motion;
	ck_assert_int_eq(motion_between(from, 0, to, 1, &motion), STATUS_OK);
	return motion;
}

START_TEST(h02_the_rod_meets_the_wall_at_the_angle_of_the_spec)
{
	static const vec3 ROD[2] = { { 0, -1, 0 }, { 0, 1, 0 } };
	static const vec3 WALL[4] = { { .8, -2, -2 }, { .8, 2, -2 }, { .8, 2, 2 }, { .8, -2, 2 } };
	static const double TOLERANCE[3] = { 1e-3, 1e-6, 1e-9 };
	static const uint32_t MOST[3] = { 6, 14, 21 };
	pose still = pose_identity();
	pose turned = { vec3_zero(), quat_from_axis_angle(vec3_make(0, 0, -1), 1.2) };
	struct motion turning = motion_of(still, turned), resting = motion_of(still, still);
	struct advance_body rod = { { ROD, 2, NULL, 0, NULL }, 1, &turning };
	struct advance_body wall = { { WALL, 4, NULL, 0, NULL }, 3, &resting };
	double touch = asin(0.8);
	for (uint32_t k = 0; k < 3; k++) {
		struct advance_options options = { TOLERANCE[k], 100 };
		struct advance_result result;
		advance_convex(&rod, &wall, &options, NULL, &result);
		ck_assert_int_eq(result.outcome, ADVANCE_HIT);
		ck_assert_double_le(result.time * 1.2, touch);
		ck_assert_double_ge(result.time * 1.2, touch - 2 * TOLERANCE[k]);
		ck_assert_uint_le(result.iterations, MOST[k] + 1);
		ck_assert_double_lt(vec3_distance(result.normal, vec3_make(1, 0, 0)), 1e-6);
	}
	ck_assert_double_eq_tol(touch, 0.927295, 1e-6);
	/* A turn too small to reach the wall. */
	turned.rotation = quat_from_axis_angle(vec3_make(0, 0, -1), 0.9);
	turning = motion_of(still, turned);
	struct advance_options options = { 1e-6, 100 };
	struct advance_result result;
	advance_convex(&rod, &wall, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_APART);
}
END_TEST

START_TEST(h02_approaching_balls_take_one_step_and_separating_ones_none)
{
	struct shape *ball = make_sphere(1);
	struct gjk_points room_a, room_b;
	pose at = pose_identity(), far = { vec3_make(10, 0, 0), quat_identity() };
	struct motion right = motion_of(at, far), left = motion_of(far, at);
	struct advance_body a = advance_body_of(ball, 0, &right, &room_a);
	struct advance_body b = advance_body_of(ball, 0, &left, &room_b);
	struct advance_options options = { 1e-9, 50 };
	struct advance_result result;
	advance_convex(&a, &b, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_HIT);
	ck_assert_double_eq_tol(result.time, 0.4, 1e-10);
	ck_assert_uint_eq(result.iterations, 2);
	/* Separating, although nearer than the tolerance at the start. */
	pose beside = { vec3_make(2 + 1e-10, 0, 0), quat_identity() };
	pose away = { vec3_make(9, 0, 0), quat_identity() };
	struct motion resting = motion_of(at, at), parting = motion_of(beside, away);
	a.motion = &resting;
	b.motion = &parting;
	advance_convex(&a, &b, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_APART);
	ck_assert_uint_eq(result.iterations, 1);
	/* From the same start, approaching. */
	away.position.x = 1;
	parting = motion_of(beside, away);
	advance_convex(&a, &b, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_HIT);
	ck_assert(result.time == 0);
	/* Overlapping at the start. */
	b.motion = &resting;
	advance_convex(&a, &b, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_OVERLAP);
	shape_release(ball);
}
END_TEST

static struct shape *random_shape(uint32_t kind)
{
	vec3 points[24];
	for (uint32_t k = 0; k < 24; k++)
		points[k] = vec3_scale(random_direction(&rng), rng_range(&rng, 0.4, 0.8));
	switch (kind) {
	case 0:
		return make_box(0.7, 0.2, 0.4);
	case 1:
		return make_capsule(0.6, 0.2);
	case 2:
		return make_sphere(0.5);
	default:
		return make_hull(points, 24);
	}
}

/* GJK starts from the simplex of the result. From a cold start it takes some pieces less than 1e-6
 * apart for touching (about one pair in 10^5). */
static double gap_at(const struct advance_body *a, const struct advance_body *b, double t,
		     const struct gjk_simplex *start)
{
	pose at = pose_relative(motion_at(a->motion, t), motion_at(b->motion, t));
	mat3 rotation = mat3_from_quat(at.rotation);
	struct gjk_result r;
	gjk_distance(&a->core, &b->core, &rotation, at.position, start, &r);
	return r.distance - a->core.radius - b->core.radius;
}

static pose random_pose(double size)
{
	vec3 position = random_vector(&rng, size);
	return pose_make(position, awkward_rotation(&rng));
}

START_TEST(h01_the_time_is_never_after_contact_and_no_contact_is_missed)
{
	static const double TOLERANCE = 1e-6;
	uint32_t outcomes[4] = { 0 }, most = 0;
	struct shape *shapes[4];
	for (uint32_t k = 0; k < 4; k++)
		shapes[k] = random_shape(k);
	for (uint32_t run = 0; run < oracle_runs(800); run++) {
		struct gjk_points room_a, room_b;
		struct motion of_a = motion_of(random_pose(2), random_pose(2));
		struct motion of_b = motion_of(random_pose(2), random_pose(2));
		struct advance_body a = advance_body_of(shapes[run % 4], 0, &of_a, &room_a);
		struct advance_body b = advance_body_of(shapes[run / 4 % 4], 0, &of_b, &room_b);
		struct advance_options options = { TOLERANCE, 400 };
		struct advance_result result, turned;
		uint64_t calls = heap_calls();
		advance_convex(&a, &b, &options, NULL, &result);
		ck_assert_uint_eq(heap_calls(), calls);
		outcomes[result.outcome]++;
		most = MAX_OF(most, result.iterations);
		for (uint32_t k = 0; k <= 60; k++) {
			double t = k / 60.0, gap = gap_at(&a, &b, t, &result.simplex);
			if (result.outcome == ADVANCE_OVERLAP)
				ck_assert(t > 0 || gap <= 0);
			else if (t < result.time)
				ck_assert_double_gt(gap, 0);
		}
		if (result.outcome == ADVANCE_HIT) {
			ck_assert_double_gt(result.distance, 0);
			ck_assert_double_le(result.distance, TOLERANCE);
			double gap = gap_at(&a, &b, result.time, &result.simplex);
			ck_assert_double_eq_tol(gap, result.distance, 1e-10);
			ck_assert_double_eq_tol(vec3_distance(result.point_a, result.point_b),
						result.distance, 1e-10);
		}
		advance_convex(&b, &a, &options, NULL, &turned);
		if (turned.outcome == result.outcome)
			ck_assert_double_eq_tol(turned.time, result.time, 1e-4);
		else
			ck_assert(result.outcome != ADVANCE_OVERLAP);
	}
	ck_assert_uint_gt(outcomes[ADVANCE_HIT], 50);
	ck_assert_uint_gt(outcomes[ADVANCE_APART], 50);
	ck_assert_uint_gt(outcomes[ADVANCE_OVERLAP], 10);
	ck_assert_uint_le(outcomes[ADVANCE_LIMIT], oracle_runs(800) / 100);
	for (uint32_t k = 0; k < 4; k++)
		shape_release(shapes[k]);
}
END_TEST

START_TEST(an_iteration_limit_is_reported_with_the_pieces_still_apart)
{
	struct shape *box = make_box(1, 0.1, 0.1);
	struct gjk_points room_a, room_b;
	pose at = pose_identity();
	pose turned = { vec3_zero(), quat_from_axis_angle(vec3_make(0, 0, 1), 1) };
	pose over = { vec3_make(0, 1.0, 0), quat_identity() };
	struct motion turning = motion_of(at, turned), resting = motion_of(over, over);
	struct advance_body a = advance_body_of(box, 0, &turning, &room_a);
	struct advance_body b = advance_body_of(box, 0, &resting, &room_b);
	struct advance_options options = { 1e-9, 3 };
	struct advance_result result;
	advance_convex(&a, &b, &options, NULL, &result);
	ck_assert_int_eq(result.outcome, ADVANCE_LIMIT);
	ck_assert_uint_eq(result.iterations, 3);
	ck_assert(result.time > 0 && result.distance > options.tolerance);
	shape_release(box);
}
END_TEST

START_TEST(the_bits_are_the_same_everywhere)
{
	struct hasher hash;
	hasher_init(&hash, 0);
	rng = rng_seeded(1);
	struct shape *box = make_box(0.7, 0.2, 0.4), *capsule = make_capsule(0.6, 0.2);
	for (uint32_t run = 0; run < 200; run++) {
		struct gjk_points room_a, room_b;
		pose p[4];
		for (uint32_t k = 0; k < 4; k++)
			p[k] = random_pose(2);
		struct motion of_a = motion_of(p[0], p[1]), of_b = motion_of(p[2], p[3]);
		struct advance_body a = advance_body_of(box, 0, &of_a, &room_a);
		struct advance_body b = advance_body_of(capsule, 0, &of_b, &room_b);
		struct advance_options options = { 1e-6, 400 };
		struct advance_result result;
		advance_convex(&a, &b, &options, NULL, &result);
		hasher_u32(&hash, result.outcome);
		hasher_u32(&hash, result.iterations);
		hasher_f64(&hash, result.time);
		hasher_f64(&hash, result.distance);
	}
	ck_assert_uint_eq(hasher_digest(&hash), 545906064634624291u);
	shape_release(box);
	shape_release(capsule);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/collision/advance");
	TCase *tc = tcase_create("times");
	tcase_add_checked_fixture(tc, set_up, NULL);
	tcase_add_test(tc, h02_the_rod_meets_the_wall_at_the_angle_of_the_spec);
	tcase_add_test(tc, h02_approaching_balls_take_one_step_and_separating_ones_none);
	tcase_add_test(tc, h01_the_time_is_never_after_contact_and_no_contact_is_missed);
	tcase_add_test(tc, an_iteration_limit_is_reported_with_the_pieces_still_apart);
	tcase_add_test(tc, the_bits_are_the_same_everywhere);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
