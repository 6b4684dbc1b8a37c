/* How the step of a scene divides among workers, measured on one thread, so that other work on the
 * machine hardly matters.
 *
 * All pieces of a step run on this thread and each is timed. Per stage that is handed to the workers they
 * are given, in order, to the worker that is free first, as io/parallel_pool.c does; the stage takes as
 * long as the last worker, and HANDOVER_NS. What lies between such stages runs on one worker. The sum
 * over the step is its critical path: what a quiet machine with as many processors would take if caches
 * and memory were no bound. Memory is one: the `threads` column has the time with real threads, for quiet
 * machines, and `touched` is the memory of the pages that one tick reads or writes (Linux counts these; what
 * exceeds the last-level cache comes from memory in each of the tick's passes).
 *
 *	bench_workers [--ticks N] [--skip N] [--let NAME=FORMULA] SCENE.yaml…
 */
#include "server/commands/batch_world.h"
#include "server/io/parallel_pool.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A helper that polls sees a job some 0.2 µs after it is published, and its end is seen as late. */
enum { HANDOVER_NS = 400, RUNS_PER_WORKER = 4 };
#define TICKS_MAX 10000u

static const uint32_t WORKERS[] = { 1, 2, 4, 8 };
enum { WAYS = 4 };

struct division {
	struct parallel parallel; /* first */
	uint32_t workers;
	uint64_t inside; /* ns in pieces, of the present tick */
	uint64_t path;	 /* ns of those on the critical path */
	uint32_t stages; /* handed to workers */
	uint64_t reads;	 /* of the clock */
};

/* Processor time, so that a piece during which another process ran is not charged with it. */
static uint64_t now_ns(bool wall)
{
	struct timespec now;
	clock_gettime(wall ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ns of processor time since `begun`, without those of this many readings of the clock, which take longer
 * than small pieces on some machines. */
static uint64_t passed(uint64_t begun, uint64_t reads)
{
	static uint64_t reading;
	if (reading == 0) {
		enum { READINGS = 10000 };
		uint64_t first = now_ns(false), last = first;
		for (int i = 0; i < READINGS; i++)
			last = now_ns(false);
		reading = (last - first) / READINGS;
		return passed(begun, reads + READINGS + 1);
	}
	uint64_t took = now_ns(false) - begun;
	return took - MIN_OF(took, reads * reading);
}

static void run_divided(const struct parallel *parallel, uint32_t count, uint32_t grain,
			parallel_piece *piece, void *context)
{
	struct division *self = parallel->pool;
	uint32_t share = count / (self->workers * RUNS_PER_WORKER) + 1, run = MAX_OF(share, grain);
	uint64_t free_at[PARALLEL_WORKERS_MAX] = { 0 }, last = 0;
	for (uint32_t first = 0; first < count; first += run) {
		uint32_t worker = 0;
		for (uint32_t w = 1; w < self->workers; w++)
			if (free_at[w] < free_at[worker])
				worker = w;
		uint64_t begun = now_ns(false);
		piece(first, MIN_OF(first + run, count), worker, context);
		uint64_t took = passed(begun, 1);
		self->reads += 2;
		self->inside += took;
		free_at[worker] += took;
		last = MAX_OF(last, free_at[worker]);
	}
	bool shared = run < count && self->workers > 1;
	self->stages += shared;
	self->path += last + (shared ? HANDOVER_NS : 0);
}

static void check(enum status status, const struct reason *why)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "bench_workers: %s: %s\n", status_text(status), why->text);
	exit(EXIT_FAILURE);
}

/* Of the scenes that follow on the command line. */
static struct option_list lets;

struct figures {
	double whole, path, serial, stages; /* ms of a tick, medians; of all on one thread */
	double touched;			    /* MiB of a further tick; 0: unknown */
	uint64_t hash;
};

/* Forgets which pages of this process were used. False: the system does not do that. */
static bool forget_pages(void)
{
	FILE *file = fopen("/proc/self/clear_refs", "w");
	if (file == NULL)
		return false;
	bool done = fputs("1", file) >= 0;
	return fclose(file) == 0 && done;
}

/* MiB of the pages used since then. */
static double used_pages(void)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[128];
	unsigned long kib = 0;
	while (file != NULL && fgets(line, sizeof line, file) != NULL)
		if (sscanf(line, "Referenced: %lu kB", &kib) == 1)
			break;
	if (file != NULL)
		fclose(file);
	return (double)kib / 1024;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, uint32_t count)
{
	qsort(values, count, sizeof *values, compare_doubles);
	return values[count / 2];
}

/* Steps the scene; `threads` NULL: on this thread, divided among `workers`. */
static struct figures step_scene(const char *path, uint32_t workers, uint32_t ticks, uint32_t skip,
				 const struct parallel *threads)
{
	static double whole[TICKS_MAX], on_path[TICKS_MAX], alone[TICKS_MAX];
	struct option_list set = { 1, { "sleep.enabled=0" } };
	struct batch_scene from = { .path = path, .set = &set, .let = &lets };
	struct shape_library book;
	struct scene *scene = NULL;
	struct world *world = NULL;
	struct reason why = { .text = "" };
	struct division division = { .workers = workers };
	division.parallel = (struct parallel){ run_divided, workers, &division };
	shape_library_init(&book);
	check(batch_world_make(&from, &book, &scene, &world, &why), &why);
	for (uint32_t tick = 0; tick < skip + ticks; tick++) {
		division.inside = division.path = division.stages = 0;
		division.reads = 1;
		uint64_t begun = now_ns(threads != NULL);
		check(world_step(world, threads != NULL ? threads : &division.parallel, &why),
		      &why);
		uint64_t took =
			threads != NULL ? now_ns(true) - begun : passed(begun, division.reads);
		if (tick < skip)
			continue;
		whole[tick - skip] = 1e-6 * (double)took;
		alone[tick - skip] = 1e-6 * (double)(took - division.inside);
		on_path[tick - skip] = 1e-6 * (double)(took - division.inside + division.path);
	}
	struct figures figures = { median(whole, ticks),
				   median(on_path, ticks),
				   median(alone, ticks),
				   division.stages,
				   0,
				   world_state_hash(world, NULL, NULL) };
	if (workers == 1 && forget_pages()) {
		check(world_step(world, &parallel_serial, &why), &why);
		figures.touched = used_pages();
	}
	world_destroy(world);
	scene_destroy(scene);
	shape_library_release(&book);
	return figures;
}

static void measure(const char *path, uint32_t ticks, uint32_t skip)
{
	struct figures one = step_scene(path, 1, ticks, skip, &parallel_serial);
	const char *slash = strrchr(path, '/');
	printf("%s: %.3f ms a tick on one thread, touched %.1f MiB, hash %016" PRIx64 "\n",
	       slash != NULL ? slash + 1 : path, one.whole, one.touched, one.hash);
	for (uint32_t i = 1; i < WAYS; i++) {
		struct parallel_pool *pool;
		struct reason why = { .text = "threads" };
		struct figures f = step_scene(path, WORKERS[i], ticks, skip, NULL);
		check(parallel_pool_create(WORKERS[i], &pool), &why);
		struct figures real =
			step_scene(path, WORKERS[i], ticks, skip, parallel_pool_parallel(pool));
		parallel_pool_destroy(pool);
		printf("  %u workers: critical path %.3f ms, %.2f times as fast; alone on one worker "
		       "%.0f %%; %.0f stages handed over; with threads %.3f ms, %.2f times; %s\n",
		       (unsigned)WORKERS[i], f.path, f.whole / f.path, 100 * f.serial / f.whole,
		       f.stages, real.whole, one.whole / real.whole,
		       f.hash == one.hash && real.hash == one.hash ? "same hash" : "OTHER HASH");
	}
}

int main(int argc, char **argv)
{
	uint32_t ticks = 60, skip = 10;
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--ticks") == 0 && i + 1 < argc)
			ticks = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--skip") == 0 && i + 1 < argc)
			skip = (uint32_t)strtoul(argv[++i], NULL, 10);
		else if (strcmp(argv[i], "--let") == 0 && i + 1 < argc)
			lets = (struct option_list){ 1, { argv[++i] } };
		else
			measure(argv[i], MIN_OF(MAX_OF(ticks, 1u), TICKS_MAX), skip);
	}
	return EXIT_SUCCESS;
}
