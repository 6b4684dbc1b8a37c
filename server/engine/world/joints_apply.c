/* joints_apply.c: writes checked joint commands into the tables. Rows are reserved and ids are
 * resolved, so nothing here can fail.
 */
#include "server/engine/world/joints.h"

#include <string.h>

static uint32_t row_of(const struct apply_context *context, int64_t id)
{
	uint32_t row = dynamics_find_joint(&context->world->dynamics, (joint_id)id);
	ASSERT(row != ROW_NONE);
	return row;
}

static uint32_t body_of(const struct apply_context *context, int64_t id)
{
	uint32_t row =
		id == 0 ? ROW_NONE : dynamics_find_body(&context->world->dynamics, (body_id)id);
	ASSERT(id == 0 || row != ROW_NONE);
	return row;
}

/* ---- creation and removal --------------------------------------------------------------------- */

static void fill_joint(const struct apply_context *context, uint32_t row,
		       const struct command_JOINT_CREATE *create)
{
	struct tables *tables = &context->world->tables;
	struct joint_table *joint = &tables->joint;
	joint->id[row] = tables->world.next_joint[0]++;
	ASSERT(joint->id[row] == context->plan->values[context->index]);
	joint->type[row] = create->type;
	joint->flags[row] = (uint8_t)create->flags;
	joint->owner[row] = create->owner;
	joint->tag[row] = create->tag;
	joint->body[row][0] = body_of(context, create->body_a) + 1;
	joint->body[row][1] = body_of(context, create->body_b) + 1;
	joint->point_a[row] = create->point_a;
	joint->frame_a[row] = create->frame_a;
	joint->point_b[row] = create->point_b;
	joint->frame_b[row] = create->frame_b;
	joint->break_force[row] = create->break_force;
	joint->break_torque[row] = create->break_torque;
	for (uint32_t axis = 0; axis < JOINT_AXES; axis++) {
		joint->mode[row][axis] = joint_axis_kind((enum joint_type)create->type, axis).mode;
		joint->since[row][axis] = tables->world.tick[0];
	}
}

static struct mass_body mass_of(const struct tables *tables, uint32_t body,
				const struct body_motion *motion)
{
	struct mass_body mass = { .locks = UINT32_MAX };
	if (body != DYNAMICS_NONE)
		mass_bodies_from_tables(tables, &body, 1, motion, &mass);
	return mass;
}

static void put_body(struct world *world, uint32_t body, const struct body_motion *motion)
{
	struct body_table *table = &world->tables.body;
	if (body == DYNAMICS_NONE || table->status[body] != BODY_DYNAMIC)
		return;
	table->rotation[body] = motion->rotation;
	table->position[body] =
		vec3_sub(motion->centre, quat_rotate(motion->rotation, table->centre[body]));
	table->velocity[body] = motion->velocity;
	table->angular_velocity[body] = motion->angular_velocity;
	dynamics_body_moved(&world->dynamics, body);
	changes_update(&world->changes, &world->tables, body);
}

/* Moves both bodies to where the joint's error is zero; the check has computed the same poses in
 * its plan. */
static void project_bodies(struct world *world, uint32_t row)
{
	const struct tables *tables = &world->tables;
	uint32_t a = joint_body(tables, row, 0), b = joint_body(tables, row, 1);
	struct joint joint;
	joint_from_tables(&world->dynamics, row, 0, &joint);
	struct body_motion at_a = joint.a, at_b = joint.b;
	const struct mass_body masses[2] = { mass_of(tables, a, &at_a), mass_of(tables, b, &at_b) };
	(void)joint_project(&joint, masses, &at_a, &at_b);
	put_body(world, a, &at_a);
	put_body(world, b, &at_b);
}

/* The rest length of a distance joint is the distance of its anchors; angles are counted from
 * the present pose. */
static void store_initial_coordinates(struct world *world, uint32_t row)
{
	struct joint_table *table = &world->tables.joint;
	struct joint joint;
	double coordinates[JOINT_AXES];
	joint_from_tables(&world->dynamics, row, 0, &joint);
	joint_coordinates(&joint, &joint.a, &joint.b, coordinates);
	if (table->type[row] == JOINT_DISTANCE)
		table->rest[row][0] = coordinates[0];
	memcpy(table->angle[row], coordinates + 3, sizeof table->angle[row]);
}

void apply_joint_create(const struct apply_context *context, const struct command *command)
{
	struct world *world = context->world;
	const struct command_JOINT_CREATE *create = &command->joint_create;
	uint32_t row = dynamics_joint_take(&world->dynamics);
	fill_joint(context, row, create);
	dynamics_joint_added(&world->dynamics, row);
	if (create->type == JOINT_DISTANCE)
		store_initial_coordinates(world, row); /* the projection needs the rest length */
	if (create->violated == JOINT_VIOLATED_PROJECT)
		project_bodies(world, row);
	store_initial_coordinates(world, row);
}

void apply_joint_remove(const struct apply_context *context, const struct command *command)
{
	dynamics_joint_removed(&context->world->dynamics,
			       row_of(context, command->joint_remove.joint));
}

/* ---- changes of a joint ----------------------------------------------------------------------- */

void apply_joint_set(const struct apply_context *context, const struct command *command)
{
	struct joint_table *joint = &context->world->tables.joint;
	const struct command_JOINT_SET *set = &command->joint_set;
	uint32_t row = row_of(context, set->joint);
	bool pairs = joint->flags[row] != set->flags;
	joint->flags[row] = (uint8_t)set->flags;
	joint->break_force[row] = set->break_force;
	joint->break_torque[row] = set->break_torque;
	joint->owner[row] = set->owner;
	joint->tag[row] = set->tag;
	dynamics_joint_changed(&context->world->dynamics, row, pairs);
}

static void forget_table(struct tables *tables, uint32_t row, uint32_t axis)
{
	if (tables->joint.wave[row][axis] == JOINT_WAVE_TABLE)
		joint_points_set(tables, row, axis, NULL, 0);
}

void apply_joint_axis(const struct apply_context *context, const struct command *command)
{
	struct tables *tables = &context->world->tables;
	struct joint_table *joint = &tables->joint;
	const struct command_JOINT_AXIS *set = &command->joint_axis;
	uint32_t row = row_of(context, set->joint), axis = set->axis;
	ASSERT(axis < JOINT_AXES);
	forget_table(tables, row, axis);
	joint->mode[row][axis] = set->mode;
	joint->lower[row][axis] = set->lower;
	joint->upper[row][axis] = set->upper;
	joint->restitution[row][axis] = set->restitution;
	joint->friction[row][axis] = set->friction;
	joint->spring[row][axis] = set->spring;
	joint->stiffness[row][axis] = set->stiffness;
	joint->damping[row][axis] = set->damping;
	joint->rest[row][axis] = set->rest;
	joint->spring_limit[row][axis] = set->spring_limit;
	joint->motor[row][axis] = set->motor;
	joint->target[row][axis] = set->target;
	joint->motor_limit[row][axis] = set->motor_limit;
	joint->motor_stiffness[row][axis] = set->motor_stiffness;
	joint->motor_damping[row][axis] = set->motor_damping;
	joint->wave[row][axis] = set->wave;
	joint->amplitude[row][axis] = set->amplitude;
	joint->hertz[row][axis] = set->hertz;
	joint->phase[row][axis] = set->phase;
	joint->since[row][axis] = tables->world.tick[0];
	dynamics_joint_changed(&context->world->dynamics, row, false);
}

void apply_joint_gear(const struct apply_context *context, const struct command *command)
{
	const struct command_JOINT_GEAR *set = &command->joint_gear;
	struct joint_gear gear = { .leader = DYNAMICS_NONE };
	if (set->leader != 0)
		gear = (struct joint_gear){ row_of(context, set->leader), set->leader_axis,
					    set->ratio, set->offset };
	dynamics_joint_gear(&context->world->dynamics, row_of(context, set->joint), set->axis,
			    &gear);
}

void apply_joint_armature(const struct apply_context *context, const struct command *command)
{
	struct joint_table *joint = &context->world->tables.joint;
	const struct command_JOINT_ARMATURE *set = &command->joint_armature;
	uint32_t row = row_of(context, set->joint);
	ASSERT(set->axis < JOINT_AXES);
	joint->armature[row][set->axis] = set->armature;
	joint->rotor_multiplier[row][set->axis] = joint->rotor_lag[row][set->axis] = 0;
	dynamics_joint_changed(&context->world->dynamics, row, false);
}

void apply_joint_targets(const struct apply_context *context, const struct command *command)
{
	struct tables *tables = &context->world->tables;
	const struct target_list *list = &command->joint_targets.targets;
	for (uint32_t i = 0; i < list->count; i++) {
		uint32_t row = row_of(context, list->items[i].joint), axis = list->items[i].axis;
		ASSERT(axis < JOINT_AXES);
		forget_table(tables, row, axis);
		tables->joint.wave[row][axis] = JOINT_WAVE_CONSTANT;
		tables->joint.target[row][axis] = list->items[i].value;
		tables->joint.since[row][axis] = tables->world.tick[0];
		dynamics_joint_changed(&context->world->dynamics, row, false);
	}
}

void apply_joint_table(const struct apply_context *context, const struct command *command)
{
	struct tables *tables = &context->world->tables;
	const struct command_JOINT_TABLE *set = &command->joint_table;
	uint32_t row = row_of(context, set->joint);
	ASSERT(set->axis < JOINT_AXES);
	ASSERT(set->points.count >= 1 && set->points.count <= JOINT_POINTS_MAX);
	joint_points_set(tables, row, set->axis, set->points.items, set->points.count);
	tables->joint.wave[row][set->axis] = JOINT_WAVE_TABLE;
	tables->joint.hertz[row][set->axis] = set->period > 0 ? 1 / set->period : 0;
	tables->joint.since[row][set->axis] = tables->world.tick[0];
	dynamics_joint_changed(&context->world->dynamics, row, false);
}

void apply_joint_move(const struct apply_context *context, const struct command *command)
{
	uint32_t row = row_of(context, command->joint_move.joint);
	context->world->tables.joint.point_a[row] = command->joint_move.point;
	dynamics_joint_changed(&context->world->dynamics, row, false);
}
