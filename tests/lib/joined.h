/* joined.h: bodies and joints for tests of methods: short ways to make them, pull at them and look
 * at them. */
#ifndef CAIRN_TESTS_JOINED_H
#define CAIRN_TESTS_JOINED_H

#include <check.h>

#include "server/engine/math/trig.h"
#include "tests/lib/worlds.h"

static inline struct world *begin(const char *method, uint32_t rate, vec3 gravity)
{
	struct world_options options = test_options(false, method);
	options.gravity = gravity;
	options.rate_num = rate;
	options.rate_den = 1;
	return test_world_of(&options);
}

static inline void set(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

/* What never sleeps; it meets nothing where `mask` is 0. */
struct thing {
	enum test_shape shape;
	vec3 at;
	double mass;
	vec3 velocity, spin;
	double restitution;
	bool meets, smooth;
	uint8_t status; /* 0: as the shape likes it */
};

static inline body_id put(struct world *world, struct thing thing)
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

/* With its anchors and axes at one place of the world. */
static inline joint_id join(struct world *world, enum joint_type type, body_id a, body_id b, vec3 at,
		     quat frame)
{
	struct command command = test_command(COMMAND_JOINT_CREATE);
	command.joint_create.type = (uint8_t)type;
	command.joint_create.body_a = a;
	command.joint_create.body_b = b;
	command.joint_create.point_a = at;
	command.joint_create.frame_a = frame;
	command.joint_create.place = 1;
	return test_do(world, &command);
}

/* To be filled in and done. */
static inline struct command axis_of(joint_id joint, uint32_t axis)
{
	struct command command = test_command(COMMAND_JOINT_AXIS);
	command.joint_axis.joint = joint;
	command.joint_axis.axis = axis;
	return command;
}

static inline struct joint_view see(const struct world *world, joint_id id)
{
	struct joint_view view;
	ck_assert_int_eq(world_joint(world, id, &view), STATUS_OK);
	return view;
}

static inline void push(struct world *world, body_id body, vec3 force, vec3 torque)
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

/* Its x axis becomes the world's z. */
static inline quat about_z(void)
{
	return quat_from_axis_angle(vec3_make(0, 1, 0), -HALF_PI);
}

#define ASSERT_VEC3(a, b, tolerance)                                                               \
	do {                                                                                       \
		vec3 a_ = (a), b_ = (b);                                                           \
		ck_assert_msg(vec3_distance(a_, b_) <= (tolerance), "%s: (%.17g %.17g %.17g)", #a, \
			      a_.x, a_.y, a_.z);                                                   \
	} while (0)

static inline void assert_good(const struct world *world)
{
	struct world_stats stats = world_stats(world);
	ck_assert_uint_eq(stats.fallbacks_total, 0);
	ck_assert_double_le(stats.residual, 1e-10);
	ck_assert_double_le(stats.joint_error, 1e-9);
	ck_assert_uint_eq(stats.quarantined_total, 0);
}

#endif
