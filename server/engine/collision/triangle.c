/* See triangle.h.
 *
 *   apart                    the distance of the cores by GJK, less the radius
 *   polyhedra that overlap   the best separating axis: the triangle's outward normal, the faces of the
 *   or nearly touch          hull, pairs of edges
 *   overlapping round cores  the best axis of curved_axis.c
 *   a segment through it     its lowest point
 */
#include "server/engine/collision/triangle.h"

#include "server/engine/collision/curved_pair.h"
#include "server/engine/collision/gjk.h"
#include "server/engine/collision/sat.h"
#include "server/engine/geometry/mesh.h"

/* m. Polyhedra with an axis of less separation have it as their gap: near 0 it has the sign of their
 * distance, whose search would need exact arithmetic. */
#define BY_AXES 1e-4

void flat_hull_make(struct flat_hull *flat, const vec3 corners[3], vec3 normal)
{
	static const struct half_edge EDGES[6] = { { 0, 3, 1, 0 }, { 1, 4, 2, 0 }, { 2, 5, 0, 0 },
						   { 1, 0, 5, 1 }, { 2, 1, 3, 1 }, { 0, 2, 4, 1 } };
	double offset = vec3_dot(normal, corners[0]);
	flat->hull = (struct hull){
		3, 2, 6, flat->vertices, flat->edges, flat->faces, flat->vertex_edge, vec3_zero()
	};
	for (int k = 0; k < 3; k++) {
		flat->vertices[k] = corners[k];
		flat->vertex_edge[k] = (uint16_t)k;
		flat->hull.centre = vec3_mul_add(flat->hull.centre, corners[k], 1.0 / 3);
	}
	for (int k = 0; k < 6; k++)
		flat->edges[k] = EDGES[k];
	flat->faces[0] = (struct hull_face){ normal, offset, 0, 3 };
	flat->faces[1] = (struct hull_face){ vec3_negate(normal), -offset, 3, 3 };
}

bool triangle_meets(const struct shape *a, const struct shape *b)
{
	return shape_is_surface(b) && !shape_is_surface(a) && !shape_is_field(a) &&
	       a->kind != SHAPE_PLANE && a->kind != SHAPE_POLYGON;
}

/* The triangle in A's frame: its corners, and a unit normal. */
static void place_triangle(const struct pair *pair, vec3 corners[3], vec3 *normal)
{
	mesh_corners(pair->b->mesh, pair->child, corners);
	for (uint32_t k = 0; k < 3; k++)
		corners[k] = pose_point(pair->b_in_a, corners[k]);
	*normal = vec3_normalize(
		vec3_cross(vec3_sub(corners[1], corners[0]), vec3_sub(corners[2], corners[0])));
}

static double low_of(const struct gjk_core *core, vec3 corner, vec3 normal)
{
	vec3 lowest = gjk_support_point(core, vec3_negate(normal));
	return vec3_dot(normal, vec3_sub(lowest, corner)) - core->radius;
}

double triangle_low(const struct pair *pair)
{
	struct gjk_points room;
	struct gjk_core core = gjk_core_of(pair->a, 0, &room);
	vec3 corners[3], normal;
	place_triangle(pair, corners, &normal);
	return low_of(&core, corners[0], normal);
}

/* The best axis of a hull and the triangle; the gap is its separation, or infinite above the margin. */
static void polyhedron_gap(const struct pair *pair, const vec3 corners[3], vec3 normal,
			   struct triangle_gap *out)
{
	const struct hull *hull = pair->a->hull;
	struct placing here = { mat3_identity(), vec3_zero() };
	struct flat_hull flat;
	flat_hull_make(&flat, corners, normal);
	struct sat_face up = sat_face(&flat.hull, hull, &here, 0, 0);
	struct sat_face side = sat_faces(hull, &flat.hull, &here,
					 sat_face_guess(hull, &flat.hull, &here), pair->margin);
	double top = scalar_max(up.separation, side.separation);
	out->gap = __builtin_inf();
	if (top > pair->margin)
		return;
	struct sat_edges edges =
		sat_edges(hull, &flat.hull, &here, top, scalar_max(pair->margin, -top),
			  flat.vertices[side.vertex], hull->vertices[up.vertex]);
	double most = scalar_max(top, edges.separation);
	if (most > pair->margin)
		return;
	out->gap = most;
	out->point = hull->vertices[up.vertex];
	if (edges.separation > top) {
		out->normal = edges.normal;
		out->point = hull->vertices[hull->edges[edges.edge_a].origin];
	} else if (side.separation > up.separation) {
		out->normal = hull->faces[side.face].normal;
		out->point = flat.vertices[side.vertex];
	}
}

/* Round cores that overlap the triangle. */
static void overlap_gap(const struct pair *pair, struct triangle_gap *out)
{
	struct curved_pair curved;
	struct curved_axis axis;
	out->gap = scalar_min(out->low, 0);
	if (pair->a->kind == SHAPE_SPHERE || pair->a->kind == SHAPE_CAPSULE)
		return;
	curved_pair_init(&curved, pair);
	if (!curved_axis_find(&curved, &axis))
		return;
	out->gap = scalar_min(axis.separation - curved.radii, 0);
	out->normal = axis.normal;
	out->point = axis.point_a;
}

void triangle_gap_find(const struct pair *pair, struct triangle_gap *out)
{
	ASSERT(triangle_meets(pair->a, pair->b));
	ASSERT(pair->margin >= 0);
	struct gjk_points room, three;
	struct gjk_core core = gjk_core_of(pair->a, 0, &room), flat = { .count = 0 };
	vec3 corners[3], normal,
		centre = pair->a->hull != NULL ? pair->a->hull->centre : pair->a->mass.centre;
	place_triangle(pair, corners, &normal);
	for (uint32_t k = 0; k < 3; k++)
		three.points[k] = corners[k];
	flat.points = three.points;
	flat.count = 3;
	out->low = low_of(&core, corners[0], normal);
	out->side = vec3_dot(normal, vec3_sub(centre, corners[0]));
	if (pair->a->kind == SHAPE_SPHERE || pair->a->kind == SHAPE_CAPSULE)
		out->side += core.radius;
	out->gap = __builtin_inf();
	out->normal = vec3_negate(normal);
	out->point = corners[0];
	if (out->low > pair->margin)
		return;
	if (pair->a->hull != NULL)
		polyhedron_gap(pair, corners, normal, out);
	if (pair->a->hull != NULL && !(out->gap > BY_AXES && out->gap <= pair->margin))
		return;
	mat3 none = mat3_identity();
	struct gjk_result near;
	gjk_distance(&core, &flat, &none, vec3_zero(), NULL, &near);
	if (near.touching || !(near.distance > 0)) {
		overlap_gap(pair, out);
		return;
	}
	out->gap = __builtin_inf();
	if (near.distance - core.radius > pair->margin)
		return;
	out->gap = near.distance - core.radius;
	out->normal = near.normal;
	out->point = near.point_b;
}
