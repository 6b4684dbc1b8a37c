/* commands.c: shapes and commands of cairn.h.
 *
 * A cairn_command has the layout of the engine's struct command, field by field, which the assertions
 * below hold; only its union is larger, so that arrays of commands keep their layout when a field is
 * appended.
 */
#include <stdio.h>
#include <string.h>

#include "clients/c/library.h"
#include "clients/lib/shape_text.h"
#include "server/base/heap.h"

#define COMMAND(number, NAME, name, needed, result, doc)                                           \
	typedef struct cairn_command_##name public_##NAME;                                         \
	_Static_assert((int)CAIRN_COMMAND_##NAME == (number), "the number of " #name);
#define FIELD(NAME, TYPE, name, min, max, initial, unit, doc)                                      \
	_Static_assert(offsetof(public_##NAME, name) == offsetof(struct command_##NAME, name) &&   \
			       sizeof(((public_##NAME *)NULL)->name) ==                            \
				       sizeof(((struct command_##NAME *)NULL)->name),              \
		       "the place and size of " #NAME "." #name);
#include "server/engine/world/commands.def"
_Static_assert(sizeof(cairn_command) >= sizeof(struct command), "commands fit");
_Static_assert(offsetof(cairn_command, spawn) == offsetof(struct command, spawn),
	       "the union's place");
_Static_assert(sizeof(cairn_attachment) == sizeof(struct attachment) &&
		       offsetof(cairn_attachment, rotation) ==
			       offsetof(struct attachment, rotation),
	       "attachments");
_Static_assert(sizeof(cairn_joint_target) == sizeof(struct joint_target) &&
		       offsetof(cairn_joint_target, value) == offsetof(struct joint_target, value),
	       "targets");
_Static_assert(sizeof(cairn_joint_point) == sizeof(struct joint_point), "points");

cairn_command cairn_command_make(int op)
{
	struct command engine;
	cairn_command command;
	memset(&command, 0, sizeof command);
	memset(&engine, 0, sizeof engine);
	command_defaults(&engine, (uint16_t)op);
	memcpy(&command, &engine, sizeof engine);
	return command;
}

static uint32_t attachment_total(const cairn_command *commands, uint32_t count)
{
	uint32_t total = 0;
	for (uint32_t i = 0; i < count; i++)
		if (commands[i].op == CAIRN_COMMAND_SPAWN)
			total += commands[i].spawn.shapes.count;
	return total;
}

/* Copies the attachments of a body to `to`; a rotation of zeros becomes the identity. */
static void copy_attachments(struct attachment_list *list, struct attachment *to)
{
	for (uint32_t i = 0; i < list->count; i++) {
		to[i] = list->items[i];
		const quat *turn = &to[i].rotation;
		if (turn->w == 0 && turn->x == 0 && turn->y == 0 && turn->z == 0)
			to[i].rotation.w = 1;
	}
	list->items = to;
}

/* Copies commands into the engine's form and checks their values, so that a mistake is reported
 * without a round trip. */
static enum status copy_commands(const cairn_command *from, uint32_t count, struct command *to,
				 struct attachment *attachments, struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		memcpy(&to[i], &from[i], sizeof to[i]);
		if (to[i].op == COMMAND_SPAWN) {
			copy_attachments(&to[i].spawn.shapes, attachments);
			attachments += to[i].spawn.shapes.count;
		}
		status = command_check_values(&to[i], i, why);
	}
	return status;
}

static enum status apply(cairn_world *world, const struct command *commands, uint32_t count,
			 uint32_t *ids, struct reason *why)
{
	struct wire_result result;
	enum status status =
		cairn_apply_now(world->client->wire, &world->info, commands, count, &result, why);
	for (uint32_t i = 0; ids != NULL && i < count; i++)
		ids[i] = status == STATUS_OK ? result_value(&result, i) : 0;
	return status;
}

int cairn_world_apply(cairn_world *world, const cairn_command *commands, uint32_t count,
		      uint32_t *ids, cairn_error *error)
{
	struct reason why = library_reason();
	struct command *engine = heap_alloc(MAX_OF(count, 1u) * sizeof *engine);
	struct attachment *attachments =
		heap_alloc(MAX_OF(attachment_total(commands, count), 1u) * sizeof *attachments);
	enum status status = STATUS_NO_MEMORY;
	if (engine != NULL && attachments != NULL)
		status = copy_commands(commands, count, engine, attachments, &why);
	if (status == STATUS_OK)
		status = apply(world, engine, count, ids, &why);
	heap_free(attachments);
	heap_free(engine);
	return library_fail(status, &why, error);
}

/* Applies a command that has one text, which must fit. */
static int apply_named(cairn_world *world, struct command *command, struct text32 *name,
		       const char *text, cairn_error *error)
{
	struct reason why = library_reason();
	enum status status = STATUS_OK;
	if (strlen(text) >= sizeof name->text)
		status = reason_set(&why, STATUS_RANGE, -1, "name",
				    "%.40s… has %zu bytes; a name has at most %zu", text,
				    strlen(text), sizeof name->text - 1);
	else
		memcpy(name->text, text, strlen(text) + 1);
	if (status == STATUS_OK)
		status = command_check_values(command, 0, &why);
	if (status == STATUS_OK)
		status = apply(world, command, 1, NULL, &why);
	return library_fail(status, &why, error);
}

int cairn_world_set(cairn_world *world, const char *name, double value, cairn_error *error)
{
	struct command command;
	command_defaults(&command, COMMAND_PARAMETER);
	command.parameter.value = value;
	return apply_named(world, &command, &command.parameter.name, name, error);
}

int cairn_world_method(cairn_world *world, const char *name, cairn_error *error)
{
	struct command command;
	command_defaults(&command, COMMAND_METHOD);
	return apply_named(world, &command, &command.method.name, name, error);
}

int cairn_world_shape(cairn_world *world, const char *text, int64_t *shape, cairn_error *error)
{
	struct command use;
	struct bytes canonical = { 0 };
	struct reason why = library_reason();
	uint32_t id = 0;
	command_defaults(&use, COMMAND_SHAPE_USE);
	enum status status = shape_text_parse(text, &canonical, &why);
	if (status == STATUS_OK)
		status = cairn_shape(world->client->wire, world->info.number, canonical.data,
				     canonical.count, &use.shape_use.name, &why);
	if (status == STATUS_OK)
		status = apply(world, &use, 1, &id, &why);
	bytes_release(&canonical);
	*shape = id;
	return library_fail(status, &why, error);
}
