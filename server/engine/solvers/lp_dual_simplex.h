/* lp_dual_simplex.h: a solver of linear programs: bounded dual simplex, sparse, with reproducible bits.
 *
 * lp_dual_simplex_solve ends with
 *   SOLVED      solution->x and ->dual satisfy lp_residual ≤ tolerance
 *   STOPPED     pivots_max reached with a feasible x: always if problem->start is feasible, otherwise
 *               only near the end; the residual is the violation of x
 *   LIMIT       pivots_max (default 1000 + 50 × (rows + columns)) reached without a feasible x, or the
 *               factor needs more entries than `fill`
 *   INEXACT     ended with a residual above the tolerance
 *   INFEASIBLE  certificate: one number for each row, lp_infeasibility > 0; NULL if bounds cross
 *               (lp_crossed)
 *   UNBOUNDED   certificate: one number for each column, lp_unboundedness > 0; x is feasible
 *   INVALID     !lp_valid, or larger than the workspace
 * result.fallbacks counts repetitions because of rounding (rounds repeated, pivots refused, dependent
 * columns replaced).
 * options.rounds_max and .regularisation are not used. With options.warm the basis is taken from
 * solution->places; any bytes are allowed there, and too few or too many basic variables are corrected.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LP_DUAL_SIMPLEX_H
#define CAIRN_ENGINE_SOLVERS_LP_DUAL_SIMPLEX_H

#include "server/engine/solvers/lp.h"
#include "server/engine/solvers/lp_factor.h"

struct lp_sizes {
	uint32_t rows, columns, nonzeros;
	uint32_t
		fill; /* entries of each factor of a basis; 0: an estimate that is seldom too small */
};

struct lp_dual_simplex {
	struct lp_sizes sizes;
	/* The scaled problem: rows and columns times powers of two; the matrix by columns and by rows.
	 * A variable is a column, or columns + i for the activity of row i. */
	struct lp_matrix matrix;
	uint32_t *starts, *index;
	double *values;
	uint32_t *row_starts, *row_columns;
	double *row_values;
	double *row_scale, *column_scale;
	double *cost;	    /* scaled */
	double *shifted;    /* cost with the present perturbations and shifts */
	double *low, *high; /* −/+ LP_INFINITY: no bound */
	double *x, *price;  /* by variable; price: reduced cost, 0 when basic */
	uint8_t *place;	    /* enum lp_place */
	uint32_t *head;	    /* by row: the variable that is basic there */
	double *weight;	    /* by row: dual steepest edge */
	double *excess; /* by row, in the dual phase: how far x is above its bounds, or −below */
	double *reference;		    /* by variable: Devex weights of the primal phase */
	double *column, *rho, *tau, *flips; /* by row */
	double *tableau;		    /* by variable: row r of B⁻¹ [A −1] */
	uint32_t *touched;		    /* the entries of `tableau` that may be non-zero */
	uint32_t touched_count;
	bool *listed;	/* by variable: whether it is in `touched`; false between uses */
	double *ratios; /* candidates of a ratio test: their steps, numbers and order */
	uint32_t *candidates, *candidates_scratch;
	double *certificate; /* max(rows, columns) */
	double *scratch;     /* 2 × rows */
	struct lp_factor factor;
	/* The state of the run. */
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
