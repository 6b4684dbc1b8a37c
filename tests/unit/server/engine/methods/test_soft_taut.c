/* Joints under a great tension under soft-step: loads of up to 10⁵ times a link; lines that spin, hit a
 * wall, are driven, sleep and break; equal results for any number of workers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "server/engine/math/sym3.h"
#include "server/engine/world/world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/joined.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#define GRAVITY 9.81

static struct world *world;

static void open_world(void)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = 60;
	options.rate_den = 1;
	world = test_world_of(&options);
	joined_set(world, "sleep.enabled", 0);
}

static void close_world(void)
{
	test_check(world);
	world_destroy(world);
	world = NULL;
}

static body_id add(vec3 position, double mass, uint32_t mask, vec3 velocity, vec3 spin)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, position, &item);
	spawn.spawn.mass = mass;
	spawn.spawn.mask = mask;
	spawn.spawn.velocity = velocity;
	spawn.spawn.angular_velocity = spin;
	return test_do(world, &spawn);
}

static joint_id join(enum joint_type type, body_id a, body_id b, vec3 point)
{
	return joined_join(world, type, a, b, point, quat_between(vec3_axis(0), vec3_axis(2)));
}

/* A chain of cubes of 1 m and 1 kg from `start` along `way`, joined to the world; the last weighs `last` and
 * collides with `mask`. Returns the last body, and *first, the joint to the world, unless NULL. */
static body_id hang(vec3 start, vec3 way, uint32_t links, double last, uint32_t mask,
		    joint_id *first)
{
	body_id before = 0;
	for (uint32_t i = 0; i < links; i++) {
		vec3 point = vec3_mul_add(start, way, i);
		bool end = i == links - 1;
		body_id body = add(vec3_mul_add(point, way, 0.5), end ? last : 1, end ? mask : 0,
				   vec3_zero(), vec3_zero());
		joint_id joint = join(JOINT_SPHERICAL, before, body, point);
		if (i == 0 && first != NULL)
			*first = joint;
		before = body;
	}
	return before;
}

/* J, kinetic and of height; *momentum, kg m²/s, about the origin. */
static double energy_of(vec3 *momentum)
{
	const struct body_table *body = &world->tables.body;
	double sum = 0;
	*momentum = vec3_zero();
	for (uint32_t row = 0; row < body->count; row++) {
		if (body->id[row] == 0 || body->status[row] != BODY_DYNAMIC)
			continue;
		vec3 v = body->velocity[row], at = dynamics_centre(&world->tables, row);
		vec3 turned = quat_rotate_inverse(body->rotation[row], body->angular_velocity[row]);
		vec3 own = sym3_apply(sym3_load(body->inertia[row]), turned);
		sum += 0.5 * vec3_dot(turned, own) + 0.5 * body->mass[row] * vec3_dot(v, v) -
		       body->mass[row] * vec3_dot(world->tables.world.gravity[0], at);
		vec3 orbit = vec3_scale(vec3_cross(at, v), body->mass[row]);
		*momentum =
			vec3_add(*momentum, vec3_add(orbit, quat_rotate(body->rotation[row], own)));
	}
	return sum;
}

/* Steps and returns the greatest joint error, m. */
static double step_all(uint32_t ticks)
{
	double worst = 0;
	for (uint32_t i = 0; i < ticks; i++) {
		test_step(world, 1);
		worst = fmax(worst, world_stats(world).joint_error);
	}
	return worst;
}

START_TEST(a_load_of_a_thousand_chains_swings_and_holds)
{
	static const struct {
		uint32_t links;
		double load;
	} cases[] = { { 100, 1e5 }, { 100, 1e3 }, { 10, 1e4 }, { 10, 1e3 }, { 10, 300 } };
	vec3 momentum;
	open_world();
	hang(vec3_zero(), vec3_axis(0), cases[_i].links, cases[_i].load, 0, NULL);
	double begun = energy_of(&momentum), worst = 0, off = 0;
	double fall = cases[_i].load * GRAVITY * cases[_i].links;
	uint32_t taut = 0;
	for (uint32_t tick = 0; tick < 600; tick++) {
		worst = fmax(worst, step_all(1));
		taut = MAX_OF(taut, world_stats(world).taut);
		off = fmax(off, fabs(energy_of(&momentum) - begun) / fall);
	}
	printf("  %u links, load %g: apart by %.2g m, energy off by %.2g %%\n", cases[_i].links,
	       cases[_i].load, worst, 100 * off);
	ck_assert_double_lt(worst, 0.010);
	ck_assert_double_lt(off, 0.03);
	/* It is told; the load itself is not taut. */
	ck_assert_uint_gt(taut, 0);
	ck_assert_uint_le(taut, cases[_i].links);
	close_world();
}
END_TEST

START_TEST(a_free_line_that_spins_keeps_its_momentum_and_energy)
{
	vec3 before, after, spin = vec3_make(0, 0, 3);
	open_world();
	struct command command = test_command(COMMAND_GRAVITY);
	command.gravity.gravity = vec3_zero();
	test_do(world, &command);
	body_id last = 0;
	for (uint32_t i = 0; i < 12; i++) {
		vec3 at = vec3_make((double)i - 5.5, 0, 0);
		bool end = i == 0 || i == 11;
		body_id body = add(at, end ? 1e4 : 1, 0, vec3_cross(spin, at), spin);
		if (i > 0)
			join(JOINT_SPHERICAL, last, body, vec3_make((double)i - 6, 0, 0));
		last = body;
	}
	double begun = energy_of(&before), worst = step_all(600), ended = energy_of(&after);
	double lost = vec3_distance(before, after) / vec3_length(before);
	printf("  apart by %.2g m, momentum off by %.2g, energy by %.2g\n", worst, lost,
	       fabs(ended - begun) / begun);
	ck_assert_double_lt(worst, 0.010);
	ck_assert_double_lt(lost, 0.001);
	ck_assert_double_lt(fabs(ended - begun) / begun, 0.01);
	close_world();
}
END_TEST

/* A heavy load on a chain hits a wall, and hangs beside it. */
START_TEST(a_load_that_hits_a_wall_stays_joined_and_outside)
{
	open_world();
	struct attachment item;
	struct command wall = test_spawn_command(world, TEST_BOX, vec3_make(-2.05, -9.5, 0), &item);
	wall.spawn.status = BODY_STATIC;
	test_do(world, &wall);
	body_id load = hang(vec3_zero(), vec3_axis(0), 10, 1e4, UINT32_MAX, NULL);
	double worst = step_all(600);
	struct body_view at = test_body(world, load);
	printf("  apart by %.2g m, load at %.3f %.3f\n", worst, at.position.x, at.position.y);
	ck_assert_double_lt(worst, 0.10);
	ck_assert_double_lt(vec3_length(at.position), 10.6);
	close_world();
}
END_TEST

/* A motor turns the first link of a chain with a heavy load at its speed. */
START_TEST(a_motor_turns_a_loaded_chain_at_its_speed)
{
	open_world();
	body_id arm = add(vec3_make(20, 0, 0), 1, 0, vec3_zero(), vec3_zero());
	joint_id hinge = join(JOINT_REVOLUTE, 0, arm, vec3_make(19.5, 0, 0));
	body_id before = arm;
	for (uint32_t i = 0; i < 10; i++) {
		vec3 point = vec3_make(20.5, -(double)i, 0);
		body_id body = add(vec3_make(20.5, -0.5 - i, 0), i == 9 ? 1e4 : 1, 0, vec3_zero(),
				   vec3_zero());
		join(JOINT_SPHERICAL, before, body, point);
		before = body;
	}
	struct command drive = joined_axis(hinge, 3);
	drive.joint_axis.motor = JOINT_MOTOR_VELOCITY;
	drive.joint_axis.target = 0.5;
	drive.joint_axis.motor_limit = 1e7;
	test_do(world, &drive);
	double worst = step_all(120), turned = test_body(world, arm).angular_velocity.z;
	printf("  apart by %.2g m, turns at %.4f rad/s\n", worst, turned);
	ck_assert_double_lt(worst, 0.010);
	ck_assert_double_eq_tol(turned, 0.5, 1e-3);
	close_world();
}
END_TEST

START_TEST(a_loaded_chain_falls_asleep_and_its_break_lets_the_load_fall)
{
	open_world();
	joined_set(world, "sleep.enabled", 1);
	joint_id first = 0;
	body_id load = hang(vec3_zero(), vec3_make(0, -1, 0), 20, 1e4, 0, &first);
	double worst = step_all(120);
	ck_assert_uint_eq(world_stats(world).awake, 0);
	ck_assert_double_lt(worst, 0.001);
	struct command weaken = test_command(COMMAND_JOINT_SET);
	weaken.joint_set.joint = first;
	weaken.joint_set.flags = 1;
	weaken.joint_set.break_force = 5e4;
	test_do(world, &weaken);
	step_all(60);
	ck_assert_uint_eq(world_stats(world).joints_broken_total, 1);
	struct body_view at = test_body(world, load);
	ck_assert_double_lt(at.position.y, -19.5 - 3);
	close_world();
}
END_TEST

static uint64_t hash_after(const struct parallel *parallel)
{
	struct reason why;
	open_world();
	for (uint32_t c = 0; c < 20; c++)
		hang(vec3_make(0, 0, 3.0 * c), vec3_axis(0), 8, 1e4, 0, NULL);
	for (uint32_t tick = 0; tick < 60; tick++)
		ck_assert_uint_eq(world_step(world, parallel, &why), STATUS_OK);
	uint64_t hash = test_hash(world);
	close_world();
	return hash;
}

START_TEST(the_state_is_the_same_for_any_number_of_workers)
{
	struct parallel *four = parallel_threads_create(4);
	ck_assert_uint_eq(hash_after(&parallel_serial), hash_after(four));
	parallel_threads_destroy(four);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("soft_taut");
	TCase *tcase = tcase_create("soft_taut");
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, a_load_of_a_thousand_chains_swings_and_holds, 0, 5);
	tcase_add_test(tcase, a_free_line_that_spins_keeps_its_momentum_and_energy);
	tcase_add_test(tcase, a_load_that_hits_a_wall_stays_joined_and_outside);
	tcase_add_test(tcase, a_motor_turns_a_loaded_chain_at_its_speed);
	tcase_add_test(tcase, a_loaded_chain_falls_asleep_and_its_break_lets_the_load_fall);
	tcase_add_test(tcase, the_state_is_the_same_for_any_number_of_workers);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
