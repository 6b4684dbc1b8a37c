/* Links with a limit (particles_limit): cloths of several sizes by two corners keep it, also torn, of
 * unequal masses, held by bodies and meeting themselves; momentum where nothing is pinned; what tethers
 * pull counts as pull of links; and that workers, images and rollbacks change no bit. */
#include "server/base/hash.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static system_id make_system(struct world *world, double mass, double limit)
{
	struct command command = test_system_command("cloth");
	command.particles_create.size = 0.05;
	command.particles_create.mass = mass;
	command.particles_create.mask = 0;
	system_id system = test_do(world, &command);
	test_limit(world, system, limit);
	return system;
}

/* A level cloth of 0.1 m spacing with the first corner at the origin. */
static struct command level_cloth(system_id system, uint32_t columns, uint32_t rows,
				  uint32_t substeps)
{
	struct command cloth = test_lattice(system, columns, rows, 1);
	cloth.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
	cloth.particles_lattice.substeps = substeps;
	return cloth;
}

static struct world *make_hanging(uint32_t side, uint32_t substeps, double limit, system_id *system)
{
	struct world *world = test_world(false, "soft-step");
	*system = make_system(world, 1e-3, limit);
	struct command cloth = level_cloth(*system, side, side, substeps);
	test_do(world, &cloth);
	ck_assert_int_eq(test_pin(world, *system, 1), STATUS_OK);
	ck_assert_int_eq(test_pin(world, *system, side), STATUS_OK);
	return world;
}

static vec3 momentum_of(const struct world *world, system_id system, vec3 *angular)
{
	uint32_t count = world_particles(world, system, 0, particles, MOST);
	vec3 sum = vec3_zero();
	*angular = vec3_zero();
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = vec3_scale(particles[i].velocity, particles[i].mass);
		sum = vec3_add(sum, p);
		*angular = vec3_add(*angular, vec3_cross(particles[i].position, p));
	}
	return sum;
}

/* ---- stretch -------------------------------------------------------------------------------------- */

START_TEST(cloths_by_two_corners_keep_their_limit)
{
	static const uint32_t sides[] = { 8, 16, 32, 50 }, ticks[] = { 150, 120, 50, 16 };
	const double limit = 0.02;
	system_id system;
	uint32_t side = sides[_i];
	struct world *world = make_hanging(side, 16, limit, &system);
	for (uint32_t tick = 0; tick < ticks[_i]; tick++) {
		test_step(world, 1);
		ck_assert_double_le(test_facts(world).stretch, limit);
	}
	ck_assert_uint_ge(test_facts(world).limit_passes, 16 * ticks[_i]);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), side * side);
	ck_assert_double_lt(particles[side * side - side / 2].position.y, -0.3);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* The lower half is a hundred times heavier. */
START_TEST(unequal_masses_keep_it_too)
{
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, 1e-3, 0.02);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	for (uint32_t i = 1; i < 20; i++) {
		if (i == 10) {
			struct command set = test_command(COMMAND_PARTICLES_SET);
			set.particles_set.system = system;
			set.particles_set.emitter = EMITTER_NONE;
			set.particles_set.life = 0;
			set.particles_set.mask = 0;
			set.particles_set.mass = 0.1;
			test_do(world, &set);
		}
		test_add_particle(world, system, vec3_make(0.1 * i, 0, 0), vec3_zero());
		struct command link = test_link(system, i, i + 1);
		link.particles_link.substeps = 16;
		test_do(world, &link);
	}
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	double lowest = 0;
	for (uint32_t tick = 0; tick < 200; tick++) {
		test_step(world, 1);
		ck_assert_double_le(test_facts(world).stretch, 0.02);
		world_particles(world, system, 0, particles, MOST);
		lowest = fmin(lowest, particles[19].position.y);
	}
	ck_assert_double_lt(lowest, -1.8);
	world_destroy(world);
}
END_TEST

/* A rope that a body holds, with a body at its end. */
START_TEST(holds_are_supports)
{
	struct world *world = test_world(false, "soft-step");
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(0, 1, 0), &item);
	spawn.spawn.status = BODY_STATIC;
	body_id beam = test_do(world, &spawn);
	system_id system = make_system(world, 0.01, 0.02);
	struct command rope = test_lattice(system, 30, 1, 1);
	rope.particles_lattice.links = LATTICE_EDGES;
	rope.particles_lattice.substeps = 32;
	test_do(world, &rope);
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = system;
	hold.particles_hold.particle = 1;
	hold.particles_hold.body = beam;
	test_do(world, &hold);
	double most = 0;
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		most = fmax(most, test_facts(world).stretch);
	}
	ck_assert_double_le(most, 0.02);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- what it does to motion ----------------------------------------------------------------------- */

START_TEST(a_limit_keeps_momentum_where_nothing_is_pinned)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 1e-3, 0.02);
	struct command cloth = level_cloth(system, 16, 16, 8);
	test_do(world, &cloth);
	/* Its middle is shot through its plane; it gathers the rest. */
	for (uint32_t i = 0; i < 2; i++)
		test_add_particle(world, system, vec3_make(0.7 + 0.1 * i, 0.05, -0.7),
				  vec3_make(3, 40, -2));
	for (uint32_t i = 0; i < 2; i++) {
		struct command link = test_link(system, 257 + i, 120 + i);
		test_do(world, &link);
	}
	vec3 turn, before = momentum_of(world, system, &turn);
	double size = 2e-3 * 40;
	for (uint32_t tick = 0; tick < 60; tick++) {
		vec3 angular;
		test_step(world, 1);
		vec3 now = momentum_of(world, system, &angular);
		ck_assert_double_le(vec3_distance(now, before), 1e-12 * size);
		ck_assert_double_le(test_facts(world).stretch, 0.02);
	}
	ck_assert_uint_gt(test_facts(world).limit_passes, 500);
	world_destroy(world);
}
END_TEST

/* Where no link comes near its limit and nothing is a support, nothing is corrected. */
START_TEST(a_limit_that_no_link_reaches_changes_no_bit)
{
	uint64_t hash = 0;
	for (uint32_t i = 0; i < 2; i++) {
		struct world *world = test_world(false, "free");
		test_no_gravity(world);
		system_id system = make_system(world, 1, 0);
		test_add_particle(world, system, vec3_zero(), vec3_zero());
		test_add_particle(world, system, vec3_make(1.05, 0, 0), vec3_make(0, 0.1, 0));
		struct command link = test_link(system, 1, 2);
		link.particles_link.length = 1;
		link.particles_link.compliance = 1e-2;
		test_do(world, &link);
		test_limit(world, system, i == 0 ? 0 : 0.5);
		test_step(world, 100);
		ck_assert_uint_eq(test_facts(world).limit_passes > 0, i);
		test_limit(world, system, 0);
		world_particles(world, system, 0, particles, MOST);
		uint64_t now = world_tick_hash(world);
		for (uint32_t k = 0; k < 2; k++)
			now = hash64(&particles[k].position, sizeof(vec3), now);
		ck_assert(i == 0 || now == hash);
		hash = now;
		world_destroy(world);
	}
}
END_TEST

/* A rope of 20 particles at rest: with tethers a link near the pin still pulls the whole weight. */
START_TEST(links_tear_by_their_force_where_tethers_help_them)
{
	const double weight = 19 * 0.01 * 9.81;
	for (uint32_t i = 0; i < 2; i++) {
		struct world *world = test_world(false, "soft-step");
		system_id system = make_system(world, 0.01, 0.02);
		struct command rope = test_lattice(system, 20, 1, 1);
		rope.particles_lattice.links = LATTICE_EDGES;
		rope.particles_lattice.substeps = 16;
		rope.particles_lattice.rotation =
			quat_from_axis_angle(vec3_axis(2), -1.5707963267948966);
		rope.particles_lattice.tear_force = weight * (i == 0 ? 1.1 : 0.9);
		test_do(world, &rope);
		ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
		test_step(world, 60);
		ck_assert_uint_eq(test_facts(world).torn > 0, i);
		test_step(world, 30);
		if (i == 1) { /* nothing holds it any more */
			world_particles(world, system, 0, particles, MOST);
			ck_assert_double_lt(particles[19].position.y, -2.5);
		}
		world_destroy(world);
	}
}
END_TEST

/* ---- commands and bits ---------------------------------------------------------------------------- */

START_TEST(what_cannot_be_is_refused)
{
	struct world *world = test_world(false, "free");
	system_id system = make_system(world, 1, 0.02);
	struct command limit = test_command(COMMAND_PARTICLES_LIMIT);
	limit.particles_limit.system = system;
	static const double bad[] = { 0.0009, -0.1, 1.1 };
	for (uint32_t i = 0; i < COUNT_OF(bad); i++) {
		limit.particles_limit.stretch = bad[i];
		ck_assert_int_eq(test_try(world, &limit), STATUS_RANGE);
	}
	limit.particles_limit.stretch = NAN;
	ck_assert_int_ne(test_try(world, &limit), STATUS_OK);
	limit.particles_limit.stretch = 0;
	ck_assert_int_eq(test_try(world, &limit), STATUS_OK);
	limit.particles_limit.system = 9;
	ck_assert_int_eq(test_try(world, &limit), STATUS_UNKNOWN_PARTICLES);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* Two cloths: one tears, meets itself and a ball within its sub-steps, and is held; the other hangs. */
static struct world *make_scene(void)
{
	system_id system;
	struct world *world = make_hanging(9, 8, 0.02, &system);
	system_id other = make_system(world, 2e-3, 0.05);
	struct command cloth = level_cloth(other, 9, 9, 8);
	cloth.particles_lattice.position = vec3_make(-0.4, -1, 0.4);
	cloth.particles_lattice.tear_force = 0.2;
	test_do(world, &cloth);
	ck_assert_int_eq(test_pin(world, other, 1), STATUS_OK);
	body_id ball = test_spawn(world, TEST_SPHERE, vec3_make(0.3, -0.4, 0));
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = other;
	hold.particles_hold.particle = 81;
	hold.particles_hold.body = ball;
	test_do(world, &hold);
	struct command contacts = test_command(COMMAND_PARTICLES_CONTACTS);
	contacts.particles_contacts.system = other;
	contacts.particles_contacts.contacts = CONTACTS_WITHIN;
	test_do(world, &contacts);
	struct command self = test_command(COMMAND_PARTICLES_SELF);
	self.particles_self.system = other;
	self.particles_self.thickness = 0.09;
	test_do(world, &self);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_scene, 40);
	struct system_view views[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, views), 2);
	ck_assert_uint_gt(views[1].torn, 0);
	ck_assert_uint_gt(views[0].limit_passes, 0);
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
	Suite *suite = suite_create("particle_limit");
	TCase *all = tcase_create("particle_limit");
	tcase_add_loop_test(all, cloths_by_two_corners_keep_their_limit, 0, 4);
	tcase_add_test(all, unequal_masses_keep_it_too);
	tcase_add_test(all, holds_are_supports);
	tcase_add_test(all, a_limit_keeps_momentum_where_nothing_is_pinned);
	tcase_add_test(all, a_limit_that_no_link_reaches_changes_no_bit);
	tcase_add_test(all, links_tear_by_their_force_where_tethers_help_them);
	tcase_add_test(all, what_cannot_be_is_refused);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
