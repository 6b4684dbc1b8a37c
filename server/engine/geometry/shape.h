/* shape.h: an immutable shape, made once ("cooked") from canonical bytes and shared by every world.
 *
 * Canonical bytes, little-endian, no padding. A shape's name is their SHA-256:
 *
 *   u8 kind, u8 version = 1, then
 *   sphere   f64 radius
 *   capsule  f64 half_length, f64 radius              axis along y, from (0,-h,0) to (0,h,0)
 *   box      f64 half_x, half_y, half_z
 *   hull     u32 count, count × 3 f64                  a point cloud, whose hull is computed
 *   plane    3 f64 normal (unit), f64 offset           half-space normal·x <= offset; static only
 *   mesh     u32 vertices, u32 triangles, vertices × 3 f64, triangles × 3 u32   static only;
 *            then, if the triangles have numbers (patches, by which a body gives them materials):
 *            triangles × u8, each below PATCHES_END, not all 0
 *   polygon  u32 count, f64 radius, count × 2 f64      planar: convex, in x-y, rounded by radius >=
 *   0 solid    u8 form, u8 0, u16 detail, f64 weld, f64 tolerance, then as mesh   a closed mesh,
 *   moving:
 *              form 1 its hull, of at most `detail` vertices (0: 1024); 2 convex parts, at most
 *              `detail` (0: 64), each within `tolerance` metres of the mesh (0: 1/50 of its size);
 *              3 a distance field of `detail` cells (0: 64) along its longest side. Vertices at
 *              most `weld` metres apart are one (0: equal ones); see solid.h
 *   rounded  u8 form, u8 0, f64 radius, then the core: form 1 a box, 3 f64 half; form 2 a hull, u32
 *   count,
 *              count × 3 f64. All points within `radius` of the core: rounded outwards; see
 *              rounded.c
 *   cylinder f64 half_length, f64 radius               axis along y, flat ends at y = ±h
 *   cone     f64 half_length, f64 radius               apex (0,h,0), base of that radius at y = −h
 *   ellipsoid 3 f64 half axes
 *   heightfield u8 flags, u8 0, u32 columns, u32 rows, f64 cell_x, f64 cell_z, columns × rows f32 heights,
 *            row by row; static only. Flag 1: then a bit for each cell, lowest first, 1: a hole; flag 2: the
 *            outermost ring is an apron; flag 4: then a u8 patch for each cell. See heightfield.h
 *
 * A polygon's vertices may run either way round and are kept counter-clockwise. Coordinates and
 * offsets are at most SHAPE_LENGTH_MAX in size; radii and half lengths at least SHAPE_LENGTH_MIN (a
 * polygon's radius may be 0). Cooking checks every number against the limits below, refuses what is
 * degenerate with a reason that names the vertex, and computes mass properties by exact volume
 * integrals (app D-01…D-06).
 */
#ifndef CAIRN_ENGINE_GEOMETRY_SHAPE_H
#define CAIRN_ENGINE_GEOMETRY_SHAPE_H

#include "server/base/status.h"
#include "server/engine/geometry/aabb.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/pose.h"
#include "server/engine/math/vec3.h"

enum shape_kind {
	SHAPE_SPHERE = 1,
	SHAPE_CAPSULE = 2,
	SHAPE_BOX = 3,
	SHAPE_HULL = 4,
	SHAPE_PLANE = 5,
	SHAPE_MESH = 6,
	SHAPE_POLYGON = 7,
	SHAPE_SOLID = 8,
	SHAPE_ROUNDED = 9, /* a box or hull with a radius */
	SHAPE_CYLINDER = 10,
	SHAPE_CONE = 11,
	SHAPE_ELLIPSOID = 12,
	SHAPE_HEIGHTFIELD = 13,
	SHAPE_KINDS = 14, /* one more than the last */
};

enum {
	SHAPE_NAME_BYTES = 32,		/* SHA-256 */
	SHAPE_CLOUD_MAX = 65536,	/* points offered to the hull */
	SHAPE_HULL_VERTICES_MAX = 1024, /* vertices of the finished hull */
	SHAPE_MESH_VERTICES_MAX = 1 << 21,
	SHAPE_MESH_TRIANGLES_MAX = 1 << 21,
	SHAPE_POLYGON_VERTICES_MAX = 64,
	SHAPE_HEIGHTFIELD_SIDE_MAX = 4098, /* samples along x and along z */
};
/* Lengths in metres. A feature smaller than the least cannot support a stable contact; a larger
 * shape would lose millimetres in world coordinates. */
#define SHAPE_LENGTH_MIN 1e-4
#define SHAPE_LENGTH_MAX 1e5
/* Greatest ratio of the lengths of a cylinder, cone or ellipsoid. A thinner one is a sliver: its
 * curvature spans so many orders of magnitude that no tolerance of a contact suits both ends. */
#define SHAPE_SLENDER_MAX 1e4

/* A convex polyhedron. Faces are planar polygons (coplanar triangles are merged), counter-clockwise
 * seen from outside. Half-edge h: `origin` vertex, `twin` on the neighbour, `next` around its face. */
struct half_edge {
	uint16_t origin, twin, next, face;
};
struct hull_face {
	vec3 normal;   /* unit, outward */
	double offset; /* normal · x for points of the face */
	uint16_t edge; /* one half-edge of its loop */
	uint16_t edge_count;
};
struct hull {
	uint32_t vertex_count, face_count, edge_count; /* edge_count counts half-edges */
	vec3 *vertices;
	struct half_edge *edges;
	struct hull_face *faces;
	uint16_t *vertex_edge; /* a half-edge leaving each vertex */
	vec3 centre;	       /* mean of the vertices: an interior point */
};

/* A triangle surface, one-sided (outside = the side its counter-clockwise normal points to), with a
 * static bounding hierarchy over the triangles. */
struct mesh_node {
	vec3 min, max;
	uint32_t
		first; /* leaf: first entry of `order`; inner: index of the right child (left = this+1) */
	uint32_t count; /* leaf: triangles, > 0; inner: 0 */
};
struct mesh {
	uint32_t vertex_count, triangle_count, node_count;
	vec3 *vertices;
	uint32_t (*triangles)[3];
	uint32_t (*adjacent)[3]; /* triangle across edge i → i+1, or UINT32_MAX */
	uint8_t *edge_flags; /* bit i: edge i is convex or a boundary (may give an edge normal) */
	uint32_t *order;     /* triangles in leaf order */
	const uint8_t *patches; /* number of each triangle; NULL: all are 0 */
	uint32_t patch_max;	/* the largest of them */
	struct mesh_node *nodes;
	bool closed;	      /* every edge has exactly two triangles, consistently oriented */
	uint32_t loose_edges; /* the number of other edges */
	uint32_t junctions;   /* of these, the ones on which a vertex of another triangle lies */
	/* Not NULL: the triangles are those of a heightfield, computed on demand; the arrays above are
	 * then NULL, and the functions of mesh.h give what they would hold. */
	const struct heightfield *grid;
};

struct polygon {
	uint32_t count;
	double radius;
	vec3 vertices[SHAPE_POLYGON_VERTICES_MAX]; /* counter-clockwise about +z, z = 0 */
	vec3 normals[SHAPE_POLYGON_VERTICES_MAX];  /* of edge i → i+1 */
};

/* For unit density (kg/m³; kg/m² for polygons), in the shape's own frame. */
struct mass_properties {
	double volume; /* m³ (m² for polygons; 0 for plane and open mesh) */
	vec3 centre;
	mat3 inertia; /* about the centre */
};

struct shape {
	enum shape_kind kind;
	uint8_t name[SHAPE_NAME_BYTES];
	uint8_t *canonical; /* owned */
	size_t canonical_bytes;
	struct mass_properties mass;
	vec3 aabb_min, aabb_max; /* in the shape's frame; ±SHAPE_LENGTH_MAX for a plane */
	double radius_max; /* farthest point from the mass centre (rotation sphere of ch1-3 A-04) */
	double extent_min; /* least distance from the mass centre to the surface: the scale for
				  * fast motion; 0 for plane and mesh, which never move */
	union {
		struct {
			double radius;
		} sphere;
		struct {
			double half_length, radius;
		} capsule;
		struct {
			vec3 half;
		} box;
		struct {
			vec3 normal;
			double offset;
		} plane;
		struct mesh *mesh;	 /* owned; also of a heightfield */
		struct polygon *polygon; /* owned */
		struct solid *solid;	 /* owned; solid.h */
		struct {
			double radius;
			vec3 half; /* of a rounded box; zero of a rounded hull */
		} rounded;	   /* the core is the hull of `stand_in` */
		struct {
			double half_length, radius;
		} cylinder, cone;
		struct {
			vec3 half;
		} ellipsoid;
	};
	struct hull *hull; /* owned; of a hull, and of a box (8 vertices, 6 faces); else NULL */
	/* Owned, a hull; NULL except for rounded shapes, whose core it is, and cylinders, cones and
	 * ellipsoids: the hull of points of their surface (curve.h says how far it is off), used
	 * against distance fields. */
	struct shape *stand_in;
	size_t memory_bytes;
	uint64_t
		serial; /* unique in this process; for caches only, because it is not deterministic */
	_Atomic uint32_t references;
};

/* Makes a shape from canonical bytes. `name` (32 bytes, may be NULL → zeros) is copied in, not
 * checked. On success *out is returned owned with one reference. Errors: RANGE, NOT_FINITE,
 * DEGENERATE, TOO_LARGE, MALFORMED, VERSION, NO_MEMORY, each with `why` (may be NULL). Reads
 * nothing outside data[0 … bytes). */
MUST_CHECK enum status shape_cook(const uint8_t *data, size_t bytes, const uint8_t *name,
				  struct shape **out, struct reason *why);

/* A hull without name and canonical bytes, as part of another shape. Errors as hull_of_points. */
MUST_CHECK enum status shape_of_points(const vec3 *points, uint32_t count, struct shape **out,
				       struct reason *why);

/* Facts for SHAPE_INFO: vertices, edges, faces, memory in bytes; for a mesh also 1 when closed,
 * else 0; for a heightfield the samples, 0, the triangles that can be hit, memory, and the cells
 * that are holes; for a solid also its parts, their volume in m³, its rotation radius in m, the
 * cells of its field. Returns the count. */
enum { SHAPE_FACTS_MAX = 8 };
uint32_t shape_facts(const struct shape *shape, double facts[SHAPE_FACTS_MAX]);

/* The i-th repair or finding of cooking, cut to `bytes`; false: there is none. */
bool shape_warning(const struct shape *shape, uint32_t i, char *text, size_t bytes);

/* The number of pieces that collide separately: the triangles of a mesh or heightfield (those of holes
 * and of the apron included, which nothing touches), the parts of a solid, the
 * sides of a field; 1 for every other kind. */
uint32_t shape_piece_count(const struct shape *shape);
/* The piece's box in the shape's frame; not of a plane. */
struct aabb shape_piece_aabb(const struct shape *shape, uint32_t piece);
/* The part `*child` of a solid of parts, which is a hull with one piece, and *child becomes 0; else
 * the shape itself. Borrowed. */
const struct shape *shape_part(const struct shape *shape, uint32_t *child);
/* Whether the shape is a solid in the form of a distance field. */
bool shape_is_field(const struct shape *shape);
/* Whether contacts of the first shape, a field, with the second are computed side by side: not
 * against half-spaces, meshes and solids of several parts, whose pieces have one manifold each. */
bool shape_is_sided(const struct shape *field, const struct shape *other);
/* The exact geometry of a shape, used by rays, casts, overlaps and nearest points: the mesh of a
 * field, else the shape itself. Borrowed. */
const struct shape *shape_exact(const struct shape *shape);

/* Whether the shape is a surface of triangles, those of `mesh`: it has no inside, is solid from one
 * side only, and its triangles are its pieces. */
static inline bool shape_is_surface(const struct shape *shape)
{
	return shape->kind == SHAPE_MESH || shape->kind == SHAPE_HEIGHTFIELD;
}
/* Whether the shape is a half-space or a surface, which have no mass and so never move by forces. */
static inline bool shape_is_ground(const struct shape *shape)
{
	return shape->kind == SHAPE_PLANE || shape_is_surface(shape);
}
/* Whether the shape is a cylinder, a cone or an ellipsoid: its core is no polytope (curve.h). */
static inline bool shape_is_curved(const struct shape *shape)
{
	return shape->kind >= SHAPE_CYLINDER && shape->kind <= SHAPE_ELLIPSOID;
}
/* Whether the surface has a curvature, so that contacts roll over it. */
static inline bool shape_is_smooth(const struct shape *shape)
{
	return shape->kind <= SHAPE_CAPSULE ||
	       (shape->kind >= SHAPE_ROUNDED && shape->kind <= SHAPE_ELLIPSOID);
}

/* References may be taken and dropped from any thread; the last drop frees the shape. */
struct shape *shape_retain(const struct shape *shape);
void shape_release(struct shape *shape);
/* Whether references other than the caller's own exist. False is final, because no other holder is
 * left to retain it. True may be outdated when it is read. */
bool shape_shared(const struct shape *shape);

/* "sphere" … "heightfield"; "unknown" for a number outside the kinds. Never NULL. */
const char *shape_kind_name(enum shape_kind kind);

/* The least box around the shape at `at`. A mesh's is the box of its vertices, a heightfield's the box of
 * its own box; a plane's reaches to
 * AABB_EVERYWHERE on every side except along its normal, where that is exactly an axis. */
struct aabb shape_aabb(const struct shape *shape, const pose *at);

#endif
