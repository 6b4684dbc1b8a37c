#include "server/engine/world/plan.h"

void plan_size_add(struct plan_size *size, const struct batch *batch)
{
	if (batch->count > BATCH_COMMANDS_MAX)
		return; /* will be refused */
	uint64_t attachments = 0;
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct command *command = &batch->commands[i];
		switch (command->op) {
		case COMMAND_SPAWN:
			size->bodies++;
			attachments += MIN_OF(command->spawn.shapes.count, (uint32_t)ATTACHMENTS_MAX);
			break;
		case COMMAND_REMOVE:
			size->removes++;
			break;
		case COMMAND_SHAPE_USE:
			size->shapes++;
			break;
		case COMMAND_FORCE:
		case COMMAND_TORQUE:
			size->drives++;
			break;
		case COMMAND_BOUNDS:
			size->walls |= command->bounds.mode == BOUNDS_WALLS;
			break;
		default:
			break;
		}
	}
	size->placements += attachments;
	size->commands = MAX_OF(size->commands, batch->count);
	size->attachments = (uint32_t)MAX_OF(size->attachments, attachments);
}

enum status plan_init(struct plan *plan, struct arena *arena, const struct plan_size *size)
{
	uint32_t commands = size->commands, attachments = size->attachments;
	plan->commands = ARENA_ARRAY(arena, struct command, commands);
	plan->values = ARENA_ARRAY(arena, uint32_t, commands);
	plan->added = ARENA_ARRAY(arena, const struct shape *, commands);
	plan->attachments = ARENA_ARRAY(arena, struct attachment, attachments);
	plan->attached = ARENA_ARRAY(arena, const struct shape *, attachments);
	plan->bodies = ARENA_ARRAY(arena, struct planned_body, commands);
	plan->shapes = ARENA_ARRAY(arena, struct planned_shape, (uint64_t)size->shapes_known + commands);
	bool good = plan->commands != NULL && plan->values != NULL && plan->added != NULL &&
		    plan->attachments != NULL && plan->attached != NULL && plan->bodies != NULL &&
		    plan->shapes != NULL;
	return good ? STATUS_OK : STATUS_NO_MEMORY;
}
