/* movers.c: the movers of a scene, each as a SET_MOVER, with a STEER if it walks from the start. */
#include "protocol/scene/compile.h"
#include "server/engine/world/command.h"

static enum status compile_mover(struct compile *self, const struct mover_keys *keys, uint32_t line,
				 quat frame, int64_t body)
{
	struct command *command = compile_command(self, COMMAND_SET_MOVER, line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->set_mover.body = body;
	command->set_mover.step_height = keys->step_height;
	command->set_mover.slope = keys->slope_degrees * RADIANS_PER_DEGREE;
	command->set_mover.push_force = keys->push_force;
	command->set_mover.snap = keys->snap;
	if (vec3_equal(keys->walk, vec3_zero()))
		return STATUS_OK;
	command = compile_command(self, COMMAND_STEER, line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->steer.body = body;
	command->steer.velocity = vec3_equal(quat_vector(frame), vec3_zero())
					  ? keys->walk
					  : quat_rotate(frame, keys->walk);
	return STATUS_OK;
}

enum status compile_movers(struct compile *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->walking.count && status == STATUS_OK; i++) {
		const struct walking_bodies bodies = self->walking.items[i];
		struct mover_keys keys;
		status = schema_read(&self->source, bodies.mover, SCHEMA_MOVER, &keys);
		for (uint32_t k = 0; k < bodies.count && status == STATUS_OK; k++)
			status = compile_mover(self, &keys, bodies.mover->line, bodies.rotation,
					       -(int64_t)(bodies.first + k) - 1);
	}
	return status;
}
