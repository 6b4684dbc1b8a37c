/* hull_build.h: the two stages of finding a hull, private to hull_points.c; see hull_exact.c and
 * hull_merge.c for the methods.
 *
 * Both work on a grid: coordinates are whole numbers in [0, 2^HULL_GRID_BITS] stored as doubles, so
 * that differences are exact.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_HULL_BUILD_H
#define CAIRN_ENGINE_GEOMETRY_HULL_BUILD_H

#include "server/engine/geometry/hull.h"

/* With 41 bits a determinant of three differences fits 126 bits, hence __int128 (hull_exact.c). */
enum { HULL_GRID_BITS = 41 };

#define HULL_NONE UINT32_MAX

/* A closed triangulated surface. Corners counter-clockwise from outside; neighbour i is across the
 * edge from corner i to corner i+1. */
struct hull_surface {
	uint32_t count;
	uint32_t (*corner)[3];	  /* owned */
	uint32_t (*neighbour)[3]; /* owned */
};

void hull_surface_release(struct hull_surface *self);

/* > 0, 0, < 0: p lies outside, in, inside the plane of a b c (counter-clockwise from outside).
 * Exact. */
int hull_side(vec3 a, vec3 b, vec3 c, vec3 p);

/* The exact hull of grid points that are `unit` metres apart. Adds to *facets_made. Returned owned
 * in *out on success. Errors: DEGENERATE, NO_MEMORY. */
MUST_CHECK enum status hull_triangulate(const vec3 *points, uint32_t count, double unit,
					struct hull_surface *out, uint64_t *facets_made,
					struct reason *why);

/* The triangles of a surface merged into planar faces. */
struct hull_regions {
	uint32_t count;	  /* faces */
	uint32_t corners; /* corners of all faces */
	uint32_t dropped; /* vertices of the surface that are not vertices of the result */
	uint32_t *first;  /* owned; face f's corners are loop[first[f] … first[f+1]) */
	uint32_t *loop;	  /* owned; points, in order */
	uint8_t *keep;	  /* owned; of every point: 1 = it remains a vertex */
};

void hull_regions_release(struct hull_regions *self);

/* Merges triangles that lie within `tolerance` grid units of one plane; with tolerance 0 only
 * exactly coplanar ones. Error: NO_MEMORY. */
MUST_CHECK enum status hull_merge(const vec3 *points, uint32_t count,
				  const struct hull_surface *surface, double tolerance,
				  struct hull_regions *out);

#endif
