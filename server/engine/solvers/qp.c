/* qp.c: violations of the conditions of Karush, Kuhn and Tucker by a point.
 *
 * They are first computed in double. If a force or length that they are relative to lies beyond
 * 2^±500, or if all sums are 0 although x or λ is not, products may have left the range of double.
 * They are then computed again with a wider exponent (math/wide.h).
 */
#include "server/engine/solvers/qp.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/double_double.h"
#include "server/engine/math/wide.h"

#define TERM_MIN 0x1p-500
#define TERM_MAX 0x1p500
#define ENERGY_LOW 0x1p-900 /* the same for products of two sizes */
#define ENERGY_HIGH 0x1p900
/* Of its terms: a smaller C p or G p of a ray counts as 0. A smaller limit needs more accuracy than
 * a step of the solver has. */
#define RAY 1e-9
/* See qp.h. A larger factor accepts points with a very large x or λ; a smaller one rejects correct
 * ones because of rounding. */
#define TERMS 8
/* Of the largest force times the length: the least number that a gap is relative to, because all
 * its terms may vanish (x = 0). A larger one accepts multipliers far from their rows; a smaller one
 * rejects rounding. */
#define ENERGY_MIN 0x1p-10

bool qp_equal(const struct qp_problem *self, uint32_t row)
{
	VALIDATE(row < self->rows);
	return self->equal != NULL && self->equal[row];
}

bool qp_valid(const struct qp_problem *self)
{
	size_t n = self->variables, m = self->rows;
	return solver_finite(self->g, n * n) && solver_finite(self->c, n) &&
	       solver_finite(self->matrix, n * m) && solver_finite(self->d, m);
}

double qp_objective(const struct qp_problem *self, const double *x)
{
	double sum = 0;
	for (uint32_t i = 0; i < self->variables; i++)
		sum += x[i] *
		       (0.5 * dense_dot(self->g + (size_t)i * self->variables, x, self->variables) +
			self->c[i]);
	return sum;
}

static bool in_range(double size)
{
	return size >= TERM_MIN && size <= TERM_MAX;
}

double qp_planes_length(const struct qp_problem *self)
{
	double length = 0;
	for (uint32_t k = 0; k < self->rows; k++) {
		double steep =
			dense_max_abs(self->matrix + (size_t)k * self->variables, self->variables);
		if (steep > 0)
			length = scalar_max(length, scalar_abs(self->d[k]) / steep);
	}
	return length;
}

/* The violation by a row; off and share are its relative |s| and |λ|. */
static double row_residual(bool equal, bool below, double off, bool pulls, double share)
{
	if (equal)
		return off;
	if (below || pulls)
		return scalar_max(below ? off : 0, pulls ? share : 0);
	return scalar_min(off, share);
}

/* C_k x, (Cᵀz)_i, (G x)_i and so on, in twice the digits. */
static double2 exact_dot(const double *row, size_t stride, const double *x, uint32_t n)
{
	double2 sum = { 0, 0 };
	for (uint32_t j = 0; j < n; j++)
		sum = double2_add(sum, double2_product(row[j * stride], x[j]));
	return sum;
}

static double exact_slack(const struct qp_problem *self, uint32_t k, const double *x)
{
	VALIDATE(k < self->rows);
	uint32_t n = self->variables;
	double2 sum = exact_dot(self->matrix + (size_t)k * n, 1, x, n);
	return double2_add_double(sum, -self->d[k]).hi;
}

/* The force and length that violations are relative to, and the largest violation of stationarity. */
struct sizes {
	double force, length, off; /* off: max |G x + c − Cᵀλ| */
	bool far;		   /* x or λ is so large that sums in double are too inaccurate */
};

/* C_k x; in twice the digits if `exactly`. */
static double row_product(const struct qp_problem *self, uint32_t k, const double *x, bool exactly)
{
	VALIDATE(k < self->rows);
	uint32_t n = self->variables;
	const double *row = self->matrix + (size_t)k * n;
	return exactly ? exact_dot(row, 1, x, n).hi : dense_dot(row, x, n);
}

/* The distance from the origin of the farthest plane of a row, or of its parallel through x. */
static double farthest_plane(const struct qp_problem *self, const double *x, bool exactly)
{
	double length = 0;
	for (uint32_t k = 0; k < self->rows; k++) {
		double steep =
			dense_max_abs(self->matrix + (size_t)k * self->variables, self->variables);
		double distance = scalar_max(scalar_abs(self->d[k]),
					     scalar_abs(row_product(self, k, x, exactly)));
		if (steep > 0)
			length = scalar_max(length, distance / steep);
	}
	return length;
}

/* force and off in twice the digits, because in double the rounding of large terms that cancel
 * would count as a force. */
static void exact_sizes(const struct qp_problem *self, const double *x, const double *lambda,
			struct sizes *at)
{
	uint32_t n = self->variables;
	at->force = dense_max_abs(self->c, n);
	at->off = 0;
	for (uint32_t i = 0; i < n; i++) {
		double2 bend = exact_dot(self->g + (size_t)i * n, 1, x, n);
		double2 force = exact_dot(self->matrix + i, n, lambda, self->rows);
		double sum =
			double2_add(double2_add_double(bend, self->c[i]), double2_negate(force)).hi;
		at->force = scalar_max(at->force,
				       scalar_max(scalar_abs(bend.hi), scalar_abs(force.hi)));
		at->off = scalar_is_finite(sum) ? scalar_max(at->off, scalar_abs(sum))
						: __builtin_inf();
	}
}

/* The sizes, in double where that is accurate enough. *safe: force and length are within the range. */
static struct sizes plain_sizes(const struct qp_problem *self, const double *x,
				const double *lambda, bool *safe)
{
	struct sizes at = { 0, 0, 0, false };
	double most = 0, curve = 0;
	uint32_t n = self->variables;
	for (uint32_t i = 0; i < n; i++) {
		double sum = self->c[i], bend = 0, force = 0;
		at.force = scalar_max(at.force, scalar_abs(sum));
		for (uint32_t j = 0; j < n; j++) {
			double term = self->g[(size_t)i * n + j] * x[j];
			sum += term;
			bend += term;
			most = scalar_max(most, scalar_abs(term));
		}
		for (uint32_t k = 0; k < self->rows; k++) {
			double term = self->matrix[(size_t)k * n + i] * lambda[k];
			sum -= term;
			force += term;
			most = scalar_max(most, scalar_abs(term));
		}
		at.force = scalar_max(at.force, scalar_max(scalar_abs(bend), scalar_abs(force)));
		at.off = scalar_is_finite(sum) ? scalar_max(at.off, scalar_abs(sum))
					       : __builtin_inf();
		curve = scalar_max(curve, self->g[(size_t)i * n + i]);
	}
	if (curve > 0)
		at.length = dense_max_abs(self->c, n) / curve;
	at.far =
		most > TERMS * at.force ||
		dense_max_abs(x, n) > TERMS * scalar_max(at.length, farthest_plane(self, x, false));
	if (at.far)
		exact_sizes(self, x, lambda, &at);
	at.length = scalar_max(at.length, farthest_plane(self, x, at.far));
	if (dense_max_abs(self->c, n) == 0)
		at.force = scalar_max(at.force, curve * qp_planes_length(self));
	at.force = scalar_max(at.force, scalar_min(most, TERMS * at.force));
	at.length = scalar_max(at.length, scalar_min(dense_max_abs(x, n), TERMS * at.length));
	*safe = in_range(at.force) && scalar_is_finite(at.off) && scalar_is_finite(at.length);
	if (at.force == 0)
		*safe = dense_max_abs(x, n) == 0 && dense_max_abs(lambda, self->rows) == 0;
	/* A length of 0 may have underflowed, unless x and d are 0. */
	bool none = dense_max_abs(x, n) == 0 && dense_max_abs(self->d, self->rows) == 0;
	*safe = *safe && (at.length == 0 ? none : in_range(at.length));
	return at;
}

/* The duality gap |x·(G x + c) − d·λ| over the largest of its terms. */
static double plain_gap(const struct qp_problem *self, const double *x, const double *lambda,
			struct sizes size, bool *safe)
{
	uint32_t n = self->variables;
	double most = ENERGY_MIN * size.force * size.length;
	double2 sum = exact_dot(self->c, 1, x, n);
	for (uint32_t i = 0; i < n; i++) {
		double bend = exact_dot(self->g + (size_t)i * n, 1, x, n).hi;
		sum = double2_add(sum, double2_product(bend, x[i]));
		most = scalar_max(
			most, scalar_max(scalar_abs(bend * x[i]), scalar_abs(self->c[i] * x[i])));
	}
	for (uint32_t k = 0; k < self->rows; k++)
		most = scalar_max(most, scalar_abs(self->d[k] * lambda[k]));
	sum = double2_add(sum, double2_negate(exact_dot(self->d, 1, lambda, self->rows)));
	*safe = *safe && scalar_is_finite(sum.hi) &&
		(sum.hi == 0 || (most >= ENERGY_LOW && most <= ENERGY_HIGH));
	return sum.hi == 0 ? 0 : scalar_abs(sum.hi) / most;
}

/* The residual in double, with or without the gap. *safe: all its parts are within the range. */
static double plain_residual(const struct qp_problem *self, const double *x, const double *lambda,
			     bool with_gap, bool *safe)
{
	uint32_t n = self->variables;
	struct sizes size = plain_sizes(self, x, lambda, safe);
	double worst = size.off == 0 ? 0 : size.off / size.force;
	if (with_gap && *safe)
		worst = scalar_max(worst, plain_gap(self, x, lambda, size, safe));
	for (uint32_t k = 0; k < self->rows; k++) {
		const double *row = self->matrix + (size_t)k * n;
		double steep = dense_max_abs(row, n), s = dense_dot(row, x, n) - self->d[k];
		s = size.far ? exact_slack(self, k, x) : s;
		double off = s == 0 ? 0 : scalar_abs(s) / (steep * size.length);
		double pull = scalar_abs(lambda[k]) * steep;
		double share = pull == 0 ? 0 : pull / size.force;
		*safe = *safe && (steep == 0 || (size.length == 0 && s == 0) ||
				  in_range(steep * size.length));
		*safe = *safe && (lambda[k] == 0 || steep == 0 || in_range(pull));
		/* A row of zeros holds for every x or for none. */
		if (steep == 0)
			off = s < 0 || (s > 0 && qp_equal(self, k)) ? __builtin_inf() : 0;
		if (!(off >= 0) || !scalar_is_finite(share)) {
			*safe = false;
			return __builtin_inf();
		}
		worst = scalar_max(
			worst, row_residual(qp_equal(self, k), s < 0, off, lambda[k] < 0, share));
	}
	return worst;
}

static wide wide_max_abs(const double *values, uint32_t count)
{
	return wide_of(dense_max_abs(values, count));
}

static wide2 wide_dot(const double *row, size_t stride, const double *x, uint32_t n)
{
	wide2 sum = { { 0, 0 }, 0 };
	for (uint32_t j = 0; j < n; j++)
		sum = wide2_plus_product(sum, row[j * stride], x[j]);
	return sum;
}

/* C_k x − less. */
static wide wide_row(const struct qp_problem *self, uint32_t k, const double *x, double less)
{
	VALIDATE(k < self->rows);
	uint32_t n = self->variables;
	wide2 sum = wide_dot(self->matrix + (size_t)k * n, 1, x, n);
	return wide2_rounded(wide2_plus_product(sum, -1, less));
}

/* The largest |row_j x_j|. */
static wide wide_largest(const double *row, size_t stride, const double *x, uint32_t n)
{
	wide most = { 0, 0 };
	for (uint32_t j = 0; j < n; j++)
		most = wide_max(most,
				wide_abs(wide_times(wide_of(row[j * stride]), wide_of(x[j]))));
	return most;
}

/* max G_ii times the distance of the farthest plane. */
static wide wide_planes(const struct qp_problem *self)
{
	double curve = 0;
	uint32_t n = self->variables;
	wide length = { 0, 0 };
	for (uint32_t i = 0; i < n; i++)
		curve = scalar_max(curve, self->g[(size_t)i * n + i]);
	for (uint32_t k = 0; k < self->rows; k++) {
		wide steep = wide_max_abs(self->matrix + (size_t)k * n, n);
		if (steep.mantissa > 0)
			length = wide_max(length, wide_over(wide_abs(wide_of(self->d[k])), steep));
	}
	return wide_times(wide_of(curve), length);
}

struct wide_sizes {
	wide force, length, off;
};

static wide wide_length(const struct qp_problem *self, const double *x)
{
	double curve = 0;
	uint32_t n = self->variables;
	wide length = { 0, 0 };
	for (uint32_t i = 0; i < n; i++)
		curve = scalar_max(curve, self->g[(size_t)i * n + i]);
	if (curve > 0)
		length = wide_over(wide_max_abs(self->c, n), wide_of(curve));
	for (uint32_t k = 0; k < self->rows; k++) {
		wide steep = wide_max_abs(self->matrix + (size_t)k * n, n);
		wide distance =
			wide_max(wide_abs(wide_of(self->d[k])), wide_abs(wide_row(self, k, x, 0)));
		if (steep.mantissa > 0)
			length = wide_max(length, wide_over(distance, steep));
	}
	wide capped = wide_times(wide_of(TERMS), length);
	return wide_max(length, wide_min(wide_max_abs(x, n), capped));
}

static struct wide_sizes compute_wide_sizes(const struct qp_problem *self, const double *x,
					    const double *lambda)
{
	struct wide_sizes at = { { 0, 0 }, { 0, 0 }, { 0, 0 } };
	wide most = { 0, 0 };
	uint32_t n = self->variables, m = self->rows;
	for (uint32_t i = 0; i < n; i++) {
		const double *g = self->g + (size_t)i * n, *column = self->matrix + i;
		wide2 bend = wide_dot(g, 1, x, n);
		wide2 force = wide_dot(column, n, lambda, m);
		wide2 sum = wide2_minus(wide2_plus_product(bend, 1, self->c[i]), force);
		at.off = wide_max(at.off, wide_abs(wide2_rounded(sum)));
		at.force = wide_max(at.force, wide_abs(wide_of(self->c[i])));
		at.force = wide_max(at.force, wide_abs(wide2_rounded(bend)));
		at.force = wide_max(at.force, wide_abs(wide2_rounded(force)));
		most = wide_max(most, wide_largest(g, 1, x, n));
		most = wide_max(most, wide_largest(column, n, lambda, m));
	}
	if (dense_max_abs(self->c, n) == 0)
		at.force = wide_max(at.force, wide_planes(self));
	at.force = wide_max(at.force, wide_min(most, wide_times(wide_of(TERMS), at.force)));
	at.length = wide_length(self, x);
	return at;
}

/* sum + a y; *most: the largest such term. */
static wide2 add_term(wide2 sum, wide a, double y, wide *most)
{
	wide2 term = wide2_plus_product((wide2){ { 0, 0 }, 0 }, a.mantissa, y);
	term.exponent += a.exponent;
	*most = wide_max(*most, wide_abs(wide2_rounded(term)));
	return wide2_plus(sum, term);
}

/* plain_gap with a wider exponent. */
static double wide_gap(const struct qp_problem *self, const double *x, const double *lambda,
		       struct wide_sizes size)
{
	uint32_t n = self->variables;
	wide most = wide_times(wide_of(ENERGY_MIN), wide_times(size.force, size.length));
	wide2 sum = { { 0, 0 }, 0 };
	for (uint32_t i = 0; i < n; i++) {
		wide bend = wide2_rounded(wide_dot(self->g + (size_t)i * n, 1, x, n));
		sum = add_term(sum, bend, x[i], &most);
		sum = add_term(sum, wide_of(self->c[i]), x[i], &most);
	}
	for (uint32_t k = 0; k < self->rows; k++)
		sum = add_term(sum, wide_of(-self->d[k]), lambda[k], &most);
	return wide_ratio(wide_abs(wide2_rounded(sum)), most);
}

/* plain_residual with a wider exponent. */
static double wide_residual(const struct qp_problem *self, const double *x, const double *lambda,
			    bool with_gap)
{
	uint32_t n = self->variables;
	if (!solver_finite(x, n) || !solver_finite(lambda, self->rows))
		return __builtin_inf();
	struct wide_sizes size = compute_wide_sizes(self, x, lambda);
	double worst = wide_ratio(size.off, size.force);
	if (with_gap)
		worst = scalar_max(worst, wide_gap(self, x, lambda, size));
	for (uint32_t k = 0; k < self->rows; k++) {
		wide steep = wide_max_abs(self->matrix + (size_t)k * n, n);
		wide s = wide_row(self, k, x, self->d[k]);
		double off = wide_ratio(wide_abs(s), wide_times(steep, size.length));
		wide pull = wide_times(wide_abs(wide_of(lambda[k])), steep);
		double share = wide_ratio(pull, size.force);
		if (steep.mantissa == 0 && s.mantissa > 0 && !qp_equal(self, k))
			off = 0;
		worst = scalar_max(worst, row_residual(qp_equal(self, k), s.mantissa < 0, off,
						       lambda[k] < 0, share));
	}
	return worst;
}

static double residual(const struct qp_problem *self, const double *x, const double *lambda,
		       bool with_gap)
{
	bool safe;
	double plain = plain_residual(self, x, lambda, with_gap, &safe);
	return safe ? plain : wide_residual(self, x, lambda, with_gap);
}

double qp_conditions(const struct qp_problem *self, const double *x, const double *lambda)
{
	return residual(self, x, lambda, false);
}

double qp_residual(const struct qp_problem *self, const double *x, const double *lambda)
{
	return residual(self, x, lambda, true);
}

double qp_infeasibility(const struct qp_problem *self, const double *z)
{
	uint32_t n = self->variables;
	double across = 0;
	for (uint32_t k = 0; k < self->rows; k++)
		if (!(z[k] >= 0) && !qp_equal(self, k))
			return -1;
	double2 gain = exact_dot(self->d, 1, z, self->rows);
	for (uint32_t i = 0; i < n; i++)
		across += scalar_abs(exact_dot(self->matrix + i, n, z, self->rows).hi);
	double reach = gain.hi / (across * qp_planes_length(self));
	if (!(gain.hi > 0) || !scalar_is_finite(across) || scalar_is_nan(reach))
		return -1;
	return reach;
}

double qp_unboundedness(const struct qp_problem *self, const double *p)
{
	uint32_t n = self->variables;
	double2 curve = { 0, 0 };
	double most = 0, across = 0, size = dense_max_abs(p, n);
	double down = -exact_dot(self->c, 1, p, n).hi;
	for (uint32_t k = 0; k < self->rows; k++) {
		const double *row = self->matrix + (size_t)k * n;
		double slope = exact_dot(row, 1, p, n).hi;
		double limit = RAY * size * dense_max_abs(row, n);
		if (!(slope >= -limit) || (qp_equal(self, k) && slope > limit))
			return -1;
	}
	for (uint32_t i = 0; i < n; i++) {
		const double *row = self->g + (size_t)i * n;
		double2 bend = exact_dot(row, 1, p, n);
		curve = double2_add(curve, double2_mul_double(bend, p[i]));
		most = scalar_max(most, row[i]);
		across = scalar_max(across, scalar_abs(bend.hi));
	}
	if (!(across <= RAY * size * most))
		return -1;
	double length = qp_planes_length(self);
	if (most > 0)
		length = scalar_max(length, dense_max_abs(self->c, n) / most);
	double reach = down * size / (scalar_max(curve.hi, 0) * length);
	return down > 0 && !scalar_is_nan(reach) ? reach : -1;
}

void qp_violations(const struct qp_problem *self, const double *x, const double *lambda,
		   double *row, double *stationarity)
{
	uint32_t n = self->variables;
	*row = *stationarity = 0;
	for (uint32_t k = 0; k < self->rows; k++) {
		double s = dense_dot(self->matrix + (size_t)k * n, x, n) - self->d[k];
		double off = qp_equal(self, k) ? scalar_abs(s) : -s;
		*row = scalar_max(scalar_is_finite(off) ? off : __builtin_inf(), *row);
	}
	for (uint32_t i = 0; i < n; i++) {
		double sum = dense_dot(self->g + (size_t)i * n, x, n) + self->c[i];
		for (uint32_t k = 0; k < self->rows; k++)
			sum -= self->matrix[(size_t)k * n + i] * lambda[k];
		sum = scalar_is_finite(sum) ? scalar_abs(sum) : __builtin_inf();
		*stationarity = scalar_max(sum, *stationarity);
	}
}
