/* sphere_tree.h: balls around points and around balls: the volumes of sphere trees (ch1-3 G-06). */
#ifndef CAIRN_ENGINE_COLLISION_SPHERE_TREE_H
#define CAIRN_ENGINE_COLLISION_SPHERE_TREE_H

#include "server/engine/geometry/intersect_sphere_sphere.h"
#include "server/engine/math/mat3.h"

/* `ball` grown, and moved, as little as needed to hold p as well; the old ball stays inside. */
struct ball ball_add_point(struct ball ball, vec3 p);
/* A ball around `count` > 0 points, begun with the farthest pair of extreme points along `axes`
 * (columns, orthonormal), with room for rounding. Not the least: usually within some per cent. */
struct ball ball_of_points_along(mat3 axes, const vec3 *points, uint32_t count);
/* The smaller of those along the coordinate axes and along the axes of the points' spread. */
struct ball ball_of_points(const vec3 *points, uint32_t count);
/* The least ball around two. */
struct ball ball_union(struct ball a, struct ball b);

#endif
