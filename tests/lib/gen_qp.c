/* gen_qp.c: hard convex quadratic programs, family by family. */
#include "tests/lib/gen_qp.h"

#include <math.h>
#include <string.h>

#include "server/base/heap.h"

const char *gen_qp_name(enum gen_qp_family family)
{
	static const char *const names[] = {
		"definite", "boxed", "ill",	"scaled",  "linear", "degenerate", "equations",
		"near",	    "fit",   "control", "machine", "shares", "infeasible", "unbounded",
	};
	_Static_assert(COUNT_OF(names) == GEN_QP_FAMILIES, "a name for each");
	return names[family];
}

void gen_qp_init(struct gen_qp *self, uint32_t size)
{
	size_t n = size, m = 4 * n + 4;
	*self = (struct gen_qp){ .variables_max = size, .rows_max = (uint32_t)m };
	self->g = heap_alloc_zero(n * n * sizeof(double));
	self->c = heap_alloc_zero(n * sizeof(double));
	self->matrix = heap_alloc_zero(m * n * sizeof(double));
	self->d = heap_alloc_zero(m * sizeof(double));
	self->equal = heap_alloc_zero(m * sizeof(bool));
	ASSERT(self->g && self->c && self->matrix && self->d && self->equal);
}

void gen_qp_release(struct gen_qp *self)
{
	heap_free(self->g);
	heap_free(self->c);
	heap_free(self->matrix);
	heap_free(self->d);
	heap_free(self->equal);
}

/* ---- pieces ------------------------------------------------------------------------------------- */

static void begin(struct gen_qp *self, uint32_t n)
{
	ASSERT(n <= self->variables_max);
	memset(self->g, 0, (size_t)n * n * sizeof(double));
	memset(self->c, 0, n * sizeof(double));
	self->problem =
		(struct qp_problem){ n, 0, self->g, self->c, self->matrix, self->d, self->equal };
}

static double *add_row(struct gen_qp *self, double d, bool equal)
{
	uint32_t n = self->problem.variables, k = self->problem.rows++;
	ASSERT(k < self->rows_max);
	double *row = self->matrix + (size_t)k * n;
	memset(row, 0, n * sizeof(double));
	self->d[k] = d;
	self->equal[k] = equal;
	return row;
}

static void add_bounds(struct gen_qp *self, uint32_t i, double low, double high)
{
	if (low > -HUGE_VAL)
		add_row(self, low, false)[i] = 1;
	if (high < HUGE_VAL)
		add_row(self, -high, false)[i] = -1;
}

static double product(const struct gen_qp *self, uint32_t k, const double *x)
{
	double sum = 0;
	for (uint32_t j = 0; j < self->problem.variables; j++)
		sum += self->matrix[(size_t)k * self->problem.variables + j] * x[j];
	return sum;
}

static double bell(struct rng *rng)
{
	double sum = 0;
	for (uint32_t i = 0; i < 4; i++)
		sum += rng_range(rng, -1, 1);
	return sum;
}

static double whole(struct rng *rng, uint32_t most)
{
	return (double)rng_below(rng, 2 * most + 1) - most;
}

/* G += v vᵀ times `by`. */
static void add_square(struct gen_qp *self, const double *v, double by)
{
	uint32_t n = self->problem.variables;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j <= i; j++) {
			self->g[i * n + j] += by * v[i] * v[j];
			self->g[j * n + i] = self->g[i * n + j];
		}
}

static void add_squares(struct gen_qp *self, struct rng *rng, uint32_t rank)
{
	double v[256];
	for (uint32_t k = 0; k < rank; k++) {
		for (uint32_t i = 0; i < self->problem.variables; i++)
			v[i] = bell(rng);
		add_square(self, v, 1);
	}
}

/* Rows through or around a point inside [−1, 1]ⁿ, so that the point stays feasible. */
static void add_rows(struct gen_qp *self, struct rng *rng, uint32_t rows, uint32_t equal,
		     const double *inside)
{
	for (uint32_t r = 0; r < rows; r++) {
		double *row = add_row(self, 0, r < equal);
		for (uint32_t j = 0; j < self->problem.variables; j++)
			row[j] = rng_below(rng, 3) > 0 ? bell(rng) : 0;
		uint32_t k = self->problem.rows - 1;
		self->d[k] = product(self, k, inside);
		if (!self->equal[k] && rng_below(rng, 2) == 0)
			self->d[k] -= rng_range(rng, 0, 2);
	}
}

static void random_point(struct gen_qp *self, struct rng *rng, double *inside)
{
	for (uint32_t i = 0; i < self->problem.variables; i++) {
		inside[i] = rng_range(rng, -1, 1);
		self->c[i] = 3 * bell(rng);
	}
}

/* ---- families ----------------------------------------------------------------------------------- */

static void definite(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double inside[256];
	begin(self, n);
	random_point(self, rng, inside);
	add_squares(self, rng, n);
	for (uint32_t i = 0; i < n; i++)
		self->g[i * n + i] += 0.1;
	add_rows(self, rng, rng_below(rng, 2 * n) + 1, n / 4, inside);
}

static void boxed(struct gen_qp *self, struct rng *rng, uint32_t n, bool linear)
{
	double inside[256];
	begin(self, n);
	random_point(self, rng, inside);
	if (!linear)
		add_squares(self, rng, rng_below(rng, 3) > 0 ? n - 1 : rng_below(rng, n));
	for (uint32_t i = 0; i < n; i++)
		add_bounds(self, i, -2, 2);
	uint32_t rows = rng_below(rng, n) + 1;
	uint32_t equal = rng_below(rng, n / 3 + 1);
	add_rows(self, rng, rows, equal, inside);
}

/* Q diag(10^0 … 10^−k) Qᵀ by Householder reflections. */
static void ill(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double inside[256], v[256], digits = 12 + rng_below(rng, 4);
	begin(self, n);
	random_point(self, rng, inside);
	for (uint32_t i = 0; i < n; i++)
		self->g[i * n + i] = pow(10, -digits * i / (n - 1));
	for (uint32_t mirror = 0; mirror < 3; mirror++) {
		double square = 0;
		for (uint32_t i = 0; i < n; i++) {
			v[i] = bell(rng) + 0.01;
			square += v[i] * v[i];
		}
		for (uint32_t side = 0; side < 2; side++)
			for (uint32_t i = 0; i < n; i++) {
				double sum = 0;
				for (uint32_t j = 0; j < n; j++)
					sum += v[j] * self->g[side ? i * n + j : j * n + i];
				for (uint32_t j = 0; j < n; j++)
					self->g[side ? i * n + j : j * n + i] -=
						2 * sum / square * v[j];
			}
	}
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			self->g[i * n + j] = self->g[j * n + i];
		/* Restores what rounding took from the smallest eigenvalues. */
		self->g[i * n + i] += 1e-15 * n;
	}
	double wide = rng_below(rng, 2) == 0 ? 2 : 1000;
	for (uint32_t i = 0; i < n; i++)
		add_bounds(self, i, -wide, wide);
	uint32_t rows = rng_below(rng, n) + 1;
	uint32_t equal = rng_below(rng, n / 3 + 1);
	add_rows(self, rng, rows, equal, inside);
}

static void scaled(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double by[256];
	definite(self, rng, n);
	for (uint32_t i = 0; i < n; i++)
		by[i] = pow(10, rng_range(rng, -3, 3));
	for (uint32_t i = 0; i < n; i++) {
		self->c[i] *= by[i];
		for (uint32_t j = 0; j <= i; j++) {
			self->g[i * n + j] *= by[i] * by[j];
			self->g[j * n + i] = self->g[i * n + j];
		}
	}
	for (uint32_t k = 0; k < self->problem.rows; k++) {
		double steep = pow(10, rng_range(rng, -3, 3));
		self->d[k] *= steep;
		for (uint32_t j = 0; j < n; j++)
			self->matrix[k * n + j] *= steep * by[j];
	}
}

static void degenerate(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double vertex[256];
	begin(self, n);
	for (uint32_t i = 0; i < n; i++) {
		vertex[i] = whole(rng, 1);
		self->c[i] = whole(rng, 3);
		for (uint32_t j = 0; j < n; j++)
			self->g[i * n + j] = i == j ? 2.0 + (i % 3 == 0) : 0;
	}
	for (uint32_t r = 0; r < 2 * n; r++) {
		double *row = add_row(self, 0, r < n / 5);
		uint32_t k = self->problem.rows - 1, twin = rng_below(rng, 2 * n);
		for (uint32_t j = 0; j < n; j++)
			row[j] = twin < k ? self->matrix[(size_t)twin * n + j] : whole(rng, 2);
		self->d[k] = product(self, k, vertex) - (rng_below(rng, 4) == 0 && !self->equal[k]);
	}
}

static void equations(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double inside[256];
	uint32_t rank = n / 3 + 1;
	begin(self, n);
	add_squares(self, rng, n / 2);
	for (uint32_t i = 0; i < n; i++) {
		inside[i] = rng_below(rng, 3) == 0 ? 0 : rng_double(rng);
		self->c[i] = rng_double(rng);
		add_bounds(self, i, 0, HUGE_VAL);
	}
	uint32_t first = self->problem.rows;
	for (uint32_t r = 0; r < rank + n / 4 + 1; r++) {
		double *row = add_row(self, 0, true);
		for (uint32_t j = 0; j < n; j++)
			row[j] = r < rank ? whole(rng, 3) : 0;
		for (uint32_t f = 0; f < rank && r >= rank; f++) {
			double by = whole(rng, 1);
			for (uint32_t j = 0; j < n; j++)
				row[j] += by * self->matrix[(size_t)(first + f) * n + j];
		}
		/* Multiples of 2^-20: sums of rows stay exact, so dependent rows agree. */
		for (uint32_t i = 0; i < n; i++)
			inside[i] = ldexp(floor(ldexp(inside[i], 20)), -20);
		self->d[self->problem.rows - 1] = product(self, self->problem.rows - 1, inside);
	}
}

static void near(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double inside[256];
	begin(self, n);
	random_point(self, rng, inside);
	add_squares(self, rng, n);
	for (uint32_t i = 0; i < n; i++)
		self->g[i * n + i] += 0.1;
	for (uint32_t pair = 0; pair < n / 2; pair++) {
		double off = pow(10, rng_range(rng, -9, -3)), *one = add_row(self, 0, false);
		double *two = add_row(self, 0, false);
		uint32_t k = self->problem.rows - 2;
		for (uint32_t j = 0; j < n; j++) {
			one[j] = bell(rng);
			two[j] = one[j] + off * bell(rng);
		}
		self->d[k] = product(self, k, inside);
		self->d[k + 1] = product(self, k + 1, inside);
	}
}

/* min Σ (A u − y)² + w Σ t, −t ≤ u ≤ t. */
static void fit(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	uint32_t u = MAX_OF(n / 2, 1);
	double v[256];
	begin(self, 2 * u);
	for (uint32_t sample = 0; sample < u / 2 + 1; sample++) {
		double y = 3 * bell(rng);
		memset(v, 0, sizeof v);
		for (uint32_t i = 0; i < u; i++) {
			v[i] = rng_below(rng, 3) == 0 ? bell(rng) : 0;
			self->c[i] -= y * v[i];
		}
		add_square(self, v, 1);
	}
	for (uint32_t i = 0; i < u; i++) {
		self->c[u + i] = 0.3;
		for (int side = -1; side <= 1; side += 2) {
			double *row = add_row(self, 0, false);
			row[u + i] = 1;
			row[i] = side;
		}
	}
}

/* s' = A s + B a over some steps, |a| ≤ 1: cost on the last state and little on the inputs. */
static void control(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	uint32_t steps = MAX_OF(n / 3, 1);
	double drag = rng_range(rng, 0, 0.2), dt = rng_range(rng, 0.05, 0.5);
	n = 3 * steps;
	if (n > self->variables_max)
		n = 3 * --steps;
	if (steps == 0) {
		definite(self, rng, 2);
		return;
	}
	begin(self, n);
	for (uint32_t t = 0; t < steps; t++) {
		double from[2] = { t == 0 ? bell(rng) : 0, t == 0 ? bell(rng) : 0 };
		double *place = add_row(self, from[0] + dt * from[1], true);
		double *speed = add_row(self, (1 - drag) * from[1], true);
		place[3 * t] = speed[3 * t + 1] = 1;
		speed[3 * t + 2] = -dt;
		if (t > 0) {
			place[3 * t - 3] = -1;
			place[3 * t - 2] = -dt;
			speed[3 * t - 2] = -(1 - drag);
		}
		self->g[(3 * t) * n + 3 * t] = t + 1 == steps ? 100 : rng_below(rng, 2);
		self->g[(3 * t + 2) * n + 3 * t + 2] = 1e-4 * rng_below(rng, 2);
		add_bounds(self, 3 * t + 2, -1, 1);
	}
}

/* ½|w|² + Σ e, e ≥ 0, side (w·p + offset) ≥ 1 − e. */
static void machine(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	uint32_t points = n > 4 ? n - 3 : 1;
	begin(self, points + 3);
	n = points + 3;
	self->g[0] = self->g[n + 1] = 1;
	for (uint32_t p = 0; p < points; p++) {
		double side = p % 2 == 0 ? 1 : -1, *row = add_row(self, 1, false);
		row[0] = side * (bell(rng) + side);
		row[1] = side * bell(rng);
		row[2] = side;
		row[3 + p] = 1;
		self->c[3 + p] = 2;
		add_bounds(self, 3 + p, 0, HUGE_VAL);
	}
}

/* Shares x ≥ 0, Σ x = 1, factors y = F x: xᵀD x + yᵀy − μ·x, D tiny. */
static void shares(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	uint32_t factors = MAX_OF(n / 4, 1), x = n - factors;
	begin(self, n);
	double *sum = add_row(self, 1, true);
	for (uint32_t i = 0; i < n; i++) {
		self->g[i * n + i] = i < x ? 1e-6 * rng_double(rng) : 1;
		self->c[i] = i < x ? -0.1 * rng_double(rng) : 0;
		sum[i] = i < x;
	}
	for (uint32_t f = 0; f < factors; f++) {
		double *row = add_row(self, 0, true);
		row[x + f] = -1;
		for (uint32_t i = 0; i < x; i++)
			row[i] = rng_below(rng, 2) == 0 ? bell(rng) : 0;
	}
	for (uint32_t i = 0; i < x; i++)
		add_bounds(self, i, 0, HUGE_VAL);
}

/* Small integers, and one row that is minus the weighted sum of some others with a right side too
 * large. */
static void infeasible(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double at[256], inside[256];
	begin(self, n);
	add_squares(self, rng, rng_below(rng, n + 1));
	for (uint32_t i = 0; i < n; i++) {
		inside[i] = whole(rng, 2);
		self->c[i] = whole(rng, 3);
	}
	for (uint32_t r = 0; r < n; r++) {
		double *row = add_row(self, 0, rng_below(rng, 5) == 0);
		for (uint32_t j = 0; j < n; j++)
			row[j] = whole(rng, 3);
		self->d[r] = product(self, r, inside) - (self->equal[r] ? 0 : rng_below(rng, 3));
	}
	double *last = add_row(self, 1.0 / (1 << rng_below(rng, 10)), false), gain = 0;
	for (uint32_t r = 0; r < n; r++) {
		at[r] = rng_below(rng, 3) == 0 || r == 0 ? 1.0 + rng_below(rng, 3) : 0;
		for (uint32_t j = 0; j < n; j++)
			last[j] -= at[r] * self->matrix[(size_t)r * n + j];
		gain += at[r] * self->d[r];
	}
	self->d[n] -= gain;
	for (uint32_t k = 0; k <= n; k++) {
		int by = (int)rng_below(rng, 21) - 10;
		self->d[k] = ldexp(self->d[k], by);
		for (uint32_t j = 0; j < n; j++)
			self->matrix[k * n + j] = ldexp(self->matrix[k * n + j], by);
	}
}

/* The last variable has no curvature, its cost decreases, and no row bounds it. */
static void unbounded(struct gen_qp *self, struct rng *rng, uint32_t n)
{
	double inside[256] = { 0 }, v[256];
	begin(self, n);
	random_point(self, rng, inside);
	for (uint32_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < n; i++)
			v[i] = i + 1 < n ? whole(rng, 2) : 0;
		add_square(self, v, 1);
	}
	self->c[n - 1] = -1 - rng_double(rng);
	add_rows(self, rng, n, 0, inside);
	for (uint32_t k = 0; k < self->problem.rows; k++) {
		double *last = &self->matrix[k * n + n - 1];
		self->d[k] -= (*last - fabs(*last)) * inside[n - 1];
		*last = fabs(*last);
	}
}

void gen_qp_random(struct gen_qp *self, enum gen_qp_family family, struct rng *rng, uint32_t size)
{
	uint32_t most = MIN_OF(MIN_OF(size, self->variables_max), 256);
	uint32_t n = 2 + rng_below(rng, most - 1);
	static void (*const plain[GEN_QP_FAMILIES])(struct gen_qp *, struct rng *, uint32_t) = {
		[GEN_QP_DEFINITE] = definite,
		[GEN_QP_ILL] = ill,
		[GEN_QP_SCALED] = scaled,
		[GEN_QP_DEGENERATE] = degenerate,
		[GEN_QP_EQUATIONS] = equations,
		[GEN_QP_NEAR] = near,
		[GEN_QP_FIT] = fit,
		[GEN_QP_CONTROL] = control,
		[GEN_QP_MACHINE] = machine,
		[GEN_QP_SHARES] = shares,
		[GEN_QP_INFEASIBLE] = infeasible,
		[GEN_QP_UNBOUNDED] = unbounded,
	};
	if (plain[family] != NULL)
		plain[family](self, rng, family == GEN_QP_MACHINE ? MAX_OF(n, 4) : n);
	else
		boxed(self, rng, n, family == GEN_QP_LINEAR);
}
