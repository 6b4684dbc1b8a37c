/* soft_joint.c: the passes of a sub-step over joints.
 *
 * soft_joint_rows.c makes a joint's rows at the positions of its bodies. Before each pass the
 * velocities of jointed bodies are converted from differences in float to whole velocities in
 * double, and back after it. Contacts are solved after joints, because a joint that gives way
 * recovers, but a body pressed through the ground does not.
 *
 *   solve    locked rows as damped springs: a row of speed u is to have
 *              u − mass_scale (u + bias),   bias = bias_rate q + h/2 J' v
 *            (softness of soft_prepare.c, at most HERTZ_MAX of the sub-step rate; q the gap, removed at
 *            most at contact.push_speed; h/2 J' v the difference of a straight motion from a curved one)
 *   relax    at the new positions: the target speed is 0, so that velocities are those of rigid joints
 *   rounds   contacts between a light limb and a heavy body see the limb's own mass and undo what its joints
 *            do, so a limb that carries a body would be bent open. While contacts move a joint that is open
 *            (STRAIN_OPEN) by more than STRAIN_MIN, both are solved in turns, at most ROUNDS_MAX times
 *   restitution  limits that were reached and had an impulse get −e times the speed of approach
 *
 * Connected joints, with loops, are solved together (soft_joint_plan.c chooses them), without a warm
 * start. Joints of springs alone, and those that close the loops of a net that is too dense, are solved
 * one by one before, in order of rows, and start with the last sub-step's impulses:
 *              λ ← λ − mass_scale K⁻¹ (J v + bias) − impulse_scale λ
 *
 * The other rows:
 *
 *   limit            as a point of a contact
 *   spring           of stiffness k and damping c: λ = −h (k q + c q'), with q at the sub-step's start and
 *                    q' at its end, so relaxing changes λ only by the damping. The part of k for which
 *                    sub-steps are too long acts implicitly
 *   motor with gains as a spring, with q' − wanted in place of q'
 *   velocity motor   J v = wanted, within its bounds
 *   position motor   without a bound as a locked row, else at a speed that its force can brake
 *                    (soft_servo_speed), in both passes. The rate of the target is added: solve uses
 *                    that of the sub-step's middle, relax that of its end
 *   friction         J v = 0, within its bounds
 *   rotor            J v + λ/armature = its speed at the sub-step's start, and its speed is J v at the end;
 *                    springs and motors with gains of its axis are solved as one with it (soft_joint_tree.c)
 *
 * In joints that are solved together only springs, and motors with hardly any damping, are solved one
 * by one. Those with an implicit part come after all others, and are swept until they agree.
 */
#include "server/engine/methods/soft_step.h"

/* ---- bodies --------------------------------------------------------------------------------- */

static vec3 to_double(float4 v)
{
	return vec3_make((double)v[0], (double)v[1], (double)v[2]);
}

static float4 to_float4(vec3 v)
{
	return (float4){ (float)v.x, (float)v.y, (float)v.z, 0 };
}

void soft_jointed_gather(struct soft_step *self, uint32_t jointed)
{
	VALIDATE(jointed > 0 && jointed < self->joints.jointed_count);
	struct soft_jointed *to = &self->joints.jointed[jointed];
	const struct soft_body *body = &self->bodies[to->number];
	const struct spatial *start = &self->drives[to->number].start.velocity;
	to->velocity.linear = vec3_add(start->linear, to_double(body->velocity));
	to->velocity.angular = vec3_add(start->angular, to_double(body->spin));
	if (!to->moves)
		to->trial = to->velocity; /* in lanes all bodies have one */
}

void soft_jointed_scatter(struct soft_step *self, uint32_t jointed)
{
	VALIDATE(jointed > 0 && jointed < self->joints.jointed_count);
	const struct soft_jointed *from = &self->joints.jointed[jointed];
	const struct soft_drive *drive = &self->drives[from->number];
	struct soft_body *body = &self->bodies[from->number];
	if (!drive->dynamic)
		return;
	body->velocity = to_float4(vec3_sub(from->velocity.linear, drive->start.velocity.linear));
	body->spin = to_float4(vec3_sub(from->velocity.angular, drive->start.velocity.angular));
}

/* Of all bodies. */
static void gather_velocities(struct soft_step *self)
{
	for (uint32_t i = 1; i < self->joints.jointed_count; i++)
		soft_jointed_gather(self, i);
}

/* Of those in no closed group, which have theirs in their pass. */
static void gather_apart(struct soft_step *self)
{
	for (uint32_t k = 0; k < self->joints.apart_count; k++)
		soft_jointed_gather(self, soft_apart_body(&self->joints, k));
}

static void scatter_apart(struct soft_step *self)
{
	for (uint32_t k = 0; k < self->joints.apart_count; k++)
		soft_jointed_scatter(self, soft_apart_body(&self->joints, k));
}

/* ---- one joint ------------------------------------------------------------------------------ */

static inline double speed_of(const struct soft_row *row, const struct soft_jointed *a,
			      const struct soft_jointed *b)
{
	return spatial_dot(row->on_a, a->velocity) + spatial_dot(row->on_b, b->velocity);
}

static inline void apply_row_impulse(struct soft_joint *joint, struct soft_jointed *a,
				     struct soft_jointed *b, const struct soft_row *impulse)
{
	soft_jointed_apply(a, &impulse->on_a);
	soft_jointed_apply(b, &impulse->on_b);
	const struct spatial *seen = joint->b != 0 ? &impulse->on_b : &impulse->on_a;
	joint->pushed = spatial_mul_add(joint->pushed, *seen, 1);
}

static inline void add_scaled_row(struct soft_row *sum, const struct soft_row *row, double impulse)
{
	sum->on_a = spatial_mul_add(sum->on_a, row->on_a, impulse);
	sum->on_b = spatial_mul_add(sum->on_b, row->on_b, impulse);
}

/* J of a row with the response of the locked rows. */
static inline struct soft_row push_of(const struct soft_joint *joint,
				      const struct soft_extra *extra)
{
	struct soft_row push = extra->row;
	for (uint32_t i = 0; i < joint->lock_count; i++)
		add_scaled_row(&push, &joint->locks[i], extra->answer[i]);
	return push;
}

/* Applies the warm start. Rows solved together start at 0; other rows apply their impulse with the
 * response of the locked rows. */
void soft_joint_warm(struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_row sum = { spatial_zero(), spatial_zero() };
	bool any = false;
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		if (!joint->loose) {
			joint->impulse[i] = 0;
			continue;
		}
		add_scaled_row(&sum, &joint->locks[i], joint->impulse[i]);
		any |= joint->impulse[i] != 0;
	}
	for (uint32_t i = 0; i < joint->extra_count; i++) {
		struct soft_extra *extra = &joint->extras[i];
		if (extra->part == JOINT_ROTOR) { /* what it lost in the last sub-step */
			extra->wanted -= extra->soft * extra->impulse;
			extra->impulse = 0;
		}
		extra->impulse = extra->member ? 0 : extra->impulse;
		if (extra->impulse == 0)
			continue;
		struct soft_row push = joint->loose ? extra->row : push_of(joint, extra);
		add_scaled_row(&sum, &push, extra->impulse);
		for (uint32_t r = 0; r < joint->lock_count && !joint->loose; r++)
			joint->impulse[r] += extra->answer[r] * extra->impulse;
		any = true;
	}
	joint->acted |= any;
	if (any)
		apply_row_impulse(joint, &joints->jointed[joint->a], &joints->jointed[joint->b],
				  &sum);
}

static void solve_locks(const struct soft_pass *pass, struct soft_joint *joint)
{
	ASSERT(joint->lock_count <= SOFT_LOCKS_MAX);
	struct soft_jointed *a = &pass->joints->jointed[joint->a],
			    *b = &pass->joints->jointed[joint->b];
	struct soft_row sum = { spatial_zero(), spatial_zero() };
	double x[SOFT_LOCKS_MAX];
	for (uint32_t i = 0; i < joint->lock_count; i++)
		x[i] = speed_of(&joint->locks[i], a, b) + (pass->biased ? joint->bias[i] : 0);
	soft_joint_solve_factored(joint, joint->lock_count, x);
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		double change = pass->mass_scale * x[i] + pass->impulse_scale * joint->impulse[i];
		joint->impulse[i] -= change;
		joint->acted |= joint->impulse[i] != 0;
		add_scaled_row(&sum, &joint->locks[i], -change);
	}
	apply_row_impulse(joint, a, b, &sum);
}

/* Sets the row's impulse, within its bounds, and the locked rows' by their response. */
static void set_impulse(const struct soft_pass *pass, struct soft_joint *joint,
			struct soft_extra *extra, double impulse)
{
	struct soft_row sum = { spatial_zero(), spatial_zero() };
	VALIDATE(!(extra->lower > extra->upper));
	double change = scalar_clamp(impulse, extra->lower, extra->upper) - extra->impulse;
	if (change == 0)
		return;
	extra->impulse += change;
	joint->acted = true;
	for (uint32_t i = 0; i < joint->lock_count; i++)
		joint->impulse[i] += extra->answer[i] * change;
	struct soft_row push = push_of(joint, extra);
	add_scaled_row(&sum, &push, change);
	apply_row_impulse(joint, &pass->joints->jointed[joint->a], &pass->joints->jointed[joint->b],
			  &sum);
}

/* The impulse that gives the row its speed, before its bounds; `speed`: J v now. */
static double limit_impulse(const struct soft_pass *pass, const struct soft_extra *extra,
			    double speed)
{
	double before = extra->impulse;
	if (extra->gap > 0)
		return before - extra->mass * (speed + extra->gap * pass->h_inv);
	double off = speed + soft_limit_bias(pass, extra);
	return before - extra->mass * pass->mass_scale * off - pass->impulse_scale * before;
}

static double spring_impulse(const struct soft_pass *pass, const struct soft_extra *extra,
			     double speed)
{
	double gap = pass->biased ? extra->gap : extra->start_gap;
	double missing =
		extra->stiff * gap + extra->damp * (speed - extra->wanted) + extra->impulse;
	return extra->impulse - missing * extra->mass / (extra->mass + extra->damp);
}

static double motor_impulse(const struct soft_pass *pass, const struct soft_extra *extra,
			    double speed)
{
	double before = extra->impulse, off = speed - extra->wanted;
	if (!extra->follows)
		return before - extra->mass * off;
	if (scalar_is_finite(extra->upper))
		return before - extra->mass * (off + soft_servo_speed(pass, extra));
	off += pass->bias_rate * extra->gap;
	return before - extra->mass * pass->mass_scale * off - pass->impulse_scale * before;
}

/* Returns by how much its impulse has changed. */
static double solve_extra(const struct soft_pass *pass, struct soft_joint *joint,
			  struct soft_extra *extra)
{
	VALIDATE(extra->mass > 0);
	const struct soft_jointed *jointed = pass->joints->jointed;
	double speed = speed_of(&extra->row, &jointed[joint->a], &jointed[joint->b]), impulse = 0;
	double before = extra->impulse;
	switch (extra->part) {
	case JOINT_HOLD:
	case JOINT_UPPER:
		impulse = limit_impulse(pass, extra, speed);
		break;
	case JOINT_SPRING:
	case JOINT_MOTOR:
	case JOINT_ROTOR:
		impulse = extra->elastic ? spring_impulse(pass, extra, speed)
					 : motor_impulse(pass, extra, speed);
		break;
	case JOINT_FRICTION:
		impulse = extra->impulse - extra->mass * speed;
		break;
	}
	set_impulse(pass, joint, extra, impulse);
	extra->inside =
		!soft_extra_is_alone(extra) && impulse > extra->lower && impulse < extra->upper;
	return extra->impulse - before;
}

/* What a sweep over implicit springs did: how many rows it solved, and the sums of the squares of
 * their impulses and of the changes of these, each divided by the row's mass, which are energies. */
struct sweep {
	uint32_t rows;
	double size, change;
};

/* Whether a row is not solved together with others: all of a loose joint; else springs, and rows
 * inside their bounds that are no members because their axis has one already. */
static bool is_alone(const struct soft_joint *joint, const struct soft_extra *extra)
{
	bool alone = joint->loose || soft_extra_is_alone(extra) || extra->inside;
	return alone && !extra->member && extra->mass > 0;
}

void soft_joint_solve_alone(const struct soft_pass *pass, struct soft_joint *joint)
{
	if (joint->loose && joint->lock_count > 0)
		solve_locks(pass, joint);
	for (uint32_t i = 0; i < joint->extra_count; i++)
		if (is_alone(joint, &joint->extras[i]) && !joint->extras[i].implicit)
			(void)solve_extra(pass, joint, &joint->extras[i]);
}

bool soft_joint_is_swept(const struct soft_joint *joint)
{
	bool any = false;
	for (uint32_t i = 0; i < joint->extra_count && joint->implicit; i++)
		any |= joint->extras[i].implicit && is_alone(joint, &joint->extras[i]);
	return any;
}

static void sweep_joint(const struct soft_pass *pass, struct soft_joint *joint, struct sweep *sum)
{
	ASSERT(joint->implicit);
	for (uint32_t i = 0; i < joint->extra_count; i++) {
		struct soft_extra *extra = &joint->extras[i];
		if (!extra->implicit || !is_alone(joint, extra))
			continue;
		double change = solve_extra(pass, joint, extra);
		sum->rows++;
		sum->size += extra->impulse * extra->impulse / extra->mass;
		sum->change += change * change / extra->mass;
	}
}

/* Sweeps over implicit springs, at most: four springs of up to 10⁷ N/m on a body of 1 kg at 60 Hz
 * need ten. */
enum { SWEEPS_MAX = 16 };
/* 1, of the energy of the impulses: smaller changes end the sweeps. Larger: springs gain energy
 * from each other. */
#define SWEEP_CHANGE 1e-8

/* Joints that are solved together, and the gears between their axes. */
static void solve_together(const struct soft_step *self, const struct soft_pass *pass)
{
	soft_gears_aim(pass);
	soft_forest_solve(self, pass);
	soft_gears_solve(pass);
}

/* One sweep, in the order of joints; `waits`: closed groups wait for it. */
static void sweep_joints(const struct soft_pass *pass, bool waits, struct sweep *sum)
{
	struct soft_joints *joints = pass->joints;
	for (uint32_t i = 0; i < joints->wide.apart_count && !waits; i++)
		if (soft_apart(joints, i)->implicit)
			sweep_joint(pass, soft_apart(joints, i), sum);
	for (uint32_t i = 0; i < joints->wide.rest_count && waits; i++) {
		struct soft_joint *joint = soft_rest(joints, i);
		if (joint->closed ? joint->swept : joint->implicit)
			sweep_joint(pass, joint, sum);
	}
}

/* The force of an implicit spring is that at the speed of the sub-step's end. So the other rows
 * that are solved alone come before these, and several of these are swept until they agree: an
 * impulse after one of them would change its speed, and a stiff spring would do work on it that
 * nobody loses. Rows solved together come last. */
static void solve_all(struct soft_closed_work *closed)
{
	const struct soft_pass *pass = closed->pass;
	soft_solve_items(pass);
	bool waits = soft_closed_pass(closed);
	for (uint32_t k = 0; k < SWEEPS_MAX; k++) {
		struct sweep sweep = { 0 };
		sweep_joints(pass, waits, &sweep);
		if (sweep.rows < 2 || !(sweep.change > SWEEP_CHANGE * sweep.size))
			break;
	}
	solve_together(closed->self, pass);
	if (waits)
		soft_closed_finish(closed);
}

/* ---- passes --------------------------------------------------------------------------------- */

static struct soft_pass pass_of(struct soft_step *self, bool biased)
{
	struct soft_joints *joints = &self->joints;
	ASSERT(self->dt > 0 && self->push_speed >= 0);
	struct soft_pass pass = { .joints = joints,
				  .mass_scale = 1,
				  .h_inv = self->substeps / self->dt,
				  .push_speed = (double)self->push_speed,
				  .servo_rate = joints->bias_rate,
				  .biased = biased };
	if (biased) {
		pass.bias_rate = joints->bias_rate;
		pass.mass_scale = joints->mass_scale;
		pass.impulse_scale = joints->impulse_scale;
	}
	return pass;
}

void soft_joint_add_totals(struct soft_joint *joint, double sign)
{
	soft_joint_take_pull(joint);
	for (uint32_t r = 0; r < joint->lock_count; r++)
		joint->total[r] += sign * joint->impulse[r];
	for (uint32_t r = 0; r < joint->extra_count; r++) {
		struct soft_extra *extra = &joint->extras[r];
		extra->total += sign * extra->impulse;
		extra->struck |= extra->impulse > 0;
	}
}

static void add_totals(struct soft_joints *joints, double sign)
{
	for (uint32_t i = 0; i < joints->wide.apart_count; i++)
		soft_joint_add_totals(soft_apart(joints, i), sign);
	ASSERT(sign == 1 || joints->wide.block_count == 0);
	for (uint32_t i = 0; i < joints->wide.block_count; i++)
		joints->wide.kernels->add_totals(&joints->wide.blocks[i]);
}

/* Updates the motors' rates for the sub-step's middle. */
static void update_motor_rates(struct soft_step *self, double time)
{
	struct soft_joints *joints = &self->joints;
	step_joints_at(self->step, &joints->list, time);
	for (uint32_t k = 0; k < joints->wide.rest_count; k++) {
		struct soft_joint *joint = soft_rest(joints, k);
		const struct joint *data = &joints->list.joints[joint - joints->items];
		for (uint32_t r = 0; r < joint->extra_count; r++) {
			uint32_t axis = joint_place_axis(joint->place[joint->lock_count + r]);
			VALIDATE(axis < JOINT_AXES);
			if (joint->extras[r].part == JOINT_MOTOR)
				joint->extras[r].wanted = data->axes[axis].rate;
		}
	}
}

void soft_joints_solve(struct soft_step *self, double half)
{
	struct soft_joints *joints = &self->joints;
	if (joints->list.count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	if (joints->driven)
		update_motor_rates(self, half);
	struct soft_pass pass = pass_of(self, true);
	struct soft_closed_work closed = {
		.self = self, .pass = &pass, .gathers = true, .warms = true
	};
	gather_apart(self);
	soft_warm_items(joints);
	soft_gears_start(joints);
	solve_all(&closed);
	scatter_apart(self);
	profile_enter(self->dynamics->profile, before);
}

/* m, rad: a joint that is open by more is strained, if a sub-step moves it by STRAIN_MIN beyond
 * what it is to. Smaller: a chain whose load strikes a wall loses the softness of its joints in
 * that sub-step; larger: joints open farther before they are held. */
#define STRAIN_OPEN 0.02
#define STRAIN_MIN 2e-4

enum {
	/* Rounds of a sub-step. Fewer: a limb between the ground and a falling body bends where it has no
	 * hinge, by 0.5 rad with 4 and by 1.1 with 1. */
	ROUNDS_MAX = 16,
	/* Joints and contacts times rounds, at most: what a sub-step may cost in a large world. */
	ROUNDS_WORK = 16384,
};

/* m/s, rad/s: by how much contacts have changed the speeds of a joint's locked rows; `trial`: the
 * bodies' velocities before them. */
static double undone_speed(const struct soft_joints *joints, const struct soft_joint *joint)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	struct spatial on_a = spatial_mul_add(a->velocity, a->trial, -1);
	struct spatial on_b = spatial_mul_add(b->velocity, b->trial, -1);
	double most = 0;
	for (uint32_t r = 0; r < joint->lock_count && !joint->loose; r++) {
		double speed = spatial_dot(joint->locks[r].on_a, on_a) +
			       spatial_dot(joint->locks[r].on_b, on_b);
		most = scalar_max(most, scalar_abs(speed));
	}
	return most;
}

bool soft_joints_strained(struct soft_step *self, uint32_t round)
{
	struct soft_joints *joints = &self->joints;
	uint32_t rows = joints->list.count + self->step->contacts.count;
	double h = self->dt / self->substeps;
	bool strained = false, open = false;
	for (uint32_t i = 0; i < joints->wide.apart_count && !open; i++)
		open = soft_apart(joints, i)->open > STRAIN_OPEN;
	for (uint32_t k = 0; k < joints->forest.closed_count && !open; k++)
		open = joints->forest.groups[joints->forest.closed[k]].open > STRAIN_OPEN;
	for (uint32_t i = 0; i < joints->wide.block_count && !open; i++)
		open = joints->wide.blocks[i].open > STRAIN_OPEN;
	if (!open || self->block_count == 0 || round >= ROUNDS_MAX ||
	    (uint64_t)round * rows >= ROUNDS_WORK)
		return false;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	for (uint32_t i = 0; i < joints->jointed_count; i++)
		joints->jointed[i].trial = joints->jointed[i].velocity;
	gather_velocities(self);
	soft_wide_return(joints, true);
	for (uint32_t i = 0; i < joints->list.count && !strained; i++) {
		double moved = h * undone_speed(joints, &joints->items[i]);
		strained = moved > STRAIN_MIN && joints->items[i].open > STRAIN_OPEN;
	}
	profile_enter(self->dynamics->profile, before);
	/* A taut body's damping and added inertia are those of one solution a sub-step. */
	return strained && soft_joints_taut(joints) == 0;
}

void soft_joints_solve_again(struct soft_step *self)
{
	ASSERT(self->joints.list.count > 0);
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	struct soft_pass pass = pass_of(self, true);
	struct soft_closed_work closed = { .self = self, .pass = &pass };
	solve_all(&closed);
	scatter_apart(self);
	profile_enter(self->dynamics->profile, before);
}

void soft_joints_relax(struct soft_step *self, double now)
{
	struct soft_joints *joints = &self->joints;
	if (joints->list.count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	struct soft_pass pass = pass_of(self, false);
	struct soft_closed_work closed = { .self = self,
					   .pass = &pass,
					   .now = now,
					   .measures = true,
					   .gathers = true,
					   .counts = true };
	soft_apart_measure(self, now);
	gather_apart(self);
	solve_all(&closed);
	add_totals(joints, 1);
	soft_gears_add_totals(joints, 1);
	scatter_apart(self);
	profile_enter(self->dynamics->profile, before);
}

double soft_joints_residual(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	double most = 0;
	if (joints->list.count == 0)
		return most;
	gather_velocities(self);
	for (uint32_t i = 0; i < joints->wide.block_count; i++) {
		const struct wide_block *block = &joints->wide.blocks[i];
		most = scalar_max(most, joints->wide.kernels->residual(joints, block));
		for (uint32_t lane = 0; lane < block->lanes; lane++)
			if (block->acted >> lane & 1) {
				const struct soft_jointed *bodies = joints->jointed;
				self->drives[bodies[block->a[lane]].number].pushed = true;
				self->drives[bodies[block->b[lane]].number].pushed = true;
			}
	}
	for (uint32_t i = 0; i < joints->wide.rest_count; i++) {
		const struct soft_joint *joint = soft_rest(joints, i);
		struct soft_jointed *a = &joints->jointed[joint->a],
				    *b = &joints->jointed[joint->b];
		for (uint32_t r = 0; r < joint->lock_count; r++)
			most = scalar_max(most, scalar_abs(speed_of(&joint->locks[r], a, b)));
		if (joint->acted)
			self->drives[a->number].pushed = self->drives[b->number].pushed = true;
	}
	return scalar_max(most, soft_gears_residual(self));
}

/* ---- restitution ---------------------------------------------------------------------------- */

static bool limit_bounces(const struct soft_step *self, const struct soft_extra *extra)
{
	bool limit = extra->part == JOINT_HOLD || extra->part == JOINT_UPPER;
	return limit && extra->restitution > 0 && extra->struck &&
	       extra->approach < -(double)self->restitution_speed;
}

static void bounce_limit(const struct soft_pass *pass, struct soft_joint *joint,
			 struct soft_extra *extra)
{
	VALIDATE(extra->approach < 0 && extra->restitution > 0);
	const struct soft_jointed *jointed = pass->joints->jointed;
	double speed = speed_of(&extra->row, &jointed[joint->a], &jointed[joint->b]);
	extra->wanted = -extra->restitution * extra->approach;
	set_impulse(pass, joint, extra, extra->impulse - extra->mass * (speed - extra->wanted));
}

/* Gives each limit that was hit the speed its restitution asks for, then solves all joints again with
 * these speeds. */
void soft_joints_restitution(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_pass pass = pass_of(self, false);
	bool any = false;
	for (uint32_t i = 0; i < joints->wide.rest_count && !any && joints->bounces; i++)
		for (uint32_t r = 0; r < soft_rest(joints, i)->extra_count; r++)
			any |= limit_bounces(self, &soft_rest(joints, i)->extras[r]);
	if (!any)
		return;
	/* Rare, and it takes back totals: without lanes, and all groups at once. */
	soft_wide_leave(joints);
	gather_apart(self);
	add_totals(joints, -1); /* their impulses are about to change */
	soft_gears_add_totals(joints, -1);
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		for (uint32_t r = 0; r < joint->extra_count; r++)
			if (limit_bounces(self, &joint->extras[r]))
				bounce_limit(&pass, joint, &joint->extras[r]);
	}
	for (uint32_t i = 0; i < joints->list.count; i++)
		if (joints->items[i].loose && joints->items[i].lock_count > 0)
			solve_locks(&pass, &joints->items[i]);
	solve_together(self, &pass);
	add_totals(joints, 1);
	soft_gears_add_totals(joints, 1);
	scatter_apart(self);
}
