/* bench_compound: a body of 64 cubes on a mesh of triangles of 0.15 m, sleep off: time of a tick
 * with thousands of rows between two bodies, and the velocity left. The cubes are separate
 * placements, or parts of one solid.
 *
 *   bench_compound [TICKS, default 600] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"

enum { SETTLE = 300 };

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static uint32_t add_solid(struct stage *stage, double bump)
{
	vec3 boxes[64][2];
	for (uint32_t i = 0; i < 64; i++) {
		boxes[i][0] = vec3_make(0.52 * (i % 8) - 1.82, 0, 0.52 * (i / 8) - 1.82);
		boxes[i][1] = vec3_all(0.25);
	}
	uint32_t solid = stage_shape(stage, make_boxes_solid((const vec3(*)[2])boxes, 64));
	return stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
						     .shape = solid,
						     .position = { 0.03, 0.26 + bump, 0.02 } });
}

static void measure(const char *name, bool solid, double bump, vec3 velocity, uint32_t ticks)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	stage_terrain(&stage, 60, 0.15, bump);
	uint32_t slab = solid ? add_solid(&stage, bump)
			      : stage_slab(&stage, 8, 0.25, vec3_make(0.03, 0.26 + bump, 0.02),
					   quat_identity());
	stage_run(&stage, SETTLE);
	stage.tables.body.velocity[slab] = velocity;
	double *times = calloc(ticks, sizeof *times), drift = 0;
	if (times == NULL)
		abort();
	vec3 start = stage.tables.body.position[slab];
	for (uint32_t k = 0; k < ticks; k++) {
		double begin = now_ms();
		stage_step(&stage);
		times[k] = now_ms() - begin;
	}
	drift = vec3_distance(stage.tables.body.position[slab], start);
	qsort(times, ticks, sizeof *times, ascending);
	const struct step_report *report = &stage.dynamics.report;
	printf("%-16s %5u rows, %5u points, %3u colours: %6.3f ms a tick (%.3f … %.3f), drift %.1e m, "
	       "penetration %.1e m, energy %.1e J, residual %.0e m/s\n",
	       name, report->contacts, report->points, report->colours, times[ticks / 2],
	       times[ticks / 10], times[ticks - 1 - ticks / 10], drift, report->penetration_max,
	       stage_kinetic(&stage), report->residual);
	free(times);
	stage_release(&stage);
}

int main(int argc, char **argv)
{
	uint32_t ticks = argc > 1 ? (uint32_t)atoi(argv[1]) : 600;
	if (ticks == 0)
		return 2;
	measure("flat, at rest", false, 0, vec3_zero(), ticks);
	measure("bumpy, at rest", false, 0.01, vec3_zero(), ticks);
	measure("flat, sliding", false, 0, vec3_make(3, 0, 1), MIN_OF(ticks, 30u));
	measure("solid, at rest", true, 0, vec3_zero(), ticks);
	return 0;
}
