/* bench_joints: joints under soft-step.
 *
 *   chains    2000 joints in chains of 20 without contacts, spherical or revolute: of a joint and a
 *             sub-step, the passes alone (solve and relax together), all work for joints, and the
 *             whole tick
 *   ladders   the same of 50 bridges of 20 planks, two spherical joints a gap
 *   net       100 by 100 cubes, joined to their neighbours by spherical joints and hung up at the
 *             corners: ticks with kernels of 1, 4, 8 and 16 lanes; alone with the word `net`, then
 *             how many ticks (30) and the only width
 *   arms      64 worlds with an arm of seven driven joints each at 1 kHz, targets sent every tick
 *   figures   errors of a chain of 100 links, of loads and a pendulum: joints and energy; alone with
 *             the word `figures`
 *   links     a chain of 100, 1000 and 10⁴ links (or the numbers given) under `lcp` at 960 Hz, joints in the
 *             masses and, up to 1000, as rows: processor time of a step and a link, joints, energy;
 *             alone with the word `links`
 *
 * Times are the least of several runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/processor.h"
#include "server/engine/math/sym3.h"
#include "server/engine/methods/soft_step.h"
#include "server/engine/world/world.h"
#include "tests/lib/worlds.h"

enum {
	LINKS = 20,
	CHAINS = 100,
	ARMS = 64,
	ARM_JOINTS = 7,
	RUNS = 20,
	SUBSTEPS = 4,
	NET = 100,
	NET_RUNS = 30,
	WIDTHS = 4
};

static double now_us(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* Processor time, because the rest of the machine hardly changes it. */
static double processor_us(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* ---- worlds --------------------------------------------------------------------------------- */

static struct world *make_under(const char *method, uint32_t rate)
{
	struct world_options options = test_options(false, method);
	options.rate_num = rate;
	options.rate_den = 1;
	struct world *world = test_world_of(&options);
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text("sleep.enabled");
	command.parameter.value = 0;
	test_do(world, &command);
	return world;
}

static struct world *make(uint32_t rate)
{
	return make_under("soft-step", rate);
}

static body_id add(struct world *world, vec3 position, double mass)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, TEST_BOX, position, &item);
	spawn.spawn.mass = mass;
	spawn.spawn.mask = 0;
	return test_do(world, &spawn);
}

static joint_id join(struct world *world, enum joint_type type, body_id a, body_id b, vec3 point,
		     vec3 axis)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = (uint8_t)type;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.place = 1;
	command.joint_create.point_a = point;
	command.joint_create.frame_a = quat_between(vec3_axis(0), axis);
	return test_do(world, &command);
}

/* Adds a chain of cubes from `start` in the direction `way`. */
static void add_chain(struct world *world, enum joint_type type, vec3 start, vec3 way,
		      uint32_t links, double last)
{
	body_id before = 0;
	for (uint32_t i = 0; i < links; i++) {
		vec3 point = vec3_mul_add(start, way, i);
		body_id body = add(world, vec3_mul_add(point, way, 0.5), i == links - 1 ? last : 1);
		join(world, type, before, body, point, vec3_axis(2));
		before = body;
	}
}

/* ---- chains --------------------------------------------------------------------------------- */

struct times {
	double passes, joints;
};

/* The part of a step that concerns joints; the step is not committed. */
static struct times time_joints(struct world *world)
{
	struct dynamics *dynamics = &world->dynamics;
	struct step step;
	struct reason why;
	struct times least = { 1e9, 1e9 };
	dynamics->parallel = &parallel_serial;
	if (step_begin(&step, dynamics, 1.0 / 60, true, NULL, &why) != STATUS_OK)
		abort();
	step_number(&step);
	struct soft_step soft = { .kernels = soft_kernels_choose(),
				  .step = &step,
				  .dynamics = dynamics,
				  .dt = step.dt,
				  .substeps = SUBSTEPS };
	soft.h = (float)(step.dt / SUBSTEPS);
	soft.push_speed = 3;
	soft_prepare_bodies(&soft);
	if (soft_joints_make(&soft, &why) != STATUS_OK)
		abort();
	soft_prepare_turns(&soft);
	soft_joints_measure(&soft);
	for (uint32_t run = 0; run < RUNS; run++) {
		double begin = processor_us();
		soft_joints_solve(&soft, 0);
		soft_joints_relax(&soft, step.dt / SUBSTEPS);
		double middle = processor_us();
		soft_joints_measure(&soft); /* as relaxing did before its pass */
		double end = processor_us();
		least.passes = fmin(least.passes, middle - begin - (end - middle));
		least.joints = fmin(least.joints, middle - begin);
	}
	step_abandon(&step);
	return least;
}

static void time_world(const char *name, struct world *world, double count)
{
	double least = 1e9;
	for (uint32_t run = 0; run < 5 * RUNS; run++) {
		double begin = now_us();
		test_step(world, 1);
		least = fmin(least, now_us() - begin);
	}
	struct times times = time_joints(world);
	printf("%-10s passes %.3f us, joints %.3f us, tick %.3f us a joint and sub-step\n", name,
	       times.passes / count, times.joints / count, least / (count * SUBSTEPS));
	world_destroy(world);
}

static void chains(const char *name, enum joint_type type)
{
	struct world *world = make(60);
	for (uint32_t c = 0; c < CHAINS; c++)
		add_chain(world, type, vec3_make(0, 0, 2 * c), vec3_axis(0), LINKS, 1);
	time_world(name, world, CHAINS * LINKS);
}

/* Bridges between two walls, with two joints from each plank to the next. */
static void ladders(void)
{
	struct world *world = make(60);
	for (uint32_t c = 0; c < CHAINS / 2; c++) {
		body_id before = 0;
		for (uint32_t i = 0; i <= LINKS; i++) {
			vec3 point = vec3_make(i, 0, 2 * c);
			vec3 centre = vec3_mul_add(point, vec3_axis(0), 0.5);
			body_id body = i == LINKS ? 0 : add(world, centre, 1);
			for (int side = -1; side <= 1; side += 2)
				join(world, JOINT_SPHERICAL, before, body,
				     vec3_mul_add(point, vec3_axis(2), 0.4 * side), vec3_axis(2));
			before = body;
		}
	}
	time_world("ladders", world, CHAINS * (LINKS + 1));
}

/* ---- a net ---------------------------------------------------------------------------------- */

static struct world *make_net(void)
{
	struct world *world = make(60);
	static body_id at[NET][NET];
	for (uint32_t i = 0; i < NET; i++)
		for (uint32_t k = 0; k < NET; k++) {
			vec3 centre = vec3_make(2 * i, 0, 2 * k);
			bool corner = i % (NET - 1) == 0 && k % (NET - 1) == 0;
			at[i][k] = add(world, centre, 1);
			vec3 back = vec3_make(2 * i - 1.0, 0, 2 * k);
			vec3 left = vec3_make(2 * i, 0, 2 * k - 1.0);
			if (i > 0)
				join(world, JOINT_SPHERICAL, at[i - 1][k], at[i][k], back,
				     vec3_axis(2));
			if (k > 0)
				join(world, JOINT_SPHERICAL, at[i][k - 1], at[i][k], left,
				     vec3_axis(2));
			if (corner)
				join(world, JOINT_SPHERICAL, 0, at[i][k], centre, vec3_axis(2));
		}
	return world;
}

/* The widths take turns, so that other work on the machine hits all of them. */
static void net(uint32_t runs, uint32_t only)
{
	uint32_t widths[WIDTHS] = { 1, 4, 8, 16 };
	for (uint32_t w = 0; w < WIDTHS && only > 0; w++)
		widths[w] = only;
	struct world *worlds[WIDTHS];
	struct times times[WIDTHS];
	double least[WIDTHS];
	for (uint32_t w = 0; w < WIDTHS; w++) {
		worlds[w] = make_net();
		least[w] = 1e9;
	}
	for (uint32_t run = 0; run < runs; run++)
		for (uint32_t w = 0; w < WIDTHS; w++) {
			processor_limit_lanes(widths[w]);
			double begin = processor_us();
			test_step(worlds[w], 1);
			least[w] = fmin(least[w], processor_us() - begin);
		}
	for (uint32_t w = 0; w < WIDTHS; w++) {
		processor_limit_lanes(widths[w]);
		times[w] = time_joints(worlds[w]);
		printf("net %u lanes: tick %.2f ms, %.2f of scalar; passes %.2f, joints %.2f ms; "
		       "hash %016llx\n",
		       widths[w], least[w] * 1e-3, least[w] / least[0], times[w].passes * 1e-3,
		       times[w].joints * 1e-3, (unsigned long long)test_hash(worlds[w]));
	}
	for (uint32_t w = 0; w < WIDTHS; w++)
		world_destroy(worlds[w]);
	processor_limit_lanes(UINT32_MAX);
}

/* ---- arms ----------------------------------------------------------------------------------- */

static struct world *make_arm(joint_id *first)
{
	struct world *world = make(1000);
	body_id before = 0;
	for (uint32_t i = 0; i < ARM_JOINTS; i++) {
		vec3 point = vec3_make(0, i, 0);
		body_id body = add(world, vec3_make(0, i + 0.5, 0), ARM_JOINTS - i);
		joint_id joint = join(world, JOINT_REVOLUTE, before, body, point,
				      vec3_axis(i % 2 == 0 ? 2 : 1));
		*first = i == 0 ? joint : *first;
		struct command drive = test_command(COMMAND_JOINT_AXIS);
		drive.joint_axis.joint = joint;
		drive.joint_axis.axis = 3;
		drive.joint_axis.motor = JOINT_MOTOR_POSITION;
		drive.joint_axis.motor_limit = 5000;
		test_do(world, &drive);
		before = body;
	}
	return world;
}

static double target_of(uint32_t joint, uint32_t tick)
{
	return 0.5 * sin(tick * 1e-3 * (1 + 0.3 * joint));
}

static void arms(void)
{
	struct world *worlds[ARMS];
	joint_id first[ARMS];
	double least = 1e9, worst = 0;
	for (uint32_t w = 0; w < ARMS; w++)
		worlds[w] = make_arm(&first[w]);
	for (uint32_t tick = 1; tick <= 1000; tick++) {
		double begin = now_us();
		for (uint32_t w = 0; w < ARMS; w++) {
			struct joint_target items[ARM_JOINTS];
			struct command command = test_command(COMMAND_JOINT_TARGETS);
			for (uint32_t k = 0; k < ARM_JOINTS; k++)
				items[k] = (struct joint_target){ first[w] + k, 3,
								  target_of(k, tick) };
			command.joint_targets.targets = (struct target_list){ items, ARM_JOINTS };
			test_do(worlds[w], &command);
			test_step(worlds[w], 1);
		}
		least = fmin(least, now_us() - begin);
		for (uint32_t k = 0; k < ARM_JOINTS && tick > 100; k++) {
			struct joint_view view;
			if (world_joint(worlds[0], first[0] + k, &view) != STATUS_OK)
				abort();
			worst = fmax(worst, fabs(view.coordinates[3] - target_of(k, tick)));
		}
	}
	printf("arms       %.1f us a tick of %u worlds of %u joints, off by %.2g rad\n", least,
	       ARMS, ARM_JOINTS, worst);
	for (uint32_t w = 0; w < ARMS; w++)
		world_destroy(worlds[w]);
}

/* ---- figures -------------------------------------------------------------------------------- */

/* J, kinetic and of height. */
static double energy_of(const struct world *world)
{
	const struct body_table *body = &world->tables.body;
	double sum = 0;
	for (uint32_t row = 0; row < body->count; row++) {
		if (body->id[row] == 0 || body->status[row] != BODY_DYNAMIC)
			continue;
		vec3 v = body->velocity[row], w = body->angular_velocity[row];
		vec3 turned = quat_rotate_inverse(body->rotation[row], w);
		sum += 0.5 * body->mass[row] * vec3_dot(v, v) -
		       body->mass[row] * vec3_dot(world->tables.world.gravity[0],
						  dynamics_centre(&world->tables, row));
		sum += 0.5 * vec3_dot(turned, sym3_apply(sym3_load(body->inertia[row]), turned));
	}
	return sum;
}

/* A chain is let go level: how far its joints open, and its energy, over that of a fall by its length. */
static void hold(const char *name, uint32_t rate, uint32_t links, vec3 way, double last)
{
	struct world *world = make(rate);
	add_chain(world, JOINT_SPHERICAL, vec3_zero(), way, links, last);
	double worst = 0, most = 0, mass = 0, before = energy_of(world);
	for (uint32_t row = 0; row < world->tables.body.count; row++)
		mass += world->tables.body.mass[row];
	for (uint32_t tick = 0; tick < 10 * rate; tick++) {
		test_step(world, 1);
		worst = fmax(worst, world_stats(world).joint_error);
		most = fmax(most, fabs(energy_of(world) - before) / (mass * 9.81 * links));
	}
	printf("%-10s %4u Hz: apart by %.3g m at most, energy off by %.2g %%\n", name, rate, worst,
	       100 * most);
	world_destroy(world);
}

/* ---- joints in the masses -------------------------------------------------------------------- */

enum { LINK_RATE = 960, LINK_STEPS = 1000, LINK_WORK = 400000, ROWS_LINKS_MAX = 1000 };

/* A chain is let go level; steps until LINK_WORK links were stepped, 1000 of them at most. */
static void step_links(uint32_t count, double coordinates)
{
	struct world *world = make_under("lcp", LINK_RATE);
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text("articulated.coordinates");
	command.parameter.value = coordinates;
	test_do(world, &command);
	add_chain(world, JOINT_SPHERICAL, vec3_zero(), vec3_axis(0), count, 1);
	uint32_t steps = LINK_WORK / count < LINK_STEPS ? LINK_WORK / count : LINK_STEPS;
	double least = 1e30, all = 0, apart = 0, off = 0, before = energy_of(world);
	for (uint32_t step = 0; step < steps; step++) {
		double from = processor_us();
		test_step(world, 1);
		double took = processor_us() - from;
		least = fmin(least, took);
		all += took / steps;
		apart = fmax(apart, world_stats(world).joint_error);
		off = fmax(off, fabs(energy_of(world) - before) / (count * 9.81 * count));
	}
	printf("links      %5u in %s: %.3f ms a step at least, %.3f in the mean, %.2f us a link; %u "
	       "steps, apart by %.2g m, energy off by %.2g %%\n",
	       count, coordinates > 0 ? "masses" : "rows  ", least * 1e-3, all * 1e-3,
	       least / count, steps, apart, 100 * off);
	world_destroy(world);
}

static void links(int count, char **numbers)
{
	static const char *const USUAL[] = { "100", "1000", "10000" };
	for (int i = 0; i < (count > 0 ? count : 3); i++) {
		uint32_t size = (uint32_t)atoi(count > 0 ? (const char *)numbers[i] : USUAL[i]);
		step_links(size, 2);
		if (size <= ROWS_LINKS_MAX)
			step_links(size, 0);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "net") == 0) {
		net(argc > 2 ? (uint32_t)atoi(argv[2]) : NET_RUNS,
		    argc > 3 ? (uint32_t)atoi(argv[3]) : 0);
		return 0;
	}
	if (argc > 1 && strcmp(argv[1], "links") == 0) {
		links(argc - 2, argv + 2);
		return 0;
	}
	if (argc == 1 || strcmp(argv[1], "figures") != 0) {
		chains("spherical", JOINT_SPHERICAL);
		chains("revolute", JOINT_REVOLUTE);
		ladders();
		net(NET_RUNS, 0);
		arms();
	}
	for (uint32_t rate = 60; rate <= 960; rate *= 4) {
		hold("chain", rate, 100, vec3_axis(0), 1);
		hold("load", rate, 10, vec3_axis(0), 100);
		hold("load 1000", rate, 10, vec3_axis(0), 1000);
		hold("long load", rate, 100, vec3_axis(0), 1000);
		hold("all x 1000", rate, 100, vec3_axis(0), 100000);
		hold("pendulum", rate, 1, vec3_axis(0), 1);
	}
	return 0;
}
