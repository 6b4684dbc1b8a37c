/* continuous_sphere.c: ch1-3 G-33, with the signs as corrected.
 *
 * Let P be the difference of the centres at 0 and V its change: |P + s V| = r, or A s² + 2 B s + C = 0
 * with A = V·V, B = P·V, C = P·P − r². If C ≤ 0, the balls touch at 0. If B ≥ 0, they part. Otherwise the
 * first root is C / (−B + √(B² − A C)), a quotient of sums of positive numbers. In a grazing motion B² − A C
 * is a difference of nearly equal numbers. It is therefore computed as A (r² − q²), where q, the distance of
 * the origin from the line, is the length of the component of P across V.
 *
 * P-54, ball and triangle: in the triangle's frame only the ball moves, by D. The centre first comes within r
 * of the triangle at its face (a plane at distance r, with the foot inside), at an edge (a cylinder of
 * radius r, with the foot on the edge) or at a vertex (a ball of radius r). The result is the earliest of
 * these times whose foot lies on the feature. The three kinds of surfaces bound the set of centres
 * that touch, so no other time is earlier.
 */
#include "server/engine/collision/continuous_sphere.h"

#include "server/engine/geometry/closest.h"

static void hit_at(struct ball a, vec3 a_step, struct ball b, vec3 b_step, double time,
		   struct continuous_sphere_hit *hit)
{
	ASSERT(time >= 0 && time <= 1);
	vec3 on_a = vec3_mul_add(a.centre, a_step, time);
	vec3 on_b = vec3_mul_add(b.centre, b_step, time);
	double apart;
	hit->time = time;
	hit->normal = vec3_normalize_length(vec3_sub(on_a, on_b), &apart);
	if (apart == 0)
		hit->normal = vec3_make(1, 0, 0);
	/* The middle of the common segment, or of the gap left by rounding. */
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

/* ---- ball and triangle ------------------------------------------------------------------------ */

/* First s at which the centre c + s d touches the cylinder of `radius` around the edge a b. */
static bool reach_edge(vec3 c, vec3 d, double radius, vec3 a, vec3 b, double *time)
{
	double length, shift;
	vec3 u = vec3_normalize_length(vec3_sub(b, a), &length);
	vec3 w = vec3_sub(c, a), across = vec3_mul_sub(w, u, vec3_dot(w, u));
	vec3 way = vec3_mul_sub(d, u, vec3_dot(d, u));
	struct continuous_sphere_hit hit;
	struct ball moving = { across, radius }, axis = { vec3_zero(), 0 };
	if (!continuous_sphere_sphere(moving, way, axis, vec3_zero(), &hit))
		return false;
	shift = vec3_dot(vec3_mul_add(w, d, hit.time), u);
	if (!(shift >= 0 && shift <= length))
		return false;
	ASSERT(hit.time >= 0 && hit.time <= 1);
	*time = hit.time;
	return true;
}

static bool reach_vertex(vec3 c, vec3 d, double radius, vec3 a, double *time)
{
	struct continuous_sphere_hit hit;
	struct ball moving = { c, radius }, still = { a, 0 };
	if (!continuous_sphere_sphere(moving, d, still, vec3_zero(), &hit))
		return false;
	*time = hit.time;
	return true;
}

static bool reach_face(vec3 c, vec3 d, double radius, const vec3 t[3], double *time)
{
	double area;
	vec3 n = vec3_normalize_length(vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0])),
				       &area);
	double height = vec3_dot(n, vec3_sub(c, t[0])), speed = vec3_dot(n, d);
	double gap = scalar_abs(height) - radius;
	if (area == 0 || gap < 0 || !(height > 0 ? speed < 0 : speed > 0))
		return false;
	double s = gap / scalar_abs(speed);
	if (!(s <= 1))
		return false;
	struct triangle_point near =
		closest_point_triangle(vec3_mul_add(c, d, s), t[0], t[1], t[2]);
	if (near.feature != TRIANGLE_FACE)
		return false;
	*time = s;
	return true;
}

bool continuous_sphere_triangle(struct ball ball, vec3 step, const vec3 triangle[3],
				vec3 triangle_step, struct continuous_sphere_hit *hit)
{
	vec3 d = vec3_sub(step, triangle_step), c = ball.centre;
	struct triangle_point near =
		closest_point_triangle(c, triangle[0], triangle[1], triangle[2]);
	double first = near.distance_squared <= ball.radius * ball.radius ? 0 : SCALAR_MAX, time;
	if (first > 0 && reach_face(c, d, ball.radius, triangle, &time))
		first = time;
	for (uint32_t k = 0; k < 3 && first > 0; k++) {
		vec3 a = triangle[k], b = triangle[(k + 1) % 3];
		if (reach_edge(c, d, ball.radius, a, b, &time))
			first = scalar_min(first, time);
		if (reach_vertex(c, d, ball.radius, a, &time))
			first = scalar_min(first, time);
	}
	if (first == SCALAR_MAX)
		return false;
	vec3 seen = vec3_mul_add(c, d, first);
	near = closest_point_triangle(seen, triangle[0], triangle[1], triangle[2]);
	double apart;
	ASSERT(first >= 0 && first <= 1);
	hit->time = first;
	hit->normal = vec3_normalize_length(vec3_sub(seen, near.point), &apart);
	if (apart == 0)
		hit->normal = vec3_make(1, 0, 0);
	hit->point = vec3_mul_add(near.point, triangle_step, first);
	return true;
}
