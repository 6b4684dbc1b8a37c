/* Edits of a paused world, without a tick. The triple (epoch, tick, edit) names every state for
 * frames, steps, saves and recovery after a crash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "server/host/host_state.h"
#include "server/store/replay.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

static struct server_sim *daemon_of(uint64_t seed, const char *directory)
{
	struct server_sim_options options = server_sim_options_default(seed);
	options.io.quiet = true;
	if (directory != NULL) {
		options.arguments[0] = "--data";
		options.arguments[1] = directory;
	}
	return server_sim_create(&options);
}

static struct sim_client *guest(struct server_sim *sim)
{
	struct sim_client_options who = sim_client_options_default();
	return server_sim_guest(sim, &who);
}

static struct world_info info_of(struct server_sim *sim, uint32_t world)
{
	return world_info(server_sim_world(sim, world));
}

static void end_sim(struct server_sim *sim)
{
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}

/* One SPAWN, sent and answered. */
static struct sim_result *spawn(struct sim_client *client, uint32_t world, int64_t tag)
{
	struct command command = sim_spawn((double)tag, 1, 0, tag, false);
	uint64_t batch = sim_commands(client, world, &command, 1, 0, WIRE_LATE_APPLY);
	struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_ptr_nonnull(result);
	return result;
}

START_TEST(an_edit_of_a_paused_world_is_applied_and_sent_without_a_tick)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL);
	struct sim_client *client = guest(sim);
	uint32_t world = sim_make_world(client, "w", NULL);
	static const enum wire_profile profiles[] = { WIRE_PROFILE_PLAIN, WIRE_PROFILE_EXACT,
						      WIRE_PROFILE_VIEW, WIRE_PROFILE_SIM };
	struct sim_subscription *seen =
		sim_subscribe(client, 1, world, 31, profiles[_i % 4], 1 + (uint32_t)_i * 7, 0);
	for (int64_t tag = 1; tag <= 5; tag++) {
		struct sim_result *result = spawn(client, world, tag);
		ck_assert_int_eq(result->code, STATUS_OK);
		ck_assert_uint_eq(result->tick, 0);
		ck_assert_uint_eq(result->edit, (uint64_t)tag);
		ck_assert_uint_eq(info_of(sim, world).tick, 0);
		ck_assert_uint_eq(info_of(sim, world).edit, (uint64_t)tag);
		/* At once, whatever the divisor; server_sim_compare holds the mirror to that very
		 * state. */
		ck_assert(sim_caught_up(client, 1, NS_PER_S));
		ck_assert_uint_eq(seen->mirror.count, (uint32_t)tag);
	}
	/* A refused batch changes nothing, so the edit number stays. */
	struct command bad = sim_spawn(1e9, 0, 0, 9, false);
	uint64_t batch = sim_commands(client, world, &bad, 1, 0, WIRE_LATE_APPLY);
	ck_assert_int_eq(sim_await_result(client, world, batch)->code, STATUS_RANGE);
	ck_assert_uint_eq(info_of(sim, world).edit, 5);
	/* A step sets the edit number to 0. */
	ck_assert_int_eq(sim_step(client, world, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(info_of(sim, world).tick, 1);
	ck_assert_uint_eq(info_of(sim, world).edit, 0);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	end_sim(sim);
}
END_TEST

START_TEST(a_step_of_no_ticks_applies_commands_and_observes)
{
	struct server_sim_options options = server_sim_options_default(check_seed());
	options.io.quiet = true;
	options.stepper = _i == 0 ? SIM_STEPPER_WORKER : SIM_STEPPER_LOOP;
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client *client = guest(sim);
	uint32_t world = sim_make_world(client, "w", NULL);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	for (int64_t tag = 1; tag <= 3; tag++) {
		struct command command = sim_spawn((double)tag, 1, 0, tag, false);
		const struct message *stepped =
			sim_step(client, world, 0, WIRE_WANT_HASH, &command, 1);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		ck_assert_uint_eq(stepped->stepped.tick, 0);
		ck_assert_uint_eq(stepped->stepped.edit, (uint64_t)tag);
		ck_assert_uint_eq(stepped->stepped.results.count, 1);
		ck_assert_uint_eq(stepped->stepped.state_hash.value,
				  world_state_hash(server_sim_world(sim, world), NULL, NULL));
	}
	ck_assert_uint_eq(world_bodies(server_sim_world(sim, world), NULL, 0), 3);
	end_sim(sim);
}
END_TEST

/* STEP with one command, which is refused. */
static const struct message *step_refused(struct sim_client *client, uint32_t world,
					  uint64_t request, uint64_t n, bool anyway)
{
	uint8_t bytes[256];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct command bad = sim_spawn(1e9, 0, 0, 1, false);
	struct message step;
	command_pack(&out, &bad);
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	step.step.request = request;
	step.step.n = n;
	step.step.commands = (struct wire_list){ bytes, out.bytes, 1 };
	step.step.anyway = anyway;
	sim_send(client, &step);
	const struct message *stepped = sim_wait(client, MESSAGE_STEPPED, request);
	ck_assert_ptr_nonnull(stepped);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	struct wire_cursor in = wire_cursor_list(&stepped->stepped.results);
	struct wire_result result;
	ck_assert_int_eq(result_take(&in, &result), STATUS_OK);
	ck_assert_int_eq(result.code, STATUS_RANGE);
	return stepped;
}

START_TEST(a_step_with_refused_commands_makes_ticks_only_if_requested)
{
	struct server_sim *sim = daemon_of(check_seed(), NULL);
	struct sim_client *client = guest(sim), *other = guest(sim);
	uint32_t world = sim_make_world(client, "w", NULL);
	sim_join(other, world);
	ck_assert_uint_eq(step_refused(client, world, 1, 5, false)->stepped.tick, 0);
	ck_assert_uint_eq(step_refused(client, world, 2, 5, true)->stepped.tick, 5);
	ck_assert_uint_eq(step_refused(client, world, 3, 0, true)->stepped.tick, 5);
	/* At a barrier the others wait for another STEP; their commands are applied once. */
	struct command command = sim_spawn(1, 1, 0, 1, false);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_BARRIER, 2), STATUS_OK);
	uint8_t bytes[256];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct message step;
	command_pack(&out, &command);
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	step.step.request = 1;
	step.step.n = 1;
	step.step.commands = (struct wire_list){ bytes, out.bytes, 1 };
	sim_send(other, &step);
	server_sim_run(sim, 50 * NS_PER_MS);
	ck_assert_uint_eq(step_refused(client, world, 4, 1, false)->stepped.tick, 5);
	server_sim_run(sim, 50 * NS_PER_MS);
	ck_assert_uint_eq(info_of(sim, world).tick, 5);
	ck_assert_uint_eq(world_bodies(server_sim_world(sim, world), NULL, 0), 1);
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	step.step.request = 5;
	step.step.n = 1;
	sim_send(client, &step);
	ck_assert_uint_eq(sim_wait(client, MESSAGE_STEPPED, 5)->stepped.tick, 6);
	ck_assert_uint_eq(sim_wait(other, MESSAGE_STEPPED, 1)->stepped.tick, 6);
	ck_assert_uint_eq(world_bodies(server_sim_world(sim, world), NULL, 0), 1);
	end_sim(sim);
}
END_TEST

/* SAVE as `name`; returns the answer, which names the state. */
static struct msg_saved save(struct sim_client *client, uint32_t world, const char *name)
{
	struct message ask;
	message_init(&ask, MESSAGE_SAVE);
	ask.save.ref = sim_ref(client);
	ask.save.world = world;
	ask.save.name = wire_text(name);
	const struct message *saved = sim_ask(client, &ask, MESSAGE_SAVED);
	ck_assert_ptr_nonnull(saved);
	ck_assert_int_eq(saved->type, MESSAGE_SAVED);
	return saved->saved;
}

/* RESTORE of the state saved as "here" (tick 3, edit 4) in a new epoch. */
static void restore_here(struct sim_client *client, uint32_t world)
{
	struct message ask;
	message_init(&ask, MESSAGE_RESTORE);
	ask.restore.ref = sim_ref(client);
	ask.restore.world = world;
	ask.restore.name = wire_text("here");
	const struct message *restored = sim_ask(client, &ask, MESSAGE_RESTORED);
	ck_assert_ptr_nonnull(restored);
	ck_assert_int_eq(restored->type, MESSAGE_RESTORED);
	ck_assert_uint_eq(restored->restored.epoch, 3);
	ck_assert_uint_eq(restored->restored.tick, 3);
	ck_assert_uint_eq(restored->restored.edit, 4);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	ck_assert_uint_eq(spawn(client, world, 7)->edit, 5);
}

START_TEST(edits_are_durable_by_name_and_come_back_after_a_crash)
{
	char directory[RECORDER_PATH], file[RECORDER_PATH + 32];
	recorder_directory(directory);
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, directory);
	struct sim_client *client = guest(sim);
	uint32_t world = sim_make_world(client, "w", NULL);
	ck_assert_int_eq(sim_step(client, world, 3, 0, NULL, 0)->type, MESSAGE_STEPPED);
	for (int64_t tag = 1; tag <= 4; tag++)
		ck_assert_uint_eq(spawn(client, world, tag)->edit, (uint64_t)tag);
	if (_i % 2 == 1) {
		struct msg_saved saved = save(client, world, "here");
		ck_assert_uint_eq(saved.tick, 3);
		ck_assert_uint_eq(saved.edit, 4);
		ck_assert_uint_eq(spawn(client, world, 5)->edit, 5);
	}
	uint64_t edit = info_of(sim, world).edit;
	uint64_t hash = world_state_hash(server_sim_world(sim, world), NULL, NULL);
	server_sim_run(sim, 2 * NS_PER_S);
	ck_assert_uint_eq(client->durable[world].tick, 3);
	ck_assert_uint_eq(client->durable[world].edit, edit);
	/* The daemon stops without any clean-up, as in a crash. */
	server_sim_end(sim);
	server_sim_begin(sim, directory);
	struct sim_client *again = guest(sim);
	uint32_t number = 1;
	sim_join(again, number);
	ck_assert_uint_eq(info_of(sim, number).tick, 3);
	ck_assert_uint_eq(info_of(sim, number).edit, edit);
	ck_assert_uint_eq(info_of(sim, number).epoch, 2);
	ck_assert_uint_eq(world_state_hash(server_sim_world(sim, number), NULL, NULL), hash);
	(void)sim_subscribe(again, 1, number, 31, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert(sim_caught_up(again, 1, NS_PER_S));
	ck_assert_int_eq(sim_step(again, number, 2, 0, NULL, 0)->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(spawn(again, number, 6)->edit, 1);
	if (_i % 2 == 1)
		restore_here(again, number);
	end_sim(sim);
	/* A replay makes the same calls. */
	struct replay_options options = { .file = file, .verify = true };
	struct replay_report report;
	struct reason why;
	snprintf(file, sizeof file, "%s/w.cairn", directory);
	enum status status = replay_file(&options, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_int_eq(report.verdict, REPLAY_SAME);
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/edits");
	TCase *edits = tcase_create("edits");
	tcase_set_timeout(edits, 30);
	tcase_add_loop_test(edits, an_edit_of_a_paused_world_is_applied_and_sent_without_a_tick, 0,
			    8);
	tcase_add_loop_test(edits, a_step_of_no_ticks_applies_commands_and_observes, 0, 2);
	tcase_add_test(edits, a_step_with_refused_commands_makes_ticks_only_if_requested);
	tcase_add_loop_test(edits, edits_are_durable_by_name_and_come_back_after_a_crash, 0, 4);
	suite_add_tcase(suite, edits);
	return suite;
}

int main(void)
{
	return check_main(make);
}
