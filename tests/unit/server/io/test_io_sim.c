/* The simulated network beyond the contract of io.h: repeatability, faults, and simulated time. */
#include "tests/lib/io_sim.h"

#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "tests/lib/check_main.h"

enum { CLIENTS = 8, ROUNDS = 40, WINDOW = 700 };

/* An echo server and its clients, with all faults switched on. */
struct echo_sim {
	struct io_sim *sim;
	struct io *server;
	struct frame_pool *pool;
	struct address address;
	struct io_listener *listener;
	uint32_t open, closed_client, closed_server, mismatches;
	uint64_t echoed;
};

struct side {
	struct echo_sim *echo_sim;
	struct stream *stream;
	bool is_server;
	uint8_t room[WINDOW];
	uint64_t received, sent;
	uint64_t salt;
	uint32_t rounds;
	enum status why;
	bool closed;
};

static struct side clients[CLIENTS], servers[CLIENTS];

static uint8_t pattern(uint64_t i, uint64_t salt)
{
	return (uint8_t)(rng_mix(i / 8 ^ salt) >> 8 * (i % 8));
}

static size_t on_space(void *context, uint8_t **into)
{
	struct side *side = context;
	*into = side->room;
	return sizeof side->room;
}

static void send_bytes(struct side *side, const uint8_t *bytes, uint32_t count)
{
	struct frame *frame;
	ck_assert_int_eq(frame_create(side->echo_sim->pool, count, &frame), STATUS_OK);
	memcpy(frame->data, bytes, count);
	frame->bytes = count;
	if (stream_write(side->stream, &frame, 1) == STATUS_OK)
		side->sent += count;
	frame_release(frame);
}

static void send_round(struct side *side)
{
	uint8_t bytes[1500];
	uint32_t count = 1 + (uint32_t)(rng_mix(side->salt + side->rounds) % sizeof bytes);
	for (uint32_t i = 0; i < count; i++)
		bytes[i] = pattern(side->sent + i, side->salt);
	side->rounds++;
	send_bytes(side, bytes, count);
}

static void on_received(void *context, size_t bytes)
{
	struct side *side = context;
	if (side->is_server) {
		send_bytes(side, side->room, (uint32_t)bytes);
		side->received += bytes;
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		side->echo_sim->mismatches +=
			side->room[i] != pattern(side->received + i, side->salt);
	side->received += bytes;
	side->echo_sim->echoed += bytes;
	if (side->received < side->sent)
		return;
	if (side->rounds < ROUNDS)
		send_round(side);
	else
		stream_finish(side->stream);
}

static void on_connected(void *context)
{
	send_round(context);
}

static void on_closed(void *context, enum status why)
{
	struct side *side = context;
	side->why = why;
	side->closed = true;
	side->stream = NULL;
	if (side->is_server)
		side->echo_sim->closed_server++;
	else
		side->echo_sim->closed_client++;
}

static const struct stream_events EVENTS = { on_connected, on_space, on_received, NULL, on_closed };

static void on_accepted(void *context, struct stream *stream)
{
	struct echo_sim *echo_sim = context;
	struct side *side = &servers[echo_sim->open++];
	*side = (struct side){ .echo_sim = echo_sim, .stream = stream, .is_server = true };
	stream_start(stream, &EVENTS, side);
}

static void echo_open(struct echo_sim *echo_sim, struct io_sim_options options)
{
	memset(echo_sim, 0, sizeof *echo_sim);
	memset(servers, 0, sizeof servers);
	ck_assert_int_eq(frame_pool_create(1 << 20, &echo_sim->pool), STATUS_OK);
	ck_assert_int_eq(io_sim_create(&options, &echo_sim->sim), STATUS_OK);
	echo_sim->server = io_sim_host(echo_sim->sim, 0);
	ck_assert_int_eq(address_parse("unix:sim", &echo_sim->address, NULL), STATUS_OK);
	ck_assert_int_eq(io_listen(echo_sim->server, &echo_sim->address, on_accepted, echo_sim,
				   &echo_sim->listener, NULL),
			 STATUS_OK);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		struct side *side = &clients[i];
		*side = (struct side){ .echo_sim = echo_sim, .salt = i + 1 };
		ck_assert_int_eq(io_connect(io_sim_host(echo_sim->sim, i + 1), &echo_sim->address,
					    &EVENTS, side, &side->stream),
				 STATUS_OK);
	}
}

/* frame_pool_destroy asserts that every frame was returned. */
static void echo_close(struct echo_sim *echo_sim)
{
	io_sim_destroy(echo_sim->sim);
	frame_pool_destroy(echo_sim->pool);
}

static bool all_closed(void *context)
{
	struct echo_sim *echo_sim = context;
	return echo_sim->closed_client == CLIENTS && echo_sim->closed_server == echo_sim->open;
}

static uint64_t in_ten_minutes(struct echo_sim *echo_sim)
{
	return io_sim_now(echo_sim->sim) + 600 * NS_PER_S;
}

START_TEST(every_byte_is_echoed_whatever_reads_and_writes_are_cut)
{
	struct echo_sim echo_sim;
	struct io_sim_options options = io_sim_options_default(check_seed() + (uint64_t)_i);
	options.torn = 1000;
	options.kernel_bytes = 64 + (uint32_t)_i * 100;
	echo_open(&echo_sim, options);
	ck_assert(io_sim_run_for(echo_sim.sim, all_closed, &echo_sim, in_ten_minutes(&echo_sim)));
	ck_assert_uint_eq(echo_sim.mismatches, 0);
	for (uint32_t i = 0; i < CLIENTS; i++) {
		ck_assert_uint_eq(clients[i].rounds, ROUNDS);
		ck_assert_uint_eq(clients[i].received, clients[i].sent);
		ck_assert_int_eq(clients[i].why, STATUS_OK);
	}
	echo_close(&echo_sim);
}
END_TEST

static uint64_t trace_of(uint64_t seed)
{
	struct echo_sim echo_sim;
	struct io_sim_options options = io_sim_options_default(seed);
	options.reset = 2000;
	options.quiet = true;
	echo_open(&echo_sim, options);
	ck_assert(io_sim_run_for(echo_sim.sim, all_closed, &echo_sim, in_ten_minutes(&echo_sim)));
	uint64_t trace = io_sim_trace(echo_sim.sim) ^ rng_mix(echo_sim.echoed);
	echo_close(&echo_sim);
	return trace;
}

START_TEST(equal_seeds_give_equal_runs_and_other_seeds_others)
{
	uint64_t seed = check_seed() + (uint64_t)_i;
	ck_assert_uint_eq(trace_of(seed), trace_of(seed));
	ck_assert_uint_ne(trace_of(seed), trace_of(seed + 1));
}
END_TEST

START_TEST(a_lost_connection_closes_on_both_sides_and_leaks_nothing)
{
	struct echo_sim echo_sim;
	struct io_sim_options options = io_sim_options_default(check_seed() + (uint64_t)_i);
	options.reset = 20000;
	echo_open(&echo_sim, options);
	ck_assert(io_sim_run_for(echo_sim.sim, all_closed, &echo_sim, in_ten_minutes(&echo_sim)));
	uint32_t lost = 0;
	for (uint32_t i = 0; i < CLIENTS; i++)
		lost += clients[i].why == STATUS_CLOSED;
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_eq(echo_sim.mismatches, 0);
	echo_close(&echo_sim);
}
END_TEST

static bool first_server_closed(void *context)
{
	UNUSED(context);
	return servers[0].closed;
}

static bool all_have_received(void *context)
{
	UNUSED(context);
	uint32_t talking = 0;
	for (uint32_t i = 0; i < CLIENTS; i++)
		talking += clients[i].received > 0;
	return talking == CLIENTS;
}

START_TEST(a_vanished_peer_is_noticed_only_by_what_it_does_not_acknowledge)
{
	struct echo_sim echo_sim;
	echo_open(&echo_sim, io_sim_options_default(check_seed()));
	ck_assert(io_sim_run_for(echo_sim.sim, all_have_received, &echo_sim,
				 in_ten_minutes(&echo_sim)));
	struct side *server = &servers[0];
	/* Both ends of the last connection are idle when its peer vanishes. */
	server->received = 0;
	stream_close(server->stream);
	ck_assert(io_sim_run_for(echo_sim.sim, first_server_closed, &echo_sim,
				 in_ten_minutes(&echo_sim)));
	struct side *last = &servers[CLIENTS - 1];
	io_sim_vanish(last->stream);
	uint32_t before = echo_sim.closed_client;
	io_sim_run_until(echo_sim.sim, io_sim_now(echo_sim.sim) + 10 * NS_PER_S);
	ck_assert(last->closed);
	/* The other clients finish. The client that lost its server closes after the timeout if it
	 * had sent bytes, and stays open otherwise. */
	io_sim_run_until(echo_sim.sim, io_sim_now(echo_sim.sim) + 30 * NS_PER_S);
	ck_assert_uint_gt(echo_sim.closed_client, before);
	uint32_t slow = 0, silent = 0;
	for (uint32_t i = 0; i < CLIENTS; i++) {
		slow += clients[i].closed && clients[i].why == STATUS_SLOW;
		silent += !clients[i].closed;
	}
	ck_assert_uint_eq(slow + silent, 1);
	echo_close(&echo_sim);
}
END_TEST

/* ---- a stalled reader ---------------------------------------------------------------------- */
/* A server sends to one client that has stopped reading. */
static uint64_t flood(struct echo_sim *echo_sim, struct side *server)
{
	static const uint8_t BYTES[1000];
	uint64_t sent = server->sent;
	for (uint32_t i = 0; i < 1000; i++) {
		send_bytes(server, BYTES, sizeof BYTES);
		io_sim_run_until(echo_sim->sim, io_sim_now(echo_sim->sim) + NS_PER_MS);
	}
	return server->sent - sent;
}

START_TEST(a_stalled_reader_holds_bounded_bytes_and_gets_all_of_them_later)
{
	struct echo_sim echo_sim;
	struct io_sim_options options = io_sim_options_default(check_seed());
	options.limits.queue_bytes = 100000;
	echo_open(&echo_sim, options);
	for (uint32_t i = 0; i < CLIENTS; i++)
		clients[i].rounds = ROUNDS - 1; /* they send one message and stay */
	for (uint32_t i = 0; i < CLIENTS; i++)
		io_sim_stall(clients[i].stream, true);
	io_sim_run_until(echo_sim.sim, io_sim_now(echo_sim.sim) + NS_PER_S);
	ck_assert_uint_eq(echo_sim.open, CLIENTS);
	struct side *server = &servers[2];
	uint64_t accepted = flood(&echo_sim, server) + server->received;
	ck_assert_uint_le(stream_queued(server->stream), options.limits.queue_bytes);
	ck_assert_uint_le(io_sim_in_kernel(server->stream), options.kernel_bytes);
	ck_assert_uint_eq(accepted,
			  stream_queued(server->stream) + io_sim_in_kernel(server->stream));
	ck_assert_uint_gt(io_counters(echo_sim.server)->writes_refused, 0);
	echo_sim.echoed = 0;
	for (uint32_t i = 0; i < CLIENTS; i++)
		io_sim_stall(clients[i].stream, false);
	stream_finish(server->stream);
	ck_assert(io_sim_run_for(echo_sim.sim, all_closed, &echo_sim, in_ten_minutes(&echo_sim)));
	ck_assert_uint_ge(io_counters(io_sim_host(echo_sim.sim, 0))->bytes_out, accepted);
	ck_assert_uint_eq(io_counters(echo_sim.server)->queued_bytes, 0);
	echo_close(&echo_sim);
}
END_TEST

/* ---- time ---------------------------------------------------------------------------------- */
struct slow {
	struct io_sim *sim;
	struct executor *executor;
	uint64_t at[3];
	uint32_t count;
};

static void take_time(void *context)
{
	struct slow *slow = context;
	uint64_t before = executor_now(slow->executor);
	io_sim_spend(slow->sim, 5 * NS_PER_MS);
	ck_assert_uint_eq(executor_now(slow->executor), before + 5 * NS_PER_MS);
	slow->at[slow->count++] = before;
}

START_TEST(spent_time_delays_its_own_thread_only)
{
	struct slow slow = { 0 }, other = { 0 };
	struct io_sim_options options = io_sim_options_default(check_seed());
	ck_assert_int_eq(io_sim_create(&options, &slow.sim), STATUS_OK);
	slow.executor = other.executor = io_sim_executor(slow.sim);
	other.sim = slow.sim;
	uint64_t start = io_sim_now(slow.sim);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(executor_post(slow.executor, EXECUTOR_WORKER, take_time, &slow),
				 STATUS_OK);
	ck_assert_int_eq(executor_post(slow.executor, EXECUTOR_STORE, take_time, &other),
			 STATUS_OK);
	struct reason why;
	ck_assert_int_eq(executor_start(slow.executor, &why), STATUS_OK);
	io_sim_run_until(slow.sim, start + NS_PER_S);
	ck_assert_uint_eq(slow.count, 3);
	ck_assert_uint_eq(other.count, 1);
	ck_assert_uint_ge(slow.at[1] - slow.at[0], 5 * NS_PER_MS);
	ck_assert_uint_ge(slow.at[2] - slow.at[1], 5 * NS_PER_MS);
	ck_assert_uint_le(other.at[0] - start, options.hand_off_max);
	executor_stop(slow.executor);
	io_sim_destroy(slow.sim);
}
END_TEST

static void count_signal(void *context, int signal)
{
	UNUSED(signal);
	++*(uint32_t *)context;
}

START_TEST(a_run_ends_at_a_signal_or_without_events)
{
	struct io_sim *sim;
	uint32_t signals = 0;
	struct io_sim_options options = io_sim_options_default(check_seed());
	ck_assert_int_eq(io_sim_create(&options, &sim), STATUS_OK);
	ck_assert_int_eq(io_set_signals(io_sim_host(sim, 0), count_signal, &signals), STATUS_OK);
	io_sim_signal(io_sim_host(sim, 0), 15);
	io_run(io_sim_host(sim, 0));
	ck_assert_uint_eq(signals, 1);
	ck_assert(!io_sim_step(sim));
	io_sim_destroy(sim);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("tests/lib/io_sim");
	TCase *network = tcase_create("network");
	tcase_add_loop_test(network, every_byte_is_echoed_whatever_reads_and_writes_are_cut, 0, 4);
	tcase_add_loop_test(network, equal_seeds_give_equal_runs_and_other_seeds_others, 0, 3);
	tcase_add_loop_test(network, a_lost_connection_closes_on_both_sides_and_leaks_nothing, 0,
			    4);
	tcase_add_test(network, a_vanished_peer_is_noticed_only_by_what_it_does_not_acknowledge);
	tcase_add_test(network, a_stalled_reader_holds_bounded_bytes_and_gets_all_of_them_later);
	suite_add_tcase(suite, network);
	TCase *time = tcase_create("time");
	tcase_add_test(time, spent_time_delays_its_own_thread_only);
	tcase_add_test(time, a_run_ends_at_a_signal_or_without_events);
	suite_add_tcase(suite, time);
	return suite;
}

int main(void)
{
	return check_main(make);
}
