/* lcp_sparse_newton.c: the method of multipliers, with semismooth Newton steps inside.
 *
 * For multipliers x̄ and ε > 0 the minimum over u of
 *   θ(u) = ½ uᵀu + Σ (C + ε) h((ε x̄ − J u − b) / (C + ε)),   h' = clamp to the row's bounds
 * is where u = Jᵀ x(u), x(u) = clamp((ε x̄ − J u − b) / (C + ε)); x(u) is the next x̄ (Rockafellar
 * 1976: the proximal point method on the dual, which converges for every ε if there is a solution).
 * θ is strictly convex and its gradient is piecewise linear, so Newton steps with an exact line
 * search end after finitely many (Hager and Zhang 2016). In a step the rows strictly between their
 * bounds are equalities.
 *
 * ε decreases: 1e-2, 1e-4, 1e-6. With a large ε weakly active rows do no harm and steps are long;
 * with a small one few rounds are needed. After each round the active set, from the clamps and from
 * x in turn, is tried, because it gives the last digits. If thousands of rows are weakly active (a
 * wall at rest, all of whose bricks moved by 1e-8), no active set holds. ε then stays large,
 * because x is accurate only to 1e-16 / ε, and the rounds alone reach the goal. If there is no
 * solution, the changes of x̄ become a ray, which is checked as a proof whenever x̄ has grown.
 */
#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { PATIENCE = 8, STEPS = 60, SEARCHES = 40, OUTER = 40, SET_ROUNDS = 6, STALLED = 4 };

#define SOFT_FIRST 1e-2	   /* the first ε */
#define SOFT_LAST 1e-6	   /* the smallest ε in the first PATIENCE rounds, */
#define SOFT_AT_LAST 1e-8  /* and after them */
#define SOFT_DOWN 1e-2	   /* factor of ε after a round */
#define SOFT_DOWN_FINE 0.1 /* the same for a gap of at most FINE, */
#define FINE 1e-7	   /* of the largest b, */
#define SLOW 0.25	   /* if the round left more than this share of the gap */
#define NOISE 0x1p-46	   /* of the largest b, over ε: the rounding of a gradient */
#define ACCEPT 0.1	   /* of the slope at the start of a line search */
#define INNER 1e-2	   /* of the change of x̄ in this round: a gradient small enough */
#define CLOSE 1e-3	   /* of the largest b: a gap for which the active set may be right */

/* At u: target := x(u) before clamping, force := u − Jᵀ x(u), the gradient of θ, and the rows'
 * stiffness. Returns the largest ε |x(u) − x̄|. */
static double evaluate(struct lcp_sparse *self, double eps)
{
	VALIDATE(eps > 0);
	double move = 0;
	memcpy(self->force, self->u, lcp_sparse_unknowns(self) * sizeof *self->u);
	for (uint32_t i = 0; i < self->rows; i++) {
		double soft = self->compliance[i] + eps;
		double at = (eps * self->x[i] - lcp_sparse_row_dot(self, i, self->u) - self->b[i]) /
			    soft;
		double x = scalar_clamp(at, self->lower[i], self->upper[i]);
		bool free = at > self->lower[i] && at < self->upper[i];
		self->target[i] = at;
		self->stiffness[i] = free ? 1 / soft : 0;
		self->result.pivots += free != self->free[i];
		self->free[i] = free;
		move = scalar_max(move, eps * scalar_abs(x - self->x[i]));
		if (x != 0)
			lcp_sparse_row_add(self, i, -x, self->force);
	}
	return move;
}

struct line {
	double eps, along, square; /* u·du, du·du */
};

/* θ' at u + α du, and θ'' there. */
static double slope_at(const struct lcp_sparse *self, const struct line *line, double alpha,
		       double *curve)
{
	double sum = line->along + alpha * line->square;
	*curve = line->square;
	for (uint32_t i = 0; i < self->rows; i++) {
		double soft = self->compliance[i] + line->eps, slope = self->slope[i];
		double at = self->target[i] - alpha * slope / soft;
		double x = scalar_clamp(at, self->lower[i], self->upper[i]);
		sum -= x * slope;
		*curve += x == at ? slope * slope / soft : 0;
	}
	return sum;
}

/* The step along du that minimises θ: the zero of θ', which increases. 0: θ does not fall along du. */
static double search_line(struct lcp_sparse *self, double eps)
{
	uint32_t n = (uint32_t)lcp_sparse_unknowns(self);
	struct line line = { eps, dense_dot(self->u, self->du, n),
			     dense_dot(self->du, self->du, n) };
	double curve = 0, low = 0, high = __builtin_inf(), alpha = 1;
	for (uint32_t i = 0; i < self->rows; i++)
		self->slope[i] = lcp_sparse_row_dot(self, i, self->du);
	double begin = slope_at(self, &line, 0, &curve);
	if (!(begin < 0))
		return 0;
	for (uint32_t k = 0; k < SEARCHES; k++) {
		double slope = slope_at(self, &line, alpha, &curve);
		if (scalar_abs(slope) <= -ACCEPT * begin)
			break;
		*(slope > 0 ? &high : &low) = alpha;
		double next = alpha - slope / curve;
		if (!(next > low && next < high))
			next = high <= SCALAR_MAX ? 0.5 * (low + high) : 2 * alpha;
		alpha = next;
	}
	return alpha;
}

/* Minimises θ over u. False: factors_max is reached. */
static bool minimise(struct lcp_sparse *self, double eps)
{
	ASSERT(eps > 0);
	size_t n = lcp_sparse_unknowns(self);
	VALIDATE(self->ordered);
	double noise = NOISE / eps * self->size, last = __builtin_inf();
	uint32_t stalled = 0;
	for (uint32_t k = 0; k < STEPS && stalled < STALLED; k++) {
		double move = evaluate(self, eps), force = lcp_sparse_largest(self->force, n);
		if (k > 0 && force <= scalar_max(INNER * move, noise))
			return true;
		stalled = force < 0.5 * last || force > 1024 * noise ? 0 : stalled + 1;
		last = force;
		if (self->result.refactorings >= self->factors_max)
			return false;
		lcp_sparse_factor(self);
		for (size_t i = 0; i < n; i++)
			self->du[i] = -self->force[i];
		chol_block_solve(&self->factor, self->du);
		double alpha = search_line(self, eps);
		if (alpha == 0)
			return true;
		for (size_t i = 0; i < n; i++)
			self->u[i] += alpha * self->du[i];
	}
	(void)evaluate(self, eps);
	return true;
}

/* The first u: all rows that may be active as equalities with compliance ε. */
static void start_softened(struct lcp_sparse *self, double eps)
{
	memset(self->du, 0, lcp_sparse_unknowns(self) * sizeof *self->du);
	for (uint32_t i = 0; i < self->rows; i++) {
		bool on = self->b[i] <= 0 || self->lower[i] < 0;
		self->stiffness[i] = on ? 1 / (self->compliance[i] + eps) : 0;
		if (on)
			lcp_sparse_row_add(self, i, -self->b[i] * self->stiffness[i], self->du);
	}
	lcp_sparse_factor(self);
	chol_block_solve(&self->factor, self->du);
	memcpy(self->u, self->du, lcp_sparse_unknowns(self) * sizeof *self->u);
}

/* x̄ := x(u); ray := its change. */
static void advance_iterate(struct lcp_sparse *self)
{
	VALIDATE(self->rows <= self->capacity.rows);
	for (uint32_t i = 0; i < self->rows; i++) {
		double x = scalar_clamp(self->target[i], self->lower[i], self->upper[i]);
		self->ray[i] = x - self->x[i];
		self->x[i] = x;
	}
}

/* Rounds of the active set from the present iterate. False: they did not end, and x and u are
 * restored. */
static bool try_active_set(struct lcp_sparse *self, uint32_t tries)
{
	VALIDATE(self->ordered);
	static const double times[] = { 1, 0.1, 10, 0.01, 0.001 };
	size_t bytes = lcp_sparse_unknowns(self) * sizeof *self->u;
	double soft = self->soft;
	memcpy(self->kept_u, self->u, bytes);
	if (tries % 2 == 1)
		lcp_sparse_free_by_x(self);
	self->soft = soft * times[tries % COUNT_OF(times)];
	bool good = lcp_sparse_active_set(self, SET_ROUNDS);
	self->soft = soft;
	if (!good)
		memcpy(self->u, self->kept_u, bytes);
	return good;
}

/* The next ε, after a round that reduced the gap from `before` to `gap`. */
static double next_epsilon(const struct lcp_sparse *self, double eps, uint32_t outer, double gap,
			   double before)
{
	ASSERT(eps > 0);
	double least = outer < PATIENCE ? SOFT_LAST : SOFT_AT_LAST;
	if (gap > FINE * self->size)
		return scalar_max(least, SOFT_DOWN * eps);
	return outer > 0 && gap <= SLOW * before ? eps : scalar_max(least, SOFT_DOWN_FINE * eps);
}

bool lcp_sparse_multipliers(struct lcp_sparse *self)
{
	ASSERT(self->ordered);
	double eps = SOFT_FIRST, grown = 0, before = 0;
	uint32_t tries = 0;
	if (lcp_sparse_largest(self->x, self->rows) > 0)
		lcp_sparse_transposed_mul(self, self->x, self->u);
	else
		start_softened(self, eps);
	for (uint32_t outer = 0; outer < OUTER; outer++) {
		if (!minimise(self, eps))
			return false;
		advance_iterate(self);
		double gap = lcp_sparse_gap(self, self->u);
		if (gap <= self->goal && lcp_sparse_velocity_error(self) * self->size <= self->goal)
			return true;
		if (gap <= CLOSE * self->size && try_active_set(self, tries++))
			return true;
		double size = lcp_sparse_largest(self->x, self->rows);
		if (outer > 1 && size > grown && lcp_sparse_prove(self))
			return false;
		grown = size;
		if (self->result.refactorings >= self->factors_max)
			return false;
		eps = next_epsilon(self, eps, outer, gap, before);
		before = gap;
	}
	return false;
}
