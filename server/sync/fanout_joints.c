/* fanout_joints.c: the ROWS behind a group's SNAPSHOT or DELTA: the joints that the group sees, and
 * their changes.
 *
 * A joint is seen by every interest that sees one of its bodies, so it comes and goes with them:
 * the interest's log of turns shows if a subscription saw it at its base. Where no joint has
 * changed since the base and no body has entered or left, no joint is visited. Otherwise the joints
 * of the seen bodies, and of those that have left, are visited, and the subscription's allowance is
 * charged for them as for bodies. Joints are not rationed: a budget ranks bodies, and the bytes of
 * joints are charged first.
 */
#include <stdlib.h>
#include <string.h>

#include "server/base/body_hash.h"
#include "server/sync/fanout_state.h"

enum { PARTS_MAX = WIRE_PARTS_MAX, PART_BYTES = 64 << 10 };

static bool sees_joint(const struct interest *interest, const struct wire_joint *joint)
{
	return interest == NULL || interest_sees(interest, joint->a) ||
	       interest_sees(interest, joint->b);
}

/* True if a client at the group's base has a joint of these bodies, if the joint existed then. */
static bool saw_joint(const struct fanout *self, const struct fanout_group *group, uint32_t a,
		      uint32_t b)
{
	return group->interest == NULL || interest_saw(&self->interests, group->interest, a) ||
	       interest_saw(&self->interests, group->interest, b);
}

static enum status take_row(struct joint_delta *delta, const struct wire_joint *joint,
			    wire_mask mask)
{
	if (mask == 0)
		return STATUS_OK;
	if (ARRAY_RESERVE(&delta->rows, delta->rows.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	delta->rows.items[delta->rows.count++] = (struct joint_row){ joint, mask };
	return STATUS_OK;
}

static enum status take_removed(struct joint_delta *delta, uint32_t id)
{
	if (ARRAY_RESERVE(&delta->removed, delta->removed.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	delta->removed.items[delta->removed.count++] = id;
	return STATUS_OK;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = (*(const struct view_joint *const *)a)->joint.id;
	uint32_t y = (*(const struct view_joint *const *)b)->joint.id;
	return (x > y) - (x < y);
}

static enum status take_seen(struct joint_delta *delta, const struct view_joint *row)
{
	if (ARRAY_RESERVE(&delta->seen, delta->seen.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	delta->seen.items[delta->seen.count++] = row;
	return STATUS_OK;
}

/* Visits the joints of one seen body; a joint whose bodies are both seen counts at body a only. */
static enum status visit_body_joints(struct fanout *self, const struct interest *interest,
				     uint32_t body)
{
	const struct view_joints *joints = &self->view.joints;
	enum status status = STATUS_OK;
	uint32_t end = view_joints_first(joints, body);
	for (; end != 0 && status == STATUS_OK; end = view_joints_next(joints, end)) {
		const struct view_joint *row = view_joints_at(joints, end);
		self->joints_looked++;
		if (view_joints_at_a(end) || !interest_sees(interest, row->joint.a))
			status = take_seen(&self->joint_delta, row);
	}
	return status;
}

/* Collects the joints that the group sees now, over its bodies, or over all joints where these are
 * fewer. */
static enum status collect_body_joints(struct fanout *self, const struct interest *interest)
{
	const struct view_joints *joints = &self->view.joints;
	struct joint_delta *delta = &self->joint_delta;
	enum status status = STATUS_OK;
	delta->seen.count = 0;
	if (interest == NULL || joints->rows.count <= interest->members.count) {
		for (uint32_t i = 0; i < joints->rows.count && status == STATUS_OK; i++)
			if (sees_joint(interest, &joints->rows.items[i].joint))
				status = take_seen(delta, &joints->rows.items[i]);
		self->joints_looked += joints->rows.count;
		return status;
	}
	self->joints_looked += interest->members.count;
	for (uint32_t i = 0; i < interest->members.count && status == STATUS_OK; i++)
		status = visit_body_joints(self, interest, interest->members.items[i]);
	/* Ids are unique: a total order. */
	if (delta->seen.count > 1)
		qsort(delta->seen.items, delta->seen.count, sizeof *delta->seen.items, by_id);
	return status;
}

static enum status collect_all(struct fanout *self, const struct fanout_group *group)
{
	struct joint_delta *delta = &self->joint_delta;
	enum status status = collect_body_joints(self, group->interest);
	delta->whole = true;
	for (uint32_t i = 0; i < delta->seen.count && status == STATUS_OK; i++)
		status = take_row(delta, &delta->seen.items[i]->joint, group->joints);
	/* A SNAPSHOT empties the client's set, so there is nothing to remove. */
	delta->due = delta->rows.count > 0 || group->base != 0;
	return status;
}

static int by_number(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Collects joints that were removed, if they existed and were seen at the base. */
static enum status collect_removals(struct fanout *self, const struct fanout_group *group)
{
	const struct view_joints *joints = &self->view.joints;
	enum status status = STATUS_OK;
	uint64_t oldest = joints->removal_count > VIEW_JOINT_REMOVALS_MAX
				  ? joints->removal_count - VIEW_JOINT_REMOVALS_MAX
				  : 0;
	for (uint64_t i = joints->removal_count; i > oldest && status == STATUS_OK; i--) {
		const struct view_joint_removal *removal =
			&joints->removals[(i - 1) % joints->removal_capacity];
		if (removal->serial <= group->base)
			break;
		self->joints_looked++;
		if (removal->created <= group->base &&
		    saw_joint(self, group, removal->a, removal->b))
			status = take_removed(&self->joint_delta, removal->id);
	}
	return status;
}

/* Joints of a body that was seen at the base, if neither body is seen now; a joint whose bodies
 * were both seen counts at body a only. */
static enum status leave_body(struct fanout *self, const struct fanout_group *group, uint32_t body)
{
	const struct view_joints *joints = &self->view.joints;
	enum status status = STATUS_OK;
	uint32_t end = view_joints_first(joints, body);
	for (; end != 0 && status == STATUS_OK; end = view_joints_next(joints, end)) {
		const struct view_joint *row = view_joints_at(joints, end);
		const struct wire_joint *joint = &row->joint;
		bool mine = view_joints_at_a(end) ||
			    !interest_saw(&self->interests, group->interest, joint->a);
		self->joints_looked++;
		if (mine && row->created <= group->base && !sees_joint(group->interest, joint))
			status = take_removed(&self->joint_delta, joint->id);
	}
	return status;
}

/* Collects existing joints that were seen at the base and are not now, because their bodies have
 * left. */
static enum status collect_left(struct fanout *self, const struct fanout_group *group)
{
	enum status status = STATUS_OK;
	const struct interest_map *map = &self->interests;
	uint32_t turns = group->interest != NULL ? map->sorted.count : 0;
	for (uint32_t i = 0; i < turns && status == STATUS_OK; i++)
		if (!map->sorted.items[i].entered)
			status = leave_body(self, group, map->sorted.items[i].id);
	return status;
}

static enum status collect_since(struct fanout *self, const struct fanout_group *group)
{
	struct joint_delta *delta = &self->joint_delta;
	enum status status = collect_removals(self, group);
	if (status == STATUS_OK)
		status = collect_left(self, group);
	if (status == STATUS_OK)
		status = collect_body_joints(self, group->interest);
	for (uint32_t i = 0; i < delta->seen.count && status == STATUS_OK; i++) {
		const struct view_joint *row = delta->seen.items[i];
		bool had = row->created <= group->base &&
			   saw_joint(self, group, row->joint.a, row->joint.b);
		status = take_row(delta, &row->joint,
				  had ? view_joint_since(row, group->base) & group->joints
				      : group->joints);
	}
	/* Ids are unique: a total order. */
	if (delta->removed.count > 1)
		qsort(delta->removed.items, delta->removed.count, sizeof *delta->removed.items,
		      by_number);
	delta->due = delta->rows.count > 0 || delta->removed.count > 0;
	return status;
}

void fanout_no_joints(struct fanout *self)
{
	struct joint_delta *delta = &self->joint_delta;
	delta->rows.count = delta->removed.count = 0;
	delta->due = delta->whole = false;
}

enum status fanout_collect_joints(struct fanout *self, const struct fanout_group *group)
{
	const struct view_joints *joints = &self->view.joints;
	fanout_no_joints(self);
	if (group->joints == 0)
		return STATUS_OK;
	if (group->base == 0)
		return collect_all(self, group);
	bool turned = group->interest != NULL && group->interest->turn_next != group->mark.turns;
	if (!turned && joints->changed <= group->base)
		return STATUS_OK;
	enum status status = view_joints_reach(joints, group->base) ? STATUS_OK : STATUS_MISSING;
	if (status == STATUS_OK && group->interest != NULL)
		status = interest_look_back(&self->interests, group->interest, group->mark);
	if (status == STATUS_OK)
		return collect_since(self, group);
	return status == STATUS_MISSING ? collect_all(self, group) : status;
}

static struct wire_hash hash_of(struct fanout *self, const struct fanout_group *group)
{
	const struct joint_delta *delta = &self->joint_delta;
	uint64_t sum = 0;
	if (!group->hashed)
		return (struct wire_hash){ 0 };
	for (uint32_t i = 0; i < delta->seen.count; i++)
		sum += wire_joint_hash(group->profile, &delta->seen.items[i]->joint, group->joints);
	self->joints_looked += delta->seen.count;
	return (struct wire_hash){ true,
				   body_hash_finish(self->view.tick, sum, delta->seen.count) };
}

enum status fanout_encode_joints(struct fanout *self, struct fanout_group *group, uint8_t flags)
{
	const struct joint_delta *delta = &self->joint_delta;
	struct joint_frame frame = {
		.profile = group->profile,
		.columns = group->joints,
		.flags = (uint8_t)(flags | (delta->whole ? WIRE_FRAME_WHOLE : 0)),
		.epoch = self->view.epoch,
		.tick = self->view.tick,
		.edit = self->view.edit,
		.hash = hash_of(self, group),
		.removed = delta->removed.items,
		.removed_count = delta->removed.count,
		.rows = delta->rows.items,
		.row_count = delta->rows.count,
	};
	uint32_t count, bytes;
	uint32_t small = MIN_OF(group->frame_max, (uint32_t)PART_BYTES);
	enum status status = joint_rows_plan(&frame, small, self->parts, PARTS_MAX, &count);
	if (status == STATUS_FULL)
		status = joint_rows_plan(&frame, group->frame_max, self->parts, PARTS_MAX, &count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		status = joint_rows_pack_tail(&frame, self->parts, count, i, self->scratch,
					      WIRE_FRAME_DOWN + WIRE_FRAME_HEADER, &bytes);
		if (status == STATUS_OK)
			status = fanout_store_part(self, group, bytes);
	}
	self->joints_looked += delta->rows.count;
	return status;
}
