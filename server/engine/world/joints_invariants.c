/* joints_invariants.c: the invariants of joints and their tables; see invariants.c. */
#include "server/engine/world/checking.h"
#include "server/engine/world/joints.h"

#include <string.h>

/* m; an anchor in a body's axes may be as far from its origin as two bodies may be apart. */
#define ANCHOR_FAR (8 * LENGTH_MAX)

static enum status check_gear(const struct tables *tables, uint32_t row, uint32_t axis,
			      struct reason *why)
{
	const struct joint_table *t = &tables->joint;
	uint32_t leader = t->leader[row][axis], leading = t->leader_axis[row][axis];
	double ratio = t->gear_ratio[row][axis];
	EXPECT(leader <= t->count && (leader == 0 || t->id[leader - 1] != 0), TABLE_JOINT, row,
	       "leader");
	EXPECT(leading < JOINT_AXES, TABLE_JOINT, row, "leader_axis");
	EXPECT(check_within(ratio, -GEAR_RATIO_MAX, GEAR_RATIO_MAX) &&
		       (ratio != 0) == (leader != 0),
	       TABLE_JOINT, row, "gear_ratio");
	EXPECT(check_within(t->gear_offset[row][axis], -LENGTH_MAX, LENGTH_MAX), TABLE_JOINT, row,
	       "gear_offset");
	EXPECT(scalar_abs(t->gear_multiplier[row][axis]) <= JOINT_MULTIPLIER_MAX, TABLE_JOINT, row,
	       "gear_multiplier");
	if (leader == 0)
		return STATUS_OK;
	uint32_t type = t->type[leader - 1];
	EXPECT(joint_axis_kind((enum joint_type)t->type[row], axis).settable, TABLE_JOINT, row,
	       "leader");
	EXPECT(type >= 1 && type < JOINT_TYPES_END &&
		       joint_axis_kind((enum joint_type)type, leading).settable &&
		       (leader - 1 != row || leading != axis),
	       TABLE_JOINT, row, "leader_axis");
	return STATUS_OK;
}

static enum status check_axis(const struct tables *tables, uint32_t row, uint32_t axis,
			      struct reason *why)
{
	const struct joint_table *t = &tables->joint;
	struct joint_axis_kind kind = joint_axis_kind((enum joint_type)t->type[row], axis);
	EXPECT(t->mode[row][axis] <= JOINT_LIMITED, TABLE_JOINT, row, "mode");
	EXPECT(kind.settable || t->mode[row][axis] == kind.mode, TABLE_JOINT, row, "mode");
	EXPECT(kind.locks || !kind.settable || t->mode[row][axis] != JOINT_LOCKED, TABLE_JOINT, row,
	       "mode");
	EXPECT(t->spring[row][axis] <= JOINT_SPRING_HERTZ, TABLE_JOINT, row, "spring");
	EXPECT(t->motor[row][axis] <= JOINT_MOTOR_FORCE, TABLE_JOINT, row, "motor");
	EXPECT(t->wave[row][axis] <= JOINT_WAVE_TABLE, TABLE_JOINT, row, "wave");
	double far = LENGTH_MAX;
	EXPECT(check_within(t->lower[row][axis], -far, far), TABLE_JOINT, row, "lower");
	EXPECT(check_within(t->upper[row][axis], -far, far), TABLE_JOINT, row, "upper");
	EXPECT(t->mode[row][axis] != JOINT_LIMITED || t->lower[row][axis] <= t->upper[row][axis],
	       TABLE_JOINT, row, "upper");
	EXPECT(check_within(t->restitution[row][axis], 0, 1), TABLE_JOINT, row, "restitution");
	EXPECT(check_within(t->friction[row][axis], 0, FORCE_MAX), TABLE_JOINT, row, "friction");
	EXPECT(check_within(t->stiffness[row][axis], 0, STIFFNESS_MAX), TABLE_JOINT, row,
	       "stiffness");
	EXPECT(check_within(t->damping[row][axis], 0, STIFFNESS_MAX), TABLE_JOINT, row, "damping");
	/* The length of a rod is the distance of its anchors at creation, which may exceed LENGTH_MAX. */
	EXPECT(check_within(t->rest[row][axis], -ANCHOR_FAR, ANCHOR_FAR), TABLE_JOINT, row, "rest");
	EXPECT(check_within(t->spring_limit[row][axis], 0, FORCE_MAX), TABLE_JOINT, row,
	       "spring_limit");
	EXPECT(check_within(t->target[row][axis], -far, far), TABLE_JOINT, row, "target");
	EXPECT(check_within(t->motor_limit[row][axis], 0, FORCE_MAX), TABLE_JOINT, row,
	       "motor_limit");
	EXPECT(check_within(t->motor_stiffness[row][axis], 0, STIFFNESS_MAX), TABLE_JOINT, row,
	       "motor_stiffness");
	EXPECT(check_within(t->motor_damping[row][axis], 0, STIFFNESS_MAX), TABLE_JOINT, row,
	       "motor_damping");
	EXPECT(check_within(t->amplitude[row][axis], -far, far), TABLE_JOINT, row, "amplitude");
	/* `hertz` of a table is 1 / its period, so it may exceed JOINT_HERTZ_MAX. */
	EXPECT(check_within(t->hertz[row][axis], 0, SCALAR_MAX), TABLE_JOINT, row, "hertz");
	EXPECT(check_within(t->phase[row][axis], -far, far), TABLE_JOINT, row, "phase");
	EXPECT(t->since[row][axis] <= tables->world.tick[0], TABLE_JOINT, row, "since");
	double armature = t->armature[row][axis];
	EXPECT(check_within(armature, 0, INERTIA_MAX) &&
		       (armature == 0 ||
			(joint_axis_kind((enum joint_type)t->type[row], axis).settable &&
			 t->type[row] != JOINT_SPHERICAL)),
	       TABLE_JOINT, row, "armature");
	EXPECT(scalar_abs(t->rotor_multiplier[row][axis]) <= JOINT_MULTIPLIER_MAX, TABLE_JOINT, row,
	       "rotor_multiplier");
	EXPECT(scalar_is_finite(t->rotor_lag[row][axis]), TABLE_JOINT, row, "rotor_lag");
	return check_gear(tables, row, axis, why);
}

static enum status check_joint(const struct tables *tables, uint32_t row, struct reason *why)
{
	const struct joint_table *t = &tables->joint;
	EXPECT(t->id[row] < tables->world.next_joint[0], TABLE_JOINT, row, "id");
	EXPECT(t->type[row] >= 1 && t->type[row] < JOINT_TYPES_END, TABLE_JOINT, row, "type");
	EXPECT(t->flags[row] <= JOINT_BODIES_PASS, TABLE_JOINT, row, "flags");
	EXPECT(check_within((double)t->tag[row], -INTEGER_MAX, INTEGER_MAX), TABLE_JOINT, row,
	       "tag");
	for (uint32_t side = 0; side < 2; side++) {
		uint32_t body = t->body[row][side];
		EXPECT(body <= tables->body.count &&
			       (body == 0 || (tables->body.id[body - 1] != 0 &&
					      tables->body.id[body - 1] != BODY_WALLS)),
		       TABLE_JOINT, row, "body");
		EXPECT(body != 0 || (t->next[row][side] == 0 && t->previous[row][side] == 0),
		       TABLE_JOINT, row, "next");
	}
	EXPECT(t->body[row][0] != t->body[row][1], TABLE_JOINT, row, "body");
	EXPECT(t->type[row] != JOINT_DRAG || t->body[row][0] == 0, TABLE_JOINT, row, "body");
	EXPECT(check_vector_within(t->point_a[row], ANCHOR_FAR), TABLE_JOINT, row, "point_a");
	EXPECT(check_vector_within(t->point_b[row], ANCHOR_FAR), TABLE_JOINT, row, "point_b");
	EXPECT(check_unit(t->frame_a[row]), TABLE_JOINT, row, "frame_a");
	EXPECT(check_unit(t->frame_b[row]), TABLE_JOINT, row, "frame_b");
	EXPECT(check_within(t->break_force[row], 0, FORCE_MAX), TABLE_JOINT, row, "break_force");
	EXPECT(check_within(t->break_torque[row], 0, FORCE_MAX), TABLE_JOINT, row, "break_torque");
	for (uint32_t i = 0; i < JOINT_MULTIPLIERS; i++)
		EXPECT(scalar_abs(t->multiplier[row][i]) <= JOINT_MULTIPLIER_MAX, TABLE_JOINT, row,
		       "multiplier");
	EXPECT(vec3_is_finite(t->force[row]), TABLE_JOINT, row, "force");
	EXPECT(vec3_is_finite(t->torque[row]), TABLE_JOINT, row, "torque");
	for (uint32_t i = 0; i < 3; i++)
		EXPECT(scalar_is_finite(t->angle[row][i]), TABLE_JOINT, row, "angle");
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		enum status status = check_axis(tables, row, axis, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

/* Each joint end is in the list of its body once, and `previous` is consistent with `next`. */
static enum status check_lists(const struct tables *tables, struct checking *work,
			       struct reason *why)
{
	const struct joint_table *t = &tables->joint;
	uint32_t *seen = work->counts; /* by end: how often it was found in a list */
	memset(seen, 0, 2 * (size_t)t->count * sizeof *seen);
	for (uint32_t body = 0; body < tables->body.count; body++) {
		uint32_t before = 0;
		for (uint32_t end = tables->body.first_joint[body]; end != 0;) {
			EXPECT(tables->body.id[body] != 0 && end <= 2 * t->count, TABLE_BODY, body,
			       "first_joint");
			uint32_t row = (end - 1) / 2, side = (end - 1) % 2;
			EXPECT(t->id[row] != 0 && t->body[row][side] == body + 1 &&
				       t->previous[row][side] == before && seen[end - 1]++ == 0,
			       TABLE_JOINT, row, "previous");
			before = end;
			end = t->next[row][side];
		}
	}
	for (uint32_t end = 0; end < 2 * t->count; end++)
		EXPECT(t->id[end / 2] == 0 || t->body[end / 2][end % 2] == 0 || seen[end] == 1,
		       TABLE_JOINT, end / 2, "next");
	return STATUS_OK;
}

static enum status check_points(const struct tables *tables, struct reason *why)
{
	const struct joint_point_table *t = &tables->joint_point;
	for (uint32_t row = 0; row < t->count; row++) {
		EXPECT(t->joint[row] < tables->joint.count && tables->joint.id[t->joint[row]] != 0,
		       TABLE_JOINT_POINT, row, "joint");
		EXPECT(t->axis[row] < JOINT_AXES, TABLE_JOINT_POINT, row, "axis");
		EXPECT(check_within(t->time[row], 0, LENGTH_MAX), TABLE_JOINT_POINT, row, "time");
		EXPECT(check_within(t->value[row], -LENGTH_MAX, LENGTH_MAX), TABLE_JOINT_POINT, row,
		       "value");
		if (row == 0)
			continue;
		uint64_t key = (uint64_t)t->joint[row] * JOINT_AXES + t->axis[row],
			 before = (uint64_t)t->joint[row - 1] * JOINT_AXES + t->axis[row - 1];
		EXPECT(before < key || (before == key && t->time[row - 1] < t->time[row]),
		       TABLE_JOINT_POINT, row, "time");
	}
	return STATUS_OK;
}

enum status joints_check_tables(const struct tables *tables, struct checking *work,
				struct reason *why)
{
	uint32_t used = 0;
	for (uint32_t row = 0; row < tables->joint.count; row++) {
		if (tables->joint.id[row] == 0)
			continue;
		enum status status = check_joint(tables, row, why);
		if (status != STATUS_OK)
			return status;
		used++;
	}
	EXPECT(used <= tables->world.joints_max[0], TABLE_JOINT, 0, "id");
	enum status status = check_lists(tables, work, why);
	return status == STATUS_OK ? check_points(tables, why) : status;
}
