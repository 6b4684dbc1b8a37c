/* joints_check.c: checks of joint commands against the world and the earlier commands of the
 * batch.
 *
 * A restricted session may create a joint between bodies it owns, or between one of them and the
 * world, and then owns the joint. Only the owner of a joint may command it, also after its
 * bodies have changed owner. One body must be dynamic at creation; its status may change later,
 * and the joint has no effect while one of its bodies is inactive.
 */
#include "server/engine/world/carriers.h"
#include "server/engine/world/joints.h"

#include <string.h>

/* m or rad, m/s or rad/s. A joint with an error above VIOLATED is violated. A projection must leave an error
 * below PROJECTED. */
#define VIOLATED 1e-3
#define PROJECTED 1e-9

/* ---- the two sides of a joint ------------------------------------------------------------------ */

/* Motion of one side of a joint; `body` NULL is the world, at rest at the origin. */
static struct body_motion side_motion(const struct planned_body *body)
{
	if (body == NULL)
		return (struct body_motion){ .rotation = quat_identity() };
	return (struct body_motion){ vec3_add(body->position,
					      quat_rotate(body->rotation, body->mass.centre)),
				     body->rotation, body->velocity, body->angular_velocity };
}

static struct mass_body side_mass(const struct check *check, const struct planned_body *body)
{
	if (body == NULL || body->status != BODY_DYNAMIC)
		return (struct mass_body){ .locks = UINT32_MAX };
	double inverse[6] = { 0 };
	bool turns = !(body->flags & BODY_FIXED_ROTATION) &&
		     body_inertia_inverse(body->mass.inertia, check->planar, inverse);
	return mass_body_make(body->mass.mass, 1 / body->mass.mass, sym3_load(body->mass.inertia),
			      turns ? sym3_load(inverse) : (sym3){ 0 }, body->rotation,
			      body->locks | (check->planar ? (uint32_t)MASS_LOCK_PLANAR : 0));
}

static enum status find_side(struct check *check, int64_t *id, const char *field,
			     struct planned_body **out)
{
	*out = NULL;
	return *id == 0 ? STATUS_OK : plan_find_named_body(check, id, out, field);
}

static enum status check_sides(struct check *check, const struct command_JOINT_CREATE *create,
			       const struct planned_body *a, const struct planned_body *b)
{
	if (a == NULL && b == NULL)
		return REFUSE(
			check, STATUS_RANGE, "body_b",
			"body_a and body_b are both 0, the world: a joint needs at least one body");
	if (a == b)
		return REFUSE(check, STATUS_RANGE, "body_b",
			      "body_a and body_b are both %u: a joint needs two different sides",
			      a->id);
	bool moves = (a != NULL && a->status == BODY_DYNAMIC) ||
		     (b != NULL && b->status == BODY_DYNAMIC);
	if (!moves)
		return REFUSE(
			check, STATUS_STATUS_WRONG, "body_b",
			"neither side is dynamic: a joint needs a dynamic body on at least one side");
	if (create->type == JOINT_DRAG && a != NULL)
		return REFUSE(
			check, STATUS_RANGE, "body_a",
			"body_a is %u: it must be 0 because a drag pulls towards a point of the world",
			a->id);
	return STATUS_OK;
}

/* ---- pose and violation ------------------------------------------------------------------------ */

static vec3 point_in_body(const struct planned_body *body, vec3 point)
{
	return body == NULL ? point
			    : quat_rotate_inverse(body->rotation, vec3_sub(point, body->position));
}

static quat frame_in_body(const struct planned_body *body, quat frame)
{
	return body == NULL ? frame
			    : quat_normalize(quat_mul(quat_conjugate(body->rotation), frame));
}

/* Converts anchors and frames from world axes (place 1) to the axes of both bodies (place 0). */
static void convert_to_body_axes(struct command_JOINT_CREATE *create, const struct planned_body *a,
				 const struct planned_body *b)
{
	if (create->place == 0)
		return;
	bool apart = create->type == JOINT_DISTANCE || create->type == JOINT_DRAG;
	vec3 at_b = apart ? create->point_b : create->point_a;
	quat frame = create->frame_a;
	create->point_a = point_in_body(a, create->point_a);
	create->point_b = point_in_body(b, at_b);
	create->frame_a = frame_in_body(a, frame);
	create->frame_b = frame_in_body(b, frame);
	create->place = 0;
}

static vec3 axis_in_world(const struct planned_body *body, quat frame)
{
	vec3 axis = quat_rotate(frame, vec3_make(1, 0, 0));
	return body == NULL ? axis : quat_rotate(body->rotation, axis);
}

/* In a planar world a hinge's axis must be along z and a slide's axis in the plane. */
static enum status check_plane(struct check *check, const struct command_JOINT_CREATE *create,
			       const struct planned_body *a)
{
	if (!check->planar)
		return STATUS_OK;
	if (create->point_a.z != 0 || create->point_b.z != 0)
		return REFUSE(
			check, STATUS_PLANAR, create->point_a.z != 0 ? "point_a" : "point_b",
			"point_a has z = %.10g and point_b %.10g: in a planar world both must be 0",
			create->point_a.z, create->point_b.z);
	double along_z = scalar_abs(axis_in_world(a, create->frame_a).z);
	if (create->type == JOINT_REVOLUTE && along_z < 1 - 1e-9)
		return REFUSE(
			check, STATUS_PLANAR, "frame_a",
			"the x axis of the hinge has |z| = %.10g: in a planar world it must be "
			"along z, |z| = 1",
			along_z);
	if (create->type == JOINT_PRISMATIC && along_z > 1e-9)
		return REFUSE(
			check, STATUS_PLANAR, "frame_a",
			"the x axis of the slide has |z| = %.10g: in a planar world it must be 0",
			along_z);
	if (create->type == JOINT_UNIVERSAL || create->type == JOINT_CYLINDRICAL ||
	    create->type == JOINT_WHEEL)
		return REFUSE(
			check, STATUS_PLANAR, "type",
			"type is %s: this joint needs a spatial world, and this one is planar",
			command_word(WORDS_JOINT_TYPE, create->type));
	return STATUS_OK;
}

static struct joint planned_joint_value(const struct command_JOINT_CREATE *create,
					const struct planned_body *a, const struct planned_body *b)
{
	struct joint joint = {
		.type = create->type,
		.point_a = a == NULL ? create->point_a : vec3_sub(create->point_a, a->mass.centre),
		.point_b = b == NULL ? create->point_b : vec3_sub(create->point_b, b->mass.centre),
		.frame_a = create->frame_a,
		.frame_b = create->frame_b,
		.a = side_motion(a),
		.b = side_motion(b),
	};
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++)
		joint.axes[axis].mode = joint_axis_kind((enum joint_type)create->type, axis).mode;
	if (create->type == JOINT_DISTANCE)
		joint.axes[0].rest = vec3_distance(joint_anchor_a(&joint, &joint.a),
						   joint_anchor_b(&joint, &joint.b));
	return joint;
}

/* Stores the projected pose and velocity in the plan, where later commands of the batch read them. */
static void move_body(struct planned_body *body, const struct body_motion *motion)
{
	if (body == NULL || body->status != BODY_DYNAMIC)
		return;
	body->rotation = motion->rotation;
	body->position = vec3_sub(motion->centre, quat_rotate(motion->rotation, body->mass.centre));
	body->velocity = motion->velocity;
	body->angular_velocity = motion->angular_velocity;
}

static enum status check_projection(struct check *check, const struct joint *joint,
				    struct planned_body *a, struct planned_body *b)
{
	const struct mass_body masses[2] = { side_mass(check, a), side_mass(check, b) };
	struct body_motion at_a = joint->a, at_b = joint->b;
	struct joint_error left = joint_project(joint, masses, &at_a, &at_b);
	if (!(left.along <= PROJECTED * (1 + vec3_length(at_b.centre)) && left.about <= PROJECTED))
		return REFUSE(check, STATUS_RANGE, "violated",
			      "projection leaves an error of %.3g m and %.3g rad: place the bodies "
			      "nearer to the joint's pose",
			      left.along, left.about);
	move_body(a, &at_a);
	move_body(b, &at_b);
	return STATUS_OK;
}

static enum status check_place(struct check *check, const struct command_JOINT_CREATE *create,
			       struct planned_body *a, struct planned_body *b)
{
	struct joint joint = planned_joint_value(create, a, b);
	if (create->violated == JOINT_VIOLATED_PROJECT)
		return check_projection(check, &joint, a, b);
	struct joint_error error = joint_error(&joint, &joint.a, &joint.b);
	if (error.along > VIOLATED || error.about > VIOLATED)
		return REFUSE(check, STATUS_RANGE, error.along > VIOLATED ? "point_b" : "frame_b",
			      "axis %u is violated by %.3g m or %.3g rad, the limit is %.10g: use "
			      "place 1 (in scenes: at), or violated 2 (move) to move the bodies",
			      error.axis, error.along, error.about, VIOLATED);
	if (create->violated == JOINT_VIOLATED_STRICT &&
	    (error.along_speed > VIOLATED || error.about_speed > VIOLATED))
		return REFUSE(
			check, STATUS_RANGE, "violated",
			"velocities violate the joint by %.3g m/s and %.3g rad/s, the limit is %.10g: "
			"violated 2 changes the velocities",
			error.along_speed, error.about_speed, VIOLATED);
	return STATUS_OK;
}

/* ---- the commands ------------------------------------------------------------------------------ */

static enum status check_limits(struct check *check)
{
	const struct batch_plan *plan = check->plan;
	uint32_t most = check->world->tables.world.joints_max[0];
	if (plan->joints_after >= most)
		return REFUSE(check, STATUS_LIMIT, "joints",
			      "the world has %u joints, its limit is %u: remove joints first",
			      plan->joints_after, most);
	if (plan->next_joint >= IDS_END)
		return REFUSE(check, STATUS_LIMIT, "joints",
			      "the world has used all %u joint ids: create a new world",
			      IDS_END - 1);
	return STATUS_OK;
}

enum status check_joint_create(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	struct command_JOINT_CREATE *create = &command->joint_create;
	struct planned_body *a, *b;
	if (plan->restricted)
		create->owner = plan->session;
	enum status status = check_limits(check);
	if (status == STATUS_OK)
		status = find_side(check, &create->body_a, "body_a", &a);
	if (status == STATUS_OK)
		status = find_side(check, &create->body_b, "body_b", &b);
	if (status == STATUS_OK)
		status = check_sides(check, create, a, b);
	if (status == STATUS_OK && a != NULL)
		status = check_not_carried(check, a);
	if (status == STATUS_OK && b != NULL)
		status = check_not_carried(check, b);
	if (status == STATUS_OK)
		status = check_plane(check, create, a);
	if (status != STATUS_OK)
		return status;
	convert_to_body_axes(create, a, b);
	status = check_place(check, create, a, b);
	if (status != STATUS_OK)
		return status;
	if (a != NULL)
		a->joined = true;
	if (b != NULL)
		b->joined = true;
	struct planned_joint *joint = &plan->joints[plan->joint_count];
	*joint = (struct planned_joint){ .id = plan->next_joint++,
					 .row = ROW_NONE,
					 .owner = create->owner,
					 .type = create->type,
					 .a = (body_id)create->body_a,
					 .b = (body_id)create->body_b };
	plan_index_put(check, plan_joint_key(joint->id), plan->joint_count++);
	plan->values[check->index] = joint->id;
	plan->joints_after++;
	plan->new_joints++;
	return STATUS_OK;
}

enum status check_joint_remove(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	enum status status = plan_find_joint(check, &command->joint_remove.joint, &joint, "joint");
	if (status != STATUS_OK)
		return status;
	joint->removed = true;
	check->plan->joints_after--;
	return STATUS_OK;
}

enum status check_joint_set(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	struct command_JOINT_SET *set = &command->joint_set;
	enum status status = plan_find_joint(check, &set->joint, &joint, "joint");
	if (status != STATUS_OK)
		return status;
	if (check->plan->restricted)
		set->owner = check->plan->session;
	joint->owner = set->owner;
	return STATUS_OK;
}

enum status check_joint_axis(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	const struct command_JOINT_AXIS *set = &command->joint_axis;
	enum status status = plan_find_joint(check, &command->joint_axis.joint, &joint, "joint");
	if (status != STATUS_OK)
		return status;
	struct joint_axis_kind kind = joint_axis_kind((enum joint_type)joint->type, set->axis);
	const char *type = command_word(WORDS_JOINT_TYPE, joint->type);
	if (!kind.settable)
		return REFUSE(
			check, STATUS_RANGE, "axis",
			"axis %u of a %s joint is fixed by its type: only a six_dof joint lets "
			"every axis be set",
			set->axis, type);
	if (set->mode == JOINT_LOCKED && !kind.locks)
		return REFUSE(check, STATUS_RANGE, "mode",
			      "axis %u of a %s joint cannot be locked: use mode limited with lower "
			      "equal to upper",
			      set->axis, type);
	if (set->mode == JOINT_LIMITED && !kind.limits && set->lower != 0)
		return REFUSE(
			check, STATUS_RANGE, "lower",
			"lower is %.10g: axis %u of a %s joint has no lower limit, lower must be 0",
			set->lower, set->axis, type);
	bool distance = joint->type == JOINT_DISTANCE;
	if (distance && (set->rest < 0 || (set->mode == JOINT_LIMITED && set->lower < 0)))
		return REFUSE(check, STATUS_RANGE, set->rest < 0 ? "rest" : "lower",
			      "%s is %.10g: a distance must be at least 0",
			      set->rest < 0 ? "rest" : "lower",
			      set->rest < 0 ? set->rest : set->lower);
	joint->motor[set->axis] = set->motor;
	return STATUS_OK;
}

/* An axis of a gear has a coordinate that its joint does not hold. */
static enum status check_geared_axis(struct check *check, const struct planned_joint *joint,
				     uint32_t axis, const char *field)
{
	if (joint_axis_kind((enum joint_type)joint->type, axis).settable)
		return STATUS_OK;
	return REFUSE(check, STATUS_RANGE, field,
		      "%s is %u: that axis of a %s joint does not move; give one that does", field,
		      axis, command_word(WORDS_JOINT_TYPE, joint->type));
}

enum status check_joint_gear(struct check *check, struct command *command)
{
	struct planned_joint *joint, *leader;
	struct command_JOINT_GEAR *set = &command->joint_gear;
	/* References within the batch first: they are wrong whatever the world has. */
	enum status status = set->leader < 0
				     ? plan_find_joint(check, &set->leader, &leader, "leader")
				     : STATUS_OK;
	if (status == STATUS_OK)
		status = plan_find_joint(check, &set->joint, &joint, "joint");
	if (status == STATUS_OK)
		status = check_geared_axis(check, joint, set->axis, "axis");
	if (status != STATUS_OK || set->leader == 0)
		return status;
	status = plan_find_joint(check, &set->leader, &leader, "leader");
	if (status == STATUS_OK)
		status = check_geared_axis(check, leader, set->leader_axis, "leader_axis");
	if (status != STATUS_OK)
		return status;
	if (leader->id == joint->id && set->leader_axis == set->axis)
		return REFUSE(check, STATUS_RANGE, "leader_axis",
			      "leader_axis is %u: axis %u of joint %u cannot follow itself; give "
			      "another axis or another joint",
			      set->leader_axis, set->axis, joint->id);
	if (set->ratio == 0)
		return REFUSE(check, STATUS_RANGE, "ratio",
			      "ratio is 0: the axis would follow nothing; lock it with joint_axis, "
			      "mode limited with lower equal to upper");
	return STATUS_OK;
}

enum status check_joint_armature(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	struct command_JOINT_ARMATURE *set = &command->joint_armature;
	enum status status = plan_find_joint(check, &set->joint, &joint, "joint");
	if (status == STATUS_OK)
		status = check_geared_axis(check, joint, set->axis, "axis");
	if (status != STATUS_OK || joint->type != JOINT_SPHERICAL || set->armature == 0)
		return status;
	return REFUSE(
		check, STATUS_RANGE, "armature",
		"armature is %.10g: a spherical joint has no axes that rotors turn about; use a "
		"six_dof with x, y and z locked",
		set->armature);
}

static enum status check_motor(struct check *check, const struct planned_joint *joint,
			       uint32_t axis, const char *field)
{
	if (joint->motor[axis] != JOINT_MOTOR_NONE)
		return STATUS_OK;
	return REFUSE(check, STATUS_RANGE, field,
		      "axis %u of joint %u has no motor: joint_axis sets one", axis, joint->id);
}

enum status check_joint_targets(struct check *check, struct command *command)
{
	struct batch_plan *plan = check->plan;
	struct target_list *list = &command->joint_targets.targets;
	struct joint_target *items = &plan->targets[plan->target_count];
	for (uint32_t i = 0; i < list->count; i++) {
		struct planned_joint *joint;
		items[i] = list->items[i];
		enum status status = plan_find_joint(check, &items[i].joint, &joint, "targets");
		if (status == STATUS_OK)
			status = check_motor(check, joint, items[i].axis, "targets");
		if (status != STATUS_OK)
			return status;
	}
	list->items = items;
	plan->target_count += list->count;
	return STATUS_OK;
}

enum status check_joint_table(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	struct command_JOINT_TABLE *table = &command->joint_table;
	enum status status = plan_find_joint(check, &table->joint, &joint, "joint");
	if (status == STATUS_OK)
		status = check_motor(check, joint, table->axis, "axis");
	check->plan->new_points += table->points.count;
	return status;
}

enum status check_joint_move(struct check *check, struct command *command)
{
	struct planned_joint *joint;
	struct command_JOINT_MOVE *move = &command->joint_move;
	enum status status = plan_find_joint(check, &move->joint, &joint, "joint");
	if (status != STATUS_OK)
		return status;
	if (joint->a != 0)
		return REFUSE(
			check, STATUS_STATUS_WRONG, "joint",
			"body_a of joint %u is body %u: joint_move needs an anchor in the world, "
			"body_a 0",
			joint->id, joint->a);
	if (check->planar && move->point.z != 0)
		return REFUSE(check, STATUS_PLANAR, "point",
			      "point has z = %.10g: in a planar world z must be 0", move->point.z);
	return STATUS_OK;
}
