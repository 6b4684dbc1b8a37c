/* See force_field.h. */
#include "server/engine/dynamics/force_field.h"

#include "server/engine/dynamics/body.h"
#include "server/engine/geometry/submerged.h"
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

/* Whether a fluid is around a body, as its mass centre's place across the surface tells; its pieces tell
 * how deep they are in it. */
static bool is_over(const struct field_table *table, uint32_t row, vec3 d, bool planar)
{
	vec3 half = table->half[row];
	return table->region[row] == FIELD_EVERYWHERE ||
	       (scalar_abs(d.x) <= half.x && (planar || scalar_abs(d.z) <= half.z));
}

static bool acts_at(const struct field_table *table, uint32_t row, vec3 d, bool planar)
{
	vec3 weights;
	if (table->kind[row] == FIELD_FLUID)
		return is_over(table, row, d, planar);
	return weights_at(table, row, d, planar, &weights);
}

void dynamics_field_wake(struct dynamics *self, uint32_t row)
{
	const struct tables *tables = self->tables;
	bool planar = tables->world.planar[0] != 0;
	for (uint32_t body = bitset_next(&self->body_used, 0); body != BITSET_NONE;
	     body = bitset_next(&self->body_used, body + 1)) {
		if (tables->body.sleep_set[body] == 0 ||
		    !(tables->body.category[body] & tables->field.mask[row]))
			continue;
		vec3 d = in_field_axes(&tables->field, row, dynamics_centre(tables, body));
		if (tables->field.kind[row] == FIELD_MUTUAL ||
		    acts_at(&tables->field, row, d, planar))
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

/* ---- fluids -------------------------------------------------------------------------------------- */

/* What a body displaces. */
struct displaced {
	double volume, whole; /* m³: below the surface, and of all shapes */
	vec3 moment; /* m⁴: ∫ x dV of the part below, world axes, from the mass centre */
};

/* Adds the part of a placement with up·x <= level, x from the mass centre; `sign` −1 takes it away. */
static void add_below(struct displaced *sum, const struct shape *shape, const pose *at, vec3 up,
		      double level, double sign)
{
	vec3 normal = quat_rotate_inverse(at->rotation, up);
	struct submerged part = shape_submerged(shape, normal, level - vec3_dot(up, at->position));
	sum->volume += sign * part.volume;
	sum->moment = vec3_mul_add(sum->moment, pose_point(*at, part.centre), sign * part.volume);
}

/* The state after `ahead` seconds without forces. */
static struct force_state ahead_of(const struct force_state *state, double ahead)
{
	struct force_state at = *state;
	at.centre = vec3_mul_add(at.centre, at.velocity, ahead);
	at.rotation = quat_integrate(at.rotation, at.angular_velocity, ahead);
	return at;
}

static struct displaced displaced_by(const struct force_list *list, uint32_t row, uint32_t body,
				     const struct force_state *state)
{
	ASSERT(row < list->tables->field.count && body < list->tables->body.count);
	const struct tables *tables = list->tables;
	const struct field_table *table = &tables->field;
	bool box = table->region[row] == FIELD_BOX;
	vec3 up = quat_rotate(table->rotation[row], vec3_make(0, 1, 0));
	double level = vec3_dot(up, vec3_sub(table->position[row], state->centre));
	double top = box ? level + table->half[row].y : level;
	vec3 centre = tables->body.centre[body];
	struct displaced sum = { 0, 0, vec3_zero() };
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		const struct shape *shape = list->shapes[tables->placement.shape[p - 1]];
		vec3 arm = vec3_sub(tables->placement.position[p - 1], centre);
		pose at = pose_make(quat_rotate(state->rotation, arm),
				    quat_mul(state->rotation, tables->placement.rotation[p - 1]));
		add_below(&sum, shape, &at, up, top, 1);
		if (box)
			add_below(&sum, shape, &at, up, level - table->half[row].y, -1);
		sum.whole += shape->mass.volume;
	}
	return sum;
}

static void add_fluid(const struct force_list *list, uint32_t row, uint32_t body,
		      const struct force_state *state, struct force_sum *sum)
{
	const struct tables *tables = list->tables;
	const struct field_table *table = &tables->field;
	bool planar = tables->world.planar[0] != 0;
	struct force_state at = list->ahead > 0 ? ahead_of(state, list->ahead) : *state;
	if (!is_over(table, row, in_field_axes(table, row, at.centre), planar))
		return;
	struct displaced displaced = displaced_by(list, row, body, &at);
	if (!(displaced.volume > 0))
		return;
	ASSERT(displaced.whole > 0);
	vec3 weight = vec3_scale(force_gravity(tables), -table->density[row]);
	sum->force = vec3_mul_add(sum->force, weight, displaced.volume);
	sum->torque = vec3_add(sum->torque, vec3_cross(displaced.moment, weight));
	double wet = displaced.volume / displaced.whole;
	add_drag(table, row, state, wet, list->span, sum);
	if (table->angular[row] > 0)
		add_angular_drag(tables, row, body, state, wet, list->span, sum);
}

/* ---- all kinds ----------------------------------------------------------------------------------- */

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

void force_field_add(const struct force_list *list, uint32_t row, uint32_t body,
		     const struct force_state *state, struct force_sum *sum)
{
	const struct tables *tables = list->tables;
	ASSERT(body < tables->body.count);
	if (!(tables->body.category[body] & tables->field.mask[row]) ||
	    tables->field.kind[row] == FIELD_MUTUAL)
		return;
	vec3 weights;
	if (tables->field.kind[row] == FIELD_FLUID)
		add_fluid(list, row, body, state, sum);
	else if (add_at(tables, row, state, list->span, sum, &weights) &&
		 tables->field.angular[row] > 0)
		add_angular_drag(tables, row, body, state, weights.x, list->span, sum);
}

void force_field_at(const struct tables *tables, uint32_t row, const struct force_state *state,
		    double span, struct force_sum *sum)
{
	const struct field_table *table = &tables->field;
	vec3 weights;
	if (table->kind[row] == FIELD_MUTUAL)
		return;
	if (table->kind[row] != FIELD_FLUID) {
		(void)add_at(tables, row, state, span, sum, &weights);
		return;
	}
	vec3 d = in_field_axes(table, row, state->centre), half = table->half[row];
	bool box = table->region[row] == FIELD_BOX;
	if (is_over(table, row, d, tables->world.planar[0] != 0) && d.y <= (box ? half.y : 0) &&
	    (!box || d.y >= -half.y))
		add_drag(table, row, state, 1, span, sum);
}
