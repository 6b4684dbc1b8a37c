/* See plan.h. Sizes are upper bounds from the commands alone: they are computed before any
 * check, so that all memory of a call is reserved before its first batch. Lists longer than
 * their limit are counted as the limit, because the check refuses them.
 */
#include "server/engine/world/plan.h"

#include "server/engine/world/particle_systems.h"

/* One that is too large will be refused, and one of a planar world has one layer. */
static void add_lattice(struct plan_size *size, const struct command_PARTICLES_LATTICE *lattice)
{
	uint64_t particles = lattice_particles(lattice),
		 links = lattice_links(lattice, lattice->layers == 1);
	if (particles > PARTICLES_MAX || links > PARTICLE_LINKS_MAX)
		return;
	size->particles += particles;
	size->links += links;
}

static void add_particles(struct plan_size *size, const struct command *command)
{
	switch (command->op) {
	case COMMAND_PARTICLES_CREATE:
		size->systems++;
		break;
	case COMMAND_PARTICLES_ADD:
		size->particles++;
		break;
	case COMMAND_PARTICLES_LATTICE:
		add_lattice(size, &command->particles_lattice);
		break;
	case COMMAND_PARTICLES_LINK:
		size->links++;
		break;
	case COMMAND_PARTICLES_PIN:
		size->pins++;
		break;
	case COMMAND_PARTICLES_HOLD:
		size->holds++;
		break;
	case COMMAND_PARTICLES_MEET:
		size->meetings++;
		break;
	case COMMAND_PARTICLES_FLUID:
		size->fluids++;
		break;
	case COMMAND_PARTICLES_SINK:
		size->sinks++;
		break;
	case COMMAND_PARTICLES_FILL:
		size->particles +=
			MIN_OF(fill_particles(&command->particles_fill), (uint64_t)PARTICLES_MAX);
		break;
	default:
		break;
	}
}

void plan_size_add(struct plan_size *size, const struct batch *batch)
{
	if (batch->count > BATCH_COMMANDS_MAX)
		return; /* will be refused */
	uint64_t attachments = 0, targets = 0, pieces = 0;
	for (uint32_t i = 0; i < batch->count; i++) {
		const struct command *command = &batch->commands[i];
		switch (command->op) {
		case COMMAND_SPAWN:
			size->bodies++;
			attachments +=
				MIN_OF(command->spawn.shapes.count, (uint32_t)ATTACHMENTS_MAX);
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
		case COMMAND_JOINT_CREATE:
			size->joints++;
			break;
		case COMMAND_SET_PIECE:
			pieces++;
			break;
		case COMMAND_ADD_VISUAL:
			size->visuals++;
			break;
		case COMMAND_CARRY:
			size->carriers++;
			break;
		case COMMAND_NAME_BODY:
		case COMMAND_NAME_JOINT:
			size->labels++;
			break;
		case COMMAND_FIELD_CREATE:
			size->fields++;
			break;
		case COMMAND_SET_MOVER:
			size->movers++;
			break;
		case COMMAND_JOINT_TARGETS:
			targets += MIN_OF(command->joint_targets.targets.count,
					  (uint32_t)JOINT_TARGETS_MAX);
			break;
		case COMMAND_JOINT_TABLE:
			size->points += MIN_OF(command->joint_table.points.count,
					       (uint32_t)JOINT_POINTS_MAX);
			break;
		case COMMAND_BOUNDS:
			size->walls |= command->bounds.mode == BOUNDS_WALLS;
			break;
		default:
			add_particles(size, command);
		}
	}
	size->placements += attachments;
	size->pieces += pieces;
	size->commands = MAX_OF(size->commands, batch->count);
	size->attachments = (uint32_t)MAX_OF(size->attachments, attachments);
	size->targets = (uint32_t)MAX_OF(size->targets, targets);
	size->weights = (uint32_t)MAX_OF(size->weights, pieces);
}

enum status plan_init(struct batch_plan *plan, struct arena *arena, const struct plan_size *size)
{
	uint32_t commands = size->commands, attachments = size->attachments;
	plan->commands = ARENA_ARRAY(arena, struct command, commands);
	plan->values = ARENA_ARRAY(arena, uint32_t, commands);
	plan->added = ARENA_ARRAY(arena, const struct shape *, commands);
	plan->attachments = ARENA_ARRAY(arena, struct attachment, attachments);
	plan->attached = ARENA_ARRAY(arena, const struct shape *, attachments);
	/* A joint's command may name two bodies, a SPAWN one besides its own, and a CARRY five. */
	uint64_t bodies = 2 * (uint64_t)commands + size->followers + 3 * size->carriers;
	plan->bodies = ARENA_ARRAY(arena, struct planned_body, bodies);
	plan->followers = ARENA_ARRAY(arena, struct planned_follower, size->followers);
	plan->follower_scratch = ARENA_ARRAY(arena, struct planned_follower, size->followers);
	plan->gone = ARENA_ARRAY(arena, body_id, size->followers);
	plan->gone_end = ARENA_ARRAY(arena, uint32_t, commands);
	plan->shapes =
		ARENA_ARRAY(arena, struct planned_shape, (uint64_t)size->shapes_known + commands);
	plan->joints = ARENA_ARRAY(arena, struct planned_joint, (uint64_t)commands + size->targets);
	plan->targets = ARENA_ARRAY(arena, struct joint_target, size->targets);
	plan->fields = ARENA_ARRAY(arena, struct planned_field, commands);
	plan->weights = ARENA_ARRAY(arena, struct planned_weight, size->weights);
	/* PARTICLES_TRAIL names two. */
	plan->systems = ARENA_ARRAY(arena, struct planned_system, 2 * (uint64_t)commands);
	bool good = plan->followers != NULL && plan->follower_scratch != NULL &&
		    plan->gone != NULL && plan->gone_end != NULL;
	good = good && plan->weights != NULL && plan->joints != NULL && plan->fields != NULL &&
	       plan->targets != NULL && plan->systems != NULL;
	good = good && plan->commands != NULL && plan->values != NULL && plan->added != NULL &&
	       plan->attachments != NULL && plan->attached != NULL && plan->bodies != NULL &&
	       plan->shapes != NULL;
	return good ? STATUS_OK : STATUS_NO_MEMORY;
}
