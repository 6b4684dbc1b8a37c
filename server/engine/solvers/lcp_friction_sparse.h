/* lcp_friction_sparse.h: contacts with Coulomb friction for problems of thousands of rows over bodies.
 *
 * The conditions are those of lcp_friction.h: the same pyramid aligned with the contact's frame,
 * rows in the same order (a normal, then its tangents: none, one or two), joints with w = 0. Small
 * problems use lcp_friction, which is exact for problems on which this solver may not end.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SPARSE_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SPARSE_H

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse.h"

struct friction_sparse_problem {
	/* lower and upper (both or neither NULL) are read in JOINT rows only: motors and limits. NULL:
	 * joints have no bounds. */
	struct lcp_sparse_problem rows;
	const uint8_t *kind;	/* enum friction_row */
	const double *friction; /* μ ≥ 0 of tangent rows; others are not read */
};

/* Whether a problem of this many rows is solved faster by this solver than by lcp_friction. */
static inline bool lcp_friction_sparse_is_cheaper(uint32_t rows)
{
	return rows >= 24;
}

/* The workspace is that of lcp_sparse, with the same sizes (lcp_sparse_size_of(&problem->rows)).
 * x: out; with options.warm also in. v: out, 6 × bodies, or NULL: the change of velocity.
 * residual, violation: as lcp_sparse's, of Coulomb's conditions, with the bounds ±μ x_n from the x_n
 * returned. SOLVED: residual ≤ tolerance. Otherwise `fallbacks` is 1 and the status INEXACT (LIMIT:
 * rounds_max factors, 0: 500, were computed). x is then the attempt with the smallest residual that
 * lies within all pyramids and adds no energy; or the solution without friction; or 0. ½ xᵀA x +
 * bᵀx ≤ 0, to rounding, for every problem without joints whose bounds exclude 0. INFEASIBLE: the
 * normals and joints alone have no solution; `certificate` as lcp_sparse's, 0 in tangents.
 * Contradictions below 1e-2 of the largest b may end INEXACT if the rounds from a warm start
 * diverge. */
struct solver_result lcp_friction_sparse_solve(struct lcp_sparse *self,
					       const struct friction_sparse_problem *problem,
					       const struct solver_options *options, double *x,
					       double (*v)[LCP_BODY]);

#endif
