/* chol_envelope.h: A = L Lᵀ for a positive definite A whose rows start late, kept while A changes.
 *
 * Row i of L is zero before column first[i], where row i of A has its first entry other than zero;
 * only the rest (the envelope) is stored, read and written, so that a chain of contacts costs its
 * length and not the square. On a dense matrix it is an ordinary Cholesky factor. Rows are appended
 * in two steps: the border is written and measured, then perhaps kept.
 */
#ifndef CAIRN_ENGINE_LINALG_CHOL_ENVELOPE_H
#define CAIRN_ENGINE_LINALG_CHOL_ENVELOPE_H

#include "server/base/base.h"

struct chol_envelope {
	double *lower;	 /* borrowed: capacity (capacity + 1) / 2; row i starts at i (i + 1) / 2 */
	uint32_t *first; /* borrowed: capacity */
	uint32_t capacity; /* largest size */
	uint32_t size;	   /* rows in use */
};

/* How many doubles `lower` needs. */
size_t chol_envelope_doubles(uint32_t capacity);
/* Empty factor over the caller's storage. */
void chol_envelope_init(struct chol_envelope *self, double *lower, uint32_t *first,
			uint32_t capacity);
/* Row `size`, to be filled by the caller with A's entries against rows first … size-1; lives until
 * the next change. size < capacity. */
double *chol_envelope_border(struct chol_envelope *self, uint32_t first);
/* Turns the border into l = L⁻¹ a; returns the Schur complement diagonal − l·l. */
double chol_envelope_measure(struct chol_envelope *self, double diagonal);
/* y := L⁻ᵀ l of the measured border: A⁻¹ a, `size` entries. */
void chol_envelope_border_solve(const struct chol_envelope *self, double *y);
/* Keeps the measured border as row `size`; schur > 0. */
void chol_envelope_keep(struct chol_envelope *self, double schur);
/* b := A⁻¹ b. */
void chol_envelope_solve(const struct chol_envelope *self, double *b);
/* Removes row and column `index` of A; later ones move down by one. `scratch` holds 2 × size. */
void chol_envelope_delete(struct chol_envelope *self, uint32_t index, double *scratch);

#endif
