/* test_hard_qp.c: hard quadratic programs (tests/lib/gen_qp.h). Every answer of the dual active-set
 * solver is checked in long double.
 *
 * CAIRN_SOLVER_COUNT: number of programs of each family, default 300.
 * CAIRN_QP_SIZE: largest number of variables, default 16.
 * CAIRN_QP_DEBUG: if set, the conditions of every wrong answer are printed.
 *
 * Three conditions are checked: the rows, stationarity, and the gap between ½xᵀGx + cᵀx and its dual.
 * Printed for each family: the share of programs with a right answer (solved, or proved infeasible or
 * unbounded), and the share whose solution satisfies the three conditions to 1e-9 absolutely. The second
 * is the criterion of the public collections.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_qp.h"

/* The tolerance of all three conditions. */
#define TOLERANCE 1e-9L

static uint32_t setting(const char *name, uint32_t default_value)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : default_value;
}

/* The violation of each condition, and the largest term of its sum. */
struct qp_conditions {
	long double row, stationarity, gap;
	long double row_size, stationarity_size, gap_size;
};

static struct qp_conditions evaluate_conditions(const struct qp_problem *qp, const double *x,
						const double *lambda)
{
	struct qp_conditions at = { 0 };
	uint32_t n = qp->variables;
	long double value = 0, lower = 0, most = 0;
	for (uint32_t i = 0; i < n; i++) {
		long double curve = 0, sum = qp->c[i], size = fabs(qp->c[i]);
		for (uint32_t j = 0; j < n; j++)
			curve += (long double)qp->g[i * n + j] * x[j];
		sum += curve;
		size = fmaxl(size, fabsl(curve));
		long double force = 0;
		for (uint32_t k = 0; k < qp->rows; k++)
			force += (long double)qp->matrix[(size_t)k * n + i] * lambda[k];
		at.stationarity = fmaxl(at.stationarity, fabsl(sum - force));
		at.stationarity_size = fmaxl(at.stationarity_size, fmaxl(size, fabsl(force)));
		value += curve * x[i];
		lower += (long double)qp->c[i] * x[i];
		most = fmaxl(most, fmaxl(fabsl(curve * x[i]), fabsl((long double)qp->c[i] * x[i])));
	}
	long double dual = 0;
	for (uint32_t k = 0; k < qp->rows; k++) {
		long double at_x = 0;
		for (uint32_t j = 0; j < n; j++)
			at_x += (long double)qp->matrix[(size_t)k * n + j] * x[j];
		long double s = at_x - qp->d[k];
		at.row = fmaxl(at.row, qp_equal(qp, k) ? fabsl(s) : -s);
		at.row_size = fmaxl(at.row_size, fmaxl(fabsl(at_x), fabs(qp->d[k])));
		if (!qp_equal(qp, k))
			at.stationarity = fmaxl(at.stationarity, -lambda[k]);
		dual += (long double)qp->d[k] * lambda[k];
		most = fmaxl(most, fabsl((long double)qp->d[k] * lambda[k]));
	}
	at.gap = fabsl(value + lower - dual);
	at.gap_size = most;
	return at;
}

/* To the tolerance, relative to 1 + the largest term, as is usual for solvers. */
static bool conditions_hold(struct qp_conditions at)
{
	return at.row <= TOLERANCE * (1 + at.row_size) &&
	       at.stationarity <= TOLERANCE * (1 + at.stationarity_size) &&
	       at.gap <= TOLERANCE * (1 + at.gap_size);
}

/* To the tolerance without any scale. */
static bool conditions_hold_absolutely(struct qp_conditions at)
{
	return at.row <= TOLERANCE && at.stationarity <= TOLERANCE && at.gap <= TOLERANCE;
}

/* A lower bound, from the certificate z, on max |x| of any point that satisfies all rows, divided by the
 * largest distance of a row's plane from the origin. Every such point has z·d ≤ z·C x ≤ |Cᵀz|₁ max |x|.
 * −1: z is not a certificate. */
static long double feasible_distance(const struct qp_problem *qp, const double *z)
{
	long double gain = 0, across = 0, length = 0;
	for (uint32_t k = 0; k < qp->rows; k++) {
		if (z[k] < 0 && !qp_equal(qp, k))
			return -1;
		gain += (long double)qp->d[k] * z[k];
		if (far_steep(qp, k) > 0)
			length = fmaxl(length, fabs(qp->d[k]) / (long double)far_steep(qp, k));
	}
	for (uint32_t j = 0; j < qp->variables; j++) {
		long double sum = 0;
		for (uint32_t k = 0; k < qp->rows; k++)
			sum += (long double)qp->matrix[(size_t)k * qp->variables + j] * z[k];
		across += fabsl(sum);
	}
	return gain <= 0 ? -1 : across == 0 ? HUGE_VALL : gain / across / length;
}

/* Whether p proves that the program is unbounded: c·p < 0, and G p = 0 and C p ≥ 0 to 1e-8 |p|. */
static bool is_unbounded_ray(const struct qp_problem *qp, const double *p)
{
	long double down = 0, size = 0, curve = 0;
	uint32_t n = qp->variables;
	for (uint32_t i = 0; i < n; i++) {
		down += (long double)qp->c[i] * p[i];
		size = fmaxl(size, fabs(p[i]));
		curve = fmaxl(curve, fabs(qp->g[i * n + i]));
	}
	for (uint32_t i = 0; i < n; i++) {
		long double sum = 0;
		for (uint32_t j = 0; j < n; j++)
			sum += (long double)qp->g[i * n + j] * p[j];
		if (fabsl(sum) > 1e-8L * size * curve)
			return false;
	}
	for (uint32_t k = 0; k < qp->rows; k++) {
		long double sum = 0;
		for (uint32_t j = 0; j < n; j++)
			sum += (long double)qp->matrix[(size_t)k * n + j] * p[j];
		long double slack = 1e-8L * size * (long double)far_steep(qp, k);
		if (sum < -slack || (qp_equal(qp, k) && sum > slack))
			return false;
	}
	return down < 0;
}

struct qp_tally {
	uint32_t count[SOLVER_STATUSES];
	uint32_t right, absolute, fallbacks;
	/* SOLVED although a condition is violated, an invalid certificate, or a wrong status. */
	uint32_t wrong;
	double ms; /* of processor time in all solves */
};

/* Adds the answer about one program to *tally. A program counts as infeasible only if every point that
 * satisfies its rows lies at least 1e6 times as far out as its planes. */
static void check_answer(const struct qp_problem *qp, enum gen_qp_family family,
			 struct solver_result result, const double *x, const double *lambda,
			 struct qp_tally *tally)
{
	bool right = true;
	tally->count[result.status]++;
	tally->fallbacks += result.fallbacks > 0;
	switch (result.status) {
	case SOLVER_SOLVED: {
		struct qp_conditions at = evaluate_conditions(qp, x, lambda);
		right = conditions_hold(at) && family != GEN_QP_INFEASIBLE &&
			family != GEN_QP_UNBOUNDED;
		tally->right += right;
		tally->absolute += right && conditions_hold_absolutely(at);
		break;
	}
	case SOLVER_INFEASIBLE:
		right = family == GEN_QP_INFEASIBLE &&
			feasible_distance(qp, result.certificate) >= 1e6L;
		tally->right += right;
		break;
	case SOLVER_UNBOUNDED:
		right = family == GEN_QP_UNBOUNDED && is_unbounded_ray(qp, result.certificate);
		tally->right += right;
		break;
	default:
		break;
	}
	tally->wrong += !right;
	if (!right && getenv("CAIRN_QP_DEBUG") != NULL) {
		struct qp_conditions at = evaluate_conditions(qp, x, lambda);
		printf("#   wrong: %s, residual %.1e, rows %.1Le of %.1Le, stationarity %.1Le of "
		       "%.1Le, gap %.1Le of %.1Le\n",
		       solver_status_name(result.status), result.residual, at.row, at.row_size,
		       at.stationarity, at.stationarity_size, at.gap, at.gap_size);
	}
}

START_TEST(every_answer_about_a_hard_program_is_right)
{
	enum gen_qp_family family = (enum gen_qp_family)_i;
	struct rng rng = rng_seeded(check_seed() + 1000 * (uint64_t)_i);
	struct solver_options options = solver_options_default();
	struct qp_dual_active_set solver;
	struct qp_tally tally = { .ms = 0 };
	struct gen_qp gen;
	uint32_t count = setting("CAIRN_SOLVER_COUNT", 300), size = setting("CAIRN_QP_SIZE", 16);
	gen_qp_init(&gen, size);
	uint32_t n = gen.variables_max, m = gen.rows_max;
	void *memory = heap_alloc_aligned(qp_dual_active_set_bytes(n, m));
	double *x = heap_alloc((n + m) * sizeof *x), *lambda = x + n;
	ck_assert(memory != NULL && x != NULL);
	qp_dual_active_set_init(&solver, memory, n, m);
	for (uint32_t i = 0; i < count; i++) {
		gen_qp_random(&gen, family, &rng, size);
		clock_t begin = clock();
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &gen.problem, &options, x, lambda, NULL);
		tally.ms += (double)(clock() - begin) * 1e3 / CLOCKS_PER_SEC;
		check_answer(&gen.problem, family, result, x, lambda, &tally);
	}
	printf("# %-10s %6u: right %5.1f %%, to 1e-9 absolutely %5.1f %%; solved %u, infeasible %u, "
	       "unbounded %u, inexact %u, limit %u; with fallbacks %u; wrong %u; %.3f ms\n",
	       gen_qp_name(family), count, 100.0 * tally.right / count,
	       100.0 * tally.absolute / count, tally.count[SOLVER_SOLVED],
	       tally.count[SOLVER_INFEASIBLE], tally.count[SOLVER_UNBOUNDED],
	       tally.count[SOLVER_INEXACT], tally.count[SOLVER_LIMIT], tally.fallbacks, tally.wrong,
	       tally.ms / count);
	fflush(stdout);
	ck_assert_uint_eq(tally.wrong, 0);
	heap_free(x);
	heap_free(memory);
	gen_qp_release(&gen);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("hard quadratic programs");
	TCase *tcase = tcase_create("families");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, every_answer_about_a_hard_program_is_right, 0, GEN_QP_FAMILIES);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
