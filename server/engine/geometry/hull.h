/* hull.h: convex polyhedra: their memory, a box's, and the hull of a cloud of points. */
#ifndef CAIRN_ENGINE_GEOMETRY_HULL_H
#define CAIRN_ENGINE_GEOMETRY_HULL_H

#include "server/engine/geometry/shape.h"

/* A polyhedron with V vertices, F faces and E half-edges, contents undefined. One block; returned
 * owned, to be given to heap_free. NULL: out of memory. */
struct hull *hull_alloc(uint32_t vertices, uint32_t faces, uint32_t half_edges) MUST_CHECK;
/* Bytes of that block. */
size_t hull_bytes(uint32_t vertices, uint32_t faces, uint32_t half_edges);

/* The box's polyhedron: vertex i has x, y, z positive where bits 0, 1, 2 of i are set; faces in the
 * order −x, +x, −y, +y, −z, +z. Returned owned; NULL: out of memory. */
struct hull *box_hull(vec3 half) MUST_CHECK;

/* From vertices, faces' loops (face_edges half-edges in order, origins set, face and next set) to the
 * rest: twins, normals, offsets, vertex_edge, centre. False when some half-edge has no twin or more
 * than one, that is when the loops do not bound a surface. */
MUST_CHECK bool hull_finish(struct hull *hull);

/* What finding a hull cost, for tests and statistics. */
struct hull_build {
	uint32_t rounds; /* hulls of hulls until no vertex was dropped */
	uint32_t
		exact_only; /* 1: merging within the tolerance failed and only exact merging was used */
	uint64_t facets_made; /* triangles made in all */
	double tolerance;     /* m, within which faces are planar */
	double outside;	      /* m, how far any point of the cloud lies outside any face */
	/* m³, of the exact hull of the cloud. The polyhedron is smaller where points that stand out of
	 * a face by less than the tolerance were left away. */
	double cloud_volume;
	/* Of the exact hull of the vertices: faces joined within the tolerance are not planar to the
	 * last digit, the triangles they are made of are. */
	struct mass_properties mass;
};

/* The convex hull of `count` finite points, each at most SHAPE_LENGTH_MAX from the origin on every
 * axis. Coplanar triangles are merged; vertices come in the order of the cloud, faces in the order of
 * their least vertices. Returned owned in *out. Errors: DEGENERATE (flatter than SHAPE_LENGTH_MIN
 * somewhere), TOO_LARGE (over SHAPE_HULL_VERTICES_MAX vertices), NO_MEMORY. `build` may be NULL. */
MUST_CHECK enum status hull_of_points(const vec3 *points, uint32_t count, struct hull **out,
				      struct hull_build *build, struct reason *why);

/* Invariants H-1…H-6 of hull.c: whether this is a closed convex polyhedron with planar faces, within
 * `tolerance` metres. `why` (may be NULL) gets one sentence. */
MUST_CHECK bool hull_is_valid(const struct hull *hull, double tolerance, const char **why);

#endif
