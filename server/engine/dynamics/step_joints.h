/* step_joints.h: the joints that act in a step: their data, and the storage of their results.
 *
 * A joint acts if neither of its bodies is inactive and one of them takes part as a dynamic body.
 * Joints are in the order of their rows, so the list is a function of the tables.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_STEP_JOINTS_H
#define CAIRN_ENGINE_DYNAMICS_STEP_JOINTS_H

#include "server/engine/dynamics/gear.h"
#include "server/engine/dynamics/joint.h"
#include "server/engine/dynamics/step.h"

/* N·s, N·m·s. A larger multiplier counts as a failed solution and is not stored. Far above the load
 * of any joint of the heaviest bodies, and far below overflow in the next solve. */
#define JOINT_MULTIPLIER_MAX 1e30

/* The data of a row of the joint table, with the motors' targets at `time` s from the tick's
 * start; all but the motions. */
void joint_data_from_tables(const struct tables *tables, uint32_t row, double time,
			    struct joint *out);
/* The same, with the motions in the tables and the motors' targets at
 * `time` s from the tick's start. */
void joint_from_tables(const struct dynamics *dynamics, uint32_t row, double time,
		       struct joint *out);

/* A joint's rows at the motions in the tables, stated for positions; without rotors, which exert nothing
 * at rest. Not to be copied: lists point inside. */
struct joint_standing {
	struct joint joint;
	uint32_t ends
		[2]; /* rows of its bodies, by the slots of the parts; DYNAMICS_NONE: the world */
	uint32_t count;
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[1 + JOINT_ROWS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
};
void joint_standing_rows(const struct dynamics *dynamics, uint32_t row, struct joint_standing *out);

struct step_joints {
	struct joint *joints; /* in the step's scratch */
	struct constraint
		*constraints; /* of the kind constraint_joint, source = row of the joint table, data
					   the joint; slots of the bodies, ROW_NO_BODY for the world and for
					   what does not take part (its motion is in the data) */
	uint32_t count;
	/* The last of them are gears (gear.h). The constraint of a gear is of the kind constraint_gear,
	 * between a body that its follower moves and one that its leader moves; ROW_NO_BODY where it
	 * moves none, or no other. All further bodies that it moves are linked to these by their joints. */
	uint32_t gears;
	/* NULL: all joints; else those that are stored, by their number in `joints`. No gears. */
	const uint32_t *order;
};

/* The gear of an axis of the follower in a row, with the motions in the tables and the targets at `time`
 * s from the tick's start; all but the slots. */
void gear_from_tables(const struct dynamics *dynamics, uint32_t row, uint32_t axis, double time,
		      struct gear *out);
/* That gear at the tick's start, and its row (values and J) at the motions in the tables. */
void gear_row_from_tables(const struct dynamics *dynamics, uint32_t row, uint32_t axis,
			  struct gear *gear, struct gear_row *out);

/* After step_number. Motors' targets are those at `time` seconds from the tick's start. NO_MEMORY:
 * nothing changed. */
MUST_CHECK enum status step_joints_make(struct step *self, double time, struct step_joints *out,
					struct reason *why);
/* The targets of motors at another time within the tick. */
void step_joints_at(const struct step *self, struct step_joints *joints, double time);

/* A method's result for a joint. */
struct joint_result {
	double multiplier[JOINT_PLACES]; /* N·s, N·m·s over the tick, by 5 axis + part */
	struct spatial
		on_b; /* N·s, N·m·s over the tick, about b's mass centre (of the world: its origin), of
				all its rows on b */
	vec3 point; /* m, world: where b's anchor was while it acted; the torque is about it */
	bool lags;  /* its rotors need not have the speeds of their axes, but those of `rotor` */
	double rotor[JOINT_AXES]; /* m/s, rad/s */
};
/* Stores results[i] for joints[i] (joints[order[i]]), after step_store_all: multipliers, force and
 * torque (mean over the tick), and angles at the motions in the tables. A joint whose load is above
 * its limit breaks: an event, and its row is freed. */
void step_joints_store(struct step *self, const struct step_joints *all,
		       const struct joint_result *results);

#endif
