/* joint_turn.h: functions of how one frame is turned against another, for the angular rows of
 * joints.
 *
 * With R the frame b seen from a (columns: its axes along a's axes) and w = w_b − w_a, everything
 * is along a's axes: a vector e fixed in b goes with e' = w × e, one of a stays, and with neither
 * body accelerated w' = −w_a × w. Of a function f: f' = rate · w, and f'' is then its bend.
 *
 * Angles by an order: R = R_first R_middle R_last, whose axes are p of a, n, l of b. By the
 * reciprocal vectors of (p, n, l), with m = p·l = ± sin(middle):
 *
 *   first    the direction of l about p    (p − m l) · w / (1 − m²)
 *   last     the direction of p about l    (l − m p) · w / (1 − m²)
 *   middle   how far p leans from the plane across l    n · w, n = ± l × p / |l × p|
 *
 * Twist is not to be seen where the swing is half a turn, and turns by any amount beside it. What
 * holds or limits it is stated by a function that ends there (joint_turn_twist_from), so that it
 * pulls no harder there than elsewhere. A twist that has limits so limits swing to half a turn.
 *
 * What holds angles at 0 needs no angle, only a function that is 0 there alone, grows with the
 * angle and has a slope everywhere, so that Newton finds back from anywhere: 4 tan(θ/4) of a turn
 * or a lean by θ, 2 tan(θ/2) of the middle angle, which are rational but for one root. (A sine
 * would be satisfied by what stands upside down.)
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_TURN_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_TURN_H

#include "server/engine/math/mat3.h"

struct joint_turn {
	quat turn;	/* R, w ≥ 0 */
	mat3 axes;	/* R */
	vec3 spin;	/* w, 1/s */
	vec3 spin_rate; /* w', 1/s² */
	bool bends;	/* bends are asked for */
};

struct joint_angle {
	double value; /* rad, or what stands for it */
	vec3 rate;
	double bend; /* 0 unless asked for */
};

enum joint_counting {
	JOINT_COUNTS_XYZ, /* the angles of a joint about x, y, z, in this order */
	JOINT_COUNTS_XZY, /* about x, then z, then y: for a z that is locked beside a free y */
	JOINT_COUNTS_YXZ, /* about y, then x, then z: for an x that is locked beside free y and z */
	JOINT_COUNTS_SWING, /* twist about x, the swing of x, and a rate alone: about what is across the
			       axes of both, so that the swing goes round */
};

/* Angle 0 … 2 (about x, y, z; twist, swing, none) without whole turns, in [−π, π] (twist: [−2π, 2π]). */
double joint_turn_value(const struct joint_turn *self, enum joint_counting counting,
			uint32_t angle);
/* Its rate and bend; value 0. */
struct joint_angle joint_turn_angle(const struct joint_turn *self, enum joint_counting counting,
				    uint32_t angle);

/* 2 cos(σ/2) sin((τ − from)/2) of swing σ and twist τ: what stands for a twist from `from` on. It is 0
 * there alone (or half a turn of swing away, where there is no twist), and has a slope everywhere. */
struct joint_angle joint_turn_twist_from(const struct joint_turn *self, double from);

/* 4 tan(θ/4) times the axis of R, along a's axes. */
void joint_turn_weld(const struct joint_turn *self, struct joint_angle out[3]);
/* Of axis 0 … 2 of a and the same of b: 4 tan(θ/4) times the axis of what turns the one into the
 * other, along b's two other axes in cyclic order. */
void joint_turn_lean(const struct joint_turn *self, uint32_t axis, struct joint_angle out[2]);
/* 2 tan(θ/2) of the middle angle θ of an order. */
struct joint_angle joint_turn_square(const struct joint_turn *self, enum joint_counting counting);

#endif
