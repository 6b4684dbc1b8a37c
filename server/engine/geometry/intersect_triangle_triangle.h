/* intersect_triangle_triangle.h: ch1-3 G-20: pairs of triangles, with the segment they share. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_TRIANGLE_TRIANGLE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_TRIANGLE_TRIANGLE_H

#include "server/engine/math/vec3.h"

struct triangle_cut {
	bool coplanar; /* they lie in one plane; from = to is one point they share */
	vec3 from, to; /* the shared segment, rounded; a point when they touch in one */
};

/* Whether two triangles meet. Closed; exact for the doubles given, also without area. Exchanging
 * the triangles or their corners changes only rounding and the direction of the segment. `cut` may
 * be NULL and is untouched when they do not meet. */
bool intersect_triangle_triangle(const vec3 a[3], const vec3 b[3], struct triangle_cut *cut);

#endif
