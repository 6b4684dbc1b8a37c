/* lcp_sparse_scale.c: scales a problem over bodies into the units of the workspace, and a solution
 * back.
 *
 * First the exponents of each row's Jacobian and each body's inverse mass are taken out. Then each row
 * gets a shift that brings its entry of A's diagonal near 1, and all of b gets one that brings its
 * largest entry near 1. Shifts are exponents of two, so scaling rounds nothing in the middle of the
 * range of double. Products of numbers near the two ends of that range are computed in its middle.
 */
#include <string.h>

#include "server/engine/math/wide.h"
#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/lcp_sparse_core.h"

enum { NO_SHIFT = INT32_MIN }; /* of a body that cannot move: M⁻¹ = 0 */

/* e of a number in [2^(e - 1), 2^e). */
static int32_t exponent_of(double x)
{
	return (int32_t)wide_of(x).exponent;
}

/* x 2^e. */
static double shift(double x, int64_t e)
{
	return e >= -1000 && e <= 1000 ? x * scalar_power2(e) : scalar_shift(x, e);
}

/* root of M⁻¹ = root rootᵀ of body k, by Cholesky without pivoting; a pivot of 0 gives a column of 0.
 * False: M⁻¹ is not symmetric to rounding or not semidefinite. */
static bool load_mass(struct lcp_sparse *self, uint32_t k, const double (*mass_inv)[LCP_BODY])
{
	VALIDATE(k < self->bodies);
	double(*root)[LCP_BODY] = self->root[self->place[k]];
	double most = lcp_sparse_largest(mass_inv[0], LCP_BODY * LCP_BODY);
	int32_t e = most > 0 ? exponent_of(most) : 0;
	e += e & 1;
	self->mass_shift[self->place[k]] = most > 0 ? e / 2 : NO_SHIFT;
	memset(root, 0, sizeof(double[LCP_BODY][LCP_BODY]));
	for (uint32_t j = 0; j < LCP_BODY; j++) {
		double own = shift(mass_inv[j][j], -e), pivot = own;
		for (uint32_t c = 0; c < j; c++)
			pivot -= root[j][c] * root[j][c];
		if (!(pivot > 0x1p-44 * own)) {
			if (!(pivot >= -0x1p-44 * scalar_abs(own)) || own < 0)
				return false;
			pivot = 0;
		}
		root[j][j] = scalar_sqrt(pivot);
		for (uint32_t i = j + 1; i < LCP_BODY; i++) {
			double a = shift(mass_inv[i][j], -e), other = shift(mass_inv[j][i], -e);
			double size = scalar_sqrt(own * scalar_abs(shift(mass_inv[i][i], -e)));
			double sum = a;
			if (!(scalar_abs(a - other) <= 0x1p-44 * size))
				return false;
			for (uint32_t c = 0; c < j; c++)
				sum -= root[i][c] * root[j][c];
			if (pivot == 0 && !(scalar_abs(sum) <= 0x1p-20 * size))
				return false;
			root[i][j] = pivot > 0 ? sum / root[j][j] : 0;
		}
	}
	return true;
}

/* The bounds of row i in the problem's units. With friction, normals have 0 and ∞, tangents −∞ and
 * ∞. */
static double row_lower(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			uint32_t i)
{
	VALIDATE(i < self->rows);
	if (!self->with_friction)
		return problem->lower != NULL ? problem->lower[i] : 0;
	if (self->kind[i] == FRICTION_NORMAL)
		return 0;
	bool own = self->kind[i] == FRICTION_JOINT && problem->lower != NULL;
	return own ? problem->lower[i] : -__builtin_inf();
}

static double row_upper(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			uint32_t i)
{
	VALIDATE(i < self->rows);
	bool own = !self->with_friction || self->kind[i] == FRICTION_JOINT;
	return own && problem->upper != NULL ? problem->upper[i] : __builtin_inf();
}

static bool row_is_valid(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
			 uint32_t i)
{
	double low = row_lower(self, problem, i), high = row_upper(self, problem, i);
	uint32_t first = problem->start[i], count = problem->start[i + 1] - first;
	if (!(low <= high) || low > SCALAR_MAX || high < -SCALAR_MAX)
		return false;
	if (problem->compliance != NULL &&
	    !(problem->compliance[i] >= 0 && problem->compliance[i] <= SCALAR_MAX))
		return false;
	return scalar_is_finite(problem->b[i]) &&
	       (count == 0 || solver_finite(problem->jacobian[first], LCP_BODY * (size_t)count));
}

/* The Jacobian of row i times the roots of its bodies, divided by 2^row_shift. row_shift adds up the
 * exponent of J, the largest exponent of the roots, and the exponent that brings the diagonal of A near
 * 1. */
static void load_row(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, uint32_t i)
{
	VALIDATE(i < self->rows);
	uint32_t first = self->start[i], end = self->start[i + 1];
	double most =
		end > first ? lcp_sparse_largest(problem->jacobian[first], LCP_BODY * (end - first))
			    : 0;
	int32_t own = most > 0 ? exponent_of(most) : 0, top = NO_SHIFT;
	for (uint32_t p = first; p < end; p++)
		top = MAX_OF(top, self->mass_shift[self->at[p]]);
	top = top == NO_SHIFT ? 0 : top;
	double soft = problem->compliance != NULL ? problem->compliance[i] : 0, diagonal = 0;
	for (uint32_t p = first; p < end; p++) {
		int32_t mass = self->mass_shift[self->at[p]];
		double(*root)[LCP_BODY] = self->root[self->at[p]], *to = self->jacobian[p];
		for (uint32_t c = 0; c < LCP_BODY; c++) {
			to[c] = 0;
			if (mass == NO_SHIFT)
				continue;
			for (uint32_t r = c; r < LCP_BODY; r++)
				to[c] += shift(problem->jacobian[p][r], -own) * root[r][c];
			to[c] = shift(to[c], mass - top);
			diagonal += to[c] * to[c];
		}
	}
	/* The compliance may be the larger part of the diagonal. */
	int32_t base = own + top, soft_half = soft > 0 ? (exponent_of(soft) + 1) >> 1 : 0,
		extra = 0;
	if (soft > 0 && (diagonal == 0 || soft_half > base + 500))
		extra = soft_half - base;
	else {
		diagonal += shift(soft, -2 * (int64_t)base);
		extra = diagonal > 0 ? exponent_of(diagonal) >> 1 : 0;
	}
	for (uint32_t p = first; p < end; p++)
		for (uint32_t c = 0; c < LCP_BODY; c++)
			self->jacobian[p][c] = shift(self->jacobian[p][c], -extra);
	self->compliance[i] = shift(soft, -2 * (int64_t)(base + extra));
	self->row_shift[i] = base + extra;
	self->unit_shift[i] = top + extra;
}

/* The exponent of the largest |b|, or of the largest x that a bound enforces, in units of the rows. */
static int64_t find_b_shift(const struct lcp_sparse *self, const struct lcp_sparse_problem *problem)
{
	int64_t most = INT64_MIN;
	for (uint32_t i = 0; i < self->rows; i++) {
		int64_t s = self->row_shift[i];
		double low = row_lower(self, problem, i), high = row_upper(self, problem, i);
		double hold = low > 0 ? low : high < 0 ? high : 0;
		if (problem->b[i] != 0)
			most = MAX_OF(most, exponent_of(problem->b[i]) - s);
		if (hold != 0)
			most = MAX_OF(most, exponent_of(hold) + s);
	}
	return most == INT64_MIN ? 0 : most;
}

/* Whether no row acts along z, or about x or y. */
static bool is_planar(const struct lcp_sparse *self)
{
	ASSERT(self->ordered);
	for (uint32_t p = 0; self->rows > 0 && p < self->start[self->rows]; p++) {
		const double *j = self->jacobian[p];
		if (j[2] != 0 || j[3] != 0 || j[4] != 0)
			return false;
	}
	return true;
}

bool lcp_sparse_load(struct lcp_sparse *self, const struct lcp_sparse_problem *problem,
		     const double *x)
{
	ASSERT(self->ordered);
	int32_t top = self->rows > 0 ? INT32_MIN : 0;
	for (uint32_t k = 0; k < self->bodies; k++)
		if (!solver_finite(problem->mass_inv[k][0], LCP_BODY * LCP_BODY) ||
		    !load_mass(self, k, problem->mass_inv[k]))
			return false;
	for (uint32_t i = 0; i < self->rows; i++) {
		if (!row_is_valid(self, problem, i))
			return false;
		load_row(self, problem, i);
		top = MAX_OF(top, self->unit_shift[i]);
	}
	self->factor.planar = is_planar(self);
	int64_t b_shift = self->b_shift = find_b_shift(self, problem);
	self->unit_top = top;
	self->size = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		int64_t s = self->row_shift[i];
		double low = self->lower[i] = shift(row_lower(self, problem, i), s - b_shift);
		double high = self->upper[i] = shift(row_upper(self, problem, i), s - b_shift);
		double hold = low > 0 ? low : high < 0 ? -high : 0;
		double from = x != NULL ? shift(x[i], s - b_shift) : 0;
		self->b[i] = shift(problem->b[i], -s - b_shift);
		self->x[i] = scalar_clamp(scalar_is_finite(from) ? from : 0, low, high);
		self->weight[i] = shift(1, self->unit_shift[i] - (int64_t)top);
		self->size = scalar_max(self->size,
					self->weight[i] * scalar_max(scalar_abs(self->b[i]), hold));
	}
	return true;
}

/* out := root u of the body at `place`: v without the exponents. */
static void compute_velocity(const struct lcp_sparse *self, uint32_t place, const double *u,
			     double *out)
{
	VALIDATE(place < self->bodies);
	for (uint32_t r = 0; r < LCP_BODY; r++) {
		out[r] = 0;
		for (uint32_t c = 0; c <= r; c++)
			out[r] += self->root[place][r][c] * u[LCP_BODY * (size_t)place + c];
	}
}

/* The exponent that compute_velocity leaves out. */
static int64_t velocity_shift(const struct lcp_sparse *self, uint32_t place)
{
	VALIDATE(place < self->bodies);
	int32_t mass = self->mass_shift[place];
	return mass == NO_SHIFT ? 0 : mass + self->b_shift;
}

/* Returns v by body, and replaces u by this v, of which the residual is computed. */
static void unload_velocities(struct lcp_sparse *self, double (*v)[LCP_BODY])
{
	for (uint32_t k = 0; k < self->bodies; k++) {
		uint32_t place = self->place[k];
		int64_t e = velocity_shift(self, place);
		double out[LCP_BODY], *to = self->u + LCP_BODY * (size_t)place;
		compute_velocity(self, place, self->u, out);
		for (uint32_t c = 0; c < LCP_BODY; c++) {
			double own = scalar_clamp(shift(out[c], e), -SCALAR_MAX, SCALAR_MAX);
			if (v != NULL)
				v[k][c] = own;
			to[c] = shift(own, -e);
		}
	}
}

/* The worst weighted gap of a row; sets result.violation. */
static double row_gap(struct lcp_sparse *self, const struct lcp_sparse_problem *problem)
{
	double worst = 0;
	self->result.violation = 0;
	for (uint32_t i = 0; i < self->rows; i++) {
		double x = self->x[i], w = self->compliance[i] * x + self->b[i];
		int64_t s = self->row_shift[i];
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
			const double *v = self->u + LCP_BODY * (size_t)self->at[p];
			int32_t mass = self->mass_shift[self->at[p]];
			for (uint32_t c = 0; mass != NO_SHIFT && c < LCP_BODY; c++)
				w += shift(problem->jacobian[p][c], mass - s) * v[c];
		}
		double gap = lcp_sparse_row_gap(x, w, self->lower[i], self->upper[i]);
		worst = lcp_sparse_worse(worst, self->weight[i] * gap);
		self->result.violation =
			lcp_sparse_worse(self->result.violation, shift(gap, s + self->b_shift));
	}
	return worst;
}

/* The worst |v − M⁻¹ Jᵀ x| of a body over the larger of the largest b and the body's largest term.
 * velocity: by place. */
static double body_gap(struct lcp_sparse *self, const double *velocity)
{
	double worst = 0, *most = self->du;
	lcp_sparse_transposed_mul(self, self->x, self->force);
	memset(most, 0, self->bodies * sizeof *most);
	for (uint32_t i = 0; i < self->rows; i++)
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++) {
			double term = lcp_sparse_largest(self->jacobian[p], LCP_BODY);
			double *to = &most[self->at[p]];
			*to = scalar_max(*to, scalar_abs(self->x[i]) * term);
		}
	for (uint32_t k = 0; k < self->bodies; k++) {
		double v[LCP_BODY], gap = 0;
		if (self->mass_shift[k] == NO_SHIFT)
			continue;
		double weight = shift(1, self->mass_shift[k] - (int64_t)self->unit_top);
		compute_velocity(self, k, self->force, v);
		for (uint32_t c = 0; c < LCP_BODY; c++) {
			double apart = scalar_abs(v[c] - velocity[LCP_BODY * (size_t)k + c]);
			gap = lcp_sparse_worse(gap, apart);
		}
		double size = scalar_max(self->size, weight * most[k]);
		if (gap != 0)
			worst = lcp_sparse_worse(worst, weight * gap / size);
	}
	return worst;
}

double lcp_sparse_velocity_error(struct lcp_sparse *self)
{
	double *velocity = self->kept_v;
	for (uint32_t k = 0; k < self->bodies; k++)
		compute_velocity(self, k, self->u, velocity + LCP_BODY * (size_t)k);
	return body_gap(self, velocity);
}

void lcp_sparse_unload(struct lcp_sparse *self, const struct lcp_sparse_problem *problem, double *x,
		       double (*v)[LCP_BODY])
{
	ASSERT(self->ordered);
	for (uint32_t i = 0; i < self->rows; i++) {
		int64_t s = self->row_shift[i];
		double own = shift(self->x[i], self->b_shift - s);
		own = scalar_clamp(own, -SCALAR_MAX, SCALAR_MAX);
		x[i] = scalar_clamp(own, row_lower(self, problem, i), row_upper(self, problem, i));
		self->x[i] = shift(x[i], s - self->b_shift);
		if (!self->with_friction || self->normal[i] == i)
			continue;
		/* The bounds of a tangent follow from the returned x of its normal. */
		self->free[i] = 1;
		self->x[i] = shift(own, s - self->b_shift);
		lcp_sparse_tie_row(self, i);
		if (self->clamp_tangents)
			self->x[i] = scalar_clamp(self->x[i], self->lower[i], self->upper[i]);
		x[i] = shift(self->x[i], self->b_shift - s);
	}
	unload_velocities(self, v);
	double gap = row_gap(self, problem);
	gap = gap > 0 ? gap / self->size : 0;
	self->result.residual = lcp_sparse_worse(lcp_sparse_worse(0, gap), body_gap(self, self->u));
}
