/* qp_dual_active_set.h: the convex QP by a dual active set (Goldfarb and Idnani). */
#ifndef CAIRN_ENGINE_SOLVERS_QP_DUAL_ACTIVE_SET_H
#define CAIRN_ENGINE_SOLVERS_QP_DUAL_ACTIVE_SET_H

#include "server/engine/linalg/chol.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "server/engine/solvers/qp.h"

struct qp_dual_active_set {
	uint32_t variables_max, rows_max;
	struct chol factor;    /* of G, or of G + ρ */
	double *lower, *point; /* its storage; x of the best round */
	double *across;	       /* L⁻¹ Cᵀ by rows of C */
	double *a, *b, *low, *high, *step, *gradient, *slack, *lambda, *held, *certificate, *ray;
	double *unit,
		*spare; /* of the program for the point nearest to 0: its matrix; x, λ and c */
	uint8_t *state, *state_kept;
	double proximal; /* ρ */
	bool prepared;	 /* the factor is complete, and `across` and `a` belong to it */
	bool with_gap;	 /* rounds are measured by qp_residual, otherwise by qp_conditions */
	struct lcp_dantzig lcp;
};

size_t qp_dual_active_set_bytes(uint32_t variables, uint32_t rows);
void qp_dual_active_set_init(struct qp_dual_active_set *self, void *memory, uint32_t variables,
			     uint32_t rows);
/* x: `variables` values out; lambda: `rows` values out. state: NULL, or `rows` enum lcp_state: out, and
 * with options.warm also in. Defaults of options: pivots_max 20 rows + 500 in each round;
 * rounds_max 6, or 60 for each of 5 values of ρ if G is only semidefinite or, because of rounding,
 * gives no better result (then `fallbacks` is 1). The tolerance applies to qp_residual. Rounds are
 * measured by qp_conditions; more rounds follow if only the gap is too large. INFEASIBLE:
 * certificate z, `rows` values, qp_infeasibility ≥ 1e8. UNBOUNDED: certificate p, `variables`
 * values, qp_unboundedness ≥ 1e8, and a point satisfies the rows. With G = 0 this is a linear
 * program, which the same rounds solve in finitely many steps; lp_dual_simplex is faster for it. */
struct solver_result qp_dual_active_set_solve(struct qp_dual_active_set *self,
					      const struct qp_problem *problem,
					      const struct solver_options *options, double *x,
					      double *lambda, uint8_t *state);

#endif
