/* lcp_sparse_active.c: rounds of the active set, which change many rows at once.
 *
 * With F the free rows and the other x at bounds, refinement solves the equalities w_F = 0, u = Jᵀ x:
 *   r = u − Jᵀx,  s = −(J_F u + C x + b)_F
 *   (1 + J_Fᵀ D J_F) du = −r + J_Fᵀ D s,   dx = D (s − J_F du),   D = 1 / (C + ε)
 * Each step multiplies the errors by ε over the smallest non-zero eigenvalue of A_FF, down to rounding,
 * because dx is computed from s and du, which are small, and not as a difference of large numbers
 * over ε. If equalities contradict each other, x grows, the refinement makes no progress, and u is
 * the shortest compromise; the next round binds the rows whose x has the wrong sign. No proof
 * exists that rounds which change many rows end, so the caller limits their number.
 */
#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum {
	REFINEMENTS = 12,
	REFINEMENTS_TIED = 40,
	PATIENCE_TIED = 6,
	ROUNDS_ALL = 6,
	ROUNDS_DETERMINED = 8
};

/* Limits for large problems with ties, whose x may grow without end. Relative to b, of which the
 * largest is about 1: a larger gap after a round means divergence. */
#define DIVERGED 1e4
/* Of the largest b: two larger errors before a refinement mean divergence. */
#define ERROR_LARGE 1e3
#define CLEAR 1e-7 /* of the largest b: x counts as away from its bound */
/* After ROUNDS_ALL rounds only rows change whose error is at least this share of the worst, which ends
 * most cycles. */
#define WORST_SHARE 0.3
/* A refinement that leaves more than this share of the error is slow. The first slow one ends the
 * refinement; with ties, more than PATIENCE_TIED in a row do. */
#define PROGRESS 0.25
#define PROGRESS_TIED 0.95
/* Of a coarse error: rows that are wrong by more change without a finer solution. */
#define COARSE_WRONG 3

void lcp_sparse_tie_row(struct lcp_sparse *self, uint32_t i)
{
	VALIDATE(i < self->rows && self->normal[i] != i);
	double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
	bool forward = self->kind[i] == FRICTION_FORWARD;
	bool backward = self->kind[i] == FRICTION_BACKWARD;
	struct lcp_span span = lcp_sparse_span(self, i, limit);
	self->lower[i] = span.low;
	self->upper[i] = span.high;
	if (self->free[i])
		return;
	self->x[i] = self->side[i] > 0 || forward    ? span.high
		     : self->side[i] < 0 || backward ? span.low
						     : 0;
}

void lcp_sparse_tie(struct lcp_sparse *self)
{
	for (uint32_t i = 0; self->tied && i < self->rows; i++)
		if (self->normal[i] != i)
			lcp_sparse_tie_row(self, i);
}

void lcp_sparse_free_by_x(struct lcp_sparse *self)
{
	double clear = CLEAR * self->size;
	for (uint32_t i = 0; i < self->rows; i++)
		self->free[i] =
			self->x[i] > self->lower[i] + clear && self->x[i] < self->upper[i] - clear;
}

/* One refinement; returns the worst |w| of a free row before it (with ties, also the worst |r|). */
static double refine_free(struct lcp_sparse *self)
{
	size_t n = lcp_sparse_unknowns(self);
	double worst = 0;
	lcp_sparse_transposed_mul(self, self->x, self->du);
	for (size_t k = 0; k < n; k++) {
		self->du[k] -= self->u[k];
		worst = scalar_max(worst, scalar_abs(self->du[k]));
	}
	worst = self->tied ? worst : 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (!self->free[i])
			continue;
		double s = -(lcp_sparse_row_dot(self, i, self->u) +
			     self->compliance[i] * self->x[i] + self->b[i]);
		self->w[i] = s;
		worst = scalar_max(worst, self->weight[i] * scalar_abs(s));
		lcp_sparse_row_add(self, i, s * self->stiffness[i], self->du);
	}
	chol_block_solve(&self->factor, self->du);
	for (uint32_t i = 0; i < self->rows; i++)
		if (self->free[i])
			self->x[i] += (self->w[i] - lcp_sparse_row_dot(self, i, self->du)) *
				      self->stiffness[i];
	for (size_t k = 0; k < n; k++)
		self->u[k] += self->du[k];
	lcp_sparse_tie(self);
	return worst;
}

/* ---- ties ----------------------------------------------------------------------------------------
 *
 * With ties a refinement is one step of an affine fixed-point iteration: from x of the bound
 * tangents it computes new normals, and from these new x of the tangents. Steps are combined so
 * that the change of x in a step is smallest (Anderson 1965; for affine maps this is GMRES).
 * Without it a contact whose sliding nearly cancels its own normal (Painlevé's rod, 1.6 − 1.2 μ)
 * needs thousands of steps. */

/* moved := the change of x of the bound tangents since `before`; 0 in other rows. */
static void measure_tie_changes(const struct lcp_sparse *self, const double *before, double *moved)
{
	for (uint32_t i = 0; i < self->rows; i++)
		moved[i] = self->normal[i] != i && !self->free[i] ? self->x[i] - before[i] : 0;
}

/* The products of `v` with the first `count` changes. Their sums, each in the order of the rows, advance
 * together, because each alone waits for its last addition. */
static void multiply_by_changes(const struct lcp_sparse *self, const double *v, uint32_t count,
				double products[LCP_MIX])
{
	ASSERT(count <= LCP_MIX);
	const double *changes = self->mix_moved;
	size_t rows = self->rows;
	double sum[LCP_MIX] = { 0 };
	for (size_t i = 0; i < rows && count == LCP_MIX; i++)
		for (uint32_t j = 0; j < LCP_MIX; j++)
			sum[j] += changes[j * rows + i] * v[i];
	for (uint32_t j = 0; j < count; j++)
		products[j] =
			count == LCP_MIX ? sum[j] : dense_dot(changes + j * rows, v, self->rows);
}

/* The products of change `at` with the first `count` ones, itself included, of which no other has changed. */
static void multiply_changes(struct lcp_sparse *self, uint32_t at, uint32_t count)
{
	ASSERT(at < count && count <= LCP_MIX);
	multiply_by_changes(self, self->mix_moved + (size_t)at * self->rows, count,
			    self->mix_products[at]);
	for (uint32_t k = 0; k < count; k++)
		self->mix_products[k][at] = self->mix_products[at][k];
}

/* Least squares of moved ≈ Σ γ_j change_j over `count` changes; γ of a change that depends on those
 * before it is 0. */
static void least_squares(const struct lcp_sparse *self, const double *moved, uint32_t count,
			  double *gamma)
{
	ASSERT(count <= LCP_MIX);
	double l[LCP_MIX][LCP_MIX], right[LCP_MIX];
	multiply_by_changes(self, moved, count, right);
	for (uint32_t j = 0; j < count; j++)
		for (uint32_t k = 0; k <= j; k++)
			l[j][k] = self->mix_products[j][k];
	for (uint32_t j = 0; j < count; j++) {
		double own = l[j][j];
		for (uint32_t k = 0; k < j; k++) {
			for (uint32_t i = 0; i < k; i++)
				l[j][k] -= l[j][i] * l[k][i];
			l[j][k] = l[k][k] > 0 ? l[j][k] / l[k][k] : 0;
			l[j][j] -= l[j][k] * l[j][k];
		}
		l[j][j] = l[j][j] > 0x1p-44 * own ? scalar_sqrt(l[j][j]) : 0;
		for (uint32_t k = 0; k < j; k++)
			right[j] -= l[j][k] * right[k];
		right[j] = l[j][j] > 0 ? right[j] / l[j][j] : 0;
	}
	for (uint32_t j = count; j-- > 0;) {
		gamma[j] = right[j];
		for (uint32_t k = j + 1; k < count; k++)
			gamma[j] -= l[k][j] * gamma[k];
		gamma[j] = l[j][j] > 0 ? gamma[j] / l[j][j] : 0;
	}
}

/* After refinement k: stores the changes since refinement k − 1 in a ring of LCP_MIX, and combines
 * them. mix_last: u, x and `moved` of the last refinement. */
static void combine_refinements(struct lcp_sparse *self, uint32_t k, const double *before)
{
	VALIDATE(self->tied);
	size_t rows = self->rows, n = lcp_sparse_unknowns(self);
	double *moved = self->target, *last_u = self->mix_last, *last_x = last_u + n,
	       *last_moved = last_x + rows;
	double gamma[LCP_MIX];
	measure_tie_changes(self, before, moved);
	uint32_t count = MIN_OF(k, LCP_MIX), at = (k - 1) % LCP_MIX;
	if (k > 0) {
		double *change = self->mix_step + at * (n + rows),
		       *own = self->mix_moved + at * rows;
		for (size_t i = 0; i < n; i++)
			change[i] = self->u[i] - last_u[i];
		for (size_t i = 0; i < rows; i++) {
			change[n + i] = self->x[i] - last_x[i];
			own[i] = moved[i] - last_moved[i];
		}
		multiply_changes(self, at, count);
	}
	memcpy(last_u, self->u, n * sizeof *last_u);
	memcpy(last_x, self->x, rows * sizeof *last_x);
	memcpy(last_moved, moved, rows * sizeof *last_moved);
	least_squares(self, moved, count, gamma);
	for (uint32_t j = 0; j < count; j++) {
		const double *change = self->mix_step + j * (n + rows);
		if (gamma[j] == 0)
			continue;
		dense_mul_add(self->u, change, -gamma[j], (uint32_t)n);
		dense_mul_add(self->x, change + n, -gamma[j], self->rows);
	}
	lcp_sparse_tie(self);
}

/* Whether x of a bound tangent depends on a free normal. */
static bool has_tied_unknowns(const struct lcp_sparse *self)
{
	for (uint32_t i = 0; self->tied && i < self->rows; i++)
		if (self->normal[i] != i && !self->free[i] && self->friction[i] > 0 &&
		    self->free[self->normal[i]] &&
		    (self->side[i] != 0 || self->kind[i] != FRICTION_STATIC))
			return true;
	return false;
}

/* Refines the equalities of the free rows, which are factored, until their error is at most `enough`. Sets
 * self->diverged. */
static void refine_until(struct lcp_sparse *self, double enough)
{
	ASSERT(enough >= 0);
	double last = __builtin_inf();
	bool bound = has_tied_unknowns(self);
	bool large = self->tied && !lcp_sparse_is_small(self);
	uint32_t most = bound ? REFINEMENTS_TIED : REFINEMENTS, slow = 0, wild = 0;
	for (uint32_t k = 0; k < most && !self->diverged; k++) {
		if (bound)
			memcpy(self->ray, self->x, self->rows * sizeof *self->x);
		double worst = refine_free(self);
		wild += worst > ERROR_LARGE * self->size;
		self->diverged = large && wild > 1;
		slow = worst > (bound ? PROGRESS_TIED : PROGRESS) * last ? slow + 1 : 0;
		if (worst <= enough || (k > 1 && slow > (bound ? PATIENCE_TIED : 0)))
			break;
		last = worst;
		if (bound)
			combine_refinements(self, k, self->ray);
	}
}

/* Factors the equalities of the free rows, and refines them. */
static void solve_free(struct lcp_sparse *self, double enough)
{
	VALIDATE(self->soft > 0);
	for (uint32_t i = 0; i < self->rows; i++)
		self->stiffness[i] = self->free[i] ? 1 / (self->compliance[i] + self->soft) : 0;
	lcp_sparse_factor(self);
	refine_until(self, enough);
}

/* The amount by which the state of a row is wrong; ≤ 0 if it is right. Of a free row: x beyond a
 * bound; of a bound one: the w that drives it away from its bound. */
static double row_error(const struct lcp_sparse *self, uint32_t i)
{
	VALIDATE(i < self->rows);
	double x = self->x[i], low = self->lower[i], high = self->upper[i];
	if (self->free[i])
		return scalar_max(low - x, x - high);
	double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * x + self->b[i];
	if (low == high)
		return 0;
	return scalar_max(x < high ? -w : 0, x > low ? w : 0);
}

/* With ties, rounds that change many rows cycle more often. From round ROUNDS_DETERMINED on, the worst
 * row and a pseudo-random half of the others change. */
static bool is_chosen_at_random(uint32_t i, uint32_t round)
{
	return (((i * 0x9e3779b1u) ^ (round * 0x85ebca6bu)) * 0xc2b2ae35u >> 31) != 0;
}

/* Binds or frees the rows whose error exceeds `least` (after ROUNDS_ALL rounds, also a share of the
 * worst), and returns their number. x is then within its bounds. */
static uint32_t change_rows(struct lcp_sparse *self, uint32_t round, double least)
{
	double share = round < ROUNDS_ALL ? 0 : WORST_SHARE;
	bool at_random = self->tied && round >= ROUNDS_DETERMINED;
	uint32_t changes = 0;
	double worst = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->slope[i] = self->weight[i] * row_error(self, i);
		worst = scalar_max(worst, self->slope[i]);
	}
	double slack = scalar_max(least, share * worst);
	for (uint32_t i = 0; i < self->rows; i++) {
		bool chosen =
			!at_random || self->slope[i] == worst || is_chosen_at_random(i, round);
		if (self->slope[i] > slack && chosen) {
			self->free[i] = !self->free[i];
			self->side[i] = self->x[i] >= self->upper[i] ? 1 : -1;
			changes++;
		}
		self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
	}
	lcp_sparse_tie(self);
	return changes;
}

/* Solves with the free rows and changes those that are wrong. False: rows changed that a coarse solution
 * shows to be wrong, so there is no use in its gap. *still: no row changed. */
static bool make_round(struct lcp_sparse *self, uint32_t round, bool *still)
{
	*still = false;
	double fine = 0.1 * self->goal;
	/* In large problems rows that change by a coarse solution cycle. */
	bool coarse = self->tied && lcp_sparse_is_small(self) && self->coarse > self->goal;
	solve_free(self, coarse ? self->coarse : fine);
	if (coarse) {
		uint32_t changes = change_rows(self, round, COARSE_WRONG * self->coarse);
		self->result.pivots += changes;
		if (changes > 0 && !self->diverged)
			return false;
		refine_until(self, fine);
	}
	uint32_t changes = change_rows(self, round, self->goal);
	self->result.pivots += changes;
	*still = changes == 0;
	return true;
}

bool lcp_sparse_active_set(struct lcp_sparse *self, uint32_t rounds)
{
	self->diverged = false;
	memcpy(self->kept, self->x, self->rows * sizeof *self->x);
	for (uint32_t i = 0; i < self->rows; i++)
		if (!self->free[i]) {
			bool high = self->upper[i] - self->x[i] < self->x[i] - self->lower[i];
			self->side[i] = self->lower[i] == self->upper[i] ? 0 : high ? 1 : -1;
			self->x[i] = high ? self->upper[i] : self->lower[i];
		}
	for (uint32_t k = 0; k < rounds && self->result.refactorings < self->factors_max; k++) {
		lcp_sparse_transposed_mul(self, self->x, self->u);
		bool still;
		if (!make_round(self, k, &still))
			continue;
		/* The refined u is more accurate than Jᵀ x if impulses are large. */
		if (lcp_sparse_gap(self, self->u) <= self->goal &&
		    lcp_sparse_velocity_error(self) * self->size <= self->goal)
			return true;
		lcp_sparse_transposed_mul(self, self->x, self->u);
		double gap = lcp_sparse_gap(self, self->u);
		/* Rows that depend on others contradict them by rounding: rounds that change nothing come no
		 * nearer, and what other methods find from there is worse. */
		if (gap <= (still ? LCP_SPARSE_STILL : 1) * self->goal)
			return true;
		self->diverged |= self->tied && !lcp_sparse_is_small(self) && gap > DIVERGED;
		if (self->diverged)
			break;
	}
	memcpy(self->x, self->kept, self->rows * sizeof *self->x);
	return false;
}
