/* lcp_sparse.h: the LCP with bounds for thousands of rows over bodies.
 *
 * A = J M⁻¹ Jᵀ + C: row i of J acts on few bodies, M is of 6 × 6 blocks, C ≥ 0 is diagonal. Find x and
 * the change of velocity v = M⁻¹ Jᵀ x with w = J v + C x + b such that, for every row,
 *   lower ≤ x ≤ upper,   w ≥ 0 where x = lower,   w ≤ 0 where x = upper,   w = 0 between.
 * With b = J v* − (wanted speeds), v* the velocities before, v* + v are those after: they are unique.
 * x need not be. Any A that is symmetric and positive semidefinite has this form.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H
#define CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H

#include "server/engine/linalg/chol_block.h"
#include "server/engine/solvers/solver.h"

enum { LCP_BODY = CHOL_BLOCK, LCP_MIX = 6 };

struct lcp_sparse_problem {
	uint32_t rows, bodies;
	/* Row i acts on body[start[i]] … body[start[i + 1] - 1], in any order; a body named twice is
	 * acted on by the sum. Fixed bodies are left out. start: rows + 1. */
	const uint32_t *start, *body;
	const double (*jacobian)[LCP_BODY]; /* by entry; for rigid bodies linear, angular */
	/* By body; symmetric, positive semidefinite: zero where the body cannot move. For rigid bodies
	 * 1 / mass and the inverse inertia in world axes. */
	const double (*mass_inv)[LCP_BODY][LCP_BODY];
	const double *b;
	const double *lower, *upper; /* both NULL: 0 and ∞ */
	const double *compliance;    /* ≥ 0; NULL: 0 */
	/* In which order bodies are eliminated; NULL: AMD's. The bits of an answer depend on it. A wall's
	 * own order, course by course, is a good one. */
	const uint32_t *order;
};

/* What a workspace has room for. `pairs`: of entries of one row, all in all. `blocks`: of the factor;
 * lcp_sparse_order tells it. */
struct lcp_sparse_size {
	uint32_t rows, bodies, entries;
	size_t pairs, blocks;
};

struct lcp_sparse {
	struct lcp_sparse_size room;
	uint32_t rows, bodies;
	uint32_t choices; /* rows that have a bound to stand at */
	/* The pattern that is ordered, and its factor. */
	uint32_t *start, *body;	 /* as given; by entry */
	uint32_t *order, *place; /* bodies by elimination; and back */
	uint32_t *slot; /* by pair of entries of a row (q ≤ p), the block of the factor */
	uint32_t *at;	/* by entry: the place of its body */
	uint32_t *near_start, *near, *touch_start, *touch, *half, *amd;
	struct chol_block factor;
	size_t blocks_needed;
	bool ordered, own_order;
	/* The problem in units in which A's diagonal is near 1 and b's largest entry as well. */
	double (*jacobian)[LCP_BODY]; /* J times `root`, by entry */
	double (*mixed)[LCP_BODY]; /* the same for one step inside bounds, contacts' rows mixed */
	double (*root)[LCP_BODY][LCP_BODY]; /* M⁻¹ = root rootᵀ times 4^mass_shift, by body */
	double *b, *lower, *upper, *compliance, *weight;
	int32_t *row_shift, *unit_shift, *mass_shift, unit_top;
	int64_t lift;
	double size; /* the largest weighted |b| */
	/* By row, and 6 × bodies in the order of elimination. */
	double *x, *kept, *target, *w, *slope, *stiffness, *ray, *kept_fixed, *kept_limits,
		*kept_best, *low, *high;
	double *u, *du, *force, *kept_u, *kept_v;
	uint8_t *free; /* by row: w = 0 is asked, x is not at a bound */
	/* With friction (lcp_friction_sparse.h): bounds of tangents are ±μ times the x of their normal. */
	bool rough, tied; /* there is friction; bounds of tangents follow their normals */
	bool astray;	  /* the last rounds of the active set ran away and were given up */
	bool rough_cut;	  /* what goes out is cut to the bounds of its normals */
	uint32_t *normal; /* of a tangent; itself otherwise */
	double *friction; /* μ, in these units */
	int8_t *side; /* a bound tangent is at +μ x_n, −μ x_n, or (0) where there was nothing to be at */
	uint8_t *kind; /* enum friction_row */
	/* Steps that are combined: LCP_MIX × (unknowns + rows), LCP_MIX × rows, unknowns + 2 rows. */
	double *mix_step, *mix_moved, *mix_last;
	double goal; /* a gap at which the work is done */
	double soft; /* ε of the active set: smaller loses digits of the factor, larger refines longer */
	uint32_t factors_max;
	struct solver_result result;
};

/* The rule of size: whether an island of that many rows is cheaper here than with the dense solver.
 * Walls break even at about 60 rows (bench_lcp_sparse). */
static inline bool lcp_sparse_is_cheaper(uint32_t rows, uint32_t bodies)
{
	return rows >= 60 && rows >= 2 * bodies;
}

/* rows, bodies, entries and pairs of the problem; blocks: a guess, which holds for walls. */
struct lcp_sparse_size lcp_sparse_size_of(const struct lcp_sparse_problem *problem);
size_t lcp_sparse_bytes(struct lcp_sparse_size size);
void lcp_sparse_init(struct lcp_sparse *self, void *memory, struct lcp_sparse_size size);
/* Orders the bodies for this pattern (solving does it by itself where the pattern is another than
 * the last one). *blocks: what the factor needs; more than there is room for: LIMIT. */
enum solver_status lcp_sparse_order(struct lcp_sparse *self,
				    const struct lcp_sparse_problem *problem, size_t *blocks);
/* x: out, and with options.warm in as well (of a similar problem: the last tick's multipliers); v: out,
 * 6 × bodies, or NULL.
 * residual: the worst violation of a row (how far w and x are from complementarity, x counted times
 * A's diagonal) over the largest |b|, rows counted in units in which the largest entry of their Jacobian is
 * about 1; and the worst difference of v and M⁻¹ Jᵀ x of a body over the larger of that |b| and the body's
 * largest single term. Runaway impulses make nothing of this smaller but rounding of their own sum.
 * violation: of the rows alone, in the units of b. SOLVED: residual ≤ tolerance.
 * INFEASIBLE: `certificate` z, by row: z ≥ 0 where only upper is infinite, ≤ 0 where only lower is, 0 where
 * none is or there is compliance; −bᵀz ≥ 2^44 |b| √(zᵀAz) with all sums in twice the digits, rows in units in
 * which A's diagonal is near 1. No change of velocity less than 2^44 times b can solve such a problem.
 * INVALID: an index out of range, more than there is room for, numbers that are not finite, crossed bounds,
 * M⁻¹ not symmetric or not semidefinite, negative compliance. LIMIT: too little room for the factor
 * (`blocks_needed`), or rounds_max factors (0: 300) were made. INEXACT: ended, but for rounding.
 * rounds, refactorings: factors; pivots: rows that changed between free and bound. */
struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x,
				      double (*v)[LCP_BODY]);

#endif
