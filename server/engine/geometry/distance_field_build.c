/* distance_field_build.c: building a field (app G-01 … G-04, with corrections).
 *
 * Signs. For every grid line along x the crossings with the surface are found (G-03): a crossing
 * stores the number of nodes before it and whether the line leaves or enters the solid there. A
 * node is inside where exits minus entries beyond it are positive, as in intersect_point_mesh:
 * lines are taken to run at (y + ε, z + ε²), so none meets an edge, and whether a node is before a
 * triangle is an exact sign. The book stores the crossings of three families of lines as its field;
 * here one family suffices and is freed at the end.
 *
 * Distances. The book takes the least of three axis distances, which is up to √3 too long and,
 * beside convex edges that every line misses, has the wrong sign. Here they are Euclidean: at
 * corners of blocks through the mesh's hierarchy, each search bounded by the neighbour's result;
 * within a block from the triangles that can be nearest to any of its nodes: with d the distance of
 * the block's middle and r its half diagonal, those no farther than d + 2r from the middle, nearest
 * first. The search of a node stops when the next triangle is farther from the middle than the
 * node's best plus the node's own distance to the middle. Where there are many triangles the
 * hierarchy is searched instead, bounded by the node before. Both give the same least number.
 *
 * What goes wrong: too many blocks near the surface for the caller's memory: LIMIT, before they are
 * allocated.
 */
#include "server/engine/geometry/distance_field.h"

#include "server/base/array.h"
#include "server/base/sort.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/intersect_box_triangle.h"
#include "server/engine/geometry/orient.h"

#include <string.h>

/* Up to NEAR_MAX triangles are tested one by one. In a grid of up to DENSE_BLOCKS blocks (0.4 MB)
 * every block within range becomes a brick. */
enum { SIDE = DISTANCE_FIELD_BRICK + 1, NEAR_MAX = 40, DENSE_BLOCKS = 300 };
_Static_assert(SIDE *SIDE *SIDE == DISTANCE_FIELD_NODES, "nodes of a brick");

struct line_hit {
	uint32_t line;
	uint32_t before; /* nodes of the line before the surface; top bit: the line enters there */
};
#define HIT_ENTERS 0x80000000u

enum phase { PHASE_LINES, PHASE_SORT, PHASE_COARSE, PHASE_MARK, PHASE_BRICKS };

struct distance_field_build {
	const struct mesh *mesh;      /* borrowed */
	struct distance_field *field; /* owned until done */
	size_t bytes_max;
	enum phase phase;
	uint32_t at;	   /* triangle, corner, block or brick to do next */
	uint32_t nodes[3]; /* of an axis, blocks filled up */
	ARRAY_OF(struct line_hit) hits;
	uint32_t *first;    /* owned; of lines: first of its hits, one more at the end */
	uint32_t *before;   /* owned with it; hits by line */
	uint32_t *block_of; /* owned; of bricks */
	/* Triangles that may be nearest to a node of the current brick. */
	ARRAY_OF(uint64_t) keys;
	ARRAY_OF(uint32_t) near;
};

static vec3 node_at(const struct distance_field *field, uint32_t i, uint32_t j, uint32_t k)
{
	VALIDATE(field->cell > 0);
	double c = field->cell;
	return vec3_make(field->origin.x + c * i, field->origin.y + c * j, field->origin.z + c * k);
}

static uint32_t block_count(const struct distance_field *field)
{
	return field->blocks[0] * field->blocks[1] * field->blocks[2];
}

static uint32_t corner_count(const struct distance_field *field)
{
	return (field->blocks[0] + 1) * (field->blocks[1] + 1) * (field->blocks[2] + 1);
}

/* ---- life ------------------------------------------------------------------------------------- */

static bool set_grid(struct distance_field *field, struct aabb box, uint32_t resolution)
{
	ASSERT(resolution >= DISTANCE_FIELD_RESOLUTION_MIN);
	ASSERT(resolution <= DISTANCE_FIELD_RESOLUTION_MAX);
	vec3 size = vec3_sub(box.max, box.min);
	uint32_t lines = 1;
	field->solid = box;
	field->cell = vec3_max_component(size) / resolution;
	field->origin = vec3_sub(box.min, vec3_all(field->cell));
	for (uint32_t axis = 0; axis < 3; axis++) {
		/* The longest side is `resolution` cells, whatever the quotient rounds to. */
		double cells = scalar_ceil(vec3_get(size, axis) / field->cell * (1 - 1e-12));
		if (!(cells >= 1) || !scalar_to_u32(cells, &field->cells[axis]))
			return false;
		field->cells[axis] += 2;
		field->blocks[axis] =
			(field->cells[axis] + DISTANCE_FIELD_BRICK - 1) / DISTANCE_FIELD_BRICK;
		lines *= axis == 0 ? 1 : field->blocks[axis] * DISTANCE_FIELD_BRICK + 1;
	}
	return lines > 0;
}

static double mesh_volume_about_vertex(const struct mesh *mesh)
{
	double six = 0;
	vec3 at = mesh->vertices[0];
	for (uint32_t t = 0; t < mesh->triangle_count; t++)
		six += vec3_triple(vec3_sub(mesh_corner(mesh, t, 0), at),
				   vec3_sub(mesh_corner(mesh, t, 1), at),
				   vec3_sub(mesh_corner(mesh, t, 2), at));
	return six / 6;
}

static enum status check_mesh(const struct mesh *mesh, uint32_t resolution, struct reason *why)
{
	if (!mesh->closed)
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "the mesh is open (%u loose edges): it bounds no solid",
				  mesh->loose_edges);
	if (resolution < DISTANCE_FIELD_RESOLUTION_MIN ||
	    resolution > DISTANCE_FIELD_RESOLUTION_MAX)
		return reason_set(why, STATUS_RANGE, -1, "resolution", "%u is not in [%d, %d]",
				  resolution, DISTANCE_FIELD_RESOLUTION_MIN,
				  DISTANCE_FIELD_RESOLUTION_MAX);
	if (!(mesh_volume_about_vertex(mesh) > 0))
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "the surface is inside out or encloses no volume");
	return STATUS_OK;
}

/* Allocates the field without its bricks, whose number is not yet known. */
static bool allocate_field(struct distance_field_build *self)
{
	struct distance_field *field = self->field;
	size_t blocks = block_count(field), corners = corner_count(field);
	for (uint32_t axis = 0; axis < 3; axis++)
		self->nodes[axis] = field->blocks[axis] * DISTANCE_FIELD_BRICK + 1;
	field->brick_of = heap_alloc(blocks * sizeof *field->brick_of);
	field->coarse = heap_alloc(corners * sizeof *field->coarse);
	field->bytes =
		sizeof *field + blocks * sizeof *field->brick_of + corners * sizeof *field->coarse;
	field->deepest = SCALAR_MAX;
	return field->brick_of != NULL && field->coarse != NULL;
}

enum status distance_field_build_create(const struct mesh *mesh, uint32_t resolution,
					size_t bytes_max, struct distance_field_build **out,
					struct reason *why)
{
	ASSERT(mesh->node_count > 0);
	enum status status = check_mesh(mesh, resolution, why);
	if (status != STATUS_OK)
		return status;
	struct distance_field_build *self = heap_alloc_zero(sizeof *self);
	struct distance_field *field = heap_alloc_zero(sizeof *field);
	if (self == NULL || field == NULL) {
		heap_free(self);
		heap_free(field);
		return reason_set(why, STATUS_NO_MEMORY, -1, "resolution", "out of memory");
	}
	self->mesh = mesh;
	self->field = field;
	self->bytes_max = bytes_max;
	if (!set_grid(field, aabb_make(mesh->nodes[0].min, mesh->nodes[0].max), resolution))
		status = reason_set(why, STATUS_DEGENERATE, -1, "vertices", "the mesh is flat");
	else if (!allocate_field(self))
		status = reason_set(why, STATUS_NO_MEMORY, -1, "resolution", "out of memory");
	if (status != STATUS_OK)
		distance_field_build_destroy(self);
	else
		*out = self;
	return status;
}

void distance_field_build_destroy(struct distance_field_build *self)
{
	if (self == NULL)
		return;
	distance_field_destroy(self->field);
	ARRAY_RELEASE(&self->hits);
	ARRAY_RELEASE(&self->keys);
	ARRAY_RELEASE(&self->near);
	heap_free(self->first);
	heap_free(self->block_of);
	heap_free(self);
}

void distance_field_destroy(struct distance_field *self)
{
	if (self == NULL)
		return;
	heap_free(self->brick_of);
	heap_free(self->coarse);
	heap_free(self->bricks);
	heap_free(self);
}

/* ---- scanlines (G-03) ------------------------------------------------------------------------- */

/* Side of a → b, seen along x, on which the line at (y + ε, z + ε²) runs; 0 only if a and b
 * coincide in that view. */
static int line_side(vec3 a, vec3 b, vec3 p)
{
	int side = orient_line(0, a, b, p);
	if (side != 0)
		return side;
	if (b.z != a.z)
		return b.z > a.z ? -1 : 1;
	return (b.y > a.y) - (b.y < a.y);
}

/* Number of nodes of the line through `on` before the triangle, seen along x: estimated by
 * division, then corrected by exact signs. `way`: 1 when the line leaves the solid there. */
static uint32_t nodes_before(const struct distance_field_build *self, const vec3 corner[3],
			     uint32_t j, uint32_t k, int way)
{
	VALIDATE(way == 1 || way == -1);
	const struct distance_field *field = self->field;
	vec3 n = vec3_cross(vec3_sub(corner[1], corner[0]), vec3_sub(corner[2], corner[0]));
	vec3 on = node_at(field, 0, j, k), off = vec3_sub(on, corner[0]);
	double x = n.x != 0 ? -vec3_dot(n, off) / n.x / field->cell : 0;
	uint32_t before = 0, nodes = self->nodes[0];
	if (!scalar_to_u32(scalar_clamp(scalar_ceil(x), 0, nodes), &before))
		before = 0;
	while (before > 0 && orient_plane(corner[0], corner[1], corner[2],
					  node_at(field, before - 1, j, k)) != -way)
		before--;
	while (before < nodes &&
	       orient_plane(corner[0], corner[1], corner[2], node_at(field, before, j, k)) == -way)
		before++;
	ASSERT(before <= nodes);
	return before;
}

static void node_range(const struct distance_field_build *self, uint32_t axis, double low,
		       double high, uint32_t *first, uint32_t *last)
{
	const struct distance_field *field = self->field;
	double origin = vec3_get(field->origin, axis), top = self->nodes[axis] - 1;
	double a = scalar_floor((low - origin) / field->cell) - 1;
	double b = scalar_ceil((high - origin) / field->cell) + 1;
	*first = *last = 0;
	VALIDATE(axis < 3);
	if (!scalar_to_u32(scalar_clamp(a, 0, top), first) ||
	    !scalar_to_u32(scalar_clamp(b, 0, top), last))
		*first = *last = 0;
}

static enum status scan_triangle(struct distance_field_build *self, uint32_t t)
{
	ASSERT(t < self->mesh->triangle_count);
	vec3 corner[3];
	uint32_t j0, j1, k0, k1;
	for (uint32_t i = 0; i < 3; i++)
		corner[i] = mesh_corner(self->mesh, t, i);
	struct aabb box = mesh_triangle_aabb(self->mesh, t);
	node_range(self, 1, box.min.y, box.max.y, &j0, &j1);
	node_range(self, 2, box.min.z, box.max.z, &k0, &k1);
	for (uint32_t k = k0; k <= k1; k++) {
		for (uint32_t j = j0; j <= j1; j++) {
			vec3 p = node_at(self->field, 0, j, k);
			int way = line_side(corner[0], corner[1], p);
			if (way == 0 || line_side(corner[1], corner[2], p) != way ||
			    line_side(corner[2], corner[0], p) != way)
				continue;
			if (ARRAY_RESERVE(&self->hits, self->hits.count + 1u) != STATUS_OK)
				return STATUS_NO_MEMORY;
			uint32_t before = nodes_before(self, corner, j, k, way);
			self->hits.items[self->hits.count++] =
				(struct line_hit){ j + self->nodes[1] * k,
						   before | (way < 0 ? HIT_ENTERS : 0) };
		}
	}
	return STATUS_OK;
}

/* Sorts crossings by line, by counting. The order within a line does not matter, because they are
 * summed as integers. */
static enum status sort_hits(struct distance_field_build *self)
{
	ASSERT(self->first == NULL);
	size_t lines = (size_t)self->nodes[1] * self->nodes[2];
	self->first = heap_alloc_zero((lines + 2 + self->hits.count) * sizeof *self->first);
	if (self->first == NULL)
		return STATUS_NO_MEMORY;
	self->before = self->first + lines + 2;
	for (uint32_t i = 0; i < self->hits.count; i++)
		self->first[self->hits.items[i].line + 2]++;
	for (size_t line = 2; line < lines + 2; line++)
		self->first[line] += self->first[line - 1];
	for (uint32_t i = 0; i < self->hits.count; i++)
		self->before[self->first[self->hits.items[i].line + 1]++] =
			self->hits.items[i].before;
	VALIDATE(self->first[lines] == self->hits.count);
	self->field->hits = self->hits.count;
	ARRAY_RELEASE(&self->hits);
	return STATUS_OK;
}

static bool node_is_inside(const struct distance_field_build *self, uint32_t i, uint32_t j,
			   uint32_t k)
{
	VALIDATE(j < self->nodes[1] && k < self->nodes[2]);
	size_t line = j + (size_t)self->nodes[1] * k;
	int winding = 0;
	for (uint32_t h = self->first[line]; h < self->first[line + 1]; h++)
		if ((self->before[h] & ~HIT_ENTERS) > i)
			winding += self->before[h] & HIT_ENTERS ? -1 : 1;
	return winding > 0;
}

/* ---- corners of blocks ------------------------------------------------------------------------ */

static double square_to_box(const struct mesh_node *node, vec3 p)
{
	return vec3_distance_squared(vec3_min(vec3_max(p, node->min), node->max), p);
}

static double square_to_triangle(const struct mesh *mesh, uint32_t t, vec3 p)
{
	return closest_point_triangle(p, mesh_corner(mesh, t, 0), mesh_corner(mesh, t, 1),
				      mesh_corner(mesh, t, 2))
		.distance_squared;
}

/* The squared distance to the surface if it is under `square`, else `square`. */
static double square_within(const struct mesh *mesh, vec3 p, double square)
{
	uint32_t stack[MESH_DEPTH_MAX], depth = 1;
	stack[0] = 0;
	while (depth > 0) {
		const struct mesh_node *node = &mesh->nodes[stack[--depth]];
		if (square_to_box(node, p) * (1 - 1e-9) > square)
			continue;
		for (uint32_t i = node->first; node->count > 0 && i < node->first + node->count;
		     i++)
			square = scalar_min(square_to_triangle(mesh, mesh->order[i], p), square);
		if (node->count > 0)
			continue;
		uint32_t left = (uint32_t)(node - mesh->nodes) + 1, right = node->first;
		bool left_first = square_to_box(&mesh->nodes[left], p) <=
				  square_to_box(&mesh->nodes[right], p);
		ASSERT(depth + 2 <= MESH_DEPTH_MAX);
		stack[depth++] = left_first ? right : left;
		stack[depth++] = left_first ? left : right;
	}
	return square;
}

static double signed_root(struct distance_field_build *self, double square, uint32_t i, uint32_t j,
			  uint32_t k)
{
	VALIDATE(square >= 0);
	double d = scalar_sqrt(square);
	if (d > 0 && node_is_inside(self, i, j, k))
		d = -d;
	self->field->deepest = scalar_min(d, self->field->deepest);
	return d;
}

static void fill_corner(struct distance_field_build *self, uint32_t at)
{
	ASSERT(at < corner_count(self->field));
	struct distance_field *field = self->field;
	uint32_t nx = field->blocks[0] + 1, ny = field->blocks[1] + 1;
	uint32_t i = at % nx * DISTANCE_FIELD_BRICK, j = at / nx % ny * DISTANCE_FIELD_BRICK;
	uint32_t k = at / nx / ny * DISTANCE_FIELD_BRICK;
	double bound = SCALAR_MAX;
	/* The distance is at most the neighbour's plus the way there; the margin covers rounding. */
	if (i > 0)
		bound = scalar_square((scalar_abs((double)field->coarse[at - 1]) +
				       DISTANCE_FIELD_BRICK * field->cell) *
				      (1 + 1e-6));
	double square = square_within(self->mesh, node_at(field, i, j, k), bound);
	field->coarse[at] = scalar_to_float(signed_root(self, square, i, j, k));
}

/* ---- blocks near the surface ------------------------------------------------------------------ */

static bool is_near(const struct distance_field_build *self, uint32_t at)
{
	ASSERT(at < block_count(self->field));
	const struct distance_field *field = self->field;
	uint32_t x = at % field->blocks[0], y = at / field->blocks[0] % field->blocks[1];
	uint32_t z = at / field->blocks[0] / field->blocks[1], n = DISTANCE_FIELD_BRICK;
	float corner = field->coarse[x + (field->blocks[0] + 1) *
						 (y + (size_t)(field->blocks[1] + 1) * z)];
	/* A small grid has room for all blocks whose values fit: 18 + 8 √3 < 32 cells. */
	if (block_count(field) <= DENSE_BLOCKS && scalar_abs((double)corner) < 18 * field->cell)
		return true;
	/* √3 (8 + 1) cells reach the far corner of the block, grown by one. */
	if (scalar_abs((double)corner) > 16 * field->cell)
		return false;
	struct aabb box = aabb_make(node_at(field, x * n, y * n, z * n),
				    node_at(field, x * n + n, y * n + n, z * n + n));
	struct mesh_walk walk;
	uint32_t t;
	box = aabb_grow(box, field->cell);
	mesh_walk_init(&walk, self->mesh, box);
	while (mesh_walk_next(&walk, &t))
		if (intersect_box_triangle(box, mesh_corner(self->mesh, t, 0),
					   mesh_corner(self->mesh, t, 1),
					   mesh_corner(self->mesh, t, 2)))
			return true;
	return false;
}

/* All blocks are marked, so the memory needed is known: allocates the bricks. */
static enum status allocate_bricks(struct distance_field_build *self, struct reason *why)
{
	ASSERT(self->field->brick_count <= block_count(self->field));
	struct distance_field *field = self->field;
	size_t bytes = (size_t)field->brick_count * sizeof *field->bricks;
	field->bytes += bytes;
	if (self->bytes_max != 0 && field->bytes > self->bytes_max)
		return reason_set(
			why, STATUS_LIMIT, -1, "resolution",
			"the field needs %zu bytes, %zu are allowed: lower the resolution",
			field->bytes, self->bytes_max);
	field->bricks = heap_alloc(bytes);
	self->block_of = heap_alloc((size_t)field->brick_count * sizeof *self->block_of);
	if (field->bricks == NULL || self->block_of == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t b = 0; b < block_count(field); b++)
		if (field->brick_of[b] != UINT32_MAX)
			self->block_of[field->brick_of[b]] = b;
	return STATUS_OK;
}

/* Finds the triangles that may be nearest to a node of the brick, sorted by squared distance from
 * its middle. When there are too many the count is UINT32_MAX, and each node searches the
 * hierarchy. */
static enum status find_near(struct distance_field_build *self, vec3 middle, double half)
{
	double reach = scalar_sqrt(square_within(self->mesh, middle, SCALAR_MAX)) + 2 * half;
	double square = scalar_square(reach * (1 + 1e-9));
	struct mesh_walk walk;
	uint32_t t, count = 0;
	mesh_walk_init(&walk, self->mesh, aabb_grow(aabb_of_point(middle), reach * (1 + 1e-9)));
	while (mesh_walk_next(&walk, &t)) {
		double own = square_to_triangle(self->mesh, t, middle);
		if (own > square)
			continue;
		if (count == NEAR_MAX) {
			self->near.count = UINT32_MAX;
			return STATUS_OK;
		}
		/* Twice the room, for sorting. */
		if (ARRAY_RESERVE(&self->keys, 2 * (count + 1ull)) != STATUS_OK ||
		    ARRAY_RESERVE(&self->near, 2 * (count + 1ull)) != STATUS_OK)
			return STATUS_NO_MEMORY;
		self->keys.items[count] = scalar_bits(own);
		self->near.items[count++] = t;
	}
	ASSERT(count <= NEAR_MAX);
	self->keys.count = self->near.count = count;
	sort_keys(self->keys.items, self->near.items, self->keys.items + count,
		  self->near.items + count, count);
	return STATUS_OK;
}

static double square_near(const struct distance_field_build *self, vec3 p, vec3 middle)
{
	ASSERT(self->near.count <= NEAR_MAX);
	double square = SCALAR_MAX, way = vec3_distance(p, middle), best = SCALAR_MAX;
	for (uint32_t i = 0; i < self->near.count; i++) {
		/* Keys are bits of squares ≥ 0. */
		double own = scalar_sqrt(scalar_from_bits(self->keys.items[i]));
		if ((own - way) > best * (1 + 1e-9))
			break;
		double d = square_to_triangle(self->mesh, self->near.items[i], p);
		if (d < square) {
			square = d;
			best = scalar_sqrt(d);
		}
	}
	return square;
}

/* Bound of a node's squared distance: the neighbour's distance plus the cell between them. */
static double square_beside(const struct distance_field *field, const double *far, uint32_t i)
{
	VALIDATE(i < DISTANCE_FIELD_NODES);
	double beside = i % SIDE > 0	      ? far[i - 1]
			: i / SIDE % SIDE > 0 ? far[i - SIDE]
			: i >= SIDE * SIDE    ? far[i - SIDE * SIDE]
					      : SCALAR_MAX;
	if (beside == SCALAR_MAX)
		return SCALAR_MAX;
	return scalar_square((beside + field->cell) * (1 + 1e-6));
}

static enum status fill_brick(struct distance_field_build *self, uint32_t brick)
{
	ASSERT(brick < self->field->brick_count);
	struct distance_field *field = self->field;
	uint32_t at = self->block_of[brick], n = DISTANCE_FIELD_BRICK;
	uint32_t x = at % field->blocks[0] * n, y = at / field->blocks[0] % field->blocks[1] * n;
	uint32_t z = at / field->blocks[0] / field->blocks[1] * n;
	double half = n / 2 * field->cell;
	vec3 middle = vec3_add(node_at(field, x, y, z), vec3_all(half));
	enum status status = find_near(self, middle, vec3_length(vec3_all(half)));
	bool many = self->near.count == UINT32_MAX;
	double far[DISTANCE_FIELD_NODES];
	for (uint32_t i = 0; status == STATUS_OK && i < DISTANCE_FIELD_NODES; i++) {
		uint32_t u = x + i % SIDE, v = y + i / SIDE % SIDE, w = z + i / SIDE / SIDE;
		vec3 p = node_at(field, u, v, w);
		double square = many ? square_within(self->mesh, p, square_beside(field, far, i))
				     : square_near(self, p, middle);
		double d = signed_root(self, square, u, v, w);
		far[i] = scalar_abs(d);
		double quanta = scalar_round(d / (field->cell * DISTANCE_FIELD_QUANTUM));
		field->bricks[brick][i] =
			(int16_t)scalar_to_i32_clamped(scalar_clamp(quanta, -32767, 32767));
	}
	return status;
}

/* ---- slices ----------------------------------------------------------------------------------- */

static uint32_t phase_items(const struct distance_field_build *self)
{
	switch (self->phase) {
	case PHASE_LINES:
		return self->mesh->triangle_count;
	case PHASE_SORT:
		return 1;
	case PHASE_COARSE:
		return corner_count(self->field);
	case PHASE_MARK:
		return block_count(self->field);
	case PHASE_BRICKS:
		break;
	}
	return self->field->brick_count;
}

static enum status run_item(struct distance_field_build *self, uint32_t at)
{
	ASSERT(at < phase_items(self));
	struct distance_field *field = self->field;
	switch (self->phase) {
	case PHASE_LINES:
		return scan_triangle(self, at);
	case PHASE_SORT:
		return sort_hits(self);
	case PHASE_COARSE:
		fill_corner(self, at);
		return STATUS_OK;
	case PHASE_MARK:
		field->brick_of[at] = is_near(self, at) ? field->brick_count++ : UINT32_MAX;
		return STATUS_OK;
	case PHASE_BRICKS:
		break;
	}
	return fill_brick(self, at);
}

static enum status next_phase(struct distance_field_build *self, struct reason *why)
{
	ASSERT(self->phase < PHASE_BRICKS);
	self->at = 0;
	self->phase++;
	return self->phase == PHASE_BRICKS ? allocate_bricks(self, why) : STATUS_OK;
}

enum status distance_field_build_step(struct distance_field_build *self, uint32_t work,
				      struct distance_field **out, struct reason *why)
{
	ASSERT(self->field != NULL);
	enum status status = STATUS_OK;
	uint64_t done = 0;
	while (status == STATUS_OK) {
		if (self->at < phase_items(self)) {
			done += self->phase == PHASE_BRICKS ? DISTANCE_FIELD_NODES : 1;
			status = run_item(self, self->at++);
			if (status == STATUS_OK && done >= work)
				return STATUS_AGAIN;
		} else if (self->phase == PHASE_BRICKS) {
			*out = self->field;
			self->field = NULL;
			return STATUS_OK;
		} else {
			status = next_phase(self, why);
		}
	}
	return status == STATUS_NO_MEMORY
		       ? reason_set(why, status, -1, "resolution", "out of memory")
		       : status;
}

enum status distance_field_create(const struct mesh *mesh, uint32_t resolution, size_t bytes_max,
				  struct distance_field **out, struct reason *why)
{
	struct distance_field_build *self;
	enum status status = distance_field_build_create(mesh, resolution, bytes_max, &self, why);
	if (status != STATUS_OK)
		return status;
	do
		status = distance_field_build_step(self, UINT32_MAX, out, why);
	while (status == STATUS_AGAIN);
	distance_field_build_destroy(self);
	return status;
}
