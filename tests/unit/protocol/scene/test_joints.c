/* Joints of scene files: their bodies, anchors and frames, the properties of their axes, and
 * refusals. */
#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct command_JOINT_CREATE *joint_at(const struct scene *scene, uint32_t index)
{
	return &scene_command(scene, COMMAND_JOINT_CREATE, index)->joint_create;
}

static const struct command_JOINT_AXIS *axis_at(const struct scene *scene, uint32_t index)
{
	return &scene_command(scene, COMMAND_JOINT_AXIS, index)->joint_axis;
}

static void assert_near(vec3 is, double x, double y, double z)
{
	ck_assert_msg(vec3_distance(is, vec3_make(x, y, z)) < 1e-12, "(%g %g %g) is not (%g %g %g)",
		      is.x, is.y, is.z, x, y, z);
}

static vec3 axis_of(quat frame, uint32_t axis)
{
	return quat_rotate(frame, vec3_axis(axis));
}

/* ---- bodies -------------------------------------------------------------------------------------- */

#define BODIES                                                                                     \
	"world: {parameters: {sleep.enabled: 0}}\n"                                                \
	"bodies:\n"                                                                                \
	"  - {status: static}\n"                                                                   \
	"  - {name: one, at: [1, 0, 0]}\n"                                                         \
	"  - {name: four, at: [0, 5, 0], array: {count: 4, step: [1, 0, 0]}}\n"                    \
	"  - {name: also, at: [0, 6, 0], array: {count: 4, step: [1, 0, 0]}}\n"

START_TEST(sides_are_commands_that_make_bodies)
{
	struct scene *scene = scene_of_text(
		BODIES "joints:\n"
		       "  - {type: spherical, a: one, b: 'four[2]', at_b: [0, 0, 0]}\n"
		       "  - {type: fixed, b: 'four[-1]', at_b: [0, 0, 0]}\n"
		       "  - {type: fixed, a: one, b: world, at: [0, 0, 0]}\n");
	/* A parameter, the ground, `one`, four of `four`. */
	ck_assert_int_eq(joint_at(scene, 0)->type, JOINT_SPHERICAL);
	ck_assert_int_eq(joint_at(scene, 0)->body_a, -3);
	ck_assert_int_eq(joint_at(scene, 0)->body_b, -6);
	ck_assert_int_eq(joint_at(scene, 1)->type, JOINT_FIXED);
	ck_assert_int_eq(joint_at(scene, 1)->body_a, 0);
	ck_assert_int_eq(joint_at(scene, 1)->body_b, -7);
	ck_assert_int_eq(joint_at(scene, 2)->body_a, -3);
	ck_assert_int_eq(joint_at(scene, 2)->body_b, 0);
	scene_destroy(scene);
}
END_TEST

START_TEST(bodies_of_two_generators_are_joined_pairwise)
{
	struct scene *scene = scene_of_text(
		BODIES "joints:\n"
		       "  - {type: spherical, a: four, b: also, at_a: [0, 0.5, 0]}\n"
		       "  - {type: distance, a: one, b: four, at_a: [0, 0, 0], at_b: [0, 0, 0]}\n");
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 8);
	for (uint32_t i = 0; i < 4; i++) {
		ck_assert_int_eq(joint_at(scene, i)->body_a, -4 - (int)i);
		ck_assert_int_eq(joint_at(scene, i)->body_b, -8 - (int)i);
		ck_assert_int_eq(joint_at(scene, i)->place, 1);
		assert_near(joint_at(scene, i)->point_a, i, 5.5, 0);
		ck_assert_int_eq(joint_at(scene, 4 + i)->body_a, -3);
		ck_assert_int_eq(joint_at(scene, 4 + i)->body_b, -4 - (int)i);
		assert_near(joint_at(scene, 4 + i)->point_a, 1, 0, 0);
		assert_near(joint_at(scene, 4 + i)->point_b, i, 5, 0);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(a_chain_joins_each_body_to_the_next)
{
	struct scene *scene = scene_of_text(
		BODIES "joints:\n"
		       "  - {type: distance, chain: four, at_a: [0.2, 0, 0], at_b: [-0.2, 0, 0],"
		       " limits: [0, 0.7]}\n");
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 3);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_int_eq(joint_at(scene, i)->body_a, -4 - (int)i);
		ck_assert_int_eq(joint_at(scene, i)->body_b, -5 - (int)i);
		assert_near(joint_at(scene, i)->point_a, i + 0.2, 5, 0);
		assert_near(joint_at(scene, i)->point_b, i + 0.8, 5, 0);
		ck_assert_int_eq(axis_at(scene, i)->joint, -12 - 2 * (int)i);
		ck_assert_int_eq(axis_at(scene, i)->mode, JOINT_LIMITED);
		ck_assert_double_eq(axis_at(scene, i)->upper, 0.7);
	}
	scene_destroy(scene);
}
END_TEST

/* ---- anchors ------------------------------------------------------------------------------------- */

#define TURNED                                                                                     \
	"bodies: [{name: a, at: [1, 2, 3], rotation: {axis: [0, 1, 0], degrees: 90}}, "            \
	"{name: b, at: [1, 2, 0]}]\n"

START_TEST(anchors_are_in_the_world_or_in_a_body)
{
	struct scene *scene = scene_of_text(
		TURNED
		"joints:\n"
		"  - {type: spherical, a: a, b: b, at: [4, 5, 6]}\n"
		"  - {type: revolute, a: a, b: b, at_a: [1, 0, 0], axis: [2, 0, 0]}\n"
		"  - {type: revolute, a: a, b: b, at_b: [0, 0, 3], axis: [0, 0, 1]}\n"
		"  - {type: revolute, a: a, b: b, at_a: [1, 0, 0], at_b: [0, 0, 2], axis: [1, 0, 0]}\n");
	assert_near(joint_at(scene, 0)->point_a, 4, 5, 6);
	ck_assert(quat_equal(joint_at(scene, 0)->frame_a, quat_identity()));
	/* Turned by 90 degrees about y, x becomes −z. */
	assert_near(joint_at(scene, 1)->point_a, 1, 2, 2);
	assert_near(axis_of(joint_at(scene, 1)->frame_a, 0), 0, 0, -1);
	assert_near(joint_at(scene, 2)->point_a, 1, 2, 3);
	assert_near(axis_of(joint_at(scene, 2)->frame_a, 0), 0, 0, 1);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_int_eq(joint_at(scene, i)->place, 1);
	const struct command_JOINT_CREATE *both = joint_at(scene, 3);
	ck_assert_int_eq(both->place, 0);
	assert_near(both->point_a, 1, 0, 0);
	assert_near(both->point_b, 0, 0, 2);
	assert_near(axis_of(both->frame_a, 0), 1, 0, 0);
	assert_near(axis_of(both->frame_b, 0), 0, 0, -1);
	scene_destroy(scene);
}
END_TEST

START_TEST(a_distance_has_two_anchors)
{
	struct scene *scene = scene_of_text(
		TURNED
		"joints:\n"
		"  - {type: distance, a: a, b: b, at: [0, 9, 0], to: [0, 6, 4]}\n"
		"  - {type: distance, a: a, b: b, at_a: [1, 0, 0], at_b: [0, 1, 0], friction: 2}\n"
		"  - {type: drag, b: b, at: [0, 9, 0], at_b: [0, 0, 0], spring: {hertz: 5}}\n");
	assert_near(joint_at(scene, 0)->point_a, 0, 9, 0);
	assert_near(joint_at(scene, 0)->point_b, 0, 6, 4);
	assert_near(joint_at(scene, 1)->point_a, 1, 2, 2);
	assert_near(joint_at(scene, 1)->point_b, 1, 3, 0);
	/* Without further keys a distance is a rod of its initial length. */
	ck_assert_int_eq(axis_at(scene, 0)->mode, JOINT_LOCKED);
	ck_assert_double_eq_tol(axis_at(scene, 0)->rest, sqrt(5), 1e-15);
	ck_assert_double_eq(axis_at(scene, 0)->friction, 2);
	assert_near(joint_at(scene, 2)->point_b, 1, 2, 0);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_uint_eq(axis_at(scene, 1 + i)->axis, i);
		ck_assert_int_eq(axis_at(scene, 1 + i)->spring, JOINT_SPRING_HERTZ);
		ck_assert_double_eq(axis_at(scene, 1 + i)->stiffness, 5);
		ck_assert_double_eq(axis_at(scene, 1 + i)->damping, 1);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(frames_follow_axis_and_across)
{
	static const struct {
		const char *text;
		vec3 x, z;
	} cases[] = {
		{ "axis: [0, 2, 0], across: [0, 0, 1]", { 0, 1, 0 }, { 0, 0, 1 } },
		{ "axis: [0, 2, 0], across: [1, 5, 0]", { 0, 1, 0 }, { 1, 0, 0 } },
		{ "axis: [0, 0, 1], across: [1, 0, 0]", { 0, 0, 1 }, { 1, 0, 0 } },
		{ "axis: [0, 0, 1], across: [-1, 0, 0]", { 0, 0, 1 }, { -1, 0, 0 } },
		{ "axis: [-1, 0, 0], across: [0, 0, 1]", { -1, 0, 0 }, { 0, 0, 1 } },
		{ "axis: [-1, 0, 0], across: [0, 0, -1]", { -1, 0, 0 }, { 0, 0, -1 } },
		{ "across: [0, 1, 0]", { 1, 0, 0 }, { 0, 1, 0 } },
		{ "rotation: {axis: [0, 1, 0], degrees: -90}", { 0, 0, 1 }, { -1, 0, 0 } },
	};
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[512];
		snprintf(text, sizeof text,
			 TURNED "joints: [{type: wheel, a: a, b: b, at: [0, 0, 0], %s}]",
			 cases[i].text);
		struct scene *scene = scene_of_text(text);
		quat frame = joint_at(scene, 0)->frame_a;
		ck_assert_double_eq_tol(quat_length(frame), 1, 1e-15);
		ck_assert_msg(vec3_distance(axis_of(frame, 0), cases[i].x) < 1e-12, "%s",
			      cases[i].text);
		ck_assert_msg(vec3_distance(axis_of(frame, 2), cases[i].z) < 1e-12, "%s",
			      cases[i].text);
		scene_destroy(scene);
	}
}
END_TEST

START_TEST(a_hinge_of_a_planar_world_is_perpendicular_to_the_plane)
{
	struct scene *scene = scene_of_text("world: {planar: true}\nbodies: [{name: a}]\n"
					    "joints: [{type: revolute, b: a, at: [0, 1, 0]}]");
	assert_near(axis_of(joint_at(scene, 0)->frame_a, 0), 0, 0, 1);
	scene_destroy(scene);
}
END_TEST

/* ---- axes ---------------------------------------------------------------------------------------- */

START_TEST(every_key_of_a_joint_reaches_its_command)
{
	struct scene *scene = scene_of_text(
		TURNED
		"joints:\n"
		"  - {type: prismatic, a: a, b: b, at: [0, 0, 0], violated: move, collide: true,\n"
		"     break_force: 7, break_torque: 8, tag: -9, limits: [-1, 2], restitution: 0.5,\n"
		"     friction: 3, spring: {stiffness: 4, damping: 5, rest: 6, limit: 10},\n"
		"     motor: {velocity: 11, limit: 12, sine: {amplitude: 13, "
		"hertz: 14, phase_degrees: 180}}}\n");
	const struct command_JOINT_CREATE *joint = joint_at(scene, 0);
	ck_assert_int_eq(joint->violated, 2);
	ck_assert_uint_eq(joint->flags, 0);
	ck_assert_double_eq(joint->break_force, 7);
	ck_assert_double_eq(joint->break_torque, 8);
	ck_assert_int_eq(joint->tag, -9);
	const struct command_JOINT_AXIS *axis = axis_at(scene, 0);
	ck_assert_uint_eq(axis->axis, 0);
	ck_assert_int_eq(axis->mode, JOINT_LIMITED);
	ck_assert_double_eq(axis->lower, -1);
	ck_assert_double_eq(axis->upper, 2);
	ck_assert_double_eq(axis->restitution, 0.5);
	ck_assert_double_eq(axis->friction, 3);
	ck_assert_int_eq(axis->spring, JOINT_SPRING_STIFFNESS);
	ck_assert_double_eq(axis->stiffness, 4);
	ck_assert_double_eq(axis->damping, 5);
	ck_assert_double_eq(axis->rest, 6);
	ck_assert_double_eq(axis->spring_limit, 10);
	ck_assert_int_eq(axis->motor, JOINT_MOTOR_VELOCITY);
	ck_assert_double_eq(axis->target, 11);
	ck_assert_double_eq(axis->motor_limit, 12);
	ck_assert_int_eq(axis->wave, JOINT_WAVE_SINE);
	ck_assert_double_eq(axis->amplitude, 13);
	ck_assert_double_eq(axis->hertz, 14);
	ck_assert_double_eq_tol(axis->phase, 180 * RADIANS_PER_DEGREE, 1e-15);
	scene_destroy(scene);
}
END_TEST

START_TEST(angles_may_be_given_in_degrees)
{
	struct scene *scene = scene_of_text(
		TURNED
		"joints:\n"
		"  - {type: revolute, a: a, b: b, at: [0, 0, 0], limits_degrees: [-90, 45],\n"
		"     spring: {hertz: 2, ratio: 0.3, rest_degrees: 30},\n"
		"     motor: {position_degrees: 60, sine: {amplitude_degrees: 20, hertz: 1}}}\n"
		"  - {type: spherical, a: a, b: b, at: [0, 0, 0], twist: {limits: [-1, 1]},\n"
		"     swing: {limits_degrees: [0, 90], friction: 4}}\n");
	const struct command_JOINT_AXIS *axis = axis_at(scene, 0);
	ck_assert_uint_eq(axis->axis, 3);
	ck_assert_double_eq_tol(axis->lower, -90 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_double_eq_tol(axis->upper, 45 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_double_eq_tol(axis->rest, 30 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_double_eq(axis->damping, 0.3);
	ck_assert_int_eq(axis->motor, JOINT_MOTOR_POSITION);
	ck_assert_double_eq_tol(axis->target, 60 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_double_eq_tol(axis->amplitude, 20 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_uint_eq(axis_at(scene, 1)->axis, 3);
	ck_assert_double_eq(axis_at(scene, 1)->lower, -1);
	ck_assert_uint_eq(axis_at(scene, 2)->axis, 4);
	ck_assert_double_eq_tol(axis_at(scene, 2)->upper, 90 * RADIANS_PER_DEGREE, 1e-15);
	ck_assert_int_eq(axis_at(scene, 2)->joint, axis_at(scene, 1)->joint);
	scene_destroy(scene);
}
END_TEST

/* A leader may come later; a generator's joints follow one by one. */
START_TEST(gears_find_their_leaders)
{
	struct scene *scene = scene_of_text(
		"bodies: [{name: w, array: {count: 3, step: [1, 0, 0]}}, "
		"{name: v, at: [0, 2, 0], array: {count: 3, step: [1, 0, 0]}}]\n"
		"joints:\n"
		"  - {type: prismatic, b: 'w[0]', at_b: [0, 0, 0], "
		"gear: {leader: late, axis: turn, ratio: 0.5, offset: 2}}\n"
		"  - {type: revolute, name: one, b: 'w[1]', at_b: [0, 0, 0]}\n"
		"  - {type: revolute, name: many, b: v, at_b: [0, 0, 0], "
		"gear: {leader: one, ratio: -3, offset_degrees: 180}}\n"
		"  - {type: cylindrical, name: late, b: 'w[2]', at_b: [0, 0, 0], "
		"slide: {gear: {leader: late, axis: turn}}, turn: {gear: {leader: 'many[1]'}}}\n"
		"  - {type: spherical, name: other, b: 'w[2]', at_b: [0, 0, 0]}\n");
	static const struct {
		uint32_t joint, axis, leader, leader_axis; /* joints by their order */
		double ratio, offset;
	} expected[] = { { 0, 0, 5, 3, 0.5, 2 }, { 2, 3, 1, 3, -3, PI }, { 3, 3, 1, 3, -3, PI },
			 { 4, 3, 1, 3, -3, PI }, { 5, 0, 5, 3, 1, 0 },	 { 5, 3, 3, 3, 1, 0 } };
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_GEAR), COUNT_OF(expected));
	for (uint32_t i = 0; i < COUNT_OF(expected); i++) {
		const struct command_JOINT_GEAR *gear =
			&scene_command(scene, COMMAND_JOINT_GEAR, i)->joint_gear;
		const struct command *maker = &scene->commands[-gear->joint - 1];
		ck_assert_ptr_eq(maker,
				 scene_command(scene, COMMAND_JOINT_CREATE, expected[i].joint));
		maker = &scene->commands[-gear->leader - 1];
		ck_assert_ptr_eq(maker,
				 scene_command(scene, COMMAND_JOINT_CREATE, expected[i].leader));
		ck_assert_uint_eq(gear->axis, expected[i].axis);
		ck_assert_uint_eq(gear->leader_axis, expected[i].leader_axis);
		ck_assert_double_eq(gear->ratio, expected[i].ratio);
		ck_assert_double_eq_tol(gear->offset, expected[i].offset, 1e-15);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(a_motor_may_exert_a_force)
{
	struct scene *scene = scene_of_text(
		TURNED "joints:\n"
		       "  - {type: revolute, a: a, b: b, at: [0, 0, 0],\n"
		       "     motor: {force: -7, limit: 5, sine: {amplitude: 2, hertz: 1}}}\n");
	const struct command_JOINT_AXIS *axis = axis_at(scene, 0);
	ck_assert_int_eq(axis->motor, JOINT_MOTOR_FORCE);
	ck_assert_double_eq(axis->target, -7);
	ck_assert_double_eq(axis->motor_limit, 5);
	ck_assert_double_eq(axis->amplitude, 2);
	scene_destroy(scene);
}
END_TEST

START_TEST(keys_select_the_axes_of_their_types)
{
	static const struct {
		const char *type, *word;
		uint32_t axis;
	} words[] = {
		{ "prismatic", "slide", 0 },  { "cylindrical", "slide", 0 },
		{ "cylindrical", "turn", 3 }, { "revolute", "turn", 3 },
		{ "universal", "turn", 3 },   { "universal", "bend", 4 },
		{ "spherical", "twist", 3 },  { "spherical", "swing", 4 },
		{ "wheel", "suspension", 0 }, { "wheel", "steer", 3 },
		{ "wheel", "spin", 5 },	      { "six_dof", "x", 0 },
		{ "six_dof", "y", 1 },	      { "six_dof", "z", 2 },
		{ "six_dof", "rx", 3 },	      { "six_dof", "ry", 4 },
		{ "six_dof", "rz", 5 },
	};
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		char text[512];
		snprintf(text, sizeof text,
			 TURNED "joints: [{type: %s, a: a, b: b, at: [0, 0, 0], %s: {}}]",
			 words[i].type, words[i].word);
		struct scene *scene = scene_of_text(text);
		ck_assert_uint_eq(axis_at(scene, 0)->axis, words[i].axis);
		ck_assert_int_eq(axis_at(scene, 0)->mode, JOINT_FREE);
		scene_destroy(scene);
	}
}
END_TEST

START_TEST(motors_follow_tables)
{
	struct scene *scene = scene_of_text(
		TURNED
		"joints:\n"
		"  - {type: revolute, a: a, b: b, at: [0, 0, 0], motor: {position_degrees: 0,\n"
		"     follow: {points: [[0, 0], [1, 90], [3, -90]], period: 4}}}\n"
		"  - {type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 0,\n"
		"     follow: {points: [[0.5, 2]]}}}\n");
	const struct command_JOINT_TABLE *table =
		&scene_command(scene, COMMAND_JOINT_TABLE, 0)->joint_table;
	ck_assert_int_eq(table->joint, axis_at(scene, 0)->joint);
	ck_assert_uint_eq(table->axis, 3);
	ck_assert_double_eq(table->period, 4);
	ck_assert_uint_eq(table->points.count, 3);
	ck_assert_double_eq(table->points.items[2].time, 3);
	ck_assert_double_eq_tol(table->points.items[1].value, 90 * RADIANS_PER_DEGREE, 1e-15);
	table = &scene_command(scene, COMMAND_JOINT_TABLE, 1)->joint_table;
	ck_assert_uint_eq(table->points.count, 1);
	ck_assert_double_eq(table->points.items[0].value, 2);
	ck_assert_double_eq(table->period, 0);
	scene_destroy(scene);
}
END_TEST

/* ---- batches ------------------------------------------------------------------------------------- */

START_TEST(batches_refer_to_bodies_of_earlier_batches)
{
	struct scene *scene = scene_of_text(
		TURNED "joints:\n"
		       "  - {type: revolute, a: a, b: b, at: [0, 0, 0], friction: 1}\n"
		       "  - {type: revolute, b: b, at: [0, 0, 0], motor: {velocity: 1, "
		       "follow: {points: [[0, 1]]}}}\n");
	const uint32_t values[] = { 41, 42, 51, 0, 52, 0, 0 };
	ck_assert_uint_eq(scene->command_count, 7);
	scene_link(scene, 0, 1, values);
	scene_link(scene, 1, 4, values);
	ck_assert_int_eq(joint_at(scene, 0)->body_a, 41);
	ck_assert_int_eq(joint_at(scene, 0)->body_b, -1);
	ck_assert_int_eq(axis_at(scene, 0)->joint, -2);
	scene_link(scene, 4, 6, values);
	ck_assert_int_eq(joint_at(scene, 1)->body_a, 0);
	ck_assert_int_eq(joint_at(scene, 1)->body_b, 42);
	ck_assert_int_eq(axis_at(scene, 1)->joint, -1);
	scene_link(scene, 6, 7, values);
	ck_assert_int_eq(scene_command(scene, COMMAND_JOINT_TABLE, 0)->joint_table.joint, 52);
	scene_destroy(scene);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------------ */

static const struct {
	const char *bodies, *joint; /* NULL: those of TURNED */
	enum status status;
	const char *field, *says;
} BROKEN[] = {
	{ NULL, "type: hinge, a: a, b: b, at: [0, 0, 0]", STATUS_RANGE, "type",
	  "not one of spherical|revolute" },
	{ NULL, "a: a, b: b, at: [0, 0, 0]", STATUS_MISSING, "type", "needs the key 'type'" },
	{ NULL, "type: fixed, a: a, b: c, at: [0, 0, 0]", STATUS_MISSING, "b",
	  "no body has the name 'c'" },
	{ "[{name: a}]", "type: revolute, b: a, at: [0, 0, 0], gear: {leader: other}",
	  STATUS_MISSING, "leader", "no joint has the name 'other'" },
	{ "[{name: a}]",
	  "type: revolute, name: j, b: a, at: [0, 0, 0], gear: {leader: j, ratio: 0}", STATUS_RANGE,
	  "ratio", "ratio is 0" },
	{ "[{name: a}]",
	  "type: prismatic, name: j, b: a, at: [0, 0, 0], gear: {leader: j, offset_degrees: 3}",
	  STATUS_RANGE, "offset_degrees", "this axis is a length" },
	{ "[{name: a}]",
	  "type: revolute, name: j, b: a, at: [0, 0, 0], gear: {leader: j, axis: slide}",
	  STATUS_RANGE, "axis", "no such axis" },
	{ "[{name: a, array: {count: 2}}]",
	  "type: revolute, name: j, b: a, at_b: [0, 0, 0], gear: {leader: 'j[2]'}", STATUS_RANGE,
	  "leader", "numbers 0 to 1" },
	{ "[{name: frame}]", "type: fixed, b: farme, at: [0, 0, 0]", STATUS_MISSING, "b",
	  "mean 'frame'" },
	{ NULL, "type: revolute, b: a, at: [0, 0, 0], spring: {hertz: 10001}", STATUS_RANGE,
	  "hertz", "between 0 and 10000 Hz" },
	{ NULL, "type: fixed, at: [0, 0, 0]", STATUS_RANGE, "b", "both sides are the world" },
	{ NULL, "type: fixed, a: a, b: a, at: [0, 0, 0]", STATUS_RANGE, "b", "the same body" },
	{ NULL, "type: fixed, a: 'a[1]', at: [0, 0, 0]", STATUS_RANGE, "a",
	  "from -1 to 0; -1 is the last" },
	{ NULL, "type: fixed, a: 'a[-2]', at: [0, 0, 0]", STATUS_RANGE, "a",
	  "from -1 to 0; -1 is the last" },
	{ NULL, "type: fixed, a: 'a[x]', at: [0, 0, 0]", STATUS_TYPE, "a", "NAME[number]" },
	{ NULL, "type: fixed, a: 'a[0]]', at: [0, 0, 0]", STATUS_TYPE, "a", "NAME[number]" },
	{ NULL, "type: fixed, chain: a, at_a: [0, 0, 0]", STATUS_RANGE, "chain", "2 or more" },
	{ NULL, "type: fixed, chain: a, b: b, at_a: [0, 0, 0]", STATUS_EXISTS, "chain", "exclude" },
	{ "[{name: a, array: {count: 2}}, {name: b, array: {count: 3}}]",
	  "type: fixed, a: a, b: b, at_a: [0, 0, 0]", STATUS_RANGE, "b", "2 bodies and b has 3" },
	{ "[{name: a}, {name: a}]", "type: fixed, a: a, at: [0, 0, 0]", STATUS_EXISTS, "name",
	  "was already given in line 1" },
	{ "[{name: a}]",
	  "name: j, type: fixed, a: a, at: [0, 0, 0]}, {type: fixed, a: a, at: [0, 0, 0], "
	  "name: i},\n{name: j, type: fixed, a: a, at: [0, 0, 0]",
	  STATUS_EXISTS, "name", "scene:3: name 'j' was already given in line 2" },
	{ "[{name: world}]", "type: fixed, a: a, at: [0, 0, 0]", STATUS_RANGE, "name",
	  "is not allowed" },
	{ "[{name: 'a[0]'}]", "type: fixed, a: a, at: [0, 0, 0]", STATUS_RANGE, "name",
	  "is not allowed" },
	{ NULL, "type: fixed, a: a, b: b", STATUS_MISSING, "at", "'at', 'at_a' and 'at_b'" },
	{ NULL, "type: fixed, a: a, b: b, at: [0, 0, 0], at_a: [0, 0, 0]", STATUS_EXISTS, "at",
	  "exclude" },
	{ NULL, "type: fixed, a: a, b: b, at: [0, 0, 0], at_b: [0, 0, 0]", STATUS_EXISTS, "at",
	  "exclude" },
	{ NULL, "type: fixed, a: a, b: b, at: [0, 0, 0], to: [0, 0, 0]", STATUS_RANGE, "to",
	  "give at" },
	{ NULL, "type: distance, a: a, b: b, at: [0, 0, 0]", STATUS_MISSING, "at_b",
	  "'to' or 'at_b'" },
	{ NULL, "type: distance, a: a, b: b, at: [0, 0, 0], to: [0, 0, 0], at_b: [0, 0, 0]",
	  STATUS_EXISTS, "to", "exclude" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], axis: [0, 0, 0]", STATUS_DEGENERATE,
	  "axis", "1e-09" },
	{ NULL, "type: wheel, a: a, b: b, at: [0, 0, 0], axis: [0, 1, 0], across: [0, 3, 0]",
	  STATUS_DEGENERATE, "across", "parallel to axis" },
	{ NULL, "type: wheel, a: a, b: b, at: [0, 0, 0], axis: [0, 1, 0], rotation: [1, 0, 0, 0]",
	  STATUS_EXISTS, "rotation", "exclude" },
	{ NULL, "type: spherical, a: a, b: b, at: [0, 0, 0], friction: 1", STATUS_RANGE, "type",
	  "twist: {…} or swing" },
	{ NULL, "type: fixed, a: a, b: b, at: [0, 0, 0], friction: 1", STATUS_RANGE, "type",
	  "no axis" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], swing: {}", STATUS_RANGE, "swing",
	  "no axis swing" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], limits: [2, 1]", STATUS_RANGE, "limits",
	  "the lower value of limits, 2, is above" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], limits: [1]", STATUS_LIMIT, "limits",
	  "1 entries" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], mode: limited", STATUS_MISSING,
	  "limits", "needs the key 'limits'" },
	{ NULL, "type: revolute, a: a, b: b, at: [0, 0, 0], limits: [0, 1], limits_degrees: [0, 1]",
	  STATUS_EXISTS, "limits", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], limits_degrees: [0, 1]", STATUS_RANGE,
	  "limits_degrees", "in metres" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], spring: {}", STATUS_MISSING, "hertz",
	  "'hertz', 'stiffness'" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], spring: {hertz: 1, stiffness: 1}",
	  STATUS_EXISTS, "stiffness", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], spring: {hertz: 1, damping: 1}",
	  STATUS_EXISTS, "damping", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], spring: {ratio: 1, stiffness: 1}",
	  STATUS_EXISTS, "ratio", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {limit: 1}", STATUS_MISSING,
	  "velocity", "'velocity', 'position'" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {position: 1, force: 1}",
	  STATUS_EXISTS, "position", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {force: 1, stiffness: 2}",
	  STATUS_RANGE, "stiffness", "no gains" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {force: 1, damping: 2}",
	  STATUS_RANGE, "damping", "no gains" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 1, position: 1}",
	  STATUS_EXISTS, "velocity", "exclude" },
	{ NULL, "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {position_degrees: 1}",
	  STATUS_RANGE, "position_degrees", "in metres" },
	{ NULL,
	  "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 1, sine: {hertz: 1}}",
	  STATUS_MISSING, "amplitude", "needs" },
	{ NULL,
	  "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 1, "
	  "follow: {points: [[0, 1], [0, 2]]}}",
	  STATUS_RANGE, "points", "not above 0" },
	{ NULL,
	  "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 1, follow: {points: [[-1, 1]]}}",
	  STATUS_RANGE, "points", "time -1" },
	{ NULL,
	  "type: prismatic, a: a, b: b, at: [0, 0, 0], motor: {velocity: 1, "
	  "follow: {points: [[3, 1]], period: 2}}",
	  STATUS_RANGE, "period", "shorter than the time of the last point, 3" },
	{ "[{name: a, at: [1e6, 0, 0]}]", "type: fixed, a: a, at_a: [1, 0, 0]", STATUS_RANGE,
	  "at_a", "the limit of 1000000 m" },
};

START_TEST(every_error_names_line_key_and_limit)
{
	char text[1024];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	const char *bodies = BROKEN[_i].bodies;
	if (bodies == NULL)
		snprintf(text, sizeof text, TURNED "joints: [{%s}]", BROKEN[_i].joint);
	else
		snprintf(text, sizeof text, "bodies: %s\njoints: [{%s}]", bodies, BROKEN[_i].joint);
	int64_t live = heap_live();
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_msg(status == BROKEN[_i].status, "%s: %s\nof %s", status_name(status),
		      status == STATUS_OK ? "" : why.text, text);
	ck_assert_str_eq(why.field, BROKEN[_i].field);
	ck_assert_msg(strstr(why.text, BROKEN[_i].says) != NULL, "'%s' does not say '%s'", why.text,
		      BROKEN[_i].says);
	ck_assert_msg(strncmp(why.text, "scene:", 6) == 0, "'%s'", why.text);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(a_name_in_a_prototype_is_refused)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	const char *text = "prototypes: {p: {name: x}}\nbodies: [{like: p}]";
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), STATUS_EXISTS);
	ck_assert_str_eq(why.field, "name");
}
END_TEST

START_TEST(more_joints_than_the_worlds_limit_are_refused)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	const char *text = "world: {limits: {joints: 3}}\n"
			   "bodies: [{name: a, array: {count: 5, step: [1, 0, 0]}}]\n"
			   "joints: [{type: spherical, chain: a, at_a: [0, 0, 0]}]";
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), STATUS_LIMIT);
	ck_assert_ptr_nonnull(
		strstr(why.text, "more joints than the limit of 3 (world.limits.joints)"));
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("joints");
	TCase *test = tcase_create("joints");
	tcase_add_test(test, sides_are_commands_that_make_bodies);
	tcase_add_test(test, bodies_of_two_generators_are_joined_pairwise);
	tcase_add_test(test, a_chain_joins_each_body_to_the_next);
	tcase_add_test(test, anchors_are_in_the_world_or_in_a_body);
	tcase_add_test(test, a_distance_has_two_anchors);
	tcase_add_test(test, frames_follow_axis_and_across);
	tcase_add_test(test, a_hinge_of_a_planar_world_is_perpendicular_to_the_plane);
	tcase_add_test(test, every_key_of_a_joint_reaches_its_command);
	tcase_add_test(test, angles_may_be_given_in_degrees);
	tcase_add_test(test, keys_select_the_axes_of_their_types);
	tcase_add_test(test, gears_find_their_leaders);
	tcase_add_test(test, a_motor_may_exert_a_force);
	tcase_add_test(test, motors_follow_tables);
	tcase_add_test(test, batches_refer_to_bodies_of_earlier_batches);
	tcase_add_loop_test(test, every_error_names_line_key_and_limit, 0, COUNT_OF(BROKEN));
	tcase_add_test(test, a_name_in_a_prototype_is_refused);
	tcase_add_test(test, more_joints_than_the_worlds_limit_are_refused);
	suite_add_tcase(suite, test);
	return suite;
}

int main(void)
{
	return check_main(make);
}
