/* walls.h: limits and material of the walls that BOUNDS makes. */
#ifndef CAIRN_ENGINE_WORLD_WALLS_H
#define CAIRN_ENGINE_WORLD_WALLS_H

#include "server/engine/world/world.h"

/* m: the largest distance of opposite walls of a planar world, whose rectangles have finite length. */
#define WALL_SPAN_MAX 1e5
/* Coulomb coefficient, static and dynamic. The combination rule is the geometric mean. Restitution is 0,
 * with the rule maximum, so the body's restitution decides. */
#define WALL_FRICTION 0.6

/* True if walls can be placed at these bounds: always in a spatial world; in a planar world if the
 * bounds are at most WALL_SPAN_MAX apart. */
bool walls_fit_bounds(bool planar, vec3 minimum, vec3 maximum);

#endif
