/* golden: runs every scene and compares its hashes with the lists. Bits must be equal for every
 * compiler, optimisation, processor and number of workers, and with a save and load in between.
 *
 *   golden [--workers N] [--print motion|state|answers] [FOLDER]
 *
 * FOLDER is tests/golden below $CAIRN_SRCDIR unless given. Its lists, 16 hex digits a hash:
 *
 *   motion.txt    core N, METHOD N, …; SCENE TICK TICK_HASH    motion of bodies
 *   state.txt     SCENE TICK STATE_HASH                   contents of the tables
 *   answers.txt   PROBLEM COUNT VALUES WAYS               of solvers, distances, shapes, overlaps
 *
 * --print writes such a list of this build instead of TAP. Each scene runs several times: plainly;
 * with several workers and four lanes; lane by lane, saved and loaded at one tick, with all caches
 * rebuilt at another; and with every kind of broad phase in turn, two of them interrupted. */
#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/world/parameters.h"
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

enum list { MOTION, STATE, ANSWERS, LISTS };
static const char *const list_names[LISTS] = { "motion", "state", "answers" };

struct line {
	enum list list;
	char name[32];
	unsigned long long count;     /* of ticks or problems */
	unsigned long long hashes[2]; /* the second of answers only */
};

enum { LINES_MAX = 256 };
static struct line listed[LINES_MAX];
static uint32_t listed_count, tests, failures;
static char listed_numbers[MOTION_TEXT_MAX];
static enum list printed = LISTS; /* LISTS: none */

static bool read_list(const char *folder, enum list list)
{
	char path[4096], text[200];
	snprintf(path, sizeof path, "%s/%s.txt", folder, list_names[list]);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	while (fgets(text, sizeof text, file) != NULL && listed_count < LINES_MAX) {
		struct line *line = &listed[listed_count];
		if (text[0] == '#')
			continue;
		if (strncmp(text, "core ", 5) == 0) {
			text[strcspn(text, "\n")] = '\0';
			memcpy(listed_numbers, text, strlen(text) + 1);
			continue;
		}
		*line = (struct line){ .list = list };
		if (sscanf(text, "%31s %llu %llx %llx", line->name, &line->count, &line->hashes[0],
			   &line->hashes[1]) == (list == ANSWERS ? 4 : 3))
			listed_count++;
	}
	fclose(file);
	return true;
}

static void say_hashes(const struct line *line)
{
	printf(" %016llx", line->hashes[0]);
	if (line->list == ANSWERS)
		printf(" %016llx", line->hashes[1]);
	printf("\n");
}

static void compare_line(const char *name, const char *way, const struct line *now)
{
	if (printed != LISTS) {
		if (printed == now->list) {
			printf("%s %llu", name, now->count);
			say_hashes(now);
		}
		return;
	}
	const struct line *wanted = NULL;
	for (uint32_t i = 0; i < listed_count && wanted == NULL; i++)
		if (listed[i].list == now->list && strcmp(listed[i].name, name) == 0 &&
		    listed[i].count == now->count)
			wanted = &listed[i];
	bool same = wanted != NULL && memcmp(wanted->hashes, now->hashes, sizeof now->hashes) == 0;
	failures += !same;
	printf("%s %u - %s of %s %s %llu", same ? "ok" : "not ok", ++tests, list_names[now->list],
	       name, way, now->count);
	say_hashes(now);
	if (!same && wanted == NULL)
		printf("# not in the list\n");
	else if (!same) {
		printf("# the list has");
		say_hashes(wanted);
	}
}

static void compare(const struct scene *scene, const char *way, const struct world *world)
{
	uint64_t tick = world_info(world).tick;
	compare_line(scene->name, way,
		     &(struct line){ MOTION, "", tick, { world_tick_hash(world), 0 } });
	compare_line(scene->name, way, &(struct line){ STATE, "", tick, { test_hash(world), 0 } });
}

/* The count of problems, or of poses, takes the place of the tick. */
static void compare_solver(const char *name, uint32_t count, uint64_t values, uint64_t ways)
{
	compare_line(name, "solved", &(struct line){ ANSWERS, "", count, { values, ways } });
}

/* Replaces the world by one loaded from its image. */
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

/* Parameters whose initial value has changed since the lists were written, at the value of then, which is
 * also what files without them mean. */
static void set_early_values(struct world *world)
{
	static const enum parameter_row changed[] = { PARAMETER_EXACT_WORK, PARAMETER_SOFT_ENERGY };
	for (uint32_t i = 0; i < COUNT_OF(changed); i++) {
		const struct parameter_entry *entry = &parameter_entries[changed[i]];
		struct command command = test_command(COMMAND_PARAMETER);
		command.parameter.name = test_text(entry->name);
		command.parameter.value = entry->absent;
		test_do(world, &command);
	}
}

static void run(const struct scene *scene, const char *broad_phase, const struct parallel *parallel,
		uint32_t lanes, bool interrupt)
{
	processor_limit_lanes(lanes);
	struct world_options options = test_options(scene->planar, scene->method);
	snprintf(options.broad_phase, sizeof options.broad_phase, "%s", broad_phase);
	struct world *world = test_world_of(&options);
	set_early_values(world);
	char way[64];
	snprintf(way, sizeof way, "%s %u workers, %u lanes%s", broad_phase, parallel->workers,
		 processor_lanes(), interrupt ? " interrupted" : "");
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

static bool read_lists(const char *folder, const char *numbers)
{
	for (int list = 0; list < LISTS; list++)
		if (!read_list(folder, (enum list)list))
			return false;
	return strcmp(listed_numbers, numbers) == 0;
}

static enum list list_by_name(const char *name)
{
	int list = 0;
	while (list < LISTS && strcmp(list_names[list], name) != 0)
		list++;
	return (enum list)list;
}

static void run_scenes(const struct parallel_pool *pool)
{
	for (uint32_t i = 0; i < scene_count; i++) {
		run(&scenes[i], "tree", &parallel_serial, 16, false);
		if (printed != LISTS)
			continue;
		run(&scenes[i], "tree", parallel_pool_parallel(pool), 4, false);
		run(&scenes[i], "grid", &parallel_serial, 1, true);
		run(&scenes[i], "levels", parallel_pool_parallel(pool), 8, true);
		run(&scenes[i], "sweep", &parallel_serial, 4, false);
	}
}

/* A method of motion 0 promises its bits to nobody, so the lists are not about it. */
static void leave_out_experiments(struct motion_numbers *numbers)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < numbers->method_count; i++)
		if (numbers->methods[i].number != 0)
			numbers->methods[kept++] = numbers->methods[i];
	numbers->method_count = kept;
}

int main(int count, char **arguments)
{
	uint32_t workers = 3;
	char folder[4000], numbers[MOTION_TEXT_MAX];
	struct motion_numbers own = engine_motion();
	leave_out_experiments(&own);
	motion_text(&own, numbers);
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(folder, sizeof folder, "%s/tests/golden", source != NULL ? source : ".");
	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "--print") == 0 && i + 1 < count)
			printed = list_by_name(arguments[++i]);
		else if (strcmp(arguments[i], "--workers") == 0 && i + 1 < count)
			workers = (uint32_t)strtoul(arguments[++i], NULL, 10);
		else
			snprintf(folder, sizeof folder, "%s", arguments[i]);
	}
	if (printed != LISTS) {
		printf("# Made by golden --print %s; docs/DETERMINISM.md says when this may change.\n",
		       list_names[printed]);
		if (printed == MOTION)
			printf("%s\n", numbers);
	} else if (!read_lists(folder, numbers)) {
		printf("Bail out! the lists in %s are missing or of other numbers than %s\n",
		       folder, numbers);
		return 1;
	}
	struct parallel_pool *pool;
	if (parallel_pool_create(workers, &pool) != STATUS_OK) {
		printf("Bail out! no workers\n");
		return 1;
	}
	run_scenes(pool);
	parallel_pool_destroy(pool);
	golden_solvers(compare_solver);
	golden_closest(compare_solver);
	golden_shapes(compare_solver);
	golden_overlap(compare_solver);
	if (printed == LISTS)
		printf("1..%u\n", tests);
	return failures > 0;
}
