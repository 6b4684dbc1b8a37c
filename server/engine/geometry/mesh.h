/* mesh.h: a static triangle surface: adjacency, colliding edges, and its bounding hierarchy.
 *
 * A triangle's normal is that of its corners in order, counter-clockwise from outside. Vertices at
 * exactly equal positions count as one for adjacency, so that a surface whose vertices were
 * duplicated (for texture seams, say) is still connected.
 *
 * The functions of triangles below, walks and rays also serve the surface of a heightfield, whose
 * struct mesh has no arrays (heightfield.h). All else is for stored meshes.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_MESH_H
#define CAIRN_ENGINE_GEOMETRY_MESH_H

#include "server/engine/geometry/heightfield.h"
#include "server/engine/geometry/shape.h"

/* An edge whose neighbour bends down by less than this sine (0.9°) counts as flat: a body cannot
 * catch on it, so a contact there takes the triangle's normal, which is wrong by at most that
 * angle. With a smaller value, bodies bump on the edges of nearly flat floors; a larger one rounds
 * off real edges. */
#define MESH_FLAT_SINE 0x1p-6

/* Bound of the hierarchy's depth, hence of the stack of a traversal. */
enum { MESH_DEPTH_MAX = 64, MESH_LEAF_TRIANGLES = 4 };

/* The number of the vertex at corner 0, 1 or 2 of a triangle. */
static inline uint32_t mesh_vertex_of(const struct mesh *mesh, uint32_t triangle, uint32_t corner)
{
	VALIDATE(triangle < mesh->triangle_count && corner < 3);
	if (mesh->grid != NULL)
		return heightfield_vertex_of(mesh->grid, triangle, corner);
	return mesh->triangles[triangle][corner];
}
static inline vec3 mesh_vertex(const struct mesh *mesh, uint32_t vertex)
{
	VALIDATE(vertex < mesh->vertex_count);
	return mesh->grid != NULL ? heightfield_vertex(mesh->grid, vertex) : mesh->vertices[vertex];
}
/* Corner 0, 1 or 2 of a triangle. */
static inline vec3 mesh_corner(const struct mesh *mesh, uint32_t triangle, uint32_t corner)
{
	return mesh_vertex(mesh, mesh_vertex_of(mesh, triangle, corner));
}
static inline void mesh_corners(const struct mesh *mesh, uint32_t triangle, vec3 out[3])
{
	if (mesh->grid != NULL) {
		heightfield_corners(mesh->grid, triangle, out);
		return;
	}
	for (uint32_t k = 0; k < 3; k++)
		out[k] = mesh_corner(mesh, triangle, k);
}
/* The triangle across the edge from corner `edge` to the next; UINT32_MAX: none. */
static inline uint32_t mesh_across(const struct mesh *mesh, uint32_t triangle, uint32_t edge)
{
	VALIDATE(triangle < mesh->triangle_count && edge < 3);
	return mesh->grid != NULL ? heightfield_across(mesh->grid, triangle, edge)
				  : mesh->adjacent[triangle][edge];
}
/* As mesh_edge_is_open, computed from the triangles on both sides. */
bool mesh_edge_bends(const struct mesh *mesh, uint32_t triangle, uint32_t edge);
/* Whether the edge is a border or bends outwards, so that it may give a contact its normal. */
static inline bool mesh_edge_is_open(const struct mesh *mesh, uint32_t triangle, uint32_t edge)
{
	VALIDATE(triangle < mesh->triangle_count && edge < 3);
	return mesh->grid != NULL ? mesh_edge_bends(mesh, triangle, edge)
				  : mesh->edge_flags[triangle] >> edge & 1;
}
/* The number of the triangle's patch. */
static inline uint32_t mesh_patch(const struct mesh *mesh, uint32_t triangle)
{
	VALIDATE(triangle < mesh->triangle_count);
	if (mesh->grid != NULL)
		return heightfield_patch(mesh->grid, triangle);
	return mesh->patches != NULL ? mesh->patches[triangle] : 0;
}
/* A point that the surface has; the same at each call. */
vec3 mesh_some_point(const struct mesh *mesh);
/* Unit normal. */
vec3 mesh_normal(const struct mesh *mesh, uint32_t triangle);
struct aabb mesh_triangle_aabb(const struct mesh *mesh, uint32_t triangle);

/* Iterates over the triangles whose boxes overlap a box, in the order of the hierarchy's leaves,
 * which depends on the mesh alone. */
struct mesh_walk {
	const struct mesh *mesh; /* borrowed */
	struct aabb box;
	uint32_t stack[MESH_DEPTH_MAX];
	uint32_t depth;
	uint32_t leaf_at, leaf_end; /* the rest of the current leaf, in `order` */
	/* Of a heightfield: the cells near the box, and the current block, of whose triangles leaf_at
	 * counts. */
	struct height_cells cells;
	struct height_block block;
};

void mesh_walk_init(struct mesh_walk *self, const struct mesh *mesh, struct aabb box);
/* False at the end. */
bool mesh_walk_next(struct mesh_walk *self, uint32_t *triangle);

/* Writes the first `capacity` of these triangles and returns the total. When the total is greater,
 * call again with more room. */
uint32_t mesh_query(const struct mesh *mesh, struct aabb box, uint32_t *out, uint32_t capacity);

/* Bytes of a mesh's block. */
size_t mesh_bytes(uint32_t vertices, uint32_t triangles);
/* Builds a mesh from a list of triangles, as cooking does; one block, returned owned, for
 * heap_free. Errors: DEGENERATE, RANGE, NO_MEMORY. */
MUST_CHECK enum status mesh_of_triangles(const vec3 *vertices, uint32_t vertex_count,
					 const uint32_t (*triangles)[3], uint32_t triangle_count,
					 struct mesh **out, struct reason *why);

/* For makers of meshes: fills nodes and order. `scratch` needs mesh_tree_scratch_bytes. */
size_t mesh_tree_scratch_bytes(uint32_t triangles);
uint32_t mesh_tree_nodes_max(uint32_t triangles);
void mesh_tree_build(struct mesh *mesh, void *scratch);

#endif
