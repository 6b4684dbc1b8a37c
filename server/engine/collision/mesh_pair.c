/* See mesh_pair.h. Walks two mesh hierarchies together.
 *
 * As in hierarchy_walk.c, the larger node of an overlapping pair is replaced by its children, so two pairs
 * replace one and the stack holds at most the sum of the two depths. Nodes are boxes along the axes of their
 * own mesh; the boxes of b are oriented boxes in a's frame.
 */
#include "server/engine/collision/mesh_pair.h"

void mesh_pair_init(struct mesh_pair *self, const struct mesh *a, const struct mesh *b,
		    const pose *b_in_a)
{
	ASSERT(a->triangle_count > 0 && b->triangle_count > 0);
	self->a = a;
	self->b = b;
	self->b_in_a = *b_in_a;
	self->rotation = mat3_from_quat(b_in_a->rotation);
	self->depth = 1;
	self->stack[0].a = self->stack[0].b = 0;
	self->cached = self->loaded = UINT32_MAX;
	self->in_leaves = false;
	self->tested = 0;
}

static struct aabb box_of(const struct mesh_node *node)
{
	return aabb_make(node->min, node->max);
}

static bool boxes_overlap(struct mesh_pair *self, uint32_t a, uint32_t b)
{
	self->tested++;
	if (self->cached != b) {
		struct obb box = obb_of_aabb(box_of(&self->b->nodes[b]));
		self->place = obb_placed(&box, &self->b_in_a, &self->rotation);
		self->cached = b;
	}
	struct obb one = obb_of_aabb(box_of(&self->a->nodes[a]));
	return intersect_obb_obb(&one, &self->place);
}

static void push_pair(struct mesh_pair *self, uint32_t a, uint32_t b)
{
	ASSERT(self->depth < COUNT_OF(self->stack));
	self->stack[self->depth].a = a;
	self->stack[self->depth].b = b;
	self->depth++;
}

static void descend_larger(struct mesh_pair *self, uint32_t a, uint32_t b)
{
	VALIDATE(self->a->nodes[a].count == 0 || self->b->nodes[b].count == 0);
	const struct mesh_node *of_a = &self->a->nodes[a], *of_b = &self->b->nodes[b];
	bool larger = aabb_area(box_of(of_a)) >= aabb_area(box_of(of_b));
	if (of_b->count > 0 || (of_a->count == 0 && larger)) {
		push_pair(self, of_a->first, b);
		push_pair(self, a + 1, b);
	} else {
		push_pair(self, a, of_b->first);
		push_pair(self, a, b + 1);
	}
}

static void load_triangle(struct mesh_pair *self, uint32_t triangle)
{
	VALIDATE(triangle < self->b->triangle_count);
	if (self->loaded == triangle)
		return;
	self->loaded = triangle;
	mesh_corners_at(self->b, triangle, &self->b_in_a, self->corners);
	self->box = aabb_add_point(aabb_of_point(self->corners[0]), self->corners[1]);
	self->box = aabb_add_point(self->box, self->corners[2]);
}

/* The outer loop is over b's triangles, so each is transformed to a's frame once for each pair of leaves. */
static bool next_in_leaves(struct mesh_pair *self, uint32_t *i, uint32_t *j)
{
	VALIDATE(self->a->nodes[self->leaf_a].count > 0);
	VALIDATE(self->b->nodes[self->leaf_b].count > 0);
	const struct mesh_node *a = &self->a->nodes[self->leaf_a],
			       *b = &self->b->nodes[self->leaf_b];
	for (; self->next_b < b->count; self->next_b++, self->next_a = 0) {
		*j = self->b->order[b->first + self->next_b];
		load_triangle(self, *j);
		while (self->next_a < a->count) {
			*i = self->a->order[a->first + self->next_a++];
			if (aabb_overlaps(mesh_triangle_aabb(self->a, *i), self->box))
				return true;
		}
	}
	return false;
}

bool mesh_pair_next(struct mesh_pair *self, uint32_t *i, uint32_t *j)
{
	for (;;) {
		if (self->in_leaves && next_in_leaves(self, i, j))
			return true;
		self->in_leaves = false;
		if (self->depth == 0)
			return false;
		self->depth--;
		uint32_t a = self->stack[self->depth].a, b = self->stack[self->depth].b;
		if (!boxes_overlap(self, a, b))
			continue;
		if (self->a->nodes[a].count == 0 || self->b->nodes[b].count == 0) {
			descend_larger(self, a, b);
			continue;
		}
		self->in_leaves = true;
		self->leaf_a = a;
		self->leaf_b = b;
		self->next_a = self->next_b = 0;
	}
}
