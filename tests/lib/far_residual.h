/* far_residual.h: the residuals of complementarity problems and programs in numbers of four words:
 * a separate exponent, which holds any product of two doubles, and 113 bits, which keep the rest of
 * large terms that cancel. lcp_residual, qp_residual and lp_residual must agree with them even on
 * such problems. */
#ifndef CAIRN_TESTS_LIB_FAR_RESIDUAL_H
#define CAIRN_TESTS_LIB_FAR_RESIDUAL_H

#include <math.h>

#include "server/engine/solvers/lcp.h"
#include "server/engine/solvers/lp.h"
#include "server/engine/solvers/qp.h"

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 far;
#else
typedef long double far;
#endif

static inline far far_abs(far a)
{
	return a < 0 ? -a : a;
}

static inline far far_max(far a, far b)
{
	return a < b ? b : a;
}

static inline far far_min(far a, far b)
{
	return b < a ? b : a;
}

static inline far far_lcp_residual(const struct lcp_problem *self, const double *x)
{
	far worst = 0, scale = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		const double *row = self->a + (size_t)i * self->stride;
		far root = row[i] > 0 ? (far)sqrt(row[i]) : 1, sum = self->b[i];
		far most = far_abs(sum);
		for (uint32_t j = 0; j < self->count; j++) {
			far term = (far)row[j] * x[j];
			sum += term;
			most = far_max(most, far_abs(term));
		}
		far above = ((far)x[i] - lcp_lower(self, i)) * root;
		far below = ((far)x[i] - lcp_upper(self, i)) * root;
		worst = far_max(worst, far_abs(far_min(far_max(sum / root, below), above)));
		scale = far_max(scale, most / root);
	}
	return worst == 0 ? 0 : worst / scale;
}

/* The largest entry of row k. */
static inline far far_steep(const struct qp_problem *self, uint32_t k)
{
	far steep = 0;
	for (uint32_t j = 0; j < self->variables; j++)
		steep = far_max(steep, far_abs(self->matrix[k * self->variables + j]));
	return steep;
}

/* C_k x. */
static inline far far_row(const struct qp_problem *self, uint32_t k, const double *x)
{
	far sum = 0;
	for (uint32_t j = 0; j < self->variables; j++)
		sum += (far)self->matrix[k * self->variables + j] * x[j];
	return sum;
}

static inline far far_length(const struct qp_problem *self, const double *x)
{
	far size = 0, curve = 0, force = 0, reach = 0;
	for (uint32_t i = 0; i < self->variables; i++) {
		reach = far_max(reach, far_abs(x[i]));
		curve = far_max(curve, self->g[i * self->variables + i]);
		force = far_max(force, far_abs(self->c[i]));
	}
	size = curve > 0 ? force / curve : 0;
	for (uint32_t k = 0; k < self->rows; k++)
		if (far_steep(self, k) > 0)
			size = far_max(size,
				       far_max(far_abs(self->d[k]), far_abs(far_row(self, k, x))) /
					       far_steep(self, k));
	return far_max(size, far_min(reach, 8 * size));
}

/* The largest force; *off: the worst |G x + c − Cᵀλ|. */
static inline far far_force(const struct qp_problem *self, const double *x, const double *lambda,
			    far *off)
{
	far most = 0, size = 0;
	uint32_t n = self->variables;
	bool costless = true;
	*off = 0;
	for (uint32_t i = 0; i < n; i++) {
		far bend = 0, force = 0;
		costless = costless && self->c[i] == 0;
		for (uint32_t j = 0; j < n; j++) {
			far term = (far)self->g[i * n + j] * x[j];
			bend += term;
			most = far_max(most, far_abs(term));
		}
		for (uint32_t k = 0; k < self->rows; k++) {
			far term = (far)self->matrix[k * n + i] * lambda[k];
			force += term;
			most = far_max(most, far_abs(term));
		}
		*off = far_max(*off, far_abs(self->c[i] + bend - force));
		size = far_max(
			size, far_max(far_abs(self->c[i]), far_max(far_abs(bend), far_abs(force))));
	}
	/* Without a cost all forces may be zero. */
	for (uint32_t i = 0, k; i < n && costless; i++)
		for (k = 0; k < self->rows; k++)
			if (far_steep(self, k) > 0)
				size = far_max(size, self->g[i * n + i] * far_abs(self->d[k]) /
							     far_steep(self, k));
	return far_max(size, far_min(most, 8 * size));
}

/* The duality gap divided by the largest of its terms. */
static inline far far_gap(const struct qp_problem *self, const double *x, const double *lambda,
			  far least)
{
	far sum = 0, most = least;
	uint32_t n = self->variables;
	for (uint32_t i = 0; i < n; i++) {
		far bend = 0, push = (far)self->c[i] * x[i];
		for (uint32_t j = 0; j < n; j++)
			bend += (far)self->g[i * n + j] * x[j];
		sum += bend * x[i] + push;
		most = far_max(most, far_max(far_abs(bend * x[i]), far_abs(push)));
	}
	for (uint32_t k = 0; k < self->rows; k++) {
		far push = (far)self->d[k] * lambda[k];
		sum -= push;
		most = far_max(most, far_abs(push));
	}
	return sum == 0 ? 0 : far_abs(sum) / most;
}

static inline far far_qp_residual(const struct qp_problem *self, const double *x,
				  const double *lambda)
{
	far stationarity, force = far_force(self, x, lambda, &stationarity);
	far worst = stationarity == 0 ? 0 : stationarity / force;
	far size = far_length(self, x);
	worst = far_max(worst, far_gap(self, x, lambda, force * size / 1024));
	for (uint32_t k = 0; k < self->rows; k++) {
		far steep = far_steep(self, k), s = far_row(self, k, x) - self->d[k];
		far off = s == 0 ? 0 : far_abs(s) / (steep * size);
		far pull = far_abs((far)lambda[k]) * steep;
		far share = pull == 0 ? 0 : pull / force;
		if (steep == 0 && s > 0 && !qp_equal(self, k))
			off = 0;
		if (qp_equal(self, k) || s < 0)
			worst = far_max(worst, off);
		if (!qp_equal(self, k) && lambda[k] < 0)
			worst = far_max(worst, share);
		if (!qp_equal(self, k) && lambda[k] >= 0 && s >= 0)
			worst = far_max(worst, far_min(off, share));
	}
	return worst;
}

struct far_sum {
	far value, size;
};

static inline far far_outside(struct far_sum sum, double low, double high)
{
	far out = 0;
	if (low > -LP_INFINITY)
		out = far_max(out, low - sum.value);
	if (high < LP_INFINITY)
		out = far_max(out, sum.value - high);
	return out / (1 + sum.size);
}

static inline far far_mispriced(struct far_sum price, struct far_sum sum, double low, double high)
{
	far d = price.value / (1 + price.size), way = LP_INFINITY;
	if (d > 0 && low > -LP_INFINITY)
		way = (sum.value - low) / (1 + sum.size);
	if (d <= 0 && high < LP_INFINITY)
		way = (high - sum.value) / (1 + sum.size);
	return far_min(far_abs(d), far_abs(way));
}

/* Row i of A x, or column j of yᵀA. */
static inline struct far_sum far_product(const struct lp_matrix *a, const double *by, bool row,
					 uint32_t which)
{
	struct far_sum sum = { 0, 0 };
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++) {
			if ((row ? a->index[k] : j) != which)
				continue;
			far term = (far)a->values[k] * by[row ? j : a->index[k]];
			sum.value += term;
			sum.size += far_abs(term);
		}
	return sum;
}

static inline far far_lp_residual(const struct lp_problem *self, const double *x,
				  const double *dual)
{
	far worst = 0;
	for (uint32_t j = 0; j < self->matrix.columns; j++) {
		struct far_sum at = { x[j], far_abs(x[j]) };
		struct far_sum price = far_product(&self->matrix, dual, false, j);
		price.value = self->cost[j] - price.value;
		price.size += far_abs(self->cost[j]);
		worst = far_max(worst, far_outside(at, self->column_low[j], self->column_high[j]));
		worst = far_max(
			worst, far_mispriced(price, at, self->column_low[j], self->column_high[j]));
	}
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		struct far_sum at = far_product(&self->matrix, x, true, i);
		struct far_sum price = { dual[i], far_abs(dual[i]) };
		worst = far_max(worst, far_outside(at, self->row_low[i], self->row_high[i]));
		worst = far_max(worst,
				far_mispriced(price, at, self->row_low[i], self->row_high[i]));
	}
	return worst;
}

#endif
