/* integrate.c: one body over one step.
 *
 * Linear: v' = (v + dt F/m) / (1 + dt c), c the damping rate (implicit in the damping, so that it never
 * turns a velocity round). Angular the same after the torque-free part, which for a body of uneven
 * inertia is I (ω₁ − ω₀) + dt ω₁ × I ω₁ = 0 in body axes: implicit, because explicitly it feeds energy
 * into fast spinning bodies. One Newton step from ω₀ (app B has the equation, not this solution):
 *   (I + dt ([ω₀]× I − [I ω₀]×)) δ = −dt ω₀ × I ω₀,  ω₁ = ω₀ + δ.
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
