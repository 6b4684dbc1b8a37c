/* integrate.h: motion of one body over one step, without constraints and with given constrained
 * velocities.
 *
 * Pure functions of the tables and arguments; nothing is written or allocated. dt and time in s.
 * `body`: a row in use. */
#ifndef CAIRN_ENGINE_DYNAMICS_INTEGRATE_H
#define CAIRN_ENGINE_DYNAMICS_INTEGRATE_H

#include "server/base/inline.h"
#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/row.h"
#include "server/engine/math/sym3.h"

/* R I⁻¹ Rᵀ of a body in the tables, 1/(kg m²); zero unless dynamic, and about its locked axes. */
mat3 integrate_inertia_inv(const struct dynamics *self, uint32_t body);
/* Exact solution of v' = a − c v: the velocity becomes keep v + gain a, the displacement is gain v
 * + rise a. */
struct damped {
	double keep; /* 1 */
	double gain; /* s */
	double rise; /* s² */
};
/* `rate` c ≥ 0 in 1/s, `time` in s. */
struct damped integrate_decay(double rate, double time);
/* The same, quick for rate 0, because most bodies are not damped. */
static inline struct damped integrate_damped(double rate, double time)
{
	return rate == 0 ? (struct damped){ 1, time, 0.5 * time * time }
			 : integrate_decay(rate, time);
}

/* Velocity and acceleration of a body at the start of a step, without constraints. Both are reduced
 * so that the velocity is at most dynamics_speed_max and dynamics_angular_speed_max at the start and at the
 * end of the step. */
struct body_start {
	struct spatial velocity;     /* m/s, rad/s */
	struct spatial acceleration; /* m/s², rad/s²; the angular one at the step's start */
	bool uneven; /* its spin changes without torque: a dynamic body, free to turn in space,
		      * whose principal moments of inertia differ; of one with locked axes the
		      * acceleration has that change */
};
/* `sum`: the forces on it. A body that is not dynamic has its velocities and no accelerations. */
struct body_start integrate_start(const struct dynamics *self, uint32_t body,
				  const struct force_sum *sum, double dt);

/* The same of a body at the motion `from`, whose velocities are those at the start. */
struct body_start integrate_start_at(const struct dynamics *self, uint32_t body,
				     const struct body_motion *from, const struct force_sum *sum,
				     double dt);

/* The motion after dt of an unconstrained body, from that in the tables. Linear motion is exact.
 * Turning is exact if the moments of inertia are equal or the body turns about one axis; else it is
 * integrate_turn in `pieces` ≥ 1 equal parts, of second order in their length with torque or
 * damping. */
struct body_motion integrate_free(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt, uint32_t pieces);

/* The same from the motion `from`. */
struct body_motion integrate_free_at(const struct dynamics *self, uint32_t body,
				     const struct body_motion *from, const struct body_start *start,
				     double dt, uint32_t pieces);

/* rad. Uneven bodies that turn farther in one call may gain or lose energy, because a call makes at most
 * so many steps of the midpoint rule. */
#define INTEGRATE_TURN_MAX 32

/* The rotation `q` after `time` s without torque at angular momentum L (kg m²/s, world axes); the inverse
 * inertia in body axes. Keeps ½ L·I(q)⁻¹L to rounding, unless it turns by more than INTEGRATE_TURN_MAX. */
quat integrate_turn(quat q, sym3 inertia_inv, vec3 momentum, double time);
/* A tensor of body axes at a rotation, applied to a world vector. Inline: a call passes rotations by
 * memory, and loads of two numbers that were just stored one by one wait for all stores before them. */
ALWAYS_INLINE vec3 integrate_tensor_at(sym3 tensor, quat q, vec3 v)
{
	return quat_rotate(q, sym3_apply(tensor, quat_rotate_inverse(q, v)));
}

/* The velocity after dt, without torque-free precession, which integrate_motion adds. */
struct spatial integrate_velocity(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt);

/* The motion after dt of a body that moves from `start` with velocity `by` (m/s, rad/s: `velocity`
 * plus the removal of penetration) and has `velocity` at the beginning. Turning keeps the angular
 * momentum of `velocity` to rounding, and the energy if the body is free to turn (integrate.c); the
 * angular velocity of the result is that at the end. */
struct body_motion integrate_motion(const struct dynamics *self, uint32_t body,
				    const struct body_motion *start, struct spatial velocity,
				    struct spatial by, double dt);

#endif
