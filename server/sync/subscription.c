/* See subscription.h. */
#include "server/sync/subscription.h"

#include <string.h>

#include "protocol/cursor.h"
#include "protocol/pack.h"
#include "server/base/heap.h"

/* A tail of at most this many bytes is copied behind the client's head (put_part). */
enum { SMALL_TAIL = 4096 };

static enum status check_request(const struct msg_subscribe *ask, uint32_t frame_max,
				 struct reason *why)
{
	enum status status = block_profile_check(ask->profile);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "profile", "profile %llu is not served",
				  (unsigned long long)ask->profile);
	if (wire_column_retired(ask->fields) != NULL)
		return reason_set(why, STATUS_UNSUPPORTED, -1, "fields",
				  "this column of bodies no longer exists: %s",
				  wire_column_retired(ask->fields));
	if ((ask->fields & ~(uint64_t)WIRE_COLUMNS_SERVED) != 0 || ask->fields == 0)
		return reason_set(why, STATUS_RANGE, -1, "fields",
				  "fields is %llu: it must be a sum of bits of %d, not 0",
				  (unsigned long long)ask->fields, WIRE_COLUMNS_SERVED);
	if ((ask->joints & ~(uint64_t)WIRE_JOINT_COLUMNS_ALL) != 0)
		return reason_set(why, STATUS_RANGE, -1, "joints",
				  "joints is %llu: it must be a sum of bits of %d, or 0 for none",
				  (unsigned long long)ask->joints, WIRE_JOINT_COLUMNS_ALL);
	if ((ask->particles & ~(uint64_t)WIRE_PARTICLE_COLUMNS_ALL) != 0)
		return reason_set(
			why, STATUS_RANGE, -1, "particles",
			"particles is %llu: it must be a sum of bits of %d, or 0 for none",
			(unsigned long long)ask->particles, WIRE_PARTICLE_COLUMNS_ALL);
	if (ask->sample == 0)
		return reason_set(
			why, STATUS_RANGE, -1, "sample",
			"sample is 0: it must be within 1 and 1048576; 1 for every particle");
	if (ask->particles != 0 && frame_max < WIRE_FRAME_PARTICLES)
		return reason_set(why, STATUS_TOO_LARGE, -1, "particles",
				  "particles need limits.frame_down of at least %d, it is %u",
				  WIRE_FRAME_PARTICLES, (unsigned)frame_max);
	if ((ask->fields & WIRE_COLUMN_CONTACTS) && frame_max < WIRE_FRAME_CONTACTS)
		return reason_set(why, STATUS_TOO_LARGE, -1, "fields",
				  "contacts need limits.frame_down of at least %d, it is %u",
				  WIRE_FRAME_CONTACTS, (unsigned)frame_max);
	if (ask->budget > 0 && ask->budget < RATION_BUDGET_MIN)
		return reason_set(why, STATUS_RANGE, -1, "budget",
				  "budget is %llu: it must be 0, or at least %d bytes a second",
				  (unsigned long long)ask->budget, RATION_BUDGET_MIN);
	if (ask->divisor == 0)
		return reason_set(why, STATUS_RANGE, -1, "divisor",
				  "divisor is 0: it must be within 1 and 3600");
	return STATUS_OK;
}

enum status subscription_create(const struct msg_subscribe *ask, struct outbox *outbox,
				bool has_ack, uint32_t frame_max, struct subscription **out,
				struct reason *why)
{
	enum status status = check_request(ask, frame_max, why);
	if (status != STATUS_OK)
		return status;
	struct subscription *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "sub", "%s",
				  status_text(STATUS_NO_MEMORY));
	self->sub = ask->sub;
	self->outbox = outbox;
	self->profile = (enum wire_profile)ask->profile;
	self->fields = (wire_mask)ask->fields;
	self->joints = (wire_mask)ask->joints;
	self->particles = (wire_mask)ask->particles;
	self->sample = (uint32_t)ask->sample;
	self->frame_max = frame_max;
	self->event_mask = ask->events;
	self->divisor_requested = self->divisor = (uint32_t)ask->divisor;
	self->has_ack = has_ack;
	self->hash_every = (uint32_t)ask->hash_every;
	self->snapshot_due = true;
	self->congested_at = INSTANT_NEVER;
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
	ASSERT(self->interest == NULL);
	ration_destroy(self->ration);
	heap_free(self->focus);
	heap_free(self->unacked);
	ARRAY_RELEASE(&self->pending);
	ARRAY_RELEASE(&self->runs);
	bytes_release(&self->event_bytes);
	heap_free(self);
}

/* ---- credit ------------------------------------------------------------------------------------ */

bool subscription_may_send(const struct subscription *self, uint64_t now)
{
	if (subscription_is_busy(self) || self->outbox->stream == NULL)
		return false;
	if (!self->has_ack)
		return outbox_keeps_up(self->outbox);
	/* Without a limit on bytes, credit in time would be megabytes when a world is stepped at
	 * full speed. */
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
		bool quiet =
			self->congested_at == INSTANT_NEVER || now - self->congested_at >= good;
		if (self->divisor > self->divisor_requested && quiet &&
		    now - self->changed_at >= good)
			set_divisor(self, MAX_OF(self->divisor / 2, self->divisor_requested), now);
		return true;
	}
	self->skipped++;
	self->skipped_total++;
	self->notice_due = true;
	bool long_ago = self->congested_at == INSTANT_NEVER || now - self->changed_at >= NS_PER_S;
	self->congested_at = now;
	/* Without acknowledgements a skip only shows that bytes are queued now, so the divisor
	 * stays. */
	if (self->has_ack && long_ago &&
	    self->divisor < self->divisor_requested * SUBSCRIPTION_DIVISOR_MAX)
		set_divisor(self, self->divisor * 2, now);
	return false;
}

void subscription_note_shortage(struct subscription *self)
{
	self->skipped++;
	self->skipped_total++;
	self->notice_due = self->short_of = true;
	if (self->allowance != NULL)
		self->allowance->short_times++;
}

bool subscription_is_hashed(const struct subscription *self)
{
	return self->hash_every > 0 && self->frames_total % self->hash_every == 0;
}

bool subscription_is_due(const struct subscription *self, const struct view *view)
{
	return self->snapshot_due || view->steps - self->served >= self->divisor;
}

/* ---- frames on their way ----------------------------------------------------------------------- */

void subscription_drop_frame(struct subscription *self)
{
	drop_pending(self);
	self->snapshot_due = true;
}

void subscription_leave_base(struct subscription *self)
{
	uint64_t waiting = 0;
	for (uint32_t i = 0; i < self->runs.count; i++)
		waiting += self->runs.items[i].count;
	subscription_drop_frame(self);
	subscription_count_lost_events(self, waiting);
	self->runs.count = 0;
	self->event_bytes.count = 0;
	self->base = 0;
	self->acked = (struct sent_frame){ 0 };
	self->unacked_count = 0;
	self->partial = false;
	self->served = (uint64_t)0 - self->divisor; /* a frame is due at once */
}

/* Reserves an entry for one more unacknowledged frame, where frames are acknowledged. */
static enum status reserve_unacked(struct subscription *self)
{
	uint32_t room = self->unacked_room;
	if (!self->has_ack || self->unacked_count < room || room == SUBSCRIPTION_UNACKED_MAX)
		return STATUS_OK;
	uint32_t more = MIN_OF(MAX_OF(2 * room, 8u), (uint32_t)SUBSCRIPTION_UNACKED_MAX);
	struct sent_frame *longer = heap_alloc(more * sizeof *longer);
	if (longer == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->unacked_count; i++)
		longer[i] = self->unacked[(self->unacked_first + i) % room];
	heap_free(self->unacked);
	self->unacked = longer;
	self->unacked_room = more;
	self->unacked_first = 0;
	return STATUS_OK;
}

enum status subscription_set_frame(struct subscription *self, const struct view *view,
				   struct interest_mark mark, const struct frame_parts *parts,
				   uint64_t now)
{
	ASSERT(!subscription_is_busy(self));
	self->pending.count = self->pending_next = 0;
	if (ARRAY_RESERVE(&self->pending, parts->count) != STATUS_OK ||
	    reserve_unacked(self) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < parts->count; i++) {
		self->pending.items[i] = frame_retain(parts->items[i]);
		self->pending_bytes += parts->items[i]->bytes;
	}
	self->pending.count = parts->count;
	self->pending_bodies = parts->bodies;
	self->pending_rows = parts->rows;
	self->pending_serial = view->serial;
	self->pending_tick = view->tick;
	self->pending_edit = view->edit;
	self->pending_epoch = view->epoch;
	self->pending_snapshot = parts->snapshot;
	self->pending_moved_at = now;
	self->base = view->serial;
	self->base_tick = view->tick;
	self->base_edit = view->edit;
	self->mark = mark;
	self->snapshot_due = false;
	self->served = view->steps;
	return STATUS_OK;
}

void subscription_advance(struct subscription *self, const struct view *view,
			  struct interest_mark mark)
{
	self->base = view->serial;
	self->mark = mark;
	self->served = view->steps;
}

/* The client's own head, then the shared tail. A small tail is copied behind the head, because one
 * buffer costs the kernel less than two, by more than the copy. */
static enum status put_part(struct subscription *self, struct frame *tail, uint64_t *bytes)
{
	struct frame *head;
	bool small = tail->bytes <= SMALL_TAIL;
	enum status status =
		frame_create(self->outbox->pool, WIRE_HEAD_MAX + (small ? tail->bytes : 0), &head);
	if (status != STATUS_OK)
		return status;
	enum message_type type = self->pending_snapshot ? MESSAGE_SNAPSHOT : MESSAGE_DELTA;
	if (self->pending_next >= self->pending_bodies)
		type = self->pending_next < self->pending_rows ? MESSAGE_ROWS : MESSAGE_BLOCKS;
	head->bytes = message_pack_head(type, self->sub, tail->bytes, true, head->data);
	*bytes += head->bytes + tail->bytes;
	if (small) {
		memcpy(head->data + head->bytes, tail->data, tail->bytes);
		head->bytes += tail->bytes;
	}
	outbox_put_state(self->outbox, head);
	if (!small)
		outbox_put_state(self->outbox, frame_retain(tail));
	return STATUS_OK;
}

/* The last part is in the outbox: the frame counts as sent. */
static void note_sent(struct subscription *self, uint64_t now)
{
	self->frames_total++;
	if (!self->has_ack || self->unacked_count == self->unacked_room)
		return;
	uint32_t at = (self->unacked_first + self->unacked_count++) % self->unacked_room;
	self->unacked[at] = (struct sent_frame){
		.tick = self->pending_tick,
		.edit = self->pending_edit,
		.epoch = self->pending_epoch,
		.sent_at = now,
		.serial = self->pending_serial,
		.mark = self->mark,
	};
}

enum status subscription_send_parts(struct subscription *self, uint64_t now, uint64_t *bytes)
{
	*bytes = 0;
	while (subscription_is_busy(self) && outbox_takes_state(self->outbox)) {
		struct frame *tail = self->pending.items[self->pending_next];
		if (put_part(self, tail, bytes) != STATUS_OK) {
			subscription_drop_frame(self);
			return STATUS_NO_MEMORY;
		}
		self->pending_next++;
		self->pending_bytes -= tail->bytes;
		self->pending_moved_at = now;
		frame_release(tail);
		if (!subscription_is_busy(self))
			note_sent(self, now);
	}
	self->outbox->parts_wait = self->outbox->parts_wait || subscription_is_busy(self);
	return STATUS_OK;
}

/* A client that sends no edit number acknowledges the frames of a tick in their order. */
void subscription_ack(struct subscription *self, uint32_t epoch, uint64_t tick, uint32_t edit,
		      uint64_t now)
{
	/* Frames are sent in order and acknowledged in order: everything up to the named one is
	 * done. An acknowledgement of a frame that is not waiting changes nothing. */
	for (uint32_t i = 0; i < self->unacked_count; i++) {
		uint32_t at = (self->unacked_first + i) % self->unacked_room;
		const struct sent_frame *frame = &self->unacked[at];
		if (frame->epoch != epoch || frame->tick != tick ||
		    (edit != 0 && frame->edit != edit))
			continue;
		uint64_t sample = now - frame->sent_at;
		self->round_trip =
			self->round_trip == 0 ? sample : (self->round_trip * 7 + sample) / 8;
		self->round_trip = MIN_OF(self->round_trip, NS_PER_S);
		self->acked = *frame;
		self->doubted_epoch = 0;
		self->unacked_first = (at + 1) % self->unacked_room;
		self->unacked_count -= i + 1;
		return;
	}
}

/* ---- losing and resuming the connection --------------------------------------------------------- */

void subscription_detach(struct subscription *self)
{
	drop_pending(self);
}

static bool is_of(const struct sent_frame *frame, uint32_t epoch, uint64_t tick, int64_t edit)
{
	return frame->serial != 0 && frame->epoch == epoch && frame->tick == tick &&
	       (edit < 0 || (int64_t)frame->edit == edit);
}

/* The only sent frame of that state; NULL if there is none or several. In a world at rest several
 * frames may have the same state, and it is not known which of them arrived. */
static const struct sent_frame *sent_frame_of(const struct subscription *self, uint32_t epoch,
					      uint64_t tick, int64_t edit)
{
	const struct sent_frame *found =
		is_of(&self->acked, epoch, tick, edit) ? &self->acked : NULL;
	if (epoch != 0 && self->doubted_epoch == epoch && self->doubted_tick == tick)
		return NULL;
	for (uint32_t i = 0; i < self->unacked_count; i++) {
		uint32_t at = (self->unacked_first + i) % self->unacked_room;
		if (!is_of(&self->unacked[at], epoch, tick, edit))
			continue;
		if (found != NULL)
			return NULL;
		found = &self->unacked[at];
	}
	return found;
}

void subscription_resume(struct subscription *self, uint32_t epoch, uint64_t tick, int64_t edit,
			 uint64_t events)
{
	const struct sent_frame *frame = sent_frame_of(self, epoch, tick, edit);
	/* Each frame of a budget leaves bodies out, so it matters which of them arrived. */
	if (frame == NULL || self->ration != NULL) {
		self->snapshot_due = true;
		self->acked = (struct sent_frame){ 0 };
		self->doubted_epoch = epoch;
		self->doubted_tick = tick;
	} else {
		self->base = frame->serial;
		self->base_tick = frame->tick;
		self->base_edit = frame->edit;
		self->mark = frame->mark;
		self->acked = *frame;
		self->snapshot_due = false;
	}
	self->unacked_count = 0;
	self->divisor = self->divisor_requested;
	self->served = (uint64_t)0 - self->divisor; /* a frame is due at once */
	self->congested_at = INSTANT_NEVER;
	uint64_t missed = self->events_sent - MIN_OF(events, self->events_sent);
	self->lost += missed;
	self->lost_total += missed;
	self->notice_due = self->notice_due || missed > 0;
	/* Client and server count events from here. */
	self->events_sent -= missed;
}

/* ---- events and notices ------------------------------------------------------------------------ */

/* Bytes of EVENTS beside its list. */
enum { EVENTS_HEAD_BYTES = 64, EVENTS_FRAME_BYTES = 48 << 10 };

void subscription_count_lost_events(struct subscription *self, uint64_t count)
{
	self->lost += count;
	self->lost_total += count;
	self->notice_due = self->notice_due || count > 0;
}

/* The run of that state, a new one at the end where there is none; NULL without memory. */
static struct event_run *run_of(struct subscription *self, uint64_t tick, uint32_t edit,
				uint32_t epoch)
{
	if (self->runs.count > 0) {
		struct event_run *last = &self->runs.items[self->runs.count - 1];
		if (last->tick == tick && last->edit == edit && last->epoch == epoch)
			return last;
	}
	if (ARRAY_RESERVE(&self->runs, self->runs.count + 1u) != STATUS_OK)
		return NULL;
	struct event_run *run = &self->runs.items[self->runs.count++];
	*run = (struct event_run){ .tick = tick, .edit = edit, .epoch = epoch };
	return run;
}

void subscription_queue_event(struct subscription *self, uint64_t tick, uint32_t edit,
			      uint32_t epoch, const uint8_t *packed, uint32_t bytes)
{
	struct event_run *run = NULL;
	if (self->event_bytes.count + bytes <= SUBSCRIPTION_EVENT_BYTES)
		run = run_of(self, tick, edit, epoch);
	if (run == NULL || bytes_append(&self->event_bytes, packed, bytes) != STATUS_OK) {
		subscription_count_lost_events(self, 1);
		return;
	}
	run->count++;
	run->bytes += bytes;
}

/* Events of one run from byte `from` on, as many as fit; returns their number and *bytes. */
static uint32_t fitting(const uint8_t *from, uint32_t left, uint32_t count, uint32_t room,
			uint32_t *bytes)
{
	struct wire_cursor in = wire_cursor_over(from, left);
	uint32_t fit = 0;
	*bytes = 0;
	if (left <= room) {
		*bytes = left;
		return count;
	}
	while (fit < count && wire_skip(&in, NULL) == STATUS_OK &&
	       (uint32_t)(in.at - from) <= room) {
		*bytes = (uint32_t)(in.at - from);
		fit++;
	}
	return fit;
}

static void send_run(struct subscription *self, const struct event_run *run, const uint8_t *packed)
{
	uint32_t room = MIN_OF(self->frame_max, (uint32_t)EVENTS_FRAME_BYTES) - EVENTS_HEAD_BYTES;
	for (uint32_t at = 0, done = 0; done < run->count;) {
		struct message message;
		uint32_t bytes;
		uint32_t count =
			fitting(packed + at, run->bytes - at, run->count - done, room, &bytes);
		message_init(&message, MESSAGE_EVENTS);
		message.events.sub = self->sub;
		message.events.epoch = run->epoch;
		message.events.tick = run->tick;
		message.events.edit = run->edit;
		message.events.list = (struct wire_list){ packed + at, bytes, count };
		if (outbox_send(self->outbox, &message) == STATUS_OK)
			self->events_sent += count;
		else
			subscription_count_lost_events(self, count);
		at += bytes;
		done += count;
	}
}

/* True if the run's state is later than the one sent last. */
static bool is_later(const struct subscription *self, const struct event_run *run)
{
	if (run->epoch != self->pending_epoch)
		return run->epoch > self->pending_epoch;
	if (run->tick != self->pending_tick)
		return run->tick > self->pending_tick;
	return run->edit > self->pending_edit;
}

void subscription_send_events(struct subscription *self)
{
	uint32_t ready = 0, bytes = 0;
	while (ready < self->runs.count) {
		const struct event_run *run = &self->runs.items[ready];
		if (is_later(self, run))
			break;
		send_run(self, run, self->event_bytes.data + bytes);
		bytes += run->bytes;
		ready++;
	}
	if (ready == 0)
		return;
	self->runs.count -= ready;
	memmove(self->runs.items, self->runs.items + ready,
		self->runs.count * sizeof *self->runs.items);
	bytes_consume(&self->event_bytes, bytes);
}

void subscription_send_notice(struct subscription *self)
{
	struct message notice;
	if (!self->notice_due)
		return;
	message_init(&notice, MESSAGE_NOTICE);
	notice.notice.sub = self->sub;
	notice.notice.skipped = self->skipped;
	notice.notice.lost = self->lost;
	notice.notice.divisor = self->divisor;
	notice.notice.code = self->skipped > 0 ? STATUS_SLOW : STATUS_OK;
	/* BUSY takes precedence, because the client can act on it, by watching less. */
	if (self->short_of)
		notice.notice.code = STATUS_BUSY;
	if (outbox_send(self->outbox, &notice) != STATUS_OK)
		return;
	self->skipped = self->lost = 0;
	self->notice_due = self->short_of = false;
}
