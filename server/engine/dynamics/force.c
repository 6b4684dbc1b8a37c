/* force.c: gravity and drives, now.
 *
 * A drive pushes with a constant force, in world axes, at a point that moves with its body, and turns
 * with a constant torque. Forces on one body are summed in the order of the drive table, which is the
 * order they were commanded in. Damping is the method's, which knows its sub-steps.
 */
#include "server/engine/dynamics/dynamics.h"

static vec3 weight(const struct tables *tables, uint32_t body)
{
	vec3 gravity = tables->world.gravity[0];
	if (tables->world.planar[0])
		gravity.z = 0;
	return vec3_scale(gravity, tables->body.mass[body]);
}

static void drive_add(const struct dynamics *self, uint32_t drive, vec3 *force, vec3 *torque)
{
	const struct drive_table *table = &self->tables->drive;
	const struct body_cache *body = &self->bodies.items[table->body[drive]];
	vec3 arm = mat3_mul_vec(body->rotation, table->point[drive]);
	*force = vec3_add(*force, table->force[drive]);
	*torque = vec3_add(*torque, vec3_add(table->torque[drive],
					     vec3_cross(arm, table->force[drive])));
}

void dynamics_forces(const struct dynamics *self, const uint32_t *bodies, uint32_t count, vec3 *forces,
		     vec3 *torques)
{
	const struct tables *tables = self->tables;
	for (uint32_t i = 0; i < count; i++) {
		bool dynamic = tables->body.status[bodies[i]] == BODY_DYNAMIC;
		forces[i] = dynamic ? weight(tables, bodies[i]) : vec3_zero();
		torques[i] = vec3_zero();
	}
	for (uint32_t drive = 0; drive < tables->drive.count; drive++) {
		uint32_t body = tables->drive.body[drive], slot = self->bodies.items[body].slot;
		/* Of one that does not take part, the slot may be another's. */
		if (tables->drive.ticks[drive] == 0 || slot >= count || bodies[slot] != body ||
		    tables->body.status[body] != BODY_DYNAMIC)
			continue;
		drive_add(self, drive, &forces[slot], &torques[slot]);
	}
}
