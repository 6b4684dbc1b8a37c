/* free.c: motion without contact: a baseline for tests, and what every other method must equal while
 * nothing touches.
 *
 * Linear: velocities by integrate.h; the place by the mean of the velocities before and after, which is
 * exact under constant force. Turning carries the angular momentum L = R I Rᵀ ω itself, so that without
 * torque it is constant to rounding, however unevenly a body tumbles; with damping rate c and torque τ:
 *
 *   L' = (L + h τ) / (1 + h c),   L½ = (L + L')/2
 *   R½ = exp(h/2 · ω) R                         where the body is about halfway
 *   R' = exp(h · R½ I⁻¹ R½ᵀ L½) R,   ω' = R' I⁻¹ R'ᵀ L'
 *
 * Second order in h; the energy errs at that order. What cannot turn (no inertia, or fixed) and what is
 * animated goes on with its ω. There are no contacts and nobody sleeps.
 */
#include "server/engine/dynamics/integrate.h"
#include "server/engine/methods/method.h"

/* The symmetric tensor kept as xx yy zz xy yz zx, in body axes, applied to a world vector. */
static vec3 tensor_apply(const double t[6], quat rotation, vec3 world)
{
	vec3 v = quat_rotate_inverse(rotation, world);
	vec3 result = vec3_make(t[0] * v.x + t[3] * v.y + t[5] * v.z,
				t[3] * v.x + t[1] * v.y + t[4] * v.z,
				t[5] * v.x + t[4] * v.y + t[2] * v.z);
	return quat_rotate(rotation, result);
}

/* Leaves alone what cannot turn, or turns as it is told. */
static void turn(const struct body_table *body, uint32_t row, vec3 torque, double h,
		 struct body_motion *motion)
{
	const double *inertia = body->inertia[row], *inverse = body->inertia_inv[row];
	if (inverse[0] == 0 && inverse[1] == 0 && inverse[2] == 0)
		return;
	quat r = body->rotation[row];
	vec3 spin = body->angular_velocity[row];
	vec3 before = tensor_apply(inertia, r, spin);
	vec3 after = vec3_scale(vec3_mul_add(before, torque, h),
				1.0 / (1.0 + h * body->angular_damping[row]));
	vec3 halfway = vec3_scale(vec3_add(before, after), 0.5);
	quat middle = quat_integrate(r, spin, 0.5 * h);
	motion->rotation = quat_integrate(r, tensor_apply(inverse, middle, halfway), h);
	motion->angular_velocity = tensor_apply(inverse, motion->rotation, after);
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
		turn(&dynamics->tables->body, rows[slot], torques[slot], dt, &motions[slot]);
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
	.motion = 1,
	.attach = attach,
	.detach = detach,
	.step = step,
	.shapes = (1u << SHAPE_KINDS) - 2,
	.planar = true,
	.three_d = true,
};
