/* decompose_box.h: the approximation of a solid within a box. Private to decompose*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_BOX_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_BOX_H

#include "server/engine/geometry/decompose_measure.h"

/* A mesh of the piece's triangles for nearest-point and inside tests; it has no adjacency. Returned
 * owned, for heap_free. NULL: out of memory. */
MUST_CHECK struct mesh *piece_mesh(const struct decompose_piece *piece);

struct box_limits {
	double deviation; /* m, of the hull from the solid */
	uint32_t vertices_max;
};

enum box_answer {
	BOX_EMPTY, /* nothing of the solid, or too thin for a hull (then hull.thin) */
	BOX_PART,  /* `hull` is the part; `deviation` bounds its distance from the solid */
	BOX_SPLIT, /* examine `first` and `second` instead */
};

/* Examines the solid of a closed mesh within `box`. The caller releases out->hull whatever the
 * answer. Error: NO_MEMORY. */
struct box_result {
	enum box_answer answer;
	struct piece_hull hull;
	double deviation;
	struct aabb first, second;
};
MUST_CHECK enum status box_examine(const struct mesh *mesh, struct aabb box,
				   struct box_limits limits, struct box_result *out);

#endif
