/* fuzz_server.c: arbitrary bytes sent to the whole simulated daemon: through streams, sessions,
 * worlds, subscriptions and frames, and back. A keeper owns a world of two spheres and mirrors it;
 * two other clients send the input. Byte 0 chooses them:
 *
 *	bits 0-1  the first: controller, player, observer, or a client on the Unix socket (an
 *	          administrator) that has not sent HELLO
 *	bits 2-3  the second, likewise
 *	bit 4     both are joined to the world at the start
 *	bit 5     the world runs
 *
 * Then the current client (at first the first) sends each frame (0xc6, its length, its content) as
 * it is. Other bytes:
 *
 *	0x00 … 0x3f  that many quarters of a tick pass
 *	0x40, 0x41   the first, the second is the current client
 *	0x42, 0x43   it stops reading, it reads again
 *	0x44         its connection is cut
 *	0x45         it disconnects
 *	0x46         it comes back (RESUME)
 *	0x47         the next byte is a count of bytes that are sent as they are, frame or not
 *
 * No assertion fails; the keeper's mirror equals the world bit for bit; and the daemon drains. */
#include <string.h>

#include "protocol/frame.h"
#include "server/base/heap.h"
#include "tests/lib/io_sim_internal.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/sim_client.h"
#include "tests/lib/worlds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Bounds on the work of one input. */
enum { EVENTS_MAX = 20000, QUARTERS_MAX = 4 * 60, CONNECTIONS_MAX = 8 };
#define QUARTER (NS_PER_S / 240)

struct stage {
	struct server_sim *sim;
	struct sim_client *strangers[2];
	uint32_t at, events, quarters, connections;
};

static void run(struct stage *stage, uint32_t quarters)
{
	quarters = MIN_OF(quarters, QUARTERS_MAX - stage->quarters);
	stage->quarters += quarters;
	uint64_t until = server_sim_now(stage->sim) + quarters * QUARTER;
	while (stage->events < EVENTS_MAX && stage->sim->sim != NULL &&
	       server_sim_now(stage->sim) < until && server_sim_step(stage->sim))
		stage->events++;
}

static void make_world(struct sim_client *keeper)
{
	struct command commands[3];
	sim_make_world(keeper, "stage", NULL);
	sim_upload(keeper, 1, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	commands[1] = sim_spawn(0, 1, 0, 1, true);
	commands[2] = sim_spawn(3, 1, 0, 2, true);
	const struct message *stepped = sim_step(keeper, 1, 1, 0, commands, 3);
	ASSERT(stepped != NULL && stepped->type == MESSAGE_STEPPED);
	keeper->options.joints = WIRE_JOINT_COLUMNS_ALL;
	sim_subscribe(keeper, 1, 1, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1,
		      (UINT64_C(1) << 32) - 1);
}

static struct sim_client *make_client(struct stage *stage, uint8_t who, bool joined)
{
	static const char *const ROLES[] = { NULL, "player", "observer", NULL };
	struct sim_client_options options = sim_client_options_default();
	options.role = ROLES[who];
	options.raw = who == 3;
	if (options.raw)
		options.address = SIM_UNIX;
	options.resumes = true;
	options.no_acks = true;
	if (options.raw)
		return server_sim_client(stage->sim, &options);
	struct sim_client *client = server_sim_guest(stage->sim, &options);
	if (joined)
		sim_join(client, 1);
	return client;
}

static void set_up(struct stage *stage, uint8_t head)
{
	struct server_sim_options options = server_sim_options_default(1);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	options.io.delay_max = options.io.delay_min;
	who.address = SIM_UNIX;
	memset(stage, 0, sizeof *stage);
	stage->sim = server_sim_create(&options);
	struct sim_client *keeper = server_sim_guest(stage->sim, &who);
	make_world(keeper);
	stage->strangers[0] = make_client(stage, head & 3, (head & 16) != 0);
	stage->strangers[1] = make_client(stage, head >> 2 & 3, (head & 16) != 0);
	if (head & 32)
		ASSERT(sim_control(keeper, 1, WIRE_CONTROL_RESUME, 0) == STATUS_OK);
}

static void tear_down(struct stage *stage)
{
	ASSERT(server_sim_sound(stage->sim));
	/* An administrator of the input may have stopped the daemon. */
	ASSERT(stage->sim->sim->hosts[0]->stopped || server_sim_drain(stage->sim, 60 * NS_PER_S));
	server_sim_destroy(stage->sim);
}

/* Performs one action; returns the number of bytes used. */
static size_t perform_action(struct stage *stage, const uint8_t *data, size_t bytes)
{
	struct sim_client *who = stage->strangers[stage->at];
	size_t count = bytes > 1 ? MIN_OF((size_t)data[1], bytes - 2) : 0;
	switch (data[0]) {
	case 0x40:
	case 0x41:
		stage->at = data[0] & 1;
		break;
	case 0x42:
	case 0x43:
		if (who->stream != NULL)
			sim_stall(who, data[0] == 0x42);
		break;
	case 0x44:
		if (who->stream != NULL)
			sim_vanish(who);
		break;
	case 0x45:
		if (who->stream != NULL)
			sim_disconnect(who);
		break;
	case 0x46:
		if (stage->connections++ < CONNECTIONS_MAX && who->open)
			sim_resume(who);
		break;
	case 0x47:
		if (count > 0)
			sim_send_bytes(who, data + 2, count);
		return bytes > 1 ? 2 + count : 1;
	default:
		run(stage, data[0] & 63u);
		break;
	}
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct stage stage;
	struct wire_slice content;
	size_t frame;
	if (bytes == 0 || bytes > 1 << 16)
		return 0;
	set_up(&stage, data[0]);
	data++;
	bytes--;
	while (bytes > 0) {
		if (frame_split(data, bytes, WIRE_FRAME_UP, &content, &frame) == STATUS_OK)
			sim_send_bytes(stage.strangers[stage.at], data, frame);
		else
			frame = perform_action(&stage, data, bytes);
		data += frame;
		bytes -= frame;
	}
	run(&stage, 16);
	tear_down(&stage);
	return 0;
}
