/* Rows of the checklist of particles (ch1-3 P-01, P-05, P-08, P-16, P-18, P-19, P-23, P-26) that
 * need a world of their own; docs/PARTICLES.md lists all rows with their tests. And bad input: zero sizes, a
 * million births in a tick, fields without bounds, systems that are removed while they collide. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static struct particle_view nth(const struct world *world, system_id system, uint32_t index)
{
	ck_assert_uint_gt(world_particles(world, system, 0, particles, MOST), index);
	return particles[index];
}

static system_id make_system(struct world *world, double size, double mass, double restitution)
{
	struct command create = test_system_command("rows");
	create.particles_create.size = size;
	create.particles_create.mass = mass;
	create.particles_create.restitution = restitution;
	create.particles_create.static_friction = create.particles_create.dynamic_friction = 0;
	return test_do(world, &create);
}

static void add_static(struct world *world, enum test_shape shape, vec3 at, double restitution,
		       double friction)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, shape, at, &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.restitution = restitution;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = friction;
	test_do(world, &spawn);
}

/* One tick a second. */
static struct world *slow_world(void)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = 1;
	struct world *world = test_world_of(&options);
	test_no_gravity(world);
	return world;
}

/* ---- motion ---------------------------------------------------------------------------------------- */

/* P-01: F = (2, 0, 0), m = 4: after 3 s v = 1.5, p = 2.25. P-05: 1 s of fall. Height v²/2g. */
START_TEST(a_constant_force_gives_its_velocity_and_its_way)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command push = test_command(COMMAND_FIELD_CREATE);
	push.field_create.strength = vec3_make(2, 0, 0);
	test_do(world, &push);
	system_id system = make_system(world, 0.1, 4, 0);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_step(world, 180);
	expect_near(nth(world, system, 0).velocity, vec3_make(1.5, 0, 0), 1e-12);
	expect_near(nth(world, system, 0).position, vec3_make(2.25, 0, 0), 1e-12);
	world_destroy(world);
	world = test_world(false, "soft-step");
	system = make_system(world, 0.1, 4, 0);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_zero(), vec3_make(0, 4.905, 0));
	test_step(world, 30);
	double height = nth(world, system, 1).position.y; /* at rest for a moment after 0.5 s */
	ck_assert_double_eq_tol(height, 4.905 * 4.905 / (2 * 9.81), 1e-12);
	test_step(world, 30);
	ck_assert_double_eq_tol(nth(world, system, 0).velocity.y, -9.81, 1e-12);
	ck_assert_double_eq_tol(particles[0].position.y, -4.905, 1e-12);
	world_destroy(world);
}
END_TEST

/* A particle and a body without rotation have one law of motion. */
START_TEST(a_body_and_a_particle_fly_alike)
{
	struct world *world = test_world(false, "soft-step");
	struct command wind = test_command(COMMAND_FIELD_CREATE);
	wind.field_create.strength = vec3_make(0.3, 0.1, -0.2);
	test_do(world, &wind);
	struct attachment item;
	struct command ball = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	ball.spawn.mass = 2;
	ball.spawn.velocity = vec3_make(3, 9, 1);
	body_id body = test_do(world, &ball);
	struct command create = test_system_command("alike");
	create.particles_create.mass = 2;
	create.particles_create.mask = 0;
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_zero(), vec3_make(3, 9, 1));
	for (uint32_t tick = 0; tick < 120; tick++) {
		test_step(world, 1);
		struct particle_view p = nth(world, system, 0);
		expect_near(p.position, test_body(world, body).position, 1e-9);
		expect_near(p.velocity, test_body(world, body).velocity, 1e-9);
	}
	world_destroy(world);
}
END_TEST

/* P-08: m = 1 and 3 kg, k = 12 N/m: period π/2; at a damping ratio of 1 and beyond the spring
 * never gets shorter than at rest, at 0.2 it does by exp(−π 0.2/√0.96). The mass centre stays. */
static double overshoot(double ratio, double *period)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.01, 1, 0);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	struct command set = test_command(COMMAND_PARTICLES_SET);
	set.particles_set.system = system;
	set.particles_set.emitter = EMITTER_NONE;
	set.particles_set.life = 0;
	set.particles_set.mass = 3;
	test_do(world, &set);
	test_add_particle(world, system, vec3_make(1.1, 0, 0), vec3_zero());
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	link.particles_link.a = 1;
	link.particles_link.b = 2;
	link.particles_link.length = 1;
	link.particles_link.compliance = 1.0 / 12;
	link.particles_link.damping_ratio = ratio;
	link.particles_link.substeps = 64;
	test_do(world, &link);
	double least = 0.1, last = 0.1, turns = 0;
	for (uint32_t tick = 1; tick <= 240; tick++) {
		test_step(world, 1);
		double x = nth(world, system, 1).position.x - particles[0].position.x - 1;
		double centre = (particles[0].position.x + 3 * particles[1].position.x) / 4;
		ck_assert_double_eq_tol(centre, 3.3 / 4, 1e-12);
		if (last <= 0 && x > 0)
			*period = (tick - x / (x - last)) / 60.0 / (0.75 + turns++);
		least = fmin(least, x);
		last = x;
	}
	world_destroy(world);
	return -least / 0.1;
}

START_TEST(a_spring_of_two_masses_has_its_period_and_its_damping)
{
	double period = 0;
	ck_assert_double_eq_tol(overshoot(0, &period), 1, 0.03);
	ck_assert_double_eq_tol(period, 1.5707963267948966, 0.005);
	ck_assert_double_eq_tol(overshoot(0.2, &period), exp(-3.14159265 * 0.2 / sqrt(0.96)), 0.01);
	ck_assert_double_le(overshoot(1, &period), 1e-9);
	ck_assert_double_le(overshoot(2, &period), 1e-9);
}
END_TEST

/* What is joined with nothing is the same to the bit, whether others of its system meet a body. */
START_TEST(what_is_in_no_collision_keeps_its_bits)
{
	struct particle_view found[2], struck[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "soft-step");
		if (k == 1)
			add_static(world, TEST_BOX, vec3_make(0.2, -1.3, 0), 0.5, 0.3);
		system_id system = make_system(world, 0.1, 0.5, 0.5);
		test_add_particle(world, system, vec3_zero(), vec3_zero());
		test_add_particle(world, system, vec3_make(0.5, 0.4, 0), vec3_zero());
		test_add_particle(world, system, vec3_make(3, 1, 2), vec3_make(0.3, 4, 0.1));
		struct command link = test_command(COMMAND_PARTICLES_LINK);
		link.particles_link.system = system;
		link.particles_link.a = 1;
		link.particles_link.b = 2;
		link.particles_link.compliance = 1e-3;
		test_do(world, &link);
		test_step(world, 40);
		struck[k] = nth(world, system, 0);
		found[k] = particles[2];
		world_destroy(world);
	}
	ck_assert(vec3_distance(struck[0].position, struck[1].position) > 0.1);
	ck_assert(vec3_equal(found[0].position, found[1].position));
	ck_assert(vec3_equal(found[0].velocity, found[1].velocity));
}
END_TEST

/* ---- collisions ------------------------------------------------------------------------------------ */

/* P-16: what a particle does does not depend on how many others are beside it in its group. */
START_TEST(groups_of_any_size_find_the_same_collisions)
{
	static struct particle_view alone[8];
	static const uint32_t counts[] = { 8, 64, 700 };
	for (uint32_t k = 0; k < COUNT_OF(counts); k++) {
		struct world *world = test_world(false, "soft-step");
		struct rng rng = rng_seeded(check_seed());
		add_static(world, TEST_MESH, vec3_zero(), 0.4, 0.3);
		add_static(world, TEST_BOX, vec3_make(0, 2, 0), 0.4, 0.3);
		system_id system = make_system(world, 0.05, 0.1, 0.5);
		for (uint32_t i = 0; i < counts[k]; i++) {
			vec3 at;
			at.x = rng_range(&rng, -1, 1);
			at.y = rng_range(&rng, 3, 5);
			at.z = rng_range(&rng, -1, 1);
			test_add_particle(world, system, at, vec3_make(1, -8, 0.5));
		}
		test_step(world, 60);
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), counts[k]);
		for (uint32_t i = 0; i < 8; i++) {
			ck_assert(k == 0 || vec3_equal(particles[i].position, alone[i].position));
			alone[i] = particles[i];
		}
		world_destroy(world);
	}
}
END_TEST

/* P-18: on the way of a particle are one of its own system and one of another: it meets the nearer. */
START_TEST(the_earliest_of_internal_and_external_hits_is_taken)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = slow_world();
		system_id a = make_system(world, 0.2, 1, 1), b = make_system(world, 0.2, 1, 1);
		struct command set = test_command(COMMAND_PARTICLES_INTERACT);
		set.particles_interact.forces = INTERACT_NONE;
		set.particles_interact.collisions = INTERACT_BOTH;
		set.particles_interact.system = a;
		test_do(world, &set);
		set.particles_interact.system = b;
		test_do(world, &set);
		test_add_particle(world, a, vec3_zero(), vec3_make(10, 0, 0));
		test_add_particle(world, k == 0 ? a : b, vec3_make(4.2, 0, 0), vec3_zero());
		test_add_particle(world, k == 0 ? b : a, vec3_make(9.7, 0, 0), vec3_zero());
		test_step(world, 1);
		/* Equal balls hand the velocity on: at 0.4 s the nearer one gets it. */
		struct particle_view first = nth(world, a, 0);
		struct particle_view near = k == 0 ? particles[1] : nth(world, b, 0);
		expect_near(first.position, vec3_make(4, 0, 0), 1e-12);
		expect_near(first.velocity, vec3_zero(), 1e-12);
		expect_near(near.position, vec3_make(9.5, 0, 0), 1e-12);
		world_destroy(world);
	}
}
END_TEST

/* P-19: radius 0.1, down from 1 m by 2 m: at s = 0.45 it meets the floor, and reflected it ends at
 * 0.1 + 0.55 · 2. On a face, an edge and a corner of a cube it is reflected along the normal. */
START_TEST(a_hit_has_its_time_and_its_normal)
{
	struct world *world = slow_world();
	add_static(world, TEST_PLANE, vec3_zero(), 1, 0);
	system_id system = make_system(world, 0.2, 1, 1);
	test_add_particle(world, system, vec3_make(0.25, 1, 0.25), vec3_make(0, -2, 0));
	test_step(world, 1);
	expect_near(nth(world, system, 0).position, vec3_make(0.25, 1.2, 0.25), 1e-9);
	world_destroy(world);
	const vec3 corners[] = { { 0, 0, 0.5 }, { 0.5, 0, 0.5 }, { 0.5, 0.5, 0.5 } };
	for (uint32_t i = 0; i < COUNT_OF(corners); i++) {
		world = slow_world();
		add_static(world, TEST_BOX, vec3_zero(), 1, 0);
		system = make_system(world, 0.2, 1, 1);
		vec3 n = vec3_normalize(corners[i]);
		test_add_particle(world, system, vec3_mul_add(corners[i], n, 1),
				  vec3_scale(n, -1.8));
		test_step(world, 1);
		expect_near(nth(world, system, 0).velocity, vec3_scale(n, 1.8), 1e-7);
		expect_near(particles[0].position, vec3_mul_add(corners[i], n, 1), 1e-7);
		world_destroy(world);
	}
}
END_TEST

/* P-23: three of ten are inside a cube: these are put on its nearest faces, the others fly on. */
START_TEST(particles_inside_a_body_are_put_on_its_surface)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	add_static(world, TEST_BOX, vec3_zero(), 0, 0);
	system_id system = make_system(world, 0.02, 1, 0);
	const vec3 inside[] = { { 0.4, 0.1, 0 }, { 0, -0.3, 0.2 }, { 0.1, 0.2, 0.45 } };
	for (uint32_t i = 0; i < 10; i++)
		test_add_particle(world, system, i < 3 ? inside[i] : vec3_make(2 + 0.1 * i, 0, 0.3),
				  vec3_zero());
	test_step(world, 1);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 10);
	expect_near(particles[0].position, vec3_make(0.51, 0.1, 0), 1e-6);
	expect_near(particles[1].position, vec3_make(0, -0.51, 0.2), 1e-6);
	expect_near(particles[2].position, vec3_make(0.1, 0.2, 0.51), 1e-6);
	for (uint32_t i = 0; i < 10; i++) {
		ck_assert(i < 3 ||
			  vec3_equal(particles[i].position, vec3_make(2 + 0.1 * i, 0, 0.3)));
		ck_assert_double_le(vec3_length(particles[i].velocity), 1e-9);
	}
	world_destroy(world);
}
END_TEST

/* P-26: a particle of 0.2 on ground of 0.6 has 0.4: m = 1 at (10, −5), e = 0: Δv = −2. */
START_TEST(friction_of_a_pair_is_the_mean)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	add_static(world, TEST_PLANE, vec3_zero(), 0, 0.6);
	struct command create = test_system_command("pair");
	create.particles_create.size = 0.2;
	create.particles_create.mass = 1;
	create.particles_create.restitution = 0;
	create.particles_create.static_friction = create.particles_create.dynamic_friction = 0.2;
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0, 0.11, 0), vec3_make(10, -5, 0));
	test_step(world, 1);
	expect_near(nth(world, system, 0).velocity, vec3_make(8, 0, 0), 1e-12);
	world_destroy(world);
}
END_TEST

/* ---- bad input ------------------------------------------------------------------------------------- */

/* 10^6 births in one tick: up to the capacity, the rest counted; the tick ends. */
START_TEST(a_million_births_in_a_tick_are_bounded_and_counted)
{
	struct world *world = test_world(false, "free");
	struct command create = test_system_command("million");
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.rate = 1000000;
	create.particles_create.capacity = 2000;
	create.particles_create.mask = 0;
	test_do(world, &create);
	test_step(world, 1);
	ck_assert_uint_eq(test_facts(world).alive, 2000);
	ck_assert_uint_eq(test_facts(world).lost, 998000);
	ck_assert_uint_eq(test_facts(world).born, 2000);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A tick that meets the world's limit of memory births up to it; a copy of the world does the same. */
START_TEST(births_end_at_the_limit_of_memory)
{
	struct world_options options = test_options(false, "free");
	options.limits.memory_bytes = 1 << 18;
	struct world *world = test_world_of(&options), *copy;
	struct command create = test_system_command("many");
	create.particles_create.emitter = EMITTER_BOX;
	create.particles_create.rate = 1000;
	create.particles_create.capacity = 100000;
	create.particles_create.life = 0.1;
	create.particles_create.mask = 0;
	test_do(world, &create);
	test_step(world, 2);
	struct bytes image = test_save(world);
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	test_step(world, 20);
	test_step(copy, 20);
	struct system_view seen = test_facts(world);
	ck_assert_uint_gt(seen.alive, 100);
	ck_assert_uint_lt(seen.alive, 5000);
	ck_assert_uint_gt(seen.born, seen.alive); /* deaths make room */
	ck_assert_uint_eq(seen.born + seen.lost, 22 * 1000);
	test_check(world);
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	bytes_release(&image);
	world_destroy(copy);
	world_destroy(world);
}
END_TEST

/* A field whose force is beyond all numbers removes its particles; nothing else changes. */
START_TEST(fields_without_bounds_remove_their_particles)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	struct command field = test_command(COMMAND_FIELD_CREATE);
	field.field_create.strength = vec3_make(1e12, 0, 0);
	field.field_create.mask = 2;
	test_do(world, &field);
	field.field_create.strength = vec3_make(NAN, 0, 0);
	ck_assert_int_eq(test_try(world, &field), STATUS_NOT_FINITE);
	struct command create = test_system_command("light");
	create.particles_create.mass = PARTICLE_MASS_MIN;
	create.particles_create.category = 2;
	system_id light = test_do(world, &create);
	create.particles_create.category = 1;
	system_id other = test_do(world, &create);
	test_add_particle(world, light, vec3_zero(), vec3_zero());
	test_add_particle(world, other, vec3_make(0, 1, 0), vec3_make(1, 0, 0));
	test_step(world, 3);
	ck_assert_uint_eq(test_facts(world).alive, 0);
	ck_assert_uint_eq(world_particles(world, other, 0, particles, MOST), 1);
	ck_assert_double_eq_tol(particles[0].position.x, 0.05, 1e-12);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A system goes while its particles push a body, collide with another system and leave a trail: what they
 * gave in the last tick is lost with them, as the command says; all else goes on. */
START_TEST(a_system_is_removed_while_it_collides)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	body_id body = test_spawn(world, TEST_BOX, vec3_make(0.9, 0, 0));
	system_id a = make_system(world, 0.2, 1, 0.5), b = make_system(world, 0.2, 1, 0.5);
	struct command set = test_command(COMMAND_PARTICLES_INTERACT);
	set.particles_interact.collisions = INTERACT_BOTH;
	set.particles_interact.system = a;
	test_do(world, &set);
	set.particles_interact.system = b;
	test_do(world, &set);
	struct command trail = test_command(COMMAND_PARTICLES_TRAIL);
	trail.particles_trail.system = b;
	trail.particles_trail.trail = a;
	test_do(world, &trail);
	for (uint32_t i = 0; i < 12; i++) {
		test_add_particle(world, a, vec3_make(0.1 * i - 1, 0.05 * i - 0.2, 0),
				  vec3_make(30, 0, 0));
		test_add_particle(world, b, vec3_make(0.1 * i - 1, 0.05 * i + 0.1, 0),
				  vec3_make(20, -9, 0));
	}
	test_step(world, 2);
	struct body_view before = test_body(world, body);
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	remove.particles_remove.system = a;
	test_do(world, &remove);
	remove.particles_remove.system = b;
	test_do(world, &remove);
	ck_assert_int_eq(test_try(world, &remove), STATUS_UNKNOWN_PARTICLES);
	test_step(world, 1);
	ck_assert(vec3_equal(test_body(world, body).velocity, before.velocity));
	struct system_view views[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, views), 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A particle that has died is no longer one: links, pins and holds of it are refused. */
START_TEST(a_dead_particle_is_unknown)
{
	struct world *world = test_world(false, "free");
	struct command create = test_system_command("brief");
	create.particles_create.life = 0.05;
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_make(1, 0, 0), vec3_zero());
	test_step(world, 6);
	ck_assert_uint_eq(test_facts(world).alive, 0);
	struct command link = test_command(COMMAND_PARTICLES_LINK);
	link.particles_link.system = system;
	link.particles_link.a = 1;
	link.particles_link.b = 2;
	ck_assert_int_eq(test_try(world, &link), STATUS_UNKNOWN_PARTICLE);
	struct command pin = test_command(COMMAND_PARTICLES_PIN);
	pin.particles_pin.system = system;
	pin.particles_pin.particle = 2;
	ck_assert_int_eq(test_try(world, &pin), STATUS_UNKNOWN_PARTICLE);
	struct command hold = test_command(COMMAND_PARTICLES_HOLD);
	hold.particles_hold.system = system;
	hold.particles_hold.body = test_spawn(world, TEST_BOX, vec3_zero());
	hold.particles_hold.particle = 1;
	ck_assert_int_eq(test_try(world, &hold), STATUS_UNKNOWN_PARTICLE);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_rows");
	TCase *all = tcase_create("particle_rows");
	tcase_add_test(all, a_constant_force_gives_its_velocity_and_its_way);
	tcase_add_test(all, a_body_and_a_particle_fly_alike);
	tcase_add_test(all, a_spring_of_two_masses_has_its_period_and_its_damping);
	tcase_add_test(all, what_is_in_no_collision_keeps_its_bits);
	tcase_add_test(all, groups_of_any_size_find_the_same_collisions);
	tcase_add_test(all, the_earliest_of_internal_and_external_hits_is_taken);
	tcase_add_test(all, a_hit_has_its_time_and_its_normal);
	tcase_add_test(all, particles_inside_a_body_are_put_on_its_surface);
	tcase_add_test(all, friction_of_a_pair_is_the_mean);
	tcase_add_test(all, a_million_births_in_a_tick_are_bounded_and_counted);
	tcase_add_test(all, births_end_at_the_limit_of_memory);
	tcase_add_test(all, fields_without_bounds_remove_their_particles);
	tcase_add_test(all, a_system_is_removed_while_it_collides);
	tcase_add_test(all, a_dead_particle_is_unknown);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
