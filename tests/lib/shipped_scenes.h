/* shipped_scenes.h: the scenes in clients/scenes, and how many bodies each makes. */
#ifndef CAIRN_TESTS_SHIPPED_SCENES_H
#define CAIRN_TESTS_SHIPPED_SCENES_H

#include <stdint.h>

static const struct {
	const char *name;
	uint32_t bodies;
} SHIPPED[] = {
	{ "tower", 194 },	  { "pyramid", 211 },
	{ "grid", 1001 },	  { "spheres", 1001 },
	{ "meshes", 92 },	  { "falling", 2 },
	{ "bomb", 201 },	  { "planar", 47 },
	{ "mixed", 40 },	  { "cubes901", 902 },
	{ "solids", 15 },	  { "door", 6 },
	{ "bridge", 51 },	  { "chain", 30 },
	{ "crane", 7 },		  { "car", 19 },
	{ "ragdolls", 75 },	  { "escapement", 3 },
	{ "cradle", 6 },	  { "joints", 36 },
	{ "fields", 114 },	  { "controls", 8 },
	{ "harbour", 19 },	  { "platforms", 15 },
	{ "conveyor", 13 },	  { "shapes", 32 },
	{ "mover", 21 },	  { "diamond", 26 },
	{ "pieces", 9 },	  { "locks", 17 },
	{ "fountain", 12 },	  { "castle", 475 },
	{ "frameworks", 37 },	  { "visuals", 8 },
	{ "curtain", 6 },	  { "droplet", 2 },
	{ "pile-box", 130 },	  { "hourglass", 126 },
	{ "heightfield", 137 },	  { "pile-clump", 27 },
	{ "lava-lamp", 173 },	  { "fracture", 40 },
	{ "bricks", 72 },	  { "pearl", 33 },
	{ "pile-polyhedra", 59 }, { "dam-break", 8 },
	{ "basin", 8 },		  { "smoke", 3 },
	{ "fire", 15 },		  { "rain", 6 },
	{ "fireworks", 4 },	  { "folds", 3 },
	{ "rockets", 4 },	  { "jet", 3 },
	{ "explosion", 11 },	  { "snow", 6 },
	{ "hammock", 8 },	  { "trampoline", 897 },
	{ "drops", 40 },	  { "pile-jacks", 41 },
	{ "fluid-inside", 7 },	  { "fluid-burst", 5 },
	{ "fluid-neutral", 8 },	  { "fluid-column", 5 },
	{ "fluid-tanks", 13 },	  { "fluid-phase", 4 },
	{ "fountain-basin", 10 }, { "sand", 5 },
	{ "layers", 5 },	  { "ember", 4 },
	{ "overflow", 6 },
};

#endif
