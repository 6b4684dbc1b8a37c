/* mjcf_defaults.c: classes of defaults, and the values of attributes through them. */
#include "protocol/scene/robot/mjcf.h"

#include <string.h>

/* ---- classes ------------------------------------------------------------------------------- */

static enum status add_class(struct mjcf *self, struct xml_node *node, const char *name,
			     uint32_t parent)
{
	if (self->classes.count == MJCF_CLASSES_MAX)
		return node_fail(node, STATUS_LIMIT, "default", "more than %d classes of defaults",
				 MJCF_CLASSES_MAX);
	if (ARRAY_RESERVE(&self->classes, (uint64_t)self->classes.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	node->mark = self->classes.count;
	self->classes.items[self->classes.count++] =
		(struct mjcf_class){ name, parent, node, ROBOT_NONE };
	return STATUS_OK;
}

/* A default of the file itself: the first makes the first class, others continue it. */
static enum status add_main(struct mjcf *self, struct xml_node *node)
{
	enum status status = add_class(self, node, "main", ROBOT_NONE);
	if (status != STATUS_OK || node->mark == 0)
		return status;
	uint32_t at = 0;
	while (self->classes.items[at].more != ROBOT_NONE)
		at = self->classes.items[at].more;
	self->classes.items[at].more = node->mark;
	return STATUS_OK;
}

static enum status add_default(struct mjcf *self, struct xml_node *node)
{
	const char *name = grammar_text(node, "class");
	if (grammar_is(node->parent, ELEMENT_mujoco))
		return add_main(self, node);
	if (name == NULL)
		return node_fail(node, STATUS_MISSING, "class",
				 "a <default> in another one needs the attribute 'class'");
	enum status status = add_class(self, node, name, node->parent->mark);
	return status == STATUS_OK ? names_add(&self->class_names, node, name, node->mark) : status;
}

enum status mjcf_classes(struct mjcf *self)
{
	struct xml_node *root = self->robot->tree->root;
	enum status status = STATUS_OK;
	for (struct xml_node *at = root; at != NULL && status == STATUS_OK;
	     at = xml_next(root, at, false))
		if (grammar_is(at, ELEMENT_default))
			status = add_default(self, at);
	return status == STATUS_OK ? names_sort(&self->class_names, "class") : status;
}

enum status mjcf_class_of(const struct mjcf *self, const struct xml_node *node, uint32_t around,
			  uint32_t *out)
{
	const char *name = grammar_text(node, "class");
	*out = around;
	if (name == NULL)
		return STATUS_OK;
	if (strcmp(name, "main") == 0) {
		*out = 0;
		return STATUS_OK;
	}
	return names_find(&self->class_names, "class", node, "class", name, out);
}

/* The value in a class, also of a name that its elements share; NULL: none. */
static const char *class_value(const struct mjcf *self, uint32_t class_, const char *element,
			       const char *name)
{
	const char *value = NULL;
	for (uint32_t at = class_; at != ROBOT_NONE; at = self->classes.items[at].more) {
		const struct xml_node *node = xml_child(self->classes.items[at].node, element);
		const char *own = node != NULL ? xml_attribute(node, name) : NULL;
		value = own != NULL ? own : value;
	}
	return value;
}

/* The value, and how far from the element it was found: 0 for its own. */
static const char *find_value(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			      const char *name, uint32_t *level)
{
	const char *value = xml_attribute(node, name);
	*level = 0;
	uint32_t at = self->classes.count > 0 ? class_ : ROBOT_NONE;
	for (; value == NULL && at != ROBOT_NONE; at = self->classes.items[at].parent) {
		value = class_value(self, at, node->name, name);
		++*level;
	}
	return value;
}

const char *mjcf_text(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		      const char *name)
{
	uint32_t level;
	const char *value = find_value(self, node, class_, name, &level);
	return value != NULL ? value : grammar_text(node, name);
}

uint32_t mjcf_reals(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		    const char *name, double out[GRAMMAR_REALS_MAX])
{
	return text_reals(mjcf_text(self, node, class_, name), out);
}

double mjcf_real(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		 const char *name)
{
	double values[GRAMMAR_REALS_MAX];
	uint32_t count = mjcf_reals(self, node, class_, name, values);
	ASSERT(count > 0);
	return values[0];
}

/* ---- rotations ----------------------------------------------------------------------------- */

quat mjcf_turn_z(vec3 to)
{
	/* Opposite: about x, as MuJoCo does. */
	return to.z < -1 + 1e-14 ? quat_make(0, 1, 0, 0) : quat_between(vec3_axis(2), to);
}

/* The rotation with the columns x, y, z, by its largest part (Shepperd). */
static quat quat_of_axes(vec3 x, vec3 y, vec3 z)
{
	double parts[4] = { 1 + x.x + y.y + z.z, 1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z,
			    1 - x.x - y.y + z.z };
	uint32_t most = 0;
	for (uint32_t i = 1; i < 4; i++)
		most = parts[i] > parts[most] ? i : most;
	quat rows[4] = { quat_make(parts[0], y.z - z.y, z.x - x.z, x.y - y.x),
			 quat_make(y.z - z.y, parts[1], y.x + x.y, z.x + x.z),
			 quat_make(z.x - x.z, y.x + x.y, parts[2], z.y + y.z),
			 quat_make(x.y - y.x, z.x + x.z, z.y + y.z, parts[3]) };
	return quat_normalize(rows[most]);
}

static enum status by_axes(const struct xml_node *node, const double v[], quat *out)
{
	vec3 x, y;
	enum status status = robot_axis(node, v, &x);
	if (status != STATUS_OK)
		return status;
	vec3 along = vec3_make(v[3], v[4], v[5]);
	along = vec3_mul_sub(along, x, vec3_dot(along, x));
	status = robot_axis(node, (double[]){ along.x, along.y, along.z }, &y);
	if (status == STATUS_OK)
		*out = quat_of_axes(x, y, vec3_cross(x, y));
	return status;
}

static quat by_euler(const struct mjcf *self, const double v[])
{
	quat out = quat_identity();
	for (uint32_t i = 0; i < 3; i++) {
		char letter = self->eulerseq[i];
		bool fixed = letter < 'a';
		uint32_t axis = (uint32_t)(letter - (fixed ? 'X' : 'x'));
		quat turn = quat_from_axis_angle(vec3_axis(axis), v[i] * self->angle);
		out = fixed ? quat_mul(turn, out) : quat_mul(out, turn);
	}
	return quat_normalize(out);
}

enum status mjcf_rotation(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			  quat *out)
{
	static const char *const names[] = { "quat", "axisangle", "xyaxes", "zaxis", "euler" };
	double v[GRAMMAR_REALS_MAX] = { 0 };
	const char *text = NULL;
	uint32_t kind = 0, nearest = UINT32_MAX;
	vec3 axis;
	*out = quat_identity();
	for (uint32_t i = 0; i < COUNT_OF(names); i++) {
		uint32_t level;
		const char *value = find_value(self, node, class_, names[i], &level);
		if (value != NULL && level == nearest)
			return node_fail(node, STATUS_EXISTS, names[i],
					 "'%s' and '%s' of <%s> exclude each other", names[kind],
					 names[i], node->name);
		if (value == NULL || level > nearest)
			continue;
		text = value;
		kind = i;
		nearest = level;
	}
	if (text == NULL)
		return STATUS_OK;
	text_reals(text, v);
	if (kind == 0) {
		double length = quat_length(quat_make(v[0], v[1], v[2], v[3]));
		if (!(length > 1e-9))
			return node_fail(node, STATUS_DEGENERATE, "quat",
					 "the quaternion of <%s> has length %g", node->name,
					 length);
		*out = quat_normalize(quat_make(v[0], v[1], v[2], v[3]));
		return STATUS_OK;
	}
	if (kind == 2)
		return by_axes(node, v, out);
	if (kind == 4) {
		*out = by_euler(self, v);
		return STATUS_OK;
	}
	enum status status = robot_axis(node, v, &axis);
	if (status == STATUS_OK)
		*out = kind == 1 ? quat_from_axis_angle(axis, v[3] * self->angle)
				 : mjcf_turn_z(axis);
	return status;
}
