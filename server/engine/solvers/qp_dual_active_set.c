/* qp_dual_active_set.c: min ½ xᵀG x + cᵀx, C x ≥ d (some =), from the unconstrained minimum.
 *
 * Goldfarb and Idnani (1983), C-07: start at x = −G⁻¹c with no row active and take the most violated
 * row. The primal direction is z = H n, the dual one r. A partial step ends at a multiplier that
 * reaches 0 (its row leaves), a full step where the row holds (it becomes active). If z = 0 and no
 * multiplier can be dropped, no point satisfies the rows. In terms of the multipliers this is the
 * pivoting of lcp_drive.c by the rule `worst` on A = C G⁻¹ Cᵀ, b = C x₀ − d, and z = 0 is a Schur
 * complement of 0. So the core of the LCP solves it, including dependent rows, equal rows (as
 * joints) and warm starts.
 *
 * Each round solves for a step p from the present x: min ½ pᵀG p + (G x + c)ᵀp, C p ≥ d − C x. The
 * first round starts at 0 and solves the whole problem; the others are iterative refinement, which
 * removes the rounding of A. If G is only semidefinite, ρ is added to its diagonal, and the rounds
 * are the proximal point method, whose limit is a minimum of the problem itself.
 *
 * Failures. Rows that contradict each other: INFEASIBLE with Farkas' multipliers. A semidefinite G and
 * an unbounded objective: UNBOUNDED, if the last step passes the check for a ray. If the rounds are
 * used up or no longer reduce the residual, the best round is returned with its residual.
 */
#include "server/engine/solvers/qp_dual_active_set.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/double_double.h"
#include "server/engine/math/scalar.h"

enum {
	POLISHES = 6,	 /* most rounds of polish_best */
	REFINEMENTS = 4, /* of a proof: each gains the digits that the factor has */
	ROUNDS = 60,	 /* of the proximal point method with one ρ */
	STALLS = 3,	 /* rounds in a row that do not halve the residual */
	STAGES = 5,	 /* values of ρ */
};

/* The first ρ, of the largest diagonal entry: a smaller one loses digits of A, a larger one needs
 * more rounds. */
#define PROXIMAL 1e-4
#define STAGE 0x1p-7  /* factor of ρ from one stage to the next */
#define ROUGH 1e-3    /* of the tolerance: a residual that needs no smaller ρ */
#define FINE 0x1p-44  /* a larger residual is polished */
#define EXACT 0x1p-50 /* a residual that cannot be reduced */
#define FAR_IN 1e-4   /* below this residual the multipliers are nearly right */
#define BESIDE 1e3    /* of the worst violation: farther than a step leads */
#define RUNAWAY 1e6   /* of the largest force: multipliers with a larger force may be a proof */
/* In lengths of the problem: INFEASIBLE says that no point exists within this distance, UNBOUNDED
 * that the objective falls up to it. With a smaller one the rounding of a nearly singular problem
 * counts as a proof; the proofs of contradicting rows reach 1e13 and more. */
#define SIGHT 1e8
/* In lengths of the problem: rows that contradict each other by 1e-3 have a negligible violation
 * relative to a larger x. */
#define FAR_OUT 1e4

static void carve_active_set(struct qp_dual_active_set *self, struct solver_memory *memory,
			     uint32_t variables, uint32_t rows)
{
	size_t n = variables, m = rows;
	self->variables_max = variables;
	self->rows_max = rows;
	self->lower = SOLVER_CARVE(memory, double, n *n);
	self->point = SOLVER_CARVE(memory, double, n);
	self->across = SOLVER_CARVE(memory, double, n *m);
	self->a = SOLVER_CARVE(memory, double, m *m);
	double **of_rows[] = { &self->b,     &self->low,    &self->high,
			       &self->slack, &self->lambda, &self->held };
	for (uint32_t i = 0; i < COUNT_OF(of_rows); i++)
		*of_rows[i] = SOLVER_CARVE(memory, double, m);
	self->step = SOLVER_CARVE(memory, double, n);
	self->gradient = SOLVER_CARVE(memory, double, n);
	self->ray = SOLVER_CARVE(memory, double, n);
	self->certificate = SOLVER_CARVE(memory, double, m);
	self->spare = SOLVER_CARVE(memory, double, 2 * n + m);
	self->unit = SOLVER_CARVE(memory, double, n *n);
	self->state = SOLVER_CARVE(memory, uint8_t, m);
	self->state_kept = SOLVER_CARVE(memory, uint8_t, m);
	void *inner = SOLVER_CARVE(memory, uint8_t, lcp_dantzig_bytes(rows));
	lcp_dantzig_init(&self->lcp, inner, rows);
}

size_t qp_dual_active_set_bytes(uint32_t variables, uint32_t rows)
{
	struct qp_dual_active_set self;
	struct solver_memory memory = { 0 };
	carve_active_set(&self, &memory, variables, rows);
	return memory.used;
}

void qp_dual_active_set_init(struct qp_dual_active_set *self, void *memory, uint32_t variables,
			     uint32_t rows)
{
	struct solver_memory carving = { .memory = solver_memory_good(memory) ? memory : NULL };
	carve_active_set(self, &carving, variables, rows);
}

/* Factors G + ρ = L Lᵀ. False: there is no factor, or a pivot is only rounding. */
static bool factor_matrix(struct qp_dual_active_set *self, const struct qp_problem *problem,
			  double proximal)
{
	ASSERT(problem->variables <= self->variables_max);
	ASSERT(proximal >= 0);
	uint32_t n = problem->variables;
	bool good = true;
	self->proximal = proximal;
	chol_init(&self->factor, self->lower, n);
	for (uint32_t i = 0; i < n && good; i++) {
		const double *row = problem->g + (size_t)i * n;
		good = chol_append(&self->factor, row, row[i] + proximal);
		double pivot = good ? self->lower[(size_t)i * n + i] : 0;
		good = good && pivot * pivot > 0x1p-46 * row[i];
	}
	return good;
}

/* across := L⁻¹ Cᵀ by rows of C; A = C (G + ρ)⁻¹ Cᵀ from it; the bounds of the dual. */
static void make_dual(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
	ASSERT(problem->rows <= self->rows_max);
	ASSERT(self->factor.size == problem->variables);
	uint32_t n = problem->variables, m = problem->rows;
	for (uint32_t k = 0; k < m; k++) {
		double *row = self->across + (size_t)k * n;
		dense_copy(row, problem->matrix + (size_t)k * n, n);
		chol_solve_lower(&self->factor, row);
		for (uint32_t l = 0; l <= k; l++) {
			double sum = dense_dot(row, self->across + (size_t)l * n, n);
			self->a[(size_t)k * m + l] = sum;
			self->a[(size_t)l * m + k] = sum;
		}
		self->low[k] = qp_equal(problem, k) ? -__builtin_inf() : 0;
		self->high[k] = __builtin_inf();
	}
}

/* Pivoting accepts a violation that is negligible beside the largest slack of all rows. If a
 * violation of 1e-10 is to be removed and another row has a slack of 1000, that is too inaccurate.
 * Slacks of rows without a multiplier are therefore limited; a row that is then met too early makes
 * a step shorter, but not wrong. */
static void limit_slacks(struct qp_dual_active_set *self, const struct qp_problem *problem,
			 const double *from)
{
	double most = 0;
	for (uint32_t k = 0; k < problem->rows; k++)
		if (self->b[k] < 0 || from[k] != 0 || qp_equal(problem, k))
			most = scalar_max(most, scalar_abs(self->b[k]));
	for (uint32_t k = 0; k < problem->rows; k++)
		if (from[k] == 0 && !qp_equal(problem, k))
			self->b[k] = scalar_min(self->b[k], BESIDE * most);
}

/* One step from x: multipliers into self->lambda, step into self->step. With `from`, the
 * multipliers at x, only their change is solved for, because its rounding is smaller. */
static struct solver_result round_from(struct qp_dual_active_set *self,
				       const struct qp_problem *problem,
				       const struct solver_options *options, const double *x,
				       const double *from)
{
	ASSERT(self->prepared && self->factor.size == problem->variables);
	uint32_t n = problem->variables, m = problem->rows;
	dense_mul_vec(problem->g, n, n, n, x, self->gradient);
	for (uint32_t k = 0; k < m && from != NULL; k++) {
		dense_mul_add(self->gradient, problem->matrix + (size_t)k * n, -from[k], n);
		self->low[k] = qp_equal(problem, k) ? -__builtin_inf() : -from[k];
	}
	for (uint32_t i = 0; i < n; i++)
		self->step[i] = -(self->gradient[i] + problem->c[i]);
	chol_solve(&self->factor, self->step);
	dense_mul_vec(problem->matrix, m, n, n, x, self->slack);
	dense_mul_vec(problem->matrix, m, n, n, self->step, self->b);
	for (uint32_t k = 0; k < m; k++)
		self->b[k] += self->slack[k] - problem->d[k];
	if (self->with_gap && from != NULL)
		limit_slacks(self, problem, from);
	struct lcp_problem dual = { m, m, self->a, self->b, self->low, self->high };
	struct solver_result result =
		lcp_dantzig_solve(&self->lcp, &dual, options, self->lambda, self->state);
	/* p = p₀ + L⁻ᵀ (L⁻¹ Cᵀ) λ */
	dense_transposed_mul_vec(self->across, m, n, n, self->lambda, self->gradient);
	chol_solve_upper(&self->factor, self->gradient);
	dense_mul_add(self->step, self->gradient, 1, n);
	return result;
}

/* Refines multipliers z that should have Cᵀz = 0: the rows of the pivoting's factor correct the
 * part of Cᵀz, computed in twice the digits, that lies in their span. Entries below 0 become 0, and
 * the largest 1. */
static void refine_proof(struct qp_dual_active_set *self, const struct qp_problem *problem,
			 double *z)
{
	VALIDATE(self->lcp.core.factor.size <= problem->rows);
	struct lcp_core *core = &self->lcp.core;
	uint32_t n = problem->variables, m = problem->rows;
	for (uint32_t round = 0; round < REFINEMENTS; round++) {
		for (uint32_t k = 0; k < m; k++)
			z[k] = qp_equal(problem, k) ? z[k] : scalar_max(z[k], 0);
		double most = dense_max_abs(z, m);
		if (!(most > 0 && most <= SCALAR_MAX))
			return;
		for (uint32_t k = 0; k < m; k++)
			z[k] /= most;
		if (round + 1 == REFINEMENTS)
			return;
		for (uint32_t i = 0; i < n; i++) {
			double2 sum = { 0, 0 };
			for (uint32_t k = 0; k < m; k++)
				sum = double2_add(
					sum,
					double2_product(problem->matrix[(size_t)k * n + i], z[k]));
			self->gradient[i] = sum.hi;
		}
		chol_solve_lower(&self->factor, self->gradient);
		for (uint32_t p = 0; p < core->factor.size; p++) {
			uint32_t k = core->order[p];
			core->work[p] = core->scale[k] *
					dense_dot(self->across + (size_t)k * n, self->gradient, n);
		}
		chol_envelope_solve(&core->factor, core->work);
		for (uint32_t p = 0; p < core->factor.size; p++)
			z[core->order[p]] -= core->scale[core->order[p]] * core->work[p];
	}
}

/* Whether multipliers z prove that no point within SIGHT satisfies the rows; stores them if so. z
 * is the direction that no event of the pivoting ends, or the multipliers of a round: contradicting
 * rows that are independent only by the rounding of A have extremely large multipliers. */
static bool store_proof(struct qp_dual_active_set *self, const struct qp_problem *problem,
			const double *z)
{
	if (!(dense_dot(problem->d, z, problem->rows) > 0))
		return false;
	dense_copy(self->slack, z, problem->rows);
	refine_proof(self, problem, self->slack);
	if (!(qp_infeasibility(problem, self->slack) >= SIGHT))
		return false;
	dense_copy(self->certificate, self->slack, problem->rows);
	return true;
}

/* The residual that rounds are compared by. */
static double measure_round(const struct qp_dual_active_set *self, const struct qp_problem *problem,
			    const double *x, const double *lambda)
{
	return (self->with_gap ? qp_residual : qp_conditions)(problem, x, lambda);
}

/* If active rows nearly depend on each other, their multipliers are so large that a round satisfies the
 * rows only to the rounding of these multipliers. Rounds that solve only for changes then improve the
 * best point. */
static void polish_best(struct qp_dual_active_set *self, const struct qp_problem *problem,
			const struct solver_options *options, double *x, double *lambda,
			struct solver_result *total)
{
	uint32_t n = problem->variables, m = problem->rows;
	for (uint32_t round = 0; round < POLISHES; round++) {
		struct solver_result one = round_from(self, problem, options, x, lambda);
		dense_copy(self->point, x, n);
		dense_mul_add(self->point, self->step, 1, n);
		dense_mul_add(self->lambda, lambda, 1, m);
		double residual = measure_round(self, problem, self->point, self->lambda);
		total->pivots += one.pivots;
		total->rounds++;
		if (one.status == SOLVER_INFEASIBLE || !(residual < total->residual))
			break;
		total->residual = residual;
		dense_copy(x, self->point, n);
		dense_copy(lambda, self->lambda, m);
	}
}

/* Whether the multipliers of a round are so much larger than its forces that they may be a proof. */
static bool are_extreme(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
	uint32_t n = problem->variables, m = problem->rows;
	double pull = 0, force = dense_max_abs(problem->c, n);
	dense_transposed_mul_vec(problem->matrix, m, n, n, self->lambda, self->gradient);
	for (uint32_t k = 0; k < m; k++)
		pull = scalar_max(pull, scalar_abs(self->lambda[k]) *
						dense_max_abs(problem->matrix + (size_t)k * n, n));
	force = scalar_max(force, dense_max_abs(self->gradient, n));
	return pull > RUNAWAY * force;
}

/* Rounds from self->point with the present factor; the best point into x and lambda, its residual into
 * total. Ends if the residual is small enough or no longer shrinks, or with a proof (total's
 * status). */
static void iterate_rounds(struct qp_dual_active_set *self, const struct qp_problem *problem,
			   const struct solver_options *options, uint32_t rounds, double *x,
			   double *lambda, struct solver_result *total)
{
	ASSERT(rounds > 0);
	uint32_t n = problem->variables, worse = 0;
	bool proximal = self->proximal > 0;
	double before = __builtin_inf();
	struct solver_options inner = *options;
	for (uint32_t round = 0; round < rounds && worse < (proximal ? STALLS : 2); round++) {
		/* Near the solution only changes are solved for, because the rounding of whole
		 * multipliers is too large. */
		const double *from = proximal && total->residual < FAR_IN ? self->held : NULL;
		dense_copy(self->held, self->lambda, problem->rows);
		struct solver_result one = round_from(self, problem, &inner, self->point, from);
		inner.warm = true;
		total->pivots += one.pivots;
		total->rounds++;
		bool endless = one.status == SOLVER_INFEASIBLE;
		if ((endless || are_extreme(self, problem)) &&
		    store_proof(self, problem, endless ? one.certificate : self->lambda)) {
			total->status = SOLVER_INFEASIBLE;
			return;
		}
		if (endless)
			return;
		dense_mul_add(self->point, self->step, 1, n);
		if (from != NULL)
			dense_mul_add(self->lambda, from, 1, problem->rows);
		double residual = measure_round(self, problem, self->point, self->lambda);
		bool slow = !(residual < 0.1 * before);
		worse += !(residual < (proximal ? 0.5 * before : total->residual));
		worse = proximal && residual < 0.5 * before ? 0 : worse;
		before = residual;
		if (residual < total->residual) {
			total->residual = residual;
			dense_copy(x, self->point, n);
			dense_copy(lambda, self->lambda, problem->rows);
		}
		bool near = proximal && residual <= ROUGH * options->tolerance;
		if (total->residual <= EXACT || (near && slow))
			return;
	}
}

/* The first ρ: a small share of the largest curvature. Without curvature, a ρ for which the first
 * step is about as long as the planes are far. */
static double first_proximal(const struct qp_problem *problem)
{
	double most = 0, force = dense_max_abs(problem->c, problem->variables), length;
	for (uint32_t i = 0; i < problem->variables; i++)
		most = scalar_max(most, scalar_abs(problem->g[(size_t)i * problem->variables + i]));
	if (most > 0)
		return PROXIMAL * most;
	length = qp_planes_length(problem);
	return force > 0 && length > 0 ? force / length : 1;
}

/* Computes the factor with ρ and the dual problem. False: there is none, or its numbers overflow. */
static bool prepare_dual(struct qp_dual_active_set *self, const struct qp_problem *problem,
			 double proximal)
{
	self->prepared = factor_matrix(self, problem, proximal);
	if (self->prepared) {
		make_dual(self, problem);
		self->prepared = solver_finite(self->a, (size_t)problem->rows * problem->rows);
	}
	return self->prepared;
}

/* The proximal point method with decreasing ρ; each stage starts at the last point. */
static void solve_proximally(struct qp_dual_active_set *self, const struct qp_problem *problem,
			     const struct solver_options *options, double *x, double *lambda,
			     struct solver_result *total)
{
	struct solver_options inner = *options;
	double proximal = first_proximal(problem);
	/* Starts at x and lambda if they are near the solution. */
	bool near = total->residual <= FAR_IN;
	dense_zero(self->point, problem->variables);
	if (near) {
		dense_copy(self->point, x, problem->variables);
		dense_copy(self->lambda, lambda, problem->rows);
	}
	for (uint32_t stage = 0; stage < STAGES; stage++, proximal *= STAGE) {
		if (!prepare_dual(self, problem, proximal))
			return;
		total->refactorings++;
		if (!solver_finite(self->point, problem->variables))
			dense_copy(self->point, x, problem->variables);
		iterate_rounds(self, problem, &inner,
			       options->rounds_max > 0 ? options->rounds_max : ROUNDS, x, lambda,
			       total);
		inner.warm = true;
		if (total->status == SOLVER_INFEASIBLE ||
		    total->residual <= ROUGH * options->tolerance)
			return;
		if (qp_unboundedness(problem, self->step) >= SIGHT) {
			dense_copy(self->ray, self->step, problem->variables);
			total->status = SOLVER_UNBOUNDED;
			return;
		}
	}
}

/* Whether a point satisfies the rows: solves for the one nearest to 0, which does not depend on G
 * and c and has no ray. The status of total becomes INFEASIBLE with a proof. Otherwise it does not
 * change, except that UNBOUNDED becomes INEXACT if no point is found. */
static void find_feasible_point(struct qp_dual_active_set *self, const struct qp_problem *problem,
				const struct solver_options *options, struct solver_result *total)
{
	uint32_t n = problem->variables;
	struct qp_problem nearest = *problem;
	struct solver_options inner = *options;
	struct solver_result found = { .residual = __builtin_inf(), .status = SOLVER_INEXACT };
	double *x = self->spare, *lambda = x + n, *zero = lambda + problem->rows;
	dense_zero(self->unit, n * n);
	for (uint32_t i = 0; i < n; i++)
		self->unit[(size_t)i * n + i] = 1;
	dense_zero(zero, n);
	dense_zero(self->point, n);
	nearest.g = self->unit;
	nearest.c = zero;
	inner.warm = false;
	if (!prepare_dual(self, &nearest, 0))
		return;
	iterate_rounds(self, &nearest, &inner, 6, x, lambda, &found);
	total->pivots += found.pivots;
	total->rounds += found.rounds;
	if (found.status == SOLVER_INFEASIBLE)
		total->status = SOLVER_INFEASIBLE;
	else if (!(found.residual <= options->tolerance))
		total->status = SOLVER_INEXACT;
}

/* If all conditions hold but the gap is too large (large multipliers at rows whose violation is the
 * rounding of much longer ones), rounds continue, measured by the gap. If the last ρ left no
 * factor, because G is indefinite by more, they start with the first ρ. */
static void close_gap(struct qp_dual_active_set *self, const struct qp_problem *problem,
		      const struct solver_options *options, double *x, double *lambda,
		      struct solver_result *total)
{
	total->residual = qp_residual(problem, x, lambda);
	if (total->residual <= options->tolerance)
		return;
	self->with_gap = true;
	if (self->prepared)
		polish_best(self, problem, options, x, lambda, total);
	if (total->residual > options->tolerance)
		solve_proximally(self, problem, options, x, lambda, total);
	self->with_gap = false;
}

/* A very large x may satisfy contradicting rows to its own rounding. The rows are then tested near
 * 0, where a contradiction shows. The states of the solution are restored. */
static void check_distant_point(struct qp_dual_active_set *self, const struct qp_problem *problem,
				const struct solver_options *options, const double *x,
				struct solver_result *total)
{
	uint32_t n = problem->variables;
	double curve = 0, length = qp_planes_length(problem);
	for (uint32_t i = 0; i < n; i++)
		curve = scalar_max(curve, problem->g[(size_t)i * n + i]);
	if (curve > 0)
		length = scalar_max(length, dense_max_abs(problem->c, n) / curve);
	if (!(dense_max_abs(x, n) > FAR_OUT * length))
		return;
	for (uint32_t k = 0; k < problem->rows; k++)
		self->state_kept[k] = self->state[k];
	find_feasible_point(self, problem, options, total);
	if (total->status == SOLVER_INFEASIBLE)
		total->residual = __builtin_inf();
	for (uint32_t k = 0; k < problem->rows; k++)
		self->state[k] = self->state_kept[k];
}

/* Rounds without ρ, then with ρ, then the checks of the head. */
static struct solver_result solve_stages(struct qp_dual_active_set *self,
					 const struct qp_problem *problem,
					 const struct solver_options *options, double *x,
					 double *lambda)
{
	struct solver_result total = { .residual = __builtin_inf(), .status = SOLVER_INEXACT };
	bool definite = prepare_dual(self, problem, 0);
	if (definite) {
		dense_zero(self->point, problem->variables);
		iterate_rounds(self, problem, options,
			       options->rounds_max > 0 ? options->rounds_max : 6, x, lambda,
			       &total);
		if (total.status != SOLVER_INFEASIBLE && total.residual > FINE)
			polish_best(self, problem, options, x, lambda, &total);
	}
	if (total.status != SOLVER_INFEASIBLE && !(total.residual <= ROUGH * options->tolerance)) {
		total.fallbacks = definite && !(total.residual <= options->tolerance);
		solve_proximally(self, problem, options, x, lambda, &total);
	}
	if (total.status != SOLVER_INFEASIBLE && total.residual <= options->tolerance)
		close_gap(self, problem, options, x, lambda, &total);
	if (total.status != SOLVER_INFEASIBLE && !(total.residual <= options->tolerance))
		find_feasible_point(self, problem, options, &total);
	else if (total.status != SOLVER_INFEASIBLE)
		check_distant_point(self, problem, options, x, &total);
	/* The residual returned includes the gap. */
	if (total.residual <= SCALAR_MAX)
		total.residual = qp_residual(problem, x, lambda);
	if (total.residual <= options->tolerance) {
		total.status = SOLVER_SOLVED;
	} else if (total.status != SOLVER_INEXACT) {
		bool rows = total.status == SOLVER_INFEASIBLE;
		total.residual = rows ? __builtin_inf() : total.residual;
		total.certificate = rows ? self->certificate : self->ray;
		total.certificate_count = rows ? problem->rows : problem->variables;
	}
	return total;
}

struct solver_result qp_dual_active_set_solve(struct qp_dual_active_set *self,
					      const struct qp_problem *problem,
					      const struct solver_options *options, double *x,
					      double *lambda, uint8_t *state)
{
	dense_zero(x, problem->variables);
	dense_zero(lambda, problem->rows);
	if (self->lcp.certificate == NULL || problem->variables > self->variables_max ||
	    problem->rows > self->rows_max || !qp_valid(problem))
		return solver_invalid();
	struct solver_options used = solver_options_used(options);
	used.warm = options->warm && state != NULL;
	self->with_gap = false;
	for (uint32_t k = 0; k < problem->rows; k++)
		self->state[k] = used.warm ? state[k] : LCP_LOWER;
	struct solver_result result = solve_stages(self, problem, &used, x, lambda);
	for (uint32_t k = 0; state != NULL && k < problem->rows; k++)
		state[k] = self->state[k];
	result.objective = qp_objective(problem, x);
	qp_violations(problem, x, lambda, &result.violation, &result.stationarity);
	return result;
}
