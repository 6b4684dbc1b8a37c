/* lcp_sparse.h: the LCP with bounds for thousands of rows, each coupled to few others. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H
#define CAIRN_ENGINE_SOLVERS_LCP_SPARSE_H

#include "server/base/status.h"
#include "server/engine/linalg/ldl_sparse.h"
#include "server/engine/solvers/lcp.h"

/* As lcp_problem; A by rows, both triangles, columns ascending, every diagonal entry present. */
struct lcp_sparse_problem {
	uint32_t count;
	const uint32_t *start, *column; /* count + 1; start[count] */
	const double *value;
	const double *b, *lower, *upper; /* bounds both NULL: 0 and ∞ */
};

struct lcp_sparse {
	uint32_t rows_max, entries_max;
	uint32_t count;
	uint32_t *order, *place;   /* by place in the elimination; by row */
	uint32_t islands, *island; /* where each begins in `order`: islands + 1 */
	uint32_t *member;          /* as `order`, but rows ascending in each island */
	double *value, *b, *lower, *upper, *scale;
	int32_t *lift; /* by island: its x, b and bounds are solved times 2^lift */
	double *x, *w, *next, *next_w;
	double *step;          /* by place */
	uint8_t *free, *wanted; /* by row: in the factor; in the next step */
	uint32_t *half_start, *half_row, *half_from; /* upper triangle by places, and its entry of A */
	double *half_value;
	struct ldl_sparse factor;
	struct solver_result result;
};

/* entries: of A; fill: of L, what lcp_sparse_order tells. */
size_t lcp_sparse_bytes(uint32_t rows, uint32_t entries, size_t fill);
void lcp_sparse_init(struct lcp_sparse *self, void *memory, uint32_t rows, uint32_t entries,
		     size_t fill);
/* Fixes islands and elimination order for this pattern, for this and later solves with it. Allocates.
 * *fill: how much room the factor needs; if it is more than the workspace has, make a larger one
 * (and order again) or solve all the same and see LIMIT. */
enum status lcp_sparse_order(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			     size_t *fill) MUST_CHECK;
/* The same with an order of the caller's, a permutation of the rows. Returns the fill. */
size_t lcp_sparse_order_by(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			   const uint32_t *order);
/* x: out, and with options.warm in as well. The pattern is the one ordered. Limits when 0: rounds
 * 300 an island; result.rounds is the most of any; pivots counts rows that entered or left a
 * factor. tolerance is for the residual, as lcp_residual's. A problem without solution ends in LIMIT
 * with a large residual. Numbers may lie anywhere in the range of doubles: each island is scaled into
 * its middle, and the residual is that of the problem as given. INEXACT: solved in its own scale, but
 * the answer as doubles does not solve it (it is too large or too small for one). */
struct solver_result lcp_sparse_solve(struct lcp_sparse *self,
				      const struct lcp_sparse_problem *problem,
				      const struct solver_options *options, double *x);

#endif
