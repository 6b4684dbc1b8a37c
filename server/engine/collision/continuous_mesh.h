/* continuous_mesh.h: when two meshes in motion first touch, triangle by triangle (ch1-3 A-19, G-13).
 *
 * For thin and fast bodies of any form, closed or not: both move at constant velocity and turn at constant
 * rate. No hit is missed and none is late: at every time before the one reported, the surfaces are apart by
 * more than nothing; at it they are within the tolerance. What comes nearer than that counts as a hit.
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_MESH_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_MESH_H

#include "server/engine/collision/hierarchy.h"
#include "server/engine/geometry/shape.h"

/* A mesh with the tree that is made to bound its motion; for one search at a time. */
struct continuous_mesh {
	const struct shape *shape; /* borrowed; of SHAPE_MESH */
	struct hierarchy tree;	   /* owned */
	double reach;		   /* m: no vertex is farther from the origin of its frame */
};

/* Error: NO_MEMORY. */
MUST_CHECK enum status continuous_mesh_init(struct continuous_mesh *self,
					    const struct shape *shape);
void continuous_mesh_release(struct continuous_mesh *self);

struct continuous_mesh_hit {
	double time;
	uint32_t triangle_a, triangle_b; /* of equally early ones the least a, then b */
	vec3 point;	 /* midway between the nearest points, in the frame of the motions */
	vec3 normal;	 /* unit, A → B; zero when they meet at the start */
	double distance; /* m, ≤ tolerance (of bodies that do not turn: of rounding's size) */
};

struct continuous_mesh_work {
	uint64_t intervals; /* of time looked at */
	uint64_t pairs;	    /* triangles whose ways may meet */
	uint64_t limits;    /* of them: advancement gave up, and small straight steps went on */
};

/* Both motions must have the same t0 and t1; tolerance > 0, m. False, and *hit untouched: they do not touch.
 * `work` may be NULL. Allocates nothing. */
bool continuous_mesh_mesh(struct continuous_mesh *a, const struct motion *motion_a,
			  struct continuous_mesh *b, const struct motion *motion_b,
			  double tolerance, struct continuous_mesh_hit *hit,
			  struct continuous_mesh_work *work);

#endif
