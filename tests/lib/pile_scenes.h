/* pile_scenes.h: scenes of `pile` in bare tables. Spheres have a radius of ½ m and a mass of 1 kg. */
#ifndef CAIRN_TESTS_PILE_SCENES_H
#define CAIRN_TESTS_PILE_SCENES_H

#include "tests/lib/stage.h"

/* n³ spheres above an open box, in a loose lattice, each moved by chance. */
void pile_scene_box(struct stage *self, uint32_t n, uint64_t seed);
/* n³ spheres in the upper half of an hourglass of 32 sides and 160 side faces (papers P-17), whose waist at
 * y = 0 is 0.48 n metres wide. */
void pile_scene_hourglass(struct stage *self, uint32_t n, uint64_t seed);
/* J: of gravity. */
double pile_scene_energy(const struct stage *self);
/* How many spheres are below the height, and how many are outside of a radius of the y axis. */
uint32_t pile_scene_below(const struct stage *self, double height);
uint32_t pile_scene_outside(const struct stage *self, double radius);

#endif
