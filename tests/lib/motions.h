/* motions.h: motions and turns of bodies for tests of rows. */
#ifndef CAIRN_TESTS_MOTIONS_H
#define CAIRN_TESTS_MOTIONS_H

#include "server/engine/dynamics/constraint.h"
#include "server/engine/math/mat3.h"

static inline struct body_motion still(void)
{
	return (struct body_motion){ .rotation = quat_identity() };
}

/* The body after `time` with its velocities. */
static inline struct body_motion after(struct body_motion from, double time)
{
	from.centre = vec3_mul_add(from.centre, from.velocity, time);
	quat turn = quat_from_rotation_vector(vec3_scale(from.angular_velocity, time));
	from.rotation = quat_normalize(quat_mul(turn, from.rotation));
	return from;
}

static inline mat3 world_frame(quat rotation, quat frame)
{
	return mat3_from_quat(quat_mul(rotation, frame));
}

static inline quat turn_about(uint32_t axis, double angle)
{
	return quat_from_axis_angle(vec3_axis(axis), angle);
}

#endif
