/* lcp_dantzig.c: w = A x + b, lower ≤ x ≤ upper, complementary, by Dantzig's principal pivoting in
 * Baraff's incremental form (app I-02, I-03, I-10; ch4-5 9.5; C-03…C-05).
 *
 * The conditions of the rows are established one row at a time, those without bounds (joints) first.
 * While one row is driven (lcp_drive.c), the active rows keep w = 0. They have a Cholesky factor that
 * is updated. The book proves termination for positive definite A only and breaks ties
 * arbitrarily; contacts are semidefinite and tie often. Here steps of length zero are allowed, and
 * a rule for ties keeps the active rows independent. A large factor whose rows have become long is
 * computed again in the order of a walk along the contacts (lcp_core_band.c).
 *
 * The book leaves the order of rows open and preserves the rows that hold. Two rules:
 *   worst   the row with the largest |w| (scaled) is next, and other rows may be violated meanwhile:
 * each step then raises the dual objective, so no set repeats (Goldfarb and Idnani). First attempt.
 *   index   the book's: by index; a settled row becomes active before it is violated. Second attempt.
 * Measured on 2026-11-20 with random velocities: tower 160 (640 rows) 632 pivots by the worst,
 * 10592 by index; wall 10 (400) 187 against 7900, where the book's order met its limit of pivots.
 *
 * Failures. If b is outside the column space: INFEASIBLE with the direction that proves it. If A is not
 * semidefinite: UNBOUNDED with its ray, or INEXACT. If rounding violates an earlier row, the row is
 * driven again in another round. If the pivots are used up, the residual is above the tolerance, or a
 * direction proves nothing, a second attempt by index without warm start follows, counted as a
 * fallback; the better result is returned. None of 6 million random problems needed it.
 */
#include "server/engine/solvers/lcp_dantzig.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/double_double.h"

#define PROOF 1e-9 /* relative: the curvature −zᵀ A z that is more than rounding of A */
#define DIRECTION_MIN 0x1p-43 /* relative to the largest |z|: smaller entries are rounding */
#define SIGHT 1e8 /* of the largest |b|: INFEASIBLE says that no solution has a smaller Σ |x| */

static void carve_dantzig(struct lcp_dantzig *self, struct solver_memory *memory, uint32_t rows)
{
	lcp_core_carve(&self->core, memory, rows);
	self->w = SOLVER_CARVE(memory, double, rows);
	self->first = SOLVER_CARVE(memory, double, rows);
	self->certificate = SOLVER_CARVE(memory, double, rows);
}

size_t lcp_dantzig_bytes(uint32_t rows)
{
	struct lcp_dantzig self;
	struct solver_memory memory = { 0 };
	carve_dantzig(&self, &memory, rows);
	return memory.used;
}

void lcp_dantzig_init(struct lcp_dantzig *self, void *memory, uint32_t rows)
{
	struct solver_memory carving = { .memory = solver_memory_good(memory) ? memory : NULL };
	carve_dantzig(self, &carving, rows);
}

/* Sets to 0 the entries of the direction in dx that cannot be part of a proof: rounding, and moves
 * towards a finite bound. */
static void clean_direction(struct lcp_core *core)
{
	double least = DIRECTION_MIN * dense_max_abs(core->dx, core->count);
	for (uint32_t i = 0; i < core->count; i++) {
		double z = core->dx[i];
		bool finite = z > 0 ? core->upper[i] <= SCALAR_MAX : core->lower[i] >= -SCALAR_MAX;
		if (finite || scalar_abs(z) <= least)
			core->dx[i] = 0;
	}
}

/* Whether the direction z in dx is what the status claims, multiplied out in twice the digits.
 * INFEASIBLE: z moves every row only where w z ≥ 0, so a solution has 0 ≤ z·w = (Aᵀz)·x + b·z. With b·z
 * < 0 none has Σ |x| < −b·z / max |Aᵀz|, which must be at least SIGHT × max |b|. Aᵀ, not A: a proof is
 * then right even if the matrix is not symmetric. UNBOUNDED: zᵀA z < 0. */
static bool direction_proves(struct lcp_core *core)
{
	ASSERT(core->result.status == SOLVER_INFEASIBLE || core->result.status == SOLVER_UNBOUNDED);
	double *high = core->work, *low = core->work + core->capacity, across = 0, square = 0;
	double2 down = { 0, 0 }, curve = { 0, 0 };
	dense_zero(core->work, 2 * core->capacity);
	for (uint32_t i = 0; i < core->count; i++) {
		down = double2_add(down, double2_product(core->b[i], core->dx[i]));
		square += core->dx[i] * core->dx[i];
		for (uint32_t k = core->start[i]; core->dx[i] != 0 && k < core->start[i + 1]; k++) {
			uint32_t j = core->column[k];
			double2 sum = { high[j], low[j] };
			sum = double2_add(sum, double2_product(core->value[k], core->dx[i]));
			high[j] = sum.hi;
			low[j] = sum.lo;
		}
	}
	for (uint32_t j = 0; j < core->count; j++) {
		double2 sum = { high[j], low[j] };
		curve = double2_add(curve, double2_mul_double(sum, core->dx[j]));
		across = scalar_max(across, scalar_abs(high[j]));
		if (!scalar_is_finite(high[j]))
			return false;
	}
	if (core->result.status == SOLVER_UNBOUNDED)
		return curve.hi < -PROOF * square;
	double reach = SIGHT * dense_max_abs(core->b, core->count);
	return down.hi < 0 && across * reach <= -down.hi;
}

/* One attempt: x, state and the verified result. */
static struct solver_result attempt_rule(struct lcp_dantzig *self,
					 const struct lcp_problem *problem,
					 const struct solver_options *options, enum lcp_rule rule,
					 bool far, double *x, uint8_t *state)
{
	ASSERT(problem->count <= self->core.capacity);
	struct lcp_core *core = &self->core;
	lcp_core_begin(core, problem, options, rule);
	core->far = far;
	if (options->warm && state != NULL)
		lcp_core_warm(core, state);
	lcp_core_run(core, options->rounds_max > 0 ? options->rounds_max : 10);
	struct solver_result *result = &core->result;
	self->stuck = result->status == SOLVER_INFEASIBLE;
	if (result->status == SOLVER_INFEASIBLE || result->status == SOLVER_UNBOUNDED) {
		if (result->status == SOLVER_INFEASIBLE)
			clean_direction(core);
		if (!direction_proves(core))
			result->status = SOLVER_INEXACT;
		for (uint32_t i = 0; i < problem->count; i++)
			self->certificate[i] = core->dx[i] * core->scale[i];
	}
	lcp_core_end(core, x, state);
	result->residual = lcp_residual(problem, x, self->w);
	bool exact = result->residual <= options->tolerance;
	if (exact && result->status != SOLVER_UNBOUNDED)
		result->status = SOLVER_SOLVED;
	else if (!exact && result->status == SOLVER_SOLVED)
		result->status = SOLVER_INEXACT;
	if (result->status == SOLVER_INFEASIBLE || result->status == SOLVER_UNBOUNDED) {
		result->certificate = self->certificate;
		result->certificate_count = problem->count;
	}
	ASSERT((result->certificate != NULL) ==
	       (result->status == SOLVER_INFEASIBLE || result->status == SOLVER_UNBOUNDED));
	return *result;
}

/* A proof of infeasibility holds up to rounding. If A is not exactly singular and its solution is
 * within SIGHT and the tolerance, that solution is returned; otherwise the proof, computed again. */
static struct solver_result try_distant_solution(struct lcp_dantzig *self,
						 const struct lcp_problem *problem,
						 const struct solver_options *options, double *x,
						 uint8_t *state)
{
	struct solver_options cold = *options;
	cold.warm = false;
	struct solver_result second =
		attempt_rule(self, problem, &cold, LCP_RULE_WORST, true, x, state);
	if (second.status != SOLVER_SOLVED)
		second = attempt_rule(self, problem, options, LCP_RULE_WORST, false, x, state);
	return second;
}

/* The attempts of the head; the better result. */
static struct solver_result solve_rules(struct lcp_dantzig *self, const struct lcp_problem *problem,
					const struct solver_options *options, double *x,
					uint8_t *state)
{
	struct solver_result first =
		attempt_rule(self, problem, options, LCP_RULE_WORST, false, x, state);
	if (self->stuck && first.status != SOLVER_SOLVED)
		first = try_distant_solution(self, problem, options, x, state);
	if (first.status != SOLVER_LIMIT && first.status != SOLVER_INEXACT)
		return first;
	dense_copy(self->first, x, problem->count);
	struct solver_options cold = *options;
	cold.warm = false;
	struct solver_result second =
		attempt_rule(self, problem, &cold, LCP_RULE_INDEX, false, x, state);
	if (second.status != SOLVER_INFEASIBLE && !(second.residual <= first.residual)) {
		/* The first solution, with the second attempt's active set for the next warm start. */
		dense_copy(x, self->first, problem->count);
		second.status = first.status;
		second.residual = lcp_residual(problem, x, self->w);
		second.certificate = NULL;
		second.certificate_count = 0;
	}
	ASSERT(first.certificate == NULL);
	second.fallbacks = 1;
	second.pivots += first.pivots;
	return second;
}

struct solver_result lcp_dantzig_solve(struct lcp_dantzig *self, const struct lcp_problem *problem,
				       const struct solver_options *options, double *x,
				       uint8_t *state)
{
	if (self->certificate == NULL || problem->count > self->core.capacity ||
	    !lcp_valid(problem)) {
		dense_zero(x, problem->count);
		return solver_invalid();
	}
	const struct solver_options used = solver_options_used(options);
	struct solver_result result = solve_rules(self, problem, &used, x, state);
	result.violation = lcp_violation(problem, x, self->w);
	return result;
}
