/* See lp_program.h. While entries are entered, starts[j] is the place of the next one of column j; at the end
 * it has moved to the beginning of column j + 1. */
#include "server/engine/solvers/lp_program.h"

#include <string.h>

bool lp_program_allocate(struct lp_program *self, struct arena *arena, struct lp_sizes sizes,
			 bool start)
{
	*self = (struct lp_program){ .rows = sizes.rows,
				     .columns = sizes.columns,
				     .nonzeros = sizes.nonzeros };
	self->starts = ARENA_ARRAY(arena, uint32_t, sizes.columns + 1);
	self->index = ARENA_ARRAY(arena, uint32_t, sizes.nonzeros);
	self->values = ARENA_ARRAY(arena, double, sizes.nonzeros);
	self->cost = ARENA_ARRAY(arena, double, sizes.columns);
	self->column_low = ARENA_ARRAY(arena, double, sizes.columns);
	self->column_high = ARENA_ARRAY(arena, double, sizes.columns);
	self->row_low = ARENA_ARRAY(arena, double, sizes.rows);
	self->row_high = ARENA_ARRAY(arena, double, sizes.rows);
	self->start = start ? ARENA_ARRAY(arena, double, sizes.columns) : NULL;
	self->solution.x = ARENA_ARRAY(arena, double, sizes.columns);
	self->solution.dual = ARENA_ARRAY(arena, double, sizes.rows);
	self->solution.places = ARENA_ARRAY(arena, uint8_t, sizes.columns + sizes.rows);
	return self->starts != NULL && self->index != NULL && self->values != NULL &&
	       self->cost != NULL && self->column_low != NULL && self->column_high != NULL &&
	       self->row_low != NULL && self->row_high != NULL && (!start || self->start != NULL) &&
	       self->solution.x != NULL && self->solution.dual != NULL &&
	       self->solution.places != NULL;
}

void lp_program_pass(struct lp_program *self, uint32_t pass)
{
	ASSERT(pass < 2 && (pass == 0 || !self->entering));
	self->entering = pass == 1;
	if (pass == 0) {
		memset(self->starts, 0, (self->columns + 1) * sizeof *self->starts);
		return;
	}
	for (uint32_t j = 0; j < self->columns; j++)
		self->starts[j + 1] += self->starts[j];
	ASSERT(self->starts[self->columns] <= self->nonzeros);
}

void lp_program_put(struct lp_program *self, uint32_t column, uint32_t row, double value)
{
	ASSERT(column < self->columns && row < self->rows);
	if (!self->entering) {
		self->starts[column + 1]++;
		return;
	}
	self->index[self->starts[column]] = row;
	self->values[self->starts[column]++] = value;
}

void lp_program_end(struct lp_program *self)
{
	ASSERT(self->entering);
	for (uint32_t j = self->columns; j > 0; j--)
		self->starts[j] = self->starts[j - 1];
	self->starts[0] = 0;
	self->problem = (struct lp_problem){
		.matrix = { self->rows, self->columns, self->starts, self->index, self->values },
		.cost = self->cost,
		.column_low = self->column_low,
		.column_high = self->column_high,
		.row_low = self->row_low,
		.row_high = self->row_high,
	};
}
