/* pile_solve.c: the linear programmes of a step of `pile`, one for each group of bodies that may meet.
 *
 *   min −Σ f·d / F + c Σ |d|    subject to    normal·(d_a − d_b) ≥ −gap,    |e_k·d| ≤ reach
 *
 * F is the largest force of the group, so that prices are pure numbers. The boxes of the bodies are
 * bounds of columns, because d is written in their axes e_k, and cost no rows. With a price of
 * displacement c (papers P-08) a coordinate is the difference of two columns.
 *
 * Rows are lazy: a programme begins with the rows of its last basis and those that are nearly
 * closed, and is solved again, warm, with all rows that its optimum violates, until there are none.
 *
 * Overlap (papers P-03): while rows of a group overlap by more than PILE_OVERLAP, each of these gets a
 * column that takes up what is left of it, at a high price, and the programme is the least sum of what
 * is left, with the least displacement. Forces wait.
 *
 * Zones: a large group is solved in parts, the lowest first, each with the others as obstacles where
 * they are by then, so that a step of a large heap costs with its size. Zones are cut elsewhere in each
 * of three ticks. What no zone can lower may still fall as a whole: then the whole is one programme,
 * and rest is said of no other.
 *
 * With a budget (papers P-18) the solver starts from d = 0, which is permitted, improves it, and stops
 * anywhere. If that is where it started, the budget is doubled, so that no heap is left hanging.
 *
 * Whatever the solver returns, the move is shortened until no row is violated (shorten_moves): places
 * between two permitted ones are permitted. So no error of a solver makes an overlap. A group whose
 * optimum lowers its energy by less than `rest` of force times radius is at rest and does not move,
 * if its programme was solved: the prices of rows are then forces that hold it in balance.
 */
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"
#include "server/engine/solvers/lp_dual_simplex.h"

#include <string.h>

/* 1, of the solver, which makes bounds ten times as good. */
#define TOLERANCE 1e-10
/* 1: a larger residual counts as none. Where spheres are about to pass between others, forces grow with
 * each step and prices lose digits. Above the default of pile.rest it would prove nothing. */
#define GOOD 1e-9
/* Of the radius. Rows that are closer than this are in the first programme of a step. Larger: larger
 * programmes; smaller: more rounds. */
#define NEARLY_CLOSED 0.05
/* Of the radius: an optimum that violates a row by more than this is solved again with it. */
#define VIOLATED 1e-11
/* Of the radius: a move that violates a row by no more is not shortened. The next step corrects it. */
#define PERMITTED 5e-10
/* The price of a metre of overlap; that of a metre of displacement is 1. */
#define OVERLAP_PRICE 1e4
/* Of PILE_OVERLAP: with a budget, the start must be permitted, so that rows are not corrected; above
 * this they are relaxed. */
#define BUDGET_OVERLAP 0.5

/* 1. Zones are left for the whole when they lower the energy by no more than this part of the sum of
 * force times radius. Smaller: many steps of little gain; larger: dear steps before they are needed. */
#define ZONES_GAIN 1e-3

/* Rounds with more rows of one programme; groups of fewer than so many full zones are one programme, because
 * zones need more steps to rest. */
enum { ROUNDS_MAX = 100, ZONES_MIN = 16, AXES = 3 };
/* Rows of one group that overlap: a programme with this many takes about a second, with four times as
 * many half a minute. A group with more stays where it is. */
enum { OVERLAPS_MAX = 4096 };

struct pile_group {
	struct pile *pile;
	const uint32_t *slots; /* ascending */
	uint32_t *rows;	       /* ascending; indices into pile->rows */
	uint32_t slot_count, row_count;
	uint32_t *place_of;	/* by slot: index in `slots`; PILE_STATIC: not in this programme */
	bool relaxing;		/* rows overlap */
	bool split;		/* a coordinate is the difference of two columns */
	double scale;		/* N: the largest force */
	uint32_t taken, slacks; /* rows of the programme; of these, with a column of their own */
	uint32_t pivots;
	uint32_t budget;	     /* of pivots; 0: none */
	struct solver_result result; /* of the last round */
};

#define ALLOCATE(group, type, count)                                                               \
	ARENA_ARRAY(&(group)->pile->step->dynamics->scratch, type, count)

/* ---- groups ------------------------------------------------------------------------------------ */

static uint32_t find_root(uint32_t *parent, uint32_t slot)
{
	while (parent[slot] != slot) {
		parent[slot] = parent[parent[slot]];
		slot = parent[slot];
	}
	return slot;
}

/* The root of a set is its lowest slot. */
static void join_bodies(const struct pile *self, uint32_t *parent)
{
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		parent[slot] = slot;
	for (uint32_t i = 0; i < self->row_count; i++) {
		if (self->rows[i].b == PILE_STATIC)
			continue;
		uint32_t a = find_root(parent, self->rows[i].a);
		uint32_t b = find_root(parent, self->rows[i].b);
		ASSERT(MAX_OF(a, b) < self->step->body_count);
		parent[MAX_OF(a, b)] = MIN_OF(a, b);
	}
}

/* ---- the programme ----------------------------------------------------------------------------- */

struct pile_programme {
	struct lp_problem problem;
	struct lp_solution solution;
	uint32_t *starts, *index;
	double *values, *cost, *column_low, *column_high, *row_low, *row_high, *start;
	uint32_t rows, columns, nonzeros;
};

static uint32_t body_columns(const struct pile_group *group)
{
	return group->split ? 2 * AXES : AXES;
}

static bool allocate_programme(struct pile_group *group, struct pile_programme *lp)
{
	lp->rows = group->taken;
	lp->columns = group->slot_count * body_columns(group) + group->slacks;
	lp->nonzeros = group->taken * 2 * body_columns(group) + group->slacks;
	lp->starts = ALLOCATE(group, uint32_t, lp->columns + 1);
	lp->index = ALLOCATE(group, uint32_t, lp->nonzeros);
	lp->values = ALLOCATE(group, double, lp->nonzeros);
	lp->cost = ALLOCATE(group, double, lp->columns);
	lp->column_low = ALLOCATE(group, double, lp->columns);
	lp->column_high = ALLOCATE(group, double, lp->columns);
	lp->row_low = ALLOCATE(group, double, lp->rows);
	lp->row_high = ALLOCATE(group, double, lp->rows);
	lp->start = ALLOCATE(group, double, lp->columns);
	lp->solution.x = ALLOCATE(group, double, lp->columns);
	lp->solution.dual = ALLOCATE(group, double, lp->rows);
	lp->solution.places = ALLOCATE(group, uint8_t, lp->columns + lp->rows);
	return lp->starts != NULL && lp->index != NULL && lp->values != NULL && lp->cost != NULL &&
	       lp->column_low != NULL && lp->column_high != NULL && lp->row_low != NULL &&
	       lp->row_high != NULL && lp->start != NULL && lp->solution.x != NULL &&
	       lp->solution.dual != NULL && lp->solution.places != NULL;
}

static bool overlaps(const struct pile_group *group, const struct pile_row *row)
{
	double limit = group->pile->pivots_max > 0 ? BUDGET_OVERLAP * PILE_OVERLAP : PILE_OVERLAP;
	return row->gap < -limit;
}

static bool is_outside(const struct pile_group *group, uint32_t slot)
{
	return slot == PILE_STATIC || group->place_of[slot] == PILE_STATIC;
}

/* The gap of a row after the moves of bodies that are not in the programme. */
static double gap_inside(const struct pile_group *group, const struct pile_row *row)
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
static void fill_columns(const struct pile_group *group, struct pile_programme *lp, uint32_t i)
{
	const struct pile *self = group->pile;
	const struct pile_body *body = &self->bodies[group->slots[i]];
	uint32_t width = body_columns(group), first = i * width;
	ASSERT(group->scale > 0 && i < group->slot_count);
	for (uint32_t k = 0; k < width; k++) {
		vec3 axis = self->axes[k % AXES];
		double sign = k < AXES ? 1 : -1;
		double move = sign * vec3_dot(axis, self->moves[group->slots[i]]);
		double pull = -sign * vec3_dot(axis, body->force) / group->scale;
		lp->column_low[first + k] = group->split ? 0 : -body->reach;
		lp->column_high[first + k] = body->reach;
		lp->cost[first + k] = group->relaxing ? 1
				      : group->split  ? pull + self->conservative
						      : pull;
		lp->start[first + k] = group->split ? scalar_max(move, 0) : move;
		lp->solution.places[first + k] = self->places[group->slots[i]][k];
	}
}

/* The rows by columns: each row is counted, then entered, in ascending order. */
static void fill_matrix(const struct pile_group *group, struct pile_programme *lp)
{
	const struct pile *self = group->pile;
	uint32_t width = body_columns(group), slack = group->slot_count * width;
	memset(lp->starts, 0, (lp->columns + 1) * sizeof *lp->starts);
	for (uint32_t pass = 0; pass < 2; pass++) {
		uint32_t r = 0, extra = slack;
		for (uint32_t i = 0; i < group->row_count; i++) {
			const struct pile_row *row = &self->rows[group->rows[i]];
			if (!row->taken)
				continue;
			for (uint32_t end = 0; end < 2; end++) {
				uint32_t slot = end == 0 ? row->a : row->b;
				if (is_outside(group, slot))
					continue;
				uint32_t first = group->place_of[slot] * width;
				for (uint32_t k = 0; k < width; k++) {
					if (pass == 0) {
						lp->starts[first + k + 1]++;
						continue;
					}
					double part = vec3_dot(row->normal, self->axes[k % AXES]);
					uint32_t at = lp->starts[first + k]++;
					lp->index[at] = r;
					lp->values[at] = (k < AXES) == (end == 0) ? part : -part;
				}
			}
			if (overlaps(group, row)) {
				if (pass == 0)
					lp->starts[extra + 1]++;
				else {
					lp->index[lp->starts[extra]] = r;
					lp->values[lp->starts[extra]++] = 1;
				}
				extra++;
			}
			r++;
		}
		ASSERT(r == lp->rows && extra == lp->columns);
		for (uint32_t j = 0; pass == 0 && j < lp->columns; j++)
			lp->starts[j + 1] += lp->starts[j];
	}
	/* Each start has moved to its column's end. */
	for (uint32_t j = lp->columns; j > 0; j--)
		lp->starts[j] = lp->starts[j - 1];
	lp->starts[0] = 0;
}

static void fill_rows(const struct pile_group *group, struct pile_programme *lp)
{
	const struct pile *self = group->pile;
	uint32_t r = 0, extra = group->slot_count * body_columns(group);
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		bool budget = self->pivots_max > 0 && !group->relaxing;
		double gap = gap_inside(group, row);
		lp->row_low[r] = -(budget ? scalar_max(gap, 0) : gap);
		lp->row_high[r] = LP_INFINITY;
		lp->solution.places[lp->columns + r] = row->place;
		r++;
		if (!overlaps(group, row))
			continue;
		lp->column_low[extra] = 0;
		lp->column_high[extra] = -row->gap; /* no overlap grows */
		lp->cost[extra] = OVERLAP_PRICE;
		lp->start[extra] = 0;
		lp->solution.places[extra] = LP_LOW;
		extra++;
	}
	ASSERT(r == lp->rows && extra == lp->columns);
}

static void make_problem(struct pile_group *group, struct pile_programme *lp)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		fill_columns(group, lp, i);
	fill_rows(group, lp);
	fill_matrix(group, lp);
	bool budget = group->pile->pivots_max > 0 && !group->relaxing;
	lp->problem = (struct lp_problem){
		.matrix = { lp->rows, lp->columns, lp->starts, lp->index, lp->values },
		.cost = lp->cost,
		.column_low = lp->column_low,
		.column_high = lp->column_high,
		.row_low = lp->row_low,
		.row_high = lp->row_high,
		.start = budget ? lp->start : NULL,
	};
}

/* ---- a round ----------------------------------------------------------------------------------- */

static bool is_solved(const struct solver_result *result)
{
	return result->status == SOLVER_SOLVED ||
	       (result->status == SOLVER_INEXACT && result->residual <= GOOD);
}

static bool is_ended(const struct solver_result *result)
{
	return is_solved(result) || result->status == SOLVER_STOPPED;
}

static bool has_point(const struct solver_result *result)
{
	return is_ended(result) || result->status == SOLVER_INEXACT;
}

/* Moves, prices and places of a solution. */
static void read_solution(struct pile_group *group, const struct pile_programme *lp)
{
	struct pile *self = group->pile;
	uint32_t width = body_columns(group);
	for (uint32_t i = 0; i < group->slot_count; i++) {
		vec3 move = vec3_zero();
		for (uint32_t k = 0; k < width; k++) {
			double x = lp->solution.x[i * width + k];
			move = vec3_mul_add(move, self->axes[k % AXES], k < AXES ? x : -x);
			self->places[group->slots[i]][k] = lp->solution.places[i * width + k];
		}
		self->moves[group->slots[i]] = move;
	}
	uint32_t r = 0;
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		if (!row->taken)
			continue;
		row->place = lp->solution.places[lp->columns + r];
		row->force = group->relaxing ? 0 : lp->solution.dual[r] * group->scale;
		r++;
	}
	ASSERT(r == lp->rows);
}

/* The gap of a row after the moves. */
static double gap_after(const struct pile *self, const struct pile_row *row)
{
	ASSERT(row->a < self->step->body_count);
	vec3 move = self->moves[row->a];
	if (row->b != PILE_STATIC)
		move = vec3_sub(move, self->moves[row->b]);
	return row->gap + vec3_dot(row->normal, move);
}

/* Takes the rows that the moves violate, and counts. */
static void take_violated(struct pile_group *group)
{
	struct pile *self = group->pile;
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		double radius = self->bodies[row->a].radius;
		if (row->taken || gap_after(self, row) >= -VIOLATED * radius)
			continue;
		ASSERT(!overlaps(group, row));
		row->taken = true;
		row->place = LP_BASIC;
		group->taken++;
	}
}

/* Shortens all moves of the group by one factor until no row is violated; a row that overlaps may
 * stay as it is. */
static void shorten_moves(struct pile_group *group)
{
	struct pile *self = group->pile;
	double part = 1;
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		double gap = gap_inside(group, row);
		double room = scalar_max(gap, 0);
		double closing = gap - gap_after(self, row);
		if (closing > room + PERMITTED * self->bodies[row->a].radius)
			part = scalar_min(part, room / closing);
	}
	ASSERT(part >= 0 && part <= 1);
	for (uint32_t i = 0; part < 1 && i < group->slot_count; i++)
		self->moves[group->slots[i]] = vec3_scale(self->moves[group->slots[i]], part);
}

static void stop_bodies(struct pile_group *group)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->pile->moves[group->slots[i]] = vec3_zero();
}

static enum status solve_round(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct pile_programme lp;
	struct lp_dual_simplex solver;
	ASSERT(group->taken <= group->row_count && group->slacks <= group->taken);
	if (!allocate_programme(group, &lp))
		return STATUS_NO_MEMORY;
	make_problem(group, &lp);
	struct lp_sizes sizes = { .rows = lp.rows, .columns = lp.columns, .nonzeros = lp.nonzeros };
	void *memory = arena_push(&self->step->dynamics->scratch, lp_dual_simplex_bytes(sizes));
	if (memory == NULL)
		return STATUS_NO_MEMORY;
	lp_dual_simplex_init(&solver, memory, sizes);
	struct solver_options options = solver_options_default();
	options.tolerance = TOLERANCE;
	options.warm = true;
	if (lp.problem.start != NULL)
		options.pivots_max = group->budget;
	group->result = lp_dual_simplex_solve(&solver, &lp.problem, &options, &lp.solution);
	group->pivots += group->result.pivots;
	if (lp.problem.start != NULL)
		group->budget -= MIN_OF(group->budget, group->result.pivots);
	/* A basis whose rounding spoils the result is left for one that begins anew. */
	if (!is_ended(&group->result) && lp.problem.start == NULL) {
		options.warm = false;
		group->result = lp_dual_simplex_solve(&solver, &lp.problem, &options, &lp.solution);
		group->pivots += group->result.pivots;
	}
	if (has_point(&group->result))
		read_solution(group, &lp);
	else
		stop_bodies(group);
	return STATUS_OK;
}

/* ---- a group ----------------------------------------------------------------------------------- */

static double energy_drop(const struct pile_group *group, double *measure)
{
	double drop = 0;
	*measure = 0;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		const struct pile_body *body = &group->pile->bodies[group->slots[i]];
		drop += vec3_dot(body->force, group->pile->moves[group->slots[i]]);
		*measure += vec3_length(body->force) * body->radius;
	}
	return drop;
}

/* The first rows, and what kind of programme it is. */
static void begin_group(struct pile_group *group)
{
	struct pile *self = group->pile;
	group->scale = 0;
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->scale =
			scalar_max(group->scale, vec3_length(self->bodies[group->slots[i]].force));
	if (!(group->scale > 0))
		group->scale = 1;
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		if (row->gap < NEARLY_CLOSED * self->bodies[row->a].radius)
			row->taken = true;
		group->taken += row->taken;
		group->slacks += overlaps(group, row);
	}
	group->relaxing = group->slacks > 0;
	group->split = group->relaxing || self->conservative > 0;
}

/* Ends a programme with a permitted move that does not raise the energy; returns what it lowers. */
static double end_programme(struct pile_group *group, double *measure)
{
	struct pile *self = group->pile;
	shorten_moves(group);
	double drop = energy_drop(group, measure);
	if (!group->relaxing && drop < 0) {
		stop_bodies(group);
		drop = 0;
	}
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = PILE_STATIC;
	self->fallbacks += !is_ended(&group->result);
	ASSERT(group->result.residual >= 0);
	self->pivots += group->pivots;
	self->residual = scalar_max(self->residual, group->result.residual);
	return drop;
}

/* Whether a group with a budget goes on: with what is left of it, or with twice as much if nothing was
 * gained. */
static bool keeps_going(struct pile_group *group, bool violated)
{
	double measure;
	ASSERT(group->pile->pivots_max > 0 && !group->relaxing);
	shorten_moves(group);
	bool gained = energy_drop(group, &measure) > group->pile->rest * measure;
	if (group->budget > 0)
		return violated;
	if (gained || is_solved(&group->result))
		return false;
	group->budget = 2 * group->pivots;
	return true;
}

static enum status solve_programme(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct arena *arena = &self->step->dynamics->scratch;
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = i;
	begin_group(group);
	group->budget = group->relaxing ? 0 : self->pivots_max;
	if (group->slacks > OVERLAPS_MAX) {
		stop_bodies(group);
		group->result.status = SOLVER_LIMIT;
		return STATUS_OK;
	}
	for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
		struct arena_mark mark = arena_mark(arena);
		bool budgeted = group->budget > 0;
		enum status status = solve_round(group);
		arena_rewind(arena, mark);
		if (status != STATUS_OK)
			return status;
		uint32_t before = group->taken;
		take_violated(group);
		bool violated = group->taken > before;
		if (budgeted ? !keeps_going(group, violated) : !violated)
			return STATUS_OK;
	}
	group->result.status =
		SOLVER_LIMIT; /* rows are violated still: the move will be shortened */
	return STATUS_OK;
}

/* ---- zones ------------------------------------------------------------------------------------- */

/* The zones of a group, in the order in which they are solved, as ranges of the two lists. */
struct pile_zones {
	uint32_t *slots, *rows;
	uint32_t *first_slot, *first_row; /* count + 1 */
	uint32_t count;
};

/* Rows by zone: one between two zones is in both. */
static enum status list_zone_rows(const struct pile_group *group, struct pile_zones *zones,
				  const uint32_t *zone_of)
{
	const struct pile *self = group->pile;
	zones->rows = ALLOCATE(group, uint32_t, 2 * group->row_count);
	zones->first_row = ALLOCATE(group, uint32_t, zones->count + 1);
	uint32_t *end = ALLOCATE(group, uint32_t, zones->count + 1);
	if (zones->rows == NULL || zones->first_row == NULL || end == NULL)
		return STATUS_NO_MEMORY;
	memset(end, 0, (zones->count + 1) * sizeof *end);
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < group->row_count; i++) {
			const struct pile_row *row = &self->rows[group->rows[i]];
			uint32_t a = zone_of[row->a];
			uint32_t b = row->b == PILE_STATIC ? a : zone_of[row->b];
			if (pass == 1)
				zones->rows[end[a]] = group->rows[i];
			end[a]++;
			if (a == b)
				continue;
			if (pass == 1)
				zones->rows[end[b]] = group->rows[i];
			end[b]++;
		}
		for (uint32_t z = 0, sum = 0; pass == 0 && z <= zones->count; z++) {
			uint32_t size = end[z];
			zones->first_row[z] = end[z] = sum;
			sum += z < zones->count ? size : 0;
		}
	}
	return STATUS_OK;
}

static enum status make_zones(const struct pile_group *group, struct pile_zones *zones)
{
	struct pile *self = group->pile;
	uint32_t *zone_of = ALLOCATE(group, uint32_t, self->step->body_count);
	zones->slots = ALLOCATE(group, uint32_t, group->slot_count);
	zones->first_slot = ALLOCATE(group, uint32_t, group->slot_count + 1);
	if (zone_of == NULL || zones->slots == NULL || zones->first_slot == NULL)
		return STATUS_NO_MEMORY;
	memcpy(zones->slots, group->slots, group->slot_count * sizeof *zones->slots);
	enum status status = pile_divide(self, zones->slots, group->slot_count, zones->first_slot,
					 &zones->count);
	if (status != STATUS_OK)
		return status;
	for (uint32_t z = 0; z < zones->count; z++)
		for (uint32_t i = zones->first_slot[z]; i < zones->first_slot[z + 1]; i++)
			zone_of[zones->slots[i]] = z;
	return list_zone_rows(group, zones, zone_of);
}

/* Solves zone after zone, each with the others where they are by then. */
static enum status solve_zones(struct pile_group *whole, double *drop, double *measure)
{
	struct pile_zones zones;
	enum status status = make_zones(whole, &zones);
	*drop = *measure = 0;
	for (uint32_t z = 0; status == STATUS_OK && z < zones.count; z++) {
		struct pile_group zone = {
			.pile = whole->pile,
			.slots = zones.slots + zones.first_slot[z],
			.slot_count = zones.first_slot[z + 1] - zones.first_slot[z],
			.rows = zones.rows + zones.first_row[z],
			.row_count = zones.first_row[z + 1] - zones.first_row[z],
			.place_of = whole->place_of,
		};
		double part;
		status = solve_programme(&zone);
		if (status != STATUS_OK)
			return status;
		*drop += end_programme(&zone, &part);
		*measure += part;
		whole->pile->zones++;
	}
	return status;
}

/* ---- a group ----------------------------------------------------------------------------------- */

static bool any_overlap(const struct pile_group *group)
{
	for (uint32_t i = 0; i < group->row_count; i++)
		if (overlaps(group, &group->pile->rows[group->rows[i]]))
			return true;
	return false;
}

/* Solves a large group in zones. Where they gain little, nothing has moved, and the basis is that of
 * before, which may be one of the whole. */
static enum status try_zones(struct pile_group *group, bool *gained)
{
	struct pile *self = group->pile;
	uint8_t(*places)[PILE_COLUMNS] =
		arena_push_array(&self->step->dynamics->scratch, group->slot_count, sizeof *places);
	struct pile_row *rows = ALLOCATE(group, struct pile_row, group->row_count);
	if (places == NULL || rows == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < group->slot_count; i++)
		memcpy(places[i], self->places[group->slots[i]], PILE_COLUMNS);
	for (uint32_t i = 0; i < group->row_count; i++)
		rows[i] = self->rows[group->rows[i]];
	double drop, measure;
	enum status status = solve_zones(group, &drop, &measure);
	*gained = drop > ZONES_GAIN * measure;
	if (status != STATUS_OK || *gained)
		return status;
	stop_bodies(group);
	for (uint32_t i = 0; i < group->slot_count; i++)
		memcpy(self->places[group->slots[i]], places[i], PILE_COLUMNS);
	for (uint32_t i = 0; i < group->row_count; i++)
		self->rows[group->rows[i]] = rows[i];
	return STATUS_OK;
}

static enum status solve_group(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct arena *arena = &self->step->dynamics->scratch;
	if (group->slot_count / ZONES_MIN >= self->zone_max && !any_overlap(group)) {
		struct arena_mark mark = arena_mark(arena);
		bool gained;
		enum status status = try_zones(group, &gained);
		arena_rewind(arena, mark);
		if (status != STATUS_OK || gained)
			return status;
	}
	enum status status = solve_programme(group);
	if (status != STATUS_OK)
		return status;
	double measure, drop = end_programme(group, &measure);
	bool rests = !group->relaxing && is_solved(&group->result) && drop <= self->rest * measure;
	if (rests)
		stop_bodies(group);
	for (uint32_t i = 0; i < group->slot_count; i++)
		self->resting[group->slots[i]] = rests;
	return STATUS_OK;
}

/* ---- the step ---------------------------------------------------------------------------------- */

/* Numbers groups by their lowest slots; `group_of` by slot. */
static uint32_t number_groups(uint32_t *parent, uint32_t *group_of, uint32_t count)
{
	uint32_t groups = 0;
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t root = find_root(parent, slot);
		ASSERT(root <= slot);
		group_of[slot] = root == slot ? groups++ : group_of[root];
	}
	return groups;
}

/* Items by group, each in ascending order: `first` gets groups + 1 offsets. */
static void list_by_group(const uint32_t *group_of_item, uint32_t count, uint32_t groups,
			  uint32_t *first, uint32_t *items)
{
	memset(first, 0, (groups + 1) * sizeof *first);
	for (uint32_t i = 0; i < count; i++)
		first[group_of_item[i]]++;
	uint32_t sum = 0;
	for (uint32_t g = 0; g <= groups; g++) {
		uint32_t size = first[g];
		first[g] = sum;
		sum += g < groups ? size : 0;
	}
	for (uint32_t i = 0; i < count; i++)
		items[first[group_of_item[i]]++] = i;
	for (uint32_t g = groups; g > 0; g--)
		first[g] = first[g - 1];
	first[0] = 0;
	ASSERT(first[groups] == count);
}

enum status pile_solve(struct pile *self)
{
	struct arena *arena = &self->step->dynamics->scratch;
	uint32_t count = self->step->body_count;
	uint32_t *parent = ARENA_ARRAY(arena, uint32_t, count);
	uint32_t *group_of = ARENA_ARRAY(arena, uint32_t, count);
	uint32_t *of_row = ARENA_ARRAY(arena, uint32_t, self->row_count);
	uint32_t *slots = ARENA_ARRAY(arena, uint32_t, count);
	uint32_t *rows = ARENA_ARRAY(arena, uint32_t, self->row_count);
	uint32_t *place_of = ARENA_ARRAY(arena, uint32_t, count);
	uint32_t *first_slot = ARENA_ARRAY(arena, uint32_t, count + 1);
	uint32_t *first_row = ARENA_ARRAY(arena, uint32_t, count + 1);
	if (parent == NULL || group_of == NULL || of_row == NULL || slots == NULL || rows == NULL ||
	    place_of == NULL || first_slot == NULL || first_row == NULL)
		return STATUS_NO_MEMORY;
	join_bodies(self, parent);
	self->groups = number_groups(parent, group_of, count);
	for (uint32_t i = 0; i < self->row_count; i++)
		of_row[i] = group_of[self->rows[i].a];
	list_by_group(group_of, count, self->groups, first_slot, slots);
	list_by_group(of_row, self->row_count, self->groups, first_row, rows);
	for (uint32_t i = 0; i < count; i++)
		place_of[i] = PILE_STATIC;
	for (uint32_t g = 0; g < self->groups; g++) {
		struct pile_group group = {
			.pile = self,
			.slots = slots + first_slot[g],
			.slot_count = first_slot[g + 1] - first_slot[g],
			.rows = rows + first_row[g],
			.row_count = first_row[g + 1] - first_row[g],
			.place_of = place_of,
		};
		enum status status = solve_group(&group);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}
