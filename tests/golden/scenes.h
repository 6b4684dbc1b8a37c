/* scenes.h: the runs whose hashes are kept. A scene is made of commands alone, so that a recording of it
 * is a recording like any other. */
#ifndef CAIRN_TESTS_GOLDEN_SCENES_H
#define CAIRN_TESTS_GOLDEN_SCENES_H

#include "server/engine/engine.h"

struct scene {
	const char *name;
	const char *method;
	bool planar;
	uint32_t ticks;	   /* in all */
	uint32_t interval; /* between hashes */
	/* Sends what belongs to the boundary before tick `tick` + 1. */
	void (*send)(struct world *world, uint64_t tick);
};

extern const struct scene scenes[];
extern const uint32_t scene_count;

#endif
