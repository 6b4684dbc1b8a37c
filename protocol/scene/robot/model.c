/* model.c: parts of a robot that both formats share: names, shapes, mesh files. */
#include "protocol/scene/robot/model.h"

#include <stdio.h>
#include <string.h>

#include "protocol/scene/mesh.h"
#include "server/base/sort.h"
#include "server/base/suggestion.h"

#define PI 3.14159265358979323846

/* ---- names --------------------------------------------------------------------------------- */

enum status names_add(struct names *self, const struct xml_node *node, const char *name,
		      uint32_t index)
{
	if (ARRAY_RESERVE(&self->list, (uint64_t)self->list.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	self->list.items[self->list.count++] = (struct name_entry){ name, node, index };
	return STATUS_OK;
}

static int compare_names(const void *a, const void *b, void *context)
{
	UNUSED(context);
	return strcmp(((const struct name_entry *)a)->name, ((const struct name_entry *)b)->name);
}

enum status names_sort(struct names *self, const char *what)
{
	uint32_t count = self->list.count;
	if (count < 2)
		return STATUS_OK;
	struct name_entry *scratch = heap_alloc(count * sizeof *scratch);
	if (scratch == NULL)
		return source_no_memory(self->list.items[0].node->source);
	sort_items(self->list.items, scratch, count, sizeof *scratch, compare_names, NULL);
	heap_free(scratch);
	for (uint32_t i = 1; i < count; i++) {
		const struct name_entry *first = &self->list.items[i - 1];
		const struct name_entry *second = &self->list.items[i];
		if (strcmp(first->name, second->name) == 0)
			return node_fail(second->node, STATUS_EXISTS, "name",
					 "%s '%.32s' is there twice, first in line %u", what,
					 second->name, (unsigned)first->node->line);
	}
	return STATUS_OK;
}

enum status names_find_entry(const struct names *self, const char *what, const struct xml_node *use,
			     const char *field, const char *name, const struct name_entry **out)
{
	uint32_t low = 0, high = self->list.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (strcmp(self->list.items[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < self->list.count && strcmp(self->list.items[low].name, name) == 0) {
		*out = &self->list.items[low];
		return STATUS_OK;
	}
	char room[64];
	struct suggestion suggestion = suggestion_for(name);
	for (uint32_t i = 0; i < self->list.count; i++)
		suggestion_offer(&suggestion, self->list.items[i].name);
	return node_fail(use, STATUS_MISSING, field, "<%s> %s: no %s has the name '%.32s'%s",
			 use->name, field, what, name,
			 suggestion_text(&suggestion, room, sizeof room));
}

enum status names_find(const struct names *self, const char *what, const struct xml_node *use,
		       const char *field, const char *name, uint32_t *index)
{
	const struct name_entry *entry;
	enum status status = names_find_entry(self, what, use, field, name, &entry);
	if (status == STATUS_OK)
		*index = entry->index;
	return status;
}

void names_release(struct names *self)
{
	ARRAY_RELEASE(&self->list);
}

/* ---- links and joints ---------------------------------------------------------------------- */

enum status robot_link_add(struct robot *self, const struct xml_node *node, struct robot_link **out)
{
	if (self->links.count == ROBOT_LINKS_MAX)
		return node_fail(node, STATUS_LIMIT, node->name,
				 "more than %d links, the most names that a scene has",
				 ROBOT_LINKS_MAX);
	if (ARRAY_RESERVE(&self->links, (uint64_t)self->links.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	uint32_t index = self->links.count++;
	*out = &self->links.items[index];
	**out = (struct robot_link){ .node = node,
				     .parent = ROBOT_NONE,
				     .at = pose_identity(),
				     .into = index,
				     .weld = index,
				     .colour = -1,
				     .gravity_scale = 1 };
	return STATUS_OK;
}

enum status robot_joint_add(struct robot *self, const struct xml_node *node,
			    struct robot_joint **out)
{
	if (ARRAY_RESERVE(&self->joints, (uint64_t)self->joints.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	*out = &self->joints.items[self->joints.count++];
	**out = (struct robot_joint){ .node = node };
	return STATUS_OK;
}

enum status robot_axis(const struct xml_node *node, const double v[3], vec3 *out)
{
	double length;
	*out = vec3_normalize_length(vec3_make(v[0], v[1], v[2]), &length);
	if (length > 1e-9)
		return STATUS_OK;
	return node_fail(node, STATUS_DEGENERATE, "axis",
			 "the axis of <%s> has length %g; it must be at least 1e-09", node->name,
			 length);
}

/* ---- shapes -------------------------------------------------------------------------------- */

double shape_volume(enum robot_shape shape, vec3 size)
{
	double r = size.x, ball = 4.0 / 3.0 * PI;
	switch (shape) {
	case SHAPE_SPHERE:
		return ball * r * r * r;
	case SHAPE_CAPSULE:
		return ball * r * r * r + 2 * PI * r * r * size.y;
	case SHAPE_CYLINDER:
		return 2 * PI * r * r * size.y;
	case SHAPE_ELLIPSOID:
		return ball * size.x * size.y * size.z;
	case SHAPE_BOX:
		return 8 * size.x * size.y * size.z;
	case SHAPE_PLANE:
	case SHAPE_MESH:
		break;
	}
	return 0;
}

static vec3 moments_round(double mass, double rr, double along)
{
	return vec3_make(along, along, mass * rr / 2);
}

/* Of a capsule: a cylinder and two half balls, whose centres are 3 r/8 from their faces. */
static vec3 moments_capsule(double mass, double r, double half)
{
	double h = 2 * half, ball = mass * 4 * r / (4 * r + 3 * h), tube = mass - ball;
	double across =
		tube * (3 * r * r + h * h) / 12 + ball * (0.4 * r * r + h * (3 * r + 2 * h) / 8);
	return vec3_make(across, across, tube * r * r / 2 + ball * 0.4 * r * r);
}

void geom_weigh(struct robot_geom *geom, double mass)
{
	vec3 s = geom->size, moments = vec3_zero();
	vec3 squares = vec3_hadamard(s, s);
	double boxes = geom->shape == SHAPE_BOX ? 1.0 / 3.0 : 0.2;
	switch (geom->shape) {
	case SHAPE_SPHERE:
		moments = vec3_all(0.4 * mass * squares.x);
		break;
	case SHAPE_CAPSULE:
		moments = moments_capsule(mass, s.x, s.y);
		break;
	case SHAPE_CYLINDER:
		moments =
			moments_round(mass, squares.x, mass * (3 * squares.x + 4 * squares.y) / 12);
		break;
	case SHAPE_ELLIPSOID:
	case SHAPE_BOX:
		moments = vec3_scale(vec3_make(squares.y + squares.z, squares.x + squares.z,
					       squares.x + squares.y),
				     boxes * mass);
		break;
	case SHAPE_PLANE:
	case SHAPE_MESH:
		break;
	}
	geom->mass = mass;
	geom->inertia = tensor_diagonal(moments);
}

int32_t robot_colour(const double rgba[])
{
	int32_t colour = 0;
	for (uint32_t i = 0; i < 3; i++) {
		double part = rgba[i] < 0 ? 0 : rgba[i] > 1 ? 1 : rgba[i];
		colour = colour << 8 | (int32_t)(part * 255 + 0.5);
	}
	return colour;
}

/* ---- mesh files ---------------------------------------------------------------------------- */

static enum status keep_file(const struct xml_node *node, const char *folder, const char *name,
			     char out[ROBOT_PATH_MAX])
{
	bool joined = folder != NULL && folder[0] != '\0';
	bool slash = joined && folder[strlen(folder) - 1] != '/';
	int length = snprintf(out, ROBOT_PATH_MAX, "%s%s%s", joined ? folder : "", slash ? "/" : "",
			      name);
	if (length < ROBOT_PATH_MAX)
		return STATUS_OK;
	return node_fail(node, STATUS_TOO_LARGE, "file",
			 "the name of a mesh has more than %d bytes", ROBOT_PATH_MAX - 1);
}

enum status robot_mesh_file(const struct robot *self, const struct xml_node *node,
			    const char *folder, const char *name, char out[ROBOT_PATH_MAX])
{
	static const char package[] = "package://";
	if (strncmp(name, package, sizeof package - 1) != 0)
		return strstr(name, "://") == NULL
			       ? keep_file(node, folder, name, out)
			       : node_fail(node, STATUS_UNSUPPORTED, "file",
					   "'%.40s': meshes are files beside the robot's or in "
					   "CAIRN_MESH_PATH",
					   name);
	/* The package's folder may be one of the roots, or hold the robot's file. */
	name += sizeof package - 1;
	const char *slash = strchr(name, '/');
	if (slash != NULL && self->base != NULL && !mesh_exists(self->base, name))
		name = slash + 1;
	return keep_file(node, NULL, name, out);
}

enum status robot_gear(struct robot *self, const struct xml_node *node, uint32_t joint,
		       uint32_t leader, double ratio, double offset)
{
	const uint32_t ends[2] = { joint, leader };
	for (uint32_t k = 0; k < 2; k++) {
		enum robot_joint_type type =
			ends[k] == ROBOT_NONE ? ROBOT_FIXED : self->joints.items[ends[k]].type;
		if (type != ROBOT_HINGE && type != ROBOT_SLIDE)
			return node_fail(node, STATUS_RANGE, "joint",
					 "<%s> couples a joint that is no hinge and no slide",
					 node->name);
	}
	if (joint == leader)
		return node_fail(node, STATUS_RANGE, "joint",
				 "<%s> couples a joint with itself; give another one", node->name);
	if (self->joints.items[joint].gear != NULL) {
		leader = ends[0];
		joint = ends[1];
		offset = -offset / ratio;
		ratio = 1 / ratio;
	}
	struct robot_joint *out = &self->joints.items[joint];
	if (out->gear != NULL)
		return node_fail(node, STATUS_EXISTS, "joint",
				 "both joints of <%s> follow another one already: a joint follows "
				 "one, so couple each to the same leader",
				 node->name);
	out->gear = node;
	out->leader = leader;
	out->gear_ratio = ratio;
	out->gear_offset = offset;
	return STATUS_OK;
}
