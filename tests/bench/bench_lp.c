/* bench_lp: our simplex and CLP's on the same programs: the families of gen_lp_family.h, and the
 * stability of diamonds of bricks (papers R-06). Prints pivots, and the least time of several runs,
 * which alternate. `bench_lp NAME`: only programs whose name begins with NAME. */
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "tests/lib/gen_lp_family.h"
#include "tests/lib/lp_clp.h"

static struct gen_lp gen;

static struct lp_clp clp;

static const char *wanted = "";

static void compare(const char *name, uint32_t runs)
{
	if (strncmp(name, wanted, strlen(wanted)) != 0)
		return;
	struct solver_options options = solver_options_default();
	struct solver_result result = { 0 };
	struct lp_clp_answer answer = { .verdict = 0 };
	double ours = DBL_MAX, theirs = DBL_MAX;
	for (uint32_t run = 0; run < runs; run++) {
		double begin = lp_clp_now();
		result = gen_lp_solve(&gen, &options);
		double ms = lp_clp_now() - begin;
		ours = ms < ours ? ms : ours;
		answer = lp_clp_solve(&clp, &gen.problem, NULL, gen.scratch);
		theirs = answer.ms < theirs ? answer.ms : theirs;
	}
	int pivots = answer.pivots;
	printf("%-20s %5u × %5u  ours %6u pivots %9.2f ms (%s, %.0e)  CLP %6d pivots %9.2f ms  "
	       "ratios %5.2f %5.2f  objectives differ by %.0e\n",
	       name, gen.problem.matrix.rows, gen.problem.matrix.columns, result.pivots, ours,
	       solver_status_name(result.status), result.residual, pivots, theirs,
	       (double)result.pivots / (pivots > 0 ? pivots : 1), ours / theirs,
	       result.objective - answer.objective);
	fflush(stdout);
}

static void diamond(uint32_t m)
{
	struct gen_lp_brick bricks[512];
	char name[32];
	gen_lp_stack(&gen, bricks, gen_lp_diamond(bricks, m), false);
	snprintf(name, sizeof name, "diamond %u", m);
	compare(name, 5);
}

static void spheres(uint32_t n)
{
	struct rng rng = rng_seeded(1);
	gen_lp_spheres(&gen, &rng, n);
	compare("spheres", 1);
	gen.problem.start = gen.start;
	compare("spheres, primal", 1);
}

int main(int argc, char **argv)
{
	wanted = argc > 1 ? argv[1] : "";
	struct rng rng = rng_seeded(1);
	gen_lp_init(&gen, 16384, 16384, 1 << 18);
	lp_clp_init(&clp, 16384, 16384, 1 << 18);
	for (uint32_t m = 5; m <= 20; m += 5)
		diamond(m);
	gen_lp_boxed(&gen, &rng, 100, 8);
	compare("boxed", 3);
	gen_lp_boxed(&gen, &rng, 400, 8);
	compare("boxed", 3);
	gen_lp_boxed(&gen, &rng, 1000, 8);
	compare("boxed", 3);
	gen_lp_sparse(&gen, &rng, 200, 300, 6);
	compare("sparse", 3);
	gen_lp_sparse(&gen, &rng, 1000, 1500, 6);
	compare("sparse", 3);
	gen_lp_transport(&gen, &rng, 30, 40);
	compare("transport", 3);
	gen_lp_transport(&gen, &rng, 80, 100);
	compare("transport", 5);
	gen_lp_assignment(&gen, &rng, 30);
	compare("assignment", 3);
	gen_lp_assignment(&gen, &rng, 100);
	compare("assignment", 5);
	gen_lp_cover(&gen, &rng, 200, 400);
	compare("cover", 3);
	gen_lp_cover(&gen, &rng, 800, 1600);
	compare("cover", 3);
	spheres(3);
	spheres(6);
	spheres(8);
	lp_clp_release(&clp);
	gen_lp_release(&gen);
	return 0;
}
