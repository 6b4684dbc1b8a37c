/* lp.h: linear programs: the problem, its solution, and how to tell whether an answer is right.
 *
 *   min cᵀx   subject to   row_low ≤ A x ≤ row_high,   column_low ≤ x ≤ column_high
 *
 * A is sparse, by columns. A bound at or beyond ±LP_INFINITY is none. Equal bounds make an
 * equation or a constant. The functions here read only the problem and the answer, so they are the
 * proof of what a solver says: a solution by its residual, infeasibility and unboundedness by
 * multiplying their certificates out.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LP_H
#define CAIRN_ENGINE_SOLVERS_LP_H

#include "server/engine/solvers/solver.h"

#define LP_INFINITY 1e30

/* Column j holds entries starts[j] … starts[j + 1] − 1 of `index` (rows, strictly ascending) and
 * `values`. All borrowed. */
struct lp_matrix {
	uint32_t rows, columns;
	const uint32_t *starts, *index;
	const double *values;
};

struct lp_problem {
	struct lp_matrix matrix;
	const double *cost;
	const double *column_low, *column_high;
	const double *row_low, *row_high;
	/* A feasible point, borrowed, or NULL. With one, the solver improves it from pivot to pivot
	 * and can stop at any time with a feasible point (papers P-18); without, the dual method
	 * runs, which is feasible only at its end. An infeasible one is ignored. */
	const double *start;
};

/* Where a column, or a row's activity, stands: what a warm start needs. */
enum lp_place { LP_LOW, LP_HIGH, LP_BASIC, LP_BETWEEN };

/* Arrays of the caller. */
struct lp_solution {
	double *x;	 /* columns */
	double *dual;	 /* rows: the price y of each row; cᵀ − yᵀA is the reduced cost */
	uint8_t *places; /* columns, then rows; read when options.warm, written always */
};

/* Whether starts ascend to a number of entries that is at most `nonzeros`: then `index` and `values` are
 * read no further than that. */
bool lp_starts_valid(const struct lp_matrix *matrix, uint32_t nonzeros);
/* Whether starts and indices ascend and numbers make sense: finite values and costs, no NaN in a bound. */
bool lp_valid(const struct lp_problem *problem);
/* Crossed bounds: the first column, or columns + row, whose low > high; UINT32_MAX when none. */
uint32_t lp_crossed(const struct lp_problem *problem);
double lp_objective(const struct lp_problem *problem, const double *x);
/* In the next three `scratch` holds 2 × rows doubles. */
/* The worst violation of a bound by x or A x, each relative to 1 + the size of what was summed. */
double lp_violation(const struct lp_problem *problem, const double *x, double *scratch);
/* The worst violation of optimality by (x, dual): of a bound, or of "a reduced cost that is not
 * zero stands at its bound", both relative. 0 is a proof that x is optimal. */
double lp_residual(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch);
/* The same two in the problem's units: the worst distance outside a bound, and the worst price that
 * counts as wrong beside its variable's way to the bound. */
void lp_violations(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch, double *bound, double *price);
/* Farkas: y combines the rows to yᵀA x = yᵀ(row activities), which the bounds forbid. Returns how
 * far apart the two sides stay at least, relative to their size: > 0 proves infeasibility. Numbers
 * below 1e-12 of what they were summed from count as zero where a bound is missing. */
double lp_infeasibility(const struct lp_problem *problem, const double *y);
/* A ray: A z and z leave no bound and cᵀz < 0. Returns −cᵀz / Σ|c z| if that is so, else ≤ 0: > 0
 * proves that a feasible problem is unbounded. */
double lp_unboundedness(const struct lp_problem *problem, const double *z, double *scratch);

#endif
