/* bisect.h: back in time to where two closed meshes begin to overlap (ch1-3 A-18).
 *
 * For bodies of any form, which overlap at the end of a motion: halves the time until nothing is deep any
 * more. Depth is looked at and not distance, because nearest features of such bodies jump. A collision that
 * is over before the end of the motion is not seen: that is continuous_mesh.h's.
 */
#ifndef CAIRN_ENGINE_COLLISION_BISECT_H
#define CAIRN_ENGINE_COLLISION_BISECT_H

#include "server/engine/collision/regions.h"
#include "server/engine/math/interpolate.h"

struct bisect_options {
	double depth; /* m ≥ 0: stop when all regions are less deep; 0: never for this reason */
	double interval;	 /* s ≥ 0: stop when the bracket is shorter */
	uint32_t iterations_max; /* > 0 */
};

enum bisect_outcome {
	BISECT_CLEAR,	/* no overlap at the end: no collision found */
	BISECT_OVERLAP, /* they overlap at the start: time is t0 */
	BISECT_HIT,
};
enum bisect_reason { BISECT_BY_DEPTH, BISECT_BY_INTERVAL, BISECT_BY_ITERATIONS };

struct bisect_result {
	enum bisect_outcome outcome;
	enum bisect_reason reason; /* of a HIT: why it stopped */
	double time;		   /* they are clear: the collision's (CLEAR: t1) */
	double time_overlap;	   /* they overlap: that of the regions */
	pose at_a, at_b;	   /* at time_overlap */
	uint32_t iterations;	   /* poses looked at */
};

/* Regions are those at `time_overlap`, in A's frame there: one collision each, at its two deepest points;
 * none when CLEAR. Only what has depth counts: touching is clear. Both motions must have the same t0 and t1.
 * Errors as regions_find; a pose that rounding cannot halve any more ends like a short interval. */
MUST_CHECK enum status bisect_meshes(struct regions *regions, const struct mesh *a,
				     const struct motion *motion_a, const struct mesh *b,
				     const struct motion *motion_b,
				     const struct bisect_options *options,
				     struct bisect_result *out);

#endif
