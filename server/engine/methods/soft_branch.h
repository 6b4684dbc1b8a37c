/* soft_branch.h: the passes over the joints of one group, which soft_joint_tree.c explains, with the rows
 * of a joint side by side. Included by soft_passes.h, for each width. Joints of a group differ in rows,
 * and their members change within a pass, so it is the six numbers of one joint that fill a vector: a
 * single ragdoll, robot or car gains as much as a crowd of them. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_BRANCH_H
#define CAIRN_ENGINE_METHODS_SOFT_BRANCH_H

#include "server/engine/methods/soft_six.h"
#include "server/engine/methods/soft_step.h"

/* What is on b comes after the six numbers on a, in rows and in soft_branch.across. */
enum { ON_A = 0, ON_B = 6 };

ALWAYS_INLINE const double *numbers_of(const struct spatial *v)
{
	_Static_assert(sizeof(struct spatial) == 6 * sizeof(double), "six numbers");
	return (const double *)(const void *)v;
}

ALWAYS_INLINE const double *row_numbers(const struct soft_joint *joint, uint32_t row)
{
	VALIDATE(row < SOFT_LOCKS_MAX);
	_Static_assert(sizeof(struct soft_row) == 12 * sizeof(double), "a row is twelve numbers");
	return (const double *)(const void *)&joint->locks[row];
}

ALWAYS_INLINE void add_to_spatial(struct spatial *v, struct six s)
{
	double *to = (double *)(void *)v;
	six_store(to, six_add(six_load(to), s));
}

/* Sets `across` to the first `count` rows, number by number; those before `first` are there already. */
ALWAYS_INLINE void transpose_rows(struct soft_joint *joint, uint32_t first, uint32_t count)
{
	static const double none[12];
	struct soft_branch *branch = joint->branch;
	ASSERT(count <= SOFT_LOCKS_MAX);
	for (uint32_t i = first & ~1u; i < SOFT_LOCKS_MAX; i += 2) {
		const double *one = i < count ? row_numbers(joint, i) : none;
		const double *other = i + 1 < count ? row_numbers(joint, i + 1) : none;
		LANES_UNROLL
		for (uint32_t c = 0; c < 12; c += 2) {
			doubles2 a = *(const doubles2_stored *)&one[c],
				 b = *(const doubles2_stored *)&other[c];
			*(doubles2_stored *)&branch->across[c][i] =
				__builtin_shufflevector(a, b, 0, 2);
			*(doubles2_stored *)&branch->across[c + 1][i] =
				__builtin_shufflevector(a, b, 1, 3);
		}
	}
	for (uint32_t i = count; i < SOFT_LOCKS_MAX; i++)
		branch->target[i] = 0;
}

/* J v of all rows: of both bodies. */
ALWAYS_INLINE struct six speeds_on(const struct soft_branch *branch, uint32_t side,
				   const struct spatial *v)
{
	return six_combine_halves(branch->across[side], numbers_of(v));
}

/* ---- once a sub-step ------------------------------------------------------------------------ */

/* soft_response_scale of all rows. */
ALWAYS_INLINE struct six scales_on(const struct soft_branch *branch, uint32_t side,
				   const struct soft_jointed *jointed)
{
	struct six squares[6];
	double linear = jointed->mass_inv.x + jointed->mass_inv.y + jointed->mass_inv.z;
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++) {
		struct six on = six_load(branch->across[side + c]);
		squares[c] = six_mul(on, on);
	}
	struct six along = six_add(six_add(squares[0], squares[1]), squares[2]);
	struct six about = six_add(six_add(squares[3], squares[4]), squares[5]);
	return six_add(six_scale(along, linear),
		       six_scale(about, sym3_trace(jointed->inertia_inv)));
}

/* W_p − Tᵀ D⁻¹ T, with D = L Δ Lᵀ: X = L⁻¹ T row by row, W_p − Xᵀ Δ⁻¹ X. */
ALWAYS_INLINE void reduce_response(const struct soft_joint *joint, double *w)
{
	struct six column[6], x[SOFT_LOCKS_MAX];
	const double *l = joint->factor;
	VALIDATE(joint->moves_parent);
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		column[c] = six_load(&w[6 * c]);
	for (uint32_t i = 0; i < joint->count; i++) {
		double numbers[6];
		x[i] = six_load(joint->branch->reach[i]);
		for (uint32_t k = 0; k < i; k++)
			x[i] = six_mul_sub(x[i], x[k], l[k]);
		l += i;
		six_store(numbers, x[i]);
		struct six scaled = six_scale(x[i], joint->pivot_inv[i]);
		LANES_UNROLL
		for (uint32_t c = 0; c < 6; c++)
			column[c] = six_mul_sub(column[c], scaled, numbers[c]);
	}
	LANES_UNROLL
	for (uint32_t c = 0; c < 6; c++)
		six_store(&w[6 * c], column[c]);
}

/* M⁻¹ Jᵀ of a row, which has six numbers for a, then six for b. */
ALWAYS_INLINE void respond_alone(const struct soft_jointed *a, const struct soft_jointed *b,
				 const struct soft_row *row, struct soft_row *out)
{
	out->on_a.linear = vec3_hadamard(a->mass_inv, row->on_a.linear);
	out->on_a.angular = sym3_apply(a->inertia_inv, row->on_a.angular);
	out->on_b.linear = vec3_hadamard(b->mass_inv, row->on_b.linear);
	out->on_b.angular = sym3_apply(b->inertia_inv, row->on_b.angular);
}

/* J M⁻¹ Jᵀ between the rows of `across` and a row, given its response. */
ALWAYS_INLINE struct six couple_rows(const struct soft_branch *branch,
				     const struct soft_row *response)
{
	return six_add(speeds_on(branch, ON_A, &response->on_a),
		       speeds_on(branch, ON_B, &response->on_b));
}

/* The response of the locked rows, and the row's effective mass with it. */
ALWAYS_INLINE void derive_extra(const struct soft_joint *joint, struct soft_extra *extra,
				const struct soft_jointed *a, const struct soft_jointed *b)
{
	struct soft_row response;
	double coupled[SOFT_LOCKS_MAX];
	VALIDATE(joint->lock_count <= SOFT_LOCKS_MAX);
	respond_alone(a, b, &extra->row, &response);
	double along = spatial_dot(extra->row.on_a, response.on_a) +
		       spatial_dot(extra->row.on_b, response.on_b);
	six_store(coupled, couple_rows(joint->branch, &response));
	memcpy(extra->answer, coupled, sizeof coupled);
	soft_joint_solve_factored(joint, joint->lock_count, extra->answer);
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		along -= coupled[i] * extra->answer[i];
		extra->answer[i] = -extra->answer[i];
	}
	double scale =
		soft_response_scale(a, &extra->row.on_a) + soft_response_scale(b, &extra->row.on_b);
	bool moves = along > 0 && along > SOFT_PIVOT_MIN * scale;
	extra->mass = moves ? 1 / along : 0;
	ASSERT(extra->mass >= 0);
	if (!moves)
		extra->impulse = 0;
}

/* Whether row b has J of row a times `sign`: the limits, the spring and the motor of an axis do. */
ALWAYS_INLINE bool is_same_row(const struct soft_row *a, const struct soft_row *b, double sign)
{
	const double *one = (const double *)(const void *)a;
	const double *other = (const double *)(const void *)b;
	for (uint32_t c = 0; c < 12; c++)
		if (one[c] != sign * other[c])
			return false;
	return true;
}

/* What derive_extra gives a row, from another one with the same J, or with the negative of it. */
ALWAYS_INLINE void copy_derived(const struct soft_joint *joint, const struct soft_extra *from,
				bool negative, struct soft_extra *to)
{
	VALIDATE(joint->lock_count <= SOFT_LOCKS_MAX && from->mass >= 0);
	to->mass = from->mass;
	for (uint32_t i = 0; i < joint->lock_count; i++)
		to->answer[i] = negative ? -from->answer[i] : from->answer[i];
	if (to->mass == 0)
		to->impulse = 0;
}

/* Derives extra r, from the one before where that is of the same axis. */
ALWAYS_INLINE void derive_next_extra(const struct soft_joint *joint, uint32_t r,
				     const struct soft_jointed *a, const struct soft_jointed *b)
{
	struct soft_extra *extra = &joint->extras[r];
	ASSERT(r < joint->extra_count);
	if (r > 0 && is_same_row(&extra->row, &extra[-1].row, 1))
		copy_derived(joint, &extra[-1], false, extra);
	else if (r > 0 && is_same_row(&extra->row, &extra[-1].row, -1))
		copy_derived(joint, &extra[-1], true, extra);
	else
		derive_extra(joint, extra, a, b);
}

/* Factors K of the locked rows, without regard to other joints; then derives the other rows. */
static void branch_derive(const struct soft_joints *joints, struct soft_joint *joint)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	double k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *row = k, scales[SOFT_LOCKS_MAX];
	ASSERT(joint->lock_count <= SOFT_LOCKS_MAX);
	transpose_rows(joint, 0, joint->lock_count);
	for (uint32_t i = 0; i < joint->lock_count; i++) {
		struct soft_row response;
		respond_alone(a, b, &joint->locks[i], &response);
		six_store(row, couple_rows(joint->branch, &response));
		row += i + 1;
	}
	six_store(scales,
		  six_add(scales_on(joint->branch, ON_A, a), scales_on(joint->branch, ON_B, b)));
	soft_joint_factor_scaled(joint, k, scales, joint->lock_count);
	for (uint32_t i = 0; i < joint->lock_count; i++)
		if (joint->pivot_inv[i] == 0)
			joint->impulse[i] = 0;
	for (uint32_t r = 0; r < joint->extra_count; r++)
		derive_next_extra(joint, r, a, b);
}

ALWAYS_INLINE void factor_branch(struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_branch *branch = joint->branch;
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	uint32_t child_on = joint->child_b ? ON_B : ON_A, parent_on = ON_B - child_on;
	const double *child = soft_child_of(joints, joint)->response;
	double *parent = soft_parent_of(joints, joint)->response;
	/* The rows of K's lower half. Each is stored with what lies beyond the diagonal; the next ones go
	 * over that. */
	double k[SOFT_LOCKS_MAX * (SOFT_LOCKS_MAX + 1) / 2], *row = k, scales[6];
	VALIDATE(joint->count <= SOFT_LOCKS_MAX && !joint->loose);
	/* Locked rows are there since other rows were derived. */
	transpose_rows(joint, joint->extra_count > 0 ? joint->lock_count : 0, joint->count);
	for (uint32_t i = 0; i < joint->count; i++) {
		const double *on = row_numbers(joint, i);
		double below[6];
		six_store(below, six_combine(child, &on[child_on]));
		struct six sum = six_combine(branch->across[child_on], below);
		if (joint->moves_parent) {
			six_store(branch->reach[i], six_combine(parent, &on[parent_on]));
			sum = six_add(sum,
				      six_combine(branch->across[parent_on], branch->reach[i]));
		}
		six_store(row, sum);
		row[i] += soft_joint_compliance(joint, i);
		row += i + 1;
	}
	six_store(scales, six_add(scales_on(branch, ON_A, a), scales_on(branch, ON_B, b)));
	soft_joint_factor_scaled(joint, k, scales, joint->count);
	if (!joint->moves_parent)
		return;
	memcpy(branch->before, parent, sizeof branch->before);
	reduce_response(joint, parent);
}

/* The trees, from the leaves on: joints that have other rows than before, and those that see a response
 * which is another than before. A parent's response is first what it was before this joint's elimination. */
static void branches_factor(struct soft_joints *joints, struct soft_group *group)
{
	const uint32_t *order = joints->forest.order;
	ASSERT(group->first <= group->core_first && group->core_first <= group->last);
	for (uint32_t i = group->first; i < group->core_first; i++) {
		struct soft_joint *joint = &joints->items[order[i]];
		struct soft_jointed *parent = soft_parent_of(joints, joint);
		bool other = soft_child_of(joints, joint)->version == group->version;
		other |= joint->moves_parent && parent->version == group->version;
		if (!other && !joint->changed)
			continue;
		if (joint->moves_parent && parent->version != group->version) {
			memcpy(parent->response, joint->branch->before, sizeof parent->response);
			parent->version = group->version;
		}
		joint->changed = false;
		factor_branch(joints, joint);
	}
	for (uint32_t i = group->core_first; i < group->last; i++) {
		struct soft_joint *joint = &joints->items[order[i]];
		joint->changed = false;
		transpose_rows(joint, 0, joint->count);
	}
}

/* ---- a pass --------------------------------------------------------------------------------- */

/* Target speeds of locked rows; those of members are overwritten. */
static void branches_aim(const struct soft_pass *pass, struct soft_group *group)
{
	const struct soft_joints *joints = pass->joints;
	ASSERT(group->first <= group->last);
	for (uint32_t i = group->first; i < group->last; i++) {
		const struct soft_joint *joint = &joints->items[joints->forest.order[i]];
		double speeds[6], *target = joint->branch->target;
		six_store(speeds, six_add(speeds_on(joint->branch, ON_A,
						    &joints->jointed[joint->a].velocity),
					  speeds_on(joint->branch, ON_B,
						    &joints->jointed[joint->b].velocity)));
		for (uint32_t r = 0; r < joint->lock_count; r++)
			target[r] = pass->biased ? speeds[r] - pass->mass_scale *
								       (speeds[r] + joint->bias[r])
						 : 0;
	}
}

/* Right sides of a joint's rows: targets less speeds, as joints eliminated before leave them. */
ALWAYS_INLINE void set_right_sides(const struct soft_joints *joints, struct soft_joint *joint)
{
	const struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	struct soft_branch *branch = joint->branch;
	VALIDATE(joint->count >= joint->lock_count);
	struct six right = six_load(branch->target);
	right = six_sub(right, speeds_on(branch, ON_A, a->moves ? &a->trial : &a->velocity));
	right = six_sub(right, speeds_on(branch, ON_B, b->moves ? &b->trial : &b->velocity));
	six_store(branch->change, right);
	for (uint32_t i = joint->lock_count; i < joint->count; i++) {
		const struct soft_extra *extra = &joint->extras[joint->member[i]];
		if (extra->bundle > 0)
			branch->change[i] -=
				extra->bundle * soft_bundle_impulse(joint, joint->member[i]);
	}
}

/* From the leaves: μ of each joint, and its effect on the parent; of the core right sides. */
static void branches_upward(struct soft_joints *joints, struct soft_group *group)
{
	const uint32_t *order = joints->forest.order;
	ASSERT(group->first <= group->core_first);
	for (uint32_t i = group->first; i < group->core_first; i++) {
		struct soft_joint *joint = &joints->items[order[i]];
		struct soft_branch *branch = joint->branch;
		set_right_sides(joints, joint);
		soft_joint_solve_factored(joint, joint->count, branch->change);
		if (!joint->moves_parent)
			continue;
		double *trial = (double *)(void *)&soft_parent_of(joints, joint)->trial;
		struct six speed = six_load(trial);
		for (uint32_t r = 0; r < joint->count; r++)
			speed = six_mul_add(speed, six_load(branch->reach[r]), branch->change[r]);
		six_store(trial, speed);
	}
	for (uint32_t i = group->core_first; i < group->last; i++)
		set_right_sides(joints, &joints->items[order[i]]);
}

/* Adds λ of a joint to its bodies' impulses. */
ALWAYS_INLINE void collect_impulses(const struct soft_joints *joints, struct soft_joint *joint)
{
	struct soft_jointed *a = &joints->jointed[joint->a], *b = &joints->jointed[joint->b];
	static const double none[6];
	struct six on_a = six_load(none), on_b = on_a;
	for (uint32_t i = 0; i < joint->count; i++) {
		const double *on = row_numbers(joint, i);
		on_a = six_mul_add(on_a, six_load(&on[ON_A]), joint->branch->change[i]);
		on_b = six_mul_add(on_b, six_load(&on[ON_B]), joint->branch->change[i]);
	}
	if (a->moves)
		add_to_spatial(&a->impulse, on_a);
	if (b->moves)
		add_to_spatial(&b->impulse, on_b);
	six_store((double *)(void *)&joint->branch->impulse, joint->b != 0 ? on_b : on_a);
}

/* From the core and the roots on: λ of each joint. */
static void branches_downward(struct soft_joints *joints, struct soft_group *group)
{
	const uint32_t *order = joints->forest.order;
	ASSERT(group->core_first <= group->last);
	for (uint32_t i = group->core_first; i < group->last; i++)
		collect_impulses(joints, &joints->items[order[i]]);
	for (uint32_t i = group->core_first; i-- > group->first;) {
		struct soft_joint *joint = &joints->items[order[i]];
		struct soft_branch *branch = joint->branch;
		if (joint->moves_parent) {
			const struct soft_jointed *parent = soft_parent_of(joints, joint);
			double x[SOFT_LOCKS_MAX];
			for (uint32_t r = 0; r < joint->count; r++)
				x[r] = soft_dot(&parent->impulse, branch->reach[r]);
			soft_joint_solve_factored(joint, joint->count, x);
			for (uint32_t r = 0; r < joint->count; r++)
				branch->change[r] -= x[r];
		}
		collect_impulses(joints, joint);
	}
}

static const struct soft_branch_kernels branch_kernels = { branch_derive, branches_factor,
							   branches_aim, branches_upward,
							   branches_downward };

#endif
