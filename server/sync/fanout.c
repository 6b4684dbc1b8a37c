#include "server/sync/fanout.h"

#include <string.h>

#include "protocol/delta.h"
#include "protocol/pack.h"
#include "protocol/result_wire.h"
#include "server/base/heap.h"
#include "server/sync/quantised.h"

/* An event packs to at most 97 bytes: three ids, a kind, eight floats and three headers. Parts are small
 * against what may wait for a client, so that one can be added where a few still wait. */
enum {
	PARTS_MAX = WIRE_PARTS_MAX,
	PART_BYTES = 64 << 10,
	EVENTS_A_FRAME = 512,
	EVENT_BYTES_MAX = 128,
	EVENTS_HEAD_BYTES = 64,
};
/* Parts of several frames that slow clients hold on to; beyond it the slowest loses its frame. */
#define PENDING_BYTES_MAX ((uint64_t)64 << 20)

/* Frames (without their heads) that everybody in the group gets. */
struct group {
	uint64_t base; /* serial, 0: a SNAPSHOT */
	enum wire_profile profile;
	uint8_t fields;
	bool hashed;
	uint32_t frame_max;
	ARRAY_OF(struct frame *) tails; /* references */
};

struct fanout {
	struct frame_pool *pool;
	struct view view;
	bool standing; /* the mirror is good */
	/* Of the profiles `view` and `sim`, while anybody subscribes to them. */
	struct quantised quantised[QUANTISED_PROFILES];
	uint32_t quantised_users[QUANTISED_PROFILES];
	ARRAY_OF(struct subscription *) subscriptions;
	ARRAY_OF(struct group) groups;
	uint32_t group_count; /* in use; the others keep their memory */
	struct view_delta delta;
	/* From the first frame on: a world that nobody watches needs neither. */
	struct delta_part *parts;
	uint8_t *scratch; /* one part, before it is copied into a frame of its size */
	uint32_t turn; /* first to be served; moves on each report */
	struct fanout_counters counters;
};

enum status fanout_create(struct frame_pool *pool, struct fanout **out)
{
	struct fanout *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->pool = pool;
	view_init(&self->view);
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++)
		quantised_init(&self->quantised[i], WIRE_PROFILE_VIEW + i);
	*out = self;
	return STATUS_OK;
}

static void forget_groups(struct fanout *self)
{
	for (uint32_t i = 0; i < self->group_count; i++) {
		struct group *group = &self->groups.items[i];
		for (uint32_t k = 0; k < group->tails.count; k++)
			frame_release(group->tails.items[k]);
		group->tails.count = 0;
	}
	self->group_count = 0;
}

void fanout_destroy(struct fanout *self)
{
	forget_groups(self);
	for (uint32_t i = 0; i < self->groups.count; i++)
		ARRAY_RELEASE(&self->groups.items[i].tails);
	ARRAY_RELEASE(&self->groups);
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		subscription_destroy(self->subscriptions.items[i]);
	ARRAY_RELEASE(&self->subscriptions);
	view_delta_release(&self->delta);
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++)
		quantised_release(&self->quantised[i]);
	view_release(&self->view);
	heap_free(self->parts);
	heap_free(self->scratch);
	heap_free(self);
}

/* ---- quantised profiles ------------------------------------------------------------------------ */

/* NULL for a profile that shows values as they are. */
static struct quantised *quantised_of(struct fanout *self, enum wire_profile profile)
{
	return wire_profile_quantised(profile) ? &self->quantised[profile - WIRE_PROFILE_VIEW]
					       : NULL;
}

/* One user more or less; what nobody uses takes no memory and no time. */
static void use_profile(struct fanout *self, enum wire_profile profile, int users)
{
	struct quantised *quantised = quantised_of(self, profile);
	if (quantised == NULL)
		return;
	uint32_t *count = &self->quantised_users[profile - WIRE_PROFILE_VIEW];
	*count = (uint32_t)((int)*count + users);
	if (*count == 0)
		quantised_release(quantised);
}

/* What could not follow for want of memory tries again when it is looked at. */
static void follow_view(struct fanout *self)
{
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++) {
		if (self->quantised_users[i] == 0)
			continue;
		enum status status = quantised_follow(&self->quantised[i], &self->view);
		UNUSED(status);
	}
}

/* Makes the rows collected those of the group's profile. */
static enum status refine(struct fanout *self, const struct group *group, bool snapshot)
{
	struct quantised *quantised = quantised_of(self, group->profile);
	if (quantised == NULL) {
		self->delta.absolute = true;
		return STATUS_OK;
	}
	enum status status = quantised_follow(quantised, &self->view);
	if (status == STATUS_OK)
		quantised_refine(quantised, &self->view, snapshot ? 0 : group->base, &self->delta);
	return status;
}

/* Hashes what a whole-world subscription sees, if the frame is to carry it. */
static struct wire_hash hash_of(struct fanout *self, const struct group *group, bool *is_tick_hash)
{
	struct quantised *quantised = quantised_of(self, group->profile);
	*is_tick_hash = false;
	if (!group->hashed)
		return (struct wire_hash){ 0 };
	uint64_t hash = quantised != NULL
				? quantised_hash(quantised, &self->view, group->fields)
				: view_hash(&self->view, group->fields, is_tick_hash);
	return (struct wire_hash){ true, hash };
}

/* ---- encoding once ----------------------------------------------------------------------------- */

static enum status encode_part(struct fanout *self, struct group *group,
			       const struct delta_frame *frame, uint32_t count, uint32_t index)
{
	if (ARRAY_RESERVE(&group->tails, group->tails.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct frame *tail;
	uint32_t bytes;
	enum status status = delta_pack_tail(frame, self->parts, count, index, self->scratch,
					     WIRE_FRAME_DOWN + WIRE_FRAME_HEADER, &bytes);
	if (status == STATUS_OK)
		status = frame_create(self->pool, bytes, &tail);
	if (status != STATUS_OK)
		return status;
	memcpy(tail->data, self->scratch, bytes);
	tail->bytes = bytes;
	group->tails.items[group->tails.count++] = tail;
	return STATUS_OK;
}

/* In small parts, or where those would be too many in the client's largest. */
static enum status plan(struct fanout *self, const struct group *group,
			const struct delta_frame *frame, uint32_t *count)
{
	uint32_t small = MIN_OF(group->frame_max, (uint32_t)PART_BYTES);
	enum status status = delta_plan(frame, small, self->parts, PARTS_MAX, count);
	if (status == STATUS_FULL)
		status = delta_plan(frame, group->frame_max, self->parts, PARTS_MAX, count);
	return status;
}

static enum status have_workplace(struct fanout *self)
{
	if (self->parts == NULL)
		self->parts = heap_alloc(PARTS_MAX * sizeof *self->parts);
	if (self->scratch == NULL)
		self->scratch = heap_alloc(WIRE_FRAME_DOWN + WIRE_FRAME_HEADER);
	return self->parts != NULL && self->scratch != NULL ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Encodes what the group needs. A base the history does not reach any more falls back to a SNAPSHOT. */
static enum status encode(struct fanout *self, struct group *group, uint64_t base_tick)
{
	struct view *view = &self->view;
	if (have_workplace(self) != STATUS_OK)
		return STATUS_NO_MEMORY;
	enum status status = STATUS_MISSING;
	if (group->base != 0)
		status = view_collect(view, group->base, group->fields, &self->delta);
	bool snapshot = status == STATUS_MISSING;
	if (snapshot)
		status = view_collect_all(view, group->fields, &self->delta);
	if (status == STATUS_OK)
		status = refine(self, group, snapshot);
	if (status != STATUS_OK)
		return status;
	bool is_tick_hash;
	struct wire_hash hash = hash_of(self, group, &is_tick_hash);
	struct delta_frame frame = {
		.snapshot = snapshot,
		.profile = group->profile,
		.fields = group->fields,
		.flags = (uint8_t)((self->delta.absolute ? WIRE_FRAME_ABSOLUTE : 0) |
				   (is_tick_hash ? WIRE_FRAME_TICK_HASH : 0)),
		.epoch = view->epoch,
		.tick = view->tick,
		.base = base_tick,
		.hash = hash,
		.removed = self->delta.removed.items,
		.removed_count = self->delta.removed.count,
		.rows = self->delta.rows.items,
		.row_count = self->delta.rows.count,
	};
	uint32_t count;
	status = plan(self, group, &frame, &count);
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = encode_part(self, group, &frame, count, i);
	self->counters.encoded += status == STATUS_OK;
	/* The heads must say what the tails are: SNAPSHOT groups stand on nothing. */
	if (snapshot)
		group->base = 0;
	return status;
}

static struct group *group_for(struct fanout *self, const struct subscription *sub)
{
	uint64_t base = sub->snapshot_due || sub->base < self->view.epoch_serial ? 0 : sub->base;
	bool hashed = subscription_is_hashed(sub);
	for (uint32_t i = 0; i < self->group_count; i++) {
		struct group *group = &self->groups.items[i];
		if (group->base == base && group->profile == sub->profile &&
		    group->fields == sub->fields && group->hashed == hashed &&
		    group->frame_max == sub->frame_max)
			return group;
	}
	if (self->group_count == self->groups.count) {
		if (ARRAY_RESERVE(&self->groups, self->groups.count + 1u) != STATUS_OK)
			return NULL;
		memset(&self->groups.items[self->groups.count++], 0, sizeof(struct group));
	}
	struct group *group = &self->groups.items[self->group_count++];
	group->base = base;
	group->profile = sub->profile;
	group->fields = sub->fields;
	group->hashed = hashed;
	group->frame_max = sub->frame_max;
	if (encode(self, group, sub->base_tick) == STATUS_OK)
		return group;
	for (uint32_t k = 0; k < group->tails.count; k++)
		frame_release(group->tails.items[k]);
	group->tails.count = 0;
	self->group_count--;
	return NULL;
}

/* ---- sending ----------------------------------------------------------------------------------- */

static void send_notice(struct subscription *sub)
{
	struct message notice;
	message_init(&notice, MESSAGE_NOTICE);
	notice.notice.sub = sub->sub;
	notice.notice.skipped = sub->skipped;
	notice.notice.lost = sub->lost;
	notice.notice.divisor = sub->divisor;
	notice.notice.code = sub->skipped > 0 ? STATUS_SLOW : STATUS_OK;
	if (outbox_send(sub->outbox, &notice) != STATUS_OK)
		return;
	sub->skipped = sub->lost = 0;
	sub->notice_due = false;
}

/* The events of one tick, from the first waiting one on; returns how many went. */
static uint32_t send_events_of_tick(struct subscription *sub, uint32_t first)
{
	uint8_t packed[EVENTS_A_FRAME * EVENT_BYTES_MAX];
	const struct dated_event *events = sub->events.items + first;
	uint32_t fit = (sub->frame_max - EVENTS_HEAD_BYTES) / EVENT_BYTES_MAX;
	uint32_t most = MIN_OF(fit, (uint32_t)EVENTS_A_FRAME), count = 0;
	struct wire_packer packer = wire_packer_over(packed, sizeof packed);
	while (first + count < sub->events.count && count < most &&
	       events[count].tick == events[0].tick && events[count].epoch == events[0].epoch)
		event_pack(&packer, &events[count++].event);
	struct message message;
	message_init(&message, MESSAGE_EVENTS);
	message.events.sub = sub->sub;
	message.events.epoch = events[0].epoch;
	message.events.tick = events[0].tick;
	message.events.list = (struct wire_list){ packed, packer.bytes, count };
	if (wire_packer_status(&packer) != STATUS_OK ||
	    outbox_send(sub->outbox, &message) != STATUS_OK) {
		sub->lost += count;
		sub->lost_total += count;
		sub->notice_due = true;
	}
	return count;
}

/* Those up to the state that has just been sent; what happened since waits for its own frame. */
static void send_events(struct subscription *sub)
{
	uint32_t ready = 0, sent = 0;
	while (ready < sub->events.count &&
	       (sub->events.items[ready].epoch < sub->pending_epoch ||
		(sub->events.items[ready].epoch == sub->pending_epoch &&
		 sub->events.items[ready].tick <= sub->pending_tick)))
		ready++;
	if (ready == 0)
		return;
	while (sent < ready)
		sent += send_events_of_tick(sub, sent);
	sub->events.count -= ready;
	memmove(sub->events.items, sub->events.items + ready,
		sub->events.count * sizeof *sub->events.items);
}

/* As many parts as there is room for; behind the last one the events up to that state. */
static void push(struct fanout *self, struct subscription *sub, uint64_t now)
{
	uint64_t bytes;
	if (!subscription_is_busy(sub))
		return;
	enum status status = subscription_push(sub, now, &bytes);
	self->counters.bytes += bytes;
	if (status != STATUS_OK || subscription_is_busy(sub))
		return;
	send_events(sub);
	self->counters.frames++;
}

/* One frame for one subscription, with the events up to it. */
static void serve(struct fanout *self, struct subscription *sub, uint64_t now)
{
	struct group *group = group_for(self, sub);
	if (group == NULL ||
	    subscription_take(sub, &self->view, group->base == 0, group->tails.items,
			      group->tails.count, now) != STATUS_OK) {
		sub->skipped++;
		sub->notice_due = true;
		return;
	}
	if (sub->notice_due)
		send_notice(sub);
	push(self, sub, now);
}

/* Bytes of parts that clients hold on to, those of the same state once; and the one that has not moved for
 * the longest time. */
static uint64_t pending_bytes(const struct fanout *self, struct subscription **slowest)
{
	uint64_t bytes = 0;
	*slowest = NULL;
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct subscription *sub = self->subscriptions.items[i];
		if (!subscription_is_busy(sub))
			continue;
		bool shared = false;
		for (uint32_t k = 0; k < i && !shared; k++) {
			const struct subscription *other = self->subscriptions.items[k];
			shared = subscription_is_busy(other) &&
				 other->pending_serial == sub->pending_serial;
		}
		bytes += shared ? 0 : sub->pending_bytes;
		if (*slowest == NULL || sub->pending_moved_at < (*slowest)->pending_moved_at)
			*slowest = sub;
	}
	return bytes;
}

static void limit_pending(struct fanout *self)
{
	struct subscription *slowest;
	while (pending_bytes(self, &slowest) > PENDING_BYTES_MAX)
		subscription_give_up(slowest);
}

enum status fanout_report(struct fanout *self, const struct tick_report *report, uint64_t now)
{
	forget_groups(self);
	if (!self->standing && !report->whole)
		return STATUS_AGAIN;
	enum status status = view_apply(&self->view, report);
	self->standing = status == STATUS_OK;
	if (status != STATUS_OK)
		return status;
	follow_view(self);
	uint32_t count = self->subscriptions.count;
	/* No tick follows one that could not be made: what it has to say does not wait for one. */
	bool last_words = !report->step && report->event_count > 0;
	self->turn++;
	for (uint32_t i = 0; i < count; i++) {
		struct subscription *sub = self->subscriptions.items[(i + self->turn) % count];
		push(self, sub, now);
		subscription_note_events(sub, report);
		if (report->whole)
			sub->snapshot_due = true;
		if (!subscription_is_due(sub, report->step) &&
		    !(last_words && sub->events.count > 0))
			continue;
		if (subscription_has_room(sub, now))
			serve(self, sub, now);
		else
			self->counters.skipped++;
	}
	limit_pending(self);
	return STATUS_OK;
}

enum status fanout_subscribe(struct fanout *self, const struct msg_subscribe *ask,
			     struct outbox *outbox, bool has_ack, uint32_t frame_max, uint64_t now,
			     struct subscription **out, struct reason *why)
{
	if (ARRAY_RESERVE(&self->subscriptions, self->subscriptions.count + 1u) != STATUS_OK)
		return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s",
				  status_text(STATUS_NO_MEMORY));
	struct subscription *sub;
	enum status status = subscription_create(ask, outbox, has_ack, frame_max, &sub, why);
	if (status != STATUS_OK)
		return status;
	self->subscriptions.items[self->subscriptions.count++] = sub;
	use_profile(self, sub->profile, 1);
	*out = sub;
	if (self->standing)
		serve(self, sub, now);
	return STATUS_OK;
}

void fanout_unsubscribe(struct fanout *self, struct subscription *subscription)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		if (self->subscriptions.items[i] != subscription)
			continue;
		self->counters.events_lost += subscription->lost_total;
		use_profile(self, subscription->profile, -1);
		self->subscriptions.count--;
		memmove(&self->subscriptions.items[i], &self->subscriptions.items[i + 1],
			(self->subscriptions.count - i) * sizeof *self->subscriptions.items);
		subscription_destroy(subscription);
		return;
	}
}

void fanout_resync(struct fanout *self, struct subscription *subscription, uint64_t now)
{
	subscription->snapshot_due = true;
	if (self->standing && subscription_has_room(subscription, now))
		serve(self, subscription, now);
}

void fanout_go_on(struct fanout *self, struct subscription *subscription, uint64_t now)
{
	push(self, subscription, now);
}

void fanout_look_after(struct fanout *self, uint64_t now)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct subscription *sub = self->subscriptions.items[i];
		push(self, sub, now);
		if (subscription_is_busy(sub) &&
		    now - sub->pending_moved_at > SUBSCRIPTION_STUCK_MS * NS_PER_MS)
			subscription_give_up(sub);
		bool behind = sub->snapshot_due || sub->base != self->view.serial;
		if (self->standing && behind && subscription_is_due(sub, false) &&
		    subscription_may_send(sub, now))
			serve(self, sub, now);
	}
}

bool fanout_stands(const struct fanout *self)
{
	return self->standing;
}

const struct view *fanout_view(const struct fanout *self)
{
	return &self->view;
}

void fanout_counters(const struct fanout *self, struct fanout_counters *out)
{
	*out = self->counters;
	out->subscriptions = self->subscriptions.count;
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		out->events_lost += self->subscriptions.items[i]->lost_total;
}
