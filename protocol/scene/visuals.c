/* visuals.c: what pictures show of a scene's bodies in place of their shapes, each as an
 * ADD_VISUAL. */
#include "protocol/scene/compile.h"
#include "server/engine/world/command.h"

/* The visual of one entry of a list, without a body. */
static enum status compile_visual(struct compile *self, const struct yaml_node *node,
				  struct command_ADD_VISUAL *out)
{
	struct visual_keys keys;
	uint32_t shape = 0;
	struct command defaults;
	command_defaults(&defaults, COMMAND_ADD_VISUAL);
	*out = defaults.add_visual;
	enum status status = schema_read(&self->source, node, SCHEMA_VISUAL, &keys);
	if (status == STATUS_OK)
		status = compile_shape(self, keys.shape, "visual", &shape);
	if (status == STATUS_OK && keys.colour != NULL) {
		status = compile_colour(self, keys.colour, &out->colour);
		out->given = 1;
	}
	if (status != STATUS_OK)
		return status;
	out->shape = -(int64_t)shape - 1;
	out->position = keys.at;
	out->rotation = keys.rotation;
	return STATUS_OK;
}

/* The visuals of the bodies of one entry. */
static enum status show_bodies(struct compile *self, const struct shown_bodies *bodies)
{
	struct command_ADD_VISUAL visuals[VISUALS_MAX];
	uint32_t count = 0;
	for (const struct yaml_node *at = bodies->visuals->first; at != NULL; at = at->next) {
		ASSERT(count < VISUALS_MAX); /* the schema's limit */
		enum status status = compile_visual(self, at, &visuals[count++]);
		if (status != STATUS_OK)
			return status;
	}
	for (uint32_t k = 0; k < bodies->count; k++)
		for (uint32_t i = 0; i < count; i++) {
			struct command *command =
				compile_command(self, COMMAND_ADD_VISUAL, bodies->visuals->line);
			if (command == NULL)
				return source_no_memory(&self->source);
			command->add_visual = visuals[i];
			command->add_visual.body = -(int64_t)(bodies->first + k) - 1;
		}
	return STATUS_OK;
}

enum status compile_note_visuals(struct compile *self, const struct yaml_node *visuals,
				 uint64_t count)
{
	self->visual_count += count * visuals->count;
	if (self->visual_count > SCENE_ATTACHMENTS_MAX)
		return source_fail(&self->source, visuals->line, STATUS_LIMIT, "visuals",
				   "the file makes more than %d visuals", SCENE_ATTACHMENTS_MAX);
	if (ARRAY_RESERVE(&self->shown, (uint64_t)self->shown.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->shown.items[self->shown.count++] =
		(struct shown_bodies){ visuals, self->commands.count, (uint32_t)count };
	return STATUS_OK;
}

enum status compile_visuals(struct compile *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->shown.count && status == STATUS_OK; i++)
		status = show_bodies(self, &self->shown.items[i]);
	return status;
}
