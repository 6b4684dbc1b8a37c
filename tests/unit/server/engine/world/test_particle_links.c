/* Links of particles: a damped spring against its solution, a rope against the catenary, cloth by
 * two corners and over a ball, tears where they belong, a jelly's volume, momentum; and that
 * workers, images and rollbacks change no bit (ch1-3 P-08, P-22). */
#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static system_id make_system(struct world *world, double size, double mass)
{
	struct command command = test_system_command("cloth");
	command.particles_create.size = size;
	command.particles_create.mass = mass;
	command.particles_create.restitution = 0;
	return test_do(world, &command);
}

/* A cloth that lies in the plane y = height about the y axis. */
static struct world *make_cloth(uint32_t side, double spacing, double height, double tear,
				system_id *system)
{
	struct world *world = test_world(false, "soft-step");
	*system = make_system(world, 0.8 * spacing, 1e-3);
	struct command cloth = test_lattice(*system, side, side, 1);
	double half = 0.5 * (side - 1) * spacing;
	cloth.particles_lattice.spacing = spacing;
	cloth.particles_lattice.position = vec3_make(-half, height, half);
	cloth.particles_lattice.rotation = quat_from_axis_angle(vec3_axis(0), -1.5707963267948966);
	cloth.particles_lattice.tear = tear;
	cloth.particles_lattice.substeps = 64;
	test_do(world, &cloth);
	return world;
}

/* ---- springs ------------------------------------------------------------------------------------- */

/* The largest error of the extension of a damped spring between 1 kg and `mass`, over a second. The
 * second particle has another mass because its system's mass was changed before it was made. */
static double spring_error(double mass, double ratio, uint32_t substeps)
{
	const double k = 30, reduced = mass / (1 + mass), w = sqrt(k / reduced);
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.01, 1);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	struct command set = test_command(COMMAND_PARTICLES_SET);
	set.particles_set.system = system;
	set.particles_set.emitter = EMITTER_NONE;
	set.particles_set.life = 0;
	set.particles_set.mass = mass;
	test_do(world, &set);
	test_add_particle(world, system, vec3_make(1.1, 0, 0), vec3_zero());
	struct command link = test_link(system, 1, 2);
	link.particles_link.length = 1;
	link.particles_link.compliance = 1 / k;
	link.particles_link.damping_ratio = ratio;
	link.particles_link.substeps = substeps;
	test_do(world, &link);
	double worst = 0;
	for (uint32_t tick = 1; tick <= 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 2);
		ck_assert_double_eq(particles[1].mass, mass);
		double t = tick / 60.0,
		       x = vec3_distance(particles[0].position, particles[1].position) - 1;
		double damped = w * sqrt(1 - ratio * ratio);
		double expected = 0.1 * exp(-ratio * w * t) *
				  (cos(damped * t) + ratio * w / damped * sin(damped * t));
		worst = fmax(worst, fabs(x - expected));
		vec3 sum = vec3_add(particles[0].velocity, vec3_scale(particles[1].velocity, mass));
		ck_assert_double_le(vec3_length(sum), 1e-12);
	}
	world_destroy(world);
	return worst;
}

START_TEST(a_damped_spring_converges_to_its_solution_for_unequal_masses)
{
	const double mass[] = { 1, 3, 0.2 }, ratio[] = { 0, 0.2, 0.7 };
	for (uint32_t i = 0; i < 9; i++) {
		double coarse = spring_error(mass[i / 3], ratio[i % 3], 16);
		double fine = spring_error(mass[i / 3], ratio[i % 3], 64);
		ck_assert_double_lt(fine, 0.0035);
		ck_assert_double_lt(fine, 0.3 * coarse); /* of first order: a quarter */
	}
}
END_TEST

/* ---- ropes --------------------------------------------------------------------------------------- */

START_TEST(a_hanging_rope_comes_to_rest_as_a_catenary)
{
	enum { COUNT = 41 };
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("rope");
	create.particles_create.size = 0.01;
	create.particles_create.mass = 0.01;
	create.particles_create.drag = 0.02;
	system_id system = test_do(world, &create);
	const double span = 1.6, step = span / (COUNT - 1);
	for (uint32_t i = 0; i < COUNT; i++)
		test_add_particle(world, system, vec3_make(i * step - 0.5 * span, 0, 0),
				  vec3_zero());
	for (uint32_t i = 1; i < COUNT; i++) {
		struct command link = test_link(system, i, i + 1);
		link.particles_link.kind = LINK_ROPE;
		link.particles_link.length = 0.05;
		link.particles_link.substeps = 64;
		test_do(world, &link);
	}
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	ck_assert_int_eq(test_pin(world, system, COUNT), STATUS_OK);
	test_step(world, 900);
	double a = 1; /* 2 a sinh(span / 2a) = 2 */
	for (uint32_t i = 0; i < 60; i++) {
		double f = 2 * a * sinh(span / (2 * a)) - 2;
		double slope = 2 * sinh(span / (2 * a)) - span / a * cosh(span / (2 * a));
		a -= f / slope;
	}
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), COUNT);
	for (uint32_t i = 0; i < COUNT; i++) {
		vec3 at = particles[i].position;
		double y = a * cosh(at.x / a) - a * cosh(span / (2 * a));
		ck_assert_double_eq_tol(at.y, y, 0.01);
	}
	ck_assert_double_lt(test_facts(world).stretch, 0.02);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- cloth --------------------------------------------------------------------------------------- */

START_TEST(a_cloth_by_two_corners_stretches_by_less_than_2_percent)
{
	system_id system;
	struct world *world = make_cloth(12, 0.1, 3, 0, &system);
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	ck_assert_int_eq(test_pin(world, system, 12), STATUS_OK);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 144);
	vec3 corner = particles[0].position;
	double lowest = 3;
	for (uint32_t tick = 0; tick < 240; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(test_facts(world).stretch, 0.02);
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 144);
		ck_assert(vec3_equal(particles[0].position, corner));
		lowest = fmin(lowest, particles[143].position.y);
	}
	ck_assert_double_lt(lowest, 2.2); /* it swings down by its length, 1.1 m */
	test_check(world);
	world_destroy(world);
}
END_TEST

/* 24 × 24 as it begins to swing. */
START_TEST(a_larger_cloth_stretches_by_less_than_2_percent)
{
	system_id system;
	struct world *world = make_cloth(24, 0.1, 6, 0, &system);
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	ck_assert_int_eq(test_pin(world, system, 24), STATUS_OK);
	for (uint32_t tick = 0; tick < 45; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(test_facts(world).stretch, 0.02);
	}
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 576);
	ck_assert_double_lt(particles[560].position.y, 5);
	world_destroy(world);
}
END_TEST

START_TEST(a_cloth_over_a_ball_is_nowhere_deeper_than_1_mm)
{
	system_id system;
	struct world *world = make_cloth(20, 0.08, 0.7, 0, &system);
	struct attachment item;
	struct command ball = test_spawn_command(world, TEST_SPHERE, vec3_zero(), &item);
	ball.spawn.status = BODY_STATIC;
	test_do(world, &ball);
	uint32_t touching = 0;
	for (uint32_t tick = 0; tick < 90; tick++) {
		test_step(world, 1);
		uint32_t count = world_particles(world, system, 0, particles, MOST);
		ck_assert_uint_eq(count, 400);
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

START_TEST(a_link_tears_over_its_limit_and_the_others_stay)
{
	struct world *world = test_world(false, "free");
	test_no_gravity(world);
	system_id system = make_system(world, 0.01, 1);
	for (uint32_t i = 0; i < 4; i++)
		test_add_particle(world, system, vec3_make(i, 0, 0),
				  vec3_make(i == 3 ? 30 : 0, 0, 0));
	for (uint32_t i = 1; i < 4; i++) {
		struct command link = test_link(system, i, i + 1);
		link.particles_link.compliance = 1e-3;
		link.particles_link.tear = 0.3;
		test_do(world, &link);
	}
	uint32_t told = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		uint32_t count;
		const struct event *list = world_events(world, &count);
		for (uint32_t i = 0; i < count; i++)
			if (list[i].kind == EVENT_LINK_TORN) {
				ck_assert_uint_eq(list[i].child_a, system);
				ck_assert_uint_eq(list[i].child_b, 3);
				ck_assert_double_gt(list[i].value, 1);
				told++;
			}
	}
	ck_assert_uint_eq(told, 1);
	ck_assert_uint_eq(test_facts(world).torn, 1);
	ck_assert_uint_eq(test_facts(world).links, 2);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- jelly --------------------------------------------------------------------------------------- */

START_TEST(a_jelly_cube_keeps_its_volume_on_the_ground)
{
	/* Bodies are met once a tick, so the error falls with the square of the tick. */
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = 240;
	struct world *world = test_world_of(&options);
	test_ground(world);
	system_id system = make_system(world, 0.1, 0.05);
	struct command jelly = test_lattice(system, 5, 5, 5);
	jelly.particles_lattice.position = vec3_make(0, 0.5, 0);
	jelly.particles_lattice.spacing = 0.1;
	jelly.particles_lattice.links = LATTICE_EDGES | LATTICE_DIAGONALS | LATTICE_VOLUMES;
	jelly.particles_lattice.compliance = jelly.particles_lattice.shear_compliance = 2e-3;
	jelly.particles_lattice.damping_ratio = 0.5;
	jelly.particles_lattice.substeps = 16;
	test_do(world, &jelly);
	test_step(world, 480); /* it falls and comes to rest */
	for (uint32_t tick = 0; tick < 240; tick++) {
		test_step(world, 1);
		ck_assert_double_lt(test_facts(world).volume_error, 0.02);
	}
	uint32_t count = world_particles(world, system, 0, particles, MOST);
	double lowest = 1;
	for (uint32_t i = 0; i < count; i++)
		lowest = fmin(lowest, particles[i].position.y - particles[i].radius);
	ck_assert_double_eq_tol(lowest, 0, 1e-3);
	ck_assert_double_gt(test_facts(world).stretch, 0);
	world_destroy(world);
}
END_TEST

/* ---- momentum ------------------------------------------------------------------------------------ */

/* What particles gain in a tick, the ball loses in the next one (P-22). */
START_TEST(cloth_and_a_body_that_meets_it_keep_their_momentum)
{
	system_id system;
	struct world *world = make_cloth(10, 0.15, 0, 0, &system);
	test_no_gravity(world);
	body_id ball = test_spawn(world, TEST_SPHERE, vec3_make(0, 0.7, 0));
	struct command push = test_command(COMMAND_SET_VELOCITY);
	push.set_velocity.body = ball;
	push.set_velocity.velocity = vec3_make(0, -3, 0);
	test_do(world, &push);
	double mass = test_body(world, ball).mass, gained = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		double lost = mass * (test_body(world, ball).velocity.y + 3);
		ck_assert_double_eq_tol(lost, -gained, 1e-12 * 3 * mass);
		uint32_t count = world_particles(world, system, 0, particles, MOST);
		gained = 0;
		for (uint32_t i = 0; i < count; i++)
			gained += particles[i].mass * particles[i].velocity.y;
	}
	ck_assert_double_lt(gained, -0.05);
	world_destroy(world);
}
END_TEST

/* ---- commands ------------------------------------------------------------------------------------ */

START_TEST(commands_that_make_no_sense_are_refused_and_change_nothing)
{
	struct world *world = test_world(false, "free");
	system_id system = make_system(world, 0.1, 1);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_axis(0), vec3_zero());
	uint64_t hash = test_hash(world);
	struct command same = test_link(system, 1, 1), missing = test_link(system, 1, 3);
	struct command third = test_link(system, 1, 2),
		       huge = test_lattice(system, 4096, 4096, 4096);
	third.particles_link.c = 1;
	ck_assert_int_eq(test_try(world, &same), STATUS_RANGE);
	ck_assert_int_eq(test_try(world, &missing), STATUS_UNKNOWN_PARTICLE);
	ck_assert_int_eq(test_try(world, &third), STATUS_RANGE);
	ck_assert_int_eq(test_try(world, &huge), STATUS_LIMIT);
	ck_assert_int_eq(test_pin(world, system, 9), STATUS_UNKNOWN_PARTICLE);
	ck_assert_uint_eq(test_hash(world), hash);
	struct command link = test_link(system, 1, 2);
	test_do(world, &link);
	struct command collide = test_command(COMMAND_PARTICLES_INTERACT);
	collide.particles_interact.system = system;
	collide.particles_interact.collisions = INTERACT_INTERNAL;
	ck_assert_int_eq(test_try(world, &collide), STATUS_LINKED);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(links_and_pins_go_with_their_particles_and_systems)
{
	struct world *world = test_world(false, "free");
	struct command create = test_system_command("short");
	create.particles_create.life = 0.1;
	system_id system = test_do(world, &create);
	struct command cloth = test_lattice(system, 5, 5, 2);
	cloth.particles_lattice.links = 15;
	test_do(world, &cloth);
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	test_check(world);
	test_step(world, 3);
	ck_assert_uint_gt(test_facts(world).links, 100);
	test_step(world, 7);
	ck_assert_uint_eq(
		test_facts(world).alive + test_facts(world).links + test_facts(world).pins, 0);
	test_do(world, &cloth);
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	remove.particles_remove.system = system;
	test_do(world, &remove);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- order --------------------------------------------------------------------------------------- */

enum { BALLS = 40, RODS = 150, STEPS = 3 };

struct ball {
	vec3 x, before, v;
};

/* A link once, as the head of particle_links.h has it; masses are 1 kg. */
static void correct(struct ball *a, struct ball *b, const struct command *link, double h)
{
	double compliance = link->particles_link.compliance, length;
	double rate = 1 / h, softness = compliance / (h * h);
	double gamma = 2 * link->particles_link.damping_ratio * sqrt(compliance / 2) / h;
	vec3 n = vec3_normalize_length(vec3_sub(a->x, b->x), &length);
	double error = length - link->particles_link.length;
	if (link->particles_link.kind == LINK_ROPE && error <= 0)
		return;
	if (gamma > 0)
		error += gamma * vec3_dot(n, vec3_sub(vec3_sub(a->x, a->before),
						      vec3_sub(b->x, b->before)));
	double push = -error / ((1 + gamma) * 2 + softness);
	a->x = vec3_mul_add(a->x, n, push);
	a->v = vec3_mul_add(a->v, n, push * rate);
	b->x = vec3_mul_add(b->x, n, -push);
	b->v = vec3_mul_add(b->v, n, -push * rate);
}

/* Links at random, many at the same particles, soft, rigid, damped and ropes: a tick has the
 * bits of one link after the other in the order of their rows, with vectors of any width. */
START_TEST(links_act_in_the_order_of_their_rows)
{
	static const uint32_t lanes[] = { 1, 4, 8, 16 };
	struct rng rng = rng_seeded(check_seed());
	struct ball balls[BALLS];
	struct command links[RODS];
	struct world *world = test_world(false, "free");
	const double dt = 1.0 / 60, h = dt / STEPS;
	test_no_gravity(world);
	system_id system = make_system(world, 0.001, 1);
	for (uint32_t i = 0; i < BALLS; i++) {
		balls[i].x.x = rng_range(&rng, -1, 1);
		balls[i].x.y = rng_range(&rng, -1, 1);
		balls[i].x.z = rng_range(&rng, -1, 1);
		balls[i].v = vec3_make(0, 0.5, 0.01 * i);
		test_add_particle(world, system, balls[i].x, balls[i].v);
	}
	for (uint32_t i = 0; i < RODS; i++) {
		/* The first are chains of neighbours, which are runs. */
		uint32_t a = i < 60 ? i % 20 * 2 : (uint32_t)rng_below(&rng, BALLS), b = a + 1;
		if (i >= 60)
			b = (a + 1 + (uint32_t)rng_below(&rng, BALLS - 1)) % BALLS;
		links[i] = test_link(system, a + 1, b + 1);
		links[i].particles_link.kind = i % 5 == 4 ? LINK_ROPE : LINK_ROD;
		links[i].particles_link.length = rng_range(&rng, 0.2, 1.5);
		links[i].particles_link.compliance = i % 3 == 0 ? 0 : 1e-4 * (i % 4);
		links[i].particles_link.damping_ratio = i % 7 == 0 ? 0.3 : 0;
		links[i].particles_link.substeps = STEPS;
		test_do(world, &links[i]);
	}
	for (uint32_t tick = 0; tick < 4; tick++) {
		processor_limit_lanes(lanes[tick]);
		test_step(world, 1);
		for (uint32_t step = 0; step < STEPS; step++) {
			for (uint32_t i = 0; i < BALLS; i++) {
				balls[i].before = balls[i].x;
				balls[i].x = vec3_mul_add(balls[i].x, balls[i].v, h);
			}
			for (uint32_t i = 0; i < RODS; i++)
				correct(&balls[links[i].particles_link.a - 1],
					&balls[links[i].particles_link.b - 1], &links[i], h);
		}
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), BALLS);
		for (uint32_t i = 0; i < BALLS; i++) {
			ck_assert(vec3_equal(particles[i].position, balls[i].x));
			ck_assert(vec3_equal(particles[i].velocity, balls[i].v));
		}
	}
	processor_limit_lanes(UINT32_MAX);
	world_destroy(world);
}
END_TEST

/* ---- bits ---------------------------------------------------------------------------------------- */

/* Three systems, one of which tears. */
static struct world *make_scene(void)
{
	system_id system;
	struct world *world = make_cloth(8, 0.1, 0.8, 0.02, &system);
	ck_assert_int_eq(test_pin(world, system, 1), STATUS_OK);
	ck_assert_int_eq(test_pin(world, system, 8), STATUS_OK);
	test_spawn(world, TEST_SPHERE, vec3_make(0, 1.5, 0));
	for (uint32_t i = 0; i < 2; i++) {
		system_id other = make_system(world, 0.05, 0.01);
		struct command jelly = test_lattice(other, 3, 4, 3);
		jelly.particles_lattice.links = 15;
		jelly.particles_lattice.position = vec3_make(2.0 * i - 1, 1, 2);
		test_do(world, &jelly);
	}
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
	ck_assert_uint_gt(test_facts(world).torn, 0);
	world_destroy(world);
}
END_TEST

/* A step, as a world does it that was loaded at this moment and so knows nothing of the tick before. */
static void step_as_loaded(struct world *world)
{
	struct bytes image = test_save(world);
	struct world *copy;
	ck_assert_int_eq(world_load(image.data, image.count, test_shape_source(), &copy, NULL),
			 STATUS_OK);
	test_step(copy, 1);
	test_step(world, 1);
	ck_assert_uint_eq(test_hash(world), test_hash(copy));
	bytes_release(&image);
	world_destroy(copy);
}

/* What a tick keeps of links for the next one goes as soon as links, pins, particles or sub-steps change. */
START_TEST(links_that_change_between_ticks_act_at_once)
{
	struct world *world = make_scene();
	system_id first = test_facts(world).id;
	struct command link = test_link(first, 1, 60);
	struct command add = test_command(COMMAND_PARTICLES_ADD);
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	step_as_loaded(world);
	step_as_loaded(world);
	link.particles_link.compliance = 0.01;
	test_do(world, &link);
	step_as_loaded(world);
	ck_assert_int_eq(test_pin(world, first, 30), STATUS_OK);
	step_as_loaded(world);
	add.particles_add.system = first;
	test_do(world, &add);
	step_as_loaded(world);
	link.particles_link.substeps = 29;
	test_do(world, &link);
	step_as_loaded(world);
	step_as_loaded(world);
	remove.particles_remove.system = first;
	test_do(world, &remove);
	step_as_loaded(world);
	step_as_loaded(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_links");
	TCase *all = tcase_create("particle_links");
	tcase_add_test(all, a_damped_spring_converges_to_its_solution_for_unequal_masses);
	tcase_add_test(all, a_hanging_rope_comes_to_rest_as_a_catenary);
	tcase_add_test(all, a_cloth_by_two_corners_stretches_by_less_than_2_percent);
	tcase_add_test(all, a_larger_cloth_stretches_by_less_than_2_percent);
	tcase_add_test(all, a_cloth_over_a_ball_is_nowhere_deeper_than_1_mm);
	tcase_add_test(all, a_link_tears_over_its_limit_and_the_others_stay);
	tcase_add_test(all, a_jelly_cube_keeps_its_volume_on_the_ground);
	tcase_add_test(all, cloth_and_a_body_that_meets_it_keep_their_momentum);
	tcase_add_test(all, commands_that_make_no_sense_are_refused_and_change_nothing);
	tcase_add_test(all, links_and_pins_go_with_their_particles_and_systems);
	tcase_add_test(all, links_act_in_the_order_of_their_rows);
	tcase_add_test(all, links_that_change_between_ticks_act_at_once);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
