/* cubes.h: the 901 cubes of clients/scenes/cubes901.yaml in motion: the large cube moves from goal
 * to goal and attracts small ones near it, by forces that a client could send. The same in every
 * run. */
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
	bool contacts; /* reports contain the contacts of the bodies that they list */
	bool changing; /* occasionally a cube is removed and another spawned above */
	/* The whole state after the last tick, ascending ids, no shapes. */
	struct wire_body bodies[CUBES_MAX];
	uint32_t count;
	uint64_t tick;
};

void cubes_start(struct cubes *self, uint64_t seed, bool changing);
void cubes_finish(struct cubes *self);
/* Advances by one tick. */
void cubes_play(struct cubes *self);
/* The tick as a host would report it; `whole`: all bodies. Returned owned. */
struct report *cubes_report(const struct cubes *self, bool whole);

#endif
