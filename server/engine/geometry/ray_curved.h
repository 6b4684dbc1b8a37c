/* ray_curved.h: where a segment meets a cylinder, a cone, an ellipsoid or a rounded hull; see
 * ray.h. Private to geometry. */
#ifndef CAIRN_ENGINE_GEOMETRY_RAY_CURVED_H
#define CAIRN_ENGINE_GEOMETRY_RAY_CURVED_H

#include "server/engine/geometry/ray.h"

bool ray_cylinder(double half_length, double radius, vec3 from, vec3 along, double limit,
		  struct shape_hit *hit);
bool ray_cone(double half_length, double radius, vec3 from, vec3 along, double limit,
	      struct shape_hit *hit);
bool ray_ellipsoid(vec3 half, vec3 from, vec3 along, double limit, struct shape_hit *hit);
bool ray_rounded(const struct hull *core, double radius, vec3 from, vec3 along, double limit,
		 struct shape_hit *hit);

#endif
