/* The book's numbers of joints (5.2 to 5.8, 4.3.3) under every method, through engine.h. Comments name the
 * checklist's entries (J1, A2, …). Each test prints its error. */
#include "server/engine/math/trig.h"
#include "tests/lib/joined.h"

#include <stdio.h>

/* A method's tolerance: the checklist's, or its own for springs and floats. */
static const struct {
	const char *name;
	bool exact, friction;
} METHODS[] = { { "lcp", true, true },
		{ "projection", true, false },
		{ "reflection", true, false },
		{ "impact", true, true },
		{ "soft-step", false, true } };

/* Ticks per second. Steps so short that positions hardly change. */
enum { SHORT = 10000 };
static const vec3 DOWN = { 0, -9.81, 0 };

static struct world *world;
static int method;

static void open_world(int index, uint32_t rate, vec3 gravity)
{
	method = index;
	world = joined_world(METHODS[method].name, rate, gravity);
}

static void assert_good(void)
{
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.quarantined_total, 0);
	if (METHODS[method].exact) {
		ck_assert_uint_eq(stats.fallbacks_total, 0);
		ck_assert_double_le(stats.residual, 1e-10);
		ck_assert_double_le(stats.joint_error, 1e-9);
	}
}

static void close_world(void)
{
	assert_good();
	test_check(world);
	world_destroy(world);
}

/* Prints the error, and fails if it is too large: `exact` of the exact methods, `soft` of
 * soft-step. */
static void assert_off(const char *what, double off, double exact, double soft)
{
	double most = METHODS[method].exact ? exact : soft;
	printf("# %s %s: off by %.2g, at most %.2g\n", METHODS[method].name, what, off, most);
	ck_assert_msg(off <= most, "%s %s: off by %g", METHODS[method].name, what, off);
}

static void assert_near(const char *what, vec3 found, vec3 expected, double exact, double soft)
{
	assert_off(what, vec3_distance(found, expected), exact, soft);
}

static vec3 accelerated(body_id body)
{
	return vec3_scale(test_body(world, body).velocity, SHORT);
}

static vec3 turned(body_id body)
{
	return vec3_scale(test_body(world, body).angular_velocity, SHORT);
}

static body_id put_body(enum test_shape shape, vec3 at, double mass)
{
	return joined_put(world, (struct joined_thing){ .shape = shape, .at = at, .mass = mass });
}

static double energy(void)
{
	struct world_energy energy = world_energy(world);
	return energy.kinetic + energy.potential;
}

/* ---- the first step of each kind of joint: J1 to J6 ------------------------------------------- */

START_TEST(a_spherical_joint_carries_a_pendulum)
{
	open_world(_i, SHORT, DOWN);
	body_id ball = put_body(TEST_SPHERE, vec3_make(1, 0, 0), 1);
	joint_id joint = joined_join(world, JOINT_SPHERICAL, 0, ball, vec3_zero(), quat_identity());
	test_step(world, 1);
	assert_near("J1 alpha", turned(ball), vec3_make(0, 0, -9.81 / 1.1), 1e-6, 1e-5);
	assert_near("J1 F", joined_view(world, joint).force, vec3_make(0, 9.81 / 11, 0), 1e-3,
		    2e-3);
	assert_near("J1 couple", joined_view(world, joint).torque, vec3_zero(), 1e-9, 1e-5);
	close_world();
}
END_TEST

/* Mass centres at the anchor, I 1 and 3: a torque of 4 across both axes turns both alike. */
START_TEST(a_universal_joint_locks_one_turn)
{
	for (uint32_t across = 0; across < 2; across++) {
		open_world(_i, SHORT, vec3_zero());
		body_id a = put_body(TEST_SPHERE, vec3_zero(), 10),
			b = put_body(TEST_SPHERE, vec3_zero(), 30);
		joined_join(world, JOINT_UNIVERSAL, a, b, vec3_zero(), quat_identity());
		joined_push(world, a, vec3_zero(),
			    across ? vec3_make(0, 0, 4) : vec3_make(4, 0, 0));
		test_step(world, 1);
		vec3 on_a = across ? vec3_make(0, 0, 1) : vec3_make(4, 0, 0);
		assert_near("J2 alpha1", turned(a), on_a, 1e-6, 1e-5);
		assert_near("J2 alpha2", turned(b), across ? on_a : vec3_zero(), 1e-6, 1e-5);
		close_world();
	}
}
END_TEST

START_TEST(a_revolute_joint_transmits_a_couple)
{
	/* A unit cube hinged about z at 0.5. */
	open_world(_i, SHORT, DOWN);
	body_id cube = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
	joint_id joint = joined_join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(), joined_about_z());
	test_step(world, 1);
	assert_near("J3 alpha", turned(cube), vec3_make(0, 0, -11.772), 1e-6, 1e-5);
	assert_near("J3 F", joined_view(world, joint).force, vec3_make(0, 3.924, 0), 1e-3, 2e-3);
	close_world();
	open_world(_i, SHORT, vec3_make(0, 0, -9.81));
	cube = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
	joint = joined_join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(), joined_about_z());
	test_step(world, 1);
	assert_near("J3 along: alpha", turned(cube), vec3_zero(), 1e-9, 1e-5);
	assert_near("J3 along: F", joined_view(world, joint).force, vec3_make(0, 0, 9.81), 1e-9,
		    1e-5);
	assert_near("J3 along: couple", joined_view(world, joint).torque, vec3_make(0, -4.905, 0),
		    1e-9, 1e-5);
	close_world();
}
END_TEST

START_TEST(a_cylindrical_joint_slides_and_spins)
{
	/* Along z in gravity −z, 3 N from the side, and a torque about the axis. */
	open_world(_i, SHORT, vec3_make(0, 0, -9.81));
	body_id ball = put_body(TEST_SPHERE, vec3_zero(), 1);
	joint_id joint =
		joined_join(world, JOINT_CYLINDRICAL, 0, ball, vec3_zero(), joined_about_z());
	joined_push(world, ball, vec3_make(3, 0, 0), vec3_make(0, 0, 0.5));
	test_step(world, 1);
	assert_near("J4 a", accelerated(ball), vec3_make(0, 0, -9.81), 1e-9, 1e-5);
	assert_near("J4 alpha", turned(ball), vec3_make(0, 0, 5), 1e-9, 1e-5);
	assert_near("J4 F", joined_view(world, joint).force, vec3_make(-3, 0, 0), 1e-9, 1e-5);
	close_world();
}
END_TEST

START_TEST(a_prismatic_joint_slides_only)
{
	/* Along x, the mass centre off the anchor, force (2, −9.81, 0). */
	open_world(_i, SHORT, vec3_zero());
	body_id ball = put_body(TEST_SPHERE, vec3_make(0.3, 0.2, 0.1), 1);
	joint_id joint = joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
	joined_push(world, ball, vec3_make(2, -9.81, 0), vec3_zero());
	test_step(world, 1);
	assert_near("J5 a", accelerated(ball), vec3_make(2, 0, 0), 1e-9, 1e-5);
	assert_near("J5 alpha", turned(ball), vec3_zero(), 1e-9, 1e-5);
	assert_near("J5 F", joined_view(world, joint).force, vec3_make(0, 9.81, 0), 1e-9, 1e-5);
	close_world();
}
END_TEST

START_TEST(a_fixed_joint_moves_two_bodies_as_one)
{
	/* Cubes of 1 and 2 kg, 6 N along the line of their centres; two of 1 kg, 6 N across at one. */
	open_world(_i, SHORT, vec3_zero());
	body_id a = put_body(TEST_BOX, vec3_make(-0.5, 0, 0), 1),
		b = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 2);
	joint_id joint = joined_join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	joined_push(world, a, vec3_make(6, 0, 0), vec3_zero());
	test_step(world, 1);
	assert_near("J6 a1", accelerated(a), vec3_make(2, 0, 0), 1e-9, 1e-5);
	assert_near("J6 a2", accelerated(b), vec3_make(2, 0, 0), 1e-9, 1e-5);
	assert_near("J6 F", joined_view(world, joint).force, vec3_make(4, 0, 0), 1e-9, 1e-5);
	close_world();
	open_world(_i, SHORT, vec3_zero());
	a = put_body(TEST_BOX, vec3_make(-0.5, 0, 0), 1);
	b = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
	joined_join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	joined_push(world, a, vec3_make(0, 6, 0), vec3_zero());
	test_step(world, 1);
	assert_near("J6 across: a1", accelerated(a), vec3_make(0, 4.8, 0), 1e-6, 1e-5);
	assert_near("J6 across: a2", accelerated(b), vec3_make(0, 1.2, 0), 1e-6, 1e-5);
	assert_near("J6 across: alpha", turned(b), vec3_make(0, 0, -3.6), 1e-6, 1e-5);
	close_world();
}
END_TEST

/* ---- creation, motion, momenta: A2, A3, A5, AR3 ----------------------------------------------- */

/* Poses that violate the joint's type are refused by field; velocities that violate it are refused only
 * if the command requests it. */
START_TEST(frames_and_velocities_that_violate_the_joint_are_refused)
{
	open_world(_i, 60, vec3_zero());
	body_id a = put_body(TEST_BOX, vec3_make(-1, 0, 0), 1),
		b = put_body(TEST_BOX, vec3_make(1, 0, 0), 1);
	quat askew = quat_from_axis_angle(vec3_make(0, 0, 1), 0.1);
	for (int type = JOINT_REVOLUTE; type <= JOINT_FIXED; type++) {
		struct command create =
			joined_create(type, a, b, vec3_make(1, 0, 0), quat_identity());
		create.joint_create.place = 0;
		create.joint_create.point_b = vec3_make(-1, 0, 0);
		create.joint_create.frame_b = askew; /* x of a is no longer across y of b */
		struct batch_result result;
		ck_assert_int_eq(test_batch(world, &create, 1, &result), STATUS_RANGE);
		ck_assert_str_eq(result.why.field, "frame_b");
	}
	struct command turn = test_command(COMMAND_SET_VELOCITY);
	turn.set_velocity.body = b;
	turn.set_velocity.velocity = vec3_make(0, 0, 1);
	test_do(world, &turn);
	for (int type = JOINT_SPHERICAL; type <= JOINT_FIXED; type++) {
		struct command create = joined_create(type, a, b, vec3_zero(), quat_identity());
		create.joint_create.violated = 1;
		struct batch_result result;
		ck_assert_int_eq(test_batch(world, &create, 1, &result), STATUS_RANGE);
		ck_assert_str_eq(result.why.field, "violated");
	}
	close_world();
}
END_TEST

/* The angle of the pendulum of J1 after 2 s, by accelerations: a fourth order of 10⁵ steps. */
static double swing_exactly(void)
{
	double q = 0, v = 0, h = 2e-5, set_drag = -9.81 / 1.1;
	for (uint32_t i = 0; i < 100000; i++) {
		double a1 = set_drag * trig_cos(q), a2 = set_drag * trig_cos(q + h / 2 * v);
		double a3 = set_drag * trig_cos(q + h / 2 * v + h * h / 4 * a1);
		double a4 = set_drag * trig_cos(q + h * v + h * h / 2 * a2);
		q += h * v + h * h / 6 * (a1 + a2 + a3);
		v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
	}
	return q;
}

/* Returns the error of the pendulum's angle after 2 s; `off`: the greatest error of energy. */
static double pendulum_error(uint32_t rate, double exactly, double *off)
{
	open_world(method, rate, DOWN);
	body_id ball = put_body(TEST_SPHERE, vec3_make(1, 0, 0), 1);
	joined_join(world, JOINT_REVOLUTE, 0, ball, vec3_zero(), joined_about_z());
	double start = energy();
	*off = 0;
	for (uint32_t tick = 0; tick < 2 * rate; tick++) {
		test_step(world, 1);
		*off = scalar_max(*off, scalar_abs(energy() - start));
		assert_good();
	}
	vec3 at = test_body(world, ball).position;
	double angle = trig_atan2(at.y, at.x) - exactly;
	close_world();
	return scalar_abs(angle - TWO_PI * scalar_round(angle / TWO_PI));
}

/* Positions and impulses converge to the motion by accelerations with the second order of the step.
 * soft-step has first order, because its velocities lead by half a step of gravity. */
START_TEST(a_pendulum_converges_to_the_motion_by_accelerations)
{
	double off[4], error[4], exactly = swing_exactly();
	method = _i;
	for (uint32_t k = 0; k < COUNT_OF(error); k++) {
		error[k] = pendulum_error(60u << k, exactly, &off[k]);
		printf("# %s A3 %u Hz: %.2g rad, %.2g J\n", METHODS[_i].name, 60u << k, error[k],
		       off[k]);
	}
	ck_assert_double_lt(error[0], METHODS[_i].exact ? 3e-3 : 2e-2);
	ck_assert_double_lt(off[0], METHODS[_i].exact ? 1e-2 : 0.1); /* J, of 9.81 that oscillate */
	double better = METHODS[_i].exact ? 3.9 : 1.9;
	for (uint32_t k = 1; k < COUNT_OF(error); k++) {
		ck_assert_double_gt(error[k - 1] / error[k], better);
		ck_assert_double_gt(off[k - 1] / off[k], better);
	}
}
END_TEST

struct drift {
	double energy, linear, angular, joint;
};

/* The worst drift of a free joined pair within a second. The book uses steps of 2 ms. */
static struct drift drift_of_pair(int type, uint32_t rate)
{
	struct drift worst = { 0 };
	open_world(method, rate, vec3_zero());
	body_id a = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							     .at = { -1, 0, 0 },
							     .mass = 1,
							     .velocity = { 1, 2, 0 },
							     .spin = { 1, 0, 2 } });
	body_id b = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							     .at = { 1, 0, 0 },
							     .mass = 3,
							     .velocity = { 0, -1, 1 },
							     .spin = { 0, 3, 0 } });
	struct command create = joined_create(type, a, b, vec3_make(0.2, 0.1, 0), quat_identity());
	create.joint_create.violated = 2;
	test_do(world, &create);
	struct world_energy start = world_energy(world);
	for (uint32_t tick = 0; tick < rate; tick++) {
		test_step(world, 1);
		struct world_energy now = world_energy(world);
		worst.energy =
			scalar_max(worst.energy, scalar_abs(now.kinetic / start.kinetic - 1));
		worst.linear = scalar_max(worst.linear, vec3_distance(now.linear, start.linear));
		worst.angular =
			scalar_max(worst.angular, vec3_distance(now.angular, start.angular));
		worst.joint = scalar_max(worst.joint, world_stats(world).joint_error);
	}
	close_world();
	return worst;
}

START_TEST(a_free_pair_conserves_momenta_joint_and_energy)
{
	method = _i;
	for (int type = JOINT_SPHERICAL; type <= JOINT_FIXED; type++) {
		struct drift coarse = drift_of_pair(type, 250), fine = drift_of_pair(type, 500);
		static const char book[] = {
			[JOINT_SPHERICAL] = '1',   [JOINT_UNIVERSAL] = '2', [JOINT_REVOLUTE] = '3',
			[JOINT_CYLINDRICAL] = '4', [JOINT_PRISMATIC] = '5', [JOINT_FIXED] = '6'
		};
		printf("# %s A5 J%c: energy %.2g, %.2g\n", METHODS[_i].name, book[type],
		       coarse.energy, fine.energy);
		assert_off("A5 momentum", fine.linear, 1e-12, 1e-6);
		assert_off("A5 angular momentum", fine.angular, 1e-12, 1e-6);
		/* The exact methods solve positions at the end of a step to 1e-9 m. */
		assert_off("A5 zeta", fine.joint, 1e-9, 1e-5);
		assert_off("A5 energy", fine.energy, 1e-4, 1e-4);
		if (fine.energy > 2e-9) /* above the effect of position errors of 1e-9 m a step */
			ck_assert_double_gt(coarse.energy, 3 * fine.energy);
	}
}
END_TEST

/* A chain of 10 m swings for a minute. */
START_TEST(a_chain_of_ten_does_not_drift_apart)
{
	enum { LINKS = 10 };
	double worst[2] = { 0, 0 };
	body_id link = 0;
	open_world(_i, 60, DOWN);
	for (uint32_t i = 0; i < LINKS; i++) {
		body_id next = put_body(TEST_BOX, vec3_make(i + 0.5, 0, 0), 1);
		joined_join(world, JOINT_SPHERICAL, link, next, vec3_make(i, 0, 0),
			    quat_identity());
		link = next;
	}
	for (uint32_t tick = 0; tick < 60 * 60; tick++) {
		test_step(world, 1);
		double *half = &worst[tick / 1800];
		*half = scalar_max(*half, world_stats(world).joint_error);
	}
	assert_off("AR3", worst[0], 2e-9, 1e-2);
	assert_off("AR3 later", worst[1], 2e-9, 1e-2);
	close_world();
}
END_TEST

/* ---- impulses, contacts, redundant joints: AR1, AR2, AR4 -------------------------------------- */

START_TEST(an_impulse_acts_through_a_joint)
{
	open_world(_i, SHORT, vec3_zero());
	body_id a = joined_put(world, (struct joined_thing){ .shape = TEST_BOX,
							     .at = { -0.5, 0, 0 },
							     .mass = 1,
							     .velocity = { 0, 1, 0 } });
	body_id b = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
	joint_id joint = joined_join(world, JOINT_SPHERICAL, a, b, vec3_zero(), quat_identity());
	test_step(world, 1);
	assert_near("AR1 V1", test_body(world, a).velocity, vec3_make(0, 0.8, 0), 1e-4, 1e-4);
	assert_near("AR1 V2", test_body(world, b).velocity, vec3_make(0, 0.2, 0), 1e-4, 1e-4);
	assert_near("AR1 O1", test_body(world, a).angular_velocity, vec3_make(0, 0, -0.6), 1e-4,
		    1e-4);
	assert_near("AR1 O2", test_body(world, b).angular_velocity, vec3_make(0, 0, -0.6), 1e-4,
		    1e-4);
	vec3 impulse = vec3_scale(joined_view(world, joint).force, 1.0 / SHORT);
	assert_near("AR1 P", impulse, vec3_make(0, 0.2, 0), 1e-4, 1e-4);
	close_world();
}
END_TEST

static double ground_force(body_id body)
{
	struct contact_view points[8];
	double sum = 0;
	uint32_t count = test_contacts(world, body, points, COUNT_OF(points));
	for (uint32_t i = 0; i < count; i++)
		sum += points[i].normal_impulse;
	return sum * 60;
}

START_TEST(the_ground_carries_a_body_and_its_load)
{
	/* A cube of 1 kg rests on the ground, and a load of 2 kg hangs from it by a joint. */
	open_world(_i, 60, DOWN);
	joined_put(world, (struct joined_thing){ .shape = TEST_PLANE, .meets = true });
	body_id cube = joined_put(
		world, (struct joined_thing){
			       .shape = TEST_BOX, .at = { 0, 0.5, 0 }, .mass = 1, .meets = true });
	body_id load = put_body(TEST_SHAPES, vec3_make(0, -0.5, 0), 2);
	joint_id joint = joined_join(world, JOINT_SPHERICAL, cube, load, vec3_make(0, -0.5, 0),
				     quat_identity());
	double contact = 0, set_drag = 0, sunk = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		assert_good();
		if (!METHODS[_i].exact && tick < 60)
			continue;
		vec3 force = joined_view(world, joint).force;
		contact = scalar_max(contact, scalar_abs(ground_force(cube) - 29.43));
		set_drag = scalar_max(set_drag, vec3_distance(force, vec3_make(0, 19.62, 0)));
		sunk = scalar_max(sunk, scalar_abs(test_body(world, load).position.y + 0.5));
	}
	assert_off("AR2 contact", contact, 1e-9, 1e-3);
	assert_off("AR2 joint", set_drag, 1e-9, 1e-3);
	assert_off("AR2 place", sunk, 1e-12, 1e-3);
	close_world();
}
END_TEST

static body_id put_rough(enum test_shape shape, vec3 at, double mass)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.mass = mass;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0.5;
	return test_do(world, &spawn);
}

/* A cube of 1 kg slides with a load of 2 kg jointed to its centre; 90 N act on the load. Friction is half
 * of the weight of both; the joint's force is larger than the weight of the load. */
START_TEST(friction_bounds_the_contact_and_not_the_joint)
{
	if (!METHODS[_i].friction)
		return;
	open_world(_i, 60, DOWN);
	put_rough(TEST_PLANE, vec3_zero(), 0);
	body_id cube = put_rough(TEST_BOX, vec3_make(0, 0.5, 0), 1),
		load = put_body(TEST_SHAPES, vec3_make(0, 0.5, 0), 2);
	joint_id joint = joined_join(world, JOINT_SPHERICAL, cube, load, vec3_make(0, 0.5, 0),
				     quat_identity());
	joined_push(world, load, vec3_make(90, 0, 0), vec3_zero());
	test_step(world, 30);
	double before = test_body(world, cube).velocity.x, a = (90 - 0.5 * 29.43) / 3;
	test_step(world, 1);
	vec3 force = joined_view(world, joint).force;
	assert_off("AR2 a", scalar_abs(60 * (test_body(world, cube).velocity.x - before) - a), 1e-9,
		   1e-4);
	assert_near("AR2 joint across", force, vec3_make(2 * a - 90, 19.62, 0), 1e-9, 1e-3);
	close_world();
}
END_TEST

START_TEST(two_joints_at_one_place_act_as_one)
{
	struct body_view last[2];
	double most = 0;
	for (uint32_t twice = 0; twice < 2; twice++) {
		open_world(_i, 60, DOWN);
		body_id cube = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
		joint_id joints[2];
		for (uint32_t i = 0; i <= twice; i++)
			joints[i] = joined_join(world, JOINT_REVOLUTE, 0, cube, vec3_zero(),
						joined_about_z());
		for (uint32_t tick = 0; tick < 120; tick++) {
			test_step(world, 1);
			assert_good();
			vec3 force = joined_view(world, joints[0]).force;
			if (twice)
				force = vec3_add(force, joined_view(world, joints[1]).force);
			most = scalar_max(most, vec3_length(force));
			if (METHODS[_i].exact)
				ck_assert_uint_eq(world_stats(world).islands_dependent, twice);
		}
		last[twice] = test_body(world, cube);
		close_world();
	}
	ck_assert_double_lt(most, 40);
	assert_near("AR4 place", last[1].position, last[0].position, 1e-9, 1e-3);
	assert_near("AR4 velocity", last[1].velocity, last[0].velocity, 1e-9, 1e-2);
}
END_TEST

/* ---- limits, breaking, motors: X5, X6, X7 ----------------------------------------------------- */

START_TEST(a_slider_stops_at_its_limit_or_bounces)
{
	for (uint32_t e = 0; e < 2; e++) {
		open_world(_i, 60, vec3_zero());
		joined_set(world, "restitution.speed", 0.5);
		body_id ball = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
									.mass = 1,
									.velocity = { 1, 0, 0 } });
		joint_id joint =
			joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		struct command axis = joined_axis(joint, 0);
		axis.joint_axis.mode = JOINT_LIMITED;
		axis.joint_axis.lower = -1;
		axis.joint_axis.upper = 1;
		axis.joint_axis.restitution = e;
		test_do(world, &axis);
		test_step(world, 59);
		assert_near("X5 free", test_body(world, ball).velocity, vec3_make(1, 0, 0), 1e-12,
			    1e-12);
		test_step(world, 31);
		/* A bouncing body stays at the limit for the rest of the step of its arrival. */
		vec3 at = vec3_make(e == 0 ? 1 : 0.5, 0, 0), back = vec3_make(-(double)e, 0, 0);
		double within = e == 0 ? 1e-6 : 1.0 / 60 + 1e-6;
		assert_near("X5 v", test_body(world, ball).velocity, back, 1e-9, 1e-5);
		assert_near("X5 s", test_body(world, ball).position, at, within, within);
		assert_near("X5 F", joined_view(world, joint).force, vec3_zero(), 1e-9, 1e-5);
		test_step(world, 120);
		at.x = e == 0 ? 1 : -0.5;
		assert_near("X5 v later", test_body(world, ball).velocity, vec3_make(e, 0, 0), 1e-9,
			    1e-5);
		assert_near("X5 s later", test_body(world, ball).position, at, 2 * within,
			    2 * within);
		close_world();
	}
}
END_TEST

/* A unit cube, welded at its face, weighs 9.81 N. A limit of 5 N breaks the weld and the cube falls
 * freely; a limit of 15 N holds. */
START_TEST(a_cantilever_breaks_or_holds)
{
	for (uint32_t strong = 0; strong < 2; strong++) {
		open_world(_i, 60, DOWN);
		body_id cube = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
		struct command create =
			joined_create(JOINT_FIXED, 0, cube, vec3_zero(), quat_identity());
		create.joint_create.break_force = strong ? 15 : 5;
		test_do(world, &create);
		test_step(world, 60);
		ck_assert_uint_eq(world_stats(world).joints_broken_total, !strong);
		struct body_view view = test_body(world, cube);
		if (strong) {
			assert_near("X6 holds", view.position, vec3_make(0.5, 0, 0), 1e-9, 1e-4);
		} else {
			ck_assert_double_lt(view.velocity.y, -9.81 + 9.81 / 30);
			assert_near("X6 falls", view.angular_velocity, vec3_zero(), 1e-9, 1e-3);
		}
		close_world();
	}
}
END_TEST

/* Two welded unit cubes rotate as one body of I_zz 5/6. */
START_TEST(two_welded_cubes_have_the_inertia_of_one)
{
	open_world(_i, SHORT, vec3_zero());
	body_id a = put_body(TEST_BOX, vec3_make(-0.5, 0, 0), 1),
		b = put_body(TEST_BOX, vec3_make(0.5, 0, 0), 1);
	joined_join(world, JOINT_FIXED, a, b, vec3_zero(), quat_identity());
	joined_push(world, a, vec3_zero(), vec3_make(0, 0, 5.0 / 6));
	test_step(world, 1);
	assert_near("X6 alpha", turned(b), vec3_make(0, 0, 1), 1e-6, 1e-5);
	struct mass_view mass;
	ck_assert_int_eq(world_mass(world, 0, &mass), STATUS_OK);
	assert_off("X6 I_zz", scalar_abs(mass.inertia.z.z - 5.0 / 6), 1e-9, 1e-6);
	close_world();
}
END_TEST

START_TEST(a_motor_holds_its_speed)
{
	/* Two free bodies on a slider and on a hinge; momentum is kept. */
	for (uint32_t turns = 0; turns < 2; turns++) {
		open_world(_i, 60, vec3_zero());
		body_id a = put_body(TEST_BOX, vec3_zero(), 1),
			b = put_body(TEST_BOX, vec3_make(1.5, 0, 0), 3);
		joint_id joint =
			joined_join(world, turns ? JOINT_REVOLUTE : JOINT_PRISMATIC, a, b,
				    vec3_zero(), turns ? joined_about_z() : quat_identity());
		struct command axis = joined_axis(joint, turns ? 3 : 0);
		axis.joint_axis.motor = JOINT_MOTOR_VELOCITY;
		axis.joint_axis.target = 2;
		test_do(world, &axis);
		double speed = 0, momentum = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			struct body_view va = test_body(world, a), vb = test_body(world, b);
			vec3 linear = vec3_sub(vb.velocity, va.velocity);
			vec3 spin = vec3_sub(vb.angular_velocity, va.angular_velocity);
			speed = scalar_max(speed, scalar_abs((turns ? spin.z : linear.x) - 2));
			momentum = scalar_max(
				momentum, vec3_length(vec3_mul_add(va.velocity, vb.velocity, 3)));
			assert_good();
		}
		assert_off(turns ? "X7 angular" : "X7 linear", speed, 1e-9, 1e-5);
		assert_off("X7 momentum", momentum, 1e-9, 1e-5);
		close_world();
	}
}
END_TEST

START_TEST(a_motor_follows_a_sine)
{
	for (uint32_t place = 0; place < 2; place++) {
		open_world(_i, 60, DOWN);
		body_id ball = put_body(TEST_SPHERE, vec3_zero(), 1);
		joint_id joint =
			joined_join(world, JOINT_PRISMATIC, 0, ball, vec3_zero(), quat_identity());
		struct command axis = joined_axis(joint, 0);
		axis.joint_axis.motor = place ? JOINT_MOTOR_POSITION : JOINT_MOTOR_VELOCITY;
		axis.joint_axis.wave = JOINT_WAVE_SINE;
		axis.joint_axis.amplitude = 1;
		axis.joint_axis.hertz = 1 / TWO_PI;
		test_do(world, &axis);
		double speed = 0, at = 0;
		for (uint32_t tick = 1; tick <= 120; tick++) {
			test_step(world, 1);
			struct body_view view = test_body(world, ball);
			double angle = tick / 60.0,
			       wanted = place ? trig_cos(angle) : trig_sin(angle);
			assert_good();
			if (!METHODS[_i].exact && tick < 10) /* the motor starts from rest */
				continue;
			speed = scalar_max(speed, scalar_abs(view.velocity.x - wanted));
			at = scalar_max(at,
					place ? scalar_abs(view.position.x - trig_sin(angle)) : 0);
		}
		assert_off(place ? "X7 place: v" : "X7 sin t", speed, 1e-9, 1e-4);
		assert_off("X7 place: s", at, 1e-9, 1e-4);
		close_world();
	}
}
END_TEST

/* ---- springs: F3, F4 -------------------------------------------------------------------------- */

/* The error of forces and torque of a spring with r0 1, ks 10, kd 2 that is 2 m long and lengthens at
 * 1 m/s: 12 N. Body 1's centre is 1 m below its anchor. The error is of first order, because implicit
 * springs use the length at the end of a step. */
static double spring_error(uint32_t rate)
{
	open_world(method, rate, vec3_zero());
	body_id a = put_body(TEST_SPHERE, vec3_make(0, -1, 0), 1);
	body_id b = joined_put(world, (struct joined_thing){ .shape = TEST_SPHERE,
							     .at = { 2, 0, 0 },
							     .mass = 1,
							     .velocity = { 1, 0, 0 } });
	struct command create = joined_create(JOINT_DISTANCE, a, b, vec3_zero(), quat_identity());
	create.joint_create.point_b = vec3_make(2, 0, 0);
	joint_id joint = test_do(world, &create);
	struct command axis = joined_axis(joint, 0);
	axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
	axis.joint_axis.stiffness = 10;
	axis.joint_axis.damping = 2;
	axis.joint_axis.rest = 1;
	test_do(world, &axis);
	struct world_energy before = world_energy(world);
	test_step(world, 1);
	struct world_energy after = world_energy(world);
	struct body_view at_a = test_body(world, a), at_b = test_body(world, b);
	vec3 on_a = vec3_scale(at_a.velocity, rate),
	     torque = vec3_scale(at_a.angular_velocity, 0.1 * rate);
	vec3 on_b = vec3_scale(vec3_sub(at_b.velocity, vec3_make(1, 0, 0)), rate);
	assert_near("F3 told", joined_view(world, joint).force, on_b, 1e-9, 1e-5);
	assert_near("F3 sum of forces", after.linear, before.linear, 1e-12, 1e-9);
	assert_near("F3 sum of moments", after.angular, before.angular, 1e-12, 1e-8);
	close_world();
	double off = vec3_distance(on_b, vec3_make(-12, 0, 0));
	off = scalar_max(off, vec3_distance(on_a, vec3_make(12, 0, 0)));
	return scalar_max(off, vec3_distance(torque, vec3_make(0, 0, -12)));
}

START_TEST(a_spring_pulls_both_ends_with_equal_force)
{
	method = _i;
	double coarse = spring_error(SHORT / 10), fine = spring_error(SHORT);
	assert_off("F3 F1, F2, tau1", fine, 0.03, 0.03);
	ck_assert_double_gt(coarse, 8 * fine);
}
END_TEST

static void set_drag(joint_id joint, double stiffness, double damping)
{
	for (uint32_t i = 0; i < 3; i++) {
		struct command axis = joined_axis(joint, i);
		axis.joint_axis.spring = JOINT_SPRING_STIFFNESS;
		axis.joint_axis.stiffness = stiffness;
		axis.joint_axis.damping = damping;
		test_do(world, &axis);
	}
}

/* A body of 1 kg on a drag of 100 N/m rests 0.0981 m below the target; then the target jumps by 1 km. */
START_TEST(a_drag_holds_a_body_and_survives_a_jump_of_its_target)
{
	open_world(_i, 60, DOWN);
	body_id ball = put_body(TEST_SPHERE, vec3_zero(), 1);
	joint_id joint = joined_join(world, JOINT_DRAG, 0, ball, vec3_zero(), quat_identity());
	set_drag(joint, 100, 20);
	test_step(world, 600);
	assert_near("F4 sag", test_body(world, ball).position, vec3_make(0, -0.0981, 0), 1e-9,
		    1e-5);
	struct command move = test_command(COMMAND_JOINT_MOVE);
	move.joint_move.joint = joint;
	move.joint_move.point = vec3_make(1000, 0, 0);
	test_do(world, &move);
	double most = 0, farthest = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		test_step(world, 1);
		most = scalar_max(most, vec3_length(joined_view(world, joint).force));
		farthest = scalar_max(farthest, test_body(world, ball).position.x);
	}
	printf("# %s F4: at most %.5g N and %.6g m\n", METHODS[_i].name, most, farthest);
	ck_assert_double_le(most, 100 * 1000.1); /* ks × distance */
	ck_assert_double_le(farthest, 1001);
	assert_near("F4 later", test_body(world, ball).position, vec3_make(1000, -0.0981, 0), 1e-6,
		    1e-6);
	close_world();
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/joint_book");
	TCase *book = tcase_create("book");
	tcase_set_timeout(book, 60);
	int all = COUNT_OF(METHODS);
	tcase_add_loop_test(book, a_spherical_joint_carries_a_pendulum, 0, all);
	tcase_add_loop_test(book, a_universal_joint_locks_one_turn, 0, all);
	tcase_add_loop_test(book, a_revolute_joint_transmits_a_couple, 0, all);
	tcase_add_loop_test(book, a_cylindrical_joint_slides_and_spins, 0, all);
	tcase_add_loop_test(book, a_prismatic_joint_slides_only, 0, all);
	tcase_add_loop_test(book, a_fixed_joint_moves_two_bodies_as_one, 0, all);
	tcase_add_loop_test(book, frames_and_velocities_that_violate_the_joint_are_refused, 0, all);
	tcase_add_loop_test(book, a_pendulum_converges_to_the_motion_by_accelerations, 0, all);
	tcase_add_loop_test(book, a_free_pair_conserves_momenta_joint_and_energy, 0, all);
	tcase_add_loop_test(book, a_chain_of_ten_does_not_drift_apart, 0, all);
	tcase_add_loop_test(book, an_impulse_acts_through_a_joint, 0, all);
	tcase_add_loop_test(book, the_ground_carries_a_body_and_its_load, 0, all);
	tcase_add_loop_test(book, friction_bounds_the_contact_and_not_the_joint, 0, all);
	tcase_add_loop_test(book, two_joints_at_one_place_act_as_one, 0, all);
	tcase_add_loop_test(book, a_slider_stops_at_its_limit_or_bounces, 0, all);
	tcase_add_loop_test(book, a_cantilever_breaks_or_holds, 0, all);
	tcase_add_loop_test(book, two_welded_cubes_have_the_inertia_of_one, 0, all);
	tcase_add_loop_test(book, a_motor_holds_its_speed, 0, all);
	tcase_add_loop_test(book, a_motor_follows_a_sine, 0, all);
	tcase_add_loop_test(book, a_spring_pulls_both_ends_with_equal_force, 0, all);
	tcase_add_loop_test(book, a_drag_holds_a_body_and_survives_a_jump_of_its_target, 0, all);
	suite_add_tcase(suite, book);
	return suite;
}

int main(void)
{
	return check_main(make);
}
