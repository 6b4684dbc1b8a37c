/* qp.h: the convex quadratic program, and checks of a solution or certificate.
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
	const bool *equal; /* rows with = d; NULL: none */
};

bool qp_equal(const struct qp_problem *self, uint32_t row);
/* Whether all numbers are finite. */
bool qp_valid(const struct qp_problem *self);
double qp_objective(const struct qp_problem *self, const double *x);
/* The worst relative violation of the conditions above. 0 for the exact solution.
 *   Stationarity, and the force of a multiplier (|λ| times the largest entry of its row), are relative
 * to the largest force. That is the largest single term c_i, G_ij x_j, C_ki λ_k, but at most 8
 * times the largest sum |c_i|, |(G x)_i|, |(Cᵀλ)_i|, so that an extremely large x or λ does not
 * make a violation small. If c is 0, so that all forces may vanish, max G_ii times the distance of
 * the farthest plane counts as a force too.
 *   s is relative to the largest entry of its row times the length of the problem. That is the largest
 * |x_i|, but at most 8 times the distances of the planes (|d_k|, |C_k x| over the largest entry of the
 * row) and max |c| / max G_ii.
 *   A multiplier below 0 counts for any s. If s and λ are both positive, the smaller one counts. */
double qp_conditions(const struct qp_problem *self, const double *x, const double *lambda);
/* The larger of qp_conditions and the duality gap: the difference |x·(G x + c) − d·λ| of the values
 * of the program and its dual, over the largest of its terms |x_i (G x)_i|, |x_i c_i|, |d_k λ_k|,
 * but at least over 2^-10 times the largest force times the length. The conditions do not bound the
 * gap: a multiplier of the size of the forces at a row with an error of 1e-10 of a length of 1000
 * gives a gap of 1e-7. */
double qp_residual(const struct qp_problem *self, const double *x, const double *lambda);
/* The distance of the farthest plane: max |d_k| / |C_k|, |C_k| the largest entry of the row. */
double qp_planes_length(const struct qp_problem *self);
/* Farkas: a point that satisfies all rows has d·z ≤ (Cᵀz)·x. Returns the max |x|, over the length
 * of the planes, below which no point exists: infinite for an exact proof; −1 if z proves nothing
 * (d·z ≤ 0, or z < 0 in a row that is not equal). Computed in twice the digits. */
double qp_infeasibility(const struct qp_problem *self, const double *z);
/* A ray: along p the objective falls until ½ t² pᵀG p = −t c·p. Returns the max |x| at that point,
 * over the length of the problem (of the planes and max |c| / max G_ii), if G p = 0 and C p ≥ 0 (=
 * 0 in equal rows) to 1e-9 of their terms; otherwise −1. Computed in twice the digits. */
double qp_unboundedness(const struct qp_problem *self, const double *p);
/* In the problem's units: the largest d − C x of a row (|C x − d| of an equal one), and the
 * largest entry of |G x + c − Cᵀλ|. */
void qp_violations(const struct qp_problem *self, const double *x, const double *lambda,
		   double *row, double *stationarity);

#endif
