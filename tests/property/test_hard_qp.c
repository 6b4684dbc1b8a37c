/* test_hard_qp.c: quadratic programs made to be hard (tests/lib/gen_qp.h), each answer held in long
 * double against what was asked. CAIRN_SOLVER_COUNT is the number of programs a family (default 300),
 * CAIRN_QP_SIZE the largest number of variables (default 16).
 *
 * Printed for each family: how many were answered right (solved, or proved impossible or endless where
 * they are), and of these how many hold all three conditions (rows, stationarity, gap between ½xᵀGx + cᵀx
 * and its dual) to 1e-9 as such, without any scale, which is how the public set is counted.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_qp.h"

#define ASKED 1e-9L

static uint32_t setting(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : otherwise;
}

/* The three conditions, and what each is summed from. */
struct conditions {
	long double row, stationarity, gap;
	long double row_size, stationarity_size, gap_size;
};

static struct conditions judge(const struct qp_problem *qp, const double *x, const double *lambda)
{
	struct conditions at = { 0 };
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

/* To `asked`, of what was summed and of 1, as is usual. */
static bool holds(struct conditions at)
{
	return at.row <= ASKED * (1 + at.row_size) &&
	       at.stationarity <= ASKED * (1 + at.stationarity_size) &&
	       at.gap <= ASKED * (1 + at.gap_size);
}

static bool holds_as_such(struct conditions at)
{
	return at.row <= ASKED && at.stationarity <= ASKED && at.gap <= ASKED;
}

/* How far out a point would have to lie (max |x|) to satisfy all rows, over the length of the planes. */
static long double reach_of(const struct qp_problem *qp, const double *z)
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

/* Whether p leads down for ever: c·p < 0, G p and what C p is below 0 nothing beside |p|. */
static bool is_ray(const struct qp_problem *qp, const double *p)
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

struct tally {
	uint32_t count[SOLVER_STATUSES];
	uint32_t right, as_such, fallbacks;
	uint32_t
		untrue; /* SOLVED that does not hold, a proof that proves nothing, the wrong one of both */
	double ms;
};

static void judge_one(const struct qp_problem *qp, enum gen_qp_family family,
		      struct solver_result result, const double *x, const double *lambda,
		      struct tally *tally)
{
	bool true_answer = true;
	tally->count[result.status]++;
	tally->fallbacks += result.fallbacks > 0;
	switch (result.status) {
	case SOLVER_SOLVED: {
		struct conditions at = judge(qp, x, lambda);
		true_answer =
			holds(at) && family != GEN_QP_INFEASIBLE && family != GEN_QP_UNBOUNDED;
		tally->right += true_answer;
		tally->as_such += true_answer && holds_as_such(at);
		break;
	}
	case SOLVER_INFEASIBLE:
		true_answer =
			family == GEN_QP_INFEASIBLE && reach_of(qp, result.certificate) >= 1e6L;
		tally->right += true_answer;
		break;
	case SOLVER_UNBOUNDED:
		true_answer = family == GEN_QP_UNBOUNDED && is_ray(qp, result.certificate);
		tally->right += true_answer;
		break;
	default:
		break;
	}
	tally->untrue += !true_answer;
	if (!true_answer && getenv("CAIRN_QP_DEBUG") != NULL) {
		struct conditions at = judge(qp, x, lambda);
		printf("#   untrue: %s, residual %.1e, rows %.1Le of %.1Le, stationarity %.1Le of "
		       "%.1Le, gap %.1Le of %.1Le\n",
		       solver_status_name(result.status), result.residual, at.row, at.row_size,
		       at.stationarity, at.stationarity_size, at.gap, at.gap_size);
	}
}

START_TEST(what_is_said_of_a_hard_program_is_true)
{
	enum gen_qp_family family = (enum gen_qp_family)_i;
	struct rng rng = rng_seeded(check_seed() + 1000 * (uint64_t)_i);
	struct solver_options options = solver_options_default();
	struct qp_dual_active_set solver;
	struct tally tally = { .ms = 0 };
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
		judge_one(&gen.problem, family, result, x, lambda, &tally);
	}
	printf("# %-10s %6u: right %5.1f %%, to 1e-9 as such %5.1f %%; solved %u, infeasible %u, "
	       "unbounded %u, inexact %u, limit %u; by plan B %u; untrue %u; %.3f ms\n",
	       gen_qp_name(family), count, 100.0 * tally.right / count,
	       100.0 * tally.as_such / count, tally.count[SOLVER_SOLVED],
	       tally.count[SOLVER_INFEASIBLE], tally.count[SOLVER_UNBOUNDED],
	       tally.count[SOLVER_INEXACT], tally.count[SOLVER_LIMIT], tally.fallbacks,
	       tally.untrue, tally.ms / count);
	fflush(stdout);
	ck_assert_uint_eq(tally.untrue, 0);
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
	tcase_add_loop_test(tcase, what_is_said_of_a_hard_program_is_true, 0, GEN_QP_FAMILIES);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
