/* Bytes of a client as a server reads them: split, validate, unpack, and read the lists. A message
 * that passes must be equal after it is packed and read again. */
#include "protocol/command_wire.h"
#include "protocol/frame.h"
#include "protocol/group_wire.h"
#include "protocol/handshake.h"
#include "protocol/pack.h"
#include "protocol/query_wire.h"
#include "protocol/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static uint8_t again[WIRE_FRAME_UP * 2];
static struct arena arena;

/* The commands of a decoded action can be read, whatever the numbers that are filled in. */
static enum status read_plan(const struct msg_step_worlds *ask)
{
	static const uint8_t values[1 << 20];
	struct wire_actions actions;
	struct wire_observe observe;
	struct command *commands;
	struct reason why;
	enum status status = actions_take(&ask->actions, &actions, &why);
	if (status != STATUS_OK)
		return status;
	if (actions.places.count * 8u <= sizeof values && actions.packed.count > 0) {
		actions_fill(&actions, values, actions.packed.data);
		const struct wire_list list = { actions.packed.data, (uint32_t)actions.packed.count,
						actions.count };
		ASSERT(command_take_list(&list, &arena, &commands, &why) == STATUS_OK);
	}
	actions_release(&actions);
	status = observe_take(&ask->observe, &observe, &why);
	if (status == STATUS_OK) {
		ASSERT(observe.width <= WIRE_OBSERVE_NUMBERS);
		observe_release(&observe);
	}
	return status;
}

static void read_lists(const struct message *message)
{
	struct command *commands;
	struct wire_query query;
	struct reason why;
	enum status status = STATUS_OK;
	if (message->type == MESSAGE_COMMANDS)
		status = command_take_list(&message->commands.list, &arena, &commands, &why);
	else if (message->type == MESSAGE_STEP)
		status = command_take_list(&message->step.commands, &arena, &commands, &why);
	else if (message->type == MESSAGE_STEP_WORLDS)
		status = read_plan(&message->step_worlds);
	else if (message->type == MESSAGE_QUERY)
		status = query_take(&message->query.query, &query, &why);
	ASSERT(!wire_status_closes(status));
	arena_reset(&arena);
}

static void read_hello(const struct message *message)
{
	struct handshake handshake;
	struct message reply;
	uint32_t bytes;
	handshake_init(&handshake, &(struct handshake_offer){ .name = "a",
							      .build = "b",
							      .abi = "c",
							      .role = WIRE_ROLE_CONTROLLER,
							      .session = 1 });
	enum status status = handshake_receive(&handshake, message, &reply);
	ASSERT((status == STATUS_OK) == (handshake.state == HANDSHAKE_OPEN));
	ASSERT(message_pack(&reply, again, sizeof again, &bytes) == STATUS_OK);
}

static void read_one(struct wire_slice content)
{
	struct message message, second;
	struct reason why;
	uint32_t bytes;
	enum status status = message_read(content.at, content.bytes, &VALIDATE_UP, &message, &why);
	if (status != STATUS_OK) {
		message_error(&second, &message, &why);
		ASSERT(message_pack(&second, again, sizeof again, &bytes) == STATUS_OK);
		return;
	}
	read_lists(&message);
	read_hello(&message);
	/* A number may grow to its shortest float 64 form, so the buffer is twice the frame. */
	ASSERT(message_pack_content(&message, again, sizeof again, &bytes) == STATUS_OK);
	ASSERT(message_read(again, bytes, &VALIDATE_DOWN, &second, &why) == STATUS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	struct wire_slice content;
	size_t bytes;
	if (arena.first == NULL && arena_init(&arena, 1 << 20) != STATUS_OK)
		return 0;
	while (frame_split(data, count, WIRE_FRAME_UP, &content, &bytes) == STATUS_OK) {
		ASSERT(bytes <= count);
		read_one(content);
		data += bytes;
		count -= bytes;
	}
	return 0;
}
