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
	ck_assert_int_eq(lowest_find(plates, count, out, &outcome, pair), STATUS_OK);
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

START_TEST(overlapping_plates_are_named)
{
	struct lowest_plate plates[3] = { floor_to(-9, 9), brick(0, 0), brick(0.9, 0.1) };
	struct lowest_motion motions[3];
	struct lowest_outcome outcome;
	uint32_t pair[2];
	ck_assert_int_eq(lowest_find(plates, 3, motions, &outcome, pair), STATUS_DEGENERATE);
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
	tcase_add_test(tcase, overlapping_plates_are_named);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
