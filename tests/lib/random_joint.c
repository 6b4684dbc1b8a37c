/* See random_joint.h. */
#include "tests/lib/random_joint.h"

#include "tests/lib/poses.h"

void random_joint_place(struct rng *rng, struct joint *joint)
{
	joint->point_a = random_vector(rng, 1);
	joint->point_b = random_vector(rng, 1);
	joint->frame_a = random_rotation(rng);
	joint->frame_b = random_rotation(rng);
	if (joint->type == JOINT_DISTANCE)
		joint->axes[0].rest = rng_range(rng, 0.5, 2);
}

void random_joint_axis(struct rng *rng, struct joint_axis *axis, bool lower)
{
	if (rng_below(rng, 2) == 0)
		axis->mode = JOINT_LIMITED;
	axis->lower = lower ? rng_range(rng, -2, -0.1) : 0;
	axis->upper = rng_range(rng, 0.1, 2);
	axis->restitution = rng_range(rng, 0, 1);
	axis->spring = (uint8_t)rng_below(rng, 3);
	axis->stiffness = rng_range(rng, 1, 9);
	axis->damping = rng_range(rng, 0, 1);
	axis->rest = rng_range(rng, -1, 1);
	axis->spring_limit = rng_below(rng, 2);
	axis->motor = (uint8_t)rng_below(rng, 3);
	axis->target = rng_range(rng, -1, 1);
	axis->rate = rng_range(rng, -1, 1);
	axis->motor_limit = rng_below(rng, 2);
	axis->friction = rng_below(rng, 2);
}

void random_joint_axes(struct rng *rng, struct joint *joint)
{
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		struct joint_axis_kind kind = joint_axis_kind((enum joint_type)joint->type, axis);
		if (!kind.settable)
			continue;
		if (kind.locks)
			joint->axes[axis].mode = (uint8_t)rng_below(rng, 2);
		if (joint->axes[axis].mode == JOINT_FREE)
			random_joint_axis(rng, &joint->axes[axis], kind.limits);
		/* Some axes are locked by equal limits. */
		if (kind.limits && rng_below(rng, 8) == 0) {
			joint->axes[axis].mode = JOINT_LIMITED;
			joint->axes[axis].upper = joint->axes[axis].lower;
		}
	}
}
