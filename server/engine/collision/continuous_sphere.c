/* continuous_sphere.c: ch1-3 G-33, with the signs as corrected.
 *
 * With P, V the first difference of the centres and its change: |P + s V| = r, or A s² + 2 B s + C = 0
 * with A = V·V, B = P·V, C = P·P − r². C ≤ 0: touching at once. B ≥ 0: parting. Otherwise the first root
 * is C / (−B + √(B² − A C)), a quotient of sums of positive numbers. B² − A C is a difference of nearly
 * equal ones when the way grazes; it is therefore taken as A (r² − q²), where q is the distance of
 * the origin from the line, from the component of P across V.
 */
#include "server/engine/collision/continuous_sphere.h"

static void hit_at(struct ball a, vec3 a_step, struct ball b, vec3 b_step, double time,
		   struct continuous_sphere_hit *hit)
{
	vec3 on_a = vec3_mul_add(a.centre, a_step, time);
	vec3 on_b = vec3_mul_add(b.centre, b_step, time);
	double apart;
	hit->time = time;
	hit->normal = vec3_normalize_length(vec3_sub(on_a, on_b), &apart);
	if (apart == 0)
		hit->normal = vec3_make(1, 0, 0);
	/* In the middle of what they share, or of the rounding between them. */
	hit->point = vec3_mul_add(on_b, hit->normal, 0.5 * (apart + b.radius - a.radius));
}

bool continuous_sphere_sphere(struct ball a, vec3 a_step, struct ball b, vec3 b_step,
			      struct continuous_sphere_hit *hit)
{
	vec3 p = vec3_sub(a.centre, b.centre), v = vec3_sub(a_step, b_step);
	double reach = a.radius + b.radius;
	double speed = vec3_length_squared(v), along = vec3_dot(p, v);
	double outside = vec3_length_squared(p) - reach * reach;
	if (outside <= 0) {
		hit_at(a, a_step, b, b_step, 0, hit);
		return true;
	}
	if (along >= 0 || speed == 0)
		return false;
	vec3 across = vec3_mul_sub(p, v, along / speed);
	double chord = reach * reach - vec3_length_squared(across);
	if (chord < 0)
		return false;
	double time = outside / (scalar_sqrt(speed * chord) - along);
	if (!(time <= 1))
		return false;
	hit_at(a, a_step, b, b_step, time, hit);
	return true;
}
