#include "server/sync/subscription.h"

#include <string.h>

#include "server/base/heap.h"

static enum status check(const struct msg_subscribe *ask, struct reason *why)
{
	enum status status = block_profile_check(ask->profile);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "profile", "profile %llu is not served",
				  (unsigned long long)ask->profile);
	if ((ask->fields & ~(uint64_t)WIRE_COLUMNS_ALL) != 0 || ask->fields == 0)
		return reason_set(why, STATUS_RANGE, -1, "fields", "a mask of columns within %d",
				  WIRE_COLUMNS_ALL);
	if (ask->area.set)
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
	self->snapshot_due = true;
	self->starved_at = INSTANT_NEVER;
	*out = self;
	return STATUS_OK;
}

void subscription_destroy(struct subscription *self)
{
	if (self == NULL)
		return;
	ARRAY_RELEASE(&self->events);
	heap_free(self);
}

/* ---- credit ------------------------------------------------------------------------------------ */

static bool has_credit(const struct subscription *self, uint64_t now)
{
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
	if (has_credit(self, now)) {
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

bool subscription_is_due(struct subscription *self, bool step)
{
	self->since += step;
	return self->snapshot_due || self->since >= self->divisor;
}

void subscription_sent(struct subscription *self, const struct view *view, uint64_t now)
{
	self->base = view->serial;
	self->base_tick = view->tick;
	self->snapshot_due = false;
	self->since = 0;
	self->frames_total++;
	if (!self->has_ack || self->unacked_count == SUBSCRIPTION_UNACKED_MAX)
		return;
	uint32_t at = (self->unacked_first + self->unacked_count++) % SUBSCRIPTION_UNACKED_MAX;
	self->unacked[at] = (struct unacked_frame){ view->tick, now, view->epoch };
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
