/* mover_list.h: rows of the table of movers, which body.mover links with their bodies. */
#ifndef CAIRN_ENGINE_DYNAMICS_MOVER_LIST_H
#define CAIRN_ENGINE_DYNAMICS_MOVER_LIST_H

#include "server/engine/dynamics/dynamics.h"

/* Room for `movers` further rows. NO_MEMORY. */
MUST_CHECK enum status dynamics_mover_reserve(struct dynamics *self, uint32_t movers);
/* The mover row of a body row; DYNAMICS_NONE: it is no mover. */
static inline uint32_t dynamics_mover_of(const struct tables *tables, uint32_t body)
{
	VALIDATE(body < tables->body.count);
	return tables->body.mover[body] - 1;
}
/* Makes a body a mover, within the reserved room; returns its row. */
uint32_t dynamics_mover_take(struct dynamics *self, uint32_t body);
/* The body is no mover any more. No effect on one that is none. */
void dynamics_mover_free(struct dynamics *self, uint32_t body);

#endif
