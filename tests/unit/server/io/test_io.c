/* The contract of io.h, tested on its three implementations: libuv over Unix sockets, libuv over
 * TCP, and the simulated network. */
#include "server/io/io.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/io/io_uv.h"
#include "tests/lib/check_main.h"
#include "tests/lib/io_sim.h"

enum backend { UV_UNIX, UV_TCP, SIM, BACKENDS };
enum { BUFFER_BYTES = 8 << 20, ENDS_MAX = 8 };

/* One end of a stream, the bytes it received and its events. */
struct end {
	struct stream *stream;
	uint8_t *bytes; /* BUFFER_BYTES */
	size_t count;
	size_t window; /* most bytes offered to a read; 0: none */
	uint32_t connected, drained, closed;
	enum status why;
	bool inside; /* a call on the stream is in progress, so no callback may come */
};

struct rig {
	enum backend backend;
	struct io_sim *sim;
	struct io *server, *client; /* the same io on libuv */
	struct frame_pool *pool;
	struct io_listener *listener;
	struct address address;
	struct end ends[ENDS_MAX]; /* accepted ends from 0, connecting ends from ENDS_MAX / 2 */
	uint32_t accepted;
	bool (*done)(struct rig *rig);
	struct io_timer *limit;
	bool late;
	char path[64];
};

static size_t on_space(void *context, uint8_t **into)
{
	struct end *end = context;
	ck_assert(!end->inside);
	*into = end->bytes + end->count;
	return MIN_OF(end->window, BUFFER_BYTES - end->count);
}

static void on_received(void *context, size_t bytes)
{
	struct end *end = context;
	ck_assert(!end->inside);
	ck_assert_uint_gt(bytes, 0);
	ck_assert_uint_le(bytes, end->window);
	end->count += bytes;
}

static void on_connected(void *context)
{
	((struct end *)context)->connected++;
}

static void on_drained(void *context)
{
	((struct end *)context)->drained++;
}

static void on_closed(void *context, enum status why)
{
	struct end *end = context;
	ck_assert(!end->inside);
	end->closed++;
	end->why = why;
	end->stream = NULL;
}

static const struct stream_events EVENTS = { on_connected, on_space, on_received, on_drained,
					     on_closed };

static void on_accepted(void *context, struct stream *stream)
{
	struct rig *rig = context;
	ck_assert_uint_lt(rig->accepted, ENDS_MAX / 2);
	struct end *end = &rig->ends[rig->accepted++];
	end->stream = stream;
	stream_start(stream, &EVENTS, end);
}

static void on_late(void *context)
{
	struct rig *rig = context;
	rig->late = true;
	io_stop(rig->server);
}

static void on_flush(void *context)
{
	struct rig *rig = context;
	if (rig->done(rig))
		io_stop(rig->server);
}

static bool done_in_sim(void *context)
{
	struct rig *rig = context;
	return rig->done(rig);
}

/* Runs until `done` holds; fails the test after a second (a minute of simulated time). */
static void run_until(struct rig *rig, bool (*done)(struct rig *rig))
{
	rig->done = done;
	if (rig->sim != NULL) {
		uint64_t limit = io_sim_now(rig->sim) + 60 * NS_PER_S;
		ck_assert(io_sim_run_for(rig->sim, done_in_sim, rig, limit));
		return;
	}
	io_set_flush(rig->server, on_flush, rig);
	io_timer_start(rig->limit, io_now(rig->server) + 3 * NS_PER_S);
	io_run(rig->server);
	io_timer_start(rig->limit, INSTANT_NEVER);
	io_set_flush(rig->server, NULL, NULL);
	ck_assert(!rig->late);
}

static void rig_open(struct rig *rig, int backend, const struct io_limits *limits)
{
	memset(rig, 0, sizeof *rig);
	rig->backend = (enum backend)backend;
	ck_assert_int_eq(frame_pool_create(1 << 20, &rig->pool), STATUS_OK);
	for (uint32_t i = 0; i < ENDS_MAX; i++) {
		rig->ends[i].window = 4096;
		rig->ends[i].bytes = heap_alloc(BUFFER_BYTES);
		ck_assert_ptr_nonnull(rig->ends[i].bytes);
	}
	if (backend == SIM) {
		struct io_sim_options options = io_sim_options_default(check_seed());
		options.limits = *limits;
		ck_assert_int_eq(io_sim_create(&options, &rig->sim), STATUS_OK);
		rig->server = io_sim_host(rig->sim, 0);
		rig->client = io_sim_host(rig->sim, 1);
	} else {
		ck_assert_int_eq(io_uv_create(limits, &rig->server), STATUS_OK);
		rig->client = rig->server;
		ck_assert_int_eq(io_timer_create(rig->server, on_late, rig, &rig->limit),
				 STATUS_OK);
	}
	snprintf(rig->path, sizeof rig->path, "unix:/tmp/cairn_test_io_%d.sock", (int)getpid());
	const char *text = backend == UV_UNIX ? rig->path : "tcp:127.0.0.1:0";
	struct address wanted;
	ck_assert_int_eq(address_parse(text, &wanted, NULL), STATUS_OK);
	ck_assert_int_eq(io_listen(rig->server, &wanted, on_accepted, rig, &rig->listener, NULL),
			 STATUS_OK);
	io_listener_address(rig->listener, &rig->address);
}

/* frame_pool_destroy asserts that every frame was returned. */
static void rig_close(struct rig *rig)
{
	if (rig->listener != NULL)
		io_listener_close(rig->listener);
	if (rig->sim != NULL) {
		io_sim_destroy(rig->sim);
	} else {
		io_timer_destroy(rig->limit);
		io_uv_destroy(rig->server);
	}
	for (uint32_t i = 0; i < ENDS_MAX; i++) {
		ck_assert_ptr_null(rig->ends[i].stream);
		heap_free(rig->ends[i].bytes);
	}
	frame_pool_destroy(rig->pool);
}

static struct end *server_end(struct rig *rig)
{
	return &rig->ends[0];
}

static struct end *client_end(struct rig *rig)
{
	return &rig->ends[ENDS_MAX / 2];
}

static bool is_joined(struct rig *rig)
{
	return rig->accepted >= 1 && client_end(rig)->connected == 1;
}

static void join(struct rig *rig)
{
	struct end *end = client_end(rig);
	ck_assert_int_eq(io_connect(rig->client, &rig->address, &EVENTS, end, &end->stream),
			 STATUS_OK);
	run_until(rig, is_joined);
}

/* Byte i of the stream called `salt`. */
static uint8_t pattern(uint64_t i, uint64_t salt)
{
	return (uint8_t)(rng_mix(i / 8 ^ salt) >> 8 * (i % 8));
}

static struct frame *make_frame(struct rig *rig, uint32_t bytes, uint64_t from, uint64_t salt)
{
	struct frame *frame;
	ck_assert_int_eq(frame_create(rig->pool, bytes, &frame), STATUS_OK);
	for (uint32_t i = 0; i < bytes; i++)
		frame->data[i] = pattern(from + i, salt);
	frame->bytes = bytes;
	return frame;
}

/* Writes `frames` frames of up to `bytes_max`, several at a time; returns the bytes accepted. */
static uint64_t write_many(struct rig *rig, struct end *end, uint32_t frames, uint32_t bytes_max,
			   uint64_t salt)
{
	struct rng rng = rng_seeded(check_seed() ^ salt);
	uint64_t sent = 0;
	for (uint32_t left = frames; left > 0;) {
		struct frame *batch[STREAM_FRAMES_MAX];
		uint32_t count = 1 + rng_below(&rng, MIN_OF(left, 7));
		uint64_t bytes = 0;
		for (uint32_t i = 0; i < count; i++) {
			batch[i] =
				make_frame(rig, 1 + rng_below(&rng, bytes_max), sent + bytes, salt);
			bytes += batch[i]->bytes;
		}
		end->inside = true;
		enum status status = stream_write(end->stream, batch, count);
		end->inside = false;
		for (uint32_t i = 0; i < count; i++)
			frame_release(batch[i]);
		ck_assert(status == STATUS_OK || status == STATUS_FULL);
		sent += status == STATUS_OK ? bytes : 0;
		left -= count;
	}
	return sent;
}

static void expect_pattern(const struct end *end, uint64_t bytes, uint64_t salt)
{
	ck_assert_uint_eq(end->count, bytes);
	for (uint64_t i = 0; i < bytes; i++)
		if (end->bytes[i] != pattern(i, salt))
			ck_abort_msg("byte %llu of %llu differs", (unsigned long long)i,
				     (unsigned long long)bytes);
}

static uint64_t expected_bytes[2];

static bool both_have_all(struct rig *rig)
{
	return server_end(rig)->count >= expected_bytes[0] &&
	       client_end(rig)->count >= expected_bytes[1];
}

START_TEST(bytes_arrive_whole_and_in_order_both_ways)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	join(&rig);
	expected_bytes[0] = write_many(&rig, client_end(&rig), 200, 6000, 1);
	expected_bytes[1] = write_many(&rig, server_end(&rig), 200, 6000, 2);
	run_until(&rig, both_have_all);
	expect_pattern(server_end(&rig), expected_bytes[0], 1);
	expect_pattern(client_end(&rig), expected_bytes[1], 2);
	ck_assert_uint_eq(stream_queued(client_end(&rig)->stream), 0);
	rig_close(&rig);
}
END_TEST

START_TEST(reads_of_one_byte_lose_nothing)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	join(&rig);
	server_end(&rig)->window = client_end(&rig)->window = 1;
	expected_bytes[0] = write_many(&rig, client_end(&rig), 20, 60, 3);
	expected_bytes[1] = write_many(&rig, server_end(&rig), 20, 60, 4);
	run_until(&rig, both_have_all);
	expect_pattern(server_end(&rig), expected_bytes[0], 3);
	expect_pattern(client_end(&rig), expected_bytes[1], 4);
	rig_close(&rig);
}
END_TEST

START_TEST(a_reader_without_space_makes_its_sender_refuse_whole_writes)
{
	struct io_limits limits = io_limits_default;
	struct rig rig;
	limits.queue_bytes = 256 << 10;
	rig_open(&rig, _i, &limits);
	join(&rig);
	client_end(&rig)->window = 0;
	expected_bytes[0] = 0;
	expected_bytes[1] = write_many(&rig, server_end(&rig), 500, 20000, 5);
	const struct io_counters *counters = io_counters(rig.server);
	ck_assert_uint_gt(counters->writes_refused, 0);
	ck_assert_uint_le(stream_queued(server_end(&rig)->stream), limits.queue_bytes);
	ck_assert_uint_gt(stream_queued(server_end(&rig)->stream), 0);
	ck_assert_uint_gt(counters->queued_bytes, 0);
	/* Accepted bytes are in the queue or in a kernel buffer of bounded size. */
	ck_assert_uint_lt(expected_bytes[1], limits.queue_bytes + (1 << 20));
	client_end(&rig)->window = 100000;
	stream_resume(client_end(&rig)->stream);
	run_until(&rig, both_have_all);
	expect_pattern(client_end(&rig), expected_bytes[1], 5);
	ck_assert_uint_eq(counters->queued_bytes, 0);
	ck_assert_uint_eq(server_end(&rig)->drained, 1);
	rig_close(&rig);
}
END_TEST

static bool client_is_closed(struct rig *rig)
{
	return client_end(rig)->closed > 0;
}

static bool server_is_closed(struct rig *rig)
{
	return server_end(rig)->closed > 0;
}

static bool both_are_closed(struct rig *rig)
{
	return client_end(rig)->closed > 0 && server_end(rig)->closed > 0;
}

START_TEST(bytes_before_the_end_arrive_though_the_peer_sent_unread_bytes)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	join(&rig);
	server_end(&rig)->window = 0;
	(void)write_many(&rig, client_end(&rig), 20, 3000, 6);
	uint64_t sent = write_many(&rig, server_end(&rig), 100, 8000, 7);
	stream_finish(server_end(&rig)->stream);
	struct frame *more = make_frame(&rig, 1, 0, 0);
	ck_assert_int_eq(stream_write(server_end(&rig)->stream, &more, 1), STATUS_CLOSED);
	frame_release(more);
	run_until(&rig, both_are_closed);
	expect_pattern(client_end(&rig), sent, 7);
	ck_assert_int_eq(client_end(&rig)->why, STATUS_OK);
	ck_assert_int_eq(server_end(&rig)->why, STATUS_OK);
	rig_close(&rig);
}
END_TEST

START_TEST(finishing_waits_for_a_silent_peer_only_for_the_linger_time)
{
	struct io_limits limits = io_limits_default;
	struct rig rig;
	limits.linger_ms = 50;
	rig_open(&rig, _i, &limits);
	join(&rig);
	/* With a window of 0 the client does not see the end of file and never closes. */
	client_end(&rig)->window = 0;
	(void)write_many(&rig, server_end(&rig), 1, 10, 8);
	uint64_t before = io_now(rig.server);
	stream_finish(server_end(&rig)->stream);
	run_until(&rig, server_is_closed);
	/* libuv counts whole milliseconds from the one in which the timer was started, so 49 ms are
	 * enough. */
	ck_assert_uint_ge(io_now(rig.server) - before, 49 * NS_PER_MS);
	rig_close(&rig);
}
END_TEST

START_TEST(closing_drops_queued_bytes_and_reports_closed_once)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	join(&rig);
	client_end(&rig)->window = 0;
	(void)write_many(&rig, server_end(&rig), 200, 20000, 9);
	struct end *end = server_end(&rig);
	end->inside = true;
	stream_close(end->stream);
	stream_close(end->stream);
	end->inside = false;
	ck_assert_uint_eq(end->closed, 0);
	client_end(&rig)->window = 4096;
	stream_resume(client_end(&rig)->stream);
	run_until(&rig, both_are_closed);
	ck_assert_uint_eq(end->closed, 1);
	ck_assert_int_eq(end->why, STATUS_OK);
	ck_assert_uint_eq(client_end(&rig)->closed, 1);
	ck_assert_uint_eq(io_counters(rig.server)->queued_bytes, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(a_connection_without_a_listener_closes_as_missing)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	io_listener_close(rig.listener);
	rig.listener = NULL;
	struct end *end = client_end(&rig);
	ck_assert_int_eq(io_connect(rig.client, &rig.address, &EVENTS, end, &end->stream),
			 STATUS_OK);
	run_until(&rig, client_is_closed);
	ck_assert_int_eq(end->why, STATUS_MISSING);
	ck_assert_uint_eq(end->connected, 0);
	rig_close(&rig);
}
END_TEST

START_TEST(finishing_before_the_connection_is_made_closes_it)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	struct end *end = client_end(&rig);
	ck_assert_int_eq(io_connect(rig.client, &rig.address, &EVENTS, end, &end->stream),
			 STATUS_OK);
	stream_finish(end->stream);
	run_until(&rig, client_is_closed);
	ck_assert_int_eq(end->why, STATUS_OK);
	rig_close(&rig);
}
END_TEST

static bool two_are_refused_and_closed(struct rig *rig)
{
	uint32_t closed = 0;
	for (uint32_t i = ENDS_MAX / 2; i < ENDS_MAX; i++)
		closed += rig->ends[i].closed;
	return closed == 2 && io_counters(rig->server)->refused >= 2;
}

START_TEST(one_stream_too_many_is_closed_and_counted)
{
	struct io_limits limits = io_limits_default;
	struct rig rig;
	/* On libuv both ends belong to one loop, and both are counted there. */
	limits.streams_max = _i == SIM ? 2 : 6;
	rig_open(&rig, _i, &limits);
	for (uint32_t i = ENDS_MAX / 2; i < ENDS_MAX; i++) {
		struct end *end = &rig.ends[i];
		ck_assert_int_eq(io_connect(rig.client, &rig.address, &EVENTS, end, &end->stream),
				 STATUS_OK);
	}
	run_until(&rig, two_are_refused_and_closed);
	ck_assert_uint_eq(rig.accepted, 2);
	ck_assert_uint_eq(io_counters(rig.server)->accepted, 2);
	rig_close(&rig);
}
END_TEST

START_TEST(a_unix_peer_has_a_user_id)
{
	struct rig rig;
	struct peer peer;
	rig_open(&rig, _i, &io_limits_default);
	join(&rig);
	stream_peer(server_end(&rig)->stream, &peer);
	if (_i == UV_UNIX) {
		ck_assert(peer.known);
		ck_assert_uint_eq(peer.uid, getuid());
		ck_assert_int_eq(peer.pid, getpid());
	} else {
		ck_assert(!peer.known);
	}
	ck_assert_uint_gt(strlen(peer.text), 0);
	rig_close(&rig);
}
END_TEST

/* ---- timers and the loop ------------------------------------------------------------------- */
struct probe {
	struct rig *rig;
	uint64_t wanted;
	uint32_t fired;
	struct io_timer *timer;
};

static struct probe probes[5];

static void on_probe(void *context)
{
	struct probe *probe = context;
	ck_assert_uint_ge(io_now(probe->rig->server), probe->wanted);
	probe->fired++;
}

static bool last_probe_fired(struct rig *rig)
{
	UNUSED(rig);
	return probes[2].fired > 0;
}

START_TEST(a_timer_fires_once_and_never_early_and_can_be_moved_stopped_and_destroyed)
{
	struct rig rig;
	rig_open(&rig, _i, &io_limits_default);
	uint64_t now = io_now(rig.server);
	memset(probes, 0, sizeof probes);
	for (uint32_t i = 0; i < COUNT_OF(probes); i++) {
		probes[i].rig = &rig;
		probes[i].wanted = now + (i + 1) * 5 * NS_PER_MS + 123;
		ck_assert_int_eq(
			io_timer_create(rig.server, on_probe, &probes[i], &probes[i].timer),
			STATUS_OK);
		io_timer_start(probes[i].timer, probes[i].wanted);
	}
	/* The second timer is moved to the end, the fourth stopped, the fifth destroyed. */
	probes[2].wanted = now + 60 * NS_PER_MS;
	io_timer_start(probes[2].timer, probes[2].wanted);
	io_timer_start(probes[3].timer, INSTANT_NEVER);
	io_timer_destroy(probes[4].timer);
	run_until(&rig, last_probe_fired);
	ck_assert_uint_eq(probes[0].fired, 1);
	ck_assert_uint_eq(probes[1].fired, 1);
	ck_assert_uint_eq(probes[2].fired, 1);
	ck_assert_uint_eq(probes[3].fired, 0);
	ck_assert_uint_eq(probes[4].fired, 0);
	for (uint32_t i = 0; i < 4; i++)
		io_timer_destroy(probes[i].timer);
	rig_close(&rig);
}
END_TEST

/* ---- listeners on the real system ---------------------------------------------------------- */
static void no_one(void *context, struct stream *stream)
{
	UNUSED(context);
	stream_close(stream);
}

START_TEST(a_live_socket_is_left_alone_and_a_stale_one_replaced)
{
	struct io *io;
	struct io_listener *first, *second;
	struct reason why;
	struct address address;
	char text[64];
	snprintf(text, sizeof text, "unix:/tmp/cairn_test_stale_%d.sock", (int)getpid());
	ck_assert_int_eq(address_parse(text, &address, NULL), STATUS_OK);
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &first, &why), STATUS_OK);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &second, &why), STATUS_EXISTS);
	struct stat found;
	ck_assert_int_eq(stat(address.path, &found), 0);
	ck_assert_uint_eq(found.st_mode & 0777, 0600);
	/* A server that crashed leaves its socket file. Here the file is moved away before the
	 * server closes, and back afterwards. */
	char moved[ADDRESS_PATH_MAX + 8];
	snprintf(moved, sizeof moved, "%s.old", address.path);
	ck_assert_int_eq(rename(address.path, moved), 0);
	io_listener_close(first);
	io_uv_destroy(io);
	ck_assert_int_eq(rename(moved, address.path), 0);
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &first, &why), STATUS_OK);
	io_listener_close(first);
	ck_assert_int_ne(stat(address.path, &found), 0);
	io_uv_destroy(io);
}
END_TEST

START_TEST(a_file_that_is_not_a_socket_is_not_removed)
{
	struct io *io;
	struct io_listener *listener;
	struct reason why;
	struct address address;
	char text[64];
	snprintf(text, sizeof text, "unix:/tmp/cairn_test_file_%d", (int)getpid());
	ck_assert_int_eq(address_parse(text, &address, NULL), STATUS_OK);
	FILE *file = fopen(address.path, "w");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &listener, &why), STATUS_EXISTS);
	io_uv_destroy(io);
	ck_assert_int_eq(unlink(address.path), 0);
}
END_TEST

START_TEST(a_tcp_port_in_use_is_named)
{
	struct io *io;
	struct io_listener *first, *second;
	struct reason why;
	struct address address;
	ck_assert_int_eq(address_parse("tcp:127.0.0.1:0", &address, NULL), STATUS_OK);
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &first, &why), STATUS_OK);
	io_listener_address(first, &address);
	ck_assert_uint_ne(address.port, 0);
	ck_assert_int_eq(io_listen(io, &address, no_one, NULL, &second, &why), STATUS_EXISTS);
	ck_assert_str_eq(why.field, "address");
	io_listener_close(first);
	io_uv_destroy(io);
}
END_TEST

static uint32_t signals_seen;

static void on_signal(void *context, int signal)
{
	UNUSED(signal);
	signals_seen++;
	io_stop(context);
}

static void raise_signals(void *context)
{
	UNUSED(context);
	raise(SIGTERM);
}

START_TEST(a_signal_reaches_the_loop_and_a_broken_pipe_ends_nothing)
{
	struct io *io;
	struct io_timer *timer;
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(io_set_signals(io, on_signal, io), STATUS_OK);
	ck_assert_int_eq(io_timer_create(io, raise_signals, NULL, &timer), STATUS_OK);
	io_timer_start(timer, 0);
	raise(SIGPIPE);
	signals_seen = 0;
	io_run(io);
	ck_assert_uint_eq(signals_seen, 1);
	io_timer_destroy(timer);
	io_uv_destroy(io);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("server/io/io");
	TCase *contract = tcase_create("contract");
	tcase_add_loop_test(contract, bytes_arrive_whole_and_in_order_both_ways, 0, BACKENDS);
	tcase_add_loop_test(contract, reads_of_one_byte_lose_nothing, 0, BACKENDS);
	tcase_add_loop_test(contract, a_reader_without_space_makes_its_sender_refuse_whole_writes,
			    0, BACKENDS);
	tcase_add_loop_test(contract, bytes_before_the_end_arrive_though_the_peer_sent_unread_bytes,
			    0, BACKENDS);
	tcase_add_loop_test(contract, finishing_waits_for_a_silent_peer_only_for_the_linger_time, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, closing_drops_queued_bytes_and_reports_closed_once, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, a_connection_without_a_listener_closes_as_missing, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, finishing_before_the_connection_is_made_closes_it, 0,
			    BACKENDS);
	tcase_add_loop_test(contract, one_stream_too_many_is_closed_and_counted, 0, BACKENDS);
	tcase_add_loop_test(contract, a_unix_peer_has_a_user_id, 0, BACKENDS);
	tcase_add_loop_test(
		contract, a_timer_fires_once_and_never_early_and_can_be_moved_stopped_and_destroyed,
		0, BACKENDS);
	suite_add_tcase(suite, contract);
	TCase *listener = tcase_create("listener");
	tcase_add_test(listener, a_live_socket_is_left_alone_and_a_stale_one_replaced);
	tcase_add_test(listener, a_file_that_is_not_a_socket_is_not_removed);
	tcase_add_test(listener, a_tcp_port_in_use_is_named);
	tcase_add_test(listener, a_signal_reaches_the_loop_and_a_broken_pipe_ends_nothing);
	suite_add_tcase(suite, listener);
	return suite;
}

int main(void)
{
	return check_main(make);
}
