/* bench_cloth.c: how well links are kept, and at what cost: cloths that hang by two corners, by size
 * and sub-steps. Each begins flat and level and swings for four seconds.
 *
 * bench_cloth [side [substeps]]: without and with a limit of 2 %, the largest stretch of a link in any tick
 * and in the last second, passes over the links for the limit a tick, and ms of the processor a tick. */
#include "server/engine/math/scalar.h"
#include "tests/bench/bench_sheet.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <stdlib.h>

static void measure(uint32_t side, uint32_t substeps, double limit)
{
	enum { TICKS = 240, LAST = 180 };
	const struct sheet sheet = { .side = side, .substeps = substeps, .limit = limit };
	struct world *world = bench_sheet(&sheet);
	struct system_view views[SYSTEMS_MAX];
	double worst = 0, late = 0, start = bench_processor();
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		test_step(world, 1);
		world_systems(world, views);
		worst = scalar_max(worst, views[0].stretch);
		if (tick >= LAST)
			late = scalar_max(late, views[0].stretch);
	}
	printf("%3u x %3u, %2u sub-steps, limit %2.0f %%: %8.3f %%, at last %8.3f %%, %6.1f passes, %7.3f ms "
	       "a tick\n",
	       side, side, substeps, 100 * limit, 100 * worst, 100 * late,
	       (double)views[0].limit_passes / TICKS, 1e3 * (bench_processor() - start) / TICKS);
	fflush(stdout);
	world_destroy(world);
}

int main(int argc, char **argv)
{
	static const uint32_t sides[] = { 12, 24, 32, 64 }, steps[] = { 4, 8, 16, 32, 64 };
	uint32_t side = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
	uint32_t step = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	for (uint32_t i = 0; i < COUNT_OF(sides); i++)
		for (uint32_t k = 0; k < COUNT_OF(steps); k++) {
			if ((side != 0 && sides[i] != side) || (step != 0 && steps[k] != step))
				continue;
			measure(sides[i], steps[k], 0);
			measure(sides[i], steps[k], 0.02);
		}
	return 0;
}
