/* mass_operator.c: the operator of free bodies.
 *
 * Each body is one group. Its response to a row is M⁻¹ times its part: mass_inv for the linear
 * part, I⁻¹ for the angular one, in world axes. With locked axes, F the set of the free ones, I⁻¹
 * becomes (I_FF)⁻¹ on F and 0 elsewhere: the motion when the supports of the locked axes take the
 * torque along them.
 */
#include "server/engine/dynamics/mass_operator.h"

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/dynamics/locks.h"

static double sym3_get(sym3 t, uint32_t row, uint32_t column)
{
	VALIDATE(row < 3 && column < 3);
	return mat3_get(sym3_matrix(t), row, column);
}

/* The entries on the free axes alone, and the inverse there. */
static void restrict_tensor(sym3 full, uint32_t locked, sym3 *tensor, sym3 *inverse)
{
	ASSERT(locked < 8);
	uint32_t axis[3], n = 0;
	mat3 kept = mat3_zero(), undone = mat3_zero();
	for (uint32_t i = 0; i < 3; i++)
		if (!(locked >> i & 1))
			axis[n++] = i;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			mat3_set(&kept, axis[i], axis[j], sym3_get(full, axis[i], axis[j]));
	*tensor = sym3_of(kept);
	*inverse = sym3_zero();
	if (n == 1 && mat3_get(kept, axis[0], axis[0]) > 0)
		mat3_set(&undone, axis[0], axis[0], 1 / mat3_get(kept, axis[0], axis[0]));
	if (n == 2) {
		double a = mat3_get(kept, axis[0], axis[0]), d = mat3_get(kept, axis[1], axis[1]);
		double b = mat3_get(kept, axis[0], axis[1]), det = a * d - b * b;
		if (!(det > 0))
			return;
		mat3_set(&undone, axis[0], axis[0], d / det);
		mat3_set(&undone, axis[1], axis[1], a / det);
		mat3_set(&undone, axis[0], axis[1], -b / det);
		mat3_set(&undone, axis[1], axis[0], -b / det);
	}
	*inverse = sym3_of(undone);
}

bool mass_locks_let(struct spatial motion, uint32_t locks, bool *mixed)
{
	double held = 0, free = 0;
	ASSERT(locks < 64);
	for (uint32_t i = 0; i < 3; i++) {
		double along = scalar_abs(vec3_get(motion.linear, i)),
		       about = scalar_abs(vec3_get(motion.angular, i));
		*(locks >> i & 1 ? &held : &free) += along;
		*(locks >> (3 + i) & 1 ? &held : &free) += about;
	}
	double small = 1e-9 * (held + free);
	*mixed |= held > small && free > small;
	return free > small;
}

struct mass_body mass_body_make(double mass, double mass_inv, sym3 inertia, sym3 inertia_inv,
				quat rotation, uint32_t locks)
{
	ASSERT(locks < 64);
	struct mass_body body = { .locks = locks };
	if (!(mass_inv > 0)) {
		body.locks = MASS_LOCK_X | MASS_LOCK_Y | MASS_LOCK_Z | MASS_LOCK_TURNING;
		return body;
	}
	if (!(sym3_trace(inertia_inv) > 0))
		body.locks |= MASS_LOCK_TURNING;
	for (uint32_t axis = 0; axis < 3; axis++)
		if (!(body.locks >> axis & 1)) {
			vec3_set(&body.mass, axis, mass);
			vec3_set(&body.mass_inv, axis, mass_inv);
		}
	mat3 turn = mat3_from_quat(rotation);
	uint32_t turning = body.locks >> 3;
	if (turning == 7)
		return body;
	if (turning != 0) {
		restrict_tensor(sym3_rotate(turn, inertia), turning, &body.inertia,
				&body.inertia_inv);
		return body;
	}
	body.inertia = sym3_rotate(turn, inertia);
	body.inertia_inv = sym3_rotate(turn, inertia_inv);
	return body;
}

void mass_bodies_from_tables(const struct tables *tables, const uint32_t *bodies, uint32_t count,
			     const struct body_motion *motions, struct mass_body *out)
{
	uint32_t locks = tables->world.planar[0] ? MASS_LOCK_PLANAR : 0;
	const struct body_table *table = &tables->body;
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = bodies[slot];
		out[slot] = mass_body_make(table->mass[row], table->mass_inv[row],
					   sym3_load(table->inertia[row]),
					   sym3_load(table->inertia_inv[row]),
					   motions[slot].rotation, locks | locks_of(tables, row));
	}
}

/* ---- the operator -------------------------------------------------------------------------- */

static const struct mass_body *body_of(const struct mass_operator *self, uint32_t slot)
{
	const struct mass_body *bodies = self->context;
	VALIDATE(slot < self->slots);
	return &bodies[slot];
}

/* M⁻¹ times a force. */
static struct spatial accelerate_body(const struct mass_body *body, struct spatial force)
{
	return (struct spatial){ vec3_hadamard(body->mass_inv, force.linear),
				 sym3_apply(body->inertia_inv, force.angular) };
}

static bool free_moves(const struct mass_operator *self, uint32_t slot)
{
	const uint32_t all = MASS_LOCK_X | MASS_LOCK_Y | MASS_LOCK_Z | MASS_LOCK_TURNING;
	return (body_of(self, slot)->locks & all) != all;
}

static uint32_t free_room(const struct mass_operator *self, struct jacobian j)
{
	VALIDATE(j.count <= ROW_PARTS_MAX);
	UNUSED(self);
	return j.count;
}

static void free_respond(const struct mass_operator *self, struct jacobian j, struct spatial *room,
			 struct mass_response *out)
{
	VALIDATE(j.count <= ROW_PARTS_MAX);
	out->count = 0;
	for (uint32_t k = 0; k < j.count; k++) {
		uint32_t slot = j.parts[k].slot;
		if (!free_moves(self, slot))
			continue;
		room[out->count] = accelerate_body(body_of(self, slot), j.parts[k].on);
		out->group[out->count] = slot;
		out->change[out->count] = &room[out->count];
		out->count++;
	}
	VALIDATE(out->count <= j.count);
}

static double free_couple(const struct mass_operator *self, struct jacobian j,
			  const struct mass_response *response)
{
	VALIDATE(j.count <= ROW_PARTS_MAX);
	UNUSED(self);
	double sum = 0;
	for (uint32_t k = 0; k < j.count; k++)
		for (uint32_t g = 0; g < response->count; g++)
			if (response->group[g] == j.parts[k].slot)
				sum += spatial_dot(j.parts[k].on, *response->change[g]);
	return sum;
}

static void free_apply(const struct mass_operator *self, const struct mass_response *response,
		       double lambda, struct spatial *velocities)
{
	VALIDATE(response->count <= ROW_PARTS_MAX);
	UNUSED(self);
	for (uint32_t g = 0; g < response->count; g++) {
		struct spatial *velocity = &velocities[response->group[g]];
		*velocity = spatial_mul_add(*velocity, *response->change[g], lambda);
	}
}

static void free_accelerate(const struct mass_operator *self, const struct spatial *forces,
			    const struct spatial *velocities, struct spatial *accelerations)
{
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		const struct mass_body *body = body_of(self, slot);
		struct spatial force = forces[slot];
		if (velocities != NULL) {
			vec3 spin = velocities[slot].angular;
			vec3 momentum = sym3_apply(body->inertia, spin);
			force.angular = vec3_add(force.angular, vec3_cross(momentum, spin));
		}
		accelerations[slot] = accelerate_body(body, force);
	}
}

/* True if the velocity has a part along a locked axis. */
static bool is_against_locks(const struct mass_body *body, struct spatial velocity)
{
	for (uint32_t axis = 0; axis < 3; axis++) {
		if (body->locks >> axis & 1 && vec3_get(velocity.linear, axis) != 0)
			return true;
		if (body->locks >> (3 + axis) & 1 && vec3_get(velocity.angular, axis) != 0)
			return true;
	}
	return false;
}

static bool free_multiply(const struct mass_operator *self, const struct spatial *velocities,
			  struct spatial *momenta)
{
	bool finite = true;
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		const struct mass_body *body = body_of(self, slot);
		struct spatial v = velocities[slot];
		momenta[slot] = (struct spatial){ vec3_hadamard(body->mass, v.linear),
						  sym3_apply(body->inertia, v.angular) };
		finite &= !is_against_locks(body, v);
	}
	return finite;
}

static uint32_t free_group(const struct mass_operator *self, uint32_t slot)
{
	VALIDATE(slot < self->slots);
	UNUSED(self);
	return slot;
}

static uint32_t free_coordinates(const struct mass_operator *self, uint32_t group)
{
	uint32_t locks = body_of(self, group)->locks, count = 0;
	for (uint32_t axis = 0; axis < 6; axis++)
		count += !(locks >> axis & 1);
	ASSERT(count <= 6);
	return count;
}

static struct spatial free_axis(const struct mass_operator *self, uint32_t slot,
				uint32_t coordinate)
{
	VALIDATE(coordinate < free_coordinates(self, slot));
	uint32_t locks = body_of(self, slot)->locks;
	struct spatial unit = spatial_zero();
	for (uint32_t axis = 0; axis < 6; axis++) {
		if (locks >> axis & 1 || coordinate-- > 0)
			continue;
		vec3_set(axis < 3 ? &unit.linear : &unit.angular, axis % 3, 1);
		break;
	}
	return unit;
}

static double free_entry(const struct mass_operator *self, uint32_t group, uint32_t i, uint32_t j)
{
	VALIDATE(i < free_coordinates(self, group) && j < free_coordinates(self, group));
	const struct mass_body *body = body_of(self, group);
	struct spatial across = free_axis(self, group, i), along = free_axis(self, group, j);
	return vec3_dot(across.linear, vec3_hadamard(body->mass, along.linear)) +
	       vec3_dot(across.angular, sym3_apply(body->inertia, along.angular));
}

static const struct mass_operator_kind free_bodies = {
	.room = free_room,
	.respond = free_respond,
	.couple = free_couple,
	.apply = free_apply,
	.accelerate = free_accelerate,
	.multiply = free_multiply,
	.group = free_group,
	.moves = free_moves,
	.coordinates = free_coordinates,
	.axis = free_axis,
	.entry = free_entry,
};

struct mass_operator mass_operator_free(const struct mass_body *bodies, uint32_t count)
{
	return (struct mass_operator){ &free_bodies, bodies, count, count };
}
