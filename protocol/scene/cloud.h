/* cloud.h: points and triangles of a file or a list, before they become a shape.
 *
 * The results depend only on the points and their order: there is no hash order and no random number, and
 * arithmetic is + − × ÷ and square roots, so the same input gives the same bytes, and the same shape name, on
 * every machine.
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
	/* One number a triangle, 0: it has none, as mesh_read says; empty: no triangle has one. */
	ARRAY_OF(uint32_t) patches;
};

void cloud_release(struct point_cloud *cloud);

/* Turns axis `up` (0 x, 1 y, 2 z) of the file to y; then, if `centre`, moves the middle of the points' box to
 * the origin; then scales. */
void cloud_transform(struct point_cloud *cloud, uint32_t up, bool centre, vec3 scale);

/* Replaces all points in a cell of a lattice of this pitch (0: equal points) by the first of them. Then drops
 * triangles that have a point twice, repeat another triangle, or are thinner than 1e-6 of their longest edge.
 * Points keep their order. After NO_MEMORY the cloud can only be released. */
MUST_CHECK enum status cloud_weld(struct point_cloud *cloud, double pitch);

/* Keeps the points that are farthest in at least one of `count` (at least 1) fixed directions, spread
 * evenly over the sphere; of several equally far ones the first. The order stays. */
MUST_CHECK enum status cloud_simplify(struct point_cloud *cloud, uint32_t count);

#endif
