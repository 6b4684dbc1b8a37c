/* Time of a round trip: a 64-byte message to LOOP and back (a bare echo), and the same posted to a
 * worker as a task of a world, answered with a wakeup of LOOP, as STEP(1) is. The client is a
 * separate thread with a blocking socket. Median, 90th and 99th percentile in microseconds, in
 * turns in the same run, over a Unix socket and over TCP.
 *
 *	bench_round_trip [ROUNDS per row, default 5000] */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/tick/pool.h"

enum { MESSAGE_BYTES = 64, ROUNDS_MAX = 1000000, TURNS = 10 };
enum kind { ECHO, WORKER, KINDS };

static const char *const NAMES[KINDS] = { "echo", "worker" };

struct bench {
	struct runnable runnable;
	struct io *io;
	struct executor *executor;
	struct frame_pool *frames;
	struct stream *stream;
	struct address address;
	struct wakeup answer;
	uint8_t bytes[MESSAGE_BYTES];
	size_t count;
	atomic_int kind;
	uint32_t rounds;
	uint64_t *samples[KINDS];
	uint32_t sample_count[KINDS];
};

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "bench_round_trip: %s\n", what);
	exit(EXIT_FAILURE);
}

/* ---- the server ------------------------------------------------------------------------------ */
static void reply(void *context)
{
	struct bench *bench = context;
	struct frame *frame;
	check(frame_create(bench->frames, MESSAGE_BYTES, &frame) == STATUS_OK, "frame");
	memcpy(frame->data, bench->bytes, MESSAGE_BYTES);
	frame->bytes = MESSAGE_BYTES;
	bench->count = 0;
	check(stream_write(bench->stream, &frame, 1) == STATUS_OK, "write");
	frame_release(frame);
	/* The stream had no space while this message was in progress. */
	stream_resume(bench->stream);
}

static void at_worker(struct runnable *runnable, void *context)
{
	struct bench *bench = context;
	UNUSED(runnable);
	executor_wake(bench->executor, EXECUTOR_LOOP, &bench->answer);
}

static size_t on_space(void *context, uint8_t **into)
{
	struct bench *bench = context;
	*into = bench->bytes + bench->count;
	return MESSAGE_BYTES - bench->count;
}

static void on_received(void *context, size_t bytes)
{
	struct bench *bench = context;
	bench->count += bytes;
	if (bench->count < MESSAGE_BYTES)
		return;
	int kind = atomic_load(&bench->kind);
	if (kind == ECHO) {
		reply(bench);
		return;
	}
	check(pool_post(&bench->runnable, at_worker, bench) == STATUS_OK, "post");
}

static void on_closed(void *context, enum status why)
{
	struct bench *bench = context;
	UNUSED(why);
	io_stop(bench->io);
}

static const struct stream_events EVENTS = { NULL, on_space, on_received, NULL, on_closed };

static void on_accepted(void *context, struct stream *stream)
{
	struct bench *bench = context;
	bench->stream = stream;
	stream_start(stream, &EVENTS, bench);
}

static uint64_t never(struct runnable *runnable)
{
	UNUSED(runnable);
	return INSTANT_NEVER;
}

static uint32_t run_nothing(struct runnable *runnable, uint64_t now, uint64_t until)
{
	UNUSED(runnable);
	UNUSED(now);
	UNUSED(until);
	return 0;
}

static const struct runnable_ops OPS = { never, run_nothing };

/* ---- the client ------------------------------------------------------------------------------ */
static int dial(const struct address *address)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(address->port) };
	bool is_unix = address->kind == ADDRESS_UNIX;
	int fd = socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM, 0), yes = 1;
	memcpy(un.sun_path, address->path, sizeof un.sun_path);
	memcpy(&in.sin_addr, address->octets, 4);
	const struct sockaddr *to = is_unix ? (struct sockaddr *)&un : (struct sockaddr *)&in;
	check(fd >= 0 && connect(fd, to, is_unix ? sizeof un : sizeof in) == 0, "connect");
	if (!is_unix)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return fd;
}

static void round_trip(int fd)
{
	uint8_t message[MESSAGE_BYTES] = { 0 };
	check(write(fd, message, sizeof message) == sizeof message, "client's write");
	check(recv(fd, message, sizeof message, MSG_WAITALL) == sizeof message, "client's read");
}

static void *client_main(void *context)
{
	struct bench *bench = context;
	int fd = dial(&bench->address);
	for (uint32_t turn = 0; turn < KINDS * TURNS; turn++) {
		uint32_t kind = turn % KINDS;
		atomic_store(&bench->kind, (int)kind);
		for (uint32_t i = 0; i < bench->rounds / TURNS; i++) {
			uint64_t before = instant_now();
			round_trip(fd);
			bench->samples[kind][bench->sample_count[kind]++] = instant_now() - before;
		}
	}
	close(fd);
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static double print_row(struct bench *bench, uint32_t kind, const char *where)
{
	uint64_t *samples = bench->samples[kind];
	uint32_t count = bench->sample_count[kind];
	qsort(samples, count, sizeof samples[0], by_value);
	printf("%-5s %-7s %8.1f %8.1f %8.1f\n", where, NAMES[kind],
	       (double)samples[count / 2] / 1e3, (double)samples[count / 10 * 9] / 1e3,
	       (double)samples[count / 100 * 99] / 1e3);
	return (double)samples[count / 2];
}

static void measure(const char *text, const char *where, uint32_t rounds)
{
	struct bench bench = { .runnable = { &OPS, 1, NULL }, .rounds = rounds };
	struct executor_options options = { 1, 1, 64, 0 };
	struct io_listener *listener;
	struct pool *pool;
	struct address wanted;
	pthread_t client;
	for (uint32_t kind = 0; kind < KINDS; kind++) {
		bench.samples[kind] = heap_alloc(rounds * sizeof(uint64_t));
		check(bench.samples[kind] != NULL, "samples");
	}
	check(frame_pool_create(1 << 20, &bench.frames) == STATUS_OK, "frames");
	check(io_uv_create(&io_limits_default, &bench.io) == STATUS_OK, "io");
	check(executor_uv_create(bench.io, &options, &bench.executor) == STATUS_OK, "executor");
	check(pool_create(bench.executor, &pool_options_default, &pool) == STATUS_OK, "pool");
	check(executor_start(bench.executor, NULL) == STATUS_OK, "start");
	check(pool_add(pool, &bench.runnable) == STATUS_OK, "world");
	wakeup_init(&bench.answer, reply, &bench);
	check(address_parse(text, &wanted, NULL) == STATUS_OK, "address");
	check(io_listen(bench.io, &wanted, on_accepted, &bench, &listener, NULL) == STATUS_OK,
	      "listen");
	io_listener_address(listener, &bench.address);
	check(pthread_create(&client, NULL, client_main, &bench) == 0, "thread");
	io_run(bench.io);
	pthread_join(client, NULL);
	double medians[KINDS];
	for (uint32_t kind = 0; kind < KINDS; kind++)
		medians[kind] = print_row(&bench, kind, where);
	printf("%-5s medians: worker / echo = %.2f\n", where, medians[WORKER] / medians[ECHO]);
	io_listener_close(listener);
	executor_stop(bench.executor);
	pool_destroy(pool);
	executor_destroy(bench.executor);
	io_uv_destroy(bench.io);
	frame_pool_destroy(bench.frames);
	for (uint32_t kind = 0; kind < KINDS; kind++)
		heap_free(bench.samples[kind]);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 5000;
	char path[64];
	check(rounds >= 100 && rounds <= ROUNDS_MAX, "ROUNDS must be 100 … 1000000");
	snprintf(path, sizeof path, "unix:/tmp/cairn_bench_%d.sock", (int)getpid());
	printf("what          p50 us   p90 us   p99 us\n");
	measure(path, "unix", (uint32_t)rounds);
	measure("tcp:127.0.0.1:0", "tcp", (uint32_t)rounds);
	return EXIT_SUCCESS;
}
