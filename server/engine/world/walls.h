/* walls.h: what a BOUNDS command may ask of walls. */
#ifndef CAIRN_ENGINE_WORLD_WALLS_H
#define CAIRN_ENGINE_WORLD_WALLS_H

#include "server/engine/world/world.h"

/* Walls of a planar world are rectangles of finite length: at most this far apart, m. */
#define WALL_SPAN_MAX 1e5
/* Coulomb, sticking and sliding; no bounce of their own (rules: geometric mean and largest). */
#define WALL_FRICTION 0.6

/* Whether walls of this world can stand at these bounds. */
bool walls_fit_bounds(bool planar, vec3 minimum, vec3 maximum);

#endif
