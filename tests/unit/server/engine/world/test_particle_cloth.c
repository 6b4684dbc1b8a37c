/* Linked particles that meet bodies within their sub-steps, and that bodies hold: cloth holds bodies,
 * momentum is exact in the tick, jelly keeps its volume, links tear by force; and that workers, images
 * and rollbacks change no bit. */
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static system_id make_system(struct world *world, double size, double mass, bool within)
{
	struct command command = test_system_command("cloth");
	command.particles_create.size = size;
	command.particles_create.mass = mass;
	system_id system = test_do(world, &command);
	struct command contacts = test_command(COMMAND_PARTICLES_CONTACTS);
	contacts.particles_contacts.system = system;
	contacts.particles_contacts.contacts = within ? CONTACTS_WITHIN : CONTACTS_AFTER;
	test_do(world, &contacts);
	return system;
}

static struct command hold_of(system_id system, uint32_t serial, body_id body)
{
	struct command command = test_command(COMMAND_PARTICLES_HOLD);
	command.particles_hold.system = system;
	command.particles_hold.particle = serial;
	command.particles_hold.body = body;
	return command;
}

static uint32_t read_all(const struct world *world, system_id system)
{
	return world_particles(world, system, 0, particles, MOST);
}

/* A cloth that lies in the plane y = height about the y axis. */
static void lay_cloth(struct world *world, system_id system, uint32_t side, double spacing,
		      double height)
{
	struct command cloth = test_lattice(system, side, side, 1);
	double half = 0.5 * (side - 1) * spacing;
	cloth.particles_lattice.spacing = spacing;
	cloth.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(0), 1.5707963267948966);
	cloth.particles_lattice.position = vec3_make(-half, height, -half);
	cloth.particles_lattice.substeps = 16;
	test_do(world, &cloth);
}

static body_id drop_ball(struct world *world, vec3 at, double mass)
{
	struct attachment item;
	struct command ball = test_spawn_command(world, TEST_SPHERE, at, &item);
	ball.spawn.mass = mass;
	return test_do(world, &ball);
}

/* ---- bodies on cloth ------------------------------------------------------------------------------ */

/* A hammock of 0.3 kg by its four corners holds a ball of up to 100 times as much: it swings, ever
 * less, and stays above. */
START_TEST(a_hammock_holds_a_ball)
{
	static const double masses[] = { 0.3, 30 };
	enum { SIDE = 12, SECONDS = 8 };
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, 0.1, 0.3 / (SIDE * SIDE), true);
	lay_cloth(world, system, SIDE, 0.14, 3);
	const uint32_t corners[] = { 1, SIDE, SIDE * (SIDE - 1) + 1, SIDE * SIDE };
	for (uint32_t i = 0; i < COUNT_OF(corners); i++)
		ck_assert_int_eq(test_pin(world, system, corners[i]), STATUS_OK);
	body_id ball = drop_ball(world, vec3_make(0.02, 3.7, 0.01), masses[_i]);
	double swing[SECONDS];
	for (uint32_t second = 0; second < SECONDS; second++) {
		double low = 9, high = -9;
		for (uint32_t tick = 0; tick < 60; tick++) {
			test_step(world, 1);
			double y = test_body(world, ball).position.y;
			low = fmin(low, y);
			high = fmax(high, y);
		}
		swing[second] = high - low;
		ck_assert_msg(low > 2 && high < 3.8, "second %u: %g … %g m", second, low, high);
	}
	ck_assert_double_lt(swing[SECONDS - 1], 0.2 * swing[0]);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(momentum_is_kept_in_each_tick)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, 0.02, true);
	lay_cloth(world, system, 12, 0.15, 0);
	body_id ball = drop_ball(world, vec3_make(0.1, 0.8, 0.05), 2);
	struct command push = test_command(COMMAND_SET_VELOCITY);
	push.set_velocity.body = ball;
	push.set_velocity.velocity = vec3_make(0.5, -4, 0);
	test_do(world, &push);
	vec3 whole = vec3_make(1, -8, 0);
	double given = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		vec3 sum = vec3_scale(test_body(world, ball).velocity, 2);
		uint32_t count = read_all(world, system);
		for (uint32_t i = 0; i < count; i++)
			sum = vec3_mul_add(sum, particles[i].velocity, particles[i].mass);
		ck_assert_double_lt(vec3_distance(sum, whole), 1e-10);
		given = fmax(given,
			     vec3_distance(vec3_scale(test_body(world, ball).velocity, 2), whole));
	}
	ck_assert_double_gt(given, 1);
	world_destroy(world);
}
END_TEST

START_TEST(a_cloth_over_a_ball_is_nowhere_deeper_than_1_mm)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command ball = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	ball.spawn.status = BODY_STATIC;
	test_do(world, &ball);
	system_id system = make_system(world, 0.02, 0.01, true);
	lay_cloth(world, system, 24, 0.06, 0.6);
	uint32_t touching = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		uint32_t count = read_all(world, system);
		for (uint32_t i = 0; i < count; i++) {
			double gap = vec3_length(particles[i].position) - 0.5 - particles[i].radius;
			ck_assert_double_gt(gap, -1e-3);
			touching += gap < 1e-3;
		}
	}
	ck_assert_uint_gt(touching, 400);
	world_destroy(world);
}
END_TEST

/* At 60 ticks/s: contacts do not wait for the tick's end. */
START_TEST(a_jelly_cube_keeps_its_volume_at_60_ticks_a_second)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
	system_id system = make_system(world, 0.1, 0.05, true);
	struct command jelly = test_lattice(system, 5, 5, 5);
	jelly.particles_lattice.position = vec3_make(0, 0.5, 0);
	jelly.particles_lattice.spacing = 0.1;
	jelly.particles_lattice.links = LATTICE_EDGES | LATTICE_DIAGONALS | LATTICE_VOLUMES;
	jelly.particles_lattice.compliance = jelly.particles_lattice.shear_compliance = 2e-3;
	jelly.particles_lattice.damping_ratio = 0.5;
	jelly.particles_lattice.substeps = 32;
	test_do(world, &jelly);
	for (uint32_t tick = 0; tick < 240; tick++) {
		test_step(world, 1);
		ck_assert_msg(test_facts(world).volume_error < 0.02, "tick %u: %g", tick,
			      test_facts(world).volume_error);
	}
	uint32_t count = read_all(world, system);
	double lowest = 1;
	for (uint32_t i = 0; i < count; i++)
		lowest = fmin(lowest, particles[i].position.y - particles[i].radius);
	ck_assert_double_eq_tol(lowest, 0, 1e-3);
	world_destroy(world);
}
END_TEST

/* ---- holds ---------------------------------------------------------------------------------------- */

/* A rope of 20 g that holds 5 kg: a pendulum, whose period is that of its length. */
START_TEST(a_body_hangs_on_a_rope)
{
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, 0.02, 0.002, false);
	struct command rope = test_lattice(system, 11, 1, 1);
	rope.particles_lattice.position = vec3_make(0, 3, 0);
	rope.particles_lattice.spacing = 0.2;
	rope.particles_lattice.links = LATTICE_EDGES;
	rope.particles_lattice.substeps = 64;
	/* Along a line of 0.2 rad to the vertical. */
	rope.particles_lattice.rotation =
		quat_from_axis_angle(vec3_axis(2), -1.5707963267948966 + 0.2);
	test_do(world, &rope);
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	body_id bob = drop_ball(world, vec3_make(2 * sin(0.2), 3 - 2 * cos(0.2), 0), 5);
	struct command hold = hold_of(system, 11, bob);
	hold.particles_hold.place = 1; /* at its middle */
	test_do(world, &hold);
	uint32_t crossed = 0, last = 0;
	double before = 1;
	for (uint32_t tick = 1; tick <= 600; tick++) {
		test_step(world, 1);
		vec3 at = test_body(world, bob).position;
		ck_assert_double_eq_tol(vec3_distance(at, vec3_make(0, 3, 0)), 2, 0.05);
		ck_assert_uint_eq(read_all(world, system), 11);
		ck_assert_double_lt(vec3_distance(at, particles[10].position), 1e-9);
		if (at.x < 0 && before >= 0) {
			crossed++;
			last = tick;
		}
		before = at.x;
	}
	/* 2π sqrt(l/g) = 2.837 s, and 0.25 % more at 0.2 rad: crossings at ¼, 1¼, 2¼, 3¼. */
	ck_assert_uint_eq(crossed, 4);
	ck_assert_double_eq_tol(last / 60.0, 3.25 * 2.844, 0.15);
	world_destroy(world);
}
END_TEST

START_TEST(a_hold_ends_with_its_body_its_particle_or_by_command)
{
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, 0.02, 0.01, false);
	struct command rope = test_lattice(system, 4, 1, 1);
	test_do(world, &rope);
	body_id box = test_spawn(world, TEST_BOX, vec3_make(0, 5, 0));
	body_id other = test_spawn(world, TEST_BOX, vec3_make(0, 9, 0));
	struct command hold = hold_of(system, 4, box);
	test_do(world, &hold);
	hold = hold_of(system, 4, other); /* instead of the box */
	test_do(world, &hold);
	hold = hold_of(system, 3, box);
	test_do(world, &hold);
	ck_assert_uint_eq(test_facts(world).holds, 2);
	test_step(world, 5);
	test_check(world);
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = other;
	test_do(world, &remove);
	ck_assert_uint_eq(test_facts(world).holds, 1);
	test_step(world, 5);
	hold = hold_of(system, 3, 0);
	test_do(world, &hold);
	ck_assert_uint_eq(test_facts(world).holds, 0);
	hold = hold_of(system, 9, box);
	ck_assert_int_eq(test_try(world, &hold), STATUS_UNKNOWN_PARTICLE);
	hold = hold_of(system, 1, 77);
	ck_assert_int_eq(test_try(world, &hold), STATUS_UNKNOWN_BODY);
	hold = hold_of(system, 2, box);
	test_do(world, &hold);
	test_step(world, 3);
	struct command gone = test_command(COMMAND_PARTICLES_REMOVE);
	gone.particles_remove.system = system;
	test_do(world, &gone);
	test_step(world, 3);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* P-14: the end of a spring jumps by 10 m: the pull is at most k · 10, and the particle settles there. */
START_TEST(a_spring_of_an_animated_body_draws_a_particle)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, 1, false);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	struct attachment item;
	struct command hand = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	hand.spawn.status = BODY_ANIMATED;
	hand.spawn.mask = 0;
	body_id pointer = test_do(world, &hand);
	struct command hold = hold_of(system, 1, pointer);
	hold.particles_hold.place = 2;
	hold.particles_hold.stiffness = 12;
	test_do(world, &hold);
	struct command jump = test_command(COMMAND_SET_POSE);
	jump.set_pose.body = pointer;
	jump.set_pose.position = vec3_make(10, 0, 0);
	test_do(world, &jump);
	double before = 0, most = 0;
	for (uint32_t tick = 0; tick < 300; tick++) {
		test_step(world, 1);
		read_all(world, system);
		most = fmax(most, (particles[0].velocity.x - before) * 60);
		before = particles[0].velocity.x;
		ck_assert_double_lt(particles[0].position.x, 10 + 1e-9);
	}
	ck_assert_double_le(most, 12 * 10);
	ck_assert_double_gt(most, 12 * 10 * 0.5);
	ck_assert_double_eq_tol(particles[0].position.x, 10, 1e-3);
	world_destroy(world);
}
END_TEST

/* ---- tears ---------------------------------------------------------------------------------------- */

/* A weight of 9.81 N on a link: it holds at a limit above and tears at one below. */
START_TEST(a_link_tears_by_its_force)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "soft-step");
		system_id system = make_system(world, 0.02, 1, false);
		test_add_particle(world, system, vec3_make(0, 3, 0), vec3_zero());
		test_add_particle(world, system, vec3_make(0, 2, 0), vec3_zero());
		struct command link = test_command(COMMAND_PARTICLES_LINK);
		link.particles_link.system = system;
		link.particles_link.a = 1;
		link.particles_link.b = 2;
		link.particles_link.tear_force = k == 0 ? 9.9 : 9.7;
		test_do(world, &link);
		ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
		test_step(world, 30);
		ck_assert_uint_eq(test_facts(world).torn, k);
		ck_assert_uint_eq(test_facts(world).links, 1 - k);
		world_destroy(world);
	}
}
END_TEST

/* ---- bits ----------------------------------------------------------------------------------------- */

/* Two cloths over balls of which one falls into both, a rope that holds a box, and particles that die. */
static struct world *make_scene(void)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
	for (uint32_t i = 0; i < 2; i++) {
		system_id system = make_system(world, 0.05, 0.01, true);
		struct command cloth = test_lattice(system, 10, 10, 1);
		cloth.particles_lattice.rotation =
			quat_from_axis_angle(vec3_axis(0), 1.5707963267948966);
		cloth.particles_lattice.position = vec3_make(-0.45, 1.2 + 0.3 * i, -0.45);
		cloth.particles_lattice.tear_force = 3;
		test_do(world, &cloth);
		ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
		ck_assert_int_eq(test_pin(world, system, 100), STATUS_OK);
	}
	body_id ball = drop_ball(world, vec3_make(0, 2.2, 0), 1);
	struct command create = test_system_command("rope");
	create.particles_create.life = 0.35;
	create.particles_create.life_deviation = 0;
	system_id rope = test_do(world, &create);
	struct command line = test_lattice(rope, 6, 1, 1);
	line.particles_lattice.position = vec3_make(1, 2, 1);
	test_do(world, &line);
	struct command hold = hold_of(rope, 1, ball);
	test_do(world, &hold);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_scene, 40);
	ck_assert_uint_gt(test_facts(world).torn, 0);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_scene();
	test_step(world, 9);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_cloth");
	TCase *all = tcase_create("particle_cloth");
	tcase_add_loop_test(all, a_hammock_holds_a_ball, 0, 2);
	tcase_add_test(all, momentum_is_kept_in_each_tick);
	tcase_add_test(all, a_cloth_over_a_ball_is_nowhere_deeper_than_1_mm);
	tcase_add_test(all, a_jelly_cube_keeps_its_volume_at_60_ticks_a_second);
	tcase_add_test(all, a_body_hangs_on_a_rope);
	tcase_add_test(all, a_hold_ends_with_its_body_its_particle_or_by_command);
	tcase_add_test(all, a_spring_of_an_animated_body_draws_a_particle);
	tcase_add_test(all, a_link_tears_by_its_force);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
