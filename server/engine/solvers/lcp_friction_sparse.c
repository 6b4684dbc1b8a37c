/* lcp_friction_sparse.c: the active set with bounds of tangents that follow their normals.
 *
 * Rounds of the active set (lcp_sparse_active.c) with ties: a tangent at its limit has x = ±μ x_n and
 * follows its normal while the free rows are refined. The factor is that of the free rows and
 * symmetric; the ties make the refinement a fixed-point iteration, which Anderson's method
 * accelerates. Resting heaps need one or two factors from their last solution.
 *
 *   1. Warm start: tangents stick or slide according to the given x; rounds until no row changes. In
 *      large heaps the rounds may diverge, because rows that nearly depend on each other through their
 *      ties have x of 1e4 and more. Then step 5 follows, because steps 2 to 4 cost five times as much and
 *      give no smaller error.
 *      If the caller accepts coarse rounds (options.coarse), few rounds from x are enough in small
 *      problems without joints: sweeps and proximal rounds (iterate_proximal) follow, and steps 2 to 4
 *      only if these leave a large error. An error of 1e-3, accepted, lets a card house come to pieces.
 *   2. Small problems: the normals alone, which may prove INFEASIBLE; then rounds in which the tangents of
 *      these normals stick at first.
 *   3. The convex problem over the same pyramids (lcp_sparse_interior.c), which has a solution if the
 *      normals alone have one, and shows nearly which rows are active and which stick; then rounds.
 *   4. Coulomb friction is not monotone, so no proof exists that rounds end. If they do not, small
 *      problems try the convex problem with its dilation compensated, as long as Coulomb's conditions get
 *      closer; then problems with fixed bounds from the normals of the previous round.
 *   5. Sweeps over the rows (lcp_friction_sweep.c), which come close if no other method ends; in small
 *      problems the rounds from there.
 * An inexact x is returned only if it adds no energy; otherwise the solution without friction, or 0.
 */
#include "server/engine/solvers/lcp_friction_sparse.h"

#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_friction_sweep.h"
#include "server/engine/solvers/lcp_sparse_core.h"

/* Limits of rounds. In large problems rounds of the active set end soon or not at all. */
enum { TIED = 40, TIED_AGAIN = 20, TIED_LARGE = 8 };
enum { CONVEX_ROUNDS = 8, BOUND_ROUNDS = 30, STALLED = 8 };
enum { FACTORS_MAX = 500, LAST_FACTORS = 60 };
enum { SWEEP_ROUNDS = 6, SWEEP_ROUNDS_MAX = 12, SWEEPS = 50 };
/* Of iterate_proximal: sweeps before it, its rounds, and those of the active set in each. Fewer sweeps
 * leave more rounds, which cost as much as twenty sweeps each. FIRST: rounds from a warm start before it. */
enum { PROXIMAL_SWEEPS = 100, PROXIMAL_ROUNDS = 24, PROXIMAL_TIED = 10, PROXIMAL_FIRST = 6 };

#define NO_ENERGY 1e-12	      /* of the largest b squared: more energy excludes an inexact x */
#define ENERGY_ROUNDING 1e-10 /* of the largest b squared: more excludes an exact x */
#define RUNAWAY 1e7	      /* of the largest b: a larger x is rejected, see is_plausible */
/* Of the largest b: after SWEEP_ROUNDS, sweeps end at this gap. A smaller value takes more time; a
 * larger one leaves errors of cm/s in single steps of a heap. */
#define NEAR 1e-3
/* Of the largest b: if sweeps after a diverging warm start leave a smaller gap, steps 2 to 4 are
 * omitted. A larger gap may come from rows that contradict each other, which step 2 proves. */
#define ENOUGH 1e-2
/* 1, of A's diagonal, which is near 1: the compliance of the first proximal round, its changes after a
 * round that ended and after one that did not, and its limits. With less at first rounds do not end; with
 * a faster change fewer problems are solved. */
#define SOFT_FIRST 1e-4
#define SOFT_LESS 0.3
#define SOFT_MORE 10
#define SOFT_LEAST 1e-8
#define SOFT_MOST 0.1
#define SOFT_GOAL 0.1 /* of the gap: how exactly a proximal round is solved */
/* Of the largest b: if proximal rounds leave a smaller gap, steps 2 to 4 are omitted. They solve some of
 * these problems at five times the cost, and leave the others with errors of up to 1e-3. */
#define PROXIMAL_ENOUGH 1e-6
/* Of the change of a sweep. In heaps a larger one oscillates; a smaller one is slower. */
#define MOMENTUM 0.8
#define SWINGS 4 /* of the least gap: at a larger gap sweeps return to the x of the least one */

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

/* normal, friction and side of each row. */
static void load_friction(struct lcp_sparse *self, const struct friction_sparse_problem *problem)
{
	VALIDATE(self->rows <= self->capacity.rows);
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

/* Fixes the bounds of tangents at ±μ times `x` of their normals, or at 0 without friction. */
static void fix_bounds(struct lcp_sparse *self, const double *x, bool with)
{
	VALIDATE(self->rows <= self->capacity.rows);
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

/* The gap of x and u under Coulomb's conditions: the bounds of tangents follow from x of the
 * normals. x is not changed, so it may lie beyond them. */
static double coulomb_gap(struct lcp_sparse *self)
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

/* ½ xᵀA x + bᵀx, for u = Jᵀ x. */
static double added_energy(const struct lcp_sparse *self)
{
	VALIDATE(self->rows <= self->capacity.rows);
	double sum = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * self->x[i];
		sum += self->x[i] * (0.5 * w + self->b[i]);
	}
	return sum;
}

/* Whether an x that satisfies the conditions can be returned. Impulses of 1e17 that cancel each
 * other in redundant contacts satisfy all conditions to rounding, but their rounding adds energy. */
static bool is_plausible(const struct lcp_sparse *self)
{
	VALIDATE(self->ordered);
	bool slides = false;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (!(scalar_abs(self->x[i]) <= RUNAWAY * self->size))
			return false;
		/* Rows that must slide may add energy. */
		slides = slides || self->kind[i] == FRICTION_FORWARD ||
			 self->kind[i] == FRICTION_BACKWARD;
	}
	return slides || added_energy(self) <= ENERGY_ROUNDING * self->size * self->size;
}

static uint32_t rounds_max_tied(const struct lcp_sparse *self, uint32_t few)
{
	VALIDATE(few > 0);
	return lcp_sparse_is_small(self) ? few : TIED_LARGE;
}

/* Frees the tangents that stick: of active normals, with x below the limit. Binds the others. */
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

/* Rounds of the active set with ties, from the rows that are active and stick according to x. */
static bool solve_tied(struct lcp_sparse *self, uint32_t rounds)
{
	ASSERT(!self->tied);
	ASSERT(rounds > 0);
	self->tied = true;
	lcp_sparse_free_by_x(self);
	begin_sticking(self);
	lcp_sparse_tie(self);
	bool good = lcp_sparse_active_set(self, rounds) && is_plausible(self);
	self->tied = false;
	return good;
}

/* Clamps tangents to the bounds from their normals and sets u = Jᵀ x. Returns whether x adds no
 * energy. */
static bool clamp_within_energy(struct lcp_sparse *self)
{
	VALIDATE(self->ordered);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i)
			continue;
		double limit = self->friction[i] * scalar_max(self->x[self->normal[i]], 0);
		struct lcp_span span = lcp_sparse_span(self, i, limit);
		self->x[i] = scalar_clamp(self->x[i], span.low, span.high);
	}
	lcp_sparse_transposed_mul(self, self->x, self->u);
	return added_energy(self) <= NO_ENERGY * self->size * self->size;
}

/* The convex problem over the same pyramids, then rounds from the rows that are active in its solution.
 * *gap: of that solution under Coulomb's conditions; infinite if none was found or it adds energy.
 * False: x is the solution of the convex problem, or 0. */
static bool solve_convex(struct lcp_sparse *self, double *gap)
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
	bool safe = clamp_within_energy(self);
	double found = coulomb_gap(self);
	if (found <= self->goal && is_plausible(self))
		return true;
	*gap = safe ? found : *gap;
	memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
	self->tied = true;
	lcp_sparse_tie(self);
	bool good = lcp_sparse_active_set(self, rounds_max_tied(self, TIED)) && is_plausible(self);
	self->tied = false;
	if (!good)
		memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
	return good;
}

/* b of normals := `b` + μ × the slip speed of their tangents, which compensates the dilation of the
 * convex problem. */
static void add_dilation(struct lcp_sparse *self, const double *b)
{
	VALIDATE(b != self->b);
	memcpy(self->b, b, self->rows * sizeof *b);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->normal[i] == i || self->x[self->normal[i]] <= 0)
			continue;
		double slip = lcp_sparse_row_dot(self, i, self->u) +
			      self->compliance[i] * self->x[i] + b[i];
		self->b[self->normal[i]] += self->friction[i] * scalar_abs(slip);
	}
}

/* Convex problems whose dilation is compensated from the solution before. False: x is the attempt
 * with the smallest gap that adds no energy. */
static bool iterate_convex(struct lcp_sparse *self, double best)
{
	ASSERT(best >= 0);
	double *b = self->kept_limits, *kept = self->kept_best, last = best;
	memcpy(b, self->b, self->rows * sizeof *b);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	bool good = false;
	for (uint32_t k = 0;
	     k < CONVEX_ROUNDS && !good && self->result.refactorings < self->factors_max; k++) {
		double gap;
		add_dilation(self, b);
		self->tied = true;
		bool near = lcp_sparse_interior(self);
		self->tied = false;
		memcpy(self->b, b, self->rows * sizeof *b);
		if (!near)
			break;
		bool safe = clamp_within_energy(self);
		gap = coulomb_gap(self);
		if (safe && gap < best) {
			best = gap;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
		good = gap <= self->goal && is_plausible(self);
		if (!good) {
			memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
			good = solve_tied(self, rounds_max_tied(self, TIED_AGAIN));
			if (!good)
				memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
		}
		if (gap > 0.7 * last)
			break;
		last = gap;
	}
	if (!good) {
		memcpy(self->x, kept, self->rows * sizeof *kept);
		lcp_sparse_transposed_mul(self, self->x, self->u);
	}
	return good;
}

/* Problems with fixed bounds from the normals of the previous round, which always have a solution, each
 * followed by rounds with ties. False: x is the attempt with the smallest gap that adds no energy. */
static bool iterate_fixed_bounds(struct lcp_sparse *self, double best)
{
	double *limits = self->kept_limits, *kept = self->kept_best, share = 1, last = best;
	memcpy(limits, self->x, self->rows * sizeof *limits);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	uint32_t since = 0;
	for (uint32_t k = 0; k < BOUND_ROUNDS && since < STALLED; k++) {
		fix_bounds(self, limits, true);
		if (lcp_sparse_run(self, true) != SOLVER_SOLVED)
			break;
		double apart = coulomb_gap(self);
		if (apart <= self->goal && is_plausible(self))
			return true;
		memcpy(self->kept_fixed, self->x, self->rows * sizeof *self->x);
		if (solve_tied(self, TIED_AGAIN))
			return true;
		memcpy(self->x, self->kept_fixed, self->rows * sizeof *self->x);
		share = apart < 0.9 * last ? scalar_min(1, 1.5 * share)
					   : scalar_max(0.25, 0.7 * share);
		last = apart;
		for (uint32_t i = 0; i < self->rows; i++)
			limits[i] += share * (self->x[i] - limits[i]);
		bool safe = clamp_within_energy(self);
		double gap = coulomb_gap(self);
		since = gap < best ? 0 : since + 1;
		if (safe && gap < best) {
			best = gap;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
	}
	memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	return false;
}

/* Sweeps over the rows, and in small problems rounds from their x. False: x is the attempt with the
 * smallest gap that adds no energy, which may be the given x; *gap: its gap, infinite if there is
 * none. Momentum is halved whenever the gap does not shrink. */
static bool iterate_sweeps(struct lcp_sparse *self, double *gap)
{
	double *kept = self->kept_best,
	       best = clamp_within_energy(self) ? coulomb_gap(self) : __builtin_inf();
	double momentum = MOMENTUM;
	lcp_friction_sweep_begin(self);
	memcpy(kept, self->x, self->rows * sizeof *kept);
	for (uint32_t k = 0; k < SWEEP_ROUNDS_MAX && best > self->goal; k++) {
		if (k >= SWEEP_ROUNDS && best <= NEAR * self->size)
			break;
		lcp_sparse_transposed_mul(self, self->x, self->u);
		lcp_friction_sweep(self, SWEEPS, momentum);
		bool safe = clamp_within_energy(self);
		double found = coulomb_gap(self);
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
	lcp_sparse_transposed_mul(self, self->x, self->u);
	*gap = best;
	if (best <= self->goal && is_plausible(self))
		return true;
	bool few = lcp_sparse_is_small(self);
	if (few && solve_tied(self, TIED_AGAIN))
		return true;
	memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	return false;
}

/* Whether x, with this gap, may be returned as the solution. */
static bool is_solved(const struct lcp_sparse *self, double gap)
{
	return gap <= LCP_SPARSE_STILL * self->goal && is_plausible(self);
}

/* Rounds with ties of the problem with a compliance of `soft` more, as a force against a change of x from
 * what it is: a fixed point solves the problem without it. `b`, `compliance`: the problem's, which are
 * kept. */
static bool solve_shifted(struct lcp_sparse *self, const double *b, const double *compliance,
			  double soft, double gap)
{
	ASSERT(soft > 0);
	double goal = self->goal;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->b[i] = b[i] - soft * self->x[i];
		self->compliance[i] = compliance[i] + soft;
	}
	self->goal = scalar_max(goal, SOFT_GOAL * scalar_min(gap, self->size));
	bool good = solve_tied(self, PROXIMAL_TIED);
	self->goal = goal;
	memcpy(self->b, b, self->rows * sizeof *b);
	memcpy(self->compliance, compliance, self->rows * sizeof *compliance);
	return good;
}

/* Proximal rounds. The points of two faces have more tangents than the bodies have freedoms, and where
 * bodies turn, these nearly depend on each other: rounds of the active set, exact in each, throw x of such
 * rows to a thousand times their limits for an error of 1e-9, and never end. With a compliance x changes
 * little; its force is taken back from round to round. Sweeps come first, so that x is near.
 * False: x is the attempt with the smallest gap that adds no energy; *gap: its gap, infinite if there is
 * none. */
static bool iterate_proximal(struct lcp_sparse *self, double *gap)
{
	double *b = self->kept_limits, *compliance = self->kept_fixed, *kept = self->kept_best;
	double soft = SOFT_FIRST;
	ASSERT(!self->tied);
	memcpy(b, self->b, self->rows * sizeof *b);
	memcpy(compliance, self->compliance, self->rows * sizeof *compliance);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	lcp_friction_sweep_begin(self);
	lcp_friction_sweep(self, PROXIMAL_SWEEPS, MOMENTUM);
	*gap = clamp_within_energy(self) ? coulomb_gap(self) : __builtin_inf();
	memcpy(kept, self->x, self->rows * sizeof *kept);
	double found = *gap;
	bool good = is_solved(self, found);
	for (uint32_t k = 0; k < PROXIMAL_ROUNDS && !good && soft <= SOFT_MOST &&
			     self->result.refactorings < self->factors_max;
	     k++) {
		if (!solve_shifted(self, b, compliance, soft, found)) {
			soft *= SOFT_MORE;
			continue;
		}
		soft = scalar_max(soft * SOFT_LESS, SOFT_LEAST);
		bool safe = clamp_within_energy(self);
		found = coulomb_gap(self);
		good = is_solved(self, found);
		if (safe && found < *gap) {
			*gap = found;
			memcpy(kept, self->x, self->rows * sizeof *kept);
		}
	}
	if (!good)
		memcpy(self->x, kept, self->rows * sizeof *kept);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	return good;
}

/* An x that does not solve the problem is returned only if it adds no energy; otherwise the
 * solution without friction, or 0. */
static void ensure_no_energy(struct lcp_sparse *self)
{
	self->result.fallbacks = 1;
	self->clamp_tangents = clamp_within_energy(self) && is_plausible(self);
	if (self->clamp_tangents)
		return;
	dense_zero(self->x, self->rows);
	fix_bounds(self, self->x, false);
	self->factors_max += LAST_FACTORS;
	(void)lcp_sparse_run(self, false);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	if (is_plausible(self) && added_energy(self) <= NO_ENERGY * self->size * self->size)
		return;
	for (uint32_t i = 0; i < self->rows; i++)
		self->x[i] = scalar_clamp(0, self->lower[i], self->upper[i]);
	lcp_sparse_transposed_mul(self, self->x, self->u);
}

/* Normals and joints alone, then rounds with ties in which their tangents stick at first. */
static enum solver_status start_from_normals(struct lcp_sparse *self)
{
	ASSERT(!self->tied);
	dense_zero(self->x, self->rows);
	fix_bounds(self, self->x, false);
	enum solver_status status = lcp_sparse_run(self, false);
	if (status == SOLVER_INFEASIBLE)
		return status;
	self->result.certificate = NULL;
	return solve_tied(self, rounds_max_tied(self, TIED)) ? SOLVER_SOLVED : SOLVER_INEXACT;
}

/* Sweeps creep along chains of joints. */
static bool has_joints(const struct lcp_sparse *self)
{
	bool any = false;
	ASSERT(self->rows <= self->capacity.rows);
	for (uint32_t i = 0; i < self->rows; i++)
		any |= self->kind[i] == FRICTION_JOINT;
	return any;
}

/* The steps of the head. */
static enum solver_status run_friction(struct lcp_sparse *self, bool warm)
{
	ASSERT(self->ordered);
	bool few = lcp_sparse_is_small(self);
	double gap;
	bool proximal = few && self->coarse > self->goal && !has_joints(self);
	if (warm) {
		lcp_sparse_transposed_mul(self, self->x, self->u);
		if (coulomb_gap(self) <= self->goal && is_plausible(self))
			return SOLVER_SOLVED;
		bool anew = proximal && !(lcp_sparse_largest(self->x, self->rows) > 0);
		if (!anew &&
		    solve_tied(self, rounds_max_tied(self, proximal ? PROXIMAL_FIRST : TIED)))
			return SOLVER_SOLVED;
		if (self->diverged && iterate_sweeps(self, &gap))
			return SOLVER_SOLVED;
		if (self->diverged && gap <= ENOUGH * self->size)
			return SOLVER_INEXACT;
	}
	if (proximal && iterate_proximal(self, &gap))
		return SOLVER_SOLVED;
	if (proximal && gap <= PROXIMAL_ENOUGH * self->size)
		return SOLVER_INEXACT;
	enum solver_status status = few ? start_from_normals(self) : SOLVER_INEXACT;
	if (status != SOLVER_INEXACT)
		return status;
	if (solve_convex(self, &gap))
		return SOLVER_SOLVED;
	if (gap == __builtin_inf() && !few) {
		status = start_from_normals(self);
		if (status != SOLVER_INEXACT)
			return status;
	}
	if (few && gap < __builtin_inf() && iterate_convex(self, gap))
		return SOLVER_SOLVED;
	if (few && iterate_fixed_bounds(self, clamp_within_energy(self) ? coulomb_gap(self)
									: __builtin_inf()))
		return SOLVER_SOLVED;
	if (iterate_sweeps(self, &gap))
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
	self->with_friction = self->clamp_tangents = true;
	enum solver_status status = lcp_sparse_pattern(self, &problem->rows);
	bool good = status == SOLVER_SOLVED && sparse_friction_is_valid(problem);
	if (good && problem->rows.rows > 0)
		memcpy(self->kind, problem->kind, problem->rows.rows);
	good = good && lcp_sparse_load(self, &problem->rows, options->warm ? x : NULL);
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
	load_friction(self, problem);
	status = run_friction(self, options->warm);
	if (status == SOLVER_INEXACT || status == SOLVER_LIMIT)
		ensure_no_energy(self);
	lcp_sparse_unload(self, &problem->rows, x, v);
	status = status == SOLVER_SOLVED ? SOLVER_INEXACT : status;
	self->result.status = self->result.residual <= used.tolerance ? SOLVER_SOLVED : status;
	if (self->result.status != SOLVER_INFEASIBLE)
		self->result.certificate = NULL;
	return self->result;
}
