/* See lcp.h. The residual is first summed in double. If the numbers lie so far apart that this sum is not
 * reliable (lcp_trust_holds), it is summed again with a wider exponent (lcp_wide.h). */
#include "server/engine/solvers/lcp.h"

#include "server/engine/solvers/lcp_wide.h"

double lcp_lower(const struct lcp_problem *self, uint32_t row)
{
	return self->lower != NULL ? self->lower[row] : 0;
}

double lcp_upper(const struct lcp_problem *self, uint32_t row)
{
	return self->upper != NULL ? self->upper[row] : __builtin_inf();
}

bool lcp_valid(const struct lcp_problem *self)
{
	if (self->stride < self->count)
		return false;
	for (uint32_t i = 0; i < self->count; i++) {
		double low = lcp_lower(self, i), high = lcp_upper(self, i);
		if (!solver_finite(self->a + (size_t)i * self->stride, self->count) ||
		    !scalar_is_finite(self->b[i]) || !(low <= high) || low > SCALAR_MAX ||
		    high < -SCALAR_MAX)
			return false;
	}
	return true;
}

/* lcp_residual for numbers whose products leave the range of double. */
static double wide_residual(const struct lcp_problem *self, const double *x)
{
	struct lcp_wide worst = { { 0, 0 }, { 0, 0 } };
	if (!solver_finite(x, self->count))
		return __builtin_inf();
	for (uint32_t i = 0; i < self->count; i++) {
		const double *row = self->a + (size_t)i * self->stride;
		struct lcp_wide_sum sum = lcp_wide_begin(self->b[i]);
		for (uint32_t j = 0; j < self->count; j++)
			lcp_wide_add(&sum, row[j], x[j]);
		lcp_wide_row(&worst, sum, row[i], x[i], wide_of(lcp_lower(self, i)),
			     wide_of(lcp_upper(self, i)), true);
	}
	return lcp_wide_residual(&worst);
}

double lcp_residual(const struct lcp_problem *self, const double *x, double *w)
{
	ASSERT(self->stride >= self->count);
	double worst = 0, scale = 0;
	struct lcp_trust trust = lcp_trust_begin();
	for (uint32_t i = 0; i < self->count; i++) {
		const double *row = self->a + (size_t)i * self->stride;
		double root = row[i] > 0 ? scalar_sqrt(row[i]) : 1;
		double most = scalar_abs(self->b[i]), sum = self->b[i];
		for (uint32_t j = 0; j < self->count; j++) {
			/* Most entries are 0, and so is x of rows at a bound; NaN is no 0. */
			double term = row[j] * x[j];
			if (term == 0)
				continue;
			sum += term;
			most = scalar_max(most, scalar_abs(term));
		}
		w[i] = sum;
		double low = lcp_lower(self, i) * root, high = lcp_upper(self, i) * root;
		double scaled = x[i] * root;
		double gap = scalar_abs(scaled - scalar_clamp(scaled - sum / root, low, high));
		worst = scalar_is_finite(gap) ? scalar_max(worst, gap) : __builtin_inf();
		scale = scalar_max(scale, most / root);
		lcp_trust_row(&trust, row[i], x[i], root);
	}
	if (!lcp_trust_holds(&trust, worst, scale))
		return wide_residual(self, x);
	return worst == 0 ? 0 : worst / scale;
}

double lcp_row_violation(double a, double x, double w, double low, double high)
{
	double unit = a > 0 ? a : 1;
	double gap = scalar_min(scalar_max(w, (x - high) * unit), (x - low) * unit);
	return scalar_is_finite(gap) && scalar_is_finite(w) ? scalar_abs(gap) : __builtin_inf();
}

double lcp_violation(const struct lcp_problem *self, const double *x, const double *w)
{
	ASSERT(self->stride >= self->count);
	double worst = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		double a = self->a[(size_t)i * self->stride + i];
		double off =
			lcp_row_violation(a, x[i], w[i], lcp_lower(self, i), lcp_upper(self, i));
		worst = scalar_max(off, worst);
	}
	return worst;
}
