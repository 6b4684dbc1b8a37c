/* mesh.c: cooking a static triangle surface.
 *
 * Steps: read and check; weld (vertices at exactly equal positions get one number, for adjacency
 * only); refuse triangles that repeat a vertex, have no height, or repeat another triangle; sort
 * the edges, so that the two triangles of an edge are adjacent in the list; decide for each edge
 * whether a body can catch on it; build the hierarchy.
 *
 * An edge shared by exactly two triangles that run along it in opposite directions joins them. Any
 * other edge (one triangle: a border; three or more; two in the same direction) joins none and
 * counts as a border, and the mesh is open.
 *
 * Ghost collisions: a body that slides over a flat row of triangles touches their shared edges as
 * well, and the direction away from an edge can point against the motion. Contacts on an edge that
 * is flat or concave must not take such a direction; edge_flags marks the edges that may: borders
 * and those that bend outwards by more than MESH_FLAT_SINE.
 */
#include "server/engine/geometry/mesh.h"

#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/engine/geometry/closest.h"
#include "server/engine/geometry/cook.h"
#include "server/engine/geometry/mass.h"
#include "server/engine/types.h"

#include <string.h>

/* The least height of a triangle, relative to its longest edge and to the size of its coordinates:
 * below it, the normal is rounding noise. */
#define HEIGHT_PER_EDGE 1e-9
#define HEIGHT_PER_COORDINATE 1e-12

/* Temporary arrays, all in one block. Sized for the larger of the vertices and three a triangle. */
struct mesh_scratch {
	uint64_t *keys, *keys_other;
	uint32_t *values, *values_other;
	uint32_t *weld; /* of each vertex: the first vertex at its place */
};

vec3 mesh_some_point(const struct mesh *mesh)
{
	struct aabb everywhere = aabb_of_centre(vec3_zero(), vec3_all(AABB_EVERYWHERE));
	struct mesh_walk walk;
	uint32_t triangle = 0;
	if (mesh->grid == NULL)
		return mesh_corner(mesh, 0, 0);
	mesh_walk_init(&walk, mesh, everywhere);
	bool found = mesh_walk_next(&walk, &triangle);
	ASSERT(found); /* a heightfield has a cell that is no hole */
	return mesh_corner(mesh, triangle, 0);
}

vec3 mesh_normal(const struct mesh *mesh, uint32_t triangle)
{
	vec3 a = mesh_corner(mesh, triangle, 0);
	return vec3_normalize(vec3_cross(vec3_sub(mesh_corner(mesh, triangle, 1), a),
					 vec3_sub(mesh_corner(mesh, triangle, 2), a)));
}

struct aabb mesh_triangle_aabb(const struct mesh *mesh, uint32_t triangle)
{
	struct aabb box = aabb_of_point(mesh_corner(mesh, triangle, 0));
	box = aabb_add_point(box, mesh_corner(mesh, triangle, 1));
	return aabb_add_point(box, mesh_corner(mesh, triangle, 2));
}

/* ---- memory ----------------------------------------------------------------------------------- */

size_t mesh_bytes(uint32_t vertices, uint32_t triangles)
{
	return sizeof(struct mesh) + mesh_tree_nodes_max(triangles) * sizeof(struct mesh_node) +
	       vertices * sizeof(vec3) + triangles * (7 * sizeof(uint32_t) + 1);
}

/* With `more` bytes after the edge flags. */
static struct mesh *mesh_alloc(uint32_t vertices, uint32_t triangles, uint32_t more)
{
	ASSERT(vertices > 0 && triangles > 0);
	uint32_t nodes = mesh_tree_nodes_max(triangles);
	struct mesh *mesh = heap_alloc(mesh_bytes(vertices, triangles) + more);
	if (mesh == NULL)
		return NULL;
	*mesh = (struct mesh){ .vertex_count = vertices, .triangle_count = triangles };
	/* Parts in falling order of alignment. */
	mesh->nodes = (struct mesh_node *)(mesh + 1);
	mesh->vertices = (vec3 *)(mesh->nodes + nodes);
	mesh->triangles = (uint32_t(*)[3])(mesh->vertices + vertices);
	mesh->adjacent = mesh->triangles + triangles;
	mesh->order = (uint32_t *)(mesh->adjacent + triangles);
	mesh->edge_flags = (uint8_t *)(mesh->order + triangles);
	return mesh;
}

/* Returned owned: the block itself is scratch->keys. */
static bool scratch_alloc(struct mesh_scratch *scratch, const struct mesh *mesh)
{
	size_t items = MAX_OF((size_t)mesh->triangle_count * 3, (size_t)mesh->vertex_count);
	size_t bytes = items * 24 + (size_t)mesh->vertex_count * 4;
	bytes = MAX_OF(bytes, mesh_tree_scratch_bytes(mesh->triangle_count));
	scratch->keys = heap_alloc(bytes);
	if (scratch->keys == NULL)
		return false;
	scratch->keys_other = scratch->keys + items;
	scratch->values = (uint32_t *)(scratch->keys_other + items);
	scratch->values_other = scratch->values + items;
	scratch->weld = scratch->values_other + items;
	return true;
}

/* ---- checks ----------------------------------------------------------------------------------- */

/* Welds by three stable sorts, z first and x last, so that vertices are ordered by x, y, z, then
 * number. Adding 0 turns −0 into +0. */
static void weld(const struct mesh *mesh, const struct mesh_scratch *scratch)
{
	ASSERT(mesh->vertex_count > 0);
	uint32_t count = mesh->vertex_count;
	for (uint32_t i = 0; i < count; i++)
		scratch->values[i] = i;
	for (uint32_t axis = 3; axis-- > 0;) {
		for (uint32_t i = 0; i < count; i++) {
			vec3 p = mesh->vertices[scratch->values[i]];
			scratch->keys[i] = sort_key_of_double(vec3_get(p, axis) + 0.0);
		}
		sort_keys(scratch->keys, scratch->values, scratch->keys_other,
			  scratch->values_other, count);
	}
	uint32_t first = 0;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t vertex = scratch->values[i];
		if (i == 0 || !vec3_equal(mesh->vertices[vertex], mesh->vertices[first]))
			first = vertex;
		scratch->weld[vertex] = first;
	}
}

static enum status check_triangle(struct reason *why, const struct mesh *mesh, uint32_t t)
{
	VALIDATE(t < mesh->triangle_count);
	vec3 a = mesh_corner(mesh, t, 0), b = mesh_corner(mesh, t, 1), c = mesh_corner(mesh, t, 2);
	double longest = scalar_sqrt(
		scalar_max(scalar_max(vec3_distance_squared(a, b), vec3_distance_squared(b, c)),
			   vec3_distance_squared(c, a)));
	double size = vec3_max_component(vec3_max(vec3_max(vec3_abs(a), vec3_abs(b)), vec3_abs(c)));
	double area = vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
	double least = scalar_max(HEIGHT_PER_EDGE * longest, HEIGHT_PER_COORDINATE * size);
	if (!(longest > 0) || !(area / longest > least))
		return reason_set(
			why, STATUS_DEGENERATE, t, "triangles",
			"triangle %u has no area (height %g m, longest edge %g m, at least %g m needed)",
			t, longest > 0 ? area / longest : 0, longest, least);
	return STATUS_OK;
}

static enum status read_triangles(struct cook *cook, struct mesh *mesh)
{
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t vertex = read_u32(&cook->reader);
			if (vertex >= mesh->vertex_count)
				return reason_set(cook->why, STATUS_RANGE, t, "triangles",
						  "triangle %u names vertex %u of %u", t, vertex,
						  mesh->vertex_count);
			mesh->triangles[t][k] = vertex;
		}
		enum status status = check_triangle(cook->why, mesh, t);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* `patches` is their room. */
static enum status read_patches(struct cook *cook, struct mesh *mesh, uint8_t *patches)
{
	ASSERT(patches != NULL && mesh->patch_max == 0);
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		patches[t] = read_u8(&cook->reader);
		if (patches[t] >= PATCHES_END)
			return reason_set(cook->why, STATUS_RANGE, t, "patches",
					  "triangle %u has patch %u: it must be at most %u", t,
					  patches[t], PATCHES_END - 1);
		mesh->patch_max = MAX_OF(mesh->patch_max, patches[t]);
	}
	if (mesh->patch_max == 0)
		return reason_set(cook->why, STATUS_RANGE, -1, "patches",
				  "all patches are 0: leave them out");
	mesh->patches = patches;
	return STATUS_OK;
}

/* Three vertex numbers below 2^21 fit one key. */
_Static_assert(SHAPE_MESH_VERTICES_MAX <= 1 << 21, "three vertex numbers fit 63 bits");

static enum status check_repeats(struct reason *why, const struct mesh *mesh,
				 const struct mesh_scratch *scratch)
{
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		uint64_t a = scratch->weld[mesh->triangles[t][0]];
		uint64_t b = scratch->weld[mesh->triangles[t][1]];
		uint64_t c = scratch->weld[mesh->triangles[t][2]];
		uint64_t low = MIN_OF(a, MIN_OF(b, c)), high = MAX_OF(a, MAX_OF(b, c));
		scratch->keys[t] = low << 42 | (a + b + c - low - high) << 21 | high;
		scratch->values[t] = t;
	}
	sort_keys(scratch->keys, scratch->values, scratch->keys_other, scratch->values_other,
		  mesh->triangle_count);
	for (uint32_t i = 1; i < mesh->triangle_count; i++)
		if (scratch->keys[i] == scratch->keys[i - 1])
			return reason_set(why, STATUS_DEGENERATE, scratch->values[i], "triangles",
					  "triangle %u repeats triangle %u", scratch->values[i],
					  scratch->values[i - 1]);
	return STATUS_OK;
}

/* ---- edges ------------------------------------------------------------------------------------ */

/* Half-edge 3t + k runs from corner k to corner k + 1 of triangle t. */
static uint32_t edge_start(const struct mesh *mesh, const struct mesh_scratch *scratch,
			   uint32_t edge)
{
	VALIDATE(edge < 3 * mesh->triangle_count);
	return scratch->weld[mesh->triangles[edge / 3][edge % 3]];
}

static uint32_t edge_end(const struct mesh *mesh, const struct mesh_scratch *scratch, uint32_t edge)
{
	VALIDATE(edge < 3 * mesh->triangle_count);
	return scratch->weld[mesh->triangles[edge / 3][(edge % 3 + 1) % 3]];
}

/* Joins the half-edges of one undirected edge; false when they are not exactly two of opposite
 * direction. */
static bool join_triangles(struct mesh *mesh, const struct mesh_scratch *scratch,
			   const uint32_t *edges, uint32_t count)
{
	ASSERT(count > 0);
	if (count != 2)
		return false;
	if (edge_start(mesh, scratch, edges[0]) != edge_end(mesh, scratch, edges[1]))
		return false;
	mesh->adjacent[edges[0] / 3][edges[0] % 3] = edges[1] / 3;
	mesh->adjacent[edges[1] / 3][edges[1] % 3] = edges[0] / 3;
	return true;
}

#ifdef CAIRN_VALIDATE
static bool adjacency_is_mutual(const struct mesh *mesh)
{
	for (uint32_t t = 0; t < mesh->triangle_count; t++)
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t other = mesh->adjacent[t][k];
			if (other == UINT32_MAX)
				continue;
			if (mesh->adjacent[other][0] != t && mesh->adjacent[other][1] != t &&
			    mesh->adjacent[other][2] != t)
				return false;
		}
	return true;
}
#endif

static void find_adjacent(struct mesh *mesh, const struct mesh_scratch *scratch)
{
	uint32_t count = mesh->triangle_count * 3;
	memset(mesh->adjacent, 0xff, mesh->triangle_count * sizeof *mesh->adjacent);
	for (uint32_t e = 0; e < count; e++) {
		uint64_t a = edge_start(mesh, scratch, e), b = edge_end(mesh, scratch, e);
		scratch->keys[e] = MIN_OF(a, b) << 32 | MAX_OF(a, b);
		scratch->values[e] = e;
	}
	sort_keys(scratch->keys, scratch->values, scratch->keys_other, scratch->values_other,
		  count);
	mesh->loose_edges = 0;
	for (uint32_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && scratch->keys[end] == scratch->keys[i]; end++)
			;
		if (!join_triangles(mesh, scratch, scratch->values + i, end - i))
			mesh->loose_edges++;
	}
	VALIDATE(adjacency_is_mutual(mesh));
	mesh->closed = mesh->loose_edges == 0;
}

/* The corner of `triangle` opposite to the edge that it shares with `other`, which is other's edge
 * k. */
static vec3 far_corner(const struct mesh *mesh, uint32_t triangle, uint32_t other, uint32_t k)
{
	vec3 a = mesh_corner(mesh, other, k), b = mesh_corner(mesh, other, (k + 1) % 3);
	for (uint32_t i = 0; i < 3; i++) {
		vec3 p = mesh_corner(mesh, triangle, i);
		if (!vec3_equal(p, a) && !vec3_equal(p, b))
			return p;
	}
	return a;
}

bool mesh_edge_bends(const struct mesh *mesh, uint32_t triangle, uint32_t k)
{
	VALIDATE(k < 3);
	uint32_t across = mesh_across(mesh, triangle, k);
	if (across == UINT32_MAX)
		return true;
	vec3 a = mesh_corner(mesh, triangle, k), b = mesh_corner(mesh, triangle, (k + 1) % 3);
	vec3 p = far_corner(mesh, across, triangle, k), n = mesh_normal(mesh, triangle);
	double at, height = vec3_dot(n, vec3_sub(p, a));
	double reach = vec3_distance(p, closest_point_line(p, a, b, &at));
	/* Folded back: the sine is small again, but the edge is sharp. */
	if (vec3_dot(n, mesh_normal(mesh, across)) <= 0)
		return height <= 0;
	return height < -MESH_FLAT_SINE * reach;
}

static void flag_edges(struct mesh *mesh)
{
	for (uint32_t t = 0; t < mesh->triangle_count; t++) {
		mesh->edge_flags[t] = 0;
		for (uint32_t k = 0; k < 3; k++)
			if (mesh_edge_bends(mesh, t, k))
				mesh->edge_flags[t] |= (uint8_t)(1u << k);
	}
}

/* ---- T-junctions ------------------------------------------------------------------------------ */

/* Of an edge's length: a vertex this near to it lies on it, or is one of its ends. */
#define ON_EDGE 1e-6
/* Triangles looked at per triangle of the mesh, at most: bounds the time for a heap of long thin
 * triangles. */
enum { JUNCTION_VISITS = 64 };

static bool is_inside_edge(vec3 from, vec3 to, vec3 p)
{
	vec3 along = vec3_sub(to, from), way = vec3_sub(p, from);
	double square = vec3_length_squared(along), t = vec3_dot(way, along) / square;
	if (!(t > ON_EDGE && t < 1 - ON_EDGE))
		return false;
	return vec3_distance_squared(way, vec3_scale(along, t)) <= ON_EDGE * ON_EDGE * square;
}

/* Whether a vertex of another triangle lies inside edge k. *visits is counted down. */
static bool has_junction(const struct mesh *mesh, uint32_t triangle, uint32_t k, uint64_t *visits)
{
	vec3 from = mesh_corner(mesh, triangle, k), to = mesh_corner(mesh, triangle, (k + 1) % 3);
	double near = ON_EDGE * vec3_distance(from, to);
	struct mesh_walk walk;
	uint32_t other;
	mesh_walk_init(&walk, mesh,
		       aabb_grow(aabb_make(vec3_min(from, to), vec3_max(from, to)), near));
	while (*visits > 0 && mesh_walk_next(&walk, &other)) {
		--*visits;
		for (uint32_t c = 0; c < 3 && other != triangle; c++)
			if (is_inside_edge(from, to, mesh_corner(mesh, other, c)))
				return true;
	}
	return false;
}

static void count_junctions(struct mesh *mesh)
{
	uint64_t visits = (uint64_t)JUNCTION_VISITS * mesh->triangle_count;
	mesh->junctions = 0;
	for (uint32_t t = 0; t < mesh->triangle_count && !mesh->closed; t++)
		for (uint32_t k = 0; k < 3; k++)
			if (mesh->adjacent[t][k] == UINT32_MAX)
				mesh->junctions += has_junction(mesh, t, k, &visits);
}

/* ---- cooking ---------------------------------------------------------------------------------- */

static enum status build_mesh(struct reason *why, struct mesh *mesh)
{
	struct mesh_scratch scratch;
	if (!scratch_alloc(&scratch, mesh))
		return reason_set(why, STATUS_NO_MEMORY, -1, "shape", "out of memory");
	weld(mesh, &scratch);
	enum status status = check_repeats(why, mesh, &scratch);
	if (status == STATUS_OK) {
		find_adjacent(mesh, &scratch);
		flag_edges(mesh);
		mesh_tree_build(mesh, scratch.keys);
		count_junctions(mesh);
	}
	heap_free(scratch.keys);
	return status;
}

enum status mesh_of_triangles(const vec3 *vertices, uint32_t vertex_count,
			      const uint32_t (*triangles)[3], uint32_t triangle_count,
			      struct mesh **out, struct reason *why)
{
	struct mesh *mesh = mesh_alloc(vertex_count, triangle_count, 0);
	if (mesh == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "shape", "out of memory");
	memcpy(mesh->vertices, vertices, vertex_count * sizeof *vertices);
	memcpy(mesh->triangles, triangles, triangle_count * sizeof *triangles);
	enum status status = STATUS_OK;
	for (uint32_t t = 0; t < triangle_count && status == STATUS_OK; t++) {
		for (uint32_t k = 0; k < 3; k++)
			if (triangles[t][k] >= vertex_count)
				status = reason_set(why, STATUS_RANGE, t, "triangles",
						    "triangle %u names vertex %u of %u", t,
						    triangles[t][k], vertex_count);
		if (status == STATUS_OK)
			status = check_triangle(why, mesh, t);
	}
	if (status == STATUS_OK)
		status = build_mesh(why, mesh);
	if (status != STATUS_OK) {
		heap_free(mesh);
		return status;
	}
	*out = mesh;
	return STATUS_OK;
}

static void measure_mesh(struct shape *shape)
{
	ASSERT(shape->mesh->node_count > 0);
	const struct mesh *mesh = shape->mesh;
	shape->mass = mass_of_mesh(mesh);
	shape->aabb_min = mesh->nodes[0].min;
	shape->aabb_max = mesh->nodes[0].max;
	for (uint32_t i = 0; i < mesh->vertex_count; i++)
		shape->radius_max = scalar_max(
			shape->radius_max, vec3_distance(mesh->vertices[i], shape->mass.centre));
	ASSERT(shape->mass.volume >= 0);
	shape->extent_min = 0;
}

enum status mesh_cook(struct cook *cook)
{
	ASSERT(cook->shape->kind == SHAPE_MESH);
	uint32_t vertices, triangles;
	enum status status = cook_count(cook, "vertices", 3, SHAPE_MESH_VERTICES_MAX, &vertices);
	if (status == STATUS_OK)
		status = cook_count(cook, "triangles", 1, SHAPE_MESH_TRIANGLES_MAX, &triangles);
	if (status != STATUS_OK)
		return status;
	uint64_t bytes = (uint64_t)vertices * 24 + (uint64_t)triangles * 12;
	bool patched = reader_left(&cook->reader) == bytes + triangles;
	status = cook_expect(cook, patched ? bytes + triangles : bytes);
	if (status != STATUS_OK)
		return status;
	uint32_t more = patched ? triangles : 0;
	struct mesh *mesh = mesh_alloc(vertices, triangles, more);
	if (mesh == NULL)
		return cook_no_memory(cook);
	cook->shape->memory_bytes += mesh_bytes(vertices, triangles) + more;
	cook->shape->mesh = mesh;
	status = cook_points(cook, vertices, 3, mesh->vertices);
	if (status == STATUS_OK)
		status = read_triangles(cook, mesh);
	if (status == STATUS_OK && patched)
		status = read_patches(cook, mesh, mesh->edge_flags + triangles);
	if (status == STATUS_OK)
		status = build_mesh(cook->why, mesh);
	if (status == STATUS_OK)
		measure_mesh(cook->shape);
	return status;
}
