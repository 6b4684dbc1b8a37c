/* mass_blocks.h: the operator of free bodies that forces of their own hold back: M + h D + h² K in place
 * of M for some of them (app B-03).
 *
 * Implicit Euler with forces that depend on place and velocity gives (M + h D + h² K) (v' − v*) = Jᵀ λ,
 * with v* the velocity without constraints. To rows and solvers the sum is a mass. It is a full
 * block over the coordinates of its body. */
#ifndef CAIRN_ENGINE_DYNAMICS_MASS_BLOCKS_H
#define CAIRN_ENGINE_DYNAMICS_MASS_BLOCKS_H

#include "server/engine/dynamics/mass_operator.h"

enum { MASS_COORDINATES = 6 };

/* M + S and its inverse, over the coordinates of a free body. */
struct mass_block {
	uint32_t count; /* of coordinates */
	double matrix[MASS_COORDINATES][MASS_COORDINATES];
	double inverse[MASS_COORDINATES][MASS_COORDINATES];
};

/* M of a slot that moves, plus the part of the symmetric S that holds back: along the principal axes of S
 * in the metric of M, what is negative is 0, because it would make the body lighter than it is, or nothing.
 * S (6×6) is over the world axes, linear before angular, of which its symmetric part counts; locked axes
 * are left out. False: S is not finite. */
MUST_CHECK bool mass_block_make(struct mass_block *self, const struct mass_operator *plain,
				uint32_t slot, double (*s)[MASS_COORDINATES]);

/* (M + S)⁻¹ p and (M + S) v of the body of the block; 0 along locked axes. */
struct spatial mass_block_velocity(const struct mass_block *self, const struct mass_operator *plain,
				   uint32_t slot, struct spatial momentum);
struct spatial mass_block_momentum(const struct mass_block *self, const struct mass_operator *plain,
				   uint32_t slot, struct spatial velocity);

struct mass_blocks {
	struct mass_operator plain;	  /* of mass_operator_free */
	const struct mass_block **blocks; /* borrowed, by slot; NULL: the plain mass */
};

/* Borrows `blocks`. */
struct mass_operator mass_operator_blocks(const struct mass_blocks *blocks);

#endif
