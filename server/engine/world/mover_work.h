/* mover_work.h: memory of the movers' part of a tick, kept from tick to tick. See movers.h. */
#ifndef CAIRN_ENGINE_WORLD_MOVER_WORK_H
#define CAIRN_ENGINE_WORLD_MOVER_WORK_H

#include "server/base/array.h"
#include "server/base/bitset.h"
#include "server/engine/collision/walker.h"
#include "server/engine/types.h"

/* What a tick makes of a mover; written into the table when the step has been made. */
struct mover_plan {
	uint32_t row, body; /* of the tables */
	vec3 before;	    /* m/s: the body's velocity before the tick */
	uint8_t flags;
	body_id ground;
	vec3 normal, velocity;
};

/* All zero at first. */
struct mover_work {
	ARRAY_OF(struct mover_plan) plans;
	ARRAY_OF(uint64_t) order, order_scratch; /* of movers by id: id << 32 | row */
	ARRAY_OF(uint64_t) near, near_scratch;	 /* placements near the mover, ascending */
	ARRAY_OF(struct placed_shape) placed;	 /* the same as obstacles … */
	ARRAY_OF(struct walker_trait) traits;	 /* … */
	ARRAY_OF(uint32_t) bodies;		 /* … and the rows of their bodies */
	struct bitset roused;			 /* rows of movers that a moving body is near */
	uint32_t drives; /* rows of the table of drives before the movers pushed */
	bool starved;	 /* memory ran out while the list of near placements was made */
};

static inline void mover_work_release(struct mover_work *self)
{
	ARRAY_RELEASE(&self->plans);
	ARRAY_RELEASE(&self->order);
	ARRAY_RELEASE(&self->order_scratch);
	ARRAY_RELEASE(&self->near);
	ARRAY_RELEASE(&self->near_scratch);
	ARRAY_RELEASE(&self->placed);
	ARRAY_RELEASE(&self->traits);
	ARRAY_RELEASE(&self->bodies);
	bitset_release(&self->roused);
}

#endif
