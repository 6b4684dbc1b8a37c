/* advance.h: the time at which two moving convex pieces first touch (app H, ch1-3 ).
 *
 * Both pieces move at constant velocity and turn at constant rate over the same time span
 * (math/interpolate.h). The result is proved: at every earlier time the pieces are separated.
 */
#ifndef CAIRN_ENGINE_COLLISION_ADVANCE_H
#define CAIRN_ENGINE_COLLISION_ADVANCE_H

#include "server/engine/collision/gjk.h"
#include "server/engine/math/interpolate.h"

struct advance_body {
	struct gjk_core core; /* in the frame that moves */
	double reach; /* m: radius around the origin of that frame that contains the surface */
	const struct motion *motion; /* borrowed */
};

/* The shape is of any convex kind or a mesh, whose triangle is `child`; a plane is not allowed. `room`
 * stores the points of pieces that have none and must live as long as the result. The body should turn
 * about a point near its middle, because the length of a step is inversely proportional to `reach`. */
struct advance_body advance_body_of(const struct shape *shape, uint32_t child,
				    const struct motion *motion, struct gjk_points *room);

struct advance_options {
	double tolerance;	 /* m > 0: pieces nearer than this touch */
	uint32_t iterations_max; /* > 0 */
};

enum advance_outcome {
	ADVANCE_APART,	 /* the pieces never touch; `time` is t1 */
	ADVANCE_HIT,	 /* at `time` the pieces are separated by at most the tolerance */
	ADVANCE_OVERLAP, /* the pieces touch or overlap at t0 */
	ADVANCE_LIMIT, /* no answer: they are separated until `time`, by more than the tolerance */
};

struct advance_result {
	enum advance_outcome outcome;
	double time;	       /* in [t0, t1] */
	double distance;       /* m, between the surfaces at `time`; APART: at the last step */
	vec3 normal;	       /* unit, A → B; zero if OVERLAP */
	vec3 point_a, point_b; /* nearest points of the surfaces, in the frame of the motions */
	uint32_t iterations;   /* computed distances */
	struct gjk_simplex simplex; /* warm start for the next search of this pair */
};

/* Separation of two pieces along a unit axis from A to B at the given poses, m; negative: they overlap on
 * it. */
double advance_apart_along(const struct advance_body *a, const struct advance_body *b, pose at_a,
			   pose at_b, vec3 axis);

/* Both motions must have the same t0 and t1. `start`: a warm start as in gjk_distance, or NULL. Allocates
 * nothing. */
void advance_convex(const struct advance_body *a, const struct advance_body *b,
		    const struct advance_options *options, const struct gjk_simplex *start,
		    struct advance_result *out);

#endif
