/* support.h: support points: the farthest vertex of a convex piece in a direction, with its index.
 *
 * Spheres, capsules and rounded polygons are a core (point, segment, polygon) grown by a radius:
 * support_core gives the point of the core, support_radius the radius. Directions need not be unit
 * and may be zero. Among equally far vertices the one with the least index is taken, so a result
 * depends on nothing but its arguments. Indices: sphere 0; capsule 0 (−y end), 1 (+y end); box,
 * hull and polygon the index in their list of vertices; mesh the corner 0…2 of the triangle that
 * the argument `child` selects.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_SUPPORT_H
#define CAIRN_ENGINE_GEOMETRY_SUPPORT_H

#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/shape.h"

struct support {
	vec3 point;
	uint32_t index;
};

static inline struct support support_points(const vec3 *points, uint32_t count, vec3 direction)
{
	VALIDATE(count > 0);
	uint32_t best = 0;
	double farthest = vec3_dot(points[0], direction);
	for (uint32_t i = 1; i < count; i++) {
		double distance = vec3_dot(points[i], direction);
		if (distance > farthest) {
			farthest = distance;
			best = i;
		}
	}
	return (struct support){ points[best], best };
}

static inline struct support support_hull(const struct hull *hull, vec3 direction)
{
	return support_points(hull->vertices, hull->vertex_count, direction);
}

/* Index bits 0, 1, 2 are set where x, y, z is at its positive end: the order of box_hull. */
static inline struct support support_box(vec3 half, vec3 direction)
{
	uint32_t x = direction.x > 0, y = direction.y > 0, z = direction.z > 0;
	vec3 point = { x ? half.x : -half.x, y ? half.y : -half.y, z ? half.z : -half.z };
	return (struct support){ point, x | y << 1 | z << 2 };
}

/* The capsule's core. */
static inline struct support support_segment(double half_length, vec3 direction)
{
	bool up = direction.y > 0;
	return (struct support){ vec3_make(0, up ? half_length : -half_length, 0), up };
}

static inline struct support support_triangle(const struct mesh *mesh, uint32_t triangle,
					      vec3 direction)
{
	VALIDATE(triangle < mesh->triangle_count);
	vec3 points[3];
	mesh_corners(mesh, triangle, points);
	return support_points(points, 3, direction);
}

/* The support point of any convex kind, of a part of a solid, of the bounding hull of a field, or
 * of triangle `child` of a mesh; not of a plane. */
struct support support_core(const struct shape *shape, uint32_t child, vec3 direction);

/* Distance of the surface from the core, m: 0 for box, hull and mesh. */
double support_radius(const struct shape *shape);

#endif
