/* lcp_sparse_interior.c: an interior-point method, Mehrotra's predictor and corrector, for
 * min ½ xᵀA x + bᵀx within bounds and friction pyramids.
 *
 * Each bound is a slack s(x) ≥ 0 with a multiplier z: x − lower, upper − x; of a tangent μ x_n ± x.
 * With G the gradients of the slacks, w − Gᵀz = 0 and s z = τ → 0. A step needs one factor of the
 * form that all parts of this solver use:
 *   (A + H) dx = r,   H = C + ρ + Gᵀ (z/s) G,
 *   dx = H⁻¹ (r − J du),   (1 + Jᵀ H⁻¹ J) du = Jᵀ H⁻¹ r
 * H is one number for each row, and a block for the rows of a contact with friction; H = L Lᵀ, and L⁻¹J
 * stands for J. About twenty steps are enough, however many rows are redundant or weakly active, for
 * which rounds of the active set alternate for ever. Of many solutions the method finds the central
 * one, in which every row that can be active is. So it shows the active rows, and the active set
 * then satisfies them exactly.
 *
 * Friction: the minimum over the pyramids is a convex problem, but not Coulomb's law, because a sliding
 * contact also separates with μ times its slip speed (dilation). The solution adds no energy: 0 lies in
 * every pyramid, and dilation takes work. It shows nearly which tangents stick.
 */
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { STEPS = 80, STALLED = 8 };

#define BORDER 0.995   /* of the step to the nearest bound, so that all slacks stay above 0 */
#define PROXIMAL 1e-10 /* ρ, of A's diagonal: H > 0 also where a bound is far away or infinite */
#define NARROW 1e-12   /* of the largest b: x between closer bounds is no unknown */
#define CLOSE 1e-8     /* of the largest b: an error that ends the steps */
#define NEAR_ENOUGH                                                                                \
	1e-4 /* of the largest b: a larger error shows no active rows; the caller gets false */

enum { LOW, HIGH, BOUNDS };

/* Arrays by row and bound. They share the memory of arrays that other parts use at other times. */
struct interior {
	struct lcp_sparse *sparse;
	double *z[BOUNDS], *cross[BOUNDS];
	double *dx, *right;
	double tau;	 /* mean of s z */
	uint32_t bounds; /* number of slacks */
};

static bool is_tangent(const struct lcp_sparse *self, uint32_t i)
{
	VALIDATE(i < self->rows);
	return self->tied && self->normal[i] != i;
}

/* Whether x of row i is solved for: the interval of its bounds has a length. */
static bool is_unknown(const struct lcp_sparse *self, uint32_t i)
{
	if (is_tangent(self, i))
		return self->friction[i] > 0;
	return self->upper[i] - self->lower[i] > NARROW * self->size;
}

static bool has_bound(const struct lcp_sparse *self, uint32_t i, int bound)
{
	VALIDATE(bound == LOW || bound == HIGH);
	return is_unknown(self, i) &&
	       (is_tangent(self, i) ||
		scalar_is_finite(bound == LOW ? self->lower[i] : self->upper[i]));
}

static double slack(const struct lcp_sparse *self, uint32_t i, int bound)
{
	VALIDATE(i < self->rows);
	VALIDATE(bound == LOW || bound == HIGH);
	double x = self->x[i];
	if (!is_tangent(self, i))
		return bound == LOW ? x - self->lower[i] : self->upper[i] - x;
	double limit = self->friction[i] * self->x[self->normal[i]];
	return bound == LOW ? limit + x : limit - x;
}

/* The change of a slack along dx. */
static double slack_change(const struct interior *self, uint32_t i, int bound)
{
	VALIDATE(bound == LOW || bound == HIGH);
	const struct lcp_sparse *sparse = self->sparse;
	double dx = bound == LOW ? self->dx[i] : -self->dx[i];
	return is_tangent(sparse, i) ? sparse->friction[i] * self->dx[sparse->normal[i]] + dx : dx;
}

/* The change of z for (s + ds)(z + dz) = τ; `cross` is ds dz of the predictor. */
static double multiplier_change(const struct interior *self, uint32_t i, int bound, double tau,
				double cross)
{
	VALIDATE(has_bound(self->sparse, i, bound));
	double s = slack(self->sparse, i, bound), z = self->z[bound][i];
	return (tau - cross - z * (s + slack_change(self, i, bound))) / s;
}

/* x inside its bounds, at most the largest |b| from them, and z = the largest |b|. */
static void start_inside(struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	double size = sparse->size;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		bool tangent = is_tangent(sparse, i);
		double low = sparse->lower[i], high = sparse->upper[i], inside = size;
		if (scalar_is_finite(low) && scalar_is_finite(high))
			inside = scalar_min(size, 0.5 * (high - low));
		sparse->x[i] = tangent ? 0
			       : is_unknown(sparse, i)
				       ? scalar_clamp(0, low + inside, high - inside)
				       : scalar_clamp(0, low, high);
		for (int bound = 0; bound < BOUNDS; bound++) {
			self->z[bound][i] = has_bound(sparse, i, bound) ? size : 0;
			self->cross[bound][i] = 0;
		}
	}
}

/* τ := the mean of s z. */
static void measure_tau(struct interior *self)
{
	VALIDATE(self->sparse->rows <= self->sparse->capacity.rows);
	double sum = 0;
	self->bounds = 0;
	for (uint32_t i = 0; i < self->sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(self->sparse, i, bound)) {
				sum += self->z[bound][i] * slack(self->sparse, i, bound);
				self->bounds++;
			}
	self->tau = self->bounds > 0 ? sum / self->bounds : 0;
}

/* ---- one step ---------------------------------------------------------------------------------
 */

enum { GROUP = 3 };

/* A row with its tangents. */
struct row_group {
	uint32_t first, count;
	double l[GROUP][GROUP]; /* the factor of its block of H; lower triangle */
};

/* The group whose first row is `first`, and the factor of its block of H. */
static void find_group(const struct interior *self, uint32_t first, struct row_group *out)
{
	VALIDATE(first < self->sparse->rows);
	const struct lcp_sparse *sparse = self->sparse;
	*out = (struct row_group){ .first = first, .count = 1 };
	while (out->count < GROUP && first + out->count < sparse->rows &&
	       is_tangent(sparse, first + out->count) &&
	       sparse->normal[first + out->count] == first)
		out->count++;
	for (uint32_t k = 0; k < out->count; k++) {
		uint32_t i = first + k;
		double rate[BOUNDS] = { 0, 0 };
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				rate[bound] = self->z[bound][i] / slack(sparse, i, bound);
		out->l[k][k] += sparse->compliance[i] + PROXIMAL + rate[LOW] + rate[HIGH];
		if (k > 0) {
			double mu = sparse->friction[i];
			out->l[0][0] += mu * mu * (rate[LOW] + rate[HIGH]);
			out->l[k][0] = mu * (rate[LOW] - rate[HIGH]);
		}
	}
	VALIDATE(out->first + out->count <= sparse->rows);
	for (uint32_t k = 0; k < out->count; k++) {
		for (uint32_t j = 0; j <= k; j++) {
			for (uint32_t m = 0; m < j; m++)
				out->l[k][j] -= out->l[k][m] * out->l[j][m];
			out->l[k][j] = j < k ? out->l[k][j] / out->l[j][j]
					     : scalar_sqrt(scalar_max(out->l[k][k], PROXIMAL));
		}
	}
}

/* v := L⁻¹ v, and L⁻ᵀ v. */
static void group_down(const struct row_group *self, double v[GROUP])
{
	VALIDATE(self->count >= 1 && self->count <= GROUP);
	for (uint32_t k = 0; k < self->count; k++) {
		for (uint32_t j = 0; j < k; j++)
			v[k] -= self->l[k][j] * v[j];
		v[k] /= self->l[k][k];
	}
}

static void group_up(const struct row_group *self, double v[GROUP])
{
	VALIDATE(self->count >= 1 && self->count <= GROUP);
	for (uint32_t k = self->count; k-- > 0;) {
		for (uint32_t j = k + 1; j < self->count; j++)
			v[k] -= self->l[j][k] * v[j];
		v[k] /= self->l[k][k];
	}
}

/* Factors 1 + Jᵀ H⁻¹ J. The rows of a contact act on the same bodies, see can_mix. */
static void factor_interior(struct interior *self)
{
	ASSERT(self->sparse->ordered);
	struct lcp_sparse *sparse = self->sparse;
	double(*given)[LCP_BODY] = sparse->jacobian;
	struct row_group group;
	for (uint32_t i = 0; i < sparse->rows; i += group.count) {
		find_group(self, i, &group);
		for (uint32_t k = 0; k < group.count; k++)
			sparse->stiffness[i + k] = is_unknown(sparse, i + k);
		for (uint32_t p = sparse->start[i]; p < sparse->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++) {
				double v[GROUP] = { 0 };
				for (uint32_t k = 0; k < group.count; k++)
					v[k] = given[sparse->start[i + k] + p - sparse->start[i]]
						    [c];
				group_down(&group, v);
				for (uint32_t k = 0; k < group.count; k++)
					sparse->mixed[sparse->start[i + k] + p - sparse->start[i]]
						     [c] = v[k];
			}
	}
	sparse->jacobian = sparse->mixed;
	lcp_sparse_factor(sparse);
	sparse->jacobian = given;
}

/* Solves (A + H) dx = right. */
static void solve_step(struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	struct row_group group;
	memset(sparse->du, 0, lcp_sparse_unknowns(sparse) * sizeof *sparse->du);
	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < sparse->rows; i += group.count) {
			double v[GROUP];
			find_group(self, i, &group);
			for (uint32_t k = 0; k < group.count; k++)
				v[k] = !is_unknown(sparse, i + k) ? 0
				       : pass == 0		  ? self->right[i + k]
								  : self->right[i + k] -
							     lcp_sparse_row_dot(sparse, i + k,
										sparse->du);
			group_down(&group, v);
			group_up(&group, v);
			for (uint32_t k = 0; k < group.count; k++) {
				self->dx[i + k] = is_unknown(sparse, i + k) ? v[k] : 0;
				if (pass == 0)
					lcp_sparse_row_add(sparse, i + k, self->dx[i + k],
							   sparse->force);
			}
		}
		if (pass == 0) {
			chol_block_solve(&sparse->factor, sparse->force);
			memcpy(sparse->du, sparse->force,
			       lcp_sparse_unknowns(sparse) * sizeof *sparse->du);
			memset(sparse->force, 0, lcp_sparse_unknowns(sparse) * sizeof *sparse->du);
		}
	}
}

/* The largest step ≤ 1 along which all slacks and multipliers remain ≥ 0. */
static double largest_step(const struct interior *self, double tau, bool crossed)
{
	double step = 1;
	for (uint32_t i = 0; i < self->sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++) {
			if (!has_bound(self->sparse, i, bound))
				continue;
			double ds = slack_change(self, i, bound);
			double dz = multiplier_change(self, i, bound, tau,
						      crossed ? self->cross[bound][i] : 0);
			if (ds < 0)
				step = scalar_min(step, slack(self->sparse, i, bound) / -ds);
			if (dz < 0)
				step = scalar_min(step, self->z[bound][i] / -dz);
		}
	return step;
}

/* The τ of the corrector: (τ after the predictor's step / τ)³ τ, so a long predictor step gives a
 * small τ. */
static double choose_tau(const struct interior *self, double step)
{
	VALIDATE(self->bounds > 0);
	double sum = 0;
	for (uint32_t i = 0; i < self->sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(self->sparse, i, bound))
				sum += (slack(self->sparse, i, bound) +
					step * slack_change(self, i, bound)) *
				       (self->z[bound][i] +
					step * multiplier_change(self, i, bound, 0, 0));
	double share = scalar_max(sum, 0) / self->bounds / self->tau;
	return share * share * share * self->tau;
}

/* right := −w + Gᵀ (τ − cross) / s. */
static void put_right(struct interior *self, double tau)
{
	const struct lcp_sparse *sparse = self->sparse;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		self->right[i] = -sparse->w[i];
		for (int bound = 0; bound < BOUNDS; bound++) {
			if (!has_bound(sparse, i, bound))
				continue;
			double push = (tau - self->cross[bound][i]) / slack(sparse, i, bound);
			self->right[i] += bound == LOW ? push : -push;
			if (is_tangent(sparse, i))
				self->right[sparse->normal[i]] += sparse->friction[i] * push;
		}
	}
}

static void take_step(struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	for (int bound = 0; bound < BOUNDS; bound++)
		memset(self->cross[bound], 0, sparse->rows * sizeof(double));
	factor_interior(self);
	put_right(self, 0);
	solve_step(self);
	double tau = self->tau > 0 ? choose_tau(self, largest_step(self, 0, false)) : 0;
	for (uint32_t i = 0; i < sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->cross[bound][i] = slack_change(self, i, bound) *
							multiplier_change(self, i, bound, 0, 0);
	put_right(self, tau);
	solve_step(self);
	double most = largest_step(self, tau, true), step = most < 1 ? BORDER * most : 1;
	for (uint32_t i = 0; i < sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->cross[bound][i] =
					step * multiplier_change(self, i, bound, tau,
								 self->cross[bound][i]);
	for (uint32_t i = 0; i < sparse->rows; i++) {
		sparse->x[i] += step * self->dx[i];
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->z[bound][i] += self->cross[bound][i];
	}
}

/* Sets w; returns the largest |w − Gᵀz|. */
static double measure_stationarity(const struct interior *self)
{
	const struct lcp_sparse *sparse = self->sparse;
	double worst = 0, *off = self->right;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		off[i] = lcp_sparse_row_dot(sparse, i, sparse->u) +
			 sparse->compliance[i] * sparse->x[i] + sparse->b[i];
		sparse->w[i] = off[i];
		off[i] += self->z[HIGH][i] - self->z[LOW][i];
		if (is_tangent(sparse, i))
			off[sparse->normal[i]] -=
				sparse->friction[i] * (self->z[LOW][i] + self->z[HIGH][i]);
	}
	for (uint32_t i = 0; i < sparse->rows; i++)
		if (is_unknown(sparse, i))
			worst = lcp_sparse_worse(worst, scalar_abs(off[i]));
	return worst;
}

/* Whether all contacts can be groups: static tangents only, whose rows act on the same bodies in
 * the same order. */
static bool can_mix(const struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		if (!is_tangent(self, i))
			continue;
		uint32_t n = self->normal[i], count = self->start[i + 1] - self->start[i];
		if (self->kind[i] != FRICTION_STATIC || i - n >= GROUP ||
		    self->start[n + 1] - self->start[n] != count ||
		    memcmp(self->body + self->start[i], self->body + self->start[n],
			   count * sizeof *self->body) != 0)
			return false;
	}
	return true;
}

/* Saves x and z, or restores them (`back`) after a step that overflowed. The memory is that of the
 * active set. */
static void copy_iterate(const struct interior *self, bool back)
{
	struct lcp_sparse *sparse = self->sparse;
	double *at[] = { sparse->x, self->z[LOW], self->z[HIGH] };
	for (size_t k = 0; k < COUNT_OF(at); k++) {
		double *kept = sparse->mix_step + k * sparse->rows;
		memcpy(back ? at[k] : kept, back ? kept : at[k], sparse->rows * sizeof *kept);
	}
}

/* A row is at a bound whose multiplier exceeds its slack; the other rows are free. */
static void mark_active_rows(const struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		bool at[BOUNDS];
		for (int bound = 0; bound < BOUNDS; bound++)
			at[bound] = has_bound(sparse, i, bound) &&
				    self->z[bound][i] > slack(sparse, i, bound);
		sparse->free[i] = is_unknown(sparse, i) && !at[LOW] && !at[HIGH];
		sparse->side[i] = at[HIGH] ? 1 : at[LOW] ? -1 : 0;
	}
}

bool lcp_sparse_interior(struct lcp_sparse *sparse)
{
	ASSERT(sparse->ordered);
	struct interior self = { .sparse = sparse,
				 .z = { sparse->low, sparse->high },
				 .cross = { sparse->target, sparse->ray },
				 .dx = sparse->slope,
				 .right = sparse->kept };
	double best = __builtin_inf();
	uint32_t since = 0;
	if (!can_mix(sparse))
		return false;
	memset(sparse->force, 0, lcp_sparse_unknowns(sparse) * sizeof *sparse->force);
	start_inside(&self);
	copy_iterate(&self, false);
	for (uint32_t k = 0; k < STEPS && since <= STALLED; k++) {
		lcp_sparse_transposed_mul(sparse, sparse->x, sparse->u);
		measure_tau(&self);
		/* Rounding may leave slacks, and so τ, below 0. */
		double root = scalar_sqrt(scalar_max(self.tau, 0));
		double gap = scalar_max(measure_stationarity(&self), root);
		if (!scalar_is_finite(self.tau) || !scalar_is_finite(gap)) {
			copy_iterate(&self, true);
			break;
		}
		copy_iterate(&self, false);
		since = gap < 0.9 * best ? 0 : since + 1;
		best = scalar_min(best, gap);
		/* Once τ is this small, the rest of the error is rounding. */
		if (gap <= CLOSE * sparse->size || root <= 0.1 * CLOSE * sparse->size ||
		    sparse->result.refactorings >= sparse->factors_max)
			break;
		take_step(&self);
	}
	mark_active_rows(&self);
	return best <= NEAR_ENOUGH * sparse->size;
}
