/* closest.c: nearest points, app A-01…A-04.
 *
 * Two choices make every case well defined. A parameter k = num/den is formed only when den > 0, so
 * a line or segment without length is a point. For a triangle, the foot of the point on its plane
 * is tested against the three edges first; if the foot lies outside an edge, or the triangle has no
 * area, the answer is the nearest point of the three edges, the first edge on ties.
 */
#include "server/engine/geometry/closest.h"

#define PARALLEL_RELATIVE 1e-12 /* app A-03: sine of the angle below which lines are parallel */

vec3 closest_point_line(vec3 p, vec3 a, vec3 b, double *k)
{
	vec3 d = vec3_sub(b, a);
	double den = vec3_dot(d, d);
	*k = den > 0 ? vec3_dot(vec3_sub(p, a), d) / den : 0;
	return vec3_mul_add(a, d, *k);
}

vec3 closest_point_segment(vec3 p, vec3 a, vec3 b, double *k)
{
	closest_point_line(p, a, b, k);
	if (*k >= 1) {
		*k = 1;
		return b;
	}
	*k = scalar_max(*k, 0);
	return vec3_lerp(a, b, *k);
}

vec3 closest_point_plane(vec3 p, vec3 normal, double offset, double *distance)
{
	double nn = vec3_dot(normal, normal);
	*distance = 0;
	if (!(nn > 0))
		return p;
	double k = (vec3_dot(p, normal) - offset) / nn;
	*distance = k * scalar_sqrt(nn);
	return vec3_mul_sub(p, normal, k);
}

enum segment_plane closest_segment_plane(vec3 a, vec3 b, vec3 normal, double offset, vec3 *point,
					 double *k)
{
	vec3 d = vec3_sub(b, a);
	double size = vec3_length(normal);
	double slope = vec3_dot(d, normal), gap = offset - vec3_dot(a, normal);
	*point = a;
	*k = 0;
	if (scalar_abs(slope) <= PARALLEL_RELATIVE * vec3_length(d) * size) {
		double reach = PARALLEL_RELATIVE * size * (vec3_length(a) + vec3_length(b));
		return scalar_abs(gap) <= reach ? SEGMENT_PLANE_WHOLE : SEGMENT_PLANE_EMPTY;
	}
	double at = gap / slope;
	if (!(at >= 0 && at <= 1))
		return SEGMENT_PLANE_EMPTY;
	*k = at;
	*point = at == 1 ? b : vec3_lerp(a, b, at);
	return SEGMENT_PLANE_POINT;
}

vec3 closest_segment_line(vec3 a, vec3 b, vec3 h1, vec3 h2)
{
	/* The short form of A-04, which the book derives from three distances: only the components
	 * across the line count, and in that projection the line is a point. */
	vec3 u = vec3_sub(h2, h1), d = vec3_sub(b, a), r = vec3_sub(h1, a);
	double uu = vec3_dot(u, u);
	if (uu > 0) {
		d = vec3_mul_sub(d, u, vec3_dot(d, u) / uu);
		r = vec3_mul_sub(r, u, vec3_dot(r, u) / uu);
	}
	double den = vec3_dot(d, d);
	vec3 whole = vec3_sub(b, a);
	if (!(den > PARALLEL_RELATIVE * PARALLEL_RELATIVE * vec3_dot(whole, whole)))
		return a;
	double k = scalar_clamp(vec3_dot(r, d) / den, 0, 1);
	return k == 1 ? b : vec3_lerp(a, b, k);
}

/* Parameters of the nearest points of two segments with directions u, v, where w = a0 − b0.
 * Minimises |w + s u − t v|²: the best s on the whole line, clamped; then t for that s; if t has to
 * be clamped, s once more for the clamped t. That is exact because the function is convex. The best s,
 * ((u·v)(v·w) − (v·v)(u·w)) / ((u·u)(v·v) − (u·v)²), is taken from cross products, which lose no digits
 * when the directions are nearly the same. */
static void segment_parameters(vec3 u, vec3 v, vec3 w, double *s, double *t)
{
	double uu = vec3_dot(u, u), vv = vec3_dot(v, v), uv = vec3_dot(u, v);
	double uw = vec3_dot(u, w), vw = vec3_dot(v, w);
	vec3 n = vec3_cross(u, v);
	double den = vec3_dot(n, n);
	*s = 0;
	*t = 0;
	if (!(uu > 0)) {
		*t = vv > 0 ? scalar_clamp(vw / vv, 0, 1) : 0;
		return;
	}
	if (!(vv > 0)) {
		*s = scalar_clamp(-uw / uu, 0, 1);
		return;
	}
	/* Parallel up to rounding: s is not determined, so take 0, the least; the last step
	 * corrects it. */
	if (den > PARALLEL_RELATIVE * PARALLEL_RELATIVE * uu * vv)
		*s = scalar_clamp(vec3_dot(n, vec3_cross(v, w)) / den, 0, 1);
	double at = (uv * *s + vw) / vv;
	*t = scalar_clamp(at, 0, 1);
	if (at != *t)
		*s = scalar_clamp((uv * *t - uw) / uu, 0, 1);
}

struct segment_pair closest_segment_segment(vec3 a0, vec3 a1, vec3 b0, vec3 b1)
{
	struct segment_pair pair;
	vec3 u = vec3_sub(a1, a0), v = vec3_sub(b1, b0);
	segment_parameters(u, v, vec3_sub(a0, b0), &pair.s, &pair.t);
	pair.first = pair.s == 1 ? a1 : vec3_mul_add(a0, u, pair.s);
	pair.second = pair.t == 1 ? b1 : vec3_mul_add(b0, v, pair.t);
	pair.distance_squared = vec3_distance_squared(pair.first, pair.second);
	return pair;
}

static struct triangle_point nearest_on_edges(vec3 p, const vec3 corner[3])
{
	struct triangle_point best = { .distance_squared = SCALAR_MAX };
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t next = (i + 1) % 3;
		double k;
		vec3 q = closest_point_segment(p, corner[i], corner[next], &k);
		double distance_squared = vec3_distance_squared(p, q);
		if (i > 0 && !(distance_squared < best.distance_squared))
			continue;
		uint32_t feature = k <= 0   ? TRIANGLE_VERTEX_0 + i
				   : k >= 1 ? TRIANGLE_VERTEX_0 + next
					    : TRIANGLE_EDGE_0 + i;
		best = (struct triangle_point){ q, distance_squared,
						(enum triangle_feature)feature };
	}
	return best;
}

struct triangle_point closest_point_triangle(vec3 p, vec3 a, vec3 b, vec3 c)
{
	vec3 ab = vec3_sub(b, a), ca = vec3_sub(a, c), ap = vec3_sub(p, a);
	vec3 n = vec3_cross(ca, ab);
	double nn = vec3_dot(n, n);
	/* Signed areas spanned by the foot and each of the three edges, times 2 |n|. */
	double e0 = vec3_dot(vec3_cross(ab, ap), n);
	double e1 = vec3_dot(vec3_cross(vec3_sub(c, b), vec3_sub(p, b)), n);
	double e2 = vec3_dot(vec3_cross(ca, vec3_sub(p, c)), n);
	if (!(nn > 0) || !(e0 > 0 && e1 > 0 && e2 > 0))
		return nearest_on_edges(p, (vec3[3]){ a, b, c });
	double k = vec3_dot(ap, n) / nn;
	return (struct triangle_point){ vec3_mul_sub(p, n, k), k * k * nn, TRIANGLE_FACE };
}
