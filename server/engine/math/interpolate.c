/* interpolate.c: app A-07.
 *
 * v = (p1 − p0)/(t1 − t0); dR = R1 R0ᵀ has angle α ∈ [0, π] about r; w = α r/(t1 − t0).
 * p(t) = p0 + (t − t0) v, q(t) = (cos φ, sin φ r) q0 with φ = ½ |w| (t − t0).
 * What goes wrong: t1 ≤ t0 (refused); α = π leaves the sign of r undetermined
 * (quat_to_axis_angle chooses it); α = 0 leaves r undetermined (here w = 0, r = x).
 */
#include "server/engine/math/interpolate.h"

#include "server/engine/math/trig.h"

enum status motion_between(pose from, double t0, pose to, double t1, struct motion *out)
{
	if (!pose_is_finite(from) || !pose_is_finite(to) || !scalar_is_finite(t0) ||
	    !scalar_is_finite(t1))
		return STATUS_NOT_FINITE;
	if (!(t0 < t1))
		return STATUS_RANGE;
	struct motion motion = { .from = from, .to = to, .t0 = t0, .t1 = t1 };
	double time = t1 - t0, angle;
	quat_to_axis_angle(quat_mul(to.rotation, quat_conjugate(from.rotation)), &motion.axis,
			   &angle);
	vec3 path = vec3_sub(to.position, from.position);
	motion.velocity = vec3_make(path.x / time, path.y / time, path.z / time);
	motion.rate = angle / time;
	motion.spin = vec3_scale(motion.axis, motion.rate);
	if (!vec3_is_finite(motion.velocity) || !vec3_is_finite(motion.spin))
		return STATUS_NOT_FINITE;
	ASSERT(motion.rate >= 0);
	*out = motion;
	return STATUS_OK;
}

pose motion_at(const struct motion *self, double t)
{
	if (t == self->t1)
		return self->to;
	double time = t - self->t0;
	if (time == 0)
		return self->from;
	pose at = self->from;
	at.position = vec3_mul_add(at.position, self->velocity, time);
	if (self->rate > 0) {
		quat turn = quat_from_axis_angle(self->axis, self->rate * time);
		at.rotation = quat_normalize(quat_mul(turn, at.rotation));
	}
	return at;
}

struct motion motion_part(const struct motion *self, double from, double to)
{
	VALIDATE(!(from > to));
	struct motion part = *self;
	part.from = motion_at(self, from);
	part.to = motion_at(self, to);
	part.t0 = from;
	part.t1 = to;
	return part;
}
