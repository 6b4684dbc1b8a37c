/* lcp_dantzig.c: w = A x + b, lower ≤ x ≤ upper, complementary, by Dantzig's principal pivoting in
 * Baraff's incremental form (app I-02, I-03, I-10; ch4-5 9.5; C-03…C-05).
 *
 * Rows are made to hold one after the other, those without bounds (joints) first; while one is
 * driven (lcp_drive.c) the active ones follow. The active rows carry a Cholesky factor that is
 * updated. The book proves the end for positive definite A only and breaks ties at
 * will; contacts are semidefinite and tie all the time. Here steps of length zero are legal and
 * ties follow a rule, under which the active rows stay independent. A large factor that has grown
 * wide is made anew in the order of a walk along the contacts (lcp_core_band.c).
 *
 * The book leaves the order open ("in any order") and keeps what holds holding. Two rules:
 *   worst   the row with the largest |w| (scaled) is next, and others may break meanwhile: each
 * step then raises the dual objective, so no set comes twice (Goldfarb and Idnani). First choice.
 *   index   the book's: by index, and settled rows join before they break. Second choice.
 * Measured on 2026-11-20 with random velocities: tower 160 (640 rows) 632 pivots by the worst,
 * 10592 by index; wall 10 (400) 187 against 7900, where the book's order met its limit of pivots.
 *
 * What goes wrong, and what then happens: b outside the column space: INFEASIBLE with the direction
 * that proves it. A not semidefinite: UNBOUNDED with its ray, or INEXACT. Rounding that breaks an
 * earlier row: the row waits again, in another round. Pivots used up, a residual above the
 * tolerance, or a direction that does not prove what it should: a second attempt by index, cold,
 * counted as a fallback; the better of both goes out. None of 6 million random problems came here.
 */
#include "server/engine/solvers/lcp_dantzig.h"

#include "server/engine/linalg/dense.h"

#define PROOF 1e-9 /* relative: the curvature zᵀ A z that counts as none */

static void carve(struct lcp_dantzig *self, struct solver_memory *memory, uint32_t rows)
{
	lcp_core_carve(&self->core, memory, rows);
	self->w = SOLVER_CARVE(memory, double, rows);
	self->first = SOLVER_CARVE(memory, double, rows);
	self->certificate = SOLVER_CARVE(memory, double, rows);
}

size_t lcp_dantzig_bytes(uint32_t rows)
{
	struct lcp_dantzig self;
	struct solver_memory memory = {0};
	carve(&self, &memory, rows);
	return memory.used;
}

void lcp_dantzig_init(struct lcp_dantzig *self, void *memory, uint32_t rows)
{
	struct solver_memory carving = {.memory = memory};
	carve(self, &carving, rows);
}

/* Whether the direction in dx is what the status claims, by multiplication. */
static bool proves(const struct lcp_core *core)
{
	double down = 0, curve = 0, square = 0;
	for (uint32_t i = 0; i < core->count; i++) {
		double sum = 0;
		for (uint32_t k = core->start[i]; k < core->start[i + 1]; k++)
			sum += core->value[k] * core->dx[core->column[k]];
		down += core->b[i] * core->dx[i];
		curve += core->dx[i] * sum;
		square += core->dx[i] * core->dx[i];
	}
	if (core->result.status == SOLVER_UNBOUNDED)
		return curve < -PROOF * square;
	return down < 0 && curve <= PROOF * square;
}

static struct solver_result attempt(struct lcp_dantzig *self, const struct lcp_problem *problem,
				    const struct solver_options *options, enum lcp_rule rule,
				    bool far, double *x, uint8_t *state)
{
	struct lcp_core *core = &self->core;
	lcp_core_begin(core, problem, options, rule);
	core->far = far;
	if (options->warm && state != NULL)
		lcp_core_warm(core, state);
	lcp_core_run(core, options->rounds_max > 0 ? options->rounds_max : 10);
	struct solver_result *result = &core->result;
	if (result->status == SOLVER_INFEASIBLE || result->status == SOLVER_UNBOUNDED) {
		if (!proves(core))
			result->status = SOLVER_INEXACT;
		for (uint32_t i = 0; i < problem->count; i++)
			self->certificate[i] = core->dx[i] * core->scale[i];
		if (result->status != SOLVER_INEXACT) {
			result->certificate = self->certificate;
			result->certificate_count = problem->count;
		}
	}
	lcp_core_end(core, x, state);
	result->residual = lcp_residual(problem, x, self->w);
	bool exact = result->residual <= options->tolerance;
	if (exact && result->status != SOLVER_UNBOUNDED)
		result->status = SOLVER_SOLVED;
	else if (!exact && result->status == SOLVER_SOLVED)
		result->status = SOLVER_INEXACT;
	return *result;
}

/* A proof of infeasibility is one to rounding. If A as it stands is not singular, and its solution
 * within sight and tolerance, that is the answer; else the proof, made once more. */
static struct solver_result look_far(struct lcp_dantzig *self, const struct lcp_problem *problem,
				     const struct solver_options *options, double *x,
				     uint8_t *state)
{
	struct solver_options cold = *options;
	cold.warm = false;
	struct solver_result second =
		attempt(self, problem, &cold, LCP_RULE_WORST, true, x, state);
	if (second.status != SOLVER_SOLVED)
		second = attempt(self, problem, options, LCP_RULE_WORST, false, x, state);
	return second;
}

struct solver_result lcp_dantzig_solve(struct lcp_dantzig *self, const struct lcp_problem *problem,
				       const struct solver_options *options, double *x,
				       uint8_t *state)
{
	if (!lcp_valid(problem)) {
		dense_zero(x, problem->count);
		return (struct solver_result){.status = SOLVER_NOT_FINITE,
					      .residual = __builtin_inf()};
	}
	struct solver_result first = attempt(self, problem, options, LCP_RULE_WORST, false, x, state);
	if (first.status == SOLVER_INFEASIBLE)
		return look_far(self, problem, options, x, state);
	if (first.status != SOLVER_LIMIT && first.status != SOLVER_INEXACT)
		return first;
	dense_copy(self->first, x, problem->count);
	struct solver_options cold = *options;
	cold.warm = false;
	struct solver_result second = attempt(self, problem, &cold, LCP_RULE_INDEX, false, x, state);
	if (!(second.residual <= first.residual)) {
		/* The first answer, and for the next warm start the second's active set. */
		dense_copy(x, self->first, problem->count);
		second.status = first.status;
		second.residual = first.residual;
	}
	second.fallbacks = 1;
	second.pivots += first.pivots;
	return second;
}
