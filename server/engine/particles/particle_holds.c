/* See particle_holds.h. */
#include "server/engine/particles/particle_holds.h"

#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_meet.h"

static void remove_row(struct tables *tables, uint32_t row)
{
	ASSERT(row < tables->hold.count && tables->system.holds[tables->hold.system[row]] > 0);
	tables->system.holds[tables->hold.system[row]]--;
	tables_remove(tables, TABLE_HOLD, row, 1);
}

void dynamics_hold_remove(struct dynamics *self, uint32_t system, uint64_t serial)
{
	const struct hold_table *table = &self->tables->hold;
	for (uint32_t row = 0; row < table->count; row++)
		if (table->system[row] == system && table->serial[row] == serial) {
			remove_row(self->tables, row);
			return;
		}
}

void dynamics_hold_add(struct dynamics *self, uint32_t system, const struct particle_hold *hold)
{
	struct tables *tables = self->tables;
	ASSERT(hold->body != 0 && system < tables->system.count);
	dynamics_hold_remove(self, system, hold->serial);
	uint32_t row = tables_append(tables, TABLE_HOLD);
	tables->hold.system[row] = system;
	tables->hold.serial[row] = hold->serial;
	tables->hold.body[row] = hold->body;
	tables->hold.point[row] = hold->point;
	tables->hold.stiffness[row] = hold->stiffness;
	tables->hold.damping_ratio[row] = hold->damping_ratio;
	tables->system.holds[system]++;
}

void dynamics_holds_drop(struct dynamics *self, body_id body)
{
	struct tables *tables = self->tables;
	uint32_t kept = 0;
	for (uint32_t row = 0; row < tables->hold.count; row++) {
		if (tables->hold.body[row] == body) {
			tables->system.holds[tables->hold.system[row]]--;
			continue;
		}
		if (kept != row)
			tables_copy_row(tables, TABLE_HOLD, kept, row);
		kept++;
	}
	ASSERT(kept <= tables->hold.count);
	tables_truncate(tables, TABLE_HOLD, kept);
}

bool particle_system_coupled(const struct tables *tables, uint32_t system)
{
	const struct system_table *table = &tables->system;
	return particle_system_linked(tables, system) &&
	       (table->holds[system] > 0 || table->contacts[system] == CONTACTS_WITHIN ||
		particle_meetings(tables, table->id[system]) > 0);
}
