/* lp_factor.c: sparse LU of a simplex basis.
 *
 * Most of a basis is triangular in some order: first the activities of rows, then columns with one
 * remaining entry (column singletons) and rows with one remaining column (row singletons). The
 * rest, the nucleus, is factored column by column, shortest first: scatter the column, apply the
 * earlier columns of L in the order of their steps, choose a pivot. Among the entries of at least a
 * tenth of the largest, the row with the fewest entries wins (less fill), then the least row. The
 * basis alone therefore determines every bit of the factor.
 *
 * A row singleton whose pivot is below 1/100 of the largest remaining entry of its column is left
 * to the nucleus, which may choose another pivot. A column whose remaining entries are at most
 * 1e-11 of its largest original one is dependent and is removed. Rows without a pivot at the end
 * get their own activity, and their number is reported.
 *
 * L and U are also stored by rows, for solving with the transposed factor (lp_factor_solve.c).
 */
#include "server/engine/solvers/lp_factor.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

#define PIVOT_SHARE 0.1 /* of the column's largest entry; a larger one is stabler with more fill */
#define SINGLETON_SHARE 0.01 /* the same for row singletons */
#define DEPENDENT 1e-11	     /* of the original column */
#define NONE UINT32_MAX

void lp_factor_init(struct lp_factor *self, struct solver_memory *memory, uint32_t rows_max,
		    uint32_t fill_max)
{
	uint32_t m = rows_max;
	*self = (struct lp_factor){ .rows_max = rows_max, .fill_max = fill_max };
	self->pivot_row = SOLVER_CARVE(memory, uint32_t, m);
	self->lower_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->upper_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->lower_index = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->upper_index = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->lower_value = SOLVER_CARVE(memory, double, fill_max);
	self->upper_value = SOLVER_CARVE(memory, double, fill_max);
	self->upper_diagonal = SOLVER_CARVE(memory, double, m);
	self->lower_row_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->upper_row_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->lower_row_index = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->upper_row_index = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->lower_row_value = SOLVER_CARVE(memory, double, fill_max);
	self->upper_row_value = SOLVER_CARVE(memory, double, fill_max);
	self->update_index = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->update_value = SOLVER_CARVE(memory, double, fill_max);
	self->spike = SOLVER_CARVE(memory, double, m);
	self->unit = SOLVER_CARVE(memory, double, m);
	self->work = SOLVER_CARVE(memory, double, m);
	self->pattern = SOLVER_CARVE(memory, uint32_t, m);
	self->step_of = SOLVER_CARVE(memory, uint32_t, m);
	self->row_count = SOLVER_CARVE(memory, uint32_t, m);
	self->row_starts = SOLVER_CARVE(memory, uint32_t, m + 1);
	self->row_list = SOLVER_CARVE(memory, uint32_t, fill_max);
	self->column_count = SOLVER_CARVE(memory, uint32_t, m);
	self->column_of = SOLVER_CARVE(memory, uint32_t, m);
	self->queue = SOLVER_CARVE(memory, uint32_t, 2 * m);
}

/* ---- the order of pivots ------------------------------------------------------------------------ */

/* The state of one factorisation. head[position] is a variable; column_of[step] its position. */
struct factoring {
	struct lp_factor *f;
	const struct lp_matrix *a;
	uint32_t *head;
	uint32_t steps;	       /* pivots so far */
	uint32_t lower, upper; /* entries of L and U so far */
	bool full;	       /* fill_max reached */
};

static bool is_activity(const struct factoring *run, uint32_t position)
{
	VALIDATE(position < run->f->rows);
	return run->head[position] >= run->a->columns;
}

/* Adds the pivot of row `row` and column `position`. The column's present entries are f->work at
 * pattern[0 … count); they are cleared. */
static void add_pivot(struct factoring *run, uint32_t position, uint32_t row, uint32_t count)
{
	ASSERT(run->steps < run->f->rows);
	VALIDATE(run->f->step_of[row] == NONE);
	VALIDATE(position < run->f->rows && row < run->f->rows);
	VALIDATE(count <= run->f->rows);
	struct lp_factor *f = run->f;
	uint32_t step = run->steps++;
	double diagonal = f->work[row];
	f->pivot_row[step] = row;
	f->column_of[step] = position;
	f->upper_diagonal[step] = diagonal;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t i = f->pattern[k];
		double value = f->work[i];
		f->work[i] = 0;
		if (i == row || value == 0)
			continue;
		if (run->lower == f->fill_max || run->upper == f->fill_max) {
			run->full = true;
		} else if (f->step_of[i] != NONE) {
			f->upper_index[run->upper] = i;
			f->upper_value[run->upper++] = value;
		} else {
			f->lower_index[run->lower] = i;
			f->lower_value[run->lower++] = value / diagonal;
		}
	}
	f->step_of[row] = step;
	f->lower_starts[step + 1] = run->lower;
	f->upper_starts[step + 1] = run->upper;
}

/* Copies the column at `position` into f->work; returns the number of its entries. */
static uint32_t scatter_column(struct factoring *run, uint32_t position)
{
	VALIDATE(position < run->f->rows);
	struct lp_factor *f = run->f;
	uint32_t variable = run->head[position], count = 0;
	if (is_activity(run, position)) {
		f->pattern[count++] = variable - run->a->columns;
		f->work[f->pattern[0]] = -1;
		return count;
	}
	for (uint32_t k = run->a->starts[variable]; k < run->a->starts[variable + 1]; k++) {
		f->pattern[count++] = run->a->index[k];
		f->work[run->a->index[k]] = run->a->values[k];
	}
	return count;
}

static void pivot_activities(struct factoring *run)
{
	for (uint32_t p = 0; p < run->f->rows; p++)
		if (is_activity(run, p)) {
			uint32_t row = run->head[p] - run->a->columns;
			(void)scatter_column(run, p);
			add_pivot(run, p, row, 1);
			run->f->column_count[p] = NONE;
		}
}

/* Counts the entries of the remaining columns in the remaining rows, and lists them by row. False:
 * more than fill_max. */
static bool list_rows(struct factoring *run)
{
	struct lp_factor *f = run->f;
	const struct lp_matrix *a = run->a;
	for (uint32_t i = 0; i < f->rows; i++)
		f->row_count[i] = 0;
	for (uint32_t p = 0; p < f->rows; p++) {
		if (f->column_count[p] == NONE)
			continue;
		f->column_count[p] = 0;
		for (uint32_t k = a->starts[run->head[p]]; k < a->starts[run->head[p] + 1]; k++)
			if (f->step_of[a->index[k]] == NONE) {
				f->column_count[p]++;
				f->row_count[a->index[k]]++;
			}
	}
	f->row_starts[0] = 0;
	for (uint32_t i = 0; i < f->rows; i++)
		f->row_starts[i + 1] = f->row_starts[i] + f->row_count[i];
	if (f->row_starts[f->rows] > f->fill_max)
		return false;
	for (uint32_t i = 0; i < f->rows; i++)
		f->row_count[i] = 0;
	for (uint32_t p = 0; p < f->rows; p++) {
		if (f->column_count[p] == NONE)
			continue;
		for (uint32_t k = a->starts[run->head[p]]; k < a->starts[run->head[p] + 1]; k++) {
			uint32_t i = a->index[k];
			if (f->step_of[i] == NONE)
				f->row_list[f->row_starts[i] + f->row_count[i]++] = p;
		}
	}
	return true;
}

/* After the pivot (row, position): reduces the counts of the columns with an entry in the row, and
 * of the rows with an entry in the column. New singletons are appended to the queue (rows as row +
 * m). */
static uint32_t update_counts(struct factoring *run, uint32_t position, uint32_t row, uint32_t tail)
{
	VALIDATE(position < run->f->rows && row < run->f->rows);
	struct lp_factor *f = run->f;
	const struct lp_matrix *a = run->a;
	f->column_count[position] = NONE;
	for (uint32_t k = f->row_starts[row]; k < f->row_starts[row + 1]; k++) {
		uint32_t p = f->row_list[k];
		if (f->column_count[p] != NONE && --f->column_count[p] == 1)
			f->queue[tail++] = p;
	}
	for (uint32_t k = a->starts[run->head[position]]; k < a->starts[run->head[position] + 1];
	     k++) {
		uint32_t i = a->index[k];
		if (f->step_of[i] == NONE && --f->row_count[i] == 1)
			f->queue[tail++] = i + f->rows;
	}
	ASSERT(tail <= 2 * f->rows);
	return tail;
}

/* The row of the only remaining entry of a column. */
static uint32_t remaining_row(const struct factoring *run, uint32_t position)
{
	VALIDATE(position < run->f->rows);
	const struct lp_matrix *a = run->a;
	uint32_t variable = run->head[position];
	for (uint32_t k = a->starts[variable]; k < a->starts[variable + 1]; k++)
		if (run->f->step_of[a->index[k]] == NONE)
			return a->index[k];
	return NONE;
}

/* The column of the only remaining entry of a row. */
static uint32_t remaining_column(const struct factoring *run, uint32_t row)
{
	VALIDATE(row < run->f->rows);
	const struct lp_factor *f = run->f;
	for (uint32_t k = f->row_starts[row]; k < f->row_starts[row + 1]; k++)
		if (f->column_count[f->row_list[k]] != NONE)
			return f->row_list[k];
	return NONE;
}

static double largest_remaining(const struct lp_factor *f, uint32_t count)
{
	VALIDATE(count <= f->rows);
	double most = 0;
	for (uint32_t k = 0; k < count; k++)
		if (f->step_of[f->pattern[k]] == NONE)
			most = scalar_max(scalar_abs(f->work[f->pattern[k]]), most);
	return most;
}

static double largest_entry(const struct lp_factor *f, uint32_t count)
{
	VALIDATE(count <= f->rows);
	double most = 0;
	for (uint32_t k = 0; k < count; k++)
		most = scalar_max(scalar_abs(f->work[f->pattern[k]]), most);
	return most;
}

static void clear_column(struct lp_factor *f, uint32_t count)
{
	VALIDATE(count <= f->rows);
	for (uint32_t k = 0; k < count; k++)
		f->work[f->pattern[k]] = 0;
}

static void pivot_singletons(struct factoring *run)
{
	struct lp_factor *f = run->f;
	uint32_t tail = 0;
	for (uint32_t p = 0; p < f->rows; p++)
		if (f->column_count[p] == 1)
			f->queue[tail++] = p;
	for (uint32_t i = 0; i < f->rows; i++)
		if (f->step_of[i] == NONE && f->row_count[i] == 1)
			f->queue[tail++] = i + f->rows;
	for (uint32_t at = 0; at < tail; at++) {
		bool by_row = f->queue[at] >= f->rows;
		uint32_t row, position;
		if (by_row) {
			row = f->queue[at] - f->rows;
			position = f->step_of[row] == NONE ? remaining_column(run, row) : NONE;
		} else {
			position = f->queue[at];
			row = f->column_count[position] != NONE ? remaining_row(run, position)
								: NONE;
		}
		if (row == NONE || position == NONE)
			continue;
		uint32_t count = scatter_column(run, position);
		double least = scalar_max(SINGLETON_SHARE * largest_remaining(f, count),
					  DEPENDENT * largest_entry(f, count));
		if (scalar_abs(f->work[row]) > least) {
			add_pivot(run, position, row, count);
			tail = update_counts(run, position, row, tail);
		} else {
			clear_column(f, count);
		}
	}
}

/* ---- the nucleus -------------------------------------------------------------------------------- */

/* The row of the pivot, or NONE if the column is dependent. */
static uint32_t choose_row(const struct lp_factor *f, uint32_t count, double original)
{
	double most = largest_remaining(f, count);
	uint32_t best = NONE;
	if (!(most > DEPENDENT * original))
		return NONE;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t i = f->pattern[k];
		if (f->step_of[i] != NONE || scalar_abs(f->work[i]) < PIVOT_SHARE * most)
			continue;
		if (best == NONE || f->row_count[i] < f->row_count[best] ||
		    (f->row_count[i] == f->row_count[best] && i < best))
			best = i;
	}
	return best;
}

/* Applies the columns of L from step `first` on to the scattered column; returns its new count.
 * Rows of the pattern are marked with row_starts[row] = NONE, because the lists of rows are no
 * longer needed. */
static uint32_t apply_lower(struct factoring *run, uint32_t first, uint32_t count)
{
	ASSERT(first <= run->steps);
	struct lp_factor *f = run->f;
	for (uint32_t k = 0; k < count; k++)
		f->row_starts[f->pattern[k]] = NONE;
	for (uint32_t step = first; step < run->steps; step++) {
		double x = f->work[f->pivot_row[step]];
		if (x == 0)
			continue;
		for (uint32_t k = f->lower_starts[step]; k < f->lower_starts[step + 1]; k++) {
			uint32_t i = f->lower_index[k];
			if (f->row_starts[i] != NONE) {
				f->row_starts[i] = NONE;
				f->pattern[count++] = i;
			}
			f->work[i] -= f->lower_value[k] * x;
		}
		f->factor_work += f->lower_starts[step + 1] - f->lower_starts[step];
	}
	for (uint32_t k = 0; k < count; k++)
		f->row_starts[f->pattern[k]] = 0;
	return count;
}

/* Writes the positions of the nucleus to the queue, by count, then position; returns their number. */
static uint32_t order_nucleus(struct lp_factor *f)
{
	uint32_t *starts = f->queue + f->rows, count = 0;
	for (uint32_t i = 0; i < f->rows; i++)
		starts[i] = 0;
	for (uint32_t p = 0; p < f->rows; p++)
		if (f->column_count[p] != NONE && f->column_count[p] < f->rows)
			starts[f->column_count[p]]++;
	for (uint32_t c = 0, at = 0; c < f->rows; c++) {
		uint32_t here = starts[c];
		starts[c] = at;
		at += here;
	}
	for (uint32_t p = 0; p < f->rows; p++)
		if (f->column_count[p] != NONE && f->column_count[p] < f->rows) {
			f->queue[starts[f->column_count[p]]++] = p;
			count++;
		}
	/* Columns with an entry in every row come last. */
	for (uint32_t p = 0; p < f->rows; p++)
		if (f->column_count[p] != NONE && f->column_count[p] >= f->rows)
			f->queue[count++] = p;
	ASSERT(count <= f->rows);
	return count;
}

static void pivot_nucleus(struct factoring *run)
{
	struct lp_factor *f = run->f;
	uint32_t first = run->steps, nucleus = order_nucleus(f);
	for (uint32_t at = 0; at < nucleus && !run->full; at++) {
		uint32_t position = f->queue[at];
		uint32_t count = scatter_column(run, position);
		double original = largest_entry(f, count);
		count = apply_lower(run, first, count);
		uint32_t row = choose_row(f, count, original);
		if (row == NONE) {
			clear_column(f, count);
			continue;
		}
		add_pivot(run, position, row, count);
		f->column_count[position] = NONE;
	}
}

/* Replaces the columns without a pivot by the activities of the rows without one; returns their
 * number. */
static uint32_t replace_dependent(struct factoring *run)
{
	struct lp_factor *f = run->f;
	uint32_t replaced = 0, position = 0;
	for (uint32_t row = 0; row < f->rows; row++) {
		if (f->step_of[row] != NONE)
			continue;
		while (f->column_count[position] == NONE)
			position++;
		run->head[position] = run->a->columns + row;
		(void)scatter_column(run, position);
		add_pivot(run, position, row, 1);
		f->column_count[position] = NONE;
		replaced++;
	}
	ASSERT(run->steps == f->rows);
	return replaced;
}

/* The entries of columns, by rows: those of row i at starts[i] … starts[i + 1] − 1, in the order of steps,
 * each with the pivot row of its column. */
static void copy_by_rows(const struct lp_factor *self, const uint32_t *column_starts,
			 const uint32_t *index, const double *value, uint32_t *starts,
			 uint32_t *row_index, double *row_value)
{
	uint32_t count = column_starts[self->rows];
	for (uint32_t i = 0; i <= self->rows; i++)
		starts[i] = 0;
	for (uint32_t k = 0; k < count; k++)
		starts[index[k] + 1]++;
	for (uint32_t i = 0; i < self->rows; i++)
		starts[i + 1] += starts[i];
	for (uint32_t step = 0; step < self->rows; step++)
		for (uint32_t k = column_starts[step]; k < column_starts[step + 1]; k++) {
			uint32_t at = starts[index[k]]++;
			row_index[at] = self->pivot_row[step];
			row_value[at] = value[k];
		}
	/* Each start has moved to its row's end. */
	for (uint32_t i = self->rows; i > 0; i--)
		starts[i] = starts[i - 1];
	starts[0] = 0;
	ASSERT(starts[self->rows] == count);
}

bool lp_factor_make(struct lp_factor *self, const struct lp_matrix *matrix, uint32_t *head,
		    uint32_t *replaced)
{
	struct factoring run = { .f = self, .a = matrix, .head = head };
	ASSERT(matrix->rows <= self->rows_max);
	self->rows = matrix->rows;
	self->updates = 0;
	self->update_starts[0] = 0;
	self->factor_work = self->update_work = 0;
	self->lower_starts[0] = self->upper_starts[0] = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->step_of[i] = NONE;
		self->column_count[i] = 0;
		self->work[i] = 0;
	}
	*replaced = 0;
	pivot_activities(&run);
	run.full = !list_rows(&run);
	if (!run.full) {
		pivot_singletons(&run);
		pivot_nucleus(&run);
	}
	if (run.full) {
		/* An empty factor: solving with it changes nothing. */
		self->rows = self->lower_first = 0;
		return false;
	}
	*replaced = replace_dependent(&run);
	self->lower_first = 0;
	while (self->lower_first < self->rows && self->lower_starts[self->lower_first + 1] == 0)
		self->lower_first++;
	for (uint32_t step = 0; step < self->rows; step++)
		self->queue[self->pivot_row[step]] = head[self->column_of[step]];
	for (uint32_t row = 0; row < self->rows; row++)
		head[row] = self->queue[row];
	/* Entries of the factor are stored, copied and solved with twice; those of the matrix are counted,
	 * listed, scattered and multiplied with x and prices. */
	uint64_t entries = self->lower_starts[self->rows] + self->upper_starts[self->rows];
	self->factor_work += 6 * entries + 4 * (uint64_t)matrix->starts[matrix->columns] +
			     16 * (uint64_t)self->rows;
	copy_by_rows(self, self->lower_starts, self->lower_index, self->lower_value,
		     self->lower_row_starts, self->lower_row_index, self->lower_row_value);
	copy_by_rows(self, self->upper_starts, self->upper_index, self->upper_value,
		     self->upper_row_starts, self->upper_row_index, self->upper_row_value);
	return true;
}
