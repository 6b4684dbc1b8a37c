/* See view_joints.h. */
#include "server/sync/view_joints.h"

#include <string.h>

#include "server/base/heap.h"

void view_joints_release(struct view_joints *self)
{
	ARRAY_RELEASE(&self->rows);
	ARRAY_RELEASE(&self->ends);
	ARRAY_RELEASE(&self->idle);
	table_release(&self->firsts);
	heap_free(self->removals);
	memset(self, 0, sizeof *self);
}

/* The first row whose id is not below `id`. */
static uint32_t lower_bound(const struct view_joints *self, uint32_t id)
{
	uint32_t low = 0, high = self->rows.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->rows.items[middle].joint.id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* ---- lists of bodies ---------------------------------------------------------------------------- */

static uint32_t body_at(const struct wire_joint *joint, uint32_t side)
{
	return side == 0 ? joint->a : joint->b;
}

/* Reserves the two ends of another joint, and their table entries. */
static enum status make_room_for_ends(struct view_joints *self)
{
	enum status status = table_reserve(&self->firsts, self->firsts.count + 2);
	if (status == STATUS_OK && self->idle.count == 0)
		status = ARRAY_RESERVE(&self->ends, self->ends.count + 2u);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->idle, self->ends.count / 2 + 1u);
	return status;
}

static void link_end(struct view_joints *self, uint32_t slot, uint32_t side,
		     const struct wire_joint *joint)
{
	uint32_t end = 2 * slot + side, body = body_at(joint, side), first = 0;
	self->ends.items[end] = (struct view_joint_end){ .id = joint->id };
	if (body == 0)
		return; /* an end at the world is in no list */
	if (table_find(&self->firsts, body, &first))
		self->ends.items[first - 1].previous = end + 1;
	self->ends.items[end].next = first;
	enum status status = table_put(&self->firsts, body, end + 1);
	ASSERT(status == STATUS_OK); /* reserved */
}

static void unlink_end(struct view_joints *self, uint32_t slot, uint32_t side,
		       const struct wire_joint *joint)
{
	const struct view_joint_end end = self->ends.items[2 * slot + side];
	uint32_t body = body_at(joint, side);
	if (end.next != 0)
		self->ends.items[end.next - 1].previous = end.previous;
	if (end.previous != 0)
		self->ends.items[end.previous - 1].next = end.next;
	else if (body != 0 && end.next == 0)
		table_remove(&self->firsts, body);
	else if (body != 0 && table_put(&self->firsts, body, end.next) != STATUS_OK)
		ASSERT(false); /* the key is there */
}

static void link_row(struct view_joints *self, struct view_joint *row)
{
	if (self->idle.count > 0) {
		row->slot = self->idle.items[--self->idle.count];
	} else {
		row->slot = self->ends.count / 2;
		self->ends.count += 2;
	}
	link_end(self, row->slot, 0, &row->joint);
	link_end(self, row->slot, 1, &row->joint);
}

static void unlink_row(struct view_joints *self, const struct view_joint *row)
{
	unlink_end(self, row->slot, 0, &row->joint);
	unlink_end(self, row->slot, 1, &row->joint);
	self->idle.items[self->idle.count++] = row->slot;
}

uint32_t view_joints_first(const struct view_joints *self, uint32_t body)
{
	uint32_t end = 0;
	(void)table_find(&self->firsts, body, &end);
	return end;
}

uint32_t view_joints_next(const struct view_joints *self, uint32_t end)
{
	return self->ends.items[end - 1].next;
}

const struct view_joint *view_joints_at(const struct view_joints *self, uint32_t end)
{
	return &self->rows.items[lower_bound(self, self->ends.items[end - 1].id)];
}

/* ---- rows --------------------------------------------------------------------------------------- */

static enum status append_joint(struct view_joints *self, const struct joint_view *from,
				uint64_t serial)
{
	uint32_t count = self->rows.count;
	if (from->id == 0 || (count > 0 && from->id <= self->rows.items[count - 1].joint.id))
		return STATUS_CORRUPT;
	if (ARRAY_RESERVE(&self->rows, count + 1u) != STATUS_OK ||
	    make_room_for_ends(self) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct view_joint *row = &self->rows.items[self->rows.count++];
	row->joint = report_wire_joint(from);
	row->created = serial;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		row->changed[i] = serial;
	link_row(self, row);
	self->changed = serial;
	return STATUS_OK;
}

static enum status update_joint(struct view_joints *self, const struct joint_view *from,
				uint64_t serial)
{
	uint32_t at = lower_bound(self, from->id);
	if (at == self->rows.count || self->rows.items[at].joint.id != from->id)
		return STATUS_CORRUPT;
	struct view_joint *row = &self->rows.items[at];
	struct wire_joint joint = report_wire_joint(from);
	/* A joint must keep its bodies, because interest_saw goes by them. */
	if (joint.a != row->joint.a || joint.b != row->joint.b)
		return STATUS_CORRUPT;
	wire_mask mask = wire_joint_differs(&row->joint, &joint);
	row->joint = joint;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		if (mask >> i & 1)
			row->changed[i] = serial;
	if (mask != 0)
		self->changed = serial;
	return STATUS_OK;
}

/* A ring that has not wrapped yet can be extended without moving entries. */
static enum status make_room_for_removal(struct view_joints *self)
{
	if (self->removal_count < self->removal_capacity ||
	    self->removal_capacity == VIEW_JOINT_REMOVALS_MAX)
		return STATUS_OK;
	return array_reserve(&self->removals, &self->removal_capacity,
			     MAX_OF(2 * self->removal_capacity, 64u), sizeof *self->removals);
}

/* Ids and rows both ascend, so one pass removes all. */
static enum status remove_rows(struct view_joints *self, const struct tick_report *report,
			       uint64_t serial)
{
	uint32_t read, write;
	enum status status = STATUS_OK;
	if (report->joint_removed_count == 0)
		return STATUS_OK;
	read = write = lower_bound(self, report->joints_removed[0]);
	for (uint32_t i = 0; i < report->joint_removed_count && status == STATUS_OK; i++) {
		uint32_t id = report->joints_removed[i];
		while (read < self->rows.count && self->rows.items[read].joint.id < id)
			self->rows.items[write++] = self->rows.items[read++];
		if (read == self->rows.count || self->rows.items[read].joint.id != id)
			return STATUS_CORRUPT;
		status = make_room_for_removal(self);
		if (status != STATUS_OK)
			return status;
		const struct view_joint *row = &self->rows.items[read++];
		self->removals[self->removal_count++ % self->removal_capacity] =
			(struct view_joint_removal){ serial, row->created, id, row->joint.a,
						     row->joint.b };
		unlink_row(self, row);
	}
	while (read < self->rows.count)
		self->rows.items[write++] = self->rows.items[read++];
	self->rows.count = write;
	self->changed = serial;
	return STATUS_OK;
}

enum status view_joints_apply(struct view_joints *self, const struct tick_report *report,
			      uint64_t serial)
{
	if (!report->joints) {
		view_joints_release(self);
		return STATUS_OK;
	}
	if (report->joints_all) {
		self->rows.count = self->ends.count = self->idle.count = 0;
		table_reset(&self->firsts);
		self->removal_count = 0;
		self->valid = true;
		self->since = self->changed = serial;
	}
	if (!self->valid)
		return STATUS_OK; /* rows are unknown until a report contains all joints */
	enum status status = remove_rows(self, report, serial);
	for (uint32_t i = 0; i < report->joint_count && status == STATUS_OK; i++) {
		const struct report_joint *joint = &report->joint_list[i];
		status = joint->why & REPORT_CREATED ? append_joint(self, &joint->view, serial)
						     : update_joint(self, &joint->view, serial);
	}
	return status;
}

bool view_joints_reach(const struct view_joints *self, uint64_t base)
{
	if (base < self->since)
		return false;
	if (self->removal_count <= VIEW_JOINT_REMOVALS_MAX)
		return true;
	/* The oldest stored removal; earlier ones may have been after the base. */
	return self->removals[self->removal_count % self->removal_capacity].serial <= base;
}

wire_mask view_joint_since(const struct view_joint *row, uint64_t base)
{
	uint32_t mask = 0;
	for (uint32_t i = 0; i < WIRE_JOINT_COLUMN_COUNT; i++)
		mask |= (uint32_t)(row->changed[i] > base) << i;
	return (wire_mask)mask;
}
