/* test_lcp_sparse.c: walls by the sparse solver: conditions, agreement with pivoting, warm starts.
 * CAIRN_SOLVER_SIZE 100 makes the largest wall one of 50 rows (10000 contacts); default 24. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/engine/math/scalar.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_lcp.h"

struct work {
	struct gen_scene scene;
	struct gen_sparse gen;
	struct lcp_sparse solver;
	void *memory;
	double *x;
	struct solver_options options;
};

static void work_init(struct work *self, struct gen_scene scene)
{
	size_t fill = 0;
	self->scene = scene;
	self->gen = gen_scene_sparse(&scene);
	self->options = solver_options_default();
	self->x = heap_alloc((scene.contacts + 1) * sizeof(double));
	uint32_t rows = scene.contacts, entries = self->gen.start[rows];
	for (uint32_t pass = 0; pass < 2; pass++) {
		if (pass == 1)
			heap_free(self->memory);
		self->memory = heap_alloc_aligned(lcp_sparse_bytes(rows, entries, fill));
		ck_assert(self->memory != NULL && self->x != NULL);
		lcp_sparse_init(&self->solver, self->memory, rows, entries, fill);
		ck_assert_int_eq(lcp_sparse_order(&self->solver, &self->gen.problem, &fill),
				 STATUS_OK);
	}
}

static void work_release(struct work *self)
{
	heap_free(self->memory);
	heap_free(self->x);
	gen_sparse_release(&self->gen);
	gen_scene_release(&self->scene);
}

static double violation(const struct lcp_sparse_problem *p, const double *x)
{
	double worst = 0, size = 0;
	for (uint32_t i = 0; i < p->count; i++) {
		double w = p->b[i];
		for (uint32_t e = p->start[i]; e < p->start[i + 1]; e++)
			w += p->value[e] * x[p->column[e]];
		worst = fmax(worst, fmax(fmax(-x[i], -w), fmin(fabs(x[i]), fabs(w))));
		size = fmax(size, fabs(p->b[i]));
	}
	return worst / size;
}

static struct solver_result solve(struct work *self)
{
	uint64_t before = heap_calls();
	struct solver_result result =
		lcp_sparse_solve(&self->solver, &self->gen.problem, &self->options, self->x);
	ck_assert_uint_eq(heap_calls(), before);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_le(violation(&self->gen.problem, self->x), 1e-10);
	return result;
}

START_TEST(walls_are_solved_and_a_warm_start_is_quick)
{
	const char *text = getenv("CAIRN_SOLVER_SIZE");
	uint32_t most = text != NULL ? (uint32_t)strtoul(text, NULL, 10) / 2 : 24;
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t k = most; k > 0; k /= 2)
		for (uint32_t noise = 0; noise < 2; noise++) {
			struct work work;
			struct gen_scene scene = gen_wall(k);
			gen_scene_fall(&scene, &rng, 0.1 * noise);
			work_init(&work, scene);
			struct solver_result cold = solve(&work);
			work.options.warm = true;
			struct solver_result warm = solve(&work);
			ck_assert_uint_le(warm.rounds, 1);
			printf("# wall %u: %u rows, %u rounds cold, %u warm\n", k, scene.contacts,
			       cold.rounds, warm.rounds);
			fflush(stdout);
			work_release(&work);
		}
}
END_TEST

START_TEST(velocities_are_those_of_pivoting)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	for (uint32_t k = 1; k <= 8; k++) {
		struct work work;
		struct gen_scene scene = k % 2 == 0 ? gen_wall(k) : gen_tower(4 * k, 1 + 30 * k);
		uint32_t n = scene.contacts;
		struct gen_lcp gen;
		struct lcp_dantzig other;
		double after[2][40][6], *impulses = heap_alloc(n * sizeof(double));
		void *memory = heap_alloc_aligned(lcp_dantzig_bytes(n));
		gen_scene_fall(&scene, &rng, 0.2);
		work_init(&work, scene);
		gen_lcp_init(&gen, n);
		gen_scene_lcp(&scene, 1, NULL, &gen);
		lcp_dantzig_init(&other, memory, n);
		(void)solve(&work);
		(void)lcp_dantzig_solve(&other, &gen.problem, &work.options, impulses, NULL);
		gen_scene_velocities(&scene, 1, NULL, work.x, after[0]);
		gen_scene_velocities(&scene, 1, NULL, impulses, after[1]);
		for (uint32_t i = 0; i < scene.bodies; i++)
			for (uint32_t c = 0; c < 6; c++)
				ck_assert_double_eq_tol(after[0][i][c], after[1][i][c], 1e-9);
		heap_free(impulses);
		heap_free(memory);
		gen_lcp_release(&gen);
		work_release(&work);
	}
}
END_TEST

START_TEST(too_little_room_and_bad_numbers_have_their_status)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	struct work work;
	struct gen_scene scene = gen_wall(16);
	gen_scene_fall(&scene, &rng, 0.1);
	work_init(&work, scene);
	work.solver.factor.entries_max = 3;
	struct solver_result result =
		lcp_sparse_solve(&work.solver, &work.gen.problem, &work.options, work.x);
	ck_assert_int_eq(result.status, SOLVER_LIMIT);
	ck_assert_double_gt(result.residual, work.options.tolerance);
	work.gen.b[5] = NAN;
	result = lcp_sparse_solve(&work.solver, &work.gen.problem, &work.options, work.x);
	ck_assert_int_eq(result.status, SOLVER_NOT_FINITE);
	work_release(&work);
}
END_TEST

/* The rows of `parts` towers and walls in one problem, shuffled together: part k's row r is row
 * place[k][r]. */
struct mixture {
	struct gen_sparse all;
	uint32_t *row[6];
};

static struct mixture mix(struct rng *rng, const struct work *parts, uint32_t count)
{
	struct mixture self;
	uint32_t n = 0, entries = 0, next = 0, at = 0;
	for (uint32_t k = 0; k < count; k++) {
		n += parts[k].scene.contacts;
		entries += parts[k].gen.start[parts[k].scene.contacts];
		self.row[k] = heap_alloc(parts[k].scene.contacts * sizeof(uint32_t));
	}
	self.all.start = heap_alloc((n + 1) * sizeof(uint32_t));
	self.all.column = heap_alloc(entries * sizeof(uint32_t));
	self.all.value = heap_alloc(entries * sizeof(double));
	self.all.b = heap_alloc(n * sizeof(double));
	uint32_t taken[6] = {0}, *part_of = heap_alloc(n * sizeof(uint32_t));
	while (next < n) {
		uint32_t k = rng_below(rng, count);
		if (taken[k] == parts[k].scene.contacts)
			continue;
		part_of[next] = k;
		self.row[k][taken[k]++] = next++;
	}
	memset(taken, 0, sizeof taken);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = part_of[i], r = taken[k]++;
		const struct lcp_sparse_problem *p = &parts[k].gen.problem;
		self.all.start[i] = at;
		self.all.b[i] = p->b[r];
		for (uint32_t e = p->start[r]; e < p->start[r + 1]; e++) {
			self.all.column[at] = self.row[k][p->column[e]];
			self.all.value[at++] = p->value[e];
		}
	}
	self.all.start[n] = at;
	self.all.problem = (struct lcp_sparse_problem){
		n, self.all.start, self.all.column, self.all.value, self.all.b, NULL, NULL};
	heap_free(part_of);
	return self;
}

START_TEST(islands_are_solved_as_if_each_were_alone)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	struct work parts[6], all;
	for (uint32_t k = 0; k < 6; k++) {
		struct gen_scene scene = k % 2 == 0 ? gen_wall(1 + 2 * k) : gen_tower(3 * k, 40);
		gen_scene_fall(&scene, &rng, 0.2);
		work_init(&parts[k], scene);
		(void)solve(&parts[k]);
		ck_assert_uint_eq(parts[k].solver.islands, 1);
	}
	struct mixture mixture = mix(&rng, parts, 6);
	uint32_t rows = mixture.all.problem.count, entries = mixture.all.start[rows];
	size_t fill = 0;
	all.options = solver_options_default();
	all.x = heap_alloc(rows * sizeof(double));
	/* In the order that each part had alone: then all bits are those of the parts. */
	uint32_t *order = heap_alloc(rows * sizeof *order), at = 0;
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t r = 0; r < parts[k].scene.contacts; r++)
			order[at++] = mixture.row[k][parts[k].solver.order[r]];
	for (uint32_t pass = 0; pass < 2; pass++) {
		if (pass == 1)
			heap_free(all.memory);
		all.memory = heap_alloc_aligned(lcp_sparse_bytes(rows, entries, fill));
		lcp_sparse_init(&all.solver, all.memory, rows, entries, fill);
		fill = lcp_sparse_order_by(&all.solver, &mixture.all.problem, order);
	}
	ck_assert_uint_eq(all.solver.islands, 6);
	struct solver_result result =
		lcp_sparse_solve(&all.solver, &mixture.all.problem, &all.options, all.x);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	for (uint32_t k = 0; k < 6; k++)
		for (uint32_t r = 0; r < parts[k].scene.contacts; r++)
			ck_assert_double_eq(all.x[mixture.row[k][r]], parts[k].x[r]);
	for (uint32_t k = 0; k < 6; k++) {
		heap_free(mixture.row[k]);
		work_release(&parts[k]);
	}
	gen_sparse_release(&mixture.all);
	heap_free(order);
	heap_free(all.memory);
	heap_free(all.x);
}
END_TEST

START_TEST(small_changes_are_answered_by_updates_of_one_factor)
{
	struct rng rng = rng_seeded(check_seed() + 4);
	struct work work;
	struct gen_scene scene = gen_wall(16);
	gen_scene_fall(&scene, &rng, 0.1);
	work_init(&work, scene);
	(void)solve(&work);
	work.options.warm = true;
	for (double size = 1e-4; size < 0.05; size *= 10)
		for (uint32_t round = 0; round < 4; round++) {
			for (uint32_t i = 0; i < scene.bodies; i++)
				for (uint32_t c = 0; c < 6; c++)
					scene.velocity[i][c] += rng_range(&rng, -size, size);
			struct gen_sparse changed = gen_scene_sparse(&scene);
			memcpy(work.gen.b, changed.b, scene.contacts * sizeof *changed.b);
			gen_sparse_release(&changed);
			struct solver_result result = solve(&work);
			ck_assert_uint_le(result.refactorings, 2);
		}
	work_release(&work);
}
END_TEST

/* D A D with D = 2^k by row, and everything by row to match: the answer is D⁻¹ x times a power. */
static void spread(struct gen_sparse *gen, struct rng *rng, uint32_t most, int lift)
{
	int e[64];
	for (uint32_t i = 0; i < gen->problem.count; i++)
		e[i] = (int)rng_below(rng, 2 * most + 1) - (int)most;
	for (uint32_t i = 0; i < gen->problem.count; i++) {
		gen->b[i] = ldexp(gen->b[i], e[i] + lift);
		for (uint32_t p = gen->start[i]; p < gen->start[i + 1]; p++)
			gen->value[p] = ldexp(gen->value[p], e[i] + e[gen->column[p]]);
	}
}

/* As a dense problem. */
static double judge(const struct lcp_sparse_problem *p, const double *x)
{
	double a[64 * 64] = {0};
	for (uint32_t i = 0; i < p->count; i++)
		for (uint32_t k = p->start[i]; k < p->start[i + 1]; k++)
			a[i * 64 + p->column[k]] = p->value[k];
	struct lcp_problem dense = {p->count, 64, a, p->b, p->lower, p->upper};
	double w[64], said = lcp_residual(&dense, x, w);
	long double found = far_lcp_residual(&dense, x);
	/* The residual of the dense solvers is that of long double, to rounding. */
	ck_assert(fabsl(said - found) <= 1e-13L + 1e-6L * found);
	return (double)found;
}

START_TEST(numbers_at_the_ends_of_the_range_are_solved_or_said_not_to_be)
{
	struct rng rng = rng_seeded(check_seed() + 5);
	uint32_t solved = 0, near = 0;
	for (uint32_t round = 0; round < 200; round++) {
		struct work work;
		struct gen_scene scene = gen_tower(4, 16);
		gen_scene_fall(&scene, &rng, 0.1);
		work_init(&work, scene);
		/* Up to 2^±480 in a row's unit: entries to 2^±960; x = 2^(lift − e) must be a double. */
		uint32_t most = 100 + rng_below(&rng, 380);
		int lift = (int)rng_below(&rng, 1600) - 800;
		spread(&work.gen, &rng, most, lift);
		struct solver_result result =
			lcp_sparse_solve(&work.solver, &work.gen.problem, &work.options, work.x);
		bool holds = solver_finite(work.gen.b, work.gen.problem.count);
		if (holds) {
			double found = judge(&work.gen.problem, work.x);
			ck_assert(result.status != SOLVER_SOLVED || found <= 4e-10);
			ck_assert(result.status == SOLVER_SOLVED || found > 1e-12);
			/* Where all of x fits into doubles, it is found. */
			if (lift + (int)most < 1000 && lift - (int)most > -900) {
				near++;
				ck_assert_int_eq(result.status, SOLVER_SOLVED);
			}
			solved += result.status == SOLVER_SOLVED;
		} else
			ck_assert_int_eq(result.status, SOLVER_NOT_FINITE);
		work_release(&work);
	}
	ck_assert_uint_gt(near, 40);
	ck_assert_uint_ge(solved, near);
}
END_TEST

START_TEST(an_answer_no_double_can_hold_is_inexact)
{
	uint32_t start[] = {0, 1}, column[] = {0}, order[] = {0};
	double value = 1e300, b = -1e-200, low = -__builtin_inf(), high = -low, x = 1;
	struct lcp_sparse solver;
	struct solver_options options = solver_options_default();
	void *memory = heap_alloc_aligned(lcp_sparse_bytes(1, 1, 8));
	lcp_sparse_init(&solver, memory, 1, 1, 8);
	struct lcp_sparse_problem problem = {1, start, column, &value, &b, &low, &high};
	(void)lcp_sparse_order_by(&solver, &problem, order);
	/* x = 1e-500, then 1e400: the nearest doubles are 0 and the largest. */
	struct solver_result result = lcp_sparse_solve(&solver, &problem, &options, &x);
	ck_assert_int_eq(result.status, SOLVER_INEXACT);
	ck_assert(x == 0 && result.residual == 1);
	value = 1e-200, b = -1e200;
	result = lcp_sparse_solve(&solver, &problem, &options, &x);
	ck_assert_int_eq(result.status, SOLVER_INEXACT);
	ck_assert(x == SCALAR_MAX && scalar_near(result.residual, 1, 1e-12));
	value = 1e-300, b = -1e-10;
	result = lcp_sparse_solve(&solver, &problem, &options, &x);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert(fabs(x / 1e290 - 1) < 1e-12);
	heap_free(memory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lcp_sparse");
	TCase *tcase = tcase_create("projected newton");
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, walls_are_solved_and_a_warm_start_is_quick);
	tcase_add_test(tcase, velocities_are_those_of_pivoting);
	tcase_add_test(tcase, too_little_room_and_bad_numbers_have_their_status);
	tcase_add_test(tcase, islands_are_solved_as_if_each_were_alone);
	tcase_add_test(tcase, small_changes_are_answered_by_updates_of_one_factor);
	tcase_add_test(tcase, numbers_at_the_ends_of_the_range_are_solved_or_said_not_to_be);
	tcase_add_test(tcase, an_answer_no_double_can_hold_is_inexact);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
