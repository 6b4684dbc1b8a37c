/* See fan_hall.h. */
#include "tests/lib/fan_hall.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/block.h"
#include "protocol/frame.h"
#include "protocol/result_wire.h"
#include "protocol/unpack.h"
#include "server/host/report_queue.h"

/* Prints and aborts; it also works outside of a test, where Check cannot report a failure. */
static void must(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "fan_hall: %s\n", what);
	abort();
}

/* ---- reading ----------------------------------------------------------------------------------- */

static uint32_t ids_in(struct wire_slice value, enum wire_profile profile)
{
	struct block_ids ids;
	must(block_ids_open(&ids, profile, value) == STATUS_OK, "ids are not sound");
	return ids.left;
}

static void count_events(struct fan_client *client, const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	for (uint32_t i = 0; i < list->count; i++) {
		struct event event;
		must(event_take(&in, &event) == STATUS_OK, "an event is not sound");
		if (event.value >= 0 && event.value < 64)
			client->heard |= UINT64_C(1) << (uint32_t)event.value;
	}
	client->events += list->count;
}

static void read_notice(struct fan_client *client, const struct msg_notice *notice)
{
	client->notices++;
	client->skipped += notice->skipped;
	client->lost += notice->lost;
	client->divisor = (uint32_t)notice->divisor;
}

static void count_parts(struct fan_client *client, const struct message *message)
{
	if (message->type == MESSAGE_SNAPSHOT) {
		client->snapshots += message->snapshot.part + 1 == message->snapshot.of;
		client->parts_max = MAX_OF(client->parts_max, (uint32_t)message->snapshot.of);
		client->partial = message->snapshot.flags & WIRE_FRAME_PARTIAL;
	} else if (message->type == MESSAGE_DELTA) {
		client->deltas += message->delta.part + 1 == message->delta.of;
		client->created += ids_in(message->delta.created, client->mirror.profile);
		client->removed += ids_in(message->delta.removed, client->mirror.profile);
		client->partial = message->delta.flags & WIRE_FRAME_PARTIAL;
	} else if (message->type == MESSAGE_ROWS && message->rows.part == 0) {
		client->rows++;
		client->wholes += (message->rows.flags & WIRE_FRAME_WHOLE) != 0;
	}
}

static void read_frame(struct fan_client *client, struct wire_slice content)
{
	struct message message;
	struct reason why;
	bool last = false;
	must(message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, &why) == STATUS_OK,
	     "a frame is not sound");
	if (message.type == MESSAGE_NOTICE) {
		read_notice(client, &message.notice);
	} else if (message.type == MESSAGE_EVENTS) {
		count_events(client, &message.events.list);
	} else {
		must(mirror_take(&client->mirror, &message, &last) == STATUS_OK,
		     "a frame is refused");
		count_parts(client, &message);
	}
	client->frames += last;
	client->fresh = client->fresh || last;
}

static enum status take(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct fan_client *client = (struct fan_client *)stream;
	struct wire_slice content;
	size_t bytes;
	for (uint32_t i = 0; i < count; i++) {
		client->bytes += frames[i]->bytes;
		must(bytes_append(&client->in, frames[i]->data, frames[i]->bytes) == STATUS_OK,
		     "no memory");
	}
	while (frame_split(client->in.data, client->in.count, WIRE_FRAME_DOWN, &content, &bytes) ==
	       STATUS_OK) {
		read_frame(client, content);
		bytes_consume(&client->in, bytes);
	}
	return STATUS_OK;
}

static size_t queued(const struct stream *stream)
{
	return ((const struct fan_client *)stream)->queued;
}

static const struct stream_ops OPS = { .write = take, .queued = queued };

/* ---- the hall ---------------------------------------------------------------------------------- */

void fan_open(struct fan_hall *self)
{
	memset(self, 0, sizeof *self);
	self->now = NS_PER_S;
	must(frame_pool_create(1 << 20, &self->pool) == STATUS_OK &&
		     fanout_create(self->pool, &self->fanout) == STATUS_OK,
	     "no memory");
}

void fan_close(struct fan_hall *self)
{
	struct frame_pool_counters counters;
	fanout_destroy(self->fanout);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
		outbox_release(&self->clients[i].outbox);
		mirror_release(&self->clients[i].mirror);
		bytes_release(&self->clients[i].in);
	}
	frame_pool_counters(self->pool, &counters);
	must(counters.live == 0, "frames are left");
	frame_pool_destroy(self->pool);
}

void fan_enter(struct fan_hall *self, uint32_t who, const struct msg_subscribe *ask, bool has_ack,
	       uint32_t frame_max)
{
	struct fan_client *client = &self->clients[who];
	struct reason why;
	client->stream = (struct stream){ .ops = &OPS };
	client->divisor = (uint32_t)ask->divisor;
	outbox_init(&client->outbox, &self->set, &client->stream, self->pool);
	mirror_init(&client->mirror, (enum wire_profile)ask->profile, (wire_mask)ask->fields,
		    1 << 20);
	if (ask->joints != 0)
		mirror_watch_joints(&client->mirror, (wire_mask)ask->joints, 1 << 16);
	if (ask->particles != 0)
		mirror_watch_particles(&client->mirror, (wire_mask)ask->particles, 1 << 20);
	must(fanout_subscribe(self->fanout, ask, &client->outbox, NULL, has_ack, frame_max,
			      self->now, &client->subscription, &why) == STATUS_OK,
	     "a subscription is refused");
	outbox_set_flush(&self->set);
}

void fan_acknowledge(struct fan_hall *self, uint32_t who)
{
	struct fan_client *client = &self->clients[who];
	subscription_ack(client->subscription, (uint32_t)client->mirror.epoch, client->mirror.tick,
			 client->mirror.edit, self->now);
}

static void serve(struct fan_hall *self, uint64_t now)
{
	while (fanout_is_serving(self->fanout))
		fanout_continue(self->fanout, now);
}

void fan_report(struct fan_hall *self, struct report *report, uint64_t ns, bool served)
{
	self->now += ns;
	must(fanout_report(self->fanout, &report->ticked, self->now) == STATUS_OK,
	     "a report is refused");
	if (served)
		serve(self, self->now);
	outbox_set_flush(&self->set);
	report_destroy(report);
}

void fan_look_after(struct fan_hall *self, uint64_t now)
{
	fanout_check(self->fanout, now);
	serve(self, now);
}
