/* free_region.h: a convex part of free space around a point (papers P-02, P-04, P-09).
 *
 * Free space is bounded by planar convex pieces, each with the side that is free: the faces of a container
 * seen from inside, or of obstacles seen from outside (of A ⊕ −B, see geometry/minkowski.h, when a body
 * is to be moved past another). The answer is a list of half-spaces whose common part holds the point,
 * and in which no piece lies: whatever moves within it, along a straight line, meets nothing. The
 * point with the least energy in it is a linear programme.
 */
#ifndef CAIRN_ENGINE_COLLISION_FREE_REGION_H
#define CAIRN_ENGINE_COLLISION_FREE_REGION_H

#include "server/base/status.h"
#include "server/engine/geometry/hull.h"
#include "server/engine/geometry/mesh.h"

/* normal · x ≥ offset. */
struct free_plane {
	vec3 normal; /* unit */
	double offset;
	vec3 nearest;  /* of the border: what the half-space keeps away from */
	uint32_t face; /* the piece it lies on, in the order they were added */
};

struct free_work; /* private */

/* The border of free space; made once, asked often. Arrays are owned. */
struct free_region {
	vec3 *corners;
	uint32_t corner_count, corner_room;
	struct free_face {
		uint32_t first, count; /* corners */
		vec3 normal;	       /* unit, to the free side */
	} * faces;
	uint32_t face_count, face_room;
	struct free_work *work;
};

void free_region_init(struct free_region *self);
void free_region_release(struct free_region *self);
void free_region_reset(struct free_region *self);

/* A planar convex polygon, corners counter-clockwise seen from the free side. Error: NO_MEMORY. */
MUST_CHECK enum status free_region_add_polygon(struct free_region *self, const vec3 *corners,
					       uint32_t count);
/* An obstacle: free outside. */
MUST_CHECK enum status free_region_add_hull(struct free_region *self, const struct hull *hull,
					    const pose *at);
/* A surface: free in front of its triangles (`inside`: behind them, as in a container whose normals point
 * out). */
MUST_CHECK enum status free_region_add_mesh(struct free_region *self, const struct mesh *mesh,
					    const pose *at, bool inside);

/* The half-spaces for a ball of radius r around p (0: a point), nearest first; at most one a face. They
 * ask x · normal ≥ normal · nearest + r, so p itself keeps them only where it is r from the border; if it is
 * not, `*keeps` is false and the list is still right for where to go. Where p lies on the border the piece's
 * own normal is taken. Where p is behind the nearest piece (`*keeps` false as well), the half-space is that
 * of its free side. *out is borrowed until the next call. Error: NO_MEMORY. */
MUST_CHECK enum status free_region_find(struct free_region *self, vec3 p, double r,
					const struct free_plane **out, uint32_t *count,
					bool *keeps);

#endif
