/* lcp_sparse.c: minimises ½ uᵀu over the velocities u that the rows allow, by active sets.
 *
 * With M⁻¹ = L Lᵀ and J standing for J L, A = J Jᵀ + C, and the problem (for contacts) is to find the
 * shortest u with J u + b ≥ 0; x are its multipliers. u is unique. x is not unique if contacts are
 * redundant, and many rows are weakly active, w = 0 and x = 0 (bricks that touch sideways). All linear
 * algebra is therefore over bodies:
 *   (1 + J_Fᵀ (C + ε)⁻¹ J_F) du = …      F: the free rows, for which w = 0 must hold
 * The eigenvalues of this matrix are at least 1 however dependent the rows are, and its size is that of
 * the bodies.
 *
 *   1. If x of the caller (warm) holds already, it is the solution.
 *   2. Rounds of the active set (lcp_sparse_active.c): free rows as equalities, refined to rounding. A
 *      free row beyond a bound is bound there; a bound row that w drives away from its bound is freed.
 *      Violations below a slack change no row, because weakly active rows would alternate for ever.
 *      Walls of 100 to 5000 bricks need three or four factors without a warm start.
 *   3. If these rounds do not end: a point inside all bounds (lcp_sparse_interior.c), which shows the
 *      active rows, and rounds of the active set from there.
 *   4. If those do not end: the method of multipliers (lcp_sparse_newton.c), which converges for every
 *      problem that has a solution; ε is reduced in steps, and after each the active set is tried again.
 *      If the problem has no solution, the multipliers grow along a ray, which is checked as a proof
 *      (lcp_sparse_proof.c).
 *
 * LIMIT: the factor does not fit, or too many factors were computed. The residual is that of the
 * solution returned.
 */
#include "server/engine/solvers/lcp_sparse.h"

#include <string.h>

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/order_amd.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { FACTORS_MAX = 300, ROUNDS = 14, EPSILON_TRIES = 1 };

#define INSIDE                                                                                     \
	0.1 /* of the tolerance: the gap at which the solver stops, so rounding does not exceed it */
#define EPSILON_FACTOR 1e-2 /* of try_smaller_epsilon */
#define SOFT_MIN 1e-13	    /* limits of ε: a smaller one is lost in rounding, */
#define SOFT_MAX 1e-4	    /* a larger one needs too many refinements */
#define NEAR 1e-3	    /* of the largest |b|: a row with a smaller b starts free */

static void carve_sparse(struct lcp_sparse *self, struct solver_memory *memory,
			 struct lcp_sparse_size size)
{
	size_t near_count = 2 * size.pairs;
	struct chol_block *factor = &self->factor;
	*self = (struct lcp_sparse){ .capacity = size };
	uint32_t **by_entry[] = { &self->body, &self->at, &self->touch };
	uint32_t **by_body[] = { &self->order,	     &self->place,   &self->near_start,
				 &self->touch_start, &factor->start, &factor->parent,
				 &factor->link,	     &factor->at,    &factor->place };
	uint32_t **by_pair[] = { &self->slot, &self->half };
	double **by_row[] = { &self->b,		 &self->lower,	     &self->upper,
			      &self->compliance, &self->weight,	     &self->x,
			      &self->kept,	 &self->target,	     &self->w,
			      &self->slope,	 &self->stiffness,   &self->ray,
			      &self->kept_fixed, &self->kept_limits, &self->kept_best,
			      &self->low,	 &self->high };
	double **by_unknown[] = { &self->u, &self->du, &self->force, &self->kept_u, &self->kept_v };
	int32_t **shifts[] = { &self->row_shift, &self->unit_shift };
	factor->blocks_max = size.blocks;
	factor->value = SOLVER_CARVE(memory, double, size.blocks *CHOL_BLOCK_DOUBLES);
	factor->row = SOLVER_CARVE(memory, uint32_t, size.blocks);
	self->start = SOLVER_CARVE(memory, uint32_t, (size_t)size.rows + 1);
	for (uint32_t i = 0; i < COUNT_OF(by_entry); i++)
		*by_entry[i] = SOLVER_CARVE(memory, uint32_t, size.entries);
	for (uint32_t i = 0; i < COUNT_OF(by_body); i++)
		*by_body[i] = SOLVER_CARVE(memory, uint32_t, (size_t)size.bodies + 2);
	for (uint32_t i = 0; i < COUNT_OF(by_pair); i++)
		*by_pair[i] = SOLVER_CARVE(memory, uint32_t, size.pairs);
	self->near = SOLVER_CARVE(memory, uint32_t, near_count);
	self->amd = SOLVER_CARVE(memory, uint32_t, order_amd_words(size.bodies, near_count));
	self->jacobian = solver_carve(memory, size.entries, sizeof *self->jacobian);
	self->mixed = solver_carve(memory, size.entries, sizeof *self->mixed);
	self->root = solver_carve(memory, size.bodies, sizeof *self->root);
	for (uint32_t i = 0; i < COUNT_OF(by_row); i++)
		*by_row[i] = SOLVER_CARVE(memory, double, size.rows);
	for (uint32_t i = 0; i < COUNT_OF(by_unknown); i++)
		*by_unknown[i] = SOLVER_CARVE(memory, double, LCP_BODY *(size_t)size.bodies);
	for (uint32_t i = 0; i < COUNT_OF(shifts); i++)
		*shifts[i] = SOLVER_CARVE(memory, int32_t, size.rows);
	size_t unknowns = LCP_BODY * (size_t)size.bodies;
	self->mix_step = SOLVER_CARVE(memory, double, LCP_MIX *(unknowns + size.rows));
	self->mix_moved = SOLVER_CARVE(memory, double, LCP_MIX *(size_t)size.rows);
	self->mix_last = SOLVER_CARVE(memory, double, unknowns + 2 * (size_t)size.rows);
	self->mass_shift = SOLVER_CARVE(memory, int32_t, size.bodies);
	self->free = SOLVER_CARVE(memory, uint8_t, size.rows);
	self->normal = SOLVER_CARVE(memory, uint32_t, size.rows);
	self->friction = SOLVER_CARVE(memory, double, size.rows);
	self->side = SOLVER_CARVE(memory, int8_t, size.rows);
	self->kind = SOLVER_CARVE(memory, uint8_t, size.rows);
}

size_t lcp_sparse_bytes(struct lcp_sparse_size size)
{
	struct lcp_sparse self;
	struct solver_memory memory = { 0 };
	carve_sparse(&self, &memory, size);
	return memory.used;
}

void lcp_sparse_init(struct lcp_sparse *self, void *memory, struct lcp_sparse_size size)
{
	struct solver_memory carving = { .memory = solver_memory_good(memory) ? memory : NULL };
	carve_sparse(self, &carving, size);
}

enum solver_status lcp_sparse_order(struct lcp_sparse *self,
				    const struct lcp_sparse_problem *problem, size_t *blocks)
{
	enum solver_status status = lcp_sparse_pattern(self, problem);
	*blocks = self->blocks_needed;
	return status;
}

/* block += d a bᵀ. */
static inline void add_outer(double *block, double d, const double *a, const double *b)
{
	for (uint32_t k = 0; k < LCP_BODY; k++) {
		double by = d * b[k];
		for (uint32_t l = 0; l < LCP_BODY; l++)
			block[k * LCP_BODY + l] += by * a[l];
	}
}

/* The same of a planar problem. */
static inline void add_outer_planar(double *block, double d, const double *a, const double *b)
{
	static const uint8_t own[CHOL_BLOCK_PLANAR] = { 0, 1, 5 };
	for (uint32_t k = 0; k < CHOL_BLOCK_PLANAR; k++) {
		double by = d * b[own[k]];
		for (uint32_t l = 0; l < CHOL_BLOCK_PLANAR; l++)
			block[k * CHOL_BLOCK_PLANAR + l] += by * a[own[l]];
	}
}

/* Adds d a bᵀ to the block of this index. */
static inline void add_to_block(struct lcp_sparse *self, uint32_t slot, double d, const double *a,
				const double *b)
{
	uint32_t n = chol_block_width(&self->factor);
	double *block = self->factor.value + (size_t)slot * n * n;
	if (self->factor.planar)
		add_outer_planar(block, d, a, b);
	else
		add_outer(block, d, a, b);
}

#ifdef CAIRN_VALIDATE
static size_t count_row_pairs(const struct lcp_sparse *self)
{
	size_t pairs = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		size_t count = self->start[i + 1] - self->start[i];
		pairs += count * (count + 1) / 2;
	}
	return pairs;
}
#endif

void lcp_sparse_factor(struct lcp_sparse *self)
{
	ASSERT(self->ordered);
	const uint32_t *slot = self->slot;
	chol_block_identity(&self->factor);
	for (uint32_t i = 0; i < self->rows; i++) {
		double d = self->stiffness[i];
		uint32_t first = self->start[i], end = self->start[i + 1];
		if (d == 0) {
			slot += (size_t)(end - first) * (end - first + 1) / 2;
			continue;
		}
		for (uint32_t p = first; p < end; p++)
			for (uint32_t q = first; q <= p; q++) {
				uint32_t at = *slot++;
				bool down = self->at[p] >= self->at[q];
				add_to_block(self, at, d, self->jacobian[down ? p : q],
					     self->jacobian[down ? q : p]);
				/* The block of a body that is named twice gets both products. */
				if (p != q && self->at[p] == self->at[q])
					add_to_block(self, at, d, self->jacobian[q],
						     self->jacobian[p]);
			}
	}
	VALIDATE(slot == self->slot + count_row_pairs(self));
	chol_block_factor(&self->factor);
	self->result.refactorings++;
	self->result.rounds++;
	self->result.regularisations += self->factor.pivots_raised;
}

void lcp_sparse_transposed_mul(const struct lcp_sparse *self, const double *x, double *u)
{
	memset(u, 0, lcp_sparse_unknowns(self) * sizeof *u);
	for (uint32_t i = 0; i < self->rows; i++)
		if (x[i] != 0)
			lcp_sparse_row_add(self, i, x[i], u);
}

double lcp_sparse_gap(const struct lcp_sparse *self, const double *u)
{
	double worst = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double x = self->x[i];
		double w = lcp_sparse_row_dot(self, i, u) + self->compliance[i] * x + self->b[i];
		double gap = lcp_sparse_row_gap(x, w, self->lower[i], self->upper[i]);
		self->w[i] = w;
		worst = lcp_sparse_worse(worst, self->weight[i] * gap);
	}
	return worst;
}

/* Frees the rows that approach or nearly do: a body that rests on a resting body has b = 0. */
static void free_by_b(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		double slack = NEAR * self->size, b = self->weight[i] * self->b[i];
		self->free[i] =
			(b < slack && self->upper[i] > 0) || (b > -slack && self->lower[i] < 0);
	}
}

/* Rounds of the active set that starts from x (warm) or from b. */
static bool find_active_set(struct lcp_sparse *self, bool warm, uint32_t rounds)
{
	if (warm)
		lcp_sparse_free_by_x(self);
	else
		free_by_b(self);
	return lcp_sparse_active_set(self, rounds);
}

/* The active set with a smaller ε, which light bodies under heavy ones need. It is not the default,
 * because redundant rows need a larger ε. */
static bool try_smaller_epsilon(struct lcp_sparse *self, bool warm)
{
	VALIDATE(self->soft > 0);
	double soft = self->soft;
	bool good = false;
	for (uint32_t k = 0; k < EPSILON_TRIES && !good; k++) {
		self->soft *= EPSILON_FACTOR;
		good = find_active_set(self, warm, ROUNDS);
	}
	self->soft = soft;
	return good;
}

/* The active set from the centre of the set of solutions, which shows the active rows. Only for large
 * problems; small ones end without. */
static bool start_from_interior(struct lcp_sparse *self)
{
	return !lcp_sparse_is_small(self) && lcp_sparse_interior(self) &&
	       (lcp_sparse_active_set(self, ROUNDS) || try_smaller_epsilon(self, true));
}

enum solver_status lcp_sparse_run(struct lcp_sparse *self, bool warm)
{
	ASSERT(self->ordered);
	lcp_sparse_transposed_mul(self, self->x, self->u);
	if (lcp_sparse_gap(self, self->u) <= self->goal)
		return SOLVER_SOLVED;
	bool short_of_rounds = self->active_rounds > 0 && !lcp_sparse_is_small(self);
	if (find_active_set(self, warm, short_of_rounds ? self->active_rounds : ROUNDS) ||
	    (short_of_rounds && start_from_interior(self)) || try_smaller_epsilon(self, warm) ||
	    (!short_of_rounds && start_from_interior(self)) || lcp_sparse_multipliers(self))
		return SOLVER_SOLVED;
	if (self->result.certificate != NULL)
		return SOLVER_INFEASIBLE;
	return self->result.refactorings >= self->factors_max ? SOLVER_LIMIT : SOLVER_INEXACT;
}

void lcp_sparse_begin(struct lcp_sparse *self, const struct solver_options *options)
{
	ASSERT(self->rows <= self->capacity.rows && self->bodies <= self->capacity.bodies);
	self->factors_max = options->rounds_max > 0 ? options->rounds_max : FACTORS_MAX;
	self->active_rounds = options->active_rounds;
	self->goal = INSIDE * options->tolerance * self->size;
	self->coarse = options->coarse > 0 ? options->coarse * self->size : 0;
	self->soft = scalar_clamp(options->regularisation, SOFT_MIN, SOFT_MAX);
	self->result = (struct solver_result){ .residual = __builtin_inf() };
	self->bounded_rows = 0;
	for (uint32_t i = 0; i < self->rows; i++)
		self->bounded_rows += (self->with_friction && self->kind[i] != FRICTION_JOINT) ||
				      scalar_is_finite(self->lower[i]) ||
				      scalar_is_finite(self->upper[i]);
}

struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x,
				      double (*v)[LCP_BODY])
{
	struct solver_options used = solver_options_used(options);
	self->tied = self->with_friction = false;
	enum solver_status status = lcp_sparse_pattern(self, problem);
	bool good =
		status == SOLVER_SOLVED && lcp_sparse_load(self, problem, options->warm ? x : NULL);
	if (!good) {
		struct solver_result none = solver_invalid();
		dense_zero(x, problem->rows);
		if (v != NULL && problem->bodies > 0)
			memset(v, 0, problem->bodies * sizeof *v);
		none.status = status == SOLVER_LIMIT ? SOLVER_LIMIT : SOLVER_INVALID;
		return none;
	}
	lcp_sparse_begin(self, &used);
	status = lcp_sparse_run(self, options->warm);
	lcp_sparse_unload(self, problem, x, v);
	status = status == SOLVER_SOLVED ? SOLVER_INEXACT : status;
	self->result.status = self->result.residual <= used.tolerance ? SOLVER_SOLVED : status;
	if (self->result.status != SOLVER_INFEASIBLE)
		self->result.certificate = NULL;
	return self->result;
}
