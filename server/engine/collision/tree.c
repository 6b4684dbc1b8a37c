/* See tree.h.
 *
 * The cost of a tree is the sum of the surfaces of its inner boxes, because the probability that a ray or a
 * box meets a node grows with the node's surface. A new leaf descends from the root to where it adds least
 * surface: at each node it may stop (become the node's sibling) or descend into a child, which costs the
 * growth of the child plus the growth of all boxes above. A lower bound of descending is compared with
 * stopping. Each ancestor may then exchange one child with a child of the other if that shrinks the box
 * between them (a rotation), so the long chains of sorted insertions are balanced.
 *
 * A leaf whose box changes stays where it is, and the boxes above are fitted. Only if one of these grows
 * too loose for its children (LOOSE) the leaf is inserted anew.
 *
 * Invariants (tree_check): 1. an inner node's box is the union of its children's; 2. links agree
 * both ways; 3. inner nodes = leaves − 1.
 */
#include "server/engine/collision/tree.h"

#include <string.h>

#include "server/base/heap.h"

enum {
	NODES_MIN = 64,
};

/* Half the surface: all comparisons are of the same measure. */
static inline double box_cost(const struct aabb *a)
{
	double x = a->max.x - a->min.x, y = a->max.y - a->min.y, z = a->max.z - a->min.z;
	return x * y + y * z + z * x;
}

static inline struct aabb box_union(const struct aabb *a, const struct aabb *b)
{
	return (struct aabb){ vec3_min(a->min, b->min), vec3_max(a->max, b->max) };
}

/* Without branches, because none of the six comparisons is predictable. */
static inline bool box_overlaps(const struct aabb *a, const struct aabb *b)
{
	return (a->min.x <= b->max.x) & (b->min.x <= a->max.x) & (a->min.y <= b->max.y) &
	       (b->min.y <= a->max.y) & (a->min.z <= b->max.z) & (b->min.z <= a->max.z);
}

static inline bool is_leaf(const struct tree_node *node)
{
	return node->child[0] == TREE_NONE;
}

/* ---- pool ------------------------------------------------------------------------------------- */

static void pool_link(struct tree *self, uint32_t first)
{
	for (uint32_t i = self->capacity; i-- > first;) {
		self->nodes[i].parent = self->free;
		self->free = i;
	}
}

void tree_init(struct tree *self)
{
	*self = (struct tree){ NULL, 0, 0, TREE_NONE, TREE_NONE };
}

void tree_release(struct tree *self)
{
	heap_free(self->nodes);
	tree_init(self);
}

void tree_reset(struct tree *self)
{
	self->leaf_count = 0;
	self->root = self->free = TREE_NONE;
	pool_link(self, 0);
}

enum status tree_reserve(struct tree *self, uint32_t leaves)
{
	uint64_t wanted = leaves == 0 ? 0 : 2 * (uint64_t)leaves - 1;
	if (wanted <= self->capacity)
		return STATUS_OK;
	uint64_t capacity =
		MAX_OF(wanted, MAX_OF((uint64_t)NODES_MIN, 2 * (uint64_t)self->capacity));
	if (capacity >= TREE_NONE)
		return STATUS_NO_MEMORY;
	struct tree_node *nodes = heap_alloc_aligned((size_t)capacity * sizeof *nodes);
	if (nodes == NULL)
		return STATUS_NO_MEMORY;
	if (self->capacity > 0)
		memcpy(nodes, self->nodes, self->capacity * sizeof *nodes);
	heap_free(self->nodes);
	self->nodes = nodes;
	uint32_t first = self->capacity;
	self->capacity = (uint32_t)capacity;
	pool_link(self, first);
	ASSERT(self->capacity >= wanted);
	ASSERT(self->free != TREE_NONE);
	return STATUS_OK;
}

static uint32_t node_take(struct tree *self)
{
	ASSERT(self->free != TREE_NONE);
	uint32_t index = self->free;
	self->free = self->nodes[index].parent;
	return index;
}

static void node_give(struct tree *self, uint32_t index)
{
	VALIDATE(index < self->capacity);
	self->nodes[index].parent = self->free;
	self->free = index;
}

/* ---- insertion and removal -------------------------------------------------------------------- */

/* The node beside which a leaf with this box adds least surface. */
static uint32_t best_sibling(const struct tree *self, const struct aabb *box)
{
	ASSERT(self->root != TREE_NONE);
	const struct tree_node *nodes = self->nodes;
	double leaf_cost = box_cost(box);
	uint32_t at = self->root;
	struct aabb joined = box_union(&nodes[at].box, box);
	double joined_cost = box_cost(&joined);
	double inherited = 0; /* growth of all boxes above `at` */
	while (!is_leaf(&nodes[at])) {
		/* Staying makes a new parent of the joined box. */
		double stay = inherited + joined_cost;
		inherited += joined_cost - box_cost(&nodes[at].box);
		double lower[2], child_joined[2];
		for (int i = 0; i < 2; i++) {
			const struct tree_node *child = &nodes[nodes[at].child[i]];
			struct aabb both = box_union(&child->box, box);
			child_joined[i] = box_cost(&both);
			/* Beside a leaf: exact. Into an inner node: it grows, and at best a new
			 * parent no larger than the leaf itself follows. */
			double below = is_leaf(child) ? child_joined[i]
						      : child_joined[i] - box_cost(&child->box) +
								leaf_cost;
			lower[i] = inherited + below;
		}
		if (stay <= lower[0] && stay <= lower[1])
			break;
		int side = lower[1] < lower[0];
		at = nodes[at].child[side];
		joined_cost = child_joined[side];
	}
	VALIDATE(at < self->capacity);
	return at;
}

static void child_replace(struct tree *self, uint32_t parent, uint32_t old, uint32_t new)
{
	VALIDATE(new < self->capacity &&new != old);
	VALIDATE(parent == TREE_NONE || self->nodes[parent].child[0] == old ||
		 self->nodes[parent].child[1] == old);
	if (parent == TREE_NONE)
		self->root = new;
	else
		self->nodes[parent].child[self->nodes[parent].child[1] == old] = new;
	self->nodes[new].parent = parent;
}

/* Exchanges child `i` of `at` with child `j` of its other child, if that shrinks the other
 * child's box more than any of the four ways does; the box of `at` stays the same. */
static void rotate_node(struct tree *self, uint32_t at)
{
	VALIDATE(!is_leaf(&self->nodes[at]));
	struct tree_node *nodes = self->nodes;
	double best = 0;
	int best_i = -1, best_j = -1;
	for (int i = 0; i < 2; i++) {
		uint32_t moved = nodes[at].child[i], other = nodes[at].child[1 - i];
		if (is_leaf(&nodes[other]))
			continue;
		double now = box_cost(&nodes[other].box);
		for (int j = 0; j < 2; j++) {
			/* `moved` takes the place of grandchild j; grandchild 1 − j stays beside it. */
			struct aabb box =
				box_union(&nodes[moved].box, &nodes[nodes[other].child[1 - j]].box);
			double gain = now - box_cost(&box);
			if (gain > best) {
				best = gain;
				best_i = i;
				best_j = j;
			}
		}
	}
	if (best_i < 0)
		return;
	uint32_t moved = nodes[at].child[best_i], other = nodes[at].child[1 - best_i];
	uint32_t grandchild = nodes[other].child[best_j];
	nodes[at].child[best_i] = grandchild;
	nodes[grandchild].parent = at;
	nodes[other].child[best_j] = moved;
	nodes[moved].parent = other;
	nodes[other].box =
		box_union(&nodes[nodes[other].child[0]].box, &nodes[nodes[other].child[1]].box);
}

/* Fits boxes from `at` to the root. */
static void refit_node(struct tree *self, uint32_t at, bool rotating)
{
	while (at != TREE_NONE) {
		struct tree_node *node = &self->nodes[at];
		struct aabb box = box_union(&self->nodes[node->child[0]].box,
					    &self->nodes[node->child[1]].box);
		/* A box that did not shrink leaves all those above as they are. */
		if (!rotating && vec3_equal(box.min, node->box.min) &&
		    vec3_equal(box.max, node->box.max))
			return;
		node->box = box;
		if (rotating)
			rotate_node(self, at);
		at = node->parent;
	}
}

static void leaf_link(struct tree *self, uint32_t leaf)
{
	VALIDATE(leaf < self->capacity && is_leaf(&self->nodes[leaf]));
	struct tree_node *nodes = self->nodes;
	if (self->root == TREE_NONE) {
		self->root = leaf;
		nodes[leaf].parent = TREE_NONE;
		return;
	}
	uint32_t sibling = best_sibling(self, &nodes[leaf].box);
	uint32_t parent = node_take(self);
	nodes[parent].item = TREE_NONE;
	child_replace(self, nodes[sibling].parent, sibling, parent);
	nodes[parent].child[0] = sibling;
	nodes[parent].child[1] = leaf;
	nodes[sibling].parent = nodes[leaf].parent = parent;
	VALIDATE(sibling != leaf && sibling != parent);
	refit_node(self, parent, true);
}

static void leaf_unlink(struct tree *self, uint32_t leaf)
{
	VALIDATE(leaf < self->capacity && is_leaf(&self->nodes[leaf]));
	struct tree_node *nodes = self->nodes;
	uint32_t parent = nodes[leaf].parent;
	if (parent == TREE_NONE) {
		self->root = TREE_NONE;
		return;
	}
	uint32_t sibling = nodes[parent].child[nodes[parent].child[0] == leaf];
	uint32_t above = nodes[parent].parent;
	child_replace(self, above, parent, sibling);
	node_give(self, parent);
	refit_node(self, above, false);
}

uint32_t tree_insert(struct tree *self, const struct aabb *box, uint32_t item)
{
	ASSERT(item != TREE_NONE);
	uint32_t leaf = node_take(self);
	self->nodes[leaf] = (struct tree_node){ *box, TREE_NONE, { TREE_NONE, TREE_NONE }, item };
	self->leaf_count++;
	leaf_link(self, leaf);
	return leaf;
}

void tree_remove(struct tree *self, uint32_t leaf)
{
	ASSERT(self->leaf_count > 0);
	VALIDATE(leaf < self->capacity && is_leaf(&self->nodes[leaf]));
	leaf_unlink(self, leaf);
	node_give(self, leaf);
	self->leaf_count--;
}

/* 1, of the sum of its children's costs: a node whose cost exceeds that, and grows, is a bad one. Larger:
 * walks visit more nodes; smaller: more leaves are taken out and inserted again. */
#define LOOSE 1.2

/* Fits the boxes above a leaf whose box has changed. False: one has become bad. */
static bool refit_leaf(struct tree *self, uint32_t leaf)
{
	struct tree_node *nodes = self->nodes;
	bool good = true;
	for (uint32_t at = nodes[leaf].parent; at != TREE_NONE; at = nodes[at].parent) {
		const struct aabb *a = &nodes[nodes[at].child[0]].box;
		const struct aabb *b = &nodes[nodes[at].child[1]].box;
		struct aabb box = box_union(a, b);
		if (vec3_equal(box.min, nodes[at].box.min) &&
		    vec3_equal(box.max, nodes[at].box.max))
			break;
		double cost = box_cost(&box);
		good = good && (cost <= box_cost(&nodes[at].box) ||
				cost <= LOOSE * (box_cost(a) + box_cost(b)));
		nodes[at].box = box;
	}
	return good;
}

/* A leaf stays in its place while boxes above stay good: what falls or flies together keeps its tree. */
void tree_move(struct tree *self, uint32_t leaf, const struct aabb *box)
{
	struct aabb *own = &self->nodes[leaf].box;
	VALIDATE(leaf < self->capacity && is_leaf(&self->nodes[leaf]));
	if (vec3_equal(own->min, box->min) && vec3_equal(own->max, box->max))
		return; /* no result depends on the position of a leaf in the tree */
	*own = *box;
	if (refit_leaf(self, leaf))
		return;
	leaf_unlink(self, leaf);
	leaf_link(self, leaf);
}

/* ---- walks ------------------------------------------------------------------------------------ */

/* The next leaf of the subtree `below` that meets `box`: `at` is a node just arrived at from above, or one
 * that is left behind with all below it, by going to the next right-hand neighbour of the path. */
static uint32_t walk_on(const struct tree_node *nodes, const struct aabb *box, uint32_t below,
			uint32_t at, bool left)
{
	VALIDATE(below != TREE_NONE && at != TREE_NONE);
	for (;;) {
		if (!left && box_overlaps(&nodes[at].box, box)) {
			if (is_leaf(&nodes[at]))
				return at;
			at = nodes[at].child[0];
			continue;
		}
		while (at != below && nodes[nodes[at].parent].child[1] == at)
			at = nodes[at].parent;
		if (at == below)
			return TREE_NONE;
		at = nodes[nodes[at].parent].child[1];
		left = false;
	}
}

struct tree_walk tree_walk_begin(const struct tree *tree, const struct aabb *box)
{
	struct tree_walk self;
	self.tree = tree;
	self.box = box;
	self.below = TREE_NONE;
	self.left[0] = tree->root;
	self.count = tree->root != TREE_NONE && box_overlaps(&tree->nodes[tree->root].box, box);
	return self;
}

uint32_t tree_walk_next(struct tree_walk *self)
{
	const struct tree_node *nodes = self->tree->nodes;
	uint32_t count = self->count;
	if (self->below != TREE_NONE) {
		self->leaf = walk_on(nodes, self->box, self->below, self->leaf, true);
		if (self->leaf != TREE_NONE)
			return self->leaf;
		self->below = TREE_NONE;
	}
	while (count > 0) {
		uint32_t at = self->left[--count];
		if (is_leaf(&nodes[at])) {
			self->count = count;
			return at;
		}
		if (count + 2 > TREE_WALK_LEFT) {
			self->leaf = walk_on(nodes, self->box, at, nodes[at].child[0], false);
			if (self->leaf == TREE_NONE)
				continue;
			self->below = at;
			self->count = count;
			return self->leaf;
		}
		/* Without a branch, because the results are not predictable. */
		uint32_t first = nodes[at].child[0], second = nodes[at].child[1];
		self->left[count] = second;
		count += box_overlaps(&nodes[second].box, self->box);
		self->left[count] = first;
		count += box_overlaps(&nodes[first].box, self->box);
	}
	self->count = 0;
	return TREE_NONE;
}

static double inverse_of(double d)
{
	double inverse = 1.0 / d;
	return scalar_is_finite(inverse) ? inverse : scalar_copy_sign(SCALAR_MAX, d);
}

struct tree_ray tree_ray_make(vec3 origin, vec3 direction, double fraction_max)
{
	vec3 inverse = { inverse_of(direction.x), inverse_of(direction.y),
			 inverse_of(direction.z) };
	return (struct tree_ray){ origin, direction, fraction_max, inverse };
}

bool tree_ray_meets(const struct tree_ray *ray, const struct aabb *box)
{
	double enter = 0, leave = ray->fraction_max;
	for (uint32_t axis = 0; axis < 3; axis++) {
		double from = vec3_get(ray->origin, axis),
		       inverse = vec3_get(ray->direction_inv, axis);
		double low = vec3_get(box->min, axis) - from,
		       high = vec3_get(box->max, axis) - from;
		/* In the slab for all fractions; the product with a huge inverse says nothing there. */
		if (low <= 0 && high >= 0 && scalar_abs(inverse) == SCALAR_MAX)
			continue;
		double one = low * inverse, other = high * inverse;
		/* A few units of rounding wider, so that no box is missed that is truly met. */
		enter = scalar_max(enter, scalar_min(one, other) * (1 - 4 * SCALAR_EPSILON));
		leave = scalar_min(leave, scalar_max(one, other) * (1 + 4 * SCALAR_EPSILON));
	}
	return enter <= leave;
}

/* Which child the ray reaches first: a function of the node alone, so that the way back up can ask
 * again instead of remembering. */
static uint32_t near_side(const struct tree_node *nodes, uint32_t at, vec3 direction)
{
	VALIDATE(!is_leaf(&nodes[at]));
	const struct aabb *a = &nodes[nodes[at].child[0]].box, *b = &nodes[nodes[at].child[1]].box;
	vec3 apart = vec3_sub(vec3_add(b->min, b->max), vec3_add(a->min, a->max));
	return vec3_dot(apart, direction) < 0;
}

/* The next subtree in the ray's order after leaving `at` behind, or TREE_NONE. */
static uint32_t ray_leave(const struct tree_node *nodes, const struct tree_ray *ray, uint32_t at)
{
	for (;;) {
		uint32_t parent = nodes[at].parent;
		if (parent == TREE_NONE)
			return TREE_NONE;
		uint32_t near = near_side(nodes, parent, ray->direction);
		if (nodes[parent].child[near] == at)
			return nodes[parent].child[1 - near];
		at = parent;
	}
}

static uint32_t ray_walk(const struct tree_node *nodes, const struct tree_ray *ray, uint32_t at)
{
	while (at != TREE_NONE) {
		if (!tree_ray_meets(ray, &nodes[at].box))
			at = ray_leave(nodes, ray, at);
		else if (is_leaf(&nodes[at]))
			return at;
		else
			at = nodes[at].child[near_side(nodes, at, ray->direction)];
	}
	return TREE_NONE;
}

uint32_t tree_ray_first(const struct tree *self, const struct tree_ray *ray)
{
	return ray_walk(self->nodes, ray, self->root);
}

uint32_t tree_ray_next(const struct tree *self, const struct tree_ray *ray, uint32_t leaf)
{
	VALIDATE(leaf < self->capacity && is_leaf(&self->nodes[leaf]));
	return ray_walk(self->nodes, ray, ray_leave(self->nodes, ray, leaf));
}

/* ---- statistics and checks -------------------------------------------------------------------- */

static uint32_t depth_of(const struct tree *self, uint32_t node)
{
	VALIDATE(node < self->capacity);
	uint32_t depth = 0;
	for (; self->nodes[node].parent != TREE_NONE; node = self->nodes[node].parent)
		depth++;
	return depth;
}

uint32_t tree_height(const struct tree *self)
{
	struct aabb all = { vec3_all(-SCALAR_MAX), vec3_all(SCALAR_MAX) };
	uint32_t height = 0;
	struct tree_walk walk = tree_walk_begin(self, &all);
	for (uint32_t n = tree_walk_next(&walk); n != TREE_NONE; n = tree_walk_next(&walk))
		height = MAX_OF(height, depth_of(self, n));
	return height;
}

void tree_check(const struct tree *self)
{
	struct aabb all = { vec3_all(-SCALAR_MAX), vec3_all(SCALAR_MAX) };
	uint32_t leaves = 0, free = 0;
	struct tree_walk walk = tree_walk_begin(self, &all);
	for (uint32_t n = tree_walk_next(&walk); n != TREE_NONE; n = tree_walk_next(&walk)) {
		leaves++;
		ASSERT(self->nodes[n].item != TREE_NONE);
		for (uint32_t at = n; at != self->root;) {
			uint32_t parent = self->nodes[at].parent;
			const struct tree_node *node = &self->nodes[parent];
			ASSERT(node->child[0] == at || node->child[1] == at);
			struct aabb box = box_union(&self->nodes[node->child[0]].box,
						    &self->nodes[node->child[1]].box);
			ASSERT(vec3_equal(box.min, node->box.min));
			ASSERT(vec3_equal(box.max, node->box.max));
			at = parent;
		}
	}
	ASSERT(leaves == self->leaf_count);
	for (uint32_t n = self->free; n != TREE_NONE; n = self->nodes[n].parent)
		free++;
	ASSERT(free + (leaves == 0 ? 0 : 2 * leaves - 1) == self->capacity);
}
