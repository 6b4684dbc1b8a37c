/* test_gauss_joints.c: joints under `gauss`: bars by the length rules of the source (papers
 * ), frameworks of points and bars, bricks of nine points (papers ),
 * and joints of all kinds against `lcp`. A point is a body without a shape. */
#include "tests/lib/joined.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include "server/base/bytes.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"

#include <math.h>

enum separation { SECOND, ACCELERATION, SLIDES };

static body_id put_point(struct world *world, vec3 at, double mass, vec3 velocity)
{
	return joined_put(world, (struct joined_thing){ .shape = TEST_SHAPES,
							.at = at,
							.mass = mass,
							.velocity = velocity,
							.smooth = true });
}

static void fix(struct world *world, body_id point)
{
	struct command hold = test_command(COMMAND_SET_STATUS);
	hold.set_status.body = point;
	hold.set_status.status = BODY_STATIC;
	test_do(world, &hold);
}

/* A rod between two bodies' places (0: the world's origin). */
static joint_id put_bar(struct world *world, body_id a, body_id b)
{
	struct command bar = test_command(COMMAND_JOINT_CREATE);
	bar.joint_create.type = JOINT_DISTANCE;
	bar.joint_create.body_a = a;
	bar.joint_create.body_b = b;
	bar.joint_create.point_a = a != 0 ? test_body(world, a).position : vec3_zero();
	bar.joint_create.point_b = b != 0 ? test_body(world, b).position : vec3_zero();
	bar.joint_create.place = 1;
	return test_do(world, &bar);
}

static double length_of(const struct world *world, body_id a, body_id b)
{
	return vec3_distance(test_body(world, a).position, test_body(world, b).position);
}

/* ---- length rules
 * ----------------------------------------------------------------------------- */

struct spinner {
	struct world *world;
	body_id a, b;
};

/* A bar of 1 m with 1 kg at each end, which turns at 2 rad/s. */
static struct spinner make_spinner(double rule, double rounds)
{
	struct spinner self = { .world = joined_world("gauss", 100, vec3_zero()) };
	joined_set(self.world, "gauss.separation", rule);
	joined_set(self.world, "gauss.rounds", rounds);
	self.a = put_point(self.world, vec3_make(-0.5, 0, 0), 1, vec3_make(0, -1, 0));
	self.b = put_point(self.world, vec3_make(0.5, 0, 0), 1, vec3_make(0, 1, 0));
	put_bar(self.world, self.a, self.b);
	return self;
}

/* rad/s: of the last step. */
static double turning_speed(const struct spinner *self)
{
	vec3 arm = vec3_sub(test_body(self->world, self->b).position,
			    test_body(self->world, self->a).position);
	vec3 v = vec3_sub(test_body(self->world, self->b).velocity,
			  test_body(self->world, self->a).velocity);
	return vec3_cross(arm, v).z / vec3_dot(arm, arm);
}

/* (L″) alone keeps a spinning bar too long by 1 / cos(ω h), and its speed; with rounds its
 * length is exact. The rule of the slides keeps the length and loses speed. */
START_TEST(a_spinning_bar_keeps_length_and_speed_as_its_rule_says)
{
	static const struct {
		double rule, rounds, length, length_error, speed, speed_error;
	} CASES[] = {
		{ SECOND, 1, 1.0002, 1e-5, 2, 2e-3 },
		{ SECOND, 8, 1, 1e-9, 2, 2e-3 },
		{ SLIDES, 1, 1, 1e-3, 1.49, 0.01 },
	};
	struct spinner bar = make_spinner(CASES[_i].rule, CASES[_i].rounds);
	test_step(bar.world, 1000);
	double length = length_of(bar.world, bar.a, bar.b), speed = turning_speed(&bar);
	ck_assert_double_eq_tol(length, CASES[_i].length, CASES[_i].length_error);
	ck_assert_double_eq_tol(speed, CASES[_i].speed, CASES[_i].speed_error);
	world_destroy(bar.world);
}
END_TEST

/* R-07, theorem 5.1: (L′) leads to v + h a with the acceleration that holds the ends on their
 * circle, and lengths drift, as the source says of it. */
START_TEST(the_whole_bend_leads_to_the_accelerations_of_bars)
{
	struct spinner bar = make_spinner(ACCELERATION, 8);
	test_step(bar.world, 1);
	expect_near(test_body(bar.world, bar.b).velocity, vec3_make(-0.02, 1, 0), 1e-13);
	expect_near(test_body(bar.world, bar.b).position, vec3_make(0.5 - 2e-4, 0.01, 0), 1e-13);
	test_step(bar.world, 500);
	ck_assert_double_gt(fabs(length_of(bar.world, bar.a, bar.b) - 1), 1e-4);
	world_destroy(bar.world);
}
END_TEST

/* The order of the step, by a pendulum of 1 m let go at a right angle: the phase after about two
 * swings, at 100 and 200 Hz, against 3200 Hz. */
START_TEST(a_pendulum_converges_and_keeps_its_energy)
{
	static const uint32_t RATES[] = { 100, 200, 3200 };
	double x[3], most = 0;
	for (uint32_t k = 0; k < 3; k++) {
		struct world *world = joined_world("gauss", RATES[k], vec3_make(0, -9.81, 0));
		body_id bob = put_point(world, vec3_make(1, 0, 0), 1, vec3_zero());
		put_bar(world, 0, bob);
		for (uint32_t i = 0; i < 4 * RATES[k]; i++) {
			test_step(world, 1);
			vec3 at = test_body(world, bob).position;
			ck_assert_double_eq_tol(vec3_length(at), 1, 2e-9);
			/* The velocity is that of the middle of the step. */
			double energy = 0.5 * vec3_length_squared(test_body(world, bob).velocity) +
					9.81 * at.y;
			most = k == 0 ? fmax(most, fabs(energy)) : most;
		}
		x[k] = test_body(world, bob).position.x;
		ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
		world_destroy(world);
	}
	ck_assert_double_lt(fabs(x[1] - x[2]), 0.6 * fabs(x[0] - x[2]));
	ck_assert_double_lt(most, 0.05 * 9.81);
}
END_TEST

/* ---- frameworks
 * ------------------------------------------------------------------------------- */

enum { GRID = 3, POINTS = 9, BARS = 16 };

/* A brick of half sizes a, b and mass 1 as nine points with the weights of Simpson's rule
 * 12 bars of the grid and a diagonal in each cell. */
struct brick {
	body_id points[POINTS];
	body_id ends[BARS][2];
	double lengths[BARS];
	uint32_t bars;
};

static void add_bar(struct world *world, struct brick *self, uint32_t i, uint32_t j, bool soft)
{
	ck_assert_uint_lt(self->bars, BARS);
	joint_id bar = put_bar(world, self->points[i], self->points[j]);
	self->ends[self->bars][0] = self->points[i];
	self->ends[self->bars][1] = self->points[j];
	self->lengths[self->bars++] = length_of(world, self->points[i], self->points[j]);
	if (!soft)
		return;
	struct command axis = joined_axis(bar, 0);
	/* M (…)² with M = 100 for a bar of length l is a spring of 2 M l² / h². */
	double l = self->lengths[self->bars - 1], h = 0.01;
	axis.joint_axis.mode = JOINT_FREE;
	axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	axis.joint_axis.stiffness = 2 * 100 * l * l / (h * h);
	axis.joint_axis.rest = l;
	test_do(world, &axis);
}

static struct brick make_brick(struct world *world, vec3 centre, double a, double b, double spin,
			       bool soft)
{
	static const double WEIGHTS[GRID] = { 1, 4, 1 };
	struct brick self = { .bars = 0 };
	for (uint32_t i = 0; i < POINTS; i++) {
		vec3 arm = vec3_make(a * (i % GRID - 1.0), b * (i / GRID - 1.0), 0);
		double mass = WEIGHTS[i % GRID] * WEIGHTS[i / GRID] / 36;
		self.points[i] = put_point(world, vec3_add(centre, arm), mass,
					   vec3_make(-spin * arm.y, spin * arm.x, 0));
	}
	for (uint32_t y = 0; y < GRID; y++)
		for (uint32_t x = 0; x < GRID; x++) {
			uint32_t i = GRID * y + x;
			if (x + 1 < GRID)
				add_bar(world, &self, i, i + 1, soft);
			if (y + 1 < GRID)
				add_bar(world, &self, i, i + GRID, soft);
			if (x + 1 < GRID && y + 1 < GRID)
				add_bar(world, &self, i, i + GRID + 1, soft);
		}
	ck_assert_uint_eq(self.bars, BARS);
	return self;
}

/* The largest part by which a bar is longer or shorter than at first. */
static double stretch_of(const struct world *world, const struct brick *self)
{
	double most = 0;
	for (uint32_t i = 0; i < self->bars; i++) {
		double l = length_of(world, self->ends[i][0], self->ends[i][1]);
		most = fmax(most, fabs(l / self->lengths[i] - 1));
	}
	return most;
}

/* a brick of points, hung at a corner, swings as a rigid one; one of its 16 bars is
 * redundant. */
START_TEST(a_brick_of_nine_points_swings_as_a_rigid_one)
{
	double a = 0.5, b = 0.5, off[2];
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t rate = k == 0 ? 100 : 200;
		struct world *world = joined_world("gauss", rate, vec3_make(0, -9.81, 0));
		vec3 centre = vec3_make(a, -b, 0), aside = vec3_make(0, 0, 5);
		struct brick brick = make_brick(world, centre, a, b, 0, false);
		body_id corner = brick.points[POINTS - GRID];
		joined_join(world, JOINT_SPHERICAL, 0, corner, vec3_zero(), quat_identity());
		body_id rigid =
			joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
								 .at = vec3_add(centre, aside),
								 .mass = 1,
								 .smooth = true });
		joined_join(world, JOINT_REVOLUTE, 0, rigid, aside, joined_about_z());
		test_step(world, rate);
		off[k] = vec3_distance(vec3_sub(test_body(world, rigid).position, aside),
				       test_body(world, brick.points[POINTS / 2]).position);
		ck_assert_double_lt(stretch_of(world, &brick), 1e-8);
		ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
		world_destroy(world);
	}
	/* The rigid brick turns about its axle by its own rule: they meet as steps get short. */
	ck_assert_double_lt(off[0], 0.02);
	ck_assert_double_lt(off[1], 0.6 * off[0] + 1e-9);
}
END_TEST

/* as springs, redundant bars contradict nothing. */
START_TEST(penalty_bars_hold_lengths_to_one_per_cent)
{
	struct world *world = joined_world("gauss", 100, vec3_make(0, -9.81, 0));
	struct brick brick = make_brick(world, vec3_zero(), 1.7, 0.6, 1, true);
	body_id corner = brick.points[POINTS - GRID];
	joined_join(world, JOINT_SPHERICAL, 0, corner, test_body(world, corner).position,
		    quat_identity());
	for (uint32_t i = 0; i < 1000; i++) {
		test_step(world, 1);
		ck_assert_double_lt(stretch_of(world, &brick), 0.01);
	}
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* Internal forces act along bars as they are before the step: momentum, and the angular momentum of
 * the places before and the velocities after, are constant to rounding. */
START_TEST(free_frameworks_keep_their_momenta)
{
	struct world *world = joined_world("gauss", 60, vec3_zero());
	struct brick brick = make_brick(world, vec3_zero(), 1.7, 0.6, 3, false);
	vec3 linear = world_energy(world).linear, first = vec3_zero();
	for (uint32_t step = 0; step < 200; step++) {
		vec3 spin = vec3_zero(), at[POINTS];
		for (uint32_t i = 0; i < POINTS; i++)
			at[i] = test_body(world, brick.points[i]).position;
		test_step(world, 1);
		for (uint32_t i = 0; i < POINTS; i++) {
			struct body_view body = test_body(world, brick.points[i]);
			spin = vec3_mul_add(spin, vec3_cross(at[i], body.velocity), body.mass);
		}
		first = step == 0 ? spin : first;
		expect_near(spin, first, 1e-11);
		expect_near(world_energy(world).linear, linear, 1e-12);
	}
	world_destroy(world);
}
END_TEST

/* ---- all kinds
 * --------------------------------------------------------------------------------- */

/* A chain of four boxes on one joint of every type but the drag, from the world. */
static joint_id make_chain(struct world *world, enum joint_type type, body_id *last)
{
	body_id before = 0;
	joint_id joint = 0;
	for (uint32_t i = 0; i < 4; i++) {
		body_id box = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX,
						      .at = { 1.0 * i + 0.5, -0.3 * i, 0.1 * i },
						      .mass = 1 + i,
						      .smooth = true });
		joint = joined_join(world, type, before, box, vec3_make(1.0 * i, -0.3 * i, 0),
				    joined_about_z());
		before = box;
	}
	*last = before;
	return joint;
}

/* After 0.5 s at 500 Hz both exact methods have the same motion, up to their errors of order h. */
START_TEST(joints_of_every_kind_move_as_under_lcp)
{
	static const char *const METHODS[] = { "gauss", "lcp" };
	vec3 at[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = joined_world(METHODS[k], 500, vec3_make(0.3, -9.81, 0.2));
		body_id last;
		joint_id joint = make_chain(world, (enum joint_type)_i, &last);
		struct command axis = joined_axis(joint, _i == JOINT_PRISMATIC ? 0 : 3);
		if (_i == JOINT_REVOLUTE || _i == JOINT_PRISMATIC) {
			axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
			axis.joint_axis.motor_limit = 3;
			axis.joint_axis.target = 2;
			test_do(world, &axis);
		}
		test_step(world, 250);
		at[k] = test_body(world, last).position;
		struct world_stats stats = world_stats(world);
		ck_assert_double_lt(stats.joint_error, 1e-7);
		ck_assert_uint_eq(stats.fallbacks_total, 0);
		world_destroy(world);
	}
	ASSERT_VEC3(at[0], at[1], 0.02);
}
END_TEST

/* Contacts and a bar in one island: a box on the floor with a weight that hangs beside it. The
 * floor carries both, the bar the weight. */
START_TEST(bars_and_contacts_balance)
{
	struct world *world = joined_world("gauss", 100, vec3_make(0, -10, 0));
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .smooth = true, .meets = true });
	body_id box = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							       .at = { 0, 0.5, 0 },
							       .mass = 5,
							       .meets = true,
							       .smooth = true });
	body_id weight = put_point(world, vec3_make(0.7, 0.5, 0), 2, vec3_zero());
	struct command bar = test_command(COMMAND_JOINT_CREATE);
	bar.joint_create.type = JOINT_DISTANCE;
	bar.joint_create.body_a = box;
	bar.joint_create.body_b = weight;
	bar.joint_create.point_a = vec3_make(0.7, 0.9, 0);
	bar.joint_create.point_b = vec3_make(0.7, 0.5, 0);
	bar.joint_create.place = 1;
	joint_id joint = test_do(world, &bar);
	test_step(world, 100);
	ASSERT_VEC3(test_body(world, box).position, vec3_make(0, 0.5, 0), 1e-7);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_make(0, 20, 0), 1e-6);
	struct contact_view contacts[8];
	uint32_t count = test_contacts(world, box, contacts, 8);
	double floor = 0;
	for (uint32_t i = 0; i < count; i++)
		floor += contacts[i].normal_impulse * 100;
	ck_assert_double_eq_tol(floor, 70, 1e-6);
	world_destroy(world);
}
END_TEST

/* A bar of no length has no direction: rounds lead nowhere, which is told, and nothing flies
 * away. */
START_TEST(a_bar_without_direction_stays_bounded)
{
	struct world *world = joined_world("gauss", 100, vec3_make(0, -9.81, 0));
	body_id bob = put_point(world, vec3_zero(), 1, vec3_zero());
	body_id end = put_point(world, vec3_make(0.3, 0, 0), 1, vec3_zero());
	put_bar(world, 0, bob);
	put_bar(world, bob, end);
	for (uint32_t i = 0; i < 1000; i++) {
		test_step(world, 1);
		ck_assert_double_lt(vec3_length(test_body(world, end).position), 0.5);
		ck_assert_double_lt(vec3_length(test_body(world, end).velocity), 20);
	}
	ck_assert_uint_gt(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* Short rods under a great tension are too stiff across themselves for a step. A row of weights
 * between two walls is plucked, and heavy links swing on light ones: no energy comes from
 * nowhere, and joints hold. */
START_TEST(taut_lines_do_not_run_away)
{
	enum { WEIGHTS = 12, STEPS = 400 };
	struct world *world = joined_world("gauss", 60, vec3_make(0, -9.81, 0));
	body_id before = 0, middle = 0;
	for (uint32_t i = 1; i <= WEIGHTS + 1; i++) {
		bool end = i > WEIGHTS;
		body_id next = put_point(world, vec3_make(0.1 * i, 0, 0),
					 _i == 0 || i < WEIGHTS ? 10 : 1000, vec3_zero());
		put_bar(world, before, next);
		if (end && _i == 0)
			fix(world, next);
		middle = i == WEIGHTS / 2 ? next : middle;
		before = next;
	}
	struct command pluck = test_command(COMMAND_IMPULSE);
	pluck.impulse.body = middle;
	pluck.impulse.impulse = vec3_make(0, 30, 20);
	test_do(world, &pluck);
	struct world_energy energy = world_energy(world);
	double most = energy.kinetic + energy.potential;
	for (uint32_t step = 0; step < STEPS; step++) {
		test_step(world, 1);
		energy = world_energy(world);
		/* The velocity is that of the middle of a step: half of a step's work is open. */
		ck_assert_double_lt(energy.kinetic + energy.potential,
				    most + 0.05 * fabs(most) + 50);
		ck_assert_double_lt(world_stats(world).joint_error, 0.01); /* of bars of 0.1 m */
	}
	world_destroy(world);
}
END_TEST

/* A truss that is held in its middle, without diagonals in its outermost panels: these fold,
 * mirrored. */
START_TEST(a_mirrored_truss_moves_mirrored)
{
	struct world *world = joined_world("gauss", 60, vec3_make(0, -9.81, 0));
	enum { HALF = 3, SIDES = 2 * HALF + 1 };
	body_id low[SIDES], high[SIDES];
	for (uint32_t i = 0; i < SIDES; i++) {
		double x = 1.0 * i - HALF;
		low[i] = put_point(world, vec3_make(x, 0, 0), 1, vec3_zero());
		high[i] = put_point(world, vec3_make(x, 1, 0), 1, vec3_zero());
		if (i != HALF)
			put_bar(world, low[i], high[i]);
	}
	fix(world, low[HALF]);
	fix(world, high[HALF]);
	for (uint32_t i = 0; i + 1 < SIDES; i++) {
		put_bar(world, low[i], low[i + 1]);
		put_bar(world, high[i], high[i + 1]);
		if (i > 0 && i + 2 < SIDES) /* none in the outer panels */
			put_bar(world, i < HALF ? low[i] : high[i],
				i < HALF ? high[i + 1] : low[i + 1]);
	}
	for (uint32_t step = 0; step < 120; step++) {
		test_step(world, 1);
		for (uint32_t i = 0; i < SIDES; i++) {
			vec3 p = test_body(world, high[i]).position;
			vec3 q = test_body(world, high[SIDES - 1 - i]).position;
			expect_near(vec3_make(-q.x, q.y, q.z), p, 1e-9);
		}
	}
	ck_assert_double_lt(test_body(world, high[0]).position.y, 0.5);
	world_destroy(world);
}
END_TEST

/* A bar that is given another length takes it while its weight hangs still, and then carries that weight. */
START_TEST(a_bar_of_another_length_closes_at_rest)
{
	static const double lengths[] = { 0.999, 0.9, 0.3, 1.01, 1.5 };
	struct world *world = joined_world("gauss", 60, vec3_make(0, -9.81, 0));
	body_id weight = put_point(world, vec3_make(0, -1, 0), 2, vec3_zero());
	joint_id bar = put_bar(world, 0, weight);
	test_step(world, 5);
	struct command axis = test_command(COMMAND_JOINT_AXIS);
	axis.joint_axis.joint = bar;
	axis.joint_axis.mode = JOINT_LOCKED;
	axis.joint_axis.rest = lengths[_i];
	test_do(world, &axis);
	test_step(world, 60);
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, bar, &view), STATUS_OK);
	ck_assert_double_eq_tol(-test_body(world, weight).position.y, lengths[_i], 1e-8);
	ck_assert_double_eq_tol(view.force.y, 2 * 9.81, 1e-6);
	world_destroy(world);
}
END_TEST

/* A framework goes on to the same bits after a save in mid-swing. */
START_TEST(a_framework_continues_after_a_load)
{
	struct world *world = joined_world("gauss", 60, vec3_make(0, -9.81, 0));
	struct brick brick = make_brick(world, vec3_zero(), 1.7, 0.6, 1, false);
	joined_join(world, JOINT_SPHERICAL, 0, brick.points[0], vec3_make(-1.7, -0.6, 0),
		    quat_identity());
	test_step(world, 40);
	struct bytes image = test_save(world);
	struct world *loaded;
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &loaded, &why),
			 STATUS_OK);
	for (uint32_t i = 0; i < 60; i++) {
		test_step(world, 1);
		test_step(loaded, 1);
		ck_assert_uint_eq(test_hash(world), test_hash(loaded));
	}
	bytes_release(&image);
	world_destroy(loaded);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("gauss joints");
	TCase *tcase = tcase_create("gauss joints");
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_spinning_bar_keeps_length_and_speed_as_its_rule_says, 0, 3);
	tcase_add_test(tcase, the_whole_bend_leads_to_the_accelerations_of_bars);
	tcase_add_test(tcase, a_pendulum_converges_and_keeps_its_energy);
	tcase_add_test(tcase, a_brick_of_nine_points_swings_as_a_rigid_one);
	tcase_add_test(tcase, penalty_bars_hold_lengths_to_one_per_cent);
	tcase_add_test(tcase, free_frameworks_keep_their_momenta);
	tcase_add_loop_test(tcase, joints_of_every_kind_move_as_under_lcp, JOINT_SPHERICAL,
			    JOINT_DISTANCE);
	tcase_add_loop_test(tcase, joints_of_every_kind_move_as_under_lcp, JOINT_SIX_DOF,
			    JOINT_DRAG);
	tcase_add_test(tcase, a_bar_without_direction_stays_bounded);
	tcase_add_test(tcase, bars_and_contacts_balance);
	tcase_add_loop_test(tcase, taut_lines_do_not_run_away, 0, 2);
	tcase_add_test(tcase, a_mirrored_truss_moves_mirrored);
	tcase_add_loop_test(tcase, a_bar_of_another_length_closes_at_rest, 0, 5);
	tcase_add_test(tcase, a_framework_continues_after_a_load);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
