/* lcp.h: the linear complementarity problem with bounds, and how well a vector solves it.
 *
 * Find x and w = A x + b with, for every row,
 *   lower ≤ x ≤ upper,   w ≥ 0 where x = lower,   w ≤ 0 where x = upper,   w = 0 between.
 * lower = 0, upper = ∞ is a contact (C-03, I-01); −∞ … ∞ a joint (I-10): always w = 0; two finite
 * bounds a motor or a friction with a given limit; lower = upper a given force. A is symmetric and
 * positive semidefinite.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_H
#define CAIRN_ENGINE_SOLVERS_LCP_H

#include "server/engine/solvers/solver.h"

struct lcp_problem {
	uint32_t count;	 /* rows; 0 is a valid problem */
	uint32_t stride; /* of a, at least count */
	const double *a; /* row by row; symmetric, both triangles are read */
	const double *b;
	const double *lower, *upper; /* both NULL: 0 and ∞ for all. −∞ and ∞ are allowed, and
				      * lower ≤ upper */
};

/* The state of a row: hint of a warm start, and part of a solution. */
enum lcp_state {
	LCP_LOWER,  /* x = lower */
	LCP_UPPER,  /* x = upper */
	LCP_ACTIVE, /* w = 0, the row is in the factor */
	LCP_HELD,   /* w = 0 because the row depends on active rows; x is fixed */
};

double lcp_lower(const struct lcp_problem *self, uint32_t row);
double lcp_upper(const struct lcp_problem *self, uint32_t row);
/* Whether stride ≥ count, a and b are finite, and lower ≤ upper with neither lower = ∞ nor
 * upper = −∞. */
bool lcp_valid(const struct lcp_problem *self);
/* w := A x + b, returned with the residual: the largest |x − clamp(x − w)| of a row in units in
 * which its diagonal is 1 (x √a, w / √a; a zero diagonal counts as 1), over the largest single term
 * of w in those units, |b_i| or |a_ij x_j|. 0 for the exact solution; 0 when there are no terms. */
double lcp_residual(const struct lcp_problem *self, const double *x, double *w);
/* The violation of one row's conditions in units of w: |x − clamp(x − w / a)| a, a its diagonal (1
 * when that is not positive). Infinite when the numbers are not finite. */
double lcp_row_violation(double a, double x, double w, double low, double high);
/* The largest lcp_row_violation, for w = A x + b from lcp_residual. */
double lcp_violation(const struct lcp_problem *self, const double *x, const double *w);

#endif
