/* Motion between two poses (app A-07), and the check of the float environment at start-up. */
#include "server/engine/math/interpolate.h"

#include <fenv.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/math/float_environment.h"
#include "tests/lib/check_main.h"

static pose random_pose(struct rng *rng)
{
	double x[7];
	for (int i = 0; i < 7; i++)
		x[i] = rng_range(rng, -1, 1);
	return pose_make(vec3_make(5 * x[0], 5 * x[1], 5 * x[2]),
			 quat_normalize(quat_make(x[3], x[4], x[5], x[6])));
}

static double rotation_difference(quat a, quat b)
{
	vec3 axis;
	double angle;
	quat_to_axis_angle(quat_mul(a, quat_conjugate(b)), &axis, &angle);
	return angle;
}

/* The pose at t1 by the formula; motion_at returns `to` itself there. */
static pose pose_at_end(const struct motion *motion)
{
	struct motion open = *motion;
	open.t1 += 1;
	return motion_at(&open, motion->t1);
}

START_TEST(both_ends_are_the_given_poses)
{
	struct rng rng = rng_seeded(check_seed());
	for (int n = 0; n < 1000; n++) {
		pose a = random_pose(&rng), b = random_pose(&rng);
		struct motion motion;
		ck_assert_int_eq(motion_between(a, 2, b, 2.5, &motion), STATUS_OK);
		pose start = motion_at(&motion, 2), end = motion_at(&motion, 2.5);
		ck_assert_mem_eq(&start, &a, sizeof a);
		ck_assert_mem_eq(&end, &b, sizeof b);
		pose computed = pose_at_end(&motion);
		ck_assert_double_le(vec3_distance(computed.position, b.position), 1e-14);
		ck_assert_double_le(rotation_difference(computed.rotation, b.rotation), 1e-14);
	}
}
END_TEST

START_TEST(a_quarter_turn_ends_at_90_degrees)
{
	/* app A-07: the book's formula reaches 76.292 degrees here. */
	struct motion motion;
	pose to = { vec3_zero(), quat_from_axis_angle(vec3_axis(2), PI / 2) };
	ck_assert_int_eq(motion_between(pose_identity(), 0, to, 1, &motion), STATUS_OK);
	ck_assert_double_le(rotation_difference(pose_at_end(&motion).rotation, to.rotation), 1e-12);
	quat half = quat_from_axis_angle(vec3_axis(2), PI / 4);
	ck_assert_double_le(rotation_difference(motion_at(&motion, 0.5).rotation, half), 1e-15);
	ck_assert_double_le(vec3_distance(motion.spin, vec3_make(0, 0, PI / 2)), 1e-15);
}
END_TEST

START_TEST(point_velocity_is_the_difference_quotient_of_the_poses)
{
	struct rng rng = rng_seeded(check_seed());
	for (int n = 0; n < 300; n++) {
		struct motion motion;
		pose a = random_pose(&rng), b = random_pose(&rng);
		ck_assert_int_eq(motion_between(a, 0, b, 0.1, &motion), STATUS_OK);
		vec3 point = vec3_make(1, 2, 3);
		double t = 0.04, h = 1e-6;
		pose here = motion_at(&motion, t), later = motion_at(&motion, t + h);
		vec3 p = pose_point(here, point);
		vec3 moved = vec3_scale(vec3_sub(pose_point(later, point), p), 1 / h);
		vec3 velocity = motion_point_velocity(&motion, here.position, p);
		ck_assert_double_le(vec3_distance(moved, velocity), 1e-2);
	}
}
END_TEST

START_TEST(motions_without_a_turn_or_with_a_half_turn_have_one_spin)
{
	struct motion motion;
	pose a = { vec3_make(1, 1, 1), quat_identity() },
	     b = { vec3_make(2, 1, 1), quat_identity() };
	ck_assert_int_eq(motion_between(a, 0, b, 1, &motion), STATUS_OK);
	ck_assert(vec3_equal(motion.spin, vec3_zero()) &&
		  vec3_equal(motion.velocity, vec3_axis(0)));
	ck_assert(quat_equal(motion_at(&motion, 0.3).rotation, quat_identity()));
	/* q and −q are the same rotation. */
	b.rotation = quat_negate(b.rotation);
	ck_assert_int_eq(motion_between(a, 0, b, 1, &motion), STATUS_OK);
	ck_assert(vec3_equal(motion.spin, vec3_zero()));
	b.rotation = quat_make(0, 0, 0, -1);
	ck_assert_int_eq(motion_between(a, 0, b, 1, &motion), STATUS_OK);
	ck_assert(vec3_equal(motion.spin, vec3_make(0, 0, PI)));
}
END_TEST

START_TEST(impossible_motions_are_refused_and_change_nothing)
{
	struct motion motion, before;
	memset(&motion, 0x5a, sizeof motion);
	before = motion;
	pose a = pose_identity(), far = pose_make(vec3_make(1e300, 0, 0), quat_identity());
	pose broken = pose_make(vec3_make(0.0 / 0.0, 0, 0), quat_identity());
	ck_assert_int_eq(motion_between(a, 1, a, 1, &motion), STATUS_RANGE);
	ck_assert_int_eq(motion_between(a, 2, a, 1, &motion), STATUS_RANGE);
	ck_assert_int_eq(motion_between(a, 0, broken, 1, &motion), STATUS_NOT_FINITE);
	ck_assert_int_eq(motion_between(a, 0, a, 1.0 / 0.0, &motion), STATUS_NOT_FINITE);
	ck_assert_int_eq(motion_between(a, 0, far, 1e-300, &motion), STATUS_NOT_FINITE);
	ck_assert_mem_eq(&motion, &before, sizeof motion);
}
END_TEST

START_TEST(the_float_environment_of_this_machine_is_accepted)
{
	struct reason why = { .text = "none" };
	ck_assert_msg(float_environment_check(&why) == STATUS_OK, "%s", why.text);
}
END_TEST

#ifdef FE_UPWARD
START_TEST(other_rounding_modes_are_refused)
{
	static const int modes[] = { FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct reason why = { .status = STATUS_OK };
		fesetround(modes[i]);
		enum status status = float_environment_check(&why);
		fesetround(FE_TONEAREST);
		ck_assert_int_eq(status, STATUS_UNSUPPORTED);
		ck_assert_ptr_nonnull(strstr(why.text, "nearest"));
	}
}
END_TEST
#endif

#ifdef __SSE2__
#include <xmmintrin.h>
START_TEST(flushed_denormals_are_refused)
{
	/* MXCSR bits: 15 flushes results to zero, 6 reads denormals as zero. */
	static const unsigned modes[] = { 0x8000, 0x0040 };
	for (size_t i = 0; i < COUNT_OF(modes); i++) {
		struct reason why = { .status = STATUS_OK };
		unsigned before = _mm_getcsr();
		_mm_setcsr(before | modes[i]);
		enum status status = float_environment_check(&why);
		_mm_setcsr(before);
		ck_assert_int_eq(status, STATUS_UNSUPPORTED);
		ck_assert_ptr_nonnull(strstr(why.text, "denormals"));
	}
}
END_TEST
#endif

static Suite *make(void)
{
	Suite *suite = suite_create("interpolate");
	TCase *all = tcase_create("interpolate");
	tcase_add_test(all, both_ends_are_the_given_poses);
	tcase_add_test(all, a_quarter_turn_ends_at_90_degrees);
	tcase_add_test(all, point_velocity_is_the_difference_quotient_of_the_poses);
	tcase_add_test(all, motions_without_a_turn_or_with_a_half_turn_have_one_spin);
	tcase_add_test(all, impossible_motions_are_refused_and_change_nothing);
	suite_add_tcase(suite, all);
	TCase *machine = tcase_create("float environment");
	tcase_add_test(machine, the_float_environment_of_this_machine_is_accepted);
#ifdef FE_UPWARD
	tcase_add_test(machine, other_rounding_modes_are_refused);
#endif
#ifdef __SSE2__
	tcase_add_test(machine, flushed_denormals_are_refused);
#endif
	suite_add_tcase(suite, machine);
	return suite;
}

int main(void)
{
	return check_main(make);
}
