/* lowest.c: see lowest.h. */
#include "server/engine/statics/lowest.h"

#include <string.h>

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lp_dual_simplex.h"

/* 1, of the lesser height of two plates: deeper ones overlap. */
#define OVERLAP 1e-2
/* 1, of the shorter interval: a smaller overlap in x is none. */
#define WIDTH_MIN 1e-9
/* 1, of the height of the stack: less is no violation. */
#define VIOLATED 1e-10
#define TOLERANCE 1e-11
enum { ROUNDS_MAX = 100 };

/* The upper plate at x may come down by `gap` against the lower one. */
struct lowest_row {
	uint32_t upper, lower;
	double x, gap;
	bool listed; /* in the programme */
};

struct lowest_work {
	const struct lowest_plate *plates;
	uint32_t count, listed;
	double height; /* m, of the stack */
	struct lowest_motion *motions;
	struct {
		struct lowest_row *items;
		uint32_t count, capacity;
	} rows;
};

/* ---- rows ------------------------------------------------------------------------------------ */

/* The overlap of the upper one's bottom with the lower one's top. */
static bool overlap_of(const struct lowest_plate *upper, const struct lowest_plate *lower,
		       double ends[2])
{
	ends[0] = scalar_max(upper->under[0], lower->above[0]);
	ends[1] = scalar_min(upper->under[1], lower->above[1]);
	double shorter =
		scalar_min(upper->under[1] - upper->under[0], lower->above[1] - lower->above[0]);
	return ends[1] - ends[0] > WIDTH_MIN * shorter;
}

static bool is_above(const struct lowest_plate *upper, const struct lowest_plate *lower)
{
	double least = scalar_min(upper->top - upper->bottom, lower->top - lower->bottom);
	return upper->bottom >= lower->top - OVERLAP * least;
}

/* Lists the rows of a pair; DEGENERATE: they overlap. */
static enum status put_pair(struct lowest_work *work, uint32_t i, uint32_t k)
{
	const struct lowest_plate *plates = work->plates;
	ASSERT(i < work->count && k < i);
	bool above = is_above(&plates[i], &plates[k]);
	double ends[2];
	uint32_t upper = above ? i : k, lower = above ? k : i;
	if (!overlap_of(&plates[upper], &plates[lower], ends))
		return STATUS_OK;
	if (!above && !is_above(&plates[k], &plates[i]))
		return STATUS_DEGENERATE;
	if (ARRAY_RESERVE(&work->rows, work->rows.count + 2u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	double gap = scalar_max(0, plates[upper].bottom - plates[lower].top);
	for (uint32_t e = 0; e < 2; e++)
		work->rows.items[work->rows.count++] =
			(struct lowest_row){ upper, lower, ends[e], gap, gap == 0 };
	return STATUS_OK;
}

static enum status put_rows(struct lowest_work *work, uint32_t pair[2])
{
	double low = __builtin_inf(), high = -__builtin_inf();
	for (uint32_t i = 0; i < work->count; i++) {
		bool ground = work->plates[i].fixed;
		low = scalar_min(low, ground ? work->plates[i].top : work->plates[i].bottom);
		high = scalar_max(high, work->plates[i].top);
		for (uint32_t k = 0; k < i; k++) {
			if (work->plates[i].fixed && work->plates[k].fixed)
				continue;
			enum status status = put_pair(work, i, k);
			pair[0] = k;
			pair[1] = i;
			if (status != STATUS_OK)
				return status;
		}
	}
	work->height = work->count > 0 ? high - low : 0;
	return STATUS_OK;
}

static double rise_at(const struct lowest_work *work, uint32_t plate, double x)
{
	const struct lowest_motion *motion = &work->motions[plate];
	ASSERT(plate < work->count);
	return motion->rise + motion->slope * (x - work->plates[plate].x);
}

/* Lists the rows that the motions violate; returns how many are new. */
static uint32_t list_violated(struct lowest_work *work)
{
	uint32_t fresh = 0;
	for (uint32_t i = 0; i < work->rows.count; i++) {
		struct lowest_row *row = &work->rows.items[i];
		double gap = row->gap + rise_at(work, row->upper, row->x) -
			     rise_at(work, row->lower, row->x);
		if (row->listed || gap >= -VIOLATED * work->height)
			continue;
		row->listed = true;
		fresh++;
	}
	return fresh;
}

/* ---- the programme --------------------------------------------------------------------------- */

/* Variables 2 i and 2 i + 1 are the rise and the slope of plate i. */
struct lowest_program {
	uint32_t columns, rows, nonzeros;
	uint32_t *starts, *index; /* of one block, as the numbers below are of another */
	double *values, *cost, *low, *high, *row_low, *row_high, *x, *dual, *scratch;
	uint8_t *places;
	void *integers, *numbers, *memory;
};

static enum status allocate_program(struct lowest_program *self)
{
	size_t columns = self->columns + 1u, rows = self->rows + 1u, all = self->nonzeros + 1u;
	struct lp_sizes sizes = { self->rows, self->columns, self->nonzeros, 0 };
	self->integers = heap_alloc_zero((columns + all) * sizeof *self->starts);
	self->numbers = heap_alloc_zero((all + 4 * columns + 5 * rows) * sizeof(double));
	self->places = heap_alloc_zero(columns + rows);
	self->memory = heap_alloc_aligned(lp_dual_simplex_bytes(sizes));
	if (self->integers == NULL || self->numbers == NULL || self->places == NULL ||
	    self->memory == NULL)
		return STATUS_NO_MEMORY;
	self->starts = self->integers;
	self->index = self->starts + columns;
	self->values = self->numbers;
	self->cost = self->values + all;
	self->low = self->cost + columns;
	self->high = self->low + columns;
	self->x = self->high + columns;
	self->row_low = self->x + columns;
	self->row_high = self->row_low + rows;
	self->dual = self->row_high + rows;
	self->scratch = self->dual + rows; /* 2 rows */
	return STATUS_OK;
}

static void release_program(struct lowest_program *self)
{
	heap_free(self->integers);
	heap_free(self->numbers);
	heap_free(self->places);
	heap_free(self->memory);
}

static void write_columns(const struct lowest_work *work, struct lowest_program *program)
{
	ASSERT(program->columns == 2 * work->count);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct lowest_plate *plate = &work->plates[i];
		program->cost[2 * i] = plate->fixed ? 0 : plate->weight;
		program->low[2 * i] = plate->fixed ? 0 : -work->height;
		program->high[2 * i] = plate->fixed ? 0 : work->height;
		program->low[2 * i + 1] = plate->fixed ? 0 : -LOWEST_SLOPE;
		program->high[2 * i + 1] = plate->fixed ? 0 : LOWEST_SLOPE;
	}
}

/* Fills the matrix by columns: counts, places, entries in the order of rows. */
static void write_rows(const struct lowest_work *work, struct lowest_program *program)
{
	uint32_t at = 0, *starts = program->starts;
	for (uint32_t pass = 0; pass < 2; pass++) {
		at = 0;
		for (uint32_t r = 0; r < work->rows.count; r++) {
			const struct lowest_row *row = &work->rows.items[r];
			const uint32_t ends[2] = { row->upper, row->lower };
			for (uint32_t e = 0; e < 2 && row->listed; e++)
				for (uint32_t v = 0; v < 2; v++) {
					uint32_t column = 2 * ends[e] + v;
					double arm = row->x - work->plates[ends[e]].x;
					if (pass == 0) {
						starts[column + 1]++;
						continue;
					}
					program->index[starts[column]] = at;
					program->values[starts[column]++] =
						(e == 0 ? 1 : -1) * (v == 0 ? 1 : arm);
				}
			program->row_low[at] = -row->gap;
			program->row_high[at] = LP_INFINITY;
			at += row->listed;
		}
		for (uint32_t c = 0; c < program->columns && pass == 0; c++)
			starts[c + 1] += starts[c];
	}
	ASSERT(at == program->rows);
	for (uint32_t c = program->columns; c > 0; c--)
		starts[c] = starts[c - 1];
	starts[0] = 0;
}

/* One programme of the listed rows, into the motions. */
static enum status solve_listed(struct lowest_work *work, struct lowest_outcome *outcome)
{
	struct lowest_program program = { .columns = 2 * work->count };
	for (uint32_t i = 0; i < work->rows.count; i++)
		program.rows += work->rows.items[i].listed;
	program.nonzeros = 4 * program.rows;
	outcome->rows = program.rows;
	enum status status = allocate_program(&program);
	if (status == STATUS_OK) {
		struct lp_sizes sizes = { program.rows, program.columns, program.nonzeros, 0 };
		struct lp_dual_simplex solver;
		write_columns(work, &program);
		write_rows(work, &program);
		const struct lp_problem problem = {
			.matrix = { program.rows, program.columns, program.starts, program.index,
				    program.values },
			.cost = program.cost,
			.column_low = program.low,
			.column_high = program.high,
			.row_low = program.row_low,
			.row_high = program.row_high,
		};
		struct lp_solution solution = { program.x, program.dual, program.places };
		struct solver_options options = solver_options_default();
		options.tolerance = TOLERANCE;
		lp_dual_simplex_init(&solver, program.memory, sizes);
		outcome->solved =
			lp_dual_simplex_solve(&solver, &problem, &options, &solution).status ==
			SOLVER_SOLVED;
		outcome->residual = lp_residual(&problem, program.x, program.dual, program.scratch);
		for (uint32_t i = 0; i < work->count; i++)
			work->motions[i] =
				(struct lowest_motion){ program.x[2 * i], program.x[2 * i + 1], 0 };
	}
	release_program(&program);
	return status;
}

/* ---- all ------------------------------------------------------------------------------------- */

static void measure_motions(const struct lowest_work *work, struct lowest_outcome *outcome)
{
	ASSERT(outcome->solved && outcome->limited == 0);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct lowest_motion *motion = &work->motions[i];
		if (work->plates[i].fixed)
			continue;
		bool turned = scalar_abs(motion->slope) >= LOWEST_SLOPE * (1 - TOLERANCE);
		bool sunk = -motion->rise >= work->height * (1 - TOLERANCE);
		outcome->limited += turned || sunk;
		outcome->drop -= work->plates[i].weight * motion->rise;
	}
	outcome->drop = scalar_max(outcome->drop, 0);
}

enum status lowest_find(const struct lowest_plate *plates, uint32_t count,
			struct lowest_motion *out, struct lowest_outcome *outcome, uint32_t pair[2])
{
	struct lowest_work work = { .plates = plates, .count = count, .motions = out };
	ASSERT(count <= LOWEST_PLATES_MAX);
	*outcome = (struct lowest_outcome){ .solved = true };
	memset(out, 0, count * sizeof *out);
	enum status status = put_rows(&work, pair);
	for (bool more = status == STATUS_OK; more;) {
		status = solve_listed(&work, outcome);
		outcome->rounds++;
		more = status == STATUS_OK && outcome->solved && list_violated(&work) > 0;
		if (more && outcome->rounds == ROUNDS_MAX)
			more = outcome->solved = false;
	}
	if (status == STATUS_OK && outcome->solved)
		measure_motions(&work, outcome);
	else
		memset(out, 0, count * sizeof *out);
	ARRAY_RELEASE(&work.rows);
	return status;
}
