/* intersect_box_sphere.h: ch1-3 G-21: balls against axis-aligned and oriented boxes. Both are
 * closed: touching counts. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_BOX_SPHERE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_BOX_SPHERE_H

#include "server/engine/geometry/aabb.h"
#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/intersect_sphere_sphere.h"

/* Whether an axis-aligned box and a ball meet. */
static inline bool intersect_box_sphere(struct aabb box, struct ball ball)
{
	/* The point of the box nearest to the centre. */
	vec3 nearest = vec3_min(vec3_max(ball.centre, box.min), box.max);
	return vec3_distance_squared(nearest, ball.centre) <= scalar_square(ball.radius);
}

/* The same for an oriented box, tested in its own frame. */
static inline bool intersect_obb_sphere(const struct obb *box, struct ball ball)
{
	vec3 local = mat3_transposed_mul_vec(box->axes, vec3_sub(ball.centre, box->centre));
	return intersect_box_sphere(aabb_of_centre(vec3_zero(), box->half),
				    (struct ball){ local, ball.radius });
}

#endif
