/* See batch_world.h. */
#include "server/commands/batch_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/worlds/scene_world.h"

enum status batch_world_set(struct world *world, const char *text, struct reason *why)
{
	struct command command;
	command_defaults(&command, COMMAND_PARAMETER);
	const char *equals = strchr(text, '=');
	size_t bytes = equals != NULL ? (size_t)(equals - text) : 0;
	if (bytes == 0 || bytes >= sizeof command.parameter.name.text)
		return reason_set(why, STATUS_RANGE, -1, "set",
				  "--set: \"%.80s\" must be KEY=VALUE, such as sleep.enabled=0",
				  text);
	memcpy(command.parameter.name.text, text, bytes);
	char *end;
	command.parameter.value = strtod(equals + 1, &end);
	if (end == equals + 1 || *end != '\0')
		return reason_set(why, STATUS_TYPE, -1, "set",
				  "--set: \"%.80s\": the value must be a number", text);
	struct batch batch = { .number = 1, .commands = &command, .count = 1 };
	struct batch_result result;
	enum status status = world_apply(world, &batch, 1, &result);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "set", "%s", status_text(status));
	if (result.status != STATUS_OK)
		return reason_set(why, result.status, -1, "set", "%s: %s", text, result.why.text);
	return STATUS_OK;
}

/* The number of the parameter that KEY=VALUE names, by its present or its earlier name; UINT32_MAX: there
 * is none. */
static uint32_t parameter_of(const char *text)
{
	enum { PARAMETERS_LISTED = 256 };
	struct parameter_info list[PARAMETERS_LISTED];
	uint32_t count = world_parameters(list, PARAMETERS_LISTED);
	size_t bytes = strcspn(text, "=");
	ASSERT(count <= PARAMETERS_LISTED);
	for (uint32_t i = 0; i < count; i++) {
		const char *names[] = { list[i].name, list[i].old };
		for (uint32_t k = 0; k < COUNT_OF(names); k++)
			if (names[k] != NULL && strlen(names[k]) == bytes &&
			    strncmp(names[k], text, bytes) == 0)
				return list[i].number;
	}
	return UINT32_MAX;
}

enum status batch_world_set_all(struct world *world, const struct option_list *set,
				struct reason *why)
{
	uint32_t numbers[OPTION_LIST_MAX];
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < set->count && status == STATUS_OK; i++) {
		numbers[i] = parameter_of(set->items[i]);
		for (uint32_t k = 0; k < i; k++)
			if (numbers[k] == numbers[i])
				return reason_set(why, STATUS_EXISTS, -1, "set",
						  "--set: \"%.40s\" and \"%.40s\" name one "
						  "parameter; give it once",
						  set->items[k], set->items[i]);
		status = batch_world_set(world, set->items[i], why);
	}
	return status;
}

enum status batch_methods_read(const char *text, struct scene_methods *out, struct reason *why)
{
	out->count = 0;
	for (const char *at = text;; at++) {
		size_t bytes = strcspn(at, ",");
		if (bytes == 0 || bytes >= SCENE_METHOD_BYTES)
			return reason_set(why, STATUS_TYPE, -1, "methods",
					  "--methods: \"%.80s\" must be names separated by commas, "
					  "such as lcp,gauss",
					  text);
		if (out->count == SCENE_METHODS_MAX)
			return reason_set(why, STATUS_LIMIT, -1, "methods",
					  "--methods: \"%.80s\" has more than %d names; leave some "
					  "out",
					  text, SCENE_METHODS_MAX);
		for (uint32_t i = 0; i < out->count; i++)
			if (strlen(out->names[i]) == bytes &&
			    strncmp(out->names[i], at, bytes) == 0)
				return reason_set(why, STATUS_EXISTS, -1, "methods",
						  "--methods: %s is in \"%.80s\" twice; name each "
						  "method once",
						  out->names[i], text);
		snprintf(out->names[out->count++], SCENE_METHOD_BYTES, "%.*s", (int)bytes, at);
		at += bytes;
		if (*at == '\0')
			return STATUS_OK;
	}
}

/* N or N/D. */
static enum status parse_rate(const char *text, struct scene_world *out, struct reason *why)
{
	char *end;
	unsigned long num = strtoul(text, &end, 10), den = 1;
	if (*end == '/')
		den = strtoul(end + 1, &end, 10);
	if (*end != '\0' || end == text || num < 1 || num > 1000000 || den < 1 || den > 1000000)
		return reason_set(why, STATUS_RANGE, -1, "rate",
				  "--rate: \"%.40s\" is no rate; use N or N/D, both within 1 and "
				  "1000000",
				  text);
	out->rate_num = (uint32_t)num;
	out->rate_den = (uint32_t)den;
	return STATUS_OK;
}

enum status batch_world_make(const struct batch_scene *from, struct shape_library *book,
			     struct scene **scene, struct world **world, struct reason *why)
{
	*scene = NULL;
	*world = NULL;
	const struct scene_options given = { .lets = from->let->items,
					     .let_count = from->let->count };
	enum status status = scene_load_with(from->path, &given, scene, why);
	if (status != STATUS_OK)
		return status;
	if ((*scene)->notes != NULL)
		fputs((*scene)->notes, stderr);
	if (from->seed != NULL) {
		(*scene)->world.seed = *from->seed;
		(*scene)->world.seed_given = true;
	}
	if (from->rate != NULL)
		status = parse_rate(from->rate, &(*scene)->world, why);
	if (status == STATUS_OK)
		status = scene_world_make(*scene, from->method, book, world, why);
	return status == STATUS_OK ? batch_world_set_all(*world, from->set, why) : status;
}
