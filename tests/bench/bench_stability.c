/* bench_stability: the processor time of the verdict on walls in running bond with a brick left out, over
 * their size, without and with friction; and on scenes after so many ticks.
 *
 *	bench_stability [--walls] [SCENE.yaml TICKS]…
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/commands/batch_world.h"
#include "server/io/parallel_pool.h"
#include "tests/lib/towers.h"

static const char *const VERDICTS[STABILITY_VERDICTS] = { "falls", "stands", "may stand",
							  "undecided" };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static void measure(uint32_t rows, uint32_t columns, double friction)
{
	struct towers towers;
	struct equilibrium found;
	towers_init(&towers, 1, 0.25, 4, 9.81);
	towers.friction = friction;
	towers_wall(&towers, rows, columns, (int)columns / 2);
	double begin = now();
	if (equilibrium_init(&found, &towers.problem) != STATUS_OK ||
	    equilibrium_ready(&found) != STATUS_OK) {
		printf("out of memory\n");
		return;
	}
	struct stability_answer answer = stability_of(&found, towers.loads);
	printf("%6u bricks, friction %.1f: %9.2f ms  %-9s %4u factors, residual %.1e, kkt %.1e\n",
	       towers.count, friction, now() - begin, VERDICTS[answer.verdict], answer.rounds,
	       answer.residual, answer.kkt);
	equilibrium_release(&found);
	towers_release(&towers);
}

static int fail(const char *what, const struct reason *why)
{
	fprintf(stderr, "bench_stability: %s: %s\n", what, why->text);
	return EXIT_FAILURE;
}

/* The verdict on a scene after so many ticks. */
static int measure_scene(const char *path, uint32_t ticks)
{
	struct option_list none = { 0 };
	struct batch_scene from = { .path = path, .set = &none, .let = &none };
	struct shape_library book;
	struct scene *scene = NULL;
	struct world *world = NULL;
	struct reason why = { 0 };
	struct stability_view view;
	const struct stability_query query = { .sides = 8, .direction = { 1, 0, 0 } };
	shape_library_init(&book);
	if (batch_world_make(&from, &book, &scene, &world, &why) != STATUS_OK)
		return fail(path, &why);
	for (uint32_t i = 0; i < ticks; i++)
		if (world_step(world, &parallel_serial, &why) != STATUS_OK)
			return fail(path, &why);
	double begin = now();
	if (world_stability(world, &query, &view, &why) != STATUS_OK)
		return fail(path, &why);
	printf("%s, tick %u, %u bodies, %u points: %9.2f ms  %-9s %4u factors, residual %.1e, kkt %.1e\n",
	       path, ticks, view.bodies, view.points, now() - begin, VERDICTS[view.verdict],
	       view.rounds, view.residual, view.kkt);
	stability_view_release(&view);
	scene_destroy(scene);
	world_destroy(world);
	shape_library_release(&book);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[][2] = {
		{ 5, 20 }, { 10, 30 }, { 20, 50 }, { 40, 80 }, { 100, 100 }
	};
	bool walls = argc < 2 || strcmp(argv[1], "--walls") == 0;
	for (uint32_t i = 0; walls && i < COUNT_OF(sizes); i++) {
		measure(sizes[i][0], sizes[i][1], 0);
		measure(sizes[i][0], sizes[i][1], 0.6);
	}
	for (int i = walls ? 2 : 1; i + 1 < argc; i += 2)
		if (measure_scene(argv[i], (uint32_t)atoi(argv[i + 1])) != EXIT_SUCCESS)
			return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
