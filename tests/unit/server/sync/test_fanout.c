/* Subscriptions and their groups, on streams that take what the test lets them take; a client of each reads
 * every byte into a mirror. */
#include "server/sync/fanout.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_reports.h"

enum { CLIENTS = 8 };

struct client {
	struct stream stream;
	struct outbox outbox;
	struct subscription *subscription;
	struct mirror mirror;
	struct bytes in;
	size_t queued;
	uint32_t frames, snapshots, deltas, notices, events, parts_max, lost;
	uint64_t skipped;
	uint32_t divisor;
};

struct room {
	struct gen_reports gen;
	struct fanout *fanout;
	struct frame_pool *pool;
	struct outbox_set set;
	struct client clients[CLIENTS];
	uint64_t now;
};

static void read_frame(struct client *client, struct wire_slice content)
{
	struct message message;
	struct reason why;
	bool last = false;
	ck_assert_int_eq(message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, &why),
			 STATUS_OK);
	if (message.type == MESSAGE_NOTICE) {
		client->notices++;
		client->skipped += message.notice.skipped;
		client->divisor = (uint32_t)message.notice.divisor;
		client->lost += (uint32_t)message.notice.lost;
	} else if (message.type == MESSAGE_EVENTS) {
		client->events += message.events.list.count;
	} else if (message.type == MESSAGE_SNAPSHOT) {
		ck_assert_int_eq(mirror_snapshot(&client->mirror, &message.snapshot, &last),
				 STATUS_OK);
		client->snapshots += last;
		client->parts_max = MAX_OF(client->parts_max, (uint32_t)message.snapshot.of);
	} else {
		ck_assert_int_eq(message.type, MESSAGE_DELTA);
		ck_assert_int_eq(mirror_delta(&client->mirror, &message.delta, &last), STATUS_OK);
		client->deltas += last;
	}
	client->frames += last;
}

static enum status take(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct client *client = (struct client *)stream;
	struct wire_slice content;
	size_t bytes;
	for (uint32_t i = 0; i < count; i++)
		ck_assert_int_eq(bytes_append(&client->in, frames[i]->data, frames[i]->bytes),
				 STATUS_OK);
	while (frame_split(client->in.data, client->in.count, WIRE_FRAME_DOWN, &content, &bytes) ==
	       STATUS_OK) {
		read_frame(client, content);
		bytes_consume(&client->in, bytes);
	}
	return STATUS_OK;
}

static size_t queued(const struct stream *stream)
{
	return ((const struct client *)stream)->queued;
}

static const struct stream_ops ops = { .write = take, .queued = queued };

static void feed(struct room *room, struct report *report, uint64_t ns)
{
	room->now += ns;
	ck_assert_int_eq(fanout_report(room->fanout, &report->ticked, room->now), STATUS_OK);
	outbox_set_flush(&room->set);
	report_destroy(report);
}

static void tick(struct room *room)
{
	feed(room, gen_reports_next(&room->gen), NS_PER_S / 60);
}

static void start(struct room *room, uint64_t seed)
{
	memset(room, 0, sizeof *room);
	room->now = NS_PER_S;
	gen_reports_init(&room->gen, seed);
	ck_assert_int_eq(frame_pool_create(1 << 20, &room->pool), STATUS_OK);
	ck_assert_int_eq(fanout_create(room->pool, &room->fanout), STATUS_OK);
}

static struct msg_subscribe asking(enum wire_profile profile, wire_mask fields, uint32_t divisor)
{
	struct message message;
	message_init(&message, MESSAGE_SUBSCRIBE);
	message.subscribe.sub = 1;
	message.subscribe.profile = profile;
	message.subscribe.fields = fields;
	message.subscribe.divisor = divisor;
	message.subscribe.events = 0xffff;
	return message.subscribe;
}

static void enter(struct room *room, uint32_t who, const struct msg_subscribe *ask, bool has_ack,
		  uint32_t frame_max)
{
	struct client *client = &room->clients[who];
	struct reason why;
	client->stream = (struct stream){ .ops = &ops };
	client->divisor = (uint32_t)ask->divisor;
	outbox_init(&client->outbox, &room->set, &client->stream, room->pool);
	mirror_init(&client->mirror, (enum wire_profile)ask->profile, (wire_mask)ask->fields, 1 << 20);
	ck_assert_int_eq(fanout_subscribe(room->fanout, ask, &client->outbox, NULL, has_ack, frame_max,
					  room->now, &client->subscription, &why),
			 STATUS_OK);
	outbox_set_flush(&room->set);
}

static void acknowledge(struct room *room, uint32_t who)
{
	struct client *client = &room->clients[who];
	subscription_ack(client->subscription, (uint32_t)client->mirror.epoch, client->mirror.tick,
			 client->mirror.edit, room->now);
}

static void finish(struct room *room)
{
	struct frame_pool_counters counters;
	fanout_destroy(room->fanout);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		outbox_release(&room->clients[i].outbox);
		mirror_release(&room->clients[i].mirror);
		bytes_release(&room->clients[i].in);
	}
	frame_pool_counters(room->pool, &counters);
	ck_assert_uint_eq(counters.live, 0);
	frame_pool_destroy(room->pool);
}

static struct fanout_counters counters_of(const struct room *room)
{
	struct fanout_counters counters;
	fanout_counters(room->fanout, &counters);
	return counters;
}

static bool shows_the_world(const struct room *room, uint32_t who)
{
	const struct mirror *mirror = &room->clients[who].mirror;
	if (!mirror->complete || mirror->tick != room->gen.tick || mirror->count != room->gen.count)
		return false;
	for (uint32_t i = 0; i < mirror->count; i++) {
		struct wire_body shown = room->gen.bodies[i];
		if (wire_profile_quantised(mirror->profile)) {
			struct wire_quantised values;
			wire_quantise(mirror->profile, &shown, &values);
			wire_dequantise(mirror->profile, &values, WIRE_COLUMNS_ALL, &shown);
		}
		if (wire_columns_differ(&mirror->bodies[i], &shown) & mirror->fields)
			return false;
	}
	return true;
}

/* What the server does now and then, to the end of the round that it begins. */
static void look_after(struct room *room, uint64_t now)
{
	fanout_look_after(room->fanout, now);
	while (fanout_is_serving(room->fanout))
		fanout_continue(room->fanout, now);
}

START_TEST(equal_subscriptions_are_encoded_once_and_shared)
{
	static struct room room;
	start(&room, check_seed());
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 127, 1);
	for (uint32_t i = 0; i < CLIENTS; i++)
		enter(&room, i, &exact, true, WIRE_FRAME_DOWN);
	ck_assert_uint_eq(counters_of(&room).encoded, 1); /* one SNAPSHOT for all */
	for (uint64_t n = 1; n <= 50; n++) {
		tick(&room);
		ck_assert_uint_eq(counters_of(&room).encoded, 1 + n);
		for (uint32_t i = 0; i < CLIENTS; i++) {
			ck_assert(shows_the_world(&room, i));
			acknowledge(&room, i);
		}
	}
	ck_assert_uint_eq(counters_of(&room).frames, CLIENTS * 51);
	/* One who has skipped is a group of its own, until its next frame; its divisor is 2 by then. */
	room.clients[2].queued = 1 << 20;
	tick(&room);
	tick(&room);
	uint64_t before = counters_of(&room).encoded;
	room.clients[2].queued = 0;
	tick(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 2);
	for (uint32_t i = 0; i < CLIENTS; i++)
		ck_assert(shows_the_world(&room, i));
	tick(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 3);
	tick(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 5);
	ck_assert(shows_the_world(&room, 2));
	ck_assert_uint_ge(room.clients[2].skipped, 1);
	ck_assert_uint_eq(room.clients[2].divisor, 2);
	finish(&room);
}
END_TEST

START_TEST(different_subscriptions_see_what_they_asked_for)
{
	static struct room room;
	start(&room, check_seed() + (uint64_t)_i);
	const struct msg_subscribe asks[CLIENTS] = {
		asking(WIRE_PROFILE_EXACT, 127, 1), asking(WIRE_PROFILE_PLAIN, 127, 1),
		asking(WIRE_PROFILE_EXACT, 1, 1),   asking(WIRE_PROFILE_PLAIN, 48, 1),
		asking(WIRE_PROFILE_EXACT, 31, 5),  asking(WIRE_PROFILE_EXACT, 127, 1),
		asking(WIRE_PROFILE_VIEW, 127, 1),  asking(WIRE_PROFILE_SIM, 19, 1),
	};
	for (uint32_t i = 0; i < CLIENTS; i++)
		enter(&room, i, &asks[i], i % 2 == 0, i == 5 ? WIRE_FRAME_MIN : WIRE_FRAME_DOWN);
	room.gen.births = 40;
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	for (uint64_t n = 1; n <= 200; n++) {
		bool whole = n % 70 == 0;
		if (whole)
			feed(&room, gen_reports_whole(&room.gen, n == 140), NS_PER_MS);
		else
			tick(&room);
		for (uint32_t i = 0; i < CLIENTS; i++) {
			if (i != 4)
				ck_assert(shows_the_world(&room, i));
			acknowledge(&room, i);
		}
	}
	ck_assert_uint_eq(room.clients[0].snapshots, 3);
	ck_assert_uint_gt(room.clients[5].parts_max, 1);
	/* Every fifth step, and whenever it has to begin anew. */
	ck_assert_uint_ge(room.clients[4].frames, 198 / 5);
	ck_assert_uint_le(room.clients[4].frames, 198 / 5 + 4);
	finish(&room);
}
END_TEST

START_TEST(credit_is_two_frames_or_a_round_trip_and_a_bit)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 31, 1);
	enter(&room, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* It says nothing: frames for a quarter second, then none. */
	for (int n = 0; n < 60; n++)
		tick(&room);
	uint32_t frames = room.clients[0].frames;
	ck_assert_uint_ge(frames, 15);
	ck_assert_uint_le(frames, 18);
	/* Two frames are always allowed. */
	acknowledge(&room, 0);
	for (int n = 0; n < 400; n++)
		tick(&room);
	ck_assert_uint_gt(room.clients[0].frames, frames + 1);
	/* Slowed down by then, it hears that, and that it missed frames. */
	acknowledge(&room, 0);
	for (int n = 0; n < 64; n++)
		tick(&room);
	ck_assert_uint_gt(room.clients[0].divisor, 1);
	ck_assert_uint_le(room.clients[0].divisor, SUBSCRIPTION_DIVISOR_MAX);
	ck_assert_uint_gt(room.clients[0].skipped, 200);
	/* Acknowledging at once again gives the full rate back. */
	for (int n = 0; n < 60 * 20; n++) {
		tick(&room);
		acknowledge(&room, 0);
	}
	ck_assert_uint_eq(room.clients[0].divisor, 1);
	frames = room.clients[0].frames;
	for (int n = 0; n < 60; n++) {
		tick(&room);
		acknowledge(&room, 0);
	}
	ck_assert_uint_eq(room.clients[0].frames, frames + 60);
	finish(&room);
}
END_TEST

START_TEST(who_says_nothing_has_two_frames_and_two_more_when_it_speaks)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 31, 1);
	enter(&room, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert_uint_eq(room.clients[0].frames, 1);
	/* Reports so far apart that no round trip is a reason for more. */
	for (uint32_t spoken = 0; spoken < 4; spoken++) {
		for (int n = 0; n < 100; n++)
			feed(&room, gen_reports_next(&room.gen), 3 * NS_PER_S);
		ck_assert_uint_eq(room.clients[0].frames, 2 + 2 * spoken);
		acknowledge(&room, 0);
	}
	finish(&room);
}
END_TEST

START_TEST(a_long_round_trip_is_no_reason_to_skip)
{
	static struct room room;
	static struct { uint64_t tick, due; uint32_t epoch; } late[1024];
	uint32_t first = 0, count = 0;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 31, 1);
	enter(&room, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* 200 ms there and back. */
	for (int n = 0; n < 600; n++) {
		uint32_t before = room.clients[0].frames;
		tick(&room);
		if (room.clients[0].frames > before) {
			late[count].tick = room.clients[0].mirror.tick;
			late[count].epoch = (uint32_t)room.clients[0].mirror.epoch;
			late[count++].due = room.now + 200 * NS_PER_MS;
		}
		for (; first < count && late[first].due <= room.now; first++)
			subscription_ack(room.clients[0].subscription, late[first].epoch,
					 late[first].tick, 0, room.now);
	}
	ck_assert_uint_eq(room.clients[0].frames, 601);
	ck_assert_uint_eq(room.clients[0].skipped, 0);
	/* An ACK of nothing changes nothing. */
	uint32_t waiting = room.clients[0].subscription->unacked_count;
	subscription_ack(room.clients[0].subscription, 9, 9, 0, room.now);
	ck_assert_uint_eq(room.clients[0].subscription->unacked_count, waiting);
	finish(&room);
}
END_TEST

static void add_events(struct report *report, uint32_t count)
{
	report->ticked.events = heap_alloc_zero(count * sizeof *report->ticked.events);
	report->ticked.event_count = count;
	for (uint32_t i = 0; i < count; i++)
		report->ticked.events[i] = (struct event){ .kind = EVENT_CONTACT_END, .a = i + 1 };
}

START_TEST(events_wait_bounded_and_losses_are_told)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 31, 1);
	struct msg_subscribe deaf = exact;
	deaf.events = 1 << EVENT_SLEEP;
	enter(&room, 0, &exact, true, WIRE_FRAME_MIN);
	enter(&room, 1, &deaf, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	struct report *report = gen_reports_next(&room.gen);
	add_events(report, 1000);
	feed(&room, report, NS_PER_MS);
	ck_assert_uint_eq(room.clients[0].events, 1000);
	ck_assert_uint_eq(room.clients[1].events, 0);
	room.clients[0].queued = 1 << 20;
	for (int n = 0; n < 40; n++) {
		report = gen_reports_next(&room.gen);
		add_events(report, 1000);
		feed(&room, report, NS_PER_MS);
	}
	room.clients[0].queued = 0;
	for (int n = 0; n < 130; n++)
		tick(&room);
	/* Forty-one thousand, of which so many as fit have waited. */
	ck_assert_uint_gt(room.clients[0].events, 1000 + SUBSCRIPTION_EVENT_BYTES / 128);
	ck_assert_uint_gt(room.clients[0].lost, 0);
	ck_assert_uint_eq(room.clients[0].events + room.clients[0].lost, 41000);
	ck_assert_uint_eq(counters_of(&room).events_lost, room.clients[0].lost);
	finish(&room);
}
END_TEST

START_TEST(of_a_million_events_none_is_lost_uncounted)
{
	static struct room room;
	start(&room, check_seed());
	struct rng rng = rng_seeded(check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 31, 1);
	for (uint32_t i = 0; i < 3; i++)
		enter(&room, i, &exact, i > 0, i == 2 ? WIRE_FRAME_MIN : WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	room.gen.changes = 2;
	uint64_t total = 0;
	for (int n = 0; n < 1000; n++) {
		struct report *report = gen_reports_next(&room.gen);
		uint32_t count = 500 + rng_below(&rng, 1100);
		total += count;
		add_events(report, count);
		/* Two of them stall again and again, for a few ticks or for many. */
		for (uint32_t i = 1; i < 3; i++)
			if (rng_below(&rng, i == 1 ? 4 : 30) == 0)
				room.clients[i].queued = room.clients[i].queued > 0 ? 0 : 1 << 20;
		feed(&room, report, NS_PER_S / 60);
		for (uint32_t i = 0; i < 3; i++)
			acknowledge(&room, i);
	}
	for (uint32_t i = 0; i < 3; i++)
		room.clients[i].queued = 0;
	for (int n = 0; n < 130; n++) {
		tick(&room);
		for (uint32_t i = 0; i < 3; i++)
			acknowledge(&room, i);
	}
	ck_assert_uint_gt(total, 1000000);
	ck_assert_uint_eq(room.clients[0].events, total);
	ck_assert_uint_eq(room.clients[0].lost, 0);
	for (uint32_t i = 1; i < 3; i++)
		ck_assert_uint_eq((uint64_t)room.clients[i].events + room.clients[i].lost, total);
	ck_assert_uint_gt(room.clients[2].lost, 0);
	finish(&room);
}
END_TEST

START_TEST(who_was_skipped_is_served_while_nothing_happens)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 127, 1);
	for (uint32_t i = 0; i < 2; i++)
		enter(&room, i, &exact, i == 0, WIRE_FRAME_DOWN);
	room.gen.births = 30;
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	for (uint32_t i = 0; i < 2; i++)
		room.clients[i].queued = 1 << 20;
	for (int n = 0; n < 5; n++)
		tick(&room);
	for (uint32_t i = 0; i < 2; i++)
		room.clients[i].queued = 0;
	look_after(&room, room.now + NS_PER_S);
	outbox_set_flush(&room.set);
	ck_assert(shows_the_world(&room, 0) && shows_the_world(&room, 1));
	/* Once is enough. */
	uint64_t frames = counters_of(&room).frames;
	look_after(&room, room.now + 2 * NS_PER_S);
	ck_assert_uint_eq(counters_of(&room).frames, frames);
	finish(&room);
}
END_TEST

START_TEST(a_frame_of_many_parts_goes_as_it_is_taken_and_is_given_up_when_stuck)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.births = 200;
	room.gen.deaths = 0;
	struct msg_subscribe plain = asking(WIRE_PROFILE_PLAIN, 127, 1);
	while (room.gen.count < GEN_BODIES_MAX)
		report_destroy(gen_reports_next(&room.gen));
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	enter(&room, 0, &plain, true, WIRE_FRAME_MIN);
	struct client *client = &room.clients[0];
	/* 400 rows of 170 bytes: a few parts more than may wait at once. */
	ck_assert(subscription_is_busy(client->subscription) || client->snapshots == 1);
	client->queued = 1 << 20;
	fanout_resync(room.fanout, client->subscription, room.now);
	client->queued = 0;
	look_after(&room, room.now);
	outbox_set_flush(&room.set);
	for (int i = 0; i < 10; i++) {
		fanout_go_on(room.fanout, client->subscription, room.now);
		outbox_set_flush(&room.set);
	}
	ck_assert(shows_the_world(&room, 0));
	/* Stuck in the middle. */
	client->subscription->snapshot_due = true;
	uint32_t snapshots = client->snapshots;
	look_after(&room, room.now);
	client->queued = 1 << 20;
	outbox_set_flush(&room.set);
	if (subscription_is_busy(client->subscription)) {
		look_after(&room, room.now + 11 * NS_PER_S);
		ck_assert(!subscription_is_busy(client->subscription));
		ck_assert(client->subscription->snapshot_due);
	}
	client->queued = 0;
	room.now += 12 * NS_PER_S;
	for (int i = 0; i < 10; i++) {
		look_after(&room, room.now);
		outbox_set_flush(&room.set);
		acknowledge(&room, 0);
	}
	ck_assert_uint_gt(client->snapshots, snapshots);
	ck_assert(shows_the_world(&room, 0));
	finish(&room);
}
END_TEST

START_TEST(late_joiners_wait_for_the_third_snapshot_and_share_it)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.births = 200;
	room.gen.deaths = 0;
	struct msg_subscribe plain = asking(WIRE_PROFILE_PLAIN, 127, 1);
	while (room.gen.count < GEN_BODIES_MAX)
		report_destroy(gen_reports_next(&room.gen));
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* Two take theirs slowly. */
	for (uint32_t i = 0; i < 2; i++) {
		room.clients[i].queued = 1 << 20;
		enter(&room, i, &plain, true, WIRE_FRAME_MIN);
		ck_assert(subscription_is_busy(room.clients[i].subscription));
		tick(&room);
	}
	uint64_t before = counters_of(&room).encoded;
	for (uint32_t i = 2; i < CLIENTS; i++) {
		enter(&room, i, &plain, true, WIRE_FRAME_MIN);
		tick(&room);
		ck_assert_uint_eq(room.clients[i].snapshots, 0);
	}
	ck_assert_uint_eq(counters_of(&room).encoded, before);
	/* One is done: one more is made, for all who wait. */
	room.clients[0].queued = 0;
	for (int n = 0; n < 4; n++) {
		fanout_go_on(room.fanout, room.clients[0].subscription, room.now);
		outbox_set_flush(&room.set);
	}
	ck_assert_uint_eq(room.clients[0].snapshots, 1);
	before = counters_of(&room).encoded;
	tick(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 2);
	for (int n = 0; n < 4; n++)
		for (uint32_t i = 2; i < CLIENTS; i++) {
			fanout_go_on(room.fanout, room.clients[i].subscription, room.now);
			outbox_set_flush(&room.set);
		}
	for (uint32_t i = 2; i < CLIENTS; i++)
		ck_assert_uint_eq(room.clients[i].snapshots, 1);
	finish(&room);
}
END_TEST

START_TEST(a_lost_mirror_sends_nothing_until_it_is_whole_again)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 127, 1);
	enter(&room, 0, &exact, false, WIRE_FRAME_DOWN);
	ck_assert_uint_eq(room.clients[0].frames, 0);
	/* Not before the first whole report. */
	struct report *report = gen_reports_next(&room.gen);
	ck_assert_int_eq(fanout_report(room.fanout, &report->ticked, room.now), STATUS_AGAIN);
	report_destroy(report);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert_uint_eq(room.clients[0].snapshots, 1);
	for (int n = 0; n < 5; n++)
		tick(&room);
	report = gen_reports_next(&room.gen);
	report->ticked.tick_hash ^= 1;
	uint32_t frames = room.clients[0].frames;
	ck_assert_int_eq(fanout_report(room.fanout, &report->ticked, room.now), STATUS_CORRUPT);
	report_destroy(report);
	ck_assert(!fanout_stands(room.fanout));
	report = gen_reports_next(&room.gen);
	ck_assert_int_eq(fanout_report(room.fanout, &report->ticked, room.now), STATUS_AGAIN);
	report_destroy(report);
	outbox_set_flush(&room.set);
	ck_assert_uint_eq(room.clients[0].frames, frames);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert(shows_the_world(&room, 0));
	tick(&room);
	ck_assert(shows_the_world(&room, 0));
	finish(&room);
}
END_TEST

START_TEST(what_cannot_be_served_is_refused_by_field)
{
	static struct room room;
	start(&room, check_seed());
	struct subscription *subscription;
	struct reason why;
	static const uint8_t nobody = 0, no_areas[] = { 0x92, 0x02, 0x90 };
	for (int k = 1; k < 8; k++) {
		struct msg_subscribe ask = asking(WIRE_PROFILE_EXACT, 31, 1);
		const char *field = "profile";
		enum status status = STATUS_RANGE;
		if (k == 1)
			ask.profile = 77;
		else if (k == 2)
			ask.fields = 0, field = "fields";
		else if (k == 3)
			ask.area = (struct wire_box){ true, { -1e13, 0, 0 }, { 0, 0, 0 } },
			field = "area";
		else if (k == 4)
			ask.follow = (struct wire_list){ &nobody, 1, 1 }, field = "follow";
		else if (k == 5)
			ask.budget = 1, field = "budget";
		else if (k == 6)
			ask.areas = (struct wire_list){ no_areas, 3, 1 }, field = "areas",
			status = STATUS_TYPE;
		else
			ask.divisor = 0, field = "divisor";
		ck_assert_int_eq(fanout_subscribe(room.fanout, &ask, &room.clients[0].outbox, NULL, true,
						  WIRE_FRAME_DOWN, 0, &subscription, &why),
				 status);
		ck_assert_str_eq(why.field, field);
	}
	ck_assert_uint_eq(counters_of(&room).subscriptions, 0);
	finish(&room);
}
END_TEST

START_TEST(wherever_memory_runs_out_the_next_frames_are_right)
{
	static struct room room;
	for (uint64_t n = 1; n <= 80; n++) {
		start(&room, check_seed());
		struct msg_subscribe exact = asking(WIRE_PROFILE_EXACT, 127, 1);
		struct msg_subscribe plain = asking(WIRE_PROFILE_PLAIN, 31, 1);
		enter(&room, 0, &exact, true, WIRE_FRAME_DOWN);
		enter(&room, 1, &plain, false, WIRE_FRAME_MIN);
		room.gen.births = 60;
		feed(&room, gen_reports_whole(&room.gen, false), 1);
		for (int t = 0; t < 8; t++) {
			struct report *report = gen_reports_next(&room.gen);
			room.now += NS_PER_MS;
			heap_fail_at(t == 2 ? n : 0);
			enum status status = fanout_report(room.fanout, &report->ticked, room.now);
			heap_fail_at(0);
			report_destroy(report);
			outbox_set_flush(&room.set);
			if (status != STATUS_OK)
				feed(&room, gen_reports_whole(&room.gen, false), 1);
		}
		for (uint32_t i = 0; i < 2; i++)
			ck_assert(shows_the_world(&room, i) || room.clients[i].outbox.failed);
		finish(&room);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/fanout");
	TCase *groups = tcase_create("groups");
	tcase_add_test(groups, equal_subscriptions_are_encoded_once_and_shared);
	tcase_add_loop_test(groups, different_subscriptions_see_what_they_asked_for, 0, 3);
	suite_add_tcase(suite, groups);
	TCase *flow = tcase_create("flow");
	tcase_add_test(flow, credit_is_two_frames_or_a_round_trip_and_a_bit);
	tcase_add_test(flow, who_says_nothing_has_two_frames_and_two_more_when_it_speaks);
	tcase_add_test(flow, a_long_round_trip_is_no_reason_to_skip);
	tcase_add_test(flow, events_wait_bounded_and_losses_are_told);
	tcase_add_test(flow, of_a_million_events_none_is_lost_uncounted);
	tcase_add_test(flow, late_joiners_wait_for_the_third_snapshot_and_share_it);
	tcase_set_timeout(flow, 30);
	tcase_add_test(flow, who_was_skipped_is_served_while_nothing_happens);
	tcase_add_test(flow, a_frame_of_many_parts_goes_as_it_is_taken_and_is_given_up_when_stuck);
	suite_add_tcase(suite, flow);
	TCase *faults = tcase_create("faults");
	tcase_add_test(faults, a_lost_mirror_sends_nothing_until_it_is_whole_again);
	tcase_add_test(faults, what_cannot_be_served_is_refused_by_field);
	tcase_add_test(faults, wherever_memory_runs_out_the_next_frames_are_right);
	suite_add_tcase(suite, faults);
	return suite;
}

int main(void)
{
	return check_main(make);
}
