/* How bodies move by command: gravity's factor and greatest speeds under every method, given centres and
 * moments, targets of animated bodies, explosions; refusals; images. Analytic solutions are the reference. */
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include <math.h>

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };
enum { METHOD_COUNT = 7 };

static struct command motion_of(body_id body, double scale, double speed, double spin)
{
	struct command command = test_command(COMMAND_SET_MOTION);
	command.set_motion.body = body;
	command.set_motion.gravity_scale = scale;
	command.set_motion.speed_max = speed;
	command.set_motion.angular_speed_max = spin;
	return command;
}

/* Falls with its own share of gravity, and the world's energy counts that share. */
START_TEST(gravity_acts_with_the_bodys_factor)
{
	static const double factors[] = { 1, 0, 0.5, -1, 2.5 };
	struct world *world = test_world(false, METHODS[_i]);
	body_id bodies[5];
	for (uint32_t i = 0; i < COUNT_OF(factors); i++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, TEST_SPHERE, vec3_make(4.0 * i, 100, 0), &item);
		spawn.spawn.gravity_scale = i < 3 ? factors[i] : 1;
		bodies[i] = test_do(world, &spawn);
		if (i < 3)
			continue;
		struct command set = motion_of(bodies[i], factors[i], 0, 0);
		test_do(world, &set);
	}
	struct world_energy before = world_energy(world);
	test_step(world, 60);
	for (uint32_t i = 0; i < COUNT_OF(factors); i++) {
		expect_near(test_body(world, bodies[i]).velocity,
			    vec3_make(0, -9.81 * factors[i], 0), 1e-9);
		ck_assert_double_eq_tol(test_body(world, bodies[i]).position.y,
					100 - 0.5 * 9.81 * factors[i], 0.2);
	}
	struct world_energy after = world_energy(world);
	double change = after.kinetic + after.potential - before.kinetic - before.potential;
	ck_assert_double_le(fabs(change), 0.05 * after.kinetic);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A body under a constant force and torque reaches its greatest speeds and keeps them. */
START_TEST(a_body_is_no_faster_than_its_greatest_speeds)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	spawn.spawn.mass = 1;
	spawn.spawn.speed_max = 3;
	spawn.spawn.angular_speed_max = 2;
	body_id body = test_do(world, &spawn);
	struct command push = test_command(COMMAND_FORCE), turn = test_command(COMMAND_TORQUE);
	push.force.body = turn.torque.body = body;
	push.force.ticks = turn.torque.ticks = 1000;
	push.force.force = vec3_make(12, 0, 0);
	turn.torque.torque = vec3_make(0, 0, 1);
	test_do(world, &push);
	test_do(world, &turn);
	double most = 0, spin = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		struct body_view view = test_body(world, body);
		most = fmax(most, vec3_length(view.velocity));
		spin = fmax(spin, vec3_length(view.angular_velocity));
		ck_assert_double_le(vec3_length(view.velocity), 3 * (1 + 1e-12));
		ck_assert_double_le(vec3_length(view.angular_velocity), 2 * (1 + 1e-12));
	}
	ck_assert_double_eq_tol(most, 3, 1e-9);
	ck_assert_double_eq_tol(spin, 2, 1e-9);
	/* An impulse is bounded from the next tick on; without the limit it is not. */
	struct command kick = test_command(COMMAND_IMPULSE);
	kick.impulse.body = body;
	kick.impulse.impulse = vec3_make(0, 50, 0);
	test_do(world, &kick);
	test_step(world, 1);
	ck_assert_double_le(vec3_length(test_body(world, body).velocity), 3 * (1 + 1e-12));
	struct command set = motion_of(body, 1, 0, 0);
	test_do(world, &set);
	test_do(world, &kick);
	test_step(world, 1);
	ck_assert_double_gt(vec3_length(test_body(world, body).velocity), 40);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A joint six_dof to the world locks the axes that it does not free (docs/SCENES.md): along x, up, and
 * turning about the upward axis. */
START_TEST(a_joint_locks_axes)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_SIX_DOF;
	joint.joint_create.body_b = body;
	joint.joint_create.frame_a = joint.joint_create.frame_b =
		quat_make(sqrt(0.5), 0, 0, sqrt(0.5));
	joint_id id = test_do(world, &joint);
	static const uint8_t free[] = { 0, 1, 3 };
	for (uint32_t i = 0; i < COUNT_OF(free); i++) {
		struct command axis = test_command(COMMAND_JOINT_AXIS);
		axis.joint_axis.joint = id;
		axis.joint_axis.axis = free[i];
		axis.joint_axis.mode = JOINT_FREE;
		test_do(world, &axis);
	}
	struct command kick = test_command(COMMAND_IMPULSE),
		       turn = test_command(COMMAND_ANGULAR_IMPULSE);
	kick.impulse.body = turn.angular_impulse.body = body;
	kick.impulse.impulse = vec3_make(1000, 500, 700);
	turn.angular_impulse.impulse = vec3_make(300, 400, 200);
	test_do(world, &kick);
	test_do(world, &turn);
	test_step(world, 60);
	struct body_view view = test_body(world, body);
	expect_near(vec3_make(0, 0, view.position.z), vec3_zero(), 2e-3);
	expect_near(vec3_make(view.angular_velocity.x, 0, view.angular_velocity.z), vec3_zero(),
		    1e-3);
	ck_assert_double_gt(view.position.x, 0.5);
	ck_assert_double_gt(view.position.y, 0.2);
	ck_assert_double_gt(view.angular_velocity.y, 1);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Locks the axes of `locked` (bits 0 to 2 along, 3 to 5 about x, y, z of the world) of a cube of
 * 1000 kg that then gets an impulse and an angular impulse at its centre; returns the cube after a
 * second. */
static struct body_view kicked_with_locks(const char *method, uint32_t locked, double *coordinates)
{
	struct world *world = test_world(false, method);
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command joint = test_command(COMMAND_JOINT_CREATE);
	joint.joint_create.type = JOINT_SIX_DOF;
	joint.joint_create.body_b = body;
	joint_id id = test_do(world, &joint);
	for (uint8_t i = 0; i < JOINT_AXES; i++) {
		struct command axis = test_command(COMMAND_JOINT_AXIS);
		axis.joint_axis.joint = id;
		axis.joint_axis.axis = i;
		axis.joint_axis.mode = JOINT_FREE;
		if (!(locked & 1u << i))
			test_do(world, &axis);
	}
	struct command kick = test_command(COMMAND_IMPULSE),
		       turn = test_command(COMMAND_ANGULAR_IMPULSE);
	kick.impulse.body = turn.angular_impulse.body = body;
	kick.impulse.impulse = vec3_make(1000, 500, 700);
	turn.angular_impulse.impulse = vec3_make(30, 40, 20);
	test_do(world, &kick);
	test_do(world, &turn);
	test_step(world, 60);
	struct body_view view = test_body(world, body);
	struct joint_view joined;
	ck_assert_int_eq(world_joint(world, id, &joined), STATUS_OK);
	for (uint32_t i = 0; i < JOINT_AXES; i++)
		coordinates[i] = joined.coordinates[i];
	test_check(world);
	world_destroy(world);
	return view;
}

/* Every set of locked axes: what is locked stays at 0, what is free moves as if nothing was locked. A
 * cube has the same moment (1000 / 6 kg m2) about every axis, so it turns uniformly, if it turns
 * about one axis or about all. */
START_TEST(every_set_of_locked_axes_holds)
{
	static const double impulse[] = { 1000, 500, 700 }, turn[] = { 30, 40, 20 };
	for (uint32_t locked = 0; locked < 1u << JOINT_AXES; locked++) {
		double at[JOINT_AXES];
		struct body_view view = kicked_with_locks(METHODS[_i], locked, at);
		uint32_t turning = 3 - (locked >> 3 & 1) - (locked >> 4 & 1) - (locked >> 5);
		double found[] = { view.position.x, view.position.y, view.position.z };
		double spin[] = { view.angular_velocity.x, view.angular_velocity.y,
				  view.angular_velocity.z };
		for (uint32_t i = 0; i < 3; i++) {
			bool slides = !(locked & 1u << i), turns = !(locked & 8u << i);
			ck_assert_double_eq_tol(found[i], slides ? impulse[i] / 1000 : 0, 2e-3);
			if (!turns)
				ck_assert_double_eq_tol(at[3 + i], 0, 2e-3);
			if (turning != 2)
				ck_assert_double_eq_tol(spin[i], turns ? turn[i] * 6 / 1000 : 0,
							1e-3);
		}
	}
}
END_TEST

/* ---- mass ------------------------------------------------------------------------------------- */

/* A torque-free body with moments 1, 2, 2.5 keeps L and its energy; an impulse at the given centre does not
 * turn it. */
START_TEST(given_moments_and_centres_are_those_of_the_motion)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct mass_view mass;
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 3;
	spawn.spawn.mass_rule = MASS_GIVEN;
	spawn.spawn.centre = vec3_make(0.2, -0.1, 0.3);
	spawn.spawn.inertia = vec3_make(1, 2, 2.5);
	spawn.spawn.inertia_rotation = quat_from_rotation_vector(vec3_make(0.3, 0.5, -0.2));
	body_id body = test_do(world, &spawn);
	ck_assert_int_eq(world_mass(world, body, &mass), STATUS_OK);
	ck_assert_double_eq(mass.mass, 3);
	expect_near(mass.centre, spawn.spawn.centre, 1e-15);
	expect_near(mass.moments, vec3_make(2.5, 2, 1), 1e-12);
	struct command kick = test_command(COMMAND_IMPULSE);
	kick.impulse.body = body;
	kick.impulse.impulse = vec3_make(6, 0, 0);
	test_do(world, &kick);
	test_step(world, 1);
	expect_near(test_body(world, body).velocity, vec3_make(2, 0, 0), 1e-12);
	expect_near(test_body(world, body).angular_velocity, vec3_zero(), 1e-12);
	struct command spin = test_command(COMMAND_ANGULAR_IMPULSE);
	spin.angular_impulse.body = body;
	spin.angular_impulse.impulse = vec3_make(0.4, 3, -1);
	test_do(world, &spin);
	struct world_energy start = world_energy(world);
	test_step(world, 60);
	struct world_energy end = world_energy(world);
	expect_near(end.linear, vec3_make(6, 0, 0), 1e-9);
	expect_near(end.angular, start.angular, 1e-6);
	ck_assert_double_eq_tol(end.kinetic, start.kinetic, 1e-4 * start.kinetic);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_given_centre_alone_keeps_the_moments_of_the_shapes)
{
	struct world *world = test_world(false, "soft-step");
	struct mass_view plain, moved;
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	body_id one = test_do(world, &spawn);
	spawn.spawn.mass_rule = MASS_WITH_CENTRE;
	spawn.spawn.centre = vec3_make(0, -0.4, 0);
	spawn.spawn.position = vec3_make(5, 0, 0);
	body_id other = test_do(world, &spawn);
	ck_assert_int_eq(world_mass(world, one, &plain), STATUS_OK);
	ck_assert_int_eq(world_mass(world, other, &moved), STATUS_OK);
	ck_assert_double_eq(moved.mass, plain.mass);
	expect_near(moved.moments, plain.moments, 1e-9 * plain.moments.x);
	expect_near(moved.centre, vec3_make(5, -0.4, 0), 1e-12);
	world_destroy(world);
}
END_TEST

/* What a rule does not read is refused, because it would have no effect. */
START_TEST(a_centre_or_moments_without_their_rule_are_refused)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	for (uint8_t rule = MASS_OF_SHAPES; rule <= MASS_GIVEN; rule++)
		for (uint32_t given = 0; given < 4; given++) {
			struct command spawn =
				test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
			spawn.spawn.mass = 1;
			spawn.spawn.mass_rule = rule;
			spawn.spawn.centre = vec3_make(given & 1 ? 0.1 : 0, 0, 0);
			spawn.spawn.inertia = vec3_all(given & 2 ? 1 : 0);
			bool read = (!(given & 1) || rule != MASS_OF_SHAPES) &&
				    ((given & 2) != 0) == (rule == MASS_GIVEN);
			ck_assert_int_eq(test_try(world, &spawn), read ? STATUS_OK : STATUS_RANGE);
		}
	world_destroy(world);
}
END_TEST

START_TEST(moments_that_no_body_has_are_refused)
{
	static const struct {
		double mass;
		vec3 inertia;
		enum status status;
		bool planar;
	} rows[] = {
		{ 1, { 1, 1, 2.1 }, STATUS_DEGENERATE, false },
		{ 1, { 1, 0, 1 }, STATUS_RANGE, false },
		{ 0, { 1, 1, 1 }, STATUS_RANGE, false },
		{ 1, { 1, 1, 2 }, STATUS_OK, false },
		{ 1, { 0, 0, 0 }, STATUS_RANGE, true },
		{ 1, { 0, 0, 1 }, STATUS_OK, true },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct world *world = test_world(rows[i].planar, "soft-step");
		struct attachment item;
		struct command spawn = test_spawn_command(
			world, rows[i].planar ? TEST_POLYGON : TEST_BOX, vec3_zero(), &item);
		uint64_t before = test_hash(world);
		spawn.spawn.mass_rule = MASS_GIVEN;
		spawn.spawn.mass = rows[i].mass;
		spawn.spawn.inertia = rows[i].inertia;
		ck_assert_int_eq(test_try(world, &spawn), rows[i].status);
		ck_assert((test_hash(world) == before) == (rows[i].status != STATUS_OK));
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* ---- targets ----------------------------------------------------------------------------------- */

static struct command target_of(body_id body, vec3 position, quat rotation)
{
	struct command command = test_command(COMMAND_MOVE_TO);
	command.move_to.body = body;
	command.move_to.position = position;
	command.move_to.rotation = rotation;
	return command;
}

/* A platform with an eccentric mass centre follows a turning path, arrives at each pose, shows the velocity
 * of the way, and stops when no target comes. */
START_TEST(an_animated_body_arrives_at_its_target_and_stops)
{
	struct world *world = test_world(false, METHODS[_i]);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.status = BODY_ANIMATED;
	item.position = vec3_make(0.5, 0, 0);
	body_id body = test_do(world, &spawn);
	for (uint32_t tick = 1; tick <= 30; tick++) {
		vec3 at = vec3_make(0.02 * tick, 0.001 * tick * tick, 0);
		quat turned = quat_from_rotation_vector(vec3_make(0, 0.05 * tick, 0));
		struct command to = target_of(body, at, turned);
		test_do(world, &to);
		test_step(world, 1);
		struct body_view view = test_body(world, body);
		expect_near(view.position, at, 1e-12);
		ck_assert_double_ge(fabs(quat_dot(view.rotation, turned)), 1 - 1e-13);
		expect_near(view.angular_velocity, vec3_make(0, 3, 0), 1e-9);
	}
	struct body_view last = test_body(world, body);
	struct bytes image = test_save(world);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	for (uint32_t i = 0; i < 2; i++) {
		struct world *one = i == 0 ? world : copy;
		test_step(one, 3);
		expect_near(test_body(one, body).position, last.position, 1e-300);
		expect_near(test_body(one, body).velocity, vec3_zero(), 1e-300);
		test_check(one);
	}
	ck_assert_uint_eq(test_hash(copy), test_hash(world));
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* A box rides on a platform that is moved by targets: it keeps its place on it. Under `impact` friction
 * accelerates it over the tick, while the platform has its new speed from the tick's beginning: it is behind
 * by the speed times half a tick. */
START_TEST(a_box_rides_on_a_platform_with_targets)
{
	static const struct {
		const char *method;
		double behind; /* ticks */
	} rows[] = { { "soft-step", 0 }, { "lcp", 0 }, { "penalty", 0 }, { "impact", 0.5 } };
	struct world *world = test_world(false, rows[_i].method);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.status = BODY_ANIMATED;
	body_id platform = test_do(world, &spawn);
	body_id rider = test_spawn(world, TEST_BOX, vec3_make(0, 1, 0));
	test_step(world, 60);
	vec3 before = test_body(world, rider).position;
	for (uint32_t tick = 1; tick <= 120; tick++) {
		struct command to = target_of(platform, vec3_make(0.00005 * tick * tick, 0, 0),
					      quat_identity());
		test_do(world, &to);
		test_step(world, 1);
	}
	vec3 moved = vec3_sub(test_body(world, rider).position, before);
	struct body_view end = test_body(world, platform);
	expect_near(moved, vec3_mul_sub(end.position, end.velocity, rows[_i].behind / 60), 1e-3);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(targets_that_cannot_be_reached_are_refused)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	body_id dynamic = test_do(world, &spawn);
	spawn.spawn.position = vec3_make(10, 0, 0);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.flags |= BODY_FIXED_ROTATION;
	body_id animated = test_do(world, &spawn);
	struct command to = target_of(dynamic, vec3_zero(), quat_identity());
	ck_assert_int_eq(test_try(world, &to), STATUS_STATUS_WRONG);
	to = target_of(animated, vec3_make(1000, 0, 0), quat_identity());
	ck_assert_int_eq(test_try(world, &to), STATUS_RANGE);
	to = target_of(animated, vec3_make(10, 0, 0), quat_make(0.8, 0.6, 0, 0));
	ck_assert_int_eq(test_try(world, &to), STATUS_STATUS_WRONG);
	to = target_of(animated, vec3_make(10.1, 0, 0), quat_identity());
	ck_assert_int_eq(test_try(world, &to), STATUS_OK);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- explosions -------------------------------------------------------------------------------- */

static struct command explosion_of(vec3 at, double radius, double core, double impulse)
{
	struct command command = test_command(COMMAND_EXPLODE);
	command.explode.position = at;
	command.explode.radius = radius;
	command.explode.core = core;
	command.explode.impulse = impulse;
	return command;
}

/* Balls of 1 kg at growing distance: J within core, linear from there to 0 at the radius. */
START_TEST(an_explosion_falls_off_with_the_distance)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	body_id balls[8];
	for (uint32_t i = 0; i < COUNT_OF(balls); i++) {
		struct attachment item;
		double angle = 0.7 * i;
		struct command spawn = test_spawn_command(
			world, TEST_SPHERE,
			vec3_make((1.5 + i) * cos(angle), (1.5 + i) * sin(angle), 0), &item);
		spawn.spawn.mass = 1;
		spawn.spawn.category = i == 2 ? 2 : 1;
		balls[i] = test_do(world, &spawn);
	}
	struct command blast = explosion_of(vec3_zero(), 6, 2, 4);
	blast.explode.mask = 1;
	test_do(world, &blast);
	for (uint32_t i = 0; i < COUNT_OF(balls); i++) {
		double distance = 1.0 + i, angle = 0.7 * i;
		double speed = i == 2 ? 0 : 4 * fmin(fmax((6 - distance) / 4, 0), 1);
		expect_near(test_body(world, balls[i]).velocity,
			    vec3_make(speed * cos(angle), speed * sin(angle), 0), 1e-9);
	}
	test_step(world, 1);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* The impulse acts at the nearest point, so it turns a box that it meets off its centre; momentum is J. */
START_TEST(an_explosion_turns_what_it_hits_off_centre)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(2, 0, 0), &item);
	spawn.spawn.mass = 1;
	body_id box = test_do(world, &spawn);
	struct command blast = explosion_of(vec3_make(0, 0.25, 0), 5, 5, 3);
	test_do(world, &blast);
	struct body_view view = test_body(world, box);
	expect_near(view.velocity, vec3_make(3, 0, 0), 1e-9);
	/* J times the arm 0.25 over m (1 + 1)/12. */
	expect_near(view.angular_velocity, vec3_make(0, 0, -3 * 0.25 * 6), 1e-9);
	world_destroy(world);
}
END_TEST

START_TEST(a_static_wall_shields_what_is_behind_it)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct attachment item;
	struct command wall = test_spawn_command(world, TEST_BOX, vec3_make(2, 0, 0), &item);
	wall.spawn.status = BODY_STATIC;
	test_do(world, &wall);
	body_id behind = test_spawn(world, TEST_SPHERE, vec3_make(4, 0, 0));
	body_id beside = test_spawn(world, TEST_SPHERE, vec3_make(0, 4, 0));
	struct command blast = explosion_of(vec3_zero(), 10, 10, 100);
	blast.explode.shadow = 1;
	test_do(world, &blast);
	expect_near(test_body(world, behind).velocity, vec3_zero(), 1e-300);
	ck_assert_double_gt(test_body(world, beside).velocity.y, 0.01);
	blast.explode.shadow = 0;
	test_do(world, &blast);
	ck_assert_double_gt(test_body(world, behind).velocity.x, 0.01);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_planar_explosion_pushes_in_the_plane)
{
	struct world *world = test_world(true, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, vec3_make(3, 4, 0), &item);
	spawn.spawn.mass = 2;
	spawn.spawn.shapes.count = 0;
	body_id body = test_do(world, &spawn);
	struct command blast = explosion_of(vec3_zero(), 10, 6, 10);
	test_do(world, &blast);
	expect_near(test_body(world, body).velocity, vec3_make(3, 4, 0), 1e-9);
	blast.explode.position.z = 1;
	ck_assert_int_eq(test_try(world, &blast), STATUS_PLANAR);
	blast = explosion_of(vec3_zero(), 1, 2, 10);
	ck_assert_int_eq(test_try(world, &blast), STATUS_RANGE);
	blast = explosion_of(vec3_zero(), 0, 0, 10);
	ck_assert_int_eq(test_try(world, &blast), STATUS_RANGE);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("controls");
	TCase *tests = tcase_create("controls");
	tcase_add_loop_test(tests, gravity_acts_with_the_bodys_factor, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_body_is_no_faster_than_its_greatest_speeds, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_joint_locks_axes, 1, 6);
	tcase_add_loop_test(tests, every_set_of_locked_axes_holds, 1, 6);
	tcase_add_loop_test(tests, given_moments_and_centres_are_those_of_the_motion, 0,
			    METHOD_COUNT);
	tcase_add_test(tests, a_given_centre_alone_keeps_the_moments_of_the_shapes);
	tcase_add_test(tests, a_centre_or_moments_without_their_rule_are_refused);
	tcase_add_test(tests, moments_that_no_body_has_are_refused);
	tcase_add_loop_test(tests, an_animated_body_arrives_at_its_target_and_stops, 0,
			    METHOD_COUNT);
	tcase_add_loop_test(tests, a_box_rides_on_a_platform_with_targets, 0, 4);
	tcase_add_test(tests, targets_that_cannot_be_reached_are_refused);
	tcase_add_loop_test(tests, an_explosion_falls_off_with_the_distance, 0, METHOD_COUNT);
	tcase_add_test(tests, an_explosion_turns_what_it_hits_off_centre);
	tcase_add_test(tests, a_static_wall_shields_what_is_behind_it);
	tcase_add_test(tests, a_planar_explosion_pushes_in_the_plane);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
