/* bench_reflection: generalized reflections of about a thousand contacts, as islands of at most 50
 * and as one island: racks of touching balls with random velocities. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/impact.h"

enum { BODIES = 1024, CONTACTS = 2048 };

static struct impact_body bodies[BODIES];
static struct impact_contact contacts[CONTACTS];
static double impulses[CONTACTS];
static struct impact_problem problem = { bodies, contacts, 0, 0 };

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A rack of `rows` rows of touching balls, each with a random velocity: half of all contacts
 * approach at once, each coupled to others. `closing`: all balls move to the middle and every
 * contact approaches, a third more contacts than degrees of freedom. */
static void add_rack(uint32_t rows, bool closing, struct rng *rng)
{
	uint32_t above = 0;
	for (uint32_t y = 0; y < rows; y++) {
		uint32_t first = problem.body_count;
		for (uint32_t x = 0; x <= y; x++) {
			uint32_t at = problem.body_count++;
			vec3 n = vec3_make(0.5, -0.86602540378443865, 0), velocity = vec3_zero();
			velocity.x = rng_range(rng, -1, 1);
			velocity.y = rng_range(rng, -1, 1);
			if (closing)
				velocity = vec3_make(0.5 * y - x, y - 2.0 * rows / 3, 0);
			bodies[at] = (struct impact_body){ 1, mat3_zero(), velocity, vec3_zero() };
			if (x > 0)
				contacts[problem.contact_count++] = impact_contact_make(
					at, at - 1, vec3_zero(), vec3_zero(), vec3_axis(0), 1);
			if (x > 0)
				contacts[problem.contact_count++] = impact_contact_make(
					at, above + x - 1, vec3_zero(), vec3_zero(), n, 1);
			n.x = -0.5;
			if (x < y)
				contacts[problem.contact_count++] = impact_contact_make(
					at, above + x, vec3_zero(), vec3_zero(), n, 1);
		}
		above = first;
	}
}

static void run(const char *name)
{
	struct reflection_sizes sizes = { CONTACTS, 0 };
	struct solver_options options = solver_options_default();
	size_t bytes = reflection_bytes(sizes);
	void *memory = aligned_alloc(64, bytes);
	struct reflection solver;
	double least = 1e9;
	struct solver_result result = { 0 };
	if (memory == NULL)
		abort();
	memset(memory, 0, bytes);
	reflection_init(&solver, memory, sizes);
	for (uint32_t i = 0; i < 3; i++) {
		double begin = now();
		result = impact_reflect(&solver, &problem, REFLECTION_LCP, IMPACT_REFLECT, 1,
					&options, impulses);
		least = scalar_min(now() - begin, least);
	}
	printf("%-24s %5u contacts: %9.3f ms, %4u rounds at most, %.3f ms a round, %u pivots, %s, "
	       "residual %.1e\n",
	       name, problem.contact_count, least, result.rounds, least / result.rounds,
	       result.pivots, solver_status_name(result.status), result.residual);
	free(memory);
}

int main(void)
{
	struct rng rng = rng_seeded(1);
	while (problem.contact_count + 45 <= 1000)
		add_rack(6, false, &rng);
	run("islands of 45");
	problem.body_count = problem.contact_count = 0;
	add_rack(26, false, &rng);
	run("one island");
	problem.body_count = problem.contact_count = 0;
	add_rack(26, true, &rng);
	run("one island, closing");
	return 0;
}
