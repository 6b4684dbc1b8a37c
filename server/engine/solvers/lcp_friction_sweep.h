/* lcp_friction_sweep.h: sweeps over the contacts of a large problem; for the solvers only. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SWEEP_H
#define CAIRN_ENGINE_SOLVERS_LCP_FRICTION_SWEEP_H

#include "server/engine/solvers/lcp_sparse.h"

/* Computes the entries of A that sweeps need, once for a problem: the inverse of its diagonal (in
 * `slope`; 0 for an entry of 0), the entry with the first row of the contact (in `stiffness`), that
 * of a third row with the second (in `target`), and the number of rows of the contact (in `free`).
 * The caller does not change these arrays until the last sweep. */
void lcp_friction_sweep_begin(struct lcp_sparse *self);
/* `count` sweeps of x and u = Jᵀ x. Between two sweeps x is extrapolated by up to `momentum` (0 ≤ …
 * < 1) times the change of the last one. Uses the arrays ray and kept_u. */
void lcp_friction_sweep(struct lcp_sparse *self, uint32_t count, double momentum);

#endif
