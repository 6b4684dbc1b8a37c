/* A life from beginning to end: its traits, the administrator who creates the worlds (the keeper),
 * faults, restarts. */
#include "tests/lib/sim_life.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/token.h"
#include "server/base/heap.h"
#include "server/engine/world/world.h"
#include "server/host/host_state.h"
#include "server/session/session.h"
#include "tests/lib/bad_disk.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim_internal.h"
#include "tests/lib/worlds.h"

enum { TRIES = 30, TOKENS_AT_ONCE = 8 };

static const uint8_t KEY[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };
#define KEY_FILE "key 7 0102030405060708090a0b0c0d0e0f10 controller\n"

static const char *const NAMES[] = { "w0", "w1", "w2" };

static uint32_t draw(struct life *life, uint32_t below)
{
	return life_draw(life, below);
}

/* ---- the keeper --------------------------------------------------------------------------------- */

static bool keeper_is_open(void *context)
{
	const struct sim_client *client = context;
	return client->open || client->closed;
}

struct sim_client *life_keeper(struct life *life)
{
	struct sim_client_options admin = sim_client_options_default();
	admin.address = SIM_UNIX;
	for (int i = 0; i < TRIES; i++) {
		if (life->keeper != NULL && life->keeper->open && !life->keeper->closed)
			return life->keeper;
		life->keeper = server_sim_client(life->sim, &admin);
		if (!server_sim_until(life->sim, keeper_is_open, life->keeper, 5 * NS_PER_S))
			continue;
		struct message join;
		for (uint32_t w = 0; w < LIFE_WORLDS && life->keeper->open; w++) {
			message_init(&join, MESSAGE_WORLD_JOIN);
			join.world_join.ref = sim_ref(life->keeper);
			join.world_join.world = life->worlds[w];
			if (life->worlds[w] != 0)
				(void)sim_try(life->keeper, &join, MESSAGE_WORLD_INFO);
		}
	}
	ck_abort_msg("seed %llu: the keeper is refused", (unsigned long long)life->seed);
	return NULL;
}

enum status life_keeper_try(struct life *life, const struct message *message,
			    enum message_type answer)
{
	enum status status = STATUS_CLOSED;
	for (int i = 0; i < TRIES && (status == STATUS_CLOSED || status == STATUS_NO_MEMORY); i++)
		status = sim_try(life_keeper(life), message, answer);
	return status;
}

enum status life_control(struct life *life, uint32_t w, enum wire_control action, double value)
{
	struct message control;
	message_init(&control, MESSAGE_CONTROL);
	control.control.ref = sim_ref(life_keeper(life));
	control.control.world = life->worlds[w];
	control.control.action = action;
	control.control.value = value;
	return life_keeper_try(life, &control, MESSAGE_WORLD_INFO);
}

static const struct host *host_of(const struct life *life, uint32_t w)
{
	const struct served_world *served =
		worlds_find(&life->sim->server->worlds, life->worlds[w]);
	return served != NULL ? served->host : NULL;
}

bool life_world_failed(const struct life *life, uint32_t w)
{
	const struct host *host = host_of(life, w);
	return host != NULL && host->mode == WIRE_MODE_FAILED;
}

static void set_pace(struct life *life)
{
	static const double speeds[] = { 0.5, 1, 4 };
	uint32_t what = draw(life, 4), w = draw(life, LIFE_RUNNING);
	enum wire_control action = what == 0   ? WIRE_CONTROL_PAUSE
				   : what == 1 ? WIRE_CONTROL_SPEED
					       : WIRE_CONTROL_RESUME;
	(void)life_control(life, w, action, what == 1 ? speeds[draw(life, 3)] : 1);
}

static void save_and_restore(struct life *life)
{
	struct message message;
	struct sim_client *keeper = life_keeper(life);
	uint32_t world = life->worlds[draw(life, LIFE_RUNNING + 1)];
	if (draw(life, 2) == 0) {
		message_init(&message, MESSAGE_SAVE);
		message.save.ref = sim_ref(keeper);
		message.save.world = world;
		message.save.name = wire_text("s");
		message.save.kind = message.save.ref % 2; /* a snapshot or a moment */
	} else {
		message_init(&message, MESSAGE_RESTORE);
		message.restore.ref = sim_ref(keeper);
		message.restore.world = world;
		message.restore.name = wire_text("s");
		message.restore.kind = message.restore.ref % 2;
	}
	sim_send(keeper, &message);
}

/* ---- a world that comes and goes ---------------------------------------------------------------- */

static void copy_world(struct life *life)
{
	struct sim_client *keeper = life_keeper(life);
	struct message fork;
	char name[16];
	snprintf(name, sizeof name, "x%u", (unsigned)++life->copies);
	message_init(&fork, MESSAGE_FORK);
	fork.fork.ref = sim_ref(keeper);
	fork.fork.world = life->worlds[draw(life, LIFE_RUNNING)];
	fork.fork.name = wire_text(name);
	const struct message *answer = sim_ask(keeper, &fork, MESSAGE_FORKED);
	if (answer == NULL || answer->type != MESSAGE_FORKED)
		return;
	life->worlds[LIFE_COPY] = (uint32_t)answer->forked.world;
	for (uint32_t i = 0; i < LIFE_CLIENTS_MAX; i++) {
		life->seats[i].joined[LIFE_COPY] = false;
		life->seats[i].at[LIFE_COPY] = 0;
	}
	struct message join;
	message_init(&join, MESSAGE_WORLD_JOIN);
	join.world_join.ref = sim_ref(keeper);
	join.world_join.world = life->worlds[LIFE_COPY];
	(void)life_keeper_try(life, &join, MESSAGE_WORLD_INFO);
	(void)life_control(life, LIFE_COPY, WIRE_CONTROL_RESUME, 1);
}

static void end_copy(struct life *life)
{
	struct message destroy;
	uint32_t world = life->worlds[LIFE_COPY];
	message_init(&destroy, MESSAGE_WORLD_DESTROY);
	destroy.world_destroy.ref = sim_ref(life_keeper(life));
	destroy.world_destroy.world = world;
	/* Requests sent there may find it gone. */
	for (uint32_t i = 0; i < life->fate_count; i++)
		if (life->fates[i].world == world)
			life->fates[i--] = life->fates[--life->fate_count];
	for (uint32_t i = 0; i < life->traits.clients; i++)
		if (life->seats[i].client != NULL && life->seats[i].joined[LIFE_COPY])
			life->left[life->seats[i].client->index] = true;
	(void)life_keeper_try(life, &destroy, MESSAGE_REPLY);
	life->worlds[LIFE_COPY] = 0;
}

/* ---- tokens ------------------------------------------------------------------------------------- */

/* Each daemon gets new tokens, because a daemon refuses only the used tokens that it has seen
 * itself. */
static void issue_tokens(struct life *life)
{
	struct reason why;
	life->token_first = life->token_count;
	if (!life->traits.tokens || life->token_count + TOKENS_AT_ONCE > LIFE_TOKENS)
		return;
	ck_assert_int_eq(
		keyring_load(&life->sim->server->service.keyring, KEY_FILE, strlen(KEY_FILE), &why),
		STATUS_OK);
	for (uint32_t i = 0; i < TOKENS_AT_ONCE; i++) {
		struct connect_token token = {
			.role = (enum wire_role)(WIRE_ROLE_OBSERVER + draw(life, 3)),
			.key = 7,
			.expires_s = IO_SIM_EPOCH_S + server_sim_now(life->sim) / NS_PER_S + 600,
		};
		uint32_t nonce = ++life->token_count;
		memcpy(token.nonce, &nonce, sizeof nonce);
		life->token_roles[nonce - 1] = token.role;
		ck_assert_int_eq(token_write(&token, KEY, sizeof KEY, life->tokens[nonce - 1]),
				 STATUS_OK);
	}
}

/* ---- restarts ----------------------------------------------------------------------------------- */

/* The durable state of a world before a restart, to which the restored world is compared. */
struct promise {
	uint32_t number, epoch;
	uint64_t tick, edit;
};

static struct promise promise_of(const struct life *life, uint32_t w)
{
	struct promise promise = { .number = life->worlds[w] };
	for (uint32_t i = 0; i < life->sim->client_count; i++) {
		const struct sim_durable *heard = &life->sim->clients[i]->durable[promise.number];
		bool later = heard->epoch > promise.epoch ||
			     (heard->epoch == promise.epoch &&
			      (heard->tick > promise.tick ||
			       (heard->tick == promise.tick && heard->edit > promise.edit)));
		if (later) {
			promise.epoch = heard->epoch;
			promise.tick = heard->tick;
			promise.edit = heard->edit;
		}
	}
	return promise;
}

/* The restored world has a state that existed, no older than the durable one. */
static void check_promise(struct life *life, uint32_t w, const struct promise *promise)
{
	struct world *world = server_sim_world(life->sim, life->worlds[w]);
	struct world_info info = world_info(world);
	bool was = server_sim_was(life->sim, promise->number, info.tick, info.edit,
				  world_tick_hash(world));
	ck_assert_msg(was, "seed %llu: world %s has a state at tick %llu that never existed",
		      (unsigned long long)life->seed, NAMES[w], (unsigned long long)info.tick);
	ck_assert_uint_gt(info.epoch, promise->epoch);
	if (!life->traits.goes_back)
		ck_assert_msg(info.tick > promise->tick ||
				      (info.tick == promise->tick && info.edit >= promise->edit),
			      "seed %llu: world %s lost tick %llu: %llu",
			      (unsigned long long)life->seed, NAMES[w],
			      (unsigned long long)promise->tick, (unsigned long long)info.tick);
}

static uint32_t find_number(struct life *life, const char *name)
{
	const struct served_world *served = worlds_find_name(&life->sim->server->worlds, name);
	return served != NULL ? served->number : 0;
}

/* Copies the files as a kill would leave them now to another directory. */
static void copy_files(struct life *life, char directory[RECORDER_PATH])
{
	struct recorder from;
	recorder_directory(directory);
	snprintf(from.directory, sizeof from.directory, "%s", life->directory);
	for (uint32_t w = 0; w < LIFE_COPY; w++)
		recorder_copy(&from, NAMES[w], directory);
	recorder_copy_sessions(&from, directory);
}

/* The lab is paused; the other worlds run. */
static void start_worlds(struct life *life)
{
	for (uint32_t w = 0; w < LIFE_RUNNING; w++)
		(void)life_control(life, w, WIRE_CONTROL_RESUME, 1);
	(void)life_control(life, LIFE_LAB, WIRE_CONTROL_PAUSE, 1);
	const struct world *lab = server_sim_world(life->sim, life->worlds[LIFE_LAB]);
	life->lab_from = world_info(lab).tick;
	life->lab_steps = 0;
}

/* Clients that read in time receive a GOODBYE with the time to reconnect. */
static void drain(struct life *life)
{
	struct sim_client *readers[LIFE_CLIENTS_MAX];
	uint32_t count = 0, seconds = draw(life, 12);
	server_sim_run(life->sim, (uint64_t)draw(life, 200) * NS_PER_MS);
	for (uint32_t i = 0; i < life->traits.clients; i++) {
		struct sim_client *client = life->seats[i].client;
		if (client != NULL && client->open && !client->closed && !life->seats[i].stalled)
			readers[count++] = client;
	}
	server_drain(life->sim->server);
	server_sim_run(life->sim, seconds * NS_PER_S);
	for (uint32_t i = 0; i < count && seconds > 2 && life->sim->sim->options.reset == 0; i++)
		ck_assert_msg(readers[i]->goodbye != STATUS_OK, "seed %llu: no GOODBYE",
			      (unsigned long long)life->seed);
}

void life_restart(struct life *life)
{
	char next[RECORDER_PATH], old[RECORDER_PATH];
	struct promise promises[LIFE_COPY];
	struct sim_durable durable[LIFE_COPY];
	bool drained = draw(life, 2) == 0;
	if (life->worlds[LIFE_COPY] != 0)
		end_copy(life);
	life_judge(life, false);
	if (drained)
		drain(life);
	life->sim->fail_in = 0;
	for (uint32_t w = 0; w < LIFE_COPY; w++)
		promises[w] = promise_of(life, w);
	copy_files(life, next);
	server_sim_end(life->sim);
	bad_disk_mend();
	memcpy(old, life->directory, sizeof old);
	memcpy(life->directory, next, sizeof next);
	server_sim_begin(life->sim, life->directory);
	recorder_remove(old);
	for (uint32_t w = 0; w < LIFE_COPY; w++) {
		life->worlds[w] = find_number(life, NAMES[w]);
		ck_assert_msg(life->worlds[w] != 0, "seed %llu: %s did not come back",
			      (unsigned long long)life->seed, NAMES[w]);
		check_promise(life, w, &promises[w]);
		durable[w] = (struct sim_durable){ 0, promises[w].tick, promises[w].edit };
	}
	life_judge_survivors(life, durable);
	life->fate_count = life->ask_count = 0;
	server_sim_forget(life->sim);
	life->began_at = server_sim_now(life->sim);
	memset(life->left, 0, sizeof life->left);
	life->restarts++;
	issue_tokens(life);
	start_worlds(life);
}

/* ---- what breaks, and what the keeper does ------------------------------------------------------ */

static void break_disk(struct life *life)
{
	if (bad_disk_failures() == 0)
		bad_disk_break(1 + draw(life, 200), draw(life, 2) == 0 ? ENOSPC : EIO);
}

static void fail_allocation(struct life *life)
{
	if (life->sim->fail_in == 0)
		life->sim->fail_in = 1 + draw(life, 4000);
}

/* An administrator's queries, and the sessions that it ends. */
static void administer(struct life *life)
{
	struct sim_client *keeper = life_keeper(life);
	struct message message;
	uint64_t ref = sim_ref(keeper);
	switch (draw(life, 5)) {
	case 0:
		message_init(&message, MESSAGE_INFO);
		message.info.ref = ref;
		break;
	case 1:
		message_init(&message, MESSAGE_SESSIONS);
		message.sessions.ref = ref;
		break;
	case 2:
		message_init(&message, MESSAGE_MONITOR);
		message.monitor.ref = ref;
		message.monitor.on = draw(life, 2);
		break;
	case 3:
		message_init(&message, MESSAGE_CONFIG);
		message.config.ref = ref;
		break;
	default:
		message_init(&message, MESSAGE_KICK);
		message.kick.ref = ref;
		message.kick.session = keeper->session + 1 + draw(life, 20);
		break;
	}
	life_ask(life, keeper, &message, MESSAGE_REPLY);
}

/* Performs a fault or an act of the keeper, if one is drawn; true: it did. */
static bool fate_acts(struct life *life)
{
	const struct life_traits *traits = &life->traits;
	uint32_t what = draw(life, 1000);
	if (what < 20)
		set_pace(life);
	else if (what < 28 && life->worlds[LIFE_COPY] == 0 && life->copies < 8)
		copy_world(life);
	else if (what < 34 && life->worlds[LIFE_COPY] != 0)
		end_copy(life);
	else if (what < 46 && traits->goes_back)
		save_and_restore(life);
	else if (what < 66 && traits->poor)
		fail_allocation(life);
	else if (what < 69 && traits->bad_disk)
		break_disk(life);
	else if (what < 76 && life->restarts < traits->restarts)
		life_restart(life);
	else if (what < 110 && bad_disk_failures() > 0)
		life_restart(life); /* only a restart ends the failure */
	else if (what >= 990)
		administer(life);
	else
		return false;
	return true;
}

/* ---- beginning and end -------------------------------------------------------------------------- */

static struct life_traits draw_traits(struct life *life)
{
	struct life_traits traits = {
		.clients = 2 + draw(life, LIFE_CLIENTS_MAX - 3),
		.liars = draw(life, 3) == 0,
		.goes_back = draw(life, 3) == 0,
		.files = draw(life, 2) == 0,
		.poor = draw(life, 4) == 0,
		.tokens = draw(life, 2) == 0,
	};
	traits.bad_disk = traits.files && draw(life, 2) == 0;
	traits.restarts = traits.files ? 1 + draw(life, 2) : 0;
	traits.command = traits.files && draw(life, 2) == 0;
	traits.goes_on = traits.bad_disk && draw(life, 2) == 0;
	return traits;
}

static void open_sim(struct life *life)
{
	struct server_sim_options options = server_sim_options_default(life->seed);
	uint32_t argument = 0;
	options.io.quiet = true;
	options.io.executor.workers = 1 + draw(life, 3);
	options.io.delay_max = (uint64_t)(1 + draw(life, 20)) * NS_PER_MS;
	options.io.kernel_bytes = draw(life, 3) == 0 ? 16384 + draw(life, 20000) : 172544;
	options.io.reset = draw(life, 4) == 0 ? 300 : 0;
	if (life->traits.files) {
		recorder_directory(life->directory);
		options.arguments[argument++] = "--data";
		options.arguments[argument++] = life->directory;
		options.arguments[argument++] = "--checkpoint-ticks";
		options.arguments[argument++] = "40";
	}
	if (life->traits.command) {
		options.arguments[argument++] = "--durability";
		options.arguments[argument++] = "command";
	}
	if (life->traits.goes_on) {
		options.arguments[argument++] = "--disk-failure";
		options.arguments[argument++] = "continue";
	}
	if (draw(life, 2) == 0) {
		options.arguments[argument++] = "--drain-redirect";
		options.arguments[argument++] = "tcp:127.0.0.1:7412";
	}
	/* Addresses are limited, so that they are counted. */
	options.arguments[argument++] = "--address-sessions";
	options.arguments[argument++] = "200";
	if (draw(life, 4) == 0) {
		options.arguments[argument++] = "--sessions-max";
		options.arguments[argument++] = "80";
	}
	life->sim = server_sim_create(&options);
	bad_disk_slow(life->traits.files && draw(life, 2) == 0 ? life->sim->sim : NULL,
		      draw(life, 300) * NS_PER_US + 1);
}

static void begin_world(struct life *life, uint32_t w)
{
	struct sim_client *keeper = life->keeper;
	struct command commands[2];
	uint32_t world = life->worlds[w] = sim_make_world(keeper, NAMES[w], NULL);
	sim_upload(keeper, world, TEST_SPHERE);
	sim_upload(keeper, world, TEST_PLANE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	commands[1] = commands[0];
	commands[1].shape_use.name = test_shape_name(TEST_PLANE);
	const struct message *stepped = sim_step(keeper, world, 1, 0, commands, 2);
	ck_assert(stepped != NULL && stepped->type == MESSAGE_STEPPED);
}

static void begin(struct life *life, uint64_t seed)
{
	struct sim_client_options admin = sim_client_options_default();
	(void)test_shape_source();
	*life = (struct life){ .seed = seed, .rng = rng_seeded(seed * 77 + 5) };
	life->heap = heap_live();
	life->traits = draw_traits(life);
	bad_disk_mend();
	open_sim(life);
	/* No connection is reset while the worlds are made. */
	uint32_t reset = life->sim->sim->options.reset;
	life->sim->sim->options.reset = 0;
	admin.address = SIM_UNIX;
	life->keeper = server_sim_guest(life->sim, &admin);
	for (uint32_t w = 0; w < LIFE_COPY; w++)
		begin_world(life, w);
	start_worlds(life);
	issue_tokens(life);
	life->sim->sim->options.reset = reset;
	for (uint32_t i = 0; i < life->traits.clients + life->traits.liars; i++)
		life_connect(life, i);
}

/* The holder gives up the lease; a holder that does not answer is disconnected. */
static void end_lease(struct life *life)
{
	const struct host *host = host_of(life, LIFE_LAB);
	struct message message;
	if (host == NULL || host->lease == 0)
		return;
	message_init(&message, MESSAGE_KICK);
	message.kick.ref = sim_ref(life_keeper(life));
	message.kick.session = host->lease;
	ck_assert_int_eq(life_keeper_try(life, &message, MESSAGE_REPLY), STATUS_OK);
	/* The connection may take time to read its GOODBYE. */
	for (int i = 0; i < 100 && host->lease != 0; i++)
		server_sim_run(life->sim, 100 * NS_PER_MS);
	ck_assert_msg(host->lease == 0, "seed %llu: a disconnected session still has the lease",
		      (unsigned long long)life->seed);
}

static void stop_worlds(struct life *life)
{
	for (uint32_t w = 0; w < LIFE_WORLDS; w++) {
		if (life->worlds[w] == 0)
			continue;
		enum status status = life_control(life, w, WIRE_CONTROL_PAUSE, 1);
		ck_assert_msg(status == STATUS_OK || life_world_failed(life, w),
			      "seed %llu: pause %d", (unsigned long long)life->seed, (int)status);
	}
}

void life_settle(struct life *life)
{
	life->sim->fail_in = 0;
	life->sim->sim->options.reset = 0;
	for (uint32_t i = 0; i < LIFE_CLIENTS_MAX; i++)
		if (life->seats[i].client != NULL)
			sim_stall(life->seats[i].client, false);
	server_sim_run(life->sim, 500 * NS_PER_MS);
	end_lease(life);
	for (uint32_t w = 0; w < LIFE_WORLDS; w++)
		if (life->worlds[w] != 0) {
			enum status status = life_control(life, w, WIRE_CONTROL_RESUME, 1);
			ck_assert_msg(status == STATUS_OK || life_world_failed(life, w),
				      "seed %llu: resume %d", (unsigned long long)life->seed,
				      (int)status);
		}
	server_sim_run(life->sim, 3 * NS_PER_S);
	stop_worlds(life);
	server_sim_run(life->sim, NS_PER_S);
}

/* Prints what happened in the life, to show that it tested enough. */
static void print_life(struct life *life)
{
	uint32_t kinds[128] = { 0 }, back = 0, partial = 0, notices = 0;
	for (uint32_t i = 0; i < life->sim->client_count; i++) {
		const struct sim_client *client = life->sim->clients[i];
		for (uint32_t k = 0; k < client->received.count; k++)
			kinds[client->received.items[k].message.type]++;
		back += client->open ? client->resumes : 0;
		for (uint32_t k = 0; k < client->subscription_count; k++) {
			partial += client->subscriptions[k].part;
			notices += client->subscriptions[k].skipped > 0;
		}
	}
	printf("# %llu mirrors compared, %u clients, %u came back, %u restarts; at the end %u batches, "
	       "%u requests, %u parts of worlds, %u skipped\n",
	       (unsigned long long)life->sim->compared, (unsigned)life->sim->client_count,
	       (unsigned)back, (unsigned)life->restarts, (unsigned)life->fate_count,
	       (unsigned)life->ask_count, (unsigned)partial, (unsigned)notices);
	uint32_t made = 0, shown = 0;
	for (uint32_t w = 0; w < LIFE_WORLDS; w++) {
		const struct world *world = server_sim_world(life->sim, life->worlds[w]);
		made += world != NULL ? world->tables.world.next_joint[0] - 1 : 0;
	}
	for (uint32_t i = 0; i < life->sim->client_count; i++)
		for (uint32_t k = 0; k < life->sim->clients[i]->subscription_count; k++)
			shown += life->sim->clients[i]->subscriptions[k].mirror.joints.count;
	printf("# %u joints made in the worlds that are left, %u shown at the end\n",
	       (unsigned)made, (unsigned)shown);
	printf("# %u stepped, %u answers, %u shapes, %u saved, %u restored, %u forked, %u errors, "
	       "%u goodbyes\n",
	       (unsigned)kinds[MESSAGE_STEPPED], (unsigned)kinds[MESSAGE_ANSWER],
	       (unsigned)kinds[MESSAGE_SHAPE_INFO], (unsigned)kinds[MESSAGE_SAVED],
	       (unsigned)kinds[MESSAGE_RESTORED], (unsigned)kinds[MESSAGE_FORKED],
	       (unsigned)kinds[MESSAGE_ERROR], (unsigned)kinds[MESSAGE_GOODBYE]);
	fflush(stdout);
}

static void end(struct life *life)
{
	life_settle(life);
	life_judge(life, true);
	ck_assert(server_sim_sound(life->sim));
	life->compared = life->sim->compared;
	print_life(life);
	life->trace = io_sim_trace(life->sim->sim) ^ rng_mix(life->compared);
	bad_disk_slow(NULL, 0);
	ck_assert(server_sim_drain(life->sim, 60 * NS_PER_S));
	server_sim_destroy(life->sim);
	bad_disk_mend();
	if (life->traits.files)
		recorder_remove(life->directory);
	ck_assert_int_eq(heap_live(), life->heap);
}

uint64_t life_live(uint64_t seed, uint32_t acts)
{
	static struct life life;
	bad_disk_install();
	begin(&life, seed);
	printf("# seed %llu: %u clients%s%s%s%s%s%s%s%s\n", (unsigned long long)seed,
	       (unsigned)life.traits.clients, life.traits.liars > 0 ? ", liars" : "",
	       life.traits.goes_back ? ", goes back" : "", life.traits.files ? ", files" : "",
	       life.traits.bad_disk ? ", bad disk" : "", life.traits.command ? ", command" : "",
	       life.traits.goes_on ? ", goes on" : "", life.traits.poor ? ", poor" : "",
	       life.traits.tokens ? ", tokens" : "");
	fflush(stdout);
	/* A life in which no complete mirror was compared proves nothing, so it continues until one
	 * was. */
	for (uint32_t i = 0; i < acts || (life.sim->compared == 0 && i < 4 * acts); i++) {
		if (!fate_acts(&life))
			life_act(&life);
		server_sim_run(life.sim, (uint64_t)draw(&life, 12) * NS_PER_MS);
	}
	end(&life);
	ck_assert_uint_gt(life.compared, 0);
	return life.trace;
}
