/* The n-th allocation of the daemon fails, for every n of a run that uses every kind of request. The
 * daemon must not crash or report a wrong state. It must free all memory and serve the next client
 * normally.
 *
 * The suite tries CASES * TRIES values of n, spread evenly; SEEDS=0 in the environment tries each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/query_wire.h"
#include "server/base/heap.h"
#include "server/store/replay.h"
#include "tests/lib/check_main.h"
#include "tests/lib/recorder.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { CASES = 16, TRIES = 8 }; /* loop cases of the suite; values of n in each */

struct run {
	struct server_sim *sim;
	struct sim_client *admin, *player;
	uint32_t world;
	uint64_t batches[2];
	uint32_t asked, answered;
};

/* Sends a request up to three times, until it succeeds. NULL if it never did. */
static const struct message *request_until_done(struct run *run, struct sim_client *client,
						struct message *request, enum message_type answer)
{
	for (int i = 0; i < 3; i++) {
		run->asked++;
		const struct message *message = sim_ask(client, request, answer);
		/* Every request is answered, or the connection ends. */
		ck_assert(message != NULL || client->closed);
		run->answered += message != NULL;
		if (message == NULL || message->type == answer)
			return message;
		/* A SAVE may be kept in memory and miss the disk. */
		ck_assert_msg(message->error.code == STATUS_NO_MEMORY ||
				      (request->type == MESSAGE_SAVE &&
				       message->error.code == STATUS_NOT_STORED),
			      "message %d: status %d: %.*s", (int)request->type,
			      (int)message->error.code, (int)message->error.text.bytes,
			      (const char *)message->error.text.at);
	}
	return NULL;
}

static bool join_world(struct run *run, struct sim_client *client, const char *name)
{
	struct message join;
	message_init(&join, MESSAGE_WORLD_JOIN);
	join.world_join.ref = sim_ref(client);
	join.world_join.name = wire_text(name);
	const struct message *info = request_until_done(run, client, &join, MESSAGE_WORLD_INFO);
	if (info == NULL)
		return false;
	run->world = (uint32_t)info->world_info.world;
	return true;
}

static bool make_world(struct run *run)
{
	struct message create;
	message_init(&create, MESSAGE_WORLD_CREATE);
	create.world_create.ref = sim_ref(run->admin);
	create.world_create.name = wire_text("demo");
	return request_until_done(run, run->admin, &create, MESSAGE_WORLD_INFO) != NULL &&
	       join_world(run, run->admin, "demo");
}

static bool upload(struct run *run, enum test_shape which)
{
	const struct shape *shape = test_shape(which);
	struct message part;
	message_init(&part, MESSAGE_SHAPE_UPLOAD);
	part.shape_upload.ref = sim_ref(run->admin);
	part.shape_upload.world = run->world;
	part.shape_upload.of = 1;
	part.shape_upload.data =
		(struct wire_slice){ shape->canonical, (uint32_t)shape->canonical_bytes };
	memcpy(part.shape_upload.shape.bytes, shape->name, SHAPE_NAME_BYTES);
	return request_until_done(run, run->admin, &part, MESSAGE_SHAPE_INFO) != NULL;
}

/* STEP with commands; a refused STEP is sent again under a new number. */
static bool step(struct run *run, const struct command *commands, uint32_t count)
{
	for (int i = 0; i < 3; i++) {
		run->asked++;
		const struct message *message =
			sim_step(run->admin, run->world, 3, 31, commands, count);
		ck_assert(message != NULL || run->admin->closed);
		run->answered += message != NULL;
		if (message == NULL)
			return false;
		if (message->type == MESSAGE_STEPPED)
			return true;
		ck_assert_int_eq(message->error.code, STATUS_NO_MEMORY);
	}
	return false;
}

static bool named(struct run *run, enum message_type type, enum message_type answer)
{
	struct message message;
	message_init(&message, type);
	uint64_t ref = sim_ref(run->admin);
	if (type == MESSAGE_SAVE) {
		message.save.ref = ref;
		message.save.world = run->world;
		message.save.name = wire_text("kept");
	} else if (type == MESSAGE_RESTORE) {
		message.restore.ref = ref;
		message.restore.world = run->world;
		message.restore.name = wire_text("kept");
	} else if (type == MESSAGE_FORK) {
		message.fork.ref = ref;
		message.fork.world = run->world;
		message.fork.name = wire_text("copy");
	} else if (type == MESSAGE_INFO) {
		message.info.ref = ref;
	} else {
		message.control.ref = ref;
		message.control.world = run->world;
		message.control.action = WIRE_CONTROL_RESUME;
	}
	return request_until_done(run, run->admin, &message, answer) != NULL;
}

static bool ask_query(struct run *run, enum wire_query_kind kind)
{
	uint8_t packed[256];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct wire_query query;
	struct message message;
	query_init(&query, kind);
	query.origin[1] = 100;
	query.direction[1] = -1;
	query.length = 200;
	query.limit = 8;
	query.body = kind == WIRE_QUERY_LINKED ? 2 : 0;
	query.joint = 1;
	message_init(&message, MESSAGE_QUERY);
	message.query.id = sim_ref(run->admin);
	message.query.world = run->world;
	message.query.query.count = query_pack(&out, &query);
	message.query.query.at = packed;
	message.query.query.bytes = out.bytes;
	return request_until_done(run, run->admin, &message, MESSAGE_ANSWER) != NULL;
}

/* A batch of the player's that spawns a body of its own with tag `tag`. */
static void send_player_batch(struct run *run, int64_t tag)
{
	struct command spawn = sim_spawn(0, 5, 0, tag, false);
	run->batches[tag - 100] =
		sim_commands(run->player, run->world, &spawn, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(run->sim, 200 * NS_PER_MS);
}

static struct sim_client *guest(struct run *run, const char *address, const char *role)
{
	struct sim_client_options options = sim_client_options_default();
	options.address = address;
	options.role = role;
	/* A client that is refused because memory failed connects again. */
	for (int i = 0; i < 3; i++) {
		struct sim_client *client = server_sim_client(run->sim, &options);
		server_sim_run(run->sim, 300 * NS_PER_MS);
		if (client->open)
			return client;
		ck_assert(run->sim->failed);
	}
	ck_abort_msg("no connection was accepted");
	return NULL;
}

/* Uses every kind of request in turn. Returns at the first request that does not succeed. */
static void script(struct run *run)
{
	struct command commands[4];
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	commands[1] = sim_spawn(0, 3, 0, 1, true);
	commands[2] = sim_spawn(0.2, 4.5, 0, 2, true);
	command_defaults(&commands[3], COMMAND_JOINT_CREATE);
	commands[3].joint_create.type = JOINT_SPHERICAL;
	commands[3].joint_create.body_a = -2;
	commands[3].joint_create.body_b = -3;
	commands[3].joint_create.point_a = (vec3){ 0, 4, 0 };
	commands[3].joint_create.place = 1;
	run->admin = guest(run, SIM_UNIX, NULL);
	if (!make_world(run) || !upload(run, TEST_SPHERE) || !upload(run, TEST_HULL))
		return;
	run->admin->options.joints = WIRE_JOINT_COLUMNS_ALL;
	sim_subscribe(run->admin, 1, run->world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0x1fe);
	if (!step(run, commands, 4) || !ask_query(run, WIRE_QUERY_RAY) ||
	    !ask_query(run, WIRE_QUERY_JOINT) || !ask_query(run, WIRE_QUERY_JOINTS) ||
	    !ask_query(run, WIRE_QUERY_LINKED) || !ask_query(run, WIRE_QUERY_FORCES) ||
	    !ask_query(run, WIRE_QUERY_FIELDS))
		return;
	run->player = guest(run, SIM_TCP, "player");
	if (!join_world(run, run->player, "demo"))
		return;
	sim_subscribe(run->player, 1, run->world, 31, WIRE_PROFILE_PLAIN, 2, 0);
	sim_subscribe(run->player, 2, run->world, WIRE_COLUMNS_ALL, WIRE_PROFILE_VIEW, 1, 0);
	const uint32_t one = 2;
	run->player->options.joints = WIRE_JOINT_COLUMNS_ALL;
	sim_subscribe_part(run->player, 3, run->world, WIRE_COLUMNS_TICK, WIRE_PROFILE_SIM, 0, 0,
			   NULL, 0, &one, 1);
	if (!named(run, MESSAGE_SAVE, MESSAGE_SAVED) ||
	    !named(run, MESSAGE_CONTROL, MESSAGE_WORLD_INFO))
		return;
	send_player_batch(run, 100);
	if (!named(run, MESSAGE_FORK, MESSAGE_FORKED) || !named(run, MESSAGE_INFO, MESSAGE_REPLY))
		return;
	if (!named(run, MESSAGE_RESTORE, MESSAGE_RESTORED))
		return;
	send_player_batch(run, 101);
	sim_disconnect(run->player);
	server_sim_run(run->sim, 100 * NS_PER_MS);
}

static bool has_tag(const struct world *world, int64_t tag)
{
	body_id ids[64];
	uint32_t count = world_bodies(world, ids, COUNT_OF(ids));
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view;
		ck_assert_int_eq(world_body(world, ids[i], &view), STATUS_OK);
		if (view.tag == tag)
			return true;
	}
	return false;
}

/* The RESULT of the player's last batch agrees with the world. (RESTORE undid the batch before.) */
static void check_batches(const struct run *run)
{
	if (run->player == NULL || run->batches[1] == 0)
		return;
	const struct world *world = server_sim_world(run->sim, run->world);
	const struct sim_result *result = sim_result(run->player, run->world, run->batches[1]);
	ck_assert(result != NULL || run->player->closed);
	if (result != NULL)
		ck_assert_int_eq(has_tag(world, 101), result->code == STATUS_OK);
}

/* A client that connects after the failure gets a world, a STEP and a correct mirror. */
static void serve_another(struct run *run)
{
	struct sim_client_options options = sim_client_options_default();
	uint64_t fail_in = run->sim->fail_in;
	run->sim->fail_in = 0;
	struct sim_client *client = server_sim_guest(run->sim, &options);
	uint32_t world = sim_make_world(client, "after", NULL);
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	sim_subscribe(client, 9, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	const struct message *stepped = sim_step(client, world, 5, 1, &spawn, 1);
	ck_assert_ptr_nonnull(stepped);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	ck_assert(sim_caught_up(client, 9, NS_PER_S));
	run->sim->fail_in = fail_in;
}

/* The file replays to the same states. If the failed allocation was the journal's own, the file may
 * be incomplete, and its replay may end with an error. */
static void check_file(const char *directory, const char *world, bool failed)
{
	char path[RECORDER_PATH + 80];
	struct replay_report report;
	struct reason why;
	snprintf(path, sizeof path, "%s/%s.cairn", directory, world);
	struct replay_options options = { .file = path, .verify = true };
	enum status status = replay_file(&options, &report, &why);
	ck_assert_msg(status == STATUS_OK || failed, "%s: %s", world, why.text);
	if (status == STATUS_OK)
		ck_assert_int_eq(report.verdict, REPLAY_SAME);
}

/* Runs the script with the allocation `fail_in` failing. Returns the number of allocating calls of the
 * daemon; 0 if the daemon did not start. */
static uint64_t run_daemon(uint64_t fail_in, bool with_files)
{
	struct server_sim_options options = server_sim_options_default(check_seed());
	char directory[RECORDER_PATH];
	struct run run = { 0 };
	options.io.quiet = true;
	if (with_files) {
		recorder_directory(directory);
		options.arguments[0] = "--data";
		options.arguments[1] = directory;
	}
	int64_t heap = heap_live();
	run.sim = server_sim_create_failing(&options, fail_in);
	uint64_t calls = 0;
	if (run.sim != NULL) {
		script(&run);
		const struct served_world *served =
			worlds_find(&run.sim->server->worlds, run.world);
		bool made = served != NULL, failed = made && served->mode == WIRE_MODE_FAILED;
		check_batches(&run);
		serve_another(&run);
		ck_assert(server_sim_sound(run.sim));
		ck_assert(server_sim_drain(run.sim, 60 * NS_PER_S));
		calls = run.sim->daemon_calls;
		server_sim_destroy(run.sim);
		if (with_files && made)
			check_file(directory, "demo", failed);
	}
	ck_assert_int_eq(heap_live(), heap);
	if (with_files)
		recorder_remove(directory);
	return calls;
}

static void try_allocations(int part, bool with_files)
{
	(void)test_shape_source();
	uint64_t calls = run_daemon(0, with_files);
	ck_assert_uint_gt(calls, 100);
	bool all = getenv("SEEDS") != NULL;
	uint64_t tries = all ? calls / CASES + 1 : TRIES;
	for (uint64_t i = 0; i < tries; i++) {
		uint64_t at = all ? 1 + i * CASES + (uint64_t)part
				  : 1 + (i * CASES + (uint64_t)part) * calls / (CASES * TRIES);
		if (at <= calls)
			(void)run_daemon(at, with_files);
	}
}

START_TEST(any_one_allocation_may_fail_without_a_file)
{
	try_allocations(_i, false);
}
END_TEST

START_TEST(any_one_allocation_may_fail_with_a_file)
{
	try_allocations(_i, true);
}
END_TEST

static Suite *make_suite(void)
{
	Suite *suite = suite_create("tests/sim/memory");
	TCase *memory = tcase_create("memory");
	tcase_set_timeout(memory, 60);
	tcase_add_loop_test(memory, any_one_allocation_may_fail_without_a_file, 0, CASES);
	tcase_add_loop_test(memory, any_one_allocation_may_fail_with_a_file, 0, CASES);
	suite_add_tcase(suite, memory);
	return suite;
}

int main(void)
{
	return check_main(make_suite);
}
