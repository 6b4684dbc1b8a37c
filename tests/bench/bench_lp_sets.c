/* bench_lp_sets: our simplex and CLP's on programs in MPS files: bench_lp_sets FILE…. Prints statuses, by
 * how much optima differ from CLP's and from what CLP finds with its own reader, relative to the terms
 * summed, pivots and times, and in the end how many of each. The exit status is 1 if an optimum or a
 * status differs where CLP's own residual is below 1e-9. */
#include <math.h>
#include <string.h>

#include "tests/bench/mps.h"
#include "tests/lib/lp_clp.h"

enum { ROWS_MAX = 32768, COLUMNS_MAX = 65536, NONZEROS_MAX = 1 << 20 };
#define AGREED 1e-9

static struct gen_lp gen;
static struct lp_clp clp;

struct totals {
	uint32_t files, refused, unsolved, differ, clp_bad;
	double log_pivots, log_time; /* sums of logarithms of ratios, ours by CLP's */
	double ms, their_ms;	     /* sums */
	uint32_t counted;
};

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash != NULL ? slash + 1 : path;
}

/* What CLP finds in the file. */
static double own_reading(const char *path, double *size)
{
	Clp_Simplex *model = Clp_newModel();
	Clp_setLogLevel(model, 0);
	double objective = NAN;
	*size = 1;
	if (Clp_readMps(model, path, 1, 1) == 0) {
		Clp_setPrimalTolerance(model, 1e-9);
		Clp_setDualTolerance(model, 1e-9);
		Clp_dual(model, 0);
		objective = Clp_status(model) == 0 ? Clp_objectiveValue(model) : NAN;
	}
	Clp_deleteModel(model);
	return objective;
}

static bool statuses_agree(enum solver_status ours, int theirs)
{
	return theirs == 0   ? ours == SOLVER_SOLVED
	       : theirs == 1 ? ours == SOLVER_INFEASIBLE
	       : theirs == 2 ? ours == SOLVER_UNBOUNDED
			     : true;
}

static void compare(struct totals *totals, const char *path)
{
	struct solver_options options = solver_options_default();
	char why[120];
	double constant, size;
	FILE *file = fopen(path, "r");
	totals->files++;
	if (file == NULL || !mps_read(file, &gen, &constant, why)) {
		printf("%-14s %s\n", name_of(path), file != NULL ? why : "cannot be opened");
		totals->refused++;
		if (file != NULL)
			fclose(file);
		return;
	}
	fclose(file);
	double begin = lp_clp_now();
	struct solver_result result = gen_lp_solve(&gen, &options);
	double ms = lp_clp_now() - begin;
	struct lp_clp_answer answer = lp_clp_solve(&clp, &gen.problem, NULL, gen.scratch);
	double own = own_reading(path, &size);
	double terms = 1 + answer.size + fabs(constant);
	double off = fabs(result.objective - answer.objective) / terms;
	double read = fabs(answer.objective + constant - own) / terms;
	bool good = answer.residual <= AGREED;
	bool agree = statuses_agree(result.status, answer.verdict) &&
		     (answer.verdict != 0 || off <= AGREED);
	printf("%-14s %5u × %5u %7u  %-10s %.0e  CLP %d %.0e  off %.0e (read %.0e)  pivots %6u %6d "
	       "%5.2f  ms %8.1f %8.1f %5.2f%s\n",
	       name_of(path), gen.problem.matrix.rows, gen.problem.matrix.columns,
	       gen.starts[gen.problem.matrix.columns], solver_status_name(result.status),
	       result.residual, answer.verdict, answer.residual, off, read, result.pivots,
	       answer.pivots, result.pivots / fmax(answer.pivots, 1), ms, answer.ms, ms / answer.ms,
	       agree  ? ""
	       : good ? "  DIFFERS"
		      : "  (CLP inexact)");
	fflush(stdout);
	totals->unsolved += result.status == SOLVER_LIMIT || result.status == SOLVER_INEXACT;
	totals->differ += !agree && good;
	totals->clp_bad += !good;
	if (!agree)
		return;
	totals->counted++;
	totals->log_pivots += log(fmax(result.pivots, 1) / fmax(answer.pivots, 1));
	totals->log_time += log(ms / answer.ms);
	totals->ms += ms;
	totals->their_ms += answer.ms;
}

int main(int argc, char **argv)
{
	struct totals totals = { 0 };
	gen_lp_init(&gen, ROWS_MAX, COLUMNS_MAX, NONZEROS_MAX);
	lp_clp_init(&clp, ROWS_MAX, COLUMNS_MAX, NONZEROS_MAX);
	for (int i = 1; i < argc; i++)
		compare(&totals, argv[i]);
	double n = totals.counted > 0 ? totals.counted : 1;
	printf("%u files, %u refused, %u not solved, %u differ, CLP's residual is over 1e-9 in %u\n",
	       totals.files, totals.refused, totals.unsolved, totals.differ, totals.clp_bad);
	printf("geometric means of ratios over %u: pivots %.2f, time %.2f; sums of times %.2f\n",
	       totals.counted, exp(totals.log_pivots / n), exp(totals.log_time / n),
	       totals.ms / fmax(totals.their_ms, 1e-9));
	lp_clp_release(&clp);
	gen_lp_release(&gen);
	return totals.differ > 0;
}
