/* closure.h: loops of a forest: the joints that it does not contain, and gears, as rows on its links.
 *
 *   J a + bias = 0,   a = a₀ + M⁻¹ Jᵀ λ   ⇒   (J M⁻¹ Jᵀ) λ = −(J a₀ + bias)
 *
 * Each column of J M⁻¹ Jᵀ is a forward pass over the tree, so no mass matrix is formed. A planar loop
 * in space has rows that depend on others. The rows are scaled so that between free bodies their
 * diagonal would be 1; the matrix is factored with exchanges, and rows whose pivot falls below
 * CLOSURE_DEPENDENT depend on those before. λ is then the solution of least norm in that scale. Rows
 * that contradict each other (a mechanism that is locked, or whose loops are open) leave a residual,
 * which is told.
 */
#ifndef CAIRN_ENGINE_ARTICULATED_CLOSURE_H
#define CAIRN_ENGINE_ARTICULATED_CLOSURE_H

#include "server/engine/articulated/tree_dynamics.h"
#include "server/engine/dynamics/gear.h"

/* 1, in that scale. Larger: rows that hardly differ count as dependent and leave a residual;
 * smaller: rounding of exactly dependent rows (about 1e-14) counts as independent. */
#define CLOSURE_DEPENDENT 1e-10
/* Rows: the matrix is dense, at most 1.5 MB with its factors. */
enum { CLOSURE_ROWS_MAX = 256 };

struct closures {
	struct constraint_row *rows; /* owned, as all below are */
	struct row_part *parts;	     /* slots are links */
	double *force;		     /* λ by row, N or N·m */
	double *matrix, *factor;     /* J M⁻¹ Jᵀ, and rows × rank */
	double *scale, *work, *rates;
	struct spatial *loads; /* by link */
	uint32_t row_count, rank;
	double residual; /* m/s², rad/s²: the largest |J a + bias| of the last solution */
};

/* The rows of tree->closures at the present motions, with the velocities of the tree, and those of gears,
 * each one row; slots of a gear are bodies of the source, ARTICULATION_NONE the ground, and the motions of
 * bodies are those of the tree, whatever the gears have. LIMIT: more rows than CLOSURE_ROWS_MAX. NO_MEMORY.
 * Release it in any case. */
MUST_CHECK enum status closures_make_geared(struct closures *self, const struct articulation *tree,
					    const struct gear *gears, uint32_t count,
					    struct reason *why);
/* The same without gears. */
MUST_CHECK static inline enum status
closures_make(struct closures *self, const struct articulation *tree, struct reason *why)
{
	return closures_make_geared(self, tree, NULL, 0, why);
}
void closures_release(struct closures *self);

/* After tree_factor: forms and factors the matrix. */
void closures_factor(struct closures *self, struct tree_dynamics *dynamics);
/* tree_forward with the forces of the closures; they are in self->force. `loads` NULL: none. */
void closures_forward(struct closures *self, struct tree_dynamics *dynamics, const double *forces,
		      const struct spatial *loads, double *accelerations);
/* The largest |J a + bias|, m/s² or rad/s², of accelerations a by link. */
double closures_error(const struct closures *self, const struct spatial *accelerations);

#endif
