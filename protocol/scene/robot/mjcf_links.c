/* mjcf_links.c: what connects the bodies of MJCF beside its joints: actuators, equalities,
 * excluded contacts. */
#include "protocol/scene/robot/mjcf.h"

#include <string.h>

/* ---- actuators ----------------------------------------------------------------------------- */

/* The range of an attribute; `holds` is false if there is none, or it does not hold. As in MuJoCo,
 * one without width holds only if it is demanded, and then it is an error. */
static enum status read_range(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
			      const char *range, const char *limited, double out[2], bool *holds)
{
	double v[GRAMMAR_REALS_MAX];
	uint32_t word = text_word(mjcf_text(self, node, class_, limited), "false|true|auto");
	*holds = mjcf_reals(self, node, class_, range, v) > 0 && word != 0 &&
		 (word == 1 || (self->autolimits && v[0] != v[1]));
	if (!*holds)
		return STATUS_OK;
	if (!(v[0] < v[1]))
		return node_fail(node, STATUS_RANGE, range,
				 "%s [%g, %g] of <%s>: the first number must be below the second",
				 range, v[0], v[1], node->name);
	out[0] = v[0];
	out[1] = v[1];
	return STATUS_OK;
}

/* The gains of an actuator with this gear are those of its length: force gear kp (ctrl − gear q). */
static void read_gains(const struct mjcf *self, const struct xml_node *node, uint32_t class_,
		       struct robot_joint *joint, double gear)
{
	double kp[GRAMMAR_REALS_MAX] = { 0 }, kv[GRAMMAR_REALS_MAX] = { 0 };
	bool position = joint->drive == DRIVE_POSITION;
	if (position)
		mjcf_reals(self, node, class_, "kp", kp);
	mjcf_reals(self, node, class_, "kv", kv);
	joint->drive_stiffness = kp[0] * gear * gear;
	joint->drive_damping = position && !(kp[0] > 0) ? 0 : kv[0] * gear * gear;
}

/* The greatest magnitude in a range. */
static double larger_end(const double range[2])
{
	return MAX_OF(scalar_abs(range[0]), scalar_abs(range[1]));
}

static enum robot_drive drive_of(const struct xml_node *node)
{
	return grammar_is(node, ELEMENT_position)   ? DRIVE_POSITION
	       : grammar_is(node, ELEMENT_velocity) ? DRIVE_VELOCITY
						    : DRIVE_FORCE;
}

/* The target and limit of a motor: force gear · clamp(ctrl). It has no limit without both ranges. */
static void set_force(struct robot_joint *joint, double gear, double control, const double *ctrl,
		      const double *force)
{
	double most = ctrl != NULL && force != NULL ? MIN_OF(larger_end(ctrl), larger_end(force))
		      : ctrl != NULL		    ? larger_end(ctrl)
		      : force != NULL		    ? larger_end(force)
						    : 0;
	joint->target = gear * control;
	joint->drive_limit = scalar_abs(gear) * most;
	joint->drive_stiffness = joint->drive_damping = 0;
}

static enum status drive_joint(const struct mjcf *self, const struct xml_node *node,
			       uint32_t class_, struct robot_joint *joint)
{
	static const int twice = 0, idle = 0;
	enum robot_drive drive = drive_of(node);
	double gear[GRAMMAR_REALS_MAX], ctrl[2], force[2], control = 0;
	bool controls, forces;
	enum status status =
		read_range(self, node, class_, "ctrlrange", "ctrllimited", ctrl, &controls);
	if (status == STATUS_OK)
		status = read_range(self, node, class_, "forcerange", "forcelimited", force,
				    &forces);
	if (status != STATUS_OK)
		return status;
	if (joint->drive != DRIVE_NONE)
		node_note(self->robot, node, &twice,
			  "<%s> is not taken: a joint has one motor, a position before a velocity, "
			  "and that before a force",
			  node->name);
	if (joint->drive > drive || joint->drive == DRIVE_POSITION)
		return STATUS_OK;
	mjcf_reals(self, node, class_, "gear", gear);
	if (gear[0] == 0) {
		node_note(self->robot, node, &idle,
			  "<%s> is not taken: with a gear of 0 it exerts nothing", node->name);
		return STATUS_OK;
	}
	if (controls)
		control = MIN_OF(MAX_OF(control, ctrl[0]), ctrl[1]);
	joint->drive = drive;
	if (drive == DRIVE_FORCE) {
		set_force(joint, gear[0], control, controls ? ctrl : NULL, forces ? force : NULL);
		return STATUS_OK;
	}
	joint->target = control / gear[0];
	if (drive == DRIVE_POSITION)
		joint->target -= joint->ref;
	joint->drive_limit = forces ? scalar_abs(gear[0]) * larger_end(force) : 0;
	read_gains(self, node, class_, joint, gear[0]);
	return STATUS_OK;
}

/* Whether an actuator has an attribute for what it acts on in place of a joint, which has been noted. */
static bool acts_elsewhere(const struct xml_node *node)
{
	static const char *const WORDS[] = { "jointinparent", "site", "body", "cranksite" };
	for (uint32_t i = 0; i < COUNT_OF(WORDS); i++)
		if (xml_attribute(node, WORDS[i]) != NULL)
			return true;
	return false;
}

static enum status read_actuator(const struct mjcf *self, const struct xml_node *node)
{
	static const int other = 0;
	uint32_t class_, index;
	enum status status = mjcf_class_of(self, node, 0, &class_);
	const char *name = status == STATUS_OK ? mjcf_text(self, node, class_, "joint") : NULL;
	if (status != STATUS_OK || (name == NULL && acts_elsewhere(node)))
		return status;
	if (name == NULL)
		return node_fail(node, STATUS_MISSING, "joint",
				 "<%s> acts on nothing: name its joint", node->name);
	status = names_find(&self->joints, "joint", node, "joint", name, &index);
	if (status != STATUS_OK)
		return status;
	if (index == ROBOT_NONE || self->robot->joints.items[index].type == ROBOT_BALL)
		node_note(self->robot, node, &other,
			  "<%s> is not taken: only a hinge or a slide has a motor", node->name);
	else
		return drive_joint(self, node, class_, &self->robot->joints.items[index]);
	return STATUS_OK;
}

/* ---- equalities and contacts --------------------------------------------------------------- */

static enum status find_body(const struct mjcf *self, const struct xml_node *node, const char *key,
			     uint32_t *out)
{
	const char *name = grammar_text(node, key);
	*out = ROBOT_NONE;
	if (name == NULL || strcmp(name, "world") == 0)
		return STATUS_OK;
	return names_find(&self->bodies, "body", node, key, name, out);
}

static vec3 position_of(const struct robot *robot, uint32_t link)
{
	return link != ROBOT_NONE ? robot->links.items[link].at.position : vec3_zero();
}

static enum status read_loop(const struct mjcf *self, const struct xml_node *node,
			     enum robot_tie tie)
{
	struct robot *robot = self->robot;
	struct robot_loop loop = { .node = node, .tie = tie };
	if (tie != TIE_PASS && !grammar_bool(node, "active"))
		return STATUS_OK;
	enum status status = find_body(self, node, "body1", &loop.a);
	if (status == STATUS_OK)
		status = find_body(self, node, "body2", &loop.b);
	if (status != STATUS_OK)
		return status;
	if (loop.a == loop.b)
		return node_fail(node, STATUS_RANGE, "body2",
				 "<%s> names '%.63s' twice; give two bodies", node->name,
				 grammar_text(node, "body1"));
	loop.anchor = position_of(robot, loop.b);
	if (tie == TIE_CONNECT) {
		double v[GRAMMAR_REALS_MAX];
		grammar_reals(node, "anchor", v);
		pose at = loop.a != ROBOT_NONE ? robot->links.items[loop.a].at : pose_identity();
		loop.anchor = pose_point(at, vec3_make(v[0], v[1], v[2]));
	}
	if (ARRAY_RESERVE(&robot->loops, (uint64_t)robot->loops.count + 1) != STATUS_OK)
		return source_no_memory(node->source);
	robot->loops.items[robot->loops.count++] = loop;
	return STATUS_OK;
}

/* An equality of joints; without a second one a lock. */
static enum status read_coupling(const struct mjcf *self, const struct xml_node *node)
{
	double c[GRAMMAR_REALS_MAX] = { 0 };
	uint32_t first, second = ROBOT_NONE;
	const char *other = grammar_text(node, "joint2");
	if (!grammar_bool(node, "active"))
		return STATUS_OK;
	grammar_reals(node, "polycoef", c);
	enum status status = names_find(&self->joints, "joint", node, "joint1",
					grammar_text(node, "joint1"), &first);
	if (status == STATUS_OK && other != NULL)
		status = names_find(&self->joints, "joint", node, "joint2", other, &second);
	if (status != STATUS_OK)
		return status;
	for (uint32_t k = 2; k < 5; k++)
		if (c[k] != 0 && other != NULL)
			return node_fail(node, STATUS_UNSUPPORTED, "polycoef",
					 "coefficient %u of polycoef is %g: gears are linear, give "
					 "the first two alone",
					 (unsigned)k + 1, c[k]);
	if (other != NULL && c[1] != 0)
		return robot_gear(self->robot, node, first, second, c[1], c[0]);
	struct robot_joint *joint = first == ROBOT_NONE ? NULL : &self->robot->joints.items[first];
	if (joint == NULL || (joint->type != ROBOT_HINGE && joint->type != ROBOT_SLIDE))
		return node_fail(node, STATUS_RANGE, "joint1",
				 "<%s> holds a joint that is no hinge and no slide", node->name);
	joint->limited = true;
	joint->lower = joint->upper = c[0];
	return STATUS_OK;
}

static enum status read_connection(const struct mjcf *self, const struct xml_node *node)
{
	if (grammar_is(node, ELEMENT_position) || grammar_is(node, ELEMENT_velocity) ||
	    grammar_is(node, ELEMENT_motor))
		return read_actuator(self, node);
	if (grammar_is(node, ELEMENT_exclude))
		return read_loop(self, node, TIE_PASS);
	if (grammar_is(node, ELEMENT_connect))
		return read_loop(self, node, TIE_CONNECT);
	if (grammar_is(node, ELEMENT_coupling))
		return read_coupling(self, node);
	ASSERT(grammar_is(node, ELEMENT_weld));
	return read_loop(self, node, TIE_WELD);
}

enum status mjcf_connections(struct mjcf *self)
{
	const struct xml_node *root = self->robot->tree->root;
	enum status status = STATUS_OK;
	for (struct xml_node *section = root->first; section != NULL; section = section->next) {
		if (!grammar_is(section, ELEMENT_actuator) &&
		    !grammar_is(section, ELEMENT_equality) && !grammar_is(section, ELEMENT_contact))
			continue;
		for (struct xml_node *at = section->first; at != NULL && status == STATUS_OK;
		     at = at->next)
			status = read_connection(self, at);
	}
	return status;
}
