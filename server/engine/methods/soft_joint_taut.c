/* soft_joint_taut.c: the lateral stiffness of joints under a great tension.
 *
 * A joint that pulls with the force f at the arm r of a body also turns the body into the line
 * of the pull. If the body rotates by δθ, the torque r × f changes by
 *
 *   (δθ × r) × f = −[(f·r) 1 − r fᵀ] δθ
 *
 * so the joint acts on the body as a spring of stiffness s = f·r, N m/rad, about the axes across
 * r. A light link that carries a heavy load then swings across the line at a frequency ω, ω² =
 * s/I, which grows with the load. Rows are those of one place of the bodies, so a sub-step
 * integrates this spring explicitly; with h ω above 2 that diverges. With a load of a thousand
 * times the chain's mass h ω is 14 at 60 Hz, and the joints opened by 9 m.
 *
 * Therefore the spring is made implicit, where it is too stiff for a sub-step. With S = h² Σ s
 * (1 − r rᵀ/r²) of a body's joints, at the forces of the last sub-step, its rotation obeys
 *
 *   I (ω⁺ − ω) = h τ + Σ J_ωᵀ λ − S (ω⁺ − ω̄)          so   ω ← ω − I_S⁻¹ S (ω − ω̄),   I_S = I + S
 *
 * before the joints are solved, and I_S⁻¹ takes the place of I⁻¹ in the responses of joints. S
 * belongs to one body, so trees are eliminated as before. A line that rotates as a whole takes
 * its forces with it; therefore only rotation relative to the group's mean ω̄ is damped. Weights
 * of the mean are S' = S − S I_S⁻¹ S, with which the torques −S' (ω − ω̄) add up to 0.
 *
 * S is a function of the tables: at the step's start the forces are those of the last tick.
 * Forces that push (s < 0) are left out: they lead away from the line, and not too fast for a
 * step. So is the stiffness across a rod or rope, T/L, which acts on whole masses.
 *
 * Tried and dropped (100 links, a load of 1000 chains, 60 Hz): damping of the whole rotation (ω̄
 * = 0) loses 0.91 % of the energy in place of 0.06 %, and 7.5 % in place of 0.4 % of ten links;
 * all of the spring implicit once it is too stiff loses 0.13 to 3.7 %, where the part above
 * PLAIN loses 0.06 to 0.44 %.
 */
#include "server/engine/methods/soft_step.h"

enum { GROUP_GRAIN = 8 };

/* 1. Of the inertia, in (h ω)²: the part of S that a sub-step integrates explicitly, without
 * numerical damping. It must stay below 4. Larger: light links ring; smaller: swings lose energy
 * that they could keep. */
#define PLAIN 2.0

/* 1, of the trace: makes the sum of weights regular about an axis along all lines. */
#define WEIGHT_TINY 1e-9

void soft_joint_take_pull(struct soft_joint *joint)
{
	vec3 sum = vec3_add(joint->total_pushed.linear, joint->pushed.linear);
	vec3 since = vec3_sub(sum, joint->pull_before);
	joint->pull_before = sum;
	joint->pull = joint->b != 0 ? since : vec3_negate(since);
}

/* Adds S of a joint, h² s (1 − r rᵀ/r²); `pull`, N s, is its impulse on the body in a sub-step. */
static void add_stiffness(struct soft_jointed *jointed, vec3 pull, vec3 arm, double h)
{
	double stiff = h * vec3_dot(pull, arm);
	if (!jointed->moves || !(stiff > 0))
		return;
	double along = stiff / vec3_length_squared(arm);
	sym3 across = sym3_make(stiff - along * arm.x * arm.x, stiff - along * arm.y * arm.y,
				stiff - along * arm.z * arm.z, -along * arm.x * arm.y,
				-along * arm.y * arm.z, -along * arm.z * arm.x);
	jointed->stiff = sym3_add(jointed->stiff, across);
}

/* Leaves of S what is too stiff, and replaces I⁻¹ by (I + S)⁻¹ = (1 + I⁻¹ S)⁻¹ I⁻¹, which exists for
 * locked axes, too. */
static void make_implicit(struct soft_jointed *jointed)
{
	const sym3 *w = &jointed->inertia_inv, *s = &jointed->stiff;
	double own = w->xx * s->xx + w->yy * s->yy + w->zz * s->zz;
	double mixed = w->xy * s->xy + w->yz * s->yz + w->zx * s->zx;
	double square =
		0.5 * own + mixed; /* half the trace of I⁻¹ S: (h ω)² if both axes are equal */
	if (!(square > PLAIN))
		return;
	double part = 1 - PLAIN / square;
	mat3 response = sym3_matrix(*w), inverse;
	mat3 relative = mat3_scale(mat3_mul(response, sym3_matrix(*s)), part);
	if (!mat3_inverse(mat3_add(mat3_identity(), relative), &inverse))
		return;
	jointed->taut = true;
	jointed->stiff = sym3_scale(jointed->stiff, part);
	jointed->inertia_inv = sym3_of(mat3_mul(inverse, response));
}

/* The motion of a side of a joint: that of the world is in the data. */
static const struct body_motion *motion_of(const struct soft_joints *joints, uint32_t jointed,
					   const struct body_motion *fixed)
{
	VALIDATE(jointed < joints->jointed_count);
	return jointed == 0 ? fixed : &joints->motions[jointed];
}

static void slacken_group(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		jointed->taut = false;
		jointed->stiff = sym3_zero();
	}
}

static void finish_group(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		make_implicit(&joints->jointed[forest->bodies[i]]);
}

void soft_group_tighten(struct soft_joints *joints, const struct soft_group *group, double h)
{
	const struct soft_forest *forest = &joints->forest;
	slacken_group(joints, group);
	for (uint32_t i = group->first; i < group->last; i++) {
		const struct soft_joint *joint = &joints->items[forest->order[i]];
		const struct joint *data = &joints->list.joints[forest->order[i]];
		const struct body_motion *a = motion_of(joints, joint->a, &data->a);
		const struct body_motion *b = motion_of(joints, joint->b, &data->b);
		vec3 arm_a = vec3_sub(joint_anchor_a(data, a), a->centre);
		vec3 arm_b = vec3_sub(joint_anchor_b(data, b), b->centre);
		add_stiffness(&joints->jointed[joint->a], vec3_negate(joint->pull), arm_a, h);
		add_stiffness(&joints->jointed[joint->b], joint->pull, arm_b, h);
	}
	finish_group(joints, group);
}

struct taut_work {
	struct soft_joints *joints;
	double h; /* s of a sub-step */
};

static void tighten_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct taut_work *work = context;
	for (uint32_t i = first; i < last; i++) {
		const struct soft_group *group = &work->joints->forest.groups[i];
		if (!group->wide && !group->closed)
			soft_group_tighten(work->joints, group, work->h);
	}
}

static void tighten_runs(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct taut_work *work = context;
	struct soft_joints *joints = work->joints;
	for (uint32_t i = first; i < last; i++) {
		const struct wide_run *run = &joints->wide.runs[i];
		for (uint32_t g = run->group_first; g < run->group_last; g++)
			slacken_group(joints, &joints->forest.groups[g]);
		soft_run_tighten(joints, run, work->h);
		for (uint32_t g = run->group_first; g < run->group_last; g++)
			finish_group(joints, &joints->forest.groups[g]);
	}
}

void soft_forest_tighten(struct soft_step *self)
{
	ASSERT(self->dt > 0 && self->substeps > 0);
	const struct parallel *parallel = self->dynamics->parallel;
	struct taut_work work = { &self->joints, self->dt / self->substeps };
	parallel_run(parallel, self->joints.forest.group_count, GROUP_GRAIN, tighten_piece, &work);
	parallel_run(parallel, self->joints.wide.run_count, 1, tighten_runs, &work);
}

uint32_t soft_joints_taut(const struct soft_joints *joints)
{
	uint32_t count = 0;
	for (uint32_t i = 1; joints->list.count > 0 && i < joints->jointed_count; i++)
		count += joints->jointed[i].taut;
	return count;
}

/* S' = S − S I_S⁻¹ S. */
static sym3 weight_of(const struct soft_jointed *jointed)
{
	mat3 stiff = sym3_matrix(jointed->stiff);
	mat3 held = mat3_mul(stiff, mat3_mul(sym3_matrix(jointed->inertia_inv), stiff));
	return sym3_of(mat3_sub(stiff, held));
}

/* ω̄ of a group's taut bodies; false if there are none. */
static bool mean_rotation(const struct soft_joints *joints, const struct soft_group *group,
			  vec3 *mean)
{
	const struct soft_forest *forest = &joints->forest;
	sym3 sum = sym3_zero(), inverse;
	vec3 turning = vec3_zero();
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		const struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		if (!jointed->taut)
			continue;
		sym3 weight = weight_of(jointed);
		sum = sym3_add(sum, weight);
		turning = vec3_add(turning, sym3_apply(weight, jointed->velocity.angular));
	}
	double tiny = WEIGHT_TINY * sym3_trace(sum);
	sum = sym3_add(sum, sym3_diagonal(vec3_make(tiny, tiny, tiny)));
	bool any = sym3_inverse(sum, &inverse);
	*mean = sym3_apply(inverse, turning);
	return any;
}

void soft_group_calm(struct soft_joints *joints, const struct soft_group *group)
{
	const struct soft_forest *forest = &joints->forest;
	vec3 mean;
	if (!mean_rotation(joints, group, &mean))
		return;
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		if (!jointed->taut)
			continue;
		vec3 beyond = vec3_sub(jointed->velocity.angular, mean);
		vec3 change = sym3_apply(jointed->inertia_inv, sym3_apply(jointed->stiff, beyond));
		jointed->velocity.angular = vec3_sub(jointed->velocity.angular, change);
	}
}
