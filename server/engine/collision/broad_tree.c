/* broad_tree.c: the kind `tree`: two dynamic trees.
 *
 * Static proxies and the others are stored in a tree each. The partners of a moved proxy are searched in
 * the moving tree and, unless the proxy is static itself, also in the still tree.
 */
#include "server/engine/collision/broad_kind.h"
#include "server/engine/collision/tree.h"

enum { STILL = 0, MOVING = 1 };

struct broad_index {
	struct tree trees[2];
	ARRAY_OF(uint32_t) leaves; /* by slot; count is not used */
};

static struct broad_index *create_tree(void)
{
	struct broad_index *index = heap_alloc_zero(sizeof *index);
	if (index == NULL)
		return NULL;
	tree_init(&index->trees[STILL]);
	tree_init(&index->trees[MOVING]);
	return index;
}

static void destroy_tree(struct broad_index *index)
{
	tree_release(&index->trees[STILL]);
	tree_release(&index->trees[MOVING]);
	ARRAY_RELEASE(&index->leaves);
	heap_free(index);
}

static void reset_tree(struct broad_index *index)
{
	tree_reset(&index->trees[STILL]);
	tree_reset(&index->trees[MOVING]);
}

static enum status reserve_tree(struct broad_index *index, uint32_t slots)
{
	enum status status = tree_reserve(&index->trees[STILL], slots);
	if (status == STATUS_OK)
		status = tree_reserve(&index->trees[MOVING], slots);
	return status == STATUS_OK ? ARRAY_RESERVE(&index->leaves, slots) : status;
}

static void add_tree(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	ASSERT(slot < index->leaves.capacity);
	index->leaves.items[slot] = tree_insert(&index->trees[still ? STILL : MOVING], box, slot);
}

static void remove_leaf(struct broad_index *index, uint32_t slot, bool still)
{
	ASSERT(slot < index->leaves.capacity);
	tree_remove(&index->trees[still ? STILL : MOVING], index->leaves.items[slot]);
}

static void move_tree(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	ASSERT(slot < index->leaves.capacity);
	tree_move(&index->trees[still ? STILL : MOVING], index->leaves.items[slot], box);
}

static const struct aabb *box_of(const struct broad_index *index, uint32_t slot, bool still)
{
	ASSERT(slot < index->leaves.capacity);
	return &index->trees[still ? STILL : MOVING].nodes[index->leaves.items[slot]].box;
}

static void partners_of(const struct broad_index *index, const struct pair_search *search,
			uint32_t slot, bool still, struct partners *out)
{
	const struct aabb *box = box_of(index, slot, still);
	struct partners found = *out; /* A local copy stays in registers: `out` might alias. */
	for (int t = still ? MOVING : STILL; t <= MOVING; t++) {
		const struct tree *tree = &index->trees[t];
		struct tree_walk walk = tree_walk_begin(tree, box);
		for (uint32_t n = tree_walk_next(&walk); n != TREE_NONE;
		     n = tree_walk_next(&walk)) {
			uint32_t partner = tree->nodes[n].item;
			if (pair_is_wanted(search, slot, partner))
				partners_add(&found, slot, partner);
		}
	}
	*out = found;
}

static void query_trees(const struct broad_index *index, int first, const struct aabb *box,
			proxy_visit *visit, void *context)
{
	for (int t = first; t <= MOVING; t++) {
		const struct tree *tree = &index->trees[t];
		struct tree_walk walk = tree_walk_begin(tree, box);
		for (uint32_t n = tree_walk_next(&walk); n != TREE_NONE; n = tree_walk_next(&walk))
			if (!visit(tree->nodes[n].item, context))
				return;
	}
}

static void query_all(const struct broad_index *index, const struct aabb *box, proxy_visit *visit,
		      void *context)
{
	query_trees(index, STILL, box, visit, context);
}

static void query_moving(const struct broad_index *index, const struct aabb *box,
			 proxy_visit *visit, void *context)
{
	query_trees(index, MOVING, box, visit, context);
}

static void ray_trees(const struct broad_index *index, vec3 origin, vec3 direction,
		      double fraction_max, proxy_ray_visit *visit, void *context)
{
	struct tree_ray ray = tree_ray_make(origin, direction, fraction_max);
	for (int t = STILL; t <= MOVING; t++) {
		const struct tree *tree = &index->trees[t];
		for (uint32_t n = tree_ray_first(tree, &ray); n != TREE_NONE;
		     n = tree_ray_next(tree, &ray, n)) {
			ray.fraction_max = visit(tree->nodes[n].item, ray.fraction_max, context);
			if (ray.fraction_max < 0)
				return;
		}
	}
}

const struct broad_kind broad_kind_tree = {
	.name = "tree",
	.create = create_tree,
	.destroy = destroy_tree,
	.reset = reset_tree,
	.reserve = reserve_tree,
	.add = add_tree,
	.remove = remove_leaf,
	.move = move_tree,
	.box = box_of,
	.partners = partners_of,
	.query = query_all,
	.query_moving = query_moving,
	.ray = ray_trees,
};
