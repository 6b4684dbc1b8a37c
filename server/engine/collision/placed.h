/* placed.h: questions about shapes at rest somewhere: what does a ray or a moving shape meet, which two
 * points are nearest, where does a walker get to, in which regions do two solids overlap.
 *
 * A question takes a list of placed shapes (world_near makes one), so that it can be answered by any
 * thread once the list is made, whatever the world does meanwhile. Answers are functions of the list and the
 * arguments alone; the order of the list decides only between equals.
 */
#ifndef CAIRN_ENGINE_COLLISION_PLACED_H
#define CAIRN_ENGINE_COLLISION_PLACED_H

#include "server/base/status.h"
#include "server/engine/geometry/shape.h"
#include "server/engine/math/pose.h"

struct placed_shape {
	const struct shape *shape; /* borrowed, or retained by who says so */
	pose at;		   /* world */
	uint32_t body, placement;  /* id; which of the body's shapes */
};

/* ---- rays and overlaps ------------------------------------------------------------------------- */

struct ray_hit {
	uint32_t body;
	uint32_t placement, child; /* which of the body's shapes, which triangle */
	double fraction;	   /* of the way, in [0, 1] */
	vec3 point, normal;
};
/* The way of a ray `length` metres long, from a direction of any size; RANGE, NOT_FINITE. */
MUST_CHECK enum status placed_ray_way(vec3 origin, vec3 direction, double length, vec3 *way);
/* Hits along origin + t·way, t in [0, 1], nearest first (ties by body, placement), one of each placed
 * shape, at most `capacity`: the nearest. Returns how many were written; the list may be in any order. */
uint32_t placed_ray(const struct placed_shape *placed, uint32_t count, vec3 origin, vec3 way,
		    struct ray_hit *hits, uint32_t capacity);

/* Where a shape stands that is held against others; RANGE, NOT_FINITE. */
MUST_CHECK enum status placed_overlap_at(vec3 position, quat rotation, pose *at);
/* Ids, ascending, of bodies with a shape that overlaps the one at `at`, the lowest `capacity` of
 * them; returns how many were written. The list is in order of bodies. */
uint32_t placed_overlap(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose at, uint32_t *bodies, uint32_t capacity);

/* m. A sweep ends when the surfaces are nearer than this; they do not touch then. */
#define SWEEP_TOLERANCE 1e-6

/* ---- shape casts ------------------------------------------------------------------------------ */

struct cast_hit {
	uint32_t body, placement, child; /* what is met */
	uint32_t own_child;		 /* which piece of the moving shape meets it */
	double fraction;		 /* of the way, in [0, 1]: apart until there */
	vec3 point, normal;		 /* on the surface met; unit, towards the moving shape */
	double depth;	/* m: how deep they overlap at the start, then fraction is 0; else 0 */
	bool uncertain; /* the search gave up there: apart until `fraction`, not certainly met */
};

/* What a shape meets that goes from `from` straight along `way` (m) without turning: the first hit of each
 * placed shape, nearest first (ties by body, placement), at most `capacity`; returns how many were
 * written. UNSUPPORTED through *status for a moving plane or mesh. */
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

/* The nearest points of any of `a` with any of `b`, if they are within `reach` metres; false otherwise. Two
 * planes or two meshes are not asked. Of equally near pairs the first. */
bool placed_closest(const struct placed_shape *a, uint32_t a_count, const struct placed_shape *b,
		    uint32_t b_count, double reach, struct closest_pair *out);

/* ---- walkers ---------------------------------------------------------------------------------- */

enum { MOVER_CONTACTS_MAX = 16, MOVER_ITERATIONS_MAX = 16 };

struct mover_options {
	vec3 up;	     /* unit */
	uint32_t iterations; /* straight pieces of the way, 1 … MOVER_ITERATIONS_MAX */
	double skin;	     /* m > 0, kept between the walker and what it meets */
	double slope_cosine; /* ground whose normal leans less than this from `up` may be walked on */
	double step_height; /* m ≥ 0: ledges so high are stepped on */
};

struct mover_result {
	vec3 position; /* where it gets to; the rotation stays */
	vec3 left;     /* of the way, not walked */
	uint32_t iterations;
	uint32_t contact_count;
	struct cast_hit contacts[MOVER_CONTACTS_MAX]; /* in the order they were met */
	bool grounded;				      /* stands on ground that may be walked on */
	struct cast_hit ground;			      /* when grounded */
	double climbed;				      /* m, by steps */
	bool stuck; /* it began inside something and could not be brought out */
};

/* Sweeps the shape along `way`; where it meets something it goes on along what is met, along the crease of
 * two, and stops in the corner of three. One that begins inside something is first brought out along
 * the contacts' normals. UNSUPPORTED as placed_cast. */
MUST_CHECK enum status placed_move(const struct placed_shape *placed, uint32_t count,
				   const struct shape *shape, pose from, vec3 way,
				   const struct mover_options *options, struct mover_result *out);

/* ---- regions ---------------------------------------------------------------------------------- */

struct overlap_region {
	uint32_t placement_a, placement_b;
	double depth;	       /* m */
	double volume;	       /* m³ in common; 0 where it is not known */
	vec3 point_a, point_b; /* the deepest points, world: `depth` apart */
	vec3 normal;	       /* unit, a → b */
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
