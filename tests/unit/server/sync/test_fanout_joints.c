/* Joints in the fanout, on the synthetic world of tests/lib/gen_reports.h with joints added. A
 * mirror always has the joints of its bodies, whatever was skipped, and a short history of joints
 * never costs a SNAPSHOT. */
#include <string.h>

#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "server/sync/fanout.h"
#include "tests/lib/check_main.h"
#include "tests/lib/fan_hall.h"
#include "tests/lib/gen_reports.h"

enum { CLIENTS = 4, JOINTS_MAX = 4000 };

struct room {
	struct gen_reports gen;
	struct fan_hall hall;
	struct wire_joint joints[JOINTS_MAX]; /* ascending */
	uint32_t count, next_id, most;
	uint32_t churn; /* joints that are removed and made in a tick, of a hundred */
	bool told;
};

/* ---- joints of the world -------------------------------------------------------------------------- */

static void report_joint(struct tick_report *report, const struct wire_joint *joint, uint8_t why)
{
	ck_assert_int_eq(array_reserve(&report->joint_list, &report->joint_room,
				       report->joint_count + 1u, sizeof *report->joint_list),
			 STATUS_OK);
	struct report_joint *to = &report->joint_list[report->joint_count++];
	*to = (struct report_joint){ .why = why };
	to->view.id = joint->id;
	to->view.type = joint->type;
	to->view.a = joint->a;
	to->view.b = joint->b;
	to->view.tag = joint->tag;
	memcpy(to->view.coordinates, joint->coordinates, sizeof joint->coordinates);
}

static bool has_body(const struct room *room, uint32_t id)
{
	uint32_t low = 0, high = room->gen.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (room->gen.bodies[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return id == 0 || (low < room->gen.count && room->gen.bodies[low].id == id);
}

static void remove_some(struct room *room, struct tick_report *report)
{
	uint32_t kept = 0;
	ck_assert_int_eq(array_reserve(&report->joints_removed, &report->joint_removed_room,
				       room->count, sizeof *report->joints_removed),
			 STATUS_OK);
	for (uint32_t i = 0; i < room->count; i++) {
		const struct wire_joint *joint = &room->joints[i];
		bool goes = rng_below(&room->gen.rng, 100) < room->churn ||
			    !has_body(room, joint->a) || !has_body(room, joint->b);
		if (goes && !report->whole)
			report->joints_removed[report->joint_removed_count++] = joint->id;
		if (!goes)
			room->joints[kept++] = *joint;
	}
	room->count = kept;
}

static void make_some(struct room *room, struct tick_report *report)
{
	struct rng *rng = &room->gen.rng;
	uint32_t births = rng_below(rng, room->churn * room->most / 100 + 3);
	for (uint32_t i = 0; i < births && room->count < room->most && room->gen.count > 1; i++) {
		struct wire_joint *joint = &room->joints[room->count++];
		*joint = (struct wire_joint){
			.id = room->next_id += 1 + rng_below(rng, 3),
			.type = 2,
			.a = rng_below(rng, 4) == 0
				     ? 0
				     : room->gen.bodies[rng_below(rng, room->gen.count)].id,
			.b = room->gen.bodies[rng_below(rng, room->gen.count)].id,
		};
		report_joint(report, joint, REPORT_CREATED);
	}
}

/* Adds the changes of joints to a report about bodies. */
static void add_joints(struct room *room, struct tick_report *report)
{
	bool all = report->whole || !room->told;
	report->joints = true;
	report->joints_all = all;
	room->told = true;
	report->whole = report->whole || all;
	/* A whole report repeats a state that was reported before: no joint is removed. */
	if (!all)
		remove_some(room, report);
	for (uint32_t i = 0; i < room->count; i++) {
		struct wire_joint *joint = &room->joints[i];
		uint32_t what = all ? 7 : rng_below(&room->gen.rng, 8);
		if (what == 0)
			joint->coordinates[3] += 0.125;
		if (what == 1)
			joint->tag++;
		if (all || what < 3) /* joints without a change are reported as well */
			report_joint(report, joint, all ? REPORT_CREATED : REPORT_MOVED);
	}
	if (!all)
		make_some(room, report);
}

/* ---- the room --------------------------------------------------------------------------------------- */

static void feed(struct room *room, struct report *report, bool with_joints)
{
	if (with_joints)
		add_joints(room, &report->ticked);
	room->told = room->told && with_joints;
	fan_report(&room->hall, report, NS_PER_S / 60, true);
	/* A frame of many parts leaves a few parts at a time. */
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct fan_client *client = &room->hall.clients[i];
		while (client->subscription != NULL && client->queued == 0 &&
		       subscription_is_busy(client->subscription)) {
			outbox_flush(&client->outbox);
			fanout_on_writable(room->hall.fanout, client->subscription, room->hall.now);
		}
		if (client->subscription != NULL && client->queued == 0)
			outbox_flush(&client->outbox);
	}
}

static void acknowledge(struct room *room)
{
	for (uint32_t i = 0; i < CLIENTS; i++)
		if (room->hall.clients[i].subscription != NULL)
			fan_acknowledge(&room->hall, i);
}

static void start(struct room *room, uint64_t seed)
{
	memset(room, 0, sizeof *room);
	fan_open(&room->hall);
	room->churn = 3;
	room->most = 250;
	gen_reports_init(&room->gen, seed);
	room->gen.births = 12;
}

static void enter(struct room *room, uint32_t who, enum wire_profile profile, wire_mask joints,
		  bool part)
{
	struct message ask;
	room->hall.clients[who].part = part;
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.profile = profile;
	ask.subscribe.fields = WIRE_COLUMNS_TICK;
	ask.subscribe.joints = joints;
	ask.subscribe.events = 1u << EVENT_JOINT_BREAK;
	if (part)
		ask.subscribe.area =
			(struct wire_box){ true, { -200, -200, -200 }, { 0, 200, 200 } };
	fan_enter(&room->hall, who, &ask.subscribe, true, WIRE_FRAME_MIN);
}

static bool is_current(const struct room *room, uint32_t who)
{
	const struct mirror *mirror = &room->hall.clients[who].mirror;
	return mirror->complete && mirror->tick == room->gen.tick;
}

/* The mirror has the joints of its bodies, with the subscribed columns. */
static void expect_joints(const struct room *room, uint32_t who)
{
	const struct fan_client *client = &room->hall.clients[who];
	const struct mirror_joints *shown = &client->mirror.joints;
	uint32_t next = 0;
	ck_assert(is_current(room, who));
	for (uint32_t i = 0; i < room->count; i++) {
		const struct wire_joint *joint = &room->joints[i];
		bool seen = !client->part || mirror_find(&client->mirror, joint->a) != NULL ||
			    mirror_find(&client->mirror, joint->b) != NULL;
		if (!seen)
			continue;
		ck_assert_uint_lt(next, shown->count);
		ck_assert_uint_eq(shown->items[next].id, joint->id);
		ck_assert_uint_eq(wire_joint_differs(&shown->items[next++], joint) & shown->columns,
				  0);
	}
	ck_assert_uint_eq(next, shown->count);
}

START_TEST(mirrors_have_the_joints_of_their_bodies)
{
	static struct room room;
	start(&room, check_seed() + (uint64_t)_i);
	enter(&room, 0, WIRE_PROFILE_EXACT, WIRE_JOINT_COLUMNS_ALL, false);
	enter(&room, 1, WIRE_PROFILE_VIEW, WIRE_JOINT_COLUMNS_ALL, true);
	enter(&room, 2, WIRE_PROFILE_PLAIN, WIRE_JOINT_OWNER, true);
	enter(&room, 3, WIRE_PROFILE_SIM, WIRE_JOINT_BODIES | WIRE_JOINT_COORDINATES, false);
	feed(&room, gen_reports_whole(&room.gen, false), true);
	uint32_t looked[CLIENTS] = { 0 };
	for (uint32_t n = 1; n <= 400; n++) {
		if (n % 90 == 0)
			feed(&room, gen_reports_whole(&room.gen, n == 180), true);
		else
			feed(&room, gen_reports_next(&room.gen), true);
		/* A client that skipped has a larger divisor for a while; if its area is at rest,
		 * its frame may wait. */
		for (uint32_t i = 0; i < CLIENTS; i++) {
			if (!is_current(&room, i))
				continue;
			expect_joints(&room, i);
			looked[i]++;
		}
		acknowledge(&room);
		/* One client at a time misses ticks, sometimes more than the ring of removals
		 * holds. */
		room.hall.clients[n / 50 % CLIENTS].queued =
			n % 50 > 5 && n % 50 < 40 ? 1 << 20 : 0;
	}
	for (uint32_t i = 0; i < CLIENTS; i++) {
		ck_assert_uint_gt(looked[i], 100);
		ck_assert_uint_gt(room.hall.clients[i].rows, 80);
		ck_assert_uint_gt(room.hall.clients[i].mirror.joints.count, 10);
	}
	fan_close(&room.hall);
}
END_TEST

/* The work for joints is proportional to the joints of the visible bodies, not to those made and
 * removed elsewhere. */
START_TEST(following_one_body_costs_work_for_its_joints_only)
{
	static struct room room;
	struct fanout_counters before, after;
	struct message ask;
	uint8_t packed[16];
	struct wire_packer follow = wire_packer_over(packed, sizeof packed);
	start(&room, check_seed());
	feed(&room, gen_reports_whole(&room.gen, false), true);
	for (int n = 0; n < 20; n++)
		feed(&room, gen_reports_next(&room.gen), true);
	room.gen.births = room.gen.deaths = 0;
	room.most = JOINTS_MAX;
	room.churn = 10;
	for (int n = 0; n < 30; n++)
		feed(&room, gen_reports_next(&room.gen), true);
	room.churn = 1;
	ck_assert_uint_gt(room.count, 1000);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.profile = WIRE_PROFILE_EXACT;
	ask.subscribe.fields = WIRE_COLUMNS_TICK;
	ask.subscribe.joints = WIRE_JOINT_COLUMNS_ALL;
	wire_pack_uint(&follow, room.gen.bodies[room.gen.count / 2].id);
	ask.subscribe.follow = (struct wire_list){ packed, follow.bytes, 1 };
	room.hall.clients[0].part = true;
	fan_enter(&room.hall, 0, &ask.subscribe, true, WIRE_FRAME_DOWN);
	for (int n = 0; n < 60; n++) {
		fanout_counters(room.hall.fanout, &before);
		feed(&room, gen_reports_next(&room.gen), true);
		fanout_counters(room.hall.fanout, &after);
		acknowledge(&room);
		uint32_t seen = room.hall.clients[0].mirror.joints.count;
		/* Joints collected, packed and hashed, one row of the body, and the joints removed
		 * in the world since. */
		ck_assert_uint_le(after.joints - before.joints, 4 * seen + 2 + room.count / 20);
	}
	ck_assert_uint_gt(room.hall.clients[0].mirror.joints.count, 3);
	ck_assert_uint_lt(room.hall.clients[0].mirror.joints.count, room.count / 10);
	fan_close(&room.hall);
}
END_TEST

START_TEST(with_too_short_a_history_a_delta_carries_all_joints)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.births = room.gen.deaths = 0;
	feed(&room, gen_reports_whole(&room.gen, false), true);
	room.gen.births = 40;
	for (int n = 0; n < 4; n++)
		feed(&room, gen_reports_next(&room.gen), true);
	room.gen.births = 0;
	enter(&room, 0, WIRE_PROFILE_EXACT, WIRE_JOINT_COLUMNS_ALL, false);
	enter(&room, 1, WIRE_PROFILE_EXACT, WIRE_JOINT_COLUMNS_ALL, true);
	feed(&room, gen_reports_next(&room.gen), true);
	acknowledge(&room);
	uint32_t snapshots = room.hall.clients[0].snapshots + room.hall.clients[1].snapshots;
	uint32_t wholes = room.hall.clients[0].wholes + room.hall.clients[1].wholes;
	room.hall.clients[0].queued = room.hall.clients[1].queued = 1 << 20;
	/* More joints are removed than the ring holds, within the ticks for which bodies are
	 * remembered. */
	room.churn = 90;
	room.most = JOINTS_MAX;
	for (int n = 0; n < 50; n++)
		feed(&room, gen_reports_next(&room.gen), true);
	ck_assert_uint_gt(fanout_view(room.hall.fanout)->joints.removal_count,
			  VIEW_JOINT_REMOVALS_MAX);
	room.hall.clients[0].queued = room.hall.clients[1].queued = 0;
	for (int n = 0; n < 70; n++) /* their divisor has grown meanwhile */
		feed(&room, gen_reports_next(&room.gen), true);
	room.churn = 3;
	room.most = 250;
	acknowledge(&room);
	room.hall.clients[0].subscription->divisor = room.hall.clients[1].subscription->divisor = 1;
	for (int n = 0; n < 5; n++) {
		feed(&room, gen_reports_next(&room.gen), true);
		acknowledge(&room);
	}
	expect_joints(&room, 0);
	expect_joints(&room, 1);
	ck_assert_uint_eq(room.hall.clients[0].snapshots + room.hall.clients[1].snapshots,
			  snapshots);
	ck_assert_uint_ge(room.hall.clients[0].wholes + room.hall.clients[1].wholes, wholes + 2);
	fan_close(&room.hall);
}
END_TEST

START_TEST(a_whole_report_of_joints_replaces_all_joints)
{
	static struct room room;
	start(&room, check_seed());
	enter(&room, 0, WIRE_PROFILE_EXACT, WIRE_JOINT_COLUMNS_ALL, false);
	/* The first frame waits for the first report with joints. */
	feed(&room, gen_reports_whole(&room.gen, false), false);
	feed(&room, gen_reports_next(&room.gen), false);
	ck_assert_uint_eq(room.hall.clients[0].snapshots, 0);
	ck_assert(fanout_needs_joints(room.hall.fanout));
	struct report *report = gen_reports_next(&room.gen);
	report->ticked.joints = report->ticked.joints_all = true;
	room.joints[room.count++] =
		(struct wire_joint){ .id = room.next_id = 5, .type = 1, .b = 0 };
	report_joint(&report->ticked, &room.joints[0], REPORT_CREATED);
	room.told = true;
	ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
			 STATUS_OK);
	report_destroy(report);
	outbox_set_flush(&room.hall.set);
	expect_joints(&room, 0);
	acknowledge(&room);
	/* As after a host stopped reporting joints and was requested to report them again. */
	report = gen_reports_next(&room.gen);
	report->ticked.joints = report->ticked.joints_all = true;
	room.joints[0].id = 9;
	report_joint(&report->ticked, &room.joints[0], REPORT_CREATED);
	ck_assert_int_eq(fanout_report(room.hall.fanout, &report->ticked, room.hall.now),
			 STATUS_OK);
	report_destroy(report);
	outbox_set_flush(&room.hall.set);
	expect_joints(&room, 0);
	ck_assert_uint_eq(room.hall.clients[0].snapshots, 1);
	ck_assert_uint_eq(room.hall.clients[0].wholes, 2);
	/* A client without joints in its columns gets none; and once nobody subscribes to joints,
	 * the view drops them. */
	fanout_unsubscribe(room.hall.fanout, room.hall.clients[0].subscription);
	room.hall.clients[0].subscription = NULL;
	ck_assert(!fanout_needs_joints(room.hall.fanout));
	feed(&room, gen_reports_next(&room.gen), false);
	ck_assert(!fanout_view(room.hall.fanout)->joints.valid);
	fan_close(&room.hall);
}
END_TEST

/* The event of a broken joint reaches a client that sees either body. Body a may be 0, the world,
 * through which no client sees the event. */
START_TEST(a_broken_joint_is_an_event_of_either_of_its_bodies)
{
	static struct room room;
	start(&room, check_seed());
	room.gen.deaths = 0;
	for (int n = 0; n < 9; n++)
		feed(&room,
		     n == 0 ? gen_reports_whole(&room.gen, false) : gen_reports_next(&room.gen),
		     true);
	enter(&room, 0, WIRE_PROFILE_EXACT, 0, false);
	enter(&room, 1, WIRE_PROFILE_EXACT, 0, true);
	room.gen.changes = 0;
	feed(&room, gen_reports_next(&room.gen), true);
	acknowledge(&room);
	uint32_t near = 0, far = 0;
	for (uint32_t i = 0; i < room.gen.count; i++) {
		uint32_t id = room.gen.bodies[i].id;
		*(mirror_find(&room.hall.clients[1].mirror, id) != NULL ? &near : &far) = id;
	}
	ck_assert(near != 0 && far != 0);
	const struct event events[] = {
		{ .kind = EVENT_JOINT_BREAK, .a = 0, .b = far, .child_a = 1 },
		{ .kind = EVENT_JOINT_BREAK, .a = 0, .b = near, .child_a = 2 },
		{ .kind = EVENT_JOINT_BREAK, .a = far, .b = near, .child_a = 3 },
		{ .kind = EVENT_JOINT_BREAK, .a = near, .b = 0, .child_a = 4 },
		{ .kind = EVENT_JOINT_BREAK, .a = far, .b = 0, .child_a = 5 },
	};
	struct report *report = gen_reports_next(&room.gen);
	ck_assert_int_eq(array_reserve(&report->ticked.events, &report->ticked.event_room,
				       COUNT_OF(events), sizeof events[0]),
			 STATUS_OK);
	memcpy(report->ticked.events, events, sizeof events);
	report->ticked.event_count = COUNT_OF(events);
	feed(&room, report, true);
	for (int n = 0; n < 20; n++) { /* a frame without changes may wait */
		acknowledge(&room);
		feed(&room, gen_reports_next(&room.gen), true);
	}
	ck_assert_uint_eq(room.hall.clients[0].events, 5);
	ck_assert_uint_eq(room.hall.clients[1].events, 3);
	fan_close(&room.hall);
}
END_TEST

START_TEST(an_inconsistent_report_of_joints_invalidates_the_view)
{
	static const struct {
		uint32_t told, removed;
		uint8_t why;
		uint32_t a;
	} wrong[] = {
		{ 4, 0, REPORT_CREATED, 0 }, /* its id is not above the last one */
		{ 5, 0, REPORT_CREATED, 0 },
		{ 6, 0, REPORT_MOVED, 0 }, /* no such joint */
		{ 0, 6, 0, 0 },
		{ 5, 0, REPORT_MOVED, 3 }, /* with another body a than before */
		{ 0, 4, 0, 0 },
	};
	for (uint32_t i = 0; i < COUNT_OF(wrong); i++) {
		struct view_joints joints = { 0 };
		struct report *first = gen_reports_control(&(struct gen_reports){ .epoch = 1 });
		struct wire_joint joint = { .id = 5 };
		first->ticked.joints = first->ticked.joints_all = true;
		report_joint(&first->ticked, &joint, REPORT_CREATED);
		ck_assert_int_eq(view_joints_apply(&joints, &first->ticked, 1), STATUS_OK);
		struct report *second = gen_reports_control(&(struct gen_reports){ .epoch = 1 });
		uint32_t removed[1] = { wrong[i].removed };
		second->ticked.joints = true;
		if (wrong[i].told != 0) {
			joint.id = wrong[i].told;
			joint.a = wrong[i].a;
			report_joint(&second->ticked, &joint, wrong[i].why);
		} else {
			second->ticked.joints_removed = removed;
			second->ticked.joint_removed_count = 1;
		}
		ck_assert_int_eq(view_joints_apply(&joints, &second->ticked, 2), STATUS_CORRUPT);
		if (wrong[i].told == 0)
			second->ticked.joints_removed = NULL;
		view_joints_release(&joints);
		report_destroy(first);
		report_destroy(second);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sync/fanout_joints");
	TCase *joints = tcase_create("joints");
	tcase_set_timeout(joints, 30);
	tcase_add_loop_test(joints, mirrors_have_the_joints_of_their_bodies, 0, 6);
	tcase_add_test(joints, following_one_body_costs_work_for_its_joints_only);
	tcase_add_test(joints, with_too_short_a_history_a_delta_carries_all_joints);
	tcase_add_test(joints, a_whole_report_of_joints_replaces_all_joints);
	tcase_add_test(joints, a_broken_joint_is_an_event_of_either_of_its_bodies);
	tcase_add_test(joints, an_inconsistent_report_of_joints_invalidates_the_view);
	suite_add_tcase(suite, joints);
	return suite;
}

int main(void)
{
	return check_main(make);
}
