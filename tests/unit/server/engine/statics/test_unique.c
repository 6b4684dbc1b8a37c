/* Which forces of an answer are the only ones possible, and the representative of the others: against
 * closed forms, and against the ranges that linear programs find (papers R-12, S-01). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/base/rng.h"
#include "server/engine/solvers/lp_dual_simplex.h"
#include "server/engine/statics/uniqueness.h"
#include "tests/lib/check_main.h"
#include "tests/lib/frames.h"
#include "tests/lib/near.h"
#include "tests/lib/towers.h"

enum { FORCES_MAX = 256, SUMS_MAX = 96, STACKS = 24 };

/* ---- bars -------------------------------------------------------------------------------------- */

static void pin(struct world *world, body_id body)
{
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_SPHERICAL;
	joint.joint_create.body_a = body;
	joint.joint_create.point_b = test_body(world, body).position;
	test_do(world, &joint);
}

/* A square of four points of 1 kg, two of them pinned, with three sides and one or two diagonals. */
static struct stability_view ask_square(bool both)
{
	static const uint8_t BARS[5][2] = { { 0, 2 }, { 1, 3 }, { 2, 3 }, { 0, 3 }, { 1, 2 } };
	struct world *world = frame_world();
	struct stability_query query = { .sides = 8, .direction = { 1, 0, 0 } };
	struct stability_view view;
	struct reason why = { 0 };
	body_id points[4];
	for (uint32_t i = 0; i < 4; i++)
		points[i] = frame_put(world, TEST_SHAPES, vec3_make(i % 2, 3.0 + i / 2, 0),
				      BODY_DYNAMIC, 1);
	pin(world, points[0]);
	pin(world, points[1]);
	for (uint32_t i = 0; i < (both ? 5 : 4); i++)
		frame_bar(world, points[BARS[i][0]], points[BARS[i][1]]);
	ck_assert_int_eq(world_stability(world, &query, &view, &why), STATUS_OK);
	ck_assert_int_eq(view.verdict, STABILITY_STANDS);
	world_destroy(world);
	return view;
}

START_TEST(bars_of_a_determinate_frame_have_unique_forces)
{
	struct stability_view view = ask_square(false);
	ck_assert_uint_eq(view.joints, 6);
	ck_assert_uint_eq(view.known, FORCE_UNIQUE);
	ck_assert_uint_eq(view.open, 0);
	for (uint32_t i = 0; i < view.joints; i++)
		ck_assert_uint_eq(view.loaded[i].known, FORCE_UNIQUE);
	stability_view_release(&view);
}
END_TEST

/* Tension t in the sides, −√2 t in the diagonals and ±t across the pins balance for any t. A bar
 * between two points of 1 kg weighs 2 in the norm, a pin's row 1: of 2 (2 (t − g)² + t² + 4 t²) + 2 t²
 * the least is at t = g / 4. */
START_TEST(a_redundant_bar_makes_forces_not_unique_and_of_least_norm)
{
	struct stability_view view = ask_square(true);
	const double g = 9.81, t = g / 4, root = sqrt(2.0);
	const double sizes[7] = { 0, 0, g - t, g - t, t, root * t, root * t };
	ck_assert_uint_eq(view.joints, 7);
	ck_assert_uint_eq(view.known, FORCE_LEAST_NORM);
	ck_assert_uint_eq(view.open, 7);
	for (uint32_t i = 0; i < 7; i++) {
		ck_assert_uint_eq(view.loaded[i].known, FORCE_LEAST_NORM);
		if (i >= 2)
			ck_assert_double_eq_tol(vec3_length(view.loaded[i].force), sizes[i], 1e-8);
	}
	for (uint32_t i = 0; i < 2; i++) {
		ck_assert_double_eq_tol(fabs(view.loaded[i].force.x), t, 1e-8);
		ck_assert_double_eq_tol(fabs(view.loaded[i].force.y), 2 * g, 1e-8);
	}
	stability_view_release(&view);
}
END_TEST

/* ---- one body ---------------------------------------------------------------------------------- */

static struct statics_point point_at(vec3 arm, vec3 normal, double friction)
{
	return (struct statics_point){
		.a = ROW_NO_BODY, .b = 0, .arm_b = arm, .normal = normal, .friction = friction
	};
}

/* What is known of the forces at the points of a cube of 1 kg and 1 m. */
static void know(const struct statics_point *points, uint32_t count, bool planar, uint8_t *known)
{
	struct statics_body body = { .gyration = 0.4 };
	struct spatial load = { { 0, -10, 0 }, { 0, 0, 0 } };
	struct statics_problem problem = { .bodies = &body,
					   .points = points,
					   .body_count = 1,
					   .point_count = count,
					   .planar = planar,
					   .sides = planar ? 2 : 8 };
	struct equilibrium found;
	for (uint32_t i = 0; i < 6; i++)
		if (!planar || i < 2 || i == 5)
			body.mass_inv[i][i] = i < 3 ? 1 : 6;
	ck_assert_int_eq(equilibrium_init(&found, &problem), STATUS_OK);
	ck_assert_int_eq(equilibrium_ready(&found), STATUS_OK);
	struct stability_answer answer = stability_of(&found, &load);
	ck_assert_int_eq(answer.verdict, STABILITY_STANDS);
	ck_assert_int_eq(uniqueness_find(&found, answer.law), STATUS_OK);
	memcpy(known, found.known, count);
	equilibrium_release(&found);
}

/* Walls may press on both sides of it, though nothing presses now; the floor bears its weight. */
START_TEST(pressure_that_nothing_builds_up_is_not_unique)
{
	const struct statics_point points[4] = {
		point_at(vec3_make(-0.5, -0.5, 0), vec3_make(0, 1, 0), 0),
		point_at(vec3_make(0.5, -0.5, 0), vec3_make(0, 1, 0), 0),
		point_at(vec3_make(-0.5, 0, 0), vec3_make(1, 0, 0), 0),
		point_at(vec3_make(0.5, 0, 0), vec3_make(-1, 0, 0), 0),
	};
	uint8_t known[4];
	know(points, 4, true, known);
	ck_assert_uint_eq(known[0], FORCE_UNIQUE);
	ck_assert_uint_eq(known[1], FORCE_UNIQUE);
	ck_assert_uint_eq(known[2], FORCE_LEAST_NORM);
	ck_assert_uint_eq(known[3], FORCE_LEAST_NORM);
	/* One wall alone cannot press. */
	know(points, 3, true, known);
	ck_assert_uint_eq(known[2], FORCE_UNIQUE);
}
END_TEST

/* Three legs are determinate, four are not, and with friction three are not either. */
START_TEST(three_legs_are_unique_and_four_are_not)
{
	const double friction = _i == 1 ? 0.5 : 0;
	struct statics_point points[4];
	uint8_t known[4];
	for (uint32_t i = 0; i < 4; i++)
		points[i] = point_at(vec3_make(i % 2 ? 0.5 : -0.5, -0.5, i / 2 ? 0.5 : -0.5),
				     vec3_make(0, 1, 0), friction);
	know(points, 4, false, known);
	for (uint32_t i = 0; i < 4; i++)
		ck_assert_uint_eq(known[i], friction > 0 ? FORCE_AS_FOUND : FORCE_LEAST_NORM);
	points[0].arm_b = vec3_make(0, -0.5, -0.3);
	points[1] = points[3];
	know(points, 3, false, known);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(known[i], friction > 0 ? FORCE_AS_FOUND : FORCE_UNIQUE);
}
END_TEST

/* ---- ranges by linear programs ----------------------------------------------------------------- */

struct program {
	uint32_t columns, rows, starts[FORCES_MAX + 1], index[6 * FORCES_MAX];
	double values[6 * FORCES_MAX], low[FORCES_MAX], high[FORCES_MAX], cost[FORCES_MAX];
	double sides_low[SUMS_MAX], sides_high[SUMS_MAX], x[FORCES_MAX], dual[SUMS_MAX];
	uint8_t places[FORCES_MAX + SUMS_MAX];
	void *memory;
	struct lp_sizes sizes;
};

/* All λ that push every body as the answer's do, 0 where a contact breaks; below `most`. */
static void make_program(const struct equilibrium *found, double most, struct program *out)
{
	uint32_t bodies = found->problem->body_count, at = 0;
	double sums[SUMS_MAX] = { 0 };
	*out = (struct program){ .columns = found->rows, .rows = 3 * bodies };
	ck_assert(out->columns <= FORCES_MAX && out->rows <= SUMS_MAX);
	for (uint32_t i = 0; i < found->rows; i++) {
		uint32_t first = found->start[i], count = found->start[i + 1] - first;
		bool swapped = count == 2 && found->body[first] > found->body[first + 1];
		bool opens = equilibrium_row_parting(found, i) > 1e-8 * found->scale;
		out->starts[i] = at;
		out->high[i] = opens ? 0 : most;
		for (uint32_t e = 0; e < count; e++) {
			uint32_t entry = first + (swapped ? count - 1 - e : e);
			for (uint32_t k = 0; k < 3; k++, at++) {
				out->index[at] = 3 * found->body[entry] + k;
				out->values[at] = found->jacobian[entry][k < 2 ? k : 5];
				sums[out->index[at]] += out->values[at] * found->lambda[i];
			}
		}
	}
	out->starts[found->rows] = at;
	for (uint32_t r = 0; r < out->rows; r++) {
		out->sides_low[r] = sums[r] - 1e-10 * most;
		out->sides_high[r] = sums[r] + 1e-10 * most;
	}
	out->sizes = (struct lp_sizes){ out->rows, out->columns, at, 0 };
	out->memory = malloc(lp_dual_simplex_bytes(out->sizes) + 64);
	ck_assert_ptr_nonnull(out->memory);
}

/* The least value of the cost, with its λ in x. */
static double least_of(struct program *self)
{
	struct lp_problem problem = {
		.matrix = { self->rows, self->columns, self->starts, self->index, self->values },
		.cost = self->cost,
		.column_low = self->low,
		.column_high = self->high,
		.row_low = self->sides_low,
		.row_high = self->sides_high,
	};
	struct lp_solution out = { self->x, self->dual, self->places };
	struct solver_options options = solver_options_default();
	struct lp_dual_simplex solver;
	void *memory = (void *)(((uintptr_t)self->memory + 63) & ~(uintptr_t)63);
	options.tolerance = 1e-9;
	lp_dual_simplex_init(&solver, memory, self->sizes);
	ck_assert_int_eq(lp_dual_simplex_solve(&solver, &problem, &options, &out).status,
			 SOLVER_SOLVED);
	return lp_objective(&problem, self->x);
}

/* The width of what a component of a point's force may be: normal (0) or friction along the tangent. */
static double width_of(const struct equilibrium *found, struct program *program, uint32_t point,
		       uint32_t part)
{
	double width = 0;
	uint32_t first = found->first[point];
	for (uint32_t side = 0; side < 2; side++) {
		memset(program->cost, 0, sizeof program->cost);
		for (uint32_t i = first; i < found->first[point + 1]; i++)
			program->cost[i] =
				(side == 0 ? 1 : -1) * (part == 0 || i == first ? 1 : -1);
		width -= least_of(program);
	}
	return width;
}

/* λ of the representative is nearest to 0: no other λ of the set is nearer in the direction to it. */
static void expect_least(const struct equilibrium *found, const struct program *program)
{
	double sum = 0, size = 0;
	for (uint32_t i = 0; i < found->rows; i++) {
		double own = found->softness[i] * found->lambda[i];
		sum += own * (program->x[i] - found->lambda[i]);
		size += fabs(own * program->x[i]);
	}
	ck_assert_double_ge(sum, -1e-6 * size);
}

static void expect_ranges(struct towers *towers, uint32_t count[2])
{
	struct equilibrium found;
	struct program program;
	const double weight = towers->mass * towers->gravity * towers->count;
	ck_assert_int_eq(equilibrium_init(&found, &towers->problem), STATUS_OK);
	ck_assert_int_eq(equilibrium_ready(&found), STATUS_OK);
	struct stability_answer answer = stability_of(&found, towers->loads);
	make_program(&found, 10 * weight, &program);
	ck_assert_int_eq(uniqueness_find(&found, answer.law), STATUS_OK);
	for (uint32_t p = 0; p < towers->problem.point_count; p++) {
		uint32_t parts = found.first[p + 1] - found.first[p] > 1 ? 2 : 1;
		double width = 0;
		for (uint32_t part = 0; part < parts; part++)
			width = fmax(width, width_of(&found, &program, p, part));
		bool unique = found.known[p] == FORCE_UNIQUE;
		ck_assert_uint_ne(found.known[p], FORCE_NOT_DETERMINED);
		ck_assert_msg(unique == (width <= 1e-6 * weight),
			      "point %u: known %u, the forces range over %g of %g", p,
			      found.known[p], width, weight);
		if (found.known[p] == FORCE_LEAST_NORM)
			expect_least(&found, &program);
		count[unique]++;
	}
	free(program.memory);
	equilibrium_release(&found);
}

START_TEST(what_is_known_agrees_with_the_ranges_of_programs)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t count[2] = { 0, 0 };
	for (uint32_t i = 0; i < STACKS; i++) {
		struct towers towers;
		towers_init(&towers, 1, 0.25, 4, 1);
		towers.friction = _i == 1 ? 0.3 : 0;
		towers_random(&towers, &rng, 2 + i % 3, 4);
		if (towers.problem.point_count > 0)
			expect_ranges(&towers, count);
		towers_release(&towers);
	}
	ck_assert_uint_gt(count[0], 20);
	ck_assert_uint_gt(count[1], 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("unique");
	TCase *tcase = tcase_create("unique");
	tcase_add_test(tcase, bars_of_a_determinate_frame_have_unique_forces);
	tcase_add_test(tcase, a_redundant_bar_makes_forces_not_unique_and_of_least_norm);
	tcase_add_test(tcase, pressure_that_nothing_builds_up_is_not_unique);
	tcase_add_loop_test(tcase, three_legs_are_unique_and_four_are_not, 0, 2);
	tcase_add_loop_test(tcase, what_is_known_agrees_with_the_ranges_of_programs, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
