/* bench_heightfield: 1000 bodies on hills of 1024 × 1024 samples, as a heightfield and as a mesh of the same
 * triangles, and on a floor of one half-space: memory and time of cooking, time of a tick while all
 * bodies are awake, and time of a ray.
 *
 *   bench_heightfield [TICKS, default 200] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/ray.h"
#include "server/engine/math/trig.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage.h"

enum { SIDE = 1024, ROW = 32, BODIES = 1000, SETTLE = 120, RAYS = 20000 };
#define CELL 0.5

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

static double height_of(double x, double z)
{
	return 1.5 * trig_sin(x / 7) * trig_cos(z / 9) + 0.1 * trig_sin(x * 1.3 + z);
}

static struct shape *make_hills(void)
{
	float *heights = malloc(sizeof *heights * SIDE * SIDE);
	if (heights == NULL)
		abort();
	for (uint32_t k = 0; k < SIDE * SIDE; k++)
		heights[k] = (float)height_of((k % SIDE - 0.5 * (SIDE - 1)) * CELL,
					      (k / SIDE - 0.5 * (SIDE - 1)) * CELL);
	struct height_grid grid = { SIDE, SIDE, CELL, CELL, heights, NULL, NULL, false };
	struct shape *shape = make_heightfield(&grid);
	free(heights);
	return shape;
}

static void measure_rays(const struct shape *ground)
{
	uint32_t hits = 0;
	double begin = now_ms();
	for (uint32_t k = 0; k < RAYS; k++) {
		struct shape_hit hit;
		double x = (k % 200) * 2.0 - 200, z = (k / 200) * 3.0 - 150;
		hits += ray_shape(ground, vec3_make(x, 20, z), vec3_make(60, -40, 25), 1, &hit);
	}
	printf(", a ray %.2f us (%u of %d hit)\n", (now_ms() - begin) * 1e3 / RAYS, hits, RAYS);
}

static void measure(const char *name, struct shape *ground, double cooking, uint32_t ticks)
{
	struct stage stage;
	stage_init(&stage, "soft-step");
	stage_parameter(&stage, PARAMETER_SLEEP_ENABLED, 0);
	printf("%-12s %6.1f MB, cooked in %6.0f ms", name, (double)ground->memory_bytes / 1e6,
	       cooking);
	if (ground->kind == SHAPE_PLANE)
		puts("");
	else
		measure_rays(ground);
	bool flat = ground->kind == SHAPE_PLANE;
	stage_add(&stage, (struct stage_body){ .status = BODY_STATIC,
					       .shape = stage_shape(&stage, ground) });
	uint32_t shapes[3] = { stage_shape(&stage, make_sphere(0.4)),
			       stage_shape(&stage, make_box(0.4, 0.25, 0.3)),
			       stage_shape(&stage, make_capsule(0.4, 0.25)) };
	for (uint32_t i = 0; i < BODIES; i++) {
		double x = (i % ROW - 0.5 * ROW) * 14.3, z = (i / (double)ROW - 0.5 * ROW) * 14.1;
		vec3 at = vec3_make(x, 1 + (flat ? 0 : height_of(x, z)), z);
		stage_add(&stage, (struct stage_body){ .status = BODY_DYNAMIC,
						       .shape = shapes[i % 3],
						       .position = at });
	}
	stage_run(&stage, SETTLE);
	double *times = calloc(ticks, sizeof *times);
	if (times == NULL)
		abort();
	for (uint32_t k = 0; k < ticks; k++) {
		double begin = now_ms();
		stage_step(&stage);
		times[k] = now_ms() - begin;
	}
	qsort(times, ticks, sizeof *times, ascending);
	printf("             %u pairs, %u points: %.3f ms a tick (%.3f … %.3f)\n",
	       stage.dynamics.report.contacts, stage.dynamics.report.points, times[ticks / 2],
	       times[ticks / 10], times[ticks - 1 - ticks / 10]);
	free(times);
	stage_release(&stage);
}

int main(int argc, char **argv)
{
	uint32_t ticks = argc > 1 ? (uint32_t)atoi(argv[1]) : 200;
	if (ticks == 0)
		return 2;
	double begin = now_ms();
	struct shape *hills = make_hills();
	double made = now_ms();
	struct shape *mesh = make_mesh_of_heightfield(hills, NULL);
	double meshed = now_ms();
	measure("heightfield", hills, made - begin, ticks);
	measure("mesh", mesh, meshed - made, ticks);
	measure("half-space", make_plane(vec3_make(0, 1, 0), 0), 0, ticks);
	return 0;
}
