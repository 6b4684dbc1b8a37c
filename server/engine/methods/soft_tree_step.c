/* soft_tree_step.c: islands of trees through a step: passes, moves, results.
 *
 * A closed island goes through all sub-steps at once, before the others do their first, while it is
 * in the cache. An open one takes part in each pass, after contacts of other bodies.
 */
#include "server/engine/methods/soft_step.h"

/* Solutions of a pass until what holds axes agrees. */
enum { ROUNDS_MAX = 6, SHARES = 4 };

/* ---- one tree ------------------------------------------------------------------------------------ */

/* Velocities and momenta as the step begins: those of the tables, made such as joints allow. */
static void begin_tree(struct soft_step *self, struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	vec3 sum = vec3_zero();
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
		sum = vec3_mul_add(sum, all->links[i].centre, all->links[i].mass);
	tree->centre = vec3_scale(sum, 1 / tree->mass);
	soft_tree_place(self, tree, 0);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		const struct spatial *v = &self->drives[link->number].start.velocity;
		vec3 r = vec3_sub(link->centre, tree->origin);
		link->velocity = (struct spatial){ vec3_sub(v->linear, vec3_cross(v->angular, r)),
						   v->angular };
		link->momentum = soft_tree_inertia_apply(&link->own, &link->velocity);
		link->impulse = spatial_negate(link->momentum);
		link->bias = spatial_zero();
	}
	soft_tree_drive_begin(self, tree);
	soft_tree_start_rotors(self, tree);
	soft_tree_factor(all, tree);
	soft_tree_up(all, tree, false);
	soft_tree_down(self, all, tree);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		struct spatial before = link->momentum;
		link->momentum = soft_tree_inertia_apply(&link->own, &link->velocity);
		link->lacking = spatial_mul_add(link->momentum, before, -1);
	}
	soft_tree_add_loads(all, tree);
	tree->factored = false;
	soft_tree_drive_wake(self, tree);
}

/* Velocities of a pass, with the impulses that contacts have given. */
static void solve_tree(struct soft_step *self, struct soft_tree *tree, bool biased)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	struct soft_trees *all = &self->trees;
	if (!tree->factored)
		soft_tree_factor(all, tree);
	soft_tree_drive_set(all, tree, biased);
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		struct spatial sum = spatial_mul_add(link->momentum, link->given, 1);
		sum = spatial_mul_add(sum, link->turning, 1);
		link->impulse = spatial_negate(spatial_mul_add(sum, link->pushed, 1));
	}
	soft_tree_up(all, tree, biased);
	soft_tree_down(self, all, tree);
}

/* ---- an island ------------------------------------------------------------------------------------- */

static void solve_trees(struct soft_step *self, const struct soft_island *island, bool biased)
{
	ASSERT(island->tree_first < island->tree_last);
	for (uint32_t t = island->tree_first; t < island->tree_last; t++)
		solve_tree(self, &self->trees.trees[t], biased);
}

static void pass_island(struct soft_step *self, struct soft_island *island, double time,
			bool biased)
{
	ASSERT(island->tree_first < island->tree_last);
	struct soft_trees *all = &self->trees;
	bool touches = island->manifold_first < island->manifold_last, changed = true;
	for (uint32_t t = island->tree_first; t < island->tree_last; t++) {
		struct soft_tree *tree = &all->trees[t];
		soft_tree_before(all, tree, biased);
		soft_tree_drive_aim(self, tree, time, biased);
	}
	for (uint32_t round = 0; changed && round < ROUNDS_MAX; round++) {
		for (uint32_t t = island->tree_first; t < island->tree_last && touches; t++)
			for (uint32_t i = 0; i < all->trees[t].count; i++)
				all->links[all->trees[t].first + i].pushed = spatial_zero();
		solve_trees(self, island, biased);
		if (touches) {
			soft_tree_contacts(self, island, biased, round == 0);
			solve_trees(self, island, biased);
		}
		changed = false;
		for (uint32_t t = island->tree_first;
		     t < island->tree_last && round + 1 < ROUNDS_MAX; t++)
			changed |= soft_tree_drive_take(all, &all->trees[t]);
		island->open_rounds += round + 1 == ROUNDS_MAX;
	}
	for (uint32_t t = island->tree_first; t < island->tree_last; t++) {
		soft_tree_drive_count(all, &all->trees[t], biased);
		soft_tree_after(all, &all->trees[t], biased);
	}
	if (touches)
		soft_tree_contacts_store(self, island, biased);
}

static void solve_island(struct soft_step *self, struct soft_island *island, double now)
{
	ASSERT(island->tree_first < island->tree_last);
	struct soft_trees *all = &self->trees;
	pass_island(self, island, now - 0.5 * all->h, true);
	for (uint32_t t = island->tree_first; t < island->tree_last; t++) {
		struct soft_tree *tree = &all->trees[t];
		soft_tree_move(self, tree, now);
		soft_tree_write(self, tree, now);
	}
}

static void relax_island(struct soft_step *self, struct soft_island *island, double now)
{
	ASSERT(island->tree_first < island->tree_last);
	struct soft_trees *all = &self->trees;
	for (uint32_t t = island->tree_first; t < island->tree_last; t++)
		if (all->trees[t].moving)
			soft_tree_place(self, &all->trees[t], now);
	pass_island(self, island, now, false);
	for (uint32_t t = island->tree_first; t < island->tree_last; t++)
		soft_tree_write(self, &all->trees[t], now);
}

/* ---- all islands ------------------------------------------------------------------------------------- */

struct tree_work {
	struct soft_step *self;
	double now;
};

static void begin_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct tree_work *work = context;
	struct soft_trees *all = &work->self->trees;
	for (uint32_t k = first; k < last; k++) {
		struct soft_island *island = &all->islands[k];
		for (uint32_t t = island->tree_first; t < island->tree_last; t++)
			begin_tree(work->self, &all->trees[t]);
		if (!island->closed)
			continue;
		struct soft_step own = *work->self; /* its blocks are at times of their own */
		for (uint32_t i = 0; i < own.substeps; i++) {
			double now = own.dt * (i + 1) / own.substeps;
			solve_island(&own, island, now);
			own.time = (float)now;
			for (uint32_t b = island->block_first; b < island->block_last; b++)
				own.kernels->measure(&own, all->block_first + b);
			relax_island(&own, island, now);
		}
	}
}

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct tree_work *work = context;
	struct soft_trees *all = &work->self->trees;
	for (uint32_t k = first; k < last; k++)
		if (!all->islands[k].closed)
			solve_island(work->self, &all->islands[k], work->now);
}

static void relax_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct tree_work *work = context;
	struct soft_trees *all = &work->self->trees;
	for (uint32_t k = first; k < last; k++)
		if (!all->islands[k].closed)
			relax_island(work->self, &all->islands[k], work->now);
}

static void run_islands(struct soft_step *self, parallel_piece *piece, double now)
{
	const struct parallel *parallel = self->dynamics->parallel;
	struct tree_work work = { self, now };
	uint32_t count = self->trees.island_count;
	if (count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	parallel_run(parallel, count, MAX_OF(count / (SHARES * parallel->workers), 1u), piece,
		     &work);
	profile_enter(self->dynamics->profile, before);
}

static bool any_open(const struct soft_trees *all)
{
	for (uint32_t k = 0; k < all->island_count; k++)
		if (!all->islands[k].closed)
			return true;
	return false;
}

void soft_trees_begin(struct soft_step *self)
{
	run_islands(self, begin_piece, 0);
	self->trees.open = any_open(&self->trees);
}

void soft_trees_solve(struct soft_step *self, double now)
{
	if (self->trees.open)
		run_islands(self, solve_piece, now);
}

void soft_trees_relax(struct soft_step *self, double now)
{
	if (self->trees.open)
		run_islands(self, relax_piece, now);
}

/* ---- results ------------------------------------------------------------------------------------------- */

struct body_motion soft_trees_motion(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number <= self->body_count);
	const struct soft_trees *all = &self->trees;
	const struct soft_tree_link *link = &all->links[all->link_of[number]];
	const struct soft_tree *tree = &all->trees[all->tree_of_link[all->link_of[number]]];
	quat before = self->dynamics->tables->body.rotation[self->rows[number - 1]];
	quat rotation = quat_normalize(link->rotation);
	vec3 r = vec3_sub(link->centre, tree->origin), w = link->velocity.angular;
	return (struct body_motion){
		.centre = link->centre,
		.rotation = quat_dot(rotation, before) < 0 ? quat_negate(rotation) : rotation,
		.velocity = vec3_add(link->velocity.linear, vec3_cross(w, r)),
		.angular_velocity = w,
	};
}

static vec3 centre_of(const struct soft_step *self, uint32_t number)
{
	VALIDATE(number <= self->body_count);
	return number == 0 ? vec3_zero() : self->motions[number - 1].centre;
}

static void store_part(const struct tree_axis *axis, struct joint_result *to)
{
	VALIDATE(axis->kind <= TREE_BASE);
	const struct tree_part *part = axis->part;
	double *at = to->multiplier + (size_t)JOINT_PARTS * part->axis;
	at[JOINT_HOLD] = part->lower_total;
	at[JOINT_UPPER] = part->upper_total;
	at[JOINT_SPRING] = part->spring_total;
	at[JOINT_FRICTION] = part->friction ? part->drive_total : 0;
	at[JOINT_MOTOR] =
		part->friction ? part->servo_total : part->servo_total + part->drive_total;
	if (part->armature > 0)
		to->multiplier[JOINT_MULTIPLIERS + part->axis] =
			-part->armature * (axis->rate - part->rotor_start);
}

static void store_link(struct soft_step *self, const struct soft_tree_link *link)
{
	VALIDATE(link->count <= TREE_AXES_MAX);
	struct soft_trees *all = &self->trees;
	struct joint *joint = &all->list.joints[link->joint];
	const struct constraint *of = &all->list.constraints[link->joint];
	struct joint_result *to = &all->results[link->joint];
	uint32_t b = of->body_b == ROW_NO_BODY ? 0 : of->body_b + 1;
	vec3 centre = b == 0 ? joint->b.centre : centre_of(self, b);
	*to = (struct joint_result){ .on_b = link->load, .point = link->anchor };
	to->on_b.angular = vec3_add(to->on_b.angular,
				    vec3_cross(vec3_sub(to->point, centre), to->on_b.linear));
	for (uint32_t k = link->first; k < link->first + link->count; k++) {
		const struct tree_axis *axis = &all->axes[k];
		if (axis->kind == TREE_TURN)
			joint->angle[axis->along] = axis->q;
		if (axis->part != NULL)
			store_part(axis, to);
	}
}

void soft_trees_store(struct soft_step *self)
{
	struct soft_trees *all = &self->trees;
	if (all->tree_count == 0)
		return;
	for (uint32_t i = 0; i < all->link_count; i++)
		if (all->links[i].joint != TREE_NONE)
			store_link(self, &all->links[i]);
	step_joints_store(self->step, &all->list, all->results);
	for (uint32_t k = 0; k < all->island_count; k++)
		self->dynamics->report.fallbacks += all->islands[k].open_rounds;
}
