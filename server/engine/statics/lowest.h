/* lowest.h: the state of lowest potential energy of a stack in the plane whose bodies cannot slide
 * sideways: where they come to rest, not how they get there.
 *
 * Bodies are plates: each has a bottom and a top, which are intervals of x. A plate sinks by y and
 * turns by a slope s, both small, so that its bottom and top at x move by y + s (x − x0); heights of
 * plates count only as distances between them. Of two plates whose intervals overlap, the one that is
 * above now stays above, at both ends of the overlap:
 *
 *   min Σ w y    subject to    (y + s (x − x0)) of the upper − the same of the lower ≥ −gap(x)
 *
 * The multipliers are forces at these ends. Energy falls by 0 exactly if such forces hold the present
 * state (papers R-06). Slopes are limited to LOWEST_SLOPE and drops to the height of the stack: a
 * body at a limit has no lowest state nearby, and is counted.
 *
 * Rows are added as they are violated, so that a programme has a few rows a body. O(bodies²) to find
 * pairs.
 *
 * Source: seed `000`, §9 (figure 2, right).
 */
#ifndef CAIRN_ENGINE_STATICS_LOWEST_H
#define CAIRN_ENGINE_STATICS_LOWEST_H

#include "server/base/status.h"
#include "server/engine/math/scalar.h"

enum { LOWEST_PLATES_MAX = 1024 };
#define LOWEST_SLOPE 1.0 /* 1: 45 degrees, beyond which the programme is no picture of a fall */

/* Lengths in m. */
struct lowest_plate {
	double x;		   /* of the mass centre */
	double weight;		   /* N; of fixed plates not read */
	double bottom, top;	   /* heights */
	double under[2], above[2]; /* ends of the bottom and of the top, ascending in x */
	bool fixed;
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

/* DEGENERATE: two plates overlap; their indexes are in `pair`. NO_MEMORY. `out`: by plate. */
MUST_CHECK enum status lowest_find(const struct lowest_plate *plates, uint32_t count,
				   struct lowest_motion *out, struct lowest_outcome *outcome,
				   uint32_t pair[2]);

#endif
