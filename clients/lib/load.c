/* load.c: sends the shapes, bodies and joints of a scene to a world (cairn_load of cairn.h).
 *
 * A world that does not run applies everything without a tick, so a new world is in the state that
 * `cairnd --scene` and `cairnd run` begin with. Only a running world may apply a scene of more than one
 * batch over several ticks.
 */
#include "clients/lib/cairn.h"
#include "protocol/command_wire.h"
#include "protocol/packer.h"
#include "protocol/scene/scene.h"
#include "server/base/heap.h"

struct loading {
	struct cairn *client;
	struct reason *why; /* never NULL */
	const struct cairn_progress *progress;
};

static void report(const struct loading *self, const char *what, uint64_t done, uint64_t total)
{
	if (self->progress != NULL)
		self->progress->at(self->progress->context, what, done, total);
}

/* The commands of a batch and the rest of its message must fit into a frame of 64 KiB, the limit of
 * a guest. */
enum { BATCH_BYTES = 60000, BATCH_COMMANDS = WIRE_BATCH_MAX };

/* Packs the limits that the scene sets; returns their count. */
static uint32_t pack_limits(struct wire_packer *out, const struct scene_world *scene)
{
	const struct {
		const char *key;
		uint32_t value;
	} limits[] = {
		{ "bodies_max", scene->bodies_max },
		{ "placements_max", scene->placements_max },
		{ "contacts_max", scene->contacts_max },
		{ "shapes_max", scene->shapes_max },
		{ "joints_max", scene->joints_max },
		{ "events_max", scene->events_max },
	};
	uint32_t count = 0;
	for (size_t i = 0; i < COUNT_OF(limits); i++) {
		if (limits[i].value == 0)
			continue;
		wire_pack_string(out, limits[i].key);
		wire_pack_uint(out, limits[i].value);
		count++;
	}
	return count;
}

/* Creates a world with the options that the scene gives, and joins it. */
static enum status create_for(struct loading *self, const char *name,
			      const struct scene_world *scene, struct cairn_world *world)
{
	uint8_t packed[512];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	uint32_t count = 0;
	if (scene->rate_num != 0) {
		wire_pack_string(&out, "rate");
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, scene->rate_num);
		wire_pack_uint(&out, scene->rate_den);
		count++;
	}
	if (scene->gravity_given) {
		wire_pack_string(&out, "gravity");
		wire_pack_array(&out, 3);
		wire_pack_real(&out, scene->gravity.x);
		wire_pack_real(&out, scene->gravity.y);
		wire_pack_real(&out, scene->gravity.z);
		count++;
	}
	if (scene->method[0] != '\0') {
		wire_pack_string(&out, "method");
		wire_pack_string(&out, scene->method);
		count++;
	}
	if (scene->broad_phase[0] != '\0') {
		wire_pack_string(&out, "broad_phase");
		wire_pack_string(&out, scene->broad_phase);
		count++;
	}
	if (scene->durability[0] != '\0') {
		wire_pack_string(&out, "durability");
		wire_pack_string(&out, scene->durability);
		count++;
	}
	if (scene->seed_given) {
		wire_pack_string(&out, "seed");
		wire_pack_uint(&out, scene->seed);
		count++;
	}
	if (scene->planar) {
		wire_pack_string(&out, "planar");
		wire_pack_bool(&out, true);
		count++;
	}
	count += pack_limits(&out, scene);
	struct wire_list options = { packed, out.bytes, count };
	enum status status = cairn_create(self->client, name, &options, world, self->why);
	return status == STATUS_OK ? cairn_join(self->client, name, world, self->why) : status;
}

/* ---- batches ------------------------------------------------------------------------------------- */

/* The end of the batch that begins with command `first`. It takes as many commands as fit into
 * BATCH_BYTES, so that most scenes are one batch and a running world receives joints together with
 * their bodies. */
static uint32_t batch_end(const struct scene *scene, uint32_t first)
{
	static uint8_t packed[BATCH_BYTES];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	uint32_t end = first;
	while (end < scene->command_count && end - first < BATCH_COMMANDS) {
		command_pack(&out, &scene->commands[end]);
		if (wire_packer_status(&out) != STATUS_OK)
			break;
		end++;
	}
	return MAX_OF(end, first + 1);
}

/* Applies the batch and stores the ids that it created in `values`. A refusal names the line of the
 * scene. */
static enum status apply_batch(struct loading *self, const struct cairn_world *world,
			       const struct scene *scene, uint32_t first, uint32_t end,
			       uint32_t *values)
{
	struct wire_result result;
	enum status status = cairn_apply_now(self->client, world, scene->commands + first,
					     end - first, &result, self->why);
	for (uint32_t i = first; i < end && status == STATUS_OK; i++)
		values[i] = result_value(&result, i - first);
	int64_t index = self->why->index;
	if (status != STATUS_OK && index >= 0 && index < (int64_t)(end - first)) {
		struct reason inner = *self->why;
		char place[SCENE_PLACE_BYTES];
		reason_set(self->why, status, -1, inner.field, "%s: %s",
			   scene_place(scene, scene->lines[first + (uint32_t)index], place),
			   inner.text);
	}
	return status;
}

static enum status apply_all(struct loading *self, const struct cairn_world *world,
			     struct scene *scene)
{
	uint32_t count = scene->command_count;
	uint32_t *values = heap_alloc(MAX_OF(count, 1u) * sizeof *values);
	if (values == NULL)
		return reason_set(self->why, STATUS_NO_MEMORY, -1, "scene", "%s",
				  status_text(STATUS_NO_MEMORY));
	enum status status = STATUS_OK;
	report(self, "bodies", 0, count);
	for (uint32_t first = 0, end; first < count && status == STATUS_OK; first = end) {
		end = batch_end(scene, first);
		scene_link(scene, first, end, values);
		status = apply_batch(self, world, scene, first, end, values);
		report(self, "bodies", end, count);
	}
	heap_free(values);
	return status;
}

/* ---- shapes -------------------------------------------------------------------------------------- */

static enum status upload_shapes(struct loading *self, const struct cairn_world *world,
				 const struct scene *scene, struct command *uses)
{
	uint64_t total = 0, sent = 0;
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < scene->shape_count; i++)
		total += scene->shapes[i].bytes;
	report(self, "shapes", 0, total);
	for (uint32_t i = 0; i < scene->shape_count && status == STATUS_OK; i++) {
		const struct scene_shape *shape = &scene->shapes[i];
		command_defaults(&uses[i], COMMAND_SHAPE_USE);
		status = cairn_shape(self->client, world->number, shape->canonical, shape->bytes,
				     &uses[i].shape_use.name, self->why);
		report(self, "shapes", sent += shape->bytes, total);
	}
	return status;
}

/* Lets the world use the shapes; ids[i] is the world's id of shape i. */
static enum status use_shapes(struct loading *self, const struct cairn_world *world,
			      const struct command *uses, uint32_t count, uint32_t *ids)
{
	enum status status = STATUS_OK;
	for (uint32_t first = 0; first < count && status == STATUS_OK; first += BATCH_COMMANDS) {
		struct wire_result result;
		uint32_t some = MIN_OF(count - first, (uint32_t)BATCH_COMMANDS);
		status = cairn_apply_now(self->client, world, uses + first, some, &result,
					 self->why);
		for (uint32_t i = 0; i < some && status == STATUS_OK; i++)
			ids[first + i] = result_value(&result, i);
	}
	return status;
}

/* Uploads the shapes and replaces the scene's references to them by their ids in the world. */
static enum status send_shapes(struct loading *self, const struct cairn_world *world,
			       struct scene *scene)
{
	uint32_t count = scene->shape_count;
	uint32_t *ids = heap_alloc(MAX_OF(count, 1u) * sizeof *ids);
	struct command *uses = heap_alloc(MAX_OF(count, 1u) * sizeof *uses);
	enum status status = STATUS_NO_MEMORY;
	if (ids == NULL || uses == NULL)
		reason_set(self->why, status, -1, "scene", "%s", status_text(status));
	else
		status = upload_shapes(self, world, scene, uses);
	if (status == STATUS_OK)
		status = use_shapes(self, world, uses, count, ids);
	if (status == STATUS_OK)
		scene_resolve(scene, ids);
	heap_free(ids);
	heap_free(uses);
	return status;
}

enum status cairn_load(struct cairn *client, const char *name, const char *path,
		       const struct scene_options *options, const struct cairn_progress *progress,
		       struct cairn_world *world, struct reason *why)
{
	struct reason unread = { .index = -1 };
	struct loading self = { client, why != NULL ? why : &unread, progress };
	struct scene *scene;
	enum status status = scene_load_with(path, options, &scene, self.why);
	if (status != STATUS_OK)
		return status;
	if (scene->notes != NULL && progress != NULL && progress->notes != NULL)
		progress->notes(progress->context, scene->notes);
	status = cairn_join(client, name, world, self.why);
	if (status == STATUS_UNKNOWN_WORLD)
		status = create_for(&self, name, &scene->world, world);
	if (status == STATUS_OK)
		status = send_shapes(&self, world, scene);
	if (status == STATUS_OK)
		status = apply_all(&self, world, scene);
	if (status == STATUS_OK)
		status = cairn_join(client, name, world, self.why);
	scene_destroy(scene);
	return status;
}
