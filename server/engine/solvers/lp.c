/* lp.c: checks a solution or certificate of a linear program against the problem alone.
 *
 * Each sum is computed together with the sum of the sizes of its terms, so that "zero" can mean
 * "zero to rounding", and every violation is relative to these terms.
 *
 * A sum that is not finite is computed again with both factors times 2^-520, so that no product
 * overflows; the bounds and the 1 with which it is compared are scaled in the same way. A number that
 * underflows is negligible beside 1. A certificate whose sums are not finite proves nothing.
 */
#include "server/engine/solvers/lp.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

#define ROUNDING 1e-12 /* of a sum's terms; a larger value accepts weak certificates */

#define SMALL                                                                                      \
	0x1p-520 /* factor of both numbers of a product, if the sum is not finite without it */

struct sum {
	double value, size;
	double unit; /* both are multiplied by it: 1 or SMALL² */
};

static void sum_add(struct sum *self, double term)
{
	self->value += term;
	self->size += scalar_abs(term);
}

/* The sum of one term. */
static struct sum sum_of_one(double value)
{
	return (struct sum){ value, scalar_abs(value), 1 };
}

/* yᵀ A for one column. */
static struct sum column_product(const struct lp_matrix *a, uint32_t j, const double *y)
{
	VALIDATE(j < a->columns);
	struct sum sum = { 0, 0, 1 };
	for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
		sum_add(&sum, a->values[k] * y[a->index[k]]);
	return sum;
}

/* yᵀ A − cᵀ for one column; scaled if it overflows. */
static struct sum column_price(const struct lp_problem *problem, uint32_t j, const double *y)
{
	VALIDATE(j < problem->matrix.columns);
	const struct lp_matrix *a = &problem->matrix;
	struct sum price = column_product(a, j, y);
	sum_add(&price, -problem->cost[j]);
	if (scalar_is_finite(price.size))
		return price;
	price = (struct sum){ -problem->cost[j] * SMALL * SMALL,
			      scalar_abs(problem->cost[j]) * SMALL * SMALL, SMALL * SMALL };
	for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
		sum_add(&price, a->values[k] * SMALL * (y[a->index[k]] * SMALL));
	return price;
}

/* A x, and the sizes of the terms of each row, column after column. */
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

/* Row i of A x; scaled if it overflows. */
static struct sum row_sum(const struct lp_matrix *a, const double *x, const double *value,
			  const double *size, uint32_t i)
{
	VALIDATE(i < a->rows);
	struct sum sum = { value[i], size[i], 1 };
	if (scalar_is_finite(size[i]))
		return sum;
	sum = (struct sum){ 0, 0, SMALL * SMALL };
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			if (a->index[k] == i)
				sum_add(&sum, a->values[k] * SMALL * (x[j] * SMALL));
	return sum;
}

static bool bounds_valid(const double *low, const double *high, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (scalar_is_nan(low[i]) || scalar_is_nan(high[i]))
			return false;
	return true;
}

bool lp_starts_valid(const struct lp_matrix *matrix, uint32_t nonzeros)
{
	if (matrix->starts[0] != 0 || matrix->starts[matrix->columns] > nonzeros)
		return false;
	for (uint32_t j = 0; j < matrix->columns; j++)
		if (matrix->starts[j] > matrix->starts[j + 1])
			return false;
	return true;
}

bool lp_valid(const struct lp_problem *problem)
{
	const struct lp_matrix *a = &problem->matrix;
	if (!lp_starts_valid(a, UINT32_MAX))
		return false;
	for (uint32_t j = 0; j < a->columns; j++) {
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

/* The distance of `sum` outside its bounds, relative to 1 + size. */
static double outside(struct sum sum, double low, double high)
{
	double out = 0;
	if (low > -LP_INFINITY)
		out = scalar_max(out, low * sum.unit - sum.value);
	if (high < LP_INFINITY)
		out = scalar_max(out, sum.value - high * sum.unit);
	VALIDATE(sum.unit > 0);
	return out / (sum.unit + sum.size);
}

double lp_violation(const struct lp_problem *problem, const double *x, double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double *value = scratch, *size = scratch + a->rows, worst = 0;
	if (!solver_finite(x, a->columns))
		return __builtin_inf();
	row_products(a, x, value, size);
	for (uint32_t j = 0; j < a->columns; j++) {
		double out =
			outside(sum_of_one(x[j]), problem->column_low[j], problem->column_high[j]);
		worst = scalar_max(out, worst);
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		double out = outside(row_sum(a, x, value, size, i), problem->row_low[i],
				     problem->row_high[i]);
		worst = scalar_max(out, worst);
	}
	return worst;
}

/* Violation of the sign rule: with a price d > 0 the value is at its lower bound, with d < 0 at its
 * upper one. Returns the smaller of |d| and the distance from that bound, both relative. */
static double mispriced(double price, struct sum of, struct sum value, double low, double high)
{
	double d = price / (of.unit + of.size), way = LP_INFINITY;
	double size = value.unit + value.size;
	if (d > 0 && low > -LP_INFINITY)
		way = (value.value - low * value.unit) / size;
	if (!(d > 0) && high < LP_INFINITY)
		way = (high * value.unit - value.value) / size;
	return scalar_min(scalar_abs(d), scalar_abs(way));
}

double lp_residual(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double worst = lp_violation(problem, x, scratch);
	const double *value = scratch, *size = scratch + a->rows;
	if (!scalar_is_finite(worst) || !solver_finite(dual, a->rows))
		return __builtin_inf();
	for (uint32_t j = 0; j < a->columns; j++) {
		struct sum price = column_price(problem, j, dual);
		double wrong = mispriced(-price.value, price, sum_of_one(x[j]),
					 problem->column_low[j], problem->column_high[j]);
		worst = scalar_max(wrong, worst);
	}
	/* The Lagrangian contains +y (row activity), so y > 0 needs the row at its lower bound. */
	for (uint32_t i = 0; i < a->rows; i++) {
		double wrong =
			mispriced(dual[i], sum_of_one(dual[i]), row_sum(a, x, value, size, i),
				  problem->row_low[i], problem->row_high[i]);
		worst = scalar_max(wrong, worst);
	}
	return worst;
}

void lp_violations(const struct lp_problem *problem, const double *x, const double *dual,
		   double *scratch, double *bound, double *price)
{
	const struct lp_matrix *a = &problem->matrix;
	const double *value = scratch, *size = scratch + a->rows;
	row_products(a, x, scratch, scratch + a->rows);
	*bound = *price = 0;
	for (uint32_t v = 0; v < a->columns + a->rows; v++) {
		uint32_t i = v - a->columns;
		bool row = v >= a->columns;
		double low = row ? problem->row_low[i] : problem->column_low[v];
		double high = row ? problem->row_high[i] : problem->column_high[v];
		struct sum at = row ? row_sum(a, x, value, size, i) : sum_of_one(x[v]);
		struct sum cost = row ? sum_of_one(dual[i]) : column_price(problem, v, dual);
		double d = row ? cost.value : -cost.value;
		double out = outside(at, low, high) * ((at.unit + at.size) / at.unit);
		double wrong = mispriced(d, cost, at, low, high);
		*bound = scalar_max(out, *bound);
		if (wrong > 0 && scalar_abs(d) / (cost.unit + cost.size) <= wrong)
			*price = scalar_max(scalar_abs(d) / cost.unit, *price);
	}
}

/* Adds the largest value of coefficient × variable within the bounds. False: it is infinite. */
static bool add_largest(struct sum *sum, struct sum coefficient, double low, double high)
{
	double bound = coefficient.value > 0 ? high : low;
	if (!scalar_is_finite(coefficient.size))
		return false;
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
	struct sum most = { 0, 0, 1 };
	for (uint32_t j = 0; j < a->columns; j++)
		if (!add_largest(&most, column_product(a, j, y), problem->column_low[j],
				 problem->column_high[j]))
			return -1;
	for (uint32_t i = 0; i < a->rows; i++)
		if (!add_largest(&most, sum_of_one(-y[i]), problem->row_low[i],
				 problem->row_high[i]))
			return -1;
	return most.size > 0 ? -most.value / most.size : 0;
}

/* Whether an unlimited move along `step` stays within the bounds. */
static bool is_unlimited(double step, double size, double low, double high)
{
	if (!scalar_is_finite(size))
		return false;
	if (scalar_abs(step) <= ROUNDING * size)
		return true;
	return step > 0 ? high >= LP_INFINITY : low <= -LP_INFINITY;
}

double lp_unboundedness(const struct lp_problem *problem, const double *z, double *scratch)
{
	const struct lp_matrix *a = &problem->matrix;
	double *value = scratch, *size = scratch + a->rows;
	struct sum fall = { 0, 0, 1 };
	row_products(a, z, value, size);
	for (uint32_t j = 0; j < a->columns; j++) {
		sum_add(&fall, -problem->cost[j] * z[j]);
		if (!is_unlimited(z[j], 0, problem->column_low[j], problem->column_high[j]))
			return -1;
	}
	for (uint32_t i = 0; i < a->rows; i++)
		if (!is_unlimited(value[i], size[i], problem->row_low[i], problem->row_high[i]))
			return -1;
	return fall.size > 0 ? fall.value / fall.size : 0;
}
