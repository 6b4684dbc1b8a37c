/* SAVE, RESTORE, FORK and epochs; the end of a world with subscribers; replay and recovery of world
 * files. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/store/replay.h"
#include "tests/lib/bad_disk.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

static enum status named(struct sim_client *client, enum message_type type,
			 enum message_type answer, uint32_t world, const char *name,
			 const char *snapshot, const struct message **out)
{
	struct message message;
	message_init(&message, type);
	uint64_t ref = sim_ref(client);
	if (type == MESSAGE_SAVE) {
		message.save.ref = ref;
		message.save.world = world;
		message.save.name = wire_text(name);
	} else if (type == MESSAGE_RESTORE) {
		message.restore.ref = ref;
		message.restore.world = world;
		message.restore.name = wire_text(name);
	} else {
		message.fork.ref = ref;
		message.fork.world = world;
		message.fork.name = wire_text(name);
		message.fork.snapshot = wire_text(snapshot);
	}
	const struct message *got = sim_ask(client, &message, answer);
	ck_assert_ptr_nonnull(got);
	if (out != NULL)
		*out = got;
	return got->type == MESSAGE_ERROR ? (enum status)got->error.code : STATUS_OK;
}

static enum status destroy(struct sim_client *admin, uint32_t world)
{
	struct message message;
	message_init(&message, MESSAGE_WORLD_DESTROY);
	message.world_destroy.ref = sim_ref(admin);
	message.world_destroy.world = world;
	return sim_try(admin, &message, MESSAGE_REPLY);
}

static struct sim_client *administrator(struct server_sim *sim)
{
	struct sim_client_options options = sim_client_options_default();
	options.address = SIM_UNIX;
	return server_sim_guest(sim, &options);
}

static struct server_sim *daemon_of(uint64_t seed, const char *directory)
{
	struct server_sim_options options = server_sim_options_default(seed);
	options.io.quiet = true;
	if (directory != NULL) {
		options.arguments[0] = "--data";
		options.arguments[1] = directory;
		options.arguments[2] = "--checkpoint-ticks";
		options.arguments[3] = "50";
		options.arguments[4] = "--paused";
	}
	return server_sim_create(&options);
}

/* Spheres in free fall at tick 3. */
static void begin_world(struct sim_client *client, uint32_t world)
{
	struct command commands[6];
	sim_upload(client, world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	for (int i = 1; i < 6; i++)
		commands[i] = sim_spawn(0.2 * i, 1.2 * i, 0.1 * i, i, true);
	const struct message *stepped = sim_step(client, world, 3, 0, commands, 6);
	ck_assert_ptr_nonnull(stepped);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
}

START_TEST(a_snapshot_gives_the_same_future_again_in_another_epoch)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL);
	struct sim_client *client = administrator(sim);
	const struct message *answer;
	uint32_t world = sim_make_world(client, "w", NULL);
	begin_world(client, world);
	sim_subscribe(client, 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	uint64_t saved = sim_hash(client, world);
	ck_assert_int_eq(named(client, MESSAGE_SAVE, MESSAGE_SAVED, world, "s", "", &answer),
			 STATUS_OK);
	ck_assert_uint_eq(answer->saved.hash.value, saved);
	ck_assert_uint_eq(answer->saved.tick, 3);
	struct command spawn = sim_spawn(5, 5, 5, 77, false);
	sim_step(client, world, 40, 0, &spawn, 1);
	uint64_t future = sim_hash(client, world);
	for (uint32_t epoch = 2; epoch < 5; epoch++) {
		ck_assert_int_eq(
			named(client, MESSAGE_RESTORE, MESSAGE_RESTORED, world, "s", "", &answer),
			STATUS_OK);
		ck_assert_uint_eq(answer->restored.hash.value, saved);
		ck_assert_uint_eq(answer->restored.epoch, epoch);
		ck_assert(sim_caught_up(client, 1, NS_PER_S));
		ck_assert_uint_eq(sim_subscription(client, 1)->mirror.epoch, epoch);
		sim_step(client, world, 40, 0, &spawn, 1);
		ck_assert_uint_eq(sim_hash(client, world), future);
	}
	/* A copy has the same future, and a step of one world does not change the other. */
	ck_assert_int_eq(named(client, MESSAGE_FORK, MESSAGE_FORKED, world, "copy", "s", &answer),
			 STATUS_OK);
	ck_assert_uint_eq(answer->forked.hash.value, saved);
	uint32_t copy = (uint32_t)answer->forked.world;
	sim_join(client, copy);
	ck_assert_uint_eq(sim_hash(client, copy), saved);
	sim_step(client, copy, 40, 0, &spawn, 1);
	ck_assert_uint_eq(sim_hash(client, copy), future);
	ck_assert_uint_eq(sim_hash(client, world), future);
	ck_assert_int_eq(named(client, MESSAGE_FORK, MESSAGE_FORKED, world, "copy", "", NULL),
			 STATUS_EXISTS);
	ck_assert_int_eq(named(client, MESSAGE_RESTORE, MESSAGE_RESTORED, world, "none", "", NULL),
			 STATUS_UNKNOWN_SNAPSHOT);
	ck_assert_int_eq(named(client, MESSAGE_FORK, MESSAGE_FORKED, world, "x", "none", NULL),
			 STATUS_UNKNOWN_SNAPSHOT);
	ck_assert_int_eq(named(client, MESSAGE_SAVE, MESSAGE_SAVED, world, "../up", "", NULL),
			 STATUS_RANGE);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

/* The number of a pending batch was given in the source world. In the copy the same number from the
 * same session names another batch. */
START_TEST(pending_batches_are_applied_in_a_fork_and_reported_to_no_session)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL);
	struct sim_client *client = administrator(sim);
	const struct message *answer;
	uint32_t world = sim_make_world(client, "w", NULL);
	begin_world(client, world);
	struct command spawn = sim_spawn(5, 5, 5, 77, false);
	(void)sim_commands(client, world, &spawn, 1, 20, WIRE_LATE_APPLY);
	sim_step(client, world, 1, 0, NULL, 0);
	uint64_t hash = sim_hash(client, world);
	ck_assert_int_eq(named(client, MESSAGE_FORK, MESSAGE_FORKED, world, "copy", "", &answer),
			 STATUS_OK);
	ck_assert_uint_eq(answer->forked.hash.value, hash);
	uint32_t copy = (uint32_t)answer->forked.world;
	sim_join(client, copy);
	/* Dated for the tick of the copied batch (loop 0) or a later one (loop 1). */
	spawn.spawn.tag = 88;
	uint64_t batch = sim_commands(client, copy, &spawn, 1, _i == 0 ? 20 : 30, WIRE_LATE_APPLY);
	ck_assert_uint_eq(batch, client->batches[world]);
	sim_step(client, copy, 40, 0, NULL, 0);
	const struct sim_result *result = sim_result(client, copy, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_uint_eq(result->arrivals, 2); /* WAITING, then OK */
	ck_assert_uint_eq(result->value_count, 1);
	struct body_view view;
	struct world *of = server_sim_world(sim, copy);
	ck_assert_int_eq(world_body(of, result->values[0], &view), STATUS_OK);
	ck_assert_int_eq(view.tag, 88);
	ck_assert_uint_eq(world_bodies(of, NULL, 0), 7);
	/* A repeat gets the stored answer. */
	sim_commands_as(client, copy, batch, &spawn, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(sim, 100 * NS_PER_MS);
	ck_assert_uint_eq(result->arrivals, 3);
	ck_assert_uint_eq(result->values[0], view.id);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_running_world_may_be_restored_while_it_is_watched)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL);
	struct sim_client *client = administrator(sim);
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *watcher = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(client, "w", NULL);
	begin_world(client, world);
	sim_join(watcher, world);
	sim_subscribe(watcher, 4, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0x1fe);
	sim_subscribe(watcher, 5, world, 31, WIRE_PROFILE_PLAIN, 3, 0);
	ck_assert_int_eq(named(client, MESSAGE_SAVE, MESSAGE_SAVED, world, "s", "", NULL),
			 STATUS_OK);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_RESUME, 4), STATUS_OK);
	/* A batch dated far ahead in this epoch; batches of the next epoch must not wait for it. */
	struct command spawn = sim_spawn(0, 9, 0, 50, false);
	sim_commands(client, world, &spawn, 1, 5000, WIRE_LATE_APPLY);
	for (int i = 0; i < 10; i++) {
		server_sim_run(sim, rng_below(&sim->rng, 300) * NS_PER_MS);
		ck_assert_int_eq(
			named(client, MESSAGE_RESTORE, MESSAGE_RESTORED, world, "s", "", NULL),
			STATUS_OK);
	}
	server_sim_run(sim, 200 * NS_PER_MS);
	uint64_t batch = sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	const struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_eq(result->value_count, 1);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	ck_assert(sim_caught_up(watcher, 4, NS_PER_S));
	ck_assert_uint_eq(sim_subscription(watcher, 4)->mirror.epoch, 11);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(the_end_of_a_world_is_reported_to_its_members)
{
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, NULL);
	struct sim_client *admin = administrator(sim);
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *watcher = server_sim_guest(sim, &who);
	struct sim_client *visitor = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(admin, "w", NULL);
	begin_world(admin, world);
	sim_join(watcher, world);
	sim_join(visitor, world);
	sim_subscribe(watcher, 1234, world, 31, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, 300 * NS_PER_MS);
	/* A batch is in flight when the world ends. */
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	sim_commands(watcher, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	ck_assert_int_eq(destroy(admin, world), STATUS_OK);
	server_sim_run(sim, 300 * NS_PER_MS);
	const struct msg_error *error = sim_error(watcher, 1234);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq((int)error->code, STATUS_UNKNOWN_WORLD);
	ck_assert_int_eq((int)error->about, MESSAGE_SUBSCRIBE);
	error = sim_error(visitor, 0);
	ck_assert_ptr_nonnull(error);
	ck_assert_int_eq((int)error->code, STATUS_UNKNOWN_WORLD);
	ck_assert_int_eq((int)error->about, MESSAGE_WORLD_JOIN);
	ck_assert(!watcher->closed && !visitor->closed);
	ck_assert_int_eq(destroy(admin, world), STATUS_UNKNOWN_WORLD);
	/* The name is free again, and numbers are never used twice. */
	uint32_t next = sim_make_world(admin, "w", NULL);
	ck_assert_uint_gt(next, world);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(many_worlds_may_be_made_and_ended_in_turn)
{
	struct server_sim *sim = daemon_of(check_seed(), NULL);
	struct sim_client *admin = administrator(sim);
	for (int i = 0; i < 150; i++) {
		char name[16];
		struct message create;
		snprintf(name, sizeof name, "w%d", i);
		message_init(&create, MESSAGE_WORLD_CREATE);
		create.world_create.ref = sim_ref(admin);
		create.world_create.name = wire_text(name);
		const struct message *info = sim_ask(admin, &create, MESSAGE_WORLD_INFO);
		ck_assert_ptr_nonnull(info);
		ck_assert_int_eq(info->type, MESSAGE_WORLD_INFO);
		uint32_t world = (uint32_t)info->world_info.world;
		sim_join(admin, world);
		ck_assert_int_eq(destroy(admin, world), STATUS_OK);
	}
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

static void check_file(const char *directory, const char *world, uint64_t *hash)
{
	char path[RECORDER_PATH + 80];
	struct replay_report report;
	struct reason why;
	snprintf(path, sizeof path, "%s/%s.cairn", directory, world);
	struct replay_options options = { .file = path, .verify = true };
	enum status status = replay_file(&options, &report, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", world, why.text);
	ck_assert_msg(report.verdict == REPLAY_SAME, "epoch %u tick %d: %s", report.first_epoch,
		      (int)report.first_tick, report.detail);
	*hash = report.state_hash;
}

/* Two clients send competing commands to a world with a file; the world is saved and restored while
 * it runs. Returns the last state hash. */
static uint64_t run_race(const char *directory, uint64_t seed)
{
	struct server_sim *sim = daemon_of(seed, directory);
	struct sim_client *admin = administrator(sim);
	struct sim_client_options who = sim_client_options_default();
	struct sim_client *rival = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(admin, "race", NULL);
	begin_world(admin, world);
	sim_join(rival, world);
	sim_subscribe(rival, 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	/* With SEEDS in the environment: more than ten thousand ticks. */
	int turns = getenv("SEEDS") != NULL ? 6000 : 120;
	for (int i = 0; i < turns; i++) {
		struct sim_client *racer = rng_below(&sim->rng, 2) ? admin : rival;
		struct command commands[2];
		double x = rng_below(&sim->rng, 100) * 0.05;
		commands[0] = sim_spawn(x, 6, x, i, rng_below(&sim->rng, 2) != 0);
		if (world_bodies(server_sim_world(sim, world), NULL, 0) > 60) {
			command_defaults(&commands[0], COMMAND_REMOVE);
			commands[0].remove.body = 1 + rng_below(&sim->rng, 400);
		}
		command_defaults(&commands[1], COMMAND_IMPULSE);
		commands[1].impulse.body = 1 + rng_below(&sim->rng, 10);
		commands[1].impulse.impulse.x = 40;
		sim_commands(racer, world, commands, 2, 0, WIRE_LATE_APPLY);
		if (i % 40 == 20)
			ck_assert_int_eq(
				named(admin, MESSAGE_SAVE, MESSAGE_SAVED, world, "s", "", NULL),
				STATUS_OK);
		if (i % 40 == 35)
			ck_assert_int_eq(named(rival, MESSAGE_RESTORE, MESSAGE_RESTORED, world, "s",
					       "", NULL),
					 STATUS_OK);
		server_sim_run(sim, rng_below(&sim->rng, 60) * NS_PER_MS);
	}
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	uint64_t hash = sim_hash(admin, world), tick;
	tick = world_info(server_sim_world(sim, world)).tick;
	server_sim_run(sim, NS_PER_S);
	/* The clients are notified that everything up to this tick is durable. */
	ck_assert_uint_eq(rival->durable_tick, tick);
	ck_assert_uint_eq(rival->durable_epoch, world_info(server_sim_world(sim, world)).epoch);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
	return hash;
}

START_TEST(a_race_replays_from_its_file_and_continues_after_a_restart)
{
	char directory[RECORDER_PATH];
	uint64_t replayed, seed = check_seed() + (uint64_t)_i;
	recorder_directory(directory);
	(void)test_shape_source();
	int64_t heap = heap_live();
	uint64_t hash = run_race(directory, seed);
	check_file(directory, "race", &replayed);
	ck_assert_uint_eq(replayed, hash);
	struct server_sim *sim = daemon_of(seed + 1, directory);
	struct sim_client *admin = administrator(sim);
	const struct message *answer;
	/* Session numbers after the restart are not those of earlier sessions. */
	ck_assert_uint_gt(admin->handshake.session, 2);
	sim_join(admin, 1);
	uint32_t epoch = world_info(server_sim_world(sim, 1)).epoch;
	ck_assert_uint_gt(epoch, 3);
	ck_assert_uint_eq(sim_hash(admin, 1), hash);
	sim_subscribe(admin, 1, 1, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	ck_assert(sim_caught_up(admin, 1, NS_PER_S));
	ck_assert_int_eq(named(admin, MESSAGE_RESTORE, MESSAGE_RESTORED, 1, "s", "", &answer),
			 STATUS_OK);
	ck_assert_uint_eq(answer->restored.epoch, epoch + 1);
	sim_step(admin, 1, 30, 0, NULL, 0);
	uint64_t last = sim_hash(admin, 1);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
	check_file(directory, "race", &replayed);
	ck_assert_uint_eq(replayed, last);
	ck_assert_int_eq(heap_live(), heap);
	recorder_remove(directory);
}
END_TEST

START_TEST(a_second_signal_ends_at_once_and_the_file_is_complete)
{
	char directory[RECORDER_PATH];
	uint64_t replayed;
	recorder_directory(directory);
	(void)test_shape_source();
	int64_t heap = heap_live();
	struct server_sim *sim = daemon_of(check_seed() + (uint64_t)_i, directory);
	struct sim_client *admin = administrator(sim);
	uint32_t world = sim_make_world(admin, "w", NULL);
	begin_world(admin, world);
	ck_assert_int_eq(sim_control(admin, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, NS_PER_S);
	sim_stall(admin, true);
	server_drain(sim->server);
	server_sim_run(sim, 20 * NS_PER_MS);
	ck_assert(server_sim_drain(sim, NS_PER_MS));
	server_sim_destroy(sim);
	check_file(directory, "w", &replayed);
	ck_assert_int_eq(heap_live(), heap);
	recorder_remove(directory);
}
END_TEST

/* The report of the failed write and the answer to SAVE reach the loop in either order. */
START_TEST(a_save_is_refused_when_the_disk_is_full)
{
	char directory[RECORDER_PATH];
	recorder_directory(directory);
	bad_disk_install();
	for (uint64_t i = 0; i < 20; i++) {
		struct server_sim *sim = daemon_of(check_seed() + i, directory);
		struct sim_client *admin = administrator(sim);
		char name[16];
		snprintf(name, sizeof name, "full%u", (unsigned)i);
		uint32_t world = sim_make_world(admin, name, NULL);
		server_sim_run(sim, 100 * NS_PER_MS);
		bad_disk_break(1, ENOSPC);
		const struct message *answer;
		ck_assert_int_ne(named(admin, MESSAGE_SAVE, MESSAGE_SAVED, world, "s", "", &answer),
				 STATUS_OK);
		ck_assert(wire_slice_is(answer->error.field, "journal"));
		bad_disk_mend();
		ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
		server_sim_destroy(sim);
	}
	recorder_remove(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/snapshots");
	TCase *snapshots = tcase_create("snapshots");
	tcase_set_timeout(snapshots, 30);
	tcase_add_loop_test(snapshots, a_snapshot_gives_the_same_future_again_in_another_epoch, 0,
			    3);
	tcase_add_loop_test(snapshots,
			    pending_batches_are_applied_in_a_fork_and_reported_to_no_session, 0, 2);
	tcase_add_loop_test(snapshots, a_running_world_may_be_restored_while_it_is_watched, 0, 5);
	suite_add_tcase(suite, snapshots);
	TCase *ends = tcase_create("ends");
	tcase_set_timeout(ends, 30);
	tcase_add_loop_test(ends, the_end_of_a_world_is_reported_to_its_members, 0, 5);
	tcase_add_test(ends, many_worlds_may_be_made_and_ended_in_turn);
	suite_add_tcase(suite, ends);
	TCase *files = tcase_create("files");
	tcase_set_timeout(files, 30);
	tcase_add_loop_test(files, a_race_replays_from_its_file_and_continues_after_a_restart, 0,
			    5);
	tcase_add_test(files, a_save_is_refused_when_the_disk_is_full);
	tcase_add_loop_test(files, a_second_signal_ends_at_once_and_the_file_is_complete, 0, 4);
	suite_add_tcase(suite, files);
	return suite;
}

int main(void)
{
	return check_main(make);
}
