/* towers.h: stacks of bricks in the plane as problems of statics/equilibrium.h, without a world:
 * for tests and benches. A brick is as wide as `width` and as high as `height`; rows are counted
 * from the floor. */
#ifndef CAIRN_TESTS_TOWERS_H
#define CAIRN_TESTS_TOWERS_H

#include "server/engine/statics/stability.h"

struct tower_brick {
	double x; /* of its centre */
	uint32_t row;
};

struct towers {
	double width, height, mass, gravity, friction;
	struct tower_brick *bricks; /* owned, as the other arrays */
	struct statics_body *bodies;
	struct statics_point *points;
	struct spatial *loads;
	uint32_t count, capacity;
	struct statics_problem problem;
};

/* Bricks of this size and density (kg/m²) under gravity g. */
void towers_init(struct towers *self, double width, double height, double density, double gravity);
void towers_release(struct towers *self);
void towers_brick(struct towers *self, double x, uint32_t row);
/* Finds the contacts of neighbouring rows and of row 0 with the floor; fills `problem` and
 * `loads`. */
void towers_make(struct towers *self);

/* Rows 1 … m; rows 1, 2, …, m, …, 2, 1 on one; n bricks whose overhangs are `factor` times the
 * harmonic ones; `rows` rows of `columns` in running bond, with a brick left out where hole ≥ 0
 * (row 0). */
void towers_triangle(struct towers *self, uint32_t m);
void towers_diamond(struct towers *self, uint32_t m);
void towers_harmonic(struct towers *self, uint32_t n, double factor);
void towers_wall(struct towers *self, uint32_t rows, uint32_t columns, int hole);
/* `rows` rows of up to `width` bricks at random places that do not overlap. */
struct rng;
void towers_random(struct towers *self, struct rng *rng, uint32_t rows, uint32_t across);

#endif
