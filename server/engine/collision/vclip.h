/* vclip.h: the closest features of two convex polyhedra (spec 4.9, V1…V6).
 *
 * A feature is a vertex, an edge (named by one of its half-edges) or a face of a hull. The closest pair
 * of one pose is the best start for the next: while the hulls move coherently a query takes a
 * handful of steps whatever their size.
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
	bool touching; /* they touch or overlap: proved as gjk_result.touching is */
	bool handed_over; /* gjk.c answered: no end within the steps allowed, or the bounds did not meet */
	double distance;		/* m, of the points below: an upper bound; touching: 0 */
	double lower;			/* proved lower bound, m */
	vec3 normal;			/* unit, A → B, A's frame; touching: 0 */
	vec3 point_a, point_b;		/* nearest points, A's frame; touching: a shared one */
	struct vclip_features features; /* closest, or where they were seen to meet; a start */
	struct gjk_simplex simplex;	/* touching: for epa.h; else count is 0 */
	uint32_t steps;			/* of the state machine */
};

/* `start`: features to begin with (out of range or two faces: ignored), may be NULL: then the vertices
 * that look at each other along the line of centres. */
void vclip_distance(const struct hull *a, const struct hull *b, const struct placing *b_in_a,
		    const struct vclip_features *start, struct vclip_result *out);

#endif
