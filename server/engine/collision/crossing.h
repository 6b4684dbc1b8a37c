/* crossing.h: which edges of two triangles pierce the other, with no degenerate case.
 *
 * B is taken to be moved by (ε, ε², ε³), ε smaller than anything (simulation of simplicity; Edelsbrunner
 * and Mücke 1990). A determinant of points of both is then its value plus a vector times that shift;
 * its sign is that of the first of the four numbers that is not zero. All signs are exact for the
 * doubles given, so answers about neighbouring triangles fit together without a gap.
 */
#ifndef CAIRN_ENGINE_COLLISION_CROSSING_H
#define CAIRN_ENGINE_COLLISION_CROSSING_H

#include "server/engine/math/vec3.h"

/* On which side of a triangle of A lies a point of B, and of one of B a point of A: 1 in front (where
 * its normal points), −1 behind. 0 only for a triangle without area. */
int crossing_side_of_a(const vec3 a[3], vec3 b);
int crossing_side_of_b(const vec3 b[3], vec3 a);

/* An end of the segment that two triangles share: edge `edge` of A's triangle (from_a) or of B's goes
 * through the other. */
struct crossing_end {
	bool from_a;
	uint8_t edge; /* from corner `edge` to the next */
	bool enters; /* the edge, in that direction, goes from the front to the back of the other */
};
/* Seen from outside along n_A × n_B: A's part inside B lies to the left on A, B's part inside A to
 * the right on B. */
struct crossing {
	struct crossing_end start, end;
};

enum crossing_outcome { CROSSING_NONE, CROSSING_FOUND, CROSSING_BROKEN };

/* BROKEN: a triangle without area let the signs contradict each other; *out is undefined. */
enum crossing_outcome crossing_find(const vec3 a[3], const vec3 b[3], struct crossing *out);

#endif
