/* crossing.h: which edges of two triangles pierce the other triangle, without degenerate cases.
 *
 * B is shifted by (ε, ε², ε³) with an infinitesimal ε (simulation of simplicity; Edelsbrunner and Mücke
 * 1990). A determinant of points of both triangles becomes its value plus a vector times that shift; its
 * sign is that of the first of these four numbers that is not zero. All signs are exact for the given
 * doubles, so the results for neighbouring triangles fit together without a gap.
 */
#ifndef CAIRN_ENGINE_COLLISION_CROSSING_H
#define CAIRN_ENGINE_COLLISION_CROSSING_H

#include "server/engine/math/vec3.h"

/* The side of a triangle of A on which a point of B lies, and of a triangle of B a point of A: 1 in front
 * (where the normal points), −1 behind, 0 only for a triangle without area. */
int crossing_side_of_a(const vec3 a[3], vec3 b);
int crossing_side_of_b(const vec3 b[3], vec3 a);

/* An end of the common segment of two triangles: edge `edge` of A's triangle (from_a) or of B's pierces
 * the other triangle. */
struct crossing_end {
	bool from_a;
	uint8_t edge; /* from corner `edge` to the next */
	bool enters; /* the edge, in that direction, goes from the front to the back of the other */
};
/* The segment is directed along n_A × n_B. Seen from outside, A's part inside B lies to its left on A, and
 * B's part inside A to its right on B. */
struct crossing {
	struct crossing_end start, end;
};

enum crossing_outcome { CROSSING_NONE, CROSSING_FOUND, CROSSING_BROKEN };

/* BROKEN: the signs contradict each other because a triangle has no area; *out is undefined. *out is set
 * only for FOUND. */
enum crossing_outcome crossing_find(const vec3 a[3], const vec3 b[3], struct crossing *out);

#endif
