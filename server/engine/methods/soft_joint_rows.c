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
	ASSERT(place < JOINT_MULTIPLIERS);
	const struct joint_axis *axis = &data->axes[place / JOINT_PARTS];
	if (place % JOINT_PARTS != JOINT_HOLD)
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
	if (lock == NULL || extra == NULL)
		return false;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		joint->locks = lock;
		joint->extras = extra;
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
			extra->part = place % JOINT_PARTS;
			const struct joint_axis *axis =
				&joints->list.joints[i].axes[place / JOINT_PARTS];
			extra->follows = axis->motor == JOINT_MOTOR_POSITION;
			extra->elastic = extra->part == JOINT_SPRING ||
					 (extra->part == JOINT_MOTOR && joint_axis_is_servo(axis));
			joints->driven |= extra->part == JOINT_MOTOR;
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
	uint32_t count = joints->list.count, gears = joints->gears.count;
	set_softness(joints, parameter[PARAMETER_JOINT_HERTZ], parameter[PARAMETER_JOINT_DAMPING],
		     self->dt / self->substeps);
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

static void motions_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct measure *measure = context;
	struct soft_step *self = measure->self;
	struct soft_joints *joints = &self->joints;
	for (uint32_t i = first + 1; i <= last; i++) {
		uint32_t number = joints->jointed[i].number;
		joints->motions[i] = soft_motion(self, number, measure->now);
		if (measure->now == 0 || self->drives[number].spins || joints->jointed[i].taut)
			set_mass_inv(self, &joints->jointed[i], joints->motions[i].rotation);
	}
}

/* ---- rows of one joint ---------------------------------------------------------------------- */

static struct spatial response_to(const struct soft_jointed *jointed, struct spatial force)
{
	return (struct spatial){ vec3_hadamard(jointed->mass_inv, force.linear),
				 sym3_apply(jointed->inertia_inv, force.angular) };
}

static struct soft_row row_response(const struct soft_joints *joints,
				    const struct soft_joint *joint, const struct soft_row *row)
{
	return (struct soft_row){ response_to(&joints->jointed[joint->a], row->on_a),
				  response_to(&joints->jointed[joint->b], row->on_b) };
}

static double couple_joint_rows(const struct soft_row *row, const struct soft_row *response)
{
	return spatial_dot(row->on_a, response->on_a) + spatial_dot(row->on_b, response->on_b);
}

/* An upper bound of J M⁻¹ Jᵀ for a J of this length: the scale of its rounding. */
static double response_scale_on(const struct soft_jointed *jointed, const struct spatial *on)
{
	double linear = jointed->mass_inv.x + jointed->mass_inv.y + jointed->mass_inv.z;
	return vec3_length_squared(on->linear) * linear +
	       vec3_length_squared(on->angular) * sym3_trace(jointed->inertia_inv);
}

static double response_scale(const struct soft_joints *joints, const struct soft_joint *joint,
			     const struct soft_row *row)
{
	return response_scale_on(&joints->jointed[joint->a], &row->on_a) +
	       response_scale_on(&joints->jointed[joint->b], &row->on_b);
}

/* Pivots are not exchanged: K is positive semidefinite, and a row with a vanishing pivot is left
 * out. */
void soft_joint_factor(const struct soft_joints *joints, struct soft_joint *joint, const double *k,
		       uint32_t count)
{
	ASSERT(count <= SOFT_LOCKS_MAX);
	double *l = joint->factor, row[SOFT_LOCKS_MAX];
	for (uint32_t i = 0; i < count; i++) {
		const double *above = joint->factor;
		double pivot = k[i];
		for (uint32_t j = 0; j < i; j++) {
			/* L D of this row first. */
			row[j] = k[j];
			for (uint32_t m = 0; m < j; m++)
				row[j] -= row[m] * above[m];
			above += j;
		}
		for (uint32_t j = 0; j < i; j++) {
			l[j] = row[j] * joint->pivot_inv[j];
			pivot -= l[j] * row[j];
		}
		bool usable =
			pivot > SOFT_PIVOT_MIN * response_scale(joints, joint, &joint->locks[i]);
		joint->pivot_inv[i] = usable ? 1 / pivot : 0;
		l += i;
		k += i + 1;
	}
}

/* Factors K of the locked rows, without regard to other joints. */
static void factor_alone(const struct soft_joints *joints, struct soft_joint *joint)
{
	ASSERT(joint->lock_count <= SOFT_LOCKS_MAX);
	double k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *row = k;
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		struct soft_row answer = row_response(joints, joint, &joint->locks[i]);
		for (uint32_t j = 0; j <= i; j++)
			row[j] = couple_joint_rows(&joint->locks[j], &answer);
		row += i + 1;
	}
	soft_joint_factor(joints, joint, k, joint->lock_count);
	for (uint32_t i = 0; i < joint->lock_count; i++)
		if (joint->pivot_inv[i] == 0)
			joint->impulse[i] = 0;
}

/* The response of the locked rows, and the row's effective mass with it. */
static void derive_extra(const struct soft_joints *joints, const struct soft_joint *joint,
			 struct soft_extra *extra)
{
	struct soft_row response = row_response(joints, joint, &extra->row);
	double along = couple_joint_rows(&extra->row, &response);
	double coupled[SOFT_LOCKS_MAX];
	for (uint32_t i = 0; i < joint->lock_count; i++)
		coupled[i] = extra->answer[i] = couple_joint_rows(&joint->locks[i], &response);
	soft_joint_solve_factored(joint, joint->lock_count, extra->answer);
	extra->push = extra->row;
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		along -= coupled[i] * extra->answer[i];
		extra->answer[i] = -extra->answer[i];
		extra->push.on_a =
			spatial_mul_add(extra->push.on_a, joint->locks[i].on_a, extra->answer[i]);
		extra->push.on_b =
			spatial_mul_add(extra->push.on_b, joint->locks[i].on_b, extra->answer[i]);
	}
	bool moves =
		along > 0 && along > SOFT_PIVOT_MIN * response_scale(joints, joint, &extra->row);
	extra->mass = moves ? 1 / along : 0;
	ASSERT(extra->mass >= 0);
}

/* The same as those of another row of the joint with the same J, or the negative of it. */
static void copy_derived(const struct soft_joint *joint, const struct soft_extra *from,
			 bool negative, struct soft_extra *to)
{
	to->mass = from->mass;
	for (uint32_t i = 0; i < joint->lock_count; i++)
		to->answer[i] = negative ? -from->answer[i] : from->answer[i];
	to->push = from->push;
	if (negative) {
		to->push.on_a = spatial_negate(to->push.on_a);
		to->push.on_b = spatial_negate(to->push.on_b);
	}
}

static bool are_same(const struct spatial *a, const struct spatial *b, double sign)
{
	return a->linear.x == sign * b->linear.x && a->linear.y == sign * b->linear.y &&
	       a->linear.z == sign * b->linear.z && a->angular.x == sign * b->angular.x &&
	       a->angular.y == sign * b->angular.y && a->angular.z == sign * b->angular.z;
}

/* Whether a row has J of another one times `sign`: the limits, the spring and the motor of an axis do. */
static bool is_same_row(const struct soft_row *a, const struct soft_row *b, double sign)
{
	return are_same(&a->on_a, &b->on_a, sign) && are_same(&a->on_b, &b->on_b, sign);
}

/* Derives extra r, from the one before where that is of the same axis. */
static void derive_next_extra(const struct soft_joints *joints, const struct soft_joint *joint,
			      uint32_t r)
{
	struct soft_extra *extra = &joint->extras[r];
	const struct soft_extra *before = extra - 1;
	ASSERT(r < joint->extra_count);
	if (r > 0 && is_same_row(&extra->row, &before->row, 1))
		copy_derived(joint, before, false, extra);
	else if (r > 0 && is_same_row(&extra->row, &before->row, -1))
		copy_derived(joint, before, true, extra);
	else
		derive_extra(joints, joint, extra);
	if (extra->mass == 0)
		extra->impulse = 0;
}

/* 1, of a motor's effective mass: with less damping its force hardly depends on its speed. */
#define SOFT_DAMP_MIN 1e-6

/* Stiffness and damping of a spring over a sub-step: h (k q + c q'), q' at its end; the part of k
 * beyond SPRING_PLAIN implicit, as damping. */
static void derive_spring(struct soft_extra *extra, const struct constraint_row *row, double h)
{
	VALIDATE(extra->elastic);
	double stiffness = row->stiffness, damping = row->damping;
	if (row->softness == ROW_FREQUENCY) {
		double omega = TWO_PI * row->stiffness;
		stiffness = omega * omega * extra->mass;
		damping = 2 * row->damping * omega * extra->mass;
	}
	double implicit = h * h * stiffness - SPRING_PLAIN * extra->mass;
	extra->stiff = h * stiffness;
	extra->damp = h * damping + scalar_max(implicit, 0);
	extra->implicit = implicit > 0;
	if (extra->part == JOINT_MOTOR && extra->damp > SOFT_DAMP_MIN * extra->mass)
		extra->soft = 1 / extra->damp;
}

static inline void take_joint_row(const struct constraint *constraint,
				  const struct constraint_row *row, struct soft_row *out)
{
	VALIDATE(row->j.count <= 2);
	out->on_a = out->on_b = spatial_zero();
	for (uint32_t k = 0; k < row->j.count; k++) {
		if (row->j.parts[k].slot == constraint->body_a)
			out->on_a = row->j.parts[k].on;
		else
			out->on_b = row->j.parts[k].on;
	}
}

static void update_extra(struct soft_extra *extra, const struct constraint_row *row, double h)
{
	extra->start_gap = extra->gap;
	extra->gap = row->gap;
	extra->wanted = row->wanted;
	extra->soft = 0;
	extra->lower = -(double)__builtin_inf();
	extra->upper = (double)__builtin_inf();
	if (row->set == ROW_POSITIVE)
		extra->lower = 0;
	if (row->set == ROW_BOX) {
		extra->lower = h * row->lower;
		extra->upper = h * row->upper;
	}
}

/* Whether a row starts inside its bounds: motors and friction do; a limit if it had an impulse in the
 * last step. */
static void init_inside(struct soft_extra *extra)
{
	extra->impulse = scalar_clamp(extra->impulse, extra->lower, extra->upper);
	extra->mass_in_group = extra->mass;
	extra->inside =
		!soft_extra_is_alone(extra) &&
		(extra->part == JOINT_MOTOR || extra->part == JOINT_FRICTION || extra->impulse > 0);
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

enum { BLOCKS_MAX = 1 + JOINT_ROWS_MAX };

static void measure_joint(const struct measure *measure, uint32_t i)
{
	struct soft_step *self = measure->self;
	struct soft_joints *joints = &self->joints;
	struct soft_joint *joint = &joints->items[i];
	const struct constraint *constraint = &joints->list.constraints[i];
	static const struct constraint_options options = { .level = CONSTRAINT_ACCELERATION };
	struct constraint_row rows[JOINT_ROWS_MAX];
	struct row_block blocks[BLOCKS_MAX];
	struct row_part parts[2 * JOINT_ROWS_MAX];
	struct row_list list = {
		rows, blocks, parts, 0, 0, 0, JOINT_ROWS_MAX, BLOCKS_MAX, 2 * JOINT_ROWS_MAX
	};
	const struct body_motion *a = joint->a == NO_JOINTED ? NULL : &joints->motions[joint->a];
	const struct body_motion *b = joint->b == NO_JOINTED ? NULL : &joints->motions[joint->b];
	double h = self->dt / self->substeps;
	constraint->kind->rows(constraint, i, a, b, &options, &list);
	ASSERT(list.row_count == joint->row_count);
	joint->open = 0;
	for (uint32_t r = 0; r < joint->lock_count; r++) {
		VALIDATE(rows[r].set == ROW_FREE);
		joint->open = scalar_max(joint->open, scalar_abs(rows[r].gap));
		take_joint_row(constraint, &rows[r], &joint->locks[r]);
		double rate = joints->bias_rate * rows[r].gap, most = (double)self->push_speed;
		joint->bias[r] = scalar_clamp(rate, -most, most) + 0.5 * h * rows[r].bias;
	}
	joint->implicit = false;
	if (!joint->wide && (joint->loose || joint->extra_count > 0))
		factor_alone(joints, joint);
	for (uint32_t r = joint->lock_count; r < joint->row_count; r++) {
		struct soft_extra *extra = &joint->extras[r - joint->lock_count];
		take_joint_row(constraint, &rows[r], &extra->row);
		update_extra(extra, &rows[r], h);
		derive_next_extra(joints, joint, r - joint->lock_count);
		if (extra->elastic)
			derive_spring(extra, &rows[r], h);
		joint->implicit |= extra->implicit;
		if (measure->now == 0) {
			extra->approach = rows[r].approach;
			init_inside(extra);
		}
	}
	soft_joint_choose_members(joint);
	if (measure->now == 0)
		for (uint32_t k = 0; k < list.block_count; k++)
			if (blocks[k].first >= joint->lock_count)
				joint->extras[blocks[k].first - joint->lock_count].restitution =
					blocks[k].restitution;
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

static void rows_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct measure *measure = context;
	struct soft_joints *joints = &measure->self->joints;
	for (uint32_t k = first; k < last; k++) {
		uint32_t i = (uint32_t)(soft_rest(joints, k) - joints->items);
		count_turns(measure, i);
		move_impulses_to_anchor(joints, i);
		measure_joint(measure, i);
	}
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

void soft_joints_measure(struct soft_step *self, double now)
{
	struct soft_joints *joints = &self->joints;
	const struct parallel *parallel = self->dynamics->parallel;
	const struct soft_wide *wide = &joints->wide;
	struct measure measure = { self, now };
	if (joints->list.count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	if (joints->driven)
		step_joints_at(self->step, &joints->list, now);
	parallel_run(parallel, joints->jointed_count - 1, JOINTED_GRAIN, motions_piece, &measure);
	parallel_run(parallel, wide->block_count, BLOCK_GRAIN, blocks_piece, &measure);
	soft_forest_tighten(self);
	parallel_run(parallel, wide->rest_count, JOINT_GRAIN, rows_piece, &measure);
	parallel_run(parallel, wide->block_count - wide->loose_first, BLOCK_GRAIN, loose_piece,
		     joints);
	soft_forest_factor(self);
	soft_gears_measure(self);
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
