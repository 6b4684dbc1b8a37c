/* Bodies whose surface moves (conveyors), under every method with friction: a box slides until V/(μ g)
 * and then goes along, a ball rolls at 2/7 of the belt's speed; in the body's axes; momentum of a belt
 * that is free; sleep, images, commands, refusals. */
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <string.h>

static const char *const METHODS[] = { "soft-step",  "lcp",    "projection",
				       "reflection", "impact", "penalty" };
enum { METHOD_COUNT = 6 };

static const double FRICTION = 0.4, SPEED = 2;

static void set_parameter(struct world *world, const char *name, double value)
{
	struct command set = test_command(COMMAND_PARAMETER);
	set.parameter.name = test_text(name);
	set.parameter.value = value;
	test_do(world, &set);
}

/* Two methods have friction on request only: in rounds, and `reflection` with the core of `projection`. */
static struct world *make_world(const char *method)
{
	struct world *world = test_world(false, method);
	set_parameter(world, "projection.friction_rounds", 20);
	set_parameter(world, "reflection.core", 1);
	return world;
}

static body_id spawn_rubbing(struct world *world, enum test_shape shape, vec3 at, uint8_t status,
			     vec3 surface)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.status = status;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = FRICTION;
	spawn.spawn.surface_velocity = surface;
	return test_do(world, &spawn);
}

static vec3 along(int axis)
{
	return axis == 0 ? vec3_make(SPEED, 0, 0) : vec3_make(0, 0, -SPEED);
}

static double component(vec3 v, int axis)
{
	return axis == 0 ? v.x : -v.z;
}

/* ---- what lies on it ----------------------------------------------------------------------------- */

START_TEST(a_box_reaches_the_belts_speed_in_its_time)
{
	for (int axis = 0; axis < 2; axis++) {
		struct world *world = make_world(METHODS[_i]);
		spawn_rubbing(world, TEST_PLANE, vec3_zero(), BODY_STATIC, along(axis));
		body_id box = spawn_rubbing(world, TEST_BOX, vec3_make(0, 0.5, 0), BODY_DYNAMIC,
					    vec3_zero());
		/* V / (μ g) is 0.51 s: 30.6 ticks. */
		for (uint32_t tick = 1; tick <= 24; tick++) {
			test_step(world, 1);
			double speed = component(test_body(world, box).velocity, axis);
			ck_assert_msg(scalar_abs(speed - FRICTION * 9.81 * tick / 60) <
					      0.04 * SPEED,
				      "%s, tick %u: %.6g m/s", METHODS[_i], tick, speed);
		}
		test_step(world, 36);
		struct body_view view = test_body(world, box);
		ck_assert_double_eq_tol(component(view.velocity, axis), SPEED, 2e-3);
		double time = SPEED / (FRICTION * 9.81), way = SPEED * (1 - 0.5 * time);
		ck_assert_double_eq_tol(component(view.position, axis), way, 0.04);
		ck_assert_double_eq_tol(view.position.y, 0.5, 0.01);
		ck_assert_double_lt(vec3_length(view.angular_velocity), 0.02);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* The impulse that takes the slip from a ball gives it 2/7 of the belt's speed. */
START_TEST(a_ball_rolls_at_two_sevenths_of_its_speed)
{
	struct world *world = make_world(METHODS[_i]);
	spawn_rubbing(world, TEST_PLANE, vec3_zero(), BODY_STATIC, along(0));
	body_id ball =
		spawn_rubbing(world, TEST_SPHERE, vec3_make(0, 0.5, 0), BODY_DYNAMIC, vec3_zero());
	test_step(world, 90);
	struct body_view view = test_body(world, ball);
	ck_assert_double_eq_tol(view.velocity.x, 2 * SPEED / 7, 0.02);
	/* Its lowest point goes with the belt. */
	ck_assert_double_eq_tol(view.velocity.x + 0.5 * view.angular_velocity.z, SPEED, 0.02);
	world_destroy(world);
}
END_TEST

/* The velocity is in the axes of the body, and adds to its own. */
START_TEST(it_is_in_the_bodys_axes_and_beside_its_motion)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 2;
	spawn.spawn.rotation = quat_from_axis_angle(vec3_make(0, 1, 0), 0.5 * PI);
	spawn.spawn.velocity = vec3_make(1, 0, 0);
	/* Its x is −z of the world; the upward part does nothing. */
	spawn.spawn.surface_velocity = vec3_make(0.25, 5, 0);
	test_do(world, &spawn);
	body_id box = spawn_rubbing(world, TEST_BOX, vec3_make(0, 1, 0), BODY_DYNAMIC, vec3_zero());
	test_step(world, 60);
	struct body_view view = test_body(world, box);
	ck_assert_double_eq_tol(view.velocity.x, 1, 0.02);
	ck_assert_double_eq_tol(view.velocity.z, -0.25, 0.02);
	ck_assert_double_eq_tol(view.position.y, 1, 0.02);
	world_destroy(world);
}
END_TEST

/* Of two free bodies, what one gains the other loses. */
START_TEST(a_belt_that_is_free_is_pushed_back)
{
	struct world *world = make_world(METHODS[_i]);
	struct attachment item;
	struct command ground = test_spawn_command(world, TEST_PLANE, vec3_zero(), &item);
	ground.spawn.status = BODY_STATIC;
	ground.spawn.static_friction = ground.spawn.dynamic_friction = 0;
	test_do(world, &ground); /* the geometric mean of frictions is 0, too */
	body_id belt = spawn_rubbing(world, TEST_BOX, vec3_make(0, 0.5, 0), BODY_DYNAMIC,
				     vec3_make(0.5, 0, 0));
	body_id box =
		spawn_rubbing(world, TEST_BOX, vec3_make(0, 1.5, 0), BODY_DYNAMIC, vec3_zero());
	test_step(world, 30);
	double a = test_body(world, belt).velocity.x, b = test_body(world, box).velocity.x;
	ck_assert_double_eq_tol(a + b, 0, 0.01);
	ck_assert_double_eq_tol(b - a, 0.5, 0.03);
	world_destroy(world);
}
END_TEST

/* ---- state --------------------------------------------------------------------------------------- */

/* On a belt slower than sleep.speed a box goes along for ever; on one that stops it falls asleep, and
 * wakes when the belt starts. */
START_TEST(nothing_sleeps_on_a_belt)
{
	struct world *world = make_world(METHODS[_i]);
	body_id belt =
		spawn_rubbing(world, TEST_PLANE, vec3_zero(), BODY_STATIC, vec3_make(0.004, 0, 0));
	body_id box =
		spawn_rubbing(world, TEST_BOX, vec3_make(0, 0.5, 0), BODY_DYNAMIC, vec3_zero());
	test_step(world, 240);
	ck_assert(!test_body(world, box).asleep);
	ck_assert_double_eq_tol(test_body(world, box).position.x, 0.016, 0.002);
	struct command set = test_command(COMMAND_SET_SURFACE);
	set.set_surface.body = belt;
	test_do(world, &set);
	test_step(world, 240);
	bool sleeps = strcmp(METHODS[_i], "penalty") != 0;
	ck_assert_int_eq(test_body(world, box).asleep, sleeps);
	set.set_surface.surface_velocity = along(0);
	test_do(world, &set);
	test_step(world, 60);
	ck_assert_double_eq_tol(test_body(world, box).velocity.x, SPEED, 0.02);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(images_keep_belts)
{
	struct world *world = make_world(METHODS[_i]), *copy;
	spawn_rubbing(world, TEST_PLANE, vec3_zero(), BODY_STATIC, along(0));
	for (int k = 0; k < 3; k++)
		spawn_rubbing(world, k == 1 ? TEST_SPHERE : TEST_BOX, vec3_make(2 * k, 0.6, 0),
			      BODY_DYNAMIC, vec3_make(0, 0, k == 2 ? 1 : 0));
	test_step(world, 12);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	bytes_release(&image);
	test_step(world, 60);
	test_step(copy, 60);
	struct bytes x = test_save(world), y = test_save(copy);
	ck_assert_uint_eq(x.count, y.count);
	ck_assert_int_eq(memcmp(x.data, y.data, x.count), 0);
	bytes_release(&x);
	bytes_release(&y);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* Many contacts: a mesh, whose contacts soft-step solves in clusters. */
START_TEST(a_mesh_may_be_a_belt)
{
	struct world *world = make_world("soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_MESH, vec3_zero(), &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 2;
	spawn.spawn.surface_velocity = vec3_make(1, 0, 0);
	test_do(world, &spawn);
	body_id box =
		spawn_rubbing(world, TEST_BOX, vec3_make(-2, 1.5, 0), BODY_DYNAMIC, vec3_zero());
	test_step(world, 240);
	ck_assert_double_gt(test_body(world, box).position.x, -1);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_planar_belt_moves_in_its_plane)
{
	struct world *world = test_world(true, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_POLYGON, vec3_zero(), &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.surface_velocity = vec3_make(0.2, 0, 0.1);
	ck_assert_int_eq(test_try(world, &spawn), STATUS_PLANAR);
	spawn.spawn.surface_velocity.z = 0;
	body_id belt = test_do(world, &spawn);
	body_id box = test_spawn(world, TEST_POLYGON, vec3_make(0, 1, 0));
	test_step(world, 60);
	ck_assert_double_eq_tol(test_body(world, box).velocity.x, 0.2, 0.01);
	struct command set = test_command(COMMAND_SET_SURFACE);
	set.set_surface.body = belt;
	set.set_surface.surface_velocity = vec3_make(0, 2e4, 0);
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set.set_surface.surface_velocity = vec3_make(0, NAN, 0);
	ck_assert_int_ne(test_try(world, &set), STATUS_OK);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("belts");
	TCase *tests = tcase_create("belts");
	tcase_add_loop_test(tests, a_box_reaches_the_belts_speed_in_its_time, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_ball_rolls_at_two_sevenths_of_its_speed, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, it_is_in_the_bodys_axes_and_beside_its_motion, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, a_belt_that_is_free_is_pushed_back, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, nothing_sleeps_on_a_belt, 0, METHOD_COUNT);
	tcase_add_loop_test(tests, images_keep_belts, 0, METHOD_COUNT);
	tcase_add_test(tests, a_mesh_may_be_a_belt);
	tcase_add_test(tests, a_planar_belt_moves_in_its_plane);
	suite_add_tcase(suite, tests);
	return suite;
}

int main(void)
{
	return check_main(make);
}
