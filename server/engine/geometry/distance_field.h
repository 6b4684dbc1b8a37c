/* distance_field.h: signed distance to a closed mesh, sampled on a grid (app G).
 *
 * Negative inside, positive outside, metres. The grid (G-01, G-02) has cells of edge c = largest extent /
 * resolution on every axis and reaches one cell or more beyond the mesh. Every 8th node of each axis has
 * its exact distance; where the surface is within a cell of such a block of 8³ cells, all its 9³ nodes
 * do, as multiples of c/1024. (Where there are at most 300 blocks, those up to 18 cells away do, too.)
 * So memory grows with the surface, not with the volume. Between nodes values are trilinear. Distances
 * are Euclidean and exact to that rounding (the book's axis distances are not), signs are exact: found
 * along scanlines by winding number, as intersect_point_mesh finds them.
 *
 * A field is immutable and does not need its mesh. The same mesh and resolution give the same bits on every
 * machine.
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
/* What one of the stored numbers stands for, in cells. */
#define DISTANCE_FIELD_QUANTUM 0x1p-10

struct distance_field {
	vec3 origin;	    /* node 0 0 0 */
	double cell;	    /* m */
	uint32_t cells[3];  /* r of G-01: nodes are r + 1 an axis */
	uint32_t blocks[3]; /* ceil(cells / 8) */
	uint32_t brick_count;
	uint32_t *brick_of; /* of a block: its brick, or UINT32_MAX; x fastest */
	float *coarse;	    /* at the (blocks + 1)³ corners of blocks, m; x fastest */
	int16_t (*bricks)[DISTANCE_FIELD_NODES]; /* in quanta; x fastest */
	struct aabb solid;			 /* box of the mesh */
	double deepest;				 /* least value of any node, m */
	size_t bytes;				 /* of all this */
	uint64_t hits;				 /* of scanlines, for statistics */
};

/* `resolution`: cells along the longest side. `bytes_max` 0: no limit. Returned owned in *out. Errors:
 * DEGENERATE (the mesh is open or flat), RANGE (resolution), LIMIT (over bytes_max; `why` says how many
 * there would be), NO_MEMORY. */
MUST_CHECK enum status distance_field_create(const struct mesh *mesh, uint32_t resolution,
					     size_t bytes_max, struct distance_field **out,
					     struct reason *why);
void distance_field_destroy(struct distance_field *self);

/* The same in slices, for a thread that has to listen in between. */
struct distance_field_build;
/* The mesh is borrowed until distance_field_build_destroy. Errors: DEGENERATE, RANGE, NO_MEMORY. */
MUST_CHECK enum status distance_field_build_create(const struct mesh *mesh, uint32_t resolution,
						   size_t bytes_max,
						   struct distance_field_build **out,
						   struct reason *why);
/* Goes on for about `work` nodes or triangles. OK: done, *out is returned owned; AGAIN: call again;
 * LIMIT, NO_MEMORY: only distance_field_build_destroy may follow. Results do not depend on slices. */
MUST_CHECK enum status distance_field_build_step(struct distance_field_build *self, uint32_t work,
						 struct distance_field **out, struct reason *why);
void distance_field_build_destroy(struct distance_field_build *self);

/* ---- asking ----------------------------------------------------------------------------------- */

/* G-05: the value at p. False, and *value a bound from below on the distance, outside the grid. */
bool distance_field_value(const struct distance_field *self, vec3 p, double *value);

/* What the true signed distance at p, anywhere, is surely not under. */
double distance_field_bound(const struct distance_field *self, vec3 p);

/* G-06: unit vector along the steepest rise, by central differences of one cell (clamped into the
 * grid). False where the field is level (the middle of a ball) or p is outside the grid. */
bool distance_field_gradient(const struct distance_field *self, vec3 p, vec3 *gradient);

struct distance_field_point {
	vec3 point;	 /* on the surface, as far as `residual` */
	vec3 normal;	 /* unit gradient there */
	double distance; /* the field's value where the search began, m */
	double residual; /* |value| at `point`, m */
	uint32_t iterations;
};

enum { DISTANCE_FIELD_ITERATIONS_MAX = 32 };

/* G-07: the surface's point nearest to p. False outside the grid and where there is no direction. */
bool distance_field_closest(const struct distance_field *self, vec3 p,
			    struct distance_field_point *out);

/* ---- collision (G-08) ------------------------------------------------------------------------- */

/* Which triangle of a mesh speaks for a vertex or an edge that several share: the first. */
struct distance_field_probe {
	const struct mesh *mesh; /* borrowed */
	uint8_t *owns; /* owned; of each triangle: bits 0–2 its corners, bits 3–5 its edges */
	uint32_t vertices, edges;
};
MUST_CHECK enum status distance_field_probe_init(struct distance_field_probe *self,
						 const struct mesh *mesh);
void distance_field_probe_release(struct distance_field_probe *self);

struct distance_field_contact {
	vec3 point;	   /* of the probe, in the field's frame */
	vec3 surface;	   /* nearest point of the field's surface */
	vec3 normal;	   /* unit, out of the field's solid */
	double depth;	   /* m, > 0 */
	uint32_t triangle; /* of the probe's mesh */
	uint8_t feature;   /* 0–2: that corner, 3–5: edge feature − 3 */
	bool swapped;	   /* distance_field_collide_both: the probe was the field's own mesh */
};

/* Vertices of the probe inside the field's solid, and edges that pass through it with both ends outside
 * (their deepest point), in the order of the mesh's leaves. Writes the first `capacity` and
 * returns how many there are. Allocates nothing. */
uint32_t distance_field_collide(const struct distance_field *field,
				const struct distance_field_probe *probe,
				const pose *probe_in_field, struct distance_field_contact *out,
				uint32_t capacity);

/* Both ways: b's vertices and edges in a, then a's in b (`swapped`), all in a's frame, normals out
 * of a: for swapped ones `point` is of a's mesh, and normal is turned. */
uint32_t distance_field_collide_both(const struct distance_field *a_field,
				     const struct distance_field_probe *a_probe,
				     const struct distance_field *b_field,
				     const struct distance_field_probe *b_probe, const pose *b_in_a,
				     struct distance_field_contact *out, uint32_t capacity);

/* ---- back to triangles (G-10) ----------------------------------------------------------------- */

/* A closed, oriented surface, counter-clockwise from outside. */
struct distance_field_mesh {
	uint32_t vertex_count, triangle_count;
	vec3 *vertices;
	uint32_t (*triangles)[3];
};

/* The surface where the field is 0, by marching tetrahedra, at most SHAPE_MESH_TRIANGLES_MAX triangles.
 * To be given to distance_field_mesh_release. Errors: LIMIT, NO_MEMORY. */
MUST_CHECK enum status distance_field_surface(const struct distance_field *self,
					      struct distance_field_mesh *out);
void distance_field_mesh_release(struct distance_field_mesh *self);

#endif
