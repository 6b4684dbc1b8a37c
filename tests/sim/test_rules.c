/* Rules of batches, memberships and leases: the answers to dated and pending batches, the count of
 * joined worlds, and the end of a lost session's lease. */
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

struct room {
	struct server_sim *sim;
	struct sim_client *client;
	uint32_t world;
};

static struct room open_room(uint64_t seed)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	struct room room = { .sim = server_sim_create(&options) };
	room.client = server_sim_guest(room.sim, &who);
	room.world = sim_make_world(room.client, "w", NULL);
	return room;
}

static void close_room(struct room *room)
{
	ck_assert(server_sim_sound(room->sim));
	ck_assert(server_sim_drain(room->sim, 60 * NS_PER_S));
	server_sim_destroy(room->sim);
}

/* Sends a batch of one SPAWN that is dated for tick `at`. */
static void send_dated(struct room *room, uint64_t batch, uint64_t at, enum wire_late late)
{
	uint8_t bytes[256];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct command spawn = sim_spawn((double)batch, 1, 0, (int64_t)batch, false);
	struct message message;
	command_pack(&out, &spawn);
	message_init(&message, MESSAGE_COMMANDS);
	message.commands.world = room->world;
	message.commands.batch = batch;
	message.commands.at = (struct wire_option){ true, at };
	message.commands.late = late;
	message.commands.list = (struct wire_list){ bytes, out.bytes, 1 };
	sim_send(room->client, &message);
}

START_TEST(tick_zero_is_a_date_like_any_other)
{
	struct room room = open_room(check_seed());
	send_dated(&room, 1, 0, WIRE_LATE_REFUSE);
	struct sim_result *result = sim_await_result(room.client, room.world, 1);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_eq(result->tick, 0);
	sim_step(room.client, room.world, 1, 0, NULL, 0);
	send_dated(&room, 2, 0, WIRE_LATE_REFUSE);
	ck_assert_int_eq(sim_await_result(room.client, room.world, 2)->code, STATUS_LATE);
	send_dated(&room, 3, 0, WIRE_LATE_APPLY);
	ck_assert_int_eq(sim_await_result(room.client, room.world, 3)->code, STATUS_OK);
	close_room(&room);
}
END_TEST

START_TEST(a_dated_batch_is_acknowledged_and_answered_when_applied)
{
	struct room room = open_room(check_seed());
	send_dated(&room, 1, 5, WIRE_LATE_REFUSE);
	struct sim_result *result = sim_await_result(room.client, room.world, 1);
	ck_assert_int_eq(result->code, STATUS_WAITING);
	ck_assert_uint_eq(result->tick, 5);
	ck_assert_uint_eq(result->value_count, 0);
	/* A pending batch is part of the state, so the edit number rises. */
	ck_assert_uint_eq(world_info(server_sim_world(room.sim, room.world)).edit, 1);
	sim_step(room.client, room.world, 5, 0, NULL, 0);
	server_sim_run(room.sim, 100 * NS_PER_MS);
	ck_assert_int_eq(sim_result(room.client, room.world, 1)->code, STATUS_WAITING);
	/* The batch is applied with the first edit at boundary 5, or by the step from it. */
	sim_step(room.client, room.world, 1, 0, NULL, 0);
	server_sim_run(room.sim, 100 * NS_PER_MS);
	result = sim_result(room.client, room.world, 1);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_eq(result->tick, 5);
	ck_assert_uint_eq(result->value_count, 1);
	ck_assert_uint_eq(result->arrivals, 2);
	close_room(&room);
}
END_TEST

START_TEST(a_left_world_does_not_count_as_joined)
{
	struct room room = open_room(check_seed());
	struct message message;
	for (uint32_t i = 1; i < SESSION_WORLDS_MAX; i++) {
		char name[16];
		snprintf(name, sizeof name, "w%u", i);
		(void)sim_make_world(room.client, name, NULL);
	}
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *other = server_sim_guest(room.sim, &who);
	uint32_t last = sim_make_world(other, "last", NULL);
	message_init(&message, MESSAGE_WORLD_JOIN);
	message.world_join.ref = sim_ref(room.client);
	message.world_join.world = last;
	ck_assert_int_eq(sim_try(room.client, &message, MESSAGE_WORLD_INFO), STATUS_LIMIT);
	for (int round = 0; round < 3; round++) {
		message_init(&message, MESSAGE_WORLD_LEAVE);
		message.world_leave.ref = sim_ref(room.client);
		message.world_leave.world = round % 2 == 0 ? room.world : last;
		ck_assert_int_eq(sim_try(room.client, &message, MESSAGE_REPLY), STATUS_OK);
		sim_join(room.client, round % 2 == 0 ? last : room.world);
	}
	close_room(&room);
}
END_TEST

START_TEST(a_lost_sessions_lease_is_free_when_its_kick_is_answered)
{
	struct room room = open_room(check_seed() + (uint64_t)_i);
	struct sim_client_options who = sim_client_options_default();
	struct message kick;
	who.resumes = true;
	struct sim_client *holder = server_sim_guest(room.sim, &who);
	who = sim_client_options_default();
	who.address = SIM_UNIX;
	struct sim_client *admin = server_sim_guest(room.sim, &who);
	sim_join(holder, room.world);
	ck_assert_int_eq(sim_control(holder, room.world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	uint32_t session = holder->session;
	sim_disconnect(holder);
	server_sim_run(room.sim, NS_PER_S);
	ck_assert_int_eq(sim_control(room.client, room.world, WIRE_CONTROL_RESUME, 1),
			 STATUS_LEASED);
	message_init(&kick, MESSAGE_KICK);
	kick.kick.ref = sim_ref(admin);
	kick.kick.session = session;
	ck_assert_int_eq(sim_try(admin, &kick, MESSAGE_REPLY), STATUS_OK);
	ck_assert_int_eq(sim_control(room.client, room.world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	close_room(&room);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/rules");
	TCase *rules = tcase_create("rules");
	tcase_set_timeout(rules, 30);
	tcase_add_test(rules, tick_zero_is_a_date_like_any_other);
	tcase_add_test(rules, a_dated_batch_is_acknowledged_and_answered_when_applied);
	tcase_add_test(rules, a_left_world_does_not_count_as_joined);
	tcase_add_loop_test(rules, a_lost_sessions_lease_is_free_when_its_kick_is_answered, 0, 4);
	suite_add_tcase(suite, rules);
	return suite;
}

int main(void)
{
	return check_main(make);
}
