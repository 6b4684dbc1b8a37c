/* Messages of a hostile or faulty peer. Each message is answered with the status that the protocol
 * names, closes the connection only if that status says so, and leaves the world unchanged. The
 * simulated daemon reads every row of the tables as bytes of a connection. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/frame.h"
#include "protocol/packer.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/pack_text.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

static void send_text(struct sim_client *client, const char *text)
{
	static uint8_t bytes[1 << 18];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	pack_text(&out, text);
	ck_assert_int_eq(wire_packer_status(&out), STATUS_OK);
	sim_send_content(client, bytes, out.bytes);
}

/* ---- the stage -------------------------------------------------------------------------------- */

struct stage {
	struct server_sim *sim;
	struct sim_client *keeper;
	uint32_t
		world; /* number 1; has a sphere shape, body 1 (owned by the keeper), body 2 (no owner) */
	uint64_t hash;
};

static void set_up(struct stage *stage, uint64_t seed)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	struct command commands[3];
	options.io.quiet = true;
	stage->sim = server_sim_create(&options);
	who.address = SIM_UNIX;
	stage->keeper = server_sim_guest(stage->sim, &who);
	stage->world = sim_make_world(stage->keeper, "stage", NULL);
	ck_assert_uint_eq(stage->world, 1);
	sim_upload(stage->keeper, 1, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	commands[1] = sim_spawn(0, 1, 0, 1, true);
	commands[1].spawn.owner = stage->keeper->handshake.session;
	commands[2] = sim_spawn(3, 1, 0, 2, true);
	const struct message *stepped = sim_step(stage->keeper, 1, 1, 0, commands, 3);
	ck_assert_ptr_nonnull(stepped);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	stage->hash = sim_hash(stage->keeper, 1);
}

static void tear_down(struct stage *stage)
{
	ck_assert(server_sim_sound(stage->sim));
	ck_assert(server_sim_drain(stage->sim, 60 * NS_PER_S));
	server_sim_destroy(stage->sim);
}

static struct sim_client *connect_peer(struct stage *stage, const char *role, bool joined)
{
	struct sim_client_options who = sim_client_options_default();
	who.role = role;
	struct sim_client *client = server_sim_guest(stage->sim, &who);
	if (joined)
		sim_join(client, 1);
	return client;
}

/* The first ERROR received. Without an ERROR, the first refusing RESULT, converted to an ERROR; else
 * NULL. Valid until the next call. */
static const struct msg_error *first_error(const struct sim_client *client)
{
	static struct msg_error refused;
	for (uint32_t i = 0; i < client->received.count; i++)
		if (client->received.items[i].message.type == MESSAGE_ERROR)
			return &client->received.items[i].message.error;
	for (uint32_t i = 0; i < client->results.count; i++) {
		const struct sim_result *result = &client->results.items[i];
		if (result->code == STATUS_OK)
			continue;
		refused = (struct msg_error){ .ref = result->batch,
					      .code = (uint64_t)result->code,
					      .text = wire_text("a RESULT"),
					      .about = MESSAGE_COMMANDS,
					      .index = result->index,
					      .field = wire_text(result->field) };
		return &refused;
	}
	return NULL;
}

/* Checks the status of the error, whether the connection closed, and that the world is unchanged and
 * still served. */
static void check_after(struct stage *stage, const struct sim_client *client, const char *what,
			enum status status, bool closes)
{
	const struct msg_error *error = first_error(client);
	ck_assert_msg(error != NULL, "%s: no error", what);
	ck_assert_msg(error->code == status, "%s: status %d (%.*s) instead of %d", what,
		      (int)error->code, (int)error->text.bytes, (const char *)error->text.at,
		      (int)status);
	ck_assert_msg(client->closed == closes, "%s: %s", what,
		      client->closed ? "closed" : "not closed");
	ck_assert_msg(sim_hash(stage->keeper, 1) == stage->hash, "%s: the world changed", what);
}

/* ---- frames ----------------------------------------------------------------------------------- */

struct frame_row {
	const char *what, *bytes;
	size_t count;
	enum status status;
};
#define BYTES(text) text, sizeof(text) - 1

/* Bytes after which the start of the next frame is unknown, or whose frame is too long to wait for. */
static const struct frame_row frames[] = {
	{ "another protocol", BYTES("GET / HTTP/1.1\r\n\r\n"), STATUS_FRAMING },
	{ "an empty frame", BYTES("\xc6\x00\x00\x00\x00"), STATUS_FRAMING },
	{ "a frame of 4 GiB", BYTES("\xc6\xff\xff\xff\xff"), STATUS_FRAMING },
	{ "over sixteen times the limit", BYTES("\xc6\x00\x40\x00\x01"), STATUS_FRAMING },
};

START_TEST(bytes_that_are_no_frame_get_a_named_error_and_close)
{
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(frames); i++) {
		const struct frame_row *row = &frames[i];
		struct sim_client *client = connect_peer(&stage, NULL, true);
		sim_send_bytes(client, row->bytes, row->count);
		server_sim_run(stage.sim, 2 * NS_PER_S);
		check_after(&stage, client, row->what, row->status, true);
		ck_assert_msg(client->goodbye == row->status, "%s: goodbye %d", row->what,
			      client->goodbye);
	}
	tear_down(&stage);
}
END_TEST

/* The frame has a valid length: its content is refused, and the next frame is handled. */
static const struct frame_row contents[] = {
	{ "a message that is no array", BYTES("\x04"), STATUS_MALFORMED },
	{ "an empty array", BYTES("\x90"), STATUS_MALFORMED },
	{ "a type that is text", BYTES("\x91\xa1x"), STATUS_MALFORMED },
	{ "2^31 elements in five bytes", BYTES("\xdd\x80\x00\x00\x00"), STATUS_MALFORMED },
	{ "a map of 2^31 pairs", BYTES("\x92\x01\xdf\x80\x00\x00\x00"), STATUS_MALFORMED },
	{ "a text that goes past the end", BYTES("\x93\x0c\x01\xa9x"), STATUS_MALFORMED },
	{ "bytes behind the message", BYTES("\x92\x04\x01\x01"), STATUS_MALFORMED },
	{ "an extension", BYTES("\x92\x04\xd4\x01\x02"), STATUS_MALFORMED },
	{ "the type nobody uses", BYTES("\x92\x04\xc1"), STATUS_MALFORMED },
	{ "a text that is no UTF-8", BYTES("\x94\x0c\x01\x00\xa1\xff"), STATUS_MALFORMED },
	{ "a text with a NUL", BYTES("\x94\x0c\x01\x00\xa1\x00"), STATUS_MALFORMED },
	{ "an integer of 64 bits", BYTES("\x92\x04\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
	  STATUS_RANGE },
	{ "a NaN", BYTES("\x92\x04\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"), STATUS_NOT_FINITE },
	{ "a float of 32 bits that is infinite", BYTES("\x92\x04\xca\x7f\x80\x00\x00"),
	  STATUS_NOT_FINITE },
	{ "nine levels", BYTES("\x91\x91\x91\x91\x91\x91\x91\x91\x91\x90"), STATUS_TOO_DEEP },
	{ "a key that is no text", BYTES("\x92\x01\x81\x01\x02"), STATUS_MALFORMED },
};

static void check_next_is_handled(struct stage *stage, struct sim_client *client, uint64_t t)
{
	char text[32];
	snprintf(text, sizeof text, "[4 %llu]", (unsigned long long)t);
	send_text(client, text);
	server_sim_run(stage->sim, 300 * NS_PER_MS);
	ck_assert_ptr_nonnull(sim_wait(client, MESSAGE_PONG, t));
}

START_TEST(a_malformed_message_is_refused_and_the_next_one_is_handled)
{
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(contents); i++) {
		const struct frame_row *row = &contents[i];
		struct sim_client *client = connect_peer(&stage, NULL, true);
		sim_send_content(client, (const uint8_t *)row->bytes, row->count);
		server_sim_run(stage.sim, 500 * NS_PER_MS);
		check_after(&stage, client, row->what, row->status, false);
		check_next_is_handled(&stage, client, 1000 + i);
	}
	tear_down(&stage);
}
END_TEST

START_TEST(a_frame_that_is_too_large_is_skipped)
{
	struct stage stage;
	static uint8_t bytes[WIRE_FRAME_HEADER + WIRE_FRAME_UP + 1];
	set_up(&stage, check_seed());
	struct sim_client *client = connect_peer(&stage, NULL, true);
	uint32_t limit = client->handshake.limits.frame_up;
	/* The skipped content has the bytes of a valid frame, which the daemon must not parse. */
	memset(bytes, 0xc6, sizeof bytes);
	frame_header_put(bytes, limit + 1);
	sim_send_bytes(client, (const char *)bytes, WIRE_FRAME_HEADER + limit + 1);
	server_sim_run(stage.sim, NS_PER_S);
	check_after(&stage, client, "a byte too many", STATUS_TOO_LARGE, false);
	ck_assert(wire_slice_is(first_error(client)->field, "frame"));
	check_next_is_handled(&stage, client, 7);
	/* The time limit for the rest of a frame applies to a skipped frame too. */
	sim_send_bytes(client, (const char *)bytes, 1000);
	server_sim_run(stage.sim, 4 * NS_PER_S);
	ck_assert(client->closed);
	ck_assert_int_eq(client->goodbye, STATUS_FRAMING);
	tear_down(&stage);
}
END_TEST

/* A session over its quota gets BUSY for each message and ends after five seconds over the quota. */
START_TEST(a_flood_of_malformed_messages_ends_the_session)
{
	struct stage stage;
	set_up(&stage, check_seed());
	struct sim_client *client = connect_peer(&stage, "observer", true);
	bool busy = false;
	for (int i = 0; i < 700 && !client->closed; i++) {
		for (int k = 0; k < 3; k++)
			sim_send_content(client, (const uint8_t *)"\x90", 1);
		server_sim_run(stage.sim, 10 * NS_PER_MS);
	}
	for (uint32_t i = 0; i < client->received.count; i++)
		busy = busy || (client->received.items[i].message.type == MESSAGE_ERROR &&
				client->received.items[i].message.error.code == STATUS_BUSY);
	ck_assert(busy);
	ck_assert(client->closed);
	ck_assert_int_eq(client->goodbye, STATUS_BUSY);
	tear_down(&stage);
}
END_TEST

/* For every status: an ERROR with that status closes the connection exactly if the table of
 * statuses says so. */
START_TEST(an_error_closes_the_connection_if_its_status_does)
{
	static const int NUMBERS[] = {
#define STATUS(number, NAME, name, text) number,
#include "server/base/status.def"
	};
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(NUMBERS); i++) {
		enum status status = (enum status)NUMBERS[i];
		struct sim_client *client = connect_peer(&stage, NULL, true);
		struct message about;
		message_init(&about, MESSAGE_PING);
		if (status == STATUS_OK)
			continue;
		session_refuse_status(registry_find(&stage.sim->server->service.sessions,
						    client->handshake.session),
				      &about, status);
		server_sim_run(stage.sim, 500 * NS_PER_MS);
		if (wire_status_closes(status))
			ck_assert_ptr_nonnull(wire_status_goodbye(status));
		/* A client that does not read may miss the error, because queued bytes are lost
		 * with the connection. */
		if (status == STATUS_SLOW) {
			ck_assert(wire_status_closes(status) && client->closed);
			continue;
		}
		check_after(&stage, client, status_name(status), status,
			    wire_status_closes(status));
		if (wire_status_closes(status))
			ck_assert(client->goodbye == status);
	}
	tear_down(&stage);
}
END_TEST

/* The limit of a batch is its bytes. Three hundred SPAWNs with every field given as a double fit. */
START_TEST(three_hundred_full_spawns_are_one_batch)
{
	static const char spawn[] = "[10 2 [%d.5 100.5 0.5] [[1 [0.0 0.0 0.0] [1.0 0.0 0.0 0.0]]] "
				    "[1.0 0.0 0.0 0.0] [0.0 0.0 0.0] "
				    "[0.0 0.0 0.0] 1000.0 0.0 0.6 0.6 0.1 4 3 1 4294967295 0 0 "
				    "9007199254740991 0.0 0.0 1]";
	enum { SPAWNS = 300, TEXT = SPAWNS * 256 };
	static char text[TEXT];
	struct stage stage;
	set_up(&stage, check_seed());
	struct sim_client *client = connect_peer(&stage, NULL, true);
	uint32_t bodies = world_bodies(server_sim_world(stage.sim, 1), NULL, 0);
	size_t used = (size_t)snprintf(text, sizeof text, "[40 1 1 nil 0 [");
	for (int i = 0; i < SPAWNS; i++)
		used += (size_t)snprintf(text + used, sizeof text - used, spawn, 10 * (i + 1));
	ck_assert(used < sizeof text - 3);
	memcpy(text + used, "]]", 3);
	send_text(client, text);
	server_sim_run(stage.sim, 100 * NS_PER_MS);
	const struct message *stepped = sim_step(stage.keeper, 1, 1, 0, NULL, 0);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	const struct sim_result *result = sim_await_result(client, 1, 1);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK);
	ck_assert_uint_eq(world_bodies(server_sim_world(stage.sim, 1), NULL, 0), bodies + SPAWNS);
	tear_down(&stage);
}
END_TEST

START_TEST(a_frame_cut_at_any_byte_waits_for_its_rest)
{
	struct stage stage;
	static const char ping[] = "\xc6\x00\x00\x00\x02\x92\x04";
	set_up(&stage, check_seed());
	for (size_t cut = 1; cut < 8; cut++) {
		struct sim_client *client = connect_peer(&stage, NULL, false);
		uint8_t bytes[8];
		memcpy(bytes, ping, 7);
		bytes[4] = 3; /* [4, 7] */
		bytes[7] = 7;
		sim_send_bytes(client, bytes, cut);
		server_sim_run(stage.sim, NS_PER_S);
		ck_assert_ptr_null(first_error(client));
		if (cut % 2 == 0) {
			/* The rest arrives within the time limit. */
			sim_send_bytes(client, bytes + cut, 8 - cut);
			server_sim_run(stage.sim, 100 * NS_PER_MS);
			ck_assert_ptr_nonnull(sim_wait(client, MESSAGE_PONG, 7));
		} else {
			server_sim_run(stage.sim, 3 * NS_PER_S);
			ck_assert(client->closed);
			ck_assert_int_eq(client->goodbye, STATUS_FRAMING);
		}
	}
	tear_down(&stage);
}
END_TEST

/* ---- before the handshake --------------------------------------------------------------------- */

struct greeting_row {
	const char *what, *text;
	enum status status;
	bool closes;
};

static const struct greeting_row greetings[] = {
	{ "PING first", "[4 1]", STATUS_HANDSHAKE, true },
	{ "a WELCOME of one's own", "[2 {'protocol' [1 0]}]", STATUS_HANDSHAKE, true },
	{ "another major version", "[1 {'protocol' [2 0]}]", STATUS_HANDSHAKE, true },
	{ "no version", "[1 {}]", STATUS_TYPE, false },
	{ "HELLO as an array", "[1 [1 0]]", STATUS_TYPE, false },
	{ "more rights than one has", "[1 {'protocol' [1 0] 'role' 'admin'}]", STATUS_FORBIDDEN,
	  false },
	{ "a role that is none", "[1 {'protocol' [1 0] 'role' 'king'}]", STATUS_RANGE, false },
	{ "a token that nobody gave", "[1 {'protocol' [1 0] 'token' <0102>}]", STATUS_AUTH, true },
	{ "a resumed session", "[1 {'protocol' [1 0] 'resume' <00112233445566778899aabbccddeeff>}]",
	  STATUS_EXPIRED, false },
	{ "a type that is none", "[126 1]", STATUS_UNKNOWN_MESSAGE, false },
};

START_TEST(before_hello_every_other_message_is_refused)
{
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(greetings); i++) {
		struct sim_client_options who = sim_client_options_default();
		who.raw = true;
		struct sim_client *client = server_sim_client(stage.sim, &who);
		server_sim_run(stage.sim, 100 * NS_PER_MS);
		send_text(client, greetings[i].text);
		server_sim_run(stage.sim, 500 * NS_PER_MS);
		check_after(&stage, client, greetings[i].what, greetings[i].status,
			    greetings[i].closes);
		if (greetings[i].closes)
			continue;
		/* A valid HELLO on the same connection is then accepted. */
		send_text(client, "[1 {'protocol' [1 7] 'role' 'observer' 'what' 'else'}]");
		server_sim_run(stage.sim, 500 * NS_PER_MS);
		ck_assert_msg(client->open, "%s: a later HELLO is not accepted", greetings[i].what);
	}
	/* A frame longer than the limit before HELLO. */
	struct sim_client_options who = sim_client_options_default();
	who.raw = true;
	struct sim_client *client = server_sim_client(stage.sim, &who);
	sim_send_bytes(client, "\xc6\x00\x00\x10\x01", 5);
	server_sim_run(stage.sim, NS_PER_S);
	check_after(&stage, client, "a long HELLO", STATUS_FRAMING, true);
	tear_down(&stage);
}
END_TEST

/* ---- messages --------------------------------------------------------------------------------- */

struct message_row {
	const char *what, *text;
	enum status status;
	uint64_t ref;
	bool closes;
};

static const struct message_row messages[] = {
	{ "a number that is no message", "[99 7]", STATUS_UNKNOWN_MESSAGE, 0, false },
	{ "a reserved one", "[71 7 1]", STATUS_UNSUPPORTED, 0, false },
	{ "the same without fields", "[71]", STATUS_UNSUPPORTED, 0, false },
	{ "a second HELLO", "[1 {'protocol' [1 0]}]", STATUS_PROTOCOL, 0, false },
	{ "a message that only a server sends", "[41 1 []]", STATUS_PROTOCOL, 0, false },
	{ "a field too few", "[12 7]", STATUS_TYPE, 7, false },
	{ "a field of another type", "[12 7 'one']", STATUS_TYPE, 7, false },
	{ "a negative number", "[12 7 -1]", STATUS_RANGE, 7, false },
	{ "a ref that is a list", "[10 [1]]", STATUS_TYPE, 0, false },
	{ "an unknown world", "[12 7 99]", STATUS_UNKNOWN_WORLD, 7, false },
	{ "an unknown name", "[12 7 0 'nowhere']", STATUS_UNKNOWN_WORLD, 7, false },
	{ "a world number of 33 bits", "[12 7 4294967296]", STATUS_RANGE, 7, false },
	{ "leaving where one is not", "[13 7 5]", STATUS_NOT_JOINED, 7, false },
	{ "destroying without the right", "[14 7 1]", STATUS_FORBIDDEN, 7, false },
	{ "a name with a slash", "[11 7 '../etc']", STATUS_RANGE, 7, false },
	{ "a name that is hidden", "[11 7 '.x']", STATUS_RANGE, 7, false },
	{ "no name", "[11 7 '']", STATUS_RANGE, 7, false },
	{ "a name in use", "[11 7 'stage']", STATUS_EXISTS, 7, false },
	{ "an option that is none", "[11 7 'x' {'colour' 1}]", STATUS_UNKNOWN_PARAMETER, 7, false },
	{ "a rate of nothing", "[11 7 'x' {'rate' [0 1]}]", STATUS_RANGE, 7, false },
	{ "a rate over nothing", "[11 7 'x' {'rate' [60 0]}]", STATUS_RANGE, 7, false },
	{ "a rate that is text", "[11 7 'x' {'rate' 'fast'}]", STATUS_TYPE, 7, false },
	{ "a gravity of 1e300", "[11 7 'x' {'gravity' [0 1e300 0]}]", STATUS_RANGE, 7, false },
	{ "a gravity of two", "[11 7 'x' {'gravity' [0 1]}]", STATUS_TYPE, 7, false },
	{ "a method that is none", "[11 7 'x' {'method' 'magic'}]", STATUS_UNKNOWN_METHOD, 7,
	  false },
	{ "a broad phase that is none", "[11 7 'x' {'broad_phase' 'octopus'}]", STATUS_RANGE, 7,
	  false },
	{ "a limit of nothing", "[11 7 'x' {'bodies_max' 0}]", STATUS_RANGE, 7, false },
	{ "an upload from the middle",
	  "[20 7 1 <0000000000000000000000000000000000000000000000000000"
	  "000000000000> 1 3 <01>]",
	  STATUS_SEQUENCE, 7, false },
	{ "an upload under another name",
	  "[20 7 1 <000000000000000000000000000000000000000000000000"
	  "0000000000000000> 0 1 <01010000000000000000f03f>]",
	  STATUS_CORRUPT, 7, false },
	{ "an upload to nowhere",
	  "[20 7 9 <0000000000000000000000000000000000000000000000000000000000"
	  "000000> 0 1 <01>]",
	  STATUS_NOT_JOINED, 7, false },
	{ "a name of 31 bytes",
	  "[20 7 1 <00000000000000000000000000000000000000000000000000000000000000"
	  "> 0 1 <01>]",
	  STATUS_RANGE, 7, false },
	{ "a world one has not joined", "[30 7 5]", STATUS_NOT_JOINED, 7, false },
	{ "no columns", "[30 7 1 0]", STATUS_RANGE, 7, false },
	{ "columns that are none", "[30 7 1 128]", STATUS_RANGE, 7, false },
	{ "an area of 1e13 m", "[30 7 1 31 [0 0 0 1e13 1 1]]", STATUS_RANGE, 7, false },
	{ "an area turned over", "[30 7 1 31 [1 0 0 0 1 1]]", STATUS_RANGE, 7, false },
	{ "following nobody", "[30 7 1 31 nil [0]]", STATUS_RANGE, 7, false },
	{ "a ball without a radius", "[30 7 1 31 nil [] 1 1 0 0 [[2 [0 0 0]]]]", STATUS_TYPE, 7,
	  false },
	{ "a ball turned inside out", "[30 7 1 31 nil [] 1 1 0 0 [[2 [0 0 0 -1]]]]", STATUS_RANGE,
	  7, false },
	{ "an area of a kind that is none", "[30 7 1 31 nil [] 1 1 0 0 [[9 []]]]", STATUS_RANGE, 7,
	  false },
	{ "a frustum without a rotation", "[38 7 nil [] [[3 [0 0 0 0 0 0 0 1 1 0 9]]]]",
	  STATUS_UNKNOWN_SUBSCRIPTION, 7, false },
	{ "a FOCUS of an unknown subscription", "[38 7]", STATUS_UNKNOWN_SUBSCRIPTION, 7, false },
	{ "every 0th tick", "[30 7 1 31 nil [] 0]", STATUS_RANGE, 7, false },
	{ "every 3601st tick", "[30 7 1 31 nil [] 3601]", STATUS_RANGE, 7, false },
	{ "a column to come", "[30 7 1 543 nil []]", STATUS_UNSUPPORTED, 7, false },
	{ "a profile that is none", "[30 7 1 31 nil [] 1 9]", STATUS_RANGE, 7, false },
	{ "a byte budget of nine", "[30 7 1 31 nil [] 1 1 0 9]", STATUS_RANGE, 7, false },
	{ "ending an unknown subscription", "[31 7]", STATUS_UNKNOWN_SUBSCRIPTION, 7, false },
	{ "asking again for it", "[33 7]", STATUS_UNKNOWN_SUBSCRIPTION, 7, false },
	{ "batch 0", "[40 1 0 nil 0 []]", STATUS_SEQUENCE, 0, false },
	{ "batch 2 first", "[40 1 2 nil 0 []]", STATUS_SEQUENCE, 2, false },
	{ "a batch elsewhere", "[40 5 1 nil 0 []]", STATUS_NOT_JOINED, 1, false },
	{ "a policy that is none", "[40 1 1 nil 2 []]", STATUS_RANGE, 1, false },
	{ "a query elsewhere", "[50 7 5 [4]]", STATUS_NOT_JOINED, 7, false },
	{ "a query that is none", "[50 7 1 [99]]", STATUS_UNSUPPORTED, 7, false },
	{ "a cast of bytes cut short", "[50 7 1 [7 <05010000000000000000f03f> [0 0 0] [1 0 0]]]",
	  STATUS_CORRUPT, 7, false },
	{ "a cast of a name unknown",
	  "[50 7 1 [7 <000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c"
	  "1d1e1f> [0 0 0] [1 0 0]]]",
	  STATUS_UNKNOWN_SHAPE, 7, false },
	{ "a cast of nothing", "[50 7 1 [7 <> [0 0 0] [1 0 0]]]", STATUS_CORRUPT, 7, false },
	{ "a cast over 1e300 m", "[50 7 1 [7 <0101000000000000f03f> [0 0 0] [1e300 0 0]]]",
	  STATUS_RANGE, 7, false },
	{ "a cast turned by nothing",
	  "[50 7 1 [7 <0101000000000000f03f> [0 0 0] [1 0 0] [0 0 0 0]]]", STATUS_RANGE, 7, false },
	{ "nearest to a stranger", "[50 7 1 [8 4711]]", STATUS_UNKNOWN_BODY, 7, false },
	{ "a reach beyond all", "[50 7 1 [8 1 0 1e300]]", STATUS_RANGE, 7, false },
	{ "the mass of a stranger", "[50 7 1 [9 4711]]", STATUS_UNKNOWN_BODY, 7, false },
	{ "a walk of 17 pieces",
	  "[50 7 1 [10 <0101000000000000f03f> [0 0 0] [1 0 0] [1 0 0 0] 17]]", STATUS_RANGE, 7,
	  false },
	{ "a walk without skin",
	  "[50 7 1 [10 <0101000000000000f03f> [0 0 0] [1 0 0] [1 0 0 0] 4 0.7 0.0 0.0]]",
	  STATUS_RANGE, 7, false },
	{ "regions of strangers", "[50 7 1 [11 4711 4712]]", STATUS_UNKNOWN_BODY, 7, false },
	{ "a solid in a question", "[50 7 1 [7 <0801010000000000> [0 0 0] [1 0 0]]]",
	  STATUS_UNSUPPORTED, 7, false },
	{ "no query", "[50 7 1 []]", STATUS_TYPE, 7, false },
	{ "a ray without direction", "[50 7 1 [1 [0 0 0] [0 0 0] 5.0]]", STATUS_RANGE, 7, false },
	{ "a ray of 1e300 m", "[50 7 1 [1 [0 0 0] [0 1 0] 1e300]]", STATUS_RANGE, 7, false },
	{ "a ray from 1e300", "[50 7 1 [1 [1e300 0 0] [0 1 0] 1.0]]", STATUS_RANGE, 7, false },
	{ "a limit over the limit", "[50 7 1 [1 [0 0 0] [0 1 0] 5.0 4097]]", STATUS_RANGE, 7,
	  false },
	{ "a shape of nonsense", "[50 7 1 [2 <ff01> [0 0 0]]]", STATUS_CORRUPT, 7, false },
	{ "an upload of nonsense",
	  "[20 7 1 <437cb43a30226e639b33d84533cfc3dd"
	  "d970a40055b9c8c0bf7e3795cf184eb6> 0 1 <ff01>]",
	  STATUS_CORRUPT, 7, false },
	{ "a body that is none", "[50 7 1 [5 4000]]", STATUS_UNKNOWN_BODY, 7, false },
	{ "an action that is none", "[60 7 1 9]", STATUS_RANGE, 7, false },
	{ "a speed of nothing", "[60 7 1 2 0]", STATUS_RANGE, 7, false },
	{ "a speed of 1e300", "[60 7 1 2 1e300]", STATUS_RANGE, 7, false },
	{ "a barrier of none", "[60 7 1 4 0]", STATUS_RANGE, 7, false },
	{ "a barrier of half of one", "[60 7 1 4 0.5]", STATUS_RANGE, 7, false },
	{ "pacing elsewhere", "[60 7 5 0]", STATUS_NOT_JOINED, 7, false },
	{ "10001 ticks", "[61 1 1 nil 10001]", STATUS_RANGE, 1, false },
	{ "step 0", "[61 1 0 nil 1]", STATUS_SEQUENCE, 0, false },
	{ "stepping from elsewhen", "[61 1 1 77 1]", STATUS_TICK, 1, false },
	{ "stepping elsewhere", "[61 5 1 nil 1]", STATUS_NOT_JOINED, 1, false },
	{ "no world at all", "[73 7 [] 1]", STATUS_RANGE, 7, false },
	{ "the same world twice", "[73 7 [[1 1] [1 2]] 1]", STATUS_EXISTS, 7, false },
	{ "a world that is no list", "[73 7 [1] 1]", STATUS_TYPE, 7, false },
	{ "no steps", "[73 7 [[1 1]] 1 0]", STATUS_RANGE, 7, false },
	{ "10001 ticks in steps", "[73 7 [[1 1]] 101 100]", STATUS_RANGE, 7, false },
	{ "an action without an op", "[73 7 [[1 1]] 1 1 [[]]]", STATUS_TYPE, 7, false },
	{ "an action that fills a body", "[73 7 [[1 1]] 1 1 [[15 nil [0 0 0]]]]", STATUS_TYPE, 7,
	  false },
	{ "an op that is none", "[73 7 [[1 1]] 1 1 [[99 nil]]]", STATUS_UNKNOWN_COMMAND, 7, false },
	{ "too few numbers", "[73 7 [[1 1]] 1 1 [[15 1 nil]] <0000000000000000>]", STATUS_RANGE, 7,
	  false },
	{ "numbers for nothing", "[73 7 [[1 1]] 1 1 [] <00>]", STATUS_RANGE, 7, false },
	{ "an observation of no kind", "[73 7 [[1 1]] 1 1 [] <> [[5 [1]]]]", STATUS_RANGE, 7,
	  false },
	{ "columns that are none", "[73 7 [[1 1]] 1 1 [] <> [[0 [1] 64]]]", STATUS_RANGE, 7,
	  false },
	{ "an observed ray of 1e300", "[73 7 [[1 1]] 1 1 [] <> [[1 [[[0 0 0] [0 1 0] 1e300]]]]]",
	  STATUS_RANGE, 7, false },
	{ "an observed ray without direction",
	  "[73 7 [[1 1]] 1 1 [] <> [[1 [[[0 0 0] [0 0 0] 1]]]]]", STATUS_RANGE, 7, false },
	{ "an answer beyond any frame", "[73 7 [[1 1]] 1 10000 [] <> [[4 []] [4 []]]]",
	  STATUS_LIMIT, 7, false },
	{ "saving under no name", "[63 7 1 '']", STATUS_RANGE, 7, false },
	{ "saving under a path", "[63 7 1 'a/b']", STATUS_RANGE, 7, false },
	{ "going back to nothing", "[65 7 1 'none']", STATUS_UNKNOWN_SNAPSHOT, 7, false },
	{ "copying nothing", "[67 7 1 'copy' 'none']", STATUS_UNKNOWN_SNAPSHOT, 7, false },
	{ "a section that is none", "[80 7 'secrets']", STATUS_RANGE, 7, false },
};

START_TEST(a_refused_message_names_status_and_field)
{
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(messages); i++) {
		const struct message_row *row = &messages[i];
		struct sim_client *client = connect_peer(&stage, NULL, true);
		send_text(client, row->text);
		server_sim_run(stage.sim, 300 * NS_PER_MS);
		check_after(&stage, client, row->what, row->status, row->closes);
		ck_assert_msg(first_error(client)->ref == row->ref, "%s: ref %d", row->what,
			      (int)first_error(client)->ref);
		sim_disconnect(client);
	}
	server_sim_run(stage.sim, NS_PER_S);
	ck_assert_uint_eq(stage.sim->server->service.sessions.items.count, 1);
	ck_assert_uint_eq(stage.sim->server->worlds.items.count, 1);
	tear_down(&stage);
}
END_TEST

/* ---- commands --------------------------------------------------------------------------------- */

struct command_row {
	const char *what, *text; /* the list of the batch */
	enum status status;
	int index;
};

static const struct command_row commands[] = {
	{ "an op that is none", "[[99 1]]", STATUS_UNKNOWN_COMMAND, 0 },
	{ "an op to come", "[[25 1]]", STATUS_UNSUPPORTED, 0 },
	{ "no op", "[[]]", STATUS_TYPE, 0 },
	{ "a command that is a number", "[7]", STATUS_TYPE, 0 },
	{ "an op that is text", "[['spawn']]", STATUS_TYPE, 0 },
	{ "a field too few", "[[10 2]]", STATUS_TYPE, 0 },
	{ "a place of two", "[[10 2 [0 1]]]", STATUS_TYPE, 0 },
	{ "1e300 m away", "[[10 2 [1e300 0 0]]]", STATUS_RANGE, 0 },
	{ "a little too far", "[[10 2 [0 -1000001.0 0]]]", STATUS_RANGE, 0 },
	{ "at 1e300 m/s", "[[10 2 [0 0 0] [] [1 0 0 0] [0 1e300 0]]]", STATUS_RANGE, 0 },
	{ "a rotation of nothing", "[[10 2 [0 0 0] [] [0 0 0 0]]]", STATUS_RANGE, 0 },
	{ "a status that is none", "[[10 9 [0 0 0]]]", STATUS_RANGE, 0 },
	{ "a shape that is none", "[[10 2 [0 0 0] [[77]]]]", STATUS_UNKNOWN_SHAPE, 0 },
	{ "a body that is none", "[[11 4000]]", STATUS_UNKNOWN_BODY, 0 },
	{ "body 0", "[[11 0]]", STATUS_UNKNOWN_BODY, 0 },
	{ "the body of the walls", "[[11 4294967295]]", STATUS_UNKNOWN_BODY, 0 },
	{ "a body of 53 bits", "[[11 9007199254740991]]", STATUS_UNKNOWN_BODY, 0 },
	{ "a result that is not there", "[[11 -1]]", STATUS_BACK_REFERENCE, 0 },
	{ "its own result", "[[10 2 [0 0 0]] [11 -2]]", STATUS_BACK_REFERENCE, 1 },
	{ "a shape as a body",
	  "[[1 <0000000000000000000000000000000000000000000000000000000000000001>]"
	  " [11 -1]]",
	  STATUS_UNKNOWN_SHAPE, 0 },
	{ "the second of two", "[[10 2 [0 0 0]] [17 4000 [1 0 0]]]", STATUS_UNKNOWN_BODY, 1 },
	{ "a push of 1e300", "[[17 2 [1e300 0 0]]]", STATUS_RANGE, 0 },
	{ "a force for no tick", "[[15 2 [1 0 0] [0 0 0] 0]]", STATUS_RANGE, 0 },
	{ "friction upside down", "[[19 2 0.1 0.5 0]]", STATUS_RANGE, 0 },
	{ "a method that is none", "[[32 'magic']]", STATUS_UNKNOWN_METHOD, 0 },
	{ "a parameter that is none", "[[31 'magic' 1]]", STATUS_UNKNOWN_PARAMETER, 0 },
	{ "a parameter of 1e300", "[[31 'soft_step.substeps' 1e300]]", STATUS_RANGE, 0 },
	{ "gravity of 1e300", "[[30 [0 1e300 0]]]", STATUS_RANGE, 0 },
	{ "a shape in use", "[[2 1]]", STATUS_IN_USE, 0 },
	{ "bounds inside out", "[[34 1 [1 1 1] [0 0 0]]]", STATUS_RANGE, 0 },
	{ "a tag of 64 bits", "[[22 2 9007199254740992]]", STATUS_RANGE, 0 },
};

/* The batch is refused at the boundary before the keeper's tick. That tick gives the same world as a
 * tick without the batch. */
START_TEST(a_batch_with_a_bad_command_is_refused_whole)
{
	struct stage stage;
	set_up(&stage, check_seed());
	struct sim_client *client = connect_peer(&stage, NULL, true);
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		const struct command_row *row = &commands[i];
		const struct world *world = server_sim_world(stage.sim, 1);
		uint32_t bodies = world_bodies(world, NULL, 0);
		char text[512];
		uint64_t batch = ++client->batches[1];
		snprintf(text, sizeof text, "[40 1 %d nil 0 %s]", (int)batch, row->text);
		send_text(client, text);
		server_sim_run(stage.sim, 50 * NS_PER_MS);
		const struct message *stepped = sim_step(stage.keeper, 1, 1, 0, NULL, 0);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		const struct sim_result *result = sim_await_result(client, 1, batch);
		ck_assert_msg(result != NULL, "%s: no result", row->what);
		ck_assert_msg(result->code == row->status, "%s: status %d instead of %d", row->what,
			      (int)result->code, (int)row->status);
		ck_assert_msg(result->index == row->index, "%s: index %d", row->what,
			      (int)result->index);
		ck_assert_uint_eq(result->value_count, 0);
		ck_assert_uint_eq(world_bodies(world, NULL, 0), bodies);
		ck_assert(!client->closed);
	}
	/* A world with the same ticks and without those batches has the same hash. */
	struct stage other;
	set_up(&other, check_seed() + 1);
	const struct message *stepped =
		sim_step(other.keeper, 1, (uint32_t)COUNT_OF(commands), 0, NULL, 0);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(sim_hash(other.keeper, 1), sim_hash(stage.keeper, 1));
	tear_down(&other);
	tear_down(&stage);
}
END_TEST

/* A batch with a number that is not finite is refused with its field, batch number and index. */
static const struct {
	const char *text, *field;
	uint64_t ref;
	int index;
} infinities[] = {
	{ "[40 1 1 nil 0 [[11 2] [10 2 [nan 0 0]]]]", "position", 1, 1 },
	{ "[40 1 1 nil 0 [[17 2 [0 inf 0]]]]", "impulse", 1, 0 },
	{ "[61 1 7 nil 1 [[30 [0 nan 0]]]]", "gravity", 7, 0 },
	{ "[60 7 1 2 inf]", "value", 7, -1 },
	{ "[50 7 1 [1 [0 0 0] [0 nan 0] 5.0]]", "direction", 7, -1 },
	{ "[30 7 1 31 [0 0 0 1 1 inf]]", "area", 7, -1 },
};

START_TEST(a_number_that_is_not_finite_is_refused_by_name)
{
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(infinities); i++) {
		struct sim_client *client = connect_peer(&stage, NULL, true);
		const char *text = infinities[i].text;
		send_text(client, text);
		server_sim_run(stage.sim, 500 * NS_PER_MS);
		check_after(&stage, client, text, STATUS_NOT_FINITE, false);
		const struct msg_error *error = first_error(client);
		ck_assert_msg(wire_slice_is(error->field, infinities[i].field), "%s: field %.*s",
			      text, (int)error->field.bytes, (const char *)error->field.at);
		ck_assert_msg(error->ref == infinities[i].ref, "%s: ref %d", text, (int)error->ref);
		ck_assert_msg(error->index == infinities[i].index, "%s: index %d", text,
			      (int)error->index);
	}
	tear_down(&stage);
}
END_TEST

/* A RESULT uses the batch number up, and a repeat of the batch gets the same RESULT. After an ERROR
 * the number is still free. */
START_TEST(a_result_uses_its_number_up_and_an_error_does_not)
{
	static const struct {
		const char *text;
		bool used;
	} rows[] = {
		{ "[40 1 1 nil 0 [[30 [0 nan 0]]]]", true },
		{ "[40 1 1 nil 2 []]", true },
		{ "[40 1 1 nil 0 7]", true },
		{ "[40 1 1 nil 0 [[99]]]", true },
		{ "[40 9 1 nil 0 []]", false },
		{ "[40 1 2 nil 0 []]", false },
		{ "[40 1 'x' nil 0 []]", false },
	};
	struct stage stage;
	set_up(&stage, check_seed());
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct sim_client *client = connect_peer(&stage, NULL, true);
		send_text(client, rows[i].text);
		server_sim_run(stage.sim, 100 * NS_PER_MS);
		const struct message *stepped = sim_step(stage.keeper, 1, 1, 0, NULL, 0);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		server_sim_run(stage.sim, 100 * NS_PER_MS);
		ck_assert_msg(first_error(client) != NULL, "%s", rows[i].text);
		const struct sim_result *result = sim_result(client, 1, 1);
		ck_assert_msg((result != NULL) == rows[i].used, "%s", rows[i].text);
		uint64_t next = rows[i].used ? 2 : 1;
		char text[64];
		snprintf(text, sizeof text, "[40 1 %d nil 0 []]", (int)next);
		send_text(client, text);
		server_sim_run(stage.sim, 100 * NS_PER_MS);
		stepped = sim_step(stage.keeper, 1, 1, 0, NULL, 0);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		result = sim_await_result(client, 1, next);
		ck_assert_msg(result != NULL && result->code == STATUS_OK, "%s", rows[i].text);
		if (!rows[i].used)
			continue;
		/* A repeat of the number gets the stored answer. */
		uint32_t arrivals = sim_result(client, 1, 1)->arrivals;
		send_text(client, "[40 1 1 nil 0 []]");
		server_sim_run(stage.sim, 100 * NS_PER_MS);
		ck_assert_uint_eq(sim_result(client, 1, 1)->arrivals, arrivals + 1);
		ck_assert_int_ne(sim_result(client, 1, 1)->code, STATUS_OK);
	}
	tear_down(&stage);
}
END_TEST

/* ---- rights ----------------------------------------------------------------------------------- */

/* One message of each kind and the least role that may send it. Observers subscribe and query,
 * players command, controllers make, step and save worlds, administrators do the rest. A role that
 * may send the message gets its harmless effect or a status other than FORBIDDEN. */
static const struct {
	enum message_type type;
	enum wire_role least;
	const char *text;
} samples[] = {
	{ MESSAGE_PING, WIRE_ROLE_OBSERVER, "[4 7]" },
	{ MESSAGE_PONG, WIRE_ROLE_OBSERVER, "[5 7]" },
	{ MESSAGE_WORLD_LIST, WIRE_ROLE_OBSERVER, "[10 7]" },
	{ MESSAGE_WORLD_CREATE, WIRE_ROLE_CONTROLLER, "[11 7 'stage']" },
	{ MESSAGE_WORLD_JOIN, WIRE_ROLE_OBSERVER, "[12 7 1]" },
	{ MESSAGE_WORLD_LEAVE, WIRE_ROLE_OBSERVER, "[13 7 1]" },
	{ MESSAGE_WORLD_DESTROY, WIRE_ROLE_ADMIN, "[14 7 99]" },
	{ MESSAGE_SHAPE_UPLOAD, WIRE_ROLE_CONTROLLER,
	  "[20 7 99 <0000000000000000000000000000000000000000000000000000000000000000> 0 1 <01>]" },
	{ MESSAGE_SUBSCRIBE, WIRE_ROLE_OBSERVER, "[30 7 1]" },
	{ MESSAGE_UNSUBSCRIBE, WIRE_ROLE_OBSERVER, "[31 7]" },
	{ MESSAGE_ACK, WIRE_ROLE_OBSERVER, "[32 7 1 1]" },
	{ MESSAGE_RESYNC, WIRE_ROLE_OBSERVER, "[33 7]" },
	{ MESSAGE_FOCUS, WIRE_ROLE_OBSERVER, "[38 7]" },
	{ MESSAGE_COMMANDS, WIRE_ROLE_PLAYER, "[40 99 7 nil 0 []]" },
	{ MESSAGE_QUERY, WIRE_ROLE_OBSERVER, "[50 7 1 [4]]" },
	{ MESSAGE_CONTROL, WIRE_ROLE_CONTROLLER, "[60 7 99 0]" },
	{ MESSAGE_STEP, WIRE_ROLE_CONTROLLER, "[61 99 7 nil 1]" },
	{ MESSAGE_STEP_WORLDS, WIRE_ROLE_CONTROLLER, "[73 7 [[99 1]] 1]" },
	{ MESSAGE_SAVE, WIRE_ROLE_CONTROLLER, "[63 7 99 's']" },
	{ MESSAGE_RESTORE, WIRE_ROLE_CONTROLLER, "[65 7 99 's']" },
	{ MESSAGE_RECORD, WIRE_ROLE_CONTROLLER, "[69 7 99 1 'r']" },
	{ MESSAGE_FORK, WIRE_ROLE_CONTROLLER, "[67 7 99 'f']" },
	{ MESSAGE_SEEK, WIRE_ROLE_OBSERVER, "[70 7 99 nil]" },
	{ MESSAGE_LOOKS, WIRE_ROLE_OBSERVER, "[92 7 1]" },
	{ MESSAGE_SCENE_LIST, WIRE_ROLE_CONTROLLER, "[95 7]" },
	{ MESSAGE_SCENE_OPEN, WIRE_ROLE_CONTROLLER, "[96 7 'made' 'tower.yaml']" },
	{ MESSAGE_INFO, WIRE_ROLE_CONTROLLER, "[80 7]" },
	{ MESSAGE_CONFIG, WIRE_ROLE_ADMIN, "[82 7]" },
	{ MESSAGE_SESSIONS, WIRE_ROLE_ADMIN, "[83 7]" },
	{ MESSAGE_KICK, WIRE_ROLE_ADMIN, "[84 7 9999]" },
	{ MESSAGE_MONITOR, WIRE_ROLE_ADMIN, "[85 7 0]" },
};

START_TEST(every_role_may_send_its_messages_and_no_others)
{
	static const char *const roles[] = { "observer", "player", "controller", NULL };
	struct stage stage;
	set_up(&stage, check_seed());
	for (uint32_t r = 0; r < COUNT_OF(roles); r++)
		for (uint32_t k = 0; k < COUNT_OF(samples); k++) {
			struct sim_client_options who = sim_client_options_default();
			who.address = roles[r] == NULL ? SIM_UNIX : SIM_TCP;
			who.role = roles[r];
			struct sim_client *client = server_sim_guest(stage.sim, &who);
			enum wire_role role = client->handshake.role;
			ck_assert_int_eq(role, (int)(WIRE_ROLE_OBSERVER + r));
			sim_join(client, 1);
			send_text(client, samples[k].text);
			server_sim_run(stage.sim, 50 * NS_PER_MS);
			const struct msg_error *error = first_error(client);
			bool forbidden = error != NULL && error->code == STATUS_FORBIDDEN;
			bool may = role >= samples[k].least;
			ck_assert_msg(forbidden == !may, "%s as %s",
				      message_info(samples[k].type)->name, wire_role_name(role));
			ck_assert(!client->closed);
			sim_disconnect(client);
			server_sim_run(stage.sim, 20 * NS_PER_MS);
		}
	ck_assert_uint_eq(sim_hash(stage.keeper, 1), stage.hash);
	tear_down(&stage);
}
END_TEST

START_TEST(every_message_of_a_client_is_among_the_samples)
{
	for (size_t i = 0; message_info_at(i) != NULL; i++) {
		const struct message_info *info = message_info_at(i);
		bool sampled = info->reserved || info->from == WIRE_FROM_SERVER ||
			       info->type == MESSAGE_HELLO || info->type == MESSAGE_GOODBYE ||
			       info->type == MESSAGE_DRAIN; /* ends the daemon: tests/system */
		for (uint32_t k = 0; k < COUNT_OF(samples); k++)
			sampled = sampled || samples[k].type == info->type;
		ck_assert_msg(sampled, "%s", info->name);
	}
}
END_TEST

START_TEST(a_player_commands_its_own_bodies_and_not_the_world)
{
	struct stage stage;
	set_up(&stage, check_seed());
	struct sim_client *player = connect_peer(&stage, "player", true);
	static const struct {
		const char *text;
		enum status status;
	} rows[] = {
		{ "[[10 2 [5 5 5]]]", STATUS_OK }, /* body 3, owned by the player */
		{ "[[17 3 [1 0 0]]]", STATUS_OK },
		{ "[[17 1 [1 0 0]]]", STATUS_NOT_OWNER },
		{ "[[17 2 [1 0 0]]]", STATUS_NOT_OWNER },
		{ "[[11 2]]", STATUS_NOT_OWNER },
		{ "[[21 2 3]]", STATUS_NOT_OWNER },
		{ "[[30 [0 0 0]]]", STATUS_FORBIDDEN },
		{ "[[32 'free']]", STATUS_FORBIDDEN },
		{ "[[17 3 [1 0 0]] [17 2 [1 0 0]]]", STATUS_NOT_OWNER },
		{ "[[10 2 [0 9 0]] [17 -1 [1 0 0]]]", STATUS_OK },
		{ "[[11 3]]", STATUS_OK },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[256];
		uint64_t batch = ++player->batches[1];
		snprintf(text, sizeof text, "[40 1 %d nil 0 %s]", (int)batch, rows[i].text);
		send_text(player, text);
		server_sim_run(stage.sim, 50 * NS_PER_MS);
		ck_assert_int_eq(sim_step(stage.keeper, 1, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
		const struct sim_result *result = sim_await_result(player, 1, batch);
		ck_assert_ptr_nonnull(result);
		ck_assert_msg(result->code == rows[i].status, "%s: %d", rows[i].text,
			      (int)result->code);
	}
	struct body_view view;
	ck_assert_int_eq(world_body(server_sim_world(stage.sim, 1), 4, &view), STATUS_OK);
	ck_assert_uint_eq(view.owner, player->handshake.session);
	tear_down(&stage);
}
END_TEST

static bool has_error(const struct sim_client *client, enum status status)
{
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		if (message->type == MESSAGE_ERROR && message->error.code == status)
			return true;
	}
	return false;
}

/* The player floods with queries (loop 0), malformed messages (1) and invalid messages (2). */
START_TEST(a_player_over_its_quota_gets_busy_and_is_then_disconnected)
{
	static const char *const texts[] = { "[50 7 1 [4]]", "[99 7]", "[12 7 'one']" };
	struct stage stage;
	set_up(&stage, check_seed());
	struct sim_client *player = connect_peer(&stage, "player", true);
	for (int i = 0; i < 1200 && !player->closed; i++) {
		for (int k = 0; k < 20; k++)
			send_text(player, texts[_i]);
		server_sim_run(stage.sim, 10 * NS_PER_MS);
	}
	ck_assert(has_error(player, STATUS_BUSY));
	ck_assert(player->closed);
	ck_assert_int_eq(player->goodbye, STATUS_BUSY);
	ck_assert_uint_eq(sim_hash(stage.keeper, 1), stage.hash);
	tear_down(&stage);
}
END_TEST

/* ---- random bytes ----------------------------------------------------------------------------- */

START_TEST(random_and_corrupted_messages_change_nothing)
{
	struct stage stage;
	set_up(&stage, check_seed() + (uint64_t)_i);
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	for (int i = 0; i < 150; i++) {
		struct sim_client *client = connect_peer(&stage, "observer", true);
		uint8_t bytes[400];
		struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
		uint32_t which = rng_below(&rng, COUNT_OF(samples) + COUNT_OF(messages));
		const char *text = which < COUNT_OF(samples)
					   ? samples[which].text
					   : messages[which - COUNT_OF(samples)].text;
		pack_text(&out, text);
		uint32_t changes = 1 + rng_below(&rng, 4);
		for (uint32_t k = 0; k < changes; k++) {
			uint32_t at = rng_below(&rng, out.bytes);
			bytes[at] = (uint8_t)rng_below(&rng, 256);
		}
		if (rng_below(&rng, 3) == 0)
			out.bytes = 1 + rng_below(&rng, out.bytes);
		sim_send_content(client, bytes, out.bytes);
		server_sim_run(stage.sim, 60 * NS_PER_MS);
		sim_disconnect(client);
		server_sim_run(stage.sim, 20 * NS_PER_MS);
	}
	ck_assert_uint_eq(sim_hash(stage.keeper, 1), stage.hash);
	tear_down(&stage);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/hostile");
	TCase *wire = tcase_create("wire");
	tcase_set_timeout(wire, 30);
	tcase_add_test(wire, bytes_that_are_no_frame_get_a_named_error_and_close);
	tcase_add_test(wire, a_malformed_message_is_refused_and_the_next_one_is_handled);
	tcase_add_test(wire, a_frame_that_is_too_large_is_skipped);
	tcase_add_test(wire, a_flood_of_malformed_messages_ends_the_session);
	tcase_add_test(wire, an_error_closes_the_connection_if_its_status_does);
	tcase_add_test(wire, three_hundred_full_spawns_are_one_batch);
	tcase_add_test(wire, a_frame_cut_at_any_byte_waits_for_its_rest);
	tcase_add_test(wire, before_hello_every_other_message_is_refused);
	tcase_add_test(wire, a_refused_message_names_status_and_field);
	tcase_add_test(wire, a_batch_with_a_bad_command_is_refused_whole);
	tcase_add_test(wire, a_number_that_is_not_finite_is_refused_by_name);
	tcase_add_test(wire, a_result_uses_its_number_up_and_an_error_does_not);
	tcase_add_loop_test(wire, random_and_corrupted_messages_change_nothing, 0, 4);
	suite_add_tcase(suite, wire);
	TCase *rights = tcase_create("rights");
	tcase_set_timeout(rights, 30);
	tcase_add_test(rights, every_role_may_send_its_messages_and_no_others);
	tcase_add_test(rights, every_message_of_a_client_is_among_the_samples);
	tcase_add_test(rights, a_player_commands_its_own_bodies_and_not_the_world);
	tcase_add_loop_test(rights, a_player_over_its_quota_gets_busy_and_is_then_disconnected, 0,
			    3);
	suite_add_tcase(suite, rights);
	return suite;
}

int main(void)
{
	return check_main(make);
}
