/* See mesh_corner.h. A corner of a body over a convex corner or edge of a surface.
 *
 * Problem: pairs_mesh.c tests each triangle separately and accepts only contacts in the triangle's own
 * Voronoi region. Where a corner of a body overlaps a corner of the surface, the best axis of each triangle
 * may lie in the region of a neighbour, so that every triangle rejects it and no contact is reported.
 *
 * Method: the triangles that share a corner with the tested one (its fan) bound a convex part of the solid
 * if no vertex of the fan lies above the plane of any of them. The candidate axes are those of two
 * polyhedra (sat.c), restricted to outward ones: the normals of the fan's triangles; faces of the hull whose
 * nearest vertex of the fan is one of the three corners, which are interior to the fan (beyond its border
 * the surface continues); pairs with edges that end at these corners. The axis of the greatest separation
 * is the result.
 */
#include "server/engine/collision/mesh_corner.h"

#include "server/engine/collision/gjk.h"
#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/mesh.h"

static bool add_to_fan(struct mesh_fan *fan, uint32_t triangle)
{
	VALIDATE(fan->count <= MESH_FAN_MAX);
	for (uint32_t k = 0; k < fan->count; k++)
		if (fan->triangles[k] == triangle)
			return true;
	if (fan->count == MESH_FAN_MAX)
		return false;
	fan->triangles[fan->count++] = triangle;
	return true;
}

static bool has_vertex(const struct mesh *mesh, uint32_t triangle, uint32_t vertex)
{
	VALIDATE(triangle < mesh->triangle_count);
	VALIDATE(vertex < mesh->vertex_count);
	return mesh_vertex_of(mesh, triangle, 0) == vertex ||
	       mesh_vertex_of(mesh, triangle, 1) == vertex ||
	       mesh_vertex_of(mesh, triangle, 2) == vertex;
}

bool mesh_fan_of(const struct mesh *mesh, uint32_t triangle, struct mesh_fan *out)
{
	ASSERT(triangle < mesh->triangle_count);
	uint32_t corners[3];
	for (uint32_t k = 0; k < 3; k++)
		corners[k] = mesh_vertex_of(mesh, triangle, k);
	out->count = 0;
	if (!add_to_fan(out, triangle))
		return false;
	/* Breadth first over edges, through triangles that share a corner. */
	for (uint32_t k = 0; k < out->count; k++) {
		for (uint32_t e = 0; e < 3; e++) {
			uint32_t next = mesh_across(mesh, out->triangles[k], e);
			if (next == UINT32_MAX)
				continue;
			bool shares = has_vertex(mesh, next, corners[0]) ||
				      has_vertex(mesh, next, corners[1]) ||
				      has_vertex(mesh, next, corners[2]);
			if (shares && !add_to_fan(out, next))
				return false;
		}
	}
	return true;
}

struct corner_search {
	const struct hull *hull;
	const struct mesh *mesh;
	const struct mesh_fan *fan;
	vec3 corners[MESH_FAN_MAX][3]; /* hull's frame */
	vec3 normals[MESH_FAN_MAX];    /* outward, hull's frame */
	struct mesh_corner *best;
};

static bool is_convex(const struct corner_search *x, double slop)
{
	ASSERT(x->fan->count <= MESH_FAN_MAX);
	for (uint32_t f = 0; f < x->fan->count; f++)
		for (uint32_t g = 0; g < x->fan->count; g++)
			for (uint32_t k = 0; k < 3; k++) {
				vec3 way = vec3_sub(x->corners[g][k], x->corners[f][0]);
				if (vec3_dot(x->normals[f], way) > slop)
					return false;
			}
	return true;
}

static void offer_axis(struct corner_search *x, double separation, vec3 normal, vec3 on_hull,
		       uint32_t feature)
{
	if (separation > x->best->separation)
		*x->best = (struct mesh_corner){ separation, normal, on_hull, feature };
}

static void test_triangle_normals(struct corner_search *x)
{
	ASSERT(x->fan->count > 0);
	struct gjk_core core = { x->hull->vertices, x->hull->vertex_count, x->hull, 0, NULL };
	for (uint32_t f = 0; f < x->fan->count; f++) {
		vec3 into = vec3_negate(x->normals[f]);
		uint32_t lowest = gjk_support(&core, into, 0);
		vec3 p = x->hull->vertices[lowest];
		offer_axis(x, vec3_dot(x->normals[f], vec3_sub(p, x->corners[f][0])), into, p,
			   feature_make(FEATURE_VERTEX, lowest, 0));
	}
}

static void test_hull_faces(struct corner_search *x)
{
	ASSERT(x->fan->count > 0);
	for (uint32_t h = 0; h < x->hull->face_count; h++) {
		const struct hull_face *face = &x->hull->faces[h];
		double least = SCALAR_MAX;
		uint32_t at = UINT32_MAX;
		if (vec3_dot(face->normal, x->normals[0]) >= 0)
			continue;
		for (uint32_t f = 0; f < x->fan->count; f++) {
			for (uint32_t k = 0; k < 3; k++) {
				double s = vec3_dot(face->normal, x->corners[f][k]) - face->offset;
				if (s < least) {
					least = s;
					at = f == 0 ? k : UINT32_MAX;
				}
			}
		}
		if (at < 3)
			offer_axis(x, least, face->normal,
				   vec3_mul_sub(x->corners[0][at], face->normal, least),
				   feature_make(FEATURE_NEAREST, x->hull->edges[face->edge].origin,
						at));
	}
}

static bool own_corner(const struct corner_search *x, uint32_t f, uint32_t k)
{
	VALIDATE(f < x->fan->count);
	VALIDATE(k < 3);
	uint32_t vertex = mesh_vertex_of(x->mesh, x->fan->triangles[f], k);
	return has_vertex(x->mesh, x->fan->triangles[0], vertex);
}

static uint32_t in_fan(const struct corner_search *x, uint32_t triangle)
{
	uint32_t f = 0;
	while (f < x->fan->count && x->fan->triangles[f] != triangle)
		f++;
	VALIDATE(f <= x->fan->count);
	return f;
}

static void test_edge(struct corner_search *x, uint32_t f, uint32_t e, uint32_t g)
{
	ASSERT(f < g && g < x->fan->count);
	ASSERT(e < 3);
	vec3 from = x->corners[f][e], to = x->corners[f][(e + 1) % 3];
	for (uint32_t h = 0; h < x->hull->edge_count; h++) {
		const struct half_edge *edge = &x->hull->edges[h];
		vec3 normal;
		if (edge->twin < h)
			continue;
		double s =
			sat_edge_alone(x->hull, h, from, to, x->normals[f], x->normals[g], &normal);
		if (s <= x->best->separation)
			continue;
		struct segment_pair near = closest_segment_segment(
			x->hull->vertices[edge->origin],
			x->hull->vertices[x->hull->edges[edge->twin].origin], from, to);
		offer_axis(x, s, normal, near.first, feature_make(FEATURE_EDGES, h, e));
	}
}

double mesh_corner_along(const struct hull *hull, const struct mesh *mesh,
			 const struct mesh_fan *fan, const struct placing *mesh_in_hull,
			 vec3 normal)
{
	ASSERT(fan->count > 0 && fan->count <= MESH_FAN_MAX);
	struct gjk_core core = { hull->vertices, hull->vertex_count, hull, 0, NULL };
	double least = SCALAR_MAX;
	for (uint32_t f = 0; f < fan->count; f++) {
		vec3 corners[3];
		mesh_corners(mesh, fan->triangles[f], corners);
		for (uint32_t k = 0; k < 3; k++) {
			vec3 p = placing_point(mesh_in_hull, corners[k]);
			least = scalar_min(least, vec3_dot(normal, p));
		}
	}
	return least - vec3_dot(normal, hull->vertices[gjk_support(&core, normal, 0)]);
}

bool mesh_corner_axis(const struct hull *hull, const struct mesh *mesh, const struct mesh_fan *fan,
		      const struct placing *mesh_in_hull, double slop, struct mesh_corner *out)
{
	ASSERT(fan->count > 0 && fan->count <= MESH_FAN_MAX);
	struct corner_search x = { .hull = hull, .mesh = mesh, .fan = fan, .best = out };
	for (uint32_t f = 0; f < fan->count; f++) {
		mesh_corners(mesh, fan->triangles[f], x.corners[f]);
		for (uint32_t k = 0; k < 3; k++)
			x.corners[f][k] = placing_point(mesh_in_hull, x.corners[f][k]);
		x.normals[f] =
			vec3_normalize(vec3_cross(vec3_sub(x.corners[f][1], x.corners[f][0]),
						  vec3_sub(x.corners[f][2], x.corners[f][0])));
	}
	out->separation = -SCALAR_MAX;
	if (!is_convex(&x, slop))
		return false;
	test_triangle_normals(&x);
	test_hull_faces(&x);
	for (uint32_t f = 0; f < fan->count; f++) {
		for (uint32_t e = 0; e < 3; e++) {
			uint32_t g = in_fan(&x, mesh_across(mesh, fan->triangles[f], e));
			bool inside = own_corner(&x, f, e) || own_corner(&x, f, (e + 1) % 3);
			if (inside && f < g && g < fan->count)
				test_edge(&x, f, e, g);
		}
	}
	return true;
}
