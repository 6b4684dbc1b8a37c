/* lu.h: P A = L U with partial pivoting; among equally large pivots the least index wins, so that
 * the result does not depend on anything but A. */
#ifndef CAIRN_ENGINE_LINALG_LU_H
#define CAIRN_ENGINE_LINALG_LU_H

#include "server/base/base.h"

/* Factors in place: unit L below the diagonal, U on and above it; pivots[k] is the row exchanged
 * with row k. False when a column has no pivot other than zero (or NaN): A is singular, *a is then
 * partly factored and of no use. */
MUST_CHECK bool lu_factor(double *a, uint32_t n, uint32_t stride, uint32_t *pivots);
/* b := A⁻¹ b. */
void lu_solve(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots, double *b);
/* b := A⁻ᵀ b. */
void lu_solve_transposed(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots,
			 double *b);

/* A x = b by elimination with complete pivoting, which stops where the rest of A is below 2⁻⁴⁰ of its
 * largest entry: b becomes a solution with zeros in the unknowns left over, right if there is one.
 * A is lost; `columns` holds n. Returns the rank. */
uint32_t lu_solve_ranked(double *a, uint32_t n, uint32_t stride, uint32_t *columns, double *b);

#endif
