/* qp.c: the conditions of Karush, Kuhn and Tucker, measured. */
#include "server/engine/solvers/qp.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

bool qp_equal(const struct qp_problem *self, uint32_t row)
{
	return self->equal != NULL && self->equal[row];
}

bool qp_valid(const struct qp_problem *self)
{
	size_t n = self->variables, m = self->rows;
	return solver_finite(self->g, n * n) && solver_finite(self->c, n) &&
	       solver_finite(self->matrix, n * m) && solver_finite(self->d, m);
}

double qp_objective(const struct qp_problem *self, const double *x)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->variables; i++)
		sum += x[i] *
		       (0.5 * dense_dot(self->g + (size_t)i * self->variables, x, self->variables) +
			self->c[i]);
	return sum;
}

/* max |G x + c − Cᵀλ| over the largest term. */
static double stationarity(const struct qp_problem *self, const double *x, const double *lambda)
{
	double worst = 0, most = 0;
	uint32_t n = self->variables;
	for (uint32_t i = 0; i < n; i++) {
		double sum = self->c[i];
		most = scalar_max(most, scalar_abs(sum));
		for (uint32_t j = 0; j < n; j++) {
			double term = self->g[(size_t)i * n + j] * x[j];
			sum += term;
			most = scalar_max(most, scalar_abs(term));
		}
		for (uint32_t k = 0; k < self->rows; k++) {
			double term = self->matrix[(size_t)k * n + i] * lambda[k];
			sum -= term;
			most = scalar_max(most, scalar_abs(term));
		}
		if (!scalar_is_finite(sum))
			return __builtin_inf();
		worst = scalar_max(worst, scalar_abs(sum));
	}
	return worst == 0 ? 0 : worst / most;
}

/* How large x may be: its own size, that of the planes, and the way from 0 to the free minimum. */
static double length(const struct qp_problem *self, const double *x)
{
	double curve = 0, size = dense_max_abs(x, self->variables);
	for (uint32_t i = 0; i < self->variables; i++)
		curve = scalar_max(curve, self->g[(size_t)i * self->variables + i]);
	if (curve > 0)
		size = scalar_max(size, dense_max_abs(self->c, self->variables) / curve);
	for (uint32_t k = 0; k < self->rows; k++) {
		double steep =
			dense_max_abs(self->matrix + (size_t)k * self->variables, self->variables);
		if (steep > 0)
			size = scalar_max(size, scalar_abs(self->d[k]) / steep);
	}
	return size;
}

double qp_residual(const struct qp_problem *self, const double *x, const double *lambda)
{
	uint32_t n = self->variables;
	double worst = stationarity(self, x, lambda), largest = dense_max_abs(lambda, self->rows);
	double size = length(self, x);
	for (uint32_t k = 0; k < self->rows; k++) {
		const double *row = self->matrix + (size_t)k * n;
		double steep = dense_max_abs(row, n), s = dense_dot(row, x, n) - self->d[k];
		double off = s == 0 ? 0 : scalar_abs(s) / (steep * size);
		double share = largest > 0 ? scalar_abs(lambda[k]) / largest : 0;
		/* A row of zeros holds or does not, whatever x is. */
		if (steep == 0)
			off = s < 0 || (s > 0 && qp_equal(self, k)) ? __builtin_inf() : 0;
		if (!(off >= 0) || !scalar_is_finite(share))
			return __builtin_inf();
		if (qp_equal(self, k) || s < 0)
			worst = scalar_max(worst, off);
		else
			worst = scalar_max(worst, lambda[k] < 0 ? share : scalar_min(off, share));
	}
	return worst;
}
