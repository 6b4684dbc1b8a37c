/* urdf.c: reads URDF.
 *
 * Links and joints come in any order, so the tree is found first: each link has at most one
 * joint above it, one link has none (the root), and all others are below the root. Then links
 * are taken breadth first.
 */
#include "protocol/scene/robot/model.h"

#include "protocol/scene/mesh.h"

#include <string.h>

struct urdf_link {
	struct xml_node *node, *joint; /* the joint above it, or NULL */
	uint32_t parent;	       /* of that joint */
	uint32_t first, next;	       /* children, in the order of the file; ROBOT_NONE: none */
	uint32_t taken;		       /* its index as a robot's link + 1; 0: not yet */
};

struct urdf {
	struct robot *robot;
	ARRAY_OF(struct urdf_link) links;
	struct names names, colours;
	const char *mesh_folder;
	bool world; /* the root link is the world */
};

/* ---- small elements ------------------------------------------------------------------------ */

static pose read_origin(const struct xml_node *parent)
{
	const struct xml_node *node = xml_child(parent, "origin");
	double v[GRAMMAR_REALS_MAX], rpy[GRAMMAR_REALS_MAX];
	if (node == NULL)
		return pose_identity();
	grammar_reals(node, "xyz", v);
	grammar_reals(node, "rpy", rpy);
	quat rotation = quat_identity();
	/* About fixed axes: x first, so each later turn stands on the left. */
	for (uint32_t i = 0; i < 3; i++)
		rotation = quat_mul(quat_from_axis_angle(vec3_axis(i), rpy[i]), rotation);
	return pose_make(vec3_make(v[0], v[1], v[2]), quat_normalize(rotation));
}

static double real_or(const struct xml_node *node, const char *name, double absent)
{
	return node != NULL ? grammar_real(node, name) : absent;
}

/* ---- links --------------------------------------------------------------------------------- */

static enum status read_inertial(const struct xml_node *parent, struct robot_link *link)
{
	const struct xml_node *node = xml_child(parent, "inertial");
	if (node == NULL)
		return STATUS_OK;
	const struct xml_node *mass = xml_child(node, "mass"),
			      *inertia = xml_child(node, "inertia");
	if (mass == NULL || inertia == NULL)
		return node_fail(node, STATUS_MISSING, "inertial",
				 "<inertial> of '%.32s' needs <mass> and <inertia>", link->name);
	pose at = read_origin(node);
	struct tensor own = { grammar_real(inertia, "ixx"), grammar_real(inertia, "iyy"),
			      grammar_real(inertia, "izz"), grammar_real(inertia, "ixy"),
			      grammar_real(inertia, "ixz"), grammar_real(inertia, "iyz") };
	link->mass = grammar_real(mass, "value");
	if (link->mass < 0)
		return node_fail(mass, STATUS_RANGE, "mass", "mass %g kg of '%.32s' is negative",
				 link->mass, link->name);
	if (link->mass == 0 && own.xx + own.yy + own.zz != 0)
		return node_fail(
			mass, STATUS_RANGE, "mass",
			"'%.32s' has inertia and mass 0; remove <inertial>, or give a mass",
			link->name);
	link->centre = at.position;
	link->inertia = tensor_turn(own, at.rotation);
	return STATUS_OK;
}

static enum status read_shape(const struct urdf *self, const struct xml_node *node,
			      struct robot_geom *geom)
{
	double v[GRAMMAR_REALS_MAX];
	if (grammar_is(node, ELEMENT_urdf_box)) {
		grammar_reals(node, "size", v);
		geom->shape = SHAPE_BOX;
		geom->size = vec3_scale(vec3_make(v[0], v[1], v[2]), 0.5);
	} else if (grammar_is(node, ELEMENT_urdf_sphere)) {
		geom->shape = SHAPE_SPHERE;
		geom->size = vec3_make(grammar_real(node, "radius"), 0, 0);
	} else if (grammar_is(node, ELEMENT_urdf_mesh)) {
		grammar_reals(node, "scale", v);
		geom->shape = SHAPE_MESH;
		geom->size = vec3_make(v[0], v[1], v[2]);
		return robot_mesh_file(self->robot, node, self->mesh_folder,
				       grammar_text(node, "filename"), geom->file);
	} else {
		geom->shape =
			grammar_is(node, ELEMENT_urdf_cylinder) ? SHAPE_CYLINDER : SHAPE_CAPSULE;
		geom->size = vec3_make(grammar_real(node, "radius"),
				       0.5 * grammar_real(node, "length"), 0);
	}
	return STATUS_OK;
}

static enum status read_collision(const struct urdf *self, const struct xml_node *node,
				  uint32_t link)
{
	struct robot *robot = self->robot;
	const struct xml_node *geometry = xml_child(node, "geometry");
	if (geometry == NULL || geometry->first == NULL || geometry->first->next != NULL)
		return node_fail(node, STATUS_MISSING, "geometry",
				 "<collision> needs a <geometry> with one shape");
	if (ARRAY_RESERVE(&robot->geoms, (uint64_t)robot->geoms.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	struct robot_geom *geom = &robot->geoms.items[robot->geoms.count++];
	*geom = (struct robot_geom){ .node = geometry->first,
				     .link = link,
				     .at = read_origin(node),
				     .collides = true,
				     .type = 1,
				     .affinity = 1,
				     .friction = { -1, 0, 0 },
				     .colour = -1 };
	robot->links.items[link].geom_count++;
	return read_shape(self, geometry->first, geom);
}

/* The colour of a visual (NULL: none): its own, or that of the robot's material of its name. */
static int32_t read_colour(const struct urdf *self, const struct xml_node *visual)
{
	double rgba[GRAMMAR_REALS_MAX];
	const struct xml_node *material = visual != NULL ? xml_child(visual, "material") : NULL;
	if (material == NULL)
		return -1;
	const struct xml_node *colour = xml_child(material, "color");
	const char *name = grammar_text(material, "name");
	for (uint32_t i = 0; i < self->colours.list.count && colour == NULL && name != NULL; i++)
		if (strcmp(self->colours.list.items[i].name, name) == 0)
			colour = xml_child(self->colours.list.items[i].node, "color");
	if (colour == NULL)
		return -1;
	grammar_reals(colour, "rgba", rgba);
	return robot_colour(rgba);
}

/* A shape that is looked at only. A mesh whose file is not there is left out and told: robots
 * are often handed on without their pictures. */
static enum status read_visual(const struct urdf *self, const struct xml_node *node, uint32_t link)
{
	static const int missing = 0;
	struct robot *robot = self->robot;
	const struct xml_node *geometry = xml_child(node, "geometry");
	if (geometry == NULL || geometry->first == NULL || geometry->first->next != NULL)
		return node_fail(node, STATUS_MISSING, "geometry",
				 "<visual> needs a <geometry> with one shape");
	struct robot_geom geom = { .node = geometry->first,
				   .link = link,
				   .at = read_origin(node),
				   .shown = true,
				   .friction = { -1, 0, 0 },
				   .colour = read_colour(self, node) };
	const char *file = grammar_is(geometry->first, ELEMENT_urdf_mesh)
				   ? grammar_text(geometry->first, "filename")
				   : NULL;
	if (file != NULL && strstr(file, "://") != NULL && strncmp(file, "package://", 10) != 0) {
		node_note(robot, geometry->first, &missing,
			  "the visual mesh '%.60s' is no file beside the robot's; it is left out",
			  file);
		return STATUS_OK;
	}
	enum status status = read_shape(self, geometry->first, &geom);
	if (status != STATUS_OK)
		return status;
	if (file != NULL && (robot->base == NULL || !mesh_exists(robot->base, geom.file))) {
		node_note(robot, geometry->first, &missing,
			  "the visual mesh '%.60s' is not there; it is left out", geom.file);
		return STATUS_OK;
	}
	if (ARRAY_RESERVE(&robot->geoms, (uint64_t)robot->geoms.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	robot->geoms.items[robot->geoms.count++] = geom;
	robot->links.items[link].geom_count++;
	return STATUS_OK;
}

static enum status read_link(const struct urdf *self, const struct xml_node *node, uint32_t index)
{
	static const int unseen = 0;
	struct robot *robot = self->robot;
	struct robot_link *link = &robot->links.items[index];
	enum status status = read_inertial(node, link);
	link->given = true;
	link->colour = read_colour(self, xml_child(node, "visual"));
	link->geom_first = robot->geoms.count;
	for (const struct xml_node *at = xml_child(node, "collision");
	     at != NULL && status == STATUS_OK; at = xml_sibling(at))
		status = read_collision(self, at, index);
	if (status == STATUS_OK && link->geom_count == 0 && xml_child(node, "visual") != NULL)
		node_note(robot, node, &unseen,
			  "'%.32s' has a visual and no collision: it touches nothing", link->name);
	for (const struct xml_node *at = xml_child(node, "visual");
	     at != NULL && status == STATUS_OK; at = xml_sibling(at))
		status = read_visual(self, at, index);
	return status;
}

/* ---- joints -------------------------------------------------------------------------------- */

static enum status read_limits(const struct urdf *self, const struct xml_node *node,
			       struct robot_joint *joint)
{
	static const int large = 0, none = 0;
	const struct xml_node *limit = xml_child(node, "limit");
	if (limit == NULL)
		return node_fail(node, STATUS_MISSING, "limit",
				 "a revolute or prismatic joint needs <limit>; '%.32s' has none",
				 joint->name);
	joint->limited = true;
	joint->lower = grammar_real(limit, "lower");
	joint->upper = grammar_real(limit, "upper");
	if (joint->lower > joint->upper)
		return node_fail(limit, STATUS_RANGE, "limit",
				 "the lower limit of '%.32s', %g, is above the upper, %g",
				 joint->name, joint->lower, joint->upper);
	double most = MAX_OF(scalar_abs(joint->lower), scalar_abs(joint->upper));
	if (joint->type == ROBOT_HINGE && most > 12.6)
		node_note(self->robot, limit, &large,
			  "limits of '%.32s' reach %g rad, two turns: are they degrees?",
			  joint->name, most);
	if (joint->lower == joint->upper)
		node_note(self->robot, limit, &none,
			  "the limits of '%.32s' are equal: it is locked there", joint->name);
	return STATUS_OK;
}

static enum status read_joint(const struct urdf *self, const struct xml_node *node, uint32_t index)
{
	static const enum robot_joint_type types[] = { ROBOT_HINGE, ROBOT_HINGE, ROBOT_SLIDE,
						       ROBOT_FIXED, ROBOT_FREE,	 ROBOT_PLANAR };
	static const char words[] = "revolute|continuous|prismatic|fixed|floating|planar";
	double v[GRAMMAR_REALS_MAX] = { 1, 0, 0 };
	uint32_t word = text_word(grammar_text(node, "type"), words);
	struct robot_link *link = &self->robot->links.items[index];
	struct robot_joint *joint;
	if (types[word] == ROBOT_FIXED)
		return STATUS_OK;
	link->jointed = true;
	if (types[word] == ROBOT_FREE)
		return STATUS_OK;
	enum status status = robot_joint_add(self->robot, node, &joint);
	if (status != STATUS_OK)
		return status;
	joint->link = index;
	joint->type = types[word];
	joint->name = grammar_text(node, "name");
	joint->anchor = link->at.position;
	const struct xml_node *axis = xml_child(node, "axis");
	if (axis != NULL)
		grammar_reals(axis, "xyz", v);
	status = robot_axis(axis != NULL ? axis : node, v, &joint->axis);
	joint->axis = quat_rotate(link->at.rotation, joint->axis);
	const struct xml_node *dynamics = xml_child(node, "dynamics");
	joint->damping = real_or(dynamics, "damping", 0);
	joint->friction = real_or(dynamics, "friction", 0);
	if (status == STATUS_OK && (word == 0 || word == 2))
		status = read_limits(self, node, joint);
	return status;
}

static enum status read_mimic(struct robot *robot, const struct names *joints, uint32_t index,
			      const struct xml_node *mimic)
{
	uint32_t leader = ROBOT_NONE;
	double ratio = grammar_real(mimic, "multiplier");
	enum status status = names_find(joints, "joint that moves", mimic, "joint",
					grammar_text(mimic, "joint"), &leader);
	if (status != STATUS_OK)
		return status;
	if (ratio == 0)
		return node_fail(mimic, STATUS_RANGE, "multiplier",
				 "multiplier is 0: the joint would not move; make its type fixed");
	return robot_gear(robot, mimic, index, leader, ratio, grammar_real(mimic, "offset"));
}

/* The gears of all joints, once these are read. */
static enum status read_mimics(const struct urdf *self)
{
	struct robot *robot = self->robot;
	struct names joints = { 0 };
	enum status status = STATUS_OK;
	bool any = false;
	for (uint32_t i = 0; i < robot->joints.count; i++)
		any |= xml_child(robot->joints.items[i].node, "mimic") != NULL;
	if (!any)
		return STATUS_OK;
	for (uint32_t i = 0; i < robot->joints.count && status == STATUS_OK; i++)
		status = names_add(&joints, robot->joints.items[i].node,
				   robot->joints.items[i].name, i);
	if (status == STATUS_OK)
		status = names_sort(&joints, "joint");
	for (uint32_t i = 0; i < robot->joints.count && status == STATUS_OK; i++) {
		const struct xml_node *mimic = xml_child(robot->joints.items[i].node, "mimic");
		if (mimic != NULL)
			status = read_mimic(robot, &joints, i, mimic);
	}
	names_release(&joints);
	return status;
}

/* ---- the tree ------------------------------------------------------------------------------ */

static enum status collect_links(struct urdf *self, struct xml_node *root)
{
	enum status status = STATUS_OK;
	for (struct xml_node *at = root->first; at != NULL && status == STATUS_OK; at = at->next) {
		if (grammar_is(at, ELEMENT_urdf_material) && grammar_text(at, "name") != NULL)
			status = names_add(&self->colours, at, grammar_text(at, "name"), 0);
		if (!grammar_is(at, ELEMENT_urdf_link))
			continue;
		if (ARRAY_RESERVE(&self->links, (uint64_t)self->links.count + 1) != STATUS_OK)
			return source_no_memory(at->source);
		status = names_add(&self->names, at, grammar_text(at, "name"), self->links.count);
		self->links.items[self->links.count++] =
			(struct urdf_link){ at, NULL, ROBOT_NONE, ROBOT_NONE, ROBOT_NONE, 0 };
	}
	return status == STATUS_OK ? names_sort(&self->names, "link") : status;
}

static enum status find_side(const struct urdf *self, const struct xml_node *joint,
			     const char *side, uint32_t *index)
{
	const struct xml_node *node = xml_child(joint, side);
	if (node == NULL)
		return node_fail(joint, STATUS_MISSING, side, "the joint '%.32s' needs <%s>",
				 grammar_text(joint, "name"), side);
	return names_find(&self->names, "link", node, "link", grammar_text(node, "link"), index);
}

static enum status connect_links(struct urdf *self, struct xml_node *root)
{
	struct names joints = { 0 };
	enum status status = STATUS_OK;
	for (struct xml_node *at = root->first; at != NULL && status == STATUS_OK; at = at->next) {
		uint32_t parent, child;
		if (!grammar_is(at, ELEMENT_urdf_joint))
			continue;
		status = names_add(&joints, at, grammar_text(at, "name"), 0);
		if (status == STATUS_OK)
			status = find_side(self, at, "parent", &parent);
		if (status == STATUS_OK)
			status = find_side(self, at, "child", &child);
		if (status != STATUS_OK)
			break;
		struct urdf_link *link = &self->links.items[child];
		if (link->joint != NULL)
			status = node_fail(
				at, STATUS_EXISTS, "child",
				"the link '%.32s' has two parents; the other is in line %u",
				grammar_text(link->node, "name"), (unsigned)link->joint->line);
		link->joint = at;
		link->parent = parent;
	}
	if (status == STATUS_OK)
		status = names_sort(&joints, "joint");
	names_release(&joints);
	/* From the last, so that the lists of children are in the order of the file. */
	for (uint32_t i = self->links.count; i-- > 0 && status == STATUS_OK;) {
		struct urdf_link *link = &self->links.items[i];
		if (link->parent == ROBOT_NONE)
			continue;
		link->next = self->links.items[link->parent].first;
		self->links.items[link->parent].first = i;
	}
	return status;
}

static enum status find_root(const struct urdf *self, const struct xml_node *file, uint32_t *root)
{
	*root = ROBOT_NONE;
	for (uint32_t i = 0; i < self->links.count; i++) {
		const struct urdf_link *link = &self->links.items[i];
		if (link->joint != NULL)
			continue;
		if (*root != ROBOT_NONE)
			return node_fail(
				link->node, STATUS_MALFORMED, "link",
				"the link '%.24s' has no joint above it, as '%.24s' in line %u: two roots",
				grammar_text(link->node, "name"),
				grammar_text(self->links.items[*root].node, "name"),
				(unsigned)self->links.items[*root].node->line);
		*root = i;
	}
	if (self->links.count == 0)
		return node_fail(file, STATUS_MISSING, "link", "<robot> has no <link>");
	if (*root == ROBOT_NONE)
		return node_fail(self->links.items[0].joint, STATUS_BACK_REFERENCE, "child",
				 "every link is below another: '%.32s' is in a cycle",
				 grammar_text(self->links.items[0].node, "name"));
	return STATUS_OK;
}

/* ---- the whole ----------------------------------------------------------------------------- */

static enum status ask_base(const struct urdf *self, const struct xml_node *root)
{
	const struct scene_options *options = self->robot->options;
	if (self->world || (options != NULL && options->base != SCENE_BASE_UNKNOWN))
		return STATUS_OK;
	return node_fail(
		root, STATUS_MISSING, "base",
		"is '%.24s' fixed to the world? Give --base fixed|floating, or a root link "
		"'world'",
		grammar_text(root, "name"));
}

static enum status take_link(struct urdf *self, uint32_t index)
{
	struct urdf_link *from = &self->links.items[index];
	struct robot_link *link;
	enum status status = robot_link_add(self->robot, from->node, &link);
	if (status != STATUS_OK)
		return status;
	uint32_t own = self->robot->links.count - 1;
	from->taken = own + 1;
	link->name = grammar_text(from->node, "name");
	if (from->joint == NULL) {
		link->jointed = !self->world && self->robot->options->base == SCENE_BASE_FLOATING;
		if (self->world)
			link->name = NULL;
		return read_link(self, from->node, own);
	}
	link->parent = self->links.items[from->parent].taken - 1;
	link->at = pose_mul(self->robot->links.items[link->parent].at, read_origin(from->joint));
	status = read_link(self, from->node, own);
	return status == STATUS_OK ? read_joint(self, from->joint, own) : status;
}

/* Breadth first; `queue` holds as many as there are links. */
static enum status take_links(struct urdf *self, uint32_t root, uint32_t *queue)
{
	uint32_t count = 1;
	enum status status = STATUS_OK;
	queue[0] = root;
	for (uint32_t at = 0; at < count && status == STATUS_OK; at++) {
		status = take_link(self, queue[at]);
		for (uint32_t i = self->links.items[queue[at]].first; i != ROBOT_NONE;
		     i = self->links.items[i].next)
			queue[count++] = i;
	}
	for (uint32_t i = 0; i < self->links.count && status == STATUS_OK; i++)
		if (self->links.items[i].taken == 0)
			status = node_fail(self->links.items[i].joint, STATUS_BACK_REFERENCE,
					   "child",
					   "'%.32s' is in a cycle of links, away from the root",
					   grammar_text(self->links.items[i].node, "name"));
	return status;
}

static void read_compiler(struct urdf *self, const struct xml_node *root)
{
	const struct xml_node *mujoco = xml_child(root, "mujoco");
	const struct xml_node *node = mujoco != NULL ? xml_child(mujoco, "compiler") : NULL;
	if (node == NULL)
		return;
	self->mesh_folder = grammar_text(node, "meshdir");
	self->robot->balance = self->robot->balance || grammar_bool(node, "balanceinertia");
}

static enum status read_tree(struct urdf *self, struct xml_node *file)
{
	uint32_t root = ROBOT_NONE;
	enum status status = collect_links(self, file);
	if (status == STATUS_OK)
		status = connect_links(self, file);
	if (status == STATUS_OK)
		status = find_root(self, file, &root);
	if (status != STATUS_OK)
		return status;
	const struct xml_node *node = self->links.items[root].node;
	self->world = strcmp(grammar_text(node, "name"), "world") == 0;
	status = ask_base(self, node);
	if (status != STATUS_OK)
		return status;
	uint32_t *queue = heap_alloc(self->links.count * sizeof *queue);
	if (queue == NULL)
		return source_no_memory(file->source);
	status = take_links(self, root, queue);
	heap_free(queue);
	return status == STATUS_OK ? read_mimics(self) : status;
}

enum status urdf_read(struct robot *self)
{
	struct urdf urdf = { .robot = self };
	struct xml_node *file = self->tree->root;
	self->name = grammar_text(file, "name");
	read_compiler(&urdf, file);
	enum status status = read_tree(&urdf, file);
	names_release(&urdf.names);
	names_release(&urdf.colours);
	ARRAY_RELEASE(&urdf.links);
	return status;
}
