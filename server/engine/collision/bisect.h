/* bisect.h: the time at which two moving closed meshes begin to overlap (ch1-3 A-18).
 *
 * For bodies of any form that overlap at the end of a motion. The time span is halved until every region of
 * overlap is shallow. The criterion is depth, not distance, because the nearest features of such bodies
 * jump. A collision that ends before t1 is missed; continuous_mesh.h finds those.
 */
#ifndef CAIRN_ENGINE_COLLISION_BISECT_H
#define CAIRN_ENGINE_COLLISION_BISECT_H

#include "server/engine/collision/regions.h"
#include "server/engine/math/interpolate.h"

struct bisect_options {
	double depth;	 /* m ≥ 0: stop when all regions are shallower; 0: no such limit */
	double interval; /* s ≥ 0: stop when the bracket is shorter */
	uint32_t iterations_max; /* > 0 */
};

enum bisect_outcome {
	BISECT_CLEAR,	/* no overlap at t1: no collision found */
	BISECT_OVERLAP, /* overlap already at t0, which is `time` */
	BISECT_HIT,	/* clear at t0, overlap at t1 */
};
enum bisect_reason { BISECT_BY_DEPTH, BISECT_BY_INTERVAL, BISECT_BY_ITERATIONS };

struct bisect_result {
	enum bisect_outcome outcome;
	enum bisect_reason reason; /* HIT: the limit that ended the search */
	double time;		   /* HIT: of the collision, the meshes are clear; CLEAR: t1 */
	double time_overlap;	   /* HIT, OVERLAP: the meshes overlap; the regions' time */
	pose at_a, at_b;	   /* at time_overlap */
	uint32_t iterations;	   /* tested pairs of poses */
};

/* On return *regions has the regions at `time_overlap`, in A's frame at that time (none if CLEAR). Each
 * region is one collision, at its two deepest points. Meshes that touch with depth 0 are clear. Both motions
 * must have the same t0 and t1. A bracket that rounding cannot halve ends as BISECT_BY_INTERVAL. Errors as
 * regions_find. */
MUST_CHECK enum status bisect_meshes(struct regions *regions, const struct mesh *a,
				     const struct motion *motion_a, const struct mesh *b,
				     const struct motion *motion_b,
				     const struct bisect_options *options,
				     struct bisect_result *out);

#endif
