/* lcp_sparse.h: the LCP with bounds for thousands of rows over bodies.
 *
 * A = J M⁻¹ Jᵀ + C: row i of J acts on few bodies, M is of 6 × 6 blocks, C ≥ 0 is diagonal. Find x and
 * the change of velocity v = M⁻¹ Jᵀ x so that w = J v + C x + b and, for every row,
 *   lower ≤ x ≤ upper,   w ≥ 0 where x = lower,   w ≤ 0 where x = upper,   w = 0 between.
 * With b = J v* − (target speeds) and v* the velocities before, v* + v are the velocities after.
 * They are unique; x need not be. Any symmetric positive semidefinite A has this form.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H
#define CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H

#include "server/engine/linalg/chol_block.h"
#include "server/engine/solvers/solver.h"

enum { LCP_BODY = CHOL_BLOCK, LCP_MIX = 6 };

struct lcp_sparse_problem {
	uint32_t rows, bodies;
	/* Row i acts on body[start[i]] … body[start[i + 1] - 1], in any order; the entries of a
	 * body that is named twice add up. Fixed bodies are omitted. start: rows + 1 numbers. */
	const uint32_t *start, *body;
	const double (*jacobian)[LCP_BODY]; /* by entry; for rigid bodies linear, angular */
	/* By body; symmetric, positive semidefinite; 0 in directions in which the body cannot move. For
	 * rigid bodies 1 / mass and the inverse inertia in world axes. */
	const double (*mass_inv)[LCP_BODY][LCP_BODY];
	const double *b;
	const double *lower, *upper; /* both NULL: 0 and ∞ */
	const double *compliance;    /* ≥ 0; NULL: 0 */
	/* The order of elimination of the bodies; NULL: approximate minimum degree (order_amd.h). The
	 * bits of a solution depend on it. For a wall, course by course is a good order. */
	const uint32_t *order;
};

/* The capacity of a workspace. `pairs`: pairs of entries of the same row, summed over rows.
 * `blocks`: of the factor; lcp_sparse_order computes the number. */
struct lcp_sparse_size {
	uint32_t rows, bodies, entries;
	size_t pairs, blocks;
};

struct lcp_sparse {
	struct lcp_sparse_size capacity;
	uint32_t rows, bodies;
	uint32_t bounded_rows; /* rows with a finite bound, or a contact's */
	/* The pattern that has been ordered, and its factor. */
	uint32_t *start, *body;	 /* as in the problem: by row; by entry */
	uint32_t *order, *place; /* bodies in the order of elimination; and its inverse */
	uint32_t *slot; /* by pair of entries of a row (q ≤ p), the block of the factor */
	uint32_t *at;	/* by entry: the place of its body */
	uint32_t *near_start, *near, *touch_start, *touch, *half, *amd;
	struct chol_block factor;
	size_t blocks_needed;
	bool ordered, own_order;
	/* The problem in units in which A's diagonal and the largest entry of b are near 1. */
	double (*jacobian)[LCP_BODY];	    /* J times `root`, by entry */
	double (*mixed)[LCP_BODY];	    /* L⁻¹ J of a step of lcp_sparse_interior.c */
	double (*root)[LCP_BODY][LCP_BODY]; /* M⁻¹ = root rootᵀ times 4^mass_shift, by body */
	double *b, *lower, *upper, *compliance, *weight;
	int32_t *row_shift, *unit_shift, *mass_shift, unit_top;
	int64_t b_shift; /* exponent of the largest b in units of the rows */
	double size;	 /* the largest weighted |b| */
	/* By row, and 6 × bodies in the order of elimination. */
	double *x, *kept, *target, *w, *slope, *stiffness, *ray, *kept_fixed, *kept_limits,
		*kept_best, *low, *high;
	double *u, *du, *force, *kept_u, *kept_v;
	uint8_t *free; /* by row: 1 if w = 0 must hold and x may change, 0 if x is at a bound */
	/* With friction (lcp_friction_sparse.h) the bounds of a tangent are ±μ times x of its
	 * normal. */
	bool with_friction, tied; /* tied: bounds of tangents follow their normals */
	bool diverged;	     /* the last rounds of the active set were stopped because x grew */
	bool clamp_tangents; /* the x returned of tangents is clamped to their bounds */
	uint32_t *normal;    /* of a tangent; itself otherwise */
	double *friction;    /* μ, in these units */
	int8_t *side; /* of a bound tangent: 1 at +μ x_n, −1 at −μ x_n, 0 if both bounds were 0 */
	uint8_t *kind; /* enum friction_row */
	/* Steps that Anderson's acceleration combines (lcp_sparse_active.c): LCP_MIX × (unknowns +
	 * rows), LCP_MIX × rows, unknowns + 2 × rows. */
	double *mix_step, *mix_moved, *mix_last;
	double mix_products[LCP_MIX][LCP_MIX]; /* of the rows of mix_moved */
	double goal;			       /* the gap at which the solver stops */
	double coarse; /* the error to which rounds with ties refine while rows change; 0: the goal's */
	/* ε of the active set: a smaller one loses digits of the factor, a larger one needs more
	 * refinements. */
	double soft;
	uint32_t factors_max;
	uint32_t active_rounds; /* of options */
	struct solver_result result;
};

/* Whether a problem of this size is solved faster by this solver than by the dense one. For walls both
 * take the same time at about 60 rows (bench_lcp_sparse). */
static inline bool lcp_sparse_is_cheaper(uint32_t rows, uint32_t bodies)
{
	return rows >= 60 && rows >= 2 * bodies;
}

/* The rows, bodies, entries and pairs of the problem, and an estimate of blocks that is enough for
 * walls. */
struct lcp_sparse_size lcp_sparse_size_of(const struct lcp_sparse_problem *problem);
size_t lcp_sparse_bytes(struct lcp_sparse_size size);
void lcp_sparse_init(struct lcp_sparse *self, void *memory, struct lcp_sparse_size size);
/* Orders the bodies for this pattern (solving also does it if the pattern differs from the last one).
 * *blocks: the number that the factor needs. LIMIT: more than the workspace has. */
enum solver_status lcp_sparse_order(struct lcp_sparse *self,
				    const struct lcp_sparse_problem *problem, size_t *blocks);
/* x: out; with options.warm also in (the multipliers of a similar problem, such as the last tick's).
 * v: out, 6 × bodies, or NULL.
 * residual: the larger of two ratios. The worst violation of complementarity by w and x of a row (x
 * times A's diagonal) over the largest |b|, with rows in units in which the largest entry of their
 * Jacobian is about 1; and the worst difference of v and M⁻¹ Jᵀ x of a body over the larger of that |b|
 * and the body's largest single term. Very large impulses do not reduce a violation, only the weight of
 * the rounding of their own sum.
 * violation: of the rows alone, in the units of b. SOLVED: residual ≤ tolerance.
 * INFEASIBLE: `certificate` z, by row: z ≥ 0 where only upper is infinite, ≤ 0 where only lower is
 * infinite, 0 where neither is or the row has compliance; −bᵀz ≥ 2^44 |b| √(zᵀAz) with all sums in
 * twice the digits, rows in units in which A's diagonal is near 1. No change of velocity below 2^44
 * times b solves such a problem.
 * INVALID: an index out of range, a problem larger than the workspace, numbers that are not finite,
 * crossed bounds, M⁻¹ not symmetric or not semidefinite, negative compliance.
 * LIMIT: the factor needs more blocks than the workspace has (`blocks_needed`), or rounds_max
 * factors (0: 300) were computed.
 * INEXACT: the method ended with a residual above the tolerance.
 * rounds, refactorings: factors; pivots: rows that changed between free and bound. */
struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x,
				      double (*v)[LCP_BODY]);

#endif
