/* client.c: connections, worlds and their clocks (cairn.h). */
#include <stdio.h>
#include <string.h>

#include "clients/c/library.h"
#include "protocol/packer.h"
#include "protocol/scene/scene.h"
#include "server/base/heap.h"

struct reason library_reason(void)
{
	return (struct reason){ .index = -1 };
}

int library_fail(enum status status, const struct reason *why, cairn_error *error)
{
	if (error == NULL)
		return (int)status;
	memset(error, 0, sizeof *error);
	error->status = (int)status;
	error->index = -1;
	if (status == STATUS_OK)
		return (int)status;
	error->index = why->index;
	_Static_assert(sizeof error->field == sizeof why->field, "fields fit");
	_Static_assert(sizeof error->text == sizeof why->text, "texts fit");
	memcpy(error->field, why->field, sizeof error->field);
	memcpy(error->text, why->text, sizeof error->text);
	if (error->text[0] == '\0')
		snprintf(error->text, sizeof error->text, "%s", status_text(status));
	return (int)status;
}

const char *cairn_status_name(int status)
{
	return status_name((enum status)status);
}

const char *cairn_status_text(int status)
{
	return status_text((enum status)status);
}

const char *cairn_version(void)
{
	return CAIRN_VERSION;
}

/* ---- the connection
 * ------------------------------------------------------------------------------ */

/* A world changed its mode, pace or epoch. */
static void on_world(void *context, const struct msg_world_info *info)
{
	struct cairn_connected *self = context;
	for (uint32_t i = 0; i < self->worlds.count; i++) {
		struct cairn_world *known = &self->worlds.items[i]->info;
		if (known->number != info->world)
			continue;
		known->mode = (enum wire_mode)info->mode;
		known->epoch = info->epoch;
		known->tick = info->tick;
		known->bodies = info->bodies;
		known->rate = info->rate;
		snprintf(known->method, sizeof known->method, "%.*s", (int)info->method.bytes,
			 (const char *)info->method.at);
	}
}

int cairn_client_open(const char *address, const cairn_client_options *options,
		      cairn_client **client, cairn_error *error)
{
	struct reason why = library_reason();
	cairn_client *self = heap_alloc_zero(sizeof *self);
	*client = NULL;
	if (self == NULL)
		return library_fail(STATUS_NO_MEMORY, &why, error);
	if (options != NULL)
		self->options = *options;
	const struct cairn_options wire = {
		.name = self->options.name != NULL ? self->options.name : "libcairn",
		.token = self->options.token,
		.tls_trusted = self->options.tls_trusted,
		.timeout_ms = self->options.timeout_ms,
		.resumes = self->options.resumes,
		.callbacks = { .frame = library_frame,
			       .event = library_event,
			       .world = on_world,
			       .context = self },
	};
	enum status status = cairn_connect(address, &wire, &self->wire, &why);
	if (status != STATUS_OK)
		cairn_client_close(self);
	else
		*client = self;
	return library_fail(status, &why, error);
}

void cairn_client_close(cairn_client *client)
{
	if (client == NULL)
		return;
	cairn_close(client->wire);
	for (uint32_t i = 0; i < client->worlds.count; i++)
		heap_free(client->worlds.items[i]);
	heap_free(client->worlds.items);
	heap_free(client->stepped.items);
	heap_free(client->watched_joints.items);
	heap_free(client->watched_particles.items);
	heap_free(client->values.items);
	heap_free(client->watched.items);
	heap_free(client->contacts.items);
	heap_free(client->colours.items);
	heap_free(client->visuals.items);
	heap_free(client->labels.items);
	heap_free(client->joints.items);
	heap_free(client);
}

int cairn_client_resume(cairn_client *client, cairn_error *error)
{
	struct reason why = library_reason();
	return library_fail(cairn_resume(client->wire, &why), &why, error);
}

uint32_t cairn_client_retry_ms(const cairn_client *client)
{
	return cairn_retry_ms(client->wire);
}

int cairn_client_fd(const cairn_client *client)
{
	return cairn_fd(client->wire);
}

int cairn_client_poll(cairn_client *client, int timeout_ms, cairn_error *error)
{
	struct reason why = library_reason();
	return library_fail(cairn_poll(client->wire, timeout_ms, &why), &why, error);
}

cairn_client_info cairn_client_facts(const cairn_client *client)
{
	const struct cairn_session *session = cairn_session(client->wire);
	return (cairn_client_info){ session->number, (uint32_t)session->role, session->server,
				    session->build };
}

/* ---- worlds
 * -------------------------------------------------------------------------------------- */

static cairn_world_info library_world_info(const struct cairn_world *info)
{
	return (cairn_world_info){ info->number,    info->name,	    info->method,
				   info->epoch,	    info->tick,	    info->bodies,
				   (int)info->mode, info->rate.num, info->rate.den };
}

/* Stores a joined world; a world that was joined before keeps its handle. */
static enum status keep_world(struct cairn_connected *self, const struct cairn_world *info,
			      cairn_world **out)
{
	for (uint32_t i = 0; i < self->worlds.count; i++) {
		if (self->worlds.items[i]->info.number != info->number)
			continue;
		*out = self->worlds.items[i];
		(*out)->info = *info;
		return STATUS_OK;
	}
	struct cairn_joined *world = heap_alloc_zero(sizeof *world);
	if (world == NULL || ARRAY_RESERVE(&self->worlds, self->worlds.count + 1u) != STATUS_OK) {
		heap_free(world);
		return STATUS_NO_MEMORY;
	}
	*world = (struct cairn_joined){ .client = self, .info = *info };
	self->worlds.items[self->worlds.count++] = *out = world;
	return STATUS_OK;
}

static void pack_rate(struct wire_packer *out, const cairn_world_options *options)
{
	wire_pack_string(out, "rate");
	wire_pack_array(out, 2);
	wire_pack_uint(out, options->rate_numerator);
	wire_pack_uint(out, MAX_OF(options->rate_denominator, 1u));
}

/* Packs the pairs of WORLD_CREATE; returns their count. */
static uint32_t pack_options(struct wire_packer *out, const cairn_world_options *options)
{
	uint32_t count = 0;
	if (options->rate_numerator != 0) {
		pack_rate(out, options);
		count++;
	}
	if (options->method != NULL) {
		wire_pack_string(out, "method");
		wire_pack_string(out, options->method);
		count++;
	}
	if (options->gravity_given) {
		wire_pack_string(out, "gravity");
		wire_pack_array(out, 3);
		wire_pack_real(out, options->gravity.x);
		wire_pack_real(out, options->gravity.y);
		wire_pack_real(out, options->gravity.z);
		count++;
	}
	if (options->seed_given) {
		wire_pack_string(out, "seed");
		wire_pack_uint(out, options->seed);
		count++;
	}
	if (options->planar) {
		wire_pack_string(out, "planar");
		wire_pack_bool(out, true);
		count++;
	}
	if (options->running) {
		wire_pack_string(out, "running");
		wire_pack_bool(out, true);
		count++;
	}
	return count;
}

int cairn_client_create(cairn_client *client, const char *name, const cairn_world_options *options,
			cairn_world **world, cairn_error *error)
{
	static const cairn_world_options defaults;
	uint8_t packed[512];
	struct cairn_world info;
	struct reason why = library_reason();
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	uint32_t count = pack_options(&out, options != NULL ? options : &defaults);
	enum status status = wire_packer_status(&out);
	const struct wire_list list = { packed, out.bytes, count };
	*world = NULL;
	if (status != STATUS_OK)
		reason_set(&why, status, -1, "options",
			   "the options need more than %zu bytes, or a number is not finite: "
			   "give finite numbers and names of at most 31 bytes",
			   sizeof packed);
	if (status == STATUS_OK)
		status = cairn_create(client->wire, name, &list, &info, &why);
	if (status == STATUS_OK)
		status = cairn_join(client->wire, name, &info, &why);
	if (status == STATUS_OK)
		status = keep_world(client, &info, world);
	return library_fail(status, &why, error);
}

int cairn_client_join(cairn_client *client, const char *name, cairn_world **world,
		      cairn_error *error)
{
	struct cairn_world info;
	struct reason why = library_reason();
	*world = NULL;
	enum status status = cairn_join(client->wire, name, &info, &why);
	if (status == STATUS_OK)
		status = keep_world(client, &info, world);
	return library_fail(status, &why, error);
}

int cairn_client_load(cairn_client *client, const char *name, const char *path, cairn_world **world,
		      cairn_error *error)
{
	return cairn_client_load_with(client, name, path, NULL, 0, world, error);
}

int cairn_client_load_with(cairn_client *client, const char *name, const char *path,
			   const char *const *variables, uint32_t count, cairn_world **world,
			   cairn_error *error)
{
	const struct scene_options options = { .lets = variables, .let_count = count };
	struct cairn_world info;
	struct reason why = library_reason();
	*world = NULL;
	enum status status = cairn_load(client->wire, name, path, &options, NULL, &info, &why);
	if (status == STATUS_OK)
		status = keep_world(client, &info, world);
	return library_fail(status, &why, error);
}

struct scene_listener {
	void (*each)(void *context, const cairn_scene_info *scene);
	void *context;
};

static void tell_scene(void *context, const struct cairn_scene *scene)
{
	const struct scene_listener *listener = context;
	const cairn_scene_info info = { scene->name, scene->title, scene->bytes };
	listener->each(listener->context, &info);
}

int cairn_client_scenes(cairn_client *client,
			void (*each)(void *context, const cairn_scene_info *scene), void *context,
			cairn_error *error)
{
	struct scene_listener listener = { each, context };
	struct reason why = library_reason();
	enum status status = cairn_scenes(client->wire, tell_scene, &listener, &why);
	return library_fail(status, &why, error);
}

int cairn_client_open_scene(cairn_client *client, const char *name, const char *scene,
			    const char *const *variables, uint32_t count, bool running,
			    cairn_world **world, cairn_error *error)
{
	const struct scene_options options = { .lets = variables, .let_count = count };
	struct cairn_world info;
	struct reason why = library_reason();
	*world = NULL;
	enum status status =
		cairn_open_scene(client->wire, name, scene, &options, running, &info, NULL, &why);
	if (status == STATUS_OK)
		status = cairn_join(client->wire, name, &info, &why);
	if (status == STATUS_OK)
		status = keep_world(client, &info, world);
	return library_fail(status, &why, error);
}

int cairn_client_inspect(cairn_client *client, const char *what, const cairn_value **facts,
			 cairn_error *error)
{
	struct message reply;
	struct reason why = library_reason();
	enum status status = cairn_info(client->wire, what, &reply, &why);
	const struct wire_slice nothing = { 0 };
	if (library_values(client, status == STATUS_OK ? reply.reply.value : nothing, facts,
			   &why) != STATUS_OK &&
	    status == STATUS_OK)
		status = why.status;
	return library_fail(status, &why, error);
}

int cairn_client_worlds(cairn_client *client,
			void (*each)(void *context, const cairn_world_info *info), void *context,
			cairn_error *error)
{
	struct reason why = library_reason();
	uint32_t capacity = 64, count = 0;
	struct cairn_world *list = NULL;
	enum status status = STATUS_OK;
	do {
		capacity = MAX_OF(capacity, count);
		heap_free(list);
		list = heap_alloc(capacity * sizeof *list);
		status = list != NULL ? cairn_worlds(client->wire, list, capacity, &count, &why)
				      : STATUS_NO_MEMORY;
	} while (status == STATUS_OK && count > capacity);
	for (uint32_t i = 0; status == STATUS_OK && i < count; i++) {
		const cairn_world_info info = library_world_info(&list[i]);
		each(context, &info);
	}
	heap_free(list);
	return library_fail(status, &why, error);
}

/* ---- the clock and the state of a world
 * ---------------------------------------------------------- */

cairn_world_info cairn_world_facts(const cairn_world *world)
{
	return library_world_info(&world->info);
}

static int control_world(cairn_world *world, enum wire_control action, double value,
			 cairn_error *error)
{
	struct reason why = library_reason();
	enum status status = cairn_control(world->client->wire, world->info.number, action, value,
					   &world->info, &why);
	return library_fail(status, &why, error);
}

int cairn_world_pause(cairn_world *world, cairn_error *error)
{
	return control_world(world, WIRE_CONTROL_PAUSE, 1, error);
}

int cairn_world_resume(cairn_world *world, cairn_error *error)
{
	return control_world(world, WIRE_CONTROL_RESUME, 1, error);
}

int cairn_world_speed(cairn_world *world, double factor, cairn_error *error)
{
	return control_world(world, WIRE_CONTROL_SPEED, factor, error);
}

int cairn_world_save(cairn_world *world, const char *name, cairn_error *error)
{
	struct message saved;
	struct reason why = library_reason();
	return library_fail(cairn_save(world->client->wire, world->info.number, name, &saved, &why),
			    &why, error);
}

int cairn_world_restore(cairn_world *world, const char *name, cairn_error *error)
{
	struct message restored;
	struct reason why = library_reason();
	return library_fail(
		cairn_restore(world->client->wire, world->info.number, name, &restored, &why), &why,
		error);
}

int cairn_world_restore_tick(cairn_world *world, cairn_instant tick, cairn_error *error)
{
	struct message restored;
	struct reason why = library_reason();
	return library_fail(
		cairn_restore_tick(world->client->wire, world->info.number,
				   (struct cairn_tick){ .tick = tick.tick, .epoch = tick.epoch },
				   &restored, &why),
		&why, error);
}

int cairn_world_fork(cairn_world *world, const char *name, const char *snapshot,
		     const cairn_instant *tick, cairn_world **copy, cairn_error *error)
{
	struct message forked;
	struct cairn_world info;
	struct reason why = library_reason();
	struct cairn *wire = world->client->wire;
	enum status status;
	*copy = NULL;
	if (tick != NULL && snapshot != NULL)
		status = reason_set(
			&why, STATUS_RANGE, -1, "tick",
			"a snapshot and a tick are given: a world begins at one of them; "
			"give NULL for the other");
	else if (tick != NULL)
		status = cairn_fork_tick(
			wire, world->info.number, name,
			(struct cairn_tick){ .tick = tick->tick, .epoch = tick->epoch }, &forked,
			&why);
	else
		status = cairn_fork(wire, world->info.number, name, snapshot, &forked, &why);
	if (status == STATUS_OK)
		status = cairn_join(wire, name, &info, &why);
	if (status == STATUS_OK)
		status = keep_world(world->client, &info, copy);
	return library_fail(status, &why, error);
}

int cairn_world_destroy(cairn_world *world, cairn_error *error)
{
	struct reason why = library_reason();
	return library_fail(cairn_destroy(world->client->wire, world->info.number, &why), &why,
			    error);
}
