/* chol.h: A = L Lᵀ for a symmetric positive definite A, to which rows are appended.
 *
 * The factor lives in the caller's storage as the lower triangle of a row-major square of
 * `capacity`; entries above the diagonal are neither read nor written. A function that meets a
 * pivot that is not positive (or is NaN) returns false, because the matrix is not positive definite
 * to rounding; each function says what the factor then holds.
 */
#ifndef CAIRN_ENGINE_LINALG_CHOL_H
#define CAIRN_ENGINE_LINALG_CHOL_H

#include "server/base/base.h"

struct chol {
	double *lower;	   /* borrowed: capacity × capacity */
	uint32_t capacity; /* largest size, and the stride */
	uint32_t size;	   /* rows in use */
};

/* An empty factor (size 0) in the caller's capacity² doubles. */
void chol_init(struct chol *self, double *storage, uint32_t capacity);
/* Factors the lower triangle of `a` (size × size, size ≤ capacity); `a` may be the storage itself if
 * its stride is the capacity. On false, self->size is the number of rows before the bad pivot. */
MUST_CHECK bool chol_factor(struct chol *self, const double *a, uint32_t size, uint32_t stride);
/* b := A⁻¹ b, b := L⁻¹ b, b := L⁻ᵀ b. */
void chol_solve(const struct chol *self, double *b);
void chol_solve_lower(const struct chol *self, double *b);
void chol_solve_upper(const struct chol *self, double *b);
/* Appends a row: `row` holds A's entries in the present `size` columns, `diagonal` the diagonal entry.
 * size < capacity. On false the factor is unchanged. */
MUST_CHECK bool chol_append(struct chol *self, const double *row, double diagonal);

#endif
