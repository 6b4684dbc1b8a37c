/* gjk.h: the distance of two convex pieces, with a proof of how good it is (spec 4.10, G1…G4).
 *
 * Works on cores: the vertices of each piece without its rounding radius. Everything is in A's
 * frame.
 */
#ifndef CAIRN_ENGINE_COLLISION_GJK_H
#define CAIRN_ENGINE_COLLISION_GJK_H

#include "server/engine/collision/pairs.h"
#include "server/engine/geometry/curve.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/mat3.h"
#include "server/engine/math/vec3.h"

/* The convex hull of some points, or a curved shape. */
struct gjk_core {
	const vec3 *points; /* borrowed */
	uint32_t count;	    /* > 0 */
	const struct hull
		*hull; /* of the same vertices, for climbs; NULL: all points are scanned */
	double radius; /* rounding radius, m; not part of gjk's distance */
	/* Not NULL: the core is this curve (borrowed), and `points` is one point of its inside. It
	 * has no vertices: simplices are returned empty, and a start is ignored. */
	const struct curve *curve;
};

/* The vertices whose hull contains the nearest points, as pairs (index in a, index in b); count
 * 0…4. It can be passed to the next search as a warm start; indices out of range are ignored. */
struct gjk_simplex {
	uint32_t count;
	uint16_t a[4], b[4];
};

/* Proofs hold for the vertices as rounded in A's frame, which are off by GJK_TOUCHING (gjk_exact.h,
 * 1e-15) times their largest coordinate. */
struct gjk_result {
	bool touching; /* proved: four vertices of B − A contain the origin, or the distance is below the
			  * rounding of the vertices; distance and normal are 0 */
	bool handed_over; /* rounding stopped the quick search and the exact one finished; for statistics */
	double distance;       /* of the cores, m: an upper bound, that of point_a and point_b */
	double lower;	       /* proved lower bound of the distance, m */
	vec3 normal;	       /* unit, A → B */
	vec3 point_a, point_b; /* the nearest points of the cores; touching: a point they share */
	uint32_t iterations;
	struct gjk_simplex simplex;
};

/* `start`: a warm start; NULL or count 0: the search begins at vertex 0 of each. The result depends
 * on it only in the last digits and in the choice among equally near points. When rounding stops
 * progress before the bounds meet, or after GJK_ITERATIONS_MAX rounds, a second algorithm continues
 * (gjk_exact.c). */
void gjk_distance(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, const struct gjk_simplex *start, struct gjk_result *out);

/* True if the cores are proved to be farther apart than `gap` ≥ 0 m; ends as soon as that is
 * decided. False: they are not, or by less than rounding. `start` as above. */
bool gjk_apart_by(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		  vec3 translation, double gap, const struct gjk_simplex *start);

enum { GJK_ITERATIONS_MAX = 64, GJK_CURVED_ITERATIONS_MAX = 256 };

/* Storage for the points of a piece that has no vertex array: sphere, capsule, triangle. */
struct gjk_points {
	vec3 points[3];
	struct curve curve;
};
/* The core of any convex kind or of a mesh's triangle (not of a plane). `room` must live as long. */
struct gjk_core gjk_core_of(const struct shape *shape, uint32_t child, struct gjk_points *room);

/* The distance of a pair's cores, from vertex 0. */
void gjk_shapes(const struct pair *pair, struct gjk_result *out);

/* The same for cores of which one at least is a curve (gjk_curved.c): gjk_distance and gjk_apart_by
 * call it. `enough`: a greater lower bound ends the search. handed_over: the bounds have not met. */
void gjk_curved(const struct gjk_core *a, const struct gjk_core *b, const mat3 *rotation,
		vec3 translation, double enough, struct gjk_result *out);

/* The box of the core with its radius, placed by a rotation and a translation. */
struct aabb gjk_box(const struct gjk_core *core, const mat3 *rotation, vec3 translation);

/* The farthest vertex along `direction`: of few points the first of the farthest; of many, the
 * end of a climb over the hull's edges from `start`. */
uint32_t gjk_support(const struct gjk_core *core, vec3 direction, uint32_t start);

/* The farthest point of any core along `direction`. */
static inline vec3 gjk_support_point(const struct gjk_core *core, vec3 direction)
{
	if (core->curve != NULL)
		return curve_support(core->curve, direction);
	return core->points[gjk_support(core, direction, 0)];
}

/* m: how far any point of the core, without its radius, is from the origin of its frame, at most.
 * */
static inline double gjk_reach(const struct gjk_core *core)
{
	if (core->curve != NULL)
		return curve_reach(core->curve);
	double square = 0;
	for (uint32_t i = 0; i < core->count; i++)
		square = scalar_max(square, vec3_length_squared(core->points[i]));
	return scalar_sqrt(square);
}

/* The same by a climb from `start`, however few they are; the core must have its hull. */
uint32_t gjk_climb(const struct gjk_core *core, vec3 direction, uint32_t start);

#endif
