/* How well worlds keep their rate: tick intervals at 60, 120 and 240 Hz, idle and with a step of
 * half the period, through all layers between the clock and a world (timerfd, uv_poll, pool,
 * schedule). Each row prints |interval − nominal| and the lateness after the deadline, median and
 * 99th percentile, in microseconds; the error of the long-run rate against the wall clock; ticks
 * late, dropped.
 *
 *	bench_tick [SECONDS per row, default 2] [FIFO priority, default 0] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/heap.h"
#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/tick/pool.h"
#include "server/tick/schedule.h"

enum { SAMPLES_MAX = 1 << 16 };

struct world {
	struct runnable runnable;
	struct schedule schedule;
	uint64_t busy; /* ns of busy waiting a step */
	uint32_t count;
	struct executor *executor;
	uint64_t *starts;
	uint64_t *lateness;
	uint64_t *ticks; /* of the wall clock: made and dropped */
};

static uint64_t now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static uint64_t due(struct runnable *runnable)
{
	return schedule_due(&((struct world *)runnable)->schedule);
}

static uint32_t run(struct runnable *runnable, uint64_t now, uint64_t until)
{
	UNUSED(until);
	struct world *world = (struct world *)runnable;
	struct schedule_turn turn;
	if (!schedule_begin(&world->schedule, now, &turn))
		return 0;
	uint64_t before = executor_used(world->executor);
	if (world->count < SAMPLES_MAX) {
		world->ticks[world->count] = world->schedule.steps + world->schedule.dropped;
		world->starts[world->count] = now;
		world->lateness[world->count++] = turn.lateness;
	}
	while (now_ns() - now < world->busy)
		;
	uint64_t cost = executor_used(world->executor) - before;
	(void)schedule_end(&world->schedule, cost, now_ns());
	return 1;
}

static const struct runnable_ops OPS = { due, run };

static void stop(void *context)
{
	io_stop(context);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

static double quantile_us(uint64_t *values, uint32_t count, double share)
{
	qsort(values, count, sizeof values[0], by_value);
	return (double)values[(uint32_t)(share * (count - 1))] / 1e3;
}

/* How far these ticks are behind an ideal clock that started with the first tick: the median
 * over these ticks, on which a few late ones have no effect. */
static double behind_ns(const struct world *world, uint32_t rate, uint32_t first, uint32_t count)
{
	static double behind[SAMPLES_MAX];
	for (uint32_t i = 0; i < count; i++) {
		uint64_t ticks = world->ticks[first + i] - world->ticks[0];
		uint64_t start = world->starts[first + i] - world->starts[0];
		behind[i] = (double)start - (double)ticks * 1e9 / rate;
	}
	for (uint32_t i = 1; i < count; i++)
		for (uint32_t j = i; j > 0 && behind[j] < behind[j - 1]; j--) {
			double larger = behind[j - 1];
			behind[j - 1] = behind[j];
			behind[j] = larger;
		}
	return behind[count / 2];
}

/* Relative; positive means too fast. */
static double rate_error(const struct world *world, uint32_t rate)
{
	uint32_t quarter = world->count / 4, last = world->count - quarter;
	double drift = behind_ns(world, rate, last, quarter) - behind_ns(world, rate, 0, quarter);
	return -drift / (double)(world->starts[last] - world->starts[0]);
}

static void report(struct world *world, uint32_t rate, const char *load)
{
	uint32_t count = world->count;
	if (count < 8) {
		printf("%4u  %-5s too few ticks\n", rate, load);
		return;
	}
	uint64_t nominal = NS_PER_S / rate;
	double error = rate_error(world, rate);
	for (uint32_t i = 0; i + 1 < count; i++) {
		uint64_t interval = world->starts[i + 1] - world->starts[i];
		world->starts[i] = interval > nominal ? interval - nominal : nominal - interval;
	}
	uint64_t *offsets = world->starts, *lateness = world->lateness;
	printf("%4u  %-5s %6u  %9.1f %9.1f  %9.1f %9.1f   %+.1e  %5" PRIu64 " %5" PRIu64 "  1/%u\n",
	       rate, load, count, quantile_us(offsets, count - 1, 0.5),
	       quantile_us(offsets, count - 1, 0.99), quantile_us(lateness, count, 0.5),
	       quantile_us(lateness, count, 0.99), error, world->schedule.late,
	       world->schedule.dropped, world->schedule.stretch);
}

static void check(enum status status, const char *what)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "bench_tick: %s: %s\n", what, status_text(status));
	exit(EXIT_FAILURE);
}

static void measure(uint32_t rate, bool busy, double seconds, int fifo)
{
	struct io *io;
	struct executor *executor;
	struct pool *pool;
	struct io_timer *timer;
	struct reason why;
	struct executor_options options = { 1, 1, 64, fifo };
	struct world world = { .runnable = { &OPS, 1, NULL } };
	world.busy = busy ? NS_PER_S / rate / 2 : 0;
	world.starts = heap_alloc(SAMPLES_MAX * sizeof *world.starts);
	world.lateness = heap_alloc(SAMPLES_MAX * sizeof *world.lateness);
	world.ticks = heap_alloc(SAMPLES_MAX * sizeof *world.ticks);
	bool room = world.starts != NULL && world.lateness != NULL && world.ticks != NULL;
	check(room ? STATUS_OK : STATUS_NO_MEMORY, "samples");
	check(io_uv_create(&io_limits_default, &io), "io");
	check(executor_uv_create(io, &options, &executor), "executor");
	world.executor = executor;
	check(pool_create(executor, &pool_options_default, &pool), "pool");
	check(executor_start(executor, &why), "start");
	schedule_init(&world.schedule, (struct tick_rate){ rate, 1 }, SCHEDULE_BUDGET_DEFAULT);
	schedule_run(&world.schedule, io_now(io));
	check(pool_add(pool, &world.runnable), "world");
	check(io_timer_create(io, stop, io, &timer), "timer");
	io_timer_start(timer, io_now(io) + (uint64_t)(seconds * 1e9));
	io_run(io);
	executor_stop(executor);
	report(&world, rate, busy ? "half" : "idle");
	pool_destroy(pool);
	executor_destroy(executor);
	io_timer_destroy(timer);
	io_uv_destroy(io);
	heap_free(world.starts);
	heap_free(world.lateness);
	heap_free(world.ticks);
}

int main(int argc, char **argv)
{
	static const uint32_t RATES[] = { 60, 120, 240 };
	double seconds = argc > 1 ? strtod(argv[1], NULL) : 2;
	int fifo = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
	if (!(seconds > 0 && seconds <= 60)) {
		fprintf(stderr, "bench_tick: seconds per row must be in (0, 60]\n");
		return EXIT_FAILURE;
	}
	printf("  Hz  load   ticks   |interval-nominal|     lateness             long-run   late  "
	       "dropped speed\n");
	printf("                     p50 us    p99 us     p50 us    p99 us      rate error\n");
	for (uint32_t i = 0; i < sizeof RATES / sizeof RATES[0]; i++) {
		measure(RATES[i], false, seconds, fifo);
		measure(RATES[i], true, seconds, fifo);
	}
	return EXIT_SUCCESS;
}
