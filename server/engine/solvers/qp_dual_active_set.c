/* qp_dual_active_set.c: min ½ xᵀG x + cᵀx, C x ≥ d (some =), from the free minimum inwards.
 *
 * Goldfarb and Idnani (1983), C-07: start at x = −G⁻¹c with no row active; take the most violated
 * row; the primal direction is z = H n, the dual one r; a partial step ends where a multiplier
 * reaches 0 (that row leaves), a full one where the row holds (it becomes active); z = 0 and no
 * multiplier to drop: no point is admissible. Written in the multipliers this is the pivoting of
 * lcp_drive.c by the rule `worst` on A = C G⁻¹ Cᵀ, b = C x₀ − d: z = 0 is a Schur complement of
 * nothing. So the same core does it, dependent rows, equal rows (as joints) and warm starts
 * included.
 *
 * Each round solves for a step p from the present x: min ½ pᵀG p + (G x + c)ᵀp, C p ≥ d − C x. The
 * first, from 0, is the whole problem; the next are refinement, which takes out what forming A has
 * lost. If G is only semidefinite it gets ρ on its diagonal, and the rounds are the proximal point
 * method, whose limit is a minimum of the problem itself.
 *
 * What goes wrong: rows that contradict each other: INFEASIBLE with Farkas' multipliers. A
 * semidefinite G and an objective without end: the last step is checked to be a ray: UNBOUNDED.
 * Rounds used up, or no more gain: the best round goes out with its residual.
 */
#include "server/engine/solvers/qp_dual_active_set.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

enum { POLISHES = 6 };

#define PROXIMAL                                                                                   \
	1e-4     /* ρ of the largest diagonal entry: smaller spoils A, larger needs more rounds */
#define RAY 1e-8 /* relative: what counts as G p = 0 */
/* Relative: what counts as Cᵀλ = 0 and as dᵀλ > 0. Together: no x within GAIN / PROOF. */
#define PROOF 1e-9
#define ROUGH 1e-2 /* of the tolerance: a residual above is polished */
#define GAIN 1e-7

static void carve(struct qp_dual_active_set *self, struct solver_memory *memory, uint32_t variables,
		  uint32_t rows)
{
	size_t n = variables, m = rows;
	self->variables_max = variables;
	self->rows_max = rows;
	self->lower = SOLVER_CARVE(memory, double, n *n);
	self->point = SOLVER_CARVE(memory, double, n);
	self->across = SOLVER_CARVE(memory, double, n *m);
	self->a = SOLVER_CARVE(memory, double, m *m);
	double **of_rows[] = {&self->b, &self->low, &self->high, &self->slack, &self->lambda};
	for (uint32_t i = 0; i < COUNT_OF(of_rows); i++)
		*of_rows[i] = SOLVER_CARVE(memory, double, m);
	self->step = SOLVER_CARVE(memory, double, n);
	self->gradient = SOLVER_CARVE(memory, double, n);
	self->certificate = SOLVER_CARVE(memory, double, MAX_OF(n, m));
	self->state = SOLVER_CARVE(memory, uint8_t, m);
	void *inner = SOLVER_CARVE(memory, uint8_t, lcp_dantzig_bytes(rows));
	lcp_dantzig_init(&self->lcp, inner, rows);
}

size_t qp_dual_active_set_bytes(uint32_t variables, uint32_t rows)
{
	struct qp_dual_active_set self;
	struct solver_memory memory = {0};
	carve(&self, &memory, variables, rows);
	return memory.used;
}

void qp_dual_active_set_init(struct qp_dual_active_set *self, void *memory, uint32_t variables,
			     uint32_t rows)
{
	struct solver_memory carving = {.memory = solver_memory_good(memory) ? memory : NULL};
	carve(self, &carving, variables, rows);
}

/* G + ρ = L Lᵀ; false when not even that has a factor. A pivot that is rounding counts as none. */
static bool factor(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
	uint32_t n = problem->variables;
	double most = 0;
	for (uint32_t i = 0; i < n; i++)
		most = scalar_max(most, scalar_abs(problem->g[(size_t)i * n + i]));
	for (uint32_t attempt = 0; attempt < 2; attempt++) {
		self->proximal = attempt == 0 ? 0 : most > 0 ? PROXIMAL * most : 1;
		chol_init(&self->factor, self->lower, n);
		bool good = true;
		for (uint32_t i = 0; i < n && good; i++) {
			const double *row = problem->g + (size_t)i * n;
			good = chol_append(&self->factor, row, row[i] + self->proximal);
			double pivot = good ? self->lower[(size_t)i * n + i] : 0;
			good = good && pivot * pivot > 0x1p-46 * row[i];
		}
		if (good)
			return true;
	}
	return false;
}

/* A = C (G + ρ)⁻¹ Cᵀ from the half-solved rows. */
static void make_dual(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
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

/* One step from x: multipliers into self->lambda, step into self->step. With `from`, multipliers that
 * belong to x, it is only their change that is solved for, so that its rounding is small too. */
static struct solver_result round_from(struct qp_dual_active_set *self,
				       const struct qp_problem *problem,
				       const struct solver_options *options, const double *x,
				       const double *from)
{
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
	struct lcp_problem dual = {m, m, self->a, self->b, self->low, self->high};
	struct solver_result result =
		lcp_dantzig_solve(&self->lcp, &dual, options, self->lambda, self->state);
	/* p = p₀ + L⁻ᵀ (L⁻¹ Cᵀ) λ */
	dense_transposed_mul_vec(self->across, m, n, n, self->lambda, self->gradient);
	chol_solve_upper(&self->factor, self->gradient);
	dense_mul_add(self->step, self->gradient, 1, n);
	return result;
}

/* Whether the last step, in a semidefinite problem, can be repeated for ever with gain. */
static bool is_ray(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
	uint32_t n = problem->variables, m = problem->rows;
	const double *p = self->step;
	double size = dense_max_abs(p, n), most = 0;
	for (uint32_t i = 0; i < n; i++)
		most = scalar_max(most, scalar_abs(problem->g[(size_t)i * n + i]));
	dense_mul_vec(problem->g, n, n, n, p, self->gradient);
	if (!(dense_dot(problem->c, p, n) < 0) ||
	    dense_max_abs(self->gradient, n) > RAY * size * most)
		return false;
	dense_mul_vec(problem->matrix, m, n, n, p, self->slack);
	for (uint32_t k = 0; k < m; k++) {
		double limit = RAY * size * dense_max_abs(problem->matrix + (size_t)k * n, n);
		if (self->slack[k] < -limit || (qp_equal(problem, k) && self->slack[k] > limit))
			return false;
	}
	dense_copy(self->certificate, p, n);
	return true;
}

/* Whether the multipliers λ of a round are Farkas': λ ≥ 0 (where not equal), Cᵀλ = 0 and dᵀλ > 0. They
 * are when contradicting rows are independent by no more than the rounding of A: the pivoting then
 * solves the dual, with multipliers without measure. Kept as the certificate, largest 1. */
static bool keep_proof(struct qp_dual_active_set *self, const struct qp_problem *problem)
{
	uint32_t n = problem->variables, m = problem->rows;
	double largest = dense_max_abs(self->lambda, m), gain = 0, size = 0, steep = 0;
	if (!(largest > 0 && largest <= SCALAR_MAX))
		return false;
	for (uint32_t k = 0; k < m; k++) {
		double z = self->lambda[k] / largest;
		self->slack[k] = z;
		if (z < 0 && !qp_equal(problem, k))
			return false;
		gain += problem->d[k] * z;
		size += scalar_abs(problem->d[k] * z);
		steep = scalar_max(steep, dense_max_abs(problem->matrix + (size_t)k * n, n));
	}
	dense_transposed_mul_vec(problem->matrix, m, n, n, self->slack, self->gradient);
	if (!(gain > GAIN * size) || dense_max_abs(self->gradient, n) > PROOF * steep)
		return false;
	dense_copy(self->certificate, self->slack, m);
	return true;
}

static struct solver_result infeasible(struct qp_dual_active_set *self,
				       const struct qp_problem *problem,
				       struct solver_result result)
{
	/* A multiplier that should be 0 may be a rounding below it. */
	for (uint32_t k = 0; k < problem->rows; k++) {
		double z = result.certificate[k];
		self->certificate[k] = qp_equal(problem, k) ? z : scalar_max(z, 0);
	}
	result.certificate = self->certificate;
	result.residual = __builtin_inf();
	return result;
}

/* Active rows that nearly depend on each other have multipliers so large that a round solves the rows
 * no better than to their rounding. Then rounds for changes alone go on from the best one. */
static void polish(struct qp_dual_active_set *self, const struct qp_problem *problem,
		   const struct solver_options *options, double *x, double *lambda,
		   struct solver_result *total)
{
	uint32_t n = problem->variables, m = problem->rows;
	for (uint32_t round = 0; round < POLISHES; round++) {
		struct solver_result one = round_from(self, problem, options, x, lambda);
		dense_copy(self->point, x, n);
		dense_mul_add(self->point, self->step, 1, n);
		dense_mul_add(self->lambda, lambda, 1, m);
		double residual = qp_residual(problem, self->point, self->lambda);
		total->pivots += one.pivots;
		total->rounds++;
		if (one.status == SOLVER_INFEASIBLE || !(residual < total->residual))
			break;
		total->residual = residual;
		dense_copy(x, self->point, n);
		dense_copy(lambda, self->lambda, m);
	}
}

static struct solver_result iterate(struct qp_dual_active_set *self,
				    const struct qp_problem *problem,
				    const struct solver_options *options, double *x, double *lambda)
{
	uint32_t n = problem->variables, worse = 0;
	uint32_t rounds = self->proximal > 0 ? 300 : 6;
	struct solver_options inner = *options;
	struct solver_result total = {.residual = __builtin_inf(), .status = SOLVER_INEXACT};
	bool proved = false;
	dense_zero(self->point, n);
	rounds = options->rounds_max > 0 ? options->rounds_max : rounds;
	for (uint32_t round = 0; round < rounds && worse < 2; round++) {
		struct solver_result one = round_from(self, problem, &inner, self->point, NULL);
		inner.warm = true;
		total.pivots += one.pivots;
		total.fallbacks += one.fallbacks;
		total.rounds++;
		if (one.status == SOLVER_INFEASIBLE && round == 0) {
			one.rounds = 1;
			return infeasible(self, problem, one);
		}
		proved = proved || keep_proof(self, problem);
		dense_mul_add(self->point, self->step, 1, n);
		double residual = qp_residual(problem, self->point, self->lambda);
		worse += !(residual < total.residual) && self->proximal == 0;
		if (residual < total.residual) {
			total.residual = residual;
			dense_copy(x, self->point, n);
			dense_copy(lambda, self->lambda, problem->rows);
		}
		if (total.residual <= 0x1p-50 ||
		    (self->proximal > 0 && total.residual <= options->tolerance))
			break;
	}
	if (total.residual > ROUGH * options->tolerance && self->proximal == 0 && !proved)
		polish(self, problem, &inner, x, lambda, &total);
	if (total.residual <= options->tolerance) {
		total.status = SOLVER_SOLVED;
	} else if (proved) {
		total.status = SOLVER_INFEASIBLE;
		total.residual = __builtin_inf();
		total.certificate = self->certificate;
		total.certificate_count = problem->rows;
	} else if (self->proximal > 0 && is_ray(self, problem)) {
		total.status = SOLVER_UNBOUNDED;
		total.certificate = self->certificate;
		total.certificate_count = n;
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
	struct solver_result bad = solver_invalid();
	if (self->lcp.certificate == NULL || problem->variables > self->variables_max ||
	    problem->rows > self->rows_max || !qp_valid(problem))
		return bad;
	bad.status = SOLVER_INEXACT;
	if (!factor(self, problem))
		return bad;
	make_dual(self, problem);
	if (!solver_finite(self->a, (size_t)problem->rows * problem->rows))
		return bad;
	struct solver_options inner = solver_options_used(options);
	inner.warm = options->warm && state != NULL;
	for (uint32_t k = 0; k < problem->rows; k++)
		self->state[k] = inner.warm ? state[k] : LCP_LOWER;
	struct solver_result result = iterate(self, problem, &inner, x, lambda);
	for (uint32_t k = 0; state != NULL && k < problem->rows; k++)
		state[k] = self->state[k];
	result.objective = qp_objective(problem, x);
	qp_violations(problem, x, lambda, &result.violation, &result.stationarity);
	return result;
}
