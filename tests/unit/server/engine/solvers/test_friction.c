/* test_friction.c: contacts with friction: worked values of the sources, and families of problems whose
 * solutions and fallbacks are counted and printed. CAIRN_SOLVER_COUNT: random problems of each family
 * (default 400). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/engine/solvers/lcp_friction.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_lcp.h"

enum { ROWS = 144 };
static struct lcp_friction solver;
static void *memory;
static struct solver_options options;
static uint8_t kind[ROWS], collision[ROWS];
static double friction[ROWS], x[ROWS], w[ROWS];

static void setup(void)
{
	memory = heap_alloc_aligned(lcp_friction_bytes(ROWS));
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0x7f, lcp_friction_bytes(ROWS));
	lcp_friction_init(&solver, memory, ROWS);
	options = solver_options_default();
}

static void teardown(void)
{
	heap_free(memory);
}

static struct solver_result solve(const struct friction_problem *problem)
{
	for (uint32_t i = 0; i < problem->count; i++)
		x[i] = NAN;
	struct solver_result result = lcp_friction_solve(&solver, problem, &options, x, collision);
	ck_assert_double_eq(result.residual, lcp_friction_residual(problem, x, w, collision));
	return result;
}

/* The problem of a scene: three rows (n, t, k) for each contact, all static with μ. */
static struct friction_problem of_scene(const struct gen_scene *scene, struct gen_lcp *gen,
					double mu)
{
	gen_scene_lcp(scene, 3, NULL, gen);
	for (uint32_t i = 0; i < gen->problem.count; i++) {
		kind[i] = i % 3 == 0 ? FRICTION_NORMAL : FRICTION_STATIC;
		friction[i] = mu;
	}
	return (struct friction_problem){
		gen->problem.count, gen->problem.stride, gen->a, gen->b, kind, friction
	};
}

START_TEST(a_block_on_a_slope_sticks_or_slides_by_its_friction)
{
	/* I-04…I-06: four contacts, 20°, g = 9.81: μ = .5 holds, μ = .3 slides at 0.589702. */
	struct gen_scene scene = gen_tower(1, 1);
	struct gen_lcp gen;
	double slope = 20 * 3.14159265358979323846 / 180, after[1][6];
	gen_lcp_init(&gen, 12);
	scene.velocity[0][0] = 9.81 * sin(slope);
	scene.velocity[0][1] = -9.81 * cos(slope);
	for (uint32_t slides = 0; slides < 2; slides++) {
		struct friction_problem problem = of_scene(&scene, &gen, slides ? 0.3 : 0.5);
		struct solver_result result = solve(&problem);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_uint_eq(result.fallbacks, 0);
		gen_scene_velocities(&scene, 3, NULL, x, after);
		for (uint32_t i = 0; i < 6; i++) {
			double wanted = slides && i == 0 ? 0.589702 : 0;
			ck_assert_double_eq_tol(after[0][i], wanted, slides ? 5e-7 : 1e-12);
		}
	}
	gen_lcp_release(&gen);
	gen_scene_release(&scene);
}
END_TEST

START_TEST(a_sphere_rolls_or_slides_down)
{
	/* K2b: R = 1, m = 1 on 30°: μ = .5 rolls, a = 3.503571; μ = .1 slides. */
	double g = 9.81, I = 0.4, c = sqrt(3) / 2;
	for (uint32_t slides = 0; slides < 2; slides++) {
		double a[9] = { 1, 0, 0, 0, 1 + 1 / I, 0, 0, 0, 1 + 1 / I };
		double b[3] = { -g * c, g / 2, 0 };
		memcpy(kind, (uint8_t[]){ FRICTION_NORMAL, FRICTION_STATIC, FRICTION_STATIC }, 3);
		friction[1] = friction[2] = slides ? 0.1 : 0.5;
		struct friction_problem problem = { 3, 3, a, b, kind, friction };
		ck_assert_int_eq(solve(&problem).status, SOLVER_SOLVED);
		ck_assert_double_eq_tol(-x[1], slides ? 0.849571 : 1.401429, 1e-6);
		ck_assert_double_eq_tol(g / 2 + x[1], slides ? 4.055429 : 3.503571, 1e-6);
		ck_assert_double_eq_tol(-x[1] / I, slides ? 2.123928 : 3.503571, 1e-6);
	}
}
END_TEST

START_TEST(the_pyramid_allows_more_along_its_diagonal)
{
	/* I-04: normal force 10 N, tangential push (6, 6) N: sticks at μ = 0.6 although |push| =
	 * 8.49 > 6. */
	double a[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 }, b[3] = { -10, 6, 6 };
	memcpy(kind, (uint8_t[]){ FRICTION_NORMAL, FRICTION_STATIC, FRICTION_STATIC }, 3);
	friction[1] = friction[2] = 0.6;
	struct friction_problem problem = { 3, 3, a, b, kind, friction };
	ck_assert_int_eq(solve(&problem).status, SOLVER_SOLVED);
	ck_assert_double_eq(x[0], 10);
	ck_assert_double_eq_tol(x[1], -6, 1e-14);
	ck_assert_double_eq_tol(x[2], -6, 1e-14);
}
END_TEST

START_TEST(the_rod_of_painleve_is_a_collision_beyond_four_thirds)
{
	/* I-07, I-08: reduced diagonal 1.6 − 1.2 μ. Length 2, mass 1, tan = 2; r = (−c, −s) of 1.
	 */
	double c = 1 / sqrt(5), s = 2 / sqrt(5), I = 1 / 3.;
	double a[4] = { 1 + c * c / I, -c * s / I, -c * s / I, 1 + s * s / I };
	double b[2] = { -9.81, 0 }, mus[] = { 1.3, 1.34, 1.5 };
	for (uint32_t m = 0; m < 3; m++) {
		kind[0] = FRICTION_NORMAL;
		kind[1] = FRICTION_FORWARD;
		friction[1] = mus[m];
		struct friction_problem problem = { 2, 2, a, b, kind, friction };
		struct solver_result result = solve(&problem);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_int_eq(collision[0], m > 0);
		ck_assert_double_eq_tol(x[0], m > 0 ? 0 : 245.25, 1e-9);
		ck_assert_double_eq_tol(x[1], m > 0 ? 0 : 1.3 * 245.25, 1e-9);
	}
}
END_TEST

START_TEST(the_limit_of_friction_does_not_apply_to_a_joint)
{
	/* AR2: a body on rough ground carries another by a joint that pulls. */
	double a[9] = { 1, 0, 1, 0, 1, 0, 1, 0, 1.5 }, b[3] = { -9.81, 1, 0 };
	memcpy(kind, (uint8_t[]){ FRICTION_NORMAL, FRICTION_STATIC, FRICTION_JOINT }, 3);
	friction[1] = 0.01;
	struct friction_problem problem = { 3, 3, a, b, kind, friction };
	ck_assert_int_eq(solve(&problem).status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(x[0], 29.43, 1e-12);
	ck_assert_double_eq_tol(x[1], -0.2943, 1e-12);
	ck_assert_double_eq_tol(x[2], -19.62, 1e-12);
}
END_TEST

START_TEST(bad_numbers_and_rows_without_a_normal_are_refused)
{
	double a[4] = { 1, 0, 0, 1 }, b[2] = { -1, NAN };
	kind[0] = FRICTION_NORMAL;
	kind[1] = FRICTION_STATIC;
	friction[1] = 0.5;
	struct friction_problem problem = { 2, 2, a, b, kind, friction };
	ck_assert_int_eq(lcp_friction_solve(&solver, &problem, &options, x, NULL).status,
			 SOLVER_NOT_FINITE);
	b[1] = 0;
	kind[0] = FRICTION_JOINT;
	ck_assert_int_eq(lcp_friction_solve(&solver, &problem, &options, x, NULL).status,
			 SOLVER_NOT_FINITE);
	kind[0] = FRICTION_NORMAL;
	friction[1] = -0.5;
	ck_assert_int_eq(lcp_friction_solve(&solver, &problem, &options, x, NULL).status,
			 SOLVER_NOT_FINITE);
}
END_TEST

/* 1…3 bodies of unit mass and random spin, 1…5 contacts among them and the ground. */
static void random_scene(struct gen_scene *scene, struct rng *rng)
{
	scene->bodies = 1 + rng_below(rng, 3);
	scene->contacts = 1 + rng_below(rng, 5);
	for (uint32_t i = 0; i < scene->bodies; i++)
		for (uint32_t k = 0; k < 6; k++) {
			scene->mass_inv[i][k] = k < 3 ? 1 : rng_range(rng, 1, 6);
			scene->velocity[i][k] = rng_range(rng, -1, 1) - (k == 1);
		}
	for (uint32_t c = 0; c < scene->contacts; c++) {
		struct gen_contact *contact = &scene->contact[c];
		contact->body[0] = (int32_t)rng_below(rng, scene->bodies);
		contact->body[1] = (int32_t)rng_below(rng, scene->bodies + 1) - 1;
		if (contact->body[1] == contact->body[0])
			contact->body[1] = GEN_GROUND;
		double r[2][3];
		for (uint32_t s = 0; s < 6; s++)
			r[s / 3][s % 3] = rng_range(rng, -1, 1);
		for (uint32_t d = 0; d < 3; d++)
			for (uint32_t s = 0; s < 2; s++) {
				double *row = contact->row[d][s], sign = s == 0 ? 1 : -1;
				const uint32_t axis = (d + 1) % 3, u = (axis + 1) % 3,
					       v = (axis + 2) % 3;
				memset(row, 0, sizeof contact->row[d][s]);
				row[axis] = sign;
				row[3 + u] = sign * r[s][v];
				row[3 + v] = -sign * r[s][u];
			}
	}
}

START_TEST(random_contacts_add_no_energy_and_nearly_all_are_solved)
{
	static const double mus[] = { 0, 0.2, 0.5, 1 };
	const char *text = getenv("CAIRN_SOLVER_COUNT");
	uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 400;
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	struct gen_scene scene = gen_tower(3, 1);
	struct gen_lcp gen;
	uint32_t solved = 0, fallbacks = 0, rounds = 0;
	gen_lcp_init(&gen, 15);
	for (uint32_t i = 0; i < count; i++) {
		random_scene(&scene, &rng);
		struct friction_problem problem = of_scene(&scene, &gen, mus[_i]);
		struct solver_result result = solve(&problem);
		solved += result.status == SOLVER_SOLVED;
		fallbacks += result.fallbacks;
		rounds += result.rounds > 1;
		ck_assert_double_le(lcp_friction_energy(&problem, x), 1e-14);
		if (mus[_i] == 0)
			ck_assert_uint_eq(result.fallbacks, 0);
	}
	printf("# random, mu %.1f: %u solved of %u, %u by another order, %u fallbacks\n", mus[_i],
	       solved, count, rounds - fallbacks, fallbacks);
	fflush(stdout);
	ck_assert_uint_ge(solved, count - count / 100);
	gen_lcp_release(&gen);
	gen_scene_release(&scene);
}
END_TEST

START_TEST(stacks_and_walls_add_no_energy_and_are_counted)
{
	static const double mus[] = { 0.2, 0.6, 1 };
	struct rng rng = rng_seeded(check_seed() + 9);
	struct gen_lcp gen;
	uint32_t total = 0, solved = 0, fallbacks = 0;
	gen_lcp_init(&gen, ROWS);
	for (uint32_t m = 0; m < 3; m++)
		for (uint32_t k = 1; k <= 6; k++)
			for (uint32_t noise = 0; noise < 2; noise++) {
				bool wall = k > 4;
				struct gen_scene scene = wall ? gen_wall(k - 3) : gen_tower(k, 1);
				gen_scene_fall(&scene, &rng, 0.3 * noise);
				struct friction_problem problem = of_scene(&scene, &gen, mus[m]);
				struct solver_result result = solve(&problem);
				total++;
				solved += result.status == SOLVER_SOLVED;
				fallbacks += result.fallbacks;
				ck_assert_double_le(lcp_friction_energy(&problem, x), 1e-14);
				gen_scene_release(&scene);
			}
	printf("# stacks and walls: %u solved of %u, %u fallbacks\n", solved, total, fallbacks);
	fflush(stdout);
	ck_assert_uint_ge(solved, total * 9 / 10);
	gen_lcp_release(&gen);
}
END_TEST

START_TEST(numbers_from_both_ends_of_the_range_end_with_a_status)
{
	/* The reduced matrix overflows: there is no factor, regularised or not. */
	enum { N = 9 };
	double a[N * N], b[N];
	struct rng rng = rng_seeded(check_seed());
	struct friction_problem problem = { N, N, a, b, kind, friction };
	for (uint32_t round = 0; round < 3000; round++) {
		/* No number of the problem before remains in the memory. */
		memset(memory, 0x7f, lcp_friction_bytes(ROWS));
		lcp_friction_init(&solver, memory, ROWS);
		for (uint32_t i = 0; i < N; i++) {
			kind[i] = (uint8_t)(i % 3 == 0 ? FRICTION_NORMAL : rng_below(&rng, 4));
			friction[i] = rng_below(&rng, 3) == 0 ? 0x1p800 : 0.5;
			b[i] = rng_below(&rng, 4) == 0 ? 1 : -1;
			for (uint32_t j = 0; j < i; j++)
				a[i * N + j] = a[j * N + i] =
					ldexp(rng_below(&rng, 3) - 1.0, (int)rng_below(&rng, 1000));
			a[i * N + i] = 1;
		}
		struct solver_result result = solve(&problem);
		ck_assert_uint_lt((uint32_t)result.status, SOLVER_STATUSES);
		if (result.status == SOLVER_SOLVED)
			ck_assert_double_le(result.residual, options.tolerance);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("friction");
	TCase *tcase = tcase_create("baraff");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_block_on_a_slope_sticks_or_slides_by_its_friction);
	tcase_add_test(tcase, a_sphere_rolls_or_slides_down);
	tcase_add_test(tcase, the_pyramid_allows_more_along_its_diagonal);
	tcase_add_test(tcase, the_rod_of_painleve_is_a_collision_beyond_four_thirds);
	tcase_add_test(tcase, the_limit_of_friction_does_not_apply_to_a_joint);
	tcase_add_test(tcase, bad_numbers_and_rows_without_a_normal_are_refused);
	tcase_add_test(tcase, numbers_from_both_ends_of_the_range_end_with_a_status);
	tcase_add_loop_test(tcase, random_contacts_add_no_energy_and_nearly_all_are_solved, 0, 4);
	tcase_add_test(tcase, stacks_and_walls_add_no_energy_and_are_counted);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
