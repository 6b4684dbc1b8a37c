/* test_qp_conditions.c: the conditions of a minimum, checked without the solver's own residual. The
 * four conditions of Karush, Kuhn and Tucker and the duality gap are computed here one by one. For
 * each of them a point violates only that one, and qp_residual must report it. */
#include <math.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/engine/solvers/qp_dual_active_set.h"
#include "tests/lib/check_main.h"

enum { N = 8, M = 8 };
static struct qp_dual_active_set solver;
static void *memory;
static struct solver_options options;
static double g[N * N], c[N], rows[M * N], d[M], x[N], lambda[M];
static bool equal[M];

static void setup(void)
{
	memory = heap_alloc_aligned(qp_dual_active_set_bytes(N, M));
	ck_assert_ptr_nonnull(memory);
	qp_dual_active_set_init(&solver, memory, N, M);
	options = solver_options_default();
}

static void teardown(void)
{
	heap_free(memory);
}

/* A definite program with a feasible point; the first `first` rows are equal ones. */
static struct qp_problem draw(struct rng *rng, uint32_t first)
{
	uint32_t n = 2 + rng_below(rng, N - 2), m = 1 + rng_below(rng, n);
	double root[N][N], inside[N];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++)
			root[i][j] = rng_range(rng, -1, 1);
		c[i] = rng_range(rng, -3, 3);
		inside[i] = rng_range(rng, -1, 1);
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < n; j++) {
			g[i * n + j] = i == j ? 0.5 : 0;
			for (uint32_t k = 0; k < n; k++)
				g[i * n + j] += root[i][k] * root[j][k];
		}
	for (uint32_t k = 0; k < m; k++) {
		equal[k] = k < first;
		d[k] = -rng_range(rng, 0, 0.5) * !equal[k];
		for (uint32_t i = 0; i < n; i++) {
			rows[k * n + i] = rng_range(rng, -1, 1);
			d[k] += rows[k * n + i] * inside[i];
		}
	}
	return (struct qp_problem){ n, m, g, c, rows, d, equal };
}

static double slack(const struct qp_problem *problem, uint32_t k)
{
	double sum = -d[k];
	for (uint32_t i = 0; i < problem->variables; i++)
		sum += rows[k * problem->variables + i] * x[i];
	return sum;
}

static double gradient(const struct qp_problem *problem, uint32_t i)
{
	uint32_t n = problem->variables;
	double sum = c[i];
	for (uint32_t j = 0; j < n; j++)
		sum += g[i * n + j] * x[j];
	for (uint32_t k = 0; k < problem->rows; k++)
		sum -= rows[k * n + i] * lambda[k];
	return sum;
}

/* The largest force at x, of a single term or of a sum, to which the force of a multiplier is
 * relative (qp.h). */
static double largest_force(const struct qp_problem *problem)
{
	uint32_t n = problem->variables;
	double largest = 0;
	for (uint32_t i = 0; i < n; i++) {
		double bend = 0, push = 0;
		for (uint32_t j = 0; j < n; j++) {
			bend += g[i * n + j] * x[j];
			largest = fmax(largest, fabs(g[i * n + j] * x[j]));
		}
		for (uint32_t k = 0; k < problem->rows; k++) {
			push += rows[k * n + i] * lambda[k];
			largest = fmax(largest, fabs(rows[k * n + i] * lambda[k]));
		}
		largest = fmax(largest, fmax(fabs(c[i]), fmax(fabs(bend), fabs(push))));
	}
	return largest;
}

static double steepest(const struct qp_problem *problem, uint32_t k)
{
	double most = 0;
	for (uint32_t i = 0; i < problem->variables; i++)
		most = fmax(most, fabs(rows[k * problem->variables + i]));
	return most;
}

static void solve(const struct qp_problem *problem)
{
	struct solver_result result =
		qp_dual_active_set_solve(&solver, problem, &options, x, lambda, NULL);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
}

/* All numbers are of the order of 1, so violations need no scale. */
START_TEST(the_solver_meets_each_condition)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t active = 0, idle = 0;
	for (uint32_t round = 0; round < 2000; round++) {
		struct qp_problem problem = draw(&rng, rng_below(&rng, 2));
		solve(&problem);
		for (uint32_t i = 0; i < problem.variables; i++)
			ck_assert_double_lt(fabs(gradient(&problem, i)), 1e-8);
		for (uint32_t k = 0; k < problem.rows; k++) {
			double s = slack(&problem, k);
			if (equal[k]) {
				ck_assert_double_lt(fabs(s), 1e-8);
				continue;
			}
			ck_assert_double_gt(s, -1e-8);
			ck_assert_double_ge(lambda[k], 0);
			ck_assert_double_lt(fmin(s, lambda[k]), 1e-8);
			active += lambda[k] > 1e-3;
			idle += s > 1e-3;
		}
	}
	ck_assert_uint_gt(active, 500);
	ck_assert_uint_gt(idle, 500);
}
END_TEST

/* The solution with a row as an equal one whose multiplier is negative; as an inequality the row is
 * not active. */
START_TEST(a_negative_multiplier_is_no_solution_on_either_side_of_the_row)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	uint32_t pulling = 0, outside = 0;
	for (uint32_t round = 0; round < 4000; round++) {
		struct qp_problem problem = draw(&rng, 1);
		solve(&problem);
		double largest = 0;
		for (uint32_t k = 0; k < problem.rows; k++)
			largest = fmax(largest, fabs(lambda[k]));
		if (lambda[0] > -0.01 * largest)
			continue;
		ck_assert_double_lt(qp_residual(&problem, x, lambda), 1e-10);
		equal[0] = false;
		double pull = -lambda[0] * steepest(&problem, 0) / largest_force(&problem);
		ck_assert_double_ge(qp_residual(&problem, x, lambda), 0.99 * pull);
		pulling++;
		outside += slack(&problem, 0) < 0;
	}
	ck_assert_uint_gt(pulling, 500);
	ck_assert_uint_gt(outside, 50);
	ck_assert_uint_lt(outside, pulling - 50);
}
END_TEST

/* The same in units in which products leave the range of a double. */
START_TEST(a_negative_multiplier_is_no_solution_in_extreme_units)
{
	static const int exponents[] = { -600, -520, 520, 600 };
	double one = ldexp(1, exponents[_i]);
	g[0] = one;
	c[0] = -one;
	rows[0] = 1;
	d[0] = 0.5;
	x[0] = 0.5;
	lambda[0] = -0.5 * one;
	equal[0] = true;
	struct qp_problem problem = { 1, 1, g, c, rows, d, equal };
	ck_assert_double_lt(qp_residual(&problem, x, lambda), 1e-12);
	equal[0] = false;
	/* The force of the negative multiplier is half of the largest force. */
	ck_assert_double_ge(qp_residual(&problem, x, lambda), 0.499);
	x[0] = nextafter(0.5, 0);
	ck_assert_double_ge(qp_residual(&problem, x, lambda), 0.499);
}
END_TEST

START_TEST(a_point_beside_the_minimum_has_a_residual)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	for (uint32_t round = 0; round < 1000; round++) {
		struct qp_problem problem = draw(&rng, rng_below(&rng, 2));
		solve(&problem);
		double before = qp_residual(&problem, x, lambda);
		uint32_t i = rng_below(&rng, problem.variables);
		double kept = x[i];
		x[i] += rng_below(&rng, 2) ? 0.01 : -0.01;
		ck_assert_double_gt(qp_residual(&problem, x, lambda), 1e-5 + before);
		x[i] = kept;
		uint32_t k = rng_below(&rng, problem.rows);
		lambda[k] += 0.01 + fabs(lambda[k]);
		ck_assert_double_gt(qp_residual(&problem, x, lambda), 1e-5 + before);
	}
}
END_TEST

/* The unconstrained minimum, without multipliers, lies outside one row; all other conditions hold. */
START_TEST(the_residual_outside_a_row_grows_with_the_distance)
{
	double last = 0;
	for (double way = 1e-6; way < 1; way *= 10) {
		g[0] = 1;
		c[0] = -1;
		rows[0] = 1;
		d[0] = 1 + way;
		x[0] = 1;
		lambda[0] = 0;
		equal[0] = false;
		struct qp_problem problem = { 1, 1, g, c, rows, d, equal };
		double found = qp_residual(&problem, x, lambda);
		ck_assert_double_gt(found, 0.4 * way);
		ck_assert_double_gt(found, 5 * last);
		last = found;
		/* The same distance on the other side of the row is a violation only of an equal
		 * row. */
		d[0] = 1 - way;
		ck_assert_double_eq(qp_residual(&problem, x, lambda), 0);
		equal[0] = true;
		ck_assert_double_gt(qp_residual(&problem, x, lambda), 0.4 * way);
	}
}
END_TEST

/* The duality gap over the largest of its terms. */
static double gap(const struct qp_problem *problem)
{
	uint32_t n = problem->variables;
	long double sum = 0, largest = 0;
	for (uint32_t i = 0; i < n; i++) {
		long double bend = 0, push = (long double)c[i] * x[i];
		for (uint32_t j = 0; j < n; j++)
			bend += (long double)g[i * n + j] * x[j];
		sum += bend * x[i] + push;
		largest = fmaxl(largest, fmaxl(fabsl(bend * x[i]), fabsl(push)));
	}
	for (uint32_t k = 0; k < problem->rows; k++) {
		sum -= (long double)d[k] * lambda[k];
		largest = fmaxl(largest, fabsl((long double)d[k] * lambda[k]));
	}
	return (double)(fabsl(sum) / largest);
}

/* With a row at 1000, a distance of 1e-7 is a small violation, but its gap of 3e-7 is not small. */
START_TEST(a_large_multiplier_at_a_row_that_nearly_holds_has_a_gap)
{
	g[0] = g[3] = 1;
	g[1] = g[2] = 0;
	c[0] = -3;
	c[1] = 0;
	rows[0] = -1, rows[1] = 0;
	rows[2] = 0, rows[3] = 1;
	d[0] = 0;
	d[1] = -1000;
	equal[0] = equal[1] = false;
	struct qp_problem problem = { 2, 2, g, c, rows, d, equal };
	for (double way = 1e-8; way < 1e-2; way *= 10) {
		x[0] = -way;
		x[1] = 0;
		lambda[0] = 3 + way;
		lambda[1] = 0;
		ck_assert_double_le(qp_conditions(&problem, x, lambda), way / 999);
		ck_assert_double_gt(qp_residual(&problem, x, lambda), 0.9 * way);
	}
	x[0] = 0;
	lambda[0] = 3;
	ck_assert_double_eq(qp_residual(&problem, x, lambda), 0);
}
END_TEST

/* A curvature of 1e-14 and rows at 1000. All conditions held to 3e-13, with a gap of 2e-10, because
 * pivoting accepted violations of 2e-10 and 7e-10 beside 1000. */
START_TEST(a_gap_is_closed_though_all_conditions_hold)
{
	static const double bend[] = { 0.96951412165501571, -0.17192000920928752,
				       -0.17192000920928752, 0.030485878344989781 };
	static const double pull[] = { -5.770625361925477, 3.6972829784773893 };
	static const double plane[][2] = { { 1, 0 },
					   { -1, 0 },
					   { 0, 1 },
					   { 0, -1 },
					   { -2.1170477126066762, 0 },
					   { -0.85753089876894495, 2.2651788683550045 } };
	static const double far[] = {
		-1000, -1000, -1000, -1000, 1.1138588855356912, 2.4767345461980228
	};
	memcpy(g, bend, sizeof bend);
	memcpy(c, pull, sizeof pull);
	memcpy(rows, plane, sizeof plane);
	memcpy(d, far, sizeof far);
	struct qp_problem problem = { 2, 6, g, c, rows, d, NULL };
	solve(&problem);
	ck_assert_double_le(gap(&problem), 1e-14);
	ck_assert_double_gt(lambda[4], 2);
	ck_assert_double_gt(lambda[5], 1);
}
END_TEST

/* Rows that contradict each other by 1e-3, G of rank 1. An x of 1e7 satisfied them to 8e-11 of its
 * size. */
START_TEST(a_very_large_x_hides_no_contradiction)
{
	static const double bend[] = { 0.23508822420687428,   -0.26780209748438566,
				       0.029517805558373963,  0.13069625384639721,
				       -0.26780209748438566,  0.30506829365440957,
				       -0.033625377316698679, -0.1488833863605892,
				       0.029517805558373963,  -0.033625377316698679,
				       0.0037062717536002166, 0.016410292864567178,
				       0.13069625384639721,   -0.1488833863605892,
				       0.016410292864567178,  0.072660001695577972 };
	static const double plane[][4] = { { 0.75, 0, -0.5, 0.75 },
					   { 0.03125, 0.03125, -0.03125, 0.046875 },
					   { -512, -1024, -1024, -1536 },
					   { -1, 3, -1, -2 },
					   { -512, 128, 512, -384 } };
	static const double far[] = { 2.5, 0.125, -6144, -8, -1151.5 }, pull[] = { -3, -1, 0, 3 };
	memcpy(g, bend, sizeof bend);
	memcpy(c, pull, sizeof pull);
	memcpy(rows, plane, sizeof plane);
	memcpy(d, far, sizeof far);
	memset(equal, 0, sizeof equal);
	equal[0] = true;
	struct qp_problem problem = { 4, 5, g, c, rows, d, equal };
	struct solver_result result =
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
	ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
	ck_assert_double_ge(qp_infeasibility(&problem, result.certificate), 1e8);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/solvers/qp_conditions");
	TCase *cases = tcase_create("conditions");
	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_test(cases, the_solver_meets_each_condition);
	tcase_add_test(cases, a_negative_multiplier_is_no_solution_on_either_side_of_the_row);
	tcase_add_loop_test(cases, a_negative_multiplier_is_no_solution_in_extreme_units, 0, 4);
	tcase_add_test(cases, a_point_beside_the_minimum_has_a_residual);
	tcase_add_test(cases, the_residual_outside_a_row_grows_with_the_distance);
	tcase_add_test(cases, a_large_multiplier_at_a_row_that_nearly_holds_has_a_gap);
	tcase_add_test(cases, a_gap_is_closed_though_all_conditions_hold);
	tcase_add_test(cases, a_very_large_x_hides_no_contradiction);
	suite_add_tcase(suite, cases);
	return suite;
}

int main(void)
{
	return check_main(make);
}
