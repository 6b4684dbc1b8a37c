/* Robot files as scenes: every trap of the formats is a file in tests/data/robots, which is
 * refused by line, or loads with a note by line; and what the format means is what the scene
 * has. test_robot_mujoco.c compares whole models. */
#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/data/robots/"

static void path_of(const char *name, char path[2048])
{
	const char *source = getenv("CAIRN_SRCDIR");
	snprintf(path, 2048, "%s/" FOLDER "%s", source != NULL ? source : ".", name);
}

static struct scene *load_with(const char *name, struct scene_options options)
{
	char path[2048];
	struct scene *scene;
	struct reason why = { 0 };
	path_of(name, path);
	enum status status = scene_load_with(path, &options, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s: %s", name, status_name(status), why.text);
	return scene;
}

static struct scene *load(const char *name)
{
	return load_with(name, (struct scene_options){ .base = SCENE_BASE_UNKNOWN });
}

/* The SPAWN of a body by its name. */
static const struct command_SPAWN *spawn(const struct scene *scene, const char *name)
{
	uint32_t number = 0, wanted = 0;
	for (uint32_t i = 0; i < scene->name_count; i++)
		if (strcmp(scene->names[i].name, name) == 0)
			wanted = scene->names[i].first;
	ck_assert_msg(wanted != 0, "no body '%s'", name);
	for (uint32_t i = 0; i < scene->command_count; i++)
		if (scene->commands[i].op == COMMAND_SPAWN && ++number == wanted)
			return &scene->commands[i].spawn;
	ck_abort_msg("no command makes '%s'", name);
	return NULL;
}

/* ---- refusals ------------------------------------------------------------------------------ */

static const struct {
	const char *file;
	enum status status;
	const char *text; /* parts of the reason, separated by bars */
} REFUSED[] = {
	{ "no_inertia.urdf", STATUS_MISSING, ":4:|'b' moves and has no mass" },
	{ "light.urdf", STATUS_RANGE, ":3:|mass 1e-07 kg of 'a'|1e-06" },
	{ "no_base.urdf", STATUS_MISSING, ":2:|'trunk'|--base fixed|floating" },
	{ "reserved.xml", STATUS_RANGE, ":3:|'world'" },
	{ "euler.xml", STATUS_RANGE, ":2:|eulerseq 'xyw'" },
	{ "mistyped.xml", STATUS_MALFORMED, ":3:|'axsi'; did you mean 'axis'?" },
	{ "mistyped_element.urdf", STATUS_MALFORMED, ":3:|<lnik>|did you mean 'link'?" },
	{ "impossible.urdf", STATUS_RANGE, ":3:|[0.01, 0.01, 0.05]|--balance" },
	{ "negative.xml", STATUS_RANGE, ":3:|as no body has" },
	{ "missing_link.urdf", STATUS_MISSING, ":4:|'forarm'; did you mean 'forearm'?" },
	{ "cycle.urdf", STATUS_BACK_REFERENCE, ":6:|'a' is in a cycle" },
	{ "two_parents.urdf", STATUS_EXISTS, ":7:|'b' has two parents|line 6" },
	{ "two_roots.urdf", STATUS_MALFORMED, ":3:|'b'|'a' in line 2" },
	{ "twice.urdf", STATUS_EXISTS, ":4:|link 'a' is there twice|line 3" },
	{ "zero_axis.urdf", STATUS_DEGENERATE, ":5:|axis|length 0" },
	{ "zero_axis.xml", STATUS_DEGENERATE, ":4:|axis|length 0" },
	{ "no_limit.urdf", STATUS_MISSING, ":4:|<limit>|'j' has none" },
	{ "entity.urdf", STATUS_UNSUPPORTED, ":2:|document type|entities" },
	{ "laughs.xml", STATUS_UNSUPPORTED, ":1:|document type" },
	{ "escape.xml", STATUS_RANGE, ":2:|without '..'" },
	{ "include_bad.xml", STATUS_RANGE, "include_part.xml:5:|size -1" },
	{ "include_self.xml", STATUS_EXISTS, ":3:|included twice" },
	{ "mesh_escape.urdf", STATUS_RANGE, ":4:|without '..'" },
	{ "mesh_url.urdf", STATUS_UNSUPPORTED, ":4:|CAIRN_MESH_PATH" },
	{ "tendon.xml", STATUS_UNSUPPORTED, ":3:|tendons are not supported" },
	{ "muscle.xml", STATUS_UNSUPPORTED, ":4:|muscles are not supported" },
	{ "mimic_missing.urdf", STATUS_MISSING, ":5:|no joint that moves has the name 'k'" },
	{ "negative_damping.urdf", STATUS_RANGE, ":4:|dynamics damping -1|between 0" },
	{ "negative_stiffness.xml", STATUS_RANGE, ":3:|joint stiffness -5|between 0" },
	{ "negative_friction.xml", STATUS_RANGE, ":3:|geom friction -1|between 0" },
	{ "negative_gain.xml", STATUS_RANGE, ":5:|position kp -10|between 0" },
	{ "condim.xml", STATUS_TYPE, ":3:|geom condim is '2'|1|3|4|6" },
	{ "half_bits.xml", STATUS_TYPE, ":3:|geom contype must be a whole number" },
	{ "reversed_force.xml", STATUS_RANGE, ":5:|forcerange [5, -5] of <motor>|below" },
	{ "no_force.xml", STATUS_RANGE, ":5:|forcerange [0, 0] of <motor>|below" },
	{ "no_target.xml", STATUS_MISSING, ":5:|<motor> acts on nothing|joint" },
	{ "same_body.xml", STATUS_RANGE, ":5:|<exclude> names 'a' twice" },
	{ "cubic.xml", STATUS_UNSUPPORTED, ":7:|coefficient 4 of polycoef is 0.5" },
	{ "/usr/share/mujoco/model/composite/cloth.xml", STATUS_UNSUPPORTED,
	  "<composite> is refused" },
	{ "/usr/share/mujoco/model/tendon_arm/arm26.xml", STATUS_UNSUPPORTED,
	  "<tendon> is refused" },
	{ "/usr/share/mujoco/model/hammock/hammock.xml", STATUS_UNSUPPORTED,
	  "<composite> is refused" },
	{ "/usr/share/mujoco/model/adhesion/active_adhesion.xml", STATUS_UNSUPPORTED,
	  "<composite> is refused" },
};

/* Whether the text has all parts. */
static bool has_parts(const char *text, const char *parts)
{
	char part[128];
	while (*parts != '\0') {
		size_t bytes = strcspn(parts, "|");
		snprintf(part, sizeof part, "%.*s", (int)bytes, parts);
		if (strstr(text, part) == NULL)
			return false;
		parts += bytes + (parts[bytes] == '|');
	}
	return true;
}

static bool is_there(const char *path)
{
	FILE *file = fopen(path, "r");
	if (file != NULL)
		fclose(file);
	return file != NULL;
}

START_TEST(a_trap_is_refused_by_line)
{
	char path[2048];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	path_of(REFUSED[_i].file, path);
	if (REFUSED[_i].file[0] == '/')
		snprintf(path, sizeof path, "%s", REFUSED[_i].file);
	if (!is_there(path))
		return; /* libmujoco-samples is not installed; the suite says so */
	int64_t live = heap_live();
	enum status status = scene_load(path, &scene, &why);
	ck_assert_msg(status == REFUSED[_i].status, "%s: %s: %s", REFUSED[_i].file,
		      status_name(status), why.text);
	ck_assert_msg(has_parts(why.text, REFUSED[_i].text), "%s: '%s' has not '%s'",
		      REFUSED[_i].file, why.text, REFUSED[_i].text);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

/* ---- notes --------------------------------------------------------------------------------- */

static const struct {
	const char *file, *text;
} NOTED[] = {
	{ "frames.urdf", "'footprint' has no mass: it is part of 'base'|'sensor' has no mass" },
	{ "degrees.urdf", ":5:|90 rad|degrees?" },
	{ "radians.xml", ":3:|1.57 degrees|radian?" },
	{ "visual_only.urdf", ":3:|'a' has a visual and no collision" },
	{ "balance.xml", ":4:|[1, 1, 4]|balanced" },
	{ "large_inertia.urdf", ":3:|check the units" },
	{ "gains.xml", ":6:|dampratio of <position> is not taken" },
	{ "gear_zero.xml", ":5:|<position> is not taken: with a gear of 0" },
	{ "margin.xml", ":4:|margin of <geom> is not taken" },
};

START_TEST(what_is_not_taken_is_told_by_line)
{
	struct scene *scene = load(NOTED[_i].file);
	ck_assert_ptr_nonnull(scene->notes);
	ck_assert_msg(has_parts(scene->notes, NOTED[_i].text), "%s: '%s' has not '%s'",
		      NOTED[_i].file, scene->notes, NOTED[_i].text);
	scene_destroy(scene);
}
END_TEST

START_TEST(a_model_of_nothing_is_an_empty_world)
{
	struct scene *scene = load("nothing.xml");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 0);
	scene_destroy(scene);
}
END_TEST

/* An actuator with a gear of 0 drives nothing: it is no motor that holds the joint where it is. */
START_TEST(a_gear_of_zero_leaves_its_joint_free)
{
	struct scene *scene = load("gear_zero.xml");
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 1);
	for (uint32_t i = 0; i < scene->command_count; i++)
		if (scene->commands[i].op == COMMAND_JOINT_AXIS)
			ck_assert_uint_eq(scene->commands[i].joint_axis.motor, 0);
	scene_destroy(scene);
}
END_TEST

/* ---- meanings ------------------------------------------------------------------------------ */

START_TEST(a_fixed_base_keeps_its_names_and_shapes)
{
	struct scene *scene = load("fixed_base.urdf");
	ck_assert_int_eq(spawn(scene, "base")->status, BODY_STATIC);
	ck_assert_int_eq(spawn(scene, "foot")->status, BODY_STATIC);
	ck_assert_uint_eq(spawn(scene, "foot")->shapes.count, 1);
	ck_assert_int_eq(spawn(scene, "arm")->status, BODY_DYNAMIC);
	/* z of the file is y here. */
	ck_assert_double_eq_tol(spawn(scene, "base")->position.y, 1, 1e-12);
	ck_assert_double_eq_tol(spawn(scene, "foot")->position.y, 0, 1e-12);
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 1);
	ck_assert_int_ne(scene_command(scene, COMMAND_JOINT_CREATE, 0)->joint_create.body_a, 0);
	scene_destroy(scene);
}
END_TEST

START_TEST(the_base_is_as_the_user_says)
{
	struct scene *fixed =
		load_with("no_base.urdf", (struct scene_options){ .base = SCENE_BASE_FIXED });
	struct scene *floating =
		load_with("no_base.urdf", (struct scene_options){ .base = SCENE_BASE_FLOATING });
	ck_assert_int_eq(spawn(fixed, "trunk")->status, BODY_STATIC);
	ck_assert_int_eq(spawn(floating, "trunk")->status, BODY_DYNAMIC);
	scene_destroy(fixed);
	scene_destroy(floating);
}
END_TEST

START_TEST(links_between_joints_have_the_share_that_is_asked_for)
{
	const double shares[] = { 0, 1e-4, 0.1 };
	for (uint32_t i = 0; i < 3; i++) {
		struct scene *scene = load_with(
			"two_anchors.xml", (struct scene_options){ .joint_link_share = shares[i] });
		double share = i == 0 ? 0.01 : shares[i];
		const struct command_SPAWN *link = spawn(scene, "foot/1"),
					   *foot = spawn(scene, "foot");
		ck_assert_double_eq_tol(link->mass, 2 * share, 1e-15);
		ck_assert_double_eq_tol(foot->mass, 2 * (1 - share), 1e-15);
		ck_assert_double_eq_tol(link->inertia.x, 0.03 * share, 1e-16);
		ck_assert_double_eq_tol(foot->inertia.x, 0.03 * (1 - share), 1e-15);
		scene_destroy(scene);
	}
}
END_TEST

START_TEST(shares_that_no_link_can_have_are_refused)
{
	static const struct {
		double share;
		const char *text;
	} cases[] = {
		{ 1e-16, "joint_link_share is 1e-16; it must be from 1e-15 to 0.1" },
		{ 0.2, "joint_link_share is 0.2; it must be from 1e-15 to 0.1" },
		{ -1, "joint_link_share is -1; it must be from 1e-15 to 0.1" },
		{ NAN, "it must be from 1e-15 to 0.1" },
		{ 1e-13, "two_anchors.xml:6: a link between joints of 'foot' would have less than "
			 "1e-12 kg; joint_link_share must be 5e-13 at least" },
	};
	for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct reason why = { 0 };
		struct scene *scene = NULL;
		char path[2048];
		path_of("two_anchors.xml", path);
		const struct scene_options options = { .joint_link_share = cases[i].share };
		ck_assert_int_eq(scene_load_with(path, &options, &scene, &why), STATUS_RANGE);
		ck_assert_msg(strstr(why.text, cases[i].text) != NULL, "%s", why.text);
		ck_assert_ptr_null(scene);
	}
}
END_TEST

START_TEST(frames_without_mass_become_parts)
{
	struct scene *scene = load("frames.urdf");
	const struct command_SPAWN *base = spawn(scene, "base");
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 2);
	ck_assert_uint_eq(base->shapes.count, 2);
	ck_assert_double_eq_tol(base->position.y, 0.3, 1e-12);
	ck_assert_double_eq_tol(base->shapes.items[1].position.x, 0.5, 1e-12);
	/* The joint of the frame is that of its body, where the frame is. */
	const struct command_JOINT_CREATE *joint =
		&scene_command(scene, COMMAND_JOINT_CREATE, 0)->joint_create;
	ck_assert_double_eq_tol(joint->point_a.x, 0.6, 1e-12);
	scene_destroy(scene);
}
END_TEST

START_TEST(inertia_is_balanced_if_asked)
{
	struct scene *scene =
		load_with("impossible.urdf", (struct scene_options){ .balance = true });
	vec3 m = spawn(scene, "a")->inertia;
	ck_assert_double_eq_tol(m.x, 0.07 / 3, 1e-15);
	ck_assert_double_eq(m.y, m.x);
	ck_assert_double_eq(m.z, m.x);
	ck_assert_ptr_nonnull(scene->notes);
	scene_destroy(scene);
}
END_TEST

START_TEST(limits_beyond_half_a_turn_stay_what_they_are)
{
	struct scene *scene = load("beyond_pi.xml");
	const struct command_JOINT_AXIS *axis =
		&scene_command(scene, COMMAND_JOINT_AXIS, 0)->joint_axis;
	ck_assert_double_eq_tol(axis->lower, -400 * RADIANS_PER_DEGREE, 1e-12);
	ck_assert_double_eq_tol(axis->upper, 700 * RADIANS_PER_DEGREE, 1e-12);
	scene_destroy(scene);
}
END_TEST

/* Its force is gear times control; the limit is that of the smaller of both ranges. A joint's other actuator
 * takes precedence. */
START_TEST(a_motor_actuator_is_a_motor_of_force)
{
	static const double LIMIT[3] = { 10, 5, 0 }, TARGET[3] = { 0, -2.5, 0 };
	struct scene *scene = load("torque.xml");
	uint32_t found = 0;
	for (uint32_t i = 0; i < scene->command_count; i++) {
		const struct command_JOINT_AXIS *axis = &scene->commands[i].joint_axis;
		if (scene->commands[i].op != COMMAND_JOINT_AXIS)
			continue;
		ck_assert_uint_lt(found, 4);
		ck_assert_int_eq(axis->motor, found < 3 ? JOINT_MOTOR_FORCE : JOINT_MOTOR_VELOCITY);
		if (found < 3) {
			ck_assert_double_eq(axis->motor_limit, LIMIT[found]);
			ck_assert_double_eq(axis->target, TARGET[found]);
		}
		found++;
	}
	ck_assert_uint_eq(found, 4);
	scene_destroy(scene);
}
END_TEST

START_TEST(a_position_actuator_is_a_motor_with_its_largest_force)
{
	struct scene *scene = load("gains.xml");
	const struct command_JOINT_AXIS *axis =
		&scene_command(scene, COMMAND_JOINT_AXIS, 0)->joint_axis;
	ck_assert_int_eq(axis->motor, JOINT_MOTOR_POSITION);
	ck_assert_double_eq(axis->motor_limit, 6);
	/* The gains of the actuator's length, 2 q. */
	ck_assert_double_eq(axis->motor_stiffness, 200);
	ck_assert_double_eq(axis->motor_damping, 12);
	ck_assert_double_eq(axis->target, 0);
	scene_destroy(scene);
}
END_TEST

/* The next gear of a scene from command *at on. */
static const struct command_JOINT_GEAR *next_gear(const struct scene *scene, uint32_t *at)
{
	while (*at < scene->command_count && scene->commands[*at].op != COMMAND_JOINT_GEAR)
		++*at;
	ck_assert_uint_lt(*at, scene->command_count);
	return &scene->commands[(*at)++].joint_gear;
}

START_TEST(a_mimic_joint_is_a_gear)
{
	struct scene *scene = load("mimic.urdf");
	uint32_t at = 0;
	const struct command_JOINT_GEAR *gear = next_gear(scene, &at);
	ck_assert_uint_eq(gear->axis, 3);
	ck_assert_uint_eq(gear->leader_axis, 3);
	ck_assert_double_eq(gear->ratio, 2);
	ck_assert_double_eq(gear->offset, 0);
	ck_assert_ptr_null(scene->notes);
	scene_destroy(scene);
}
END_TEST

/* Two hinges of a body are one joint with two axes. A coupling without a second joint locks. */
START_TEST(couplings_are_gears)
{
	static const struct {
		uint32_t axis, leader_axis;
		double ratio, offset;
	} expected[] = { { 3, 3, 3, 0 }, { 0, 4, -0.5, 0.2 } };
	struct scene *scene = load("couplings.xml");
	uint32_t at = 0, locks = 0;
	for (uint32_t i = 0; i < COUNT_OF(expected); i++) {
		const struct command_JOINT_GEAR *gear = next_gear(scene, &at);
		ck_assert_uint_eq(gear->axis, expected[i].axis);
		ck_assert_uint_eq(gear->leader_axis, expected[i].leader_axis);
		ck_assert_double_eq(gear->ratio, expected[i].ratio);
		ck_assert_double_eq(gear->offset, expected[i].offset);
	}
	for (uint32_t i = 0; i < scene->command_count; i++)
		locks += scene->commands[i].op == COMMAND_JOINT_AXIS &&
			 scene->commands[i].joint_axis.lower == 0.25 &&
			 scene->commands[i].joint_axis.upper == 0.25;
	ck_assert_uint_eq(locks, 1);
	scene_destroy(scene);
}
END_TEST

/* Two bodies collide here if both masks have the other's category; MuJoCo wants one of the two. */
START_TEST(filters_let_through_what_mujoco_lets_through)
{
	struct scene *scene = load("filters.xml");
	const uint32_t types[] = { 1, 2, 0, 1 }, affinities[] = { 6, 0, 1, 1 };
	const struct command_SPAWN *bodies[4];
	uint32_t count = 0;
	for (uint32_t i = 0; i < scene->command_count && count < 4; i++)
		if (scene->commands[i].op == COMMAND_SPAWN)
			bodies[count++] = &scene->commands[i].spawn;
	for (uint32_t a = 0; a < 4; a++)
		for (uint32_t b = 0; b < 4; b++) {
			bool ours = (bodies[a]->category & bodies[b]->mask) != 0 &&
				    (bodies[b]->category & bodies[a]->mask) != 0;
			bool theirs =
				(types[a] & affinities[b]) != 0 || (types[b] & affinities[a]) != 0;
			ck_assert_msg(ours == theirs, "bodies %u and %u", (unsigned)a, (unsigned)b);
		}
	/* The excluded pair. */
	const struct command_JOINT_CREATE *joint =
		&scene_command(scene, COMMAND_JOINT_CREATE, 0)->joint_create;
	ck_assert_int_eq(joint->type, JOINT_SIX_DOF);
	ck_assert_uint_eq(joint->flags & JOINT_BODIES_PASS, JOINT_BODIES_PASS);
	scene_destroy(scene);
}
END_TEST

/* ---- conversion ---------------------------------------------------------------------------- */

START_TEST(a_converted_file_is_the_same_scene)
{
	static const char *const files[] = { "everything.xml", "fixed_base.urdf", "filters.xml",
					     "frames.urdf", "dollars.urdf" };
	char path[2048], *text, *notes;
	struct reason why = { 0 };
	struct scene *direct = load(files[_i]), *converted;
	path_of(files[_i], path);
	ck_assert_int_eq(scene_convert(path, NULL, &text, &notes, &why), STATUS_OK);
	enum status status = scene_parse(text, strlen(text), NULL, &converted, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(direct->command_count, converted->command_count);
	for (uint32_t i = 0; i < direct->command_count; i++) {
		char a[2048], b[2048];
		command_describe(&direct->commands[i], a, sizeof a);
		command_describe(&converted->commands[i], b, sizeof b);
		ck_assert_str_eq(a, b);
	}
	ck_assert_uint_eq(direct->name_count, converted->name_count);
	for (uint32_t i = 0; i < direct->name_count; i++) {
		ck_assert_str_eq(direct->names[i].name, converted->names[i].name);
		ck_assert_uint_eq(direct->names[i].first, converted->names[i].first);
	}
	heap_free(text);
	heap_free(notes);
	scene_destroy(direct);
	scene_destroy(converted);
}
END_TEST

static void near_vector(const char *what, vec3 a, vec3 b)
{
	ck_assert_msg(vec3_distance(a, b) < 1e-12, "%s: [%.17g %.17g %.17g], [%.17g %.17g %.17g]",
		      what, a.x, a.y, a.z, b.x, b.y, b.z);
}

/* Equal up to the sign of the quaternion. */
static void near_rotation(const char *what, quat a, quat b)
{
	ck_assert_msg(fabs(quat_dot(a, b)) > 1 - 1e-14, "%s differs", what);
}

START_TEST(urdf_and_mjcf_of_a_robot_are_the_same_bodies)
{
	static const char *const names[] = { "base", "arm", "slide" };
	struct scene *urdf = load("pair.urdf"), *mjcf = load("pair.xml");
	for (uint32_t i = 0; i < 3; i++) {
		const struct command_SPAWN *a = spawn(urdf, names[i]), *b = spawn(mjcf, names[i]);
		near_vector("place", a->position, b->position);
		near_rotation("axes", a->rotation, b->rotation);
		near_vector("centre", a->centre, b->centre);
		near_vector("inertia", a->inertia, b->inertia);
		near_rotation("inertia's axes", a->inertia_rotation, b->inertia_rotation);
		ck_assert_double_eq(a->mass, b->mass);
		ck_assert_uint_eq(a->shapes.count, b->shapes.count);
		for (uint32_t k = 0; k < a->shapes.count; k++) {
			near_vector("shape", a->shapes.items[k].position,
				    b->shapes.items[k].position);
			near_rotation("shape", a->shapes.items[k].rotation,
				      b->shapes.items[k].rotation);
			ck_assert_int_eq(a->shapes.items[k].shape, b->shapes.items[k].shape);
		}
	}
	scene_destroy(urdf);
	scene_destroy(mjcf);
}
END_TEST

START_TEST(urdf_and_mjcf_of_a_robot_have_the_same_joints)
{
	struct scene *urdf = load("pair.urdf"), *mjcf = load("pair.xml");
	const struct command *own = scene_command(urdf, COMMAND_JOINT_CREATE, 0);
	const struct command *other = scene_command(mjcf, COMMAND_JOINT_CREATE, 0);
	const struct command *end = urdf->commands + urdf->command_count;
	uint32_t joints = 0, named = 0;
	for (; own < end; own++, other++) {
		ck_assert_uint_eq(own->op, other->op);
		if (own->op == COMMAND_JOINT_AXIS) {
			ck_assert_double_eq_tol(own->joint_axis.lower, other->joint_axis.lower,
						1e-12);
			ck_assert_double_eq_tol(own->joint_axis.upper, other->joint_axis.upper,
						1e-12);
			ck_assert_double_eq(own->joint_axis.damping, other->joint_axis.damping);
			ck_assert_double_eq(own->joint_axis.friction, other->joint_axis.friction);
			continue;
		}
		if (own->op == COMMAND_NAME_JOINT) {
			/* MJCF may leave a joint without a name: it has its body's. */
			ck_assert_str_ne(own->name_joint.name.text, "");
			named += other->name_joint.joint == own->name_joint.joint;
			continue;
		}
		ck_assert_uint_eq(own->joint_create.type, other->joint_create.type);
		near_vector("anchor", own->joint_create.point_a, other->joint_create.point_a);
		near_rotation("frame", own->joint_create.frame_a, other->joint_create.frame_a);
		joints++;
	}
	ck_assert_uint_eq(joints, 2);
	ck_assert_uint_eq(named, 2);
	scene_destroy(urdf);
	scene_destroy(mjcf);
}
END_TEST

/* A chain of many links; `text` is to be freed. */
static char *chain(uint32_t links)
{
	size_t room = 512 + 512 * (size_t)links, used = 0;
	char *text = malloc(room);
	used += (size_t)snprintf(text, room, "<robot name=\"chain\"><link name=\"world\"/>\n");
	for (uint32_t i = 0; i < links; i++)
		used += (size_t)snprintf(
			text + used, room - used,
			"<link name=\"l%u\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" iyy=\"1\" "
			"izz=\"1\"/></inertial></link>\n<joint name=\"j%u\" type=\"continuous\"><parent "
			"link=\"%s%u\"/><child link=\"l%u\"/><origin xyz=\"0 0 1\"/></joint>\n",
			(unsigned)i, (unsigned)i, i == 0 ? "world" : "l",
			i == 0 ? 0u : (unsigned)i - 1, (unsigned)i);
	snprintf(text + used, room - used, "</robot>\n");
	/* The first parent is `world0`: without its digit. */
	char *at = strstr(text, "\"world0\"");
	memcpy(at, " \"world\"", 8);
	return text;
}

START_TEST(a_long_chain_loads)
{
	char *text = chain(2000);
	struct scene *scene;
	struct reason why = { 0 };
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 2000);
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 2000);
	ck_assert_double_eq_tol(spawn(scene, "l1999")->position.y, 2000, 1e-9);
	scene_destroy(scene);
	free(text);
}
END_TEST

START_TEST(a_hundred_thousand_links_are_refused_by_line)
{
	char *text =
		chain(50000); /* and as many joints; more bytes than a file may have otherwise */
	struct scene *scene;
	struct reason why = { 0 };
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_int_eq(status, STATUS_LIMIT);
	/* The links are taken from the root: the first one too many is number 4096, with the
	 * world. */
	ck_assert_msg(has_parts(why.text, "scene:8192:|4096 links"), "%s", why.text);
	free(text);
}
END_TEST

/* ---- memory -------------------------------------------------------------------------------- */

START_TEST(every_failed_allocation_is_no_memory)
{
	char path[2048];
	path_of("everything.xml", path);
	int64_t live = heap_live();
	for (uint64_t n = 1;; n++) {
		struct scene *scene;
		struct reason why = { 0 };
		heap_fail_at(n);
		enum status status = scene_load(path, &scene, &why);
		bool pending = heap_fail_pending();
		heap_fail_at(0);
		if (status == STATUS_OK)
			scene_destroy(scene);
		else
			ck_assert_msg(status == STATUS_NO_MEMORY, "%s: %s", status_name(status),
				      why.text);
		ck_assert_int_eq(heap_live(), live);
		if (pending)
			break;
	}
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("robots");
	TCase *traps = tcase_create("traps");
	tcase_add_loop_test(traps, a_trap_is_refused_by_line, 0,
			    (int)(sizeof REFUSED / sizeof *REFUSED));
	tcase_add_loop_test(traps, what_is_not_taken_is_told_by_line, 0,
			    (int)(sizeof NOTED / sizeof *NOTED));
	suite_add_tcase(suite, traps);
	TCase *meanings = tcase_create("meanings");
	tcase_add_test(meanings, a_model_of_nothing_is_an_empty_world);
	tcase_add_test(meanings, a_gear_of_zero_leaves_its_joint_free);
	tcase_add_test(meanings, a_fixed_base_keeps_its_names_and_shapes);
	tcase_add_test(meanings, the_base_is_as_the_user_says);
	tcase_add_test(meanings, frames_without_mass_become_parts);
	tcase_add_test(meanings, inertia_is_balanced_if_asked);
	tcase_add_test(meanings, links_between_joints_have_the_share_that_is_asked_for);
	tcase_add_test(meanings, shares_that_no_link_can_have_are_refused);
	tcase_add_test(meanings, limits_beyond_half_a_turn_stay_what_they_are);
	tcase_add_test(meanings, a_motor_actuator_is_a_motor_of_force);
	tcase_add_test(meanings, a_position_actuator_is_a_motor_with_its_largest_force);
	tcase_add_test(meanings, a_mimic_joint_is_a_gear);
	tcase_add_test(meanings, couplings_are_gears);
	tcase_add_test(meanings, filters_let_through_what_mujoco_lets_through);
	suite_add_tcase(suite, meanings);
	TCase *files = tcase_create("files");
	tcase_add_loop_test(files, a_converted_file_is_the_same_scene, 0, 5);
	tcase_add_test(files, urdf_and_mjcf_of_a_robot_are_the_same_bodies);
	tcase_add_test(files, urdf_and_mjcf_of_a_robot_have_the_same_joints);
	tcase_add_test(files, a_long_chain_loads);
	tcase_add_test(files, a_hundred_thousand_links_are_refused_by_line);
	tcase_add_test(files, every_failed_allocation_is_no_memory);
	suite_add_tcase(suite, files);
	if (!is_there("/usr/share/mujoco/model/composite/cloth.xml"))
		check_skip(suite, "models of MuJoCo", "install libmujoco-samples");
	return suite;
}

int main(void)
{
	return check_main(make);
}
