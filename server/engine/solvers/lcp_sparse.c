/* lcp_sparse.c: min ½ xᵀA x + bᵀx between bounds, by projected Newton steps (Bertsekas 1982).
 *
 * Its conditions are the complementarity problem. A round: rows at a bound that w holds there are
 * fixed; on the others d = −(A + ε)⁻¹ w, with a sparse L D Lᵀ in an order that was chosen once
 * (AMD) for the whole pattern, so that every subset fits into the same room; then x := clamp(x + α
 * d), α = 1, ½, ¼ … until the value falls enough. Sweeps of projected Gauss–Seidel before and
 * between find the active set roughly. All of it only lowers the value, so no set of rows can come
 * again for ever, however degenerate. ε is `regularisation` of the diagonal (redundant contacts
 * make A singular); since w is the true one, repeated steps remove it: the last rounds are
 * iterative refinement.
 *
 * What goes wrong: a factor larger than the workspace, no solution, rounds used up: LIMIT; the
 * value does not fall any more before the tolerance is met: INEXACT. The residual is that of what
 * goes out.
 */
#include "server/engine/solvers/lcp_sparse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/math/scalar.h"

enum { SWEEPS_FIRST = 150, SWEEPS = 10, ROUNDS_MAX = 300, HALVINGS = 20 };

static void carve(struct lcp_sparse *self, struct solver_memory *memory, uint32_t rows,
		  uint32_t entries, size_t fill)
{
	size_t n = rows;
	struct ldl_sparse *factor = &self->factor;
	double **doubles[] = {&self->b,    &self->lower,  &self->upper,     &self->scale,
			      &self->x,    &self->w,      &self->next,      &self->next_w,
			      &self->step, &factor->work, &factor->diagonal};
	uint32_t **counts[] = {&self->order,      &self->place,   &self->row_of, &self->unknown_of,
			       &factor->parent,   &factor->count, &factor->flag, &factor->pattern,
			       &self->half_start, &factor->start};
	self->rows_max = rows;
	self->entries_max = entries;
	for (uint32_t i = 0; i < COUNT_OF(doubles); i++)
		*doubles[i] = SOLVER_CARVE(memory, double, n);
	for (uint32_t i = 0; i < COUNT_OF(counts); i++)
		*counts[i] = SOLVER_CARVE(memory, uint32_t, n + 1);
	self->free = SOLVER_CARVE(memory, uint8_t, n);
	self->value = SOLVER_CARVE(memory, double, entries);
	self->half_row = SOLVER_CARVE(memory, uint32_t, entries);
	self->half_value = SOLVER_CARVE(memory, double, entries);
	factor->entries_max = fill;
	factor->row = SOLVER_CARVE(memory, uint32_t, fill);
	factor->value = SOLVER_CARVE(memory, double, fill);
}

size_t lcp_sparse_bytes(uint32_t rows, uint32_t entries, size_t fill)
{
	struct lcp_sparse self;
	struct solver_memory memory = {0};
	carve(&self, &memory, rows, entries, fill);
	return memory.used;
}

void lcp_sparse_init(struct lcp_sparse *self, void *memory, uint32_t rows, uint32_t entries,
		     size_t fill)
{
	struct solver_memory carving = {.memory = memory};
	carve(self, &carving, rows, entries, fill);
}

/* The upper triangle of A + ε among free rows, in the elimination order; how many. */
static uint32_t gather(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		       double extra)
{
	uint32_t unknowns = 0, entries = 0;
	for (uint32_t k = 0; k < problem->count; k++) {
		uint32_t i = self->order[k];
		self->unknown_of[i] = self->free[i] ? unknowns : UINT32_MAX;
		if (!self->free[i])
			continue;
		self->row_of[unknowns] = i;
		self->half_start[unknowns++] = entries;
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++) {
			uint32_t j = problem->column[p];
			if (!self->free[j] || self->place[j] > k)
				continue;
			self->half_row[entries] = self->unknown_of[j];
			self->half_value[entries++] =
				i == j ? self->value[p] + extra : self->value[p];
		}
	}
	self->half_start[unknowns] = entries;
	return unknowns;
}

enum status lcp_sparse_order(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			     size_t *fill)
{
	uint32_t n = problem->count;
	ASSERT(n <= self->rows_max && problem->start[n] <= self->entries_max);
	enum status status = order_amd(n, problem->start, problem->column, self->order);
	for (uint32_t k = 0; k < n; k++) {
		self->place[self->order[k]] = k;
		self->free[k] = 1;
	}
	dense_copy(self->value, problem->value, problem->start[n]);
	uint32_t unknowns = gather(self, problem, 0);
	*fill = ldl_sparse_analyse(&self->factor, unknowns, self->half_start, self->half_row);
	return status;
}

static bool valid(const struct lcp_sparse_problem *problem)
{
	uint32_t n = problem->count;
	if (!solver_finite(problem->value, problem->start[n]) || !solver_finite(problem->b, n))
		return false;
	for (uint32_t i = 0; i < n && problem->lower != NULL; i++)
		if (!(problem->lower[i] <= problem->upper[i]) || problem->lower[i] > SCALAR_MAX ||
		    problem->upper[i] < -SCALAR_MAX)
			return false;
	return true;
}

/* 2^k that brings a near 1. */
static double scale_of(double a)
{
	double scale = 1;
	for (; a * scale * scale >= 2 && scale > 0x1p-400; scale *= 0.5)
		;
	for (; a > 0 && a * scale * scale < 0.5 && scale < 0x1p400; scale *= 2)
		;
	return scale;
}

static void take(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, const double *x)
{
	for (uint32_t i = 0; i < problem->count; i++) {
		self->scale[i] = 1;
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			if (problem->column[p] == i)
				self->scale[i] = scale_of(problem->value[p]);
	}
	for (uint32_t i = 0; i < problem->count; i++) {
		double scale = self->scale[i];
		bool bounds = problem->lower != NULL;
		self->b[i] = problem->b[i] * scale;
		self->lower[i] = bounds ? problem->lower[i] / scale : 0;
		self->upper[i] = bounds ? problem->upper[i] / scale : __builtin_inf();
		double from = x != NULL && scalar_is_finite(x[i]) ? x[i] / scale : 0;
		self->x[i] = scalar_clamp(from, self->lower[i], self->upper[i]);
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			self->value[p] =
				problem->value[p] * scale * self->scale[problem->column[p]];
	}
}

static void multiply(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		     const double *x, double *w)
{
	for (uint32_t i = 0; i < problem->count; i++) {
		double sum = self->b[i];
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			sum += self->value[p] * x[problem->column[p]];
		w[i] = sum;
	}
}

/* ½ xᵀA x + bᵀx, with w = A x + b. */
static double value_of(const struct lcp_sparse *self, const double *x, const double *w, uint32_t n)
{
	return 0.5 * (dense_dot(x, w, n) + dense_dot(x, self->b, n));
}

static double residual_of(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem)
{
	double worst = 0, most = 0;
	for (uint32_t i = 0; i < problem->count; i++) {
		double x = self->x[i], gap = x - self->w[i];
		gap = scalar_abs(x - scalar_clamp(gap, self->lower[i], self->upper[i]));
		if (!scalar_is_finite(gap))
			return __builtin_inf();
		worst = scalar_max(worst, gap);
		most = scalar_max(most, scalar_abs(self->b[i]));
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			most = scalar_max(most,
					  scalar_abs(self->value[p] * self->x[problem->column[p]]));
	}
	return worst == 0 ? 0 : worst / most;
}

/* Projected Gauss–Seidel, forth and back. */
static void sweep(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, uint32_t times)
{
	uint32_t n = problem->count;
	for (uint32_t k = 0; k < 2 * times; k++)
		for (uint32_t r = 0; r < n; r++) {
			uint32_t i = k % 2 == 0 ? r : n - 1 - r;
			double sum = self->b[i], own = 0;
			for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++) {
				uint32_t j = problem->column[p];
				sum += self->value[p] * self->x[j];
				own = j == i ? self->value[p] : own;
			}
			if (own > 0)
				self->x[i] = scalar_clamp(self->x[i] - sum / own, self->lower[i],
							  self->upper[i]);
		}
	multiply(self, problem, self->x, self->w);
}

/* Which rows may move; false when they are those of the round before. */
static bool choose_free(struct lcp_sparse *self, uint32_t count, double slack)
{
	bool changed = self->result.refactorings == 0;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t now = !(self->x[i] <= self->lower[i] && self->w[i] > -slack) &&
			      !(self->x[i] >= self->upper[i] && self->w[i] < slack);
		changed |= now != self->free[i];
		self->free[i] = now;
	}
	return changed;
}

/* The Newton step on the rows that are free; false when the factor does not fit. */
static bool newton(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, double extra,
		   double slack)
{
	if (choose_free(self, problem->count, slack)) {
		self->unknowns = gather(self, problem, extra);
		if (ldl_sparse_analyse(&self->factor, self->unknowns, self->half_start,
				       self->half_row) > self->factor.entries_max)
			return false;
		ldl_sparse_factor(&self->factor, self->half_start, self->half_row, self->half_value,
				  0x1p-50);
		self->result.refactorings++;
		self->result.regularisations += self->factor.helped;
	}
	for (uint32_t k = 0; k < self->unknowns; k++)
		self->next[k] = -self->w[self->row_of[k]];
	ldl_sparse_solve(&self->factor, self->next);
	dense_zero(self->step, problem->count);
	for (uint32_t k = 0; k < self->unknowns; k++)
		self->step[self->row_of[k]] = self->next[k];
	return true;
}

/* Goes along the projected step as far as the value falls; false when it does not. */
static bool search(struct lcp_sparse *self, const struct lcp_sparse_problem *problem)
{
	uint32_t n = problem->count;
	double before = value_of(self, self->x, self->w, n), alpha = 1;
	double size = scalar_abs(before);
	for (uint32_t k = 0; k < HALVINGS; k++, alpha *= 0.5) {
		double fall = 0;
		for (uint32_t i = 0; i < n; i++) {
			self->next[i] = scalar_clamp(self->x[i] + alpha * self->step[i],
						     self->lower[i], self->upper[i]);
			fall += self->w[i] * (self->next[i] - self->x[i]);
		}
		multiply(self, problem, self->next, self->next_w);
		double after = value_of(self, self->next, self->next_w, n);
		/* At the end falls drown in rounding: then full steps are refinement. */
		if (after <= before + 1e-4 * fall || (k == 0 && scalar_abs(fall) <= 1e-12 * size)) {
			dense_copy(self->x, self->next, n);
			dense_copy(self->w, self->next_w, n);
			return true;
		}
	}
	return false;
}

struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x)
{
	uint32_t n = problem->count;
	ASSERT(n <= self->rows_max && problem->start[n] <= self->entries_max);
	self->result =
		(struct solver_result){.status = SOLVER_NOT_FINITE, .residual = __builtin_inf()};
	if (!valid(problem)) {
		dense_zero(x, n);
		return self->result;
	}
	uint32_t rounds = options->rounds_max > 0 ? options->rounds_max : ROUNDS_MAX;
	self->result.status = SOLVER_LIMIT;
	take(self, problem, options->warm ? x : NULL);
	multiply(self, problem, self->x, self->w);
	double before = residual_of(self, problem);
	if (before > options->tolerance && !options->warm)
		sweep(self, problem, SWEEPS_FIRST);
	for (uint32_t round = 0;; round++) {
		double residual = residual_of(self, problem);
		double slack = 1e-3 * options->tolerance * dense_max_abs(self->b, n);
		if (residual <= 0.01 * options->tolerance)
			break;
		if (round >= rounds || !newton(self, problem, options->regularisation, slack))
			break;
		self->result.rounds++;
		bool fell = search(self, problem);
		residual = residual_of(self, problem);
		if (residual > 1e3 * options->tolerance)
			sweep(self, problem, SWEEPS);
		else if (!fell)
			break;
	}
	for (uint32_t i = 0; i < n; i++)
		x[i] = self->x[i] * self->scale[i];
	self->result.residual = residual_of(self, problem);
	if (self->result.residual <= options->tolerance)
		self->result.status = SOLVER_SOLVED;
	return self->result;
}
