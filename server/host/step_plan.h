/* step_plan.h: what a STEP_WORLDS does in each of its worlds, decoded once and shared by their
 * hosts.
 *
 * A plan is made on LOOP and not changed afterwards, so workers read it without a lock. It is freed
 * with its last reference, on whichever thread drops that.
 */
#ifndef CAIRN_HOST_STEP_PLAN_H
#define CAIRN_HOST_STEP_PLAN_H

#include "protocol/group_wire.h"

struct step_plan {
	_Atomic uint32_t refs;
	uint32_t worlds, steps;
	bool hash; /* with state hashes */
	struct wire_actions actions;
	struct wire_observe observe;
	uint8_t *values; /* owned: worlds × steps × places numbers, f64 little-endian */
};

/* Decodes the lists and copies the values of a STEP_WORLDS; returned owned. TYPE, RANGE …, also
 * where the number of values is not that of the places; NO_MEMORY. */
MUST_CHECK enum status step_plan_create(const struct msg_step_worlds *message,
					struct step_plan **out, struct reason *why);
struct step_plan *step_plan_retain(struct step_plan *self);
void step_plan_release(struct step_plan *self); /* NULL: nothing */

/* The numbers of one action (borrowed). */
static inline const uint8_t *step_plan_values(const struct step_plan *self, uint32_t row,
					      uint32_t step)
{
	return self->values + (size_t)8 * self->actions.places.count * (row * self->steps + step);
}
/* Bytes of all observations of one world. */
static inline uint64_t step_plan_row_bytes(const struct step_plan *self)
{
	return (uint64_t)8 * self->observe.width * self->steps;
}

#endif
