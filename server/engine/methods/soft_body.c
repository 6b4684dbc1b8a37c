/* soft_body.c: bodies of the soft step: from the tables, through its sub-steps, and back.
 *
 * A body whose contacts do not act takes the path of integrate_free: exact, in double, and independent
 * of any float. Other bodies move in sub-steps of h seconds, as differences from the step's start. With
 * a the acceleration by forces, c the damping rate, k = exp(−c h), v the velocity at the start and u
 * the difference from it (spins alike):
 *
 *   u ← k u + [(k − 1) v + a (1 − k)/c]          the bracket is the same in all sub-steps
 *   x ← x + h u,   q ← exp(h ω) q                x less v t
 *
 * The spin of a body with unequal inertias changes without torque, so its angular momentum L is
 * tracked, in double. Contacts add to it what they add to the spin, at the inertia that they act on:
 *
 *   L ← e^(−c t) L + τ t + I δω,   ω = I(q)⁻¹ L
 *
 * so L is exact, independent of float rounding. For a small rotation in a step this is done once, at
 * its end, with the inertia of its start; the spin then changes by the same amount in each sub-step.
 * For a large one it is done in each sub-step (integrate_turn), and contacts act on the rotated
 * inertia: with another, a rod with inertias of one to a thousand would be pushed a thousand times too
 * hard.
 */
#include "server/engine/methods/soft_step.h"

#include "server/engine/dynamics/locks.h"
#include "server/engine/dynamics/sweep.h"

enum { BODY_GRAIN = 128 };

/* ---- conversions ------------------------------------------------------------------------------ */

static float4 float4_of(vec3 v)
{
	return (float4){ (float)v.x, (float)v.y, (float)v.z, 0 };
}

static vec3 to_vec3(float4 v)
{
	return vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

/* ---- from the tables -------------------------------------------------------------------------- */

/* Change of velocity v in a sub-step, (k − 1) v + gain a. */
static float4 change_of(vec3 velocity, vec3 acceleration, struct damped d)
{
	return float4_of(vec3_mul_add(vec3_scale(velocity, d.keep - 1), acceleration, d.gain));
}

/* rad a step. For smaller rotations the first derivative of the spin, at the inertia of the start, is
 * enough. Larger: long rods gain energy from contacts; smaller: resting bricks cost half as much again. */
#define TURN_SMALL 0.05

static bool turns_far(vec3 spin, double dt)
{
	return vec3_length_squared(spin) * dt * dt > TURN_SMALL * TURN_SMALL;
}

/* Change of the spin of a body with unequal inertias in dt seconds without torque: I ω' = −ω × L. */
static vec3 spin_turned(const struct body_table *table, uint32_t body, vec3 spin, double dt)
{
	quat q = table->rotation[body];
	sym3 inertia_inv = sym3_load(table->inertia_inv[body]);
	vec3 momentum = integrate_tensor_at(sym3_load(table->inertia[body]), q, spin);
	return vec3_scale(integrate_tensor_at(inertia_inv, q, vec3_cross(momentum, spin)), dt);
}

static void drive_init(const struct soft_step *self, struct soft_drive *drive, uint32_t body,
		       const struct force_sum *sum)
{
	const struct dynamics *dynamics = self->dynamics;
	const struct body_table *table = &dynamics->tables->body;
	*drive = (struct soft_drive){ .keep = 1, .spin_keep = 1 };
	drive->start = integrate_start(dynamics, body, sum, self->dt);
	drive->spin = float4_of(drive->start.velocity.angular);
	drive->dynamic = table->status[body] == BODY_DYNAMIC;
	if (!drive->dynamic)
		return;
	ASSERT(self->substeps >= 1);
	double h = self->dt / self->substeps;
	struct damped linear = integrate_damped(table->linear_damping[body], h);
	struct damped angular = integrate_damped(table->angular_damping[body], h);
	const struct body_start *start = &drive->start;
	drive->keep = (float)linear.keep;
	drive->spin_keep = (float)angular.keep;
	drive->change = change_of(start->velocity.linear, start->acceleration.linear, linear);
	drive->spin_change =
		change_of(start->velocity.angular, start->acceleration.angular, angular);
	drive->mass_inv = (float)table->mass_inv[body];
	drive->locks = (uint8_t)locks_of(dynamics->tables, body);
	/* Equal inertias, and rotation in a plane, make it independent of the rotation. */
	sym3 inertia_inv = sym3_load(table->inertia_inv[body]);
	if (start->uneven || drive->locks & MASS_LOCK_TURNING) {
		inertia_inv = sym3_of(integrate_inertia_inv(dynamics, body));
		drive->spins = start->uneven && turns_far(start->velocity.angular, self->dt);
	}
	if (start->uneven && !drive->spins) {
		vec3 turned = spin_turned(table, body, start->velocity.angular, self->dt);
		drive->spin_change += float4_of(vec3_scale(turned, 1.0 / self->substeps));
	}
	drive->inertia_inv = sym3f_from(inertia_inv);
	VALIDATE(drive->keep >= 0 && drive->keep <= 1 && drive->spin_keep >= 0 &&
		 drive->spin_keep <= 1);
	VALIDATE(!(drive->mass_inv < 0));
}

struct body_work {
	struct soft_step *self;
	const struct force_sum *sums;
	bool *alone;
};

static void prepare_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct body_work *work = context;
	struct soft_step *self = work->self;
	for (uint32_t i = first; i < last; i++) {
		drive_init(self, &self->drives[i + 1], self->rows[i], &work->sums[i]);
		self->bodies[i + 1] = (struct soft_body){ .turn = { 0, 0, 0, 1 } };
	}
}

void soft_prepare_bodies(struct soft_step *self)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	uint32_t count = self->step->body_count;
	self->body_count = count;
	self->rows = self->step->bodies;
	self->bodies = ARENA_ARRAY(scratch, struct soft_body, count + 1);
	self->drives = ARENA_ARRAY(scratch, struct soft_drive, count + 1);
	self->turns = ARENA_ARRAY(scratch, struct soft_turn, count + 1);
	struct arena_mark mark = arena_mark(scratch);
	struct force_sum *sums = ARENA_ARRAY(scratch, struct force_sum, count);
	ASSERT(self->bodies != NULL && self->drives != NULL && self->turns != NULL && sums != NULL);
	force_all(dynamics, self->rows, count, self->step->dt, sums);
	self->bodies[0] = (struct soft_body){ .turn = { 0, 0, 0, 1 } };
	self->drives[0] = (struct soft_drive){ .keep = 1, .spin_keep = 1 };
	struct body_work work = { self, sums, NULL };
	parallel_run(dynamics->parallel, count, BODY_GRAIN, prepare_piece, &work);
	arena_rewind(scratch, mark);
}

/* ---- bodies with a soft_turn -------------------------------------------------------------------- */

static const double *inertia_of(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number >= 1 && number <= self->body_count);
	return self->dynamics->tables->body.inertia[self->rows[number - 1]];
}

static const double *inertia_inv_of(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number >= 1 && number <= self->body_count);
	return self->dynamics->tables->body.inertia_inv[self->rows[number - 1]];
}

/* Adds to the momentum the change of spin by contacts since update_spin, at the inertia on which they
 * acted. */
static void collect_momentum(const struct soft_step *self, uint32_t number)
{
	VALIDATE(self->drives[number].spins);
	struct soft_turn *turn = &self->turns[number];
	vec3 added = to_vec3(self->bodies[number].spin - turn->spin);
	sym3 inertia = sym3_load(inertia_of(self, number));
	vec3 momentum = integrate_tensor_at(inertia, turn->rotation, added);
	turn->momentum = vec3_add(turn->momentum, momentum);
}

static vec3 spin_of_momentum(const struct soft_step *self, uint32_t number)
{
	const struct soft_turn *turn = &self->turns[number];
	sym3 inverse = sym3_load(inertia_inv_of(self, number));
	return integrate_tensor_at(inverse, turn->rotation, turn->momentum);
}

/* Computes the body's spin from its momentum. */
static void update_spin(const struct soft_step *self, uint32_t number)
{
	vec3 start = self->drives[number].start.velocity.angular;
	vec3 beyond = vec3_sub(spin_of_momentum(self, number), start);
	self->turns[number].spin = self->bodies[number].spin = float4_of(beyond);
}

static void turn_velocity(const struct soft_step *self, uint32_t number)
{
	struct soft_turn *turn = &self->turns[number];
	VALIDATE(self->drives[number].spins && self->drives[number].constrained);
	double keep = (double)self->drives[number].spin_keep;
	collect_momentum(self, number);
	turn->momentum = vec3_add(vec3_scale(turn->momentum, keep), turn->push);
	update_spin(self, number);
}

static void turn_position(const struct soft_step *self, uint32_t number)
{
	VALIDATE(self->drives[number].spins && self->drives[number].constrained);
	struct soft_turn *turn = &self->turns[number];
	sym3 inverse = sym3_load(inertia_inv_of(self, number));
	quat start = self->dynamics->tables->body.rotation[self->rows[number - 1]];
	collect_momentum(self, number);
	turn->rotation =
		integrate_turn(turn->rotation, inverse, turn->momentum, self->dt / self->substeps);
	quat q = quat_mul(turn->rotation, quat_conjugate(start));
	self->bodies[number].turn = (float4){ (float)q.x, (float)q.y, (float)q.z, (float)q.w };
	mat3 axes = mat3_from_quat(turn->rotation);
	turn->inertia_inv = sym3f_from(sym3_of(mat3_rotate_tensor(axes, sym3_matrix(inverse))));
	update_spin(self, number);
}

static void turns_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_step *self = context;
	for (uint32_t i = first + 1; i <= last; i++) {
		const struct soft_drive *drive = &self->drives[i];
		if (!drive->constrained || !drive->spins)
			continue;
		const struct body_table *table = &self->dynamics->tables->body;
		uint32_t body = self->rows[i - 1];
		sym3 inertia = sym3_load(inertia_of(self, i));
		quat q = table->rotation[body];
		struct damped d =
			integrate_damped(table->angular_damping[body], self->dt / self->substeps);
		vec3 torque = integrate_tensor_at(inertia, q, drive->start.acceleration.angular);
		self->turns[i] = (struct soft_turn){
			.momentum = integrate_tensor_at(inertia, q, drive->start.velocity.angular),
			.push = vec3_scale(torque, d.gain),
			.rotation = q,
			.inertia_inv = drive->inertia_inv,
		};
	}
}

void soft_prepare_turns(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, self->body_count, BODY_GRAIN, turns_piece, self);
}

/* ---- a sub-step ------------------------------------------------------------------------------- */

/* Unit quaternions as plain floats: single lanes of a vector are slow to reach. */
struct quatf {
	float x, y, z, w;
};

static inline struct quatf quatf_of(float4 q)
{
	return (struct quatf){ q[0], q[1], q[2], q[3] };
}

static inline float4 quatf_float4(struct quatf q)
{
	return (float4){ q.x, q.y, q.z, q.w };
}

static inline struct quatf quatf_mul(struct quatf a, struct quatf b)
{
	return (struct quatf){ a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
			       a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
			       a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
			       a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

static inline struct quatf quatf_normalize(struct quatf q)
{
	float scale = 1 / __builtin_sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
	return (struct quatf){ q.x * scale, q.y * scale, q.z * scale, q.w * scale };
}

/* exp(h ω) as a quaternion: the series of sine and cosine of half the angle θ to θ⁵, brought to unit
 * length. At a radian a sub-step it is 1e-6 off; beyond, the exact one. */
static inline struct quatf spin_to_turn(float4 spin, float h)
{
	float x = spin[0], y = spin[1], z = spin[2], tiny = SOFT_TURN_TINY / h;
	if (__builtin_fabsf(x) < tiny && __builtin_fabsf(y) < tiny && __builtin_fabsf(z) < tiny)
		return (struct quatf){ x * (h * 0.5f), y * (h * 0.5f), z * (h * 0.5f), 1.0f };
	float xx = h * h * (x * x + y * y + z * z);
	if (xx > 1) {
		quat q = quat_from_rotation_vector(vec3_scale(to_vec3(spin), (double)h));
		return (struct quatf){ (float)q.x, (float)q.y, (float)q.z, (float)q.w };
	}
	float sine = h * (0.5f - xx * (1.0f / 48.0f) + xx * xx * (1.0f / 3840.0f));
	float cosine = 1.0f - xx * 0.125f + xx * xx * (1.0f / 384.0f);
	return (struct quatf){ x * sine, y * sine, z * sine, cosine };
}

static void velocities_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *self = context;
	for (uint32_t i = first + 1; i <= last; i++) {
		struct soft_body *body = &self->bodies[i];
		const struct soft_drive *drive = &self->drives[i];
		if (!drive->constrained)
			continue;
		body->velocity = body->velocity * float4_all(drive->keep) + drive->change;
		if (drive->spins)
			turn_velocity(self, i);
		else
			body->spin = body->spin * float4_all(drive->spin_keep) + drive->spin_change;
	}
}

void soft_move_body(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number >= 1 && number <= self->body_count);
	struct soft_body *body = &self->bodies[number];
	const struct soft_drive *drive = &self->drives[number];
	if (!drive->constrained)
		return;
	body->shift += body->velocity * float4_all(self->h);
	if (drive->spins) {
		turn_position(self, number);
		return;
	}
	struct quatf turn = spin_to_turn(drive->spin + body->spin, self->h);
	turn = quatf_normalize(quatf_mul(turn, quatf_of(body->turn)));
	body->turn = quatf_float4(turn);
}

void soft_integrate_velocities(struct soft_step *self)
{
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_INTEGRATE);
	parallel_run(self->dynamics->parallel, self->body_count, BODY_GRAIN, velocities_piece,
		     self);
	profile_enter(self->dynamics->profile, before);
}

void soft_integrate_positions(struct soft_step *self)
{
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_INTEGRATE);
	parallel_run(self->dynamics->parallel, self->body_count, BODY_GRAIN, self->kernels->move,
		     self);
	profile_enter(self->dynamics->profile, before);
}

/* ---- into the tables -------------------------------------------------------------------------- */

/* A rotation in double: the scalar is recomputed, because a float's vector part is exact relative to
 * its own size and the scalar part is not. */
static quat turn_widened(float4 turn)
{
	vec3 v = to_vec3(turn);
	double w = scalar_sqrt(scalar_max(1 - vec3_length_squared(v), 0));
	return quat_from_parts(turn[3] < 0 ? -w : w, v);
}

/* The spin that contacts have added: the change less that of sub-steps without contacts. */
static vec3 spin_added(const struct soft_step *self, uint32_t number)
{
	VALIDATE(!self->drives[number].spins);
	const struct soft_drive *drive = &self->drives[number];
	float4 alone = float4_all(0);
	for (uint32_t i = 0; i < self->substeps; i++)
		alone = alone * float4_all(drive->spin_keep) + drive->spin_change;
	return to_vec3(self->bodies[number].spin - alone);
}

/* The spin, at `rotation`, of a body with unequal inertias and no soft_turn. */
static vec3 spin_carried(const struct soft_step *self, uint32_t number, quat rotation)
{
	VALIDATE(self->drives[number].start.uneven);
	const struct body_table *table = &self->dynamics->tables->body;
	const struct body_start *start = &self->drives[number].start;
	uint32_t body = self->rows[number - 1];
	struct damped d = integrate_damped(table->angular_damping[body], self->dt);
	/* The sum of velocities times I₀ is the momentum. */
	vec3 spin = vec3_scale(start->velocity.angular, d.keep);
	spin = vec3_mul_add(spin, start->acceleration.angular, d.gain);
	spin = vec3_add(spin, spin_added(self, number));
	vec3 momentum =
		integrate_tensor_at(sym3_load(table->inertia[body]), table->rotation[body], spin);
	return integrate_tensor_at(sym3_load(table->inertia_inv[body]), rotation, momentum);
}

struct body_motion soft_motion(const struct soft_step *self, uint32_t number, double now)
{
	const struct dynamics *dynamics = self->dynamics;
	ASSERT(number >= 1 && number <= self->body_count);
	const struct soft_body *soft = &self->bodies[number];
	const struct soft_drive *drive = &self->drives[number];
	const struct body_start *start = &drive->start;
	uint32_t body = self->rows[number - 1];
	vec3 moved = vec3_mul_add(to_vec3(soft->shift), start->velocity.linear, now);
	struct body_motion motion = {
		.centre = vec3_add(dynamics->bodies.items[body].centre, moved),
		.rotation =
			quat_mul(turn_widened(soft->turn), dynamics->tables->body.rotation[body]),
		.velocity = vec3_add(start->velocity.linear, to_vec3(soft->velocity)),
		.angular_velocity = vec3_add(start->velocity.angular, to_vec3(soft->spin)),
	};
	motion.rotation =
		drive->spins ? self->turns[number].rotation : quat_normalize(motion.rotation);
	return motion;
}

/* Motion at the end of the step of a body on which contacts or joints acted. */
static struct body_motion pushed_motion(const struct soft_step *self, uint32_t number)
{
	VALIDATE(self->drives[number].constrained);
	struct body_motion motion = soft_motion(self, number, self->dt);
	const struct body_start *start = &self->drives[number].start;
	if (self->drives[number].spins) {
		collect_momentum(self, number);
		motion.angular_velocity = spin_of_momentum(self, number);
	} else if (start->uneven)
		motion.angular_velocity = spin_carried(self, number, motion.rotation);
	return motion;
}

static void motion_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct body_work *work = context;
	struct soft_step *self = work->self;
	for (uint32_t i = first; i < last; i++) {
		const struct soft_drive *drive = &self->drives[i + 1];
		work->alone[i] = !drive->pushed;
		if (soft_trees_have(&self->trees, i + 1)) {
			self->motions[i] = soft_trees_motion(self, i + 1);
			work->alone[i] = false;
		} else if (drive->pushed)
			self->motions[i] = pushed_motion(self, i + 1);
		else
			self->motions[i] = integrate_free(self->dynamics, self->rows[i],
							  &drive->start, self->dt, self->substeps);
	}
}

enum status soft_finish_bodies(struct soft_step *self, struct reason *why)
{
	struct dynamics *dynamics = self->dynamics;
	struct arena *scratch = &dynamics->scratch;
	profile_enter(dynamics->profile, PROFILE_INTEGRATE);
	self->motions = ARENA_ARRAY(scratch, struct body_motion, self->body_count);
	struct body_work work = { self, NULL, ARENA_ARRAY(scratch, bool, self->body_count) };
	ASSERT(self->motions != NULL && work.alone != NULL);
	parallel_run(dynamics->parallel, self->body_count, BODY_GRAIN, motion_piece, &work);
	return step_sweep(self->step, self->motions, work.alone, why);
}
