/* oracle_primitives.h: slow, obvious answers about points, segments, triangles and boxes. */
#ifndef CAIRN_TESTS_ORACLE_PRIMITIVES_H
#define CAIRN_TESTS_ORACLE_PRIMITIVES_H

#include "server/base/rng.h"
#include "server/engine/math/vec3.h"

/* A convex set as the hull of points, with the directions of its edges. */
struct oracle_body {
	uint32_t points, edges;
	vec3 point[8], edge[3];
};

struct oracle_body oracle_segment(vec3 p, vec3 q);
struct oracle_body oracle_triangle(vec3 a, vec3 b, vec3 c);
struct oracle_body oracle_aabb(vec3 min, vec3 max);

/* Whether an axis separates the two strictly. All axes that may be the only separating one are
 * tried: edges and differences of vertices, their products, and products of those with edges (for
 * flat pairs). With small whole coordinates everything is exact. */
bool oracle_apart(const struct oracle_body *a, const struct oracle_body *b);
/* The same for bodies in general position, as the greatest gap over all axes (negative: overlap), m. */
double oracle_gap(const struct oracle_body *a, const struct oracle_body *b);

/* Distance of two triangles that do not intersect, by their edges and corners. */
double oracle_triangle_distance(const vec3 a[3], const vec3 b[3]);

/* `usual` runs of a property; CAIRN_POSES=N in the environment makes it N times as many. */
uint32_t oracle_runs(uint32_t usual);

/* Whole coordinates in −size … size. */
vec3 oracle_grid_point(struct rng *rng, uint32_t size);

/* Whether the segment from → to has a point in common with the triangle, which is not parallel to it. */
bool oracle_segment_crosses(vec3 from, vec3 to, const vec3 corner[3]);

#endif
