/* minkowski.h: Minkowski sums of convex polyhedra: all a + b, a of A and b of B.
 *
 * A ⊕ −B is the set of translations of B for which it meets A; its boundary is the set for which
 * they touch (papers P-09).
 */
#ifndef CAIRN_ENGINE_GEOMETRY_MINKOWSKI_H
#define CAIRN_ENGINE_GEOMETRY_MINKOWSKI_H

#include "server/engine/geometry/hull.h"

/* Edges and faces, and pairs of edges, whose sine is below this count as parallel. Faces of a hull
 * are planar to about this accuracy; a smaller value makes neighbouring decisions contradict each
 * other. */
#define MINKOWSKI_PARALLEL 1e-9

struct minkowski_report {
	uint32_t from_faces; /* faces that sum a face and a vertex, edge or face */
	uint32_t from_edges; /* faces that sum two edges */
	bool by_hull; /* nearly parallel features contradicted each other: the hull of all sums was taken */
};

/* The sum of two hulls in one frame. Returned owned in *out (heap_free); its vertices are sums of
 * vertices. Errors: TOO_LARGE (more than SHAPE_HULL_VERTICES_MAX vertices), NO_MEMORY; with by_hull
 * also those of hull_of_points. `report` may be NULL. */
MUST_CHECK enum status minkowski_sum(const struct hull *a, const struct hull *b, struct hull **out,
				     struct minkowski_report *report);

/* A copy of the hull transformed by `at`; with `mirrored`, then reflected through the origin (−x
 * for x). Returned owned in *out. Errors: NO_MEMORY, DEGENERATE (the hull is invalid). */
MUST_CHECK enum status minkowski_placed(const struct hull *hull, const pose *at, bool mirrored,
					struct hull **out);

#endif
