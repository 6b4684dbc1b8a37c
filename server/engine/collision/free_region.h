/* free_region.h: a convex part of free space around a point (papers P-02, P-04, P-09).
 *
 * Free space is bounded by planar convex pieces, each with a free side: the faces of a container seen from
 * inside, or of obstacles seen from outside (of A ⊕ −B, see geometry/minkowski.h, when a body moves
 * past another). The result is a list of half-spaces whose intersection contains the point and no part of
 * a piece in its interior: a straight motion within it meets no obstacle. The point of the least energy in
 * it is found by a linear program.
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
	vec3 nearest;  /* the point of the border from which the half-space was made */
	uint32_t face; /* the piece it lies on, in the order they were added */
};

struct free_work; /* private */

/* The border of free space, for any number of searches. Arrays are owned. */
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

/* The half-spaces for a ball of radius r ≥ 0 m around p (0: a point), nearest first; at most one
 * for each face. They require x · normal ≥ normal · nearest + r. If p is nearer to the border than
 * r, it violates one of them: then `*keeps` is false, and the list still describes where the ball
 * may go. If p lies on the border, the piece's own normal is used. If p is behind the nearest piece
 * (`*keeps` is false as well), the half-space is that of its free side. *out is borrowed until the
 * next call. Error: NO_MEMORY. */
MUST_CHECK enum status free_region_find(struct free_region *self, vec3 p, double r,
					const struct free_plane **out, uint32_t *count,
					bool *keeps);

#endif
