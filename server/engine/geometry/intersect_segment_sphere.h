/* intersect_segment_sphere.h: whether a segment meets a ball (ch1-3 G-24). The ball includes its
 * surface, so a tangent segment meets it. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_SPHERE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_SPHERE_H

#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_sphere_sphere.h"

/* Whether segment p q (which may be a point) meets the ball, that is whether its point nearest to
 * the centre does; equivalent to the book's case analysis. */
static inline bool intersect_segment_sphere(vec3 p, vec3 q, struct ball ball)
{
	double k;
	vec3 nearest = closest_point_segment(ball.centre, p, q, &k);
	return vec3_distance_squared(nearest, ball.centre) <= scalar_square(ball.radius);
}

#endif
