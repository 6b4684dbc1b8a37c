/* What a periodic checkpoint costs the world's thread: the image, the hash of the state, and the hand-over to
 * the journal's buffer; into new memory, as the first checkpoint, and into kept memory, as all later ones.
 *
 *	bench_checkpoint [SCENE, default clients/scenes/spheres.yaml] [ROUNDS, default 50] */
#include <stdio.h>
#include <stdlib.h>

#include "server/io/instant.h"
#include "server/store/record.h"
#include "server/worlds/scene_world.h"

enum { TICKS = 120 };

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

static void report(const char *what, uint64_t *times, uint32_t count, uint32_t bodies)
{
	qsort(times, count, sizeof *times, compare);
	printf("%-34s %9.1f us, %7.3f us a body\n", what, (double)times[count / 2] / 1e3,
	       (double)times[count / 2] / 1e3 / bodies);
}

/* One checkpoint as host_checkpoint and the journal make it; `image` is kept or empty. */
static size_t checkpoint(const struct world *world, struct bytes *image,
			 struct record_buffer *records, uint64_t times[4])
{
	uint64_t tables[WORLD_TABLES_MAX], begun = instant_now();
	uint32_t count;
	struct world_info info = world_info(world);
	bytes_reset(image);
	ASSERT(world_save_open(world, image) == STATUS_OK);
	times[0] = instant_now() - begun;
	uint64_t hash = world_state_hash(world, tables, &count);
	times[1] = instant_now() - begun - times[0];
	size_t bytes = image->count;
	ASSERT(record_buffer_swap_checkpoint(records, info.epoch, info.tick, info.edit, NULL, image,
					     hash, tables, count) == STATUS_OK);
	times[3] = instant_now() - begun;
	times[2] = times[3] - times[0] - times[1];
	return bytes;
}

int main(int argc, char **argv)
{
	static const char *const parts[] = { "image", "hash of the state", "hand-over", "all" };
	uint32_t rounds = argc > 2 ? (uint32_t)atoi(argv[2]) : 50;
	struct scene *scene;
	struct shape_library shapes;
	struct world *world;
	struct reason why;
	shape_library_init(&shapes);
	if (scene_load(argc > 1 ? argv[1] : "clients/scenes/spheres.yaml", &scene, &why) !=
		    STATUS_OK ||
	    scene_world_make(scene, NULL, &shapes, &world, &why) != STATUS_OK) {
		fprintf(stderr, "%s\n", why.text);
		return EXIT_FAILURE;
	}
	scene_destroy(scene);
	for (int i = 0; i < TICKS; i++)
		ASSERT(world_step(world, &parallel_serial, &why) == STATUS_OK);
	uint32_t bodies = world_stats(world).bodies;
	for (int kept = 0; kept < 2; kept++) {
		uint64_t *times = malloc(4 * (size_t)rounds * sizeof *times);
		struct bytes image = { 0 };
		size_t bytes = 0;
		struct record_buffer records = { 0 };
		ASSERT(times != NULL);
		for (uint32_t i = 0; i < rounds; i++) {
			uint64_t one[4];
			bytes = checkpoint(world, &image, &records, one);
			for (int k = 0; k < 4; k++)
				times[(size_t)k * rounds + i] = one[k];
			record_buffer_reset(&records);
			if (!kept) {
				bytes_release(&image);
				record_buffer_release(&records);
			}
		}
		printf("%u bodies, %s memory, image of %zu bytes a body\n", (unsigned)bodies,
		       kept ? "kept" : "new", bytes / bodies);
		for (int k = 0; k < 4; k++)
			report(parts[k], times + (size_t)k * rounds, rounds, bodies);
		bytes_release(&image);
		record_buffer_release(&records);
		free(times);
	}
	world_destroy(world);
	shape_library_release(&shapes);
	return EXIT_SUCCESS;
}
