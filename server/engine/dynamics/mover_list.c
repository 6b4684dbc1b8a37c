/* See mover_list.h. */
#include "server/engine/dynamics/mover_list.h"

enum status dynamics_mover_reserve(struct dynamics *self, uint32_t movers)
{
	enum status status =
		tables_reserve(self->tables, TABLE_MOVER, self->tables->mover.count + movers);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->mover_used, self->tables->mover.capacity);
	return status;
}

uint32_t dynamics_mover_take(struct dynamics *self, uint32_t body)
{
	ASSERT(self->tables->body.id[body] != 0);
	ASSERT(dynamics_mover_of(self->tables, body) == DYNAMICS_NONE);
	uint32_t row = tables_take_row(self->tables, TABLE_MOVER, &self->mover_used);
	self->tables->mover.body[row] = body + 1;
	self->tables->body.mover[body] = row + 1;
	return row;
}

void dynamics_mover_free(struct dynamics *self, uint32_t body)
{
	uint32_t row = dynamics_mover_of(self->tables, body);
	if (row == DYNAMICS_NONE)
		return;
	ASSERT(self->tables->mover.body[row] == body + 1);
	self->tables->body.mover[body] = 0;
	tables_free_row(self->tables, TABLE_MOVER, row, &self->mover_used, NULL);
}
