/* chol_block.h: A = L Lᵀ of a sparse symmetric matrix of 6 × 6 blocks, positive definite with
 * eigenvalues of at least 1: the identity plus what is not negative. A block is one body's. */
#ifndef CAIRN_ENGINE_LINALG_CHOL_BLOCK_H
#define CAIRN_ENGINE_LINALG_CHOL_BLOCK_H

#include "server/base/base.h"

enum { CHOL_BLOCK = 6, CHOL_BLOCK_DOUBLES = CHOL_BLOCK * CHOL_BLOCK };

struct chol_block {
	uint32_t size;	   /* block rows */
	size_t blocks_max; /* room in row and value */
	uint32_t *
		start; /* borrowed: capacity + 1; column k of L, its diagonal block first, then rows
			    * ascending */
	uint32_t *row; /* borrowed: blocks_max */
	double *value; /* borrowed: blocks_max × 36, aligned to 16; each block column by column */
	uint32_t *parent, *link, *at, *place; /* borrowed: capacity each */
	uint32_t helped; /* pivots that rounding had brought below 1, and that became 1 */
};

/* The pattern of L from A's: column k's entries are row[start[k]] … of rows < k, in any order.
 * Returns the blocks of L. Where they are at most blocks_max the pattern is set, otherwise there is
 * no factor. */
size_t chol_block_analyse(struct chol_block *self, uint32_t size, const uint32_t *start,
			  const uint32_t *row);
/* Where block (i, k), i ≥ k, lies in `value`, in blocks; it must be in the pattern. */
uint32_t chol_block_find(const struct chol_block *self, uint32_t i, uint32_t k);
/* value := the identity. The caller then adds the lower triangle's blocks of the rest to it, in the
 * diagonal blocks at least the lower triangles. */
void chol_block_identity(struct chol_block *self);
/* Factors what was put into value. */
void chol_block_factor(struct chol_block *self);
/* b := A⁻¹ b, 6 × size. */
void chol_block_solve(const struct chol_block *self, double *b);

#endif
