/* reflection.c: generalized reflections (papers C-09; algorithm 2 of Smith et al. 2012).
 *
 *   v ← v⁻
 *   while some contact approaches:  V = { k : u_k < −ε },  u = N v
 *       λ_V: A_VV λ_V + 2 u_V ≥ 0 ⟂ λ_V ≥ 0      (elastic, from the present velocity)
 *       v ← v + M⁻¹ N_Vᵀ λ_V
 *
 * Each round reflects v at the face of the admissible cone that it violates, so λᵀN(v + v') = 0. Energy
 * and momentum are conserved. Symmetry is conserved because V and the velocities after the round are
 * symmetric (velocities of an LCP with semidefinite A are unique even where λ is not). A contact that
 * does not approach is not in V, so touching bodies can separate. A plain elastic LCP takes all contacts
 * at once, and touching bodies stick; sequential impulses lose symmetry.
 *
 * No bound on the number of rounds is known. A ball wedged between parallel walls would be reflected
 * for ever, because no direction is free for its energy. After the last round all contacts get one
 * inelastic impact, which is feasible, loses energy, and is reported (SOLVER_LIMIT).
 *
 * ε is 1e-14 of the speed of the fastest contact point (the source has 1e-14 in any units). Between
 * rounds only u is updated, u += A λ. Partial restitution interpolates between the inelastic and the
 * elastic impulses.
 *
 * The projection core states a round over the coordinates of the moving bodies, v' = v + x:
 *   min ½ x·M x  subject to  N_V x ≥ −2 u_V
 * whose multipliers are the λ_V.
 */
#include "server/engine/solvers/reflection.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

enum { ROUNDS = 200 }; /* default of options.rounds_max */

/* Relative to the fastest contact point: a slower approach is at rest. A larger value leaves visible
 * approaches; a smaller one spends rounds on rounding errors. */
#define APPROACH 1e-14

static void carve_projection(struct reflection *self, struct solver_memory *memory)
{
	uint32_t m = self->sizes.contacts, n = self->sizes.variables;
	ASSERT(n > 0);
	self->c = SOLVER_CARVE(memory, double, n);
	self->rows = SOLVER_CARVE(memory, double, (size_t)m *n);
	self->d = SOLVER_CARVE(memory, double, m);
	self->x = SOLVER_CARVE(memory, double, n);
	size_t inner = qp_dual_active_set_bytes(n, m);
	qp_dual_active_set_init(&self->qp, SOLVER_CARVE(memory, uint8_t, inner), n, m);
}

static void carve_reflection(struct reflection *self, struct solver_memory *memory,
			     struct reflection_sizes sizes)
{
	*self = (struct reflection){ .sizes = sizes };
	size_t m = sizes.contacts;
	self->picked = SOLVER_CARVE(memory, double, m *m);
	self->b = SOLVER_CARVE(memory, double, m);
	self->lambda = SOLVER_CARVE(memory, double, m);
	self->total = SOLVER_CARVE(memory, double, m);
	self->inelastic = SOLVER_CARVE(memory, double, m);
	self->u = SOLVER_CARVE(memory, double, m);
	self->active = SOLVER_CARVE(memory, uint32_t, m);
	self->state = SOLVER_CARVE(memory, uint8_t, m);
	size_t inner = lcp_dantzig_bytes((uint32_t)m);
	lcp_dantzig_init(&self->lcp, SOLVER_CARVE(memory, uint8_t, inner), (uint32_t)m);
	if (sizes.variables > 0)
		carve_projection(self, memory);
}

size_t reflection_bytes(struct reflection_sizes sizes)
{
	struct solver_memory memory = { NULL, 0 };
	struct reflection self;
	carve_reflection(&self, &memory, sizes);
	return memory.used;
}

void reflection_init(struct reflection *self, void *bytes, struct reflection_sizes sizes)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve_reflection(self, &memory, sizes);
}

/* ---- one problem -------------------------------------------------------------------------------- */

struct reflection_run {
	struct reflection *self;
	const struct reflection_problem *problem;
	const struct solver_options *options;
	uint32_t count;
	enum reflection_core core;
	struct solver_result *result;
};

/* Row of A; A is symmetric, so it is the column as well. */
static const double *matrix_row(const struct reflection_run *run, uint32_t row)
{
	return run->problem->a + (size_t)row * run->problem->stride;
}

/* λ of the contacts in self->active for A λ + b ≥ 0 ⟂ λ ≥ 0, into self->lambda. */
static struct solver_result solve_lcp(struct reflection_run *run, uint32_t active)
{
	struct reflection *self = run->self;
	for (uint32_t i = 0; i < active; i++)
		for (uint32_t j = 0; j < active; j++)
			self->picked[(size_t)i * active + j] =
				matrix_row(run, self->active[i])[self->active[j]];
	struct lcp_problem lcp = { active, active, self->picked, self->b, NULL, NULL };
	struct solver_options options = *run->options;
	options.warm = true;
	options.rounds_max = 0;
	return lcp_dantzig_solve(&self->lcp, &lcp, &options, self->lambda, self->state);
}

/* The same λ as multipliers of the projection; see the head. */
static struct solver_result solve_projection(struct reflection_run *run, uint32_t active)
{
	struct reflection *self = run->self;
	uint32_t n = run->problem->variables;
	ASSERT(n > 0 && n <= self->sizes.variables);
	ASSERT(active <= self->sizes.contacts);
	for (uint32_t i = 0; i < active; i++) {
		dense_copy(self->rows + (size_t)i * n,
			   run->problem->rows + (size_t)self->active[i] * n, n);
		self->d[i] = -self->b[i];
	}
	dense_zero(self->c, n);
	struct qp_problem qp = {
		n, active, run->problem->mass, self->c, self->rows, self->d, NULL
	};
	struct solver_options options = *run->options;
	options.warm = false;
	options.rounds_max = 0;
	return qp_dual_active_set_solve(&self->qp, &qp, &options, self->x, self->lambda,
					self->state);
}

/* One impact of the first `active` contacts of self->active with b = factor × u, factor = 1 +
 * restitution: total += λ, u += A λ. */
static void solve_impact(struct reflection_run *run, uint32_t active, double factor, double *total)
{
	struct reflection *self = run->self;
	ASSERT(active <= run->count);
	ASSERT(factor >= 1 && factor <= 2);
	for (uint32_t i = 0; i < active; i++) {
		self->b[i] = factor * self->u[self->active[i]];
		/* The warm start: an approaching contact usually gets an impulse. */
		self->state[i] = self->b[i] < 0 ? LCP_ACTIVE : LCP_LOWER;
	}
	struct solver_result part = run->core == REFLECTION_LCP ? solve_lcp(run, active)
								: solve_projection(run, active);
	run->result->pivots += part.pivots;
	run->result->refactorings += part.refactorings;
	run->result->regularisations += part.regularisations;
	if (part.status != SOLVER_SOLVED) {
		run->result->fallbacks++;
		if (run->result->status == SOLVER_SOLVED)
			run->result->status = SOLVER_INEXACT;
	}
	for (uint32_t i = 0; i < active; i++) {
		double lambda = self->lambda[i];
		if (lambda == 0)
			continue;
		total[self->active[i]] += lambda;
		dense_mul_add(self->u, matrix_row(run, self->active[i]), lambda, run->count);
	}
}

/* self->active := the contacts that approach, ascending; returns their number. */
static uint32_t pick_approaching(struct reflection_run *run)
{
	uint32_t active = 0;
	for (uint32_t k = 0; k < run->count; k++)
		if (run->self->u[k] < -APPROACH * run->problem->speed)
			run->self->active[active++] = k;
	ASSERT(active <= run->count);
	return active;
}

/* One impact of all contacts; counts as a round. */
static void solve_impact_of_all(struct reflection_run *run, double factor, double *total)
{
	for (uint32_t k = 0; k < run->count; k++)
		run->self->active[k] = k;
	solve_impact(run, run->count, factor, total);
	run->result->rounds = MAX_OF(1, run->result->rounds);
}

/* The rounds of the head, from self->u into self->total. */
static void reflect_until_apart(struct reflection_run *run)
{
	uint32_t most = run->options->rounds_max != 0 ? run->options->rounds_max : ROUNDS;
	uint32_t rounds = 0, active = pick_approaching(run);
	ASSERT(most > 0);
	while (active > 0 && rounds < most) {
		solve_impact(run, active, 2, run->self->total);
		rounds++;
		active = pick_approaching(run);
	}
	run->result->rounds = MAX_OF(rounds, run->result->rounds);
	if (active == 0)
		return;
	solve_impact_of_all(run, 1, run->self->total);
	run->result->fallbacks++;
	run->result->status = SOLVER_LIMIT;
}

enum impact_kind { REFLECT, ELASTIC };

static void solve_impacts(struct reflection_run *run, enum impact_kind kind, double restitution,
			  double *impulses)
{
	struct reflection *self = run->self;
	uint32_t n = run->count;
	ASSERT(restitution >= 0 && restitution <= 1);
	ASSERT(n > 0 && n <= self->sizes.contacts);
	dense_copy(self->u, run->problem->u, n);
	dense_zero(self->total, n);
	dense_zero(self->inelastic, n);
	if (kind == ELASTIC) {
		solve_impact_of_all(run, 1 + restitution, self->total);
		restitution = 1;
	} else {
		if (restitution < 1)
			solve_impact_of_all(run, 1, self->inelastic);
		dense_copy(self->u, run->problem->u, n);
		if (restitution > 0)
			reflect_until_apart(run);
	}
	for (uint32_t k = 0; k < n; k++)
		impulses[k] = (1 - restitution) * self->inelastic[k] + restitution * self->total[k];
	double speed = run->problem->speed;
	for (uint32_t k = 0; k < n; k++) {
		double u = run->problem->u[k] + dense_dot(matrix_row(run, k), impulses, n);
		double approach = scalar_is_finite(u) ? -u : __builtin_inf();
		if (speed > 0)
			run->result->residual = scalar_max(approach / speed, run->result->residual);
		run->result->violation = scalar_max(approach, run->result->violation);
	}
}

static bool problem_is_valid(const struct reflection *self,
			     const struct reflection_problem *problem, enum reflection_core core)
{
	uint32_t n = problem->count, variables = problem->variables;
	if (self->lcp.certificate == NULL || n > self->sizes.contacts || problem->stride < n ||
	    !(problem->speed >= 0 && problem->speed <= SCALAR_MAX))
		return false;
	bool valid = solver_finite(problem->u, n);
	for (uint32_t k = 0; k < n; k++)
		valid &= solver_finite(problem->a + (size_t)k * problem->stride, n);
	if (core == REFLECTION_LCP)
		return valid;
	return core == REFLECTION_PROJECTION && valid && variables <= self->sizes.variables &&
	       (n == 0 || variables > 0) && self->qp.lcp.certificate != NULL &&
	       solver_finite(problem->mass, (size_t)variables * variables) &&
	       solver_finite(problem->rows, (size_t)n * variables);
}

static struct solver_result solve_problem(struct reflection *self,
					  const struct reflection_problem *problem,
					  enum reflection_core core, enum impact_kind kind,
					  double restitution, const struct solver_options *options,
					  double *impulses)
{
	struct solver_result result = { .status = SOLVER_SOLVED };
	const struct solver_options used = solver_options_used(options);
	dense_zero(impulses, problem->count);
	if (!(restitution >= 0 && restitution <= 1) || !problem_is_valid(self, problem, core))
		return solver_invalid();
	struct reflection_run run = { .self = self,
				      .problem = problem,
				      .options = &used,
				      .count = problem->count,
				      .core = core,
				      .result = &result };
	if (run.count > 0)
		solve_impacts(&run, kind, restitution, impulses);
	if (result.status == SOLVER_SOLVED && !(result.residual <= used.tolerance))
		result.status = SOLVER_INEXACT;
	return result;
}

struct solver_result reflection_solve(struct reflection *self,
				      const struct reflection_problem *problem,
				      enum reflection_core core, double restitution,
				      const struct solver_options *options, double *impulses)
{
	return solve_problem(self, problem, core, REFLECT, restitution, options, impulses);
}

struct solver_result reflection_inelastic(struct reflection *self,
					  const struct reflection_problem *problem,
					  enum reflection_core core,
					  const struct solver_options *options, double *impulses)
{
	return solve_problem(self, problem, core, REFLECT, 0, options, impulses);
}

struct solver_result reflection_elastic(struct reflection *self,
					const struct reflection_problem *problem,
					enum reflection_core core, double restitution,
					const struct solver_options *options, double *impulses)
{
	return solve_problem(self, problem, core, ELASTIC, restitution, options, impulses);
}
