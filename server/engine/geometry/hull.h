/* hull.h: convex polyhedra: memory, the hull of a box, and the hull of a point cloud. */
#ifndef CAIRN_ENGINE_GEOMETRY_HULL_H
#define CAIRN_ENGINE_GEOMETRY_HULL_H

#include "server/engine/geometry/shape.h"

/* Allocates a hull with the given counts in one block; its arrays are zero. Returned owned, for
 * heap_free. NULL: out of memory. */
MUST_CHECK struct hull *hull_alloc(uint32_t vertices, uint32_t faces, uint32_t half_edges);
/* Bytes of that block. */
size_t hull_bytes(uint32_t vertices, uint32_t faces, uint32_t half_edges);

/* The hull of a box: vertex i has x, y, z positive where bits 0, 1, 2 of i are set; faces in the
 * order −x, +x, −y, +y, −z, +z. Returned owned; NULL: out of memory. */
MUST_CHECK struct hull *box_hull(vec3 half);

/* Completes a hull whose vertices, faces (edge, edge_count) and half-edges (origin, face, next) are
 * set: computes twins, normals, offsets, vertex_edge, centre. False when some half-edge has no twin
 * or more than one, that is when the loops do not bound a surface. */
MUST_CHECK bool hull_finish(struct hull *hull);

/* Statistics of finding a hull. */
struct hull_build {
	uint32_t rounds; /* hulls taken until no vertex was dropped */
	uint32_t
		exact_only; /* 1: merging within the tolerance failed and only exact merging was used */
	uint64_t facets_made; /* triangles created in all */
	double tolerance;     /* m, within which faces are planar */
	double outside;	      /* m, how far any point of the cloud lies outside any face */
	/* m³, of the exact hull of the cloud. The result is smaller where points that protrude from
	 * a face by less than the tolerance were dropped. */
	double cloud_volume;
	/* Of the exact hull of the vertices: faces merged within the tolerance are not exactly
	 * planar, but the triangles they consist of are. */
	struct mass_properties mass;
};

/* The convex hull of `count` finite points, each coordinate at most SHAPE_LENGTH_MAX in size.
 * Coplanar triangles are merged; vertices come in the order of the cloud, faces in the order of
 * their least vertices. Returned owned in *out. Errors: DEGENERATE (fewer than 4 points, or thinner
 * than SHAPE_LENGTH_MIN in some direction), TOO_LARGE (over SHAPE_HULL_VERTICES_MAX vertices),
 * NO_MEMORY. `build` may be NULL. */
MUST_CHECK enum status hull_of_points(const vec3 *points, uint32_t count, struct hull **out,
				      struct hull_build *build, struct reason *why);

/* Checks invariants H-1…H-6 of hull.c: whether this is a closed convex polyhedron with planar
 * faces, within `tolerance` metres. `why` (may be NULL) is set to one sentence, or to NULL when
 * valid. */
MUST_CHECK bool hull_is_valid(const struct hull *hull, double tolerance, const char **why);

#endif
