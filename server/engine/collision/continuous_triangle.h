/* continuous_triangle.h: when two triangles whose corners go straight ways first touch (ch1-3
 * G-30…G-32).
 *
 * Time runs from 0 to 1. A hit is the first time at which two features come within
 * CONTINUOUS_TOLERANCE × the extent of all ways, found as a root of the polynomial that says they
 * lie in one plane (one line, one point); pairs that start nearer than that hit at 0, also if they part.
 * It is never later than the first contact, and while features glide past each other within the tolerance,
 * it may be any such time (exchanging a and b can then change it).
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_TRIANGLE_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_TRIANGLE_H

#include "server/engine/math/vec3.h"

/* Of the longest side of the box around all points at both times. What rounding makes of a root is a
 * few thousand times smaller for usual triangles; larger values report near misses. */
#define CONTINUOUS_TOLERANCE 1e-9

/* A point that goes from `from` at 0 to `to` at 1. */
struct continuous_point {
	vec3 from, to;
};

enum continuous_kind {
	CONTINUOUS_OVERLAP,	/* they meet at the start: normal is zero */
	CONTINUOUS_FACE_VERTEX, /* a's face (or border), b's vertex feature_b */
	CONTINUOUS_VERTEX_FACE, /* a's vertex feature_a, b's face (or border) */
	CONTINUOUS_EDGES,	/* edge i goes from vertex i to i + 1 */
};

struct continuous_hit {
	double time; /* in [0, 1] */
	enum continuous_kind kind;
	uint32_t feature_a, feature_b;
	vec3 point;  /* the vertex, or where the edges cross, at that time */
	vec3 normal; /* unit, from b to a; against the motion of a relative to b there */
};

/* Vertex against face; kind is CONTINUOUS_FACE_VERTEX with the face as a. False, and *hit untouched:
 * never. */
bool continuous_vertex_face(struct continuous_point vertex, const struct continuous_point face[3],
			    struct continuous_hit *hit);
/* Edge a[0] a[1] against b[0] b[1]. */
bool continuous_edge_edge(const struct continuous_point a[2], const struct continuous_point b[2],
			  struct continuous_hit *hit);
/* All fifteen pairs and the static test at 0. Of pairs at one time a vertex and a face count before
 * edges (their normal is the better one), then the last tested. */
bool continuous_triangle_triangle(const struct continuous_point a[3],
				  const struct continuous_point b[3], struct continuous_hit *hit);

/* f[0] + f[1] s + f[2] s² + f[3] s³, zero when k + s·, E and G are linearly dependent: the
 * coplanarity of b1 − a1, E and G (spec: k1…k5). Exported for its test. */
void continuous_cubic(struct continuous_point way, struct continuous_point e,
		      struct continuous_point g, double f[4]);

#endif
