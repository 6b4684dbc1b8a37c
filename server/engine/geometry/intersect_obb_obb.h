/* intersect_obb_obb.h: oriented boxes, and the separating axes of a pair (ch1-3 G-18). */
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

/* The first of the fifteen axes that separates the boxes: 0…2 are a's, 3…5 b's, 6 + 3 i + j the
 * product of a's i and b's j; OBB_OVERLAP when none does. Boxes closer than about 1e-15 of their
 * coordinates count as touching, hence as overlapping: a separation is never reported falsely. */
uint32_t intersect_obb_obb_axis(const struct obb *a, const struct obb *b);

static inline bool intersect_obb_obb(const struct obb *a, const struct obb *b)
{
	return intersect_obb_obb_axis(a, b) == OBB_OVERLAP;
}

/* An axis-aligned box as an oriented one, enlarged to cover the rounding of its centre. */
static inline struct obb obb_of_aabb(struct aabb box)
{
	vec3 half = vec3_scale(aabb_half(box), 1 + 4 * SCALAR_EPSILON);
	return (struct obb){ aabb_centre(box), mat3_identity(), half };
}

/* A box given in the frame of a body at pose `at`, in world space, enlarged to cover the rounding
 * of the transformation. `rotation` is that of `at`; the caller computes it once for many boxes. */
static inline struct obb obb_placed(const struct obb *box, const pose *at, const mat3 *rotation)
{
	vec3 far = vec3_add(vec3_abs(at->position), vec3_add(vec3_abs(box->centre), box->half));
	double room = 8 * SCALAR_EPSILON * (far.x + far.y + far.z);
	return (struct obb){ vec3_add(at->position, mat3_mul_vec(*rotation, box->centre)),
			     mat3_mul(*rotation, box->axes), vec3_add(box->half, vec3_all(room)) };
}

#endif
