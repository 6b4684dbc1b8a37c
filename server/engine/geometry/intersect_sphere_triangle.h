/* intersect_sphere_triangle.h: ch1-3 G-23. Closed. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SPHERE_TRIANGLE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SPHERE_TRIANGLE_H

#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_sphere_sphere.h"

/* Whether the ball meets the triangle (which may be without area); *nearest (may be NULL) is the
 * point of the triangle nearest to the centre in either case. The book's four steps test the face,
 * the corners and the edges in turn, with the same result. */
static inline bool intersect_sphere_triangle(struct ball ball, vec3 a, vec3 b, vec3 c,
					     struct triangle_point *nearest)
{
	struct triangle_point found = closest_point_triangle(ball.centre, a, b, c);
	if (nearest != NULL)
		*nearest = found;
	return found.distance_squared <= scalar_square(ball.radius);
}

#endif
