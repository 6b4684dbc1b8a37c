/* Robot files beside MuJoCo: masses, centres, inertias, poses of bodies and shapes, anchors, axes,
 * limits and springs of joints in the model's own pose are equal; Jacobians, mass matrices, bias and
 * accelerations in random states. MuJoCo's world has z up, ours y: (x, y, z) is (x, z, −y). */
#include "protocol/scene/scene.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/worlds/scene_world.h"
#include "tests/lib/check_main.h"
#include "tests/lib/eliminate.h"
#include "tests/lib/worlds.h"

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

/* False: the file is not there. `share`: of links between joints of a body; 0: the initial one. */
static bool load(const char *name, double share)
{
	char path[2048], error[512];
	struct reason why = { 0 };
	find_file(name, path);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		return false;
	fclose(file);
	/* A file of MuJoCo says itself which bodies are free. */
	bool urdf = strstr(path, ".urdf") != NULL;
	const struct scene_options options = { .base = urdf ? SCENE_BASE_FIXED : SCENE_BASE_UNKNOWN,
					       .joint_link_share = share };
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

static bool sets_axis(uint32_t i)
{
	return i < scene->command_count && (scene->commands[i].op == COMMAND_JOINT_AXIS ||
					    scene->commands[i].op == COMMAND_JOINT_ARMATURE);
}

static const struct command_JOINT_AXIS *axis_of(uint32_t joint, uint32_t axis)
{
	for (uint32_t i = joint + 1; sets_axis(i); i++)
		if (scene->commands[i].op == COMMAND_JOINT_AXIS &&
		    scene->commands[i].joint_axis.axis == axis)
			return &scene->commands[i].joint_axis;
	return NULL;
}

static double armature_of(uint32_t joint, uint32_t axis)
{
	for (uint32_t i = joint + 1; sets_axis(i); i++)
		if (scene->commands[i].op == COMMAND_JOINT_ARMATURE &&
		    scene->commands[i].joint_armature.axis == axis)
			return scene->commands[i].joint_armature.armature;
	return 0;
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

/* How many links of its own a body has: the commands before the body's make them. */
static uint32_t helpers_of(const char *name)
{
	char part[96];
	uint32_t count = 0;
	do
		snprintf(part, sizeof part, "%s/%u", name, (unsigned)++count);
	while (command_of(part) != UINT32_MAX);
	return count - 1;
}

/* The axis of one of our joints that is that of the file, with its direction; −1: none. */
static int axis_found(uint32_t command, int joint, double *along)
{
	const struct command_JOINT_CREATE *own = &scene->commands[command].joint_create;
	vec3 anchor = up(data->xanchor + 3 * joint), axis = up(data->xaxis + 3 * joint);
	bool slide = model->jnt_type[joint] == mjJNT_SLIDE;
	if (own->type == JOINT_FIXED || (!slide && vec3_distance(own->point_a, anchor) > NEAR))
		return -1;
	if (model->jnt_type[joint] == mjJNT_BALL)
		return own->type == JOINT_SPHERICAL ? 3 : -1;
	for (uint32_t k = 0; k < 3; k++) {
		uint32_t number = slide ? k : 3 + k;
		*along = vec3_dot(quat_rotate(own->frame_a, vec3_axis(k)), axis);
		bool used = axis_of(command, number) != NULL ||
			    (own->type == JOINT_REVOLUTE && number == 3) ||
			    (own->type == JOINT_PRISMATIC && number == 0);
		if (used && 1 - fabs(*along) <= NEAR)
			return (int)number;
	}
	return -1;
}

/* One axis of one of our joints is that of the file. Returns the link that it moves: 0 is the first of
 * the body's own, their count the body. Only in the model's own pose. */
static uint32_t compare_joint(const char *name, int joint)
{
	uint32_t found = 0, part = 0, body = command_of(name), helpers = helpers_of(name);
	for (uint32_t i = 0; i < scene->command_count; i++) {
		const struct command_JOINT_CREATE *own = &scene->commands[i].joint_create;
		double along = 1;
		if (scene->commands[i].op != COMMAND_JOINT_CREATE ||
		    !is_body(own->body_b, body, helpers))
			continue;
		int axis = axis_found(i, joint, &along);
		if (axis < 0)
			continue;
		ck_assert_uint_eq(own->place, 1);
		part = (uint32_t)(-own->body_b - 1) - (body - helpers);
		found++;
		if (model->jnt_type[joint] == mjJNT_BALL)
			continue;
		compare_axis(name, axis_of(i, (uint32_t)axis), joint, along);
		near_number("armature", name, armature_of(i, (uint32_t)axis),
			    model->dof_armature[model->jnt_dofadr[joint]], 1);
	}
	ck_assert_msg(found == 1, "joint %d of %s is there %u times", joint, name, (unsigned)found);
	return part;
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
	if (!load(FILES[_i], 0))
		return; /* the suite says that it is skipped */
	near_vector("gravity", "the world", scene->world.gravity, up(model->opt.gravity));
	compare_ground();
	for (int body = 1; body < model->nbody; body++)
		compare_body(body);
	unload();
}
END_TEST

/* ---- dynamics ------------------------------------------------------------------------------------ */

/* Rates of ours are T q̇ of MuJoCo's, with J T = J_mujoco for every body. So
 *
 *   M_mujoco = Tᵀ M T,   b_mujoco = Tᵀ (b + M c),   q'' = T q̈ + c
 *
 * where c is how our rates change along MuJoCo's path of constant q̇ (not 0 for a base and a ball).
 * Links between joints of a body, which MuJoCo does not have, take SHARE of its mass here: the smallest
 * that leaves feet of humanoids enough. A model of many trees is compared tree by tree. */
#define SHARE 1e-11
enum { AXES = 96, DOFS = 640, STATES = 10 };

struct beside {
	struct shape_library shapes;
	struct world *world;
	struct robot_view view;
	int root;	   /* the tree's first body; 0: all bodies are compared at once */
	uint32_t first, n; /* the degrees of freedom */
	uint32_t
		part[DOFS]; /* of each joint: the link that it moves, as compare_joint returns it */
	double t[AXES * AXES], change[AXES]; /* T; c */
};

static bool is_compared(const struct beside *self, int body)
{
	return model->body_weldid[body] != 0 &&
	       (self->root == 0 || model->body_rootid[body] == self->root);
}

/* The Jacobian of a body's centre, then of its spin, y up, row by row, over the tree's axes. */
static void mujoco_jacobian(const struct beside *self, int body, double out[6 * AXES])
{
	static mjtNum place[3 * DOFS], turn[3 * DOFS];
	uint32_t all = (uint32_t)model->nv;
	mj_jacBodyCom(model, data, place, turn, body);
	for (uint32_t k = 0; k < self->n; k++)
		for (uint32_t part = 0; part < 2; part++) {
			const mjtNum *from = (part == 0 ? place : turn) + self->first + k;
			const mjtNum v[3] = { from[0], from[all], from[2 * all] };
			vec3 is = up(v);
			for (uint32_t r = 0; r < 3; r++)
				out[(3 * part + r) * self->n + k] = vec3_get(is, r);
		}
}

static body_id body_of(const char *name)
{
	for (uint32_t i = 0; i < scene->name_count; i++)
		if (strcmp(scene->names[i].name, name) == 0)
			return scene->names[i].first;
	ck_abort_msg("no body '%s'", name);
	return 0;
}

struct moving {
	pose at;
	vec3 point, velocity, spin; /* of the point */
};

static void place_body(struct beside *self, const char *name, const struct moving *to)
{
	struct command place = test_command(COMMAND_SET_POSE);
	place.set_pose.body = body_of(name);
	place.set_pose.position = to->at.position;
	place.set_pose.rotation = to->at.rotation;
	test_do(self->world, &place);
	struct command speed = test_command(COMMAND_SET_VELOCITY);
	speed.set_velocity.body = body_of(name);
	speed.set_velocity.velocity = to->velocity;
	speed.set_velocity.angular_velocity = to->spin;
	test_do(self->world, &speed);
}

/* What the body was before a hinge or a slide of it moved it. */
static void undo_joint(struct moving *body, int joint)
{
	int type = model->jnt_type[joint], position = model->jnt_qposadr[joint];
	vec3 axis = up(data->xaxis + 3 * joint), anchor = up(data->xanchor + 3 * joint);
	double moved = data->qpos[position] - model->qpos0[position];
	double rate = data->qvel[model->jnt_dofadr[joint]];
	if (type == mjJNT_SLIDE) {
		body->at.position = vec3_mul_add(body->at.position, axis, -moved);
		body->point = vec3_mul_add(body->point, axis, -moved);
		body->velocity = vec3_mul_add(body->velocity, axis, -rate);
		return;
	}
	ck_assert_int_eq(type, mjJNT_HINGE);
	vec3 spin = vec3_scale(axis, rate);
	quat back = quat_from_axis_angle(axis, -moved);
	vec3 old = body->point;
	body->velocity = vec3_sub(body->velocity, vec3_cross(spin, vec3_sub(old, anchor)));
	body->spin = vec3_sub(body->spin, spin);
	body->at.position =
		vec3_add(anchor, quat_rotate(back, vec3_sub(body->at.position, anchor)));
	body->at.rotation = quat_mul(back, body->at.rotation);
	body->point = vec3_add(anchor, quat_rotate(back, vec3_sub(old, anchor)));
	body->velocity =
		vec3_add(body->velocity, vec3_cross(body->spin, vec3_sub(body->point, old)));
}

/* The body and, by undoing its joints from the last one on, the links of its own. */
static void place_links(struct beside *self, int body, struct moving *at)
{
	char name[64], part[96];
	name_of(body, name);
	uint32_t links = helpers_of(name);
	place_body(self, name, at);
	for (int i = model->body_jntnum[body] - 1; i >= 0 && links > 0; i--) {
		int joint = model->body_jntadr[body] + i;
		undo_joint(at, joint);
		if (i == 0 || self->part[joint - 1] == links)
			continue;
		ck_assert_uint_eq(self->part[joint - 1], links - 1);
		snprintf(part, sizeof part, "%s/%u", name, (unsigned)links--);
		place_body(self, part, at);
	}
}

/* Each moving body has its pose and velocity in MuJoCo. */
static void take_state(struct beside *self)
{
	static double jacobian[6 * AXES];
	double half = sqrt(0.5);
	mj_kinematics(model, data);
	mj_comPos(model, data);
	for (int body = 1; body < model->nbody; body++) {
		if (!is_compared(self, body))
			continue;
		double v[6] = { 0 };
		const mjtNum *q = data->xquat + 4 * body;
		mujoco_jacobian(self, body, jacobian);
		for (uint32_t r = 0; r < 6; r++)
			for (uint32_t k = 0; k < self->n; k++)
				v[r] += jacobian[r * self->n + k] * data->qvel[self->first + k];
		struct moving at = { .point = up(data->xipos + 3 * body) };
		at.at.position = up(data->xpos + 3 * body);
		at.at.rotation =
			quat_mul(quat_make(half, -half, 0, 0), quat_make(q[0], q[1], q[2], q[3]));
		at.velocity = vec3_make(v[0], v[1], v[2]);
		at.spin = vec3_make(v[3], v[4], v[5]);
		place_links(self, body, &at);
	}
}

/* The body by which our queries name the tree; 0: all. */
static body_id tree_of(const struct beside *self)
{
	char name[64];
	if (self->root == 0)
		return 0;
	name_of(self->root, name);
	return body_of(name);
}

static void view_world(struct beside *self)
{
	struct reason why = { 0 };
	enum status status = world_robot(self->world, tree_of(self), &self->view, &why);
	ck_assert_msg(status == STATUS_OK, "%s", why.text);
	ck_assert_uint_eq(self->view.axes, self->n);
}

/* The state at `time` on the path of constant q̇ from `from`; adds weight · rates to the change. */
static void add_rates(struct beside *self, const mjtNum *from, double time, double weight)
{
	mju_copy(data->qpos, from, model->nq);
	mj_integratePos(model, data->qpos, data->qvel, time);
	take_state(self);
	view_world(self);
	for (uint32_t i = 0; i < self->n; i++)
		self->change[i] += weight * self->view.rates[i];
	robot_view_release(&self->view);
}

/* A random state, its change and its view. */
static void choose_state(struct beside *self, struct rng *rng)
{
	const double h = 1e-3; /* the error of five points is of order h⁴ */
	mjtNum from[2 * DOFS];
	ck_assert_int_le(model->nq, 2 * DOFS);
	mju_copy(data->qpos, model->qpos0, model->nq);
	for (int k = 0; k < model->nv; k++)
		data->qvel[k] = rng_range(rng, -0.7, 0.7);
	mj_integratePos(model, data->qpos, data->qvel, 1);
	for (int k = 0; k < model->nv; k++)
		data->qvel[k] = rng_range(rng, -1, 1);
	mju_copy(from, data->qpos, model->nq);
	memset(self->change, 0, sizeof self->change);
	add_rates(self, from, -2 * h, 1 / (12 * h));
	add_rates(self, from, -h, -8 / (12 * h));
	add_rates(self, from, h, 8 / (12 * h));
	add_rates(self, from, 2 * h, -1 / (12 * h));
	mju_copy(data->qpos, from, model->nq);
	take_state(self);
	view_world(self);
}

/* Our Jacobian of a body's centre, over the axes of the whole world. */
static void own_jacobian(const struct beside *self, int body, const char *name, double *out)
{
	struct robot_view own;
	struct reason why = { 0 };
	double *entries;
	uint32_t axes, from = 0, n = self->n;
	body_id id = body_of(name);
	ck_assert_int_eq(world_robot(self->world, id, &own, &why), STATUS_OK);
	ck_assert_int_eq(world_robot_jacobian(self->world, id, up(data->xipos + 3 * body), &entries,
					      &axes, &why),
			 STATUS_OK);
	ck_assert_uint_eq(axes, own.axes);
	memset(out, 0, 6 * n * sizeof *out);
	for (uint32_t i = 0; i < own.links; from += own.link[i++].axes) {
		uint32_t to = 0, k = 0;
		while (k < self->view.links && self->view.link[k].body != own.link[i].body)
			to += self->view.link[k++].axes;
		ck_assert_uint_lt(k, self->view.links);
		for (uint32_t r = 0; r < 6; r++)
			memcpy(out + r * n + to, entries + r * axes + from,
			       own.link[i].axes * sizeof *out);
	}
	heap_free(entries);
	robot_view_release(&own);
}

/* T, by least squares over all bodies. */
static void find_map(struct beside *self)
{
	static double own[6 * AXES], theirs[6 * AXES];
	static double square[AXES * AXES], right[AXES * AXES], work[AXES * AXES];
	uint32_t n = self->n;
	memset(square, 0, sizeof square);
	memset(right, 0, sizeof right);
	for (int body = 1; body < model->nbody; body++) {
		char name[64];
		if (!is_compared(self, body))
			continue;
		name_of(body, name);
		own_jacobian(self, body, name, own);
		mujoco_jacobian(self, body, theirs);
		for (uint32_t i = 0; i < n * n; i++)
			for (uint32_t r = 0; r < 6; r++) {
				square[i] += own[r * n + i / n] * own[r * n + i % n];
				right[i] += own[r * n + i / n] * theirs[r * n + i % n];
			}
	}
	for (uint32_t c = 0; c < n; c++) {
		double column_of[AXES];
		memcpy(work, square, n * n * sizeof *work);
		for (uint32_t r = 0; r < n; r++)
			column_of[r] = right[r * n + c];
		ck_assert_uint_eq(eliminate(n, work, column_of, 1e-12), n);
		for (uint32_t r = 0; r < n; r++)
			self->t[r * n + c] = column_of[r];
	}
}

/* J T is MuJoCo's for every body: the least squares leave nothing. */
static void compare_jacobians(const struct beside *self)
{
	static double own[6 * AXES], theirs[6 * AXES];
	uint32_t n = self->n;
	for (int body = 1; body < model->nbody; body++) {
		char name[64];
		if (!is_compared(self, body))
			continue;
		name_of(body, name);
		own_jacobian(self, body, name, own);
		mujoco_jacobian(self, body, theirs);
		for (uint32_t i = 0; i < 6 * n; i++) {
			double sum = 0;
			for (uint32_t k = 0; k < n; k++)
				sum += own[i / n * n + k] * self->t[k * n + i % n];
			near_number("Jacobian", name, sum, theirs[i], 1);
		}
	}
}

/* `theirs`: MuJoCo's, of the tree. */
static void compare_accelerations(const struct beside *self, const char *file, const mjtNum *theirs)
{
	uint32_t n = self->n;
	double size = 1;
	for (uint32_t i = 0; i < n; i++)
		size = fmax(size, fabs(theirs[i]));
	for (uint32_t i = 0; i < n; i++) {
		double should = self->change[i];
		for (uint32_t k = 0; k < n; k++)
			should += self->t[i * n + k] * theirs[k];
		near_number("acceleration", file, self->view.accelerations[i], should, size);
	}
}

/* Tᵀ M T and Tᵀ (b + M c) beside MuJoCo's mass matrix (of all bodies) and bias (of the tree). */
static void compare_loads(const struct beside *self, const char *file, const double *mass,
			  const mjtNum *full, const mjtNum *bias)
{
	static double product[AXES * AXES];
	double load[AXES], size = 1;
	uint32_t n = self->n, all = (uint32_t)model->nv;
	const mjtNum *theirs = full + self->first * all + self->first;
	for (uint32_t i = 0; i < n; i++) {
		load[i] = self->view.bias[i];
		size = fmax(size, fabs(bias[i]));
		for (uint32_t k = 0; k < n; k++) {
			load[i] += mass[i * n + k] * self->change[k];
			product[i * n + k] = 0;
			for (uint32_t j = 0; j < n; j++)
				product[i * n + k] += mass[i * n + j] * self->t[j * n + k];
		}
	}
	for (uint32_t i = 0; i < n; i++) {
		double force = 0;
		for (uint32_t j = 0; j < n; j++)
			force += self->t[j * n + i] * load[j];
		near_number("bias", file, force, bias[i], size);
		for (uint32_t k = 0; k < n; k++) {
			double entry = 0;
			for (uint32_t j = 0; j < n; j++)
				entry += self->t[j * n + i] * product[j * n + k];
			near_number("mass matrix", file, entry, theirs[i * all + k],
				    sqrt(theirs[i * all + i] * theirs[k * all + k]));
		}
	}
}

/* M and b of both; then the accelerations of M and b of MuJoCo. */
static void compare_dynamics(struct beside *self, const char *file)
{
	static mjtNum full[DOFS * DOFS], bias[DOFS], acceleration[DOFS];
	uint32_t axes;
	double *mass;
	struct reason why = { 0 };
	ck_assert_int_eq(world_robot_mass(self->world, tree_of(self), &mass, &axes, &why),
			 STATUS_OK);
	ck_assert_uint_eq(axes, self->n);
	mj_crb(model, data);
	mj_factorM(model, data);
	mj_fullM(model, full, data->qM);
	mj_comVel(model, data);
	mj_rne(model, data, 0, bias);
	compare_loads(self, file, mass, full, bias + self->first);
	for (int i = 0; i < model->nv; i++)
		bias[i] = -bias[i];
	mj_solveM(model, data, acceleration, bias, 1);
	compare_accelerations(self, file, acceleration + self->first);
	heap_free(mass);
}

/* Those without loops. */
static const char *const DYNAMICS[] = {
	"/usr/share/mujoco/model/humanoid/humanoid.xml",
	"/usr/share/mujoco/model/humanoid/22_humanoids.xml",
	"/usr/share/mujoco/model/humanoid100/humanoid100.xml",
	"/usr/share/mujoco/model/slider_crank/slider_crank.xml",
	"tests/data/robots/kinds.xml",
	"clients/scenes/robots/quadruped.xml",
	"clients/scenes/robots/humanoid.xml",
	"clients/scenes/robots/crane.xml",
};

/* The bodies below `root`, a child of the world; 0: all. False: they have no degrees of freedom. */
static bool take_tree(struct beside *self, int root)
{
	self->root = root;
	self->n = 0;
	for (int k = model->nv - 1; k >= 0; k--)
		if (root == 0 || model->body_rootid[model->dof_bodyid[k]] == root) {
			self->first = (uint32_t)k;
			self->n++;
		}
	ck_assert_uint_le(self->n, AXES);
	return self->n > 0;
}

/* In the model's own pose. */
static void find_parts(struct beside *self)
{
	ck_assert_int_le(model->njnt, DOFS);
	for (int joint = 0; joint < model->njnt; joint++) {
		char name[64];
		name_of(model->jnt_bodyid[joint], name);
		if (model->jnt_type[joint] != mjJNT_FREE)
			self->part[joint] = compare_joint(name, joint);
	}
}

static void compare_trees(struct beside *self, const char *file)
{
	struct rng rng = rng_seeded(check_seed());
	bool apart = model->nv > AXES;
	for (int root = apart; root < (apart ? model->nbody : 1); root++) {
		if (!take_tree(self, root))
			continue;
		for (uint32_t i = 0; i < (apart ? 1 : STATES); i++) {
			choose_state(self, &rng);
			find_map(self);
			compare_jacobians(self);
			compare_dynamics(self, file);
			robot_view_release(&self->view);
		}
	}
}

START_TEST(a_robot_has_the_dynamics_of_mujoco)
{
	static struct beside self;
	if (!load(DYNAMICS[_i], SHARE))
		return; /* the suite says that it is skipped */
	ck_assert_int_le(model->nv, DOFS);
	self = (struct beside){ 0 };
	struct reason why = { 0 };
	shape_library_init(&self.shapes);
	find_parts(&self);
	enum status status = scene_world_make(scene, NULL, &self.shapes, &self.world, &why);
	ck_assert_msg(status == STATUS_OK, "%s: %s", DYNAMICS[_i], why.text);
	compare_trees(&self, DYNAMICS[_i]);
	world_destroy(self.world);
	shape_library_release(&self.shapes);
	unload();
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("robots beside MuJoCo");
	TCase *files = tcase_create("files");
	tcase_add_loop_test(files, a_model_is_that_of_mujoco, 0,
			    (int)(sizeof FILES / sizeof *FILES));
	tcase_add_loop_test(files, a_robot_has_the_dynamics_of_mujoco, 0,
			    (int)(sizeof DYNAMICS / sizeof *DYNAMICS));
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
