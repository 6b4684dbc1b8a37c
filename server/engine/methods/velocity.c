/* velocity.c: contact as a problem of velocities: what `lcp`, `projection` and `reflection` share.
 *
 * A step of h seconds from positions x and velocities v:
 *
 *   v*  = v after forces: gravity, drives, damping                                         integrate.h
 *   v_m = the velocity nearest to v* in the metric of mass with N v ≥ −gap/h               papers C-03, C-07, R-11
 *         (gap rows: an open gap may close within the step; a closed one may not close further), with friction
 *         within μ times the normal impulse where the method has it
 *   x'  = x moved by h (v_m + d), d the least displacement's speed that takes penetration out
 *   v'  = v_m, but where something bounces: the impulses of v_m are taken back at x', with the contacts found there
 *         anew, so that bodies arrive with the velocity they had, and the impact is resolved there
 *         (papers C-08, C-09)
 *
 * Why impacts are resolved at x': impulses act at points common to both bodies, so angular momentum is kept exactly at
 * the place where they act; and a body that arrives within the step loses no energy to the row that stopped it.
 *
 * The displacement d moves and is forgotten: it gives no velocity. What it gains against forces is counted
 * (push_work), which is all the energy that a frictionless step can gain.
 *
 * Turning keeps the angular momentum L = I ω itself: ω' = I(q')⁻¹ I(q) ω, and the energy of a body that nothing
 * turns (integrate_turn).
 *
 * Islands are solved one by one, on any worker: dense by pivoting where they are small, else sparse; the statistics
 * say which. A body that cannot move has no coordinates in any system. Contacts whose rows contradict each other (a
 * body between two scripted plates) have no solution: their rows give way a little, and that is a fallback.
 *
 * Residual: the worst violation of a row of all systems solved, m/s.
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/world/parameters.h"

#include <string.h>

#define ALLOCATE(type, count) ARENA_ARRAY(&self->step->dynamics->scratch, type, count)

static uint32_t whole(double value)
{
	uint32_t whole = 0;
	return scalar_to_u32(value, &whole) ? whole : 0;
}

static struct velocity_settings settings_of(const struct dynamics *dynamics, struct velocity_method method)
{
	const double *parameter = dynamics->tables->parameter.value;
	struct velocity_settings settings = {
		.method = method,
		.printed = parameter[PARAMETER_VELOCITY_PRINTED] != 0,
		.dense_rows = whole(parameter[PARAMETER_VELOCITY_DENSE_ROWS]),
		.rounds_max = whole(parameter[PARAMETER_REFLECTION_ROUNDS]),
		.push_speed = parameter[PARAMETER_PUSH_SPEED],
		.restitution_speed = parameter[PARAMETER_RESTITUTION_SPEED],
	};
	if (method.core == VELOCITY_PROJECTION)
		settings.friction_rounds = whole(parameter[PARAMETER_PROJECTION_FRICTION_ROUNDS]);
	settings.method.friction |= settings.friction_rounds > 0;
	return settings;
}

/* ---- bodies ----------------------------------------------------------------------------------- */

static enum status prepare_bodies(struct velocity_step *self, struct body_motion *start)
{
	const struct step *step = self->step;
	const struct dynamics *dynamics = step->dynamics;
	uint32_t count = step->body_count;
	self->masses = ALLOCATE(struct mass_body, count);
	self->before = ALLOCATE(struct spatial, count);
	self->forced = ALLOCATE(struct spatial, count);
	self->moving = ALLOCATE(struct spatial, count);
	self->after = ALLOCATE(struct spatial, count);
	self->push = ALLOCATE(struct spatial, count);
	self->force = ALLOCATE(struct spatial, count);
	self->motions = ALLOCATE(struct body_motion, count);
	vec3 *forces = ALLOCATE(vec3, count), *torques = ALLOCATE(vec3, count);
	if (self->masses == NULL || self->before == NULL || self->forced == NULL || self->moving == NULL ||
	    self->after == NULL || self->push == NULL || self->force == NULL || self->motions == NULL ||
	    forces == NULL || torques == NULL)
		return STATUS_NO_MEMORY;
	dynamics_forces(dynamics, step->bodies, count, forces, torques);
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = step->bodies[slot];
		start[slot] = dynamics_motion(dynamics, row);
		self->before[slot] = (struct spatial){ start[slot].velocity, start[slot].angular_velocity };
		self->force[slot] = (struct spatial){ forces[slot], torques[slot] };
		self->forced[slot] = integrate_forces(dynamics, row, self->force[slot], step->dt);
		self->moving[slot] = self->forced[slot];
		self->push[slot] = spatial_zero();
	}
	mass_bodies_from_tables(dynamics->tables, step->bodies, count, start, self->masses);
	self->mass = mass_operator_free(self->masses, count);
	return STATUS_OK;
}

/* Where bodies come to with `moving` and `push`. */
static void move_bodies(struct velocity_step *self, const struct body_motion *start)
{
	const struct step *step = self->step;
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		struct spatial by = spatial_mul_add(self->moving[slot], self->push[slot], 1);
		self->motions[slot] = integrate_motion(step->dynamics, step->bodies[slot], &start[slot],
						       self->moving[slot], by, step->dt);
		self->after[slot] = (struct spatial){ self->motions[slot].velocity,
						      self->motions[slot].angular_velocity };
	}
}

/* ---- the way ---------------------------------------------------------------------------------- */

/* What each row wants of J v at the end of the step. */
static void want_motion(const struct velocity_island *island, double *b)
{
	const struct velocity_step *self = island->step;
	double h = self->step->dt;
	row_system_speeds(&island->system, self->forced, b);
	for (uint32_t i = 0; i < island->count; i++) {
		const struct constraint_row *row = &island->rows[i];
		b[i] -= row->wanted;
		if (row->set == ROW_POSITIVE && row->gap > 0 && !self->settings.printed)
			b[i] += row->gap / h;
	}
}

/* Rows as they will stand at the end of the way; those that penetrate want out, the others must stay open. */
static bool want_push(const struct velocity_island *island, bool *taken, double *b)
{
	const struct velocity_step *self = island->step;
	double h = self->step->dt, deepest = 0;
	row_system_speeds(&island->system, self->moving, b);
	for (uint32_t i = 0; i < island->count; i++) {
		const struct constraint_row *row = &island->rows[i];
		taken[i] = row->set == ROW_POSITIVE;
		double gap = row->gap + h * b[i];
		deepest = scalar_min(deepest, gap);
		/* The first nanometre is rounding's. */
		b[i] = gap < 0 ? scalar_max((gap + VELOCITY_DEPTH) / h, -self->settings.push_speed) : gap / h;
		b[i] = gap < 0 ? scalar_min(b[i], 0) : b[i];
	}
	return deepest < -VELOCITY_DEPTH;
}

/* Only what is gained counts: a push down a slope gives energy back to nobody. */
static void count_push(const struct velocity_island *island)
{
	const struct velocity_step *self = island->step;
	double work = 0;
	for (uint32_t i = 0; i < island->island->slot_count; i++) {
		uint32_t slot = island->island->slots[i];
		work -= self->step->dt * spatial_dot(self->force[slot], self->push[slot]);
	}
	island->outcome->push_work += scalar_max(work, 0);
}

static void first_guess(const struct velocity_island *island, double *x)
{
	const struct velocity_step *self = island->step;
	for (uint32_t i = 0, point = 0; i < island->count; i++) {
		const struct row_block *block = &self->rows.blocks[island->block[i]];
		point = i - (i > 0 && island->block[i] == island->block[i - 1] ? 0 : 0);
		UNUSED(point);
		UNUSED(block);
		x[i] = 0;
	}
}
