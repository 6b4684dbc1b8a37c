#include "server/sync/subscription.h"

#include <string.h>

#include "protocol/pack.h"
#include "server/base/heap.h"

static enum status check(const struct msg_subscribe *ask, struct reason *why)
{
	enum status status = block_profile_check(ask->profile);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "profile", "profile %llu is not served",
				  (unsigned long long)ask->profile);
	if (wire_column_later(ask->fields) != NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "fields", "%s are not served yet",
				  wire_column_later(ask->fields));
	if ((ask->fields & ~(uint64_t)WIRE_COLUMNS_ALL) != 0 || ask->fields == 0)
		return reason_set(why, STATUS_RANGE, -1, "fields", "a mask of columns within %d",
				  WIRE_COLUMNS_ALL);
	if (ask->area.set || ask->areas.count > 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "area", "areas are not served yet");
	if (ask->follow.count > 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "follow",
				  "following is not served yet");
	if (ask->budget > 0)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "budget",
				  "byte budgets are not served yet");
	if (ask->divisor == 0)
		return reason_set(why, STATUS_RANGE, -1, "divisor", "at least 1");
	return STATUS_OK;
}

enum status subscription_create(const struct msg_subscribe *ask, struct outbox *outbox,
				bool has_ack, uint32_t frame_max, struct subscription **out,
				struct reason *why)
{
	enum status status = check(ask, why);
	if (status != STATUS_OK)
		return status;
	struct subscription *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->sub = ask->sub;
	self->outbox = outbox;
	self->profile = (enum wire_profile)ask->profile;
	self->fields = (uint8_t)ask->fields;
	self->frame_max = frame_max;
	self->event_mask = ask->events;
	self->divisor_asked = self->divisor = (uint32_t)ask->divisor;
	self->has_ack = has_ack;
	self->hash_every = (uint32_t)ask->hash_every;
	self->snapshot_due = true;
	self->starved_at = INSTANT_NEVER;
	*out = self;
	return STATUS_OK;
}

static void drop_pending(struct subscription *self)
{
	for (uint32_t i = self->pending_next; i < self->pending.count; i++)
		frame_release(self->pending.items[i]);
	self->pending.count = self->pending_next = 0;
	self->pending_bytes = 0;
}

void subscription_destroy(struct subscription *self)
{
	if (self == NULL)
		return;
	drop_pending(self);
	ARRAY_RELEASE(&self->pending);
	ARRAY_RELEASE(&self->events);
	heap_free(self);
}

/* ---- credit ------------------------------------------------------------------------------------ */

bool subscription_may_send(const struct subscription *self, uint64_t now)
{
	if (subscription_is_busy(self))
		return false;
	if (!self->has_ack)
		return outbox_idle(self->outbox);
	/* Credit in time alone would be megabytes when a world is stepped as fast as it can. */
	if (!outbox_takes_state(self->outbox))
		return false;
	if (self->unacked_count < 2)
		return true;
	if (self->unacked_count == SUBSCRIPTION_UNACKED_MAX)
		return false;
	uint64_t oldest = self->unacked[self->unacked_first].sent_at;
	return now - oldest <= self->round_trip + SUBSCRIPTION_GRACE_MS * NS_PER_MS;
}

static void set_divisor(struct subscription *self, uint32_t divisor, uint64_t now)
{
	self->divisor = divisor;
	self->changed_at = now;
	self->notice_due = true;
}

bool subscription_has_room(struct subscription *self, uint64_t now)
{
	uint64_t good = SUBSCRIPTION_GOOD_MS * NS_PER_MS;
	if (subscription_may_send(self, now)) {
		bool quiet = self->starved_at == INSTANT_NEVER || now - self->starved_at >= good;
		if (self->divisor > self->divisor_asked && quiet && now - self->changed_at >= good)
			set_divisor(self, MAX_OF(self->divisor / 2, self->divisor_asked), now);
		return true;
	}
	self->skipped++;
	self->skipped_total++;
	self->notice_due = true;
	bool long_ago = self->starved_at == INSTANT_NEVER || now - self->changed_at >= NS_PER_S;
	self->starved_at = now;
	if (long_ago && self->divisor < self->divisor_asked * SUBSCRIPTION_DIVISOR_MAX)
		set_divisor(self, self->divisor * 2, now);
	return false;
}

bool subscription_is_hashed(const struct subscription *self)
{
	return self->hash_every > 0 && self->frames_total % self->hash_every == 0;
}

bool subscription_is_due(struct subscription *self, bool step)
{
	self->since += step;
	return self->snapshot_due || self->since >= self->divisor;
}

/* ---- frames on their way ----------------------------------------------------------------------- */

void subscription_give_up(struct subscription *self)
{
	drop_pending(self);
	self->snapshot_due = true;
}

enum status subscription_take(struct subscription *self, const struct view *view, bool snapshot,
			      struct frame *const parts[], uint32_t count, uint64_t now)
{
	ASSERT(!subscription_is_busy(self));
	self->pending.count = self->pending_next = 0;
	if (ARRAY_RESERVE(&self->pending, count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++) {
		self->pending.items[i] = frame_retain(parts[i]);
		self->pending_bytes += parts[i]->bytes;
	}
	self->pending.count = count;
	self->pending_serial = view->serial;
	self->pending_tick = view->tick;
	self->pending_epoch = view->epoch;
	self->pending_snapshot = snapshot;
	self->pending_moved_at = now;
	self->base = view->serial;
	self->base_tick = view->tick;
	self->snapshot_due = false;
	self->since = 0;
	return STATUS_OK;
}

/* The client's own head, then the tail that everybody shares. */
static enum status put_part(struct subscription *self, struct frame *tail, uint64_t *bytes)
{
	struct frame *head;
	enum status status = frame_create(self->outbox->pool, WIRE_HEAD_MAX, &head);
	if (status != STATUS_OK)
		return status;
	head->bytes = message_pack_head(self->pending_snapshot ? MESSAGE_SNAPSHOT : MESSAGE_DELTA,
					self->sub, tail->bytes, true, head->data);
	*bytes += head->bytes + tail->bytes;
	outbox_put_state(self->outbox, head);
	outbox_put_state(self->outbox, frame_retain(tail));
	return STATUS_OK;
}

/* The last part is in the outbox. */
static void note_sent(struct subscription *self, uint64_t now)
{
	self->frames_total++;
	if (!self->has_ack || self->unacked_count == SUBSCRIPTION_UNACKED_MAX)
		return;
	uint32_t at = (self->unacked_first + self->unacked_count++) % SUBSCRIPTION_UNACKED_MAX;
	self->unacked[at] = (struct unacked_frame){ self->pending_tick, now, self->pending_epoch };
}

enum status subscription_push(struct subscription *self, uint64_t now, uint64_t *bytes)
{
	*bytes = 0;
	while (subscription_is_busy(self) && outbox_takes_state(self->outbox)) {
		struct frame *tail = self->pending.items[self->pending_next];
		if (put_part(self, tail, bytes) != STATUS_OK) {
			subscription_give_up(self);
			return STATUS_NO_MEMORY;
		}
		self->pending_next++;
		self->pending_bytes -= tail->bytes;
		self->pending_moved_at = now;
		frame_release(tail);
		if (!subscription_is_busy(self))
			note_sent(self, now);
	}
	return STATUS_OK;
}

void subscription_ack(struct subscription *self, uint32_t epoch, uint64_t tick, uint64_t now)
{
	/* Frames are sent in order and acknowledged in order: everything up to the named one is done. An
	 * acknowledgement of a frame that is not waiting changes nothing. */
	for (uint32_t i = 0; i < self->unacked_count; i++) {
		uint32_t at = (self->unacked_first + i) % SUBSCRIPTION_UNACKED_MAX;
		const struct unacked_frame *frame = &self->unacked[at];
		if (frame->epoch != epoch || frame->tick != tick)
			continue;
		uint64_t sample = now - frame->sent_at;
		self->round_trip = self->round_trip == 0 ? sample
							 : (self->round_trip * 7 + sample) / 8;
		self->round_trip = MIN_OF(self->round_trip, NS_PER_S);
		self->unacked_first = (at + 1) % SUBSCRIPTION_UNACKED_MAX;
		self->unacked_count -= i + 1;
		return;
	}
}

/* ---- events ------------------------------------------------------------------------------------ */

void subscription_note_events(struct subscription *self, const struct tick_report *report)
{
	for (uint32_t i = 0; i < report->event_count; i++) {
		const struct event *event = &report->events[i];
		if (!(self->event_mask >> event->kind & 1))
			continue;
		if (self->events.count == SUBSCRIPTION_EVENTS_MAX ||
		    ARRAY_RESERVE(&self->events, self->events.count + 1u) != STATUS_OK) {
			self->lost++;
			self->lost_total++;
			self->notice_due = true;
			continue;
		}
		self->events.items[self->events.count++] =
			(struct dated_event){ report->tick, report->epoch, *event };
	}
}
