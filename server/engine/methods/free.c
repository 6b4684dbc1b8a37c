/* free.c: motion without contact: a baseline for tests, and what every other method must equal while
 * nothing touches.
 *
 * Velocities by implicit damping and the bodies' own turning (integrate.h); the place by the mean of the
 * velocities before and after, which is exact under constant force. There are no contacts and nobody sleeps.
 */
#include "server/engine/dynamics/integrate.h"
#include "server/engine/methods/method.h"

static enum status supports(const struct dynamics *dynamics, struct reason *why)
{
	UNUSED(dynamics);
	UNUSED(why);
	return STATUS_OK;
}

static enum status admit(const struct dynamics *dynamics, const struct command *command,
			 const struct shape *const *spawn_shapes, uint32_t spawn_shape_count,
			 struct reason *why)
{
	UNUSED(dynamics);
	UNUSED(command);
	UNUSED(spawn_shapes);
	UNUSED(spawn_shape_count);
	UNUSED(why);
	return STATUS_OK;
}

static void attach(struct dynamics *dynamics)
{
	dynamics_contacts_forget(dynamics);
}

static void detach(struct dynamics *dynamics)
{
	dynamics_wake_all(dynamics);
}

static uint64_t need(uint64_t bodies, uint64_t contacts)
{
	UNUSED(contacts);
	return bodies * (sizeof(uint32_t) + 2 * sizeof(vec3) + sizeof(struct body_motion));
}

static enum status step(struct dynamics *dynamics, double dt, struct reason *why)
{
	enum status status = dynamics_prepare_bodies(dynamics, need, why);
	if (status != STATUS_OK)
		return status;
	uint32_t count = dynamics->awake.count, slot = 0;
	uint32_t *rows = ARENA_ARRAY(&dynamics->scratch, uint32_t, count);
	vec3 *forces = ARENA_ARRAY(&dynamics->scratch, vec3, count);
	vec3 *torques = ARENA_ARRAY(&dynamics->scratch, vec3, count);
	struct body_motion *motions = ARENA_ARRAY(&dynamics->scratch, struct body_motion, count);
	ASSERT(rows != NULL && forces != NULL && torques != NULL && motions != NULL);
	dynamics_number_awake(dynamics, rows);
	dynamics_forces(dynamics, forces, torques, count);
	for (slot = 0; slot < count; slot++) {
		vec3 velocity, spin, before = dynamics->tables->body.velocity[rows[slot]];
		integrate_velocities(dynamics, rows[slot], forces[slot], torques[slot], dt, &velocity,
				     &spin);
		vec3 mean = vec3_scale(vec3_add(before, velocity), 0.5);
		motions[slot] = integrate_pose(dynamics, rows[slot], dt, mean, velocity, spin);
	}
	dynamics_store_all(dynamics, rows, motions, count);
	dynamics->report.awake_bodies = count;
	dynamics_finish(dynamics);
	return STATUS_OK;
}

const struct method method_free = {
	.name = "free",
	.summary = "no contact: everything passes through everything",
	.number = 1,
	.supports = supports,
	.admit = admit,
	.attach = attach,
	.detach = detach,
	.step = step,
	.shapes = (1u << SHAPE_KINDS) - 2,
	.planar = true,
	.three_d = true,
};
