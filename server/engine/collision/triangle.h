/* triangle.h: a convex piece and one triangle of a surface, by themselves: how far they are apart, and on
 * which side of the triangle's plane the piece lies.
 *
 * The narrow phase (pairs_mesh.c) gives a contact to one of the triangles around an edge or a corner, and
 * none to the others, however near these are. Which triangle that is changes while a body moves, so the
 * separation of its points is no continuous function of time. The gap here is: it does not ask to whom
 * a contact belongs. Times of collision are found with it.
 */
#ifndef CAIRN_ENGINE_COLLISION_TRIANGLE_H
#define CAIRN_ENGINE_COLLISION_TRIANGLE_H

#include "server/engine/collision/pairs.h"

/* A triangle as a polyhedron of two faces: 0 the outside, 1 the inside. Half-edges 0, 1, 2 run
 * round the outside, 3, 4, 5 are their twins. */
struct flat_hull {
	struct hull hull;
	vec3 vertices[3];
	struct half_edge edges[6];
	struct hull_face faces[2];
	uint16_t vertex_edge[3];
};
void flat_hull_make(struct flat_hull *flat, const vec3 corners[3], vec3 normal);

struct triangle_gap {
	/* m: the distance, infinite above the margin; negative: the least way out of the triangle, of which
	 * the way through it to its back is none. */
	double gap;
	vec3 normal; /* unit, piece → triangle, of that distance or way, in A's frame */
	vec3 point;  /* where they are nearest, A's frame */
	double low;  /* m: height of the piece's lowest point above the triangle's plane */
	/* m: the same of the point that decides on which side the piece is: below 0 it has no contacts. */
	double side;
};

/* Whether the pair is one of a convex piece (a) and a triangle (b). */
bool triangle_meets(const struct shape *a, const struct shape *b);
/* `pair`: a convex piece a and the triangle `child` of b. */
void triangle_gap_find(const struct pair *pair, struct triangle_gap *out);
/* The height of a's lowest point above the plane of the triangle alone, m. */
double triangle_low(const struct pair *pair);

#endif
