/* requests.c: one function for each request of cairn.h: it packs the message and waits for its
 * answer. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clients/lib/client.h"
#include "protocol/query_wire.h"
#include "protocol/command_wire.h"
#include "protocol/pack.h"
#include "protocol/packer.h"
#include "protocol/scene/scene.h"
#include "server/base/array.h"
#include "server/base/hash.h"

uint64_t client_ref(const struct message *answer)
{
	switch (answer->type) {
	case MESSAGE_WORLD_INFO:
		return answer->world_info.ref;
	case MESSAGE_SHAPE_INFO:
		return answer->shape_info.ref;
	case MESSAGE_ANSWER:
		return answer->answer.id;
	case MESSAGE_STEPPED:
		return answer->stepped.request;
	case MESSAGE_STEPPED_WORLDS:
		return answer->stepped_worlds.ref;
	case MESSAGE_SAVED:
		return answer->saved.ref;
	case MESSAGE_RESTORED:
		return answer->restored.ref;
	case MESSAGE_FORKED:
		return answer->forked.ref;
	case MESSAGE_SOUGHT:
		return answer->sought.ref;
	case MESSAGE_RECORDED:
		return answer->recorded.ref;
	case MESSAGE_REPLY:
		return answer->reply.ref;
	case MESSAGE_PONG:
		return answer->pong.t;
	default:
		return UINT64_MAX;
	}
}

static enum status no_memory(struct reason *why)
{
	return reason_set(why, STATUS_NO_MEMORY, -1, "message", "%s",
			  status_text(STATUS_NO_MEMORY));
}

/* ---- worlds
 * -------------------------------------------------------------------------------------- */

static void copy_world(const struct msg_world_info *info, struct cairn_world *out)
{
	memset(out, 0, sizeof *out);
	out->number = (uint32_t)info->world;
	snprintf(out->name, sizeof out->name, "%.*s", (int)info->name.bytes,
		 (const char *)info->name.at);
	snprintf(out->method, sizeof out->method, "%.*s", (int)info->method.bytes,
		 (const char *)info->method.at);
	out->epoch = info->epoch;
	out->tick = info->tick;
	out->bodies = info->bodies;
	out->mode = (enum wire_mode)info->mode;
	out->rate = info->rate;
}

static enum status request_world(struct cairn *self, const struct message *request,
				 struct cairn_world *out, struct reason *why)
{
	struct message answer;
	enum status status = cairn_request(self, request, MESSAGE_WORLD_INFO, &answer, why);
	if (status == STATUS_OK && out != NULL)
		copy_world(&answer.world_info, out);
	return status;
}

/* The answer is one WORLD_INFO for each world; each has the length of the list. */
enum status cairn_worlds(struct cairn *self, struct cairn_world *worlds, uint32_t capacity,
			 uint32_t *count, struct reason *why)
{
	struct message request, answer;
	message_init(&request, MESSAGE_WORLD_LIST);
	request.world_list.ref = cairn_next_ref(self);
	enum status status = cairn_request(self, &request, MESSAGE_WORLD_INFO, &answer, why);
	*count = status == STATUS_OK ? (uint32_t)answer.world_info.of : 0;
	for (uint32_t i = 0; status == STATUS_OK && i < *count; i++) {
		if (i < capacity)
			copy_world(&answer.world_info, &worlds[i]);
		if (i + 1 == *count)
			break;
		status = client_wait_answer(self, MESSAGE_WORLD_INFO, &request, &answer, why);
	}
	return status;
}

enum status cairn_create(struct cairn *self, const char *name, const struct wire_list *options,
			 struct cairn_world *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_WORLD_CREATE);
	request.world_create.ref = cairn_next_ref(self);
	request.world_create.name = wire_text(name);
	if (options != NULL)
		request.world_create.options = *options;
	return request_world(self, &request, out, why);
}

static enum status take_text(struct wire_cursor *in, char *text, size_t bytes)
{
	struct wire_token token;
	if (wire_next(in, &token) != STATUS_OK || token.type != WIRE_TOKEN_TEXT)
		return STATUS_MALFORMED;
	snprintf(text, bytes, "%.*s", (int)token.count, (const char *)token.at);
	return STATUS_OK;
}

/* [name, bytes, title, …] */
static enum status take_scene(struct wire_cursor *in, struct cairn_scene *out)
{
	struct wire_list entry;
	if (wire_take_list(in, &entry) != STATUS_OK || entry.count < 3)
		return STATUS_MALFORMED;
	struct wire_cursor fields = wire_cursor_list(&entry);
	if (take_text(&fields, out->name, sizeof out->name) != STATUS_OK ||
	    wire_take_uint(&fields, WIRE_INTEGER_MAX, &out->bytes) != STATUS_OK)
		return STATUS_MALFORMED;
	return take_text(&fields, out->title, sizeof out->title);
}

/* A page after the name of `last`; *count is its length. */
static enum status take_scenes(struct cairn *self, struct cairn_scene *last, uint32_t *count,
			       void (*each)(void *context, const struct cairn_scene *scene),
			       void *context, struct reason *why)
{
	struct message request, answer;
	struct wire_list page;
	message_init(&request, MESSAGE_SCENE_LIST);
	request.scene_list.ref = cairn_next_ref(self);
	request.scene_list.after = wire_text(last->name);
	enum status status = cairn_request(self, &request, MESSAGE_REPLY, &answer, why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_of(answer.reply.value);
	status = wire_take_list(&in, &page);
	in = wire_cursor_list(&page);
	*count = status == STATUS_OK ? page.count : 0;
	for (uint32_t i = 0; i < *count && status == STATUS_OK; i++) {
		status = take_scene(&in, last);
		if (status == STATUS_OK)
			each(context, last);
	}
	if (status != STATUS_OK)
		reason_set(why, status, -1, "reply", "the server's list of scenes is malformed");
	return status;
}

enum status cairn_scenes(struct cairn *self,
			 void (*each)(void *context, const struct cairn_scene *scene),
			 void *context, struct reason *why)
{
	struct cairn_scene last = { 0 };
	uint32_t count = 1;
	enum status status = STATUS_OK;
	while (status == STATUS_OK && count > 0)
		status = take_scenes(self, &last, &count, each, context, why);
	return status;
}

enum status cairn_open_scene(struct cairn *self, const char *name, const char *scene,
			     const struct scene_options *options, bool running,
			     struct cairn_world *out, struct wire_slice *notes, struct reason *why)
{
	struct message request, answer;
	uint8_t packed[16384];
	struct wire_packer lets = wire_packer_over(packed, sizeof packed);
	message_init(&request, MESSAGE_SCENE_OPEN);
	request.scene_open.ref = cairn_next_ref(self);
	request.scene_open.name = wire_text(name);
	request.scene_open.scene = wire_text(scene);
	request.scene_open.base = options->base;
	request.scene_open.balance = options->balance;
	request.scene_open.joint_link_share = options->joint_link_share;
	request.scene_open.running = running;
	for (uint32_t i = 0; i < options->let_count; i++)
		wire_pack_string(&lets, options->lets[i]);
	if (wire_packer_status(&lets) != STATUS_OK)
		return reason_set(why, STATUS_LIMIT, -1, "lets",
				  "the values of variables have more than %d bytes in all",
				  (int)sizeof packed);
	request.scene_open.lets = (struct wire_list){ packed, lets.bytes, options->let_count };
	enum status status = cairn_request(self, &request, MESSAGE_WORLD_INFO, &answer, why);
	if (status != STATUS_OK)
		return status;
	copy_world(&answer.world_info, out);
	if (notes != NULL)
		*notes = answer.world_info.notes;
	return STATUS_OK;
}

enum status cairn_join(struct cairn *self, const char *name, struct cairn_world *out,
		       struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_WORLD_JOIN);
	request.world_join.ref = cairn_next_ref(self);
	request.world_join.name = wire_text(name);
	return request_world(self, &request, out, why);
}

enum status cairn_destroy(struct cairn *self, uint32_t world, struct reason *why)
{
	struct message request, answer;
	message_init(&request, MESSAGE_WORLD_DESTROY);
	request.world_destroy.ref = cairn_next_ref(self);
	request.world_destroy.world = world;
	return cairn_request(self, &request, MESSAGE_REPLY, &answer, why);
}

enum status cairn_control(struct cairn *self, uint32_t world, enum wire_control action,
			  double value, struct cairn_world *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_CONTROL);
	request.control.ref = cairn_next_ref(self);
	request.control.world = world;
	request.control.action = action;
	request.control.value = value;
	return request_world(self, &request, out, why);
}

/* ---- shapes
 * -------------------------------------------------------------------------------------- */

enum status cairn_shape(struct cairn *self, uint32_t world, const uint8_t *canonical, size_t bytes,
			struct name32 *name, struct reason *why)
{
	struct message request, answer;
	message_init(&request, MESSAGE_SHAPE_UPLOAD);
	struct msg_shape_upload *upload = &request.shape_upload;
	hash_sha256(canonical, bytes, name->bytes);
	if (self->session.role == WIRE_ROLE_PLAYER)
		return STATUS_OK; /* SHAPE_USE finds it, or tells who may upload it */
	memcpy(upload->shape.bytes, name->bytes, sizeof upload->shape.bytes);
	upload->ref = cairn_next_ref(self);
	upload->world = world;
	upload->of = MAX_OF((bytes + WIRE_SHAPE_PART - 1) / WIRE_SHAPE_PART, 1u);
	if (upload->of > WIRE_SHAPE_PARTS)
		return reason_set(why, STATUS_TOO_LARGE, -1, "shape",
				  "the shape has %zu bytes; at most %d are allowed", bytes,
				  WIRE_SHAPE_PARTS * WIRE_SHAPE_PART);
	for (;; upload->part++) {
		size_t first = (size_t)upload->part * WIRE_SHAPE_PART;
		upload->data = (struct wire_slice){
			canonical + first,
			(uint32_t)MIN_OF(bytes - first, (size_t)WIRE_SHAPE_PART),
		};
		if (upload->part + 1 == upload->of)
			return cairn_request(self, &request, MESSAGE_SHAPE_INFO, &answer, why);
		enum status status = cairn_send(self, &request, why);
		if (status != STATUS_OK)
			return status;
	}
}

/* ---- commands
 * ------------------------------------------------------------------------------------ */

static struct batch_counter *counter_of(struct cairn *self, uint32_t world)
{
	for (uint32_t i = 0; i < self->batch_count; i++)
		if (self->batches[i].world == world)
			return &self->batches[i];
	if (array_reserve(&self->batches, &self->batch_capacity, self->batch_count + 1u,
			  sizeof *self->batches) != STATUS_OK)
		return NULL;
	struct batch_counter *counter = &self->batches[self->batch_count++];
	*counter = (struct batch_counter){ .world = world };
	return counter;
}

/* Packs commands into `packed`, which has the size of one frame, because a larger batch cannot be
 * sent. */
/* Names the first value that cannot be encoded; OK: there is none. */
static enum status find_unpackable(const struct command *commands, uint32_t count,
				   struct reason *why)
{
	for (uint32_t i = 0; i < count; i++) {
		struct command copy = commands[i];
		enum status status = command_check_values(&copy, i, why);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status pack_commands(const struct command *commands, uint32_t count,
				 struct bytes *packed, struct wire_list *list, struct reason *why)
{
	if (bytes_reserve(packed, WIRE_FRAME_UP) != STATUS_OK)
		return no_memory(why);
	struct wire_packer packer = wire_packer_over(packed->data, WIRE_FRAME_UP);
	for (uint32_t i = 0; i < count; i++)
		command_pack(&packer, &commands[i]);
	enum status status = wire_packer_status(&packer);
	if (status != STATUS_OK && status != STATUS_FULL) {
		enum status named = find_unpackable(commands, count, why);
		return named != STATUS_OK
			       ? named
			       : reason_set(why, status, -1, "list", "%s", status_text(status));
	}
	if (status != STATUS_OK)
		return reason_set(why, STATUS_TOO_LARGE, -1, "list",
				  "the %u commands do not fit into a frame of %d bytes; send fewer "
				  "commands in a batch",
				  count, WIRE_FRAME_UP);
	*list = (struct wire_list){ packed->data, packer.bytes, count };
	return STATUS_OK;
}

enum status cairn_commands(struct cairn *self, uint32_t world, const struct command *commands,
			   uint32_t count, struct wire_option at, enum wire_late late,
			   uint64_t *batch, struct reason *why)
{
	struct batch_counter *counter = counter_of(self, world);
	if (counter == NULL)
		return no_memory(why);
	struct message message;
	struct bytes packed = { 0 };
	message_init(&message, MESSAGE_COMMANDS);
	message.commands.world = world;
	message.commands.batch = counter->batch + 1;
	message.commands.at = at;
	message.commands.late = late;
	enum status status = pack_commands(commands, count, &packed, &message.commands.list, why);
	if (status == STATUS_OK)
		status = cairn_send(self, &message, why);
	if (status == STATUS_OK)
		client_store_batch(self, &message);
	bytes_release(&packed);
	if (status == STATUS_OK)
		*batch = ++counter->batch;
	return status;
}

enum status cairn_result_status(const struct wire_result *result, struct reason *why)
{
	if (result->code == STATUS_OK)
		return STATUS_OK;
	reason_set(why, result->code, result->index, "", "%.*s", (int)result->text.bytes,
		   (const char *)result->text.at);
	if (why != NULL)
		snprintf(why->field, sizeof why->field, "%.*s", (int)result->field.bytes,
			 (const char *)result->field.at);
	return result->code;
}

enum status cairn_apply(struct cairn *self, uint32_t world, const struct command *commands,
			uint32_t count, struct wire_result *result, struct reason *why)
{
	uint64_t batch = 0;
	enum status status = cairn_commands(self, world, commands, count, CAIRN_NEXT_TICK,
					    WIRE_LATE_APPLY, &batch, why);
	if (status != STATUS_OK)
		return status;
	self->waiting.world = world;
	self->waiting.batch = batch;
	self->waiting.done = self->waiting.refused = false;
	status = client_wait_result(self, why);
	bool done = self->waiting.done;
	struct batch_counter *counter = counter_of(self, world);
	if (self->waiting.refused && counter != NULL && counter->batch == batch) {
		counter->batch--;
		client_forget_batch(self, world, batch);
	}
	self->waiting.batch = 0;
	self->waiting.done = false;
	if (!done)
		return status;
	*result = self->waiting.result;
	return cairn_result_status(result, why);
}

enum status cairn_step(struct cairn *self, uint32_t world, const struct cairn_step *step,
		       struct message *out, struct reason *why)
{
	struct batch_counter *counter = counter_of(self, world);
	if (counter == NULL)
		return no_memory(why);
	struct message request;
	struct bytes packed = { 0 };
	message_init(&request, MESSAGE_STEP);
	request.step.world = world;
	request.step.request = ++counter->step;
	request.step.from = step->from;
	request.step.n = step->n;
	request.step.want = step->want;
	request.step.restore = wire_text(step->restore != NULL ? step->restore : "");
	request.step.save = wire_text(step->save != NULL ? step->save : "");
	enum status status = STATUS_OK;
	if (step->command_count > 0)
		status = pack_commands(step->commands, step->command_count, &packed,
				       &request.step.commands, why);
	if (status == STATUS_OK)
		status = cairn_request(self, &request, MESSAGE_STEPPED, out, why);
	bytes_release(&packed);
	return status;
}

/* Applies a batch in a STEP of 0 ticks, which answers at once. */
static enum status apply_by_step(struct cairn *self, uint32_t world, const struct command *commands,
				 uint32_t count, struct wire_result *result, struct reason *why)
{
	struct message stepped;
	const struct cairn_step step = { .n = 0, .commands = commands, .command_count = count };
	enum status status = cairn_step(self, world, &step, &stepped, why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_list(&stepped.stepped.results);
	if (stepped.stepped.results.count == 0 || result_take(&in, result) != STATUS_OK)
		return reason_set(why, STATUS_PROTOCOL, -1, "results",
				  "the server answered STEP without a result of its commands");
	return cairn_result_status(result, why);
}

enum status cairn_apply_now(struct cairn *self, const struct cairn_world *world,
			    const struct command *commands, uint32_t count,
			    struct wire_result *result, struct reason *why)
{
	if (world->mode != WIRE_MODE_RUNNING && self->session.role >= WIRE_ROLE_CONTROLLER)
		return apply_by_step(self, world->number, commands, count, result, why);
	return cairn_apply(self, world->number, commands, count, result, why);
}

/* Packs [world, request] of each world and gives each its next number. */
static enum status pack_worlds(struct cairn *self, const struct cairn_group *group,
			       struct bytes *packed, struct wire_list *list, struct reason *why)
{
	enum { ENTRY_BYTES = 16 };
	if (bytes_reserve(packed, (size_t)ENTRY_BYTES * group->count + 1) != STATUS_OK)
		return no_memory(why);
	struct wire_packer out = wire_packer_over(packed->data, (uint32_t)packed->capacity);
	for (uint32_t i = 0; i < group->count; i++) {
		struct batch_counter *counter = counter_of(self, group->worlds[i]);
		if (counter == NULL)
			return no_memory(why);
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, group->worlds[i]);
		wire_pack_uint(&out, ++counter->step);
	}
	*list = (struct wire_list){ packed->data, out.bytes, group->count };
	return wire_packer_status(&out);
}

enum status cairn_step_worlds(struct cairn *self, const struct cairn_group *group,
			      struct message *out, struct reason *why)
{
	struct message request;
	struct bytes packed = { 0 }, values = { 0 };
	message_init(&request, MESSAGE_STEP_WORLDS);
	struct msg_step_worlds *ask = &request.step_worlds;
	ask->ref = cairn_next_ref(self);
	ask->n = group->n;
	ask->steps = MAX_OF(group->steps, 1u);
	ask->actions = group->actions;
	ask->observe = group->observe;
	ask->hash = group->hash;
	enum status status = pack_worlds(self, group, &packed, &ask->worlds, why);
	struct writer writer = writer_into(&values);
	for (uint32_t i = 0; i < group->value_count; i++)
		write_f64(&writer, group->values[i]);
	if (status == STATUS_OK && writer_status(&writer) != STATUS_OK)
		status = no_memory(why);
	ask->values = (struct wire_slice){ values.data, (uint32_t)values.count };
	if (status == STATUS_OK)
		status = cairn_request(self, &request, MESSAGE_STEPPED_WORLDS, out, why);
	bytes_release(&packed);
	bytes_release(&values);
	return status;
}

double cairn_observed(const struct message *stepped, uint64_t index)
{
	const struct wire_slice *data = &stepped->stepped_worlds.data;
	return index < data->bytes / 8 ? f64_of_bits(get_le64(data->at + 8 * index)) : 0;
}

/* ---- states and queries
 * ------------------------------------------------------------------------ */

static enum status save(struct cairn *self, uint32_t world, const char *name, enum wire_save kind,
			struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_SAVE);
	request.save.ref = cairn_next_ref(self);
	request.save.world = world;
	request.save.name = wire_text(name);
	request.save.kind = kind;
	return cairn_request(self, &request, MESSAGE_SAVED, out, why);
}

static enum status restore(struct cairn *self, uint32_t world, const char *name,
			   enum wire_save kind, struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_RESTORE);
	request.restore.ref = cairn_next_ref(self);
	request.restore.world = world;
	request.restore.name = wire_text(name);
	request.restore.kind = kind;
	return cairn_request(self, &request, MESSAGE_RESTORED, out, why);
}

enum status cairn_save(struct cairn *self, uint32_t world, const char *name, struct message *out,
		       struct reason *why)
{
	return save(self, world, name, WIRE_SAVE_SNAPSHOT, out, why);
}

enum status cairn_save_moment(struct cairn *self, uint32_t world, const char *name,
			      struct message *out, struct reason *why)
{
	return save(self, world, name, WIRE_SAVE_MOMENT, out, why);
}

enum status cairn_restore(struct cairn *self, uint32_t world, const char *name, struct message *out,
			  struct reason *why)
{
	return restore(self, world, name, WIRE_SAVE_SNAPSHOT, out, why);
}

enum status cairn_restore_moment(struct cairn *self, uint32_t world, const char *name,
				 struct message *out, struct reason *why)
{
	return restore(self, world, name, WIRE_SAVE_MOMENT, out, why);
}

enum status cairn_fork(struct cairn *self, uint32_t world, const char *name, const char *snapshot,
		       struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_FORK);
	request.fork.ref = cairn_next_ref(self);
	request.fork.world = world;
	request.fork.name = wire_text(name);
	request.fork.snapshot = wire_text(snapshot != NULL ? snapshot : "");
	return cairn_request(self, &request, MESSAGE_FORKED, out, why);
}

enum status cairn_restore_tick(struct cairn *self, uint32_t world, struct cairn_tick tick,
			       struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_RESTORE);
	request.restore.ref = cairn_next_ref(self);
	request.restore.world = world;
	request.restore.tick = (struct wire_option){ true, tick.tick };
	request.restore.epoch = tick.epoch;
	return cairn_request(self, &request, MESSAGE_RESTORED, out, why);
}

enum status cairn_fork_tick(struct cairn *self, uint32_t world, const char *name,
			    struct cairn_tick tick, struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_FORK);
	request.fork.ref = cairn_next_ref(self);
	request.fork.world = world;
	request.fork.name = wire_text(name);
	request.fork.tick = (struct wire_option){ true, tick.tick };
	request.fork.epoch = tick.epoch;
	request.fork.recording = wire_text(tick.recording != NULL ? tick.recording : "");
	return cairn_request(self, &request, MESSAGE_FORKED, out, why);
}

enum status cairn_seek(struct cairn *self, uint64_t sub, const struct cairn_tick *tick,
		       double speed, struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_SEEK);
	request.seek.ref = cairn_next_ref(self);
	request.seek.sub = sub;
	request.seek.speed = speed;
	if (tick != NULL) {
		request.seek.tick = (struct wire_option){ true, tick->tick };
		request.seek.epoch = tick->epoch;
		request.seek.recording = wire_text(tick->recording != NULL ? tick->recording : "");
	}
	return cairn_request(self, &request, MESSAGE_SOUGHT, out, why);
}

enum status cairn_record(struct cairn *self, const struct cairn_recording *recording,
			 struct message *out, struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_RECORD);
	request.record.ref = cairn_next_ref(self);
	request.record.world = recording->world;
	request.record.action = recording->action;
	request.record.name = wire_text(recording->name);
	request.record.title = wire_text(recording->title != NULL ? recording->title : "");
	request.record.tick = (struct wire_option){ recording->has_from, recording->from.tick };
	request.record.epoch = recording->from.epoch;
	request.record.seconds = recording->seconds;
	request.record.bytes = recording->bytes;
	request.record.offset = recording->offset;
	request.record.data = recording->data;
	return cairn_request(self, &request, MESSAGE_RECORDED, out, why);
}

enum status cairn_ask(struct cairn *self, uint32_t world, const struct wire_query *query,
		      struct message *out, struct reason *why)
{
	struct message request;
	uint8_t packed[WIRE_QUERY_SHAPE_MAX + 512];
	struct wire_packer packer = wire_packer_over(packed, sizeof packed);
	enum status status = query_check(query, why);
	if (status != STATUS_OK)
		return status;
	message_init(&request, MESSAGE_QUERY);
	request.query.id = cairn_next_ref(self);
	request.query.world = world;
	uint32_t count = query_pack(&packer, query);
	status = wire_packer_status(&packer);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "query", "%s", status_text(status));
	request.query.query = (struct wire_list){ packed, packer.bytes, count };
	return cairn_request(self, &request, MESSAGE_ANSWER, out, why);
}

enum status cairn_info(struct cairn *self, const char *what, struct message *out,
		       struct reason *why)
{
	struct message request;
	message_init(&request, MESSAGE_INFO);
	request.info.ref = cairn_next_ref(self);
	request.info.what = wire_text(what);
	return cairn_request(self, &request, MESSAGE_REPLY, out, why);
}

enum status cairn_colours(struct cairn *self, uint32_t world, uint32_t from, struct cairn_run *runs,
			  uint32_t *count, struct reason *why)
{
	struct message request, reply;
	struct wire_list list;
	message_init(&request, MESSAGE_LOOKS);
	request.looks.ref = cairn_next_ref(self);
	request.looks.world = world;
	request.looks.from = from;
	*count = 0;
	enum status status = cairn_request(self, &request, MESSAGE_REPLY, &reply, why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_of(reply.reply.value);
	bool good = wire_take_list(&in, &list) == STATUS_OK && list.count <= CAIRN_RUNS_MAX;
	struct wire_cursor items = good ? wire_cursor_list(&list) : in;
	for (uint32_t i = 0; good && i < list.count; i++) {
		uint64_t numbers[3];
		struct wire_list run;
		good = wire_take_list(&items, &run) == STATUS_OK && run.count == 3;
		struct wire_cursor values = good ? wire_cursor_list(&run) : items;
		for (uint32_t k = 0; good && k < 3; k++)
			good = wire_take_uint(&values, UINT32_MAX, &numbers[k]) == STATUS_OK;
		if (good)
			runs[i] = (struct cairn_run){ (uint32_t)numbers[0], (uint32_t)numbers[1],
						      (uint32_t)numbers[2] };
	}
	if (!good)
		return reason_set(why, STATUS_MALFORMED, -1, "value",
				  "the answer to LOOKS is no list of [first id, count, colour]");
	*count = list.count;
	return STATUS_OK;
}

/* Takes the visuals of one body from a page. */
static bool take_visuals(struct wire_cursor *in, struct cairn_look *out, uint32_t *count)
{
	struct wire_list pair, list, fields;
	uint64_t body;
	if (wire_take_list(in, &pair) != STATUS_OK || pair.count != 2)
		return false;
	struct wire_cursor both = wire_cursor_list(&pair);
	if (wire_take_uint(&both, UINT32_MAX, &body) != STATUS_OK ||
	    wire_take_list(&both, &list) != STATUS_OK || list.count > CAIRN_VISUALS_MAX - *count)
		return false;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < list.count; i++) {
		struct cairn_look *to = &out[(*count)++];
		struct wire_slice name, last;
		double p[3], q[4];
		uint64_t colour = 0;
		if (wire_take_list(&items, &fields) != STATUS_OK || fields.count != 4)
			return false;
		struct wire_cursor at = wire_cursor_list(&fields);
		if (wire_take_bin(&at, &name) != STATUS_OK || name.bytes != SHA256_BYTES ||
		    wire_take_tuple(&at, p, 3) != STATUS_OK ||
		    wire_take_tuple(&at, q, 4) != STATUS_OK || wire_skip(&at, &last) != STATUS_OK)
			return false;
		*to = (struct cairn_look){ .body = (uint32_t)body,
					   .position = vec3_make(p[0], p[1], p[2]),
					   .rotation = quat_make(q[0], q[1], q[2], q[3]) };
		memcpy(to->shape.bytes, name.at, SHA256_BYTES);
		struct wire_cursor given = wire_cursor_of(last);
		to->coloured =
			wire_take_uint(&given, 0xFFFFFF, &colour) == STATUS_OK; /* else nil */
		to->colour = (uint32_t)colour;
	}
	return true;
}

/* Asks for a page of LOOKS; `items` gets its `count` items. */
static enum status ask_looks(struct cairn *self, uint32_t world, uint32_t what, uint32_t from,
			     struct wire_cursor *items, uint32_t *count, struct reason *why)
{
	struct message request, reply;
	struct wire_list list;
	message_init(&request, MESSAGE_LOOKS);
	request.looks.ref = cairn_next_ref(self);
	request.looks.world = world;
	request.looks.from = from;
	request.looks.what = what;
	*count = 0;
	enum status status = cairn_request(self, &request, MESSAGE_REPLY, &reply, why);
	if (status != STATUS_OK)
		return status;
	struct wire_cursor in = wire_cursor_of(reply.reply.value);
	if (wire_take_list(&in, &list) != STATUS_OK)
		return reason_set(why, STATUS_MALFORMED, -1, "value",
				  "the answer to LOOKS is no list");
	*items = wire_cursor_list(&list);
	*count = list.count;
	return STATUS_OK;
}

enum status cairn_visuals(struct cairn *self, uint32_t world, uint32_t from,
			  struct cairn_look *visuals, uint32_t *count, struct reason *why)
{
	struct wire_cursor items;
	uint32_t bodies;
	enum status status = ask_looks(self, world, 1, from, &items, &bodies, why);
	bool good = true;
	*count = 0;
	for (uint32_t i = 0; status == STATUS_OK && good && i < bodies; i++)
		good = take_visuals(&items, visuals, count);
	return good ? status
		    : reason_set(why, STATUS_MALFORMED, -1, "value",
				 "the answer to LOOKS is no list of bodies with visuals");
}

static bool take_label(struct wire_cursor *in, struct cairn_named *out)
{
	struct wire_list pair;
	struct wire_slice text;
	uint64_t id = 0;
	if (wire_take_list(in, &pair) != STATUS_OK || pair.count != 2)
		return false;
	struct wire_cursor both = wire_cursor_list(&pair);
	if (wire_take_uint(&both, UINT32_MAX, &id) != STATUS_OK ||
	    answer_take_text(&both, &text) != STATUS_OK || text.bytes >= LABEL_BYTES)
		return false;
	*out = (struct cairn_named){ .id = (uint32_t)id };
	memcpy(out->text, text.at, text.bytes);
	return true;
}

enum status cairn_labels(struct cairn *self, uint32_t world, bool joints, uint32_t from,
			 struct cairn_named *labels, uint32_t *count, struct reason *why)
{
	struct wire_cursor items;
	enum status status = ask_looks(self, world, joints ? 3 : 2, from, &items, count, why);
	bool good = *count <= CAIRN_LABELS_MAX;
	for (uint32_t i = 0; status == STATUS_OK && good && i < *count; i++)
		good = take_label(&items, &labels[i]);
	return good ? status
		    : reason_set(why, STATUS_MALFORMED, -1, "value",
				 "the answer to LOOKS is no list of [id, name]");
}

/* ---- subscriptions
 * ------------------------------------------------------------------------------- */

struct packed_sight {
	uint8_t areas[WIRE_AREAS_MAX * 128], follow[WIRE_FOLLOW_MAX * 5];
	struct wire_list area_list, follow_list;
};

/* What the server would refuse, and what MessagePack carries but no frame may. */
static enum status check_areas(const struct cairn_sight *sight, const struct wire_list *packed,
			       struct reason *why)
{
	struct wire_area copies[WIRE_AREAS_MAX];
	uint32_t count;
	for (uint32_t i = 0; i < sight->area_count; i++)
		for (uint32_t k = 0; k < wire_area_numbers(sight->areas[i].kind); k++)
			if (!isfinite(sight->areas[i].numbers[k]))
				return reason_set(why, STATUS_NOT_FINITE, i, "areas",
						  "number %u of area %u is not finite", k, i);
	return wire_areas_take(packed, copies, &count, why);
}

static enum status pack_sight(const struct cairn_sight *sight, struct packed_sight *out,
			      struct reason *why)
{
	struct wire_packer areas = wire_packer_over(out->areas, sizeof out->areas);
	struct wire_packer follow = wire_packer_over(out->follow, sizeof out->follow);
	out->area_list = out->follow_list = (struct wire_list){ 0 };
	if (sight == NULL)
		return STATUS_OK;
	if (sight->area_count > WIRE_AREAS_MAX || sight->follow_count > WIRE_FOLLOW_MAX)
		return reason_set(why, STATUS_RANGE, -1, "sight",
				  "%u areas and %u followed bodies; at most %d and %d are allowed",
				  sight->area_count, sight->follow_count, WIRE_AREAS_MAX,
				  WIRE_FOLLOW_MAX);
	for (uint32_t i = 0; i < sight->area_count; i++)
		wire_area_pack(&areas, &sight->areas[i]);
	for (uint32_t i = 0; i < sight->follow_count; i++)
		wire_pack_uint(&follow, sight->follow[i]);
	out->area_list = (struct wire_list){ out->areas, areas.bytes, sight->area_count };
	out->follow_list = (struct wire_list){ out->follow, follow.bytes, sight->follow_count };
	return check_areas(sight, &out->area_list, why);
}

enum status cairn_focus(struct cairn *self, uint64_t sub, const struct cairn_sight *sight,
			struct reason *why)
{
	struct client_subscription *subscription = client_find_subscription(self, sub);
	struct packed_sight packed;
	struct message message;
	if (subscription == NULL)
		return reason_set(why, STATUS_UNKNOWN_SUBSCRIPTION, -1, "sub", "%s",
				  status_text(STATUS_UNKNOWN_SUBSCRIPTION));
	enum status status = pack_sight(sight, &packed, why);
	message_init(&message, MESSAGE_FOCUS);
	message.focus.sub = sub;
	message.focus.areas = packed.area_list;
	message.focus.follow = packed.follow_list;
	uint32_t bytes = 0;
	if (status == STATUS_OK &&
	    bytes_reserve(&subscription->focus, sizeof packed + 64) != STATUS_OK)
		status = no_memory(why);
	if (status == STATUS_OK)
		status = message_pack(&message, subscription->focus.data,
				      (uint32_t)subscription->focus.capacity, &bytes);
	subscription->focus.count = bytes;
	return status == STATUS_OK ? cairn_send(self, &message, why) : status;
}

enum status cairn_subscribe(struct cairn *self, const struct cairn_subscription *ask,
			    struct reason *why)
{
	if (ask->sub == 0 || client_find_subscription(self, ask->sub) != NULL)
		return reason_set(why, STATUS_EXISTS, -1, "sub",
				  "subscription %llu: the number is 0 or in use",
				  (unsigned long long)ask->sub);
	if (self->subscription_count == CAIRN_SUBSCRIPTIONS_MAX)
		return reason_set(why, STATUS_LIMIT, -1, "sub",
				  "a client has at most %d subscriptions; unsubscribe one",
				  CAIRN_SUBSCRIPTIONS_MAX);
	struct message message;
	message_init(&message, MESSAGE_SUBSCRIBE);
	struct msg_subscribe *subscribe = &message.subscribe;
	subscribe->sub = ask->sub;
	subscribe->world = ask->world;
	subscribe->fields = ask->fields != 0 ? ask->fields : WIRE_COLUMNS_ALL;
	subscribe->profile = ask->profile;
	subscribe->divisor = MAX_OF(ask->divisor, 1u);
	subscribe->events = ask->events;
	subscribe->budget = ask->budget;
	subscribe->joints = ask->joints;
	subscribe->particles = ask->particles;
	subscribe->sample = MAX_OF(ask->sample, 1u);
	struct packed_sight sight;
	enum status status = pack_sight(ask->sight, &sight, why);
	subscribe->areas = sight.area_list;
	subscribe->follow = sight.follow_list;
	if (status == STATUS_OK)
		status = cairn_send(self, &message, why);
	if (status != STATUS_OK)
		return status;
	struct client_subscription *subscription = &self->subscriptions[self->subscription_count++];
	*subscription = (struct client_subscription){ .sub = ask->sub };
	mirror_init(&subscription->mirror, ask->profile, (wire_mask)subscribe->fields,
		    CAIRN_BODIES_MAX);
	mirror_watch_joints(&subscription->mirror, ask->joints, CAIRN_JOINTS_MAX);
	mirror_watch_particles(&subscription->mirror, ask->particles, CAIRN_PARTICLES_MAX);
	return STATUS_OK;
}

enum status cairn_unsubscribe(struct cairn *self, uint64_t sub, struct reason *why)
{
	struct client_subscription *subscription = client_find_subscription(self, sub);
	if (subscription == NULL)
		return reason_set(why, STATUS_UNKNOWN_SUBSCRIPTION, -1, "sub", "%s",
				  status_text(STATUS_UNKNOWN_SUBSCRIPTION));
	client_subscription_release(subscription);
	*subscription = self->subscriptions[--self->subscription_count];
	struct message request, answer;
	message_init(&request, MESSAGE_UNSUBSCRIBE);
	request.unsubscribe.sub = sub;
	return cairn_request(self, &request, MESSAGE_REPLY, &answer, why);
}

const struct mirror *cairn_mirror(const struct cairn *self, uint64_t sub)
{
	struct client_subscription *subscription =
		client_find_subscription((struct cairn *)(uintptr_t)self, sub);
	return subscription != NULL ? &subscription->mirror : NULL;
}
