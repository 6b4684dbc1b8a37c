/* integrate.c: one body over one step.
 *
 * Linear: v' = (v + dt F/m) / (1 + dt c), c the damping rate (implicit in the damping, so that it never
 * turns a velocity round). Angular the same after the torque-free part, which for a body of uneven
 * inertia is I (ω₁ − ω₀) + dt ω₁ × I ω₁ = 0 in body axes: implicit, because explicitly it feeds energy
 * into fast spinning bodies. One Newton step from ω₀ (app B has the equation, not this solution):
 *   (I + dt ([ω₀]× I − [I ω₀]×)) δ = −dt ω₀ × I ω₀,  ω₁ = ω₀ + δ.
 *
 * integrate_motion turns by the midpoint rule instead, with L = I(q) ω fixed:
 *   q½ = exp(h/2 ω) q,   q' = exp(h I(q½)⁻¹ L) q,   ω' = I(q')⁻¹ L
 * so angular momentum is kept to rounding. Energy E(q) = ½ L·I(q)⁻¹L errs at second order; it is
 * put back by a turn δ about a = L×ω/|L×ω|, along which dE/dδ = −|L×ω|: two or three Newton steps.
 * Where L and ω are parallel (a principal axis, a ball) E does not depend on small turns, and there
 * is nothing to put back.
 */
#include "server/engine/dynamics/integrate.h"

#include "server/engine/math/sym3.h"

mat3 integrate_inertia_inv(const struct dynamics *self, uint32_t body)
{
	return mat3_rotate_tensor(self->bodies.items[body].rotation,
				  sym3_matrix(sym3_load(self->tables->body.inertia_inv[body])));
}

static vec3 turn_freely(const struct dynamics *self, uint32_t body, double dt, vec3 spin)
{
	const struct body_table *table = &self->tables->body;
	if (table->inertia_inv[body][0] == 0 || self->tables->world.planar[0])
		return spin;
	const mat3 *rotation = &self->bodies.items[body].rotation;
	mat3 inertia = sym3_matrix(sym3_load(table->inertia[body]));
	vec3 w = mat3_transposed_mul_vec(*rotation, spin);
	vec3 momentum = mat3_mul_vec(inertia, w);
	mat3 change = mat3_sub(mat3_mul(mat3_skew(w), inertia), mat3_skew(momentum));
	mat3 inverse;
	if (!mat3_inverse(mat3_add(inertia, mat3_scale(change, dt)), &inverse))
		return spin;
	vec3 delta = mat3_mul_vec(inverse, vec3_scale(vec3_cross(w, momentum), -dt));
	return mat3_mul_vec(*rotation, vec3_add(w, delta));
}

void integrate_velocities(const struct dynamics *self, uint32_t body, vec3 force, vec3 torque,
			  double dt, vec3 *velocity, vec3 *spin)
{
	const struct body_table *table = &self->tables->body;
	*velocity = table->velocity[body];
	*spin = table->angular_velocity[body];
	if (table->status[body] != BODY_DYNAMIC)
		return;
	vec3 turned = turn_freely(self, body, dt, *spin);
	vec3 push = vec3_scale(force, dt * table->mass_inv[body]);
	vec3 turn = vec3_scale(mat3_mul_vec(integrate_inertia_inv(self, body), torque), dt);
	*velocity = vec3_scale(vec3_add(*velocity, push), 1 / (1 + dt * table->linear_damping[body]));
	*spin = vec3_scale(vec3_add(turned, turn), 1 / (1 + dt * table->angular_damping[body]));
}

struct body_motion integrate_pose(const struct dynamics *self, uint32_t body, double dt, vec3 by,
				  vec3 velocity, vec3 spin)
{
	return (struct body_motion){
		vec3_mul_add(self->bodies.items[body].centre, by, dt),
		quat_integrate(self->tables->body.rotation[body], spin, dt),
		velocity,
		spin,
	};
}

struct spatial integrate_forces(const struct dynamics *self, uint32_t body, struct spatial force, double dt)
{
	const struct body_table *table = &self->tables->body;
	struct spatial v = { table->velocity[body], table->angular_velocity[body] };
	if (table->status[body] != BODY_DYNAMIC)
		return v;
	vec3 turn = mat3_mul_vec(integrate_inertia_inv(self, body), force.angular);
	v.linear = vec3_mul_add(v.linear, force.linear, dt * table->mass_inv[body]);
	v.angular = vec3_mul_add(v.angular, turn, dt);
	v.linear = vec3_scale(v.linear, 1 / (1 + dt * table->linear_damping[body]));
	v.angular = vec3_scale(v.angular, 1 / (1 + dt * table->angular_damping[body]));
	return v;
}

/* T of body axes applied to a world vector. */
static vec3 tensor_at(sym3 t, quat q, vec3 v)
{
	return quat_rotate(q, sym3_apply(t, quat_rotate_inverse(q, v)));
}

/* Turns q until ½ L·ω is `energy` again. */
static quat restore_energy(quat q, sym3 inertia_inv, vec3 momentum, double energy)
{
	for (int i = 0; i < 3; i++) {
		vec3 spin = tensor_at(inertia_inv, q, momentum);
		double too_much = 0.5 * vec3_dot(momentum, spin) - energy;
		vec3 slope = vec3_cross(momentum, spin);
		double steep = vec3_length_squared(slope);
		/* Nearly parallel: E has next to no slope, and no turn worth making changes it. */
		if (!(steep > 1e-12 * vec3_length_squared(momentum) * vec3_length_squared(spin)))
			return q;
		double angle = scalar_clamp(too_much / scalar_sqrt(steep), -0.1, 0.1);
		q = quat_integrate(q, vec3_scale(slope, 1 / scalar_sqrt(steep)), angle);
	}
	return q;
}

struct body_motion integrate_motion(const struct dynamics *self, uint32_t body,
				    const struct body_motion *start, struct spatial velocity,
				    struct spatial by, double dt)
{
	const struct body_table *table = &self->tables->body;
	struct body_motion motion = { vec3_mul_add(start->centre, by.linear, dt),
				      quat_integrate(start->rotation, by.angular, dt), velocity.linear,
				      velocity.angular };
	sym3 inverse = sym3_load(table->inertia_inv[body]);
	if (table->status[body] != BODY_DYNAMIC || self->tables->world.planar[0] ||
	    !(sym3_trace(inverse) > 0))
		return motion;
	sym3 inertia = sym3_load(table->inertia[body]);
	vec3 momentum = tensor_at(inertia, start->rotation, velocity.angular);
	double energy = 0.5 * vec3_dot(momentum, velocity.angular);
	/* What is pushed out turns first, and gives no velocity. */
	vec3 push = vec3_sub(by.angular, velocity.angular);
	quat q = quat_integrate(start->rotation, push, dt);
	quat middle = quat_integrate(q, tensor_at(inverse, q, momentum), 0.5 * dt);
	q = quat_integrate(q, tensor_at(inverse, middle, momentum), dt);
	motion.rotation = restore_energy(quat_normalize(q), inverse, momentum, energy);
	motion.angular_velocity = tensor_at(inverse, motion.rotation, momentum);
	return motion;
}
