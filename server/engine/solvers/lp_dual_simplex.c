/* lp_dual_simplex.c: solves a linear program from a first basis to a verified result.
 *
 *   min cᵀx,  A x − s = 0,  bounds on x and on the activities s
 *
 * The dual phase makes the basic point feasible, with costs shifted where prices had the wrong sign.
 * Then the true costs are restored, and the primal phase makes their prices right (usually they are).
 * If the caller gives a feasible point, only the primal phase runs. At the end the basis is factored
 * again and the result checked; if rounding has spoilt it, the phases repeat, at most ROUNDS times.
 *
 * lp.c checks every result against the problem as given: a solution by its residual, a certificate by
 * multiplication. A result that fails the check is INEXACT.
 *
 * The same problem, options and start give the same bits: choices are by size, then by least index;
 * sums run in the order of columns, rows and pivots; scaling is by powers of two.
 */
#include "server/engine/solvers/lp_dual_simplex.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lp_simplex.h"

enum { ROUNDS = 8 };

/* The tolerance of pivots: a share of the caller's, so that the result meets the caller's after
 * rounding. */
#define SLACK_SHARE 0.1
#define SLACK_MIN 1e-13

static uint32_t default_fill(struct lp_sizes sizes)
{
	uint64_t full = (uint64_t)sizes.rows * sizes.rows;
	uint64_t guess = 8 * (uint64_t)sizes.nonzeros + 32 * (uint64_t)sizes.rows + 1024;
	uint64_t fill = MAX_OF(MIN_OF(full, guess), sizes.nonzeros);
	return (uint32_t)MIN_OF(fill, UINT32_MAX / 2);
}

static void carve_simplex(struct lp_dual_simplex *self, struct solver_memory *memory,
			  struct lp_sizes sizes)
{
	uint32_t m = sizes.rows, n = sizes.columns, all = m + n;
	if (n > UINT32_MAX / 4 || m > UINT32_MAX / 4)
		solver_carve_none(memory);
	sizes.fill = MAX_OF(sizes.fill != 0 ? sizes.fill : default_fill(sizes), sizes.nonzeros);
	*self = (struct lp_dual_simplex){ .sizes = sizes };
	self->starts = SOLVER_CARVE(memory, uint32_t, n + 1);
	self->index = SOLVER_CARVE(memory, uint32_t, sizes.nonzeros);
	self->values = SOLVER_CARVE(memory, double, sizes.nonzeros);
	self->row_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->row_columns = SOLVER_CARVE(memory, uint32_t, sizes.nonzeros);
	self->row_values = SOLVER_CARVE(memory, double, sizes.nonzeros);
	self->row_scale = SOLVER_CARVE(memory, double, m);
	self->column_scale = SOLVER_CARVE(memory, double, n);
	self->cost = SOLVER_CARVE(memory, double, all);
	self->shifted = SOLVER_CARVE(memory, double, all);
	self->low = SOLVER_CARVE(memory, double, all);
	self->high = SOLVER_CARVE(memory, double, all);
	self->x = SOLVER_CARVE(memory, double, all);
	self->price = SOLVER_CARVE(memory, double, all);
	self->place = SOLVER_CARVE(memory, uint8_t, all);
	self->head = SOLVER_CARVE(memory, uint32_t, m);
	self->weight = SOLVER_CARVE(memory, double, m);
	self->excess = SOLVER_CARVE(memory, double, m);
	self->reference = SOLVER_CARVE(memory, double, all);
	self->column = SOLVER_CARVE(memory, double, m);
	self->rho = SOLVER_CARVE(memory, double, m);
	self->tau = SOLVER_CARVE(memory, double, m);
	self->flips = SOLVER_CARVE(memory, double, m);
	self->tableau = SOLVER_CARVE(memory, double, all);
	self->touched = SOLVER_CARVE(memory, uint32_t, all);
	self->listed = SOLVER_CARVE(memory, bool, all);
	self->ratios = SOLVER_CARVE(memory, double, all);
	self->candidates = SOLVER_CARVE(memory, uint32_t, all);
	self->candidates_scratch = SOLVER_CARVE(memory, uint32_t, all);
	self->certificate = SOLVER_CARVE(memory, double, MAX_OF(m, n));
	self->scratch = SOLVER_CARVE(memory, double, 2 * (size_t)m);
	lp_factor_init(&self->factor, memory, m, sizes.fill);
}

size_t lp_dual_simplex_bytes(struct lp_sizes sizes)
{
	struct solver_memory memory = { NULL, 0 };
	struct lp_dual_simplex self;
	carve_simplex(&self, &memory, sizes);
	return memory.used;
}

void lp_dual_simplex_init(struct lp_dual_simplex *self, void *bytes, struct lp_sizes sizes)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve_simplex(self, &memory, sizes);
	for (uint32_t j = 0; self->factor.queue != NULL && j < sizes.rows + sizes.columns; j++)
		self->listed[j] = false;
}

/* Starts at problem->start. False: it is NULL or infeasible. */
static bool start_at_point(struct lp_dual_simplex *self, const struct lp_problem *problem)
{
	if (problem->start == NULL || !solver_finite(problem->start, self->matrix.columns) ||
	    lp_violation(problem, problem->start, self->scratch) > self->tolerance)
		return false;
	lp_basis_start(self, NULL);
	for (uint32_t j = 0; j < self->matrix.columns; j++) {
		double x = problem->start[j] / self->column_scale[j];
		bool low = lp_has_low(self, j) && x <= self->low[j];
		bool high = lp_has_high(self, j) && x >= self->high[j];
		self->place[j] = low ? LP_LOW : high ? LP_HIGH : LP_BETWEEN;
		self->x[j] = low ? self->low[j] : high ? self->high[j] : x;
	}
	return true;
}

static void restore_costs(struct lp_dual_simplex *self)
{
	dense_copy(self->shifted, self->cost, lp_variables(self));
	self->shifts = self->perturbed = false;
	lp_reprice(self);
}

/* Whether the basic point is feasible and no price has the wrong sign, with the tolerance of the primal
 * phase. */
static bool prices_are_settled(const struct lp_dual_simplex *self)
{
	if (lp_basic_violation(self) > 0)
		return false;
	for (uint32_t j = 0; j < lp_variables(self); j++) {
		double d = self->price[j];
		double tolerance = self->tolerance * (1 + scalar_abs(self->cost[j]));
		if (self->place[j] == LP_BASIC || self->low[j] == self->high[j])
			continue;
		if ((d < -tolerance && self->place[j] != LP_HIGH) ||
		    (d > tolerance && self->place[j] != LP_LOW))
			return false;
	}
	return true;
}

/* The rounds of the head. */
static enum lp_outcome run_phases(struct lp_dual_simplex *self, bool feasible)
{
	ASSERT(self->matrix.rows <= self->sizes.rows &&
	       self->matrix.columns <= self->sizes.columns);
	if (!lp_refactor(self))
		return LP_FULL;
	for (uint32_t round = 0; round < ROUNDS; round++) {
		enum lp_outcome outcome = LP_OPTIMAL;
		self->result.rounds++;
		restore_costs(self);
		if (!feasible) {
			for (uint32_t j = 0; j < lp_variables(self); j++)
				if (self->place[j] == LP_BETWEEN)
					lp_settle(self, j);
			if (!lp_refactor(self))
				return LP_FULL;
			lp_reprice(self);
			outcome = lp_dual_phase(self);
		}
		if (outcome != LP_OPTIMAL)
			return outcome;
		if (self->shifts)
			restore_costs(self);
		outcome = lp_primal_phase(self);
		if (outcome != LP_OPTIMAL)
			return outcome;
		if (!lp_refactor(self))
			return LP_FULL;
		lp_reprice(self);
		if (prices_are_settled(self))
			return LP_OPTIMAL;
		feasible = lp_basic_violation(self) == 0;
		self->result.fallbacks++;
	}
	return LP_STUCK;
}

/* The result of an outcome, checked against the problem as given. */
static void verify_outcome(struct lp_dual_simplex *self, const struct lp_problem *problem,
			   const struct solver_options *options, enum lp_outcome outcome,
			   struct lp_solution *solution)
{
	ASSERT(outcome != LP_GOING);
	struct solver_result *result = &self->result;
	bool feasible = lp_basic_violation(self) == 0;
	lp_unload(self, problem, solution);
	result->objective = lp_objective(problem, solution->x);
	result->residual = lp_residual(problem, solution->x, solution->dual, self->scratch);
	result->status = result->residual <= options->tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	lp_violations(problem, solution->x, solution->dual, self->scratch, &result->violation,
		      &result->stationarity);
	if (outcome == LP_OPTIMAL || result->status == SOLVER_SOLVED)
		return;
	result->residual = lp_violation(problem, solution->x, self->scratch);
	if (outcome == LP_INFEASIBLE && lp_infeasibility(problem, self->certificate) > 0) {
		result->status = SOLVER_INFEASIBLE;
		result->certificate = self->certificate;
		result->certificate_count = self->matrix.rows;
	}
	if (outcome == LP_UNBOUNDED &&
	    lp_unboundedness(problem, self->certificate, self->scratch) > 0) {
		result->status = SOLVER_UNBOUNDED;
		result->certificate = self->certificate;
		result->certificate_count = self->matrix.columns;
	}
	if (outcome == LP_PIVOTS)
		result->status = feasible && result->residual <= options->tolerance ? SOLVER_STOPPED
										    : SOLVER_LIMIT;
	if (outcome == LP_FULL)
		result->status = SOLVER_LIMIT;
}

static bool fits(const struct lp_dual_simplex *self, const struct lp_matrix *matrix)
{
	return self->factor.queue != NULL && matrix->rows <= self->sizes.rows &&
	       matrix->columns <= self->sizes.columns &&
	       lp_starts_valid(matrix, self->sizes.nonzeros);
}

static void set_zero_solution(const struct lp_problem *problem, struct lp_solution *solution)
{
	dense_zero(solution->x, problem->matrix.columns);
	dense_zero(solution->dual, problem->matrix.rows);
	for (uint32_t j = 0; j < problem->matrix.columns + problem->matrix.rows; j++)
		solution->places[j] = j < problem->matrix.columns ? LP_LOW : LP_BASIC;
}

struct solver_result lp_dual_simplex_solve(struct lp_dual_simplex *self,
					   const struct lp_problem *problem,
					   const struct solver_options *options,
					   struct lp_solution *solution)
{
	const struct solver_options used = solver_options_used(options);
	if (!fits(self, &problem->matrix) || !lp_valid(problem)) {
		set_zero_solution(problem, solution);
		return solver_invalid();
	}
	uint32_t all = problem->matrix.rows + problem->matrix.columns;
	self->result = (struct solver_result){ .status = SOLVER_SOLVED };
	self->tolerance = scalar_max(SLACK_SHARE * used.tolerance, SLACK_MIN);
	self->pivots_max = used.pivots_max != 0 ? used.pivots_max : 1000 + 50 * all;
	self->shifts = self->perturbed = self->least_index = false;
	self->stalls = 0;
	if (lp_crossed(problem) != UINT32_MAX) {
		set_zero_solution(problem, solution);
		self->result.status = SOLVER_INFEASIBLE;
		self->result.residual = lp_violation(problem, solution->x, self->scratch);
		lp_violations(problem, solution->x, solution->dual, self->scratch,
			      &self->result.violation, &self->result.stationarity);
		return self->result;
	}
	lp_load(self, problem);
	bool feasible = start_at_point(self, problem);
	if (!feasible)
		lp_basis_start(self, used.warm ? solution->places : NULL);
	verify_outcome(self, problem, &used, run_phases(self, feasible), solution);
	return self->result;
}
