/* lcp_sparse_newton.c: the method of multipliers, with semismooth Newton steps inside.
 *
 * For multipliers x̄ and ε > 0 the minimum over u of
 *   θ(u) = ½ uᵀu + Σ (C + ε) h((ε x̄ − J u − b) / (C + ε)),   h' = clamp to the row's bounds
 * is where u = Jᵀ x(u), x(u) = clamp((ε x̄ − J u − b) / (C + ε)); then x(u) is the next x̄ (Rockafellar 1976:
 * the proximal point method on the dual, which converges for every ε when there is a solution). θ is
 * strictly convex, its slope is made of pieces of straight lines, and Newton steps with an exact search along
 * the line end after finitely many (Hager and Zhang 2016). In a step the rows strictly between their bounds
 * are equalities.
 *
 * ε goes 1e-2, 1e-4, 1e-6: large ones make weakly active rows harmless and steps long, small ones make
 * few rounds. After each, the active set is tried as it stands, of the clamps and of x in turn,
 * which makes the last digits. What is weakly active in its thousands (a wall at rest, all of whose
 * bricks moved by 1e-8) has no set that stands; then ε stays large, because x is known to 1e-16 / ε
 * only, and the rounds alone end it. Without a solution the differences of x̄ turn into a ray: it
 * is looked at whenever x̄ has grown.
 */
#include <string.h>

#include "server/engine/solvers/lcp_sparse_core.h"

enum { PATIENCE = 8, STEPS = 60, SEARCHES = 40, OUTER = 40, SET_ROUNDS = 6, STALLED = 4 };

#define SOFT_FIRST 1e-2
#define SOFT_LAST 1e-6
#define SOFT_AT_LAST 1e-8
#define SOFT_DOWN 1e-2
#define SOFT_DOWN_FINE 0.1
#define FINE 1e-7 /* of the largest b: a gap from which on ε goes down gently, */
#define SLOW 0.25 /* and only where a round has left more than this of it */
#define NOISE 0x1p-46
#define ACCEPT 0.1 /* of the slope at the start of the line */
#define INNER 1e-2 /* of the change of x̄ the round is about to make */
#define CLOSE 1e-3 /* of the largest b: a gap at which the active set may be right */

static double dot_of(const double *a, const double *b, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double largest_size(const double *values, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = scalar_max(most, scalar_abs(values[i]));
	return most;
}

/* `target` before clamping, force = u − Jᵀ x(u), stiffness; the largest change ε |x(u) − x̄|. */
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

/* Where θ is least along du: the zero of a rising function. 0: du leads nowhere. */
static double search_line(struct lcp_sparse *self, double eps)
{
	size_t n = lcp_sparse_unknowns(self);
	struct line line = { eps, dot_of(self->u, self->du, n), dot_of(self->du, self->du, n) };
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

/* Minimises θ; false when the factors are used up. */
static bool minimise(struct lcp_sparse *self, double eps)
{
	ASSERT(eps > 0);
	size_t n = lcp_sparse_unknowns(self);
	VALIDATE(self->ordered);
	double noise = NOISE / eps * self->size, last = __builtin_inf();
	uint32_t stalled = 0;
	for (uint32_t k = 0; k < STEPS && stalled < STALLED; k++) {
		double move = evaluate(self, eps), force = largest_size(self->force, n);
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

/* Between equalities for all rows that may act, softened. */
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

/* x̄ := x(u), and the ray it moved along. */
static void advance_iterate(struct lcp_sparse *self)
{
	VALIDATE(self->rows <= self->room.rows);
	for (uint32_t i = 0; i < self->rows; i++) {
		double x = scalar_clamp(self->target[i], self->lower[i], self->upper[i]);
		self->ray[i] = x - self->x[i];
		self->x[i] = x;
	}
}

/* The active set as it stands; if it does not, x and u are what they were. */
static bool try_set(struct lcp_sparse *self, uint32_t tries)
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

/* The ε that follows one which left `gap` of the gap `before`. */
static double soften(const struct lcp_sparse *self, double eps, uint32_t outer, double gap,
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
	if (largest_size(self->x, self->rows) > 0)
		lcp_sparse_follow(self, self->x, self->u);
	else
		start_softened(self, eps);
	for (uint32_t outer = 0; outer < OUTER; outer++) {
		if (!minimise(self, eps))
			return false;
		advance_iterate(self);
		double gap = lcp_sparse_gap(self, self->u);
		if (gap <= self->goal && lcp_sparse_apart(self) * self->size <= self->goal)
			return true;
		if (gap <= CLOSE * self->size && try_set(self, tries++))
			return true;
		double size = largest_size(self->x, self->rows);
		if (outer > 1 && size > grown && lcp_sparse_prove(self))
			return false;
		grown = size;
		if (self->result.refactorings >= self->factors_max)
			return false;
		eps = soften(self, eps, outer, gap, before);
		before = gap;
	}
	return false;
}
