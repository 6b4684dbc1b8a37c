/* lcp_friction_cone.c: friction as a convex problem that is shifted until it is the true one.
 *
 * With the impulses of each contact in its pyramid K = {x_n ≥ 0, |x_t| ≤ μ x_n}, min ½xᵀAx + b'ᵀx
 * over all pyramids is convex, and its conditions are those of friction but for the normal, where
 *   w'_n ≥ Σ μ |w_t|,  x·w' = 0    instead of   w_n ≥ 0,  x_n w_n = 0:
 * what slides would lift off. With b'_n = b_n + s, s = Σ μ |w_t|, the two are the same (De Saxcé
 * and Feng 1998), and s of one round is that of the answer before (Cadoux 2009). Each convex
 * problem is solved as in lcp_sparse_newton.c, with the projection onto K in place of the clamp:
 * Newton steps whose equalities are the contact's tangents that stick,  and  (J_n + Σ ±μ J_t) u = …
 * of those that slide with their normal, and an exact search along the line; so a heap of thousands
 * of redundant contacts, for which rounds of the active set run off, comes to where one round of
 * the set with ties (lcp_sparse_active.c) makes the last digits.
 *
 * x lies in K in every round, and the least value is not above that of x = 0:
 *   ½xᵀAx + bᵀx ≤ −sᵀx_n ≤ 0,
 * so that what is left where no end is found adds no energy.
 */
#include <string.h>

#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { GROUP = 3, STEPS = 40, SEARCHES = 40, OUTER = 60, SET_ROUNDS = 5, STALLED = 3, STUCK = 6 };

#define SOFT 1e-2 /* less takes more steps than it saves rounds */
#define ACCEPT 0.1
#define INNER 0.1
#define CLOSE 1e-3 /* of the largest b: a gap at which the set may be right */
#define NOISE 0x1p-46

/* A normal and its tangents. */
struct group {
	uint32_t first, count;
	double soft[GROUP], friction[GROUP]; /* soft: by row, C + ε */
};

/* What the projection onto K made of it. */
struct face {
	double x[GROUP], stiffness; /* of the normal with what slides with it */
	int8_t side[GROUP];         /* of a tangent that slides; 0: it sticks, or nothing acts */
};

static struct group group_at(const struct lcp_sparse *self, uint32_t first, double eps)
{
	struct group group = {.first = first, .count = 1};
	while (first + group.count < self->rows && self->normal[first + group.count] == first)
		group.count++;
	for (uint32_t k = 0; k < group.count; k++) {
		group.soft[k] = self->compliance[first + k] + eps;
		group.friction[k] = self->friction[first + k];
	}
	return group;
}

bool lcp_friction_cone_fits(const struct lcp_sparse *self)
{
	for (uint32_t i = 0; i < self->rows; i++) {
		uint32_t normal = self->normal[i], length = self->start[i + 1] - self->start[i];
		if (normal == i)
			continue;
		if (self->kind[i] != FRICTION_STATIC || i - normal >= GROUP ||
		    length != self->start[normal + 1] - self->start[normal] ||
		    memcmp(self->at + self->start[i], self->at + self->start[normal],
			   length * sizeof *self->at) != 0)
			return false;
	}
	return true;
}

/* The nearest of K in the metric of `soft`: x_n = a where the slope of the distance, which rises
 * with a, is 0. */
static struct face project(const struct group *group, const double *at)
{
	struct face face = {.stiffness = 0};
	double a = scalar_max(at[0], 0), weight = group->soft[0];
	bool slides[GROUP] = {false};
	for (uint32_t k = 1; k < group->count; k++)
		slides[k] = scalar_abs(at[k]) > group->friction[k] * a;
	for (bool changed = true; changed;) {
		double push = group->soft[0] * at[0];
		changed = false;
		weight = group->soft[0];
		for (uint32_t k = 1; k < group->count; k++)
			if (slides[k]) {
				double m = group->soft[k] * group->friction[k];
				push += m * scalar_abs(at[k]);
				weight += m * group->friction[k];
			}
		a = push / weight;
		for (uint32_t k = 1; k < group->count; k++)
			if (slides[k] && scalar_abs(at[k]) <= group->friction[k] * a) {
				slides[k] = false;
				changed = true;
			}
	}
	if (!(a > 0))
		return face;
	face.x[0] = a;
	face.stiffness = 1 / weight;
	for (uint32_t k = 1; k < group->count; k++) {
		face.side[k] = (int8_t)(!slides[k] ? 0 : at[k] > 0 ? 1 : -1);
		face.x[k] = slides[k] ? face.side[k] * group->friction[k] * a : at[k];
	}
	return face;
}

/* A row that is alone: its box. */
static struct face clamp(const struct lcp_sparse *self, const struct group *group, const double *at)
{
	double low = self->lower[group->first], high = self->upper[group->first];
	struct face face = {.x = {scalar_clamp(*at, low, high)}};
	face.stiffness = *at > low && *at < high ? 1 / group->soft[0] : 0;
	return face;
}

static struct face face_at(const struct lcp_sparse *self, const struct group *group,
			   const double *at)
{
	bool contact = self->kind[group->first] == FRICTION_NORMAL;
	return contact ? project(group, at) : clamp(self, group, at);
}

/* `target` before the projection, x(u) in `trial`, force = u − Jᵀ x(u), stiffness and sides; the
 * largest change ε |x(u) − x̄|. */
static double evaluate(struct lcp_sparse *self, double eps)
{
	double move = 0;
	memcpy(self->force, self->u, lcp_sparse_unknowns(self) * sizeof *self->u);
	for (uint32_t i = 0; i < self->rows; i++)
		self->target[i] = (eps * self->x[i] - lcp_sparse_row_dot(self, i, self->u) -
				   self->b[i] - self->shift[i]) /
				  (self->compliance[i] + eps);
	for (uint32_t i = 0; i < self->rows;) {
		struct group group = group_at(self, i, eps);
		struct face face = face_at(self, &group, self->target + i);
		for (uint32_t k = 0; k < group.count; k++, i++) {
			bool free = face.stiffness > 0 && face.side[k] == 0;
			self->trial[i] = face.x[k];
			self->side[i] = face.side[k];
			self->stiffness[i] = !free    ? 0
					     : k == 0 ? face.stiffness
						      : 1 / group.soft[k];
			self->result.pivots += free != self->free[i];
			self->free[i] = free;
			move = scalar_max(move, eps * scalar_abs(face.x[k] - self->x[i]));
			if (face.x[k] != 0)
				lcp_sparse_row_add(self, i, -face.x[k], self->force);
		}
	}
	return move;
}

/* θ' at u + α du, and θ'' there. */
static double slope_at(const struct lcp_sparse *self, double eps, double along, double square,
		       double alpha, double *curve)
{
	double sum = along + alpha * square;
	*curve = square;
	for (uint32_t i = 0; i < self->rows;) {
		struct group group = group_at(self, i, eps);
		double at[GROUP], together = self->slope[i];
		for (uint32_t k = 0; k < group.count; k++)
			at[k] = self->target[i + k] - alpha * self->slope[i + k] / group.soft[k];
		struct face face = face_at(self, &group, at);
		for (uint32_t k = 0; k < group.count; k++) {
			double slope = self->slope[i + k];
			sum -= face.x[k] * slope;
			if (k > 0 && face.side[k] != 0)
				together += face.side[k] * group.friction[k] * slope;
			else if (k > 0 && face.stiffness > 0)
				*curve += slope * slope / group.soft[k];
		}
		*curve += together * together * face.stiffness;
		i += group.count;
	}
	return sum;
}

static double dot(const double *a, const double *b, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

static double largest(const double *values, size_t count)
{
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = scalar_max(most, scalar_abs(values[i]));
	return most;
}

/* Where θ is least along du; 0: du leads nowhere. */
static double search(struct lcp_sparse *self, double eps)
{
	size_t n = lcp_sparse_unknowns(self);
	double along = dot(self->u, self->du, n), square = dot(self->du, self->du, n);
	double curve = 0, low = 0, high = __builtin_inf(), alpha = 1;
	for (uint32_t i = 0; i < self->rows; i++)
		self->slope[i] = lcp_sparse_row_dot(self, i, self->du);
	double begin = slope_at(self, eps, along, square, 0, &curve);
	if (!(begin < 0))
		return 0;
	for (uint32_t k = 0; k < SEARCHES; k++) {
		double slope = slope_at(self, eps, along, square, alpha, &curve);
		if (scalar_abs(slope) <= -ACCEPT * begin)
			break;
		*(slope > 0 ? &high : &low) = alpha;
		double next = alpha - slope / curve;
		if (!(next > low && next < high))
			next = high <= SCALAR_MAX ? 0.5 * (low + high) : 2 * alpha;
		alpha = next;
	}
	return alpha;
}

/* Minimises θ; false when the factors are used up. */
static bool minimise(struct lcp_sparse *self, double eps)
{
	size_t n = lcp_sparse_unknowns(self);
	double noise = NOISE / eps * self->size, last = __builtin_inf();
	uint32_t stalled = 0;
	for (uint32_t k = 0; k < STEPS && stalled < STALLED; k++) {
		double move = evaluate(self, eps), force = largest(self->force, n);
		if (k > 0 && force <= scalar_max(INNER * move, noise))
			return true;
		stalled = force < 0.5 * last || force > 1024 * noise ? 0 : stalled + 1;
		last = force;
		if (self->result.refactorings >= self->factors_max)
			return false;
		lcp_sparse_factor(self);
		for (size_t i = 0; i < n; i++)
			self->du[i] = -self->force[i];
		chol_block_solve(&self->factor, self->du);
		double alpha = search(self, eps);
		if (alpha == 0)
			return true;
		for (size_t i = 0; i < n; i++)
			self->u[i] += alpha * self->du[i];
	}
	(void)evaluate(self, eps);
	return true;
}

/* x̄ := x(u), s := Σ μ |w_t| by `share`. */
static void advance(struct lcp_sparse *self, double share)
{
	memcpy(self->x, self->trial, self->rows * sizeof *self->x);
	for (uint32_t i = 0; i < self->rows; i++) {
		if (self->kind[i] == FRICTION_NORMAL)
			self->shift[i] *= 1 - share;
		if (self->normal[i] == i)
			continue;
		double w = lcp_sparse_row_dot(self, i, self->u) + self->compliance[i] * self->x[i] +
			   self->b[i];
		self->shift[self->normal[i]] += share * self->friction[i] * scalar_abs(w);
	}
}

/* The set that slides and sticks as it stands, with bounds that follow; if it does not, x and u are
 * what they were. */
static bool try_set(struct lcp_sparse *self)
{
	size_t bytes = lcp_sparse_unknowns(self) * sizeof *self->u;
	memcpy(self->kept_u, self->u, bytes);
	self->tied = true;
	self->cone = false;
	bool good = lcp_sparse_active_set(self, SET_ROUNDS);
	self->tied = false;
	self->cone = true;
	if (!good)
		memcpy(self->u, self->kept_u, bytes);
	return good;
}

static bool run(struct lcp_sparse *self)
{
	double before = __builtin_inf(), best = before, share = 1, *kept = self->kept_fixed;
	uint32_t since = 0;
	memcpy(kept, self->x, self->rows * sizeof *kept);
	memset(self->shift, 0, self->rows * sizeof *self->shift);
	lcp_sparse_follow(self, self->x, self->u);
	for (uint32_t outer = 0; outer < OUTER && since < STUCK; outer++) {
		bool more = minimise(self, SOFT);
		advance(self, share);
		double gap = scalar_max(lcp_friction_true_gap(self),
					lcp_sparse_apart(self) * self->size);
		if (gap <= self->goal || (more && gap <= CLOSE * self->size && try_set(self)))
			return true;
		share = gap < before ? 1 : 0.5;
		since = gap < 0.9 * best ? 0 : since + 1;
		before = gap;
		if (gap < best)
			memcpy(kept, self->x, self->rows * sizeof *kept);
		best = scalar_min(best, gap);
		if (!more)
			break;
	}
	memcpy(self->x, kept, self->rows * sizeof *kept);
	return false;
}

bool lcp_friction_cone(struct lcp_sparse *self)
{
	self->cone = true;
	bool good = run(self);
	self->cone = false;
	return good;
}
