/* libcairn with a real daemon: a mirror that is compared at every tick, results, refusals, and the
 * ends of connections. */
#include <check.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients/lib/cairn.h"
#include "protocol/packer.h"
#include "server/base/bytes.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

/* What the callbacks saw. */
struct seen {
	uint64_t frames, checked, diverged, gaps, last_tick;
	uint64_t created, removed, events, results, notices, worlds;
	uint32_t count_before;
	struct wire_result result;
	uint64_t durable_tick;
};

static char folder[] = "/tmp/cairn_client_XXXXXX";
static char address[128], data[96];
static pid_t daemon_pid;
static bool asked_to_end; /* a second signal may end a daemon that is about to end by itself */
static struct cairn *client;
static struct seen seen;
static struct reason why;

static void expect_ok(enum status status)
{
	ck_assert_msg(status == STATUS_OK, "%s: %s (%s)", status_name(status), why.text, why.field);
}

static void on_frame(void *context, uint64_t sub, const struct mirror *mirror)
{
	ck_assert_ptr_eq(context, &seen);
	ck_assert(sub >= 7 && sub <= 9);
	ck_assert(mirror->complete);
	seen.checked += mirror->checked;
	seen.gaps += seen.frames > 0 && mirror->tick > seen.last_tick + 1;
	seen.last_tick = mirror->tick;
	seen.frames++;
	for (uint32_t i = 1; i < mirror->count; i++)
		ck_assert_uint_lt(mirror->bodies[i - 1].id, mirror->bodies[i].id);
}

static void on_event(void *context, uint64_t sub, uint64_t tick, const struct event *event)
{
	UNUSED(context);
	UNUSED(sub);
	UNUSED(tick);
	ck_assert_uint_gt(event->kind, 0);
	seen.events++;
}

static void on_result(void *context, uint32_t world, const struct wire_result *result)
{
	UNUSED(context);
	UNUSED(world);
	seen.results++;
	seen.result = *result;
}

static void on_durable(void *context, uint32_t world, uint64_t epoch, uint64_t tick, uint64_t edit)
{
	UNUSED(edit);
	UNUSED(context);
	UNUSED(world);
	UNUSED(epoch);
	seen.durable_tick = tick;
}

static void on_notice(void *context, const struct msg_notice *notice)
{
	UNUSED(context);
	UNUSED(notice);
	seen.notices++;
}

static void on_world(void *context, const struct msg_world_info *info)
{
	UNUSED(context);
	UNUSED(info);
	seen.worlds++;
}

static void on_diverged(void *context, uint64_t sub, uint64_t tick)
{
	UNUSED(context);
	UNUSED(sub);
	UNUSED(tick);
	seen.diverged++;
}

static struct cairn_options options(void)
{
	return (struct cairn_options){
		.name = "test",
		.callbacks = { on_frame, on_event, on_result, on_durable, on_notice, on_world, NULL,
			       on_diverged, &seen },
	};
}

static struct cairn *dial(struct cairn_options ask)
{
	struct cairn *made;
	expect_ok(cairn_connect(address, &ask, &made, &why));
	return made;
}

/* The socket file exists a moment before the daemon listens. */
static bool is_listening(const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	bool there = connect(fd, (struct sockaddr *)&un, sizeof un) == 0;
	close(fd);
	return there;
}

static void start_with(bool keeps)
{
	char program[4096], path[96];
	const char *build = getenv("CAIRN_BUILDDIR");
	snprintf(program, sizeof program, "%s/cairnd", build != NULL ? build : ".");
	snprintf(folder, sizeof folder, "/tmp/cairn_client_XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/s", folder);
	snprintf(data, sizeof data, "%s/data", folder);
	snprintf(address, sizeof address, "unix:%s", path);
	asked_to_end = false;
	daemon_pid = fork();
	ck_assert_int_ge(daemon_pid, 0);
	if (daemon_pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, "--log", "error", "--unix", path, keeps ? "--data" : NULL,
		      data, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 2000 && !is_listening(path); i++)
		usleep(5000);
	memset(&seen, 0, sizeof seen);
	client = dial(options());
}

static void start(void)
{
	start_with(false);
}

static void start_with_disk(void)
{
	start_with(true);
}

static void ask_to_end(void)
{
	if (!asked_to_end)
		kill(daemon_pid, SIGTERM);
	asked_to_end = true;
}

static void end(void)
{
	char command[128];
	cairn_close(client);
	client = NULL;
	ask_to_end();
	int status = -1;
	waitpid(daemon_pid, &status, 0);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "cairnd ended with %d",
		      status);
	snprintf(command, sizeof command, "rm -r %s", folder);
	ck_assert_int_eq(system(command), 0);
}

/* ---- worlds to watch ------------------------------------------------------------------------------- */

static struct cairn_world make_world(const char *name, uint32_t rate)
{
	uint8_t packed[64];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct cairn_world world;
	wire_pack_string(&out, "rate");
	wire_pack_array(&out, 2);
	wire_pack_uint(&out, rate);
	wire_pack_uint(&out, 1);
	struct wire_list list = { packed, out.bytes, 1 };
	expect_ok(cairn_create(client, name, &list, &world, &why));
	expect_ok(cairn_join(client, name, &world, &why));
	return world;
}

static struct name32 sphere(uint32_t world)
{
	struct bytes bytes = { 0 };
	struct writer writer = writer_into(&bytes);
	struct name32 name;
	write_u8(&writer, 1);
	write_u8(&writer, 1);
	write_f64(&writer, 0.5);
	ck_assert_int_eq(writer_status(&writer), STATUS_OK);
	expect_ok(cairn_shape(client, world, bytes.data, bytes.count, &name, &why));
	bytes_release(&bytes);
	return name;
}

static struct command spawn_of(int64_t shape, struct attachment *attachment, struct rng *rng)
{
	struct command spawn;
	command_defaults(&spawn, COMMAND_SPAWN);
	*attachment = (struct attachment){ .shape = shape, .rotation = { 1, 0, 0, 0 } };
	double x = rng_range(rng, -4, 4);
	double y = rng_range(rng, 1, 6);
	spawn.spawn.position = (vec3){ x, y, 0 };
	spawn.spawn.shapes = (struct attachment_list){ attachment, 1 };
	return spawn;
}

static void step_with(uint32_t world, const struct command *commands, uint32_t count,
		      struct wire_result *result, struct message *stepped)
{
	struct cairn_step ask = { .n = 1, .commands = commands, .command_count = count };
	expect_ok(cairn_step(client, world, &ask, stepped, &why));
	struct wire_cursor in = wire_cursor_list(&stepped->stepped.results);
	ck_assert_uint_eq(stepped->stepped.results.count, count > 0);
	if (count > 0)
		ck_assert_int_eq(result_take(&in, result), STATUS_OK);
}

/* ---- cases ----------------------------------------------------------------------------------------- */

/* Table: choices of columns; those with all columns of the tick hash get the tick hash, the others
 * the view hash. */
static const struct {
	enum wire_profile profile;
	wire_mask fields;
} views[] = {
	{ WIRE_PROFILE_EXACT, 127 }, { WIRE_PROFILE_EXACT, 31 }, { WIRE_PROFILE_EXACT, 1 },
	{ WIRE_PROFILE_PLAIN, 127 }, { WIRE_PROFILE_PLAIN, 96 }, { WIRE_PROFILE_VIEW, 127 },
	{ WIRE_PROFILE_SIM, 31 },    { WIRE_PROFILE_VIEW, 3 },
};

/* Bodies are made, pushed, changed and removed in lock-step. No tick may be missing, and the mirror
 * must have the hash of each tick; the tick hash must also be the one in STEPPED. */
START_TEST(a_mirror_has_the_hash_of_every_tick)
{
	enum { TICKS = 1000 };
	struct rng rng = rng_seeded(check_seed());
	struct wire_result result;
	struct message stepped;
	struct attachment attachment;
	uint32_t bodies[64], count = 0;
	struct cairn_world world = make_world("w", 60);
	struct name32 name = sphere(world.number);
	struct command use;
	command_defaults(&use, COMMAND_SHAPE_USE);
	use.shape_use.name = name;
	step_with(world.number, &use, 1, &result, &stepped);
	int64_t shape = result_value(&result, 0);
	expect_ok(cairn_subscribe(client,
				  &(struct cairn_subscription){ .sub = 7,
								.world = world.number,
								.fields = views[_i].fields,
								.profile = views[_i].profile,
								.events = UINT32_MAX },
				  &why));
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		struct command commands[3];
		uint32_t used = 0;
		bool spawn = count < 64 && rng_below(&rng, 4) == 0;
		if (spawn)
			commands[used++] = spawn_of(shape, &attachment, &rng);
		if (count > 8 && rng_below(&rng, 6) == 0) {
			command_defaults(&commands[used], COMMAND_REMOVE);
			uint32_t at = rng_below(&rng, count);
			commands[used++].remove.body = bodies[at];
			bodies[at] = bodies[--count];
			seen.removed++;
		}
		if (count > 0 && rng_below(&rng, 5) == 0) {
			command_defaults(&commands[used], COMMAND_SET_TAG);
			commands[used].set_tag.body = bodies[rng_below(&rng, count)];
			commands[used++].set_tag.tag = tick;
		}
		step_with(world.number, commands, used, &result, &stepped);
		if (spawn) {
			bodies[count++] = result_value(&result, 0);
			seen.created++;
		}
		uint64_t hash = stepped.stepped.tick_hash.value, now = stepped.stepped.tick;
		const struct mirror *mirror = cairn_mirror(client, 7);
		for (int i = 0; i < 100 && mirror->tick < now; i++)
			ck_assert_int_ne(cairn_poll(client, 100, &why), STATUS_CLOSED);
		ck_assert_uint_eq(mirror->tick, now);
		ck_assert_uint_eq(mirror->count, count);
		if ((views[_i].fields & WIRE_COLUMNS_TICK) == WIRE_COLUMNS_TICK &&
		    !wire_profile_quantised(views[_i].profile))
			ck_assert_uint_eq(mirror_tick_hash(mirror, now), hash);
	}
	ck_assert_uint_ge(seen.frames, TICKS);
	ck_assert_uint_eq(seen.checked, seen.frames);
	ck_assert_uint_eq(seen.gaps + seen.diverged + seen.notices, 0);
	ck_assert_uint_gt(seen.created, 50);
	ck_assert_uint_gt(seen.removed, 20);
	ck_assert_uint_gt(seen.events, 0);
}
END_TEST

START_TEST(results_of_a_running_world_come_with_their_ids)
{
	struct wire_result result;
	struct command spawn;
	struct cairn_world world = make_world("w", 240);
	expect_ok(cairn_control(client, world.number, WIRE_CONTROL_RESUME, 1, &world, &why));
	ck_assert_int_eq(world.mode, WIRE_MODE_RUNNING);
	command_defaults(&spawn, COMMAND_SPAWN);
	spawn.spawn.position = (vec3){ 1, 2, 3 };
	for (uint32_t id = 1; id <= 20; id++) {
		expect_ok(cairn_apply(client, world.number, &spawn, 1, &result, &why));
		ck_assert_uint_eq(result_value(&result, 0), id);
	}
	/* Several batches at once; each gets one result. */
	uint64_t batch = 0, before = seen.results;
	for (int i = 0; i < 50; i++)
		expect_ok(cairn_commands(client, world.number, &spawn, 1, CAIRN_NEXT_TICK,
					 WIRE_LATE_APPLY, &batch, &why));
	while (seen.results < before + 50)
		expect_ok(cairn_poll(client, 5000, &why));
	ck_assert_uint_eq(seen.result.batch, batch);
	while (seen.durable_tick <= seen.result.tick)
		expect_ok(cairn_poll(client, 5000, &why));
}
END_TEST

/* Batches are numbered in each world, so batches of two worlds have equal numbers. The faster world
 * answers first. */
START_TEST(a_batch_is_completed_by_the_result_of_its_own_world)
{
	struct cairn_world slow = make_world("slow", 2), fast = make_world("fast", 240);
	struct wire_result result;
	struct command spawn, remove;
	uint32_t overtaken = 0;
	expect_ok(cairn_control(client, slow.number, WIRE_CONTROL_RESUME, 1, &slow, &why));
	expect_ok(cairn_control(client, fast.number, WIRE_CONTROL_RESUME, 1, &fast, &why));
	command_defaults(&spawn, COMMAND_SPAWN);
	command_defaults(&remove, COMMAND_REMOVE);
	remove.remove.body = 4711;
	for (uint64_t round = 1; round <= 4; round++) {
		uint64_t batch, before = seen.results;
		expect_ok(cairn_commands(client, fast.number, &spawn, 1, CAIRN_NEXT_TICK,
					 WIRE_LATE_APPLY, &batch, &why));
		ck_assert_uint_eq(batch, round);
		ck_assert_int_eq(cairn_apply(client, slow.number, &remove, 1, &result, &why),
				 STATUS_UNKNOWN_BODY);
		ck_assert_uint_eq(result.batch, round);
		ck_assert_int_eq(result.code, STATUS_UNKNOWN_BODY);
		overtaken += seen.results == before + 2;
		while (seen.results < before + 2)
			expect_ok(cairn_poll(client, 5000, &why));
	}
	ck_assert_uint_gt(overtaken, 0);
}
END_TEST

START_TEST(ending_a_subscription_does_not_affect_others)
{
	struct cairn_world world = make_world("w", 60);
	for (uint64_t sub = 7; sub <= 9; sub++) {
		struct cairn_subscription ask = { .sub = sub, .world = world.number, .divisor = 1 };
		expect_ok(cairn_subscribe(client, &ask, &why));
	}
	expect_ok(cairn_unsubscribe(client, 7, &why));
	ck_assert_ptr_null(cairn_mirror(client, 7));
	ck_assert_ptr_nonnull(cairn_mirror(client, 8));
	ck_assert_ptr_nonnull(cairn_mirror(client, 9));
	expect_ok(cairn_unsubscribe(client, 9, &why));
	ck_assert_ptr_nonnull(cairn_mirror(client, 8));
	ck_assert_int_eq(cairn_unsubscribe(client, 7, &why), STATUS_UNKNOWN_SUBSCRIPTION);
}
END_TEST

START_TEST(a_refusal_carries_the_servers_status_and_field)
{
	struct cairn_world world = make_world("w", 60), other;
	struct wire_result result;
	struct message stepped;
	struct command commands[2];
	ck_assert_int_eq(cairn_create(client, "w", NULL, &other, &why), STATUS_EXISTS);
	ck_assert_int_eq(cairn_join(client, "none", &other, &why), STATUS_UNKNOWN_WORLD);
	ck_assert_int_eq(cairn_create(client, "a b", NULL, &other, &why), STATUS_RANGE);
	command_defaults(&commands[0], COMMAND_SPAWN);
	command_defaults(&commands[1], COMMAND_REMOVE);
	commands[1].remove.body = 99;
	step_with(world.number, commands, 2, &result, &stepped);
	ck_assert_int_eq(result.code, STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(result.index, 1);
	struct cairn_step step = { .n = 1, .from = { true, 4711 } };
	ck_assert_int_eq(cairn_step(client, world.number, &step, &stepped, &why), STATUS_TICK);
	ck_assert_str_eq(why.field, "from");
	/* The connection still works. */
	expect_ok(cairn_join(client, "w", &other, &why));
}
END_TEST

/* Sets number k of a field that has numbers; false: it has fewer. */
static bool set_number(const struct command_field *field, struct command *command, uint32_t k,
		       double value)
{
	uint32_t count = field->type == FIELD_F64    ? 1
			 : field->type == FIELD_VEC3 ? 3
			 : field->type == FIELD_QUAT ? 4
						     : 0;
	if (k < count)
		((double *)((uint8_t *)command + field->offset))[k] = value;
	return k < count;
}

/* The defaults, with ids and a parameter that exist, and a table of one point. */
static void set_valid(const struct command_info *info, struct command *command)
{
	command_defaults(command, info->op);
	for (uint32_t i = 0; i < info->field_count; i++) {
		enum field_type type = info->fields[i].type;
		if (type == FIELD_BODY || type == FIELD_JOINT || type == FIELD_SHAPE ||
		    type == FIELD_FORCE_FIELD || type == FIELD_PARTICLES)
			*(int64_t *)((uint8_t *)command + info->fields[i].offset) = 1;
	}
	static const struct joint_point POINT = { 0, 0 };
	if (info->op == COMMAND_PARTICLES_CREATE)
		command->particles_create.name = (struct text32){ "dust" };
	if (info->op == COMMAND_JOINT_TABLE)
		command->joint_table.points = (struct point_list){ &POINT, 1 };
	if (info->op == COMMAND_PARAMETER)
		snprintf(command->parameter.name.text, sizeof command->parameter.name.text,
			 "sleep.time");
}

/* NaN, infinities and 1e308 in each number of each command: the refusal names the field, nothing
 * changes, and the connection still works. */
START_TEST(extreme_numbers_are_refused_by_the_name_of_their_field)
{
	static const double EXTREMES[] = { NAN, INFINITY, -INFINITY, 1e308, -1e308 };
	struct cairn_world world = make_world("extremes", 60), after;
	struct command first[2];
	struct wire_result made;
	command_defaults(&first[0], COMMAND_SPAWN);
	first[0].spawn.status = 2;
	command_defaults(&first[1], COMMAND_JOINT_CREATE);
	first[1].joint_create.body_b = 1;
	expect_ok(cairn_apply(client, world.number, first, 2, &made, &why));
	uint32_t ops, refused = 0;
	const struct command_info *list = command_list(&ops);
	for (uint32_t i = 0; i < ops; i++)
		for (uint32_t f = 0; !list[i].reserved && f < list[i].field_count; f++)
			for (uint32_t k = 0; k < 4 * COUNT_OF(EXTREMES); k++) {
				const struct command_field *field = &list[i].fields[f];
				struct command command;
				struct wire_result result;
				set_valid(&list[i], &command);
				if (!set_number(field, &command, k / COUNT_OF(EXTREMES),
						EXTREMES[k % COUNT_OF(EXTREMES)]))
					continue;
				enum status status = cairn_apply(client, world.number, &command, 1,
								 &result, &why);
				ck_assert_msg(status == STATUS_NOT_FINITE || status == STATUS_RANGE,
					      "%s.%s: %s", list[i].name, field->name,
					      status_name(status));
				ck_assert_str_eq(why.field, field->name);
				refused++;
			}
	ck_assert_uint_gt(refused, 500);
	expect_ok(cairn_join(client, "extremes", &after, &why));
	ck_assert_uint_eq(after.bodies, 1);
}
END_TEST

/* Two worlds in one message: a force in each, of which one is not finite. */
START_TEST(many_worlds_are_stepped_by_one_message)
{
	uint8_t actions[64], observe[64];
	struct wire_packer action = wire_packer_over(actions, sizeof actions);
	struct wire_packer part = wire_packer_over(observe, sizeof observe);
	uint32_t worlds[2];
	for (uint32_t i = 0; i < 2; i++) {
		struct command spawn;
		struct wire_result result;
		worlds[i] = make_world(i == 0 ? "one" : "two", 60).number;
		command_defaults(&spawn, COMMAND_SPAWN);
		spawn.spawn.status = 2;
		spawn.spawn.mass = 1;
		expect_ok(cairn_apply(client, worlds[i], &spawn, 1, &result, &why));
	}
	wire_pack_array(&action, 3);
	wire_pack_uint(&action, COMMAND_IMPULSE);
	wire_pack_uint(&action, 1);
	wire_pack_nil(&action);
	wire_pack_array(&part, 3);
	wire_pack_uint(&part, OBSERVE_BODIES);
	wire_pack_array(&part, 1);
	wire_pack_uint(&part, 1);
	wire_pack_uint(&part, WIRE_COLUMN_VELOCITY);
	const double values[] = { 2, 0, 0, NAN, 0, 0 };
	const struct cairn_group group = { .worlds = worlds,
					   .count = 2,
					   .n = 1,
					   .actions = { actions, action.bytes, 1 },
					   .values = values,
					   .value_count = COUNT_OF(values),
					   .observe = { observe, part.bytes, 1 },
					   .hash = true };
	for (uint32_t round = 1; round <= 2; round++) {
		struct message stepped;
		struct wire_group_item item;
		expect_ok(cairn_step_worlds(client, &group, &stepped, &why));
		struct wire_cursor in = wire_cursor_list(&stepped.stepped_worlds.worlds);
		ck_assert_uint_eq(stepped.stepped_worlds.width, 3);
		expect_ok(group_item_take(&in, &item));
		ck_assert_uint_eq(item.tick, round);
		ck_assert(item.state_hash.set);
		ck_assert_double_eq_tol(cairn_observed(&stepped, 0), 2 * round, 1e-9);
		expect_ok(group_item_take(&in, &item));
		ck_assert_int_eq(item.code, STATUS_NOT_FINITE);
		ck_assert_uint_eq(item.tick, 0);
		ck_assert_uint_eq(item.field.bytes, strlen("impulse"));
		ck_assert_double_eq(cairn_observed(&stepped, 3), 0);
	}
}
END_TEST

/* The answer is several messages, and other messages may arrive between them. */
START_TEST(a_list_longer_than_one_read_is_received_whole)
{
	enum { WORLDS = 300 };
	static struct cairn_world worlds[WORLDS + 1];
	uint32_t count;
	char name[32];
	for (int i = 0; i < WORLDS; i++) {
		snprintf(name, sizeof name, "world-%d", i);
		struct cairn_world made;
		expect_ok(cairn_create(client, name, NULL, &made, &why));
	}
	for (int round = 0; round < 20; round++) {
		expect_ok(cairn_worlds(client, worlds, WORLDS + 1, &count, &why));
		ck_assert_uint_eq(count, WORLDS);
		for (int i = 0; i < WORLDS; i++)
			ck_assert_uint_eq(worlds[i].number, (uint32_t)i + 1);
	}
	/* A shorter array gets the first entries; the others are read from the connection and
	 * dropped. */
	expect_ok(cairn_worlds(client, worlds, 3, &count, &why));
	ck_assert_uint_eq(count, WORLDS);
	expect_ok(cairn_join(client, "world-299", &worlds[0], &why));
}
END_TEST

START_TEST(a_call_without_an_answer_times_out)
{
	struct cairn_options ask = options();
	struct command spawn;
	struct wire_result result;
	struct cairn_world world;
	ask.timeout_ms = 200;
	world = make_world("w", 60);
	expect_ok(cairn_control(client, world.number, WIRE_CONTROL_LOCKSTEP, 1, &world, &why));
	struct cairn *second = dial(ask);
	expect_ok(cairn_join(second, "w", &world, &why));
	command_defaults(&spawn, COMMAND_SPAWN);
	/* In a world that another session steps, a batch waits. */
	ck_assert_int_eq(cairn_apply(second, world.number, &spawn, 1, &result, &why), STATUS_AGAIN);
	cairn_close(second);
}
END_TEST

START_TEST(a_lower_role_is_granted_and_enforced)
{
	struct cairn_options ask = options();
	struct cairn_world world;
	struct message saved;
	(void)make_world("w", 60);
	ask.role = WIRE_ROLE_PLAYER;
	struct cairn *second = dial(ask);
	ck_assert_int_eq(cairn_session(second)->role, WIRE_ROLE_PLAYER);
	expect_ok(cairn_join(second, "w", &world, &why));
	ck_assert_int_eq(cairn_save(second, world.number, "s", &saved, &why), STATUS_FORBIDDEN);
	cairn_close(second);
}
END_TEST

START_TEST(connecting_without_a_server_is_refused)
{
	struct cairn *none = NULL;
	struct cairn_options ask = options();
	ck_assert_int_ne(cairn_connect("unix:/nonexistent/s", &ask, &none, &why), STATUS_OK);
	ck_assert_int_eq(cairn_connect("pigeon:1", &ask, &none, &why), STATUS_RANGE);
	ck_assert_ptr_null(none);
}
END_TEST

START_TEST(the_status_of_goodbye_is_returned_by_poll)
{
	ask_to_end();
	enum status status;
	do
		status = cairn_poll(client, 5000, &why);
	while (status == STATUS_OK || status == STATUS_AGAIN);
	ck_assert_int_eq(status, STATUS_DRAINING);
}
END_TEST

/* Connections break at random moments; the session, batch numbers, bodies and mirrors survive. */
START_TEST(a_lost_connection_resumes_its_session)
{
	struct cairn_options ask = options();
	struct command spawn;
	ask.resumes = true;
	struct cairn_world world = make_world("w", 240);
	expect_ok(cairn_control(client, world.number, WIRE_CONTROL_RESUME, 1, &world, &why));
	struct cairn *other = dial(ask);
	uint32_t session = cairn_session(other)->number;
	expect_ok(cairn_join(other, "w", &world, &why));
	const struct wire_area around = { .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 50 } };
	const struct cairn_sight sight = { .areas = &around, .area_count = 1 };
	expect_ok(cairn_subscribe(other,
				  &(struct cairn_subscription){ .sub = 7,
								.world = world.number,
								.profile = WIRE_PROFILE_SIM,
								.sight = &sight },
				  &why));
	/* These bodies do not move, so their positions are known at any time. */
	command_defaults(&spawn, COMMAND_SPAWN);
	spawn.spawn.status = BODY_STATIC;
	uint64_t batch = 0, before = seen.results;
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20; i++) {
			spawn.spawn.position = (vec3){ i % 5 == 0 ? 100 : 1, 2, 3 };
			expect_ok(cairn_commands(other, world.number, &spawn, 1, CAIRN_NEXT_TICK,
						 WIRE_LATE_APPLY, &batch, &why));
			if (i % 7 == round)
				ck_assert_int_ne(cairn_poll(other, 5, &why), STATUS_CLOSED);
		}
		shutdown(cairn_fd(other), SHUT_RDWR);
		enum status status;
		do
			status = cairn_poll(other, 1000, &why);
		while (status == STATUS_OK || status == STATUS_AGAIN);
		expect_ok(cairn_resume(other, &why));
		ck_assert_uint_eq(cairn_session(other)->number, session);
	}
	while (seen.results < before + 100)
		expect_ok(cairn_poll(other, 5000, &why));
	/* A result that was on its way as the connection broke may come again, so their number does
	 * not say that the last batch, whose body is in the area, has been applied. */
	const struct mirror *mirror = cairn_mirror(other, 7);
	while (mirror->count < 80)
		expect_ok(cairn_poll(other, 5000, &why));
	expect_ok(cairn_control(client, world.number, WIRE_CONTROL_PAUSE, 1, &world, &why));
	ck_assert_uint_eq(world.bodies, 100);
	while (mirror->tick < world.tick)
		expect_ok(cairn_poll(other, 5000, &why));
	ck_assert_uint_eq(mirror->count, 80);
	ck_assert_uint_eq(seen.diverged, 0);
	/* Moving the area brings in bodies that were outside it. */
	const struct wire_area wide = { .kind = WIRE_AREA_BALL, .numbers = { 0, 0, 0, 500 } };
	const struct cairn_sight all = { .areas = &wide, .area_count = 1 };
	expect_ok(cairn_focus(other, 7, &all, &why));
	while (mirror->count < 100)
		expect_ok(cairn_poll(other, 5000, &why));
	cairn_close(other);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("client");
	TCase *replica = tcase_create("replica"), *calls = tcase_create("calls");
	TCase *disk = tcase_create("disk");
	tcase_add_checked_fixture(replica, start, end);
	tcase_set_timeout(replica, 30);
	tcase_add_loop_test(replica, a_mirror_has_the_hash_of_every_tick, 0, COUNT_OF(views));
	suite_add_tcase(suite, replica);
	tcase_add_checked_fixture(calls, start, end);
	tcase_add_test(calls, a_refusal_carries_the_servers_status_and_field);
	tcase_add_test(calls, a_batch_is_completed_by_the_result_of_its_own_world);
	tcase_add_test(calls, ending_a_subscription_does_not_affect_others);
	tcase_add_test(calls, a_list_longer_than_one_read_is_received_whole);
	tcase_add_test(calls, a_call_without_an_answer_times_out);
	tcase_add_test(calls, extreme_numbers_are_refused_by_the_name_of_their_field);
	tcase_add_test(calls, many_worlds_are_stepped_by_one_message);
	tcase_add_test(calls, a_lower_role_is_granted_and_enforced);
	tcase_add_test(calls, connecting_without_a_server_is_refused);
	tcase_add_test(calls, the_status_of_goodbye_is_returned_by_poll);
	tcase_add_test(calls, a_lost_connection_resumes_its_session);
	suite_add_tcase(suite, calls);
	tcase_add_checked_fixture(disk, start_with_disk, end);
	tcase_add_test(disk, results_of_a_running_world_come_with_their_ids);
	suite_add_tcase(suite, disk);
	return suite;
}

int main(void)
{
	return check_main(make);
}
