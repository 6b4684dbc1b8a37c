/* time_of_impact.h: the first contact of two pieces of any kinds over given motions.
 *
 * Used by methods that stop fast bodies and by methods that go from event to event. Guarantee: at every
 * earlier time the pieces are apart, and at a HIT they are apart by at most the tolerance. A search
 * that reaches its iteration limit returns the time until which they are apart (LIMIT) and is
 * counted.
 *
 *   convex, triangle, part of a solid   conservative advancement (advance.h); two balls that move in
 *                                       straight lines: in closed form (continuous_sphere.h)
 *   with a plane                        advancement along the plane's normal; the plane may turn
 *   with a whole mesh, or a field       as convex pieces with the triangles of its surface that the
 *                                       motion may reach; a field also if one starts inside the other
 *   mesh or field with mesh or field    continuous_mesh.h
 */
#ifndef CAIRN_ENGINE_COLLISION_TIME_OF_IMPACT_H
#define CAIRN_ENGINE_COLLISION_TIME_OF_IMPACT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/math/interpolate.h"

/* As a piece's child: all pieces of the shape. For a field every child means all. */
#define IMPACT_WHOLE UINT32_MAX

struct impact_side {
	struct piece piece;
	/* The shape's pose in the frame that moves. A body turns about the origin of that frame,
	 * its mass centre. */
	pose in_frame;
	const struct motion *motion; /* of the frame, borrowed */
};

struct impact_options {
	double tolerance;	 /* m > 0: pieces nearer than this touch */
	uint32_t iterations_max; /* > 0, for each pair of pieces */
	/* For methods that cut the motion of A short and leave the rest to contacts; A is no plane and no
	 * surface. Each is off if it is 0.
	 *
	 * core_a     m: pieces that are nearer than the tolerance at t0 do not count. Instead, a ball about
	 *            the origin of A's frame is searched, of this radius, or smaller if that is so near B's
	 *            piece that the ball would touch it. If even the origin does, to within rounding, A is
	 *            stopped at the start if it goes towards the piece; if the origin is inside, they are
	 *            passed over. So OVERLAP is no outcome.
	 * grazing    m: a hit is passed over if at t1 A is less than this deep behind the plane of the hit,
	 *            or at t0 and t1 behind a face of B's piece, so that A ends on its own side of the
	 *            piece. Not for core_a's ball.
	 * one_sided  triangles of meshes (not of fields) are passed over if the origin of A's frame is
	 *            behind them at t0. */
	double core_a, grazing;
	bool one_sided;
};
/* 1e-6 m, 64 iterations; the rest off. */
struct impact_options impact_options_default(void);

enum impact_outcome {
	IMPACT_APART,	/* the pieces never touch; `time` is t1 */
	IMPACT_HIT,	/* at `time` the pieces are apart, by at most the tolerance */
	IMPACT_OVERLAP, /* the pieces touch or overlap at t0 */
	IMPACT_LIMIT, /* no answer: the pieces are apart until `time`, by more than the tolerance */
};

struct impact_result {
	enum impact_outcome outcome;
	double time;		   /* in [t0, t1] */
	double distance;	   /* m, between the two pieces at `time` */
	vec3 normal;		   /* unit, A → B, in the frame of the motions; zero if OVERLAP */
	vec3 point_a, point_b;	   /* their nearest points */
	uint32_t child_a, child_b; /* the pieces (of a field: triangles of its surface) */
	uint64_t iterations;	   /* computed distances */
	uint64_t pairs;		   /* pairs of pieces that were searched */
	uint64_t limits;	   /* of these, the pairs that ended in IMPACT_LIMIT */
	bool core;		   /* the hit is that of core_a's ball */
};

/* Both motions must have the same t0 and t1. UNSUPPORTED: plane with plane, a planar with a spatial
 * shape, or a whole heightfield with a plane, mesh or field (none of these moves by itself).
 * NO_MEMORY: only two surfaces, which need trees. Of equally early hits that of the first pieces is
 * returned. */
MUST_CHECK enum status time_of_impact(const struct impact_side *a, const struct impact_side *b,
				      const struct impact_options *options,
				      struct impact_result *out);

#endif
