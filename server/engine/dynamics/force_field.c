/* See force_field.h. */
#include "server/engine/dynamics/force_field.h"

#include "server/engine/math/sym3.h"

/* ---- the table ----------------------------------------------------------------------------- */

enum status dynamics_field_reserve(struct dynamics *self, uint32_t fields)
{
	enum status status =
		tables_reserve(self->tables, TABLE_FIELD, self->tables->field.count + fields);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->field_used, self->tables->field.capacity);
	return status;
}

uint32_t dynamics_field_take(struct dynamics *self)
{
	return tables_take_row(self->tables, TABLE_FIELD, &self->field_used);
}

void dynamics_field_free(struct dynamics *self, uint32_t row)
{
	tables_free_row(self->tables, TABLE_FIELD, row, &self->field_used, NULL);
}

uint32_t dynamics_find_field(const struct dynamics *self, field_id id)
{
	const struct field_table *table = &self->tables->field;
	for (uint32_t row = 0; row < table->count && id != 0; row++)
		if (table->id[row] == id)
			return row;
	return DYNAMICS_NONE;
}

/* ---- the region ---------------------------------------------------------------------------- */

/* 1 − |x| / half: of one axis, or of the radius. */
static double linear_weight(double x, double half)
{
	return 1 - scalar_abs(x) / half;
}

static vec3 linear_weights(vec3 d, vec3 half)
{
	return vec3_make(linear_weight(d.x, half.x), linear_weight(d.y, half.y),
			 linear_weight(d.z, half.z));
}

/* The weight of each component at d, in the field's axes; false outside the region. In a planar world
 * a box has no extent along z. */
static bool weights_at(const struct field_table *table, uint32_t row, vec3 d, bool planar,
		       vec3 *weights)
{
	vec3 half = table->half[row];
	*weights = vec3_all(1);
	if (table->region[row] == FIELD_EVERYWHERE)
		return true;
	if (table->region[row] == FIELD_BALL) {
		double distance = vec3_length(d);
		if (table->falloff[row] != FIELD_CONSTANT)
			*weights = vec3_all(linear_weight(distance, half.x));
		return distance <= half.x;
	}
	if (scalar_abs(d.x) > half.x || scalar_abs(d.y) > half.y ||
	    (scalar_abs(d.z) > half.z && !planar))
		return false;
	if (table->falloff[row] == FIELD_CONSTANT)
		return true;
	*weights = linear_weights(d, half);
	if (planar)
		weights->z = 1;
	if (table->falloff[row] == FIELD_LINEAR)
		*weights = vec3_all(weights->x * weights->y * weights->z);
	return true;
}

static vec3 in_field_axes(const struct field_table *table, uint32_t row, vec3 centre)
{
	return quat_rotate_inverse(table->rotation[row], vec3_sub(centre, table->position[row]));
}

void dynamics_field_wake(struct dynamics *self, uint32_t row)
{
	const struct tables *tables = self->tables;
	bool planar = tables->world.planar[0] != 0;
	vec3 weights;
	for (uint32_t body = bitset_next(&self->body_used, 0); body != BITSET_NONE;
	     body = bitset_next(&self->body_used, body + 1)) {
		if (tables->body.sleep_set[body] == 0 ||
		    !(tables->body.category[body] & tables->field.mask[row]))
			continue;
		vec3 d = in_field_axes(&tables->field, row, dynamics_centre(tables, body));
		if (weights_at(&tables->field, row, d, planar, &weights))
			dynamics_wake(self, body);
	}
}

/* ---- the kinds: a force or an acceleration, field axes -------------------------------------- */

static vec3 vortex_at(vec3 strength, vec3 d, bool planar)
{
	vec3 axis = planar ? vec3_make(0, 0, 1) : vec3_make(0, 1, 0);
	vec3 out = vec3_normalize(vec3_sub(d, vec3_scale(axis, vec3_dot(d, axis))));
	vec3 force = vec3_scale(vec3_cross(axis, out), strength.x);
	force = vec3_mul_add(force, axis, strength.y);
	return vec3_mul_sub(force, out, strength.z);
}

static vec3 attractor_at(double strength, uint8_t power, double core, vec3 d)
{
	double square = vec3_dot(d, d) + core * core, length = scalar_sqrt(square);
	double divisor = length;
	if (power >= 1)
		divisor *= length;
	if (power >= 2)
		divisor *= length;
	return vec3_scale(d, -strength / divisor);
}

/* 1/s: the greatest rate at which a drag may take motion while it is held for `span`. */
static double rate_most(double span)
{
	return span > 0 ? 1 / span : SCALAR_MAX;
}

static void add_drag(const struct field_table *table, uint32_t row, const struct force_state *state,
		     double weight, double span, struct force_sum *sum)
{
	vec3 u = vec3_sub(state->velocity, table->velocity[row]);
	double rate = weight * (table->linear[row] + table->quadratic[row] * vec3_length(u));
	if (table->flags[row] & FIELD_PER_MASS)
		sum->acceleration =
			vec3_mul_sub(sum->acceleration, u, scalar_min(rate, rate_most(span)));
	else
		sum->force = vec3_mul_sub(sum->force, u,
					  span > 0 ? scalar_min(rate, state->mass / span) : rate);
}

static void add_angular_drag(const struct tables *tables, uint32_t row, uint32_t body,
			     const struct force_state *state, double weight, double span,
			     struct force_sum *sum)
{
	double rate = scalar_min(weight * tables->field.angular[row], rate_most(span));
	sym3 inertia = sym3_load(tables->body.inertia[body]);
	vec3 spin = quat_rotate_inverse(state->rotation, state->angular_velocity);
	vec3 momentum = quat_rotate(state->rotation, sym3_apply(inertia, spin));
	sum->torque = vec3_mul_sub(sum->torque, momentum, rate);
}

/* Adds all but the torque; false outside the region. */
static bool add_at(const struct tables *tables, uint32_t row, const struct force_state *state,
		   double span, struct force_sum *sum, vec3 *weights)
{
	ASSERT(row < tables->field.count);
	const struct field_table *table = &tables->field;
	bool planar = tables->world.planar[0] != 0;
	vec3 d = in_field_axes(table, row, state->centre), push = table->strength[row];
	if (!weights_at(table, row, d, planar, weights))
		return false;
	if (table->kind[row] == FIELD_DRAG) {
		add_drag(table, row, state, weights->x, span, sum);
		return true;
	}
	if (table->kind[row] == FIELD_VORTEX)
		push = vortex_at(push, d, planar);
	else if (table->kind[row] == FIELD_ATTRACTOR)
		push = attractor_at(push.x, table->power[row], table->core[row], d);
	push = quat_rotate(table->rotation[row], vec3_hadamard(push, *weights));
	if (table->flags[row] & FIELD_PER_MASS)
		sum->acceleration = vec3_add(sum->acceleration, push);
	else
		sum->force = vec3_add(sum->force, push);
	return true;
}

void force_field_add(const struct tables *tables, uint32_t row, uint32_t body,
		     const struct force_state *state, double span, struct force_sum *sum)
{
	ASSERT(body < tables->body.count);
	vec3 weights;
	if ((tables->body.category[body] & tables->field.mask[row]) &&
	    add_at(tables, row, state, span, sum, &weights) && tables->field.angular[row] > 0)
		add_angular_drag(tables, row, body, state, weights.x, span, sum);
}

void force_field_at(const struct tables *tables, uint32_t row, const struct force_state *state,
		    struct force_sum *sum)
{
	vec3 weights;
	(void)add_at(tables, row, state, 0, sum, &weights);
}
