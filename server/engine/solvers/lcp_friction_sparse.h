/* lcp_friction_sparse.h: contacts with Coulomb friction for islands of thousands, over bodies.
 *
 * The conditions are those of lcp_friction.h: the same pyramid aligned with the contact's frame, rows in the
 * same order (tangents, none, one or two, follow their normal), joints with w = 0. Small islands stay with
 * lcp_friction, which is exact where this one is not sure to end.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SPARSE_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SPARSE_H

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse.h"

struct friction_sparse_problem {
	/* lower and upper (both or none) are used of JOINT rows only: motors and limits; NULL: none
	 * there. Those of others are not read. */
	struct lcp_sparse_problem rows;
	const uint8_t *kind;	/* enum friction_row */
	const double *friction; /* μ ≥ 0 of tangent rows; others are not read */
};

/* The rule of size: whether an island of that many rows is cheaper here than with lcp_friction. */
static inline bool lcp_friction_sparse_is_cheaper(uint32_t rows)
{
	return rows >= 24;
}

/* The workspace is lcp_sparse's, of the same sizes (lcp_sparse_size_of(&problem->rows)).
 * x: out, and with options.warm in as well; v: out, 6 × bodies, or NULL: the change of velocity.
 * residual, violation: as lcp_sparse's, of the true conditions, with the bounds ±μ x_n of the x_n
 * that goes out. SOLVED: they hold. Otherwise `fallbacks` is 1 and the status INEXACT (LIMIT: after
 * rounds_max factors, 0: 500): x is the closest of what was tried that adds no energy, within all
 * pyramids; or is without friction, or 0. ½ xᵀA x + bᵀx ≤ 0, to rounding, in every case without joints
 * whose bounds leave out 0. INFEASIBLE: the normals and joints alone have no solution;
 * `certificate` as lcp_sparse's, 0 in tangents. (Contradictions of less than 1e-2 of the largest b may stay
 * INEXACT where a warm start's rounds run away.) */
struct solver_result lcp_friction_sparse_solve(struct lcp_sparse *self,
					       const struct friction_sparse_problem *problem,
					       const struct solver_options *options, double *x,
					       double (*v)[LCP_BODY]);

#endif
