/* robot_work.h: bodies of a world that joints link, with their forest (engine/articulated/): what the
 * questions about robots have in common.
 *
 * One work answers for any number of robots, one after another; each costs O(its bodies and joints).
 */
#ifndef CAIRN_ENGINE_WORLD_ROBOT_WORK_H
#define CAIRN_ENGINE_WORLD_ROBOT_WORK_H

#include "server/engine/articulated/closure.h"
#include "server/engine/dynamics/force.h"
#include "server/engine/world/world.h"

struct robot_work {
	const struct world *world; /* borrowed */
	const struct tables *tables;
	/* Owned; as long as the world's tables. */
	uint32_t *rows;	      /* of its bodies, ascending */
	uint32_t *index;      /* by row of the body table; ARTICULATION_NONE: another body */
	uint32_t *joint_rows; /* ascending */
	uint32_t *order;      /* scratch of sorting */
	/* Owned; of one robot. */
	struct body_motion *motions;
	struct mass_body *masses;
	struct articulation_joint *joints;
	struct force_sum *sums;
	struct spatial *loads; /* by link: gravity, drives and fields */
	struct gear *gears;    /* slots are bodies of the robot */
	uint32_t count, joint_count, gear_count;
	struct articulation tree;
	struct tree_dynamics dynamics;
	struct closures closures;
	struct reason *why; /* borrowed */
};

/* NO_MEMORY. Release it in any case. */
MUST_CHECK enum status robot_work_init(struct robot_work *self, const struct world *world,
				       struct reason *why);
void robot_work_release(struct robot_work *self);
/* The robot of a body (0: all dynamic bodies) in place of the one before; `still`: as if neither its
 * bodies nor those on which it hangs moved. UNKNOWN_BODY; RANGE: not dynamic; LIMIT; UNSUPPORTED:
 * locks; NO_MEMORY. */
MUST_CHECK enum status robot_work_open(struct robot_work *self, body_id body, bool still);

#endif
