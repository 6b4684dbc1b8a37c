/* penalty.c: `penalty`: contacts as springs (ch4-5 X3, ch1-3 exercise 1.6-2), for comparison.
 *
 * Nothing is solved and no time of collision is looked for: wherever two surfaces are nearer than the
 * thickness δ, a spring and a damper push them apart. With d = δ − gap > 0, closing speed u = −d gap/dt
 * and the mass m that moves along the normal at the point:
 *
 *   F = k d + 2 √(k m) u, but ≥ 0                 slow contacts: critically damped
 *   F = k d while u > 0, e² k d after             contacts that arrived faster than restitution.speed:
 *                                                 the loop encloses 1 − e² of the energy, so the speed
 *                                                 returns as e, whatever k is
 *   F_t = −k ξ − 2 √(k m_t) v_t, |F_t| ≤ μ F      ξ, the slip since sticking, is shortened where it slides
 *
 *   k = m s min((c/h)², max(ω², (v/δ)²))          adaptive: as soft as stops the arriving speed v within
 *                                                 δ, no softer than ω at rest, no stiffer than the
 *                                                 sub-step h can follow
 *
 * s shares a body's stiffness among its points and contacts. A tick has n sub-steps: forces at its start,
 * then velocities, then positions (symplectic Euler, gravity and drives exact). The manifold, its normal
 * and its arms are those of the tick's start; gaps follow the speeds at the points. A body without near
 * contacts takes the free path, with the bits of every other method.
 *
 * What goes wrong, and what then happens. Bodies rest d = g/ω² inside the shell, a stack deeper with every
 * body. A hard or fast impact is coarser than its spring: energy is made or lost, and the step's sum is the
 * residual, J. A deep start holds spring energy that nobody put in: a spring no longer pushes what already
 * parts at contact.push_speed and did not arrive faster (counted as a fallback). What crosses the shell in
 * less than a sub-step may pass through it. Arms that are fixed for a tick lose angular momentum. The
 * velocity of a body at rest leads by half a sub-step of gravity.
 *
 * The contact columns hold all that outlives a tick: multiplier = (v, ξ₁, ξ₂) of each point, ξ along
 * row_frame's tangents. There are no islands, no sleep and no joints.
 */
#include "server/engine/dynamics/belt.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/dynamics/integrate.h"
#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/mass_operator.h"
#include "server/engine/dynamics/step.h"
#include "server/engine/methods/method.h"
#include "server/engine/world/parameters.h"

#include <string.h>

/* A body that a near contact may push. */
struct penalty_body {
	struct mass_body mass;
	struct body_motion motion;	  /* at the present sub-step */
	struct spatial velocity;	  /* m/s, rad/s */
	struct spatial steady;		  /* m/s², rad/s²: of gravity and drives */
	struct spatial impulse;		  /* N s, N m s: of this sub-step's contacts */
	struct spatial by;		  /* mean velocity of the last sub-step's motion */
	double keep_linear, keep_angular; /* damping of a sub-step */
	uint32_t contacts;		  /* near contacts with it */
	struct body_start start;	  /* of the tick */
	bool dynamic;
};

/* A contact point. `lambda` is the impulse of this sub-step: normal, two tangents, N s. */
struct penalty_point {
	uint32_t contact; /* in the list */
	uint32_t slot[2]; /* ROW_NO_BODY: does not take part */
	vec3 axes[3];	  /* normal a → b, and two tangents */
	vec3 arm[2];
	double gap, mass[3]; /* m; kg along each axis */
	double arrival;	     /* m/s ≥ 0: fastest closing speed since it came into the shell */
	double slip[2];	     /* m: ξ */
	double belt[2]; /* m/s: slip of points at rest, because surfaces move; 0 without belts */
	double share;
	double friction[2]; /* static, dynamic */
	double restitution;
	double stiffness;	   /* N/m, of this sub-step */
	double lambda[3], elastic; /* N s; the spring's part of the normal impulse */
	double closing;		   /* m/s, at the sub-step's start */
	double total[3];	   /* N s over the tick */
};

struct penalty {
	struct step *step;
	struct penalty_body *bodies; /* by slot */
	struct penalty_point *points;
	uint32_t point_count;
	double h, thickness, cap, rest, push_speed, restitution_speed;
	double energy; /* J: made (or lost) by the springs' discretisation, in this tick */
	uint32_t fallbacks;
};

static uint64_t scratch_needed(uint64_t bodies, uint64_t contacts)
{
	return (bodies + 1) * (sizeof(struct force_sum) + 2 * sizeof(struct body_motion) +
			       sizeof(struct mass_body) + sizeof(struct penalty_body)) +
	       (MANIFOLD_POINTS_MAX * contacts + 1) * sizeof(struct penalty_point);
}

/* ---- preparation ------------------------------------------------------------------------------- */

static enum status prepare_bodies(struct penalty *self)
{
	struct step *step = self->step;
	struct dynamics *dynamics = step->dynamics;
	struct arena *arena = &dynamics->scratch;
	uint32_t count = step->body_count;
	struct force_sum *sums = ARENA_ARRAY(arena, struct force_sum, count);
	struct mass_body *masses = ARENA_ARRAY(arena, struct mass_body, count);
	struct body_motion *motions = ARENA_ARRAY(arena, struct body_motion, count);
	self->bodies = ARENA_ARRAY(arena, struct penalty_body, count);
	if (sums == NULL || masses == NULL || motions == NULL || self->bodies == NULL)
		return STATUS_NO_MEMORY;
	force_all(dynamics, step->bodies, count, step->dt, sums);
	for (uint32_t slot = 0; slot < count; slot++)
		motions[slot] = dynamics_motion(dynamics, step->bodies[slot]);
	mass_bodies_from_tables(dynamics->tables, step->bodies, count, motions, masses);
	for (uint32_t slot = 0; slot < count; slot++) {
		uint32_t row = step->bodies[slot];
		const struct body_table *table = &dynamics->tables->body;
		struct body_start start = integrate_start(dynamics, row, &sums[slot], step->dt);
		self->bodies[slot] = (struct penalty_body){
			.mass = masses[slot],
			.motion = motions[slot],
			.velocity = start.velocity,
			.steady = { start.acceleration.linear,
				    sym3_apply(masses[slot].inertia_inv, sums[slot].torque) },
			.start = start,
			.keep_linear = integrate_damped(table->linear_damping[row], self->h).keep,
			.keep_angular = integrate_damped(table->angular_damping[row], self->h).keep,
			.dynamic = table->status[row] == BODY_DYNAMIC,
		};
		struct penalty_body *body = &self->bodies[slot];
		if (locks_of(dynamics->tables, row) & MASS_LOCK_TURNING)
			body->steady.angular = start.acceleration.angular;
		body->by = spatial_mul_add(body->velocity, body->steady, -0.5 * self->h);
	}
	return STATUS_OK;
}

static uint32_t slot_of(const struct step *step, uint32_t body)
{
	return step_takes_part(step, body) ? step->dynamics->bodies.items[body].slot : ROW_NO_BODY;
}

/* Mean speed of b's point against a's along an axis in the last motion, m/s. The velocity at its end leads
 * by half a sub-step of gravity, with which a body at rest would press its damper and creep on a slope. */
static double speed_along(const struct penalty *self, const struct penalty_point *point, vec3 axis)
{
	double speed = 0;
	for (uint32_t k = 0; k < 2; k++) {
		if (point->slot[k] == ROW_NO_BODY)
			continue;
		const struct penalty_body *body = &self->bodies[point->slot[k]];
		vec3 at = vec3_add(body->by.linear, vec3_cross(body->by.angular, point->arm[k]));
		speed += (k == 0 ? -1 : 1) * vec3_dot(axis, at);
	}
	return speed;
}

/* 1, of 1/m. What moves less by a unit force is held by locked axes and rounding. */
#define HELD 1e-9

/* The mass that moves along an axis at a point, kg; 0 if nothing moves. */
static double mass_along(const struct penalty *self, const struct penalty_point *point, vec3 axis)
{
	double inverse = 0, free = 0;
	VALIDATE(vec3_length_squared(axis) > 0.5);
	for (uint32_t k = 0; k < 2; k++) {
		if (point->slot[k] == ROW_NO_BODY)
			continue;
		const struct mass_body *mass = &self->bodies[point->slot[k]].mass;
		vec3 turn = vec3_cross(point->arm[k], axis);
		uint32_t row = self->step->bodies[point->slot[k]];
		free += self->step->dynamics->tables->body.mass_inv[row];
		inverse += vec3_dot(axis, vec3_hadamard(mass->mass_inv, axis)) +
			   vec3_dot(turn, sym3_apply(mass->inertia_inv, turn));
	}
	return inverse > HELD * free ? 1 / inverse : 0;
}

static void prepare_point(struct penalty *self, const struct contact_state *contact, uint32_t index,
			  uint32_t p, const double *multiplier)
{
	struct penalty_point *point = &self->points[self->point_count++];
	struct contact_material material =
		contact_material(self->step->dynamics, contact->a, contact->b);
	*point = (struct penalty_point){
		.contact = index,
		.slot = { slot_of(self->step, contact->body_a),
			  slot_of(self->step, contact->body_b) },
		.axes = { contact->normal },
		.arm = { contact->points[p].arm_a, contact->points[p].arm_b },
		.gap = contact->points[p].separation,
		.arrival = multiplier[3 * p],
		.slip = { multiplier[3 * p + 1], multiplier[3 * p + 2] },
		.friction = { material.static_friction, material.dynamic_friction },
		.restitution = material.restitution,
	};
	row_frame(contact->normal, &point->axes[1], &point->axes[2]);
	if (belt_concerns(self->step->dynamics, contact->body_a, contact->body_b)) {
		vec3 belt = belt_velocity(self->step->dynamics, contact->a, contact->b);
		for (uint32_t k = 0; k < 2; k++)
			point->belt[k] = -vec3_dot(belt, point->axes[1 + k]);
	}
	uint32_t most = 2;
	for (uint32_t k = 0; k < 3; k++)
		point->mass[k] = mass_along(self, point, point->axes[k]);
	for (uint32_t k = 0; k < 2; k++)
		if (point->slot[k] != ROW_NO_BODY)
			most = MAX_OF(most, self->bodies[point->slot[k]].contacts);
	point->share = 2.0 / (most * contact->point_count);
}

static enum status prepare_points(struct penalty *self)
{
	struct step *step = self->step;
	const struct contact_list *list = &step->contacts;
	self->points = ARENA_ARRAY(&step->dynamics->scratch, struct penalty_point,
				   MANIFOLD_POINTS_MAX * (size_t)list->count);
	if (self->points == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < list->count; i++) {
		const struct contact_state *contact = &list->items[i];
		uint32_t ends[2] = { slot_of(step, contact->body_a),
				     slot_of(step, contact->body_b) };
		for (uint32_t k = 0; k < 2; k++)
			if (contact->point_count > 0 && ends[k] != ROW_NO_BODY)
				self->bodies[ends[k]].contacts++;
	}
	for (uint32_t i = 0; i < list->count; i++)
		for (uint32_t p = 0; p < list->items[i].point_count; p++)
			prepare_point(self, &list->items[i], i, p, step_multipliers(step, list, i));
	return STATUS_OK;
}

/* ---- a sub-step -------------------------------------------------------------------------------- */

static double square(double x)
{
	return x * x;
}

/* The normal impulse of the sub-step, N s; sets the spring's stiffness and its part of the impulse. */
static void press(struct penalty *self, struct penalty_point *point, double depth)
{
	double mass = point->mass[0] * point->share, closing = point->closing;
	point->arrival = scalar_max(point->arrival, closing);
	/* Without a shell nothing is soft enough to stop a body within it. */
	double stop = self->thickness > 0 ? square(point->arrival / self->thickness) : self->cap;
	double stiffness = mass * scalar_min(self->cap, scalar_max(self->rest, stop));
	bool bounces = point->restitution > 0 && point->arrival > self->restitution_speed;
	double damping = bounces ? 0 : 2 * mass * __builtin_sqrt(stiffness / mass);
	if (bounces && closing <= 0)
		stiffness *= square(point->restitution);
	point->stiffness = stiffness;
	double spring = stiffness * depth, force = spring + damping * closing;
	bool fast = -closing > scalar_max(self->push_speed, point->arrival);
	self->fallbacks += fast && force > 0;
	force = fast ? 0 : scalar_max(force, 0);
	point->lambda[0] = force * self->h;
	point->elastic = scalar_min(spring * self->h, point->lambda[0]);
}

/* The tangential impulses: a spring of the slip since sticking, bounded by friction. */
static void rub(const struct penalty *self, struct penalty_point *point)
{
	double limit = point->friction[0] * point->lambda[0], size = 0, stiffness[2];
	for (uint32_t k = 0; k < 2; k++) {
		double mass = point->mass[1 + k] * point->share;
		double slip = speed_along(self, point, point->axes[1 + k]);
		if (point->belt[k] != 0) /* + 0 would change the sign of −0 */
			slip += point->belt[k];
		stiffness[k] = mass * self->cap;
		point->slip[k] += slip * self->h;
		double damping = 2 * mass * __builtin_sqrt(self->cap);
		point->lambda[1 + k] = -(stiffness[k] * point->slip[k] + damping * slip) * self->h;
		size += square(point->lambda[1 + k]);
	}
	size = __builtin_sqrt(size);
	if (size <= limit)
		return;
	double part = point->friction[1] * point->lambda[0] / size;
	for (uint32_t k = 0; k < 2; k++) {
		point->lambda[1 + k] *= part;
		/* The spring keeps what it can hold. */
		point->slip[k] =
			stiffness[k] > 0 ? -point->lambda[1 + k] / (self->h * stiffness[k]) : 0;
	}
}

static void push_point(struct penalty *self, struct penalty_point *point)
{
	double depth = self->thickness - point->gap;
	point->closing = -speed_along(self, point, point->axes[0]);
	memset(point->lambda, 0, sizeof point->lambda);
	point->elastic = point->stiffness = 0;
	if (!(depth > 0) || !(point->mass[0] > 0)) {
		point->arrival = point->slip[0] = point->slip[1] = 0;
		return;
	}
	press(self, point, depth);
	if (point->lambda[0] > 0 && point->friction[0] > 0)
		rub(self, point);
	else
		point->slip[0] = point->slip[1] = 0;
	vec3 impulse = vec3_zero();
	for (uint32_t k = 0; k < 3; k++) {
		impulse = vec3_mul_add(impulse, point->axes[k], point->lambda[k]);
		point->total[k] += point->lambda[k];
	}
	for (uint32_t k = 0; k < 2; k++) {
		if (point->slot[k] == ROW_NO_BODY)
			continue;
		struct spatial *sum = &self->bodies[point->slot[k]].impulse;
		vec3 on = k == 0 ? vec3_negate(impulse) : impulse;
		sum->linear = vec3_add(sum->linear, on);
		sum->angular = vec3_add(sum->angular, vec3_cross(point->arm[k], on));
	}
}

/* Velocities by the impulses, then motion for h, in which gravity and drives act exactly. */
static void move_body(struct penalty *self, uint32_t slot)
{
	struct penalty_body *body = &self->bodies[slot];
	const struct dynamics *dynamics = self->step->dynamics;
	uint32_t row = self->step->bodies[slot];
	double h = self->h;
	if (!body->dynamic)
		return;
	vec3 linear = vec3_hadamard(body->mass.mass_inv, body->impulse.linear);
	vec3 angular = sym3_apply(body->mass.inertia_inv, body->impulse.angular);
	body->impulse = spatial_zero();
	struct spatial kicked = { vec3_add(body->velocity.linear, linear),
				  vec3_add(body->velocity.angular, angular) };
	body->by = spatial_mul_add(kicked, body->steady, 0.5 * h);
	struct spatial after = spatial_mul_add(kicked, body->steady, h);
	after.linear = vec3_scale(after.linear, body->keep_linear);
	after.angular = vec3_scale(after.angular, body->keep_angular);
	body->motion = integrate_motion(dynamics, row, &body->motion, after, body->by, h);
	body->velocity = (struct spatial){ body->motion.velocity, body->motion.angular_velocity };
}

/* The gap after the motion; the energy that the spring's impulse gave beyond what the spring lost. */
static void follow_point(struct penalty *self, struct penalty_point *point)
{
	double depth = scalar_max(self->thickness - point->gap, 0);
	double speed = speed_along(self, point, point->axes[0]);
	point->gap += speed * self->h;
	double left = scalar_max(self->thickness - point->gap, 0);
	/* The mean of the speeds before and after the impulse, in both of which half a sub-step of gravity
	 * cancels: ΔK = P · mean. */
	double mean = 0.5 * (speed - point->closing);
	self->energy +=
		point->elastic * mean + 0.5 * point->stiffness * (square(left) - square(depth));
}

static void make_substep(struct penalty *self)
{
	for (uint32_t i = 0; i < self->point_count; i++)
		push_point(self, &self->points[i]);
	for (uint32_t slot = 0; slot < self->step->body_count; slot++)
		if (self->bodies[slot].contacts > 0)
			move_body(self, slot);
	for (uint32_t i = 0; i < self->point_count; i++)
		follow_point(self, &self->points[i]);
}

/* ---- the end ----------------------------------------------------------------------------------- */

static void store_points(const struct penalty *self)
{
	struct contact_table *table = &self->step->dynamics->tables->contact;
	const struct contact_list *list = &self->step->contacts;
	const struct penalty_point *point = self->points;
	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t row = list->items[i].row;
		vec3 friction = vec3_zero();
		memset(table->normal_impulse[row], 0, sizeof table->normal_impulse[row]);
		memset(table->multiplier[row], 0, sizeof table->multiplier[row]);
		for (uint32_t p = 0; p < list->items[i].point_count; p++, point++) {
			ASSERT(point->contact == i);
			table->normal_impulse[row][p] = point->total[0];
			table->multiplier[row][3 * p] = point->arrival;
			for (uint32_t k = 0; k < 2; k++) {
				table->multiplier[row][3 * p + 1 + k] = point->slip[k];
				friction = vec3_mul_add(friction, point->axes[1 + k],
							point->total[1 + k]);
			}
		}
		table->friction_impulse[row][0] = friction.x;
		table->friction_impulse[row][1] = friction.y;
		table->friction_impulse[row][2] = friction.z;
	}
}

/* Motions at the end: of bodies that no contact is near, the free path. */
static enum status end_motions(struct penalty *self, struct body_motion **out)
{
	struct step *step = self->step;
	struct dynamics *dynamics = step->dynamics;
	struct body_motion *motions =
		ARENA_ARRAY(&dynamics->scratch, struct body_motion, step->body_count);
	if (motions == NULL)
		return STATUS_NO_MEMORY;
	profile_enter(dynamics->profile, PROFILE_INTEGRATE);
	for (uint32_t slot = 0; slot < step->body_count; slot++) {
		const struct penalty_body *body = &self->bodies[slot];
		motions[slot] = body->contacts > 0 && body->dynamic
					? body->motion
					: integrate_free(dynamics, step->bodies[slot], &body->start,
							 step->dt, 1);
	}
	*out = motions;
	return STATUS_OK;
}

static enum status step_penalty(void *state, struct dynamics *dynamics, double dt,
				struct reason *why)
{
	UNUSED(state);
	const double *parameter = dynamics->tables->parameter.value;
	struct step step;
	struct penalty self = { .step = &step };
	struct body_motion *motions;
	enum status status = step_begin(&step, dynamics, dt, true, scratch_needed, why);
	if (status != STATUS_OK)
		return status;
	uint32_t substeps = 1;
	if (scalar_to_u32(parameter[PARAMETER_PENALTY_SUBSTEPS], &substeps))
		substeps = MAX_OF(substeps, 1u);
	self.h = dt / substeps;
	self.thickness = parameter[PARAMETER_PENALTY_THICKNESS];
	self.cap = square(parameter[PARAMETER_PENALTY_STIFFNESS] / self.h);
	self.rest = square(TWO_PI * parameter[PARAMETER_PENALTY_HERTZ]);
	self.push_speed = parameter[PARAMETER_PUSH_SPEED];
	self.restitution_speed = parameter[PARAMETER_RESTITUTION_SPEED];
	struct collide_options options = collide_options_default(dt);
	options.anew = true;
	options.carry = CARRY_POINTS;
	step_collide(&step, &step.contacts, 0, &options);
	step_wake_reached(&step, &options);
	step_number(&step);
	step_report_contacts(&step, &step.contacts);
	profile_enter(dynamics->profile, PROFILE_PREPARE);
	status = prepare_bodies(&self);
	if (status == STATUS_OK)
		status = prepare_points(&self);
	profile_enter(dynamics->profile, PROFILE_SOLVE);
	for (uint32_t i = 0; i < substeps && status == STATUS_OK; i++)
		make_substep(&self);
	if (status == STATUS_OK)
		status = end_motions(&self, &motions);
	if (status == STATUS_OK)
		status = step_commit(&step, &step.contacts, why);
	if (status != STATUS_OK)
		return status;
	store_points(&self);
	step_contacts_solved(&step, &step.contacts, NULL);
	step_store_all(&step, motions);
	dynamics->report.iterations = substeps;
	dynamics->report.fallbacks = self.fallbacks;
	dynamics->report.residual = scalar_abs(self.energy);
	step_finish(&step);
	return STATUS_OK;
}

static void attach_penalty(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

static void detach_penalty(struct dynamics *dynamics)
{
	dynamics_contacts_reset(dynamics);
	dynamics_wake_all(dynamics);
}

const struct method method_penalty = {
	.name = "penalty",
	.summary = "springs between surfaces, nothing solved: for comparison",
	.number = 7,
	.motion = 0,
	.attach = attach_penalty,
	.detach = detach_penalty,
	.step = step_penalty,
	.shapes = (1u << SHAPE_KINDS) - 2,
	.friction = true,
	.restitution = true,
	.planar = true,
	.three_d = true,
	.ignores = MATERIAL_ROLLING | MATERIAL_SPINNING | MATERIAL_AXIS,
};
