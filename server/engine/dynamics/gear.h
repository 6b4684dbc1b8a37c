/* gear.h: gears: the coordinate of one axis of a joint follows that of another axis,
 *
 *   q_f = ratio q_l + offset
 *
 * The two axes are of two joints, or of one (a screw: its turn and its slide). A gear is one row, whose
 * J is ∂q_f − ratio ∂q_l, so it acts on up to four bodies: with λ along the follower's axis and −ratio λ
 * along the leader's. Those are equal and opposite in power, and each is a force and its reaction at the
 * two bodies of its joint, so a gear does no work and changes no momentum.
 *
 * In the list of a step's joints (step_joints.h) a gear is an entry after all joints, with one locked row
 * at place 0. Its constraint has the kind constraint_gear.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_GEAR_H
#define CAIRN_ENGINE_DYNAMICS_GEAR_H

#include "server/engine/dynamics/joint.h"

enum gear_end { GEAR_FOLLOWER, GEAR_LEADER, GEAR_ENDS };

struct gear {
	struct joint joints[GEAR_ENDS]; /* with the motions of their bodies */
	/* Of bodies a and b of each joint; ROW_NO_BODY: its motion is the joint's data. */
	uint32_t slots[GEAR_ENDS][2];
	uint32_t axis[GEAR_ENDS];
	double ratio;  /* (m, rad) / (m, rad) */
	double offset; /* m, rad */
};

/* A row of the gear at the given motions: of bodies a and b of each joint. */
struct gear_row {
	double gap;   /* m, rad: q_f − ratio q_l − offset */
	double speed; /* its rate */
	double bend;  /* J' v; only at CONSTRAINT_ACCELERATION */
	struct spatial on[GEAR_ENDS][2];
};
void gear_row_at(const struct gear *self, const struct body_motion *const motions[GEAR_ENDS][2],
		 enum constraint_level level, struct gear_row *out);

/* The gear as an entry of a step's joints; `self` is borrowed. */
struct joint gear_entry(const struct gear *self, uint32_t row, double multiplier);

/* Kind whose data is a struct joint of gear_entry. One block of feature 0 with one row, ROW_FREE. Motions
 * are those of constraint_options.motions by slot; NULL: those in the data. */
extern const struct constraint_kind constraint_gear;

#endif
