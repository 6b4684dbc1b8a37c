/* broad_sweep.c: the kind `sweep`: a world tree over whole motions (ch1-3 G-13, G-02, G-08, G-15).
 *
 * The box of a leaf bounds the motion of its proxy until the next search for pairs. One tree holds all
 * proxies. It is built from the top: a set is split across its longest axis at the mean of its centres; if
 * that leaves one side empty, across the second or third axis; if all do, in the middle of its order.
 * Nodes are stored by decreasing depth (children before parents), so one forward pass refits all boxes.
 * Pairs are found by walking the tree against itself.
 *
 * The tree is rebuilt when proxies were added, half of them were removed, or its area exceeds GROWTH times
 * the area at the last build. Between two searches for pairs a move enlarges the boxes of all ancestors,
 * a new proxy is stored in a waiting list that queries also search, and a removed one leaves an empty leaf.
 */
#include "server/engine/collision/broad_kind.h"
#include "server/engine/collision/tree.h"

#define NONE UINT32_MAX
#define GROWTH 2.0 /* of the area; more: slower searches, less: more rebuilds */

/* Below SPLIT_DEPTH_MAX sets are halved, so at most 32 more levels follow: stacks have a fixed size. */
enum { SPLIT_DEPTH_MAX = 40, DEPTH_MAX = SPLIT_DEPTH_MAX + 32 };

struct sweep_node {
	struct aabb box;
	uint32_t left, right; /* NONE: a leaf */
	uint32_t parent;      /* NONE: the root */
	uint32_t slot;	      /* of a leaf's proxy; NONE: an empty leaf or an inner node */
	bool moves;	      /* the subtree has a proxy that is not still */
	bool moved; /* the subtree has a proxy with PROXY_MOVED; valid during a search for pairs */
};

/* A set to be split: order[first … first + count). */
struct sweep_set {
	uint32_t first, count, depth;
};

struct sweep_proxy {
	struct aabb box;
	uint32_t node;	  /* its leaf; NONE: it is in the waiting list */
	uint32_t waiting; /* index in the waiting list, if node is NONE */
	bool still;
};

struct broad_index {
	ARRAY_OF(struct sweep_proxy) proxies; /* by slot */
	ARRAY_OF(struct sweep_node) nodes;    /* the root last; children before parents */
	ARRAY_OF(struct sweep_set) sets;      /* of the nodes, while building */
	ARRAY_OF(uint32_t) order, scratch, waiting;
	uint32_t living;   /* leaves with a proxy */
	double area_built; /* m², of all inner nodes */
	bool stale;	   /* boxes above leaves may be too large */
	struct broad_phase_work work;
};

/* ---- life ------------------------------------------------------------------------------------- */

static struct broad_index *create_sweep(void)
{
	return heap_alloc_zero(sizeof(struct broad_index));
}

static void destroy_sweep(struct broad_index *index)
{
	ARRAY_RELEASE(&index->proxies);
	ARRAY_RELEASE(&index->nodes);
	ARRAY_RELEASE(&index->sets);
	ARRAY_RELEASE(&index->order);
	ARRAY_RELEASE(&index->scratch);
	ARRAY_RELEASE(&index->waiting);
	heap_free(index);
}

static void reset_sweep(struct broad_index *index)
{
	index->nodes.count = index->waiting.count = index->living = 0;
	index->stale = false;
}

static enum status reserve_sweep(struct broad_index *index, uint32_t slots)
{
	enum status status = ARRAY_RESERVE(&index->proxies, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->nodes, 2 * (uint64_t)slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->sets, 2 * (uint64_t)slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->order, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->scratch, slots);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&index->waiting, slots);
	return status;
}

static void add_sweep(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	ASSERT(slot < index->proxies.capacity);
	ASSERT(index->waiting.count < index->waiting.capacity);
	index->proxies.items[slot] =
		(struct sweep_proxy){ *box, NONE, index->waiting.count, still };
	index->waiting.items[index->waiting.count++] = slot;
}

static void remove_sweep(struct broad_index *index, uint32_t slot, bool still)
{
	UNUSED(still);
	const struct sweep_proxy *proxy = &index->proxies.items[slot];
	if (proxy->node == NONE) {
		ASSERT(proxy->waiting < index->waiting.count);
		ASSERT(index->waiting.items[proxy->waiting] == slot);
		uint32_t last = index->waiting.items[--index->waiting.count];
		index->waiting.items[proxy->waiting] = last;
		index->proxies.items[last].waiting = proxy->waiting;
		return;
	}
	ASSERT(proxy->node < index->nodes.count);
	struct sweep_node *leaf = &index->nodes.items[proxy->node];
	ASSERT(leaf->slot == slot && index->living > 0);
	leaf->slot = NONE;
	leaf->box = aabb_empty();
	index->living--;
	index->stale = true;
}

static void move_sweep(struct broad_index *index, uint32_t slot, bool still, const struct aabb *box)
{
	UNUSED(still);
	struct sweep_proxy *proxy = &index->proxies.items[slot];
	proxy->box = *box;
	if (proxy->node == NONE)
		return;
	ASSERT(proxy->node < index->nodes.count);
	struct sweep_node *nodes = index->nodes.items;
	ASSERT(nodes[proxy->node].slot == slot);
	nodes[proxy->node].box = *box;
	for (uint32_t n = nodes[proxy->node].parent; n != NONE; n = nodes[n].parent) {
		if (aabb_contains(nodes[n].box, *box))
			break;
		nodes[n].box = aabb_union(nodes[n].box, *box);
	}
	index->stale = true;
}

static const struct aabb *box_sweep(const struct broad_index *index, uint32_t slot, bool still)
{
	UNUSED(still);
	return &index->proxies.items[slot].box;
}

static struct broad_phase_work work_sweep(const struct broad_index *index)
{
	return index->work;
}

/* ---- building --------------------------------------------------------------------------------- */

static double centre_of(const struct broad_index *index, uint32_t slot, uint32_t axis)
{
	const struct aabb *box = &index->proxies.items[slot].box;
	return 0.5 * vec3_get(box->min, axis) + 0.5 * vec3_get(box->max, axis);
}

/* Stable partition of the set: centres below the mean first. Returns their number, or 0 and no change if
 * one side would be empty. */
static uint32_t partition_set(struct broad_index *index, const struct sweep_set *set, uint32_t axis)
{
	uint32_t *order = index->order.items + set->first, below = 0, above = 0;
	double sum = 0;
	for (uint32_t i = 0; i < set->count; i++)
		sum += centre_of(index, order[i], axis);
	double mean = sum / set->count;
	for (uint32_t i = 0; i < set->count; i++)
		below += centre_of(index, order[i], axis) < mean;
	if (below == 0 || below == set->count)
		return 0;
	below = 0;
	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t slot = order[i];
		if (centre_of(index, slot, axis) < mean)
			order[below++] = slot;
		else
			index->scratch.items[above++] = slot;
	}
	ASSERT(below + above == set->count);
	memcpy(order + below, index->scratch.items, above * sizeof *order);
	return below;
}

/* Orders the set into two parts, neither empty; returns the size of the first. */
static uint32_t split_set(struct broad_index *index, const struct sweep_set *set)
{
	struct aabb box = aabb_empty();
	ASSERT(set->count > 1);
	ASSERT(set->depth < DEPTH_MAX);
	if (set->depth >= SPLIT_DEPTH_MAX)
		return set->count / 2;
	for (uint32_t i = set->first; i < set->first + set->count; i++)
		for (uint32_t axis = 0; axis < 3; axis++) {
			double at = centre_of(index, index->order.items[i], axis);
			vec3_set(&box.min, axis, scalar_min(vec3_get(box.min, axis), at));
			vec3_set(&box.max, axis, scalar_max(vec3_get(box.max, axis), at));
		}
	vec3 extent = vec3_sub(box.max, box.min);
	for (uint32_t tries = 0; tries < 3; tries++) {
		uint32_t axis = vec3_largest_axis(extent);
		uint32_t below = partition_set(index, set, axis);
		if (below > 0)
			return below;
		vec3_set(&extent, axis, -1);
	}
	return set->count / 2;
}

/* Collects all proxies: the leaves of the old tree, then the waiting list. */
static void gather_slots(struct broad_index *index)
{
	uint32_t count = 0;
	for (uint32_t n = 0; n < index->nodes.count; n++)
		if (index->nodes.items[n].left == NONE && index->nodes.items[n].slot != NONE)
			index->order.items[count++] = index->nodes.items[n].slot;
	for (uint32_t i = 0; i < index->waiting.count; i++)
		index->order.items[count++] = index->waiting.items[i];
	ASSERT(count == index->living + index->waiting.count);
	ASSERT(count <= index->order.capacity);
	index->order.count = count;
	index->waiting.count = 0;
}

/* Builds the tree level by level from the root; node i of this order is stored at count - 1 - i. */
static void build_tree(struct broad_index *index)
{
	gather_slots(index);
	uint32_t count = index->order.count, made = 1;
	index->nodes.count = count > 0 ? 2 * count - 1 : 0;
	index->living = count;
	if (count == 0)
		return;
	uint32_t last = index->nodes.count - 1;
	index->sets.items[0] = (struct sweep_set){ 0, count, 0 };
	index->nodes.items[last].parent = NONE;
	for (uint32_t i = 0; i < made; i++) {
		struct sweep_set set = index->sets.items[i];
		struct sweep_node *node = &index->nodes.items[last - i];
		node->left = node->right = NONE;
		node->slot = set.count == 1 ? index->order.items[set.first] : NONE;
		node->moved = node->moves = false;
		if (set.count == 1) {
			index->proxies.items[node->slot].node = last - i;
			continue;
		}
		uint32_t left = split_set(index, &set);
		node->left = last - made;
		node->right = last - made - 1;
		index->nodes.items[node->left].parent = last - i;
		index->nodes.items[node->right].parent = last - i;
		index->sets.items[made++] = (struct sweep_set){ set.first, left, set.depth + 1 };
		index->sets.items[made++] =
			(struct sweep_set){ set.first + left, set.count - left, set.depth + 1 };
	}
	ASSERT(made == index->nodes.count);
	index->work.rebuilds++;
}

/* Refits all boxes (G-08); returns the area of all inner nodes, m². */
static double refit_boxes(struct broad_index *index)
{
	double area = 0;
	struct sweep_node *nodes = index->nodes.items;
	for (uint32_t n = 0; n < index->nodes.count; n++) {
		struct sweep_node *node = &nodes[n];
		if (node->left == NONE) {
			bool used = node->slot != NONE;
			node->box = used ? index->proxies.items[node->slot].box : aabb_empty();
			node->moves = used && !index->proxies.items[node->slot].still;
			continue;
		}
		node->box = aabb_union(nodes[node->left].box, nodes[node->right].box);
		node->moves = nodes[node->left].moves || nodes[node->right].moves;
		if (node->box.min.x <= node->box.max.x)
			area += aabb_area(node->box);
	}
	index->stale = false;
	return area;
}

static void prepare_sweep(struct broad_index *index, const uint32_t *moved, uint32_t count)
{
	UNUSED(moved);
	UNUSED(count);
	uint32_t leaves = (index->nodes.count + 1) / 2;
	bool anew = index->waiting.count > 0 || index->living < leaves / 2;
	if (!anew && index->stale)
		anew = refit_boxes(index) > GROWTH * index->area_built;
	if (!anew)
		return;
	build_tree(index);
	index->area_built = refit_boxes(index);
}

/* ---- pairs ------------------------------------------------------------------------------------ */

struct self_walk {
	const struct sweep_node *nodes;
	uint32_t depth;
	struct {
		uint32_t a, b;
	} stack[3 * DEPTH_MAX];
};

static void push_nodes(struct self_walk *walk, uint32_t a, uint32_t b)
{
	ASSERT(walk->depth < COUNT_OF(walk->stack));
	walk->stack[walk->depth].a = a;
	walk->stack[walk->depth].b = b;
	walk->depth++;
}

/* Descends into a pair of nodes (G-15): of two different nodes into the one with the larger area. */
static void open_pair(struct self_walk *walk, uint32_t a, uint32_t b)
{
	const struct sweep_node *of_a = &walk->nodes[a], *of_b = &walk->nodes[b];
	if (a == b) {
		push_nodes(walk, of_a->left, of_a->right);
		push_nodes(walk, of_a->right, of_a->right);
		push_nodes(walk, of_a->left, of_a->left);
	} else if (of_b->left == NONE ||
		   (of_a->left != NONE && aabb_area(of_a->box) >= aabb_area(of_b->box))) {
		push_nodes(walk, of_a->right, b);
		push_nodes(walk, of_a->left, b);
	} else {
		push_nodes(walk, a, of_b->right);
		push_nodes(walk, a, of_b->left);
	}
}

/* Finds the next two leaves whose boxes touch and of which one has moved and one is not still. */
static bool walk_next(struct self_walk *walk, uint32_t *one, uint32_t *other)
{
	while (walk->depth > 0) {
		walk->depth--;
		uint32_t a = walk->stack[walk->depth].a, b = walk->stack[walk->depth].b;
		const struct sweep_node *of_a = &walk->nodes[a], *of_b = &walk->nodes[b];
		if (!(of_a->moved || of_b->moved) || !(of_a->moves || of_b->moves))
			continue;
		bool leaves = of_a->left == NONE && of_b->left == NONE;
		if ((a == b && leaves) || (a != b && !aabb_overlaps(of_a->box, of_b->box)))
			continue;
		if (leaves) {
			*one = of_a->slot;
			*other = of_b->slot;
			return true;
		}
		open_pair(walk, a, b);
	}
	return false;
}

static void mark_moved(struct broad_index *index, const struct pair_search *search)
{
	struct sweep_node *nodes = index->nodes.items;
	for (uint32_t n = 0; n < index->nodes.count; n++) {
		struct sweep_node *node = &nodes[n];
		if (node->left != NONE)
			node->moved = nodes[node->left].moved || nodes[node->right].moved;
		else
			node->moved = node->slot != NONE &&
				      search->proxies[node->slot].flags & PROXY_MOVED;
	}
}

static enum status find_pairs(struct broad_index *index, const struct pair_search *search,
			      uint32_t limit, struct proxy_pairs *out)
{
	struct self_walk walk = { .nodes = index->nodes.items };
	uint32_t one, other;
	mark_moved(index, search);
	if (index->nodes.count > 0)
		push_nodes(&walk, index->nodes.count - 1, index->nodes.count - 1);
	while (walk_next(&walk, &one, &other)) {
		uint32_t a = MIN_OF(one, other), b = MAX_OF(one, other);
		if (search->filter != NULL && !search->filter(a, b, search->context))
			continue;
		if (out->count >= limit)
			return STATUS_LIMIT;
		enum status status = ARRAY_RESERVE(out, (uint64_t)out->count + 1);
		if (status != STATUS_OK)
			return status;
		out->items[out->count++] = pair_key(a, b);
	}
	return STATUS_OK;
}

/* ---- queries ---------------------------------------------------------------------------------- */

static void query_sweep(const struct broad_index *index, const struct aabb *box, proxy_visit *visit,
			void *context)
{
	uint32_t stack[DEPTH_MAX + 2], depth = 0;
	if (index->nodes.count > 0)
		stack[depth++] = index->nodes.count - 1;
	while (depth > 0) {
		const struct sweep_node *node = &index->nodes.items[stack[--depth]];
		if (!aabb_overlaps(node->box, *box))
			continue;
		if (node->left == NONE) {
			if (!visit(node->slot, context))
				return;
			continue;
		}
		stack[depth++] = node->right;
		stack[depth++] = node->left;
	}
	for (uint32_t i = 0; i < index->waiting.count; i++) {
		uint32_t slot = index->waiting.items[i];
		if (aabb_overlaps(index->proxies.items[slot].box, *box) && !visit(slot, context))
			return;
	}
}

/* Visits the proxy if the ray meets its box. False: the visit stops the query. */
static bool visit_ray_hit(const struct broad_index *index, uint32_t slot, struct tree_ray *ray,
			  proxy_ray_visit *visit, void *context)
{
	if (!tree_ray_meets(ray, &index->proxies.items[slot].box))
		return true;
	ray->fraction_max = visit(slot, ray->fraction_max, context);
	return ray->fraction_max >= 0;
}

static void ray_sweep(const struct broad_index *index, vec3 origin, vec3 direction,
		      double fraction_max, proxy_ray_visit *visit, void *context)
{
	struct tree_ray ray = tree_ray_make(origin, direction, fraction_max);
	uint32_t stack[DEPTH_MAX + 2], depth = 0;
	if (index->nodes.count > 0)
		stack[depth++] = index->nodes.count - 1;
	while (depth > 0) {
		const struct sweep_node *node = &index->nodes.items[stack[--depth]];
		/* The box of an empty leaf is inverted; the ray test is undefined for it. */
		if (node->box.min.x > node->box.max.x || !tree_ray_meets(&ray, &node->box))
			continue;
		if (node->left == NONE) {
			if (!visit_ray_hit(index, node->slot, &ray, visit, context))
				return;
			continue;
		}
		const struct aabb *l = &index->nodes.items[node->left].box;
		const struct aabb *r = &index->nodes.items[node->right].box;
		vec3 apart = vec3_sub(vec3_add(r->min, r->max), vec3_add(l->min, l->max));
		bool right_first = vec3_dot(apart, direction) < 0;
		stack[depth++] = right_first ? node->left : node->right;
		stack[depth++] = right_first ? node->right : node->left;
	}
	for (uint32_t i = 0; i < index->waiting.count; i++)
		if (!visit_ray_hit(index, index->waiting.items[i], &ray, visit, context))
			return;
}

const struct broad_kind broad_kind_sweep = {
	.name = "sweep",
	.create = create_sweep,
	.destroy = destroy_sweep,
	.reset = reset_sweep,
	.reserve = reserve_sweep,
	.add = add_sweep,
	.remove = remove_sweep,
	.move = move_sweep,
	.box = box_sweep,
	.prepare = prepare_sweep,
	.pairs = find_pairs,
	.query = query_sweep,
	.ray = ray_sweep,
	.work = work_sweep,
};
