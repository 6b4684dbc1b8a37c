/* test_lp.c: the dual simplex: textbook programs, stability of piles (papers ),
 * certificates, warm starts, budgets (P-18), invalid input. tests/property/test_lp_clp.c compares
 * it with CLP. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/check_main.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_lp.h"

enum { ROWS = 256, COLUMNS = 1024, NONZEROS = 8192 };

static struct gen_lp gen;
static struct solver_options options;

static void setup(void)
{
	gen_lp_init(&gen, ROWS, COLUMNS, NONZEROS);
	options = solver_options_default();
}

static void teardown(void)
{
	gen_lp_release(&gen);
}

static struct solver_result solve(void)
{
	return gen_lp_solve(&gen, &options);
}

static void row(uint32_t i, double low, double high)
{
	gen.row_low[i] = low;
	gen.row_high[i] = high;
}

/* Beale (1955): the program on which the plain simplex method cycles; optimum −1/20. */
START_TEST(beales_cycling_program_is_solved)
{
	static const double a[2][4] = { { 0.25, -60, -0.04, 9 }, { 0.5, -90, -0.02, 3 } };
	static const double cost[4] = { -0.75, 150, -0.02, 6 };
	gen_lp_begin(&gen, 3);
	for (uint32_t j = 0; j < 4; j++) {
		gen_lp_column(&gen, cost[j], 0, LP_INFINITY);
		gen_lp_entry(&gen, 0, a[0][j]);
		gen_lp_entry(&gen, 1, a[1][j]);
		if (j == 2)
			gen_lp_entry(&gen, 2, 1);
	}
	row(0, -LP_INFINITY, 0);
	row(1, -LP_INFINITY, 0);
	row(2, -LP_INFINITY, 1);
	struct solver_result result = solve();
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(result.objective, -0.05, 1e-14);
}
END_TEST

/* Klee and Minty (1972), the worst case of Dantzig's rule: max Σ 2^(n−j) x_j; optimum 5ⁿ. */
START_TEST(the_cube_of_klee_and_minty_is_solved)
{
	enum { N = 10 };
	gen_lp_begin(&gen, N);
	for (uint32_t j = 0; j < N; j++) {
		gen_lp_column(&gen, -ldexp(1, (int)(N - 1 - j)), 0, LP_INFINITY);
		gen_lp_entry(&gen, j, 1);
		for (uint32_t i = j + 1; i < N; i++)
			gen_lp_entry(&gen, i, ldexp(1, (int)(i - j + 1)));
		row(j, -LP_INFINITY, pow(5, j + 1));
	}
	struct solver_result result = solve();
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(result.objective, -pow(5, N), 1e-6);
}
END_TEST

START_TEST(contradicting_rows_are_refuted_by_multiplication)
{
	/* x + y ≥ 3, x ≤ 1, y ≤ 1. */
	gen_lp_begin(&gen, 1);
	for (uint32_t j = 0; j < 2; j++) {
		gen_lp_column(&gen, 0, 0, 1);
		gen_lp_entry(&gen, 0, 1);
	}
	row(0, 3, LP_INFINITY);
	struct solver_result result = solve();
	ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
	ck_assert_uint_eq(result.certificate_count, 1);
	ck_assert_double_gt(lp_infeasibility(&gen.problem, result.certificate), 0.1);
	/* A wrong certificate proves nothing. */
	double y = -result.certificate[0];
	ck_assert_double_le(lp_infeasibility(&gen.problem, &y), 0);
}
END_TEST

START_TEST(an_unbounded_program_has_its_ray)
{
	/* min −x − y, x − y = 0, free above. */
	gen_lp_begin(&gen, 1);
	for (uint32_t j = 0; j < 2; j++) {
		gen_lp_column(&gen, -1, 0, LP_INFINITY);
		gen_lp_entry(&gen, 0, j == 0 ? 1 : -1);
	}
	row(0, 0, 0);
	struct solver_result result = solve();
	ck_assert_int_eq(result.status, SOLVER_UNBOUNDED);
	ck_assert_uint_eq(result.certificate_count, 2);
	ck_assert_double_gt(lp_unboundedness(&gen.problem, result.certificate, gen.scratch), 0.1);
	double z[2] = { 1, 0 };
	ck_assert_double_le(lp_unboundedness(&gen.problem, z, gen.scratch), 0);
}
END_TEST

START_TEST(crossed_bounds_are_infeasible_and_named)
{
	gen_lp_begin(&gen, 1);
	gen_lp_column(&gen, 1, 0, 1);
	gen_lp_entry(&gen, 0, 1);
	row(0, 2, 1);
	ck_assert_int_eq(solve().status, SOLVER_INFEASIBLE);
	ck_assert_uint_eq(lp_crossed(&gen.problem), 1);
}
END_TEST

START_TEST(nan_and_rows_that_do_not_ascend_are_invalid)
{
	gen_lp_begin(&gen, 2);
	gen_lp_column(&gen, 1, 0, 1);
	gen_lp_entry(&gen, 0, 1);
	gen_lp_entry(&gen, 1, 1);
	row(0, 0, 1);
	row(1, 0, 1);
	ck_assert_int_eq(solve().status, SOLVER_SOLVED);
	gen.values[1] = NAN;
	ck_assert_int_eq(solve().status, SOLVER_NOT_FINITE);
	gen.values[1] = 1;
	gen.row_high[1] = NAN;
	ck_assert_int_eq(solve().status, SOLVER_NOT_FINITE);
	gen.row_high[1] = 1;
	gen.index[0] = 1;
	ck_assert_int_eq(solve().status, SOLVER_NOT_FINITE);
}
END_TEST

/* ---- piles -------------------------------------------------------------------------------------- */

static double imbalance(const struct gen_lp_brick *bricks, uint32_t count)
{
	gen_lp_stack(&gen, bricks, count, false);
	struct solver_result result = solve();
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_le(result.residual, 1e-10);
	return result.objective;
}

/* diamonds stand up to 4, inverted triangles up to 2; the balance of 5 is violated by 0.75,
 * that of 3 by
 * 0.5. */
START_TEST(diamonds_stand_up_to_4_and_inverted_triangles_up_to_2)
{
	struct gen_lp_brick bricks[64];
	for (uint32_t m = 1; m <= 6; m++) {
		double off = imbalance(bricks, gen_lp_diamond(bricks, m));
		ck_assert_msg((off < 1e-12) == (m <= 4), "diamond %u: %g", m, off);
		if (m == 5)
			ck_assert_double_eq_tol(off, 0.75, 1e-12);
	}
	for (uint32_t m = 1; m <= 6; m++) {
		double off = imbalance(bricks, gen_lp_inverted(bricks, m));
		ck_assert_msg((off < 1e-12) == (m <= 2), "inverted %u: %g", m, off);
		if (m == 3)
			ck_assert_double_eq_tol(off, 0.5, 1e-12);
	}
}
END_TEST

/* the harmonic stack of n bricks overhangs by H_n / 2; with 1.0001 times that overhang it
 * falls. */
START_TEST(the_harmonic_stack_stands_and_a_ten_thousandth_more_falls)
{
	static const uint32_t counts[] = { 1, 2, 5, 10, 30 };
	struct gen_lp_brick bricks[31];
	for (uint32_t c = 0; c < COUNT_OF(counts); c++)
		for (uint32_t more = 0; more < 2; more++) {
			uint32_t n = counts[c];
			double left = 0;
			/* Brick 0 is the table. */
			for (uint32_t i = 0; i <= n; i++) {
				bricks[i] = (struct gen_lp_brick){ left, i };
				left += 0.5 / (n - i) * (more != 0 ? 1.0001 : 1);
			}
			gen_lp_stack(&gen, bricks, n + 1, true);
			/* The table is fixed, so it has no balance condition. */
			row(0, -LP_INFINITY, LP_INFINITY);
			row(1, -LP_INFINITY, LP_INFINITY);
			struct solver_result result = solve();
			ck_assert_msg(result.status ==
					      (more != 0 ? SOLVER_INFEASIBLE : SOLVER_SOLVED),
				      "%u bricks: %s", n, solver_status_name(result.status));
		}
}
END_TEST

/* ---- starts and budgets ------------------------------------------------------------------------- */

static void random_feasible(struct rng *rng, uint32_t rows, uint32_t columns)
{
	gen_lp_begin(&gen, rows);
	for (uint32_t j = 0; j < columns; j++) {
		gen_lp_column(&gen, rng_range(rng, -1, 1), -1, 1);
		gen.start[j] = 0;
		for (uint32_t i = 0; i < rows; i++)
			if (rng_below(rng, 8) == 0)
				gen_lp_entry(&gen, i, rng_range(rng, -1, 1));
	}
	for (uint32_t i = 0; i < rows; i++)
		row(i, -LP_INFINITY, rng_range(rng, 0.05, 0.5));
}

START_TEST(a_warm_start_from_the_optimum_needs_no_pivot)
{
	struct rng rng = rng_seeded(check_seed());
	random_feasible(&rng, 60, 60);
	struct solver_result cold = solve();
	ck_assert_int_eq(cold.status, SOLVER_SOLVED);
	options.warm = true;
	struct solver_result warm = solve();
	ck_assert_uint_gt(cold.pivots, 20);
	ck_assert_uint_eq(warm.pivots, 0);
	ck_assert_double_eq_tol(warm.objective, cold.objective, 1e-12);
	/* A similar problem needs few pivots. */
	for (uint32_t i = 0; i < 60; i++)
		gen.row_high[i] *= 1.001;
	struct solver_result near = solve();
	ck_assert_int_eq(near.status, SOLVER_SOLVED);
	ck_assert_uint_lt(near.pivots, cold.pivots / 2);
}
END_TEST

START_TEST(a_start_from_random_bytes_reaches_the_same_optimum)
{
	struct rng rng = rng_seeded(check_seed());
	for (uint32_t number = 0; number < 50; number++) {
		random_feasible(&rng, 20, 30);
		options.warm = false;
		double optimum = solve().objective;
		options.warm = true;
		for (uint32_t j = 0; j < 50; j++)
			gen.solution.places[j] = (uint8_t)rng_below(&rng, 6);
		struct solver_result result = solve();
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_double_eq_tol(result.objective, optimum, 1e-10);
	}
}
END_TEST

/* P-18: from a feasible point any budget gives a feasible point that is no worse. */
START_TEST(every_budget_gives_a_feasible_point_and_a_larger_one_a_better)
{
	struct rng rng = rng_seeded(check_seed());
	random_feasible(&rng, 80, 80);
	double optimum = solve().objective, last = 0;
	gen.problem.start = gen.start;
	uint32_t pivots = solve().pivots;
	for (uint32_t budget = 1; budget <= pivots; budget += 3) {
		options.pivots_max = budget;
		struct solver_result result = solve();
		ck_assert(result.status == SOLVER_STOPPED || result.status == SOLVER_SOLVED);
		ck_assert_uint_le(result.pivots, budget);
		ck_assert_double_le(lp_violation(&gen.problem, gen.solution.x, gen.scratch), 1e-12);
		ck_assert_double_le(result.objective, last + 1e-12);
		last = result.objective;
	}
	options.pivots_max = 0;
	ck_assert_double_eq_tol(solve().objective, optimum, 1e-10);
}
END_TEST

START_TEST(too_small_a_budget_without_a_feasible_point_ends_with_limit)
{
	struct rng rng = rng_seeded(check_seed());
	random_feasible(&rng, 80, 80);
	options.pivots_max = 3;
	ck_assert_int_eq(solve().status, SOLVER_LIMIT);
}
END_TEST

START_TEST(a_factor_larger_than_its_memory_is_limit_or_solved)
{
	struct rng rng = rng_seeded(check_seed());
	random_feasible(&rng, 100, 100);
	struct lp_sizes sizes = { 100, 100, gen.starts[100], 1 };
	lp_dual_simplex_init(&gen.simplex, gen.memory, sizes);
	struct solver_result result = solve();
	ck_assert(result.status == SOLVER_LIMIT || result.status == SOLVER_SOLVED);
}
END_TEST

START_TEST(the_same_program_gives_the_same_bits_whatever_was_solved_before)
{
	struct rng rng = rng_seeded(check_seed());
	static double x[COLUMNS];
	for (uint32_t number = 0; number < 100; number++) {
		struct rng again = rng;
		enum gen_lp_family family = (enum gen_lp_family)(number % GEN_LP_FAMILIES);
		gen_lp_random(&gen, &again, family);
		enum solver_status status = solve().status;
		memcpy(x, gen.solution.x, gen.problem.matrix.columns * sizeof *x);
		struct rng other = rng_seeded(number);
		gen_lp_random(&gen, &other, GEN_LP_GENERAL);
		(void)solve();
		gen_lp_random(&gen, &rng, family);
		ck_assert_int_eq(solve().status, status);
		ck_assert_mem_eq(x, gen.solution.x, gen.problem.matrix.columns * sizeof *x);
	}
}
END_TEST

START_TEST(sums_beyond_the_range_of_double_are_checked_too)
{
	gen_lp_begin(&gen, 1);
	gen_lp_column(&gen, 1, 0, 1e29);
	gen_lp_entry(&gen, 0, 1e300);
	gen_lp_column(&gen, 1, 0, 1e29);
	gen_lp_entry(&gen, 0, -1e300);
	row(0, 0, 0);
	/* 1e300 (x − y) = 0, with terms of 1e329. */
	double x[] = { 1e29, 5e28 }, dual = 0;
	ck_assert(fabs(lp_violation(&gen.problem, x, gen.scratch) - 1.0 / 3) < 1e-12);
	ck_assert(far_abs(lp_residual(&gen.problem, x, &dual, gen.scratch) -
			  far_lp_residual(&gen.problem, x, &dual)) < 1e-12L);
	x[1] = x[0];
	ck_assert(lp_violation(&gen.problem, x, gen.scratch) == 0);
	x[1] = -__builtin_inf();
	ck_assert(lp_violation(&gen.problem, x, gen.scratch) == __builtin_inf());
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lp");
	TCase *programs = tcase_create("programs");
	tcase_add_checked_fixture(programs, setup, teardown);
	tcase_add_test(programs, beales_cycling_program_is_solved);
	tcase_add_test(programs, the_cube_of_klee_and_minty_is_solved);
	tcase_add_test(programs, contradicting_rows_are_refuted_by_multiplication);
	tcase_add_test(programs, an_unbounded_program_has_its_ray);
	tcase_add_test(programs, crossed_bounds_are_infeasible_and_named);
	tcase_add_test(programs, nan_and_rows_that_do_not_ascend_are_invalid);
	tcase_add_test(programs, sums_beyond_the_range_of_double_are_checked_too);
	suite_add_tcase(suite, programs);
	TCase *piles = tcase_create("piles");
	tcase_add_checked_fixture(piles, setup, teardown);
	tcase_add_test(piles, diamonds_stand_up_to_4_and_inverted_triangles_up_to_2);
	tcase_add_test(piles, the_harmonic_stack_stands_and_a_ten_thousandth_more_falls);
	suite_add_tcase(suite, piles);
	TCase *starts = tcase_create("starts");
	tcase_add_checked_fixture(starts, setup, teardown);
	tcase_add_test(starts, a_warm_start_from_the_optimum_needs_no_pivot);
	tcase_add_test(starts, a_start_from_random_bytes_reaches_the_same_optimum);
	tcase_add_test(starts, every_budget_gives_a_feasible_point_and_a_larger_one_a_better);
	tcase_add_test(starts, too_small_a_budget_without_a_feasible_point_ends_with_limit);
	tcase_add_test(starts, a_factor_larger_than_its_memory_is_limit_or_solved);
	tcase_add_test(starts, the_same_program_gives_the_same_bits_whatever_was_solved_before);
	suite_add_tcase(suite, starts);
	return suite;
}

int main(void)
{
	return check_main(make);
}
