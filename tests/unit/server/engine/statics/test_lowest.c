/* The state of lowest potential energy of a stack (seed `000`, §9): plates that sink and turn, against
 * closed forms; that energy can fall exactly where there are no forces that hold the stack. */
#include <math.h>

#include "server/base/rng.h"
#include "server/engine/statics/lowest.h"
#include "tests/lib/check_main.h"
#include "tests/lib/towers.h"

enum { MOST = 64, STACKS = 300 };

static struct lowest_plate brick(double x, double bottom)
{
	return (struct lowest_plate){ .x = x,
				      .weight = 1,
				      .bottom = bottom,
				      .top = bottom + 0.25,
				      .under = { x - 0.5, x + 0.5 },
				      .above = { x - 0.5, x + 0.5 } };
}

static struct lowest_plate floor_to(double left, double right)
{
	return (struct lowest_plate){ .bottom = -1,
				      .top = 0,
				      .under = { left, right },
				      .above = { left, right },
				      .fixed = true };
}

static struct lowest_outcome lower(const struct lowest_plate *plates, uint32_t count,
				   struct lowest_motion *out)
{
	struct lowest_outcome outcome;
	uint32_t pair[2];
	const struct lowest_problem problem = { .plates = plates, .count = count };
	ck_assert_int_eq(lowest_find(&problem, out, &outcome, pair), STATUS_OK);
	ck_assert(outcome.solved);
	ck_assert_double_le(outcome.residual, 1e-10);
	return outcome;
}

/* It turns about the end of the lower one until its own end is on the floor: slope 0.25 / 0.9. */
START_TEST(a_brick_beyond_an_edge_leans_on_the_floor)
{
	struct lowest_plate plates[3] = { floor_to(-9, 9), brick(0, 0), brick(0.6, 0.25) };
	struct lowest_motion motions[3];
	plates[1].fixed = true;
	struct lowest_outcome found = lower(plates, 3, motions);
	/* The right end, 1.1, goes down by the height of the step over the arm from the edge at 0.5. */
	double slope = -0.25 / 0.6;
	ck_assert_double_le(fabs(motions[2].slope - slope), 1e-9);
	ck_assert_double_le(fabs(motions[2].rise - 0.1 * slope), 1e-9);
	ck_assert_double_le(fabs(found.drop + 0.1 * slope), 1e-9);
	ck_assert_uint_eq(found.limited, 0);
}
END_TEST

/* A brick whose centre is supported stays; without a floor one that is not has no lowest state. */
START_TEST(what_stands_stays_and_what_falls_for_ever_is_counted)
{
	struct lowest_plate plates[2] = { floor_to(-9, 0), brick(-0.01, 0) };
	struct lowest_motion motions[2];
	struct lowest_outcome found = lower(plates, 2, motions);
	ck_assert_double_eq(found.drop, 0);
	plates[1] = brick(0.01, 0);
	found = lower(plates, 2, motions);
	ck_assert_uint_eq(found.limited, 1);
	plates[1] = brick(5, 3);
	found = lower(plates, 2, motions);
	ck_assert_uint_eq(found.limited, 1);
}
END_TEST

/* The plates of a tower, on a floor. */
static uint32_t plates_of(const struct towers *towers, struct lowest_plate *out)
{
	out[0] = floor_to(-100, 100);
	for (uint32_t i = 0; i < towers->count; i++) {
		out[1 + i] = brick(towers->bricks[i].x, 0.25 * towers->bricks[i].row);
		out[1 + i].weight = 1 + (i % 3);
	}
	return towers->count + 1;
}

/* inverted triangles of three rows and more have a lower state, with the ground below all. */
START_TEST(an_inverted_triangle_ends_lower)
{
	struct towers towers;
	struct lowest_plate plates[MOST];
	struct lowest_motion motions[MOST];
	towers_init(&towers, 1, 0.25, 4, 1);
	towers_triangle(&towers, (uint32_t)_i);
	uint32_t count = plates_of(&towers, plates);
	for (uint32_t i = 1; i < count; i++)
		plates[i].weight = 1;
	struct lowest_outcome found = lower(plates, count, motions);
	if (_i <= 2)
		ck_assert_double_le(found.drop, 1e-9);
	else
		ck_assert_double_gt(found.drop, 1e-2);
	ck_assert_uint_eq(found.limited, 0);
	towers_release(&towers);
}
END_TEST

/* Whether forces hold a tower of bricks of these weights, without friction. */
static bool stands(struct towers *towers, const struct lowest_plate *plates)
{
	struct equilibrium found;
	for (uint32_t i = 0; i < towers->count; i++) {
		double weight = plates[1 + i].weight;
		towers->loads[i].linear.y = -weight;
	}
	ck_assert_int_eq(equilibrium_init(&found, &towers->problem), STATUS_OK);
	ck_assert_int_eq(equilibrium_ready(&found), STATUS_OK);
	struct stability_answer answer = stability_of(&found, towers->loads);
	equilibrium_release(&found);
	return answer.verdict == STABILITY_STANDS;
}

START_TEST(energy_falls_exactly_where_no_forces_hold)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t falling = 0;
	for (uint32_t n = 0; n < STACKS; n++) {
		struct towers towers;
		struct lowest_plate plates[MOST];
		struct lowest_motion motions[MOST];
		towers_init(&towers, 1, 0.25, 4, 1);
		uint32_t rows = 2 + rng_below(&rng, 5);
		for (uint32_t row = 0; row < rows; row++) {
			double x = rng_range(&rng, -0.5, 0.5);
			uint32_t bricks = 1 + rng_below(&rng, 3);
			for (uint32_t i = 0; i < bricks; i++) {
				towers_brick(&towers, x, row);
				x += rng_range(&rng, 1.01, 1.4);
			}
		}
		towers_make(&towers);
		uint32_t count = plates_of(&towers, plates);
		struct lowest_outcome found = lower(plates, count, motions);
		bool stays = found.drop <= 1e-8;
		ck_assert_msg(stays == stands(&towers, plates), "stack %u drops by %g", n,
			      found.drop);
		falling += !stays;
		towers_release(&towers);
	}
	ck_assert_uint_gt(falling, STACKS / 10);
	ck_assert_uint_lt(falling, STACKS - STACKS / 10);
}
END_TEST

/* ---- space ------------------------------------------------------------------------------------- */

/* Boxes of the plates' widths and of this depth, along x or (turned) along z; corners: 8 a plate. */
static void deepen(struct lowest_plate *plates, uint32_t count, double depth, bool turned,
		   double (*corners)[2])
{
	for (uint32_t i = 0; i < count; i++) {
		struct lowest_plate *plate = &plates[i];
		for (uint32_t face = 0; face < 2; face++) {
			double(*to)[2] = corners + 8 * i + 4 * face;
			const double *ends = face == 0 ? plate->under : plate->above;
			const double x[4] = { ends[0], ends[1], ends[1], ends[0] };
			for (uint32_t k = 0; k < 4; k++) {
				double z = (k < 2 ? -0.5 : 0.5) * depth;
				to[k][0] = turned ? -z : x[k];
				to[k][1] = turned ? x[k] : z;
			}
			*(face == 0 ? &plate->bottom_face : &plate->top_face) =
				(struct lowest_face){ (const double(*)[2])to, 4 };
		}
		if (!turned)
			continue;
		plate->z = plate->x;
		plate->x = 0;
		plate->under[0] = plate->above[0] = -0.5 * depth;
		plate->under[1] = plate->above[1] = 0.5 * depth;
	}
}

static struct lowest_outcome lower_in_space(const struct lowest_plate *plates, uint32_t count,
					    const struct lowest_tie *ties, uint32_t tie_count,
					    struct lowest_motion *out)
{
	struct lowest_outcome outcome;
	const struct lowest_problem problem = { plates, ties, count, tie_count, true };
	uint32_t pair[2];
	ck_assert_int_eq(lowest_find(&problem, out, &outcome, pair), STATUS_OK);
	ck_assert(outcome.solved);
	ck_assert_double_le(outcome.residual, 1e-10);
	return outcome;
}

/* Boxes of one depth end as low as in the plane, along whatever axis. */
START_TEST(boxes_of_one_depth_reproduce_the_plane)
{
	struct rng rng = rng_seeded(check_seed());
	uint32_t falling = 0;
	for (uint32_t n = 0; n < 60; n++) {
		struct towers towers;
		struct lowest_plate plates[MOST];
		struct lowest_motion motions[MOST], deep[MOST];
		double corners[8 * MOST][2];
		towers_init(&towers, 1, 0.25, 4, 1);
		towers_random(&towers, &rng, 2 + n % 4, 3);
		uint32_t count = plates_of(&towers, plates);
		struct lowest_outcome flat = lower(plates, count, motions);
		deepen(plates, count, 1.3, n % 2 == 1, corners);
		struct lowest_outcome found = lower_in_space(plates, count, NULL, 0, deep);
		ck_assert_double_eq_tol(found.drop, flat.drop, 1e-8);
		falling += flat.drop > 1e-3;
		towers_release(&towers);
	}
	ck_assert_uint_gt(falling, 10);
}
END_TEST

/* A square whose corner alone is supported turns about both axes, until its far corner is on the floor. */
START_TEST(a_plate_over_a_corner_slopes_both_ways)
{
	struct lowest_plate plates[3] = { floor_to(-9, 9), brick(0, 0), brick(0.6, 0.25) };
	struct lowest_motion motions[3];
	double corners[24][2];
	plates[1].fixed = true;
	deepen(plates, 3, 1, false, corners);
	deepen(plates, 1, 18, false, corners);
	/* The upper one is over the quadrant x, z > 0 of the lower one's corner at (0.5, 0.5). */
	for (uint32_t k = 16; k < 24; k++)
		corners[k][1] += 0.6;
	plates[2].z = 0.6;
	struct lowest_outcome found = lower_in_space(plates, 3, NULL, 0, motions);
	ck_assert_double_gt(found.drop, 1e-3);
	ck_assert_double_lt(motions[2].slope + motions[2].across, -1e-3);
	/* The far corner is on the floor, and the supporting one on the brick. */
	double far = motions[2].rise + 0.5 * (motions[2].slope + motions[2].across);
	double near = motions[2].rise - 0.1 * (motions[2].slope + motions[2].across);
	ck_assert_double_ge(far, -0.25 - 1e-9);
	ck_assert_double_ge(near, -1e-9);
	ck_assert_double_eq_tol(found.drop, -motions[2].rise, 1e-12);
}
END_TEST

/* A brick beyond an edge falls; welded to one behind the edge it stays; hinged to it, it falls. */
START_TEST(ties_hold_what_would_fall)
{
	struct lowest_plate plates[4] = { floor_to(-9, 9), brick(0, 0), brick(0.65, 0.25),
					  brick(-0.36, 0.25) };
	struct lowest_motion motions[4];
	double corners[32][2];
	plates[1].fixed = true;
	deepen(plates, 4, 1, false, corners);
	const struct lowest_tie ties[3] = { { 3, 2, LOWEST_PINNED, 0.145, 0 },
					    { 3, 2, LOWEST_LEVEL, 0, 1 },
					    { 3, 2, LOWEST_LEVEL, 1, 0 } };
	ck_assert_double_gt(lower_in_space(plates, 4, NULL, 0, motions).drop, 1e-2);
	/* About an axis along z through the pin: the brick still turns about the edge. */
	struct lowest_outcome hinged = lower_in_space(plates, 4, ties, 2, motions);
	double own = motions[2].rise + (0.145 - 0.65) * motions[2].slope;
	double other = motions[3].rise + (0.145 + 0.36) * motions[3].slope;
	ck_assert_double_gt(hinged.drop, 1e-3);
	ck_assert_double_eq_tol(own, other, 1e-9);
	struct lowest_outcome welded = lower_in_space(plates, 4, ties, 3, motions);
	ck_assert_double_le(welded.drop, 1e-9);
}
END_TEST

START_TEST(overlapping_plates_are_named)
{
	struct lowest_plate plates[3] = { floor_to(-9, 9), brick(0, 0), brick(0.9, 0.1) };
	struct lowest_motion motions[3];
	struct lowest_outcome outcome;
	uint32_t pair[2];
	const struct lowest_problem problem = { .plates = plates, .count = 3 };
	ck_assert_int_eq(lowest_find(&problem, motions, &outcome, pair), STATUS_DEGENERATE);
	ck_assert_uint_eq(pair[0], 1);
	ck_assert_uint_eq(pair[1], 2);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("lowest");
	TCase *tcase = tcase_create("lowest");
	tcase_add_test(tcase, a_brick_beyond_an_edge_leans_on_the_floor);
	tcase_add_test(tcase, what_stands_stays_and_what_falls_for_ever_is_counted);
	tcase_add_loop_test(tcase, an_inverted_triangle_ends_lower, 1, 6);
	tcase_add_test(tcase, energy_falls_exactly_where_no_forces_hold);
	tcase_add_test(tcase, boxes_of_one_depth_reproduce_the_plane);
	tcase_add_test(tcase, a_plate_over_a_corner_slopes_both_ways);
	tcase_add_test(tcase, ties_hold_what_would_fall);
	tcase_add_test(tcase, overlapping_plates_are_named);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
