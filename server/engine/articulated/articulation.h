/* articulation.h: bodies and joints as a forest in reduced coordinates.
 *
 * Bodies are links. A link hangs on its parent, or on the ground, by one joint; a link without one is a
 * floating base. The velocity of a link is that of its mass centre and its spin, world axes (row.h):
 *
 *   v = X v_parent + Σ S_k q'_k          X v = (v + w × arm, w), arm = from the parent's centre
 *   a = X a_parent + Σ S_k q''_k + c     c: the bias, the part that the velocities cause
 *
 * The axes S_k of a joint are those that it does not lock: slides along the axes of its frame on a, then
 * turns in the order in which they follow each other from a to b. Three free turns are a ball, whose
 * velocity is the spin of b against a in a's axes, so that it is singular nowhere. If the parent is body
 * b, the order is the reverse and all axes change their sign, so a coordinate keeps its meaning.
 *
 *   q    of an axis its coordinate (joint.h), m or rad; of a ball the quaternion of the turn from a to b;
 *        of a floating base the mass centre and the rotation
 *   q'   one number for each axis: of a ball the spin of b against a, in a's axes; of a floating base the
 *        velocity of the mass centre and the spin, world axes
 *
 * A rotor with armature a that turns with an axis has the energy ½ a q'²: it adds a to that axis' entry
 * of M. Of a ball, whose rates are not those of its joint's angles q = J(v), it adds a Jᵀ J, and a Jᵀ J' v
 * to b. Armature of a joint that is no edge of the forest is refused.
 *
 * Joints that a forest cannot contain are closures, which are rows (closure.h): the second way between
 * two bodies, distances, and joints that leave all axes or a twist or swing alone free.
 *
 * In a planar world axes that leave the plane are left out. A body with other locks has no reduced
 * coordinates.
 *
 *   Invariant 1: a link comes after its parent.
 *   Invariant 2: the axes of a link are consecutive, and come after those of its parent.
 *
 * Everything is a function of the arrays given, in a fixed order, and costs O(links + axes).
 */
#ifndef CAIRN_ENGINE_ARTICULATED_ARTICULATION_H
#define CAIRN_ENGINE_ARTICULATED_ARTICULATION_H

#include "server/base/status.h"
#include "server/engine/dynamics/joint.h"

/* In place of a link: the ground, which no force moves. In place of a joint: there is none. */
#define ARTICULATION_NONE UINT32_MAX

enum { ARTICULATION_AXES_MAX = 6 }; /* of a link */

/* A joint between two bodies by index; ARTICULATION_NONE: the ground, whose motion is in the joint. */
struct articulation_joint {
	struct joint joint;
	uint32_t body[2];
};

struct articulation_source {
	const struct body_motion *motions; /* borrowed, as all are; by body */
	const struct mass_body *masses;
	const struct articulation_joint *joints;
	uint32_t body_count, joint_count;
};

enum articulation_link_kind {
	ARTICULATION_BASE, /* floating */
	ARTICULATION_AXES, /* a joint whose axes have a coordinate each */
	ARTICULATION_BALL, /* slides, then a ball */
};

struct articulation_link {
	uint32_t body;			     /* of the source */
	uint32_t parent;		     /* a link, or ARTICULATION_NONE */
	uint32_t joint;			     /* of the source, or ARTICULATION_NONE */
	uint32_t first, count;		     /* its axes */
	uint8_t kind;			     /* enum articulation_link_kind */
	bool reversed;			     /* its body is the joint's a */
	uint8_t axis[ARTICULATION_AXES_MAX]; /* of the joint, or of the world (a base) */
	double mass;
	sym3 inertia; /* about the mass centre, world axes */
	vec3 centre, arm;
	struct spatial velocity; /* of the coordinates */
	struct spatial bias;	 /* with that of the ground's motion */
};

struct articulation {
	struct articulation_source source;
	struct articulation_link *links; /* owned, as all below are */
	struct spatial *axes;
	double *rates; /* q', by axis */
	/* Of rotors (joint.h): what they add to M within a link, ARTICULATION_AXES_MAX an axis, the
	 * lower half row by row; and to b, by axis. NULL: there are none. */
	double *armature, *rotor_bias;
	uint32_t *link_of;  /* by body */
	uint32_t *closures; /* joints of the source, ascending */
	uint32_t link_count, axis_count, closure_count;
};

/* The forest of the source, which must outlive it; release it in any case. UNSUPPORTED: locks, or armature
 * of a closure.
 * NO_MEMORY. `why` names a body by its index in `position`. */
MUST_CHECK enum status articulation_make(struct articulation *self,
					 const struct articulation_source *source,
					 struct reason *why);
void articulation_release(struct articulation *self);

/* The number of q, and all of them. */
uint32_t articulation_coordinate_count(const struct articulation *self);
void articulation_coordinates(const struct articulation *self, double *q);

#endif
