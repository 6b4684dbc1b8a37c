/* lp_simplex.h: what the two phases of the simplex method share. Private to lp_*.c. */
#ifndef CAIRN_ENGINE_SOLVERS_LP_SIMPLEX_H
#define CAIRN_ENGINE_SOLVERS_LP_SIMPLEX_H

#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lp_dual_simplex.h"

/* A number of the tableau that may be pivoted on; below it is rounding. Larger overlooks pivots
 * that are needed, smaller lets rounding into the basis. Entries are of order 1 after scaling. */
#define LP_PIVOT_MIN 1e-9
/* A pivot below this is first computed again from a fresh factor. */
#define LP_PIVOT_GOOD 1e-6
#define LP_NONE UINT32_MAX
/* Pivots in a row without progress until costs are perturbed; until (this + rows) the least index
 * decides. Fewer perturb what would have got through; more waste pivots. */
enum { LP_STALLS_PERTURB = 10, LP_STALLS_MAX = 100 };

enum lp_outcome {
	LP_GOING,
	LP_OPTIMAL,
	LP_INFEASIBLE,
	LP_UNBOUNDED,
	LP_PIVOTS, /* pivots_max */
	LP_FULL,   /* the factor has no room */
	LP_STUCK,  /* rounding leaves no way to go on */
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

/* lp_load.c: scales the problem into the workspace, and a solution back out of it. */
void lp_load(struct lp_dual_simplex *self, const struct lp_problem *problem);
void lp_unload(const struct lp_dual_simplex *self, const struct lp_problem *problem,
	       struct lp_solution *solution);

/* lp_basis.c: the basis and what follows from it. */
/* Puts variable j on the bound its place says, or its nearest. */
void lp_settle(struct lp_dual_simplex *self, uint32_t j);
/* The basis of `places`, completed, or of all activities when NULL. */
void lp_basis_start(struct lp_dual_simplex *self, const uint8_t *places);
/* Factors the basis and computes the basic x anew. False: no room. */
MUST_CHECK bool lp_refactor(struct lp_dual_simplex *self);
/* All prices anew from the shifted costs. */
void lp_reprice(struct lp_dual_simplex *self);
/* y of the shifted costs (or of the true ones) into `dual`, by row. */
void lp_duals(const struct lp_dual_simplex *self, const double *cost, double *dual);
/* v −= s × (column of variable j). */
void lp_subtract_column(const struct lp_dual_simplex *self, uint32_t j, double s, double *v);
/* column := B⁻¹ (column of variable j). */
void lp_solve_column(struct lp_dual_simplex *self, uint32_t j, double *column);
/* Row `row` of the tableau, from rho := row of B⁻¹. */
void lp_solve_row(struct lp_dual_simplex *self, uint32_t row);
/* Variable `in`, with B⁻¹ a_in in self->column, takes the place of head[row]; x is up to date, and the
 * place of head[row] is. False: the factor must be made anew. */
MUST_CHECK bool lp_exchange(struct lp_dual_simplex *self, uint32_t row, uint32_t in);
/* Moves along the tableau's row so that the price of `in` becomes 0; `out` gets its own. */
void lp_move_prices(struct lp_dual_simplex *self, uint32_t in, uint32_t out);
/* How far basic x is outside its bounds beyond tolerance, largest; 0 when feasible. */
double lp_basic_violation(const struct lp_dual_simplex *self);

/* After a pivot: nothing when `updated`, else factor, x and prices anew. */
enum lp_outcome lp_after_exchange(struct lp_dual_simplex *self, bool updated);
/* A pivot that rounding spoils: anew from a fresh factor if there is a fresher one, else stuck. */
enum lp_outcome lp_try_again(struct lp_dual_simplex *self);
/* Counts pivots without progress and decides about perturbation and the least-index rule. */
void lp_note_progress(struct lp_dual_simplex *self, bool progress);

/* The phases. */
enum lp_outcome lp_dual_phase(struct lp_dual_simplex *self);
enum lp_outcome lp_primal_phase(struct lp_dual_simplex *self);

#endif
