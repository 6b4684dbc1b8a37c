/* reflection.c: generalized reflections (papers C-09; algorithm 2 of Smith et al. 2012).
 *
 *   v ← v⁻
 *   while some contact approaches:  V = { k : u_k < −ε },  u = N v
 *       λ_V: A_VV λ_V + 2 u_V ≥ 0 ⟂ λ_V ≥ 0      (elastic, from the present velocity)
 *       v ← v + M⁻¹ N_Vᵀ λ_V
 *
 * Each round reflects v at the face of the admissible cone that it violates, so λᵀN(v + v') = 0: energy
 * is kept exactly, momentum as always, symmetry because V and the solution have it (velocities of an
 * LCP with semidefinite A are unique even where λ is not), and a contact that does not approach is
 * left out, so that touching bodies can part. Plain elastic LCPs take all contacts at once and fail
 * at that; sequential impulses fail at symmetry.
 *
 * A ball wedged between parallel walls has nowhere to go with the energy it has, and would be reflected
 * for ever: what still approaches after the cap ends inelastically, all contacts together. That is
 * feasible, loses energy, and is reported.
 *
 * ε is 1e-14 of the fastest contact point (the source has 1e-14, whatever the units). No bound on the
 * number of rounds is known. Between the rounds only u is carried, u += A λ, from one
 * A per cluster; bodies are touched by reflection_apply alone. Partial restitution blends with the
 * inelastic impact, which is linear in the impulses.
 *
 * The projection core states a round over velocities: with M⁻¹ = L Lᵀ and v' = v + L y,
 *   min ½ |y|²  subject to  N_V L y ≥ −2 u_V
 * whose multipliers are the λ_V. L takes bodies that turn about fewer than three axes.
 */
#include "server/engine/solvers/reflection.h"

#include "server/engine/linalg/dense.h"
#include "server/engine/math/scalar.h"

enum { ROUNDS = 200, BODY = 6 };

#define APPROACH 1e-14 /* of the fastest contact point; larger leaves approaches, smaller chases rounding */

static void carve_projection(struct reflection *self, struct solver_memory *memory)
{
	uint32_t m = self->sizes.island, n = BODY * self->sizes.bodies;
	if (self->sizes.bodies > UINT32_MAX / BODY)
		solver_carve_none(memory);
	self->g = SOLVER_CARVE(memory, double, (size_t)n * n);
	self->c = SOLVER_CARVE(memory, double, n);
	self->rows = SOLVER_CARVE(memory, double, (size_t)m * n);
	self->d = SOLVER_CARVE(memory, double, m);
	self->x = SOLVER_CARVE(memory, double, n);
	self->lengths = SOLVER_CARVE(memory, double, (size_t)m * n);
	self->local = SOLVER_CARVE(memory, uint32_t, self->sizes.bodies);
	size_t inner = qp_dual_active_set_bytes(n, m);
	qp_dual_active_set_init(&self->qp, SOLVER_CARVE(memory, uint8_t, inner), n, m);
}

static void carve(struct reflection *self, struct solver_memory *memory,
		  struct reflection_sizes sizes)
{
	if (sizes.island == 0)
		sizes.island = sizes.contacts;
	*self = (struct reflection){ .sizes = sizes };
	size_t m = sizes.island;
	self->a = SOLVER_CARVE(memory, double, m * m);
	self->picked = SOLVER_CARVE(memory, double, m * m);
	self->b = SOLVER_CARVE(memory, double, m);
	self->lambda = SOLVER_CARVE(memory, double, m);
	self->total = SOLVER_CARVE(memory, double, m);
	self->inelastic = SOLVER_CARVE(memory, double, m);
	self->u = SOLVER_CARVE(memory, double, m);
	self->start = SOLVER_CARVE(memory, double, m);
	self->order = SOLVER_CARVE(memory, uint32_t, sizes.contacts);
	self->starts = SOLVER_CARVE(memory, uint32_t, (size_t)sizes.contacts + 1);
	self->scratch = SOLVER_CARVE(memory, uint32_t, (size_t)sizes.bodies + sizes.contacts);
	self->active = SOLVER_CARVE(memory, uint32_t, m);
	self->state = SOLVER_CARVE(memory, uint8_t, m);
	self->states = SOLVER_CARVE(memory, uint8_t, m);
	size_t inner = lcp_dantzig_bytes((uint32_t)m);
	lcp_dantzig_init(&self->lcp, SOLVER_CARVE(memory, uint8_t, inner), (uint32_t)m);
	if (sizes.projection)
		carve_projection(self, memory);
}

size_t reflection_bytes(struct reflection_sizes sizes)
{
	struct solver_memory memory = { NULL, 0 };
	struct reflection self;
	carve(&self, &memory, sizes);
	return memory.used;
}

void reflection_init(struct reflection *self, void *bytes, struct reflection_sizes sizes)
{
	struct solver_memory memory = { solver_memory_good(bytes) ? bytes : NULL, 0 };
	carve(self, &memory, sizes);
}

/* ---- one cluster -------------------------------------------------------------------------------- */

struct island {
	struct reflection *self;
	const struct impact_problem *problem;
	const struct solver_options *options;
	const uint32_t *contacts;
	uint32_t count, variables;
	enum reflection_core core;
	double speed; /* of the fastest contact point */
	struct solver_result *result;
};

static const struct impact_contact *contact_of(const struct island *island, uint32_t k)
{
	return &island->problem->contacts[island->contacts[k]];
}

static double point_speed(const struct island *island, uint32_t k)
{
	double most = 0;
	for (uint32_t side = 0; side < 2; side++) {
		const struct impact_contact *contact = contact_of(island, k);
		const struct impact_body *body = &island->problem->bodies[contact->body[side]];
		vec3 v = vec3_add(body->velocity, vec3_cross(body->spin, contact->arm[side]));
		most = scalar_max(vec3_length(v), most);
	}
	return most;
}

static void assemble(struct island *island)
{
	struct reflection *self = island->self;
	uint32_t n = island->count;
	island->speed = 0;
	for (uint32_t k = 0; k < n; k++) {
		self->u[k] = impact_velocity(island->problem, island->contacts[k]).x;
		island->speed = scalar_max(point_speed(island, k), island->speed);
		for (uint32_t l = 0; l <= k; l++) {
			double entry = impact_normal_entry(island->problem, island->contacts[k],
							   island->contacts[l]);
			self->a[(size_t)k * n + l] = self->a[(size_t)l * n + k] = entry;
		}
	}
	dense_copy(self->start, self->u, n);
}

/* L of a positive semidefinite tensor, lower triangular, so that L Lᵀ = t; pivots that are zero to
 * rounding leave their column zero. */
static mat3 root_of(mat3 t)
{
	double least = 1e-14 * mat3_trace(t);
	mat3 l = mat3_zero();
	for (uint32_t j = 0; j < 3; j++) {
		double pivot = mat3_get(t, j, j);
		for (uint32_t k = 0; k < j; k++)
			pivot -= mat3_get(l, j, k) * mat3_get(l, j, k);
		if (!(pivot > least))
			continue;
		double diagonal = scalar_sqrt(pivot);
		mat3_set(&l, j, j, diagonal);
		for (uint32_t i = j + 1; i < 3; i++) {
			double sum = mat3_get(t, i, j);
			for (uint32_t k = 0; k < j; k++)
				sum -= mat3_get(l, i, k) * mat3_get(l, j, k);
			mat3_set(&l, i, j, sum / diagonal);
		}
	}
	return l;
}

/* Rows of N L over the island's bodies, numbered by first appearance; G = 1, c = 0. */
static void assemble_projection(struct island *island)
{
	struct reflection *self = island->self;
	uint32_t bodies = 0;
	for (uint32_t b = 0; b < island->problem->body_count; b++)
		self->local[b] = UINT32_MAX;
	for (uint32_t k = 0; k < island->count; k++)
		for (uint32_t side = 0; side < 2; side++) {
			uint32_t *local = &self->local[contact_of(island, k)->body[side]];
			if (*local == UINT32_MAX)
				*local = bodies++;
		}
	uint32_t n = island->variables = BODY * bodies;
	dense_zero(self->g, n * n);
	dense_zero(self->c, n);
	dense_zero(self->rows, island->count * n);
	for (uint32_t j = 0; j < n; j++)
		self->g[(size_t)j * n + j] = 1;
	for (uint32_t k = 0; k < island->count; k++)
		for (uint32_t side = 0; side < 2; side++) {
			const struct impact_contact *contact = contact_of(island, k);
			const struct impact_body *body =
				&island->problem->bodies[contact->body[side]];
			double sign = side == 0 ? 1 : -1;
			double *row = self->rows + (size_t)k * n +
				      BODY * self->local[contact->body[side]];
			vec3 n_world = vec3_scale(contact->normal, sign);
			vec3 turn = mat3_transposed_mul_vec(
				root_of(body->inertia_inv),
				vec3_cross(contact->arm[side], n_world));
			for (uint32_t i = 0; i < 3; i++) {
				row[i] = vec3_get(n_world, i) * scalar_sqrt(body->mass_inv);
				row[3 + i] = vec3_get(turn, i);
			}
		}
}

/* λ of the contacts in self->active for A λ + b ≥ 0 ⟂ λ ≥ 0, into self->lambda. */
static struct solver_result solve_lcp(struct island *island, uint32_t active)
{
	struct reflection *self = island->self;
	for (uint32_t i = 0; i < active; i++)
		for (uint32_t j = 0; j < active; j++)
			self->picked[(size_t)i * active + j] =
				self->a[(size_t)self->active[i] * island->count + self->active[j]];
	struct lcp_problem lcp = { active, active, self->picked, self->b, NULL, NULL };
	struct solver_options options = *island->options;
	options.warm = true;
	options.rounds_max = 0;
	return lcp_dantzig_solve(&self->lcp, &lcp, &options, self->lambda, self->state);
}

static struct solver_result solve_projection(struct island *island, uint32_t active)
{
	struct reflection *self = island->self;
	uint32_t n = island->variables;
	for (uint32_t i = 0; i < active; i++) {
		dense_copy(self->lengths + (size_t)i * n,
			   self->rows + (size_t)self->active[i] * n, n);
		self->d[i] = -self->b[i];
	}
	struct qp_problem qp = { n, active, self->g, self->c, self->lengths, self->d, NULL };
	struct solver_options options = *island->options;
	options.warm = false;
	options.rounds_max = 0;
	return qp_dual_active_set_solve(&self->qp, &qp, &options, self->x, self->lambda,
					self->state);
}

/* One impact of the contacts in self->active with b = (1 + c) u; adds λ to `total`, carries u along. */
static void impact(struct island *island, uint32_t active, double factor, double *total)
{
	struct reflection *self = island->self;
	for (uint32_t i = 0; i < active; i++) {
		self->b[i] = factor * self->u[self->active[i]];
		/* What approaches usually pushes: the warm start of the first pivot. */
		self->state[i] = self->b[i] < 0 ? LCP_ACTIVE : LCP_LOWER;
	}
	struct solver_result part = island->core == REFLECTION_LCP ?
					    solve_lcp(island, active) :
					    solve_projection(island, active);
	island->result->pivots += part.pivots;
	island->result->refactorings += part.refactorings;
	island->result->regularisations += part.regularisations;
	if (part.status != SOLVER_SOLVED) {
		island->result->fallbacks++;
		if (island->result->status == SOLVER_SOLVED)
			island->result->status = SOLVER_INEXACT;
	}
	for (uint32_t i = 0; i < active; i++) {
		double lambda = self->lambda[i];
		if (lambda == 0)
			continue;
		total[self->active[i]] += lambda;
		/* A is symmetric: its row is its column. */
		dense_mul_add(self->u, self->a + (size_t)self->active[i] * island->count, lambda,
			      island->count);
	}
}

static uint32_t pick_approaching(struct island *island)
{
	uint32_t active = 0;
	for (uint32_t k = 0; k < island->count; k++)
		if (island->self->u[k] < -APPROACH * island->speed)
			island->self->active[active++] = k;
	return active;
}

static void impact_all(struct island *island, double factor, double *total)
{
	for (uint32_t k = 0; k < island->count; k++)
		island->self->active[k] = k;
	impact(island, island->count, factor, total);
	island->result->rounds = MAX_OF(1, island->result->rounds);
}

static void reflect(struct island *island)
{
	uint32_t most = island->options->rounds_max != 0 ? island->options->rounds_max : ROUNDS;
	uint32_t rounds = 0, active = pick_approaching(island);
	while (active > 0 && rounds < most) {
		impact(island, active, 2, island->self->total);
		rounds++;
		active = pick_approaching(island);
	}
	island->result->rounds = MAX_OF(rounds, island->result->rounds);
	if (active == 0)
		return;
	impact_all(island, 1, island->self->total);
	island->result->fallbacks++;
	island->result->status = SOLVER_LIMIT;
}

/* ---- all clusters ------------------------------------------------------------------------------- */

enum kind { REFLECT, ELASTIC };

static void solve_island(struct island *island, enum kind kind, double restitution, double *impulses)
{
	struct reflection *self = island->self;
	uint32_t n = island->count;
	assemble(island);
	if (island->core == REFLECTION_PROJECTION)
		assemble_projection(island);
	dense_zero(self->total, n);
	dense_zero(self->inelastic, n);
	if (kind == ELASTIC) {
		impact_all(island, 1 + restitution, self->total);
		restitution = 1;
	} else {
		if (restitution < 1)
			impact_all(island, 1, self->inelastic);
		dense_copy(self->u, self->start, n);
		if (restitution > 0)
			reflect(island);
	}
	for (uint32_t k = 0; k < n; k++) {
		self->lambda[k] = (1 - restitution) * self->inelastic[k] +
				  restitution * self->total[k];
		impulses[island->contacts[k]] = self->lambda[k];
	}
	for (uint32_t k = 0; k < n; k++) {
		double u = self->start[k] +
			   dense_dot(self->a + (size_t)k * n, self->lambda, n);
		double approach = scalar_is_finite(u) ? -u : __builtin_inf();
		if (island->speed > 0)
			island->result->residual =
				scalar_max(approach / island->speed, island->result->residual);
		island->result->violation = scalar_max(approach, island->result->violation);
	}
}

/* Whether the problem lies within the workspace; clusters are found on the way, none too large. */
static bool find_islands(struct reflection *self, const struct impact_problem *problem,
			 enum reflection_core core, uint32_t *clusters)
{
	bool projects = core == REFLECTION_PROJECTION && self->sizes.projection;
	if (self->lcp.certificate == NULL || (projects && self->qp.lcp.certificate == NULL) ||
	    (core != REFLECTION_LCP && !projects) ||
	    problem->contact_count > self->sizes.contacts ||
	    problem->body_count > self->sizes.bodies || !impact_valid(problem))
		return false;
	*clusters = impact_clusters(problem, self->order, self->starts, self->scratch);
	for (uint32_t k = 0; k < *clusters; k++)
		if (self->starts[k + 1] - self->starts[k] > self->sizes.island)
			return false;
	return true;
}

static struct solver_result solve(struct reflection *self, const struct impact_problem *problem,
				  enum reflection_core core, enum kind kind, double restitution,
				  const struct solver_options *options, double *impulses)
{
	struct solver_result result = { .status = SOLVER_SOLVED };
	const struct solver_options used = solver_options_used(options);
	dense_zero(impulses, problem->contact_count);
	uint32_t clusters = 0;
	if (!(restitution >= 0 && restitution <= 1) ||
	    !find_islands(self, problem, core, &clusters))
		return solver_invalid();
	for (uint32_t k = 0; k < clusters; k++) {
		struct island island = {
			.self = self,
			.problem = problem,
			.options = &used,
			.contacts = self->order + self->starts[k],
			.count = self->starts[k + 1] - self->starts[k],
			.core = core,
			.result = &result,
		};
		solve_island(&island, kind, restitution, impulses);
	}
	if (result.status == SOLVER_SOLVED && !(result.residual <= used.tolerance))
		result.status = SOLVER_INEXACT;
	return result;
}

struct solver_result reflection_solve(struct reflection *self, const struct impact_problem *problem,
				      enum reflection_core core, double restitution,
				      const struct solver_options *options, double *impulses)
{
	return solve(self, problem, core, REFLECT, restitution, options, impulses);
}

struct solver_result reflection_inelastic(struct reflection *self,
					  const struct impact_problem *problem,
					  enum reflection_core core,
					  const struct solver_options *options, double *impulses)
{
	return solve(self, problem, core, REFLECT, 0, options, impulses);
}

struct solver_result reflection_elastic(struct reflection *self,
					const struct impact_problem *problem,
					enum reflection_core core, double restitution,
					const struct solver_options *options, double *impulses)
{
	return solve(self, problem, core, ELASTIC, restitution, options, impulses);
}

void reflection_apply(const struct impact_problem *problem, const double *impulses)
{
	for (uint32_t k = 0; k < problem->contact_count; k++) {
		const struct impact_contact *contact = &problem->contacts[k];
		for (uint32_t side = 0; side < 2; side++) {
			struct impact_body *body = &problem->bodies[contact->body[side]];
			vec3 p = vec3_scale(contact->normal,
					    side == 0 ? impulses[k] : -impulses[k]);
			vec3 turn = mat3_mul_vec(body->inertia_inv,
						 vec3_cross(contact->arm[side], p));
			body->velocity = vec3_mul_add(body->velocity, p, body->mass_inv);
			body->spin = vec3_add(body->spin, turn);
		}
	}
}
