/* impact_stiff.c: forces of the list with implicit Euler (app B-03): fields that are stiff in place or
 * velocity, such as a strong drag or an attractor near its centre.
 *
 * With u = (v, ω), M the mass and f the sum of the list at the beginning, one Newton step for
 * u' = u + h M⁻¹ (f(x + h u', u') + Jᵀ F) gives
 *
 *   (M − h F_v − h² F_x) Δu = h (f + h F_x u) + Jᵀ λ,    λ = h F
 *
 * The matrices F_x and F_v are central differences, which are exact for laws up to second degree but
 * for rounding, so that every force of the list has them.
 *
 *   free      λ = 0: the system is solved as it is, by elimination. The force that the motion then takes is
 *             M Δu / h
 *   linked    in contact or with joints: u* = u + Δu with λ = 0 is the velocity without constraints, and the
 *             matrix is the mass with which they act (mass_blocks.h). So a contact carries its whole load
 *             and a current none of it. Solvers need a symmetric, positive definite matrix: of
 *             S = −h F_v − h² F_x the symmetric part that holds back is in it. The rest is left out of the
 *             matrix (a force across the velocity, and one that drives away from its centre, for which an
 *             implicit step has no gain); this is of second order in h, as is what Newton's one step leaves
 *
 * A linked body on which no field depends on place or velocity keeps the forces of the beginning, which
 * are the same.
 *
 * Where the matrix is singular, or not finite, the step has no solution: then the forces of the beginning
 * hold, and the body counts as rejected.
 */
#include "server/engine/linalg/lu.h"
#include "server/engine/methods/impact.h"

#include <string.h>

/* m, rad, m/s, rad/s: half of the difference. Larger: forces of a small core are not straight over it;
 * smaller: rounding of the force. */
#define DIFFERENCE 1e-6

enum { COORDINATES = MASS_COORDINATES };

#define ALLOCATE(type, count) ARENA_ARRAY(&self->of->step->dynamics->scratch, type, count)

/* Members with implicit Euler, and the differences of their forces. */
struct stiff {
	uint32_t *slots; /* of the batch, ascending */
	uint32_t count;
	uint32_t *rows;
	struct body_motion *motions;
	struct force_sum *sums, *less, *more;
	double (*by_place)[COORDINATES][COORDINATES]; /* M⁻¹ F_x by member, force, coordinate */
	double (*by_speed)[COORDINATES][COORDINATES];
};

static bool is_stiff(const struct impact_batch *self, uint32_t i)
{
	return self->integrator[i] == INTEGRATOR_IMPLICIT_EULER && mass_moves(&self->solve.mass, i);
}

static enum status allocate_members(const struct impact_batch *self, struct stiff *stiff)
{
	uint32_t n = stiff->count;
	size_t matrices = n * sizeof *stiff->by_place;
	struct arena *scratch = &self->of->step->dynamics->scratch;
	stiff->slots = ALLOCATE(uint32_t, n);
	stiff->rows = ALLOCATE(uint32_t, n);
	stiff->motions = ALLOCATE(struct body_motion, n);
	stiff->sums = ALLOCATE(struct force_sum, n);
	stiff->less = ALLOCATE(struct force_sum, n);
	stiff->more = ALLOCATE(struct force_sum, n);
	stiff->by_place = arena_push_zero(scratch, matrices);
	stiff->by_speed = arena_push_zero(scratch, matrices);
	return stiff->slots != NULL && stiff->rows != NULL && stiff->motions != NULL &&
			       stiff->sums != NULL && stiff->less != NULL && stiff->more != NULL &&
			       stiff->by_place != NULL && stiff->by_speed != NULL
		       ? STATUS_OK
		       : STATUS_NO_MEMORY;
}

/* M⁻¹ f of a member. */
static void accelerate(const struct impact_batch *self, uint32_t slot, const struct force_sum *sum,
		       double out[COORDINATES])
{
	const struct body_table *table = &self->of->step->dynamics->tables->body;
	uint32_t body = self->step.bodies[slot];
	vec3 linear = vec3_mul_add(sum->acceleration, sum->force, table->mass_inv[body]);
	vec3 angular = integrate_tensor_at(sym3_load(table->inertia_inv[body]),
					   self->start[slot].rotation, sum->torque);
	for (uint32_t i = 0; i < 3; i++) {
		out[i] = vec3_get(linear, i);
		out[3 + i] = vec3_get(angular, i);
	}
}

/* The state with coordinate k, or its speed, changed by `by`. */
static struct body_motion moved(struct body_motion at, uint32_t k, bool speed, double by)
{
	vec3 change = vec3_scale(vec3_axis(k % 3), by);
	if (speed && k < 3)
		at.velocity = vec3_add(at.velocity, change);
	else if (speed)
		at.angular_velocity = vec3_add(at.angular_velocity, change);
	else if (k < 3)
		at.centre = vec3_add(at.centre, change);
	else
		at.rotation = quat_integrate(at.rotation, change, 1);
	return at;
}

/* Forces of all members with one coordinate changed. */
static void sum_moved(const struct impact_batch *self, struct stiff *stiff, uint32_t k, bool speed,
		      double by, struct force_sum *sums)
{
	struct force_bodies bodies = { stiff->rows, stiff->motions, stiff->count };
	for (uint32_t m = 0; m < stiff->count; m++)
		stiff->motions[m] = moved(self->start[stiff->slots[m]], k, speed, by);
	force_list_all(&self->of->forces, &bodies, self->begin, sums);
}

static void find_matrices(const struct impact_batch *self, struct stiff *stiff)
{
	bool planar = self->of->step->dynamics->tables->world.planar[0] != 0;
	for (uint32_t k = 0; k < 2 * COORDINATES; k++) {
		uint32_t axis = k % COORDINATES;
		bool speed = k >= COORDINATES;
		/* A planar world has x, y and the angle about z. */
		if (planar && axis >= 2 && axis < 5)
			continue;
		sum_moved(self, stiff, axis, speed, -DIFFERENCE, stiff->less);
		sum_moved(self, stiff, axis, speed, DIFFERENCE, stiff->more);
		for (uint32_t m = 0; m < stiff->count; m++) {
			double less[COORDINATES], more[COORDINATES];
			accelerate(self, stiff->slots[m], &stiff->less[m], less);
			accelerate(self, stiff->slots[m], &stiff->more[m], more);
			for (uint32_t i = 0; i < COORDINATES; i++)
				(speed ? stiff->by_speed : stiff->by_place)[m][i][axis] =
					(more[i] - less[i]) / (2 * DIFFERENCE);
		}
	}
}

/* h (a + h A_x u) of a member, A_x = M⁻¹ F_x. */
static void find_change(const struct impact_batch *self, const struct stiff *stiff, uint32_t m,
			double change[COORDINATES])
{
	uint32_t slot = stiff->slots[m];
	const struct body_motion *at = &self->start[slot];
	double h = self->step.dt;
	double u[COORDINATES] = { at->velocity.x,	  at->velocity.y,
				  at->velocity.z,	  at->angular_velocity.x,
				  at->angular_velocity.y, at->angular_velocity.z };
	accelerate(self, slot, &stiff->sums[m], change);
	for (uint32_t i = 0; i < COORDINATES; i++) {
		for (uint32_t k = 0; k < COORDINATES; k++)
			change[i] += h * stiff->by_place[m][i][k] * u[k];
		change[i] *= h;
	}
}

/* Δu of a free member; false: there is none. */
static bool solve_member(const struct impact_batch *self, const struct stiff *stiff, uint32_t m,
			 double change[COORDINATES])
{
	uint32_t pivots[COORDINATES];
	double h = self->step.dt, a[COORDINATES][COORDINATES], sum = 0;
	find_change(self, stiff, m, change);
	for (uint32_t i = 0; i < COORDINATES; i++)
		for (uint32_t k = 0; k < COORDINATES; k++)
			a[i][k] = (i == k) - h * stiff->by_speed[m][i][k] -
				  h * h * stiff->by_place[m][i][k];
	if (!lu_factor(&a[0][0], COORDINATES, COORDINATES, pivots))
		return false;
	lu_solve(&a[0][0], COORDINATES, COORDINATES, pivots, change);
	for (uint32_t i = 0; i < COORDINATES; i++)
		sum += change[i];
	return scalar_is_finite(sum);
}

/* The forces whose change of velocity is `change`. */
static struct force_sum sum_of(const struct impact_batch *self, uint32_t slot,
			       const double change[COORDINATES])
{
	const struct body_table *table = &self->of->step->dynamics->tables->body;
	double h = self->step.dt;
	vec3 spin = vec3_make(change[3] / h, change[4] / h, change[5] / h);
	return (struct force_sum){
		.acceleration = vec3_make(change[0] / h, change[1] / h, change[2] / h),
		.torque = integrate_tensor_at(sym3_load(table->inertia[self->step.bodies[slot]]),
					      self->start[slot].rotation, spin),
	};
}

/* ---- linked members --------------------------------------------------------------------------- */

static struct spatial spatial_of(const double x[COORDINATES])
{
	return (struct spatial){ vec3_make(x[0], x[1], x[2]), vec3_make(x[3], x[4], x[5]) };
}

static struct spatial momentum_of(const struct impact_batch *self, uint32_t slot,
				  struct spatial velocity)
{
	const struct body_table *table = &self->of->step->dynamics->tables->body;
	uint32_t body = self->step.bodies[slot];
	return (struct spatial){ vec3_scale(velocity.linear, table->mass[body]),
				 integrate_tensor_at(sym3_load(table->inertia[body]),
						     self->start[slot].rotation,
						     velocity.angular) };
}

/* S = −h F_v − h² F_x of a member, in the place of F_v; false: both are 0. */
static bool find_block(const struct impact_batch *self, struct stiff *stiff, uint32_t m)
{
	uint32_t slot = stiff->slots[m];
	double h = self->step.dt;
	bool any = false;
	for (uint32_t k = 0; k < COORDINATES; k++) {
		double column[COORDINATES];
		for (uint32_t i = 0; i < COORDINATES; i++) {
			double place = stiff->by_place[m][i][k], speed = stiff->by_speed[m][i][k];
			column[i] = -h * speed - h * h * place;
			any |= place != 0 || speed != 0;
		}
		struct spatial force = momentum_of(self, slot, spatial_of(column));
		for (uint32_t i = 0; i < 3; i++) {
			stiff->by_speed[m][i][k] = vec3_get(force.linear, i);
			stiff->by_speed[m][3 + i][k] = vec3_get(force.angular, i);
		}
	}
	return any;
}

/* Block of a linked member, and its forces without constraints. NO_MEMORY. */
static enum status solve_linked(struct impact_batch *self, struct stiff *stiff, uint32_t m,
				struct force_sum *sums)
{
	struct velocity_step *v = &self->solve;
	struct arena *scratch = &self->of->step->dynamics->scratch;
	uint32_t slot = stiff->slots[m];
	double change[COORDINATES];
	find_change(self, stiff, m, change);
	if (!find_block(self, stiff, m))
		return STATUS_OK;
	if (self->stiff.blocks == NULL)
		self->stiff = (struct mass_blocks){
			v->mass, arena_push_zero(scratch, self->count * sizeof *self->stiff.blocks)
		};
	struct mass_block *block = ALLOCATE(struct mass_block, 1);
	if (self->stiff.blocks == NULL || block == NULL)
		return STATUS_NO_MEMORY;
	if (!mass_block_make(block, &v->mass, slot, stiff->by_speed[m])) {
		self->of->counts.rejected++;
		return STATUS_OK;
	}
	self->stiff.blocks[slot] = block;
	struct spatial impulse = momentum_of(self, slot, spatial_of(change));
	struct spatial by = mass_block_velocity(block, &v->mass, slot, impulse);
	for (uint32_t k = 0; k < COORDINATES; k++)
		change[k] = vec3_get(k < 3 ? by.linear : by.angular, k % 3);
	sums[slot] = sum_of(self, slot, change);
	return STATUS_OK;
}

void impact_stiff_finish(struct impact_batch *self)
{
	const struct velocity_step *v = &self->solve;
	ASSERT(self->stiff.blocks != NULL && self->step.dt > 0);
	for (uint32_t i = 0; i < self->count; i++) {
		const struct mass_block *block = self->stiff.blocks[i];
		if (block == NULL)
			continue;
		/* S (u' − u*): what forces that hold back answer to the impulses of constraints. */
		struct spatial by = spatial_mul_add(v->moving[i], v->forced[i], -1);
		struct spatial with = mass_block_momentum(block, &self->stiff.plain, i, by);
		struct spatial held = spatial_mul_add(with, momentum_of(self, i, by), -1);
		v->force[i] = spatial_mul_add(v->force[i], held, -1 / self->step.dt);
	}
}

/* ---- all members ------------------------------------------------------------------------------ */

enum status impact_stiff_forces(struct impact_batch *self, struct force_sum *sums)
{
	const struct dynamics *dynamics = self->of->step->dynamics;
	struct stiff stiff = { 0 };
	for (uint32_t i = 0; i < self->count && dynamics->field_used.count > 0; i++)
		stiff.count += is_stiff(self, i);
	if (stiff.count == 0)
		return STATUS_OK;
	if (allocate_members(self, &stiff) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0, m = 0; i < self->count; i++)
		if (is_stiff(self, i)) {
			stiff.rows[m] = self->step.bodies[i];
			stiff.slots[m++] = i;
		}
	/* The forces are not held over the step, so that no bound of what is held applies to them. */
	double span = self->of->forces.span;
	self->of->forces.span = 0;
	ASSERT(self->of->forces.ahead == 0);
	sum_moved(self, &stiff, 0, false, 0, stiff.sums);
	find_matrices(self, &stiff);
	self->of->forces.span = span;
	enum status status = STATUS_OK;
	for (uint32_t m = 0; m < stiff.count && status == STATUS_OK; m++) {
		uint32_t slot = stiff.slots[m];
		double change[COORDINATES];
		if (self->solve.islands.island_of[slot] != UINT32_MAX)
			status = solve_linked(self, &stiff, m, sums);
		else if (solve_member(self, &stiff, m, change))
			sums[slot] = sum_of(self, slot, change);
		else
			self->of->counts.rejected++;
	}
	return status;
}
