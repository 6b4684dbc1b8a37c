/* mjcf.c: reads MJCF: options, then bodies in the order of the file, then what connects them. */
#include "protocol/scene/robot/mjcf.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/schema.h"

/* ---- options ------------------------------------------------------------------------------- */

static enum status read_euler(struct mjcf *self, const struct xml_node *node)
{
	const char *letters = grammar_text(node, "eulerseq");
	if (strlen(letters) != 3 || strspn(letters, "xyzXYZ") != 3)
		return node_fail(node, STATUS_RANGE, "eulerseq",
				 "eulerseq '%.16s' must be three of the letters x, y, z, X, Y, Z",
				 letters);
	self->eulerseq = letters;
	return STATUS_OK;
}

static enum status read_compiler(struct mjcf *self, const struct xml_node *node)
{
	struct robot *robot = self->robot;
	double range[GRAMMAR_REALS_MAX];
	self->angle = strcmp(grammar_text(node, "angle"), "radian") == 0 ? 1 : RADIANS_PER_DEGREE;
	self->autolimits = grammar_bool(node, "autolimits");
	uint32_t from = text_word(grammar_text(node, "inertiafromgeom"), "false|true|auto");
	self->from_geom = from == 0 ? FROM_GEOM_FALSE : from == 1 ? FROM_GEOM_TRUE : FROM_GEOM_AUTO;
	grammar_reals(node, "inertiagrouprange", range);
	self->group_least = range[0];
	self->group_most = range[1];
	robot->balance = robot->balance || grammar_bool(node, "balanceinertia");
	robot->mass_least = grammar_real(node, "boundmass");
	robot->inertia_least = grammar_real(node, "boundinertia");
	robot->mass_total = grammar_real(node, "settotalmass");
	self->mesh_folder = grammar_text(node, "meshdir") != NULL ? grammar_text(node, "meshdir")
								  : grammar_text(node, "assetdir");
	return read_euler(self, node);
}

static enum status read_option(struct mjcf *self, const struct xml_node *node)
{
	struct robot *robot = self->robot;
	double v[GRAMMAR_REALS_MAX];
	if (xml_attribute(node, "gravity") != NULL) {
		grammar_reals(node, "gravity", v);
		robot->gravity = vec3_make(v[0], v[1], v[2]);
	}
	if (text_reals(grammar_text(node, "timestep"), v) == 0)
		return STATUS_OK;
	if (!(v[0] >= 1e-4 && v[0] <= 1))
		return node_fail(node, STATUS_RANGE, "timestep",
				 "timestep %g is not between 0.0001 and 1 s", v[0]);
	robot->timestep = v[0];
	return STATUS_OK;
}

static enum status read_options(struct mjcf *self)
{
	enum status status = STATUS_OK;
	const struct xml_node *root = self->robot->tree->root;
	self->robot->name = grammar_text(root, "model");
	self->robot->gravity = vec3_make(0, 0, -9.81);
	self->robot->is_mjcf = true;
	self->robot->mass_total = -1;
	self->angle = RADIANS_PER_DEGREE;
	self->autolimits = true;
	self->from_geom = FROM_GEOM_AUTO;
	self->group_most = 5;
	self->eulerseq = "xyz";
	for (const struct xml_node *at = root->first; at != NULL && status == STATUS_OK;
	     at = at->next) {
		if (grammar_is(at, ELEMENT_compiler))
			status = read_compiler(self, at);
		else if (grammar_is(at, ELEMENT_option))
			status = read_option(self, at);
	}
	return status;
}

/* ---- masses -------------------------------------------------------------------------------- */

static enum status read_inertial(struct mjcf *self, const struct xml_node *node,
				 struct robot_link *link)
{
	double v[GRAMMAR_REALS_MAX], full[GRAMMAR_REALS_MAX];
	quat rotation;
	enum status status = mjcf_rotation(self, node, 0, &rotation);
	if (status != STATUS_OK)
		return status;
	link->mass = grammar_real(node, "mass");
	grammar_reals(node, "pos", v);
	link->centre = vec3_make(v[0], v[1], v[2]);
	bool diagonal = text_reals(grammar_text(node, "diaginertia"), v) > 0;
	bool tensor = text_reals(grammar_text(node, "fullinertia"), full) > 0;
	if (diagonal == tensor)
		return node_fail(node, STATUS_MISSING, "diaginertia",
				 "<inertial> of '%.32s' needs either diaginertia or fullinertia",
				 link->name);
	if (link->mass < 0)
		return node_fail(node, STATUS_RANGE, "mass", "mass %g kg of '%.32s' is negative",
				 link->mass, link->name);
	struct tensor own =
		diagonal ? tensor_diagonal(vec3_make(v[0], v[1], v[2]))
			 : (struct tensor){ full[0], full[1], full[2], full[3], full[4], full[5] };
	link->inertia = tensor_turn(own, rotation);
	link->given = true;
	return STATUS_OK;
}

/* ---- joints -------------------------------------------------------------------------------- */

static void read_range(struct mjcf *self, const struct xml_node *node, uint32_t class_,
		       struct robot_joint *joint)
{
	static const int ball = 0;
	double v[GRAMMAR_REALS_MAX];
	double unit = joint->type == ROBOT_SLIDE ? 1 : self->angle;
	mjcf_reals(self, node, class_, "range", v);
	uint32_t word = text_word(mjcf_text(self, node, class_, "limited"), "false|true|auto");
	joint->limited = word == 1 || (word == 2 && self->autolimits && (v[0] != 0 || v[1] != 0));
	joint->lower = v[0] * unit - joint->ref;
	joint->upper = v[1] * unit - joint->ref;
	if (!joint->limited)
		return;
	if (joint->type == ROBOT_BALL) {
		node_note(self->robot, node, &ball,
			  "the range of a ball joint limits its swing; its twist is free");
		joint->lower = 0;
		return;
	}
	double most = MAX_OF(scalar_abs(v[0]), scalar_abs(v[1]));
	if (joint->type == ROBOT_HINGE && most > self->range_most) {
		self->range_most = most;
		self->range_node = node;
	}
}

static enum status read_joint(struct mjcf *self, const struct xml_node *node, uint32_t link,
			      uint32_t class_, enum robot_joint_type type)
{
	struct robot_joint *joint;
	double v[GRAMMAR_REALS_MAX];
	enum status status = robot_joint_add(self->robot, node, &joint);
	if (status != STATUS_OK)
		return status;
	pose at = self->robot->links.items[link].at;
	joint->link = link;
	joint->type = type;
	joint->name = grammar_text(node, "name");
	mjcf_reals(self, node, class_, "pos", v);
	joint->anchor = pose_point(at, vec3_make(v[0], v[1], v[2]));
	double unit = type == ROBOT_HINGE ? self->angle : 1;
	joint->ref = type == ROBOT_BALL ? 0 : mjcf_real(self, node, class_, "ref") * unit;
	joint->stiffness = mjcf_real(self, node, class_, "stiffness");
	joint->rest = mjcf_real(self, node, class_, "springref") * unit - joint->ref;
	joint->damping = mjcf_real(self, node, class_, "damping");
	joint->friction = mjcf_real(self, node, class_, "frictionloss");
	joint->armature = mjcf_real(self, node, class_, "armature");
	read_range(self, node, class_, joint);
	mjcf_reals(self, node, class_, "axis", v);
	if (type == ROBOT_BALL) /* has none */
		v[0] = v[1] = 0, v[2] = 1;
	status = robot_axis(node, v, &joint->axis);
	joint->axis = quat_rotate(at.rotation, joint->axis);
	return status;
}

/* A joint or a free joint of a body. */
static enum status take_joint(struct mjcf *self, const struct xml_node *node, uint32_t index)
{
	struct robot_link *link = &self->robot->links.items[index];
	const char *name = grammar_text(node, "name");
	uint32_t class_ = link->defaults, word = 0;
	enum status status = STATUS_OK;
	if (grammar_is(node, ELEMENT_joint)) {
		status = mjcf_class_of(self, node, link->defaults, &class_);
		if (status != STATUS_OK)
			return status;
		word = text_word(mjcf_text(self, node, class_, "type"), "free|ball|slide|hinge");
	}
	if (name != NULL)
		status = names_add(&self->joints, node, name,
				   word == 0 ? ROBOT_NONE : self->robot->joints.count);
	if (status != STATUS_OK)
		return status;
	if (word == 0 && (link->parent != ROBOT_NONE || link->jointed))
		return node_fail(node, STATUS_RANGE, "joint",
				 "a free joint is for a body of worldbody, and its only joint");
	link->jointed = true;
	static const enum robot_joint_type types[] = { ROBOT_FREE, ROBOT_BALL, ROBOT_SLIDE,
						       ROBOT_HINGE };
	return word == 0 ? STATUS_OK : read_joint(self, node, index, class_, types[word]);
}

/* ---- bodies -------------------------------------------------------------------------------- */

static enum status name_body(struct mjcf *self, const struct xml_node *node, uint32_t index)
{
	struct robot_link *link = &self->robot->links.items[index];
	link->name = grammar_text(node, "name");
	if (link->name == NULL) {
		char *name = arena_push(&self->robot->tree->arena, 16);
		if (name == NULL)
			return source_no_memory(node->source);
		snprintf(name, 16, "body%u", (unsigned)index + 1);
		link->name = name;
	}
	return names_add(&self->bodies, node, link->name, index);
}

/* The class that holds in a body: its own, or that of the body around it. */
static enum status find_class(struct mjcf *self, const struct xml_node *node, uint32_t around,
			      uint32_t *out)
{
	const char *name = grammar_text(node, "childclass");
	*out = around;
	return name != NULL && strcmp(name, "main") != 0
		       ? names_find(&self->class_names, "class", node, "childclass", name, out)
		       : STATUS_OK;
}

static enum status place_body(struct mjcf *self, struct xml_node *node, uint32_t index)
{
	struct robot *robot = self->robot;
	struct robot_link *link = &robot->links.items[index];
	double v[GRAMMAR_REALS_MAX];
	quat rotation;
	bool top = grammar_is(node->parent, ELEMENT_worldbody);
	node->mark = index;
	link->parent = top ? ROBOT_NONE : node->parent->mark;
	uint32_t around = top ? node->parent->mark : robot->links.items[link->parent].defaults;
	enum status status = find_class(self, node, around, &link->defaults);
	if (status == STATUS_OK)
		status = mjcf_rotation(self, node, 0, &rotation);
	if (status != STATUS_OK)
		return status;
	grammar_reals(node, "pos", v);
	pose own = pose_make(vec3_make(v[0], v[1], v[2]), rotation);
	link->at = top ? own : pose_mul(robot->links.items[link->parent].at, own);
	link->at.rotation = quat_normalize(link->at.rotation);
	link->gravity_scale = 1 - grammar_real(node, "gravcomp");
	link->animated = grammar_bool(node, "mocap");
	if (link->animated && !top)
		return node_fail(node, STATUS_RANGE, "mocap",
				 "a mocap body must be a child of worldbody");
	return STATUS_OK;
}

static enum status read_body(struct mjcf *self, struct xml_node *node)
{
	struct robot *robot = self->robot;
	struct robot_link *link;
	uint32_t index = robot->links.count;
	enum status status = robot_link_add(robot, node, &link);
	if (status == STATUS_OK)
		status = name_body(self, node, index);
	if (status == STATUS_OK)
		status = place_body(self, node, index);
	if (status != STATUS_OK)
		return status;
	link->geom_first = robot->geoms.count;
	for (struct xml_node *at = node->first; at != NULL && status == STATUS_OK; at = at->next) {
		if (grammar_is(at, ELEMENT_geom))
			status = mjcf_geom(self, at, index, link->defaults);
		else if (grammar_is(at, ELEMENT_joint) || grammar_is(at, ELEMENT_freejoint))
			status = take_joint(self, at, index);
		else if (grammar_is(at, ELEMENT_inertial) && self->from_geom != FROM_GEOM_TRUE)
			status = read_inertial(self, at, link);
	}
	link->given = link->given || self->from_geom == FROM_GEOM_FALSE;
	for (uint32_t i = 0; i < link->geom_count && link->colour < 0; i++)
		link->colour = robot->geoms.items[link->geom_first + i].colour;
	if (status == STATUS_OK && link->animated && link->jointed)
		status = node_fail(node, STATUS_RANGE, "mocap", "a mocap body has no joint");
	return status;
}

static enum status read_bodies(struct mjcf *self, struct xml_node *world)
{
	enum status status = find_class(self, world, 0, &world->mark);
	for (struct xml_node *at = world->first; at != NULL && status == STATUS_OK; at = at->next)
		if (grammar_is(at, ELEMENT_geom))
			status = mjcf_geom(self, at, ROBOT_NONE, world->mark);
	for (struct xml_node *at = world; at != NULL && status == STATUS_OK;
	     at = xml_next(world, at, false))
		if (grammar_is(at, ELEMENT_body))
			status = read_body(self, at);
	return status;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static void check_degrees(const struct mjcf *self)
{
	static const int small = 0;
	if (self->range_node != NULL && self->angle != 1 && self->range_most < 6.3)
		node_note(self->robot, self->range_node, &small,
			  "all ranges of hinges are below %g degrees: should angle be radian?",
			  self->range_most);
}

static enum status read_model(struct mjcf *self)
{
	struct xml_node *root = self->robot->tree->root;
	enum status status = read_options(self);
	if (status == STATUS_OK)
		status = mjcf_classes(self);
	if (status == STATUS_OK)
		status = mjcf_assets(self);
	for (struct xml_node *at = root->first; at != NULL && status == STATUS_OK; at = at->next)
		if (grammar_is(at, ELEMENT_worldbody))
			status = read_bodies(self, at);
	if (status == STATUS_OK)
		status = names_sort(&self->bodies, "body");
	if (status == STATUS_OK)
		status = names_sort(&self->joints, "joint");
	if (status == STATUS_OK)
		status = mjcf_connections(self);
	check_degrees(self);
	return status;
}

enum status mjcf_read(struct robot *self)
{
	struct mjcf mjcf = { .robot = self };
	enum status status = read_model(&mjcf);
	names_release(&mjcf.class_names);
	names_release(&mjcf.bodies);
	names_release(&mjcf.joints);
	names_release(&mjcf.meshes);
	names_release(&mjcf.materials);
	ARRAY_RELEASE(&mjcf.classes);
	return status;
}
