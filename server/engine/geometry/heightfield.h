/* heightfield.h: a grid of heights as a static surface of triangles that are computed on demand.
 *
 * Sample (i, j) is the point (x, height, z) with x = (i − (columns − 1)/2) cell_x and z = (j − (rows −
 * 1)/2) cell_z: the grid is centred, y is up. The cell of samples a = (i, j), b = (i + 1, j), c = (i + 1,
 * j + 1) and d = (i, j + 1) has the triangles 2 (j (columns − 1) + i) = (a, d, c) and that number
 * plus one = (a, c, b), counter-clockwise seen from above. A hole is a cell without triangles.
 *
 * The outermost ring of cells may be an apron: samples of the neighbouring tiles, which are never
 * hit. They only decide what an edge of the border is, so a body passes from tile to tile as over
 * inner edges. All tiles number the triangles around a shared edge in the same order, so exactly
 * one of them reports a contact there. Where no neighbour is, the cells of the apron are holes.
 *
 * Queries descend a pyramid of the least and greatest heights of 4×4 cells, 8×8, …. The heights
 * themselves stay in the canonical bytes of the shape; with the pyramid a sample costs below 5
 * bytes.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_HEIGHTFIELD_H
#define CAIRN_ENGINE_GEOMETRY_HEIGHTFIELD_H

#include "server/engine/geometry/shape.h"

enum {
	HEIGHTFIELD_LEVELS_MAX = 12,
	HEIGHTFIELD_BLOCK_SHIFT = 2, /* a block of the lowest level has 4 × 4 cells */
};

/* Metres; low > high: no triangle. */
struct height_bounds {
	float low, high;
};
struct heightfield_level {
	uint32_t wide, deep; /* blocks along x and z */
	uint32_t first;	     /* of its bounds */
};
struct heightfield {
	struct mesh surface;	/* whose `grid` is this heightfield */
	uint32_t columns, rows; /* samples along x and z, with the apron */
	uint32_t apron;		/* cells on each side: 0 or 1 */
	uint32_t holes_count,
		cells_count;   /* of the cells inside the apron: holes, and the others */
	double cell_x, cell_z; /* m */
	/* Borrowed from the shape's canonical bytes: floats row by row along z; a bit and a number for
	 * each cell, or NULL. */
	const uint8_t *heights, *holes, *patches;
	uint32_t level_count;
	struct heightfield_level levels[HEIGHTFIELD_LEVELS_MAX];
	struct height_bounds bounds[]; /* of each level row by row, the lowest level first */
};

/* A block: its level, and its column and row among the blocks of the level. */
struct height_block {
	uint32_t level, x, z;
};

/* Point of vertex j columns + i. */
vec3 heightfield_vertex(const struct heightfield *self, uint32_t vertex);
/* As mesh_vertex_of, mesh_corners, mesh_across and mesh_patch. */
uint32_t heightfield_vertex_of(const struct heightfield *self, uint32_t triangle, uint32_t corner);
void heightfield_corners(const struct heightfield *self, uint32_t triangle, vec3 out[3]);
uint32_t heightfield_across(const struct heightfield *self, uint32_t triangle, uint32_t edge);
uint32_t heightfield_patch(const struct heightfield *self, uint32_t triangle);

/* Whether the cell inside the grid has triangles that can be hit: it is no hole and not in the apron. */
bool heightfield_has_cell(const struct heightfield *self, uint32_t x, uint32_t z);
/* Likewise of the cell of a triangle. */
bool heightfield_has(const struct heightfield *self, uint32_t triangle);
/* The box of a block; false: no triangle of it can be hit. */
bool heightfield_block_box(const struct heightfield *self, struct height_block block,
			   struct aabb *box);
/* The block at the top, which holds all cells. */
struct height_block heightfield_top(const struct heightfield *self);

/* Cells first … last along x and z. */
struct height_cells {
	uint32_t first_x, last_x, first_z, last_z;
};
/* The cells of a block. */
struct height_cells heightfield_block_cells(const struct heightfield *self,
					    struct height_block block);
/* The cells whose triangles may overlap a box; false: there is none. */
bool heightfield_cells_near(const struct heightfield *self, struct aabb box,
			    struct height_cells *out);

/* Points the heightfield to its numbers in the shape's canonical bytes. */
void heightfield_attach(const struct shape *shape);

#endif
