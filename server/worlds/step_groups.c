/* See step_groups.h. */
#include "server/worlds/step_groups.h"

#include "server/base/heap.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

/* The outcome of a world's request. */
struct outcome {
	struct wire_group_item item; /* its slices are set when it is packed */
	struct bytes values;	     /* packed ids */
	uint32_t value_count;
	struct reason *why; /* owned; with a code other than OK */
};

struct step_group {
	struct step_group *next;
	uint64_t ref;
	uint32_t batch;	  /* 0: an answer of its own; else the session's asynchronous group */
	uint32_t width;	  /* numbers of an observation */
	uint32_t row;	  /* bytes of a world's observations */
	uint32_t pending; /* requests without an outcome */
	uint32_t count;	  /* outcomes; without batch also the places of those that are pending */
	bool opening;
	ARRAY_OF(struct outcome) outcomes;
	struct bytes rows;
};

/* A request that a host has, and where its outcome belongs. */
struct awaited {
	uint32_t world;
	uint64_t request;
	struct step_group *group;
	uint32_t place;
};

struct step_groups {
	struct step_group *first;
	ARRAY_OF(struct awaited) awaited;
	uint32_t
		hint; /* where the next outcome is probably awaited: hosts answer in the order of requests */
};

/* ---- groups ------------------------------------------------------------------------------------- */

static struct step_groups *groups_of(struct session *session)
{
	if (session->groups == NULL)
		session->groups = heap_alloc_zero(sizeof *session->groups);
	return session->groups;
}

static void empty_group(struct step_group *group)
{
	for (uint32_t i = 0; i < group->count; i++) {
		bytes_release(&group->outcomes.items[i].values);
		heap_free(group->outcomes.items[i].why);
	}
	group->count = 0;
	bytes_reset(&group->rows);
}

static void free_group(struct step_group *group)
{
	empty_group(group);
	ARRAY_RELEASE(&group->outcomes);
	bytes_release(&group->rows);
	heap_free(group);
}

static void unlink_group(struct step_groups *groups, struct step_group *group)
{
	struct step_group **at = &groups->first;
	while (*at != group)
		at = &(*at)->next;
	*at = group->next;
}

static struct step_group *asynchronous_group(struct step_groups *groups)
{
	struct step_group *group = groups->first;
	while (group != NULL && group->batch == 0)
		group = group->next;
	return group;
}

/* ---- sending ------------------------------------------------------------------------------------ */

static uint32_t bytes_of_items(const struct step_group *group)
{
	uint32_t bytes = 0;
	for (uint32_t i = 0; i < group->count; i++) {
		const struct outcome *outcome = &group->outcomes.items[i];
		bytes += GROUP_ITEM_BYTES + (uint32_t)outcome->values.count;
		bytes += outcome->why != NULL ? (uint32_t)sizeof *outcome->why : 0;
	}
	return bytes;
}

static void pack_outcome(struct wire_packer *out, struct outcome *outcome)
{
	struct wire_group_item *item = &outcome->item;
	item->values = (struct wire_list){ outcome->values.data, (uint32_t)outcome->values.count,
					   outcome->value_count };
	if (outcome->why != NULL) {
		item->index = outcome->why->index;
		item->field = wire_text(outcome->why->field);
		item->text = wire_text(outcome->why->text);
	}
	group_item_pack(out, item);
}

/* Stores the answer for a repeat of each of its requests. */
static void store_answer(struct session *session, const struct step_group *group,
			 struct frame *frame)
{
	for (uint32_t i = 0; i < group->count; i++) {
		const struct wire_group_item *item = &group->outcomes.items[i].item;
		struct membership *membership = session_membership(session, item->world);
		if (membership == NULL || item->request < membership->step)
			continue;
		frame_release(membership->stepped);
		membership->step = item->request;
		membership->stepped = frame_retain(frame);
	}
}

static enum status pack_group(struct session *session, struct step_group *group,
			      struct frame **frame)
{
	uint32_t room = bytes_of_items(group);
	uint8_t *packed = heap_alloc(MAX_OF(room, 1u));
	if (packed == NULL)
		return STATUS_NO_MEMORY;
	struct wire_packer out = wire_packer_over(packed, room);
	for (uint32_t i = 0; i < group->count; i++)
		pack_outcome(&out, &group->outcomes.items[i]);
	enum status status = wire_packer_status(&out);
	ASSERT(status == STATUS_OK);
	struct message message;
	message_init(&message, MESSAGE_STEPPED_WORLDS);
	message.stepped_worlds.ref = group->ref;
	message.stepped_worlds.worlds = (struct wire_list){ packed, out.bytes, group->count };
	message.stepped_worlds.width = group->width;
	message.stepped_worlds.data =
		(struct wire_slice){ group->rows.data, (uint32_t)group->rows.count };
	status = outbox_pack(&session->outbox, &message, frame);
	heap_free(packed);
	return status;
}

/* Without memory the session ends, because its client would wait for ever. */
static void send_group(struct session *session, struct step_group *group)
{
	struct frame *frame;
	if (pack_group(session, group, &frame) != STATUS_OK) {
		session->outbox.failed = true;
	} else {
		store_answer(session, group, frame);
		outbox_put(&session->outbox, frame);
	}
	empty_group(group);
}

/* Sends the group if it is complete, and frees it then unless it is the asynchronous one. */
static void settle_group(struct session *session, struct step_group *group)
{
	bool full = group->batch > 0 && group->count >= group->batch;
	if (group->opening || group->count == 0 || (group->pending > 0 && !full))
		return;
	send_group(session, group);
	if (group->batch > 0)
		return;
	unlink_group(session->groups, group);
	free_group(group);
}

/* ---- outcomes ----------------------------------------------------------------------------------- */

/* Room for one more outcome at the end: its place. */
static enum status add_place(struct step_group *group, uint32_t *place)
{
	enum status status = ARRAY_RESERVE(&group->outcomes, group->count + 1u);
	if (status == STATUS_OK)
		status = bytes_reserve(&group->rows, group->row);
	if (status != STATUS_OK)
		return status;
	*place = group->count++;
	group->outcomes.items[*place] = (struct outcome){ .item.index = -1 };
	if (group->row > 0)
		memset(group->rows.data + group->rows.count, 0, group->row);
	group->rows.count += group->row;
	return STATUS_OK;
}

static void set_reason(struct outcome *outcome, const struct reason *why)
{
	outcome->item.code = why->status;
	outcome->why = heap_alloc(sizeof *why);
	if (outcome->why != NULL)
		*outcome->why = *why;
}

static struct outcome *outcome_at(struct session *session, struct step_group *group, uint32_t place,
				  uint32_t world, uint64_t request)
{
	if (group->batch > 0 && add_place(group, &place) != STATUS_OK) {
		session->outbox.failed = true;
		return NULL;
	}
	struct outcome *outcome = &group->outcomes.items[place];
	outcome->item.world = world;
	outcome->item.request = request;
	return outcome;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* The session's asynchronous group, or a new group. NULL: out of memory. */
static struct step_group *group_for(struct step_groups *groups, bool asynchronous)
{
	struct step_group *group = asynchronous ? asynchronous_group(groups) : NULL;
	if (group != NULL)
		return group;
	group = heap_alloc_zero(sizeof *group);
	if (group == NULL)
		return NULL;
	group->next = groups->first;
	groups->first = group;
	return group;
}

/* Room for all worlds of the message, so that nothing after it fails for want of memory. */
static enum status reserve_worlds(struct step_groups *groups, struct step_group *group,
				  uint32_t count)
{
	enum status status = ARRAY_RESERVE(&groups->awaited, groups->awaited.count + count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&group->outcomes, group->count + count);
	if (status == STATUS_OK)
		status = bytes_reserve(&group->rows, (size_t)group->row * count);
	return status;
}

enum status step_group_open(struct session *session, const struct msg_step_worlds *message,
			    const struct step_plan *plan, struct step_group **out,
			    struct reason *why)
{
	struct step_groups *groups = groups_of(session);
	uint32_t row = (uint32_t)step_plan_row_bytes(plan);
	struct step_group *group = groups != NULL ? group_for(groups, message->batch > 0) : NULL;
	if (group == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "worlds", "%s",
				  status_text(STATUS_NO_MEMORY));
	bool same = group->row == row && group->width == plan->observe.width;
	if ((group->pending > 0 || group->count > 0) && !same)
		return reason_set(why, STATUS_BUSY, -1, "observe",
				  "worlds with observations of another size are still under way: "
				  "wait for their answers first");
	group->ref = message->ref;
	group->batch = (uint32_t)message->batch;
	group->row = row;
	group->width = plan->observe.width;
	group->opening = true;
	*out = group;
	if (reserve_worlds(groups, group, message->worlds.count) == STATUS_OK)
		return STATUS_OK;
	step_group_close(session, group);
	return reason_set(why, STATUS_NO_MEMORY, -1, "worlds", "%s", status_text(STATUS_NO_MEMORY));
}

void step_group_await(struct session *session, struct step_group *group, uint32_t world,
		      uint64_t request)
{
	struct step_groups *groups = session->groups;
	uint32_t place = 0;
	if (group->batch == 0) {
		enum status status = add_place(group, &place);
		ASSERT(status == STATUS_OK); /* reserved before */
	}
	groups->awaited.items[groups->awaited.count++] =
		(struct awaited){ world, request, group, place };
	group->pending++;
}

void step_group_refuse(struct session *session, struct step_group *group, uint32_t world,
		       uint64_t request, const struct reason *why)
{
	uint32_t place = 0;
	if (group->batch == 0) {
		enum status status = add_place(group, &place);
		ASSERT(status == STATUS_OK);
	}
	struct outcome *outcome = outcome_at(session, group, place, world, request);
	if (outcome != NULL)
		set_reason(outcome, why);
}

void step_group_close(struct session *session, struct step_group *group)
{
	group->opening = false;
	if (group->count > 0 || group->pending > 0 || group->batch > 0) {
		settle_group(session, group);
		return;
	}
	unlink_group(session->groups, group);
	free_group(group);
}

/* ---- taking ------------------------------------------------------------------------------------- */

/* Removes the entry of a request from the list; false: there is none. The last entry takes its
 * place. */
static bool take_awaited(struct step_groups *groups, uint32_t world, uint64_t request,
			 struct awaited *out)
{
	uint32_t count = groups->awaited.count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = (groups->hint + i) % count;
		const struct awaited *entry = &groups->awaited.items[at];
		if (entry->world != world || (request != 0 && entry->request != request))
			continue;
		*out = *entry;
		groups->awaited.count--;
		memmove(&groups->awaited.items[at], &groups->awaited.items[at + 1],
			(groups->awaited.count - at) * sizeof *groups->awaited.items);
		groups->hint = at < groups->awaited.count ? at : 0;
		return true;
	}
	return false;
}

void step_groups_take(struct session *session, struct membership *membership, uint32_t world,
		      const struct reply_report *reply)
{
	struct awaited awaited;
	session_step_answered(membership, reply->ref);
	if (session->groups == NULL || !take_awaited(session->groups, world, reply->ref, &awaited))
		return;
	struct step_group *group = awaited.group;
	group->pending--;
	struct outcome *outcome = outcome_at(session, group, awaited.place, world, reply->ref);
	if (outcome == NULL)
		return;
	struct wire_group_item *item = &outcome->item;
	item->epoch = reply->epoch;
	item->tick = reply->tick;
	item->edit = reply->edit;
	item->steps = reply->steps;
	item->tick_hash = reply->tick_hash;
	item->state_hash = reply->state_hash;
	if (reply->results.count > 0 &&
	    bytes_append(&outcome->values, reply->results.data, reply->results.count) == STATUS_OK)
		outcome->value_count = reply->result_count;
	if (reply->status != STATUS_OK)
		set_reason(outcome, &reply->why);
	uint32_t place = (uint32_t)(outcome - group->outcomes.items);
	size_t bytes = MIN_OF(reply->raw.count, (size_t)group->row);
	if (bytes > 0)
		memcpy(group->rows.data + (size_t)place * group->row, reply->raw.data, bytes);
	settle_group(session, group);
}

/* Refuses a request that was awaited. */
static void refuse_awaited(struct session *session, const struct awaited *awaited,
			   const struct reason *why)
{
	struct step_group *group = awaited->group;
	group->pending--;
	struct outcome *outcome =
		outcome_at(session, group, awaited->place, awaited->world, awaited->request);
	if (outcome != NULL)
		set_reason(outcome, why);
	settle_group(session, group);
}

void step_group_fail(struct session *session, uint32_t world, uint64_t request,
		     const struct reason *why)
{
	struct awaited awaited;
	if (take_awaited(session->groups, world, request, &awaited))
		refuse_awaited(session, &awaited, why);
}

void step_groups_left(struct session *session, uint32_t world)
{
	struct awaited awaited;
	struct reason why;
	reason_set(&why, STATUS_NOT_JOINED, -1, "world",
		   "the session has left the world, or it has ended");
	while (session->groups != NULL && take_awaited(session->groups, world, 0, &awaited))
		refuse_awaited(session, &awaited, &why);
}

void step_groups_release(struct session *session)
{
	struct step_groups *groups = session->groups;
	if (groups == NULL)
		return;
	while (groups->first != NULL) {
		struct step_group *group = groups->first;
		groups->first = group->next;
		free_group(group);
	}
	ARRAY_RELEASE(&groups->awaited);
	heap_free(groups);
	session->groups = NULL;
}
