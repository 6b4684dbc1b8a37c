/* ldl.h: A = L D Lᵀ of a symmetric matrix without pivoting: for quasi-definite systems (a positive
 * and a negative definite block), which have a factor in every order. */
#ifndef CAIRN_ENGINE_LINALG_LDL_H
#define CAIRN_ENGINE_LINALG_LDL_H

#include "server/base/base.h"

/* Factors the lower triangle in place: D on the diagonal, unit L below it; above it nothing is read
 * or written. `scratch` holds n doubles. False when a pivot's size is at most `pivot_min` ≥ 0 (or
 * NaN); rows before it are then factored. */
MUST_CHECK bool ldl_factor(double *a, uint32_t n, uint32_t stride, double pivot_min,
			   double *scratch);
/* b := A⁻¹ b. */
void ldl_solve(const double *a, uint32_t n, uint32_t stride, double *b);
/* How many of D's entries are negative: A's negative eigenvalues, by Sylvester's law. */
uint32_t ldl_negative(const double *a, uint32_t n, uint32_t stride);

#endif
