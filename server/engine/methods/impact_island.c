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

/* m/s. Slower approaches need no impulse, because the forces include them. Smaller: contacts at rest are
 * solved once more a tick for what the solver's tolerance left, which is slow because nothing but rounding
 * decides. */
#define CREEP 1e-9

static bool is_explicit(const struct velocity_step *step, const struct island *island)
{
	return step->integrator != NULL && impact_is_explicit(step->integrator[island->slots[0]]);
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
		bool along = block->along[0] != 0 || block->along[1] != 0;
		double speed = scalar_sqrt(u[0] * u[0] + u[1] * u[1]), left;
		if (!(speed > SLIDE_SPEED))
			continue;
		const struct mass_operator *mass = &self->step->mass;
		left = mass_couple(mass, self->rows[i].j, &self->system.responses[i]);
		for (uint32_t axis = 0; axis < 2; axis++) {
			/* With a friction axis each tangent slides or sticks by itself. */
			double part = !along				  ? u[axis] / speed
				      : scalar_abs(u[axis]) > SLIDE_SPEED ? scalar_sign(u[axis])
									  : 0;
			left -= of[1 + axis].dynamic_friction * part *
				mass_couple(mass, self->rows[i].j,
					    &self->system.responses[i + 1 + axis]);
		}
		count += left < 0;
	}
	return count;
}

enum status impact_island_forces(const struct island *members, uint32_t index, struct arena *arena,
				 void *context)
{
	struct velocity_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (is_explicit(begin, members))
		return STATUS_OK;
	if (velocity_has_joints(begin, members))
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
			b[i] += scalar_min(row->gap / (share * h), SPEED_MAX);
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
	velocity_add_impulses(&self, x, share);
	return STATUS_OK;
}

enum status impact_island_push(const struct island *members, uint32_t index, struct arena *arena,
			       void *context)
{
	struct velocity_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (velocity_has_joints(begin, members))
		return STATUS_OK;
	struct velocity_end self;
	enum status status = velocity_end_make(&self, stage->end, index, arena);
	if (status != STATUS_OK)
		return status;
	double h = begin->step->dt, deepest = 0;
	bool again = is_explicit(begin, members);
	for (uint32_t i = 0; i < self.island.count; i++) {
		double gap = self.island.rows[i].gap;
		uint32_t block = self.island.block[i];
		self.selected[i] = self.island.rows[i].set == ROW_POSITIVE;
		/* A wide gap of a short motion is far from closing; its b would dwarf all others. */
		self.b[i] = scalar_min(gap / h, SPEED_MAX);
		/* What the stages left of a point that presses is closed, too. */
		if (again && self.selected[i] && self.island.step->impulses[block].normal > 0 &&
		    begin->rows.rows[begin->rows.blocks[block].first].gap <= IMPACT_TOUCH &&
		    gap <= IMPACT_CLOSE) {
			self.island.rows[i].set = ROW_FREE;
			deepest = scalar_min(deepest, -scalar_abs(gap));
			continue;
		}
		if (self.selected[i] && gap < 0) {
			deepest = scalar_min(deepest, gap);
			self.b[i] = scalar_min(
				scalar_max((gap + VELOCITY_DEPTH) / h, -begin->settings.push_speed),
				0);
		}
	}
	if (!(deepest < -VELOCITY_DEPTH))
		return STATUS_OK;
	struct spatial *d = ARENA_ARRAY(arena, struct spatial, begin->step->body_count);
	if (d == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < members->slot_count; i++)
		d[members->slots[i]] = spatial_zero();
	status = velocity_end_solve(&self, d);
	if (status == STATUS_OK)
		velocity_displace(begin, members, index, d);
	return status;
}

/* 1. What end_again may add to the kinetic energy of an island. It adds none but by friction and rounding;
 * above, the impulses are too large beside the masses for their difference to have digits. */
#define AGAIN_GAIN 1e-6

/* The impulses p of the whole motion again, so that velocities are right at its end: an explicit integrator
 * leaves points that press with a speed of the order of its error, apart or together, and only together with
 * what it had can an impulse be less. *good: false, and nothing changed, if the solution is none. */
static enum status end_again(struct velocity_end *self, struct spatial *after, bool *good)
{
	struct velocity_island *of = &self->island;
	const struct island *island = of->island;
	const double *p = self->x;
	struct spatial *before = ARENA_ARRAY(of->arena, struct spatial, island->slot_count);
	double *x = ARENA_ARRAY(of->arena, double, of->count);
	double *b = ARENA_ARRAY(of->arena, double, of->count);
	if (before == NULL || x == NULL || b == NULL)
		return STATUS_NO_MEMORY;
	double energy = velocity_energy(of->step->masses, after, island);
	uint32_t fallbacks = of->outcome->fallbacks;
	for (uint32_t i = 0; i < island->slot_count; i++)
		before[i] = after[island->slots[i]];
	for (uint32_t i = 0; i < of->count; i++)
		x[i] = self->selected[i] ? -p[i] : 0;
	row_system_apply(&of->system, x, after);
	row_system_speeds(&of->system, after, b);
	for (uint32_t i = 0; i < of->count; i++) {
		b[i] -= of->rows[i].wanted;
		x[i] = p[i];
	}
	struct velocity_problem again = { self->selected, b, x };
	enum status status = velocity_island_solve(of, &again);
	of->outcome->dependent = false;
	if (status != STATUS_OK)
		return status;
	row_system_apply(&of->system, x, after);
	*good = of->outcome->fallbacks == fallbacks &&
		velocity_energy(of->step->masses, after, island) <= energy * (1 + AGAIN_GAIN);
	of->outcome->fallbacks = fallbacks;
	for (uint32_t i = 0; i < island->slot_count && !*good; i++)
		after[island->slots[i]] = before[i];
	if (!*good)
		return STATUS_OK;
	for (uint32_t i = 0; i < of->count; i++)
		x[i] -= self->selected[i] ? p[i] : 0;
	velocity_add_impulses(of, x, 1);
	return STATUS_OK;
}

enum status impact_island_end(const struct island *members, uint32_t index, struct arena *arena,
			      void *context)
{
	struct velocity_stage *stage = context;
	struct velocity_step *begin = stage->begin;
	if (velocity_has_joints(begin, members))
		return STATUS_OK;
	struct velocity_end self;
	const struct velocity_island *island = &self.island;
	if (!velocity_is_whole(begin, members))
		velocity_add_half_of_forces(begin, members);
	enum status status = velocity_end_make(&self, stage->end, index, arena);
	if (status != STATUS_OK)
		return status;
	bool any = false, again = is_explicit(begin, members);
	row_system_speeds(&island->system, begin->after, self.b);
	for (uint32_t i = 0; i < island->count; i++) {
		uint32_t normal = normal_of(island, i);
		const struct velocity_impulse *half = &island->step->impulses[island->block[i]];
		bool pressed = half->normal > 0;
		/* The other half of the forces is much like the first. */
		self.x[i] = velocity_row_impulse(island, i, half->normal, half->tangent[0],
						 half->tangent[1]);
		self.selected[i] = pressed || island->rows[normal].gap <= IMPACT_TOUCH;
		self.b[i] -= island->rows[i].wanted;
		any |= self.selected[i] && island->place[i] == 0 &&
		       (self.b[i] < -VELOCITY_STILL ||
			(again && pressed && self.b[i] > VELOCITY_STILL));
	}
	if (!any)
		return STATUS_OK;
	bool good = false;
	if (again)
		status = end_again(&self, begin->after, &good);
	if (status != STATUS_OK || good)
		return status;
	status = velocity_end_solve(&self, begin->after);
	if (status == STATUS_OK)
		velocity_add_impulses(island, self.x, 1);
	return status;
}

/* Speeds u of an island's rows, and which take part in an impact. False: nothing collides. */
static bool select_colliding(const struct velocity_island *self, double *u, bool *selected)
{
	const struct velocity_step *begin = self->step;
	bool any = false;
	for (uint32_t i = 0; i < self->count; i++) {
		if (i >= self->contact_rows) {
			const struct velocity_joint_row *joint =
				&self->joints[i - self->contact_rows];
			selected[i] = velocity_joints_impact(self, i, 0, &u[i]);
			if (joint->role != VELOCITY_LIMIT || !(joint->lower < joint->upper))
				continue;
			selected[i] = self->rows[i].gap <= IMPACT_LIMIT;
			any |= selected[i] && u[i] < -begin->settings.restitution_speed;
			continue;
		}
		/* A gap that only the motion closes takes no part in an impulse. */
		selected[i] = self->rows[normal_of(self, i)].gap <= IMPACT_KEEP;
		any |= selected[i] && self->place[i] == 0 && u[i] < -CREEP;
	}
	return any;
}

enum status impact_island_collide(const struct island *members, uint32_t index, struct arena *arena,
				  void *context)
{
	UNUSED(members);
	struct velocity_step *begin = context;
	struct velocity_end problem;
	struct velocity_island *self = &problem.island;
	enum status status = velocity_end_make(&problem, begin, index, arena);
	if (status != STATUS_OK)
		return status;
	double *u = ARENA_ARRAY(arena, double, self->count);
	if (u == NULL)
		return STATUS_NO_MEMORY;
	bool *selected = problem.selected;
	row_system_speeds(&self->system, begin->before, u);
	if (!select_colliding(self, u, selected))
		return STATUS_OK;
	if (self->tree != NULL) {
		velocity_tree_hold(self, begin->after);
		row_system_speeds(&self->system, begin->after, u);
		(void)select_colliding(self, u, selected);
	}
	status = velocity_newton(self, selected, u, problem.b, problem.x);
	if (status != STATUS_OK)
		return status;
	row_system_apply(&self->system, problem.x, begin->after);
	velocity_add_impulses(self, problem.x, 1);
	if (self->joints != NULL)
		velocity_joints_add_results(self, problem.x);
	if (self->tree != NULL)
		velocity_tree_add_results(self, begin->after, problem.x);
	return STATUS_OK;
}
