/* drives.h: drives: forces and torques that last for a number of ticks. Rows are in the order of the
 * commands.
 */
#ifndef CAIRN_ENGINE_WORLD_DRIVES_H
#define CAIRN_ENGINE_WORLD_DRIVES_H

#include "server/engine/world/world.h"

/* `ticks` of a drive that lasts until its body is removed. */
#define DRIVE_FOR_EVER UINT32_MAX

/* Appends a drive: `force` (N) and `torque` (N·m) in world axes, `point` in m from the mass centre in body
 * axes. Room for the row is reserved. */
void drives_add(struct tables *tables, uint32_t body, vec3 force, vec3 point, vec3 torque,
		uint32_t ticks);
/* Removes the drives of a body. */
void drives_drop_body(struct tables *tables, uint32_t body);
/* Counts every drive down by one tick. A drive that expires is removed and its body woken, because the
 * drive may have balanced the other forces on it. */
void drives_count_down(struct world *world);

#endif
