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
 * Rows stay in their joints, in the order of the table: in blocks they would be written eight times as far
 * apart. Kernels transpose them, and store what only they read (factors, T, μ) in lanes.
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
	/* Of a body, in each pass: velocity, trial, impulse and inertia, or most of the response. */
	BODY_BYTES = 4 * PREFETCH_LINE,
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

static void add_lane(struct soft_joints *joints, struct wide_block *block, uint32_t i)
{
	struct soft_joint *joint = &joints->items[i];
	uint32_t lane = block->lanes++;
	VALIDATE(lane < BLOCK_LANES && joint->lock_count == block->rows);
	block->joint[lane] = joint;
	block->locks[lane] = joint->locks;
	block->a[lane] = joint->a;
	block->b[lane] = joint->b;
	block->moves_a |= (uint8_t)(joints->jointed[joint->a].moves << lane);
	block->moves_b |= (uint8_t)(joints->jointed[joint->b].moves << lane);
}

/* Makes a block of the joints at `count` places. NULL: no memory. */
static struct wide_block *add_block(struct wave_plan *plan, struct arena *scratch,
				    const uint32_t *places, uint32_t count)
{
	struct soft_joints *joints = plan->joints;
	const struct soft_joint *first = &joints->items[plan->joint[places[0]]];
	struct wide_block *block = &joints->wide.blocks[joints->wide.block_count];
	ASSERT(count > 0 && count <= BLOCK_LANES && first->lock_count > 0);
	*block = (struct wide_block){ .rows = first->lock_count,
				      .child_b = first->child_b,
				      .moves_parent = first->moves_parent };
	if (!first->loose) {
		uint64_t rows = block->rows;
		block->row = ARENA_ARRAY(scratch, struct wide_row, rows);
		block->factor = ARENA_ARRAY(scratch, struct wide8, rows * (rows - 1) / 2 + 1);
		if (block->row == NULL || block->factor == NULL)
			return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		add_lane(joints, block, plan->joint[places[i]]);
	for (uint32_t lane = count; lane < BLOCK_LANES; lane++) {
		block->joint[lane] = block->joint[0];
		block->locks[lane] = block->locks[0];
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
		if (locks || joint->extra_count > 0)
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

enum status soft_wide_plan(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct arena *scratch = &self->dynamics->scratch;
	struct wave_plan plan = { .joints = joints };
	struct soft_wide *wide = &joints->wide;
	wide->kernels = self->kernels->wide;
	if (wide->kernels == NULL || joints->list.count < FILL_LEAST)
		return STATUS_OK;
	wide->blocks = ARENA_ARRAY(scratch, struct wide_block, joints->list.count / FILL_LEAST);
	wide->runs = ARENA_ARRAY(scratch, struct wide_run, joints->forest.group_count);
	if (wide->blocks == NULL || wide->runs == NULL || !allocate_plan(&plan, scratch))
		return STATUS_NO_MEMORY;
	enum status status = plan_trees(&plan, scratch);
	if (status == STATUS_OK)
		status = plan_items(&plan, scratch);
	ASSERT(wide->block_count <= joints->list.count / FILL_LEAST);
	return status;
}

/* ---- passes --------------------------------------------------------------------------------- */

/* Prefetches what the next block's pass reads: rows of joints and bodies that are far apart in memory. */
static void fetch_block(const struct soft_joints *joints, const struct wide_block *block,
			size_t of_body)
{
	VALIDATE(block->lanes > 0 && block->lanes <= BLOCK_LANES);
	for (uint32_t lane = 0; lane < block->lanes; lane++) {
		const struct soft_joint *joint = block->joint[lane];
		prefetch(block->locks[lane], block->rows * sizeof(struct soft_row));
		prefetch(&joint->bias, sizeof joint->bias + sizeof joint->impulse);
		prefetch(&joint->pushed, sizeof joint->pushed);
		prefetch((const char *)&joints->jointed[block->a[lane]] + of_body, BODY_BYTES);
		prefetch((const char *)&joints->jointed[block->b[lane]] + of_body, BODY_BYTES);
	}
}

void soft_run_factor(struct soft_joints *joints, const struct wide_run *run)
{
	ASSERT(run->block_first <= run->block_last);
	const struct wide_block *blocks = joints->wide.blocks;
	for (uint32_t i = run->block_first; i < run->block_last; i++) {
		if (i + 1 < run->block_last)
			fetch_block(joints, &blocks[i + 1],
				    offsetof(struct soft_jointed, response));
		joints->wide.kernels->factor(joints, &joints->wide.blocks[i]);
	}
}

void soft_solve_items(const struct soft_pass *pass)
{
	struct soft_joints *joints = pass->joints;
	const struct soft_wide *wide = &joints->wide;
	for (uint32_t i = 0; i < wide->item_count; i++) {
		const struct wide_item *item = &wide->items[i];
		if (i + 1 < wide->item_count && item[1].block)
			fetch_block(joints, &wide->blocks[item[1].at], 0);
		if (item->block)
			wide->kernels->locks(pass, &wide->blocks[item->at]);
		else
			soft_joint_solve_alone(pass, &joints->items[item->at]);
	}
	for (uint32_t i = 0; i < joints->list.count && wide->items == NULL; i++)
		soft_joint_solve_alone(pass, &joints->items[i]);
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
			fetch_block(joints, &wide->blocks[i + 1], 0);
		wide->kernels->upward(pass, &wide->blocks[i]);
	}
	for (uint32_t i = run->block_last; i-- > run->block_first;) {
		if (i > run->block_first)
			fetch_block(joints, &wide->blocks[i - 1], 0);
		wide->kernels->downward(joints, &wide->blocks[i]);
	}
	for (uint32_t i = body_first; i < body_last; i++) {
		struct soft_jointed *jointed = &joints->jointed[forest->bodies[i]];
		soft_jointed_apply(jointed, &jointed->impulse);
	}
}
