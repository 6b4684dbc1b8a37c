/* dense.h: small matrices as plain arrays, row by row, every sum in index order.
 *
 * Entry (i, j) of a matrix is a[i * stride + j] with stride ≥ columns. The order of each sum is
 * part of the result: left to right, lowest index first, one accumulator. Arrays do not overlap
 * unless said so. Sizes of 0 are valid everywhere.
 */
#ifndef CAIRN_ENGINE_LINALG_DENSE_H
#define CAIRN_ENGINE_LINALG_DENSE_H

#include "server/base/base.h"

/* Two adjacent entries, for loops whose entries do not depend on each other: the bits are the same with
 * and without vector registers. */
typedef double dense_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Σ x_i y_i. */
double dense_dot(const double *x, const double *y, uint32_t n);
/* y += s x. */
void dense_mul_add(double *y, const double *x, double s, uint32_t n);
/* y = 0, y = x (x and y may be the same). */
void dense_zero(double *y, uint32_t n);
void dense_copy(double *y, const double *x, uint32_t n);
/* max |x_i|, 0 when empty; NaN when any is. */
double dense_max_abs(const double *x, uint32_t n);
/* y = A x, for rows × columns. */
void dense_mul_vec(const double *a, uint32_t rows, uint32_t columns, uint32_t stride,
		   const double *x, double *y);
/* y = Aᵀ x. */
void dense_transposed_mul_vec(const double *a, uint32_t rows, uint32_t columns, uint32_t stride,
			      const double *x, double *y);

#endif
