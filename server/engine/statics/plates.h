/* plates.h: the bodies of a planar world as plates of lowest.h.
 *
 * A plate is a dynamic or static body of one polygon whose lowest and highest edges are level. Gravity
 * goes along −y. Source: seed `000`, §9.
 */
#ifndef CAIRN_ENGINE_STATICS_PLATES_H
#define CAIRN_ENGINE_STATICS_PLATES_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/statics/lowest.h"

struct plates {
	struct lowest_plate *items; /* owned, as the others */
	struct lowest_motion *motions;
	uint32_t *rows; /* of the body table, ascending */
	uint32_t count;
};

/* UNSUPPORTED: a world in space, gravity aslant, joints, carriers, bodies of other shapes; LIMIT;
 * NO_MEMORY. `why` names bodies. Release it in any case. */
MUST_CHECK enum status plates_make(struct plates *self, const struct dynamics *dynamics,
				   struct reason *why);
/* The state of lowest energy, in `motions`. DEGENERATE: bodies overlap; UNSUPPORTED: the programme failed;
 * NO_MEMORY. */
MUST_CHECK enum status plates_lower(struct plates *self, const struct dynamics *dynamics,
				    struct lowest_outcome *out, struct reason *why);
void plates_release(struct plates *self);

#endif
