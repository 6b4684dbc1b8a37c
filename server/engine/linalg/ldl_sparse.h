/* ldl_sparse.h: A = L D Lᵀ of a sparse symmetric matrix in the order in which it is given. */
#ifndef CAIRN_ENGINE_LINALG_LDL_SPARSE_H
#define CAIRN_ENGINE_LINALG_LDL_SPARSE_H

#include "server/base/base.h"

struct ldl_sparse {
	uint32_t size;
	size_t entries_max; /* room in row and value */
	uint32_t *start;    /* borrowed: capacity + 1; column j of L */
	uint32_t *row;      /* borrowed: entries_max */
	double *value;      /* borrowed: entries_max */
	double *diagonal;   /* borrowed: capacity; D */
	uint32_t *parent;   /* borrowed: capacity each */
	uint32_t *count, *flag, *pattern;
	double *work;
	uint32_t helped; /* pivots that were not above `pivot_min` of their diagonal and took its
			    place */
};

/* The pattern of L from A's: column k's entries are row[start[k]] … of rows ≤ k, in any order. Sets
 * start; returns the entries of L below the diagonal, which may exceed entries_max: then do not
 * factor. */
size_t ldl_sparse_analyse(struct ldl_sparse *self, uint32_t size, const uint32_t *start,
			  const uint32_t *row);
/* Factors what was analysed. A pivot that is at most pivot_min × |its diagonal entry| becomes
 * |diagonal| (or 1): the caller sees `helped` and refines. */
void ldl_sparse_factor(struct ldl_sparse *self, const uint32_t *start, const uint32_t *row,
		       const double *value, double pivot_min);
/* b := A⁻¹ b. */
void ldl_sparse_solve(const struct ldl_sparse *self, double *b);

/* The same for rows first … end − 1, where A has no entries between these and others (an island):
 * each such part is a factor of its own. `helped` is that of the last part factored. */
void ldl_sparse_factor_part(struct ldl_sparse *self, uint32_t first, uint32_t end,
			    const uint32_t *start, const uint32_t *row, const double *value,
			    double pivot_min);
void ldl_sparse_solve_part(const struct ldl_sparse *self, uint32_t first, uint32_t end, double *b);

/* Changes of a factor inside its pattern (Davis and Hager 2005), at the cost of the columns on the
 * way from k up the tree. start, row: the pattern as analysed. */
/* Row and column k become those of the unit matrix. */
void ldl_sparse_remove(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
		       const uint32_t *row);
/* Row and column k, which are those of the unit matrix, become what the caller has put into `work`
 * (by row, k itself included; all else there is 0, and is again afterwards). False when a pivot
 * is not above pivot_min × its old value: the factor is then lost. */
bool ldl_sparse_insert(struct ldl_sparse *self, uint32_t k, const uint32_t *start,
		       const uint32_t *row, double pivot_min) MUST_CHECK;

#endif
