/* lowest.c: see lowest.h. */
#include "server/engine/statics/lowest.h"

#include <string.h>

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lp_dual_simplex.h"

/* 1, of the lesser height of two plates: deeper ones overlap. */
#define OVERLAP 1e-2
/* 1, of the shorter interval: a smaller overlap in x is none. */
#define WIDTH_MIN 1e-9
/* 1, of the height of the stack: less is no violation. */
#define VIOLATED 1e-10
#define TOLERANCE 1e-11
/* Of large programmes the solver reaches less, which is as good as the forces of statics. */
#define ACCEPTED 1e-10
enum { ROUNDS_MAX = 100 };

/* The upper plate at (x, z) may come down by `gap` against the lower one; or a tie of the two. */
struct lowest_row {
	uint32_t upper, lower; /* LOWEST_WORLD in a tie */
	double x, z, gap;
	uint8_t kind; /* ROW_ABOVE, or one of a tie */
	bool listed;  /* in the programme */
};
enum { ROW_ABOVE = 2 };

struct lowest_work {
	const struct lowest_plate *plates;
	uint32_t count, listed, axes; /* axes: variables of a plate */
	double height;		      /* m, of the stack */
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

enum { CLIPPED_MAX = 2 * LOWEST_CORNERS_MAX };

static double area_of(const double (*corners)[2], uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		const double *a = corners[i], *b = corners[i + 1 < count ? i + 1 : 0];
		sum += a[0] * b[1] - a[1] * b[0];
	}
	return 0.5 * sum;
}

/* Keeps what is on the left of the line from p to q (Sutherland and Hodgman); returns its corners. */
static uint32_t clip_by_line(const double (*in)[2], uint32_t count, const double *p,
			     const double *q, double (*out)[2])
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < count; i++) {
		const double *a = in[i], *b = in[i + 1 < count ? i + 1 : 0];
		double side_a = (q[0] - p[0]) * (a[1] - p[1]) - (q[1] - p[1]) * (a[0] - p[0]);
		double side_b = (q[0] - p[0]) * (b[1] - p[1]) - (q[1] - p[1]) * (b[0] - p[0]);
		if (side_a >= 0) {
			out[kept][0] = a[0];
			out[kept++][1] = a[1];
		}
		if ((side_a > 0 && side_b < 0) || (side_a < 0 && side_b > 0)) {
			double share = side_a / (side_a - side_b);
			out[kept][0] = a[0] + share * (b[0] - a[0]);
			out[kept++][1] = a[1] + share * (b[1] - a[1]);
		}
	}
	ASSERT(kept <= CLIPPED_MAX);
	return kept;
}

/* The overlap of two faces; returns its corners, 0 if there is none. */
static uint32_t clip_faces(const struct lowest_face *a, const struct lowest_face *b,
			   double (*out)[2])
{
	double spare[CLIPPED_MAX][2];
	const struct lowest_face *whole = a->count > 0 ? a : b, *by = a->count > 0 ? b : a;
	uint32_t count = whole->count;
	ASSERT(count > 0 && count <= LOWEST_CORNERS_MAX && by->count <= LOWEST_CORNERS_MAX);
	memcpy(out, whole->corners, count * sizeof *out);
	double least = area_of(whole->corners, count);
	for (uint32_t i = 0; i < by->count; i++) {
		memcpy(spare, out, count * sizeof *out);
		count = clip_by_line((const double(*)[2])spare, count, by->corners[i],
				     by->corners[i + 1 < by->count ? i + 1 : 0], out);
	}
	if (by->count > 0)
		least = scalar_min(least, area_of(by->corners, by->count));
	return area_of((const double(*)[2])out, count) > WIDTH_MIN * least ? count : 0;
}

/* The corners of the overlap of two plates, in the plane two; 0: they do not overlap. */
static uint32_t overlap_corners(const struct lowest_work *work, const struct lowest_plate *upper,
				const struct lowest_plate *lower, double (*out)[2])
{
	double ends[2];
	if (!overlap_of(upper, lower, ends))
		return 0;
	if (work->axes == 3)
		return clip_faces(&upper->bottom_face, &lower->top_face, out);
	for (uint32_t e = 0; e < 2; e++) {
		out[e][0] = ends[e];
		out[e][1] = 0;
	}
	return 2;
}

/* Lists the rows of a pair; DEGENERATE: they overlap. */
static enum status put_pair(struct lowest_work *work, uint32_t i, uint32_t k)
{
	const struct lowest_plate *plates = work->plates;
	ASSERT(i < work->count && k < work->count && i != k);
	bool above = is_above(&plates[i], &plates[k]);
	double corners[CLIPPED_MAX][2];
	uint32_t upper = above ? i : k, lower = above ? k : i;
	uint32_t count = overlap_corners(work, &plates[upper], &plates[lower], corners);
	if (count == 0)
		return STATUS_OK;
	if (!above && !is_above(&plates[k], &plates[i]))
		return STATUS_DEGENERATE;
	if (work->rows.count + count > LOWEST_ROWS_MAX)
		return STATUS_LIMIT;
	if (ARRAY_RESERVE(&work->rows, work->rows.count + count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	double gap = scalar_max(0, plates[upper].bottom - plates[lower].top);
	for (uint32_t e = 0; e < count; e++)
		work->rows.items[work->rows.count++] =
			(struct lowest_row){ upper, lower,     corners[e][0], corners[e][1],
					     gap,   ROW_ABOVE, gap == 0 };
	return STATUS_OK;
}

static double left_of(const struct lowest_plate *plate)
{
	return scalar_min(plate->under[0], plate->above[0]);
}

static double right_of(const struct lowest_plate *plate)
{
	return scalar_max(plate->under[1], plate->above[1]);
}

static int compare_left(const void *x, const void *y, void *context)
{
	const struct lowest_plate *plates = ((const struct lowest_work *)context)->plates;
	uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
	double left_a = left_of(&plates[a]), left_b = left_of(&plates[b]);
	if (left_a != left_b)
		return left_a < left_b ? -1 : 1;
	return a < b ? -1 : a > b;
}

/* The pairs of plates that overlap in x. `order`: plates by their left ends. */
static enum status put_pairs(struct lowest_work *work, const uint32_t *order, uint32_t pair[2])
{
	for (uint32_t i = 0; i < work->count; i++)
		for (uint32_t k = i + 1; k < work->count; k++) {
			uint32_t a = MIN_OF(order[i], order[k]), b = MAX_OF(order[i], order[k]);
			if (left_of(&work->plates[order[k]]) > right_of(&work->plates[order[i]]))
				break;
			if (work->plates[a].fixed && work->plates[b].fixed)
				continue;
			enum status status = put_pair(work, b, a);
			pair[0] = a;
			pair[1] = b;
			if (status != STATUS_OK)
				return status;
		}
	return STATUS_OK;
}

/* By plates, so that the programme does not depend on how pairs were found. */
static int compare_rows(const void *x, const void *y, void *context)
{
	UNUSED(context);
	const struct lowest_row *a = x, *b = y;
	uint32_t a_high = MAX_OF(a->upper, a->lower), b_high = MAX_OF(b->upper, b->lower);
	uint32_t a_low = MIN_OF(a->upper, a->lower), b_low = MIN_OF(b->upper, b->lower);
	if (a_high != b_high)
		return a_high < b_high ? -1 : 1;
	return a_low < b_low ? -1 : a_low > b_low;
}

static enum status sort_rows(struct lowest_work *work)
{
	struct lowest_row *scratch = heap_alloc((work->rows.count + 1u) * sizeof *scratch);
	if (scratch == NULL)
		return STATUS_NO_MEMORY;
	if (work->rows.count > 0)
		sort_items(work->rows.items, scratch, work->rows.count, sizeof *scratch,
			   compare_rows, NULL);
	heap_free(scratch);
	return STATUS_OK;
}

/* Ties of plates that do not move at either end, and of slopes that the plane does not have, are none. */
static enum status put_ties(struct lowest_work *work, const struct lowest_problem *problem)
{
	if (ARRAY_RESERVE(&work->rows, work->rows.count + problem->tie_count) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < problem->tie_count; i++) {
		const struct lowest_tie *tie = &problem->ties[i];
		if (tie->kind == LOWEST_LEVEL && !problem->space && tie->x == 0)
			continue;
		work->rows.items[work->rows.count++] =
			(struct lowest_row){ tie->b, tie->a, tie->x, tie->z, 0, (uint8_t)tie->kind,
					     true };
	}
	return STATUS_OK;
}

static enum status put_rows(struct lowest_work *work, const struct lowest_problem *problem,
			    uint32_t pair[2])
{
	double low = __builtin_inf(), high = -__builtin_inf();
	uint32_t *order = heap_alloc(2 * (work->count + 1u) * sizeof *order);
	if (order == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < work->count; i++) {
		bool ground = work->plates[i].fixed;
		low = scalar_min(low, ground ? work->plates[i].top : work->plates[i].bottom);
		high = scalar_max(high, work->plates[i].top);
		order[i] = i;
	}
	work->height = work->count > 0 ? high - low : 0;
	sort_items(order, order + work->count, work->count, sizeof *order, compare_left, work);
	enum status status = put_pairs(work, order, pair);
	if (status == STATUS_OK)
		status = sort_rows(work);
	if (status == STATUS_OK)
		status = put_ties(work, problem);
	heap_free(order);
	return status;
}

/* How a row depends on the variables of a plate at one of its ends. */
static void coefficients_of(const struct lowest_work *work, const struct lowest_row *row,
			    uint32_t plate, double out[3])
{
	bool level = row->kind == LOWEST_LEVEL;
	ASSERT(plate < work->count);
	out[0] = level ? 0 : 1;
	out[1] = level ? row->x : row->x - work->plates[plate].x;
	out[2] = level ? row->z : row->z - work->plates[plate].z;
}

static double rise_at(const struct lowest_work *work, uint32_t plate, const struct lowest_row *row)
{
	const struct lowest_motion *motion = &work->motions[plate];
	double by[3];
	coefficients_of(work, row, plate, by);
	return by[0] * motion->rise + by[1] * motion->slope + by[2] * motion->across;
}

/* Lists the rows that the motions violate; returns how many are new. */
static uint32_t list_violated(struct lowest_work *work)
{
	uint32_t fresh = 0;
	for (uint32_t i = 0; i < work->rows.count; i++) {
		struct lowest_row *row = &work->rows.items[i];
		if (row->listed)
			continue;
		double gap =
			row->gap + rise_at(work, row->upper, row) - rise_at(work, row->lower, row);
		if (gap >= -VIOLATED * work->height)
			continue;
		row->listed = true;
		fresh++;
	}
	return fresh;
}

/* ---- the programme --------------------------------------------------------------------------- */

/* Variables of plate i are its rise and its slope along x, and in space that along z. */
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
	ASSERT(program->columns == work->axes * work->count);
	for (uint32_t i = 0; i < work->count; i++) {
		const struct lowest_plate *plate = &work->plates[i];
		uint32_t first = work->axes * i;
		program->cost[first] = plate->fixed ? 0 : plate->weight;
		for (uint32_t v = 0; v < work->axes; v++) {
			double most = v == 0 ? work->height : LOWEST_SLOPE;
			program->low[first + v] = plate->fixed ? 0 : -most;
			program->high[first + v] = plate->fixed ? 0 : most;
		}
	}
}

/* The entries of one end of row `at`, or (counting) how many there are in each column. */
static void write_end(const struct lowest_work *work, struct lowest_program *program,
		      const struct lowest_row *row, uint32_t plate, double sign, uint32_t at,
		      bool counting)
{
	double by[3];
	coefficients_of(work, row, plate, by);
	for (uint32_t v = 0; v < work->axes; v++) {
		uint32_t column = work->axes * plate + v;
		if (counting) {
			program->starts[column + 1]++;
			continue;
		}
		program->index[program->starts[column]] = at;
		program->values[program->starts[column]++] = sign * by[v];
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
			if (!row->listed)
				continue;
			for (uint32_t e = 0; e < 2; e++)
				if (ends[e] != LOWEST_WORLD)
					write_end(work, program, row, ends[e], e == 0 ? 1 : -1, at,
						  pass == 0);
			program->row_low[at] = -row->gap;
			program->row_high[at++] = row->kind == ROW_ABOVE ? LP_INFINITY : 0;
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
	struct lowest_program program = { .columns = work->axes * work->count };
	for (uint32_t i = 0; i < work->rows.count; i++)
		program.rows += work->rows.items[i].listed;
	program.nonzeros = 2 * work->axes * program.rows;
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
		enum solver_status end =
			lp_dual_simplex_solve(&solver, &problem, &options, &solution).status;
		outcome->residual = lp_residual(&problem, program.x, program.dual, program.scratch);
		outcome->solved = end == SOLVER_SOLVED ||
				  (end == SOLVER_INEXACT && outcome->residual <= ACCEPTED);
		for (uint32_t i = 0; i < work->count; i++) {
			const double *x = program.x + work->axes * i;
			work->motions[i] =
				(struct lowest_motion){ x[0], x[1], work->axes == 3 ? x[2] : 0 };
		}
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
		double slope = scalar_max(scalar_abs(motion->slope), scalar_abs(motion->across));
		bool turned = slope >= LOWEST_SLOPE * (1 - TOLERANCE);
		bool sunk = -motion->rise >= work->height * (1 - TOLERANCE);
		outcome->limited += turned || sunk;
		outcome->drop -= work->plates[i].weight * motion->rise;
	}
	outcome->drop = scalar_max(outcome->drop, 0);
}

enum status lowest_find(const struct lowest_problem *problem, struct lowest_motion *out,
			struct lowest_outcome *outcome, uint32_t pair[2])
{
	struct lowest_work work = { .plates = problem->plates,
				    .count = problem->count,
				    .axes = problem->space ? 3 : 2,
				    .motions = out };
	ASSERT(problem->count <= lowest_plates_max(problem->space));
	*outcome = (struct lowest_outcome){ .solved = true };
	memset(out, 0, problem->count * sizeof *out);
	enum status status = put_rows(&work, problem, pair);
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
		memset(out, 0, problem->count * sizeof *out);
	ARRAY_RELEASE(&work.rows);
	return status;
}
