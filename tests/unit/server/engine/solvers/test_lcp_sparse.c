/* test_lcp_sparse.c: the sparse solver on walls: conditions, agreement with pivoting, warm starts;
 * problems without a solution; invalid input and its status. CAIRN_SOLVER_SIZE: the largest wall has 50
 * times as many bricks (default 100 bricks; 100 gives 5000). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_sparse.h"

struct work {
	struct gen_scene scene;
	struct gen_sparse gen;
	struct gen_solver solver;
	double *x, (*v)[LCP_BODY];
	struct solver_options options;
};

static void work_init(struct work *self, struct gen_scene scene)
{
	self->scene = scene;
	self->gen = gen_scene_sparse(&scene, 1);
	self->options = solver_options_default();
	self->x = heap_alloc_zero((scene.contacts + 1) * sizeof(double));
	self->v = heap_alloc_zero((scene.bodies + 1) * sizeof *self->v);
	ck_assert(self->x != NULL && self->v != NULL);
	gen_solver_init(&self->solver, &self->gen.problem);
}

static void work_release(struct work *self)
{
	heap_free(self->x);
	heap_free(self->v);
	gen_solver_release(&self->solver);
	gen_sparse_release(&self->gen);
	gen_scene_release(&self->scene);
}

static struct solver_result run(struct work *self)
{
	return lcp_sparse_solve(&self->solver.solver, &self->gen.problem, &self->options, self->x,
				self->v);
}

static struct solver_result solve(struct work *self)
{
	uint64_t before = heap_calls();
	struct solver_result result = run(self);
	ck_assert_uint_eq(heap_calls(), before);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	double found = gen_sparse_residual(&self->gen.problem, self->x,
					   (const double(*)[LCP_BODY])self->v);
	ck_assert_double_le(found, 1e-11);
	return result;
}

/* Changes every component of the velocities by up to `size`, and b with them. A b that does not
 * come from velocities may have no solution, because contacts are redundant. */
static void disturb(struct work *self, struct rng *rng, double size)
{
	for (uint32_t i = 0; i < self->scene.bodies; i++)
		for (uint32_t c = 0; c < 6; c++)
			self->scene.velocity[i][c] += rng_range(rng, -size, size);
	struct gen_sparse changed = gen_scene_sparse(&self->scene, 1);
	memcpy(self->gen.b, changed.b, self->scene.contacts * sizeof *changed.b);
	gen_sparse_release(&changed);
}

START_TEST(walls_in_any_orientation_stay_at_rest_cold_and_warm)
{
	static const uint32_t walls[][2] = {
		{ 5000, 100 }, { 1000, 40 }, { 100, 11 }, { 30, 6 }, { 14, 4 }
	};
	const char *text = getenv("CAIRN_SOLVER_SIZE");
	uint32_t most = text != NULL ? 50 * (uint32_t)strtoul(text, NULL, 10) : 100;
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t k = 0; k < 4 * COUNT_OF(walls); k++) {
		const uint32_t *wall = walls[k / 4];
		struct work work;
		if (wall[0] > most)
			continue;
		work_init(&work, gen_bond_wall(wall[0], wall[1], k % 4 == 1 ? 2 : 4,
					       k % 4 < 2 ? 0 : 0.1 * (k % 4)));
		struct solver_result cold = solve(&work);
		/* The wall rests: v cancels the velocity that gravity added. */
		for (uint32_t i = 0; i < wall[0]; i++)
			for (uint32_t c = 0; c < 3; c++)
				ck_assert_double_eq_tol(work.v[i][c] + work.scene.velocity[i][c], 0,
							1e-10);
		work.options.warm = true;
		ck_assert_uint_eq(solve(&work).refactorings, 0);
		disturb(&work, &rng, 1e-3);
		struct solver_result warm = solve(&work);
		printf("# wall of %u: %u rows, factors %u cold, %u when all velocities change\n",
		       wall[0], work.scene.contacts, cold.refactorings, warm.refactorings);
		fflush(stdout);
		work_release(&work);
	}
}
END_TEST

/* Nearly all rows are weakly active relative to the change of b. The larger walls of the soak test
 * need more than a hundred factors, but must be solved as well. */
START_TEST(walls_with_tiny_velocities_are_solved)
{
	const char *text = getenv("CAIRN_SOLVER_SIZE");
	uint32_t walls[] = { 30, 100, text != NULL ? 10 * (uint32_t)strtoul(text, NULL, 10) : 400 };
	struct rng rng = rng_seeded(check_seed() + 3);
	for (uint32_t k = 0; k < COUNT_OF(walls); k++)
		for (double size = 1e-6; size > 1e-10; size *= 0.1) {
			struct work work;
			work_init(&work, gen_bond_wall(walls[k], 5 + walls[k] / 20, 4, 0.3));
			(void)solve(&work);
			work.options.warm = true;
			disturb(&work, &rng, size);
			struct solver_result result = solve(&work);
			printf("# wall of %u by %.0e m/s: %u factors\n", walls[k], size,
			       result.refactorings);
			fflush(stdout);
			ck_assert_int_eq(result.status, SOLVER_SOLVED);
			if (walls[k] <= 400)
				ck_assert_uint_lt(result.refactorings, 100);
			work_release(&work);
		}
}
END_TEST

/* A solution as warm start is accepted as it is, with and without compliance. */
START_TEST(a_solution_as_warm_start_needs_no_factor)
{
	struct work work;
	work_init(&work, gen_bond_wall(100, 11, 4, 0));
	for (uint32_t i = 0; _i == 1 && i < work.gen.problem.rows; i++)
		work.gen.compliance[i] = 0.1;
	struct solver_result cold = solve(&work);
	ck_assert_uint_gt(cold.refactorings, 0);
	work.options.warm = true;
	struct solver_result warm = solve(&work);
	ck_assert_uint_eq(warm.refactorings, 0);
	/* A warm start that is nearly right needs one factor, because it shows the active rows. */
	for (uint32_t i = 0; i < work.gen.problem.rows; i++)
		work.x[i] *= 1 + 1e-6;
	ck_assert_uint_eq(solve(&work).refactorings, 1);
	work_release(&work);
}
END_TEST

START_TEST(velocities_are_those_of_pivoting)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t k = 1; k <= 12; k++) {
		struct work work;
		struct gen_scene scene = k % 3 == 0   ? gen_wall(k)
					 : k % 3 == 1 ? gen_tower(4 * k, pow(10, k / 2.0))
						      : gen_bond_wall(2 * k, 4, 4, 0.2);
		uint32_t n = scene.contacts;
		struct gen_lcp gen;
		struct lcp_dantzig other;
		double(*after)[6] = heap_alloc(scene.bodies * sizeof *after);
		double *impulses = heap_alloc(n * sizeof(double));
		void *memory = heap_alloc_aligned(lcp_dantzig_bytes(n));
		gen_scene_fall(&scene, &rng, 0.2);
		work_init(&work, scene);
		gen_lcp_init(&gen, n);
		gen_scene_lcp(&scene, 1, NULL, &gen);
		lcp_dantzig_init(&other, memory, n);
		(void)solve(&work);
		(void)lcp_dantzig_solve(&other, &gen.problem, &work.options, impulses, NULL);
		gen_scene_velocities(&scene, 1, NULL, impulses, after);
		for (uint32_t i = 0; i < scene.bodies; i++)
			for (uint32_t c = 0; c < 6; c++)
				ck_assert_double_eq_tol(work.v[i][c] + scene.velocity[i][c],
							after[i][c], 1e-8);
		heap_free(impulses);
		heap_free(after);
		heap_free(memory);
		gen_lcp_release(&gen);
		work_release(&work);
	}
}
END_TEST

START_TEST(masses_may_be_one_to_a_hundred_million)
{
	for (uint32_t k = 2; k <= 20; k += 3)
		for (int power = 0; power <= 8; power++) {
			struct work work;
			struct rng rng = rng_seeded(check_seed() + 7);
			struct gen_scene scene = gen_tower(k, pow(10, power));
			gen_scene_fall(&scene, &rng, 0.1);
			work_init(&work, scene);
			(void)solve(&work);
			work_release(&work);
		}
}
END_TEST

/* ---- small problems ----------------------------------------------------------------------------- */

enum { SMALL = 8 };
struct small {
	struct lcp_sparse_problem problem;
	uint32_t start[SMALL + 1], body[SMALL];
	double jacobian[SMALL][LCP_BODY], mass_inv[SMALL][LCP_BODY][LCP_BODY];
	double b[SMALL], lower[SMALL], upper[SMALL], compliance[SMALL];
	double x[SMALL], v[SMALL][LCP_BODY];
};

/* One row for each body, along x. */
static void small_init(struct small *self, uint32_t rows)
{
	memset(self, 0, sizeof *self);
	for (uint32_t i = 0; i < SMALL; i++) {
		self->start[i] = i;
		self->body[i] = i;
		self->jacobian[i][0] = 1;
		self->b[i] = -1;
		self->upper[i] = INFINITY;
		for (uint32_t c = 0; c < LCP_BODY; c++)
			self->mass_inv[i][c][c] = 1;
	}
	self->start[rows] = rows;
	self->problem = (struct lcp_sparse_problem){
		.rows = rows,
		.bodies = rows,
		.start = self->start,
		.body = self->body,
		.jacobian = (const double(*)[LCP_BODY])self->jacobian,
		.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])self->mass_inv,
		.b = self->b,
		.lower = self->lower,
		.upper = self->upper,
		.compliance = self->compliance,
	};
}

static struct solver_result small_solve(struct small *self)
{
	struct gen_solver solver;
	struct solver_options options = solver_options_default();
	static double proof[SMALL];
	gen_solver_init(&solver, &self->problem);
	struct solver_result result =
		lcp_sparse_solve(&solver.solver, &self->problem, &options, self->x, self->v);
	if (result.certificate != NULL)
		memcpy(proof, result.certificate, self->problem.rows * sizeof *proof);
	result.certificate = result.certificate != NULL ? proof : NULL;
	gen_solver_release(&solver);
	return result;
}

/* A = [[1, −1], [−1, 1]], b = (−1, −1): w₁ + w₂ = −2 for every x. */
START_TEST(two_walls_that_close_have_no_solution_and_a_proof)
{
	struct small small;
	small_init(&small, 2);
	small.body[1] = 0;
	small.jacobian[1][0] = -1;
	struct solver_result result = small_solve(&small);
	ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
	ck_assert_uint_eq(result.certificate_count, 2);
	ck_assert(result.certificate[0] > 0 && result.certificate[0] == result.certificate[1]);
	ck_assert(gen_sparse_proves(&small.problem, result.certificate));
	/* A small compliance makes it solvable. */
	small.compliance[0] = 1e-3;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(small.x[0], 2000, 1e-6);
	/* A row without bodies whose b is negative. */
	small_init(&small, 1);
	small.jacobian[0][0] = 0;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_INFEASIBLE);
	small.b[0] = 1;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
}
END_TEST

static void expect_invalid(struct small *small)
{
	small->x[0] = 7;
	struct solver_result result = small_solve(small);
	ck_assert_int_eq(result.status, SOLVER_INVALID);
	ck_assert(isinf(result.residual) && small->x[0] == 0 && small->v[0][0] == 0);
	small_init(small, small->problem.rows);
}

START_TEST(every_bad_number_has_its_status)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY };
	struct small small;
	small_init(&small, 3);
	for (uint32_t k = 0; k < COUNT_OF(bad); k++) {
		small.b[2] = bad[k];
		expect_invalid(&small);
		small.jacobian[1][5] = bad[k];
		expect_invalid(&small);
		small.mass_inv[1][3][3] = bad[k];
		expect_invalid(&small);
		small.compliance[0] = bad[k];
		expect_invalid(&small);
	}
	small.compliance[1] = -1e-9;
	expect_invalid(&small);
	small.lower[1] = 2, small.upper[1] = 1;
	expect_invalid(&small);
	small.lower[1] = INFINITY;
	expect_invalid(&small);
	small.upper[1] = -INFINITY;
	expect_invalid(&small);
	small.lower[1] = NAN;
	expect_invalid(&small);
	small.upper[1] = NAN;
	expect_invalid(&small);
	/* Not symmetric; not semidefinite. */
	small.mass_inv[0][0][1] = 0.5;
	expect_invalid(&small);
	small.mass_inv[2][4][4] = -1;
	expect_invalid(&small);
	small.mass_inv[2][0][1] = small.mass_inv[2][1][0] = 2;
	expect_invalid(&small);
	small.mass_inv[2][0][0] = 0, small.mass_inv[2][0][1] = small.mass_inv[2][1][0] = 0.1;
	expect_invalid(&small);
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
}
END_TEST

START_TEST(every_bad_index_has_its_status)
{
	struct small small;
	uint32_t orders[][3] = { { 0, 1, 1 }, { 0, 1, 3 }, { 2, 1, 0 } };
	struct solver_options options = solver_options_default();
	small_init(&small, 3);
	small.body[1] = 3;
	expect_invalid(&small);
	small.body[1] = UINT32_MAX;
	expect_invalid(&small);
	small.start[1] = 2, small.start[2] = 1;
	expect_invalid(&small);
	small.start[0] = 1;
	expect_invalid(&small);
	for (uint32_t k = 0; k < 2; k++) {
		small.problem.order = orders[k];
		expect_invalid(&small);
	}
	small.problem.order = orders[2];
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	/* A problem larger than its workspace. */
	struct gen_solver solver;
	small_init(&small, 2);
	gen_solver_init(&solver, &small.problem);
	small_init(&small, 3);
	ck_assert_int_eq(
		lcp_sparse_solve(&solver.solver, &small.problem, &options, small.x, NULL).status,
		SOLVER_INVALID);
	gen_solver_release(&solver);
}
END_TEST

START_TEST(entries_of_a_body_named_twice_add_up_in_any_order)
{
	struct small small;
	small_init(&small, 2);
	small.start[1] = 3, small.start[2] = 4;
	uint32_t bodies[] = { 1, 0, 1, 0 };
	double rows[][2] = { { 0.25, 1 }, { 2, 3 }, { 0.5, -1 }, { 1, 1 } };
	memcpy(small.body, bodies, sizeof bodies);
	for (uint32_t p = 0; p < 4; p++)
		memcpy(small.jacobian[p], rows[p], sizeof rows[p]);
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	/* Row 0 is (2, 3 | 0.75, 0), row 1 (1, 1 | 0): A = [[13.5625, 5], [5, 2]]. */
	ck_assert_double_eq_tol(small.x[0], 0, 1e-14);
	ck_assert_double_eq_tol(small.x[1], 0.5, 1e-14);
	small.b[1] = -0.1;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(small.x[0], 1 / 13.5625, 1e-14);
}
END_TEST

START_TEST(a_problem_without_rows_is_solved)
{
	struct lcp_sparse_problem problem = { 0 };
	struct gen_solver solver;
	struct solver_options options = solver_options_default();
	struct small small;
	gen_solver_init(&solver, &problem);
	struct solver_result result =
		lcp_sparse_solve(&solver.solver, &problem, &options, NULL, NULL);
	ck_assert(result.status == SOLVER_SOLVED && result.residual == 0);
	gen_solver_release(&solver);
	small_init(&small, 2);
	small.b[0] = small.b[1] = 0;
	result = small_solve(&small);
	ck_assert(result.status == SOLVER_SOLVED && result.residual == 0 && small.x[0] == 0);
}
END_TEST

/* Rows, bodies and impulses in units of 2^±k. Problems within the range of double are solved, and
 * no wrong x is SOLVED. */
START_TEST(numbers_at_the_ends_of_the_range_get_a_true_status)
{
	struct rng rng = rng_seeded(check_seed() + 5);
	uint32_t solved = 0, near = 0;
	for (uint32_t round = 0; round < 400; round++) {
		struct gen_sparse gen = gen_sparse_random(
			(enum gen_sparse_family)(round % GEN_SPARSE_EMPTY), &rng, 12);
		struct gen_solver solver;
		struct solver_options options = solver_options_default();
		double x[64], v[64][LCP_BODY];
		const struct lcp_sparse_problem *p = &gen.problem;
		int most = (int)rng_below(&rng, 400), lift = (int)rng_below(&rng, 1400) - 700;
		int mass = (int)rng_below(&rng, 401) - 200;
		bool tame = true;
		for (uint32_t k = 0; k < p->bodies; k++)
			for (uint32_t c = 0; c < 36; c++)
				gen.mass_inv[k][c / 6][c % 6] =
					ldexp(gen.mass_inv[k][c / 6][c % 6], 2 * mass);
		for (uint32_t i = 0; i < p->rows; i++) {
			int e = (int)rng_below(&rng, 2 * (uint32_t)most + 1) - most;
			for (uint32_t q = p->start[i]; q < p->start[i + 1]; q++)
				for (uint32_t c = 0; c < LCP_BODY; c++)
					gen.jacobian[q][c] = ldexp(gen.jacobian[q][c], e);
			gen.b[i] = ldexp(gen.b[i], e + mass + lift);
			gen.lower[i] = ldexp(gen.lower[i], -e - mass + lift);
			gen.upper[i] = ldexp(gen.upper[i], -e - mass + lift);
			gen.compliance[i] = ldexp(gen.compliance[i], 2 * (e + mass));
			tame = tame && gen.lower[i] < INFINITY && gen.upper[i] > -INFINITY &&
			       gen.compliance[i] < INFINITY && abs(e) + abs(mass) + abs(lift) < 900;
		}
		gen_solver_init(&solver, p);
		struct solver_result result = lcp_sparse_solve(&solver.solver, p, &options, x, v);
		bool holds =
			solver_finite(gen.b, p->rows) && solver_finite(gen.compliance, p->rows);
		for (uint32_t i = 0; i < p->rows; i++)
			holds = holds && gen.lower[i] < INFINITY && gen.upper[i] > -INFINITY;
		ck_assert((result.status == SOLVER_INVALID) == !holds);
		ck_assert_int_ne(result.status, SOLVER_INFEASIBLE);
		near += tame;
		solved += tame && result.status == SOLVER_SOLVED;
		gen_solver_release(&solver);
		gen_sparse_release(&gen);
	}
	ck_assert_uint_gt(near, 40);
	ck_assert_uint_eq(solved, near);
}
END_TEST

START_TEST(a_solution_beyond_the_range_of_double_is_inexact)
{
	struct small small;
	small_init(&small, 1);
	/* x = 1e-500, then 1e400: the nearest doubles are 0 and the largest. */
	small.mass_inv[0][0][0] = 1e300, small.b[0] = -1e-200;
	struct solver_result result = small_solve(&small);
	ck_assert_int_eq(result.status, SOLVER_INEXACT);
	ck_assert(small.x[0] == 0 && result.residual >= 1e-9);
	small.mass_inv[0][0][0] = 1e-200, small.b[0] = -1e200;
	result = small_solve(&small);
	ck_assert_int_eq(result.status, SOLVER_INEXACT);
	ck_assert(small.x[0] == SCALAR_MAX && result.residual >= 1e-9);
	small.mass_inv[0][0][0] = 1e-300, small.b[0] = -1e-10;
	result = small_solve(&small);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert(fabs(small.x[0] / 1e290 - 1) < 1e-12);
}
END_TEST

/* The speeds of the warm start overflow, so the gap of its first rows is NaN. The other rows hold
 * and must not hide the NaN; the solver would otherwise return the start with a NaN residual. */
START_TEST(a_warm_start_that_overflows_is_no_solution)
{
	for (uint32_t k = 0; k < 8; k++) {
		struct small small;
		struct gen_solver solver;
		struct solver_options options = solver_options_default();
		options.warm = true;
		small_init(&small, 3);
		small.b[0] = -1e-10;
		small.b[1] = small.b[2] = 1e-10;
		small.x[0] = 1e308;
		if (k % 2 == 1) {
			small.body[1] = 0;
			small.jacobian[1][0] = k % 4 == 1 ? -1 : 1;
		}
		if (k >= 4)
			small.x[1] = 1e308;
		gen_solver_init(&solver, &small.problem);
		struct solver_result result = lcp_sparse_solve(&solver.solver, &small.problem,
							       &options, small.x, small.v);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_double_le(result.residual, 1e-10);
		ck_assert_double_eq_tol(small.v[0][0], 1e-10, 1e-20);
		gen_solver_release(&solver);
	}
}
END_TEST

/* Numbers of any size, and infinite and NaN ones in the warm start. The residual is never NaN, and
 * the status is SOLVED only if it is small. */
START_TEST(a_residual_is_never_nan)
{
	static const double sizes[] = { 0, 1, -1, 1e-10, 1e155, 1e300, 1e308, -1e308, 1e-300 };
	struct rng rng = rng_seeded(check_seed() + 6);
	for (uint32_t round = 0; round < 2000; round++) {
		struct small small;
		struct gen_solver solver;
		struct solver_options options = solver_options_default();
		options.warm = true;
		options.rounds_max = 20;
		small_init(&small, 4);
		for (uint32_t i = 0; i < 4; i++) {
			small.body[i] = rng_below(&rng, 4);
			small.b[i] = sizes[rng_below(&rng, COUNT_OF(sizes))];
			small.x[i] = sizes[rng_below(&rng, COUNT_OF(sizes))];
			small.jacobian[i][0] = sizes[rng_below(&rng, COUNT_OF(sizes))];
			small.jacobian[i][1] = sizes[rng_below(&rng, 3)];
			small.mass_inv[i][0][0] = fabs(sizes[rng_below(&rng, COUNT_OF(sizes))]);
			if (rng_below(&rng, 2) == 0)
				small.upper[i] = fabs(sizes[rng_below(&rng, COUNT_OF(sizes))]);
		}
		gen_solver_init(&solver, &small.problem);
		struct solver_result result = lcp_sparse_solve(&solver.solver, &small.problem,
							       &options, small.x, small.v);
		ck_assert(!isnan(result.residual) && !isnan(result.violation));
		ck_assert((result.status == SOLVER_SOLVED) == (result.residual <= 1e-10));
		gen_solver_release(&solver);
	}
}
END_TEST

/* The workspace lies between two protected pages, and the arrays of the problem end at one. */
START_TEST(the_solver_stays_within_its_arrays)
{
	struct gen_scene scene = gen_bond_wall(20, 5, 4, 0.1);
	struct work work;
	work_init(&work, scene);
	struct lcp_sparse_size size = work.solver.solver.capacity;
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = lcp_sparse_bytes(size);
	size_t pages = (bytes + page - 1) / page * page;
	unsigned char *memory = mmap(NULL, pages + 2 * page, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(memory != MAP_FAILED);
	ck_assert_int_eq(mprotect(memory, page, PROT_NONE), 0);
	ck_assert_int_eq(mprotect(memory + page + pages, page, PROT_NONE), 0);
	for (uint32_t pass = 0; pass < 2; pass++) {
		unsigned char *at = memory + page + (pass == 0 ? 0 : pages - bytes);
		memset(memory + page, 0x7f, pages);
		lcp_sparse_init(&work.solver.solver, at, size);
		(void)solve(&work);
	}
	munmap(memory, pages + 2 * page);
	work_release(&work);
}
END_TEST

START_TEST(too_few_blocks_end_with_limit_and_the_number_needed)
{
	struct work work;
	size_t blocks = 0;
	work_init(&work, gen_bond_wall(60, 9, 4, 0));
	struct lcp_sparse_size size = work.solver.solver.capacity;
	size_t needed = work.solver.solver.blocks_needed;
	size.blocks = needed - 1;
	lcp_sparse_init(&work.solver.solver, work.solver.memory, size);
	struct solver_result result = run(&work);
	ck_assert(result.status == SOLVER_LIMIT && isinf(result.residual));
	ck_assert_int_eq(lcp_sparse_order(&work.solver.solver, &work.gen.problem, &blocks),
			 SOLVER_LIMIT);
	ck_assert_uint_eq(blocks, needed);
	/* Too few factors end with LIMIT too, and the residual is true. */
	size.blocks = needed;
	lcp_sparse_init(&work.solver.solver, work.solver.memory, size);
	work.options.rounds_max = 1;
	result = run(&work);
	ck_assert(result.status == SOLVER_LIMIT && result.refactorings <= 2);
	ck_assert_double_gt(result.residual, work.options.tolerance);
	work_release(&work);
}
END_TEST

START_TEST(the_same_problem_has_the_same_bits)
{
	double *first = NULL;
	uint32_t rows = 0;
	for (uint32_t pass = 0; pass < 3; pass++) {
		struct work work;
		work_init(&work, gen_bond_wall(80, 9, 4, 0.2));
		memset(work.solver.memory, 17 * (int)pass,
		       lcp_sparse_bytes(work.solver.solver.capacity));
		lcp_sparse_init(&work.solver.solver, work.solver.memory,
				work.solver.solver.capacity);
		(void)solve(&work);
		rows = work.scene.contacts;
		if (pass == 0) {
			first = work.x;
			work.x = NULL;
		} else
			ck_assert_mem_eq(first, work.x, rows * sizeof *first);
		work_release(&work);
	}
	heap_free(first);
}
END_TEST

/* A wall of more than 600 rows whose finite bounds lie near the end of the range of double: in the
 * first step of lcp_sparse_interior the sum of slack times multiplier overflows. Workspaces whose
 * memory had different contents must give the same bits. */
START_TEST(bounds_that_overflow_use_no_uninitialised_memory)
{
	double *first = NULL;
	for (uint32_t pass = 0; pass < 2; pass++) {
		struct work work;
		struct rng rng = rng_seeded(check_seed() + 3);
		work_init(&work, gen_bond_wall(400, 25, 4, 0.3));
		uint32_t rows = work.scene.contacts;
		ck_assert_uint_gt(rows, 600);
		(void)solve(&work);
		disturb(&work, &rng, 1e-8);
		for (uint32_t i = 0; i < rows; i++) {
			work.gen.lower[i] = 0;
			work.gen.upper[i] = 0x1p1013;
		}
		work.gen.problem.lower = work.gen.lower;
		work.gen.problem.upper = work.gen.upper;
		memset(work.solver.memory, pass == 0 ? 0 : 0x3f,
		       lcp_sparse_bytes(work.solver.solver.capacity));
		lcp_sparse_init(&work.solver.solver, work.solver.memory,
				work.solver.solver.capacity);
		ck_assert_int_eq(run(&work).status, SOLVER_SOLVED);
		if (pass == 0) {
			first = work.x;
			work.x = NULL;
		} else {
			ck_assert_mem_eq(first, work.x, rows * sizeof *first);
		}
		work_release(&work);
	}
	heap_free(first);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lcp_sparse");
	TCase *walls = tcase_create("walls"), *input = tcase_create("input");
	tcase_set_timeout(walls, 60);
	tcase_add_test(walls, walls_in_any_orientation_stay_at_rest_cold_and_warm);
	tcase_add_test(walls, walls_with_tiny_velocities_are_solved);
	tcase_add_loop_test(walls, a_solution_as_warm_start_needs_no_factor, 0, 2);
	tcase_add_test(walls, velocities_are_those_of_pivoting);
	tcase_add_test(walls, masses_may_be_one_to_a_hundred_million);
	tcase_add_test(walls, two_walls_that_close_have_no_solution_and_a_proof);
	tcase_add_test(walls, the_same_problem_has_the_same_bits);
	tcase_add_test(walls, bounds_that_overflow_use_no_uninitialised_memory);
	tcase_add_test(input, every_bad_number_has_its_status);
	tcase_add_test(input, every_bad_index_has_its_status);
	tcase_add_test(input, entries_of_a_body_named_twice_add_up_in_any_order);
	tcase_add_test(input, a_problem_without_rows_is_solved);
	tcase_add_test(input, numbers_at_the_ends_of_the_range_get_a_true_status);
	tcase_add_test(input, a_solution_beyond_the_range_of_double_is_inexact);
	tcase_add_test(input, a_warm_start_that_overflows_is_no_solution);
	tcase_add_test(input, a_residual_is_never_nan);
	tcase_add_test(input, the_solver_stays_within_its_arrays);
	tcase_add_test(input, too_few_blocks_end_with_limit_and_the_number_needed);
	suite_add_tcase(suite, walls);
	suite_add_tcase(suite, input);
	return suite;
}

int main(void)
{
	return check_main(make);
}
