/* bench_lcp_sparse: ten thousand contacts by the sparse solver: a wall of 50 rows as one island, and as many
 * contacts in walls of 5 rows, cold, from their own answer, and after changes of all velocities.
 *
 *   bench_lcp_sparse [ROWS]      of the large wall (default 50)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/heap.h"
#include "tests/lib/gen_lcp.h"

static double now_ms(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1e3 + time.tv_nsec * 1e-6;
}

struct bench {
	struct gen_sparse gen;
	struct lcp_sparse solver;
	struct solver_options options;
	void *memory;
	double *x, *answer;
};

static void prepare(struct bench *self)
{
	uint32_t rows = self->gen.problem.count, entries = self->gen.start[rows];
	size_t fill = 0;
	double begin = 0;
	self->options = solver_options_default();
	self->memory = NULL;
	self->x = heap_alloc(2 * (size_t)rows * sizeof(double));
	self->answer = self->x + rows;
	for (uint32_t pass = 0; pass < 2; pass++) {
		heap_free(self->memory);
		self->memory = heap_alloc_aligned(lcp_sparse_bytes(rows, entries, fill));
		if (self->memory == NULL || self->x == NULL)
			abort();
		lcp_sparse_init(&self->solver, self->memory, rows, entries, fill);
		begin = now_ms();
		if (lcp_sparse_order(&self->solver, &self->gen.problem, &fill) != STATUS_OK)
			abort();
	}
	printf("  %u rows, %u entries, %u islands, fill %zu, ordered in %.1f ms\n", rows, entries,
	       self->solver.islands, fill, now_ms() - begin);
}

static void solve(struct bench *self, const char *name)
{
	double begin = now_ms();
	struct solver_result result = lcp_sparse_solve(&self->solver, &self->gen.problem,
						       &self->options, self->x);
	printf("  %-10s %8.1f ms, %3u rounds, %4u factors, %4u updates, residual %.0e, %s\n", name,
	       now_ms() - begin, result.rounds, result.refactorings, result.pivots,
	       result.residual, solver_status_name(result.status));
}

/* b of velocities that differ by up to `size` in every component: another b would have no solution, as
 * contacts are redundant. */
static void disturb(struct bench *self, const struct gen_scene *scene, struct rng *rng,
		    double size)
{
	double(*change)[6] = heap_alloc(scene->bodies * sizeof *change);
	if (change == NULL)
		abort();
	for (uint32_t first = 0; first < self->gen.problem.count; first += scene->contacts) {
		for (uint32_t i = 0; i < scene->bodies; i++)
			for (uint32_t c = 0; c < 6; c++)
				change[i][c] = rng_range(rng, -size, size);
		for (uint32_t k = 0; k < scene->contacts; k++) {
			const struct gen_contact *contact = &scene->contact[k];
			for (uint32_t s = 0; s < 2; s++)
				for (uint32_t c = 0; c < 6 && contact->body[s] != GEN_GROUND; c++)
					self->gen.b[first + k] += contact->row[0][s][c] *
								  change[contact->body[s]][c];
		}
	}
	heap_free(change);
}

static void run(struct bench *self, const struct gen_scene *scene, struct rng *rng)
{
	uint32_t rows = self->gen.problem.count;
	double *b = heap_alloc(rows * sizeof *b);
	prepare(self);
	solve(self, "cold");
	memcpy(self->answer, self->x, rows * sizeof *b);
	memcpy(b, self->gen.b, rows * sizeof *b);
	self->options.warm = true;
	solve(self, "same");
	for (double size = 1e-4; size < 0.2; size *= 10)
		for (uint32_t k = 0; k < 3; k++) {
			char name[32];
			memcpy(self->gen.b, b, rows * sizeof *b);
			disturb(self, scene, rng, size);
			memcpy(self->x, self->answer, rows * sizeof *b);
			snprintf(name, sizeof name, "by %.0e", size);
			solve(self, name);
		}
	heap_free(b);
	heap_free(self->memory);
	heap_free(self->x);
	gen_sparse_release(&self->gen);
}

/* `count` copies of a wall's problem, none coupled to another. */
static struct gen_sparse copies(struct gen_sparse one, uint32_t count)
{
	uint32_t n = one.problem.count, entries = one.start[n];
	struct gen_sparse all;
	all.start = heap_alloc(((size_t)n * count + 1) * sizeof *all.start);
	all.column = heap_alloc((size_t)entries * count * sizeof *all.column);
	all.value = heap_alloc((size_t)entries * count * sizeof *all.value);
	all.b = heap_alloc((size_t)n * count * sizeof *all.b);
	if (all.start == NULL || all.column == NULL || all.value == NULL || all.b == NULL)
		abort();
	for (uint32_t k = 0; k < count; k++) {
		for (uint32_t i = 0; i < n; i++) {
			all.start[k * n + i] = k * entries + one.start[i];
			all.b[k * n + i] = one.b[i];
		}
		for (uint32_t e = 0; e < entries; e++) {
			all.column[k * entries + e] = k * n + one.column[e];
			all.value[k * entries + e] = one.value[e];
		}
	}
	all.start[n * count] = entries * count;
	all.problem = (struct lcp_sparse_problem){n * count, all.start, all.column, all.value,
						  all.b,     NULL,      NULL};
	gen_sparse_release(&one);
	return all;
}

int main(int count, char **arguments)
{
	uint32_t rows = count > 1 ? (uint32_t)strtoul(arguments[1], NULL, 10) : 50;
	for (uint32_t noise = 0; noise < 2; noise++)
		for (uint32_t islands = 0; islands < 2; islands++) {
			struct bench bench;
			struct rng rng = rng_seeded(3);
			struct gen_scene scene = gen_wall(islands ? 5 : rows);
			gen_scene_fall(&scene, &rng, 0.1 * noise);
			printf("%s, %s\n", islands ? "many islands" : "one island",
			       noise ? "random velocities" : "at rest");
			bench.gen = gen_scene_sparse(&scene);
			if (islands)
				bench.gen = copies(bench.gen, 4 * rows * rows / scene.contacts);
			run(&bench, &scene, &rng);
			gen_scene_release(&scene);
		}
	return 0;
}
