/* order_dissect.h: an elimination order of a matrix of many bodies, with less fill-in than the one of
 * order_amd.h where places of bodies tell which are near each other. */
#ifndef CAIRN_ENGINE_LINALG_ORDER_DISSECT_H
#define CAIRN_ENGINE_LINALG_ORDER_DISSECT_H

#include "server/base/arena.h"
#include "server/base/base.h"
#include "server/engine/math/vec3.h"

/* order[k] becomes the row that is eliminated k-th. The pattern as in order_amd.h; place[i] belongs to row i,
 * finite. The same on every machine, for the same places. Memory of the arena, which is given back.
 * NO_MEMORY. */
MUST_CHECK enum status order_dissect(struct arena *arena, uint32_t count, const uint32_t *start,
				     const uint32_t *column, const vec3 *place, uint32_t *order);

#endif
