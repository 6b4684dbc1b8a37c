/* lp.c: telling whether an answer to a linear program is right, from the problem alone.
 *
 * Each sum is measured together with the sum of the sizes of its terms, so that "zero" can mean
 * "zero to rounding", and every violation is relative to what it was computed from.
 */
#include "server/engine/solvers/lp.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

#define ROUNDING 1e-12 /* relative to a sum's terms; larger would accept weak certificates */

struct sum {
	double value, size;
};

static void sum_add(struct sum *self, double term)
{
	self->value += term;
	self->size += scalar_abs(term);
}

/* yᵀ A for one column. */
static struct sum column_product(const struct lp_matrix *a, uint32_t j, const double *y)
{
	struct sum sum = { 0, 0 };
	for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
		sum_add(&sum, a->values[k] * y[a->index[k]]);
	return sum;
}

/* A x and the sizes of its terms, column after column. */
static void row_products(const struct lp_matrix *a, const double *x, double *value, double *size)
{
	dense_zero(value, a->rows);
	dense_zero(size, a->rows);
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++) {
			double term = a->values[k] * x[j];
			value[a->index[k]] += term;
			size[a->index[k]] += scalar_abs(term);
		}
}

static bool bounds_valid(const double *low, const double *high, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (scalar_is_nan(low[i]) || scalar_is_nan(high[i]))
			return false;
	return true;
}

bool lp_valid(const struct lp_problem *problem)
{
	const struct lp_matrix *a = &problem->matrix;
	if (a->starts[0] != 0)
		return false;
	for (uint32_t j = 0; j < a->columns; j++) {
		if (a->starts[j] > a->starts[j + 1])
			return false;
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			if (a->index[k] >= a->rows ||
			    (k > a->starts[j] && a->index[k] <= a->index[k - 1]))
				return false;
	}
	return solver_finite(a->values, a->starts[a->columns]) &&
	       solver_finite(problem->cost, a->columns) &&
	       bounds_valid(problem->column_low, problem->column_high, a->columns) &&
	       bounds_valid(problem->row_low, problem->row_high, a->rows);
}

uint32_t lp_crossed(const struct lp_problem *problem)
{
	for (uint32_t j = 0; j < problem->matrix.columns; j++)
		if (problem->column_low[j] > problem->column_high[j])
			return j;
	for (uint32_t i = 0; i < problem->matrix.rows; i++)
		if (problem->row_low[i] > problem->row_high[i])
			return problem->matrix.columns + i;
	return UINT32_MAX;
}

double lp_objective(const struct lp_problem *problem, const double *x)
{
	return dense_dot(problem->cost, x, problem->matrix.columns);
}

/* How far `value` is outside, relative to 1 + size. */
static double outside(double value, double size, double low, double high)
{
	double out = 0;
	if (low > -LP_INFINITY)
		out = scalar_max(out, low - value);
	if (high < LP_INFINITY)
		out = scalar_max(out, value - high);
	return out / (1 + size);
}

double lp_violation(const struct lp_problem *problem, const double *x, double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double *value = scratch, *size = scratch + a->rows, worst = 0;
	row_products(a, x, value, size);
	for (uint32_t j = 0; j < a->columns; j++) {
		double out = outside(x[j], scalar_abs(x[j]), problem->column_low[j],
				     problem->column_high[j]);
		worst = scalar_max(out, worst);
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		double out = outside(value[i], size[i], problem->row_low[i], problem->row_high[i]);
		worst = scalar_max(out, worst);
	}
	return worst;
}

/* A price d > 0 wants the value at its lower bound, d < 0 at its upper one: the smaller of the price
 * and the way to that bound, both relative. */
static double mispriced(double price, double price_size, double value, double value_size, double low,
			double high)
{
	double d = price / (1 + price_size), way;
	if (d > 0)
		way = low > -LP_INFINITY ? (value - low) / (1 + value_size) : LP_INFINITY;
	else
		way = high < LP_INFINITY ? (high - value) / (1 + value_size) : LP_INFINITY;
	return scalar_min(scalar_abs(d), scalar_abs(way));
}

double lp_residual(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double worst = lp_violation(problem, x, scratch);
	const double *value = scratch, *size = scratch + a->rows;
	for (uint32_t j = 0; j < a->columns; j++) {
		struct sum price = column_product(a, j, dual);
		sum_add(&price, -problem->cost[j]);
		double wrong = mispriced(-price.value, price.size, x[j], scalar_abs(x[j]),
					 problem->column_low[j], problem->column_high[j]);
		worst = scalar_max(wrong, worst);
	}
	/* The Lagrangian holds +y (row activity): y > 0 wants the row at its lower bound. */
	for (uint32_t i = 0; i < a->rows; i++) {
		double wrong = mispriced(dual[i], scalar_abs(dual[i]), value[i], size[i],
					 problem->row_low[i], problem->row_high[i]);
		worst = scalar_max(wrong, worst);
	}
	return worst;
}

/* Adds the largest value of coefficient × variable over the bounds; false when there is none. */
static bool add_largest(struct sum *sum, struct sum coefficient, double low, double high)
{
	double bound = coefficient.value > 0 ? high : low;
	if (coefficient.value == 0)
		return true;
	if (scalar_abs(bound) >= LP_INFINITY)
		return scalar_abs(coefficient.value) <= ROUNDING * coefficient.size;
	sum_add(sum, coefficient.value * bound);
	return true;
}

double lp_infeasibility(const struct lp_problem *problem, const double *y)
{
	const struct lp_matrix *a = &problem->matrix;
	struct sum most = { 0, 0 };
	for (uint32_t j = 0; j < a->columns; j++)
		if (!add_largest(&most, column_product(a, j, y), problem->column_low[j],
				 problem->column_high[j]))
			return -1;
	for (uint32_t i = 0; i < a->rows; i++)
		if (!add_largest(&most, (struct sum){ -y[i], scalar_abs(y[i]) },
				 problem->row_low[i], problem->row_high[i]))
			return -1;
	return most.size > 0 ? -most.value / most.size : 0;
}

/* Whether moving for ever by `step` stays inside. */
static bool endless(double step, double size, double low, double high)
{
	if (scalar_abs(step) <= ROUNDING * size)
		return true;
	return step > 0 ? high >= LP_INFINITY : low <= -LP_INFINITY;
}

double lp_unboundedness(const struct lp_problem *problem, const double *z, double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double *value = scratch, *size = scratch + a->rows;
	struct sum fall = { 0, 0 };
	row_products(a, z, value, size);
	for (uint32_t j = 0; j < a->columns; j++) {
		sum_add(&fall, -problem->cost[j] * z[j]);
		if (!endless(z[j], 0, problem->column_low[j], problem->column_high[j]))
			return -1;
	}
	for (uint32_t i = 0; i < a->rows; i++)
		if (!endless(value[i], size[i], problem->row_low[i], problem->row_high[i]))
			return -1;
	return fall.size > 0 ? fall.value / fall.size : 0;
}
