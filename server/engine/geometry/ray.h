/* ray.h: where a segment first meets a shape (ch1-3 G-24 to G-26, and the slabs of a hull).
 *
 * The segment is from + f along, 0 ≤ f ≤ limit, in the shape's frame; `along` need not be unit.
 * Solids (sphere, capsule, box, hull, plane) are hit where the segment enters; a start inside them
 * is a hit at f = 0. A mesh is one-sided: a triangle is hit from the side to which its normal
 * points, and no start is inside. A polygon is solid in its plane z = 0 and infinitely tall: z is
 * ignored.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_RAY_H
#define CAIRN_ENGINE_GEOMETRY_RAY_H

#include "server/engine/geometry/mesh.h"

struct shape_hit {
	double fraction; /* in [0, limit] */
	vec3 normal;	 /* unit, outward; against `along` (unit, or zero) when inside */
	uint32_t child;	 /* the triangle of a mesh, else 0 */
	bool inside;	 /* the segment starts inside a solid */
};

/* The first hit of a shape. False, and *hit untouched, when nothing is hit. */
bool ray_shape(const struct shape *shape, vec3 from, vec3 along, double limit,
	       struct shape_hit *hit);

/* The same for each kind. */
bool ray_sphere(vec3 centre, double radius, vec3 from, vec3 along, double limit,
		struct shape_hit *hit);
/* The segment a b grown by `radius`. */
bool ray_capsule(vec3 a, vec3 b, double radius, vec3 from, vec3 along, double limit,
		 struct shape_hit *hit);
bool ray_box(vec3 half, vec3 from, vec3 along, double limit, struct shape_hit *hit);
/* Two triangles that share an edge leave no gap between them. A degenerate triangle is never hit. */
bool ray_triangle(vec3 a, vec3 b, vec3 c, vec3 from, vec3 along, double limit,
		  struct shape_hit *hit);
/* Of equally near triangles the one with the least index. */
bool ray_mesh(const struct mesh *mesh, vec3 from, vec3 along, double limit, struct shape_hit *hit);

#endif
