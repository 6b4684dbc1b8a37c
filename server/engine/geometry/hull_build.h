/* hull_build.h: the two halves of finding a hull, private to hull_points.c. See hull_exact.c and
 * hull_merge.c for what they do.
 *
 * Both work on a grid: points whose coordinates are whole numbers in [0, 2^HULL_GRID_BITS], kept in
 * doubles, so that differences are exact.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_HULL_BUILD_H
#define CAIRN_ENGINE_GEOMETRY_HULL_BUILD_H

#include "server/engine/geometry/hull.h"

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

/* The exact hull of grid points, `unit` metres apart. Errors: DEGENERATE, NO_MEMORY. *facets_made is
 * added to. On success *out is owned by the caller. */
MUST_CHECK enum status hull_triangulate(const vec3 *points, uint32_t count, double unit,
					struct hull_surface *out, uint64_t *facets_made,
					struct reason *why);

/* The surface's triangles joined to planar faces. */
struct hull_regions {
	uint32_t count;	  /* faces */
	uint32_t corners; /* corners of all faces */
	uint32_t dropped; /* vertices that are none of the result's */
	uint32_t *first;  /* owned; face f's corners are loop[first[f] … first[f+1]) */
	uint32_t *loop;	  /* owned; points, in order */
	uint8_t *keep;	  /* owned; of every point: 1 = it remains a vertex */
};

void hull_regions_release(struct hull_regions *self);

/* Joins triangles that lie within `tolerance` grid units of one plane, only exactly coplanar ones
 * when it is 0. Error: NO_MEMORY. */
MUST_CHECK enum status hull_merge(const vec3 *points, uint32_t count,
				  const struct hull_surface *surface, double tolerance,
				  struct hull_regions *out);

#endif
