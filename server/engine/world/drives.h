/* drives.h: forces and torques that last for a number of ticks, in the order they were commanded. */
#ifndef CAIRN_ENGINE_WORLD_DRIVES_H
#define CAIRN_ENGINE_WORLD_DRIVES_H

#include "server/engine/world/world.h"

/* Until the body is removed. */
#define DRIVE_FOR_EVER UINT32_MAX

/* Force at a point (m from the mass centre, body axes) and torque, world axes; reserved. */
void drives_add(struct tables *tables, uint32_t body, vec3 force, vec3 point, vec3 torque,
		uint32_t ticks);
void drives_drop_body(struct tables *tables, uint32_t body);
/* Counts one tick down. Drives that expire are removed and their bodies wake, because the drive
 * may have been what held them still. */
void drives_count_down(struct world *world);

#endif
