/* handlers_input.c: what changes or asks a world: COMMANDS, STEP, QUERY, SAVE, RESTORE, FORK. Each
 * is handed to the world's worker, or a STEP of a small world done at once (host.h); what comes of
 * it comes back as a report (worlds.c). */
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/query_wire.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/worlds.h"

/* The world a message is about; refuses and returns NULL where the session has not joined it. */
static struct membership *wanted(struct session *self, const struct message *message,
				 uint64_t world)
{
	struct membership *membership =
		world <= UINT32_MAX ? session_membership(self, (uint32_t)world) : NULL;
	if (membership == NULL)
		session_refuse_status(self, message, STATUS_NOT_JOINED);
	return membership;
}

/* A full task queue is the session's to wait for, not a fault. */
static void refuse_request(struct session *self, const struct message *message, enum status status)
{
	if (status != STATUS_OK)
		session_refuse_status(self, message, status == STATUS_FULL ? STATUS_BUSY : status);
}

static void send_packed_result(struct session *self, uint32_t world, struct wire_slice packed)
{
	struct message result;
	message_init(&result, MESSAGE_RESULT);
	result.result.world = world;
	result.result.list = (struct wire_list){ packed.at, packed.bytes, 1 };
	session_send(self, &result);
}

/* The number is used up, so the refusal is this batch's result for ever. */
static void refuse_batch(struct session *self, struct membership *membership, uint64_t batch,
			 const struct reason *why)
{
	uint8_t packed[LEDGER_RESULT_BYTES];
	struct wire_result result = {
		.batch = batch,
		.tick = membership->world->tick,
		.code = why->status,
		.index = why->index,
		.field = wire_text(why->field),
		.text = wire_text(why->text),
	};
	send_packed_result(self, membership->world->number,
			   ledger_answer(&membership->ledger, &result, packed));
}

/* How many of the commands make a body. What cannot be read is refused later, by name. */
static uint32_t spawns_in(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	uint32_t spawns = 0;
	for (uint32_t i = 0; i < list->count; i++) {
		struct wire_cursor item = in;
		uint32_t fields;
		uint64_t op = 0;
		if (wire_take_array(&item, &fields) == STATUS_OK && fields > 0 &&
		    wire_take_uint(&item, WIRE_INTEGER_MAX, &op) == STATUS_OK)
			spawns += op == COMMAND_SPAWN;
		if (wire_skip(&in, NULL) != STATUS_OK)
			break;
	}
	return spawns;
}

/* Whether the session may ask for so much at once. */
static bool batch_within(struct session *self, const struct wire_list *list, uint64_t now)
{
	bool within = quota_take(&self->quota, QUOTA_COMMANDS, list->count, now);
	/* Who drives the machine makes as many as its worlds hold. */
	if (!within || session_role(self) >= WIRE_ROLE_CONTROLLER)
		return within;
	return quota_take(&self->quota, QUOTA_SPAWNS, spawns_in(list), now);
}

/* Dated further ahead than a player may. */
static bool beyond_horizon(const struct session *self, const struct served_world *world,
			   uint64_t at)
{
	return session_role(self) < WIRE_ROLE_CONTROLLER && at > world->tick &&
	       at - world->tick > self->service->options->player_horizon;
}

bool requests_refuse_commands(struct session *self, const struct message *message,
			      const struct reason *why)
{
	const struct msg_commands *commands = &message->commands;
	struct reason sequence;
	struct wire_slice packed;
	if (message->type != MESSAGE_COMMANDS || commands->batch == 0 ||
	    !wire_role_may(session_role(self), MESSAGE_COMMANDS))
		return false;
	struct membership *membership = session_membership(self, (uint32_t)commands->world);
	if (membership == NULL)
		return false;
	switch (ledger_offer(&membership->ledger, commands->batch, false, 0, &packed, &sequence)) {
	case LEDGER_REPEATED:
		send_packed_result(self, membership->world->number, packed);
		return true;
	case LEDGER_WAITING:
		return true;
	case LEDGER_REFUSED:
		session_refuse(self, message, &sequence);
		return true;
	case LEDGER_NEW:
		refuse_batch(self, membership, commands->batch, why);
		return true;
	}
	return false;
}

void handle_commands(struct session *self, const struct message *message)
{
	const struct msg_commands *commands = &message->commands;
	struct membership *membership = wanted(self, message, commands->world);
	if (membership == NULL)
		return;
	const struct wire_option at = commands->at;
	/* The host will refuse it and say why; it must not hold back what comes after it. */
	bool beyond = at.set && beyond_horizon(self, membership->world, at.value);
	struct wire_slice packed;
	struct reason why;
	switch (ledger_offer(&membership->ledger, commands->batch, at.set && !beyond, at.value,
			     &packed, &why)) {
	case LEDGER_REPEATED:
		send_packed_result(self, membership->world->number, packed);
		return;
	case LEDGER_WAITING:
		return;
	case LEDGER_REFUSED:
		session_refuse(self, message, &why);
		return;
	case LEDGER_NEW:
		break;
	}
	uint64_t now = io_now(self->service->io);
	if (!batch_within(self, &commands->list, now)) {
		reason_set(&why, STATUS_BUSY, -1, "list",
			   "over the session's quota of commands or spawns: see Limits");
		refuse_batch(self, membership, commands->batch, &why);
		if (quota_exhausted(&self->quota, now))
			session_goodbye(self, STATUS_BUSY, "over its quota for too long");
		return;
	}
	/* The next tick, but not before the batches that came earlier. */
	struct host_batch batch = {
		.session = self->number,
		.batch = commands->batch,
		.at = beyond   ? WIRE_INTEGER_MAX
		      : at.set ? at.value
			       : membership->ledger.last_at,
		.late = (uint8_t)(at.set ? commands->late : WIRE_LATE_APPLY),
		.restricted = session_role(self) < WIRE_ROLE_CONTROLLER,
		.list = commands->list,
	};
	enum status status = host_submit(membership->world->host, &batch);
	if (status == STATUS_OK)
		return;
	reason_set(&why, status, -1, "list", "%s", status_text(status));
	refuse_batch(self, membership, commands->batch, &why);
}

static bool step_is_away(const struct membership *membership, uint64_t request)
{
	for (uint32_t i = 0; i < membership->steps.count; i++)
		if (membership->steps.items[i] == request)
			return true;
	return false;
}

void session_step_answered(struct membership *membership, uint64_t request)
{
	for (uint32_t i = 0; i < membership->steps.count; i++) {
		if (membership->steps.items[i] != request)
			continue;
		membership->steps.count--;
		memmove(&membership->steps.items[i], &membership->steps.items[i + 1],
			(membership->steps.count - i) * sizeof *membership->steps.items);
		return;
	}
}

/* Deals with a STEP that is not to be done: true when nothing more is. A number that was answered with ERROR
 * is free again, unless a higher one has been sent. */
static bool step_repeated(struct session *self, struct membership *membership,
			  const struct message *message)
{
	uint64_t request = message->step.request;
	struct reason why;
	if (request == 0) {
		reason_set(&why, STATUS_SEQUENCE, -1, "request", "requests are numbered from 1");
		session_refuse(self, message, &why);
		return true;
	}
	if (step_is_away(membership, request))
		return true; /* it will be answered */
	if (request == membership->step && membership->stepped != NULL) {
		outbox_put(&self->outbox, frame_retain(membership->stepped));
		return true;
	}
	if (request > membership->step && request >= membership->step_last)
		return false;
	reason_set(&why, STATUS_EXPIRED, -1, "request",
		   "request %llu: only the last answer is kept, and numbers ascend from %llu",
		   (unsigned long long)request, (unsigned long long)membership->step_last + 1);
	session_refuse(self, message, &why);
	return true;
}

void handle_step(struct session *self, const struct message *message)
{
	const struct msg_step *ask = &message->step;
	struct membership *membership = wanted(self, message, ask->world);
	if (membership == NULL || step_repeated(self, membership, message))
		return;
	const struct host_step step = {
		.session = self->number,
		.request = ask->request,
		.from = ask->from,
		.n = (uint32_t)ask->n,
		.list = ask->commands,
		.want = (uint8_t)ask->want,
		.anyway = ask->anyway != 0,
		.restricted = session_role(self) < WIRE_ROLE_CONTROLLER,
	};
	enum status status = ARRAY_RESERVE(&membership->steps, membership->steps.count + 1u);
	if (status != STATUS_OK) {
		refuse_request(self, message, status);
		return;
	}
	/* Its answer may come before host_step returns. */
	membership->step_last = ask->request;
	membership->steps.items[membership->steps.count++] = ask->request;
	status = host_step(membership->world->host, &step);
	if (status == STATUS_OK)
		return;
	session_step_answered(membership, ask->request);
	refuse_request(self, message, status);
}

void handle_query(struct session *self, const struct message *message)
{
	struct membership *membership = wanted(self, message, message->query.world);
	if (membership == NULL)
		return;
	uint64_t now = io_now(self->service->io);
	if (!quota_take(&self->quota, QUOTA_QUERIES, 1, now)) {
		session_refuse_status(self, message, STATUS_BUSY);
		if (quota_exhausted(&self->quota, now))
			session_goodbye(self, STATUS_BUSY, "over its quota for too long");
		return;
	}
	refuse_request(self, message,
		       host_query(membership->world->host, self->number, message->query.id,
				  message->query.query));
}

/* Snapshots and new worlds have names of the same form. */
static bool name_of(struct session *self, const struct message *message, struct wire_slice from,
		    char to[WIRE_NAME_MAX + 1], bool may_be_empty)
{
	struct reason why;
	uint32_t bytes = MIN_OF(from.bytes, (uint32_t)WIRE_NAME_MAX);
	if (bytes > 0)
		memcpy(to, from.at, bytes);
	to[bytes] = '\0';
	if ((bytes == from.bytes && worlds_name_valid(to)) || (may_be_empty && from.bytes == 0))
		return true;
	reason_set(&why, STATUS_RANGE, -1, "name",
		   "a name is 1 to %d letters, digits, '-', '_' or '.', not '.' first",
		   WIRE_NAME_MAX);
	session_refuse(self, message, &why);
	return false;
}

void handle_save(struct session *self, const struct message *message)
{
	struct membership *membership = wanted(self, message, message->save.world);
	char name[WIRE_NAME_MAX + 1];
	if (membership == NULL || !name_of(self, message, message->save.name, name, false))
		return;
	refuse_request(self, message,
		       host_save(membership->world->host, self->number, message->save.ref, name));
}

void handle_restore(struct session *self, const struct message *message)
{
	struct membership *membership = wanted(self, message, message->restore.world);
	char name[WIRE_NAME_MAX + 1];
	if (membership == NULL || !name_of(self, message, message->restore.name, name, false))
		return;
	refuse_request(
		self, message,
		host_restore(membership->world->host, self->number, message->restore.ref, name));
}

void handle_fork(struct session *self, const struct message *message)
{
	struct membership *membership = wanted(self, message, message->fork.world);
	char name[WIRE_NAME_MAX + 1], snapshot[WIRE_NAME_MAX + 1];
	if (membership == NULL || !name_of(self, message, message->fork.name, name, false) ||
	    !name_of(self, message, message->fork.snapshot, snapshot, true))
		return;
	if (session_refuses_world(self, message, name))
		return;
	if (worlds_find_name(self->service->worlds, name) != NULL) {
		session_refuse_status(self, message, STATUS_EXISTS);
		return;
	}
	refuse_request(self, message,
		       host_fork(membership->world->host, self->number, message->fork.ref, name,
				 snapshot));
}
