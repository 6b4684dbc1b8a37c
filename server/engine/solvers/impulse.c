/* impulse.c: simultaneous impulses of a cluster of collisions.
 *
 * Unknown P_c = (P_n, P_t, P_k) of every contact; velocities after U = u + A P with the blocks A_cd of
 * impact_block. The book's rows:
 *
 *   normal     U_n = −e u_n          (u_n < 0; else U_n = 0: it touches and is carried along)
 *   tangent    sliding:  P_a = −sign(u_a) μ_a P_n        sticking:  U_a = 0
 *
 * Which axis slides is first guessed for each contact by itself, by the critical coefficient (I3: |μ_a| <
 * |μ_a crit| slides; magnitudes, as the signs are those of u_a/u_n; an axis without friction slides
 * with nothing, an axis that does not slip sticks), then corrected: what sticks beyond its limit
 * slides, what slid past a standstill sticks. After CASES systems, or when one is singular or pulls,
 * the book has no answer (it does not say so), and neither does elimination.
 *
 * Then the same conditions are posed as complementarity, which has one nearly always: P_n ≥ 0 ⟂ U_n + e u_n
 * ≥ 0, and |P_a| ≤ μ_a P_n with U_a = 0 inside and against P_a at the limit (lcp_friction.h; redundant rows
 * are allowed; its own plan B is in the residual).
 *
 * Friction and unlike restitutions can still make energy. What would is solved again with e = 0, for
 * which ΔE = P·U − ½ PᵀAP ≤ 0: P_n U_n = 0 and P_a U_a ≤ 0.
 *
 * Order: clusters by their first contact, contacts ascending within; a cluster's result depends on
 * nothing outside it.
 */
#include "server/engine/solvers/impulse.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/linalg/lu.h"
#include "server/engine/math/scalar.h"

enum { CASES = 8 };

#define CONSISTENT 1e-10  /* of speeds and impulses: signs below it are rounding */
#define ENERGY 1e-12	  /* of the energy in the collision; more than that is a gain */

static void carve(struct impulse *self, struct solver_memory *memory, uint32_t bodies, uint32_t m)
{
	size_t n = 3 * (size_t)m;
	*self = (struct impulse){ .bodies_max = bodies, .contacts_max = m };
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
	self->slides = SOLVER_CARVE(memory, uint8_t, 2 * (size_t)m);
	self->kind = SOLVER_CARVE(memory, uint8_t, n);
	size_t inner = lcp_friction_bytes((uint32_t)n);
	void *at = SOLVER_CARVE(memory, uint8_t, inner);
	if (at != NULL)
		lcp_friction_init(&self->lcp, at, (uint32_t)n);
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
	struct solver_memory memory = { bytes, 0 };
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
		for (uint32_t axis = 0; axis < 2; axis++) {
			double other = signed_friction(cluster, c, 1 - axis);
			double critical = impulse_critical_friction(
				k, vec3_make(u[0], u[1], u[2]),
				cluster->keep * contact->restitution, axis, other);
			double mu = contact->friction[axis];
			cluster->self->slides[2 * c + axis] =
				mu == 0 || (u[1 + axis] != 0 && mu < scalar_abs(critical));
		}
	}
}

/* The book's linear system with the present cases; false when it is singular. */
static bool solve_linear(struct cluster *cluster)
{
	struct impulse *self = cluster->self;
	uint32_t n = cluster->rows;
	dense_copy(self->system, self->a, n * n);
	for (uint32_t c = 0; c < cluster->count; c++) {
		self->x[3 * c] = wanted(cluster, c) - self->b[3 * c];
		for (uint32_t axis = 0; axis < 2; axis++) {
			uint32_t row = 3 * c + 1 + axis;
			self->x[row] = -self->b[row];
			if (!self->slides[2 * c + axis])
				continue;
			dense_zero(self->system + (size_t)row * n, n);
			self->system[(size_t)row * n + row] = 1;
			self->system[(size_t)row * n + 3 * c] = -signed_friction(cluster, c, axis);
			self->x[row] = 0;
		}
	}
	cluster->rounds++;
	if (!lu_factor(self->system, n, n, self->pivots))
		return false;
	lu_solve(self->system, n, n, self->pivots, self->x);
	return solver_finite(self->x, n);
}

static double velocity_after(const struct cluster *cluster, uint32_t row)
{
	return cluster->self->b[row] + dense_dot(cluster->self->a + (size_t)row * cluster->rows,
						 cluster->self->x, cluster->rows);
}

enum verdict { GOOD, CHANGED, HOPELESS };

/* Whether the solution is one: no pulling, slip that goes on, sticking within its limit. Cases that
 * are not so are changed. */
static enum verdict check_cases(struct cluster *cluster)
{
	struct impulse *self = cluster->self;
	double largest = dense_max_abs(self->x, cluster->rows);
	enum verdict verdict = GOOD;
	for (uint32_t c = 0; c < cluster->count; c++) {
		double push = self->x[3 * c];
		if (push < -CONSISTENT * largest)
			return HOPELESS;
		double off = scalar_abs(velocity_after(cluster, 3 * c) - wanted(cluster, c));
		if (off > CONSISTENT * cluster->speed)
			return HOPELESS;
		for (uint32_t axis = 0; axis < 2; axis++) {
			uint32_t row = 3 * c + 1 + axis;
			double after = velocity_after(cluster, row), mu;
			uint8_t *slides = &self->slides[2 * c + axis];
			mu = contact_of(cluster, c)->friction[axis];
			if (*slides && mu > 0 &&
			    after * scalar_sign(self->b[row]) < -CONSISTENT * cluster->speed) {
				*slides = false;
				verdict = CHANGED;
			} else if (!*slides && scalar_abs(self->x[row]) >
						       mu * push + CONSISTENT * largest) {
				/* What did not slip has no direction to slide in. */
				if (self->b[row] == 0)
					return HOPELESS;
				*slides = true;
				verdict = CHANGED;
			}
		}
	}
	return verdict;
}

static bool solve_by_cases(struct cluster *cluster)
{
	guess_cases(cluster);
	for (uint32_t i = 0; i < CASES; i++) {
		if (!solve_linear(cluster))
			return false;
		enum verdict verdict = check_cases(cluster);
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
			self->friction[row] = i == 0 ? 0 : contact_of(cluster, c)->friction[i - 1];
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
			double limit = contact_of(cluster, c)->friction[axis] * push;
			double over = (scalar_abs(self->x[row]) - limit) / largest;
			double inside = scalar_abs(over), slip = velocity_after(cluster, row) / speed;
			worst = scalar_max(over, worst);
			if (over < 0)
				worst = scalar_max(scalar_min(inside, scalar_abs(slip)), worst);
		}
	}
	return worst;
}

/* ½ P·(u + U), and the scale it is small against. */
static bool gains_energy(const struct cluster *cluster)
{
	double gain = 0, size = 0;
	for (uint32_t row = 0; row < cluster->rows; row++) {
		double after = velocity_after(cluster, row), before = cluster->self->b[row];
		gain += 0.5 * cluster->self->x[row] * (before + after);
		size += 0.5 * scalar_abs(cluster->self->x[row]) *
			(scalar_abs(before) + scalar_abs(after));
	}
	return gain > ENERGY * size;
}

static void solve_cluster(struct cluster *cluster, const struct solver_options *options,
			  struct solver_result *result, vec3 *impulses)
{
	struct impulse *self = cluster->self;
	cluster->keep = 1;
	assemble(cluster);
	bool good = solve_by_cases(cluster) && !gains_energy(cluster);
	if (!good) {
		result->fallbacks++;
		solve_by_complementarity(cluster, options, result);
		if (gains_energy(cluster)) {
			result->regularisations++;
			cluster->keep = 0;
			solve_by_complementarity(cluster, options, result);
		}
	}
	result->residual = scalar_max(residual_of(cluster), result->residual);
	result->rounds += cluster->rounds;
	for (uint32_t c = 0; c < cluster->count; c++)
		impulses[cluster->contacts[c]] =
			vec3_make(scalar_max(self->x[3 * c], 0), self->x[3 * c + 1],
				  self->x[3 * c + 2]);
}

struct solver_result impulse_solve(struct impulse *self, const struct impact_problem *problem,
				   const struct solver_options *options, vec3 *impulses)
{
	struct solver_result result = { .status = SOLVER_NOT_FINITE };
	ASSERT(problem->contact_count <= self->contacts_max);
	ASSERT(problem->body_count <= self->bodies_max);
	for (uint32_t c = 0; c < problem->contact_count; c++)
		impulses[c] = vec3_zero();
	if (!impact_valid(problem))
		return result;
	uint32_t clusters = impact_clusters(problem, self->order, self->starts, self->scratch);
	for (uint32_t k = 0; k < clusters; k++) {
		struct cluster cluster = {
			.self = self,
			.problem = problem,
			.contacts = self->order + self->starts[k],
			.count = self->starts[k + 1] - self->starts[k],
		};
		cluster.rows = 3 * cluster.count;
		solve_cluster(&cluster, options, &result, impulses);
	}
	result.status = result.residual <= options->tolerance ? SOLVER_SOLVED : SOLVER_INEXACT;
	return result;
}
