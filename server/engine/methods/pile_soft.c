/* pile_soft.c: heaps come to rest with contacts that push before they touch.
 *
 * Two spheres with a gap g below a range c push each other apart with the force
 *
 *   λ = μ (1 − g/c)² / g
 *
 * which is without bounds at contact and 0 from the range on. At a large μ a heap is soft: bodies find places
 * among each other with gaps of a few hundredths of a radius between them, across which they may turn around
 * each other in straight ways. μ is halved each time that the forces nearly balance, in the sum and later on
 * each body, so the gaps close, all together and slowly, until the programmes of hard contacts
 * (pile_interior.c) take over, which have little left to do. With hard contacts alone the gaps close at once,
 * and a heap creeps: each step then closes what the turning of normals opened in the one before.
 *
 * A round is a Newton step of the primal-dual equations
 *
 *   f + Σ λ n = 0,    λ s = μ (1 − g/c)²,    s = g(d)
 *
 * at the present normals, without the bend of g, and with a damping κ:
 *
 *   (κ + Nᵀ (λ/s) N) δd = f + Nᵀ (μ (1 − g/c)² / s − λ (g − s)/s)
 *
 * s differs from g only of contacts that are closed at the beginning, until they have opened. A round
 * goes a part of the way, so that no gap loses more than CLOSES of itself; where that part is small κ
 * grows, where it is nearly the whole κ shrinks. A tick is as many rounds as there are straight ways
 * from its beginning, in which no two bodies overlap, and as the cubes and the work of a step permit.
 * Its last round is shortened to fit.
 *
 * The energy on the way falls, because μ does; a tick in which it would grow, as where closed contacts
 * have to open first, leaves bodies where they are, at half of μ. So the softness ends after so many
 * ticks, and rest is proved by the programmes of hard contacts alone. What touches already, as a heap
 * that is woken, stays with hard contacts, until a step of them gains much.
 */
#include "server/engine/math/mat3.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile_matrix.h"

#include <string.h>

enum { AXES = 3, ROUNDS_MAX = 16, SHORTER_MAX = 6 };
/* Of the smaller radius: the range of a contact's force. Larger: larger factors; smaller: more rounds. */
#define RANGE 0.3
/* Of a gap: what a round may close. */
#define CLOSES 0.9
/* The same of a price. */
#define PRICE_LOSES 0.95
/* Of the force of μ alone: between what parts and times of it a price stays. */
#define CENTRAL 1e-2
/* Of the gap at which a contact pushes with the largest force of the group: what a closed one begins with. */
#define LEAST 1e-3
/* Of the sum of forces: μ is halved where no more is left, at first and later. Larger: fewer rounds, and more
 * steps of hard contacts at the end, because what gives way then does so at small gaps, in small moves. */
#define BALANCED_FIRST 0.1
#define BALANCED 3e-3
/* Of the forces on a body: from so many halvings on no body may have more left. The mean of many bodies
 * tells nothing of the few that still give way, and what they push would creep under hard contacts. Larger:
 * large heaps creep longer; from fewer halvings on: large heaps hardly get on, because some body gives way
 * always. */
#define BALANCED_EACH 0.1
enum { EACH_FROM = 3 };
/* Of the largest force of the group: bodies with less are left out of that, because heavy ones push light
 * ones to and fro with many times their weight. */
#define LIGHT 1e-2
/* Of the way: a round that went less says nothing of the balance; κ grows below LITTLE and shrinks above
 * MUCH. */
#define HALF 0.5
#define LITTLE 0.3
#define MUCH 0.8
/* Of force times radius: a tick that gains less is the last with its μ. */
#define GAIN_LEAST 1e-7
/* Zones of the heaps that are soft; fewer bodies come to rest as well with hard contacts. */
enum { BODIES_MIN = 16 };
/* Of the radius: bodies that are closer touch. A heap that rests, or is woken, stays as it is. */
#define TOUCHING 1e-6
/* Of force times radius: what a step with hard contacts gains at least where bodies fall, so that contacts
 * may be soft again. */
#define BEGINS 0.25
/* κ = force / radius × DAMPING_BASE^(damping − DAMPING_ONE). */
enum { DAMPING_LEAST = 1, DAMPING_ONE = 8 };
#define DAMPING_BASE 4.0

struct pile_soft {
	struct pile_group *group;
	uint32_t bodies;
	struct pile_matrix matrix;
	struct pile_link *links; /* of rows that push, in the order of the group's rows */
	uint32_t link_count;
	/* By bodies. */
	vec3 *x, *dx, *kept; /* m: moves; of the round; the last that are permitted */
	double *side;	     /* N, then m: 3 a body */
	/* By rows of the group. */
	vec3 *from;	      /* m: from b to a at the beginning */
	vec3 *normal;	      /* unit, now */
	double *apart;	      /* m: the least distance of a and b; 0: a half-space */
	double *range, *open; /* m: of the force; the gap now */
	double *s, *price;    /* m, N; s = 0: it does not push */
	double *ds, *dprice;
	double radius; /* m: the mean */
	double mean;   /* J: μ */
	double rest;   /* 1: the mean of the forces left, of the mean force */
	double worst;  /* 1: the most that is left on a body that is not light, of its force */
	bool opening;  /* closed contacts have not opened yet */
};

static bool is_fresh(const struct pile_softness *self)
{
	return self->level == 0 && self->damping == 0;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static uint32_t index_of_slot(const struct pile_soft *self, uint32_t slot)
{
	return slot == PILE_STATIC ? PILE_STATIC : self->group->place_of[slot];
}

static const struct pile_row *row_of(const struct pile_soft *self, uint32_t r)
{
	ASSERT(r < self->group->row_count);
	return &self->group->pile->rows[self->group->rows[r]];
}

/* v of a less that of b. */
static vec3 way_across(const struct pile_soft *self, uint32_t r, const vec3 *v)
{
	const struct pile_row *row = row_of(self, r);
	vec3 way = v[index_of_slot(self, row->a)];
	return row->b == PILE_STATIC ? way : vec3_sub(way, v[index_of_slot(self, row->b)]);
}

static bool allocate_soft(struct pile_soft *self)
{
	struct pile_group *group = self->group;
	vec3 **bodies[] = { &self->x, &self->dx, &self->kept };
	double **rows[] = { &self->apart, &self->range, &self->open,  &self->s,
			    &self->price, &self->ds,	&self->dprice };
	bool good = true;
	for (uint32_t i = 0; i < COUNT_OF(bodies); i++) {
		*bodies[i] = PILE_ALLOCATE(group, vec3, self->bodies);
		good = good && *bodies[i] != NULL;
	}
	for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
		*rows[i] = PILE_ALLOCATE(group, double, group->row_count);
		good = good && *rows[i] != NULL;
	}
	self->side = PILE_ALLOCATE(group, double, AXES *(size_t)self->bodies);
	self->from = PILE_ALLOCATE(group, vec3, group->row_count);
	self->normal = PILE_ALLOCATE(group, vec3, group->row_count);
	self->links = PILE_ALLOCATE(group, struct pile_link, group->row_count);
	return good && self->side != NULL && self->from != NULL && self->normal != NULL &&
	       self->links != NULL && pile_matrix_begin(&self->matrix, group);
}

static void begin_soft(struct pile_soft *self)
{
	struct pile_group *group = self->group;
	const struct pile_body *bodies = group->pile->bodies;
	double sum = 0;
	for (uint32_t i = 0; i < self->bodies; i++) {
		self->x[i] = self->kept[i] = vec3_zero();
		sum += bodies[group->slots[i]].radius;
	}
	ASSERT(self->bodies > 0);
	self->radius = sum / self->bodies;
	for (uint32_t r = 0; r < group->row_count; r++) {
		const struct pile_row *row = row_of(self, r);
		double radius = bodies[row->a].radius;
		bool pair = row->b != PILE_STATIC;
		self->apart[r] = pair ? radius + bodies[row->b].radius : 0;
		self->from[r] = vec3_scale(row->normal, self->apart[r] + row->gap);
		self->range[r] =
			RANGE * (pair ? scalar_min(radius, bodies[row->b].radius) : radius);
		self->s[r] = 0;
	}
}

static void set_mean(struct pile_soft *self)
{
	const struct pile_group *group = self->group;
	self->mean = group->pile->soft * group->scale * self->radius;
	for (uint32_t level = 0; level < group->softness.level; level++)
		self->mean *= 0.5;
}

/* N: the force of μ alone at a gap. */
static double push_of(const struct pile_soft *self, uint32_t r, double gap)
{
	double part = 1 - gap / self->range[r];
	ASSERT(gap > 0);
	return part > 0 ? self->mean * part * part / gap : 0;
}

static double gap_of(const struct pile_soft *self, uint32_t r, const vec3 *x, vec3 *normal)
{
	const struct pile_row *row = row_of(self, r);
	double length;
	*normal = row->normal;
	if (self->apart[r] == 0)
		return row->gap + vec3_dot(row->normal, way_across(self, r, x));
	*normal = vec3_normalize_length(vec3_add(self->from[r], way_across(self, r, x)), &length);
	return length - self->apart[r];
}

/* Normals and gaps where bodies are now, and which rows push. */
static void look_at_rows(struct pile_soft *self)
{
	double least = LEAST * self->mean / self->group->scale;
	self->link_count = 0;
	self->opening = false;
	for (uint32_t r = 0; r < self->group->row_count; r++) {
		const struct pile_row *row = row_of(self, r);
		double gap = self->open[r] = gap_of(self, r, self->x, &self->normal[r]);
		if (gap >= self->range[r]) {
			self->s[r] = 0;
			continue;
		}
		bool known = self->s[r] > 0;
		if (!known || gap >= scalar_min(self->s[r], least))
			self->s[r] = scalar_max(gap, known ? 0 : scalar_min(least, self->range[r]));
		self->opening = self->opening || self->s[r] > gap;
		double push = push_of(self, r, self->s[r]);
		self->price[r] =
			known ? scalar_clamp(self->price[r], CENTRAL * push, push / CENTRAL) : push;
		self->links[self->link_count++] =
			(struct pile_link){ .index = r,
					    .a = index_of_slot(self, row->a),
					    .b = index_of_slot(self, row->b) };
	}
}

/* ---- a round ------------------------------------------------------------------------------------ */

static void add_force(double *to, uint32_t body, vec3 v, double by)
{
	if (body == PILE_STATIC)
		return;
	to[(size_t)body * AXES] += by * v.x;
	to[(size_t)body * AXES + 1] += by * v.y;
	to[(size_t)body * AXES + 2] += by * v.z;
}

/* side := forces of bodies, and of links with these prices. */
static void sum_forces(struct pile_soft *self, const double *price)
{
	const struct pile_group *group = self->group;
	for (uint32_t i = 0; i < self->bodies; i++) {
		vec3 f = group->pile->bodies[group->slots[i]].force;
		memcpy(&self->side[(size_t)i * AXES], (const double[]){ f.x, f.y, f.z },
		       AXES * sizeof(double));
	}
	for (uint32_t l = 0; l < self->link_count; l++) {
		const struct pile_link *link = &self->links[l];
		add_force(self->side, link->a, self->normal[link->index], price[link->index]);
		add_force(self->side, link->b, self->normal[link->index], -price[link->index]);
	}
}

/* Finds what is left of the forces, and of what can be gained from here. */
static void judge_forces(struct pile_soft *self)
{
	struct pile_group *group = self->group;
	double left = 0, all = 0, bound = 0, worst = 0;
	sum_forces(self, self->price);
	for (uint32_t i = 0; i < self->bodies; i++) {
		const struct pile_body *body = &group->pile->bodies[group->slots[i]];
		const double *f = &self->side[(size_t)i * AXES];
		double rest = vec3_length(vec3_make(f[0], f[1], f[2]));
		left += rest;
		if (body->size > LIGHT * group->scale)
			worst = scalar_max(worst, rest / body->size);
		all += body->size;
		bound += rest * body->farthest;
	}
	for (uint32_t l = 0; l < self->link_count; l++)
		bound += self->price[self->links[l].index] *
			 scalar_max(self->open[self->links[l].index], 0);
	ASSERT(all > 0);
	self->rest = left / all;
	self->worst = worst;
	group->bound = bound;
}

static double damping_of(const struct pile_soft *self)
{
	double damping = self->group->scale / self->radius;
	int32_t power = (int32_t)self->group->softness.damping - DAMPING_ONE;
	for (; power > 0; power--)
		damping *= DAMPING_BASE;
	for (; power < 0; power++)
		damping /= DAMPING_BASE;
	return damping;
}

/* The Newton step. NO_MEMORY. */
static enum status find_step(struct pile_soft *self)
{
	struct pile_group *group = self->group;
	enum status status =
		pile_matrix_analyse(&self->matrix, group, self->links, self->link_count);
	if (status != STATUS_OK)
		return status;
	bool all = pile_matrix_find(&self->matrix, self->links, self->link_count);
	ASSERT(all);
	double root = 1 / scalar_sqrt(damping_of(self));
	for (uint32_t c = 0; c < AXES * self->bodies; c++)
		self->matrix.root[c] = root;
	chol_panel_identity(&self->matrix.factor);
	for (uint32_t l = 0; l < self->link_count; l++) {
		uint32_t r = self->links[l].index;
		double stiffness = self->price[r] / self->s[r];
		pile_matrix_add(
			&self->matrix, &self->links[l],
			mat3_scale(mat3_outer(self->normal[r], self->normal[r]), stiffness));
		self->dprice[r] =
			push_of(self, r, self->s[r]) - stiffness * (self->open[r] - self->s[r]);
	}
	chol_panel_factor(&self->matrix.factor);
	group->pile->work += pile_matrix_work(&self->matrix);
	sum_forces(self, self->dprice);
	pile_matrix_solve(&self->matrix, self->side);
	for (uint32_t i = 0; i < self->bodies; i++) {
		const double *to = &self->side[(size_t)i * AXES];
		self->dx[i] = vec3_make(to[0], to[1], to[2]);
	}
	for (uint32_t l = 0; l < self->link_count; l++) {
		uint32_t r = self->links[l].index;
		double closing = vec3_dot(self->normal[r], way_across(self, r, self->dx));
		self->ds[r] = closing + self->open[r] - self->s[r];
		self->dprice[r] -= self->price[r] * (closing / self->s[r] + 1);
	}
	return STATUS_OK;
}

/* The part of the round's way at which the gap of a row has lost CLOSES of itself. */
static double part_of_row(const struct pile_soft *self, uint32_t r, double most)
{
	vec3 way = way_across(self, r, self->dx);
	if (self->s[r] > self->open[r])
		return self->ds[r] < 0 ? scalar_min(most, CLOSES * self->s[r] / -self->ds[r])
				       : most;
	if (self->apart[r] == 0) {
		double closing = -vec3_dot(self->normal[r], way);
		return closing > 0 ? scalar_min(most, CLOSES * self->open[r] / closing) : most;
	}
	double length = self->apart[r] + self->open[r];
	double least = self->apart[r] + (1 - CLOSES) * self->open[r];
	double along = length * vec3_dot(self->normal[r], way), square = vec3_length_squared(way);
	double turn = along * along - square * (length * length - least * least);
	if (!(along < 0) || !(turn > 0))
		return most;
	return scalar_min(most, (-along - scalar_sqrt(turn)) / square);
}

/* The part of the way at which a body is at a side of its cube. */
static double part_of_body(const struct pile_soft *self, uint32_t i, double most)
{
	const struct pile *pile = self->group->pile;
	const struct pile_body *body = &pile->bodies[self->group->slots[i]];
	for (uint32_t k = 0; k < AXES; k++) {
		double way = vec3_dot(pile->axes[k], self->dx[i]);
		double at = vec3_dot(pile->axes[k], self->x[i]);
		double end = way > 0 ? (pile->leads_down[k] ? body->ahead : body->reach) - at
				     : body->reach + at;
		if (scalar_abs(way) * most > end)
			most = scalar_max(end, 0) / scalar_abs(way);
	}
	return most;
}

/* Goes as far as the rows permit; how far. *ended: a body is at the side of its cube. */
static double take_step(struct pile_soft *self, bool *ended)
{
	double part = 1, prices = 1;
	for (uint32_t r = 0; r < self->group->row_count; r++)
		part = part_of_row(self, r, part);
	double most = part;
	for (uint32_t i = 0; i < self->bodies; i++)
		part = part_of_body(self, i, part);
	*ended = part < most;
	for (uint32_t l = 0; l < self->link_count; l++) {
		uint32_t r = self->links[l].index;
		if (self->dprice[r] < 0)
			prices =
				scalar_min(prices, PRICE_LOSES * self->price[r] / -self->dprice[r]);
	}
	ASSERT(part >= 0 && part <= 1 && prices > 0);
	for (uint32_t i = 0; i < self->bodies; i++)
		self->x[i] = vec3_mul_add(self->x[i], self->dx[i], part);
	for (uint32_t l = 0; l < self->link_count; l++) {
		uint32_t r = self->links[l].index;
		self->s[r] += part * self->ds[r];
		self->price[r] += prices * self->dprice[r];
	}
	return part;
}

/* ---- the way of a tick --------------------------------------------------------------------------- */

/* The place where a straight way comes nearest: the vector from b to a. */
static vec3 nearest_of(const struct pile_soft *self, uint32_t r, const vec3 *x)
{
	vec3 way = way_across(self, r, x);
	double square = vec3_length_squared(way);
	double part = square > 0 ? scalar_clamp(-vec3_dot(self->from[r], way) / square, 0, 1) : 0;
	return vec3_mul_add(self->from[r], way, part);
}

/* Whether no row is violated on the straight way from the beginning. */
static bool is_free(const struct pile_soft *self)
{
	for (uint32_t r = 0; r < self->group->row_count; r++) {
		double least = scalar_min(row_of(self, r)->gap, 0);
		vec3 normal;
		if (self->apart[r] > 0) {
			double most = self->apart[r] + least;
			if (vec3_length_squared(nearest_of(self, r, self->x)) < most * most)
				return false;
		} else if (gap_of(self, r, self->x, &normal) < least) {
			return false;
		}
	}
	return true;
}

/* Keeps the places if the way to them is free; else shortens the last round until it is. Whether the
 * tick goes on. */
static bool keep_places(struct pile_soft *self, double part)
{
	bool goes_on = true;
	ASSERT(part >= 0);
	for (uint32_t times = 0; times <= SHORTER_MAX; times++) {
		if (is_free(self)) {
			memcpy(self->kept, self->x, self->bodies * sizeof *self->x);
			return goes_on;
		}
		part *= 0.5;
		for (uint32_t i = 0; i < self->bodies; i++)
			self->x[i] = vec3_mul_sub(self->x[i], self->dx[i], part);
		goes_on = false;
	}
	return false;
}

/* Gives the pile's rows half-spaces with the whole way inside, and the forces. */
static void store_rows(const struct pile_soft *self)
{
	const struct pile_group *group = self->group;
	struct pile *pile = group->pile;
	for (uint32_t i = 0; i < self->bodies; i++) {
		pile->moves[group->slots[i]] = self->kept[i];
		memset(pile->places[group->slots[i]], LP_LOW, PILE_COLUMNS);
		memset(pile->places[group->slots[i]], LP_BASIC, AXES);
	}
	for (uint32_t r = 0; r < group->row_count; r++) {
		struct pile_row *row = &pile->rows[group->rows[r]];
		row->taken = self->s[r] > 0;
		row->force = row->taken ? self->price[r] : 0;
		row->place = LP_BASIC;
		row->slack = LP_LOW;
		if (self->apart[r] == 0)
			continue;
		double length;
		vec3 normal = vec3_normalize_length(nearest_of(self, r, self->kept), &length);
		if (length < self->apart[r])
			continue;
		row->normal = normal;
		row->gap = vec3_dot(normal, self->from[r]) - self->apart[r];
	}
}

/* ---- the programme ----------------------------------------------------------------------------- */

/* Chooses μ and κ for the next round. */
static void adapt(struct pile_soft *self, double part)
{
	struct pile_softness *soft = &self->group->softness;
	double most = soft->level == 0 ? BALANCED_FIRST : BALANCED;
	bool balanced =
		self->rest < most && (soft->level < EACH_FROM || self->worst < BALANCED_EACH);
	if (part > HALF && balanced && soft->level < PILE_SOFT_LEVELS) {
		soft->level++;
		set_mean(self);
	}
	if (part < LITTLE && soft->damping < PILE_DAMPING_MAX)
		soft->damping++;
	else if (part > MUCH && soft->damping > DAMPING_LEAST)
		soft->damping--;
}

/* Rounds until the tick ends. NO_MEMORY. */
static enum status run_rounds(struct pile_soft *self)
{
	struct pile_group *group = self->group;
	struct pile *pile = group->pile;
	struct arena *arena = &pile->step->dynamics->scratch;
	double most = PILE_WHOLE_WORK * pile->work_max;
	bool goes_on = true, ended = false;
	look_at_rows(self);
	for (uint32_t round = 0; round < ROUNDS_MAX && goes_on && !ended; round++) {
		struct arena_mark mark = arena_mark(arena);
		judge_forces(self);
		enum status status = find_step(self);
		arena_rewind(arena, mark);
		if (status != STATUS_OK)
			return status;
		double part = take_step(self, &ended);
		group->pivots++;
		look_at_rows(self);
		if (!self->opening)
			goes_on = keep_places(self, part);
		adapt(self, part);
		goes_on = goes_on && group->softness.level < PILE_SOFT_LEVELS &&
			  !(pile->work_max > 0 &&
			    pile->work + pile_matrix_work(&self->matrix) > most);
	}
	return STATUS_OK;
}

enum status pile_solve_soft(struct pile_group *group)
{
	struct pile_soft self = { .group = group, .bodies = group->slot_count };
	double slope;
	ASSERT(!group->relaxing && group->term_count == 0 && group->scale > 0);
	if (!allocate_soft(&self))
		return STATUS_NO_MEMORY;
	if (is_fresh(&group->softness))
		group->softness.damping = DAMPING_ONE;
	begin_soft(&self);
	set_mean(&self);
	enum status status = run_rounds(&self);
	if (status != STATUS_OK)
		return status;
	store_rows(&self);
	double measure = pile_measure_of(group);
	if (pile_drop_at(group, 1, &slope) < GAIN_LEAST * measure &&
	    group->softness.level < PILE_SOFT_LEVELS)
		group->softness.level++;
	group->result = (struct solver_result){
		.status = SOLVER_STOPPED,
		.rounds = group->pivots,
		.residual = scalar_min(group->bound / measure, 1),
	};
	return STATUS_OK;
}

/* ---- when contacts are soft --------------------------------------------------------------------- */

/* Whether contacts may be soft: of many spheres that forces alone move. */
static bool can_be_soft(const struct pile_group *group)
{
	const struct pile *self = group->pile;
	bool can = self->soft > 0 && self->conservative == 0 && self->pivots_max == 0 &&
		   self->term_count == 0 && group->slot_count / BODIES_MIN >= self->zone_max;
	for (uint32_t i = 0; can && i < group->slot_count; i++) {
		const struct pile_body *body = &self->bodies[group->slots[i]];
		can = body->round && body->size > 0;
	}
	for (uint32_t i = 0; can && i < group->row_count; i++)
		can = !pile_overlaps(group, &self->rows[group->rows[i]]);
	return can;
}

/* *fresh: there are bodies that were not soft before; *touch: more than half of them touch something.
 * NO_MEMORY. */
static enum status judge_fresh(const struct pile_group *group, bool *fresh, bool *touch)
{
	const struct pile *self = group->pile;
	uint32_t count = self->step->body_count, all = 0, closed = 0;
	struct arena *arena = &self->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(arena);
	bool *touches = PILE_ALLOCATE(group, bool, count);
	if (touches == NULL)
		return STATUS_NO_MEMORY;
	memset(touches, 0, count * sizeof *touches);
	for (uint32_t i = 0; i < group->row_count; i++) {
		const struct pile_row *row = &self->rows[group->rows[i]];
		if (row->gap > TOUCHING * self->bodies[row->a].radius)
			continue;
		touches[row->a] = true;
		if (row->b != PILE_STATIC)
			touches[row->b] = true;
	}
	for (uint32_t i = 0; i < group->slot_count; i++) {
		uint32_t slot = group->slots[i];
		if (!is_fresh(&self->bodies[slot].softness))
			continue;
		all++;
		closed += touches[slot];
	}
	arena_rewind(arena, mark);
	*fresh = all > 0;
	*touch = 2 * closed > all;
	return STATUS_OK;
}

enum status pile_is_soft(struct pile_group *group, bool *soft)
{
	const struct pile *self = group->pile;
	bool fresh = false, touch = false;
	enum status status = STATUS_OK;
	group->softness = (struct pile_softness){ 0 };
	for (uint32_t i = 0; i < group->slot_count; i++) {
		const struct pile_softness *its = &self->bodies[group->slots[i]].softness;
		if (i == 0 || its->level > group->softness.level)
			group->softness = *its;
	}
	*soft = can_be_soft(group) && group->softness.level < PILE_SOFT_LEVELS;
	if (*soft)
		status = judge_fresh(group, &fresh, &touch);
	*soft = *soft && !(fresh && touch);
	return status;
}

void pile_begin_softness(const struct pile_group *group)
{
	struct pile_softness softness = group->softness;
	if (!(group->drop > BEGINS * pile_measure_of(group)) || !can_be_soft(group))
		return;
	if (softness.level == PILE_SOFT_LEVELS || is_fresh(&softness))
		softness = (struct pile_softness){ .level = 0, .damping = DAMPING_ONE };
	for (uint32_t i = 0; i < group->slot_count; i++)
		group->pile->bodies[group->slots[i]].softness = softness;
}
