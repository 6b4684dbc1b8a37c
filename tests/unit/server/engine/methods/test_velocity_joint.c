/* Joints in the exact velocity methods, through engine.h, against known values (test_joint_book has the
 * values of the book). */
#include "server/base/heap.h"
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"
#include "tests/lib/stage.h"

static const char *const METHODS[] = { "lcp", "projection", "reflection", "impact" };

/* ---- impulses --------------------------------------------------------------------------------- */

START_TEST(a_dumbbell_bounces_as_one_body)
{
	/* Two welded balls fall flat on the ground. They leave with their speed of arrival, and the
	 * joint holds. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .meets = true, .restitution = 1 });
	body_id balls[2];
	joint_id joint;
	for (uint32_t i = 0; i < 2; i++)
		balls[i] = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
								    .at = { i, 1.03, 0 },
								    .mass = 1 + i,
								    .velocity = { 0, -3, 0 },
								    .meets = true,
								    .restitution = 1 });
	joint = joined_join(world, JOINT_FIXED, balls[0], balls[1], vec3_make(0.5, 1.03, 0),
			    quat_identity());
	test_step(world, 30);
	for (uint32_t i = 0; i < 2; i++) {
		ASSERT_VEC3(test_body(world, balls[i]).velocity, vec3_make(0, 3, 0), 1e-9);
		ASSERT_VEC3(test_body(world, balls[i]).angular_velocity, vec3_zero(), 1e-9);
	}
	ck_assert_double_lt(vec3_length(joined_view(world, joint).force), 1e-9);
	joined_assert_exact(world);
	world_destroy(world);
	/* Only one ball hits the ground: its bounce acts through the joint, and energy is conserved.
	 * (Newton's law with friction would gain energy, and is limited.) */
	world = joined_world(METHODS[_i], 60, vec3_zero());
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .meets = true, .restitution = 1 });
	for (uint32_t i = 0; i < 2; i++)
		balls[i] = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
								    .at = { i, 1.03 + i, 0 },
								    .mass = 1,
								    .velocity = { 0, -3, 0 },
								    .smooth = true,
								    .meets = true,
								    .restitution = 1 });
	joined_join(world, JOINT_FIXED, balls[0], balls[1], vec3_make(0.5, 1.53, 0),
		    quat_identity());
	test_step(world, 12);
	double energy = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct body_view view = test_body(world, balls[i]);
		energy += 0.5 * vec3_length_squared(view.velocity) +
			  0.05 * vec3_length_squared(view.angular_velocity);
	}
	ck_assert_double_eq_tol(energy, 9, 1e-9);
	ck_assert_double_gt(test_body(world, balls[0]).velocity.y, 0);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

/* ---- limits, motors, springs, friction -------------------------------------------------------- */

START_TEST(a_limit_carries_a_weight_and_never_pulls)
{
	/* A slider along y rests on its lower limit under gravity, and leaves the limit when pulled. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE, .mass = 2 });
	quat up = quat_from_axis_angle(vec3_make(0, 0, 1), HALF_PI);
	joint_id joint = joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), up);
	struct command axis = joined_axis(joint, 0);
	axis.joint_axis.mode = JOINT_LIMITED;
	axis.joint_axis.lower = -0.25;
	axis.joint_axis.upper = 1;
	test_do(world, &axis);
	test_step(world, 60);
	ASSERT_VEC3(test_body(world, ball).position, vec3_make(0, -0.25, 0), 1e-6);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_make(0, 19.62, 0), 1e-9);
	joined_push(world, ball, vec3_make(0, 30, 0), vec3_zero());
	test_step(world, 1);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_zero(), 1e-9);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.y, (30 - 19.62) / 2 / 60, 1e-12);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_motor_gives_at_most_its_force_limit)
{
	/* 3 N on 1 kg: 3 m/s² until 2 m/s; against gravity of 9.81 it falls with the rest. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
	body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE, .mass = 1 });
	joint_id joint = joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	struct command axis = joined_axis(joint, 0);
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
	ASSERT_VEC3(joined_view(world, joint).force, vec3_make(3, 0, 0), 1e-9);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

START_TEST(joint_friction_holds_or_slows_a_body)
{
	struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
	body_id ball = joined_put(
		world,
		(struct joined_thing){ .shape = TEST_SPHERE, .mass = 1, .velocity = { 1, 0, 0 } });
	joint_id joint = joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	struct command axis = joined_axis(joint, 0);
	axis.joint_axis.friction = 2;
	test_do(world, &axis);
	test_step(world, 15);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0.5, 1e-9);
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0, 1e-12);
	joined_push(world, ball, vec3_make(1.5, 0, 0), vec3_zero());
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0, 1e-12);
	ASSERT_VEC3(joined_view(world, joint).force, vec3_make(-1.5, 0, 0), 1e-9);
	joined_push(world, ball, vec3_make(1.5, 0, 0), vec3_zero());
	test_step(world, 30);
	ck_assert_double_eq_tol(test_body(world, ball).velocity.x, 0.5, 1e-9);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_spring_moves_as_an_implicit_spring)
{
	/* v' = (v − h k q / m) / (1 + h c / m + h² k / m); hertz and ratio are the same of 1 kg. */
	for (uint32_t hertz = 0; hertz < 2; hertz++) {
		struct world *world = joined_world(METHODS[_i], 60, vec3_zero());
		body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									.at = { 0.5, 0, 0 },
									.mass = 1 });
		joint_id joint =
			joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		double h = 1 / 60.0, f = 1.5, ratio = 0.2, k = 9 * PI * PI, c = 2 * ratio * 3 * PI;
		struct command axis = joined_axis(joint, 0);
		axis.joint_axis.spring = hertz ? JOINT_SPRING_HERTZ : JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = hertz ? f : k;
		axis.joint_axis.damping = hertz ? ratio : c;
		axis.joint_axis.rest = 0.25;
		test_do(world, &axis);
		double q = joined_view(world, joint).coordinates[0] - 0.25, v = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			v = (v - h * k * q) / (1 + h * c + h * h * k);
			q += h * v;
			ck_assert_double_eq_tol(test_body(world, ball).velocity.x, v, 1e-9);
			ck_assert_double_eq_tol(joined_view(world, joint).coordinates[0] - 0.25, q,
						1e-9);
		}
		joined_assert_exact(world);
		world_destroy(world);
	}
}
END_TEST

/* ---- motion ----------------------------------------------------------------------------------- */

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

START_TEST(a_pendulum_conserves_energy)
{
	/* After a minute the pendulum still reaches its first angle. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ball = joined_put(
		world, (struct joined_thing){ .shape = TEST_SPHERE, .at = { 1, 0, 0 }, .mass = 1 });
	joined_join(world, JOINT_REVOLUTE, 0, ball, vec3_zero(), joined_about_z());
	double worst[2] = { 0, 0 };
	for (uint32_t tick = 0; tick < 3600; tick++) {
		test_step(world, 1);
		double off = scalar_abs(energy_of(world, &ball, 1, 0.1));
		worst[tick / 1800] = scalar_max(worst[tick / 1800], off);
	}
	ck_assert_double_lt(worst[0], 1e-2);
	ck_assert_double_lt(worst[1], 1.001 * worst[0]);
	joined_assert_exact(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_flying_ring_conserves_its_momenta)
{
	/* M1, A5: a closed ring of eight cubes, turning and warped, in free fall. */
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
	body_id ring[8];
	for (uint32_t i = 0; i < 8; i++) {
		double angle = QUARTER_PI * i, x = 2 * trig_cos(angle), y = 2 * trig_sin(angle);
		/* Each cube has the velocity of a ring that turns about z at 1.5 rad/s and
		 * translates. */
		ring[i] = joined_put(
			world, (struct joined_thing){ .shape = TEST_BOX,
						      .at = { x, y, 0 },
						      .mass = 1 + i % 3,
						      .velocity = { 1 - 1.5 * y, 2 + 1.5 * x, 0 },
						      .spin = { 0, 0, 1.5 } });
	}
	for (uint32_t i = 0; i < 8; i++) {
		double angle = QUARTER_PI * (i + 0.5);
		vec3 at = { 1.8 * trig_cos(angle), 1.8 * trig_sin(angle), 0.1 };
		joined_join(world, JOINT_SPHERICAL, ring[i], ring[(i + 1) % 8], at,
			    quat_identity());
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
		joined_assert_exact(world);
		test_step(world, 1);
	}
	world_destroy(world);
}
END_TEST

/* The positions and energies, at each tick, of a square of 1 kg that hangs on a joint in a planar
 * world; the anchor is 1 m along x from its centre. */
static void swing_in_plane(const char *method, enum joint_type type, quat frame, uint32_t ticks,
			   vec3 *places, double *energies)
{
	struct world_options options = test_options(true, method);
	options.gravity = vec3_make(0, -9.81, 0);
	struct world *world = test_world_of(&options);
	body_id body = joined_put(
		world,
		(struct joined_thing){ .shape = TEST_POLYGON, .at = { 1, 0, 0 }, .mass = 1 });
	joined_join(world, type, 0, body, vec3_zero(), frame);
	for (uint32_t tick = 0; tick < ticks; tick++) {
		test_step(world, 1);
		places[tick] = test_body(world, body).position;
		energies[tick] = world_energy(world).kinetic + world_energy(world).potential;
		ck_assert_uint_eq(world_stats(world).fallbacks_total, 0);
	}
	world_destroy(world);
}

START_TEST(a_planar_hinge_swings_as_a_ball_joint)
{
	/* The frame of the hinge has x along z, exactly or up to rounding. The plane locks two of the
	 * hinge's axes too, and the rounding errors of their rows must not act. */
	enum { TICKS = 120 };
	static const char *const all[] = { "soft-step", "lcp", "projection", "reflection",
					   "impact" };
	const quat frames[] = { joined_about_z(), { 0.5, -0.5, -0.5, -0.5 } };
	vec3 ball[TICKS], hinge[TICKS];
	double energy[2][TICKS], left = 0;
	swing_in_plane(all[_i], JOINT_SPHERICAL, quat_identity(), TICKS, ball, energy[0]);
	for (uint32_t k = 0; k < COUNT_OF(frames); k++) {
		swing_in_plane(all[_i], JOINT_REVOLUTE, frames[k], TICKS, hinge, energy[1]);
		for (uint32_t tick = 0; tick < TICKS; tick++) {
			ASSERT_VEC3(hinge[tick], ball[tick], 1e-9);
			ck_assert_double_eq_tol(energy[1][tick], energy[0][tick], 1e-8);
			left = scalar_min(left, hinge[tick].x);
		}
	}
	ck_assert_double_lt(left, -0.99);
}
END_TEST

static void make_chain(struct world *world, body_id *links, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		links[i] = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
								    .at = { i + 0.5, 0, 0 },
								    .mass = 1 });
		joined_join(world, JOINT_SPHERICAL, i > 0 ? links[i - 1] : 0, links[i],
			    vec3_make(i, 0, 0), quat_identity());
	}
}

START_TEST(a_falling_chain_of_a_hundred_conserves_energy)
{
	enum { LINKS = 100 };
	struct world *world = joined_world(METHODS[_i], 240, vec3_make(0, -9.81, 0));
	body_id links[LINKS];
	make_chain(world, links, LINKS);
	double worst = 0;
	for (uint32_t tick = 0; tick < 480; tick++) {
		test_step(world, 1);
		worst = scalar_max(worst, scalar_abs(energy_of(world, links, LINKS, 0.1)));
		joined_assert_exact(world);
		ck_assert_uint_eq(world_stats(world).islands_sparse, 1);
	}
	/* The scale of energy is ½ · 100² · 9.81 J. */
	ck_assert_double_lt(worst, 1e-4 * 49050);
	world_destroy(world);
}
END_TEST

START_TEST(the_links_of_a_whip_stay_together)
{
	/* At 60 Hz its links turn by radians a step: energy may go, nothing comes apart for long.
	 */
	enum { LINKS = 50 };
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
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

START_TEST(a_displaced_link_returns_to_its_chain)
{
	struct world *world = joined_world(METHODS[_i], 60, vec3_make(0, -9.81, 0));
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

/* ---- all three -------------------------------------------------------------------------------- */

/* A tree of all kinds of joints above the ground, falling on it, with limits, springs and a motor.
 */
static struct world *make_zoo(const char *method, body_id *bodies, uint32_t *count)
{
	struct world *world = joined_world(method, 60, vec3_make(0, -9.81, 0));
	joined_set(world, "projection.friction_rounds", 0);
	joined_put(world,
		   (struct joined_thing){ .shape = TEST_PLANE, .meets = true, .smooth = true });
	for (uint32_t i = 0; i < *count; i++)
		bodies[i] = joined_put(
			world, (struct joined_thing){ .shape = i % 2 == 0 ? TEST_BOX : TEST_SPHERE,
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
		command.joint_create.frame_a = joined_about_z();
		command.joint_create.place = 1;
		command.joint_create.violated = 2;
		joint_id joint = test_do(world, &command);
		uint32_t free = type == JOINT_PRISMATIC ? 0 : 3;
		if (type == JOINT_FIXED)
			continue;
		struct command axis = joined_axis(joint, free);
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
	/* Without friction all methods give one motion until the first impact, which each method
	 * resolves by its own law. */
	enum { BODIES = 12, TICKS = 12 };
	vec3 expected[TICKS][BODIES];
	for (uint32_t m = 0; m < COUNT_OF(METHODS); m++) {
		body_id bodies[BODIES];
		uint32_t count = BODIES;
		struct world *world = make_zoo(METHODS[m], bodies, &count);
		joined_set(world, "restitution.speed", 1000);
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

START_TEST(a_step_without_memory_changes_nothing)
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

START_TEST(the_state_is_the_same_for_any_number_of_workers)
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
			body_id ball =
				joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									 .at = { 20 + 3 * i, 3, 0 },
									 .mass = 1,
									 .meets = true,
									 .restitution = 1 });
			joined_join(world, JOINT_SPHERICAL, 0, ball, vec3_make(21 + 3 * i, 3, 0),
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
	TCase *impulses = tcase_create("impulses");
	tcase_set_timeout(impulses, 60);
	tcase_add_loop_test(impulses, a_dumbbell_bounces_as_one_body, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, impulses);
	TCase *axes = tcase_create("axes");
	tcase_set_timeout(axes, 60);
	tcase_add_loop_test(axes, a_limit_carries_a_weight_and_never_pulls, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_motor_gives_at_most_its_force_limit, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, joint_friction_holds_or_slows_a_body, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(axes, a_spring_moves_as_an_implicit_spring, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, axes);
	TCase *motion = tcase_create("motion");
	tcase_set_timeout(motion, 120);
	tcase_add_loop_test(motion, a_pendulum_conserves_energy, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, a_planar_hinge_swings_as_a_ball_joint, 0, 4);
	tcase_add_loop_test(motion, a_flying_ring_conserves_its_momenta, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, a_falling_chain_of_a_hundred_conserves_energy, 0,
			    COUNT_OF(METHODS));
	tcase_add_loop_test(motion, the_links_of_a_whip_stay_together, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(motion, a_displaced_link_returns_to_its_chain, 0, COUNT_OF(METHODS));
	suite_add_tcase(suite, motion);
	TCase *all = tcase_create("all three");
	tcase_set_timeout(all, 120);
	tcase_add_test(all, the_methods_agree_without_friction);
	tcase_add_loop_test(all, a_step_without_memory_changes_nothing, 0, COUNT_OF(METHODS));
	tcase_add_loop_test(all, the_state_is_the_same_for_any_number_of_workers, 0,
			    COUNT_OF(METHODS));
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
