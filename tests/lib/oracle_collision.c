/* See oracle_collision.h. */
#include "tests/lib/oracle_collision.h"

#include "server/engine/geometry/closest.h"

double oracle_separation(const struct hull *a, const struct hull *b, const pose *b_in_a, vec3 axis)
{
	double most = -SCALAR_MAX, least = SCALAR_MAX;
	for (uint32_t i = 0; i < a->vertex_count; i++)
		most = scalar_max(most, vec3_dot(axis, a->vertices[i]));
	for (uint32_t i = 0; i < b->vertex_count; i++)
		least = scalar_min(least, vec3_dot(axis, pose_point(*b_in_a, b->vertices[i])));
	return least - most;
}

static vec3 edge_vector(const struct hull *hull, uint32_t h)
{
	const struct half_edge *edge = &hull->edges[h];
	return vec3_sub(hull->vertices[hull->edges[edge->twin].origin],
			hull->vertices[edge->origin]);
}

double oracle_sat(const struct hull *a, const struct hull *b, const pose *b_in_a)
{
	double best = -SCALAR_MAX;
	for (uint32_t f = 0; f < a->face_count; f++)
		best = scalar_max(best, oracle_separation(a, b, b_in_a, a->faces[f].normal));
	for (uint32_t f = 0; f < b->face_count; f++) {
		vec3 axis = vec3_negate(pose_vector(*b_in_a, b->faces[f].normal));
		best = scalar_max(best, oracle_separation(a, b, b_in_a, axis));
	}
	for (uint32_t i = 0; i < a->edge_count; i++) {
		for (uint32_t j = 0; j < b->edge_count; j++) {
			vec3 e = vec3_normalize(edge_vector(a, i));
			vec3 f = vec3_normalize(pose_vector(*b_in_a, edge_vector(b, j)));
			double sine;
			vec3 axis = vec3_normalize_length(vec3_cross(e, f), &sine);
			/* Each edge is stored as two half-edges, so both signs of the axis are
			 * tried. */
			if (sine > 1e-9 && i < a->edges[i].twin)
				best = scalar_max(best, oracle_separation(a, b, b_in_a, axis));
		}
	}
	return best;
}

double oracle_point_distance(const struct hull *hull, vec3 p)
{
	double inside = -SCALAR_MAX, squared = SCALAR_MAX;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		const struct hull_face *face = &hull->faces[f];
		inside = scalar_max(inside, vec3_dot(face->normal, p) - face->offset);
		/* The face as a fan of triangles. */
		vec3 first = hull->vertices[hull->edges[face->edge].origin];
		uint32_t at = hull->edges[face->edge].next;
		for (uint32_t k = 2; k < face->edge_count; k++) {
			uint32_t next = hull->edges[at].next;
			struct triangle_point near = closest_point_triangle(
				p, first, hull->vertices[hull->edges[at].origin],
				hull->vertices[hull->edges[next].origin]);
			squared = scalar_min(squared, near.distance_squared);
			at = next;
		}
	}
	return inside <= 0 ? inside : scalar_sqrt(squared);
}

/* Whether segment p q enters the hull. */
static bool segment_enters(const struct hull *hull, vec3 p, vec3 q)
{
	double first = 0, last = 1;
	for (uint32_t f = 0; f < hull->face_count; f++) {
		double from = vec3_dot(hull->faces[f].normal, p) - hull->faces[f].offset;
		double to = vec3_dot(hull->faces[f].normal, q) - hull->faces[f].offset;
		if (from > 0 && to > 0)
			return false;
		if (from > 0)
			first = scalar_max(first, from / (from - to));
		else if (to > 0)
			last = scalar_min(last, from / (from - to));
	}
	return first <= last;
}

double oracle_distance(const struct hull *a, const struct hull *b, const pose *b_in_a)
{
	pose a_in_b = pose_inverse(*b_in_a);
	double best = SCALAR_MAX;
	for (uint32_t i = 0; i < a->vertex_count; i++)
		best = scalar_min(best,
				  oracle_point_distance(b, pose_point(a_in_b, a->vertices[i])));
	for (uint32_t i = 0; i < b->vertex_count; i++)
		best = scalar_min(best,
				  oracle_point_distance(a, pose_point(*b_in_a, b->vertices[i])));
	for (uint32_t j = 0; j < b->edge_count; j++) {
		vec3 p = pose_point(*b_in_a, b->vertices[b->edges[j].origin]);
		vec3 q = pose_point(*b_in_a, b->vertices[b->edges[b->edges[j].twin].origin]);
		if (segment_enters(a, p, q))
			return 0;
		for (uint32_t i = 0; i < a->edge_count; i++) {
			struct segment_pair near = closest_segment_segment(
				a->vertices[a->edges[i].origin],
				a->vertices[a->edges[a->edges[i].twin].origin], p, q);
			best = scalar_min(best, scalar_sqrt(near.distance_squared));
		}
	}
	for (uint32_t i = 0; i < a->edge_count; i++) {
		vec3 p = pose_point(a_in_b, a->vertices[a->edges[i].origin]);
		vec3 q = pose_point(a_in_b, a->vertices[a->edges[a->edges[i].twin].origin]);
		if (segment_enters(b, p, q))
			return 0;
	}
	return best < 0 ? 0 : best;
}
