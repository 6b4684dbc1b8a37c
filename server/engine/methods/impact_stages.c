/* impact_stages.c: motion of a batch by an explicit integrator (app B-01 to B-04, B-07).
 *
 *   x' = v,   q' = ½ (0, ω) q,   v' = a,   H' = τ,   ω = R I_b⁻¹ Rᵀ H
 *
 * At each stage all bodies of an island are placed at the stage's state, forces are evaluated there, and
 * with them the forces of joints and contacts, at the level of accelerations:
 *
 *   spring         its force at the stage's coordinate and speed
 *   locked axis    J a + J'v = 0
 *   rotor          J a + J'v + F/armature = 0
 *   contact        F ≥ 0 and J a + J'v ≥ 0, complementary, with friction; as impact_island.c for points
 *                  that are not at rest on each other, where half of the change closes a gap
 *
 * So a rolling ball, a pendulum and a chain have the order of their integrator. What a step leaves,
 * which is of the order of its error, is removed at its end as for every other motion: positions by
 * displacements, velocities by J v' = 0. Which points are at rest is decided at the first stage,
 * because a change within a step would leave the order and make the stages contradict each other.
 *
 * Contacts that begin, end, stick or slip within a step are of first order, as with every integrator that
 * does not stop there; collisions do stop it (impact.c).
 *
 * A step has no result if it is not finite or too fast, if its forces have no solution at some stage
 * (Painlevé's are none without a jump of velocity), or if a spring is too stiff for it (STIFF). Its
 * bodies move by their automatic integrator, which makes a collision of such a contact, or for the
 * spring by implicit Euler; each is counted.
 */
#include "server/engine/dynamics/ode.h"
#include "server/engine/methods/impact.h"

#include <string.h>

/* 1. Angular frequency of a spring times the step, and decay of its damper in a step, above which explicit
 * integrators of second order and less are of no use; they diverge at 2. */
#define STIFF 1.0
/* m/s. Points that part or slip more slowly at the first stage are at rest on each other. Larger: slow slips
 * end a step early; smaller: what the end of the last motion left counts as motion. */
#define REST_SPEED 1e-6

#define ALLOCATE(type, count) ARENA_ARRAY(&self->of->step->dynamics->scratch, type, count)

/* What becomes of an island's step. */
enum stages_outcome { STAGES_GOOD, STAGES_STIFF, STAGES_BAD };

struct stage_rate {
	vec3 velocity, acceleration, torque;
	quat turning;
};

struct stages {
	struct impact_batch *batch;
	struct velocity_step at; /* the batch at the present stage */
	uint8_t integrator;
	const struct ode_tableau *tableau;
	uint32_t stage;
	struct body_motion *motions; /* by slot, at the stage */
	struct mass_body *masses;    /* likewise */
	struct spatial *free;	     /* accelerations without constraints */
	struct stage_rate *rates;    /* by stage and slot */
	uint8_t *outcomes;	     /* by slot: enum stages_outcome */
	bool *rests;		     /* by row of the step's list: decided at the first stage */
	struct velocity_impulse *impulses; /* by block, of the stages so far, weighted */
};

static bool is_member(const struct stages *self, uint32_t slot)
{
	const struct impact_batch *batch = self->batch;
	return batch->integrator[slot] == self->integrator && mass_moves(&batch->solve.mass, slot);
}

/* ---- one island at one stage ------------------------------------------------------------------ */

static void mark_island(const struct stages *self, const struct island *island,
			enum stages_outcome outcome)
{
	for (uint32_t i = 0; i < island->slot_count; i++)
		self->outcomes[island->slots[i]] = (uint8_t)outcome;
}

/* Adds the springs' forces to `forced`, as impulses that go into x. False: one is too stiff. */
static bool push_springs(const struct velocity_island *self, const double *speeds, double *x)
{
	double h = self->step->step->dt;
	for (uint32_t i = 0; i < self->count; i++) {
		x[i] = 0;
		if (i < self->contact_rows ||
		    self->joints[i - self->contact_rows].role != VELOCITY_SPRING)
			continue;
		const struct velocity_joint_row *joint = &self->joints[i - self->contact_rows];
		double k, c, a;
		velocity_joints_spring(self, i, &k, &c);
		a = mass_couple(&self->step->mass, self->rows[i].j, &self->system.responses[i]);
		if (!(k * a * h * h <= STIFF * STIFF) || !(c * a * h <= STIFF))
			return false;
		double pull = -h * (k * self->rows[i].gap + c * (speeds[i] - self->rows[i].wanted));
		x[i] = joint->lower < joint->upper ? scalar_clamp(pull, joint->lower, joint->upper)
						   : 0;
	}
	row_system_apply(&self->system, x, self->step->forced);
	return true;
}

/* Index of row i in the step's list. */
static uint32_t row_index(const struct velocity_island *self, uint32_t i)
{
	return self->step->rows.blocks[self->block[i]].first + self->place[i];
}

/* Whether the row's coordinate is at rest at the first stage, so that only its acceleration is
 * constrained. */
static bool is_at_rest(const struct velocity_island *self, uint32_t i, const double *speeds)
{
	if (i >= self->contact_rows)
		return self->joints[i - self->contact_rows].role == VELOCITY_LOCK;
	const struct constraint_row *row = &self->rows[i];
	if (self->place[i] == 0)
		return row->gap <= IMPACT_TOUCH && scalar_abs(speeds[i]) <= REST_SPEED;
	if (self->place[i] > 2)
		return false;
	const double *along = self->step->rows.blocks[self->block[i]].along;
	if (along[0] != 0 || along[1] != 0)
		return scalar_abs(speeds[i] - row->wanted) <= REST_SPEED;
	/* Both tangents of a point. */
	uint32_t first = i - self->place[i] + 1;
	double u = speeds[first] - self->rows[first].wanted;
	double v = speeds[first + 1] - self->rows[first + 1].wanted;
	return scalar_sqrt(u * u + v * v) <= REST_SPEED;
}

/* b of all rows, in: J (v + h a) without constraints. */
static void set_targets(const struct stages *self, const struct velocity_island *island,
			const double *speeds, bool *selected, double *b)
{
	double h = island->step->step->dt;
	for (uint32_t i = 0; i < island->contact_rows; i++) {
		const struct constraint_row *row = &island->rows[i];
		selected[i] = true;
		if (row->set == ROW_POSITIVE && row->gap > 0 && !self->rests[row_index(island, i)])
			b[i] += 2 * row->gap / h;
		b[i] -= row->wanted;
	}
	if (island->joints != NULL)
		velocity_joints_targets(island, selected, b);
	for (uint32_t i = 0; i < island->count; i++) {
		if (i >= island->contact_rows &&
		    island->joints[i - island->contact_rows].role == VELOCITY_SPRING) {
			selected[i] = false;
			continue;
		}
		b[i] += h * impact_island_bias(island, i);
		if (velocity_is_rotor(island, i)) {
			const struct velocity_joint_row *rotor =
				&island->joints[i - island->contact_rows];
			b[i] -= speeds[i] + rotor->pull + rotor->curvature;
			continue;
		}
		if (self->rests[row_index(island, i)])
			b[i] -= speeds[i] - island->rows[i].wanted;
	}
}

static enum status solve_stage(const struct island *members, uint32_t index, struct arena *arena,
			       void *context)
{
	struct stages *self = context;
	if (self->batch->integrator[members->slots[0]] != self->integrator ||
	    self->outcomes[members->slots[0]] != STAGES_GOOD)
		return STATUS_OK;
	struct velocity_island island;
	enum status status = velocity_island_make(&island, &self->at, index, arena);
	if (status != STATUS_OK)
		return status;
	double *b = ARENA_ARRAY(arena, double, island.count);
	double *x = ARENA_ARRAY(arena, double, island.count);
	double *speeds = ARENA_ARRAY(arena, double, island.count);
	double *springs = ARENA_ARRAY(arena, double, island.count);
	bool *selected = ARENA_ARRAY(arena, bool, island.count);
	if (b == NULL || x == NULL || speeds == NULL || springs == NULL || selected == NULL)
		return STATUS_NO_MEMORY;
	row_system_speeds(&island.system, self->at.before, speeds);
	for (uint32_t i = 0; self->stage == 0 && i < island.count; i++)
		self->rests[row_index(&island, i)] = is_at_rest(&island, i, speeds);
	if (!push_springs(&island, speeds, springs)) {
		mark_island(self, members, STAGES_STIFF);
		return STATUS_OK;
	}
	row_system_speeds(&island.system, self->at.forced, b);
	set_targets(self, &island, speeds, selected, b);
	velocity_warm_start(&island, x);
	struct velocity_problem problem = { selected, b, x };
	struct velocity_outcome before = *island.outcome;
	status = velocity_island_solve(&island, &problem);
	if (status != STATUS_OK)
		return status;
	if (island.outcome->fallbacks > before.fallbacks ||
	    impact_island_dead_ends(&island, x) > 0) {
		*island.outcome = before;
		mark_island(self, members, STAGES_BAD);
		return STATUS_OK;
	}
	row_system_apply(&island.system, x, self->at.forced);
	double weight = self->tableau->b[self->stage];
	for (uint32_t i = 0; i < island.count; i++)
		x[i] = weight * (x[i] + springs[i]);
	velocity_add_impulses(&island, x, 1);
	if (island.joints != NULL)
		velocity_joints_add_results(&island, x);
	return STATUS_OK;
}

/* ---- stages of the batch ---------------------------------------------------------------------- */

/* start + h Σ weight_j k_j of one body. */
static struct body_motion weigh_rates(const struct stages *self, uint32_t slot,
				      const double *weights, uint32_t count)
{
	const struct impact_batch *batch = self->batch;
	const struct tables *tables = batch->of->step->dynamics->tables;
	uint32_t body = batch->step.bodies[slot];
	sym3 inertia = sym3_load(tables->body.inertia[body]);
	sym3 inverse = sym3_load(tables->body.inertia_inv[body]);
	struct body_motion at = batch->start[slot];
	quat q = at.rotation;
	vec3 momentum = integrate_tensor_at(inertia, q, at.angular_velocity);
	for (uint32_t j = 0; j < count; j++) {
		const struct stage_rate *rate = &self->rates[j * batch->count + slot];
		double w = batch->step.dt * weights[j];
		if (w == 0)
			continue;
		at.centre = vec3_mul_add(at.centre, rate->velocity, w);
		at.velocity = vec3_mul_add(at.velocity, rate->acceleration, w);
		momentum = vec3_mul_add(momentum, rate->torque, w);
		q = quat_make(q.w + w * rate->turning.w, q.x + w * rate->turning.x,
			      q.y + w * rate->turning.y, q.z + w * rate->turning.z);
	}
	if (count == 0)
		return at;
	at.rotation = quat_normalize(q);
	at.angular_velocity = integrate_tensor_at(inverse, at.rotation, momentum);
	if (tables->world.planar[0])
		at.angular_velocity.x = at.angular_velocity.y = 0;
	return at;
}

/* Forces at the stage, without constraints: `free`, and torques in the rates. */
static enum status find_forces(struct stages *stages, double time)
{
	struct impact_batch *self = stages->batch;
	const struct tables *tables = self->of->step->dynamics->tables;
	struct force_sum *sums = ALLOCATE(struct force_sum, self->count);
	struct spatial *forces = ALLOCATE(struct spatial, self->count);
	if (sums == NULL || forces == NULL)
		return STATUS_NO_MEMORY;
	struct force_bodies bodies = { self->step.bodies, stages->motions, self->count };
	force_list_all(&self->of->forces, &bodies, time, sums);
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t body = self->step.bodies[i];
		const struct body_motion *at = &stages->motions[i];
		struct stage_rate *rate = &stages->rates[stages->stage * self->count + i];
		vec3 momentum = integrate_tensor_at(sym3_load(tables->body.inertia[body]),
						    at->rotation, at->angular_velocity);
		rate->velocity = at->velocity;
		rate->turning = quat_derivative(at->rotation, at->angular_velocity);
		rate->acceleration = vec3_mul_add(sums[i].acceleration, sums[i].force,
						  tables->body.mass_inv[body]);
		rate->acceleration = vec3_mul_sub(rate->acceleration, at->velocity,
						  tables->body.linear_damping[body]);
		rate->torque =
			vec3_mul_sub(sums[i].torque, momentum, tables->body.angular_damping[body]);
		forces[i] = (struct spatial){ vec3_zero(), rate->torque };
		stages->at.before[i] = (struct spatial){ at->velocity, at->angular_velocity };
	}
	mass_accelerate(&stages->at.mass, forces, stages->at.before, stages->free);
	for (uint32_t i = 0; i < self->count; i++) {
		struct stage_rate *rate = &stages->rates[stages->stage * self->count + i];
		if (mass_moves(&stages->at.mass, i))
			stages->free[i].linear = rate->acceleration;
		else
			stages->free[i] = spatial_zero();
		stages->at.forced[i] =
			spatial_mul_add(stages->at.before[i], stages->free[i], self->step.dt);
	}
	return STATUS_OK;
}

/* Adds the forces of constraints, by what they changed of `forced`. */
static void add_constraints(struct stages *stages)
{
	const struct impact_batch *self = stages->batch;
	const struct tables *tables = self->of->step->dynamics->tables;
	for (uint32_t i = 0; i < self->count; i++) {
		if (!is_member(stages, i) || self->solve.islands.island_of[i] == UINT32_MAX)
			continue;
		struct spatial without =
			spatial_mul_add(stages->at.before[i], stages->free[i], self->step.dt);
		struct spatial change = spatial_mul_add(stages->at.forced[i], without, -1);
		change = spatial_scale(change, 1 / self->step.dt);
		struct stage_rate *rate = &stages->rates[stages->stage * self->count + i];
		sym3 inertia = sym3_load(tables->body.inertia[self->step.bodies[i]]);
		rate->acceleration = vec3_add(rate->acceleration, change.linear);
		rate->torque = vec3_add(
			rate->torque,
			integrate_tensor_at(inertia, stages->motions[i].rotation, change.angular));
	}
}

static enum status make_stage(struct stages *stages)
{
	struct impact_batch *self = stages->batch;
	const struct impact_step *of = self->of;
	const struct ode_tableau *t = stages->tableau;
	uint32_t s = stages->stage;
	double time = self->begin + t->c[s] * self->step.dt;
	for (uint32_t i = 0; i < self->count; i++)
		stages->motions[i] = is_member(stages, i) ? weigh_rates(stages, i, t->a[s], s)
				     : mass_moves(&self->solve.mass, i)
					     ? self->start[i]
					     : impact_motion_at(of, self->step.bodies[i], time);
	mass_bodies_from_tables(of->step->dynamics->tables, self->step.bodies, self->count,
				stages->motions, stages->masses);
	stages->at.masses = stages->masses;
	stages->at.mass = mass_operator_free(stages->masses, self->count);
	enum status status = find_forces(stages, time);
	if (status != STATUS_OK || self->solve.constraint_count == 0)
		return status;
	struct arena *scratch = &of->step->dynamics->scratch;
	struct arena_mark mark = arena_mark(scratch);
	status = velocity_state_moved(&stages->at, stages->motions);
	ASSERT(status != STATUS_OK || stages->at.rows.block_count == self->solve.rows.block_count);
	stages->at.impulses = stages->impulses;
	if (status == STATUS_OK)
		status = islands_solve(of->step, &self->solve.islands, solve_stage, stages);
	arena_rewind(scratch, mark);
	if (status == STATUS_OK)
		add_constraints(stages);
	return status;
}

/* ---- results ---------------------------------------------------------------------------------- */

static bool is_good(const struct body_motion *at)
{
	double sum = vec3_length_squared(at->centre) + quat_dot(at->rotation, at->rotation);
	return scalar_is_finite(sum) && vec3_length_squared(at->velocity) < SPEED_MAX * SPEED_MAX &&
	       vec3_length_squared(at->angular_velocity) < ANGULAR_SPEED_MAX * ANGULAR_SPEED_MAX;
}

/* Results of the members into the batch, and the error of a pair. Islands of which a body has none get
 * outcome BAD. */
static void take_results(struct stages *stages)
{
	struct impact_batch *self = stages->batch;
	struct velocity_step *v = &self->solve;
	const struct ode_tableau *t = stages->tableau;
	double *late = stages->tableau->error[0] != 0 ? (double[ODE_STAGES_MAX]){ 0 } : NULL;
	for (uint32_t s = 0; late != NULL && s < t->stages; s++)
		late[s] = t->b[s] - t->error[s];
	for (uint32_t i = 0; i < self->count; i++) {
		if (!is_member(stages, i) || stages->outcomes[i] != STAGES_GOOD)
			continue;
		struct body_motion at = weigh_rates(stages, i, t->b, t->stages);
		if (!is_good(&at)) {
			stages->outcomes[i] = STAGES_BAD;
			continue;
		}
		v->motions[i] = at;
		if (late == NULL)
			continue;
		struct body_motion other = weigh_rates(stages, i, late, t->stages);
		double error =
			impact_batch_distance(self->of, self->slots[i], &at, &other, self->step.dt);
		self->error = scalar_max(self->error, error);
	}
	for (uint32_t k = 0; k < v->islands.count; k++) {
		const struct island *island = &v->islands.items[k];
		for (uint32_t i = 0; i < island->slot_count; i++)
			if (is_member(stages, island->slots[i]) &&
			    stages->outcomes[island->slots[i]] == STAGES_BAD)
				mark_island(stages, island, STAGES_BAD);
	}
}

/* Impulses of the islands that have a result; those of the others are withdrawn. */
static void take_impulses(struct stages *stages)
{
	struct velocity_step *v = &stages->batch->solve;
	for (uint32_t k = 0; k < v->islands.count; k++) {
		const struct island *island = &v->islands.items[k];
		if (!is_member(stages, island->slots[0]))
			continue;
		bool good = stages->outcomes[island->slots[0]] == STAGES_GOOD;
		for (uint32_t i = 0; i < island->constraint_count; i++) {
			uint32_t c = island->constraints[i];
			for (uint32_t b = v->first_block[c]; good && b < v->first_block[c + 1]; b++)
				v->impulses[b] = stages->impulses[b];
			if (good || c < v->contact_count)
				continue;
			v->joint_results[c - v->contact_count] = (struct joint_result){ 0 };
			velocity_rotors_follow(v, c - v->contact_count, stages->batch->begin == 0);
		}
	}
}

/* Replaces the integrators of bodies without a result, and completes those with one. */
static void finish_members(struct stages *stages)
{
	struct impact_batch *self = stages->batch;
	struct velocity_step *v = &self->solve;
	for (uint32_t i = 0; i < self->count; i++) {
		if (!is_member(stages, i))
			continue;
		if (stages->outcomes[i] != STAGES_GOOD) {
			self->integrator[i] = stages->outcomes[i] == STAGES_STIFF
						      ? INTEGRATOR_IMPLICIT_EULER
						      : INTEGRATOR_AUTOMATIC;
			self->of->counts.rejected++;
			self->error = __builtin_inf();
			v->motions[i] = self->start[i];
			continue;
		}
		const struct body_motion *to = &v->motions[i];
		struct spatial mean = spatial_scale(
			spatial_mul_add(v->before[i],
					(struct spatial){ to->velocity, to->angular_velocity }, 1),
			0.5);
		v->moving[i] = mean;
		v->after[i] = (struct spatial){ to->velocity, to->angular_velocity };
	}
}

static enum status allocate(struct stages *stages)
{
	struct impact_batch *self = stages->batch;
	uint32_t n = self->count;
	struct arena *scratch = &self->of->step->dynamics->scratch;
	stages->motions = ALLOCATE(struct body_motion, n);
	stages->masses = ALLOCATE(struct mass_body, n);
	stages->free = ALLOCATE(struct spatial, n);
	stages->at.before = ALLOCATE(struct spatial, n);
	stages->at.forced = ALLOCATE(struct spatial, n);
	stages->rates = ALLOCATE(struct stage_rate, (size_t)stages->tableau->stages * n);
	stages->outcomes = arena_push_zero(scratch, n * sizeof *stages->outcomes);
	stages->rests =
		arena_push_zero(scratch, self->solve.rows.row_count * sizeof *stages->rests);
	stages->impulses =
		arena_push_zero(scratch, self->solve.rows.block_count * sizeof *stages->impulses);
	return stages->motions != NULL && stages->masses != NULL && stages->free != NULL &&
			       stages->at.before != NULL && stages->at.forced != NULL &&
			       stages->rates != NULL && stages->outcomes != NULL &&
			       stages->rests != NULL && stages->impulses != NULL
		       ? STATUS_OK
		       : STATUS_NO_MEMORY;
}

static const enum ode_method METHODS[INTEGRATORS_END] = {
	[INTEGRATOR_EULER] = ODE_EULER,
	[INTEGRATOR_RK2] = ODE_RK2,
	[INTEGRATOR_RK4] = ODE_RK4,
	[INTEGRATOR_RK45] = ODE_RK45,
};

static enum status move_members(struct impact_batch *self, uint8_t integrator)
{
	struct stages stages = { .batch = self,
				 .at = self->solve,
				 .integrator = integrator,
				 .tableau = ode_tableau(METHODS[integrator]) };
	stages.at.settings.accelerations = true;
	bool any = false;
	for (uint32_t i = 0; i < self->count; i++)
		any |= is_member(&stages, i);
	if (!any)
		return STATUS_OK;
	enum status status = allocate(&stages);
	for (; status == STATUS_OK && stages.stage < stages.tableau->stages; stages.stage++)
		status = make_stage(&stages);
	if (status != STATUS_OK)
		return status;
	take_results(&stages);
	take_impulses(&stages);
	finish_members(&stages);
	return STATUS_OK;
}

enum status impact_stages_move(struct impact_batch *self)
{
	enum status status = STATUS_OK;
	self->error = 0;
	self->embedded = true;
	for (uint32_t i = 0; i < self->count; i++)
		self->embedded &=
			self->integrator[i] == INTEGRATOR_RK45 || !mass_moves(&self->solve.mass, i);
	for (uint8_t k = 0; k < INTEGRATORS_END && status == STATUS_OK; k++)
		if (impact_is_explicit(k))
			status = move_members(self, k);
	return status;
}
