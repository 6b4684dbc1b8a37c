/* impact.c: what simultaneous impulses and reflections share. */
#include "server/engine/solvers/impact.h"

#include "server/engine/math/scalar.h"

#define UNIT 1e-6 /* how far a normal may be from unit; more is a mistake of the caller */

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
		velocity[side] = vec3_add(body->velocity, vec3_cross(body->spin, contact->arm[side]));
	}
	return in_frame(contact, vec3_sub(velocity[0], velocity[1]));
}

/* Qᵀ W_B(arm, arm') d: how the first contact's side sees a unit impulse d at the other's. */
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
			vec3 change = response(&problem->bodies[ca->body[i]], ca->arm[i],
					       cb->arm[j], d);
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
			vec3 turn = mat3_mul_vec(body->inertia_inv,
						 vec3_cross(contact->arm[side], p));
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

/* The least body of the cluster; halves the path on its way. */
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
	/* Each cluster's contacts are counted behind its root's number, by order of appearance. */
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
