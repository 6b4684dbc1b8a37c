/* coupled_motion.c: the right-hand side of the equations of motion (app B-01, ch. 4 D3).
 *
 *   x' = L/m,   q' = ½ (0, ω) q,   L' = Σ F,   H' = Σ τ,   ω = R I_b⁻¹ Rᵀ H
 *
 * I and ω are made anew from the stage's rotation each time; the gyroscopic term needs no line of its
 * own because H, not ω, is the state. Stages add to q, which leaves the unit sphere; the repair after
 * each combination brings it back.
 */
#include "server/engine/dynamics/coupled_motion.h"

static vec3 get3(const double *at)
{
	return vec3_make(at[0], at[1], at[2]);
}

static void put3(double *at, vec3 v)
{
	at[0] = v.x;
	at[1] = v.y;
	at[2] = v.z;
}

static void put_quat(double *at, quat q)
{
	at[0] = q.w;
	at[1] = q.x;
	at[2] = q.y;
	at[3] = q.z;
}

struct force_state coupled_motion_get(const struct coupled_body *body,
				      const double state[COUPLED_STATE])
{
	struct force_state result = { .centre = get3(state), .mass = body->mass };
	result.rotation = quat_normalize(quat_make(state[3], state[4], state[5], state[6]));
	result.velocity = vec3_scale(get3(state + 7), 1 / body->mass);
	vec3 momentum = quat_rotate_inverse(result.rotation, get3(state + 10));
	result.angular_velocity =
		quat_rotate(result.rotation, mat3_mul_vec(body->inertia_body_inv, momentum));
	return result;
}

void coupled_motion_put(const struct coupled_body *body, vec3 centre, quat rotation, vec3 velocity,
			vec3 spin, double state[COUPLED_STATE])
{
	vec3 turning = mat3_mul_vec(body->inertia_body, quat_rotate_inverse(rotation, spin));
	put3(state, centre);
	put_quat(state + 3, rotation);
	put3(state + 7, vec3_scale(velocity, body->mass));
	put3(state + 10, quat_rotate(rotation, turning));
}

double coupled_motion_energy(const struct coupled_body *body, const double state[COUPLED_STATE])
{
	struct force_state now = coupled_motion_get(body, state);
	return 0.5 * (vec3_dot(now.velocity, get3(state + 7)) +
		      vec3_dot(now.angular_velocity, get3(state + 10)));
}

static void rate(const struct ode *ode, double time, const double *state, double *rate)
{
	const struct coupled_motion *self = ode->context;
	for (uint32_t b = 0; b < self->count; b++)
		self->states[b] = coupled_motion_get(&self->bodies[b], state + b * COUPLED_STATE);
	for (uint32_t b = 0; b < self->count; b++) {
		const struct force_state *now = &self->states[b];
		struct force_sum sum = { vec3_zero(), vec3_zero(), vec3_zero() };
		for (uint32_t f = 0; f < self->force_count; f++)
			self->forces[f]->add(self->forces[f], b, now, time, &sum);
		double *to = rate + b * COUPLED_STATE;
		const double *q = state + b * COUPLED_STATE + 3;
		put3(to, now->velocity);
		/* At q as it is, not made unit: the linear equation whose solutions stay unit. */
		put_quat(to + 3,
			 quat_derivative(quat_make(q[0], q[1], q[2], q[3]), now->angular_velocity));
		put3(to + 7, vec3_mul_add(sum.force, sum.acceleration, now->mass));
		put3(to + 10, sum.torque);
	}
}

static void normalize(const struct ode *ode, double *state)
{
	const struct coupled_motion *self = ode->context;
	for (uint32_t b = 0; b < self->count; b++) {
		double *q = state + b * COUPLED_STATE + 3;
		put_quat(q, quat_normalize(quat_make(q[0], q[1], q[2], q[3])));
	}
}

struct ode coupled_motion_ode(const struct coupled_motion *self)
{
	return (struct ode){ .size = self->count * COUPLED_STATE,
			     .rate = rate,
			     .repair = normalize,
			     .context = self };
}
