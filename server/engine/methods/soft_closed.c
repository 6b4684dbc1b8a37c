/* soft_closed.c: groups that go through the phases of joints one by one.
 *
 * A joint has some 6 kB, so a phase over all joints of a thousand robots reads them from memory, and a
 * sub-step has a dozen phases: bodies, taut ones, rows, factors, and of each pass velocities, warm start,
 * rows that are solved alone, trees, sums. A group is closed if no joint of another group, no gear and no
 * block of lanes acts on its bodies. Then nothing in these phases passes from it to others, and it goes
 * through all that lie between two passes over contacts while it is in the cache, with the bits of phases
 * over all: its joints stay in their order.
 *
 * Only the sweeps over implicit springs, which end when those of all joints agree, are common. A group
 * in which there are some waits for them.
 */
#include "server/base/prefetch.h"
#include "server/engine/methods/soft_step.h"

enum {
	/* Joints of a closed group, at most. Larger: it does not stay in a cache of 512 kB, and
	 * workers cannot share it. */
	CLOSED_MOST = 64,
	/* Of a worker, when there are many groups: several follow each other in one, so that the next is
	 * fetched, and none of the workers waits long for the last. */
	SHARES = 4,
};

/* ---- plan ----------------------------------------------------------------------------------- */

struct closed_plan {
	struct soft_joints *joints;
	uint32_t *group_of; /* by jointed body; SOFT_NO_PLACE: none */
};

static bool allocate_closed(struct closed_plan *plan, struct arena *scratch)
{
	struct soft_joints *joints = plan->joints;
	struct soft_forest *forest = &joints->forest;
	plan->group_of = ARENA_ARRAY(scratch, uint32_t, joints->jointed_count);
	forest->closed = ARENA_ARRAY(scratch, uint32_t, forest->group_count);
	forest->own = ARENA_ARRAY(scratch, uint32_t, joints->list.count);
	joints->apart = ARENA_ARRAY(scratch, uint32_t, joints->jointed_count);
	return plan->group_of != NULL && forest->closed != NULL && forest->own != NULL &&
	       joints->apart != NULL;
}

/* What groups are, without regard to loose joints. */
static void begin_groups(const struct closed_plan *plan)
{
	struct soft_forest *forest = &plan->joints->forest;
	for (uint32_t i = 0; i < plan->joints->jointed_count; i++)
		plan->group_of[i] = SOFT_NO_PLACE;
	for (uint32_t g = 0; g < forest->group_count; g++) {
		struct soft_group *group = &forest->groups[g];
		group->closed = !group->wide && !group->geared;
		for (uint32_t i = group->body_first; i < group->body_last; i++)
			plan->group_of[forest->bodies[i]] = g;
	}
}

/* The group to which a loose joint belongs: that of all its bodies which impulses move. SOFT_NO_PLACE: none,
 * or lanes are to have the joint. */
static uint32_t group_of_loose(const struct closed_plan *plan, const struct soft_joint *joint)
{
	const struct soft_jointed *bodies = plan->joints->jointed;
	bool moves_a = bodies[joint->a].moves, moves_b = bodies[joint->b].moves;
	ASSERT(joint->loose);
	if (joint->lock_count > 0 && joint->extra_count == 0)
		return SOFT_NO_PLACE;
	if (moves_a && moves_b && plan->group_of[joint->a] != plan->group_of[joint->b])
		return SOFT_NO_PLACE;
	return plan->group_of[moves_a ? joint->a : joint->b];
}

/* The group of a joint, or SOFT_NO_PLACE. */
static uint32_t group_of_joint(const struct closed_plan *plan, const struct soft_joint *joint)
{
	if (joint->loose)
		return group_of_loose(plan, joint);
	return plan->group_of[plan->joints->jointed[joint->a].moves ? joint->a : joint->b];
}

/* Groups on whose bodies a joint of none acts are not closed. */
static void open_groups(const struct closed_plan *plan)
{
	const struct soft_joints *joints = plan->joints;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		const struct soft_joint *joint = &joints->items[i];
		if (!joint->loose || group_of_loose(plan, joint) != SOFT_NO_PLACE)
			continue;
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t group = plan->group_of[side == 0 ? joint->a : joint->b];
			if (group != SOFT_NO_PLACE)
				joints->forest.groups[group].closed = false;
		}
	}
}

/* Counts the joints of closed groups, loose ones too; a group of too many is not closed. */
static void count_joints(const struct closed_plan *plan)
{
	const struct soft_joints *joints = plan->joints;
	const struct soft_forest *forest = &joints->forest;
	for (uint32_t i = 0; i < joints->list.count; i++) {
		uint32_t g = group_of_joint(plan, &joints->items[i]);
		if (g != SOFT_NO_PLACE)
			forest->groups[g].own_last++;
	}
	for (uint32_t g = 0; g < forest->group_count; g++)
		forest->groups[g].closed &= forest->groups[g].own_last <= CLOSED_MOST;
}

/* Lists the joints of closed groups, group by group. */
static void list_joints(const struct closed_plan *plan)
{
	struct soft_joints *joints = plan->joints;
	struct soft_forest *forest = &joints->forest;
	uint32_t last = 0;
	for (uint32_t g = 0; g < forest->group_count; g++) {
		struct soft_group *group = &forest->groups[g];
		uint32_t count = group->closed ? group->own_last : 0;
		group->own_first = group->own_last = last;
		last += count;
		if (group->closed)
			forest->closed[forest->closed_count++] = g;
	}
	for (uint32_t i = 0; i < joints->list.count; i++) {
		uint32_t g = group_of_joint(plan, &joints->items[i]);
		joints->items[i].closed = g != SOFT_NO_PLACE && forest->groups[g].closed;
		if (joints->items[i].closed)
			forest->own[forest->groups[g].own_last++] = i;
	}
}

enum status soft_closed_plan(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_forest *forest = &joints->forest;
	struct closed_plan plan = { .joints = joints };
	if (!allocate_closed(&plan, &self->dynamics->scratch))
		return STATUS_NO_MEMORY;
	begin_groups(&plan);
	open_groups(&plan);
	count_joints(&plan);
	list_joints(&plan);
	joints->apart_count = 0;
	for (uint32_t i = 1; i < joints->jointed_count; i++) {
		uint32_t group = plan.group_of[i];
		if (group == SOFT_NO_PLACE || !forest->groups[group].closed)
			joints->apart[joints->apart_count++] = i;
	}
	return STATUS_OK;
}

void soft_closed_leave(struct soft_joints *joints)
{
	struct soft_forest *forest = &joints->forest;
	for (uint32_t k = 0; k < forest->closed_count; k++)
		forest->groups[forest->closed[k]].closed = false;
	for (uint32_t i = 0; i < joints->list.count; i++)
		joints->items[i].closed = false;
	forest->closed_count = 0;
	joints->apart_count = joints->jointed_count - 1;
	for (uint32_t k = 0; k < joints->apart_count; k++)
		joints->apart[k] = k + 1;
}

/* ---- phases --------------------------------------------------------------------------------- */

static inline struct soft_joint *own_joint(const struct soft_joints *joints, uint32_t k)
{
	return &joints->items[joints->forest.own[k]];
}

/* Brings the k-th joint of the next group into the cache, while that of a group is worked at. Where its rows
 * are is read from what came with the joint before. */
static void fetch_joint(const struct soft_closed_work *work, const struct soft_group *next,
			uint32_t k)
{
	const struct soft_joints *joints = &work->self->joints;
	uint32_t at = next->own_first + k;
	if (at >= next->own_last)
		return;
	const struct soft_joint *joint = own_joint(joints, at);
	prefetch(joint->locks,
		 MIN_OF(joint->row_count, (uint32_t)SOFT_LOCKS_MAX) * sizeof *joint->locks);
	prefetch(joint->extras, joint->extra_count * sizeof *joint->extras);
	prefetch(joint->branch, sizeof *joint->branch);
	prefetch(&joints->jointed[joint->b], sizeof *joints->jointed);
	if (work->measures)
		prefetch(&joints->list.joints[joints->forest.own[at]],
			 offsetof(struct joint, multiplier));
	if (at + 1 < next->own_last)
		prefetch(own_joint(joints, at + 1), sizeof *joint);
}

static void measure_group(const struct soft_closed_work *work, struct soft_group *group,
			  const struct soft_group *next)
{
	struct soft_step *self = work->self;
	struct soft_joints *joints = &self->joints;
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		soft_jointed_move(self, joints->forest.bodies[i], work->now);
	soft_group_tighten(joints, group, self->dt / self->substeps);
	group->open = 0;
	for (uint32_t k = group->own_first; k < group->own_last; k++) {
		if (next != NULL)
			fetch_joint(work, next, k - group->own_first);
		soft_joint_measure(self, joints->forest.own[k], work->now);
		group->open = scalar_max(group->open, own_joint(joints, k)->open);
	}
	soft_group_factor(joints, group);
}

/* After its implicit springs. */
static void finish_group(const struct soft_closed_work *work, struct soft_group *group)
{
	struct soft_joints *joints = &work->self->joints;
	ASSERT(group->closed);
	soft_group_solve(work->pass, group);
	for (uint32_t k = group->own_first; k < group->own_last && work->counts; k++)
		soft_joint_add_totals(own_joint(joints, k), 1);
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		soft_jointed_scatter(work->self, joints->forest.bodies[i]);
}

static void pass_group(const struct soft_closed_work *work, struct soft_group *group,
		       const struct soft_group *next)
{
	struct soft_joints *joints = &work->self->joints;
	ASSERT(group->closed);
	if (work->measures)
		measure_group(work, group, next);
	group->waits = false;
	if (work->pass == NULL)
		return;
	for (uint32_t i = group->body_first; i < group->body_last && work->gathers; i++)
		soft_jointed_gather(work->self, joints->forest.bodies[i]);
	for (uint32_t k = group->own_first; k < group->own_last && work->warms; k++)
		soft_joint_warm(joints, own_joint(joints, k));
	for (uint32_t k = group->own_first; k < group->own_last; k++) {
		if (next != NULL && !work->measures)
			fetch_joint(work, next, k - group->own_first);
		soft_joint_solve_alone(work->pass, own_joint(joints, k));
	}
	for (uint32_t k = group->own_first; k < group->own_last; k++)
		group->waits |= own_joint(joints, k)->swept =
			soft_joint_is_swept(own_joint(joints, k));
	if (!group->waits)
		finish_group(work, group);
}

static void pass_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_closed_work *work = context;
	struct soft_forest *forest = &work->self->joints.forest;
	for (uint32_t k = first; k < last; k++) {
		uint32_t next = MIN_OF(k + 1, last - 1);
		pass_group(work, &forest->groups[forest->closed[k]],
			   next > k ? &forest->groups[forest->closed[next]] : NULL);
	}
}

static void finish_piece(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct soft_closed_work *work = context;
	struct soft_forest *forest = &work->self->joints.forest;
	for (uint32_t k = first; k < last; k++) {
		struct soft_group *group = &forest->groups[forest->closed[k]];
		if (group->waits)
			finish_group(work, group);
	}
}

static void run_closed(struct soft_closed_work *work, parallel_piece *piece)
{
	const struct soft_joints *joints = &work->self->joints;
	const struct parallel *parallel = work->self->dynamics->parallel;
	uint32_t count = joints->forest.closed_count;
	ASSERT(parallel->workers > 0);
	parallel_run(parallel, count,
		     MAX_OF(count / (SHARES * parallel->workers), soft_group_grain(joints)), piece,
		     work);
}

bool soft_closed_pass(struct soft_closed_work *work)
{
	const struct soft_forest *forest = &work->self->joints.forest;
	run_closed(work, pass_piece);
	bool waits = false;
	for (uint32_t k = 0; k < forest->closed_count; k++)
		waits |= forest->groups[forest->closed[k]].waits;
	return waits;
}

void soft_closed_finish(struct soft_closed_work *work)
{
	run_closed(work, finish_piece);
}
