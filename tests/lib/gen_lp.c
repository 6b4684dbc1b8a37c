/* See gen_lp.h. */
#include "tests/lib/gen_lp.h"

#include <stdlib.h>
#include <string.h>

#include "server/engine/math/scalar.h"

static void *some(size_t count, size_t bytes)
{
	void *memory = aligned_alloc(64, (count * bytes + 127) / 64 * 64);
	if (memory == NULL)
		abort();
	memset(memory, 0xa5, count * bytes);
	return memory;
}

void gen_lp_init(struct gen_lp *self, uint32_t rows_max, uint32_t columns_max,
		 uint32_t nonzeros_max)
{
	struct lp_sizes sizes = { rows_max, columns_max, nonzeros_max, 0 };
	*self = (struct gen_lp){ .rows_max = rows_max,
				 .columns_max = columns_max,
				 .nonzeros_max = nonzeros_max };
	self->starts = some(columns_max + 1, sizeof *self->starts);
	self->index = some(nonzeros_max, sizeof *self->index);
	self->values = some(nonzeros_max, sizeof *self->values);
	self->cost = some(columns_max, sizeof(double));
	self->column_low = some(columns_max, sizeof(double));
	self->column_high = some(columns_max, sizeof(double));
	self->start = some(columns_max, sizeof(double));
	self->row_low = some(rows_max, sizeof(double));
	self->row_high = some(rows_max, sizeof(double));
	self->memory = some(lp_dual_simplex_bytes(sizes), 1);
	self->scratch = some(2 * (size_t)rows_max, sizeof(double));
	self->solution.x = some(columns_max, sizeof(double));
	self->solution.dual = some(rows_max, sizeof(double));
	self->solution.places = some(rows_max + columns_max, 1);
	lp_dual_simplex_init(&self->simplex, self->memory, sizes);
	self->problem = (struct lp_problem){
		.matrix = { 0, 0, self->starts, self->index, self->values },
		.cost = self->cost,
		.column_low = self->column_low,
		.column_high = self->column_high,
		.row_low = self->row_low,
		.row_high = self->row_high,
	};
}

void gen_lp_release(struct gen_lp *self)
{
	void *blocks[] = { self->starts,	self->index,	      self->values,
			   self->cost,		self->column_low,     self->column_high,
			   self->start,		self->row_low,	      self->row_high,
			   self->memory,	self->scratch,	      self->solution.x,
			   self->solution.dual, self->solution.places };
	for (uint32_t i = 0; i < COUNT_OF(blocks); i++)
		free(blocks[i]);
}

void gen_lp_begin(struct gen_lp *self, uint32_t rows)
{
	ASSERT(rows <= self->rows_max);
	self->problem.matrix.rows = rows;
	self->problem.matrix.columns = 0;
	self->problem.start = NULL;
	self->starts[0] = 0;
}

void gen_lp_column(struct gen_lp *self, double cost, double low, double high)
{
	uint32_t j = self->problem.matrix.columns++;
	ASSERT(j < self->columns_max);
	self->starts[j + 1] = self->starts[j];
	self->cost[j] = cost;
	self->column_low[j] = low;
	self->column_high[j] = high;
}

void gen_lp_entry(struct gen_lp *self, uint32_t row, double value)
{
	uint32_t at = self->starts[self->problem.matrix.columns]++;
	ASSERT(at < self->nonzeros_max && row < self->problem.matrix.rows);
	self->index[at] = row;
	self->values[at] = value;
}

struct solver_result gen_lp_solve(struct gen_lp *self, const struct solver_options *options)
{
	return lp_dual_simplex_solve(&self->simplex, &self->problem, options, &self->solution);
}

/* ---- at random ---------------------------------------------------------------------------------- */

static double draw(struct rng *rng, enum gen_lp_family family)
{
	if (family == GEN_LP_INTEGER || family == GEN_LP_DEGENERATE || family == GEN_LP_REDUNDANT)
		return (double)rng_below(rng, 7) - 3;
	return rng_range(rng, -1, 1);
}

static double power(struct rng *rng)
{
	double p = 1;
	for (uint32_t k = rng_below(rng, 5); k > 0; k--)
		p *= 10;
	return rng_below(rng, 2) != 0 ? p : 1 / p;
}

static void draw_bounds(struct rng *rng, enum gen_lp_family family, double inside, double *low,
			double *high)
{
	double below = scalar_abs(draw(rng, family)), above = scalar_abs(draw(rng, family));
	uint32_t kind = rng_below(rng, 6);
	*low = inside - below;
	*high = inside + above;
	if (family == GEN_LP_BOXED)
		return;
	if (family == GEN_LP_FREE && kind < 4)
		kind = 2;
	if (kind == 0 || kind == 2)
		*low = -LP_INFINITY;
	if (kind == 1 || kind == 2)
		*high = LP_INFINITY;
	if (kind == 3)
		*low = *high = inside;
}

static void draw_columns(struct gen_lp *self, struct rng *rng, enum gen_lp_family family,
			 uint32_t columns)
{
	uint32_t rows = self->problem.matrix.rows;
	double density = rng_range(rng, 0.1, 1);
	for (uint32_t j = 0; j < columns; j++) {
		double low, high, x = draw(rng, family), cost = draw(rng, family);
		draw_bounds(rng, family, x, &low, &high);
		self->start[j] = x;
		gen_lp_column(self, cost, low, high);
		for (uint32_t i = 0; i < rows; i++)
			if (rng_double(rng) < density &&
			    (family != GEN_LP_EMPTY || rng_below(rng, 3) == 0))
				gen_lp_entry(self, i, draw(rng, family));
	}
}

/* Rows around the activities of the point in self->start, or elsewhere. */
static void draw_rows(struct gen_lp *self, struct rng *rng, enum gen_lp_family family)
{
	const struct lp_matrix *a = &self->problem.matrix;
	for (uint32_t i = 0; i < a->rows; i++)
		self->scratch[i] = 0;
	for (uint32_t j = 0; j < a->columns; j++)
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			self->scratch[a->index[k]] += a->values[k] * self->start[j];
	bool meant_feasible = rng_below(rng, 4) != 0;
	for (uint32_t i = 0; i < a->rows; i++) {
		double inside = self->scratch[i];
		if (!meant_feasible)
			inside += draw(rng, family);
		draw_bounds(rng, family, inside, &self->row_low[i], &self->row_high[i]);
		if (family == GEN_LP_EQUATIONS && rng_below(rng, 4) != 0)
			self->row_low[i] = self->row_high[i] = inside;
		if (family == GEN_LP_DEGENERATE) {
			self->row_low[i] = -LP_INFINITY;
			self->row_high[i] = inside;
		}
	}
}

/* Each row of the second half is a multiple of one of the first. */
static void repeat_rows(struct gen_lp *self, struct rng *rng)
{
	struct lp_matrix *a = &self->problem.matrix;
	uint32_t half = a->rows / 2, at = 0;
	static double dense[256];
	if (half == 0 || 2 * half > COUNT_OF(dense))
		return;
	for (uint32_t j = 0; j < a->columns; j++) {
		uint32_t from = self->starts[j], to = self->starts[j + 1];
		for (uint32_t i = 0; i < half; i++)
			dense[i] = 0;
		for (uint32_t k = from; k < to; k++)
			if (self->index[k] < half)
				dense[self->index[k]] = self->values[k];
		self->starts[j] = at;
		/* Stops at the capacity, because a repeated row has as many entries as its
		 * original. */
		for (uint32_t i = 0; i < 2 * half && at < self->nonzeros_max; i++)
			if (dense[i % half] != 0) {
				self->index[at] = i;
				self->values[at++] = dense[i % half] * (i < half ? 1 : -2);
			}
		self->starts[j + 1] = at;
		if (j + 1 < a->columns && at > to) {
			/* The next column would be overwritten: end here. */
			a->columns = j + 1;
			break;
		}
	}
	a->rows = 2 * half;
	UNUSED(rng);
}

static void assignment(struct gen_lp *self, struct rng *rng)
{
	uint32_t n = 1 + rng_below(rng, MIN_OF(self->rows_max / 2, 8));
	gen_lp_begin(self, 2 * n);
	for (uint32_t i = 0; i < 2 * n; i++)
		self->row_low[i] = self->row_high[i] = 1;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			gen_lp_column(self, (double)rng_below(rng, 10), 0, LP_INFINITY);
			gen_lp_entry(self, i, 1);
			gen_lp_entry(self, n + j, 1);
		}
}

static void rescale(struct gen_lp *self, struct rng *rng)
{
	const struct lp_matrix *a = &self->problem.matrix;
	double scales[256];
	for (uint32_t i = 0; i < a->rows; i++)
		scales[i] = power(rng);
	for (uint32_t j = 0; j < a->columns; j++) {
		double scale = power(rng);
		self->cost[j] *= scale;
		self->column_low[j] = self->column_low[j] > -LP_INFINITY
					      ? self->column_low[j] / scale
					      : -LP_INFINITY;
		self->column_high[j] = self->column_high[j] < LP_INFINITY
					       ? self->column_high[j] / scale
					       : LP_INFINITY;
		for (uint32_t k = a->starts[j]; k < a->starts[j + 1]; k++)
			self->values[k] *= scale * scales[a->index[k]];
	}
	for (uint32_t i = 0; i < a->rows; i++) {
		if (self->row_low[i] > -LP_INFINITY)
			self->row_low[i] *= scales[i];
		if (self->row_high[i] < LP_INFINITY)
			self->row_high[i] *= scales[i];
	}
}

void gen_lp_random(struct gen_lp *self, struct rng *rng, enum gen_lp_family family)
{
	if (family == GEN_LP_ASSIGNMENT) {
		assignment(self, rng);
		return;
	}
	uint32_t rows = 1 + rng_below(rng, MIN_OF(self->rows_max, 24));
	uint32_t columns = 1 + rng_below(rng, MIN_OF(self->columns_max, 24));
	if (family == GEN_LP_EMPTY && rng_below(rng, 3) == 0)
		rows = 0;
	else if (family == GEN_LP_EMPTY && rng_below(rng, 3) == 0)
		columns = 0;
	gen_lp_begin(self, rows);
	draw_columns(self, rng, family, columns);
	if (family == GEN_LP_REDUNDANT)
		repeat_rows(self, rng);
	draw_rows(self, rng, family);
	if (family == GEN_LP_SCALES)
		rescale(self, rng);
}

/* ---- bricks ------------------------------------------------------------------------------------- */

/* Two columns: unit force at each end of the overlap of brick `upper` with `lower` (or the table,
 * lower = NONE). Rows: vertical force, then moment, of each brick. */
static void add_overlap(struct gen_lp *self, const struct gen_lp_brick *bricks, uint32_t upper,
			uint32_t lower)
{
	double left = bricks[upper].left, right = left + 1;
	if (lower != UINT32_MAX) {
		left = scalar_max(left, bricks[lower].left);
		right = scalar_min(right, bricks[lower].left + 1);
	}
	for (uint32_t end = 0; end < 2; end++) {
		double at = end == 0 ? left : right;
		gen_lp_column(self, 0, 0, LP_INFINITY);
		uint32_t first = lower != UINT32_MAX ? MIN_OF(upper, lower) : upper;
		uint32_t second = first == upper ? lower : upper;
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t brick = k == 0 ? first : second;
			if (brick == UINT32_MAX)
				continue;
			double sign = brick == upper ? 1 : -1;
			gen_lp_entry(self, 2 * brick, sign);
			gen_lp_entry(self, 2 * brick + 1, sign * (at - bricks[brick].left - 0.5));
		}
	}
}

void gen_lp_stack(struct gen_lp *self, const struct gen_lp_brick *bricks, uint32_t count, bool hard)
{
	gen_lp_begin(self, 2 * count);
	for (uint32_t i = 0; i < count; i++) {
		self->row_low[2 * i] = self->row_high[2 * i] = 1;
		self->row_low[2 * i + 1] = self->row_high[2 * i + 1] = 0;
		if (bricks[i].layer == 0)
			add_overlap(self, bricks, i, UINT32_MAX);
		for (uint32_t j = 0; j < count; j++)
			if (bricks[j].layer + 1 == bricks[i].layer &&
			    scalar_abs(bricks[j].left - bricks[i].left) < 1)
				add_overlap(self, bricks, i, j);
	}
	for (uint32_t row = 0; row < 2 * count && !hard; row++)
		for (uint32_t side = 0; side < 2; side++) {
			gen_lp_column(self, 1, 0, LP_INFINITY);
			gen_lp_entry(self, row, side == 0 ? 1 : -1);
		}
}

uint32_t gen_lp_pile(struct rng *rng, struct gen_lp_brick *bricks, uint32_t most)
{
	uint32_t count = 0, below = 0, layers = 1 + rng_below(rng, 12);
	for (uint32_t layer = 0; layer < layers && count < most; layer++) {
		uint32_t first = count, width = 1 + rng_below(rng, 6);
		double left = layer == 0 ? 0 : bricks[below].left + rng_range(rng, -0.6, 0.6);
		for (uint32_t k = 0; k < width && count < most; k++) {
			bricks[count++] = (struct gen_lp_brick){ left, layer };
			bool apart = rng_below(rng, 2) != 0;
			left += apart ? rng_range(rng, 1, 1.5) : 1;
		}
		below = first;
	}
	return count;
}

static uint32_t add_row(struct gen_lp_brick *bricks, uint32_t count, uint32_t width, uint32_t layer)
{
	for (uint32_t k = 0; k < width; k++)
		bricks[count++] = (struct gen_lp_brick){ k - 0.5 * width, layer };
	return count;
}

uint32_t gen_lp_inverted(struct gen_lp_brick *bricks, uint32_t m)
{
	uint32_t count = 0;
	for (uint32_t width = 1; width <= m; width++)
		count = add_row(bricks, count, width, width - 1);
	return count;
}

uint32_t gen_lp_diamond(struct gen_lp_brick *bricks, uint32_t m)
{
	uint32_t count = gen_lp_inverted(bricks, m);
	for (uint32_t width = m; width-- > 1;)
		count = add_row(bricks, count, width, 2 * m - width - 1);
	return count;
}
