/* impulse.c: simultaneous impulses of all collisions of a problem.
 *
 * Unknown P_c = (P_n, P_t, P_k) of every contact; velocities after U = u + A P. The book's rows:
 *
 *   normal     U_n = −e u_n          (u_n < 0; else U_n = 0, a touching contact)
 *   tangent    sliding:  P_a = −sign(u_a) μ_a P_n        sticking:  U_a = 0
 *   released   P = 0, U_n ≥ −e u_n
 *
 * 1. Cases (ch. 4 I2 to I5). Each contact is first classified by itself with the critical coefficient
 *    (I3: |μ_a| < |μ_a crit| slides; magnitudes, because the signs are those of u_a/u_n; an axis without
 *    friction slides with no impulse, an axis without slip sticks); a contact with u_n ≥ 0 is released.
 *    After each solution the cases are corrected: a contact with a negative impulse, or one that
 *    separates faster than −e u_n, is released; a released contact that separates too slowly gets an
 *    impulse; an axis that sticks beyond its friction limit slides against its friction; an axis whose
 *    slip has reversed sticks. Each of the first ROUNDS_ALL rounds corrects all cases; each of the
 *    next ROUNDS_SINGLE corrects only the first, because single corrections cycle less. Redundant
 *    contacts make singular systems; any of their solutions is valid (lu_solve_ranked). If cases still
 *    change after the last round, the book's method has no answer.
 * 2. Complementarity, which nearly always has a solution: P_n ≥ 0 ⟂ U_n + e u_n ≥ 0, and |P_a| ≤ μ_a P_n
 *    with U_a = 0 inside and against P_a at the limit (lcp_friction.h; redundant rows are allowed; an
 *    inexact solution shows in the residual).
 * 3. Both again with e = 0. Friction and unequal restitutions can add energy; with e = 0,
 *    ΔE = P·U − ½ PᵀAP ≤ 0, because P_n U_n = 0 and P_a U_a ≤ 0.
 * 4. Complementarity without friction. Bodies that jam each other have a nearly singular A and
 *    impulses of 1e10 times their momentum, whose rounding errors add energy. Pivoting always solves the
 *    frictionless problem.
 *
 * The first solution within the tolerance that adds no energy is returned. Order: contacts ascending.
 */
#include "server/engine/solvers/impulse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"

/* Rounds that correct all cases at once, then rounds that correct one case each: all at once settles
 * sooner, one at a time cycles less. */
enum { ROUNDS_ALL = 12, ROUNDS_SINGLE = 60 };

/* Relative to the largest speed or impulse: a sign below it is rounding and changes no case. */
#define CONSISTENT 1e-10
/* Relative to the energy of the approach: a larger gain is not rounding, and the solution is refused. */
#define ENERGY 1e-11

static void carve_impulse(struct impulse *self, struct solver_memory *memory, uint32_t m)
{
	size_t n = 3 * (size_t)m;
	*self = (struct impulse){ .contacts_max = m };
	if (m > UINT32_MAX / 3)
		solver_carve_none(memory);
	self->system = SOLVER_CARVE(memory, double, n *n);
	self->x = SOLVER_CARVE(memory, double, n);
	self->right = SOLVER_CARVE(memory, double, n);
	self->friction = SOLVER_CARVE(memory, double, n);
	self->pivots = SOLVER_CARVE(memory, uint32_t, n);
	self->unknown = SOLVER_CARVE(memory, uint32_t, n);
	self->released = SOLVER_CARVE(memory, uint8_t, m);
	self->slides = SOLVER_CARVE(memory, int8_t, 2 * (size_t)m);
	self->kind = SOLVER_CARVE(memory, uint8_t, n);
	size_t inner = lcp_friction_bytes((uint32_t)n);
	lcp_friction_init(&self->lcp, SOLVER_CARVE(memory, uint8_t, inner), (uint32_t)n);
}

size_t impulse_bytes(uint32_t contacts_max)
{
	struct solver_memory memory = { NULL, 0 };
	struct impulse self;
	carve_impulse(&self, &memory, contacts_max);
	return memory.used;
}

void impulse_init(struct impulse *self, void *bytes, uint32_t contacts_max)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve_impulse(self, &memory, contacts_max);
}

/* K_nn is entry (0, 0) in the contact's frame and K_na entry (0, 1 + axis), as in I3; the t row as
 * printed in the book has other signs. */
double impulse_critical_friction(mat3 k, vec3 u, double restitution, uint32_t axis, double other)
{
	ASSERT(axis < 2);
	uint32_t a = 1 + axis, c = 2 - axis;
	double un = (1 + restitution) * u.x, ua = vec3_get(u, a);
	double top = ua * (mat3_get(k, 0, 0) + other * mat3_get(k, 0, c)) -
		     un * (mat3_get(k, a, 0) + other * mat3_get(k, a, c));
	double bottom = un * mat3_get(k, a, a) - ua * mat3_get(k, 0, a);
	if (bottom == 0)
		return scalar_copy_sign(SCALAR_MAX, top);
	return top / bottom;
}

/* ---- one problem -------------------------------------------------------------------------------- */

struct impulse_run {
	struct impulse *self;
	const struct impulse_problem *problem;
	uint32_t count, rows;	  /* rows = 3 × count */
	double restitution_scale; /* 1; 0 in the attempts without restitution */
	bool with_friction;	  /* false in the attempt without friction */
	double speed;		  /* largest |u| */
	uint32_t rounds;	  /* linear systems solved */
};

static double given_friction(const struct impulse_run *run, uint32_t c, uint32_t axis)
{
	return run->problem->friction[2 * c + axis];
}

static const double *matrix_row(const struct impulse_run *run, uint32_t row)
{
	return run->problem->a + (size_t)row * run->problem->stride;
}

static double used_friction(const struct impulse_run *run, uint32_t c, uint32_t axis)
{
	return run->with_friction ? given_friction(run, c, axis) : 0;
}

/* Target of U_n: −e u_n if the contact approaches, else 0. */
static double target_speed(const struct impulse_run *run, uint32_t c)
{
	ASSERT(c < run->count);
	double un = run->problem->u[3 * c];
	return un < 0 ? -run->restitution_scale * run->problem->restitution[c] * un : 0;
}

/* The first cases (I3): each contact by itself, without its neighbours. */
static void guess_cases(struct impulse_run *run)
{
	ASSERT(run->rows == 3 * run->count);
	for (uint32_t c = 0; c < run->count; c++) {
		const double *u = run->problem->u + 3 * c;
		mat3 k = mat3_zero();
		for (uint32_t i = 0; i < 3; i++)
			for (uint32_t j = 0; j < 3; j++)
				mat3_set(&k, i, j, matrix_row(run, 3 * c + i)[3 * c + j]);
		run->self->released[c] = u[0] >= 0;
		for (uint32_t axis = 0; axis < 2; axis++) {
			/* μ of the other axis with the sign that opposes its slip. */
			double other = -scalar_sign(u[2 - axis]) * given_friction(run, c, 1 - axis);
			double critical = impulse_critical_friction(
				k, vec3_make(u[0], u[1], u[2]),
				run->restitution_scale * run->problem->restitution[c], axis, other);
			double mu = given_friction(run, c, axis);
			bool slides = mu == 0 || (u[1 + axis] != 0 && mu < scalar_abs(critical));
			run->self->slides[2 * c + axis] = (int8_t)(!slides	     ? 0
								   : u[1 + axis] > 0 ? -1
										     : 1);
		}
	}
}

/* Ratio P_a / P_n of a sliding axis; 0 of a sticking axis, whose impulse is an unknown. */
static double tangent_share(const struct impulse_run *run, uint32_t c, uint32_t axis)
{
	return run->self->slides[2 * c + axis] * given_friction(run, c, axis);
}

/* x := the impulses under the current cases. The unknowns are the normal impulses of contacts that
 * are not released, and their impulses along axes that stick. */
static void solve_linear(struct impulse_run *run)
{
	struct impulse *self = run->self;
	uint32_t n = 0, rows = run->rows;
	for (uint32_t row = 0; row < rows; row++)
		if (!self->released[row / 3] &&
		    (row % 3 == 0 || self->slides[2 * (row / 3) + row % 3 - 1] == 0))
			self->unknown[n++] = row;
	ASSERT(n <= rows);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = self->unknown[i];
		const double *a = matrix_row(run, row);
		self->right[i] =
			(row % 3 == 0 ? target_speed(run, row / 3) : 0) - run->problem->u[row];
		for (uint32_t j = 0; j < n; j++) {
			uint32_t column = self->unknown[j], c = column / 3;
			double entry = a[column];
			for (uint32_t axis = 0; axis < 2 && column % 3 == 0; axis++)
				entry += tangent_share(run, c, axis) * a[column + 1 + axis];
			self->system[(size_t)i * n + j] = entry;
		}
	}
	(void)lu_solve_ranked(self->system, n, n, self->pivots, self->right);
	run->rounds++;
	dense_zero(self->x, rows);
	for (uint32_t i = 0; i < n; i++)
		self->x[self->unknown[i]] = self->right[i];
	for (uint32_t row = 0; row < rows; row++)
		if (row % 3 != 0 && self->slides[2 * (row / 3) + row % 3 - 1] != 0)
			self->x[row] =
				tangent_share(run, row / 3, row % 3 - 1) * self->x[row - row % 3];
}

static double velocity_after(const struct impulse_run *run, uint32_t row)
{
	return run->problem->u[row] + dense_dot(matrix_row(run, row), run->self->x, run->rows);
}

enum case_check { CASE_HOLDS, CASE_CHANGED, CASE_UNSOLVED };

/* Whether the normal case of contact c holds; a case that does not is changed. */
static enum case_check check_normal(struct impulse_run *run, uint32_t c, double largest)
{
	ASSERT(c < run->count);
	uint8_t *released = &run->self->released[c];
	double off = velocity_after(run, 3 * c) - target_speed(run, c);
	double slack = CONSISTENT * run->speed;
	if (*released) {
		*released = off >= -slack;
		return *released ? CASE_HOLDS : CASE_CHANGED;
	}
	/* A contact that is faster than its target is pushed apart by other contacts. */
	*released = run->self->x[3 * c] < -CONSISTENT * largest || off > slack;
	if (*released)
		return CASE_CHANGED;
	return off >= -slack ? CASE_HOLDS : CASE_UNSOLVED;
}

/* The same of one tangent axis of contact c. */
static enum case_check check_tangent(struct impulse_run *run, uint32_t c, uint32_t axis,
				     double largest)
{
	ASSERT(c < run->count && axis < 2);
	uint32_t row = 3 * c + 1 + axis;
	int8_t *slides = &run->self->slides[2 * c + axis];
	double after = velocity_after(run, row), force = run->self->x[row];
	double limit = given_friction(run, c, axis) * run->self->x[3 * c];
	double slack = CONSISTENT * run->speed;
	if (given_friction(run, c, axis) == 0)
		return CASE_HOLDS;
	if (*slides != 0) {
		if (after * *slides <= slack)
			return CASE_HOLDS;
		*slides = 0;
		return CASE_CHANGED;
	}
	if (scalar_abs(force) > limit + CONSISTENT * largest) {
		*slides = force > 0 ? 1 : -1;
		return CASE_CHANGED;
	}
	return scalar_abs(after) <= slack ? CASE_HOLDS : CASE_UNSOLVED;
}

/* Whether x satisfies all cases: no negative normal impulse, friction against the slip, sticking
 * within its limit. Cases that do not hold are changed: all, or with `alone` only the first. */
static enum case_check check_cases(struct impulse_run *run, bool alone)
{
	double largest = dense_max_abs(run->self->x, run->rows);
	enum case_check worst = CASE_HOLDS;
	for (uint32_t c = 0; c < run->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			if (i > 0 && run->self->released[c])
				break;
			enum case_check one = i == 0 ? check_normal(run, c, largest)
						     : check_tangent(run, c, i - 1, largest);
			if (one == CASE_CHANGED && alone)
				return CASE_CHANGED;
			if (one == CASE_CHANGED || (one == CASE_UNSOLVED && worst == CASE_HOLDS))
				worst = one;
		}
	return worst;
}

/* Step 1 of the head: false if the cases do not settle, cannot hold, or the numbers overflow. */
static bool solve_by_cases(struct impulse_run *run)
{
	ASSERT(run->count <= run->self->contacts_max);
	guess_cases(run);
	for (uint32_t i = 0; i < ROUNDS_ALL + ROUNDS_SINGLE; i++) {
		solve_linear(run);
		if (!solver_finite(run->self->x, run->rows))
			return false;
		enum case_check check = check_cases(run, i >= ROUNDS_ALL);
		if (check != CASE_CHANGED)
			return check == CASE_HOLDS;
	}
	return false;
}

/* Step 2 of the head. */
static void solve_by_complementarity(struct impulse_run *run, const struct solver_options *options,
				     struct solver_result *result)
{
	struct impulse *self = run->self;
	struct solver_options inner = *options;
	struct friction_problem friction = { run->rows,	  run->problem->stride, run->problem->a,
					     self->right, self->kind,		self->friction };
	for (uint32_t c = 0; c < run->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t row = 3 * c + i;
			self->kind[row] = i == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
			self->right[row] =
				run->problem->u[row] - (i == 0 ? target_speed(run, c) : 0);
			self->friction[row] = i == 0 ? 0 : used_friction(run, c, i - 1);
		}
	ASSERT(run->rows == 3 * run->count);
	inner.warm = false;
	struct solver_result part =
		lcp_friction_solve(&self->lcp, &friction, &inner, self->x, NULL);
	result->pivots += part.pivots;
	result->refactorings += part.refactorings;
	result->rounds += part.rounds;
}

/* The worst relative violation of the conditions by x; see impulse_solve. */
static double measure_residual(const struct impulse_run *run)
{
	const struct impulse *self = run->self;
	double worst = 0, speed = run->speed > 0 ? run->speed : 1;
	double largest = dense_max_abs(self->x, run->rows);
	if (largest == 0)
		largest = 1;
	for (uint32_t c = 0; c < run->count; c++) {
		double push = self->x[3 * c];
		double gap = (velocity_after(run, 3 * c) - target_speed(run, c)) / speed;
		double rest = scalar_min(scalar_abs(gap), push / largest);
		worst = scalar_max(scalar_max(-gap, rest), worst);
		worst = scalar_max(-push / largest, worst);
		for (uint32_t axis = 0; axis < 2; axis++) {
			uint32_t row = 3 * c + 1 + axis;
			double limit = used_friction(run, c, axis) * push;
			double over = (scalar_abs(self->x[row]) - limit) / largest;
			double inside = scalar_abs(over), slip = velocity_after(run, row) / speed;
			worst = scalar_max(over, worst);
			if (over < 0)
				worst = scalar_max(scalar_min(inside, scalar_abs(slip)), worst);
		}
	}
	return worst;
}

/* Whether the energy gain ½ P·(u + U) exceeds rounding of the energy of the approach, the sum of ½ u²/A
 * over rows. An impulse so large that its rounding exceeds that is refused as well, and NaN too. */
static bool gains_energy(const struct impulse_run *run)
{
	double gain = 0, size = 0;
	for (uint32_t row = 0; row < run->rows; row++) {
		double before = run->problem->u[row];
		double own = matrix_row(run, row)[row];
		gain += 0.5 * run->self->x[row] * (before + velocity_after(run, row));
		size += own > 0 ? 0.5 * before * before / own : 0;
	}
	return !(gain <= ENERGY * size);
}

/* Whether x can be returned. */
static bool is_acceptable(const struct impulse_run *run, const struct solver_options *options)
{
	return measure_residual(run) <= options->tolerance && !gains_energy(run);
}

/* The attempts of the head in order; the first acceptable one stays in x. The last one is not checked,
 * because without restitution and friction P·U = 0 and no energy is gained. */
static void find_impulses(struct impulse_run *run, const struct solver_options *options,
			  struct solver_result *result)
{
	run->restitution_scale = 1;
	run->with_friction = true;
	if (solve_by_cases(run) && is_acceptable(run, options))
		return;
	result->fallbacks++;
	solve_by_complementarity(run, options, result);
	if (is_acceptable(run, options))
		return;
	result->regularisations++;
	run->restitution_scale = 0;
	if (solve_by_cases(run) && is_acceptable(run, options))
		return;
	solve_by_complementarity(run, options, result);
	if (is_acceptable(run, options))
		return;
	run->with_friction = false;
	solve_by_complementarity(run, options, result);
}

static bool problem_is_valid(const struct impulse *self, const struct impulse_problem *problem)
{
	uint32_t contacts = problem->contacts;
	if (self->kind == NULL || contacts > self->contacts_max || problem->stride / 3 < contacts)
		return false;
	size_t rows = 3 * (size_t)contacts;
	bool valid = solver_finite(problem->u, rows);
	for (size_t row = 0; row < rows; row++)
		valid &= solver_finite(problem->a + row * problem->stride, rows);
	for (size_t c = 0; c < contacts; c++)
		valid &= problem->restitution[c] >= 0 && problem->restitution[c] <= 1;
	for (size_t k = 0; k < 2 * (size_t)contacts; k++)
		valid &= problem->friction[k] >= 0 && problem->friction[k] <= SCALAR_MAX;
	return valid;
}

struct solver_result impulse_solve(struct impulse *self, const struct impulse_problem *problem,
				   const struct solver_options *options, double *impulses)
{
	struct solver_result result = { .status = SOLVER_SOLVED };
	const struct solver_options used = solver_options_used(options);
	for (size_t row = 0; row < 3 * (size_t)problem->contacts; row++)
		impulses[row] = 0;
	if (!problem_is_valid(self, problem))
		return solver_invalid();
	struct impulse_run run = { .self = self, .problem = problem, .count = problem->contacts };
	run.rows = 3 * run.count;
	run.speed = dense_max_abs(problem->u, run.rows);
	ASSERT(run.rows <= problem->stride);
	find_impulses(&run, &used, &result);
	result.residual = measure_residual(&run);
	result.violation = result.residual * (run.speed > 0 ? run.speed : 1);
	result.rounds += run.rounds;
	dense_copy(impulses, self->x, run.rows);
	for (uint32_t c = 0; c < run.count; c++)
		impulses[3 * c] = scalar_max(impulses[3 * c], 0);
	result.status = result.residual <= used.tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	return result;
}
