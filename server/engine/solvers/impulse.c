/* impulse.c: simultaneous impulses of an island of collisions.
 *
 * Unknown P_c = (P_n, P_t, P_k) of every contact; velocities after U = u + A P. The book's rows:
 *
 *   normal     U_n = −e u_n          (u_n < 0; else U_n = 0: it touches and is carried along)
 *   tangent    sliding:  P_a = −sign(u_a) μ_a P_n        sticking:  U_a = 0
 *
 *   parts      P = 0, U_n ≥ −e u_n: a contact that would pull is dropped and the rest solved again
 *
 * Which axis slides is first guessed for each contact by itself, by the critical coefficient (I3: |μ_a| <
 * |μ_a crit| slides; magnitudes, as the signs are those of u_a/u_n; an axis without friction slides
 * with nothing, an axis that does not slip sticks), and a contact that parts before parts. Then the
 * cases are corrected: what pulls parts, what parts too slowly pushes, what sticks beyond its limit
 * slides against its friction, what slid past a standstill sticks. All at once for TOGETHER systems,
 * then the first alone, which does not go round in circles so easily. Redundant contacts make
 * singular systems; any solution will do (lu_solve_ranked). When the rounds are over the book has no
 * answer.
 *
 * Then the same conditions are posed as complementarity, which has one nearly always: P_n ≥ 0 ⟂ U_n + e u_n
 * ≥ 0, and |P_a| ≤ μ_a P_n with U_a = 0 inside and against P_a at the limit (lcp_friction.h; redundant rows
 * are allowed; its own plan B is in the residual).
 *
 * Friction and unlike restitutions can still make energy. What would is solved again with e = 0, for
 * which ΔE = P·U − ½ PᵀAP ≤ 0: P_n U_n = 0 and P_a U_a ≤ 0. Bodies that jam each other have nearly
 * singular A and answers 1e10 times their momentum, which in double are none, and make energy: then
 * friction goes too, and what is left is a frictionless problem that pivoting always solves.
 *
 * Order: contacts ascending.
 */
#include "server/engine/solvers/impulse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"

enum { TOGETHER = 12, ALONE = 60 };

#define CONSISTENT 1e-10 /* of speeds and impulses: signs below it are rounding */
#define ENERGY 1e-11	 /* of the energy in the collision; more than that is a gain */

static void carve(struct impulse *self, struct solver_memory *memory, uint32_t m)
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
	self->parts = SOLVER_CARVE(memory, uint8_t, m);
	self->slides = SOLVER_CARVE(memory, int8_t, 2 * (size_t)m);
	self->kind = SOLVER_CARVE(memory, uint8_t, n);
	size_t inner = lcp_friction_bytes((uint32_t)n);
	lcp_friction_init(&self->lcp, SOLVER_CARVE(memory, uint8_t, inner), (uint32_t)n);
}

size_t impulse_bytes(uint32_t contacts_max)
{
	struct solver_memory memory = { NULL, 0 };
	struct impulse self;
	carve(&self, &memory, contacts_max);
	return memory.used;
}

void impulse_init(struct impulse *self, void *bytes, uint32_t contacts_max)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve(self, &memory, contacts_max);
}

/* K_nn is (0, 0) of the frame, K_na (0, 1 + axis), as I3 has them; the print's t row has other signs. */
double impulse_critical_friction(mat3 k, vec3 u, double restitution, uint32_t axis, double other)
{
	uint32_t a = 1 + axis, c = 2 - axis;
	double un = (1 + restitution) * u.x, ua = vec3_get(u, a);
	double top = ua * (mat3_get(k, 0, 0) + other * mat3_get(k, 0, c)) -
		     un * (mat3_get(k, a, 0) + other * mat3_get(k, a, c));
	double bottom = un * mat3_get(k, a, a) - ua * mat3_get(k, 0, a);
	if (bottom == 0)
		return scalar_copy_sign(SCALAR_MAX, top);
	return top / bottom;
}

/* ---- one island --------------------------------------------------------------------------------- */

struct island {
	struct impulse *self;
	const struct impulse_problem *problem;
	uint32_t count, rows; /* rows = 3 × count */
	double keep;	      /* 1, or 0 when restitution was taken away */
	bool rough;	      /* false when friction was taken away */
	double speed;	      /* largest |u| */
	uint32_t rounds;
};

static double friction_along(const struct island *island, uint32_t c, uint32_t axis)
{
	return island->problem->friction[2 * c + axis];
}

static double restitution_at(const struct island *island, uint32_t c)
{
	return island->problem->restitution[c];
}

/* A's row. */
static const double *row_at(const struct island *island, uint32_t row)
{
	return island->problem->a + (size_t)row * island->problem->stride;
}

static double friction_of(const struct island *island, uint32_t c, uint32_t axis)
{
	return island->rough ? friction_along(island, c, axis) : 0;
}

static double wanted(const struct island *island, uint32_t c)
{
	double un = island->problem->u[3 * c];
	return un < 0 ? -island->keep * restitution_at(island, c) * un : 0;
}

/* μ_a with the sign that opposes the slip: P_a = μ P_n. */
static double signed_friction(const struct island *island, uint32_t c, uint32_t axis)
{
	double slip = island->problem->u[3 * c + 1 + axis];
	return -scalar_sign(slip) * friction_along(island, c, axis);
}

static mat3 own_block(const struct island *island, uint32_t c)
{
	mat3 block = mat3_zero();
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 3; j++)
			mat3_set(&block, i, j, row_at(island, 3 * c + i)[3 * c + j]);
	return block;
}

/* The book's decision for each contact by itself. */
static void guess_cases(struct island *island)
{
	for (uint32_t c = 0; c < island->count; c++) {
		const double *u = island->problem->u + 3 * c;
		mat3 k = own_block(island, c);
		island->self->parts[c] = u[0] >= 0;
		for (uint32_t axis = 0; axis < 2; axis++) {
			double other = signed_friction(island, c, 1 - axis);
			double critical = impulse_critical_friction(
				k, vec3_make(u[0], u[1], u[2]),
				island->keep * restitution_at(island, c), axis, other);
			double mu = friction_along(island, c, axis);
			bool slides = mu == 0 || (u[1 + axis] != 0 && mu < scalar_abs(critical));
			island->self->slides[2 * c + axis] = (int8_t)(!slides		? 0
								      : u[1 + axis] > 0 ? -1
											: 1);
		}
	}
}

/* Share of the impulse along `row` in a unit of its contact's P_n; of a row solved for, 0. */
static double share_of(const struct island *island, uint32_t c, uint32_t axis)
{
	return island->self->slides[2 * c + axis] * friction_along(island, c, axis);
}

/* The impulses that the present cases ask for: the unknowns are the normals of contacts that do not
 * part, and their tangents that stick. */
static void solve_linear(struct island *island)
{
	struct impulse *self = island->self;
	uint32_t n = 0, rows = island->rows;
	for (uint32_t row = 0; row < rows; row++)
		if (!self->parts[row / 3] &&
		    (row % 3 == 0 || self->slides[2 * (row / 3) + row % 3 - 1] == 0))
			self->unknown[n++] = row;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = self->unknown[i];
		const double *a = row_at(island, row);
		self->right[i] =
			(row % 3 == 0 ? wanted(island, row / 3) : 0) - island->problem->u[row];
		for (uint32_t j = 0; j < n; j++) {
			uint32_t column = self->unknown[j], c = column / 3;
			double entry = a[column];
			for (uint32_t axis = 0; axis < 2 && column % 3 == 0; axis++)
				entry += share_of(island, c, axis) * a[column + 1 + axis];
			self->system[(size_t)i * n + j] = entry;
		}
	}
	(void)lu_solve_ranked(self->system, n, n, self->pivots, self->right);
	island->rounds++;
	dense_zero(self->x, rows);
	for (uint32_t i = 0; i < n; i++)
		self->x[self->unknown[i]] = self->right[i];
	for (uint32_t row = 0; row < rows; row++)
		if (row % 3 != 0 && self->slides[2 * (row / 3) + row % 3 - 1] != 0)
			self->x[row] =
				share_of(island, row / 3, row % 3 - 1) * self->x[row - row % 3];
}

static double velocity_after(const struct island *island, uint32_t row)
{
	return island->problem->u[row] +
	       dense_dot(row_at(island, row), island->self->x, island->rows);
}

enum verdict { GOOD, CHANGED, HOPELESS };

/* Whether the normal of contact c holds; a case that is not so is changed. */
static enum verdict check_normal(struct island *island, uint32_t c, double largest)
{
	uint8_t *parts = &island->self->parts[c];
	double off = velocity_after(island, 3 * c) - wanted(island, c);
	double slack = CONSISTENT * island->speed;
	if (*parts) {
		*parts = off >= -slack;
		return *parts ? GOOD : CHANGED;
	}
	/* Faster than wanted: it depends on others that push it away. */
	*parts = island->self->x[3 * c] < -CONSISTENT * largest || off > slack;
	if (*parts)
		return CHANGED;
	return off >= -slack ? GOOD : HOPELESS;
}

static enum verdict check_tangent(struct island *island, uint32_t c, uint32_t axis, double largest)
{
	uint32_t row = 3 * c + 1 + axis;
	int8_t *slides = &island->self->slides[2 * c + axis];
	double after = velocity_after(island, row), force = island->self->x[row];
	double limit = friction_along(island, c, axis) * island->self->x[3 * c];
	double slack = CONSISTENT * island->speed;
	if (friction_along(island, c, axis) == 0)
		return GOOD;
	if (*slides != 0) {
		if (after * *slides <= slack)
			return GOOD;
		*slides = 0;
		return CHANGED;
	}
	if (scalar_abs(force) > limit + CONSISTENT * largest) {
		*slides = force > 0 ? 1 : -1;
		return CHANGED;
	}
	return scalar_abs(after) <= slack ? GOOD : HOPELESS;
}

/* Whether the solution is one: no pulling, friction against the slip, sticking within its limit.
 * Cases that are not so are changed: all, or the first alone. */
static enum verdict check_cases(struct island *island, bool alone)
{
	double largest = dense_max_abs(island->self->x, island->rows);
	enum verdict verdict = GOOD;
	for (uint32_t c = 0; c < island->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			if (i > 0 && island->self->parts[c])
				break;
			enum verdict one = i == 0 ? check_normal(island, c, largest)
						  : check_tangent(island, c, i - 1, largest);
			if (one == CHANGED && alone)
				return CHANGED;
			if (one == CHANGED || (one == HOPELESS && verdict == GOOD))
				verdict = one;
		}
	return verdict;
}

static bool solve_by_cases(struct island *island)
{
	guess_cases(island);
	for (uint32_t i = 0; i < TOGETHER + ALONE; i++) {
		solve_linear(island);
		if (!solver_finite(island->self->x, island->rows))
			return false;
		enum verdict verdict = check_cases(island, i >= TOGETHER);
		if (verdict != CHANGED)
			return verdict == GOOD;
	}
	return false;
}

static void solve_by_complementarity(struct island *island, const struct solver_options *options,
				     struct solver_result *result)
{
	struct impulse *self = island->self;
	struct solver_options inner = *options;
	struct friction_problem friction = { island->rows,	 island->problem->stride,
					     island->problem->a, self->right,
					     self->kind,	 self->friction };
	for (uint32_t c = 0; c < island->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t row = 3 * c + i;
			self->kind[row] = i == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
			self->right[row] =
				island->problem->u[row] - (i == 0 ? wanted(island, c) : 0);
			self->friction[row] = i == 0 ? 0 : friction_of(island, c, i - 1);
		}
	inner.warm = false;
	struct solver_result part =
		lcp_friction_solve(&self->lcp, &friction, &inner, self->x, NULL);
	result->pivots += part.pivots;
	result->refactorings += part.refactorings;
	result->rounds += part.rounds;
}

/* How far the impulses are from the conditions. */
static double residual_of(const struct island *island)
{
	const struct impulse *self = island->self;
	double worst = 0, speed = island->speed > 0 ? island->speed : 1;
	double largest = dense_max_abs(self->x, island->rows);
	if (largest == 0)
		largest = 1;
	for (uint32_t c = 0; c < island->count; c++) {
		double push = self->x[3 * c];
		double gap = (velocity_after(island, 3 * c) - wanted(island, c)) / speed;
		double rest = scalar_min(scalar_abs(gap), push / largest);
		worst = scalar_max(scalar_max(-gap, rest), worst);
		worst = scalar_max(-push / largest, worst);
		for (uint32_t axis = 0; axis < 2; axis++) {
			uint32_t row = 3 * c + 1 + axis;
			double limit = friction_of(island, c, axis) * push;
			double over = (scalar_abs(self->x[row]) - limit) / largest;
			double inside = scalar_abs(over),
			       slip = velocity_after(island, row) / speed;
			worst = scalar_max(over, worst);
			if (over < 0)
				worst = scalar_max(scalar_min(inside, scalar_abs(slip)), worst);
		}
	}
	return worst;
}

/* ½ P·(u + U) against the energy of the approach, ½ u²/A by rows: also an impulse so large that its
 * rounding would show there is refused. */
static bool gains_energy(const struct island *island)
{
	double gain = 0, size = 0;
	for (uint32_t row = 0; row < island->rows; row++) {
		double before = island->problem->u[row];
		double own = row_at(island, row)[row];
		gain += 0.5 * island->self->x[row] * (before + velocity_after(island, row));
		size += own > 0 ? 0.5 * before * before / own : 0;
	}
	return !(gain <= ENERGY * size);
}

/* Whether the impulses may go out. */
static bool is_sound(const struct island *island, const struct solver_options *options)
{
	return residual_of(island) <= options->tolerance && !gains_energy(island);
}

/* The book's cases, complementarity, the same without restitution, and without friction: the first
 * that holds and makes no energy. The last cannot, P·U being 0. */
static void find_impulses(struct island *island, const struct solver_options *options,
			  struct solver_result *result)
{
	island->keep = 1;
	island->rough = true;
	if (solve_by_cases(island) && is_sound(island, options))
		return;
	result->fallbacks++;
	solve_by_complementarity(island, options, result);
	if (is_sound(island, options))
		return;
	result->regularisations++;
	island->keep = 0;
	if (solve_by_cases(island) && is_sound(island, options))
		return;
	solve_by_complementarity(island, options, result);
	if (is_sound(island, options))
		return;
	island->rough = false;
	solve_by_complementarity(island, options, result);
}

static bool is_valid(const struct impulse *self, const struct impulse_problem *problem)
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
	if (!is_valid(self, problem))
		return solver_invalid();
	struct island island = { .self = self, .problem = problem, .count = problem->contacts };
	island.rows = 3 * island.count;
	island.speed = dense_max_abs(problem->u, island.rows);
	find_impulses(&island, &used, &result);
	result.residual = residual_of(&island);
	result.violation = result.residual * (island.speed > 0 ? island.speed : 1);
	result.rounds += island.rounds;
	dense_copy(impulses, self->x, island.rows);
	for (uint32_t c = 0; c < island.count; c++)
		impulses[3 * c] = scalar_max(impulses[3 * c], 0);
	result.status = result.residual <= used.tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	return result;
}
