/* lcp_sparse_active.c: the active set, many rows at once.
 *
 * With F free and the other x at bounds, the equalities w_F = 0, u = Jᵀ x are solved by refinement:
 *   r = u − Jᵀx,  s = −(J_F u + C x + b)_F
 *   (1 + J_Fᵀ D J_F) du = −r + J_Fᵀ D s,   dx = D (s − J_F du),   D = 1 / (C + ε)
 * Each step takes the errors down by ε over the smallest eigenvalue of A_FF that is not 0, to rounding:
 * dx comes from s and du, which are small, and not from a difference of large numbers over ε.
 * Equalities that contradict each other leave x large and no step forward, and the shortest u in between;
 * what is then pushed the wrong way is bound in the next round.
 * Block changes have no proof of an end; the caller bounds the rounds.
 */
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { REFINEMENTS = 12, REFINEMENTS_TIED = 60, BOLD = 6 };

#define CLEAR 1e-7    /* of the largest b: x counts as away from its bound */
/* After the bold rounds only what is wrong by so much of the worst changes: ends most cycles. */
#define WARY 0.3
#define PROGRESS 0.25 /* each refinement must do better than this */
#define PROGRESS_TIED 0.95

void lcp_sparse_tie_row(struct lcp_sparse *self, uint32_t i)
{
	double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
	bool forward = self->kind[i] == FRICTION_FORWARD;
	bool backward = self->kind[i] == FRICTION_BACKWARD;
	self->lower[i] = forward ? limit : -limit;
	self->upper[i] = backward ? -limit : limit;
	if (self->free[i])
		return;
	self->x[i] = self->side[i] > 0 || forward    ? self->upper[i]
		     : self->side[i] < 0 || backward ? self->lower[i]
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
		self->free[i] = self->x[i] > self->lower[i] + clear &&
				self->x[i] < self->upper[i] - clear;
}

/* One step; the worst |w| of a free row before it. */
static double refine(struct lcp_sparse *self)
{
	size_t n = lcp_sparse_unknowns(self);
	double worst = 0;
	lcp_sparse_follow(self, self->x, self->du);
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

static void solve_free(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++)
		self->stiffness[i] = self->free[i] ? 1 / (self->compliance[i] + self->soft) : 0;
	lcp_sparse_factor(self);
	double last = __builtin_inf();
	uint32_t most = self->tied ? REFINEMENTS_TIED : REFINEMENTS;
	double progress = self->tied ? PROGRESS_TIED : PROGRESS;
	for (uint32_t k = 0; k < most; k++) {
		double worst = refine(self);
		if (worst <= 0.1 * self->goal || (k > 1 && worst > progress * last))
			break;
		last = worst;
	}
}

/* How far a row is from where it stands, 0 when it may stay: a free x beyond its bounds, a bound one that w
 * drives away. */
static double wrong(const struct lcp_sparse *self, uint32_t i)
{
	double x = self->x[i], low = self->lower[i], high = self->upper[i];
	if (self->free[i])
		return scalar_max(low - x, x - high);
	double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * x + self->b[i];
	if (low == high)
		return 0;
	return scalar_max(x < high ? -w : 0, x > low ? w : 0);
}

/* Binds and frees the rows that are wrong by more than the slack, and by more than `share` of the worst;
 * how many. x is left between its bounds. */
static uint32_t change_rows(struct lcp_sparse *self, double share)
{
	uint32_t changes = 0;
	double worst = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->slope[i] = self->weight[i] * wrong(self, i);
		worst = scalar_max(worst, self->slope[i]);
	}
	double slack = scalar_max(self->goal, share * worst);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->slope[i] > slack) {
			self->free[i] = !self->free[i];
			self->side[i] = self->x[i] >= self->upper[i] ? 1 : -1;
			changes++;
		}
		self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
	}
	lcp_sparse_tie(self);
	return changes;
}

bool lcp_sparse_active_set(struct lcp_sparse *self, uint32_t rounds)
{
	memcpy(self->kept, self->x, self->rows * sizeof *self->x);
	for (uint32_t i = 0; i < self->rows; i++)
		if (!self->free[i]) {
			bool high = self->upper[i] - self->x[i] < self->x[i] - self->lower[i];
			self->side[i] = self->lower[i] == self->upper[i] ? 0 : high ? 1 : -1;
			self->x[i] = high ? self->upper[i] : self->lower[i];
		}
	for (uint32_t k = 0; k < rounds && self->result.refactorings < self->factors_max; k++) {
		lcp_sparse_follow(self, self->x, self->u);
		solve_free(self);
		self->result.pivots += change_rows(self, k < BOLD ? 0 : WARY);
		/* u as refined is sharper where impulses are large; else that of x. */
		if (lcp_sparse_gap(self, self->u) <= self->goal &&
		    lcp_sparse_apart(self) * self->size <= self->goal)
			return true;
		lcp_sparse_follow(self, self->x, self->u);
		if (lcp_sparse_gap(self, self->u) <= self->goal)
			return true;
	}
	memcpy(self->x, self->kept, self->rows * sizeof *self->x);
	return false;
}
