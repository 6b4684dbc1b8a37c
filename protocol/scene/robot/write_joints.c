/* write_joints.c: the joints of a robot as entries of a scene.
 *
 * MJCF puts several joints on a body: the first moves the body and the others' axes, and so
 * on. A run of them is one joint of a scene if slides come before hinges, the hinges share an
 * anchor, and all axes are those of one orthonormal frame with the hinges about x, then y,
 * then z: that is how a six_dof is made. Otherwise a link of the body's own stands between two
 * runs.
 */
#include "protocol/scene/robot/write.h"

#include <stdio.h>
#include <string.h>

/* A run of joints that is one joint. */
struct joint_run {
	uint32_t first, count;
	vec3 frame[3];	  /* x, y, z */
	uint32_t axis[6]; /* for each of its joints: 0 … 2 a slide along, 3 … 5 a hinge about */
	double sign[6];	  /* of its axis in the frame */
	uint32_t slides, hinges;
	vec3 anchor;
};

static bool parallel(vec3 a, vec3 b)
{
	return scalar_abs(vec3_dot(a, b)) > 1 - 1e-12;
}

static bool perpendicular(vec3 a, vec3 b)
{
	return scalar_abs(vec3_dot(a, b)) < 1e-9;
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Whether a joint can follow those of a run, by its kind and axis. */
static bool extends(const struct robot *robot, const struct joint_run *run,
		    const struct robot_joint *joint)
{
	bool hinge = joint->type == ROBOT_HINGE;
	if (joint->type != ROBOT_HINGE && joint->type != ROBOT_SLIDE)
		return false;
	if (hinge ? run->hinges == 3 : run->hinges > 0 || run->slides == 3)
		return false;
	for (uint32_t i = 0; i < run->count; i++) {
		const struct robot_joint *before = &robot->joints.items[run->first + i];
		if (before->type != ROBOT_HINGE && before->type != ROBOT_SLIDE)
			return false;
		bool fits = perpendicular(before->axis, joint->axis) ||
			    (before->type != joint->type && parallel(before->axis, joint->axis));
		if (!fits || (before->type == ROBOT_HINGE && hinge &&
			      vec3_distance(before->anchor, joint->anchor) > 1e-9))
			return false;
	}
	return true;
}

static struct joint_run find_run(const struct robot *robot, uint32_t first, uint32_t end)
{
	struct joint_run run = { .first = first };
	while (first + run.count < end &&
	       (run.count == 0 || extends(robot, &run, &robot->joints.items[first + run.count]))) {
		const struct robot_joint *joint = &robot->joints.items[first + run.count++];
		run.hinges += joint->type == ROBOT_HINGE;
		run.slides += joint->type == ROBOT_SLIDE;
		if (run.hinges <= 1)
			run.anchor = joint->anchor;
	}
	return run;
}

/* x and y of the first two hinges, then of slides; z completes them. */
static void choose_frame(const struct robot *robot, struct joint_run *run)
{
	uint32_t axes = 0;
	for (uint32_t pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; i < run->count && axes < 2; i++) {
			const struct robot_joint *joint = &robot->joints.items[run->first + i];
			bool now = (joint->type == ROBOT_HINGE) == (pass == 0);
			if (now && (axes == 0 || perpendicular(run->frame[0], joint->axis)))
				run->frame[axes++] = joint->axis;
		}
	if (axes < 2) {
		vec3 other;
		vec3_frame(run->frame[0], &run->frame[1], &other);
	}
	run->frame[2] = vec3_normalize(vec3_cross(run->frame[0], run->frame[1]));
}

/* The place of each joint in the frame. */
static void place_joints(const struct robot *robot, struct joint_run *run)
{
	for (uint32_t i = 0; i < run->count; i++) {
		const struct robot_joint *joint = &robot->joints.items[run->first + i];
		uint32_t most = 0;
		for (uint32_t k = 1; k < 3; k++)
			if (scalar_abs(vec3_dot(joint->axis, run->frame[k])) >
			    scalar_abs(vec3_dot(joint->axis, run->frame[most])))
				most = k;
		run->axis[i] = most + (joint->type == ROBOT_HINGE ? 3 : 0);
		run->sign[i] = vec3_dot(joint->axis, run->frame[most]) < 0 ? -1 : 1;
	}
}

uint32_t joint_helpers(const struct robot *robot, uint32_t index)
{
	const struct robot_link *link = &robot->links.items[robot->links.items[index].mover];
	uint32_t runs = 0, end = link->joint_first + link->joint_count;
	for (uint32_t at = link->joint_first; at < end; runs++)
		at += find_run(robot, at, end).count;
	return runs > 0 ? runs - 1 : 0;
}

enum status robot_check_helpers(const struct robot *robot)
{
	double share = robot->helper_share;
	for (uint32_t i = 0; i < robot->links.count; i++) {
		const struct robot_link *link = &robot->links.items[i];
		uint32_t helpers = link->into == i && !link->still ? joint_helpers(robot, i) : 0;
		if (share * helpers > 0.5)
			return node_fail(
				link->node, STATUS_RANGE, "joint",
				"%u links between joints of '%.32s' have more than half of its "
				"mass with a joint_link_share of %g",
				(unsigned)helpers, link->name, share);
		if (helpers > 0 && link->mass * share < MASS_MIN)
			return node_fail(
				link->node, STATUS_RANGE, "mass",
				"a link between joints of '%.32s' would have less than %g kg; "
				"joint_link_share must be %.3g at least",
				link->name, MASS_MIN, MASS_MIN / link->mass);
	}
	return STATUS_OK;
}

static const char *side_name(const struct robot *robot, uint32_t link)
{
	if (link == ROBOT_NONE)
		return "";
	const char *name = robot->links.items[robot->links.items[link].into].name;
	return name != NULL ? name : "";
}

/* The name of a run's joint: its only joint's, or what the names of its joints begin with in common,
 * or that of its body. Empty: it has none. */
static void name_run(const struct robot *robot, const struct joint_run *run, const char *body,
		     char name[64])
{
	const struct robot_joint *joints = &robot->joints.items[run->first];
	snprintf(name, 64, "%s", joints->name != NULL ? joints->name : "");
	size_t common = strlen(name);
	for (uint32_t i = 1; i < run->count; i++) {
		const char *other = joints[i].name != NULL ? joints[i].name : "";
		size_t at = 0;
		while (at < common && name[at] == other[at])
			at++;
		common = at;
	}
	while (run->count > 1 && common > 0 && strchr("_-. /", name[common - 1]) != NULL)
		common--;
	name[common] = '\0';
	if (common == 0)
		snprintf(name, 64, "%s", body);
}

/* ---- gears --------------------------------------------------------------------------------- */

static const char *const AXIS_WORDS[] = { "x", "y", "z", "rx", "ry", "rz" };

/* The body at the end of run `number` of a link. */
static void name_end(const struct robot *robot, uint32_t link, uint32_t number, bool last,
		     char name[96])
{
	const char *body = side_name(robot, link);
	snprintf(name, 96, last ? "%.80s" : "%.80s/%u", body, (unsigned)number + 1);
}

/* Looks for the run of joint `index`, or, with ROBOT_NONE, counts the runs that `name` has. */
static uint32_t search_runs(const struct robot *robot, uint32_t index, char name[64],
			    struct joint_run *out)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < robot->links.count; i++) {
		const struct robot_link *link = &robot->links.items[i];
		uint32_t end = link->joint_first + link->joint_count, number = 0;
		for (uint32_t at = link->joint_first; at < end; number++) {
			struct joint_run run = find_run(robot, at, end);
			char body[96], own[64];
			at += run.count;
			name_end(robot, i, number, at == end, body);
			name_run(robot, &run, body, own);
			if (index == ROBOT_NONE) {
				count += strcmp(own, name) == 0;
			} else if (run.first <= index && index < at) {
				memcpy(name, own, sizeof own);
				*out = run;
				return 1;
			}
		}
	}
	return count;
}

/* Appends the gear of an axis; the signs are those of the axes in the frames of their joints. */
static bool put_gear(struct pen *pen, const struct robot_joint *joint, double sign,
		     const char *comma)
{
	static const int twice = 0;
	struct joint_run run;
	char name[64] = "";
	if (joint->gear == NULL || search_runs(pen->robot, joint->leader, name, &run) == 0)
		return false;
	if (search_runs(pen->robot, ROBOT_NONE, name, NULL) != 1) {
		node_note(pen->robot, joint->gear, &twice,
			  "<%s> is not taken: several joints have the name '%.32s' in the scene; "
			  "give them names of their own",
			  joint->gear->name, name);
		return false;
	}
	choose_frame(pen->robot, &run);
	place_joints(pen->robot, &run);
	double both = sign * (run.count > 1 ? run.sign[joint->leader - run.first] : 1);
	pen_put(pen, "%sgear: { leader: ", comma);
	pen_quote(pen, name);
	if (run.count > 1)
		pen_put(pen, ", axis: %s", AXIS_WORDS[run.axis[joint->leader - run.first]]);
	pen_real(pen, ", ratio: ", both * joint->gear_ratio);
	pen_real(pen, ", offset: ", sign * joint->gear_offset);
	pen_put(pen, " }");
	return true;
}

/* ---- one axis ------------------------------------------------------------------------------ */

/* The properties of an axis, without braces; returns whether there are any. */
static bool put_axis(struct pen *pen, const struct robot_joint *joint, double sign,
		     const char *before)
{
	const char *comma = before;
	double lower = sign < 0 ? -joint->upper : joint->lower;
	double upper = sign < 0 ? -joint->lower : joint->upper;
	if (joint->limited) {
		pen_put(pen, "%slimits: ", comma);
		pen_reals(pen, "[", (double[]){ lower, upper }, 2);
		comma = ", ";
	}
	if (joint->friction > 0) {
		pen_put(pen, "%sfriction: ", comma);
		pen_real(pen, "", joint->friction);
		comma = ", ";
	}
	if (joint->stiffness > 0 || joint->damping > 0) {
		pen_put(pen, "%sspring: { ", comma);
		pen_real(pen, "stiffness: ", joint->stiffness);
		pen_real(pen, ", damping: ", joint->damping);
		pen_real(pen, ", rest: ", joint->stiffness > 0 ? sign * joint->rest : 0);
		pen_put(pen, " }");
		comma = ", ";
	}
	if (joint->drive != DRIVE_NONE) {
		static const char *const KEYS[] = { [DRIVE_FORCE] = "force",
						    [DRIVE_VELOCITY] = "velocity",
						    [DRIVE_POSITION] = "position" };
		pen_put(pen, "%smotor: { %s: ", comma, KEYS[joint->drive]);
		pen_real(pen, "", sign * joint->target);
		pen_real(pen, ", limit: ", joint->drive_limit);
		if (joint->drive_stiffness > 0)
			pen_real(pen, ", stiffness: ", joint->drive_stiffness);
		if (joint->drive_damping > 0)
			pen_real(pen, ", damping: ", joint->drive_damping);
		pen_put(pen, " }");
		comma = ", ";
	}
	if (joint->armature > 0 && joint->type != ROBOT_BALL) {
		pen_put(pen, "%sarmature: ", comma);
		pen_real(pen, "", joint->armature);
		comma = ", ";
	}
	return put_gear(pen, joint, sign, comma) || comma != before;
}

static void put_named_axis(struct pen *pen, const char *word, const struct robot_joint *joint,
			   double sign)
{
	pen_put(pen, "\n      %s: { ", word);
	put_axis(pen, joint, sign, "");
	pen_put(pen, " },");
}

static void put_run_name(struct pen *pen, const struct joint_run *run, const char *body)
{
	char name[64];
	name_run(pen->robot, run, body, name);
	if (name[0] == '\0')
		return;
	pen_put(pen, ", name: ");
	pen_quote(pen, name);
}

/* The file's name of a joint as a comment. */
static void put_comment(struct pen *pen, const struct robot_joint *joint)
{
	if (joint->name == NULL)
		return;
	pen_put(pen, " # ");
	for (const char *at = joint->name; *at != '\0'; at++)
		pen_put(pen, "%c", *at < 32 || *at > 126 ? '?' : *at);
}

/* ---- one joint ----------------------------------------------------------------------------- */

/* The sides of a run: bodies by name, empty for the world. */
static void put_sides(struct pen *pen, const char *a, const char *b)
{
	if (a[0] != '\0') {
		pen_put(pen, ", a: ");
		pen_quote(pen, a);
	}
	pen_put(pen, ", b: ");
	pen_quote(pen, b);
}

static void put_anchor(struct pen *pen, const struct joint_run *run)
{
	pen_vector(pen, "at", turn_up(run->anchor));
	pen_vector(pen, "axis", turn_up(run->frame[0]));
	pen_vector(pen, "across", turn_up(run->frame[2]));
}

static const char *run_type(const struct joint_run *run, const struct robot_joint *first)
{
	static const char *const types[] = { "revolute", "prismatic", "spherical" };
	return run->count > 1 || first->type == ROBOT_PLANAR ? "six_dof" : types[first->type];
}

/* Twist and swing of a ball joint: its spring, damping and friction act on both. */
static void put_ball(struct pen *pen, const struct robot_joint *joint)
{
	static const int both = 0, rotor = 0;
	struct robot_joint twist = *joint;
	twist.limited = false;
	put_named_axis(pen, "twist", &twist, 1);
	put_named_axis(pen, "swing", joint, 1);
	if (joint->armature > 0)
		node_note(pen->robot, joint->node, &rotor,
			  "armature of a ball joint is not taken: rotors turn about axes");
	if (joint->stiffness > 0)
		node_note(pen->robot, joint->node, &both,
			  "the spring of a ball joint acts on its twist and its swing");
}

static void put_axes(struct pen *pen, const struct joint_run *run)
{
	const struct robot_joint *joints = &pen->robot->joints.items[run->first];
	if (run->count > 1) {
		pen_put(pen, ",");
		for (uint32_t i = 0; i < run->count; i++) {
			put_named_axis(pen, AXIS_WORDS[run->axis[i]], &joints[i], run->sign[i]);
			put_comment(pen, &joints[i]);
		}
	} else if (joints->type == ROBOT_PLANAR) {
		pen_put(pen, ", y: {}, z: {}, rx: {}");
	} else if (joints->type == ROBOT_BALL) {
		pen_put(pen, ",");
		put_ball(pen, joints);
	} else {
		put_axis(pen, joints, 1, ", ");
	}
}

static void write_run(struct pen *pen, struct joint_run *run, const char *a, const char *b,
		      bool collide)
{
	const struct robot_joint *joints = &pen->robot->joints.items[run->first];
	pen->line = joints->node->main_line;
	choose_frame(pen->robot, run);
	place_joints(pen->robot, run);
	pen_put(pen, "  - { type: %s", run_type(run, joints));
	put_run_name(pen, run, b);
	put_sides(pen, a, b);
	put_anchor(pen, run);
	if (collide)
		pen_put(pen, ", collide: true");
	put_axes(pen, run);
	pen_put(pen, run->count > 1 ? "\n    }\n" : " }\n");
}

/* Two bodies that pass through each other. */
static void put_pass(struct pen *pen, uint32_t a, uint32_t b)
{
	pen_put(pen, "  - { type: six_dof");
	pen_side(pen, "a", a);
	pen_side(pen, "b", b);
	pen_put(pen, ", at: [0, 0, 0], x: {}, y: {}, z: {}, rx: {}, ry: {}, rz: {} }\n");
}

/* ---- links --------------------------------------------------------------------------------- */

/* The joints of a link, one after the other from its parent to its body. */
static void write_jointed(struct pen *pen, uint32_t index)
{
	static const int own = 0;
	const struct robot *robot = pen->robot;
	const struct robot_link *link = &robot->links.items[index];
	const char *body = side_name(robot, index);
	const char *before = side_name(robot, link->parent);
	uint32_t end = link->joint_first + link->joint_count, number = 0;
	bool still = link->parent != ROBOT_NONE && robot->links.items[link->parent].still;
	bool collide = robot->is_mjcf && still; /* as MuJoCo; in URDF neighbours pass */
	char names[2][96];
	for (uint32_t at = link->joint_first; at < end; number++) {
		struct joint_run run = find_run(robot, at, end);
		bool last = at + run.count == end;
		char *name = names[number % 2];
		snprintf(name, sizeof names[0], last ? "%.80s" : "%.80s/%u", body,
			 (unsigned)number + 1);
		if (!last)
			node_note(robot, link->node, &own,
				  "between joints of '%.32s' is a link with %g %% of its mass and "
				  "inertia",
				  body, 100 * robot->helper_share);
		write_run(pen, &run, before, name, collide);
		before = name;
		at += run.count;
	}
	if (number > 1 && !still && link->parent != ROBOT_NONE &&
	    link_collides(robot, link->into) &&
	    link_collides(robot, robot->links.items[link->parent].into))
		put_pass(pen, link->parent, index);
}

static void write_fixed(struct pen *pen, uint32_t index)
{
	const struct robot_link *link = &pen->robot->links.items[index];
	if (pen->robot->links.items[link->parent].into == index)
		return; /* its joints are those of the link that it stands for */
	pen->line = link->node->main_line;
	pen_put(pen, "  - { type: fixed");
	pen_side(pen, "a", link->parent);
	pen_side(pen, "b", index);
	pen_vector(pen, "at", turn_up(link->at.position));
	pen_put(pen, " }\n");
}

static void write_loop(struct pen *pen, const struct robot_loop *loop)
{
	pen->line = loop->node->main_line;
	if (loop->tie == TIE_PASS) {
		put_pass(pen, loop->a, loop->b);
		return;
	}
	pen_put(pen, "  - { type: %s", loop->tie == TIE_CONNECT ? "spherical" : "fixed");
	pen_side(pen, "a", loop->a);
	pen_side(pen, "b", loop->b);
	pen_vector(pen, "at", turn_up(loop->anchor));
	pen_put(pen, ", collide: true }\n");
}

/* ---- pairs that never meet ----------------------------------------------------------------- */

/* The bodies that are fixed to each other, and those fixed to a link that is joined to one of
 * them, pass. */
static void write_passes(struct pen *pen)
{
	/* A scene with more joints is refused, so no more need to be written. */
	enum { PASSES_MAX = 65537 };
	const struct robot *robot = pen->robot;
	uint32_t passes = 0;
	for (uint32_t i = 0; i < robot->links.count && passes < PASSES_MAX; i++) {
		const struct robot_link *link = &robot->links.items[i];
		if (!link->jointed || link->parent == ROBOT_NONE ||
		    robot->links.items[link->parent].still)
			continue;
		pen->line = link->node->main_line;
		uint32_t above = robot->links.items[link->parent].weld;
		for (uint32_t a = above; a != ROBOT_NONE; a = robot->links.items[a].weld_next)
			for (uint32_t b = i; b != ROBOT_NONE; b = robot->links.items[b].weld_next) {
				bool bodies = robot->links.items[a].into == a &&
					      robot->links.items[b].into == b;
				bool joined = a == robot->links.items[link->parent].into &&
					      b == link->into;
				if (!bodies || joined || !link_collides(robot, a) ||
				    !link_collides(robot, b) || passes == PASSES_MAX)
					continue;
				put_pass(pen, a, b);
				passes++;
			}
	}
}

void write_joints(struct pen *pen)
{
	const struct robot *robot = pen->robot;
	pen_put(pen, "joints:\n");
	uint32_t before = pen->text.count;
	for (uint32_t i = 0; i < robot->links.count; i++) {
		const struct robot_link *link = &robot->links.items[i];
		if (link->joint_count > 0)
			write_jointed(pen, i);
		else if (link->into == i && !link->jointed && !link->still && !link->animated)
			write_fixed(pen, i);
	}
	for (uint32_t i = 0; i < robot->loops.count; i++)
		write_loop(pen, &robot->loops.items[i]);
	write_passes(pen);
	if (pen->text.count == before)
		pen_put(pen, "  []\n");
}
