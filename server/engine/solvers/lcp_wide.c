/* lcp_wide.c: the residual of a complementarity problem beyond the range of doubles.
 *
 * |x − clamp(x − w, low, high)| is clamp(w, x − high, x − low) without its sign, which loses nothing
 * of a small w beside a large x.
 */
#include "server/engine/solvers/lcp_wide.h"

void lcp_wide_row(struct lcp_wide *self, struct lcp_wide_sum sum, double diagonal, double x,
		  wide low, wide high, bool judged)
{
	wide root = diagonal > 0 ? wide_sqrt(wide_of(diagonal)) : wide_of(1), at = wide_of(x);
	wide least = wide_times(wide_minus(at, high), root);
	wide most = wide_times(wide_minus(at, low), root);
	wide gap = wide_min(wide_max(wide_over(sum.w, root), least), most);
	if (judged)
		self->gap = wide_max(self->gap, wide_abs(gap));
	self->most = wide_max(self->most, wide_over(sum.most, root));
}

double lcp_wide_residual(const struct lcp_wide *self)
{
	return wide_ratio(self->gap, self->most);
}

bool lcp_trust_holds(const struct lcp_trust *self, double gap, double most)
{
	if (self->diagonal_min < LCP_DIAGONAL_MIN || self->diagonal_max > LCP_DIAGONAL_MAX ||
	    !scalar_is_finite(gap))
		return false;
	return most >= LCP_TERM_MIN && most <= LCP_TERM_MAX && self->reach <= LCP_REACH * most;
}
