/* lp_load.c: scales a linear program into the workspace, and its solution back.
 *
 * Rows and columns are scaled so that the sizes of their entries are near 1: three rounds that
 * divide each row, then each column, by the geometric mean of its smallest and largest entry. The
 * factors are rounded to powers of two, so scaling changes no bit of a significand and is undone
 * exactly. With A' = R A C: x = C x', row activities s = s'/R, y = R y', reduced cost d = d'/C.
 */
#include "server/engine/linalg/dense.h"
#include "server/engine/solvers/lp_simplex.h"

enum { SCALING_ROUNDS = 3 };
#define NOTHING 0x1p-43 /* 1e-13, of the largest entries; a larger value changes the problem */

/* The power of two near 1/x, x > 0, within 2^±300. */
static double inverse_power(double x)
{
	VALIDATE(x > 0);
	int64_t exponent = (int64_t)(scalar_bits(x) >> 52 & 0x7ff) - 1023;
	if (exponent > 300)
		exponent = 300;
	if (exponent < -300)
		exponent = -300;
	return scalar_from_bits((uint64_t)(1023 - exponent) << 52);
}

struct size_range {
	double least, most;
};

static void range_add(struct size_range *self, double value)
{
	double size = scalar_abs(value);
	if (size == 0)
		return;
	self->least = scalar_min(size, self->least);
	self->most = scalar_max(size, self->most);
}

/* The geometric mean; square roots are taken first, because the product may overflow or underflow. */
static double range_mean(struct size_range self)
{
	return self.most > 0 ? scalar_sqrt(self.least) * scalar_sqrt(self.most) : 1;
}

/* Copies the matrix. Entries that are negligible beside the largest entries of both their row and their
 * column become 0, because they are rounding of the caller's arithmetic (the arm of a force through a
 * centre of mass), and scaling would enlarge them to the size of a pivot. The residual includes
 * them. */
static void copy_values(struct lp_dual_simplex *self, const struct lp_matrix *a)
{
	double *row_most = self->rho;
	dense_zero(row_most, a->rows);
	for (uint32_t k = 0; k < a->starts[a->columns]; k++)
		row_most[a->index[k]] = scalar_max(scalar_abs(a->values[k]), row_most[a->index[k]]);
	self->starts[0] = 0;
	for (uint32_t j = 0; j < a->columns; j++) {
		uint32_t from = a->starts[j], count = a->starts[j + 1] - from;
		double most = dense_max_abs(a->values + from, count);
		for (uint32_t k = from; k < from + count; k++) {
			double least = NOTHING * scalar_min(most, row_most[a->index[k]]);
			bool counts = scalar_abs(a->values[k]) > least;
			self->values[k] = counts ? a->values[k] : 0;
			self->index[k] = a->index[k];
		}
		self->starts[j + 1] = from + count;
		VALIDATE(self->starts[j + 1] <= self->sizes.nonzeros);
	}
	self->matrix =
		(struct lp_matrix){ a->rows, a->columns, self->starts, self->index, self->values };
}

static void scale_columns(struct lp_dual_simplex *self, const struct lp_matrix *a)
{
	for (uint32_t j = 0; j < a->columns; j++) {
		struct size_range range = { SCALAR_MAX, 0 };
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			range_add(&range, a->values[k] * self->row_scale[a->index[k]]);
		self->column_scale[j] = inverse_power(range_mean(range));
	}
}

static void scale_rows(struct lp_dual_simplex *self, const struct lp_matrix *a)
{
	double *least = self->rho, *most = self->tau;
	for (uint32_t i = 0; i < a->rows; i++) {
		least[i] = SCALAR_MAX;
		most[i] = 0;
	}
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++) {
			struct size_range range = { least[a->index[k]], most[a->index[k]] };
			range_add(&range, a->values[k] * self->column_scale[j]);
			least[a->index[k]] = range.least;
			most[a->index[k]] = range.most;
		}
	for (uint32_t i = 0; i < a->rows; i++)
		self->row_scale[i] =
			inverse_power(range_mean((struct size_range){ least[i], most[i] }));
}

static void choose_scales(struct lp_dual_simplex *self, const struct lp_matrix *a)
{
	for (uint32_t j = 0; j < a->columns; j++)
		self->column_scale[j] = 1;
	for (uint32_t i = 0; i < a->rows; i++)
		self->row_scale[i] = 1;
	for (uint32_t round = 0; round < SCALING_ROUNDS; round++) {
		scale_rows(self, a);
		scale_columns(self, a);
	}
}

static double scaled_bound(double bound, double scale)
{
	if (scalar_abs(bound) >= LP_INFINITY)
		return scalar_copy_sign(LP_INFINITY, bound);
	return scalar_clamp(bound * scale, -LP_INFINITY, LP_INFINITY);
}

/* Scales the matrix, and stores it by rows as well. */
static void scale_matrix(struct lp_dual_simplex *self)
{
	const struct lp_matrix *a = &self->matrix;
	uint32_t *next = self->touched;
	for (uint32_t i = 0; i <= a->rows; i++)
		self->row_starts[i] = 0;
	for (uint32_t k = 0; k < a->starts[a->columns]; k++)
		self->row_starts[a->index[k] + 1]++;
	for (uint32_t i = 0; i < a->rows; i++) {
		self->row_starts[i + 1] += self->row_starts[i];
		next[i] = self->row_starts[i];
	}
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++) {
			uint32_t i = a->index[k], at = next[i]++;
			self->values[k] *= self->row_scale[i] * self->column_scale[j];
			self->row_columns[at] = j;
			self->row_values[at] = self->values[k];
		}
}

void lp_load(struct lp_dual_simplex *self, const struct lp_problem *problem)
{
	const struct lp_matrix *a = &problem->matrix;
	ASSERT(a->rows <= self->sizes.rows && a->columns <= self->sizes.columns);
	copy_values(self, a);
	choose_scales(self, &self->matrix);
	scale_matrix(self);
	for (uint32_t j = 0; j < a->columns; j++) {
		double scale = self->column_scale[j];
		self->cost[j] = problem->cost[j] * scale;
		self->low[j] = scaled_bound(problem->column_low[j], 1 / scale);
		self->high[j] = scaled_bound(problem->column_high[j], 1 / scale);
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		double scale = self->row_scale[i];
		self->cost[a->columns + i] = 0;
		self->low[a->columns + i] = scaled_bound(problem->row_low[i], scale);
		self->high[a->columns + i] = scaled_bound(problem->row_high[i], scale);
	}
	dense_copy(self->shifted, self->cost, lp_variables(self));
	dense_zero(self->tableau, lp_variables(self));
	self->touched_count = 0;
}

void lp_unload(struct lp_dual_simplex *self, const struct lp_problem *problem,
	       struct lp_solution *solution)
{
	const struct lp_matrix *a = &problem->matrix;
	lp_duals(self, self->cost, solution->dual);
	for (uint32_t i = 0; i < a->rows; i++)
		solution->dual[i] *= self->row_scale[i];
	for (uint32_t j = 0; j < a->columns; j++) {
		solution->x[j] = self->x[j] * self->column_scale[j];
		/* Scaling is exact, except for bounds that overflowed or were clamped. */
		if (self->place[j] == LP_LOW && lp_has_low(self, j))
			solution->x[j] = problem->column_low[j];
		if (self->place[j] == LP_HIGH && lp_has_high(self, j))
			solution->x[j] = problem->column_high[j];
	}
	for (uint32_t j = 0; j < lp_variables(self); j++)
		solution->places[j] = self->place[j];
}
