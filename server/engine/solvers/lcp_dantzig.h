/* lcp_dantzig.h: the LCP with bounds solved exactly by pivoting, redundant rows included. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_DANTZIG_H
#define CAIRN_ENGINE_SOLVERS_LCP_DANTZIG_H

#include "server/engine/solvers/lcp_core.h"

struct lcp_dantzig {
	struct lcp_core core;
	double *w, *first, *certificate;
};

size_t lcp_dantzig_bytes(uint32_t rows);
void lcp_dantzig_init(struct lcp_dantzig *self, void *memory, uint32_t rows);
/* x: `count` values out, always within the bounds. state: NULL, or `count` enum lcp_state: out, and
 * with options.warm in as well: where to start (any content is allowed; a good guess is quick).
 * Limits when 0: pivots 20 n + 500, rounds 10. tolerance is for lcp_residual.
 * INFEASIBLE: certificate z moves every row only towards infinite bounds, with A z = 0 and
 * b·z < 0. UNBOUNDED: A is not semidefinite, x + s z satisfies all rows but one for all s ≥ 0. */
struct solver_result lcp_dantzig_solve(struct lcp_dantzig *self, const struct lcp_problem *problem,
				       const struct solver_options *options, double *x,
				       uint8_t *state);

#endif
