/* test_qp.c: the dual active set: conditions of optimality on random programs, certificates,
 * agreement with the LCP. CAIRN_SOLVER_COUNT is the number of random programs (default 10000). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/heap.h"
#include "server/engine/solvers/qp_dual_active_set.h"
#include "tests/lib/check_main.h"
#include "tests/lib/far_residual.h"
#include "tests/lib/gen_lcp.h"
#include "tests/lib/gen_lp.h"
#include "tests/lib/gen_qp.h"

enum { N = 36, M = 36 };
static struct qp_dual_active_set solver;
static void *memory;
static struct solver_options options;
static double g[N * N], c[N], rows[M * N], d[M], x[N], lambda[M];
static bool equal[M];

static void setup(void)
{
	memory = heap_alloc_aligned(qp_dual_active_set_bytes(N, M));
	ck_assert_ptr_nonnull(memory);
	memset(memory, 0x7f, qp_dual_active_set_bytes(N, M));
	qp_dual_active_set_init(&solver, memory, N, M);
	options = solver_options_default();
}

static void teardown(void)
{
	heap_free(memory);
}

static uint32_t random_count(void)
{
	const char *text = getenv("CAIRN_SOLVER_COUNT");
	return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 10000;
}

/* G of `rank`; rows of small integers (which tie) or random numbers, some twice, some equal; d so
 * that a point satisfies all rows, many of them exactly. */
static struct qp_problem random_program(struct rng *rng, bool definite)
{
	uint32_t n = 1 + rng_below(rng, 8), m = rng_below(rng, 13), rank = definite ? n : n / 2;
	bool integer = rng_below(rng, 2) == 0;
	double root[8][8], inside[8];
	for (uint32_t i = 0; i < n * n; i++)
		root[i / n][i % n] = i % n < rank ? rng_range(rng, -1, 1) : 0;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			g[i * n + j] = definite && i == j ? 0.1 : 0;
			for (uint32_t k = 0; k < n; k++)
				g[i * n + j] += root[i][k] * root[j][k];
		}
		c[i] = integer ? (double)rng_below(rng, 7) - 3 : rng_range(rng, -3, 3);
		inside[i] = integer ? (double)rng_below(rng, 3) - 1 : rng_range(rng, -1, 1);
	}
	for (uint32_t k = 0; k < m; k++) {
		uint32_t twin = rng_below(rng, m + 2);
		equal[k] = k < n / 3 && rng_below(rng, 3) == 0;
		d[k] = 0;
		for (uint32_t i = 0; i < n; i++) {
			rows[k * n + i] = twin < k  ? rows[twin * n + i]
					  : integer ? (double)rng_below(rng, 5) - 2
						    : rng_range(rng, -1, 1);
			d[k] += rows[k * n + i] * inside[i];
		}
		if (!equal[k] && rng_below(rng, 2) == 0)
			d[k] -= rng_below(rng, 3);
	}
	return (struct qp_problem){ n, m, g, c, rows, d, equal };
}

START_TEST(every_feasible_program_is_solved)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t count = random_count();
	for (uint32_t i = 0; i < count; i++) {
		struct qp_problem problem = random_program(&rng, true);
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_uint_eq(result.fallbacks, 0);
		ck_assert_double_le(result.residual, 1e-10);
		ck_assert_double_eq(result.residual, qp_residual(&problem, x, lambda));
	}
}
END_TEST

START_TEST(a_semidefinite_program_is_solved_or_has_a_ray)
{
	struct rng rng = rng_seeded(check_seed() + 1);
	uint32_t solved = 0, rays = 0, count = random_count() / 20;
	for (uint32_t i = 0; i < count; i++) {
		struct qp_problem problem = random_program(&rng, false);
		uint32_t n = problem.variables;
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
		solved += result.status == SOLVER_SOLVED;
		if (result.status != SOLVER_UNBOUNDED)
			continue;
		rays++;
		ck_assert_uint_eq(result.certificate_count, n);
		double down = 0, size = 0;
		for (uint32_t j = 0; j < n; j++) {
			down += c[j] * result.certificate[j];
			size = fmax(size, fabs(result.certificate[j]));
		}
		ck_assert_double_lt(down, 0);
		for (uint32_t k = 0; k < problem.rows; k++) {
			double sum = 0;
			for (uint32_t j = 0; j < n; j++)
				sum += rows[k * n + j] * result.certificate[j];
			ck_assert_double_ge(sum, -1e-7 * size);
		}
	}
	ck_assert_uint_gt(rays, 0);
	ck_assert_uint_ge(solved + rays, count - count / 50);
}
END_TEST

START_TEST(contradicting_rows_are_proved_to_contradict)
{
	struct rng rng = rng_seeded(check_seed() + 2);
	uint32_t proved = 0;
	for (uint32_t i = 0; i < 2000; i++) {
		struct qp_problem problem = random_program(&rng, true);
		uint32_t n = problem.variables, m = problem.rows;
		for (uint32_t k = 0; k < m; k++)
			d[k] += rng_range(&rng, 0, 2);
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
		if (result.status == SOLVER_SOLVED)
			continue;
		ck_assert_int_eq(result.status, SOLVER_INFEASIBLE);
		ck_assert_uint_eq(result.certificate_count, m);
		const double *z = result.certificate;
		double gain = 0, size = 0;
		for (uint32_t k = 0; k < m; k++) {
			ck_assert(equal[k] || z[k] >= -1e-12);
			gain += d[k] * z[k];
			size = fmax(size, fabs(z[k]));
		}
		ck_assert_double_gt(gain, 0);
		for (uint32_t j = 0; j < n; j++) {
			double sum = 0;
			for (uint32_t k = 0; k < m; k++)
				sum += rows[k * n + j] * z[k];
			ck_assert_double_le(fabs(sum), 1e-6 * size);
		}
		proved++;
	}
	ck_assert_uint_gt(proved, 200);
}
END_TEST

START_TEST(projected_velocities_are_those_of_the_lcp)
{
	/* C-07: ẋ⁺ = argmin ½ vᵀM v − vᵀM ẋ⁻, Nᵀ v ≥ 0; and R-11: masses 1 and 3. */
	struct rng rng = rng_seeded(check_seed() + 3);
	struct lcp_dantzig lcp;
	struct gen_lcp gen;
	void *other = heap_alloc_aligned(lcp_dantzig_bytes(M));
	lcp_dantzig_init(&lcp, other, M);
	gen_lcp_init(&gen, M);
	for (uint32_t round = 0; round < 400; round++) {
		uint32_t k = 1 + round % 6;
		struct gen_scene scene = round % 2 == 0 ? gen_tower(k, 1 + 20 * (round % 3))
							: gen_wall(1 + round % 3);
		uint32_t n = 6 * scene.bodies, m = scene.contacts;
		double impulses[M], after[6][6];
		gen_scene_fall(&scene, &rng, 0.4);
		gen_scene_lcp(&scene, 1, NULL, &gen);
		ck_assert_int_eq(
			lcp_dantzig_solve(&lcp, &gen.problem, &options, impulses, NULL).status,
			SOLVER_SOLVED);
		gen_scene_velocities(&scene, 1, NULL, impulses, after);
		memset(g, 0, sizeof g);
		memset(rows, 0, sizeof rows);
		memset(d, 0, sizeof d);
		for (uint32_t i = 0; i < n; i++) {
			g[i * n + i] = 1 / scene.mass_inv[i / 6][i % 6];
			c[i] = -g[i * n + i] * scene.velocity[i / 6][i % 6];
		}
		for (uint32_t r = 0; r < 2 * m; r++) {
			int32_t body = scene.contact[r / 2].body[r % 2];
			for (uint32_t i = 0; i < 6 && body != GEN_GROUND; i++)
				rows[r / 2 * n + 6 * (uint32_t)body + i] =
					scene.contact[r / 2].row[0][r % 2][i];
		}
		struct qp_problem problem = { n, m, g, c, rows, d, NULL };
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		for (uint32_t i = 0; i < n; i++)
			ck_assert_double_eq_tol(x[i], after[i / 6][i % 6], 1e-10);
		gen_scene_release(&scene);
	}
	double mass[4] = { 1, 0, 0, 3 }, pull[2] = { -1, 0 }, gap[2] = { -1, 1 }, zero[1] = { 0 };
	struct qp_problem two = { 2, 1, mass, pull, gap, zero, NULL };
	(void)qp_dual_active_set_solve(&solver, &two, &options, x, lambda, NULL);
	ck_assert_double_eq_tol(x[0], 0.25, 1e-15);
	ck_assert_double_eq_tol(x[1], 0.25, 1e-15);
	gen_lcp_release(&gen);
	heap_free(other);
}
END_TEST

START_TEST(a_warm_start_gives_the_same_minimum_without_pivots)
{
	struct rng rng = rng_seeded(check_seed() + 4);
	for (uint32_t i = 0; i < 500; i++) {
		struct qp_problem problem = random_program(&rng, true);
		double first[N];
		uint8_t state[M];
		options.warm = false;
		(void)qp_dual_active_set_solve(&solver, &problem, &options, first, lambda, state);
		options.warm = true;
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, state);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_uint_le(result.pivots, 2);
		/* Planes at an angle of 1e-4 move x by 1e4 residuals, so 1e-9 of x needs a smaller
		 * one. */
		options.tolerance = 1e-12;
		(void)qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, state);
		options.warm = false;
		(void)qp_dual_active_set_solve(&solver, &problem, &options, first, lambda, NULL);
		options.tolerance = 1e-10;
		for (uint32_t j = 0; j < problem.variables; j++)
			ck_assert_double_eq_tol(x[j], first[j], 1e-9 * (1 + fabs(x[j])));
	}
}
END_TEST

START_TEST(bad_numbers_and_empty_programs_have_their_status)
{
	double one[1] = { 1 }, bad[1] = { NAN };
	struct qp_problem problem = { 1, 1, one, one, one, bad, NULL };
	ck_assert_int_eq(
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL).status,
		SOLVER_NOT_FINITE);
	problem.rows = 0;
	ck_assert_int_eq(
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL).status,
		SOLVER_SOLVED);
	ck_assert_double_eq(x[0], -1);
	double not_convex[1] = { -1 };
	problem.g = not_convex;
	ck_assert_int_eq(
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL).status,
		SOLVER_INEXACT);
}
END_TEST

/* Least restraint of a pile at rest (papers ): bricks of 1 × 1/4 and unit mass, g = 1, by
 * (a_x, a_y, α) each; a contact at both ends of each overlap, the ends of the lowest on the table. */
enum { BRICKS = 25, PILE = 3 * BRICKS, FACES = 160 };

struct pile {
	uint32_t count, contacts;
	double x[PILE], lambda[FACES];
	double rate[FACES], table;
	struct solver_result result;
};

static void add_face(double *matrix, uint32_t n, const struct gen_lp_brick *bricks, uint32_t above,
		     uint32_t below, double at, struct pile *self)
{
	double *row = matrix + (size_t)self->contacts++ * n;
	memset(row, 0, n * sizeof *row);
	row[3 * above + 1] = 1;
	row[3 * above + 2] = at - (bricks[above].left + 0.5);
	if (below == BRICKS)
		return;
	row[3 * below + 1] = -1;
	row[3 * below + 2] = -(at - (bricks[below].left + 0.5));
}

static void collapse(const struct gen_lp_brick *bricks, uint32_t count, struct pile *self)
{
	static double g_matrix[PILE * PILE], pull[PILE], matrix[FACES * PILE], zero[FACES];
	struct qp_dual_active_set qp;
	uint32_t n = 3 * count;
	*self = (struct pile){ .count = count };
	memset(g_matrix, 0, sizeof g_matrix);
	memset(pull, 0, sizeof pull);
	for (uint32_t i = 0; i < n; i++)
		g_matrix[i * n + i] = i % 3 == 2 ? 17 / 192.0 : 1;
	/* ½ Σ m |a − g|² = ½ aᵀM a + Σ a_y + const. */
	for (uint32_t i = 0; i < count; i++)
		pull[3 * i + 1] = 1;
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < count; j++) {
			double low = fmax(bricks[i].left, bricks[j].left);
			double high = fmin(bricks[i].left, bricks[j].left) + 1;
			if (bricks[i].layer != bricks[j].layer + 1 || high - low < 1e-9)
				continue;
			add_face(matrix, n, bricks, i, j, low, self);
			add_face(matrix, n, bricks, i, j, high, self);
		}
		for (uint32_t end = 0; end < 2 && bricks[i].layer == 0; end++)
			add_face(matrix, n, bricks, i, BRICKS, bricks[i].left + end, self);
	}
	void *room = heap_alloc_aligned(qp_dual_active_set_bytes(n, self->contacts));
	qp_dual_active_set_init(&qp, room, n, self->contacts);
	struct qp_problem problem = { n, self->contacts, g_matrix, pull, matrix, zero, NULL };
	self->result =
		qp_dual_active_set_solve(&qp, &problem, &options, self->x, self->lambda, NULL);
	heap_free(room);
	for (uint32_t k = 0; k < self->contacts; k++) {
		for (uint32_t i = 0; i < n; i++)
			self->rate[k] += matrix[k * n + i] * self->x[i];
		bool table = true;
		for (uint32_t i = 0; i < n; i++)
			table &= matrix[k * n + i] >= 0 || i % 3 == 2;
		self->table += table ? self->lambda[k] : 0;
		ck_assert_double_ge(self->lambda[k], 0);
	}
	ck_assert_int_eq(self->result.status, SOLVER_SOLVED);
	ck_assert_double_le(self->result.residual, 1e-10);
	/* the table's force is the weight less the force of the accelerations. */
	double carried = 0;
	for (uint32_t i = 0; i < count; i++)
		carried += 1 + self->x[3 * i + 1];
	ck_assert_double_eq_tol(self->table, carried, 1e-11);
}

START_TEST(an_inverted_triangle_begins_to_fall_by_fifty_thirds)
{
	struct gen_lp_brick bricks[BRICKS];
	struct pile pile;
	uint32_t count = gen_lp_inverted(bricks, 3), breaking = 0;
	double objective = 0, left = 1e9, right = -1e9;
	collapse(bricks, count, &pile);
	ck_assert_uint_eq(pile.contacts, 14);
	for (uint32_t i = 0; i < count; i++) {
		left = fmin(left, bricks[i].left);
		right = fmax(right, bricks[i].left);
	}
	for (uint32_t k = 0; k < pile.contacts; k++)
		breaking += pile.rate[k] > 1e-9;
	for (uint32_t i = 0; i < count; i++) {
		const double *a = &pile.x[3 * i];
		objective += a[0] * a[0] + (a[1] + 1) * (a[1] + 1) + a[2] * a[2] * 17 / 192;
		if (bricks[i].layer != 2)
			continue;
		bool outer = bricks[i].left == left || bricks[i].left == right;
		ck_assert_double_eq_tol(a[1], outer ? -12 / 53.0 : 12 / 53.0, 1e-13);
		ck_assert_double_eq_tol(fabs(a[2]), outer ? 24 / 53.0 : 0, 1e-13);
	}
	ck_assert_uint_eq(breaking, 4);
	ck_assert_double_eq_tol(objective, 306 / 53.0, 1e-12);
}
END_TEST

START_TEST(a_diamond_of_four_rests_and_one_of_five_rises_inside)
{
	struct gen_lp_brick bricks[BRICKS];
	struct pile pile;
	uint32_t count = gen_lp_diamond(bricks, 4);
	collapse(bricks, count, &pile);
	for (uint32_t i = 0; i < 3 * count; i++)
		ck_assert_double_eq_tol(pile.x[i], 0, 1e-13);
	ck_assert_double_eq_tol(pile.table, 16, 1e-12);
	count = gen_lp_diamond(bricks, 5);
	ck_assert_uint_eq(count, 25);
	collapse(bricks, count, &pile);
	double highest = 0, lowest = 0;
	for (uint32_t i = 0; i < count; i++) {
		highest = fmax(highest, pile.x[3 * i + 1]);
		lowest = fmin(lowest, pile.x[3 * i + 1]);
	}
	ck_assert(highest > 1e-3 && lowest < -1e-3);
	/* Mirror images have equal accelerations. */
	uint32_t pairs = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			if (bricks[i].layer == bricks[j].layer &&
			    fabs(bricks[i].left + bricks[j].left + 1) < 1e-9) {
				ck_assert_double_eq_tol(pile.x[3 * i + 1], pile.x[3 * j + 1],
							1e-12);
				ck_assert_double_eq_tol(pile.x[3 * i + 2], -pile.x[3 * j + 2],
							1e-12);
				pairs++;
			}
	ck_assert_uint_eq(pairs, count);
}
END_TEST

/* Numbers of any exponent, a few of them 0. */
static double far_number(struct rng *rng)
{
	double mantissa = rng_range(rng, -1, 1);
	int exponent = (int)rng_below(rng, 2000) - 1000;
	return rng_below(rng, 5) == 0 ? 0 : ldexp(mantissa, exponent);
}

START_TEST(the_residual_is_true_at_the_ends_of_the_range)
{
	struct rng rng = rng_seeded(check_seed() + 7);
	uint32_t small = 0;
	for (uint32_t round = 0; round < 20000; round++) {
		double *all[] = { g, c, rows, d, x, lambda };
		uint32_t counts[] = { 9, 3, 6, 2, 3, 2 };
		for (uint32_t k = 0; k < 6; k++)
			for (uint32_t i = 0; i < counts[k]; i++)
				all[k][i] = far_number(&rng);
		/* Half of the problems are stationary to rounding. */
		for (uint32_t i = 0; i < 9 && round % 2 == 0; i++)
			g[i] = i % 4 == 0 && fabs(x[i / 4]) > 1e-200 ? -c[i / 4] / x[i / 4] : 0;
		lambda[0] *= round % 2;
		lambda[1] *= round % 2;
		struct qp_problem problem = { 3, 2, g, c, rows, d, NULL };
		if (!qp_valid(&problem))
			continue;
		long double expected = (long double)far_qp_residual(&problem, x, lambda);
		double found = qp_residual(&problem, x, lambda);
		small += expected < 1e-10L;
		ck_assert(fabsl(found - expected) <= 1e-13L + 1e-6L * expected ||
			  (found > 1e300 && expected > 1e300L));
	}
	ck_assert_uint_gt(small, 50);
}
END_TEST

START_TEST(a_length_below_the_range_of_double_is_not_zero)
{
	g[0] = 1e100;
	c[0] = 1e-309;
	rows[0] = 4e-305, rows[1] = 1e-309;
	x[1] = -3e-75;
	lambda[0] = c[0] / rows[0];
	equal[0] = true;
	struct qp_problem problem = { 2, 1, g, c, rows, d, equal };
	double found = qp_residual(&problem, x, lambda);
	ck_assert_double_eq_tol(found, (double)far_qp_residual(&problem, x, lambda), 1e-12);
	ck_assert(found > 0.1);
}
END_TEST

START_TEST(a_minimum_beyond_the_range_of_double_is_not_solved)
{
	g[0] = 1e300;
	c[0] = -1e-200;
	struct qp_problem problem = { 1, 0, g, c, rows, d, NULL };
	struct solver_result result =
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
	ck_assert_int_eq(result.status, SOLVER_INEXACT);
	ck_assert(result.residual > 0.9);
}
END_TEST

START_TEST(a_negative_multiplier_is_a_violation)
{
	/* min ½x² + x, whose unconstrained minimum −1 satisfies x ≥ −1.001. A negative multiplier
	 * holds x at −1.001, which is no solution. */
	double one[1] = { 1 }, cost[1] = { 1 }, at[1], pull[1], plane[1] = { -1.001 + 1e-15 };
	struct qp_problem problem = { 1, 1, one, cost, one, plane, NULL };
	at[0] = -1.001;
	pull[0] = -0.001;
	ck_assert_double_gt(qp_residual(&problem, at, pull), 9e-4);
	ck_assert_double_gt((double)far_qp_residual(&problem, at, pull), 9e-4);
	/* The same in an equal row is a solution. */
	bool held[1] = { true };
	problem.equal = held;
	ck_assert_double_le(qp_residual(&problem, at, pull), 1e-14);
}
END_TEST

START_TEST(an_extremely_large_x_hides_no_violation)
{
	/* x₁ − x₂ ≥ 1 and no curvature along (1, 1): x = 1e13 (1, 1) violates the row by 1. */
	double flat[4] = { 1, -1, -1, 1 }, none[2] = { 0, 0 }, row[2] = { 1, -1 }, one[1] = { 1 };
	double at[2] = { 1e13, 1e13 }, zero[1] = { 0 };
	struct qp_problem problem = { 2, 1, flat, none, row, one, NULL };
	ck_assert_double_gt(qp_residual(&problem, at, zero), 0.1);
	struct solver_result result =
		qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
	ck_assert_int_eq(result.status, SOLVER_SOLVED);
	ck_assert_double_eq_tol(x[0] - x[1], 1, 1e-12);
	ck_assert_double_eq_tol(lambda[0], 1, 1e-10);
}
END_TEST

START_TEST(a_pivot_that_is_rounding_does_not_leave_the_box)
{
	struct rng rng = rng_seeded(check_seed() + 8);
	struct gen_qp gen;
	uint32_t helped = 0;
	gen_qp_init(&gen, 8);
	for (uint32_t round = 0; round < 3000; round++) {
		gen_qp_random(&gen, GEN_QP_BOXED, &rng, 8);
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &gen.problem, &options, x, lambda, NULL);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		helped += result.fallbacks;
		for (uint32_t i = 0; i < gen.problem.variables; i++)
			ck_assert_double_le(fabs(x[i]), 2 + 1e-8);
	}
	ck_assert_uint_gt(helped, 20);
	gen_qp_release(&gen);
}
END_TEST

/* G = v vᵀ − δ is indefinite by more than the last values of ρ. Their factor fails after earlier
 * ones have found a point, and the incomplete factor must not be used. */
START_TEST(an_indefinite_program_does_not_use_a_failed_factor)
{
	struct rng rng = rng_seeded(check_seed() + 11);
	uint32_t solved = 0;
	for (uint32_t round = 0; round < 2000; round++) {
		uint32_t n = 2 + rng_below(&rng, 5), m = 1 + rng_below(&rng, 10);
		double v[8], size = pow(10, rng_range(&rng, -1, 4));
		double indefinite = pow(10, -rng_range(&rng, 5, 13));
		for (uint32_t i = 0; i < n; i++)
			v[i] = rng_range(&rng, -1, 1);
		for (uint32_t i = 0; i < n * n; i++)
			g[i] = v[i / n] * v[i % n] - (i / n == i % n ? indefinite : 0);
		for (uint32_t i = 0; i < n; i++)
			c[i] = rng_range(&rng, -1, 1);
		for (uint32_t k = 0; k < m; k++) {
			for (uint32_t i = 0; i < n; i++)
				rows[k * n + i] = k >= 2 * n   ? rng_range(&rng, -1, 1)
						  : i != k / 2 ? 0
						  : k % 2 == 0 ? 1
							       : -1;
			d[k] = k < 2 * n ? -size : -rng_range(&rng, 0, size);
		}
		struct qp_problem problem = { n, m, g, c, rows, d, NULL };
		options.tolerance = pow(10, -rng_range(&rng, 0, 12));
		options.rounds_max = rng_below(&rng, 3);
		struct solver_result result =
			qp_dual_active_set_solve(&solver, &problem, &options, x, lambda, NULL);
		solved += result.status == SOLVER_SOLVED;
		ck_assert(result.status == SOLVER_SOLVED || result.residual > options.tolerance);
		if (result.status == SOLVER_SOLVED)
			ck_assert_double_eq(result.residual, qp_residual(&problem, x, lambda));
	}
	ck_assert_uint_gt(solved, 0);
}
END_TEST

START_TEST(without_curvature_it_is_a_linear_program_and_agrees_with_the_simplex)
{
	struct rng rng = rng_seeded(check_seed() + 9);
	struct gen_qp gen;
	struct gen_lp lp;
	uint32_t rounds = 0;
	gen_qp_init(&gen, 8);
	gen_lp_init(&lp, M, 8, M * 8);
	for (uint32_t round = 0; round < 500; round++) {
		gen_qp_random(&gen, GEN_QP_LINEAR, &rng, 8);
		const struct qp_problem *qp = &gen.problem;
		gen_lp_begin(&lp, qp->rows);
		for (uint32_t k = 0; k < qp->rows; k++) {
			lp.row_low[k] = qp->d[k];
			lp.row_high[k] = qp_equal(qp, k) ? qp->d[k] : LP_INFINITY;
		}
		for (uint32_t j = 0; j < qp->variables; j++) {
			gen_lp_column(&lp, qp->c[j], -LP_INFINITY, LP_INFINITY);
			for (uint32_t k = 0; k < qp->rows; k++)
				gen_lp_entry(&lp, k, qp->matrix[k * qp->variables + j]);
		}
		struct solver_result linear = gen_lp_solve(&lp, &options);
		struct solver_result result =
			qp_dual_active_set_solve(&solver, qp, &options, x, lambda, NULL);
		ck_assert_int_eq(result.status, linear.status);
		ck_assert_int_eq(result.status, SOLVER_SOLVED);
		ck_assert_double_eq_tol(result.objective, linear.objective,
					1e-9 * (1 + fabs(linear.objective)));
		rounds = MAX_OF(rounds, result.rounds);
	}
	/* The rounds end, and do not continue with steps of equal length. */
	ck_assert_uint_le(rounds, 60);
	gen_lp_release(&lp);
	gen_qp_release(&gen);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("qp");
	TCase *tcase = tcase_create("dual active set");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, every_feasible_program_is_solved);
	tcase_add_test(tcase, a_semidefinite_program_is_solved_or_has_a_ray);
	tcase_add_test(tcase, contradicting_rows_are_proved_to_contradict);
	tcase_add_test(tcase, projected_velocities_are_those_of_the_lcp);
	tcase_add_test(tcase, a_warm_start_gives_the_same_minimum_without_pivots);
	tcase_add_test(tcase, bad_numbers_and_empty_programs_have_their_status);
	tcase_add_test(tcase, an_inverted_triangle_begins_to_fall_by_fifty_thirds);
	tcase_add_test(tcase, a_diamond_of_four_rests_and_one_of_five_rises_inside);
	tcase_add_test(tcase, the_residual_is_true_at_the_ends_of_the_range);
	tcase_add_test(tcase, a_length_below_the_range_of_double_is_not_zero);
	tcase_add_test(tcase, a_minimum_beyond_the_range_of_double_is_not_solved);
	tcase_add_test(tcase, a_negative_multiplier_is_a_violation);
	tcase_add_test(tcase, an_extremely_large_x_hides_no_violation);
	tcase_add_test(tcase, a_pivot_that_is_rounding_does_not_leave_the_box);
	tcase_add_test(tcase, an_indefinite_program_does_not_use_a_failed_factor);
	tcase_add_test(tcase, without_curvature_it_is_a_linear_program_and_agrees_with_the_simplex);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
