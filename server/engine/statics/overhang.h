/* overhang.h: the stacks of n bricks that reach farthest over a table's edge (papers R-13).
 *
 * The spine is the row of bricks, one in each layer, that leads from the table to the tip; the
 * others are counterweights, which press on the left ends of the spine's bricks. Lengths are those
 * of a brick, forces its weight. Let T_i be the load that brick i of k, counted from the top,
 * passes on; T_0 = 0 and T_k = n. The forces on brick i are T_{i−1} at its right end, 1 in its
 * middle and T_i − T_{i−1} − 1 at its left end; their resultant is above the right end of the next
 * brick, or above the edge. So the stack reaches
 *
 *   Σ_i 1 − (T_{i−1} + ½) / T_i,   greatest where T_{i+1} = T_i² / (T_{i−1} + ½)
 *
 * This is a bound for each length of the spine and each number of bricks at its top without a
 * counterweight. The bounds are tried from the greatest on; the first one for which the
 * counterweights can be laid (counterweights.h) is the answer. From 3 bricks on it is more than the
 * ½ H_n of one brick on each other. Without a counterweight it is just that.
 *
 * Source: papers R-13; Paterson and Zwick 2009: the best stacks known up to 19 bricks are of this
 * kind.
 */
#ifndef CAIRN_ENGINE_STATICS_OVERHANG_H
#define CAIRN_ENGINE_STATICS_OVERHANG_H

#include "server/base/status.h"

enum { OVERHANG_MAX = 20 };

struct overhang {
	uint32_t count;
	double x[OVERHANG_MAX]; /* centres, from the edge */
	uint32_t row[OVERHANG_MAX];
	double reach;
	uint32_t spine,
		layouts; /* bricks of the spine; layouts of counterweights that were tried */
};

/* `count`: 1 to OVERHANG_MAX bricks. NO_MEMORY. */
MUST_CHECK enum status overhang_find(struct overhang *self, uint32_t count);

#endif
