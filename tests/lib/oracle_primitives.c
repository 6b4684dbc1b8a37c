/* See oracle_primitives.h. */
#include "tests/lib/oracle_primitives.h"

#include "server/engine/geometry/closest.h"

#include <stdlib.h>

struct oracle_body oracle_segment(vec3 p, vec3 q)
{
	return (struct oracle_body){
		.points = 2, .edges = 1, .point = { p, q }, .edge = { vec3_sub(q, p) }
	};
}

struct oracle_body oracle_triangle(vec3 a, vec3 b, vec3 c)
{
	return (struct oracle_body){ .points = 3,
				     .edges = 3,
				     .point = { a, b, c },
				     .edge = { vec3_sub(b, a), vec3_sub(c, b), vec3_sub(a, c) } };
}

struct oracle_body oracle_aabb(vec3 min, vec3 max)
{
	struct oracle_body body = { .points = 8, .edges = 3 };
	for (uint32_t i = 0; i < 8; i++)
		body.point[i] = vec3_make(i & 1 ? max.x : min.x, i & 2 ? max.y : min.y,
					  i & 4 ? max.z : min.z);
	for (uint32_t i = 0; i < 3; i++)
		body.edge[i] = vec3_axis(i);
	return body;
}

/* Gap along an axis, in either direction. */
static double gap(const struct oracle_body *a, const struct oracle_body *b, vec3 axis)
{
	double a_low = SCALAR_MAX, a_high = -SCALAR_MAX, b_low = SCALAR_MAX, b_high = -SCALAR_MAX;
	for (uint32_t i = 0; i < a->points; i++) {
		a_low = scalar_min(a_low, vec3_dot(axis, a->point[i]));
		a_high = scalar_max(a_high, vec3_dot(axis, a->point[i]));
	}
	for (uint32_t i = 0; i < b->points; i++) {
		b_low = scalar_min(b_low, vec3_dot(axis, b->point[i]));
		b_high = scalar_max(b_high, vec3_dot(axis, b->point[i]));
	}
	return scalar_max(a_low - b_high, b_low - a_high);
}

bool oracle_apart(const struct oracle_body *a, const struct oracle_body *b)
{
	vec3 edge[6], way[6 + 64];
	uint32_t edges = 0, ways = 0;
	for (uint32_t i = 0; i < a->edges; i++)
		edge[edges++] = a->edge[i];
	for (uint32_t i = 0; i < b->edges; i++)
		edge[edges++] = b->edge[i];
	for (uint32_t i = 0; i < edges; i++)
		way[ways++] = edge[i];
	for (uint32_t i = 0; i < a->points; i++)
		for (uint32_t j = 0; j < b->points; j++)
			way[ways++] = vec3_sub(b->point[j], a->point[i]);
	for (uint32_t i = 0; i < ways; i++) {
		if (gap(a, b, way[i]) > 0)
			return true;
		for (uint32_t j = 0; j < edges; j++) {
			vec3 across = vec3_cross(way[i], edge[j]);
			if (gap(a, b, across) > 0)
				return true;
			for (uint32_t k = 0; k < edges; k++)
				if (gap(a, b, vec3_cross(across, edge[k])) > 0)
					return true;
		}
	}
	return false;
}

double oracle_gap(const struct oracle_body *a, const struct oracle_body *b)
{
	vec3 edge[6];
	uint32_t edges = 0;
	double best = -SCALAR_MAX;
	for (uint32_t i = 0; i < a->edges; i++)
		edge[edges++] = vec3_normalize(a->edge[i]);
	for (uint32_t i = 0; i < b->edges; i++)
		edge[edges++] = vec3_normalize(b->edge[i]);
	for (uint32_t i = 0; i < edges; i++) {
		if (a->points == 8 || b->points == 8)
			best = scalar_max(best, gap(a, b, edge[i]));
		for (uint32_t j = 0; j < i; j++) {
			double sine;
			vec3 axis = vec3_normalize_length(vec3_cross(edge[i], edge[j]), &sine);
			if (sine > 1e-6)
				best = scalar_max(best, gap(a, b, axis));
		}
	}
	return best;
}

double oracle_triangle_distance(const vec3 a[3], const vec3 b[3])
{
	double best = SCALAR_MAX;
	for (uint32_t i = 0; i < 3; i++) {
		best = scalar_min(best,
				  closest_point_triangle(a[i], b[0], b[1], b[2]).distance_squared);
		best = scalar_min(best,
				  closest_point_triangle(b[i], a[0], a[1], a[2]).distance_squared);
		for (uint32_t j = 0; j < 3; j++)
			best = scalar_min(best, closest_segment_segment(a[i], a[(i + 1) % 3], b[j],
									b[(j + 1) % 3])
							.distance_squared);
	}
	return scalar_sqrt(best);
}

uint32_t oracle_runs(uint32_t usual)
{
	const char *factor = getenv("CAIRN_POSES");
	return factor != NULL && atoi(factor) > 0 ? usual * (uint32_t)atoi(factor) : usual;
}

vec3 oracle_grid_point(struct rng *rng, uint32_t size)
{
	double x = (double)rng_below(rng, 2 * size + 1) - size;
	double y = (double)rng_below(rng, 2 * size + 1) - size;
	return vec3_make(x, y, (double)rng_below(rng, 2 * size + 1) - size);
}

bool oracle_segment_crosses(vec3 from, vec3 to, const vec3 corner[3])
{
	vec3 a = vec3_sub(corner[1], corner[0]), b = vec3_sub(corner[2], corner[0]);
	vec3 way = vec3_sub(to, from), n = vec3_cross(a, b);
	double down = vec3_dot(n, way);
	if (down == 0)
		return false;
	double t = vec3_dot(n, vec3_sub(corner[0], from)) / down;
	vec3 at = vec3_sub(vec3_mul_add(from, way, t), corner[0]);
	double area = vec3_length_squared(n);
	double u = vec3_dot(vec3_cross(at, b), n) / area, v = vec3_dot(vec3_cross(a, at), n) / area;
	return t >= 0 && t <= 1 && u >= 0 && v >= 0 && u + v <= 1;
}
