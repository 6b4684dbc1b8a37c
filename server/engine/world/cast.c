#include "server/engine/world/cast.h"

#include "server/engine/geometry/ray.h"

bool cast_shape(const struct shape *shape, const pose *at, vec3 origin, vec3 along, double limit,
		struct cast_hit *hit)
{
	struct ray_hit found;
	if (!ray_shape(shape, pose_inverse_point(*at, origin), pose_inverse_vector(*at, along), limit,
		       &found))
		return false;
	*hit = (struct cast_hit){ found.fraction, pose_vector(*at, found.normal), found.child };
	return true;
}
