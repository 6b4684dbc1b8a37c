/* Joints as part of the masses (reduced coordinates) against joints as rows (maximal ones): random
 * mechanisms move the same, and what only reduced coordinates promise. 100 mechanisms of each kind
 * over 1000 steps, with joints closed further (velocity.joint_tolerance), with `make soak-trees`;
 * CAIRN_MECHANISM_METHOD=impact and CK_RUN_CASE=drives run parts of it, and with
 * CAIRN_MECHANISM_GROWTH=1 it says how much mechanisms amplify. */
#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"
#include "tests/lib/bricard.h"
#include "tests/lib/joined.h"
#include "tests/lib/mechanisms.h"
#include "tests/lib/poses.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact" };

enum { MAXIMAL, AUTO, REDUCED };

static uint32_t from_environment(const char *name, uint32_t otherwise)
{
	const char *text = getenv(name);
	return text == NULL ? otherwise : (uint32_t)strtoul(text, NULL, 10);
}

static struct world *make_world(const char *method, uint32_t rate, int coordinates)
{
	struct world *world = joined_world(method, rate, vec3_make(0, -9.81, 0));
	const char *tolerance = getenv("CAIRN_MECHANISM_TOLERANCE");
	joined_set(world, "articulated.coordinates", coordinates);
	if (tolerance != NULL)
		joined_set(world, "velocity.joint_tolerance", strtod(tolerance, NULL));
	return world;
}

/* ---- random mechanisms ----------------------------------------------------------------------------- */

static const char *const KINDS[] = { "trees", "drives", "loops", "floating" };

enum { BODIES = 7 };

/* 1: by how much a mechanism in reduced coordinates amplifies a difference of 1e-12 m/s and rad/s of one
 * body, over the distance that it makes by itself. */
static double growth_of(const char *method, enum extras extras, uint64_t seed, uint32_t rate,
			uint32_t steps)
{
	const double small = 1e-12;
	struct world *worlds[2];
	body_id bodies[2][BODIES];
	double worst = 0;
	for (uint32_t w = 0; w < 2; w++) {
		worlds[w] = make_world(method, rate, REDUCED);
		make_mechanism(worlds[w], seed, BODIES, extras, bodies[w]);
	}
	struct body_view last = test_body(worlds[1], bodies[1][BODIES - 1]);
	struct command command = test_command(COMMAND_SET_VELOCITY);
	command.set_velocity.body = bodies[1][BODIES - 1];
	command.set_velocity.velocity = vec3_add(last.velocity, vec3_all(small));
	command.set_velocity.angular_velocity = vec3_add(last.angular_velocity, vec3_all(small));
	test_do(worlds[1], &command);
	for (uint32_t step = 0; step < steps; step++) {
		test_step(worlds[0], 1);
		test_step(worlds[1], 1);
		worst = scalar_max(worst,
				   mechanisms_apart(worlds[0], worlds[1], bodies[0], BODIES));
	}
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
	return worst * rate / (small * steps);
}

static void compare_mechanisms(const char *method, enum extras extras, uint32_t count,
			       uint32_t steps)
{
	/* Joints that are rows drift by up to velocity.joint_tolerance each, and a mechanism amplifies that
	 * with time. */
	uint32_t rate = from_environment("CAIRN_MECHANISM_RATE", 1000);
	double furthest = 0;
	const char *only = getenv("CAIRN_MECHANISM_METHOD");
	if (only != NULL && strcmp(only, method) != 0)
		return;
	for (uint32_t k = 0; k < count; k++) {
		struct world *worlds[2];
		body_id bodies[2][BODIES];
		uint32_t told = 0;
		double off = 0, error = 0;
		for (uint32_t w = 0; w < 2; w++) {
			worlds[w] = make_world(method, rate, w == 0 ? MAXIMAL : REDUCED);
			make_mechanism(worlds[w], check_seed() * 1000 + k, BODIES, extras,
				       bodies[w]);
		}
		for (uint32_t step = 0; step < steps; step++) {
			test_step(worlds[0], 1);
			test_step(worlds[1], 1);
			off = scalar_max(off,
					 mechanisms_apart(worlds[0], worlds[1], bodies[0], BODIES));
			error = scalar_max(error, world_stats(worlds[1]).joint_error);
			told += world_stats(worlds[1]).islands_reduced;
			ck_assert_uint_eq(world_stats(worlds[0]).islands_reduced, 0);
		}
		if (getenv("CAIRN_MECHANISM_GROWTH") != NULL)
			printf("# %s %s %u grows %.2g times\n", method, KINDS[extras], k,
			       growth_of(method, extras, check_seed() * 1000 + k, rate, steps));
		furthest = scalar_max(furthest, off);
		ck_assert_uint_gt(told, 0);
		ck_assert_msg(off <= 1e-9, "%s, mechanism %u: %g apart", method, k, off);
		/* Limits and loops are rows, and as exact as rows are. */
		ck_assert_double_le(error, extras == NOTHING ? 1e-12 : 1e-9);
		world_destroy(worlds[0]);
		world_destroy(worlds[1]);
	}
	if (getenv("CAIRN_MECHANISMS") != NULL)
		printf("# %s: %u %s over %u steps, %.2g apart at most\n", method, count,
		       KINDS[extras], steps, furthest);
}

START_TEST(trees_move_as_rows_would_move_them)
{
	compare_mechanisms(METHODS[_i], NOTHING, from_environment("CAIRN_MECHANISMS", 3),
			   from_environment("CAIRN_MECHANISM_STEPS", 30));
}
END_TEST

START_TEST(drives_move_trees_as_rows_would)
{
	compare_mechanisms(METHODS[_i], DRIVES, from_environment("CAIRN_MECHANISMS", 3),
			   from_environment("CAIRN_MECHANISM_STEPS", 30));
}
END_TEST

START_TEST(loops_close_as_rows_would_close_them)
{
	compare_mechanisms(METHODS[_i], LOOPS, from_environment("CAIRN_MECHANISMS", 3),
			   from_environment("CAIRN_MECHANISM_STEPS", 30));
}
END_TEST

/* Rows close their joints as far as asked: limits, and loops in reduced coordinates, as well. */
START_TEST(joints_are_closed_as_far_as_asked)
{
	static const double ASKED[] = { 1e-6, 1e-9, 1e-12 };
	double off[2][COUNT_OF(ASKED)];
	for (uint32_t i = 0; i < 2 * COUNT_OF(ASKED); i++) {
		double asked = ASKED[i / 2], *worst = &off[i % 2][i / 2];
		struct world *world = make_world(METHODS[_i], 240, i % 2 == 0 ? MAXIMAL : REDUCED);
		body_id bodies[BODIES];
		joined_set(world, "velocity.joint_tolerance", asked);
		make_mechanism(world, check_seed(), BODIES, i % 2 == 0 ? DRIVES : LOOPS, bodies);
		*worst = 0;
		for (uint32_t step = 0; step < 60; step++) {
			test_step(world, 1);
			*worst = scalar_max(*worst, world_stats(world).joint_error);
		}
		ck_assert_msg(*worst <= asked, "%g", *worst);
		world_destroy(world);
	}
	ck_assert_double_gt(off[0][1], 1e-12);
}
END_TEST

/* Where rounding is more than what is asked for, steps end, and joints are as exact as numbers there are. */
START_TEST(joints_far_away_are_closed_as_far_as_numbers_are)
{
	struct world *world = make_world(METHODS[_i], 240, MAXIMAL);
	body_id last = 0;
	joined_set(world, "velocity.joint_tolerance", 1e-14);
	for (uint32_t i = 0; i < 3; i++) {
		body_id next = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
									.at = { 1e4 + i, 1e4, 0 },
									.mass = 1 });
		joined_join(world, JOINT_SPHERICAL, last, next, vec3_make(1e4 + i - 0.5, 1e4, 0),
			    quat_identity());
		last = next;
	}
	for (uint32_t step = 0; step < 60; step++) {
		test_step(world, 1);
		ck_assert_double_le(world_stats(world).joint_error, 1e-10);
	}
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* ---- what reduced coordinates promise -------------------------------------------------------------- */

static body_id hang_chain(struct world *world, uint32_t count, enum joint_type type)
{
	body_id last = 0;
	for (uint32_t i = 0; i < count; i++) {
		body_id next = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
									.at = { i + 0.5, 0, 0 },
									.mass = 1 });
		joined_join(world, type, last, next, vec3_make(i, 0, 0),
			    i % 2 == 0 ? quat_identity() : joined_about_z());
		last = next;
	}
	return last;
}

START_TEST(joints_of_a_falling_chain_do_not_drift)
{
	struct world *world = make_world(METHODS[_i], 240, REDUCED);
	hang_chain(world, 40, JOINT_SPHERICAL);
	double start = 0, most = 0, off = 0;
	for (uint32_t step = 0; step < 60; step++) {
		struct world_energy energy = world_energy(world);
		if (step == 0)
			start = energy.kinetic + energy.potential;
		most = scalar_max(most, energy.kinetic);
		off = scalar_max(off, scalar_abs(energy.kinetic + energy.potential - start));
		test_step(world, 1);
		ck_assert_double_le(world_stats(world).joint_error, 1e-12);
	}
	ck_assert_double_le(off, 1e-3 * most);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 1);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

START_TEST(a_floating_mechanism_keeps_its_momenta)
{
	struct world *world = make_world(METHODS[_i], 480, REDUCED);
	struct command gravity = test_command(COMMAND_GRAVITY);
	test_do(world, &gravity);
	body_id bodies[7];
	make_mechanism(world, check_seed(), 7, FLOATING, bodies);
	test_step(world, 1); /* velocities that violate joints become ones that do not */
	struct world_energy before = world_energy(world);
	test_step(world, 60);
	struct world_energy after = world_energy(world);
	ASSERT_VEC3(after.linear, before.linear, 1e-12);
	ASSERT_VEC3(after.angular, before.angular, 1e-11);
	world_destroy(world);
}
END_TEST

START_TEST(a_joint_reports_the_same_force_and_torque)
{
	struct world *worlds[2];
	for (uint32_t w = 0; w < 2; w++) {
		worlds[w] = make_world(METHODS[_i], 1000, w == 0 ? MAXIMAL : REDUCED);
		hang_chain(worlds[w], 5, JOINT_UNIVERSAL);
		test_step(worlds[w], 20);
	}
	for (joint_id joint = 1; joint <= 5; joint++) {
		struct joint_view rows = joined_view(worlds[0], joint),
				  masses = joined_view(worlds[1], joint);
		ck_assert_double_gt(vec3_length(rows.force), 0.1);
		ASSERT_VEC3(masses.force, rows.force, 1e-6);
		ASSERT_VEC3(masses.torque, rows.torque, 1e-6);
	}
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
}
END_TEST

/* Three links between two hinges of the world, of one freedom, which motors turn at two rates. */
START_TEST(a_fallback_of_the_last_solution_is_told)
{
	struct world *world = make_world(METHODS[_i], 240, REDUCED);
	const vec3 pins[] = { { 0, 0, 0 }, { 0, 1, 0 }, { 2, 1.5, 0 }, { 2, 0, 0 } };
	body_id before = 0;
	for (uint32_t i = 0; i < COUNT_OF(pins); i++) {
		body_id link = 0;
		if (i + 1 < COUNT_OF(pins))
			link = joined_put(world, (struct joined_thing){
							 .shape = TEST_BOX,
							 .at = vec3_lerp(pins[i], pins[i + 1], 0.5),
							 .mass = 1 });
		struct command drive = joined_axis(
			joined_join(world, JOINT_REVOLUTE, before, link, pins[i], joined_about_z()),
			3);
		drive.joint_axis.motor = JOINT_MOTOR_VELOCITY;
		drive.joint_axis.target = i == 0 ? 1 : 2;
		if (i < 2)
			test_do(world, &drive);
		before = link;
	}
	test_step(world, 1);
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.islands_reduced, 1);
	ck_assert_uint_ge(stats.fallbacks, 1);
	ck_assert_double_gt(stats.residual, 0.01);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_loop_of_dependent_rows_keeps_its_energy)
{
	/* Bricard's linkage: one of the five rows of its closure depends on the others at every pose. */
	struct world *world = bricard_world();
	struct command method = test_command(COMMAND_METHOD);
	double most = 0;
	joined_set(world, "articulated.coordinates", REDUCED);
	method.method.name = test_text(METHODS[_i]);
	test_do(world, &method);
	for (uint32_t step = 0; step < 184; step++) { /* two swings */
		test_step(world, 1);
		struct world_stats stats = world_stats(world);
		struct world_energy energy = world_energy(world);
		most = scalar_max(most, energy.kinetic);
		ck_assert_uint_eq(stats.islands_reduced, 1);
		ck_assert_uint_eq(stats.islands_dependent, 1);
		ck_assert_double_le(stats.joint_error, 1e-10);
		ck_assert_double_le(scalar_abs(energy.kinetic + energy.potential), 0.05);
	}
	struct world_energy end = world_energy(world);
	ck_assert_double_gt(most, 50);
	ck_assert_double_le(end.kinetic, 0.01);
	ck_assert_double_le(scalar_abs(end.kinetic + end.potential), 1e-6);
	ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	world_destroy(world);
}
END_TEST

/* ---- contacts -------------------------------------------------------------------------------------- */

START_TEST(a_mechanism_lands_and_lies_as_with_rows)
{
	/* Friction and impacts: each coordinate's solution holds all rows, and bodies come to lie. */
	struct world *world = make_world(METHODS[_i], 240, REDUCED);
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	body_id last = 0;
	for (uint32_t i = 0; i < 4; i++) {
		body_id next = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX,
						      .at = { 1.1 * i, 0.8 + 0.02 * i, 0 },
						      .mass = 1,
						      .meets = true });
		if (i > 0)
			joined_join(world, i == 2 ? JOINT_REVOLUTE : JOINT_SPHERICAL, last, next,
				    vec3_make(1.1 * i - 0.55, 0.8, 0), quat_identity());
		last = next;
	}
	for (uint32_t step = 0; step < 240; step++) {
		test_step(world, 1);
		struct world_stats stats = world_stats(world);
		ck_assert_double_le(stats.joint_error, 1e-12);
		ck_assert_double_le(stats.residual, 1e-4); /* of friction */
	}
	ck_assert_double_lt(world_energy(world).kinetic, 1e-6);
	ck_assert_double_gt(test_body(world, last).position.y, 0.499);
	world_destroy(world);
}
END_TEST

/* ---- the choice ------------------------------------------------------------------------------------ */

START_TEST(the_choice_is_by_structure_and_told)
{
	/* Two chains: one with drives on all axes, whose rows exceed the limit, and a plain one. */
	struct world *world = make_world("lcp", 240, AUTO);
	joined_set(world, "articulated.rows", 5);
	hang_chain(world, 3, JOINT_REVOLUTE);
	body_id base = 0;
	for (uint32_t i = 0; i < 6; i++) {
		body_id next = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
									.at = { i + 0.5, 0, 9 },
									.mass = 1 });
		struct command axis = joined_axis(joined_join(world, JOINT_REVOLUTE, base, next,
							      vec3_make(i, 0, 9), joined_about_z()),
						  3);
		axis.joint_axis.friction = 1;
		test_do(world, &axis);
		base = next;
	}
	test_step(world, 2);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 1);
	ck_assert_uint_eq(world_stats(world).islands_maximal, 1);
	joined_set(world, "articulated.rows", 6);
	test_step(world, 1);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 2);
	joined_set(world, "articulated.coordinates", MAXIMAL);
	test_step(world, 1);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 0);
	ck_assert_uint_eq(world_stats(world).islands_maximal, 0);
	world_destroy(world);
}
END_TEST

START_TEST(a_body_with_locked_axes_keeps_rows)
{
	struct world *world = make_world("lcp", 240, REDUCED);
	body_id last = hang_chain(world, 3, JOINT_SPHERICAL);
	struct command lock = test_command(COMMAND_SET_LOCKS);
	lock.set_locks.body = last;
	lock.set_locks.locks = 1;
	test_do(world, &lock);
	test_step(world, 10);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 0);
	ck_assert_uint_eq(world_stats(world).islands_maximal, 1);
	ck_assert_double_le(world_stats(world).joint_error, 1e-6);
	world_destroy(world);
}
END_TEST

/* The animated body turns a free axis of the slide, and two of the turns, into locked ones within a tick. */
START_TEST(an_axis_may_turn_into_a_locked_one)
{
	struct world *world = make_world("lcp", 240, REDUCED);
	body_id table = joined_put(world, (struct joined_thing){ .status = BODY_ANIMATED });
	body_id sled = joined_put(
		world, (struct joined_thing){ .shape = TEST_BOX, .at = { 1, 0, 0 }, .mass = 1 });
	joined_join(world, JOINT_PRISMATIC, table, sled, vec3_zero(), quat_identity());
	struct command lock = test_command(COMMAND_SET_LOCKS);
	lock.set_locks.body = sled;
	lock.set_locks.locks = MASS_LOCK_PLANAR;
	test_do(world, &lock);
	struct command move = test_command(COMMAND_MOVE_TO);
	move.move_to.body = table;
	move.move_to.rotation = quat_make(0.70710678118654752, 0, 0.70710678118654752, 0);
	test_do(world, &move);
	for (uint32_t i = 0; i < 4; i++) {
		test_step(world, 1);
		struct body_view body = test_body(world, sled);
		ck_assert(i > 0 || world_stats(world).islands_reduced == 1);
		ck_assert_double_lt(vec3_length(body.velocity), 1e4);
		ck_assert_double_le(scalar_abs(body.position.z), 1);
	}
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_saved_world_has_the_same_future)
{
	struct world *world = make_world("lcp", 240, REDUCED), *loaded;
	body_id bodies[7];
	make_mechanism(world, check_seed(), 7, DRIVES, bodies);
	test_step(world, 20);
	struct bytes bytes = test_save(world);
	ck_assert_int_eq(world_load(bytes.data, bytes.count, test_shape_source(), &loaded, NULL),
			 STATUS_OK);
	test_step(world, 20);
	test_step(loaded, 20);
	ck_assert_uint_eq(test_hash(world), test_hash(loaded));
	bytes_release(&bytes);
	world_destroy(world);
	world_destroy(loaded);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("velocity_tree");
	const TTest *const AGREE[] = { trees_move_as_rows_would_move_them,
				       drives_move_trees_as_rows_would,
				       loops_close_as_rows_would_close_them };
	for (uint32_t k = 0; k < COUNT_OF(AGREE); k++) {
		TCase *agree = tcase_create(KINDS[k]);
		tcase_set_timeout(agree, 600);
		tcase_add_loop_test(agree, AGREE[k], 0, COUNT_OF(METHODS));
		suite_add_tcase(suite, agree);
	}
	TCase *promise = tcase_create("promise");
	tcase_add_loop_test(promise, a_joint_reports_the_same_force_and_torque, 0,
			    COUNT_OF(METHODS));
	tcase_add_loop_test(promise, joints_are_closed_as_far_as_asked, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(promise, joints_far_away_are_closed_as_far_as_numbers_are, 0,
			    COUNT_OF(METHODS));
	tcase_add_loop_test(promise, joints_of_a_falling_chain_do_not_drift, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(promise, a_floating_mechanism_keeps_its_momenta, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(promise, a_mechanism_lands_and_lies_as_with_rows, 0, 1);
	tcase_add_loop_test(promise, a_fallback_of_the_last_solution_is_told, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(promise, a_loop_of_dependent_rows_keeps_its_energy, 0,
			    COUNT_OF(METHODS));
	suite_add_tcase(suite, promise);
	TCase *choice = tcase_create("choice");
	tcase_add_test(choice, the_choice_is_by_structure_and_told);
	tcase_add_test(choice, a_body_with_locked_axes_keeps_rows);
	tcase_add_test(choice, an_axis_may_turn_into_a_locked_one);
	tcase_add_test(choice, a_saved_world_has_the_same_future);
	suite_add_tcase(suite, choice);
	return suite;
}

int main(void)
{
	return check_main(make);
}
