/* bench_pile: steps of `pile`: boxes of n³ spheres to rest, and an hourglass.
 *
 *	bench_pile [box N | hourglass N] [TICKS] [NAME=VALUE…]
 *
 * Prints the steps to rest or TICKS, and the times of a step; the values are of parameters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/lib/pile_scenes.h"

#include "server/engine/math/scalar.h"

enum { TICKS_MAX = 100000 };

static double times[TICKS_MAX];

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Runs to rest, or for `ticks`. */
static void run(struct stage *stage, const char *name, uint32_t n, uint32_t ticks)
{
	uint32_t count = 0, fallbacks = 0, most = n * n * n;
	double residual = 0, deepest = 0, pivots = 0;
	bool loud = getenv("PILE_LOUD") != NULL;
	while (count < ticks && (count == 0 || stage->dynamics.report.awake_bodies > 0)) {
		double begin = now();
		stage_step(stage);
		times[count++] = now() - begin;
		const struct step_report *report = &stage->dynamics.report;
		fallbacks += report->fallbacks;
		pivots += report->iterations;
		residual = scalar_max(residual, report->residual);
		deepest = scalar_max(deepest, report->penetration_max);
		if (loud)
			printf("%5u %8.1f ms, %6u pivots, %4u programmes, %3u fallbacks, %5u awake, "
			       "energy %.6f, %u below, residual %.1e\n",
			       count, times[count - 1], report->iterations, report->islands_sparse,
			       report->fallbacks, report->awake_bodies, pile_scene_energy(stage),
			       pile_scene_below(stage, 0), report->residual);
	}
	bool rest = stage->dynamics.report.awake_bodies == 0;
	qsort(times, count, sizeof *times, compare);
	printf("%-9s %6u spheres: %5u steps%s, median %8.2f ms, longest %8.1f ms, %.0f pivots a step, "
	       "%u below, %u fallbacks, overlap %.1e, residual %.1e\n",
	       name, most, count, rest ? " to rest" : "", times[count / 2], times[count - 1],
	       pivots / count, pile_scene_below(stage, 0), fallbacks, deepest, residual);
	fflush(stdout);
}

static void make(struct stage *stage, const char *name, uint32_t n)
{
	if (strcmp(name, "hourglass") == 0)
		pile_scene_hourglass(stage, n, 1);
	else
		pile_scene_box(stage, n, 1);
}

static void set(struct stage *stage, const char *word)
{
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
		size_t length = strlen(parameter_entries[row].name);
		if (strncmp(word, parameter_entries[row].name, length) == 0 && word[length] == '=')
			stage_parameter(stage, (enum parameter_row)row, atof(word + length + 1));
	}
}

int main(int argc, char **argv)
{
	struct stage stage;
	if (argc > 2) {
		uint32_t n = (uint32_t)atoi(argv[2]);
		uint32_t ticks = argc > 3 ? (uint32_t)atoi(argv[3]) : TICKS_MAX;
		make(&stage, argv[1], n);
		for (int i = 4; i < argc; i++)
			set(&stage, argv[i]);
		run(&stage, argv[1], n, MIN_OF(ticks, (uint32_t)TICKS_MAX));
		stage_release(&stage);
		return 0;
	}
	static const struct {
		const char *name;
		uint32_t n, ticks;
	} ROWS[] = { { "box", 3, 200 },	      { "box", 4, 200 },       { "box", 5, 200 },
		     { "box", 6, 200 },	      { "box", 10, 40 },       { "box", 21, 10 },
		     { "hourglass", 5, 400 }, { "hourglass", 10, 400 } };
	for (uint32_t i = 0; i < COUNT_OF(ROWS); i++) {
		make(&stage, ROWS[i].name, ROWS[i].n);
		run(&stage, ROWS[i].name, ROWS[i].n, ROWS[i].ticks);
		stage_release(&stage);
	}
	return 0;
}
