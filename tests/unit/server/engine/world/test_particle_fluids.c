/* Fluids: kernels against their integrals, densities against all pairs, momentum with bodies, pools at rest,
 * a floating box, bodies that appear in water, and that workers, images and rollbacks change no bit
 * (ch1-3 P-46 … P-53). */
#include "server/engine/fluids/fluid_kernel.h"
#include "server/engine/math/scalar.h"
#include "server/engine/world/world.h"
#include "tests/lib/linked.h"
#include "tests/lib/near.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>

enum { MOST = 8000 };
#define QUARTER 1.5707963267948966
#define WATER 1000.0
static struct particle_view particles[MOST];

static body_id add_plane(struct world *world, vec3 at, uint32_t axis, double angle)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_PLANE, at, &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(axis), angle);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	return test_do(world, &spawn);
}

/* Ground and four walls around a square of `width`. */
static struct world *make_tank(double width)
{
	struct world *world = test_world(false, "soft-step");
	add_plane(world, vec3_zero(), 0, 0);
	add_plane(world, vec3_make(-width / 2, 0, 0), 2, -QUARTER);
	add_plane(world, vec3_make(width / 2, 0, 0), 2, QUARTER);
	add_plane(world, vec3_make(0, 0, -width / 2), 0, QUARTER);
	add_plane(world, vec3_make(0, 0, width / 2), 0, -QUARTER);
	return world;
}

static struct command fluid_command(system_id system, double spacing, enum fluid_solver solver)
{
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 2 * spacing;
	fluid.particles_fluid.solver = (uint8_t)solver;
	return fluid;
}

static system_id make_fluid(struct world *world, double spacing, enum fluid_solver solver)
{
	struct command command = test_system_command("water");
	command.particles_create.size = 0.5 * spacing;
	command.particles_create.mass = WATER * spacing * spacing * spacing;
	command.particles_create.capacity = MOST;
	command.particles_create.static_friction = command.particles_create.dynamic_friction = 0;
	command.particles_create.restitution = 0;
	system_id system = test_do(world, &command);
	struct command fluid = fluid_command(system, spacing, solver);
	test_do(world, &fluid);
	return system;
}

static uint32_t read_particles(const struct world *world, system_id system)
{
	return world_particles(world, system, 0, particles, MOST);
}

static double mean_height(const struct world *world, system_id system)
{
	uint32_t count = read_particles(world, system);
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += particles[i].position.y;
	return sum / count;
}

static double fastest(const struct world *world, system_id system)
{
	uint32_t count = read_particles(world, system);
	double most = 0;
	for (uint32_t i = 0; i < count; i++)
		most = fmax(most, vec3_length(particles[i].velocity));
	return most;
}

/* Nothing was lost, stopped or left out. */
static void expect_whole(const struct world *world, uint32_t count)
{
	struct fluid_view view = test_fluid(world);
	ck_assert_uint_eq(view.particles, count);
	ck_assert_uint_eq(view.lost, 0);
	ck_assert_uint_eq(view.bad, 0);
	test_check(world);
}

/* ---- kernels (P-46, P-47) ------------------------------------------------------------------------ */

START_TEST(kernels_have_their_integrals_slopes_and_laplacian)
{
	enum { STEPS = 4000 };
	double whole = 0, moment = 0;
	for (uint32_t i = 0; i < STEPS; i++) {
		double q = (i + 0.5) / STEPS, shell = 4 * FLUID_PI * q * q / STEPS, e = 1e-6;
		whole += shell * fluid_kernel_value(q);
		/* ∫ r² ∇²W = ∫ W ∇²r² = 6: a velocity quadratic in space has its own Laplacian. */
		moment += shell * q * q * fluid_kernel_laplacian(q);
		if (i % 64 != 0 || q < 2 * e || q > 1 - 2 * e)
			continue;
		double slope = (fluid_kernel_value(q + e) - fluid_kernel_value(q - e)) / (2 * e);
		ck_assert_double_eq_tol(fluid_kernel_slope(q) * q, slope, 1e-7);
	}
	ck_assert_double_eq_tol(whole, 1, 1e-6);
	ck_assert_double_eq_tol(moment, 6, 1e-5);
	ck_assert_double_eq_tol(fluid_kernel_laplacian(0.5), 7.161972, 1e-6);
	ck_assert_double_eq(fluid_kernel_value(1), 0);
}
END_TEST

START_TEST(half_spaces_hold_the_part_of_the_kernel_beyond_them)
{
	enum { STEPS = 4000 };
	for (double d = 0; d < 1; d += 0.11) {
		double part = 0, slope = 0, spread = 0;
		for (uint32_t i = 0; i < STEPS; i++) {
			double q = d + (1 - d) * (i + 0.5) / STEPS, dq = (1 - d) / STEPS;
			spread +=
				2 * FLUID_PI * q * (q - d) * q * q * fluid_kernel_laplacian(q) * dq;
			part += 2 * FLUID_PI * q * (q - d) * fluid_kernel_value(q) * dq;
			slope += 2 * FLUID_PI * q * fluid_kernel_value(q) * dq;
		}
		ck_assert_double_eq_tol(fluid_half_part(d), part, 1e-6);
		ck_assert_double_eq_tol(fluid_half_slope(d), slope, 1e-6);
		ck_assert_double_eq_tol(fluid_half_spread(d), spread / 6, 1e-6);
	}
	ck_assert_double_eq_tol(fluid_half_part(0), 0.5, 1e-15);
}
END_TEST

/* Of a lattice with the spacing h/2: a constant is interpolated as itself. */
START_TEST(a_lattice_has_the_density_of_rest)
{
	double sum = 0;
	for (int x = -2; x <= 2; x++)
		for (int y = -2; y <= 2; y++)
			for (int z = -2; z <= 2; z++) {
				double q = 0.5 * sqrt(x * x + y * y + z * z);
				sum += q < 1 ? fluid_kernel_value(q) / 8 : 0;
			}
	ck_assert_double_eq_tol(sum, 1, 1e-4);
	/* Kernels and their slopes end at h; the book's Laplacian of the viscosity kernel. */
	ck_assert_double_eq(fluid_kernel_value(1), 0);
	ck_assert_double_eq(fluid_kernel_slope(1), 0);
	ck_assert_double_eq(fluid_kernel_laplacian(1), 0);
	ck_assert_double_eq_tol(fluid_kernel_laplacian(0.5), 7.161972, 1e-6);
}
END_TEST

/* ---- densities (P-48, P-49, P-51) ----------------------------------------------------------------- */

/* Without walls, gravity and motion between: one sub-step. */
START_TEST(densities_are_those_of_all_pairs)
{
	const double spacing = 0.1, h = 2 * spacing;
	struct world *world = test_world(false, "soft-step");
	test_no_gravity(world);
	system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
	test_fill(world, system, spacing, vec3_make(0, 5, 0), vec3_make(0.7, 0.5, 0.6));
	for (uint32_t i = 0; i < 40; i++)
		test_add_particle(world, system,
				  vec3_make(0.03 * i - 0.6, 5 + 0.3 * sin(i), 0.3 * cos(3.0 * i)),
				  vec3_zero());
	/* Two at one place, and one alone. */
	test_add_particle(world, system, vec3_make(9, 9, 9), vec3_zero());
	test_add_particle(world, system, vec3_make(4, 4, 4), vec3_zero());
	test_add_particle(world, system, vec3_make(4, 4, 4), vec3_zero());
	uint32_t count = read_particles(world, system), wrong = 0;
	double expected[512];
	ck_assert_uint_lt(count, COUNT_OF(expected));
	for (uint32_t i = 0; i < count; i++) {
		expected[i] = 0;
		for (uint32_t k = 0; k < count; k++) {
			double q = vec3_distance(particles[i].position, particles[k].position) / h;
			expected[i] +=
				q < 1 ? particles[k].mass * fluid_kernel_value(q) / (h * h * h) : 0;
		}
	}
	test_step(world, 1);
	ck_assert_uint_eq(test_fluid(world).substeps, 1);
	for (uint32_t i = 0; i < count; i++)
		wrong += !(fabs(world->tables.particle.density[i] / expected[i] - 1) < 1e-12);
	ck_assert_uint_eq(wrong, 0);
	expect_whole(world, count);
	world_destroy(world);
}
END_TEST

/* ---- pressures and sub-steps (P-48, P-50, P-51) ----------------------------------------------------- */

/* kb ((ρ/ρ0)⁷ − 1) with kb = ρ0 v²/(7 c): 1.428571e6 Pa for 10 m/s and 1 %; a gas: k (ρ − ρ0). */
START_TEST(pressures_are_those_of_the_equation_of_state)
{
	for (int gas = 0; gas <= 1; gas++) {
		const double spacing = 0.1;
		struct world_options options = test_options(false, "soft-step");
		options.rate_num = 5000; /* a tick is one sub-step */
		struct world *world = test_world_of(&options);
		test_no_gravity(world);
		system_id system = make_fluid(world, spacing, FLUID_EXPLICIT);
		struct command fluid = fluid_command(system, spacing, FLUID_EXPLICIT);
		fluid.particles_fluid.speed = 10;
		fluid.particles_fluid.compression = 0.01;
		fluid.particles_fluid.stiffness = gas ? 2000 : 0;
		test_do(world, &fluid);
		/* 3 % denser than at rest. */
		for (int x = -2; x <= 2; x++)
			for (int y = -2; y <= 2; y++)
				for (int z = -2; z <= 2; z++)
					test_add_particle(
						world, system,
						vec3_scale(vec3_make(x, y, z), 0.99 * spacing),
						vec3_zero());
		test_step(world, 1);
		const struct particle_table *table = &world->tables.particle;
		uint32_t pressed = 0;
		for (uint32_t i = 0; i < table->count; i++) {
			double r = table->density[i] / WATER;
			double p = gas ? 2000 * (table->density[i] - WATER)
				       : 1.428571e6 * (pow(r, 7) - 1);
			pressed += p > 0;
			ck_assert_double_eq_tol(table->multiplier[i], fmax(p, 0),
						1e-6 * fabs(p) + 1e-6);
		}
		ck_assert_uint_gt(pressed, 0);
		ck_assert_uint_eq(test_fluid(world).substeps, 1);
		world_destroy(world);
	}
}
END_TEST

/* h = 0.1, components up to 4: at most 0.025 s, half of it for k = ½, here of ticks of 1/60 s; at rest
 * there is no limit. All move together, so viscosity does nothing; one that is alone falls. */
START_TEST(sub_steps_follow_the_largest_component)
{
	static const struct {
		double k, speed;
		uint32_t substeps;
	} ROWS[] = { { 1, 4, 1 }, { 0.5, 4, 2 }, { 1, 40, 7 }, { 0.5, 0, 1 } };
	for (uint32_t row = 0; row < COUNT_OF(ROWS); row++) {
		const double spacing = 0.05;
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
		struct command fluid = fluid_command(system, spacing, FLUID_INCOMPRESSIBLE);
		fluid.particles_fluid.step_ratio = ROWS[row].k;
		fluid.particles_fluid.viscosity = 1;
		test_do(world, &fluid);
		vec3 v = vec3_scale(vec3_make(0.5, 0.25, 1), ROWS[row].speed);
		for (uint32_t i = 0; i < 27; i++)
			test_add_particle(world, system,
					  vec3_scale(vec3_make(i % 3, i / 3 % 3, i / 9), spacing),
					  v);
		test_step(world, 1);
		ck_assert_uint_eq(test_fluid(world).substeps, ROWS[row].substeps);
		read_particles(world, system);
		for (uint32_t i = 0; i < 27; i++)
			ck_assert_double_lt(vec3_distance(particles[i].velocity, v), 1e-12);
		world_destroy(world);
	}
	struct world *world = test_world(false, "soft-step");
	system_id system = make_fluid(world, 0.05, FLUID_INCOMPRESSIBLE);
	test_add_particle(world, system, vec3_make(0, 50, 0), vec3_zero());
	test_step(world, 30);
	read_particles(world, system);
	ck_assert_double_eq_tol(particles[0].velocity.y, -9.81 / 2, 1e-9);
	world_destroy(world);
}
END_TEST

/* ---- walls (P-52) ----------------------------------------------------------------------------------- */

/* A block h/4 over the ground: velocity into it ends, velocity along it stays. */
START_TEST(walls_take_the_normal_velocity_alone)
{
	const double spacing = 0.1;
	struct world *world = make_tank(20);
	test_no_gravity(world);
	system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
	for (uint32_t i = 0; i < 75; i++)
		test_add_particle(world, system,
				  vec3_scale(vec3_make(i % 5, i / 25 + 0.5, i / 5 % 5), spacing),
				  vec3_make(1, -2, 0));
	test_step(world, 30);
	vec3 sum = vec3_zero();
	uint32_t count = read_particles(world, system);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_double_gt(particles[i].position.y, 0);
		sum = vec3_mul_add(sum, particles[i].velocity, 1.0 / count);
	}
	ck_assert_double_eq_tol(sum.x, 1, 1e-9);
	ck_assert_double_gt(sum.y, -0.1);
	world_destroy(world);
}
END_TEST

/* ---- momentum (P-48) ------------------------------------------------------------------------------ */

struct momentum {
	vec3 linear, angular;
};

static struct momentum momentum_of(const struct world *world, system_id system, body_id id)
{
	struct momentum sum = { vec3_zero(), vec3_zero() };
	uint32_t count = read_particles(world, system);
	for (uint32_t i = 0; i < count; i++) {
		vec3 p = vec3_scale(particles[i].velocity, particles[i].mass);
		sum.linear = vec3_add(sum.linear, p);
		sum.angular = vec3_add(sum.angular, vec3_cross(particles[i].position, p));
	}
	struct body_view body = test_body(world, id);
	double mass = WATER, inertia = mass / 6; /* a cube of 1 m */
	vec3 p = vec3_scale(body.velocity, mass);
	sum.linear = vec3_add(sum.linear, p);
	sum.angular = vec3_add(sum.angular, vec3_cross(body.position, p));
	sum.angular = vec3_mul_add(sum.angular, body.angular_velocity, inertia);
	return sum;
}

START_TEST(fluid_and_body_keep_their_momentum)
{
	for (int solver = FLUID_EXPLICIT; solver <= FLUID_INCOMPRESSIBLE; solver++) {
		const double spacing = 0.125;
		struct world *world = test_world(false, "soft-step");
		test_no_gravity(world);
		system_id system = make_fluid(world, spacing, (enum fluid_solver)solver);
		struct command fluid = fluid_command(system, spacing, (enum fluid_solver)solver);
		fluid.particles_fluid.viscosity = 20;
		fluid.particles_fluid.wall_viscosity = 20;
		fluid.particles_fluid.surface_tension = 5;
		test_do(world, &fluid);
		test_fill(world, system, spacing, vec3_make(0, 0, 0), vec3_make(0.75, 1, 1));
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, TEST_BOX, vec3_make(1.05, 0.2, 0.1), &item);
		spawn.spawn.velocity = vec3_make(-1.5, 0, 0);
		body_id box = test_do(world, &spawn);
		struct momentum before = momentum_of(world, system, box);
		double scale = vec3_length(before.linear), met = 0;
		for (uint32_t tick = 0; tick < 12; tick++) {
			test_step(world, 1);
			struct momentum now = momentum_of(world, system, box);
			double linear = vec3_distance(now.linear, before.linear);
			double angular = vec3_distance(now.angular, before.angular);
			/* Impacts of single particles act a tick later (P-22). */
			for (uint32_t i = 0; i < world->tables.particle.count; i++)
				met += world->tables.particle.hit[i] != 0;
			if (met > 0)
				break;
			ck_assert_double_lt(linear, 1e-12 * scale);
			/* Forces along differences of velocities turn pairs (P-48), and the cube's
			 * mass centre moves while the force acts. */
			ck_assert_double_lt(angular, 1e-5 * scale);
		}
		ck_assert_double_gt(test_body(world, box).velocity.x, -1.49);
		world_destroy(world);
	}
}
END_TEST

/* ---- at rest --------------------------------------------------------------------------------------- */

/* The height of a pool, which does not sink (SPlisHSPlasH#242): within 2 % of a pool with ten layers. */
START_TEST(a_pool_keeps_its_height_and_comes_to_rest)
{
	const double spacing = 0.1, width = 0.6, height = 1;
	struct world *world = make_tank(width);
	system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
	struct command fluid = fluid_command(system, spacing, FLUID_INCOMPRESSIBLE);
	fluid.particles_fluid.viscosity = 5;
	test_do(world, &fluid);
	test_fill(world, system, spacing, vec3_make(0, height / 2, 0),
		  vec3_make(width, height, width));
	uint32_t count = read_particles(world, system);
	ck_assert_uint_eq(count, 360);
	test_step(world, 80);
	ck_assert_double_eq_tol(2 * mean_height(world, system), height, 0.02 * height);
	ck_assert_double_lt(fastest(world, system), 0.5);
	ck_assert_double_lt(test_fluid(world).residual, 1e-3);
	/* A perfect lattice is 4 % too dense at walls, so the first ticks may not. */
	ck_assert_uint_le(test_fluid(world).unconverged, 2);
	expect_whole(world, count);
	world_destroy(world);
}
END_TEST

/* A block of water falls into tanks of four sizes (SPlisHSPlasH#179): none explodes, and nothing is thrown
 * out of a corner. */
START_TEST(tanks_of_every_size_hold_their_water)
{
	for (int solver = FLUID_EXPLICIT; solver <= FLUID_INCOMPRESSIBLE; solver++)
		for (double width = 0.2; width < 50; width *= 6) {
			double spacing = width / 6;
			struct world *world = make_tank(width);
			system_id system = make_fluid(world, spacing, (enum fluid_solver)solver);
			test_fill(world, system, spacing, vec3_make(0, width, 0),
				  vec3_make(width / 2, width / 2, width));
			uint32_t count = read_particles(world, system);
			test_step(world, 30);
			double fall = sqrt(2 * 9.81 * 2 * width);
			ck_assert_double_lt(fastest(world, system), 1.6 * fall);
			expect_whole(world, count);
			world_destroy(world);
		}
}
END_TEST

/* ---- bodies ---------------------------------------------------------------------------------------- */

/* A cube appears in water (SPlisHSPlasH#56). */
START_TEST(a_body_that_appears_in_water_pushes_it_out_without_an_explosion)
{
	const double spacing = 0.2, width = 2;
	struct world *world = make_tank(width);
	system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
	test_fill(world, system, spacing, vec3_make(0, 0.8, 0), vec3_make(width, 1.6, width));
	uint32_t count = read_particles(world, system);
	test_step(world, 20);
	test_spawn(world, TEST_BOX, vec3_make(0, 0.9, 0));
	double most = 0;
	for (uint32_t tick = 0; tick < 40; tick++) {
		test_step(world, 1);
		most = fmax(most, fastest(world, system));
	}
	ck_assert_double_lt(most, 8);
	ck_assert_uint_gt(test_fluid(world).inside, 0);
	expect_whole(world, count);
	/* And a fill leaves the places in bodies free. */
	test_fill(world, system, spacing, vec3_make(0, 5, 0), vec3_all(1));
	ck_assert_uint_eq(test_fluid(world).blocked, 0);
	test_spawn(world, TEST_BOX, vec3_make(0, 9, 0));
	test_fill(world, system, spacing, vec3_make(0, 9, 0), vec3_all(1.4));
	ck_assert_uint_gt(test_fluid(world).blocked, 100);
	world_destroy(world);
}
END_TEST

/* Every kind of shape stands in a stream and loses nobody. */
START_TEST(water_flows_around_every_kind_of_shape)
{
	static const enum test_shape SHAPES[] = { TEST_SPHERE, TEST_CAPSULE, TEST_BOX, TEST_HULL,
						  TEST_RING,   TEST_BLOCK,   TEST_MESH };
	for (uint32_t i = 0; i < COUNT_OF(SHAPES); i++) {
		const double spacing = 0.2;
		struct world *world = make_tank(2.4);
		struct attachment item;
		struct command spawn =
			test_spawn_command(world, SHAPES[i], vec3_make(0, 0.5, 0), &item);
		spawn.spawn.status = BODY_STATIC;
		test_do(world, &spawn);
		system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
		test_fill(world, system, spacing, vec3_make(0, 2, 0), vec3_make(1.2, 0.8, 1.2));
		uint32_t count = read_particles(world, system);
		test_step(world, 40);
		expect_whole(world, count);
		ck_assert_double_lt(fastest(world, system), 12);
		world_destroy(world);
	}
}
END_TEST

/* ---- commands -------------------------------------------------------------------------------------- */

START_TEST(commands_that_make_no_sense_are_refused_and_change_nothing)
{
	struct world *world = test_world(false, "soft-step");
	struct command command = test_system_command("dust");
	command.particles_create.capacity = 100;
	system_id dust = test_do(world, &command);
	struct command full = test_command(COMMAND_PARTICLES_FILL);
	full.particles_fill.system = dust;
	full.particles_fill.size = vec3_all(1);
	full.particles_fill.spacing = 0.25;
	ck_assert_int_eq(test_try(world, &full), STATUS_NOT_FLUID);
	struct command fluid = fluid_command(dust, 0.25, FLUID_INCOMPRESSIBLE);
	fluid.particles_fluid.kernel_radius = 1e-4;
	ck_assert_int_eq(test_try(world, &fluid), STATUS_RANGE);
	struct command act = test_command(COMMAND_PARTICLES_INTERACT);
	act.particles_interact.system = dust;
	act.particles_interact.collisions = INTERACT_INTERNAL;
	test_do(world, &act);
	fluid.particles_fluid.kernel_radius = 0.5;
	ck_assert_int_eq(test_try(world, &fluid), STATUS_FLUID);
	act.particles_interact.collisions = INTERACT_NONE;
	test_do(world, &act);
	test_do(world, &fluid);
	act.particles_interact.collisions = INTERACT_INTERNAL;
	ck_assert_int_eq(test_try(world, &act), STATUS_FLUID);
	struct command lattice = test_command(COMMAND_PARTICLES_LATTICE);
	lattice.particles_lattice.system = dust;
	ck_assert_int_eq(test_try(world, &lattice), STATUS_FLUID);
	test_do(world, &full);
	ck_assert_uint_eq(test_fluid(world).particles, 64);
	uint64_t hash = test_hash(world);
	ck_assert_int_eq(test_try(world, &full), STATUS_LIMIT);
	ck_assert_uint_eq(test_hash(world), hash);
	test_step(world, 2);
	/* None any more: then the particles fly. */
	fluid.particles_fluid.kernel_radius = 0;
	test_do(world, &fluid);
	struct fluid_view views[SYSTEMS_MAX];
	ck_assert_uint_eq(world_fluids(world, views), 0);
	test_step(world, 2);
	test_check(world);
	command = test_command(COMMAND_PARTICLES_REMOVE);
	command.particles_remove.system = dust;
	test_do(world, &command);
	test_check(world);
	world_destroy(world);
}
END_TEST

/* ---- the same bits ---------------------------------------------------------------------------------- */

static struct world *make_scene(void)
{
	const double spacing = 0.15;
	struct world *world = make_tank(2.4);
	system_id system = make_fluid(world, spacing, FLUID_INCOMPRESSIBLE);
	test_fill(world, system, spacing, vec3_make(-0.6, 0.6, 0), vec3_make(1.2, 1.2, 2.4));
	test_spawn(world, TEST_BOX, vec3_make(0.3, 0.6, 0.2));
	test_spawn(world, TEST_SPHERE, vec3_make(-0.5, 1.6, 0.5));
	system_id other = make_fluid(world, 0.2, FLUID_EXPLICIT);
	test_fill(world, other, 0.2, vec3_make(0.5, 2.4, 0), vec3_make(0.8, 0.6, 0.8));
	return world;
}

START_TEST(any_number_of_workers_gives_the_same_bits)
{
	struct world *world = test_workers_agree(make_scene, 12);
	world_destroy(world);
}
END_TEST

START_TEST(images_and_rollbacks_leave_no_trace)
{
	struct world *world = make_scene();
	test_step(world, 9);
	ck_assert_uint_gt(world->tables.load.count, 0);
	test_no_trace(world);
	world_destroy(world);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("particle_fluids");
	TCase *all = tcase_create("particle_fluids");
	tcase_add_test(all, kernels_have_their_integrals_slopes_and_laplacian);
	tcase_add_test(all, half_spaces_hold_the_part_of_the_kernel_beyond_them);
	tcase_add_test(all, a_lattice_has_the_density_of_rest);
	tcase_add_test(all, densities_are_those_of_all_pairs);
	tcase_add_test(all, pressures_are_those_of_the_equation_of_state);
	tcase_add_test(all, sub_steps_follow_the_largest_component);
	tcase_add_test(all, walls_take_the_normal_velocity_alone);
	tcase_add_test(all, fluid_and_body_keep_their_momentum);
	tcase_add_test(all, a_pool_keeps_its_height_and_comes_to_rest);
	tcase_add_test(all, tanks_of_every_size_hold_their_water);
	tcase_add_test(all, a_body_that_appears_in_water_pushes_it_out_without_an_explosion);
	tcase_add_test(all, water_flows_around_every_kind_of_shape);
	tcase_add_test(all, commands_that_make_no_sense_are_refused_and_change_nothing);
	tcase_add_test(all, any_number_of_workers_gives_the_same_bits);
	tcase_add_test(all, images_and_rollbacks_leave_no_trace);
	suite_add_tcase(suite, all);
	return suite;
}

int main(void)
{
	return check_main(make);
}
