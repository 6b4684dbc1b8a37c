/* oracle_convex.h: distance and depth of two polyhedra by brute force in long double: the oracle
 * for gjk.c, vclip.c, epa.c and sat.c. The distance tries every pair of vertex and face and of edge
 * and edge; the separation tries every face normal and every product of edges; normals are computed
 * from the vertices. */
#ifndef CAIRN_TESTS_ORACLE_CONVEX_H
#define CAIRN_TESTS_ORACLE_CONVEX_H

#include "server/engine/collision/sat.h"
#include "server/engine/geometry/shape.h"

enum { ORACLE_VERTICES_MAX = 80, ORACLE_FACES_MAX = 160, ORACLE_EDGES_MAX = 240 };

typedef struct {
	long double x, y, z;
} wide3;

/* A hull placed in some frame. */
struct oracle_hull {
	uint32_t vertex_count, face_count, edge_count;
	wide3 vertices[ORACLE_VERTICES_MAX];
	wide3 normals[ORACLE_FACES_MAX]; /* unit */
	uint16_t edges[ORACLE_EDGES_MAX][2];
	const struct hull *hull;
	double extent; /* largest distance of a vertex from the origin */
	double bumps; /* farthest that a vertex lies from a plane of its faces, or above another's */
};

/* At most ORACLE_*_MAX of each. `at` NULL: not moved. */
void oracle_hull_make(struct oracle_hull *self, const struct hull *hull, const struct placing *at);

struct oracle_answer {
	double separation; /* greatest over all axes; overlapping: minus the depth */
	double distance;   /* 0 unless apart */
};
void oracle_convex(const struct oracle_hull *a, const struct oracle_hull *b,
		   struct oracle_answer *out);

/* How far p lies outside the hull; negative inside. */
double oracle_outside(const struct oracle_hull *self, vec3 p);

#endif
