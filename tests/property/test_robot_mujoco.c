/* Robot files beside MuJoCo: masses, centres, inertias, poses of bodies and shapes, anchors, axes,
 * limits and springs of joints in the model's own pose are equal. MuJoCo's world has z up, ours y:
 * (x, y, z) is (x, z, −y). */
#include "protocol/scene/scene.h"
#include "tests/lib/check_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mujoco/mujoco.h>

#define NEAR 1e-8

static struct scene *scene;
static mjModel *model;
static mjData *data;
static uint32_t *spawns; /* the commands that make bodies, by the number of the body */

/* ---- loading ------------------------------------------------------------------------------------- */

static void find_file(const char *name, char path[2048])
{
	const char *source = getenv("CAIRN_SRCDIR");
	if (name[0] == '/')
		snprintf(path, 2048, "%s", name);
	else
		snprintf(path, 2048, "%s/%s", source != NULL ? source : ".", name);
}

/* False: the file is not there. */
static bool load(const char *name)
{
	char path[2048], error[512];
	struct reason why = { 0 };
	find_file(name, path);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	fclose(file);
	const struct scene_options options = { .base = SCENE_BASE_FIXED };
	enum status status = scene_load_with(path, &options, &scene, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", status_name(status), why.text);
	uint32_t count = 0;
	spawns = malloc((scene->command_count + 1) * sizeof *spawns);
	for (uint32_t i = 0; i < scene->command_count; i++)
		if (scene->commands[i].op == COMMAND_SPAWN)
			spawns[++count] = i;
	model = mj_loadXML(path, NULL, error, sizeof error);
	ck_assert_msg(model != NULL, "MuJoCo: %s", error);
	data = mj_makeData(model);
	mj_kinematics(model, data);
	mj_comPos(model, data);
	return true;
}

static void unload(void)
{
	mj_deleteData(data);
	mj_deleteModel(model);
	scene_destroy(scene);
	free(spawns);
}

static vec3 up(const mjtNum *v)
{
	return vec3_make(v[0], v[2], -v[1]);
}

/* The name that our body of a MuJoCo body has. */
static void name_of(int body, char name[64])
{
	const char *own = mj_id2name(model, mjOBJ_BODY, body);
	if (own != NULL && own[0] != '\0')
		snprintf(name, 64, "%s", own);
	else
		snprintf(name, 64, "body%d", body);
}

/* The command that makes a body; UINT32_MAX: there is none. */
static uint32_t command_of(const char *name)
{
	for (uint32_t i = 0; i < scene->name_count; i++)
		if (strcmp(scene->names[i].name, name) == 0)
			return spawns[scene->names[i].first];
	return UINT32_MAX;
}

static const struct command_SPAWN *spawn_of(const char *name)
{
	uint32_t command = command_of(name);
	ck_assert_msg(command != UINT32_MAX, "no body '%s'", name);
	return &scene->commands[command].spawn;
}

/* ---- comparing ----------------------------------------------------------------------------------- */

static void near_number(const char *what, const char *name, double is, double should, double size)
{
	ck_assert_msg(fabs(is - should) <= NEAR * fmax(size, 1e-3), "%s of %s: %.17g, MuJoCo %.17g",
		      what, name, is, should);
}

static void near_vector(const char *what, const char *name, vec3 is, vec3 should)
{
	ck_assert_msg(vec3_distance(is, should) <= NEAR,
		      "%s of %s: [%.12g %.12g %.12g], MuJoCo [%.12g %.12g %.12g]", what, name, is.x,
		      is.y, is.z, should.x, should.y, should.z);
}

/* Columns of MuJoCo's matrix (row by row), turned to y up. */
static vec3 column(const mjtNum *m, int i)
{
	const mjtNum v[3] = { m[i], m[3 + i], m[6 + i] };
	return up(v);
}

static void near_rotation(const char *what, const char *name, quat is, const mjtNum *should)
{
	for (uint32_t i = 0; i < 3; i++)
		near_vector(what, name, quat_rotate(is, vec3_axis(i)), column(should, (int)i));
}

/* Σ R diag(d) Rᵀ, entries xx yy zz xy xz yz. */
static void add_tensor(double out[6], quat q, vec3 d)
{
	for (uint32_t k = 0; k < 3; k++) {
		vec3 e = quat_rotate(q, vec3_axis(k));
		double v = vec3_get(d, k);
		out[0] += v * e.x * e.x;
		out[1] += v * e.y * e.y;
		out[2] += v * e.z * e.z;
		out[3] += v * e.x * e.y;
		out[4] += v * e.x * e.z;
		out[5] += v * e.y * e.z;
	}
}

static void mujoco_tensor(int body, double out[6])
{
	for (int k = 0; k < 3; k++) {
		vec3 e = column(data->ximat + 9 * body, k);
		double v = model->body_inertia[3 * body + k];
		out[0] += v * e.x * e.x;
		out[1] += v * e.y * e.y;
		out[2] += v * e.z * e.z;
		out[3] += v * e.x * e.y;
		out[4] += v * e.x * e.z;
		out[5] += v * e.y * e.z;
	}
}

/* A body and the links of its own together are the body of the file. */
static void compare_mass(const char *name, int body)
{
	char part[96];
	double mass = 0, tensor[6] = { 0 }, should[6] = { 0 };
	for (uint32_t k = 0; k < 16; k++) {
		snprintf(part, sizeof part, k == 0 ? "%s" : "%s/%u", name, (unsigned)k);
		if (command_of(part) == UINT32_MAX)
			break;
		const struct command_SPAWN *spawn = spawn_of(part);
		pose at = pose_make(spawn->position, spawn->rotation);
		mass += spawn->mass;
		add_tensor(tensor, quat_mul(spawn->rotation, spawn->inertia_rotation),
			   spawn->inertia);
		near_vector("centre", part, pose_point(at, spawn->centre),
			    up(data->xipos + 3 * body));
	}
	mujoco_tensor(body, should);
	near_number("mass", name, mass, model->body_mass[body], model->body_mass[body]);
	double size = should[0] + should[1] + should[2];
	for (int i = 0; i < 6; i++)
		near_number("inertia", name, tensor[i], should[i], size);
}

/* ---- shapes -------------------------------------------------------------------------------------- */

static double real_at(const uint8_t *bytes)
{
	double value;
	memcpy(&value, bytes, sizeof value);
	return value;
}

/* Sizes of canonical bytes as MuJoCo has them; a sphere has one, and so on. */
static void compare_size(const char *name, const struct scene_shape *shape, int geom)
{
	const uint8_t *at = shape->canonical + 2;
	const mjtNum *size = model->geom_size + 3 * geom;
	double v[3] = { real_at(at), 0, 0 };
	int type = model->geom_type[geom];
	if (type != mjGEOM_SPHERE)
		v[1] = real_at(at + 8);
	if (type == mjGEOM_BOX || type == mjGEOM_ELLIPSOID)
		v[2] = real_at(at + 16);
	bool along = type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER;
	near_number("size", name, v[0], along ? size[1] : size[0], 1);
	if (type != mjGEOM_SPHERE)
		near_number("size", name, v[1], along ? size[0] : size[1], 1);
	if (type == mjGEOM_BOX || type == mjGEOM_ELLIPSOID)
		near_number("size", name, v[2], size[2], 1);
}

static void compare_geom(const char *name, const struct command_SPAWN *spawn,
			 const struct attachment *shape, int geom)
{
	int type = model->geom_type[geom];
	bool along = type == mjGEOM_CAPSULE || type == mjGEOM_CYLINDER;
	pose at = pose_mul(pose_make(spawn->position, spawn->rotation),
			   pose_make(shape->position, shape->rotation));
	/* Ours are along y: back from z. */
	double half = sqrt(0.5);
	if (along)
		at.rotation = quat_mul(at.rotation, quat_make(half, -half, 0, 0));
	near_vector("place of a shape", name, at.position, up(data->geom_xpos + 3 * geom));
	near_rotation("axes of a shape", name, at.rotation, data->geom_xmat + 9 * geom);
	if (type != mjGEOM_PLANE)
		compare_size(name, &scene->shapes[-shape->shape - 1], geom);
}

static bool collides(int geom)
{
	return model->geom_contype[geom] != 0 || model->geom_conaffinity[geom] != 0;
}

static void compare_shapes(const char *name, const struct command_SPAWN *spawn, int body)
{
	uint32_t count = 0;
	for (int i = 0; i < model->body_geomnum[body]; i++) {
		int geom = model->body_geomadr[body] + i;
		if (!collides(geom))
			continue;
		ck_assert_uint_lt(count, spawn->shapes.count);
		compare_geom(name, spawn, &spawn->shapes.items[count++], geom);
	}
	ck_assert_uint_eq(count, spawn->shapes.count);
}

/* The geoms of the world are the first bodies, in their order. */
static void compare_ground(void)
{
	uint32_t command = 0;
	for (int i = 0; i < model->body_geomnum[0]; i++) {
		int geom = model->body_geomadr[0] + i;
		if (!collides(geom))
			continue;
		while (scene->commands[command].op != COMMAND_SPAWN)
			command++;
		const struct command_SPAWN *spawn = &scene->commands[command++].spawn;
		ck_assert_int_eq(spawn->status, BODY_STATIC);
		ck_assert_uint_eq(spawn->shapes.count, 1);
		compare_geom("the world", spawn, &spawn->shapes.items[0], geom);
	}
}

/* ---- joints -------------------------------------------------------------------------------------- */

/* Whether a command makes the body, or a link of its own, which come before it. */
static bool is_body(int64_t reference, uint32_t body, uint32_t parts)
{
	return reference <= -(int64_t)(body - parts) - 1 && reference >= -(int64_t)body - 1;
}

static const struct command_JOINT_AXIS *axis_of(uint32_t joint, uint32_t axis)
{
	for (uint32_t i = joint + 1;
	     i < scene->command_count && scene->commands[i].op == COMMAND_JOINT_AXIS; i++)
		if (scene->commands[i].joint_axis.axis == axis)
			return &scene->commands[i].joint_axis;
	return NULL;
}

static void compare_axis(const char *name, const struct command_JOINT_AXIS *axis, int joint,
			 double sign)
{
	double lower = 0, upper = 0, ref = model->qpos0[model->jnt_qposadr[joint]];
	int dof = model->jnt_dofadr[joint];
	bool limited = model->jnt_limited[joint] != 0;
	ck_assert_msg(axis == NULL ? !limited : (axis->mode == JOINT_LIMITED) == limited,
		      "a joint of %s is limited here or in MuJoCo", name);
	if (limited) {
		lower = model->jnt_range[2 * joint] - ref;
		upper = model->jnt_range[2 * joint + 1] - ref;
		near_number("lower limit", name, axis->lower, sign > 0 ? lower : -upper, 1);
		near_number("upper limit", name, axis->upper, sign > 0 ? upper : -lower, 1);
	}
	double stiffness = axis != NULL ? axis->stiffness : 0;
	near_number("stiffness", name, stiffness, model->jnt_stiffness[joint], 1);
	near_number("damping", name, axis != NULL ? axis->damping : 0, model->dof_damping[dof], 1);
	near_number("friction", name, axis != NULL ? axis->friction : 0,
		    model->dof_frictionloss[dof], 1);
	double rest = model->qpos_spring[model->jnt_qposadr[joint]] - ref;
	if (stiffness > 0)
		near_number("rest", name, axis->rest, sign * rest, 1);
}

/* One axis of one of our joints is that of the file. */
static void compare_joint(const char *name, int joint)
{
	bool slide = model->jnt_type[joint] == mjJNT_SLIDE,
	     ball = model->jnt_type[joint] == mjJNT_BALL;
	vec3 anchor = up(data->xanchor + 3 * joint), axis = up(data->xaxis + 3 * joint);
	char part[96];
	uint32_t found = 0, parts = 0, body = command_of(name);
	do
		snprintf(part, sizeof part, "%s/%u", name, (unsigned)++parts);
	while (command_of(part) != UINT32_MAX);
	for (uint32_t i = 0; i < scene->command_count; i++) {
		const struct command_JOINT_CREATE *own = &scene->commands[i].joint_create;
		if (scene->commands[i].op != COMMAND_JOINT_CREATE ||
		    !is_body(own->body_b, body, parts - 1) || own->type == JOINT_FIXED ||
		    (!slide && vec3_distance(own->point_a, anchor) > NEAR))
			continue;
		ck_assert_uint_eq(own->place, 1);
		found += ball && own->type == JOINT_SPHERICAL;
		for (uint32_t k = 0; k < 3 && !ball; k++) {
			vec3 e = quat_rotate(own->frame_a, vec3_axis(k));
			double along = vec3_dot(e, axis);
			uint32_t number = slide ? k : 3 + k;
			const struct command_JOINT_AXIS *values = axis_of(i, number);
			bool used = values != NULL ||
				    (own->type == JOINT_REVOLUTE && number == 3) ||
				    (own->type == JOINT_PRISMATIC && number == 0);
			if (!used || 1 - fabs(along) > NEAR)
				continue;
			compare_axis(name, values, joint, along);
			found++;
		}
	}
	ck_assert_msg(found == 1, "joint %d of %s is there %u times", joint, name, (unsigned)found);
}

/* ---- whole files --------------------------------------------------------------------------------- */

static void compare_body(int body)
{
	char name[64];
	name_of(body, name);
	const struct command_SPAWN *spawn = spawn_of(name);
	bool still = model->body_weldid[body] == 0;
	near_vector("place", name, spawn->position, up(data->xpos + 3 * body));
	near_rotation("axes", name, spawn->rotation, data->xmat + 9 * body);
	ck_assert_int_eq(spawn->status, still ? BODY_STATIC : BODY_DYNAMIC);
	compare_shapes(name, spawn, body);
	if (!still)
		compare_mass(name, body);
	for (int i = 0; i < model->body_jntnum[body]; i++)
		if (model->jnt_type[model->body_jntadr[body] + i] != mjJNT_FREE)
			compare_joint(name, model->body_jntadr[body] + i);
}

static const char *const FILES[] = {
	"/usr/share/mujoco/model/humanoid/humanoid.xml",
	"/usr/share/mujoco/model/humanoid/22_humanoids.xml",
	"/usr/share/mujoco/model/humanoid100/humanoid100.xml",
	"/usr/share/mujoco/model/slider_crank/slider_crank.xml",
	"tests/data/robots/everything.xml",
	"clients/scenes/robots/quadruped.xml",
	"clients/scenes/robots/humanoid.xml",
	"clients/scenes/robots/crane.xml",
	"clients/scenes/robots/excavator.xml",
};

START_TEST(a_model_is_that_of_mujoco)
{
	if (!load(FILES[_i]))
		return; /* the suite says that it is skipped */
	near_vector("gravity", "the world", scene->world.gravity, up(model->opt.gravity));
	compare_ground();
	for (int body = 1; body < model->nbody; body++)
		compare_body(body);
	unload();
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("robots beside MuJoCo");
	TCase *files = tcase_create("files");
	tcase_add_loop_test(files, a_model_is_that_of_mujoco, 0,
			    (int)(sizeof FILES / sizeof *FILES));
	suite_add_tcase(suite, files);
	for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
		char path[2048];
		find_file(FILES[i], path);
		FILE *file = fopen(path, "r");
		if (file == NULL)
			check_skip(suite, FILES[i], "install libmujoco-samples");
		else
			fclose(file);
	}
	return suite;
}

int main(void)
{
	return check_main(make);
}
