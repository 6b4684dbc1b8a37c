/* hierarchy.h: trees of bounding volumes over triangles or boxes, and walking two or one of them (ch1-3
 * G-01…G-04, G-06, G-08, G-14, G-15).
 *
 * A tree is built once, in the frame of its primitives; a walk transforms only the volumes it tests.
 * Nodes are stored by decreasing depth: children before parents, the root last. hierarchy_build allocates
 * all memory; refits and walks allocate none.
 */
#ifndef CAIRN_ENGINE_COLLISION_HIERARCHY_H
#define CAIRN_ENGINE_COLLISION_HIERARCHY_H

#include "server/base/status.h"
#include "server/engine/geometry/intersect_obb_obb.h"
#include "server/engine/geometry/intersect_sphere_sphere.h"
#include "server/engine/math/interpolate.h"

enum hierarchy_kind { HIERARCHY_AABB, HIERARCHY_OBB, HIERARCHY_BALL };

/* The primitives to bound: triangles, or boxes if `triangles` is NULL. Borrowed for the call. */
struct hierarchy_source {
	const vec3 *vertices;
	const uint32_t (*triangles)[3];
	const struct aabb *boxes;
	uint32_t count; /* of triangles or boxes, > 0 */
};

#define HIERARCHY_LEAF UINT32_MAX
enum { HIERARCHY_DEPTH_MAX = 76 };

struct hierarchy_node {
	uint32_t left, right;  /* HIERARCHY_LEAF, both, for a leaf */
	uint32_t first, count; /* the primitives under it: order[first … first + count) */
	uint32_t depth;	       /* of the root 0 */
};

struct hierarchy {
	enum hierarchy_kind kind;
	uint32_t primitive_count, node_count;
	struct hierarchy_node *nodes; /* owned, as all below */
	uint32_t *order;	      /* primitives in the order of leaves */
	struct aabb *boxes;	      /* of each node, of the kind; the other two are NULL */
	struct obb *obbs;
	struct ball *balls;
};

/* Builds the tree. A source of boxes needs HIERARCHY_AABB. NO_MEMORY leaves *self empty (release is
 * allowed). A leaf holds one primitive, or several with the same centre. */
MUST_CHECK enum status hierarchy_build(struct hierarchy *self, enum hierarchy_kind kind,
				       const struct hierarchy_source *source);
void hierarchy_release(struct hierarchy *self);
static inline uint32_t hierarchy_root(const struct hierarchy *self)
{
	VALIDATE(self->node_count > 0);
	return self->node_count - 1;
}

/* G-08, of a HIERARCHY_AABB: the same tree around other boxes, one for each primitive. */
void hierarchy_refit_boxes(struct hierarchy *self, const struct aabb *boxes);
/* The same around triangles whose vertices move on straight lines from `from` to `to` (m). */
void hierarchy_refit_ways(struct hierarchy *self, const uint32_t (*triangles)[3], const vec3 *from,
			  const vec3 *to);
/* The same around triangles of a body (vertices in its frame) during a whole motion with rotation; the
 * boxes are in the frame in which the motion is given. */
void hierarchy_refit_motion(struct hierarchy *self, const uint32_t (*triangles)[3],
			    const vec3 *vertices, const struct motion *motion);

/* ---- walks: candidates, pair by pair ---------------------------------------------------------- */

struct hierarchy_walk {
	const struct hierarchy *a, *b; /* borrowed */
	bool self;		       /* a = b: unordered pairs, none with itself */
	bool placed;		       /* b's volumes are transformed by `b_in_a` */
	pose b_in_a;
	mat3 rotation;
	uint32_t depth;
	struct {
		uint32_t a, b;
	} stack[4 * HIERARCHY_DEPTH_MAX];
	uint32_t leaf_a, leaf_b, next_a, next_b; /* pairs left of the current two leaves */
	bool in_leaves;
	uint32_t cached; /* the node of b that `place` holds, or HIERARCHY_LEAF */
	union {
		struct obb obb;
		struct ball ball;
	} place;
	uint32_t depth_max; /* nodes of this depth count as leaves */
	uint64_t tested;    /* pairs of nodes tested */
	uint64_t moved;	    /* volumes of b transformed to a's frame */
};

/* Starts a walk over two trees of the same kind; `b_in_a` is NULL if they share a frame. */
void hierarchy_walk_pair(struct hierarchy_walk *self, const struct hierarchy *a,
			 const struct hierarchy *b, const pose *b_in_a);
/* Starts a walk over the pairs of one tree with itself. */
void hierarchy_walk_self(struct hierarchy_walk *self, const struct hierarchy *tree);
/* Bounds the cost of a walk (ch4-5 X2): nodes at `depth` count as leaves, so all their primitives are
 * candidates if their volumes overlap. The walk then reports additional pairs, misses none, and makes a
 * bounded number of tests. Call it before the first next; leaf_a and leaf_b are the nodes of the current
 * pair, whose volumes represent their subtrees. */
static inline void hierarchy_walk_limit(struct hierarchy_walk *self, uint32_t depth)
{
	self->depth_max = depth;
}
/* Advances to the next pair of overlapping leaves, stored in leaf_a and leaf_b; false at the end. */
bool hierarchy_walk_next_nodes(struct hierarchy_walk *self);
/* The next two primitives whose leaves overlap: i of a, j of b (i < j if a tree is walked with itself).
 * Each pair is reported once, in an order that depends only on the trees. False at the end. */
bool hierarchy_walk_next(struct hierarchy_walk *self, uint32_t *i, uint32_t *j);

#endif
