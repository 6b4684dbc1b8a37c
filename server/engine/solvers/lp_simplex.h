/* lp_simplex.h: functions that the two phases of the simplex method share. Private to lp_*.c. */
#ifndef CAIRN_ENGINE_SOLVERS_LP_SIMPLEX_H
#define CAIRN_ENGINE_SOLVERS_LP_SIMPLEX_H

#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lp_dual_simplex.h"

/* The smallest entry of the tableau that can be a pivot; entries are of order 1 after scaling. A larger
 * value misses pivots that are needed; a smaller one takes rounding for a pivot. */
#define LP_PIVOT_MIN 1e-9
/* A pivot below this is first computed again from a fresh factor. */
#define LP_PIVOT_GOOD 1e-6
#define LP_NONE UINT32_MAX
/* Pivots in a row without progress: after LP_STALLS_PERTURB costs are perturbed, after
 * LP_STALLS_MAX + rows the least index decides. Fewer perturb programs that would have ended
 * without; more waste pivots. */
enum { LP_STALLS_PERTURB = 10, LP_STALLS_MAX = 100 };

enum lp_outcome {
	LP_GOING, /* not ended */
	LP_OPTIMAL,
	LP_INFEASIBLE,
	LP_UNBOUNDED,
	LP_PIVOTS, /* pivots_max */
	LP_FULL,   /* the factor needs more entries than its memory holds */
	LP_STUCK,  /* rounding leaves no acceptable pivot */
};

static inline uint32_t lp_variables(const struct lp_dual_simplex *self)
{
	return self->matrix.columns + self->matrix.rows;
}

static inline bool lp_has_low(const struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(j < lp_variables(self));
	return self->low[j] > -LP_INFINITY;
}

static inline bool lp_has_high(const struct lp_dual_simplex *self, uint32_t j)
{
	VALIDATE(j < lp_variables(self));
	return self->high[j] < LP_INFINITY;
}

/* The feasibility tolerance of a variable: relative to its bound. */
static inline double lp_slack(const struct lp_dual_simplex *self, double bound)
{
	return self->tolerance * (1 + scalar_abs(bound));
}

/* lp_load.c: scales the problem into the workspace, and the solution back. */
void lp_load(struct lp_dual_simplex *self, const struct lp_problem *problem);
void lp_unload(struct lp_dual_simplex *self, const struct lp_problem *problem,
	       struct lp_solution *solution);

/* lp_basis.c: the basis, and the values and prices that follow from it. */
/* Sets x of variable j to the bound of its place; corrects the place if that bound is infinite or j
 * has a bound but is between. */
void lp_settle(struct lp_dual_simplex *self, uint32_t j);
/* The basis of `places`, with basic variables added or removed to make a basis; NULL: all
 * activities. */
void lp_basis_start(struct lp_dual_simplex *self, const uint8_t *places);
/* Factors the basis and computes the basic x. False: the factor does not fit. */
MUST_CHECK bool lp_refactor(struct lp_dual_simplex *self);
/* Computes all prices from the shifted costs. */
void lp_reprice(struct lp_dual_simplex *self);
/* dual := y with Bᵀ y = cost of the basic variables; cost: shifted or true. */
void lp_duals(struct lp_dual_simplex *self, const double *cost, double *dual);
/* v −= s × (column of variable j). */
void lp_subtract_column(const struct lp_dual_simplex *self, uint32_t j, double s, double *v);
/* column := B⁻¹ (column of variable j). */
void lp_solve_column(struct lp_dual_simplex *self, uint32_t j, double *column);
/* rho := row `row` of B⁻¹; tableau := that row times [A −1], 0 at basic variables. */
void lp_solve_row(struct lp_dual_simplex *self, uint32_t row);
/* Variable `in` replaces head[row] in the basis; self->column is B⁻¹ a_in, and x and the place of
 * head[row] are up to date. False: the factor must be computed again. */
MUST_CHECK bool lp_exchange(struct lp_dual_simplex *self, uint32_t row, uint32_t in);
/* Moves prices along the row of the tableau so that that of `in` becomes 0; that of `out` becomes
 * −step. */
void lp_move_prices(struct lp_dual_simplex *self, uint32_t in, uint32_t out);
/* The largest distance of a basic x outside its bounds, of those beyond the tolerance; 0: feasible. */
double lp_basic_violation(const struct lp_dual_simplex *self);

/* After a pivot: unless the factor was `updated`, computes factor, x and prices again. */
enum lp_outcome lp_after_exchange(struct lp_dual_simplex *self, bool updated);
/* After a pivot that rounding makes unusable: computes the factor again, or LP_STUCK if the present
 * factor has no updates. */
enum lp_outcome lp_try_again(struct lp_dual_simplex *self);
/* Counts pivots without progress, and sets the least-index rule. */
void lp_note_progress(struct lp_dual_simplex *self, bool progress);

/* The phases. */
enum lp_outcome lp_dual_phase(struct lp_dual_simplex *self);
enum lp_outcome lp_primal_phase(struct lp_dual_simplex *self);

#endif
