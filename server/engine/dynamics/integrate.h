/* integrate.h: one body over one step, in double, for methods that take whole steps. */
#ifndef CAIRN_ENGINE_DYNAMICS_INTEGRATE_H
#define CAIRN_ENGINE_DYNAMICS_INTEGRATE_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/row.h"

/* R I⁻¹ Rᵀ of a body row now; zero unless dynamic. */
mat3 integrate_inertia_inv(const struct dynamics *self, uint32_t body);

/* The velocities of a body row after `dt` seconds of constant force (N) and torque (N·m), the torque-free
 * turning of an uneven body, and damping; its own for a body that is not dynamic. */
void integrate_velocities(const struct dynamics *self, uint32_t body, vec3 force, vec3 torque,
			  double dt, vec3 *velocity, vec3 *spin);

/* Where the body is after moving for `dt` with velocity `by` and turning with `spin`. The velocities of
 * the result are `velocity` and `spin`. */
struct body_motion integrate_pose(const struct dynamics *self, uint32_t body, double dt, vec3 by,
				  vec3 velocity, vec3 spin);

/* The velocity after `dt` seconds of constant force and torque about the mass centre (N, N·m, world
 * axes) and damping, without the torque-free turning, which integrate_motion does; its own for a
 * body that is not dynamic. */
struct spatial integrate_forces(const struct dynamics *self, uint32_t body, struct spatial force, double dt);

/* Where a body comes to from `start` in `dt` seconds when it moves by `by`, with `velocity` at the
 * beginning. Turning keeps the angular momentum of `velocity` to rounding, and the energy where the
 * body is free to (integrate.c): the result's angular velocity is that at the end. */
struct body_motion integrate_motion(const struct dynamics *self, uint32_t body,
				    const struct body_motion *start, struct spatial velocity,
				    struct spatial by, double dt);

#endif
