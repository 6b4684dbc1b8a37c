/* fanout_encode.c: the frames of groups: collecting changes and encoding them once for all
 * subscriptions of a group.
 *
 * Groups live for one round. They are found through their interest (the whole world's have a list
 * of their own), so a thousand different areas are a thousand short lists and not one long one.
 */
#include <string.h>

#include "server/base/body_hash.h"
#include "server/sync/fanout_state.h"

/* Parts are small compared with a client's queue, so that one can be added while a few are still
 * queued. */
enum { PARTS_MAX = WIRE_PARTS_MAX, PART_BYTES = 64 << 10 };

/* ---- quantised profiles ------------------------------------------------------------------------ */

/* NULL for a profile without quantisation. */
static struct quantised *quantised_of(struct fanout *self, enum wire_profile profile)
{
	return wire_profile_quantised(profile) ? &self->quantised[profile - WIRE_PROFILE_VIEW]
					       : NULL;
}

void fanout_use_profile(struct fanout *self, enum wire_profile profile, wire_mask fields, int users)
{
	struct quantised *quantised = quantised_of(self, profile);
	if (fields & WIRE_COLUMN_CONTACTS)
		self->contact_users[profile] += (uint32_t)users;
	if (quantised == NULL)
		return;
	uint32_t *count = &self->quantised_users[profile - WIRE_PROFILE_VIEW];
	*count = (uint32_t)((int)*count + users);
	if (*count == 0)
		quantised_release(quantised);
}

static enum status follow_profile(struct fanout *self, struct quantised *quantised)
{
	return quantised_follow(quantised, &self->view,
				self->contact_users[quantised->profile] > 0);
}

/* Without memory the update is retried when the profile is used. */
void fanout_follow_view(struct fanout *self)
{
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++) {
		if (self->quantised_users[i] == 0)
			continue;
		enum status status = follow_profile(self, &self->quantised[i]);
		UNUSED(status);
	}
}

/* Makes the collected rows those of the group's profile. */
static enum status refine_rows(struct fanout *self, const struct fanout_group *group)
{
	struct quantised *quantised = quantised_of(self, group->profile);
	if (quantised == NULL) {
		self->delta.absolute = true;
		return STATUS_OK;
	}
	enum status status = follow_profile(self, quantised);
	if (status == STATUS_OK)
		quantised_refine(quantised, &self->view, group->base, &self->delta);
	return status;
}

/* ---- hashes ------------------------------------------------------------------------------------ */

static uint64_t hash_members(const struct view *view, struct quantised *quantised,
			     const struct interest *interest, wire_mask fields)
{
	uint64_t sum = 0;
	for (uint32_t i = 0; i < interest->members.count; i++) {
		uint32_t row;
		if (!table_find(&view->index, interest->members.items[i], &row))
			continue;
		sum += quantised != NULL ? quantised_share(quantised, view, row, fields)
					 : wire_view_hash(&view->rows[row].body, fields);
	}
	return body_hash_finish(view->tick, sum, interest->members.count);
}

/* The hash of what the group sees, if its frame carries one. */
static struct wire_hash hash_of(struct fanout *self, const struct fanout_group *group,
				bool *is_tick_hash)
{
	struct quantised *quantised = quantised_of(self, group->profile);
	*is_tick_hash = false;
	if (!group->hashed)
		return (struct wire_hash){ 0 };
	uint64_t hash;
	if (group->interest != NULL)
		hash = hash_members(&self->view, quantised, group->interest, group->fields);
	else if (quantised != NULL)
		hash = quantised_hash(quantised, &self->view, group->fields);
	else
		hash = view_hash(&self->view, group->fields, is_tick_hash);
	return (struct wire_hash){ true, hash };
}

/* ---- encoding ---------------------------------------------------------------------------------- */

enum status fanout_store_part(struct fanout *self, struct fanout_group *group, uint32_t bytes)
{
	struct frame *tail;
	if (ARRAY_RESERVE(&group->tails, group->tails.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	enum status status = frame_create(self->pool, bytes, &tail);
	if (status != STATUS_OK)
		return status;
	memcpy(tail->data, self->scratch, bytes);
	tail->bytes = bytes;
	group->tails.items[group->tails.count++] = tail;
	return STATUS_OK;
}

static enum status encode_part(struct fanout *self, struct fanout_group *group,
			       const struct delta_frame *frame, uint32_t count, uint32_t index)
{
	uint32_t bytes;
	enum status status = delta_pack_tail(frame, self->parts, count, index, self->scratch,
					     WIRE_FRAME_DOWN + WIRE_FRAME_HEADER, &bytes);
	return status == STATUS_OK ? fanout_store_part(self, group, bytes) : status;
}

/* Plans parts of PART_BYTES, or of the client's largest size where those would be too many. */
static enum status plan_parts(struct fanout *self, const struct fanout_group *group,
			      const struct delta_frame *frame, uint32_t *count)
{
	uint32_t small = MIN_OF(group->frame_max, (uint32_t)PART_BYTES);
	enum status status = delta_plan(frame, small, self->parts, PARTS_MAX, count);
	if (status == STATUS_FULL || status == STATUS_TOO_LARGE)
		status = delta_plan(frame, group->frame_max, self->parts, PARTS_MAX, count);
	return status;
}

static enum status reserve_buffers(struct fanout *self)
{
	if (self->parts == NULL)
		self->parts = heap_alloc(PARTS_MAX * sizeof *self->parts);
	if (self->scratch == NULL)
		self->scratch = heap_alloc(WIRE_FRAME_DOWN + WIRE_FRAME_HEADER);
	return self->parts != NULL && self->scratch != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Encodes the collected changes as the group's parts. */
static enum status encode_group(struct fanout *self, struct fanout_group *group, uint8_t flags)
{
	const struct view *view = &self->view;
	if (reserve_buffers(self) != STATUS_OK)
		return STATUS_NO_MEMORY;
	bool is_tick_hash;
	struct wire_hash hash = hash_of(self, group, &is_tick_hash);
	if (hash.set && !is_tick_hash)
		self->rows_hashed += group->interest != NULL ? group->interest->members.count
							     : self->view.live_count;
	struct delta_frame frame = {
		.snapshot = group->base == 0,
		.profile = group->profile,
		.fields = group->fields,
		.flags = (uint8_t)(flags | (self->delta.absolute ? WIRE_FRAME_ABSOLUTE : 0) |
				   (is_tick_hash ? WIRE_FRAME_TICK_HASH : 0) |
				   (self->joint_delta.due ? WIRE_FRAME_ROWS : 0) |
				   (self->particle_delta.due ? WIRE_FRAME_BLOCKS : 0)),
		.epoch = view->epoch,
		.tick = view->tick,
		.base = group->base_tick,
		.edit = view->edit,
		.base_edit = group->base_edit,
		.hash = hash,
		.removed = self->delta.removed.items,
		.removed_count = self->delta.removed.count,
		.rows = self->delta.rows.items,
		.row_count = self->delta.rows.count,
	};
	uint32_t count;
	enum status status = plan_parts(self, group, &frame, &count);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++)
		status = encode_part(self, group, &frame, count, i);
	group->body_tails = group->tails.count;
	if (status == STATUS_OK && self->joint_delta.due)
		status = fanout_encode_joints(self, group, flags);
	group->row_tails = group->tails.count;
	if (status == STATUS_OK && self->particle_delta.due)
		status = fanout_encode_particles(self, group, flags);
	self->counters.encoded += status == STATUS_OK;
	self->counters.rows += self->delta.rows.count;
	return status;
}

enum status fanout_encode_empty(struct fanout *self, struct fanout_group *group)
{
	group->empty = false;
	self->delta.rows.count = self->delta.removed.count = 0;
	self->delta.absolute = true;
	fanout_no_joints(self);
	fanout_no_particles(self);
	return encode_group(self, group, 0);
}

/* Collects the changes since the group's base. MISSING: history no longer reaches back to it. */
static enum status collect_since_base(struct fanout *self, const struct fanout_group *group)
{
	if (group->interest == NULL)
		return view_collect(&self->view, group->base, group->fields, &self->delta);
	return interest_collect(&self->interests, &self->view, group->interest, group->mark,
				group->base, group->fields, &self->delta);
}

static enum status collect_all(struct fanout *self, const struct fanout_group *group)
{
	if (group->interest == NULL)
		return view_collect_all(&self->view, group->fields, &self->delta);
	return interest_collect_all(&self->interests, &self->view, group->interest, group->fields,
				    &self->delta);
}

/* ---- groups ------------------------------------------------------------------------------------ */

static void release_tails(struct fanout_group *group)
{
	for (uint32_t i = 0; i < group->tails.count; i++)
		frame_release(group->tails.items[i]);
	group->tails.count = 0;
}

void fanout_drop_groups(struct fanout *self)
{
	for (uint32_t i = 0; i < self->group_count; i++)
		release_tails(&self->groups.items[i]);
	self->group_count = self->world_groups = 0;
	self->round++;
}

/* The list of this round's groups with that interest. */
static uint32_t *list_of(struct fanout *self, struct interest *interest)
{
	if (interest == NULL)
		return &self->world_groups;
	if (interest->round != self->round)
		interest->group = 0;
	interest->round = self->round;
	return &interest->group;
}

static void reset_base(struct fanout_group *group)
{
	group->base = group->base_tick = 0;
	group->base_edit = 0;
	group->mark = (struct interest_mark){ 0 };
}

static void describe_group(const struct fanout *self, const struct subscription *sub,
			   struct fanout_group *out)
{
	out->interest = sub->interest;
	out->base = sub->base;
	out->base_tick = sub->base_tick;
	out->base_edit = sub->base_edit;
	out->mark = sub->mark;
	if (sub->snapshot_due || sub->base < self->view.epoch_serial)
		reset_base(out);
	out->profile = sub->profile;
	out->fields = sub->fields;
	out->joints = sub->joints;
	out->particles = sub->particles;
	out->sample = sub->sample;
	out->frame_max = sub->frame_max;
	out->hashed = subscription_is_hashed(sub);
}

static bool is_same_group(const struct fanout_group *group, const struct fanout_group *wanted)
{
	return group->base == wanted->base && group->base_tick == wanted->base_tick &&
	       group->base_edit == wanted->base_edit && group->mark.turns == wanted->mark.turns &&
	       group->mark.changes == wanted->mark.changes && group->profile == wanted->profile &&
	       group->fields == wanted->fields && group->joints == wanted->joints &&
	       group->particles == wanted->particles && group->sample == wanted->sample &&
	       group->hashed == wanted->hashed && group->frame_max == wanted->frame_max;
}

/* Adds a group at the end; it reuses the memory of the group that was there in an earlier round. */
static struct fanout_group *add_group(struct fanout *self, const struct fanout_group *wanted)
{
	if (self->group_count == self->groups.count) {
		if (ARRAY_RESERVE(&self->groups, self->groups.count + 1u) != STATUS_OK)
			return NULL;
		memset(&self->groups.items[self->groups.count++], 0, sizeof(struct fanout_group));
	}
	struct fanout_group *group = &self->groups.items[self->group_count++];
	struct fanout_group kept = *group;
	*group = *wanted;
	group->tails.items = kept.tails.items;
	group->tails.capacity = kept.tails.capacity;
	group->tails.count = 0;
	return group;
}

static void drop_group(struct fanout *self, struct fanout_group *group)
{
	release_tails(group);
	self->group_count--;
}

static struct fanout_group *find_group(struct fanout *self, uint32_t list,
				       const struct fanout_group *wanted)
{
	for (uint32_t at = list; at != 0; at = self->groups.items[at - 1].following)
		if (is_same_group(&self->groups.items[at - 1], wanted))
			return &self->groups.items[at - 1];
	return NULL;
}

/* Collects for a new group. If it falls back to a SNAPSHOT, an existing group may fit: *found. */
static enum status collect_group(struct fanout *self, uint32_t list, struct fanout_group *wanted,
				 struct fanout_group **found)
{
	*found = NULL;
	if (wanted->base != 0) {
		enum status status = collect_since_base(self, wanted);
		if (status != STATUS_MISSING)
			return status;
		reset_base(wanted);
		*found = find_group(self, list, wanted);
	}
	return *found != NULL ? STATUS_OK : collect_all(self, wanted);
}

struct fanout_group *fanout_group(struct fanout *self, const struct subscription *sub)
{
	struct fanout_group wanted = { 0 }, *found;
	uint32_t *list = list_of(self, sub->interest);
	describe_group(self, sub, &wanted);
	found = find_group(self, *list, &wanted);
	if (found != NULL)
		return found;
	enum status status = collect_group(self, *list, &wanted, &found);
	if (status != STATUS_OK || found != NULL)
		return found;
	struct fanout_group *group = add_group(self, &wanted);
	if (group == NULL)
		return NULL;
	status = refine_rows(self, group);
	if (status == STATUS_OK)
		status = fanout_collect_joints(self, group);
	if (status == STATUS_OK)
		status = fanout_collect_particles(self, group);
	group->empty = group->base != 0 && group->interest != NULL && self->delta.rows.count == 0 &&
		       self->delta.removed.count == 0 && !self->joint_delta.due &&
		       !self->particle_delta.due;
	if (status == STATUS_OK && !group->empty)
		status = encode_group(self, group, 0);
	if (status != STATUS_OK) {
		drop_group(self, group);
		return NULL;
	}
	if (group->interest != NULL)
		group->next = interest_mark(group->interest);
	group->following = *list;
	*list = self->group_count;
	return group;
}

struct fanout_group *fanout_ration_group(struct fanout *self, struct subscription *sub,
					 bool *partial)
{
	struct fanout_group wanted = { 0 };
	describe_group(self, sub, &wanted);
	struct fanout_group *group = add_group(self, &wanted);
	struct quantised *quantised = quantised_of(self, sub->profile);
	if (group == NULL)
		return NULL;
	enum status status = STATUS_OK;
	if (quantised != NULL)
		status = follow_profile(self, quantised);
	if (status == STATUS_OK)
		status = ration_collect(sub->ration, &self->interests, &self->view, sub->interest,
					quantised, group->base == 0, group->profile, group->fields,
					&self->delta, partial);
	if (status == STATUS_OK)
		status = fanout_collect_joints(self, group);
	if (status == STATUS_OK)
		status = fanout_collect_particles(self, group);
	if (quantised == NULL)
		self->delta.absolute = true;
	group->hashed = group->hashed && !*partial;
	group->empty = status == STATUS_OK && group->base != 0 && self->delta.rows.count == 0 &&
		       self->delta.removed.count == 0 && !self->joint_delta.due &&
		       !self->particle_delta.due;
	group->next = interest_mark(sub->interest);
	if (status == STATUS_OK && !group->empty)
		status = encode_group(self, group, *partial ? WIRE_FRAME_PARTIAL : 0);
	if (status == STATUS_OK)
		return group;
	drop_group(self, group);
	sub->snapshot_due = true;
	return NULL;
}
