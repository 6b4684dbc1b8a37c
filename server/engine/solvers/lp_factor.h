/* lp_factor.h: the sparse factor B = L U of a basis of a linear program, and its update after a pivot.
 *
 * A basis is a list of m variables, `head`: a number below `columns` is a column of A; others are the
 * activity of row variable − columns, whose column is −e_row (the rows of the program are A x − s = 0).
 * Vectors are dense with m entries. lp_factor_make reorders `head` so that the variable that pivots in
 * row i is head[i]. After that, positions in the basis and rows have the same indices.
 */
#ifndef CAIRN_ENGINE_SOLVERS_LP_FACTOR_H
#define CAIRN_ENGINE_SOLVERS_LP_FACTOR_H

#include "server/engine/solvers/lp.h"

/* The rule of lp_factor_update decides before; this bounds the memory of starts. */
enum { LP_FACTOR_UPDATES_MAX = 128 };

struct lp_factor {
	uint32_t rows_max, fill_max;
	uint32_t rows;
	uint32_t lower_first; /* first step whose L column has entries */
	uint32_t *pivot_row, *lower_starts, *upper_starts; /* by step; starts have one more */
	uint32_t *lower_index, *upper_index;		   /* rows */
	double *lower_value, *upper_value, *upper_diagonal;
	/* The same entries by rows, each with the pivot row of its column. */
	uint32_t *lower_row_starts, *upper_row_starts, *lower_row_index, *upper_row_index;
	double *lower_row_value, *upper_row_value;
	/* B after k pivots is L T_1 … T_k U; of T the column is at starts[2k], the row at starts[2k + 1]. */
	uint32_t updates, update_starts[2 * LP_FACTOR_UPDATES_MAX + 1];
	double update_pivot[LP_FACTOR_UPDATES_MAX];
	uint32_t *update_index;
	double *update_value;
	double *spike, *unit; /* of the next update */
	/* Entries worked on: by the factorisation, and by solves in the updates since then. */
	uint64_t factor_work, update_work;
	/* While factoring. */
	double *work;
	uint32_t *pattern, *step_of, *row_count, *row_starts, *row_list, *column_count, *column_of,
		*queue;
};

/* With `memory->memory` NULL only counts bytes. `fill_max`: the limit of the entries of L, of U and
 * of the updates, each. */
void lp_factor_init(struct lp_factor *self, struct solver_memory *memory, uint32_t rows_max,
		    uint32_t fill_max);
/* Computes the factor. Dependent columns are replaced by activities of rows (lowest row first);
 * *replaced: their number. False: fill_max is too small. */
MUST_CHECK bool lp_factor_make(struct lp_factor *self, const struct lp_matrix *matrix,
			       uint32_t *head, uint32_t *replaced);
/* v := B⁻¹ v; v := B⁻ᵀ v. */
void lp_factor_solve(struct lp_factor *self, double *v);
void lp_factor_solve_transposed(struct lp_factor *self, double *v);
/* The same for the column that enters and for the unit vector of the row that leaves; what the update needs
 * of both is kept. */
void lp_factor_solve_entering(struct lp_factor *self, double *v);
void lp_factor_solve_leaving(struct lp_factor *self, double *v);
/* Replaces column `row` of the basis after these two solves; `pivot` ≠ 0 is B⁻¹ times the new column, in this
 * row. False: the caller must compute the factor again, because there is no memory, the two solves contradict
 * each other, or solves have spent as much on updates as a factor costs. */
MUST_CHECK bool lp_factor_update(struct lp_factor *self, uint32_t row, double pivot);

#endif
