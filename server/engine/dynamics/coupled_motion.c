/* coupled_motion.c: the right-hand side of the equations of motion (app B-01, ch. 4 D3).
 *
 *   x' = L/m,   q' = ½ (0, ω) q,   L' = Σ F,   H' = Σ τ,   ω = R I_b⁻¹ Rᵀ H
 *
 * I and ω follow from the rotation of the stage. The gyroscopic term needs no line of its own, because H
 * and not ω is the state. Stages add to q, which leaves the unit sphere; the repair after each
 * combination normalizes it.
 */
#include "server/engine/dynamics/coupled_motion.h"

static vec3 load_vec3(const double *at)
{
	return vec3_make(at[0], at[1], at[2]);
}

static void store_vec3(double *at, vec3 v)
{
	at[0] = v.x;
	at[1] = v.y;
	at[2] = v.z;
}

static void store_quat(double *at, quat q)
{
	at[0] = q.w;
	at[1] = q.x;
	at[2] = q.y;
	at[3] = q.z;
}

struct force_state coupled_motion_get(const struct coupled_body *body,
				      const double state[COUPLED_STATE])
{
	ASSERT(body->mass > 0);
	struct force_state result = { .centre = load_vec3(state), .mass = body->mass };
	result.rotation = quat_normalize(quat_make(state[3], state[4], state[5], state[6]));
	result.velocity = vec3_scale(load_vec3(state + 7), 1 / body->mass);
	vec3 momentum = quat_rotate_inverse(result.rotation, load_vec3(state + 10));
	result.angular_velocity =
		quat_rotate(result.rotation, mat3_mul_vec(body->inertia_body_inv, momentum));
	return result;
}

void coupled_motion_put(const struct coupled_body *body, vec3 centre, quat rotation, vec3 velocity,
			vec3 spin, double state[COUPLED_STATE])
{
	ASSERT(body->mass > 0);
	vec3 turning = mat3_mul_vec(body->inertia_body, quat_rotate_inverse(rotation, spin));
	store_vec3(state, centre);
	store_quat(state + 3, rotation);
	store_vec3(state + 7, vec3_scale(velocity, body->mass));
	store_vec3(state + 10, quat_rotate(rotation, turning));
}

double coupled_motion_energy(const struct coupled_body *body, const double state[COUPLED_STATE])
{
	ASSERT(body->mass > 0);
	struct force_state now = coupled_motion_get(body, state);
	return 0.5 * (vec3_dot(now.velocity, load_vec3(state + 7)) +
		      vec3_dot(now.angular_velocity, load_vec3(state + 10)));
}

static void find_rate(const struct ode *ode, double time, const double *state, double *rate)
{
	const struct coupled_motion *self = ode->context;
	ASSERT(ode->size == self->count * COUPLED_STATE);
	for (uint32_t b = 0; b < self->count; b++)
		self->states[b] = coupled_motion_get(&self->bodies[b], state + b * COUPLED_STATE);
	for (uint32_t b = 0; b < self->count; b++) {
		const struct force_state *now = &self->states[b];
		struct force_sum sum = { vec3_zero(), vec3_zero(), vec3_zero() };
		for (uint32_t f = 0; f < self->force_count; f++)
			self->forces[f]->add(self->forces[f], b, now, time, &sum);
		double *to = rate + b * COUPLED_STATE;
		const double *q = state + b * COUPLED_STATE + 3;
		store_vec3(to, now->velocity);
		/* At q as it is, not normalized: the equation is linear in q and its solutions stay
		 * unit. */
		store_quat(to + 3, quat_derivative(quat_make(q[0], q[1], q[2], q[3]),
						   now->angular_velocity));
		store_vec3(to + 7, vec3_mul_add(sum.force, sum.acceleration, now->mass));
		store_vec3(to + 10, sum.torque);
	}
}

static void repair_rotations(const struct ode *ode, double *state)
{
	const struct coupled_motion *self = ode->context;
	for (uint32_t b = 0; b < self->count; b++) {
		double *q = state + b * COUPLED_STATE + 3;
		store_quat(q, quat_normalize(quat_make(q[0], q[1], q[2], q[3])));
	}
}

struct ode coupled_motion_ode(const struct coupled_motion *self)
{
	ASSERT(self->count <= UINT32_MAX / COUPLED_STATE);
	return (struct ode){ .size = self->count * COUPLED_STATE,
			     .rate = find_rate,
			     .repair = repair_rotations,
			     .context = self };
}
