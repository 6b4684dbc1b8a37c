/* swept_ball.h: the first contact of a ball in straight motion with a shape at rest (ch1-3 P-19, P-54).
 *
 * Spheres, capsules, boxes, planes and polygons are searched by Newton's method on the gap, which is
 * exact for a face and never passes the contact, because the tangent plane at the nearest point of a
 * convex shape separates it from the ball. Other kinds are cast (placed.h), within SWEEP_TOLERANCE. */
#ifndef CAIRN_ENGINE_COLLISION_SWEPT_BALL_H
#define CAIRN_ENGINE_COLLISION_SWEPT_BALL_H

#include "server/engine/geometry/shape.h"

struct swept_hit {
	double fraction; /* of the way, in [0, limit]; apart until there */
	vec3 normal;	 /* unit, out of the shape, world */
	double depth;	 /* m: how deep the ball is in the shape at the start; then fraction is 0 */
};

/* m: a ball that is nearer touches. */
#define SWEPT_BALL_TOLERANCE 1e-10
/* A ball that touches hits only if its way goes into the shape by more than this part of its length,
 * so that one that slides along a face is not stopped by rounding; one whose centre is inside always
 * hits (ch1-3 P-23). */
#define SWEPT_BALL_GRAZING 1e-9

/* The centre goes from `from` to from + way. Given by address: vectors that are copied to a call just
 * after they were computed are written in numbers and read in pairs, for which a processor waits. */
struct ball_path {
	vec3 from, way;
	double radius; /* m, ≥ 0 */
};

/* Searches the part of the path up to `limit`. False, and *hit unchanged: they do not meet, or the ball
 * touches at the start, with its centre outside, and goes along the surface or away from it. */
bool swept_ball(const struct shape *shape, const pose *at, const struct ball_path *path,
		double limit, struct swept_hit *hit);

#endif
