/* Subscriptions and their groups. The streams accept as many bytes as the test sets; each client
 * applies every byte to a mirror. */
#include "server/sync/fanout.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "tests/lib/check_main.h"
#include "tests/lib/fan_hall.h"
#include "tests/lib/gen_reports.h"

struct room {
	struct gen_reports gen;
	struct fan_hall hall;
};

static void feed(struct room *room, struct report *report, uint64_t ns)
{
	fan_report(&room->hall, report, ns, false);
}

static void feed_next(struct room *room)
{
	feed(room, gen_reports_next(&room->gen), NS_PER_S / 60);
}

static void start(struct room *room, uint64_t seed)
{
	fan_open(&room->hall);
	gen_reports_init(&room->gen, seed);
}

static struct msg_subscribe subscribe_message(enum wire_profile profile, wire_mask fields,
					      uint32_t divisor)
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

static struct fanout_counters counters_of(const struct room *room)
{
	struct fanout_counters counters;
	fanout_counters(room->hall.fanout, &counters);
	return counters;
}

static bool shows_the_world(const struct room *room, uint32_t who)
{
	const struct mirror *mirror = &room->hall.clients[who].mirror;
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

START_TEST(equal_subscriptions_are_encoded_once_and_shared)
{
	static struct room room;
	start(&room, check_seed());
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 127, 1);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++)
		fan_enter(&room.hall, i, &exact, true, WIRE_FRAME_DOWN);
	ck_assert_uint_eq(counters_of(&room).encoded, 1); /* one SNAPSHOT for all */
	for (uint64_t n = 1; n <= 50; n++) {
		feed_next(&room);
		ck_assert_uint_eq(counters_of(&room).encoded, 1 + n);
		for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
			ck_assert(shows_the_world(&room, i));
			fan_acknowledge(&room.hall, i);
		}
	}
	ck_assert_uint_eq(counters_of(&room).frames, FAN_CLIENTS * 51);
	/* A client that has skipped frames is a group of its own until its next frame; its divisor
	 * is 2 by then. */
	room.hall.clients[2].queued = 1 << 20;
	feed_next(&room);
	feed_next(&room);
	uint64_t before = counters_of(&room).encoded;
	room.hall.clients[2].queued = 0;
	feed_next(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 2);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++)
		ck_assert(shows_the_world(&room, i));
	feed_next(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 3);
	feed_next(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 5);
	ck_assert(shows_the_world(&room, 2));
	ck_assert_uint_ge(room.hall.clients[2].skipped, 1);
	ck_assert_uint_eq(room.hall.clients[2].divisor, 2);
	fan_close(&room.hall);
}
END_TEST

START_TEST(different_subscriptions_get_their_own_columns_and_rates)
{
	static struct room room;
	start(&room, check_seed() + (uint64_t)_i);
	const struct msg_subscribe asks[FAN_CLIENTS] = {
		subscribe_message(WIRE_PROFILE_EXACT, 127, 1),
		subscribe_message(WIRE_PROFILE_PLAIN, 127, 1),
		subscribe_message(WIRE_PROFILE_EXACT, 1, 1),
		subscribe_message(WIRE_PROFILE_PLAIN, 48, 1),
		subscribe_message(WIRE_PROFILE_EXACT, 31, 5),
		subscribe_message(WIRE_PROFILE_EXACT, 127, 1),
		subscribe_message(WIRE_PROFILE_VIEW, 127, 1),
		subscribe_message(WIRE_PROFILE_SIM, 19, 1),
	};
	for (uint32_t i = 0; i < FAN_CLIENTS; i++)
		fan_enter(&room.hall, i, &asks[i], i % 2 == 0,
			  i == 5 ? WIRE_FRAME_MIN : WIRE_FRAME_DOWN);
	room.gen.births = 40;
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	for (uint64_t n = 1; n <= 200; n++) {
		bool whole = n % 70 == 0;
		if (whole)
			feed(&room, gen_reports_whole(&room.gen, n == 140), NS_PER_MS);
		else
			feed_next(&room);
		for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
			if (i != 4)
				ck_assert(shows_the_world(&room, i));
			fan_acknowledge(&room.hall, i);
		}
	}
	ck_assert_uint_eq(room.hall.clients[0].snapshots, 3);
	ck_assert_uint_gt(room.hall.clients[5].parts_max, 1);
	/* Every fifth step, and whenever it needs a SNAPSHOT. */
	ck_assert_uint_ge(room.hall.clients[4].frames, 198 / 5);
	ck_assert_uint_le(room.hall.clients[4].frames, 198 / 5 + 4);
	fan_close(&room.hall);
}
END_TEST

START_TEST(unacknowledged_frames_are_limited_to_two_or_a_round_trip_and_a_quarter)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
	fan_enter(&room.hall, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* Without an ACK: frames for a quarter of a second, then none. */
	for (int n = 0; n < 60; n++)
		feed_next(&room);
	uint32_t frames = room.hall.clients[0].frames;
	ck_assert_uint_ge(frames, 15);
	ck_assert_uint_le(frames, 18);
	/* Two frames are always allowed. */
	fan_acknowledge(&room.hall, 0);
	for (int n = 0; n < 400; n++)
		feed_next(&room);
	ck_assert_uint_gt(room.hall.clients[0].frames, frames + 1);
	/* By then its divisor has grown; NOTICE says so, and counts the skipped frames. */
	fan_acknowledge(&room.hall, 0);
	for (int n = 0; n < 64; n++)
		feed_next(&room);
	ck_assert_uint_gt(room.hall.clients[0].divisor, 1);
	ck_assert_uint_le(room.hall.clients[0].divisor, SUBSCRIPTION_DIVISOR_MAX);
	ck_assert_uint_gt(room.hall.clients[0].skipped, 200);
	/* Frames that are acknowledged at once restore the full rate. */
	for (int n = 0; n < 60 * 20; n++) {
		feed_next(&room);
		fan_acknowledge(&room.hall, 0);
	}
	ck_assert_uint_eq(room.hall.clients[0].divisor, 1);
	frames = room.hall.clients[0].frames;
	for (int n = 0; n < 60; n++) {
		feed_next(&room);
		fan_acknowledge(&room.hall, 0);
	}
	ck_assert_uint_eq(room.hall.clients[0].frames, frames + 60);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_silent_client_gets_two_frames_and_two_more_after_an_ack)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
	fan_enter(&room.hall, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert_uint_eq(room.hall.clients[0].frames, 1);
	/* The reports are 3 s apart, so no round trip allows more than two frames. */
	for (uint32_t acks = 0; acks < 4; acks++) {
		for (int n = 0; n < 100; n++)
			feed(&room, gen_reports_next(&room.gen), 3 * NS_PER_S);
		ck_assert_uint_eq(room.hall.clients[0].frames, 2 + 2 * acks);
		fan_acknowledge(&room.hall, 0);
	}
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_long_round_trip_is_no_reason_to_skip)
{
	static struct room room;
	static struct {
		uint64_t tick, due;
		uint32_t epoch;
	} late[1024];
	uint32_t first = 0, count = 0;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
	fan_enter(&room.hall, 0, &exact, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* a round trip of 200 ms */
	for (int n = 0; n < 600; n++) {
		uint32_t before = room.hall.clients[0].frames;
		feed_next(&room);
		if (room.hall.clients[0].frames > before) {
			late[count].tick = room.hall.clients[0].mirror.tick;
			late[count].epoch = (uint32_t)room.hall.clients[0].mirror.epoch;
			late[count++].due = room.hall.now + 200 * NS_PER_MS;
		}
		for (; first < count && late[first].due <= room.hall.now; first++)
			subscription_ack(room.hall.clients[0].subscription, late[first].epoch,
					 late[first].tick, 0, room.hall.now);
	}
	ck_assert_uint_eq(room.hall.clients[0].frames, 601);
	ck_assert_uint_eq(room.hall.clients[0].skipped, 0);
	/* An ACK of an unknown frame changes nothing. */
	uint32_t waiting = room.hall.clients[0].subscription->unacked_count;
	subscription_ack(room.hall.clients[0].subscription, 9, 9, 0, room.hall.now);
	ck_assert_uint_eq(room.hall.clients[0].subscription->unacked_count, waiting);
	fan_close(&room.hall);
}
END_TEST

static void add_events(struct report *report, uint32_t count)
{
	report->ticked.events = heap_alloc_zero(count * sizeof *report->ticked.events);
	report->ticked.event_count = count;
	for (uint32_t i = 0; i < count; i++)
		report->ticked.events[i] = (struct event){ .kind = EVENT_CONTACT_END, .a = i + 1 };
}

START_TEST(waiting_events_are_bounded_and_losses_are_counted)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
	struct msg_subscribe no_events = exact;
	no_events.events = 1 << EVENT_SLEEP;
	fan_enter(&room.hall, 0, &exact, true, WIRE_FRAME_MIN);
	fan_enter(&room.hall, 1, &no_events, true, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	struct report *report = gen_reports_next(&room.gen);
	add_events(report, 1000);
	feed(&room, report, NS_PER_MS);
	ck_assert_uint_eq(room.hall.clients[0].events, 1000);
	ck_assert_uint_eq(room.hall.clients[1].events, 0);
	room.hall.clients[0].queued = 1 << 20;
	for (int n = 0; n < 40; n++) {
		report = gen_reports_next(&room.gen);
		add_events(report, 1000);
		feed(&room, report, NS_PER_MS);
	}
	room.hall.clients[0].queued = 0;
	for (int n = 0; n < 130; n++)
		feed_next(&room);
	/* 41 000 events; only those that fit into SUBSCRIPTION_EVENT_BYTES could wait. */
	ck_assert_uint_gt(room.hall.clients[0].events, 1000 + SUBSCRIPTION_EVENT_BYTES / 128);
	ck_assert_uint_gt(room.hall.clients[0].lost, 0);
	ck_assert_uint_eq(room.hall.clients[0].events + room.hall.clients[0].lost, 41000);
	ck_assert_uint_eq(counters_of(&room).events_lost, room.hall.clients[0].lost);
	fan_close(&room.hall);
}
END_TEST

START_TEST(of_a_million_events_none_is_lost_uncounted)
{
	static struct room room;
	start(&room, check_seed());
	struct rng rng = rng_seeded(check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
	for (uint32_t i = 0; i < 3; i++)
		fan_enter(&room.hall, i, &exact, i > 0, i == 2 ? WIRE_FRAME_MIN : WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	room.gen.changes = 2;
	uint64_t total = 0;
	for (int n = 0; n < 1000; n++) {
		struct report *report = gen_reports_next(&room.gen);
		uint32_t count = 500 + rng_below(&rng, 1100);
		total += count;
		add_events(report, count);
		/* Two of them stall repeatedly, for a few ticks or for many. */
		for (uint32_t i = 1; i < 3; i++)
			if (rng_below(&rng, i == 1 ? 4 : 30) == 0)
				room.hall.clients[i].queued =
					room.hall.clients[i].queued > 0 ? 0 : 1 << 20;
		feed(&room, report, NS_PER_S / 60);
		for (uint32_t i = 0; i < 3; i++)
			fan_acknowledge(&room.hall, i);
	}
	for (uint32_t i = 0; i < 3; i++)
		room.hall.clients[i].queued = 0;
	for (int n = 0; n < 130; n++) {
		feed_next(&room);
		for (uint32_t i = 0; i < 3; i++)
			fan_acknowledge(&room.hall, i);
	}
	ck_assert_uint_gt(total, 1000000);
	ck_assert_uint_eq(room.hall.clients[0].events, total);
	ck_assert_uint_eq(room.hall.clients[0].lost, 0);
	for (uint32_t i = 1; i < 3; i++)
		ck_assert_uint_eq((uint64_t)room.hall.clients[i].events + room.hall.clients[i].lost,
				  total);
	ck_assert_uint_gt(room.hall.clients[2].lost, 0);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_skipped_client_gets_its_frame_in_a_world_at_rest)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 127, 1);
	for (uint32_t i = 0; i < 2; i++)
		fan_enter(&room.hall, i, &exact, i == 0, WIRE_FRAME_DOWN);
	room.gen.births = 30;
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	for (uint32_t i = 0; i < 2; i++)
		room.hall.clients[i].queued = 1 << 20;
	for (int n = 0; n < 5; n++)
		feed_next(&room);
	for (uint32_t i = 0; i < 2; i++)
		room.hall.clients[i].queued = 0;
	fan_look_after(&room.hall, room.hall.now + NS_PER_S);
	outbox_set_flush(&room.hall.set);
	ck_assert(shows_the_world(&room, 0) && shows_the_world(&room, 1));
	/* The frame is sent once only. */
	uint64_t frames = counters_of(&room).frames;
	fan_look_after(&room.hall, room.hall.now + 2 * NS_PER_S);
	ck_assert_uint_eq(counters_of(&room).frames, frames);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_frame_of_many_parts_is_sent_as_the_stream_accepts_it_and_dropped_when_stuck)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.births = 200;
	room.gen.deaths = 0;
	struct msg_subscribe plain = subscribe_message(WIRE_PROFILE_PLAIN, 127, 1);
	while (room.gen.count < GEN_BODIES_MAX)
		report_destroy(gen_reports_next(&room.gen));
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	fan_enter(&room.hall, 0, &plain, true, WIRE_FRAME_MIN);
	struct fan_client *client = &room.hall.clients[0];
	/* 400 rows of 170 bytes: a few parts more than may wait in the stream at once. */
	ck_assert(subscription_is_busy(client->subscription) || client->snapshots == 1);
	client->queued = 1 << 20;
	fanout_resync(room.hall.fanout, client->subscription, room.hall.now);
	client->queued = 0;
	fan_look_after(&room.hall, room.hall.now);
	outbox_set_flush(&room.hall.set);
	for (int i = 0; i < 10; i++) {
		fanout_on_writable(room.hall.fanout, client->subscription, room.hall.now);
		outbox_set_flush(&room.hall.set);
	}
	ck_assert(shows_the_world(&room, 0));
	/* The stream accepts nothing more in the middle of a frame. */
	client->subscription->snapshot_due = true;
	uint32_t snapshots = client->snapshots;
	fan_look_after(&room.hall, room.hall.now);
	client->queued = 1 << 20;
	outbox_set_flush(&room.hall.set);
	if (subscription_is_busy(client->subscription)) {
		fan_look_after(&room.hall, room.hall.now + 11 * NS_PER_S);
		ck_assert(!subscription_is_busy(client->subscription));
		ck_assert(client->subscription->snapshot_due);
	}
	client->queued = 0;
	room.hall.now += 12 * NS_PER_S;
	for (int i = 0; i < 10; i++) {
		fan_look_after(&room.hall, room.hall.now);
		outbox_set_flush(&room.hall.set);
		fan_acknowledge(&room.hall, 0);
	}
	ck_assert_uint_gt(client->snapshots, snapshots);
	ck_assert(shows_the_world(&room, 0));
	fan_close(&room.hall);
}
END_TEST

START_TEST(late_joiners_wait_for_the_third_snapshot_and_share_it)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.births = 200;
	room.gen.deaths = 0;
	struct msg_subscribe plain = subscribe_message(WIRE_PROFILE_PLAIN, 127, 1);
	while (room.gen.count < GEN_BODIES_MAX)
		report_destroy(gen_reports_next(&room.gen));
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	/* Two clients read their snapshots slowly. */
	for (uint32_t i = 0; i < 2; i++) {
		room.hall.clients[i].queued = 1 << 20;
		fan_enter(&room.hall, i, &plain, true, WIRE_FRAME_MIN);
		ck_assert(subscription_is_busy(room.hall.clients[i].subscription));
		feed_next(&room);
	}
	uint64_t before = counters_of(&room).encoded;
	for (uint32_t i = 2; i < FAN_CLIENTS; i++) {
		fan_enter(&room.hall, i, &plain, true, WIRE_FRAME_MIN);
		feed_next(&room);
		ck_assert_uint_eq(room.hall.clients[i].snapshots, 0);
	}
	ck_assert_uint_eq(counters_of(&room).encoded, before);
	/* The first has read its snapshot: one more is encoded, for all that wait. */
	room.hall.clients[0].queued = 0;
	for (int n = 0; n < 4; n++) {
		fanout_on_writable(room.hall.fanout, room.hall.clients[0].subscription,
				   room.hall.now);
		outbox_set_flush(&room.hall.set);
	}
	ck_assert_uint_eq(room.hall.clients[0].snapshots, 1);
	before = counters_of(&room).encoded;
	feed_next(&room);
	ck_assert_uint_eq(counters_of(&room).encoded, before + 2);
	for (int n = 0; n < 4; n++)
		for (uint32_t i = 2; i < FAN_CLIENTS; i++) {
			fanout_on_writable(room.hall.fanout, room.hall.clients[i].subscription,
					   room.hall.now);
			outbox_set_flush(&room.hall.set);
		}
	for (uint32_t i = 2; i < FAN_CLIENTS; i++)
		ck_assert_uint_eq(room.hall.clients[i].snapshots, 1);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_view_that_missed_a_report_sends_nothing_until_a_whole_report)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 127, 1);
	fan_enter(&room.hall, 0, &exact, false, WIRE_FRAME_DOWN);
	ck_assert_uint_eq(room.hall.clients[0].frames, 0);
	/* No frame before the first whole report. */
	struct report *report = gen_reports_next(&room.gen);
	ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
			 STATUS_AGAIN);
	report_destroy(report);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert_uint_eq(room.hall.clients[0].snapshots, 1);
	for (int n = 0; n < 5; n++)
		feed_next(&room);
	report = gen_reports_next(&room.gen);
	report->ticked.tick_hash ^= 1;
	uint32_t frames = room.hall.clients[0].frames;
	ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
			 STATUS_CORRUPT);
	report_destroy(report);
	ck_assert(!fanout_has_mirror(room.hall.fanout));
	report = gen_reports_next(&room.gen);
	ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
			 STATUS_AGAIN);
	report_destroy(report);
	outbox_set_flush(&room.hall.set);
	ck_assert_uint_eq(room.hall.clients[0].frames, frames);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	ck_assert(shows_the_world(&room, 0));
	feed_next(&room);
	ck_assert(shows_the_world(&room, 0));
	fan_close(&room.hall);
}
END_TEST

/* Such a report is made when the last subscription has ended, and may arrive after the next one began. */
START_TEST(a_report_without_lists_is_a_missed_one)
{
	static struct room room;
	start(&room, check_seed());
	struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 127, 1);
	fan_enter(&room.hall, 0, &exact, false, WIRE_FRAME_DOWN);
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	feed_next(&room);
	for (int n = 0; n < 2; n++) {
		struct report *report = gen_reports_next(&room.gen);
		report->ticked.unlisted = n == 0;
		ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
				 STATUS_AGAIN);
		report_destroy(report);
		ck_assert(!fanout_has_mirror(room.hall.fanout));
	}
	feed(&room, gen_reports_whole(&room.gen, false), 1);
	feed_next(&room);
	ck_assert(shows_the_world(&room, 0));
	fan_close(&room.hall);
}
END_TEST

START_TEST(an_invalid_subscription_is_refused_with_its_field)
{
	static struct room room;
	start(&room, check_seed());
	struct subscription *subscription;
	struct reason why;
	static const uint8_t nobody = 0, no_areas[] = { 0x92, 0x02, 0x90 };
	for (int k = 1; k < 8; k++) {
		struct msg_subscribe ask = subscribe_message(WIRE_PROFILE_EXACT, 31, 1);
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
		enum status got =
			fanout_subscribe(room.hall.fanout, &ask, &room.hall.clients[0].outbox, NULL,
					 true, WIRE_FRAME_DOWN, 0, &subscription, &why);
		ck_assert_int_eq(got, status);
		ck_assert_str_eq(why.field, field);
	}
	ck_assert_uint_eq(counters_of(&room).subscriptions, 0);
	fan_close(&room.hall);
}
END_TEST

START_TEST(after_any_failed_allocation_the_next_frames_are_right)
{
	static struct room room;
	for (uint64_t n = 1; n <= 80; n++) {
		start(&room, check_seed());
		struct msg_subscribe exact = subscribe_message(WIRE_PROFILE_EXACT, 127, 1);
		struct msg_subscribe plain = subscribe_message(WIRE_PROFILE_PLAIN, 31, 1);
		fan_enter(&room.hall, 0, &exact, true, WIRE_FRAME_DOWN);
		fan_enter(&room.hall, 1, &plain, false, WIRE_FRAME_MIN);
		room.gen.births = 60;
		feed(&room, gen_reports_whole(&room.gen, false), 1);
		for (int t = 0; t < 8; t++) {
			struct report *report = gen_reports_next(&room.gen);
			room.hall.now += NS_PER_MS;
			heap_fail_at(t == 2 ? n : 0);
			enum status status =
				fanout_report(room.hall.fanout, &report->ticked, room.hall.now);
			heap_fail_at(0);
			report_destroy(report);
			outbox_set_flush(&room.hall.set);
			if (status != STATUS_OK)
				feed(&room, gen_reports_whole(&room.gen, false), 1);
		}
		for (uint32_t i = 0; i < 2; i++)
			ck_assert(shows_the_world(&room, i) || room.hall.clients[i].outbox.failed);
		fan_close(&room.hall);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/fanout");
	TCase *groups = tcase_create("groups");
	tcase_add_test(groups, equal_subscriptions_are_encoded_once_and_shared);
	tcase_add_loop_test(groups, different_subscriptions_get_their_own_columns_and_rates, 0, 3);
	suite_add_tcase(suite, groups);
	TCase *flow = tcase_create("flow");
	tcase_add_test(flow,
		       unacknowledged_frames_are_limited_to_two_or_a_round_trip_and_a_quarter);
	tcase_add_test(flow, a_silent_client_gets_two_frames_and_two_more_after_an_ack);
	tcase_add_test(flow, a_long_round_trip_is_no_reason_to_skip);
	tcase_add_test(flow, waiting_events_are_bounded_and_losses_are_counted);
	tcase_add_test(flow, of_a_million_events_none_is_lost_uncounted);
	tcase_add_test(flow, late_joiners_wait_for_the_third_snapshot_and_share_it);
	tcase_set_timeout(flow, 30);
	tcase_add_test(flow, a_skipped_client_gets_its_frame_in_a_world_at_rest);
	tcase_add_test(
		flow,
		a_frame_of_many_parts_is_sent_as_the_stream_accepts_it_and_dropped_when_stuck);
	suite_add_tcase(suite, flow);
	TCase *faults = tcase_create("faults");
	tcase_add_test(faults, a_view_that_missed_a_report_sends_nothing_until_a_whole_report);
	tcase_add_test(faults, a_report_without_lists_is_a_missed_one);
	tcase_add_test(faults, an_invalid_subscription_is_refused_with_its_field);
	tcase_add_test(faults, after_any_failed_allocation_the_next_frames_are_right);
	suite_add_tcase(suite, faults);
	return suite;
}

int main(void)
{
	return check_main(make);
}
