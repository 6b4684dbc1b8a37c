/* bench_fluid.c: the cost of fluids, and how well they do.
 *
 * bench_fluid cost [workers]   pools of several sizes: µs a particle and sub-step, iterations, state hash
 * bench_fluid dam              the front of a collapsing column against the experiment of Martin and
 *                              Moyce (1952), figure 3, n² = 2, a = 2.25 in, at the points that PySPH's
 *                              examples (db_exp_data.py) have read from it
 * bench_fluid float            a cube of half of water's density at three radii: its depth by Archimedes
 * bench_fluid rest             hydrostatic pressure and height of a pool */
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
	struct world *world = test_world(false, "soft-step");
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

static void measure_rest(void)
{
	for (uint32_t across = 6; across <= 12; across += 3) {
		const double width = 1, spacing = width / across;
		system_id system;
		struct world *world = make_tank(width, width, vec3_make(width, width, width),
						spacing, 5, &system);
		step(world, &parallel_serial, 180);
		uint32_t count = world_particles(world, system, 0, particles, MOST), used = 0;
		double height = 0, slope = 0, squares = 0, mean_y = 0, mean_p = 0;
		for (uint32_t i = 0; i < count; i++)
			height += 2 * particles[i].position.y / count;
		const struct particle_table *table = &world->tables.particle;
		for (uint32_t pass = 0; pass < 2; pass++)
			for (uint32_t i = 0; i < table->count; i++) {
				double y = table->position[i].y, p = table->pressure[i];
				if (y < spacing || y > height - spacing)
					continue;
				if (pass == 0) {
					mean_y += y;
					mean_p += p;
					used++;
				} else {
					slope += (y - mean_y / used) * (p - mean_p / used);
					squares += (y - mean_y / used) * (y - mean_y / used);
				}
			}
		printf("pool, %2u across: height %+.2f %%, pressure gradient %+.1f %%, mean pressure "
		       "%+.1f %%\n",
		       across, 100 * (height / width - 1),
		       100 * (-slope / squares / (WATER * GRAVITY) - 1),
		       100 * (mean_p / used / (WATER * GRAVITY * (height - mean_y / used)) - 1));
		world_destroy(world);
	}
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
	else
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
