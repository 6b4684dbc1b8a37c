/* See session.h. In this order: sending, receiving (bytes → PROXY header → frames → messages),
 * admission and life of a session. A stream's callbacks are the only entry from io; a callback that
 * finds its session without a stream frees it. */
#include "config.h"

#include "server/session/session.h"

#include <stdio.h>
#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/command_wire.h"
#include "protocol/frame.h"
#include "protocol/query_wire.h"
#include "protocol/unpack.h"
#include "server/base/heap.h"
#include "server/io/log.h"
#include "server/session/proxy.h"
#include "server/session/remember.h"
#include "server/session/resume.h"
#include "server/session/service.h"

struct log_site *session_log(struct session *self)
{
	bool open = self->handshake.state == HANDSHAKE_OPEN;
	bool known = self->grant != NULL || self->handshake.role >= WIRE_ROLE_CONTROLLER;
	return open && known ? &self->log : NULL;
}

/* ---- sending ----------------------------------------------------------------------------------- */

static enum status report_sent(struct session *self, const struct message *message,
			       enum status status)
{
	if (status != STATUS_OK)
		LOG_FROM(session_log(self), LOG_ERROR, "message_not_sent",
			 "session=%u message=%d status=%s", (unsigned)self->number,
			 (int)message->type, status_name(status));
	return status;
}

enum status session_send(struct session *self, const struct message *message)
{
	return report_sent(self, message, outbox_send(&self->outbox, message));
}

enum status session_send_listed(struct session *self, const struct message *message)
{
	return report_sent(self, message, outbox_send_listed(&self->outbox, message));
}

void session_refuse(struct session *self, const struct message *about, const struct reason *why)
{
	struct message error;
	message_error(&error, about, why);
	self->errors++;
	session_send(self, &error);
	if (wire_status_closes(why->status))
		session_goodbye(self, why->status, why->text);
}

void session_refuse_status(struct session *self, const struct message *about, enum status status)
{
	struct reason why;
	reason_set(&why, status, -1, "", "%s", status_text(status));
	session_refuse(self, about, &why);
}

bool session_refuses_world(struct session *self, const struct message *about, const char *world)
{
	struct reason why;
	if (grant_allows_world(self->grant, world))
		return false;
	reason_set(&why, STATUS_FORBIDDEN, -1, "world", "the token does not allow the world %s",
		   world);
	session_refuse(self, about, &why);
	return true;
}

void session_done(struct session *self, const struct message *about)
{
	struct message reply;
	message_init(&reply, MESSAGE_REPLY);
	reply.reply.ref = message_ref(about);
	reply.reply.about = about->type;
	session_send(self, &reply);
}

void session_goodbye(struct session *self, enum status status, const char *text)
{
	if (self->state == SESSION_LEAVING)
		return;
	/* A client that was slow or silent may resume the session. */
	self->ended = status != STATUS_SLOW && status != STATUS_CLOSED;
	if (self->state == SESSION_LOST)
		return; /* there is no connection; the next quarter-second check ends it */
	self->state = SESSION_LEAVING;
	struct message goodbye;
	message_init(&goodbye, MESSAGE_GOODBYE);
	goodbye.goodbye.code = status;
	/* Spread by session number, so that clients do not all reconnect at once. */
	goodbye.goodbye.retry_ms =
		status == STATUS_DRAINING ? 500 + self->number * 7919u % 1000u : 0;
	if (status == STATUS_DRAINING)
		goodbye.goodbye.redirect = wire_text(self->service->redirect);
	goodbye.goodbye.text = wire_text(text);
	session_send(self, &goodbye);
	if (self->stream == NULL)
		return;
	outbox_flush(&self->outbox);
	if (status == STATUS_SLOW)
		stream_close(self->stream); /* the client would never read what is queued */
	else
		stream_finish(self->stream);
	LOG_FROM(session_log(self), LOG_INFO, "session_goodbye", "session=%u code=%s text=%s",
		 (unsigned)self->number, status_name(status), LOG_TEXT(text));
}

/* ---- receiving --------------------------------------------------------------------------------- */

static uint32_t frame_max(const struct session *self)
{
	return self->state == SESSION_OPEN ? self->handshake.limits.frame_up : WIRE_FRAME_HELLO;
}

void session_greeted(struct session *self)
{
	address_limits_greeted(&self->service->address_limits, &self->peer);
	self->counted_as_greeting = false;
}

static void on_drained(void *context)
{
	struct session *self = context;
	if (outbox_has_list(&self->outbox)) {
		/* The client reads, even if it sends nothing. */
		self->heard_at = io_now(self->service->io);
		self->pinged = false;
		outbox_list_more(&self->outbox);
		if (!outbox_has_list(&self->outbox))
			reading_continue(self->service);
	}
	self->service->calls->on_writable(self);
}

static void init_quotas(struct session *self)
{
	uint64_t now = io_now(self->service->io);
	quota_init(&self->quota, self->handshake.role, now);
	allowance_init(&self->allowance, &self->service->watching[self->handshake.role],
		       quota_of(self->handshake.role, QUOTA_WATCHED), now);
}

static void init_outbox(struct session *self)
{
	struct service *service = self->service;
	outbox_init(&self->outbox, &service->outboxes, self->stream, service->frames);
	self->outbox.on_room = on_drained;
	self->outbox.context = self;
}

void session_prepare(struct session *self)
{
	init_outbox(self);
	self->outbox.frame_max = self->handshake.limits.frame_down;
	init_quotas(self);
}

static void receive_hello(struct session *self, const struct message *message)
{
	struct message reply;
	if (resume_receive_hello(self, message))
		return;
	enum status status = resume_receive_new(self, message, &reply);
	if (status == STATUS_AGAIN)
		return;
	session_send(self, &reply);
	if (status != STATUS_OK) {
		self->errors++;
		heap_free(self->grant);
		self->grant = NULL;
		if (self->handshake.state == HANDSHAKE_CLOSED)
			session_goodbye(self, status, self->handshake.why.text);
		return;
	}
	snprintf(self->client, sizeof self->client, "%.*s", (int)message->hello.client.bytes,
		 (const char *)message->hello.client.at);
	self->state = SESSION_OPEN;
	self->service->sessions.greeting--;
	session_greeted(self);
	self->outbox.frame_max = self->handshake.limits.frame_down;
	init_quotas(self);
	remember_session(self);
	LOG_FROM(session_log(self), LOG_INFO, "session_open",
		 "session=%u peer=%s role=%s token=\"%s\" client=%s", (unsigned)self->number,
		 self->peer.text, wire_role_name(self->handshake.role),
		 self->grant != NULL ? self->grant->name : "", LOG_TEXT(self->client));
}

/* Refuses a message that cannot be read or is over the quota. A batch is answered with RESULT
 * wherever its number is known. */
static void refuse_message(struct session *self, const struct message *message,
			   const struct reason *why)
{
	if (message == NULL || self->state != SESSION_OPEN ||
	    !self->service->calls->refuse_commands(self, message, why))
		session_refuse(self, message, why);
}

static void refuse_busy(struct session *self, const struct message *message, uint64_t now)
{
	struct reason why;
	reason_set(&why, STATUS_BUSY, -1, "",
		   "the session exceeds its quota (INFO \"quotas\"); send more slowly");
	refuse_message(self, message, &why);
	if (quota_exhausted(&self->quota, now))
		session_goodbye(self, STATUS_BUSY, "over the quota for more than 5 s");
}

/* After the validator refused a message: writes the command and field at fault to `why`, where they
 * can be found. */
static void locate_fault(const struct message *message, struct reason *why)
{
	struct reason inner;
	struct wire_query query;
	enum status status = STATUS_OK;
	if (message->type == MESSAGE_COMMANDS)
		status = command_check_list(&message->commands.list, &inner);
	else if (message->type == MESSAGE_STEP)
		status = command_check_list(&message->step.commands, &inner);
	else if (message->type == MESSAGE_QUERY)
		status = query_take(&message->query.query, &query, &inner);
	/* Other faults (a text's bytes, a key) are known only by their offset in the frame. */
	if (status == why->status)
		*why = inner;
}

static void receive_message(struct session *self, const uint8_t *content, uint32_t bytes)
{
	struct message message;
	struct reason why;
	uint64_t now = self->heard_at;
	self->frames_in++;
	reading_count_message(self, bytes);
	if (!self->heard_anew) {
		self->heard_anew = true;
		if (self->has_token_before) {
			self->has_token_before = false;
			remember_session(self);
		}
	}
	enum status status = message_read(content, bytes, &VALIDATE_UP, &message, &why);
	/* A client with many subscriptions to a fast world sends many ACKs, so they count by their
	 * bytes only. */
	bool is_ack = status == STATUS_OK && message.type == MESSAGE_ACK;
	/* All buckets are charged, even if the first one refuses. */
	bool frames_within = quota_take(&self->quota, QUOTA_FRAMES, is_ack ? 0 : 1, now);
	bool bytes_within = quota_take(&self->quota, QUOTA_BYTES, bytes, now);
	/* A correct client sends no unreadable message, so their quota is small. */
	bool faults_within = status == STATUS_OK || quota_take(&self->quota, QUOTA_FAULTS, 1, now);
	if (!frames_within || !bytes_within || !faults_within) {
		self->reading.refused =
			self->state == SESSION_OPEN; /* before HELLO the deadline is short */
		refuse_busy(self, &message, now);
	} else if (status != STATUS_OK) {
		locate_fault(&message, &why);
		refuse_message(self, &message, &why);
	} else if (self->state == SESSION_GREETING) {
		receive_hello(self, &message);
	} else {
		session_observe(self, &message, bytes);
		self->service->calls->dispatch(self, &message);
	}
}

/* A frame of at most this many times the allowed length is skipped and answered TOO_LARGE, and the
 * session continues. For a longer one the session ends, because the bytes are probably not frames. */
enum { FRAME_SKIPPED_MAX = 16 };

/* `bytes` is the length of the whole frame, header included. */
static void refuse_frame(struct session *self, enum status status, size_t bytes)
{
	uint64_t content = bytes - WIRE_FRAME_HEADER, most = frame_max(self);
	struct reason why;
	if (status != STATUS_TOO_LARGE)
		reason_set(&why, STATUS_FRAMING, -1, "frame",
			   "no frame: a frame is the byte c6, a length of 4 bytes above 0, and "
			   "so many bytes");
	else
		reason_set(&why, STATUS_TOO_LARGE, -1, "frame",
			   "a frame of %llu bytes is too large: at most %llu are allowed",
			   (unsigned long long)content, (unsigned long long)most);
	bool skipped = status == STATUS_TOO_LARGE && self->state == SESSION_OPEN &&
		       content <= FRAME_SKIPPED_MAX * most;
	if (!skipped) {
		why.status = STATUS_FRAMING;
		session_refuse(self, NULL, &why);
		return;
	}
	self->frames_in++;
	self->skip_bytes = bytes;
	bool within = quota_take(&self->quota, QUOTA_FAULTS, 1, self->heard_at);
	within = quota_take(&self->quota, QUOTA_BYTES, (double)bytes, self->heard_at) && within;
	if (within)
		session_refuse(self, NULL, &why);
	else
		refuse_busy(self, NULL, self->heard_at);
}

/* Skips up to `count` bytes of a frame that was too large; returns how many. */
static size_t skip_frame_bytes(struct session *self, size_t count)
{
	size_t bytes = MIN_OF(self->skip_bytes, count);
	self->skip_bytes -= bytes;
	return bytes;
}

static void offer_handshake(struct session *self);

/* Reads the PROXY header of a load balancer; the session's peer is then the stated source. False:
 * the header is incomplete, or the session ends. */
static bool receive_proxy_header(struct session *self, size_t *taken)
{
	struct peer peer = self->peer;
	enum status status = proxy_read(self->input.data, self->input.count, taken, &peer);
	if (status == STATUS_AGAIN)
		return false;
	if (status != STATUS_OK) {
		session_goodbye(self, STATUS_FRAMING,
				"the connection must begin with a PROXY header (--proxy-protocol)");
		return false;
	}
	if (address_limits_add(&self->service->address_limits, &peer) != STATUS_OK) {
		session_goodbye(self, STATUS_BUSY, "too many connections from this address");
		return false;
	}
	address_limits_remove(&self->service->address_limits, &self->peer,
			      self->counted_as_greeting);
	self->counted_as_greeting = true;
	self->proxied = false;
	self->peer = peer;
	offer_handshake(self);
	return true;
}

static void receive_frames(struct session *self)
{
	size_t taken = 0;
	bool begun = !self->proxied || receive_proxy_header(self, &taken);
	/* Without input the buffer may be NULL, and adding even 0 to NULL is undefined. */
	while (begun && self->state != SESSION_LEAVING && self->input.count > taken &&
	       reading_allowed(self)) {
		struct wire_slice content;
		size_t bytes;
		taken += skip_frame_bytes(self, self->input.count - taken);
		if (self->input.count == taken)
			break;
		enum status status =
			frame_split(self->input.data + taken, self->input.count - taken,
				    frame_max(self), &content, &bytes);
		if (status == STATUS_AGAIN)
			break;
		if (status != STATUS_OK) {
			refuse_frame(self, status, bytes);
			continue;
		}
		receive_message(self, content.at, content.bytes);
		if (self->resume_waits)
			break;
		taken += bytes;
	}
	struct session *successor = resume_hand_over(self, taken);
	if (successor != NULL) {
		receive_frames(successor);
		return;
	}
	if (self->state == SESSION_LEAVING) {
		self->input.count = 0;
		return;
	}
	bytes_consume(&self->input, taken);
	bool partial = self->input.count > 0 || self->skip_bytes > 0;
	bool held = begun && (!reading_allowed(self) || self->reading.refused);
	if (held)
		reading_hold(self);
	/* A frame is late only if its missing bytes depend on the client. */
	if (!partial || held)
		self->frame_since = INSTANT_NEVER;
	else if (taken > 0 || self->frame_since == INSTANT_NEVER)
		self->frame_since = self->heard_at;
}

enum { READ_BYTES = 65536 };

static size_t on_space(void *context, uint8_t **into)
{
	struct session *self = context;
	/* A large frame arrives in pieces, so that memory is taken only for the bytes that a client
	 * sends. */
	size_t room = MIN_OF(frame_max(self), (uint32_t)READ_BYTES) + WIRE_FRAME_HEADER;
	if (self->state == SESSION_LEAVING)
		self->input.count = 0;
	else if (self->reading.held)
		return 0;
	self->short_of_memory = bytes_reserve(&self->input, room) != STATUS_OK;
	if (self->short_of_memory)
		return 0;
	*into = self->input.data + self->input.count;
	return room;
}

static void on_received(void *context, size_t bytes)
{
	struct session *self = context;
	self->input.count += bytes;
	self->heard_at = io_now(self->service->io);
	self->pinged = false;
	receive_frames(self);
	/* A resumed session has taken the connection over and had none to give. */
	if (self->stream == NULL)
		session_destroy(self);
}

void session_resume_reading(struct session *self)
{
	if (self->stream == NULL)
		return;
	self->heard_at = io_now(self->service->io);
	receive_frames(self);
	if (self->stream == NULL)
		session_destroy(self);
	else if (!self->reading.held)
		stream_resume(self->stream);
}

static void on_closed(void *context, enum status why)
{
	struct session *self = context;
	LOG_FROM(session_log(self), LOG_INFO, "session_closed",
		 "session=%u why=%s frames_in=%llu bytes_out=%llu", (unsigned)self->number,
		 status_name(why), (unsigned long long)self->frames_in,
		 (unsigned long long)self->outbox.sent_bytes);
	self->stream = NULL;
	self->outbox.stream = NULL;
	reading_release(self);
	if (resume_is_possible(self))
		resume_detach(self);
	else
		session_destroy(self);
}

static const struct stream_events session_events = {
	.space = on_space,
	.received = on_received,
	.drained = on_drained,
	.closed = on_closed,
};

/* ---- life -------------------------------------------------------------------------------------- */

/* The highest role of a peer without a token. A Unix peer of our user or root is an administrator;
 * other peers of this machine get --loopback-role, through a browser observer at most. */
static enum wire_role role_of(const struct peer *peer, uint32_t own_uid, enum wire_role loopback)
{
	if (peer->kind == ADDRESS_UNIX)
		return peer->known && (peer->uid == own_uid || peer->uid == 0) ? WIRE_ROLE_ADMIN
									       : WIRE_ROLE_OBSERVER;
	if (!peer->local)
		return WIRE_ROLE_NOBODY;
	return peer->web ? MIN_OF(loopback, WIRE_ROLE_OBSERVER) : loopback;
}

/* Handshake: checks the token shown in HELLO and writes its role; uses nothing up. */
static enum status check_hello_token(void *context, struct wire_slice token, enum wire_role *role,
				     struct reason *why)
{
	struct session *self = context;
	struct service *service = self->service;
	struct grant grant;
	if (!self->peer.local && !self->peer.secure && !service->options->insecure_plaintext)
		return reason_set(
			why, STATUS_AUTH, -1, "token",
			"this connection is not encrypted, so it must not carry a token; use TLS");
	enum status status =
		keyring_check(&service->keyring, token, io_wall_s(service->io), &grant, why);
	if (status != STATUS_OK) {
		log_warn("token_refused", "session=%u peer=%s why=%s", (unsigned)self->number,
			 self->peer.text, LOG_TEXT(why->text));
		return status;
	}
	if (self->grant == NULL)
		self->grant = heap_alloc(sizeof *self->grant);
	if (self->grant == NULL)
		return reason_set(why, STATUS_NO_MEMORY, -1, "token", "out of memory");
	*self->grant = grant;
	*role = grant.role;
	return STATUS_OK;
}

/* True if the token is of use now: one of its worlds exists, or its role may create them. Otherwise
 * the token is not used up, because its world may still be created. */
static bool has_usable_world(const struct service *service, const struct grant *grant,
			     enum wire_role role)
{
	if (grant->world_count == 0 || wire_role_may(role, MESSAGE_WORLD_CREATE))
		return true;
	for (uint32_t i = 0; i < grant->world_count; i++)
		if (service->calls->has_world(service, grant->worlds[i]))
			return true;
	return false;
}

/* Handshake: HELLO is accepted but for the token's use, which happens here. */
static enum status use_hello_token(void *context, enum wire_role role, struct reason *why)
{
	struct session *self = context;
	struct service *service = self->service;
	if (self->grant->once && !has_usable_world(service, self->grant, role))
		return reason_set(why, STATUS_UNKNOWN_WORLD, -1, "token",
				  "none of the token's worlds exists; the token was not used up");
	enum status status =
		keyring_use(&service->keyring, self->grant, io_wall_s(service->io), why);
	if (status != STATUS_OK)
		log_warn("token_refused", "session=%u peer=%s why=%s", (unsigned)self->number,
			 self->peer.text, LOG_TEXT(why->text));
	return status;
}

static void offer_handshake(struct session *self)
{
	struct handshake_offer offer = {
		.name = SERVER_NAME,
		.build = PACKAGE_VERSION,
		.abi = self->service->abi,
		.caps = WIRE_CAPS_ALL,
		.role = role_of(&self->peer, self->service->own_uid, self->service->loopback_role),
		.admit = check_hello_token,
		.admitted = use_hello_token,
		.admit_context = self,
		.session = self->number,
		.time_us = io_now_us(self->service->io),
	};
	resume_prepare(self);
	if (self->has_token)
		offer.resume_token = (struct wire_slice){ self->token, sizeof self->token };
	else
		offer.caps &= ~(uint32_t)WIRE_CAP_RESUME;
	handshake_init(&self->handshake, &offer);
}

void session_open(struct service *service, struct stream *stream)
{
	struct peer peer;
	uint32_t number;
	stream_peer(stream, &peer);
	bool proxied = service->options->proxy_protocol && peer.kind != ADDRESS_UNIX && !peer.web &&
		       !peer.secure;
	if (proxied && !options_proxy_from(service->options, peer.kind, peer.octets, peer.local)) {
		log_warn("proxy_refused", "peer=%s", peer.text);
		stream_close(stream);
		return;
	}
	if (address_limits_add(&service->address_limits, &peer) != STATUS_OK) {
		stream_close(stream);
		return;
	}
	struct session *self = heap_alloc_zero(sizeof *self);
	if (self == NULL || registry_add(&service->sessions, self, &number) != STATUS_OK) {
		address_limits_remove(&service->address_limits, &peer, true);
		heap_free(self);
		stream_close(stream);
		return;
	}
	self->service = service;
	self->peer = peer;
	self->counted_as_greeting = true;
	self->proxied = proxied;
	self->stream = stream;
	self->number = number;
	self->opened_at = self->heard_at = io_now(service->io);
	self->frame_since = INSTANT_NEVER;
	service->sessions.greeting++;
	init_outbox(self);
	quota_init(&self->quota, WIRE_ROLE_NOBODY, self->opened_at);
	offer_handshake(self);
	stream_start(stream, &session_events, self);
	if (service->draining)
		session_goodbye(self, STATUS_DRAINING, "the server is shutting down");
}

static void send_ping(struct session *self, uint64_t now)
{
	struct message ping;
	message_init(&ping, MESSAGE_PING);
	ping.ping.t = now / NS_PER_US;
	session_send(self, &ping);
	self->pinged = true;
	self->pinged_at = now;
}

void session_check_deadlines(struct session *self, uint64_t now)
{
	const struct options *options = self->service->options;
	if (self->state == SESSION_LOST) {
		resume_expire(self, now);
		return;
	}
	uint64_t handshake = options->handshake_ms * NS_PER_MS;
	uint64_t silence = options->ping_ms * NS_PER_MS;
	if (self->short_of_memory && self->stream != NULL)
		stream_resume(self->stream);
	/* A held session is not read, so its silence is ours; while a list waits it is the client's, which
	 * takes nothing. */
	if (self->reading.held && !outbox_has_list(&self->outbox))
		self->heard_at = self->pinged_at = now;
	if (self->state == SESSION_LEAVING) {
		if (now - self->heard_at > 2 * silence && self->stream != NULL)
			stream_close(self->stream);
	} else if (self->state == SESSION_GREETING && now - self->opened_at > handshake) {
		session_goodbye(self, STATUS_HANDSHAKE, "no HELLO in time (--handshake-ms)");
	} else if (self->frame_since != INSTANT_NEVER && now - self->frame_since > handshake) {
		session_goodbye(self, STATUS_FRAMING,
				"a frame was begun and not completed in time");
	} else if (outbox_verdict(&self->outbox, now) != STATUS_OK) {
		session_goodbye(self, STATUS_SLOW,
				"the client does not read: too many answers and events are queued");
	} else if (self->pinged && now - self->pinged_at > silence) {
		session_goodbye(self, STATUS_CLOSED, "no answer to PING in time (--ping-ms)");
	} else if (now - self->heard_at > silence && !self->pinged) {
		send_ping(self, now);
	}
}

struct membership *session_membership_or_past(struct session *self, uint32_t world)
{
	for (uint32_t i = 0; i < self->memberships.count; i++)
		if (self->memberships.items[i].number == world)
			return &self->memberships.items[i];
	return NULL;
}

struct membership *session_membership(struct session *self, uint32_t world)
{
	struct membership *membership = session_membership_or_past(self, world);
	return membership != NULL && membership->world != NULL ? membership : NULL;
}

static bool has_stored_answers(const struct membership *membership)
{
	return membership->world == NULL &&
	       (membership->ledger.entries != NULL || membership->stepped != NULL);
}

/* Numbers are kept as long as the world exists; only stored answers are dropped. */
void session_trim_answers(struct session *self)
{
	struct membership *oldest = NULL;
	uint32_t count = 0;
	for (uint32_t i = 0; i < self->memberships.count; i++) {
		struct membership *membership = &self->memberships.items[i];
		if (!has_stored_answers(membership))
			continue;
		count++;
		if (oldest == NULL || membership->left < oldest->left)
			oldest = membership;
	}
	if (count <= SESSION_WORLDS_MAX)
		return;
	ledger_release(&oldest->ledger);
	frame_release(oldest->stepped);
	oldest->stepped = NULL;
}

void membership_release(struct membership *membership)
{
	ledger_release(&membership->ledger);
	frame_release(membership->stepped);
	ARRAY_RELEASE(&membership->steps);
}

void session_destroy(struct session *self)
{
	reading_release(self);
	session_end_monitor(self);
	self->service->sessions.lost -= self->state == SESSION_LOST;
	self->service->sessions.greeting -=
		self->state == SESSION_GREETING ||
		(self->state == SESSION_LEAVING && self->handshake.state != HANDSHAKE_OPEN);
	address_limits_remove(&self->service->address_limits, &self->peer,
			      self->counted_as_greeting);
	self->service->calls->leave_worlds(self);
	remember_no_more(self);
	for (uint32_t i = 0; i < self->memberships.count; i++)
		membership_release(&self->memberships.items[i]);
	allowance_release(&self->allowance);
	ARRAY_RELEASE(&self->memberships);
	ARRAY_RELEASE(&self->subscriptions);
	for (uint32_t i = 0; i < self->uploads.count; i++)
		bytes_release(&self->uploads.items[i].data);
	ARRAY_RELEASE(&self->uploads);
	heap_free(self->grant);
	heap_free(self->accepted);
	outbox_release(&self->outbox);
	bytes_release(&self->input);
	struct service *service = self->service;
	registry_remove(&service->sessions, self->number);
	heap_free(self);
	service->calls->session_ended(service);
}

struct session_subscription *session_subscription(struct session *self, uint64_t sub)
{
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		if (self->subscriptions.items[i].subscription->sub == sub)
			return &self->subscriptions.items[i];
	return NULL;
}
