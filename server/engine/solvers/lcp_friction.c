/* lcp_friction.c: Baraff's extension of the pivoting to Coulomb friction: orders of contacts, and the
 * fallback.
 *
 * Rows are driven one after the other until their conditions hold: first joint rows, then contact by
 * contact the normal (its tangents at 0) and each tangent. Rows driven before continue to hold
 * (lcp_friction_drive.c). Tangents of sliding contacts (I-07) are tied to the normal from the start, so
 * only the normal is driven. The pyramid allows √2 μ x_n along its diagonal (I-04); align t with the
 * slip where that matters.
 *
 * No proof exists that a solution exists or that such a method ends. An order fails if it cycles,
 * meets a ray, uses up its pivots, or leaves a residual above the tolerance. The next order has the
 * contact at which this one failed first (every other time: last). If the last order failed on a ray of
 * a sliding contact, that contact is marked as a collision, and the orders start again without it.
 * Otherwise the fallback follows, and is counted: the normals of the previous round fix the friction
 * limits, and the exact solver always solves such a problem with fixed bounds. The fallback repeats
 * until the limits no longer change (its solution is then exact) or its rounds are used up. A round
 * adds no energy, because 0 lies within its bounds; with sliding rows that is not so, hence the energy
 * is checked, and friction is left out if it grew.
 */
#include "server/engine/solvers/lcp_friction.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_wide.h"

/* Default of options.rounds_max. Rounds of the fallback: the first FULL_ROUNDS take the limits from the
 * last normals, the others average them with the limits before, which damps limits that alternate. */
enum { ORDERS_MAX = 6, FULL_ROUNDS = 12, LIMIT_ROUNDS = 80 };

static void carve_friction(struct lcp_friction *self, struct solver_memory *memory, uint32_t rows)
{
	size_t n = rows;
	self->capacity = rows;
	self->a = SOLVER_CARVE(memory, double, n *n);
	self->matrix = SOLVER_CARVE(memory, double, n *n);
	double **vectors[] = {
		&self->b,  &self->friction, &self->scale, &self->x,	&self->w,
		&self->dx, &self->dw,	    &self->right, &self->lower, &self->upper
	};
	for (uint32_t i = 0; i < COUNT_OF(vectors); i++)
		*vectors[i] = SOLVER_CARVE(memory, double, n);
	uint32_t **indices[] = { &self->normal, &self->order, &self->unknown, &self->pivots };
	for (uint32_t i = 0; i < COUNT_OF(indices); i++)
		*indices[i] = SOLVER_CARVE(memory, uint32_t, n);
	self->tie_column = SOLVER_CARVE(memory, uint32_t, n);
	self->tie_row = SOLVER_CARVE(memory, uint32_t, n);
	self->from = SOLVER_CARVE(memory, uint32_t, n);
	self->to = SOLVER_CARVE(memory, uint32_t, n);
	self->tie_value = SOLVER_CARVE(memory, double, n);
	self->kind = SOLVER_CARVE(memory, uint8_t, n);
	self->state = SOLVER_CARVE(memory, uint8_t, n);
	self->lcp_state = SOLVER_CARVE(memory, uint8_t, n);
	self->out = SOLVER_CARVE(memory, uint8_t, n);
	void *inner = SOLVER_CARVE(memory, uint8_t, lcp_dantzig_bytes(rows));
	lcp_dantzig_init(&self->lcp, inner, rows);
}

size_t lcp_friction_bytes(uint32_t rows)
{
	struct lcp_friction self;
	struct solver_memory memory = { 0 };
	carve_friction(&self, &memory, rows);
	return memory.used;
}

void lcp_friction_init(struct lcp_friction *self, void *memory, uint32_t rows)
{
	struct solver_memory carving = { .memory = solver_memory_good(memory) ? memory : NULL };
	carve_friction(self, &carving, rows);
}

static bool friction_is_valid(const struct friction_problem *problem)
{
	if (problem->stride < problem->count)
		return false;
	for (uint32_t i = 0; i < problem->count; i++) {
		bool tangent =
			problem->kind[i] != FRICTION_NORMAL && problem->kind[i] != FRICTION_JOINT;
		if (!solver_finite(problem->a + (size_t)i * problem->stride, problem->count) ||
		    !scalar_is_finite(problem->b[i]) || problem->kind[i] > FRICTION_JOINT)
			return false;
		if (tangent && (i == 0 || problem->kind[i - 1] == FRICTION_JOINT ||
				!(problem->friction[i] >= 0 && problem->friction[i] <= SCALAR_MAX)))
			return false;
	}
	return true;
}

/* 2^k with a 2^2k in [1, 4), if |k| ≤ 400 is enough; 1 if a is not positive. */
static double contact_scale(double a)
{
	double scale = 1;
	for (; a * scale * scale >= 4 && scale > 0x1p-400; scale *= 0.5)
		;
	for (; a > 0 && a * scale * scale < 1 && scale < 0x1p400; scale *= 2)
		;
	return scale;
}

/* All rows of a contact get the scale of its normal, because different scales would change its
 * pyramid. */
static void load_problem(struct lcp_friction *self, const struct friction_problem *problem)
{
	ASSERT(problem->count <= self->capacity);
	ASSERT(problem->stride >= problem->count);
	uint32_t n = problem->count;
	self->count = n;
	for (uint32_t i = 0; i < n; i++) {
		bool own =
			problem->kind[i] == FRICTION_NORMAL || problem->kind[i] == FRICTION_JOINT;
		self->kind[i] = problem->kind[i];
		self->friction[i] = own ? 0 : problem->friction[i];
		self->normal[i] = own ? i : self->normal[i - 1];
		self->scale[i] = own ? contact_scale(problem->a[(size_t)i * problem->stride + i])
				     : self->scale[i - 1];
		self->b[i] = problem->b[i] * self->scale[i];
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++)
			self->a[(size_t)i * n + j] = self->scale[i] * self->scale[j] *
						     problem->a[(size_t)i * problem->stride + j];
	for (uint32_t i = 0; i < n; i++) {
		const double *row = self->a + (size_t)i * n;
		self->from[i] = 0;
		self->to[i] = n;
		while (self->to[i] > 0 && row[self->to[i] - 1] == 0)
			self->to[i]--;
		while (self->from[i] < self->to[i] && row[self->from[i]] == 0)
			self->from[i]++;
	}
}

/* lcp_friction_residual for numbers whose products leave the range of double. */
static double wide_residual(const struct friction_problem *problem, const double *x,
			    const uint8_t *collision)
{
	struct lcp_wide worst = { { 0, 0 }, { 0, 0 } };
	uint32_t normal = 0;
	if (!solver_finite(x, problem->count))
		return __builtin_inf();
	for (uint32_t i = 0; i < problem->count; i++) {
		const double *row = problem->a + (size_t)i * problem->stride;
		uint8_t kind = problem->kind[i];
		wide low = { 0, 0 }, high = { __builtin_inf(), 0 };
		struct lcp_wide_sum sum = lcp_wide_begin(problem->b[i]);
		for (uint32_t j = 0; j < problem->count; j++)
			lcp_wide_add(&sum, row[j], x[j]);
		if (kind == FRICTION_NORMAL || kind == FRICTION_JOINT) {
			normal = i;
			low = kind == FRICTION_JOINT ? wide_negative(high) : low;
		} else {
			wide most = wide_times(wide_of(problem->friction[i]), wide_of(x[normal]));
			low = kind == FRICTION_FORWARD ? most : wide_negative(most);
			high = kind == FRICTION_BACKWARD ? low : most;
		}
		if (wide_less(high, low))
			return __builtin_inf();
		lcp_wide_row(&worst, sum, problem->a[(size_t)normal * (problem->stride + 1)], x[i],
			     low, high, collision == NULL || !collision[normal]);
	}
	return lcp_wide_residual(&worst);
}

double lcp_friction_residual(const struct friction_problem *problem, const double *x, double *w,
			     const uint8_t *collision)
{
	ASSERT(problem->stride >= problem->count);
	double worst = 0, most = 0, root = 1;
	uint32_t normal = 0;
	struct lcp_trust trust = lcp_trust_begin();
	for (uint32_t i = 0; i < problem->count; i++) {
		const double *row = problem->a + (size_t)i * problem->stride;
		uint8_t kind = problem->kind[i];
		double low = 0, high = __builtin_inf(), term = scalar_abs(problem->b[i]);
		w[i] = problem->b[i];
		for (uint32_t j = 0; j < problem->count; j++) {
			w[i] += row[j] * x[j];
			term = scalar_max(term, scalar_abs(row[j] * x[j]));
		}
		if (kind == FRICTION_NORMAL || kind == FRICTION_JOINT) {
			normal = i;
			root = row[i] > 0 ? scalar_sqrt(row[i]) : 1;
			low = kind == FRICTION_JOINT ? -high : 0;
		} else {
			high = problem->friction[i] * x[normal];
			low = kind == FRICTION_FORWARD ? high : -high;
			high = kind == FRICTION_BACKWARD ? low : high;
		}
		double gap =
			scalar_abs(x[i] - scalar_clamp(x[i] - w[i] / (root * root), low, high));
		gap = scalar_is_finite(gap) && low <= high ? gap * root : __builtin_inf();
		if (!scalar_is_finite(gap) || collision == NULL || !collision[normal])
			worst = scalar_max(worst, gap);
		most = scalar_max(most, term / root);
		lcp_trust_row(&trust, root * root, x[i], root);
	}
	if (!lcp_trust_holds(&trust, worst, most))
		return wide_residual(problem, x, collision);
	return worst == 0 ? 0 : worst / most;
}

/* The largest lcp_row_violation, for w = A x + b from lcp_friction_residual. */
static double lcp_friction_violation(const struct friction_problem *problem, const double *x,
				     const double *w, const uint8_t *collision)
{
	ASSERT(problem->stride >= problem->count);
	double worst = 0, inf = __builtin_inf();
	uint32_t normal = 0;
	for (uint32_t i = 0; i < problem->count; i++) {
		uint8_t kind = problem->kind[i];
		double low = kind == FRICTION_NORMAL ? 0 : -inf, high = inf;
		if (kind == FRICTION_NORMAL || kind == FRICTION_JOINT) {
			normal = i;
		} else {
			double limit = problem->friction[i] * x[normal];
			low = kind == FRICTION_FORWARD ? limit : -limit;
			high = kind == FRICTION_BACKWARD ? -limit : limit;
		}
		double a = problem->a[(size_t)normal * problem->stride + normal];
		double off = lcp_row_violation(a, x[i], w[i], low, high);
		if (off == inf || collision == NULL || !collision[normal])
			worst = scalar_max(off, worst);
	}
	return worst;
}

double lcp_friction_energy(const struct friction_problem *problem, const double *x)
{
	ASSERT(problem->stride >= problem->count);
	double energy = 0;
	for (uint32_t i = 0; i < problem->count; i++) {
		double w = dense_dot(problem->a + (size_t)i * problem->stride, x, problem->count);
		energy += x[i] * (0.5 * w + problem->b[i]);
	}
	return energy;
}

/* Drives the contact or joint whose first row is i. False: a row could not be driven. */
static bool resolve_contact(struct lcp_friction *self, uint32_t i)
{
	VALIDATE(self->normal[i] == i);
	VALIDATE(self->state[i] == FRICTION_WAITING);
	double small = 0x1p-42 * lcp_friction_size(self);
	bool joint = self->kind[i] == FRICTION_JOINT;
	uint32_t end = i + 1;
	while (end < self->count && self->normal[end] == i)
		end++;
	if (joint ? scalar_abs(self->w[i]) <= small : self->w[i] >= -small) {
		self->state[i] = joint ? FRICTION_HELD : FRICTION_OFF;
		for (uint32_t t = i + 1; t < end; t++)
			self->state[t] = FRICTION_OFF;
		return true;
	}
	if (!lcp_friction_drive(self, i))
		return false;
	for (uint32_t t = i + 1; t < end; t++) {
		if (self->state[i] == FRICTION_OFF)
			self->state[t] = FRICTION_OFF;
		if (self->state[t] != FRICTION_WAITING || self->kind[t] != FRICTION_STATIC)
			continue;
		if (scalar_abs(self->w[t]) <= small)
			self->state[t] = FRICTION_HELD;
		else if (!lcp_friction_drive(self, t))
			return false;
	}
	return true;
}

/* Rounding leaves x slightly outside its bounds. */
static void clamp_to_bounds(struct lcp_friction *self)
{
	for (uint32_t i = 0; i < self->count; i++) {
		if (self->kind[i] == FRICTION_NORMAL)
			self->x[i] = scalar_max(self->x[i], 0);
		if (self->kind[i] != FRICTION_STATIC)
			continue;
		double limit = self->friction[i] * self->x[self->normal[i]];
		VALIDATE(!(limit < 0));
		self->x[i] = scalar_clamp(self->x[i], -limit, limit);
	}
}

static void copy_solution(const struct lcp_friction *self, double *x)
{
	for (uint32_t i = 0; i < self->count; i++)
		x[i] = self->x[i] * self->scale[i];
}

/* Drives all contacts in the present order; true if all conditions hold. */
static bool attempt_order(struct lcp_friction *self, const struct friction_problem *problem,
			  const struct solver_options *options, double *x, uint8_t *out)
{
	ASSERT(self->order_count <= self->count);
	self->pivots_max = self->result.pivots +
			   (options->pivots_max > 0 ? options->pivots_max : 20 * self->count + 100);
	self->result.status = SOLVER_SOLVED;
	self->stuck = UINT32_MAX;
	for (uint32_t i = 0; i < self->count; i++) {
		self->state[i] = out[self->normal[i]] ? FRICTION_OUT : FRICTION_WAITING;
		self->x[i] = 0;
		self->w[i] = self->b[i];
	}
	for (uint32_t c = 0; c < self->order_count; c++)
		if (self->state[self->order[c]] == FRICTION_WAITING &&
		    !resolve_contact(self, self->order[c]))
			return false;
	lcp_friction_correct(self);
	clamp_to_bounds(self);
	copy_solution(self, x);
	self->result.residual = lcp_friction_residual(problem, x, self->w, out);
	return self->result.residual <= options->tolerance;
}

/* Joints, then contacts, by index. */
static void begin_order(struct lcp_friction *self)
{
	self->order_count = 0;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < self->count; i++)
			if (self->kind[i] == (pass == 0 ? FRICTION_JOINT : FRICTION_NORMAL))
				self->order[self->order_count++] = i;
}

/* Moves the contact that failed to the front of the contacts (odd rounds: to the back). If no contact
 * failed, reverses the order. */
static void change_order(struct lcp_friction *self, uint32_t round)
{
	uint32_t *order = self->order, count = self->order_count, joints = 0, at = 0;
	while (joints < count && self->kind[order[joints]] == FRICTION_JOINT)
		joints++;
	while (at < count && order[at] != self->stuck)
		at++;
	if (at == count || at < joints) {
		for (uint32_t i = joints, j = count; i + 1 < j; i++) {
			uint32_t swap = order[i];
			order[i] = order[--j];
			order[j] = swap;
		}
		return;
	}
	ASSERT(at >= joints && at < count);
	uint32_t moved = order[at];
	for (; round % 2 == 0 && at > joints; at--)
		order[at] = order[at - 1];
	for (; round % 2 == 1 && at + 1 < count; at++)
		order[at] = order[at + 1];
	order[at] = moved;
}

/* Sets the fixed friction limits of the fallback: `share` × those of the present normals + (1 − share) ×
 * the limits before; share 0: no friction. Returns the largest change of a limit. */
static double set_limits(struct lcp_friction *self, const uint8_t *out, double share)
{
	ASSERT(share >= 0 && share <= 1);
	double change = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		double before = self->upper[i];
		double limit = self->friction[i] * self->x[self->normal[i]];
		limit = share * limit + (1 - share) * (share > 0 ? scalar_abs(before) : 0);
		bool closed = out[self->normal[i]] || self->kind[i] == FRICTION_STATIC ||
			      self->kind[i] == FRICTION_FORWARD ||
			      self->kind[i] == FRICTION_BACKWARD;
		self->upper[i] = closed ? limit : __builtin_inf();
		if (out[self->normal[i]] || self->kind[i] == FRICTION_BACKWARD)
			self->upper[i] = out[self->normal[i]] ? 0 : -limit;
		self->lower[i] = self->kind[i] == FRICTION_JOINT    ? -self->upper[i]
				 : self->kind[i] == FRICTION_STATIC ? -self->upper[i]
				 : closed			    ? self->upper[i]
								    : 0;
		if (closed)
			change = scalar_max(change, scalar_abs(self->upper[i] - before));
	}
	return change;
}

/* The fallback of the head: rounds with fixed friction limits, into x and self->result. */
static void solve_fixed_limits(struct lcp_friction *self, const struct friction_problem *problem,
			       const struct solver_options *options, double *x, uint8_t *out)
{
	ASSERT(self->count <= self->capacity);
	struct lcp_problem bounded = { self->count, self->count, self->a,
				       self->b,	    self->lower, self->upper };
	struct solver_options inner = *options;
	self->result.fallbacks = 1;
	dense_zero(self->x, self->count);
	dense_zero(self->upper, self->count);
	(void)set_limits(self, out, 0);
	inner.warm = false;
	for (uint32_t round = 0; round < LIMIT_ROUNDS; round++) {
		struct solver_result one =
			lcp_dantzig_solve(&self->lcp, &bounded, &inner, self->x, self->lcp_state);
		self->result.pivots += one.pivots;
		inner.warm = true;
		copy_solution(self, x);
		self->result.residual = lcp_friction_residual(problem, x, self->w, out);
		if (self->result.residual <= options->tolerance)
			break;
		if (round + 1 < LIMIT_ROUNDS &&
		    set_limits(self, out, round < FULL_ROUNDS ? 1 : 0.5) == 0)
			break;
	}
	self->result.status =
		self->result.residual <= options->tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	if (lcp_friction_energy(problem, x) <= 0)
		return;
	(void)set_limits(self, out, 0);
	(void)lcp_dantzig_solve(&self->lcp, &bounded, &inner, self->x, self->lcp_state);
	copy_solution(self, x);
	self->result.residual = lcp_friction_residual(problem, x, self->w, out);
	self->result.status = SOLVER_INEXACT;
}

/* Whether a tangent of the contact is FORWARD or BACKWARD. */
static bool contact_slides(const struct lcp_friction *self, uint32_t normal)
{
	ASSERT(normal < self->count);
	for (uint32_t t = normal + 1; t < self->count && self->normal[t] == normal; t++)
		if (self->kind[t] == FRICTION_FORWARD || self->kind[t] == FRICTION_BACKWARD)
			return true;
	return false;
}

/* The orders of the head, then the fallback. out: contacts that are collisions. */
static void solve_orders(struct lcp_friction *self, const struct friction_problem *problem,
			 const struct solver_options *options, double *x, uint8_t *out)
{
	uint32_t orders = options->rounds_max > 0 ? options->rounds_max : ORDERS_MAX;
	for (uint32_t left = self->count + 1; left > 0; left--) {
		begin_order(self);
		for (uint32_t round = 0; round < orders; round++) {
			self->result.rounds++;
			if (attempt_order(self, problem, options, x, out))
				return;
			change_order(self, round);
		}
		if (self->stuck == UINT32_MAX || !self->ray || !contact_slides(self, self->stuck))
			break;
		out[self->stuck] = 1;
	}
	solve_fixed_limits(self, problem, options, x, out);
}

struct solver_result lcp_friction_solve(struct lcp_friction *self,
					const struct friction_problem *problem,
					const struct solver_options *options, double *x,
					uint8_t *collision)
{
	dense_zero(x, problem->count);
	for (uint32_t i = 0; collision != NULL && i < problem->count; i++)
		collision[i] = 0;
	if (self->lcp.certificate == NULL || problem->count > self->capacity ||
	    !friction_is_valid(problem))
		return solver_invalid();
	const struct solver_options used = solver_options_used(options);
	uint8_t *out = collision != NULL ? collision : self->out;
	self->result = (struct solver_result){ .residual = __builtin_inf() };
	load_problem(self, problem);
	for (uint32_t i = 0; i < self->count; i++)
		out[i] = 0;
	solve_orders(self, problem, &used, x, out);
	self->result.violation = lcp_friction_violation(problem, x, self->w, out);
	return self->result;
}
