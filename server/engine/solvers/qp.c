/* qp.c: the conditions of Karush, Kuhn and Tucker, measured.
 *
 * In double first. Where what the violations are relative to lies beyond 2^±500, or where everything
 * came out as 0 though x or λ is not, products may have left the range: then the same once more in
 * numbers without a last exponent (math/wide.h).
 */
#include "server/engine/solvers/qp.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/wide.h"

#define TERM_MIN 0x1p-500
#define TERM_MAX 0x1p500

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

static bool in_range(double size)
{
	return size >= TERM_MIN && size <= TERM_MAX;
}

/* max |G x + c − Cᵀλ| over the largest term; *safe: neither left the range. */
static double stationarity(const struct qp_problem *self, const double *x, const double *lambda,
			   bool *safe)
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
		worst = scalar_is_finite(sum) ? scalar_max(worst, scalar_abs(sum)) :
						__builtin_inf();
	}
	*safe = in_range(most) && scalar_is_finite(worst);
	if (most == 0)
		*safe = dense_max_abs(x, n) == 0 && dense_max_abs(lambda, self->rows) == 0;
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

/* Of one row. `off`: |s| and `share`: |λ|, both relative; an inequality that pulls (λ < 0) is wrong
 * wherever the point is, also a rounding outside (s < 0). */
static double violation(bool equal, bool outside, bool pulls, double off, double share)
{
	if (equal)
		return off;
	if (pulls)
		return outside ? scalar_max(off, share) : share;
	return outside ? off : scalar_min(off, share);
}

/* In double; *safe: as above, of all parts. */
static double plain_residual(const struct qp_problem *self, const double *x, const double *lambda,
			     bool *safe)
{
	uint32_t n = self->variables;
	double worst = stationarity(self, x, lambda, safe);
	double largest = dense_max_abs(lambda, self->rows), size = length(self, x);
	*safe = *safe && (size == 0 || in_range(size));
	for (uint32_t k = 0; k < self->rows; k++) {
		const double *row = self->matrix + (size_t)k * n;
		double steep = dense_max_abs(row, n), s = dense_dot(row, x, n) - self->d[k];
		double off = s == 0 ? 0 : scalar_abs(s) / (steep * size);
		double share = largest > 0 ? scalar_abs(lambda[k]) / largest : 0;
		*safe = *safe && (steep == 0 || (size == 0 && s == 0) || in_range(steep * size));
		/* A row of zeros holds or does not, whatever x is. */
		if (steep == 0)
			off = s < 0 || (s > 0 && qp_equal(self, k)) ? __builtin_inf() : 0;
		if (!(off >= 0) || !scalar_is_finite(share)) {
			*safe = false;
			return __builtin_inf();
		}
		worst = scalar_max(worst, violation(qp_equal(self, k), s < 0, lambda[k] < 0, off, share));
	}
	return worst;
}

static wide wide_max_abs(const double *values, uint32_t count)
{
	return wide_of(dense_max_abs(values, count));
}

static double wide_stationarity(const struct qp_problem *self, const double *x,
				const double *lambda)
{
	wide worst = {0, 0}, most = {0, 0};
	uint32_t n = self->variables;
	for (uint32_t i = 0; i < n; i++) {
		wide sum = wide_of(self->c[i]), term;
		most = wide_max(most, wide_abs(sum));
		for (uint32_t j = 0; j < n; j++) {
			term = wide_times(wide_of(self->g[(size_t)i * n + j]), wide_of(x[j]));
			sum = wide_plus(sum, term);
			most = wide_max(most, wide_abs(term));
		}
		for (uint32_t k = 0; k < self->rows; k++) {
			term = wide_times(wide_of(self->matrix[(size_t)k * n + i]),
					  wide_of(lambda[k]));
			sum = wide_minus(sum, term);
			most = wide_max(most, wide_abs(term));
		}
		worst = wide_max(worst, wide_abs(sum));
	}
	return wide_ratio(worst, most);
}

static wide wide_length(const struct qp_problem *self, const double *x)
{
	double curve = 0;
	wide size = wide_max_abs(x, self->variables);
	for (uint32_t i = 0; i < self->variables; i++)
		curve = scalar_max(curve, self->g[(size_t)i * self->variables + i]);
	if (curve > 0)
		size = wide_max(size,
				wide_over(wide_max_abs(self->c, self->variables), wide_of(curve)));
	for (uint32_t k = 0; k < self->rows; k++) {
		wide steep = wide_max_abs(self->matrix + (size_t)k * self->variables,
					  self->variables);
		if (steep.mantissa > 0)
			size = wide_max(size,
					wide_over(wide_abs(wide_of(self->d[k])), steep));
	}
	return size;
}

static double wide_residual(const struct qp_problem *self, const double *x, const double *lambda)
{
	uint32_t n = self->variables;
	if (!solver_finite(x, n) || !solver_finite(lambda, self->rows))
		return __builtin_inf();
	double worst = wide_stationarity(self, x, lambda);
	wide size = wide_length(self, x), largest = wide_max_abs(lambda, self->rows);
	for (uint32_t k = 0; k < self->rows; k++) {
		const double *row = self->matrix + (size_t)k * n;
		wide s = wide_negative(wide_of(self->d[k])), steep = wide_max_abs(row, n);
		for (uint32_t j = 0; j < n; j++)
			s = wide_plus(s, wide_times(wide_of(row[j]), wide_of(x[j])));
		double off = wide_ratio(wide_abs(s), wide_times(steep, size));
		double share = wide_ratio(wide_abs(wide_of(lambda[k])), largest);
		if (steep.mantissa == 0 && s.mantissa > 0 && !qp_equal(self, k))
			off = 0;
		worst = scalar_max(worst, violation(qp_equal(self, k), s.mantissa < 0, lambda[k] < 0,
						    off, share));
	}
	return worst;
}

double qp_residual(const struct qp_problem *self, const double *x, const double *lambda)
{
	bool safe;
	double plain = plain_residual(self, x, lambda, &safe);
	return safe ? plain : wide_residual(self, x, lambda);
}

void qp_violations(const struct qp_problem *self, const double *x, const double *lambda, double *row,
		   double *stationarity)
{
	uint32_t n = self->variables;
	*row = *stationarity = 0;
	for (uint32_t k = 0; k < self->rows; k++) {
		double s = dense_dot(self->matrix + (size_t)k * n, x, n) - self->d[k];
		double off = qp_equal(self, k) ? scalar_abs(s) : -s;
		*row = scalar_max(scalar_is_finite(off) ? off : __builtin_inf(), *row);
	}
	for (uint32_t i = 0; i < n; i++) {
		double sum = dense_dot(self->g + (size_t)i * n, x, n) + self->c[i];
		for (uint32_t k = 0; k < self->rows; k++)
			sum -= self->matrix[(size_t)k * n + i] * lambda[k];
		sum = scalar_is_finite(sum) ? scalar_abs(sum) : __builtin_inf();
		*stationarity = scalar_max(sum, *stationarity);
	}
}
