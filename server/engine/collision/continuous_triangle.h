/* continuous_triangle.h: the time at which two triangles with straight moving corners first touch (ch1-3
 * G-30…G-32).
 *
 * Time runs from 0 to 1. A hit is the first time at which two features come within CONTINUOUS_TOLERANCE ×
 * the extent of all paths, found as a root of the polynomial that is zero when they are coplanar (collinear,
 * coincident). Pairs that start nearer than that hit at 0, also if they part. The time is never
 * later than the first contact. While features glide past each other within the tolerance, it may be any
 * such time, and exchanging a and b can change it.
 */
#ifndef CAIRN_ENGINE_COLLISION_CONTINUOUS_TRIANGLE_H
#define CAIRN_ENGINE_COLLISION_CONTINUOUS_TRIANGLE_H

#include "server/engine/math/vec3.h"

/* Relative to the longest side of the box around all points at both times. The error of a root by rounding is
 * a few thousand times smaller for usual triangles; a larger tolerance reports near misses as hits. */
#define CONTINUOUS_TOLERANCE 1e-9

/* A point that goes from `from` at 0 to `to` at 1. */
struct continuous_point {
	vec3 from, to;
};

enum continuous_kind {
	CONTINUOUS_OVERLAP,	/* they intersect at the start: the normal is zero */
	CONTINUOUS_FACE_VERTEX, /* a's face (or border), b's vertex feature_b */
	CONTINUOUS_VERTEX_FACE, /* a's vertex feature_a, b's face (or border) */
	CONTINUOUS_EDGES,	/* edge i goes from vertex i to i + 1 */
};

struct continuous_hit {
	double time; /* in [0, 1] */
	enum continuous_kind kind;
	uint32_t feature_a, feature_b;
	vec3 point;  /* the vertex, or the crossing of the edges, at that time */
	vec3 normal; /* unit, from b to a; against the motion of a relative to b there */
};

/* Vertex against face; kind is CONTINUOUS_FACE_VERTEX with the face as a. Returns false and leaves *hit
 * unchanged if they never touch. */
bool continuous_vertex_face(struct continuous_point vertex, const struct continuous_point face[3],
			    struct continuous_hit *hit);
/* Edge a[0] a[1] against b[0] b[1]. */
bool continuous_edge_edge(const struct continuous_point a[2], const struct continuous_point b[2],
			  struct continuous_hit *hit);
/* Tests the intersection at 0 and all fifteen pairs of features. Among pairs at the same time a vertex and a
 * face precede edges, because their normal is more accurate; then the last tested pair counts. */
bool continuous_triangle_triangle(const struct continuous_point a[3],
				  const struct continuous_point b[3], struct continuous_hit *hit);

/* Coefficients of f[0] + f[1] s + f[2] s² + f[3] s³, which is zero when the three moving vectors are linearly
 * dependent: the coplanarity of b1 − a1, E and G (spec: k1…k5). Exported for its test. */
void continuous_cubic(struct continuous_point way, struct continuous_point e,
		      struct continuous_point g, double f[4]);

#endif
