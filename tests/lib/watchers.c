/* See watchers.h. */
#include "tests/lib/watchers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/result_wire.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"

static void fail(const char *what, const struct watcher *watcher)
{
	fprintf(stderr, "watchers: %s (profile %d, fields %u, tick %llu)\n", what,
		watcher != NULL ? (int)watcher->profile : -1,
		watcher != NULL ? watcher->mirror.fields : 0,
		watcher != NULL ? (unsigned long long)watcher->mirror.tick : 0);
	abort();
}

/* ---- reading ----------------------------------------------------------------------------------- */

static uint64_t rows_in(const struct watcher *watcher, struct wire_slice columns)
{
	static struct block_reader reader;
	if (block_open(&reader, watcher->profile, watcher->mirror.fields, columns) != STATUS_OK)
		fail("a block cannot be opened", watcher);
	return reader.left;
}

static void read_delta(struct watcher *watcher, const struct msg_delta *delta, size_t bytes,
		       bool *last)
{
	struct watcher_counts *counts = &watcher->all->counts[watcher->profile];
	uint64_t base = watcher->mirror.tick;
	if (mirror_delta(&watcher->mirror, delta, last) != STATUS_OK)
		fail("a delta is refused", watcher);
	counts->bytes += bytes;
	counts->rows += rows_in(watcher, delta->columns);
	if (!*last)
		return;
	counts->gap_max = MAX_OF(counts->gap_max, delta->tick - base);
	if (delta->flags & WIRE_FRAME_ABSOLUTE)
		counts->absolute++;
	else
		counts->differences++;
}

static void read_events(struct watcher *watcher, const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	for (uint32_t i = 0; i < list->count; i++) {
		struct event event;
		if (event_take(&in, &event) != STATUS_OK)
			fail("an event is not sound", watcher);
		if (event.value <= (double)watcher->last_event)
			fail("an event comes late or twice", watcher);
		watcher->last_event = (uint64_t)event.value;
		watcher->events++;
	}
}

static void read_frame(struct watcher *watcher, struct wire_slice content)
{
	struct message message;
	struct reason why;
	bool last = false;
	if (message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, &why) != STATUS_OK)
		fail("a frame is not sound", watcher);
	if (message.type == MESSAGE_SNAPSHOT) {
		if (mirror_snapshot(&watcher->mirror, &message.snapshot, &last) != STATUS_OK)
			fail("a snapshot is refused", watcher);
		watcher->all->counts[watcher->profile].snapshots += last;
	} else if (message.type == MESSAGE_DELTA) {
		read_delta(watcher, &message.delta, content.bytes + WIRE_FRAME_HEADER, &last);
	} else if (message.type == MESSAGE_EVENTS) {
		read_events(watcher, &message.events.list);
	} else if (message.type == MESSAGE_NOTICE) {
		watcher->events_lost += message.notice.lost;
	}
	if (!last)
		return;
	watcher->fresh = true;
	watcher->all->counts[watcher->profile].frames++;
}

static enum status take(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct watcher *watcher = (struct watcher *)stream;
	struct wire_slice content;
	size_t bytes, done = 0;
	for (uint32_t i = 0; i < count; i++)
		if (bytes_append(&watcher->in, frames[i]->data, frames[i]->bytes) != STATUS_OK)
			abort();
	while (frame_split(watcher->in.data + done, watcher->in.count - done, WIRE_FRAME_DOWN,
			   &content, &bytes) == STATUS_OK) {
		read_frame(watcher, content);
		done += bytes;
	}
	bytes_consume(&watcher->in, done);
	return STATUS_OK;
}

static size_t queued(const struct stream *stream)
{
	return ((const struct watcher *)stream)->queued;
}

static const struct stream_ops OPS = { .write = take, .queued = queued };

/* ---- coming and going -------------------------------------------------------------------------- */

void watchers_start(struct watchers *self, uint32_t count, uint64_t seed, bool restless)
{
	memset(self, 0, sizeof *self);
	self->count = count;
	self->rng = rng_seeded(seed);
	self->restless = restless;
	self->now = NS_PER_S;
	if (frame_pool_create(1 << 24, &self->pool) != STATUS_OK ||
	    fanout_create(self->pool, &self->fanout) != STATUS_OK)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		struct watcher *watcher = &self->watchers[i];
		watcher->all = self;
		watcher->stream = (struct stream){ .ops = &OPS };
		outbox_init(&watcher->outbox, &self->set, &watcher->stream, self->pool);
	}
}

static void leave(struct watchers *self, struct watcher *watcher)
{
	fanout_unsubscribe(self->fanout, watcher->subscription);
	watcher->subscription = NULL;
	mirror_release(&watcher->mirror);
	/* Frames in transit to it are dropped. */
	outbox_release(&watcher->outbox);
	outbox_init(&watcher->outbox, &self->set, &watcher->stream, self->pool);
	bytes_consume(&watcher->in, watcher->in.count);
	self->counts[watcher->profile].leaves++;
}

void watchers_enter(struct watchers *self, uint32_t who, enum wire_profile profile,
		    wire_mask fields, uint32_t divisor)
{
	struct watcher *watcher = &self->watchers[who];
	struct message message;
	struct reason why;
	if (watcher->subscription != NULL)
		leave(self, watcher);
	message_init(&message, MESSAGE_SUBSCRIBE);
	message.subscribe.sub = 1;
	message.subscribe.profile = profile;
	message.subscribe.fields = fields;
	message.subscribe.divisor = divisor;
	message.subscribe.events = self->event_mask;
	watcher->profile = profile;
	watcher->stalled = 0;
	watcher->queued = 0;
	mirror_init(&watcher->mirror, profile, fields, 1 << 20);
	uint32_t frame_max = rng_below(&self->rng, 3) == 0 ? WIRE_FRAME_MIN : WIRE_FRAME_DOWN;
	if (!self->restless)
		frame_max = WIRE_FRAME_DOWN;
	if (fanout_subscribe(self->fanout, &message.subscribe, &watcher->outbox, NULL, true,
			     frame_max, self->now, &watcher->subscription, &why) != STATUS_OK)
		fail(why.text, watcher);
	self->counts[profile].joins++;
	outbox_set_flush(&self->set);
}

/* Often for a few ticks, rarely for longer than the server stores removals. */
static void stall(struct watchers *self, struct watcher *watcher)
{
	bool gone_far = rng_below(&self->rng, 8) == 0;
	watcher->stalled = 1 + rng_below(&self->rng, gone_far ? 200 : 10);
	watcher->queued = 1 << 20;
}

static void act_at_random(struct watchers *self, uint32_t who)
{
	struct watcher *watcher = &self->watchers[who];
	uint32_t what = rng_below(&self->rng, 2000);
	enum wire_profile profile = (enum wire_profile)rng_below(&self->rng, WATCHER_PROFILES);
	uint8_t some = (uint8_t)(1 + rng_below(&self->rng, WIRE_COLUMNS_ALL));
	uint32_t divisor = rng_below(&self->rng, 4);
	if (watcher->subscription == NULL) {
		/* Quantised profiles are drawn twice as often. */
		if (what % 2 == 0 && profile < WIRE_PROFILE_VIEW)
			profile += 2;
		if (what < 100)
			watchers_enter(self, who, profile, what < 50 ? some : WIRE_COLUMNS_TICK,
				       divisor == 3 ? 7 : 1);
		return;
	}
	if (watcher->stalled > 0) {
		if (--watcher->stalled == 0)
			watcher->queued = 0;
		return;
	}
	if (what < 2)
		leave(self, watcher);
	else if (what < 20)
		stall(self, watcher);
	else if (what < 42)
		fanout_resync(self->fanout, watcher->subscription, self->now);
}

void watchers_finish(struct watchers *self)
{
	struct frame_pool_counters counters;
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->watchers[i].subscription != NULL)
			leave(self, &self->watchers[i]);
		outbox_release(&self->watchers[i].outbox);
		bytes_release(&self->watchers[i].in);
	}
	fanout_destroy(self->fanout);
	frame_pool_counters(self->pool, &counters);
	if (counters.live != 0)
		fail("frames are left", NULL);
	frame_pool_destroy(self->pool);
}

/* ---- comparing --------------------------------------------------------------------------------- */

static bool shows(const struct watcher *watcher, const struct wire_body *bodies, uint32_t count)
{
	const struct mirror *mirror = &watcher->mirror;
	wire_mask fields = mirror->fields & (wire_mask)~WIRE_COLUMN_SHAPES, exact = fields;
	bool quantised = wire_profile_quantised(watcher->profile);
	if (quantised)
		exact &= (wire_mask)~WIRE_COLUMNS_QUANTISED;
	if (mirror->count != count)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (mirror->bodies[i].id != bodies[i].id ||
		    (wire_columns_differ(&mirror->bodies[i], &bodies[i]) & exact) != 0)
			return false;
		if (!quantised)
			continue;
		struct wire_quantised real;
		wire_quantise(watcher->profile, &bodies[i], &real);
		if (wire_quantised_differ(&mirror->quantised[i], &real) & fields)
			return false;
	}
	return true;
}

void watchers_tick(struct watchers *self, struct report *report, const struct wire_body *bodies,
		   uint32_t count)
{
	self->now += NS_PER_S / 60;
	for (uint32_t i = 0; i < self->count; i++) {
		self->watchers[i].fresh = false;
		if (self->restless && !self->watchers[i].steady)
			act_at_random(self, i);
	}
	/* A client that subscribed in between read the state before this one. */
	for (uint32_t i = 0; i < self->count; i++)
		self->watchers[i].fresh = false;
	uint64_t tick = report->ticked.tick;
	if (fanout_report(self->fanout, &report->ticked, self->now) != STATUS_OK)
		fail("the report is refused", NULL);
	report_destroy(report);
	outbox_set_flush(&self->set);
	for (uint32_t i = 0; i < self->count; i++) {
		struct watcher *watcher = &self->watchers[i];
		struct watcher_counts *counts = &self->counts[watcher->profile];
		if (watcher->subscription == NULL)
			continue;
		counts->skips += !watcher->fresh;
		/* Sends the rest of a frame that a small window takes piece by piece. */
		fanout_on_writable(self->fanout, watcher->subscription, self->now);
		outbox_set_flush(&self->set);
		if (!watcher->mirror.complete)
			continue;
		subscription_ack(watcher->subscription, (uint32_t)watcher->mirror.epoch,
				 watcher->mirror.tick, watcher->mirror.edit, self->now);
		if (!watcher->fresh || watcher->mirror.tick != tick)
			continue;
		if (!shows(watcher, bodies, count))
			fail("a mirror is not the world", watcher);
		counts->compared++;
	}
}
