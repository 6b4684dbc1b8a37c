/* See drives.h. Removal keeps the order of the rows that stay, because forces are summed in that
 * order. */
#include "server/engine/world/drives.h"

void drives_add(struct tables *tables, uint32_t body, vec3 force, vec3 point, vec3 torque,
		uint32_t ticks)
{
	ASSERT(body < tables->body.count && ticks > 0);
	uint32_t row = tables_append(tables, TABLE_DRIVE);
	tables->drive.body[row] = body;
	tables->drive.force[row] = force;
	tables->drive.point[row] = point;
	tables->drive.torque[row] = torque;
	tables->drive.ticks[row] = ticks;
}

void drives_drop_body(struct tables *tables, uint32_t body)
{
	struct drive_table *drive = &tables->drive;
	uint32_t kept = 0;
	while (kept < drive->count && drive->body[kept] != body)
		kept++; /* rows before the first removed one do not move */
	for (uint32_t row = kept; row < drive->count; row++)
		if (drive->body[row] != body)
			tables_copy_row(tables, TABLE_DRIVE, kept++, row);
	ASSERT(kept <= drive->count);
	tables_truncate(tables, TABLE_DRIVE, kept);
}

void drives_count_down(struct world *world)
{
	struct tables *tables = &world->tables;
	struct drive_table *drive = &tables->drive;
	uint32_t kept = 0;
	for (uint32_t row = 0; row < drive->count; row++) {
		if (drive->ticks[row] != DRIVE_FOR_EVER && --drive->ticks[row] == 0)
			dynamics_wake(&world->dynamics, drive->body[row]);
		else
			tables_copy_row(tables, TABLE_DRIVE, kept++, row);
	}
	tables_truncate(tables, TABLE_DRIVE, kept);
}
