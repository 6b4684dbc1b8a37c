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
#include "server/engine/math/double_double.h"
#include "server/engine/math/scalar.h"

enum {
	POLISHES = 6,
	REFINEMENTS = 4, /* of a proof: each gains the digits that the factor has */
	ROUNDS = 60,	 /* of the proximal point method with one ρ */
	STALLS = 3,	 /* rounds in a row that do not halve the residual */
	STAGES = 5,
};

#define PROXIMAL                                                                                   \
	1e-4 /* ρ of the largest diagonal entry: smaller spoils A, larger needs more rounds */
#define STAGE 0x1p-7	 /* ρ from stage to stage */
#define ROUGH 1e-3	 /* of the tolerance: good enough not to go on with another ρ */
#define FINE 0x1p-44	 /* a residual above is polished */
#define EXACT 0x1p-50	 /* there is nothing more to gain */
#define ROUNDING 0x1p-46 /* of |x|, in a row of a point far out */
#define FAR_IN 1e-4	 /* a residual below: the multipliers are nearly right */
#define BESIDE 1e3	 /* of the worst slack to be taken out: more than a step leads */
#define RUNAWAY 1e6	 /* of the largest force: multipliers that pull so much may be a proof */
/* Lengths of the problem: INFEASIBLE and UNBOUNDED say that there is nothing within. Less lets rounding of a
 * nearly singular problem pass for a proof; the proofs of contradicting rows reach 1e13 and more. */
#define SIGHT 1e8
/* Lengths of the problem: beside an x so far out, rows that contradict each other by 1e-3 are off by
 * nothing. */
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

/* G + ρ = L Lᵀ; false when it has none. Without ρ a pivot that is rounding counts as none. */
static bool factor_with(struct qp_dual_active_set *self, const struct qp_problem *problem,
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

/* A = C (G + ρ)⁻¹ Cᵀ from the half-solved rows. */
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

/* Pivoting calls a row held when it is off by nothing beside the largest of all slacks. Where 1e-10 is to be
 * taken out beside a wall at 1000, rows without a multiplier are brought near: a row that is met too
 * early makes a step short, never wrong. */
static void bring_near(struct qp_dual_active_set *self, const struct qp_problem *problem,
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

/* One step from x: multipliers into self->lambda, step into self->step. With `from`, multipliers that
 * belong to x, it is only their change that is solved for, so that its rounding is small too. */
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
		bring_near(self, problem, from);
	struct lcp_problem dual = { m, m, self->a, self->b, self->low, self->high };
	struct solver_result result =
		lcp_dantzig_solve(&self->lcp, &dual, options, self->lambda, self->state);
	/* p = p₀ + L⁻ᵀ (L⁻¹ Cᵀ) λ */
	dense_transposed_mul_vec(self->across, m, n, n, self->lambda, self->gradient);
	chol_solve_upper(&self->factor, self->gradient);
	dense_mul_add(self->step, self->gradient, 1, n);
	return result;
}

/* Refines multipliers z that should have Cᵀz = 0: Cᵀz is taken in full and what of it the rows of the
 * pivoting's factor can take back, they take. The largest becomes 1; what pulls is left out. */
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

/* Whether multipliers z are a proof that no point within sight satisfies the rows; then kept. Two kinds
 * of z come here: the direction in which the pivoting found no end, and the multipliers of a round
 * itself: contradicting rows that are independent by no more than the rounding of A have such without
 * measure. */
static bool keep_proof(struct qp_dual_active_set *self, const struct qp_problem *problem,
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

/* What a round is judged by. */
static double measure_round(const struct qp_dual_active_set *self, const struct qp_problem *problem,
			    const double *x, const double *lambda)
{
	return (self->with_gap ? qp_residual : qp_conditions)(problem, x, lambda);
}

/* Active rows that nearly depend on each other have multipliers so large that a round solves the rows
 * no better than to their rounding. Then rounds for changes alone go on from the best one. */
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

/* Whether a round's multipliers are so much larger than its forces that they may be a proof. */
static bool are_without_measure(struct qp_dual_active_set *self, const struct qp_problem *problem)
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
 * total. Ends when that is good, nothing more is gained, or a proof is found (total's status). */
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
		/* Far in, only changes are solved for: of whole multipliers the rounding would be left. */
		const double *from = proximal && total->residual < FAR_IN ? self->held : NULL;
		dense_copy(self->held, self->lambda, problem->rows);
		struct solver_result one = round_from(self, problem, &inner, self->point, from);
		inner.warm = true;
		total->pivots += one.pivots;
		total->rounds++;
		bool endless = one.status == SOLVER_INFEASIBLE;
		if ((endless || are_without_measure(self, problem)) &&
		    keep_proof(self, problem, endless ? one.certificate : self->lambda)) {
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

/* A first ρ: a small part of the largest curvature; without any, one that leads about as far as the
 * planes are. */
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

/* Makes the factor with ρ and the dual from it; false when the numbers do not carry them. */
static bool prepare_dual(struct qp_dual_active_set *self, const struct qp_problem *problem,
			 double proximal)
{
	self->prepared = factor_with(self, problem, proximal);
	if (self->prepared) {
		make_dual(self, problem);
		self->prepared = solver_finite(self->a, (size_t)problem->rows * problem->rows);
	}
	return self->prepared;
}

/* The proximal point method, with ever smaller ρ: each stage goes on from the point before. */
static void approach_proximally(struct qp_dual_active_set *self, const struct qp_problem *problem,
				const struct solver_options *options, double *x, double *lambda,
				struct solver_result *total)
{
	struct solver_options inner = *options;
	double proximal = first_proximal(problem);
	/* From what there is, if that is near: its multipliers as well. */
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

/* Whether the rows admit a point at all: looks for the one nearest to 0, which asks nothing of G and c and
 * does not run away along a ray. total's status becomes INFEASIBLE with a proof, else stays, and UNBOUNDED
 * stays only if there is a point. */
static void look_for_a_point(struct qp_dual_active_set *self, const struct qp_problem *problem,
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

/* If all conditions hold and the gap is left (large multipliers at rows that are off by the rounding of far
 * longer ones), rounds continue by the gap. A G that is indefinite by more than the last ρ has left no factor
 * for them; they then begin with the first ρ. */
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
		approach_proximally(self, problem, options, x, lambda, total);
	self->with_gap = false;
}

/* An answer far out may satisfy rows that contradict each other, to rounding of itself; they are then asked
 * near 0, where it shows. The states of the answer stay. */
static void doubt_far_out(struct qp_dual_active_set *self, const struct qp_problem *problem,
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
	look_for_a_point(self, problem, options, total);
	if (total->status == SOLVER_INFEASIBLE)
		total->residual = __builtin_inf();
	for (uint32_t k = 0; k < problem->rows; k++)
		self->state[k] = self->state_kept[k];
}

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
		approach_proximally(self, problem, options, x, lambda, &total);
	}
	if (total.status != SOLVER_INFEASIBLE && total.residual <= options->tolerance)
		close_gap(self, problem, options, x, lambda, &total);
	if (total.status != SOLVER_INFEASIBLE && !(total.residual <= options->tolerance))
		look_for_a_point(self, problem, options, &total);
	else if (total.status != SOLVER_INFEASIBLE)
		doubt_far_out(self, problem, options, x, &total);
	/* Whatever goes out is told of with its gap. */
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
