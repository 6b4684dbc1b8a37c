/* pile_potential.c: potentials of `pile` that are not linear (papers P-11 to P-16).
 *
 * Gravity, forces and a wind that is everywhere have linear potentials; a step needs no more of them than
 * the force. An attractor pulls towards its centre g with s w(r) r / L^(p + 1), where r is the distance from
 * g, L = √(r² + core²), p its power, s its strength, and w(r) the weight of its ball: 1, or 1 − r / R, and
 * 0 outside. Its potential E has dE/dL = s w(r) / L^p. That falls with L, so E is concave in L, and its
 * tangent in L at the beginning of the step lies above it:
 *
 *   E(L) − E(L₀) ≤ k (L − L₀),   k = s w(r₀) / L₀^p
 *
 * The right side is convex in the displacement, because L is, so a linear programme can find its least
 * value with tangents (pile_programme.c). The true energy falls at least as far, and both have the same
 * slope at the beginning, so a place of rest of one is one of the other. For power 0 everywhere they are the
 * same. For a ball this is the short-range force of papers P-15: outside it k is 0.
 *
 * The slope at the beginning is in the body's force. What remains is the excess over it, of x = x₀ + m:
 *
 *   k (L − L₀ − x₀·m / L₀) = k (m² − x₀·m (L − L₀) / L₀) / (L + L₀)
 *
 * which is 0 for m = 0 and loses no digits there. A wide core makes a spring of stiffness s / core.
 *
 * An attractor of negative strength, power 0, everywhere, has a concave potential: its tangent lies above it,
 * and no excess is needed. Others that push away fall off convexly, and are refused. So is what has no
 * potential: a whirl, a drag, and forces that end at the sides of a box or of a ball that they do not point
 * to.
 */
#include "server/engine/dynamics/body.h"
#include "server/engine/math/scalar.h"
#include "server/engine/methods/pile.h"
#include "server/engine/world/command.h"

/* ---- refusals ---------------------------------------------------------------------------------- */

static enum status refuse_field(struct reason *why, const char *field, const char *what)
{
	return pile_refuse(why, field, what,
			   "use a wind that is everywhere or an attractor that is everywhere or "
			   "in a ball");
}

static enum status check_properties(uint8_t kind, uint8_t region, uint32_t power, double strength,
				    struct reason *why)
{
	if (kind == FIELD_VORTEX)
		return refuse_field(why, "kind", "a vortex, because its force has no potential");
	if (kind == FIELD_DRAG)
		return refuse_field(why, "kind", "a drag, because nothing has a velocity");
	if (kind == FIELD_FLUID)
		return refuse_field(why, "kind", "a fluid");
	if (kind == FIELD_WIND && region != FIELD_EVERYWHERE)
		return refuse_field(why, "region",
				    "a wind that ends, because its force has no potential");
	if (kind == FIELD_ATTRACTOR && region == FIELD_BOX)
		return refuse_field(why, "region",
				    "an attractor in a box, because its force has no potential");
	if (kind == FIELD_MUTUAL && strength < 0)
		return refuse_field(why, "strength", "bodies that push each other away");
	if (kind == FIELD_ATTRACTOR && strength < 0 && (power > 0 || region != FIELD_EVERYWHERE))
		return refuse_field(why, "strength",
				    "an attractor that pushes away with a force that falls off: "
				    "with power 0 it may be everywhere");
	return STATUS_OK;
}

enum status pile_check_field(const struct field_table *table, uint32_t row, struct reason *why)
{
	ASSERT(row < table->count && table->id[row] != 0);
	return check_properties(table->kind[row], table->region[row], table->power[row],
				table->strength[row].x, why);
}

enum status pile_admit_field(const struct command *command, struct reason *why)
{
	ASSERT(command->op == COMMAND_FIELD_CREATE || command->op == COMMAND_FIELD_SET);
	const struct command_FIELD_CREATE *made = &command->field_create;
	const struct command_FIELD_SET *set = &command->field_set;
	if (command->op == COMMAND_FIELD_CREATE)
		return check_properties(made->kind, made->region, made->power, made->strength.x,
					why);
	return check_properties(set->kind, set->region, set->power, set->strength.x, why);
}

/* ---- terms ------------------------------------------------------------------------------------- */

/* False: the field does not pull on the body. */
static bool pull_of(const struct pile *self, uint32_t row, uint32_t slot, struct pile_pull *out)
{
	const struct tables *tables = self->step->dynamics->tables;
	const struct field_table *table = &tables->field;
	uint32_t body = self->bodies[slot].row;
	ASSERT(row < table->count && slot < self->step->body_count);
	if (table->id[row] == 0 || table->kind[row] != FIELD_ATTRACTOR ||
	    !(table->strength[row].x > 0) || !(tables->body.category[body] & table->mask[row]))
		return false;
	vec3 from = vec3_sub(dynamics_centre(tables, body), table->position[row]);
	double core = table->core[row], square = vec3_length_squared(from);
	double length = scalar_sqrt(square + core * core);
	double k = table->strength[row].x;
	if (table->region[row] == FIELD_BALL) {
		double part = scalar_sqrt(square) / table->half[row].x;
		if (part > 1)
			return false;
		k *= table->falloff[row] == FIELD_CONSTANT ? 1 : 1 - part;
	}
	if (table->flags[row] & FIELD_PER_MASS)
		k *= tables->body.mass[body];
	for (uint32_t i = 0; i < table->power[row]; i++)
		k /= length;
	*out = (struct pile_pull){ k, from, length, core };
	return k > 0;
}

enum status pile_make_terms(struct pile *self)
{
	const struct dynamics *dynamics = self->step->dynamics;
	uint32_t fields = dynamics->tables->field.count, springs = pile_spring_count(self);
	enum status status = pile_find_pairs(self);
	if (status != STATUS_OK)
		return status;
	self->term_count = 0;
	self->terms = ARENA_ARRAY(&self->step->dynamics->scratch, struct pile_term,
				  springs + self->room->pairs.count +
					  (fields > 0 ? self->step->body_count : 0));
	if (self->terms == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t slot = 0; fields > 0 && slot < self->step->body_count; slot++) {
		struct pile_body *body = &self->bodies[slot];
		double size = 0;
		vec3 steady = body->force;
		for (uint32_t row = 0; row < fields; row++) {
			struct pile_pull pull;
			if (!pull_of(self, row, slot, &pull))
				continue;
			size += pull.k;
			steady = vec3_mul_add(steady, pull.from, pull.k / pull.length);
		}
		if (!(size > 0))
			continue;
		body->size = size + vec3_length(steady);
		body->bent = true;
		self->terms[self->term_count++] = (struct pile_term){ .kind = PILE_TERM_FIELDS,
								      .a = slot,
								      .b = PILE_STATIC,
								      .joint = PILE_NO_JOINT };
	}
	ASSERT(self->term_count <= self->step->body_count);
	pile_make_springs(self);
	pile_make_pairs(self);
	return STATUS_OK;
}

vec3 pile_term_way(const struct pile *self, const struct pile_term *term)
{
	ASSERT(term->a < self->step->body_count);
	vec3 way = self->moves[term->a];
	return term->b == PILE_STATIC ? way : vec3_sub(way, self->moves[term->b]);
}

double pile_pull_excess(const struct pile_pull *self, vec3 way, vec3 *slope)
{
	double along = vec3_dot(self->from, way), square = vec3_length_squared(way);
	vec3 to = vec3_add(self->from, way);
	double length = scalar_sqrt(vec3_length_squared(to) + self->core * self->core);
	double sum = length + self->length, grown = (2 * along + square) / sum;
	/* x / L − x₀ / L₀ */
	vec3 turn = vec3_mul_sub(way, self->from, grown / self->length);
	ASSERT(self->k > 0 && self->length > 0);
	*slope = vec3_scale(turn, self->k / length);
	return self->k * scalar_max(square - along * grown / self->length, 0) / sum;
}

/* Of k L: (1 − x xᵀ / L²) k / L. */
mat3 pile_pull_bend(const struct pile_pull *self, vec3 way)
{
	vec3 to = vec3_add(self->from, way);
	double square = vec3_length_squared(to) + self->core * self->core;
	ASSERT(square > 0);
	mat3 along = mat3_scale(mat3_outer(to, to), 1 / square);
	return mat3_scale(mat3_sub(mat3_identity(), along), self->k / scalar_sqrt(square));
}

/* Of the attractors on a body. */
static double attractors_excess(const struct pile *self, const struct pile_term *term, vec3 move,
				vec3 *slope)
{
	uint32_t fields = self->step->dynamics->tables->field.count;
	double excess = 0;
	ASSERT(term->a < self->step->body_count);
	*slope = vec3_zero();
	for (uint32_t row = 0; row < fields; row++) {
		struct pile_pull pull;
		vec3 one;
		if (!pull_of(self, row, term->a, &pull))
			continue;
		excess += pile_pull_excess(&pull, move, &one);
		*slope = vec3_add(*slope, one);
	}
	ASSERT(excess >= 0);
	return excess;
}

double pile_term_excess(const struct pile *self, const struct pile_term *term, vec3 way,
			vec3 *slope)
{
	switch (term->kind) {
	case PILE_TERM_SPRING:
		return pile_spring_excess(&term->spring, way, slope);
	case PILE_TERM_PAIR:
		return pile_pull_excess(&term->pull, way, slope);
	default:
		return attractors_excess(self, term, way, slope);
	}
}

static mat3 attractors_bend(const struct pile *self, const struct pile_term *term, vec3 move)
{
	uint32_t fields = self->step->dynamics->tables->field.count;
	mat3 sum = mat3_zero();
	for (uint32_t row = 0; row < fields; row++) {
		struct pile_pull pull;
		if (pull_of(self, row, term->a, &pull))
			sum = mat3_add(sum, pile_pull_bend(&pull, move));
	}
	return sum;
}

mat3 pile_term_bend(const struct pile *self, const struct pile_term *term, vec3 way)
{
	switch (term->kind) {
	case PILE_TERM_SPRING:
		return pile_spring_bend(&term->spring, way);
	case PILE_TERM_PAIR:
		return pile_pull_bend(&term->pull, way);
	default:
		return attractors_bend(self, term, way);
	}
}
