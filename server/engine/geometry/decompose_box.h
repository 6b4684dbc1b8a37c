/* decompose_box.h: approximating what lies in a box. Private to decompose*.c. */
#ifndef CAIRN_ENGINE_GEOMETRY_DECOMPOSE_BOX_H
#define CAIRN_ENGINE_GEOMETRY_DECOMPOSE_BOX_H

#include "server/engine/geometry/decompose_measure.h"

/* A mesh good for asking (nearest points, inside or not), of a piece's triangles. Returned owned, to be
 * given to heap_free. NULL: out of memory. */
struct mesh *piece_mesh(const struct decompose_piece *piece) MUST_CHECK;

struct box_limits {
	double deviation; /* m, of the hull from the solid */
	uint32_t vertices_max;
};

enum box_answer {
	BOX_EMPTY, /* no part of the solid, or none that has a hull (then hull->thin) */
	BOX_PART,  /* *hull is what to take; *deviation bounds it */
	BOX_SPLIT, /* *first and *second are to be looked at instead */
};

/* Looks at the closed mesh's solid in `box`. The hull is to be released whatever is answered. */
struct box_result {
	enum box_answer answer;
	struct piece_hull hull;
	double deviation;
	struct aabb first, second;
};
MUST_CHECK enum status box_look(const struct mesh *mesh, struct aabb box, struct box_limits limits,
				struct box_result *out);

#endif
