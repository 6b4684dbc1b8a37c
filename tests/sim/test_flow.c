/* Flow control: clients that stall, never acknowledge, or request and never read; limits that stop
 * a world; draining. */
#include <string.h>

#include "protocol/query_wire.h"
#include "server/base/heap.h"
#include "server/session/session.h"
#include "tests/lib/check_main.h"
#include "tests/lib/server_sim.h"
#include "tests/lib/worlds.h"

enum { WATCHERS = 8 };

struct hall {
	struct server_sim *sim;
	struct sim_client *keeper, *watchers[WATCHERS];
	uint32_t world;
};

static void open_hall(struct hall *hall, uint64_t seed, uint32_t caps, const char *const *arguments)
{
	struct server_sim_options options = server_sim_options_default(seed);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	for (int i = 0; arguments != NULL && arguments[i] != NULL; i++)
		options.arguments[i] = arguments[i];
	hall->sim = server_sim_create(&options);
	who.address = SIM_UNIX;
	hall->keeper = server_sim_guest(hall->sim, &who);
	hall->world = sim_make_world(hall->keeper, "hall", NULL);
	who.address = SIM_TCP;
	who.caps = caps;
	for (uint32_t i = 0; i < WATCHERS; i++) {
		hall->watchers[i] = server_sim_guest(hall->sim, &who);
		sim_join(hall->watchers[i], hall->world);
		sim_subscribe(hall->watchers[i], 1, hall->world, WIRE_COLUMNS_ALL,
			      WIRE_PROFILE_EXACT, 1, 0x1fe);
	}
}

/* Bodies that never sleep. */
static void fill(struct hall *hall, uint32_t bodies)
{
	static struct command commands[200];
	for (uint32_t made = 0; made < bodies;) {
		uint32_t count = bodies - made < 200 ? bodies - made : 200;
		for (uint32_t i = 0; i < count; i++) {
			commands[i] = sim_spawn(i, 100, made, 0, false);
			commands[i].spawn.velocity = (vec3){ 1, 30, 0 };
		}
		const struct message *stepped =
			sim_step(hall->keeper, hall->world, 1, 0, commands, count);
		ck_assert_ptr_nonnull(stepped);
		ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
		made += count;
	}
}

static void close_hall(struct hall *hall)
{
	ck_assert(server_sim_sound(hall->sim));
	ck_assert(server_sim_drain(hall->sim, 60 * NS_PER_S));
	server_sim_destroy(hall->sim);
}

static uint64_t queued(const struct hall *hall)
{
	return io_counters(io_sim_host(hall->sim->sim, 0))->queued_bytes;
}

struct watch_times {
	uint64_t gap_max, queued_max;
	int64_t heap_max;
	uint64_t frames[WATCHERS];
};

/* Lets time pass and measures how long the readers wait for their next frame. */
static struct watch_times measure_watchers(struct hall *hall, uint64_t ns, uint32_t first)
{
	struct watch_times measure_watchers = { 0 };
	uint64_t end = server_sim_now(hall->sim) + ns;
	for (uint32_t i = 0; i < WATCHERS; i++)
		measure_watchers.frames[i] = hall->watchers[i]->subscriptions[0].frames;
	while (server_sim_now(hall->sim) < end) {
		server_sim_run(hall->sim, 2 * NS_PER_MS);
		for (uint32_t i = first; i < WATCHERS; i++) {
			uint64_t last = hall->watchers[i]->subscriptions[0].last_at;
			uint64_t gap = server_sim_now(hall->sim) - last;
			measure_watchers.gap_max =
				gap > measure_watchers.gap_max ? gap : measure_watchers.gap_max;
		}
		measure_watchers.queued_max = queued(hall) > measure_watchers.queued_max
						      ? queued(hall)
						      : measure_watchers.queued_max;
		measure_watchers.heap_max = heap_live() > measure_watchers.heap_max
						    ? heap_live()
						    : measure_watchers.heap_max;
	}
	for (uint32_t i = 0; i < WATCHERS; i++)
		measure_watchers.frames[i] =
			hall->watchers[i]->subscriptions[0].frames - measure_watchers.frames[i];
	return measure_watchers;
}

static void stalled_among_others(uint64_t seed, uint32_t caps)
{
	struct hall hall;
	open_hall(&hall, seed, caps, NULL);
	fill(&hall, 200);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(hall.sim, NS_PER_S);
	struct watch_times before = measure_watchers(&hall, 3 * NS_PER_S, 0);
	sim_stall(hall.watchers[0], true);
	struct watch_times during = measure_watchers(&hall, 15 * NS_PER_S, 1);
	/* The other clients wait no longer than before and get every tick. The simulated network
	 * may cut a write short: a client without acknowledgements then gets no new frame until the
	 * rest of the cut frame is sent. */
	uint64_t own = caps & WIRE_CAP_ACK ? 0 : NS_PER_S / 60;
	uint32_t torn = caps & WIRE_CAP_ACK ? 2 : 9;
	ck_assert_uint_le(during.gap_max, before.gap_max + own + 10 * NS_PER_MS);
	for (uint32_t i = 1; i < WATCHERS; i++)
		ck_assert_uint_ge(during.frames[i], 15 * 60 - torn);
	/* The queue of the stalled client is bounded by its credit and the limit of queued state. */
	ck_assert_uint_le(during.queued_max, OUTBOX_STATE_BYTES + (128u << 10));
	const struct sim_subscription *stalled = &hall.watchers[0]->subscriptions[0];
	ck_assert_uint_le(during.frames[0], 40);
	/* The client reads again: after 1 s its mirror is at most 90 ticks behind. */
	ck_assert(!hall.watchers[0]->closed);
	sim_stall(hall.watchers[0], false);
	server_sim_run(hall.sim, NS_PER_S);
	const struct world *world = server_sim_world(hall.sim, hall.world);
	ck_assert_uint_ge(stalled->mirror.tick + 90, world_info(world).tick);
	ck_assert_uint_gt(stalled->skipped, 500);
	/* After 25 s more it gets its full rate again. */
	server_sim_run(hall.sim, 25 * NS_PER_S);
	struct watch_times after = measure_watchers(&hall, 2 * NS_PER_S, 0);
	ck_assert_uint_ge(after.frames[0], 2 * 60 - 10);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	for (uint32_t i = 0; i < WATCHERS; i++)
		ck_assert(sim_caught_up(hall.watchers[i], 1, 2 * NS_PER_S));
	close_hall(&hall);
}

START_TEST(a_stalled_client_delays_no_other_and_catches_up)
{
	stalled_among_others(check_seed() + (uint64_t)_i, WIRE_CAPS_ALL);
}
END_TEST

START_TEST(a_stalled_client_without_acknowledgements_delays_no_other)
{
	stalled_among_others(check_seed() + (uint64_t)_i, WIRE_CAP_EXACT);
}
END_TEST

START_TEST(a_client_that_never_acknowledges_is_slowed_and_not_disconnected)
{
	struct hall hall;
	open_hall(&hall, check_seed(), WIRE_CAPS_ALL, NULL);
	fill(&hall, 20);
	hall.watchers[0]->options.no_acks = true;
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	struct watch_times during = measure_watchers(&hall, 5 * NS_PER_S, 1);
	ck_assert_uint_le(during.frames[0], 40);
	ck_assert_uint_ge(during.frames[1], 5 * 60 - 40);
	ck_assert(!hall.watchers[0]->closed);
	close_hall(&hall);
}
END_TEST

START_TEST(a_paused_world_sends_its_state_to_skipped_clients)
{
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i, _i % 2 ? WIRE_CAPS_ALL : WIRE_CAP_EXACT,
		  NULL);
	fill(&hall, 300);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(hall.sim, NS_PER_S);
	sim_stall(hall.watchers[0], true);
	server_sim_run(hall.sim, 4 * NS_PER_S);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	sim_stall(hall.watchers[0], false);
	server_sim_run(hall.sim, 2 * NS_PER_S);
	/* The divisor may leave the mirror a few ticks behind; RESYNC fetches the rest at once. */
	struct message resync;
	message_init(&resync, MESSAGE_RESYNC);
	resync.resync.sub = 1;
	sim_send(hall.watchers[0], &resync);
	ck_assert(sim_caught_up(hall.watchers[0], 1, NS_PER_S));
	close_hall(&hall);
}
END_TEST

START_TEST(a_client_that_requests_and_never_reads_is_disconnected)
{
	struct hall hall;
	open_hall(&hall, check_seed(), WIRE_CAPS_ALL, NULL);
	fill(&hall, 1000);
	sim_stall(hall.watchers[0], true);
	uint64_t most = 0;
	for (int i = 0; i < 300 && !hall.watchers[0]->closed; i++) {
		struct message step;
		message_init(&step, MESSAGE_STEP);
		step.step.world = hall.world;
		step.step.request = (uint64_t)i + 1;
		step.step.want = WIRE_WANT_EXACT;
		sim_send(hall.watchers[0], &step);
		server_sim_run(hall.sim, 20 * NS_PER_MS);
		most = queued(&hall) > most ? queued(&hall) : most;
	}
	server_sim_run(hall.sim, 10 * NS_PER_S);
	ck_assert_uint_le(most, 3u << 20);
	ck_assert_uint_eq(hall.sim->server->service.sessions.items.count, WATCHERS);
	/* All other clients are served. */
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	struct watch_times after = measure_watchers(&hall, NS_PER_S, 1);
	ck_assert_uint_ge(after.frames[1], 50);
	close_hall(&hall);
}
END_TEST

START_TEST(at_the_limit_for_all_clients_the_longest_queue_is_disconnected_first)
{
	static const char *const arguments[] = { "--queue-bytes-total", "1M", NULL };
	struct hall hall;
	open_hall(&hall, check_seed(), WIRE_CAPS_ALL, arguments);
	fill(&hall, 1000);
	for (uint32_t i = 0; i < 3; i++)
		sim_stall(hall.watchers[i], true);
	/* Watcher 0 sends 9 STEPs, watcher 1 sends 4, watcher 2 sends 3. */
	for (uint64_t request = 1; request <= 9; request++)
		for (uint32_t i = 0; i < 3; i++) {
			struct message step;
			message_init(&step, MESSAGE_STEP);
			step.step.world = hall.world;
			step.step.request = request;
			step.step.want = WIRE_WANT_EXACT;
			if (request <= 9 / (i + 1))
				sim_send(hall.watchers[i], &step);
		}
	server_sim_run(hall.sim, 3 * NS_PER_S);
	const struct registry *sessions = &hall.sim->server->service.sessions;
	ck_assert_uint_lt(sessions->items.count, WATCHERS + 1);
	ck_assert_ptr_null(registry_find(sessions, hall.watchers[0]->handshake.session));
	ck_assert_ptr_nonnull(registry_find(sessions, hall.watchers[2]->handshake.session));
	ck_assert_uint_le(queued(&hall), 1u << 20);
	close_hall(&hall);
}
END_TEST

START_TEST(a_snapshot_larger_than_every_queue_arrives_in_parts)
{
	struct hall hall;
	struct server_sim_options options = server_sim_options_default(check_seed() + (uint64_t)_i);
	options.io.quiet = true;
	hall.sim = server_sim_create(&options);
	struct sim_client_options who = sim_client_options_default();
	who.address = SIM_UNIX;
	hall.keeper = server_sim_guest(hall.sim, &who);
	hall.world = sim_make_world(hall.keeper, "hall", NULL);
	fill(&hall, 18000);
	for (uint32_t i = 0; i < 3; i++) {
		who.caps = i == 2 ? WIRE_CAP_EXACT : WIRE_CAPS_ALL;
		hall.watchers[i] = server_sim_guest(hall.sim, &who);
		sim_join(hall.watchers[i], hall.world);
		sim_subscribe(hall.watchers[i], 1, hall.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT,
			      1, 0);
	}
	uint64_t most = 0;
	for (int i = 0; i < 400; i++) {
		server_sim_run(hall.sim, 10 * NS_PER_MS);
		most = queued(&hall) > most ? queued(&hall) : most;
	}
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert(sim_caught_up(hall.watchers[i], 1, 10 * NS_PER_S));
		ck_assert_uint_gt(hall.watchers[i]->bytes_in, 2u << 20);
		ck_assert_uint_eq(hall.watchers[i]->subscriptions[0].mirror.count, 18000);
	}
	ck_assert_uint_le(most, 3 * (192u << 10));
	/* A client stalls in the middle of the snapshot: the rest of the frame is discarded after a
	 * time. The client gets a whole snapshot when it reads again. */
	struct sim_client *slow = server_sim_guest(hall.sim, &who);
	sim_join(slow, hall.world);
	sim_subscribe(slow, 1, hall.world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0);
	server_sim_run(hall.sim, 8 * NS_PER_MS);
	sim_stall(slow, true);
	server_sim_run(hall.sim, 15 * NS_PER_S);
	struct fanout_counters counters;
	fanout_counters(worlds_find(&hall.sim->server->worlds, hall.world)->fanout, &counters);
	sim_stall(slow, false);
	ck_assert(sim_caught_up(slow, 1, 20 * NS_PER_S));
	close_hall(&hall);
}
END_TEST

/* ---- limits ----------------------------------------------------------------------------------- */

static uint32_t small_world(struct sim_client *client, uint64_t contacts_max)
{
	uint8_t packed[64];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	wire_pack_string(&out, "contacts_max");
	wire_pack_uint(&out, contacts_max);
	struct wire_list options = { packed, out.bytes, 1 };
	return sim_make_world(client, "small", &options);
}

START_TEST(a_limit_stops_the_world_is_reported_and_can_be_repaired)
{
	struct server_sim_options options = server_sim_options_default(check_seed() + (uint64_t)_i);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client *client = server_sim_guest(sim, &who);
	uint32_t world = small_world(client, 2);
	struct command commands[8];
	sim_upload(client, world, TEST_SPHERE);
	command_defaults(&commands[0], COMMAND_SHAPE_USE);
	commands[0].shape_use.name = test_shape_name(TEST_SPHERE);
	sim_step(client, world, 1, 0, commands, 1);
	sim_subscribe(client, 1, world, WIRE_COLUMNS_ALL, WIRE_PROFILE_EXACT, 1, 0x1fe);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, 300 * NS_PER_MS);
	/* Six overlapping spheres make more contacts than contacts_max. */
	for (int i = 0; i < 6; i++)
		commands[i] = sim_spawn(0.1 * i, 3, 0, i, true);
	uint64_t batch = sim_commands(client, world, commands, 6, 0, WIRE_LATE_APPLY);
	const struct sim_result *result = sim_await_result(client, world, batch);
	ck_assert_ptr_nonnull(result);
	ck_assert_int_eq(result->code, STATUS_OK); /* the bodies are spawned; the step fails */
	server_sim_run(sim, 500 * NS_PER_MS);
	const struct served_world *served = worlds_find(&sim->server->worlds, world);
	ck_assert_int_eq(served->mode, WIRE_MODE_FAILED);
	ck_assert(sim_subscription(client, 1)->event_kinds >> EVENT_LIMIT & 1);
	uint64_t limits = sim_subscription(client, 1)->events;
	bool said = false;
	for (uint32_t i = 0; i < client->received.count; i++) {
		const struct message *message = &client->received.items[i].message;
		said = said ||
		       (message->type == MESSAGE_WORLD_INFO && message->world_info.ref == 0 &&
			message->world_info.mode == WIRE_MODE_FAILED);
	}
	ck_assert(said);
	/* A second try changes nothing and reports the limit again. */
	uint64_t tick = served->tick;
	const struct message *stepped = sim_step(client, world, 1, 0, NULL, 0);
	ck_assert_int_eq(stepped->type, MESSAGE_ERROR);
	ck_assert_int_eq((int)stepped->error.code, STATUS_LIMIT);
	ck_assert_uint_eq(served->tick, tick);
	/* After most of the spheres are removed the world steps again. */
	for (int i = 0; i < 5; i++) {
		command_defaults(&commands[i], COMMAND_REMOVE);
		commands[i].remove.body = result->values[i];
	}
	stepped = sim_step(client, world, 1, 0, commands, 5);
	ck_assert_int_eq(stepped->type, MESSAGE_STEPPED);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(sim, 500 * NS_PER_MS);
	ck_assert_uint_gt(served->tick, tick + 20);
	ck_assert_uint_le(sim_subscription(client, 1)->events, limits + 1);
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_PAUSE, 1), STATUS_OK);
	ck_assert(sim_caught_up(client, 1, NS_PER_S));
	ck_assert_uint_eq(sim_subscription(client, 1)->mirror.count, 1);
	ck_assert_uint_eq(result->arrivals, 1);
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_full_inbox_refuses_with_busy_and_applies_its_batches)
{
	struct server_sim_options options = server_sim_options_default(check_seed());
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	options.arguments[0] = "--inbox-batches";
	options.arguments[1] = "8";
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client *client = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(client, "w", NULL);
	/* Under a lease the batches stay pending until the holder steps. */
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	for (int i = 0; i < 20; i++) {
		struct command spawn = sim_spawn(0, i, 0, i, false);
		sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	}
	server_sim_run(sim, 200 * NS_PER_MS);
	for (uint64_t batch = 1; batch <= 20; batch++) {
		const struct sim_result *result = sim_result(client, world, batch);
		ck_assert((result != NULL) == (batch > 8));
		if (result != NULL)
			ck_assert_int_eq(result->code, STATUS_BUSY);
	}
	ck_assert_int_eq(sim_step(client, world, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
	for (uint64_t batch = 1; batch <= 8; batch++) {
		const struct sim_result *result = sim_await_result(client, world, batch);
		ck_assert_ptr_nonnull(result);
		ck_assert_int_eq(result->code, STATUS_OK);
		ck_assert_uint_eq(result->values[0], batch);
	}
	/* A refused number is used up: a repeat gets the same refusal and is not applied. */
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	sim_commands_as(client, world, 15, &spawn, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(sim, 100 * NS_PER_MS);
	ck_assert_int_eq(sim_step(client, world, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
	ck_assert_uint_eq(sim_result(client, world, 15)->arrivals, 2);
	ck_assert_uint_eq(world_bodies(server_sim_world(sim, world), NULL, 0), 8);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(more_batches_than_kept_results_are_all_answered)
{
	enum { BATCHES = WIRE_RESULTS_KEPT + 700 };
	struct server_sim_options options = server_sim_options_default(check_seed());
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	options.truth = false;
	struct server_sim *sim = server_sim_create(&options);
	who.frame_down = WIRE_FRAME_MIN;
	struct sim_client *client = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(client, "w", NULL);
	/* Under a lease the batches stay pending until the holder steps. */
	ck_assert_int_eq(sim_control(client, world, WIRE_CONTROL_LOCKSTEP, 1), STATUS_OK);
	for (int i = 0; i < BATCHES; i++) {
		struct command spawn = sim_spawn(0, i, 0, 0, false);
		sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
		if (i % 50 == 0)
			server_sim_run(sim, 20 * NS_PER_MS);
	}
	server_sim_run(sim, 500 * NS_PER_MS);
	ck_assert_uint_eq(client->results.count, 0);
	ck_assert_int_eq(sim_step(client, world, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
	server_sim_run(sim, 500 * NS_PER_MS);
	ck_assert_uint_eq(client->results.count, BATCHES);
	for (uint64_t batch = 1; batch <= BATCHES; batch++) {
		const struct sim_result *result = sim_result(client, world, batch);
		ck_assert_int_eq(result->code, STATUS_OK);
		ck_assert_uint_eq(result->values[0], batch);
		ck_assert_uint_eq(result->arrivals, 1);
	}
	ck_assert(server_sim_sound(sim));
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

START_TEST(a_number_names_one_batch_even_after_leaving_and_rejoining)
{
	struct server_sim_options options = server_sim_options_default(check_seed() + (uint64_t)_i);
	struct sim_client_options who = sim_client_options_default();
	options.io.quiet = true;
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client *client = server_sim_guest(sim, &who);
	uint32_t world = sim_make_world(client, "w", NULL);
	struct command spawn = sim_spawn(0, 1, 0, 1, false);
	sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	struct message leave;
	message_init(&leave, MESSAGE_WORLD_LEAVE);
	leave.world_leave.ref = sim_ref(client);
	leave.world_leave.world = world;
	ck_assert_int_eq(sim_try(client, &leave, MESSAGE_REPLY), STATUS_OK);
	sim_join(client, world);
	/* A repeat of number 1 refers to the batch that is still pending; number 2 is a new batch. */
	sim_commands_as(client, world, 1, &spawn, 1, 0, WIRE_LATE_APPLY);
	spawn.spawn.tag = 2;
	sim_commands(client, world, &spawn, 1, 0, WIRE_LATE_APPLY);
	server_sim_run(sim, 100 * NS_PER_MS);
	ck_assert_int_eq(sim_step(client, world, 1, 0, NULL, 0)->type, MESSAGE_STEPPED);
	ck_assert_ptr_nonnull(sim_await_result(client, world, 2));
	ck_assert_uint_eq(world_bodies(server_sim_world(sim, world), NULL, 0), 2);
	ck_assert_uint_eq(sim_result(client, world, 1)->values[0], 1);
	ck_assert_uint_eq(sim_result(client, world, 2)->values[0], 2);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

/* ---- draining --------------------------------------------------------------------------------- */

START_TEST(draining_sends_goodbye_and_does_not_wait_for_stalled_clients)
{
	static const char *const arguments[] = { "--drain-ms", "3000", NULL };
	struct hall hall;
	(void)test_shape_source();
	int64_t heap = heap_live();
	open_hall(&hall, check_seed() + (uint64_t)_i, WIRE_CAPS_ALL, arguments);
	fill(&hall, 300);
	ck_assert_int_eq(sim_control(hall.keeper, hall.world, WIRE_CONTROL_RESUME, 1), STATUS_OK);
	server_sim_run(hall.sim, NS_PER_S);
	struct sim_client_options who = sim_client_options_default();
	who.raw = true;
	server_sim_client(hall.sim, &who); /* never sends a byte */
	sim_stall(hall.watchers[0], true);
	server_sim_run(hall.sim, NS_PER_S);
	sim_vanish(hall.watchers[1]);
	server_sim_run(hall.sim, 100 * NS_PER_MS);
	uint64_t begun = server_sim_now(hall.sim);
	ck_assert(server_sim_drain(hall.sim, 60 * NS_PER_S));
	ck_assert_uint_le(server_sim_now(hall.sim) - begun, 6 * NS_PER_S);
	for (uint32_t i = 2; i < WATCHERS; i++)
		ck_assert_int_eq(hall.watchers[i]->goodbye, STATUS_DRAINING);
	ck_assert_int_eq(hall.keeper->goodbye, STATUS_DRAINING);
	ck_assert(server_sim_sound(hall.sim));
	server_sim_destroy(hall.sim);
	ck_assert_int_eq(heap_live(), heap);
}
END_TEST

START_TEST(half_open_and_silent_peers_are_disconnected_in_time)
{
	static const char *const arguments[] = { "--ping-ms", "1000", NULL };
	struct hall hall;
	open_hall(&hall, check_seed() + (uint64_t)_i, WIRE_CAPS_ALL, arguments);
	struct sim_client_options who = sim_client_options_default();
	who.raw = true;
	struct sim_client *silent = server_sim_client(hall.sim, &who);
	struct sim_client *slow = server_sim_client(hall.sim, &who);
	server_sim_run(hall.sim, 100 * NS_PER_MS);
	/* A frame of which only the first 7 bytes arrive. */
	sim_send_bytes(slow, "\xc6\x00\x00\x00\x20\x92\x01", 7);
	sim_vanish(hall.watchers[0]);
	hall.watchers[1]->options.raw = true; /* answers no PING from here */
	hall.watchers[1]->options.no_acks = true;
	server_sim_run(hall.sim, 5 * NS_PER_S);
	ck_assert(silent->closed && slow->closed && hall.watchers[1]->closed);
	ck_assert_int_eq(silent->goodbye, STATUS_HANDSHAKE);
	/* The keeper and the other watchers answer PINGs and stay connected. */
	ck_assert(!hall.keeper->closed && !hall.watchers[2]->closed);
	ck_assert_uint_eq(hall.sim->server->service.sessions.items.count, WATCHERS - 1);
	close_hall(&hall);
}
END_TEST

START_TEST(connections_without_hello_cannot_block_new_ones)
{
	static const char *const arguments[] = { "--sessions-max", "400", NULL };
	struct server_sim_options options = server_sim_options_default(check_seed());
	options.io.quiet = true;
	memcpy(options.arguments, arguments, sizeof arguments);
	struct server_sim *sim = server_sim_create(&options);
	struct sim_client_options who = sim_client_options_default();
	who.raw = true;
	for (int i = 0; i < 150; i++)
		server_sim_client(sim, &who);
	server_sim_run(sim, 200 * NS_PER_MS);
	ck_assert_uint_le(sim->server->service.sessions.greeting, 100);
	/* After their two seconds the silent connections are closed and new ones are accepted. */
	server_sim_run(sim, 3 * NS_PER_S);
	ck_assert_uint_eq(sim->server->service.sessions.greeting, 0);
	who.raw = false;
	(void)server_sim_guest(sim, &who);
	ck_assert(server_sim_drain(sim, 60 * NS_PER_S));
	server_sim_destroy(sim);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/sim/flow");
	TCase *flow = tcase_create("flow");
	tcase_set_timeout(flow, 30);
	tcase_add_loop_test(flow, a_stalled_client_delays_no_other_and_catches_up, 0, 2);
	tcase_add_loop_test(flow, a_stalled_client_without_acknowledgements_delays_no_other, 0, 2);
	tcase_add_test(flow, a_client_that_never_acknowledges_is_slowed_and_not_disconnected);
	tcase_add_loop_test(flow, a_paused_world_sends_its_state_to_skipped_clients, 0, 4);
	tcase_add_test(flow, a_client_that_requests_and_never_reads_is_disconnected);
	tcase_add_test(flow, at_the_limit_for_all_clients_the_longest_queue_is_disconnected_first);
	tcase_add_test(flow, a_snapshot_larger_than_every_queue_arrives_in_parts);
	suite_add_tcase(suite, flow);
	TCase *limits = tcase_create("limits");
	tcase_add_loop_test(limits, a_limit_stops_the_world_is_reported_and_can_be_repaired, 0, 4);
	tcase_add_test(limits, a_full_inbox_refuses_with_busy_and_applies_its_batches);
	tcase_add_test(limits, more_batches_than_kept_results_are_all_answered);
	tcase_add_loop_test(limits, a_number_names_one_batch_even_after_leaving_and_rejoining, 0,
			    4);
	suite_add_tcase(suite, limits);
	TCase *ends = tcase_create("ends");
	tcase_set_timeout(ends, 30);
	tcase_add_loop_test(ends, draining_sends_goodbye_and_does_not_wait_for_stalled_clients, 0,
			    4);
	tcase_add_loop_test(ends, half_open_and_silent_peers_are_disconnected_in_time, 0, 3);
	tcase_add_test(ends, connections_without_hello_cannot_block_new_ones);
	suite_add_tcase(suite, ends);
	return suite;
}

int main(void)
{
	return check_main(make);
}
