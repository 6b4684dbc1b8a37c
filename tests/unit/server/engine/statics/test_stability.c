/* Verdicts, forces, initial collapse and margins of stacks in the plane: published values (papers
 * S-01), agreement with the linear program, and invariance under units,
 * densities and mirrors. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/statics/parts.h"
#include "server/engine/solvers/lp_dual_simplex.h"
#include "tests/lib/check_main.h"
#include "tests/lib/towers.h"

enum { STACKS = 500, PARTS = 10 };

static struct towers bricks(double friction)
{
	struct towers towers;
	towers_init(&towers, 1, 0.25, 4, 1);
	towers.friction = friction;
	return towers;
}

/* The verdict; the caller releases the equilibrium. */
static struct stability_answer answer_of(const struct towers *towers, struct equilibrium *out)
{
	ck_assert_int_eq(equilibrium_init(out, &towers->problem), STATUS_OK);
	ck_assert_int_eq(equilibrium_ready(out), STATUS_OK);
	return stability_of(out, towers->loads);
}

static struct stability_answer verdict_of(struct towers *towers)
{
	struct equilibrium equilibrium;
	struct stability_answer answer = answer_of(towers, &equilibrium);
	equilibrium_release(&equilibrium);
	towers_release(towers);
	return answer;
}

/* The worst imbalance of a body by the forces given, over its weight (torques over weight times
 * width). */
static double imbalance(const struct towers *towers, const struct equilibrium *found)
{
	double worst = 0, weight = towers->mass * towers->gravity;
	struct spatial *sum = calloc(towers->count + 1, sizeof *sum);
	ck_assert_ptr_nonnull(sum);
	memcpy(sum, towers->loads, towers->count * sizeof *sum);
	for (uint32_t p = 0; p < towers->problem.point_count; p++) {
		const struct statics_point *point = &towers->points[p];
		struct statics_force force = equilibrium_force(found, p);
		vec3 on_b = vec3_mul_add(force.friction, point->normal, force.normal);
		ck_assert(force.normal >= 0);
		ck_assert(vec3_length(force.friction) <=
			  point->friction * force.normal * (1 + 1e-12));
		if (point->b != ROW_NO_BODY)
			sum[point->b] = spatial_mul_add(
				sum[point->b],
				(struct spatial){ on_b, vec3_cross(point->arm_b, on_b) }, 1);
		if (point->a != ROW_NO_BODY)
			sum[point->a] = spatial_mul_add(
				sum[point->a],
				(struct spatial){ on_b, vec3_cross(point->arm_a, on_b) }, -1);
	}
	for (uint32_t i = 0; i < towers->count; i++) {
		worst = fmax(worst, vec3_length(sum[i].linear) / weight);
		worst = fmax(worst, fabs(sum[i].angular.z) / (weight * towers->width));
	}
	free(sum);
	return worst;
}

/* ---- published values ------------------------------------------------------------------------ */

START_TEST(the_inverted_triangle_begins_to_fall_as_published)
{
	struct towers towers = bricks(0);
	struct equilibrium found;
	towers_triangle(&towers, 3);
	struct stability_answer answer = answer_of(&towers, &found);
	const struct spatial *a = found.acceleration;
	uint32_t breaking = 0;
	double objective = 0;
	ck_assert_uint_eq(towers.problem.point_count, 14);
	ck_assert_int_eq(answer.verdict, STABILITY_FALLS);
	ck_assert_int_eq(answer.law, STABILITY_COULOMB);
	ck_assert(fabs(a[3].linear.y + 12.0 / 53) < 1e-12);
	ck_assert(fabs(a[4].linear.y - 12.0 / 53) < 1e-12);
	ck_assert(fabs(a[5].linear.y + 12.0 / 53) < 1e-12);
	ck_assert(fabs(fabs(a[3].angular.z) - 24.0 / 53) < 1e-12);
	for (uint32_t p = 0; p < 14; p++)
		breaking += equilibrium_parting(&found, p).y > 1e-9;
	ck_assert_uint_eq(breaking, 4);
	for (uint32_t i = 0; i < 6; i++) {
		double y = a[i].linear.y + 1; /* a − g */
		objective += y * y + 17.0 / 192 * a[i].angular.z * a[i].angular.z;
	}
	ck_assert(fabs(objective - 306.0 / 53) < 1e-11);
	equilibrium_release(&found);
	towers_release(&towers);
}
END_TEST

/* the accelerations of the tower of 25 bricks are fractions of 3845, which their digits give away
 * (by continued fractions). All of its core goes up together. */
START_TEST(accelerations_of_a_diamond_are_fractions)
{
	struct towers towers = bricks(0);
	struct equilibrium found;
	double work = 0;
	uint32_t core = 0;
	towers_diamond(&towers, 5);
	struct stability_answer answer = answer_of(&towers, &found);
	ck_assert_uint_eq(towers.count, 25);
	ck_assert_int_eq(answer.verdict, STABILITY_FALLS);
	ck_assert(answer.kkt < 1e-10 && answer.gap < 1e-10);
	for (uint32_t i = 0; i < towers.count; i++) {
		double y = found.acceleration[i].linear.y, turn = found.acceleration[i].angular.z;
		ck_assert(fabs(3845 * y - round(3845 * y)) < 1e-9);
		ck_assert(fabs(3845 * turn - round(3845 * turn)) < 1e-9);
		core += fabs(y - 144.0 / 3845) < 1e-12;
		/* Forces do no work: a is at right angles to a − g. */
		work += y * (y + 1) + 17.0 / 192 * turn * turn;
	}
	ck_assert_uint_eq(core, 16);
	ck_assert(fabs(found.acceleration[10].linear.y + 1008.0 / 3845) < 1e-12);
	ck_assert(fabs(work) < 1e-12);
	equilibrium_release(&found);
	towers_release(&towers);
}
END_TEST

START_TEST(triangles_stand_to_two_and_diamonds_to_four)
{
	struct towers triangle = bricks(0), diamond = bricks(0);
	towers_triangle(&triangle, (uint32_t)_i);
	towers_diamond(&diamond, (uint32_t)_i);
	ck_assert_int_eq(verdict_of(&triangle).verdict,
			 _i <= 2 ? STABILITY_STANDS : STABILITY_FALLS);
	ck_assert_int_eq(verdict_of(&diamond).verdict,
			 _i <= 4 ? STABILITY_STANDS : STABILITY_FALLS);
}
END_TEST

START_TEST(harmonic_stacks_stand_at_their_limit_and_not_beyond)
{
	static const uint32_t heights[] = { 1, 2, 5, 10, 30 };
	static const double overhangs[] = { 0.5, 0.75, 1.141667, 1.464484, 1.997494 };
	struct towers at = bricks(0), beyond = bricks(0);
	towers_harmonic(&at, heights[_i], 1);
	towers_harmonic(&beyond, heights[_i], 1.0001);
	ck_assert(fabs(at.bricks[at.count - 1].x - overhangs[_i]) < 1e-6);
	ck_assert_int_eq(verdict_of(&at).verdict, STABILITY_STANDS);
	struct stability_answer answer = verdict_of(&beyond);
	ck_assert_int_eq(answer.verdict, STABILITY_FALLS);
	ck_assert(answer.kkt < 1e-10);
}
END_TEST

/* ---- generated stacks ------------------------------------------------------------------------ */

/* Whether the linear program finds forces ≥ 0 along the edges that balance all bodies. */
static bool program_balances(const struct towers *towers)
{
	const struct statics_problem *problem = &towers->problem;
	uint32_t rows = 3 * problem->body_count, columns = 0, at = 0, column = 0;
	for (uint32_t p = 0; p < problem->point_count; p++)
		columns += statics_edge_count(problem, &problem->points[p]);
	uint32_t *starts = calloc(columns + 1, sizeof *starts);
	uint32_t *index = calloc(6 * columns + 1, sizeof *index);
	double *values = calloc(6 * columns + 1, sizeof *values);
	double *zero = calloc(2 * columns + 2 * rows + 2, sizeof *zero);
	double *high = zero + columns, *sides = high + columns;
	struct lp_sizes sizes = { rows, columns, 6 * columns, 0 };
	size_t bytes = lp_dual_simplex_bytes(sizes);
	void *memory = aligned_alloc(64, bytes);
	double *solution = calloc(columns + rows + 1, sizeof *solution);
	uint8_t *places = calloc(columns + rows + 1, 1);
	ck_assert(starts != NULL && index != NULL && values != NULL && zero != NULL &&
		  memory != NULL && solution != NULL && places != NULL);
	for (uint32_t p = 0; p < problem->point_count; p++) {
		const struct statics_point *point = &problem->points[p];
		for (uint32_t k = 0; k < statics_edge_count(problem, point); k++) {
			vec3 edge = statics_edge(problem, point, k);
			starts[column] = at;
			high[column++] = LP_INFINITY;
			for (uint32_t side = 0; side < 2; side++) {
				/* Rows ascend: a stands below b, or is the floor. */
				uint32_t body = side == 0 ? point->a : point->b;
				vec3 arm = side == 0 ? point->arm_a : point->arm_b;
				double sign = side == 0 ? -1 : 1;
				if (body == ROW_NO_BODY)
					continue;
				const double v[3] = { sign * edge.x, sign * edge.y,
						      sign * vec3_cross(arm, edge).z };
				for (uint32_t i = 0; i < 3; i++, at++) {
					index[at] = 3 * body + i;
					values[at] = v[i];
				}
			}
		}
	}
	starts[column] = at;
	for (uint32_t i = 0; i < problem->body_count; i++)
		sides[3 * i + 1] = -towers->loads[i].linear.y;
	struct lp_problem lp = { .matrix = { rows, columns, starts, index, values },
				 .cost = zero,
				 .column_low = zero,
				 .column_high = high,
				 .row_low = sides,
				 .row_high = sides };
	struct lp_solution out = { solution, solution + columns, places };
	struct solver_options options = solver_options_default();
	struct lp_dual_simplex solver;
	lp_dual_simplex_init(&solver, memory, sizes);
	enum solver_status status = lp_dual_simplex_solve(&solver, &lp, &options, &out).status;
	ck_assert(status == SOLVER_SOLVED || status == SOLVER_INFEASIBLE);
	free(starts);
	free(index);
	free(values);
	free(zero);
	free(memory);
	free(solution);
	free(places);
	return status == SOLVER_SOLVED;
}

START_TEST(the_residual_and_the_program_agree_on_generated_stacks)
{
	struct rng rng = rng_seeded(check_seed() + (uint64_t)_i);
	uint32_t falling = 0;
	for (uint32_t round = 0; round < STACKS / PARTS; round++) {
		struct towers towers = bricks(round % 2 == 0 ? 0 : 0.6);
		struct equilibrium found;
		towers_random(&towers, &rng, 2 + rng_below(&rng, 6), 5);
		struct stability_answer answer = answer_of(&towers, &found);
		ck_assert_int_ne(answer.verdict, STABILITY_UNDECIDED);
		ck_assert_msg(answer.kkt <= 1e-10 && answer.gap <= 1e-10, "kkt %g, gap %g",
			      answer.kkt, answer.gap);
		ck_assert_int_eq(answer.verdict != STABILITY_FALLS, program_balances(&towers));
		if (answer.verdict != STABILITY_FALLS)
			ck_assert(imbalance(&towers, &found) < 1e-9);
		falling += answer.verdict == STABILITY_FALLS;
		equilibrium_release(&found);
		towers_release(&towers);
	}
	ck_assert(falling > 0 && falling < STACKS / PARTS);
}
END_TEST

/* Parts that have nothing to do with each other, one by one: the verdict and the accelerations of all of
 * them together. Bricks at random places make several stacks, of which some fall. */
START_TEST(parts_give_the_answer_of_the_whole)
{
	struct rng rng = rng_seeded(check_seed() + 77);
	uint32_t several = 0, compared = 0;
	for (uint32_t round = 0; round < 60; round++) {
		struct towers towers = bricks(round % 2 == 0 ? 0 : 0.6);
		struct equilibrium whole, pieces;
		struct stability_answer answer;
		struct statics_parts parts;
		towers_random(&towers, &rng, 1 + rng_below(&rng, 4), 8);
		ck_assert_int_eq(statics_parts_init(&parts, &towers.problem), STATUS_OK);
		several += parts.count > 1;
		statics_parts_release(&parts);
		struct stability_answer together = answer_of(&towers, &whole);
		ck_assert_int_eq(equilibrium_init(&pieces, &towers.problem), STATUS_OK);
		ck_assert_int_eq(stability_of_parts(&pieces, towers.loads, &answer), STATUS_OK);
		ck_assert_int_eq(answer.verdict, together.verdict);
		ck_assert_double_eq_tol(answer.residual, together.residual, 1e-9);
		ck_assert_double_le(answer.kkt, 1e-10);
		if (answer.verdict != STABILITY_FALLS)
			ck_assert(imbalance(&towers, &pieces) < 1e-9);
		for (uint32_t i = 0; i < towers.count && answer.law == together.law; i++) {
			struct spatial a = pieces.acceleration[i], b = whole.acceleration[i];
			ck_assert_double_le(vec3_distance(a.linear, b.linear), 1e-9);
			ck_assert_double_le(vec3_distance(a.angular, b.angular), 1e-8);
			compared++;
		}
		equilibrium_release(&whole);
		equilibrium_release(&pieces);
		towers_release(&towers);
	}
	ck_assert_uint_gt(several, 10);
	ck_assert_uint_gt(compared, 100);
}
END_TEST

START_TEST(the_verdict_is_the_same_in_any_unit_and_density)
{
	static const double lengths[] = { 1e-6, 1e-3, 1, 1e3 };
	static const double densities[] = { 1e-6, 1, 1e9 };
	static const double factors[] = { 1, 1.0001 };
	for (uint32_t k = 0; k < 24; k++) {
		struct towers towers;
		double size = lengths[k % 4];
		towers_init(&towers, size, 0.25 * size, densities[k / 4 % 3],
			    _i == 0 ? 9.81 : 1e-3);
		towers_harmonic(&towers, 12, factors[k / 12]);
		struct stability_answer answer = verdict_of(&towers);
		ck_assert_msg(answer.verdict == (k < 12 ? STABILITY_STANDS : STABILITY_FALLS),
			      "size %g m, %g kg/m2: %d, residual %g", size, densities[k / 4 % 3],
			      answer.verdict, answer.residual);
	}
}
END_TEST

START_TEST(a_symmetric_tower_falls_symmetrically)
{
	struct towers towers = bricks(_i == 0 ? 0 : 0.3);
	struct equilibrium found;
	towers_diamond(&towers, 6);
	struct stability_answer answer = answer_of(&towers, &found);
	ck_assert_int_eq(answer.verdict, STABILITY_FALLS);
	for (uint32_t i = 0; i < towers.count; i++)
		for (uint32_t k = 0; k < towers.count; k++) {
			if (towers.bricks[i].row != towers.bricks[k].row ||
			    towers.bricks[i].x != -towers.bricks[k].x)
				continue;
			const struct spatial *a = &found.acceleration[i],
					     *b = &found.acceleration[k];
			ck_assert(fabs(a->linear.y - b->linear.y) < 1e-9);
			ck_assert(fabs(a->linear.x + b->linear.x) < 1e-9);
			ck_assert(fabs(a->angular.z + b->angular.z) < 1e-9);
		}
	equilibrium_release(&found);
	towers_release(&towers);
}
END_TEST

/* ---- friction -------------------------------------------------------------------------------- */

/* One brick that touches fixed bodies at `points`. */
static void one_brick(struct towers *towers, const struct statics_point *points, uint32_t count)
{
	*towers = bricks(0);
	towers_brick(towers, 0, 0);
	towers_make(towers);
	towers->points = realloc(towers->points, count * sizeof *points);
	ck_assert_ptr_nonnull(towers->points);
	memcpy(towers->points, points, count * sizeof *points);
	towers->problem.points = towers->points;
	towers->problem.point_count = count;
}

static struct statics_point fixed_point(double x, double y, double nx, double ny, double friction)
{
	double length = hypot(nx, ny);
	return (struct statics_point){ .a = ROW_NO_BODY,
				       .b = 0,
				       .arm_b = vec3_make(x, y, 0),
				       .normal = vec3_make(nx / length, ny / length, 0),
				       .friction = friction };
}

START_TEST(a_brick_on_a_slope_slides_beyond_the_angle_of_friction)
{
	static const double slopes[] = { 0.2, 0.39999, 0.40001, 0.6 };
	double slope = slopes[_i], c = 1 / hypot(1, slope), s = slope * c;
	struct statics_point points[2];
	struct towers towers;
	for (uint32_t k = 0; k < 2; k++) {
		double x = k == 0 ? -0.5 : 0.5;
		points[k] = fixed_point(c * x + s * 0.125, s * x - c * 0.125, -s, c, 0.4);
	}
	one_brick(&towers, points, 2);
	struct stability_answer answer = verdict_of(&towers);
	ck_assert_int_eq(answer.verdict, _i < 2 ? STABILITY_STANDS : STABILITY_FALLS);
	if (_i >= 2)
		ck_assert_int_eq(answer.law, STABILITY_COULOMB);
}
END_TEST

/* lean: of the walls' normals; > 0: they carry the wedge when it sinks, < 0: it slips out below. */
START_TEST(a_wedge_that_only_pressure_holds_may_stand)
{
	static const struct {
		double lean, friction;
		enum stability_verdict verdict;
	} cases[] = {
		{ 0, 0.6, STABILITY_MAY_STAND }, { -0.2, 0.6, STABILITY_MAY_STAND },
		{ 0.2, 0.6, STABILITY_STANDS },	 { 0.2, 0, STABILITY_STANDS },
		{ -0.2, 0.1, STABILITY_FALLS },	 { 0, 0, STABILITY_FALLS },
		{ 0.01, 0.6, STABILITY_STANDS },
	};
	struct statics_point points[4];
	struct towers towers;
	for (uint32_t k = 0; k < 4; k++) {
		double side = k < 2 ? -1 : 1, up = k % 2 == 0 ? -0.125 : 0.125;
		points[k] = fixed_point(side * (0.5 + cases[_i].lean * up), up, -side,
					cases[_i].lean, cases[_i].friction);
	}
	one_brick(&towers, points, 4);
	struct equilibrium found;
	struct stability_answer answer = answer_of(&towers, &found);
	ck_assert_msg(answer.verdict == cases[_i].verdict, "%d, residual %g, witness %g",
		      answer.verdict, answer.residual, answer.witness);
	if (answer.verdict != STABILITY_FALLS)
		ck_assert(imbalance(&towers, &found) < 1e-9);
	equilibrium_release(&found);
	towers_release(&towers);
}
END_TEST

/* ---- margins --------------------------------------------------------------------------------- */

static struct stability_bounds bounds_of(const struct towers *towers, const struct spatial *more)
{
	struct equilibrium found;
	struct stability_bounds bounds;
	ck_assert_int_eq(equilibrium_init(&found, &towers->problem), STATUS_OK);
	ck_assert_int_eq(equilibrium_ready(&found), STATUS_OK);
	ck_assert_int_eq(stability_bounds_of(&found, towers->loads, more, &bounds), STATUS_OK);
	equilibrium_release(&found);
	return bounds;
}

static bool is_near(double value, double expected)
{
	return fabs(value - expected) <= 2 * STABILITY_WIDTH * expected;
}

START_TEST(one_brick_tips_at_width_over_height_or_slides_at_its_friction)
{
	static const double shapes[][2] = { { 1, 0.25 }, { 0.3, 1 }, { 0.5, 0.5 } };
	for (uint32_t k = 0; k < 3; k++) {
		struct towers towers;
		double w = shapes[k][0], h = shapes[k][1];
		double friction = _i == 0 ? 10 : 0.2, limit = fmin(w / h, friction);
		towers_init(&towers, w, h, 1, 9.81);
		towers.friction = friction;
		towers_brick(&towers, 0, 0);
		towers_make(&towers);
		double weight = towers.mass * towers.gravity;
		struct spatial tilt = { vec3_make(weight, 0, 0), vec3_zero() };
		struct stability_bounds bounds = bounds_of(&towers, &tilt);
		ck_assert_msg(is_near(bounds.lower, limit) && is_near(bounds.upper, limit) &&
				      is_near(bounds.stands, limit),
			      "%g: %.12g … %.12g, %.12g", limit, bounds.lower, bounds.upper,
			      bounds.stands);
		towers_release(&towers);
	}
}
END_TEST

START_TEST(a_load_at_the_end_of_a_stack_has_its_margin_or_none)
{
	/* A brick that overhangs by a quarter bears any load over the one below it; the stack that
	 * it stands on bears a load at its end of as much as balances about the edge. */
	struct towers towers = bricks(0);
	towers_brick(&towers, 0, 0);
	towers_brick(&towers, 0.25, 1);
	towers_make(&towers);
	struct spatial more[2] = { { vec3_zero(), vec3_zero() },
				   { vec3_make(0, -1, 0), vec3_zero() } };
	struct stability_bounds bounds = bounds_of(&towers, more);
	ck_assert(isinf(bounds.lower) && isinf(bounds.upper) && isinf(bounds.stands));
	/* At its outer end: weight × 0.25 against load × 0.25. */
	more[1].angular = vec3_make(0, 0, -0.5);
	bounds = bounds_of(&towers, more);
	double weight = towers.mass * towers.gravity;
	ck_assert(is_near(bounds.lower, weight) && is_near(bounds.upper, weight));
	ck_assert(is_near(bounds.stands, weight));
	towers_release(&towers);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("stability");
	TCase *tests = tcase_create("stability");
	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, the_inverted_triangle_begins_to_fall_as_published);
	tcase_add_test(tests, accelerations_of_a_diamond_are_fractions);
	tcase_add_loop_test(tests, triangles_stand_to_two_and_diamonds_to_four, 1, 8);
	tcase_add_loop_test(tests, harmonic_stacks_stand_at_their_limit_and_not_beyond, 0, 5);
	tcase_add_loop_test(tests, the_residual_and_the_program_agree_on_generated_stacks, 0,
			    PARTS);
	tcase_add_test(tests, parts_give_the_answer_of_the_whole);
	tcase_add_loop_test(tests, the_verdict_is_the_same_in_any_unit_and_density, 0, 2);
	tcase_add_loop_test(tests, a_symmetric_tower_falls_symmetrically, 0, 2);
	tcase_add_loop_test(tests, a_brick_on_a_slope_slides_beyond_the_angle_of_friction, 0, 4);
	tcase_add_loop_test(tests, a_wedge_that_only_pressure_holds_may_stand, 0, 7);
	tcase_add_loop_test(tests, one_brick_tips_at_width_over_height_or_slides_at_its_friction, 0,
			    2);
	tcase_add_test(tests, a_load_at_the_end_of_a_stack_has_its_margin_or_none);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
