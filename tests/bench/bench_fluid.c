/* bench_fluid.c: the cost of fluids, and how well they do.
 *
 * bench_fluid cost [workers]   pools of several sizes: µs a particle and sub-step, iterations, state hash
 * bench_fluid dam              the front of a collapsing column against the experiment of Martin and
 *                              Moyce (1952), figure 3, n² = 2, a = 2.25 in, at the points that PySPH's
 *                              examples (db_exp_data.py) have read from it
 * bench_fluid float            a cube of half of water's density at three radii: its depth by Archimedes
 * bench_fluid rest             hydrostatic pressure and height of a pool, by resolution and step
 * bench_fluid slosh            the period of the first wave in a tank */
#include "server/engine/math/scalar.h"
#include "server/engine/world/world.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 400000, TICKS = 20 };
#define QUARTER 1.5707963267948966
#define GRAVITY 9.81
#define WATER 1000.0
static struct particle_view particles[MOST];
static uint32_t tick_rate = 60;

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void add_plane(struct world *world, vec3 at, uint32_t axis, double angle)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_PLANE, at, &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(axis), angle);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	test_do(world, &spawn);
}

/* Ground and four walls around 0 … length by ±depth/2, and water in 0 … wet. */
static struct world *make_tank(double length, double depth, vec3 wet, double spacing,
			       double viscosity, system_id *system)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = tick_rate;
	struct world *world = test_world_of(&options);
	add_plane(world, vec3_zero(), 0, 0);
	add_plane(world, vec3_zero(), 2, -QUARTER);
	add_plane(world, vec3_make(length, 0, 0), 2, QUARTER);
	add_plane(world, vec3_make(0, 0, -depth / 2), 0, QUARTER);
	add_plane(world, vec3_make(0, 0, depth / 2), 0, -QUARTER);
	struct command command = test_system_command("water");
	command.particles_create.capacity = MOST;
	command.particles_create.size = 0.5 * spacing;
	command.particles_create.static_friction = command.particles_create.dynamic_friction = 0;
	command.particles_create.restitution = 0;
	*system = test_do(world, &command);
	command = test_command(COMMAND_PARTICLES_FLUID);
	command.particles_fluid.system = *system;
	command.particles_fluid.kernel_radius = 2 * spacing;
	command.particles_fluid.viscosity = viscosity;
	test_do(world, &command);
	command = test_command(COMMAND_PARTICLES_FILL);
	command.particles_fill.system = *system;
	command.particles_fill.position = vec3_make(wet.x / 2, wet.y / 2, 0);
	command.particles_fill.size = wet;
	command.particles_fill.spacing = spacing;
	test_do(world, &command);
	return world;
}

static void step(struct world *world, const struct parallel *parallel, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++)
		if (world_step(world, parallel, NULL) != STATUS_OK)
			exit(1);
}

static struct fluid_view figures(const struct world *world)
{
	struct fluid_view views[SYSTEMS_MAX];
	return world_fluids(world, views) > 0 ? views[0] : (struct fluid_view){ 0 };
}

/* ---- cost ------------------------------------------------------------------------------------------ */

static void measure_cost(uint32_t workers)
{
	struct parallel *threads = parallel_threads_create(workers);
	for (double side = 10; side <= 45; side *= 1.5) {
		system_id system;
		double width = floor(side) * 0.05;
		struct world *world =
			make_tank(width, width, vec3_make(width, width, width), 0.05, 1, &system);
		uint64_t substeps = 0, iterations = 0;
		step(world, threads, 10);
		double start = now();
		for (uint32_t tick = 0; tick < TICKS; tick++) {
			step(world, threads, 1);
			substeps += figures(world).substeps;
			iterations += figures(world).iterations;
		}
		double spent = now() - start;
		uint32_t count = figures(world).particles;
		printf("%7u particles %u workers: %6.2f us a particle and sub-step (CPU), %5.1f iterations, "
		       "residual %.2g, hash %016llx\n",
		       count, workers, 1e6 * spent / count / (double)substeps,
		       (double)iterations / (double)substeps, figures(world).residual,
		       (unsigned long long)test_hash(world));
		world_destroy(world);
	}
	parallel_threads_destroy(threads);
}

/* ---- dam break -------------------------------------------------------------------------------------- */

/* t sqrt(2 g/a), front / a. */
static const double FRONT[][2] = { { 0.832, 1.217 }, { 1.219, 1.474 }, { 1.997, 2.292 },
				   { 2.547, 2.995 }, { 3.345, 4.134 }, { 4.034, 4.944 },
				   { 4.418, 5.881 }, { 5.091, 6.980 } };

/* A tongue of one particle is none: the front is where 3 are beyond. */
static double front_of(const struct world *world, system_id system)
{
	double best[3] = { 0 };
	uint32_t count = world_particles(world, system, 0, particles, MOST);
	for (uint32_t i = 0; i < count; i++) {
		double x = particles[i].position.x;
		for (uint32_t k = 0; k < 3; k++)
			if (x > best[k]) {
				double swap = best[k];
				best[k] = x;
				x = swap;
			}
	}
	return best[2];
}

static void measure_dam(void)
{
	for (uint32_t across = 8; across <= 24; across *= 2) {
		const double a = 1, spacing = a / across;
		system_id system;
		struct world *world = make_tank(12, 4 * spacing, vec3_make(a, 2 * a, 4 * spacing),
						spacing, 0.001, &system);
		double unit = sqrt(2 * GRAVITY / a), before = a, last = 0;
		uint32_t point = 0;
		for (uint32_t tick = 1; point < COUNT_OF(FRONT); tick++) {
			step(world, &parallel_serial, 1);
			double t = tick / 60.0 * unit;
			double front = (front_of(world, system) + spacing / 2) / a;
			for (; point < COUNT_OF(FRONT) && FRONT[point][0] <= t; point++) {
				double part = (FRONT[point][0] - last) / (t - last);
				double here = before + part * (front - before);
				printf("dam, %2u across: t %.3f front %.3f, measured %.3f, %+.1f %%\n",
				       across, FRONT[point][0], here, FRONT[point][1],
				       100 * (here / FRONT[point][1] - 1));
			}
			before = front;
			last = t;
		}
		world_destroy(world);
	}
}

/* ---- at rest ---------------------------------------------------------------------------------------- */

/* Σ over particles of a pool without the layers at the ground and the surface. */
struct pool_sums {
	double count, y, p, yy, yp;
};

static void add_profile(const struct world *world, double spacing, double height,
			struct pool_sums *sum)
{
	const struct particle_table *table = &world->tables.particle;
	for (uint32_t i = 0; i < table->count; i++) {
		double y = table->position[i].y, p = table->pressure[i];
		if (y < spacing || y > height - spacing)
			continue;
		sum->count++;
		sum->y += y, sum->p += p, sum->yy += y * y, sum->yp += y * p;
	}
}

/* Means of a second after 3 s; at so many ticks a second. */
static void measure_pool(uint32_t across, uint32_t ticks)
{
	const double width = 1, spacing = width / across;
	tick_rate = ticks;
	struct pool_sums sum = { 0 };
	system_id system;
	struct world *world =
		make_tank(width, width, vec3_make(width, width, width), spacing, 5, &system);
	double height = 0, error = 0, iterations = 0, speed = 0;
	uint32_t count = 0;
	step(world, &parallel_serial, 3 * ticks);
	for (uint32_t tick = 0; tick < ticks; tick++) {
		step(world, &parallel_serial, 1);
		count = world_particles(world, system, 0, particles, MOST);
		double level = 0;
		for (uint32_t i = 0; i < count; i++) {
			level += 2 * particles[i].position.y / count;
			speed += vec3_length_squared(particles[i].velocity) / count / ticks;
		}
		add_profile(world, spacing, level, &sum);
		height += level / ticks;
		error += figures(world).density_error / ticks;
		iterations += figures(world).iterations / (double)ticks;
	}
	double y = sum.y / sum.count, p = sum.p / sum.count;
	double slope = (sum.yp / sum.count - y * p) / (sum.yy / sum.count - y * y);
	printf("pool, %2u across, %3u ticks/s: height %+.2f %%, pressure %+.1f %%, its gradient %+.1f %%; "
	       "excess of density %.2g, %.1f iterations a tick, speeds %.2g m/s\n",
	       across, ticks, 100 * (height / width - 1),
	       100 * (p / (WATER * GRAVITY * (height - y)) - 1),
	       100 * (-slope / (WATER * GRAVITY) - 1), error, iterations, sqrt(speed));
	world_destroy(world);
	tick_rate = 60;
}

static void measure_rest(void)
{
	for (uint32_t across = 6; across <= 15; across += 3)
		measure_pool(across, 60);
	for (uint32_t rate = 30; rate <= 240; rate *= 2)
		measure_pool(9, rate);
}

static void measure_float(void)
{
	for (uint32_t across = 6; across <= 12; across += 3) {
		const double spacing = 1.0 / across, width = 2, depth = 1;
		system_id system;
		struct world *world = make_tank(width, width, vec3_make(width, depth, width),
						spacing, 20, &system);
		struct attachment item;
		struct command spawn = test_spawn_command(
			world, TEST_BOX, vec3_make(width / 2, depth + 0.3, 0), &item);
		spawn.spawn.density = 0.5 * WATER;
		spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
		body_id box = test_do(world, &spawn);
		step(world, &parallel_serial, 300);
		double bottom = 0;
		uint32_t ticks = 120;
		for (uint32_t i = 0; i < ticks; i++) {
			step(world, &parallel_serial, 1);
			bottom += (test_body(world, box).position.y - 0.5) / ticks;
		}
		/* The level is that of the water's own volume and of what the cube takes from it. */
		double volume = figures(world).particles * spacing * spacing * spacing;
		double area = width * width, level = (volume - bottom) / (area - 1);
		printf("cube, %2u particles along it: draft %.4f, by Archimedes 0.5, %+.1f %%\n",
		       across, level - bottom, 100 * ((level - bottom) / 0.5 - 1));
		world_destroy(world);
	}
}

/* The first wave of a tank of 1 m with 0.5 m of water: its period against 2π/√(g k tanh(k d)), k = π. */
static void measure_slosh(void)
{
	for (uint32_t across = 10; across <= 40; across *= 2) {
		const double spacing = 1.0 / across, k = 2 * QUARTER;
		system_id system;
		struct world *world = make_tank(1, 4 * spacing, vec3_make(1, 0.5, 4 * spacing),
						spacing, 30, &system);
		struct command gravity = test_command(COMMAND_GRAVITY),
			       fluid = test_command(COMMAND_PARTICLES_FLUID);
		double before = 0, first = 0, last = 0;
		uint32_t passages = 0;
		gravity.gravity.gravity = vec3_make(1.5, -9.7, 0);
		test_do(world, &gravity);
		step(world, &parallel_serial, 60);
		gravity.gravity.gravity = vec3_make(0, -GRAVITY, 0);
		test_do(world, &gravity);
		fluid.particles_fluid.system = system;
		fluid.particles_fluid.kernel_radius = 2 * spacing;
		test_do(world, &fluid);
		for (uint32_t tick = 0; tick < 110; tick++) {
			uint32_t count = world_particles(world, system, 0, particles, MOST);
			double x = -0.5;
			for (uint32_t i = 0; i < count; i++)
				x += particles[i].position.x / count;
			if (tick > 0 && (x < 0) != (before < 0)) {
				last = tick - x / (x - before);
				first = passages++ == 0 ? last : first;
			}
			before = x;
			step(world, &parallel_serial, 1);
		}
		double period = 2 * (last - first) / (passages - 1) / 60;
		double expected = 4 * QUARTER / sqrt(GRAVITY * k * tanh(k * 0.5));
		printf("waves, %2u across: period %.3f s, expected %.3f s, %+.1f %%\n", across,
		       period, expected, 100 * (period / expected - 1));
		world_destroy(world);
	}
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cost";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "cost") == 0)
		measure_cost(argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1);
	else if (strcmp(what, "dam") == 0)
		measure_dam();
	else if (strcmp(what, "float") == 0)
		measure_float();
	else if (strcmp(what, "rest") == 0)
		measure_rest();
	else if (strcmp(what, "slosh") == 0)
		measure_slosh();
	else
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
