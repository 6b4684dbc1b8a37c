/* soft_joint_tree.c: all joints of a group at once: its trees, and the active motors and limits.
 *
 * Connected joints are solved exactly (soft_joint_plan.c chooses them), because a chain of a
 * hundred links, or a load of a hundred times a link's mass, requires that: with one sweep over
 * single joints in a sub-step, an impulse would need a hundred sub-steps from one end to the other.
 *
 * Gaussian elimination from the leaves on, one joint after the other. W of a body is its response
 * to an impulse while the joints below it, which are eliminated, hold; at first M⁻¹. For a joint
 * with J_k on the child, J_p on the parent:
 *
 *   T = J_p W_p    D = J_k W_k J_kᵀ + T J_pᵀ    W_p ← W_p − Tᵀ D⁻¹ T             once a sub-step
 *   μ = −D⁻¹ (J v − wanted)    v_p ← v_p + Tᵀ μ                                  from the leaves
 *   λ = μ − D⁻¹ T F_p    F_p ← F_p + J_pᵀ λ    F_k ← F_k + J_kᵀ λ                from the roots
 *
 * F is the impulse on a body by the joints that are eliminated later. Elimination adds no entries,
 * so the cost is that of as many single joints. If loops remain, soft_joint_core.c solves these
 * between the two sweeps.
 *
 * A motor with gains is the row J v + soft λ = target, with soft = 1 / damp beside D, and the
 * target that of elastic_target.
 *
 * Rows of an axis with a rotor are solved as one, because they have one J: the rotor and other compliant
 * rows inside their bounds, J v + λ_i / w_i = t_i, are one row of compliance 1 / Σ w_i and target
 * Σ w_i t_i / Σ w_i; where a rigid row is a member, its λ is what is left of that of all, and
 * λ_i = w_i (t_i − J v).
 *
 * Motors, friction and limits that act within their bounds are members: they are solved like the
 * locked rows of their joint, at most one for each axis. A member that would exceed a bound is
 * fixed at the bound and is no longer a member. A row at its bound becomes a member if its speed
 * requires an impulse within the bounds. After a change of the members the group is factored and
 * solved again: until no member exceeds its bounds, and, at most SETS_MAX times a pass, until no
 * row has to leave its bound. Rows that are wrong after that are corrected in the next pass.
 *
 * Ragdolls change their members about once a pass. Then only those joints are factored again whose
 * members or whose bodies' responses are others than before: a joint that changed, and what lies between
 * it and the root. For that each joint keeps its parent's W from before its own elimination, which
 * is where the parent's W begins when the first joint below it is other. Results are those of
 * factoring all again.
 *
 * soft_branch.h has the passes over one joint, with its rows side by side in vectors; joints of groups
 * of locked rows alone are solved side by side (soft_wide.c).
 */
#include "server/engine/methods/soft_step.h"

#include <string.h>

enum {
	RUN_JOINTS = 8, /* a worker's share at a time: a few µs, ten times the hand-over */
	SETS_MAX = 6, /* sets of members that a pass tries; further ones only fix rows at bounds */
	RANKS = 3,
};

/* 1, of a row's speed: smaller differences are rounding. */
#define SPEED_TINY 1e-12

static bool is_bounded(const struct soft_extra *extra)
{
	return scalar_is_finite(extra->lower) || scalar_is_finite(extra->upper);
}

/* ---- once a sub-step ------------------------------------------------------------------------ */

/* W of a body without joints below: M⁻¹, linear, then angular. */
static void init_response(struct soft_jointed *jointed)
{
	const sym3 *t = &jointed->inertia_inv;
	/* clang-format off */
	const double full[36] = {
		jointed->mass_inv.x, 0, 0, 0, 0, 0,
		0, jointed->mass_inv.y, 0, 0, 0, 0,
		0, 0, jointed->mass_inv.z, 0, 0, 0,
		0, 0, 0, t->xx, t->xy, t->zx,
		0, 0, 0, t->xy, t->yy, t->yz,
		0, 0, 0, t->zx, t->yz, t->zz,
	};
	/* clang-format on */
	memcpy(jointed->response, full, sizeof full);
}

/* Stores the effective masses of members within their group. */
static void store_group_masses(const struct soft_joint *joint)
{
	for (uint32_t i = joint->lock_count; i < joint->count; i++) {
		struct soft_extra *extra = &joint->extras[joint->member[i]];
		extra->mass_in_group = joint->pivot_inv[i] + extra->armature;
	}
}

/* Factors what has changed: the trees' joints whose rows or responses are others, and the core. */
static void factor_changes(struct soft_joints *joints, struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	joints->kernels->factor(joints, group);
	soft_core_factor(joints, group);
	for (uint32_t i = group->first; i < group->last; i++)
		store_group_masses(&joints->items[forest->order[i]]);
}

void soft_group_factor(struct soft_joints *joints, struct soft_group *group)
{
	ASSERT(group->first <= group->core_first && group->core_first <= group->last);
	const struct soft_forest *forest = &joints->forest;
	group->version++;
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		init_response(jointed);
		jointed->version = group->version;
	}
	if (!group->wide) /* else soft_forest_factor does the rest */
		factor_changes(joints, group);
}

/* Groups of a worker's share, by their mean number of joints: one of a ragdoll, many of a door. */
uint32_t soft_group_grain(const struct soft_joints *joints)
{
	return MAX_OF(RUN_JOINTS * joints->forest.group_count / MAX_OF(joints->list.count, 1u), 1u);
}

static void factor_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_joints *joints = context;
	for (uint32_t i = first; i < last; i++)
		if (!joints->forest.groups[i].closed)
			soft_group_factor(joints, &joints->forest.groups[i]);
}

static void factor_runs(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_joints *joints = context;
	for (uint32_t i = first; i < last; i++)
		soft_run_factor(joints, &joints->wide.runs[i]);
}

void soft_forest_factor(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	const struct parallel *parallel = self->dynamics->parallel;
	parallel_run(parallel, joints->forest.group_count, soft_group_grain(joints), factor_piece,
		     joints);
	parallel_run(parallel, joints->wide.run_count, 1, factor_runs, joints);
}

/* ---- a pass --------------------------------------------------------------------------------- */

static inline void add_vector6(struct spatial *v, const double x[6], double s)
{
	v->linear = vec3_mul_add(v->linear, vec3_make(x[0], x[1], x[2]), s);
	v->angular = vec3_mul_add(v->angular, vec3_make(x[3], x[4], x[5]), s);
}

static double speed_of(const struct soft_joints *joints, const struct soft_joint *joint,
		       const struct soft_row *row)
{
	return spatial_dot(row->on_a, joints->jointed[joint->a].velocity) +
	       spatial_dot(row->on_b, joints->jointed[joint->b].velocity);
}

/* The target speed of a row after the pass. That before is found only where it matters: a limit that is
 * far away does not ask for it. */
static double target_speed(const struct soft_pass *pass, const struct soft_joint *joint,
			   const struct soft_extra *extra)
{
	double off, speed;
	switch (extra->part) {
	case JOINT_MOTOR:
		if (!extra->follows)
			return extra->wanted;
		if (is_bounded(extra))
			return extra->wanted - soft_servo_speed(pass, extra);
		speed = speed_of(pass->joints, joint, &extra->row);
		off = speed - extra->wanted + pass->bias_rate * extra->gap;
		return speed - pass->mass_scale * off;
	case JOINT_FRICTION:
		return 0;
	default:
		if (extra->wanted > 0)
			return extra->wanted; /* it bounces */
		if (extra->gap > 0)
			return -extra->gap * pass->h_inv;
		speed = speed_of(pass->joints, joint, &extra->row);
		return speed - pass->mass_scale * (speed + soft_limit_bias(pass, extra));
	}
}

/* λ = −(stiff gap + damp (J v − wanted)), as the speed at which λ is 0; less soft λ it is the speed. */
static double elastic_target(const struct soft_pass *pass, const struct soft_extra *extra)
{
	double gap = pass->biased ? extra->gap : extra->start_gap;
	ASSERT(extra->elastic && extra->soft > 0);
	return extra->wanted - extra->stiff * gap * extra->soft;
}

/* ---- rows that are solved as one with a member ----------------------------------------------- */

/* The target of a member and all that are solved as one with it. */
static double bundle_target(const struct soft_joint *joint, uint32_t member)
{
	const struct soft_extra *extra = &joint->extras[member];
	if (!joint->rotors || extra->soft == 0 || extra->bundle == extra->soft)
		return extra->target;
	double sum = extra->target / extra->soft;
	for (uint32_t r = 0; r < joint->extra_count; r++)
		if (soft_is_bundled_with(joint, r, member))
			sum += joint->extras[r].target / joint->extras[r].soft;
	return sum * extra->bundle;
}

/* J v of a row after the impulses that the bodies are to get. */
static double speed_after(const struct soft_joints *joints, const struct soft_joint *joint,
			  const struct soft_row *row)
{
	const uint32_t sides[2] = { joint->a, joint->b };
	const struct spatial *on[2] = { &row->on_a, &row->on_b };
	double speed = 0;
	for (uint32_t k = 0; k < 2; k++) {
		const struct soft_jointed *body = &joints->jointed[sides[k]];
		struct spatial v = body->velocity;
		if (body->moves) {
			vec3 change = vec3_hadamard(body->mass_inv, body->impulse.linear);
			v.linear = vec3_add(v.linear, change);
			change = sym3_apply(body->inertia_inv, body->impulse.angular);
			v.angular = vec3_add(v.angular, change);
		}
		speed += spatial_dot(*on[k], v);
	}
	return speed;
}

/* Divides the change of a member's row among those that are solved as one with it: change[r] by extra. */
static void split_bundle(const struct soft_joints *joints, const struct soft_joint *joint,
			 uint32_t row, double change[JOINT_ROWS_MAX])
{
	uint32_t member = joint->member[row];
	double left = joint->branch->change[row];
	bool read = false;
	double speed = 0;
	for (uint32_t r = 0; r < joint->extra_count && joint->rotors; r++) {
		const struct soft_extra *extra = &joint->extras[r];
		if (!soft_is_bundled_with(joint, r, member))
			continue;
		if (!read)
			speed = speed_after(joints, joint, &joint->locks[row]);
		read = true;
		change[r] = (extra->target - speed) / extra->soft - extra->impulse;
		left -= change[r];
	}
	change[member] = left;
}

/* After the members of a joint are chosen: a rotor is one of its axis if no other row is, and compliant rows
 * inside their bounds are solved as one with it. */
static void bundle_rotors(struct soft_joint *joint, uint32_t axes)
{
	for (uint32_t rotor = 0; rotor < joint->extra_count; rotor++) {
		struct soft_extra *of = &joint->extras[rotor];
		uint32_t axis = soft_axis_of(joint, rotor);
		double weight = 0;
		if (of->part != JOINT_ROTOR || joint->loose || !(of->mass > 0))
			continue;
		for (uint32_t r = 0; r < joint->extra_count; r++) {
			struct soft_extra *extra = &joint->extras[r];
			if (soft_axis_of(joint, r) != axis || extra->soft == 0 || !extra->inside)
				continue;
			extra->member = extra->bundled = true;
			weight += 1 / extra->soft;
		}
		if (axes >> axis & 1)
			continue;
		ASSERT(joint->count < SOFT_LOCKS_MAX);
		of->bundle = 1 / weight;
		joint->member[joint->count] = (uint8_t)rotor;
		joint->branch->target[joint->count] = bundle_target(joint, rotor);
		joint->locks[joint->count++] = of->row;
	}
}

/* Clamps the target of a motor without bounds to the limits of its axis, which could not stop it. */
static void clamp_target_to_limits(struct soft_joint *joint, uint32_t motor)
{
	ASSERT(motor < joint->extra_count);
	struct soft_extra *extra = &joint->extras[motor];
	for (uint32_t r = 0; r < motor; r++) {
		const struct soft_extra *limit = &joint->extras[r];
		if (soft_axis_of(joint, r) != soft_axis_of(joint, motor))
			continue;
		if (limit->part == JOINT_HOLD)
			extra->target = scalar_max(extra->target, limit->target);
		if (limit->part == JOINT_UPPER)
			extra->target = scalar_min(extra->target, -limit->target);
	}
}

/* Targets of the rows besides locked ones. */
static void set_targets(const struct soft_pass *pass, struct soft_joint *joint)
{
	for (uint32_t i = 0; i < joint->extra_count; i++) {
		struct soft_extra *extra = &joint->extras[i];
		if (extra->soft > 0)
			extra->target = elastic_target(pass, extra);
		else if (!extra->elastic)
			extra->target = target_speed(pass, joint, extra);
		if (extra->part == JOINT_MOTOR && !extra->elastic && !is_bounded(extra))
			clamp_target_to_limits(joint, i);
	}
	for (uint32_t i = joint->lock_count; i < joint->count; i++)
		joint->branch->target[i] = bundle_target(joint, joint->member[i]);
}

static void solve_members(const struct soft_pass *pass, struct soft_group *group)
{
	struct soft_joints *joints = pass->joints;
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		jointed->trial = jointed->velocity;
		jointed->impulse = spatial_zero();
	}
	joints->kernels->upward(joints, group);
	soft_core_solve(pass, group);
	joints->kernels->downward(joints, group);
}

/* From the leaves, of a response: right sides are the negative speeds that `trial` has. */
static void respond_upward(struct soft_joints *joints, struct soft_joint *joint, bool core)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	for (uint32_t i = 0; i < joint->count; i++) {
		joint->branch->change[i] = 0;
		if (a->moves)
			joint->branch->change[i] -= spatial_dot(joint->locks[i].on_a, a->trial);
		if (b->moves)
			joint->branch->change[i] -= spatial_dot(joint->locks[i].on_b, b->trial);
	}
	if (core)
		return;
	soft_joint_solve_factored(joint, joint->count, joint->branch->change);
	for (uint32_t i = 0; i < joint->count && joint->moves_parent; i++)
		add_vector6(&soft_parent_of(joints, joint)->trial, joint->branch->reach[i],
			    joint->branch->change[i]);
}

void soft_group_respond(struct soft_joints *joints, struct soft_group *group,
			struct spatial *velocities)
{
	const struct soft_forest *forest = &joints->forest;
	ASSERT(!group->wide);
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		jointed->trial = velocities[forest->bodies[i]];
		jointed->impulse = spatial_zero();
	}
	for (uint32_t i = group->first; i < group->last; i++)
		respond_upward(joints, &joints->items[forest->order[i]], i >= group->core_first);
	soft_core_respond(joints, group);
	joints->kernels->downward(joints, group);
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		const struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		struct spatial *to = &velocities[forest->bodies[i]];
		vec3 change = vec3_hadamard(jointed->mass_inv, jointed->impulse.linear);
		to->linear = vec3_add(to->linear, change);
		change = sym3_apply(jointed->inertia_inv, jointed->impulse.angular);
		to->angular = vec3_add(to->angular, change);
	}
}

static void add_split(const struct soft_joints *joints, struct soft_joint *joint, uint32_t row)
{
	double change[JOINT_ROWS_MAX] = { 0 };
	split_bundle(joints, joint, row, change);
	for (uint32_t r = 0; r < joint->extra_count; r++)
		joint->extras[r].impulse += change[r];
}

static void apply_solution(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->first; i < group->last; i++) {
		struct soft_joint *joint = &joints->items[forest->order[i]];
		for (uint32_t r = 0; r < joint->count; r++) {
			double change = joint->branch->change[r];
			VALIDATE(r < joint->lock_count || joint->member[r] < joint->extra_count);
			if (r < joint->lock_count)
				joint->impulse[r] += change;
			else if (!joint->rotors)
				joint->extras[joint->member[r]].impulse += change;
			else
				add_split(joints, joint, r);
			joint->acted |= change != 0;
		}
		joint->pushed = spatial_mul_add(joint->pushed, joint->branch->impulse, 1);
	}
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		soft_jointed_apply(jointed, &jointed->impulse);
	}
}

/* ---- members -------------------------------------------------------------------------------- */

/* Of rows of one axis those of a lower rank take precedence. */
static uint32_t rank_of(const struct soft_extra *extra)
{
	return extra->elastic ? RANKS - 1 : is_bounded(extra);
}

/* Whether an extra can be a member, from its own state; begins its choice. */
static bool begin_choice(const struct soft_joint *joint, struct soft_extra *extra)
{
	VALIDATE(!(extra->lower > extra->upper));
	extra->bundled = extra->member = false;
	extra->bundle = extra->soft;
	if (extra->armature > 0 && extra->soft > 0)
		return false; /* solved as one with a member */
	/* A motor with gains may have become alone within the tick, with its pose. */
	return extra->inside && !soft_extra_is_alone(extra) && !joint->loose && extra->mass > 0;
}

void soft_joint_choose_members(struct soft_joint *joint)
{
	uint64_t candidates[RANKS] = { 0 }; /* bit per extra */
	uint32_t axes = 0;
	joint->count = joint->lock_count;
	for (uint32_t r = 0; r < joint->extra_count; r++)
		if (begin_choice(joint, &joint->extras[r]))
			candidates[rank_of(&joint->extras[r])] |= (uint64_t)1 << r;
	/* Rows without bounds take precedence over rows with bounds, and these over motors with gains. */
	for (uint32_t rank = 0; rank < RANKS; rank++)
		for (uint32_t r = 0; candidates[rank] >> r != 0; r++) {
			struct soft_extra *extra = &joint->extras[r];
			uint32_t axis = 1u << soft_axis_of(joint, r);
			if (!(candidates[rank] >> r & 1) || axes & axis ||
			    joint->count == SOFT_LOCKS_MAX)
				continue;
			extra->member = true;
			axes |= axis;
			joint->member[joint->count] = (uint8_t)r;
			joint->branch->target[joint->count] = extra->target;
			joint->locks[joint->count++] = extra->row;
		}
	if (joint->rotors)
		bundle_rotors(joint, axes);
	ASSERT(joint->count >= joint->lock_count && joint->count <= SOFT_LOCKS_MAX);
}

/* Fixes an extra at a bound that it would exceed by this change; false if it exceeds none. */
static bool hold_bound(struct soft_joints *joints, struct soft_joint *joint, uint32_t index,
		       double change)
{
	struct soft_extra *extra = &joint->extras[index];
	double after = extra->impulse + change;
	VALIDATE(extra->member && !(extra->lower > extra->upper));
	double bound = scalar_clamp(after, extra->lower, extra->upper);
	if (bound == after)
		return false;
	soft_joint_push(joints, joint, &extra->row, bound - extra->impulse);
	extra->impulse = bound;
	extra->inside = false;
	return true;
}

/* Fixes members that would exceed their bounds there; false if there is none. */
static bool hold_bounds(struct soft_joints *joints, struct soft_joint *joint)
{
	bool any = false;
	double change[JOINT_ROWS_MAX];
	/* All are divided first, because what is fixed at a bound changes speeds. */
	for (uint32_t r = joint->lock_count; r < joint->count; r++) {
		change[joint->member[r]] = joint->branch->change[r];
		if (joint->rotors)
			split_bundle(joints, joint, r, change);
	}
	for (uint32_t r = joint->lock_count; r < joint->count; r++)
		any |= hold_bound(joints, joint, joint->member[r], change[joint->member[r]]);
	for (uint32_t r = 0; r < joint->extra_count && joint->rotors; r++)
		if (joint->extras[r].bundled)
			any |= hold_bound(joints, joint, r, change[r]);
	joint->changed |= any;
	return any;
}

/* Rows whose speed calls for an impulse off their bound are inside from now on; false if there is none. */
static bool release_bounds(const struct soft_joints *joints, struct soft_joint *joint)
{
	ASSERT(joint->extra_count <= JOINT_ROWS_MAX);
	bool any = false;
	for (uint32_t r = 0; r < joint->extra_count; r++) {
		struct soft_extra *extra = &joint->extras[r];
		if (extra->inside || soft_extra_is_alone(extra) || extra->mass == 0)
			continue;
		double speed = speed_of(joints, joint, &extra->row), off = speed - extra->target;
		if (extra->soft > 0)
			off += extra->soft * extra->impulse;
		double tiny = SPEED_TINY * (scalar_abs(speed) + scalar_abs(extra->target));
		bool up = extra->impulse < extra->upper && off < -tiny;
		bool down = extra->impulse > extra->lower && off > tiny;
		extra->inside = up || down;
		any |= extra->inside;
	}
	joint->changed |= any;
	return any;
}

void soft_group_solve(const struct soft_pass *pass, struct soft_group *group)
{
	struct soft_joints *joints = pass->joints;
	const uint32_t *order = joints->forest.order;
	if (pass->biased)
		soft_group_calm(joints, group);
	joints->kernels->aim(pass, group);
	for (uint32_t i = group->first; i < group->last; i++)
		if (joints->items[order[i]].extra_count > 0)
			set_targets(pass, &joints->items[order[i]]);
	soft_group_settle(pass, group);
}

void soft_group_settle(const struct soft_pass *pass, struct soft_group *group)
{
	struct soft_joints *joints = pass->joints;
	const uint32_t *order = joints->forest.order;
	bool extras = false;
	for (uint32_t i = group->first; i < group->last; i++)
		extras |= joints->items[order[i]].extra_count > 0;
	for (uint32_t set = 1;; set++) {
		uint32_t bounded_last = extras ? group->last : group->first;
		bool other = false;
		solve_members(pass, group);
		for (uint32_t i = group->first; i < bounded_last; i++)
			other |= hold_bounds(joints, &joints->items[order[i]]);
		if (!other) {
			apply_solution(joints, group);
			for (uint32_t i = group->first; i < bounded_last && set < SETS_MAX; i++)
				other |= release_bounds(joints, &joints->items[order[i]]);
		}
		if (!other)
			break;
		group->version++;
		for (uint32_t i = group->first; i < group->last; i++)
			if (joints->items[order[i]].changed)
				soft_joint_choose_members(&joints->items[order[i]]);
		factor_changes(joints, group);
	}
}

struct forest_work {
	const struct soft_pass *pass;
};

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_pass *pass = ((struct forest_work *)context)->pass;
	for (uint32_t i = first; i < last; i++) {
		struct soft_group *group = &pass->joints->forest.groups[i];
		if (!group->wide && !group->closed)
			soft_group_solve(pass, group);
	}
}

static void solve_runs(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_pass *pass = ((struct forest_work *)context)->pass;
	for (uint32_t i = first; i < last; i++)
		soft_run_solve(pass, &pass->joints->wide.runs[i]);
}

void soft_forest_solve(const struct soft_step *self, const struct soft_pass *pass)
{
	struct forest_work work = { pass };
	uint32_t groups = pass->joints->forest.group_count;
	parallel_run(self->dynamics->parallel, groups, soft_group_grain(pass->joints), solve_piece,
		     &work);
	parallel_run(self->dynamics->parallel, pass->joints->wide.run_count, 1, solve_runs, &work);
}
