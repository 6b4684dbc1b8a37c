/* scenes.h: the scenes whose hashes are in the lists. A scene consists of commands only, so it can
 * be recorded as any world. */
#ifndef CAIRN_TESTS_GOLDEN_SCENES_H
#define CAIRN_TESTS_GOLDEN_SCENES_H

#include "server/engine/engine.h"

struct scene {
	const char *name;
	const char *method;
	bool planar;
	uint32_t ticks;	   /* in all */
	uint32_t interval; /* between hashes */
	/* Sends the commands of the boundary before tick `tick` + 1. */
	void (*send)(struct world *world, uint64_t tick);
};

extern const struct scene scenes[];
extern const uint32_t scene_count;

#endif
