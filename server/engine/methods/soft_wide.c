/* soft_wide.c: joints side by side in lanes, with the bits of one after the other.
 *
 * Two joints that share no body which impulses move may be solved in either order, or at once, with equal
 * bits. So joints get waves: in the order in which they would be solved, a joint's wave is the one after
 * the last of the joints before it that share a body with it. Waves are solved in turn; of a wave, joints of
 * one signature (locked rows, which side is the child, whether the parent moves) are blocks of eight.
 *
 *   trees         groups of trees without rows besides locked ones, several groups to a run: wave w of a
 *                 hundred chains is a hundred joints. Runs are independent of each other, and so are
 *                 pieces for workers. A run backwards is the way from the roots
 *   one by one    loose joints of locked rows alone; the others that are solved one by one (springs, ...)
 *                 keep their place between them
 *
 * All that a block's kernels read or write of joints is in the block, lane by lane: rows, which they
 * make from the bodies' motions, factors, impulses and sums of these. So passes go over memory in its
 * order, and only bodies are gathered. After the last sub-step what the tables store is copied into the
 * joints.
 *
 * Where blocks would be nearly empty, joints are solved as without lanes.
 */
#include "server/base/prefetch.h"
#include "server/engine/methods/soft_step.h"

#include <string.h>

enum {
	/* Joints of a run, at least, if so many groups follow each other: waves of chains of twenty are
	 * full, and there are pieces for eight workers from some 2000 joints on. */
	RUN_LEAST = 256,
	/* Joints of a block, on average: below, lanes take as long as joint after joint. */
	FILL_LEAST = 3,
	/* Of a body: velocity and inertia, of a tree trial and impulse, too; the response. */
	LOOSE_BYTES = 2 * PREFETCH_LINE,
	TREE_BYTES = 4 * PREFETCH_LINE,
	RESPONSE_BYTES = 5 * PREFETCH_LINE,
	ALONE = 0, /* the signature of a joint in no block */
	SIGNATURES = 1 + SOFT_LOCKS_MAX * 4,
};

/* Work of planning: some joints in the order in which they are solved. */
struct wave_plan {
	struct soft_joints *joints;
	uint32_t *wave_of_body; /* by jointed body: the first wave that may follow */
	uint32_t *joint, *key;	/* by place: wave × SIGNATURES + signature */
	uint32_t *sorted;	/* places by key */
	uint32_t *ends;		/* by key */
	uint32_t count, waves;
};

static bool allocate_plan(struct wave_plan *plan, struct arena *scratch)
{
	uint64_t count = plan->joints->list.count;
	ASSERT(count > 0);
	plan->wave_of_body = ARENA_ARRAY(scratch, uint32_t, plan->joints->jointed_count);
	plan->joint = ARENA_ARRAY(scratch, uint32_t, count);
	plan->key = ARENA_ARRAY(scratch, uint32_t, count);
	plan->sorted = ARENA_ARRAY(scratch, uint32_t, count);
	plan->ends = ARENA_ARRAY(scratch, uint32_t, count / FILL_LEAST * SIGNATURES + 1);
	return plan->wave_of_body != NULL && plan->joint != NULL && plan->key != NULL &&
	       plan->sorted != NULL && plan->ends != NULL;
}

/* Appends the next joint of the order. */
static void add_to_plan(struct wave_plan *plan, uint32_t i, uint32_t signature)
{
	VALIDATE(signature < SIGNATURES && plan->count < plan->joints->list.count);
	const struct soft_joint *joint = &plan->joints->items[i];
	uint32_t *a = &plan->wave_of_body[joint->a], *b = &plan->wave_of_body[joint->b];
	bool moves_a = plan->joints->jointed[joint->a].moves;
	bool moves_b = plan->joints->jointed[joint->b].moves;
	uint32_t wave = MAX_OF(moves_a ? *a : 0, moves_b ? *b : 0);
	plan->joint[plan->count] = i;
	plan->key[plan->count++] = wave * SIGNATURES + signature;
	plan->waves = MAX_OF(plan->waves, wave + 1);
	if (moves_a)
		*a = wave + 1;
	if (moves_b)
		*b = wave + 1;
}

/* Sorts the joints by wave and signature, in each as they come. False: waves are too small for lanes. */
static bool sort_plan(struct wave_plan *plan)
{
	if (plan->count == 0 || plan->waves > plan->count / FILL_LEAST)
		return false;
	uint32_t keys = plan->waves * SIGNATURES, sum = 0, blocks = 0;
	memset(plan->ends, 0, keys * sizeof *plan->ends);
	for (uint32_t i = 0; i < plan->count; i++)
		plan->ends[plan->key[i]]++;
	for (uint32_t k = 0; k < keys; k++) {
		uint32_t count = plan->ends[k];
		blocks += k % SIGNATURES == ALONE ? count : (count + BLOCK_LANES - 1) / BLOCK_LANES;
		plan->ends[k] = sum;
		sum += count;
	}
	if (blocks > plan->count / FILL_LEAST)
		return false;
	for (uint32_t i = 0; i < plan->count; i++)
		plan->sorted[plan->ends[plan->key[i]]++] = i;
	return true;
}

/* ---- blocks --------------------------------------------------------------------------------- */

static void set_lanes(struct wide8 *to, uint32_t lane, const double *from, uint32_t count)
{
	VALIDATE(lane < BLOCK_LANES);
	for (uint32_t i = 0; i < count; i++)
		to[i].at[lane] = from[i];
}

static void get_lanes(double *to, const struct wide8 *from, uint32_t lane, uint32_t count)
{
	VALIDATE(lane < BLOCK_LANES);
	for (uint32_t i = 0; i < count; i++)
		to[i] = from[i].at[lane];
}

static void set_vec3(struct wide8 to[3], uint32_t lane, vec3 v)
{
	set_lanes(to, lane, (const double[]){ v.x, v.y, v.z }, 3);
}

static vec3 get_vec3(const struct wide8 from[3], uint32_t lane)
{
	return vec3_make(from[0].at[lane], from[1].at[lane], from[2].at[lane]);
}

static struct spatial get_spatial(const struct wide8 from[6], uint32_t lane)
{
	return (struct spatial){ get_vec3(from, lane), get_vec3(&from[3], lane) };
}

/* Whether the locked rows are the three axes along, and no angle matters to them. */
static bool is_ball(const struct joint *data)
{
	ASSERT(data->layout.known);
	return data->type != JOINT_DISTANCE && data->layout.locked == 7 && !data->layout.angles;
}

static void add_lane(struct soft_joints *joints, struct wide_block *block, uint32_t i)
{
	struct soft_joint *joint = &joints->items[i];
	const struct joint *data = &joints->list.joints[i];
	uint32_t lane = block->lanes++;
	VALIDATE(lane < BLOCK_LANES && joint->lock_count == block->rows);
	joint->wide = true;
	block->number[lane] = i;
	block->a[lane] = joint->a;
	block->b[lane] = joint->b;
	block->motion_a[lane] = joint->a == 0 ? &data->a : &joints->motions[joint->a];
	block->motion_b[lane] = joint->b == 0 ? &data->b : &joints->motions[joint->b];
	block->has_a |= (uint8_t)((joint->a != 0) << lane);
	block->has_b |= (uint8_t)((joint->b != 0) << lane);
	block->moves_a |= (uint8_t)(joints->jointed[joint->a].moves << lane);
	block->moves_b |= (uint8_t)(joints->jointed[joint->b].moves << lane);
	block->balls &= is_ball(data);
	set_vec3(block->more->point_a, lane, data->point_a);
	set_vec3(block->more->point_b, lane, data->point_b);
	const double frame[] = { data->frame_a.w, data->frame_a.x, data->frame_a.y,
				 data->frame_a.z };
	set_lanes(block->more->frame_a, lane, frame, 4);
	set_lanes(block->more->at, lane, data->layout.at, 3);
	set_vec3(block->more->pull, lane, joint->pull);
	for (uint32_t r = 0; r < block->rows; r++)
		block->row[r].impulse.at[lane] = block->loose ? joint->impulse[r] : 0;
}

/* Makes a block of the joints at `count` places. NULL: no memory. */
static struct wide_block *add_block(struct wave_plan *plan, struct arena *scratch,
				    const uint32_t *places, uint32_t count)
{
	struct soft_joints *joints = plan->joints;
	const struct soft_joint *first = &joints->items[plan->joint[places[0]]];
	struct wide_block *block = &joints->wide.blocks[joints->wide.block_count];
	ASSERT(count > 0 && count <= BLOCK_LANES && first->lock_count > 0);
	uint64_t rows = first->lock_count;
	*block = (struct wide_block){ .rows = first->lock_count,
				      .child_b = first->child_b,
				      .moves_parent = first->moves_parent,
				      .loose = first->loose,
				      .balls = true };
	block->row = arena_push_zero(scratch, rows * sizeof *block->row);
	block->more = arena_push_zero(scratch, sizeof *block->more);
	block->factor = ARENA_ARRAY(scratch, struct wide8, rows * (rows - 1) / 2 + 1);
	block->reach = block->loose ? NULL : ARENA_ARRAY(scratch, struct wide8, 6 * rows);
	if (block->row == NULL || block->more == NULL || block->factor == NULL ||
	    (block->reach == NULL && !block->loose))
		return NULL;
	for (uint32_t i = 0; i < count; i++)
		add_lane(joints, block, plan->joint[places[i]]);
	for (uint32_t lane = count; lane < BLOCK_LANES; lane++) {
		block->motion_a[lane] = block->motion_a[0];
		block->motion_b[lane] = block->motion_b[0];
	}
	joints->wide.block_count++;
	return block;
}

/* The number of joints from this place of the sorted plan on that make one block, or 1 for one alone. */
static uint32_t same_block(const struct wave_plan *plan, uint32_t at)
{
	uint32_t key = plan->key[plan->sorted[at]], count = 1;
	if (key % SIGNATURES == ALONE)
		return 1;
	while (count < BLOCK_LANES && at + count < plan->count &&
	       plan->key[plan->sorted[at + count]] == key)
		count++;
	return count;
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* True if a group is trees whose joints have locked rows only. */
static bool is_plain(const struct soft_joints *joints, const struct soft_group *group)
{
	bool plain = group->core_first == group->last && !group->geared;
	for (uint32_t i = group->first; i < group->last && plain; i++)
		plain = joints->items[joints->forest.order[i]].extra_count == 0;
	return plain;
}

static uint32_t tree_signature(const struct soft_joint *joint)
{
	ASSERT(joint->lock_count > 0 && !joint->loose);
	return 1 + 4 * (joint->lock_count - 1u) + 2u * joint->child_b + joint->moves_parent;
}

static enum status make_run(struct wave_plan *plan, struct arena *scratch, uint32_t first,
			    uint32_t last)
{
	struct soft_joints *joints = plan->joints;
	const struct soft_forest *forest = &joints->forest;
	struct wide_run run = { first, last, joints->wide.block_count, 0 };
	plan->count = plan->waves = 0;
	for (uint32_t g = first; g < last; g++)
		for (uint32_t i = forest->groups[g].first; i < forest->groups[g].last; i++)
			add_to_plan(plan, forest->order[i],
				    tree_signature(&joints->items[forest->order[i]]));
	if (!sort_plan(plan))
		return STATUS_OK;
	for (uint32_t at = 0; at < plan->count;) {
		uint32_t count = same_block(plan, at);
		if (add_block(plan, scratch, &plan->sorted[at], count) == NULL)
			return STATUS_NO_MEMORY;
		at += count;
	}
	for (uint32_t g = first; g < last; g++)
		forest->groups[g].wide = true;
	run.block_last = joints->wide.block_count;
	joints->wide.runs[joints->wide.run_count++] = run;
	return STATUS_OK;
}

/* Makes runs of consecutive plain groups. */
static enum status plan_trees(struct wave_plan *plan, struct arena *scratch)
{
	const struct soft_forest *forest = &plan->joints->forest;
	enum status status = STATUS_OK;
	memset(plan->wave_of_body, 0, plan->joints->jointed_count * sizeof *plan->wave_of_body);
	for (uint32_t g = 0; g < forest->group_count && status == STATUS_OK; g++) {
		uint32_t first = g, joints = 0;
		while (g < forest->group_count && joints < RUN_LEAST &&
		       is_plain(plan->joints, &forest->groups[g])) {
			joints += forest->groups[g].last - forest->groups[g].first;
			g++;
		}
		if (joints == 0)
			continue;
		status = make_run(plan, scratch, first, g);
		g--;
	}
	return status;
}

/* ---- one by one ----------------------------------------------------------------------------- */

static enum status plan_items(struct wave_plan *plan, struct arena *scratch)
{
	struct soft_joints *joints = plan->joints;
	struct soft_wide *wide = &joints->wide;
	plan->count = plan->waves = 0;
	memset(plan->wave_of_body, 0, joints->jointed_count * sizeof *plan->wave_of_body);
	for (uint32_t i = 0; i < joints->list.count; i++) {
		const struct soft_joint *joint = &joints->items[i];
		bool locks = joint->loose && joint->lock_count > 0;
		bool plain = locks && joint->extra_count == 0 && joint->a != joint->b;
		if ((locks || joint->extra_count > 0) && !joint->closed)
			add_to_plan(plan, i, plain ? joint->lock_count : (uint32_t)ALONE);
	}
	if (!sort_plan(plan))
		return STATUS_OK;
	struct wide_item *items = ARENA_ARRAY(scratch, struct wide_item, plan->count);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t at = 0; at < plan->count;) {
		uint32_t place = plan->sorted[at], count = same_block(plan, at);
		struct wide_item item = { plan->joint[place], false };
		if (plan->key[place] % SIGNATURES != ALONE) {
			item = (struct wide_item){ wide->block_count, true };
			if (add_block(plan, scratch, &plan->sorted[at], count) == NULL)
				return STATUS_NO_MEMORY;
		}
		items[wide->item_count++] = item;
		at += count;
	}
	wide->items = items;
	return STATUS_OK;
}

/* Lists the joints that are in no block, and which of them are in no closed group. */
static enum status plan_rest(struct soft_joints *joints, struct arena *scratch)
{
	struct soft_wide *wide = &joints->wide;
	wide->rest_count = wide->apart_count = joints->list.count;
	if (wide->block_count == 0 && joints->forest.closed_count == 0)
		return STATUS_OK;
	wide->rest = ARENA_ARRAY(scratch, uint32_t, joints->list.count);
	wide->apart = ARENA_ARRAY(scratch, uint32_t, joints->list.count);
	if (wide->rest == NULL || wide->apart == NULL)
		return STATUS_NO_MEMORY;
	wide->rest_count = wide->apart_count = 0;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		if (joints->items[i].wide)
			continue;
		wide->rest[wide->rest_count++] = i;
		if (!joints->items[i].closed)
			wide->apart[wide->apart_count++] = i;
	}
	return STATUS_OK;
}

enum status soft_wide_plan(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct arena *scratch = &self->dynamics->scratch;
	struct wave_plan plan = { .joints = joints };
	struct soft_wide *wide = &joints->wide;
	enum status status = STATUS_OK;
	wide->kernels = self->kernels->wide;
	bool beside = wide->kernels != NULL && joints->list.count >= FILL_LEAST;
	if (beside) {
		wide->blocks =
			ARENA_ARRAY(scratch, struct wide_block, joints->list.count / FILL_LEAST);
		wide->runs = ARENA_ARRAY(scratch, struct wide_run, joints->forest.group_count);
		if (wide->blocks == NULL || wide->runs == NULL || !allocate_plan(&plan, scratch))
			return STATUS_NO_MEMORY;
		status = plan_trees(&plan, scratch);
	}
	wide->loose_first = wide->block_count;
	if (status == STATUS_OK)
		status = soft_closed_plan(self);
	if (status == STATUS_OK && beside)
		status = plan_items(&plan, scratch);
	if (status == STATUS_OK)
		status = plan_rest(joints, scratch);
	ASSERT(wide->block_count <= joints->list.count / FILL_LEAST);
	return status;
}

/* ---- back into joints ----------------------------------------------------------------------- */

static void return_lane(struct soft_joints *joints, const struct wide_block *block, uint32_t lane)
{
	struct soft_joint *joint = &joints->items[block->number[lane]];
	const struct wide_joint *more = block->more;
	VALIDATE(joint->wide && joint->lock_count == block->rows);
	for (uint32_t r = 0; r < block->rows; r++)
		joint->total[r] = block->row[r].total.at[lane];
	joint->pushed = get_spatial(more->pushed, lane);
	joint->total_pushed = get_spatial(more->total_pushed, lane);
	joint->arm = get_vec3(more->arm, lane);
	joint->acted = block->acted >> lane & 1;
}

/* What return_lane leaves out. */
static void return_rows(struct soft_joints *joints, const struct wide_block *block, uint32_t lane)
{
	struct soft_joint *joint = &joints->items[block->number[lane]];
	const struct wide_joint *more = block->more;
	for (uint32_t r = 0; r < block->rows; r++) {
		const struct wide_row *row = &block->row[r];
		joint->locks[r].on_a = get_spatial(row->on_a, lane);
		joint->locks[r].on_b = get_spatial(row->on_b, lane);
		joint->bias[r] = row->bias.at[lane];
		joint->impulse[r] = row->impulse.at[lane];
		joint->pivot_inv[r] = row->pivot_inv.at[lane];
	}
	get_lanes(joint->factor, block->factor, lane, block->rows * (block->rows - 1u) / 2);
	joint->count = joint->lock_count;
	joint->open = more->open.at[lane];
	joint->pull = get_vec3(more->pull, lane);
	joint->pull_before = get_vec3(more->pull_before, lane);
}

void soft_wide_return(struct soft_joints *joints, bool all)
{
	const struct soft_wide *wide = &joints->wide;
	for (uint32_t i = 0; i < wide->block_count; i++)
		for (uint32_t lane = 0; lane < wide->blocks[i].lanes; lane++) {
			return_lane(joints, &wide->blocks[i], lane);
			if (all)
				return_rows(joints, &wide->blocks[i], lane);
		}
}

void soft_wide_leave(struct soft_joints *joints)
{
	soft_wide_return(joints, true);
	for (uint32_t i = 0; i < joints->list.count; i++)
		joints->items[i].wide = false;
	soft_closed_leave(joints);
	joints->wide = (struct soft_wide){ .rest_count = joints->list.count,
					   .apart_count = joints->list.count };
	for (uint32_t g = 0; g < joints->forest.group_count; g++) {
		struct soft_group *group = &joints->forest.groups[g];
		bool wide = group->wide;
		group->wide = false;
		if (wide)
			soft_group_factor(joints, group);
	}
}

/* ---- passes --------------------------------------------------------------------------------- */

/* Prefetches the bodies of the next block, which are far apart in memory. */
static void fetch_block(const struct soft_joints *joints, const struct wide_block *block,
			size_t from, size_t bytes)
{
	VALIDATE(block->lanes > 0 && block->lanes <= BLOCK_LANES);
	for (uint32_t lane = 0; lane < block->lanes; lane++) {
		prefetch((const char *)&joints->jointed[block->a[lane]] + from, bytes);
		prefetch((const char *)&joints->jointed[block->b[lane]] + from, bytes);
	}
}

void soft_run_tighten(struct soft_joints *joints, const struct wide_run *run, double h)
{
	ASSERT(run->block_first <= run->block_last && h > 0);
	for (uint32_t i = run->block_first; i < run->block_last; i++)
		joints->wide.kernels->tighten(joints, &joints->wide.blocks[i], h);
}

void soft_run_factor(struct soft_joints *joints, const struct wide_run *run)
{
	ASSERT(run->block_first <= run->block_last);
	const struct wide_block *blocks = joints->wide.blocks;
	for (uint32_t i = run->block_first; i < run->block_last; i++) {
		if (i + 1 < run->block_last)
			fetch_block(joints, &blocks[i + 1], offsetof(struct soft_jointed, response),
				    RESPONSE_BYTES);
		joints->wide.kernels->factor(joints, &joints->wide.blocks[i]);
	}
}

void soft_warm_items(struct soft_joints *joints)
{
	const struct soft_wide *wide = &joints->wide;
	for (uint32_t i = 0; i < wide->loose_first; i++) {
		struct wide_block *block = &wide->blocks[i];
		for (uint32_t r = 0; r < block->rows; r++)
			block->row[r].impulse = (struct wide8){ { 0 } };
	}
	for (uint32_t i = 0; i < wide->item_count; i++) {
		const struct wide_item *item = &wide->items[i];
		if (i + 1 < wide->item_count && item[1].block)
			fetch_block(joints, &wide->blocks[item[1].at], 0, LOOSE_BYTES);
		if (item->block)
			wide->kernels->warm(joints, &wide->blocks[item->at]);
		else
			soft_joint_warm(joints, &joints->items[item->at]);
	}
	/* Those that are no items have no impulse to apply; theirs become 0. */
	for (uint32_t k = 0; k < wide->apart_count; k++) {
		struct soft_joint *joint = soft_apart(joints, k);
		if (wide->items == NULL || (!joint->loose && joint->extra_count == 0))
			soft_joint_warm(joints, joint);
	}
}

void soft_solve_items(const struct soft_pass *pass)
{
	struct soft_joints *joints = pass->joints;
	const struct soft_wide *wide = &joints->wide;
	for (uint32_t i = 0; i < wide->item_count; i++) {
		const struct wide_item *item = &wide->items[i];
		if (i + 1 < wide->item_count && item[1].block)
			fetch_block(joints, &wide->blocks[item[1].at], 0, LOOSE_BYTES);
		if (item->block)
			wide->kernels->locks(pass, &wide->blocks[item->at]);
		else
			soft_joint_solve_alone(pass, &joints->items[item->at]);
	}
	for (uint32_t k = 0; k < wide->apart_count && wide->items == NULL; k++)
		soft_joint_solve_alone(pass, soft_apart(joints, k));
}

void soft_run_solve(const struct soft_pass *pass, const struct wide_run *run)
{
	struct soft_joints *joints = pass->joints;
	const struct soft_forest *forest = &joints->forest;
	const struct soft_wide *wide = &joints->wide;
	uint32_t body_first = forest->groups[run->group_first].body_first;
	uint32_t body_last = forest->groups[run->group_last - 1].body_last;
	ASSERT(run->block_first < run->block_last && body_first < body_last);
	for (uint32_t g = run->group_first; g < run->group_last && pass->biased; g++)
		soft_group_calm(joints, &forest->groups[g]);
	for (uint32_t i = body_first; i < body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		jointed->trial = jointed->velocity;
		jointed->impulse = spatial_zero();
	}
	for (uint32_t i = run->block_first; i < run->block_last; i++) {
		if (i + 1 < run->block_last)
			fetch_block(joints, &wide->blocks[i + 1], 0, TREE_BYTES);
		wide->kernels->upward(pass, &wide->blocks[i]);
	}
	for (uint32_t i = run->block_last; i-- > run->block_first;) {
		if (i > run->block_first)
			fetch_block(joints, &wide->blocks[i - 1],
				    offsetof(struct soft_jointed, impulse), sizeof(struct spatial));
		wide->kernels->downward(joints, &wide->blocks[i]);
	}
	for (uint32_t i = body_first; i < body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		soft_jointed_apply(jointed, &jointed->impulse);
	}
}
