/* bench_velocity: steps of the exact velocity methods: walls of bricks in running bond, a fallen
 * heap, towers with heavy tops. For each scene the first step, which has no warm start, and the
 * median of the next ones; the worst residual; how many were solved dense, sparse, or by a
 * fallback.
 *
 *   bench_velocity [walls | heap | columns | drop | towers | racks | event BODIES SPEED]…
 *
 * Default: walls heap. columns: what each stage of a tick takes; towers are 10 000 steps each; racks:
 * generalized reflections; event: a pair that bounces between walls at SPEED m/s beside BODIES others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/rng.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

enum { WARM = 41 };

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static double step_ms(struct stage *stage)
{
	double begin = now_ms();
	stage_step(stage);
	return now_ms() - begin;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(struct stage *stage, const char *scene, const char *method)
{
	double cold = step_ms(stage), times[WARM], residual = 0;
	uint32_t fallbacks = 0;
	for (uint32_t k = 0; k < WARM; k++) {
		times[k] = step_ms(stage);
		fallbacks += stage->dynamics.report.fallbacks;
		residual = scalar_max(residual, stage->dynamics.report.residual);
	}
	qsort(times, WARM, sizeof *times, ascending);
	const struct step_report *report = &stage->dynamics.report;
	printf("%-34s %-11s %5u points, cold %8.2f ms, warm %7.2f (%.2f … %.2f), residual %.0e m/s, "
	       "%u dense, %u sparse, %u fallbacks in %d steps, penetration %.1e m\n",
	       scene, method, report->points, cold, times[WARM / 2], times[WARM / 10],
	       times[WARM - 1 - WARM / 10], residual, report->islands_dense, report->islands_sparse,
	       fallbacks, WARM, report->penetration_max);
	fflush(stdout);
}

/* ---- walls -------------------------------------------------------------------------------------- */

/* Rows of 10 and 9 bricks of 2 m by 1 m, 95 in all, `apart` metres from each other sideways. */
static void add_wall(struct stage *stage, double apart, double friction)
{
	static const vec3 brick[] = {
		{ -1, -0.5, 0 }, { 1, -0.5, 0 }, { 1, 0.5, 0 }, { -1, 0.5, 0 }
	};
	static const vec3 floor[] = { { -40, -1, 0 }, { 40, -1, 0 }, { 40, 0, 0 }, { -40, 0, 0 } };
	uint32_t bricks = stage_shape(stage, make_polygon(brick, 4, 0));
	uint32_t ground = stage_shape(stage, make_polygon(floor, 4, 0));
	stage_add(stage, (struct stage_body){
				 .status = BODY_STATIC, .shape = ground, .friction = friction });
	for (uint32_t row = 0; row < 10; row++)
		for (uint32_t k = 0; k < 10 - row % 2; k++)
			stage_add(stage, (struct stage_body){
						 .status = BODY_DYNAMIC,
						 .shape = bricks,
						 .friction = friction,
						 .position = { (2 + apart) * (k + 0.5 * (row % 2)),
							       0.5 + row, 0 } });
}

static void walls(void)
{
	static const struct {
		const char *scene, *method;
		double apart, friction;
	} rows[] = {
		{ "wall of 95, apart, no friction", "lcp", 0.1, -1 },
		{ "wall of 95, apart, no friction", "projection", 0.1, -1 },
		{ "wall of 95, touching, no friction", "lcp", 0, -1 },
		{ "wall of 95, touching, no friction", "projection", 0, -1 },
		{ "wall of 95, touching, mu 0.6", "lcp", 0, 0.6 },
		{ "wall of 95, touching, mu 0.6", "soft-step", 0, 0.6 },
	};
	for (uint32_t k = 0; k < COUNT_OF(rows); k++) {
		struct stage stage;
		stage_init(&stage, rows[k].method);
		stage.tables.world.planar[0] = true;
		stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
		add_wall(&stage, rows[k].apart, rows[k].friction);
		if (dynamics_rebuild(&stage.dynamics) != STATUS_OK)
			abort();
		measure(&stage, rows[k].scene, rows[k].method);
		stage_release(&stage);
	}
}

/* ---- a heap ------------------------------------------------------------------------------------- */

/* 500 boxes of different sizes and orientations, fallen onto each other under soft-step. */
static void add_heap(struct stage *stage)
{
	struct rng rng = rng_seeded(1);
	uint32_t boxes[8];
	stage_ground(stage);
	for (uint32_t k = 0; k < COUNT_OF(boxes); k++) {
		double x = rng_range(&rng, 0.3, 0.6), y = rng_range(&rng, 0.3, 0.6);
		boxes[k] = stage_shape(stage, make_box(x, y, rng_range(&rng, 0.3, 0.6)));
	}
	for (uint32_t k = 0; k < 500; k++) {
		double w = rng_range(&rng, -1, 1), x = rng_range(&rng, -1, 1);
		double y = rng_range(&rng, -1, 1), z = rng_range(&rng, -1, 1);
		stage_add(stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = boxes[k % COUNT_OF(boxes)],
					       .rotation = quat_normalize(quat_make(w, x, y, z)),
					       .position = { 1.6 * (k % 5) - 3.2 + 0.3 * x,
							     1 + 1.6 * (k / 25),
							     1.6 * (k / 5 % 5) - 3.2 + 0.3 * z } });
	}
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_run(stage, 900);
}

static void heap(void)
{
	static const char *const methods[] = { "soft-step", "lcp", "projection", "reflection" };
	for (uint32_t k = 0; k < COUNT_OF(methods); k++) {
		struct stage stage;
		stage_init(&stage, "soft-step");
		add_heap(&stage);
		stage_method(&stage, methods[k]);
		measure(&stage, "heap of 500 boxes, mu 0.6", methods[k]);
		stage_release(&stage);
	}
}

/* ---- columns ------------------------------------------------------------------------------------ */

static uint64_t now_ns(const void *context)
{
	UNUSED(context);
	return (uint64_t)(now_ms() * 1e6);
}

/* 64 columns of 8 boxes of 1 m, 2 cm above each other. */
static void add_columns(struct stage *stage)
{
	stage_ground(stage);
	uint32_t box = stage_shape(stage, make_box(0.5, 0.5, 0.5));
	for (uint32_t k = 0; k < 512; k++)
		stage_add(stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = box,
					       .friction = 0.6,
					       .position = { 2 * (k % 8), 0.52 + 1.02 * (k / 64),
							     2 * (k / 8 % 8) } });
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
}

/* ms a tick, and the share of each stage that takes a hundredth, in the next ticks. */
static void measure_stages(struct stage *stage, const char *method, const char *what)
{
	enum { TICKS = 60 };
	struct profile profile = { .now = now_ns };
	stage->dynamics.profile = &profile;
	profile_begin(&profile, PROFILE_SOLVE);
	stage_run(stage, TICKS);
	profile_end(&profile, TICKS);
	stage->dynamics.profile = NULL;
	double all = 0;
	for (uint32_t k = 0; k < PROFILE_STAGES; k++)
		all += (double)profile.sums.ns[k] * 1e-6;
	printf("64 columns of 8, mu 0.6, %-10s %-8s %6.2f ms a tick:", method, what, all / TICKS);
	for (uint32_t k = 0; k < PROFILE_STAGES; k++) {
		double share = (double)profile.sums.ns[k] * 1e-6 / all;
		if (share >= 0.01)
			printf(" %s %.0f %%", profile_stage_name((enum profile_stage)k),
			       100 * share);
	}
	printf("\n");
	fflush(stdout);
}

static void columns(void)
{
	static const char *const methods[] = { "impact", "lcp", "projection" };
	for (uint32_t m = 0; m < COUNT_OF(methods); m++) {
		struct stage stage;
		stage_init(&stage, methods[m]);
		add_columns(&stage);
		measure_stages(&stage, methods[m], "landing");
		measure_stages(&stage, methods[m], "at rest");
		stage_release(&stage);
	}
}

/* ---- a heap that lands -------------------------------------------------------------------------- */

enum { LANDING = 30, DROP = 85, BOXES = 512 };

/* 512 boxes of 1 m at random turns, 8 on 8 on 8, just above the ground and each other. */
static void add_drop(struct stage *stage)
{
	struct rng rng = rng_seeded(20);
	stage_ground(stage);
	uint32_t box = stage_shape(stage, make_box(0.5, 0.5, 0.5));
	for (uint32_t k = 0; k < BOXES; k++) {
		double w = rng_range(&rng, -1, 1), x = rng_range(&rng, -1, 1);
		double y = rng_range(&rng, -1, 1), z = rng_range(&rng, -1, 1);
		stage_add(stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = box,
					       .friction = 0.6,
					       .rotation = quat_normalize(quat_make(w, x, y, z)),
					       .position = { 1.8 * (k % 8), 1 + 1.8 * (k / 64),
							     1.8 * (k / 8 % 8) } });
	}
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
}

/* The ticks in which most of the boxes land: the costliest LANDING in a row of the first DROP. */
static void drop(void)
{
	static const char *const methods[] = { "impact", "lcp" };
	for (uint32_t m = 0; m < COUNT_OF(methods); m++) {
		struct stage stage;
		double times[DROP], sum = 0, most = 0, all = 0, residual = 0;
		uint32_t at = 0;
		uint64_t fallbacks = 0, iterations = 0, groups = 0;
		stage_init(&stage, methods[m]);
		add_drop(&stage);
		for (uint32_t k = 0; k < COUNT_OF(times); k++) {
			times[k] = step_ms(&stage);
			const struct step_report *report = &stage.dynamics.report;
			fallbacks += report->fallbacks;
			iterations += report->iterations;
			groups += report->impact.groups;
			residual = scalar_max(residual, report->residual);
			all += times[k];
			sum += times[k] - (k >= LANDING ? times[k - LANDING] : 0);
			if (sum > most) {
				most = sum;
				at = k;
			}
		}
		printf("512 boxes dropped, %-10s %8.1f ms a tick to tick %u (all: %.1f), residual %.0e m/s, "
		       "%llu fallbacks, %llu iterations, %llu groups, penetration %.1e m, %u points\n",
		       methods[m], most / LANDING, at, all / COUNT_OF(times), residual,
		       (unsigned long long)fallbacks, (unsigned long long)iterations,
		       (unsigned long long)groups, stage.dynamics.report.penetration_max,
		       stage.dynamics.report.points);
		fflush(stdout);
		stage_release(&stage);
	}
}

/* ---- towers ------------------------------------------------------------------------------------- */

static void towers(void)
{
	static const char *const methods[] = { "lcp", "projection" };
	for (uint32_t m = 0; m < COUNT_OF(methods); m++)
		for (double top = 1; top <= 1000; top *= 10) {
			struct stage stage;
			stage_init(&stage, methods[m]);
			stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
			stage_ground(&stage);
			uint32_t box = stage_shape(&stage, make_box(0.5, 0.5, 0.5)), last = 0,
				 fallbacks = 0;
			for (uint32_t i = 0; i < 8; i++)
				last = stage_add(&stage,
						 (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = box,
								      .position = { 0, 0.5 + i, 0 },
								      .mass = i == 7 ? top : 1 });
			double worst = 0;
			for (uint32_t tick = 0; tick < 10000; tick++) {
				stage_step(&stage);
				vec3 at = stage.tables.body.position[last];
				worst = scalar_max(worst, vec3_distance(at, vec3_make(0, 7.5, 0)));
				fallbacks += stage.dynamics.report.fallbacks;
			}
			printf("tower of 8, top %4g times the mass, %-10s 10000 steps: top moves %.1e m "
			       "at most, %u fallbacks\n",
			       top, methods[m], worst, fallbacks);
			fflush(stdout);
			stage_release(&stage);
		}
}

/* ---- racks of touching balls -------------------------------------------------------------------- */

/* 22 racks of 21 touching balls, 45 contacts each, 990 in all; each ball has a random velocity, so about
 * half of the contacts approach. `closing`: the balls of a rack fly to its middle, and all do. */
static uint32_t add_racks(struct stage *stage, bool closing)
{
	enum { RACKS = 22, ROWS = 6 };
	const double root = 1.7320508075688772;
	struct rng rng = rng_seeded(3);
	uint32_t ball = stage_shape(stage, make_sphere(0.5)), count = 0;
	for (uint32_t rack = 0; rack < RACKS; rack++)
		for (uint32_t y = 0; y < ROWS; y++)
			for (uint32_t x = 0; x <= y; x++, count++) {
				vec3 at = { x - 0.5 * y, 0, 0.5 * root * y };
				double random_x = rng_range(&rng, -5, 5);
				vec3 velocity = { random_x, 0, rng_range(&rng, -5, 5) };
				if (closing)
					velocity =
						vec3_make(-at.x, 0, root * (ROWS - 1) / 3 - at.z);
				at.x += 100 * rack;
				stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
								      .shape = ball,
								      .position = at,
								      .velocity = velocity,
								      .restitution = 1 });
			}
	stage_parameter(stage, PARAMETER_SLEEP_ENABLED, 0);
	return count;
}

/* A tick in which they all collide, by generalized reflections: the least of several first ticks. */
static void racks(void)
{
	enum { TRIALS = 5 };
	for (uint32_t k = 0; k < 4; k++) {
		bool projects = k % 2 == 1, closing = k >= 2;
		double least = __builtin_inf();
		struct step_report report = { 0 };
		for (uint32_t trial = 0; trial < TRIALS; trial++) {
			struct stage stage;
			stage_init(&stage, "reflection");
			stage_parameter(&stage, PARAMETER_REFLECTION_CORE, projects);
			add_racks(&stage, closing);
			least = scalar_min(least, step_ms(&stage));
			report = stage.dynamics.report;
			stage_release(&stage);
		}
		printf("22 racks of 45 contacts, %-8s %-23s %6.2f ms a tick, %u points, %u islands, "
		       "%u iterations, %u fallbacks, residual %.0e m/s\n",
		       closing ? "closing," : "random,",
		       projects ? "gr-velocity-projection" : "reflection", least, report.points,
		       report.islands_dense + report.islands_sparse, report.iterations,
		       report.fallbacks, report.residual);
		fflush(stdout);
	}
}

/* ---- an event beside a world -------------------------------------------------------------------- */

/* Four ticks of a pair of balls that bounces between walls at `speed` m/s (0: it does not move), beside
 * `others` bodies that fly by themselves. tests/bench/bench_events.py counts their instructions. */
static void event(const char *others, const char *speed)
{
	enum { TICKS = 4 };
	struct stage stage;
	uint64_t groups = 0;
	uint32_t count = (uint32_t)strtoul(others, NULL, 10);
	stage_init(&stage, "impact");
	uint32_t wall = stage_shape(&stage, make_box(0.1, 1, 1));
	uint32_t ball = stage_shape(&stage, make_sphere(0.1));
	for (double x = -1; x <= 1; x += 2)
		stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
						       .shape = wall,
						       .position = { 0.6 * x, 0, 0 },
						       .restitution = 1 });
	for (double x = -1; x <= 1; x += 2)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { 0.25 * x, 0, 0 },
					       .velocity = { -x * strtod(speed, NULL), 0, 0 },
					       .friction = -1,
					       .restitution = 1,
					       .wakeful = true });
	for (uint32_t k = 0; k < count; k++)
		stage_add(&stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { 10 + k % 100, 10 + k / 100 % 100,
							     10.0 + k / 10000 },
					       .velocity = { 0, 0, 1 } });
	for (uint32_t k = 0; k < TICKS; k++) {
		stage_step(&stage);
		groups += stage.dynamics.report.impact.groups;
	}
	printf("%llu groups of events\n", (unsigned long long)groups);
	stage_release(&stage);
}

int main(int argc, char **argv)
{
	bool all = argc == 1;
	for (int k = all ? 0 : 1; k < argc; k++) {
		if (all || strcmp(argv[k], "walls") == 0)
			walls();
		if (all || strcmp(argv[k], "heap") == 0)
			heap();
		if (strcmp(argv[k], "columns") == 0)
			columns();
		if (strcmp(argv[k], "drop") == 0)
			drop();
		if (strcmp(argv[k], "towers") == 0)
			towers();
		if (strcmp(argv[k], "racks") == 0)
			racks();
		if (strcmp(argv[k], "event") == 0 && k + 2 < argc)
			event(argv[k + 1], argv[k + 2]);
	}
	return 0;
}
