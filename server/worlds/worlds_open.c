/* worlds_open.c: opens worlds: those of the data directory first, then scenes of the command line
 * whose names are not taken, then WORLD_CREATE's options. A bad file of the data directory is left
 * as it is, reported, and does not keep the others from opening, unless --strict-data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/complaint.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/remember.h"
#include "server/session/service.h"
#include "server/session/session.h"
#include "server/store/session_file.h"
#include "server/worlds/scene_world.h"
#include "server/worlds/worlds.h"

/* ---- the data directory -------------------------------------------------------------------------- */

static void release_recovered(struct recovered *recovered)
{
	for (uint32_t i = 0; i < recovered->snapshots.count; i++)
		bytes_release(&recovered->snapshots.items[i].image);
	ARRAY_RELEASE(&recovered->snapshots);
	shape_library_release(&recovered->shapes);
	if (recovered->journal != NULL)
		journal_close(recovered->journal);
	if (recovered->world != NULL)
		world_destroy(recovered->world);
}

/* Leaves out a world whose file cannot be recovered: logs it and lists it in INFO, /readyz and the
 * metrics. The file stays as it is. With --strict-data, or without memory, the start fails
 * instead. */
static enum status refuse_file(struct service *service, const char *name,
			       const struct reason *inner, struct reason *why)
{
	if (service->options->strict_data || inner->status == STATUS_NO_MEMORY)
		return reason_set(why, inner->status, inner->index, inner->field, "world %s: %s",
				  name, inner->text);
	log_error("world_refused", "name=%s status=%s text=%s: its file is left as it is", name,
		  status_name(inner->status), LOG_TEXT(inner->text));
	enum status status = store_refuse(service->store, name, inner);
	return reason_set(why, status, -1, "data", "%s", status_text(status));
}

/* A world whose recovery tells about batches of remembered sessions. */
struct recovering_world {
	struct service *service;
	uint32_t number; /* that it had */
};

static void remember_number(void *context, uint32_t session, uint64_t batch)
{
	const struct recovering_world *world = context;
	struct membership *membership = remember_membership(world->service, session, world->number);
	if (membership == NULL)
		return;
	if (batch & HOST_STEP_BATCH)
		membership->step_last = MAX_OF(membership->step_last, batch & ~HOST_STEP_BATCH);
	else
		ledger_saw(&membership->ledger, batch);
}

static void remember_result(void *context, const struct batch_result *from)
{
	const struct recovering_world *world = context;
	struct membership *membership =
		remember_membership(world->service, from->session, world->number);
	struct wire_result result = {
		.batch = from->number,
		.tick = from->tick,
		.edit = from->edit,
		.code = from->stored ? STATUS_WAITING : from->status,
		.index = from->status == STATUS_OK ? -1 : from->why.index,
		.values = from->value_count > 0 ? from->values : NULL,
		.value_count = from->value_count,
	};
	if (from->status != STATUS_OK) {
		result.field = wire_text(from->why.field);
		result.text = wire_text(from->why.text);
	}
	if (membership != NULL && !(from->number & HOST_STEP_BATCH))
		(void)ledger_restore(&membership->ledger, &result);
}

/* Remembered sessions are members of the world again. */
static enum status admit_remembered(struct service *service, struct served_world *world,
				    struct reason *why)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < service->sessions.items.count && status == STATUS_OK; i++) {
		struct session *session = service->sessions.items.items[i];
		if (session_membership_or_past(session, world->number) != NULL)
			status = worlds_admit(world, session);
	}
	if (status != STATUS_OK)
		reason_set(why, status, -1, "sessions", "%s", status_text(status));
	return status;
}

static enum status open_recovered(struct service *service, const char *name, struct reason *why)
{
	struct recovered recovered = { 0 };
	struct served_world *served;
	struct reason inner;
	struct recovering_world recovering = { service, session_file_world(service->store, name) };
	struct recovery_events events = { remember_number, remember_result, &recovering };
	bool remembers = service->sessions.items.count > 0;
	enum status status =
		store_recover(service->store, name, remembers ? &events : NULL, &recovered, &inner);
	if (status != STATUS_OK)
		return refuse_file(service, name, &inner, why);
	uint32_t session_max = recovered.session_max;
	log_info("world_recovered", "name=%s checkpoint_tick=%llu replayed=%llu", name,
		 (unsigned long long)recovered.checkpoint_tick,
		 (unsigned long long)recovered.replayed);
	if (recovered.upgraded)
		log_info("world_upgraded", "name=%s from=\"%s\" redone=%llu", name, recovered.from,
			 (unsigned long long)recovered.redone);
	if (service->options->journal_keep && !recovered.whole)
		log_warn("recording_not_from_birth",
			 "name=%s: its first ticks were pruned before --journal-keep was set",
			 name);
	struct world_start start = { .running = !service->options->paused };
	status = worlds_add(service, name, recovered.world, &recovered.shapes, &start, &recovered,
			    &served, why);
	if (status == STATUS_OK) {
		recovered.world = NULL;
		status = admit_remembered(service, served, why);
	}
	/* Owners of bodies are session numbers, so a new session must not get the number of an
	 * earlier one. */
	service->sessions.next_number = MAX_OF(service->sessions.next_number, session_max + 1);
	release_recovered(&recovered);
	return status;
}

static enum status open_directory(struct service *service, struct reason *why)
{
	uint32_t count = store_worlds(service->store, NULL, 0);
	char(*names)[WIRE_NAME_MAX + 1] = heap_alloc(MAX_OF(count, 1u) * sizeof *names);
	if (names == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "data", "%s",
				  status_text(STATUS_NO_MEMORY));
	count = MIN_OF(count, store_worlds(service->store, names, count));
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++)
		status = open_recovered(service, names[i], why);
	heap_free(names);
	return status;
}

/* ---- scenes -------------------------------------------------------------------------------------- */

/* Splits "NAME=FILE"; of a plain FILE the name is the file's without directory and ending. Returns
 * the file. */
static const char *split_scene(const char *text, char name[WIRE_NAME_MAX + 1])
{
	const char *equals = strchr(text, '=');
	const char *file = equals != NULL ? equals + 1 : text;
	const char *slash = strrchr(file, '/');
	const char *from = equals != NULL ? text : slash != NULL ? slash + 1 : file;
	const char *end = equals != NULL ? equals : strrchr(from, '.');
	size_t bytes = end != NULL && end > from ? (size_t)(end - from) : strlen(from);
	bytes = MIN_OF(bytes, (size_t)WIRE_NAME_MAX);
	memcpy(name, from, bytes);
	name[bytes] = '\0';
	return file;
}

static bool is_refused(const struct service *service, const char *name)
{
	uint32_t count = 0;
	const struct refused_file *files =
		service->store != NULL ? store_refused(service->store, &count) : NULL;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(files[i].name, name) == 0)
			return true;
	return false;
}

static enum status open_scene(struct service *service, const char *text, struct reason *why)
{
	char name[WIRE_NAME_MAX + 1];
	const char *file = split_scene(text, name);
	if (!worlds_name_valid(name))
		return reason_set(why, STATUS_RANGE, -1, "scene",
				  "\"%s\" is no valid name for a world; use NAME=FILE with 1 to %d "
				  "letters, digits, '-', '_' or '.'",
				  name, WIRE_NAME_MAX);
	if (worlds_find_name(service->worlds, name) != NULL) {
		log_info("scene_has_a_world",
			 "name=%s: the world continues from its file, the scene is not used", name);
		return STATUS_OK;
	}
	if (is_refused(service, name)) {
		log_error(
			"scene_left_out",
			"name=%s: the world's file was refused; move the file away to use the scene",
			name);
		return STATUS_OK;
	}
	struct scene *scene;
	const struct scene_options given = { .lets = service->options->scene_let.items,
					     .let_count = service->options->scene_let.count };
	enum status status = scene_load_with(file, &given, &scene, why);
	if (status != STATUS_OK)
		return status;
	struct made_scene made;
	struct served_world *served;
	status = scene_world_take(scene, &made, why);
	if (status != STATUS_OK)
		return status;
	scene_world_log_notes(&made, name);
	struct world_start start = { .running = !service->options->paused,
				     .own_durability = made.own_durability,
				     .durability = made.durability };
	status = worlds_add(service, name, made.world, &made.shapes, &start, NULL, &served, why);
	if (status == STATUS_OK)
		made.world = NULL;
	scene_world_release(&made);
	return status;
}

/* The second scene of a name would be left out, as one whose world has a file. */
static enum status check_names(const struct option_list *scenes, struct reason *why)
{
	char name[WIRE_NAME_MAX + 1], other[WIRE_NAME_MAX + 1];
	for (uint32_t i = 0; i < scenes->count; i++) {
		(void)split_scene(scenes->items[i], name);
		for (uint32_t k = 0; k < i; k++) {
			(void)split_scene(scenes->items[k], other);
			if (strcmp(name, other) == 0)
				return reason_set(why, STATUS_EXISTS, -1, "scene",
						  "--scene %.40s: its world is %.32s, as that of "
						  "%.40s; give one another name with NAME=FILE",
						  scenes->items[i], name, scenes->items[k]);
		}
	}
	return STATUS_OK;
}

enum status worlds_open_all(struct service *service, struct reason *why)
{
	enum status status = check_names(&service->options->scenes, why);
	if (status != STATUS_OK)
		return status;
	if (service->store != NULL)
		status = open_directory(service, why);
	for (uint32_t i = 0; i < service->options->scenes.count && status == STATUS_OK; i++)
		status = open_scene(service, service->options->scenes.items[i], why);
	return status;
}

/* ---- WORLD_CREATE -------------------------------------------------------------------------------- */

static enum status take_u32(struct wire_cursor *in, uint32_t *value)
{
	uint64_t wide;
	enum status status = wire_take_uint(in, UINT32_MAX, &wide);
	if (status == STATUS_OK)
		*value = (uint32_t)wide;
	return status;
}

static enum status take_u32_pair(struct wire_cursor *in, uint32_t *first, uint32_t *second)
{
	struct wire_list list;
	enum status status = wire_take_list(in, &list);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor items = wire_cursor_list(&list);
	if (list.count != 2)
		return STATUS_TYPE;
	status = take_u32(&items, first);
	return status == STATUS_OK ? take_u32(&items, second) : status;
}

static enum status take_flag(struct wire_cursor *in, bool *flag)
{
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status != STATUS_OK)
		return status;
	if (token.type != WIRE_TOKEN_BOOL)
		return STATUS_TYPE;
	*flag = token.truth;
	return STATUS_OK;
}

static enum status take_vec3(struct wire_cursor *in, vec3 *value)
{
	double values[3];
	enum status status = wire_take_tuple(in, values, 3);
	if (status == STATUS_OK)
		*value = (vec3){ values[0], values[1], values[2] };
	return status;
}

static enum status take_text(struct wire_cursor *in, char *text, size_t bytes)
{
	struct wire_token token;
	enum status status = wire_next(in, &token);
	if (status != STATUS_OK)
		return status;
	if (token.type != WIRE_TOKEN_TEXT)
		return STATUS_TYPE;
	if (token.count >= bytes)
		return STATUS_RANGE;
	memcpy(text, token.at, token.count);
	text[token.count] = '\0';
	return STATUS_OK;
}

static enum status take_durability(struct wire_cursor *in, struct world_start *start)
{
	char name[16];
	enum status status = take_text(in, name, sizeof name);
	if (status != STATUS_OK)
		return status;
	start->own_durability = durability_parse(name, strlen(name), &start->durability);
	return start->own_durability ? STATUS_OK : STATUS_RANGE;
}

/* table: one line an option. */
static enum status take_option(struct wire_slice key, struct wire_cursor *in,
			       struct world_options *options, struct world_start *start)
{
	if (wire_slice_is(key, "rate"))
		return take_u32_pair(in, &options->rate_num, &options->rate_den);
	if (wire_slice_is(key, "planar"))
		return take_flag(in, &options->planar);
	if (wire_slice_is(key, "gravity"))
		return take_vec3(in, &options->gravity);
	if (wire_slice_is(key, "seed"))
		return wire_take_uint(in, WIRE_INTEGER_MAX, &options->seed);
	if (wire_slice_is(key, "method"))
		return take_text(in, options->method, sizeof options->method);
	if (wire_slice_is(key, "broad_phase"))
		return take_text(in, options->broad_phase, sizeof options->broad_phase);
	if (wire_slice_is(key, "running"))
		return take_flag(in, &start->running);
	if (wire_slice_is(key, "durability"))
		return take_durability(in, start);
	if (wire_slice_is(key, "bodies_max"))
		return take_u32(in, &options->limits.bodies);
	if (wire_slice_is(key, "placements_max"))
		return take_u32(in, &options->limits.placements);
	if (wire_slice_is(key, "contacts_max"))
		return take_u32(in, &options->limits.contacts);
	if (wire_slice_is(key, "shapes_max"))
		return take_u32(in, &options->limits.shapes);
	if (wire_slice_is(key, "joints_max"))
		return take_u32(in, &options->limits.joints);
	if (wire_slice_is(key, "events_max"))
		return take_u32(in, &options->limits.events);
	if (wire_slice_is(key, "memory_max"))
		return wire_take_uint(in, WIRE_INTEGER_MAX, &options->limits.memory_bytes);
	return STATUS_UNKNOWN_PARAMETER;
}

/* The values that an option allows, as text; NULL: no option has that name. */
static const char *allowed_values(struct wire_slice key)
{
	static const struct {
		const char *key, *allowed;
	} OPTIONS[] = {
		{ "rate", "[numerator, denominator], both within 1 and 1000000" },
		{ "planar", "true or false" },
		{ "gravity", "three finite numbers" },
		{ "seed", "an integer within 0 and 9007199254740992" },
		{ "method", "a text of at most 31 bytes" },
		{ "broad_phase", "a text of at most 15 bytes" },
		{ "running", "true or false" },
		{ "durability", "off, tick or command" },
		{ "bodies_max", "an integer within 1 and 16777216" },
		{ "placements_max", "an integer within 1 and 16777216" },
		{ "contacts_max", "an integer within 1 and 16777216" },
		{ "shapes_max", "an integer within 1 and 16777216" },
		{ "joints_max", "an integer within 1 and 16777216" },
		{ "events_max", "an integer within 1 and 16777216" },
		{ "memory_max", "an integer within 65536 and 9007199254740991" },
	};
	for (size_t i = 0; i < COUNT_OF(OPTIONS); i++)
		if (wire_slice_is(key, OPTIONS[i].key))
			return OPTIONS[i].allowed;
	return NULL;
}

/* Refuses an option; `field` is its name. */
static enum status refuse_option(struct wire_slice key, uint32_t index, enum status status,
				 struct wire_cursor value, struct reason *why)
{
	char name[33];
	const char *allowed = allowed_values(key);
	snprintf(name, sizeof name, "%.*s", (int)MIN_OF(key.bytes, 32u), (const char *)key.at);
	if (allowed == NULL)
		return reason_set(why, status, index, "options",
				  "there is no option \"%s\"; docs/PROTOCOL.md lists them", name);
	return wire_complain(why, status, index, name, "options", value, allowed);
}

enum status worlds_parse_options(const struct wire_list *map, struct world_options *options,
				 struct world_start *start, struct reason *why)
{
	*options = world_options_default();
	*start = (struct world_start){ 0 };
	struct wire_cursor in = wire_cursor_list(map);
	for (uint32_t i = 0; i < map->count; i++) {
		struct wire_token key;
		enum status status = wire_next(&in, &key);
		if (status != STATUS_OK || key.type != WIRE_TOKEN_TEXT)
			return reason_set(why, STATUS_TYPE, i, "options", "a key must be a str");
		struct wire_slice name = { key.at, key.count };
		const struct wire_cursor before = in;
		status = take_option(name, &in, options, start);
		if (status != STATUS_OK)
			return refuse_option(name, i, status, before, why);
	}
	return STATUS_OK;
}
