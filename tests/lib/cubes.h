/* cubes.h: the 901 cubes of clients/scenes/cubes901.yaml at play: the large one wanders from place to place
 * and draws the small ones near it to itself, by forces a client could send. The same in every run. */
#ifndef CAIRN_TESTS_CUBES_H
#define CAIRN_TESTS_CUBES_H

#include "protocol/columns.h"
#include "server/base/rng.h"
#include "server/host/report.h"

enum { CUBES_MAX = 1024, CUBE_POINTS_MAX = 256 };

struct cubes {
	struct shape_library book;
	struct world *world;
	struct rng rng;
	body_id player;
	vec3 goal;
	bool contacts; /* reports tell them, of the bodies they list */
	bool changing; /* now and then a cube is taken away, and another one falls */
	/* The whole state after the last tick, ascending ids, no shapes. */
	struct wire_body bodies[CUBES_MAX];
	uint32_t count;
	uint64_t tick;
};

void cubes_start(struct cubes *self, uint64_t seed, bool changing);
void cubes_finish(struct cubes *self);
/* One tick. */
void cubes_play(struct cubes *self);
/* The tick as a world in service would report it; `whole`: everything. Returned owned. */
struct report *cubes_report(const struct cubes *self, bool whole);

#endif
