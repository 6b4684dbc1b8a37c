/* ODE's hash space on the boxes of bench_broad.c: box geoms without bodies, counted by an empty callback. */
#include "tests/bench/bench_broad.h"

#include <ode/ode.h>
#include <stdlib.h>

static void count_pair(void *data, dGeomID a, dGeomID b)
{
	(void)a;
	(void)b;
	++*(uint64_t *)data;
}

struct bench_broad_result bench_broad_ode(const struct bench_boxes *in)
{
	struct bench_broad_result result = { 0, 0, 0 };
	dGeomID *geoms = malloc(in->count * sizeof *geoms);
	if (geoms == NULL)
		return result;
	dInitODE2(0);
	dSpaceID space = dHashSpaceCreate(0);
	dHashSpaceSetLevels(space, -8, 10);
	for (uint32_t r = 0; r <= in->rounds; r++) {
		double start = bench_broad_now();
		for (uint32_t i = 0; i < in->count; i++) {
			const struct bench_box *box = &in->boxes[r * in->count + i];
			if (r == 0)
				geoms[i] = dCreateBox(space, (dReal)(box->max[0] - box->min[0]),
						      (dReal)(box->max[1] - box->min[1]),
						      (dReal)(box->max[2] - box->min[2]));
			dGeomSetPosition(geoms[i], (dReal)(0.5 * (box->min[0] + box->max[0])),
					 (dReal)(0.5 * (box->min[1] + box->max[1])),
					 (dReal)(0.5 * (box->min[2] + box->max[2])));
		}
		double moved = bench_broad_now();
		result.pairs = 0;
		dSpaceCollide(space, &result.pairs, count_pair);
		if (r > 0) {
			result.move_ns += moved - start;
			result.pair_ns += bench_broad_now() - moved;
		}
	}
	dSpaceDestroy(space);
	dCloseODE();
	free(geoms);
	result.move_ns /= (double)in->count * in->rounds;
	result.pair_ns /= (double)in->count * in->rounds;
	return result;
}
