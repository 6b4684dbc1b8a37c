/* test_sparse_problems.c: lcp_sparse on families of complementarity problems over bodies. Every answer is
 * checked in double-double arithmetic: for SOLVED the residual, for INFEASIBLE the certificate.
 * CAIRN_SOLVER_COUNT is the number of problems of each family, default 2000. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/check_main.h"
#include "tests/lib/gen_sparse.h"

START_TEST(solved_and_infeasible_are_right_and_other_answers_rare)
{
	enum gen_sparse_family family = (enum gen_sparse_family)_i;
	struct rng rng = rng_seeded(check_seed() + 1000 * (uint64_t)_i);
	struct solver_options options = solver_options_default();
	const char *text = getenv("CAIRN_SOLVER_COUNT");
	uint32_t count = text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 2000;
	uint32_t statuses[SOLVER_STATUSES] = { 0 }, factors = 0;
	double worst = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct gen_sparse gen = gen_sparse_random(family, &rng, i % 10 == 0 ? 48 : 16);
		struct gen_solver solver;
		double x[64], v[64][LCP_BODY];
		gen_solver_init(&solver, &gen.problem);
		struct solver_result result =
			lcp_sparse_solve(&solver.solver, &gen.problem, &options, x, v);
		const double(*velocity)[LCP_BODY] = (const double(*)[LCP_BODY])v;
		double found = gen_sparse_residual(&gen.problem, x, velocity);
		statuses[result.status]++;
		factors += result.refactorings;
		/* The solver scales rows by powers of two, so its residual and this one may differ by
		 * a factor of two. */
		if (result.status == SOLVER_SOLVED) {
			worst = fmax(worst, found);
			ck_assert_double_le(found, 2 * options.tolerance);
			ck_assert(family != GEN_SPARSE_INFEASIBLE);
		} else
			ck_assert_double_gt(result.residual, options.tolerance);
		ck_assert((result.certificate != NULL) == (result.status == SOLVER_INFEASIBLE));
		if (result.status == SOLVER_INFEASIBLE) {
			ck_assert(gen_sparse_proves(&gen.problem, result.certificate));
			ck_assert(family >= GEN_SPARSE_ANY);
		}
		gen_solver_release(&solver);
		gen_sparse_release(&gen);
	}
	printf("# %s: of %u solved %u, no solution %u, inexact %u, limit %u; residual %.1e, "
	       "%.1f factors\n",
	       gen_sparse_family_name(family), count, statuses[SOLVER_SOLVED],
	       statuses[SOLVER_INFEASIBLE], statuses[SOLVER_INEXACT], statuses[SOLVER_LIMIT], worst,
	       (double)factors / count);
	fflush(stdout);
	ck_assert_uint_eq(statuses[SOLVER_INVALID], 0);
	ck_assert_uint_le(statuses[SOLVER_INEXACT] + statuses[SOLVER_LIMIT], 1 + count / 1000);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("sparse_problems");
	TCase *tcase = tcase_create("families");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, solved_and_infeasible_are_right_and_other_answers_rare, 0,
			    GEN_SPARSE_FAMILIES);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
