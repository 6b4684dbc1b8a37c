/* pose.h: position and rotation of a frame: p ↦ position + rotation p, body → world. */
#ifndef CAIRN_ENGINE_MATH_POSE_H
#define CAIRN_ENGINE_MATH_POSE_H

#include "server/engine/math/quat.h"
#include "server/engine/math/vec3.h"

typedef struct {
	vec3 position;
	quat rotation;
} pose;

static inline pose pose_make(vec3 position, quat rotation)
{
	return (pose){ position, rotation };
}

static inline pose pose_identity(void)
{
	return (pose){ vec3_zero(), quat_identity() };
}

static inline bool pose_is_identity(const pose *a)
{
	return vec3_equal(a->position, vec3_zero()) && quat_equal(a->rotation, quat_identity());
}

static inline vec3 pose_point(pose a, vec3 p)
{
	return vec3_add(a.position, quat_rotate(a.rotation, p));
}

static inline vec3 pose_vector(pose a, vec3 v)
{
	return quat_rotate(a.rotation, v);
}

static inline vec3 pose_inverse_point(pose a, vec3 p)
{
	return quat_rotate_inverse(a.rotation, vec3_sub(p, a.position));
}

static inline vec3 pose_inverse_vector(pose a, vec3 v)
{
	return quat_rotate_inverse(a.rotation, v);
}

/* First b, then a. */
static inline pose pose_mul(pose a, pose b)
{
	return (pose){ pose_point(a, b.position), quat_mul(a.rotation, b.rotation) };
}

static inline pose pose_inverse(pose a)
{
	return (pose){ vec3_negate(quat_rotate_inverse(a.rotation, a.position)),
		       quat_conjugate(a.rotation) };
}

/* b relative to a: a⁻¹ b. */
static inline pose pose_relative(pose a, pose b)
{
	return (pose){ pose_inverse_point(a, b.position),
		       quat_mul(quat_conjugate(a.rotation), b.rotation) };
}

static inline bool pose_is_finite(pose a)
{
	return vec3_is_finite(a.position) && quat_is_finite(a.rotation);
}

#endif
