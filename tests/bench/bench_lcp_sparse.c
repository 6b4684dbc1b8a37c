/* bench_lcp_sparse: walls of bricks in running bond that also touch sideways, by the sparse solver
 * and, up to a size, by the dense one: cold, from the solution itself, and after changes of all
 * velocities.
 *
 *   bench_lcp_sparse [BRICKS…]      default 4 8 14 30 60 100 200 1000 5000 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/heap.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/lib/gen_sparse.h"

enum { REPEATS = 5, DENSE_MAX = 2500 };

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

struct bench {
	struct gen_scene scene;
	struct gen_sparse gen;
	struct gen_solver solver;
	struct solver_options options;
	double *x, *start, (*v)[LCP_BODY];
};

/* The median of a few runs from the same start. */
static void solve(struct bench *self, const char *name)
{
	double times[REPEATS], swap;
	struct solver_result result = { 0 };
	for (uint32_t k = 0; k < REPEATS; k++) {
		memcpy(self->x, self->start, self->gen.problem.rows * sizeof *self->x);
		double begin = now_ms();
		result = lcp_sparse_solve(&self->solver.solver, &self->gen.problem, &self->options,
					  self->x, self->v);
		times[k] = now_ms() - begin;
		for (uint32_t i = k; i > 0 && times[i] < times[i - 1]; i--)
			swap = times[i], times[i] = times[i - 1], times[i - 1] = swap;
	}
	printf("  %-14s %9.3f ms, %2u factors, %5u rows changed, residual %.0e, %.0e m/s, %s\n",
	       name, times[REPEATS / 2], result.refactorings, result.pivots, result.residual,
	       result.violation, solver_status_name(result.status));
	fflush(stdout);
}

static void solve_dense(const struct bench *self)
{
	uint32_t n = self->scene.contacts;
	struct gen_lcp gen;
	struct lcp_dantzig solver;
	void *memory = heap_alloc_aligned(lcp_dantzig_bytes(n));
	double *x = heap_alloc(n * sizeof *x);
	uint8_t *state = heap_alloc(n);
	gen_lcp_init(&gen, n);
	if (memory == NULL || x == NULL || state == NULL)
		abort();
	gen_scene_lcp(&self->scene, 1, NULL, &gen);
	lcp_dantzig_init(&solver, memory, n);
	struct solver_options options = solver_options_default();
	for (uint32_t pass = 0; pass < 2; pass++) {
		double begin = now_ms();
		struct solver_result result =
			lcp_dantzig_solve(&solver, &gen.problem, &options, x, state);
		printf("  dense %-8s %9.3f ms, residual %.0e, %s\n", pass == 0 ? "cold" : "same",
		       now_ms() - begin, result.residual, solver_status_name(result.status));
		options.warm = true;
	}
	gen_lcp_release(&gen);
	heap_free(memory);
	heap_free(x);
	heap_free(state);
}

/* Changes b by velocities of up to `size` in every component. An arbitrary b would have no
 * solution, because contacts are redundant. */
static void disturb(struct bench *self, const double *b, struct rng *rng, double size)
{
	double(*change)[6] = heap_alloc(self->scene.bodies * sizeof *change);
	if (change == NULL)
		abort();
	for (uint32_t i = 0; i < self->scene.bodies; i++)
		for (uint32_t c = 0; c < 6; c++)
			change[i][c] = rng_range(rng, -size, size);
	for (uint32_t i = 0; i < self->gen.problem.rows; i++) {
		self->gen.b[i] = b[i];
		for (uint32_t p = self->gen.start[i]; p < self->gen.start[i + 1]; p++)
			for (uint32_t c = 0; c < 6; c++)
				self->gen.b[i] +=
					self->gen.jacobian[p][c] * change[self->gen.body[p]][c];
	}
	heap_free(change);
}

static void run(uint32_t bricks, double tilt)
{
	struct bench self = { .options = solver_options_default() };
	struct rng rng = rng_seeded(3);
	uint32_t wide = 2;
	while (wide * wide * 5 < bricks * 8)
		wide++;
	self.scene = gen_bond_wall(bricks, wide, 4, tilt);
	self.gen = gen_scene_sparse(&self.scene, 1);
	uint32_t rows = self.gen.problem.rows;
	self.x = heap_alloc_zero(3 * (size_t)rows * sizeof(double));
	self.v = heap_alloc(bricks * sizeof *self.v);
	if (self.x == NULL || self.v == NULL)
		abort();
	self.start = self.x + rows;
	double *b = self.start + rows, begin = now_ms();
	memcpy(b, self.gen.b, rows * sizeof *b);
	gen_solver_init(&self.solver, &self.gen.problem);
	printf("wall of %u%s: %u rows, %zu blocks, ordered in %.2f ms; %s is chosen by size\n",
	       bricks, tilt != 0 ? ", tilted" : "", rows, self.solver.solver.blocks_needed,
	       now_ms() - begin, lcp_sparse_is_cheaper(rows, bricks) ? "sparse" : "dense");
	solve(&self, "cold");
	memcpy(self.start, self.x, rows * sizeof *b);
	self.options.warm = true;
	solve(&self, "same");
	for (double size = 1e-8; size < 0.2; size *= 100) {
		char name[32];
		disturb(&self, b, &rng, size);
		snprintf(name, sizeof name, "by %.0e m/s", size);
		solve(&self, name);
	}
	if (rows <= DENSE_MAX)
		solve_dense(&self);
	gen_solver_release(&self.solver);
	gen_sparse_release(&self.gen);
	gen_scene_release(&self.scene);
	heap_free(self.x);
	heap_free(self.v);
}

int main(int count, char **arguments)
{
	static const uint32_t sizes[] = { 4, 8, 14, 30, 60, 100, 200, 1000, 5000 };
	for (uint32_t k = 0; k < COUNT_OF(sizes) && count == 1; k++) {
		run(sizes[k], 0);
		run(sizes[k], 0.3);
	}
	for (int k = 1; k < count; k++)
		run((uint32_t)strtoul(arguments[k], NULL, 10), 0.3);
	return 0;
}
