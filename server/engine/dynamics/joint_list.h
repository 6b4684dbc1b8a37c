/* joint_list.h: which joints there are, and which hang on a body.
 *
 * Each end of a joint is in the list of its body: end 2r is that of row r at body a, 2r + 1 at b.
 * The lists are columns (body.first_joint, joint.next, joint.previous), so finding, joining and
 * parting cost O(1) however many joints a body has. What hangs on the world is in no list.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_JOINT_LIST_H
#define CAIRN_ENGINE_DYNAMICS_JOINT_LIST_H

#include "server/engine/dynamics/dynamics.h"

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

/* Neither of its bodies is inactive: such a joint does nothing until they are not. */
static inline bool joint_may_act(const struct tables *tables, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = joint_body(tables, row, side);
		if (body != DYNAMICS_NONE && tables->body.status[body] == BODY_INACTIVE)
			return false;
	}
	return true;
}

/* Room for `joints` beyond those there are, and for what is noted of them. NO_MEMORY: nothing changed. */
MUST_CHECK enum status dynamics_joint_reserve(struct dynamics *self, uint32_t joints);
/* The lowest free row, all columns zero; the caller fills it, then calls dynamics_joint_added. */
uint32_t dynamics_joint_take(struct dynamics *self);
/* Into the lists of its bodies, which wake; if they do not meet, their contacts end with the next step. */
void dynamics_joint_added(struct dynamics *self, uint32_t row);
/* Its bodies wake; `pairs`: whether they meet has changed. */
void dynamics_joint_changed(struct dynamics *self, uint32_t row, bool pairs);
/* Its bodies wake, the row and its tables' points are free. */
void dynamics_joint_removed(struct dynamics *self, uint32_t row);
/* All joints of a body. */
void dynamics_joints_drop(struct dynamics *self, uint32_t body);
/* Row of a joint's id, or DYNAMICS_NONE. */
uint32_t dynamics_find_joint(const struct dynamics *self, joint_id id);
/* Whether a joint lets its two bodies pass through each other. O(joints of the one that has fewer). */
bool dynamics_bodies_pass(const struct dynamics *self, uint32_t a, uint32_t b);

/* Wakes what is joined to a body. */
void joints_wake_neighbours(struct dynamics *self, uint32_t body);
/* Notes that the joints of a body are to be told. */
void joints_note_moved(struct dynamics *self, uint32_t body);
/* A boundary opens: forgets what was noted; ids from `next_joint` on will be new. */
void dynamics_joints_open(struct dynamics *self, uint32_t next_joint);

/* Index, sets and lists' room from the tables. */
MUST_CHECK enum status joints_rebuild(struct dynamics *self);
void joints_release(struct dynamics *self);
uint64_t joints_memory(const struct dynamics *self);

/* Takes the points of one axis' table away, and puts others there (reserved; none for count 0). */
void joint_points_set(struct tables *tables, uint32_t row, uint32_t axis,
		      const struct joint_point *points, uint32_t count);
/* First row of the points of (joint row, axis), and how many there are. */
uint32_t joint_points_find(const struct tables *tables, uint32_t row, uint32_t axis,
			   uint32_t *count);

#endif
