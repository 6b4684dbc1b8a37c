/* lcp_dantzig.h: the LCP with bounds solved exactly by pivoting, redundant rows included. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_DANTZIG_H
#define CAIRN_ENGINE_SOLVERS_LCP_DANTZIG_H

#include "server/engine/solvers/lcp_core.h"

struct lcp_dantzig {
	struct lcp_core core;
	double *w, *first, *certificate;
	bool stuck; /* the last attempt found no solution, proved or not */
};

size_t lcp_dantzig_bytes(uint32_t rows);
void lcp_dantzig_init(struct lcp_dantzig *self, void *memory, uint32_t rows);
/* x: out, `count` values, always within the bounds. state: NULL, or `count` enum lcp_state: out, and with
 * options.warm in as well: the active set to start from (any bytes are allowed; a good guess saves pivots).
 * Limits when 0: pivots 20 n + 500, rounds 10. tolerance is for lcp_residual.
 * INFEASIBLE: certificate z, with entries other than 0 only towards infinite bounds, Aᵀz = 0 to rounding
 * and b·z < 0: no solution has a Σ |x| below −b·z / max |Aᵀz|, which is at least 1e8 of the largest
 * |b|, all in units in which diagonals are about 1. UNBOUNDED: A is not semidefinite, zᵀA z < 0; x + s z
 * satisfies all rows but one for all s ≥ 0. */
struct solver_result lcp_dantzig_solve(struct lcp_dantzig *self, const struct lcp_problem *problem,
				       const struct solver_options *options, double *x,
				       uint8_t *state);

#endif
