/* soft_tree_groups.c: which links of trees are side by side in lanes.
 *
 * Closed islands are taken several at a time, as a run. Its links at one depth that have as many axes of the
 * same kinds and as many children are groups: the four legs of a robot, or the same limb of four robots.
 * Children of a link are deeper than it, so groups of a depth may go in any order, and bits are those of
 * one link after the other.
 */
#include "server/base/processor.h"
#include "server/engine/methods/soft_step.h"

/* Links of a run, at most, beyond its first island: what stays in the cache. */
enum { RUN_LINKS_MAX = 128, CHILDREN_MAX = 15 };

const struct tree_kernels *soft_tree_kernels(void)
{
	uint32_t width = processor_lanes();
#if defined(__x86_64__)
	if (width >= 8)
		return &tree_kernels_4;
#endif
	return width >= 4 ? &tree_kernels_2 : &tree_kernels_1;
}

/* What the links of a group have in common; the highest bits are the depth. */
static uint64_t key_of(const struct soft_trees *all, const struct soft_tree_link *link)
{
	ASSERT(link->count <= TREE_AXES_MAX);
	const struct soft_tree *tree = &all->trees[all->tree_of_link[link - all->links]];
	uint64_t key = link->depth;
	key = key << 4 | MIN_OF(link->children, CHILDREN_MAX);
	key = key << 3 | link->count;
	for (uint32_t k = 0; k < TREE_AXES_MAX; k++) {
		key = key << 4;
		if (k < link->count)
			key |= (uint64_t)all->axes[link->first + k].kind << 2 |
			       all->axes[link->first + k].along;
	}
	key = key << 1 | link->reversed;
	key = key << 1 | link->damped;
	key = key << 1 | soft_tree_is_offset(link);
	key = key << 1 | tree->floating;
	return key << 1 | tree->moving;
}

void soft_tree_group_run(struct soft_trees *all, struct tree_run *run)
{
	ASSERT(run->island_first < run->island_last);
	const struct soft_tree *last =
		&all->trees[all->islands[run->island_last - 1].tree_last - 1];
	uint32_t first = all->trees[all->islands[run->island_first].tree_first].first;
	uint32_t count = last->first + last->count - first, groups = 0;
	uint64_t *keys = all->keys + first;
	uint32_t *sorted = all->sorted + first;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t key = key_of(all, &all->links[first + i]);
		uint32_t to = i;
		for (; to > 0 && keys[to - 1] > key; to--) {
			keys[to] = keys[to - 1];
			sorted[to] = sorted[to - 1];
		}
		keys[to] = key;
		sorted[to] = first + i;
	}
	run->group_first = first;
	for (uint32_t i = 0; i < count;) {
		struct link_group *group = &all->groups[first + groups++];
		uint32_t children = all->links[sorted[i]].children, width = 1;
		while (width < all->wide->lanes && i + width < count &&
		       keys[i + width] == keys[i] && children < CHILDREN_MAX)
			width++;
		group->lanes = (uint16_t)width;
		group->children = (uint16_t)children;
		for (uint32_t k = 0; k < TREE_GROUP_MAX; k++)
			group->link[k] = sorted[i + MIN_OF(k, width - 1)];
		i += width;
	}
	run->group_last = first + groups;
}

void soft_trees_plan_runs(struct soft_trees *all)
{
	uint32_t links = 0;
	all->run_count = all->closed_count = 0;
	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t k = 0; k < all->island_count; k++) {
			const struct soft_island *island = &all->islands[k];
			const struct soft_tree *last = &all->trees[island->tree_last - 1];
			struct tree_run *run = &all->runs[MAX_OF(all->run_count, 1u) - 1];
			if (island->closed != (pass == 0))
				continue;
			uint32_t more =
				last->first + last->count - all->trees[island->tree_first].first;
			bool joins = pass == 0 && all->run_count > 0 && run->island_last == k &&
				     k - run->island_first < all->wide->lanes &&
				     links + more <= RUN_LINKS_MAX;
			links = joins ? links + more : more;
			if (!joins) {
				run = &all->runs[all->run_count++];
				run->island_first = k;
			}
			run->island_last = k + 1;
		}
		if (pass == 0)
			all->closed_count = all->run_count;
	}
}
