/* impulse.c: simultaneous impulses of a cluster of collisions.
 *
 * Unknown P_c = (P_n, P_t, P_k) of every contact; velocities after U = u + A P with the blocks A_cd of
 * impact_block. The book's rows:
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
 * Order: clusters by their first contact, contacts ascending within; a cluster's result depends on
 * nothing outside it.
 */
#include "server/engine/solvers/impulse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"

enum { TOGETHER = 12, ALONE = 60 };

#define CONSISTENT 1e-10  /* of speeds and impulses: signs below it are rounding */
#define ENERGY 1e-11	  /* of the energy in the collision; more than that is a gain */

static void carve(struct impulse *self, struct solver_memory *memory, uint32_t bodies, uint32_t m)
{
	size_t n = 3 * (size_t)m;
	*self = (struct impulse){ .bodies_max = bodies, .contacts_max = m };
	if (m > UINT32_MAX / 3)
		solver_carve_none(memory);
	self->a = SOLVER_CARVE(memory, double, n * n);
	self->system = SOLVER_CARVE(memory, double, n * n);
	self->b = SOLVER_CARVE(memory, double, n);
	self->x = SOLVER_CARVE(memory, double, n);
	self->right = SOLVER_CARVE(memory, double, n);
	self->friction = SOLVER_CARVE(memory, double, n);
	self->pivots = SOLVER_CARVE(memory, uint32_t, n);
	self->order = SOLVER_CARVE(memory, uint32_t, m);
	self->starts = SOLVER_CARVE(memory, uint32_t, (size_t)m + 1);
	self->scratch = SOLVER_CARVE(memory, uint32_t, (size_t)bodies + m);
	self->unknown = SOLVER_CARVE(memory, uint32_t, n);
	self->parts = SOLVER_CARVE(memory, uint8_t, m);
	self->slides = SOLVER_CARVE(memory, int8_t, 2 * (size_t)m);
	self->kind = SOLVER_CARVE(memory, uint8_t, n);
	size_t inner = lcp_friction_bytes((uint32_t)n);
	lcp_friction_init(&self->lcp, SOLVER_CARVE(memory, uint8_t, inner), (uint32_t)n);
}

size_t impulse_bytes(uint32_t bodies_max, uint32_t contacts_max)
{
	struct solver_memory memory = { NULL, 0 };
	struct impulse self;
	carve(&self, &memory, bodies_max, contacts_max);
	return memory.used;
}

void impulse_init(struct impulse *self, void *bytes, uint32_t bodies_max, uint32_t contacts_max)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve(self, &memory, bodies_max, contacts_max);
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

/* ---- one cluster -------------------------------------------------------------------------------- */

struct cluster {
	struct impulse *self;
	const struct impact_problem *problem;
	const uint32_t *contacts; /* indices into the problem's */
	uint32_t count, rows;	  /* rows = 3 × count */
	double keep;		  /* 1, or 0 when restitution was taken away */
	bool rough;		  /* false when friction was taken away */
	double speed;		  /* largest |u| */
	uint32_t rounds;
};

static const struct impact_contact *contact_of(const struct cluster *cluster, uint32_t c)
{
	return &cluster->problem->contacts[cluster->contacts[c]];
}

/* A and u. */
static void assemble(struct cluster *cluster)
{
	uint32_t n = cluster->rows;
	cluster->speed = 0;
	for (uint32_t c = 0; c < cluster->count; c++) {
		vec3 u = impact_velocity(cluster->problem, cluster->contacts[c]);
		for (uint32_t i = 0; i < 3; i++) {
			cluster->self->b[3 * c + i] = vec3_get(u, i);
			cluster->speed = scalar_max(scalar_abs(vec3_get(u, i)), cluster->speed);
		}
		for (uint32_t d = 0; d < cluster->count; d++) {
			mat3 block = impact_block(cluster->problem, cluster->contacts[c],
						  cluster->contacts[d]);
			for (uint32_t i = 0; i < 3; i++)
				for (uint32_t j = 0; j < 3; j++)
					cluster->self->a[(3 * c + i) * n + 3 * d + j] =
						mat3_get(block, i, j);
		}
	}
}

static double friction_of(const struct cluster *cluster, uint32_t c, uint32_t axis)
{
	return cluster->rough ? contact_of(cluster, c)->friction[axis] : 0;
}

static double wanted(const struct cluster *cluster, uint32_t c)
{
	double un = cluster->self->b[3 * c];
	return un < 0 ? -cluster->keep * contact_of(cluster, c)->restitution * un : 0;
}

/* μ_a with the sign that opposes the slip: P_a = μ P_n. */
static double signed_friction(const struct cluster *cluster, uint32_t c, uint32_t axis)
{
	double slip = cluster->self->b[3 * c + 1 + axis];
	return -scalar_sign(slip) * contact_of(cluster, c)->friction[axis];
}

static mat3 own_block(const struct cluster *cluster, uint32_t c)
{
	mat3 block = mat3_zero();
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t j = 0; j < 3; j++)
			mat3_set(&block, i, j,
				 cluster->self->a[(3 * c + i) * cluster->rows + 3 * c + j]);
	return block;
}

/* The book's decision for each contact by itself. */
static void guess_cases(struct cluster *cluster)
{
	for (uint32_t c = 0; c < cluster->count; c++) {
		const struct impact_contact *contact = contact_of(cluster, c);
		const double *u = cluster->self->b + 3 * c;
		mat3 k = own_block(cluster, c);
		cluster->self->parts[c] = u[0] >= 0;
		for (uint32_t axis = 0; axis < 2; axis++) {
			double other = signed_friction(cluster, c, 1 - axis);
			double critical = impulse_critical_friction(
				k, vec3_make(u[0], u[1], u[2]),
				cluster->keep * contact->restitution, axis, other);
			double mu = contact->friction[axis];
			bool slides = mu == 0 || (u[1 + axis] != 0 && mu < scalar_abs(critical));
			cluster->self->slides[2 * c + axis] =
				(int8_t)(!slides ? 0 : u[1 + axis] > 0 ? -1 : 1);
		}
	}
}

/* Share of the impulse along `row` in a unit of its contact's P_n; of a row solved for, 0. */
static double share_of(const struct cluster *cluster, uint32_t c, uint32_t axis)
{
	return cluster->self->slides[2 * c + axis] * contact_of(cluster, c)->friction[axis];
}

/* The impulses that the present cases ask for: the unknowns are the normals of contacts that do not
 * part, and their tangents that stick. */
static void solve_linear(struct cluster *cluster)
{
	struct impulse *self = cluster->self;
	uint32_t n = 0, rows = cluster->rows;
	for (uint32_t row = 0; row < rows; row++)
		if (!self->parts[row / 3] &&
		    (row % 3 == 0 || self->slides[2 * (row / 3) + row % 3 - 1] == 0))
			self->unknown[n++] = row;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = self->unknown[i];
		const double *a = self->a + (size_t)row * rows;
		self->right[i] = (row % 3 == 0 ? wanted(cluster, row / 3) : 0) - self->b[row];
		for (uint32_t j = 0; j < n; j++) {
			uint32_t column = self->unknown[j], c = column / 3;
			double entry = a[column];
			for (uint32_t axis = 0; axis < 2 && column % 3 == 0; axis++)
				entry += share_of(cluster, c, axis) * a[column + 1 + axis];
			self->system[(size_t)i * n + j] = entry;
		}
	}
	(void)lu_solve_ranked(self->system, n, n, self->pivots, self->right);
	cluster->rounds++;
	dense_zero(self->x, rows);
	for (uint32_t i = 0; i < n; i++)
		self->x[self->unknown[i]] = self->right[i];
	for (uint32_t row = 0; row < rows; row++)
		if (row % 3 != 0 && self->slides[2 * (row / 3) + row % 3 - 1] != 0)
			self->x[row] = share_of(cluster, row / 3, row % 3 - 1) * self->x[row - row % 3];
}

static double velocity_after(const struct cluster *cluster, uint32_t row)
{
	return cluster->self->b[row] + dense_dot(cluster->self->a + (size_t)row * cluster->rows,
						 cluster->self->x, cluster->rows);
}

enum verdict { GOOD, CHANGED, HOPELESS };

/* Whether the normal of contact c holds; a case that is not so is changed. */
static enum verdict check_normal(struct cluster *cluster, uint32_t c, double largest)
{
	uint8_t *parts = &cluster->self->parts[c];
	double off = velocity_after(cluster, 3 * c) - wanted(cluster, c);
	double slack = CONSISTENT * cluster->speed;
	if (*parts) {
		*parts = off >= -slack;
		return *parts ? GOOD : CHANGED;
	}
	/* Faster than wanted: it depends on others that push it away. */
	*parts = cluster->self->x[3 * c] < -CONSISTENT * largest || off > slack;
	if (*parts)
		return CHANGED;
	return off >= -slack ? GOOD : HOPELESS;
}

static enum verdict check_tangent(struct cluster *cluster, uint32_t c, uint32_t axis, double largest)
{
	uint32_t row = 3 * c + 1 + axis;
	int8_t *slides = &cluster->self->slides[2 * c + axis];
	double after = velocity_after(cluster, row), force = cluster->self->x[row];
	double limit = contact_of(cluster, c)->friction[axis] * cluster->self->x[3 * c];
	double slack = CONSISTENT * cluster->speed;
	if (contact_of(cluster, c)->friction[axis] == 0)
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
static enum verdict check_cases(struct cluster *cluster, bool alone)
{
	double largest = dense_max_abs(cluster->self->x, cluster->rows);
	enum verdict verdict = GOOD;
	for (uint32_t c = 0; c < cluster->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			if (i > 0 && cluster->self->parts[c])
				break;
			enum verdict one = i == 0 ? check_normal(cluster, c, largest)
						  : check_tangent(cluster, c, i - 1, largest);
			if (one == CHANGED && alone)
				return CHANGED;
			if (one == CHANGED || (one == HOPELESS && verdict == GOOD))
				verdict = one;
		}
	return verdict;
}

static bool solve_by_cases(struct cluster *cluster)
{
	guess_cases(cluster);
	for (uint32_t i = 0; i < TOGETHER + ALONE; i++) {
		solve_linear(cluster);
		if (!solver_finite(cluster->self->x, cluster->rows))
			return false;
		enum verdict verdict = check_cases(cluster, i >= TOGETHER);
		if (verdict != CHANGED)
			return verdict == GOOD;
	}
	return false;
}

static void solve_by_complementarity(struct cluster *cluster, const struct solver_options *options,
				     struct solver_result *result)
{
	struct impulse *self = cluster->self;
	struct solver_options inner = *options;
	struct friction_problem friction = { cluster->rows, cluster->rows, self->a,
					     self->right,   self->kind,	   self->friction };
	for (uint32_t c = 0; c < cluster->count; c++)
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t row = 3 * c + i;
			self->kind[row] = i == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
			self->right[row] = self->b[row] - (i == 0 ? wanted(cluster, c) : 0);
			self->friction[row] = i == 0 ? 0 : friction_of(cluster, c, i - 1);
		}
	inner.warm = false;
	struct solver_result part =
		lcp_friction_solve(&self->lcp, &friction, &inner, self->x, NULL);
	result->pivots += part.pivots;
	result->refactorings += part.refactorings;
	result->rounds += part.rounds;
}

/* How far the impulses are from the conditions. */
static double residual_of(const struct cluster *cluster)
{
	const struct impulse *self = cluster->self;
	double worst = 0, speed = cluster->speed > 0 ? cluster->speed : 1;
	double largest = dense_max_abs(self->x, cluster->rows);
	if (largest == 0)
		largest = 1;
	for (uint32_t c = 0; c < cluster->count; c++) {
		double push = self->x[3 * c];
		double gap = (velocity_after(cluster, 3 * c) - wanted(cluster, c)) / speed;
		double rest = scalar_min(scalar_abs(gap), push / largest);
		worst = scalar_max(scalar_max(-gap, rest), worst);
		worst = scalar_max(-push / largest, worst);
		for (uint32_t axis = 0; axis < 2; axis++) {
			uint32_t row = 3 * c + 1 + axis;
			double limit = friction_of(cluster, c, axis) * push;
			double over = (scalar_abs(self->x[row]) - limit) / largest;
			double inside = scalar_abs(over), slip = velocity_after(cluster, row) / speed;
			worst = scalar_max(over, worst);
			if (over < 0)
				worst = scalar_max(scalar_min(inside, scalar_abs(slip)), worst);
		}
	}
	return worst;
}

/* ½ P·(u + U) against the energy of the approach, ½ u²/A by rows: also an impulse so large that its
 * rounding would show there is refused. */
static bool gains_energy(const struct cluster *cluster)
{
	double gain = 0, size = 0;
	for (uint32_t row = 0; row < cluster->rows; row++) {
		double before = cluster->self->b[row];
		double own = cluster->self->a[(size_t)row * cluster->rows + row];
		gain += 0.5 * cluster->self->x[row] * (before + velocity_after(cluster, row));
		size += own > 0 ? 0.5 * before * before / own : 0;
	}
	return !(gain <= ENERGY * size);
}

/* Whether the impulses may go out. */
static bool is_sound(const struct cluster *cluster, const struct solver_options *options)
{
	return residual_of(cluster) <= options->tolerance && !gains_energy(cluster);
}

/* The book's cases, complementarity, the same without restitution, and without friction: the first
 * that holds and makes no energy. The last cannot, P·U being 0. */
static void find_impulses(struct cluster *cluster, const struct solver_options *options,
			  struct solver_result *result)
{
	cluster->keep = 1;
	cluster->rough = true;
	if (solve_by_cases(cluster) && is_sound(cluster, options))
		return;
	result->fallbacks++;
	solve_by_complementarity(cluster, options, result);
	if (is_sound(cluster, options))
		return;
	result->regularisations++;
	cluster->keep = 0;
	if (solve_by_cases(cluster) && is_sound(cluster, options))
		return;
	solve_by_complementarity(cluster, options, result);
	if (is_sound(cluster, options))
		return;
	cluster->rough = false;
	solve_by_complementarity(cluster, options, result);
}

static void solve_cluster(struct cluster *cluster, const struct solver_options *options,
			  struct solver_result *result, vec3 *impulses)
{
	const struct impulse *self = cluster->self;
	assemble(cluster);
	find_impulses(cluster, options, result);
	double residual = residual_of(cluster), speed = cluster->speed > 0 ? cluster->speed : 1;
	result->residual = scalar_max(residual, result->residual);
	result->violation = scalar_max(residual * speed, result->violation);
	result->rounds += cluster->rounds;
	for (uint32_t c = 0; c < cluster->count; c++)
		impulses[cluster->contacts[c]] =
			vec3_make(scalar_max(self->x[3 * c], 0), self->x[3 * c + 1],
				  self->x[3 * c + 2]);
}

struct solver_result impulse_solve(struct impulse *self, const struct impact_problem *problem,
				   const struct solver_options *options, vec3 *impulses)
{
	struct solver_result result = { .status = SOLVER_SOLVED };
	const struct solver_options used = solver_options_used(options);
	for (uint32_t c = 0; c < problem->contact_count; c++)
		impulses[c] = vec3_zero();
	if (self->kind == NULL || problem->contact_count > self->contacts_max ||
	    problem->body_count > self->bodies_max || !impact_valid(problem))
		return solver_invalid();
	uint32_t clusters = impact_clusters(problem, self->order, self->starts, self->scratch);
	for (uint32_t k = 0; k < clusters; k++) {
		struct cluster cluster = {
			.self = self,
			.problem = problem,
			.contacts = self->order + self->starts[k],
			.count = self->starts[k + 1] - self->starts[k],
		};
		cluster.rows = 3 * cluster.count;
		solve_cluster(&cluster, &used, &result, impulses);
	}
	result.status = result.residual <= used.tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	return result;
}
