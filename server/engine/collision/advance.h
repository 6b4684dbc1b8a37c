/* advance.h: when two convex pieces in motion first touch (app H, ch1-3 ).
 *
 * Both move at constant velocity and turn at constant rate over the same time (math/interpolate.h). The
 * answer is proved: at every earlier time the pieces are apart.
 */
#ifndef CAIRN_ENGINE_COLLISION_ADVANCE_H
#define CAIRN_ENGINE_COLLISION_ADVANCE_H

#include "server/engine/collision/gjk.h"
#include "server/engine/math/interpolate.h"

struct advance_body {
	struct gjk_core core; /* in the frame that moves */
	double reach; /* m: no point of the surface is farther from the origin of that frame */
	const struct motion *motion; /* borrowed */
};

/* Of any convex kind, or of a mesh's triangle (not of a plane). `room` must live as long as the result. A
 * body should turn about a point near its middle: steps are as short as `reach` is long. */
struct advance_body advance_body_of(const struct shape *shape, uint32_t child,
				    const struct motion *motion, struct gjk_points *room);

struct advance_options {
	double tolerance;	 /* m > 0: nearer than this is touching */
	uint32_t iterations_max; /* > 0 */
};

enum advance_outcome {
	ADVANCE_APART,	 /* they do not touch in the whole time; `time` is its end */
	ADVANCE_HIT,	 /* at `time` they are apart, by at most the tolerance */
	ADVANCE_OVERLAP, /* they touch or overlap at the start */
	ADVANCE_LIMIT,	 /* given up: they are apart until `time`, and not yet near */
};

struct advance_result {
	enum advance_outcome outcome;
	double time;	       /* in [t0, t1] */
	double distance;       /* m, between the surfaces at `time`; APART: when last looked at */
	vec3 normal;	       /* unit, A → B; of an overlap zero */
	vec3 point_a, point_b; /* nearest points of the surfaces; as above, in the motions' frame */
	uint32_t iterations;   /* distances asked for */
	struct gjk_simplex simplex; /* for the next search of this pair */
};

/* Both motions must have the same t0 and t1. `start` as in gjk_distance, may be NULL. Allocates
 * nothing. */
void advance_convex(const struct advance_body *a, const struct advance_body *b,
		    const struct advance_options *options, const struct gjk_simplex *start,
		    struct advance_result *out);

#endif
