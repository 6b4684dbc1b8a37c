/* lowest.h: the state of lowest potential energy of a stack whose bodies cannot slide sideways: where they
 * come to rest, not how they get there.
 *
 * Bodies are plates: each has a level bottom and a level top, which are intervals of x in the plane and
 * convex polygons of x and z in space. A plate sinks by y and turns by slopes s along x and t along z, all
 * small, so that its bottom and top at (x, z) move by y + s (x − x0) + t (z − z0); heights of plates count
 * only as distances between them. Of two plates whose bottoms and tops overlap in plan, the one that is
 * above now stays above, at all corners of the overlap:
 *
 *   min Σ w y    subject to    (y + s (x − x0) + t (z − z0)) of the upper − the same of the lower ≥ −gap
 *
 * Ties are equations: two plates are as high at a place (a pin), or their slopes along a direction are
 * equal (a weld, a hinge across its axis). What holds sideways alone needs no tie, because nothing moves
 * sideways.
 *
 * The multipliers are forces at these corners. Energy falls by 0 exactly if such forces hold the present
 * state (papers R-06). Slopes are limited to LOWEST_SLOPE and drops to the height of the stack: a
 * body at a limit has no lowest state nearby, and is counted.
 *
 * Rows are added as they are violated, so that a programme has a few rows a body. Pairs are found by a
 * sweep along x.
 *
 * Source: seed `000`, §9 (figure 2, right).
 */
#ifndef CAIRN_ENGINE_STATICS_LOWEST_H
#define CAIRN_ENGINE_STATICS_LOWEST_H

#include "server/base/status.h"
#include "server/engine/math/scalar.h"

enum {
	LOWEST_PLATES_MAX = 4096,	/* in the plane: some 15 s */
	LOWEST_SPACE_PLATES_MAX = 1024, /* in space: some 7 s */
	LOWEST_CORNERS_MAX = 64,	/* of a bottom or top in space */
	LOWEST_ROWS_MAX = 1 << 21,
};
#define LOWEST_SLOPE 1.0 /* 1: 45 degrees, beyond which the programme is no picture of a fall */

/* A convex polygon of (x, z), m, counter-clockwise from x to z. Without corners in space it is endless. */
struct lowest_face {
	const double (*corners)[2]; /* borrowed */
	uint32_t count;
};

/* Lengths in m. */
struct lowest_plate {
	double x, z;		   /* of the mass centre */
	double weight;		   /* N; of fixed plates not read */
	double bottom, top;	   /* heights */
	double under[2], above[2]; /* ends of the bottom and of the top, ascending in x */
	struct lowest_face bottom_face, top_face; /* in space */
	bool fixed;
};

static inline uint32_t lowest_plates_max(bool space)
{
	return space ? LOWEST_SPACE_PLATES_MAX : LOWEST_PLATES_MAX;
}

#define LOWEST_WORLD UINT32_MAX
enum lowest_tie_kind {
	LOWEST_PINNED, /* as high at (x, z) */
	LOWEST_LEVEL,  /* as steep along the direction (x, z) */
};
struct lowest_tie {
	uint32_t a, b; /* plates, or LOWEST_WORLD */
	enum lowest_tie_kind kind;
	double x, z;
};

struct lowest_problem {
	const struct lowest_plate *plates; /* borrowed, as ties */
	const struct lowest_tie *ties;
	uint32_t count, tie_count;
	bool space;
};

/* By plate. */
struct lowest_motion {
	double rise;	      /* m, of the mass centre; negative: it sinks */
	double slope, across; /* 1: along x, along z */
};

struct lowest_outcome {
	double drop;	 /* J ≥ 0: by how much the energy is lower */
	double residual; /* lp_residual of the last programme */
	uint32_t rounds, rows;
	uint32_t limited; /* plates at a limit of slope or drop */
	bool solved;	  /* else the programme failed, and the rest is 0 */
};

/* DEGENERATE: two plates overlap; their indexes are in `pair`. LIMIT: more than LOWEST_ROWS_MAX rows.
 * NO_MEMORY. `out`: by plate. */
MUST_CHECK enum status lowest_find(const struct lowest_problem *problem, struct lowest_motion *out,
				   struct lowest_outcome *outcome, uint32_t pair[2]);

#endif
