/* lcp_sparse_core.h: what the parts of the sparse solvers share; for the solvers only.
 *
 * All in the workspace's units: with s the row's shift and λ the lift, x is 2^(s − λ) times, w and b
 * are 2^(−s − λ) times those of the problem, so that A's diagonal lies in [1/2, 2) and the largest b at
 * about 1; u stands for v, of which it is the part before the body's root: v = root u, u = Jᵀ x.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_SPARSE_CORE_H
#define CAIRN_ENGINE_SOLVERS_LCP_SPARSE_CORE_H

#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse.h"

/* Rows that may stand at a bound. Larger islands are looked at from inside before much else is
 * tried. */
enum { LCP_SPARSE_FEW = 600 };
static inline bool lcp_sparse_few(const struct lcp_sparse *self)
{
	return self->choices <= LCP_SPARSE_FEW;
}

/* The larger of a worst violation so far and one more; infinite from the first one that is not
 * finite, because a maximum forgets a NaN. */
static inline double lcp_sparse_worse(double worst, double violation)
{
	if (violation <= worst)
		return worst;
	return scalar_is_finite(violation) ? violation : __builtin_inf();
}

/* How far x and w of a row are from complementarity within low … high, without weight. */
static inline double lcp_sparse_row_gap(double x, double w, double low, double high)
{
	double gap = scalar_max(scalar_min(w, x - low), x - high);
	return scalar_is_finite(gap) && scalar_is_finite(w) ? scalar_abs(gap) : __builtin_inf();
}

/* lcp_sparse_order.c: indices in range and room enough, or why not (INVALID, LIMIT). */
enum solver_status lcp_sparse_pattern(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem);

/* lcp_sparse_scale.c: false: INVALID. x: a warm start or NULL. */
bool lcp_sparse_take(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		     const double *x);
/* x and v in the problem's units; residual and violation of what goes out. */
void lcp_sparse_hand_out(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			 double *x, double (*v)[LCP_BODY]);

/* How far u is from Jᵀ x, as the residual counts it. */
double lcp_sparse_apart(struct lcp_sparse *self);

/* lcp_sparse_active.c: solves with the free rows as equalities, frees and binds rows until none has to
 * change. False: not in `rounds`, and x is what it was. */
bool lcp_sparse_active_set(struct lcp_sparse *self, uint32_t rounds);
/* Free are the rows whose x is clearly between its bounds. */
void lcp_sparse_free_by_x(struct lcp_sparse *self);

/* The bounds of tangents from the normals' x, and x of bound tangents with them. */
void lcp_sparse_tie(struct lcp_sparse *self);
void lcp_sparse_tie_row(struct lcp_sparse *self, uint32_t i);

/* lcp_sparse_newton.c: the method of multipliers; false: not within the factors allowed, or there is a
 * proof (result.certificate). */
bool lcp_sparse_multipliers(struct lcp_sparse *self);

/* lcp_sparse_proof.c: whether `ray` proves that there is no solution, once cleaned. */
bool lcp_sparse_prove(struct lcp_sparse *self);

/* lcp_sparse_interior.c: x inside its bounds (where tied, friction's pyramids), and `free` and
 * `side` as the rows act there. False: it came not near. */
bool lcp_sparse_interior(struct lcp_sparse *self);

/* lcp_sparse.c: makes x and u hold in these units. Status SOLVED, INEXACT, LIMIT, INFEASIBLE. */
enum solver_status lcp_sparse_run(struct lcp_sparse *self, bool warm);
void lcp_sparse_begin(struct lcp_sparse *self, const struct solver_options *options);
/* Factors 1 + Jᵀ D J with D the rows' stiffness (0: the row is left out). */
void lcp_sparse_factor(struct lcp_sparse *self);
/* u := Jᵀ x. */
void lcp_sparse_follow(const struct lcp_sparse *self, const double *x, double *u);
/* The worst violation of complementarity by x and u, as the residual counts it; w is set. Infinite
 * if the w of a row or its violation is not finite. */
double lcp_sparse_gap(const struct lcp_sparse *self, const double *u);

struct lcp_span {
	double low, high;
};

/* What tangent i may be where its contact's friction ends at `limit`. */
static inline struct lcp_span lcp_sparse_span(const struct lcp_sparse *self, uint32_t i,
					      double limit)
{
	VALIDATE(self->normal[i] != i);
	return (struct lcp_span){ self->kind[i] == FRICTION_FORWARD ? limit : -limit,
				  self->kind[i] == FRICTION_BACKWARD ? -limit : limit };
}

static inline size_t lcp_sparse_unknowns(const struct lcp_sparse *self)
{
	return LCP_BODY * (size_t)self->bodies;
}

/* J_i u. */
static inline double lcp_sparse_row_dot(const struct lcp_sparse *self, uint32_t i, const double *u)
{
	VALIDATE(i < self->rows);
	double sum = 0;
	for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
		const double *j = self->jacobian[p], *at = u + LCP_BODY * (size_t)self->at[p];
		sum += ((j[0] * at[0] + j[1] * at[1]) + (j[2] * at[2] + j[3] * at[3])) +
		       (j[4] * at[4] + j[5] * at[5]);
	}
	return sum;
}

/* u += s J_iᵀ. */
static inline void lcp_sparse_row_add(const struct lcp_sparse *self, uint32_t i, double s,
				      double *u)
{
	VALIDATE(i < self->rows);
	for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
		const double *j = self->jacobian[p];
		double *at = u + LCP_BODY * (size_t)self->at[p];
		for (uint32_t c = 0; c < LCP_BODY; c++)
			at[c] += s * j[c];
	}
}

#endif
