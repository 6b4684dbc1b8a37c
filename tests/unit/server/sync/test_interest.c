/* Subscriptions to parts of a world: areas, followed bodies, budgets, moving cameras, clients that
 * skip. A client applies every byte to a mirror, and each complete mirror is compared with the
 * bodies of the world that are inside its areas. */
#include "server/sync/interest.h"

#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/result_wire.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "server/sync/fanout.h"
#include "tests/lib/check_main.h"
#include "tests/lib/fan_hall.h"
#include "tests/lib/gen_reports.h"

enum { PACKED = 4096 };

static struct room {
	struct gen_reports gen;
	struct fan_hall hall;
	struct rng rng;
	uint64_t compared;
} room;

static void feed(struct report *report, uint64_t ns)
{
	fan_report(&room.hall, report, ns, true);
}

static void tick(void)
{
	feed(gen_reports_next(&room.gen), NS_PER_S / 60);
}

static void start(uint64_t seed)
{
	memset(&room, 0, sizeof room);
	fan_open(&room.hall);
	room.rng = rng_seeded(seed * 3 + 1);
	gen_reports_init(&room.gen, seed);
	room.gen.births = 8;
	feed(gen_reports_whole(&room.gen, false), 1);
	for (int i = 0; i < 30; i++)
		tick();
}

/* ---- subscribing -------------------------------------------------------------------------------- */

struct packed_sight {
	uint8_t areas[PACKED], follow[PACKED];
	struct wire_list area_list, follow_list;
};

static void pack_areas(const struct fan_client *client, struct packed_sight *out)
{
	struct wire_packer areas = wire_packer_over(out->areas, PACKED);
	struct wire_packer follow = wire_packer_over(out->follow, PACKED);
	for (uint32_t i = 0; i < client->area_count; i++)
		wire_area_pack(&areas, &client->areas[i]);
	for (uint32_t i = 0; i < client->follow_count; i++)
		wire_pack_uint(&follow, client->follow[i]);
	out->area_list = (struct wire_list){ out->areas, areas.bytes, client->area_count };
	out->follow_list = (struct wire_list){ out->follow, follow.bytes, client->follow_count };
}

static void enter(uint32_t who, enum wire_profile profile, wire_mask fields, uint64_t budget)
{
	static struct packed_sight packed_sight;
	struct message ask;
	pack_areas(&room.hall.clients[who], &packed_sight);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = who + 1;
	ask.subscribe.profile = profile;
	ask.subscribe.fields = fields;
	ask.subscribe.budget = budget;
	ask.subscribe.events = 0xffff;
	ask.subscribe.areas = packed_sight.area_list;
	ask.subscribe.follow = packed_sight.follow_list;
	fan_enter(&room.hall, who, &ask.subscribe, false, WIRE_FRAME_DOWN);
}

static void focus(uint32_t who)
{
	struct fan_client *client = &room.hall.clients[who];
	static struct packed_sight packed_sight;
	struct message focus;
	struct reason why;
	pack_areas(client, &packed_sight);
	message_init(&focus, MESSAGE_FOCUS);
	focus.focus.areas = packed_sight.area_list;
	focus.focus.follow = packed_sight.follow_list;
	client->fresh = false;
	ck_assert_int_eq(fanout_focus(room.hall.fanout, client->subscription, &focus.focus, &why),
			 STATUS_OK);
}

static double real(double span)
{
	return rng_range(&room.rng, -span, span);
}

static struct wire_area draw_area(void)
{
	struct wire_area area = { .kind = (uint8_t)(1 + rng_below(&room.rng, 3)) };
	double *n = area.numbers, size = rng_range(&room.rng, 1, 40);
	for (int c = 0; c < 3; c++)
		n[c] = c < 2 ? real(50) : real(3);
	if (area.kind == WIRE_AREA_BOX) {
		for (int c = 0; c < 3; c++)
			n[3 + c] = n[c] + size;
	} else if (area.kind == WIRE_AREA_BALL) {
		n[3] = size;
	} else {
		for (int c = 3; c < 7; c++)
			n[c] = real(1);
		n[7] = rng_range(&room.rng, 0.3, 1.5);
		n[8] = rng_range(&room.rng, 0.3, 1.5);
		n[10] = size;
	}
	if (rng_below(&room.rng, 4) == 0 && room.gen.count > 0) {
		uint32_t body = rng_below(&room.rng, room.gen.count);
		area.body = room.gen.bodies[body].id;
		for (int c = 0; c < 3; c++)
			n[c] -= area.kind == WIRE_AREA_BOX ? n[c] + size / 2 : n[c];
		if (area.kind == WIRE_AREA_BOX)
			for (int c = 0; c < 3; c++)
				n[3 + c] = size / 2;
	}
	return area;
}

static void draw_subscription(struct fan_client *client)
{
	client->area_count = 1 + rng_below(&room.rng, 3);
	for (uint32_t i = 0; i < client->area_count; i++)
		client->areas[i] = draw_area();
	client->follow_count = rng_below(&room.rng, 3);
	for (uint32_t i = 0; i < client->follow_count; i++)
		client->follow[i] = 1 + rng_below(&room.rng, room.gen.next_id + 5);
	if (client->follow_count > 0 && rng_below(&room.rng, 3) == 0)
		client->area_count = 0;
}

/* ---- the oracle --------------------------------------------------------------------------------- */

static const struct wire_body *find(uint32_t id)
{
	for (uint32_t i = 0; i < room.gen.count; i++)
		if (room.gen.bodies[i].id == id)
			return &room.gen.bodies[i];
	return NULL;
}

/* Whether a body is inside the areas, widened by `margins` times their margin (0: the exact areas).
 * If the body that an area follows is gone, the area's place is unknown: any body may be visible
 * and none must be. */
static bool is_inside(const struct fan_client *client, const struct wire_body *body, double margins)
{
	for (uint32_t i = 0; i < client->follow_count; i++)
		if (client->follow[i] == body->id)
			return true;
	for (uint32_t i = 0; i < client->area_count; i++) {
		struct wire_area unit = client->areas[i];
		uint8_t packed[256];
		struct wire_packer out = wire_packer_over(packed, sizeof packed);
		struct wire_area back[WIRE_AREAS_MAX];
		double origin[3] = { 0 };
		uint32_t count;
		wire_area_pack(&out, &unit);
		ck_assert_int_eq(wire_areas_take(&(struct wire_list){ packed, out.bytes, 1 }, back,
						 &count, NULL),
				 STATUS_OK);
		const struct wire_body *anchor = unit.body != 0 ? find(unit.body) : NULL;
		if (unit.body != 0 && anchor == NULL) {
			if (margins > 0)
				return true;
			continue;
		}
		if (anchor != NULL)
			memcpy(origin, anchor->position, sizeof origin);
		if (wire_area_holds(&back[0], origin, body->position,
				    margins * wire_area_margin(&back[0]) +
					    (margins > 0 ? 1e-9 : 0)))
			return true;
	}
	return false;
}

static void compare_mirror(uint32_t who)
{
	const struct fan_client *client = &room.hall.clients[who];
	const struct mirror *mirror = &client->mirror;
	if (!mirror->complete || !client->fresh || client->partial)
		return;
	uint32_t seen = 0;
	for (uint32_t i = 0; i < room.gen.count; i++) {
		const struct wire_body *body = &room.gen.bodies[i];
		const struct wire_body *shown = mirror_find(mirror, body->id);
		if (shown == NULL) {
			ck_assert(!is_inside(client, body, 0));
			continue;
		}
		seen++;
		ck_assert(is_inside(client, body, 2));
		if (!wire_profile_quantised(mirror->profile))
			ck_assert_uint_eq(wire_columns_differ(shown, body) & mirror->fields, 0);
	}
	ck_assert_uint_eq(seen, mirror->count);
	room.compared++;
}

/* ---- tests -------------------------------------------------------------------------------------- */

START_TEST(a_mirror_has_the_bodies_inside_its_areas_whatever_is_skipped)
{
	static const enum wire_profile profiles[] = { WIRE_PROFILE_EXACT, WIRE_PROFILE_PLAIN,
						      WIRE_PROFILE_VIEW, WIRE_PROFILE_SIM };
	start(check_seed() + (uint64_t)_i);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
		draw_subscription(&room.hall.clients[i]);
		enter(i, profiles[i % 4], i < 6 ? 127 : 31, i == 3 || i == 6 ? 60000 : 0);
	}
	for (int n = 0; n < 400; n++) {
		uint32_t who = rng_below(&room.rng, FAN_CLIENTS);
		struct fan_client *client = &room.hall.clients[who];
		uint32_t what = rng_below(&room.rng, 40);
		if (what < 4)
			client->queued = client->queued > 0 ? 0 : 1 << 20;
		else if (what < 8) {
			draw_subscription(client);
			focus(who);
		} else if (what == 8)
			fanout_resync(room.hall.fanout, client->subscription, room.hall.now);
		room.gen.changes = n / 50 % 3 == 2 ? 2 : 30;
		if (n % 150 == 149)
			feed(gen_reports_whole(&room.gen, n == 299), NS_PER_MS);
		else
			tick();
		for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
			const struct fan_client *it = &room.hall.clients[i];
			/* An area at rest gets no frame each tick, so only a mirror of this tick is
			 * compared. */
			if (it->queued == 0 && it->subscription->divisor == 1 &&
			    it->subscription->served == fanout_view(room.hall.fanout)->steps)
				compare_mirror(i);
		}
	}
	ck_assert_uint_gt(room.compared, 300);
	fan_close(&room.hall);
}
END_TEST

START_TEST(in_a_world_at_rest_every_waiting_row_arrives)
{
	start(check_seed() + (uint64_t)_i);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
		draw_subscription(&room.hall.clients[i]);
		enter(i, i % 2 ? WIRE_PROFILE_SIM : WIRE_PROFILE_EXACT, 127, i < 4 ? 0 : 20000);
	}
	for (int n = 0; n < 60; n++)
		tick();
	/* The world is at rest, so even a small budget catches up. */
	for (int n = 0; n < 200; n++)
		feed(gen_reports_control(&room.gen), NS_PER_S / 20),
			fan_look_after(&room.hall, room.hall.now), outbox_set_flush(&room.hall.set);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
		ck_assert(!room.hall.clients[i].partial && room.hall.clients[i].mirror.complete);
		ck_assert_uint_eq(room.hall.clients[i].mirror.tick, room.gen.tick);
		room.compared = 0;
		compare_mirror(i);
		ck_assert_uint_eq(room.compared, 1);
	}
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_budget_is_respected_and_near_bodies_are_sent_first)
{
	start(check_seed());
	struct fan_client *client = &room.hall.clients[0];
	client->areas[0] =
		(struct wire_area){ .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 200 } };
	client->area_count = 1;
	room.gen.births = 40;
	room.gen.deaths = 0;
	while (room.gen.count < 300)
		tick();
	room.gen.births = 0;
	room.gen.changes = 100;
	enter(0, WIRE_PROFILE_EXACT, 31, 30000);
	for (int n = 0; n < 30; n++)
		tick();
	/* The bodies sent first are nearer than the average. */
	double near = 0, all = 0;
	for (uint32_t i = 0; i < client->mirror.count; i++) {
		const double *p = client->mirror.bodies[i].position;
		near += p[0] * p[0] + p[1] * p[1];
	}
	for (uint32_t i = 0; i < room.gen.count; i++) {
		const double *p = room.gen.bodies[i].position;
		all += p[0] * p[0] + p[1] * p[1];
	}
	ck_assert_uint_lt(client->mirror.count, room.gen.count);
	ck_assert(near / client->mirror.count < all / room.gen.count);
	uint64_t bytes = client->bytes;
	for (int n = 0; n < 600; n++)
		tick();
	ck_assert_uint_le(client->bytes - bytes, 10 * 30000 * 11 / 10);
	ck_assert_uint_ge(client->bytes - bytes, 10 * 30000 * 8 / 10);
	/* After these frames every body has been sent at least once. */
	ck_assert_uint_eq(client->mirror.count, room.gen.count);
	fan_close(&room.hall);
}
END_TEST

/* All bodies change. If all are equally near, no body is sent more than three times as often as
 * another; if some are far, they are sent less often, but at most by a factor of six. */
START_TEST(bodies_not_sent_yet_come_before_bodies_already_sent)
{
	static double shown[4096][3];
	static uint32_t times[4096];
	start(check_seed());
	struct fan_client *client = &room.hall.clients[0];
	if (_i == 1) {
		client->areas[0] =
			(struct wire_area){ .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 100 } };
		client->area_count = 1;
	}
	room.gen.births = 40;
	room.gen.deaths = 0;
	while (room.gen.count < 200)
		tick();
	room.gen.births = 0;
	room.gen.changes = 100;
	enter(0, WIRE_PROFILE_EXACT, 1, 30000);
	for (int n = 0; n < 120; n++)
		tick();
	ck_assert_uint_eq(client->mirror.count, room.gen.count);
	for (int n = -1; n < 1200; n++) {
		for (uint32_t i = 0; i < client->mirror.count; i++) {
			const struct wire_body *body = &client->mirror.bodies[i];
			ck_assert_uint_lt(body->id, 4096);
			times[body->id] += n >= 0 && memcmp(shown[body->id], body->position,
							    sizeof body->position) != 0;
			memcpy(shown[body->id], body->position, sizeof body->position);
		}
		tick();
	}
	uint32_t least = UINT32_MAX, most = 0;
	for (uint32_t i = 0; i < client->mirror.count; i++) {
		least = MIN_OF(least, times[client->mirror.bodies[i].id]);
		most = MAX_OF(most, times[client->mirror.bodies[i].id]);
	}
	ck_assert_uint_gt(most, 20);
	ck_assert_msg((_i == 1 ? 6 : 3) * least > most, "a body is sent %u times, another %u",
		      least, most);
	fan_close(&room.hall);
}
END_TEST

START_TEST(an_event_is_sent_if_either_of_its_bodies_is_visible)
{
	start(check_seed());
	struct fan_client *client = &room.hall.clients[0];
	room.gen.births = room.gen.deaths = 0;
	uint32_t mine = room.gen.bodies[3].id, other = room.gen.bodies[1].id,
		 third = room.gen.bodies[5].id;
	client->follow[0] = mine;
	client->follow_count = 1;
	enter(0, WIRE_PROFILE_EXACT, 31, 0);
	tick();
	const struct {
		uint32_t a, b;
		bool heard;
	} rows[] = { { mine, other, true },   { other, mine, true },   { mine, 0, true },
		     { other, third, false }, { third, other, false }, { other, 0, false },
		     { 0, 0, true } };
	struct report *report = gen_reports_next(&room.gen);
	report->ticked.events = heap_alloc_zero(COUNT_OF(rows) * sizeof *report->ticked.events);
	report->ticked.event_count = COUNT_OF(rows);
	for (uint32_t i = 0; i < COUNT_OF(rows); i++)
		report->ticked.events[i] = (struct event){
			.kind = EVENT_CONTACT_BEGIN, .a = rows[i].a, .b = rows[i].b, .value = i
		};
	feed(report, NS_PER_S / 60);
	for (uint32_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_msg((client->heard >> i & 1) == rows[i].heard, "event %u of (%u, %u)", i,
			      rows[i].a, rows[i].b);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_body_on_the_edge_does_not_enter_and_leave_repeatedly)
{
	start(check_seed());
	struct fan_client *client = &room.hall.clients[0];
	room.gen.births = room.gen.deaths = room.gen.changes = 0;
	while (room.gen.count > 1)
		room.gen.count--;
	feed(gen_reports_whole(&room.gen, true), 1);
	client->areas[0] = (struct wire_area){ .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 16 } };
	client->area_count = 1;
	enter(0, WIRE_PROFILE_EXACT, 127, 0);
	for (int n = 0; n < 200; n++) {
		struct report *report = gen_reports_next(&room.gen);
		struct wire_body *body = &room.gen.bodies[0];
		body->position[0] = n % 2 ? 15.9 : 16.9;
		body->position[1] = body->position[2] = 0;
		struct report_body *to = &report->ticked.bodies[report->ticked.body_count++];
		*to = (struct report_body){ .view = { .id = body->id, .status = body->status },
					    .why = REPORT_MOVED };
		body->velocity[1] = body->spin[2] = body->rotation[1] = 0;
		body->rotation[0] = 0;
		body->flags = 0;
		body->tag = 0;
		body->owner = 0;
		memcpy(&to->view.position, body->position, sizeof body->position);
		memcpy(&to->view.rotation, body->rotation, sizeof body->rotation);
		report->ticked.tick_hash = gen_reports_hash(&room.gen);
		feed(report, NS_PER_S / 60);
	}
	ck_assert_uint_eq(client->mirror.count, 1);
	ck_assert_uint_le(client->created, 1);
	ck_assert_uint_eq(client->removed, 0);
	fan_close(&room.hall);
}
END_TEST

START_TEST(equal_areas_share_an_interest_and_a_moved_area_gets_its_own)
{
	start(check_seed());
	struct fanout_counters before, after;
	for (uint32_t i = 0; i < FAN_CLIENTS; i++) {
		room.hall.clients[i].areas[0] =
			(struct wire_area){ .kind = WIRE_AREA_BALL, .numbers = { 5, 5, 0, 30 } };
		room.hall.clients[i].area_count = 1;
		enter(i, WIRE_PROFILE_EXACT, 127, 0);
	}
	tick();
	fanout_counters(room.hall.fanout, &before);
	ck_assert_uint_eq(before.interests, 1);
	tick();
	fanout_counters(room.hall.fanout, &after);
	ck_assert_uint_eq(after.encoded, before.encoded + 1);
	room.hall.clients[3].areas[0].numbers[0] = 40;
	focus(3);
	uint32_t snapshots = room.hall.clients[3].snapshots;
	tick();
	fanout_counters(room.hall.fanout, &before);
	ck_assert_uint_eq(before.interests, 2);
	ck_assert_uint_eq(before.encoded, after.encoded + 2);
	for (uint32_t i = 0; i < FAN_CLIENTS; i++)
		compare_mirror(i);
	ck_assert_uint_eq(room.compared, FAN_CLIENTS);
	/* A moved area is sent as a DELTA, not as a new SNAPSHOT. */
	ck_assert_uint_eq(room.hall.clients[3].snapshots, snapshots);
	fanout_unsubscribe(room.hall.fanout, room.hall.clients[3].subscription);
	fanout_counters(room.hall.fanout, &after);
	ck_assert_uint_eq(after.interests, 1);
	fan_close(&room.hall);
}
END_TEST

START_TEST(after_any_failed_allocation_the_next_frames_are_right)
{
	for (uint64_t n = 1; n <= 120; n += 120 / check_cases(120)) {
		start(check_seed() + n / 40);
		for (uint32_t i = 0; i < 4; i++) {
			draw_subscription(&room.hall.clients[i]);
			enter(i, i % 2 ? WIRE_PROFILE_SIM : WIRE_PROFILE_EXACT, 127,
			      i == 2 ? 100000 : 0);
		}
		for (int t = 0; t < 12; t++) {
			struct report *report = t < 11 || n % 3
							? gen_reports_next(&room.gen)
							: gen_reports_whole(&room.gen, true);
			room.hall.now += NS_PER_S / 60;
			heap_fail_at(t == 3 ? n : 0);
			if (t == 3 && n % 2 == 0) {
				struct message nothing;
				struct reason why;
				message_init(&nothing, MESSAGE_FOCUS);
				static const uint8_t follow[] = { 3, 7 };
				nothing.focus.follow = (struct wire_list){ follow, 2, 2 };
				enum status moved = fanout_focus(room.hall.fanout,
								 room.hall.clients[0].subscription,
								 &nothing.focus, &why);
				if (moved == STATUS_OK) {
					room.hall.clients[0].area_count = 0;
					room.hall.clients[0].follow_count = 2;
					room.hall.clients[0].follow[0] = 3;
					room.hall.clients[0].follow[1] = 7;
					room.hall.clients[0].fresh = false;
				}
			}
			enum status status =
				fanout_report(room.hall.fanout, &report->ticked, room.hall.now);
			heap_fail_at(0);
			outbox_set_flush(&room.hall.set);
			report_destroy(report);
			if (status != STATUS_OK)
				feed(gen_reports_whole(&room.gen, false), NS_PER_MS);
		}
		for (int t = 0; t < 20; t++) {
			feed(gen_reports_control(&room.gen), NS_PER_S / 4);
			fan_look_after(&room.hall, room.hall.now);
			outbox_set_flush(&room.hall.set);
		}
		room.compared = 0;
		for (uint32_t i = 0; i < 4; i++) {
			if (room.hall.clients[i].outbox.failed)
				room.compared++; /* a daemon would have closed this client */
			else
				compare_mirror(i);
		}
		ck_assert_uint_eq(room.compared, 4);
		fan_close(&room.hall);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/sync/interest");
	TCase *mirrors = tcase_create("mirrors");
	tcase_set_timeout(mirrors, 30);
	tcase_add_loop_test(mirrors, a_mirror_has_the_bodies_inside_its_areas_whatever_is_skipped,
			    0, 6);
	tcase_add_loop_test(mirrors, in_a_world_at_rest_every_waiting_row_arrives, 0, 3);
	tcase_add_test(mirrors, a_body_on_the_edge_does_not_enter_and_leave_repeatedly);
	tcase_add_test(mirrors, an_event_is_sent_if_either_of_its_bodies_is_visible);
	tcase_add_test(mirrors, equal_areas_share_an_interest_and_a_moved_area_gets_its_own);
	suite_add_tcase(suite, mirrors);
	TCase *budgets = tcase_create("budgets");
	tcase_add_test(budgets, a_budget_is_respected_and_near_bodies_are_sent_first);
	tcase_add_loop_test(budgets, bodies_not_sent_yet_come_before_bodies_already_sent, 0, 2);
	suite_add_tcase(suite, budgets);
	TCase *faults = tcase_create("faults");
	tcase_set_timeout(faults, 30);
	tcase_add_test(faults, after_any_failed_allocation_the_next_frames_are_right);
	suite_add_tcase(suite, faults);
	return suite;
}

int main(void)
{
	return check_main(make);
}
