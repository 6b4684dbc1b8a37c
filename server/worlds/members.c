/* members.c: membership of sessions in worlds: joining, leaving, the end of a world, and the frames that a
 * resumed session has missed. The request that informs the host of a leaving session is allocated when the
 * session joins, so leaving never fails. */
#include "protocol/capabilities.h"
#include "protocol/cursor.h"
#include "server/session/service.h"
#include "server/session/session.h"
#include "server/worlds/step_groups.h"
#include "server/worlds/travel.h"
#include "server/worlds/worlds.h"

/* ---- joining and leaving ----------------------------------------------------------------------- */

static uint32_t worlds_joined(const struct session *self)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->memberships.count; i++)
		count += self->memberships.items[i].world != NULL;
	return count;
}

enum status worlds_admit(struct served_world *world, struct session *self)
{
	if (worlds_joined(self) == SESSION_WORLDS_MAX)
		return STATUS_LIMIT;
	if (ARRAY_RESERVE(&self->memberships, self->memberships.count + 1u) != STATUS_OK ||
	    ARRAY_RESERVE(&world->members, world->members.count + 1u) != STATUS_OK)
		return STATUS_NO_MEMORY;
	struct host_request *closing = host_closing_request(self->number);
	if (closing == NULL)
		return STATUS_NO_MEMORY;
	struct membership *membership = session_membership_or_past(self, world->number);
	if (membership == NULL) {
		membership = &self->memberships.items[self->memberships.count++];
		*membership = (struct membership){ .number = world->number };
	}
	membership->world = world;
	membership->closing = closing;
	world->members.items[world->members.count++] = self;
	return STATUS_OK;
}

/* `closing` is taken. */
static void remove_member(struct served_world *world, struct session *session,
			  struct host_request *closing)
{
	for (uint32_t i = 0; i < world->members.count; i++) {
		if (world->members.items[i] != session)
			continue;
		world->members.items[i] = world->members.items[--world->members.count];
		break;
	}
	/* A host that is stopping, or whose worker has stopped, needs no request. */
	if (world->stopping || world->service->executor_stopped)
		host_request_destroy(closing);
	else
		host_session_gone(world->host, closing);
}

void worlds_leave(struct served_world *world, struct session *self)
{
	for (uint32_t i = self->subscriptions.count; i-- > 0;) {
		struct session_subscription *entry = &self->subscriptions.items[i];
		if (entry->world != world)
			continue;
		travel_end(entry);
		fanout_unsubscribe(world->fanout, entry->subscription);
		*entry = self->subscriptions.items[--self->subscriptions.count];
	}
	struct membership *membership = session_membership(self, world->number);
	if (membership == NULL)
		return;
	remove_member(world, self, membership->closing);
	membership->closing = NULL;
	membership->world = NULL;
	membership->left = ++self->leavings;
	/* Pending STEPs will not be answered; a repeated STEP is executed again. */
	membership->steps.count = 0;
	step_groups_left(self, world->number);
	session_trim_answers(self);
}

void worlds_leave_all(struct session *self)
{
	step_groups_release(self);
	for (uint32_t i = 0; i < self->memberships.count; i++)
		if (self->memberships.items[i].world != NULL)
			worlds_leave(self->memberships.items[i].world, self);
}

/* Sends ERROR about a request whose effect the world's end cancels. */
static void send_world_ended(struct session *self, const struct message *about)
{
	struct reason why;
	reason_set(&why, STATUS_UNKNOWN_WORLD, -1, "", "the world has ended");
	session_refuse(self, about, &why);
}

void worlds_expel(struct served_world *world, struct session *self)
{
	struct message about;
	uint32_t sent = 0;
	struct membership *membership = session_membership_or_past(self, world->number);
	if (membership == NULL)
		return;
	/* The session that requested the end gets its answer when the world has ended. */
	bool requested_end = self->number == world->destroyed_by;
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		if (self->subscriptions.items[i].world != world || requested_end)
			continue;
		message_init(&about, MESSAGE_SUBSCRIBE);
		about.subscribe.sub = self->subscriptions.items[i].subscription->sub;
		send_world_ended(self, &about);
		sent++;
	}
	message_init(&about, MESSAGE_WORLD_JOIN);
	if (sent == 0 && !requested_end && membership->world != NULL)
		send_world_ended(self, &about);
	worlds_leave(world, self);
	membership_release(membership);
	*membership = self->memberships.items[--self->memberships.count];
}

/* ---- calls from sessions ----------------------------------------------------------------------- */

bool worlds_have(const struct service *service, const char *name)
{
	return worlds_find_name(service->worlds, name) != NULL;
}

void worlds_on_writable(struct session *self)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct session_subscription *entry = &self->subscriptions.items[i];
		fanout_on_writable(travel_fanout(entry), entry->subscription,
				   io_now(self->service->io));
	}
}

/* Resumes one subscription from an item of HELLO.applied. False: the subscription no longer exists. */
static bool resume_subscription(struct session *self, struct wire_cursor *in, uint64_t *sub)
{
	uint64_t epoch = 0, tick = 0, events = 0, edit = 0;
	struct wire_cursor item = *in;
	uint32_t count;
	*sub = 0;
	if (wire_skip(in, NULL) != STATUS_OK || wire_take_array(&item, &count) != STATUS_OK ||
	    count < 3 || wire_take_uint(&item, WIRE_INTEGER_MAX, sub) != STATUS_OK ||
	    wire_take_uint(&item, UINT32_MAX, &epoch) != STATUS_OK ||
	    wire_take_uint(&item, WIRE_INTEGER_MAX, &tick) != STATUS_OK ||
	    (count > 3 && wire_take_uint(&item, WIRE_INTEGER_MAX, &events) != STATUS_OK) ||
	    (count > 4 && wire_take_uint(&item, UINT32_MAX, &edit) != STATUS_OK))
		return true; /* an unreadable item: its subscription begins with a snapshot */
	struct session_subscription *entry = session_subscription(self, *sub);
	if (entry == NULL)
		return false;
	if (entry->resumed)
		return true;
	entry->resumed = true;
	subscription_resume(entry->subscription, (uint32_t)epoch, tick,
			    count > 4 ? (int64_t)edit : -1, events);
	return true;
}

static void resume_subscriptions(struct session *self, const struct wire_list *applied)
{
	struct wire_cursor in = wire_cursor_list(applied);
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct session_subscription *entry = &self->subscriptions.items[i];
		entry->resumed = false;
		entry->subscription->has_ack = self->handshake.caps & WIRE_CAP_ACK;
		entry->subscription->frame_max = self->handshake.limits.frame_down;
	}
	for (uint32_t i = 0; i < applied->count; i++) {
		struct message about;
		uint64_t sub;
		if (resume_subscription(self, &in, &sub))
			continue;
		message_init(&about, MESSAGE_SUBSCRIBE);
		about.subscribe.sub = sub;
		session_refuse_status(self, &about, STATUS_UNKNOWN_SUBSCRIPTION);
	}
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct session_subscription *entry = &self->subscriptions.items[i];
		if (!entry->resumed)
			subscription_resume(entry->subscription, 0, 0, 0, 0);
		fanout_show(travel_fanout(entry), entry->subscription, io_now(self->service->io));
	}
}

/* Sends the present WORLD_INFO of every joined world, because changes may have been missed. */
static void send_world_infos(struct session *self)
{
	for (uint32_t i = 0; i < self->memberships.count; i++) {
		struct message info;
		uint8_t counts[WORLD_INFO_BYTES];
		if (self->memberships.items[i].world == NULL)
			continue;
		worlds_fill_info(self->memberships.items[i].world, &info, 0, counts, sizeof counts);
		session_send(self, &info);
	}
}

void worlds_resume(struct session *self, const struct wire_list *applied)
{
	send_world_infos(self);
	resume_subscriptions(self, applied);
}
