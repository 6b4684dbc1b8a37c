/* joint_turn.h: functions of the rotation between two frames, for the angular rows of joints.
 *
 * R is the rotation of frame b in frame a (columns: b's axes in a's axes), w = w_b − w_a, and all
 * vectors are in a's axes: a vector e fixed in b has e' = w × e, one fixed in a is constant, and
 * without accelerations of the bodies w' = −w_a × w. For a function f: f' = rate · w, and f''
 * without accelerations is its bend.
 *
 * Angles in an order: R = R_first R_middle R_last about the axes p (fixed in a), n and l (fixed in
 * b). Their rates are the reciprocal vectors of (p, n, l), with m = p·l = ± sin(middle):
 *
 *   first    the direction of l about p    (p − m l) · w / (1 − m²)
 *   last     the direction of p about l    (l − m p) · w / (1 − m²)
 *   middle   the angle of p to the plane normal to l    n · w, n = ± l × p / |l × p|
 *
 * The twist is undefined where the swing is half a turn, and changes by any amount near it. Rows
 * that lock or limit it use a function that is regular there (joint_turn_twist_from). So a twist
 * with limits also limits the swing to half a turn.
 *
 * A row that locks angles at 0 needs only a function that is 0 there alone, grows with the angle
 * and has a slope everywhere, so that Newton converges from anywhere: 4 tan(θ/4) of a turn or tilt
 * by θ, 2 tan(θ/2) of the middle angle. They are rational but for one root. (A sine would also be 0
 * at half a turn.)
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_TURN_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_TURN_H

#include "server/engine/math/mat3.h"

struct joint_turn {
	quat turn;	/* R, w ≥ 0 */
	mat3 axes;	/* R */
	vec3 spin;	/* w, 1/s */
	vec3 spin_rate; /* w', 1/s² */
	bool bends;	/* bends are computed */
};

struct joint_angle {
	double value; /* rad, or the function that replaces it */
	vec3 rate;
	double bend; /* 1/s²; 0 unless joint_turn.bends */
};

enum joint_counting {
	JOINT_COUNTS_XYZ, /* the angles of a joint about x, y, z, in this order */
	JOINT_COUNTS_XZY, /* about x, then z, then y: for a z that is locked beside a free y */
	JOINT_COUNTS_YXZ, /* about y, then x, then z: for an x that is locked beside free y and z */
	JOINT_COUNTS_SWING, /* twist about x, the swing of x, and a third rate without a value: the motion of
			       the swing's direction, perpendicular to the first two */
};

/* Angle 0 … 2 (about x, y, z; twist, swing, none) without whole turns, in [−π, π] (twist: [−2π, 2π]). */
double joint_turn_value(const struct joint_turn *self, enum joint_counting counting,
			uint32_t angle);
/* Whether it is surely within `near` rad of 0, without whole turns: false may be wrong, true not. */
bool joint_turn_is_near(const struct joint_turn *self, enum joint_counting counting, uint32_t angle,
			double near);
/* Its rate and bend; value 0. */
struct joint_angle joint_turn_angle(const struct joint_turn *self, enum joint_counting counting,
				    uint32_t angle);

/* 2 cos(σ/2) sin((τ − from)/2) of swing σ and twist τ, in place of τ − from. It is 0 only at τ =
 * from, or at σ = π, where the twist is undefined; its slope is nowhere 0. */
struct joint_angle joint_turn_twist_from(const struct joint_turn *self, double from);

/* 4 tan(θ/4) times the axis of R, along a's axes. */
void joint_turn_weld(const struct joint_turn *self, struct joint_angle out[3]);
/* For axis 0 … 2 of a and the same of b: 4 tan(θ/4) times the axis of the turn from one to the
 * other, along b's two other axes in cyclic order. */
void joint_turn_lean(const struct joint_turn *self, uint32_t axis, struct joint_angle out[2]);
/* Their values alone. */
void joint_turn_weld_values(const struct joint_turn *self, double out[3]);
void joint_turn_lean_values(const struct joint_turn *self, uint32_t axis, double out[2]);
/* 2 tan(θ/2) of the middle angle θ of an order; not for JOINT_COUNTS_SWING. */
struct joint_angle joint_turn_square(const struct joint_turn *self, enum joint_counting counting);

#endif
