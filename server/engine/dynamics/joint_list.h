/* joint_list.h: rows of joints, and the list of joints of each body.
 *
 * Each end of a joint is in the list of its body: end 2r is that of row r at body a, 2r + 1 at b.
 * The lists are columns (body.first_joint, joint.next, joint.previous), so adding and removing a
 * joint cost O(1) however many joints a body has. An end at the world is in no list.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_LIST_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_LIST_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/row.h"

/* Ends of a body: for (e = joint_first(…); e != DYNAMICS_NONE; e = joint_next(…)). */
static inline uint32_t joint_first(const struct tables *tables, uint32_t body)
{
	return tables->body.first_joint[body] - 1;
}
static inline uint32_t joint_next(const struct tables *tables, uint32_t end)
{
	return tables->joint.next[end / 2][end % 2] - 1;
}
/* Row of the body at an end, or at the other end of it; DYNAMICS_NONE for the world. */
static inline uint32_t joint_body(const struct tables *tables, uint32_t row, uint32_t side)
{
	return tables->joint.body[row][side] - 1;
}
static inline uint32_t joint_other(const struct tables *tables, uint32_t end)
{
	return joint_body(tables, end / 2, 1 - end % 2);
}

/* True if neither of its bodies is inactive; a joint of an inactive body has no effect. */
static inline bool joint_may_act(const struct tables *tables, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(tables, row, side);
		if (body != DYNAMICS_NONE && tables->body.status[body] == BODY_INACTIVE)
			return false;
	}
	return true;
}

/* Room for `joints` more rows, and for notes of their changes. NO_MEMORY: nothing changed. */
MUST_CHECK enum status dynamics_joint_reserve(struct dynamics *self, uint32_t joints);
/* The lowest free row, all columns zero; the caller fills it, then calls dynamics_joint_added. */
uint32_t dynamics_joint_take(struct dynamics *self);
/* Links the joint to its bodies and wakes them; if JOINT_BODIES_PASS is set, their contacts end
 * with the next step. */
void dynamics_joint_added(struct dynamics *self, uint32_t row);
/* Wakes its bodies; `pairs`: JOINT_BODIES_PASS has changed, so their pairs are looked for again. */
void dynamics_joint_changed(struct dynamics *self, uint32_t row, bool pairs);
/* After impulses between two steps changed the velocity of a body's mass centre and its spin, which were
 * `before`: rotors of its joints have their speeds still (column rotor_lag). O(joints of the body). */
void dynamics_body_struck(struct dynamics *self, uint32_t body, struct spatial before);
/* A body rests: so do the rotors of its joints. */
void dynamics_rotors_rest(struct dynamics *self, uint32_t body);
/* Makes an axis of a joint follow an axis of the joint in row `leader` (gear.h), or no longer:
 * DYNAMICS_NONE, and the rest 0. Wakes the bodies of the joints, and those of the last leader. */
struct joint_gear {
	uint32_t leader, axis;
	double ratio, offset;
};
void dynamics_joint_gear(struct dynamics *self, uint32_t row, uint32_t axis,
			 const struct joint_gear *gear);
/* Wakes its bodies, ends its gears, frees the row and the points of its motors' tables. */
void dynamics_joint_removed(struct dynamics *self, uint32_t row);
/* Removes all joints of a body. */
void dynamics_joints_drop(struct dynamics *self, uint32_t body);
/* Row of a joint's id, or DYNAMICS_NONE. */
uint32_t dynamics_find_joint(const struct dynamics *self, joint_id id);
/* True if a joint between the two bodies has JOINT_BODIES_PASS. O(joints of the body with fewer). */
bool dynamics_bodies_pass(const struct dynamics *self, uint32_t a, uint32_t b);

/* Wakes the bodies joined to a body. */
void joints_wake_neighbours(struct dynamics *self, uint32_t body);
/* Notes the joints of a body as moved, for the boundary's report. */
void joints_note_moved(struct dynamics *self, uint32_t body);
/* A boundary opens: clears the notes; ids from `next_joint` on are of new joints. */
void dynamics_joints_open(struct dynamics *self, uint32_t next_joint);

/* Rebuilds index and sets from the tables. NO_MEMORY. */
MUST_CHECK enum status joints_rebuild(struct dynamics *self);
void joints_release(struct dynamics *self);
uint64_t joints_memory(const struct dynamics *self);

/* Replaces the points of one axis' motor table by `count` others, which are reserved; 0 removes them. */
void joint_points_set(struct tables *tables, uint32_t row, uint32_t axis,
		      const struct joint_point *points, uint32_t count);
/* First row of the points of (joint row, axis), and how many there are. */
uint32_t joint_points_find(const struct tables *tables, uint32_t row, uint32_t axis,
			   uint32_t *count);

#endif
