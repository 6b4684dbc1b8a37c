/* vclip.h: the closest features of two convex polyhedra (spec 4.9, V1…V6).
 *
 * A feature is a vertex, an edge (named by one of its half-edges) or a face of a hull. The closest
 * pair at one pose is a good start for the next pose: for small motions a query takes a few steps,
 * independent of the number of features.
 */
#ifndef CAIRN_ENGINE_COLLISION_VCLIP_H
#define CAIRN_ENGINE_COLLISION_VCLIP_H

#include "server/engine/collision/gjk.h"
#include "server/engine/collision/sat.h"

enum vclip_kind {
	VCLIP_VERTEX = 0,
	VCLIP_EDGE = 1,
	VCLIP_FACE = 2,
};
struct vclip_feature {
	uint16_t kind; /* enum vclip_kind */
	uint16_t index;
};
struct vclip_features {
	struct vclip_feature a, b;
};

struct vclip_result {
	bool touching; /* they touch or overlap; proved as gjk_result.touching is */
	bool handed_over; /* gjk.c computed the result: the step limit was reached, or the bounds disagreed */
	double distance;       /* m, between the points below: an upper bound; touching: 0 */
	double lower;	       /* proved lower bound, m */
	vec3 normal;	       /* unit, A → B, A's frame; touching: 0 */
	vec3 point_a, point_b; /* nearest points, A's frame; touching: a shared one */
	struct vclip_features
		features; /* the closest, or those that touch; a start for the next pose */
	struct gjk_simplex simplex; /* touching: for epa.h; else count is 0 */
	uint32_t steps;		    /* of the walk */
};

/* `start`: features where the walk begins; NULL, out of range or two faces: the supporting vertices
 * along the line of centres. Allocates nothing; every finite pose has a result. */
void vclip_distance(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		    const struct vclip_features *start, struct vclip_result *out);

#endif
