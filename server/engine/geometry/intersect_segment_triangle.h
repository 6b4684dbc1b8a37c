/* intersect_segment_triangle.h: ch1-3 G-25. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_TRIANGLE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_TRIANGLE_H

#include "server/engine/math/vec3.h"

enum segment_triangle {
	SEGMENT_TRIANGLE_APART,
	SEGMENT_TRIANGLE_POINT, /* they share one point */
	SEGMENT_TRIANGLE_FLAT,	/* the segment lies in the triangle's plane and they meet */
};

/* Whether segment p q meets triangle a b c. Closed, exact for the doubles given, also without length
 * or area (a triangle without area answers FLAT or APART). POINT: *at is p + t (q − p), rounded, and
 * FLAT: an end of the segment or a corner that is shared, or where the segment crosses an edge.
 * `at` may be NULL. */
enum segment_triangle intersect_segment_triangle(vec3 p, vec3 q, vec3 a, vec3 b, vec3 c, vec3 *at);

/* The same when it is known on which sides of the plane p and q lie (orient_plane). */
enum segment_triangle intersect_segment_triangle_sides(vec3 p, vec3 q, int side_p, int side_q,
						       vec3 a, vec3 b, vec3 c, vec3 *at);

#endif
