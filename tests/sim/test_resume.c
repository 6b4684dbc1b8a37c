/* Sessions that lose their connection and resume with their batch numbers, stored answers, bodies and
 * mirrors. */
#include <string.h>

#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

struct house {
	struct server_sim *sim;
	struct sim_client *keeper, *guest;
	uint32_t world;
};

static struct sim_client_options resuming(void)
{
	struct sim_client_options options = sim_client_options_default();
	options.resumes = true;
	return options;
}

static void open_house(struct house *house, uint64_t seed, const char *const *arguments)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	for (int i = 0; arguments != NULL && arguments[i] != NULL; i++)
		options.arguments[i] = arguments[i];
	house->sim = server_sim_create(&options);
	who.address = SIM_UNIX;
	house->keeper = server_sim_guest(house->sim, &who);
	house->world = sim_make_world(house->keeper, "house", NULL);
	who = resuming();
	house->guest = server_sim_guest(house->sim, &who);
	sim_join(house->guest, house->world);
	ck_assert_uint_eq(house->guest->token_bytes, 16);
}

static void run_world(struct house *house)
{
	ck_assert_int_eq(sim_control(house->keeper, house->world, WIRE_CONTROL_RESUME, 1),
			 STATUS_OK);
}

static void close_house(struct house *house)
{
	ck_assert(server_sim_sound(house->sim));
	ck_assert(server_sim_drain(house->sim, 60 * NS_PER_S));
	server_sim_destroy(house->sim);
}

static struct sim_subscription *watch(struct house *house)
{
	return sim_subscribe(house->guest, 1, house->world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1,
			     0x1fe);
}

static void spawn(struct house *house, uint32_t count)
{
	struct command commands[50];
	for (uint32_t i = 0; i < count; i++) {
		commands[i] = sim_spawn(i, 100, 0, 0, false);
		commands[i].spawn.velocity = (vec3){ 1, 30, 0 };
	}
	ck_assert_int_eq(sim_step(house->keeper, house->world, 1, 0, commands, count)->type,
			 MESSAGE_STEPPED);
}

static uint32_t sessions(const struct house *house)
{
	return house->sim->server->service.sessions.items.count;
}

START_TEST(a_resumed_session_continues_with_a_delta_and_its_numbers)
{
	struct house house;
	open_house(&house, check_seed() + (uint64_t)_i, NULL);
	spawn(&house, 20);
	struct sim_subscription *sub = watch(&house);
	run_world(&house);
	server_sim_run(house.sim, NS_PER_S);
	uint32_t session = house.guest->session;
	struct command body = sim_spawn(0, 5, 0, 77, false);
	body.spawn.owner = session;
	uint64_t first = sim_commands(house.guest, house.world, &body, 1, 0, WIRE_LATE_APPLY);
	struct sim_result *result = sim_await_result(house.guest, house.world, first);
	ck_assert_int_eq(result->code, STATUS_OK);
	uint32_t id = result->values[0];
	/* The connection ends before the batch arrives (even loops) or before its answer (odd). */
	uint64_t second = sim_commands(house.guest, house.world, &body, 1, 0, WIRE_LATE_APPLY);
	if (_i % 2)
		server_sim_run(house.sim, 20 * NS_PER_MS);
	sim_disconnect(house.guest);
	server_sim_run(house.sim, (uint64_t)_i * 200 * NS_PER_MS);
	ck_assert(sim_resumed(house.guest));
	ck_assert_uint_eq(house.guest->session, session);
	/* The client repeats the batch, and the batch is applied once. */
	sim_commands_as(house.guest, house.world, second, &body, 1, 0, WIRE_LATE_APPLY);
	result = sim_await_result(house.guest, house.world, second);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	uint64_t third = sim_commands(house.guest, house.world, &body, 1, 0, WIRE_LATE_APPLY);
	ck_assert_int_eq(sim_await_result(house.guest, house.world, third)->code, STATUS_OK);
	struct body_view view;
	ck_assert_int_eq(world_body(server_sim_world(house.sim, house.world), id, &view),
			 STATUS_OK);
	ck_assert_uint_eq(view.owner, session);
	ck_assert_uint_eq(world_bodies(server_sim_world(house.sim, house.world), NULL, 0), 23);
	/* The history covers the gap, so no second SNAPSHOT was sent. */
	ck_assert_uint_eq(sub->snapshots, 1);
	ck_assert_int_eq(sim_control(house.keeper, house.world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	ck_assert(sim_caught_up(house.guest, 1, 5 * NS_PER_S));
	ck_assert_uint_eq(sessions(&house), 2);
	close_house(&house);
}
END_TEST

START_TEST(a_resume_replaces_a_connection_that_is_still_open)
{
	struct house house;
	open_house(&house, check_seed() + (uint64_t)_i, NULL);
	spawn(&house, 10);
	struct sim_subscription *sub = watch(&house);
	run_world(&house);
	server_sim_run(house.sim, NS_PER_S);
	/* The server does not notice that this connection is gone. */
	sim_vanish(house.guest);
	server_sim_run(house.sim, (uint64_t)_i * 700 * NS_PER_MS);
	uint64_t frames = sub->frames;
	ck_assert(sim_resumed(house.guest));
	server_sim_run(house.sim, NS_PER_S);
	ck_assert_uint_ge(sub->frames, frames + 30);
	ck_assert_uint_eq(sessions(&house), 2);
	ck_assert_uint_eq(house.sim->server->service.sessions.lost, 0);
	close_house(&house);
}
END_TEST

/* The world is paused and the FOCUS moves, so several frames have the same tick, SNAPSHOTs included.
 * Connections end with such frames in flight; the tick of a RESUME then does not say which frame the
 * client has. */
START_TEST(frames_of_the_same_tick_are_not_confused_at_a_resume)
{
	struct house house;
	open_house(&house, check_seed() + (uint64_t)_i, NULL);
	spawn(&house, 20);
	struct wire_area areas[2] = { { .kind = WIRE_AREA_BALL, .numbers = { 2, 100, 0, 3 } },
				      { .kind = WIRE_AREA_BALL, .numbers = { 15, 100, 0, 3 } } };
	struct sim_subscription *sub =
		sim_subscribe_part(house.guest, 1, house.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_SIM,
				   0, 0, &areas[0], 1, NULL, 0);
	server_sim_run(house.sim, 300 * NS_PER_MS);
	for (int n = 0; n < 12; n++) {
		if (n % 3 == 0)
			sim_focus(house.guest, sub, &areas[1 - n / 3 % 2], 1, NULL, 0);
		server_sim_run(house.sim, (uint64_t)rng_below(&house.sim->rng, 4) * NS_PER_MS);
		sim_vanish(house.guest);
		ck_assert(sim_resumed(house.guest));
	}
	/* The mirror is right, whichever frames were lost. */
	struct command body = sim_spawn(2, 101, 0, 5, false);
	ck_assert_int_eq(sim_step(house.keeper, house.world, 3, 0, &body, 1)->type,
			 MESSAGE_STEPPED);
	ck_assert(sim_caught_up(house.guest, 1, NS_PER_S));
	close_house(&house);
}
END_TEST

START_TEST(a_resume_token_is_valid_once_and_its_predecessor_until_the_client_sends)
{
	struct house house;
	open_house(&house, check_seed(), NULL);
	uint8_t first[16], second[16];
	memcpy(first, house.guest->token, 16);
	sim_disconnect(house.guest);
	ck_assert(sim_resumed(house.guest));
	memcpy(second, house.guest->token, 16);
	ck_assert_int_ne(memcmp(first, second, 16), 0);
	/* The client has sent nothing since, so the WELCOME may be lost: the first token is valid. */
	memcpy(house.guest->token, first, 16);
	ck_assert(sim_resumed(house.guest));
	/* After the client's first message both older tokens are void. */
	ck_assert_int_eq(sim_control(house.guest, house.world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	sim_disconnect(house.guest);
	server_sim_run(house.sim, 50 * NS_PER_MS);
	uint8_t last[16];
	memcpy(last, house.guest->token, 16);
	memcpy(house.guest->token, first, 16);
	ck_assert(!sim_resumed(house.guest));
	ck_assert(house.guest->refused);
	memcpy(house.guest->token, second, 16);
	ck_assert(!sim_resumed(house.guest));
	memcpy(house.guest->token, last, 16);
	ck_assert(sim_resumed(house.guest));
	close_house(&house);
}
END_TEST

START_TEST(after_half_a_minute_or_a_goodbye_the_session_is_gone)
{
	struct house house;
	open_house(&house, check_seed(), NULL);
	watch(&house);
	sim_disconnect(house.guest);
	server_sim_run(house.sim, 29 * NS_PER_S);
	ck_assert_uint_eq(sessions(&house), 2);
	ck_assert(sim_resumed(house.guest));
	sim_disconnect(house.guest);
	server_sim_run(house.sim, 31 * NS_PER_S);
	ck_assert_uint_eq(sessions(&house), 1);
	ck_assert(!sim_resumed(house.guest) && house.guest->refused);
	/* A second client sends GOODBYE. */
	struct sim_client_options options = resuming();
	struct sim_client *other = server_sim_guest(house.sim, &options);
	struct message goodbye;
	message_init(&goodbye, MESSAGE_GOODBYE);
	sim_send(other, &goodbye);
	server_sim_run(house.sim, 5 * NS_PER_S);
	ck_assert(other->closed);
	ck_assert_uint_eq(house.sim->server->service.sessions.lost, 0);
	ck_assert(!sim_resumed(other));
	close_house(&house);
}
END_TEST

START_TEST(a_late_resume_or_one_after_a_restore_begins_with_a_snapshot)
{
	struct house house;
	open_house(&house, check_seed(), NULL);
	spawn(&house, 30);
	struct sim_subscription *sub = watch(&house);
	run_world(&house);
	server_sim_run(house.sim, NS_PER_S);
	struct message message;
	message_init(&message, MESSAGE_SAVE);
	message.save.ref = sim_ref(house.keeper);
	message.save.world = house.world;
	message.save.name = wire_text("s");
	ck_assert_int_eq(sim_try(house.keeper, &message, MESSAGE_SAVED), STATUS_OK);
	sim_disconnect(house.guest);
	server_sim_run(house.sim, NS_PER_S);
	message_init(&message, MESSAGE_RESTORE);
	message.restore.ref = sim_ref(house.keeper);
	message.restore.world = house.world;
	message.restore.name = wire_text("s");
	ck_assert_int_eq(sim_try(house.keeper, &message, MESSAGE_RESTORED), STATUS_OK);
	ck_assert(sim_resumed(house.guest));
	server_sim_run(house.sim, NS_PER_S);
	ck_assert_uint_eq(sub->snapshots, 2);
	/* After a resume the client is notified that its world has ended. */
	sim_disconnect(house.guest);
	server_sim_run(house.sim, NS_PER_S);
	message_init(&message, MESSAGE_WORLD_DESTROY);
	message.world_destroy.ref = sim_ref(house.keeper);
	message.world_destroy.world = house.world;
	ck_assert_int_eq(sim_try(house.keeper, &message, MESSAGE_REPLY), STATUS_OK);
	ck_assert(sim_resumed(house.guest));
	server_sim_run(house.sim, NS_PER_S);
	ck_assert_uint_eq(house.guest->subscription_count, 0);
	close_house(&house);
}
END_TEST

START_TEST(no_event_is_lost_without_a_notice)
{
	struct house house;
	open_house(&house, check_seed() + (uint64_t)_i, NULL);
	struct sim_subscription *sub = watch(&house);
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *steady = server_sim_guest(house.sim, &who);
	sim_join(steady, house.world);
	struct sim_subscription *all =
		sim_subscribe(steady, 1, house.world, 31, WIRE_PROFILE_EXACT, 1, 0x1fe);
	sim_upload(house.keeper, house.world, TEST_SPHERE);
	sim_upload(house.keeper, house.world, TEST_PLANE);
	struct command commands[40];
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (uint32_t i = 1; i < 40; i++) {
		commands[i] = sim_spawn(i % 6, 2 + i / 6, 0, 0, true);
		commands[i].spawn.velocity = (vec3){ i % 3, 0, i % 5 };
	}
	ck_assert_int_eq(sim_step(house.keeper, house.world, 1, 0, commands, 40)->type,
			 MESSAGE_STEPPED);
	run_world(&house);
	for (int n = 0; n < 8; n++) {
		server_sim_run(house.sim, 300 * NS_PER_MS);
		if (n % 2)
			sim_vanish(house.guest);
		else
			sim_disconnect(house.guest);
		server_sim_run(house.sim, (uint64_t)n * 150 * NS_PER_MS);
		ck_assert(sim_resumed(house.guest));
	}
	ck_assert_int_eq(sim_control(house.keeper, house.world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	server_sim_run(house.sim, 2 * NS_PER_S);
	ck_assert(sim_caught_up(house.guest, 1, NS_PER_S));
	ck_assert_uint_gt(all->events, 50);
	ck_assert_uint_eq(all->events_lost, 0);
	ck_assert_uint_eq(sub->events + sub->events_lost, all->events);
	close_house(&house);
}
END_TEST

START_TEST(a_session_ended_as_slow_may_be_resumed)
{
	struct house house;
	open_house(&house, check_seed(), NULL);
	for (int i = 0; i < 20; i++)
		spawn(&house, 50);
	sim_stall(house.guest, true);
	for (int i = 0; i < 300 && !house.guest->closed; i++) {
		struct message step;
		message_init(&step, MESSAGE_STEP);
		step.step.world = house.world;
		step.step.request = (uint64_t)i + 1;
		step.step.want = WIRE_WANT_EXACT;
		sim_send(house.guest, &step);
		server_sim_run(house.sim, 20 * NS_PER_MS);
	}
	server_sim_run(house.sim, 3 * NS_PER_S);
	ck_assert_uint_eq(house.sim->server->service.sessions.lost, 1);
	uint32_t session = house.guest->session;
	ck_assert(sim_resumed(house.guest));
	ck_assert_uint_eq(house.guest->session, session);
	close_house(&house);
}
END_TEST

START_TEST(lost_sessions_end_when_new_connections_need_their_places)
{
	static const char *const arguments[] = { "--sessions-max", "12", NULL };
	struct house house;
	open_house(&house, check_seed(), arguments);
	struct sim_client_options options = resuming();
	struct sim_client *first = server_sim_guest(house.sim, &options);
	sim_disconnect(first);
	for (int i = 0; i < 30; i++) {
		struct sim_client *next = server_sim_guest(house.sim, &options);
		sim_disconnect(next);
		server_sim_run(house.sim, 100 * NS_PER_MS);
		ck_assert_uint_le(sessions(&house), 12);
	}
	ck_assert(!sim_resumed(first));
	ck_assert(!house.guest->closed && !house.keeper->closed);
	close_house(&house);
}
END_TEST

START_TEST(a_repeated_step_is_answered_again_but_not_applied_twice)
{
	struct house house;
	open_house(&house, check_seed() + (uint64_t)_i, NULL);
	struct message step;
	uint64_t tick = world_info(server_sim_world(house.sim, house.world)).tick;
	message_init(&step, MESSAGE_STEP);
	step.step.world = house.world;
	step.step.request = 1;
	step.step.n = 5;
	sim_send(house.guest, &step);
	server_sim_run(house.sim, (uint64_t)_i * NS_PER_MS / 2);
	sim_vanish(house.guest);
	server_sim_run(house.sim, 100 * NS_PER_MS);
	ck_assert(sim_resumed(house.guest));
	const struct message *answer = sim_ask(house.guest, &step, MESSAGE_STEPPED);
	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(answer->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(answer->stepped.tick, tick + 5);
	ck_assert_uint_eq(world_info(server_sim_world(house.sim, house.world)).tick, tick + 5);
	close_house(&house);
}
END_TEST

static bool redirected(const struct sim_client *client, const char *address)
{
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		if (message->type == MESSAGE_GOODBYE)
			return message->goodbye.redirect.bytes == strlen(address) &&
			       memcmp(message->goodbye.redirect.at, address, strlen(address)) == 0;
	}
	return false;
}

START_TEST(a_drain_ends_lost_sessions_and_names_the_redirect)
{
	static const char *const arguments[] = { "--drain-redirect", "tcp:127.0.0.1:7412", NULL };
	struct house house;
	open_house(&house, check_seed(), arguments);
	struct sim_client_options options = resuming();
	struct sim_client *away = server_sim_guest(house.sim, &options);
	sim_disconnect(away);
	server_sim_run(house.sim, NS_PER_S);
	ck_assert_uint_eq(house.sim->server->service.sessions.lost, 1);
	ck_assert(server_sim_drain(house.sim, 60 * NS_PER_S));
	ck_assert(redirected(house.guest, "tcp:127.0.0.1:7412"));
	ck_assert(server_sim_sound(house.sim));
	server_sim_destroy(house.sim);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/resume");
	TCase *back = tcase_create("back");
	tcase_set_timeout(back, 60);
	tcase_add_loop_test(back, a_resumed_session_continues_with_a_delta_and_its_numbers, 0, 6);
	tcase_add_loop_test(back, a_resume_replaces_a_connection_that_is_still_open, 0, 4);
	tcase_add_loop_test(back, frames_of_the_same_tick_are_not_confused_at_a_resume, 0, 16);
	tcase_add_loop_test(back, no_event_is_lost_without_a_notice, 0, 4);
	tcase_add_loop_test(back, a_repeated_step_is_answered_again_but_not_applied_twice, 0, 6);
	tcase_add_test(back, a_session_ended_as_slow_may_be_resumed);
	suite_add_tcase(suite, back);
	TCase *ends = tcase_create("ends");
	tcase_set_timeout(ends, 60);
	tcase_add_test(ends,
		       a_resume_token_is_valid_once_and_its_predecessor_until_the_client_sends);
	tcase_add_test(ends, after_half_a_minute_or_a_goodbye_the_session_is_gone);
	tcase_add_test(ends, a_late_resume_or_one_after_a_restore_begins_with_a_snapshot);
	tcase_add_test(ends, lost_sessions_end_when_new_connections_need_their_places);
	tcase_add_test(ends, a_drain_ends_lost_sessions_and_names_the_redirect);
	suite_add_tcase(suite, ends);
	return suite;
}

int main(void)
{
	return check_main(make);
}
