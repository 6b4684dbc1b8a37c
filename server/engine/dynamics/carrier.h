/* carrier.h: bodies that points carry: polygons of frameworks (papers, §8.1-8.2).
 *
 * A carried body has no motion of its own. Its rotation is the one that brings its anchors nearest to
 * its points in the sum of squares, and its mass centre follows from their mean; its velocities are
 * the derivative of that. What touches it therefore pushes its points: a row J of the body is the row
 * J G of the points, with G from their velocities to the body's. Its own mass does not count, because
 * the points have it, and no force acts on it.
 *
 * Only in planar worlds. All of it is O(points of a body), at most CARRIER_POINTS.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_CARRIER_H
#define CAIRN_ENGINE_DYNAMICS_CARRIER_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/row.h"

enum { CARRIER_POINTS = 4 };

/* m: points that lie nearer to their mean (root of the sum of squares) tell no direction. */
#define CARRIER_SPREAD_MIN 1e-6

/* Places of the points in a body, in its axes. */
struct carrier_frame {
	vec3 middle;		   /* m: the mean of the anchors, from the mass centre */
	vec3 spot[CARRIER_POINTS]; /* m: the anchors, from `middle` */
	double spread;		   /* m²: sum of their squares, above 0 */
	uint32_t count;		   /* 2 … CARRIER_POINTS */
};

/* The carrier row of a body row; DYNAMICS_NONE: no points carry it. */
static inline uint32_t carrier_of(const struct tables *tables, uint32_t body)
{
	VALIDATE(body < tables->body.count);
	return tables->body.carrier[body] - 1;
}
/* Whether the body in this row is a point of some carrier. */
static inline bool carrier_is_point(const struct tables *tables, uint32_t body)
{
	VALIDATE(body < tables->body.count);
	return tables->body.first_carried[body] != 0;
}
/* Row of the k-th point of a carrier row; DYNAMICS_NONE: it has fewer. */
static inline uint32_t carrier_point(const struct tables *tables, uint32_t row, uint32_t k)
{
	VALIDATE(row < tables->carrier.count && k < CARRIER_POINTS);
	return tables->carrier.point[row][k] - 1;
}

struct carrier_frame carrier_frame_of(const struct tables *tables, uint32_t row);
/* The pose and the velocities of a body whose points have these motions; `last`: its motion before, of
 * which the rotation is kept where the points tell none. */
struct body_motion carrier_place(const struct carrier_frame *frame,
				 const struct body_motion *points, const struct body_motion *last);
/* The velocities of the body (or accelerations, of points at rest) with this rotation whose points have
 * these; linear in them. */
struct spatial carrier_speed(const struct carrier_frame *frame, quat rotation, const vec3 *points);
/* J on the k-th point, of a row whose part on the body, with this rotation, is `on`. */
struct spatial carrier_part(const struct carrier_frame *frame, quat rotation, struct spatial on,
			    uint32_t k);
/* m: the largest distance of a point from its place, by the tables. */
double carrier_off(const struct dynamics *self, uint32_t row);

/* Room for `carriers` further rows. NO_MEMORY. */
MUST_CHECK enum status dynamics_carrier_reserve(struct dynamics *self, uint32_t carriers);
/* These `count` points (rows) carry the body from now on, at the places where they are; others that
 * carried it do not any more. It gets their velocity. Wakes all. Within the reserved room. */
void dynamics_carry(struct dynamics *self, uint32_t body, const uint32_t *points, uint32_t count);
/* No points carry the body any more. No effect on one that none carry. Wakes it. */
void dynamics_uncarry(struct dynamics *self, uint32_t body);
/* Ends every carrier in which the body takes part, as the body or as a point. */
void dynamics_carriers_drop(struct dynamics *self, uint32_t body);
/* Puts the bodies that this point carries where their points are, after a command moved it. */
void dynamics_carried_follow(struct dynamics *self, uint32_t point);

#endif
