/* joint.h: a joint as data, its coordinates, and its rows: a constraint kind (constraint.h).
 *
 * Everything here is a pure function of its arguments: the joint's data and two motions. types.h
 * describes the joint types (enum joint_type).
 *
 *   frames    A = (anchor a, axes x_a y_a z_a) fixed in body a, B likewise in b; d = p_b − p_a
 *   along     q_k = d · e_k(A), k = 0 … 2: q_k' = (w_a × e_k) · d + e_k · (v_pb − v_pa); J on a has
 *             the arm p_b − r_a, not p_a − r_a (spec ch4-5 J0, slide)
 *   about     R_A⁻¹ R_B = Rx(q₃) Ry(q₄) Rz(q₅): with e₃ = x_a, e₅ = z_b, e₄ = e₅ × e₃ / |e₅ × e₃| (the
 *             y axis between) the rates are the reciprocal vectors of (e₃, e₄, e₅) times w_b − w_a.
 *             At q₄ = ±π/2 they are singular (gimbal lock): where |cos q₄| < 1e-3 the rates of q₃ and q₅
 *             use e₃ and e₅ themselves
 *   other orders   make a locked angle the middle one, because the middle one is singular at ±π/2. If q₅
 *             is locked at 0 and q₄ is not (always for a universal joint): Rx(q₃) Rz(q₅) Ry(q₄), about
 *             x of a and y of b. If only q₃ is locked at 0: Ry(q₄) Rx(q₃) Rz(q₅), about y of a and z of b
 *   twist     of a spherical joint: q₃ = 2 atan2(u·x, w) of the quaternion of R_A⁻¹ R_B, with
 *             q₃' = (x_a + x_b) · (w_b − w_a) / (1 + x_a · x_b); x_a where the axes are opposite
 *   swing     q₄ = angle of (x_a, x_b), q₄' = n · (w_b − w_a), n = x_a × x_b normalised (any normal of
 *             x_a where they are parallel)
 *             At q₄ = π the twist is undefined, and near it q₃ changes by any amount. Rows that lock
 *             or limit q₃ use 2 cos(q₄/2) sin((q₃ − bound)/2), which is about q₃ − bound where both
 *             are small and nowhere steeper. So a limited twist also stops the swing at π
 *   distance  q₀ = |d|, q₀' = d/|d| · (v_pb − v_pa); x_a where d is 0
 *
 * Angles q₃, q₄ (except a swing), q₅ count whole turns: the value nearest to `angle`, the previous one.
 *
 * Rows of angles that are locked at 0 use functions with the same zero and the same slope there,
 * which are regular far from it (joint_turn.h). Three locked angles: 4 tan(θ/4) times the axis of
 * R_A⁻¹ R_B. Two: 4 tan(θ/4) times the axis of the turn between the two free axes, e.g. from x_a to
 * x_b. One, if it is the middle one of its order: 2 tan(q/2).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_H

#include "server/base/prefetch.h"
#include "server/engine/dynamics/constraint.h"
#include "server/engine/dynamics/mass_operator.h"

/* Parts of an axis; its multiplier is at index 5 axis + part, a rotor's at 30 + axis. */
enum joint_part {
	JOINT_HOLD,  /* locked, or the lower limit */
	JOINT_UPPER, /* the upper limit */
	JOINT_SPRING,
	JOINT_MOTOR,
	JOINT_FRICTION,
	JOINT_PARTS,
	JOINT_ROTOR = JOINT_PARTS, /* armature; its multipliers are after all others */
};
enum {
	JOINT_MULTIPLIERS = JOINT_AXES * JOINT_PARTS,
	JOINT_PLACES = JOINT_MULTIPLIERS + JOINT_AXES,
};
/* Part and axis of a multiplier. */
static inline uint32_t joint_place_part(uint32_t place)
{
	VALIDATE(place < JOINT_PLACES);
	return place < JOINT_MULTIPLIERS ? place % JOINT_PARTS : JOINT_ROTOR;
}
static inline uint32_t joint_place_axis(uint32_t place)
{
	VALIDATE(place < JOINT_PLACES);
	return place < JOINT_MULTIPLIERS ? place / JOINT_PARTS : place - JOINT_MULTIPLIERS;
}

/* One axis; fields have the meaning and units of the columns of their names (fields.def). */
struct joint_axis {
	uint8_t mode, spring, motor;
	double lower, upper, restitution, friction;
	double stiffness, damping, rest, spring_limit;
	double motor_limit, motor_stiffness, motor_damping;
	double armature; /* kg, kg m² */
	double lag;	 /* m/s, rad/s: of its rotor behind the axis as the tick begins */
	double rotor;	 /* m/s, rad/s: speed of its rotor, which a method sets and follows */
	double target,
		rate; /* of the motor, at the time given to joint_from_tables: a position motor's target and
				its rate of change; a velocity motor's target is `rate`; a force motor's
				is its force */
};

/* Whether the motor of an axis has gains. */
static inline bool joint_axis_is_servo(const struct joint_axis *axis)
{
	return axis->motor_stiffness > 0 || axis->motor_damping > 0;
}

/* The rows of a joint, as its type and its axes define them. */
struct joint_layout {
	uint32_t locked;	   /* bit per axis */
	uint8_t parts[JOINT_AXES]; /* of axes that are not locked: bits of enum joint_part */
	bool rotors;		   /* some axis has one */
	uint8_t fold[3];  /* of a locked angle θ: f if its gap is f tan(θ/f); 0 if it is θ */
	bool angles;	  /* an axis of 3 … 5 is locked or has parts */
	bool known;	  /* of a joint's own: else it is found when it is asked for */
	uint8_t counting; /* enum joint_counting */
	double at[JOINT_AXES]; /* of a locked axis: the value at which it is */
};

struct gear;

struct joint {
	uint8_t type; /* enum joint_type */
	struct joint_layout
		layout; /* of joint_know_layout; the axes do not change after it, but targets */
	/* m, from the mass centre in body axes; for the world: world axes, from the origin. */
	vec3 point_a, point_b;
	quat frame_a, frame_b;	 /* the joint's axes to the body's */
	double angle[3];	 /* rad, coordinates 3 … 5 after the last step */
	struct body_motion a, b; /* motions of the bodies; of the world: zero and the identity */
	uint32_t row;		 /* of the joint table */
	const struct gear
		*gear; /* not NULL: no joint but a gear (gear.h), whose row is its follower's */
	struct joint_axis axes[JOINT_AXES];
	double multiplier[JOINT_PLACES]; /* N·s, N·m·s: of the last tick */
};

/* Loads what all readers of a joint need: all but its axes and multipliers. */
static inline void joint_prefetch(const struct joint *self)
{
	prefetch(self, offsetof(struct joint, axes));
}

/* The rules of a type for an axis: its initial mode, and what commands may change. */
struct joint_axis_kind {
	bool used;     /* it has a coordinate */
	bool settable; /* JOINT_AXIS may change it */
	bool locks;    /* JOINT_AXIS may lock it */
	bool limits;   /* it may have a lower limit (else only an upper one) */
	uint8_t mode;  /* initially */
};
struct joint_axis_kind joint_axis_kind(enum joint_type type, uint32_t axis);

/* Stores the joint's layout, which its rows then read in place of the axes. */
void joint_know_layout(struct joint *self);
/* Takes the armature from all axes: for readers of what holds still. */
void joint_drop_rotors(struct joint *self);

/* The locked axes, bit k for axis k: also those with equal limits. And the value at which one is locked. */
uint32_t joint_locked_axes(const struct joint *self);
double joint_locked_value(const struct joint *self, uint32_t axis);

/* The coordinates (types.h), m and rad, at two motions; 0 for unused axes. */
void joint_coordinates(const struct joint *self, const struct body_motion *a,
		       const struct body_motion *b, double out[JOINT_AXES]);
/* The same, but a locked angle within `near` of its value may be told as this value. */
void joint_coordinates_near(const struct joint *self, const struct body_motion *a,
			    const struct body_motion *b, double near, double out[JOINT_AXES]);
/* The last three of them, and the greatest violation of locked axes and limits (joint_error: m or rad), or
 * `least` if that is more. */
double joint_end(const struct joint *self, const struct body_motion *a, const struct body_motion *b,
		 double least, double angles[3]);
/* N or N·m: what a motor of kind force exerts along (about) an axis, within its limit; 0 of an
 * axis without one, and of a locked axis. */
double joint_axis_force(const struct joint *self, uint32_t axis);
/* J of the coordinate of an axis, on a and on b about their mass centres: on[k] times its force
 * is what its motor exerts on the body. The two are opposite in force and moment. */
void joint_axis_jacobian(const struct joint *self, uint32_t axis, const struct body_motion *a,
			 const struct body_motion *b, struct spatial on[2]);
/* The coordinate of a used axis at two motions: its value, its rate, J' v, and J on a and b. Rates are 0
 * at CONSTRAINT_POSITION, J' v but at CONSTRAINT_ACCELERATION. */
struct joint_axis_motion {
	double value, speed, bend;
	struct spatial on[2];
};
void joint_axis_motion(const struct joint *self, uint32_t axis, const struct body_motion *a,
		       const struct body_motion *b, enum constraint_level level,
		       struct joint_axis_motion *out);
/* Position of an anchor, world, m. */
vec3 joint_anchor_a(const struct joint *self, const struct body_motion *a);
vec3 joint_anchor_b(const struct joint *self, const struct body_motion *b);

/* Violation of locked axes and limits: the largest of any axis along, m, and about, rad; and the
 * largest speed of violation (of locked axes, and of limits that are passed), m/s, rad/s. All ≥ 0. */
struct joint_error {
	double along, about, along_speed, about_speed;
	uint32_t axis; /* with the largest violation */
};
struct joint_error joint_error(const struct joint *self, const struct body_motion *a,
			       const struct body_motion *b);

/* Moves two bodies so that the joint is satisfied: Newton in the metric of mass (J M⁻¹ Jᵀ μ = −q,
 * pose change M⁻¹ Jᵀ μ) over the locked axes, then over these and the limits that are passed; then
 * velocities by J M⁻¹ Jᵀ P = −J v, over the locked axes and the limits that are reached and closing
 * (spec A2, A3). `masses`: of a and b, at their rotations before the call; all zero for the world
 * or a body that does not move, whose motion is unchanged. Returns the remaining error. The motions
 * are changed even if it is not small; the caller then refuses them. */
struct joint_error joint_project(const struct joint *self, const struct mass_body masses[2],
				 struct body_motion *a, struct body_motion *b);

/* Sets places[i] to the index of the stored multiplier that belongs to row i of this joint's rows (see
 * constraint_joint). It is the same for position, velocity and acceleration rows, and for every
 * configuration. Returns the number of rows. */
enum { JOINT_ROWS_MAX = JOINT_PLACES };
uint32_t joint_places(const struct joint *self, uint8_t places[JOINT_ROWS_MAX]);

/* A row of a joint, without what it may exert: J on both bodies, and numbers as those of constraint_row,
 * of which rows above its level have 0. */
struct measured_row {
	struct spatial on_a, on_b;
	double gap, approach, bias;
};
/* The rows at two motions, in the order of joint_places: what constraint_joint makes rows of. */
void joint_measure(const struct joint *self, const struct body_motion *a,
		   const struct body_motion *b, enum constraint_level level,
		   struct measured_row *rows);

/* What the row of a multiplier, not of a locked axis, may exert: fields as in constraint_row, and the
 * restitution of its block. */
struct joint_law {
	double wanted, lower, upper, stiffness, damping, restitution;
	uint8_t set, softness;
};
struct joint_law joint_row_law(const struct joint *self, uint32_t place);

/* Kind with data struct joint. Blocks, in this order:
 *   feature 0               all locked axes, ascending: FREE
 *   1 + 5 axis + part       the parts of each axis, ascending:
 *     HOLD    lower limit: POSITIVE, gap = q − lower, J = ∂q; restitution of the axis
 *     UPPER   upper limit: POSITIVE, gap = upper − q, J = −∂q
 *     SPRING  FREE, ROW_SPRING or ROW_FREQUENCY, gap = q − rest; BOX ± spring_limit where that is not 0
 *     MOTOR   BOX ± motor_limit (± infinity where that is 0); velocity: no gap, wanted = rate;
 *             position: gap = q − target, wanted = rate; with gains ROW_SPRING, its damping against
 *             q' − wanted; none of a motor of kind force, whose force is given (joint_torque.h)
 *     FRICTION  BOX ± friction, wanted 0
 *   1 + 30 + axis   rotors of axes with armature, ascending: FREE, ROW_ROTOR, gap = q, wanted = rotor
 * An axis with equal limits (if it may have a lower one) is locked at that value: gap = q − lower, in
 * block 0. A locked axis has no other part: its spring, motor and friction are ignored. An axis that
 * JOINT_AXIS may not change is as its type defines it, whatever its data are. approach and bias are
 * of both motions, also of a body without a slot. */
extern const struct constraint_kind constraint_joint;

#endif
