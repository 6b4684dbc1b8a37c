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
 * Motors, friction and limits that act within their bounds are members: they are solved like the
 * locked rows of their joint, at most one for each axis. A member that would exceed a bound is
 * fixed at the bound and is no longer a member. A row at its bound becomes a member if its speed
 * requires an impulse within the bounds. After a change of the members the group is factored and
 * solved again: until no member exceeds its bounds, and, at most SETS_MAX times a pass, until no
 * row has to leave its bound. Rows that are wrong after that are corrected in the next pass.
 */
#include "server/engine/linalg/six.h"
#include "server/engine/methods/soft_step.h"

#include <string.h>

enum {
	RUN_JOINTS = 8, /* a worker's share at a time: a few µs, ten times the hand-over */
	SETS_MAX = 6, /* sets of members that a pass tries; further ones only fix rows at bounds */
};

/* 1, of a row's speed: smaller differences are rounding. */
#define SPEED_TINY 1e-12

static struct soft_jointed *child_of(const struct soft_joints *joints,
				     const struct soft_joint *joint)
{
	return &joints->jointed[joint->child_b ? joint->b : joint->a];
}

static struct soft_jointed *parent_of(const struct soft_joints *joints,
				      const struct soft_joint *joint)
{
	return &joints->jointed[joint->child_b ? joint->a : joint->b];
}

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

static inline const struct spatial *on_child(const struct soft_joint *joint, uint32_t row)
{
	return joint->child_b ? &joint->locks[row].on_b : &joint->locks[row].on_a;
}

static inline const struct spatial *on_parent(const struct soft_joint *joint, uint32_t row)
{
	return joint->child_b ? &joint->locks[row].on_a : &joint->locks[row].on_b;
}

/* W_p − Tᵀ D⁻¹ T, with D = L Δ Lᵀ: X = L⁻¹ T row by row, W_p − Xᵀ Δ⁻¹ X. */
static void reduce_response(const struct soft_joint *joint, double *w)
{
	ASSERT(joint->count <= SOFT_LOCKS_MAX);
	struct six x[SOFT_LOCKS_MAX];
	const double *l = joint->factor;
	for (uint32_t i = 0; i < joint->count; i++) {
		x[i] = six_load(joint->reach[i]);
		for (uint32_t k = 0; k < i; k++)
			x[i] = six_mul_sub(x[i], x[k], l[k]);
		l += i;
	}
	SIX_UNROLL
	for (uint32_t r = 0; r < 6; r++) {
		struct six row = six_load(&w[6 * r]);
		for (uint32_t i = 0; i < joint->count; i++)
			row = six_mul_sub(row, x[i], x[i].of[r / 2][r % 2] * joint->pivot_inv[i]);
		six_store(&w[6 * r], row);
	}
}

/* J of all rows on a body, by columns, and its W, by columns too. */
struct branch_side {
	struct six on[6], w[6];
};

static void load_side(const double *response, const struct soft_joint *joint, bool child,
		      struct branch_side *out)
{
	double on[6][SOFT_LOCKS_MAX] = { { 0 } };
	for (uint32_t i = 0; i < joint->count; i++) {
		const struct spatial *row = child ? on_child(joint, i) : on_parent(joint, i);
		on[0][i] = row->linear.x;
		on[1][i] = row->linear.y;
		on[2][i] = row->linear.z;
		on[3][i] = row->angular.x;
		on[4][i] = row->angular.y;
		on[5][i] = row->angular.z;
	}
	SIX_UNROLL
	for (uint32_t c = 0; c < 6; c++) {
		out->on[c] = six_load(on[c]);
		SIX_UNROLL
		for (uint32_t p = 0; p < 3; p++)
			out->w[c].of[p] =
				(dense_pair){ response[12 * p + c], response[12 * p + 6 + c] };
	}
}

/* W Jᵀ of row i, and J of all rows times that; sums in the order of soft_respond and soft_dot. */
SIX_INLINE struct six couple_side(const struct branch_side *side, uint32_t i, struct six *answer)
{
	ASSERT(i < SOFT_LOCKS_MAX);
	struct six sum = six_scale(side->w[0], side->on[0].of[i / 2][i % 2]), all;
	SIX_UNROLL
	for (uint32_t c = 1; c < 6; c++)
		sum = six_mul_add(sum, side->w[c], side->on[c].of[i / 2][i % 2]);
	all = six_scale(side->on[0], sum.of[0][0]);
	SIX_UNROLL
	for (uint32_t c = 1; c < 6; c++)
		all = six_mul_add(all, side->on[c], sum.of[c / 2][c % 2]);
	*answer = sum;
	return all;
}

static void factor_branch(struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_jointed *child = child_of(joints, joint), *parent = parent_of(joints, joint);
	double k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *row = k;
	struct branch_side below, above;
	load_side(child->response, joint, true, &below);
	if (joint->moves_parent)
		load_side(parent->response, joint, false, &above);
	for (uint32_t i = 0; i < joint->count; i++) {
		struct six answer, couple = couple_side(&below, i, &answer);
		if (joint->moves_parent) {
			couple = six_add(couple, couple_side(&above, i, &answer));
			six_store(joint->reach[i], answer);
		}
		for (uint32_t j = 0; j <= i; j++)
			row[j] = couple.of[j / 2][j % 2];
		row[i] += soft_joint_compliance(joint, i);
		row += i + 1;
	}
	soft_joint_factor(joints, joint, k, joint->count);
	if (joint->moves_parent)
		reduce_response(joint, parent->response);
}

/* Stores the effective masses of members within their group. */
static void store_group_masses(const struct soft_joint *joint)
{
	for (uint32_t i = joint->lock_count; i < joint->count; i++)
		joint->extras[joint->member[i]].mass_in_group = joint->pivot_inv[i];
}

void soft_group_factor(struct soft_joints *joints, struct soft_group *group)
{
	ASSERT(group->first <= group->core_first && group->core_first <= group->last);
	const struct soft_forest *forest = &joints->forest;
	group->version++;
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		init_response(&joints->jointed[forest->bodies[i]]);
	if (group->wide)
		return; /* soft_forest_factor does the rest */
	for (uint32_t i = group->first; i < group->core_first; i++)
		factor_branch(joints, &joints->items[forest->order[i]]);
	soft_core_factor(joints, group);
	for (uint32_t i = group->first; i < group->last; i++)
		store_group_masses(&joints->items[forest->order[i]]);
}

/* Groups of a worker's share, by their mean number of joints: one of a ragdoll, many of a door. */
static uint32_t group_grain(const struct soft_joints *joints)
{
	return MAX_OF(RUN_JOINTS * joints->forest.group_count / MAX_OF(joints->list.count, 1u), 1u);
}

static void factor_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_joints *joints = context;
	for (uint32_t i = first; i < last; i++)
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
	parallel_run(parallel, joints->forest.group_count, group_grain(joints), factor_piece,
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

/* The target speed of a row after the pass; `speed`: that before. */
static double target_speed(const struct soft_pass *pass, const struct soft_extra *extra,
			   double speed)
{
	double off;
	switch (extra->part) {
	case JOINT_MOTOR:
		if (!extra->follows)
			return extra->wanted;
		if (is_bounded(extra))
			return extra->wanted - soft_servo_speed(pass, extra);
		off = speed - extra->wanted + pass->bias_rate * extra->gap;
		return speed - pass->mass_scale * off;
	case JOINT_FRICTION:
		return 0;
	default:
		if (extra->wanted > 0)
			return extra->wanted; /* it bounces */
		if (extra->gap > 0)
			return -extra->gap * pass->h_inv;
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

static uint32_t axis_of(const struct soft_joint *joint, uint32_t extra)
{
	VALIDATE(extra < joint->extra_count);
	return joint->place[joint->lock_count + extra] / JOINT_PARTS;
}

/* Clamps the target of a motor without bounds to the limits of its axis, which could not stop it. */
static void clamp_target_to_limits(struct soft_joint *joint, uint32_t motor)
{
	ASSERT(motor < joint->extra_count);
	struct soft_extra *extra = &joint->extras[motor];
	for (uint32_t r = 0; r < motor; r++) {
		const struct soft_extra *limit = &joint->extras[r];
		if (axis_of(joint, r) != axis_of(joint, motor))
			continue;
		if (limit->part == JOINT_HOLD)
			extra->target = scalar_max(extra->target, limit->target);
		if (limit->part == JOINT_UPPER)
			extra->target = scalar_min(extra->target, -limit->target);
	}
}

static void set_targets(const struct soft_pass *pass, struct soft_joint *joint)
{
	const struct soft_joints *joints = pass->joints;
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		joint->target[i] = 0;
		if (pass->biased) {
			double speed = speed_of(joints, joint, &joint->locks[i]);
			joint->target[i] = speed - pass->mass_scale * (speed + joint->bias[i]);
		}
	}
	for (uint32_t i = 0; i < joint->extra_count; i++) {
		struct soft_extra *extra = &joint->extras[i];
		if (extra->soft > 0)
			extra->target = elastic_target(pass, extra);
		else if (!extra->elastic)
			extra->target =
				target_speed(pass, extra, speed_of(joints, joint, &extra->row));
		if (extra->part == JOINT_MOTOR && !extra->elastic && !is_bounded(extra))
			clamp_target_to_limits(joint, i);
	}
	for (uint32_t i = joint->lock_count; i < joint->count; i++)
		joint->target[i] = joint->extras[joint->member[i]].target;
}

/* Right sides of a joint's rows: targets less speeds, as joints eliminated before leave them. */
static void set_right_sides(const struct soft_joints *joints, struct soft_joint *joint)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	const struct spatial *speed_a = a->moves ? &a->trial : &a->velocity;
	const struct spatial *speed_b = b->moves ? &b->trial : &b->velocity;
	for (uint32_t i = 0; i < joint->count; i++)
		joint->change[i] = joint->target[i] - spatial_dot(joint->locks[i].on_a, *speed_a) -
				   spatial_dot(joint->locks[i].on_b, *speed_b);
	for (uint32_t i = joint->lock_count; i < joint->count; i++) {
		const struct soft_extra *extra = &joint->extras[joint->member[i]];
		if (extra->soft > 0)
			joint->change[i] -= extra->soft * extra->impulse;
	}
}

/* From the leaves: μ of a joint, and its effect on the parent. */
static void eliminate_upward(const struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_jointed *parent = parent_of(joints, joint);
	set_right_sides(joints, joint);
	soft_joint_solve_factored(joint, joint->count, joint->change);
	if (joint->moves_parent)
		for (uint32_t i = 0; i < joint->count; i++)
			add_vector6(&parent->trial, joint->reach[i], joint->change[i]);
}

/* Adds λ of a joint to its bodies' impulses. */
static void collect_impulses(const struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	struct spatial on_a = spatial_zero(), on_b = spatial_zero();
	for (uint32_t i = 0; i < joint->count; i++) {
		on_a = spatial_mul_add(on_a, joint->locks[i].on_a, joint->change[i]);
		on_b = spatial_mul_add(on_b, joint->locks[i].on_b, joint->change[i]);
	}
	if (a->moves)
		a->impulse = spatial_mul_add(a->impulse, on_a, 1);
	if (b->moves)
		b->impulse = spatial_mul_add(b->impulse, on_b, 1);
	joint->branch = joint->b != 0 ? on_b : on_a;
}

/* From the roots: λ of a joint. */
static void substitute_downward(const struct soft_joints *joints, struct soft_joint *joint)
{
	if (joint->moves_parent) {
		const struct soft_jointed *parent = parent_of(joints, joint);
		double x[SOFT_LOCKS_MAX];
		for (uint32_t i = 0; i < joint->count; i++)
			x[i] = soft_dot(&parent->impulse, joint->reach[i]);
		soft_joint_solve_factored(joint, joint->count, x);
		for (uint32_t i = 0; i < joint->count; i++)
			joint->change[i] -= x[i];
	}
	collect_impulses(joints, joint);
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
	for (uint32_t i = group->first; i < group->core_first; i++)
		eliminate_upward(joints, &joints->items[forest->order[i]]);
	for (uint32_t i = group->core_first; i < group->last; i++)
		set_right_sides(joints, &joints->items[forest->order[i]]);
	soft_core_solve(pass, group);
	for (uint32_t i = group->core_first; i < group->last; i++)
		collect_impulses(joints, &joints->items[forest->order[i]]);
	for (uint32_t i = group->core_first; i-- > group->first;)
		substitute_downward(joints, &joints->items[forest->order[i]]);
}

/* From the leaves, of a response: right sides are the negative speeds that `trial` has. */
static void respond_upward(struct soft_joints *joints, struct soft_joint *joint, bool core)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	for (uint32_t i = 0; i < joint->count; i++) {
		joint->change[i] = 0;
		if (a->moves)
			joint->change[i] -= spatial_dot(joint->locks[i].on_a, a->trial);
		if (b->moves)
			joint->change[i] -= spatial_dot(joint->locks[i].on_b, b->trial);
	}
	if (core)
		return;
	soft_joint_solve_factored(joint, joint->count, joint->change);
	for (uint32_t i = 0; i < joint->count && joint->moves_parent; i++)
		add_vector6(&parent_of(joints, joint)->trial, joint->reach[i], joint->change[i]);
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
	for (uint32_t i = group->core_first; i < group->last; i++)
		collect_impulses(joints, &joints->items[forest->order[i]]);
	for (uint32_t i = group->core_first; i-- > group->first;)
		substitute_downward(joints, &joints->items[forest->order[i]]);
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		const struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		struct spatial *to = &velocities[forest->bodies[i]];
		vec3 change = vec3_hadamard(jointed->mass_inv, jointed->impulse.linear);
		to->linear = vec3_add(to->linear, change);
		change = sym3_apply(jointed->inertia_inv, jointed->impulse.angular);
		to->angular = vec3_add(to->angular, change);
	}
}

static void apply_solution(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->first; i < group->last; i++) {
		struct soft_joint *joint = &joints->items[forest->order[i]];
		for (uint32_t r = 0; r < joint->count; r++) {
			double change = joint->change[r];
			VALIDATE(r < joint->lock_count || joint->member[r] < joint->extra_count);
			if (r < joint->lock_count)
				joint->impulse[r] += change;
			else
				joint->extras[joint->member[r]].impulse += change;
			joint->acted |= change != 0;
		}
		joint->pushed = spatial_mul_add(joint->pushed, joint->branch, 1);
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
	return extra->elastic ? 2 : is_bounded(extra);
}

void soft_joint_choose_members(struct soft_joint *joint)
{
	uint32_t axes = 0;
	joint->count = joint->lock_count;
	/* Rows without bounds take precedence over rows with bounds, and these over motors with gains. */
	for (uint32_t rank = 0; rank < 3; rank++)
		for (uint32_t r = 0; r < joint->extra_count; r++) {
			struct soft_extra *extra = &joint->extras[r];
			uint32_t axis = 1u << axis_of(joint, r);
			if (rank_of(extra) != rank)
				continue;
			/* A motor with gains may have become alone within the tick, with its pose. */
			extra->member = extra->inside && !soft_extra_is_alone(extra) &&
					!joint->loose && !(axes & axis) && extra->mass > 0 &&
					joint->count < SOFT_LOCKS_MAX;
			if (!extra->member)
				continue;
			axes |= axis;
			joint->member[joint->count] = (uint8_t)r;
			joint->target[joint->count] = extra->target;
			joint->locks[joint->count++] = extra->row;
		}
	ASSERT(joint->count >= joint->lock_count && joint->count <= SOFT_LOCKS_MAX);
}

/* Fixes members that would exceed their bounds there; false if there is none. */
static bool hold_bounds(struct soft_joints *joints, struct soft_joint *joint)
{
	bool any = false;
	for (uint32_t r = joint->lock_count; r < joint->count; r++) {
		struct soft_extra *extra = &joint->extras[joint->member[r]];
		double after = extra->impulse + joint->change[r];
		VALIDATE(extra->member && !(extra->lower > extra->upper));
		double bound = scalar_clamp(after, extra->lower, extra->upper);
		if (bound == after)
			continue;
		soft_joint_push(joints, joint, &extra->row, bound - extra->impulse);
		extra->impulse = bound;
		extra->inside = false;
		any = true;
	}
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
	return any;
}

static void solve_group(const struct soft_pass *pass, struct soft_group *group)
{
	struct soft_joints *joints = pass->joints;
	const uint32_t *order = joints->forest.order;
	if (pass->biased)
		soft_group_calm(joints, group);
	for (uint32_t i = group->first; i < group->last; i++)
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
		for (uint32_t i = group->first; i < group->last; i++)
			soft_joint_choose_members(&joints->items[order[i]]);
		soft_group_factor(joints, group);
	}
}

struct forest_work {
	const struct soft_pass *pass;
};

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_pass *pass = ((struct forest_work *)context)->pass;
	for (uint32_t i = first; i < last; i++)
		if (!pass->joints->forest.groups[i].wide)
			solve_group(pass, &pass->joints->forest.groups[i]);
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
	parallel_run(self->dynamics->parallel, groups, group_grain(pass->joints), solve_piece,
		     &work);
	parallel_run(self->dynamics->parallel, pass->joints->wide.run_count, 1, solve_runs, &work);
}
