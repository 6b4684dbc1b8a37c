/* bench_fluid.c: the cost of fluids, and how well they do.
 *
 * bench_fluid cost [workers]   pools of several sizes: µs a particle and sub-step, iterations, state hash
 * bench_fluid million [workers] the same of 10⁶ particles, three ticks
 * bench_fluid cube SIDE [workers [explicit [rest [ticks [lanes]]]]]
 *                              one of them, SIDE particles along each edge
 * bench_fluid extreme [workers [side]]
 *                              the longest tick of fluids whose parameters want far too much
 * bench_fluid dam              front and height of a collapsing column against the experiment of Martin and
 *                              Moyce (1952) and against potential flow (potential_dam.h)
 * bench_fluid float            a cube of half of water's density at three radii: its depth by Archimedes
 * bench_fluid rest             hydrostatic pressure and height of a pool, by resolution and step
 * bench_fluid drop             cubes under surface tension become balls: pressure by Laplace, period
 *                              by Rayleigh
 * bench_fluid balls [6 [10]]   the pressure by Laplace alone, by particles across the radius
 * bench_fluid wobble [6 [10]]  the period alone
 * bench_fluid channels [18]    profiles of Couette and Poiseuille, by resolution and step
 * bench_fluid pour             pouring without loss, by resolution and step
 * bench_fluid spin             what changes angular momentum
 * bench_fluid slosh            the period of the first wave in a tank */
#include "server/base/processor.h"
#include "server/engine/math/scalar.h"
#include "server/engine/world/world.h"
#include "tests/lib/channels.h"
#include "tests/lib/potential_dam.h"
#include "tests/lib/stage.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1 << 20, TICKS = 20 };
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

/* `surface`: m/s along the body's x axis, of a belt. */
static void add_belt(struct world *world, vec3 at, uint32_t axis, double angle, double surface)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_PLANE, at, &item);
	spawn.spawn.status = BODY_STATIC;
	spawn.spawn.rotation = quat_from_axis_angle(vec3_axis(axis), angle);
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	spawn.spawn.surface_velocity = vec3_make(surface, 0, 0);
	test_do(world, &spawn);
}

static void add_plane(struct world *world, vec3 at, uint32_t axis, double angle)
{
	add_belt(world, at, axis, angle, 0);
}

/* A fluid that fills a box. */
static system_id fill(struct world *world, vec3 at, vec3 size, double spacing, double viscosity,
		      double wall_viscosity)
{
	struct command command = test_system_command("water");
	command.particles_create.capacity = MOST;
	command.particles_create.size = 0.5 * spacing;
	command.particles_create.static_friction = command.particles_create.dynamic_friction = 0;
	command.particles_create.restitution = 0;
	system_id system = test_do(world, &command);
	command = test_command(COMMAND_PARTICLES_FLUID);
	command.particles_fluid.system = system;
	command.particles_fluid.kernel_radius = 2 * spacing;
	command.particles_fluid.viscosity = viscosity;
	command.particles_fluid.wall_viscosity = wall_viscosity;
	test_do(world, &command);
	command = test_command(COMMAND_PARTICLES_FILL);
	command.particles_fill.system = system;
	command.particles_fill.position = at;
	command.particles_fill.size = size;
	command.particles_fill.spacing = spacing;
	test_do(world, &command);
	return system;
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
	*system = fill(world, vec3_make(wet.x / 2, wet.y / 2, 0), wet, spacing, viscosity, 0);
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

/* A cube of so many particles along its side, after `rest` ticks. */
static void measure_cube(const struct parallel *threads, uint32_t workers, uint32_t side,
			 enum fluid_solver solver, uint32_t rest, uint32_t ticks)
{
	system_id system;
	double width = side * 0.05;
	struct world *world =
		make_tank(width, width, vec3_make(width, width, width), 0.05, 1, &system);
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 0.1;
	fluid.particles_fluid.viscosity = 1;
	fluid.particles_fluid.solver = (uint8_t)solver;
	test_do(world, &fluid);
	uint64_t substeps = 0, iterations = 0;
	step(world, threads, rest);
	struct timespec before, after;
	clock_gettime(CLOCK_MONOTONIC, &before);
	double start = now();
	for (uint32_t tick = 0; tick < ticks; tick++) {
		step(world, threads, 1);
		substeps += figures(world).substeps;
		iterations += figures(world).iterations;
	}
	double spent = now() - start;
	clock_gettime(CLOCK_MONOTONIC, &after);
	double wall = (double)(after.tv_sec - before.tv_sec) +
		      1e-9 * (double)(after.tv_nsec - before.tv_nsec);
	uint32_t count = figures(world).particles;
	printf("%7u particles %s %u workers: %6.2f us a particle and sub-step (CPU), %5.1f iterations, "
	       "%.1f sub-steps a tick, %.2f ticks/s by CPU and %.2f by the clock, hash %016llx\n",
	       count, solver == FLUID_EXPLICIT ? "explicit" : "incompressible", workers,
	       1e6 * spent / count / (double)substeps, (double)iterations / (double)substeps,
	       (double)substeps / ticks, ticks * workers / spent, ticks / wall,
	       (unsigned long long)test_hash(world));
	world_destroy(world);
}

static void measure_cost(uint32_t workers)
{
	static const uint32_t SIDES[] = { 10, 15, 22, 33, 46 };
	struct parallel *threads = parallel_threads_create(workers);
	for (uint32_t i = 0; i < COUNT_OF(SIDES); i++)
		measure_cube(threads, workers, SIDES[i], FLUID_INCOMPRESSIBLE, i < 4 ? 10 : 4,
			     i < 4 ? TICKS : 6);
	measure_cube(threads, workers, 10, FLUID_EXPLICIT, 3, 6);
	measure_cube(threads, workers, 22, FLUID_EXPLICIT, 1, 2);
	parallel_threads_destroy(threads);
}

/* A million. */
static void measure_million(uint32_t workers)
{
	struct parallel *threads = parallel_threads_create(workers);
	measure_cube(threads, workers, 100, FLUID_INCOMPRESSIBLE, 1, 2);
	parallel_threads_destroy(threads);
}

/* A cube of so many particles along its side, `closer` times too close, that want all that there is. */
static void measure_extreme(const struct parallel *threads, uint32_t workers, uint32_t side,
			    double closer, enum fluid_solver solver)
{
	system_id system;
	double width = side * 0.05 / closer;
	struct world *world = make_tank(width, width, vec3_make(width, width, width), 0.05 / closer,
					1e6, &system);
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 0.1;
	fluid.particles_fluid.viscosity = 1e6;
	fluid.particles_fluid.tolerance = 1e-8;
	fluid.particles_fluid.compression = 1e-4;
	fluid.particles_fluid.step_ratio = 0.01;
	fluid.particles_fluid.substeps_max = FLUID_SUBSTEPS_MAX;
	fluid.particles_fluid.solver = (uint8_t)solver;
	test_do(world, &fluid);
	double longest = 0;
	uint64_t substeps = 0, iterations = 0;
	for (uint32_t tick = 0; tick < 2; tick++) {
		double start = now();
		step(world, threads, 1);
		longest = fmax(longest, now() - start);
		substeps += figures(world).substeps;
		iterations += figures(world).iterations;
	}
	struct fluid_view view = figures(world);
	printf("%7u particles %s %u times too close, %u workers: %.1f s of processor time for "
	       "the longest of 2 ticks, %.1f sub-steps a tick, %.1f iterations each, %u capped, "
	       "%u unconverged, %u crowded, %u lost, %u stopped\n",
	       view.particles, solver == FLUID_EXPLICIT ? "explicit" : "incompressible",
	       (uint32_t)closer, workers, longest, (double)substeps / 2,
	       (double)iterations / (double)substeps, (uint32_t)view.capped,
	       (uint32_t)view.unconverged, (uint32_t)view.crowded, (uint32_t)view.lost,
	       (uint32_t)view.bad);
	world_destroy(world);
}

static void measure_extremes(uint32_t workers, uint32_t side)
{
	struct parallel *threads = parallel_threads_create(workers);
	for (uint32_t closer = 1; closer <= 4; closer += 3) {
		measure_extreme(threads, workers, side, closer, FLUID_INCOMPRESSIBLE);
		measure_extreme(threads, workers, side, closer, FLUID_EXPLICIT);
	}
	parallel_threads_destroy(threads);
}

static void measure_one(int count, char **words)
{
	/* side, workers, explicit, rest, ticks, lanes */
	uint32_t numbers[] = { 10, 1, 0, 5, 10, 16 };
	for (int i = 0; i < count && i < (int)COUNT_OF(numbers); i++)
		numbers[i] = (uint32_t)strtoul(words[i], NULL, 10);
	struct parallel *threads = parallel_threads_create(numbers[1]);
	processor_limit_lanes(numbers[5]);
	measure_cube(threads, numbers[1], numbers[0],
		     numbers[2] ? FLUID_EXPLICIT : FLUID_INCOMPRESSIBLE, numbers[3], numbers[4]);
	parallel_threads_destroy(threads);
}

/* ---- dam break -------------------------------------------------------------------------------------- */

/* Martin and Moyce (1952), a = 2.25 in. Fronts are x/a at t n √(g/a), heights y/(n² a) at t √(g/a). */
struct measured {
	double time, size;
};
struct dam {
	double n2; /* height of the column over its width */
	struct measured front[24], height[24];
	uint32_t fronts, heights;
};

enum { DAM_POINTS = 2000, DAM_DEPTH = 4 }; /* spacings between the walls along the column */
struct dam_curve {
	struct measured points[DAM_POINTS];
	uint32_t count;
};

/* Tables 2 and 6 for n² = 2 as Ocellaris has them, curves for n² = 1 as Leakey et al. (2021) have
 * read them. */
static const struct dam DAMS[] = {
	{ 2,
	  { { 0.41, 1.11 },
	    { 0.84, 1.22 },
	    { 1.19, 1.44 },
	    { 1.43, 1.67 },
	    { 1.63, 1.89 },
	    { 1.83, 2.11 },
	    { 1.98, 2.33 },
	    { 2.20, 2.56 },
	    { 2.32, 2.78 },
	    { 2.51, 3.00 },
	    { 2.65, 3.22 },
	    { 2.83, 3.44 },
	    { 2.98, 3.67 },
	    { 3.11, 3.89 },
	    { 3.33, 4.11 } },
	  { { 0.56, 0.94 },
	    { 0.77, 0.89 },
	    { 0.93, 0.83 },
	    { 1.08, 0.78 },
	    { 1.28, 0.72 },
	    { 1.46, 0.67 },
	    { 1.66, 0.61 },
	    { 1.84, 0.56 },
	    { 2.00, 0.50 },
	    { 2.21, 0.44 },
	    { 2.45, 0.39 },
	    { 2.70, 0.33 },
	    { 3.06, 0.28 } },
	  15,
	  13 },
	{ 1,
	  { { 0.43, 1.11 }, { 0.62, 1.22 }, { 0.80, 1.44 }, { 0.97, 1.67 }, { 1.14, 1.89 },
	    { 1.29, 2.11 }, { 1.45, 2.33 }, { 1.62, 2.56 }, { 1.76, 2.78 }, { 1.93, 3.00 },
	    { 2.07, 3.22 }, { 2.24, 3.44 }, { 2.40, 3.67 }, { 2.54, 3.89 }, { 2.71, 4.11 },
	    { 2.87, 4.33 }, { 3.04, 4.56 }, { 3.21, 4.78 }, { 3.29, 4.89 }, { 3.32, 5.00 } },
	  { { 0.80, 0.89 },
	    { 1.29, 0.78 },
	    { 1.74, 0.67 },
	    { 2.15, 0.56 },
	    { 2.57, 0.44 },
	    { 3.08, 0.33 } },
	  20,
	  6 },
};

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

/* Of the two columns of particles at the wall: twice the mean height of their particles. (Their number is no
 * measure: while the layers beside the wall move apart by less than half of a spacing, it stays.) */
static double height_of(const struct world *world, system_id system, double spacing)
{
	uint32_t count = world_particles(world, system, 0, particles, MOST), near = 0;
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		if (particles[i].position.x < 2 * spacing)
			sum += particles[i].position.y, near++;
	return near > 0 ? 2 * sum / near : 0;
}

static double curve_at(const struct measured *curve, uint32_t count, double time)
{
	uint32_t k = 1;
	while (k + 1 < count && curve[k].time < time)
		k++;
	double part = (time - curve[k - 1].time) / (curve[k].time - curve[k - 1].time);
	return curve[k - 1].size + part * (curve[k].size - curve[k - 1].size);
}

/* Mean and root of the mean square of how far a run is from a curve at the times of a table. */
static void compare(const char *what, const struct measured *table, uint32_t count,
		    const struct dam_curve *run, const struct dam_curve *flow)
{
	double measured[2] = { 0 }, inviscid[2] = { 0 }, lead[2] = { 0 };
	for (uint32_t i = 0; i < count; i++) {
		double here = curve_at(run->points, run->count, table[i].time);
		double there = curve_at(flow->points, flow->count, table[i].time);
		double errors[3] = { here / table[i].size - 1, here / there - 1,
				     there / table[i].size - 1 };
		measured[0] += errors[0] / count, measured[1] += errors[0] * errors[0] / count;
		inviscid[0] += errors[1] / count, inviscid[1] += errors[1] * errors[1] / count;
		lead[0] += errors[2] / count, lead[1] += errors[2] * errors[2] / count;
	}
	printf("  %s: against the experiment %+.1f %% (rms %.1f), "
	       "against potential flow %+.1f %% (rms %.1f); "
	       "potential flow against the experiment %+.1f %% (rms %.1f)\n",
	       what, 100 * measured[0], 100 * sqrt(measured[1]), 100 * inviscid[0],
	       100 * sqrt(inviscid[1]), 100 * lead[0], 100 * sqrt(lead[1]));
}

static void run_flow(const struct dam *dam, struct dam_curve *front, struct dam_curve *height)
{
	struct potential_dam flow;
	potential_start(&flow, dam->n2, 120);
	front->count = height->count = 0;
	while (front->count < DAM_POINTS && flow.time < 3.5) {
		front->points[front->count++] = (struct measured){ flow.time * sqrt(dam->n2),
								   creal(flow.z[flow.nodes - 1]) };
		height->points[height->count++] =
			(struct measured){ flow.time, cimag(flow.z[0]) / dam->n2 };
		potential_step(&flow, 0.01);
	}
}

/* `floor`: Pa s, the fluid's friction on ground and walls. */
static void run_dam(const struct dam *dam, uint32_t across, uint32_t rate, double floor,
		    enum fluid_solver solver)
{
	static struct dam_curve fronts, heights, front, height;
	static const struct dam *known;
	const double a = 1, spacing = a / across, n = sqrt(dam->n2), unit = sqrt(GRAVITY / a);
	system_id system;
	tick_rate = rate;
	struct world *world =
		make_tank(12, DAM_DEPTH * spacing, vec3_make(a, dam->n2 * a, DAM_DEPTH * spacing),
			  spacing, 0.001, &system);
	struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 2 * spacing;
	fluid.particles_fluid.viscosity = 0.001;
	fluid.particles_fluid.wall_viscosity = floor;
	fluid.particles_fluid.solver = solver;
	test_do(world, &fluid);
	double t = 0;
	fronts.count = heights.count = 0;
	while (fronts.count < DAM_POINTS && t * unit < 3.5) {
		fronts.points[fronts.count++] =
			(struct measured){ t * n * unit,
					   (front_of(world, system) + spacing / 2) / a };
		heights.points[heights.count++] =
			(struct measured){ t * unit,
					   height_of(world, system, spacing) / (dam->n2 * a) };
		step(world, &parallel_serial, 1);
		t += 1.0 / rate;
	}
	printf("dam, n2 = %g, %u across, %u ticks/s, %s, friction %g Pa s:\n", dam->n2, across,
	       rate, solver == FLUID_EXPLICIT ? "explicit" : "incompressible", floor);
	if (known != dam)
		run_flow(dam, &front, &height);
	known = dam;
	compare("front", dam->front, dam->fronts, &fronts, &front);
	compare("height", dam->height, dam->heights, &heights, &height);
	world_destroy(world);
	tick_rate = 60;
}

static void measure_dam(void)
{
	for (uint32_t i = 0; i < COUNT_OF(DAMS); i++) {
		for (uint32_t across = 8; across <= 32; across *= 2)
			run_dam(&DAMS[i], across, 60, 0, FLUID_INCOMPRESSIBLE);
		run_dam(&DAMS[i], 16, 240, 0, FLUID_INCOMPRESSIBLE);
		run_dam(&DAMS[i], 16, 60, 0.001, FLUID_INCOMPRESSIBLE);
		run_dam(&DAMS[i], 16, 60, 1, FLUID_INCOMPRESSIBLE);
		run_dam(&DAMS[i], 16, 60, 0, FLUID_EXPLICIT);
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

/* A free cube rolls onto an edge, because it is not stable flat; `held`: it does not turn. */
static void float_cube(uint32_t across, uint32_t rate, bool held)
{
	const double spacing = 1.0 / across, width = 2, depth = 1;
	tick_rate = rate;
	system_id system;
	struct world *world =
		make_tank(width, width, vec3_make(width, depth, width), spacing, 20, &system);
	struct attachment item;
	struct command spawn =
		test_spawn_command(world, TEST_BOX, vec3_make(width / 2, depth + 0.3, 0), &item);
	spawn.spawn.density = 0.5 * WATER;
	if (held)
		spawn.spawn.flags |= BODY_FIXED_ROTATION;
	spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	body_id box = test_do(world, &spawn);
	step(world, &parallel_serial, 5 * rate);
	double bottom = 0;
	uint32_t ticks = 2 * rate;
	for (uint32_t i = 0; i < ticks; i++) {
		step(world, &parallel_serial, 1);
		bottom += (test_body(world, box).position.y - 0.5) / ticks;
	}
	/* The level is that of the water's own volume and of what the cube takes from it. */
	double volume = figures(world).particles * spacing * spacing * spacing;
	double area = width * width, level = (volume - bottom) / (area - 1);
	printf("cube %s, %2u particles along it, %3u ticks/s: draft %.4f, by Archimedes 0.5, "
	       "%+.1f %%\n",
	       held ? "held upright" : "that turns", across, rate, level - bottom,
	       100 * ((level - bottom) / 0.5 - 1));
	world_destroy(world);
	tick_rate = 60;
}

static void measure_float(void)
{
	for (int held = 0; held <= 1; held++) {
		for (uint32_t across = 6; across <= 15; across += 3)
			float_cube(across, 60, held);
		float_cube(9, 120, held);
		float_cube(9, 240, held);
	}
}

/* The first wave of a tank of 1 m with 0.5 m of water: its period against 2π/√(g k tanh(k d)), k = π. */
static void slosh(uint32_t across, uint32_t rate)
{
	tick_rate = rate;
	const double spacing = 1.0 / across, k = 2 * QUARTER;
	system_id system;
	struct world *world =
		make_tank(1, 4 * spacing, vec3_make(1, 0.5, 4 * spacing), spacing, 30, &system);
	struct command gravity = test_command(COMMAND_GRAVITY),
		       fluid = test_command(COMMAND_PARTICLES_FLUID);
	double before = 0, first = 0, last = 0;
	uint32_t passages = 0;
	gravity.gravity.gravity = vec3_make(1.5, -9.7, 0);
	test_do(world, &gravity);
	step(world, &parallel_serial, rate);
	gravity.gravity.gravity = vec3_make(0, -GRAVITY, 0);
	test_do(world, &gravity);
	fluid.particles_fluid.system = system;
	fluid.particles_fluid.kernel_radius = 2 * spacing;
	test_do(world, &fluid);
	for (uint32_t tick = 0; tick < 110 * rate / 60; tick++) {
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
	double period = 2 * (last - first) / (passages - 1) / rate;
	double expected = 4 * QUARTER / sqrt(GRAVITY * k * tanh(k * 0.5));
	printf("waves, %2u across, %3u ticks/s: period %.3f s, expected %.3f s, %+.1f %%\n", across,
	       rate, period, expected, 100 * (period / expected - 1));
	world_destroy(world);
	tick_rate = 60;
}

static void measure_slosh(void)
{
	for (uint32_t across = 10; across <= 40; across *= 2)
		slosh(across, 60);
	slosh(20, 120);
	slosh(20, 240);
}

/* ---- pouring ----------------------------------------------------------------------------------------- */

/* A beam of water falls into a tank of 0.6 m until its level is 0.4 m; two seconds later. */
static void pour(uint32_t across, uint32_t rate)
{
	const double width = 0.6, spacing = width / across, speed = 2;
	const uint32_t wide = across / 2;
	const uint32_t layers = (uint32_t)(0.4 / spacing * across * across / (wide * wide));
	system_id system;
	tick_rate = rate;
	struct world *world =
		make_tank(width, width, vec3_make(width, spacing, width), spacing, 2, &system);
	uint32_t count = figures(world).particles, outside = 0;
	double time = 0;
	for (uint32_t layer = 0; layer < layers; layer++) {
		struct command command = test_command(COMMAND_PARTICLES_FILL);
		command.particles_fill.system = system;
		command.particles_fill.position = vec3_make(width / 2, 1.2, 0);
		command.particles_fill.size = vec3_make(wide * spacing, 0, wide * spacing);
		command.particles_fill.spacing = spacing;
		command.particles_fill.velocity = vec3_make(0, -speed, 0);
		test_do(world, &command);
		count += wide * wide;
		for (; time < (layer + 1) * spacing / speed; time += 1.0 / rate)
			step(world, &parallel_serial, 1);
	}
	step(world, &parallel_serial, 2 * rate);
	uint32_t found = world_particles(world, system, 0, particles, MOST);
	double level = 0, expected = count * spacing * spacing * spacing / (width * width);
	for (uint32_t i = 0; i < found; i++) {
		vec3 p = particles[i].position;
		level += 2 * p.y / found;
		outside += p.y < 0 || p.x < 0 || p.x > width || fabs(p.z) > width / 2;
	}
	printf("pouring, %2u across, %3u ticks/s: %u of %u particles, %u outside, %u stopped, "
	       "level %+.1f %%\n",
	       across, rate, found, count, outside, (uint32_t)figures(world).bad,
	       100 * (level / expected - 1));
	world_destroy(world);
	tick_rate = 60;
}

static void measure_pour(void)
{
	for (uint32_t across = 6; across <= 12; across += 3)
		pour(across, 60);
	pour(6, 120);
	pour(6, 240);
}

/* ---- channels (channels.h) -------------------------------------------------------------------------- */

/* Of v along y against a profile, away from the open ends, by the largest speed. */
struct channel_error {
	double root, mean, most; /* root of the mean square, mean, largest difference */
	uint32_t substeps;
};

static struct channel_error compare_profile(const struct world *world,
					    double (*profile)(double x, double z), double speed)
{
	const struct particle_table *table = &world->tables.particle;
	struct channel_error out = { .substeps = figures(world).substeps };
	uint32_t used = 0;
	for (uint32_t i = 0; i < table->count; i++) {
		vec3 p = table->position[i];
		if (fabs(p.y) > 0.8)
			continue;
		double off = (table->velocity[i].y - profile(p.x, p.z)) / speed;
		out.root += off * off, out.mean += off, used++;
		out.most = fmax(out.most, fabs(off));
	}
	out.root = sqrt(out.root / used), out.mean /= used;
	return out;
}

static struct channel_error measure_profile(bool belts, uint32_t across, uint32_t ticks)
{
	const double spacing = 1.0 / across, viscosity = WATER * POISEUILLE_VISCOSITY;
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = ticks;
	struct world *world = test_world_of(&options);
	struct command gravity = test_command(COMMAND_GRAVITY);
	gravity.gravity.gravity = vec3_make(0, belts ? 0 : -POISEUILLE_GRAVITY, 0);
	test_do(world, &gravity);
	for (int side = -1; side <= 1; side += 2) {
		add_belt(world, vec3_make(0.5 * side, 0, 0), 2, side * QUARTER,
			 belts ? COUETTE_SPEED : 0);
		if (!belts)
			add_plane(world, vec3_make(0, 0, 0.5 * side), 0, -side * QUARTER);
	}
	/* A pipe's fluid falls to the middle meanwhile. */
	fill(world, vec3_make(0, belts ? 0 : 0.15, 0), vec3_make(1, 3, belts ? 0.5 : 1), spacing,
	     viscosity, viscosity);
	step(world, &parallel_serial, ticks * 3 / 5);
	struct channel_error out = compare_profile(world, belts ? couette : poiseuille,
						   belts ? COUETTE_SPEED : fabs(poiseuille(0, 0)));
	world_destroy(world);
	return out;
}

/* Profiles at three resolutions and two lengths of a sub-step, which viscosity bounds. */
static void measure_channels(uint32_t most)
{
	for (int belts = 1; belts >= 0; belts--)
		for (uint32_t fine = 1; fine <= 2; fine++) {
			double before = 0;
			for (uint32_t across = 6; across <= most; across += 6) {
				uint32_t ticks = fine == 1 ? 60 : 30 * across * across;
				struct channel_error error = measure_profile(belts, across, ticks);
				printf("%s, %2u across, sub-steps of 1/%u s: error %.2f %% (rms), "
				       "mean %+.2f %%, largest %.1f %%",
				       belts ? "Couette" : "Poiseuille", across,
				       ticks * error.substeps, 100 * error.root, 100 * error.mean,
				       100 * error.most);
				if (before > 0)
					printf(", order %.2f",
					       log(before / error.root) /
						       log(across / (across - 6.0)));
				printf("\n");
				before = error.root;
			}
		}
}

/* ---- drops ------------------------------------------------------------------------------------------ */

/* Lattice places for which `inside` says so, in free fall; tension 1 N/m, density 1000 kg/m³. */
static struct world *make_drop(double spacing, double radius, bool cube, double stretch,
			       double viscosity, system_id *system)
{
	struct world_options options = test_options(false, "soft-step");
	options.rate_num = tick_rate;
	struct world *world = test_world_of(&options);
	test_no_gravity(world);
	struct command command = test_system_command("drop");
	command.particles_create.capacity = MOST;
	command.particles_create.size = 0.5 * spacing;
	command.particles_create.mass = WATER * spacing * spacing * spacing;
	command.particles_create.life = 0;
	*system = test_do(world, &command);
	command = test_command(COMMAND_PARTICLES_FLUID);
	command.particles_fluid.system = *system;
	command.particles_fluid.kernel_radius = 2 * spacing;
	command.particles_fluid.viscosity = viscosity;
	command.particles_fluid.surface_tension = 1;
	command.particles_fluid.tolerance = 1e-5;
	test_do(world, &command);
	int most = (int)(radius / spacing) + 1;
	for (int x = -most; x < most; x++)
		for (int y = -most; y < most; y++)
			for (int z = -most; z < most; z++) {
				vec3 at = vec3_scale(vec3_make(x + 0.5, y + 0.5, z + 0.5), spacing);
				double far =
					cube ? vec3_max_component(vec3_abs(at)) : vec3_length(at);
				if (far > radius)
					continue;
				struct command add = test_command(COMMAND_PARTICLES_ADD);
				add.particles_add.system = *system;
				add.particles_add.position = at;
				add.particles_add.velocity = vec3_scale(
					vec3_make(at.x, -0.5 * at.y, -0.5 * at.z), stretch);
				test_do(world, &add);
			}
	return world;
}

/* How round: ⟨x⁴ + y⁴ + z⁴⟩/⟨r⁴⟩ is 0.6 of a ball, 0.474 of a cube. How long: ⟨x² − (y² + z²)/2⟩/⟨r²⟩. The
 * radius is that of the volume. */
struct drop {
	double round, length, radius, pressure, speed;
	uint32_t count, away;
};

static struct drop look_at(const struct world *world, double spacing)
{
	const struct particle_table *table = &world->tables.particle;
	struct drop drop = { .count = table->count };
	double fourth = 0, all = 0, second = 0, squares = 0, core = 0;
	drop.radius = cbrt(0.75 / (2 * QUARTER) * table->count) * spacing;
	for (uint32_t i = 0; i < table->count; i++) {
		vec3 p = table->position[i], q = vec3_hadamard(p, p);
		double r2 = q.x + q.y + q.z;
		drop.away += r2 > 4 * drop.radius * drop.radius;
		fourth += vec3_dot(q, q);
		all += r2 * r2;
		second += q.x - 0.5 * (q.y + q.z);
		squares += r2;
		drop.speed += vec3_length_squared(table->velocity[i]);
		if (r2 < 0.25 * drop.radius * drop.radius) {
			drop.pressure += table->pressure[i];
			core++;
		}
	}
	drop.round = fourth / all;
	drop.length = second / squares;
	drop.pressure /= core;
	drop.speed = sqrt(drop.speed / table->count);
	return drop;
}

/* A cube becomes a ball; its pressure is 2γ/R. */
static void measure_drop(void)
{
	for (uint32_t k = 0; k < 4; k++) {
		const double spacing = 0.01, side = (4 + 2 * k) * spacing;
		system_id system;
		struct world *world = make_drop(spacing, 0.5 * side + 1e-6, true, 0, 0.5, &system);
		struct drop before = look_at(world, spacing), now = before;
		step(world, &parallel_serial, 2 * tick_rate);
		double pressure = 0;
		for (uint32_t tick = 0; tick < 60; tick++) {
			step(world, &parallel_serial, 1);
			now = look_at(world, spacing);
			pressure += now.pressure / 60;
		}
		printf("cube of %u: round %.3f -> %.3f (ball 0.6), %u away, "
		       "pressure %.1f Pa, 2 gamma/R %.1f Pa, "
		       "speeds %.2g m/s, %u sub-steps\n",
		       now.count, before.round, now.round, now.away, pressure, 2 / now.radius,
		       now.speed, figures(world).substeps);
		world_destroy(world);
	}
}

/* The pressure in a ball that was stretched and came to rest, by Laplace. */
static void measure_laplace(uint32_t across)
{
	const double spacing = 0.1 / across;
	const uint32_t ticks = 60;
	system_id system;
	struct world *world = make_drop(spacing, 0.1, false, 0.5, 2, &system);
	double pressure = 0;
	step(world, &parallel_serial, 3 * tick_rate);
	struct drop now = { 0 };
	for (uint32_t tick = 0; tick < ticks; tick++) {
		step(world, &parallel_serial, 1);
		now = look_at(world, spacing);
		pressure += now.pressure / ticks;
	}
	printf("ball, %2u across its radius (%u particles): pressure %.1f Pa, by Laplace %.1f Pa, "
	       "%+.0f %%; round %.3f, %u away, speeds %.2g m/s\n",
	       across, now.count, pressure, 2 / now.radius, 100 * (pressure * now.radius / 2 - 1),
	       now.round, now.away, now.speed);
	world_destroy(world);
}

static void measure_balls(uint32_t first, uint32_t last)
{
	for (uint32_t across = first; across <= last; across += 2)
		measure_laplace(across);
}

/* The period of a drop that was stretched, by Rayleigh. */
static void measure_wobble(uint32_t least, uint32_t most)
{
	for (uint32_t across = least; across <= most; across += 2) {
		const double spacing = 0.1 / across;
		system_id system;
		tick_rate = 240;
		struct world *world = make_drop(spacing, 0.1, false, 0.5, 0.05, &system);
		double first = 0, last = 0, before = 0;
		uint32_t passages = 0, ticks = 0;
		struct drop drop = look_at(world, spacing);
		double period = 4 * QUARTER * sqrt(WATER * pow(drop.radius, 3) / 8);
		for (; ticks < 240 * 2.5 * period && passages < 4; ticks++) {
			step(world, &parallel_serial, 1);
			drop = look_at(world, spacing);
			if (ticks > 0 && (drop.length < 0) != (before < 0)) {
				last = ticks - drop.length / (drop.length - before);
				first = passages++ == 0 ? last : first;
			}
			before = drop.length;
		}
		printf("drop, %u across its radius (%u particles): ", across, drop.count);
		if (passages > 1)
			printf("period %.3f s, ", 2 * (last - first) / (passages - 1) / 240);
		printf("by Rayleigh %.3f s, %u passages\n", period, passages);
		world_destroy(world);
		tick_rate = 60;
	}
}

/* ---- angular momentum -------------------------------------------------------------------------------- */

static vec3 angular_momentum(const struct world *world)
{
	const struct particle_table *table = &world->tables.particle;
	vec3 sum = vec3_zero();
	for (uint32_t i = 0; i < table->count; i++)
		sum = vec3_mul_add(sum, vec3_cross(table->position[i], table->velocity[i]),
				   table->mass[i]);
	return sum;
}

/* A free cube of 512 particles that turns and is pressed together, without bodies: the largest
 * change of its angular momentum in a tick, by its size. */
static void measure_spin(void)
{
	static const struct {
		const char *what;
		double viscosity, tension;
		bool alone; /* no pressures */
	} ROWS[] = { { "pressure", 0, 0, false },
		     { "and viscosity", 20, 0, false },
		     { "and surface tension", 0, 5, false },
		     { "viscosity without pressure", 20, 0, true } };
	for (int solver = FLUID_EXPLICIT; solver <= FLUID_INCOMPRESSIBLE; solver++)
		for (uint32_t row = 0; row < COUNT_OF(ROWS); row++) {
			struct world *world = test_world(false, "soft-step");
			test_no_gravity(world);
			const double spacing = 0.1;
			system_id system = fill(world, vec3_zero(), vec3_all(8 * spacing), spacing,
						ROWS[row].viscosity, 0);
			struct command fluid = test_command(COMMAND_PARTICLES_FLUID);
			fluid.particles_fluid.system = system;
			fluid.particles_fluid.kernel_radius = 2 * spacing;
			fluid.particles_fluid.viscosity = ROWS[row].viscosity;
			fluid.particles_fluid.surface_tension = ROWS[row].tension;
			fluid.particles_fluid.solver = (uint8_t)solver;
			test_do(world, &fluid);
			struct particle_table *table = &world->tables.particle;
			for (uint32_t i = 0; i < table->count; i++) {
				vec3 x = table->position[i];
				vec3 in = vec3_make(-x.x, -0.4 * x.y, -0.7 * x.z);
				vec3 v = vec3_cross(vec3_make(0.5, 1, -0.3), x);
				table->velocity[i] =
					vec3_add(v, vec3_scale(in, ROWS[row].alone ? -1 : 1));
			}
			vec3 first = angular_momentum(world), before = first;
			double most = 0;
			for (uint32_t tick = 0; tick < 20; tick++) {
				step(world, &parallel_serial, 1);
				vec3 now = angular_momentum(world);
				most = fmax(most, vec3_distance(now, before));
				before = now;
			}
			printf("%s, %s: changes by up to %.2g in a tick, %.2g in 20\n",
			       solver == FLUID_EXPLICIT ? "explicit" : "incompressible",
			       ROWS[row].what, most / vec3_length(first),
			       vec3_distance(before, first) / vec3_length(first));
			world_destroy(world);
		}
}

/* An argument, `otherwise` if there is none. */
static uint32_t number(int argc, char **argv, int at, uint32_t otherwise)
{
	return at < argc ? (uint32_t)strtoul(argv[at], NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cost";
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (strcmp(what, "cost") == 0)
		measure_cost(number(argc, argv, 2, 1));
	else if (strcmp(what, "million") == 0)
		measure_million(number(argc, argv, 2, 1));
	else if (strcmp(what, "cube") == 0)
		measure_one(argc - 2, argv + 2);
	else if (strcmp(what, "extreme") == 0)
		measure_extremes(number(argc, argv, 2, 1), number(argc, argv, 3, 46));
	else if (strcmp(what, "dam") == 0)
		measure_dam();
	else if (strcmp(what, "float") == 0)
		measure_float();
	else if (strcmp(what, "rest") == 0)
		measure_rest();
	else if (strcmp(what, "channels") == 0)
		measure_channels(number(argc, argv, 2, 18));
	else if (strcmp(what, "drop") == 0)
		measure_drop(), measure_balls(6, 10), measure_wobble(6, 10);
	else if (strcmp(what, "pour") == 0)
		measure_pour();
	else if (strcmp(what, "spin") == 0)
		measure_spin();
	else if (strcmp(what, "balls") == 0)
		measure_balls(number(argc, argv, 2, 6), number(argc, argv, 3, 10));
	else if (strcmp(what, "wobble") == 0)
		measure_wobble(number(argc, argv, 2, 6), number(argc, argv, 3, 10));
	else if (strcmp(what, "slosh") == 0)
		measure_slosh();
	else
		return EXIT_FAILURE;
	return EXIT_SUCCESS;
}
