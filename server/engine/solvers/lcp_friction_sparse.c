/* lcp_friction_sparse.c: the active set with bounds that follow their normals.
 *
 * Rounds as lcp_sparse's (lcp_sparse_active.c), with ties: a tangent at its limit has x = ±μ x_n, and while
 * the free rows are refined it goes along with its normal. The factor is that of the free rows, symmetric;
 * what the ties add is a fixed point, which each refinement brings closer by a factor of about μ times the
 * coupling of a contact's tangent to its normal. Resting heaps need one or two factors from their last answer.
 *
 *   1. Cold: normals and joints alone, all tangents 0. Without a solution there: INFEASIBLE.
 *   2. The tangents of contacts that push stick, or stand as the warm x says; rounds until no row changes.
 *   3. Friction is not monotone, so no end is proved. If there is none: bounds from the normals of the
 *      round before, as a problem of fixed bounds, which always has a solution; repeated while the true
 *      residual falls. 0 lies within the bounds, so no round adds energy; with sliding rows that is
 *      measured, and friction is left out if it does.
 */
#include "server/engine/solvers/lcp_friction_sparse.h"

#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { TIED = 12, TIED_AGAIN = 6, BOUND_ROUNDS = 100, STALLED = 20, FACTORS_MAX = 1000 };

#define NO_ENERGY 1e-12 /* of the largest b squared */

static bool is_tangent(uint8_t kind)
{
	return kind == FRICTION_STATIC || kind == FRICTION_FORWARD || kind == FRICTION_BACKWARD;
}

static bool valid(const struct friction_sparse_problem *problem)
{
	for (uint32_t i = 0; i < problem->rows.rows; i++) {
		uint8_t kind = problem->kind[i];
		double mu = is_tangent(kind) ? problem->friction[i] : 0;
		if (kind > FRICTION_JOINT || !(mu >= 0 && mu <= SCALAR_MAX) ||
		    (is_tangent(kind) && (i == 0 || problem->kind[i - 1] == FRICTION_JOINT)))
			return false;
	}
	return true;
}

/* Kinds, ties and bounds that do not move. */
static void take(struct lcp_sparse *self, const struct friction_sparse_problem *problem)
{
	double inf = __builtin_inf();
	for (uint32_t i = 0; i < self->rows; i++) {
		uint8_t kind = self->kind[i] = problem->kind[i];
		bool own = !is_tangent(kind);
		self->normal[i] = own ? i : self->normal[i - 1];
		self->side[i] = 0;
		if (own) {
			self->friction[i] = 0;
			self->lower[i] = kind == FRICTION_NORMAL ? 0 : self->lower[i];
			self->upper[i] = kind == FRICTION_NORMAL ? inf : self->upper[i];
			if (kind == FRICTION_JOINT && problem->rows.lower == NULL)
				self->lower[i] = -inf;
			if (kind == FRICTION_JOINT && problem->rows.upper == NULL)
				self->upper[i] = inf;
			self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
			continue;
		}
		int64_t apart = (int64_t)self->row_shift[i] - self->row_shift[self->normal[i]];
		self->friction[i] = scalar_shift(problem->friction[i], apart);
	}
}

/* Bounds of tangents ±μ times the normals' `x`, to stay; 0 without friction. */
static void fix_bounds(struct lcp_sparse *self, const double *x, bool with)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = with ? self->friction[i] * scalar_max(x[self->normal[i]], 0) : 0;
		self->lower[i] = self->kind[i] == FRICTION_FORWARD ? limit : -limit;
		self->upper[i] = self->kind[i] == FRICTION_BACKWARD ? -limit : limit;
		self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
	}
}

/* The gap of x and u by the bounds that x asks for; x stays, so it may be beyond them. */
static double true_gap(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
		self->lower[i] = self->kind[i] == FRICTION_FORWARD ? limit : -limit;
		self->upper[i] = self->kind[i] == FRICTION_BACKWARD ? -limit : limit;
	}
	return lcp_sparse_gap(self, self->u);
}

static double energy(const struct lcp_sparse *self)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * self->x[i];
		sum += self->x[i] * (0.5 * w + self->b[i]);
	}
	return sum;
}

/* Tangents of contacts that push stick; others and the sliding are bound. */
static void begin_sticking(struct lcp_sparse *self, bool warm)
{
	double inside = 0x1p-20;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * self->x[self->normal[i]];
		bool moves = warm && scalar_abs(self->x[i]) >= limit * (1 - inside);
		self->free[i] = self->kind[i] == FRICTION_STATIC && self->free[self->normal[i]] &&
				limit > 0 && !moves;
		self->side[i] = moves ? (self->x[i] >= 0 ? 1 : -1) : 0;
	}
}

/* The rows that act and stick as x says, with bounds that follow. */
static bool tied_rounds(struct lcp_sparse *self, uint32_t rounds, bool cold)
{
	self->tied = true;
	lcp_sparse_free_by_x(self);
	begin_sticking(self, !cold);
	lcp_sparse_tie(self);
	bool good = lcp_sparse_active_set(self, rounds);
	self->tied = false;
	return good;
}

/* Fixed bounds, round after round, and from each the bounds that follow. */
static enum solver_status by_rounds(struct lcp_sparse *self, bool slides)
{
	double *limits = self->kept_fixed, share = 1;
	double best = __builtin_inf(), tried = best, last = best;
	uint32_t since = 0;
	memcpy(limits, self->x, self->rows * sizeof *limits);
	for (uint32_t k = 0; k < BOUND_ROUNDS && since < STALLED; k++) {
		fix_bounds(self, limits, true);
		if (lcp_sparse_run(self, true) == SOLVER_INFEASIBLE)
			return SOLVER_INFEASIBLE;
		double gap = true_gap(self);
		if (gap <= self->goal)
			return SOLVER_SOLVED;
		if (self->result.refactorings >= self->factors_max)
			break;
		if (gap < 0.5 * tried) {
			tried = gap;
			if (tied_rounds(self, TIED_AGAIN, false))
				return SOLVER_SOLVED;
		}
		since = gap < best ? 0 : since + 1;
		share = gap < 0.9 * last ? scalar_min(1, 1.5 * share) : scalar_max(0.25, 0.7 * share);
		last = gap;
		best = scalar_min(best, gap);
		for (uint32_t i = 0; i < self->rows; i++)
			limits[i] += share * (self->x[i] - limits[i]);
	}
	/* What goes out holds for its own bounds. */
	self->result.fallbacks = 1;
	fix_bounds(self, limits, true);
	(void)lcp_sparse_run(self, true);
	if (slides && energy(self) > NO_ENERGY * self->size * self->size) {
		fix_bounds(self, limits, false);
		(void)lcp_sparse_run(self, true);
	}
	return self->result.refactorings >= self->factors_max ? SOLVER_LIMIT : SOLVER_INEXACT;
}

static enum solver_status run(struct lcp_sparse *self, bool warm)
{
	bool slides = false;
	for (uint32_t i = 0; i < self->rows; i++)
		slides = slides || self->kind[i] == FRICTION_FORWARD ||
			 self->kind[i] == FRICTION_BACKWARD;
	if (warm) {
		lcp_sparse_follow(self, self->x, self->u);
		if (true_gap(self) <= self->goal)
			return SOLVER_SOLVED;
	} else {
		fix_bounds(self, self->x, false);
		enum solver_status status = lcp_sparse_run(self, false);
		if (status == SOLVER_INFEASIBLE)
			return status;
	}
	self->result.certificate = NULL;
	if (tied_rounds(self, TIED, !warm))
		return SOLVER_SOLVED;
	return by_rounds(self, slides);
}

struct solver_result lcp_friction_sparse_solve(struct lcp_sparse *self,
					       const struct friction_sparse_problem *problem,
					       const struct solver_options *options, double *x,
					       double (*v)[LCP_BODY])
{
	struct solver_options used = solver_options_used(options);
	self->tied = false;
	enum solver_status status = lcp_sparse_pattern(self, &problem->rows);
	bool good = status == SOLVER_SOLVED && valid(problem) &&
		    lcp_sparse_take(self, &problem->rows, options->warm ? x : NULL);
	if (!good) {
		struct solver_result none = solver_invalid();
		dense_zero(x, problem->rows.rows);
		if (v != NULL && problem->rows.bodies > 0)
			memset(v, 0, problem->rows.bodies * sizeof *v);
		none.status = status == SOLVER_LIMIT ? SOLVER_LIMIT : SOLVER_INVALID;
		return none;
	}
	used.rounds_max = used.rounds_max > 0 ? used.rounds_max : FACTORS_MAX;
	lcp_sparse_begin(self, &used);
	take(self, problem);
	status = run(self, options->warm);
	self->tied = true;
	lcp_sparse_hand_out(self, &problem->rows, x, v);
	status = status == SOLVER_SOLVED ? SOLVER_INEXACT : status;
	self->result.status = self->result.residual <= used.tolerance ? SOLVER_SOLVED : status;
	if (self->result.status != SOLVER_INFEASIBLE)
		self->result.certificate = NULL;
	return self->result;
}
