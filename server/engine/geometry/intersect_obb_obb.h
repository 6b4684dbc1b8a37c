/* intersect_obb_obb.h: oriented boxes, and the separating axes of two (ch1-3 G-18). */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_OBB_OBB_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_OBB_OBB_H

#include "server/engine/geometry/aabb.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/pose.h"

struct obb {
	vec3 centre;
	mat3 axes; /* columns: the box's axes; orthonormal, right-handed */
	vec3 half; /* m, ≥ 0, along the axes */
};

enum { OBB_AXES = 15, OBB_OVERLAP = OBB_AXES };

/* The first of the fifteen axes that separates the boxes: 0…2 those of a, 3…5 those of b,
 * 6 + 3 i + j the product of a's i and b's j; OBB_OVERLAP when none does. Boxes nearer than about
 * 1e-15 of the numbers involved count as touching, hence as overlapping: never a false separation. */
uint32_t intersect_obb_obb_axis(const struct obb *a, const struct obb *b);

static inline bool intersect_obb_obb(const struct obb *a, const struct obb *b)
{
	return intersect_obb_obb_axis(a, b) == OBB_OVERLAP;
}

static inline struct obb obb_of_aabb(struct aabb box)
{
	return (struct obb){ aabb_centre(box), mat3_identity(), aabb_half(box) };
}

/* `rotation` is that of `at`, which the caller has once for many boxes. */
static inline struct obb obb_placed(const struct obb *box, const pose *at, const mat3 *rotation)
{
	return (struct obb){ vec3_add(at->position, mat3_mul_vec(*rotation, box->centre)),
			     mat3_mul(*rotation, box->axes), box->half };
}

#endif
