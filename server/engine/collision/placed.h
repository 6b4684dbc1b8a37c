/* placed.h: queries about placed shapes: hits of a ray or of a moving shape, nearest points, the motion of
 * a walker, regions in which two solids overlap.
 *
 * A query takes a list of placed shapes (made by world_near), so any thread can run it while the world goes
 * on. Results depend only on the list and the arguments; the order of the list only breaks ties.
 */
#ifndef CAIRN_ENGINE_COLLISION_PLACED_H
#define CAIRN_ENGINE_COLLISION_PLACED_H

#include "server/base/status.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

struct placed_shape {
	const struct shape
		*shape; /* borrowed, unless the owner of the list states that it is retained */
	pose at;	/* world */
	uint32_t body, placement; /* id of the body; index of the shape in it */
};

/* ---- rays and overlaps ------------------------------------------------------------------------- */

struct ray_hit {
	uint32_t body;
	uint32_t placement, child; /* index of the shape in the body; triangle of a mesh */
	double fraction;	   /* of the way, in [0, 1] */
	vec3 point, normal;
};
/* The displacement of a ray `length` metres long along a direction of any size. NOT_FINITE; RANGE: zero
 * direction, an origin beyond LENGTH_MAX, or a length outside (0, 4 LENGTH_MAX]. */
MUST_CHECK enum status placed_ray_way(vec3 origin, vec3 direction, double length, vec3 *way);
/* The nearest hits along origin + t·way, t in [0, 1], one for each placed shape, nearest first (ties by body,
 * placement), at most `capacity`. Returns the number written. The list may be in any order. */
uint32_t placed_ray(const struct placed_shape *placed, uint32_t count, vec3 origin, vec3 way,
		    struct ray_hit *hits, uint32_t capacity);

/* Checks and normalises the pose of the shape of an overlap query. NOT_FINITE; RANGE: a position beyond
 * LENGTH_MAX, or a rotation that is far from unit length. */
MUST_CHECK enum status placed_overlap_at(vec3 position, quat rotation, pose *at);
/* The ascending ids of bodies with a shape that overlaps `shape` at `at`: the lowest `capacity` of them.
 * Returns the number written. The list must be sorted by body. */
uint32_t placed_overlap(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose at, uint32_t *bodies, uint32_t capacity);

/* m. A sweep ends when the surfaces are nearer than this; they do not touch then. */
#define SWEEP_TOLERANCE 1e-6

/* ---- shape casts ------------------------------------------------------------------------------ */

struct cast_hit {
	uint32_t body, placement, child; /* the shape that is hit, and its piece */
	uint32_t own_child;		 /* the piece of the moving shape */
	double fraction;		 /* of the way, in [0, 1]: apart until there */
	vec3 point, normal;		 /* on the surface hit; unit, towards the moving shape */
	double depth; /* m: how deep they overlap at the start, then fraction is 0; else 0 */
	bool uncertain; /* the iteration limit was reached: apart until `fraction`, perhaps no hit there */
};

/* Sweeps a shape from `from` along `way` (m) without rotation: the first hit of each placed shape, nearest
 * first (of equal ones the deeper, then in the order of the list), at most `capacity`. Returns the number
 * written. *status is UNSUPPORTED for a moving plane or mesh. */
uint32_t placed_cast(const struct placed_shape *placed, uint32_t count, const struct shape *shape,
		     pose from, vec3 way, struct cast_hit *hits, uint32_t capacity,
		     enum status *status);

/* ---- nearest points --------------------------------------------------------------------------- */

enum { CLOSEST_FEATURE_MAX = 3 };

struct closest_pair {
	struct {
		uint32_t body, placement, child;
		vec3 point; /* on the surface, world */
		/* Vertices of the piece whose hull holds the point: one a vertex, two an edge (or a
		 * diagonal), three a face; none where the kind has no vertices (plane). */
		uint32_t feature[CLOSEST_FEATURE_MAX], feature_count;
	} a, b;
	double distance; /* m; < 0: they overlap by so much */
	vec3 normal;	 /* unit, a → b */
};

/* The nearest points of any shape of `a` and any of `b`; false if they are farther apart than `reach` (m).
 * Pairs of planes or meshes with each other are skipped. Of equally near pairs the first counts. */
bool placed_closest(const struct placed_shape *a, uint32_t a_count, const struct placed_shape *b,
		    uint32_t b_count, double reach, struct closest_pair *out);

/* ---- walkers ---------------------------------------------------------------------------------- */

enum { MOVER_CONTACTS_MAX = 16, MOVER_ITERATIONS_MAX = 16 };

struct mover_options {
	vec3 up;	     /* unit */
	uint32_t iterations; /* straight segments of the motion, 1 … MOVER_ITERATIONS_MAX */
	double skin;	     /* m > 0, the gap left between the walker and a shape it hits */
	double slope_cosine; /* ground is walkable if normal · up is at least this */
	double step_height;  /* m ≥ 0: the height of a ledge that the walker can step on */
};

struct mover_result {
	vec3 position; /* the final position, m; the rotation does not change */
	vec3 left;     /* the displacement that was not covered, m */
	uint32_t iterations;
	uint32_t contact_count;
	struct cast_hit contacts[MOVER_CONTACTS_MAX]; /* in the order of the hits */
	bool grounded;		/* walkable ground lies within 4 skins below */
	struct cast_hit ground; /* when grounded */
	double climbed;		/* m, by steps */
	bool stuck;		/* it overlapped a shape at the start and could not be moved out */
};

/* Sweeps the shape along `way`. After a hit it slides along the plane of the hit, along the crease of two
 * planes, and stops in the corner of three. A shape that overlaps another at the start is first moved out
 * along the normals of the contacts. UNSUPPORTED as for placed_cast. */
MUST_CHECK enum status placed_move(const struct placed_shape *placed, uint32_t count,
				   const struct shape *shape, pose from, vec3 way,
				   const struct mover_options *options, struct mover_result *out);

/* ---- regions ---------------------------------------------------------------------------------- */

struct overlap_region {
	uint32_t placement_a, placement_b;
	double depth;	       /* m */
	double volume;	       /* m³ of the intersection; 0 if it is not known */
	vec3 point_a, point_b; /* the deepest points, world: `depth` apart */
	vec3 normal;	       /* unit, a → b */
	vec3 centre; /* of mass of the intersection, world; midway between the points if volume is 0 */
	uint32_t contours;
};

/* Where closed solids (boxes, hulls, solids, closed meshes) of two bodies overlap, deepest first, at most
 * `capacity`; *found is how many there are. UNSUPPORTED when none of the shapes has faces, LIMIT,
 * NO_MEMORY. */
MUST_CHECK enum status placed_regions(const struct placed_shape *a, uint32_t a_count,
				      const struct placed_shape *b, uint32_t b_count,
				      struct overlap_region *out, uint32_t capacity,
				      uint32_t *found);

#endif
