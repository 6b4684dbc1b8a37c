/* Sinks: which particles a ball, a box and a body take, by their distance as it is computed here; counts and
 * masses; sinks that bodies carry; a basin with a tap and an overflow; refusals; images, rollbacks and
 * workers change no bit. */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/check_main.h"
#include "tests/lib/linked.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000, CLOUD = 600 };
static struct particle_view particles[MOST];

static struct sink_view sink_of(const struct world *world, uint32_t number)
{
	struct sink_view views[PARTICLE_SINKS_MAX];
	uint32_t count = world_sinks(world, test_facts(world).id, views);
	for (uint32_t i = 0; i < count; i++)
		if (views[i].number == number)
			return views[i];
	ck_abort_msg("no sink %u", number);
	return views[0];
}

static struct command sink_command(system_id system, uint32_t number, uint8_t region)
{
	struct command command = test_command(COMMAND_PARTICLES_SINK);
	command.particles_sink.system = system;
	command.particles_sink.sink = number;
	command.particles_sink.region = region;
	return command;
}

/* Dust at rest within ±2 m. */
static system_id make_cloud(struct world *world, struct rng *rng)
{
	struct command create = test_system_command("dust");
	create.particles_create.capacity = MOST;
	create.particles_create.mask = 0;
	create.particles_create.mass = 0.25;
	create.particles_create.gravity_scale = 0;
	system_id system = test_do(world, &create);
	for (uint32_t i = 0; i < CLOUD; i++) {
		struct command add = test_command(COMMAND_PARTICLES_ADD);
		add.particles_add.system = system;
		add.particles_add.position = vec3_make(rng_range(rng, -2, 2), rng_range(rng, -2, 2),
						       rng_range(rng, -2, 2));
		test_do(world, &add);
	}
	return system;
}

/* Where a region has its surface, m: < 0 in it. */
static double depth_in(uint8_t region, vec3 p, vec3 half, double radius)
{
	vec3 out = vec3_sub(vec3_abs(p), half);
	if (region == SINK_BALL)
		return vec3_length(p) - radius;
	if (region == SINK_BOX)
		return vec3_max_component(out);
	/* A box as a body. */
	return vec3_length(vec3_max(out, vec3_zero())) - radius;
}

/* ---- regions --------------------------------------------------------------------------------------- */

START_TEST(a_sink_takes_what_is_in_it_and_nothing_else)
{
	static const uint8_t regions[] = { SINK_BALL, SINK_BOX, SINK_BODY, SINK_BALL, SINK_BOX };
	const bool carried = _i >= 2;
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct rng rng = rng_seeded(check_seed());
	system_id system = make_cloud(world, &rng);
	struct attachment item;
	struct command box = test_spawn_command(world, TEST_BOX, vec3_make(0.3, 0.2, -0.1), &item);
	box.spawn.status = BODY_STATIC;
	box.spawn.rotation = quat_from_axis_angle(vec3_axis(2), 0.4);
	body_id body = test_do(world, &box);
	struct command put = sink_command(system, 3, regions[_i]);
	const pose own =
		pose_make(vec3_make(0.2, -0.3, 0.1), quat_from_axis_angle(vec3_axis(1), 1));
	put.particles_sink.position = own.position;
	put.particles_sink.rotation = own.rotation;
	put.particles_sink.size = vec3_make(2, 1.5, 1);
	put.particles_sink.radius = 0.9;
	put.particles_sink.body = carried ? body : 0;
	test_do(world, &put);
	pose at = own;
	vec3 half = vec3_make(1, 0.75, 0.5);
	if (carried)
		at = pose_mul(pose_make(box.spawn.position, box.spawn.rotation), own);
	if (regions[_i] == SINK_BODY) {
		at = pose_make(box.spawn.position, box.spawn.rotation);
		half = vec3_all(0.5); /* of the test's box */
	}
	uint32_t inside = 0, count = world_particles(world, system, 0, particles, MOST);
	ck_assert_uint_eq(count, CLOUD);
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = pose_inverse_point(at, particles[i].position);
		inside += depth_in(regions[_i], p, half, 0.9) < 0;
	}
	test_step(world, 2);
	ck_assert_uint_gt(inside, 10);
	ck_assert_uint_eq(sink_of(world, 3).taken, inside);
	ck_assert_double_eq_tol(sink_of(world, 3).mass, 0.25 * inside, 1e-9);
	ck_assert_uint_eq(test_facts(world).taken, inside);
	ck_assert_uint_eq(test_facts(world).alive, CLOUD - inside);
	count = world_particles(world, system, 0, particles, MOST);
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = pose_inverse_point(at, particles[i].position);
		ck_assert_double_gt(depth_in(regions[_i], p, half, 0.9), -1e-9);
	}
	test_check(world);
	/* The sink goes with its body, and the counts of the system stay. */
	struct command remove = test_command(COMMAND_REMOVE);
	remove.remove.body = body;
	test_do(world, &remove);
	ck_assert_uint_eq(test_facts(world).sinks, carried ? 0 : 1);
	ck_assert_uint_eq(test_facts(world).taken, inside);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(of_two_sinks_the_lower_number_counts)
{
	struct world *world = test_world(false, "soft-step");
	struct rng rng = rng_seeded(check_seed());
	system_id system = make_cloud(world, &rng);
	for (uint32_t number = PARTICLE_SINKS_MAX; number > 0; number--) {
		struct command put = sink_command(system, number, SINK_BALL);
		put.particles_sink.radius = 0.25 * number;
		test_do(world, &put);
	}
	test_step(world, 3);
	uint64_t sum = 0;
	for (uint32_t number = 1; number <= PARTICLE_SINKS_MAX; number++) {
		sum += sink_of(world, number).taken;
		uint32_t within = 0;
		for (uint32_t i = 1; i <= number; i++)
			within += (uint32_t)sink_of(world, i).taken;
		ck_assert_uint_eq(within, sum);
	}
	ck_assert_uint_eq(sum, CLOUD);
	ck_assert_uint_eq(test_facts(world).alive, 0);
	/* Set anew it keeps its counts; removed they go. */
	struct command put = sink_command(system, 16, SINK_BOX);
	uint64_t taken = sink_of(world, 16).taken;
	put.particles_sink.size = vec3_all(1);
	test_do(world, &put);
	ck_assert_uint_eq(sink_of(world, 16).taken, taken);
	put.particles_sink.region = SINK_NONE;
	test_do(world, &put);
	ck_assert_uint_eq(test_facts(world).sinks, PARTICLE_SINKS_MAX - 1);
	ck_assert_int_eq(test_try(world, &put), STATUS_UNKNOWN_SINK);
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	remove.particles_remove.system = system;
	test_do(world, &remove);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- a basin ---------------------------------------------------------------------------------------- */

static void add_wall(struct world *world, vec3 at, uint32_t axis, double angle)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_PLANE, at, &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(axis), angle);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	test_do(world, &spawn);
}

/* A tank 1 m square with a tap, and an overflow that takes what is above 0.6 m. */
static struct world *make_basin(void)
{
	const double spacing = 0.2, quarter = 1.5707963267948966;
	struct world *world = test_world(false, "soft-step");
	add_wall(world, vec3_zero(), 0, 0);
	add_wall(world, vec3_make(-0.5, 0, 0), 2, -quarter);
	add_wall(world, vec3_make(0.5, 0, 0), 2, quarter);
	add_wall(world, vec3_make(0, 0, -0.5), 0, quarter);
	add_wall(world, vec3_make(0, 0, 0.5), 0, -quarter);
	struct command create = test_system_command("water");
	create.particles_create.emitter = EMITTER_PLANAR;
	create.particles_create.position = vec3_make(0, 1.2, 0);
	create.particles_create.rotation = quat_from_axis_angle(vec3_axis(0), 2 * quarter);
	create.particles_create.half = vec3_all(0.2);
	create.particles_create.rate = 4;
	create.particles_create.delay = 8;
	create.particles_create.speed = 1.5;
	create.particles_create.capacity = MOST;
	create.particles_create.recycle = 1;
	create.particles_create.life = 0;
	create.particles_create.size = 0.5 * spacing;
	create.particles_create.mass = 1000 * spacing * spacing * spacing;
	create.particles_create.static_friction = create.particles_create.dynamic_friction = 0;
	create.particles_create.restitution = 0;
	system_id system = test_do(world, &create);
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 2 * spacing;
	fluid.particles_fluid.viscosity = 20;
	test_do(world, &fluid);
	struct command drain = sink_command(system, 1, SINK_BOX);
	drain.particles_sink.position = vec3_make(0.45, 0.85, 0);
	drain.particles_sink.size = vec3_make(0.2, 0.5, 1);
	test_do(world, &drain);
	return world;
}

/* What comes in goes out: the number alive is the same over the last seconds, within the tap's of a
 * quarter of a second, and the level is that of the overflow's edge, within a spacing. */
START_TEST(a_basin_with_a_tap_and_an_overflow_keeps_its_level)
{
	struct world *world = make_basin();
	test_step(world, 480);
	double alive = 0, early = 0;
	for (uint32_t second = 0; second < 4; second++) {
		test_step(world, 60);
		*(second < 2 ? &early : &alive) += 0.5 * test_facts(world).alive;
	}
	ck_assert_double_eq_tol(alive, early, 8);
	ck_assert_uint_gt(test_facts(world).taken, 60);
	/* Those taken in the last tick are still there. */
	struct system_view now = test_facts(world);
	ck_assert_uint_ge(now.alive + now.taken, now.born);
	ck_assert_uint_le(now.alive + now.taken, now.born + 8);
	test_step(world, 1);
	ck_assert_double_eq_tol(alive * 0.008, 0.6, 0.2);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- the same bits ---------------------------------------------------------------------------------- */

START_TEST(workers_change_no_bit)
{
	uint64_t hash[2];
	for (uint32_t run = 0; run < 2; run++) {
		struct parallel *threads = parallel_threads_create(1 + 2 * run);
		struct world *world = make_basin();
		for (uint32_t tick = 0; tick < 90; tick++)
			ck_assert_int_eq(world_step(world, threads, NULL), STATUS_OK);
		hash[run] = test_hash(world);
		world_destroy(world);
		parallel_threads_destroy(threads);
	}
	ck_assert_uint_eq(hash[0], hash[1]);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_basin();
	test_step(world, 150);
	test_no_trace(world);
	ck_assert_uint_gt(test_facts(world).taken, 0);
	world_destroy(world);
}
END_TEST

/* ---- refusals --------------------------------------------------------------------------------------- */

START_TEST(sinks_that_make_no_sense_are_refused)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	system_id system = test_do(world, &create);
	uint64_t hash = test_hash(world);
	struct command put = sink_command(system, 1, SINK_BOX);
	put.particles_sink.size = vec3_make(1, 0, 1);
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_sink.region = SINK_BALL;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_sink.radius = 1;
	put.particles_sink.region = SINK_BODY;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_sink.body = 7;
	ck_assert_int_eq(test_try(world, &put), STATUS_UNKNOWN_BODY);
	put.particles_sink.body = 0;
	put.particles_sink.region = SINK_NONE;
	ck_assert_int_eq(test_try(world, &put), STATUS_UNKNOWN_SINK);
	put.particles_sink.region = SINK_BALL;
	put.particles_sink.sink = PARTICLE_SINKS_MAX + 1;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_sink.sink = 0;
	ck_assert_int_eq(test_try(world, &put), STATUS_RANGE);
	put.particles_sink.sink = 1;
	put.particles_sink.radius = NAN;
	ck_assert_int_ne(test_try(world, &put), STATUS_OK);
	ck_assert_uint_eq(test_hash(world), hash);
	test_check(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_sinks");
	TCase *all = tcase_create("all");
	tcase_set_timeout(all, 60);
	tcase_add_loop_test(all, a_sink_takes_what_is_in_it_and_nothing_else, 0, 5);
	tcase_add_test(all, of_two_sinks_the_lower_number_counts);
	tcase_add_test(all, a_basin_with_a_tap_and_an_overflow_keeps_its_level);
	tcase_add_test(all, workers_change_no_bit);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	tcase_add_test(all, sinks_that_make_no_sense_are_refused);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
