/* stage_scenes.h: scenes that several tests of dynamics and methods use. */
#ifndef CAIRN_TESTS_STAGE_SCENES_H
#define CAIRN_TESTS_STAGE_SCENES_H

#include "tests/lib/stage.h"

/* A static plane y = 0; returns its body row. */
uint32_t stage_ground(struct stage *self);
/* `count` boxes of side 1 m and 1000 kg, one on the other, on a ground; returns the lowest's row. */
uint32_t stage_stack(struct stage *self, uint32_t count);
/* `count` spheres of radius 0.5 m at random places within one cubic metre around (0, 3, 0). */
void stage_bomb(struct stage *self, uint32_t count, uint64_t seed);
/* `count` spheres, capsules, boxes and hulls of random size, place and motion above a terrain
 * between walls: bodies of every kind that collide, pile up, and partly fall asleep. */
void stage_mixed(struct stage *self, uint32_t count, uint64_t seed);
/* A static mesh around the origin: `cells` squared squares of `size` metres, two triangles each, up to
 * `bump` high. */
uint32_t stage_terrain(struct stage *self, uint32_t cells, double size, double bump);
/* One body of `side` squared cubes of half width `half`, each a placement of its own, side by side in
 * its x-z plane, with the mass (1000 kg/m³) of the slab that they are. */
uint32_t stage_slab(struct stage *self, uint32_t side, double half, vec3 position, quat rotation);

#endif
