/* intersect_segment_box.h: ch1-3 G-26, segments and rays against axis-aligned boxes. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_BOX_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SEGMENT_BOX_H

#include "server/engine/geometry/aabb.h"

/* Whether segment p q meets the box. Closed, exact for the doubles given. Where it enters is
 * aabb_clip_line's business. */
bool intersect_segment_box(vec3 p, vec3 q, struct aabb box);

/* Whether the ray from + f along, f ≥ 0, meets the box. By silhouettes as in table 2.5, without a
 * division: right up to rounding of the products. `along` may be zero: then the question is about `from`. */
bool intersect_ray_box(vec3 from, vec3 along, struct aabb box);

#endif
