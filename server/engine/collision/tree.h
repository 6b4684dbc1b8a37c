/* tree.h: a dynamic bounding volume tree: finds the leaves that a box touches or a ray crosses.
 *
 * A leaf has an item (a number of the caller's) and a box; every other node has two children and the union
 * of their boxes. The shape of the tree depends on its history and is
 * *not* part of any result: a query finds a set of leaves, which depends only on the boxes. The order of
 * the leaves does depend on the shape, so callers sort them or use only what does not depend on order (the
 * nearest hit, ties by item). Therefore the tree need not be saved.
 *
 * Walks use a short list and no recursion. If the list is full, and for rays, the next node follows from a
 * node and its parent.
 */
#ifndef CAIRN_ENGINE_COLLISION_TREE_H
#define CAIRN_ENGINE_COLLISION_TREE_H

#include "server/base/status.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/math/vec3.h"

#define TREE_NONE UINT32_MAX

/* One cache line. */
struct tree_node {
	struct aabb box;
	uint32_t parent;   /* TREE_NONE at the root; of a free node: the next free one */
	uint32_t child[2]; /* TREE_NONE in a leaf */
	uint32_t item;	   /* of a leaf; TREE_NONE else */
};

struct tree {
	struct tree_node *nodes; /* owned pool, aligned to a line */
	uint32_t capacity;	 /* nodes allocated */
	uint32_t leaf_count;
	uint32_t root; /* TREE_NONE when empty */
	uint32_t free; /* head of the free list */
};

void tree_init(struct tree *self);
void tree_release(struct tree *self);
/* Removes all leaves; the memory stays allocated. */
void tree_reset(struct tree *self);
/* Room for `leaves` leaves in all; NO_MEMORY changes nothing. */
MUST_CHECK enum status tree_reserve(struct tree *self, uint32_t leaves);

/* Adds a leaf and returns its node, valid until it is removed. There must be room (tree_reserve). */
uint32_t tree_insert(struct tree *self, const struct aabb *box, uint32_t item);
void tree_remove(struct tree *self, uint32_t leaf);
/* Gives a leaf another box; the leaf's node stays the same. */
void tree_move(struct tree *self, uint32_t leaf, const struct aabb *box);

/* Leaves whose boxes touch `box` (touching counts, G-17), one after the other:
 *   struct tree_walk walk = tree_walk_begin(t, &box);
 *   for (n = tree_walk_next(&walk); n != TREE_NONE; n = tree_walk_next(&walk)) use(t->nodes[n].item);
 * Neither the tree nor the box may change meanwhile. */
enum { TREE_WALK_LEFT = 64 };
struct tree_walk {
	const struct tree *tree; /* borrowed, as the box is */
	const struct aabb *box;
	uint32_t below,
		leaf; /* a subtree that is walked without the list, its last leaf; or TREE_NONE */
	uint32_t count;
	uint32_t left[TREE_WALK_LEFT]; /* nodes that touch, the next one last */
};
struct tree_walk tree_walk_begin(const struct tree *tree, const struct aabb *box);
uint32_t tree_walk_next(struct tree_walk *self);

/* Points origin + f direction for 0 ≤ f ≤ fraction_max. The caller may lower fraction_max
 * between two calls. Near leaves tend to come first. */
struct tree_ray {
	vec3 origin, direction;
	double fraction_max;
	vec3 direction_inv; /* set by tree_ray_make; ±SCALAR_MAX where the direction has a zero */
};
struct tree_ray tree_ray_make(vec3 origin, vec3 direction, double fraction_max);
uint32_t tree_ray_first(const struct tree *self, const struct tree_ray *ray);
uint32_t tree_ray_next(const struct tree *self, const struct tree_ray *ray, uint32_t leaf);

/* Whether the ray meets the box. Never misses one that it meets by more than rounding. */
bool tree_ray_meets(const struct tree_ray *ray, const struct aabb *box);

/* Levels below the root, 0 for a single leaf; walks the whole tree (statistics, tests). */
uint32_t tree_height(const struct tree *self);
/* Panics unless links, boxes and counts agree (tests, VALIDATE). */
void tree_check(const struct tree *self);

#endif
