/* lp.h: linear programs: the problem, its solution, and checks of a solution or certificate.
 *
 *   min cᵀx   subject to   row_low ≤ A x ≤ row_high,   column_low ≤ x ≤ column_high
 *
 * A is sparse, by columns. A bound at or beyond ±LP_INFINITY counts as infinite. Equal bounds make an
 * equation or a constant. The functions here read only the problem and the result, so they verify
 * what a solver returns: a solution by its residual, infeasibility and unboundedness by
 * multiplication of the certificate.
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
	/* A feasible point, borrowed, or NULL. The solver improves a given point with each pivot and
	 * can stop at any time with a feasible point (papers P-18). Without one the dual method runs,
	 * which is feasible only at its end. An infeasible point is ignored. */
	const double *start;
};

/* The place of a column or of a row's activity in a basis; a warm start reads it. */
enum lp_place {
	LP_LOW,	 /* at its lower bound */
	LP_HIGH, /* at its upper bound */
	LP_BASIC,
	LP_BETWEEN, /* between its bounds, not basic */
};

/* Arrays of the caller: the solution, out. */
struct lp_solution {
	double *x;	 /* columns */
	double *dual;	 /* rows: the price y of each row; cᵀ − yᵀA is the reduced cost */
	uint8_t *places; /* columns, then rows; read when options.warm, written always */
};

/* Whether starts begin with 0, do not decrease, and end at most at `nonzeros`, so that no more
 * entries of `index` and `values` are read. */
bool lp_starts_valid(const struct lp_matrix *matrix, uint32_t nonzeros);
/* Whether starts and indices ascend, indices are in range, values and costs are finite, and no bound is
 * NaN. */
bool lp_valid(const struct lp_problem *problem);
/* The first column, or columns + row, with crossed bounds (low > high); UINT32_MAX: none. */
uint32_t lp_crossed(const struct lp_problem *problem);
double lp_objective(const struct lp_problem *problem, const double *x);
/* The worst violation of a bound by x or A x, each relative to 1 + Σ |terms| of its sum. `scratch`,
 * here and in the next two functions: 2 × rows doubles. */
double lp_violation(const struct lp_problem *problem, const double *x, double *scratch);
/* The worst violation of optimality by (x, dual): of a bound, or of the rule that a variable with a
 * non-zero reduced cost is at the bound of that sign; both relative. 0 proves that x is optimal. */
double lp_residual(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch);
/* The same two in the problem's units: the largest distance outside a bound, and the largest price that
 * violates the sign rule, of variables whose price is the smaller of the two relative violations. */
void lp_violations(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch, double *bound, double *price);
/* Farkas: y combines the rows to yᵀA x = yᵀ(row activities), which no x and activities within the
 * bounds satisfy. Returns the least difference of the two sides, relative to the terms: > 0 proves
 * infeasibility. Where a bound is infinite, a coefficient below 1e-12 of its terms counts as 0. */
double lp_infeasibility(const struct lp_problem *problem, const double *y);
/* A ray: no bound limits a step along z, and cᵀz < 0. Returns −cᵀz / Σ|c z| if so, otherwise ≤ 0. A
 * value > 0 proves that a feasible problem is unbounded. */
double lp_unboundedness(const struct lp_problem *problem, const double *z, double *scratch);

#endif
