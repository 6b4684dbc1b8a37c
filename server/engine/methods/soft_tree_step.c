/* soft_tree_step.c: islands of trees through a step: passes, moves, results.
 *
 * Closed islands go through all sub-steps at once, a few side by side (soft_tree_groups.c), before the
 * others do their first, while they are in the cache. An open one takes part in each pass, after contacts
 * of other bodies.
 */
#include "server/engine/methods/soft_step.h"

/* Solutions of a pass until what holds axes agrees. */
enum { ROUNDS_MAX = 6, SHARES = 4 };

/* ---- a run ----------------------------------------------------------------------------------------- */

/* Velocities and momenta as the step begins: those of the tables, made such as joints allow. */
static void begin_tree(const struct soft_step *self, const struct soft_tree *tree)
{
	ASSERT(tree->first + tree->count <= self->trees.link_count);
	const struct soft_trees *all = &self->trees;
	for (uint32_t i = tree->first; i < tree->first + tree->count; i++) {
		struct soft_tree_link *link = &all->links[i];
		const struct spatial *v = &self->drives[link->number].start.velocity;
		vec3 r = vec3_sub(link->centre, tree->origin);
		link->velocity = (struct spatial){ vec3_sub(v->linear, vec3_cross(v->angular, r)),
						   v->angular };
		link->momentum = soft_tree_inertia_apply(&link->own, &link->velocity);
	}
}

/* Loads what the sub-steps read of joints: axes on which something acts. */
static void load_parts(const struct soft_trees *all, const struct soft_tree *tree)
{
	ASSERT(tree->axis_first + tree->axis_count <= all->axis_count);
	for (uint32_t k = tree->axis_first; k < tree->axis_first + tree->axis_count; k++) {
		const struct tree_part *part = all->axes[k].part;
		if (part == NULL)
			continue;
		const struct joint *joint = &all->list.joints[part->joint];
		prefetch(part->data, sizeof *part->data);
		prefetch(&joint->multiplier[JOINT_PARTS * part->axis],
			 JOINT_PARTS * sizeof *joint->multiplier);
	}
}

static void begin_run(struct soft_step *self, struct tree_run *run)
{
	struct soft_trees *all = &self->trees;
	uint32_t first = soft_tree_first(all, run), last = soft_tree_last(all, run);
	ASSERT(first < last);
	for (uint32_t t = first; t < last; t++)
		load_parts(all, &all->trees[t]);
	soft_tree_group_run(all, run);
	for (uint32_t t = first; t < last; t++) {
		struct soft_tree *tree = &all->trees[t];
		vec3 sum = vec3_zero();
		for (uint32_t i = tree->first; i < tree->first + tree->count; i++)
			sum = vec3_mul_add(sum, all->links[i].centre, all->links[i].mass);
		tree->centre = vec3_scale(sum, 1 / tree->mass);
	}
	soft_tree_place(self, run, 0, false);
	for (uint32_t t = first; t < last; t++) {
		begin_tree(self, &all->trees[t]);
		soft_tree_drive_begin(self, &all->trees[t]);
		soft_tree_start_rotors(self, &all->trees[t]);
	}
	soft_tree_factor(all, run);
	soft_tree_solve(self, run, TREE_BEGIN);
	soft_tree_after(all, run, TREE_BEGIN);
	for (uint32_t t = first; t < last; t++) {
		all->trees[t].factored = false;
		soft_tree_drive_wake(self, &all->trees[t]);
	}
}

/* Velocities of a pass, with the impulses that contacts have given. */
static void solve_run(struct soft_step *self, const struct tree_run *run, enum tree_pass pass)
{
	struct soft_trees *all = &self->trees;
	ASSERT(run->island_first < run->island_last);
	soft_tree_factor(all, run);
	for (uint32_t t = soft_tree_first(all, run); t < soft_tree_last(all, run); t++)
		soft_tree_drive_set(all, &all->trees[t], pass == TREE_SOLVE);
	soft_tree_solve(self, run, pass);
}

static bool touches_any(const struct soft_island *island)
{
	return island->manifold_first < island->manifold_last;
}

/* Takes what links were given by contacts in an earlier round. */
static void drop_pushes(const struct soft_trees *all, const struct soft_island *island)
{
	ASSERT(island->tree_first < island->tree_last);
	for (uint32_t t = island->tree_first; t < island->tree_last && touches_any(island); t++)
		for (uint32_t i = 0; i < all->trees[t].count; i++)
			all->links[all->trees[t].first + i].pushed = spatial_zero();
}

static bool take_drives(struct soft_trees *all, const struct soft_island *island)
{
	ASSERT(island->tree_first < island->tree_last);
	bool changed = false;
	for (uint32_t t = island->tree_first; t < island->tree_last; t++)
		changed |= soft_tree_drive_take(all, &all->trees[t]);
	return changed;
}

/* Solves all islands of a run until holds agree in each. Those that are done are solved with others again,
 * by the same numbers. */
static void solve_rounds(struct soft_step *self, const struct tree_run *run, enum tree_pass pass)
{
	struct soft_trees *all = &self->trees;
	struct soft_island *first = &all->islands[run->island_first],
			   *last = &all->islands[run->island_last];
	ASSERT(first < last);
	bool changed = true;
	for (struct soft_island *island = first; island < last; island++)
		island->changed = true;
	for (uint32_t round = 0; changed && round < ROUNDS_MAX; round++) {
		bool again = false;
		for (struct soft_island *island = first; island < last && round > 0; island++)
			if (island->changed)
				drop_pushes(all, island);
		solve_run(self, run, pass);
		for (struct soft_island *island = first; island < last; island++) {
			if (!island->changed || !touches_any(island))
				continue;
			soft_tree_contacts(self, island, pass == TREE_SOLVE, round == 0);
			again = true;
		}
		if (again)
			solve_run(self, run, pass);
		changed = false;
		for (struct soft_island *island = first; island < last; island++) {
			if (!island->changed)
				continue;
			island->open_rounds += round + 1 == ROUNDS_MAX;
			island->changed = round + 1 < ROUNDS_MAX && take_drives(all, island);
			changed |= island->changed;
		}
	}
}

static void pass_run(struct soft_step *self, const struct tree_run *run, double time,
		     enum tree_pass pass)
{
	struct soft_trees *all = &self->trees;
	uint32_t first = soft_tree_first(all, run), last = soft_tree_last(all, run);
	bool biased = pass == TREE_SOLVE;
	ASSERT(first < last);
	soft_tree_before(all, run, pass);
	for (uint32_t t = first; t < last; t++)
		soft_tree_drive_aim(self, &all->trees[t], time, biased);
	solve_rounds(self, run, pass);
	for (uint32_t t = first; t < last; t++)
		soft_tree_drive_count(all, &all->trees[t], biased);
	soft_tree_after(all, run, pass);
	for (uint32_t k = run->island_first; k < run->island_last; k++)
		if (touches_any(&all->islands[k]))
			soft_tree_contacts_store(self, &all->islands[k], biased);
}

static void write_run(struct soft_step *self, const struct tree_run *run, double now, bool touched)
{
	const struct soft_trees *all = &self->trees;
	ASSERT(run->island_first < run->island_last);
	for (uint32_t t = soft_tree_first(all, run); t < soft_tree_last(all, run); t++)
		soft_tree_write(self, &all->trees[t], now, touched);
}

static void relax_run(struct soft_step *self, const struct tree_run *run, double now)
{
	soft_tree_place(self, run, now, true);
	pass_run(self, run, now, TREE_RELAX);
}

/* All sub-steps of closed islands. */
static void step_run(struct soft_step *self, const struct tree_run *run)
{
	const struct soft_trees *all = &self->trees;
	struct soft_step own = *self; /* its blocks are at times of their own */
	uint32_t first = all->islands[run->island_first].block_first,
		 last = all->islands[run->island_last - 1].block_last;
	ASSERT(first <= last);
	double now = 0;
	for (uint32_t i = 0; i < own.substeps; i++) {
		now = own.dt * (i + 1) / own.substeps;
		pass_run(&own, run, now - 0.5 * all->h, TREE_SOLVE);
		soft_tree_move(&own, run, now);
		write_run(&own, run, now, true);
		own.time = (float)now;
		for (uint32_t b = first; b < last; b++)
			own.kernels->measure(&own, all->block_first + b);
		pass_run(&own, run, now, TREE_RELAX);
	}
	write_run(&own, run, now, true);
}

/* ---- all runs ---------------------------------------------------------------------------------------- */

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
		begin_run(work->self, &all->runs[k]);
		if (k < all->closed_count)
			step_run(work->self, &all->runs[k]);
	}
}

static void solve_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct tree_work *work = context;
	struct soft_trees *all = &work->self->trees;
	for (uint32_t k = first; k < last; k++) {
		const struct tree_run *run = &all->runs[all->closed_count + k];
		pass_run(work->self, run, work->now - 0.5 * all->h, TREE_SOLVE);
		soft_tree_move(work->self, run, work->now);
		write_run(work->self, run, work->now, false);
	}
}

static void relax_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct tree_work *work = context;
	struct soft_trees *all = &work->self->trees;
	for (uint32_t k = first; k < last; k++) {
		const struct tree_run *run = &all->runs[all->closed_count + k];
		relax_run(work->self, run, work->now);
		write_run(work->self, run, work->now, false);
	}
}

static void run_pieces(struct soft_step *self, uint32_t count, parallel_piece *piece, double now)
{
	const struct parallel *parallel = self->dynamics->parallel;
	struct tree_work work = { self, now };
	if (count == 0)
		return;
	enum profile_stage before = profile_enter(self->dynamics->profile, PROFILE_JOINTS);
	parallel_run(parallel, count, MAX_OF(count / (SHARES * parallel->workers), 1u), piece,
		     &work);
	profile_enter(self->dynamics->profile, before);
}

void soft_trees_begin(struct soft_step *self)
{
	if (self->trees.tree_count > 0)
		soft_trees_plan_runs(&self->trees);
	run_pieces(self, self->trees.run_count, begin_piece, 0);
}

void soft_trees_solve(struct soft_step *self, double now)
{
	run_pieces(self, self->trees.run_count - self->trees.closed_count, solve_piece, now);
}

void soft_trees_relax(struct soft_step *self, double now)
{
	run_pieces(self, self->trees.run_count - self->trees.closed_count, relax_piece, now);
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
	struct joint_result *to = &all->results[link->result];
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
