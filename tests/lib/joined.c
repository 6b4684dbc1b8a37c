/* See joined.h. */
#include "tests/lib/joined.h"

struct world *joined_world(const char *method, uint32_t rate, vec3 gravity)
{
	struct world_options options = test_options(false, method);
	options.gravity = gravity;
	options.rate_num = rate;
	options.rate_den = 1;
	return test_world_of(&options);
}

void joined_set(struct world *world, const char *parameter, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(parameter);
	command.parameter.value = value;
	test_do(world, &command);
}

body_id joined_put(struct world *world, struct joined_thing thing)
{
	struct attachment item;
	struct command spawn = test_spawn_command(world, thing.shape, thing.at, &item);
	spawn.spawn.mass = thing.mass;
	spawn.spawn.velocity = thing.velocity;
	spawn.spawn.angular_velocity = thing.spin;
	spawn.spawn.restitution = thing.restitution;
	spawn.spawn.mask = thing.meets ? UINT32_MAX : 0;
	spawn.spawn.flags = 0;
	if (thing.smooth)
		spawn.spawn.static_friction = spawn.spawn.dynamic_friction = 0;
	if (thing.status != 0)
		spawn.spawn.status = thing.status;
	return test_do(world, &spawn);
}

struct command joined_create(enum joint_type type, body_id a, body_id b, vec3 at, quat frame)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = (uint8_t)type;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.point_a = command.joint_create.point_b = at;
	command.joint_create.frame_a = frame;
	command.joint_create.place = 1;
	return command;
}

joint_id joined_join(struct world *world, enum joint_type type, body_id a, body_id b, vec3 at,
		     quat frame)
{
	struct command command = joined_create(type, a, b, at, frame);
	return test_do(world, &command);
}

struct command joined_axis(joint_id joint, uint32_t axis)
{
	struct command command = test_command(COMMAND_JOINT_AXIS);
	command.joint_axis.joint = joint;
	command.joint_axis.axis = axis;
	return command;
}

struct joint_view joined_view(const struct world *world, joint_id id)
{
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, id, &view), STATUS_OK);
	return view;
}

void joined_push(struct world *world, body_id body, vec3 force, vec3 torque)
{
	struct command command = test_command(COMMAND_FORCE);
	command.force.body = body;
	command.force.force = force;
	command.force.ticks = UINT32_MAX;
	test_do(world, &command);
	command = test_command(COMMAND_TORQUE);
	command.torque.body = body;
	command.torque.torque = torque;
	command.torque.ticks = UINT32_MAX;
	test_do(world, &command);
}

quat joined_about_z(void)
{
	return quat_from_axis_angle(vec3_make(0, 1, 0), -HALF_PI);
}

void joined_assert_exact(const struct world *world)
{
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.fallbacks_total, 0);
	ck_assert_double_le(stats.residual, 1e-10);
	ck_assert_double_le(stats.joint_error, 1e-9);
	ck_assert_uint_eq(stats.quarantined_total, 0);
}
