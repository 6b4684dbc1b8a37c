/* counterweights.h: where bricks must lie so that they press on the left ends of a leaning row of
 * bricks, its spine, with given weights (papers R-13).
 *
 * Lengths are those of a brick, forces its weight. Row 0 is the lowest; brick j of the spine lies
 * in row j. In each row, to the left of the spine, lie in_row[j] more bricks, from right to left.
 * A brick rests on the one at its own place in the row below, which it overhangs to the right, and
 * on that one's right neighbour, which it overhangs to the left. Two bricks press on each other at
 * the ends of what they share.
 *
 * Wanted are places x and forces F ≥ 0 such that the forces on every brick and their moments
 * balance. For given forces the places are a linear program, and for given places the forces; the
 * moments hold products of both. So they are linearised, the sum of the moments that are left is
 * made least by a linear program in both, within a trust region, and again until nothing is left.
 *
 *   min Σ |moment left|   subject to   balance of forces, order of the bricks, |dx|, |dF| / 2 ≤ trust
 */
#ifndef CAIRN_ENGINE_STATICS_COUNTERWEIGHTS_H
#define CAIRN_ENGINE_STATICS_COUNTERWEIGHTS_H

#include "server/base/status.h"

enum { COUNTERWEIGHTS_MAX = 20, COUNTERWEIGHT_ROWS_MAX = COUNTERWEIGHTS_MAX + 2 };

struct counterweights {
	uint32_t rows, spine; /* rows that hold a brick at all; bricks of the spine */
	double spine_x[COUNTERWEIGHT_ROWS_MAX]; /* by row: the centre of the spine's brick */
	double weight[COUNTERWEIGHT_ROWS_MAX];	/* by row: what its left end must carry */
	uint32_t in_row[COUNTERWEIGHT_ROWS_MAX];
	double room; /* least distance between neighbours, and least share of bricks that press */
	/* Out, by row and from right to left within it. */
	double x[COUNTERWEIGHTS_MAX];
	uint32_t count;
};

/* Fills x; `placed` is false if no places were found. NO_MEMORY. */
MUST_CHECK enum status counterweights_place(struct counterweights *self, bool *placed);

#endif
