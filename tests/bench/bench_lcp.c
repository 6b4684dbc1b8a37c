/* bench_lcp: our solver of complementarity problems beside Bullet's Dantzig and Lemke and ODE's
 * (the origin of Bullet's Dantzig), on the same problems: least time of three, largest violation,
 * failures. Debian's Bullet computes in float, its ODE in double.
 *
 *   bench_lcp [LEMKE_ROWS]      Lemke runs up to this many rows (default 80)
 *
 * dense R: as many rows again as the rank R of A, none of them sparse.
 *
 * A failure is one that the solver reports, or a violation of x ≥ 0, w ≥ 0, x w = 0 (relative to b,
 * diagonal scaled to 1) above 1e-6, which is above any tolerance that a float build or a
 * regularised matrix needs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/heap.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/bench/bench_lcp.h"
#include "tests/lib/gen_lcp.h"

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

static double violation(const struct lcp_problem *p, const double *x)
{
	double worst = 0, size = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		double w = p->b[i], root = sqrt(p->a[(size_t)i * p->stride + i]);
		for (uint32_t j = 0; j < p->count; j++)
			w += p->a[(size_t)i * p->stride + j] * x[j];
		double bad = fmax(fmax(-x[i] * root, -w / root),
				  fmin(fabs(x[i] * root), fabs(w / root)));
		if (!(bad <= worst))
			worst = bad;
		size = fmax(size, fabs(p->b[i] / root));
	}
	return worst == 0 ? 0 : worst / size;
}

static void line(const char *solver, bool solved, double bad, double ms)
{
	if (!solved || !(bad <= 1e-6))
		printf(" | %s FAILS %8.3f ms", solver, ms);
	else
		printf(" | %s %.0e %8.3f ms", solver, bad, ms);
}

static void ours(const struct lcp_problem *p, double *x)
{
	void *memory = heap_alloc_aligned(lcp_dantzig_bytes(p->count));
	uint8_t *state = heap_alloc(p->count + 1);
	struct lcp_dantzig solver;
	struct solver_options options = solver_options_default();
	struct solver_result result;
	double least = INFINITY;
	lcp_dantzig_init(&solver, memory, p->count);
	for (uint32_t k = 0; k < 3; k++) {
		double start = now_ms();
		result = lcp_dantzig_solve(&solver, p, &options, x, state);
		least = fmin(least, now_ms() - start);
	}
	options.warm = true;
	double start = now_ms(), cold = least;
	(void)lcp_dantzig_solve(&solver, p, &options, x, state);
	double warm = now_ms() - start;
	line("ours", result.status == SOLVER_SOLVED, violation(p, x), cold);
	printf(" (%u pivots, %u fallbacks, warm %.3f ms)", result.pivots, result.fallbacks, warm);
	heap_free(state);
	heap_free(memory);
}

enum peer { PEER_BULLET_DANTZIG, PEER_BULLET_LEMKE, PEER_ODE };

static bool ask(enum peer which, const struct lcp_problem *p, double *x)
{
	int n = (int)p->count, stride = (int)p->stride;
	return which == PEER_ODE ? bench_ode_lcp(n, stride, p->a, p->b, x)
				 : bench_bullet_lcp((int)which, n, stride, p->a, p->b, x);
}

static void theirs(const char *name, enum peer which, const struct lcp_problem *p, double *x)
{
	double least = INFINITY;
	bool solved = false;
	for (uint32_t k = 0; k < 3 && least > (k > 0 ? 0 : -1) && (k == 0 || least < 1000); k++) {
		double start = now_ms();
		solved = ask(which, p, x);
		least = fmin(least, now_ms() - start);
	}
	line(name, solved, violation(p, x), least);
}

static void run(const char *name, const struct lcp_problem *p, uint32_t lemke_rows)
{
	double *x = heap_alloc((p->count + 1) * sizeof *x);
	printf("%-14s n %4u", name, p->count);
	ours(p, x);
	if (bench_has_bullet()) {
		theirs("Dantzig", PEER_BULLET_DANTZIG, p, x);
		if (p->count <= lemke_rows)
			theirs("Lemke", PEER_BULLET_LEMKE, p, x);
	}
	if (bench_has_ode())
		theirs("ODE", PEER_ODE, p, x);
	printf("\n");
	fflush(stdout);
	heap_free(x);
}

static void run_scene(const char *name, struct gen_scene scene, double noise, uint32_t lemke_rows)
{
	struct rng rng = rng_seeded(3);
	struct gen_lcp gen;
	gen_lcp_init(&gen, scene.contacts);
	gen_scene_fall(&scene, &rng, noise);
	gen_scene_lcp(&scene, 1, NULL, &gen);
	run(name, &gen.problem, lemke_rows);
	gen_lcp_release(&gen);
	gen_scene_release(&scene);
}

int main(int count, char **arguments)
{
	static const uint32_t stacks[] = { 5, 10, 20, 25, 50, 100 }, walls[] = { 3, 5, 10, 20 };
	uint32_t lemke_rows = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 80;
	struct gen_lcp gen;
	char name[32];
	gen_lcp_init(&gen, 60);
	for (uint32_t family = 0; family <= GEN_INTEGER; family++) {
		struct rng rng = rng_seeded(9);
		do
			gen_lcp_random(&gen, (enum gen_family)family, &rng, 60);
		while (gen.problem.count < 50);
		gen.problem.lower = gen.problem.upper = NULL;
		run(gen_family_name((enum gen_family)family), &gen.problem, lemke_rows);
	}
	gen_lcp_release(&gen);
	for (uint32_t rows = 100; rows <= 400; rows *= 2) {
		struct rng rng = rng_seeded(9);
		gen_lcp_init(&gen, rows);
		gen_lcp_dense(&gen, &rng, rows / 2);
		snprintf(name, sizeof name, "dense %u", rows / 2);
		run(name, &gen.problem, lemke_rows);
		gen_lcp_release(&gen);
	}
	for (uint32_t noise = 0; noise < 2; noise++) {
		for (uint32_t i = 0; i < COUNT_OF(stacks); i++) {
			snprintf(name, sizeof name, "stack %u%s", stacks[i], noise ? " *" : "");
			run_scene(name, gen_tower(stacks[i], 1), 0.1 * noise, lemke_rows);
		}
		for (uint32_t i = 0; i < COUNT_OF(walls); i++) {
			snprintf(name, sizeof name, "wall %u%s", walls[i], noise ? " *" : "");
			run_scene(name, gen_wall(walls[i]), 0.1 * noise, lemke_rows);
		}
	}
	run_scene("tower 8 1000", gen_tower(8, 1000), 0, lemke_rows);
	printf("*: with random velocities\n");
	return 0;
}
