/* lcp_friction_sparse.c: the active set with bounds that follow their normals.
 *
 * Rounds as lcp_sparse's (lcp_sparse_active.c), with ties: a tangent at its limit has x = ±μ x_n,
 * and while the free rows are refined it goes along with its normal. The factor is that of the free
 * rows, symmetric; what the ties add is a fixed point, whose steps are combined (Anderson). Resting
 * heaps need one or two factors from their last answer.
 *
 *   1. Warm: the rows that act, stick and slide as x says; rounds until none changes.
 *   2. Normals and joints alone, then their tangents stick and rounds are made from there: what
 * rests in order, as walls do. No solution without friction: INFEASIBLE.
 *   3. The cones (lcp_friction_cone.c): convex problems shifted until they are the true one, and
 * from them a round of the set. In islands of more than LARGE rows what they leave is the answer,
 *      INEXACT: a heap of 500 boxes has 15 rows a body, its impulses are far from unique, and no
 * set of them was found to stand.
 *   4. Smaller ones: 2 with patience, then bounds from the normals of the round before, as a
 * problem of fixed bounds, which always has a solution; repeated while the true residual falls. 0
 * lies within the bounds, so no round adds energy; with sliding rows that is measured, and friction
 * is left out if it does. Of 3 and 4 the closer one goes out.
 *
 * Rounds of the set by themselves run off in heaps: x of 1e47 after 40 of them (2026-11-22). What
 * goes out is therefore always the end of a convex problem, never of a set that was given up.
 */
#include "server/engine/solvers/lcp_friction_sparse.h"

#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum {
	TIED = 40,
	TIED_AGAIN = 40,
	TIED_WARM = 12,
	TIED_FIRST = 12,
	BOUND_ROUNDS = 100,
	STALLED = 20
};
enum {
	FACTORS_MAX = 400,
	FIRST_FACTORS = 40,
	CONE_FACTORS = 200,
	LAST_FACTORS = 60,
	LARGE = 600,
	CONE_LARGE = 60
};

#define NO_ENERGY 1e-12 /* of the largest b squared */
#define NEAR 0.1        /* of the largest b */
#define SOUND 1e-10     /* of the largest b squared: energy that is rounding */
#define RUNAWAY 1e7     /* of the largest b */

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

double lcp_friction_true_gap(struct lcp_sparse *self)
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

static bool gains(const struct lcp_sparse *self)
{
	return energy(self) > NO_ENERGY * self->size * self->size;
}

/* Whether what a method calls solved may go out: impulses of 1e17 that hold each other in a heap of
 * redundant contacts satisfy all conditions to rounding, and their rounding is energy. */
static bool sound(const struct lcp_sparse *self)
{
	bool slides = false;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (!(scalar_abs(self->x[i]) <= RUNAWAY * self->size))
			return false;
		/* Rows that have to slide may gain. */
		slides = slides || self->kind[i] == FRICTION_FORWARD ||
			 self->kind[i] == FRICTION_BACKWARD;
	}
	return slides || energy(self) <= SOUND * self->size * self->size;
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
	bool good = lcp_sparse_active_set(self, rounds) && sound(self);
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
		double gap = lcp_friction_true_gap(self);
		if (gap <= self->goal && sound(self))
			return SOLVER_SOLVED;
		if (self->result.refactorings >= self->factors_max)
			break;
		if (gap < 0.5 * tried) {
			tried = gap;
			if (tied_rounds(self, TIED_AGAIN, false))
				return SOLVER_SOLVED;
		}
		since = gap < best ? 0 : since + 1;
		share = gap < 0.9 * last ? scalar_min(1, 1.5 * share)
					 : scalar_max(0.25, 0.7 * share);
		last = gap;
		best = scalar_min(best, gap);
		for (uint32_t i = 0; i < self->rows; i++)
			limits[i] += share * (self->x[i] - limits[i]);
	}
	/* What goes out holds for its own bounds. */
	uint32_t more = MIN_OF(LAST_FACTORS, self->factors_max);
	self->factors_max += more;
	fix_bounds(self, limits, true);
	enum solver_status status = lcp_sparse_run(self, true);
	if (status != SOLVER_SOLVED || (slides && gains(self))) {
		fix_bounds(self, limits, false);
		self->factors_max += more;
		(void)lcp_sparse_run(self, true);
	}
	return SOLVER_INEXACT;
}

/* What there is when nothing ended: of the cones' answer and the rounds' the one that is closer, if
 * it adds no energy. */
static void choose(struct lcp_sparse *self, const double *other)
{
	lcp_sparse_follow(self, self->x, self->u);
	double gap = lcp_friction_true_gap(self);
	memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
	memcpy(self->x, other, self->rows * sizeof *self->x);
	lcp_sparse_follow(self, self->x, self->u);
	if (lcp_friction_true_gap(self) <= gap && !gains(self))
		return;
	memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
	lcp_sparse_follow(self, self->x, self->u);
	(void)lcp_friction_true_gap(self);
}

/* What goes out adds none: without friction instead, or nothing at all. */
static void keep_energy(struct lcp_sparse *self)
{
	if (sound(self) && !gains(self))
		return;
	memset(self->x, 0, self->rows * sizeof *self->x);
	fix_bounds(self, self->x, false);
	self->factors_max += LAST_FACTORS;
	(void)lcp_sparse_run(self, false);
	lcp_sparse_follow(self, self->x, self->u);
	if (!sound(self) || gains(self)) {
		memset(self->x, 0, self->rows * sizeof *self->x);
		for (uint32_t i = 0; i < self->rows; i++)
			self->x[i] = scalar_clamp(0, self->lower[i], self->upper[i]);
		lcp_sparse_follow(self, self->x, self->u);
	}
	(void)lcp_friction_true_gap(self);
}

/* Without friction, then with. */
static enum solver_status run_plainly(struct lcp_sparse *self, bool slides)
{
	fix_bounds(self, self->x, false);
	if (lcp_sparse_run(self, true) == SOLVER_INFEASIBLE)
		return SOLVER_INFEASIBLE;
	self->result.certificate = NULL;
	return tied_rounds(self, TIED, true) ? SOLVER_SOLVED : by_rounds(self, slides);
}

/* Whether what the cones left is near enough to go out: then there is a solution, or nearly. */
static bool can_hold(struct lcp_sparse *self)
{
	lcp_sparse_follow(self, self->x, self->u);
	self->result.fallbacks = 1;
	return lcp_friction_true_gap(self) <= NEAR * self->size && !gains(self);
}

static enum solver_status run(struct lcp_sparse *self, bool warm)
{
	bool slides = false, pushes = false, cone = lcp_friction_cone_fits(self);
	uint32_t most = self->factors_max;
	for (uint32_t i = 0; i < self->rows; i++) {
		slides = slides || self->kind[i] == FRICTION_FORWARD ||
			 self->kind[i] == FRICTION_BACKWARD;
		pushes = pushes || (self->kind[i] == FRICTION_NORMAL && self->x[i] > 0);
	}
	lcp_sparse_follow(self, self->x, self->u);
	if (lcp_friction_true_gap(self) <= self->goal && sound(self))
		return SOLVER_SOLVED;
	if (warm && pushes && tied_rounds(self, self->rows > LARGE ? TIED_WARM : TIED, false))
		return SOLVER_SOLVED;
	/* What rests in order, as walls do, ends here. */
	self->factors_max = MIN_OF(most, self->result.refactorings + FIRST_FACTORS);
	memcpy(self->trial, self->x, self->rows * sizeof *self->x);
	fix_bounds(self, self->x, false);
	enum solver_status first = lcp_sparse_run(self, warm);
	if (first == SOLVER_INFEASIBLE ||
	    (first == SOLVER_SOLVED && tied_rounds(self, TIED_FIRST, true)))
		return first;
	self->result.certificate = NULL;
	if (pushes)
		memcpy(self->x, self->trial, self->rows * sizeof *self->x);
	bool large = cone && self->rows > LARGE;
	self->factors_max =
		MIN_OF(most, self->result.refactorings + (large ? CONE_LARGE : CONE_FACTORS));
	if (cone && lcp_friction_cone(self) && sound(self))
		return SOLVER_SOLVED;
	self->factors_max = most;
	if (large && can_hold(self))
		return SOLVER_INEXACT;
	memcpy(self->trial, self->x, self->rows * sizeof *self->x);
	memset(self->x, 0, self->rows * sizeof *self->x);
	enum solver_status status = run_plainly(self, slides);
	if (status == SOLVER_SOLVED || status == SOLVER_INFEASIBLE)
		return status;
	self->result.fallbacks = 1;
	if (cone)
		choose(self, self->trial);
	else
		lcp_sparse_follow(self, self->x, self->u);
	keep_energy(self);
	return self->result.refactorings >= most ? SOLVER_LIMIT : SOLVER_INEXACT;
}

struct solver_result lcp_friction_sparse_solve(struct lcp_sparse *self,
					       const struct friction_sparse_problem *problem,
					       const struct solver_options *options, double *x,
					       double (*v)[LCP_BODY])
{
	struct solver_options used = solver_options_used(options);
	self->rough = true;
	self->tied = self->cone = false;
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
	self->tied = status == SOLVER_SOLVED;
	lcp_sparse_hand_out(self, &problem->rows, x, v);
	status = status == SOLVER_SOLVED ? SOLVER_INEXACT : status;
	self->result.status = self->result.residual <= used.tolerance ? SOLVER_SOLVED : status;
	if (self->result.status != SOLVER_INFEASIBLE)
		self->result.certificate = NULL;
	return self->result;
}

double lcp_friction_sparse_energy(const struct friction_sparse_problem *problem, const double *x,
				  const double (*v)[LCP_BODY])
{
	const struct lcp_sparse_problem *rows = &problem->rows;
	double energy = 0;
	for (uint32_t i = 0; i < rows->rows; i++) {
		double w = rows->compliance != NULL ? rows->compliance[i] * x[i] : 0;
		for (uint32_t p = rows->start[i]; p < rows->start[i + 1]; p++)
			w += dense_dot(rows->jacobian[p], v[rows->body[p]], LCP_BODY);
		energy += x[i] * (0.5 * w + rows->b[i]);
	}
	return energy;
}
