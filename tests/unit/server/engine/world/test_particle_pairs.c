/* Particles among themselves: forces against formulas, potentials and brute force, orbits, drift
 * and its order, momentum; collisions against formulas; and that workers, images and rollbacks
 * change no bit (ch1-3 P-04, P-08, P-10 … P-13, P-15, P-17, P-18, P-24 … P-26). */
#include "server/base/processor.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/poses.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 4000 };
static struct particle_view particles[MOST];

static system_id make_system(struct world *world, double size, double mass, double restitution,
			     double friction)
{
	struct command command = test_system_command("gas");
	command.particles_create.size = size;
	command.particles_create.mass = mass;
	command.particles_create.restitution = restitution;
	command.particles_create.static_friction = friction;
	command.particles_create.dynamic_friction = friction;
	return test_do(world, &command);
}

static struct command interact(system_id system, double cutoff)
{
	struct command command = test_command(COMMAND_PARTICLES_INTERACT);
	command.particles_interact.system = system;
	command.particles_interact.cutoff = cutoff;
	return command;
}

static struct command collide(system_id system, enum interact with)
{
	struct command command = interact(system, 0);
	command.particles_interact.forces = INTERACT_NONE;
	command.particles_interact.collisions = (uint8_t)with;
	return command;
}

static struct particle_view nth(const struct world *world, system_id system, uint32_t index)
{
	ck_assert_uint_gt(world_particles(world, system, 0, particles, MOST), index);
	return particles[index];
}

/* ---- forces of one pair -------------------------------------------------------------------------- */

/* The force on the first of two particles of 1 kg, `apart` along x, from its change of velocity in a
 * tick in which it hardly moves. */
static double force_at(double apart, struct command set, double mass)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = 10000;
	struct world *world = test_world_of(&options);
	test_no_gravity(world);
	set.particles_interact.system = make_system(world, 1e-3, mass, 0, 0);
	test_add_particle(world, (system_id)set.particles_interact.system, vec3_zero(),
			  vec3_zero());
	test_add_particle(world, (system_id)set.particles_interact.system, vec3_make(apart, 0, 0),
			  vec3_zero());
	test_do(world, &set);
	test_step(world, 1);
	double v = nth(world, (system_id)set.particles_interact.system, 0).velocity.x;
	ck_assert_double_eq(particles[1].velocity.x, -v);
	world_destroy(world);
	return v * mass * 10000;
}

/* P-10, P-11, P-12: the printed examples. */
START_TEST(forces_of_a_pair_are_those_of_their_formulas)
{
	struct command newton = interact(0, 2), well = interact(0, 10), coulomb = interact(0, 10);
	newton.particles_interact.gravitation = 6.672e-11;
	ck_assert_double_eq_tol(force_at(1, newton, 1000), 6.672e-5, 1e-12);
	coulomb.particles_interact.charge = 1e-6;
	ck_assert_double_eq_tol(force_at(0.1, coulomb, 1), -0.89875, 1e-12);
	coulomb.particles_interact.charge = -1e-6;
	ck_assert_double_eq_tol(force_at(0.1, coulomb, 1), -0.89875, 1e-12);
	well.particles_interact.well_depth = 1;
	well.particles_interact.well_distance = 1;
	ck_assert_double_eq_tol(force_at(1, well, 1), -24, 1e-12 * 24);
	ck_assert_double_eq_tol(force_at(1.1224620483093730, well, 1), 0, 1e-12);
	ck_assert_double_gt(force_at(1.5, well, 1), 0);
	for (double r = 0.9; r < 3; r += 0.1) { /* −dV/dr, V = 4 (r^−12 − r^−6) */
		double e = 1e-4, v[2];
		for (int k = 0; k < 2; k++) {
			double s = pow(r + (k == 0 ? -e : e), -6);
			v[k] = 4 * (s * s - s);
		}
		double slope = (v[1] - v[0]) / (2 * e);
		ck_assert_double_eq_tol(force_at(r, well, 1), slope, 1e-4 * (1 + fabs(slope)));
	}
}
END_TEST

START_TEST(opposite_charges_of_two_systems_attract_if_both_say_external)
{
	for (uint8_t second = 0; second <= INTERACT_BOTH; second++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id a = make_system(world, 1e-3, 1, 0, 0);
		system_id b = make_system(world, 1e-3, 2, 0, 0);
		struct command set = interact(a, 1);
		set.particles_interact.forces = INTERACT_EXTERNAL;
		set.particles_interact.charge = 1e-6;
		test_do(world, &set);
		set.particles_interact.system = b;
		set.particles_interact.forces = second;
		set.particles_interact.charge = -2e-6;
		test_do(world, &set);
		test_add_particle(world, a, vec3_zero(), vec3_zero());
		test_add_particle(world, b, vec3_make(0, 0.1, 0), vec3_zero());
		test_step(world, 1);
		double v = nth(world, a, 0).velocity.y, expected = 8.9875e9 * 2e-12 / 0.01 / 60;
		bool felt = (second & INTERACT_EXTERNAL) != 0;
		ck_assert_double_eq_tol(v, felt ? expected : 0, 1e-12);
		ck_assert_double_eq_tol(nth(world, b, 0).velocity.y, -0.5 * v, 1e-15);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* P-13: the cutoff reaches over borders of cells, and no farther. */
START_TEST(the_cutoff_is_a_distance_and_not_a_cell)
{
	struct command set = interact(0, 0.5);
	set.particles_interact.charge = 1e-6;
	ck_assert_double_lt(force_at(0.25, set, 1), 0);
	ck_assert_double_lt(force_at(0.4999, set, 1), 0);
	ck_assert_double_eq(force_at(0.505, set, 1), 0);
	set.particles_interact.cutoff = 0;
	ck_assert_double_eq(force_at(0.25, set, 1), 0);
}
END_TEST

/* ---- many ---------------------------------------------------------------------------------------- */

/* A cloud of soft charged balls that attract each other, of two systems. */
static struct world *cloud(system_id out[2], uint32_t each, enum interact collisions)
{
	struct world *world = test_world(false, "soft-step");
	struct rng rng = rng_seeded(11);
	test_no_gravity(world);
	for (uint32_t k = 0; k < 2; k++) {
		out[k] = make_system(world, 0.1, 0.5 + k, 0.8, 0.2);
		struct command set = interact(out[k], 0.45);
		set.particles_interact.forces = INTERACT_BOTH;
		set.particles_interact.collisions = (uint8_t)collisions;
		set.particles_interact.charge = k == 0 ? 2e-7 : -3e-7;
		set.particles_interact.gravitation = 0.01;
		set.particles_interact.core = 0.02;
		set.particles_interact.repulsion = 50;
		set.particles_interact.repulsion_damping = 0.1;
		set.particles_interact.substeps = 2;
		test_do(world, &set);
		for (uint32_t i = 0; i < each; i++)
			test_add_particle(world, out[k], random_vector(&rng, 1),
					  random_vector(&rng, 1));
	}
	return world;
}

static vec3 momentum_of(const struct world *world, const system_id systems[2], double *size)
{
	vec3 sum = vec3_zero();
	*size = 0;
	for (uint32_t k = 0; k < 2; k++) {
		uint32_t count = world_particles(world, systems[k], 0, particles, MOST);
		for (uint32_t i = 0; i < count; i++) {
			sum = vec3_mul_add(sum, particles[i].velocity, particles[i].mass);
			*size += particles[i].mass * vec3_length(particles[i].velocity);
		}
	}
	return sum;
}

START_TEST(momentum_is_kept_to_rounding)
{
	for (uint32_t with = 0; with < 2; with++) {
		system_id systems[2];
		struct world *world =
			cloud(systems, 150, with == 0 ? INTERACT_NONE : INTERACT_BOTH);
		double size;
		vec3 before = momentum_of(world, systems, &size);
		test_step(world, 120);
		vec3 after = momentum_of(world, systems, &size);
		ck_assert_double_lt(vec3_distance(before, after), 1e-12 * size);
		test_check(world);
		world_destroy(world);
	}
}
END_TEST

/* Each system's accelerations of one tick are the sums over all pairs within the cutoff. */
START_TEST(cells_find_what_brute_force_finds)
{
	struct world *world = test_world(false, "soft-step");
	static vec3 at[400];
	struct rng rng = rng_seeded(5);
	test_no_gravity(world);
	system_id system = make_system(world, 0.01, 1, 0, 0);
	struct command set = interact(system, 0.4);
	set.particles_interact.gravitation = 1;
	test_do(world, &set);
	for (uint32_t i = 0; i < COUNT_OF(at); i++) {
		/* Some in one cell, some far out, and some at the same point. */
		at[i] = i % 50 == 1 ? at[i - 1] : random_vector(&rng, i % 7 == 0 ? 90000 : 1);
		test_add_particle(world, system, at[i], vec3_zero());
	}
	test_step(world, 1);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), COUNT_OF(at));
	for (uint32_t i = 0; i < COUNT_OF(at); i++) {
		vec3 sum = vec3_zero();
		for (uint32_t k = 0; k < COUNT_OF(at); k++) {
			vec3 d = vec3_sub(at[k], at[i]);
			double r = fmax(vec3_length(d), PARTICLE_CORE);
			if (vec3_length(d) <= 0.4)
				sum = vec3_mul_add(sum, d, 1 / (r * r * r * 60));
		}
		ck_assert_double_lt(vec3_distance(particles[i].velocity, sum),
				    1e-11 * (1 + vec3_length(sum)));
	}
	world_destroy(world);
}
END_TEST

/* Adding one velocity to all particles adds it to all results. */
START_TEST(a_common_velocity_changes_nothing_else)
{
	struct world *worlds[2];
	system_id system = 0;
	vec3 common = vec3_make(3, -2, 1);
	for (uint32_t k = 0; k < 2; k++) {
		struct rng rng = rng_seeded(3);
		worlds[k] = test_world(false, "soft-step");
		test_no_gravity(worlds[k]);
		system = make_system(worlds[k], 0.2, 1, 0.9, 0.3);
		struct command set = interact(system, 0.5);
		set.particles_interact.collisions = INTERACT_INTERNAL;
		set.particles_interact.gravitation = 0.1;
		set.particles_interact.core = 0.1;
		test_do(worlds[k], &set);
		for (uint32_t i = 0; i < 20; i++) {
			vec3 at = random_vector(&rng, 0.6), v = random_vector(&rng, 1);
			test_add_particle(worlds[k], system, at, vec3_mul_add(v, common, k));
		}
		test_step(worlds[k], 12);
	}
	static struct particle_view moved[MOST];
	uint32_t count = world_particles(worlds[1], system, 0, moved, MOST);
	ck_assert_uint_eq(world_particles(worlds[0], system, 0, particles, MOST), count);
	for (uint32_t i = 0; i < count; i++) {
		vec3 v = vec3_sub(moved[i].velocity, common);
		vec3 x = vec3_mul_sub(moved[i].position, common, 12 / 60.0);
		ck_assert_double_lt(vec3_distance(v, particles[i].velocity), 1e-9);
		ck_assert_double_lt(vec3_distance(x, particles[i].position), 1e-9);
	}
	world_destroy(worlds[0]);
	world_destroy(worlds[1]);
}
END_TEST

/* ---- long runs ----------------------------------------------------------------------------------- */

/* Two bodies of 1 kg at ±1 m with G = 1 m³/(kg s²): a circle of radius 1 at 0.5 m/s. */
START_TEST(a_circular_orbit_stays_one_and_its_period_converges)
{
	double errors[2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id system = make_system(world, 0.1, 1, 0, 0);
		struct command set = interact(system, 10);
		set.particles_interact.gravitation = 1;
		set.particles_interact.substeps = k == 0 ? 1 : 2;
		test_do(world, &set);
		test_add_particle(world, system, vec3_make(1, 0, 0), vec3_make(0, 0.5, 0));
		test_add_particle(world, system, vec3_make(-1, 0, 0), vec3_make(0, -0.5, 0));
		test_step(world, 7200); /* 120 s, 9.5 turns */
		vec3 p = nth(world, system, 0).position;
		ck_assert_double_eq_tol(vec3_length(p), 1, 1e-4);
		errors[k] = hypot(p.x - cos(60.0), p.y - sin(60.0));
		world_destroy(world);
	}
	ck_assert_double_lt(errors[0], 2e-3);
	ck_assert_double_eq_tol(errors[0] / errors[1], 4, 0.2); /* second order */
}
END_TEST

/* P-12: K q² / (4 m R³) = w² with opposite charges of equal masses. */
START_TEST(opposite_charges_orbit)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id a = make_system(world, 0.1, 1, 0, 0), b = make_system(world, 0.1, 1, 0, 0);
	double charge = 2 / sqrt(8.9875e9); /* K q² = 4 N m² */
	for (uint32_t k = 0; k < 2; k++) {
		struct command set = interact(k == 0 ? a : b, 10);
		set.particles_interact.forces = INTERACT_EXTERNAL;
		set.particles_interact.charge = k == 0 ? charge : -charge;
		set.particles_interact.substeps = 8;
		test_do(world, &set);
		test_add_particle(world, k == 0 ? a : b, vec3_make(k == 0 ? 1 : -1, 0, 0),
				  vec3_make(0, k == 0 ? 1 : -1, 0));
	}
	test_step(world, 3600); /* 9.5 turns of 2 π s */
	vec3 p = nth(world, a, 0).position;
	ck_assert_double_lt(hypot(p.x - cos(60.0), p.y - sin(60.0)), 1e-3);
	world_destroy(world);
}
END_TEST

/* The largest relative change of the energy of two bound particles in the Lennard-Jones well. */
static double drift(uint32_t substeps)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id system = make_system(world, 0.1, 1, 0, 0);
	struct command set = interact(system, 10);
	set.particles_interact.well_depth = set.particles_interact.well_distance = 1;
	set.particles_interact.substeps = substeps;
	test_do(world, &set);
	test_add_particle(world, system, vec3_zero(), vec3_zero());
	test_add_particle(world, system, vec3_make(1.3, 0, 0), vec3_zero());
	double first = 0, worst = 0;
	for (uint32_t tick = 0; tick < 3000; tick++) {
		world_particles(world, system, 0, particles, MOST);
		double r = vec3_distance(particles[0].position, particles[1].position);
		double s = pow(r, -6), v = vec3_length_squared(particles[0].velocity);
		double energy = 4 * (s * s - s) + v;
		first = tick == 0 ? energy : first;
		worst = fmax(worst, fabs(energy - first));
		test_step(world, 1);
	}
	world_destroy(world);
	return worst;
}

START_TEST(energy_in_a_well_is_kept_with_second_order_and_does_not_drift)
{
	double one = drift(1), two = drift(2), four = drift(4);
	ck_assert_double_lt(one, 0.1);
	ck_assert_double_eq_tol(one / two, 4, 0.8);
	ck_assert_double_eq_tol(two / four, 4, 0.4);
}
END_TEST

/* P-08: overlapping balls of masses 1 and 3 kg, k = 12 N/m: a half period of π/4 s; with
 * critical damping they part when the spring would pull, after 2/w, with 1/e² of their speed. */
START_TEST(repulsion_is_a_spring_with_a_damping_ratio)
{
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id a = make_system(world, 1, 1, 0, 0), b = make_system(world, 1, 3, 0, 0);
		for (uint32_t i = 0; i < 2; i++) {
			struct command set = interact(i == 0 ? a : b, 2);
			set.particles_interact.forces = INTERACT_EXTERNAL;
			set.particles_interact.repulsion = 12;
			set.particles_interact.repulsion_damping = k;
			set.particles_interact.substeps = 32;
			test_do(world, &set);
		}
		test_add_particle(world, a, vec3_zero(), vec3_make(0.3, 0, 0));
		test_add_particle(world, b, vec3_make(1, 0, 0), vec3_make(-0.1, 0, 0));
		double t = 27 / 60.0, w = 4;
		test_step(world, 27);
		double gap = nth(world, b, 0).position.x - nth(world, a, 0).position.x - 1;
		double expected = k == 0 ? -0.4 * sin(w * t) / w : -0.4 * t * exp(-w * t);
		ck_assert_double_eq_tol(gap, expected, 1e-3);
		test_step(world, 60);
		double parting = nth(world, b, 0).velocity.x - nth(world, a, 0).velocity.x;
		ck_assert_double_eq_tol(parting, k == 0 ? 0.4 : 0.4 * exp(-2), 1e-3);
		world_destroy(world);
	}
}
END_TEST

/* ---- collisions ---------------------------------------------------------------------------------- */

/* P-25, P-26: masses 2 and 3 kg meet along x; the printed results. */
START_TEST(one_collision_gives_the_printed_velocities)
{
	const double frictions[] = { 0, 0.1, 0.3 };
	const double across[][2] = { { 1, 0 }, { 0.64, 0.24 }, { 0.4, 0.4 } };
	for (uint32_t k = 0; k < COUNT_OF(frictions); k++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id a = make_system(world, 0.2, 2, 0.5, frictions[k]);
		system_id b = make_system(world, 0.2, 3, 0.5, frictions[k]);
		struct command set = collide(a, INTERACT_EXTERNAL);
		test_do(world, &set);
		set = collide(b, INTERACT_EXTERNAL);
		test_do(world, &set);
		/* They touch in the middle of the tick, one beside the other along x. */
		double h = 1 / 60.0;
		test_add_particle(world, a, vec3_make(0.2 + 1.5 * h, -0.5 * h, 0),
				  vec3_make(-3, 1, 0));
		test_add_particle(world, b, vec3_make(-0.5 * h, 0, 0), vec3_make(1, 0, 0));
		test_step(world, 1);
		vec3 v1 = nth(world, a, 0).velocity, x1 = particles[0].position;
		vec3 v2 = nth(world, b, 0).velocity;
		expect_near(v1, vec3_make(0.6, across[k][0], 0), 1e-12);
		expect_near(v2, vec3_make(-1.4, across[k][1], 0), 1e-12);
		expect_near(x1, vec3_make(0.2 + 0.3 * h, 0.5 * h * across[k][0], 0), 1e-12);
		world_destroy(world);
	}
}
END_TEST

/* P-15, P-18: each flag off lets its class pass. */
START_TEST(classes_of_collisions_are_switched_one_by_one)
{
	for (uint8_t with = 0; with <= INTERACT_BOTH; with++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id a = make_system(world, 0.2, 1, 1, 0),
			  b = make_system(world, 0.2, 1, 1, 0);
		struct command set = collide(a, with);
		test_do(world, &set);
		set = collide(b, INTERACT_BOTH);
		test_do(world, &set);
		test_add_particle(world, a, vec3_make(0, 0, 0), vec3_make(60, 0, 0));
		test_add_particle(world, a, vec3_make(3, 0, 0), vec3_make(-60, 0, 0));
		test_add_particle(world, a, vec3_make(0, 5, 0), vec3_make(60, 0, 0));
		test_add_particle(world, b, vec3_make(3, 5, 0), vec3_make(-60, 0, 0));
		test_step(world, 3);
		bool internal = nth(world, a, 0).velocity.x < 0,
		     external = particles[2].velocity.x < 0;
		ck_assert(internal == ((with & INTERACT_INTERNAL) != 0));
		ck_assert(external == ((with & INTERACT_EXTERNAL) != 0));
		world_destroy(world);
	}
}
END_TEST

/* P-17: balls of 1 m, 10 m apart, that close 20 m in a tick meet at 0.45 of it. A row of balls
 * hands the impulse on, in one tick. */
START_TEST(fast_balls_do_not_pass_through_each_other)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = 1;
	struct world *world = test_world_of(&options);
	test_no_gravity(world);
	system_id system = make_system(world, 1, 1, 1, 0);
	struct command set = collide(system, INTERACT_INTERNAL);
	test_do(world, &set);
	test_add_particle(world, system, vec3_make(-5, 0, 0), vec3_make(10, 0, 0));
	test_add_particle(world, system, vec3_make(5, 0, 0), vec3_make(-10, 0, 0));
	for (uint32_t i = 0; i < 5; i++)
		test_add_particle(world, system, vec3_make(i, 50, 0), vec3_zero());
	test_add_particle(world, system, vec3_make(-3, 50, 0), vec3_make(8, 0, 0));
	test_step(world, 1);
	double end = -0.5 - 10 * 0.55;
	ck_assert_double_eq_tol(nth(world, system, 0).position.x, end, 1e-12);
	ck_assert_double_eq_tol(particles[1].position.x, -end, 1e-12);
	ck_assert_double_eq_tol(particles[6].velocity.x, 8, 1e-12);
	ck_assert_double_eq_tol(particles[6].position.x, 4 + 8 * 0.75, 1e-12);
	ck_assert_double_eq_tol(particles[7].velocity.x, 0, 1e-12);
	world_destroy(world);
}
END_TEST

/* P-24: exchanging the order of both mirrors nothing. */
START_TEST(the_order_of_births_does_not_matter_to_a_pair)
{
	vec3 found[2][2];
	for (uint32_t k = 0; k < 2; k++) {
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id system = make_system(world, 0.2, 1, 0.7, 0.2);
		struct command set = collide(system, INTERACT_INTERNAL);
		test_do(world, &set);
		for (uint32_t i = 0; i < 2; i++) {
			bool first = (i == 0) == (k == 0);
			test_add_particle(world, system,
					  first ? vec3_zero() : vec3_make(0.22, 0.03, 0.01),
					  first ? vec3_make(2, 1, 0) : vec3_make(-3, 0, 0.5));
		}
		test_step(world, 1);
		found[k][k] = nth(world, system, 0).velocity;
		found[k][1 - k] = particles[1].velocity;
		ck_assert_double_lt(particles[0].velocity.x * (k == 0 ? 1 : -1), 0.6);
		world_destroy(world);
	}
	expect_near(found[0][0], found[1][0], 1e-14);
	expect_near(found[0][1], found[1][1], 1e-14);
}
END_TEST

/* P-04: many balls in a narrow box: all ticks end, no energy comes, what is cut is counted. */
START_TEST(a_crowd_of_balls_comes_to_an_end_and_gains_no_energy)
{
	struct world *world = test_world(false, "soft-step");
	struct rng rng = rng_seeded(2);
	test_no_gravity(world);
	system_id system = make_system(world, 0.3, 1, 0.95, 0);
	struct command set = collide(system, INTERACT_INTERNAL);
	test_do(world, &set);
	for (uint32_t i = 0; i < 200; i++) {
		vec3 at = random_vector(&rng, 1);
		test_add_particle(world, system, at, vec3_scale(at, -5));
	}
	double before = 1e300;
	for (uint32_t tick = 0; tick < 60; tick++) {
		double energy = 0;
		uint32_t count = world_particles(world, system, 0, particles, MOST);
		ck_assert_uint_eq(count, 200);
		for (uint32_t i = 0; i < count; i++)
			energy += vec3_length_squared(particles[i].velocity);
		ck_assert_double_le(energy, before * (1 + 1e-12));
		before = energy;
		test_step(world, 1);
	}
	struct system_view systems[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, systems), 1);
	ck_assert_uint_gt(systems[0].cut, 0);
	test_check(world);
	world_destroy(world);
}
END_TEST

static vec3 sum_of_momenta(const struct particle_view *items, uint32_t count)
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

static struct particle_view before[MOST];

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
	struct world *world = test_world(false, "soft-step");
	bounce_always(world);
	system_id system = make_system(world, 0.12, 0.5, 1, 0);
	test_no_gravity(world);
	struct command set = collide(system, INTERACT_INTERNAL);
	test_do(world, &set);
	struct rng rng = rng_seeded(3);
	const uint32_t side = 7, count = side * side * side;
	for (uint32_t i = 0; i < count; i++) {
		vec3 cell = vec3_make(i % side, i / side % side, i / side / side);
		vec3 at = vec3_scale(cell, 0.2);
		/* Towards the middle, so that they meet. */
		vec3 in = vec3_scale(vec3_sub(vec3_all(0.6), at), 3);
		test_add_particle(world, system, at, vec3_add(in, random_vector(&rng, 2)));
	}
	ck_assert_uint_eq(world_particles(world, system, 0, before, MOST), count);
	uint32_t changed = 0;
	for (uint32_t tick = 0; tick < 60; tick++) {
		test_step(world, 1);
		ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), count);
		double nearest = 1;
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < i; k++)
				nearest = fmin(nearest, vec3_distance(particles[i].position,
								      particles[k].position));
		ck_assert_double_ge(nearest, 0.12 * (1 - 1e-9));
	}
	struct system_view view[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, view), 1);
	ck_assert_uint_eq(view[0].cut, 0);
	for (uint32_t i = 0; i < count; i++)
		changed += vec3_distance(particles[i].velocity, before[i].velocity) > 0.1;
	ck_assert_uint_gt(changed, count / 3);
	ck_assert_double_eq_tol(kinetic_of(particles, count) / kinetic_of(before, count), 1, 1e-12);
	expect_near(sum_of_momenta(particles, count), sum_of_momenta(before, count), 1e-11);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* A collision ends on the near side of a wall. */
START_TEST(a_particle_that_is_struck_still_meets_bodies)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	test_ground(world);
	system_id system = make_system(world, 0.1, 1, 1, 0);
	struct command set = collide(system, INTERACT_INTERNAL);
	test_do(world, &set);
	test_add_particle(world, system, vec3_make(0, 0.1, 0), vec3_zero());
	test_add_particle(world, system, vec3_make(0, 0.25, 0), vec3_make(0, -30, 0));
	for (uint32_t tick = 0; tick < 10; tick++) {
		test_step(world, 1);
		ck_assert_double_gt(nth(world, system, 0).position.y, 0.05 - 1e-9);
		ck_assert_double_gt(particles[1].position.y, 0.05 - 1e-9);
	}
	ck_assert_double_gt(particles[0].velocity.y + particles[1].velocity.y, 0);
	world_destroy(world);
}
END_TEST

/* ---- limits -------------------------------------------------------------------------------------- */

START_TEST(particles_at_one_point_are_bounded_and_counted)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	struct command create = test_command(COMMAND_PARTICLES_CREATE);
	create.particles_create.name = test_text("burst");
	create.particles_create.rate = create.particles_create.capacity = 3000;
	create.particles_create.recycle = 0;
	create.particles_create.life = 0;
	create.particles_create.speed = 0;
	system_id system = test_do(world, &create);
	struct command set = interact(system, 1);
	set.particles_interact.collisions = INTERACT_INTERNAL;
	set.particles_interact.well_depth = set.particles_interact.well_distance = 1;
	set.particles_interact.charge = 1e-3;
	set.particles_interact.repulsion = 1e12;
	test_do(world, &set);
	test_step(world, 4);
	struct system_view systems[SYSTEMS_MAX];
	ck_assert_uint_eq(world_systems(world, systems), 1);
	ck_assert_uint_gt(systems[0].crowded, 2000);
	ck_assert_uint_eq(world_particles(world, system, 0, particles, MOST), 3000);
	test_check(world);
	world_destroy(world);
}
END_TEST

START_TEST(forces_beyond_all_numbers_remove_their_particles)
{
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id system = make_system(world, 1, PARTICLE_MASS_MIN, 0, 0);
	struct command set = interact(system, PARTICLE_CUTOFF_MAX);
	set.particles_interact.core = PARTICLE_CORE_MIN;
	set.particles_interact.charge = PARTICLE_CHARGE_MAX;
	set.particles_interact.gravitation = PARTICLE_GRAVITATION_MAX;
	set.particles_interact.well_depth = STIFFNESS_MAX;
	set.particles_interact.well_distance = PARTICLE_SIZE_MAX;
	set.particles_interact.repulsion = STIFFNESS_MAX;
	set.particles_interact.repulsion_damping = PARTICLE_DAMPING_RATIO_MAX;
	set.particles_interact.collisions = INTERACT_BOTH;
	set.particles_interact.substeps = PARTICLE_SUBSTEPS_MAX;
	test_do(world, &set);
	for (uint32_t i = 0; i < 20; i++)
		test_add_particle(world, system, vec3_make(1e-6 * i, 1e6, -1e6),
				  vec3_make(0, 1e4, -1e4));
	for (uint32_t tick = 0; tick < 10; tick++) {
		test_step(world, 1);
		test_check(world);
	}
	ck_assert_uint_lt(world_particles(world, system, 0, particles, MOST), 20);
	world_destroy(world);
}
END_TEST

START_TEST(a_well_without_a_distance_is_refused_and_a_removed_system_is_unknown)
{
	struct world *world = test_world(false, "soft-step");
	system_id system = make_system(world, 0.1, 1, 0, 0);
	struct command set = interact(system, 1), remove = test_command(COMMAND_PARTICLES_REMOVE);
	set.particles_interact.well_depth = 1;
	ck_assert_int_eq(test_try(world, &set), STATUS_RANGE);
	set.particles_interact.well_distance = 0.1;
	test_do(world, &set);
	remove.particles_remove.system = system;
	test_do(world, &remove);
	ck_assert_int_eq(test_try(world, &set), STATUS_UNKNOWN_PARTICLES);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- bits ---------------------------------------------------------------------------------------- */

START_TEST(any_number_of_workers_and_lanes_gives_the_same_bits)
{
	static const uint32_t lanes[] = { 1, 4, 8, 16 };
	uint64_t hash = 0;
	for (uint32_t i = 0; i < COUNT_OF(lanes); i++) {
		uint32_t workers = 1 + i % 3;
		system_id systems[2];
		struct world *world = cloud(systems, 400, INTERACT_BOTH);
		processor_limit_lanes(lanes[i]);
		struct parallel *parallel = parallel_threads_create(workers);
		for (uint32_t tick = 0; tick < 8; tick++)
			ck_assert_int_eq(world_step(world, parallel, NULL), STATUS_OK);
		parallel_threads_destroy(parallel);
		uint64_t now = test_hash(world);
		ck_assert(i == 0 || now == hash);
		hash = now;
		world_destroy(world);
	}
	processor_limit_lanes(UINT32_MAX);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	system_id systems[2];
	struct world *world = cloud(systems, 100, INTERACT_BOTH);
	test_step(world, 10);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_pairs");
	TCase *all = tcase_create("particle_pairs");
	tcase_add_test(all, forces_of_a_pair_are_those_of_their_formulas);
	tcase_add_test(all, opposite_charges_of_two_systems_attract_if_both_say_external);
	tcase_add_test(all, the_cutoff_is_a_distance_and_not_a_cell);
	tcase_add_test(all, momentum_is_kept_to_rounding);
	tcase_add_test(all, cells_find_what_brute_force_finds);
	tcase_add_test(all, a_common_velocity_changes_nothing_else);
	tcase_add_test(all, a_circular_orbit_stays_one_and_its_period_converges);
	tcase_add_test(all, opposite_charges_orbit);
	tcase_add_test(all, energy_in_a_well_is_kept_with_second_order_and_does_not_drift);
	tcase_add_test(all, repulsion_is_a_spring_with_a_damping_ratio);
	tcase_add_test(all, one_collision_gives_the_printed_velocities);
	tcase_add_test(all, classes_of_collisions_are_switched_one_by_one);
	tcase_add_test(all, fast_balls_do_not_pass_through_each_other);
	tcase_add_test(all, the_order_of_births_does_not_matter_to_a_pair);
	tcase_add_test(all, a_crowd_of_balls_comes_to_an_end_and_gains_no_energy);
	tcase_add_test(all, a_gas_of_hard_balls_keeps_energy_and_momentum_and_does_not_overlap);
	tcase_add_test(all, a_particle_that_is_struck_still_meets_bodies);
	tcase_add_test(all, particles_at_one_point_are_bounded_and_counted);
	tcase_add_test(all, forces_beyond_all_numbers_remove_their_particles);
	tcase_add_test(all, a_well_without_a_distance_is_refused_and_a_removed_system_is_unknown);
	tcase_add_test(all, any_number_of_workers_and_lanes_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
