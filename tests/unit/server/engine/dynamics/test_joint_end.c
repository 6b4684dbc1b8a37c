/* What a step asks of each joint in fewer operations: coordinates near locked values, and angles with the
 * greatest violation, against the plain functions. */
#include <math.h>

#include "server/engine/dynamics/joint.h"
#include "tests/lib/check_main.h"
#include "tests/lib/motions.h"
#include "tests/lib/poses.h"
#include "tests/lib/random_joint.h"

enum { CASES = 60 };

static struct rng rng;
static struct joint joint;
static struct body_motion motions[2];

/* Three angles, small ones or not; those of the last step, with or without a whole turn. */
static quat any_turn(void)
{
	quat turn = quat_identity();
	double size = rng_below(&rng, 2) == 0 ? 0.02 : 1.5;
	for (uint32_t axis = 0; axis < 3; axis++) {
		turn = quat_mul(
			turn, quat_from_axis_angle(vec3_axis(axis), rng_range(&rng, -size, size)));
		joint.angle[axis] = rng_below(&rng, 4) == 0 ? TWO_PI : rng_range(&rng, -1, 1);
	}
	return turn;
}

/* A joint with random axes; b is turned against a, and apart from it. */
static void make_joint(enum joint_type type)
{
	joint = (struct joint){ .type = (uint8_t)type };
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		joint.axes[axis].mode = joint_axis_kind(type, axis).mode;
	random_joint_place(&rng, &joint);
	random_joint_axes(&rng, &joint);
	joint_know_layout(&joint);
	motions[0] = random_motion(&rng);
	motions[1] = random_motion(&rng);
	quat frame = quat_mul(quat_mul(motions[0].rotation, joint.frame_a), any_turn());
	motions[1].rotation = quat_mul(frame, quat_conjugate(joint.frame_b));
}

START_TEST(a_steps_coordinates_and_errors_are_the_plain_ones)
{
	const double near = 0.02;
	uint32_t skipped = 0;
	for (uint32_t i = 0; i < 40 * CASES; i++)
		for (uint32_t type = JOINT_SPHERICAL; type < JOINT_TYPES_END; type++) {
			double q[JOINT_AXES], fast[JOINT_AXES], angles[3];
			make_joint((enum joint_type)type);
			joint_coordinates(&joint, &motions[0], &motions[1], q);
			joint_coordinates_near(&joint, &motions[0], &motions[1], near, fast);
			for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
				if (fast[axis] == q[axis])
					continue;
				ck_assert(axis >= 3 && joint_locked_axes(&joint) >> axis & 1);
				ck_assert_double_eq(fast[axis], joint_locked_value(&joint, axis));
				ck_assert_double_le(fabs(q[axis] - fast[axis]), near);
				skipped++;
			}
			struct joint_error error = joint_error(&joint, &motions[0], &motions[1]);
			double worst = fmax(error.along, error.about);
			ck_assert_double_eq(joint_end(&joint, &motions[0], &motions[1], 0, angles),
					    worst);
			for (uint32_t k = 0; k < 3; k++)
				ck_assert_double_eq(angles[k], q[3 + k]);
			ck_assert_double_eq(joint_end(&joint, &motions[0], &motions[1],
						      0.5 * worst + 0.1, angles),
					    fmax(worst, 0.5 * worst + 0.1));
		}
	ck_assert_uint_gt(skipped, CASES);
}
END_TEST

static Suite *make(void)
{
	rng = rng_seeded(check_seed());
	Suite *suite = suite_create("joint_end");
	TCase *tests = tcase_create("joints");
	tcase_add_test(tests, a_steps_coordinates_and_errors_are_the_plain_ones);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
