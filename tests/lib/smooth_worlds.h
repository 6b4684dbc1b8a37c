/* smooth_worlds.h: bodies of 1 kg without friction and restitution in worlds of tests. */
#ifndef CAIRN_TESTS_SMOOTH_WORLDS_H
#define CAIRN_TESTS_SMOOTH_WORLDS_H

#include "tests/lib/worlds.h"

/* Sets a parameter of the world. */
void smooth_set(struct world *world, const char *name, double value);
/* The command that makes such a body. */
struct command smooth_spawn(struct world *world, enum test_shape shape, vec3 at,
			    struct attachment *item);
/* Makes one. */
body_id smooth_put(struct world *world, enum test_shape shape, vec3 at, quat turn, uint8_t status);

#endif
