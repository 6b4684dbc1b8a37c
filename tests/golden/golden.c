/* golden: runs every scene and compares its hashes with the list; the same bits on every compiler,
 * optimisation, processor, number of workers, with a save and load on the way.
 *
 *   golden [--workers N] [--print] [LIST]
 *
 * LIST is tests/golden/hashes.txt below $CAIRN_SRCDIR unless given: lines of
 *
 *   abi NUMBER
 *   SCENE TICK TICK_HASH STATE_HASH         16 hex digits each
 *
 * --print writes such a list of this build instead of TAP. Each scene runs plainly; with workers; and
 * saved and loaded at a tick of its own, with all caches made anew at another; and so that every kind of
 * broad phase has had it, two of them interrupted.
 */
#include "server/base/rng.h"
#include "server/io/parallel_pool.h"
#include "tests/golden/closest.h"
#include "tests/golden/overlap.h"
#include "tests/golden/scenes.h"
#include "tests/golden/shapes.h"
#include "tests/golden/solvers.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct line {
	char scene[32];
	unsigned long long tick, tick_hash, state_hash;
};

enum { LINES_MAX = 256 };
static struct line listed[LINES_MAX];
static uint32_t listed_count, tests, failures;
static unsigned listed_abi;
static bool print;

static bool read_list(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[200];
	if (file == NULL)
		return false;
	while (fgets(text, sizeof text, file) != NULL && listed_count < LINES_MAX) {
		struct line *line = &listed[listed_count];
		if (text[0] == '#' || sscanf(text, "abi %u", &listed_abi) == 1)
			continue;
		if (sscanf(text, "%31s %llu %llx %llx", line->scene, &line->tick, &line->tick_hash,
			   &line->state_hash) == 4)
			listed_count++;
	}
	fclose(file);
	return true;
}

static void compare_line(const char *name, const char *way, struct line now)
{
	if (print) {
		printf("%s %llu %016llx %016llx\n", name, now.tick, now.tick_hash, now.state_hash);
		return;
	}
	const struct line *wanted = NULL;
	for (uint32_t i = 0; i < listed_count && wanted == NULL; i++)
		if (strcmp(listed[i].scene, name) == 0 && listed[i].tick == now.tick)
			wanted = &listed[i];
	bool same = wanted != NULL && wanted->tick_hash == now.tick_hash &&
		    wanted->state_hash == now.state_hash;
	failures += !same;
	printf("%s %u - %s %s tick %llu %016llx %016llx\n", same ? "ok" : "not ok", ++tests, name,
	       way, now.tick, now.tick_hash, now.state_hash);
	if (!same && wanted == NULL)
		printf("# not in the list\n");
	else if (!same)
		printf("# the list has %016llx %016llx\n", wanted->tick_hash, wanted->state_hash);
}

static void compare(const struct scene *scene, const char *way, const struct world *world)
{
	compare_line(scene->name, way,
		     (struct line){.tick = world_info(world).tick,
				   .tick_hash = world_tick_hash(world),
				   .state_hash = test_hash(world)});
}

/* Problems, or poses, take the place of ticks. */
static void compare_solver(const char *name, uint32_t count, uint64_t values, uint64_t ways)
{
	compare_line(name, "solved",
		     (struct line){.tick = count, .tick_hash = values, .state_hash = ways});
}

/* Trades the world for one loaded from its image. */
static struct world *reload(struct world *world)
{
	struct bytes image = test_save(world);
	struct world *copy;
	struct reason why;
	if (world_load(image.data, image.count, test_shape_source(), &copy, &why) != STATUS_OK) {
		printf("Bail out! %s\n", why.text);
		exit(1);
	}
	bytes_release(&image);
	world_destroy(world);
	return copy;
}

static void run(const struct scene *scene, const char *broad_phase, const struct parallel *parallel,
		bool interrupt)
{
	struct world_options options = test_options(scene->planar, scene->method);
	snprintf(options.broad_phase, sizeof options.broad_phase, "%s", broad_phase);
	struct world *world = test_world_of(&options);
	char way[64];
	snprintf(way, sizeof way, "%s %u workers%s", broad_phase, parallel->workers,
		 interrupt ? " interrupted" : "");
	struct rng rng = rng_seeded(scene->ticks);
	uint32_t load_at = interrupt ? 1 + rng_below(&rng, scene->ticks - 1) : 0;
	uint32_t rebuild_at = interrupt ? 1 + rng_below(&rng, scene->ticks - 1) : 0;
	for (uint32_t tick = 0; tick < scene->ticks; tick++) {
		struct reason why;
		if (tick > 0 && tick == load_at)
			world = reload(world);
		if (tick > 0 && tick == rebuild_at && world_rebuild_caches(world) != STATUS_OK)
			exit(1);
		scene->send(world, tick);
		if (world_step(world, parallel, &why) != STATUS_OK) {
			printf("Bail out! %s: %s\n", scene->name, why.text);
			exit(1);
		}
		if ((tick + 1) % scene->interval == 0)
			compare(scene, way, world);
	}
	test_check(world);
	world_destroy(world);
}

int main(int count, char **arguments)
{
	uint32_t workers = 3;
	char path[4096];
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/tests/golden/hashes.txt", source != NULL ? source : ".");
	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "--print") == 0)
			print = true;
		else if (strcmp(arguments[i], "--workers") == 0 && i + 1 < count)
			workers = (uint32_t)strtoul(arguments[++i], NULL, 10);
		else
			snprintf(path, sizeof path, "%s", arguments[i]);
	}
	if (print) {
		printf("# Made by golden --print; docs/DETERMINISM.md says when this may change.\n"
		       "abi %d\n",
		       ENGINE_ABI);
	} else if (!read_list(path) || listed_abi != ENGINE_ABI) {
		printf("Bail out! %s is missing or of another abi than %d\n", path, ENGINE_ABI);
		return 1;
	}
	struct parallel_pool *pool;
	if (parallel_pool_create(workers, &pool) != STATUS_OK) {
		printf("Bail out! no workers\n");
		return 1;
	}
	for (uint32_t i = 0; i < scene_count; i++) {
		run(&scenes[i], "tree", &parallel_serial, false);
		if (print)
			continue;
		run(&scenes[i], "tree", parallel_pool_parallel(pool), false);
		run(&scenes[i], "grid", &parallel_serial, true);
		run(&scenes[i], "levels", parallel_pool_parallel(pool), true);
		run(&scenes[i], "sweep", &parallel_serial, false);
	}
	parallel_pool_destroy(pool);
	golden_solvers(compare_solver);
	golden_closest(compare_solver);
	golden_shapes(compare_solver);
	golden_overlap(compare_solver);
	if (!print)
		printf("1..%u\n", tests);
	return failures > 0;
}
