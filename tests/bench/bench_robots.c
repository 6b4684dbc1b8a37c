/* bench_robots: what a robot on servos costs.
 *
 *   quadruped   the shipped quadruped (18 degrees of freedom) on servos of 300 N m/rad and
 *               9 N m s/rad, standing: µs a step under each method that holds contacts (under
 *               soft-step also with one sub-step, as MuJoCo has), and beside it MuJoCo's step of the
 *               same file where that is installed (its own contacts, motors of the file)
 *   arm         the shipped arm of six joints and a gripper, µs a step
 *   landing     the shipped humanoid, thrown half a metre above the ground under impact
 *   humanoids   1000 of the shipped humanoid (21 joints) standing in one world, ms a step
 *
 *	bench_robots [HUMANOIDS [ROWS]]
 *
 * ROWS is one of the names above, and only its rows are measured then. Each row is printed when it is known.
 * Times are of the processor, in one thread, and the least of several runs. */
#include "protocol/scene/scene.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/worlds.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if HAVE_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { RUNS = 20, TICKS = 100, SETTLE = 240, HUMANOIDS = 1000, ROW = 32, LANDING = 120 };

static double now_us(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void check(bool fine, const char *what, const struct reason *why)
{
	if (fine)
		return;
	fprintf(stderr, "bench_robots: %s: %s\n", what, why != NULL ? why->text : "");
	exit(EXIT_FAILURE);
}

static const char *path_of(const char *file)
{
	static char path[2048];
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/clients/scenes/robots/%s", source != NULL ? source : ".",
		 file);
	return path;
}

/* ---- worlds --------------------------------------------------------------------------------- */

static struct shape_library shapes;

static struct scene *load(const char *file)
{
	struct scene *scene;
	struct reason why = { 0 };
	check(scene_load(path_of(file), &scene, &why) == STATUS_OK, file, &why);
	return scene;
}

/* Gives the position motors of a scene gains. */
static void make_servos(struct scene *scene)
{
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command_JOINT_AXIS *axis = &scene->commands[i].joint_axis;
		if (scene->commands[i].op != COMMAND_JOINT_AXIS ||
		    axis->motor != JOINT_MOTOR_POSITION)
			continue;
		axis->motor_stiffness = 300;
		axis->motor_damping = 9;
	}
}

static void set_parameter(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

static struct world *make(struct scene *scene, const char *method)
{
	struct world *world;
	struct reason why = { 0 };
	scene->world.bodies_max = scene->world.placements_max = 50000;
	scene->world.joints_max = 50000;
	check(scene_world_make(scene, method, &shapes, &world, &why) == STATUS_OK, method, &why);
	set_parameter(world, "sleep.enabled", 0);
	return world;
}

/* Gives a static body the shape of a link, because a plane meets every body. */
static void shrink_floor(struct scene *scene, const struct command_SPAWN *floor)
{
	ptrdiff_t at = floor->shapes.items - scene->attachments;
	check(scene->shape_count > 1 && floor->shapes.count == 1, "floor", NULL);
	scene->attachments[at].shape = 2;
}

/* Moves what a command makes. */
static void displace(struct command *command, vec3 by)
{
	if (command->op == COMMAND_SPAWN)
		command->spawn.position = vec3_add(command->spawn.position, by);
	if (command->op == COMMAND_JOINT_CREATE && command->joint_create.place == 1) {
		command->joint_create.point_a = vec3_add(command->joint_create.point_a, by);
		command->joint_create.point_b = vec3_add(command->joint_create.point_b, by);
	}
}

/* A further robot of the same file, displaced; what is its floor is far below and small. */
static void add_copy(struct world *world, const char *file, vec3 to)
{
	struct scene *scene = load(file);
	uint32_t *ids = calloc(scene->shape_count + 1, sizeof *ids);
	uint32_t *values = calloc(scene->command_count + 1, sizeof *values);
	check(ids != NULL && values != NULL, "memory", NULL);
	for (uint32_t i = 0; i < scene->shape_count; i++)
		ids[i] = i + 1; /* as the first robot's file made them */
	scene_resolve(scene, ids);
	scene_link(scene, 0, scene->command_count, values);
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command *command = &scene->commands[i];
		bool floor = command->op == COMMAND_SPAWN && command->spawn.status == BODY_STATIC;
		if (floor)
			shrink_floor(scene, &command->spawn);
		displace(command, floor ? vec3_sub(to, vec3_make(0, 1000, 0)) : to);
	}
	struct batch_result result;
	enum status status = test_batch(world, scene->commands, scene->command_count, &result);
	check(status == STATUS_OK && result.status == STATUS_OK, "copy", &result.why);
	free(ids);
	free(values);
	scene_destroy(scene);
}

/* µs a step: the least mean of RUNS runs of `ticks`. */
static double time_steps(struct world *world, uint32_t runs, uint32_t ticks)
{
	double least = 1e30;
	for (uint32_t run = 0; run < runs; run++) {
		double from = now_us();
		test_step(world, ticks);
		double took = (now_us() - from) / ticks;
		least = took < least ? took : least;
	}
	return least;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void time_robot(const char *file, bool servos)
{
	static const struct {
		const char *method, *parameter;
		double value;
	} WAYS[] = {
		{ "soft-step", NULL, 0 },
		{ "soft-step", "soft_step.coordinates", 2 },
		{ "soft-step", "soft_step.substeps", 1 },
		{ "lcp", NULL, 0 },
		{ "lcp", "articulated.coordinates", 2 },
		{ "impact", NULL, 0 },
	};
	for (uint32_t m = 0; m < COUNT_OF(WAYS); m++) {
		struct scene *scene = load(file);
		if (servos)
			make_servos(scene);
		struct world *world = make(scene, WAYS[m].method);
		if (WAYS[m].parameter != NULL)
			set_parameter(world, WAYS[m].parameter, WAYS[m].value);
		test_step(world, SETTLE);
		double took = time_steps(world, RUNS, TICKS);
		struct world_stats stats = world_stats(world);
		printf("%-14s %-10s %8.1f us a step, %u contacts, joint error %.1g", file,
		       WAYS[m].method, took, stats.touching, stats.joint_error);
		if (WAYS[m].parameter != NULL)
			printf(", %s %g", WAYS[m].parameter, WAYS[m].value);
		printf("\n");
		world_destroy(world);
		scene_destroy(scene);
	}
}

/* A humanoid that is thrown half a metre above the ground: two seconds under `impact`. */
static void time_landing(double coordinates)
{
	struct scene *scene = load("humanoid.xml");
	for (uint32_t i = 0; i < scene->command_count; i++) {
		struct command *command = &scene->commands[i];
		bool spawns = command->op == COMMAND_SPAWN;
		if (spawns && command->spawn.status == BODY_STATIC)
			continue;
		displace(command, vec3_make(0, 0.5, 0));
		if (spawns)
			command->spawn.velocity = vec3_make(2, 0, 0.5);
	}
	struct world *world = make(scene, "impact");
	set_parameter(world, "articulated.coordinates", coordinates);
	double all = 0, most = 0;
	for (uint32_t tick = 0; tick < LANDING; tick++) {
		double from = now_us();
		test_step(world, 1);
		double took = now_us() - from;
		all += took / LANDING;
		most = took > most ? took : most;
	}
	struct world_stats stats = world_stats(world);
	printf("humanoid.xml   impact, dropped, articulated.coordinates %g: %.2f ms a step in the mean, "
	       "%.1f at most; %u events, %u unresolved, %u contacts\n",
	       coordinates, all * 1e-3, most * 1e-3, (unsigned)stats.impact_total.events,
	       (unsigned)stats.impact_total.unresolved, stats.touching);
	world_destroy(world);
	scene_destroy(scene);
}

static void time_standing(uint32_t count, double coordinates)
{
	struct scene *scene = load("humanoid.xml");
	struct world *world = make(scene, "soft-step");
	set_parameter(world, "soft_step.coordinates", coordinates);
	double built = now_us();
	for (uint32_t i = 1; i < count; i++)
		add_copy(world, "humanoid.xml", vec3_make(2 * (i % ROW), 0, 2 * (i / ROW)));
	built = now_us() - built;
	test_step(world, 60);
	double took = time_steps(world, 3, 20);
	struct world_stats stats = world_stats(world);
	printf("%u humanoids, %u bodies, %u joints, soft-step, soft_step.coordinates %g: %.2f ms "
	       "a step, %u contacts, joint error %.1g; made in %.2f s\n",
	       count, stats.bodies, stats.joints, coordinates, took * 1e-3, stats.touching,
	       stats.joint_error, built * 1e-6);
	world_destroy(world);
	scene_destroy(scene);
}

static void time_humanoids(uint32_t count)
{
	time_standing(count, 0);
	time_standing(count, 2);
}

#if HAVE_MUJOCO
static void time_mujoco(const char *file)
{
	char error[1000] = "";
	mjModel *model = mj_loadXML(path_of(file), NULL, error, sizeof error);
	check(model != NULL, error, NULL);
	mjData *data = mj_makeData(model);
	double least = 1e30;
	for (uint32_t run = 0; run < RUNS; run++) {
		double from = now_us();
		for (uint32_t i = 0; i < TICKS; i++)
			mj_step(model, data);
		double took = (now_us() - from) / TICKS;
		least = took < least ? took : least;
	}
	printf("%-14s MuJoCo %d %6.1f us a step of %g s, %d contacts\n", file, mj_version(), least,
	       model->opt.timestep, data->ncon);
	mj_deleteData(data);
	mj_deleteModel(model);
}
#endif

static void time_quadruped(uint32_t humanoids)
{
	UNUSED(humanoids);
	time_robot("quadruped.xml", true);
#if HAVE_MUJOCO
	time_mujoco("quadruped.xml");
#else
	printf("quadruped.xml  MuJoCo is not installed\n");
#endif
}

static void time_arm(uint32_t humanoids)
{
	UNUSED(humanoids);
	time_robot("arm.urdf", false);
}

static void time_landings(uint32_t humanoids)
{
	UNUSED(humanoids);
	time_landing(0);
	time_landing(2);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*measure)(uint32_t humanoids);
	} ROWS[] = { { "quadruped", time_quadruped },
		     { "arm", time_arm },
		     { "landing", time_landings },
		     { "humanoids", time_humanoids } };
	uint32_t humanoids = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : HUMANOIDS, known = 0;
	setvbuf(stdout, NULL, _IOLBF,
		BUFSIZ); /* rows that are known are not lost with those that are not */
	shape_library_init(&shapes);
	for (uint32_t i = 0; i < COUNT_OF(ROWS); i++) {
		if (argc > 2 && strcmp(argv[2], ROWS[i].name) != 0)
			continue;
		ROWS[i].measure(humanoids);
		known++;
	}
	check(known > 0, "ROWS is quadruped, arm, landing or humanoids", NULL);
	shape_library_release(&shapes);
	return EXIT_SUCCESS;
}
