/* labels.c: no two entries of a kind have one name; and names that the world keeps of a scene's bodies
 * and joints (NAME_BODY, NAME_JOINT). */
#include "protocol/scene/compile.h"

#include <stdio.h>
#include <string.h>

/* NAME, or NAME[index] of a generator, as a world keeps it: its first 31 bytes. */
static void index_name(const char *name, uint32_t index, uint32_t count, struct text32 *out)
{
	char text[128];
	snprintf(text, sizeof text, count > 1 ? "%.90s[%u]" : "%.90s", name, (unsigned)index);
	ASSERT(text[0] != '\0');
	snprintf(out->text, sizeof out->text, "%.31s", text);
}

enum status compile_refuse_name(const struct compile *self, uint32_t line, const char *name,
				uint32_t other_line)
{
	uint32_t here = line, there = other_line;
	const char *file = source_place(&self->source, &here);
	const char *other = source_place(&self->source, &there);
	char text[SOURCE_NAME_BYTES];
	if (strcmp(file, other) == 0)
		return source_fail(&self->source, line, STATUS_EXISTS, "name",
				   "name '%.32s' was already given in line %u; give each its own",
				   name, (unsigned)there);
	return source_fail(&self->source, line, STATUS_EXISTS, "name",
			   "name '%.32s' was already given in %.40s:%u; give the include a name",
			   name, source_name_short(source_name(&self->source, other), text),
			   (unsigned)there);
}

enum status compile_body_names(struct compile *self)
{
	for (uint32_t i = 0; self->keeps_names && i < self->bodies.count; i++) {
		const struct named_bodies bodies = self->bodies.items[i];
		for (uint32_t k = 0; k < bodies.count; k++) {
			struct command *command =
				compile_command(self, COMMAND_NAME_BODY, bodies.line);
			if (command == NULL)
				return source_no_memory(&self->source);
			command->name_body.body = -(int64_t)(bodies.first + k) - 1;
			index_name(bodies.name, k, bodies.count, &command->name_body.name);
		}
	}
	return STATUS_OK;
}

enum status compile_joint_name(struct compile *self, const char *name, uint32_t line,
			       uint32_t joint, uint32_t index, uint32_t count)
{
	struct command *command = compile_command(self, COMMAND_NAME_JOINT, line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->name_joint.joint = -(int64_t)joint - 1;
	index_name(name, index, count, &command->name_joint.name);
	return STATUS_OK;
}
