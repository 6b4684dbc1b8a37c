/* integrate.h: one body over one step, in double: the path that it takes beside constraints. */
#ifndef CAIRN_ENGINE_DYNAMICS_INTEGRATE_H
#define CAIRN_ENGINE_DYNAMICS_INTEGRATE_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/dynamics/row.h"
#include "server/engine/math/sym3.h"

/* R I⁻¹ Rᵀ of a body row now; zero unless dynamic. */
mat3 integrate_inertia_inv(const struct dynamics *self, uint32_t body);
/* v' = a − c v over some seconds, exactly: the velocity becomes keep v + gain a, and the way is
 * gain v + rise a. */
struct damped {
	double keep; /* 1 */
	double gain; /* s */
	double rise; /* s² */
};
/* `rate` c ≥ 0 in 1/s, `time` in s. */
struct damped integrate_decay(double rate, double time);
/* The same; most bodies are not damped. */
static inline struct damped integrate_damped(double rate, double time)
{
	return rate == 0 ? (struct damped){ 1, time, 0.5 * time * time }
			 : integrate_decay(rate, time);
}

/* How a body begins a step of dt seconds, constraints aside. Neither its velocity nor what its accelerations
 * make of it in the step is above SPEED_MAX, ANGULAR_SPEED_MAX: both are reduced before it moves. */
struct body_start {
	struct spatial velocity;     /* m/s, rad/s */
	struct spatial acceleration; /* m/s², rad/s²; the angular one at the step's start */
	bool uneven; /* its spin changes without torque: a dynamic body that may turn in space, and whose
		      * inertia differs between axes */
};
/* `sum`: what acts on it. A body that is not dynamic: its velocities, no accelerations. */
struct body_start integrate_start(const struct dynamics *self, uint32_t body,
				  const struct force_sum *sum, double dt);

/* The path of a body that nothing constrains, from where the tables have it. Linear: exact. Turning: exact
 * where its inertia is the same about all axes or it turns about one, else as
 * integrate_turn in `pieces` equal pieces, second order in them with torque or damping. */
struct body_motion integrate_free(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt, uint32_t pieces);

/* The rotation `q` after `time` seconds without torque at angular momentum L (kg m²/s, world axes);
 * the inverse inertia in body axes. ½ L·I(q)⁻¹L is kept to rounding. */
quat integrate_turn(quat q, sym3 inertia_inv, vec3 momentum, double time);
/* A tensor of body axes at a rotation, applied to a world vector. */
vec3 integrate_tensor_at(sym3 tensor, quat q, vec3 v);

/* The velocity after dt seconds, without the torque-free turning, which integrate_motion does. */
struct spatial integrate_velocity(const struct dynamics *self, uint32_t body,
				  const struct body_start *start, double dt);

/* Where a body comes to from `start` in `dt` seconds when it moves by `by`, with `velocity` at the
 * beginning. Turning keeps the angular momentum of `velocity` to rounding, and the energy where the
 * body is free to (integrate.c): the result's angular velocity is that at the end. */
struct body_motion integrate_motion(const struct dynamics *self, uint32_t body,
				    const struct body_motion *start, struct spatial velocity,
				    struct spatial by, double dt);

#endif
