/* chol_panel.h: A = L Lᵀ of a sparse symmetric matrix of 3 × 3 blocks, one block row for each body, by
 * panels of columns with the same rows. A is the identity plus a positive semidefinite matrix, so its
 * eigenvalues are at least 1. For few bodies, or blocks of 6 × 6, there is chol_block.h. */
#ifndef CAIRN_ENGINE_LINALG_CHOL_PANEL_H
#define CAIRN_ENGINE_LINALG_CHOL_PANEL_H

#include "server/base/arena.h"
#include "server/base/base.h"
#include "server/base/parallel.h"

/* Unknowns of a body; bodies and unknowns of a tile. */
#define CHOL_PANEL_NONE SIZE_MAX
enum { CHOL_PANEL = 3, CHOL_PANEL_BODIES = 4, CHOL_PANEL_TILE = CHOL_PANEL * CHOL_PANEL_BODIES };

/* All lists are of the arena of chol_panel_analyse. */
struct chol_panel {
	/* Borrowed, from before the analysis on; NULL: the caller's thread alone. */
	const struct parallel *parallel;
	uint32_t size, panels; /* block rows; panels */
	/* The order of elimination, and back: order[place[body]] = body. */
	uint32_t *order, *place;
	uint32_t *panel; /* by place: the panel of the column */
	/* Panel p has the columns first[p] … first[p + 1] − 1 and the rows row[start[p]] …
	 * row[start[p + 1] − 1], as places: those of its columns, then those below, ascending. */
	uint32_t *first, *start, *row;
	/* Panel p begins at value[begin[p]]: tile after tile of four rows, the last filled up with zeros; in
	 * each the columns, 12 doubles each. */
	size_t *begin;
	double *value;
	/* Parts of a factor that do not depend on each other: part i is the panels part[i].first …
	 * part[i].end − 1, ascending. The panels of no part come after them. */
	struct chol_panel_part {
		uint32_t first, end;
		uint32_t
			leave; /* in the making: its first panel that changes one outside, in `next` */
		uint32_t lost; /* pivots */
	} * part_list;
	uint32_t parts;
	uint32_t *link, *next, *at; /* of a factor in the making */
	uint32_t *local;	    /* the same; `size` for each worker */
	double *vector, *part;	    /* of a solution in the making */
	size_t products;	    /* of 3 × 3 blocks in a factor, as many as tiles have */
	uint32_t
		pivots_lost; /* at most 1/2: lost to rounding, the unknown is 0; others below 1 become 1 */
};

/* Finds panels of the matrix that has blocks on the diagonal and of each body with near[start[body]] …
 * near[start[body + 1] − 1], each pair in both lists. `order` has little fill-in (order_amd.h); among those
 * with the same fill-in another is chosen. NO_MEMORY. */
MUST_CHECK enum status chol_panel_analyse(struct chol_panel *self, struct arena *arena,
					  uint32_t size, const uint32_t *start,
					  const uint32_t *near, const uint32_t *order);
/* Where block (i, k) of two places, i ≥ k, begins in `value`; CHOL_PANEL_NONE: it is not in the
 * pattern, fill-in included. Its entry (r, c) follows after 12 c + r doubles. */
size_t chol_panel_find(const struct chol_panel *self, uint32_t i, uint32_t k);
/* value := the identity. The caller then adds the blocks of the lower triangle of the rest; of the
 * diagonal blocks only the lower triangles are read. */
void chol_panel_identity(struct chol_panel *self);
/* Factors the matrix in `value`, in place. The same bits for every width of the processor's registers and
 * every number of workers. */
void chol_panel_factor(struct chol_panel *self);
/* b := A⁻¹ b; 3 × size doubles, by bodies. */
void chol_panel_solve(struct chol_panel *self, double *b);

#endif
