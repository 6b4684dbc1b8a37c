/* gjk.h: the distance of two convex pieces, with a proof of how good it is (spec 4.10, G1…G4).
 *
 * Works on cores: the vertices of each piece without its rounding radius. Everything is in A's
 * frame.
 */
#ifndef CAIRN_ENGINE_COLLISION_GJK_H
#define CAIRN_ENGINE_COLLISION_GJK_H

#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/vec3.h"

/* The convex hull of some points. */
struct gjk_core {
	const vec3 *points; /* borrowed */
	uint32_t count;	    /* > 0 */
	const struct hull
		*hull; /* of the same vertices, to walk on; NULL: all points are looked at */
	double radius; /* rounding around it, m; not part of gjk's distance */
};

/* The vertices whose hull holds the nearest points, as pairs (index in a, index in b); count
 * 0…4. Given back in, it is where the next search starts; indices out of range are ignored. */
struct gjk_simplex {
	uint32_t count;
	uint16_t a[4], b[4];
};

/* What is proved holds for the vertices as placed in A's frame, which is off by GJK_TOUCHING
 * (gjk_exact.h, 1e-15) of their largest coordinate. */
struct gjk_result {
	bool touching; /* proved: four vertices of B − A hold the origin, or the distance is rounding
			  * of the vertices; distance and normal are 0 */
	bool handed_over; /* rounding stopped the quick search: the exact one answered. For counting. */
	double distance;       /* of the cores, m: an upper bound, that of point_a and point_b */
	double lower;	       /* proved lower bound of the distance, m */
	vec3 normal;	       /* unit, A → B */
	vec3 point_a, point_b; /* the nearest points of the cores; touching: a point they share */
	uint32_t iterations;
	struct gjk_simplex simplex;
};

/* `start`: a simplex to begin with; NULL or count 0: from vertex 0 of each. The answer does not
 * depend on it but for the last digits and the choice among equally near points. When rounding
 * stops progress before the bounds meet, or after GJK_ITERATIONS_MAX rounds, a second algorithm goes
 * on (gjk_exact.c). */
void gjk_distance(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, const struct gjk_simplex *start, struct gjk_result *out);

/* Whether the cores are farther apart than `gap` ≥ 0 m, as proved along some direction; asks no more than
 * that takes. False: they are not, or by less than rounding. `start` as above. */
bool gjk_apart_by(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, double gap, const struct gjk_simplex *start);

enum { GJK_ITERATIONS_MAX = 64 };

/* Room for the points of a piece that keeps none: sphere, capsule, triangle. */
struct gjk_points {
	vec3 points[3];
};
/* The core of any convex kind or of a mesh's triangle (not of a plane). `room` must live as long. */
struct gjk_core gjk_core_of(const struct shape *shape, uint32_t child, struct gjk_points *room);

/* The distance of a pair's cores, from vertex 0. */
void gjk_shapes(const struct pair *pair, struct gjk_result *out);

/* The farthest vertex along `direction`: of few points the first of the farthest; of many, the
 * end of a climb over the hull's edges from `start`. */
uint32_t gjk_support(const struct gjk_core *core, vec3 direction, uint32_t start);

/* The same by a climb from `start`, however few they are; the core must have its hull. */
uint32_t gjk_climb(const struct gjk_core *core, vec3 direction, uint32_t start);

#endif
