/* intersect_coplanar.h: points, segments and triangles of one plane (ch1-3 G-27).
 *
 * Predicates are exact for the doubles given (orient.h) and closed (ends, edges and corners
 * belong). Segments without length count as points, triangles without area as segments. The
 * arguments of one call must lie in one plane exactly; if they do not quite, the result is that of
 * their projection along one axis.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_INTERSECT_COPLANAR_H
#define CAIRN_ENGINE_GEOMETRY_INTERSECT_COPLANAR_H

#include "server/engine/math/vec3.h"

/* Whether p lies on segment a b; exact for every p, in a plane or not. */
bool intersect_point_segment(vec3 p, vec3 a, vec3 b);

/* Whether segments p0 p1 and q0 q1 meet. Collinear segments are compared along their line (the book
 * rejects them). Exact for any four points: segments without a common plane do not meet. */
bool intersect_edge_edge(vec3 p0, vec3 p1, vec3 q0, vec3 q1);

/* The crossing of the lines of two segments: p0 + t (p1 − p0) = q0 + m (q1 − q0). False, and t = m
 * = 0, for parallel lines. Rounded; not limited to the segments. */
bool intersect_edge_edge_at(vec3 p0, vec3 p1, vec3 q0, vec3 q1, double *t, double *m);

/* Whether p lies in triangle a b c, given that it lies in its plane. */
bool intersect_point_triangle(vec3 p, vec3 a, vec3 b, vec3 c);

#endif
