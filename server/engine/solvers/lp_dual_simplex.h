/* lp_dual_simplex.h: our solver of linear programs: bounded dual simplex, sparse, bit-stable.
 *
 * lp_dual_simplex_solve ends with
 *   SOLVED      solution->x and ->dual satisfy lp_residual ≤ tolerance
 *   STOPPED     pivots_max reached with a feasible x: always when problem->start is feasible, else
 *               only late; the residual is x's violation
 *   LIMIT       pivots_max (or the own limit, 1000 + 50 × (rows + columns)) reached without, or the
 *               factor outgrew `fill`
 *   INEXACT     ended, but the residual says that it is not good enough
 *   INFEASIBLE  certificate: one number a row, lp_infeasibility > 0; NULL when lp_crossed says why
 *   UNBOUNDED   certificate: one number a column, lp_unboundedness > 0; x is feasible
 *   INVALID     !lp_valid, or larger than the workspace
 * result.fallbacks counts where rounding forced a second look (costs shifted, pivots refused).
 * options.rounds_max and .regularisation are not used. With options.warm the basis is taken from
 * solution->places; any bytes are allowed there, what is no basis is completed.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LP_DUAL_SIMPLEX_H
#define CAIRN_ENGINE_SOLVERS_LP_DUAL_SIMPLEX_H

#include "server/engine/solvers/lp.h"
#include "server/engine/solvers/lp_factor.h"

struct lp_sizes {
	uint32_t rows, columns, nonzeros;
	uint32_t fill; /* entries of each factor of a basis; 0: a guess that is seldom too small */
};

struct lp_dual_simplex {
	struct lp_sizes sizes;
	/* The problem as solved: rows and columns scaled by powers of two, by columns and by rows.
	 * A variable is a column, or columns + i for the activity of row i. */
	struct lp_matrix matrix;
	uint32_t *starts, *index;
	double *values;
	uint32_t *row_starts, *row_columns;
	double *row_values;
	double *row_scale, *column_scale;
	double *cost;	    /* as scaled */
	double *shifted;    /* as used now: with perturbations and shifts */
	double *low, *high; /* −/+ LP_INFINITY when there is none */
	double *x, *price;  /* by variable; price: reduced cost, 0 when basic */
	uint8_t *place;	    /* enum lp_place */
	uint32_t *head;	    /* by row: the variable that is basic there */
	double *weight;	    /* by row: dual steepest edge; by variable in the primal phase */
	double *column, *rho, *tau, *flips; /* by row */
	double *tableau;		    /* by variable: row r of B⁻¹ [A −1] */
	uint32_t *touched;		    /* where it may be non-zero */
	uint32_t touched_count;
	bool *listed;		       /* by variable: in `touched`; only while that grows */
	uint64_t *keys, *keys_scratch; /* candidates of a ratio test */
	uint32_t *candidates, *candidates_scratch;
	double *certificate; /* max(rows, columns) */
	double *scratch;     /* 2 × rows */
	struct lp_factor factor;
	/* What is going on. */
	double tolerance;
	bool shifts; /* `shifted` differs from `cost` */
	bool perturbed, least_index;
	uint32_t stalls; /* pivots in a row without progress */
	uint32_t pivots_max;
	struct solver_result result;
};

size_t lp_dual_simplex_bytes(struct lp_sizes sizes);
void lp_dual_simplex_init(struct lp_dual_simplex *self, void *memory, struct lp_sizes sizes);
struct solver_result lp_dual_simplex_solve(struct lp_dual_simplex *self,
					   const struct lp_problem *problem,
					   const struct solver_options *options,
					   struct lp_solution *solution);

#endif
