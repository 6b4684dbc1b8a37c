/* test_friction_sparse.c: contacts with friction over bodies: worked values, agreement with the dense
 * solver, Coulomb's conditions in twice the digits, energy, invalid input. CAIRN_SOLVER_COUNT: random
 * problems for each coefficient of friction (default 400). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_sparse.h"

/* The problem of a scene, its solver and its solution. */
struct work {
	struct gen_scene scene;
	struct gen_sparse gen;
	struct friction_sparse_problem problem;
	struct gen_solver solver;
	struct solver_options options;
	uint8_t *kind;
	double *friction, *x, (*v)[LCP_BODY];
};

static void work_init(struct work *self, struct gen_scene scene, double mu)
{
	size_t rows = 3 * (size_t)scene.contacts + 1;
	self->scene = scene;
	self->gen = gen_scene_sparse(&scene, 3);
	self->options = solver_options_default();
	self->kind = heap_alloc(rows);
	self->friction = heap_alloc_zero(rows * sizeof(double));
	self->x = heap_alloc_zero(rows * sizeof(double));
	self->v = heap_alloc_zero((scene.bodies + 1) * sizeof *self->v);
	ck_assert(self->kind != NULL && self->friction != NULL && self->x != NULL &&
		  self->v != NULL);
	self->problem = gen_sparse_rough(&self->gen, mu, self->kind, self->friction);
	gen_solver_init(&self->solver, &self->problem.rows);
}

static void work_release(struct work *self)
{
	heap_free(self->kind);
	heap_free(self->friction);
	heap_free(self->x);
	heap_free(self->v);
	gen_solver_release(&self->solver);
	gen_sparse_release(&self->gen);
	gen_scene_release(&self->scene);
}

/* Checks that the reported residual and violation are true, and that x adds no energy. */
static struct solver_result solve(struct work *self)
{
	uint64_t before = heap_calls();
	struct solver_result result = lcp_friction_sparse_solve(
		&self->solver.solver, &self->problem, &self->options, self->x, self->v);
	ck_assert_uint_eq(heap_calls(), before);
	const double(*v)[LCP_BODY] = (const double(*)[LCP_BODY])self->v;
	double found = gen_friction_residual(&self->problem, self->x, v), size = 0;
	ck_assert((result.status == SOLVER_SOLVED) == (result.residual <= self->options.tolerance));
	if (result.status == SOLVER_SOLVED)
		ck_assert_double_le(found, 2 * self->options.tolerance);
	else
		ck_assert_double_gt(found, 0.25 * self->options.tolerance);
	for (uint32_t i = 0; i < self->problem.rows.rows; i++)
		size = fmax(size, fabs(self->problem.rows.b[i]));
	ck_assert_double_le(gen_sparse_energy(&self->problem, self->x, v),
			    1e-10 * size * size * (1 + self->scene.bodies));
	return result;
}

/* The solution of the same problem by the dense solver. */
static struct solver_result solve_dense(const struct work *self, double (*after)[6])
{
	uint32_t n = self->problem.rows.rows;
	struct gen_lcp gen;
	struct lcp_friction dense;
	void *memory = heap_alloc_aligned(lcp_friction_bytes(n));
	double *x = heap_alloc((n + (size_t)1) * sizeof *x);
	ck_assert(memory != NULL && x != NULL);
	gen_lcp_init(&gen, n);
	gen_scene_lcp(&self->scene, 3, NULL, &gen);
	lcp_friction_init(&dense, memory, n);
	struct friction_problem problem = { n,	   gen.problem.stride, gen.a,
					    gen.b, self->kind,	       self->friction };
	struct solver_result result = lcp_friction_solve(&dense, &problem, &self->options, x, NULL);
	gen_scene_velocities(&self->scene, 3, NULL, x, after);
	heap_free(memory);
	heap_free(x);
	gen_lcp_release(&gen);
	return result;
}

START_TEST(a_block_on_a_slope_sticks_or_slides_by_its_friction)
{
	/* I-04…I-06: four contacts, 20°, g = 9.81: μ = .5 holds, μ = .3 slides at 0.589702. */
	double slope = 20 * 3.14159265358979323846 / 180;
	for (uint32_t slides = 0; slides < 2; slides++) {
		struct work work;
		struct gen_scene scene = gen_tower(1, 1);
		scene.velocity[0][0] = 9.81 * sin(slope);
		scene.velocity[0][1] = -9.81 * cos(slope);
		work_init(&work, scene, slides ? 0.3 : 0.5);
		for (uint32_t pass = 0; pass < 2; pass++) {
			struct solver_result result = solve(&work);
			ck_assert_int_eq(result.status, SOLVER_SOLVED);
			ck_assert_uint_eq(result.fallbacks, 0);
			for (uint32_t i = 0; i < 6; i++)
				ck_assert_double_eq_tol(work.v[0][i] + scene.velocity[0][i],
							slides && i == 0 ? 0.589702 : 0,
							slides ? 5e-7 : 1e-12);
			work.options.warm = true;
		}
		work_release(&work);
	}
}
END_TEST

/* Up to four rows on one body of unit mass. */
struct small {
	struct friction_sparse_problem problem;
	uint32_t start[5], body[4];
	double jacobian[4][LCP_BODY], mass_inv[1][LCP_BODY][LCP_BODY];
	double b[4], friction[4], lower[4], upper[4], x[4], v[1][LCP_BODY];
	uint8_t kind[4];
};

static void small_init(struct small *self, uint32_t rows, double inertia)
{
	memset(self, 0, sizeof *self);
	for (uint32_t i = 0; i < 4; i++) {
		self->start[i] = i;
		self->lower[i] = -INFINITY;
		self->upper[i] = INFINITY;
		self->kind[i] = i == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
	}
	self->start[rows] = rows;
	for (uint32_t c = 0; c < LCP_BODY; c++)
		self->mass_inv[0][c][c] = c < 3 ? 1 : 1 / inertia;
	self->problem = (struct friction_sparse_problem){
		{
			.rows = rows,
			.bodies = 1,
			.start = self->start,
			.body = self->body,
			.jacobian = (const double(*)[LCP_BODY])self->jacobian,
			.mass_inv = (const double(*)[LCP_BODY][LCP_BODY])self->mass_inv,
			.b = self->b,
			.lower = self->lower,
			.upper = self->upper,
		},
		self->kind,
		self->friction,
	};
}

static struct solver_result small_solve(struct small *self)
{
	struct gen_solver solver;
	struct solver_options options = solver_options_default();
	gen_solver_init(&solver, &self->problem.rows);
	struct solver_result result = lcp_friction_sparse_solve(&solver.solver, &self->problem,
								&options, self->x, self->v);
	gen_solver_release(&solver);
	return result;
}

START_TEST(a_sphere_rolls_or_slides_down)
{
	/* K2b: R = 1, m = 1 on 30°: μ = .5 rolls, a = 3.503571; μ = .1 slides. */
	double g = 9.81;
	for (uint32_t slides = 0; slides < 2; slides++) {
		struct small small;
		small_init(&small, 3, 0.4);
		small.jacobian[0][1] = 1;
		small.jacobian[1][0] = small.jacobian[2][2] = small.jacobian[1][5] =
			small.jacobian[2][3] = 1;
		small.b[0] = -g * sqrt(3) / 2;
		small.b[1] = g / 2;
		small.friction[1] = small.friction[2] = slides ? 0.1 : 0.5;
		ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
		ck_assert_double_eq_tol(-small.x[1], slides ? 0.849571 : 1.401429, 1e-6);
		ck_assert_double_eq_tol(g / 2 + small.v[0][0], slides ? 4.055429 : 3.503571, 1e-6);
	}
}
END_TEST

START_TEST(the_rod_of_painleve_is_not_solved_beyond_four_thirds)
{
	/* I-07, I-08: length 2, mass 1, tan = 2; r = (−c, −s) of 1; the reduced diagonal is 1.6
	 * − 1.2 μ. */
	double c = 1 / sqrt(5), s = 2 / sqrt(5), mus[] = { 0.3, 1, 1.3, 1.34, 1.5 };
	for (uint32_t m = 0; m < COUNT_OF(mus); m++) {
		struct small small;
		small_init(&small, 2, 1 / 3.);
		small.jacobian[0][1] = small.jacobian[1][0] = 1;
		small.jacobian[0][5] = -c;
		small.jacobian[1][5] = s;
		small.b[0] = -9.81;
		small.kind[1] = FRICTION_FORWARD;
		small.friction[1] = mus[m];
		struct solver_result result = small_solve(&small);
		const double(*v)[LCP_BODY] = (const double(*)[LCP_BODY])small.v;
		if (mus[m] > 4 / 3.) {
			ck_assert_int_ne(result.status, SOLVER_SOLVED);
			ck_assert_uint_eq(result.fallbacks, 1);
			ck_assert_double_gt(gen_friction_residual(&small.problem, small.x, v),
					    1e-3);
			ck_assert_double_le(gen_sparse_energy(&small.problem, small.x, v), 1e-9);
			continue;
		}
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		double force = 9.81 / (1.6 - 1.2 * mus[m]);
		ck_assert_double_eq_tol(small.x[0], force, 1e-9 * force);
		ck_assert_double_eq_tol(small.x[1], mus[m] * force, 1e-9 * force);
	}
}
END_TEST

START_TEST(friction_does_not_limit_a_joint_but_its_own_bounds_do)
{
	struct small small;
	small_init(&small, 3, 1);
	small.jacobian[0][1] = small.jacobian[1][0] = small.jacobian[2][2] = 1;
	small.b[0] = -10, small.b[1] = 8, small.b[2] = 7;
	small.friction[1] = 0.1;
	small.kind[2] = FRICTION_JOINT;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(small.x[0], 10, 1e-12);
	ck_assert_double_eq_tol(small.x[1], -1, 1e-12);
	ck_assert_double_eq_tol(small.x[2], -7, 1e-12);
	/* A motor with two bounds. */
	small.lower[2] = -2, small.upper[2] = 3;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(small.x[2], -2, 1e-12);
	ck_assert_double_eq_tol(small.v[0][2], -2, 1e-12);
}
END_TEST

START_TEST(bounds_of_contacts_are_not_read)
{
	static const double bounds[][2] = {
		{ 4, 6 }, { 1e300, 1e300 }, { 2, 1 }, { NAN, NAN }, { -1, -1 }
	};
	struct small plain, given;
	for (uint32_t sliding = 0; sliding < 2; sliding++)
		for (uint32_t k = 0; k < COUNT_OF(bounds); k++) {
			small_init(&plain, 3, 1);
			plain.jacobian[0][1] = plain.jacobian[1][0] = plain.jacobian[2][2] = 1;
			plain.b[0] = -10, plain.b[1] = 8, plain.b[2] = 7;
			plain.friction[1] = 0.1;
			plain.kind[1] = sliding != 0 ? FRICTION_FORWARD : FRICTION_STATIC;
			plain.kind[2] = FRICTION_JOINT;
			small_init(&given, 3, 1);
			memcpy(given.jacobian, plain.jacobian, sizeof given.jacobian);
			memcpy(given.b, plain.b, sizeof given.b);
			memcpy(given.friction, plain.friction, sizeof given.friction);
			memcpy(given.kind, plain.kind, sizeof given.kind);
			given.lower[0] = given.lower[1] = bounds[k][0];
			given.upper[0] = given.upper[1] = bounds[k][1];
			struct solver_result a = small_solve(&plain), b = small_solve(&given);
			ck_assert_int_eq(a.status, SOLVER_SOLVED);
			ck_assert_int_eq(b.status, SOLVER_SOLVED);
			ck_assert(a.residual == b.residual && a.violation == b.violation);
			ck_assert_mem_eq(plain.x, given.x, 3 * sizeof *plain.x);
		}
}
END_TEST

/* A ceiling moves down onto a body on the floor. */
START_TEST(normals_without_a_solution_are_infeasible_with_a_proof)
{
	struct small small;
	struct gen_solver solver;
	struct solver_options options = solver_options_default();
	small_init(&small, 4, 1);
	small.kind[2] = FRICTION_NORMAL;
	small.jacobian[0][1] = small.jacobian[1][0] = small.jacobian[3][0] = 1;
	small.jacobian[2][1] = -1;
	small.b[0] = small.b[2] = -1;
	small.friction[1] = small.friction[3] = 0.5;
	gen_solver_init(&solver, &small.problem.rows);
	struct solver_result result = lcp_friction_sparse_solve(&solver.solver, &small.problem,
								&options, small.x, small.v);
	ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
	ck_assert_uint_eq(result.certificate_count, 4);
	const double *z = result.certificate;
	ck_assert(z[1] == 0 && z[3] == 0 && z[0] > 0 && z[0] == z[2]);
	gen_solver_release(&solver);
}
END_TEST

/* ---- comparison with the dense solver ----------------------------------------------------------- */

/* At rest, velocities are 0 after the solution of either solver, for every size. */
START_TEST(stacks_and_walls_stay_at_rest_as_with_the_dense_solver)
{
	static const double mus[] = { 0.2, 0.6, 1 };
	uint32_t factors = 0;
	for (uint32_t k = 0; k < 3 * 14; k++) {
		uint32_t size = 1 + k / 3;
		struct work work;
		struct gen_scene scene = size <= 8 ? gen_tower(size, 1) : gen_wall(size - 7);
		gen_scene_fall(&scene, NULL, 0);
		work_init(&work, scene, mus[k % 3]);
		struct solver_result cold = solve(&work);
		ck_assert_int_eq(cold.status, SOLVER_SOLVED);
		ck_assert_uint_eq(cold.fallbacks, 0);
		double(*after)[6] = heap_alloc(scene.bodies * sizeof *after);
		bool dense =
			scene.contacts <= 32 && solve_dense(&work, after).status == SOLVER_SOLVED;
		for (uint32_t i = 0; i < scene.bodies; i++)
			for (uint32_t c = 0; c < 6; c++) {
				ck_assert_double_eq_tol(work.v[i][c] + scene.velocity[i][c], 0,
							1e-10);
				if (dense)
					ck_assert_double_eq_tol(after[i][c], 0, 1e-10);
			}
		work.options.warm = true;
		struct solver_result same = solve(&work);
		ck_assert_int_eq(same.status, SOLVER_SOLVED);
		factors += same.refactorings;
		heap_free(after);
		work_release(&work);
	}
	printf("# warm starts from the solutions: %u factors in all\n", factors);
	ck_assert_uint_le(factors, 3 * 14 * 3);
}
END_TEST

/* With random velocities solutions need not be unique, so each is checked by its own residual. */
START_TEST(stacks_and_walls_that_are_pushed_are_solved_where_the_dense_solver_solves_them)
{
	static const double mus[] = { 0.1, 0.3, 0.6, 1 };
	struct rng rng = rng_seeded(check_seed() + 9);
	uint32_t total = 0, solved = 0, both = 0, same = 0, only_dense = 0;
	for (uint32_t k = 0; k < 4 * 8 * 2; k++) {
		uint32_t size = 1 + k / 4 % 8;
		struct work work;
		struct gen_scene scene = size <= 5 ? gen_tower(size, 1) : gen_wall(size - 4);
		gen_scene_fall(&scene, &rng, k % 2 == 0 ? 0.02 : 0.3);
		work_init(&work, scene, mus[k % 4]);
		bool good = solve(&work).status == SOLVER_SOLVED;
		double(*after)[6] = heap_alloc(scene.bodies * sizeof *after), apart = 0;
		bool dense = solve_dense(&work, after).status == SOLVER_SOLVED;
		for (uint32_t i = 0; i < scene.bodies; i++)
			for (uint32_t c = 0; c < 6; c++)
				apart = fmax(apart, fabs(work.v[i][c] + scene.velocity[i][c] -
							 after[i][c]));
		total++;
		solved += good;
		both += good && dense;
		same += good && dense && apart <= 1e-8;
		only_dense += dense && !good;
		heap_free(after);
		work_release(&work);
	}
	printf("# pushed: of %u solved %u, by both %u with %u the same; by the dense one alone "
	       "%u\n",
	       total, solved, both, same, only_dense);
	fflush(stdout);
	ck_assert_uint_ge(solved, total - total / 10);
	ck_assert_uint_ge(same, both * 8 / 10);
}
END_TEST

START_TEST(random_contacts_add_no_energy_and_nearly_all_are_solved)
{
	static const double mus[] = { 0, 0.2, 0.5, 1 };
	const char *text = getenv("CAIRN_SOLVER_COUNT");
	uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 400;
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t statuses[SOLVER_STATUSES] = { 0 }, fallbacks = 0, factors = 0;
	double off = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct work work;
		work_init(&work,
			  gen_random_contacts(&rng, i % 8 == 0 ? 12 : 3, i % 8 == 0 ? 30 : 5),
			  mus[_i]);
		struct solver_result result = solve(&work);
		statuses[result.status]++;
		fallbacks += result.fallbacks;
		factors += result.refactorings;
		if (result.status == SOLVER_INFEASIBLE)
			ck_assert(gen_sparse_proves(&work.problem.rows, result.certificate));
		else
			off = MAX_OF(off, result.residual);
		if (mus[_i] == 0)
			ck_assert_uint_eq(result.fallbacks, 0);
		work_release(&work);
	}
	printf("# random contacts, mu %.1f: of %u solved %u, no solution %u, inexact %u, limit %u; "
	       "%u fallbacks, "
	       "off by %.0e at most, %.1f factors\n",
	       mus[_i], count, statuses[SOLVER_SOLVED], statuses[SOLVER_INFEASIBLE],
	       statuses[SOLVER_INEXACT], statuses[SOLVER_LIMIT], fallbacks, off,
	       (double)factors / count);
	fflush(stdout);
	ck_assert_uint_eq(statuses[SOLVER_INVALID], 0);
	ck_assert_uint_le(statuses[SOLVER_INEXACT] + statuses[SOLVER_LIMIT], count * mus[_i] / 20);
	/* Unsolved problems have small residuals too; with the convex problem alone they were up to
	 * 0.5. */
	ck_assert_double_le(off, 0.2);
}
END_TEST

/* ---- invalid input ------------------------------------------------------------------------------ */

static void expect_invalid(struct small *small)
{
	small->x[0] = small->v[0][1] = 7;
	struct solver_result result = small_solve(small);
	ck_assert_int_eq(result.status, SOLVER_INVALID);
	ck_assert(isinf(result.residual) && isinf(result.violation));
	ck_assert(small->x[0] == 0 && small->v[0][1] == 0);
	small_init(small, 3, 1);
	small->jacobian[0][1] = small->jacobian[1][0] = 1;
	small->b[0] = -1;
}

START_TEST(every_bad_row_has_its_status)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY, -0.5 };
	struct small small;
	small_init(&small, 3, 1);
	for (uint32_t k = 0; k < COUNT_OF(bad); k++) {
		small.friction[1] = bad[k];
		expect_invalid(&small);
		small.b[1] = k < 3 ? bad[k] : NAN;
		expect_invalid(&small);
	}
	small.kind[0] = FRICTION_STATIC;
	expect_invalid(&small);
	small.kind[1] = FRICTION_JOINT;
	expect_invalid(&small);
	small.kind[2] = FRICTION_JOINT + 1;
	expect_invalid(&small);
	small.kind[2] = FRICTION_JOINT, small.lower[2] = 1, small.upper[2] = 0;
	expect_invalid(&small);
	small.body[1] = 1;
	expect_invalid(&small);
	/* μ of a normal is not read. */
	small.friction[0] = NAN;
	ck_assert_int_eq(small_solve(&small).status, SOLVER_SOLVED);
}
END_TEST

/* All arrays of the rows, and the workspace, end at a protected page. */
START_TEST(the_solver_stays_within_its_arrays)
{
	struct gen_scene scene = gen_tower(4, 1);
	struct work work;
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	gen_scene_fall(&scene, NULL, 0);
	work_init(&work, scene, 0.5);
	struct lcp_sparse_size size = work.solver.solver.capacity;
	size_t rows = work.problem.rows.rows,
	       bytes[] = { lcp_sparse_bytes(size), rows, rows * sizeof(double),
			   rows * sizeof(double), scene.bodies * sizeof *work.v };
	unsigned char *at[COUNT_OF(bytes)], *whole[COUNT_OF(bytes)];
	size_t pages[COUNT_OF(bytes)];
	for (uint32_t k = 0; k < COUNT_OF(bytes); k++) {
		pages[k] = (bytes[k] + page - 1) / page * page;
		whole[k] = mmap(NULL, pages[k] + page, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert(whole[k] != MAP_FAILED);
		memset(whole[k], 0x7f, pages[k]);
		ck_assert_int_eq(mprotect(whole[k] + pages[k], page, PROT_NONE), 0);
		at[k] = whole[k] + pages[k] - bytes[k];
	}
	memcpy(at[1], work.kind, rows);
	memcpy(at[2], work.friction, rows * sizeof(double));
	work.problem.kind = at[1];
	work.problem.friction = (const double *)at[2];
	lcp_sparse_init(&work.solver.solver, at[0], size);
	struct solver_result result =
		lcp_friction_sparse_solve(&work.solver.solver, &work.problem, &work.options,
					  (double *)at[3], (double(*)[LCP_BODY])at[4]);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	for (uint32_t k = 0; k < COUNT_OF(bytes); k++)
		munmap(whole[k], pages[k] + page);
	work_release(&work);
}
END_TEST

START_TEST(a_workspace_over_nothing_or_misaligned_is_invalid_and_not_written_to)
{
	struct small small;
	struct lcp_sparse solver;
	struct solver_options options = solver_options_default();
	small_init(&small, 3, 1);
	struct lcp_sparse_size size = lcp_sparse_size_of(&small.problem.rows);
	unsigned char *memory = heap_alloc_aligned(lcp_sparse_bytes(size) + 64);
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0x7f, lcp_sparse_bytes(size) + 64);
	for (uint32_t off = 0; off < 64; off++) {
		lcp_sparse_init(&solver, off == 0 ? NULL : memory + off, size);
		small.x[0] = 7;
		ck_assert_int_eq(lcp_friction_sparse_solve(&solver, &small.problem, &options,
							   small.x, small.v)
					 .status,
				 SOLVER_INVALID);
		ck_assert(small.x[0] == 0);
		ck_assert_int_eq(
			lcp_sparse_solve(&solver, &small.problem.rows, &options, small.x, small.v)
				.status,
			SOLVER_INVALID);
	}
	for (size_t k = 0; k < lcp_sparse_bytes(size) + 64; k++)
		ck_assert_uint_eq(memory[k], 0x7f);
	heap_free(memory);
}
END_TEST

/* For both solvers a tolerance that is 0, negative or NaN becomes the default, and one above 1
 * becomes 1. */
START_TEST(an_invalid_tolerance_becomes_the_default)
{
	static const double none[] = { 0, -1, NAN };
	struct work work;
	struct gen_scene scene = gen_wall(3);
	struct rng rng = rng_seeded(check_seed());
	gen_scene_fall(&scene, &rng, 0.05);
	work_init(&work, scene, 0.5);
	uint32_t rows = work.problem.rows.rows;
	double *first = heap_alloc(rows * sizeof *first);
	struct solver_result wanted = solve(&work);
	memcpy(first, work.x, rows * sizeof *first);
	for (uint32_t k = 0; k < COUNT_OF(none); k++) {
		work.options.tolerance = none[k];
		struct solver_result result = lcp_friction_sparse_solve(
			&work.solver.solver, &work.problem, &work.options, work.x, work.v);
		ck_assert_int_eq(result.status, wanted.status);
		ck_assert_mem_eq(first, work.x, rows * sizeof *first);
	}
	heap_free(first);
	work_release(&work);
}
END_TEST

START_TEST(too_few_blocks_or_factors_end_with_limit)
{
	struct work work;
	struct gen_scene scene = gen_wall(12);
	struct rng rng = rng_seeded(check_seed());
	gen_scene_fall(&scene, &rng, 0.3);
	work_init(&work, scene, 0.4);
	struct lcp_sparse_size size = work.solver.solver.capacity;
	size_t needed = work.solver.solver.blocks_needed;
	work.options.rounds_max = 1;
	struct solver_result result = solve(&work);
	ck_assert_int_eq(result.status, SOLVER_LIMIT);
	ck_assert_uint_le(result.refactorings, 6);
	size.blocks = needed - 1;
	lcp_sparse_init(&work.solver.solver, work.solver.memory, size);
	result = lcp_friction_sparse_solve(&work.solver.solver, &work.problem, &work.options,
					   work.x, work.v);
	ck_assert(result.status == SOLVER_LIMIT && isinf(result.residual) && work.x[0] == 0);
	work_release(&work);
}
END_TEST

/* A heap of SIDE × SIDE × LAYERS lumps. Each touches those below it and near ones beside it, at
 * random points and along random normals. */
enum { SIDE = 5, LAYERS = 9 };

static void add_touch(struct gen_scene *scene, struct rng *rng, int32_t first, const double *above,
		      int32_t second, const double *below)
{
	double axes[3][3], point[3], length = 0;
	for (uint32_t c = 0; c < 3; c++) {
		axes[0][c] = above[c] - below[c] + rng_range(rng, -0.3, 0.3);
		point[c] = 0.5 * (above[c] + below[c]) + rng_range(rng, -0.3, 0.3);
		length += axes[0][c] * axes[0][c];
	}
	for (uint32_t c = 0; c < 3; c++)
		axes[0][c] /= sqrt(length);
	/* Tangents: t = n × the axis along which n is smallest, then n × t. */
	uint32_t k = fabs(axes[0][0]) < 0.6 ? 0 : 1;
	length = sqrt(1 - axes[0][k] * axes[0][k]);
	for (uint32_t c = 0; c < 3; c++) {
		uint32_t d = (c + 1) % 3, e = (c + 2) % 3;
		axes[1][c] = (axes[0][d] * (e == k) - axes[0][e] * (d == k)) / length;
	}
	for (uint32_t c = 0; c < 3; c++) {
		uint32_t d = (c + 1) % 3, e = (c + 2) % 3;
		axes[2][c] = axes[0][d] * axes[1][e] - axes[0][e] * axes[1][d];
	}
	gen_scene_touch(scene, point, (const double(*)[3])axes, first, above, second, below);
}

static struct gen_scene heap_scene(struct rng *rng)
{
	enum { BODIES = SIDE * SIDE * LAYERS };
	static double centre[BODIES][3];
	struct gen_scene scene = gen_scene_make(BODIES, 12 * BODIES);
	for (uint32_t i = 0; i < BODIES; i++) {
		centre[i][0] = i % SIDE + rng_range(rng, -0.3, 0.3);
		centre[i][1] = i / (SIDE * SIDE) + rng_range(rng, 0.3, 0.7);
		centre[i][2] = i / SIDE % SIDE + rng_range(rng, -0.3, 0.3);
		for (uint32_t c = 0; c < 6; c++)
			scene.mass_inv[i][c] = c < 3 ? 1 : 6;
	}
	for (uint32_t i = 0; i < BODIES; i++) {
		double ground[3] = { centre[i][0], -centre[i][1], centre[i][2] };
		for (uint32_t k = 0; k < i; k++) {
			double x = centre[i][0] - centre[k][0], y = centre[i][1] - centre[k][1];
			double z = centre[i][2] - centre[k][2];
			if (x * x + y * y + z * z < 1.1)
				add_touch(&scene, rng, (int32_t)i, centre[i], (int32_t)k,
					  centre[k]);
		}
		for (uint32_t k = 0; k < 3 && i < SIDE * SIDE; k++)
			add_touch(&scene, rng, (int32_t)i, centre[i], -1, ground);
	}
	gen_scene_fall(&scene, rng, 0);
	return scene;
}

START_TEST(large_heaps_report_a_true_small_residual)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct work work;
	work_init(&work, heap_scene(&rng), 0.6);
	work.options.warm = true;
	for (uint32_t pass = 0; pass < 2; pass++) {
		struct solver_result result = solve(&work);
		ck_assert_double_le(result.residual, 5e-3);
		ck_assert_uint_eq(result.fallbacks, result.status != SOLVER_SOLVED);
	}
	work_release(&work);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("friction_sparse");
	TCase *tcase = tcase_create("values"), *other = tcase_create("families"),
	      *input = tcase_create("input");
	tcase_set_timeout(other, 60);
	tcase_add_test(tcase, a_block_on_a_slope_sticks_or_slides_by_its_friction);
	tcase_add_test(tcase, a_sphere_rolls_or_slides_down);
	tcase_add_test(tcase, the_rod_of_painleve_is_not_solved_beyond_four_thirds);
	tcase_add_test(tcase, friction_does_not_limit_a_joint_but_its_own_bounds_do);
	tcase_add_test(tcase, bounds_of_contacts_are_not_read);
	tcase_add_test(tcase, normals_without_a_solution_are_infeasible_with_a_proof);
	tcase_add_test(other, stacks_and_walls_stay_at_rest_as_with_the_dense_solver);
	tcase_add_test(
		other,
		stacks_and_walls_that_are_pushed_are_solved_where_the_dense_solver_solves_them);
	tcase_add_loop_test(other, random_contacts_add_no_energy_and_nearly_all_are_solved, 0, 4);
	tcase_add_loop_test(other, large_heaps_report_a_true_small_residual, 0, 3);
	tcase_add_test(input, every_bad_row_has_its_status);
	tcase_add_test(input, the_solver_stays_within_its_arrays);
	tcase_add_test(input, a_workspace_over_nothing_or_misaligned_is_invalid_and_not_written_to);
	tcase_add_test(input, an_invalid_tolerance_becomes_the_default);
	tcase_add_test(input, too_few_blocks_or_factors_end_with_limit);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, other);
	suite_add_tcase(suite, input);
	return suite;
}

int main(void)
{
	return check_main(make);
}
