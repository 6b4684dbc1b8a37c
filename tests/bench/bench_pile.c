/* bench_pile: steps of `pile`: boxes of n³ spheres to rest, and an hourglass.
 *
 *	bench_pile [box N | hourglass N] [TICKS] [NAME=VALUE…]
 *	bench_pile soak [N]
 *
 * Prints the steps to rest or TICKS, and the times of a step; the values are of parameters. `soak` follows an
 * hourglass to rest and checks each step: energy does not grow, no two spheres overlap anywhere on the
 * way, none is outside, and at the end all are in the lower half. Its exit status says whether it is so. */
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

/* m: the most by which two spheres overlap anywhere on a straight way. Their distance is least at an end or
 * where it turns. O(n²). */
static double overlap_on_the_way(const struct stage *stage, const vec3 *before)
{
	const struct body_table *bodies = &stage->tables.body;
	double worst = 0;
	for (uint32_t i = 1; i < bodies->count; i++)
		for (uint32_t j = 1; j < i; j++) {
			vec3 from = vec3_sub(before[i], before[j]);
			vec3 to = vec3_sub(bodies->position[i], bodies->position[j]);
			vec3 way = vec3_sub(to, from);
			double length = vec3_length_squared(way);
			double part = length > 0 ? -vec3_dot(from, way) / length : 0;
			vec3 near = vec3_lerp(from, to, scalar_clamp(part, 0, 1));
			worst = scalar_max(worst, 1 - vec3_length(near));
		}
	return worst;
}

enum { SOAK_TICKS = 5000, SOAK_TELLS = 100 };

static int soak(uint32_t n)
{
	struct stage stage;
	pile_scene_hourglass(&stage, n, 1);
	uint32_t count = stage.tables.body.count, ticks = 0, waits = 0;
	vec3 *before = calloc(count, sizeof *before);
	if (before == NULL)
		return 1;
	double energy = pile_scene_energy(&stage), overlap = 0, wall = 0, growth = 0, longest = 0;
	do {
		memcpy(before, stage.tables.body.position, count * sizeof *before);
		double begin = now();
		stage_step(&stage);
		times[ticks] = now() - begin;
		longest = scalar_max(longest, times[ticks++]);
		double after = pile_scene_energy(&stage);
		growth = scalar_max(growth, after - energy);
		energy = after;
		overlap = scalar_max(overlap, overlap_on_the_way(&stage, before));
		wall = scalar_max(wall, stage.dynamics.report.penetration_max);
		waits += stage.dynamics.report.fallbacks;
		if (ticks % SOAK_TELLS == 0)
			printf("# %u steps: energy %.3f J, %u below, %u awake\n", ticks, energy,
			       pile_scene_below(&stage, 0), stage.dynamics.report.awake_bodies);
		fflush(stdout);
	} while (stage.dynamics.report.awake_bodies > 0 && ticks < SOAK_TICKS);
	bool rest = stage.dynamics.report.awake_bodies == 0;
	uint32_t below = pile_scene_below(&stage, 0), all = n * n * n;
	uint32_t outside = pile_scene_outside(&stage, 0.84 * n - 0.5 + 1e-9);
	qsort(times, ticks, sizeof *times, compare);
	printf("hourglass of %u: %u steps%s, median %.1f ms, longest %.1f ms, %u below, %u outside, overlap "
	       "%.1e m, at walls %.1e m, growth %.1e J, %u programmes waited\n",
	       all, ticks, rest ? " to rest" : "", times[ticks / 2], longest, below, outside,
	       overlap, wall, growth, waits);
	free(before);
	stage_release(&stage);
	bool good = rest && below == all && outside == 0 && overlap <= 1e-9 && wall <= 1e-9 &&
		    growth <= 1e-6;
	return good ? 0 : 1;
}

static void set(struct stage *stage, const char *word)
{
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
		if (parameter_entries[row].name == NULL)
			continue; /* a number that no parameter has */
		size_t length = strlen(parameter_entries[row].name);
		if (strncmp(word, parameter_entries[row].name, length) == 0 && word[length] == '=')
			stage_parameter(stage, (enum parameter_row)row, atof(word + length + 1));
	}
}

int main(int argc, char **argv)
{
	struct stage stage;
	if (argc > 1 && strcmp(argv[1], "soak") == 0)
		return soak(argc > 2 ? (uint32_t)atoi(argv[2]) : 10);
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
