/* minkowski.h: sums of convex polyhedra: all a + b, a of A and b of B.
 *
 * A ⊕ −B holds the vectors by which B can be moved so that it meets A; its border are those by which it
 * touches (papers P-09).
 */
#ifndef CAIRN_ENGINE_GEOMETRY_MINKOWSKI_H
#define CAIRN_ENGINE_GEOMETRY_MINKOWSKI_H

#include "server/engine/geometry/hull.h"

/* Sines below this are parallel: of edges with faces and with each other. Faces of a hull are planar to
 * about as much. */
#define MINKOWSKI_PARALLEL 1e-9

struct minkowski_report {
	uint32_t from_faces; /* faces that are one's face and the other's vertex, edge or face */
	uint32_t from_edges; /* faces made of two edges */
	bool by_hull; /* what was nearly parallel contradicted itself: the hull of all sums */
};

/* Both in one frame. Returned owned in *out (heap_free); its vertices are sums of vertices. Errors:
 * TOO_LARGE (more than SHAPE_HULL_VERTICES_MAX vertices), NO_MEMORY; DEGENERATE and TOO_LARGE as
 * hull_of_points, where by_hull. `report` may be NULL. */
MUST_CHECK enum status minkowski_sum(const struct hull *a, const struct hull *b, struct hull **out,
				     struct minkowski_report *report);

/* The hull as it stands at `at`; with `mirrored`, −x in place of x (in the frame of `at`, after it).
 * Returned owned; errors: NO_MEMORY, DEGENERATE (the hull is none). */
MUST_CHECK enum status minkowski_placed(const struct hull *hull, const pose *at, bool mirrored,
					struct hull **out);

#endif
