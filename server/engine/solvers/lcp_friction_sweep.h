/* lcp_friction_sweep.h: sweeps over the contacts of a large island; for the solvers only. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SWEEP_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SWEEP_H

#include "server/engine/solvers/lcp_sparse.h"

/* What sweeps need of A, once for a problem: one over its diagonal (slope; 0: there is none), entries
 * with the first row of the contact (stiffness), of a third row with the second (target), and how many
 * rows a contact has (free). These rooms are not touched until the last sweep. */
void lcp_friction_sweep_begin(struct lcp_sparse *self);
/* x and u = Jᵀ x after `count` sweeps, with momentum 0 ≤ … < 1 in between: the share of the way of a
 * sweep by which x goes on. Uses the rooms of ray and kept_u. */
void lcp_friction_sweep(struct lcp_sparse *self, uint32_t count, double momentum);

#endif
