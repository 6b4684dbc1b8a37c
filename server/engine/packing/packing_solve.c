/* packing_solve.c: the linear program of a jump, in units of the scale.
 *
 *   min L + (pull Σ d_i.x + c Σ |d_i.y|) / n    subject to
 *
 *   normal · (d_b − d_a) ≥ −gap    for the rows of pairs
 *   L − d_i.x ≥ right_i − end      for each polygon
 *
 * d_i.y is the difference of two columns; its price c keeps where it is what gains nothing from a move
 * across the strip (papers P-08). L ≤ 0 is the change of the length, d_i stays in the strip and d_i.x
 * does not pass the end of the layout, so no length grows. Rows are lazy, as in `pile`: the first program
 * has those that are nearly closed; it is solved again, warm, with all that its optimum violates, and with
 * the rows of pairs that its moves bring together, until there are none.
 */
#include "server/engine/packing/packing_work.h"
#include "server/engine/solvers/lp_program.h"

/* 1, of the solver. */
#define TOLERANCE 1e-11
/* A residual above this counts as none. */
#define GOOD 1e-9
/* Of the scale, as are the next three. Polygons keep this distance, so that the solver's errors make no
 * overlap; those that are nearer keep theirs. */
#define KEEP 2e-10
/* A row that is violated by more is taken; a move that violates one by more is shortened. */
#define VIOLATED 2e-11
#define PERMITTED 1e-10
/* Of the mean side of a polygon's box. Rows of pairs that are nearer are in the first program. Larger:
 * larger programs; smaller: its optimum brings together pairs that neighbours keep apart, and rows are made
 * for them. */
#define NEAR 1

/* Price of a way across the strip. Larger: it costs length; smaller: rounding decides the way. */
#define CONSERVATIVE 1e-4
/* Columns of a polygon: x, y up, y down. */
enum { X, UP, DOWN, COLUMNS };
/* Rounds of one jump. Each but the last adds rows, so there is an end; this one bounds the time. */
enum { ROUNDS_MAX = 200 };

/* ---- the problem ------------------------------------------------------------------------------- */

static bool allocate_program(struct packing *self, struct lp_program *lp, uint32_t taken)
{
	const struct lp_sizes sizes = { .rows = taken + self->count,
					.columns = COLUMNS * self->count + 1,
					.nonzeros = 2 * COLUMNS * taken + 2 * self->count };
	return lp_program_allocate(lp, &self->arena, sizes, false);
}

static void fill_columns(const struct packing *self, struct lp_program *lp)
{
	double unit = 1 / self->scale, end = self->left + packing_length(self);
	for (uint32_t i = 0; i < self->count; i++) {
		vec2 low = packing_low(&self->shapes[i]), high = packing_high(&self->shapes[i]);
		double *cost = lp->cost + COLUMNS * i;
		double *least = lp->column_low + COLUMNS * i, *most = lp->column_high + COLUMNS * i;
		cost[X] = self->pull / self->count;
		cost[UP] = cost[DOWN] = CONSERVATIVE / self->count;
		least[X] = scalar_min(self->left - low.x, 0) * unit;
		most[X] = scalar_max(end - high.x, 0) * unit;
		least[UP] = least[DOWN] = 0;
		most[UP] = scalar_max(self->y_max - high.y, 0) * unit;
		most[DOWN] = scalar_max(low.y - self->y_min, 0) * unit;
	}
	lp->cost[lp->columns - 1] = 1;
	lp->column_low[lp->columns - 1] = -packing_length(self) * unit;
	lp->column_high[lp->columns - 1] = 0;
	memcpy(lp->solution.places, self->places, lp->columns);
}

/* The least value of normal · (d_b − d_a), never above 0, so that staying is permitted. */
static double row_bound(const struct packing *self, const struct packing_row *row)
{
	double keep = scalar_clamp(row->gap, 0, KEEP * self->scale);
	return scalar_min(keep - row->gap, 0);
}

static void fill_rows(const struct packing *self, struct lp_program *lp)
{
	double unit = 1 / self->scale, end = self->left + packing_length(self);
	uint32_t r = 0;
	for (uint32_t i = 0; i < self->rows.count; i++) {
		const struct packing_row *row = &self->rows.items[i];
		if (!row->taken)
			continue;
		lp->row_low[r] = row_bound(self, row) * unit;
		lp->solution.places[lp->columns + r++] = row->place;
	}
	for (uint32_t i = 0; i < self->count; i++) {
		lp->row_low[r] = (packing_high(&self->shapes[i]).x - end) * unit;
		lp->solution.places[lp->columns + r++] = self->places[lp->columns + i];
	}
	ASSERT(r == lp->rows);
	for (r = 0; r < lp->rows; r++)
		lp->row_high[r] = LP_INFINITY;
}

static void put_shape(struct lp_program *lp, uint32_t shape, uint32_t row, vec2 normal)
{
	ASSERT(lp->columns % COLUMNS == 1 && COLUMNS * shape < lp->columns);
	lp_program_put(lp, COLUMNS * shape + X, row, normal.x);
	lp_program_put(lp, COLUMNS * shape + UP, row, normal.y);
	lp_program_put(lp, COLUMNS * shape + DOWN, row, -normal.y);
}

static void fill_matrix(const struct packing *self, struct lp_program *lp)
{
	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t r = 0;
		lp_program_pass(lp, pass);
		for (uint32_t i = 0; i < self->rows.count; i++) {
			const struct packing_row *row = &self->rows.items[i];
			if (!row->taken)
				continue;
			put_shape(lp, row->a, r, vec2_negate(row->normal));
			put_shape(lp, row->b, r++, row->normal);
		}
		for (uint32_t i = 0; i < self->count; i++) {
			lp_program_put(lp, COLUMNS * i + X, r, -1);
			lp_program_put(lp, lp->columns - 1, r++, 1);
		}
		ASSERT(r == lp->rows);
	}
	lp_program_end(lp);
}

static void read_solution(struct packing *self, const struct lp_program *lp)
{
	uint32_t r = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		const double *x = lp->solution.x + COLUMNS * i;
		self->moves[i] = vec2_scale(vec2_make(x[X], x[UP] - x[DOWN]), self->scale);
	}
	for (uint32_t i = 0; i < self->rows.count; i++)
		if (self->rows.items[i].taken)
			self->rows.items[i].place = lp->solution.places[lp->columns + r++];
	memcpy(self->places, lp->solution.places, lp->columns);
	memcpy(self->places + lp->columns, lp->solution.places + lp->columns + r, self->count);
}

static bool has_optimum(const struct solver_result *result)
{
	return result->status == SOLVER_SOLVED ||
	       (result->status == SOLVER_INEXACT && result->residual <= GOOD);
}

static enum status solve_once(struct packing *self, uint32_t taken, bool warm,
			      struct packing_jump *out)
{
	struct lp_program lp;
	struct lp_dual_simplex solver;
	if (!allocate_program(self, &lp, taken))
		return STATUS_NO_MEMORY;
	fill_columns(self, &lp);
	fill_rows(self, &lp);
	fill_matrix(self, &lp);
	struct lp_sizes sizes = { .rows = lp.rows, .columns = lp.columns, .nonzeros = lp.nonzeros };
	void *memory = arena_push(&self->arena, lp_dual_simplex_bytes(sizes));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	lp_dual_simplex_init(&solver, memory, sizes);
	struct solver_options options = solver_options_default();
	options.tolerance = TOLERANCE;
	options.warm = warm;
	struct solver_result result =
		lp_dual_simplex_solve(&solver, &lp.problem, &options, &lp.solution);
	out->pivots += result.pivots;
	if (!has_optimum(&result) && warm) {
		options.warm = false;
		result = lp_dual_simplex_solve(&solver, &lp.problem, &options, &lp.solution);
		out->pivots += result.pivots;
	}
	out->status = has_optimum(&result) ? SOLVER_SOLVED : result.status;
	out->residual = result.residual;
	out->bound = result.violation * self->scale;
	out->gain = -result.objective * self->scale;
	out->rows = lp.rows;
	if (has_optimum(&result))
		read_solution(self, &lp);
	return STATUS_OK;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static double row_closing(const struct packing *self, const struct packing_row *row)
{
	return vec2_dot(row->normal, vec2_sub(self->moves[row->a], self->moves[row->b]));
}

/* Makes the rows of a pair that has none. */
static enum status make_pair(void *context, uint32_t a, uint32_t b)
{
	struct packing *self = context;
	uint64_t bit = (uint64_t)a * self->count + b;
	ASSERT(a < b && b < self->count);
	if (self->made[bit / 64] >> (bit % 64) & 1)
		return STATUS_OK;
	self->made[bit / 64] |= UINT64_C(1) << (bit % 64);
	uint32_t before = self->rows.count;
	enum status status = packing_add_rows(self, a, b);
	for (uint32_t i = before; i < self->rows.count; i++)
		self->rows.items[i].place = LP_BASIC;
	self->pairs += status == STATUS_OK;
	return status;
}

static double near_distance(const struct packing *self)
{
	double sides = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		vec2 side = vec2_sub(self->shapes[i].high, self->shapes[i].low);
		sides += side.x + side.y;
	}
	return NEAR * sides / (2 * self->count);
}

static uint32_t take_near(struct packing *self, double distance)
{
	uint32_t taken = 0;
	for (uint32_t i = 0; i < self->rows.count; i++) {
		struct packing_row *row = &self->rows.items[i];
		row->taken = row->gap < distance;
		taken += row->taken;
	}
	return taken;
}

/* Takes the rows that the moves violate; their number. */
static uint32_t take_violated(struct packing *self)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->rows.count; i++) {
		struct packing_row *row = &self->rows.items[i];
		if (row->taken ||
		    -row_closing(self, row) >= row_bound(self, row) - VIOLATED * self->scale)
			continue;
		row->taken = true;
		count++;
	}
	return count;
}

/* Shortens all moves by one factor until no row is violated; a row that overlaps may stay as it is. */
static void shorten_moves(struct packing *self, struct packing_jump *out)
{
	double part = 1;
	for (uint32_t i = 0; i < self->rows.count; i++) {
		const struct packing_row *row = &self->rows.items[i];
		double room = scalar_max(row->gap, 0), closing = row_closing(self, row);
		if (closing > room + PERMITTED * self->scale)
			part = scalar_min(part, room / closing);
	}
	ASSERT(part >= 0 && part <= 1);
	out->shortened = part < 1;
	for (uint32_t i = 0; part < 1 && i < self->count; i++)
		self->moves[i] = vec2_scale(self->moves[i], part);
}

enum status packing_solve(struct packing *self, struct packing_jump *out)
{
	uint64_t words = ((uint64_t)self->count * self->count + 63) / 64;
	double near = near_distance(self);
	self->rows.count = self->pairs = 0;
	memset(self->made, 0, words * sizeof *self->made);
	memset(self->moves, 0, self->count * sizeof *self->moves);
	memset(self->places, LP_BASIC, (COLUMNS + 1) * (size_t)self->count + 1);
	enum status status = packing_each_pair(self, NULL, near / 2, make_pair, self);
	uint32_t taken = take_near(self, near);
	for (bool more = true; status == STATUS_OK && more && out->rounds < ROUNDS_MAX;) {
		struct arena_mark mark = arena_mark(&self->arena);
		status = solve_once(self, taken, out->rounds++ > 0, out);
		arena_rewind(&self->arena, mark);
		if (status != STATUS_OK || out->status != SOLVER_SOLVED)
			break;
		status = packing_each_pair(self, self->moves, KEEP * self->scale, make_pair, self);
		uint32_t violated = take_violated(self);
		taken += violated;
		more = violated > 0;
		if (more && out->rounds == ROUNDS_MAX)
			out->status = SOLVER_LIMIT;
	}
	out->row_pairs = self->pairs;
	if (status == STATUS_OK)
		shorten_moves(self, out);
	return status;
}
