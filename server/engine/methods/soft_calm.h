/* soft_calm.h: motion of the bodies of LANES_WIDTH lanes and gaps of calm blocks, which soft_arms.c
 * explains. */
#ifndef CAIRN_ENGINE_METHODS_SOFT_CALM_H
#define CAIRN_ENGINE_METHODS_SOFT_CALM_H

#include "server/engine/methods/soft_sides.h"

struct relative_motion {
	struct lanes3 apart;	      /* m, displacement of B's mass centre less that of A's */
	struct lanes3 turn_a, turn_b; /* vector parts of the rotations */
	lanes scalar_a, scalar_b;
};

ALWAYS_INLINE struct lanes3 gather_turns(const struct soft_body *bodies, const uint32_t *index,
					 lanes *scalar)
{
	return gather_lanes(&bodies->turn, sizeof *bodies, index, scalar);
}

/* The lanes that are no contacts of balls. The arms of balls are along the normal: J is 0, masses do not
 * change, and one point has no twist. */
ALWAYS_INLINE lanes_mask not_balls(const struct soft_block *block, uint32_t first)
{
	lanes zero = lanes_all(0);
	lanes_mask sways = (lanes_load(&block->sway_a, first) > zero) |
			   (lanes_load(&block->sway_b, first) > zero);
	lanes_mask flat = (lanes_load(&block->follows, first) > zero) &
			  (lanes_load(&block->bend, first) <= zero);
	return sways | flat;
}

ALWAYS_INLINE struct relative_motion gather_motion(const struct soft_step *step,
						   const struct soft_block *block, uint32_t first,
						   bool balls)
{
	const uint32_t *a = &block->body_a[first], *b = &block->body_b[first];
	const struct soft_body *bodies = step->bodies;
	struct relative_motion motion = { 0 };
	struct lanes3 drift = lanes3_load(&block->drift, first);
	motion.apart = lanes3_sub(GATHER(bodies, b, shift), GATHER(bodies, a, shift));
	motion.apart = lanes3_mul_add(motion.apart, drift, lanes_all(step->time));
	if (balls)
		return motion;
	motion.turn_a = gather_turns(bodies, a, &motion.scalar_a);
	motion.turn_b = gather_turns(bodies, b, &motion.scalar_b);
	return motion;
}

/* Updates the gaps of a calm block; false if some lane's arms have changed too much. */
ALWAYS_INLINE bool measure_calm(struct soft_block *block, uint32_t first,
				const struct relative_motion *motion, bool balls)
{
	struct lanes3 normal = lanes3_load(&block->normal, first);
	lanes along = lanes3_dot(normal, motion->apart);
	lanes square = lanes3_dot(motion->apart, motion->apart);
	lanes swayed = (square - along * along) * lanes_load(&block->follows, first);
	if (!balls)
		swayed += lanes3_dot(motion->turn_a, motion->turn_a) *
				  lanes_load(&block->sway_a, first) +
			  lanes3_dot(motion->turn_b, motion->turn_b) *
				  lanes_load(&block->sway_b, first);
	if (lanes_any(swayed > lanes_load(&block->calm, first)))
		return false;
	for (uint32_t p = 0; p < block->point_count; p++) {
		struct soft_point *point = &block->points[p];
		lanes turned = { 0 };
		if (!balls)
			turned = lanes3_dot(lanes3_load(&point->j_b, first), motion->turn_b) -
				 lanes3_dot(lanes3_load(&point->j_a, first), motion->turn_a);
		lanes_store(&point->gap, first,
			    lanes_load(&point->separation, first) + (along + (turned + turned)));
	}
	return true;
}

#endif
