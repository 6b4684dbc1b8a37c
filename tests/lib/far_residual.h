/* far_residual.h: the residuals of complementarity problems and programs in long double, whose
 * exponent holds any product of two doubles: what lcp_residual, qp_residual and lp_residual must say
 * even where doubles leave their range. */
#ifndef CAIRN_TESTS_LIB_FAR_RESIDUAL_H
#define CAIRN_TESTS_LIB_FAR_RESIDUAL_H

#include <math.h>

#include "server/engine/solvers/lcp.h"
#include "server/engine/solvers/lp.h"
#include "server/engine/solvers/qp.h"

static inline long double far_lcp_residual(const struct lcp_problem *self, const double *x)
{
	long double worst = 0, scale = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		const double *row = self->a + (size_t)i * self->stride;
		long double root = row[i] > 0 ? sqrtl(row[i]) : 1, sum = self->b[i];
		long double most = fabsl(sum);
		for (uint32_t j = 0; j < self->count; j++) {
			long double term = (long double)row[j] * x[j];
			sum += term;
			most = fmaxl(most, fabsl(term));
		}
		long double above = ((long double)x[i] - lcp_lower(self, i)) * root;
		long double below = ((long double)x[i] - lcp_upper(self, i)) * root;
		worst = fmaxl(worst, fabsl(fminl(fmaxl(sum / root, below), above)));
		scale = fmaxl(scale, most / root);
	}
	return worst == 0 ? 0 : worst / scale;
}

/* The largest entry of row k. */
static inline long double far_steep(const struct qp_problem *self, uint32_t k)
{
	long double steep = 0;
	for (uint32_t j = 0; j < self->variables; j++)
		steep = fmaxl(steep, fabs(self->matrix[k * self->variables + j]));
	return steep;
}

/* C_k x. */
static inline long double far_row(const struct qp_problem *self, uint32_t k, const double *x)
{
	long double sum = 0;
	for (uint32_t j = 0; j < self->variables; j++)
		sum += (long double)self->matrix[k * self->variables + j] * x[j];
	return sum;
}

static inline long double far_length(const struct qp_problem *self, const double *x)
{
	long double size = 0, curve = 0, force = 0, reach = 0;
	for (uint32_t i = 0; i < self->variables; i++) {
		reach = fmaxl(reach, fabs(x[i]));
		curve = fmaxl(curve, self->g[i * self->variables + i]);
		force = fmaxl(force, fabs(self->c[i]));
	}
	size = curve > 0 ? force / curve : 0;
	for (uint32_t k = 0; k < self->rows; k++)
		if (far_steep(self, k) > 0)
			size = fmaxl(size, fmaxl(fabs(self->d[k]), fabsl(far_row(self, k, x))) /
						   far_steep(self, k));
	return fmaxl(size, fminl(reach, 8 * size));
}

/* The largest force; *off: the worst |G x + c − Cᵀλ|. */
static inline long double far_force(const struct qp_problem *self, const double *x,
				    const double *lambda, long double *off)
{
	long double most = 0, size = 0;
	uint32_t n = self->variables;
	bool costless = true;
	*off = 0;
	for (uint32_t i = 0; i < n; i++) {
		long double bend = 0, force = 0;
		costless = costless && self->c[i] == 0;
		for (uint32_t j = 0; j < n; j++) {
			long double term = (long double)self->g[i * n + j] * x[j];
			bend += term;
			most = fmaxl(most, fabsl(term));
		}
		for (uint32_t k = 0; k < self->rows; k++) {
			long double term = (long double)self->matrix[k * n + i] * lambda[k];
			force += term;
			most = fmaxl(most, fabsl(term));
		}
		*off = fmaxl(*off, fabsl(self->c[i] + bend - force));
		size = fmaxl(size, fmaxl(fabs(self->c[i]), fmaxl(fabsl(bend), fabsl(force))));
	}
	/* Without a cost all forces may vanish. */
	for (uint32_t i = 0, k; i < n && costless; i++)
		for (k = 0; k < self->rows; k++)
			if (far_steep(self, k) > 0)
				size = fmaxl(size, self->g[i * n + i] * fabsl(self->d[k]) /
							   far_steep(self, k));
	return fmaxl(size, fminl(most, 8 * size));
}

static inline long double far_qp_residual(const struct qp_problem *self, const double *x,
					  const double *lambda)
{
	long double stationarity, force = far_force(self, x, lambda, &stationarity);
	long double worst = stationarity == 0 ? 0 : stationarity / force;
	long double size = far_length(self, x);
	for (uint32_t k = 0; k < self->rows; k++) {
		long double steep = far_steep(self, k), s = far_row(self, k, x) - self->d[k];
		long double off = s == 0 ? 0 : fabsl(s) / (steep * size);
		long double pull = fabsl((long double)lambda[k]) * steep;
		long double share = pull == 0 ? 0 : pull / force;
		if (steep == 0 && s > 0 && !qp_equal(self, k))
			off = 0;
		if (qp_equal(self, k) || s < 0)
			worst = fmaxl(worst, off);
		if (!qp_equal(self, k) && lambda[k] < 0)
			worst = fmaxl(worst, share);
		if (!qp_equal(self, k) && lambda[k] >= 0 && s >= 0)
			worst = fmaxl(worst, fminl(off, share));
	}
	return worst;
}

struct far_sum {
	long double value, size;
};

static inline long double far_outside(struct far_sum sum, double low, double high)
{
	long double out = 0;
	if (low > -LP_INFINITY)
		out = fmaxl(out, low - sum.value);
	if (high < LP_INFINITY)
		out = fmaxl(out, sum.value - high);
	return out / (1 + sum.size);
}

static inline long double far_mispriced(struct far_sum price, struct far_sum sum, double low,
					double high)
{
	long double d = price.value / (1 + price.size), way = LP_INFINITY;
	if (d > 0 && low > -LP_INFINITY)
		way = (sum.value - low) / (1 + sum.size);
	if (d <= 0 && high < LP_INFINITY)
		way = (high - sum.value) / (1 + sum.size);
	return fminl(fabsl(d), fabsl(way));
}

/* Row i of A x, or column j of yᵀA. */
static inline struct far_sum far_product(const struct lp_matrix *a, const double *by, bool row,
					 uint32_t which)
{
	struct far_sum sum = {0, 0};
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++) {
			if ((row ? a->index[k] : j) != which)
				continue;
			long double term = (long double)a->values[k] * by[row ? j : a->index[k]];
			sum.value += term;
			sum.size += fabsl(term);
		}
	return sum;
}

static inline long double far_lp_residual(const struct lp_problem *self, const double *x,
					  const double *dual)
{
	long double worst = 0;
	for (uint32_t j = 0; j < self->matrix.columns; j++) {
		struct far_sum at = {x[j], fabs(x[j])};
		struct far_sum price = far_product(&self->matrix, dual, false, j);
		price.value = self->cost[j] - price.value;
		price.size += fabs(self->cost[j]);
		worst = fmaxl(worst, far_outside(at, self->column_low[j], self->column_high[j]));
		worst = fmaxl(worst, far_mispriced(price, at, self->column_low[j],
						   self->column_high[j]));
	}
	for (uint32_t i = 0; i < self->matrix.rows; i++) {
		struct far_sum at = far_product(&self->matrix, x, true, i);
		struct far_sum price = {dual[i], fabs(dual[i])};
		worst = fmaxl(worst, far_outside(at, self->row_low[i], self->row_high[i]));
		worst = fmaxl(worst,
			      far_mispriced(price, at, self->row_low[i], self->row_high[i]));
	}
	return worst;
}

#endif
