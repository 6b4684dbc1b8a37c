/* intersect_segment_triangle.h: ch1-3 G-25: segments against triangles. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_TRIANGLE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_TRIANGLE_H

#include "server/engine/math/vec3.h"

enum segment_triangle {
	SEGMENT_TRIANGLE_APART,
	SEGMENT_TRIANGLE_POINT, /* the intersection is one point */
	SEGMENT_TRIANGLE_FLAT,	/* the segment lies in the triangle's plane and they meet */
};

/* Whether segment p q meets triangle a b c. Closed; exact for the doubles given, also without
 * length or area (a triangle without area gives FLAT or APART). POINT: *at is p + t (q − p),
 * rounded. FLAT: *at is a shared end of the segment or corner, or the point where the segment
 * crosses an edge. `at` may be NULL. */
enum segment_triangle intersect_segment_triangle(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c, vec3 *at);

/* The same with the sides of the plane on which p and q lie (orient_plane) already known. */
enum segment_triangle intersect_segment_triangle_sides(vec3 p, vec3 q, int side_p, int side_q,
						       vec3 a, vec3 b, vec3 c, vec3 *at);

#endif
