/* obb.h: oriented boxes around points, along the axes of their spread (ch1-3 G-04). */
#ifndef CAIRN_ENGINE_COLLISION_OBB_H
#define CAIRN_ENGINE_COLLISION_OBB_H

#include "server/engine/geometry/intersect_obb_obb.h"

/* The covariance of corners, each counting once. `count` > 0. */
mat3 obb_covariance_points(const vec3 *points, uint32_t count);
/* The covariance of a surface by area, from the corners of its triangles, three by three. Without area:
 * that of the corners. `triangles` > 0. */
mat3 obb_covariance_surface(const vec3 *corners, uint32_t triangles);
/* The covariance of the surface of the points' convex hull, by area: neither points inside nor crowds
 * of points matter. False, and *out untouched, when they have none (flat, small, too many, or no
 * memory). Allocates for the time of the call. */
MUST_CHECK bool obb_covariance_hull(const vec3 *points, uint32_t count, mat3 *out);

/* The least box along given axes (columns, orthonormal) that holds the points, with room for
 * rounding. */
struct obb obb_along(mat3 axes, const vec3 *points, uint32_t count);
/* Along the axes of the hull's covariance, or without a hull, of the points'. */
struct obb obb_of_points(const vec3 *points, uint32_t count);

#endif
