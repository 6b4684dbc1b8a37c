/* locks.c: see locks.h.
 *
 * A body that may turn about one axis only keeps its inertia about it, and no torque is left along it by
 * its own turning. One that may turn about two axes has I_FF ω' = (τ − ω × I ω)_F, whose I changes as it
 * turns; the term is evaluated at the start of the step, an error of first order in its length.
 */
#include "server/engine/dynamics/locks.h"

#include "server/engine/types.h"

uint32_t locks_of_locked(const struct tables *tables, uint32_t body)
{
	const struct body_table *table = &tables->body;
	ASSERT(body < table->count);
	uint32_t locks = table->locks[body];
	ASSERT(locks != 0 && locks < 64);
	if (table->status[body] != BODY_DYNAMIC)
		return 0;
	if (!(sym3_trace(sym3_load(table->inertia_inv[body])) > 0))
		locks |= MASS_LOCK_TURNING;
	return locks | (tables->world.planar[0] ? (uint32_t)MASS_LOCK_PLANAR : 0);
}

sym3 locks_inertia_inv(const struct body_table *table, uint32_t body, quat rotation, uint32_t locks)
{
	ASSERT(body < table->count && locks < 64);
	return mass_body_make(table->mass[body], table->mass_inv[body],
			      sym3_load(table->inertia[body]), sym3_load(table->inertia_inv[body]),
			      rotation, locks)
		.inertia_inv;
}

vec3 locks_accelerate(const struct body_table *table, uint32_t body, quat rotation, vec3 spin,
		      vec3 torque, uint32_t locks)
{
	ASSERT(locks & MASS_LOCK_TURNING);
	sym3 inertia = sym3_load(table->inertia[body]);
	sym3 turned = sym3_rotate(mat3_from_quat(rotation), inertia);
	vec3 gyroscopic = vec3_cross(sym3_apply(turned, spin), spin);
	return sym3_apply(locks_inertia_inv(table, body, rotation, locks),
			  vec3_add(torque, gyroscopic));
}

void locks_hold(struct tables *tables, uint32_t body)
{
	uint32_t locks = locks_of(tables, body);
	ASSERT(locks < 64);
	if (locks == 0)
		return;
	struct body_table *table = &tables->body;
	table->velocity[body] = locks_along(locks, table->velocity[body]);
	table->angular_velocity[body] = locks_about(locks, table->angular_velocity[body]);
}
