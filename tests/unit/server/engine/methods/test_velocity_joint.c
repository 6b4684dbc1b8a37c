/* Joints in the exact velocity methods, through the engine's door, against values that are known
 * (book 5.3 … 5.8; the checklist's names stand at each). */
#include "server/base/heap.h"
#include "server/engine/math/trig.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection" };

/* Per second. A step so short that bodies stay where they are. */
enum { SHORT = 10000 };

static vec3 per_second(vec3 v)
{
	return vec3_scale(v, SHORT);
}

/* ---- the first step of each kind of joint
 * ----------------------------------------------------------- */

START_TEST(a_spherical_joint_carries_a_pendulum)
{
	/* J1: m 1, I 0.1, L 1, released level: F_y 0.891818, alpha −8.918182. */
	struct world *world = begin(METHODS[_i], SHORT, vec3_make(0, -9.81, 0));
	body_id ball =
		put(world, (struct thing){ .shape = TEST_SPHERE, .at = { 1, 0, 0 }, .mass = 1 });
	joint_id joint = join(world, JOINT_SPHERICAL, 0, ball, vec3_zero(), quat_identity());
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, ball).angular_velocity),
		    vec3_make(0, 0, -9.81 / 1.1), 1e-6);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 9.81 / 11, 0), 1e-3);
	ASSERT_VEC3(see(world, joint).torque, vec3_zero(), 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_universal_joint_locks_one_turn)
{
	/* J2: mass centres at the anchor, I 1 and 3: a torque of 4 across both axes turns both
	 * alike. */
	for (uint32_t across = 0; across < 2; across++) {
		struct world *world = begin(METHODS[_i], SHORT, vec3_zero());
		body_id a =
			put(world,
			    (struct thing){ .shape = TEST_SPHERE, .at = { 0, 0, 0 }, .mass = 10 });
		body_id b =
			put(world,
			    (struct thing){ .shape = TEST_SPHERE, .at = { 0, 0, 0 }, .mass = 30 });
		join(world, JOINT_UNIVERSAL, a, b, vec3_zero(), quat_identity());
		push(world, a, vec3_zero(), across ? vec3_make(0, 0, 4) : vec3_make(4, 0, 0));
		test_step(world, 1);
		vec3 on_a = across ? vec3_make(0, 0, 1) : vec3_make(4, 0, 0);
		vec3 on_b = across ? vec3_make(0, 0, 1) : vec3_zero();
		ASSERT_VEC3(per_second(test_body(world, a).angular_velocity), on_a, 1e-6);
		ASSERT_VEC3(per_second(test_body(world, b).angular_velocity), on_b, 1e-6);
		assert_good(world);
		world_destroy(world);
	}
}
END_TEST

START_TEST(a_revolute_joint_gives_a_couple)
{
	/* J3: a unit cube hinged about z at 0.5. */
	struct world *world = begin(METHODS[_i], SHORT, vec3_make(0, -9.81, 0));
	body_id cube =
		put(world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 1 });
	joint_id joint = join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(), about_z());
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, cube).angular_velocity), vec3_make(0, 0, -11.772),
		    1e-6);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 3.924, 0), 1e-3);
	assert_good(world);
	world_destroy(world);
	world = begin(METHODS[_i], SHORT, vec3_make(0, 0, -9.81));
	cube = put(world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 1 });
	joint = join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(), about_z());
	test_step(world, 1);
	ASSERT_VEC3(test_body(world, cube).angular_velocity, vec3_zero(), 1e-12);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 0, 9.81), 1e-9);
	ASSERT_VEC3(see(world, joint).torque, vec3_make(0, -4.905, 0), 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_cylindrical_joint_slides_and_spins)
{
	/* J4: along z in gravity −z, 3 N from the side, and a torque about the axis. */
	struct world *world = begin(METHODS[_i], SHORT, vec3_make(0, 0, -9.81));
	body_id ball =
		put(world, (struct thing){ .shape = TEST_SPHERE, .at = { 0, 0, 0 }, .mass = 1 });
	joint_id joint = join(world, JOINT_CYLINDRICAL, 0, ball, vec3_zero(), about_z());
	push(world, ball, vec3_make(3, 0, 0), vec3_make(0, 0, 0.5));
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, ball).velocity), vec3_make(0, 0, -9.81), 1e-9);
	ASSERT_VEC3(per_second(test_body(world, ball).angular_velocity), vec3_make(0, 0, 5), 1e-9);
	ASSERT_VEC3(see(world, joint).force, vec3_make(-3, 0, 0), 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_prismatic_joint_slides_only)
{
	/* J5: along x, the mass centre off the anchor, force (2, −9.81, 0). */
	struct world *world = begin(METHODS[_i], SHORT, vec3_zero());
	body_id ball = put(
		world, (struct thing){ .shape = TEST_SPHERE, .at = { 0.3, 0.2, 0.1 }, .mass = 1 });
	joint_id joint = join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	push(world, ball, vec3_make(2, -9.81, 0), vec3_zero());
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, ball).velocity), vec3_make(2, 0, 0), 1e-9);
	ASSERT_VEC3(test_body(world, ball).angular_velocity, vec3_zero(), 1e-12);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 9.81, 0), 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_fixed_joint_makes_one_of_two)
{
	/* J6: cubes of 1 and 2 kg, 6 N along the line of their centres; two of 1 kg, 6 N across at
	 * one. */
	struct world *world = begin(METHODS[_i], SHORT, vec3_zero());
	body_id a =
		put(world, (struct thing){ .shape = TEST_BOX, .at = { -0.5, 0, 0 }, .mass = 1 });
	body_id b = put(world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 2 });
	joint_id joint = join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	push(world, a, vec3_make(6, 0, 0), vec3_zero());
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, a).velocity), vec3_make(2, 0, 0), 1e-9);
	ASSERT_VEC3(per_second(test_body(world, b).velocity), vec3_make(2, 0, 0), 1e-9);
	ASSERT_VEC3(see(world, joint).force, vec3_make(4, 0, 0), 1e-9);
	assert_good(world);
	world_destroy(world);
	world = begin(METHODS[_i], SHORT, vec3_zero());
	a = put(world, (struct thing){ .shape = TEST_BOX, .at = { -0.5, 0, 0 }, .mass = 1 });
	b = put(world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 1 });
	join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	push(world, a, vec3_make(0, 6, 0), vec3_zero());
	test_step(world, 1);
	ASSERT_VEC3(per_second(test_body(world, a).velocity), vec3_make(0, 4.8, 0), 1e-6);
	ASSERT_VEC3(per_second(test_body(world, b).velocity), vec3_make(0, 1.2, 0), 1e-6);
	ASSERT_VEC3(per_second(test_body(world, b).angular_velocity), vec3_make(0, 0, -3.6), 1e-6);
	assert_good(world);
	world_destroy(world);
}
END_TEST

/* ---- impulses
 * --------------------------------------------------------------------------------------- */

START_TEST(an_impulse_goes_through_a_joint)
{
	/* AR1 */
	struct world *world = begin(METHODS[_i], SHORT, vec3_zero());
	body_id a = put(world, (struct thing){ .shape = TEST_BOX,
					       .at = { -0.5, 0, 0 },
					       .mass = 1,
					       .velocity = { 0, 1, 0 } });
	body_id b = put(world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 1 });
	joint_id joint = join(world, JOINT_SPHERICAL, a, b, vec3_zero(), quat_identity());
	test_step(world, 1);
	ASSERT_VEC3(test_body(world, a).velocity, vec3_make(0, 0.8, 0), 1e-4);
	ASSERT_VEC3(test_body(world, b).velocity, vec3_make(0, 0.2, 0), 1e-4);
	ASSERT_VEC3(test_body(world, a).angular_velocity, vec3_make(0, 0, -0.6), 1e-4);
	ASSERT_VEC3(test_body(world, b).angular_velocity, vec3_make(0, 0, -0.6), 1e-4);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 0.2 * SHORT, 0), 1);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(what_stands_carries_what_hangs_from_it)
{
	/* AR2: a cube of 1 kg on the ground, 2 kg hanging from it. */
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	put(world, (struct thing){ .shape = TEST_PLANE, .meets = true });
	body_id cube = put(
		world,
		(struct thing){ .shape = TEST_BOX, .at = { 0, 0.5, 0 }, .mass = 1, .meets = true });
	body_id load =
		put(world, (struct thing){ .shape = TEST_SHAPES, .at = { 0, -0.5, 0 }, .mass = 2 });
	joint_id joint =
		join(world, JOINT_SPHERICAL, cube, load, vec3_make(0, -0.5, 0), quat_identity());
	struct contact_view points[8];
	for (uint32_t tick = 0; tick < 30; tick++) {
		test_step(world, 1);
		double sum = 0;
		uint32_t count = world_contacts(world, cube, points, COUNT_OF(points));
		for (uint32_t i = 0; i < count; i++)
			sum += points[i].normal_impulse;
		ck_assert_double_eq_tol(sum * 60, 29.43, 1e-9);
		ASSERT_VEC3(see(world, joint).force, vec3_make(0, 19.62, 0), 1e-9);
		ASSERT_VEC3(test_body(world, load).position, vec3_make(0, -0.5, 0), 1e-12);
		assert_good(world);
	}
	world_destroy(world);
}
END_TEST

START_TEST(a_dumbbell_bounces_as_one)
{
	/* Two balls on a weld fall flat on the ground: they leave as fast as they came; the joint
	 * keeps. */
	struct world *world = begin(METHODS[_i], 60, vec3_zero());
	put(world, (struct thing){ .shape = TEST_PLANE, .meets = true, .restitution = 1 });
	body_id balls[2];
	joint_id joint;
	for (uint32_t i = 0; i < 2; i++)
		balls[i] = put(world, (struct thing){ .shape = TEST_SPHERE,
						      .at = { i, 1.03, 0 },
						      .mass = 1 + i,
						      .velocity = { 0, -3, 0 },
						      .meets = true,
						      .restitution = 1 });
	joint = join(world, JOINT_FIXED, balls[0], balls[1], vec3_make(0.5, 1.03, 0),
		     quat_identity());
	test_step(world, 30);
	for (uint32_t i = 0; i < 2; i++) {
		ASSERT_VEC3(test_body(world, balls[i]).velocity, vec3_make(0, 3, 0), 1e-9);
		ASSERT_VEC3(test_body(world, balls[i]).angular_velocity, vec3_zero(), 1e-9);
	}
	ck_assert_double_lt(vec3_length(see(world, joint).force), 1e-9);
	assert_good(world);
	world_destroy(world);
	/* One end alone: its bounce goes through the joint; energy is kept. (Newton's law with
	 * friction would gain some, and is cut.) */
	world = begin(METHODS[_i], 60, vec3_zero());
	put(world, (struct thing){ .shape = TEST_PLANE, .meets = true, .restitution = 1 });
	for (uint32_t i = 0; i < 2; i++)
		balls[i] = put(world, (struct thing){ .shape = TEST_SPHERE,
						      .at = { i, 1.03 + i, 0 },
						      .mass = 1,
						      .velocity = { 0, -3, 0 },
						      .smooth = true,
						      .meets = true,
						      .restitution = 1 });
	join(world, JOINT_FIXED, balls[0], balls[1], vec3_make(0.5, 1.53, 0), quat_identity());
	test_step(world, 12);
	double energy = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct body_view view = test_body(world, balls[i]);
		energy += 0.5 * vec3_length_squared(view.velocity) +
			  0.05 * vec3_length_squared(view.angular_velocity);
	}
	ck_assert_double_eq_tol(energy, 9, 1e-9);
	ck_assert_double_gt(test_body(world, balls[0]).velocity.y, 0);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(two_joints_at_one_place_are_as_one)
{
	/* AR4 */
	struct body_view last[2];
	for (uint32_t twice = 0; twice < 2; twice++) {
		struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
		body_id cube = put(
			world, (struct thing){ .shape = TEST_BOX, .at = { 0.5, 0, 0 }, .mass = 1 });
		joint_id joints[2];
		for (uint32_t i = 0; i <= twice; i++)
			joints[i] = join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(), about_z());
		for (uint32_t tick = 0; tick < 120; tick++) {
			test_step(world, 1);
			assert_good(world);
			vec3 force = see(world, joints[0]).force;
			if (twice)
				force = vec3_add(force, see(world, joints[1]).force);
			ck_assert_double_lt(vec3_length(force), 40);
			ck_assert_uint_eq(world_stats(world).islands_dependent, twice);
		}
		last[twice] = test_body(world, cube);
		world_destroy(world);
	}
	ASSERT_VEC3(last[1].position, last[0].position, 1e-9);
	ASSERT_VEC3(last[1].velocity, last[0].velocity, 1e-9);
}
END_TEST

/* ---- limits, motors, springs, friction
 * -------------------------------------------------------------- */

START_TEST(a_slider_stops_at_its_limit_or_bounces)
{
	/* X5 */
	for (uint32_t e = 0; e < 2; e++) {
		struct world *world = begin(METHODS[_i], 60, vec3_zero());
		set(world, "restitution.speed", 0.5);
		body_id ball = put(
			world,
			(struct thing){ .shape = TEST_SPHERE, .mass = 1, .velocity = { 1, 0, 0 } });
		joint_id joint =
			join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		struct command axis = axis_of(joint, 0);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.lower = -1;
		axis.joint_axis.upper = 1;
		axis.joint_axis.restitution = e;
		test_do(world, &axis);
		test_step(world, 59);
		ASSERT_VEC3(test_body(world, ball).velocity, vec3_make(1, 0, 0), 1e-12);
		test_step(world, 31);
		/* What bounces stands at the limit for the rest of the step in which it met it. */
		vec3 at = vec3_make(e == 0 ? 1 : 0.5, 0, 0);
		double within = e == 0 ? 1e-6 : 1.0 / 60 + 1e-6;
		ASSERT_VEC3(test_body(world, ball).velocity, vec3_make(-(double)e, 0, 0), 1e-9);
		ASSERT_VEC3(test_body(world, ball).position, at, within);
		ASSERT_VEC3(see(world, joint).force, vec3_zero(), 1e-9);
		test_step(world, 120);
		at.x = e == 0 ? 1 : -0.5;
		ASSERT_VEC3(test_body(world, ball).velocity, vec3_make(e, 0, 0), 1e-9);
		ASSERT_VEC3(test_body(world, ball).position, at, 2 * within);
		assert_good(world);
		world_destroy(world);
	}
}
END_TEST

START_TEST(a_limit_carries_and_pushes_only)
{
	/* A slider along y lies on its lower limit in gravity, and leaves it when it is pulled. */
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ball = put(world, (struct thing){ .shape = TEST_SPHERE, .mass = 2 });
	quat up = quat_from_axis_angle(vec3_make(0, 0, 1), HALF_PI);
	joint_id joint = join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), up);
	struct command axis = axis_of(joint, 0);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = -0.25;
	axis.joint_axis.upper = 1;
	test_do(world, &axis);
	test_step(world, 60);
	ASSERT_VEC3(test_body(world, ball).position, vec3_make(0, -0.25, 0), 1e-6);
	ASSERT_VEC3(see(world, joint).force, vec3_make(0, 19.62, 0), 1e-9);
	push(world, ball, vec3_make(0, 30, 0), vec3_zero());
	test_step(world, 1);
	ASSERT_VEC3(see(world, joint).force, vec3_zero(), 1e-9);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.y, (30 - 19.62) / 2 / 60, 1e-12);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_motor_holds_its_speed)
{
	/* X7: two free bodies on a slider and on a hinge; momentum is kept. */
	for (uint32_t turns = 0; turns < 2; turns++) {
		struct world *world = begin(METHODS[_i], 60, vec3_zero());
		body_id a = put(world,
				(struct thing){ .shape = TEST_BOX, .at = { 0, 0, 0 }, .mass = 1 });
		body_id b = put(
			world, (struct thing){ .shape = TEST_BOX, .at = { 1.5, 0, 0 }, .mass = 3 });
		joint_id joint = join(world, turns ? JOINT_REVOLUTE : JOINT_PRISMATIC, a, b,
				      vec3_zero(), turns ? about_z() : quat_identity());
		struct command axis = axis_of(joint, turns ? 3 : 0);
		axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
		axis.joint_axis.target = 2;
		test_do(world, &axis);
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			struct body_view va = test_body(world, a), vb = test_body(world, b);
			vec3 linear = vec3_sub(vb.velocity, va.velocity);
			vec3 spin = vec3_sub(vb.angular_velocity, va.angular_velocity);
			ck_assert_double_eq_tol(turns ? spin.z : linear.x, 2, 1e-9);
			ASSERT_VEC3(vec3_mul_add(va.velocity, vb.velocity, 3), vec3_zero(), 1e-9);
			assert_good(world);
		}
		world_destroy(world);
	}
}
END_TEST

START_TEST(a_motor_follows_a_sine)
{
	for (uint32_t place = 0; place < 2; place++) {
		struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
		body_id ball = put(world, (struct thing){ .shape = TEST_SPHERE, .mass = 1 });
		joint_id joint =
			join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		struct command axis = axis_of(joint, 0);
		axis.joint_axis.motor = place ? JOINT_MOTOR_POSITION : JOINT_MOTOR_VELOCITY;
		axis.joint_axis.wave = JOINT_WAVE_SINE;
		axis.joint_axis.amplitude = 1;
		axis.joint_axis.hertz = 1 / TWO_PI;
		test_do(world, &axis);
		for (uint32_t tick = 1; tick <= 120; tick++) {
			test_step(world, 1);
			struct body_view view = test_body(world, ball);
			double angle = tick / 60.0,
			       speed = place ? trig_cos(angle) : trig_sin(angle);
			ck_assert_double_eq_tol(view.velocity.x, speed, 1e-9);
			if (place)
				ck_assert_double_eq_tol(view.position.x, trig_sin(angle), 1e-9);
			assert_good(world);
		}
		world_destroy(world);
	}
}
END_TEST

START_TEST(what_a_motor_may_do_is_bounded)
{
	/* 3 N on 1 kg: 3 m/s² until 2 m/s; against gravity of 9.81 it falls with what is left. */
	struct world *world = begin(METHODS[_i], 60, vec3_zero());
	body_id ball = put(world, (struct thing){ .shape = TEST_SPHERE, .mass = 1 });
	joint_id joint = join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	struct command axis = axis_of(joint, 0);
	axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	axis.joint_axis.target = 2;
	axis.joint_axis.motor_limit = 3;
	test_do(world, &axis);
	for (uint32_t tick = 1; tick <= 60; tick++) {
		test_step(world, 1);
		ck_assert_double_eq_tol(test_body(world, ball).velocity.x,
					scalar_min(2, tick / 20.0), 1e-9);
	}
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_make(-9.81, 0, 0);
	test_do(world, &gravity);
	test_step(world, 60);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 2 - 6.81, 1e-9);
	ASSERT_VEC3(see(world, joint).force, vec3_make(3, 0, 0), 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(friction_holds_or_slows)
{
	struct world *world = begin(METHODS[_i], 60, vec3_zero());
	body_id ball = put(
		world, (struct thing){ .shape = TEST_SPHERE, .mass = 1, .velocity = { 1, 0, 0 } });
	joint_id joint = join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	struct command axis = axis_of(joint, 0);
	axis.joint_axis.friction = 2;
	test_do(world, &axis);
	test_step(world, 15);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0.5, 1e-9);
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0, 1e-12);
	push(world, ball, vec3_make(1.5, 0, 0), vec3_zero());
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0, 1e-12);
	ASSERT_VEC3(see(world, joint).force, vec3_make(-1.5, 0, 0), 1e-9);
	push(world, ball, vec3_make(1.5, 0, 0), vec3_zero());
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0.5, 1e-9);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_spring_is_the_implicit_one)
{
	/* v' = (v − h k q / m) / (1 + h c / m + h² k / m); hertz and ratio are the same of 1 kg. */
	for (uint32_t hertz = 0; hertz < 2; hertz++) {
		struct world *world = begin(METHODS[_i], 60, vec3_zero());
		body_id ball =
			put(world,
			    (struct thing){ .shape = TEST_SPHERE, .at = { 0.5, 0, 0 }, .mass = 1 });
		joint_id joint =
			join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		double h = 1 / 60.0, f = 1.5, ratio = 0.2, k = 9 * PI * PI, c = 2 * ratio * 3 * PI;
		struct command axis = axis_of(joint, 0);
		axis.joint_axis.spring = hertz ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = hertz ? f : k;
		axis.joint_axis.damping = hertz ? ratio : c;
		axis.joint_axis.rest = 0.25;
		test_do(world, &axis);
		double q = see(world, joint).coordinates[0] - 0.25, v = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			v = (v - h * k * q) / (1 + h * c + h * h * k);
			q += h * v;
			ck_assert_double_eq_tol(test_body(world, ball).velocity.x, v, 1e-9);
			ck_assert_double_eq_tol(see(world, joint).coordinates[0] - 0.25, q, 1e-9);
		}
		assert_good(world);
		world_destroy(world);
	}
}
END_TEST

/* ---- motion
 * ----------------------------------------------------------------------------------------- */

/* The angle of a pendulum of J1 after 2 s, by a fourth order of 10⁵ steps. */
static double swing_exactly(void)
{
	double q = 0, v = 0, h = 2e-5, pull = -9.81 / 1.1;
	for (uint32_t i = 0; i < 100000; i++) {
		double a1 = pull * trig_cos(q), a2 = pull * trig_cos(q + h / 2 * v);
		double a3 = pull * trig_cos(q + h / 2 * v + h * h / 4 * a1);
		double a4 = pull * trig_cos(q + h * v + h * h / 2 * a2);
		q += h * v + h * h / 6 * (a1 + a2 + a3);
		v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
	}
	return q;
}

static double energy_of(const struct world *world, const body_id *bodies, uint32_t count,
			double inertia)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view = test_body(world, bodies[i]);
		sum += view.mass *
			       (0.5 * vec3_length_squared(view.velocity) + 9.81 * view.position.y) +
		       0.5 * inertia * vec3_length_squared(view.angular_velocity);
	}
	return sum;
}

/* The error of its angle after 2 s; the greatest of its energy meanwhile. */
static double swing(const char *method, uint32_t rate, double *energy)
{
	struct world *world = begin(method, rate, vec3_make(0, -9.81, 0));
	body_id ball =
		put(world, (struct thing){ .shape = TEST_SPHERE, .at = { 1, 0, 0 }, .mass = 1 });
	join(world, JOINT_REVOLUTE, 0, ball, vec3_zero(), about_z());
	*energy = 0;
	for (uint32_t tick = 0; tick < 2 * rate; tick++) {
		test_step(world, 1);
		*energy = scalar_max(*energy, scalar_abs(energy_of(world, &ball, 1, 0.1)));
		assert_good(world);
	}
	vec3 at = test_body(world, ball).position;
	double angle = trig_atan2(at.y, at.x), exact = swing_exactly();
	world_destroy(world);
	return scalar_abs(angle - exact - TWO_PI * scalar_round((angle - exact) / TWO_PI));
}

START_TEST(a_pendulum_is_of_second_order)
{
	double energy[3], error[3];
	for (uint32_t k = 0; k < 3; k++)
		error[k] = swing(METHODS[_i], 60u << k, &energy[k]);
	ck_assert_double_lt(error[0], 3e-3);
	ck_assert_double_lt(energy[0], 1e-2); /* J, of 9.81 that go to and fro */
	for (uint32_t k = 1; k < 3; k++) {
		ck_assert_double_gt(error[k - 1] / error[k], 3.9);
		ck_assert_double_gt(energy[k - 1] / energy[k], 3.9);
	}
}
END_TEST

START_TEST(a_pendulum_keeps_its_energy)
{
	/* A minute: it swings back to within the same, and no less than at first. */
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ball =
		put(world, (struct thing){ .shape = TEST_SPHERE, .at = { 1, 0, 0 }, .mass = 1 });
	join(world, JOINT_REVOLUTE, 0, ball, vec3_zero(), about_z());
	double worst[2] = { 0, 0 };
	for (uint32_t tick = 0; tick < 3600; tick++) {
		test_step(world, 1);
		double off = scalar_abs(energy_of(world, &ball, 1, 0.1));
		worst[tick / 1800] = scalar_max(worst[tick / 1800], off);
	}
	ck_assert_double_lt(worst[0], 1e-2);
	ck_assert_double_lt(worst[1], 1.001 * worst[0]);
	assert_good(world);
	world_destroy(world);
}
END_TEST

START_TEST(what_flies_keeps_its_momenta)
{
	/* M1, A5: a closed ring of eight cubes, turning and warped, in free fall. */
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ring[8];
	for (uint32_t i = 0; i < 8; i++) {
		double angle = QUARTER_PI * i, x = 2 * trig_cos(angle), y = 2 * trig_sin(angle);
		/* Turning about z at 1.5 rad/s, and flying. */
		ring[i] = put(world, (struct thing){ .shape = TEST_BOX,
						     .at = { x, y, 0 },
						     .mass = 1 + i % 3,
						     .velocity = { 1 - 1.5 * y, 2 + 1.5 * x, 0 },
						     .spin = { 0, 0, 1.5 } });
	}
	for (uint32_t i = 0; i < 8; i++) {
		double angle = QUARTER_PI * (i + 0.5);
		vec3 at = { 1.8 * trig_cos(angle), 1.8 * trig_sin(angle), 0.1 };
		join(world, JOINT_SPHERICAL, ring[i], ring[(i + 1) % 8], at, quat_identity());
	}
	struct command turn = test_command(COMMAND_ANGULAR_IMPULSE);
	turn.angular_impulse.body = ring[3];
	turn.angular_impulse.impulse = vec3_make(0.3, 0.1, 0);
	test_do(world, &turn);
	vec3 before[2] = { vec3_zero(), vec3_zero() };
	for (uint32_t tick = 0; tick <= 120; tick++) {
		vec3 linear = vec3_zero(), angular = vec3_zero(), centre = vec3_zero();
		double mass = 0;
		for (uint32_t i = 0; i < 8; i++) {
			struct body_view view = test_body(world, ring[i]);
			vec3 p = vec3_scale(view.velocity, view.mass);
			linear = vec3_add(linear, p);
			centre = vec3_mul_add(centre, view.position, view.mass);
			angular = vec3_add(angular, vec3_cross(view.position, p));
			angular = vec3_mul_add(angular, view.angular_velocity, view.mass / 6);
			mass += view.mass;
		}
		centre = vec3_scale(centre, 1 / mass);
		linear.y += mass * 9.81 * tick / 60;
		angular = vec3_sub(
			angular,
			vec3_cross(centre,
				   vec3_sub(linear, vec3_make(0, mass * 9.81 * tick / 60, 0))));
		if (tick == 0) {
			before[0] = linear;
			before[1] = angular;
		}
		ASSERT_VEC3(linear, before[0], 1e-10);
		ASSERT_VEC3(angular, before[1], 1e-8);
		assert_good(world);
		test_step(world, 1);
	}
	world_destroy(world);
}
END_TEST

static void make_chain(struct world *world, body_id *links, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		links[i] = put(
			world,
			(struct thing){ .shape = TEST_SPHERE, .at = { i + 0.5, 0, 0 }, .mass = 1 });
		join(world, JOINT_SPHERICAL, i > 0 ? links[i - 1] : 0, links[i], vec3_make(i, 0, 0),
		     quat_identity());
	}
}

START_TEST(a_chain_of_a_hundred_falls)
{
	enum { LINKS = 100 };
	struct world *world = begin(METHODS[_i], 240, vec3_make(0, -9.81, 0));
	body_id links[LINKS];
	make_chain(world, links, LINKS);
	double worst = 0;
	for (uint32_t tick = 0; tick < 480; tick++) {
		test_step(world, 1);
		worst = scalar_max(worst, scalar_abs(energy_of(world, links, LINKS, 0.1)));
		assert_good(world);
		ck_assert_uint_eq(world_stats(world).islands_sparse, 1);
	}
	/* Of ½ · 100² · 9.81 J. */
	ck_assert_double_lt(worst, 1e-4 * 49050);
	world_destroy(world);
}
END_TEST

START_TEST(the_tip_of_a_whip_stays_at_its_chain)
{
	/* At 60 Hz its links turn by radians a step: energy may go, nothing comes apart for long.
	 */
	enum { LINKS = 50 };
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id links[LINKS];
	make_chain(world, links, LINKS);
	double most = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		most = scalar_max(most, energy_of(world, links, LINKS, 0.1));
		ck_assert_double_lt(world_stats(world).joint_error, 1e-6);
	}
	ck_assert_double_lt(most, 0.02 * 12262.5);
	world_destroy(world);
}
END_TEST

START_TEST(what_was_torn_apart_comes_together)
{
	struct world *world = begin(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id links[5];
	make_chain(world, links, COUNT_OF(links));
	test_step(world, 10);
	struct command tear = test_command(COMMAND_SET_POSE);
	tear.set_pose.body = links[2];
	tear.set_pose.position = vec3_make(2.3, 0.4, 0.3);
	tear.set_pose.rotation = quat_from_axis_angle(vec3_make(0.6, 0, 0.8), 0.7);
	test_do(world, &tear);
	test_step(world, 2);
	ck_assert_double_lt(world_stats(world).joint_error, 1e-8);
	for (uint32_t i = 0; i < COUNT_OF(links); i++)
		ck_assert_double_lt(vec3_length(test_body(world, links[i]).velocity), 10);
	world_destroy(world);
}
END_TEST

/* ---- all three
 * -------------------------------------------------------------------------------------- */

/* A tree of all kinds of joints above the ground, falling on it, with limits, springs and a motor.
 */
static struct world *make_zoo(const char *method, body_id *bodies, uint32_t *count)
{
	struct world *world = begin(method, 60, vec3_make(0, -9.81, 0));
	set(world, "projection.friction_rounds", 0);
	put(world, (struct thing){ .shape = TEST_PLANE, .meets = true, .smooth = true });
	for (uint32_t i = 0; i < *count; i++)
		bodies[i] =
			put(world, (struct thing){ .shape = i % 2 == 0 ? TEST_BOX : TEST_SPHERE,
						   .at = { 1.5 * (i % 3), 1 + 1.5 * (i / 3), 0 },
						   .mass = 1 + i % 4,
						   .velocity = { 1, 0, 0.2 * i },
						   .restitution = 0.4,
						   .meets = true,
						   .smooth = true });
	for (uint32_t i = 1; i < *count; i++) {
		vec3 a = test_body(world, bodies[i]).position;
		uint32_t other = i % 3 > 0 ? i - 1 : i - 3;
		vec3 b = test_body(world, bodies[other]).position;
		enum joint_type type = (enum joint_type)(JOINT_SPHERICAL + (i - 1) % 6);
		struct command command = test_command(COMMAND_JOINT_CREATE);
		command.joint_create.type = (uint8_t)type;
		command.joint_create.body_a = bodies[other];
		command.joint_create.body_b = bodies[i];
		command.joint_create.point_a = vec3_scale(vec3_add(a, b), 0.5);
		command.joint_create.frame_a = about_z();
		command.joint_create.place = 1;
		command.joint_create.violated = 2;
		joint_id joint = test_do(world, &command);
		uint32_t free = type == JOINT_PRISMATIC ? 0 : 3;
		if (type == JOINT_FIXED)
			continue;
		struct command axis = axis_of(joint, free);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.lower = -0.2;
		axis.joint_axis.upper = 0.3;
		axis.joint_axis.friction = i % 4 == 0 ? 1 : 0;
		axis.joint_axis.spring = i % 2 == 0 ? JOINT_SPRING_HERTZ : JOINT_SPRING_NONE;
		axis.joint_axis.stiffness = 2;
		axis.joint_axis.damping = 0.5;
		axis.joint_axis.motor = i % 5 == 0 ? JOINT_MOTOR_VELOCITY : JOINT_MOTOR_NONE;
		axis.joint_axis.target = 1;
		axis.joint_axis.motor_limit = 5;
		test_do(world, &axis);
	}
	return world;
}

START_TEST(the_methods_agree_without_friction)
{
	/* Until the first impact, which each resolves by its own law, one problem has one answer.
	 * `lcp` has no friction here either, because nothing has. */
	enum { BODIES = 12, TICKS = 12 };
	vec3 expected[TICKS][BODIES];
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		body_id bodies[BODIES];
		uint32_t count = BODIES;
		struct world *world = make_zoo(METHODS[m], bodies, &count);
		set(world, "restitution.speed", 1000);
		for (uint32_t tick = 0; tick < TICKS; tick++) {
			test_step(world, 1);
			for (uint32_t i = 0; i < BODIES; i++) {
				vec3 velocity = test_body(world, bodies[i]).velocity;
				if (m == 0)
					expected[tick][i] = velocity;
				else
					ASSERT_VEC3(velocity, expected[tick][i], 1e-7);
			}
			ck_assert_double_le(world_stats(world).residual, 1e-9);
		}
		world_destroy(world);
	}
}
END_TEST

START_TEST(what_has_no_memory_leaves_all_as_it_was)
{
	enum { BODIES = 9 };
	body_id bodies[BODIES];
	uint32_t count = BODIES;
	struct world *world = make_zoo(METHODS[_i], bodies, &count);
	struct world *straight = make_zoo(METHODS[_i], bodies, &count);
	struct reason why;
	uint64_t before = test_hash(world);
	enum status status = STATUS_NO_MEMORY;
	uint32_t refused = 0;
	for (uint64_t nth = 1; status != STATUS_OK && nth < 1000; nth++) {
		heap_fail_at(nth);
		status = world_step(world, &parallel_serial, &why);
		heap_fail_at(0);
		if (status == STATUS_OK)
			break;
		refused++;
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_uint_eq(test_hash(world), before);
	}
	ck_assert_uint_gt(refused, 3);
	test_step(straight, 1);
	ck_assert_uint_eq(test_hash(world), test_hash(straight));
	world_destroy(world);
	world_destroy(straight);
}
END_TEST

START_TEST(workers_make_the_same)
{
	enum { BODIES = 24 };
	uint64_t hashes[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct parallel *workers = parallel_threads_create(k == 0 ? 1 : 4);
		body_id bodies[BODIES];
		uint32_t count = BODIES;
		struct world *world = make_zoo(METHODS[_i], bodies, &count);
		struct reason why;
		for (uint32_t i = 0; i < 6; i++) {
			body_id ball = put(world, (struct thing){ .shape = TEST_SPHERE,
								  .at = { 20 + 3 * i, 3, 0 },
								  .mass = 1,
								  .meets = true,
								  .restitution = 1 });
			join(world, JOINT_SPHERICAL, 0, ball, vec3_make(21 + 3 * i, 3, 0),
			     quat_identity());
		}
		for (uint32_t tick = 0; tick < 120; tick++)
			ck_assert_int_eq(world_step(world, workers, &why), STATUS_OK);
		hashes[k] = test_hash(world);
		ck_assert_uint_eq(world_stats(world).quarantined_total, 0);
		test_check(world);
		world_destroy(world);
		parallel_threads_destroy(workers);
	}
	ck_assert_uint_eq(hashes[0], hashes[1]);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/velocity_joint");
	TCase *first = tcase_create("first steps");
	tcase_set_timeout(first, 60);
	tcase_add_loop_test(first, a_spherical_joint_carries_a_pendulum, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(first, a_universal_joint_locks_one_turn, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(first, a_revolute_joint_gives_a_couple, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(first, a_cylindrical_joint_slides_and_spins, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(first, a_prismatic_joint_slides_only, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(first, a_fixed_joint_makes_one_of_two, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, first);
	TCase *impulses = tcase_create("impulses");
	tcase_set_timeout(impulses, 60);
	tcase_add_loop_test(impulses, an_impulse_goes_through_a_joint, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(impulses, what_stands_carries_what_hangs_from_it, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(impulses, a_dumbbell_bounces_as_one, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(impulses, two_joints_at_one_place_are_as_one, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, impulses);
	TCase *axes = tcase_create("axes");
	tcase_set_timeout(axes, 60);
	tcase_add_loop_test(axes, a_slider_stops_at_its_limit_or_bounces, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_limit_carries_and_pushes_only, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_motor_holds_its_speed, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_motor_follows_a_sine, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, what_a_motor_may_do_is_bounded, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, friction_holds_or_slows, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_spring_is_the_implicit_one, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, axes);
	TCase *motion = tcase_create("motion");
	tcase_set_timeout(motion, 120);
	tcase_add_loop_test(motion, a_pendulum_is_of_second_order, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, a_pendulum_keeps_its_energy, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, what_flies_keeps_its_momenta, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, a_chain_of_a_hundred_falls, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, the_tip_of_a_whip_stays_at_its_chain, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, what_was_torn_apart_comes_together, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, motion);
	TCase *all = tcase_create("all three");
	tcase_set_timeout(all, 120);
	tcase_add_test(all, the_methods_agree_without_friction);
	tcase_add_loop_test(all, what_has_no_memory_leaves_all_as_it_was, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(all, workers_make_the_same, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
