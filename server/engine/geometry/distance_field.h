/* distance_field.h: signed distance to a closed mesh, sampled on a grid (app G).
 *
 * Negative inside, positive outside, metres. The grid (G-01, G-02) has cells of edge c = largest
 * extent / resolution on every axis and extends at least one cell beyond the mesh. Every 8th node
 * of each axis stores its exact distance. A block of 8³ cells with surface within one cell is a
 * brick: all its 9³ nodes store their distances, as multiples of c/1024. (In a grid of at most 300
 * blocks, blocks up to 18 cells away are bricks too.) So memory grows with the surface, not with
 * the volume. Between nodes values are trilinear. Distances are Euclidean and exact up to that
 * rounding (the book's axis distances are not); signs are exact, found along scanlines by winding
 * number as in intersect_point_mesh.
 *
 * A field is immutable and independent of its mesh once built. The same mesh and resolution give
 * the same bits on every machine.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_H
#define CAIRN_ENGINE_GEOMETRY_DISTANCE_FIELD_H

#include "server/engine/geometry/mesh.h"

enum {
	DISTANCE_FIELD_BRICK = 8, /* cells a block is long */
	DISTANCE_FIELD_NODES = (DISTANCE_FIELD_BRICK + 1) * (DISTANCE_FIELD_BRICK + 1) *
			       (DISTANCE_FIELD_BRICK + 1),
	DISTANCE_FIELD_RESOLUTION_MIN = 2,
	DISTANCE_FIELD_RESOLUTION_MAX = 1024,
};
/* Resolution of a stored value, in cells. 32767 quanta are 31.99 cells; a brick's values stay below
 * 31.9 (18 + 8 √3), so a finer quantum would clamp them. */
#define DISTANCE_FIELD_QUANTUM 0x1p-10

struct distance_field {
	vec3 origin;	    /* node 0 0 0 */
	double cell;	    /* m */
	uint32_t cells[3];  /* r of G-01: nodes are r + 1 an axis */
	uint32_t blocks[3]; /* ceil(cells / 8) */
	uint32_t brick_count;
	uint32_t *brick_of; /* of a block: its brick, or UINT32_MAX for a bare block; x fastest */
	float *coarse;	    /* at the (blocks + 1)³ corners of blocks, m; x fastest */
	int16_t (*bricks)[DISTANCE_FIELD_NODES]; /* in quanta; x fastest */
	struct aabb solid;			 /* box of the mesh */
	double deepest;				 /* least value of any node, m */
	size_t bytes;				 /* of the whole field */
	uint64_t hits;				 /* scanline crossings, for statistics */
};

/* Builds a field with `resolution` cells along the longest side. `bytes_max` 0: no limit. Returned
 * owned in *out. Errors: DEGENERATE (the mesh is open, flat or inside out), RANGE (resolution),
 * LIMIT (over bytes_max; `why` gives the bytes needed), NO_MEMORY. */
MUST_CHECK enum status distance_field_create(const struct mesh *mesh, uint32_t resolution,
					     size_t bytes_max, struct distance_field **out,
					     struct reason *why);
void distance_field_destroy(struct distance_field *self);

/* The same in slices, for a thread that must handle other work in between. */
struct distance_field_build;
/* The mesh is borrowed until distance_field_build_destroy. Errors as of distance_field_create,
 * without LIMIT. */
MUST_CHECK enum status distance_field_build_create(const struct mesh *mesh, uint32_t resolution,
						   size_t bytes_max,
						   struct distance_field_build **out,
						   struct reason *why);
/* Continues for about `work` nodes or triangles. OK: finished, *out is returned owned. AGAIN: call
 * again. LIMIT, NO_MEMORY: only distance_field_build_destroy may follow. The result does not depend
 * on the slices. */
MUST_CHECK enum status distance_field_build_step(struct distance_field_build *self, uint32_t work,
						 struct distance_field **out, struct reason *why);
void distance_field_build_destroy(struct distance_field_build *self);

/* ---- queries ---------------------------------------------------------------------------------- */

/* G-05: the value at p, m. Outside the grid: false, and *value is a lower bound of the distance. */
bool distance_field_value(const struct distance_field *self, vec3 p, double *value);

/* A lower bound of the true signed distance at p, m, anywhere in space. */
double distance_field_bound(const struct distance_field *self, vec3 p);

/* G-06: unit vector of steepest ascent, by central differences over one cell (clamped into the
 * grid). False where the field is level (the middle of a ball) or p lies outside the grid. */
bool distance_field_gradient(const struct distance_field *self, vec3 p, vec3 *gradient);

struct distance_field_point {
	vec3 point;	 /* on the surface, as far as `residual` */
	vec3 normal;	 /* unit gradient there */
	double distance; /* the field's value where the search began, m */
	double residual; /* |value| at `point`, m */
	uint32_t iterations;
};

enum { DISTANCE_FIELD_ITERATIONS_MAX = 32 };

/* G-07: the surface point nearest to p. False outside the grid and where the gradient vanishes. */
bool distance_field_closest(const struct distance_field *self, vec3 p,
			    struct distance_field_point *out);

/* ---- a mesh against a field (G-08) ------------------------------------------------------------ */

/* A mesh prepared for collision with a field. Of the triangles that share a vertex or an edge the
 * first owns it, so each is tested once. */
struct distance_field_probe {
	const struct mesh *mesh; /* borrowed */
	uint8_t *owns; /* owned; of each triangle: bits 0–2 its corners, bits 3–5 its edges */
	uint32_t vertices, edges;
};
MUST_CHECK enum status distance_field_probe_init(struct distance_field_probe *self,
						 const struct mesh *mesh);
void distance_field_probe_release(struct distance_field_probe *self);

/* ---- surface extraction (G-10) ---------------------------------------------------------------- */

/* A closed, oriented surface, counter-clockwise from outside. */
struct distance_field_mesh {
	uint32_t vertex_count, triangle_count;
	vec3 *vertices;
	uint32_t (*triangles)[3];
};

/* The surface where the field is 0, by marching tetrahedra, at most SHAPE_MESH_TRIANGLES_MAX
 * triangles. Release with distance_field_mesh_release. Errors: LIMIT, NO_MEMORY. */
MUST_CHECK enum status distance_field_surface(const struct distance_field *self,
					      struct distance_field_mesh *out);
void distance_field_mesh_release(struct distance_field_mesh *self);

#endif
