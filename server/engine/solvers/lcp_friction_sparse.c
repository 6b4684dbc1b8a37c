/* lcp_friction_sparse.c: the active set with bounds that follow their normals.
 *
 * Rounds as lcp_sparse's (lcp_sparse_active.c), with ties: a tangent at its limit has x = ±μ x_n, and while
 * the free rows are refined it goes along with its normal. The factor is that of the free rows, symmetric;
 * what the ties add is a fixed point, whose steps are combined (Anderson). Resting heaps need one or
 * two factors from their last answer.
 *
 *   1. Warm: tangents stick, or slide as the x given says; rounds until no row changes. Where they run away
 *      (large heaps: rows that nearly depend on each other through their ties have x of 1e4 and more), what
 *      follows down to 4 costs five times as much and comes no nearer than 5, which is next.
 *   2. Small islands: normals alone, where INFEASIBLE is proved, then their tangents stick, and rounds.
 *   3. The convex problem over the same pyramids (lcp_sparse_interior.c), which has a solution wherever
 *      normals alone have one, and knows nearly which rows act and stick; then the rounds.
 *   4. Friction is not monotone, so no end is proved. If there is none, in small islands: the convex problem
 *      again with what it lifts taken back, while that brings the true conditions closer, and bounds from
 *      the normals of the round before.
 *   5. Sweeps over the rows (lcp_friction_sweep.c), which come near where nothing else ends; in small islands
 *      the rounds from there.
 * What is left unsolved goes out only if it adds no energy; else without friction, or nothing does.
 */
#include "server/engine/solvers/lcp_friction_sparse.h"

#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_friction_sweep.h"
#include "server/engine/solvers/lcp_sparse_core.h"

/* Rounds of the active set: in large islands those that end do so soon or not at all. */
enum { TIED = 40, TIED_AGAIN = 20, TIED_LARGE = 8, LIFTS = 8, BOUND_ROUNDS = 30, STALLED = 8 };
enum { FACTORS_MAX = 500, LAST_FACTORS = 60 };
enum { SWEEP_ROUNDS = 6, SWEEP_ROUNDS_MAX = 12, SWEEPS = 50 };

#define NO_ENERGY 1e-12 /* of the largest b squared */
#define SOUND 1e-10	/* of the largest b squared: energy that is rounding */
#define RUNAWAY 1e7	/* of the largest b */
/* Of the largest b: there sweeps have come near, and no more of them are made. Less takes more time; more
 * leaves single steps of a heap with cm/s. */
#define NEAR 1e-3
/* Of the largest b: what sweeps leave where they did not come near. More may be rows that contradict each
 * other, which 2 and 3 would prove. */
#define ENOUGH 1e-2
#define MOMENTUM 0.8 /* of the way of a sweep. More does not settle in heaps, less is slower */
#define SWINGS 4     /* of the least gap: sweeps go back to where that was */

static bool is_tangent(uint8_t kind)
{
	return kind == FRICTION_STATIC || kind == FRICTION_FORWARD || kind == FRICTION_BACKWARD;
}

static bool sparse_friction_is_valid(const struct friction_sparse_problem *problem)
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

/* Ties. */
static void load_ties(struct lcp_sparse *self, const struct friction_sparse_problem *problem)
{
	VALIDATE(self->rows <= self->room.rows);
	for (uint32_t i = 0; i < self->rows; i++) {
		bool own = !is_tangent(self->kind[i]);
		self->normal[i] = own ? i : self->normal[i - 1];
		self->side[i] = 0;
		self->friction[i] = 0;
		if (own)
			continue;
		int64_t apart = (int64_t)self->row_shift[i] - self->row_shift[self->normal[i]];
		self->friction[i] = scalar_shift(problem->friction[i], apart);
	}
}

/* Bounds of tangents ±μ times the normals' `x`, to stay; 0 without friction. */
static void fix_bounds(struct lcp_sparse *self, const double *x, bool with)
{
	VALIDATE(self->rows <= self->room.rows);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = with ? self->friction[i] * scalar_max(x[self->normal[i]], 0) : 0;
		struct lcp_span span = lcp_sparse_span(self, i, limit);
		self->lower[i] = span.low;
		self->upper[i] = span.high;
		self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
	}
}

/* The gap of x and u by the bounds that x asks for; x stays, so it may be beyond them. */
static double true_gap(struct lcp_sparse *self)
{
	VALIDATE(self->ordered);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
		struct lcp_span span = lcp_sparse_span(self, i, limit);
		self->lower[i] = span.low;
		self->upper[i] = span.high;
	}
	return lcp_sparse_gap(self, self->u);
}

static double energy(const struct lcp_sparse *self)
{
	VALIDATE(self->rows <= self->room.rows);
	double sum = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * self->x[i];
		sum += self->x[i] * (0.5 * w + self->b[i]);
	}
	return sum;
}

/* Whether what holds may go out: impulses of 1e17 that hold each other in redundant contacts satisfy all
 * conditions to rounding, and their rounding is energy. */
static bool is_sound(const struct lcp_sparse *self)
{
	VALIDATE(self->ordered);
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

static uint32_t rounds_of(const struct lcp_sparse *self, uint32_t few)
{
	VALIDATE(few > 0);
	return lcp_sparse_few(self) ? few : TIED_LARGE;
}

/* Tangents of contacts that push stick; others and the sliding are bound. */
static void begin_sticking(struct lcp_sparse *self)
{
	double inside = 0x1p-20;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * self->x[self->normal[i]];
		bool moves = scalar_abs(self->x[i]) >= limit * (1 - inside);
		self->free[i] = self->kind[i] == FRICTION_STATIC && self->free[self->normal[i]] &&
				limit > 0 && !moves;
		self->side[i] = moves ? (self->x[i] >= 0 ? 1 : -1) : 0;
	}
}

/* The rows that act and stick as x says, with bounds that follow. */
static bool tied_rounds(struct lcp_sparse *self, uint32_t rounds)
{
	ASSERT(!self->tied);
	ASSERT(rounds > 0);
	self->tied = true;
	lcp_sparse_free_by_x(self);
	begin_sticking(self);
	lcp_sparse_tie(self);
	bool good = lcp_sparse_active_set(self, rounds) && is_sound(self);
	self->tied = false;
	return good;
}

/* Takes tangents within their normals' bounds, as they go out; u of it, and whether it adds no energy. */
static bool is_safe(struct lcp_sparse *self)
{
	VALIDATE(self->ordered);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
		struct lcp_span span = lcp_sparse_span(self, i, limit);
		self->x[i] = scalar_clamp(self->x[i], span.low, span.high);
	}
	lcp_sparse_follow(self, self->x, self->u);
	return energy(self) <= NO_ENERGY * self->size * self->size;
}

/* The convex problem of the same pyramids, and the rows as they act there. *gap: its own; infinite if it was
 * not found. x is then of the convex problem, or as the rows that act say. */
static bool tied_inside(struct lcp_sparse *self, double *gap)
{
	ASSERT(!self->tied);
	*gap = __builtin_inf();
	self->tied = true;
	bool near = lcp_sparse_interior(self);
	self->tied = false;
	if (!near) {
		dense_zero(self->x, self->rows);
		return false;
	}
	bool safe = is_safe(self);
	double found = true_gap(self);
	if (found <= self->goal && is_sound(self))
		return true;
	*gap = safe ? found : *gap;
	memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
	self->tied = true;
	lcp_sparse_tie(self);
	bool good = lcp_sparse_active_set(self, rounds_of(self, TIED)) && is_sound(self);
	self->tied = false;
	if (!good)
		memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
	return good;
}

/* b of normals raised by μ times the speed at which their tangents slip: what the convex problem lifts. */
static void take_back(struct lcp_sparse *self, const double *b)
{
	VALIDATE(b != self->b);
	memcpy(self->b, b, self->rows * sizeof *b);
	lcp_sparse_follow(self, self->x, self->u);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i || self->x[self->normal[i]] <= 0)
			continue;
		double slip = lcp_sparse_row_dot(self, i, self->u) +
			      self->compliance[i] * self->x[i] + b[i];
		self->b[self->normal[i]] += self->friction[i] * scalar_abs(slip);
	}
}

/* The convex problem again and again, with what it lifts taken back. x is the best of all; none
 * adds energy. */
static bool by_lifts(struct lcp_sparse *self, double best)
{
	ASSERT(best >= 0);
	double *b = self->kept_limits, *kept = self->kept_best, last = best;
	memcpy(b, self->b, self->rows * sizeof *b);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	bool good = false;
	for (uint32_t k = 0; k < LIFTS && !good && self->result.refactorings < self->factors_max;
	     k++) {
		double gap;
		take_back(self, b);
		self->tied = true;
		bool near = lcp_sparse_interior(self);
		self->tied = false;
		memcpy(self->b, b, self->rows * sizeof *b);
		if (!near)
			break;
		bool safe = is_safe(self);
		gap = true_gap(self);
		if (safe && gap < best) {
			best = gap;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
		good = gap <= self->goal && is_sound(self);
		if (!good) {
			memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
			good = tied_rounds(self, rounds_of(self, TIED_AGAIN));
			if (!good)
				memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
		}
		if (gap > 0.7 * last)
			break;
		last = gap;
	}
	if (!good) {
		memcpy(self->x, kept, self->rows * sizeof *kept);
		lcp_sparse_follow(self, self->x, self->u);
	}
	return good;
}

/* Bounds from the normals of the round before, as a problem of fixed bounds, which always has a solution;
 * and from each the rows that follow. x is the best of all that adds no energy. */
static bool by_rounds(struct lcp_sparse *self, double best)
{
	double *limits = self->kept_limits, *kept = self->kept_best, share = 1, last = best;
	memcpy(limits, self->x, self->rows * sizeof *limits);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	uint32_t since = 0;
	for (uint32_t k = 0; k < BOUND_ROUNDS && since < STALLED; k++) {
		fix_bounds(self, limits, true);
		if (lcp_sparse_run(self, true) != SOLVER_SOLVED)
			break;
		double apart = true_gap(self);
		if (apart <= self->goal && is_sound(self))
			return true;
		memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
		if (tied_rounds(self, TIED_AGAIN))
			return true;
		memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
		share = apart < 0.9 * last ? scalar_min(1, 1.5 * share)
					   : scalar_max(0.25, 0.7 * share);
		last = apart;
		for (uint32_t i = 0; i < self->rows; i++)
			limits[i] += share * (self->x[i] - limits[i]);
		bool safe = is_safe(self);
		double gap = true_gap(self);
		since = gap < best ? 0 : since + 1;
		if (safe && gap < best) {
			best = gap;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
	}
	memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_follow(self, self->x, self->u);
	return false;
}

/* Sweeps over the rows come near where the rounds do not end, and then no nearer. x is the best of all that
 * adds no energy, the given one among them; *gap: its own, infinite if none. Momentum that swings ends. */
static bool by_sweeps(struct lcp_sparse *self, double *gap)
{
	double *kept = self->kept_best, best = is_safe(self) ? true_gap(self) : __builtin_inf();
	double momentum = MOMENTUM;
	lcp_friction_sweep_begin(self);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	for (uint32_t k = 0; k < SWEEP_ROUNDS_MAX && best > self->goal; k++) {
		if (k >= SWEEP_ROUNDS && best <= NEAR * self->size)
			break;
		lcp_sparse_follow(self, self->x, self->u);
		lcp_friction_sweep(self, SWEEPS, momentum);
		bool safe = is_safe(self);
		double found = true_gap(self);
		if (!(found < best))
			momentum *= 0.5;
		if (safe && found < best) {
			best = found;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
		if (!(found <= SWINGS * best))
			memcpy(self->x, kept, self->rows * sizeof *kept);
	}
	memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_follow(self, self->x, self->u);
	*gap = best;
	if (best <= self->goal && is_sound(self))
		return true;
	bool few = lcp_sparse_few(self);
	if (few && tied_rounds(self, TIED_AGAIN))
		return true;
	memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_follow(self, self->x, self->u);
	return false;
}

/* What goes out unsolved adds no energy: without friction instead, or nothing at all. */
static void keep_energy(struct lcp_sparse *self)
{
	self->result.fallbacks = 1;
	self->rough_cut = is_safe(self) && is_sound(self);
	if (self->rough_cut)
		return;
	dense_zero(self->x, self->rows);
	fix_bounds(self, self->x, false);
	self->factors_max += LAST_FACTORS;
	(void)lcp_sparse_run(self, false);
	lcp_sparse_follow(self, self->x, self->u);
	if (is_sound(self) && energy(self) <= NO_ENERGY * self->size * self->size)
		return;
	for (uint32_t i = 0; i < self->rows; i++)
		self->x[i] = scalar_clamp(0, self->lower[i], self->upper[i]);
	lcp_sparse_follow(self, self->x, self->u);
}

/* Normals and joints alone, then their tangents stick. */
static enum solver_status from_normals(struct lcp_sparse *self)
{
	ASSERT(!self->tied);
	dense_zero(self->x, self->rows);
	fix_bounds(self, self->x, false);
	enum solver_status status = lcp_sparse_run(self, false);
	if (status == SOLVER_INFEASIBLE)
		return status;
	self->result.certificate = NULL;
	return tied_rounds(self, rounds_of(self, TIED)) ? SOLVER_SOLVED : SOLVER_INEXACT;
}

static enum solver_status run_friction(struct lcp_sparse *self, bool warm)
{
	ASSERT(self->ordered);
	bool few = lcp_sparse_few(self);
	double gap;
	if (warm) {
		lcp_sparse_follow(self, self->x, self->u);
		if ((true_gap(self) <= self->goal && is_sound(self)) ||
		    tied_rounds(self, rounds_of(self, TIED)))
			return SOLVER_SOLVED;
		if (self->astray && by_sweeps(self, &gap))
			return SOLVER_SOLVED;
		if (self->astray && gap <= ENOUGH * self->size)
			return SOLVER_INEXACT;
	}
	enum solver_status status = few ? from_normals(self) : SOLVER_INEXACT;
	if (status != SOLVER_INEXACT)
		return status;
	if (tied_inside(self, &gap))
		return SOLVER_SOLVED;
	if (gap == __builtin_inf() && !few) {
		status = from_normals(self);
		if (status != SOLVER_INEXACT)
			return status;
	}
	if (few && gap < __builtin_inf() && by_lifts(self, gap))
		return SOLVER_SOLVED;
	if (few && by_rounds(self, is_safe(self) ? true_gap(self) : __builtin_inf()))
		return SOLVER_SOLVED;
	if (by_sweeps(self, &gap))
		return SOLVER_SOLVED;
	return self->result.refactorings >= self->factors_max ? SOLVER_LIMIT : SOLVER_INEXACT;
}

struct solver_result lcp_friction_sparse_solve(struct lcp_sparse *self,
					       const struct friction_sparse_problem *problem,
					       const struct solver_options *options, double *x,
					       double (*v)[LCP_BODY])
{
	struct solver_options used = solver_options_used(options);
	self->tied = false;
	self->rough = self->rough_cut = true;
	enum solver_status status = lcp_sparse_pattern(self, &problem->rows);
	bool good = status == SOLVER_SOLVED && sparse_friction_is_valid(problem);
	if (good && problem->rows.rows > 0)
		memcpy(self->kind, problem->kind, problem->rows.rows);
	good = good && lcp_sparse_take(self, &problem->rows, options->warm ? x : NULL);
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
	load_ties(self, problem);
	status = run_friction(self, options->warm);
	if (status == SOLVER_INEXACT || status == SOLVER_LIMIT)
		keep_energy(self);
	lcp_sparse_hand_out(self, &problem->rows, x, v);
	status = status == SOLVER_SOLVED ? SOLVER_INEXACT : status;
	self->result.status = self->result.residual <= used.tolerance ? SOLVER_SOLVED : status;
	if (self->result.status != SOLVER_INFEASIBLE)
		self->result.certificate = NULL;
	return self->result;
}
