/* Trees of joints in reduced coordinates under soft-step (soft_tree.c). */
#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/dynamics/joint.h"
#include "tests/lib/joined.h"
#include "tests/lib/mechanisms.h"
#include "tests/lib/poses.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAXIMAL, AUTO, REDUCED, BODIES = 7 };

static struct world *make_world(const char *method, uint32_t rate, int coordinates)
{
	struct world *world = joined_world(method, rate, vec3_make(0, -9.81, 0));
	joined_set(world,
		   strcmp(method, "soft-step") == 0 ? "soft_step.coordinates"
						    : "articulated.coordinates",
		   coordinates);
	return world;
}

/* What acts on the axis of a joint, by number. */
static void drive_axis(struct world *world, joint_id joint, uint32_t axis, uint32_t what)
{
	struct command command = joined_axis(joint, axis);
	struct command_JOINT_AXIS *set = &command.joint_axis;
	set->mode = what % 7 == 6 ? JOINT_LIMITED : JOINT_FREE;
	set->lower = -0.15;
	set->upper = 0.1;
	switch (what % 7) {
	case 0:
		set->spring = JOINT_SPRING_STIFFNESS;
		set->stiffness = 40;
		set->damping = 1;
		break;
	case 1: /* within its bound, and beyond it */
	case 2:
		set->motor = JOINT_MOTOR_POSITION;
		set->target = 0.4;
		set->motor_stiffness = 60;
		set->motor_damping = 3;
		set->motor_limit = what % 7 == 1 ? 1000 : 4;
		break;
	case 3:
		set->motor = JOINT_MOTOR_VELOCITY;
		set->target = 1;
		set->motor_limit = 500;
		break;
	case 4:
		set->motor = JOINT_MOTOR_VELOCITY;
		set->target = 2;
		set->motor_limit = 3;
		break;
	case 5:
		set->friction = 2;
		break;
	}
	test_do(world, &command);
}

/* A tree of hinges, slides and universal joints on which something acts. */
static void make_driven(struct world *world, uint64_t seed, body_id *out)
{
	static const enum joint_type TYPES[] = { JOINT_REVOLUTE, JOINT_PRISMATIC, JOINT_UNIVERSAL };
	struct rng rng = rng_seeded(seed);
	for (uint32_t i = 0; i < BODIES; i++) {
		uint32_t parent = i == 0 ? 0 : (i - 1) / 2, kind = rng_below(&rng, 3);
		vec3 at = vec3_make(1.2 * i, 0.3 * (i % 3), 0.5 * (i % 2));
		out[i] = joined_put(
			world,
			(struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = 1 + 0.2 * i });
		bool reversed = rng_below(&rng, 2) == 1;
		body_id on = i == 0 ? 0 : out[parent];
		joint_id joint = joined_join(
			world, TYPES[kind], reversed ? out[i] : on, reversed ? on : out[i],
			vec3_sub(at, vec3_make(0.5, 0.1, 0)), random_rotation(&rng));
		if (TYPES[kind] != JOINT_PRISMATIC)
			drive_axis(world, joint, 3, rng_below(&rng, 7));
		else
			drive_axis(world, joint, 0, rng_below(&rng, 7));
		if (TYPES[kind] == JOINT_UNIVERSAL)
			drive_axis(world, joint, 4, rng_below(&rng, 7));
	}
}

/* How far a mechanism is from the same under lcp at 2 kHz, after a quarter of a second. */
static double error_at(uint32_t rate, enum extras extras, uint64_t seed, uint32_t *reduced)
{
	struct world *worlds[2];
	body_id bodies[2][BODIES];
	for (uint32_t w = 0; w < 2; w++) {
		worlds[w] = make_world(w == 0 ? "soft-step" : "lcp", w == 0 ? rate : 2000, REDUCED);
		if (extras == DRIVES)
			make_driven(worlds[w], seed, bodies[w]);
		else
			make_mechanism(worlds[w], seed, BODIES, extras, bodies[w]);
		test_step(worlds[w], 1);
		if (w == 0)
			*reduced = world_stats(worlds[0]).islands_reduced;
		if (*reduced > 0)
			test_step(worlds[w], (w == 0 ? rate : 2000) / 4 - 1);
	}
	if (*reduced > 0)
		ck_assert_double_le(world_stats(worlds[0]).joint_error,
				    extras == DRIVES ? 1e-3 : 1e-12);
	double error = mechanisms_apart(worlds[0], worlds[1], bodies[0], BODIES);
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
	return error;
}

START_TEST(mechanisms_approach_the_exact_motion)
{
	enum extras extras = _i == 0 ? NOTHING : _i == 1 ? FLOATING : DRIVES;
	uint32_t told = 0;
	for (uint32_t k = 0; k < 6; k++) {
		uint32_t reduced;
		double coarse = error_at(60, extras, 1000 + k, &reduced), fine;
		fine = error_at(480, extras, 1000 + k, &reduced);
		if (getenv("CAIRN_MECHANISMS") != NULL)
			fprintf(stderr, "# %d %u: %.3g %.3g reduced %u\n", extras, k, coarse, fine,
				reduced);
		told += reduced > 0;
		if (reduced > 0)
			ck_assert_msg(fine < 0.25 * coarse || fine < 1e-4, "%u: %g then %g", k,
				      coarse, fine);
	}
	ck_assert_uint_gt(told, 2);
}
END_TEST

/* ---- what reduced coordinates promise ---------------------------------------------------------- */

static void stop_gravity(struct world *world)
{
	struct command gravity = test_command(COMMAND_GRAVITY);
	test_do(world, &gravity);
}

/* A floating chain of hinges and balls, which meets others; its ends. */
static body_id put_chain(struct world *world, uint32_t count, vec3 at, body_id *first)
{
	body_id last = 0;
	for (uint32_t i = 0; i < count; i++) {
		vec3 centre = vec3_add(at, vec3_make(1.1 * i, 0, 0));
		body_id next = joined_put(
			world, (struct joined_thing){
				       .shape = TEST_BOX, .at = centre, .mass = 1, .meets = true });
		if (i > 0)
			joined_join(world, i % 2 == 0 ? JOINT_SPHERICAL : JOINT_REVOLUTE, last,
				    next, vec3_sub(centre, vec3_make(0.55, 0, 0)), quat_identity());
		else
			*first = next;
		last = next;
	}
	return last;
}

START_TEST(a_floating_tree_that_is_hit_keeps_all_momenta)
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	body_id first;
	stop_gravity(world);
	put_chain(world, 5, vec3_zero(), &first);
	joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
						 .at = { 1.3, 3, 0.2 },
						 .mass = 2,
						 .velocity = { 0.3, -4, 0.1 },
						 .meets = true });
	struct world_energy before = world_energy(world), after;
	test_step(world, 60);
	after = world_energy(world);
	ck_assert_double_gt(before.kinetic - after.kinetic, 0.5);
	ASSERT_VEC3(after.linear, before.linear, 1e-6);
	ASSERT_VEC3(after.angular, before.angular, 2e-3);
	test_step(world, 240); /* alone again */
	struct world_energy later = world_energy(world);
	ASSERT_VEC3(later.linear, after.linear, 1e-6);
	ASSERT_VEC3(later.angular, after.angular, 1e-4);
	ck_assert_double_le(later.kinetic, after.kinetic);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 1);
	ck_assert_double_le(world_stats(world).joint_error, 1e-12);
	world_destroy(world);
}
END_TEST

/* Five seconds of free motion: momenta to rounding, energy in first order. */
START_TEST(a_floating_mechanism_keeps_its_momenta)
{
	for (uint64_t seed = 0; seed < 4; seed++) {
		struct world *world = make_world("soft-step", 60, REDUCED);
		body_id bodies[BODIES];
		stop_gravity(world);
		make_mechanism(world, seed, BODIES, FLOATING, bodies);
		test_step(world, 1);
		struct world_energy before = world_energy(world);
		test_step(world, 300);
		struct world_energy after = world_energy(world);
		if (getenv("CAIRN_MECHANISMS") != NULL)
			fprintf(stderr, "# energy %.6g then %.6g\n", before.kinetic, after.kinetic);
		ASSERT_VEC3(after.linear, before.linear, 1e-11);
		ASSERT_VEC3(after.angular, before.angular, 1e-10);
		ck_assert_double_le(after.kinetic, 1.001 * before.kinetic);
		ck_assert_double_ge(after.kinetic, 0.9 * before.kinetic);
		ck_assert_double_le(world_stats(world).joint_error, 1e-12);
		world_destroy(world);
	}
}
END_TEST

START_TEST(two_trees_that_meet_keep_their_momenta)
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	body_id first, other;
	stop_gravity(world);
	put_chain(world, 4, vec3_zero(), &first);
	put_chain(world, 3, vec3_make(0.7, 2, 0.4), &other);
	struct command command = test_command(COMMAND_IMPULSE);
	command.impulse.body = other;
	command.impulse.impulse = vec3_make(0, -6, 0);
	test_do(world, &command);
	struct world_energy before = world_energy(world), after;
	test_step(world, 90);
	after = world_energy(world);
	ASSERT_VEC3(after.linear, before.linear, 1e-6);
	ASSERT_VEC3(after.angular, before.angular, 2e-2);
	ck_assert_double_le(after.kinetic, before.kinetic);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 2);
	world_destroy(world);
}
END_TEST

/* A chain falls on the ground, lies still, sleeps, and wakes by a push. */
START_TEST(a_chain_falls_lies_and_wakes)
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	body_id first = 0;
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	put_chain(world, 6, vec3_make(0, 3, 0), &first);
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		ck_assert_double_le(world_stats(world).joint_error, 1e-12);
		ck_assert_double_gt(test_body(world, first).position.y, 0.4);
	}
	ck_assert_double_le(world_energy(world).kinetic, 1e-6);
	ck_assert_double_eq_tol(test_body(world, first).position.y, 0.5, 0.02);
	world_destroy(world);
}
END_TEST

/* Two boxes on a hinge bounce off the ground, and gain nothing. */
START_TEST(a_pair_bounces)
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	body_id pair[2];
	double lowest = 9, highest = 0, start = 0;
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .meets = true, .restitution = 0.8 });
	for (uint32_t i = 0; i < 2; i++)
		pair[i] = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
								   .at = { 1.1 * i, 3, 0 },
								   .mass = 1,
								   .restitution = 0.8,
								   .meets = true });
	joined_join(world, JOINT_REVOLUTE, pair[0], pair[1], vec3_make(0.55, 3, 0),
		    joined_about_z());
	for (uint32_t tick = 0; tick < 120; tick++) {
		struct world_energy energy = world_energy(world);
		double height = test_body(world, pair[0]).position.y;
		start = tick == 0 ? energy.kinetic + energy.potential : start;
		ck_assert_double_le(energy.kinetic + energy.potential, 1.01 * start);
		lowest = scalar_min(lowest, height);
		highest = lowest < 0.7 ? scalar_max(highest, height) : 0;
		test_step(world, 1);
	}
	ck_assert_double_gt(highest, 1.5);
	ck_assert_double_lt(highest, 2.9);
	ck_assert_uint_eq(world_stats(world).islands_reduced, 1);
	world_destroy(world);
}
END_TEST

/* No coordinate is lost, and nothing is quarantined, whatever the blow. */
START_TEST(great_blows_leave_numbers)
{
	static const double BLOWS[] = { 30, 100, 300, 1000 };
	struct world *world = make_world("soft-step", 60, REDUCED);
	body_id bodies[BODIES];
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .at = { 0, -3, 0 }, .meets = true });
	make_driven(world, 77, bodies);
	for (uint32_t i = 0; i < COUNT_OF(BLOWS); i++) {
		struct command command = test_command(COMMAND_IMPULSE);
		command.impulse.body = bodies[2 + i];
		command.impulse.impulse = vec3_make(0.3 * BLOWS[i], BLOWS[i], -0.2 * BLOWS[i]);
		test_do(world, &command);
		test_step(world, 60);
	}
	ck_assert_uint_eq(world_stats(world).quarantined_total, 0);
	world_destroy(world);
}
END_TEST

/* The force that a joint reports is that of lcp, and a motor at its bound exerts its bound. */
START_TEST(joints_report_their_forces)
{
	struct world *worlds[2];
	for (uint32_t w = 0; w < 2; w++) {
		body_id bodies[BODIES];
		worlds[w] = make_world(w == 0 ? "soft-step" : "lcp", 2000, REDUCED);
		make_driven(worlds[w], 5, bodies);
		test_step(worlds[w], 200);
	}
	for (joint_id joint = 1; joint <= BODIES; joint++) {
		struct joint_view soft = joined_view(worlds[0], joint),
				  exact = joined_view(worlds[1], joint);
		double size = vec3_length(exact.force) + vec3_length(exact.torque);
		ck_assert_double_gt(size, 0.1);
		ASSERT_VEC3(soft.force, exact.force, 0.01 * size);
		ASSERT_VEC3(soft.torque, exact.torque, 0.01 * size);
	}
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
}
END_TEST

/* What does not qualify keeps rows, and is told. */
START_TEST(the_choice_is_told)
{
	for (uint32_t what = 0; what < 4; what++) {
		struct world *world = make_world("soft-step", 60,
						 what == 0   ? MAXIMAL
						 : what == 3 ? AUTO
							     : REDUCED);
		body_id one = joined_put(
			world,
			(struct joined_thing){ .shape = TEST_BOX, .at = { 1, 0, 0 }, .mass = 1 });
		joint_id joint =
			joined_join(world, JOINT_REVOLUTE, 0, one, vec3_zero(), quat_identity());
		struct command axis = joined_axis(joint, 3);
		axis.joint_axis.spring = JOINT_SPRING_HERTZ;
		axis.joint_axis.stiffness = 1;
		if (what == 2)
			test_do(world, &axis);
		if (what == 3)
			joined_set(world, "articulated.rows", 0);
		test_step(world, 5);
		ck_assert_uint_eq(world_stats(world).islands_reduced, what == 1 || what == 3);
		ck_assert_uint_eq(world_stats(world).islands_maximal, what == 2);
		world_destroy(world);
	}
}
END_TEST

/* ---- lanes ------------------------------------------------------------------------------------ */

enum { ROBOTS = 9 };

/* Robots far from each other: random mechanisms with and without base and drives, some of them twice. `only`:
 * just this one, at its place (ROBOTS: all). */
static struct world *make_robots(uint32_t only, body_id bodies[ROBOTS][BODIES])
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	for (uint32_t r = 0; r < ROBOTS; r++) {
		uint64_t seed = 1000 + r / 2;
		if (only != ROBOTS && only != r)
			continue;
		if (r % 3 == 0)
			make_driven(world, seed, bodies[r]);
		else
			make_mechanism(world, seed, BODIES, r % 3 == 1 ? FLOATING : NOTHING,
				       bodies[r]);
	}
	return world;
}

/* The motion of a robot does not depend on which others share vectors with it, nor on their width. */
START_TEST(robots_side_by_side_move_as_each_alone)
{
	static const uint32_t LANES[] = { 1, 4, 8, 16 };
	body_id bodies[ROBOTS][BODIES], alone[ROBOTS][BODIES];
	uint64_t hash = 0;
	struct world *world = NULL;
	for (uint32_t i = 0; i < COUNT_OF(LANES); i++) {
		if (world != NULL)
			world_destroy(world);
		processor_limit_lanes(LANES[i]);
		world = make_robots(ROBOTS, bodies);
		test_step(world, 40);
		ck_assert_uint_gt(world_stats(world).islands_reduced, ROBOTS / 2);
		hash = i == 0 ? test_hash(world) : hash;
		ck_assert_uint_eq(test_hash(world), hash);
	}
	processor_limit_lanes(UINT32_MAX);
	for (uint32_t r = 0; r < ROBOTS; r++) {
		struct world *other = make_robots(r, alone);
		test_step(other, 40);
		for (uint32_t k = 0; k < BODIES; k++) {
			struct body_view a = test_body(world, bodies[r][k]);
			struct body_view b = test_body(other, alone[r][k]);
			ASSERT_VEC3(a.position, b.position, 0);
			ASSERT_VEC3(a.velocity, b.velocity, 0);
			ASSERT_VEC3(a.angular_velocity, b.angular_velocity, 0);
			ck_assert(quat_equal(a.rotation, b.rotation));
		}
		world_destroy(other);
	}
	world_destroy(world);
}
END_TEST

/* Joints of trees leave the list of those that are rows; gears stay at its end. */
START_TEST(gears_beside_a_tree_keep_their_joints)
{
	struct world *world = make_world("soft-step", 60, REDUCED);
	joint_id joints[3];
	for (uint32_t i = 0; i < 3; i++) {
		vec3 at = vec3_make(3.0 * i, 0, 0), place = vec3_sub(at, vec3_make(0.7, 0, 0));
		body_id body = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX, .at = at, .mass = 1 });
		joints[i] = joined_join(world, JOINT_REVOLUTE, 0, body, i == 0 ? place : at,
					joined_about_z());
		if (i > 0)
			joined_push(world, body, vec3_zero(), vec3_make(0, 0, i - 1.0));
	}
	struct command gear = test_command(COMMAND_JOINT_GEAR);
	gear.joint_gear = (struct command_JOINT_GEAR){
		.joint = joints[1], .axis = 3, .leader = joints[2], .leader_axis = 3, .ratio = 2
	};
	test_do(world, &gear);
	test_step(world, 60);
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.islands_reduced, 1);
	ck_assert_uint_gt(stats.islands_maximal, 0);
	ck_assert_double_lt(stats.joint_error, 1e-3);
	double follower = joined_view(world, joints[1]).coordinates[3];
	ck_assert_double_gt(fabs(follower), 0.1);
	ck_assert_double_eq_tol(follower, 2 * joined_view(world, joints[2]).coordinates[3], 1e-3);
	ck_assert_double_lt(joined_view(world, joints[0]).coordinates[3], -0.5);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_tree");
	TCase *agree = tcase_create("agree");
	tcase_set_timeout(agree, 60);
	tcase_add_loop_test(agree, mechanisms_approach_the_exact_motion, 0, 3);
	tcase_add_test(agree, joints_report_their_forces);
	suite_add_tcase(suite, agree);
	TCase *promise = tcase_create("promise");
	tcase_add_test(promise, a_floating_tree_that_is_hit_keeps_all_momenta);
	tcase_add_test(promise, a_floating_mechanism_keeps_its_momenta);
	tcase_add_test(promise, two_trees_that_meet_keep_their_momenta);
	tcase_add_test(promise, a_chain_falls_lies_and_wakes);
	tcase_add_test(promise, a_pair_bounces);
	tcase_add_test(promise, great_blows_leave_numbers);
	tcase_add_test(promise, the_choice_is_told);
	tcase_add_test(promise, robots_side_by_side_move_as_each_alone);
	tcase_add_test(promise, gears_beside_a_tree_keep_their_joints);
	suite_add_tcase(suite, promise);
	return suite;
}

int main(void)
{
	return check_main(make);
}
