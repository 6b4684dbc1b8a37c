/* oracle_collision.h: slow and obvious answers about two convex polyhedra, to test the fast ones. */
#ifndef CAIRN_TESTS_ORACLE_COLLISION_H
#define CAIRN_TESTS_ORACLE_COLLISION_H

#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

/* Separation along `axis` (unit, A → B): least of B minus greatest of A, over all vertices. */
double oracle_separation(const struct hull *a, const struct hull *b, const pose *b_in_a, vec3 axis);

/* The greatest separation over all face normals of both and all cross products of their edges (both
 * signs; of edges whose angle's sine is under 1e-9: none). */
double oracle_sat(const struct hull *a, const struct hull *b, const pose *b_in_a);

/* Distance of two polyhedra that do not overlap, by all pairs of vertex and face, edge and edge. 0 when
 * a vertex of one lies in the other or an edge meets a face. */
double oracle_distance(const struct hull *a, const struct hull *b, const pose *b_in_a);

/* Signed distance of p to the polyhedron: negative inside (to the nearest face plane). */
double oracle_point_distance(const struct hull *hull, vec3 p);

#endif
