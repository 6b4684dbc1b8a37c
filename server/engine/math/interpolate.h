/* interpolate.h: constant linear and angular velocity between two poses (app A-07).
 *
 * Between t0 and t1 a body moves at constant velocity v and turns at constant angular velocity w about
 * its origin, along the shorter arc. The rotation is the exact exponential, so the poses at t0 and t1
 * are those given; the book's normalised first-order step turns too little.
 */
#ifndef CAIRN_ENGINE_MATH_INTERPOLATE_H
#define CAIRN_ENGINE_MATH_INTERPOLATE_H

#include "server/base/status.h"
#include "server/engine/math/pose.h"

struct motion {
	pose from, to; /* at t0 and t1 */
	double t0, t1; /* s, t0 < t1 */
	vec3 velocity; /* m/s */
	vec3 spin;     /* rad/s, world axes; zero when the poses do not turn */
	vec3 axis;     /* unit; x when the poses do not turn */
	double rate;   /* |spin|, rad/s; rate × (t1 − t0) ≤ π */
};

/* STATUS_RANGE unless t0 < t1; STATUS_NOT_FINITE if a number is not finite or an intermediate value
 * overflows; *out is then unchanged. The axis of a half turn is the one whose first nonzero
 * component is positive (quat_to_axis_angle). */
MUST_CHECK enum status motion_between(pose from, double t0, pose to, double t1, struct motion *out);
/* The pose at t, also outside [t0, t1]; exactly `from` at t0 and `to` at t1. */
pose motion_at(const struct motion *self, double t);
/* The same motion between the times `from` ≤ `to`, s. */
struct motion motion_part(const struct motion *self, double from, double to);
/* Velocity of the body's point at world position p while the body's origin is at `origin`. */
static inline vec3 motion_point_velocity(const struct motion *self, vec3 origin, vec3 p)
{
	return vec3_add(self->velocity, vec3_cross(self->spin, vec3_sub(p, origin)));
}

#endif
