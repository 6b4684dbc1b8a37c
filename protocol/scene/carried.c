/* carried.c: the bodies of a scene that points carry, each as a CARRY. */
#include "protocol/scene/compile.h"
#include "server/engine/world/command.h"

enum { POINTS_MAX = 4 };

enum status compile_note_carried(struct compile *self, const struct yaml_node *entry,
				 const struct yaml_node *points, uint64_t count)
{
	if (!self->planar)
		return source_fail(
			&self->source, points->line, STATUS_PLANAR, "carried_by",
			"points carry bodies of planar worlds only; give the world 'planar: "
			"true', or leave carried_by out");
	if (node_find(entry, "carried_by") == NULL)
		return source_fail(&self->source, entry->line, STATUS_EXISTS, "carried_by",
				   "carried_by is in a prototype; give it in the body's entry");
	if (count != 1)
		return source_fail(&self->source, points->line, STATUS_RANGE, "carried_by",
				   "the entry makes %llu bodies, and points carry one; an assembly "
				   "repeats a body with its points",
				   (unsigned long long)count);
	if (ARRAY_RESERVE(&self->carried, (uint64_t)self->carried.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->carried.items[self->carried.count++] =
		(struct carried_body){ entry, points, self->commands.count };
	return STATUS_OK;
}

/* The SPAWN of the only body that a name stands for. */
static enum status find_point(struct compile *self, const struct carried_body *of,
			      const struct yaml_node *node, int64_t *out)
{
	struct body_range range;
	if (node->kind != NODE_SCALAR)
		return source_fail(&self->source, node->line, STATUS_TYPE, "carried_by",
				   "a point must be the name of a body, not %s",
				   node_kind_text(node));
	enum status status = compile_find_bodies(self, of->entry, "carried_by", node->text, &range);
	if (status != STATUS_OK)
		return status;
	if (range.first == COMPILE_WORLD || range.count != 1)
		return source_fail(&self->source, node->line, STATUS_RANGE, "carried_by",
				   "'%.32s' is %s; a point is one body", node->text,
				   range.first == COMPILE_WORLD ? "the world" : "several bodies");
	*out = -(int64_t)range.first - 1;
	return STATUS_OK;
}

static enum status carry_body(struct compile *self, const struct carried_body *of)
{
	int64_t points[POINTS_MAX] = { 0 };
	uint32_t count = 0;
	for (const struct yaml_node *at = of->points->first; at != NULL; at = at->next) {
		ASSERT(count < POINTS_MAX); /* the schema's limit */
		enum status status = find_point(self, of, at, &points[count++]);
		if (status != STATUS_OK)
			return status;
	}
	struct command *command = compile_command(self, COMMAND_CARRY, of->points->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->carry.body = -(int64_t)of->body - 1;
	command->carry.a = points[0];
	command->carry.b = points[1];
	command->carry.c = points[2];
	command->carry.d = points[3];
	return STATUS_OK;
}

enum status compile_carried(struct compile *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->carried.count && status == STATUS_OK; i++)
		status = carry_body(self, &self->carried.items[i]);
	return status;
}
