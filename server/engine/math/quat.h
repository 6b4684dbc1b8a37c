/* quat.h: rotations (app C-01 to C-06). q = w + x i + y j + z k, ij = k; a unit quaternion is the
 * rotation p ↦ q p q̄, body → world. q and −q are the same rotation. Unless a comment says otherwise,
 * arguments are unit to rounding and results are as close to unit as their arguments. */
#ifndef CAIRN_ENGINE_MATH_QUAT_H
#define CAIRN_ENGINE_MATH_QUAT_H

#include "server/engine/math/vec3.h"

typedef struct {
	double w, x, y, z;
} quat;

static inline quat quat_make(double w, double x, double y, double z)
{
	return (quat){ w, x, y, z };
}

static inline quat quat_identity(void)
{
	return (quat){ 1, 0, 0, 0 };
}

static inline vec3 quat_vector(quat q)
{
	return (vec3){ q.x, q.y, q.z };
}

static inline quat quat_from_parts(double w, vec3 v)
{
	return (quat){ w, v.x, v.y, v.z };
}

static inline quat quat_add(quat a, quat b)
{
	return (quat){ a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z };
}

static inline quat quat_scale(quat a, double s)
{
	return (quat){ a.w * s, a.x * s, a.y * s, a.z * s };
}

static inline quat quat_negate(quat a)
{
	return (quat){ -a.w, -a.x, -a.y, -a.z };
}

static inline quat quat_conjugate(quat a)
{
	return (quat){ a.w, -a.x, -a.y, -a.z };
}

static inline double quat_dot(quat a, quat b)
{
	return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline double quat_length(quat a)
{
	return scalar_sqrt(quat_dot(a, a));
}

/* First b, then a (app C-01). */
static inline quat quat_mul(quat a, quat b)
{
	return (quat){
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
	};
}

/* app C-06: needed after every update. Zero and a quaternion that is not finite become the identity. */
static inline quat quat_normalize(quat a)
{
	double length = quat_length(a);
	if (!(length > 0 && length <= SCALAR_MAX))
		return quat_identity();
	return quat_scale(a, 1.0 / length);
}

/* Inverse of any non-zero quaternion. */
static inline quat quat_inverse(quat a)
{
	return quat_scale(quat_conjugate(a), 1.0 / quat_dot(a, a));
}

/* app C-05, with t = 2 v × p: p + s t + v × t. */
static inline vec3 quat_rotate(quat q, vec3 p)
{
	vec3 v = quat_vector(q);
	vec3 t = vec3_scale(vec3_cross(v, p), 2.0);
	return vec3_add(vec3_mul_add(p, t, q.w), vec3_cross(v, t));
}

/* World → body. */
static inline vec3 quat_rotate_inverse(quat q, vec3 p)
{
	return quat_rotate(quat_conjugate(q), p);
}

/* q' = ½ (0, ω) q for the angular velocity ω in world axes, rad/s. */
static inline quat quat_derivative(quat q, vec3 spin)
{
	return quat_scale(quat_mul(quat_from_parts(0, spin), q), 0.5);
}

static inline bool quat_is_finite(quat a)
{
	return scalar_is_finite(a.w) && scalar_is_finite(a.x) && scalar_is_finite(a.y) &&
	       scalar_is_finite(a.z);
}

static inline bool quat_equal(quat a, quat b)
{
	return a.w == b.w && a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Unit axis, angle in radians (app C-03). */
quat quat_from_axis_angle(vec3 axis, double angle);
/* The rotation by |r| about r; the identity for zero. */
quat quat_from_rotation_vector(vec3 r);
/* app C-04: angle in [0, π] and unit axis. No rotation: angle 0, axis x. A half turn: the axis
 * whose first nonzero component is positive. q need not be exactly unit. */
void quat_to_axis_angle(quat q, vec3 *axis, double *angle);
/* axis × angle. */
vec3 quat_to_rotation_vector(quat q);
/* q after turning with constant world angular velocity `spin` (rad/s) for `time` (s): the exact
 * exponential, then normalised. */
quat quat_integrate(quat q, vec3 spin, double time);
/* The shortest rotation that takes unit vector a to unit vector b; for opposite ones a half turn
 * about the tangent of a (vec3_frame). */
quat quat_between(vec3 a, vec3 b);

#endif
