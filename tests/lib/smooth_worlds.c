/* smooth_worlds.c: see smooth_worlds.h. */
#include "tests/lib/smooth_worlds.h"

void smooth_set(struct world *world, const char *name, double value)
{
	struct command command = test_command(COMMAND_PARAMETER);
	command.parameter.name = test_text(name);
	command.parameter.value = value;
	test_do(world, &command);
}

struct command smooth_spawn(struct world *world, enum test_shape shape, vec3 at,
			    struct attachment *item)
{
	struct command command = test_spawn_command(world, shape, at, item);
	command.spawn.static_friction = command.spawn.dynamic_friction = 0;
	command.spawn.restitution = 0;
	command.spawn.mass = 1;
	return command;
}

body_id smooth_put(struct world *world, enum test_shape shape, vec3 at, quat turn, uint8_t status)
{
	struct attachment item;
	struct command command = smooth_spawn(world, shape, at, &item);
	command.spawn.rotation = turn;
	command.spawn.status = status;
	return test_do(world, &command);
}
