/* bench_joint_scenes: how well scenes hold together under each method and tick rate.
 *
 * A row of the table (as in METHODS.md) is a scene under a method, for two seconds at each rate:
 * the worst joint error along axes (m) and about them (rad), of locked and limited axes; the change
 * of energy of bodies whose joints have the tag 1 (potential, kinetic and of springs, relative to
 * their greatest kinetic energy); the energy gained in scenes without drives (the greatest rise
 * over an earlier boundary, J; including what soft joints had stored); the worst residual; joints
 * broken, fallbacks, and ms a tick. A run ends after twelve seconds; its ms are then marked with a
 * star.
 *
 *   bench_joint_scenes [WORD]…      rows whose scene or method has one of the words; default: all */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/worlds/scene_world.h"

enum { BODIES_MAX = 256, JOINTS_MAX = 256, TAG_KEEPS = 1 };
#define SECONDS 2.0 /* of a row */
#define PATIENCE 12.0
static const uint32_t RATES[] = { 60, 240, 960 };
enum { RATES_COUNT = COUNT_OF(RATES) };
static const char *const METHODS[] = { "soft-step", "lcp", "projection", "reflection" };

static const struct {
	const char *name;
	const char *text; /* NULL: clients/scenes/NAME.yaml */
} SCENES[] = {
	{ "joints", NULL },
	{ "chain-100", "bodies: [ { name: link, shape: { kind: box, size: 1 }, mass: 1, mask: 0,\n"
		       "            at: [0.5, 0, 0], array: { count: 100, step: [1, 0, 0] } } ]\n"
		       "joints:\n"
		       "  - { type: spherical, b: \"link[0]\", at: [0, 0, 0], tag: 1 }\n"
		       "  - { type: spherical, chain: link, at_a: [0.5, 0, 0], tag: 1 }\n" },
	{ "bridge-40",
	  "bodies: [ { name: plank, shape: { kind: box, size: 1 }, mass: 1, mask: 0,\n"
	  "            at: [0.5, 0, 0], array: { count: 40, step: [1, 0, 0] } } ]\n"
	  "joints:\n"
	  "  - { type: revolute, b: \"plank[0]\", at: [0, 0, 0], axis: [0, 0, 1] }\n"
	  "  - { type: revolute, chain: plank, at_a: [0.5, 0, 0], axis: [0, 0, 1] }\n"
	  "  - { type: revolute, b: \"plank[-1]\", at: [40, 0, 0], axis: [0, 0, 1] }\n" },
	{ "bridge", NULL },
};

struct figures {
	double along, about, kept, rise, residual, spent;
	uint64_t broken, fallbacks;
	uint32_t ticks;
	bool cut;
};

struct watch {
	struct world *world;
	joint_id joints[JOINTS_MAX];
	uint32_t joint_count;
	body_id keepers[BODIES_MAX]; /* bodies whose energy should not change */
	uint32_t keeper_count;
	bool driven;
	double begun, kinetic, lowest;
};

static _Noreturn void fail(const char *what, const struct reason *why)
{
	fprintf(stderr, "bench_joint_scenes: %s: %s (%s)\n", what, why->text, why->field);
	exit(1);
}

static struct scene *read_scene(const char *name, const char *text, uint32_t rate)
{
	char path[2048];
	struct scene *scene;
	struct reason why = { 0 };
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/clients/scenes/%s.yaml", source != NULL ? source : ".",
		 name);
	enum status status = text == NULL ? scene_load(path, &scene, &why)
					  : scene_parse(text, strlen(text), NULL, &scene, &why);
	if (status != STATUS_OK)
		fail(name, &why);
	scene->world.rate_num = rate;
	scene->world.rate_den = 1;
	return scene;
}

/* ---- figures ------------------------------------------------------------------------------------- */

static struct joint_axis_view axis_of(const struct world *world, joint_id joint, uint32_t axis)
{
	struct joint_axis_view view = { 0 };
	if (world_joint_axis(world, joint, axis, &view) != STATUS_OK)
		abort();
	return view;
}

static void add_keeper(struct watch *self, body_id body)
{
	for (uint32_t i = 0; i < self->keeper_count; i++)
		if (self->keepers[i] == body)
			return;
	if (body != 0 && self->keeper_count < BODIES_MAX)
		self->keepers[self->keeper_count++] = body;
}

/* By how much the coordinate of axis `axis` is outside its allowed range. */
static double axis_error(const struct joint_view *joint, const struct joint_axis_view *view,
			 uint32_t axis)
{
	double q = joint->coordinates[axis];
	if (view->mode == JOINT_LOCKED)
		return fabs(q - (joint->type == JOINT_DISTANCE ? view->rest : 0));
	return view->mode == JOINT_LIMITED ? fmax(0, fmax(view->lower - q, q - view->upper)) : 0;
}

static double spring_energy(const struct joint_view *joint, const struct joint_axis_view *view,
			    uint32_t axis)
{
	double stretch = joint->coordinates[axis] - view->rest;
	return view->spring == JOINT_SPRING_STIFFNESS ? 0.5 * view->stiffness * stretch * stretch
						      : 0;
}

static double body_energy(const struct world *world, body_id id, double *kinetic)
{
	struct body_view body;
	struct mass_view mass;
	if (world_body(world, id, &body) != STATUS_OK || world_mass(world, id, &mass) != STATUS_OK)
		abort();
	vec3 spin = body.angular_velocity, arm = vec3_sub(mass.centre, body.position);
	vec3 velocity = vec3_add(body.velocity, vec3_cross(spin, arm));
	double moving = 0.5 * mass.mass * vec3_length_squared(velocity) +
			0.5 * vec3_dot(spin, mat3_mul_vec(mass.inertia, spin));
	*kinetic += moving;
	return moving - mass.mass * vec3_dot(world_info(world).gravity, mass.centre);
}

/* Errors of the joints, and the energy of springs of the bodies that keep their energy, which is
 * returned. */
static double add_joint_errors(struct watch *self, struct figures *figures)
{
	double energy = 0;
	for (uint32_t i = 0; i < self->joint_count; i++) {
		struct joint_view joint;
		if (world_joint(self->world, self->joints[i], &joint) != STATUS_OK)
			continue; /* broken */
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			struct joint_axis_view view = axis_of(self->world, joint.id, axis);
			double error = axis_error(&joint, &view, axis);
			double *worst = axis < 3 ? &figures->along : &figures->about;
			*worst = fmax(*worst, error);
			energy += joint.tag == TAG_KEEPS ? spring_energy(&joint, &view, axis) : 0;
		}
	}
	return energy;
}

static void look(struct watch *self, struct figures *figures)
{
	double kinetic = 0, energy = add_joint_errors(self, figures);
	for (uint32_t i = 0; i < self->keeper_count; i++)
		energy += body_energy(self->world, self->keepers[i], &kinetic);
	self->kinetic = fmax(self->kinetic, kinetic);
	if (world_info(self->world).tick == 0)
		self->begun = energy;
	figures->kept = fmax(figures->kept, fabs(energy - self->begun));
	struct world_energy all = world_energy(self->world);
	self->lowest = fmin(self->lowest, all.kinetic + all.potential);
	figures->rise = fmax(figures->rise, all.kinetic + all.potential - self->lowest);
	struct world_stats stats = world_stats(self->world);
	figures->residual = fmax(figures->residual, stats.residual);
	figures->broken = stats.joints_broken_total;
	figures->fallbacks = stats.fallbacks_total;
}

static void watch_begin(struct watch *self, struct world *world)
{
	*self = (struct watch){ .world = world, .lowest = INFINITY };
	self->joint_count = world_joints(world, 0, self->joints, JOINTS_MAX);
	if (self->joint_count > JOINTS_MAX)
		abort();
	for (uint32_t i = 0; i < self->joint_count; i++) {
		struct joint_view joint;
		if (world_joint(world, self->joints[i], &joint) != STATUS_OK)
			abort();
		for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
			struct joint_axis_view view = axis_of(world, joint.id, axis);
			/* A spring stores energy that world_totals does not include. */
			self->driven |=
				view.motor != JOINT_MOTOR_NONE || view.spring != JOINT_SPRING_NONE;
		}
		if (joint.tag == TAG_KEEPS) {
			add_keeper(self, joint.a);
			add_keeper(self, joint.b);
		}
	}
}

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static struct figures run(size_t index, const char *method, uint32_t rate)
{
	struct shape_library book;
	struct world *world;
	struct reason why = { 0 };
	struct watch watch;
	struct figures figures = { 0 };
	struct scene *scene = read_scene(SCENES[index].name, SCENES[index].text, rate);
	shape_library_init(&book);
	if (scene_world_make(scene, method, &book, &world, &why) != STATUS_OK)
		fail(SCENES[index].name, &why);
	scene_destroy(scene);
	watch_begin(&watch, world);
	look(&watch, &figures);
	for (; figures.ticks < SECONDS * rate && figures.spent < PATIENCE; figures.ticks++) {
		double from = seconds();
		if (world_step(world, &parallel_serial, &why) != STATUS_OK)
			fail("step", &why);
		figures.spent += seconds() - from;
		look(&watch, &figures);
	}
	figures.kept = watch.keeper_count > 0 ? figures.kept / watch.kinetic : NAN;
	figures.rise = watch.driven ? NAN : figures.rise;
	figures.cut = figures.ticks < SECONDS * rate;
	world_destroy(world);
	shape_library_release(&book);
	return figures;
}

/* A cell of the table; an unknown value is a dash, and a value that is 0 or unknown at every rate
 * is printed once. */
static void print_cell(const double values[RATES_COUNT], bool counted)
{
	bool same = true;
	for (size_t r = 0; r < RATES_COUNT; r++)
		same &= values[r] == 0 || isnan(values[r]);
	for (size_t r = 0; r < (same ? 1 : RATES_COUNT); r++) {
		printf(r == 0 ? " | " : ", ");
		if (isnan(values[r]))
			printf("–");
		else if (counted || values[r] == 0)
			printf("%.0f", values[r]);
		else
			printf("%.1e", values[r]);
	}
}

static void print_row(size_t index, const char *method)
{
	struct figures all[RATES_COUNT];
	for (size_t r = 0; r < RATES_COUNT; r++)
		all[r] = run(index, method, RATES[r]);
	printf("| `%s` | `%s`", SCENES[index].name, method);
#define CELL(value, counted)                                                                       \
	do {                                                                                       \
		double values[RATES_COUNT];                                                        \
		for (size_t r = 0; r < RATES_COUNT; r++)                                           \
			values[r] = (value);                                                       \
		print_cell(values, counted);                                                       \
	} while (0)
	CELL(all[r].along, false);
	CELL(all[r].about, false);
	CELL(all[r].kept, false);
	CELL(all[r].rise, false);
	CELL(all[r].residual, false);
	CELL((double)all[r].broken, true);
	CELL((double)all[r].fallbacks, true);
#undef CELL
	for (size_t r = 0; r < RATES_COUNT; r++)
		printf("%s%.2f%s", r == 0 ? " | " : ", ", 1e3 * all[r].spent / all[r].ticks,
		       all[r].cut ? "*" : "");
	printf(" |\n");
	fflush(stdout);
}

static bool wanted(int argc, char **argv, const char *scene, const char *method)
{
	bool any = argc < 2;
	for (int i = 1; i < argc; i++)
		any |= strstr(scene, argv[i]) != NULL || strstr(method, argv[i]) != NULL;
	return any;
}

int main(int argc, char **argv)
{
	printf("| scene | method | m | rad | energy | rise, J | residual | broken | fallbacks | ms/tick |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < COUNT_OF(SCENES); i++)
		for (size_t m = 0; m < COUNT_OF(METHODS); m++)
			if (wanted(argc, argv, SCENES[i].name, METHODS[m]))
				print_row(i, METHODS[m]);
	return 0;
}
