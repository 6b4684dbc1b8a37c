/* pile_interior.c: the programme of a large group or of a net by an interior method.
 *
 *   min F(d) = −Σ f·d + Σ excess    subject to    s = N d + gap ≥ 0,    low ≤ d ≤ high
 *
 * with d in the axes of the cubes and N the normals of the rows. The excesses (pile_potential.c,
 * pile_spring.c) are convex with known curvature, so no tangents are needed, and a step has some twenty
 * factors however many rows press. It is the primal-dual method with a predictor and a corrector (Mehrotra
 * 1992): with prices λ of rows and z of bounds, all of
 *
 *   ∇F − Nᵀ λ − z_low + z_high = 0,   N d + gap − s = 0,   λ s = z (d − low) = z (high − d) = μ
 *
 * is made linear, first for μ = 0, which tells how small μ may become, then for that μ. What remains is
 *
 *   (H + D + Nᵀ (λ/s) N) δd = right side
 *
 * with H the curvature and D of the bounds: a block of 3 × 3 for each body and each two that a row or spring
 * joins. Divided by √D on both sides it is the identity and something positive, which chol_panel.c
 * factors in an order with little fill-in (order_amd.c).
 *
 * Any λ ≥ 0 proves how much is left: with r = ∇F − Nᵀ λ no permitted displacement lowers F, by the
 * convexity of F, by more than
 *
 *   gap(λ) = λ·(N d + gap) + Σ (r d − min(r low, r high))                        in joules
 *
 * The method ends when that is little beside what is gained, or beside the limit of rest. The places
 * between are no vertices: the prices balance the forces to what gap(λ) tells.
 *
 * Half-spaces turn in the first rounds, unless potentials bend. Every half-space that has the present
 * place of a pair in it, and the ball that is forbidden to it not, keeps the whole straight way free;
 * with a gap there are many of these. The one across the place where the straight way to x comes
 * nearest is open at both ends at least as far as the way is, so a row gets it where that opens it. A
 * pair that rolls on another thus closes within a step what else only the next one closes. Touching
 * pairs have one half-space only. Rest is proved of half-spaces as they are at the beginning: a
 * programme that proves it with others begins again with those, because a place beside limits that
 * move is a bad one to go on from.
 *
 * At the end the rows that press are closed to the last digits, and the prices balance forces no better than
 * those openings are known. Then the prices are balanced by themselves (try_balance): the least change of
 * each, in parts of itself, that leaves no force on a body.
 *
 * What goes wrong: rounding ends the descent of μ before. Then the best place found stands with its bound, as
 * a programme that was not solved.
 */
#include "server/engine/math/mat3.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile_matrix.h"

#include <string.h>

enum { AXES = 3, ROUNDS_MAX = 80, NONE = PILE_STATIC };
/* Half-spaces turn before so many rounds. Larger: more rounds of a step; smaller: more steps. */
enum { TURN_ROUNDS = 12 };
/* Rounds of which a step of the work must be capable. */
enum { ROUNDS_USUAL = 20 };

/* Of the mean reach: how far rows and prices begin from their limits. */
#define BEGIN 0.1
/* The same of a programme that begins again, with prices that are nearly right. */
#define BEGIN_AGAIN 1e-4
/* Of the way to the nearest limit. Larger: fewer rounds; too large: rounds that follow are blocked. */
#define WAY 0.995
/* Of the radius: what a row may be violated by. */
#define PERMITTED 1e-11
/* Of what is gained: the bound of what is left. Smaller: more rounds in a step; larger: more steps. */
#define LEFT 0.05
/* The same of a programme without terms: the next step gains what is left at less cost than more rounds. */
#define LEFT_LINEAR 0.5
/* Of the radius: rows that are closer than this join the programme. Larger: larger factors; smaller: rows
 * that join late, when their prices are far from right. */
#define JOINS 0.1
/* Of the radius: rows that are closer than this are in the pattern of the factor before they join. Larger:
 * larger factors; smaller: more patterns. */
#define SOON 0.3
/* What stays of forces on bodies while prices are balanced, of 1 / m: smaller loses digits, larger needs more
 * turns. */
#define BALANCE_LEAST 1e-9
enum { BALANCE_TURNS = 4 };
/* Times what a whole may take, for a first permitted place. Larger: longer steps of large heaps; smaller:
 * heaps that stop above the place of rest, because the simplex method hardly gets on with them. */
#define OVERTIME 2.0

struct pile_interior {
	struct pile_group *group;
	uint32_t bodies, columns; /* columns: 3 × bodies */
	uint32_t row_count, term_count;
	struct pile_link *rows, *terms;
	uint32_t *soon, soon_count; /* rows that may join soon; in the pattern */
	/* By columns. */
	double *low, *high, *x, *slope, *z_low, *z_high, *dx, *dz_low, *dz_high, *side;
	/* By rows. */
	vec3 *normal; /* in the axes */
	vec3 *from; /* m, in the axes: from b to a at the beginning of the step, where half-spaces turn */
	double *apart; /* m: the least distance of a and b; 0: the half-space does not turn */
	bool *turned;
	double *gap, *s, *price, *ds, *dprice, *off;
	/* The factor. */
	struct pile_matrix matrix;
	bool turns;	      /* half-spaces may turn */
	double mean;	      /* μ */
	double least;	      /* m: what a row is open at least when it joins */
	double bound, gained; /* J / scale: gap(λ); what F is lowered by */
	double closing; /* J / scale: λ·(N d + gap), the part of gap(λ) that is not of forces left */
	double violated; /* of the radius */
	/* The permitted place with the least bound. */
	double *best_x, *best_price;
	double best_bound, best_gained;
	uint32_t best_rows;
};

/* ---- memory ------------------------------------------------------------------------------------ */

static double *columns_of(const struct pile_interior *self)
{
	return PILE_ALLOCATE(self->group, double, self->columns);
}

static bool allocate_vectors(struct pile_interior *self)
{
	double **columns[] = { &self->low,     &self->high,   &self->x,	    &self->slope,
			       &self->z_low,   &self->z_high, &self->dx,    &self->dz_low,
			       &self->dz_high, &self->side,   &self->best_x };
	double **rows[] = { &self->gap,	   &self->s,   &self->price,	 &self->ds,
			    &self->dprice, &self->off, &self->best_price };
	bool good = true;
	for (uint32_t i = 0; i < COUNT_OF(columns); i++) {
		*columns[i] = columns_of(self);
		good = good && *columns[i] != NULL;
	}
	for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
		*rows[i] = PILE_ALLOCATE(self->group, double, self->group->row_count);
		good = good && *rows[i] != NULL;
	}
	self->normal = PILE_ALLOCATE(self->group, vec3, self->group->row_count);
	self->from = PILE_ALLOCATE(self->group, vec3, self->group->row_count);
	self->apart = PILE_ALLOCATE(self->group, double, self->group->row_count);
	self->turned = PILE_ALLOCATE(self->group, bool, self->group->row_count);
	return good && self->normal != NULL && self->from != NULL && self->apart != NULL &&
	       self->turned != NULL && pile_matrix_begin(&self->matrix, self->group);
}

/* ---- what it is made of ------------------------------------------------------------------------ */

static uint32_t inside(const struct pile_group *group, uint32_t slot)
{
	return slot == PILE_STATIC ? NONE : group->place_of[slot];
}

/* A vector in the axes of the cubes, and back. */
static vec3 into_axes(const struct pile *self, vec3 v)
{
	return vec3_make(vec3_dot(self->axes[0], v), vec3_dot(self->axes[1], v),
			 vec3_dot(self->axes[2], v));
}

static vec3 from_axes(const struct pile *self, const double *x)
{
	vec3 v = vec3_scale(self->axes[0], x[0]);
	return vec3_mul_add(vec3_mul_add(v, self->axes[1], x[1]), self->axes[2], x[2]);
}

/* n · (x_a − x_b). */
static double across(const struct pile_interior *self, uint32_t r, const double *x)
{
	const struct pile_link *link = &self->rows[r];
	vec3 n = self->normal[r];
	ASSERT(r < self->row_count);
	double sum = 0;
	if (link->a != NONE) {
		const double *a = &x[(size_t)link->a * AXES];
		sum += n.x * a[0] + n.y * a[1] + n.z * a[2];
	}
	if (link->b != NONE) {
		const double *b = &x[(size_t)link->b * AXES];
		sum -= n.x * b[0] + n.y * b[1] + n.z * b[2];
	}
	return sum;
}

/* Lets the half-space of a row turn if it is that of two spheres, both of which move in the programme. */
static void let_row_turn(struct pile_interior *self, uint32_t r, const struct pile_row *row)
{
	const struct pile_body *bodies = self->group->pile->bodies;
	const struct pile_link *link = &self->rows[r];
	self->turned[r] = false;
	self->apart[r] = 0;
	if (!self->turns || link->a == NONE || link->b == NONE || !bodies[row->a].round ||
	    !bodies[row->b].round)
		return;
	ASSERT(row->b != PILE_STATIC);
	self->apart[r] = bodies[row->a].radius + bodies[row->b].radius;
	self->from[r] = vec3_scale(self->normal[r], self->apart[r] + row->gap);
}

/* With at least the price for μ. */
static void begin_row(struct pile_interior *self, uint32_t r, double price)
{
	self->s[r] = scalar_max(across(self, r, self->x) + self->gap[r], self->least);
	self->price[r] = scalar_max(price, self->mean / self->s[r]);
}

/* Takes a row into the programme with a price for μ. */
static void add_row(struct pile_interior *self, uint32_t index)
{
	const struct pile_group *group = self->group;
	struct pile_row *row = &group->pile->rows[index];
	uint32_t r = self->row_count++;
	ASSERT(r < group->row_count);
	row->taken = true;
	self->rows[r] = (struct pile_link){ .index = index,
					    .a = inside(group, row->a),
					    .b = inside(group, row->b) };
	self->normal[r] = into_axes(group->pile, row->normal);
	self->gap[r] = pile_gap_inside(group, row);
	let_row_turn(self, r, row);
	begin_row(self, r, 0);
}

static bool list_terms(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	const struct pile *pile = group->pile;
	self->rows = PILE_ALLOCATE(group, struct pile_link, group->row_count);
	self->terms = PILE_ALLOCATE(group, struct pile_link, group->term_count);
	self->soon = PILE_ALLOCATE(group, uint32_t, group->row_count);
	if (self->rows == NULL || self->terms == NULL || self->soon == NULL)
		return false;
	ASSERT(group->row_count == 0 || group->rows != NULL);
	self->row_count = self->term_count = 0;
	for (uint32_t i = 0; i < group->term_count; i++) {
		const struct pile_term *term = &pile->terms[group->terms[i]];
		self->terms[self->term_count++] = (struct pile_link){ .index = group->terms[i],
								      .a = inside(group, term->a),
								      .b = inside(group, term->b) };
	}
	return true;
}

/* ---- the pattern ------------------------------------------------------------------------------- */

/* Rows that are not in the programme and close enough to join it in a later round. */
static void list_soon(struct pile_interior *self)
{
	const struct pile_group *group = self->group;
	const struct pile *pile = group->pile;
	self->soon_count = 0;
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &pile->rows[group->rows[i]];
		if (!row->taken && row->b != PILE_STATIC &&
		    pile_gap_after(pile, row) < SOON * pile->bodies[row->a].radius)
			self->soon[self->soon_count++] = group->rows[i];
	}
}

/* Orders the bodies and finds the pattern of the factor. NO_MEMORY. */
static enum status make_pattern(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	list_soon(self);
	uint32_t count = self->row_count + self->term_count + self->soon_count;
	struct pile_link *links = PILE_ALLOCATE(group, struct pile_link, count);
	if (links == NULL)
		return STATUS_NO_MEMORY;
	ASSERT(self->bodies > 0);
	memcpy(links, self->rows, self->row_count * sizeof *links);
	memcpy(links + self->row_count, self->terms, self->term_count * sizeof *links);
	for (uint32_t i = 0; i < self->soon_count; i++) {
		const struct pile_row *row = &group->pile->rows[self->soon[i]];
		links[self->row_count + self->term_count + i] =
			(struct pile_link){ .a = inside(group, row->a),
					    .b = inside(group, row->b) };
	}
	enum status status = pile_matrix_analyse(&self->matrix, group, links, count);
	if (status != STATUS_OK)
		return status;
	bool rows = pile_matrix_find(&self->matrix, self->rows, self->row_count);
	bool terms = pile_matrix_find(&self->matrix, self->terms, self->term_count);
	ASSERT(rows && terms);
	return STATUS_OK;
}

/* ---- the beginning ----------------------------------------------------------------------------- */

static void begin_columns(struct pile_interior *self, double begin)
{
	const struct pile_group *group = self->group;
	const struct pile *pile = group->pile;
	double sum = 0;
	for (uint32_t i = 0; i < self->bodies; i++) {
		const struct pile_body *body = &pile->bodies[group->slots[i]];
		vec3 move = into_axes(pile, pile->moves[group->slots[i]]);
		for (uint32_t k = 0; k < AXES; k++) {
			uint32_t c = i * AXES + k;
			self->low[c] = -body->reach * group->part;
			self->high[c] =
				(pile->leads_down[k] ? body->ahead : body->reach) * group->part;
			double most = WAY * self->high[c], least = WAY * self->low[c];
			self->x[c] = scalar_clamp(vec3_get(move, k), least, most);
		}
		sum += body->reach * group->part;
	}
	ASSERT(self->bodies > 0);
	self->mean = self->least = begin * sum / self->bodies;
	for (uint32_t c = 0; c < self->columns; c++) {
		self->z_low[c] = self->mean / (self->x[c] - self->low[c]);
		self->z_high[c] = self->mean / (self->high[c] - self->x[c]);
	}
}

static void begin_rows(struct pile_interior *self)
{
	const struct pile_group *group = self->group;
	ASSERT(self->least > 0);
	for (uint32_t i = 0; i < group->row_count; i++)
		if (group->pile->rows[group->rows[i]].taken)
			add_row(self, group->rows[i]);
}

/* ---- where it stands ---------------------------------------------------------------------------- */

static void store_moves(const struct pile_interior *self)
{
	struct pile *pile = self->group->pile;
	for (uint32_t i = 0; i < self->bodies; i++)
		pile->moves[self->group->slots[i]] = from_axes(pile, &self->x[(size_t)i * AXES]);
}

static void add_vector(double *to, uint32_t body, vec3 v, double by)
{
	if (body == NONE)
		return;
	to[(size_t)body * AXES] += by * v.x;
	to[(size_t)body * AXES + 1] += by * v.y;
	to[(size_t)body * AXES + 2] += by * v.z;
}

static void add_across(const struct pile_interior *self, double *to, uint32_t r, double by)
{
	add_vector(to, self->rows[r].a, self->normal[r], by);
	add_vector(to, self->rows[r].b, self->normal[r], -by);
}

/* slope := ∇F, and what F is lowered by. */
static void find_slope(struct pile_interior *self)
{
	const struct pile_group *group = self->group;
	const struct pile *pile = group->pile;
	double by = 1 / group->scale;
	store_moves(self);
	for (uint32_t i = 0; i < self->bodies; i++) {
		vec3 force = into_axes(pile, pile->bodies[group->slots[i]].force);
		for (uint32_t k = 0; k < AXES; k++)
			self->slope[i * AXES + k] = -by * vec3_get(force, k);
	}
	for (uint32_t t = 0; t < self->term_count; t++) {
		const struct pile_term *term = &pile->terms[self->terms[t].index];
		vec3 slope;
		(void)pile_term_excess(pile, term, pile_term_way(pile, term), &slope);
		slope = into_axes(pile, slope);
		add_vector(self->slope, self->terms[t].a, slope, by);
		add_vector(self->slope, self->terms[t].b, slope, -by);
	}
	double turn;
	self->gained = by * pile_drop_at(group, 1, &turn);
}

/* gap(λ), μ, and the worst row. */
static void judge(struct pile_interior *self)
{
	const struct pile *pile = self->group->pile;
	double *rest = self->side, bound = 0, mean = 0, worst = 0;
	find_slope(self);
	memcpy(rest, self->slope, self->columns * sizeof *rest);
	for (uint32_t r = 0; r < self->row_count; r++) {
		double open = across(self, r, self->x) + self->gap[r];
		const struct pile_row *row = &pile->rows[self->rows[r].index];
		worst = scalar_max(worst, -open / pile->bodies[row->a].radius);
		self->off[r] = open - self->s[r];
		bound += self->price[r] * open;
		mean += self->price[r] * self->s[r];
		add_across(self, rest, r, -self->price[r]);
	}
	self->closing = bound;
	for (uint32_t c = 0; c < self->columns; c++) {
		bound += rest[c] * (self->x[c] - (rest[c] > 0 ? self->low[c] : self->high[c]));
		mean += self->z_low[c] * (self->x[c] - self->low[c]) +
			self->z_high[c] * (self->high[c] - self->x[c]);
	}
	self->bound = bound;
	self->violated = worst;
	self->mean = mean / (self->row_count + 2.0 * self->columns);
}

/* ---- half-spaces that turn ---------------------------------------------------------------------- */

/* Turns the half-space of a row to the place where the straight way to x comes nearest, if that opens it. */
static void turn_row(struct pile_interior *self, uint32_t r)
{
	const double *a = &self->x[(size_t)self->rows[r].a * AXES];
	const double *b = &self->x[(size_t)self->rows[r].b * AXES];
	vec3 from = self->from[r], way = vec3_make(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
	double square = vec3_length_squared(way), nearest;
	double part = square > 0 ? scalar_clamp(-vec3_dot(from, way) / square, 0, 1) : 0;
	vec3 normal = vec3_normalize_length(vec3_mul_add(from, way, part), &nearest);
	double gap = vec3_dot(normal, from) - self->apart[r];
	double more = gap + vec3_dot(normal, way) - (self->gap[r] + across(self, r, self->x));
	if (!(nearest > self->apart[r]) || !(gap >= 0) || !(more > 0))
		return;
	self->normal[r] = normal;
	self->gap[r] = gap;
	self->s[r] += more;
	self->turned[r] = true;
}

static void turn_rows(struct pile_interior *self)
{
	ASSERT(self->turns);
	for (uint32_t r = 0; r < self->row_count; r++)
		if (self->apart[r] > 0)
			turn_row(self, r);
}

/* Gives the pile's rows the half-spaces that the moves were found with. */
static void store_turned(const struct pile_interior *self)
{
	struct pile *pile = self->group->pile;
	for (uint32_t r = 0; r < self->row_count; r++) {
		struct pile_row *row = &pile->rows[self->rows[r].index];
		vec3 n = self->normal[r];
		if (!self->turned[r])
			continue;
		ASSERT(self->turns && self->gap[r] >= 0);
		row->normal = from_axes(pile, (const double[AXES]){ n.x, n.y, n.z });
		row->gap = self->gap[r];
	}
}

/* ---- a round ------------------------------------------------------------------------------------ */

static void factor_matrix(struct pile_interior *self)
{
	const struct pile *pile = self->group->pile;
	for (uint32_t c = 0; c < self->columns; c++)
		self->matrix.root[c] =
			1 / scalar_sqrt(self->z_low[c] / (self->x[c] - self->low[c]) +
					self->z_high[c] / (self->high[c] - self->x[c]));
	chol_panel_identity(&self->matrix.factor);
	for (uint32_t r = 0; r < self->row_count; r++) {
		double weight = self->price[r] / self->s[r];
		pile_matrix_add(&self->matrix, &self->rows[r],
				mat3_scale(mat3_outer(self->normal[r], self->normal[r]), weight));
	}
	mat3 turn = mat3_rows(pile->axes[0], pile->axes[1], pile->axes[2]);
	for (uint32_t t = 0; t < self->term_count; t++) {
		const struct pile_term *term = &pile->terms[self->terms[t].index];
		mat3 bend = pile_term_bend(pile, term, pile_term_way(pile, term));
		bend = mat3_mul(mat3_mul(turn, bend), mat3_transpose(turn));
		pile_matrix_add(&self->matrix, &self->terms[t],
				mat3_scale(bend, 1 / self->group->scale));
	}
	chol_panel_factor(&self->matrix.factor);
}

/* The step for a μ; second: with the products of the step before, which the linear equations leave out. */
static void find_step(struct pile_interior *self, double target, bool second)
{
	double *side = self->side;
	ASSERT(target >= 0 || !scalar_is_finite(target));
	for (uint32_t c = 0; c < self->columns; c++) {
		double below = self->x[c] - self->low[c], above = self->high[c] - self->x[c];
		double bend = second ? self->dx[c] : 0;
		double low = target - (second ? bend * self->dz_low[c] : 0);
		double high = target + (second ? bend * self->dz_high[c] : 0);
		side[c] = -self->slope[c] + low / below - high / above;
		/* What is left of the equations of the prices, less dx. */
		self->dz_low[c] = low / below - self->z_low[c];
		self->dz_high[c] = high / above - self->z_high[c];
	}
	for (uint32_t r = 0; r < self->row_count; r++) {
		double aim = target - (second ? self->ds[r] * self->dprice[r] : 0);
		self->dprice[r] = (aim - self->price[r] * self->off[r]) / self->s[r];
		add_across(self, side, r, self->dprice[r]);
	}
	pile_matrix_solve(&self->matrix, self->side);
	memcpy(self->dx, side, self->columns * sizeof *side);
	for (uint32_t c = 0; c < self->columns; c++) {
		double below = self->x[c] - self->low[c], above = self->high[c] - self->x[c];
		self->dz_low[c] -= self->z_low[c] * self->dx[c] / below;
		self->dz_high[c] += self->z_high[c] * self->dx[c] / above;
	}
	for (uint32_t r = 0; r < self->row_count; r++) {
		double closing = across(self, r, self->dx);
		self->ds[r] = closing + self->off[r];
		self->dprice[r] -= self->price[r] * (closing / self->s[r] + 1);
	}
}

static double shorter(double part, double from, double way)
{
	return way < 0 ? scalar_min(part, -from / way) : part;
}

/* The parts of the step to the nearest limit, of places and of prices. */
static void find_parts(const struct pile_interior *self, double *places, double *prices)
{
	double x = 1 / WAY, z = 1 / WAY;
	for (uint32_t c = 0; c < self->columns; c++) {
		x = shorter(x, self->x[c] - self->low[c], self->dx[c]);
		x = shorter(x, self->high[c] - self->x[c], -self->dx[c]);
		z = shorter(z, self->z_low[c], self->dz_low[c]);
		z = shorter(z, self->z_high[c], self->dz_high[c]);
	}
	for (uint32_t r = 0; r < self->row_count; r++) {
		x = shorter(x, self->s[r], self->ds[r]);
		z = shorter(z, self->price[r], self->dprice[r]);
	}
	bool bent = self->term_count > 0;
	*places = scalar_min(WAY * (bent ? scalar_min(x, z) : x), 1);
	*prices = scalar_min(WAY * (bent ? scalar_min(x, z) : z), 1);
}

/* μ after parts of the step. */
static double mean_after(const struct pile_interior *self, double p, double q)
{
	double sum = 0;
	for (uint32_t c = 0; c < self->columns; c++)
		sum += (self->x[c] + p * self->dx[c] - self->low[c]) *
			       (self->z_low[c] + q * self->dz_low[c]) +
		       (self->high[c] - self->x[c] - p * self->dx[c]) *
			       (self->z_high[c] + q * self->dz_high[c]);
	for (uint32_t r = 0; r < self->row_count; r++)
		sum += (self->s[r] + p * self->ds[r]) * (self->price[r] + q * self->dprice[r]);
	return sum / (self->row_count + 2.0 * self->columns);
}

static void take_step(struct pile_interior *self, double p, double q)
{
	for (uint32_t c = 0; c < self->columns; c++) {
		self->x[c] += p * self->dx[c];
		self->z_low[c] += q * self->dz_low[c];
		self->z_high[c] += q * self->dz_high[c];
	}
	for (uint32_t r = 0; r < self->row_count; r++) {
		self->s[r] += p * self->ds[r];
		self->price[r] += q * self->dprice[r];
	}
}

static void run_round(struct pile_interior *self)
{
	double p, q;
	factor_matrix(self);
	find_step(self, 0, false);
	find_parts(self, &p, &q);
	double part = mean_after(self, p, q) / self->mean;
	double target = self->mean * part * part * part;
	find_step(self, target, true);
	find_parts(self, &p, &q);
	take_step(self, p, q);
}

/* ---- the programme ----------------------------------------------------------------------------- */

static bool is_permitted(const struct pile_interior *self)
{
	return self->violated <= PERMITTED;
}

/* What counts as rest, of the unit of `bound`. */
static double rest_of(const struct pile_interior *self)
{
	const struct pile_group *group = self->group;
	return group->pile->rest * pile_measure_of(group) / group->scale;
}

static bool proves_rest(const struct pile_interior *self)
{
	return is_permitted(self) && self->gained + self->bound <= rest_of(self);
}

/* Whether rest is proved, or what is left is little beside what is gained. A gain counts from half of
 * the limit of rest on: one just below the limit could never be proved to be below it. */
static bool is_enough(const struct pile_interior *self)
{
	double left = self->term_count == 0 ? LEFT_LINEAR : LEFT;
	return proves_rest(self) || (is_permitted(self) && self->gained > 0.5 * rest_of(self) &&
				     self->bound <= left * self->gained);
}

/* Changes the prices as little as possible, in parts of each, so that they leave no force on a body. */
static void balance_prices(struct pile_interior *self)
{
	double *rest = self->side, *weight = self->ds;
	ASSERT(self->term_count == 0);
	memcpy(weight, self->price, self->row_count * sizeof *weight);
	for (uint32_t c = 0; c < self->columns; c++)
		self->matrix.root[c] = 1 / scalar_sqrt(BALANCE_LEAST);
	chol_panel_identity(&self->matrix.factor);
	for (uint32_t r = 0; r < self->row_count; r++)
		pile_matrix_add(
			&self->matrix, &self->rows[r],
			mat3_scale(mat3_outer(self->normal[r], self->normal[r]), weight[r]));
	chol_panel_factor(&self->matrix.factor);
	for (uint32_t turn = 0; turn < BALANCE_TURNS; turn++) {
		memcpy(rest, self->slope, self->columns * sizeof *rest);
		for (uint32_t r = 0; r < self->row_count; r++)
			add_across(self, rest, r, -self->price[r]);
		pile_matrix_solve(&self->matrix, self->side);
		for (uint32_t r = 0; r < self->row_count; r++)
			self->price[r] =
				scalar_max(self->price[r] + weight[r] * across(self, r, rest), 0);
	}
}

/* Where the rows that press are closed, but forces are left on bodies: rounds cannot take them away near the
 * end, because they divide by openings that are hardly more than rounding. Prices that do not prove rest
 * are taken back. */
static void try_balance(struct pile_interior *self)
{
	double *kept = self->dprice;
	ASSERT(self->row_count <= self->group->row_count);
	if (self->turns || self->term_count > 0 || !is_permitted(self) || proves_rest(self) ||
	    self->gained + self->closing > 0.5 * rest_of(self))
		return;
	memcpy(kept, self->price, self->row_count * sizeof *kept);
	balance_prices(self);
	self->group->pile->work += pile_matrix_work(&self->matrix);
	judge(self);
	if (proves_rest(self))
		return;
	memcpy(self->price, kept, self->row_count * sizeof *kept);
	judge(self);
}

/* Goes back to the beginning, and to its half-spaces, with the prices as they are. */
static void turn_back(struct pile_interior *self)
{
	const struct pile_group *group = self->group;
	ASSERT(self->turns);
	self->turns = false;
	self->best_bound = LP_INFINITY;
	pile_stop_bodies(group);
	begin_columns(self, BEGIN_AGAIN);
	for (uint32_t r = 0; r < self->row_count; r++) {
		const struct pile_row *row = &group->pile->rows[self->rows[r].index];
		self->normal[r] = into_axes(group->pile, row->normal);
		self->gap[r] = pile_gap_inside(group, row);
		self->turned[r] = false;
		self->apart[r] = 0;
	}
}

/* Begins again with the half-spaces of the beginning, unless the prices prove rest of them already. */
static void begin_again(struct pile_interior *self)
{
	turn_back(self);
	ASSERT(!self->turns && self->mean > 0);
	double mean = self->mean;
	judge(self);
	try_balance(self);
	if (proves_rest(self))
		return;
	self->mean = mean;
	for (uint32_t r = 0; r < self->row_count; r++)
		begin_row(self, r, self->price[r]);
	judge(self);
}

/* Keeps the permitted place with the least bound; one that is enough is the last. */
static void keep_best(struct pile_interior *self)
{
	if (!is_permitted(self) || (!(self->bound < self->best_bound) && !is_enough(self)))
		return;
	ASSERT(self->row_count <= self->group->row_count);
	self->best_bound = self->bound;
	self->best_gained = self->gained;
	self->best_rows = self->row_count;
	memcpy(self->best_x, self->x, self->columns * sizeof *self->x);
	memcpy(self->best_price, self->price, self->row_count * sizeof *self->price);
}

/* Goes back to it; without one, bodies stay. */
static void take_best(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	if (!(self->best_bound < LP_INFINITY)) {
		pile_stop_bodies(group);
		group->bound = LP_INFINITY;
		return;
	}
	memcpy(self->x, self->best_x, self->columns * sizeof *self->x);
	memset(self->price, 0, self->row_count * sizeof *self->price);
	memcpy(self->price, self->best_price, self->best_rows * sizeof *self->price);
	store_moves(self);
	group->bound = scalar_max(self->best_gained + self->best_bound, 0) * group->scale;
}

/* Bodies on which no force acts stay where they are if nothing pushes them: at equal energy the method would
 * lead them to the middle of what is permitted. Each pass lets go those that are in the way. */
static bool hold_idle(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	struct pile *pile = group->pile;
	bool *held = PILE_ALLOCATE(group, bool, self->bodies), blocked = true;
	ASSERT(group->base != NULL);
	if (held == NULL)
		return false;
	for (uint32_t i = 0; i < self->bodies; i++) {
		held[i] = !(pile->bodies[group->slots[i]].size > 0);
		if (held[i])
			pile->moves[group->slots[i]] = group->base[i];
	}
	while (blocked) {
		blocked = false;
		for (uint32_t r = 0; r < group->row_count; r++) {
			const struct pile_row *row = &pile->rows[group->rows[r]];
			double least = scalar_min(pile_gap_inside(group, row), 0);
			if (pile_gap_after(pile, row) >=
			    least - PERMITTED * pile->bodies[row->a].radius)
				continue;
			const uint32_t ends[2] = { inside(group, row->a), inside(group, row->b) };
			for (uint32_t end = 0; end < 2; end++) {
				if (ends[end] == NONE || !held[ends[end]])
					continue;
				held[ends[end]] = false;
				blocked = true;
				pile->moves[group->slots[ends[end]]] =
					from_axes(pile, &self->x[(size_t)ends[end] * AXES]);
			}
		}
	}
	return true;
}

/* Prices, and places for a start of the simplex method from there. */
static void store_rows(const struct pile_interior *self)
{
	struct pile_group *group = self->group;
	struct pile *pile = group->pile;
	for (uint32_t i = 0; i < self->bodies; i++) {
		uint8_t *places = pile->places[group->slots[i]];
		memset(places, LP_LOW, PILE_COLUMNS);
		memset(places, LP_BASIC, AXES);
	}
	for (uint32_t r = 0; r < self->row_count; r++) {
		struct pile_row *row = &pile->rows[self->rows[r].index];
		row->force = self->price[r] * group->scale;
		row->place = self->price[r] * self->least > self->s[r] ? LP_LOW : LP_BASIC;
		row->slack = LP_LOW;
	}
	store_turned(self);
}

/* Takes rows that are nearly closed. */
static void take_near_rows(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	const struct pile *pile = group->pile;
	uint32_t before = self->row_count;
	ASSERT(before <= group->row_count);
	store_moves(self);
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &pile->rows[group->rows[i]];
		if (!row->taken && pile_gap_after(pile, row) < JOINS * pile->bodies[row->a].radius)
			add_row(self, group->rows[i]);
	}
	group->taken += self->row_count - before;
}

/* The same in a later round. Whether the pattern has their blocks. */
static bool join_rows(struct pile_interior *self)
{
	uint32_t before = self->row_count;
	take_near_rows(self);
	return pile_matrix_find(&self->matrix, self->rows + before, self->row_count - before);
}

/* Whether the next round would exceed the work of the step, or the numbers have ended. */
static bool is_over(const struct pile_interior *self, uint32_t round)
{
	const struct pile *pile = self->group->pile;
	double most =
		PILE_WHOLE_WORK * pile->work_max * (self->best_bound < LP_INFINITY ? 1 : OVERTIME);
	return round >= ROUNDS_MAX || !scalar_is_finite(self->bound) || !(self->mean > 0) ||
	       (pile->work_max > 0 && pile->work + pile_matrix_work(&self->matrix) > most);
}

/* Tells where the programme stands before the next round, and keeps the best place. */
static void look(struct pile_interior *self, uint32_t round)
{
	if (self->turns && round > 0 && round < TURN_ROUNDS)
		turn_rows(self);
	judge(self);
	if (self->turns && proves_rest(self))
		begin_again(self);
	else
		try_balance(self);
	keep_best(self);
}

/* Rounds until it is good enough. NO_MEMORY. */
static enum status run_rounds(struct pile_interior *self)
{
	struct pile_group *group = self->group;
	struct pile *pile = group->pile;
	struct arena *arena = &pile->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(arena);
	uint32_t round = 0;
	take_near_rows(self);
	while (true) {
		if (round == 0 || !join_rows(self)) {
			arena_rewind(arena, mark);
			enum status status = make_pattern(self);
			if (status != STATUS_OK)
				return status;
		}
		group->too_large = round == 0 && pile->work_max > 0 &&
				   pile_matrix_work(&self->matrix) * ROUNDS_USUAL >
					   PILE_WHOLE_WORK * pile->work_max;
		look(self, round);
		if (group->too_large || is_enough(self) || is_over(self, round))
			break;
		run_round(self);
		pile->work += pile_matrix_work(&self->matrix);
		round++;
	}
	bool enough = is_enough(self);
	take_best(self);
	group->pivots += round;
	group->result = (struct solver_result){
		.status = enough			   ? SOLVER_SOLVED
			  : self->best_bound < LP_INFINITY ? SOLVER_STOPPED
							   : SOLVER_LIMIT,
		.rounds = round,
		.residual = scalar_min(self->best_bound * group->scale / pile_measure_of(group), 1),
	};
	return STATUS_OK;
}

enum status pile_solve_interior(struct pile_group *group)
{
	struct pile_interior self = {
		.group = group,
		.bodies = group->slot_count,
		.columns = group->slot_count * AXES,
		.best_bound = LP_INFINITY,
		.turns = group->term_count == 0,
	};
	ASSERT(!group->relaxing && !group->split);
	ASSERT(group->scale > 0);
	if (!list_terms(&self) || !allocate_vectors(&self))
		return STATUS_NO_MEMORY;
	begin_columns(&self, BEGIN);
	begin_rows(&self);
	enum status status = run_rounds(&self);
	if (status != STATUS_OK || group->too_large)
		return status;
	store_rows(&self);
	return hold_idle(&self) ? STATUS_OK : STATUS_NO_MEMORY;
}
