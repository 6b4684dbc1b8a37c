/* walls.h: limits and material of the walls that BOUNDS makes. */
#ifndef CAIRN_ENGINE_WORLD_WALLS_H
#define CAIRN_ENGINE_WORLD_WALLS_H

#include "server/engine/world/world.h"

/* Walls of a planar world are rectangles of finite length: at most this far apart, m. */
#define WALL_SPAN_MAX 1e5
/* Coulomb, sticking and sliding; no bounce of their own (rules: geometric mean and largest). */
#define WALL_FRICTION 0.6

/* Walls can be placed at these bounds: always in space; in a planar world if they are at most
 * WALL_SPAN_MAX apart. */
bool walls_fit_bounds(bool planar, vec3 minimum, vec3 maximum);

#endif
