/* soft_passes.h: defines the passes over blocks for LANES_WIDTH lanes. A file per width defines the width
 * and SOFT_KERNELS, the name of its table, and includes this once. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_PASSES_H
#define CAIRN_ENGINE_METHODS_SOFT_PASSES_H

#include "server/engine/methods/soft_branch.h"
#include "server/engine/methods/soft_contact.h"
#if LANES_WIDTH < 16
#include "server/engine/methods/soft_arms.h"
#endif
#if LANES_WIDTH >= 4
#include "server/engine/methods/soft_wide_passes.h"
#endif
#if LANES_WIDTH == 4 || LANES_WIDTH == 8
#include "server/engine/methods/soft_fill.h"
#endif
#include "server/engine/methods/soft_move.h"

#ifndef SOFT_KERNELS
#define SOFT_KERNELS soft_kernels_4
#endif

#if LANES_WIDTH == 16
PASS_PAIR(half_warm, soft_kernels_8.warm)
PASS_PAIR(half_solve, soft_kernels_8.solve)
PASS_PAIR(half_relax, soft_kernels_8.relax)
#else
PASS_BLOCK(half_warm)
PASS_BLOCK(half_solve)
PASS_BLOCK(half_relax)
#endif

#if LANES_WIDTH == 8
/* Gaps of eight lanes at a time are those of four and four only if the balls among them fill whole groups of
 * four, and if all are calm or the block slides already. */
static void measure_lanes(const struct soft_step *step, uint32_t i)
{
	struct soft_block *block = &step->blocks[i];
	uint32_t others = lanes_bits(not_balls(block, 0));
	bool low = (others & 15) != 0, high = others >> 4 != 0;
	if (low == high) {
		struct relative_motion motion = gather_motion(step, block, 0, !low);
		if (block->slides) {
			measure_sliding(step, block, &step->slides[i], 0, &motion, !low);
			return;
		}
		if (measure_calm(block, 0, &motion, !low))
			return;
	}
	soft_measure_four(step, i);
}
#endif

/* What has no kernel of a width is done by that of the one below. */
#if LANES_WIDTH == 16
static void measure_lanes(const struct soft_step *step, uint32_t i)
{
	soft_kernels_8.measure(step, i);
}

static void derive_block(struct soft_block *block)
{
	soft_kernels_8.derive(block);
}

static float residual_of(const struct soft_step *step, const struct soft_block *block)
{
	return soft_kernels_8.residual(step, block);
}

static uint32_t fill_block(const struct soft_step *step, struct soft_block *block,
			   const struct soft_fill *from)
{
	return soft_kernels_8.fill(step, block, from);
}
#elif LANES_WIDTH < 8
#define measure_lanes soft_measure_four
#endif
#if LANES_WIDTH == 1
#define fill_block NULL
#endif

#if LANES_WIDTH >= 4
#define WIDE_KERNELS &wide_kernels
#else
#define WIDE_KERNELS NULL
#endif

const struct soft_kernels SOFT_KERNELS = {
	.warm = half_warm_piece,
	.solve = half_solve_piece,
	.relax = half_relax_piece,
	.move = move_piece,
	.measure = measure_lanes,
	.derive = derive_block,
	.residual = residual_of,
	.fill = fill_block,
	.wide = WIDE_KERNELS,
	.branches = &branch_kernels,
};

#endif
