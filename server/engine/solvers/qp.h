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
	const double *g;	  /* variables × variables, row by row */
	const double *c;
	const double *matrix; /* C: rows × variables, row by row */
	const double *d;
	const bool *equal; /* NULL: none */
};

bool qp_equal(const struct qp_problem *self, uint32_t row);
bool qp_valid(const struct qp_problem *self);
double qp_objective(const struct qp_problem *self, const double *x);
/* The worst violation of the conditions above, one by one, each relative. Stationarity, and the force
 * of a multiplier (|λ| times its row's steepest entry), to the largest force: a single term c_i, G_ij x_j,
 * C_ki λ_k (and, where c is 0 and so all forces may vanish, max G_ii times the distance of the farthest
 * plane), but at most 8 times what these sum up to, |c_i|, |(G x)_i|, |(Cᵀλ)_i|, so that no x or λ
 * without measure makes a violation small. s to its row's steepest entry times the length of the
 * problem: |x_i|, at most 8 times the planes' distances |d_k|, |C_k x| over their steepest entries,
 * and max |c| / max G_ii. A multiplier below 0 counts whatever its s is (it pulls); of s and λ both
 * positive the smaller one. 0 for the exact solution. */
double qp_conditions(const struct qp_problem *self, const double *x, const double *lambda);
/* That or the gap, whichever is worse: how far ½xᵀGx + cᵀx is from the value of the dual program, which is
 * |x·(G x + c) − d·λ|, over the largest of its terms |x_i (G x)_i|, |x_i c_i|, |d_k λ_k|, or over 2^-10 times
 * the largest force times the length where all of them are less. The conditions do not bound it: a
 * multiplier of the size of the forces at a row that is off by 1e-10 of a length of 1000 is a gap of
 * 1e-7. */
double qp_residual(const struct qp_problem *self, const double *x, const double *lambda);
/* How far the farthest plane is: max |d_k| / |C_k|, |C_k| a row's steepest entry. */
double qp_planes_length(const struct qp_problem *self);
/* Farkas: a point that satisfies all rows has d·z ≤ (Cᵀz)·x. Returns below which max |x| there is none, over
 * the length of the planes: infinite for an exact proof; −1 when z proves nothing (d·z
 * ≤ 0, or a z below 0 in a row that is not equal). In twice the digits. */
double qp_infeasibility(const struct qp_problem *self, const double *z);
/* A ray: along p the objective falls until ½ t² pᵀG p = −t c·p. Returns how far that is (max |x|), over the
 * length of the problem (of the planes and max |c| / max G_ii), when G p = 0 and C p ≥ 0 (= 0 where equal) to
 * 1e-9 of their terms; else −1. In twice the digits. */
double qp_unboundedness(const struct qp_problem *self, const double *p);
/* In the problem's units: how far the worst row is below d (off d where equal), and the largest entry of
 * |G x + c − Cᵀλ|. */
void qp_violations(const struct qp_problem *self, const double *x, const double *lambda,
		   double *row, double *stationarity);

#endif
