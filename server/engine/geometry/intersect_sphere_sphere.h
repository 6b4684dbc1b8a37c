/* intersect_sphere_sphere.h: ch1-3 G-19: balls. Closed: touching balls overlap. */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_SPHERE_SPHERE_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_SPHERE_SPHERE_H

#include "server/engine/math/vec3.h"

/* A ball; radius ≥ 0, m. */
struct ball {
	vec3 centre;
	double radius;
};

/* Whether two balls meet. */
static inline bool intersect_sphere_sphere(struct ball a, struct ball b)
{
	return vec3_distance_squared(a.centre, b.centre) <= scalar_square(a.radius + b.radius);
}

#endif
