/* intersect_box_triangle.h: ch1-3 G-22: axis-aligned boxes against triangles. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_BOX_TRIANGLE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_BOX_TRIANGLE_H

#include "server/engine/geometry/aabb.h"

/* Whether a solid box and a triangle meet. Closed; exact for the doubles given, also for boxes
 * without volume and triangles without area. */
bool intersect_box_triangle(struct aabb box, vec3 a, vec3 b, vec3 c);

#endif
