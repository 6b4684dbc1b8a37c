/* qp.h: the convex quadratic program and how well a point solves it.
 *
 * Minimise ½ xᵀG x + cᵀx subject to C x ≥ d in every row, = d in rows marked as equal. G is
 * symmetric and positive semidefinite (definite: the minimum is unique). With multipliers λ the
 * minimum is where G x + c = Cᵀλ,   s = C x − d ≥ 0,   λ ≥ 0,   s λ = 0   (equal rows: s = 0, λ of
 * any sign). Least restraint and the projection of velocities are of this form (C-07, R-04).
 */
#ifndef CAIRN_ENGINE_SOLVERS_QP_H
#define CAIRN_ENGINE_SOLVERS_QP_H

#include "server/engine/solvers/solver.h"

struct qp_problem {
	uint32_t variables, rows; /* either may be 0 */
	const double *g;          /* variables × variables, row by row */
	const double *c;
	const double *matrix; /* C: rows × variables, row by row */
	const double *d;
	const bool *equal; /* NULL: none */
};

bool qp_equal(const struct qp_problem *self, uint32_t row);
bool qp_valid(const struct qp_problem *self);
double qp_objective(const struct qp_problem *self, const double *x);
/* The worst violation of the conditions above, each relative: stationarity to the largest single
 * term of any of its sums; s to the row's steepest entry times the length of the problem (of x, of
 * the planes' distances |d| / max |C_k|, and of max |c| / max G_ii); λ to the largest |λ|. Where s
 * and λ are both positive the smaller counts. 0 for the exact solution. */
double qp_residual(const struct qp_problem *self, const double *x, const double *lambda);
/* In the problem's units: how far the worst row is below d (off d where equal), and the largest entry of
 * |G x + c − Cᵀλ|. */
void qp_violations(const struct qp_problem *self, const double *x, const double *lambda, double *row,
		   double *stationarity);

#endif
