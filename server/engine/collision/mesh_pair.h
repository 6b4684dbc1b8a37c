/* mesh_pair.h: the triangles of two placed meshes that are near each other (ch1-3 G-01, G-14).
 *
 * Walks the hierarchies stored with the meshes, without recursion or heap. A volume of B is transformed to
 * A's frame only when a pair with it is tested.
 */
#ifndef CAIRN_ENGINE_COLLISION_MESH_PAIR_H
#define CAIRN_ENGINE_COLLISION_MESH_PAIR_H

#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/mesh.h"

struct mesh_pair {
	const struct mesh *a, *b; /* borrowed */
	pose b_in_a;
	mat3 rotation;
	uint32_t depth;
	struct {
		uint32_t a, b;
	} stack[2 * MESH_DEPTH_MAX];
	uint32_t cached; /* the node of b that `place` holds, or UINT32_MAX */
	struct obb place;
	bool in_leaves;
	uint32_t leaf_a, leaf_b, next_a, next_b;
	uint32_t loaded; /* the triangle of b whose `corners` and `box` are stored, or UINT32_MAX */
	vec3 corners[3]; /* in a's frame */
	struct aabb box;
	uint64_t tested; /* pairs of volumes tested */
};

void mesh_pair_init(struct mesh_pair *self, const struct mesh *a, const struct mesh *b,
		    const pose *b_in_a);
/* The next two triangles whose boxes along A's axes touch, i of a, j of b; each pair once, in an order
 * that depends on the meshes and the pose alone. `corners` are then j's. False at the end. */
bool mesh_pair_next(struct mesh_pair *self, uint32_t *i, uint32_t *j);

/* The corners of a triangle of a mesh with pose `at`. They depend only on vertex and pose, so triangles that
 * share a vertex get the same bits. */
static inline void mesh_corners_at(const struct mesh *mesh, uint32_t triangle, const pose *at,
				   vec3 out[3])
{
	VALIDATE(triangle < mesh->triangle_count);
	for (uint32_t k = 0; k < 3; k++)
		out[k] = pose_point(*at, mesh_corner(mesh, triangle, k));
}

#endif
