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
 * Potentials that are not linear (pile_potential.c) are convex in the displacement. Each body that has one
 * gets a column for its excess, above 0 and above the tangents found so far (cuts). Where the optimum
 * lies below the true excess, it is solved again with a tangent there, until what is missing is little
 * beside what is gained. The way is then cut off where the energy is least on it.
 *
 * Whatever the solver returns, the move is shortened until no row is violated (shorten_moves): places
 * between two permitted ones are permitted. So no error of a solver makes an overlap. A group whose
 * optimum lowers its energy by less than `rest` of force times radius is at rest and does not move,
 * if its programme was solved: the prices of rows are then forces that hold it in balance.
 */
#include "server/engine/math/scalar.h"

#include "server/base/union_find.h"
#include "server/engine/methods/pile_group.h"

#include <string.h>

/* Of the radius. Rows that are closer than this are in the first programme of a step. Larger: larger
 * programmes; smaller: more rounds. */
#define NEARLY_CLOSED 0.05
/* Of the radius: an optimum that violates a row by more than this is solved again with it. */
#define VIOLATED 1e-11
/* Of the radius: a move that violates a row by no more is not shortened. The next step corrects it. */
#define PERMITTED 5e-10
/* Of what a programme gains: tangents are added until less than this is missing. Smaller: more rounds in a
 * step; larger: more steps. Of the limit of rest: then no more tangents are needed to tell it. */
#define CUTS_GAP 0.1
/* 1. Zones are followed by the whole when they lower the energy by no more than this part of the sum of force
 * times radius, and the whole by zones when it gains more than WHOLE_GAIN. Smaller: many steps of little
 * gain; larger: dear steps before they are needed. */
#define ZONES_GAIN 0.05
#define WHOLE_GAIN 0.25
/* The same of a group without zones: the simplex method leads what gains more. Smaller: more steps, some of
 * ten times the median; larger: spheres that flow are left hanging as arches more often. */
#define CALM_GAIN 0.5
/* The same of a group too large for the interior method: by larger ones, and by the whole when none gained
 * more than ZONES_END. */
#define ZONES_LARGER 1e-3
#define ZONES_END 1e-5

/* Of the cubes. A programme with springs begins with a small part of them, where tangents tell most of their
 * excess, and widens it while a body goes as far as it may. Smaller: more rounds of bodies that fall;
 * larger: more tangents near rest. */
#define FIRST_PART (1.0 / 512)
#define WIDEN 8.0
#define AT_END (1 - 1e-9)
/* 1. Cubes stay as they are if they gain less than so many times what the narrower ones did: the next
 * step goes on. Smaller: fewer steps, of many more pivots; larger: more steps. */
#define WORTH_WIDENING 2.0

/* Rounds with more rows of one programme; groups of fewer than so many full zones are one programme, because
 * zones need more steps to rest. */
enum { ROUNDS_MAX = 100, ZONES_MIN = 16, NET_ZONES_MIN = 2, ZONES_GROW = 4 };
/* Rounds with more tangents; a tangent that did not press in so many of them is taken out. */
enum { CUT_ROUNDS_MAX = 60, CUT_IDLE_MAX = 4 };
/* Halvings of the way to its point of least energy. */
enum { HALVINGS = 40 };
/* Bodies of a group: fewer are solved by the simplex method, those with springs with tangents. */
enum { INTERIOR_MIN = 32 };
/* Rows of one group that overlap: a programme with this many takes about a second, with four times as
 * many half a minute. A group with more stays where it is. */
enum { OVERLAPS_MAX = 4096 };
/* 1. A step that takes away less than this part of the overlaps has found the shortest ways blocked. Smaller:
 * more steps before another way is tried. */
#define OVERLAP_GAIN 1e-3

/* ---- groups ------------------------------------------------------------------------------------ */

/* The root of a set is its lowest slot. */
static void join_bodies(const struct pile *self, uint32_t *parent)
{
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		parent[slot] = slot;
	for (uint32_t i = 0; i < self->row_count; i++)
		if (self->rows[i].b != PILE_STATIC)
			(void)union_find_join(parent, self->rows[i].a, self->rows[i].b);
	for (uint32_t i = 0; i < self->term_count; i++)
		if (self->terms[i].b != PILE_STATIC)
			(void)union_find_join(parent, self->terms[i].a, self->terms[i].b);
}

/* ---- moves -------------------------------------------------------------------------------------- */

/* The gap of a row after the moves. */
double pile_gap_after(const struct pile *self, const struct pile_row *row)
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
		if (row->taken || pile_gap_after(self, row) >= -VIOLATED * radius)
			continue;
		ASSERT(!pile_overlaps(group, row));
		row->taken = true;
		row->place = LP_BASIC;
		group->taken++;
	}
}

static vec3 base_of(const struct pile_group *group, uint32_t slot)
{
	uint32_t place = slot == PILE_STATIC ? PILE_STATIC : group->place_of[slot];
	if (place != PILE_STATIC)
		return group->base[place];
	return slot == PILE_STATIC ? vec3_zero() : group->pile->moves[slot];
}

/* Sets the moves of the group to a part of the way from its base to where they are. */
static void take_part(const struct pile_group *group, double part)
{
	vec3 *moves = group->pile->moves;
	ASSERT(part >= 0 && part <= 1);
	for (uint32_t i = 0; part < 1 && i < group->slot_count; i++) {
		vec3 *move = &moves[group->slots[i]];
		*move = vec3_mul_add(group->base[i], vec3_sub(*move, group->base[i]), part);
	}
}

/* Shortens all moves of the group by one factor until no row is violated; a row that overlaps may
 * stay as it is. */
static void shorten_moves(const struct pile_group *group)
{
	const struct pile *self = group->pile;
	double part = 1;
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		vec3 apart = vec3_sub(base_of(group, row->a), base_of(group, row->b));
		double gap = row->gap + vec3_dot(row->normal, apart);
		double room = scalar_max(gap, 0);
		double closing = gap - pile_gap_after(self, row);
		if (closing > room + PERMITTED * self->bodies[row->a].radius)
			part = scalar_min(part, room / closing);
	}
	take_part(group, part);
}

/* ---- energy ------------------------------------------------------------------------------------ */

/* J: what the moves of the group lower the energy, at a part of the way from its base; *slope: its
 * derivative by `part`. */
double pile_drop_at(const struct pile_group *group, double part, double *slope)
{
	const struct pile *self = group->pile;
	double drop = 0;
	*slope = 0;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		uint32_t slot = group->slots[i];
		vec3 way = vec3_sub(self->moves[slot], group->base[i]);
		double gain = vec3_dot(self->bodies[slot].force, way);
		drop += part * gain;
		*slope += gain;
	}
	for (uint32_t i = 0; i < group->term_count; i++) {
		const struct pile_term *term = &self->terms[group->terms[i]];
		vec3 base = vec3_sub(base_of(group, term->a), base_of(group, term->b)), gradient;
		vec3 way = vec3_sub(pile_term_way(self, term), base);
		drop += pile_term_excess(self, term, base, &gradient);
		drop -= pile_term_excess(self, term, vec3_mul_add(base, way, part), &gradient);
		*slope -= vec3_dot(gradient, way);
	}
	return drop;
}

/* Ends the moves of the group where the energy is least on the way; it is convex there. */
static void end_at_least_energy(const struct pile_group *group)
{
	double low = 0, high = 1, slope;
	(void)pile_drop_at(group, 1, &slope);
	if (group->term_count == 0 || slope >= 0)
		return;
	for (uint32_t i = 0; i < HALVINGS; i++) {
		double middle = 0.5 * (low + high);
		(void)pile_drop_at(group, middle, &slope);
		if (slope >= 0)
			low = middle;
		else
			high = middle;
	}
	ASSERT(low <= high);
	take_part(group, low);
}

/* J: the sum of force times radius. */
double pile_measure_of(const struct pile_group *group)
{
	double measure = 0;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		const struct pile_body *body = &group->pile->bodies[group->slots[i]];
		measure += body->size * body->radius;
	}
	ASSERT(measure >= 0);
	return measure;
}

/* What the optimum promises to gain, with the tangents found so far. */
static double promise_of(const struct pile_group *group)
{
	const struct pile *self = group->pile;
	double promise = 0;
	for (uint32_t i = 0; i < group->slot_count; i++)
		promise += vec3_dot(self->bodies[group->slots[i]].force,
				    vec3_sub(self->moves[group->slots[i]], group->base[i]));
	for (uint32_t i = 0; i < group->term_count; i++)
		promise -= self->terms[group->terms[i]].value;
	return promise;
}

static void drop_idle_cuts(struct pile_room *room)
{
	uint32_t kept = 0;
	for (uint32_t c = 0; c < room->cuts.count; c++) {
		struct pile_cut *cut = &room->cuts.items[c];
		cut->idle = cut->place == LP_BASIC ? (uint8_t)(cut->idle + 1) : 0;
		if (cut->idle <= CUT_IDLE_MAX)
			room->cuts.items[kept++] = *cut;
	}
	ASSERT(kept <= room->cuts.count);
	room->cuts.count = kept;
}

/* Whether the bound of this part of the cubes proves rest: what is gained at most is concave in the part. */
static bool is_proved(const struct pile_group *group)
{
	return group->springs &&
	       group->bound <= group->part * group->pile->rest * pile_measure_of(group);
}

/* Adds tangents where the optimum lies below the excess by more than its share, unless all that is
 * missing is little. NO_MEMORY. */
static enum status add_cuts(struct pile_group *group, bool *added)
{
	struct pile *self = group->pile;
	struct pile_room *room = self->room;
	double missing = 0;
	*added = false;
	vec3 slope;
	for (uint32_t i = 0; i < group->term_count; i++) {
		const struct pile_term *term = &self->terms[group->terms[i]];
		missing +=
			scalar_max(pile_term_excess(self, term, pile_term_way(self, term), &slope) -
					   term->value,
				   0);
	}
	group->bound = promise_of(group);
	if (is_proved(group))
		return STATUS_OK;
	double little =
		CUTS_GAP * scalar_max(group->bound - missing, self->rest * pile_measure_of(group));
	if (!(missing > little))
		return STATUS_OK;
	drop_idle_cuts(room);
	enum status status = ARRAY_RESERVE(&room->cuts, room->cuts.count + group->term_count);
	for (uint32_t i = 0; i < group->term_count && status == STATUS_OK; i++) {
		const struct pile_term *term = &self->terms[group->terms[i]];
		vec3 way = pile_term_way(self, term);
		double excess = pile_term_excess(self, term, way, &slope);
		if (!(excess - term->value > 0.5 * little / group->term_count))
			continue;
		room->cuts.items[room->cuts.count++] = (struct pile_cut){
			.term = i,
			.slope = slope,
			.offset = scalar_max(vec3_dot(slope, way) - excess, 0),
			.place = LP_BASIC,
		};
		*added = true;
	}
	return status;
}

/* ---- a group ----------------------------------------------------------------------------------- */

static bool is_inside(const struct pile_group *group, uint32_t slot)
{
	return slot != PILE_STATIC && group->place_of[slot] != PILE_STATIC;
}

/* The terms of the group's bodies, none while rows overlap. NO_MEMORY. */
static enum status list_terms(struct pile_group *group)
{
	const struct pile *self = group->pile;
	group->term_count = 0;
	self->room->cuts.count = 0;
	if (self->term_count == 0 || group->relaxing)
		return STATUS_OK;
	group->terms = PILE_ALLOCATE(group, uint32_t, self->term_count);
	if (group->terms == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self->term_count; i++)
		if (is_inside(group, self->terms[i].a) || is_inside(group, self->terms[i].b))
			group->terms[group->term_count++] = i;
	return STATUS_OK;
}

/* Whether all bodies are spheres and little was gained in the last step. What falls far is led by the simplex
 * method, to corners of what is permitted. */
static bool are_calm(const struct pile_group *group)
{
	ASSERT(group->whole && !group->relaxing);
	for (uint32_t i = 0; i < group->slot_count; i++) {
		const struct pile_body *body = &group->pile->bodies[group->slots[i]];
		if (!body->round || !body->whole)
			return false;
	}
	return true;
}

/* The first rows, and what kind of programme it is. NO_MEMORY. */
static enum status begin_group(struct pile_group *group)
{
	struct pile *self = group->pile;
	group->scale = group->bound = 0;
	group->part = 1;
	group->narrow = 0;
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->scale = scalar_max(group->scale, self->bodies[group->slots[i]].size);
	if (!(group->scale > 0))
		group->scale = 1;
	for (uint32_t i = 0; i < group->row_count; i++) {
		struct pile_row *row = &self->rows[group->rows[i]];
		if (row->gap < NEARLY_CLOSED * self->bodies[row->a].radius)
			row->taken = true;
		group->taken += row->taken;
		group->slacks += pile_overlaps(group, row);
	}
	group->relaxing = group->slacks > 0;
	for (uint32_t i = 0; group->relaxing && i < group->slot_count; i++)
		group->waits = MAX_OF(group->waits, self->bodies[group->slots[i]].waits);
	group->split = group->relaxing || self->conservative > 0;
	enum status status = list_terms(group);
	for (uint32_t i = 0; i < group->term_count; i++) {
		enum pile_term_kind kind = self->terms[group->terms[i]].kind;
		group->springs = group->springs || kind != PILE_TERM_FIELDS;
		group->pairs = group->pairs || kind == PILE_TERM_PAIR;
	}
	bool many = group->slot_count >= INTERIOR_MIN;
	group->interior = !group->split && self->pivots_max == 0 && !group->too_large &&
			  (group->large || group->pairs || (group->springs && many) ||
			   (group->whole && many && group->term_count == 0 && are_calm(group)));
	if (group->springs && self->pivots_max == 0 && !group->interior)
		group->part = FIRST_PART;
	return status;
}

/* What is left of overlaps goes from round to round, and from step to step while the group waits: without
 * it the basis has too few columns, and the solver begins anew. After a move the overlaps are others. */
static void forget_slacks(const struct pile_group *group)
{
	ASSERT(!group->waiting);
	for (uint32_t i = 0; i < group->row_count; i++)
		group->pile->rows[group->rows[i]].slack = LP_LOW;
}

/* Ends a programme with a permitted move that does not raise the energy; returns what it lowers. */
static double end_programme(struct pile_group *group)
{
	struct pile *self = group->pile;
	double slope;
	end_at_least_energy(group);
	shorten_moves(group);
	double drop = pile_drop_at(group, 1, &slope);
	if (!group->relaxing && drop < 0) {
		pile_stop_bodies(group);
		drop = 0;
	}
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = PILE_STATIC;
	if (!group->waiting)
		forget_slacks(group);
	self->fallbacks += !pile_is_ended(&group->result);
	ASSERT(group->result.residual >= 0);
	self->pivots += group->pivots;
	self->residual = scalar_max(self->residual, group->result.residual);
	return drop;
}

/* Whether a group with a budget goes on: with what is left of it, or with twice as much if nothing was
 * gained. */
static bool keeps_going(struct pile_group *group, bool unfinished)
{
	double slope;
	ASSERT(group->pile->pivots_max > 0 && !group->relaxing);
	end_at_least_energy(group);
	shorten_moves(group);
	bool gained = pile_drop_at(group, 1, &slope) > group->pile->rest * pile_measure_of(group);
	if (group->budget > 0)
		return unfinished;
	if (gained || pile_is_solved(&group->result))
		return false;
	group->budget = 2 * group->pivots;
	return true;
}

/* Lets bodies that springs pull go farther if one goes as far as it may. Where none does, the optimum is
 * that of all that is permitted, because the programme is convex. */
static bool widen_cubes(struct pile_group *group)
{
	const struct pile *self = group->pile;
	bool ends = false;
	for (uint32_t i = 0; group->part < 1 && i < group->slot_count; i++) {
		const struct pile_body *body = &self->bodies[group->slots[i]];
		for (uint32_t k = 0; body->bent && k < 3; k++) {
			double along = vec3_dot(self->moves[group->slots[i]], self->axes[k]);
			double most =
				(along > 0 && self->leads_down[k] ? body->ahead : body->reach) *
				group->part;
			ends = ends || scalar_abs(along) > AT_END * most;
		}
	}
	if (!ends)
		return false;
	if (is_proved(group) || (group->bound > self->rest * pile_measure_of(group) &&
				 group->bound < WORTH_WIDENING * group->narrow)) {
		group->bound /= group->part;
		return false;
	}
	group->narrow = group->bound;
	group->part = scalar_min(group->part * WIDEN, 1);
	return true;
}

/* Adds to a programme what its optimum violates: rows, and once there are none, tangents. */
static enum status refine(struct pile_group *group, uint32_t *cut_rounds, bool *refined,
			  bool *wider)
{
	uint32_t before = group->taken;
	take_violated(group);
	*refined = group->taken > before;
	*wider = false;
	if (*refined || group->term_count == 0 || *cut_rounds >= CUT_ROUNDS_MAX)
		return STATUS_OK;
	++*cut_rounds;
	enum status status = add_cuts(group, refined);
	*wider = status == STATUS_OK && !*refined && widen_cubes(group);
	*refined = *refined || *wider;
	return status;
}

/* Keeps moves that are permitted, or takes them back after a round that found no end. */
static void keep_moves(const struct pile_group *group, vec3 *kept, bool back)
{
	vec3 *moves = group->pile->moves;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		if (back)
			moves[group->slots[i]] = kept[i];
		else
			kept[i] = moves[group->slots[i]];
	}
}

/* The next step begins with all rows of a programme that goes on in it. Without those that an earlier
 * round added it would find the optimum of that round again, and not get any farther. */
static void hold_rows(const struct pile_group *group)
{
	ASSERT(group->waiting);
	for (uint32_t i = 0; i < group->row_count; i++)
		group->pile->rows[group->rows[i]].held = true;
}

/* Ends a programme whose wider cubes used up the work. */
static void stop_widening(struct pile_group *group)
{
	ASSERT(group->waiting);
	group->waiting = false;
	group->result.status = SOLVER_STOPPED;
}

static enum status solve_rounds(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct arena *arena = &self->step->dynamics->scratch;
	uint32_t cut_rounds = 0;
	bool keeps = group->term_count > 0, widened = false;
	vec3 *kept = PILE_ALLOCATE(group, vec3, keeps ? group->slot_count : 0);
	if (kept == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
		struct arena_mark mark = arena_mark(arena);
		bool budgeted = group->budget > 0, refined, wider;
		enum status status = pile_solve_round(group);
		arena_rewind(arena, mark);
		if (status != STATUS_OK)
			return status;
		if (group->waiting) {
			hold_rows(group);
			if (cut_rounds > 0 || widened)
				keep_moves(group, kept, true);
			/* What narrower cubes gained is a step, from which the next goes on. */
			if (widened)
				stop_widening(group);
			return STATUS_OK;
		}
		uint32_t cuts = cut_rounds;
		status = refine(group, &cut_rounds, &refined, &wider);
		if (status != STATUS_OK)
			return status;
		if (budgeted ? !keeps_going(group, refined) : !refined)
			return STATUS_OK;
		if (cut_rounds > cuts || wider)
			keep_moves(group, kept, false);
		widened = widened || wider;
	}
	group->result.status =
		SOLVER_LIMIT; /* rows are violated still: the move will be shortened */
	return STATUS_OK;
}

static enum status begin_programme(struct pile_group *group)
{
	struct pile *self = group->pile;
	group->base = PILE_ALLOCATE(group, vec3, group->slot_count);
	if (group->base == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		group->place_of[group->slots[i]] = i;
		group->base[i] = self->moves[group->slots[i]];
	}
	return begin_group(group);
}

static enum status solve_programme(struct pile_group *group)
{
	enum status status = begin_programme(group);
	if (status != STATUS_OK)
		return status;
	group->budget = group->relaxing ? 0 : group->pile->pivots_max;
	if (group->slacks > OVERLAPS_MAX) {
		pile_stop_bodies(group);
		group->result.status = SOLVER_LIMIT;
		return STATUS_OK;
	}
	return group->interior ? pile_solve_interior(group) : solve_rounds(group);
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
	zones->rows = PILE_ALLOCATE(group, uint32_t, 2 * group->row_count);
	zones->first_row = PILE_ALLOCATE(group, uint32_t, zones->count + 1);
	uint32_t *end = PILE_ALLOCATE(group, uint32_t, zones->count + 1);
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

static enum status make_zones(const struct pile_group *group, uint32_t most,
			      struct pile_zones *zones)
{
	struct pile *self = group->pile;
	uint32_t *zone_of = PILE_ALLOCATE(group, uint32_t, self->step->body_count);
	zones->slots = PILE_ALLOCATE(group, uint32_t, group->slot_count);
	zones->first_slot = PILE_ALLOCATE(group, uint32_t, group->slot_count + 1);
	if (zone_of == NULL || zones->slots == NULL || zones->first_slot == NULL)
		return STATUS_NO_MEMORY;
	memcpy(zones->slots, group->slots, group->slot_count * sizeof *zones->slots);
	enum status status = pile_divide(self, most, zones->slots, group->slot_count,
					 zones->first_slot, &zones->count);
	if (status != STATUS_OK)
		return status;
	for (uint32_t z = 0; z < zones->count; z++)
		for (uint32_t i = zones->first_slot[z]; i < zones->first_slot[z + 1]; i++)
			zone_of[zones->slots[i]] = z;
	return list_zone_rows(group, zones, zone_of);
}

/* Solves zone after zone of at most so many bodies, each with the others where they are by then; adds to
 * *drop. */
static enum status solve_zones(struct pile_group *whole, uint32_t most, double *drop)
{
	struct pile_zones zones;
	struct pile *self = whole->pile;
	struct arena *arena = &self->step->dynamics->scratch;
	enum status status = make_zones(whole, most, &zones);
	for (uint32_t z = 0; status == STATUS_OK && z < zones.count; z++) {
		struct arena_mark mark = arena_mark(arena);
		struct pile_group zone = {
			.pile = self,
			.slots = zones.slots + zones.first_slot[z],
			.slot_count = zones.first_slot[z + 1] - zones.first_slot[z],
			.rows = zones.rows + zones.first_row[z],
			.row_count = zones.first_row[z + 1] - zones.first_row[z],
			.place_of = whole->place_of,
		};
		status = solve_programme(&zone);
		if (status != STATUS_OK)
			return status;
		*drop += end_programme(&zone);
		arena_rewind(arena, mark);
		self->zones++;
	}
	return status;
}

/* ---- a group ----------------------------------------------------------------------------------- */

static bool any_overlap(const struct pile_group *group)
{
	for (uint32_t i = 0; i < group->row_count; i++)
		if (pile_overlaps(group, &group->pile->rows[group->rows[i]]))
			return true;
	return false;
}

/* Takes the moves of zones back, and their basis, which is a bad one for the whole. */
static void forget_zones(const struct pile_group *group)
{
	struct pile *self = group->pile;
	for (uint32_t i = 0; i < group->slot_count; i++) {
		self->moves[group->slots[i]] = vec3_zero();
		memset(self->places[group->slots[i]], LP_LOW, PILE_COLUMNS);
	}
	for (uint32_t i = 0; i < group->row_count; i++) {
		self->rows[group->rows[i]].place = LP_BASIC;
		self->rows[group->rows[i]].taken = false;
		self->rows[group->rows[i]].held = false;
	}
}

/* Solves a large group in zones; where these gain little, in larger ones if it is too large for one
 * programme of the interior method. */
static enum status try_zones(struct pile_group *group, bool *gained)
{
	struct pile *self = group->pile;
	double drop = 0, measure = pile_measure_of(group), work_max = self->work_max;
	bool larger = group->too_large;
	uint32_t most = larger ? ZONES_GROW * self->zone_max : self->zone_max;
	enum status status = STATUS_OK;
	/* Half of what is left is for the whole, which would never have its turn. */
	self->work_max = work_max > 0 ? 0.5 * (work_max + self->work) : 0;
	do
		status = solve_zones(group, most, &drop);
	while (status == STATUS_OK && larger && !(drop > ZONES_LARGER * measure) &&
	       (most = ZONES_GROW * most) <= group->slot_count / 2);
	self->work_max = work_max;
	group->drop = drop;
	*gained = drop > (larger ? ZONES_END : ZONES_GAIN) * measure;
	if (status == STATUS_OK && !*gained)
		forget_zones(group);
	return status;
}

/* Halves the gaps of a group that is at rest with them; false: they have been halved often enough. */
static bool halve_gaps(const struct pile_group *group)
{
	struct pile *self = group->pile;
	bool halved = false;
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		uint32_t ends[2] = { row->a, row->b == PILE_STATIC ? row->a : row->b };
		for (uint32_t end = 0; row->smoothed && end < 2; end++)
			halved = halved || self->bodies[ends[end]].halved < SMOOTH_HALVINGS;
	}
	for (uint32_t i = 0; halved && i < group->slot_count; i++) {
		struct pile_body *body = &self->bodies[group->slots[i]];
		body->halved = (uint8_t)MIN_OF(body->halved + 1, (int)SMOOTH_HALVINGS);
	}
	return halved;
}

/* Whether the basis of all bodies is that of one programme. */
static bool has_basis_of_whole(const struct pile_group *group)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		if (!group->pile->bodies[group->slots[i]].whole)
			return false;
	return true;
}

static void mark_whole(const struct pile_group *group, bool whole)
{
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->pile->bodies[group->slots[i]].whole = whole;
}

/* Whether overlaps of polyhedra are parted along the shortest way in the next step, or against gravity:
 * the other of the two if the step took next to nothing away. */
static void choose_way_out(const struct pile_group *group)
{
	struct pile *self = group->pile;
	double before = 0, after = 0;
	bool lifts = false;
	for (uint32_t i = 0; i < group->slot_count; i++)
		lifts = lifts || self->bodies[group->slots[i]].lifts;
	for (uint32_t i = 0; group->relaxing && i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		if (!pile_overlaps(group, row) || row->b == PILE_STATIC ||
		    (self->bodies[row->a].round && self->bodies[row->b].round))
			continue;
		before -= row->gap;
		after += scalar_max(-pile_gap_after(self, row), 0);
	}
	ASSERT(before >= 0);
	bool solved = !group->waiting && pile_is_solved(&group->result);
	bool blocked = before > 0 && solved && after > (1 - OVERLAP_GAIN) * before;
	bool next = before > 0 && (blocked ? !lifts : lifts);
	for (uint32_t i = 0; i < group->slot_count; i++)
		self->bodies[group->slots[i]].lifts = next;
}

/* What the next step may take for a group that waits with overlaps. */
static void mark_waits(const struct pile_group *group)
{
	const struct pile *self = group->pile;
	uint64_t tick = self->step->dynamics->tables->world.tick[0];
	uint8_t waits = 0;
	ASSERT(group->waits <= WAIT_DOUBLINGS);
	if (group->relaxing && group->waiting)
		waits = (uint8_t)MIN_OF(group->waits + (tick % WAIT_TICKS == WAIT_TICKS - 1),
					(int)WAIT_DOUBLINGS);
	for (uint32_t i = 0; i < group->slot_count; i++)
		self->bodies[group->slots[i]].waits = waits;
}

/* Whether springs between bodies are as many as bodies. */
static bool is_net(const struct pile_group *group)
{
	const struct pile *self = group->pile;
	uint32_t springs = 0;
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = i;
	for (uint32_t i = 0; i < self->term_count; i++)
		springs += self->terms[i].b != PILE_STATIC && is_inside(group, self->terms[i].a);
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = PILE_STATIC;
	return springs >= group->slot_count;
}

/* Zones, where the group is large and they gain something. */
static enum status solve_in_zones(struct pile_group *group, bool *gained)
{
	struct arena *arena = &group->pile->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(arena);
	enum status status = try_zones(group, gained);
	arena_rewind(arena, mark);
	mark_whole(group, false);
	choose_way_out(group);
	mark_waits(group);
	return status;
}

/* The programme of all bodies, with larger zones before it where the interior method would take too long. */
static enum status solve_whole(struct pile_group *group, bool *ended)
{
	struct arena *arena = &group->pile->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(arena);
	enum status status = solve_programme(group);
	*ended = false;
	if (status != STATUS_OK || !group->too_large)
		return status;
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->place_of[group->slots[i]] = PILE_STATIC;
	arena_rewind(arena, mark);
	group->taken = group->slacks = 0;
	if (group->large && !has_basis_of_whole(group)) {
		status = solve_in_zones(group, ended);
		if (status != STATUS_OK || *ended)
			return status;
	}
	return solve_programme(group);
}

static enum status solve_softly(struct pile_group *group)
{
	struct pile *self = group->pile;
	struct arena *arena = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(arena);
	enum status status = begin_programme(group);
	if (status == STATUS_OK)
		status = pile_solve_soft(group);
	if (status != STATUS_OK)
		return status;
	(void)end_programme(group);
	arena_rewind(arena, mark);
	for (uint32_t i = 0; i < group->slot_count; i++)
		self->bodies[group->slots[i]].softness = group->softness;
	mark_whole(group, group->softness.level == PILE_SOFT_LEVELS);
	choose_way_out(group);
	mark_waits(group);
	return STATUS_OK;
}

/* With hard contacts: in zones, and as a whole where these gain little. */
static enum status solve_hard(struct pile_group *group)
{
	struct pile *self = group->pile;
	bool net = is_net(group), ended = false;
	group->large = group->slot_count / (net ? NET_ZONES_MIN : ZONES_MIN) >= self->zone_max &&
		       !any_overlap(group);
	enum status status = STATUS_OK;
	if (group->large && !net && !has_basis_of_whole(group))
		status = solve_in_zones(group, &ended);
	if (status == STATUS_OK && !ended)
		status = solve_whole(group, &ended);
	if (status != STATUS_OK || ended)
		return status;
	double drop = group->drop = end_programme(group);
	double most = group->term_count > 0 || group->interior ? group->bound : drop;
	bool rests = !group->relaxing && !group->waiting && pile_is_solved(&group->result) &&
		     most <= self->rest * pile_measure_of(group);
	choose_way_out(group);
	mark_waits(group);
	/* What gains much moves much: zones do that in less time, the simplex method with fewer arches. */
	double calm = group->large ? WHOLE_GAIN : CALM_GAIN;
	double much = group->large && !group->interior ? ZONES_LARGER : calm;
	mark_whole(group, !net && !(drop > much * pile_measure_of(group)));
	if (rests)
		pile_stop_bodies(group);
	rests = rests && !halve_gaps(group);
	for (uint32_t i = 0; i < group->slot_count; i++)
		self->resting[group->slots[i]] = rests;
	return STATUS_OK;
}

static enum status solve_group(struct pile_group *group)
{
	bool soft;
	group->whole = true;
	enum status status = pile_is_soft(group, &soft);
	if (status != STATUS_OK)
		return status;
	if (soft)
		return solve_softly(group);
	status = solve_hard(group);
	if (status == STATUS_OK)
		pile_begin_softness(group);
	return status;
}

/* ---- the step ---------------------------------------------------------------------------------- */

/* Numbers groups by their lowest slots; `group_of` by slot. */
static uint32_t number_groups(uint32_t *parent, uint32_t *group_of, uint32_t count)
{
	uint32_t groups = 0;
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t root = union_find_root(parent, slot);
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
	uint32_t turn =
		self->work_max > 0 && self->groups > 0
			? (uint32_t)(self->step->dynamics->tables->world.tick[0] % self->groups)
			: 0;
	for (uint32_t i = 0; i < self->groups; i++) {
		uint32_t g = (turn + i) % self->groups;
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
