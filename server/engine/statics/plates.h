/* plates.h: the bodies of a world as plates of lowest.h, and its joints as ties.
 *
 * A plate is a dynamic or static body whose lowest and highest faces are level: in the plane one polygon, in
 * space one box or hull, or (static) a level ground plane. Gravity goes along −y.
 *
 * Joints hold heights at their anchors if they lock motion upwards there, and slopes that their locked turns
 * give: spherical, revolute and fixed joints, and slides along y or across it. Others, and those with limits,
 * springs, motors, friction or gears, are refused, because what they hold depends on how bodies move sideways
 * or on more than heights. Source: seed `000`, §9.
 */
#ifndef CAIRN_ENGINE_STATICS_PLATES_H
#define CAIRN_ENGINE_STATICS_PLATES_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/statics/lowest.h"

struct plates {
	struct lowest_plate *items; /* owned, as the others */
	struct lowest_motion *motions;
	uint32_t *rows;	      /* of the body table, ascending */
	double (*corners)[2]; /* of the faces in space */
	struct lowest_tie *ties;
	uint32_t count, corner_count, tie_count;
	bool space;
};

/* UNSUPPORTED: gravity aslant, joints that are no ties, carriers, bodies of other shapes; LIMIT;
 * NO_MEMORY. `why` names bodies. Release it in any case. */
MUST_CHECK enum status plates_make(struct plates *self, const struct dynamics *dynamics,
				   struct reason *why);
/* The state of lowest energy, in `motions`. DEGENERATE: bodies overlap; UNSUPPORTED: the programme failed;
 * NO_MEMORY. */
MUST_CHECK enum status plates_lower(struct plates *self, const struct dynamics *dynamics,
				    struct lowest_outcome *out, struct reason *why);
void plates_release(struct plates *self);

#endif
