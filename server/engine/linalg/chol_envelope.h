/* chol_envelope.h: A = L Lᵀ for a positive definite A whose rows begin with zeros, updated while A
 * changes.
 *
 * Row i of L is zero before column first[i], the column of the first nonzero entry in row i of A. Only
 * the entries from there on (the envelope) are stored, read and written, so the cost of a chain of
 * contacts is proportional to its length, not to its square. On a dense matrix it is an ordinary
 * Cholesky factor. A row is appended in three steps: the caller writes the border, its Schur complement
 * is computed, and the row is appended if the caller accepts that.
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
/* An empty factor in the caller's storage. */
void chol_envelope_init(struct chol_envelope *self, double *lower, uint32_t *first,
			uint32_t capacity);
/* The border: row `size`, which the caller fills with A's entries in the columns first … size − 1.
 * Valid until the next change; size < capacity. */
double *chol_envelope_border(struct chol_envelope *self, uint32_t first);
/* Overwrites the border with l = L⁻¹ a; returns the Schur complement diagonal − l·l. */
double chol_envelope_schur(struct chol_envelope *self, double diagonal);
/* y := L⁻ᵀ l = A⁻¹ a, `size` entries; after chol_envelope_schur. */
void chol_envelope_border_solve(const struct chol_envelope *self, double *y);
/* Appends the border as row `size`; schur > 0 is its Schur complement. */
void chol_envelope_append(struct chol_envelope *self, double schur);
/* b := A⁻¹ b. */
void chol_envelope_solve(const struct chol_envelope *self, double *b);
/* Removes row and column `index` of A; later rows move up by one. `scratch` holds 2 × size doubles. */
void chol_envelope_delete(struct chol_envelope *self, uint32_t index, double *scratch);

#endif
