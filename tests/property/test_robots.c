/* The shipped robots (clients/scenes/robots): each stands or moves for 1000 ticks under soft-
 * step and under an exact method, with joints that hold and residuals that are numbers. */
#include "protocol/scene/scene.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct robot_run {
	struct shape_library shapes;
	struct world *world;
	struct scene *scene;
	double error;	  /* m, rad: the largest of any tick */
	uint32_t reduced; /* ticks in which trees had reduced coordinates */
};

/* Of soft-step: trees in reduced coordinates, or none. */
enum { ROWS, REDUCED = 2 };

static void run_make(struct robot_run *self, const char *file, const char *method,
		     uint32_t coordinates)
{
	char path[2048];
	struct reason why = { 0 };
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, sizeof path, "%s/clients/scenes/robots/%s", source != NULL ? source : ".",
		 file);
	*self = (struct robot_run){ 0 };
	shape_library_init(&self->shapes);
	enum status status = scene_load(path, &self->scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	status = scene_world_make(self->scene, method, &self->shapes, &self->world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", status_name(status), why.field, why.text);
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name =
		test_text(strcmp(method, "soft-step") == 0 ? "soft_step.coordinates"
							   : "articulated.coordinates");
	command.parameter.value = coordinates;
	if (coordinates != ROWS)
		test_do(self->world, &command);
}

static void run_steps(struct robot_run *self, uint32_t ticks)
{
	for (uint32_t i = 0; i < ticks; i++) {
		struct reason why = { 0 };
		enum status status = world_step(self->world, &parallel_serial, &why);
		ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
		struct world_stats stats = world_stats(self->world);
		ck_assert_uint_eq(stats.quarantined_total, 0);
		ck_assert(isfinite(stats.residual));
		self->error = fmax(self->error, stats.joint_error);
		self->reduced += stats.islands_reduced > 0;
	}
}

static struct body_view body(const struct robot_run *self, const char *name)
{
	struct body_view view;
	for (uint32_t i = 0; i < self->scene->name_count; i++)
		if (strcmp(self->scene->names[i].name, name) == 0) {
			ck_assert_int_eq(
				world_body(self->world, self->scene->names[i].first, &view),
				STATUS_OK);
			return view;
		}
	ck_abort_msg("no body '%s'", name);
	return view;
}

static void run_release(struct robot_run *self)
{
	world_destroy(self->world);
	shape_library_release(&self->shapes);
	scene_destroy(self->scene);
}

/* What a body must have done: it is at least this high at the end, and has moved at least so
 * far. */
static const struct {
	const char *file, *method, *body;
	double height, moved; /* m */
	double error;	      /* m, rad: upper limit of the joint error */
	uint32_t coordinates;
} RUNS[] = {
	{ "arm.urdf", "soft-step", "upper_arm", 0.3, 0, 0.01, ROWS },
	{ "arm.urdf", "soft-step", "upper_arm", 0.3, 0, 1e-3, REDUCED },
	{ "arm.urdf", "lcp", "upper_arm", 0.3, 0, 1e-6, ROWS },
	{ "arm.urdf", "impact", "upper_arm", 0.3, 0, 1e-6, ROWS },
	{ "quadruped.xml", "soft-step", "trunk", 0.33, 0, 0.02, ROWS },
	{ "quadruped.xml", "soft-step", "trunk", 0.33, 0, 1e-3, REDUCED },
	{ "quadruped.xml", "lcp", "trunk", 0.33, 0, 1e-6, ROWS },
	{ "quadruped.xml", "impact", "trunk", 0.33, 0, 1e-6, ROWS },
	{ "humanoid.xml", "soft-step", "chest", 1.1, 0, 0.06, ROWS },
	{ "humanoid.xml", "soft-step", "chest", 1.1, 0, 1e-3, REDUCED },
	{ "humanoid.xml", "lcp", "chest", 1.1, 0, 1e-6, ROWS },
	{ "humanoid.xml", "impact", "chest", 1.1, 0, 1e-6, ROWS },
	{ "crane.xml", "soft-step", "load", 1, 3, 0.02, ROWS },
	{ "crane.xml", "lcp", "load", 1, 3, 1e-6, ROWS },
	{ "crane.xml", "impact", "load", 1, 3, 1e-6, ROWS },
	{ "excavator.xml", "soft-step", "bucket", 0.2, 1, 0.02, ROWS },
	{ "excavator.xml", "lcp", "bucket", 0.2, 1, 1e-6, ROWS },
	{ "excavator.xml", "impact", "bucket", 0.2, 1, 1e-6, ROWS },
};

START_TEST(a_shipped_robot_stands_or_moves)
{
	struct robot_run run;
	run_make(&run, RUNS[_i].file, RUNS[_i].method, RUNS[_i].coordinates);
	struct body_view before = body(&run, RUNS[_i].body);
	run_steps(&run, 1000);
	struct body_view after = body(&run, RUNS[_i].body);
	double moved = vec3_distance(before.position, after.position);
	ck_assert_msg(after.position.y > RUNS[_i].height, "%s is at %g m", RUNS[_i].body,
		      after.position.y);
	ck_assert_msg(moved >= RUNS[_i].moved, "%s has moved %g m", RUNS[_i].body, moved);
	ck_assert_msg(run.error <= RUNS[_i].error, "joint error %g", run.error);
	ck_assert_int_eq(run.reduced > 0, RUNS[_i].coordinates == REDUCED);
	run_release(&run);
}
END_TEST

/* ---- a fall ---------------------------------------------------------------------------------- */

static void push_body(const struct robot_run *self, const char *name, double impulse, double angle)
{
	struct command command = test_command(COMMAND_IMPULSE);
	command.impulse.body = body(self, name).id;
	command.impulse.impulse = vec3_make(impulse * cos(angle), 0, impulse * sin(angle));
	test_do(self->world, &command);
}

static const struct {
	const char *method;
	double impulse, angle; /* N s, rad from x to z */
	double error;	       /* m, rad */
	uint32_t coordinates;
} FALLS[] = {
	{ "soft-step", 40, 1.5, 0.04, ROWS },	  { "soft-step", 40, 5.5, 0.04, ROWS },
	{ "soft-step", 60, 4.4, 0.04, ROWS },	  { "soft-step", 60, 5.5, 0.04, ROWS },
	{ "soft-step", 100, 4.4, 0.04, ROWS },	  { "lcp", 60, 0.3, 1e-6, ROWS },
	{ "lcp", 60, 2.8, 1e-6, ROWS },		  { "impact", 60, 0.3, 1e-6, ROWS },
	{ "soft-step", 40, 1.5, 1e-2, REDUCED },  { "soft-step", 60, 4.4, 1e-2, REDUCED },
	{ "soft-step", 100, 4.4, 0.03, REDUCED }, { "soft-step", 250, 0.3, 1e-2, REDUCED },
	{ "impact", 60, 2.8, 1e-6, ROWS },
};

/* Pushed while it stands, it falls; pushed again while it lies, it comes to rest. Limbs come to
 * lie between the ground and the body, where joints must not open: by 0.2 rad when contacts had
 * the last word. */
START_TEST(a_humanoid_falls_is_pushed_and_lies_still)
{
	struct robot_run run;
	run_make(&run, "humanoid.xml", FALLS[_i].method, FALLS[_i].coordinates);
	run_steps(&run, 60);
	ck_assert_double_gt(body(&run, "chest").position.y, 1.1);
	push_body(&run, "chest", FALLS[_i].impulse, FALLS[_i].angle);
	run_steps(&run, 240);
	push_body(&run, "chest", FALLS[_i].impulse, FALLS[_i].angle + 1.9);
	run_steps(&run, 600);
	ck_assert_double_lt(body(&run, "chest").position.y, 0.3);
	double kinetic = world_energy(run.world).kinetic;
	ck_assert_msg(kinetic < 1e-3, "%g J", kinetic);
	ck_assert_msg(run.error <= FALLS[_i].error, "joint error %g", run.error);
	run_release(&run);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("shipped robots");
	TCase *runs = tcase_create("runs");
	tcase_add_loop_test(runs, a_shipped_robot_stands_or_moves, 0,
			    (int)(sizeof RUNS / sizeof *RUNS));
	tcase_set_timeout(runs, 60);
	tcase_add_loop_test(runs, a_humanoid_falls_is_pushed_and_lies_still, 0,
			    (int)(sizeof FALLS / sizeof *FALLS));
	suite_add_tcase(suite, runs);
	return suite;
}

int main(void)
{
	return check_main(make);
}
