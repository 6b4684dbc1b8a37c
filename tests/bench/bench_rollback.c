/* What a rollback image costs: its bytes by what they are for, and the time to save and to restore it.
 *
 * A scene is stepped, a base is made, and after further ticks an image. The part of a kind of rows is what
 * the image is shorter without them. Then the world is rolled back again and again.
 *
 *	bench_rollback [TICKS before the base, default 120] [TICKS after it, default 8] [SCENE …] */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/engine/world/rollback.h"
#include "server/worlds/scene_world.h"

enum { ROUNDS = 51 };

/* The bounds of issue and docs: bytes of a body with one shape, a near row, a touching row, a joint. */
enum part { PART_BODY, PART_NEAR, PART_POINTS, PART_TOUCHING, PART_JOINT, PARTS };
static const uint32_t bounds[PARTS] = { 176, 96, 344, 344, 64 };
static const char *const names[PARTS] = { "body", "near", "close", "touching", "joint" };

/* ns of processor time, so that other processes do not count. */
static uint64_t used_now(void)
{
	struct timespec at;
	ASSERT(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at) == 0);
	return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static double median_us(uint64_t times[ROUNDS])
{
	qsort(times, ROUNDS, sizeof *times, compare);
	return (double)times[ROUNDS / 2] / 1e3;
}

static size_t image_bytes(const struct tables *tables, const struct rollback_base *base,
			  struct world *world)
{
	struct bytes image = { 0 };
	ASSERT(rollback_encode(tables, base, world->rollback, &image) == STATUS_OK);
	size_t bytes = image.count;
	bytes_release(&image);
	return bytes;
}

/* Near rows have no points, close ones have some that do not touch. */
static enum part part_of(const struct tables *tables, uint32_t row)
{
	return tables->contact.touching[row]	      ? PART_TOUCHING
	       : tables->contact.point_count[row] > 0 ? PART_POINTS
						      : PART_NEAR;
}

/* Clears the contacts of a part; returns how many there are. */
static uint32_t clear_contacts(struct tables *tables, enum part part)
{
	uint32_t count = 0;
	for (uint32_t row = 0; row < tables->contact.count; row++) {
		if (!tables->contact.used[row] || part_of(tables, row) != part)
			continue;
		tables_clear_row(tables, TABLE_CONTACT, row);
		count++;
	}
	return count;
}

static uint32_t clear_joints(struct tables *tables)
{
	uint32_t count = 0;
	for (uint32_t row = 0; row < tables->joint.count; row++)
		if (tables->joint.id[row] != 0) {
			tables_clear_row(tables, TABLE_JOINT, row);
			count++;
		}
	return count;
}

static void measure_parts(struct world *world, const struct rollback_base *base,
			  double bytes[PARTS], uint32_t counts[PARTS])
{
	struct tables tables;
	tables_init(&tables);
	ASSERT(rollback_copy(&tables, &world->tables) == STATUS_OK);
	size_t before = image_bytes(&tables, base, world);
	for (uint32_t part = PART_NEAR; part <= PART_JOINT; part++) {
		counts[part] = part == PART_JOINT ? clear_joints(&tables)
						  : clear_contacts(&tables, (enum part)part);
		size_t after = image_bytes(&tables, base, world);
		bytes[part] = (double)before - (double)after;
		before = after;
	}
	bytes[PART_BODY] = (double)before;
	counts[PART_BODY] = world_stats(world).bodies;
	tables_release(&tables);
}

static void step(struct world *world, uint32_t ticks)
{
	struct reason why;
	for (uint32_t i = 0; i < ticks; i++)
		ASSERT(world_step(world, &parallel_serial, &why) == STATUS_OK);
}

static void restore(struct world *world, const struct rollback_base *base,
		    const struct bytes *image)
{
	struct reason why;
	if (world_restore_rollback(world, base, image->data, image->count, &why) == STATUS_OK)
		return;
	fprintf(stderr, "%s\n", why.text);
	exit(EXIT_FAILURE);
}

static void measure(const char *path, struct world *world, uint32_t before, uint32_t after)
{
	struct rollback_base *base;
	struct bytes image = { 0 };
	uint64_t saves[ROUNDS], restores[ROUNDS], ticks[ROUNDS];
	double bytes[PARTS], bound = 0;
	uint32_t counts[PARTS];
	step(world, before);
	ASSERT(rollback_base_create(world, &base) == STATUS_OK);
	step(world, after);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		bytes_reset(&image);
		uint64_t begun = used_now();
		ASSERT(world_save_rollback(world, base, &image) == STATUS_OK);
		saves[i] = used_now() - begun;
		step(world, 1);
		begun = used_now();
		restore(world, base, &image);
		restores[i] = used_now() - begun;
		begun = used_now();
		step(world, 1);
		ticks[i] = used_now() - begun;
		restore(world, base, &image);
	}
	measure_parts(world, base, bytes, counts);
	struct bytes full = { 0 };
	ASSERT(world_save(world, &full) == STATUS_OK);
	printf("%s: %zu bytes, %.1f %% of the full image\n", path, image.count,
	       100.0 * (double)image.count / (double)full.count);
	for (uint32_t part = 0; part < PARTS; part++) {
		bound += (double)bounds[part] * counts[part];
		if (counts[part] > 0)
			printf("  %-9s %6u rows, %7.1f bytes each, bound %3u\n", names[part],
			       counts[part], bytes[part] / counts[part], bounds[part]);
	}
	double bodies = counts[PART_BODY];
	printf("  all of the bounds: %.0f bytes, the image %.2f of it\n", bound,
	       (double)image.count / bound);
	printf("  save %.3f, restore %.3f, tick after it %.3f us a body\n",
	       median_us(saves) / bodies, median_us(restores) / bodies, median_us(ticks) / bodies);
	bytes_release(&full);
	bytes_release(&image);
	rollback_base_destroy(base);
}

int main(int argc, char **argv)
{
	uint32_t before = argc > 1 ? (uint32_t)atoi(argv[1]) : 120;
	uint32_t after = argc > 2 ? (uint32_t)atoi(argv[2]) : 8;
	for (int i = 3; i < argc; i++) {
		struct scene *scene;
		struct shape_library shapes;
		struct world *world;
		struct reason why;
		shape_library_init(&shapes);
		if (scene_load(argv[i], &scene, &why) != STATUS_OK ||
		    scene_world_make(scene, NULL, &shapes, &world, &why) != STATUS_OK) {
			fprintf(stderr, "%s\n", why.text);
			return EXIT_FAILURE;
		}
		scene_destroy(scene);
		measure(argv[i], world, before, after);
		world_destroy(world);
		shape_library_release(&shapes);
	}
	return EXIT_SUCCESS;
}
