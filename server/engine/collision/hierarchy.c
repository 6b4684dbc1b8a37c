/* See hierarchy.h. Building and refitting trees of volumes (ch1-3 G-02, G-08).
 *
 * The build is top down. A node is split by the plane that is perpendicular to its longest axis and
 * contains the mean of all corners (which is the mean of the centres). A primitive belongs to the side of
 * its centre; a centre in the plane belongs to the upper side. If one side is empty, the next longest axis
 * is tried (the first of equally long ones). If no axis splits the node, all centres coincide and the node
 * is a leaf. OBB trees split along the axes of the box, the others along the coordinate axes.
 * Failure: a mean may split off one primitive at a time (centres at 1, 2, 4, 8 …). From depth
 * SPLIT_DEPTH_MAX on a node is therefore halved by order, so no tree is deeper than SPLIT_DEPTH_MAX + 32.
 *
 * Nodes are then sorted by decreasing depth (stable), so a refit is one forward pass that reads children
 * before their parents.
 */
#include "server/engine/collision/hierarchy.h"

#include "server/base/heap.h"
#include "server/engine/collision/obb.h"
#include "server/engine/collision/sphere_tree.h"

#include <string.h>

/* Levels that are split by the mean. SPLIT_DEPTH_MAX + 32 must be less than HIERARCHY_DEPTH_MAX, which sizes
 * the stack of a walk. */
enum { SPLIT_DEPTH_MAX = 42 };

struct tree_build {
	const struct hierarchy_source *source;
	struct hierarchy *tree;
	vec3 *centres;	   /* of primitives */
	vec3 *corners;	   /* room for those of one node */
	uint32_t *scratch; /* half a range */
	struct hierarchy_node *made;
	struct obb *obbs; /* of nodes as they were made, for OBB trees */
};

/* ---- volumes ---------------------------------------------------------------------------------- */

static struct aabb primitive_box(const struct hierarchy_source *source, uint32_t i)
{
	VALIDATE(i < source->count);
	if (source->triangles == NULL)
		return source->boxes[i];
	struct aabb box = aabb_empty();
	for (uint32_t k = 0; k < 3; k++)
		box = aabb_add_point(box, source->vertices[source->triangles[i][k]]);
	return box;
}

/* The corners of a node's triangles. */
static uint32_t gather_corners(const struct tree_build *self, uint32_t first, uint32_t count)
{
	VALIDATE(self->source->triangles != NULL);
	VALIDATE(count > 0 && count <= self->source->count - first);
	uint32_t at = 0;
	for (uint32_t i = first; i < first + count; i++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t triangle = self->tree->order[i];
			self->corners[at++] =
				self->source->vertices[self->source->triangles[triangle][k]];
		}
	VALIDATE(at == 3 * count);
	return at;
}

/* ---- splitting -------------------------------------------------------------------------------- */

static vec3 column(const mat3 *axes, uint32_t axis)
{
	VALIDATE(axis < 3);
	return axis == 0 ? axes->x : axis == 1 ? axes->y : axes->z;
}

/* Sorts the axes by extent, the longest first. */
static void axes_by_length(vec3 extent, uint32_t order[3])
{
	order[0] = vec3_largest_axis(extent);
	uint32_t one = (order[0] + 1) % 3, other = (order[0] + 2) % 3;
	uint32_t low = MIN_OF(one, other), high = MAX_OF(one, other);
	bool swap = vec3_get(extent, high) > vec3_get(extent, low);
	order[1] = swap ? high : low;
	order[2] = swap ? low : high;
	VALIDATE(order[0] + order[1] + order[2] == 3 && order[1] != order[2]);
}

/* Moves the primitives below the plane through the mean, perpendicular to `along`, to the front, keeping
 * their order. Returns their number; 0 if one side is empty. */
static uint32_t partition_primitives(struct tree_build *self, uint32_t first, uint32_t count,
				     vec3 along)
{
	VALIDATE(count > 1);
	VALIDATE(first < self->source->count);
	uint32_t *order = self->tree->order + first, below = 0, above = 0;
	vec3 origin = self->centres[order[0]];
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += vec3_dot(along, vec3_sub(self->centres[order[i]], origin));
	double mean = sum / count;
	for (uint32_t i = 0; i < count; i++)
		below += vec3_dot(along, vec3_sub(self->centres[order[i]], origin)) < mean;
	if (below == 0 || below == count)
		return 0;
	below = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t primitive = order[i];
		if (vec3_dot(along, vec3_sub(self->centres[primitive], origin)) < mean)
			order[below++] = primitive;
		else
			self->scratch[above++] = primitive;
	}
	memcpy(order + below, self->scratch, above * sizeof *order);
	VALIDATE(below > 0 && below + above == count);
	return below;
}

/* Returns the number of primitives of the left child; 0: the node is a leaf. */
static uint32_t split_node(struct tree_build *self, uint32_t node)
{
	const struct hierarchy_node *at = &self->made[node];
	mat3 axes = mat3_identity();
	vec3 extent;
	if (self->tree->kind == HIERARCHY_OBB) {
		uint32_t corners = gather_corners(self, at->first, at->count);
		self->obbs[node] = obb_of_points(self->corners, corners);
		axes = self->obbs[node].axes;
		extent = self->obbs[node].half;
	} else {
		struct aabb box = aabb_empty();
		for (uint32_t i = at->first; i < at->first + at->count; i++)
			box = aabb_union(box, primitive_box(self->source, self->tree->order[i]));
		extent = vec3_sub(box.max, box.min);
	}
	if (at->count == 1)
		return 0;
	if (at->depth >= SPLIT_DEPTH_MAX)
		return at->count / 2;
	uint32_t order[3];
	axes_by_length(extent, order);
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t left =
			partition_primitives(self, at->first, at->count, column(&axes, order[k]));
		if (left > 0)
			return left;
	}
	return 0;
}

/* Makes the nodes level by level: each is split once, and its children are appended. */
static void make_nodes(struct tree_build *self)
{
	uint32_t made = 1;
	self->made[0] = (struct hierarchy_node){ HIERARCHY_LEAF, HIERARCHY_LEAF, 0,
						 self->source->count, 0 };
	for (uint32_t node = 0; node < made; node++) {
		uint32_t left = split_node(self, node);
		struct hierarchy_node *at = &self->made[node];
		if (left == 0)
			continue;
		at->left = made;
		at->right = made + 1;
		self->made[made++] = (struct hierarchy_node){ HIERARCHY_LEAF, HIERARCHY_LEAF,
							      at->first, left, at->depth + 1 };
		self->made[made++] =
			(struct hierarchy_node){ HIERARCHY_LEAF, HIERARCHY_LEAF, at->first + left,
						 at->count - left, at->depth + 1 };
	}
	self->tree->node_count = made;
	ASSERT(made <= 2 * self->source->count - 1);
	ASSERT(made % 2 == 1);
}

/* Stores the nodes in reverse, which is by decreasing depth because they were made level by level. */
static void sort_nodes(struct tree_build *self)
{
	VALIDATE(self->tree->node_count > 0);
	struct hierarchy *tree = self->tree;
	uint32_t last = tree->node_count - 1;
	for (uint32_t i = 0; i <= last; i++) {
		struct hierarchy_node *node = &tree->nodes[last - i];
		*node = self->made[i];
		if (node->left != HIERARCHY_LEAF) {
			node->left = last - node->left;
			node->right = last - node->right;
		}
		if (tree->kind == HIERARCHY_OBB)
			tree->obbs[last - i] = self->obbs[i];
	}
}

/* ---- the whole -------------------------------------------------------------------------------- */

static bool take_memory(struct tree_build *self)
{
	ASSERT(self->source->count > 0);
	struct hierarchy *tree = self->tree;
	size_t count = self->source->count, nodes = 2 * count - 1;
	bool obbs = tree->kind == HIERARCHY_OBB, boxes = tree->kind == HIERARCHY_AABB;
	tree->nodes = heap_alloc(nodes * sizeof *tree->nodes);
	tree->order = heap_alloc(count * sizeof *tree->order);
	tree->boxes = boxes ? heap_alloc(nodes * sizeof *tree->boxes) : NULL;
	tree->obbs = obbs ? heap_alloc(nodes * sizeof *tree->obbs) : NULL;
	tree->balls = !boxes && !obbs ? heap_alloc(nodes * sizeof *tree->balls) : NULL;
	self->made = heap_alloc(nodes * sizeof *self->made);
	self->centres = heap_alloc(count * sizeof *self->centres);
	self->scratch = heap_alloc(count * sizeof *self->scratch);
	self->corners = heap_alloc(3 * count * sizeof *self->corners);
	self->obbs = heap_alloc((obbs ? nodes : 1) * sizeof *self->obbs);
	return tree->nodes != NULL && tree->order != NULL &&
	       (tree->boxes != NULL || tree->obbs != NULL || tree->balls != NULL) &&
	       self->made != NULL && self->centres != NULL && self->scratch != NULL &&
	       self->corners != NULL && self->obbs != NULL;
}

static void fill_volumes(struct tree_build *self)
{
	struct hierarchy *tree = self->tree;
	for (uint32_t n = 0; n < tree->node_count; n++) {
		const struct hierarchy_node *node = &tree->nodes[n];
		if (tree->kind == HIERARCHY_BALL) {
			uint32_t corners = gather_corners(self, node->first, node->count);
			tree->balls[n] = ball_of_points(self->corners, corners);
		} else if (tree->kind == HIERARCHY_AABB && node->left != HIERARCHY_LEAF) {
			tree->boxes[n] =
				aabb_union(tree->boxes[node->left], tree->boxes[node->right]);
		} else if (tree->kind == HIERARCHY_AABB) {
			tree->boxes[n] = aabb_empty();
			for (uint32_t i = node->first; i < node->first + node->count; i++)
				tree->boxes[n] =
					aabb_union(tree->boxes[n],
						   primitive_box(self->source, tree->order[i]));
		}
	}
}

enum status hierarchy_build(struct hierarchy *self, enum hierarchy_kind kind,
			    const struct hierarchy_source *source)
{
	ASSERT(source->count > 0);
	ASSERT(source->triangles != NULL || kind == HIERARCHY_AABB);
	*self = (struct hierarchy){ .kind = kind, .primitive_count = source->count };
	struct tree_build build = { .source = source, .tree = self };
	enum status status = STATUS_NO_MEMORY;
	if (take_memory(&build)) {
		for (uint32_t i = 0; i < source->count; i++) {
			self->order[i] = i;
			build.centres[i] = aabb_centre(primitive_box(source, i));
			if (source->triangles != NULL) {
				uint32_t corners = gather_corners(&build, i, 1);
				ASSERT(corners == 3);
				vec3 sum = vec3_add(build.corners[0], build.corners[1]);
				build.centres[i] =
					vec3_scale(vec3_add(sum, build.corners[2]), 1.0 / 3);
			}
		}
		make_nodes(&build);
		sort_nodes(&build);
		fill_volumes(&build);
		status = STATUS_OK;
	}
	heap_free(build.made);
	heap_free(build.centres);
	heap_free(build.scratch);
	heap_free(build.corners);
	heap_free(build.obbs);
	if (status != STATUS_OK)
		hierarchy_release(self);
	return status;
}

void hierarchy_release(struct hierarchy *self)
{
	heap_free(self->nodes);
	heap_free(self->order);
	heap_free(self->boxes);
	heap_free(self->obbs);
	heap_free(self->balls);
	*self = (struct hierarchy){ 0 };
}

/* ---- refits ----------------------------------------------------------------------------------- */

/* Sets node n from its children; false for a leaf, which is left empty. */
static bool refit_inner(struct hierarchy *self, uint32_t n)
{
	VALIDATE(n < self->node_count);
	VALIDATE(self->nodes[n].left == HIERARCHY_LEAF ||
		 (self->nodes[n].left < n && self->nodes[n].right < n));
	const struct hierarchy_node *node = &self->nodes[n];
	self->boxes[n] = aabb_empty();
	if (node->left == HIERARCHY_LEAF)
		return false;
	self->boxes[n] = aabb_union(self->boxes[node->left], self->boxes[node->right]);
	return true;
}

void hierarchy_refit_boxes(struct hierarchy *self, const struct aabb *boxes)
{
	ASSERT(self->node_count > 0);
	ASSERT(self->kind == HIERARCHY_AABB);
	for (uint32_t n = 0; n < self->node_count; n++) {
		const struct hierarchy_node *node = &self->nodes[n];
		if (refit_inner(self, n))
			continue;
		for (uint32_t i = node->first; i < node->first + node->count; i++)
			self->boxes[n] = aabb_union(self->boxes[n], boxes[self->order[i]]);
	}
}

void hierarchy_refit_ways(struct hierarchy *self, const uint32_t (*triangles)[3], const vec3 *from,
			  const vec3 *to)
{
	ASSERT(self->node_count > 0);
	ASSERT(self->kind == HIERARCHY_AABB);
	for (uint32_t n = 0; n < self->node_count; n++) {
		const struct hierarchy_node *node = &self->nodes[n];
		if (refit_inner(self, n))
			continue;
		for (uint32_t i = 3 * node->first; i < 3 * (node->first + node->count); i++) {
			uint32_t v = triangles[self->order[i / 3]][i % 3];
			self->boxes[n] = aabb_add_point(self->boxes[n], from[v]);
			self->boxes[n] = aabb_add_point(self->boxes[n], to[v]);
		}
	}
}

/* A box that contains a point of a body (in its frame) during the whole motion.
 *
 * A point at distance r from the axis deviates from the chord between its end positions by at most
 * r α²/8, where α is the angle of the whole motion: its acceleration is r α², and a function deviates from
 * its chord by at most an eighth of its greatest second derivative. The bound is as safe as the book's ball
 * around the whole body at both ends, and tighter. */
static struct aabb motion_point_aabb(const struct motion *motion, vec3 point)
{
	vec3 arm = pose_vector(motion->from, point);
	double radius = vec3_length(vec3_cross(motion->axis, arm));
	double angle = motion->rate * (motion->t1 - motion->t0);
	vec3 from = vec3_add(motion->from.position, arm), to = pose_point(motion->to, point);
	struct aabb box = aabb_add_point(aabb_of_point(from), to);
	vec3 far = vec3_max(vec3_abs(from), vec3_abs(to));
	double room = 8 * SCALAR_EPSILON * (far.x + far.y + far.z + vec3_length(arm));
	return aabb_grow(box, radius * angle * angle * 0.125 + room);
}

void hierarchy_refit_motion(struct hierarchy *self, const uint32_t (*triangles)[3],
			    const vec3 *vertices, const struct motion *motion)
{
	ASSERT(self->node_count > 0);
	ASSERT(self->kind == HIERARCHY_AABB);
	for (uint32_t n = 0; n < self->node_count; n++) {
		const struct hierarchy_node *node = &self->nodes[n];
		if (refit_inner(self, n))
			continue;
		for (uint32_t i = 3 * node->first; i < 3 * (node->first + node->count); i++) {
			vec3 point = vertices[triangles[self->order[i / 3]][i % 3]];
			self->boxes[n] =
				aabb_union(self->boxes[n], motion_point_aabb(motion, point));
		}
	}
}
