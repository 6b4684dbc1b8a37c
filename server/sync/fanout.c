/* See fanout.h. In this order: sending frames, events, rounds, paying for interests, subscriptions.
 * Frames are encoded in fanout_encode.c. */
#include "server/sync/fanout.h"

#include <string.h>

#include "protocol/pack.h"
#include "protocol/result_wire.h"
#include "server/base/heap.h"
#include "server/base/prefetch.h"
#include "server/sync/fanout_state.h"

/* An event packs to at most 97 bytes: three ids, a kind, eight floats and three headers. */
enum { EVENT_BYTES_MAX = 128, SNAPSHOTS_LIVE_MAX = 2 };
/* So many particles cost as much as one body: they are neighbours in memory, and compared in order. */
enum { PARTICLES_A_BODY = 16 };
/* Bytes of parts that wait for slow clients; beyond it the slowest client's frame is dropped. */
#define PENDING_BYTES_MAX ((uint64_t)64 << 20)

enum status fanout_create(struct frame_pool *pool, struct fanout **out)
{
	struct fanout *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	self->pool = pool;
	view_init(&self->view);
	interest_map_init(&self->interests);
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++)
		quantised_init(&self->quantised[i], WIRE_PROFILE_VIEW + i);
	*out = self;
	return STATUS_OK;
}

static void end_subscription(struct fanout *self, struct subscription *sub)
{
	interest_release(&self->interests, sub->interest);
	sub->interest = NULL;
	subscription_destroy(sub);
}

void fanout_destroy(struct fanout *self)
{
	fanout_drop_groups(self);
	for (uint32_t i = 0; i < self->groups.count; i++)
		ARRAY_RELEASE(&self->groups.items[i].tails);
	ARRAY_RELEASE(&self->groups);
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		end_subscription(self, self->subscriptions.items[i]);
	ARRAY_RELEASE(&self->subscriptions);
	interest_map_release(&self->interests);
	view_delta_release(&self->delta);
	ARRAY_RELEASE(&self->joint_delta.seen);
	ARRAY_RELEASE(&self->joint_delta.rows);
	ARRAY_RELEASE(&self->joint_delta.removed);
	fanout_release_particles(self);
	for (uint32_t i = 0; i < QUANTISED_PROFILES; i++)
		quantised_release(&self->quantised[i]);
	view_release(&self->view);
	bytes_release(&self->event_bytes);
	ARRAY_RELEASE(&self->event_ends);
	heap_free(self->parts);
	heap_free(self->scratch);
	heap_free(self);
}

/* ---- sending ----------------------------------------------------------------------------------- */

/* Queues as many parts as there is room for, and after the last one the events up to that state. */
static void send_parts(struct fanout *self, struct subscription *sub, uint64_t now)
{
	uint64_t bytes;
	if (!subscription_is_busy(sub))
		return;
	enum status status = subscription_send_parts(sub, now, &bytes);
	self->counters.bytes += bytes;
	if (status != STATUS_OK || subscription_is_busy(sub))
		return;
	subscription_send_events(sub);
	self->counters.frames++;
}

static uint64_t bytes_of(const struct fanout_group *group)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < group->tails.count; i++)
		bytes += group->tails.items[i]->bytes + WIRE_HEAD_MAX;
	return bytes;
}

/* True if two other SNAPSHOTs of the world are being sent in parts: then the next one waits, and
 * all waiting subscriptions will share it. A client that has taken nothing for a second does not
 * count. */
static bool must_wait(const struct fanout *self, const struct subscription *sub, uint64_t now)
{
	uint64_t live[SNAPSHOTS_LIVE_MAX];
	uint32_t count = 0;
	bool snapshot = sub->snapshot_due || sub->base < self->view.epoch_serial;
	for (uint32_t i = 0; snapshot && sub->interest == NULL && i < self->subscriptions.count;
	     i++) {
		const struct subscription *other = self->subscriptions.items[i];
		if (!subscription_is_busy(other) || !other->pending_snapshot ||
		    other->interest != NULL || other->profile != sub->profile ||
		    now - other->pending_moved_at > NS_PER_S)
			continue;
		if (other->pending_serial == self->view.serial)
			return false; /* it shares this one */
		bool known = false;
		for (uint32_t k = 0; k < count; k++)
			known = known || live[k] == other->pending_serial;
		if (known)
			continue;
		if (count == SNAPSHOTS_LIVE_MAX)
			return true;
		live[count++] = other->pending_serial;
	}
	return count == SNAPSHOTS_LIVE_MAX;
}

/* True if a frame without changes may be left out: no event waits, and the client's tick is recent. */
static bool may_leave_out(const struct fanout *self, const struct subscription *sub)
{
	return sub->runs.count == 0 && !sub->notice_due && self->view.tick >= sub->base_tick &&
	       self->view.tick - sub->base_tick < FANOUT_QUIET_TICKS;
}

static void skip_frame(struct subscription *sub)
{
	sub->skipped++;
	sub->notice_due = true;
}

static enum status no_memory(struct reason *why)
{
	return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s", status_text(STATUS_NO_MEMORY));
}

/* Gives the subscription its interest; the whole world without a budget needs none. */
static enum status acquire_interest(struct fanout *self, struct subscription *sub,
				    struct interest_set *set, bool limited, struct reason *why)
{
	if (!limited && sub->ration == NULL)
		return STATUS_OK;
	if (!limited)
		*set = (struct interest_set){ .area_count = 1 };
	enum status status = interest_acquire(&self->interests, &self->view, self->standing, set,
					      &sub->interest);
	return status == STATUS_OK ? STATUS_OK : no_memory(why);
}

/* Applies the last FOCUS, however many there were since the last frame. Without memory it is
 * retried. */
static void turn_to_focus(struct fanout *self, struct subscription *sub)
{
	struct interest_set set;
	struct interest *before = sub->interest;
	struct reason why;
	enum status status;
	if (sub->focus == NULL)
		return;
	set = *sub->focus;
	if (before != NULL && (sub->focus_limited || sub->ration != NULL)) {
		if (!sub->focus_limited)
			set = (struct interest_set){ .area_count = 1 };
		status = interest_move(&self->interests, &self->view, &sub->interest, &set);
		/* Groups collected for the previous areas are void. */
		sub->interest->round = 0;
	} else {
		/* From the whole world to a part of it, or back. */
		sub->interest = NULL;
		status = acquire_interest(self, sub, &set, sub->focus_limited, &why);
		if (status == STATUS_OK)
			interest_release(&self->interests, before);
		else
			sub->interest = before;
		sub->snapshot_due = sub->snapshot_due || before != sub->interest;
	}
	if (status != STATUS_OK)
		return;
	heap_free(sub->focus);
	sub->focus = NULL;
}

uint64_t fanout_work(const struct fanout *self)
{
	return self->interests.looked + self->counters.rows + self->rows_hashed +
	       self->joints_looked + self->particles_looked / PARTICLES_A_BODY +
	       self->counters.heard;
}

/* Wakes the subscription's interest if its allowance can pay for it (plan_interests). An interest
 * that rests because it tested too much is tried again at twice as much. */
static void wake_perhaps(struct fanout *self, struct subscription *sub, uint64_t now)
{
	struct interest *interest = sub->interest;
	if (interest == NULL || !interest->rests)
		return;
	if (allowance_left(sub->allowance, now) > 2.0 * interest->cost)
		interest_wake(&self->interests, &self->view, interest);
	else
		interest->cost -= interest->cost / 16 + 1;
}

static struct frame_parts parts_of(const struct fanout_group *group)
{
	return (struct frame_parts){ .items = group->tails.items,
				     .count = group->tails.count,
				     .bodies = group->body_tails,
				     .rows = group->row_tails,
				     .snapshot = group->base == 0 };
}

static void make_frame(struct fanout *self, struct subscription *sub, uint64_t now, bool may_wait)
{
	bool partial = false;
	if (sub->interest != NULL)
		interest_settle_now(&self->interests, &self->view, sub->interest);
	struct fanout_group *group = sub->ration != NULL ? fanout_ration_group(self, sub, &partial)
							 : fanout_group(self, sub);
	if (group != NULL && group->empty && may_wait && may_leave_out(self, sub)) {
		subscription_advance(sub, &self->view, group->next);
		sub->partial = partial;
		return;
	}
	if (group != NULL && group->empty && fanout_encode_empty(self, group) != STATUS_OK)
		group = NULL;
	enum status status = STATUS_NO_MEMORY;
	if (group != NULL) {
		struct frame_parts parts = parts_of(group);
		status = subscription_set_frame(sub, &self->view, group->next, &parts, now);
	}
	if (status != STATUS_OK) {
		/* The budget has marked its choice as sent, so only a SNAPSHOT restores the client. */
		sub->snapshot_due = sub->snapshot_due || sub->ration != NULL;
		if (sub->interest != NULL)
			interest_forget_sights(sub->interest);
		skip_frame(sub);
		return;
	}
	sub->partial = partial;
	if (sub->ration != NULL)
		ration_spend(sub->ration, bytes_of(group));
	subscription_send_notice(sub);
	send_parts(self, sub, now);
}

/* One frame for one subscription, with the events up to it. */
static void serve_subscription(struct fanout *self, struct subscription *sub, uint64_t now,
			       bool may_wait)
{
	/* Contacts were requested from the host; its next report contains them. */
	if ((sub->fields & WIRE_COLUMN_CONTACTS) && !self->view.contacts)
		return;
	if (sub->joints != 0 && !self->view.joints.valid)
		return;
	if (sub->particles != 0 && !self->view.particles.valid)
		return;
	if (!allowance_permits(sub->allowance, now)) {
		subscription_note_shortage(sub);
		self->counters.short_of++;
		self->short_of = true;
		return;
	}
	turn_to_focus(self, sub);
	/* After a move, without memory for its areas: the next round tries again. */
	if (sub->focus != NULL && sub->interest == NULL &&
	    (sub->focus_limited || sub->ration != NULL))
		return;
	if (sub->ration != NULL && !ration_allows(sub->ration, now))
		return;
	if (must_wait(self, sub, now))
		return;
	uint64_t before = fanout_work(self);
	make_frame(self, sub, now, may_wait);
	allowance_spend(sub->allowance, (double)(fanout_work(self) - before));
	wake_perhaps(self, sub, now);
}

/* Bytes of parts that wait for clients, where clients that share a part each count a fraction of
 * it; and the subscription whose frame has not moved for the longest time. */
static uint64_t pending_bytes(const struct fanout *self, struct subscription **slowest)
{
	uint64_t bytes = 0;
	*slowest = NULL;
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct subscription *sub = self->subscriptions.items[i];
		if (!subscription_is_busy(sub))
			continue;
		for (uint32_t k = sub->pending_next; k < sub->pending.count; k++) {
			const struct frame *part = sub->pending.items[k];
			bytes += part->bytes / MAX_OF(atomic_load(&part->refs), 1u);
		}
		if (*slowest == NULL || sub->pending_moved_at < (*slowest)->pending_moved_at)
			*slowest = sub;
	}
	return bytes;
}

static void limit_pending(struct fanout *self)
{
	struct subscription *slowest;
	while (pending_bytes(self, &slowest) > PENDING_BYTES_MAX)
		subscription_drop_frame(slowest);
}

/* ---- events ------------------------------------------------------------------------------------ */

/* Packs the report's events once for all subscriptions. False: no memory; then they are dropped and
 * counted. */
static bool pack_events(struct fanout *self, const struct tick_report *report)
{
	self->event_bytes.count = self->event_ends.count = 0;
	if (ARRAY_RESERVE(&self->event_ends, report->event_count) != STATUS_OK)
		return false;
	for (uint32_t i = 0; i < report->event_count; i++) {
		uint8_t packed[EVENT_BYTES_MAX];
		struct wire_packer packer = wire_packer_over(packed, sizeof packed);
		event_pack(&packer, &report->events[i]);
		if (bytes_append(&self->event_bytes, packed, packer.bytes) != STATUS_OK)
			return false;
		self->event_ends.items[self->event_ends.count++] =
			(uint32_t)self->event_bytes.count;
	}
	return true;
}

/* True if the subscription gets the event: it selects the kind, and sees one of the bodies, or the
 * event names no body. */
static bool wants_event(const struct subscription *sub, const struct event *event)
{
	if (!(sub->event_mask >> event->kind & 1))
		return false;
	if (sub->interest == NULL || (event->a == 0 && event->b == 0))
		return true;
	/* Body a of a joint may be the world. */
	return (event->a != 0 && interest_sees(sub->interest, event->a)) ||
	       (event->b != 0 && interest_sees(sub->interest, event->b));
}

static void note_events(struct fanout *self, struct subscription *sub,
			const struct tick_report *report, bool packed)
{
	if (sub->event_mask == 0)
		return;
	self->counters.heard += report->event_count;
	allowance_spend(sub->allowance, report->event_count);
	for (uint32_t i = 0; i < report->event_count; i++) {
		uint32_t from = packed && i > 0 ? self->event_ends.items[i - 1] : 0;
		if (!wants_event(sub, &report->events[i]))
			continue;
		if (packed)
			subscription_queue_event(sub, report->tick, report->edit, report->epoch,
						 self->event_bytes.data + from,
						 self->event_ends.items[i] - from);
		else
			subscription_count_lost_events(sub, 1);
	}
}

/* Number of the report's events of the selected kinds. */
static uint32_t count_asked(const struct subscription *sub, const struct tick_report *report)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < report->event_count && sub->event_mask != 0; i++)
		count += sub->event_mask >> report->events[i].kind & 1;
	return count;
}

static void queue_report_events(struct fanout *self, const struct tick_report *report)
{
	bool packed = pack_events(self, report);
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct subscription *sub = self->subscriptions.items[i];
		if (allowance_is_far_over(sub->allowance))
			subscription_count_lost_events(sub, count_asked(sub, report));
		else
			note_events(self, sub, report, packed);
		sub->snapshot_due = sub->snapshot_due || report->whole;
	}
}

/* ---- rounds ------------------------------------------------------------------------------------ */

/* The next round begins with the subscriptions that were not served before, or else far from where
 * the last one began, so that no client is always served last. */
static void begin_round(struct fanout *self)
{
	uint32_t count = self->subscriptions.count;
	self->counters.late += self->left;
	if (self->left == 0)
		self->turn += count * 5 / 8 + 1;
	self->turn = count > 0 ? self->turn % count : 0;
	self->left = count;
	self->parts_wait = self->short_of = self->again = self->at_rest = false;
}

/* True if the subscription lacks the newest state, or a part of it. */
static bool is_behind(const struct fanout *self, const struct subscription *sub)
{
	return sub->snapshot_due || sub->base != self->view.serial ||
	       sub->base_tick != self->view.tick || sub->base_edit != self->view.edit ||
	       sub->partial || sub->focus != NULL ||
	       (sub->interest != NULL && sub->mark.turns != sub->interest->turn_next);
}

static void serve_in_turn(struct fanout *self, struct subscription *sub, uint64_t now)
{
	if (sub->outbox->stream == NULL)
		return; /* lost; its events are stored until it resumes */
	send_parts(self, sub, now);
	bool waits = self->last_words && sub->runs.count > 0;
	if (self->again) {
		bool due = self->at_rest || subscription_is_due(sub, &self->view);
		if (((due && is_behind(self, sub)) || waits) && subscription_may_send(sub, now))
			serve_subscription(self, sub, now, false);
		return;
	}
	if (!subscription_is_due(sub, &self->view) && !waits)
		return;
	if (subscription_has_room(sub, now))
		serve_subscription(self, sub, now, true);
	else
		self->counters.skipped++;
}

/* Subscriptions are far apart in memory, so those that are served soon are prefetched while others
 * are served, in three steps, because each gives the address of the next. */
static void fetch_ahead(const struct fanout *self)
{
	enum { STEP = 2 };
	struct subscription *const *items = self->subscriptions.items;
	uint32_t count = self->subscriptions.count;
	prefetch(items[(self->turn + 3 * STEP) % count], offsetof(struct subscription, acked));
	outbox_prefetch(items[(self->turn + 2 * STEP) % count]->outbox);
	outbox_prefetch_stream(items[(self->turn + STEP) % count]->outbox);
}

bool fanout_continue(struct fanout *self, uint64_t now)
{
	uint32_t count = self->subscriptions.count;
	uint64_t enough = fanout_work(self) + FANOUT_SLICE_WORK;
	self->left = MIN_OF(self->left, count);
	for (uint32_t i = 0; i < FANOUT_SLICE && self->left > 0 && fanout_work(self) < enough;
	     i++, self->left--) {
		fetch_ahead(self);
		self->turn = (self->turn + 1) % count;
		struct subscription *sub = self->subscriptions.items[self->turn];
		serve_in_turn(self, sub, now);
		self->parts_wait = self->parts_wait || subscription_is_busy(sub);
	}
	if (self->left == 0 && self->parts_wait)
		limit_pending(self);
	return self->left > 0;
}

/* ---- paying for interests ----------------------------------------------------------------------- */

/* An interest may test at least this many bodies in a report, whatever the last report cost. */
enum { INTEREST_LEAST = 256 };

static void plan_interest(struct subscription *sub, uint64_t now)
{
	struct interest *interest = sub->interest;
	if (interest == NULL || interest->rests || interest->paid)
		return;
	if (sub->allowance == NULL) {
		interest->paid = true;
		interest->allowed = UINT32_MAX;
	} else if (allowance_left(sub->allowance, now) > interest->cost) {
		interest->paid = true;
		interest->allowed = MIN_OF(interest->cost, UINT32_MAX / 4) * 2 + INTEREST_LEAST;
		allowance_spend(sub->allowance, interest->cost);
		interest->payer = sub->allowance;
	}
}

/* Before a report: charges the expected cost of each interest, that of the last report, to the
 * first of its subscriptions that can pay. An interest that none can pay for rests. */
static void plan_interests(struct fanout *self, uint64_t now)
{
	uint32_t count = self->subscriptions.count;
	struct interest_map *map = &self->interests;
	for (uint32_t i = 0; i < map->interests.count; i++) {
		map->interests.items[i]->paid = false;
		map->interests.items[i]->payer = NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		plan_interest(self->subscriptions.items[(self->turn + i) % count], now);
	for (uint32_t i = 0; i < map->interests.count; i++)
		if (!map->interests.items[i]->paid && !map->interests.items[i]->rests)
			interest_rest(map, map->interests.items[i]);
}

/* After a report: charges or refunds the difference to the true cost. */
static void charge_true_costs(struct fanout *self)
{
	struct interest_map *map = &self->interests;
	for (uint32_t i = 0; i < map->interests.count; i++) {
		struct interest *interest = map->interests.items[i];
		if (interest->payer == NULL)
			continue;
		uint32_t expected = (interest->allowed - INTEREST_LEAST) / 2;
		allowance_spend(interest->payer, (double)interest->shown - expected);
		interest->payer = NULL;
		/* An interest that rests because it tested too much may test twice as much next
		 * time. */
		interest->cost = interest->rests ? interest->allowed : interest->shown;
	}
}

static enum status apply_report(struct fanout *self, const struct tick_report *report, uint64_t now)
{
	plan_interests(self, now);
	interest_map_before(&self->interests, &self->view, report);
	enum status status = view_apply(&self->view, report);
	if (status != STATUS_OK) {
		interest_map_invalidate(&self->interests);
		return status;
	}
	if (!report->contacts && !fanout_needs_contacts(self) && self->had_contacts)
		view_drop_contacts(&self->view);
	self->had_contacts = report->contacts;
	fanout_follow_view(self);
	interest_map_after(&self->interests, &self->view, report);
	charge_true_costs(self);
	return STATUS_OK;
}

bool fanout_is_watched(const struct fanout *self)
{
	return self->subscriptions.count > 0;
}

enum status fanout_report(struct fanout *self, const struct tick_report *report, uint64_t now)
{
	fanout_drop_groups(self);
	self->standing = self->standing && !report->unlisted;
	if (!self->standing && !report->whole)
		return STATUS_AGAIN;
	enum status status = apply_report(self, report, now);
	self->standing = status == STATUS_OK;
	if (status != STATUS_OK)
		return status;
	self->counters.contacts_cut += report->contacts_cut;
	if (report->step)
		self->stepped_at = now;
	/* No tick follows a failed step, so its events are sent without waiting for one. */
	self->last_words = !report->step && report->event_count > 0;
	if (report->event_count > 0 || report->whole)
		queue_report_events(self, report);
	begin_round(self);
	self->runs = report->mode == WIRE_MODE_RUNNING;
	self->rest_due = !self->runs && report->step;
	/* Reports that no step made (commands to a paused world, RESTORE, a whole state) are sent
	 * at once. */
	self->again = self->at_rest = !self->runs && !report->step;
	fanout_continue(self, now);
	return STATUS_OK;
}

void fanout_skip(struct fanout *self)
{
	ASSERT(!fanout_is_watched(self));
	fanout_drop_groups(self);
	self->standing = false;
}

bool fanout_may_rest(const struct fanout *self)
{
	return self->standing && (self->rest_due || (self->short_of && !self->runs));
}

void fanout_rest(struct fanout *self, uint64_t now)
{
	uint64_t rest = self->runs ? FANOUT_RUNNING_REST_NS : FANOUT_REST_NS;
	if (!self->standing || self->left > 0 || now - self->stepped_at < rest)
		return;
	begin_round(self);
	self->rest_due = false;
	self->again = self->at_rest = true;
}

/* ---- subscriptions ----------------------------------------------------------------------------- */

enum status fanout_subscribe(struct fanout *self, const struct msg_subscribe *ask,
			     struct outbox *outbox, struct allowance *allowance, bool has_ack,
			     uint32_t frame_max, uint64_t now, struct subscription **out,
			     struct reason *why)
{
	struct interest_set set;
	bool limited;
	if (ARRAY_RESERVE(&self->subscriptions, self->subscriptions.count + 1u) != STATUS_OK)
		return no_memory(why);
	enum status status =
		interest_set_take(&ask->area, &ask->follow, &ask->areas, &set, &limited, why);
	struct subscription *sub;
	if (status == STATUS_OK)
		status = subscription_create(ask, outbox, has_ack, frame_max, &sub, why);
	if (status != STATUS_OK)
		return status;
	sub->allowance = allowance;
	if (ask->budget > 0 && ration_create(ask->budget, now, &sub->ration) != STATUS_OK)
		status = no_memory(why);
	if (status == STATUS_OK)
		status = acquire_interest(self, sub, &set, limited, why);
	if (status != STATUS_OK) {
		subscription_destroy(sub);
		return status;
	}
	self->subscriptions.items[self->subscriptions.count++] = sub;
	fanout_use_profile(self, sub->profile, sub->fields, 1);
	self->joint_users += sub->joints != 0;
	self->particle_users += sub->particles != 0;
	*out = sub;
	if (self->standing)
		serve_subscription(self, sub, now, false);
	return STATUS_OK;
}

enum status fanout_focus(struct fanout *self, struct subscription *sub,
			 const struct msg_focus *focus, struct reason *why)
{
	struct interest_set set;
	bool limited;
	enum status status =
		interest_set_take(&focus->area, &focus->follow, &focus->areas, &set, &limited, why);
	UNUSED(self);
	if (status != STATUS_OK)
		return status;
	if (sub->focus == NULL)
		sub->focus = heap_alloc(sizeof *sub->focus);
	if (sub->focus == NULL)
		return no_memory(why);
	*sub->focus = set;
	sub->focus_limited = limited;
	return STATUS_OK;
}

/* Takes the subscription out of the list. */
static void remove_subscription(struct fanout *self, struct subscription *subscription)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		if (self->subscriptions.items[i] != subscription)
			continue;
		fanout_use_profile(self, subscription->profile, subscription->fields, -1);
		self->joint_users -= subscription->joints != 0;
		self->particle_users -= subscription->particles != 0;
		self->subscriptions.count--;
		memmove(&self->subscriptions.items[i], &self->subscriptions.items[i + 1],
			(self->subscriptions.count - i) * sizeof *self->subscriptions.items);
		return;
	}
}

void fanout_unsubscribe(struct fanout *self, struct subscription *subscription)
{
	self->counters.events_lost += subscription->lost_total;
	remove_subscription(self, subscription);
	/* Groups of an interest that is freed with it are never found again. */
	end_subscription(self, subscription);
}

enum status fanout_move(struct fanout *from, struct fanout *self, struct subscription *sub,
			uint64_t now)
{
	struct interest *before = sub->interest;
	struct interest_set *focus = NULL;
	if (ARRAY_RESERVE(&self->subscriptions, self->subscriptions.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (before != NULL && sub->focus == NULL) {
		/* Its areas become a FOCUS, which takes effect with the next frame. */
		focus = heap_alloc(sizeof *focus);
		if (focus == NULL)
			return STATUS_NO_MEMORY;
		*focus = before->set;
		sub->focus = focus;
		sub->focus_limited = true;
	}
	remove_subscription(from, sub);
	interest_release(&from->interests, before);
	sub->interest = NULL;
	subscription_leave_base(sub);
	self->subscriptions.items[self->subscriptions.count++] = sub;
	fanout_use_profile(self, sub->profile, sub->fields, 1);
	self->joint_users += sub->joints != 0;
	self->particle_users += sub->particles != 0;
	if (self->standing && subscription_may_send(sub, now))
		serve_subscription(self, sub, now, false);
	return STATUS_OK;
}

void fanout_resync(struct fanout *self, struct subscription *subscription, uint64_t now)
{
	subscription->snapshot_due = true;
	if (self->standing && subscription_has_room(subscription, now))
		serve_subscription(self, subscription, now, false);
}

void fanout_on_writable(struct fanout *self, struct subscription *subscription, uint64_t now)
{
	send_parts(self, subscription, now);
}

void fanout_show(struct fanout *self, struct subscription *subscription, uint64_t now)
{
	if (self->standing && is_behind(self, subscription) &&
	    subscription_may_send(subscription, now))
		serve_subscription(self, subscription, now, false);
}

void fanout_check(struct fanout *self, uint64_t now)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct subscription *sub = self->subscriptions.items[i];
		send_parts(self, sub, now);
		if (subscription_is_busy(sub) &&
		    now - sub->pending_moved_at > SUBSCRIPTION_STUCK_MS * NS_PER_MS)
			subscription_drop_frame(sub);
	}
	/* In a world at rest no step sends a moved FOCUS, or the remaining bodies of a budget. */
	fanout_rest(self, now);
	if (self->left > 0 || !self->standing)
		return;
	begin_round(self);
	self->again = true;
}

bool fanout_is_serving(const struct fanout *self)
{
	return self->left > 0;
}

bool fanout_needs_contacts(const struct fanout *self)
{
	uint32_t users = 0;
	for (uint32_t i = 0; i < WIRE_PROFILES; i++)
		users += self->contact_users[i];
	return users > 0;
}

bool fanout_needs_joints(const struct fanout *self)
{
	return self->joint_users > 0;
}

bool fanout_needs_particles(const struct fanout *self)
{
	return self->particle_users > 0;
}

bool fanout_has_mirror(const struct fanout *self)
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
	out->interests = self->interests.interests.count;
	out->looked = self->interests.looked;
	out->joints = self->joints_looked;
	out->particles = self->particles_looked;
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		out->events_lost += self->subscriptions.items[i]->lost_total;
}
