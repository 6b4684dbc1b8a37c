/* closest.h: nearest points of points, lines, segments, triangles and planes (app A-01…A-04).
 *
 * Every function is defined for every finite input; the result for a degenerate one is stated with
 * the function. Planes are {x : normal·x = offset}; the normal need not be unit.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_CLOSEST_H
#define CAIRN_ENGINE_GEOMETRY_CLOSEST_H

#include "server/engine/math/vec3.h"

/* app A-01: the foot of p on the infinite line a → b and its parameter (a + k (b − a), not clamped).
 * a = b: a itself, k = 0. */
vec3 closest_point_line(vec3 p, vec3 a, vec3 b, double *k);

/* The same, clamped to the segment: k in [0, 1]. */
vec3 closest_point_segment(vec3 p, vec3 a, vec3 b, double *k);

/* app A-02: the foot of p on the plane and the signed distance, positive on the normal's side.
 * A zero normal: p itself, distance 0. */
vec3 closest_point_plane(vec3 p, vec3 normal, double offset, double *distance);

enum segment_plane { SEGMENT_PLANE_EMPTY, SEGMENT_PLANE_POINT, SEGMENT_PLANE_WHOLE };

/* app A-03: the intersection of segment a b and a plane. POINT sets *point and *k in [0, 1];
 * otherwise both are those of a. Parallel means |(b−a)·n| ≤ 1e-12 |b−a||n|; a parallel segment is
 * WHOLE when a lies within 1e-12 |n| (|a| + |b|) of the plane. */
enum segment_plane closest_segment_plane(vec3 a, vec3 b, vec3 normal, double offset, vec3 *point,
					 double *k);

/* app A-04: the point of segment a b nearest to the infinite line h1 → h2; a when the segment is
 * parallel to the line, because all its points are then equally near. */
vec3 closest_segment_line(vec3 a, vec3 b, vec3 h1, vec3 h2);

struct segment_pair {
	double s, t; /* parameters in [0, 1] on the first and second segment */
	vec3 first, second;
	double distance_squared;
};

/* Nearest points of segments a0 a1 and b0 b1; either may have zero length. Of parallel segments
 * that overlap along their direction, the pair with the least s is returned. */
struct segment_pair closest_segment_segment(vec3 a0, vec3 a1, vec3 b0, vec3 b1);

/* The feature of a triangle that is nearest to a point. */
enum triangle_feature {
	TRIANGLE_VERTEX_0,
	TRIANGLE_VERTEX_1,
	TRIANGLE_VERTEX_2,
	TRIANGLE_EDGE_0, /* 0 → 1 */
	TRIANGLE_EDGE_1, /* 1 → 2 */
	TRIANGLE_EDGE_2, /* 2 → 0 */
	TRIANGLE_FACE,
};

struct triangle_point {
	vec3 point;
	double distance_squared;
	enum triangle_feature feature;
};

/* The nearest point of triangle a b c; a triangle without area counts as its three edges. Of
 * equally near edges the first is taken. */
struct triangle_point closest_point_triangle(vec3 p, vec3 a, vec3 b, vec3 c);

#endif
