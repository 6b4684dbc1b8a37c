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
	double *across;        /* L⁻¹ Cᵀ by rows of C */
	double *a, *b, *low, *high, *step, *gradient, *slack, *lambda, *certificate;
	uint8_t *state;
	double proximal; /* ρ */
	struct lcp_dantzig lcp;
};

size_t qp_dual_active_set_bytes(uint32_t variables, uint32_t rows);
void qp_dual_active_set_init(struct qp_dual_active_set *self, void *memory, uint32_t variables,
			     uint32_t rows);
/* x: `variables` values out; lambda: `rows` out. state: NULL, or `rows` enum lcp_state: out, and
 * with options.warm in as well. Limits when 0: pivots 20 rows + 500 a round; rounds 6, or 300 where
 * G is only semidefinite. tolerance is for qp_residual. INFEASIBLE: certificate z of `rows`, z ≥ 0
 * but in equal rows, Cᵀz = 0, d·z > 0 (Farkas). UNBOUNDED: certificate p of `variables`: G p = 0, C
 * p ≥ 0 (= 0 in equal rows), c·p < 0. */
struct solver_result qp_dual_active_set_solve(struct qp_dual_active_set *self,
					      const struct qp_problem *problem,
					      const struct solver_options *options, double *x,
					      double *lambda, uint8_t *state);

#endif
