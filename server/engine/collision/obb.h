/* obb.h: oriented bounding boxes of points, along the principal axes of a covariance (ch1-3 G-04). */
#ifndef CAIRN_ENGINE_COLLISION_OBB_H
#define CAIRN_ENGINE_COLLISION_OBB_H

#include "server/engine/geometry/intersect_obb_obb.h"

/* The covariance of points with equal weights. `count` > 0. */
mat3 obb_covariance_points(const vec3 *points, uint32_t count);
/* The covariance of a triangulated surface, weighted by area; triangle i has corners 3i … 3i+2. If the
 * surface has no area, the covariance of the corners. `triangles` > 0. */
mat3 obb_covariance_surface(const vec3 *corners, uint32_t triangles);
/* The covariance of the surface of the points' convex hull, weighted by area, so interior points and the
 * density of points do not matter. False, and *out untouched, if no hull can be built (flat, fewer than 4 or
 * more than SHAPE_CLOUD_MAX points, no memory). Allocates during the call. */
MUST_CHECK bool obb_covariance_hull(const vec3 *points, uint32_t count, mat3 *out);

/* The box along the principal axes of the hull's covariance; if there is no hull, of the points'. */
struct obb obb_of_points(const vec3 *points, uint32_t count);

#endif
