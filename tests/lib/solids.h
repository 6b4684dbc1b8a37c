/* solids.h: closed triangle meshes for tests, put together from boxes and cells. */
#ifndef CAIRN_TESTS_SOLIDS_H
#define CAIRN_TESTS_SOLIDS_H

#include "server/engine/geometry/shape.h"

enum { SOLID_VERTICES_MAX = 32768, SOLID_TRIANGLES_MAX = 65536 };

/* Large: keep it static. Zero it (solid_reset) before the first part. */
struct solid {
	uint32_t vertices, triangles;
	vec3 vertex[SOLID_VERTICES_MAX];
	uint32_t triangle[SOLID_TRIANGLES_MAX][3];
};

void solid_reset(struct solid *solid);
/* A separate shell; inwards: that of a void. */
void solid_add_box(struct solid *solid, vec3 low, vec3 high, bool inwards);
/* The same, rotated and moved. */
void solid_add_box_at(struct solid *solid, vec3 half, pose at);
/* All cells (i, j, k) of the grid x × y × z (counts: of lines, ≥ 2) for which `filled` returns
 * true, as one surface. No two filled cells may touch only in an edge or a corner, because the mesh
 * would be open there. */
typedef bool solid_cell(uint32_t i, uint32_t j, uint32_t k, const void *context);
struct solid_lines {
	const double *at;
	uint32_t count;
};
void solid_add_cells(struct solid *solid, const struct solid_lines lines[3], solid_cell *filled,
		     const void *context);
/* A ring about z: `around` and `across` segments. */
void solid_add_ring(struct solid *solid, double radius, double thick, uint32_t around,
		    uint32_t across);
/* Two pyramids over a square in x-y, vertices at distance r from the centre. */
void solid_add_octahedron(struct solid *solid, vec3 centre, double r);

/* Returned owned (shape_release). */
struct shape *solid_shape(const struct solid *solid);

#endif
