/* handlers_groups.c: STEP_WORLDS: what is said about all worlds is checked here and decoded into a
 * plan; then each world gets a request like that of a STEP. What refuses the message as a whole has
 * changed nothing; what concerns one world refuses that world alone. The outcomes are collected in
 * worlds/step_groups.h.
 */
#include <stdlib.h>

#include "protocol/complaint.h"
#include "protocol/group_wire.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/step_groups.h"
#include "server/worlds/worlds.h"

/* An item of `worlds`. */
struct group_entry {
	uint32_t world;
	uint64_t request;
	struct wire_list commands; /* borrowed */
};

static enum status take_entry(struct wire_cursor *in, struct group_entry *entry)
{
	uint64_t world = 0;
	uint32_t count;
	*entry = (struct group_entry){ 0 };
	enum status status = wire_take_array(in, &count);
	if (status == STATUS_OK && count < 2)
		return STATUS_TYPE;
	if (status == STATUS_OK)
		status = wire_take_uint(in, UINT32_MAX, &world);
	if (status == STATUS_OK)
		status = wire_take_uint(in, WIRE_INTEGER_MAX, &entry->request);
	if (status == STATUS_OK && count > 2)
		status = wire_take_list(in, &entry->commands);
	if (status == STATUS_OK && count > 3)
		status = wire_skip_many(in, count - 3);
	entry->world = (uint32_t)world;
	return status;
}

static int by_world(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return (x > y) - (x < y);
}

/* Decodes `worlds` into an array, owned. TYPE, RANGE, NO_MEMORY; EXISTS: a world is named twice. */
static enum status take_entries(const struct wire_list *list, struct group_entry **out,
				struct reason *why)
{
	struct wire_cursor in = wire_cursor_list(list);
	struct group_entry *entries = heap_alloc(list->count * sizeof *entries);
	uint32_t *numbers = heap_alloc(list->count * sizeof *numbers);
	enum status status = entries != NULL && numbers != NULL
				     ? STATUS_OK
				     : reason_set(why, STATUS_NO_MEMORY, -1, "worlds", "%s",
						  status_text(STATUS_NO_MEMORY));
	for (uint32_t i = 0; i < list->count && status == STATUS_OK; i++) {
		const struct wire_cursor before = in;
		status = take_entry(&in, &entries[i]);
		if (status != STATUS_OK)
			wire_complain(why, status, i, "worlds", "STEP_WORLDS", before,
				      "[world, request, commands]");
		numbers[i] = entries[i].world;
	}
	if (status == STATUS_OK)
		qsort(numbers, list->count, sizeof *numbers, by_world);
	for (uint32_t i = 1; i < list->count && status == STATUS_OK; i++)
		if (numbers[i] == numbers[i - 1])
			status =
				reason_set(why, STATUS_EXISTS, -1, "worlds",
					   "world %u is listed twice: a message steps a world once",
					   (unsigned)numbers[i]);
	heap_free(numbers);
	*out = entries;
	if (status != STATUS_OK)
		heap_free(entries);
	return status;
}

/* The bounds of the whole: ticks, and the size of the answer. */
static enum status check_size(const struct session *self, const struct msg_step_worlds *ask,
			      const struct step_plan *plan, struct reason *why)
{
	uint64_t row = step_plan_row_bytes(plan);
	uint64_t answer = (row + GROUP_ITEM_BYTES) * ask->worlds.count;
	uint32_t most = self->handshake.limits.frame_down;
	if (ask->n * ask->steps > WIRE_STEPS_MAX)
		return reason_set(why, STATUS_RANGE, -1, "steps",
				  "%llu steps of %llu ticks: together at most %d ticks",
				  (unsigned long long)ask->steps, (unsigned long long)ask->n,
				  WIRE_STEPS_MAX);
	if (answer > most)
		return reason_set(
			why, STATUS_LIMIT, -1, "observe",
			"the answer has about %llu bytes, but the client's frames at most %u: "
			"fewer worlds, steps or observed numbers",
			(unsigned long long)answer, (unsigned)most);
	return STATUS_OK;
}

/* A request that must not be carried out, because it is answered or pending already: true. The
 * stored answer is sent once, however many worlds of this message it has. */
static bool answer_repeated(struct session *self, struct membership *membership, uint64_t request,
			    struct frame **sent)
{
	for (uint32_t i = 0; i < membership->steps.count; i++)
		if (membership->steps.items[i] == request)
			return true; /* its answer follows */
	if (request != membership->step || membership->stepped == NULL)
		return false;
	if (*sent != membership->stepped)
		outbox_put(&self->outbox, frame_retain(membership->stepped));
	*sent = membership->stepped;
	return true;
}

/* OK: the number may be used. */
static enum status check_request(const struct membership *membership, uint64_t request,
				 struct reason *why)
{
	if (request > membership->step && request >= membership->step_last && request > 0)
		return STATUS_OK;
	return reason_set(why, request == 0 ? STATUS_SEQUENCE : STATUS_EXPIRED, -1, "request",
			  "request %llu of world %u: the next number is %llu",
			  (unsigned long long)request, (unsigned)membership->number,
			  (unsigned long long)membership->step_last + 1);
}

/* Hands one world's request to its host, or refuses it. */
static void step_world(struct session *self, struct step_group *group, struct step_plan *plan,
		       const struct msg_step_worlds *ask, const struct group_entry *entry,
		       uint32_t row)
{
	struct reason why;
	struct membership *membership = session_membership(self, entry->world);
	enum status status = STATUS_OK;
	if (membership == NULL)
		status =
			reason_set(&why, STATUS_NOT_JOINED, -1, "world",
				   "world %u is not joined: join it first", (unsigned)entry->world);
	else
		status = check_request(membership, entry->request, &why);
	if (status == STATUS_OK &&
	    ARRAY_RESERVE(&membership->steps, membership->steps.count + 1u) != STATUS_OK)
		status = reason_set(&why, STATUS_NO_MEMORY, -1, "world", "%s",
				    status_text(STATUS_NO_MEMORY));
	if (status != STATUS_OK) {
		step_group_refuse(self, group, entry->world, entry->request, &why);
		return;
	}
	const struct host_step step = {
		.session = self->number,
		.request = entry->request,
		.n = (uint32_t)ask->n,
		.list = entry->commands,
		.anyway = ask->anyway != 0,
		.restricted = session_role(self) < WIRE_ROLE_CONTROLLER,
		.plan = plan,
		.row = row,
	};
	/* The outcome may come before host_step returns. */
	step_group_await(self, group, entry->world, entry->request);
	membership->step_last = entry->request;
	membership->steps.items[membership->steps.count++] = entry->request;
	status = host_step(membership->world->host, &step);
	if (status == STATUS_OK)
		return;
	status = status == STATUS_FULL ? STATUS_BUSY : status;
	reason_set(&why, status, -1, "world", "%s", status_text(status));
	session_step_answered(membership, entry->request);
	step_group_fail(self, entry->world, entry->request, &why);
}

static void step_entries(struct session *self, struct step_group *group, struct step_plan *plan,
			 const struct msg_step_worlds *ask, const struct group_entry *entries)
{
	struct frame *sent = NULL;
	for (uint32_t i = 0; i < ask->worlds.count; i++) {
		struct membership *membership = session_membership(self, entries[i].world);
		if (membership == NULL ||
		    !answer_repeated(self, membership, entries[i].request, &sent))
			step_world(self, group, plan, ask, &entries[i], i);
	}
	step_group_close(self, group);
}

void handle_step_worlds(struct session *self, const struct message *message)
{
	const struct msg_step_worlds *ask = &message->step_worlds;
	struct group_entry *entries = NULL;
	struct step_plan *plan = NULL;
	struct step_group *group;
	struct reason why;
	enum status status = STATUS_OK;
	if (ask->worlds.count == 0)
		status = reason_set(&why, STATUS_RANGE, -1, "worlds", "no world is listed");
	if (status == STATUS_OK && ask->steps == 0)
		status = reason_set(&why, STATUS_RANGE, -1, "steps",
				    "steps is 0: it must be an integer within 1 and %d",
				    WIRE_STEPS_MAX);
	if (status == STATUS_OK)
		status = take_entries(&ask->worlds, &entries, &why);
	if (status != STATUS_OK) {
		session_refuse(self, message, &why);
		return;
	}
	status = step_plan_create(ask, &plan, &why);
	if (status == STATUS_OK)
		status = check_size(self, ask, plan, &why);
	if (status == STATUS_OK)
		status = step_group_open(self, ask, plan, &group, &why);
	if (status == STATUS_OK)
		step_entries(self, group, plan, ask, entries);
	else
		session_refuse(self, message, &why);
	step_plan_release(plan);
	heap_free(entries);
}
