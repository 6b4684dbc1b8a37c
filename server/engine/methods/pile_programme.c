/* pile_programme.c: one linear programme of a group of `pile`, and its solution; pile_solve.c says what it
 * minimises. Columns: displacements of bodies along the axes of the boxes (with a price of
 * displacement or overlap two for each), what is left of overlaps, then the excess of each term
 * (pile_potential.c). Rows: those taken, then the cuts.
 *
 * Work is counted as pivots times the size of the programme, in units of PILE_WORK. When that of the
 * step is used up, a programme without a point of any use leaves its places behind, in the basis that
 * is kept between ticks, and its bodies wait. Nothing else has changed for them in the next step, so the
 * solver goes on where it was. Each begin takes back what costs were shifted and perturbed by, so that
 * many short runs may need more pivots than a long one, and nothing bounds how many. So what a group with
 * overlaps may take is doubled each WAIT_TICKS ticks while it waits.
 */
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile_group.h"
#include "server/engine/solvers/lp_program.h"

#include <string.h>

/* 1, of the solver, which makes bounds ten times as good. */
#define TOLERANCE 1e-10
/* 1: a larger residual counts as none. Where spheres are about to pass between others, forces grow with
 * each step and prices lose digits. Above the default of pile.rest it would prove nothing. */
#define GOOD 1e-9
/* The price of a metre of overlap; that of a metre of displacement is 1. */
#define OVERLAP_PRICE 1e4
/* Of PILE_OVERLAP: with a budget, the start must be permitted, so that rows are not corrected; above
 * this they are relaxed. */
#define BUDGET_OVERLAP 0.5

enum { AXES = 3 };
/* What a programme costs before its first pivot, in pivots: it is filled in and factored. */
enum { ROUND_PIVOTS = 20 };

/* ---- the programme ----------------------------------------------------------------------------- */

static uint32_t body_columns(const struct pile_group *group)
{
	return group->split ? 2 * AXES : AXES;
}

static uint32_t first_term(const struct pile_group *group)
{
	return group->slot_count * body_columns(group) + group->slacks;
}

static uint32_t cut_count(const struct pile_group *group)
{
	return group->term_count > 0 ? group->pile->room->cuts.count : 0;
}

static bool allocate_programme(struct pile_group *group, struct lp_program *lp)
{
	const struct lp_sizes sizes = {
		.rows = group->taken + cut_count(group),
		.columns = first_term(group) + group->term_count,
		.nonzeros = group->taken * 2 * body_columns(group) + group->slacks +
			    cut_count(group) * (2 * body_columns(group) + 1),
	};
	return lp_program_allocate(lp, &group->pile->step->dynamics->scratch, sizes, true);
}

bool pile_overlaps(const struct pile_group *group, const struct pile_row *row)
{
	double limit = group->pile->pivots_max > 0 ? BUDGET_OVERLAP * PILE_OVERLAP : PILE_OVERLAP;
	return row->gap < -limit;
}

static bool is_outside(const struct pile_group *group, uint32_t slot)
{
	return slot == PILE_STATIC || group->place_of[slot] == PILE_STATIC;
}

/* The gap of a row after the moves of bodies that are not in the programme. */
double pile_gap_inside(const struct pile_group *group, const struct pile_row *row)
{
	const vec3 *moves = group->pile->moves;
	double gap = row->gap;
	if (is_outside(group, row->a))
		gap += vec3_dot(row->normal, moves[row->a]);
	if (row->b != PILE_STATIC && is_outside(group, row->b))
		gap -= vec3_dot(row->normal, moves[row->b]);
	return gap;
}

/* The columns of one body: bounds, cost, place, start. */
static void fill_columns(const struct pile_group *group, struct lp_program *lp, uint32_t i)
{
	const struct pile *self = group->pile;
	const struct pile_body *body = &self->bodies[group->slots[i]];
	uint32_t width = body_columns(group), first = i * width;
	double part = body->bent ? group->part : 1;
	ASSERT(group->scale > 0 && i < group->slot_count);
	for (uint32_t k = 0; k < width; k++) {
		vec3 axis = self->axes[k % AXES];
		double sign = k < AXES ? 1 : -1;
		double move = sign * vec3_dot(axis, self->moves[group->slots[i]]);
		double pull = -sign * vec3_dot(axis, body->force) / group->scale;
		bool ahead = k < AXES && self->leads_down[k];
		lp->column_low[first + k] = group->split ? 0 : -body->reach * part;
		lp->column_high[first + k] = (ahead ? body->ahead : body->reach) * part;
		lp->cost[first + k] = group->relaxing ? 1
				      : group->split  ? pull + self->conservative
						      : pull;
		lp->start[first + k] = group->split ? scalar_max(move, 0) : move;
		lp->solution.places[first + k] = self->places[group->slots[i]][k];
	}
}

/* The columns of terms: what a metre of the largest force does. */
static void fill_terms(const struct pile_group *group, struct lp_program *lp)
{
	const struct pile *self = group->pile;
	uint32_t first = first_term(group);
	for (uint32_t i = 0; i < group->term_count; i++) {
		const struct pile_term *term = &self->terms[group->terms[i]];
		vec3 slope;
		double excess = pile_term_excess(self, term, pile_term_way(self, term), &slope);
		lp->column_low[first + i] = 0;
		lp->column_high[first + i] = LP_INFINITY;
		lp->cost[first + i] = 1;
		lp->start[first + i] = excess / group->scale;
		/* A term with a cut at its limit is basic. */
		lp->solution.places[first + i] = LP_LOW;
	}
	for (uint32_t c = 0; c < cut_count(group); c++)
		if (self->room->cuts.items[c].place != LP_BASIC)
			lp->solution.places[first + self->room->cuts.items[c].term] = LP_BASIC;
}

/* The entries of a vector on a body's displacement. */
static void enter_body(const struct pile_group *group, struct lp_program *lp, uint32_t slot,
		       uint32_t row, vec3 vector)
{
	uint32_t width = body_columns(group), first = group->place_of[slot] * width;
	for (uint32_t k = 0; k < width; k++) {
		double part = vec3_dot(vector, group->pile->axes[k % AXES]);
		lp_program_put(lp, first + k, row, k < AXES ? part : -part);
	}
}

static void enter_all(const struct pile_group *group, struct lp_program *lp)
{
	const struct pile *self = group->pile;
	uint32_t r = 0, slack = group->slot_count * body_columns(group);
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		if (!is_outside(group, row->a))
			enter_body(group, lp, row->a, r, row->normal);
		if (!is_outside(group, row->b))
			enter_body(group, lp, row->b, r, vec3_negate(row->normal));
		if (pile_overlaps(group, row))
			lp_program_put(lp, slack++, r, 1);
		r++;
	}
	ASSERT(r == group->taken && slack == first_term(group));
	for (uint32_t c = 0; c < cut_count(group); c++, r++) {
		const struct pile_cut *cut = &self->room->cuts.items[c];
		const struct pile_term *term = &self->terms[group->terms[cut->term]];
		vec3 slope = vec3_scale(cut->slope, -1 / group->scale);
		if (!is_outside(group, term->a))
			enter_body(group, lp, term->a, r, slope);
		if (!is_outside(group, term->b))
			enter_body(group, lp, term->b, r, vec3_negate(slope));
		lp_program_put(lp, slack + cut->term, r, 1);
	}
	ASSERT(r == lp->rows);
}

/* The offset of a cut after the moves of bodies that are not in the programme. */
static double offset_inside(const struct pile_group *group, const struct pile_cut *cut)
{
	const struct pile *self = group->pile;
	const struct pile_term *term = &self->terms[group->terms[cut->term]];
	double offset = cut->offset;
	ASSERT(cut->term < group->term_count);
	if (is_outside(group, term->a))
		offset -= vec3_dot(cut->slope, self->moves[term->a]);
	if (term->b != PILE_STATIC && is_outside(group, term->b))
		offset += vec3_dot(cut->slope, self->moves[term->b]);
	return offset;
}

static void fill_rows(const struct pile_group *group, struct lp_program *lp)
{
	const struct pile *self = group->pile;
	uint32_t r = 0, extra = group->slot_count * body_columns(group);
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		bool budget = self->pivots_max > 0 && !group->relaxing;
		double gap = pile_gap_inside(group, row);
		lp->row_low[r] = -(budget ? scalar_max(gap, 0) : gap);
		lp->row_high[r] = LP_INFINITY;
		lp->solution.places[lp->columns + r] = row->place;
		r++;
		if (!pile_overlaps(group, row))
			continue;
		lp->column_low[extra] = 0;
		lp->column_high[extra] = -row->gap; /* no overlap grows */
		lp->cost[extra] = OVERLAP_PRICE;
		lp->start[extra] = 0;
		lp->solution.places[extra] = row->slack;
		extra++;
	}
	for (uint32_t c = 0; c < cut_count(group); c++, r++) {
		const struct pile_cut *cut = &self->room->cuts.items[c];
		lp->row_low[r] = -offset_inside(group, cut) / group->scale;
		lp->row_high[r] = LP_INFINITY;
		lp->solution.places[lp->columns + r] = cut->place;
	}
	ASSERT(r == lp->rows && extra == first_term(group));
}

static void make_problem(struct pile_group *group, struct lp_program *lp)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		fill_columns(group, lp, i);
	fill_terms(group, lp);
	fill_rows(group, lp);
	for (uint32_t pass = 0; pass < 2; pass++) {
		lp_program_pass(lp, pass);
		enter_all(group, lp);
	}
	lp_program_end(lp);
	bool budget = group->pile->pivots_max > 0 && !group->relaxing;
	lp->problem.start = budget ? lp->start : NULL;
}

/* ---- a round ----------------------------------------------------------------------------------- */

bool pile_is_solved(const struct solver_result *result)
{
	return result->status == SOLVER_SOLVED ||
	       (result->status == SOLVER_INEXACT && result->residual <= GOOD);
}

bool pile_is_ended(const struct solver_result *result)
{
	return pile_is_solved(result) || result->status == SOLVER_STOPPED;
}

static bool has_point(const struct solver_result *result)
{
	return pile_is_ended(result) || result->status == SOLVER_INEXACT;
}

/* The places of columns, rows and cuts, for a start from there. */
static void read_places(struct pile_group *group, const struct lp_program *lp)
{
	struct pile *self = group->pile;
	const uint8_t *places = lp->solution.places;
	uint32_t width = body_columns(group), r = lp->columns;
	uint32_t slack = group->slot_count * width;
	for (uint32_t i = 0; i < group->slot_count; i++)
		memcpy(self->places[group->slots[i]], &places[i * width], width);
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		row->place = places[r++];
		row->slack = LP_LOW;
		if (!pile_overlaps(group, row))
			continue;
		row->slack = places[slack++];
	}
	for (uint32_t c = 0; c < cut_count(group); c++)
		self->room->cuts.items[c].place = places[r++];
	ASSERT(r == lp->columns + lp->rows && slack == first_term(group));
}

/* Moves, prices and values of a solution. */
static void read_solution(struct pile_group *group, const struct lp_program *lp)
{
	struct pile *self = group->pile;
	uint32_t width = body_columns(group);
	for (uint32_t i = 0; i < group->slot_count; i++) {
		vec3 move = vec3_zero();
		for (uint32_t k = 0; k < width; k++) {
			double x = lp->solution.x[i * width + k];
			move = vec3_mul_add(move, self->axes[k % AXES], k < AXES ? x : -x);
		}
		self->moves[group->slots[i]] = move;
	}
	uint32_t r = 0;
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		row->force = group->relaxing ? 0 : lp->solution.dual[r] * group->scale;
		r++;
	}
	ASSERT(r == group->taken);
	for (uint32_t i = 0; i < group->term_count; i++)
		self->terms[group->terms[i]].value =
			lp->solution.x[first_term(group) + i] * group->scale;
}

/* ---- work -------------------------------------------------------------------------------------- */

/* Rows and columns of a programme whose pivots take twice as long for each of them as those of a small
 * one, because its factors fill in and are far apart in memory. */
#define LARGE_SIZE 1500.0

/* The part of PILE_WORK that a pivot takes. */
static double work_of_pivot(const struct lp_program *lp)
{
	double size = (double)lp->rows + lp->columns;
	return size * (1 + size / LARGE_SIZE) / PILE_WORK;
}

/* Pivots that the rest of the step's work allows, at most UINT32_MAX. */
static uint32_t pivots_left(const struct pile_group *group, const struct lp_program *lp)
{
	const struct pile *self = group->pile;
	if (!(self->work_max > 0))
		return UINT32_MAX;
	double most = self->work_max * (double)(1u << group->waits);
	double left = (most - self->work) / work_of_pivot(lp) - ROUND_PIVOTS;
	ASSERT(self->work >= 0 && group->waits <= WAIT_DOUBLINGS);
	return !(left >= 1) ? 0 : left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* One run of the solver, of at most so many pivots. */
static void run_solver(struct pile_group *group, struct lp_program *lp,
		       struct lp_dual_simplex *solver, uint32_t most, bool warm)
{
	struct solver_options options = solver_options_default();
	ASSERT(most > 0);
	options.tolerance = TOLERANCE;
	options.warm = warm;
	options.pivots_max = most < UINT32_MAX ? most : 0;
	group->result = lp_dual_simplex_solve(solver, &lp->problem, &options, &lp->solution);
	group->pivots += group->result.pivots;
	group->pile->work += work_of_pivot(lp) * ((double)group->result.pivots + ROUND_PIVOTS);
}

static void solve_problem(struct pile_group *group, struct lp_program *lp,
			  struct lp_dual_simplex *solver)
{
	uint32_t left = pivots_left(group, lp);
	bool starts = lp->problem.start != NULL;
	run_solver(group, lp, solver, starts ? MIN_OF(group->budget, left) : left, true);
	if (starts)
		group->budget -= MIN_OF(group->budget, group->result.pivots);
	group->waiting = group->result.pivots >= left && !pile_is_ended(&group->result);
	if (pile_is_ended(&group->result) || starts || group->waiting)
		return;
	/* A basis whose rounding spoils the result is left for one that begins anew. */
	left = pivots_left(group, lp);
	group->waiting = left == 0;
	if (group->waiting)
		return;
	run_solver(group, lp, solver, left, false);
	group->waiting = group->result.pivots >= left && !pile_is_ended(&group->result);
}

enum status pile_solve_round(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct lp_program lp;
	ASSERT(group->taken <= group->row_count && group->slacks <= group->taken);
	if (!allocate_programme(group, &lp))
		return STATUS_NO_MEMORY;
	group->waiting = pivots_left(group, &lp) == 0;
	if (group->waiting) {
		group->result = (struct solver_result){ .status = SOLVER_LIMIT };
		pile_stop_bodies(group);
		return STATUS_OK;
	}
	make_problem(group, &lp);
	struct lp_sizes sizes = { .rows = lp.rows, .columns = lp.columns, .nonzeros = lp.nonzeros };
	void *memory = arena_push(&self->step->dynamics->scratch, lp_dual_simplex_bytes(sizes));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	struct lp_dual_simplex solver;
	lp_dual_simplex_init(&solver, memory, sizes);
	solve_problem(group, &lp, &solver);
	bool point = has_point(&group->result) && !group->waiting;
	if (point)
		read_solution(group, &lp);
	else
		pile_stop_bodies(group);
	if (point || group->waiting)
		read_places(group, &lp);
	return STATUS_OK;
}

void pile_stop_bodies(const struct pile_group *group)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->pile->moves[group->slots[i]] = group->base[i];
}
