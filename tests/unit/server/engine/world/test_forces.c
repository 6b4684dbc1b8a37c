/* test_forces.c: contact forces as answers (world/forces.c): numbers of ch. 4 K3 under every method, what
 * is unique and what is not, and the representative of least norm, against analytic solutions. */
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/worlds.h"

#include "server/engine/math/scalar.h"

#define G 9.81
static const char *const METHODS[] = { "soft-step", "lcp", "projection" };
/* N, of a load of some 10 N: what 100 ticks of settling leave. */
static const double EXACT[] = { 2e-2, 1e-9, 1e-9 };

static struct world *make_world(uint32_t method)
{
	struct world *world = test_world(false, METHODS[method]);
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text("sleep.enabled");
	command.parameter.value = 0;
	test_do(world, &command);
	return world;
}

static body_id spawn(struct world *world, enum test_shape shape, vec3 at, double mass,
		     double friction, uint8_t status)
{
	struct attachment item;
	struct command command = test_spawn_command(world, shape, at, &item);
	command.spawn.mass = mass;
	command.spawn.static_friction = command.spawn.dynamic_friction = friction;
	command.spawn.status = status;
	return test_do(world, &command);
}

static uint32_t ask(struct world *world, body_id body, bool least, struct force_view *out,
		    uint32_t capacity)
{
	uint32_t count;
	ck_assert_int_eq(world_forces(world, body, least, out, capacity, &count), STATUS_OK);
	return count;
}

/* K3: 1 kg on 2 kg on the floor: 9.81 and 29.43 N. */
START_TEST(a_column_of_balls_carries_what_is_above_it)
{
	struct world *world = make_world((uint32_t)_i);
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0, BODY_STATIC);
	body_id low = spawn(world, TEST_SPHERE, vec3_make(0, 0.5, 0), 2, 0, BODY_DYNAMIC);
	body_id high = spawn(world, TEST_SPHERE, vec3_make(0, 1.5, 0), 1, 0, BODY_DYNAMIC);
	test_step(world, 100);
	struct force_view forces[4];
	ck_assert_uint_eq(ask(world, 0, false, forces, 4), 2);
	double tolerance = 4 * EXACT[_i];
	for (uint32_t i = 0; i < 2; i++) {
		bool upper = forces[i].a == high || forces[i].b == high;
		ck_assert_double_eq_tol(forces[i].normal_force, upper ? G : 3 * G, tolerance);
		ck_assert_int_eq(forces[i].known, FORCE_UNIQUE);
	}
	ck_assert_uint_eq(ask(world, high, false, forces, 4), 1);
	ck_assert_uint_eq(ask(world, low, false, forces, 4), 2);
	ck_assert_uint_eq(ask(world, low, false, forces, 1), 1);
	world_destroy(world);
}
END_TEST

static void push(struct world *world, body_id body, vec3 force, vec3 point)
{
	struct command command = test_command(COMMAND_FORCE);
	command.force.body = body;
	command.force.force = force;
	command.force.point = point;
	command.force.ticks = 1000;
	test_do(world, &command);
}

/* A box on four corners: any share of two diagonals balances it. The least norm is a quarter each. */
START_TEST(four_corners_share_equally_in_the_least_norm)
{
	struct world *world = make_world((uint32_t)_i);
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0, BODY_STATIC);
	body_id box = spawn(world, TEST_BOX, vec3_make(0, 0.5, 0), 1, 0, BODY_DYNAMIC);
	test_step(world, 100);
	struct force_view forces[8];
	double sum = 0;
	ck_assert_uint_eq(ask(world, box, false, forces, 8), 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_int_eq(forces[i].known, FORCE_AS_FOUND);
		sum += forces[i].normal_force;
	}
	ck_assert_double_eq_tol(sum, G, EXACT[_i]);
	ck_assert_uint_eq(ask(world, box, true, forces, 8), 4);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_int_eq(forces[i].known, FORCE_LEAST_NORM);
		ck_assert_double_eq_tol(forces[i].normal_force, G / 4, EXACT[_i]);
	}
	world_destroy(world);
}
END_TEST

/* The cube on six balls in two rows of three, at x = -0.4, 0, 0.4. With the load at x = 0.36 the
 * pseudo-inverse would pull at the left pair: (0, 0.05, 0.45) of the load is the least norm that presses. */
START_TEST(the_least_norm_never_pulls)
{
	struct world *world = make_world((uint32_t)_i);
	for (int x = -1; x <= 1; x++)
		for (int z = -1; z <= 1; z += 2)
			spawn(world, TEST_SPHERE, vec3_make(0.4 * x, -0.5, 2.4 * z * 0.1), 0, 0,
			      BODY_STATIC);
	body_id box = spawn(world, TEST_BOX, vec3_make(0, 0.5, 0), 1, 0, BODY_DYNAMIC);
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = vec3_zero();
	test_do(world, &command);
	push(world, box, vec3_make(0, -10, 0), vec3_make(0.36, 0, 0));
	test_step(world, 100);
	struct force_view forces[8];
	double shares[3] = { 0, 0.05, 0.45 };
	ck_assert_uint_eq(ask(world, box, true, forces, 8), 6);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t column = (uint32_t)(1.5 + forces[i].point.x / 0.4);
		ck_assert_double_eq_tol(forces[i].normal_force, 10 * shares[column], 1e-6);
		ck_assert_double_ge(forces[i].normal_force, 0);
	}
	world_destroy(world);
}
END_TEST

/* A ball that is also welded to the world: the weld may carry any part of its weight. */
START_TEST(what_a_joint_may_carry_too_is_not_unique)
{
	struct world *world = make_world((uint32_t)_i);
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0, BODY_STATIC);
	body_id ball = spawn(world, TEST_SPHERE, vec3_make(0, 0.5, 0), 1, 0, BODY_DYNAMIC);
	body_id alone = spawn(world, TEST_SPHERE, vec3_make(5, 0.5, 0), 1, 0, BODY_DYNAMIC);
	test_step(world, 10);
	struct command weld = test_command(COMMAND_JOINT_CREATE);
	weld.joint_create.type = JOINT_FIXED;
	weld.joint_create.body_b = ball;
	weld.joint_create.place = 1;
	test_do(world, &weld);
	test_step(world, 10);
	struct force_view forces[4];
	uint32_t count = ask(world, 0, false, forces, 4);
	bool found = false;
	for (uint32_t i = 0; i < count; i++) {
		bool welded = forces[i].a == ball || forces[i].b == ball;
		found |= welded;
		ck_assert_int_eq(forces[i].known, welded ? FORCE_AS_FOUND : FORCE_UNIQUE);
	}
	ck_assert(found);
	ck_assert_uint_eq(ask(world, alone, false, forces, 4), 1);
	world_destroy(world);
}
END_TEST

/* Balls on levers, whose hinges leave the forces of the ground unique; a gear between two levers may carry
 * a part of one ball's weight to the other. */
START_TEST(what_a_gear_may_carry_too_is_not_unique)
{
	struct world *world = make_world((uint32_t)_i);
	struct force_view forces[4];
	body_id balls[3];
	joint_id hinges[3];
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0, BODY_STATIC);
	for (uint32_t i = 0; i < 3; i++) {
		balls[i] = spawn(world, TEST_SPHERE, vec3_make(2, 0.5, 4 * i), 1, 0, BODY_DYNAMIC);
		hinges[i] = joined_join(world, JOINT_REVOLUTE, 0, balls[i],
					vec3_make(0, 0.5, 4 * i), joined_about_z());
	}
	test_step(world, 10);
	ck_assert_uint_eq(ask(world, 0, false, forces, 4), 3);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(forces[i].known, FORCE_UNIQUE);
	struct command gear = test_command(COMMAND_JOINT_GEAR);
	gear.joint_gear.joint = hinges[0];
	gear.joint_gear.axis = 3;
	gear.joint_gear.leader = hinges[1];
	gear.joint_gear.leader_axis = 3;
	gear.joint_gear.ratio = -1;
	test_do(world, &gear);
	test_step(world, 1);
	ck_assert_uint_eq(ask(world, 0, false, forces, 4), 3);
	for (uint32_t i = 0; i < 3; i++) {
		bool free = forces[i].a == balls[2] || forces[i].b == balls[2];
		ck_assert_int_eq(forces[i].known, free ? FORCE_UNIQUE : FORCE_AS_FOUND);
	}
	world_destroy(world);
}
END_TEST

/* Friction of one ball on a slope is unique: the ball would slide without it. Of a box it is not: along the
 * line of two corners each may push against the other, and four normals are one too many. */
START_TEST(friction_is_answered_with_its_first_point)
{
	struct world *world = make_world(1);
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0.8, BODY_STATIC);
	body_id ball = spawn(world, TEST_SPHERE, vec3_make(0, 0.5, 0), 1, 0.8, BODY_DYNAMIC);
	body_id box = spawn(world, TEST_BOX, vec3_make(5, 0.5, 0), 1, 0.8, BODY_DYNAMIC);
	push(world, box, vec3_make(2, 0, 0), vec3_zero());
	test_step(world, 100);
	struct force_view forces[8];
	ck_assert_uint_eq(ask(world, ball, false, forces, 8), 1);
	ck_assert_int_eq(forces[0].known, FORCE_UNIQUE);
	for (uint32_t least = 0; least < 2; least++) {
		ck_assert_uint_eq(ask(world, box, least != 0, forces, 8), 4);
		vec3 friction = vec3_zero();
		double sum = 0;
		for (uint32_t i = 0; i < 4; i++) {
			ck_assert(i == 0 || vec3_length(forces[i].friction_force) == 0);
			friction = vec3_add(friction, forces[i].friction_force);
			sum += forces[i].normal_force;
		}
		double sign = forces[0].b == box ? 1 : -1;
		ck_assert_double_eq_tol(sign * friction.x, -2, 1e-9);
		ck_assert_double_eq_tol(sum, G, 1e-9);
	}
	world_destroy(world);
}
END_TEST

/* A bowl of more boxes than are examined says so, and still answers. */
START_TEST(an_island_too_large_is_answered_as_found)
{
	struct world *world = make_world(0);
	struct force_view forces[512];
	spawn(world, TEST_PLANE, vec3_zero(), 0, 0.5, BODY_STATIC);
	for (uint32_t x = 0; x < 12; x++)
		for (uint32_t y = 0; y < 4; y++)
			spawn(world, TEST_BOX, vec3_make(x, 0.5 + y, 0), 1, 0.5, BODY_DYNAMIC);
	test_step(world, 30);
	uint32_t count = ask(world, 0, true, forces, 512);
	ck_assert_uint_gt(count, 100);
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_int_eq(forces[i].known, FORCE_NOT_DETERMINED);
		bool floor = scalar_abs(forces[i].point.y) < 0.1;
		sum += floor ? forces[i].normal_force : 0;
	}
	ck_assert_double_eq_tol(sum, 48 * G, 5);
	uint32_t none;
	ck_assert_int_eq(world_forces(world, 999, false, forces, 4, &none), STATUS_UNKNOWN_BODY);
	ck_assert_uint_eq(none, 0);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("world/forces");
	TCase *tc = tcase_create("forces");
	tcase_add_loop_test(tc, a_column_of_balls_carries_what_is_above_it, 0, 3);
	tcase_add_loop_test(tc, four_corners_share_equally_in_the_least_norm, 0, 3);
	/* `soft-step` rocks on a row of balls for seconds. */
	tcase_add_loop_test(tc, the_least_norm_never_pulls, 1, 3);
	tcase_add_loop_test(tc, what_a_joint_may_carry_too_is_not_unique, 0, 3);
	tcase_add_loop_test(tc, what_a_gear_may_carry_too_is_not_unique, 0, 3);
	tcase_add_test(tc, friction_is_answered_with_its_first_point);
	tcase_add_test(tc, an_island_too_large_is_answered_as_found);
	suite_add_tcase(suite, tc);
	return suite;
}

int main(void)
{
	return check_main(make);
}
