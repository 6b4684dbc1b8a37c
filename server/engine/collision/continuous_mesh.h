/* continuous_mesh.h: the time at which two moving meshes first touch, by triangles (ch1-3 A-19, G-13).
 *
 * For thin and fast bodies of any form, closed or not. Both move at constant velocity and turn at constant
 * rate. No hit is missed and none is late: at every time before the reported one the surfaces do not touch;
 * at the reported time they are within the tolerance. Surfaces nearer than the tolerance count as a hit.
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_MESH_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_MESH_H

#include "server/engine/collision/hierarchy.h"
#include "server/engine/geometry/shape.h"

/* A mesh with the tree that bounds its motion. A search changes the tree, so one search at a time. */
struct continuous_mesh {
	const struct shape *shape; /* borrowed; of SHAPE_MESH */
	struct hierarchy tree;	   /* owned */
	double reach; /* m: greatest distance of a vertex from the origin of its frame */
};

/* Error: NO_MEMORY. */
MUST_CHECK enum status continuous_mesh_init(struct continuous_mesh *self,
					    const struct shape *shape);
void continuous_mesh_release(struct continuous_mesh *self);

struct continuous_mesh_hit {
	double time;			 /* s, in [t0, t1] */
	uint32_t triangle_a, triangle_b; /* of equally early pairs the least a, then b */
	vec3 point;	 /* midway between the nearest points, in the frame of the motions */
	vec3 normal;	 /* unit, A → B; zero when they meet at the start */
	double distance; /* m, ≤ tolerance; 0 if neither body turns */
};

struct continuous_mesh_work {
	uint64_t intervals; /* of time, searched */
	uint64_t pairs;	    /* of triangles whose paths may cross */
	uint64_t
		limits; /* pairs for which advancement reached its limit and straight steps followed */
};

/* Both motions must have the same t0 and t1; tolerance > 0, m; a and b must differ. Returns false and leaves
 * *hit unchanged if the meshes do not touch. `work` may be NULL. Allocates nothing. */
bool continuous_mesh_mesh(struct continuous_mesh *a, const struct motion *motion_a,
			  struct continuous_mesh *b, const struct motion *motion_b,
			  double tolerance, struct continuous_mesh_hit *hit,
			  struct continuous_mesh_work *work);

#endif
