/* lcp_sparse_core.h: functions that the parts of the sparse solvers share; for the solvers only.
 *
 * All numbers are in the units of the workspace: with s = row_shift and λ = b_shift, x is 2^(s − λ)
 * times and w and b are 2^(−s − λ) times those of the problem. A's diagonal is then in [1/2, 2) and the
 * largest b about 1. Velocities are represented by u = Jᵀ x, with v = root u for each body.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_SPARSE_CORE_H
#define CAIRN_ENGINE_SOLVERS_LCP_SPARSE_CORE_H

#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse.h"

/* A problem with at most so many rows that can be at a bound is small. For larger ones the solvers use
 * the interior-point method (lcp_sparse_interior.c) earlier, because changes of the active set need
 * more rounds there. */
enum { LCP_SPARSE_SMALL = 600 };
static inline bool lcp_sparse_is_small(const struct lcp_sparse *self)
{
	return self->bounded_rows <= LCP_SPARSE_SMALL;
}

/* Of the goal: the gap that is enough if nothing comes nearer, half of the caller's tolerance. */
#define LCP_SPARSE_STILL 5

/* The larger of the worst violation so far and one more; infinite from the first one that is not
 * finite, because scalar_max does not keep a NaN. */
static inline double lcp_sparse_worse(double worst, double violation)
{
	if (violation <= worst)
		return worst;
	return scalar_is_finite(violation) ? violation : __builtin_inf();
}

/* The violation of complementarity by x and w of a row within low … high, without weight. */
static inline double lcp_sparse_row_gap(double x, double w, double low, double high)
{
	double gap = scalar_max(scalar_min(w, x - low), x - high);
	return scalar_is_finite(gap) && scalar_is_finite(w) ? scalar_abs(gap) : __builtin_inf();
}

/* lcp_sparse_order.c: orders the pattern. INVALID: an index out of range or a problem larger than the
 * workspace; LIMIT: too many blocks. */
enum solver_status lcp_sparse_pattern(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem);

/* lcp_sparse_scale.c: copies the problem, scaled. x: a warm start or NULL. False: INVALID. */
bool lcp_sparse_load(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		     const double *x);
/* x and v in the problem's units, and their residual and violation. */
void lcp_sparse_unload(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, double *x,
		       double (*v)[LCP_BODY]);

/* The difference of u and Jᵀ x, as the residual counts it. */
double lcp_sparse_velocity_error(struct lcp_sparse *self);

/* lcp_sparse_active.c: solves with the free rows as equalities, frees and binds rows, and repeats until
 * no row changes. False: rows still change after `rounds`; x is then restored. */
bool lcp_sparse_active_set(struct lcp_sparse *self, uint32_t rounds);
/* Frees the rows whose x is clearly between its bounds, and binds the others. */
void lcp_sparse_free_by_x(struct lcp_sparse *self);

/* Sets the bounds of tangents from x of their normals, and x of bound tangents to these bounds. */
void lcp_sparse_tie(struct lcp_sparse *self);
void lcp_sparse_tie_row(struct lcp_sparse *self, uint32_t i);

/* lcp_sparse_newton.c: the method of multipliers. False: factors_max is reached, or the problem has no
 * solution (result.certificate). */
bool lcp_sparse_multipliers(struct lcp_sparse *self);

/* lcp_sparse_proof.c: whether `ray`, once cleaned, proves that the problem has no solution. */
bool lcp_sparse_prove(struct lcp_sparse *self);

/* lcp_sparse_interior.c: finds x inside its bounds (if tied, inside the friction pyramids), and sets
 * `free` and `side` from it. False: the error is too large. */
bool lcp_sparse_interior(struct lcp_sparse *self);

/* lcp_sparse.c: finds x and u for the present bounds. Status SOLVED, INEXACT, LIMIT or INFEASIBLE. */
enum solver_status lcp_sparse_run(struct lcp_sparse *self, bool warm);
void lcp_sparse_begin(struct lcp_sparse *self, const struct solver_options *options);
/* Computes the factor of 1 + Jᵀ D J, D = the rows' stiffness; 0 omits a row. */
void lcp_sparse_factor(struct lcp_sparse *self);
/* u := Jᵀ x. */
void lcp_sparse_transposed_mul(const struct lcp_sparse *self, const double *x, double *u);
/* The worst violation of complementarity by x and u, as the residual counts it; sets w. Infinite if w
 * of a row or its violation is not finite. */
double lcp_sparse_gap(const struct lcp_sparse *self, const double *u);

/* max |values[i]|. Unlike dense_max_abs it does not report a NaN. */
static inline double lcp_sparse_largest(const double *values, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = scalar_max(most, scalar_abs(values[i]));
	return most;
}

struct lcp_span {
	double low, high;
};

/* The bounds of tangent i if the friction limit of its contact is `limit`. */
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

/* Two neighbours of an array, anywhere. */
typedef double lcp_sparse_pair __attribute__((vector_size(16), aligned(8), may_alias));

/* J_i u. */
static inline double lcp_sparse_row_dot(const struct lcp_sparse *self, uint32_t i, const double *u)
{
	VALIDATE(i < self->rows);
	double sum = 0;
	for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
		const lcp_sparse_pair *j = (const lcp_sparse_pair *)self->jacobian[p];
		const lcp_sparse_pair *at =
			(const lcp_sparse_pair *)(u + LCP_BODY * (size_t)self->at[p]);
		lcp_sparse_pair a = j[0] * at[0], b = j[1] * at[1], c = j[2] * at[2];
		sum += ((a[0] + a[1]) + (b[0] + b[1])) + (c[0] + c[1]);
	}
	return sum;
}

/* u += s J_iᵀ. */
static inline void lcp_sparse_row_add(const struct lcp_sparse *self, uint32_t i, double s,
				      double *u)
{
	VALIDATE(i < self->rows);
	for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
		const lcp_sparse_pair *j = (const lcp_sparse_pair *)self->jacobian[p];
		lcp_sparse_pair *at = (lcp_sparse_pair *)(u + LCP_BODY * (size_t)self->at[p]);
		at[0] += j[0] * s;
		at[1] += j[1] * s;
		at[2] += j[2] * s;
	}
}

#endif
