/* soft_joint_plan.c: chooses the joints that are solved together, and their order.
 *
 * Movable bodies, and the joints between them except those of springs alone, are a graph; a joint to a
 * body that no impulse moves belongs to one node. A connected component is a group; groups are
 * independent.
 *
 * A body with one joint is a leaf. It is removed with its joint, then the bodies that have become
 * leaves, and so on. So a group without loops is removed completely, as a tree, at the cost of as many
 * single joints. The rest is the core: the bodies and joints in loops and between loops, such as a chain
 * between two walls. The core is eliminated as a sparse matrix (soft_joint_core.c).
 *
 * If the factor of a core would be too large, as for a large net, the joints that close its loops become
 * loose, that is, they are solved alone; the rest becomes trees, and the step counts one fallback.
 */
#include "server/engine/methods/soft_step.h"

#include "server/base/union_find.h"

/* The node of a body: 0 if no impulse moves it. */
static uint32_t node_of(const struct soft_joints *joints, uint32_t jointed)
{
	ASSERT(jointed < joints->jointed_count);
	return joints->jointed[jointed].moves ? jointed : 0;
}

/* ---- groups --------------------------------------------------------------------------------- */

static bool allocate_forest(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_forest *forest = &joints->forest;
	struct arena *scratch = &self->dynamics->scratch;
	uint64_t bodies = joints->jointed_count, count = joints->list.count;
	forest->nodes = ARENA_ARRAY(scratch, struct soft_node, bodies);
	forest->above = ARENA_ARRAY(scratch, uint32_t, bodies);
	forest->ends = ARENA_ARRAY(scratch, uint32_t, 2 * count);
	forest->order = ARENA_ARRAY(scratch, uint32_t, count);
	forest->queue = ARENA_ARRAY(scratch, uint32_t, bodies);
	forest->bodies = ARENA_ARRAY(scratch, uint32_t, bodies);
	forest->groups = ARENA_ARRAY(scratch, struct soft_group, count);
	return forest->nodes != NULL && forest->above != NULL && forest->ends != NULL &&
	       forest->order != NULL && forest->queue != NULL && forest->bodies != NULL &&
	       forest->groups != NULL;
}

/* Whether the joint has a row besides springs, which are always solved one by one. */
static bool has_rigid_rows(const struct soft_joint *joint)
{
	bool any = joint->lock_count > 0;
	for (uint32_t r = 0; r < joint->extra_count; r++)
		any |= !joint->extras[r].elastic;
	return any;
}

/* Lists the joints of each node; connected nodes get one root. */
static void link_joints(struct soft_joints *joints)
{
	struct soft_node *nodes = joints->forest.nodes;
	uint32_t *above = joints->forest.above;
	for (uint32_t i = 0; i < joints->jointed_count; i++) {
		nodes[i] = (struct soft_node){ 0 };
		above[i] = i;
	}
	for (uint32_t i = 0; i < joints->list.count; i++) {
		struct soft_joint *joint = &joints->items[i];
		uint32_t a = node_of(joints, joint->a), b = node_of(joints, joint->b);
		joint->loose = !has_rigid_rows(joint) || a == b;
		if (joint->loose)
			continue;
		nodes[a].count += a != 0;
		nodes[b].count += b != 0;
		if (a != 0 && b != 0)
			(void)union_find_join(above, a, b);
	}
	uint32_t first = 0;
	for (uint32_t i = 1; i < joints->jointed_count; i++) {
		nodes[i].first = first;
		first += nodes[i].count;
		nodes[i].count = 0;
	}
	for (uint32_t i = 0; i < joints->list.count; i++) {
		const struct soft_joint *joint = &joints->items[i];
		uint32_t ends[2] = { node_of(joints, joint->a), node_of(joints, joint->b) };
		for (uint32_t side = 0; side < 2 && !joint->loose; side++)
			if (ends[side] != 0) {
				struct soft_node *node = &nodes[ends[side]];
				joints->forest.ends[node->first + node->count++] = i;
			}
	}
}

/* Lists bodies group by group, groups in order of their first bodies, which are the roots. */
static void gather_groups(struct soft_joints *joints)
{
	struct soft_forest *forest = &joints->forest;
	uint32_t *number = forest->queue; /* of the group, by root */
	uint32_t bodies = 0;
	forest->group_count = 0;
	for (uint32_t i = 1; i < joints->jointed_count; i++) {
		if (forest->nodes[i].count == 0)
			continue;
		uint32_t root = union_find_root(forest->above, i);
		if (root == i) {
			number[i] = forest->group_count++;
			forest->groups[number[i]] = (struct soft_group){ 0 };
		}
		forest->groups[number[root]].body_last++;
	}
	for (uint32_t g = 0; g < forest->group_count; g++) {
		struct soft_group *group = &forest->groups[g];
		uint32_t count = group->body_last;
		group->body_first = group->body_last = bodies;
		bodies += count;
	}
	for (uint32_t i = 1; i < joints->jointed_count; i++)
		if (forest->nodes[i].count > 0) {
			uint32_t root = union_find_root(forest->above, i);
			forest->bodies[forest->groups[number[root]].body_last++] = i;
		}
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* The only joint of a leaf that is neither loose nor in the order. */
static uint32_t joint_of_leaf(const struct soft_joints *joints, uint32_t leaf)
{
	VALIDATE(joints->forest.nodes[leaf].degree == 1);
	const struct soft_node *node = &joints->forest.nodes[leaf];
	const uint32_t *ends = &joints->forest.ends[node->first];
	uint32_t k = 0;
	while (k + 1 < node->count &&
	       (joints->items[ends[k]].loose || joints->items[ends[k]].placed))
		k++;
	VALIDATE(!joints->items[ends[k]].loose && !joints->items[ends[k]].placed);
	return ends[k];
}

/* Appends the joints of trees to the order, from the leaves on. */
static void order_trees(struct soft_joints *joints, struct soft_group *group)
{
	struct soft_forest *forest = &joints->forest;
	struct soft_node *nodes = forest->nodes;
	uint32_t waiting = 0;
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		if (nodes[forest->bodies[i]].degree == 1)
			forest->queue[waiting++] = forest->bodies[i];
	for (uint32_t at = 0; at < waiting; at++) {
		uint32_t leaf = forest->queue[at];
		if (nodes[leaf].degree != 1)
			continue; /* the last two bodies of a tree are both leaves */
		uint32_t i = joint_of_leaf(joints, leaf);
		struct soft_joint *joint = &joints->items[i];
		uint32_t a = node_of(joints, joint->a), b = node_of(joints, joint->b);
		uint32_t above = a == leaf ? b : a;
		joint->placed = true;
		joint->child_b = leaf == b;
		joint->moves_parent = above != 0;
		forest->order[group->last++] = i;
		nodes[leaf].degree = 0;
		if (above != 0 && --nodes[above].degree == 1)
			forest->queue[waiting++] = above;
	}
	group->core_first = group->last;
}

/* Appends the joints of no tree, each at its first body. */
static void order_core(struct soft_joints *joints, struct soft_group *group)
{
	ASSERT(group->core_first == group->last);
	struct soft_forest *forest = &joints->forest;
	for (uint32_t i = group->body_first; i < group->body_last; i++) {
		const struct soft_node *node = &forest->nodes[forest->bodies[i]];
		for (uint32_t k = 0; k < node->count && node->degree > 0; k++) {
			struct soft_joint *joint = &joints->items[forest->ends[node->first + k]];
			if (joint->placed)
				continue;
			joint->placed = true;
			forest->order[group->last++] = forest->ends[node->first + k];
		}
	}
}

/* Makes the joints of a core loose that close a loop, in their order, and the rest trees. */
static void cut_loops(struct soft_joints *joints, struct soft_group *group)
{
	ASSERT(group->core_first <= group->last);
	struct soft_forest *forest = &joints->forest;
	struct soft_node *nodes = forest->nodes;
	uint32_t *core = &forest->order[group->core_first];
	uint32_t count = group->last - group->core_first;
	forest->above[0] = 0;
	for (uint32_t i = group->body_first; i < group->body_last; i++)
		forest->above[forest->bodies[i]] = forest->bodies[i];
	for (uint32_t k = 0; k < count; k++) {
		struct soft_joint *joint = &joints->items[core[k]];
		uint32_t a = node_of(joints, joint->a), b = node_of(joints, joint->b);
		joint->placed = false;
		joint->loose = !union_find_join(forest->above, a, b);
		if (!joint->loose)
			continue;
		nodes[a].degree -= a != 0;
		nodes[b].degree -= b != 0;
	}
	group->last = group->core_first;
	order_trees(joints, group);
}

enum status soft_forest_plan(struct soft_step *self)
{
	struct soft_joints *joints = &self->joints;
	struct soft_forest *forest = &joints->forest;
	uint32_t last = 0;
	if (!allocate_forest(self))
		return STATUS_NO_MEMORY;
	link_joints(joints);
	gather_groups(joints);
	for (uint32_t i = 0; i < joints->jointed_count; i++)
		forest->nodes[i].degree = forest->nodes[i].count;
	for (uint32_t g = 0; g < forest->group_count; g++) {
		struct soft_group *group = &forest->groups[g];
		bool fits = true;
		group->first = group->last = last;
		order_trees(joints, group);
		order_core(joints, group);
		enum status status = soft_core_plan(self, group, &fits);
		if (status != STATUS_OK)
			return status;
		ASSERT(group->first <= group->core_first && group->core_first <= group->last);
		if (!fits) {
			cut_loops(joints, group);
			ASSERT(group->core_first == group->last);
			self->dynamics->report.fallbacks++;
		}
		last = group->last;
		ASSERT(last <= joints->list.count);
	}
	return STATUS_OK;
}
