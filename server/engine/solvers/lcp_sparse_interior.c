/* lcp_sparse_interior.c: a point inside all bounds, followed to where they hold: Mehrotra's
 * predictor and corrector for min ½ xᵀA x + bᵀx within bounds and pyramids of friction.
 *
 * Each bound is a slack s(x) ≥ 0 with a multiplier z: x − lower, upper − x; of a tangent μ x_n ± x.
 * With G the slacks' slopes, w − Gᵀz = 0 and s z = τ → 0. One step is one factor, as all parts of
 * this solver use: (A + H) dx = r,  H = C + ρ + Gᵀ (z/s) G,  dx = H⁻¹ (r − J du),  (1 + Jᵀ H⁻¹ J)
 * du = Jᵀ H⁻¹ r H is a number a row, of a contact with friction a block of its rows; H = L Lᵀ, and
 * L⁻¹J stands for J. Some twenty steps, however many rows are redundant or weakly active, which is
 * where sets of rows flip for ever: of many answers it comes to the middle one, in which every row
 * that can act does. So it says which rows act; they are then held exactly by the active set.
 *
 * Friction: min … over pyramids is a convex problem, but not Coulomb's: what slides is lifted by μ
 * times its speed. It adds no energy (0 lies in every pyramid, and a lift does work against), and
 * it says nearly which tangents stick.
 */
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { STEPS = 80, STALLED = 8 };

#define BORDER 0.995 /* of the way to the nearest bound */
#define PROXIMAL                                                                                   \
	1e-10	     /* ρ, of A's diagonal: keeps H away from 0 where a bound is far or infinite */
#define NARROW 1e-12 /* of the largest b: between such bounds x is not asked */
#define CLOSE 1e-8   /* of the largest b: from here the active set goes on */
#define NEAR_ENOUGH 1e-4

enum { LOW, HIGH, BOUNDS };

/* By row and bound, in rooms that the other parts use at other times. */
struct interior {
	struct lcp_sparse *sparse;
	double *z[BOUNDS], *cross[BOUNDS];
	double *dx, *right;
	double tau;
	uint32_t bounds;
};

static bool is_tangent(const struct lcp_sparse *self, uint32_t i)
{
	VALIDATE(i < self->rows);
	return self->tied && self->normal[i] != i;
}

static bool is_asked(const struct lcp_sparse *self, uint32_t i)
{
	if (is_tangent(self, i))
		return self->friction[i] > 0;
	return self->upper[i] - self->lower[i] > NARROW * self->size;
}

static bool has_bound(const struct lcp_sparse *self, uint32_t i, int bound)
{
	VALIDATE(bound == LOW || bound == HIGH);
	return is_asked(self, i) &&
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

/* What a slack changes by along dx. */
static double slack_change(const struct interior *self, uint32_t i, int bound)
{
	VALIDATE(bound == LOW || bound == HIGH);
	const struct lcp_sparse *sparse = self->sparse;
	double dx = bound == LOW ? self->dx[i] : -self->dx[i];
	return is_tangent(sparse, i) ? sparse->friction[i] * self->dx[sparse->normal[i]] + dx : dx;
}

/* What z changes by, for (s + ds)(z + dz) = τ. */
static double pull_change(const struct interior *self, uint32_t i, int bound, double tau,
			  double cross)
{
	VALIDATE(has_bound(self->sparse, i, bound));
	double s = slack(self->sparse, i, bound), z = self->z[bound][i];
	return (tau - cross - z * (s + slack_change(self, i, bound))) / s;
}

static void start_inside(struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	double size = sparse->size;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		bool tangent = is_tangent(sparse, i);
		double low = sparse->lower[i], high = sparse->upper[i], inside = size;
		if (scalar_is_finite(low) && scalar_is_finite(high))
			inside = scalar_min(size, 0.5 * (high - low));
		sparse->x[i] = tangent		     ? 0
			       : is_asked(sparse, i) ? scalar_clamp(0, low + inside, high - inside)
						     : scalar_clamp(0, low, high);
		for (int bound = 0; bound < BOUNDS; bound++) {
			self->z[bound][i] = has_bound(sparse, i, bound) ? size : 0;
			self->cross[bound][i] = 0;
		}
	}
}

/* τ, the sum of all s z over their number. */
static void measure_gap(struct interior *self)
{
	VALIDATE(self->sparse->rows <= self->sparse->room.rows);
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

/* A row with the tangents that follow it. */
struct row_group {
	uint32_t first, count;
	double l[GROUP][GROUP]; /* of H, lower triangle; rows that are not asked have none */
};

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

/* 1 + Jᵀ H⁻¹ J. The rows of a contact act on the same bodies (lcp_sparse_interior sees to it). */
static void factor_interior(struct interior *self)
{
	ASSERT(self->sparse->ordered);
	struct lcp_sparse *sparse = self->sparse;
	double(*given)[LCP_BODY] = sparse->jacobian;
	struct row_group group;
	for (uint32_t i = 0; i < sparse->rows; i += group.count) {
		find_group(self, i, &group);
		for (uint32_t k = 0; k < group.count; k++)
			sparse->stiffness[i + k] = is_asked(sparse, i + k);
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

/* dx of (A + H) dx = right. */
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
				v[k] = !is_asked(sparse, i + k) ? 0
				       : pass == 0		? self->right[i + k]
								: self->right[i + k] -
							     lcp_sparse_row_dot(sparse, i + k,
										sparse->du);
			group_down(&group, v);
			group_up(&group, v);
			for (uint32_t k = 0; k < group.count; k++) {
				self->dx[i + k] = is_asked(sparse, i + k) ? v[k] : 0;
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

/* The largest step ≤ 1 in which nothing changes its sign. */
static double reach(const struct interior *self, double tau, bool crossed)
{
	double step = 1;
	for (uint32_t i = 0; i < self->sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++) {
			if (!has_bound(self->sparse, i, bound))
				continue;
			double ds = slack_change(self, i, bound);
			double dz = pull_change(self, i, bound, tau,
						crossed ? self->cross[bound][i] : 0);
			if (ds < 0)
				step = scalar_min(step, slack(self->sparse, i, bound) / -ds);
			if (dz < 0)
				step = scalar_min(step, self->z[bound][i] / -dz);
		}
	return step;
}

/* The τ to go for: little if a step straight ahead goes far. */
static double centre(const struct interior *self, double step)
{
	VALIDATE(self->bounds > 0);
	double sum = 0;
	for (uint32_t i = 0; i < self->sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(self->sparse, i, bound))
				sum += (slack(self->sparse, i, bound) +
					step * slack_change(self, i, bound)) *
				       (self->z[bound][i] +
					step * pull_change(self, i, bound, 0, 0));
	double share = scalar_max(sum, 0) / self->bounds / self->tau;
	return share * share * share * self->tau;
}

/* −w + Gᵀ (τ − cross) / s. */
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

static void step_on(struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	for (int bound = 0; bound < BOUNDS; bound++)
		memset(self->cross[bound], 0, sparse->rows * sizeof(double));
	factor_interior(self);
	put_right(self, 0);
	solve_step(self);
	double tau = self->tau > 0 ? centre(self, reach(self, 0, false)) : 0;
	for (uint32_t i = 0; i < sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->cross[bound][i] = slack_change(self, i, bound) *
							pull_change(self, i, bound, 0, 0);
	put_right(self, tau);
	solve_step(self);
	double most = reach(self, tau, true), step = most < 1 ? BORDER * most : 1;
	for (uint32_t i = 0; i < sparse->rows; i++)
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->cross[bound][i] = step * pull_change(self, i, bound, tau,
									   self->cross[bound][i]);
	for (uint32_t i = 0; i < sparse->rows; i++) {
		sparse->x[i] += step * self->dx[i];
		for (int bound = 0; bound < BOUNDS; bound++)
			if (has_bound(sparse, i, bound))
				self->z[bound][i] += self->cross[bound][i];
	}
}

/* The worst of w − Gᵀz. */
static double off_balance(const struct interior *self)
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
		if (is_asked(sparse, i))
			worst = lcp_sparse_worse(worst, scalar_abs(off[i]));
	return worst;
}

/* The rows of a contact must act on the same bodies, in one order, to be mixed. */
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

/* x and z, so that a step that rounding has broken can be taken back; in rooms of the active set. */
static void keep_iterate(const struct interior *self, bool back)
{
	struct lcp_sparse *sparse = self->sparse;
	double *at[] = { sparse->x, self->z[LOW], self->z[HIGH] };
	for (size_t k = 0; k < COUNT_OF(at); k++) {
		double *kept = sparse->mix_step + k * sparse->rows;
		memcpy(back ? at[k] : kept, back ? kept : at[k], sparse->rows * sizeof *kept);
	}
}

/* Where a bound pulls more than it has slack, the row stands at it. */
static void hand_over(const struct interior *self)
{
	struct lcp_sparse *sparse = self->sparse;
	for (uint32_t i = 0; i < sparse->rows; i++) {
		bool at[BOUNDS];
		for (int bound = 0; bound < BOUNDS; bound++)
			at[bound] = has_bound(sparse, i, bound) &&
				    self->z[bound][i] > slack(sparse, i, bound);
		sparse->free[i] = is_asked(sparse, i) && !at[LOW] && !at[HIGH];
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
	for (uint32_t k = 0; k < STEPS && since <= STALLED; k++) {
		lcp_sparse_follow(sparse, sparse->x, sparse->u);
		measure_gap(&self);
		/* Slacks that are rounding's may be below 0, and τ with them. */
		double way = scalar_sqrt(scalar_max(self.tau, 0));
		double gap = scalar_max(off_balance(&self), way);
		if (!scalar_is_finite(self.tau) || !scalar_is_finite(gap)) {
			keep_iterate(&self, true);
			break;
		}
		keep_iterate(&self, false);
		since = gap < 0.9 * best ? 0 : since + 1;
		best = scalar_min(best, gap);
		/* With τ at its end, what is off is rounding's. */
		if (gap <= CLOSE * sparse->size || way <= 0.1 * CLOSE * sparse->size ||
		    sparse->result.refactorings >= sparse->factors_max)
			break;
		step_on(&self);
	}
	hand_over(&self);
	return best <= NEAR_ENOUGH * sparse->size;
}
