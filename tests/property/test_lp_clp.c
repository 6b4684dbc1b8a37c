/* The dual simplex solver compared with CLP: equal verdicts and equal optima. Certificates are checked by
 * multiplication. Where the two solvers differ, the residual of each answer decides.
 *
 * CAIRN_LP_CASES is the number of random problems, default 2000 (make soak-lp: 100000). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/lib/check_main.h"
#include "tests/lib/gen_lp.h"
#include "tests/lib/lp_clp.h"

enum { ROWS = 256, COLUMNS = 1024, NONZEROS = 8192, STACKS = 200, BRICKS = 40 };

static struct gen_lp gen;
static struct lp_clp clp;
static uint32_t clp_missed; /* unbounded programs that CLP reports as solved */
static uint32_t
	clp_failed; /* CLP reports an error or a wrong answer; ours is then checked by its residual alone */

static void make_both(void)
{
	gen_lp_init(&gen, ROWS, COLUMNS, NONZEROS);
	lp_clp_init(&clp, ROWS, COLUMNS, NONZEROS);
}

static void release_both(void)
{
	lp_clp_release(&clp);
	gen_lp_release(&gen);
}

static const char *const families[] = { "boxed",     "general",	  "integer", "degenerate",
					"redundant", "equations", "free",    "empty",
					"scales",    "assignment" };

/* Solves one problem with both solvers. Our residual or certificate must hold, and CLP must agree unless
 * its own answer is wrong. Returns our status. */
static enum solver_status compare_with_clp(const char *what, uint32_t number)
{
	struct solver_options options = solver_options_default();
	struct solver_result result = gen_lp_solve(&gen, &options);
	struct lp_clp_answer answer = lp_clp_solve(&clp, &gen.problem, NULL, gen.scratch);
	int verdict = answer.verdict;
	double theirs = answer.objective;
	bool failed = verdict > 2 || (verdict == 0 && answer.residual > 1e-9);
	clp_failed += failed;
	if (result.status == SOLVER_SOLVED) {
		/* A feasible point refutes CLP's "infeasible". */
		bool denied = verdict == 1 || verdict == 2;
		failed |= denied && lp_violation(&gen.problem, gen.solution.x, gen.scratch) < 1e-12;
		clp_failed += denied;
		double size = 1 + answer.size, off = fabs(result.objective - theirs) / size;
		ck_assert_msg(result.residual <= options.tolerance, "%s %u: residual %g", what,
			      number, result.residual);
		ck_assert_msg(failed || verdict == 0, "%s %u: solved (%.12g), CLP says %d", what,
			      number, result.objective, verdict);
		ck_assert_msg(failed || off <= 1e-9,
			      "%s %u: %.12g (residual %.3g), CLP %.12g (%.3g)", what, number,
			      result.objective, result.residual, theirs, answer.residual);
	} else if (result.status == SOLVER_INFEASIBLE) {
		ck_assert_msg(lp_infeasibility(&gen.problem, result.certificate) > 0,
			      "%s %u: no proof", what, number);
		/* CLP's "unbounded" is accepted: it means that the dual is infeasible, which does not
		 * contradict an infeasible primal. */
		ck_assert_msg(failed || verdict != 0, "%s %u: infeasible, CLP says %d", what,
			      number, verdict);
	} else if (result.status == SOLVER_UNBOUNDED) {
		/* A feasible point and a ray are a proof. CLP sometimes stops far out on the ray and
		 * reports the point as optimal. */
		ck_assert_msg(lp_unboundedness(&gen.problem, result.certificate, gen.scratch) > 0,
			      "%s %u: no ray", what, number);
		ck_assert_msg(result.residual <= options.tolerance, "%s %u: no point", what,
			      number);
		clp_missed += verdict == 0;
	} else {
		ck_abort_msg("%s %u: %s, residual %g, CLP says %d", what, number,
			     solver_status_name(result.status), result.residual, verdict);
	}
	return result.status;
}

/* Every family of tests/lib/gen_lp.h, degenerate ones included (papers P-18). */
START_TEST(random_and_degenerate_programs_have_the_optima_of_clp)
{
	const char *cases = getenv("CAIRN_LP_CASES");
	uint32_t count = cases != NULL ? (uint32_t)strtoul(cases, NULL, 10) : 2000;
	struct rng rng = rng_seeded(check_seed());
	uint32_t seen[GEN_LP_FAMILIES][SOLVER_STATUSES] = { { 0 } };
	for (uint32_t number = 0; number < count; number++) {
		enum gen_lp_family family = (enum gen_lp_family)(number % GEN_LP_FAMILIES);
		gen_lp_random(&gen, &rng, family);
		seen[family][compare_with_clp(families[family], number)]++;
	}
	for (uint32_t f = 0; f < GEN_LP_FAMILIES; f++)
		printf("# %-10s solved %5u infeasible %5u unbounded %5u\n", families[f],
		       seen[f][SOLVER_SOLVED], seen[f][SOLVER_INFEASIBLE],
		       seen[f][SOLVER_UNBOUNDED]);
	printf("# CLP reported %u unbounded programs as solved and failed on %u\n", clp_missed,
	       clp_failed);
	ck_assert_uint_gt(seen[GEN_LP_GENERAL][SOLVER_UNBOUNDED], 0);
	ck_assert_uint_gt(seen[GEN_LP_GENERAL][SOLVER_INFEASIBLE], 0);
}
END_TEST

/* 200 piles of bricks. With soft balance rows the program is solved, and an optimum of 0 means that the pile
 * is stable; with hard rows the program is feasible only for stable piles. */
START_TEST(equilibrium_programs_of_piles_have_the_optima_of_clp)
{
	struct rng rng = rng_seeded(check_seed());
	struct gen_lp_brick bricks[BRICKS];
	uint32_t stable = 0;
	for (uint32_t number = 0; number < STACKS; number++) {
		uint32_t count = gen_lp_pile(&rng, bricks, BRICKS);
		gen_lp_stack(&gen, bricks, count, false);
		ck_assert_int_eq(compare_with_clp("pile", number), SOLVER_SOLVED);
		bool balanced = lp_objective(&gen.problem, gen.solution.x) < 1e-9;
		gen_lp_stack(&gen, bricks, count, true);
		enum solver_status hard = compare_with_clp("hard pile", number);
		ck_assert_msg(hard == (balanced ? SOLVER_SOLVED : SOLVER_INFEASIBLE),
			      "pile %u: %d with balance %d", number, (int)hard, balanced);
		stable += balanced;
	}
	printf("# %u of %d piles are stable\n", stable, STACKS);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lp_clp");
	TCase *optima = tcase_create("optima");
	tcase_add_checked_fixture(optima, make_both, release_both);
	tcase_add_test(optima, random_and_degenerate_programs_have_the_optima_of_clp);
	tcase_add_test(optima, equilibrium_programs_of_piles_have_the_optima_of_clp);
	tcase_set_timeout(optima, 60);
	suite_add_tcase(suite, optima);
	return suite;
}

int main(void)
{
	return check_main(make);
}
