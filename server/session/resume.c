#include "config.h"

#include "server/session/resume.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/cursor.h"
#include "server/io/entropy.h"
#include "server/io/log.h"
#include "server/server.h"

enum { LOST_MIN = 64 };

/* ---- tokens ------------------------------------------------------------------------------------ */

void resume_prepare(struct session *self)
{
	self->has_token = entropy_fill(self->token, sizeof self->token) == STATUS_OK;
}

/* In a time that does not depend on what is compared. */
static bool is_token(const uint8_t token[RESUME_TOKEN_BYTES], const uint8_t *shown)
{
	uint8_t differ = 0;
	for (int i = 0; i < RESUME_TOKEN_BYTES; i++)
		differ |= token[i] ^ shown[i];
	return differ == 0;
}

/* Every session is compared, wherever the one is that is found. */
static struct session *find(struct server *server, struct wire_slice shown)
{
	struct session *found = NULL;
	if (shown.bytes != RESUME_TOKEN_BYTES)
		return NULL;
	for (uint32_t i = 0; i < server->sessions.items.count; i++) {
		struct session *session = server->sessions.items.items[i];
		bool same = is_token(session->token, shown.at);
		bool before = is_token(session->token_before, shown.at);
		if (resume_is_kept(session) && (same || (before && session->has_token_before)))
			found = session;
	}
	return found;
}

/* ---- lost -------------------------------------------------------------------------------------- */

bool resume_is_kept(const struct session *self)
{
	const struct server *server = self->server;
	return self->handshake.state == HANDSHAKE_OPEN && self->has_token &&
	       (self->handshake.caps & WIRE_CAP_RESUME) && !self->ended && !server->draining &&
	       !server->closing;
}

bool resume_end_oldest(struct server *server)
{
	struct session *oldest = NULL;
	for (uint32_t i = 0; i < server->sessions.items.count; i++) {
		struct session *session = server->sessions.items.items[i];
		/* Numbers are unique: a total order. */
		if (session->state == SESSION_LOST &&
		    (oldest == NULL || session->lost_at < oldest->lost_at ||
		     (session->lost_at == oldest->lost_at && session->number < oldest->number)))
			oldest = session;
	}
	if (oldest != NULL)
		session_destroy(oldest);
	return oldest != NULL;
}

void resume_end_all(struct server *server)
{
	while (resume_end_oldest(server))
		;
}

void resume_lose(struct session *self)
{
	struct server *server = self->server;
	uint64_t most = MAX_OF(server->options->sessions_max / 4, (uint64_t)LOST_MIN);
	self->state = SESSION_LOST;
	self->lost_at = io_now(server->io);
	server->sessions.lost++;
	outbox_detach(&self->outbox);
	bytes_release(&self->input);
	for (uint32_t i = 0; i < self->uploads.count; i++)
		bytes_release(&self->uploads.items[i].data);
	self->uploads.count = 0;
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		subscription_lose(self->subscriptions.items[i].subscription);
	LOG_FROM(session_log(self), LOG_INFO, "session_lost", "session=%u", (unsigned)self->number);
	if (server->sessions.lost > most)
		resume_end_oldest(server);
}

bool resume_look_after(struct session *self, uint64_t now)
{
	bool over = self->ended || now - self->lost_at > WIRE_RESUME_MS * NS_PER_MS;
	if (self->state != SESSION_LOST || !over)
		return false;
	session_destroy(self);
	return true;
}

/* ---- found ------------------------------------------------------------------------------------- */

/* The two change their connections. */
static void swap_streams(struct session *self, struct session *other)
{
	struct stream *stream = self->stream;
	struct peer peer = self->peer;
	bool crowd_greeting = self->crowd_greeting;
	self->stream = other->stream;
	self->peer = other->peer;
	self->crowd_greeting = other->crowd_greeting;
	other->stream = stream;
	other->peer = peer;
	other->crowd_greeting = crowd_greeting;
	if (self->stream != NULL)
		self->stream->context = self;
	if (other->stream != NULL)
		other->stream->context = other;
	outbox_detach(&self->outbox);
	outbox_detach(&other->outbox);
	outbox_attach(&self->outbox, self->stream);
	outbox_attach(&other->outbox, other->stream);
}

/* Where one subscription goes on. False: the client has one that is not here any more. */
static bool go_on(struct session *self, struct wire_cursor *in, uint64_t *sub)
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
		return true; /* what cannot be read names nobody: its subscription begins anew */
	struct session_subscription *entry = session_subscription(self, *sub);
	if (entry == NULL)
		return false;
	if (entry->resumed)
		return true;
	entry->resumed = true;
	subscription_resume(entry->subscription, (uint32_t)epoch, tick, count > 4 ? (int64_t)edit : -1,
			    events);
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
		if (go_on(self, &in, &sub))
			continue;
		message_init(&about, MESSAGE_SUBSCRIBE);
		about.subscribe.sub = sub;
		session_refuse_status(self, &about, STATUS_UNKNOWN_SUBSCRIPTION);
	}
	for (uint32_t i = 0; i < self->subscriptions.count; i++) {
		struct session_subscription *entry = &self->subscriptions.items[i];
		if (!entry->resumed)
			subscription_resume(entry->subscription, 0, 0, 0, 0);
		fanout_show(entry->world->fanout, entry->subscription, io_now(self->server->io));
	}
}

/* What the client may have missed of its worlds. */
static void tell_worlds(struct session *self)
{
	for (uint32_t i = 0; i < self->memberships.count; i++) {
		struct message info;
		uint8_t counts[512];
		if (self->memberships.items[i].world == NULL)
			continue;
		worlds_fill_info(self->memberships.items[i].world, &info, 0, counts, sizeof counts);
		session_send(self, &info);
	}
}

/* The greeting session's connection becomes the lost one's. */
static void take_place(struct session *greeting, struct session *lost, struct handshake *fresh)
{
	struct server *server = lost->server;
	server->sessions.lost -= lost->state == SESSION_LOST;
	swap_streams(lost, greeting);
	session_greeted(lost);
	lost->handshake = *fresh;
	lost->outbox.frame_max = fresh->limits.frame_down;
	lost->state = SESSION_OPEN;
	lost->heard_at = io_now(server->io);
	lost->frame_since = INSTANT_NEVER;
	lost->pinged = lost->starved = false;
	lost->input.count = 0;
	memcpy(lost->token_before, lost->token, sizeof lost->token);
	memcpy(lost->token, greeting->token, sizeof lost->token);
	lost->has_token_before = true;
	lost->heard_anew = false;
	greeting->has_token = false;
	greeting->ended = true;
	greeting->state = SESSION_LEAVING;
	greeting->successor = lost;
	if (greeting->stream != NULL)
		stream_close(greeting->stream);
	LOG_FROM(session_log(lost), LOG_INFO, "session_resumed", "session=%u peer=%s",
		 (unsigned)lost->number, lost->peer.text);
}

bool resume_greet(struct session *self, const struct message *hello)
{
	struct message reply;
	struct reason why;
	if (hello->type != MESSAGE_HELLO || hello->hello.resume.bytes == 0 ||
	    hello->hello.protocol.major != WIRE_MAJOR)
		return false;
	struct session *lost = self->has_token ? find(self->server, hello->hello.resume) : NULL;
	if (lost == NULL) {
		reason_set(&why, STATUS_EXPIRED, -1, "resume",
			   "there is no such session any more; begin a new one");
		session_refuse(self, hello, &why);
		return true;
	}
	/* As with any other token (session.c). */
	if (!self->peer.local && !self->peer.secure && !self->server->options->insecure_plaintext) {
		reason_set(&why, STATUS_AUTH, -1, "resume",
			   "a token is not to be sent where others can read it: use TLS");
		session_refuse(self, hello, &why);
		return true;
	}
	struct handshake fresh;
	struct handshake_offer offer = self->handshake.offer;
	offer.session = lost->number;
	offer.role = lost->handshake.role;
	offer.resumes = true;
	handshake_init(&fresh, &offer);
	enum status status = handshake_receive(&fresh, hello, &reply);
	if (status != STATUS_OK) {
		session_send(self, &reply);
		self->errors++;
		return true;
	}
	take_place(self, lost, &fresh);
	reply.welcome.resume_token = (struct wire_slice){ lost->token, sizeof lost->token };
	session_send(lost, &reply);
	tell_worlds(lost);
	resume_subscriptions(lost, &hello->hello.applied);
	return true;
}

struct session *resume_hand_over(struct session *self, size_t taken)
{
	struct session *lost = self->successor;
	if (lost == NULL)
		return NULL;
	self->successor = NULL;
	if (bytes_append(&lost->input, self->input.data + taken, self->input.count - taken) !=
	    STATUS_OK)
		session_goodbye(lost, STATUS_CLOSED, "no memory for what it said");
	self->input.count = 0;
	return lost;
}
