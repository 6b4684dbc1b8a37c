/* Shortcuts for scripts: send and wait. Virtual time advances for everybody during a wait. */
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "tests/lib/sim_client.h"
#include "tests/lib/worlds.h"

enum { WAIT_S = 30, COMMANDS_BYTES = 60000 };

/* ---- waiting ------------------------------------------------------------------------------------ */

/* The number by which a message refers to its request; ERROR by its ref. */
static uint64_t ref_of(const struct message *message)
{
	switch (message->type) {
	case MESSAGE_PONG:
		return message->pong.t;
	case MESSAGE_WORLD_INFO:
		return message->world_info.ref;
	case MESSAGE_SHAPE_INFO:
		return message->shape_info.ref;
	case MESSAGE_ANSWER:
		return message->answer.id;
	case MESSAGE_STEPPED:
		return message->stepped.request;
	case MESSAGE_STEPPED_WORLDS:
		return message->stepped_worlds.ref;
	case MESSAGE_SAVED:
		return message->saved.ref;
	case MESSAGE_RESTORED:
		return message->restored.ref;
	case MESSAGE_FORKED:
		return message->forked.ref;
	case MESSAGE_REPLY:
		return message->reply.ref;
	case MESSAGE_ERROR:
		return message->error.ref;
	default:
		return 0;
	}
}

bool sim_answers(const struct message *message, uint64_t ref)
{
	return message->type != MESSAGE_ERROR && ref_of(message) == ref;
}

struct waiting {
	struct sim_client *client;
	enum message_type answer;
	uint64_t ref;
	const struct message *found;
};

static bool has_come(void *context)
{
	struct waiting *waiting = context;
	struct sim_client *client = waiting->client;
	for (; client->looked < client->received.count; client->looked++) {
		const struct message *message = &client->received.items[client->looked].message;
		bool fits = message->type == waiting->answer || message->type == MESSAGE_ERROR;
		if (!fits || ref_of(message) != waiting->ref)
			continue;
		waiting->found = message;
		client->looked++;
		return true;
	}
	return client->closed;
}

const struct message *sim_wait(struct sim_client *self, enum message_type answer, uint64_t ref)
{
	struct waiting waiting = { self, answer, ref, NULL };
	return server_sim_until(self->owner, has_come, &waiting, WAIT_S * NS_PER_S) ? waiting.found
										    : NULL;
}

const struct message *sim_ask(struct sim_client *self, const struct message *request,
			      enum message_type answer)
{
	self->looked = self->received.count;
	sim_send(self, request);
	return sim_wait(self, answer, message_ref(request));
}

enum status sim_try(struct sim_client *self, const struct message *request,
		    enum message_type answer)
{
	const struct message *message = sim_ask(self, request, answer);
	if (message == NULL)
		return STATUS_CLOSED;
	return message->type == MESSAGE_ERROR ? (enum status)message->error.code : STATUS_OK;
}

uint64_t sim_ref(struct sim_client *self)
{
	return 1000 + ++self->next_ref;
}

const struct msg_error *sim_error(const struct sim_client *self, uint64_t ref)
{
	for (uint32_t i = 0; i < self->received.count; i++) {
		const struct message *message = &self->received.items[i].message;
		if (message->type == MESSAGE_ERROR && message->error.ref == ref)
			return &message->error;
	}
	return NULL;
}

/* ---- worlds ------------------------------------------------------------------------------------- */

void sim_join(struct sim_client *self, uint32_t world)
{
	struct message join;
	message_init(&join, MESSAGE_WORLD_JOIN);
	join.world_join.ref = sim_ref(self);
	join.world_join.world = world;
	if (sim_try(self, &join, MESSAGE_WORLD_INFO) != STATUS_OK)
		sim_fail("a world cannot be joined", NULL);
}

uint32_t sim_make_world(struct sim_client *self, const char *name, const struct wire_list *options)
{
	struct message create;
	message_init(&create, MESSAGE_WORLD_CREATE);
	create.world_create.ref = sim_ref(self);
	create.world_create.name = wire_text(name);
	if (options != NULL)
		create.world_create.options = *options;
	const struct message *info = sim_ask(self, &create, MESSAGE_WORLD_INFO);
	if (info == NULL || info->type != MESSAGE_WORLD_INFO)
		sim_fail("a world cannot be made", NULL);
	uint32_t world = (uint32_t)info->world_info.world;
	sim_join(self, world);
	return world;
}

enum status sim_control(struct sim_client *self, uint32_t world, enum wire_control action,
			double value)
{
	struct message control;
	message_init(&control, MESSAGE_CONTROL);
	control.control.ref = sim_ref(self);
	control.control.world = world;
	control.control.action = action;
	control.control.value = value;
	return sim_try(self, &control, MESSAGE_WORLD_INFO);
}

/* ---- commands ----------------------------------------------------------------------------------- */

struct command sim_spawn(double x, double y, double z, int64_t tag, bool sphere)
{
	static const struct attachment item = { .shape = 1, .rotation = { 1, 0, 0, 0 } };
	struct command command;
	command_defaults(&command, COMMAND_SPAWN);
	command.spawn.status = BODY_DYNAMIC;
	command.spawn.position = (vec3){ x, y, z };
	command.spawn.tag = tag;
	if (sphere)
		command.spawn.shapes = (struct attachment_list){ &item, 1 };
	return command;
}

static struct wire_list pack_commands(uint8_t bytes[COMMANDS_BYTES], const struct command *commands,
				      uint32_t count)
{
	struct wire_packer out = wire_packer_over(bytes, COMMANDS_BYTES);
	for (uint32_t i = 0; i < count; i++)
		command_pack(&out, &commands[i]);
	if (wire_packer_status(&out) != STATUS_OK)
		sim_fail("commands cannot be packed", NULL);
	return (struct wire_list){ bytes, out.bytes, count };
}

void sim_commands_as(struct sim_client *self, uint32_t world, uint64_t batch,
		     const struct command *commands, uint32_t count, uint64_t at,
		     enum wire_late late)
{
	static uint8_t bytes[COMMANDS_BYTES];
	struct message message;
	message_init(&message, MESSAGE_COMMANDS);
	message.commands.world = world;
	message.commands.batch = batch;
	message.commands.at = (struct wire_option){ at != 0, at };
	message.commands.late = late;
	message.commands.list = pack_commands(bytes, commands, count);
	sim_send(self, &message);
}

uint64_t sim_commands(struct sim_client *self, uint32_t world, const struct command *commands,
		      uint32_t count, uint64_t at, enum wire_late late)
{
	ASSERT(world < SIM_WORLDS_MAX);
	uint64_t batch = ++self->batches[world];
	sim_commands_as(self, world, batch, commands, count, at, late);
	return batch;
}

struct result_wait {
	struct sim_client *client;
	uint32_t world;
	uint64_t batch;
};

static bool result_has_come(void *context)
{
	const struct result_wait *wait = context;
	return wait->client->closed || sim_result(wait->client, wait->world, wait->batch) != NULL;
}

struct sim_result *sim_await_result(struct sim_client *self, uint32_t world, uint64_t batch)
{
	struct result_wait wait = { self, world, batch };
	if (!server_sim_until(self->owner, result_has_come, &wait, WAIT_S * NS_PER_S))
		return NULL;
	return sim_result(self, world, batch);
}

void sim_upload(struct sim_client *self, uint32_t world, int shape)
{
	const struct shape *cooked = test_shape((enum test_shape)shape);
	uint32_t parts =
		(uint32_t)(cooked->canonical_bytes + WIRE_SHAPE_PART - 1) / WIRE_SHAPE_PART;
	struct message part;
	message_init(&part, MESSAGE_SHAPE_UPLOAD);
	part.shape_upload.ref = sim_ref(self);
	part.shape_upload.world = world;
	part.shape_upload.of = parts;
	memcpy(part.shape_upload.shape.bytes, cooked->name, SHAPE_NAME_BYTES);
	self->looked = self->received.count;
	for (uint32_t i = 0; i < parts; i++) {
		uint32_t from = i * WIRE_SHAPE_PART;
		uint32_t left = (uint32_t)cooked->canonical_bytes - from;
		part.shape_upload.part = i;
		part.shape_upload.data =
			(struct wire_slice){ cooked->canonical + from,
					     MIN_OF(left, (uint32_t)WIRE_SHAPE_PART) };
		sim_send(self, &part);
	}
	const struct message *info = sim_wait(self, MESSAGE_SHAPE_INFO, part.shape_upload.ref);
	if (info == NULL || info->type != MESSAGE_SHAPE_INFO)
		sim_fail("a shape is refused", NULL);
}

/* ---- stepping ----------------------------------------------------------------------------------- */

const struct message *sim_step(struct sim_client *self, uint32_t world, uint32_t n, uint8_t want,
			       const struct command *commands, uint32_t count)
{
	static uint8_t bytes[COMMANDS_BYTES];
	struct message step;
	ASSERT(world < SIM_WORLDS_MAX);
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	step.step.request = ++self->steps[world];
	step.step.n = n;
	step.step.want = want;
	step.step.commands = pack_commands(bytes, commands, count);
	return sim_ask(self, &step, MESSAGE_STEPPED);
}

uint64_t sim_hash(struct sim_client *self, uint32_t world)
{
	const struct message *message = sim_step(self, world, 0, WIRE_WANT_HASH, NULL, 0);
	if (message == NULL || message->type != MESSAGE_STEPPED || !message->stepped.state_hash.set)
		sim_fail("no hash", NULL);
	return message->stepped.state_hash.value;
}

/* ---- mirrors ------------------------------------------------------------------------------------ */

struct mirror_wait {
	struct sim_client *client;
	uint64_t sub;
};

static bool stands(void *context)
{
	const struct mirror_wait *wait = context;
	const struct sim_subscription *subscription = sim_subscription(wait->client, wait->sub);
	const struct world *world = server_sim_world(wait->client->owner, subscription->world);
	if (world == NULL || !subscription->mirror.complete || subscription->lost)
		return false;
	struct world_info info = world_info(world);
	return subscription->mirror.tick == info.tick && subscription->mirror.epoch == info.epoch &&
	       subscription->mirror.edit == info.edit;
}

bool sim_caught_up(struct sim_client *self, uint64_t sub, uint64_t ns)
{
	struct mirror_wait wait = { self, sub };
	return server_sim_until(self->owner, stands, &wait, ns);
}
