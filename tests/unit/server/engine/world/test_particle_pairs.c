/* Particles on particles: forces against sums over all pairs, orbits and wells by their order in
 * the step, momentum, collisions, places where too many are at one point, workers (ch1-3 P-08,
 * P-10 … P-13, P-15, P-17, P-18, P-24 … P-26). */
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4096 };
static struct particle_view before[MOST], after[MOST];
static const double DT = 1.0 / 60;

static struct world *empty_world(void)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	return world;
}

static system_id add_system(struct world *world, double mass, double size)
{
	struct command create = test_system_command("gas");
	create.particles_create.mass = mass;
	create.particles_create.size = size;
	create.particles_create.restitution = 1;
	create.particles_create.static_friction = create.particles_create.dynamic_friction = 0;
	return test_do(world, &create);
}

static struct command interact_command(system_id system, double cutoff)
{
	struct command command = test_command(COMMAND_PARTICLES_INTERACT);
	command.particles_interact.system = system;
	command.particles_interact.cutoff = cutoff;
	command.particles_interact.core = 1e-6;
	return command;
}

static vec3 momentum_of(const struct particle_view *items, uint32_t count)
{
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < count; i++)
		sum = vec3_mul_add(sum, items[i].velocity, items[i].mass);
	return sum;
}

static double kinetic_of(const struct particle_view *items, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += 0.5 * items[i].mass * vec3_length_squared(items[i].velocity);
	return sum;
}

static vec3 draw(struct rng *rng, double half)
{
	double x = rng_range(rng, -half, half), y = rng_range(rng, -half, half);
	return vec3_make(x, y, rng_range(rng, -half, half));
}

/* ---- forces -------------------------------------------------------------------------------------- */

struct cloud {
	struct world *world;
	system_id system[2];
};

enum { EACH = 300 };

/* Two kinds of particles with all forces, in a cube; some overlap. */
static struct cloud make_cloud(double cutoff, uint32_t substeps)
{
	struct cloud cloud = { .world = empty_world() };
	struct rng rng = rng_seeded(7);
	for (uint32_t k = 0; k < 2; k++) {
		cloud.system[k] = add_system(cloud.world, k == 0 ? 1 : 3, 0.1);
		struct command set = interact_command(cloud.system[k], cutoff);
		set.particles_interact.forces = INTERACT_BOTH;
		set.particles_interact.core = 0.05;
		set.particles_interact.substeps = substeps;
		set.particles_interact.charge = k == 0 ? 1e-6 : -2e-6;
		set.particles_interact.gravitation = k == 0 ? 1e-3 : 4e-3;
		set.particles_interact.well_depth = k == 0 ? 1e-4 : 4e-4;
		set.particles_interact.well_distance = k == 0 ? 0.06 : 0.1;
		set.particles_interact.repulsion = k == 0 ? 10 : 30;
		set.particles_interact.repulsion_damping = 0.2;
		test_do(cloud.world, &set);
		for (uint32_t i = 0; i < EACH; i++) {
			vec3 at = draw(&rng, 1);
			test_add_particle(cloud.world, cloud.system[k], at, draw(&rng, 0.1));
		}
	}
	return cloud;
}

static void read_cloud(const struct cloud *cloud, struct particle_view *out)
{
	for (uint32_t k = 0; k < 2; k++)
		ck_assert_uint_eq(
			world_particles(cloud->world, cloud->system[k], 0, out + k * EACH, EACH),
			EACH);
}

/* The force on i by k as the formulas of P-08 and P-10 … P-12 say, written anew. */
static vec3 expected_force(uint32_t i, uint32_t k, double cutoff)
{
	const struct particle_view *a = &before[i], *b = &before[k];
	bool one = i < EACH, other = k < EACH;
	vec3 pa = vec3_mul_add(a->position, a->velocity, 0.5 * DT);
	vec3 pb = vec3_mul_add(b->position, b->velocity, 0.5 * DT);
	vec3 d = vec3_sub(pa, pb);
	double length = vec3_length(d), r = fmax(length, 0.05);
	if (length > cutoff)
		return vec3_zero();
	double charges = (one ? 1e-6 : -2e-6) * (other ? 1e-6 : -2e-6);
	double g = one == other ? (one ? 1e-3 : 4e-3) : 2e-3;
	double depth = one == other ? (one ? 1e-4 : 4e-4) : 2e-4;
	double sigma = one == other ? (one ? 0.06 : 0.1) : 0.08;
	double stiff = one == other ? (one ? 10 : 30) : 20;
	double f = (8.9875e9 * charges - g * a->mass * b->mass) / pow(r, 3);
	f += 24 * depth / (r * r) * (2 * pow(sigma / r, 12) - pow(sigma / r, 6));
	if (length < 0.1) {
		double c = 2 * 0.2 * sqrt(stiff * a->mass * b->mass / (a->mass + b->mass));
		double parting = vec3_dot(d, vec3_sub(a->velocity, b->velocity)) / length;
		f += fmax(0, stiff * (0.1 - length) - c * parting) / length;
	}
	return vec3_scale(d, f);
}

START_TEST(forces_are_those_of_all_pairs_within_the_cutoff)
{
	static const double CUTOFFS[] = { 0.05, 0.3, 5 };
	for (uint32_t c = 0; c < COUNT_OF(CUTOFFS); c++) {
		struct cloud cloud = make_cloud(CUTOFFS[c], 1);
		double largest = 0;
		read_cloud(&cloud, before);
		test_step(cloud.world, 1);
		read_cloud(&cloud, after);
		for (uint32_t i = 0; i < 2 * EACH; i++) {
			vec3 sum = vec3_zero();
			for (uint32_t k = 0; k < 2 * EACH; k++)
				if (k != i)
					sum = vec3_add(sum, expected_force(i, k, CUTOFFS[c]));
			vec3 gain = vec3_sub(after[i].velocity, before[i].velocity);
			double size = DT / before[i].mass;
			largest = fmax(largest, vec3_length(gain));
			ck_assert_double_le(vec3_distance(gain, vec3_scale(sum, size)),
					    1e-11 * (1 + size * vec3_length(sum)));
		}
		ck_assert_double_gt(largest, 1e-3);
		test_check(cloud.world);
		world_destroy(cloud.world);
	}
}
END_TEST

START_TEST(forces_and_collisions_keep_momentum)
{
	struct cloud cloud = make_cloud(0.4, 3);
	for (uint32_t k = 0; k < 2; k++) {
		struct command set = interact_command(cloud.system[k], 0.4);
		set.particles_interact.forces = set.particles_interact.collisions = INTERACT_BOTH;
		set.particles_interact.core = 0.05;
		set.particles_interact.charge = k == 0 ? 1e-6 : -2e-6;
		test_do(cloud.world, &set);
	}
	read_cloud(&cloud, before);
	test_step(cloud.world, 120);
	read_cloud(&cloud, after);
	ck_assert_double_gt(fabs(kinetic_of(after, 2 * EACH) - kinetic_of(before, 2 * EACH)), 0.1);
	/* 1e-12 of the momenta's sum of sizes, some 1e2. */
	expect_near(momentum_of(after, 2 * EACH), momentum_of(before, 2 * EACH), 1e-10);
	test_check(cloud.world);
	world_destroy(cloud.world);
}
END_TEST

START_TEST(forces_are_internal_external_or_both)
{
	for (uint8_t forces = INTERACT_NONE; forces <= INTERACT_BOTH; forces++) {
		struct world *world = empty_world();
		system_id system[2];
		for (uint32_t k = 0; k < 2; k++) {
			system[k] = add_system(world, 1, 0.01);
			struct command set = interact_command(system[k], 10);
			set.particles_interact.forces = forces;
			set.particles_interact.gravitation = 1;
			test_do(world, &set);
		}
		test_add_particle(world, system[0], vec3_zero(), vec3_zero());
		test_add_particle(world, system[0], vec3_make(1, 0, 0), vec3_zero());
		test_add_particle(world, system[1], vec3_make(0, 1, 0), vec3_zero());
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, system[0], 0, after, MOST), 2);
		vec3 v = after[0].velocity;
		ck_assert_double_eq_tol(v.x, forces & INTERACT_INTERNAL ? DT : 0, 1e-15);
		ck_assert_double_eq_tol(v.y, forces & INTERACT_EXTERNAL ? DT : 0, 1e-15);
		world_destroy(world);
	}
}
END_TEST

/* Two masses of 1 kg, 2 m apart, in circles about their middle, v² = G m / (4 r). Returns the place of one
 * after a turn, off its beginning. */
static double orbit_error(uint32_t substeps, bool charged)
{
	struct world *world = empty_world();
	system_id system[2];
	/* K q² = G m² = 4: v = 1, and a turn takes 2π s. */
	for (uint32_t k = 0; k < 2; k++) {
		system[k] = add_system(world, 1, 0.01);
		struct command set = interact_command(system[k], 10);
		set.particles_interact.forces = INTERACT_EXTERNAL;
		set.particles_interact.substeps = substeps;
		if (charged)
			set.particles_interact.charge = (k == 0 ? 1 : -1) * sqrt(4 / 8.9875e9);
		else
			set.particles_interact.gravitation = 4;
		test_do(world, &set);
		double side = k == 0 ? 1 : -1;
		test_add_particle(world, system[k], vec3_make(side, 0, 0), vec3_make(0, side, 0));
	}
	const uint32_t ticks = 377; /* 2π s and 1.05 ms more */
	test_step(world, ticks);
	ck_assert_uint_eq(world_particles(world, system[0], 0, after, 1), 1);
	double angle = ticks * DT;
	vec3 right = vec3_make(cos(angle), sin(angle), 0);
	double error = vec3_distance(after[0].position, right);
	world_destroy(world);
	return error;
}

START_TEST(orbits_of_masses_and_charges_converge_with_the_square_of_the_step)
{
	for (uint32_t charged = 0; charged < 2; charged++) {
		double coarse = orbit_error(1, charged != 0), fine = orbit_error(4, charged != 0);
		ck_assert_double_lt(coarse, 2e-3);
		ck_assert_double_gt(coarse / fine, 14);
		ck_assert_double_lt(coarse / fine, 18);
	}
}
END_TEST

/* The largest error of the energy of two particles in a Lennard-Jones well, of its depth. */
static double well_drift(uint32_t substeps)
{
	struct world *world = empty_world();
	system_id system = add_system(world, 1, 0.01);
	struct command set = interact_command(system, 100);
	set.particles_interact.well_depth = 0.01;
	set.particles_interact.well_distance = 0.5;
	set.particles_interact.substeps = substeps;
	test_do(world, &set);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_make(0.7, 0, 0), vec3_zero());
	double first = 0, worst = 0;
	for (uint32_t tick = 0; tick <= 3000; tick++) {
		ck_assert_uint_eq(world_particles(world, system, 0, after, 2), 2);
		double s = 0.5 / vec3_distance(after[0].position, after[1].position);
		double energy = kinetic_of(after, 2) + 4 * 0.01 * (pow(s, 12) - pow(s, 6));
		first = tick == 0 ? energy : first;
		worst = fmax(worst, fabs(energy - first) / 0.01);
		test_step(world, 1);
	}
	world_destroy(world);
	return worst;
}

/* P-11: the energy's error does not grow, and falls with the square of the step. */
START_TEST(the_energy_in_a_well_is_kept_to_the_square_of_the_step)
{
	double coarse = well_drift(1), fine = well_drift(4);
	ck_assert_double_lt(coarse, 0.01);
	ck_assert_double_gt(coarse / fine, 14);
	ck_assert_double_lt(coarse / fine, 18);
}
END_TEST

START_TEST(more_at_one_point_than_a_search_looks_at_are_counted_and_stay)
{
	struct world *world = empty_world();
	system_id system = add_system(world, 1, 0.1);
	struct command set = interact_command(system, 0.5);
	set.particles_interact.gravitation = 1e-6;
	set.particles_interact.collisions = INTERACT_INTERNAL;
	test_do(world, &set);
	for (uint32_t i = 0; i < 700; i++)
		test_add_particle(world, system, vec3_make(1, 2, 3), vec3_zero());
	test_step(world, 2);
	struct system_view view[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, view), 1);
	ck_assert_uint_ge(view[0].crowded, 2 * (700 - 512));
	ck_assert_uint_eq(world_particles(world, system, 0, after, MOST), 700);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- collisions ---------------------------------------------------------------------------------- */

static struct world *two_balls(double masses[2], double restitution, system_id system[2])
{
	struct world *world = empty_world();
	for (uint32_t k = 0; k < 2; k++) {
		struct command create = test_system_command("ball");
		create.particles_create.mass = masses[k];
		create.particles_create.size = 0.2;
		create.particles_create.restitution = restitution;
		create.particles_create.static_friction = create.particles_create.dynamic_friction =
			0;
		system[k] = test_do(world, &create);
		struct command set = interact_command(system[k], 0);
		set.particles_interact.forces = INTERACT_NONE;
		set.particles_interact.collisions = INTERACT_BOTH;
		test_do(world, &set);
	}
	return world;
}

/* Along a line, and fast enough to pass each other within a tick if they were not swept. */
START_TEST(two_balls_part_by_the_coefficient_of_restitution)
{
	static const double SPEEDS[] = { 2, 40, 900 };
	for (uint32_t k = 0; k < 3 * COUNT_OF(SPEEDS); k++) {
		double e = 0.5 * (k % 3), u = SPEEDS[k / 3], masses[2] = { 2, 0.5 };
		system_id system[2];
		struct world *world = two_balls(masses, e, system);
		test_add_particle(world, system[0], vec3_zero(), vec3_make(u, 0, 0));
		test_add_particle(world, system[1], vec3_make(1, 0, 0), vec3_zero());
		test_step(world, 60);
		ck_assert_uint_eq(world_particles(world, system[0], 0, after, 1), 1);
		ck_assert_uint_eq(world_particles(world, system[1], 0, after + 1, 1), 1);
		double mean = u * 2 / 2.5, t = 1 - 0.8 / u;
		double first = mean - e * u * 0.5 / 2.5, second = mean + e * u * 2 / 2.5;
		ck_assert_double_eq_tol(after[0].velocity.x, first, 1e-12 * u);
		ck_assert_double_eq_tol(after[1].velocity.x, second, 1e-12 * u);
		ck_assert_double_eq_tol(after[0].position.x, 0.8 + first * t, 1e-10 * u);
		ck_assert_double_eq_tol(after[1].position.x, 1 + second * t, 1e-10 * u);
		world_destroy(world);
	}
}
END_TEST

/* Impacts of any speed bounce. */
static void bounce_always(struct world *world)
{
	struct command set = test_command(COMMAND_PARAMETER);
	set.parameter.name = test_text("restitution.speed");
	set.parameter.value = 0;
	test_do(world, &set);
}

/* A gas of hard balls: energy and momentum are kept, and no two overlap by more than rounding. */
START_TEST(a_gas_of_hard_balls_keeps_energy_and_momentum_and_does_not_overlap)
{
	struct world *world = empty_world();
	bounce_always(world);
	system_id system = add_system(world, 0.5, 0.12);
	struct command set = interact_command(system, 0);
	set.particles_interact.forces = INTERACT_NONE;
	set.particles_interact.collisions = INTERACT_INTERNAL;
	test_do(world, &set);
	struct rng rng = rng_seeded(3);
	const uint32_t side = 7, count = side * side * side;
	for (uint32_t i = 0; i < count; i++) {
		vec3 cell = vec3_make(i % side, i / side % side, i / side / side);
		vec3 at = vec3_scale(cell, 0.2);
		/* Towards the middle, so that they meet. */
		vec3 in = vec3_scale(vec3_sub(vec3_all(0.6), at), 3);
		test_add_particle(world, system, at, vec3_add(in, draw(&rng, 2)));
	}
	ck_assert_uint_eq(world_particles(world, system, 0, before, MOST), count);
	uint32_t changed = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, system, 0, after, MOST), count);
		double nearest = 1;
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < i; k++)
				nearest = fmin(nearest,
					       vec3_distance(after[i].position, after[k].position));
		ck_assert_double_ge(nearest, 0.12 * (1 - 1e-9));
	}
	struct system_view view[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, view), 1);
	ck_assert_uint_eq(view[0].cut, 0);
	for (uint32_t i = 0; i < count; i++)
		changed += vec3_distance(after[i].velocity, before[i].velocity) > 0.1;
	ck_assert_uint_gt(changed, count / 3);
	ck_assert_double_eq_tol(kinetic_of(after, count) / kinetic_of(before, count), 1, 1e-12);
	expect_near(momentum_of(after, count), momentum_of(before, count), 1e-11);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- others -------------------------------------------------------------------------------------- */

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	uint64_t hash = 0;
	for (uint32_t workers = 1; workers <= 4; workers++) {
		struct cloud cloud = make_cloud(0.3, 2);
		struct command set = interact_command(cloud.system[0], 0.3);
		set.particles_interact.gravitation = 1;
		set.particles_interact.collisions = INTERACT_INTERNAL;
		test_do(cloud.world, &set);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < 30; tick++)
			ck_assert_int_eq(world_step(cloud.world, parallel, NULL), STATUS_OK);
		parallel_threads_destroy(parallel);
		uint64_t now = test_hash(cloud.world);
		ck_assert(workers == 1 || now == hash);
		hash = now;
		world_destroy(cloud.world);
	}
}
END_TEST

START_TEST(wrong_numbers_are_refused_and_change_nothing)
{
	struct world *world = empty_world();
	system_id system = add_system(world, 1, 0.1);
	uint64_t hash = test_hash(world);
	struct command set = interact_command(system, 1);
	set.particles_interact.well_depth = 1;
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set = interact_command(system, -1);
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set = interact_command(system, NAN);
	ck_assert_int_ne(test_try(world, &set), STATUS_OK);
	set = interact_command(system, 1);
	set.particles_interact.substeps = 0;
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set = interact_command(system + 1, 1);
	ck_assert_int_ne(test_try(world, &set), STATUS_OK);
	ck_assert_uint_eq(test_hash(world), hash);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_pairs");
	TCase *all = tcase_create("pairs");
	tcase_add_test(all, forces_are_those_of_all_pairs_within_the_cutoff);
	tcase_add_test(all, forces_and_collisions_keep_momentum);
	tcase_add_test(all, forces_are_internal_external_or_both);
	tcase_add_test(all, orbits_of_masses_and_charges_converge_with_the_square_of_the_step);
	tcase_add_test(all, the_energy_in_a_well_is_kept_to_the_square_of_the_step);
	tcase_add_test(all, more_at_one_point_than_a_search_looks_at_are_counted_and_stay);
	tcase_add_test(all, two_balls_part_by_the_coefficient_of_restitution);
	tcase_add_test(all, a_gas_of_hard_balls_keeps_energy_and_momentum_and_does_not_overlap);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, wrong_numbers_are_refused_and_change_nothing);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
