/* bench_lp: our dual simplex and CLP's on the same programs; the least time of several runs each.
 *
 *   diamond M      the stability of M-diamonds (papers R-06): 2 M² rows
 *   spheres N      one step of N³ spheres sinking onto each other (papers P-02, P-06): a row for
 *   each
 *                  pair in reach, three boxed columns a sphere; cold, and from its feasible point
 *   sparse N       N × N, eight entries a row, boxed */
#include <float.h>
#include <stdio.h>
#include <time.h>

#include <coin/Clp_C_Interface.h>

#include "tests/lib/gen_lp.h"

static struct gen_lp gen;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static double time_clp(double *objective)
{
	enum { COLUMNS = 8192, NONZEROS = 1 << 18 };
	static int starts[COLUMNS + 1], index[NONZEROS];
	const struct lp_problem *p = &gen.problem;
	for (uint32_t j = 0; j <= p->matrix.columns; j++)
		starts[j] = (int)p->matrix.starts[j];
	for (uint32_t k = 0; k < p->matrix.starts[p->matrix.columns]; k++)
		index[k] = (int)p->matrix.index[k];
	Clp_Simplex *clp = Clp_newModel();
	Clp_setLogLevel(clp, 0);
	double begin = now();
	Clp_loadProblem(clp, (int)p->matrix.columns, (int)p->matrix.rows, starts, index,
			p->matrix.values, p->column_low, p->column_high, p->cost, p->row_low,
			p->row_high);
	Clp_dual(clp, 0);
	double ms = now() - begin;
	*objective = Clp_objectiveValue(clp);
	Clp_deleteModel(clp);
	return ms;
}

static void compare(const char *name, uint32_t runs)
{
	struct solver_options options = solver_options_default();
	struct solver_result result = { 0 };
	double ours = DBL_MAX, theirs = DBL_MAX, objective = 0;
	for (uint32_t run = 0; run < runs; run++) {
		double begin = now();
		result = gen_lp_solve(&gen, &options);
		double ms = now() - begin;
		ours = ms < ours ? ms : ours;
		ms = time_clp(&objective);
		theirs = ms < theirs ? ms : theirs;
	}
	printf("%-22s %5u × %5u  ours %9.3f ms (%u pivots, %s, %.1e)  CLP %9.3f ms  ratio %5.2f  "
	       "objectives differ by %.1e\n",
	       name, gen.problem.matrix.rows, gen.problem.matrix.columns, ours, result.pivots,
	       solver_status_name(result.status), result.residual, theirs, ours / theirs,
	       result.objective - objective);
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

/* Spheres of radius 1 at pitch 2.2, jittered; the columns are displacements within ±1. */
static void spheres(uint32_t n)
{
	enum { MOST = 1000 };
	static double centre[MOST][3];
	static uint32_t of[MOST][64], with[MOST][64], neighbours[MOST];
	struct rng rng = rng_seeded(1);
	uint32_t count = n * n * n, rows = 0;
	char name[32];
	for (uint32_t s = 0; s < count; s++) {
		uint32_t at[3] = { s % n, s / n % n, s / (n * n) };
		neighbours[s] = 0;
		for (uint32_t k = 0; k < 3; k++)
			centre[s][k] = 2.2 * at[k] + rng_range(&rng, -0.1, 0.1);
	}
	for (uint32_t a = 0; a < count; a++)
		for (uint32_t b = a + 1; b < count; b++) {
			double square = 0;
			for (uint32_t k = 0; k < 3; k++)
				square += (centre[a][k] - centre[b][k]) *
					  (centre[a][k] - centre[b][k]);
			if (square > 3.5 * 3.5 || rows == gen.rows_max)
				continue;
			of[a][neighbours[a]] = of[b][neighbours[b]] = rows;
			with[a][neighbours[a]++] = b;
			with[b][neighbours[b]++] = a;
			gen.row_low[rows] = 2 - __builtin_sqrt(square);
			gen.row_high[rows++] = LP_INFINITY;
		}
	gen_lp_begin(&gen, rows);
	for (uint32_t s = 0; s < count; s++)
		for (uint32_t k = 0; k < 3; k++) {
			double low = k == 2 && centre[s][2] < 1 ? -centre[s][2] : -1;
			gen_lp_column(&gen, k == 2, low < -1 ? -1 : low > 0 ? 0 : low, 1);
			gen.start[3 * s + k] = 0;
			for (uint32_t i = 0; i < neighbours[s]; i++) {
				const double *other = centre[with[s][i]];
				double square = 0;
				for (uint32_t d = 0; d < 3; d++)
					square += (centre[s][d] - other[d]) *
						  (centre[s][d] - other[d]);
				gen_lp_entry(&gen, of[s][i],
					     (centre[s][k] - other[k]) / __builtin_sqrt(square));
			}
		}
	snprintf(name, sizeof name, "spheres %u", count);
	compare(name, 1);
	gen.problem.start = gen.start;
	snprintf(name, sizeof name, "spheres %u, primal", count);
	compare(name, 1);
}

static void sparse(uint32_t n)
{
	struct rng rng = rng_seeded(1);
	char name[32];
	gen_lp_begin(&gen, n);
	for (uint32_t j = 0; j < n; j++) {
		gen_lp_column(&gen, rng_range(&rng, -1, 1), -1, 1);
		for (uint32_t i = 0; i < n; i++)
			if (rng_below(&rng, n) < 8)
				gen_lp_entry(&gen, i, rng_range(&rng, -1, 1));
	}
	for (uint32_t i = 0; i < n; i++) {
		gen.row_low[i] = -LP_INFINITY;
		gen.row_high[i] = rng_range(&rng, 0.05, 0.5);
	}
	snprintf(name, sizeof name, "sparse %u", n);
	compare(name, 3);
}

int main(void)
{
	gen_lp_init(&gen, 16384, 8192, 1 << 18);
	for (uint32_t m = 5; m <= 20; m += 5)
		diamond(m);
	sparse(100);
	sparse(400);
	spheres(3);
	spheres(6);
	spheres(8);
	gen_lp_release(&gen);
	return 0;
}
