/* velocity_end.c: the end of a motion, at which positions and then velocities are corrected: its state, one
 * island's problem there, and displacements that give no velocity. Shared by joints (velocity_joint.c) and by
 * the contacts of `impact` (impact_island.c).
 */
#include "server/engine/methods/velocity.h"

#include "server/engine/dynamics/locks.h"

bool velocity_has_joints(const struct velocity_step *step, const struct island *island)
{
	return island->constraint_count > 0 &&
	       island->constraints[island->constraint_count - 1] >= step->contact_count;
}

void velocity_add_half_of_forces(struct velocity_step *begin, const struct island *members)
{
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		struct spatial more = spatial_mul_add(begin->forced[slot], begin->before[slot], -1);
		begin->after[slot] = spatial_mul_add(begin->after[slot], more, 0.5);
	}
}

/* ---- the state -------------------------------------------------------------------------------- */

void velocity_masses_at_end(struct velocity_step *begin)
{
	const struct step *step = begin->step;
	for (uint32_t i = 0; i < begin->islands.count; i++) {
		const struct island *island = &begin->islands.items[i];
		for (uint32_t k = 0; k < island->slot_count; k++) {
			uint32_t slot = island->slots[k];
			mass_bodies_from_tables(step->dynamics->tables, &step->bodies[slot], 1,
						&begin->motions[slot], &begin->masses_end[slot]);
		}
	}
}

enum status velocity_state_at_end(struct velocity_step *begin, struct velocity_step *end)
{
	*end = *begin;
	velocity_masses_at_end(begin);
	end->masses = begin->masses_end;
	end->mass = mass_operator_free(end->masses, begin->step->body_count);
	enum status status = velocity_state_moved(end, begin->motions);
	end->impulses = begin->impulses;
	end->outcomes = begin->end_outcomes;
	return status;
}

/* ---- one island ------------------------------------------------------------------------------- */

enum status velocity_end_make(struct velocity_end *self, const struct velocity_step *end,
			      uint32_t index, struct arena *arena)
{
	enum status status = velocity_island_make(&self->island, end, index, arena);
	self->island.outcome->solved = false; /* statistics count its motion */
	if (status != STATUS_OK)
		return status;
	uint32_t count = self->island.count;
	self->b = ARENA_ARRAY(arena, double, count);
	self->x = arena_push_zero(arena, count * sizeof *self->x);
	self->selected = ARENA_ARRAY(arena, bool, count);
	return self->b != NULL && self->x != NULL && self->selected != NULL ? STATUS_OK
									    : STATUS_NO_MEMORY;
}

enum status velocity_end_solve(struct velocity_end *self, struct spatial *out)
{
	struct velocity_problem problem = { self->selected, self->b, self->x };
	enum status status = velocity_island_solve(&self->island, &problem);
	self->island.outcome->dependent = false;
	if (status == STATUS_OK)
		row_system_apply(&self->island.system, self->x, out);
	return status;
}

/* Moves a body by h d, which gives it no velocity and keeps its angular momentum. */
void velocity_displace_body(struct velocity_step *begin, uint32_t slot, struct spatial d)
{
	const struct step *step = begin->step;
	const struct body_table *table = &step->dynamics->tables->body;
	struct body_motion *motion = &begin->motions[slot];
	ASSERT(slot < step->body_count);
	uint32_t body = step->bodies[slot];
	begin->push[slot] = spatial_mul_add(begin->push[slot], d, 1);
	motion->centre = vec3_mul_add(motion->centre, d.linear, step->dt);
	if (vec3_equal(d.angular, vec3_zero()))
		return;
	sym3 inverse = sym3_load(table->inertia_inv[body]);
	vec3 momentum = integrate_tensor_at(sym3_load(table->inertia[body]), motion->rotation,
					    motion->angular_velocity);
	motion->rotation = quat_integrate(motion->rotation, d.angular, step->dt);
	uint32_t locks = locks_of(step->dynamics->tables, body);
	if (!step->dynamics->tables->world.planar[0] && sym3_trace(inverse) > 0 &&
	    !(locks & MASS_LOCK_TURNING))
		motion->angular_velocity = integrate_tensor_at(inverse, motion->rotation, momentum);
	begin->after[slot].angular = motion->angular_velocity;
}

void velocity_displace(struct velocity_step *begin, const struct island *members, uint32_t index,
		       const struct spatial *d)
{
	double work = 0;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		velocity_displace_body(begin, slot, d[slot]);
		work -= begin->step->dt * spatial_dot(begin->force[slot], d[slot]);
	}
	begin->outcomes[index].pushed = true;
	begin->outcomes[index].push_work += scalar_max(work, 0);
}
