/* sphere_tree.h: bounding balls of points and of two balls, for sphere trees (ch1-3 G-06). */
#ifndef CAIRN_ENGINE_COLLISION_SPHERE_TREE_H
#define CAIRN_ENGINE_COLLISION_SPHERE_TREE_H

#include "server/engine/geometry/intersect_sphere_sphere.h"
#include "server/engine/math/mat3.h"

/* The smallest ball that contains `ball` and the point p, without a margin for rounding. */
struct ball ball_add_point(struct ball ball, vec3 p);
/* The smaller of the two balls that start along the coordinate axes and along the principal axes of the
 * points' covariance. `count` > 0. */
struct ball ball_of_points(const vec3 *points, uint32_t count);
/* The smallest ball that contains a and b, with a margin for rounding unless one contains the other. */
struct ball ball_union(struct ball a, struct ball b);

#endif
