/* See hierarchy.h. Walks two trees, or one with itself, without recursion (ch1-3 G-01, G-14, G-15).
 *
 * A stack holds the pairs of nodes that are still to be tested. A pair that overlaps and is not two leaves
 * is replaced by the pairs of the larger node's children with the other node (exercise 1), so two pairs
 * replace one and the stack holds at most the sum of the two depths. A node with itself is replaced by
 * left–left, right–right and left–right, so every unordered pair of leaves occurs once. A volume of b is
 * transformed to a's frame only when a pair with it is tested. The last transformed volume is cached,
 * because usually a's node changes first.
 */
#include "server/engine/collision/hierarchy.h"

/* True for a leaf, and for a node at the depth limit of the walk. */
static bool is_leaf(const struct hierarchy_walk *self, const struct hierarchy *tree, uint32_t node)
{
	VALIDATE(node < tree->node_count);
	return tree->nodes[node].left == HIERARCHY_LEAF ||
	       tree->nodes[node].depth >= self->depth_max;
}

/* A measure by which volumes of one kind are compared: surface, or radius. */
static double size_of(const struct hierarchy *tree, uint32_t node)
{
	VALIDATE(node < tree->node_count);
	if (tree->kind == HIERARCHY_AABB)
		return aabb_area(tree->boxes[node]);
	if (tree->kind == HIERARCHY_BALL)
		return tree->balls[node].radius;
	vec3 half = tree->obbs[node].half;
	return 8 * (half.x * half.y + half.y * half.z + half.z * half.x);
}

static struct obb box_of(const struct hierarchy *tree, uint32_t node)
{
	VALIDATE(node < tree->node_count);
	VALIDATE(tree->kind != HIERARCHY_BALL);
	return tree->kind == HIERARCHY_OBB ? tree->obbs[node] : obb_of_aabb(tree->boxes[node]);
}

/* Transforms a node of b to a's frame, unless it is cached. */
static void place_volume(struct hierarchy_walk *self, uint32_t node)
{
	VALIDATE(self->placed);
	VALIDATE(node < self->b->node_count);
	if (self->cached == node)
		return;
	self->cached = node;
	self->moved++;
	if (self->b->kind == HIERARCHY_BALL) {
		self->place.ball = self->b->balls[node];
		self->place.ball.centre =
			vec3_add(self->b_in_a.position,
				 mat3_mul_vec(self->rotation, self->place.ball.centre));
		/* The rounding error of the transformation. */
		vec3 far = vec3_add(vec3_abs(self->place.ball.centre),
				    vec3_abs(self->b_in_a.position));
		self->place.ball.radius += 8 * SCALAR_EPSILON * (far.x + far.y + far.z);
	} else {
		struct obb box = box_of(self->b, node);
		self->place.obb = obb_placed(&box, &self->b_in_a, &self->rotation);
	}
}

static bool nodes_overlap(struct hierarchy_walk *self, uint32_t a, uint32_t b)
{
	VALIDATE(a < self->a->node_count && b < self->b->node_count);
	self->tested++;
	if (self->placed)
		place_volume(self, b);
	if (self->a->kind == HIERARCHY_BALL)
		return intersect_sphere_sphere(self->a->balls[a],
					       self->placed ? self->place.ball : self->b->balls[b]);
	if (self->a->kind == HIERARCHY_AABB && !self->placed)
		return aabb_overlaps(self->a->boxes[a], self->b->boxes[b]);
	struct obb one = box_of(self->a, a);
	return intersect_obb_obb(&one, self->placed ? &self->place.obb : &self->b->obbs[b]);
}

static void push_nodes(struct hierarchy_walk *self, uint32_t a, uint32_t b)
{
	ASSERT(self->depth < COUNT_OF(self->stack));
	self->stack[self->depth].a = a;
	self->stack[self->depth].b = b;
	self->depth++;
}

static void start_walk(struct hierarchy_walk *self, const struct hierarchy *a,
		       const struct hierarchy *b)
{
	ASSERT(a->node_count > 0 && b->node_count > 0);
	ASSERT(a->kind == b->kind);
	self->a = a;
	self->b = b;
	self->self = self->placed = self->in_leaves = false;
	self->depth = 0;
	self->cached = HIERARCHY_LEAF;
	self->tested = self->moved = 0;
	self->depth_max = UINT32_MAX;
	push_nodes(self, hierarchy_root(a), hierarchy_root(b));
}

void hierarchy_walk_pair(struct hierarchy_walk *self, const struct hierarchy *a,
			 const struct hierarchy *b, const pose *b_in_a)
{
	start_walk(self, a, b);
	if (b_in_a == NULL)
		return;
	self->placed = true;
	self->b_in_a = *b_in_a;
	self->rotation = mat3_from_quat(b_in_a->rotation);
}

void hierarchy_walk_self(struct hierarchy_walk *self, const struct hierarchy *tree)
{
	start_walk(self, tree, tree);
	self->self = true;
	VALIDATE(self->a == self->b && !self->placed);
}

static void descend_nodes(struct hierarchy_walk *self, uint32_t a, uint32_t b)
{
	VALIDATE(!is_leaf(self, self->a, a) || !is_leaf(self, self->b, b));
	const struct hierarchy_node *of_a = &self->a->nodes[a], *of_b = &self->b->nodes[b];
	if (self->self && a == b) {
		push_nodes(self, of_a->left, of_a->right);
		push_nodes(self, of_a->right, of_a->right);
		push_nodes(self, of_a->left, of_a->left);
	} else if (is_leaf(self, self->b, b) ||
		   (!is_leaf(self, self->a, a) && size_of(self->a, a) >= size_of(self->b, b))) {
		push_nodes(self, of_a->right, b);
		push_nodes(self, of_a->left, b);
	} else {
		push_nodes(self, a, of_b->right);
		push_nodes(self, a, of_b->left);
	}
}

/* The next pair of primitives of the current leaves. */
static bool next_in_leaves(struct hierarchy_walk *self, uint32_t *i, uint32_t *j)
{
	const struct hierarchy_node *a = &self->a->nodes[self->leaf_a];
	const struct hierarchy_node *b = &self->b->nodes[self->leaf_b];
	bool same = self->self && self->leaf_a == self->leaf_b;
	if (self->next_b >= b->count) {
		self->next_a++;
		self->next_b = same ? self->next_a + 1 : 0;
	}
	if (self->next_a >= a->count || self->next_b >= b->count)
		return false;
	uint32_t one = self->a->order[a->first + self->next_a];
	uint32_t other = self->b->order[b->first + self->next_b];
	self->next_b++;
	*i = self->self ? MIN_OF(one, other) : one;
	*j = self->self ? MAX_OF(one, other) : other;
	return true;
}

bool hierarchy_walk_next_nodes(struct hierarchy_walk *self)
{
	while (self->depth > 0) {
		self->depth--;
		uint32_t a = self->stack[self->depth].a, b = self->stack[self->depth].b;
		bool same = self->self && a == b;
		if (!same && !nodes_overlap(self, a, b))
			continue;
		if (!is_leaf(self, self->a, a) || !is_leaf(self, self->b, b)) {
			descend_nodes(self, a, b);
			continue;
		}
		self->leaf_a = a;
		self->leaf_b = b;
		self->next_a = 0;
		self->next_b = same ? 1 : 0;
		return true;
	}
	return false;
}

bool hierarchy_walk_next(struct hierarchy_walk *self, uint32_t *i, uint32_t *j)
{
	for (;;) {
		if (self->in_leaves && next_in_leaves(self, i, j))
			return true;
		self->in_leaves = hierarchy_walk_next_nodes(self);
		if (!self->in_leaves)
			return false;
	}
}
