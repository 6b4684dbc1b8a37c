/* lcp_wide.h: the residual of a complementarity problem whose numbers lie so far apart that products
 * leave the range of double. About ten times slower than a plain sum; correct for all finite numbers. */
#ifndef CAIRN_ENGINE_SOLVERS_LCP_WIDE_H
#define CAIRN_ENGINE_SOLVERS_LCP_WIDE_H

#include "server/engine/math/wide.h"

/* A residual summed in double is reliable if each diagonal that is not 0 and the largest term lie
 * within these limits, and no x (in units in which diagonals are 1) exceeds LCP_REACH times the largest
 * term. Then underflow loses less than 2^-300 of that term, and x − w does not absorb w. */
#define LCP_DIAGONAL_MIN 0x1p-400
#define LCP_DIAGONAL_MAX 0x1p400
#define LCP_TERM_MIN 0x1p-500
#define LCP_TERM_MAX 0x1p500
#define LCP_REACH 0x1p10

/* w of one row and its largest term. */
struct lcp_wide_sum {
	wide w, most;
};

/* The worst row so far; both in units in which diagonals are 1. */
struct lcp_wide {
	wide gap, most;
};

static inline struct lcp_wide_sum lcp_wide_begin(double b)
{
	return (struct lcp_wide_sum){ wide_of(b), wide_abs(wide_of(b)) };
}

static inline void lcp_wide_add(struct lcp_wide_sum *self, double a, double x)
{
	wide term = wide_times(wide_of(a), wide_of(x));
	self->w = wide_plus(self->w, term);
	self->most = wide_max(self->most, wide_abs(term));
}

/* Adds a row. diagonal: its unit. judged: false updates only the largest term, not the gap. */
void lcp_wide_row(struct lcp_wide *self, struct lcp_wide_sum sum, double diagonal, double x,
		  wide low, wide high, bool judged);
double lcp_wide_residual(const struct lcp_wide *self);

/* Ranges that a sum in double collects; they decide whether its residual is reliable. */
struct lcp_trust {
	double diagonal_min, diagonal_max; /* of the diagonals that are not 0 */
	double reach;			   /* largest |x| in units in which diagonals are 1 */
};

static inline struct lcp_trust lcp_trust_begin(void)
{
	return (struct lcp_trust){ 1, 1, 0 };
}

static inline void lcp_trust_row(struct lcp_trust *self, double diagonal, double x, double root)
{
	double size = scalar_abs(diagonal);
	if (size > 0) {
		self->diagonal_min = scalar_min(self->diagonal_min, size);
		self->diagonal_max = scalar_max(self->diagonal_max, size);
	}
	self->reach = scalar_max(self->reach, scalar_abs(x) * root);
}

/* Whether the residual is reliable; gap and most are from the same sum. */
bool lcp_trust_holds(const struct lcp_trust *self, double gap, double most);

#endif
