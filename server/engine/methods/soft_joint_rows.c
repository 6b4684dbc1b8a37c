/* soft_joint_rows.c: joints of the soft step: from the tables to rows at every sub-step, and back.
 *
 * Rows are those of constraint_joint at the bodies' present positions, in double. They are made at the
 * step's start and after each sub-step's positions: the rows that relax a sub-step also solve the next,
 * because no body moves between. A joint has the same rows throughout the step.
 *
 * With J_L the locked rows of a joint, K = J_L M⁻¹ J_Lᵀ and J another of its rows, an impulse λ of that
 * row is applied together with −K⁻¹ J_L M⁻¹ Jᵀ λ of the locked rows, so that their speeds do not
 * change: the row acts on the mass that can move at the joint, an arm about its hinge and not about its
 * own centre. Otherwise a motor and its hinge would undo each other's impulses, and one sweep a
 * sub-step would not be enough.
 */
#include "server/base/prefetch.h"
#include "server/engine/methods/soft_step.h"

#include "server/engine/dynamics/locks.h"
#include "server/engine/world/parameters.h"

#include <string.h>

enum { JOINT_GRAIN = 32, BLOCK_GRAIN = 8, JOINTED_GRAIN = 128, NO_JOINTED = 0 };

/* Of the sub-step rate. Larger: a locked axis is stiffer than a sub-step can resolve. */
#define HERTZ_MAX 0.25

/* 1. Of the mass along a spring, in (h ω)²: the part of its stiffness that sub-steps integrate
 * explicitly, without numerical damping. The rest is implicit: stable, and damped. Larger: fewer than
 * 16 such springs on a body are stable together; smaller: slower springs are damped. */
#define SPRING_PLAIN 0.25

/* rad a step. A jointed body with a larger rotation gets a soft_turn (soft_body.c). */
#define TURN_SMALL 0.005

/* ---- memory --------------------------------------------------------------------------------- */

static void set_softness(struct soft_joints *joints, double hertz, double damping, double h)
{
	ASSERT(hertz > 0 && damping >= 0 && h > 0);
	double omega = TWO_PI * scalar_min(hertz, HERTZ_MAX / h);
	double a1 = 2 * damping + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
	joints->bias_rate = omega / a1;
	joints->mass_scale = a2 * a3;
	joints->impulse_scale = a3;
}

/* Whether constraint_joint has the row in block 0, that of locked axes. */
static bool is_locked(const struct joint *data, uint8_t place)
{
	const struct joint_axis *axis = &data->axes[joint_place_axis(place)];
	if (joint_place_part(place) != JOINT_HOLD)
		return false;
	return axis->mode == JOINT_LOCKED || axis->lower == axis->upper;
}

/* Allocates the rows, and lists the multiplier of each. */
static bool allocate_rows(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct arena *scratch = &self->dynamics->scratch;
	uint64_t locks = 0, extras = 0;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		const struct joint *data = &joints->list.joints[i];
		*joint = (struct soft_joint){ .core_place = SOFT_NO_PLACE };
		joint->row_count = joint_places(data, joint->place);
		for (uint32_t r = 0; r < joint->row_count; r++)
			joint->lock_count += is_locked(data, joint->place[r]);
		VALIDATE(joint->lock_count <= SOFT_LOCKS_MAX);
		joint->extra_count = joint->row_count - joint->lock_count;
		locks += MIN_OF(joint->row_count, SOFT_LOCKS_MAX);
		extras += joint->extra_count;
	}
	struct soft_row *lock = ARENA_ARRAY(scratch, struct soft_row, locks);
	struct soft_extra *extra = arena_push_zero(scratch, extras * sizeof *extra);
	struct soft_branch *branches = ARENA_ARRAY(scratch, struct soft_branch, joints->list.count);
	if (lock == NULL || extra == NULL || branches == NULL)
		return false;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		joint->locks = lock;
		joint->extras = extra;
		joint->branch = &branches[i];
		lock += MIN_OF(joint->row_count, SOFT_LOCKS_MAX);
		extra += joint->extra_count;
	}
	return true;
}

/* ---- jointed bodies ------------------------------------------------------------------------- */

/* Number of a slot's jointed body, which is made at its first joint. */

static uint32_t jointed_index(struct soft_step *self, uint32_t slot)
{
	struct soft_joints *joints = &self->joints;
	if (slot == ROW_NO_BODY)
		return NO_JOINTED;
	ASSERT(slot < self->body_count);
	if (joints->jointed_of[slot] == NO_JOINTED) {
		struct soft_drive *drive = &self->drives[slot + 1];
		double turn = vec3_length(drive->start.velocity.angular) * self->dt;
		drive->constrained = true;
		drive->spins |= drive->start.uneven && turn > TURN_SMALL;
		joints->jointed_of[slot] = joints->jointed_count;
		joints->jointed[joints->jointed_count++] =
			(struct soft_jointed){ .number = slot + 1, .moves = drive->dynamic };
	}
	return joints->jointed_of[slot];
}

/* M⁻¹ of a body at `rotation`; in a planar world without the locked axes. */
static void set_mass_inv(const struct soft_step *self, struct soft_jointed *jointed, quat rotation)
{
	VALIDATE(jointed->number >= 1 && jointed->number <= self->body_count);
	const struct tables *tables = self->dynamics->tables;
	uint32_t body = self->rows[jointed->number - 1];
	bool planar = tables->world.planar[0];
	struct mass_body mass = mass_body_make(
		tables->body.mass[body], tables->body.mass_inv[body],
		sym3_load(tables->body.inertia[body]), sym3_load(tables->body.inertia_inv[body]),
		rotation, (planar ? (uint32_t)MASS_LOCK_PLANAR : 0) | locks_of(tables, body));
	jointed->mass_inv = mass.mass_inv;
	jointed->inertia_inv = mass.inertia_inv;
}

/* Whether the target of the motor of a multiplier changes within the tick. */
static bool has_wave(const struct soft_step *self, uint32_t row, uint8_t place)
{
	const struct joint_table *table = &self->dynamics->tables->joint;
	ASSERT(row < table->count);
	return table->wave[row][joint_place_axis(place)] != JOINT_WAVE_CONSTANT;
}

/* Bodies and warm-start impulses of all joints. */
static void init_joints(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	memset(joints->jointed_of, 0, self->body_count * sizeof *joints->jointed_of);
	joints->jointed[NO_JOINTED] = (struct soft_jointed){ 0 };
	joints->jointed_count = 1;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		const struct constraint *constraint = &joints->list.constraints[i];
		struct soft_joint *joint = &joints->items[i];
		joint->a = jointed_index(self, constraint->body_a);
		joint->b = jointed_index(self, constraint->body_b);
		const double *multiplier = joints->list.joints[i].multiplier;
		joint->pull = vec3_scale(self->dynamics->tables->joint.force[constraint->source],
					 self->dt / self->substeps);
		for (uint32_t r = 0; r < joint->row_count; r++) {
			uint8_t place = joint->place[r];
			double impulse = multiplier[place] / self->substeps;
			bool locked = r < joint->lock_count;
			if (locked) {
				joint->impulse[r] = impulse;
				continue;
			}
			struct soft_extra *extra = &joint->extras[r - joint->lock_count];
			extra->impulse = impulse;
			extra->part = (uint8_t)joint_place_part(place);
			const struct joint_axis *axis =
				&joints->list.joints[i].axes[joint_place_axis(place)];
			extra->armature = axis->armature;
			if (extra->part == JOINT_ROTOR) {
				joint->rotors = true;
				extra->impulse = 0;
			}
			extra->follows = axis->motor == JOINT_MOTOR_POSITION;
			extra->elastic = extra->part == JOINT_SPRING ||
					 extra->part == JOINT_ROTOR ||
					 (extra->part == JOINT_MOTOR && joint_axis_is_servo(axis));
			joints->bounces |= axis->restitution > 0;
			joints->driven |= extra->part == JOINT_MOTOR &&
					  has_wave(self, constraint->source, place);
		}
	}
}

/* Takes the gears out of the list, which then has joints alone. */
static enum status take_gears(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	uint32_t count = joints->list.gears;
	joints->list.count -= count;
	joints->gears = (struct soft_gears){ .count = count };
	joints->gears.items = ARENA_ARRAY(&self->dynamics->scratch, struct soft_gear, count);
	if (joints->gears.items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < count; i++)
		joints->gears.items[i] = (struct soft_gear){
			.data = *joints->list.joints[joints->list.count + i].gear
		};
	joints->list.gears = 0;
	return STATUS_OK;
}

static void number_bodies_of_gears(struct soft_step *self)
{
	struct soft_gears *gears = &self->joints.gears;
	for (uint32_t i = 0; i < gears->count; i++)
		for (uint32_t k = 0; k < 2 * GEAR_ENDS; k++)
			gears->items[i].bodies[k] =
				jointed_index(self, gears->items[i].data.slots[k / 2][k % 2]);
}

enum status soft_joints_make(struct soft_step *self, struct reason *why)
{
	struct soft_joints *joints = &self->joints;
	struct arena *scratch = &self->dynamics->scratch;
	const double *parameter = self->dynamics->tables->parameter.value;
	enum status status = step_joints_make(self->step, 0, &joints->list, why);
	if (status != STATUS_OK || joints->list.count == 0)
		return status;
	status = take_gears(self);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory for gears");
	set_softness(joints, parameter[PARAMETER_JOINT_HERTZ], parameter[PARAMETER_JOINT_DAMPING],
		     self->dt / self->substeps);
	status = soft_trees_choose(self, &joints->list, joints->bias_rate);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory", "no memory for trees");
	uint32_t count = joints->list.count, gears = joints->gears.count;
	if (count == 0)
		return STATUS_OK;
	joints->kernels = self->kernels->branches;
	uint64_t bodies =
		MIN_OF(2 * (uint64_t)count + 4 * (uint64_t)gears, self->step->body_count) + 1;
	joints->items = ARENA_ARRAY(scratch, struct soft_joint, count);
	joints->results = ARENA_ARRAY(scratch, struct joint_result, count + gears);
	joints->jointed = ARENA_ARRAY(scratch, struct soft_jointed, bodies);
	joints->motions = ARENA_ARRAY(scratch, struct body_motion, bodies);
	joints->jointed_of = ARENA_ARRAY(scratch, uint32_t, self->step->body_count);
	if (joints->items == NULL || joints->results == NULL || joints->jointed == NULL ||
	    joints->motions == NULL || joints->jointed_of == NULL || !allocate_rows(self))
		return reason_set(why, STATUS_NO_MEMORY, -1, "memory",
				  "no memory for the rows of %u joints", count);
	init_joints(self);
	number_bodies_of_gears(self);
	ASSERT(joints->jointed_count <= bodies);
	status = soft_forest_plan(self);
	if (status == STATUS_OK)
		status = soft_gears_plan(self);
	if (status == STATUS_OK)
		status = soft_wide_plan(self);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "memory",
				  "no memory for the groups of %u joints", count);
	return STATUS_OK;
}

/* ---- motions of jointed bodies -------------------------------------------------------------- */

struct measure {
	struct soft_step *self;
	double now; /* s since the step's start */
};

void soft_jointed_move(struct soft_step *self, uint32_t jointed, double now)
{
	struct soft_joints *joints = &self->joints;
	struct soft_jointed *to = &joints->jointed[jointed];
	VALIDATE(jointed > 0 && jointed < joints->jointed_count);
	joints->motions[jointed] = soft_motion(self, to->number, now);
	if (now == 0 || self->drives[to->number].spins || to->taut)
		set_mass_inv(self, to, joints->motions[jointed].rotation);
}

static void motions_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct measure *measure = context;
	struct soft_step *self = measure->self;
	for (uint32_t k = first; k < last; k++)
		soft_jointed_move(self, soft_apart_body(&self->joints, k), measure->now);
}

/* ---- rows of one joint ---------------------------------------------------------------------- */

void soft_joint_factor(const struct soft_joints *joints, struct soft_joint *joint, const double *k,
		       uint32_t count)
{
	double scales[SOFT_LOCKS_MAX];
	ASSERT(count <= SOFT_LOCKS_MAX);
	for (uint32_t i = 0; i < count; i++)
		scales[i] = soft_response_scale(&joints->jointed[joint->a], &joint->locks[i].on_a) +
			    soft_response_scale(&joints->jointed[joint->b], &joint->locks[i].on_b);
	soft_joint_factor_scaled(joint, k, scales, count);
}

/* 1, of a motor's effective mass: with less damping its force hardly depends on its speed. */
#define SOFT_DAMP_MIN 1e-6

/* Stiffness and damping of a spring over a sub-step: h (k q + c q'), q' at its end; the part of k
 * beyond SPRING_PLAIN implicit, as damping. */
static void derive_spring(struct soft_extra *extra, const struct joint_law *law, double h)
{
	VALIDATE(extra->elastic);
	double stiffness = law->stiffness, damping = law->damping;
	double mass = extra->mass + extra->armature;
	if (law->softness == ROW_FREQUENCY) {
		double omega = TWO_PI * law->stiffness;
		stiffness = omega * omega * mass;
		damping = 2 * law->damping * omega * mass;
	}
	double implicit = h * h * stiffness - SPRING_PLAIN * mass;
	extra->stiff = h * stiffness;
	extra->damp = h * damping + scalar_max(implicit, 0);
	extra->implicit = implicit > 0;
	bool soft = extra->part == JOINT_MOTOR || extra->armature > 0;
	if (soft && extra->damp > SOFT_DAMP_MIN * mass)
		extra->soft = 1 / extra->damp;
}

/* A rotor is a damper of its own speed. Of a loose joint, it is swept as implicit springs are. */
static void derive_rotor(struct soft_extra *extra, bool loose)
{
	ASSERT(extra->armature > 0);
	extra->stiff = 0;
	extra->damp = extra->armature;
	extra->soft = 1 / extra->armature;
	extra->implicit = loose;
}

/* Of a body with a number. Number by number: a load of two that were just stored one by one waits. */
static inline void take_part(uint32_t jointed, const struct spatial *on, struct spatial *out)
{
	if (jointed == NO_JOINTED) {
		*out = spatial_zero();
		return;
	}
	out->linear.x = on->linear.x;
	out->linear.y = on->linear.y;
	out->linear.z = on->linear.z;
	out->angular.x = on->angular.x;
	out->angular.y = on->angular.y;
	out->angular.z = on->angular.z;
}

static inline void take_joint_row(const struct soft_joint *joint, const struct measured_row *row,
				  struct soft_row *out)
{
	take_part(joint->a, &row->on_a, &out->on_a);
	take_part(joint->b, &row->on_b, &out->on_b);
}

static void update_extra(struct soft_extra *extra, const struct measured_row *row,
			 const struct joint_law *law, double h)
{
	extra->start_gap = extra->gap;
	extra->gap = row->gap;
	if (extra->part != JOINT_ROTOR)
		extra->wanted = law->wanted;
	extra->soft = 0;
	extra->lower = -(double)__builtin_inf();
	extra->upper = (double)__builtin_inf();
	if (law->set == ROW_POSITIVE)
		extra->lower = 0;
	if (law->set == ROW_BOX) {
		extra->lower = h * law->lower;
		extra->upper = h * law->upper;
	}
}

/* Whether a row starts inside its bounds: motors and friction do; a limit if it had an impulse in the
 * last step. */
static void init_inside(struct soft_extra *extra)
{
	extra->impulse = scalar_clamp(extra->impulse, extra->lower, extra->upper);
	extra->mass_in_group = extra->mass;
	extra->inside = !soft_extra_is_alone(extra) &&
			(extra->part == JOINT_MOTOR || extra->part == JOINT_FRICTION ||
			 extra->elastic || extra->impulse > 0);
}

/* Adds the impulses of the last positions to the total, about b's anchor, which moves with b. */
static void move_impulses_to_anchor(const struct soft_joints *joints, uint32_t i)
{
	struct soft_joint *joint = &joints->items[i];
	vec3 moment = vec3_cross(joint->arm, joint->pushed.linear);
	vec3 turning = vec3_sub(joint->pushed.angular, moment);
	joint->total_pushed.linear = vec3_add(joint->total_pushed.linear, joint->pushed.linear);
	joint->total_pushed.angular = vec3_add(joint->total_pushed.angular, turning);
	joint->pushed = spatial_zero();
	const struct joint *data = &joints->list.joints[i];
	const struct body_motion *b =
		joint->b == NO_JOINTED ? &data->b : &joints->motions[joint->b];
	const struct body_motion *on = joint->b == NO_JOINTED ? &joints->motions[joint->a] : b;
	joint->arm = vec3_sub(joint_anchor_b(data, b), on->centre);
}

/* m/s, rad/s: of the rotor in row r of joint i, as the tick begins. */
static double rotor_lag(const struct soft_joints *joints, uint32_t i, uint32_t r)
{
	ASSERT(r < joints->items[i].row_count);
	uint32_t axis = joint_place_axis(joints->items[i].place[r]);
	return joints->list.joints[i].axes[axis].lag;
}

/* What its rows other than the locked ones have of their laws and masses. */
static void derive_extras(const struct measure *measure, uint32_t i,
			  const struct measured_row *rows, const struct joint_law *laws, double h)
{
	const struct soft_joints *joints = &measure->self->joints;
	struct soft_joint *joint = &joints->items[i];
	joint->implicit = false;
	for (uint32_t k = 0; k < joint->extra_count; k++) {
		struct soft_extra *extra = &joint->extras[k];
		const struct measured_row *row = &rows[joint->lock_count + k];
		if (extra->part == JOINT_ROTOR)
			derive_rotor(extra, joint->loose);
		else if (extra->elastic)
			derive_spring(extra, &laws[k], h);
		joint->implicit |= extra->implicit;
		if (measure->now == 0) {
			extra->approach = row->approach;
			extra->restitution = laws[k].restitution;
			if (extra->part == JOINT_ROTOR)
				extra->wanted =
					row->approach - rotor_lag(joints, i, joint->lock_count + k);
			init_inside(extra);
		}
	}
}

static void measure_joint(const struct measure *measure, uint32_t i)
{
	struct soft_step *self = measure->self;
	struct soft_joints *joints = &self->joints;
	struct soft_joint *joint = &joints->items[i];
	const struct joint *data = &joints->list.joints[i];
	struct measured_row rows[JOINT_ROWS_MAX];
	struct joint_law laws[JOINT_ROWS_MAX];
	const struct body_motion *a =
		joint->a == NO_JOINTED ? &data->a : &joints->motions[joint->a];
	const struct body_motion *b =
		joint->b == NO_JOINTED ? &data->b : &joints->motions[joint->b];
	double h = self->dt / self->substeps;
	joint_measure(data, a, b, CONSTRAINT_ACCELERATION, rows);
	joint->open = 0;
	for (uint32_t r = 0; r < joint->lock_count; r++) {
		joint->open = scalar_max(joint->open, scalar_abs(rows[r].gap));
		take_joint_row(joint, &rows[r], &joint->locks[r]);
		double rate = joints->bias_rate * rows[r].gap, most = (double)self->push_speed;
		joint->bias[r] = scalar_clamp(rate, -most, most) + 0.5 * h * rows[r].bias;
	}
	for (uint32_t k = 0; k < joint->extra_count; k++) {
		const struct measured_row *row = &rows[joint->lock_count + k];
		laws[k] = joint_row_law(data, joint->place[joint->lock_count + k]);
		take_joint_row(joint, row, &joint->extras[k].row);
		update_extra(&joint->extras[k], row, &laws[k], h);
	}
	if (!joint->wide && (joint->loose || joint->extra_count > 0))
		joints->kernels->derive(joints, joint);
	derive_extras(measure, i, rows, laws, h);
	soft_joint_choose_members(joint);
}

/* Updates the joint's angles, to which whole turns are nearest; making rows does not change them. */
static void count_turns(const struct measure *measure, uint32_t i)
{
	struct soft_joints *joints = &measure->self->joints;
	struct joint *data = &joints->list.joints[i];
	const struct soft_joint *joint = &joints->items[i];
	struct body_motion a = joint->a == NO_JOINTED ? data->a : joints->motions[joint->a];
	struct body_motion b = joint->b == NO_JOINTED ? data->b : joints->motions[joint->b];
	vec3 spin = vec3_sub(b.angular_velocity, a.angular_velocity);
	double h = measure->self->dt;
	if (vec3_length_squared(spin) * h * h <= SOFT_TURN_FAST)
		return;
	double now[JOINT_AXES];
	joint_coordinates(data, &a, &b, now);
	for (uint32_t k = 0; k < 3; k++)
		data->angle[k] = now[3 + k];
}

void soft_joint_measure(struct soft_step *self, uint32_t i, double now)
{
	const struct measure measure = { self, now };
	ASSERT(i < self->joints.list.count);
	count_turns(&measure, i);
	if (self->joints.items[i].row_count == 0)
		return; /* it exerts nothing, but its angles are stored */
	move_impulses_to_anchor(&self->joints, i);
	measure_joint(&measure, i);
}

static void rows_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct measure *measure = context;
	struct soft_joints *joints = &measure->self->joints;
	for (uint32_t k = first; k < last; k++)
		soft_joint_measure(measure->self, (uint32_t)(soft_apart(joints, k) - joints->items),
				   measure->now);
}

/* Rows of blocks of joints: those of balls in lanes, others joint by joint. */
static void blocks_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct measure *measure = context;
	struct soft_step *self = measure->self;
	struct soft_joints *joints = &self->joints;
	const struct wide_measure wide = { joints, joints->bias_rate, (double)self->push_speed,
					   0.5 * (self->dt / self->substeps), self->dt };
	for (uint32_t k = first; k < last; k++) {
		struct wide_block *block = &joints->wide.blocks[k];
		if (k + 1 < last)
			for (uint32_t lane = 0; lane < BLOCK_LANES; lane++) {
				prefetch(block[1].motion_a[lane], sizeof(struct body_motion));
				prefetch(block[1].motion_b[lane], sizeof(struct body_motion));
			}
		for (uint32_t lane = 0; lane < block->lanes && !block->balls; lane++) {
			count_turns(measure, block->number[lane]);
			measure_joint(measure, block->number[lane]);
		}
		uint32_t fast = joints->wide.kernels->measure(&wide, block);
		for (uint32_t lane = 0; lane < block->lanes; lane++)
			if (fast >> lane & 1)
				count_turns(measure, block->number[lane]);
	}
}

/* Factors of loose joints in blocks. */
static void loose_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_joints *joints = context;
	struct wide_block *blocks = &joints->wide.blocks[joints->wide.loose_first];
	for (uint32_t k = first; k < last; k++)
		joints->wide.kernels->factor(joints, &blocks[k]);
}

void soft_apart_measure(struct soft_step *self, double now)
{
	struct soft_joints *joints = &self->joints;
	const struct parallel *parallel = self->dynamics->parallel;
	const struct soft_wide *wide = &joints->wide;
	struct measure measure = { self, now };
	ASSERT(joints->list.count > 0);
	if (joints->driven)
		step_joints_at(self->step, &joints->list, now);
	parallel_run(parallel, joints->apart_count, JOINTED_GRAIN, motions_piece, &measure);
	parallel_run(parallel, wide->block_count, BLOCK_GRAIN, blocks_piece, &measure);
	soft_forest_tighten(self);
	parallel_run(parallel, wide->apart_count, JOINT_GRAIN, rows_piece, &measure);
	parallel_run(parallel, wide->block_count - wide->loose_first, BLOCK_GRAIN, loose_piece,
		     joints);
	soft_forest_factor(self);
	soft_gears_measure(self);
}

void soft_joints_measure(struct soft_step *self)
{
	struct soft_closed_work closed = { .self = self, .measures = true };
	if (self->joints.list.count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	soft_apart_measure(self, 0);
	(void)soft_closed_pass(&closed);
	profile_enter(self->dynamics->profile, before);
}

/* ---- into the tables ------------------------------------------------------------------------ */

static void store_joint(const struct soft_step *self, uint32_t i, struct joint_result *result)
{
	const struct soft_joints *joints = &self->joints;
	const struct soft_joint *joint = &joints->items[i];
	const struct joint *data = &joints->list.joints[i];
	const struct body_motion *b =
		joint->b == NO_JOINTED ? &data->b : &joints->motions[joint->b];
	ASSERT(joint->lock_count + joint->extra_count == joint->row_count);
	*result = (struct joint_result){ .point = joint_anchor_b(data, b) };
	for (uint32_t r = 0; r < joint->lock_count; r++)
		result->multiplier[joint->place[r]] = joint->total[r];
	for (uint32_t r = joint->lock_count; r < joint->row_count; r++)
		result->multiplier[joint->place[r]] = joint->extras[r - joint->lock_count].total;
	for (uint32_t r = 0; r < joint->extra_count && joint->rotors; r++) {
		const struct soft_extra *extra = &joint->extras[r];
		uint32_t axis = joint_place_axis(joint->place[joint->lock_count + r]);
		result->lags = true; /* contacts are solved after joints */
		if (extra->part == JOINT_ROTOR)
			result->rotor[axis] = extra->wanted - extra->soft * extra->impulse;
	}
	move_impulses_to_anchor(joints, i);
	/* On b, about its mass centre; if the rows have no part on b, the opposite of that on a. */
	bool on_a = joint->b == NO_JOINTED;
	result->on_b = on_a ? spatial_negate(joint->total_pushed) : joint->total_pushed;
	vec3 moment = vec3_cross(vec3_sub(result->point, b->centre), result->on_b.linear);
	result->on_b.angular = vec3_add(result->on_b.angular, moment);
}

void soft_joints_store(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	if (joints->list.count == 0)
		return;
	soft_wide_return(joints, false);
	for (uint32_t i = 0; i < joints->list.count; i++)
		store_joint(self, i, &joints->results[i]);
	struct step_joints all = joints->list;
	for (uint32_t i = 0; i < joints->gears.count; i++) {
		joints->results[all.count] = (struct joint_result){ 0 };
		joints->results[all.count++].multiplier[0] = joints->gears.items[i].total;
		all.gears++;
	}
	step_joints_store(self->step, &all, joints->results);
	for (uint32_t g = 0; g < joints->forest.group_count; g++)
		self->dynamics->report.fallbacks += joints->forest.groups[g].core.strained;
}
