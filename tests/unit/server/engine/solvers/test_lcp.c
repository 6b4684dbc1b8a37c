/* test_lcp.c: the pivoting LCP: worked values of the sources, certificates, warm starts and invalid
 * input. Families of problems are in tests/property/test_contact_problems.c. */
#include <math.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/engine/solvers/lcp_dantzig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/gen_lcp.h"

enum { N = 40 };
static const double inf = __builtin_inf();
static struct lcp_dantzig solver;
static void *memory;
static struct solver_options options;

static void setup(void)
{
	memory = heap_alloc_aligned(lcp_dantzig_bytes(N));
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0x7f, lcp_dantzig_bytes(N));
	lcp_dantzig_init(&solver, memory, N);
	options = solver_options_default();
}

static void teardown(void)
{
	heap_free(memory);
}

static struct solver_result solve(uint32_t n, const double *a, const double *b, const double *lower,
				  const double *upper, double *x)
{
	struct lcp_problem problem = { n, n, a, b, lower, upper };
	for (uint32_t i = 0; i < n; i++)
		x[i] = NAN;
	return lcp_dantzig_solve(&solver, &problem, &options, x, NULL);
}

static void expect(uint32_t n, const double *a, const double *b, const double *wanted)
{
	double x[N];
	struct solver_result result = solve(n, a, b, NULL, NULL, x);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_le(result.residual, 1e-15);
	for (uint32_t i = 0; i < n; i++)
		ck_assert_double_eq_tol(x[i], wanted[i], 1e-13 * (1 + fabs(wanted[i])));
}

START_TEST(worked_examples_of_the_sources_have_their_solutions)
{
	/* C-04 and I-02: the block on its edge; the matrix is corrected against the print. */
	expect(2, (double[]){ .45, .35, .35, .3 }, (double[]){ -2, -2 }, (double[]){ 0, 20 / 3. });
	/* I-02: tridiagonal. */
	expect(3, (double[]){ 2, 1, 0, 1, 2, 1, 0, 1, 2 }, (double[]){ -1, -4, -1 },
	       (double[]){ 0, 2, 0 });
	/* I5c: the linear system alone has a negative force. */
	expect(2, (double[]){ 1.2, .8, .8, 1.2 }, (double[]){ -1, -.1 }, (double[]){ 1 / 1.2, 0 });
	/* K1: a resting mass, and one pulled up by 20 N. */
	expect(1, (double[]){ 1 }, (double[]){ -9.81 }, (double[]){ 9.81 });
	expect(1, (double[]){ 1 }, (double[]){ 10.19 }, (double[]){ 0 });
	/* K3: 1 kg on 2 kg on the floor: 29.43 N at the floor, 9.81 N between them. */
	expect(2, (double[]){ .5, -.5, -.5, 1.5 }, (double[]){ -9.81, 0 },
	       (double[]){ 29.43, 9.81 });
	/* K3: a rod (m = 1, L = 2, I = 1/3) on two supports, 6 N up at its right end. */
	double I = 1 / 3., up = 6 - 9.81, turn = 6 / I;
	expect(2, (double[]){ 1 + 1 / I, 1 - 1 / I, 1 - 1 / I, 1 + 1 / I },
	       (double[]){ up - turn, up + turn }, (double[]){ 5.4525, 0 });
}
END_TEST

START_TEST(three_legs_have_one_velocity_in_all_six_orders)
{
	/* C-05: rank 2, null vector (1, −2, 1); block M = 4, I = 20, legs at −3, 0, 3. */
	static const uint32_t orders[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					       { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	const double at[3] = { -3, 0, 3 };
	for (uint32_t o = 0; o < 6; o++) {
		double a[9], x[3], b[3] = { -2, -2, -2 }, up = 0, turn = 0;
		for (uint32_t i = 0; i < 9; i++)
			a[i] = 0.25 + at[orders[o][i / 3]] * at[orders[o][i % 3]] / 20;
		struct solver_result result = solve(3, a, b, NULL, NULL, x);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_uint_eq(result.fallbacks, 0);
		for (uint32_t i = 0; i < 3; i++) {
			ck_assert_double_ge(x[i], 0);
			up += x[i] / 4;
			turn += x[i] * at[orders[o][i]] / 20;
		}
		ck_assert_double_eq_tol(up, 2, 1e-14);
		ck_assert_double_eq_tol(turn, 0, 1e-14);
	}
}
END_TEST

START_TEST(a_joint_row_may_pull_beside_a_contact)
{
	/* AR2 and I-10: 1 kg on a contact, 2 kg hanging from it: contact 29.43, joint −19.62. */
	double a[4] = { 1, 1, 1, 1.5 }, b[2] = { -9.81, 0 }, x[2];
	double lower[2] = { 0, -inf }, upper[2] = { inf, inf };
	struct solver_result result = solve(2, a, b, lower, upper, x);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(x[0], 29.43, 1e-12);
	ck_assert_double_eq_tol(x[1], -19.62, 1e-12);
}
END_TEST

START_TEST(two_equal_joints_give_the_motion_of_one)
{
	/* AR4: two equal joint rows make a singular block; the forces are finite and their sum is
	 * that of one. */
	double a[9] = { 1, 1, 1, 1, 1.5, 1.5, 1, 1.5, 1.5 }, b[3] = { -9.81, 0, 0 }, x[3];
	double lower[3] = { 0, -inf, -inf }, upper[3] = { inf, inf, inf };
	struct solver_result result = solve(3, a, b, lower, upper, x);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(x[0], 29.43, 1e-12);
	ck_assert_double_eq_tol(x[1] + x[2], -19.62, 1e-12);
}
END_TEST

START_TEST(bounds_are_kept_on_both_sides)
{
	double a[4] = { 2, 1, 1, 2 }, b[2] = { -8, 8 }, x[2];
	double lower[2] = { -1, -1 }, upper[2] = { 1, 1 };
	ck_assert_int_eq(solve(2, a, b, lower, upper, x).status, SOLVER_SOLVED);
	ck_assert_double_eq(x[0], 1);
	ck_assert_double_eq(x[1], -1);
	/* A given force: lower = upper, for any w. */
	double fixed_low[2] = { 0.25, -inf }, fixed_high[2] = { 0.25, inf };
	ck_assert_int_eq(solve(2, a, b, fixed_low, fixed_high, x).status, SOLVER_SOLVED);
	ck_assert_double_eq(x[0], 0.25);
	ck_assert_double_eq_tol(x[1], -4.125, 1e-15);
}
END_TEST

START_TEST(a_problem_without_a_solution_is_infeasible_with_a_proof)
{
	struct rng rng = rng_seeded(check_seed());
	struct gen_lcp gen;
	gen_lcp_init(&gen, 12);
	uint32_t proved = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		double x[12];
		gen_lcp_random(&gen, GEN_INCONSISTENT, &rng, 12);
		const struct lcp_problem *p = &gen.problem;
		struct solver_result result = lcp_dantzig_solve(&solver, p, &options, x, NULL);
		ck_assert_int_ne(result.status, SOLVER_INEXACT);
		ck_assert_int_ne(result.status, SOLVER_LIMIT);
		if (result.status != SOLVER_INFEASIBLE)
			continue;
		proved++;
		ck_assert_uint_eq(result.certificate_count, p->count);
		const double *z = result.certificate;
		double down = 0, size = 0;
		for (uint32_t r = 0; r < p->count; r++) {
			ck_assert_double_ge(z[r], -1e-12);
			down += p->b[r] * z[r];
			size = fmax(size, fabs(z[r]));
		}
		ck_assert_double_lt(down, 0);
		for (uint32_t r = 0; r < p->count; r++) {
			double sum = 0;
			for (uint32_t c = 0; c < p->count; c++)
				sum += p->a[r * p->stride + c] * z[c];
			ck_assert_double_le(fabs(sum), 1e-9 * size);
		}
	}
	ck_assert_uint_gt(proved, 100);
	gen_lcp_release(&gen);
}
END_TEST

START_TEST(a_tiny_schur_complement_is_no_dependent_row)
{
	/* Problems with masses 1 : 1e8 out of a million, whose Schur complements of 7e-13, 5e-12,
	 * 8e-17, 4e-15 and 2e-16 are genuine. */
	static const uint32_t seeds[] = { 5, 7, 41, 30, 48 },
			      picks[] = { 7479, 390, 5381, 5383, 7821 };
	struct gen_lcp gen;
	gen_lcp_init(&gen, 24);
	for (uint32_t k = 0; k < COUNT_OF(seeds); k++) {
		double x[N];
		struct rng rng = rng_seeded(seeds[k] + 1000 * (uint64_t)GEN_RATIO);
		for (uint32_t i = 0; i <= picks[k]; i++)
			gen_lcp_random(&gen, GEN_RATIO, &rng, i % 10 == 0 ? 24 : 12);
		struct solver_result result =
			lcp_dantzig_solve(&solver, &gen.problem, &options, x, NULL);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_uint_eq(result.fallbacks, 0);
		ck_assert_double_le(result.residual, 1e-11);
	}
	gen_lcp_release(&gen);
}
END_TEST

START_TEST(a_ray_is_unbounded_and_no_solution)
{
	/* A is not semidefinite: as x grows, w falls without limit. */
	double a[1] = { -1 }, b[1] = { -1 }, x[1];
	struct solver_result result = solve(1, a, b, NULL, NULL, x);
	ck_assert_int_eq(result.status, SOLVER_UNBOUNDED);
	ck_assert_ptr_nonnull(result.certificate);
	ck_assert_double_gt(result.certificate[0], 0);
	ck_assert_double_gt(result.residual, 0.1);
}
END_TEST

START_TEST(bad_numbers_have_their_own_status)
{
	double good[4] = { 1, 0, 0, 1 }, b[2] = { -1, -1 }, x[2];
	double bad[3] = { NAN, inf, -inf };
	for (uint32_t k = 0; k < 3; k++) {
		double a[4] = { 1, 0, 0, bad[k] }, c[2] = { -1, bad[k] };
		ck_assert_int_eq(solve(2, a, b, NULL, NULL, x).status, SOLVER_NOT_FINITE);
		ck_assert_double_eq(x[1], 0);
		ck_assert_int_eq(solve(2, good, c, NULL, NULL, x).status, SOLVER_NOT_FINITE);
	}
	double crossed_low[2] = { 1, 1 }, crossed_high[2] = { 0, 2 };
	ck_assert_int_eq(solve(2, good, b, crossed_low, crossed_high, x).status, SOLVER_NOT_FINITE);
	ck_assert_int_eq(solve(0, good, b, NULL, NULL, x).status, SOLVER_SOLVED);
}
END_TEST

START_TEST(numbers_of_any_size_end_with_a_true_residual)
{
	struct rng rng = rng_seeded(check_seed() + 3);
	double a[64], b[8], x[8], w[8];
	for (uint32_t round = 0; round < 3000; round++) {
		uint32_t n = 1 + rng_below(&rng, 8);
		for (uint32_t i = 0; i < 64; i++)
			a[i] = rng_below(&rng, 3) == 0 ? 0
						       : ldexp(rng_range(&rng, -1, 1),
							       (int)rng_below(&rng, 2000) - 1000);
		for (uint32_t i = 0; i < n; i++) {
			b[i] = ldexp(rng_range(&rng, -1, 1), (int)rng_below(&rng, 2000) - 1000);
			for (uint32_t j = 0; j < i; j++)
				a[j * n + i] = a[i * n + j];
		}
		struct lcp_problem problem = { n, n, a, b, NULL, NULL };
		struct solver_result result =
			lcp_dantzig_solve(&solver, &problem, &options, x, NULL);
		ck_assert_int_lt(result.status, SOLVER_STATUSES);
		double residual = lcp_residual(&problem, x, w);
		ck_assert(memcmp(&residual, &result.residual, sizeof residual) == 0);
		ck_assert(result.status != SOLVER_SOLVED || residual <= options.tolerance);
	}
}
END_TEST

START_TEST(a_warm_start_from_the_solution_needs_no_pivot_and_any_other_is_harmless)
{
	struct rng rng = rng_seeded(check_seed() + 4);
	struct gen_lcp gen;
	gen_lcp_init(&gen, 30);
	for (uint32_t round = 0; round < 600; round++) {
		enum gen_family family = (enum gen_family)(round % GEN_FREE);
		double cold[30], warm[30], wc[30], ww[30];
		uint8_t state[30];
		gen_lcp_random(&gen, family, &rng, 30);
		options.warm = false;
		struct solver_result first =
			lcp_dantzig_solve(&solver, &gen.problem, &options, cold, state);
		ck_assert_int_eq(first.status, SOLVER_SOLVED);
		options.warm = true;
		struct solver_result again =
			lcp_dantzig_solve(&solver, &gen.problem, &options, warm, state);
		ck_assert_int_eq(again.status, SOLVER_SOLVED);
		ck_assert_uint_eq(again.pivots, 0);
		for (uint32_t i = 0; i < gen.problem.count; i++)
			state[i] = (uint8_t)rng_below(&rng, 7);
		again = lcp_dantzig_solve(&solver, &gen.problem, &options, warm, state);
		ck_assert_int_eq(again.status, SOLVER_SOLVED);
		lcp_residual(&gen.problem, cold, wc);
		lcp_residual(&gen.problem, warm, ww);
		for (uint32_t i = 0; i < gen.problem.count; i++)
			ck_assert_double_eq_tol(wc[i], ww[i], 1e-9 * (1 + fabs(wc[i])));
	}
	gen_lcp_release(&gen);
}
END_TEST

/* From 128 active rows on, the factor is ordered by walks over the pattern of A. A caller's A that
 * is not symmetric has rows that a walk does not reach; the problem must end with a status all the
 * same. */
START_TEST(an_unsymmetric_pattern_of_many_rows_ends_with_a_status)
{
	enum { ROWS = 300 };
	static double a[ROWS * ROWS], b[ROWS], x[ROWS];
	struct lcp_dantzig large;
	void *bytes = heap_alloc_aligned(lcp_dantzig_bytes(ROWS));
	ck_assert_ptr_nonnull(bytes);
	memset(bytes, 0x7f, lcp_dantzig_bytes(ROWS));
	lcp_dantzig_init(&large, bytes, ROWS);
	for (uint32_t kind = 0; kind < 4; kind++) {
		memset(a, 0, sizeof a);
		for (uint32_t i = 0; i < ROWS; i++) {
			uint32_t column = kind == 0   ? MIN_OF(i + 1, ROWS - 1)
					  : kind == 1 ? i - MIN_OF(i, 1)
					  : kind == 2 ? i / 2
						      : i * 7 % ROWS;
			b[i] = -1 - 0.37 * ((i * 7 + 3) % ROWS % 11);
			a[i * ROWS + column] += 0.5;
			a[i * ROWS + i] += 2;
		}
		struct lcp_problem problem = { ROWS, ROWS, a, b, NULL, NULL };
		struct solver_result result =
			lcp_dantzig_solve(&large, &problem, &options, x, NULL);
		double w[ROWS], residual = lcp_residual(&problem, x, w);
		ck_assert(solver_finite(x, ROWS));
		ck_assert_double_eq(result.residual, residual);
		ck_assert((result.status == SOLVER_SOLVED) == (residual <= options.tolerance));
	}
	heap_free(bytes);
}
END_TEST

START_TEST(nothing_is_allocated_while_solving)
{
	struct rng rng = rng_seeded(check_seed() + 5);
	struct gen_lcp gen;
	gen_lcp_init(&gen, 30);
	double x[30];
	uint64_t before = heap_calls();
	for (uint32_t round = 0; round < 50; round++) {
		gen_lcp_random(&gen, (enum gen_family)(round % GEN_FAMILIES), &rng, 30);
		(void)lcp_dantzig_solve(&solver, &gen.problem, &options, x, NULL);
	}
	ck_assert_uint_eq(heap_calls(), before);
	gen_lcp_release(&gen);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lcp");
	TCase *tcase = tcase_create("dantzig");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, worked_examples_of_the_sources_have_their_solutions);
	tcase_add_test(tcase, three_legs_have_one_velocity_in_all_six_orders);
	tcase_add_test(tcase, a_joint_row_may_pull_beside_a_contact);
	tcase_add_test(tcase, two_equal_joints_give_the_motion_of_one);
	tcase_add_test(tcase, bounds_are_kept_on_both_sides);
	tcase_add_test(tcase, a_problem_without_a_solution_is_infeasible_with_a_proof);
	tcase_add_test(tcase, a_tiny_schur_complement_is_no_dependent_row);
	tcase_add_test(tcase, a_ray_is_unbounded_and_no_solution);
	tcase_add_test(tcase, bad_numbers_have_their_own_status);
	tcase_add_test(tcase, numbers_of_any_size_end_with_a_true_residual);
	tcase_add_test(tcase,
		       a_warm_start_from_the_solution_needs_no_pivot_and_any_other_is_harmless);
	tcase_add_test(tcase, an_unsymmetric_pattern_of_many_rows_ends_with_a_status);
	tcase_add_test(tcase, nothing_is_allocated_while_solving);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
