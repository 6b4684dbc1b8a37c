/* The effect of each command. */
#include "server/engine/engine.h"

#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

static struct world *world;

static void setup(void)
{
	world = test_world(false, "free");
}

static void teardown(void)
{
	test_check(world);
	world_destroy(world);
}

static struct command command_about(enum command_op op, body_id body)
{
	/* Every command about a body has the field `body` first. */
	struct command command = test_command(op);
	command.remove.body = body;
	return command;
}

START_TEST(using_a_shape_twice_gives_the_same_id_and_another_gets_the_next)
{
	shape_id sphere = test_use(world, TEST_SPHERE);
	ck_assert_uint_eq(sphere, 1);
	ck_assert_uint_eq(test_use(world, TEST_BOX), 2);
	ck_assert_uint_eq(test_use(world, TEST_SPHERE), sphere);
	ck_assert_uint_eq(world_stats(world).shapes, 2);
}
END_TEST

START_TEST(an_unused_shape_can_be_dropped_and_gets_a_new_id_later)
{
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command drop = test_command(COMMAND_SHAPE_DROP);
	drop.shape_drop.shape = 1;
	ck_assert_int_eq(test_try(world, &drop), STATUS_IN_USE);
	struct command remove = command_about(COMMAND_REMOVE, body);
	test_do(world, &remove);
	test_do(world, &drop);
	ck_assert_int_eq(test_try(world, &drop), STATUS_UNKNOWN_SHAPE);
	ck_assert_uint_eq(world_stats(world).shapes, 0);
	ck_assert_uint_eq(test_use(world, TEST_BOX), 2);
}
END_TEST

START_TEST(spawn_stores_its_fields)
{
	struct attachment items[2] = {
		{ test_use(world, TEST_BOX), { 1, 0, 0 }, { 1, 0, 0, 0 } },
		{ test_use(world, TEST_SPHERE), { -1, 0, 0 }, { 1, 0, 0, 0 } }
	};
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.position = vec3_make(1, 2, 3);
	spawn.spawn.rotation = quat_make(0, 2, 0, 0);
	spawn.spawn.velocity = vec3_make(4, 5, 6);
	spawn.spawn.angular_velocity = vec3_make(7, 8, 9);
	spawn.spawn.owner = 11;
	spawn.spawn.tag = -12;
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	struct body_view view = test_body(world, test_do(world, &spawn));
	ck_assert_uint_eq(view.id, 1);
	ck_assert_int_eq(view.status, BODY_ANIMATED);
	ck_assert(vec3_equal(view.position, vec3_make(1, 2, 3)));
	ck_assert(quat_equal(view.rotation, quat_make(0, 1, 0, 0)));
	ck_assert(vec3_equal(view.velocity, vec3_make(4, 5, 6)));
	ck_assert(vec3_equal(view.angular_velocity, vec3_make(7, 8, 9)));
	ck_assert_uint_eq(view.owner, 11);
	ck_assert_int_eq(view.tag, -12);
	struct placement_view placements[3];
	ck_assert_uint_eq(world_body_placements(world, 1, placements, 3), 2);
	ck_assert_ptr_eq(placements[0].shape, test_shape(TEST_BOX));
	ck_assert_ptr_eq(placements[1].shape, test_shape(TEST_SPHERE));
	ck_assert_double_eq(placements[1].position.x, -1);
}
END_TEST

START_TEST(mass_comes_from_density_or_is_given)
{
	body_id heavy = test_spawn(world, TEST_BOX, vec3_zero());
	ck_assert_double_eq_tol(test_body(world, heavy).mass, 1000, 1e-9);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 3;
	item.position = vec3_make(2, 0, 0);
	struct body_view light = test_body(world, test_do(world, &spawn));
	ck_assert_double_eq_tol(light.mass, 3, 1e-12);
	ck_assert_double_eq_tol(light.centre.x, 2, 1e-12);
	ck_assert_double_eq(test_body(world, test_spawn(world, TEST_SHAPES, vec3_zero())).mass, 1);
}
END_TEST

START_TEST(two_shapes_have_the_mass_centre_and_inertia_of_one_body)
{
	/* Two cubes of 1000 kg, 4 m apart: centre between them; about y: 2 (m/6 + m 2²). */
	shape_id box = test_use(world, TEST_BOX);
	struct attachment items[2] = { { box, { -1, 0, 0 }, { 1, 0, 0, 0 } },
				       { box, { 3, 0, 0 }, { 1, 0, 0, 0 } } };
	struct command spawn = test_command(COMMAND_SPAWN);
	spawn.spawn.shapes = (struct attachment_list){ items, 2 };
	spawn.spawn.angular_velocity = vec3_make(0, 2, 0);
	struct body_view view = test_body(world, test_do(world, &spawn));
	ck_assert_double_eq_tol(view.mass, 2000, 1e-9);
	ck_assert_double_eq_tol(view.centre.x, 1, 1e-12);
	double inertia = 2 * (1000.0 / 6 + 1000.0 * 4);
	ck_assert_double_eq_tol(world_energy(world).kinetic, 0.5 * inertia * 4, 1e-6);
}
END_TEST

START_TEST(a_body_with_fixed_rotation_takes_no_torque)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.flags = BODY_FIXED_ROTATION;
	body_id body = test_do(world, &spawn);
	struct command torque = command_about(COMMAND_TORQUE, body);
	torque.torque.torque = vec3_make(1000, 0, 0);
	test_do(world, &torque);
	struct command push = command_about(COMMAND_IMPULSE, body);
	push.impulse.impulse = vec3_make(0, 0, 1000);
	push.impulse.point = vec3_make(0.5, 0, 0);
	test_do(world, &push);
	test_step(world, 3);
	ck_assert(vec3_equal(test_body(world, body).angular_velocity, vec3_zero()));
	ck_assert_double_eq_tol(test_body(world, body).velocity.z, 1, 1e-12);
	spawn.spawn.angular_velocity.y = 1;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_STATUS_WRONG);
}
END_TEST

START_TEST(remove_ends_the_body_and_its_uses_of_shapes)
{
	body_id one = test_spawn(world, TEST_BOX, vec3_zero());
	body_id other = test_spawn(world, TEST_BOX, vec3_make(3, 0, 0));
	struct command remove = command_about(COMMAND_REMOVE, one);
	test_do(world, &remove);
	struct body_view view;
	ck_assert_int_eq(world_body(world, one, &view), STATUS_UNKNOWN_BODY);
	ck_assert_int_eq(test_try(world, &remove), STATUS_UNKNOWN_BODY);
	body_id ids[4];
	ck_assert_uint_eq(world_bodies(world, ids, 4), 1);
	ck_assert_uint_eq(ids[0], other);
}
END_TEST

START_TEST(ids_are_monotone_while_slots_are_reused)
{
	struct command remove;
	uint32_t rows = 0;
	for (body_id id = 1; id <= 50; id++) {
		ck_assert_uint_eq(test_spawn(world, TEST_SPHERE, vec3_make(id, 0, 0)), id);
		if (id % 2 == 0) {
			remove = command_about(COMMAND_REMOVE, id - 1);
			test_do(world, &remove);
		}
		rows = world_stats(world).bodies;
	}
	ck_assert_uint_eq(rows, 25);
	body_id ids[50];
	ck_assert_uint_eq(world_bodies(world, ids, 50), 25);
	for (uint32_t i = 0; i < 25; i++)
		ck_assert_uint_eq(ids[i], 2 * i + 2);
}
END_TEST

START_TEST(set_pose_and_set_velocity_store_their_fields)
{
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command place = command_about(COMMAND_SET_POSE, body);
	place.set_pose.position = vec3_make(5, 6, 7);
	place.set_pose.rotation = quat_make(0, 0, 1, 0);
	test_do(world, &place);
	struct command move = command_about(COMMAND_SET_VELOCITY, body);
	move.set_velocity.velocity = vec3_make(1, 0, 0);
	move.set_velocity.angular_velocity = vec3_make(0, 1, 0);
	test_do(world, &move);
	struct body_view view = test_body(world, body);
	ck_assert(vec3_equal(view.position, vec3_make(5, 6, 7)));
	ck_assert(quat_equal(view.rotation, quat_make(0, 0, 1, 0)));
	ck_assert(vec3_equal(view.velocity, vec3_make(1, 0, 0)));
	ck_assert(vec3_equal(view.angular_velocity, vec3_make(0, 1, 0)));
}
END_TEST

START_TEST(the_status_decides_what_moves_a_body)
{
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command move = command_about(COMMAND_SET_VELOCITY, body);
	move.set_velocity.velocity = vec3_make(60, 0, 0);
	struct command status = command_about(COMMAND_SET_STATUS, body);
	struct command push = command_about(COMMAND_IMPULSE, body);

	status.set_status.status = BODY_STATIC;
	test_do(world, &move);
	test_do(world, &status);
	ck_assert(vec3_equal(test_body(world, body).velocity, vec3_zero()));
	ck_assert_int_eq(test_try(world, &move), STATUS_STATUS_WRONG);
	test_step(world, 1);
	ck_assert(vec3_equal(test_body(world, body).position, vec3_zero()));

	status.set_status.status = BODY_ANIMATED;
	test_do(world, &status);
	test_do(world, &move);
	ck_assert_int_eq(test_try(world, &push), STATUS_STATUS_WRONG);
	test_step(world, 1);
	ck_assert_double_eq_tol(test_body(world, body).position.x, 1, 1e-12);
	ck_assert_double_eq(test_body(world, body).position.y, 0);

	status.set_status.status = BODY_INACTIVE;
	test_do(world, &status);
	test_step(world, 1);
	ck_assert_double_eq_tol(test_body(world, body).position.x, 1, 1e-12);

	status.set_status.status = BODY_DYNAMIC;
	test_do(world, &status);
	test_step(world, 1);
	ck_assert_double_eq_tol(test_body(world, body).position.x, 2, 1e-12);
	ck_assert_double_lt(test_body(world, body).position.y, 0);
}
END_TEST

/* A bullet passes a thin plate, and another does not: the flag is set after it was made, and taken away. */
START_TEST(set_status_changes_whether_a_body_is_fast)
{
	static const struct {
		uint8_t first, then;
		bool stops;
	} rows[] = { { SWITCH_KEEP, SWITCH_KEEP, false },
		     { SWITCH_ON, SWITCH_KEEP, true },
		     { SWITCH_ON, SWITCH_OFF, false } };
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("soft-step");
	test_do(world, &method);
	body_id wall = test_spawn(world, TEST_BOX, vec3_make(0, 50, 0));
	body_id bullet = test_spawn(world, TEST_SPHERE, vec3_make(-4, 50, 0));
	struct command shoot = command_about(COMMAND_SET_VELOCITY, bullet);
	shoot.set_velocity.velocity = vec3_make(600, 0, 0);
	test_do(world, &shoot);
	struct command status = command_about(COMMAND_SET_STATUS, bullet);
	status.set_status.status = BODY_DYNAMIC;
	status.set_status.fast = rows[_i].first;
	test_do(world, &status);
	status.set_status.fast = rows[_i].then;
	test_do(world, &status);
	test_step(world, 1);
	ck_assert_int_eq(test_body(world, bullet).position.x < test_body(world, wall).position.x,
			 rows[_i].stops);
	status.set_status.fast = 3;
	ck_assert_int_eq(test_try(world, &status), STATUS_RANGE);
}
END_TEST

START_TEST(planes_and_meshes_never_move)
{
	for (int shape = TEST_PLANE; shape <= TEST_MESH; shape++) {
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, (enum test_shape)shape, vec3_zero(), &item);
		spawn.spawn.status = BODY_DYNAMIC;
		ck_assert_int_eq(test_try(world, &spawn), STATUS_STATUS_WRONG);
		spawn.spawn.status = BODY_STATIC;
		struct command status = command_about(COMMAND_SET_STATUS, test_do(world, &spawn));
		status.set_status.status = BODY_DYNAMIC;
		ck_assert_int_eq(test_try(world, &status), STATUS_STATUS_WRONG);
		status.set_status.status = BODY_ANIMATED;
		ck_assert_int_eq(test_try(world, &status), STATUS_STATUS_WRONG);
		status.set_status.status = BODY_INACTIVE;
		test_do(world, &status);
	}
}
END_TEST

START_TEST(a_force_acts_for_its_ticks_and_no_longer)
{
	struct command still = test_command(COMMAND_GRAVITY);
	test_do(world, &still);
	body_id body = test_spawn(world, TEST_SHAPES, vec3_zero());
	struct command force = command_about(COMMAND_FORCE, body);
	force.force.force = vec3_make(60, 0, 0);
	force.force.ticks = 3;
	test_do(world, &force);
	for (int tick = 1; tick <= 5; tick++) {
		test_step(world, 1);
		ck_assert_double_eq_tol(test_body(world, body).velocity.x, fmin(tick, 3), 1e-12);
	}
	force.force.ticks = UINT32_MAX;
	test_do(world, &force);
	test_step(world, 10);
	ck_assert_double_eq_tol(test_body(world, body).velocity.x, 13, 1e-11);
	struct command remove = command_about(COMMAND_REMOVE, body);
	test_do(world, &remove);
	test_step(world, 1);
}
END_TEST

START_TEST(a_force_off_the_centre_turns_the_body)
{
	struct command still = test_command(COMMAND_GRAVITY);
	test_do(world, &still);
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command force = command_about(COMMAND_FORCE, body);
	force.force.force = vec3_make(0, 100, 0);
	force.force.point = vec3_make(0.5, 0, 0);
	test_do(world, &force);
	test_step(world, 1);
	/* ω = τ h / I with I = 1000/6. */
	ck_assert_double_eq_tol(test_body(world, body).angular_velocity.z, 50.0 / 60 * 6 / 1000,
				1e-9);
}
END_TEST

START_TEST(impulses_change_momentum_at_once)
{
	body_id body = test_spawn(world, TEST_BOX, vec3_zero());
	struct command push = command_about(COMMAND_IMPULSE, body);
	push.impulse.impulse = vec3_make(0, 0, 500);
	push.impulse.point = vec3_make(0.5, 0, 0);
	test_do(world, &push);
	struct command spin = command_about(COMMAND_ANGULAR_IMPULSE, body);
	spin.angular_impulse.impulse = vec3_make(100, 0, 0);
	test_do(world, &spin);
	struct world_energy energy = world_energy(world);
	ck_assert_double_eq_tol(energy.linear.z, 500, 1e-9);
	ck_assert_double_eq_tol(energy.angular.y, -250, 1e-9);
	ck_assert_double_eq_tol(energy.angular.x, 100, 1e-9);
}
END_TEST

START_TEST(owner_and_tag_are_stored)
{
	body_id body = test_spawn(world, TEST_SPHERE, vec3_zero());
	struct command owner = command_about(COMMAND_SET_OWNER, body),
		       tag = command_about(COMMAND_SET_TAG, body);
	owner.set_owner.owner = 4;
	tag.set_tag.tag = -9007199254740991;
	test_do(world, &owner);
	test_do(world, &tag);
	ck_assert_uint_eq(test_body(world, body).owner, 4);
	ck_assert_int_eq(test_body(world, body).tag, -9007199254740991);
}
END_TEST

/* A new value changes the state hash; setting it back restores the first hash; setting it again gives
 * the second hash. */
START_TEST(material_filter_and_damping_are_state)
{
	body_id body = test_spawn(world, TEST_SPHERE, vec3_zero());
	struct command commands[] = { command_about(COMMAND_SET_MATERIAL, body),
				      command_about(COMMAND_SET_FILTER, body),
				      command_about(COMMAND_SET_DAMPING, body) };
	commands[0].set_material.restitution = 0.5;
	commands[1].set_filter.group = -3;
	commands[2].set_damping.linear_damping = 2;
	for (uint32_t i = 0; i < COUNT_OF(commands); i++) {
		struct command back = command_about((enum command_op)commands[i].op, body);
		uint64_t before = test_hash(world);
		test_do(world, &commands[i]);
		uint64_t after = test_hash(world);
		ck_assert_uint_ne(after, before);
		test_do(world, &back);
		ck_assert_uint_eq(test_hash(world), before);
		test_do(world, &commands[i]);
		ck_assert_uint_eq(test_hash(world), after);
	}
	struct command still = test_command(COMMAND_GRAVITY);
	test_do(world, &still);
	struct command move = command_about(COMMAND_SET_VELOCITY, body);
	move.set_velocity.velocity.x = 1;
	test_do(world, &move);
	test_step(world, 60);
	/* (1 + 2/60)^-60 */
	ck_assert_double_eq_tol(test_body(world, body).velocity.x, exp(-2), 1e-12);
}
END_TEST

START_TEST(wake_wakes_a_sleeper_and_does_not_change_an_awake_body)
{
	struct command still = test_command(COMMAND_GRAVITY), method = test_command(COMMAND_METHOD);
	method.method.name = test_text("soft-step");
	test_do(world, &method);
	test_do(world, &still);
	body_id body = test_spawn(world, TEST_SPHERE, vec3_zero());
	test_spawn(world, TEST_SPHERE, vec3_make(9, 0, 0));
	test_step(world, 60);
	ck_assert(test_body(world, body).asleep && test_body(world, body + 1).asleep);
	uint64_t asleep = test_hash(world);
	struct command wake = command_about(COMMAND_WAKE, body);
	test_do(world, &wake);
	ck_assert(!test_body(world, body).asleep && test_body(world, body + 1).asleep);
	uint64_t awake = test_hash(world);
	ck_assert_uint_ne(awake, asleep);
	test_do(world, &wake);
	ck_assert_uint_eq(test_hash(world), awake);
	test_step(world, 60);
	ck_assert(test_body(world, body).asleep);
}
END_TEST

START_TEST(gravity_parameters_seed_and_method_are_set)
{
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_make(1, 2, 3);
	test_do(world, &gravity);
	ck_assert(vec3_equal(world_info(world).gravity, vec3_make(1, 2, 3)));
	struct command parameter = test_command(COMMAND_PARAMETER);
	parameter.parameter.name = test_text("soft_step.substeps");
	parameter.parameter.value = 8;
	test_do(world, &parameter);
	ck_assert_double_eq(world_parameter(world, "soft_step.substeps"), 8);
	ck_assert(isnan(world_parameter(world, "no.such")));
	parameter.parameter.value = 65;
	ck_assert_int_eq(test_try(world, &parameter), STATUS_RANGE);
	uint64_t hashes[3];
	struct command seed = test_command(COMMAND_SEED);
	for (int i = 0; i < 3; i++) {
		seed.seed.seed = i == 1 ? 98 : 99;
		test_do(world, &seed);
		hashes[i] = test_hash(world);
	}
	ck_assert_uint_eq(hashes[0], hashes[2]);
	ck_assert_uint_ne(hashes[0], hashes[1]);
	struct command method = test_command(COMMAND_METHOD);
	method.method.name = test_text("free");
	test_do(world, &method);
	ck_assert_str_eq(world_info(world).method, "free");
}
END_TEST

START_TEST(leaving_the_bounds_makes_a_body_inactive_with_an_event)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = BOUNDS_INACTIVE;
	bounds.bounds.minimum = vec3_make(-10, -1, -10);
	bounds.bounds.maximum = vec3_make(10, 10, 10);
	test_do(world, &bounds);
	body_id falls = test_spawn(world, TEST_BOX, vec3_zero());
	uint32_t count = 0;
	const struct event *events = NULL;
	int ticks = 0;
	while (count == 0 && ticks++ < 100) {
		test_step(world, 1);
		events = world_events(world, &count);
	}
	ck_assert_uint_eq(count, 1);
	ck_assert_int_eq(events[0].kind, EVENT_OUT_OF_BOUNDS);
	ck_assert_uint_eq(events[0].a, falls);
	ck_assert_double_lt(events[0].point.y, -1);
	ck_assert_int_eq(test_body(world, falls).status, BODY_INACTIVE);
	/* ½ g t² = 1 m at 27.1 ticks. */
	ck_assert_int_eq(ticks, 28);
	struct world_changes changes = world_changes(world);
	ck_assert_uint_eq(changes.moved_count, 1);
}
END_TEST

START_TEST(walls_are_bodies_that_no_list_or_view_shows)
{
	struct command bounds = test_command(COMMAND_BOUNDS);
	bounds.bounds.mode = BOUNDS_WALLS;
	bounds.bounds.minimum = vec3_make(-10, -1, -10);
	bounds.bounds.maximum = vec3_make(10, 10, 10);
	test_do(world, &bounds);
	test_check(world);
	ck_assert_uint_eq(world_bodies(world, NULL, 0), 0);
	ck_assert_uint_eq(world_stats(world).bodies, 0);
	ck_assert_uint_eq(world_stats(world).shapes, 0);
	ck_assert_uint_eq(world_changes(world).created_count, 0);
	struct body_view view;
	ck_assert_int_eq(world_body(world, BODY_WALLS, &view), STATUS_UNKNOWN_BODY);
	struct command remove = command_about(COMMAND_REMOVE, 1);
	remove.remove.body = BODY_WALLS;
	ck_assert_int_eq(test_try(world, &remove), STATUS_UNKNOWN_BODY);
	test_spawn(world, TEST_BOX, vec3_zero());
	test_step(world, 2);
	/* The same BOUNDS again change nothing. After BOUNDS_NONE the tick hash, which clients see, is that
	 * of a world that never had walls; the state hash differs. */
	uint64_t with = test_hash(world);
	test_do(world, &bounds);
	ck_assert_uint_eq(test_hash(world), with);
	struct world *open = test_world(false, "free");
	bounds.bounds.mode = BOUNDS_NONE;
	test_do(world, &bounds);
	test_do(open, &bounds);
	test_spawn(open, TEST_BOX, vec3_zero());
	test_step(open, 2);
	ck_assert_uint_ne(test_hash(world), with);
	ck_assert_uint_eq(world_tick_hash(world), world_tick_hash(open));
	world_destroy(open);
}
END_TEST

START_TEST(bodies_of_a_planar_world_stay_in_the_plane)
{
	struct world *flat = test_world(true, "free");
	struct attachment item;
	struct command spawn = test_spawn_command(flat, TEST_POLYGON, vec3_zero(), &item);
	spawn.spawn.angular_velocity.z = 3;
	spawn.spawn.velocity = vec3_make(1, 2, 0);
	body_id body = test_do(flat, &spawn);
	ck_assert_double_eq_tol(test_body(flat, body).mass, 1000, 1e-9);

	struct command bad = spawn;
	bad.spawn.position.z = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = spawn;
	bad.spawn.rotation = quat_make(0, 1, 0, 0);
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = spawn;
	bad.spawn.velocity.z = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = spawn;
	bad.spawn.angular_velocity.x = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	item.position.z = 0.1;
	ck_assert_int_eq(test_try(flat, &spawn), STATUS_PLANAR);
	bad = test_spawn_command(flat, TEST_BOX, vec3_zero(), &item);
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = command_about(COMMAND_TORQUE, body);
	bad.torque.torque.y = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = command_about(COMMAND_FORCE, body);
	bad.force.force.z = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = test_command(COMMAND_GRAVITY);
	bad.gravity.gravity.z = 1;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_PLANAR);
	bad = test_command(COMMAND_BOUNDS);
	bad.bounds.mode = BOUNDS_WALLS;
	ck_assert_int_eq(test_try(flat, &bad), STATUS_RANGE);
	bad.bounds.minimum = vec3_make(-100, -100, -100);
	bad.bounds.maximum = vec3_make(100, 100, 100);
	test_do(flat, &bad);

	test_step(flat, 60);
	struct body_view view = test_body(flat, body);
	ck_assert_double_eq(view.position.z, 0);
	ck_assert_double_eq_tol(view.angular_velocity.z, 3, 1e-12);
	test_check(flat);
	world_destroy(flat);

	spawn = test_spawn_command(world, TEST_POLYGON, vec3_zero(), &item);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_PLANAR);
}
END_TEST

START_TEST(a_dynamic_body_needs_a_mass_within_limits)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = MASS_MIN / 2;
	ck_assert_int_eq(test_try(world, &spawn), STATUS_RANGE);
	spawn.spawn.mass = 0;
	spawn.spawn.density = DENSITY_MAX;
	test_do(world, &spawn);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.mass = MASS_MIN / 2;
	struct command status = command_about(COMMAND_SET_STATUS, test_do(world, &spawn));
	ck_assert_int_eq(test_try(world, &status), STATUS_RANGE);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("engine/world/commands");
	TCase *tcase = tcase_create("effects");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, using_a_shape_twice_gives_the_same_id_and_another_gets_the_next);
	tcase_add_test(tcase, an_unused_shape_can_be_dropped_and_gets_a_new_id_later);
	tcase_add_test(tcase, spawn_stores_its_fields);
	tcase_add_test(tcase, mass_comes_from_density_or_is_given);
	tcase_add_test(tcase, two_shapes_have_the_mass_centre_and_inertia_of_one_body);
	tcase_add_test(tcase, a_body_with_fixed_rotation_takes_no_torque);
	tcase_add_test(tcase, remove_ends_the_body_and_its_uses_of_shapes);
	tcase_add_test(tcase, ids_are_monotone_while_slots_are_reused);
	tcase_add_test(tcase, set_pose_and_set_velocity_store_their_fields);
	tcase_add_test(tcase, the_status_decides_what_moves_a_body);
	tcase_add_loop_test(tcase, set_status_changes_whether_a_body_is_fast, 0, 3);
	tcase_add_test(tcase, planes_and_meshes_never_move);
	tcase_add_test(tcase, a_force_acts_for_its_ticks_and_no_longer);
	tcase_add_test(tcase, a_force_off_the_centre_turns_the_body);
	tcase_add_test(tcase, impulses_change_momentum_at_once);
	tcase_add_test(tcase, owner_and_tag_are_stored);
	tcase_add_test(tcase, material_filter_and_damping_are_state);
	tcase_add_test(tcase, wake_wakes_a_sleeper_and_does_not_change_an_awake_body);
	tcase_add_test(tcase, gravity_parameters_seed_and_method_are_set);
	tcase_add_test(tcase, leaving_the_bounds_makes_a_body_inactive_with_an_event);
	tcase_add_test(tcase, walls_are_bodies_that_no_list_or_view_shows);
	tcase_add_test(tcase, bodies_of_a_planar_world_stay_in_the_plane);
	tcase_add_test(tcase, a_dynamic_body_needs_a_mass_within_limits);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
