/* Particles from particles: splits and trails (ch1-3 P-42, P-43), and the distributions of what they and
 * emitters draw (P-38). */
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 60000 };
static struct particle_view particles[MOST];

static uint32_t read_all(const struct world *world, system_id system)
{
	return world_particles(world, system, 0, particles, MOST);
}

/* A world without gravity with a system of single particles that split. */
static struct world *make_world(system_id *system, double life)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command create = test_system_command("shell");
	create.particles_create.life = life;
	create.particles_create.size = 0.4;
	create.particles_create.mass = 2;
	create.particles_create.capacity = MOST;
	create.particles_create.mask = 0;
	*system = test_do(world, &create);
	return world;
}

static struct command split_of(system_id system, uint32_t number, double age, uint32_t depth)
{
	struct command split = test_command(COMMAND_PARTICLES_SPLIT);
	split.particles_split.system = system;
	split.particles_split.number = number;
	split.particles_split.age = age;
	split.particles_split.depth = depth;
	return split;
}

static struct command trail_of(system_id system, system_id trail, uint32_t delay)
{
	struct command command = test_command(COMMAND_PARTICLES_TRAIL);
	command.particles_trail.system = system;
	command.particles_trail.trail = trail;
	command.particles_trail.delay = delay;
	return command;
}

/* ---- splits --------------------------------------------------------------------------------------- */

/* P-42: number 2, depth 2: 2 children, then 4 of these. A split at the age of 10/60 s is in the tick in
 * which a particle becomes older, as a death would be: the 11th. */
START_TEST(a_particle_splits_into_generations_up_to_the_depth)
{
	for (uint32_t spend = 0; spend < 2; spend++) {
		system_id system;
		struct world *world = make_world(&system, 0);
		struct command split = split_of(system, 2, 10 / 60.0, 2);
		split.particles_split.spend = (uint8_t)spend;
		test_do(world, &split);
		test_add_particle(world, system, vec3_zero(), vec3_make(1, 0, 0));
		for (uint32_t tick = 1; tick <= 50; tick++) {
			test_step(world, 1);
			uint32_t count = read_all(world, system), of[3] = { 0 };
			for (uint32_t i = 0; i < count; i++)
				of[particles[i].generation]++;
			/* A spent one goes a tick later. */
			bool first = spend == 0 || tick < 12, second = spend == 0 || tick < 23;
			ck_assert_uint_eq(of[0], first);
			ck_assert_uint_eq(of[1], tick >= 11 && second ? 2 : 0);
			ck_assert_uint_eq(of[2], tick >= 22 ? 4 : 0);
		}
		ck_assert_uint_eq(test_facts_of(world, system).splits, 3);
		ck_assert_uint_eq(test_facts_of(world, system).born, 7);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

START_TEST(it_splits_again_after_each_delay_until_it_dies)
{
	system_id system;
	struct world *world = make_world(&system, 1);
	struct command split = split_of(system, 3, 0.2, 1);
	split.particles_split.delay = 6;
	test_do(world, &split);
	test_add_particle(world, system, vec3_zero(), vec3_make(1, 0, 0));
	/* In ticks 13, 19, … 55; in the 61st it is dead. */
	for (uint32_t tick = 1; tick <= 70; tick++) {
		test_step(world, 1);
		uint32_t splits = tick < 13 ? 0 : 1 + ((tick < 60 ? tick : 60) - 13) / 6;
		ck_assert_uint_eq(test_facts_of(world, system).splits, splits);
		ck_assert_uint_eq(test_facts_of(world, system).born, 1 + 3 * splits);
	}
	world_destroy(world);
}
END_TEST

/* Shares of velocity, size, life; the mass with the cube; at the parent's place. */
START_TEST(children_have_shares_of_their_parent)
{
	system_id system;
	struct world *world = make_world(&system, 2);
	struct command split = split_of(system, 4000, 0.1, 1);
	split.particles_split.velocity = 0.5;
	split.particles_split.velocity_deviation = 0.1;
	split.particles_split.spread = 0.4;
	split.particles_split.size = 0.5;
	split.particles_split.size_deviation = 0.2;
	split.particles_split.life = 0.5;
	split.particles_split.life_deviation = 0.25;
	test_do(world, &split);
	test_add_particle(world, system, vec3_make(1, 2, 3), vec3_make(0, 10, 0));
	test_step(world, 7);
	uint32_t count = read_all(world, system);
	ck_assert_uint_eq(count, 4001);
	double speed = 0, angle = 0, size = 0;
	vec3 at = particles[0].position;
	for (uint32_t i = 1; i < count; i++) {
		const struct particle_view *p = &particles[i];
		double v = vec3_length(p->velocity), share = p->radius / 0.2;
		double turn = acos(fmin(p->velocity.y / v, 1));
		ck_assert(v >= 4 - 1e-12 && v <= 6 + 1e-12 && turn <= 0.4 + 1e-7);
		ck_assert(share >= 0.3 && share <= 0.7 && vec3_equal(p->position, at));
		ck_assert_double_eq_tol(p->mass, 2 * share * share * share, 1e-12);
		speed += v / 4000;
		angle += turn / 4000;
		size += share / 4000;
	}
	ck_assert_double_eq_tol(speed, 5, 0.005);
	ck_assert_double_eq_tol(size, 0.5, 0.005);
	ck_assert_double_eq_tol(angle, 0.4 / 3 * 0.79, 0.01);
	/* The parent lives for 121 ticks, its children for 30 … 91. */
	test_step(world, 28);
	ck_assert_uint_eq(read_all(world, system), 4001);
	test_step(world, 33);
	ck_assert_double_eq_tol(read_all(world, system), 2000, 250);
	test_step(world, 33);
	ck_assert_uint_eq(read_all(world, system), 1);
	world_destroy(world);
}
END_TEST

/* A burst goes in all directions alike: the mean is 0, and each axis has a third of the square. */
START_TEST(a_burst_is_the_same_in_all_directions)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command split = split_of(system, 4096, 0, 1);
	split.particles_split.velocity = 0;
	split.particles_split.burst = 3;
	test_do(world, &split);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_step(world, 1);
	uint32_t count = read_all(world, system);
	ck_assert_uint_eq(count, 4097);
	double sum[3] = { 0 }, square[3] = { 0 };
	for (uint32_t i = 1; i < count; i++) {
		ck_assert_double_eq_tol(vec3_length(particles[i].velocity), 3, 1e-12);
		for (uint32_t k = 0; k < 3; k++) {
			double v = vec3_get(particles[i].velocity, k) / 3;
			sum[k] += v / 4096;
			square[k] += v * v / 4096;
		}
	}
	/* Four standard deviations. */
	for (uint32_t k = 0; k < 3; k++) {
		ck_assert_double_eq_tol(sum[k], 0, 4 * sqrt(1.0 / 3 / 4096));
		ck_assert_double_eq_tol(square[k], 1.0 / 3, 4 * sqrt(4.0 / 45 / 4096));
	}
	world_destroy(world);
}
END_TEST

/* Ages within mean ± deviation, each particle's own, half of them before the mean. */
START_TEST(split_ages_are_drawn_for_each_particle)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command split = split_of(system, 1, 0.5, 1);
	split.particles_split.age_deviation = 0.25;
	split.particles_split.number_deviation = 1;
	test_do(world, &split);
	for (uint32_t i = 0; i < 2000; i++)
		test_add_particle(world, system, vec3_make(i, 0, 0), vec3_zero());
	test_step(world, 15);
	ck_assert_uint_eq(test_facts_of(world, system).splits, 0);
	test_step(world, 15);
	ck_assert_double_eq_tol(test_facts_of(world, system).splits, 1000, 200);
	test_step(world, 17);
	ck_assert_uint_eq(test_facts_of(world, system).splits, 2000);
	/* 0, 1 or 2 children: half of the range is nearer to 1, which is 0.866 of the drawn. */
	ck_assert_double_eq_tol(test_facts_of(world, system).born, 4000, 150);
	world_destroy(world);
}
END_TEST

START_TEST(what_a_child_is_does_not_depend_on_others)
{
	vec3 found[2];
	for (uint32_t k = 0; k < 2; k++) {
		system_id system;
		struct world *world = make_world(&system, 0);
		struct command split = split_of(system, 2, 0.1, 1);
		split.particles_split.burst = 1;
		split.particles_split.burst_deviation = 0.5;
		test_do(world, &split);
		test_add_particle(world, system, vec3_zero(), vec3_zero());
		if (k == 1) { /* its children are the second and the third */
			test_step(world, 3);
			test_add_particle(world, system, vec3_zero(), vec3_zero());
		}
		test_step(world, 10);
		read_all(world, system);
		ck_assert_uint_eq(particles[k + 2].serial, k + 3);
		found[k] = particles[2].velocity;
		if (k == 1)
			ck_assert_uint_eq(particles[2].serial, 3);
		world_destroy(world);
	}
	ck_assert(vec3_equal(found[0], found[1]));
}
END_TEST

START_TEST(capacity_bounds_splits_and_the_rest_is_counted)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command split = split_of(system, 4096, 0, 255);
	split.particles_split.number_deviation = 0;
	split.particles_split.delay = 1;
	test_do(world, &split);
	test_add_particle(world, system, vec3_zero(), vec3_make(1, 0, 0));
	test_step(world, 4);
	struct system_view view = test_facts_of(world, system);
	ck_assert_uint_eq(view.alive, MOST);
	ck_assert_uint_eq(view.born, MOST);
	ck_assert_uint_gt(view.lost, MOST);
	/* Children stay within the limits of size and mass. */
	split.particles_split.size = 0;
	test_do(world, &split);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(a_child_that_is_larger_than_the_room_is_refused)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command set = test_command(COMMAND_PARTICLES_SET);
	set.particles_set.system = system;
	set.particles_set.emitter = EMITTER_NONE;
	set.particles_set.size = 0.4;
	set.particles_set.life = 0;
	test_do(world, &set);
	struct attachment item;
	struct command wall = test_spawn_command(world, TEST_SPHERE, vec3_make(0, 1, 0), &item);
	wall.spawn.status = BODY_STATIC;
	test_do(world, &wall);
	struct command split = split_of(system, 3, 0, 1);
	split.particles_split.size = 4;
	test_do(world, &split);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_make(9, 0, 0), vec3_zero());
	test_step(world, 1);
	ck_assert_uint_eq(test_facts_of(world, system).refused, 3);
	ck_assert_uint_eq(test_facts_of(world, system).alive, 5);
	world_destroy(world);
}
END_TEST

/* ---- trails --------------------------------------------------------------------------------------- */

/* P-43: particles of a trail are where the particle was, and go after their life. */
START_TEST(a_trail_marks_where_a_particle_was_and_vanishes)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command create = test_system_command("smoke");
	create.particles_create.life = 0.25;
	create.particles_create.mask = 0;
	system_id smoke = test_do(world, &create);
	struct command trail = trail_of(system, smoke, 3);
	test_do(world, &trail);
	test_add_particle(world, system, vec3_zero(), vec3_make(6, 0, 0));
	for (uint32_t tick = 1; tick <= 60; tick++) {
		test_step(world, 1);
		uint32_t count = read_all(world, smoke), last = tick - tick % 3;
		/* One is made in every third tick and seen in 16. */
		uint32_t first = tick < 16 ? 3 : 3 * ((tick - 16) / 3 + 1);
		ck_assert_uint_eq(count, last < 3 ? 0 : (last - first) / 3 + 1);
		for (uint32_t i = 0; i < count; i++) {
			ck_assert_double_eq_tol(particles[i].position.x, 0.1 * (first + 3 * i),
						1e-12);
			ck_assert(vec3_equal(particles[i].velocity, vec3_zero()));
		}
	}
	trail.particles_trail.trail = 0;
	test_do(world, &trail);
	ck_assert_uint_eq(test_facts_of(world, system).trail, 0);
	test_step(world, 20);
	ck_assert_uint_eq(read_all(world, smoke), 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(generations_and_systems_that_leave_a_trail_are_chosen)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	struct command create = test_system_command("smoke");
	create.particles_create.size = 0.05;
	system_id smoke = test_do(world, &create);
	struct command trail = trail_of(system, smoke, 1), split = split_of(system, 5, 0, 1);
	trail.particles_trail.depth = 0;
	trail.particles_trail.velocity = 0.5;
	test_do(world, &trail);
	test_do(world, &split);
	test_add_particle(world, system, vec3_zero(), vec3_make(2, 0, 0));
	test_step(world, 10);
	ck_assert_uint_eq(read_all(world, system), 6);
	ck_assert_uint_eq(read_all(world, smoke), 10);
	for (uint32_t i = 0; i < 10; i++) {
		ck_assert_double_eq(particles[i].radius, 0.025);
		ck_assert_double_eq(particles[i].velocity.x, 1);
	}
	/* With the trail's system the trail goes. */
	struct command remove = test_command(COMMAND_PARTICLES_REMOVE);
	remove.particles_remove.system = smoke;
	test_do(world, &remove);
	ck_assert_uint_eq(test_facts_of(world, system).trail, 0);
	test_step(world, 3);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(commands_that_make_no_sense_are_refused)
{
	system_id system;
	struct world *world = make_world(&system, 0);
	uint64_t before = test_hash(world);
	struct command trail = trail_of(system, system, 1), split = split_of(system, 2, 1, 1);
	ck_assert_int_eq(test_try(world, &trail), STATUS_RANGE);
	trail.particles_trail.trail = 99;
	ck_assert_int_eq(test_try(world, &trail), STATUS_UNKNOWN_PARTICLES);
	split.particles_split.number_deviation = 3;
	ck_assert_int_eq(test_try(world, &split), STATUS_RANGE);
	split = split_of(system, 2, 1, 1);
	split.particles_split.size_deviation = 0.75;
	ck_assert_int_eq(test_try(world, &split), STATUS_RANGE);
	split = split_of(system, 2, 1, 0);
	ck_assert_int_eq(test_try(world, &split), STATUS_RANGE);
	split = split_of(7, 2, 1, 1);
	ck_assert_int_eq(test_try(world, &split), STATUS_UNKNOWN_PARTICLES);
	ck_assert_uint_eq(test_hash(world), before);
	world_destroy(world);
}
END_TEST

/* ---- distributions -------------------------------------------------------------------------------- */

/* χ² of the sizes against the normal distribution that is cut at three standard deviations, in 24 classes: 23
 * degrees of freedom, so that 1 of 10^6 seeds would exceed 71.8. */
START_TEST(sizes_are_distributed_as_a_cut_normal)
{
	enum { CLASSES = 24, DRAWS = 50000 };
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	struct command_PARTICLES_CREATE *system = &create.particles_create;
	system->emitter = EMITTER_POINT;
	system->rate = system->capacity = DRAWS;
	system->recycle = 0;
	system->size = 4;
	system->size_deviation = 2;
	system->mask = 0;
	system_id id = test_do(world, &create);
	test_step(world, 1);
	uint32_t count = read_all(world, id), found[CLASSES] = { 0 };
	ck_assert_uint_eq(count, DRAWS);
	for (uint32_t i = 0; i < count; i++) {
		double part = (2 * particles[i].radius - 2) / 4 * CLASSES;
		found[part >= CLASSES ? CLASSES - 1 : (uint32_t)part]++;
	}
	double whole = erf(3 / sqrt(2)), sum = 0;
	for (uint32_t i = 0; i < CLASSES; i++) {
		double low = (6.0 * i / CLASSES - 3) / sqrt(2);
		double high = (6.0 * (i + 1) / CLASSES - 3) / sqrt(2);
		double meant = DRAWS * 0.5 * (erf(high) - erf(low)) / whole;
		sum += (found[i] - meant) * (found[i] - meant) / meant;
	}
	ck_assert_double_lt(sum, 71.8);
	world_destroy(world);
}
END_TEST

/* Counts of an emission with a deviation: their mean, and none outside. */
START_TEST(rates_have_their_mean_and_stay_within)
{
	struct world *world = test_world(false, "soft-step");
	struct command create = test_system_command("dust");
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.rate = 20;
	create.particles_create.rate_deviation = 9;
	create.particles_create.capacity = MOST;
	create.particles_create.mask = 0;
	system_id id = test_do(world, &create);
	uint64_t before = 0;
	double squares = 0;
	enum { TICKS = 600 };
	for (uint32_t tick = 0; tick < TICKS; tick++) {
		test_step(world, 1);
		uint64_t born = test_facts_of(world, id).born;
		ck_assert(born - before >= 11 && born - before <= 29);
		squares += pow((double)(born - before) - 20, 2) / TICKS;
		before = born;
	}
	/* σ = 3, cut, and rounded to whole numbers: a variance of 9 · 0.9733 + 1/12. */
	ck_assert_double_eq_tol((double)before / TICKS, 20, 4 * 3 / sqrt(TICKS));
	ck_assert_double_eq_tol(squares, 9 * 0.9733 + 1.0 / 12, 2);
	world_destroy(world);
}
END_TEST

/* ---- bits ----------------------------------------------------------------------------------------- */

/* Shells that burst into sparks with trails, over the ground. */
static struct world *make_show(void)
{
	struct world *world = test_world(false, "soft-step");
	test_ground(world);
	struct command create = test_system_command("shells");
	create.particles_create.emitter = EMITTER_POINT;
	create.particles_create.position = vec3_make(0, 0.5, 0);
	create.particles_create.rate = 2;
	create.particles_create.delay = 3;
	create.particles_create.speed = 6;
	create.particles_create.spread = 0.3;
	create.particles_create.life = 1;
	system_id shells = test_do(world, &create);
	create = test_system_command("smoke");
	create.particles_create.life = 0.3;
	create.particles_create.life_deviation = 0.2;
	create.particles_create.drag = 1e-3;
	system_id smoke = test_do(world, &create);
	struct command split = split_of(shells, 4, 0.2, 2), trail = trail_of(shells, smoke, 2);
	split.particles_split.age_deviation = 0.1;
	split.particles_split.number_deviation = 2;
	split.particles_split.burst = 2;
	split.particles_split.life = 0.5;
	split.particles_split.spend = 1;
	test_do(world, &split);
	test_do(world, &trail);
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_show, 60);
	ck_assert_uint_gt(world_particle_count(world), 100);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_show();
	test_step(world, 29);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_descent");
	TCase *all = tcase_create("particle_descent");
	tcase_add_test(all, a_particle_splits_into_generations_up_to_the_depth);
	tcase_add_test(all, it_splits_again_after_each_delay_until_it_dies);
	tcase_add_test(all, children_have_shares_of_their_parent);
	tcase_add_test(all, a_burst_is_the_same_in_all_directions);
	tcase_add_test(all, split_ages_are_drawn_for_each_particle);
	tcase_add_test(all, what_a_child_is_does_not_depend_on_others);
	tcase_add_test(all, capacity_bounds_splits_and_the_rest_is_counted);
	tcase_add_test(all, a_child_that_is_larger_than_the_room_is_refused);
	tcase_add_test(all, a_trail_marks_where_a_particle_was_and_vanishes);
	tcase_add_test(all, generations_and_systems_that_leave_a_trail_are_chosen);
	tcase_add_test(all, commands_that_make_no_sense_are_refused);
	tcase_add_test(all, sizes_are_distributed_as_a_cut_normal);
	tcase_add_test(all, rates_have_their_mean_and_stay_within);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
