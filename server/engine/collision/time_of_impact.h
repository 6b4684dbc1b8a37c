/* time_of_impact.h: the first contact of two pieces of any kinds over given motions.
 *
 * Used by methods that stop fast bodies and by methods that go from event to event. Guarantee: at every
 * earlier time the pieces are apart, and at a HIT they are apart by at most the tolerance. A search that
 * reaches its iteration limit returns the time until which they are apart (LIMIT) and is counted.
 *
 *   convex, triangle, part of a solid      conservative advancement (advance.h); balls on straight ways by
 *                                          their equation (continuous_sphere.h)
 *   with a plane                           advancement along the plane's normal, also of one that turns
 *   with a whole mesh, or a field          the triangles of its surface that the way may meet, the same
 *                                          way; of a field, whether one begins inside the other
 *   mesh or field with mesh or field       continuous_mesh.h
 */
#ifndef CAIRN_ENGINE_COLLISION_TIME_OF_IMPACT_H
#define CAIRN_ENGINE_COLLISION_TIME_OF_IMPACT_H

#include "server/engine/collision/manifold.h"
#include "server/engine/math/interpolate.h"

/* As a piece's child: all pieces of the shape. Of a field any child means all. */
#define IMPACT_WHOLE UINT32_MAX

struct impact_side {
	struct piece piece;
	/* The shape in the frame that moves: a body turns about its mass centre, which is where
	 * that frame has its origin. */
	pose in_frame;
	const struct motion *motion; /* of the frame, borrowed */
};

struct impact_options {
	double tolerance;	 /* m > 0: pieces that are nearer count as touching */
	uint32_t iterations_max; /* > 0, of each pair of pieces */
};
/* 1e-6 m, 64 iterations. */
struct impact_options impact_options_default(void);

enum impact_outcome {
	IMPACT_APART,	/* they do not touch in the whole time; `time` is its end */
	IMPACT_HIT,	/* at `time` they are apart, by at most the tolerance */
	IMPACT_OVERLAP, /* they touch or overlap at the start */
	IMPACT_LIMIT,	/* given up: apart until `time`, and not yet near */
};

struct impact_result {
	enum impact_outcome outcome;
	double time;	       /* in [t0, t1] */
	double distance;       /* m, between the two pieces at `time` */
	vec3 normal;	       /* unit, A → B, in the frame of the motions; zero of an overlap */
	vec3 point_a, point_b; /* their nearest points */
	uint32_t child_a, child_b; /* which pieces (of a field: triangles of its surface) */
	uint64_t looks;		   /* distances computed */
	uint64_t pairs;		   /* of pieces searched */
	uint64_t limits; /* of them: those where nothing could be promised beyond some time */
};

/* Both motions have the same t0 and t1. UNSUPPORTED: plane with plane, planar with spatial.
 * NO_MEMORY: two surfaces, for which trees are made. Of equally early hits that of the first pieces
 * counts. */
MUST_CHECK enum status time_of_impact(const struct impact_side *a, const struct impact_side *b,
				      const struct impact_options *options,
				      struct impact_result *out);

#endif
