/* See batch_world.h. */
#include "server/commands/batch_world.h"

#include <stdlib.h>
#include <string.h>

#include "server/worlds/scene_world.h"

static enum status set_parameter(struct world *world, const char *text, struct reason *why)
{
	struct command command;
	command_defaults(&command, COMMAND_PARAMETER);
	const char *equals = strchr(text, '=');
	size_t bytes = equals != NULL ? (size_t)(equals - text) : 0;
	if (bytes == 0 || bytes >= sizeof command.parameter.name.text)
		return reason_set(why, STATUS_RANGE, -1, "set", "\"%s\" must be KEY=VALUE", text);
	memcpy(command.parameter.name.text, text, bytes);
	char *end;
	command.parameter.value = strtod(equals + 1, &end);
	if (end == equals + 1 || *end != '\0')
		return reason_set(why, STATUS_TYPE, -1, "set", "\"%s\": the value must be a number",
				  text);
	struct batch batch = { .number = 1, .commands = &command, .count = 1 };
	struct batch_result result;
	enum status status = world_apply(world, &batch, 1, &result);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "set", "%s", status_text(status));
	if (result.status != STATUS_OK)
		return reason_set(why, result.status, -1, "set", "%s: %s", text, result.why.text);
	return STATUS_OK;
}

enum status batch_world_make(const char *path, const char *method, const struct option_list *set,
			     struct shape_library *book, struct scene **scene, struct world **world,
			     struct reason *why)
{
	*scene = NULL;
	*world = NULL;
	enum status status = scene_load(path, scene, why);
	if (status != STATUS_OK)
		return status;
	status = scene_world_make(*scene, method, book, world, why);
	for (uint32_t i = 0; i < set->count && status == STATUS_OK; i++)
		status = set_parameter(*world, set->items[i], why);
	return status;
}
