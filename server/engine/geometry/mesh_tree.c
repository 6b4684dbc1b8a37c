/* mesh_tree.c: the static hierarchy over a mesh's triangles, and its traversal.
 *
 * Built from the top: a range of triangles is split along the longest axis of its centroids' box at
 * the one of 15 planes that minimises areas × counts (the expected cost of a query). Each half has
 * at least two triangles and leaves hold up to four, so there are fewer nodes than triangles. Where
 * no plane qualifies (all centroids in one bin), or deeper than SPLIT_DEPTH_MAX, the range is split
 * in the middle of its order, which bounds the depth by SPLIT_DEPTH_MAX + 21 < MESH_DEPTH_MAX.
 *
 * The order of leaves is a pure function of the mesh: partitions are stable, ties take the first
 * plane.
 */
#include "server/engine/geometry/mesh.h"

#include <string.h>

enum { BINS = 16, SPLIT_DEPTH_MAX = 40, HALF_MIN = 2 };

struct mesh_tree_builder {
	struct mesh *mesh;
	vec3 *centroids;   /* by triangle */
	uint32_t *scratch; /* the right half of a range */
};

struct centroid_bins {
	struct aabb box[BINS];
	uint32_t count[BINS];
	uint32_t axis;
	double low, scale;
};

size_t mesh_tree_scratch_bytes(uint32_t triangles)
{
	return triangles * (sizeof(vec3) + sizeof(uint32_t));
}

uint32_t mesh_tree_nodes_max(uint32_t triangles)
{
	return triangles <= MESH_LEAF_TRIANGLES ? 1 : triangles;
}

static uint32_t bin_of(const struct centroid_bins *bins, vec3 centroid)
{
	VALIDATE(bins->axis < 3);
	uint32_t bin = 0;
	double at = (vec3_get(centroid, bins->axis) - bins->low) * bins->scale;
	if (!scalar_to_u32(at, &bin))
		return 0;
	return MIN_OF(bin, BINS - 1);
}

static void fill_bins(const struct mesh_tree_builder *self, uint32_t first, uint32_t count,
		      struct centroid_bins *bins)
{
	ASSERT(count > MESH_LEAF_TRIANGLES);
	const uint32_t *order = self->mesh->order + first;
	struct aabb box = aabb_empty();
	for (uint32_t i = 0; i < count; i++)
		box = aabb_add_point(box, self->centroids[order[i]]);
	vec3 size = vec3_sub(box.max, box.min);
	bins->axis = vec3_largest_axis(size);
	bins->low = vec3_get(box.min, bins->axis);
	double length = vec3_get(size, bins->axis);
	bins->scale = length > 0 ? BINS / length : 0;
	for (uint32_t b = 0; b < BINS; b++) {
		bins->box[b] = aabb_empty();
		bins->count[b] = 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t b = bin_of(bins, self->centroids[order[i]]);
		bins->box[b] = aabb_union(bins->box[b], mesh_triangle_aabb(self->mesh, order[i]));
		bins->count[b]++;
	}
}

/* The last bin of the left half for the cheapest plane; BINS when no plane leaves enough on both
 * sides. */
static uint32_t best_plane(const struct centroid_bins *bins, uint32_t count)
{
	double right_area[BINS];
	struct aabb box = aabb_empty();
	for (uint32_t b = BINS; b-- > 1;) {
		box = aabb_union(box, bins->box[b]);
		right_area[b] = box.min.x <= box.max.x ? aabb_area(box) : 0;
	}
	uint32_t best = BINS, left = 0;
	double least = SCALAR_MAX;
	box = aabb_empty();
	for (uint32_t b = 0; b + 1 < BINS; b++) {
		box = aabb_union(box, bins->box[b]);
		left += bins->count[b];
		if (left < HALF_MIN || count - left < HALF_MIN)
			continue;
		double cost = aabb_area(box) * left + right_area[b + 1] * (count - left);
		if (cost < least) {
			least = cost;
			best = b;
		}
	}
	VALIDATE(left <= count);
	return best;
}

/* Partitions the range; returns the size of the left half. */
static uint32_t split_range(struct mesh_tree_builder *self, uint32_t first, uint32_t count,
			    uint32_t depth)
{
	ASSERT(count >= 2 * HALF_MIN);
	struct centroid_bins bins;
	if (depth >= SPLIT_DEPTH_MAX)
		return count / 2;
	fill_bins(self, first, count, &bins);
	uint32_t plane = best_plane(&bins, count);
	if (plane == BINS)
		return count / 2;
	uint32_t *order = self->mesh->order + first;
	uint32_t left = 0, right = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (bin_of(&bins, self->centroids[order[i]]) <= plane)
			order[left++] = order[i];
		else
			self->scratch[right++] = order[i];
	}
	ASSERT(left >= HALF_MIN && right >= HALF_MIN);
	memcpy(order + left, self->scratch, right * sizeof *order);
	return left;
}

static void build_range(struct mesh_tree_builder *self, uint32_t first, uint32_t count,
			uint32_t depth)
{
	ASSERT(count > 0);
	struct mesh *mesh = self->mesh;
	uint32_t at = mesh->node_count++;
	ASSERT(depth < MESH_DEPTH_MAX);
	if (count <= MESH_LEAF_TRIANGLES) {
		struct aabb box = aabb_empty();
		for (uint32_t i = 0; i < count; i++)
			box = aabb_union(box, mesh_triangle_aabb(mesh, mesh->order[first + i]));
		mesh->nodes[at] = (struct mesh_node){ box.min, box.max, first, count };
		return;
	}
	uint32_t left = split_range(self, first, count, depth);
	build_range(self, first, left, depth + 1);
	uint32_t right = mesh->node_count;
	build_range(self, first + left, count - left, depth + 1);
	const struct mesh_node *a = &mesh->nodes[at + 1], *b = &mesh->nodes[right];
	mesh->nodes[at] =
		(struct mesh_node){ vec3_min(a->min, b->min), vec3_max(a->max, b->max), right, 0 };
}

#ifdef CAIRN_VALIDATE
/* Whether `order` holds every triangle once; `seen` has room for all triangles. */
static bool is_permutation(const struct mesh *mesh, uint32_t *seen)
{
	memset(seen, 0, mesh->triangle_count * sizeof *seen);
	for (uint32_t i = 0; i < mesh->triangle_count; i++)
		if (mesh->order[i] >= mesh->triangle_count || seen[mesh->order[i]]++ > 0)
			return false;
	return true;
}
#endif

void mesh_tree_build(struct mesh *mesh, void *scratch)
{
	ASSERT(mesh->triangle_count > 0);
	struct mesh_tree_builder self = { mesh, scratch, NULL };
	self.scratch = (uint32_t *)(self.centroids + mesh->triangle_count);
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		self.centroids[t] = aabb_centre(mesh_triangle_aabb(mesh, t));
		mesh->order[t] = t;
	}
	mesh->node_count = 0;
	build_range(&self, 0, mesh->triangle_count, 0);
	VALIDATE(is_permutation(mesh, self.scratch));
	ASSERT(mesh->node_count <= mesh_tree_nodes_max(mesh->triangle_count));
}

/* ---- walking a heightfield -------------------------------------------------------------------- */

/* A block on the stack: level in bits 28 to 31, row in 14 to 27, column in 0 to 13. */
static void push_block(struct mesh_walk *self, uint32_t level, uint32_t x, uint32_t z)
{
	VALIDATE(self->depth < MESH_DEPTH_MAX && level < 16 && x < 1u << 14 && z < 1u << 14);
	self->stack[self->depth++] = level << 28 | z << 14 | x;
}

static void pop_block(struct mesh_walk *self)
{
	uint32_t packed = self->stack[--self->depth];
	self->block = (struct height_block){ packed >> 28, packed & 0x3fff, packed >> 14 & 0x3fff };
}

/* Blocks first … last of a level that hold cells near the box, in descending order on the stack. */
static void push_blocks(struct mesh_walk *self, uint32_t level, struct height_cells blocks)
{
	uint32_t shift = HEIGHTFIELD_BLOCK_SHIFT + level;
	uint32_t first_x = MAX_OF(blocks.first_x, self->cells.first_x >> shift);
	uint32_t first_z = MAX_OF(blocks.first_z, self->cells.first_z >> shift);
	uint32_t end_x = MIN_OF(blocks.last_x, self->cells.last_x >> shift) + 1;
	uint32_t end_z = MIN_OF(blocks.last_z, self->cells.last_z >> shift) + 1;
	for (uint32_t z = end_z; z > first_z; z--)
		for (uint32_t x = end_x; x > first_x; x--)
			push_block(self, level, x - 1, z - 1);
}

/* The walk begins at the lowest level at which at most 2 × 2 blocks hold the cells near the box. */
static void begin_grid(struct mesh_walk *self, const struct heightfield *grid)
{
	self->depth = self->leaf_at = self->leaf_end = 0;
	if (!heightfield_cells_near(grid, self->box, &self->cells))
		return;
	uint32_t level = 0, shift = HEIGHTFIELD_BLOCK_SHIFT;
	while ((self->cells.last_x >> shift) - (self->cells.first_x >> shift) > 1 ||
	       (self->cells.last_z >> shift) - (self->cells.first_z >> shift) > 1) {
		level++;
		shift++;
	}
	VALIDATE(level < grid->level_count);
	push_blocks(self, level, (struct height_cells){ 0, UINT32_MAX - 1, 0, UINT32_MAX - 1 });
}

/* The next triangle of the current block of 4 × 4 cells. */
static bool next_in_block(struct mesh_walk *self, const struct heightfield *grid,
			  uint32_t *triangle)
{
	const struct height_cells *near = &self->cells;
	while (self->leaf_at < self->leaf_end) {
		uint32_t number = self->leaf_at++;
		uint32_t x = (self->block.x << HEIGHTFIELD_BLOCK_SHIFT) + (number >> 1 & 3);
		uint32_t z = (self->block.z << HEIGHTFIELD_BLOCK_SHIFT) + (number >> 3);
		if (x < near->first_x || x > near->last_x || z < near->first_z ||
		    z > near->last_z || !heightfield_has_cell(grid, x, z))
			continue;
		*triangle = 2 * (z * (grid->columns - 1) + x) + (number & 1);
		if (aabb_overlaps(mesh_triangle_aabb(self->mesh, *triangle), self->box))
			return true;
	}
	return false;
}

static bool next_in_grid(struct mesh_walk *self, uint32_t *triangle)
{
	const struct heightfield *grid = self->mesh->grid;
	while (!next_in_block(self, grid, triangle)) {
		struct aabb box;
		if (self->depth == 0)
			return false;
		pop_block(self);
		struct height_block block = self->block;
		if (!heightfield_block_box(grid, block, &box) || !aabb_overlaps(box, self->box))
			continue;
		if (block.level == 0) {
			self->leaf_at = 0;
			self->leaf_end = 2u << 2 * HEIGHTFIELD_BLOCK_SHIFT;
			continue;
		}
		push_blocks(self, block.level - 1,
			    (struct height_cells){ 2 * block.x, 2 * block.x + 1, 2 * block.z,
						   2 * block.z + 1 });
	}
	return true;
}

/* ---- walking ---------------------------------------------------------------------------------- */

void mesh_walk_init(struct mesh_walk *self, const struct mesh *mesh, struct aabb box)
{
	self->mesh = mesh;
	self->box = box;
	if (mesh->grid != NULL) {
		begin_grid(self, mesh->grid);
		return;
	}
	VALIDATE(mesh->node_count > 0);
	self->stack[0] = 0;
	self->depth = 1;
	self->leaf_at = self->leaf_end = 0;
}

bool mesh_walk_next(struct mesh_walk *self, uint32_t *triangle)
{
	if (self->mesh->grid != NULL)
		return next_in_grid(self, triangle);
	for (;;) {
		while (self->leaf_at < self->leaf_end) {
			uint32_t t = self->mesh->order[self->leaf_at++];
			if (!aabb_overlaps(mesh_triangle_aabb(self->mesh, t), self->box))
				continue;
			*triangle = t;
			return true;
		}
		if (self->depth == 0)
			return false;
		uint32_t at = self->stack[--self->depth];
		const struct mesh_node *node = &self->mesh->nodes[at];
		if (!aabb_overlaps(aabb_make(node->min, node->max), self->box))
			continue;
		if (node->count > 0) {
			self->leaf_at = node->first;
			self->leaf_end = node->first + node->count;
		} else {
			/* The left half is visited first, so triangles come in the order of leaves. */
			ASSERT(self->depth + 2 <= MESH_DEPTH_MAX);
			self->stack[self->depth++] = node->first;
			self->stack[self->depth++] = at + 1;
		}
	}
}

uint32_t mesh_query(const struct mesh *mesh, struct aabb box, uint32_t *out, uint32_t capacity)
{
	ASSERT(capacity == 0 || out != NULL);
	struct mesh_walk walk;
	uint32_t count = 0, triangle;
	mesh_walk_init(&walk, mesh, box);
	while (mesh_walk_next(&walk, &triangle)) {
		if (count < capacity)
			out[count] = triangle;
		count++;
	}
	return count;
}
