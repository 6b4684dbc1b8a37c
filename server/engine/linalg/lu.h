/* lu.h: P A = L U with partial pivoting; among equally large pivots the least index wins, so that
 * the result depends on A alone. */
#ifndef CAIRN_ENGINE_LINALG_LU_H
#define CAIRN_ENGINE_LINALG_LU_H

#include "server/base/base.h"

/* Factors in place: unit L below the diagonal, U on and above it; pivots[k] is the row exchanged
 * with row k. False if all pivots of a column are zero (or NaN): A is singular, and *a, partly
 * factored, is of no use. */
MUST_CHECK bool lu_factor(double *a, uint32_t n, uint32_t stride, uint32_t *pivots);
/* b := A⁻¹ b. */
void lu_solve(const double *a, uint32_t n, uint32_t stride, const uint32_t *pivots, double *b);

/* A x = b by elimination with complete pivoting, which stops when the rest of A is below 2⁻⁴⁰ of its
 * largest entry. b becomes a solution with zeros for the unknowns without a pivot, if the system has a
 * solution. Overwrites A; `columns` holds n entries. Returns the rank. */
uint32_t lu_solve_ranked(double *a, uint32_t n, uint32_t stride, uint32_t *columns, double *b);

#endif
