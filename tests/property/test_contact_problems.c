/* test_contact_problems.c: the Dantzig solver solves every contact problem of several families, random
 * ones and ones from stacks and walls of boxes.
 *
 * CAIRN_SOLVER_COUNT: number of random problems of each family, default 10000.
 * CAIRN_SOLVER_SIZE: size of the largest stack and wall in percent of 100 boxes and 20 rows, default 40.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "server/base/heap.h"
#include "server/engine/math/double_double.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_lcp.h"

static uint32_t setting(const char *name, uint32_t default_value)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : default_value;
}

struct bench {
	struct lcp_dantzig solver;
	void *memory;
	double *x, *w;
};

static void bench_init(struct bench *self, uint32_t rows)
{
	self->memory = heap_alloc_aligned(lcp_dantzig_bytes(rows));
	self->x = heap_alloc((2 * (size_t)rows + 1) * sizeof(double));
	ck_assert(self->memory != NULL && self->x != NULL);
	self->w = self->x + rows;
	lcp_dantzig_init(&self->solver, self->memory, rows);
}

static void bench_release(struct bench *self)
{
	heap_free(self->memory);
	heap_free(self->x);
}

/* The largest violation of x ≥ 0, w ≥ 0, x·w = 0, with rows scaled to a unit diagonal, divided by the
 * largest |b|. Where impulses are large this is stricter than the residual of the solver, which divides
 * by the largest term. */
static double scaled_violation(const struct lcp_problem *problem, const struct bench *bench)
{
	double worst = 0, size = 0;
	for (uint32_t i = 0; i < problem->count; i++) {
		double d = sqrt(problem->a[(size_t)i * problem->stride + i]);
		double x = bench->x[i] * d, w = bench->w[i] / d;
		worst = fmax(worst, fmax(fmax(-x, -w), fmin(fabs(x), fabs(w))));
		size = fmax(size, fabs(problem->b[i] / d));
	}
	return worst == 0 ? 0 : worst / size;
}

/* Whether zᵀA z ≤ 0 and bᵀz < 0 for the rounded A and b, which proves that the rounded problem has no
 * solution. With masses 1 : 1e8 and directions 1e-4 apart A has eigenvalues of 1e-16, and rounding makes
 * about one A in a million indefinite. INFEASIBLE is then the right answer. */
static bool rounding_made_infeasible(const struct lcp_problem *problem, const double *z)
{
	double2 curve = { 0, 0 }, down = { 0, 0 };
	for (uint32_t i = 0; i < problem->count; i++) {
		double2 sum = { 0, 0 };
		for (uint32_t j = 0; j < problem->count; j++)
			sum = double2_add(
				sum, double2_product(problem->a[i * problem->stride + j], z[j]));
		curve = double2_add(curve, double2_mul_double(sum, z[i]));
		down = double2_add(down, double2_product(problem->b[i], z[i]));
	}
	return curve.hi <= 0 && down.hi < 0;
}

/* Problems of 12 or 24 rows are SOLVED with a residual of at most 1e-10. INFEASIBLE is allowed in the
 * family without solutions, and in GEN_RATIO if its certificate holds. */
START_TEST(every_random_problem_is_answered_without_a_fallback)
{
	enum gen_family family = (enum gen_family)_i;
	struct rng rng = rng_seeded(check_seed() + 1000 * (uint64_t)_i);
	struct solver_options options = solver_options_default();
	struct gen_lcp gen;
	struct bench bench;
	uint32_t count = setting("CAIRN_SOLVER_COUNT", 10000), statuses[SOLVER_STATUSES] = { 0 };
	double worst = 0;
	gen_lcp_init(&gen, 24);
	bench_init(&bench, 24);
	for (uint32_t i = 0; i < count; i++) {
		gen_lcp_random(&gen, family, &rng, i % 10 == 0 ? 24 : 12);
		struct solver_result result =
			lcp_dantzig_solve(&bench.solver, &gen.problem, &options, bench.x, NULL);
		statuses[result.status]++;
		ck_assert_uint_eq(result.fallbacks, 0);
		if (family == GEN_RATIO && result.status == SOLVER_INFEASIBLE)
			ck_assert(rounding_made_infeasible(&gen.problem, result.certificate));
		if (result.status == SOLVER_SOLVED)
			worst = fmax(worst, result.residual);
	}
	printf("# %s: %u solved of %u, %u proved to have no solution, residual %.1e\n",
	       gen_family_name(family), statuses[SOLVER_SOLVED], count, statuses[SOLVER_INFEASIBLE],
	       worst);
	fflush(stdout);
	ck_assert_double_le(worst, 1e-10);
	uint32_t answered = statuses[SOLVER_SOLVED];
	if (family == GEN_INCONSISTENT || family == GEN_RATIO)
		answered += statuses[SOLVER_INFEASIBLE];
	ck_assert_uint_eq(answered, count);
	bench_release(&bench);
	gen_lcp_release(&gen);
}
END_TEST

/* Solves the frictionless problem of a scene with its contacts in the scene's order and in a random
 * order. Both must be SOLVED without a fallback, and the velocities must be equal to 1e-9. */
static void check_scene(struct gen_scene *scene, struct rng *rng, double noise, const char *name,
			uint32_t k)
{
	struct solver_options options = solver_options_default();
	struct gen_lcp gen;
	struct bench bench;
	uint32_t n = scene->contacts;
	gen_scene_fall(scene, rng, noise);
	gen_lcp_init(&gen, n);
	bench_init(&bench, n);
	uint32_t *order = heap_alloc(n * sizeof *order);
	double(*velocity[2])[6];
	ck_assert_ptr_nonnull(order);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t pass = 0; pass < 2; pass++) {
		velocity[pass] = heap_alloc(scene->bodies * sizeof *velocity[pass]);
		gen_scene_lcp(scene, 1, order, &gen);
		struct solver_result result =
			lcp_dantzig_solve(&bench.solver, &gen.problem, &options, bench.x, NULL);
		(void)lcp_residual(&gen.problem, bench.x, bench.w);
		double bad = scaled_violation(&gen.problem, &bench);
		if (result.status != SOLVER_SOLVED || result.fallbacks > 0 || bad > 1e-10)
			ck_abort_msg("%s %u: %s, %u fallbacks, violation %g", name, k,
				     solver_status_name(result.status), result.fallbacks, bad);
		gen_scene_velocities(scene, 1, order, bench.x, velocity[pass]);
		for (uint32_t i = n; i-- > 1;) {
			uint32_t j = rng_below(rng, i + 1), swap = order[i];
			order[i] = order[j];
			order[j] = swap;
		}
	}
	for (uint32_t i = 0; i < scene->bodies; i++)
		for (uint32_t c = 0; c < 6; c++)
			ck_assert_double_eq_tol(velocity[0][i][c], velocity[1][i][c], 1e-9);
	heap_free(velocity[0]);
	heap_free(velocity[1]);
	heap_free(order);
	bench_release(&bench);
	gen_lcp_release(&gen);
	gen_scene_release(scene);
}

START_TEST(every_stack_is_solved_in_any_order_of_contacts)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	uint32_t most = setting("CAIRN_SOLVER_SIZE", 40);
	for (uint32_t k = 1; k <= most; k += 1 + k / 4)
		for (uint32_t noise = 0; noise < 2; noise++) {
			struct gen_scene scene = gen_tower(k, 1);
			check_scene(&scene, &rng, 0.3 * noise, "stack", k);
		}
}
END_TEST

START_TEST(every_wall_is_solved_in_any_order_of_contacts)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	uint32_t most = setting("CAIRN_SOLVER_SIZE", 40) / 5;
	for (uint32_t k = 1; k <= most; k++)
		for (uint32_t noise = 0; noise < 2; noise++) {
			struct gen_scene scene = gen_wall(k);
			check_scene(&scene, &rng, 0.3 * noise, "wall", k);
		}
}
END_TEST

/* The top box is 1 to 1000 times as heavy as each of the others. */
START_TEST(every_stack_with_a_heavy_top_is_solved_in_any_order_of_contacts)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	for (double ratio = 1; ratio <= 1000; ratio *= 2.5)
		for (uint32_t k = 2; k <= 14; k += 3)
			for (uint32_t noise = 0; noise < 2; noise++) {
				struct gen_scene scene = gen_tower(k, ratio);
				check_scene(&scene, &rng, 0.1 * noise, "tower", k);
			}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("contact problems");
	TCase *tcase = tcase_create("families");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, every_random_problem_is_answered_without_a_fallback, 0,
			    GEN_FAMILIES);
	tcase_add_test(tcase, every_stack_is_solved_in_any_order_of_contacts);
	tcase_add_test(tcase, every_wall_is_solved_in_any_order_of_contacts);
	tcase_add_test(tcase, every_stack_with_a_heavy_top_is_solved_in_any_order_of_contacts);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
