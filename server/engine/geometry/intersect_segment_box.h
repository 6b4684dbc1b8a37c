/* intersect_segment_box.h: ch1-3 G-26, segments and rays against axis-aligned boxes. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_BOX_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_BOX_H

#include "server/engine/geometry/aabb.h"

/* Whether segment p q meets the box. Closed; exact for the doubles given. aabb_clip_line finds
 * where it enters. */
bool intersect_segment_box(vec3 p, vec3 q, struct aabb box);

/* Whether the ray from + f along, f ≥ 0, meets the box. By silhouettes as in table 2.5, without a
 * division: correct up to rounding of the products. With zero `along` the result is whether `from`
 * lies in the box. */
bool intersect_ray_box(vec3 from, vec3 along, struct aabb box);

#endif
