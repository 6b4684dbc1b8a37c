/* joint_list.c: joints are linked to their bodies, and their changes noted for the boundary's report.
 *
 * Motor tables are one table of points sorted by (joint row, axis, time), so those of an axis are a
 * range. */
#include "server/engine/dynamics/joint_list.h"

#include "server/base/array.h"
#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/labels.h"
#include "server/engine/dynamics/step_joints.h"

#include <string.h>

/* The axes that follow a joint form a list, so that removing the joint costs what follows it. An axis is
 * numbered row × JOINT_AXES + axis + 1; 0 is none. */
struct gear_links {
	uint32_t first; /* an axis that follows this joint */
	uint32_t next[JOINT_AXES],
		before[JOINT_AXES]; /* of each axis of this joint, among those of its leader */
};

/* ---- room ---------------------------------------------------------------------------------- */

static enum status reserve_links(struct dynamics *self, uint32_t room)
{
	enum status status = ARRAY_RESERVE(&self->gear_links, room);
	for (; status == STATUS_OK && self->gear_links.count < room; self->gear_links.count++)
		self->gear_links.items[self->gear_links.count] = (struct gear_links){ 0 };
	return status;
}

enum status dynamics_joint_reserve(struct dynamics *self, uint32_t joints)
{
	uint64_t rows = (uint64_t)self->tables->joint.count + joints;
	if (rows >= BITSET_NONE / 2) /* the ends, two per row, are numbered too */
		return STATUS_NO_MEMORY;
	enum status status = tables_reserve(self->tables, TABLE_JOINT, (uint32_t)rows);
	uint32_t room = self->tables->joint.capacity;
	if (status == STATUS_OK)
		status = table_reserve(&self->joint_index, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->joint_used, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->joint_geared, room);
	if (status == STATUS_OK)
		status = reserve_links(self, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->joint_notes.moved, room);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->joint_notes.changed, room);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->joint_notes.removed, room);
	return status;
}

/* Whether an axis of the joint follows another. */
static void note_geared(struct dynamics *self, uint32_t row)
{
	bool geared = false;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		geared |= self->tables->joint.leader[row][axis] != 0;
	if (geared)
		bitset_set(&self->joint_geared, row);
	else
		bitset_clear(&self->joint_geared, row);
}

/* Puts the axis, which follows the joint `leader`, at the head of the list of its followers. */
static void link_follower(struct dynamics *self, uint32_t row, uint32_t axis, uint32_t leader)
{
	struct gear_links *links = self->gear_links.items;
	uint32_t own = row * JOINT_AXES + axis + 1, next = links[leader].first;
	links[row].next[axis] = next;
	links[row].before[axis] = 0;
	if (next != 0)
		links[(next - 1) / JOINT_AXES].before[(next - 1) % JOINT_AXES] = own;
	links[leader].first = own;
}

static void unlink_follower(struct dynamics *self, uint32_t row, uint32_t axis, uint32_t leader)
{
	struct gear_links *links = self->gear_links.items;
	uint32_t next = links[row].next[axis], before = links[row].before[axis];
	if (before != 0)
		links[(before - 1) / JOINT_AXES].next[(before - 1) % JOINT_AXES] = next;
	else
		links[leader].first = next;
	if (next != 0)
		links[(next - 1) / JOINT_AXES].before[(next - 1) % JOINT_AXES] = before;
	links[row].next[axis] = links[row].before[axis] = 0;
}

enum status joints_rebuild(struct dynamics *self)
{
	enum status status = dynamics_joint_reserve(self, 0);
	if (status != STATUS_OK)
		return status;
	table_reset(&self->joint_index);
	bitset_reset(&self->joint_used);
	tables_find_rows(self->tables, TABLE_JOINT, &self->joint_used, &self->joint_index);
	bitset_reset(&self->joint_geared);
	for (uint32_t row = 0; row < self->gear_links.count; row++)
		self->gear_links.items[row] = (struct gear_links){ 0 };
	for (uint32_t row = bitset_next(&self->joint_used, 0); row != BITSET_NONE;
	     row = bitset_next(&self->joint_used, row + 1)) {
		note_geared(self, row);
		/* A leader beyond the table is refused by the check of the image, which follows. */
		const uint32_t *leader = self->tables->joint.leader[row];
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
			if (leader[axis] != 0 && leader[axis] <= self->gear_links.count)
				link_follower(self, row, axis, leader[axis] - 1);
	}
	return STATUS_OK;
}

void joints_release(struct dynamics *self)
{
	table_release(&self->joint_index);
	bitset_release(&self->joint_used);
	bitset_release(&self->joint_geared);
	ARRAY_RELEASE(&self->gear_links);
	bitset_release(&self->joint_notes.moved);
	bitset_release(&self->joint_notes.changed);
	ARRAY_RELEASE(&self->joint_notes.removed);
}

uint64_t joints_memory(const struct dynamics *self)
{
	return (uint64_t)self->joint_index.capacity * 16 + 4 * (uint64_t)self->joint_used.size / 8 +
	       (uint64_t)self->joint_notes.removed.capacity * sizeof(joint_id);
}

uint32_t dynamics_find_joint(const struct dynamics *self, joint_id id)
{
	uint32_t row = DYNAMICS_NONE;
	if (id != 0)
		(void)table_find(&self->joint_index, id, &row);
	ASSERT(row == DYNAMICS_NONE || self->tables->joint.id[row] == id);
	return row;
}

/* ---- lists of bodies ----------------------------------------------------------------------- */

static void link_end(struct tables *tables, uint32_t end)
{
	ASSERT(end / 2 < tables->joint.count);
	uint32_t body = joint_body(tables, end / 2, end % 2);
	if (body == DYNAMICS_NONE)
		return;
	uint32_t first = joint_first(tables, body);
	tables->joint.next[end / 2][end % 2] = first + 1;
	tables->joint.previous[end / 2][end % 2] = 0;
	if (first != DYNAMICS_NONE)
		tables->joint.previous[first / 2][first % 2] = end + 1;
	tables->body.first_joint[body] = end + 1;
}

static void unlink_end(struct tables *tables, uint32_t end)
{
	ASSERT(end / 2 < tables->joint.count);
	uint32_t body = joint_body(tables, end / 2, end % 2);
	if (body == DYNAMICS_NONE)
		return;
	uint32_t next = joint_next(tables, end),
		 previous = tables->joint.previous[end / 2][end % 2] - 1;
	if (next != DYNAMICS_NONE)
		tables->joint.previous[next / 2][next % 2] = previous + 1;
	if (previous != DYNAMICS_NONE)
		tables->joint.next[previous / 2][previous % 2] = next + 1;
	else
		tables->body.first_joint[body] = next + 1;
}

bool dynamics_bodies_pass(const struct dynamics *self, uint32_t a, uint32_t b)
{
	ASSERT(a != b);
	const struct tables *tables = self->tables;
	uint32_t at_a = joint_first(tables, a), at_b = joint_first(tables, b);
	/* Both lists contain the joint, so the search ends with the shorter one. */
	while (at_a != DYNAMICS_NONE && at_b != DYNAMICS_NONE) {
		if ((joint_other(tables, at_a) == b &&
		     (tables->joint.flags[at_a / 2] & JOINT_BODIES_PASS)) ||
		    (joint_other(tables, at_b) == a &&
		     (tables->joint.flags[at_b / 2] & JOINT_BODIES_PASS)))
			return true;
		at_a = joint_next(tables, at_a);
		at_b = joint_next(tables, at_b);
	}
	return false;
}

/* ---- changes ------------------------------------------------------------------------------- */

/* dynamics_wake has no effect on animated and static bodies, which never sleep. */
void joints_wake_neighbours(struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	for (uint32_t e = joint_first(tables, body); e != DYNAMICS_NONE; e = joint_next(tables, e))
		if (joint_other(tables, e) != DYNAMICS_NONE)
			dynamics_wake(self, joint_other(tables, e));
}

void joints_note_moved(struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	for (uint32_t e = joint_first(tables, body); e != DYNAMICS_NONE; e = joint_next(tables, e))
		bitset_set(&self->joint_notes.moved, e / 2);
}

static void wake_bodies(struct dynamics *self, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++)
		if (joint_body(self->tables, row, side) != DYNAMICS_NONE)
			dynamics_wake(self, joint_body(self->tables, row, side));
}

/* The next step looks for all pairs of both bodies again. */
static void refresh_pairs(struct dynamics *self, uint32_t row)
{
	for (uint32_t side = 0; side < 2; side++)
		if (joint_body(self->tables, row, side) != DYNAMICS_NONE)
			body_refresh_pairs(self, joint_body(self->tables, row, side));
}

uint32_t dynamics_joint_take(struct dynamics *self)
{
	return tables_take_row(self->tables, TABLE_JOINT, &self->joint_used);
}

void dynamics_joint_added(struct dynamics *self, uint32_t row)
{
	struct tables *tables = self->tables;
	enum status status = table_insert(&self->joint_index, tables->joint.id[row], row);
	ASSERT(status == STATUS_OK);
	link_end(tables, 2 * row);
	link_end(tables, 2 * row + 1);
	bitset_set(&self->joint_notes.changed, row);
	dynamics_joint_changed(self, row, (tables->joint.flags[row] & JOINT_BODIES_PASS) != 0);
}

void dynamics_joint_changed(struct dynamics *self, uint32_t row, bool pairs)
{
	ASSERT(self->tables->joint.id[row] != 0);
	bitset_set(&self->joint_notes.changed, row);
	wake_bodies(self, row);
	if (pairs)
		refresh_pairs(self, row);
}

static bool has_armature(const struct joint_table *table, uint32_t row)
{
	bool any = false;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		any |= table->armature[row][axis] > 0;
	return any;
}

void dynamics_body_struck(struct dynamics *self, uint32_t body, struct spatial before)
{
	const struct tables *tables = self->tables;
	struct joint_table *table = &self->tables->joint;
	struct spatial change = { vec3_sub(tables->body.velocity[body], before.linear),
				  vec3_sub(tables->body.angular_velocity[body], before.angular) };
	for (uint32_t end = joint_first(tables, body); end != DYNAMICS_NONE;
	     end = joint_next(tables, end)) {
		uint32_t row = end / 2;
		if (!has_armature(table, row))
			continue;
		struct joint joint;
		joint_from_tables(self, row, 0, &joint);
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			struct spatial on[2];
			if (!(joint.layout.parts[axis] >> JOINT_ROTOR & 1))
				continue;
			joint_axis_jacobian(&joint, axis, &joint.a, &joint.b, on);
			table->rotor_lag[row][axis] += spatial_dot(on[end % 2], change);
		}
	}
}

void dynamics_rotors_rest(struct dynamics *self, uint32_t body)
{
	struct joint_table *table = &self->tables->joint;
	for (uint32_t end = joint_first(self->tables, body); end != DYNAMICS_NONE;
	     end = joint_next(self->tables, end))
		memset(table->rotor_lag[end / 2], 0, sizeof table->rotor_lag[end / 2]);
}

void dynamics_joint_gear(struct dynamics *self, uint32_t row, uint32_t axis,
			 const struct joint_gear *gear)
{
	struct joint_table *joint = &self->tables->joint;
	ASSERT(axis < JOINT_AXES && joint->id[row] != 0);
	ASSERT(gear->leader == DYNAMICS_NONE || joint->id[gear->leader] != 0);
	if (joint->leader[row][axis] != 0) {
		wake_bodies(self, joint->leader[row][axis] - 1);
		unlink_follower(self, row, axis, joint->leader[row][axis] - 1);
	}
	joint->leader[row][axis] = gear->leader + 1;
	if (gear->leader != DYNAMICS_NONE)
		link_follower(self, row, axis, gear->leader);
	joint->leader_axis[row][axis] = (uint8_t)gear->axis;
	joint->gear_ratio[row][axis] = gear->ratio;
	joint->gear_offset[row][axis] = gear->offset;
	joint->gear_multiplier[row][axis] = 0;
	note_geared(self, row);
	dynamics_joint_changed(self, row, false);
	if (gear->leader != DYNAMICS_NONE)
		dynamics_joint_changed(self, gear->leader, false);
}

/* Ends the gears of a joint that is removed, as follower and as leader. */
static void drop_gears(struct dynamics *self, uint32_t row)
{
	const struct joint_gear none = { .leader = DYNAMICS_NONE };
	const struct gear_links *links = &self->gear_links.items[row];
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		if (self->tables->joint.leader[row][axis] != 0)
			dynamics_joint_gear(self, row, axis, &none);
	while (links->first != 0)
		dynamics_joint_gear(self, (links->first - 1) / JOINT_AXES,
				    (links->first - 1) % JOINT_AXES, &none);
	ASSERT(!bitset_get(&self->joint_geared, row));
}

void dynamics_joint_removed(struct dynamics *self, uint32_t row)
{
	ASSERT(self->tables->joint.id[row] != 0);
	struct tables *tables = self->tables;
	joint_id id = tables->joint.id[row];
	if (self->joint_geared.count > 0)
		drop_gears(self, row);
	wake_bodies(self, row);
	if (tables->joint.flags[row] & JOINT_BODIES_PASS)
		refresh_pairs(self, row);
	unlink_end(tables, 2 * row);
	unlink_end(tables, 2 * row + 1);
	for (uint32_t axis = 0; axis < JOINT_AXES && tables->joint_point.count > 0; axis++)
		joint_points_set(tables, row, axis, NULL, 0);
	/* A joint made and removed between two boundaries was never reported. */
	if (id < self->joint_notes.first_new) {
		ASSERT(self->joint_notes.removed.count < self->joint_notes.removed.capacity);
		self->joint_notes.removed.items[self->joint_notes.removed.count++] = id;
	}
	bitset_clear(&self->joint_notes.moved, row);
	bitset_clear(&self->joint_notes.changed, row);
	dynamics_label_drop(self, LABEL_JOINT, row);
	tables_free_row(tables, TABLE_JOINT, row, &self->joint_used, &self->joint_index);
}

void dynamics_joints_drop(struct dynamics *self, uint32_t body)
{
	while (joint_first(self->tables, body) != DYNAMICS_NONE)
		dynamics_joint_removed(self, joint_first(self->tables, body) / 2);
}

void dynamics_joints_open(struct dynamics *self, uint32_t next_joint)
{
	bitset_reset(&self->joint_notes.moved);
	bitset_reset(&self->joint_notes.changed);
	self->joint_notes.removed.count = 0;
	self->joint_notes.first_new = next_joint;
}

/* ---- motors' tables ------------------------------------------------------------------------ */

/* First row not before (joint row, axis). */
static uint32_t points_from(const struct joint_point_table *table, uint64_t row, uint32_t axis)
{
	ASSERT(axis <= JOINT_AXES);
	uint32_t low = 0, high = table->count;
	uint64_t key = row * JOINT_AXES + axis;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if ((uint64_t)table->joint[middle] * JOINT_AXES + table->axis[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t joint_points_find(const struct tables *tables, uint32_t row, uint32_t axis,
			   uint32_t *count)
{
	uint32_t first = points_from(&tables->joint_point, row, axis);
	*count = points_from(&tables->joint_point, row, axis + 1) - first;
	ASSERT(first + *count <= tables->joint_point.count);
	return first;
}

void joint_points_set(struct tables *tables, uint32_t row, uint32_t axis,
		      const struct joint_point *points, uint32_t count)
{
	ASSERT(axis < JOINT_AXES);
	ASSERT(row < tables->joint.count);
	struct joint_point_table *table = &tables->joint_point;
	uint32_t had, first = joint_points_find(tables, row, axis, &had);
	if (count > had) {
		tables_insert(tables, TABLE_JOINT_POINT, first + had, count - had);
	} else if (count < had) {
		for (uint32_t at = first + had; at < table->count; at++)
			tables_copy_row(tables, TABLE_JOINT_POINT, at - (had - count), at);
		tables_truncate(tables, TABLE_JOINT_POINT, table->count - (had - count));
	}
	for (uint32_t i = 0; i < count; i++) {
		table->joint[first + i] = row;
		table->axis[first + i] = (uint8_t)axis;
		table->time[first + i] = points[i].time;
		table->value[first + i] = points[i].value;
	}
}
