/* joint.h: a joint as data, its coordinates, and its rows: a constraint kind (constraint.h).
 *
 * Everything here is a pure function of its arguments: of the joint's data and of two motions. What
 * the types mean is told in types.h (enum joint_type).
 *
 *   frames    A = (anchor a, axes x_a y_a z_a) fixed in body a, B likewise in b; d = p_b − p_a
 *   along     q_k = d · e_k(A), k = 0 … 2: q_k' = (w_a × e_k) · d + e_k · (v_pb − v_pa); J on a has
 *             the arm p_b − r_a, not p_a − r_a (spec ch4-5 J0, slide)
 *   about     R_A⁻¹ R_B = Rx(q₃) Ry(q₄) Rz(q₅): with e₃ = x_a, e₅ = z_b, e₄ = e₅ × e₃ / |e₅ × e₃| (the
 *             y axis between) the rates are the reciprocal vectors of (e₃, e₄, e₅) times w_b − w_a.
 *             At q₄ = ±π/2 they end (gimbal lock): where |cos q₄| < 1e-3 the angles q₃ and q₅ go by
 *             e₃ and e₅ themselves
 *   the same in another order    so that the angle that may not come near ±π/2, which is the middle
 *             one, is one that is locked at 0: where 5 is and 4 is not (a universal always), Rx(q₃)
 *             Rz(q₅) Ry(q₄), about x of a and y of b; where of the three only 3 is, Ry(q₄) Rx(q₃)
 *             Rz(q₅), about y of a and z of b
 *   twist     of a spherical joint: q₃ = 2 atan2(u·x, w) of the quaternion of R_A⁻¹ R_B, with
 *             q₃' = (x_a + x_b) · (w_b − w_a) / (1 + x_a · x_b); x_a where the axes are opposite
 *   swing     q₄ = angle of (x_a, x_b), q₄' = n · (w_b − w_a), n = x_a × x_b normalised (any normal of
 *             x_a where they are parallel)
 *             At q₄ = π there is no twist, and beside it q₃ turns by any amount. Limits of q₃ (and
 *             where it is held) are stated by 2 cos(q₄/2) sin((q₃ − bound)/2), which is near q₃ −
 *             bound where both are small and pulls nowhere harder: a twist that is limited stops
 *             the swing at π, as gently as any limit does
 *   distance  q₀ = |d|, q₀' = d/|d| · (v_pb − v_pa); x_a where d is 0
 *
 * Angles q₃, q₄ (not a swing), q₅ count whole turns: the angle nearest to `angle`, what it was.
 *
 * Angles that are locked at 0 are not measured: their rows state functions with the same zero and,
 * there, the same slope, which are regular far from it (joint_turn.h). All three: 4 tan(θ/4) times
 * the axis of R_A⁻¹ R_B; two: 4 tan(θ/4) times the axis of what leans, e.g. x_b from x_a; one, if it
 * is in the middle of its order: 2 tan(q/2).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_H

#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/mass_operator.h"

/* What an axis may have, and the place of its multiplier: 5 axis + part. */
enum joint_part {
	JOINT_HOLD,  /* locked, or the lower limit */
	JOINT_UPPER, /* the upper limit */
	JOINT_PULL,  /* spring */
	JOINT_DRIVE, /* motor */
	JOINT_RUB,   /* friction */
	JOINT_PARTS,
};
enum { JOINT_MULTIPLIERS = JOINT_AXES * JOINT_PARTS };

/* One axis; fields as the columns of their names (fields.def). */
struct joint_axis {
	uint8_t mode, spring, motor;
	double lower, upper, restitution, friction;
	double stiffness, damping, rest, spring_limit;
	double motor_limit;
	double target,
		rate; /* of the motor, at the time the joint is asked about: a position motor's target
				and how fast it goes; a velocity motor's target is `rate` */
};

struct joint {
	uint8_t type; /* enum joint_type */
	/* m, from the mass centre in body axes; of the world (ROW_NO_BODY): world axes, from its origin. */
	vec3 point_a, point_b;
	quat frame_a, frame_b; /* the joint's axes to the body's */
	struct joint_axis axes[JOINT_AXES];
	double angle[3];	 /* rad, coordinates 3 … 5 as last left */
	struct body_motion a, b; /* where the bodies are; of the world: zero, not turned */
	double multiplier[JOINT_MULTIPLIERS]; /* N·s, N·m·s: of the last tick */
	uint32_t row;			      /* of the joint table */
};

/* What a type says of an axis, before any command: its mode, and whether a command may change it. */
struct joint_axis_kind {
	bool used;    /* it has a coordinate */
	bool told;    /* JOINT_AXIS may speak of it */
	bool locks;   /* JOINT_AXIS may lock it */
	bool limits;  /* it may have a lower limit (else only an upper one) */
	uint8_t mode; /* at first */
};
struct joint_axis_kind joint_axis_kind(enum joint_type type, uint32_t axis);

/* The coordinates (types.h) at two motions; 0 of axes that are not used. */
void joint_coordinates(const struct joint *self, const struct body_motion *a,
		       const struct body_motion *b, double out[JOINT_AXES]);
/* Where an anchor is, world, m. */
vec3 joint_anchor_a(const struct joint *self, const struct body_motion *a);
vec3 joint_anchor_b(const struct joint *self, const struct body_motion *b);

/* How far the joint is from what its locked axes and limits want: the greatest of all along, m, and
 * about, rad (an axis for itself); and how fast it leaves (locked axes; limits that are passed),
 * m/s, rad/s. */
struct joint_error {
	double along, about, along_speed, about_speed;
	uint32_t axis; /* of the greatest of along and about */
};
struct joint_error joint_error(const struct joint *self, const struct body_motion *a,
			       const struct body_motion *b);

/* Moves two bodies so that the joint holds: Newton in the metric of mass (J M⁻¹ Jᵀ μ = −q, a pose
 * change M⁻¹ Jᵀ μ) over the locked axes, then over these and limits that are passed; then velocities
 * by J M⁻¹ Jᵀ P = −J v, over the locked axes and limits that are reached and closing (spec A2, A3).
 * `masses`: of a and b, by slot 0 and 1, as they are turned before; a body that is the world or does
 * not move has none (all zero), and its motion stays. Returns the error that is left; the motions
 * are changed also where it is not small (the caller refuses then). */
struct joint_error joint_project(const struct joint *self, const struct mass_body masses[2],
				 struct body_motion *a, struct body_motion *b);

/* Which multiplier belongs to row i of what constraint_joint writes of the joint, at any level and
 * motions. Returns the number of rows. */
enum { JOINT_ROWS_MAX = JOINT_MULTIPLIERS };
uint32_t joint_places(const struct joint *self, uint8_t places[JOINT_ROWS_MAX]);

/* Of data struct joint. Blocks, in this order:
 *   feature 0               all locked axes, ascending: FREE
 *   1 + 5 axis + part       of each axis, ascending, what it has:
 *     HOLD    lower limit: POSITIVE, gap = q − lower, J = ∂q; restitution of the axis
 *     UPPER   upper limit: POSITIVE, gap = upper − q, J = −∂q
 *     PULL    FREE, ROW_SPRING or ROW_FREQUENCY, gap = q − rest; BOX ± spring_limit where that is not 0
 *     DRIVE   BOX ± motor_limit (± infinity where that is 0); velocity: no gap, wanted = rate;
 *             position: gap = q − target, wanted = rate
 *     RUB     BOX ± friction, wanted 0
 * Equal limits (of what may have a lower one) are a locked axis at that value: gap = q − lower, in
 * block 0. A locked axis has nothing else: its spring, motor and friction are none. What JOINT_AXIS
 * may not speak of is as the type has it, whatever its data say. approach and bias are of both
 * motions, also of a side without a slot. */
extern const struct constraint_kind constraint_joint;

#endif
