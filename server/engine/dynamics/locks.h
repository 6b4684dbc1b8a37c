/* locks.h: axes of the world along and about which a dynamic body does not move (body.locks).
 *
 * A lock of translation holds a coordinate of the mass centre, a lock of rotation a component of the
 * angular velocity. Their supports take whatever force and torque that needs, and do no work: with F the
 * free axes, the inverse mass is 0 along the others, and the inverse inertia (I_FF)⁻¹ on F, 0 elsewhere
 * (mass_operator.h). Locked components of velocities are exactly 0.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_LOCKS_H
#define CAIRN_ENGINE_DYNAMICS_LOCKS_H

#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/world/tables.h"

/* Bits of enum mass_lock of a dynamic body that has locks of its own, with those of its fixed rotation and
 * its planar world; 0 for all other bodies. */
uint32_t locks_of_locked(const struct tables *tables, uint32_t body);
static inline uint32_t locks_of(const struct tables *tables, uint32_t body)
{
	return tables->body.locks[body] == 0 ? 0 : locks_of_locked(tables, body);
}

/* The vector without its locked components, along or about the axes. */
static inline vec3 locks_along(uint32_t locks, vec3 v)
{
	return vec3_make(locks & MASS_LOCK_X ? 0 : v.x, locks & MASS_LOCK_Y ? 0 : v.y,
			 locks & MASS_LOCK_Z ? 0 : v.z);
}
static inline vec3 locks_about(uint32_t locks, vec3 w)
{
	return locks_along(locks >> 3, w);
}

/* The inverse inertia in world axes at a rotation, 1/(kg m²). */
sym3 locks_inertia_inv(const struct body_table *table, uint32_t body, quat rotation,
		       uint32_t locks);
/* rad/s²: the angular acceleration by a torque at a spin, gyroscopic term included. */
vec3 locks_accelerate(const struct body_table *table, uint32_t body, quat rotation, vec3 spin,
		      vec3 torque, uint32_t locks);

/* Makes the velocities of a body 0 along and about its locked axes. */
void locks_hold(struct tables *tables, uint32_t body);

#endif
