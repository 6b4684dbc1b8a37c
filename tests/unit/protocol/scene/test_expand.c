/* Variables, included files, assemblies, frames and the generators of scene files. What is expanded
 * must be what one would have written by hand; and a flat copy must make the same commands. */
#include "protocol/command_wire.h"
#include "protocol/packer.h"
#include "protocol/scene/compile.h"
#include "protocol/scene/formula.h"
#include "server/base/hash.h"
#include "server/base/rng.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/scene_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct command_SPAWN *spawn(const struct scene *scene, uint32_t index)
{
	return &scene_command(scene, COMMAND_SPAWN, index)->spawn;
}

static void same_scene(const char *a, const char *b)
{
	struct scene *one = scene_of_text(a), *other = scene_of_text(b);
	ck_assert_uint_eq(scene_digest(one), scene_digest(other));
	scene_destroy(one);
	scene_destroy(other);
}

static void assert_vec3(vec3 is, double x, double y, double z)
{
	ck_assert_double_eq_tol(is.x, x, 1e-12);
	ck_assert_double_eq_tol(is.y, y, 1e-12);
	ck_assert_double_eq_tol(is.z, z, 1e-12);
}

/* ---- formulas ------------------------------------------------------------------------------------ */

static const struct {
	const char *formula;
	double value;
} FORMULAS[] = {
	{ "1 + 2 * 3", 7 },
	{ "(1 + 2) * 3", 9 },
	{ "8 / 4 / 2", 1 },
	{ "10 - 3 - 2", 5 },
	{ "-2 * -3", 6 },
	{ "- - 4", 4 },
	{ "1e3 + .5", 1000.5 },
	{ "7 % 3", 1 },
	{ "-1 % 3", 2 },
	{ "5.5 % 2", 1.5 },
	{ "sin(0)", 0 },
	{ "sin(90)", 1 },
	{ "sin(180)", 0 },
	{ "sin(-270)", 1 },
	{ "cos(90)", 0 },
	{ "cos(360000)", 1 },
	{ "cos(540)", -1 },
	{ "sqrt(16)", 4 },
	{ "pow(2, 10)", 1024 },
	{ "abs(-3)", 3 },
	{ "floor(-1.5)", -2 },
	{ "ceil(1.2)", 2 },
	{ "round(2.6)", 3 },
	{ "min(3, 2) + max(3, 2)", 5 },
	{ "mod(7, 4)", 3 },
	{ "less(1, 2, 10, 20)", 10 },
	{ "less(2, 2, 10, 20)", 20 },
	{ "$a * ${a + 1} - $(a)", 9 },
};

static enum status find_a(void *context, uint32_t line, const char *name, double *value)
{
	UNUSED(context);
	UNUSED(line);
	*value = 3;
	return strcmp(name, "a") == 0 ? STATUS_OK : STATUS_MISSING;
}

static enum status evaluate(const char *text, double *out)
{
	const struct source source = { .file = "scene" };
	return formula_evaluate(&source, 1, text, strlen(text), find_a, NULL, out);
}

START_TEST(a_formula_has_its_value)
{
	double value;
	ck_assert_int_eq(evaluate(FORMULAS[_i].formula, &value), STATUS_OK);
	ck_assert_double_eq(value, FORMULAS[_i].value);
}
END_TEST

START_TEST(angles_are_in_degrees_and_near_the_library)
{
	for (int i = -1000; i <= 1000; i++) {
		char text[64];
		double sine, cosine, turned, degrees = i * 0.77;
		snprintf(text, sizeof text, "sin(%.17g)", degrees);
		ck_assert_int_eq(evaluate(text, &sine), STATUS_OK);
		snprintf(text, sizeof text, "cos(%.17g)", degrees);
		ck_assert_int_eq(evaluate(text, &cosine), STATUS_OK);
		ck_assert_double_eq_tol(sine, sin(degrees * RADIANS_PER_DEGREE), 1e-13);
		ck_assert_double_eq_tol(sine * sine + cosine * cosine, 1, 1e-15);
		snprintf(text, sizeof text, "atan2(%.17g, %.17g)", sine, cosine);
		ck_assert_int_eq(evaluate(text, &turned), STATUS_OK);
		ck_assert_double_eq_tol(remainder(turned - degrees, 360), 0, 1e-12);
	}
}
END_TEST

START_TEST(a_number_is_read_as_it_was_written)
{
	struct rng rng = rng_seeded(check_seed());
	for (int i = 0; i < 20000; i++) {
		char text[FORMULA_NUMBER_BYTES];
		double value = scalar_from_bits(rng_u64(&rng));
		if (!scalar_is_finite(value))
			continue;
		ck_assert_double_eq(strtod(formula_number(value, text), NULL), value);
	}
	char text[FORMULA_NUMBER_BYTES];
	ck_assert_str_eq(formula_number(30, text), "30");
	ck_assert_str_eq(formula_number(0.1, text), "0.1");
}
END_TEST

/* ---- variables ----------------------------------------------------------------------------------- */

START_TEST(variables_stand_for_their_values)
{
	same_scene("variables: {n: 2 * half, half: 1.5, r: $half / 3}\n"
		   "world: {rate: $(20 * n), name: w$n}\n"
		   "bodies:\n"
		   "- {name: 'ball-${n + 1}', shape: {kind: sphere, radius: $r},\n"
		   "   at: [$n, $(n * n), \"${-n}\"], array: {count: $n}}\n",
		   "world: {rate: 60, name: w3}\n"
		   "bodies:\n"
		   "- {name: ball-4, shape: {kind: sphere, radius: 0.5}, at: [3, 9, -3], "
		   "array: {count: 3}}\n");
}
END_TEST

START_TEST(a_doubled_dollar_sign_is_one)
{
	struct scene *scene = scene_of_text("bodies: [{name: 'a$$b'}]\n");
	char name[SCENE_BODY_NAME];
	ck_assert(scene_body_name(scene, 1, name));
	ck_assert_str_eq(name, "a$b");
	scene_destroy(scene);
}
END_TEST

/* ---- assemblies ---------------------------------------------------------------------------------- */

static const char PAIR[] =
	"assemblies:\n"
	"  pair:\n"
	"    variables: {gap: 1}\n"
	"    bodies:\n"
	"    - {name: low, shape: s, mass: 1, at: [0, 0, 0]}\n"
	"    - {name: high, shape: s, mass: 1, at: [0, $gap, 0], velocity: [1, 0, 0]}\n"
	"    joints: [{type: distance, a: low, b: high, at: [0, 0, 0], to: [0, $gap, 0]}]\n"
	"shapes: {s: {kind: sphere, radius: 0.1}}\n"
	"bodies:\n"
	"- {name: p, assembly: pair, at: [5, 0, 0], rotation: {axis: [0, 0, 1], degrees: 90},\n"
	"   array: {count: 3, step: [0, 0, 2]}, variables: {gap: 2 + index}}\n"
	"joints:\n"
	"- {type: distance, a: 'p[0].low', b: 'p[2].high', at_a: [0, 0, 0], at_b: [0, 0, 0]}\n";

START_TEST(an_instance_is_what_one_would_write)
{
	struct scene *scene = scene_of_text(PAIR);
	char name[SCENE_BODY_NAME];
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 6);
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_CREATE), 4);
	for (uint32_t i = 0; i < 3; i++) {
		assert_vec3(spawn(scene, 2 * i)->position, 5, 0, 2 * i);
		assert_vec3(spawn(scene, 2 * i + 1)->position, 5 - (2.0 + i), 0, 2 * i);
		assert_vec3(spawn(scene, 2 * i + 1)->velocity, 0, 1, 0);
		const struct command_JOINT_CREATE *joint =
			&scene_command(scene, COMMAND_JOINT_CREATE, i)->joint_create;
		ck_assert_int_eq(joint->body_a, -(int64_t)(2 * i) - 1);
		ck_assert_int_eq(joint->body_b, -(int64_t)(2 * i + 1) - 1);
		assert_vec3(joint->point_a, 5, 0, 2 * i);
		assert_vec3(joint->point_b, 5 - (2.0 + i), 0, 2 * i);
	}
	const struct command_JOINT_CREATE *across =
		&scene_command(scene, COMMAND_JOINT_CREATE, 3)->joint_create;
	ck_assert_int_eq(across->body_a, -1);
	ck_assert_int_eq(across->body_b, -6);
	ck_assert(scene_body_name(scene, 6, name));
	ck_assert_str_eq(name, "p[2].high");
	scene_destroy(scene);
}
END_TEST

START_TEST(assemblies_are_in_assemblies)
{
	/* The outer `index` goes to the inner one by a variable; names have both prefixes. */
	struct scene *scene = scene_of_text(
		"assemblies:\n"
		"  row: {variables: {z: 0}, bodies: [{name: x, at: [$index, 0, $z], "
		"array: {count: 2}}]}\n"
		"  all: {bodies: [{name: r, assembly: row, array: {count: 3, step: [0, 1, "
		"0]}, variables: {z: 10 * k}}],\n"
		"        variables: {k: index}}\n"
		"bodies: [{assembly: all, array: {count: 2}}]\n");
	char name[SCENE_BODY_NAME];
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 12);
	for (uint32_t i = 0; i < 12; i++)
		assert_vec3(spawn(scene, i)->position, i / 2 % 3, i / 2 % 3, 10.0 * (i / 6));
	ck_assert(scene_body_name(scene, 12, name));
	ck_assert_str_eq(name, "all[1].r[2].x[1]");
	scene_destroy(scene);
}
END_TEST

START_TEST(fields_particles_and_movers_are_placed_with_their_assembly)
{
	struct scene *scene = scene_of_text(
		"bodies:\n"
		"- name: g\n"
		"  at: [1, 2, 3]\n"
		"  rotation: {axis: [0, 1, 0], degrees: 90}\n"
		"  assembly:\n"
		"    bodies: [{shape: {kind: capsule, radius: 0.2, length: 1}, mover: "
		"{walk: [0, 0, 1]}}]\n"
		"    fields: [{kind: drag, at: [0, 0, 1], velocity: [0, 0, 2], linear: 1}]\n"
		"    particles: [{name: jet, at: [0, 0, 1]}]\n");
	const struct command_FIELD_CREATE *field =
		&scene_command(scene, COMMAND_FIELD_CREATE, 0)->field_create;
	const struct command_PARTICLES_CREATE *jet =
		&scene_command(scene, COMMAND_PARTICLES_CREATE, 0)->particles_create;
	assert_vec3(field->position, 2, 2, 3);
	assert_vec3(field->velocity, 2, 0, 0);
	assert_vec3(jet->position, 2, 2, 3);
	ck_assert_str_eq(jet->name.text, "g.jet");
	assert_vec3(scene_command(scene, COMMAND_STEER, 0)->steer.velocity, 1, 0, 0);
	scene_destroy(scene);
}
END_TEST

START_TEST(names_belong_to_the_innermost_assembly_that_has_them)
{
	struct scene *scene = scene_of_text(
		"assemblies:\n"
		"  inner: {bodies: [{name: a}], joints: [{type: distance, a: a, b: b, "
		"at_a: [0, 0, 0], at_b: [0, 0, 0]},\n"
		"    {type: distance, a: a, b: c, at_a: [0, 0, 0], at_b: [0, 0, 0]}]}\n"
		"bodies:\n"
		"- {name: a}\n"
		"- {name: c}\n"
		"- {name: o, assembly: {bodies: [{name: b}, {name: i, assembly: inner}]}}\n");
	/* 1 a, 2 c, 3 o.b, 4 o.i.a */
	const struct command_JOINT_CREATE *first =
		&scene_command(scene, COMMAND_JOINT_CREATE, 0)->joint_create;
	ck_assert_int_eq(first->body_a, -4);
	ck_assert_int_eq(first->body_b, -3);
	ck_assert_int_eq(scene_command(scene, COMMAND_JOINT_CREATE, 1)->joint_create.body_b, -2);
	scene_destroy(scene);
}
END_TEST

/* A scene and its copy in another frame: the worlds differ by that frame. */
START_TEST(a_frame_moves_a_scene_rigidly)
{
	struct scene *a = scene_of_text(
		"bodies:\n"
		"- {name: x, shape: {kind: box, size: [1, 2, 3]}, at: [1, 2, 3], "
		"rotation: {euler: [10, 20, 30]},\n"
		"   velocity: [1, 2, 3], angular_velocity: [3, 2, 1], grid: {count: [2, "
		"2, 2], spacing: 4}, jitter: 0.1,\n"
		"   jitter_degrees: 20}\n"
		"joints: [{type: revolute, a: 'x[0]', b: 'x[1]', at: [1, 1, 1], axis: [1, "
		"2, 0], across: [0, 0, 1]}]\n");
	struct scene *b = scene_of_text(
		"bodies:\n"
		"- {name: x, shape: {kind: box, size: [1, 2, 3]}, at: [1, 2, 3], "
		"rotation: {euler: [10, 20, 30]},\n"
		"   velocity: [1, 2, 3], angular_velocity: [3, 2, 1], grid: {count: [2, "
		"2, 2], spacing: 4}, jitter: 0.1,\n"
		"   jitter_degrees: 20, frame: {at: [7, 8, 9], rotation: {euler: [50, 60, "
		"70]}}}\n"
		"joints: [{type: revolute, a: 'x[0]', b: 'x[1]', at: [1, 1, 1], axis: [1, "
		"2, 0], across: [0, 0, 1],\n"
		"   frame: {at: [7, 8, 9], rotation: {euler: [50, 60, 70]}}}]\n");
	struct scene *frame = scene_of_text("bodies: [{at: [7, 8, 9], rotation: {euler: [50, 60, "
					    "70]}}]\n");
	pose f = pose_make(spawn(frame, 0)->position, spawn(frame, 0)->rotation);
	for (uint32_t i = 0; i < 8; i++) {
		const struct command_SPAWN *was = spawn(a, i), *is = spawn(b, i);
		vec3 at = pose_point(f, was->position), v = pose_vector(f, was->velocity);
		assert_vec3(is->position, at.x, at.y, at.z);
		assert_vec3(is->velocity, v.x, v.y, v.z);
		quat turn = quat_mul(f.rotation, was->rotation);
		ck_assert_double_eq_tol(scalar_abs(quat_dot(turn, is->rotation)), 1, 1e-12);
	}
	const struct command_JOINT_CREATE *was =
		&scene_command(a, COMMAND_JOINT_CREATE, 0)->joint_create;
	const struct command_JOINT_CREATE *is =
		&scene_command(b, COMMAND_JOINT_CREATE, 0)->joint_create;
	vec3 at = pose_point(f, was->point_a);
	assert_vec3(is->point_a, at.x, at.y, at.z);
	ck_assert_double_eq_tol(
		scalar_abs(quat_dot(quat_mul(f.rotation, was->frame_a), is->frame_a)), 1, 1e-12);
	scene_destroy(a);
	scene_destroy(b);
	scene_destroy(frame);
}
END_TEST

/* ---- generators ---------------------------------------------------------------------------------- */

START_TEST(bodies_of_a_ring_face_as_told)
{
	static const char *const FACING[] = { "outwards", "inwards", "along", "fixed" };
	for (uint32_t k = 0; k < 4; k++) {
		char text[160];
		snprintf(text, sizeof text,
			 "bodies: [{ring: {count: 12, radius: 3, start: 15, facing: %s}}]\n",
			 FACING[k]);
		struct scene *scene = scene_of_text(text);
		for (uint32_t i = 0; i < 12; i++) {
			double angle = (15 + 30.0 * i) * RADIANS_PER_DEGREE;
			vec3 out = vec3_make(sin(angle), 0, cos(angle));
			vec3 along = vec3_make(cos(angle), 0, -sin(angle));
			vec3 z = quat_rotate(spawn(scene, i)->rotation, vec3_axis(2));
			vec3 wanted[] = { out, vec3_scale(out, -1), along, vec3_axis(2) };
			assert_vec3(spawn(scene, i)->position, 3 * out.x, 0, 3 * out.z);
			assert_vec3(z, wanted[k].x, wanted[k].y, wanted[k].z);
		}
		scene_destroy(scene);
	}
}
END_TEST

START_TEST(a_spirals_bodies_are_its_spacing_apart)
{
	struct scene *scene = scene_of_text(
		"bodies: [{spiral: {count: 200, radius: 2, growth: 1, rise: 0.5, spacing: "
		"0.1}}]\n");
	double turned = 0;
	for (uint32_t i = 1; i < 200; i++) {
		vec3 a = spawn(scene, i - 1)->position, b = spawn(scene, i)->position;
		double ra = hypot(a.x, a.z), rb = hypot(b.x, b.z);
		double angle = atan2(a.z * b.x - a.x * b.z, a.x * b.x + a.z * b.z);
		/* Along the circle: the mean radius by the angle, exact for a linear radius. */
		ck_assert_double_eq_tol(0.5 * (ra + rb) * angle, 0.1, 1e-12);
		turned += angle;
		ck_assert_double_eq_tol(rb, 2 + turned / (2 * PI), 1e-12);
		ck_assert_double_eq_tol(b.y, 0.5 * turned / (2 * PI), 1e-12);
	}
	scene_destroy(scene);
}
END_TEST

START_TEST(a_scatter_keeps_its_distance_and_its_seed)
{
	const char *text = "bodies: [{name: s, scatter: {count: 400, size: [10, 2, 8], apart: 0.5, "
			   "turn: any}, seed: 5}]\n";
	struct scene *scene = scene_of_text(text);
	for (uint32_t i = 0; i < 400; i++) {
		vec3 at = spawn(scene, i)->position;
		ck_assert(scalar_abs(at.x) <= 5 && at.y >= 0 && at.y <= 2 && scalar_abs(at.z) <= 4);
		for (uint32_t k = 0; k < i; k++)
			ck_assert_double_ge(vec3_distance(at, spawn(scene, k)->position), 0.5);
	}
	same_scene(text, text);
	struct scene *other = scene_of_text(
		"bodies: [{name: s, scatter: {count: 400, size: [10, 2, 8], apart: 0.5, "
		"turn: any}, seed: 6}]\n");
	ck_assert_uint_ne(scene_digest(scene), scene_digest(other));
	scene_destroy(scene);
	scene_destroy(other);
}
END_TEST

START_TEST(instances_of_a_planar_world_turn_about_z)
{
	struct scene *scene = scene_of_text(
		"world: {planar: true}\n"
		"assemblies: {a: {bodies: [{shape: {kind: polygon, points: [[0, 0], [1, 0], "
		"[0, 1]]}, at: [1, 0, 0]}]}}\n"
		"bodies: [{assembly: a, scatter: {count: 20, size: [50, 50, 0], turn: upright}}]\n");
	for (uint32_t i = 0; i < 20; i++) {
		const struct command_SPAWN *body = spawn(scene, i);
		ck_assert_double_eq(body->position.z, 0);
		ck_assert(body->rotation.x == 0 && body->rotation.y == 0 && body->rotation.z != 0);
	}
	scene_destroy(scene);
}
END_TEST

/* The leader of a gear is a joint of the same assembly, then one of those around it, then one of the file. */
START_TEST(gears_in_assemblies_follow_joints_of_their_own)
{
	struct scene *scene = scene_of_text(
		"assemblies:\n"
		"  in: {bodies: [{name: w}], joints: [{type: revolute, name: i, b: w, at: [0, 0, 0], "
		"gear: {leader: o}}]}\n"
		"  a: {bodies: [{name: w}, {assembly: in}], joints: [\n"
		"    {type: revolute, name: o, b: w, at: [0, 0, 0], gear: {leader: f}},\n"
		"    {type: cylindrical, name: c, b: w, at: [0, 0, 0], turn: {gear: {leader: o}}}]}\n"
		"bodies: [{name: w}, {assembly: a, name: one}, {assembly: a, name: two}]\n"
		"joints: [{type: revolute, name: f, b: w, at: [0, 0, 0]}, "
		"{type: revolute, name: o, b: w, at: [0, 0, 0], gear: {leader: two.o}}]\n");
	/* Joints in their order: one.in.i, one.o, one.c, two.in.i, two.o, two.c, f, o. */
	static const uint32_t expected[][2] = { { 0, 1 }, { 1, 6 }, { 2, 1 }, { 3, 4 },
						{ 4, 6 }, { 5, 4 }, { 7, 4 } };
	ck_assert_uint_eq(scene_count(scene, COMMAND_JOINT_GEAR), COUNT_OF(expected));
	for (uint32_t i = 0; i < COUNT_OF(expected); i++) {
		const struct command_JOINT_GEAR *gear =
			&scene_command(scene, COMMAND_JOINT_GEAR, i)->joint_gear;
		ck_assert_ptr_eq(&scene->commands[-gear->joint - 1],
				 scene_command(scene, COMMAND_JOINT_CREATE, expected[i][0]));
		ck_assert_ptr_eq(&scene->commands[-gear->leader - 1],
				 scene_command(scene, COMMAND_JOINT_CREATE, expected[i][1]));
	}
	scene_destroy(scene);
}
END_TEST

/* ---- files --------------------------------------------------------------------------------------- */

static char folder[64];

static void write_file(const char *name, const char *text)
{
	char path[128];
	snprintf(path, sizeof path, "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static void make_folder(void)
{
	char path[128];
	snprintf(folder, sizeof folder, "/tmp/cairn-expand-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/sub", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof path, "%s/sub/pipe", folder);
	ck_assert_int_eq(mkfifo(path, 0700), 0);
}

static void remove_folder(void)
{
	static const char *const NAMES[] = { "a.yaml", "sub/b.yaml", "sub/c.yaml", "sub/t.obj",
					     "sub/pipe" };
	char path[128];
	for (size_t i = 0; i < COUNT_OF(NAMES); i++) {
		snprintf(path, sizeof path, "%s/%s", folder, NAMES[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/sub", folder);
	rmdir(path);
	rmdir(folder);
}

static enum status load(const char *text, struct scene **out, struct reason *why)
{
	char path[128];
	write_file("a.yaml", text);
	snprintf(path, sizeof path, "%s/a.yaml", folder);
	return scene_load(path, out, why);
}

START_TEST(an_included_file_is_a_part_of_the_scene)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	write_file("sub/c.yaml",
		   "variables: {r: 1}\nmaterials: {m: {density: 10}}\nshapes: {ball: {kind: "
		   "sphere, radius: $r}}\n");
	write_file("sub/t.obj",
		   "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n");
	write_file("sub/b.yaml",
		   "include: {file: c.yaml, variables: {r: r / 2}}\n"
		   "world: {rate: 10}\n"
		   "variables: {r: 8}\n"
		   "bodies:\n- {name: x, shape: ball, material: m, at: [0, 1, 0]}\n"
		   "- {name: y, shape: {kind: hull, file: t.obj}, at: [0, 5, 0]}\n"
		   "joints: [{type: distance, a: x, b: y, at: [0, 1, 0], to: [0, 5, 0]}]\n");
	enum status status =
		load("world: {rate: 50}\n"
		     "include:\n"
		     "- {file: sub/b.yaml, name: one, at: [0, 0, 1]}\n"
		     "- {file: sub/b.yaml, name: two, rotation: {axis: [0, 0, 1], degrees: "
		     "90}, variables: {r: 3}}\n"
		     "bodies: [{name: own, shape: one.ball, material: two.m}]\n"
		     "joints: [{type: distance, a: one.x, b: two.x, at_a: [0, 0, 0], at_b: [0, "
		     "0, 0]}]\n",
		     &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(scene->world.rate_num, 50);
	ck_assert_uint_eq(scene_count(scene, COMMAND_SPAWN), 5);
	assert_vec3(spawn(scene, 0)->position, 0, 1, 1);
	assert_vec3(spawn(scene, 2)->position, -1, 0, 0);
	ck_assert_double_eq(spawn(scene, 0)->density, 10);
	/* The balls have the radii 4 and 1.5: two shapes; both hulls are one. */
	ck_assert_uint_eq(scene->shape_count, 3);
	const struct command_JOINT_CREATE *last =
		&scene_command(scene, COMMAND_JOINT_CREATE, 2)->joint_create;
	ck_assert_int_eq(last->body_a, -1);
	ck_assert_int_eq(last->body_b, -3);
	ck_assert_ptr_nonnull(scene->notes);
	ck_assert_ptr_nonnull(
		strstr(scene->notes, "sub/b.yaml:2: world of an included file is not taken\n"));
	scene_destroy(scene);
}
END_TEST

static const struct {
	const char *text, *b, *c;
	enum status status;
	const char *says;
} BAD_INCLUDES[] = {
	{ "include: "
	  "sub/b.yaml\n",
	  "include: c.yaml\n", "include: b.yaml\n", STATUS_BACK_REFERENCE,
	  "sub/c.yaml:1: 'b.yaml' includes itself" },
	{ "include: sub/b.yaml\n", "\nbodies:\n- {mas: 1}\n", "", STATUS_MALFORMED,
	  "sub/b.yaml:3: body has no key 'mas'" },
	{ "include: sub/b.yaml\n", "bodies: [}\n", "", STATUS_MALFORMED, "sub/b.yaml:1: " },
	{ "include: sub/b.yaml\nshapes: {s: {kind: plane}}\n",
	  "shapes: {s: {kind: "
	  "plane}}\n",
	  "", STATUS_EXISTS, "a.yaml:2: 's' is also in" },
	{ "include: sub/b.yaml\nassemblies: {s: {}}\n", "\nassemblies: {s: {}}\n", "",
	  STATUS_EXISTS, "a.yaml:2: 's' is also in" },
	{ "include: sub/b.yaml\nbodies: [{name: s}]\n", "\n\nbodies: [{name: s}]\n", "",
	  STATUS_EXISTS, "a.yaml:2: name 's' was already given in" },
	{ "include: sub/b.yaml\nparticles: [{name: s}]\n", "\n\nparticles: [{name: s}]\n", "",
	  STATUS_EXISTS, "b.yaml:3; give the include a name" },
	{ "include: /etc/hostname\n", "", "", STATUS_RANGE,
	  "a.yaml:1: '/etc/hostname' must be a relative" },
	{ "include: ../a.yaml\n", "", "", STATUS_RANGE, "without '..'" },
	{ "include: none.yaml\n", "", "", STATUS_MISSING,
	  "a.yaml:1: 'none.yaml' is not here, or is no file" },
	{ "bodies: []\ninclude: sub\n", "", "", STATUS_MISSING, "a.yaml:2: 'sub' is not here" },
	{ "include: sub/pipe\n", "", "", STATUS_MISSING, "a.yaml:1: 'sub/pipe' is not here" },
	{ "include: sub/b.yaml\n", "include:\n- [../a]\n", "", STATUS_TYPE, "sub/b.yaml:2: " },
	{ "include: {file: sub/b.yaml, variables: {k: 1}}\n",
	  "variables: {n: 1}\nbodies: "
	  "[]\n",
	  "", STATUS_MISSING, "a.yaml:1: no variable has the name 'k'; did you mean 'n'?" },
};

START_TEST(a_bad_include_is_refused_by_file_and_line)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	int64_t live = heap_live();
	write_file("sub/b.yaml", BAD_INCLUDES[_i].b);
	write_file("sub/c.yaml", BAD_INCLUDES[_i].c);
	enum status status = load(BAD_INCLUDES[_i].text, &scene, &why);
	ck_assert_int_eq(status, BAD_INCLUDES[_i].status);
	ck_assert_msg(strstr(why.text, BAD_INCLUDES[_i].says) != NULL, "%s", why.text);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(an_error_of_the_world_names_the_included_file)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	struct shape_library book;
	struct world *world = NULL;
	write_file("sub/b.yaml",
		   "shapes:\n  flat: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], "
		   "[1, 1, 0]]}\n");
	ck_assert_int_eq(load("include: sub/b.yaml\n", &scene, &why), STATUS_OK);
	shape_library_init(&book);
	ck_assert_int_eq(scene_world_make(scene, NULL, &book, &world, &why), STATUS_DEGENERATE);
	ck_assert_msg(strstr(why.text, "sub/b.yaml:2: shape flat: ") != NULL, "%s", why.text);
	scene_destroy(scene);
}
END_TEST

/* ---- refusals ------------------------------------------------------------------------------------ */

static const struct {
	const char *text;
	enum status status;
	const char *says;
} REFUSED[] = {
	{ "variables: {a: b, b: a}\n", STATUS_BACK_REFERENCE,
	  "scene:1: variable 'a' needs its own value" },
	{ "variables:\n  a: 2 m\n", STATUS_MALFORMED,
	  "scene:2: formula '2 m': an operator is missing (units" },
	{ "variables: {a: 2m}\n", STATUS_MALFORMED, "units are not written" },
	{ "variables: {a: 1 +}\n", STATUS_MALFORMED, "a number or a name is missing" },
	{ "variables: {a: 1 2}\n", STATUS_MALFORMED, "an operator is missing" },
	{ "variables: {a: (1}\n", STATUS_MALFORMED, "a closing bracket is missing" },
	{ "variables: {a: 1 / 0}\n", STATUS_NOT_FINITE, "no finite value" },
	{ "variables: {a: sqrt(-1)}\n", STATUS_NOT_FINITE, "no finite value" },
	{ "variables: {a: sine(1)}\n", STATUS_MISSING, "did you mean 'sin'?" },
	{ "variables: {a: 'min(1)'}\n", STATUS_MALFORMED,
	  "function min has 2 arguments, "
	  "not 1" },
	{ "variables: {index: 1}\n", STATUS_RANGE, "'index' cannot be a variable" },
	{ "variables: {a: [1]}\n", STATUS_TYPE,
	  "variable a must be a number or a formula, not a list" },
	{ "variables: {a: min(1, 2)}\n", STATUS_RANGE, "a formula with commas needs quotes" },
	{ "bodies: [{at: [$(min(1, 2)), 0, 0]}]\n", STATUS_MALFORMED,
	  "a formula with commas needs quotes" },
	{ "variables: {size: 1}\nbodies:\n- {mass: $sice}\n", STATUS_MISSING,
	  "scene:3: no variable has the name 'sice'; did you mean 'size'?" },
	{ "variables: {n: -1}\nbodies:\n- {mass: $(n * 2)}\n", STATUS_RANGE,
	  "scene:3: mass -2, the value of $(n * 2), is not between" },
	{ "variables: {n: 3}\nbodies: [{stack: {count: $(n / 2)}}]\n", STATUS_TYPE,
	  "count must be a whole number, not '1.5', the value of $(n / 2)," },
	{ "bodies: [{name: a$}]\n", STATUS_MALFORMED, "a dollar sign itself is $$" },
	{ "bodies: [{mass: $index}]\n", STATUS_MISSING, "no variable has the name 'index'" },
	{ "include: a.yaml\n", STATUS_UNSUPPORTED,
	  "a scene that is no file includes no "
	  "other" },
	{ "bodies: [{assembly: x}]\n", STATUS_MISSING, "assembly 'x' is not in this file" },
	{ "assemblies: {x: {bodies: [{assembly: x}]}}\nbodies:\n- {assembly: x}\n",
	  STATUS_BACK_REFERENCE, "scene:1: assembly 'x' contains itself" },
	{ "assemblies: {x: {bodys: []}}\n", STATUS_MALFORMED, "did you mean 'bodies'?" },
	{ "assemblies: {x: {}}\nbodies: [{assembly: x, mass: 1}]\n", STATUS_MALFORMED,
	  "instance has no key 'mass'" },
	{ "assemblies: {x: {}}\nbodies: [{assembly: x, variables: {k: 1}}]\n", STATUS_MISSING,
	  "no variable has the name 'k'" },
	{ "assemblies: {x: {bodies: [{}]}}\nbodies:\n- {assembly: x, grid: {count: "
	  "[262144, 2, 1]}}\n",
	  STATUS_LIMIT, "scene:3: 524288 bodies in one generator" },
	{ "assemblies: {x: {}}\nbodies:\n- {assembly: x, stack: {count: 200000}}\n- "
	  "{assembly: x, stack: {count: 200000}}\n",
	  STATUS_LIMIT, "scene:4: 400000 instances of assemblies so far" },
	{ "assemblies: {x: {bodies: [{name: a}]}}\nbodies: [{assembly: x}, {assembly: x}]\n",
	  STATUS_EXISTS, "name 'x.a' was already given" },
	{ "particles:\n- {name: p}\n- {name: q}\n- {name: p}\n", STATUS_EXISTS,
	  "scene:4: name 'p' was already given in line 2" },
	{ "assemblies: {x: {particles: [{name: p}]}}\nbodies: [{assembly: x}]\nparticles:\n"
	  "- {name: x.p}\n",
	  STATUS_EXISTS, "name 'x.p' was already given in line" },
	{ "bodies: [{name: 'a[1]'}]\n", STATUS_RANGE, "brackets are indices" },
	{ "bodies: [{stack: {count: 1}, ring: {count: 1, radius: 1}}]\n", STATUS_LIMIT,
	  "put the other into an assembly" },
	{ "bodies: [{spiral: {count: 3}}]\n", STATUS_MISSING,
	  "one of the keys 'degrees' and 'spacing'" },
	{ "bodies: [{spiral: {count: 300, radius: 1, growth: -1, spacing: 1}}]\n", STATUS_RANGE,
	  "the spiral ends at its centre" },
	{ "bodies: [{scatter: {count: 100, size: 1, apart: 1}}]\n", STATUS_LIMIT,
	  "finds no room 1 m apart" },
	{ "prototypes: {p: {frame: {}}}\nbodies: [{like: p}]\n", STATUS_EXISTS,
	  "frame is in a prototype" },
	{ "bodies: [{locks: x, frame: {rotation: {euler: [1, 0, 0]}}}]\n", STATUS_RANGE,
	  "a body in a rotated frame cannot have them" },
};

START_TEST(what_is_wrong_is_refused_by_line)
{
	struct scene *scene = NULL;
	struct reason why = { 0 };
	int64_t live = heap_live();
	const char *text = REFUSED[_i].text;
	enum status status = scene_parse(text, strlen(text), NULL, &scene, &why);
	ck_assert_msg(status == REFUSED[_i].status, "%s: %s of %s", status_name(status), why.text,
		      text);
	ck_assert_msg(strstr(why.text, REFUSED[_i].says) != NULL, "%s", why.text);
	ck_assert_int_eq(heap_live(), live);
}
END_TEST

START_TEST(long_chains_and_many_values_are_refused)
{
	static char text[1 << 14];
	struct scene *scene = NULL;
	struct reason why = { 0 };
	size_t bytes = (size_t)snprintf(text, sizeof text, "variables:\n");
	for (int i = 0; i < 200; i++)
		bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, "  v%d: v%d + 1\n", i,
					  i + 1);
	snprintf(text + bytes, sizeof text - bytes, "  v200: 0\n");
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), STATUS_TOO_DEEP);
	const char *many = "assemblies: {x: {bodies: [{at: [1, 2, 3]}, {at: [1, 2, 3]}]}}\n"
			   "bodies: [{assembly: x, grid: {count: [64, 64, 60]}}]\n";
	ck_assert_int_eq(scene_parse(many, strlen(many), NULL, &scene, &why), STATUS_LIMIT);
	ck_assert_msg(strstr(why.text, "values, the limit of a scene") != NULL, "%s", why.text);
	bytes = (size_t)snprintf(text, sizeof text, "bodies: []\nvariables:\n");
	for (int i = 0; i < 1025; i++)
		bytes += (size_t)snprintf(text + bytes, sizeof text - bytes, "  v%d: 1\n", i);
	ck_assert_int_eq(scene_parse(text, strlen(text), NULL, &scene, &why), STATUS_LIMIT);
	ck_assert_msg(strstr(why.text, "1025 variables, more than the limit") != NULL, "%s",
		      why.text);
}
END_TEST

/* ---- flat copies and memory ---------------------------------------------------------------------- */

static const char *const FLATTENED[] = { "castle", "tower",	"pyramid", "ragdolls",
					 "joints", "fields",	"pieces",  "gallery/dominoes",
					 "mixed",  "platforms", "mover" };

START_TEST(a_flat_copy_makes_the_same_commands)
{
	char path[2048];
	const char *source = getenv("CAIRN_SRCDIR");
	struct scene *scene, *copy;
	struct reason why = { 0 };
	char *text, *notes;
	snprintf(path, sizeof path, "%s/clients/scenes/%s.yaml", source != NULL ? source : ".",
		 FLATTENED[_i]);
	ck_assert_int_eq(scene_load(path, &scene, &why), STATUS_OK);
	enum status status = scene_convert(path, NULL, &text, &notes, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	status = scene_parse(text, strlen(text), NULL, &copy, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(scene_digest(scene), scene_digest(copy));
	ck_assert_str_eq(scene->world.name, copy->world.name);
	ck_assert_uint_eq(scene->name_count, copy->name_count);
	for (uint32_t i = 0; i < scene->name_count; i++)
		ck_assert_str_eq(scene->names[i].name, copy->names[i].name);
	scene_destroy(scene);
	scene_destroy(copy);
	heap_free(text);
	heap_free(notes);
}
END_TEST

START_TEST(any_failed_allocation_leaves_no_memory)
{
	int64_t live = heap_live();
	uint32_t failures = 0;
	write_file("sub/b.yaml",
		   "world: {}\nshapes: {s: {kind: sphere, radius: 1}}\nbodies: [{name: x, "
		   "shape: s}]\n");
	for (uint64_t n = 1;; n++) {
		struct scene *scene = NULL;
		struct reason why = { 0 };
		heap_fail_at(n);
		enum status status =
			load("include: {file: sub/b.yaml, name: i}\nvariables: {n: 3}\n"
			     "assemblies: {a: {bodies: [{name: y, scatter: {count: $n, size: "
			     "9, apart: 1}}]}}\n"
			     "bodies: [{assembly: a, ring: {count: 40, radius: 9}}]\n",
			     &scene, &why);
		bool pending = heap_fail_pending();
		heap_fail_at(0);
		if (status == STATUS_OK) {
			scene_destroy(scene);
			ck_assert_int_eq(heap_live(), live);
			ck_assert(pending);
			break;
		}
		ck_assert_int_eq(status, STATUS_NO_MEMORY);
		ck_assert_int_eq(heap_live(), live);
		failures++;
	}
	ck_assert_uint_gt(failures, 20);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("scene expansion");
	TCase *tests = tcase_create("scene expansion");
	TCase *files = tcase_create("files");
	tcase_add_loop_test(tests, a_formula_has_its_value, 0, COUNT_OF(FORMULAS));
	tcase_add_test(tests, angles_are_in_degrees_and_near_the_library);
	tcase_add_test(tests, a_number_is_read_as_it_was_written);
	tcase_add_test(tests, variables_stand_for_their_values);
	tcase_add_test(tests, a_doubled_dollar_sign_is_one);
	tcase_add_test(tests, an_instance_is_what_one_would_write);
	tcase_add_test(tests, assemblies_are_in_assemblies);
	tcase_add_test(tests, fields_particles_and_movers_are_placed_with_their_assembly);
	tcase_add_test(tests, names_belong_to_the_innermost_assembly_that_has_them);
	tcase_add_test(tests, a_frame_moves_a_scene_rigidly);
	tcase_add_test(tests, bodies_of_a_ring_face_as_told);
	tcase_add_test(tests, a_spirals_bodies_are_its_spacing_apart);
	tcase_add_test(tests, a_scatter_keeps_its_distance_and_its_seed);
	tcase_add_test(tests, gears_in_assemblies_follow_joints_of_their_own);
	tcase_add_test(tests, instances_of_a_planar_world_turn_about_z);
	tcase_add_loop_test(tests, what_is_wrong_is_refused_by_line, 0, COUNT_OF(REFUSED));
	tcase_add_test(tests, long_chains_and_many_values_are_refused);
	tcase_add_loop_test(tests, a_flat_copy_makes_the_same_commands, 0, COUNT_OF(FLATTENED));
	tcase_add_checked_fixture(files, make_folder, remove_folder);
	tcase_add_test(files, an_included_file_is_a_part_of_the_scene);
	tcase_add_loop_test(files, a_bad_include_is_refused_by_file_and_line, 0,
			    COUNT_OF(BAD_INCLUDES));
	tcase_add_test(files, an_error_of_the_world_names_the_included_file);
	tcase_add_test(files, any_failed_allocation_leaves_no_memory);
	suite_add_tcase(suite, tests);
	suite_add_tcase(suite, files);
	return suite;
}

int main(void)
{
	return check_main(make);
}
