/* gen_sparse.c: complementarity problems over bodies. */
#include "tests/lib/gen_sparse.h"

#include <math.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/engine/math/double_double.h"

static void rotate(double v[3], const double turn[3][3])
{
	double out[3];
	for (uint32_t i = 0; i < 3; i++)
		out[i] = turn[i][0] * v[0] + turn[i][1] * v[1] + turn[i][2] * v[2];
	memcpy(v, out, sizeof out);
}

/* Rotates everything that has a direction. A brick's inertia differs about its long axis, so
 * contacts are rotated and the inertia becomes that of a ball. */
static void tilt_scene(struct gen_scene *self, double angle)
{
	double c = cos(angle), s = sin(angle);
	double turn[3][3] = { { c, -s, 0 }, { c * s, c * c, -s }, { s * s, s * c, c } };
	for (uint32_t k = 0; k < self->contacts; k++)
		for (uint32_t d = 0; d < 6; d++) {
			double *row = self->contact[k].row[d / 2][d % 2];
			rotate(row, turn);
			rotate(row + 3, turn);
		}
	for (uint32_t i = 0; i < self->bodies; i++)
		rotate(self->velocity[i], turn);
}

static const double side_axes[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const double top_axes[3][3] = { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } };

/* Corners of the overlap between `above` and `below`. */
static void lay(struct gen_scene *self, uint32_t points, int32_t above, const double *ca,
		int32_t below, const double *cb)
{
	double left = ca[0] - 1, right = ca[0] + 1;
	if (below != GEN_GROUND) {
		left = fmax(left, cb[0] - 1);
		right = fmin(right, cb[0] + 1);
	}
	for (uint32_t c = 0; c < points; c++) {
		double z = points == 4 ? (c & 2 ? 0.5 : -0.5) : 0;
		double point[3] = { c & 1 ? right : left, ca[1] - 0.5, z };
		gen_scene_touch(self, point, top_axes, above, ca, below, cb);
	}
}

static void lean(struct gen_scene *self, uint32_t points, int32_t right, const double *cr,
		 int32_t left, const double *cl)
{
	for (uint32_t c = 0; c < points; c++) {
		double z = points == 4 ? (c & 2 ? 0.5 : -0.5) : 0;
		double point[3] = { cr[0] - 1, cr[1] + (c & 1 ? 0.5 : -0.5), z };
		gen_scene_touch(self, point, side_axes, right, cr, left, cl);
	}
}

struct gen_scene gen_bond_wall(uint32_t bricks, uint32_t wide, uint32_t points, double tilt)
{
	struct gen_scene self = gen_scene_make(bricks, 3 * points * bricks);
	uint32_t first = 0, below = 0, below_count = 0;
	for (uint32_t course = 0; first < bricks; course++) {
		uint32_t count = MIN_OF(wide - course % 2, bricks - first);
		for (uint32_t i = 0; i < count; i++) {
			int32_t brick = (int32_t)(first + i);
			double here[3] = { 2.0 * i + course % 2, 0.5 + course, 0 };
			double beside[3] = { here[0] - 2, here[1], 0 };
			double box[6] = { 1, 1, 1, 6, 2.4, 2.4 };
			memcpy(self.mass_inv[brick], box, sizeof box);
			if (points == 2)
				self.mass_inv[brick][2] = self.mass_inv[brick][3] =
					self.mass_inv[brick][4] = 0;
			if (tilt != 0)
				self.mass_inv[brick][3] = self.mass_inv[brick][4] =
					self.mass_inv[brick][5] = 3;
			if (course == 0)
				lay(&self, points, brick, here, GEN_GROUND, NULL);
			for (uint32_t j = 0; course > 0 && j < below_count; j++) {
				double under[3] = { 2.0 * j + (course + 1) % 2, here[1] - 1, 0 };
				if (fabs(under[0] - here[0]) < 1.5)
					lay(&self, points, brick, here, (int32_t)(below + j),
					    under);
			}
			if (i > 0)
				lean(&self, points, brick, here, brick - 1, beside);
		}
		below = first;
		below_count = count;
		first += count;
	}
	gen_scene_fall(&self, NULL, 0);
	if (tilt != 0)
		tilt_scene(&self, tilt);
	return self;
}

static struct gen_sparse make(uint32_t rows, uint32_t bodies, uint32_t entries)
{
	struct gen_sparse out = { 0 };
	out.start = heap_alloc_zero((rows + (size_t)1) * sizeof *out.start);
	out.body = heap_alloc_zero((entries + (size_t)1) * sizeof *out.body);
	out.jacobian = heap_alloc_zero((entries + (size_t)1) * sizeof *out.jacobian);
	out.mass_inv = heap_alloc_zero((bodies + (size_t)1) * sizeof *out.mass_inv);
	out.b = heap_alloc_zero(4 * ((size_t)rows + 1) * sizeof *out.b);
	ASSERT(out.start != NULL && out.body != NULL && out.jacobian != NULL && out.b != NULL &&
	       out.mass_inv != NULL);
	out.lower = out.b + rows + 1;
	out.upper = out.lower + rows + 1;
	out.compliance = out.upper + rows + 1;
	out.problem = (struct lcp_sparse_problem){
		.rows = rows,
		.bodies = bodies,
		.start = out.start,
		.body = out.body,
		.jacobian = (const double(*)[LCP_BODY])out.jacobian,
		.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])out.mass_inv,
		.b = out.b,
		.lower = out.lower,
		.upper = out.upper,
		.compliance = out.compliance,
	};
	return out;
}

struct gen_sparse gen_scene_sparse(const struct gen_scene *self, uint32_t directions)
{
	uint32_t rows = self->contacts * directions, entries = 0;
	struct gen_sparse out = make(rows, self->bodies, 2 * rows);
	for (uint32_t k = 0; k < self->bodies; k++)
		for (uint32_t c = 0; c < LCP_BODY; c++)
			out.mass_inv[k][c][c] = self->mass_inv[k][c];
	for (uint32_t i = 0; i < rows; i++) {
		const struct gen_contact *contact = &self->contact[i / directions];
		out.start[i] = entries;
		out.upper[i] = __builtin_inf();
		for (uint32_t s = 0; s < 2; s++) {
			const double *row = contact->row[i % directions][s];
			if (contact->body[s] == GEN_GROUND)
				continue;
			for (uint32_t c = 0; c < LCP_BODY; c++)
				out.b[i] += row[c] * self->velocity[contact->body[s]][c];
			out.body[entries] = (uint32_t)contact->body[s];
			memcpy(out.jacobian[entries++], row, sizeof out.jacobian[0]);
		}
	}
	out.start[rows] = entries;
	return out;
}

struct friction_sparse_problem gen_sparse_rough(const struct gen_sparse *self, double mu,
						uint8_t *kind, double *friction)
{
	for (uint32_t i = 0; i < self->problem.rows; i++) {
		kind[i] = i % 3 == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
		friction[i] = mu;
	}
	struct friction_sparse_problem out = { self->problem, kind, friction };
	out.rows.lower = out.rows.upper = NULL;
	return out;
}

struct gen_scene gen_random_contacts(struct rng *rng, uint32_t bodies, uint32_t contacts)
{
	static const double axes[3][3] = { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } };
	struct gen_scene self = gen_scene_make(1 + rng_below(rng, bodies), contacts);
	uint32_t count = 1 + rng_below(rng, contacts);
	double centre[64][3];
	ASSERT(bodies <= COUNT_OF(centre));
	for (uint32_t i = 0; i < self.bodies; i++)
		for (uint32_t k = 0; k < 6; k++) {
			self.mass_inv[i][k] = k < 3 ? 1 : rng_range(rng, 1, 6);
			self.velocity[i][k] = rng_range(rng, -1, 1) - (k == 1);
			centre[i][k % 3] = rng_range(rng, -1, 1);
		}
	for (uint32_t c = 0; c < count; c++) {
		uint32_t first = rng_below(rng, self.bodies),
			 second = rng_below(rng, self.bodies + 1), turn = rng_below(rng, 3);
		bool ground = second == self.bodies || second == first;
		double point[3], turned[3][3];
		for (uint32_t k = 0; k < 3; k++) {
			point[k] = rng_range(rng, -1, 1);
			memcpy(turned[k], axes[(k + turn) % 3], sizeof turned[k]);
		}
		gen_scene_touch(&self, point, turned, (int32_t)first, centre[first],
				ground ? GEN_GROUND : (int32_t)second,
				ground ? NULL : centre[second]);
	}
	return self;
}

/* ---- random ------------------------------------------------------------------------------------
 */

const char *gen_sparse_family_name(enum gen_sparse_family family)
{
	static const char *const names[] = { "definite", "redundant", "integer",   "boxed",
					     "joints",	 "ratio",     "near",	   "many",
					     "empty",	 "any",	      "infeasible" };
	_Static_assert(COUNT_OF(names) == GEN_SPARSE_FAMILIES, "a name for each");
	return names[family];
}

static double number(struct rng *rng, enum gen_sparse_family family)
{
	if (family == GEN_SPARSE_INTEGER)
		return (double)rng_below(rng, 5) - 2;
	double first = rng_range(rng, -1, 1);
	return first + rng_range(rng, -1, 1);
}

/* Half of the bodies have coupled axes. */
static void set_mass(struct gen_sparse *self, uint32_t k, struct rng *rng,
		     enum gen_sparse_family family)
{
	double root[LCP_BODY][LCP_BODY] = { { 0 } };
	bool coupled = family != GEN_SPARSE_INTEGER && rng_below(rng, 2) == 0;
	double scale = family == GEN_SPARSE_RATIO ? pow(10, -rng_range(rng, 0, 4)) : 1;
	if (family == GEN_SPARSE_EMPTY && rng_below(rng, 3) == 0)
		scale = 0;
	for (uint32_t r = 0; r < LCP_BODY; r++)
		for (uint32_t c = 0; c <= r; c++)
			root[r][c] = scale * (r == c ? 1 : coupled ? rng_range(rng, -0.5, 0.5) : 0);
	for (uint32_t r = 0; r < LCP_BODY; r++)
		for (uint32_t c = 0; c <= r; c++) {
			double sum = 0;
			for (uint32_t i = 0; i <= c; i++)
				sum += root[r][i] * root[c][i];
			self->mass_inv[k][r][c] = self->mass_inv[k][c][r] = sum;
		}
}

static void set_bounds(struct gen_sparse *self, uint32_t i, struct rng *rng,
		       enum gen_sparse_family family)
{
	uint32_t kind = rng_below(rng, 5);
	double span = rng_double(rng), infinite = __builtin_inf();
	self->lower[i] = 0;
	self->upper[i] = infinite;
	if (family == GEN_SPARSE_JOINTS && kind < 3)
		self->lower[i] = -infinite;
	if (family != GEN_SPARSE_BOXED)
		return;
	double low[] = { 0, -span, -infinite, -span, 0.3 };
	double high[] = { span, span, 0, infinite, 0.3 + span * (span > 0.2) };
	self->lower[i] = low[kind];
	self->upper[i] = high[kind];
}

/* Row i acts on `count` bodies, or copies an earlier row exactly or nearly. */
static uint32_t set_row(struct gen_sparse *self, uint32_t i, uint32_t entries, uint32_t count,
			struct rng *rng, enum gen_sparse_family family)
{
	uint32_t twin = rng_below(rng, i + 3);
	bool copy = twin < i && (family == GEN_SPARSE_REDUNDANT || family == GEN_SPARSE_INTEGER ||
				 family == GEN_SPARSE_NEAR || family == GEN_SPARSE_RATIO);
	double apart = family == GEN_SPARSE_NEAR ? pow(10, -rng_range(rng, 4, 10)) : 0;
	self->start[i] = entries;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t from = copy ? self->start[twin] + k : entries + k;
		if (copy && from >= self->start[twin + 1])
			break;
		self->body[entries + k] =
			copy ? self->body[from] : rng_below(rng, self->problem.bodies);
		for (uint32_t c = 0; c < LCP_BODY; c++) {
			double fresh = number(rng, family);
			self->jacobian[entries + k][c] =
				copy ? self->jacobian[from][c] + apart * fresh : fresh;
		}
		self->start[i + 1] = entries + k + 1;
	}
	self->start[i + 1] = MAX_OF(self->start[i + 1], entries);
	return self->start[i + 1];
}

/* b = −J u for some u, which is therefore feasible; some rows with slack. */
static void set_b(struct gen_sparse *self, struct rng *rng, enum gen_sparse_family family)
{
	double u[64][LCP_BODY];
	for (uint32_t k = 0; k < self->problem.bodies; k++)
		for (uint32_t c = 0; c < LCP_BODY; c++)
			u[k][c] = number(rng, family);
	for (uint32_t i = 0; i < self->problem.rows; i++) {
		double sum = 0;
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++)
			for (uint32_t r = 0; r < LCP_BODY; r++)
				for (uint32_t c = 0; c < LCP_BODY; c++)
					sum += self->jacobian[p][r] *
					       self->mass_inv[self->body[p]][r][c] *
					       u[self->body[p]][c];
		bool one_sided = self->lower[i] >= 0 && self->upper[i] > 1e300;
		self->b[i] = family >= GEN_SPARSE_ANY ? number(rng, family) : -sum;
		if (family < GEN_SPARSE_ANY && one_sided && rng_below(rng, 3) == 0)
			self->b[i] += family == GEN_SPARSE_INTEGER ? 1 : rng_double(rng);
	}
}

/* The last row balances the others: J_last = −Σ z_i J_i / z_last, exactly, and b demands that all
 * approach. */
static void balance(struct gen_sparse *self, struct rng *rng)
{
	uint32_t last = self->problem.rows - 1, bodies = self->problem.bodies;
	uint32_t first = self->start[last];
	for (uint32_t k = 0; k < bodies; k++) {
		self->body[first + k] = k;
		memset(self->jacobian[first + k], 0, sizeof self->jacobian[0]);
	}
	for (uint32_t i = 0; i < last; i++) {
		double z = 1 + rng_below(rng, 3);
		self->b[i] = -(double)rng_below(rng, 3);
		for (uint32_t p = self->start[i]; p < self->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++) {
				self->jacobian[p][c] = (double)rng_below(rng, 9) - 4;
				self->jacobian[first + self->body[p]][c] -=
					z * self->jacobian[p][c];
			}
	}
	self->start[last + 1] = first + bodies;
	self->b[last] = -1;
}

struct gen_sparse gen_sparse_random(enum gen_sparse_family family, struct rng *rng,
				    uint32_t rows_max)
{
	uint32_t rows = 1 + rng_below(rng, rows_max), entries = 0;
	uint32_t bodies = 1 + rng_below(rng, 1 + rows / (family == GEN_SPARSE_DEFINITE ? 2 : 4));
	if (family == GEN_SPARSE_EMPTY) {
		rows = rng_below(rng, 4);
		bodies = rng_below(rng, 3);
	}
	uint32_t most = family == GEN_SPARSE_MANY ? 5 : 2;
	struct gen_sparse self = make(rows, bodies, most * rows + bodies);
	for (uint32_t k = 0; k < bodies; k++)
		set_mass(&self, k, rng, family);
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t count = 1 + rng_below(rng, most);
		if (family == GEN_SPARSE_EMPTY)
			count = bodies == 0 ? 0 : rng_below(rng, 2);
		entries = set_row(&self, i, entries, count, rng, family);
		set_bounds(&self, i, rng, family);
		self.compliance[i] = family == GEN_SPARSE_DEFINITE ? 0.1 : 0;
	}
	set_b(&self, rng, family);
	if (family == GEN_SPARSE_INFEASIBLE)
		balance(&self, rng);
	return self;
}

/* ---- residuals ------------------------------------------------------------------------------------
 */

static double diagonal_of(const struct lcp_sparse_problem *problem, uint32_t i)
{
	double sum = problem->compliance != NULL ? problem->compliance[i] : 0;
	for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
		for (uint32_t q = problem->start[i]; q < problem->start[i + 1]; q++)
			for (uint32_t k = 0;
			     k < LCP_BODY * LCP_BODY && problem->body[p] == problem->body[q]; k++)
				sum += problem->jacobian[p][k / LCP_BODY] *
				       problem->mass_inv[problem->body[p]][k / LCP_BODY]
							[k % LCP_BODY] *
				       problem->jacobian[q][k % LCP_BODY];
	return sum;
}

static double row_size(const struct lcp_sparse_problem *problem, uint32_t i)
{
	double most = 0;
	for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
		for (uint32_t c = 0; c < LCP_BODY; c++)
			most = fmax(most, fabs(problem->jacobian[p][c]));
	return most > 0 ? most : 1;
}

static double low_of(const struct lcp_sparse_problem *problem, uint32_t i)
{
	return problem->lower != NULL ? problem->lower[i] : 0;
}

static double high_of(const struct lcp_sparse_problem *problem, uint32_t i)
{
	return problem->upper != NULL ? problem->upper[i] : __builtin_inf();
}

/* Jᵀ z by body. */
static void gather(const struct lcp_sparse_problem *problem, const double *z,
		   double2 (*out)[LCP_BODY], double *most)
{
	memset(out, 0, problem->bodies * sizeof *out);
	memset(most, 0, problem->bodies * sizeof *most);
	for (uint32_t i = 0; i < problem->rows; i++)
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++) {
				double2 *to = &out[problem->body[p]][c];
				*to = double2_add(*to,
						  double2_product(problem->jacobian[p][c], z[i]));
				most[problem->body[p]] = fmax(most[problem->body[p]],
							      fabs(problem->jacobian[p][c] * z[i]));
			}
}

double gen_sparse_residual(const struct lcp_sparse_problem *problem, const double *x,
			   const double (*v)[LCP_BODY])
{
	double worst = 0, size = 0, apart = 0;
	double2(*force)[LCP_BODY] = heap_alloc((problem->bodies + (size_t)1) * sizeof *force);
	double *most = heap_alloc((problem->bodies + (size_t)1) * sizeof *most);
	ASSERT(force != NULL && most != NULL);
	for (uint32_t i = 0; i < problem->rows; i++) {
		double unit = row_size(problem, i), a = diagonal_of(problem, i);
		double low = low_of(problem, i), high = high_of(problem, i);
		double hold = low > 0 ? low : high < 0 ? -high : 0;
		double soft = problem->compliance != NULL ? problem->compliance[i] : 0;
		double2 w = double2_add_double(double2_product(soft, x[i]), problem->b[i]);
		for (uint32_t p = problem->start[i]; p < problem->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++)
				w = double2_add(w, double2_product(problem->jacobian[p][c],
								   v[problem->body[p]][c]));
		a = a > 0 ? a : 1;
		double gap = fmax(fmin(w.hi, (x[i] - low) * a), (x[i] - high) * a);
		worst = fmax(worst, fabs(gap) / unit);
		size = fmax(size, fmax(fabs(problem->b[i]), hold * a) / unit);
	}
	gather(problem, x, force, most);
	for (uint32_t k = 0; k < problem->bodies; k++) {
		double gap = 0, term = 0;
		for (uint32_t r = 0; r < LCP_BODY; r++) {
			double2 sum = { -v[k][r], 0 };
			for (uint32_t c = 0; c < LCP_BODY; c++) {
				double m = problem->mass_inv[k][r][c];
				sum = double2_add(sum, double2_mul_double(force[k][c], m));
				term = fmax(term, fabs(m) * most[k]);
			}
			gap = fmax(gap, fabs(sum.hi));
		}
		if (gap > 0)
			apart = fmax(apart, gap / fmax(size, term));
	}
	heap_free(force);
	heap_free(most);
	return fmax(worst > 0 ? worst / size : 0, apart);
}

double gen_friction_residual(const struct friction_sparse_problem *problem, const double *x,
			     const double (*v)[LCP_BODY])
{
	struct lcp_sparse_problem rows = problem->rows;
	double *lower = heap_alloc((rows.rows + (size_t)1) * sizeof *lower), normal = 0,
	       inf = __builtin_inf();
	double *upper = heap_alloc((rows.rows + (size_t)1) * sizeof *upper);
	ASSERT(lower != NULL && upper != NULL);
	for (uint32_t i = 0; i < rows.rows; i++) {
		uint8_t kind = problem->kind[i];
		bool joint = kind == FRICTION_JOINT;
		if (kind == FRICTION_NORMAL || joint) {
			normal = joint ? 0 : x[i];
			lower[i] = !joint ? 0 : rows.lower != NULL ? rows.lower[i] : -inf;
			upper[i] = !joint ? inf : rows.upper != NULL ? rows.upper[i] : inf;
			continue;
		}
		double limit = problem->friction[i] * fmax(normal, 0);
		lower[i] = kind == FRICTION_FORWARD ? limit : -limit;
		upper[i] = kind == FRICTION_BACKWARD ? -limit : limit;
	}
	rows.lower = lower;
	rows.upper = upper;
	/* The result is rounded, so a limit counts as met up to its own last bits. */
	double *met = heap_alloc((rows.rows + (size_t)1) * sizeof *met);
	ASSERT(met != NULL);
	for (uint32_t i = 0; i < rows.rows; i++) {
		bool tangent = isfinite(upper[i]) && isfinite(lower[i]);
		double slack = tangent ? 0x1p-50 * fmax(fabs(lower[i]), fabs(upper[i])) : 0;
		met[i] = fabs(x[i] - lower[i]) <= slack	  ? lower[i]
			 : fabs(x[i] - upper[i]) <= slack ? upper[i]
							  : x[i];
	}
	double residual = gen_sparse_residual(&rows, met, v);
	heap_free(met);
	heap_free(lower);
	heap_free(upper);
	return residual;
}

bool gen_sparse_proves(const struct lcp_sparse_problem *problem, const double *z)
{
	double2 fall = { 0, 0 }, curve = { 0, 0 };
	double2(*force)[LCP_BODY] = heap_alloc((problem->bodies + (size_t)1) * sizeof *force);
	double *most = heap_alloc((problem->bodies + (size_t)1) * sizeof *most), size = 0;
	bool good = true;
	ASSERT(force != NULL && most != NULL);
	for (uint32_t i = 0; i < problem->rows; i++) {
		bool up = high_of(problem, i) > 1e308, down = low_of(problem, i) < -1e308;
		bool soft = problem->compliance != NULL && problem->compliance[i] > 0;
		good = good && isfinite(z[i]) && (z[i] <= 0 || up) && (z[i] >= 0 || down) &&
		       (z[i] == 0 || !soft);
		fall = double2_add(fall, double2_product(problem->b[i], z[i]));
		double a = diagonal_of(problem, i);
		size = fmax(size, fabs(problem->b[i]) / sqrt(a > 0 ? a : 1));
	}
	gather(problem, z, force, most);
	for (uint32_t k = 0; k < problem->bodies; k++)
		for (uint32_t r = 0; r < LCP_BODY; r++)
			for (uint32_t c = 0; c < LCP_BODY; c++)
				curve = double2_add(
					curve,
					double2_mul_double(double2_mul(force[k][r], force[k][c]),
							   problem->mass_inv[k][r][c]));
	heap_free(force);
	heap_free(most);
	/* Diagonals in the solver's units lie in [1/2, 2); the margin covers the choice of units. */
	return good && fall.hi < 0 && -fall.hi >= 0x1p42 * size * sqrt(fmax(curve.hi, 0));
}

void gen_sparse_release(struct gen_sparse *self)
{
	heap_free(self->start);
	heap_free(self->body);
	heap_free(self->jacobian);
	heap_free(self->mass_inv);
	heap_free(self->b);
}

void gen_solver_init(struct gen_solver *self, const struct lcp_sparse_problem *problem)
{
	struct lcp_sparse_size size = lcp_sparse_size_of(problem);
	size_t blocks = 0;
	self->memory = NULL;
	for (uint32_t pass = 0; pass < 2; pass++) {
		heap_free(self->memory);
		self->memory = heap_alloc_aligned(lcp_sparse_bytes(size));
		ASSERT(self->memory != NULL);
		lcp_sparse_init(&self->solver, self->memory, size);
		if (lcp_sparse_order(&self->solver, problem, &blocks) != SOLVER_LIMIT)
			break;
		size.blocks = blocks;
	}
}

void gen_solver_release(struct gen_solver *self)
{
	heap_free(self->memory);
}

double gen_sparse_energy(const struct friction_sparse_problem *problem, const double *x,
			 const double (*v)[LCP_BODY])
{
	const struct lcp_sparse_problem *rows = &problem->rows;
	double energy = 0;
	for (uint32_t i = 0; i < rows->rows; i++) {
		double w = rows->compliance != NULL ? rows->compliance[i] * x[i] : 0;
		for (uint32_t p = rows->start[i]; p < rows->start[i + 1]; p++)
			for (uint32_t c = 0; c < LCP_BODY; c++)
				w += rows->jacobian[p][c] * v[rows->body[p]][c];
		energy += x[i] * (0.5 * w + rows->b[i]);
	}
	return energy;
}
