/* See impact.h. */
#include "tests/lib/impact.h"

#include <stdlib.h>

#include "server/engine/math/scalar.h"

#define UNIT                                                                                       \
	1e-6 /* how far a normal's length may be from 1; a larger error is a bug of the caller */

struct impact_contact impact_contact_make(uint32_t body1, uint32_t body2, vec3 arm1, vec3 arm2,
					  vec3 normal, double restitution)
{
	struct impact_contact contact = { .body = { body1, body2 },
					  .arm = { arm1, arm2 },
					  .normal = normal,
					  .restitution = restitution };
	vec3_frame(normal, &contact.tangent, &contact.binormal);
	return contact;
}

static bool contact_valid(const struct impact_contact *c, uint32_t bodies)
{
	return c->body[0] < bodies && c->body[1] < bodies && c->body[0] != c->body[1] &&
	       vec3_is_finite(c->arm[0]) && vec3_is_finite(c->arm[1]) &&
	       vec3_is_finite(c->normal) && vec3_is_finite(c->tangent) &&
	       vec3_is_finite(c->binormal) && c->restitution >= 0 && c->restitution <= 1 &&
	       c->friction[0] >= 0 && c->friction[0] <= SCALAR_MAX && c->friction[1] >= 0 &&
	       c->friction[1] <= SCALAR_MAX &&
	       scalar_abs(vec3_length_squared(c->normal) - 1) <= UNIT;
}

bool impact_valid(const struct impact_problem *problem)
{
	for (uint32_t b = 0; b < problem->body_count; b++) {
		const struct impact_body *body = &problem->bodies[b];
		if (!(body->mass_inv >= 0 && body->mass_inv <= SCALAR_MAX) ||
		    !vec3_is_finite(body->inertia_inv.x) || !vec3_is_finite(body->inertia_inv.y) ||
		    !vec3_is_finite(body->inertia_inv.z) || !vec3_is_finite(body->velocity) ||
		    !vec3_is_finite(body->spin))
			return false;
	}
	for (uint32_t c = 0; c < problem->contact_count; c++)
		if (!contact_valid(&problem->contacts[c], problem->body_count))
			return false;
	return true;
}

static vec3 in_frame(const struct impact_contact *contact, vec3 world)
{
	return vec3_make(vec3_dot(contact->normal, world), vec3_dot(contact->tangent, world),
			 vec3_dot(contact->binormal, world));
}

static vec3 in_world(const struct impact_contact *contact, vec3 p)
{
	return vec3_mul_add(vec3_mul_add(vec3_scale(contact->normal, p.x), contact->tangent, p.y),
			    contact->binormal, p.z);
}

vec3 impact_velocity(const struct impact_problem *problem, uint32_t index)
{
	const struct impact_contact *contact = &problem->contacts[index];
	vec3 velocity[2];
	for (uint32_t side = 0; side < 2; side++) {
		const struct impact_body *body = &problem->bodies[contact->body[side]];
		velocity[side] =
			vec3_add(body->velocity, vec3_cross(body->spin, contact->arm[side]));
	}
	return in_frame(contact, vec3_sub(velocity[0], velocity[1]));
}

/* Qᵀ W_B(arm, arm') d: the velocity at the first contact's arm for a unit impulse d at the other's. */
static vec3 response(const struct impact_body *body, vec3 at, vec3 arm, vec3 impulse)
{
	vec3 spin = mat3_mul_vec(body->inertia_inv, vec3_cross(arm, impulse));
	return vec3_add(vec3_scale(impulse, body->mass_inv), vec3_cross(spin, at));
}

/* Change of contact a's velocity, in world axes, for the impulse d (world axes) at contact b. */
static vec3 contact_response(const struct impact_problem *problem, uint32_t a, uint32_t b, vec3 d)
{
	const struct impact_contact *ca = &problem->contacts[a], *cb = &problem->contacts[b];
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < 2; j++) {
			if (ca->body[i] != cb->body[j])
				continue;
			vec3 change =
				response(&problem->bodies[ca->body[i]], ca->arm[i], cb->arm[j], d);
			sum = vec3_mul_add(sum, change, i == j ? 1 : -1);
		}
	return sum;
}

mat3 impact_block(const struct impact_problem *problem, uint32_t a, uint32_t b)
{
	const struct impact_contact *ca = &problem->contacts[a], *cb = &problem->contacts[b];
	return mat3_columns(in_frame(ca, contact_response(problem, a, b, cb->normal)),
			    in_frame(ca, contact_response(problem, a, b, cb->tangent)),
			    in_frame(ca, contact_response(problem, a, b, cb->binormal)));
}

double impact_normal_entry(const struct impact_problem *problem, uint32_t a, uint32_t b)
{
	return vec3_dot(problem->contacts[a].normal,
			contact_response(problem, a, b, problem->contacts[b].normal));
}

void impact_apply(const struct impact_problem *problem, const vec3 *impulses)
{
	for (uint32_t c = 0; c < problem->contact_count; c++) {
		const struct impact_contact *contact = &problem->contacts[c];
		vec3 impulse = in_world(contact, impulses[c]);
		for (uint32_t side = 0; side < 2; side++) {
			struct impact_body *body = &problem->bodies[contact->body[side]];
			vec3 p = side == 0 ? impulse : vec3_negate(impulse);
			vec3 turn =
				mat3_mul_vec(body->inertia_inv, vec3_cross(contact->arm[side], p));
			body->velocity = vec3_mul_add(body->velocity, p, body->mass_inv);
			body->spin = vec3_add(body->spin, turn);
		}
	}
}

double impact_energy_change(const struct impact_problem *problem, const vec3 *impulses,
			    const vec3 *after)
{
	double sum = 0;
	for (uint32_t c = 0; c < problem->contact_count; c++)
		sum += 0.5 * vec3_dot(impulses[c], vec3_add(impact_velocity(problem, c), after[c]));
	return sum;
}

/* ---- clusters ----------------------------------------------------------------------------------- */

static bool moves(const struct impact_body *body)
{
	const mat3 *t = &body->inertia_inv;
	return body->mass_inv > 0 || t->x.x > 0 || t->y.y > 0 || t->z.z > 0;
}

/* The least body of the cluster; path halving on the way. */
static uint32_t root(uint32_t *parent, uint32_t body)
{
	while (parent[body] != body) {
		parent[body] = parent[parent[body]];
		body = parent[body];
	}
	return body;
}

uint32_t impact_clusters(const struct impact_problem *problem, uint32_t *order, uint32_t *starts,
			 uint32_t *scratch)
{
	uint32_t *parent = scratch, *cluster_of = scratch + problem->body_count, count = 0;
	for (uint32_t b = 0; b < problem->body_count; b++)
		parent[b] = b;
	for (uint32_t c = 0; c < problem->contact_count; c++) {
		const uint32_t *body = problem->contacts[c].body;
		if (!moves(&problem->bodies[body[0]]) || !moves(&problem->bodies[body[1]]))
			continue;
		uint32_t a = root(parent, body[0]), b = root(parent, body[1]);
		parent[MAX_OF(a, b)] = MIN_OF(a, b);
	}
	/* Each cluster's contacts are counted in the entry after its root's number, in order of
	 * appearance. */
	for (uint32_t c = 0; c < problem->contact_count; c++) {
		const uint32_t *body = problem->contacts[c].body;
		cluster_of[c] = root(parent, moves(&problem->bodies[body[0]]) ? body[0] : body[1]);
	}
	/* The roots of bodies are no longer needed: parent[root] becomes the cluster's number. */
	for (uint32_t b = 0; b < problem->body_count; b++)
		parent[b] = UINT32_MAX;
	for (uint32_t c = 0; c < problem->contact_count; c++) {
		uint32_t *number = &parent[cluster_of[c]];
		if (*number == UINT32_MAX) {
			*number = count;
			starts[count++] = 0;
		}
		cluster_of[c] = *number;
		starts[*number]++;
	}
	for (uint32_t k = 0, at = 0; k <= count; k++) {
		uint32_t here = k < count ? starts[k] : 0;
		starts[k] = at;
		at += here;
	}
	for (uint32_t c = 0; c < problem->contact_count; c++)
		order[starts[cluster_of[c]]++] = c;
	for (uint32_t k = count; k > 0; k--)
		starts[k] = starts[k - 1];
	starts[0] = 0;
	return count;
}

/* ---- the solvers -------------------------------------------------------------------------------- */

/* Entries outside the cluster's list are not read. */
struct cluster {
	const struct impact_problem *problem;
	const uint32_t *contacts;
	uint32_t count;
};

static double *numbers(size_t count)
{
	double *memory = calloc(count > 0 ? count : 1, sizeof *memory);
	ASSERT(memory != NULL);
	return memory;
}

static struct solver_result solve_impulse(struct impulse *solver, const struct cluster *cluster,
					  const struct solver_options *options, vec3 *impulses)
{
	uint32_t n = 3 * cluster->count;
	double *a = numbers((size_t)n * n), *u = numbers(n), *restitution = numbers(n);
	double *friction = numbers(n), *x = numbers(n);
	for (uint32_t c = 0; c < cluster->count; c++) {
		const struct impact_contact *contact =
			&cluster->problem->contacts[cluster->contacts[c]];
		vec3 velocity = impact_velocity(cluster->problem, cluster->contacts[c]);
		restitution[c] = contact->restitution;
		friction[2 * c] = contact->friction[0];
		friction[2 * c + 1] = contact->friction[1];
		for (uint32_t i = 0; i < 3; i++)
			u[3 * c + i] = vec3_get(velocity, i);
		for (uint32_t d = 0; d < cluster->count; d++) {
			mat3 block = impact_block(cluster->problem, cluster->contacts[c],
						  cluster->contacts[d]);
			for (uint32_t i = 0; i < 9; i++)
				a[(size_t)(3 * c + i / 3) * n + 3 * d + i % 3] =
					mat3_get(block, i / 3, i % 3);
		}
	}
	struct impulse_problem problem = { cluster->count, n, a, u, restitution, friction };
	struct solver_result result = impulse_solve(solver, &problem, options, x);
	for (uint32_t c = 0; c < cluster->count; c++)
		impulses[cluster->contacts[c]] = vec3_make(x[3 * c], x[3 * c + 1], x[3 * c + 2]);
	free(a);
	free(u);
	free(restitution);
	free(friction);
	free(x);
	return result;
}

static double point_speed(const struct impact_problem *problem,
			  const struct impact_contact *contact)
{
	double most = 0;
	for (uint32_t side = 0; side < 2; side++) {
		const struct impact_body *body = &problem->bodies[contact->body[side]];
		vec3 v = vec3_add(body->velocity, vec3_cross(body->spin, contact->arm[side]));
		most = scalar_max(vec3_length(v), most);
	}
	return most;
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

/* Rows of N L over the cluster's bodies, numbered by first appearance, with M⁻¹ = L Lᵀ: in these
 * coordinates M is 1, also for bodies that turn about fewer than three axes. */
static uint32_t project(const struct cluster *cluster, double **mass, double **rows)
{
	const struct impact_problem *problem = cluster->problem;
	uint32_t bodies = 0, most = problem->body_count;
	uint32_t *local = malloc((most + 1) * sizeof *local);
	ASSERT(local != NULL);
	for (uint32_t b = 0; b < most; b++)
		local[b] = UINT32_MAX;
	for (uint32_t k = 0; k < 2 * cluster->count; k++) {
		uint32_t *at = &local[problem->contacts[cluster->contacts[k / 2]].body[k % 2]];
		if (*at == UINT32_MAX)
			*at = bodies++;
	}
	uint32_t n = IMPACT_VARIABLES * bodies;
	*mass = numbers((size_t)n * n);
	*rows = numbers((size_t)cluster->count * n);
	for (uint32_t j = 0; j < n; j++)
		(*mass)[(size_t)j * n + j] = 1;
	for (uint32_t k = 0; k < 2 * cluster->count; k++) {
		const struct impact_contact *contact = &problem->contacts[cluster->contacts[k / 2]];
		const struct impact_body *body = &problem->bodies[contact->body[k % 2]];
		double *row = *rows + (size_t)(k / 2) * n +
			      IMPACT_VARIABLES * local[contact->body[k % 2]];
		vec3 normal = vec3_scale(contact->normal, k % 2 == 0 ? 1 : -1);
		vec3 turn = mat3_transposed_mul_vec(root_of(body->inertia_inv),
						    vec3_cross(contact->arm[k % 2], normal));
		for (uint32_t i = 0; i < 3; i++) {
			row[i] = vec3_get(normal, i) * scalar_sqrt(body->mass_inv);
			row[3 + i] = vec3_get(turn, i);
		}
	}
	free(local);
	return n;
}

static struct solver_result solve_reflection(struct reflection *solver,
					     const struct cluster *cluster,
					     enum reflection_core core, enum impact_kind kind,
					     double restitution,
					     const struct solver_options *options, double *impulses)
{
	uint32_t n = cluster->count;
	double *a = numbers((size_t)n * n), *u = numbers(n), *x = numbers(n);
	double *mass = NULL, *rows = NULL, speed = 0;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t contact = cluster->contacts[k];
		u[k] = impact_velocity(cluster->problem, contact).x;
		speed = scalar_max(
			point_speed(cluster->problem, &cluster->problem->contacts[contact]), speed);
		for (uint32_t l = 0; l <= k; l++)
			a[(size_t)k * n + l] = a[(size_t)l * n + k] = impact_normal_entry(
				cluster->problem, contact, cluster->contacts[l]);
	}
	uint32_t variables = 0;
	if (core == REFLECTION_PROJECTION)
		variables = project(cluster, &mass, &rows);
	struct reflection_problem problem = { n, n, a, u, speed, variables, mass, rows };
	struct solver_result result =
		kind == IMPACT_REFLECT
			? reflection_solve(solver, &problem, core, restitution, options, x)
		: kind == IMPACT_INELASTIC
			? reflection_inelastic(solver, &problem, core, options, x)
			: reflection_elastic(solver, &problem, core, restitution, options, x);
	for (uint32_t k = 0; k < n; k++)
		impulses[cluster->contacts[k]] = x[k];
	free(a);
	free(u);
	free(x);
	free(mass);
	free(rows);
	return result;
}

/* Statuses from best to worst. */
static int badness(enum solver_status status)
{
	return status == SOLVER_SOLVED	  ? 0
	       : status == SOLVER_INEXACT ? 1
	       : status == SOLVER_LIMIT	  ? 2
					  : 3;
}

static void add_result(struct solver_result *sum, struct solver_result part, bool most_rounds)
{
	if (badness(part.status) > badness(sum->status))
		sum->status = part.status;
	sum->pivots += part.pivots;
	sum->rounds = most_rounds ? MAX_OF(sum->rounds, part.rounds) : sum->rounds + part.rounds;
	sum->refactorings += part.refactorings;
	sum->regularisations += part.regularisations;
	sum->fallbacks += part.fallbacks;
	sum->residual = scalar_max(part.residual, sum->residual);
	sum->violation = scalar_max(part.violation, sum->violation);
}

/* Clusters of the problem: order, then starts; returned owned. */
static uint32_t *find_clusters(const struct impact_problem *problem, uint32_t *count)
{
	uint32_t contacts = problem->contact_count;
	uint32_t *order = malloc((3 * (size_t)contacts + problem->body_count + 1) * sizeof *order);
	ASSERT(order != NULL);
	*count = impact_clusters(problem, order, order + contacts, order + 2 * contacts + 1);
	return order;
}

struct solver_result impact_impulses(struct impulse *solver, const struct impact_problem *problem,
				     const struct solver_options *options, vec3 *impulses)
{
	struct solver_result sum = { .status = SOLVER_SOLVED };
	uint32_t clusters;
	for (uint32_t c = 0; c < problem->contact_count; c++)
		impulses[c] = vec3_zero();
	if (!impact_valid(problem))
		return solver_invalid();
	uint32_t *order = find_clusters(problem, &clusters);
	const uint32_t *starts = order + problem->contact_count;
	for (uint32_t k = 0; k < clusters; k++) {
		struct cluster cluster = { problem, order + starts[k], starts[k + 1] - starts[k] };
		add_result(&sum, solve_impulse(solver, &cluster, options, impulses), false);
	}
	free(order);
	return sum;
}

struct solver_result impact_reflect(struct reflection *solver, const struct impact_problem *problem,
				    enum reflection_core core, enum impact_kind kind,
				    double restitution, const struct solver_options *options,
				    double *impulses)
{
	struct solver_result sum = { .status = SOLVER_SOLVED };
	uint32_t clusters;
	for (uint32_t c = 0; c < problem->contact_count; c++)
		impulses[c] = 0;
	if (!impact_valid(problem))
		return solver_invalid();
	uint32_t *order = find_clusters(problem, &clusters);
	const uint32_t *starts = order + problem->contact_count;
	for (uint32_t k = 0; k < clusters; k++) {
		struct cluster cluster = { problem, order + starts[k], starts[k + 1] - starts[k] };
		add_result(&sum,
			   solve_reflection(solver, &cluster, core, kind, restitution, options,
					    impulses),
			   true);
	}
	free(order);
	return sum;
}

void impact_apply_normal(const struct impact_problem *problem, const double *impulses)
{
	for (uint32_t k = 0; k < problem->contact_count; k++) {
		const struct impact_contact *contact = &problem->contacts[k];
		for (uint32_t side = 0; side < 2; side++) {
			struct impact_body *body = &problem->bodies[contact->body[side]];
			vec3 p =
				vec3_scale(contact->normal, side == 0 ? impulses[k] : -impulses[k]);
			vec3 turn =
				mat3_mul_vec(body->inertia_inv, vec3_cross(contact->arm[side], p));
			body->velocity = vec3_mul_add(body->velocity, p, body->mass_inv);
			body->spin = vec3_add(body->spin, turn);
		}
	}
}
