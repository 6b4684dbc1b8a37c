/* Cost of receiving a command: bytes of COMMANDS frames, 50 commands each, through a whole
 * simulated daemon, on one core and without sockets. A stream of this file passes its bytes to the
 * session as io_uv does (space, copy, received) and counts the answers. All other work is the
 * daemon's: frame splitting, validation, unpacking, quota, roles, ledger, host_submit; then, in the
 * tick that takes the commands, decoding, checking, applying, results.
 *
 *	taken in   bytes to the inbox: splitting, validating, unpacking, quota, ledger, copy, inbox
 *	+ decoded  the same, and the commands as values, each checked against its limits, by the
 *	           two functions with which the boundary and the engine begin
 *	answered   bytes to RESULT frames written to the stream: a tick with all of it, including the
 *	           engine's work and the fan-out of the changes
 *
 * Times are processor time of the one thread; the clock is read as often as in a real loop. Printed
 * is the median of the turns, with least and most in brackets.
 *
 *	bench_commands [TURNS, default 9 [KIND]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/session/session.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { BATCH = 50, FRAMES = 2000, BODIES = 1000, REPEATS_MAX = 101, FRAME_BYTES = 16384 };

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "bench_commands: %s\n", what);
	exit(EXIT_FAILURE);
}

/* ---- a stream without a socket -------------------------------------------------------------------- */

struct desk {
	struct stream stream;
	struct bytes answers; /* kept where they are to be looked at */
	bool keeps;
	uint64_t frames, bytes; /* written to it */
};

static void desk_start(struct stream *stream, const struct stream_events *events, void *context)
{
	stream->events = events;
	stream->context = context;
}

static enum status desk_write(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	struct desk *desk = (struct desk *)stream;
	for (uint32_t i = 0; i < count; i++) {
		desk->frames++;
		desk->bytes += frames[i]->bytes;
		if (desk->keeps)
			check(bytes_append(&desk->answers, frames[i]->data, frames[i]->bytes) ==
				      STATUS_OK,
			      "memory");
	}
	return STATUS_OK;
}

static size_t desk_queued(const struct stream *stream)
{
	UNUSED(stream);
	return 0;
}

static void desk_nothing(struct stream *stream)
{
	UNUSED(stream);
}

static void desk_peer(const struct stream *stream, struct peer *out)
{
	UNUSED(stream);
	*out = (struct peer){ .kind = ADDRESS_UNIX, .local = true, .known = true, .uid = SIM_UID };
}

static struct server_sim *sim;

static const struct stream_ops desk_ops = {
	.start = desk_start,
	.write = desk_write,
	.queued = desk_queued,
	.resume = desk_nothing,
	.finish = desk_nothing,
	.close = desk_nothing,
	.peer = desk_peer,
};

/* The session reads READING_MESSAGES in a turn of LOOP and then pauses. Simulated time passes until it
 * reads again; the processor time of the simulation is counted in `paused_ns` and not measured. */
static uint64_t paused_ns;

static size_t wait_for_space(struct desk *desk, uint8_t **into)
{
	size_t room = desk->stream.events->space(desk->stream.context, into);
	uint64_t begun = instant_used();
	for (int i = 0; room == 0 && i < 100; i++) {
		server_sim_run(sim, NS_PER_MS);
		room = desk->stream.events->space(desk->stream.context, into);
	}
	paused_ns += instant_used() - begun;
	return room;
}

/* Delivers bytes as a read from a socket does. */
static void feed(struct desk *desk, const uint8_t *bytes, size_t count)
{
	while (count > 0) {
		uint8_t *into = NULL;
		size_t room = wait_for_space(desk, &into);
		size_t part = MIN_OF(room, count);
		check(room > 0, "the session accepts no bytes");
		memcpy(into, bytes, part);
		desk->stream.events->received(desk->stream.context, part);
		bytes += part;
		count -= part;
	}
}

static void say(struct desk *desk, const struct message *message)
{
	uint8_t bytes[FRAME_BYTES];
	uint32_t count;
	check(message_pack(message, bytes, sizeof bytes, &count) == STATUS_OK, "a message");
	feed(desk, bytes, count);
}

/* The simulated loop returns virtual time, but reads the real clock as well, because a daemon pays
 * for it. */
static struct io_ops clock_reading_ops;
static const struct io_ops *plain_ops;
static uint64_t (*virtual_now)(const struct io *io);
static volatile uint64_t paid;

static uint64_t paid_now(const struct io *io)
{
	paid = instant_now();
	return virtual_now(io);
}

/* ---- the scene ----------------------------------------------------------------------------------- */

static struct sim_client *admin;
static struct desk desk;
static uint32_t world;
static uint64_t next_batch = 1;

static void spawn_all(void)
{
	struct command commands[BATCH];
	sim_upload(admin, world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	check(sim_step(admin, world, 1, 0, commands, 1) != NULL, "the shape");
	for (uint32_t i = 0; i < BODIES; i += BATCH) {
		for (uint32_t k = 0; k < BATCH; k++)
			commands[k] = sim_spawn(4.0 * (i + k), 0, 0, 0, true);
		check(sim_step(admin, world, 1, 0, commands, BATCH) != NULL, "the bodies");
	}
}

static void open_scene(void)
{
	struct server_sim_options options = server_sim_options_default(1);
	options.truth = false;
	options.io.torn = 0;
	options.io.quiet = true;
	sim = server_sim_create(&options);
	struct sim_client_options own = sim_client_options_default();
	own.address = SIM_UNIX;
	admin = server_sim_guest(sim, &own);
	uint8_t packed[128];
	struct wire_packer map = wire_packer_over(packed, sizeof packed);
	wire_pack_string(&map, "method");
	wire_pack_string(&map, "free");
	struct wire_list pairs = { packed, map.bytes, 1 };
	world = sim_make_world(admin, "w", &pairs);
	spawn_all();
}

static void open_session(void)
{
	struct io *io = sim->server->service.io;
	plain_ops = io->ops;
	clock_reading_ops = *plain_ops;
	virtual_now = clock_reading_ops.now;
	clock_reading_ops.now = paid_now;
	io->ops = &clock_reading_ops;
	desk.stream = (struct stream){ .io = io, .ops = &desk_ops };
	session_open(&sim->server->service, &desk.stream);
	struct message message;
	message_init(&message, MESSAGE_HELLO);
	message.hello.protocol = (struct wire_version){ WIRE_MAJOR, WIRE_MINOR };
	message.hello.client = wire_text("bench");
	message.hello.role = wire_text("controller");
	say(&desk, &message);
	message_init(&message, MESSAGE_WORLD_JOIN);
	message.world_join.ref = 1;
	message.world_join.world = world;
	say(&desk, &message);
	check(session_role(desk.stream.context) == WIRE_ROLE_CONTROLLER, "no session");
}

/* ---- commands ------------------------------------------------------------------------------------ */

static void of_body(struct command *command, enum command_op op, uint32_t i)
{
	command_defaults(command, (uint16_t)op);
	memcpy(&command->wake.body, &(int64_t){ 1 + i % BODIES }, sizeof command->wake.body);
}

static struct command impulse(uint32_t i)
{
	struct command command;
	of_body(&command, COMMAND_IMPULSE, i);
	command.impulse.impulse = (vec3){ 1e-9, -0.5e-9 * (i % 7), 1e-10 };
	return command;
}

static struct command impulse_at(uint32_t i)
{
	struct command command = impulse(i);
	command.impulse.point = (vec3){ 0.1, 0.2, -0.3 };
	return command;
}

static struct command force(uint32_t i)
{
	struct command command;
	of_body(&command, COMMAND_FORCE, i);
	command.force.force = (vec3){ 1e-3, 2e-3, -1e-3 * (i % 5) };
	return command;
}

static struct command set_velocity(uint32_t i)
{
	struct command command;
	of_body(&command, COMMAND_SET_VELOCITY, i);
	command.set_velocity.velocity = (vec3){ 1e-3, 0, -1e-4 * (i % 3) };
	command.set_velocity.angular_velocity = (vec3){ 0, 0.1, 0 };
	return command;
}

static struct command set_pose(uint32_t i)
{
	struct command command;
	of_body(&command, COMMAND_SET_POSE, i);
	command.set_pose.position = (vec3){ 4.0 * (i % BODIES), 0.25, 0 };
	command.set_pose.rotation = (quat){ 0.8, 0, 0.6, 0 };
	return command;
}

static struct command set_tag(uint32_t i)
{
	struct command command;
	of_body(&command, COMMAND_SET_TAG, i);
	command.set_tag.tag = 1000 + i % 100;
	return command;
}

/* A SPAWN and the REMOVE of the same body, so that the world keeps its size. */
static struct command spawn(uint32_t i)
{
	struct command command = sim_spawn(4.0 * (i % BODIES), 50, 3, i, true);
	if (i % 2 == 0) {
		command.spawn.velocity = (vec3){ 1, 2, 3 };
		return command;
	}
	command_defaults(&command, COMMAND_REMOVE);
	command.remove.body = -(int64_t)(i % BATCH);
	return command;
}

/* Of fifty: 18 impulses, 10 forces, 8 velocities, 6 tags, 4 poses, 2 bodies made and removed. */
static struct command mix(uint32_t i)
{
	uint32_t k = i % BATCH;
	if (k < 18)
		return impulse(i);
	if (k < 28)
		return force(i);
	if (k < 36)
		return set_velocity(i);
	if (k < 42)
		return set_tag(i);
	return k < 46 ? set_pose(i) : spawn(i);
}

/* table: the kinds of batches. */
static const struct kind {
	const char *name;
	struct command (*make)(uint32_t i);
} KINDS[] = {
	{ "set_tag", set_tag },	    { "impulse", impulse },   { "impulse at a point", impulse_at },
	{ "force", force },	    { "set_pose", set_pose }, { "set_velocity", set_velocity },
	{ "spawn, remove", spawn }, { "mix", mix },
};

/* The frames of a turn, one after the other, and the place of each frame's commands. */
static struct bytes frames;
static struct wire_list lists[FRAMES];

static void pack_frames(const struct kind *kind)
{
	static size_t at[FRAMES];
	frames.count = 0;
	for (uint32_t i = 0; i < FRAMES; i++) {
		uint8_t packed[FRAME_BYTES], framed[FRAME_BYTES];
		struct wire_packer out = wire_packer_over(packed, sizeof packed);
		for (uint32_t k = 0; k < BATCH; k++) {
			struct command command = kind->make(i * BATCH + k);
			command_pack(&out, &command);
		}
		check(wire_packer_status(&out) == STATUS_OK, "commands");
		struct message message;
		message_init(&message, MESSAGE_COMMANDS);
		message.commands.world = world;
		message.commands.batch = next_batch++;
		message.commands.list = (struct wire_list){ packed, out.bytes, BATCH };
		uint32_t count;
		check(message_pack(&message, framed, sizeof framed, &count) == STATUS_OK &&
			      bytes_append(&frames, framed, count) == STATUS_OK,
		      "a frame");
		at[i] = frames.count - out.bytes;
		lists[i] = (struct wire_list){ NULL, out.bytes, BATCH };
	}
	for (uint32_t i = 0; i < FRAMES; i++)
		lists[i].at = frames.data + at[i];
}

/* ---- turns --------------------------------------------------------------------------------------- */

struct played {
	double taken, decoded, ticked; /* ns a command */
	double calls;		       /* heap calls a frame, while receiving */
	double bytes, answer;	       /* of a frame, and of its answer */
};

static double per_command(uint64_t ns)
{
	return (double)ns / (FRAMES * BATCH);
}

static double decode_all(struct arena *arena)
{
	uint64_t begun = instant_used();
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct command *commands;
		struct arena_mark mark = arena_mark(arena);
		check(command_take_list(&lists[i], arena, &commands, NULL) == STATUS_OK, "a list");
		for (uint32_t k = 0; k < BATCH; k++)
			check(command_check_values(&commands[k], k, NULL) == STATUS_OK, "a value");
		arena_rewind(arena, mark);
	}
	return per_command(instant_used() - begun);
}

/* Checks that every batch was applied. */
static void check_answers(void)
{
	uint32_t applied = 0;
	for (size_t at = 0; at < desk.answers.count;) {
		struct message message;
		struct reason why;
		uint32_t bytes = get_be32(desk.answers.data + at + 1);
		check(message_read(desk.answers.data + at + WIRE_FRAME_HEADER, bytes,
				   &VALIDATE_DOWN, &message, &why) == STATUS_OK,
		      "an answer");
		at += WIRE_FRAME_HEADER + (size_t)bytes;
		check(message.type == MESSAGE_RESULT, "an unexpected answer");
		struct wire_cursor items = wire_cursor_list(&message.result.list);
		for (uint32_t i = 0; i < message.result.list.count; i++, applied++) {
			struct wire_result result;
			check(result_take(&items, &result) == STATUS_OK, "a result");
			check(result.code == STATUS_OK, "a batch was refused");
		}
	}
	check(applied == FRAMES, "batches are not answered");
}

static struct played play(const struct kind *kind, struct arena *arena, bool look)
{
	struct played turn;
	pack_frames(kind);
	server_sim_run(sim, NS_PER_S); /* refills the quota */
	desk.keeps = look;
	desk.answers.count = 0;
	paused_ns = 0;
	uint64_t answered = desk.bytes, calls = heap_calls(), begun = instant_used();
	feed(&desk, frames.data, frames.count);
	turn.taken = per_command(instant_used() - begun - paused_ns);
	turn.calls = (double)(heap_calls() - calls) / FRAMES;
	turn.decoded = decode_all(arena);
	begun = instant_used();
	check(sim_step(admin, world, 1, 0, NULL, 0) != NULL, "no step");
	server_sim_run(sim, NS_PER_MS);
	turn.ticked = per_command(instant_used() - begun);
	turn.bytes = (double)frames.count / FRAMES;
	turn.answer = (double)(desk.bytes - answered) / FRAMES;
	if (look)
		check_answers();
	return turn;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Prints ns a command as millions a second, with least and most. */
static void print_rate(double *ns, int turns)
{
	qsort(ns, (size_t)turns, sizeof *ns, compare);
	printf(" %6.2f [%5.2f %5.2f]", 1e3 / ns[turns / 2], 1e3 / ns[turns - 1], 1e3 / ns[0]);
}

static void measure(const struct kind *kind, struct arena *arena, int turns)
{
	double taken[REPEATS_MAX], decoded[REPEATS_MAX], answered[REPEATS_MAX],
		parts[3][REPEATS_MAX];
	struct played turn = play(kind, arena, true);
	for (int i = 0; i < turns; i++) {
		turn = play(kind, arena, false);
		parts[0][i] = taken[i] = turn.taken;
		parts[1][i] = turn.decoded;
		parts[2][i] = turn.ticked;
		decoded[i] = turn.taken + turn.decoded;
		answered[i] = turn.taken + turn.ticked;
	}
	printf("%-19s", kind->name);
	print_rate(taken, turns);
	print_rate(decoded, turns);
	print_rate(answered, turns);
	for (int k = 0; k < 3; k++) {
		qsort(parts[k], (size_t)turns, sizeof parts[k][0], compare);
		printf(" %5.0f", parts[k][turns / 2]);
	}
	printf(" %6.0f %5.1f %5.2f\n", turn.bytes, turn.answer, turn.calls);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int turns = argc > 1 ? atoi(argv[1]) : 9;
	struct arena arena;
	check(turns > 0 && turns <= REPEATS_MAX, "too many turns");
	check(arena_init(&arena, 1 << 20) == STATUS_OK, "memory");
	open_scene();
	open_session();
	printf("batches of %d, million commands a second on one core, median [least most] of %d turns of %d\n"
	       "%-19s %-21s %-21s %-22s %-16s bytes answer heap\n"
	       "%-19s %-21s %-21s %-21s  in  +dec  tick  frame bytes calls\n",
	       BATCH, turns, FRAMES * BATCH, "", " taken in", " + decoded", " answered",
	       "ns each:", "", "", "", "");
	for (uint32_t k = 0; k < COUNT_OF(KINDS); k++)
		if (argc < 3 || strcmp(argv[2], KINDS[k].name) == 0)
			measure(&KINDS[k], &arena, turns);
	desk.stream.events->closed(desk.stream.context, STATUS_OK);
	bytes_release(&desk.answers);
	bytes_release(&frames);
	arena_release(&arena);
	sim->server->service.io->ops = plain_ops;
	server_sim_destroy(sim);
	return 0;
}
