/* lcp_sparse_proof.c: a ray as a proof that a problem has no solution.
 *
 * Let z be > 0 only in rows whose upper bound is infinite, < 0 only in rows whose lower bound is
 * infinite, and 0 in rows with compliance. If Jᵀ z = 0, then for all u
 *   Σ z_i w_i = (Jᵀ z)·u + bᵀz = bᵀz,
 * but a solution has z_i w_i ≥ 0 in every row, so bᵀz < 0 proves that there is none. In double, Jᵀz is
 * seldom exactly 0. A solution then needs |u| ≥ −bᵀz / |Jᵀz|, and the proof is accepted if that is at
 * least 2^44 times the largest b.
 *
 * The ray of the multipliers is cleaned first: entries that the rule above excludes become 0, and
 * (1 + J Jᵀ / ε)⁻¹ removes the part for which Jᵀz is not 0 and leaves the rest as it is. Then the
 * condition is computed in twice the digits, and only that decides.
 */
#include <string.h>

#include "server/engine/math/double_double.h"
#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { CLEANINGS = 4, PROJECTIONS = 4 };

#define SOFT 1e-8     /* ε of the projection */
#define FAR 0x1p44    /* of the largest b: a solution at least so far away counts as none */
#define SMALL 0x1p-30 /* of the largest entry: noise */

/* Sets entries that the rule of the head excludes, and noise, to 0 and the largest entry to 1. False:
 * nothing is left. */
static bool clean_ray(struct lcp_sparse *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double z = self->ray[i];
		bool up = self->upper[i] > SCALAR_MAX, down = self->lower[i] < -SCALAR_MAX;
		if (self->compliance[i] > 0 || (z > 0 && !up) || (z < 0 && !down))
			self->ray[i] = 0;
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

/* z := (1 + J Jᵀ / ε)⁻¹ z over its non-zero entries. */
static void project_ray(struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++)
		self->stiffness[i] = self->ray[i] != 0 ? 1 / SOFT : 0;
	lcp_sparse_factor(self);
	for (uint32_t k = 0; k < PROJECTIONS; k++) {
		lcp_sparse_transposed_mul(self, self->ray, self->du);
		chol_block_solve(&self->factor, self->du);
		for (uint32_t i = 0; i < self->rows; i++)
			if (self->ray[i] != 0)
				self->ray[i] -= lcp_sparse_row_dot(self, i, self->du) / SOFT;
	}
}

/* |Jᵀ z|, summed in twice the digits. Uses du and force. */
static double transposed_length(struct lcp_sparse *self)
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

/* Whether −bᵀz ≥ FAR × the largest b × |Jᵀ z|, in twice the digits. */
static bool ray_proves(struct lcp_sparse *self)
{
	double2 fall = { 0, 0 };
	double most = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		fall = double2_add(fall, double2_product(self->b[i], self->ray[i]));
		most = scalar_max(most, scalar_abs(self->b[i]));
	}
	return fall.hi < 0 && -fall.hi >= FAR * most * transposed_length(self);
}

bool lcp_sparse_prove(struct lcp_sparse *self)
{
	for (uint32_t k = 0; k < CLEANINGS && clean_ray(self); k++) {
		if (ray_proves(self))
			break;
		project_ray(self);
	}
	if (!clean_ray(self) || !ray_proves(self))
		return false;
	/* The certificate is in the problem's units, its largest entry about 1. */
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
