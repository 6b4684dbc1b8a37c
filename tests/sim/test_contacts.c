/* The contacts column. Mirrors hold the world's contacts: server_sim compares every frame with
 * world_contacts, bit for bit. The impulses of the ground balance the weight, and contacts at rest
 * cost nothing. */
#include <math.h>
#include <stdio.h>

#include "server/host/host_state.h"
#include "server/server.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { GROUND = 1, BOXES = 12, WATCHERS = 4 };
enum { WITH_CONTACTS = WIRE_COLUMNS_TICK | WIRE_COLUMN_CONTACTS };

struct yard {
	struct server_sim *sim;
	struct sim_client *keeper;
	uint32_t world;
};

static struct command box_at(double x, double y, double z)
{
	static const struct attachment item = { .shape = 2, .rotation = { 1, 0, 0, 0 } };
	struct command command = sim_spawn(x, y, z, 0, false);
	command.spawn.shapes = (struct attachment_list){ &item, 1 };
	return command;
}

/* A paused world of a ground (body 1) and `columns` stacks of `height` boxes of 1 m each. */
static struct yard open_yard(uint32_t columns, uint32_t height)
{
	static const struct attachment plane = { .shape = 1, .rotation = { 1, 0, 0, 0 } };
	struct server_sim_options options = server_sim_options_default(check_seed());
	struct sim_client_options who = sim_client_options_default();
	struct command commands[3 + BOXES];
	uint32_t count = 0;
	struct yard yard = { .sim = server_sim_create(&options) };
	yard.keeper = server_sim_guest(yard.sim, &who);
	yard.world = sim_make_world(yard.keeper, "yard", NULL);
	sim_upload(yard.keeper, yard.world, TEST_PLANE);
	sim_upload(yard.keeper, yard.world, TEST_BOX);
	command_defaults(&commands[count], COMMAND_SHAPE_USE);
	commands[count++].shape_use.name = test_shape_name(TEST_PLANE);
	command_defaults(&commands[count], COMMAND_SHAPE_USE);
	commands[count++].shape_use.name = test_shape_name(TEST_BOX);
	commands[count] = sim_spawn(0, 0, 0, 0, false);
	commands[count].spawn.status = BODY_STATIC;
	commands[count++].spawn.shapes = (struct attachment_list){ &plane, 1 };
	for (uint32_t i = 0; i < columns * height; i++)
		commands[count++] =
			box_at((double)(i / height) * 1.5, 0.5 + (double)(i % height), 0);
	ck_assert_int_eq(sim_step(yard.keeper, yard.world, 1, 0, commands, count)->type,
			 MESSAGE_STEPPED);
	return yard;
}

static void close_yard(struct yard *yard)
{
	ck_assert(server_sim_sound(yard->sim));
	ck_assert(server_sim_drain(yard->sim, 60 * NS_PER_S));
	server_sim_destroy(yard->sim);
}

static void step(struct yard *yard, uint32_t ticks)
{
	ck_assert_int_eq(sim_step(yard->keeper, yard->world, ticks, 0, NULL, 0)->type,
			 MESSAGE_STEPPED);
}

static struct served_world *served(const struct yard *yard)
{
	return worlds_find(&yard->sim->server->worlds, yard->world);
}

/* The upward impulse of the ground in the last tick, in N s, according to a mirror. */
static double lift_of(const struct mirror *mirror)
{
	double lift = 0;
	for (uint32_t i = 0; i < mirror->count; i++) {
		const struct wire_body *body = &mirror->bodies[i];
		struct wire_touches touches;
		struct wire_touch touch;
		wire_touches_open(&touches, mirror->profile,
				  (struct wire_slice){ body->contacts, body->contact_bytes });
		while (wire_touches_next(&touches, &touch))
			if (touch.other == GROUND)
				lift += touch.impulse * touch.normal[1] + touch.friction[1];
	}
	return lift;
}

START_TEST(the_impulses_of_the_ground_balance_the_weight_in_every_profile)
{
	static const double parts[] = { 0, 0, 0x1p-8, 0x1p-24 };
	static const double turns[] = { 0, 0, 0.0069, 0.000027 };
	struct yard yard = open_yard(2, 3);
	for (uint32_t i = 0; i < WATCHERS; i++)
		sim_subscribe(yard.keeper, 1 + i, yard.world, WITH_CONTACTS, (enum wire_profile)i,
			      1, 0);
	step(&yard, 120);
	double weight = 6 * 1000 * 9.81 / 60;
	for (uint32_t i = 0; i < WATCHERS; i++) {
		ck_assert(sim_caught_up(yard.keeper, 1 + i, NS_PER_S));
		/* 10^-4: the relative rest of motion after 2 s; `parts` and `turns`: rounding of the
		 * profile's impulses and normals. */
		double bound = weight * (1e-4 + parts[i] + turns[i] * turns[i]);
		double lift = lift_of(&sim_subscription(yard.keeper, 1 + i)->mirror);
		ck_assert_msg(fabs(lift - weight) <= bound, "profile %u: %.9g, not %.9g", i, lift,
			      weight);
	}
	close_yard(&yard);
}
END_TEST

static uint64_t rows_sent(const struct yard *yard)
{
	struct fanout_counters counters;
	fanout_counters(served(yard)->fanout, &counters);
	return counters.rows;
}

START_TEST(sleeping_bodies_cost_nothing_until_they_wake)
{
	struct yard yard = open_yard(2, 2);
	sim_subscribe(yard.keeper, 1, yard.world, WITH_CONTACTS, WIRE_PROFILE_EXACT, 1, 0);
	sim_subscribe(yard.keeper, 2, yard.world, WITH_CONTACTS, WIRE_PROFILE_VIEW, 1, 0);
	step(&yard, 300);
	ck_assert(sim_caught_up(yard.keeper, 1, NS_PER_S));
	ck_assert(sim_caught_up(yard.keeper, 2, NS_PER_S));
	ck_assert_uint_eq(world_stats(server_sim_world(yard.sim, yard.world)).awake, 0);
	uint64_t before = rows_sent(&yard);
	step(&yard, 50);
	ck_assert(sim_caught_up(yard.keeper, 1, NS_PER_S));
	ck_assert_uint_eq(rows_sent(&yard), before);
	/* The upper box of a stack is removed: its contacts end, and the lower box's are sent again. */
	struct command commands[1];
	command_defaults(&commands[0], COMMAND_REMOVE);
	commands[0].remove.body = 3;
	sim_step(yard.keeper, yard.world, 10, 0, commands, 1);
	ck_assert(sim_caught_up(yard.keeper, 1, NS_PER_S));
	ck_assert(sim_caught_up(yard.keeper, 2, NS_PER_S));
	ck_assert_uint_gt(rows_sent(&yard), before);
	close_yard(&yard);
}
END_TEST

START_TEST(the_host_reports_contacts_only_while_a_subscription_needs_them)
{
	struct yard yard = open_yard(1, 2);
	sim_subscribe(yard.keeper, 1, yard.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	step(&yard, 3);
	ck_assert(sim_caught_up(yard.keeper, 1, NS_PER_S));
	ck_assert(!served(&yard)->host->contacts_watched &&
		  !fanout_view(served(&yard)->fanout)->contacts);
	for (uint64_t sub = 2; sub < 5; sub++) {
		/* Also in a paused world. */
		struct message end;
		sim_subscribe(yard.keeper, sub, yard.world, WITH_CONTACTS, WIRE_PROFILE_VIEW, 1, 0);
		ck_assert(sim_caught_up(yard.keeper, sub, NS_PER_S));
		ck_assert(served(&yard)->host->contacts_watched);
		ck_assert(lift_of(&sim_subscription(yard.keeper, sub)->mirror) > 0);
		step(&yard, 3);
		message_init(&end, MESSAGE_UNSUBSCRIBE);
		end.unsubscribe.sub = sub;
		ck_assert_int_eq(sim_try(yard.keeper, &end, MESSAGE_REPLY), STATUS_OK);
		step(&yard, 3);
		ck_assert(!served(&yard)->host->contacts_watched);
		const struct view *view = fanout_view(served(&yard)->fanout);
		for (uint32_t i = 0; i < view->row_count; i++)
			ck_assert_ptr_null(view->rows[i].body.contacts);
	}
	close_yard(&yard);
}
END_TEST

START_TEST(contacts_need_large_frames_and_are_refused_by_name_otherwise)
{
	struct yard yard = open_yard(1, 1);
	struct sim_client_options who = sim_client_options_default();
	who.frame_down = WIRE_FRAME_CONTACTS - 1;
	struct sim_client *client = server_sim_guest(yard.sim, &who);
	struct message ask;
	sim_join(client, yard.world);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.world = yard.world;
	ask.subscribe.fields = WITH_CONTACTS;
	ask.subscribe.divisor = 1;
	ck_assert_int_eq(sim_try(client, &ask, MESSAGE_SNAPSHOT), STATUS_TOO_LARGE);
	close_yard(&yard);
}
END_TEST

/* Boxes fall, pile up, sleep, wake and are removed. Watchers of each profile subscribe to the whole
 * world or a part, at every tick or fewer, and acknowledge late. */
START_TEST(mirrors_hold_the_contacts_of_the_world_through_falls_sleep_and_removal)
{
	struct yard yard = open_yard(3, 4);
	const struct wire_area area = { .kind = WIRE_AREA_BALL, .numbers = { 1.5, 2, 0, 2 } };
	uint64_t held = 0;
	for (uint32_t i = 0; i < WATCHERS; i++) {
		struct sim_client_options who = sim_client_options_default();
		who.ack_delay_max = (20 + 60 * i) * NS_PER_MS;
		struct sim_client *client = server_sim_guest(yard.sim, &who);
		sim_join(client, yard.world);
		sim_subscribe(client, 1, yard.world, WITH_CONTACTS, (enum wire_profile)i, 1 + i % 3,
			      0);
		sim_subscribe_part(client, 2, yard.world, WITH_CONTACTS, (enum wire_profile)i, 0,
				   i % 2 * 3000, &area, 1, NULL, 0);
	}
	ck_assert_int_eq(sim_control(yard.keeper, yard.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	for (uint32_t round = 0; round < 6; round++) {
		struct command commands[3];
		commands[0] = box_at(0.3 * round, 7, 0.2);
		command_defaults(&commands[1], COMMAND_REMOVE);
		commands[1].remove.body = 2 + round * 2;
		command_defaults(&commands[2], COMMAND_IMPULSE);
		commands[2].impulse.body = 13 - round;
		commands[2].impulse.impulse = (vec3){ 2000, 500, 0 };
		sim_commands(yard.keeper, yard.world, commands, 3, 0, WIRE_LATE_APPLY);
		server_sim_run(yard.sim, 2 * NS_PER_S);
		for (uint32_t i = 0; i < yard.sim->client_count; i++) {
			struct sim_subscription *sub = sim_subscription(yard.sim->clients[i], 1);
			for (uint32_t k = 0; sub != NULL && k < sub->mirror.count; k++)
				held += sub->mirror.bodies[k].contact_bytes > 0;
		}
	}
	ck_assert_uint_gt(held, 6 * WATCHERS * 4);
	ck_assert_uint_gt(yard.sim->compared, 1000);
	close_yard(&yard);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/contacts");
	TCase *column = tcase_create("column");
	tcase_add_test(column, the_impulses_of_the_ground_balance_the_weight_in_every_profile);
	tcase_add_test(column, sleeping_bodies_cost_nothing_until_they_wake);
	tcase_add_test(column, the_host_reports_contacts_only_while_a_subscription_needs_them);
	tcase_add_test(column, contacts_need_large_frames_and_are_refused_by_name_otherwise);
	tcase_add_test(column,
		       mirrors_hold_the_contacts_of_the_world_through_falls_sleep_and_removal);
	suite_add_tcase(suite, column);
	return suite;
}

int main(void)
{
	return check_main(make);
}
