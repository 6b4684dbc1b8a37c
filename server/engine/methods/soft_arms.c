/* soft_arms.c: arms and gaps of contacts while bodies move within a step.
 *
 * A separation within the step is s + n·(x_b − x_a) + (r_b×n)·θ_b − (r_a×n)·θ_a, with the displacements
 * x and rotations θ since its start: the surfaces' motion along n to first order. While arms have
 * changed by less than CALM of their length, a block is *calm*: that separation and the arms of the
 * step's start are accurate enough.
 *
 * Beyond that a block *slides*: from then on its arms, normals and masses are made anew in every
 * sub-step, and separations are exact for the parts that rotate. An impulse then acts at one point of
 * the world on both bodies,
 *   x_a + r_a = x_b + r_b  when it acts,
 * which conserves angular momentum. An arm ends in the middle of the gap. At the start it is c + ρ n: c
 * rotates with its body; ρ n, half the gap and a ball's radius, does not, because the point below a
 * ball's centre stays below it when it rolls. The distance between the two ends,
 *   d = x + (turn_b − 1) c_b − (turn_a − 1) c_a − (n − n₀)(ρ_a + ρ_b),   x = x_b − x_a since the start,
 * is divided between the arms: equally; if one shape is round the other's arm gets all of it, because a
 * ball's arm is its radius. Against a body that is not dynamic there is no momentum to conserve, and
 * that body's arm gets all. The normal of two balls follows their centres: n = (n₀ + x/D) / |n₀ + x/D|,
 * D their distance at the start.
 */
#include "server/engine/methods/soft_arms.h"

enum { MEASURE_GRAIN = 16 };

/* Four lanes at a time, because the first four may be calm in a sub-step in which others are not. */
void soft_measure_four(const struct soft_step *step, uint32_t i)
{
	ASSERT(i < step->block_count);
	struct soft_block *block = &step->blocks[i];
	for (uint32_t first = 0; first < BLOCK_LANES; first += LANES_WIDTH) {
		bool balls = !lanes_any(not_balls(block, first));
		struct relative_motion motion = gather_motion(step, block, first, balls);
		if (!block->slides && measure_calm(block, first, &motion, balls))
			continue;
		if (!block->slides) {
			slide_init(block, &step->slides[i], 0);
			slide_init(block, &step->slides[i], LANES_WIDTH);
			block->slides = true;
		}
		measure_sliding(step, block, &step->slides[i], first, &motion, balls);
	}
}

static void measure_piece(uint32_t from, uint32_t to, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct soft_step *step = context;
	for (uint32_t i = from; i < to; i++)
		step->kernels->measure(step, i);
}

void soft_measure(struct soft_step *self)
{
	parallel_run(self->dynamics->parallel, soft_trees_open_blocks(&self->trees), MEASURE_GRAIN,
		     measure_piece, self);
}
