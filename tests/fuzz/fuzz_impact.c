/* fuzz_impact: arbitrary bodies and contacts, of small integers or of arbitrary doubles. The solver
 * ends with a status; impulses are not negative; a result reported as solved is verified by
 * multiplication; and no energy is gained. */
#include <stdlib.h>
#include <string.h>

#include "server/engine/math/scalar.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/lib/impact.h"

enum { BODIES = 5, CONTACTS = 6 };
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double number(struct fuzz_input *input)
{
	if (!input->raw)
		return ((double)fuzz_byte(input) - 128) / 32;
	return fuzz_double(input);
}

static vec3 vector(struct fuzz_input *input)
{
	double x = number(input), y = number(input);
	return vec3_make(x, y, number(input));
}

/* A matrix A Aᵀ, which is semidefinite; also of arbitrary doubles, if their products are finite. */
static void add_body(struct fuzz_input *input, struct impact_body *body)
{
	vec3 x = vector(input), y = vector(input);
	mat3 root = mat3_columns(x, y, vector(input));
	body->mass_inv = scalar_abs(number(input));
	body->inertia_inv = mat3_mul(root, mat3_transpose(root));
	body->velocity = vector(input);
	body->spin = vector(input);
}

static struct impact_contact contact_from(struct fuzz_input *input, uint32_t bodies)
{
	static const double unit[4][3] = {
		{ 1, 0, 0 }, { 0, 1, 0 }, { 0.6, 0.8, 0 }, { 0, -0.6, 0.8 }
	};
	uint32_t first = fuzz_byte(input) % bodies, second = fuzz_byte(input) % bodies;
	const double *n = unit[fuzz_byte(input) % 4];
	vec3 arm = vector(input);
	struct impact_contact contact = impact_contact_make(
		first, first == second ? (first + 1) % bodies : second, arm, vector(input),
		vec3_make(n[0], n[1], n[2]), fuzz_byte(input) / 255.0);
	contact.friction[0] = fuzz_byte(input) / 128.0;
	contact.friction[1] = fuzz_byte(input) / 128.0;
	return contact;
}

/* The energy gained, Σ ½ P·(u + U), and the sum of the absolute terms. */
static double gain_of(const struct impact_problem *problem, const struct impact_body *before,
		      const vec3 *impulses, double *size)
{
	struct impact_problem old = *problem;
	struct impact_body copy[BODIES];
	double gain = 0;
	memcpy(copy, before, sizeof copy);
	old.bodies = copy;
	*size = 0;
	for (uint32_t k = 0; k < problem->contact_count; k++) {
		vec3 u = impact_velocity(&old, k), after = impact_velocity(problem, k);
		gain += 0.5 * vec3_dot(impulses[k], vec3_add(u, after));
		*size += vec3_length(impulses[k]) * (vec3_length(u) + vec3_length(after));
	}
	return gain;
}

static void check(const struct impact_problem *problem, struct solver_result result,
		  const vec3 *impulses, bool raw)
{
	struct impact_body before[BODIES];
	double size;
	ASSERT((uint32_t)result.status < SOLVER_STATUSES);
	/* Valid numbers may overflow in a product. */
	ASSERT(impact_valid(problem) || result.status == SOLVER_INVALID);
	for (uint32_t k = 0; k < problem->contact_count; k++)
		ASSERT(!(impulses[k].x < 0));
	if (result.status == SOLVER_INVALID || raw)
		return;
	memcpy(before, problem->bodies, sizeof before);
	impact_apply(problem, impulses);
	double gain = gain_of(problem, before, impulses, &size);
	memcpy(problem->bodies, before, sizeof before);
	ASSERT(gain <= 1e-8 * size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static _Alignas(64) unsigned char memory[1 << 18];
	struct fuzz_input input = { data, bytes, false };
	struct impact_body bodies[BODIES] = { { .mass_inv = 0 } };
	struct impact_contact contacts[CONTACTS];
	double pushes[CONTACTS];
	vec3 impulses[CONTACTS];
	struct impulse impulse;
	struct reflection reflection;
	struct solver_options options = solver_options_default();
	struct reflection_sizes sizes = { CONTACTS, IMPACT_VARIABLES * BODIES };
	if (impulse_bytes(CONTACTS) > sizeof memory || reflection_bytes(sizes) > sizeof memory)
		abort();
	uint8_t flags = fuzz_byte(&input);
	input.raw = (flags & 1) != 0;
	uint32_t body_count = 2 + fuzz_byte(&input) % (BODIES - 1);
	uint32_t contact_count = fuzz_byte(&input) % (CONTACTS + 1);
	for (uint32_t i = 1; i < body_count; i++)
		add_body(&input, &bodies[i]);
	for (uint32_t k = 0; k < contact_count; k++)
		contacts[k] = contact_from(&input, body_count);
	struct impact_problem problem = { bodies, contacts, body_count, contact_count };
	/* Fills the memory, so that a value read before it is written shows. */
	memset(memory, 0x7f, impulse_bytes(CONTACTS));
	impulse_init(&impulse, memory, CONTACTS);
	struct solver_result result = impact_impulses(&impulse, &problem, &options, impulses);
	ASSERT(result.status != SOLVER_SOLVED || result.residual <= options.tolerance);
	check(&problem, result, impulses, input.raw);
	memset(memory, 0x7f, reflection_bytes(sizes));
	reflection_init(&reflection, memory, sizes);
	options.rounds_max = 20;
	enum reflection_core core = (flags & 2) != 0 ? REFLECTION_LCP : REFLECTION_PROJECTION;
	double restitution = (flags >> 2) / 63.0;
	result = impact_reflect(&reflection, &problem, core, IMPACT_REFLECT, restitution, &options,
				pushes);
	for (uint32_t k = 0; k < contact_count; k++)
		impulses[k] = vec3_make(pushes[k], 0, 0);
	check(&problem, result, impulses, input.raw || result.status == SOLVER_INEXACT);
	return 0;
}
