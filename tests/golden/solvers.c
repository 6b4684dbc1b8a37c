/* solvers.c: results of the exact solvers, as two hashes a family: of the solutions, and of how
 * they were found (status, pivots, rounds). Any change of an order or of a rounding changes a hash. */
#include "tests/golden/solvers.h"

#include "server/base/hash.h"
#include "server/base/heap.h"
#include "server/engine/solvers/lcp_friction.h"
#include "server/engine/solvers/qp_dual_active_set.h"
#include "tests/lib/gen_lcp.h"
#include "tests/lib/gen_lp.h"
#include "tests/lib/gen_sparse.h"

enum { ROWS = 120, SMALL = 24 };

struct golden {
	struct hasher values, ways;
	void *memory;
	struct solver_options options;
	struct gen_lcp gen;
	double x[ROWS], y[ROWS], sparse[5 * ROWS];
};

static void begin(struct golden *self, size_t bytes, uint32_t capacity)
{
	hasher_init(&self->values, 1);
	hasher_init(&self->ways, 2);
	self->memory = heap_alloc_aligned(bytes);
	ASSERT(self->memory != NULL);
	self->options = solver_options_default();
	gen_lcp_init(&self->gen, capacity);
}

static void add(struct golden *self, struct solver_result result, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		hasher_f64(&self->values, self->x[i]);
	hasher_f64(&self->values, result.residual);
	hasher_u32(&self->ways, (uint32_t)result.status);
	hasher_u32(&self->ways, result.pivots);
	hasher_u32(&self->ways, result.rounds);
}

static void end(struct golden *self, golden_line *line, const char *name, uint32_t count)
{
	line(name, count, hasher_digest(&self->values), hasher_digest(&self->ways));
	heap_free(self->memory);
	gen_lcp_release(&self->gen);
}

static void random_lcp(struct golden *self, golden_line *line)
{
	struct lcp_dantzig solver;
	struct rng rng = rng_seeded(4);
	begin(self, lcp_dantzig_bytes(SMALL), SMALL);
	lcp_dantzig_init(&solver, self->memory, SMALL);
	for (uint32_t i = 0; i < 800; i++) {
		gen_lcp_random(&self->gen, (enum gen_family)(i % GEN_FAMILIES), &rng, SMALL);
		add(self,
		    lcp_dantzig_solve(&solver, &self->gen.problem, &self->options, self->x, NULL),
		    self->gen.problem.count);
	}
	end(self, line, "solver-lcp-random", 800);
}

static void stacked_lcp(struct golden *self, golden_line *line)
{
	struct lcp_dantzig solver;
	struct rng rng = rng_seeded(5);
	begin(self, lcp_dantzig_bytes(ROWS), ROWS);
	lcp_dantzig_init(&solver, self->memory, ROWS);
	for (uint32_t i = 0; i < 40; i++) {
		struct gen_scene scene =
			i % 2 == 0 ? gen_tower(1 + i / 2, 1 + 10 * (i % 3)) : gen_wall(1 + i / 8);
		gen_scene_fall(&scene, &rng, i % 4 < 2 ? 0 : 0.2);
		gen_scene_lcp(&scene, 1, NULL, &self->gen);
		add(self,
		    lcp_dantzig_solve(&solver, &self->gen.problem, &self->options, self->x, NULL),
		    self->gen.problem.count);
		gen_scene_release(&scene);
	}
	end(self, line, "solver-lcp-stacks", 40);
}

static void friction(struct golden *self, golden_line *line)
{
	static const double mus[] = { 0.2, 0.6, 1 };
	struct lcp_friction solver;
	struct rng rng = rng_seeded(6);
	uint8_t kind[ROWS];
	double mu[ROWS];
	begin(self, lcp_friction_bytes(ROWS), ROWS);
	lcp_friction_init(&solver, self->memory, ROWS);
	for (uint32_t i = 0; i < 24; i++) {
		struct gen_scene scene = i % 2 == 0 ? gen_tower(1 + i / 4, 1) : gen_wall(1 + i / 8);
		gen_scene_fall(&scene, &rng, i % 4 < 2 ? 0 : 0.2);
		gen_scene_lcp(&scene, 3, NULL, &self->gen);
		const struct lcp_problem *p = &self->gen.problem;
		for (uint32_t r = 0; r < p->count; r++) {
			kind[r] = r % 3 == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
			mu[r] = mus[i % 3];
		}
		struct friction_problem problem = { p->count, p->stride, p->a, p->b, kind, mu };
		add(self, lcp_friction_solve(&solver, &problem, &self->options, self->x, NULL),
		    p->count);
		gen_scene_release(&scene);
	}
	end(self, line, "solver-friction", 24);
}

static void quadratic(struct golden *self, golden_line *line)
{
	struct qp_dual_active_set solver;
	struct rng rng = rng_seeded(7);
	double c[SMALL], matrix[SMALL * SMALL], d[SMALL];
	begin(self, qp_dual_active_set_bytes(SMALL, SMALL), SMALL);
	qp_dual_active_set_init(&solver, self->memory, SMALL, SMALL);
	for (uint32_t i = 0; i < 300; i++) {
		/* Every third G is only semidefinite. */
		gen_lcp_random(&self->gen, i % 3 == 0 ? GEN_REDUNDANT : GEN_DEFINITE, &rng, 10);
		uint32_t n = self->gen.problem.count, m = 1 + rng_below(&rng, SMALL);
		double g[SMALL * SMALL];
		for (uint32_t r = 0; r < n * n; r++)
			g[r] = self->gen.a[r / n * SMALL + r % n];
		for (uint32_t r = 0; r < n; r++)
			c[r] = self->gen.b[r];
		for (uint32_t r = 0; r < m; r++)
			d[r] = -(double)rng_below(&rng, 2);
		for (uint32_t r = 0; r < m * n; r++)
			matrix[r] = (double)rng_below(&rng, 5) - 2;
		struct qp_problem problem = { n, m, g, c, matrix, d, NULL };
		add(self,
		    qp_dual_active_set_solve(&solver, &problem, &self->options, self->x, self->y,
					     NULL),
		    n);
	}
	end(self, line, "solver-qp", 300);
}

/* One wall or tower with its bodies in the given order, because the order of AMD is not guaranteed. */
static void sparse_one(struct golden *self, struct gen_scene *scene, struct rng *rng)
{
	struct gen_sparse gen = gen_scene_sparse(scene, 1);
	struct gen_solver solver;
	uint32_t rows = scene->contacts, order[5 * ROWS];
	ASSERT(rows <= COUNT_OF(self->sparse) && scene->bodies <= COUNT_OF(order));
	for (uint32_t k = 0; k < scene->bodies; k++)
		order[k] = k;
	gen.problem.order = order;
	gen_solver_init(&solver, &gen.problem);
	for (uint32_t pass = 0; pass < 3; pass++) {
		self->options.warm = pass > 0;
		for (uint32_t i = 0; i < rows && pass > 0; i++)
			gen.b[i] += rng_range(rng, -1e-4, 1e-4);
		struct solver_result result = lcp_sparse_solve(&solver.solver, &gen.problem,
							       &self->options, self->sparse, NULL);
		for (uint32_t i = 0; i < rows; i++)
			hasher_f64(&self->values, self->sparse[i]);
		add(self, result, 0);
		hasher_u32(&self->ways, result.refactorings);
	}
	gen_solver_release(&solver);
	gen_sparse_release(&gen);
	gen_scene_release(scene);
}

static void sparse(struct golden *self, golden_line *line)
{
	struct rng rng = rng_seeded(8);
	begin(self, 64, SMALL);
	for (uint32_t i = 0; i < 12; i++) {
		struct gen_scene scene = i % 2 == 0 ? gen_tower(10 * (i + 1), 1) : gen_wall(i);
		gen_scene_fall(&scene, &rng, i % 4 < 2 ? 0 : 0.2);
		sparse_one(self, &scene, &rng);
	}
	end(self, line, "solver-lcp-sparse", 12);
}

static void add_linear(struct golden *self, struct gen_lp *lp)
{
	struct solver_result result = gen_lp_solve(lp, &self->options);
	for (uint32_t j = 0; j < lp->problem.matrix.columns; j++)
		hasher_f64(&self->values, lp->solution.x[j]);
	for (uint32_t i = 0; i < lp->problem.matrix.rows; i++)
		hasher_f64(&self->values, lp->solution.dual[i]);
	for (uint32_t i = 0; i < result.certificate_count; i++)
		hasher_f64(&self->values, result.certificate[i]);
	add(self, result, 0);
}

static void linear_random(struct golden *self, golden_line *line)
{
	struct gen_lp lp;
	struct rng rng = rng_seeded(9);
	begin(self, 64, SMALL);
	gen_lp_init(&lp, 40, 160, 3000);
	for (uint32_t i = 0; i < 600; i++) {
		gen_lp_random(&lp, &rng, (enum gen_lp_family)(i % GEN_LP_FAMILIES));
		add_linear(self, &lp);
	}
	gen_lp_release(&lp);
	end(self, line, "solver-lp-random", 600);
}

static void linear_piles(struct golden *self, golden_line *line)
{
	enum { BRICKS = 49 };
	struct gen_lp lp;
	struct gen_lp_brick bricks[BRICKS];
	struct rng rng = rng_seeded(10);
	begin(self, 64, SMALL);
	gen_lp_init(&lp, 400, 2000, 8000);
	for (uint32_t i = 0; i < 40; i++) {
		uint32_t count =
			i < 6 ? gen_lp_diamond(bricks, 2 + i) : gen_lp_pile(&rng, bricks, BRICKS);
		gen_lp_stack(&lp, bricks, count, i % 2 == 1);
		add_linear(self, &lp);
	}
	gen_lp_release(&lp);
	end(self, line, "solver-lp-piles", 40);
}

void golden_solvers(golden_line *line)
{
	static struct golden self;
	random_lcp(&self, line);
	stacked_lcp(&self, line);
	friction(&self, line);
	quadratic(&self, line);
	sparse(&self, line);
	linear_random(&self, line);
	linear_piles(&self, line);
}
