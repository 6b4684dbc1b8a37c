/* Rollbacks in the daemon: STEPs that return to a moment, apply commands, make ticks and keep the
 * state, in one round trip; what watchers see of them; limits; drags; files with rollbacks replay. */
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/store/replay.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

static struct server_sim *daemon_of(uint64_t seed, const char *directory, enum sim_stepper stepper)
{
	struct server_sim_options options = server_sim_options_default(seed);
	options.io.quiet = true;
	options.stepper = stepper;
	if (directory != NULL) {
		options.arguments[0] = "--data";
		options.arguments[1] = directory;
		options.arguments[2] = "--checkpoint-ticks";
		options.arguments[3] = "20";
		options.arguments[4] = "--paused";
	}
	return server_sim_create(&options);
}

static struct sim_client *guest(struct server_sim *sim)
{
	struct sim_client_options who = sim_client_options_default();
	who.joints = WIRE_JOINT_COLUMNS_ALL;
	return server_sim_guest(sim, &who);
}

static void end_sim(struct server_sim *sim)
{
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}

/* A heap of spheres above a box, in lock-step with the client, at tick 20. */
static uint32_t open_world(struct sim_client *client, const char *name)
{
	uint32_t world = sim_make_world(client, name, NULL);
	struct command commands[8];
	sim_upload(client, world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (int i = 1; i < 8; i++)
		commands[i] = sim_spawn(0.2 * (i % 3), 1.1 * i, 0.1 * (i % 2), i, true);
	commands[1].spawn.status = BODY_STATIC;
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_LOCKSTEP, 0), STATUS_OK);
	ck_assert_int_eq(sim_step(client, world, 20, 0, commands, 8)->type, MESSAGE_STEPPED);
	return world;
}

/* What player p does at a tick: a push, and now and then a new body or the end of an old one. */
static uint32_t input_of(uint64_t tick, uint64_t guess, struct command commands[2])
{
	command_defaults(&commands[0], COMMAND_IMPULSE);
	commands[0].impulse.body = 2 + (int64_t)((tick + guess) % 6);
	commands[0].impulse.impulse =
		vec3_make(100 * (double)(tick % 5) - 200, 50, 10 * (double)guess);
	if (tick % 7 == 3) {
		commands[1] = sim_spawn(0.1, 12, (double)guess, 100, true);
		return 2;
	}
	return 1;
}

static void send_step(struct sim_client *client, uint32_t world, const char *back, uint32_t n,
		      const struct command *commands, uint32_t count, const char *keep)
{
	uint8_t bytes[2048];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct message step;
	for (uint32_t i = 0; i < count; i++)
		command_pack(&out, &commands[i]);
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	step.step.request = ++client->steps[world];
	step.step.n = n;
	step.step.want = WIRE_WANT_HASH;
	step.step.commands = (struct wire_list){ bytes, out.bytes, count };
	step.step.restore = wire_text(back);
	step.step.save = wire_text(keep);
	sim_send(client, &step);
}

static const struct message *step(struct sim_client *client, uint32_t world, const char *back,
				  uint32_t n, const struct command *commands, uint32_t count,
				  const char *keep)
{
	send_step(client, world, back, n, commands, count, keep);
	const struct message *answer = sim_wait(client, MESSAGE_STEPPED, client->steps[world]);
	ck_assert_ptr_nonnull(answer);
	return answer;
}

static const struct message *kept(struct sim_client *client, enum message_type type, uint32_t world,
				  const char *name)
{
	struct message message;
	message_init(&message, type);
	if (type == MESSAGE_SAVE) {
		message.save.ref = sim_ref(client);
		message.save.world = world;
		message.save.name = wire_text(name);
		message.save.kind = WIRE_SAVE_MOMENT;
		return sim_ask(client, &message, MESSAGE_SAVED);
	}
	message.restore.ref = sim_ref(client);
	message.restore.world = world;
	message.restore.name = wire_text(name);
	message.restore.kind = WIRE_SAVE_MOMENT;
	return sim_ask(client, &message, MESSAGE_RESTORED);
}

static enum status code_of(const struct message *message)
{
	return message->type == MESSAGE_ERROR ? (enum status)message->error.code : STATUS_OK;
}

static void name_of(uint64_t tick, char name[16])
{
	snprintf(name, 16, "m%u", (unsigned)(tick % 8));
}

/* The names of the moments form a ring of 8. Each round guesses up to 4 ticks ahead, then returns and
 * plays what really happened, as one STEP a tick, all sent at once. */
static void play_round(struct sim_client *client, uint32_t world, uint64_t tick, uint32_t ahead)
{
	struct command commands[2];
	char back[16], keep[16];
	name_of(tick, back);
	for (uint32_t i = 0; i < ahead; i++)
		step(client, world, "", 1, commands, input_of(tick + i, 1 + i, commands), "");
	for (uint32_t i = 0; i < 2; i++) {
		name_of(tick + i + 1, keep);
		send_step(client, world, i == 0 ? back : "", 1, commands,
			  input_of(tick + i, 0, commands), keep);
	}
	const struct message *answer = sim_wait(client, MESSAGE_STEPPED, client->steps[world]);
	ck_assert_ptr_nonnull(answer);
	ck_assert_int_eq(answer->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(answer->stepped.code, 0);
	ck_assert_uint_eq(answer->stepped.tick, tick + 2);
}

static void check_replay(const char *directory, uint64_t hash)
{
	char path[RECORDER_PATH + 80];
	struct replay_report report;
	struct reason why;
	snprintf(path, sizeof path, "%s/w.cairn", directory);
	struct replay_options options = { .file = path, .verify = true };
	ck_assert_msg(replay_file(&options, &report, &why) == STATUS_OK, "%s", why.text);
	ck_assert_msg(report.verdict == REPLAY_SAME, "epoch %u tick %d: %s", report.first_epoch,
		      (int)report.first_tick, report.detail);
	ck_assert_uint_eq(report.state_hash, hash);
}

/* On a worker and on LOOP, without a file and with one. */
START_TEST(rollbacks_in_one_round_trip_leave_no_trace)
{
	enum { ROUNDS = 12 };
	char directory[RECORDER_PATH];
	bool filed = _i >= 2;
	if (filed)
		recorder_directory(directory);
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, filed ? directory : NULL,
					   _i % 2 ? SIM_STEPPER_LOOP : SIM_STEPPER_WORKER);
	struct sim_client *client = guest(sim), *watchers[3];
	static const enum wire_profile profiles[] = { WIRE_PROFILE_PLAIN, WIRE_PROFILE_EXACT,
						      WIRE_PROFILE_SIM };
	uint32_t world = open_world(client, "w"), other = open_world(client, "undisturbed");
	for (uint32_t i = 0; i < COUNT_OF(watchers); i++) {
		watchers[i] = guest(sim);
		sim_join(watchers[i], world);
		sim_subscribe(watchers[i], 1, world, WIRE_COLUMNS_ALL, profiles[i], 1 + i, 0x1fe);
	}
	ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, "m4")), STATUS_OK);
	uint64_t tick = 20;
	uint32_t epoch = world_info(server_sim_world(sim, world)).epoch;
	for (uint32_t round = 0; round < ROUNDS; round++, tick += 2) {
		struct command commands[2];
		play_round(client, world, tick, round % 5);
		for (uint32_t i = 0; i < 2; i++)
			step(client, other, "", 1, commands, input_of(tick + i, 0, commands), "");
		ck_assert_uint_eq(sim_hash(client, world), sim_hash(client, other));
	}
	struct world_info info = world_info(server_sim_world(sim, world));
	ck_assert_uint_eq(info.epoch, epoch + ROUNDS);
	for (uint32_t i = 0; i < COUNT_OF(watchers); i++)
		ck_assert(sim_caught_up(watchers[i], 1, NS_PER_S));
	struct host_counters counters;
	host_counters(worlds_find_name(&sim->server->worlds, "w")->host, &counters);
	ck_assert_uint_eq(counters.moments, 8);
	ck_assert_uint_eq(counters.rollbacks, ROUNDS);
	ck_assert_uint_gt(counters.moment_bytes, 1000);
	uint64_t hash = sim_hash(client, world);
	end_sim(sim);
	if (filed) {
		check_replay(directory, hash);
		recorder_remove(directory);
	}
}
END_TEST

/* A server that runs at its own pace goes back between two ticks; the watchers follow. */
START_TEST(a_running_world_returns_to_a_moment_while_it_is_watched)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim), *watcher = guest(sim);
	uint32_t world = open_world(client, "w");
	sim_join(watcher, world);
	sim_subscribe(watcher, 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0x1fe);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_RESUME, 0), STATUS_OK);
	for (uint32_t round = 0; round < 4; round++) {
		const struct message *saved = kept(client, MESSAGE_SAVE, world, "now");
		ck_assert_int_eq(code_of(saved), STATUS_OK);
		uint64_t tick = saved->saved.tick, hash = saved->saved.hash.value;
		struct command spawn = sim_spawn(3, 9, 0, 50, false);
		sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
		server_sim_run(sim, NS_PER_S / 5);
		const struct message *back = kept(client, MESSAGE_RESTORE, world, "now");
		ck_assert_int_eq(code_of(back), STATUS_OK);
		ck_assert_uint_eq(back->restored.tick, tick);
		ck_assert_uint_eq(back->restored.hash.value, hash);
		ck_assert_uint_eq(back->restored.epoch, 2 + round);
		server_sim_run(sim, NS_PER_S / 10);
	}
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_PAUSE, 0), STATUS_OK);
	ck_assert(sim_caught_up(watcher, 1, NS_PER_S));
	end_sim(sim);
}
END_TEST

START_TEST(what_cannot_be_done_is_refused_and_changes_nothing)
{
	struct server_sim *sim = daemon_of(check_seed(), NULL, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim);
	uint32_t world = open_world(client, "w");
	uint64_t hash = sim_hash(client, world);
	ck_assert_int_eq(code_of(kept(client, MESSAGE_RESTORE, world, "none")),
			 STATUS_UNKNOWN_SNAPSHOT);
	ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, "../up")), STATUS_RANGE);
	ck_assert_int_eq(code_of(step(client, world, "none", 3, NULL, 0, "m")),
			 STATUS_UNKNOWN_SNAPSHOT);
	ck_assert_int_eq(code_of(step(client, world, "a b", 3, NULL, 0, "")), STATUS_RANGE);
	/* A refused command makes no tick, so there is no state to keep. */
	struct command bad = sim_spawn(1e9, 0, 0, 1, false);
	ck_assert_int_eq(code_of(step(client, world, "", 1, &bad, 1, "m")), STATUS_OK);
	ck_assert_int_eq(code_of(kept(client, MESSAGE_RESTORE, world, "m")),
			 STATUS_UNKNOWN_SNAPSHOT);
	ck_assert_uint_eq(sim_hash(client, world), hash);
	/* `from` is compared with the moment's tick. */
	ck_assert_int_eq(code_of(step(client, world, "", 0, NULL, 0, "m")), STATUS_OK);
	sim_step(client, world, 5, 0, NULL, 0);
	struct message wrong;
	message_init(&wrong, MESSAGE_STEP);
	wrong.step.world = world;
	wrong.step.n = 1;
	wrong.step.restore = wire_text("m");
	wrong.step.request = ++client->steps[world];
	wrong.step.from = (struct wire_option){ true, 25 };
	ck_assert_int_eq(sim_try(client, &wrong, MESSAGE_STEPPED), STATUS_TICK);
	ck_assert_uint_eq(world_info(server_sim_world(sim, world)).tick, 25);
	wrong.step.request = ++client->steps[world];
	wrong.step.from.value = 20;
	ck_assert_int_eq(sim_try(client, &wrong, MESSAGE_STEPPED), STATUS_OK);
	ck_assert_uint_eq(world_info(server_sim_world(sim, world)).tick, 21);
	/* A STEP that only returns. */
	ck_assert_uint_eq(step(client, world, "m", 0, NULL, 0, "")->stepped.tick, 20);
	ck_assert_uint_eq(sim_hash(client, world), hash);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_BARRIER, 1), STATUS_OK);
	ck_assert_int_eq(code_of(step(client, world, "m", 1, NULL, 0, "")), STATUS_RANGE);
	/* Both a moment and a tick of the past. */
	struct message both;
	message_init(&both, MESSAGE_RESTORE);
	both.restore.ref = sim_ref(client);
	both.restore.world = world;
	both.restore.name = wire_text("m");
	both.restore.tick = (struct wire_option){ true, 3 };
	both.restore.kind = WIRE_SAVE_MOMENT;
	ck_assert_int_ne(sim_try(client, &both, MESSAGE_RESTORED), STATUS_OK);
	ck_assert_uint_eq(sim_hash(client, world), hash);
	end_sim(sim);
}
END_TEST

START_TEST(the_number_of_moments_is_limited)
{
	struct server_sim *sim = daemon_of(check_seed(), NULL, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim);
	uint32_t world = open_world(client, "w"), limit = host_options_default().moments_max;
	char name[16];
	for (uint32_t i = 0; i <= limit; i++) {
		snprintf(name, sizeof name, "k%u", (unsigned)i);
		const struct message *answer = step(client, world, "", 0, NULL, 0, name);
		ck_assert_int_eq(answer->type, MESSAGE_STEPPED);
		ck_assert_uint_eq(answer->stepped.code, i < limit ? 0 : (uint64_t)STATUS_LIMIT);
	}
	ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, "one-more")), STATUS_LIMIT);
	ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, "k7")), STATUS_OK);
	end_sim(sim);
}
END_TEST

/* The world grows and shrinks, so moments have several bases; each leads to its own state, in any order. */
START_TEST(moments_of_several_bases_lead_to_their_own_states)
{
	enum { MOMENTS = 9, BODIES = 60 };
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim);
	uint32_t world = open_world(client, "w");
	struct command commands[BODIES];
	uint64_t hashes[MOMENTS];
	char name[16];
	struct host *host = worlds_find_name(&sim->server->worlds, "w")->host;
	struct host_counters counters;
	for (uint32_t m = 0; m < MOMENTS; m++) {
		uint32_t count = 0;
		body_id ids[256];
		uint32_t bodies = world_bodies(server_sim_world(sim, world), ids, COUNT_OF(ids));
		for (; m % 3 != 2 && count < BODIES; count++)
			commands[count] = sim_spawn(2.0 * count, 20.0 + m, 3.0 * m, 7, true);
		for (uint32_t i = 0; m % 3 == 2 && i < bodies && count < BODIES; i++) {
			command_defaults(&commands[count], COMMAND_REMOVE);
			commands[count].remove.body = ids[bodies - 1 - i];
			count += bodies - 1 - i > 8;
		}
		const struct message *stepped =
			sim_step(client, world, 3, WIRE_WANT_HASH, commands, count);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		hashes[m] = stepped->stepped.state_hash.value;
		snprintf(name, sizeof name, "s%u", (unsigned)m);
		ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, name)), STATUS_OK);
	}
	host_counters(host, &counters);
	uint64_t bytes = counters.moment_bytes;
	for (uint32_t i = 0; i < 2 * MOMENTS; i++) {
		uint32_t m = i * 4 % MOMENTS;
		snprintf(name, sizeof name, "s%u", (unsigned)m);
		const struct message *back = step(client, world, name, 0, NULL, 0, "");
		ck_assert_int_eq(back->type, MESSAGE_STEPPED);
		ck_assert_uint_eq(back->stepped.state_hash.value, hashes[m]);
	}
	/* When all are of one state again, the bases of the others are gone. */
	for (uint32_t m = 0; m < MOMENTS; m++) {
		snprintf(name, sizeof name, "s%u", (unsigned)m);
		ck_assert_int_eq(code_of(kept(client, MESSAGE_SAVE, world, name)), STATUS_OK);
	}
	host_counters(host, &counters);
	ck_assert_uint_lt(counters.moment_bytes, bytes);
	ck_assert_uint_eq(counters.moments, MOMENTS);
	end_sim(sim);
}
END_TEST

static int64_t make_drag(struct sim_client *client, uint32_t world)
{
	struct command drag;
	command_defaults(&drag, COMMAND_JOINT_CREATE);
	drag.joint_create.type = JOINT_DRAG;
	drag.joint_create.body_b = 3;
	drag.joint_create.owner = client->session;
	uint64_t batch = sim_commands(client, world, &drag, 1, 0, WIRE_LATE_APPLY);
	sim_step(client, world, 1, 0, NULL, 0);
	struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	return (int64_t)result->values[0];
}

/* A drag goes on after a rollback, but not that of a session that has left since the moment. */
START_TEST(drags_go_on_unless_a_session_has_left)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim), *other = guest(sim);
	uint32_t world = open_world(client, "w");
	sim_join(other, world);
	int64_t held = make_drag(client, world);
	struct joint_view view;
	ck_assert_int_eq(code_of(step(client, world, "", 1, NULL, 0, "m")), STATUS_OK);
	for (uint32_t round = 0; round < 3; round++) {
		step(client, world, "m", 3, NULL, 0, "");
		ck_assert_int_eq(world_joint(server_sim_world(sim, world), (joint_id)held, &view),
				 STATUS_OK);
	}
	sim_disconnect(other);
	server_sim_run(sim, NS_PER_S);
	step(client, world, "m", 3, NULL, 0, "");
	ck_assert_int_eq(world_joint(server_sim_world(sim, world), (joint_id)held, &view),
			 STATUS_UNKNOWN_JOINT);
	end_sim(sim);
}
END_TEST

/* Moments end with the process; the state they led to does not. */
START_TEST(a_restart_forgets_moments_and_keeps_what_came_of_them)
{
	char directory[RECORDER_PATH];
	recorder_directory(directory);
	struct server_sim *sim =
		daemon_of(check_seed() + (uint64_t)_i, directory, SIM_STEPPER_DRAWN);
	struct sim_client *client = guest(sim);
	uint32_t world = open_world(client, "w");
	ck_assert_int_eq(code_of(step(client, world, "", 2, NULL, 0, "m")), STATUS_OK);
	struct command commands[2];
	step(client, world, "", 5, commands, input_of(3, 1, commands), "");
	step(client, world, "m", 30, commands, input_of(3, 0, commands), "later");
	uint64_t hash = sim_hash(client, world);
	server_sim_run(sim, 2 * NS_PER_S);
	server_sim_end(sim);
	check_replay(directory, hash);
	server_sim_begin(sim, directory);
	client = guest(sim);
	world = worlds_find_name(&sim->server->worlds, "w")->number;
	sim_join(client, world);
	ck_assert_uint_eq(sim_hash(client, world), hash);
	ck_assert_int_eq(code_of(kept(client, MESSAGE_RESTORE, world, "m")),
			 STATUS_UNKNOWN_SNAPSHOT);
	end_sim(sim);
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/rollback");
	TCase *rollback = tcase_create("rollback");
	tcase_set_timeout(rollback, 60);
	tcase_add_loop_test(rollback, rollbacks_in_one_round_trip_leave_no_trace, 0, 4);
	tcase_add_loop_test(rollback, a_running_world_returns_to_a_moment_while_it_is_watched, 0,
			    2);
	tcase_add_test(rollback, what_cannot_be_done_is_refused_and_changes_nothing);
	tcase_add_test(rollback, the_number_of_moments_is_limited);
	tcase_add_loop_test(rollback, moments_of_several_bases_lead_to_their_own_states, 0, 2);
	tcase_add_loop_test(rollback, drags_go_on_unless_a_session_has_left, 0, 2);
	tcase_add_loop_test(rollback, a_restart_forgets_moments_and_keeps_what_came_of_them, 0, 2);
	suite_add_tcase(suite, rollback);
	return suite;
}

int main(void)
{
	return check_main(make);
}
