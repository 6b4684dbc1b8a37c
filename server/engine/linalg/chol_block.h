/* chol_block.h: A = L Lᵀ of a sparse symmetric matrix of 6 × 6 blocks, one block row for each body.
 * A is the identity plus a positive semidefinite matrix, so its eigenvalues are at least 1. */
#ifndef CAIRN_ENGINE_LINALG_CHOL_BLOCK_H
#define CAIRN_ENGINE_LINALG_CHOL_BLOCK_H

#include "server/base/base.h"

enum { CHOL_BLOCK = 6, CHOL_BLOCK_DOUBLES = CHOL_BLOCK * CHOL_BLOCK, CHOL_BLOCK_PLANAR = 3 };

struct chol_block {
	uint32_t size;	   /* block rows */
	size_t blocks_max; /* room in row and value */
	/* Borrowed, capacity + 1: column k of L is the blocks start[k] … start[k + 1] − 1, the diagonal
	 * block first, then by ascending rows. */
	uint32_t *start;
	uint32_t *row; /* borrowed: blocks_max */
	double *value; /* borrowed: blocks_max × 36, aligned to 16; each block column by column */
	uint32_t *parent, *link, *at, *place; /* borrowed: capacity each */
	/* Set by the caller before chol_block_identity: unknowns 2, 3 and 4 of each body have no entries, and
	 * blocks are 3 × 3, of the others. */
	bool planar;
	uint32_t pivots_raised; /* pivots that were at most 1/2; every pivot below 1 becomes 1 */
};

/* Rows of a block. */
static inline uint32_t chol_block_width(const struct chol_block *self)
{
	return self->planar ? CHOL_BLOCK_PLANAR : CHOL_BLOCK;
}

/* Computes the pattern of L from the upper triangle of A: column k of A has blocks in the rows
 * row[start[k]] … row[start[k + 1] − 1], all < k, in any order, and on the diagonal. Returns how many
 * blocks L has. If they exceed blocks_max, the pattern is not set and there is no factor. */
size_t chol_block_analyse(struct chol_block *self, uint32_t size, const uint32_t *start,
			  const uint32_t *row);
/* The index of block (i, k), i ≥ k, in `row` and (times 36, or 9 if planar) in `value`; it must be in the
 * pattern. */
uint32_t chol_block_find(const struct chol_block *self, uint32_t i, uint32_t k);
/* value := the identity. The caller then adds the blocks of the lower triangle of the rest; of the
 * diagonal blocks only the lower triangles are read. */
void chol_block_identity(struct chol_block *self);
/* Factors the matrix in `value`, in place. */
void chol_block_factor(struct chol_block *self);
/* b := A⁻¹ b; 6 × size doubles. */
void chol_block_solve(const struct chol_block *self, double *b);

#endif
