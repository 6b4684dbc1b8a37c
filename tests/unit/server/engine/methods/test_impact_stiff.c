/* Implicit Euler under `impact` with stiff forces of the list (app B-03): strong drags and attractors against
 * the formulas of the integrator, which stay stable at any step. */
#include "server/engine/math/scalar.h"
#include "tests/lib/joined.h"
#include "tests/lib/near.h"
#include "tests/lib/worlds.h"

#include <stdio.h>

static struct world *open_world(bool planar, uint32_t rate, vec3 gravity)
{
	struct world_options options = test_options(planar, "impact");
	options.rate_num = rate;
	options.rate_den = 1;
	struct world *world = test_world_of(&options);
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = gravity;
	test_do(world, &command);
	return world;
}

static body_id put_body(struct world *world, enum test_shape shape, vec3 at, vec3 velocity,
			uint8_t integrator)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.mass = 2;
	spawn.spawn.velocity = velocity;
	spawn.spawn.integrator = integrator;
	spawn.spawn.flags = 0;
	return test_do(world, &spawn);
}

/* v' = v / (1 + h k / m), the same for spins: h k / m = 50, where other methods stop within the tick. */
START_TEST(a_strong_drag_takes_what_implicit_euler_takes)
{
	bool planar = _i != 0;
	struct world *world = open_world(planar, 60, vec3_zero());
	struct command drag = test_command(COMMAND_FIELD_CREATE);
	drag.field_create.kind = FIELD_DRAG;
	drag.field_create.linear = 2 * 50 * 60;
	drag.field_create.angular = 10 * 60;
	drag.field_create.velocity = vec3_make(1, 0, 0);
	test_do(world, &drag);
	body_id body = put_body(world, planar ? TEST_POLYGON : TEST_BOX, vec3_zero(),
				vec3_make(11, 5, 0), INTEGRATOR_IMPLICIT_EULER);
	struct command turn = test_command(COMMAND_SET_VELOCITY);
	turn.set_velocity.body = body;
	turn.set_velocity.velocity = vec3_make(11, 5, 0);
	turn.set_velocity.angular_velocity = vec3_make(0, 0, 3);
	test_do(world, &turn);
	double slower = 1, calmer = 1;
	for (uint32_t tick = 1; tick <= 3; tick++) {
		test_step(world, 1);
		slower /= 51;
		calmer /= 11;
		struct body_view view = test_body(world, body);
		expect_near(view.velocity, vec3_make(1 + 10 * slower, 5 * slower, 0), 1e-7);
		expect_near(view.angular_velocity, vec3_make(0, 0, 3 * calmer), 1e-7);
	}
	ck_assert_uint_eq(world_stats(world).impact_total.rejected, 0);
	world_destroy(world);
}
END_TEST

/* Near its centre an attractor is a spring: x' = x + h v', v' = (v - h w^2 x) / (1 + h^2 w^2), with
 * h w = 3. By forces of the beginning the body is thrown out. */
START_TEST(an_attractor_that_is_stiff_near_its_centre_holds_what_is_there)
{
	const double h = 1.0 / 60, omega = 180, mass = 2;
	double x = 1e-3, v = 0, thrown = 0;
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = open_world(false, 60, vec3_zero());
		struct command centre = test_command(COMMAND_FIELD_CREATE);
		centre.field_create.kind = FIELD_ATTRACTOR;
		centre.field_create.power = 0;
		centre.field_create.core = 1;
		centre.field_create.strength = vec3_make(mass * omega * omega, 0, 0);
		test_do(world, &centre);
		body_id body = put_body(world, TEST_SPHERE, vec3_make(x, 0, 0), vec3_zero(),
					k == 0 ? INTEGRATOR_EULER : INTEGRATOR_IMPLICIT_EULER);
		for (uint32_t tick = 0; tick < 20; tick++) {
			test_step(world, 1);
			struct body_view view = test_body(world, body);
			if (k == 0) {
				thrown = scalar_max(thrown, scalar_abs(view.position.x));
				continue;
			}
			v = (v - h * omega * omega * x) / (1 + h * h * omega * omega);
			x += h * v;
			ck_assert_double_eq_tol(view.velocity.x, v, 1e-6);
			ck_assert_double_eq_tol(view.position.x, x, 1e-8);
		}
		world_destroy(world);
	}
	ck_assert_double_gt(thrown, 1);
}
END_TEST

static void make_rough(struct world *world, body_id last, double friction)
{
	for (body_id id = 1; id <= last; id++) {
		struct command rough = test_command(COMMAND_SET_MATERIAL);
		rough.set_material.body = id;
		rough.set_material.static_friction = friction;
		rough.set_material.dynamic_friction = friction;
		test_do(world, &rough);
	}
}

static void put_current(struct world *world, double rate, vec3 velocity)
{
	struct command current = test_command(COMMAND_FIELD_CREATE);
	current.field_create.kind = FIELD_DRAG;
	current.field_create.linear = rate;
	current.field_create.velocity = velocity;
	test_do(world, &current);
}

/* N, between a body and everything that it touches. */
static double normal_force(struct world *world, body_id body, double dt)
{
	struct contact_view points[8];
	uint32_t count = test_contacts(world, body, points, 8);
	double normal = 0;
	for (uint32_t i = 0; i < count; i++)
		normal += points[i].normal_impulse / dt;
	return normal;
}

/* A contact carries the whole weight and a current none of it: the matrix acts on what the contact
 * pushes, too. Across, with h k / m = 33: (1 + h k / m) v' = v + h (k w / m - mu g). */
START_TEST(a_block_in_a_strong_current_presses_with_its_weight)
{
	const double mu = 0.5, mass = 2, rate = 4000, dt = 1.0 / 60;
	struct world *world = open_world(false, 60, vec3_make(0, -9.81, 0));
	put_body(world, TEST_PLANE, vec3_zero(), vec3_zero(), INTEGRATOR_AUTOMATIC);
	body_id block = put_body(world, TEST_BOX, vec3_make(0, 0.5, 0), vec3_zero(),
				 INTEGRATOR_IMPLICIT_EULER);
	make_rough(world, block, mu);
	put_current(world, rate, vec3_make(1, 0, 0));
	double speed = 0;
	for (uint32_t tick = 0; tick < 30; tick++) {
		test_step(world, 1);
		speed = (speed + dt * (rate / mass - mu * 9.81)) / (1 + dt * rate / mass);
		ck_assert_double_eq_tol(normal_force(world, block, dt), mass * 9.81, 1e-8);
		ck_assert_double_eq_tol(test_body(world, block).velocity.x, speed, 1e-9);
	}
	ck_assert_uint_eq(world_stats(world).impact_total.rejected, 0);
	world_destroy(world);
}
END_TEST

/* A current of k w = 20 kN presses a block against a wall, and n blocks in a row with n times that, solved
 * dense and sparse; what forces of the beginning are bounded by, m w / h, is 600 N. */
START_TEST(a_wall_carries_the_whole_current)
{
	const double mass = 2, rate = 4000, wind = 5, dt = 1.0 / 60;
	for (uint32_t blocks = 1; blocks <= 36; blocks *= 6) {
		struct world *world = open_world(false, 60, vec3_zero());
		struct attachment item;
		struct command wall = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
		wall.spawn.status = BODY_STATIC;
		body_id fixed = test_do(world, &wall);
		for (uint32_t k = 1; k <= blocks; k++)
			put_body(world, TEST_BOX, vec3_make(k, 0, 0), vec3_zero(),
				 INTEGRATOR_IMPLICIT_EULER);
		put_current(world, rate, vec3_make(-wind, 0, 0));
		test_step(world, 10);
		ck_assert_double_eq_tol(normal_force(world, fixed, dt) / (blocks * rate * wind), 1,
					1e-9);
		struct body_view last = test_body(world, fixed + blocks);
		ck_assert_double_le(vec3_length(last.velocity), 1e-9);
		ck_assert_double_eq_tol(last.position.x, blocks, 1e-7);
		ck_assert_double_gt(rate * wind, 30 * mass * wind / dt);
		world_destroy(world);
	}
}
END_TEST

/* Of two welded bodies one is in a field's box: (2 m + h k) v' = 2 m v + h k w, with h k / m = 33. */
START_TEST(a_current_on_one_of_two_welded_bodies_moves_both)
{
	const double mass = 2, rate = 4000, dt = 1.0 / 60;
	struct world *world = open_world(false, 60, vec3_zero());
	body_id a =
		put_body(world, TEST_SPHERE, vec3_zero(), vec3_zero(), INTEGRATOR_IMPLICIT_EULER);
	body_id b =
		put_body(world, TEST_SPHERE, vec3_make(0, 3, 0), vec3_zero(), INTEGRATOR_AUTOMATIC);
	joined_join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	struct command alone = test_command(COMMAND_FIELD_CREATE);
	alone.field_create.kind = FIELD_DRAG;
	alone.field_create.linear = rate;
	alone.field_create.velocity = vec3_make(0, 1, 0);
	alone.field_create.region = FIELD_BOX;
	alone.field_create.half = vec3_make(9, 1, 9);
	test_do(world, &alone);
	double speed = 0;
	for (uint32_t tick = 0; tick < 10; tick++) {
		test_step(world, 1);
		speed = (2 * mass * speed + dt * rate) / (2 * mass + dt * rate);
		ck_assert_double_eq_tol(test_body(world, a).velocity.y, speed, 1e-6);
		ck_assert_double_eq_tol(test_body(world, b).velocity.y, speed, 1e-6);
	}
	world_destroy(world);
}
END_TEST

/* v' = (v + h (d w - k q) / m) / (1 + h (c + d) / m + h^2 k / m): a spring along a rail in a current.
 * What the current adds to the mass makes a spring by hertz no stiffer. */
START_TEST(a_spring_in_a_current_is_as_stiff_as_without)
{
	const double h = 1 / 60.0, mass = 2, d = 900, wind = 0.3, f = 1.5, ratio = 0.2;
	for (uint32_t hertz = 0; hertz < 2; hertz++) {
		struct world *world = open_world(false, 60, vec3_zero());
		body_id ball = put_body(world, TEST_SPHERE, vec3_make(0.5, 0, 0), vec3_zero(),
					INTEGRATOR_IMPLICIT_EULER);
		joint_id rail =
			joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		double k = mass * TWO_PI * TWO_PI * f * f, c = 2 * mass * ratio * TWO_PI * f;
		struct command axis = joined_axis(rail, 0);
		axis.joint_axis.spring = hertz ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = hertz ? f : k;
		axis.joint_axis.damping = hertz ? ratio : c;
		test_do(world, &axis);
		put_current(world, d, vec3_make(wind, 0.7, 0));
		double q = joined_view(world, rail).coordinates[0], v = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			v = (v + h * (d * wind - k * q) / mass) /
			    (1 + h * (c + d) / mass + h * h * k / mass);
			q += h * v;
			ck_assert_double_eq_tol(test_body(world, ball).velocity.x, v, 1e-9);
			ck_assert_double_eq_tol(joined_view(world, rail).coordinates[0], q, 1e-9);
		}
		world_destroy(world);
	}
}
END_TEST

/* An attractor below a floor, stiff along the floor (h w = 3): a ball on the floor goes to the point above it
 * as free bodies do, and presses with the attractor's force. By forces of the beginning it is thrown
 * out. */
START_TEST(a_floor_carries_what_an_attractor_pulls)
{
	const double h = 1.0 / 60, omega = 180, mass = 2, core = 1, depth = 0.05;
	struct world *world = open_world(false, 60, vec3_zero());
	put_body(world, TEST_PLANE, vec3_zero(), vec3_zero(), INTEGRATOR_AUTOMATIC);
	struct command pull = test_command(COMMAND_FIELD_CREATE);
	pull.field_create.kind = FIELD_ATTRACTOR;
	pull.field_create.power = 0;
	pull.field_create.core = core;
	pull.field_create.strength = vec3_make(mass * omega * omega, 0, 0);
	pull.field_create.position = vec3_make(0, 0.5 - depth, 0);
	test_do(world, &pull);
	body_id ball = put_body(world, TEST_SPHERE, vec3_make(1e-3, 0.5, 0), vec3_zero(),
				INTEGRATOR_IMPLICIT_EULER);
	make_rough(world, ball, 0);
	double x = 1e-3, v = 0;
	for (uint32_t tick = 0; tick < 20; tick++) {
		test_step(world, 1);
		double far = scalar_sqrt(x * x + depth * depth + core * core);
		double stiff = omega * omega / far, force = mass * stiff * depth;
		v = (v - h * stiff * x) / (1 + h * h * stiff);
		x += h * v;
		struct body_view view = test_body(world, ball);
		ck_assert_double_eq_tol(view.velocity.x, v, 1e-6);
		ck_assert_double_eq_tol(view.position.x, x, 1e-7);
		ck_assert_double_eq_tol(view.position.y, 0.5, 1e-9);
		ck_assert_double_eq_tol(normal_force(world, ball, h) / force, 1, 1e-5);
	}
	world_destroy(world);
}
END_TEST

/* v' = -c v^2, v(1) = v0 / (1 + c v0): errors of first order in the step. */
START_TEST(its_error_is_of_first_order)
{
	double off[3];
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t rate = 30u << k;
		struct world *world = open_world(false, rate, vec3_zero());
		struct command drag = test_command(COMMAND_FIELD_CREATE);
		drag.field_create.kind = FIELD_DRAG;
		drag.field_create.quadratic = 2 * 0.5;
		test_do(world, &drag);
		body_id body = put_body(world, TEST_SPHERE, vec3_zero(), vec3_make(4, 3, 0),
					INTEGRATOR_IMPLICIT_EULER);
		test_step(world, rate);
		vec3 exact = vec3_scale(vec3_make(4, 3, 0), 1 / (1 + 0.5 * 5));
		off[k] = vec3_distance(test_body(world, body).velocity, exact);
		world_destroy(world);
	}
	printf("# off %.3g, %.3g, %.3g m/s at 30, 60, 120 Hz\n", off[0], off[1], off[2]);
	for (uint32_t k = 1; k < 3; k++) {
		ck_assert_double_gt(off[k - 1] / off[k], 1.8);
		ck_assert_double_lt(off[k - 1] / off[k], 2.2);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/impact: stiff forces");
	TCase *tcase = tcase_create("stiff forces");
	tcase_add_loop_test(tcase, a_strong_drag_takes_what_implicit_euler_takes, 0, 2);
	tcase_add_test(tcase, an_attractor_that_is_stiff_near_its_centre_holds_what_is_there);
	tcase_add_test(tcase, a_block_in_a_strong_current_presses_with_its_weight);
	tcase_add_test(tcase, a_wall_carries_the_whole_current);
	tcase_add_test(tcase, a_current_on_one_of_two_welded_bodies_moves_both);
	tcase_add_test(tcase, a_spring_in_a_current_is_as_stiff_as_without);
	tcase_add_test(tcase, a_floor_carries_what_an_attractor_pulls);
	tcase_add_test(tcase, its_error_is_of_first_order);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
