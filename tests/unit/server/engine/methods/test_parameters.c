/* Parameters and methods as engine.h lists them: which method reads which parameter, old names,
 * aliases. */
#include "server/base/hash.h"
#include "server/engine/dynamics/joint.h"
#include "server/engine/dynamics/joint_list.h"
#include "tests/lib/check_main.h"
#include "tests/lib/shapes.h"
#include "tests/lib/stage_scenes.h"
#include "tests/lib/worlds.h"

#include <stdio.h>
#include <string.h>

static bool reads(const struct parameter_entry *entry, const char *method)
{
	const char *at = strstr(entry->methods, method);
	size_t length = strlen(method);
	return at != NULL && (at == entry->methods || at[-1] == ' ') &&
	       (at[length] == ' ' || at[length] == '\0');
}

/* ---- which method reads which parameter ------------------------------------------------------- */

/* A brick on a hinge beside its centre; under methods without joints the brick falls. */
static void hang_brick(struct stage *stage, uint32_t brick)
{
	uint32_t body = stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
							      .shape = brick,
							      .position = { -10, 5, 0 } });
	struct joint_table *joints = &stage->tables.joint;
	if (dynamics_joint_reserve(&stage->dynamics, 1) != STATUS_OK)
		ck_abort();
	uint32_t row = dynamics_joint_take(&stage->dynamics);
	joints->id[row] = 1;
	joints->type[row] = JOINT_REVOLUTE;
	joints->body[row][1] = body + 1;
	joints->point_a[row] = vec3_make(-11, 5, 0);
	joints->point_b[row] = vec3_make(-1, 0, 0);
	joints->frame_a[row] = joints->frame_b[row] = quat_between(vec3_axis(0), vec3_axis(2));
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		joints->mode[row][axis] = joint_axis_kind(JOINT_REVOLUTE, axis).mode;
	dynamics_joint_added(&stage->dynamics, row);
}

/* A heap of polygons that overlap, bounce, slide and fall asleep, so that every parameter has an effect. */
static void add_heap(struct stage *stage)
{
	static const vec3 corners[] = {
		{ -0.5, -0.3, 0 }, { 0.5, -0.3, 0 }, { 0.4, 0.3, 0 }, { -0.5, 0.3, 0 }
	};
	static const vec3 floor[] = { { -20, -1, 0 }, { 20, -1, 0 }, { 20, 0, 0 }, { -20, 0, 0 } };
	stage->tables.world.planar[0] = 1;
	uint32_t ground = stage_shape(stage, make_polygon(floor, COUNT_OF(floor), 0));
	uint32_t brick = stage_shape(stage, make_polygon(corners, COUNT_OF(corners), 0.05));
	stage_add(stage, (struct stage_body){
				 .status = BODY_STATIC, .shape = ground, .restitution = 0.6 });
	for (uint32_t i = 0; i < 10; i++)
		stage_add(stage, (struct stage_body){
					 .status = BODY_DYNAMIC,
					 .shape = brick,
					 .position = { 0.37 * (i % 4), 0.4 + 0.55 * (i / 4), 0 },
					 .rotation = quat_make(1, 0, 0, 0.02 * i),
					 .velocity = { 0.3 * (i % 3), -1.5, 0 },
					 .friction = 0.4,
					 .restitution = 0.6 });
	/* A polygon that creeps without friction until it falls asleep. */
	stage_add(stage, (struct stage_body){ .status = BODY_DYNAMIC,
					      .shape = brick,
					      .position = { 10, 0.35, 0 },
					      .velocity = { 0.03, 0, 0 },
					      .friction = -1 });
	hang_brick(stage, brick);
}

/* For `pile`: spheres on a floor beside a box, which are asleep when one falls on them. */
static void add_spheres(struct stage *stage)
{
	enum { SPHERES = 7 };
	uint32_t ground = stage_shape(stage, make_box(2, 0.5, 2));
	uint32_t ball = stage_shape(stage, make_sphere(0.5));
	stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
					      .shape = ground,
					      .position = { 0, -0.5, 0 },
					      .friction = -1 });
	for (int side = -1; side <= 1; side += 2) {
		stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
						      .shape = ground,
						      .position = { 3.1 * side, 0.3, 0 },
						      .friction = -1 });
		stage_add(stage, (struct stage_body){ .status = BODY_STATIC,
						      .shape = ground,
						      .position = { 0, 0.3, 3.1 * side },
						      .friction = -1 });
	}
	for (uint32_t i = 0; i < SPHERES; i++)
		stage_add(stage,
			  (struct stage_body){ .status = BODY_DYNAMIC,
					       .shape = ball,
					       .position = { 0.53 * (i % 4) - 0.8,
							     i + 1 < SPHERES ? 0.7 + 1.03 * i : 60,
							     0.31 * (i % 3) - 0.3 },
					       .friction = -1 });
}

static uint64_t motion_of(const char *method, double core, uint32_t parameter, double value)
{
	struct stage stage;
	struct hasher hash;
	stage_init(&stage, method);
	if (strcmp(method, "pile") == 0)
		add_spheres(&stage);
	else
		add_heap(&stage);
	stage_parameter(&stage, PARAMETER_REFLECTION_CORE, core);
	if (parameter < PARAMETER_COUNT)
		stage_parameter(&stage, (enum parameter_row)parameter, value);
	/* `impact` costs several solutions a tick. */
	stage_run(&stage, strcmp(method, "impact") == 0 ? 36 : 90);
	hasher_init(&hash, 0);
	for (uint32_t row = 0; row < stage.tables.body.count; row++) {
		hasher_f64(&hash, stage.tables.body.position[row].x);
		hasher_f64(&hash, stage.tables.body.position[row].y);
		hasher_f64(&hash, stage.tables.body.velocity[row].y);
	}
	stage_release(&stage);
	return hasher_digest(&hash);
}

/* How many cores a method has (`reflection.core`), each of which may read other parameters. */
static int cores_of(const char *method)
{
	return strcmp(method, "reflection") == 0 ? 2 : 1;
}

/* Whether one of two other values of the parameter changes the motion under the method, with any core; of a
 * parameter that it is not said to read one value is tried, each time another, because the runs take long.
 * `usual`: by core, the motion with every parameter at its initial value. */
static bool changes_motion(const char *method, uint32_t parameter, const uint64_t usual[2])
{
	const struct parameter_entry *entry = &parameter_entries[parameter];
	double low = entry->min, high = MIN_OF(entry->max, 3 * entry->initial + 2);
	bool differs = false, both = reads(entry, method), first = parameter % 2 == 0;
	for (int core = 0; core < cores_of(method) && !differs; core++)
		differs = ((both || first) &&
			   motion_of(method, core, parameter, low) != usual[core]) ||
			  ((both || !first) &&
			   motion_of(method, core, parameter, high) != usual[core]);
	return differs;
}

START_TEST(a_parameter_changes_the_motion_of_exactly_its_listed_methods)
{
	uint32_t count, wrong = 0;
	const struct method *const *methods = method_list(&count);
	for (uint32_t i = 0; i < count; i++) {
		uint64_t usual[2] = { 0 };
		for (int core = 0; core < cores_of(methods[i]->name); core++)
			usual[core] = motion_of(methods[i]->name, core, PARAMETER_COUNT, 0);
		for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
			const struct parameter_entry *entry = &parameter_entries[row];
			if (entry->name == NULL)
				continue;
			/* Usual scenes need fewer rounds than this limit; test_velocity.c tests
			 * the parameter. */
			if (row == PARAMETER_REFLECTION_ROUNDS &&
			    strcmp(methods[i]->name, "reflection") == 0)
				continue;
			/* It acts only with a tolerance; test_impact_integrators.c tests it. */
			if (row == PARAMETER_IMPACT_SUBSTEPS_MAX &&
			    strcmp(methods[i]->name, "impact") == 0)
				continue;
			/* It acts with distance fields; test_impact_ways.c tests it. */
			if (row == PARAMETER_IMPACT_FIELD_ROUNDS &&
			    strcmp(methods[i]->name, "impact") == 0)
				continue;
			/* It acts on curved bodies and very different masses: test_energy.c. */
			if (row == PARAMETER_SOFT_ENERGY)
				continue;
			/* It acts on joints that are off; test_joint_push.c tests it. */
			if (row == PARAMETER_JOINT_PUSH_SPEED)
				continue;
			/* It acts with articulated.coordinates 1; test_velocity_tree.c tests it. */
			if (row == PARAMETER_ARTICULATED_ROWS)
				continue;
			/* In a plane soft-step keeps rows; test_soft_tree.c tests it. */
			if (row == PARAMETER_SOFT_COORDINATES)
				continue;
			/* They act on groups of 64 bodies and more; test_pile.c tests them. */
			if ((row == PARAMETER_PILE_ZONE || row == PARAMETER_PILE_WORK ||
			     row == PARAMETER_PILE_SOFT) &&
			    strcmp(methods[i]->name, "pile") == 0)
				continue;
			if (changes_motion(methods[i]->name, row, usual) ==
			    reads(entry, methods[i]->name))
				continue;
			printf("# %s under %s: it is said to be read by '%s'\n", entry->name,
			       methods[i]->name, entry->methods);
			wrong++;
		}
	}
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

START_TEST(every_method_that_a_parameter_names_exists)
{
	uint32_t count;
	const struct method *const *methods = method_list(&count);
	for (uint32_t row = 0; row < PARAMETER_COUNT; row++) {
		size_t named = 0;
		if (parameter_entries[row].name == NULL)
			continue;
		for (uint32_t i = 0; i < count; i++)
			if (reads(&parameter_entries[row], methods[i]->name))
				named += strlen(methods[i]->name) + 1;
		ck_assert_uint_eq(named, parameter_entries[row].methods[0] != '\0'
						 ? strlen(parameter_entries[row].methods) + 1
						 : 0);
	}
}
END_TEST

/* ---- names ------------------------------------------------------------------------------------ */

START_TEST(an_old_name_is_the_same_parameter)
{
	struct world *old = test_world(false, "soft-step"), *new = test_world(false, "soft-step");
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.value = 7;
	command.parameter.name = test_text("soft_step.push_speed");
	test_do(old, &command);
	command.parameter.name = test_text("contact.push_speed");
	test_do(new, &command);
	ck_assert_uint_eq(test_hash(old), test_hash(new));
	ck_assert_double_eq(world_parameter(old, "contact.push_speed"), 7);
	ck_assert_double_eq(world_parameter(new, "soft_step.push_speed"), 7);
	world_destroy(old);
	world_destroy(new);
}
END_TEST

START_TEST(names_of_parameters_and_methods_are_unique)
{
	struct parameter_info list[64];
	uint32_t count = world_parameters(list, COUNT_OF(list)), old_names = 0;
	ck_assert_uint_le(count, PARAMETER_COUNT);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert(i == 0 || list[i].number > list[i - 1].number);
		ck_assert_uint_eq(parameter_find(list[i].name), list[i].number);
		if (list[i].old == NULL)
			continue;
		old_names++;
		ck_assert_uint_eq(parameter_find(list[i].old), list[i].number);
		for (uint32_t k = 0; k < count; k++)
			ck_assert_str_ne(list[i].old, list[k].name);
	}
	ck_assert_uint_gt(old_names, 0);
	struct method_name names[16];
	uint32_t name_count = world_method_names(names, COUNT_OF(names));
	ck_assert_uint_gt(name_count, 0);
	for (uint32_t i = 0; i < name_count; i++) {
		ck_assert_ptr_nonnull(method_find(names[i].method));
		ck_assert_ptr_eq(method_find(names[i].name), method_find(names[i].method));
		ck_assert_ptr_null(method_alias(names[i].method));
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("methods/parameters");
	TCase *tcase = tcase_create("parameters");
	tcase_set_timeout(tcase, 300);
	tcase_add_test(tcase, a_parameter_changes_the_motion_of_exactly_its_listed_methods);
	tcase_add_test(tcase, every_method_that_a_parameter_names_exists);
	tcase_add_test(tcase, an_old_name_is_the_same_parameter);
	tcase_add_test(tcase, names_of_parameters_and_methods_are_unique);
	suite_add_tcase(suite, tcase);
	return suite;
}

int main(void)
{
	return check_main(make);
}
