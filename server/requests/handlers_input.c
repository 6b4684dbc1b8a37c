/* handlers_input.c: messages that change or query one world: COMMANDS, STEP, QUERY, SAVE, RESTORE,
 * FORK and RECORD.
 *
 * Each is checked here (joined, number, quota, name) and handed to the world's host; a STEP of a
 * small world may be done at once (host.h). The outcome comes back as a report (world_reports.c).
 * COMMANDS with a number are answered by a RESULT even where they are refused, because the number
 * is used up then.
 * */
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/query_wire.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/recordings.h"
#include "server/worlds/travel.h"

/* The session's membership of the world that a message names; refuses the message and returns NULL
 * where the session has not joined it. */
static struct membership *require_membership(struct session *self, const struct message *message,
					     uint64_t world)
{
	struct membership *membership =
		world <= UINT32_MAX ? session_membership(self, (uint32_t)world) : NULL;
	if (membership == NULL)
		session_refuse_status(self, message, STATUS_NOT_JOINED);
	return membership;
}

/* Refuses a request that the host did not accept. A full queue is BUSY: the client may try
 * again. */
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

/* Refuses a batch with a RESULT and stores it, because the number is used up. */
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

/* Number of commands that create a body. An unreadable command is refused later, with its field. */
static uint32_t count_spawns(const struct wire_list *list)
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

/* Charges the quotas of commands and spawns; false: one of them is exceeded. */
static bool charge_batch(struct session *self, const struct wire_list *list, uint64_t now)
{
	bool within = quota_take(&self->quota, QUOTA_COMMANDS, list->count, now);
	/* Controllers have no spawn quota: their worlds' limits bound them. */
	if (!within || session_role(self) >= WIRE_ROLE_CONTROLLER)
		return within;
	return quota_take(&self->quota, QUOTA_SPAWNS, count_spawns(list), now);
}

/* True if a player dates a batch more than --player-horizon ticks ahead. */
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
	struct membership *membership = require_membership(self, message, commands->world);
	if (membership == NULL)
		return;
	const struct wire_option at = commands->at;
	/* The host refuses such a batch with a reason. The ledger must not take its date, or later
	 * batches would be refused as too early. */
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
	if (!charge_batch(self, &commands->list, now)) {
		reason_set(&why, STATUS_BUSY, -1, "list",
			   "%u commands exceed the session's quota of commands or spawns; "
			   "send more slowly (INFO \"quotas\")",
			   (unsigned)commands->list.count);
		refuse_batch(self, membership, commands->batch, &why);
		if (quota_exhausted(&self->quota, now))
			session_goodbye(self, STATUS_BUSY, "over the quota for more than 5 s");
		return;
	}
	/* An undated batch is for the next tick, but not before the dated batches that came
	 * earlier. */
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

static bool is_step_pending(const struct membership *membership, uint64_t request)
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

/* Handles a STEP that must not be carried out (repeated, pending, out of order): true. A number
 * that was answered with ERROR is free again, unless a higher one has been sent. */
static bool answer_repeated_step(struct session *self, struct membership *membership,
				 const struct message *message)
{
	uint64_t request = message->step.request;
	struct reason why;
	if (request == 0) {
		reason_set(&why, STATUS_SEQUENCE, -1, "request",
			   "request 0 is not allowed: requests are numbered from 1");
		session_refuse(self, message, &why);
		return true;
	}
	if (is_step_pending(membership, request))
		return true; /* its answer follows */
	if (request == membership->step && membership->stepped != NULL) {
		outbox_put(&self->outbox, frame_retain(membership->stepped));
		return true;
	}
	if (request > membership->step && request >= membership->step_last)
		return false;
	reason_set(&why, STATUS_EXPIRED, -1, "request",
		   "request %llu is too old: only the last answer is stored, and the next "
		   "number is %llu",
		   (unsigned long long)request, (unsigned long long)membership->step_last + 1);
	session_refuse(self, message, &why);
	return true;
}

/* Copies the name of a snapshot, a moment or a new world; refuses the message and returns false
 * where it is invalid. */
static bool copy_valid_name(struct session *self, const struct message *message,
			    struct wire_slice from, char to[WIRE_NAME_MAX + 1], bool may_be_empty)
{
	struct reason why;
	uint32_t bytes = MIN_OF(from.bytes, (uint32_t)WIRE_NAME_MAX);
	if (bytes > 0)
		memcpy(to, from.at, bytes);
	to[bytes] = '\0';
	if ((bytes == from.bytes && worlds_name_valid(to)) || (may_be_empty && from.bytes == 0))
		return true;
	reason_set(&why, STATUS_RANGE, -1, "name",
		   "a name must be 1 to %d letters, digits, '-', '_' or '.', and must not "
		   "begin with '.'",
		   WIRE_NAME_MAX);
	session_refuse(self, message, &why);
	return false;
}

void handle_step(struct session *self, const struct message *message)
{
	const struct msg_step *ask = &message->step;
	struct membership *membership = require_membership(self, message, ask->world);
	char back[WIRE_NAME_MAX + 1], keep[WIRE_NAME_MAX + 1];
	if (membership == NULL || answer_repeated_step(self, membership, message) ||
	    !copy_valid_name(self, message, ask->restore, back, true) ||
	    !copy_valid_name(self, message, ask->save, keep, true))
		return;
	const struct host_step step = {
		.back = back,
		.keep = keep,
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
	/* The answer may come before host_step returns. */
	membership->step_last = ask->request;
	membership->steps.items[membership->steps.count++] = ask->request;
	status = host_step(membership->world->host, &step);
	if (status == STATUS_OK)
		return;
	session_step_answered(membership, ask->request);
	refuse_request(self, message, status);
}

static bool concerns_past(const struct wire_list *list)
{
	struct wire_cursor in = wire_cursor_list(list);
	uint64_t kind;
	if (list->count == 0 || wire_take_uint(&in, UINT32_MAX, &kind) != STATUS_OK)
		return false;
	const struct query_info *info = query_info((uint32_t)kind);
	return info != NULL && info->past;
}

static void query_past(struct session *self, const struct message *message,
		       struct served_world *world)
{
	struct wire_query query;
	struct reason why;
	if (requests_refuse_past(self, message))
		return;
	if (query_take(&message->query.query, &query, &why) != STATUS_OK ||
	    travel_query(self, world, message->query.id, &query, &why) != STATUS_OK)
		session_refuse(self, message, &why);
}

/* Takes a query from the session's quota; refuses the message and returns false where it is used
 * up. */
static bool take_query(struct session *self, const struct message *message)
{
	uint64_t now = io_now(self->service->io);
	if (quota_take(&self->quota, QUOTA_QUERIES, 1, now))
		return true;
	session_refuse_status(self, message, STATUS_BUSY);
	if (quota_exhausted(&self->quota, now))
		session_goodbye(self, STATUS_BUSY, "over the quota for more than 5 s");
	return false;
}

void handle_looks(struct session *self, const struct message *message)
{
	struct membership *membership = require_membership(self, message, message->looks.world);
	if (membership != NULL && take_query(self, message))
		refuse_request(self, message,
			       host_looks(membership->world->host, self->number, message->looks.ref,
					  (uint32_t)message->looks.from,
					  (enum host_look)message->looks.what));
}

void handle_query(struct session *self, const struct message *message)
{
	struct membership *membership = require_membership(self, message, message->query.world);
	if (membership == NULL || !take_query(self, message))
		return;
	if (concerns_past(&message->query.query)) {
		query_past(self, message, membership->world);
		return;
	}
	refuse_request(self, message,
		       host_query(membership->world->host, self->number, message->query.id,
				  message->query.query));
}

void handle_save(struct session *self, const struct message *message)
{
	struct membership *membership = require_membership(self, message, message->save.world);
	char name[WIRE_NAME_MAX + 1];
	if (membership == NULL || !copy_valid_name(self, message, message->save.name, name, false))
		return;
	refuse_request(self, message,
		       host_save(membership->world->host, self->number, message->save.ref, name,
				 message->save.kind == WIRE_SAVE_MOMENT));
}

static void refuse_both(struct session *self, const struct message *message)
{
	struct reason why;
	reason_set(&why, STATUS_RANGE, -1, "tick",
		   "a snapshot or a moment, and a tick were given: give one of them");
	session_refuse(self, message, &why);
}

void handle_restore(struct session *self, const struct message *message)
{
	struct membership *membership = require_membership(self, message, message->restore.world);
	const struct msg_restore *ask = &message->restore;
	char name[WIRE_NAME_MAX + 1];
	struct reason why;
	if (membership == NULL || !copy_valid_name(self, message, ask->name, name, ask->tick.set))
		return;
	if (ask->tick.set) {
		struct recorded_place place = { (uint32_t)ask->epoch, ask->tick.value };
		if (requests_refuse_past(self, message))
			return;
		if (name[0] != '\0' || ask->kind == WIRE_SAVE_MOMENT)
			refuse_both(self, message);
		else if (travel_restore(self, membership->world, ask->ref, place, &why) !=
			 STATUS_OK)
			session_refuse(self, message, &why);
		return;
	}
	refuse_request(self, message,
		       host_restore(membership->world->host, self->number, message->restore.ref,
				    name, ask->kind == WIRE_SAVE_MOMENT));
}

void handle_fork(struct session *self, const struct message *message)
{
	struct membership *membership = require_membership(self, message, message->fork.world);
	struct reason why;
	char name[WIRE_NAME_MAX + 1], snapshot[WIRE_NAME_MAX + 1];
	if (membership == NULL ||
	    !copy_valid_name(self, message, message->fork.name, name, false) ||
	    !copy_valid_name(self, message, message->fork.snapshot, snapshot, true))
		return;
	if (session_refuses_world(self, message, name))
		return;
	if (worlds_find_name(self->service->worlds, name) != NULL) {
		reason_set(&why, STATUS_EXISTS, -1, "name",
			   "there is a world %s already; choose another name", name);
		session_refuse(self, message, &why);
		return;
	}
	const struct msg_fork *ask = &message->fork;
	if (ask->tick.set && snapshot[0] != '\0') {
		refuse_both(self, message);
		return;
	}
	if (ask->tick.set || ask->recording.bytes > 0) {
		if (!requests_refuse_past(self, message) &&
		    travel_fork(self, membership->world, ask, name, &why) != STATUS_OK)
			session_refuse(self, message, &why);
		return;
	}
	refuse_request(self, message,
		       host_fork(membership->world->host, self->number, message->fork.ref, name,
				 snapshot));
}

/* Copies a title; refuses the message and returns false where it has characters that no terminal
 * should get. */
static bool copy_title(struct session *self, const struct message *message,
		       char title[WIRE_TITLE_MAX + 1])
{
	struct reason why;
	const struct wire_slice *from = &message->record.title;
	for (uint32_t i = 0; i < from->bytes; i++)
		if (from->at[i] < 0x20 || from->at[i] == 0x7f) {
			reason_set(&why, STATUS_RANGE, -1, "title",
				   "a title has no control characters");
			session_refuse(self, message, &why);
			return false;
		}
	snprintf(title, WIRE_TITLE_MAX + 1, "%.*s", (int)from->bytes, (const char *)from->at);
	return true;
}

void handle_record(struct session *self, const struct message *message)
{
	const struct msg_record *ask = &message->record;
	struct membership *membership = require_membership(self, message, ask->world);
	char name[WIRE_NAME_MAX + 1], title[WIRE_TITLE_MAX + 1];
	struct reason why;
	bool unnamed = ask->action == WIRE_RECORD_STOP;
	if (membership == NULL || requests_refuse_past(self, message) ||
	    !copy_valid_name(self, message, ask->name, name, unnamed) ||
	    !copy_title(self, message, title))
		return;
	if (recordings_request(self, membership->world, ask, name, title, &why) != STATUS_OK)
		session_refuse(self, message, &why);
}
