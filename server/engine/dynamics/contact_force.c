/* contact_force.c: the constant of the contact LCP at the level of accelerations.
 *
 * A point at x from its body's centre accelerates by a + α × x + ω × (ω × x). The gap q = (p1 − p2)·n has
 * q'' = (a_p1 − a_p2)·n + 2 (v_p1 − v_p2)·n' + (p1 − p2)·n''; the last term vanishes where the points
 * meet. Along the line of centres they do not meet: there q'' is that of the distance itself.
 */
#include "server/engine/dynamics/contact_force.h"

#include "server/engine/dynamics/frame_rate.h"

struct contact_free contact_free_make(const struct impact_body *body, mat3 inertia, vec3 force,
				      vec3 torque)
{
	return (struct contact_free){
		vec3_scale(force, body->mass_inv),
		frame_rate_gyroscopic(inertia, body->inertia_inv, body->spin, torque),
	};
}

enum contact_kind contact_force_kind(const struct impact_problem *problem, uint32_t contact,
				     double speed_rest)
{
	double u = impact_velocity(problem, contact).x;
	return u > speed_rest ? CONTACT_PARTS : u < -speed_rest ? CONTACT_COLLIDES : CONTACT_RESTS;
}

uint32_t contact_force_recheck(const struct impact_problem *problem, const double *bias,
			       double speed_rest, const uint32_t *order, const uint32_t *starts,
			       uint32_t clusters, uint32_t *kept)
{
	uint32_t count = 0;
	for (uint32_t k = 0; k < problem->contact_count; k++)
		kept[k] = 0;
	for (uint32_t c = 0; c < clusters; c++) {
		bool closes = false;
		for (uint32_t at = starts[c]; at < starts[c + 1]; at++) {
			kept[order[at]] = contact_force_kind(problem, order[at], speed_rest) !=
					  CONTACT_PARTS;
			closes |= kept[order[at]] && bias[order[at]] < 0;
		}
		for (uint32_t at = starts[c]; at < starts[c + 1]; at++)
			kept[order[at]] &= closes;
	}
	for (uint32_t k = 0; k < problem->contact_count; k++)
		if (kept[k])
			kept[count++] = k;
	return count;
}

static vec3 point_acceleration(const struct impact_body *body, const struct contact_free *free,
			       vec3 arm)
{
	vec3 turning = vec3_cross(body->spin, vec3_cross(body->spin, arm));
	return vec3_add(vec3_add(free->linear, vec3_cross(free->angular, arm)), turning);
}

vec3 contact_force_bias(const struct impact_problem *problem, uint32_t index,
			const struct contact_free *free, vec3 normal_rate)
{
	const struct impact_contact *contact = &problem->contacts[index];
	vec3 acceleration[2], velocity[2], t_rate, k_rate;
	for (uint32_t side = 0; side < 2; side++) {
		const struct impact_body *body = &problem->bodies[contact->body[side]];
		acceleration[side] = point_acceleration(body, &free[contact->body[side]],
							contact->arm[side]);
		velocity[side] = vec3_add(body->velocity,
					  vec3_cross(body->spin, contact->arm[side]));
	}
	vec3 a = vec3_sub(acceleration[0], acceleration[1]);
	vec3 u = vec3_sub(velocity[0], velocity[1]);
	frame_rate_tangents(contact->normal, normal_rate, &t_rate, &k_rate);
	return vec3_make(vec3_dot(contact->normal, a) + 2 * vec3_dot(u, normal_rate),
			 vec3_dot(contact->tangent, a) + 2 * vec3_dot(u, t_rate),
			 vec3_dot(contact->binormal, a) + 2 * vec3_dot(u, k_rate));
}

double contact_force_bias_centres(const struct impact_problem *problem, uint32_t index,
				  const struct contact_free *free, double distance)
{
	const struct impact_contact *contact = &problem->contacts[index];
	const uint32_t *body = contact->body;
	vec3 a = vec3_sub(free[body[0]].linear, free[body[1]].linear);
	vec3 u = vec3_sub(problem->bodies[body[0]].velocity, problem->bodies[body[1]].velocity);
	vec3 along = vec3_mul_sub(u, contact->normal, vec3_dot(u, contact->normal));
	return vec3_dot(contact->normal, a) + vec3_length_squared(along) / distance;
}
