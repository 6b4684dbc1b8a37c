/* impact_island.c: the contacts of one island without joints, over a motion of h seconds:
 *
 *   forces       at the beginning, at the level of accelerations (ch4-5 K2, K3): F ≥ 0 with friction and
 *                q'' = J a + J'v ≥ 0, complementary, for the points that touch
 *   motion       x' = x + h (v + ½ h a), where a includes the forces; turning keeps I ω (integrate_motion)
 *   push         penetration that the motion left is removed by displacements that give no velocity
 *   velocities   at the end: v' = v + ½ h a + ½ h f(x') + M⁻¹ J'ᵀ P with J' v' ≥ 0, complementary
 *
 * So half of the forces acts before and half after the motion. Errors are of second order; contacts
 * neither sink nor part, because the rows of the end are exact there.
 *
 * implicit_euler takes all of a at once: v' first, then x' = x + h v'. Islands with an explicit integrator
 * arrive at the stages of the end from impact_stages.c.
 *
 * A row is multiplied by h, so that forces are impulses: w = h (J a + J'v) + J v. A tangent then says
 * that the slip is 0 at the end of the motion, or opposes friction; a contact that slips and comes to rest
 * within the motion does not slip back. J v of a touching normal is 0 after the impulses, or parts.
 * The problem has a solution for every configuration and speed. Where accelerations alone have none
 * (Painlevé), it is an impulse that does not vanish with h and ends the slip: the contact has become a
 * collision, which is counted.
 */
#include "server/engine/methods/impact.h"

#include <string.h>

/* m/s. Slower approaches at the end of a motion are rounding. */
#define STILL 1e-13
/* m/s. Slower approaches need no impulse, because the forces include them. Smaller: contacts at rest are
 * solved once more a tick for what the solver's tolerance left, which is slow because nothing but rounding
 * decides. */
#define CREEP 1e-9

static bool has_joints(const struct velocity_step *step, const struct island *island)
{
	return island->constraint_count > 0 &&
	       island->constraints[island->constraint_count - 1] >= step->contact_count;
}

static bool is_explicit(const struct velocity_step *step, const struct island *island)
{
	return step->integrator != NULL && impact_is_explicit(step->integrator[island->slots[0]]);
}

void impact_island_add(const struct velocity_island *self, const double *x, double share)
{
	for (uint32_t i = 0; i < self->contact_rows; i++) {
		struct velocity_impulse *to = &self->step->impulses[self->block[i]];
		double c = self->turned[i][0], s = self->turned[i][1], p = share * x[i];
		to->normal += self->place[i] == 0 ? p : 0;
		to->tangent[0] += self->place[i] == 1 ? c * p : self->place[i] == 2 ? -s * p : 0;
		to->tangent[1] += self->place[i] == 1 ? s * p : self->place[i] == 2 ? c * p : 0;
	}
}

/* Index of the normal row of row i's block. */
static uint32_t normal_of(const struct velocity_island *self, uint32_t i)
{
	VALIDATE(i < self->contact_rows && self->place[i] <= i);
	return i - self->place[i];
}

double impact_island_bias(const struct velocity_island *self, uint32_t i)
{
	const struct row_list *list = &self->step->rows;
	const struct constraint_row *of = &list->rows[list->blocks[self->block[i]].first];
	double c = self->turned[i][0], s = self->turned[i][1];
	if (i >= self->contact_rows || self->place[i] == 0 || self->place[i] > 2)
		return of[self->place[i]].bias;
	return self->place[i] == 1 ? c * of[1].bias + s * of[2].bias
				   : c * of[2].bias - s * of[1].bias;
}

/* m/s. A contact that slips faster slides; slower, its friction has no direction. */
#define SLIDE_SPEED 1e-6

uint32_t impact_island_dead_ends(const struct velocity_island *self, const double *x)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i + 2 < self->contact_rows; i++) {
		if (self->place[i] != 0 || self->place[i + 1] != 1 || !(x[i] > 0))
			continue;
		const struct row_block *block = &self->step->rows.blocks[self->block[i]];
		const struct constraint_row *of = &self->step->rows.rows[block->first];
		double t = of[1].approach - of[1].wanted, k = of[2].approach - of[2].wanted;
		double c = self->turned[i + 1][0], s = self->turned[i + 1][1];
		double u[2] = { c * t + s * k, c * k - s * t };
		double speed = scalar_sqrt(u[0] * u[0] + u[1] * u[1]), left;
		if (!(speed > SLIDE_SPEED))
			continue;
		const struct mass_operator *mass = &self->step->mass;
		left = mass_couple(mass, self->rows[i].j, &self->system.responses[i]);
		for (uint32_t axis = 0; axis < 2; axis++)
			left -= of[1 + axis].dynamic_friction * u[axis] / speed *
				mass_couple(mass, self->rows[i].j,
					    &self->system.responses[i + 1 + axis]);
		count += left < 0;
	}
	return count;
}

enum status impact_island_forces(const struct island *members, uint32_t index, struct arena *arena,
				 void *context)
{
	struct impact_island_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (is_explicit(begin, members))
		return STATUS_OK;
	if (has_joints(begin, members))
		return velocity_motion_island(members, index, arena, begin);
	struct velocity_island self;
	enum status status = velocity_island_make(&self, begin, index, arena);
	if (status != STATUS_OK)
		return status;
	double *b = ARENA_ARRAY(arena, double, self.count);
	double *x = ARENA_ARRAY(arena, double, self.count);
	if (b == NULL || x == NULL)
		return STATUS_NO_MEMORY;
	double h = begin->step->dt, share = velocity_is_implicit(begin, members) ? 1 : 0.5;
	row_system_speeds(&self.system, begin->forced, b);
	for (uint32_t i = 0; i < self.count; i++) {
		const struct constraint_row *row = &self.rows[i];
		b[i] += h * impact_island_bias(&self, i) - row->wanted;
		/* Half of the change of velocity acts in the motion, which closes an open gap. */
		if (row->set == ROW_POSITIVE && row->gap > 0)
			b[i] += row->gap / (share * h);
	}
	velocity_warm_start(&self, x);
	struct velocity_problem forces = { NULL, b, x };
	status = velocity_island_solve(&self, &forces);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		begin->moving[slot] = begin->forced[slot];
	}
	uint32_t dead_ends = impact_island_dead_ends(&self, x);
	self.outcome->fallbacks += dead_ends;
	self.outcome->dead_ends += dead_ends;
	row_system_apply(&self.system, x, begin->moving);
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		struct spatial both = spatial_mul_add(begin->moving[slot], begin->before[slot], 1);
		if (share < 1)
			begin->moving[slot] = spatial_scale(both, 0.5);
	}
	impact_island_add(&self, x, share);
	return STATUS_OK;
}

/* Moves a body by h d, which gives it no velocity and keeps its angular momentum. */
static void displace_body(struct velocity_step *begin, uint32_t slot, struct spatial d)
{
	const struct step *step = begin->step;
	const struct body_table *table = &step->dynamics->tables->body;
	struct body_motion *motion = &begin->motions[slot];
	uint32_t body = step->bodies[slot];
	begin->push[slot] = spatial_mul_add(begin->push[slot], d, 1);
	motion->centre = vec3_mul_add(motion->centre, d.linear, step->dt);
	if (vec3_equal(d.angular, vec3_zero()))
		return;
	sym3 inverse = sym3_load(table->inertia_inv[body]);
	vec3 momentum = integrate_tensor_at(sym3_load(table->inertia[body]), motion->rotation,
					    motion->angular_velocity);
	motion->rotation = quat_integrate(motion->rotation, d.angular, step->dt);
	if (!step->dynamics->tables->world.planar[0] && sym3_trace(inverse) > 0)
		motion->angular_velocity = integrate_tensor_at(inverse, motion->rotation, momentum);
	begin->after[slot].angular = motion->angular_velocity;
}

enum status impact_island_push(const struct island *members, uint32_t index, struct arena *arena,
			       void *context)
{
	struct impact_island_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (has_joints(begin, members))
		return STATUS_OK;
	struct velocity_island self;
	enum status status = velocity_island_make(&self, stage->end, index, arena);
	self.outcome->solved = false; /* statistics count the forces */
	if (status != STATUS_OK)
		return status;
	double h = begin->step->dt, deepest = 0;
	bool again = is_explicit(begin, members);
	double *b = ARENA_ARRAY(arena, double, self.count);
	double *x = arena_push_zero(arena, self.count * sizeof *x);
	bool *selected = ARENA_ARRAY(arena, bool, self.count);
	struct spatial *d = arena_push_zero(arena, begin->step->body_count * sizeof *d);
	if (b == NULL || x == NULL || selected == NULL || d == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < self.count; i++) {
		double gap = self.rows[i].gap;
		selected[i] = self.rows[i].set == ROW_POSITIVE;
		b[i] = gap / h;
		/* What the stages left of a point that presses is closed, too. */
		if (again && selected[i] && self.step->impulses[self.block[i]].normal > 0 &&
		    begin->rows.rows[begin->rows.blocks[self.block[i]].first].gap <= IMPACT_TOUCH &&
		    gap <= IMPACT_CLOSE) {
			self.rows[i].set = ROW_FREE;
			deepest = scalar_min(deepest, -scalar_abs(gap));
			continue;
		}
		if (selected[i] && gap < 0) {
			deepest = scalar_min(deepest, gap);
			b[i] = scalar_min(
				scalar_max((gap + VELOCITY_DEPTH) / h, -begin->settings.push_speed),
				0);
		}
	}
	if (!(deepest < -VELOCITY_DEPTH))
		return STATUS_OK;
	struct velocity_problem push = { selected, b, x };
	status = velocity_island_solve(&self, &push);
	self.outcome->dependent = false;
	if (status != STATUS_OK)
		return status;
	row_system_apply(&self.system, x, d);
	double work = 0;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		displace_body(begin, slot, d[slot]);
		work -= h * spatial_dot(begin->force[slot], d[slot]);
	}
	begin->outcomes[index].pushed = true;
	begin->outcomes[index].push_work += scalar_max(work, 0);
	return STATUS_OK;
}

/* 1. What end_again may add to the kinetic energy of an island. It adds none but by friction and rounding;
 * above, the impulses are too large beside the masses for their difference to have digits. */
#define AGAIN_GAIN 1e-6

/* The impulses p of the whole motion again, so that velocities are right at its end: an explicit integrator
 * leaves points that press with a speed of the order of its error, apart or together, and only together with
 * what it had can an impulse be less. *good: false, and nothing changed, if the solution is none. */
static enum status end_again(struct velocity_island *self, const struct velocity_problem *problem,
			     struct spatial *after, bool *good)
{
	const struct island *island = self->island;
	const double *p = problem->x;
	struct spatial *before = ARENA_ARRAY(self->arena, struct spatial, island->slot_count);
	double *x = ARENA_ARRAY(self->arena, double, self->count);
	double *b = ARENA_ARRAY(self->arena, double, self->count);
	if (before == NULL || x == NULL || b == NULL)
		return STATUS_NO_MEMORY;
	double energy = velocity_energy(self->step->masses, after, island);
	uint32_t fallbacks = self->outcome->fallbacks;
	for (uint32_t i = 0; i < island->slot_count; i++)
		before[i] = after[island->slots[i]];
	for (uint32_t i = 0; i < self->count; i++)
		x[i] = problem->selected[i] ? -p[i] : 0;
	row_system_apply(&self->system, x, after);
	row_system_speeds(&self->system, after, b);
	for (uint32_t i = 0; i < self->count; i++) {
		b[i] -= self->rows[i].wanted;
		x[i] = p[i];
	}
	struct velocity_problem again = { problem->selected, b, x };
	enum status status = velocity_island_solve(self, &again);
	if (status != STATUS_OK)
		return status;
	row_system_apply(&self->system, x, after);
	*good = self->outcome->fallbacks == fallbacks &&
		velocity_energy(self->step->masses, after, island) <= energy * (1 + AGAIN_GAIN);
	self->outcome->fallbacks = fallbacks;
	for (uint32_t i = 0; i < island->slot_count && !*good; i++)
		after[island->slots[i]] = before[i];
	if (!*good)
		return STATUS_OK;
	for (uint32_t i = 0; i < self->count; i++)
		x[i] -= problem->selected[i] ? p[i] : 0;
	impact_island_add(self, x, 1);
	return STATUS_OK;
}

enum status impact_island_end(const struct island *members, uint32_t index, struct arena *arena,
			      void *context)
{
	struct impact_island_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (has_joints(begin, members))
		return STATUS_OK;
	struct velocity_island self;
	for (uint32_t i = 0; i < members->slot_count; i++) {
		uint32_t slot = members->slots[i];
		struct spatial more = spatial_mul_add(begin->forced[slot], begin->before[slot], -1);
		if (!velocity_is_whole(begin, members))
			begin->after[slot] = spatial_mul_add(begin->after[slot], more, 0.5);
	}
	enum status status = velocity_island_make(&self, stage->end, index, arena);
	self.outcome->solved = false;
	if (status != STATUS_OK)
		return status;
	double *b = ARENA_ARRAY(arena, double, self.count);
	double *x = arena_push_zero(arena, self.count * sizeof *x);
	bool *selected = ARENA_ARRAY(arena, bool, self.count);
	if (b == NULL || x == NULL || selected == NULL)
		return STATUS_NO_MEMORY;
	bool any = false, again = is_explicit(begin, members);
	row_system_speeds(&self.system, begin->after, b);
	for (uint32_t i = 0; i < self.count; i++) {
		uint32_t normal = normal_of(&self, i);
		const struct velocity_impulse *half = &self.step->impulses[self.block[i]];
		double c = self.turned[i][0], s = self.turned[i][1];
		bool pressed = half->normal > 0;
		x[i] = self.place[i] == 0   ? half->normal
		       : self.place[i] == 1 ? c * half->tangent[0] + s * half->tangent[1]
					    : c * half->tangent[1] - s * half->tangent[0];
		selected[i] = pressed || self.rows[normal].gap <= IMPACT_TOUCH;
		b[i] -= self.rows[i].wanted;
		any |= selected[i] && self.place[i] == 0 &&
		       (b[i] < -STILL || (again && pressed && b[i] > STILL));
	}
	if (!any)
		return STATUS_OK;
	/* The other half of the forces is much like the first. */
	struct velocity_problem problem = { selected, b, x };
	bool good = false;
	if (again)
		status = end_again(&self, &problem, begin->after, &good);
	self.outcome->dependent = false;
	if (status != STATUS_OK || good)
		return status;
	status = velocity_island_solve(&self, &problem);
	self.outcome->dependent = false;
	if (status != STATUS_OK)
		return status;
	row_system_apply(&self.system, x, begin->after);
	impact_island_add(&self, x, 1);
	return STATUS_OK;
}

enum status impact_island_collide(const struct island *members, uint32_t index, struct arena *arena,
				  void *context)
{
	UNUSED(members);
	struct velocity_step *begin = context;
	struct velocity_island self;
	enum status status = velocity_island_make(&self, begin, index, arena);
	self.outcome->solved = false;
	if (status != STATUS_OK)
		return status;
	double *b = ARENA_ARRAY(arena, double, self.count);
	double *u = ARENA_ARRAY(arena, double, self.count);
	double *x = arena_push_zero(arena, self.count * sizeof *x);
	bool *selected = ARENA_ARRAY(arena, bool, self.count);
	if (b == NULL || u == NULL || x == NULL || selected == NULL)
		return STATUS_NO_MEMORY;
	bool any = false;
	row_system_speeds(&self.system, begin->before, u);
	for (uint32_t i = 0; i < self.count; i++) {
		if (i >= self.contact_rows) {
			const struct velocity_joint_row *joint =
				&self.joints[i - self.contact_rows];
			selected[i] = velocity_joints_impact(&self, i, 0, &u[i]);
			if (joint->role != VELOCITY_LIMIT || !(joint->lower < joint->upper))
				continue;
			selected[i] = self.rows[i].gap <= IMPACT_LIMIT;
			any |= selected[i] && u[i] < -begin->settings.restitution_speed;
			continue;
		}
		/* A gap that only the motion closes takes no part in an impulse. */
		selected[i] = self.rows[normal_of(&self, i)].gap <= IMPACT_KEEP;
		any |= selected[i] && self.place[i] == 0 && u[i] < -CREEP;
	}
	if (!any)
		return STATUS_OK;
	status = velocity_newton(&self, selected, u, b, x);
	if (status != STATUS_OK)
		return status;
	row_system_apply(&self.system, x, begin->after);
	impact_island_add(&self, x, 1);
	if (self.joints != NULL)
		velocity_joints_add_results(&self, x);
	return STATUS_OK;
}
