/* lcp_sparse_proof.c: that there is no solution, shown by a ray.
 *
 * If z pushes only where a row may push without end and has no compliance, and Jᵀ z = 0, then for all u
 *   Σ z_i w_i = (Jᵀ z)·u + bᵀz = bᵀz,
 * while a solution asks for z_i w_i ≥ 0 in every row: bᵀz < 0 proves that there is none. Of doubles Jᵀz is
 * seldom exactly 0; then a solution needs |u| ≥ −bᵀz / |Jᵀz|, and the proof is taken when that is 2^44
 * times the largest b or more.
 *
 * The ray that the multipliers leave is cleaned: entries that may not be are dropped, and what of it
 * lies in the span of the rows is taken out by (1 + J Jᵀ / ε)⁻¹, which leaves alone what Jᵀ sends to 0.
 * Then everything is multiplied out in twice the digits; only that decides.
 */
#include <string.h>

#include "server/engine/math/double_double.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { CLEANINGS = 4, PROJECTIONS = 4 };

#define SOFT 1e-8
#define FAR 0x1p44
#define SMALL 0x1p-30 /* of the largest entry: noise */

/* z_i or, where it must not be, 0. */
static double allowed(const struct lcp_sparse *self, uint32_t i)
{
	double z = self->ray[i];
	bool up = self->upper[i] > SCALAR_MAX, down = self->lower[i] < -SCALAR_MAX;
	if (self->compliance[i] > 0 || (z > 0 && !up) || (z < 0 && !down))
		return 0;
	return z;
}

/* Keeps what may be and is not noise, largest entry 1; false: nothing. */
static bool clean(struct lcp_sparse *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->ray[i] = allowed(self, i);
		most = scalar_max(most, scalar_abs(self->ray[i]));
	}
	if (!(most > 0 && most <= SCALAR_MAX))
		return false;
	for (uint32_t i = 0; i < self->rows; i++) {
		self->ray[i] /= most;
		if (scalar_abs(self->ray[i]) < SMALL)
			self->ray[i] = 0;
	}
	return true;
}

/* z := (1 + J Jᵀ / ε)⁻¹ z on its support. */
static void project(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++)
		self->stiffness[i] = self->ray[i] != 0 ? 1 / SOFT : 0;
	lcp_sparse_factor(self);
	for (uint32_t k = 0; k < PROJECTIONS; k++) {
		lcp_sparse_follow(self, self->ray, self->du);
		chol_block_solve(&self->factor, self->du);
		for (uint32_t i = 0; i < self->rows; i++)
			if (self->ray[i] != 0)
				self->ray[i] -= lcp_sparse_row_dot(self, i, self->du) / SOFT;
	}
}

/* |Jᵀ z| in twice the digits, by unknowns into force. */
static double length_of(struct lcp_sparse *self)
{
	size_t n = lcp_sparse_unknowns(self);
	double2 square = { 0, 0 };
	double *high = self->du, *low = self->force;
	memset(high, 0, n * sizeof *high);
	memset(low, 0, n * sizeof *low);
	for (uint32_t i = 0; i < self->rows; i++)
		for (uint32_t p = self->start[i]; self->ray[i] != 0 && p < self->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++) {
				size_t k = LCP_BODY * (size_t)self->at[p] + c;
				double2 sum = double2_add(
					(double2){ high[k], low[k] },
					double2_product(self->jacobian[p][c], self->ray[i]));
				high[k] = sum.hi;
				low[k] = sum.lo;
			}
	for (size_t k = 0; k < n; k++)
		square = double2_add(square, double2_product(high[k], high[k]));
	return scalar_sqrt(square.hi);
}

static bool holds(struct lcp_sparse *self)
{
	double2 fall = { 0, 0 };
	double most = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		fall = double2_add(fall, double2_product(self->b[i], self->ray[i]));
		most = scalar_max(most, scalar_abs(self->b[i]));
	}
	return fall.hi < 0 && -fall.hi >= FAR * most * length_of(self);
}

bool lcp_sparse_prove(struct lcp_sparse *self)
{
	for (uint32_t k = 0; k < CLEANINGS && clean(self); k++) {
		if (holds(self))
			break;
		project(self);
	}
	if (!clean(self) || !holds(self))
		return false;
	/* Into the problem's units, the largest entry about 1. */
	int64_t top = INT64_MIN;
	for (uint32_t i = 0; i < self->rows; i++)
		if (self->ray[i] != 0)
			top = MAX_OF(top, wide_of(self->ray[i]).exponent - self->row_shift[i]);
	for (uint32_t i = 0; i < self->rows; i++)
		self->ray[i] = scalar_shift(self->ray[i], -self->row_shift[i] - top);
	self->result.certificate = self->ray;
	self->result.certificate_count = self->rows;
	return true;
}
