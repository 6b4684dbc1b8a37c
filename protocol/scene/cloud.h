/* cloud.h: points and triangles on their way from a file or a list to a shape.
 *
 * Everything here is a function of the points in their order: no hash order, no chance, only + − × ÷ and
 * square roots, so that the same input gives the same bytes, and so the same name, everywhere.
 */
#ifndef CAIRN_PROTOCOL_SCENE_CLOUD_H
#define CAIRN_PROTOCOL_SCENE_CLOUD_H

#include "server/base/array.h"
#include "server/engine/types.h"

struct mesh_triangle {
	uint32_t corner[3];
};

struct point_cloud {
	ARRAY_OF(vec3) points;
	ARRAY_OF(struct mesh_triangle) triangles;
};

void cloud_release(struct point_cloud *cloud);

/* Turns axis `up` (0 x, 1 y, 2 z) of the file to y; then, if wanted, moves the middle of the points'
 * box to the origin; then scales. */
void cloud_transform(struct point_cloud *cloud, uint32_t up, bool centre, vec3 scale);

/* Points in the same cell of a lattice of this pitch (0: equal points) become the first of them; then
 * triangles that repeat a point, a triangle, or are thinner than 1e-6 of their longest edge go. Points
 * keep their order. NO_MEMORY changes nothing that matters: release it. */
MUST_CHECK enum status cloud_weld(struct point_cloud *cloud, double pitch);

/* Keeps the points that are farthest in at least one of `count` (at least 1) fixed directions, spread
 * evenly over the sphere; of several equally far ones the first. The order stays. */
MUST_CHECK enum status cloud_simplify(struct point_cloud *cloud, uint32_t count);

#endif
