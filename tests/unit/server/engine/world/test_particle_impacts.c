/* Particles and bodies: impacts, friction, rest, moving bodies, reactions and momentum, and that
 * threads, images and rollbacks change no bit. */
#include "server/base/rng.h"
#include "server/engine/collision/query.h"
#include "server/engine/math/scalar.h"
#include "server/engine/world/rollback.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 20000 };
static struct particle_view particles[MOST];

static const char *const METHODS[] = { "free",	     "soft-step", "lcp",    "projection",
				       "reflection", "impact",	  "penalty" };

static struct command plain_system(double restitution, double friction)
{
	struct command command = test_system_command("shot");
	command.particles_create.size = 0.2;
	command.particles_create.restitution = restitution;
	command.particles_create.static_friction = friction;
	command.particles_create.dynamic_friction = friction;
	return command;
}

static struct particle_view only(const struct world *world, system_id system)
{
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 1);
	return particles[0];
}

static struct command ground_command(struct world *world, enum test_shape shape, vec3 at,
				     double restitution, double friction, struct attachment *item)
{
	struct command spawn = test_spawn_command(world, shape, at, item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.restitution = restitution;
	spawn.spawn.static_friction = friction;
	spawn.spawn.dynamic_friction = friction;
	return spawn;
}

static body_id add_ground(struct world *world, enum test_shape shape, vec3 at, double restitution,
			  double friction)
{
	struct attachment item;
	struct command spawn = ground_command(world, shape, at, restitution, friction, &item);
	return test_do(world, &spawn);
}

/* e = 1, without gravity: exactly the reflected path. */
START_TEST(a_wall_reflects_a_particle_exactly)
{
	static const enum test_shape SHAPES[] = { TEST_PLANE, TEST_BOX };
	for (uint32_t i = 0; i < COUNT_OF(SHAPES); i++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		double top = SHAPES[i] == TEST_PLANE ? 0 : 0.5;
		add_ground(world, SHAPES[i], vec3_zero(), 1, 0);
		struct command create = plain_system(1, 0);
		system_id system = test_do(world, &create);
		/* The centre turns at 0.1 m above the surface. */
		test_add_particle(world, system, vec3_make(-0.1, top + 0.3, 0.2),
				  vec3_make(0.5, -30, 0.25));
		test_step(world, 1);
		double y = top + 0.1 - (0.3 - 0.1 - 30 / 60.0);
		vec3 p = only(world, system).position;
		expect_near(p, vec3_make(-0.1 + 0.5 / 60, y, 0.2 + 0.25 / 60), 1e-9);
		expect_near(only(world, system).velocity, vec3_make(0.5, 30, 0.25), 1e-12);
		world_destroy(world);
	}
}
END_TEST

/* Every kind of shape stops a shower, from above and fast; none gets through. */
START_TEST(no_particle_gets_into_a_shape_of_any_kind)
{
	static const enum test_shape SHAPES[] = {
		TEST_SPHERE, TEST_CAPSULE, TEST_BOX,  TEST_HULL,
		TEST_PLANE,  TEST_MESH,	   TEST_RING, TEST_BLOCK
	};
	for (uint32_t i = 0; i < COUNT_OF(SHAPES); i++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		add_ground(world, SHAPES[i], vec3_zero(), 0, 0.5);
		struct command create = plain_system(0.5, 0.5);
		create.particles_create.size = 0.05;
		system_id system = test_do(world, &create);
		for (uint32_t k = 0; k < 81; k++)
			test_add_particle(world, system,
					  vec3_make(-0.4 + 0.1 * (k % 9) + 0.013, 5,
						    -0.4 + 0.1 * (k / 9) + 0.011),
					  vec3_make(0, -100, 0));
		test_step(world, 20);
		uint32_t count = world_particles(world, system, 0, particles, MOST), met = 0;
		ck_assert_uint_eq(count, 81);
		for (uint32_t k = 0; k < count; k++) {
			const pose at = pose_identity();
			struct query_hit hit;
			vec3 from = vec3_make(-0.4 + 0.1 * (k % 9) + 0.013, 5,
					      -0.4 + 0.1 * (k / 9) + 0.011);
			bool hits = shape_ray(test_shape(SHAPES[i]), &at, from,
					      vec3_make(0, -100, 0), 1, &hit);
			ck_assert(!hits || particles[k].velocity.y > -99.99);
			met += hits;
		}
		ck_assert_uint_gt(met, 10);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* Apex heights 0.64, 0.4096 of the drop. */
START_TEST(a_particle_bounces_by_its_restitution_and_comes_to_rest)
{
	struct world *world = test_world(false, "soft-step");
	add_ground(world, TEST_PLANE, vec3_zero(), 0.8, 0.5);
	struct command create = plain_system(0.8, 0.5);
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0, 1.1, 0), vec3_make(0, 0, 0));
	double apex[3] = { 0 }, last = -1;
	uint32_t bounces = 0;
	for (uint32_t tick = 0; tick < 200 && bounces < 3; tick++) {
		test_step(world, 1);
		struct particle_view p = only(world, system);
		if (last < 0 && p.velocity.y > 0)
			bounces++;
		if (bounces > 0)
			apex[bounces - 1] = fmax(apex[bounces - 1], p.position.y - 0.1);
		last = p.velocity.y;
	}
	ck_assert_double_eq_tol(apex[0], 0.64, 5e-3);
	ck_assert_double_eq_tol(apex[1], 0.4096, 5e-3);
	test_step(world, 600);
	ck_assert_double_eq_tol(only(world, system).position.y, 0.1, 1e-6);
	ck_assert_double_le(vec3_length(only(world, system).velocity), 1e-9);
	world_destroy(world);
}
END_TEST

/* P-31: on a slope of 30° with tan = 0.577: 0.6 holds; 0.4 slides with g (sin − 0.4 cos). */
START_TEST(friction_holds_or_slides_on_a_slope)
{
	for (uint32_t k = 0; k < 2; k++) {
		double mu = k == 0 ? 0.6 : 0.4, angle = 3.141592653589793 / 6;
		struct world *world = test_world(false, "soft-step");
		struct command gravity = test_command(COMMAND_GRAVITY);
		gravity.gravity.gravity = vec3_make(9.81 * sin(angle), -9.81 * cos(angle), 0);
		test_do(world, &gravity);
		add_ground(world, TEST_PLANE, vec3_zero(), 0, mu);
		struct command create = plain_system(0, mu);
		system_id system = test_do(world, &create);
		test_add_particle(world, system, vec3_make(0, 0.1, 0), vec3_zero());
		test_step(world, 60);
		double wanted = k == 0 ? 0 : 9.81 * (sin(angle) - 0.4 * cos(angle));
		ck_assert_double_eq_tol(only(world, system).velocity.x, wanted, 1e-9);
		ck_assert_double_eq_tol(only(world, system).position.y, 0.1, 1e-6);
		world_destroy(world);
	}
}
END_TEST

/* P-26: m = 1 at (10, −5) on a static floor, e = 0: slides with mu 0.1: Δv = −0.5. */
START_TEST(an_impact_with_little_friction_slides)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	add_ground(world, TEST_PLANE, vec3_zero(), 0, 0.1);
	struct command create = plain_system(0, 0.1);
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0, 0.11, 0), vec3_make(10, -5, 0));
	test_step(world, 1);
	expect_near(only(world, system).velocity, vec3_make(9.5, 0, 0), 1e-12);
	world_destroy(world);
}
END_TEST

/* P-22, P-33; A-08, D6d: m = 0.1 at 10 m/s on M = 10: P = (1 + e) 0.990099. The state of the body, also its
 * place, is what it was as the interval ends, and the body has P as the next one begins. */
static void expect_late_impulse(const char *method, double restitution)
{
	struct world *world = test_world(false, method);
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 10;
	spawn.spawn.restitution = restitution;
	spawn.spawn.flags = 0;
	body_id body = test_do(world, &spawn);
	struct command create = plain_system(restitution, 0);
	create.particles_create.mass = 0.1;
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(-0.7, 0, 0), vec3_make(10, 0, 0));
	double impulse = (1 + restitution) * 10 / 10.1;
	test_step(world, 1);
	ck_assert(vec3_equal(test_body(world, body).velocity, vec3_zero()));
	ck_assert(vec3_equal(test_body(world, body).position, vec3_zero()));
	ck_assert_double_eq_tol(only(world, system).velocity.x, 10 - impulse / 0.1, 1e-12);
	test_step(world, 1);
	ck_assert_double_eq_tol(test_body(world, body).velocity.x, impulse / 10, 1e-12);
	test_check(world);
	world_destroy(world);
}

START_TEST(a_body_gets_its_impulse_as_the_next_tick_begins)
{
	expect_late_impulse(METHODS[_i], 0);
	expect_late_impulse(METHODS[_i], 1);
}
END_TEST

/* Linear and angular momentum of particles and a free body, with the impulses that are on their way. */
START_TEST(momentum_is_kept_over_two_ticks)
{
	struct world *world = test_world(false, METHODS[_i]);
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_zero(), &item);
	spawn.spawn.mass = 3;
	spawn.spawn.flags = 0;
	body_id body = test_do(world, &spawn);
	struct command create = plain_system(0.7, 0.4);
	create.particles_create.mass = 0.05;
	system_id system = test_do(world, &create);
	struct rng rng = rng_seeded(7);
	for (uint32_t i = 0; i < 40; i++)
		test_add_particle(world, system,
				  vec3_make(-2 - 0.1 * i, rng_range(&rng, -0.5, 0.5),
					    rng_range(&rng, -0.5, 0.5)),
				  vec3_make(12, rng_range(&rng, -1, 1), rng_range(&rng, -1, 1)));
	vec3 before = vec3_zero(), after;
	for (uint32_t i = 0; i < world_particles(world, system, 0, particles, MOST); i++)
		before = vec3_mul_add(before, particles[i].velocity, 0.05);
	test_step(world, 120);
	uint32_t count = world_particles(world, system, 0, particles, MOST);
	after = vec3_scale(test_body(world, body).velocity, 3);
	for (uint32_t i = 0; i < count; i++)
		after = vec3_mul_add(after, particles[i].velocity, 0.05);
	expect_near(after, before, 1e-12 * 40);
	ck_assert_double_gt(test_body(world, body).velocity.x, 1);
	world_destroy(world);
}
END_TEST

/* P-20: a body that sweeps over a particle at rest takes it along. */
START_TEST(a_moving_body_finds_particles_at_rest)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, vec3_make(-10, 0, 0), &item);
	spawn.spawn.status = BODY_ANIMATED;
	spawn.spawn.velocity = vec3_make(120, 0, 0); /* 2 m a tick, twice its size */
	body_id body = test_do(world, &spawn);
	struct command create = plain_system(0, 0);
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0.3, 0.2, 0.1), vec3_zero());
	test_step(world, 8);
	ck_assert_double_eq_tol(only(world, system).velocity.x, 120, 1e-9);
	double gap = only(world, system).position.x - test_body(world, body).position.x;
	ck_assert_double_eq_tol(gap, 0.6, 1e-6);
	world_destroy(world);
}
END_TEST

START_TEST(filters_and_sensors_let_particles_pass)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	add_ground(world, TEST_PLANE, vec3_zero(), 0, 0);
	struct command create = plain_system(0, 0);
	create.particles_create.mask = 0;
	system_id system = test_do(world, &create);
	test_add_particle(world, system, vec3_make(0, 1, 0), vec3_make(0, -60, 0));
	test_step(world, 3);
	ck_assert_double_eq_tol(only(world, system).position.y, -2, 1e-12);
	world_destroy(world);
}
END_TEST

/* ---- determinism ----------------------------------------------------------------------------------- */

/* A fountain over a box, a mesh and loose bodies, with births, deaths and impacts in every tick. */
static struct world *splash(system_id *system)
{
	struct world *world = test_world(false, "soft-step");
	add_ground(world, TEST_MESH, vec3_zero(), 0.2, 0.4);
	add_ground(world, TEST_BOX, vec3_make(0, 2, 0), 0.2, 0.4);
	for (uint32_t i = 0; i < 40; i++)
		test_spawn(world, i % 2 ? TEST_BOX : TEST_SPHERE,
			   vec3_make(-3 + 1.3 * (i % 6), 3 + 1.2 * (i / 6), 1.1 * (i % 3) - 1));
	struct command create = plain_system(0.3, 0.3);
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.position = vec3_make(0, 3, 0);
	create.particles_create.rate = 60;
	create.particles_create.capacity = 3000;
	create.particles_create.size = 0.05;
	create.particles_create.size_deviation = 0.02;
	create.particles_create.mass = 0.05;
	create.particles_create.mass_deviation = 0.02;
	create.particles_create.drag = 0.01;
	create.particles_create.life = 0.8;
	create.particles_create.life_deviation = 0.4;
	create.particles_create.speed = 5;
	create.particles_create.spread = 0.8;
	*system = test_do(world, &create);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	uint64_t hash = 0;
	for (uint32_t workers = 1; workers <= 4; workers++) {
		system_id system;
		struct world *world = splash(&system);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < 90; tick++)
			ck_assert_int_eq(world_step(world, parallel, NULL), STATUS_OK);
		parallel_threads_destroy(parallel);
		ck_assert_uint_gt(world_particles(world, system, 0, particles, MOST), 1500);
		uint64_t now = test_hash(world);
		ck_assert(workers == 1 || now == hash);
		hash = now;
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

START_TEST(images_and_rollbacks_in_mid_splash_leave_no_trace)
{
	system_id system;
	struct world *world = splash(&system), *copy;
	test_step(world, 40);
	struct bytes image = test_save(world);
	struct reason why;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, &why),
			 STATUS_OK);
	struct rollback_base *base;
	ck_assert_int_eq(rollback_base_create(world, &base), STATUS_OK);
	test_step(world, 7);
	test_step(copy, 7);
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	struct bytes rollback = { 0 };
	ck_assert_int_eq(world_save_rollback(world, base, &rollback), STATUS_OK);
	test_step(world, 20);
	uint64_t hash = test_hash(world);
	test_step(world, 30);
	ck_assert_int_eq(world_restore_rollback(world, base, rollback.data, rollback.count, &why),
			 STATUS_OK);
	test_step(world, 20);
	ck_assert_uint_eq(test_hash(world), hash);
	test_step(copy, 20);
	ck_assert_uint_eq(test_hash(copy), hash);
	ck_assert_int_eq(world_restore(copy, image.data, image.count, &why), STATUS_OK);
	test_step(copy, 27);
	ck_assert_uint_eq(test_hash(copy), hash);
	ck_assert_int_eq(world_rebuild_caches(copy), STATUS_OK);
	test_step(copy, 5);
	test_step(world, 5);
	ck_assert_uint_eq(test_hash(copy), test_hash(world));
	bytes_release(&image);
	bytes_release(&rollback);
	rollback_base_destroy(base);
	world_destroy(world);
	world_destroy(copy);
}
END_TEST

/* Positions of particles are the same under every method where no body moves. */
START_TEST(every_method_moves_particles_alike)
{
	vec3 first = vec3_zero();
	for (uint32_t i = 0; i < COUNT_OF(METHODS); i++) {
		struct world *world = test_world(false, METHODS[i]);
		add_ground(world, TEST_PLANE, vec3_zero(), 0.5, 0.5);
		struct command create = plain_system(0.5, 0.5);
		system_id system = test_do(world, &create);
		test_add_particle(world, system, vec3_make(0, 2, 0), vec3_make(3, 4, 1));
		test_step(world, 100);
		vec3 now = only(world, system).position;
		ck_assert(i == 0 || vec3_equal(now, first));
		first = now;
		world_destroy(world);
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_impacts");
	TCase *all = tcase_create("particle_impacts");
	tcase_add_test(all, a_wall_reflects_a_particle_exactly);
	tcase_add_test(all, no_particle_gets_into_a_shape_of_any_kind);
	tcase_add_test(all, a_particle_bounces_by_its_restitution_and_comes_to_rest);
	tcase_add_test(all, friction_holds_or_slides_on_a_slope);
	tcase_add_test(all, an_impact_with_little_friction_slides);
	tcase_add_loop_test(all, a_body_gets_its_impulse_as_the_next_tick_begins, 0,
			    (int)COUNT_OF(METHODS));
	tcase_add_loop_test(all, momentum_is_kept_over_two_ticks, 0, (int)COUNT_OF(METHODS));
	tcase_add_test(all, a_moving_body_finds_particles_at_rest);
	tcase_add_test(all, filters_and_sensors_let_particles_pass);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_in_mid_splash_leave_no_trace);
	tcase_add_test(all, every_method_moves_particles_alike);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
