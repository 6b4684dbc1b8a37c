/* cast.h: a ray against one placed shape. Apart from queries.c because both the door and the geometry
 * call their answer `struct ray_hit`. */
#ifndef CAIRN_ENGINE_WORLD_CAST_H
#define CAIRN_ENGINE_WORLD_CAST_H

#include "server/engine/geometry/shape.h"

struct cast_hit {
	double fraction; /* of `along` */
	vec3 normal;	 /* world axes */
	uint32_t child;
};

/* Where origin + f along, 0 ≤ f ≤ limit, first meets the shape at `at`. */
bool cast_shape(const struct shape *shape, const pose *at, vec3 origin, vec3 along, double limit,
		struct cast_hit *hit);

#endif
