/* lp_program.h: a linear program that is written row by row: arrays of its sizes on an arena, and its
 * matrix by columns. The entries are given twice in the same order, counted first and entered then:
 *
 *	lp_program_allocate(&program, arena, sizes, false);
 *	for (pass = 0; pass < 2; pass++) {
 *		lp_program_pass(&program, pass);
 *		lp_program_put(&program, column, row, value); …
 *	}
 *	lp_program_end(&program);
 *
 * Rows of a column must ascend. Costs, bounds, the start and the places are the caller's to fill in.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LP_PROGRAM_H
#define CAIRN_ENGINE_SOLVERS_LP_PROGRAM_H

#include "server/base/arena.h"
#include "server/engine/solvers/lp_dual_simplex.h"

struct lp_program {
	struct lp_problem problem;   /* valid after lp_program_end */
	struct lp_solution solution; /* room for one; places: of columns, then of rows */
	uint32_t *starts, *index;
	double *values, *cost, *column_low, *column_high, *row_low, *row_high;
	double *start;			  /* NULL unless asked for */
	uint32_t rows, columns, nonzeros; /* nonzeros: at most so many entries */
	bool entering;			  /* the second pass */
};

/* False: no memory. Nothing but the sizes is set. `start`: with an array for a feasible point. */
bool lp_program_allocate(struct lp_program *self, struct arena *arena, struct lp_sizes sizes,
			 bool start);
/* Begins the counting (0) or the entering (1) of all entries. */
void lp_program_pass(struct lp_program *self, uint32_t pass);
void lp_program_put(struct lp_program *self, uint32_t column, uint32_t row, double value);
/* Makes the matrix and the problem; its start is NULL. */
void lp_program_end(struct lp_program *self);

#endif
