/* handlers_state.c: SUBSCRIBE, UNSUBSCRIBE, ACK, RESYNC, FOCUS: which state of a world a session
 * receives; SEEK: a state of its past. The fanout of the world, or of a view of its past, makes the frames;
 * the session lists its subscriptions by number. */
#include "protocol/capabilities.h"
#include "server/requests/requests.h"
#include "server/session/service.h"
#include "server/worlds/travel.h"
#include "server/worlds/world_reports.h"
#include "server/worlds/worlds.h"

void handle_subscribe(struct session *self, const struct message *message)
{
	const struct msg_subscribe *ask = &message->subscribe;
	struct membership *membership = session_membership(self, (uint32_t)ask->world);
	struct reason why;
	if (membership == NULL) {
		session_refuse_status(self, message, STATUS_NOT_JOINED);
		return;
	}
	if (session_subscription(self, ask->sub) != NULL) {
		reason_set(&why, STATUS_EXISTS, -1, "sub",
			   "subscription %llu exists already; choose another number",
			   (unsigned long long)ask->sub);
		session_refuse(self, message, &why);
		return;
	}
	if (self->subscriptions.count == SESSION_SUBSCRIPTIONS_MAX) {
		reason_set(&why, STATUS_LIMIT, -1, "sub", "a session has at most %d subscriptions",
			   SESSION_SUBSCRIPTIONS_MAX);
		session_refuse(self, message, &why);
		return;
	}
	if (ask->profile == WIRE_PROFILE_EXACT && !(self->handshake.caps & WIRE_CAP_EXACT)) {
		reason_set(&why, STATUS_UNSUPPORTED, -1, "profile",
			   "the profile exact needs the capability \"exact\" in HELLO");
		session_refuse(self, message, &why);
		return;
	}
	if (ARRAY_RESERVE(&self->subscriptions, self->subscriptions.count + 1u) != STATUS_OK) {
		session_refuse_status(self, message, STATUS_NO_MEMORY);
		return;
	}
	struct subscription *subscription;
	struct fanout *fanout = membership->world->fanout;
	uint64_t before = fanout_work(fanout);
	enum status status = fanout_subscribe(
		fanout, ask, &self->outbox, &self->allowance, self->handshake.caps & WIRE_CAP_ACK,
		self->handshake.limits.frame_down, io_now(self->service->io), &subscription, &why);
	service_turn_spend(self->service, TURN_READING, fanout_work(fanout) - before);
	if (status != STATUS_OK) {
		session_refuse(self, message, &why);
		return;
	}
	self->subscriptions.items[self->subscriptions.count++] =
		(struct session_subscription){ .world = membership->world,
					       .subscription = subscription };
	worlds_watch(membership->world);
	if (!fanout_has_mirror(fanout))
		world_reports_request_whole(membership->world);
}

/* The subscription that a message names; refuses the message and returns NULL where there is none. */
static struct session_subscription *
require_subscription(struct session *self, const struct message *message, uint64_t sub)
{
	struct session_subscription *entry = session_subscription(self, sub);
	if (entry == NULL)
		session_refuse_status(self, message, STATUS_UNKNOWN_SUBSCRIPTION);
	return entry;
}

void handle_unsubscribe(struct session *self, const struct message *message)
{
	struct session_subscription *entry =
		require_subscription(self, message, message->unsubscribe.sub);
	if (entry == NULL)
		return;
	travel_end(entry);
	fanout_unsubscribe(entry->world->fanout, entry->subscription);
	worlds_watch(entry->world);
	*entry = self->subscriptions.items[--self->subscriptions.count];
	session_done(self, message);
}

void handle_ack(struct session *self, const struct message *message)
{
	/* Not an error: the subscription may have ended while the ACK was on its way. */
	struct session_subscription *entry = session_subscription(self, message->ack.sub);
	uint64_t now = io_now(self->service->io);
	if (entry == NULL)
		return;
	subscription_ack(entry->subscription, (uint32_t)message->ack.epoch, message->ack.tick,
			 (uint32_t)message->ack.edit, now);
	/* The ACK gives credit, but a paused world makes no step whose frame would use it. */
	travel_show(entry, now);
	if (entry->travel == NULL && entry->world->mode == WIRE_MODE_PAUSED)
		fanout_show(entry->world->fanout, entry->subscription, now);
}

void handle_resync(struct session *self, const struct message *message)
{
	struct session_subscription *entry =
		require_subscription(self, message, message->resync.sub);
	if (entry != NULL)
		fanout_resync(travel_fanout(entry), entry->subscription, io_now(self->service->io));
}

void handle_focus(struct session *self, const struct message *message)
{
	struct session_subscription *entry =
		require_subscription(self, message, message->focus.sub);
	struct reason why;
	if (entry == NULL)
		return;
	if (fanout_focus(travel_fanout(entry), entry->subscription, &message->focus, &why) !=
	    STATUS_OK)
		session_refuse(self, message, &why);
	else if (entry->travel != NULL)
		travel_show(entry, io_now(self->service->io));
	else if (entry->world->mode != WIRE_MODE_RUNNING)
		fanout_show(entry->world->fanout, entry->subscription, io_now(self->service->io));
}

/* True: the session's role may not see the past, and the message is refused. */
bool requests_refuse_past(struct session *self, const struct message *message)
{
	struct reason why;
	if (session_role(self) >= self->service->past_role)
		return false;
	reason_set(
		&why, STATUS_FORBIDDEN, -1, "",
		"the past is for the role %s and above on this server (--past-role); this session's "
		"role is %s",
		wire_role_name(self->service->past_role), wire_role_name(session_role(self)));
	session_refuse(self, message, &why);
	return true;
}

static void send_present(struct session *self, const struct message *message,
			 const struct session_subscription *entry)
{
	struct message sought;
	message_init(&sought, MESSAGE_SOUGHT);
	sought.sought.ref = message->seek.ref;
	sought.sought.sub = message->seek.sub;
	sought.sought.epoch = entry->world->epoch;
	sought.sought.tick = entry->world->tick;
	sought.sought.present = 1;
	session_send(self, &sought);
}

void handle_seek(struct session *self, const struct message *message)
{
	struct session_subscription *entry = require_subscription(self, message, message->seek.sub);
	struct reason why;
	if (entry == NULL || requests_refuse_past(self, message))
		return;
	if (!message->seek.tick.set) {
		send_present(self, message, entry);
		travel_end(entry);
	} else if (travel_seek(self, entry, &message->seek, &why) != STATUS_OK) {
		session_refuse(self, message, &why);
	}
}
