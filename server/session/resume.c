/* See resume.h. */
#include "config.h"

#include "server/base/heap.h"
#include "server/session/resume.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "server/io/entropy.h"
#include "server/io/log.h"
#include "server/session/remember.h"
#include "server/session/service.h"
#include "server/store/session_file.h"

/* This many lost sessions are always allowed, because a quarter of a small --sessions-max is too
 * few. */
enum { LOST_MIN = 64 };

/* ---- tokens ------------------------------------------------------------------------------------ */

void resume_prepare(struct session *self)
{
	self->has_token = entropy_fill(self->token, sizeof self->token) == STATUS_OK;
	hash_sha256(self->token, sizeof self->token, self->token_hash);
}

/* Compares in constant time. */
static bool is_token(const uint8_t hash[SHA256_BYTES], const uint8_t shown[SHA256_BYTES])
{
	uint8_t differ = 0;
	for (int i = 0; i < SHA256_BYTES; i++)
		differ |= hash[i] ^ shown[i];
	return differ == 0;
}

/* Compares every session, so that the time does not depend on which one is found. *hash: of the token. */
static struct session *find_by_token(struct service *service, struct wire_slice shown,
				     uint8_t hash[SHA256_BYTES])
{
	struct session *found = NULL;
	if (shown.bytes != RESUME_TOKEN_BYTES)
		return NULL;
	hash_sha256(shown.at, shown.bytes, hash);
	for (uint32_t i = 0; i < service->sessions.items.count; i++) {
		struct session *session = service->sessions.items.items[i];
		bool same = is_token(session->token_hash, hash);
		bool before = is_token(session->token_before_hash, hash);
		bool next = is_token(session->token_next_hash, hash);
		if (resume_is_possible(session) && (same || (before && session->has_token_before) ||
						    (next && session->has_token_next)))
			found = session;
	}
	return found;
}

/* The token that a client shows is the newest that it has: a WELCOME with a newer one did not
 * reach it. From now on it is the session's token. Otherwise one that was shown as the next (the
 * daemon was killed after that WELCOME) would be overwritten by the next but one while the HELLO
 * waits for the disk; and one that was shown as the one before would not outlive a second WELCOME
 * that gets lost. */
static void settle_token(struct session *self, const uint8_t shown[SHA256_BYTES])
{
	if (is_token(self->token_hash, shown))
		return;
	memcpy(self->token_hash, shown, sizeof self->token_hash);
	self->has_token_before = false;
}

/* ---- lost -------------------------------------------------------------------------------------- */

bool resume_is_possible(const struct session *self)
{
	const struct service *service = self->service;
	return self->handshake.state == HANDSHAKE_OPEN && self->has_token &&
	       (self->handshake.caps & WIRE_CAP_RESUME) && !self->ended && !service->draining &&
	       !service->closing;
}

bool resume_end_oldest_lost(struct service *service)
{
	struct session *oldest = NULL;
	for (uint32_t i = 0; i < service->sessions.items.count; i++) {
		struct session *session = service->sessions.items.items[i];
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

void resume_end_lost(struct service *service)
{
	while (resume_end_oldest_lost(service))
		;
}

void resume_detach(struct session *self)
{
	struct service *service = self->service;
	uint64_t most = MAX_OF(service->options->sessions_max / 4, (uint64_t)LOST_MIN);
	self->state = SESSION_LOST;
	self->lost_at = io_now(service->io);
	service->sessions.lost++;
	outbox_detach(&self->outbox);
	bytes_release(&self->input);
	for (uint32_t i = 0; i < self->uploads.count; i++)
		bytes_release(&self->uploads.items[i].data);
	self->uploads.count = 0;
	for (uint32_t i = 0; i < self->subscriptions.count; i++)
		subscription_detach(self->subscriptions.items[i].subscription);
	LOG_FROM(session_log(self), LOG_INFO, "session_lost", "session=%u", (unsigned)self->number);
	if (service->sessions.lost > most)
		resume_end_oldest_lost(service);
}

bool resume_expire(struct session *self, uint64_t now)
{
	/* The recovery of the worlds may have taken longer than a client has to resume. */
	if (self->lost_at == 0)
		self->lost_at = now;
	bool over = self->ended || now - self->lost_at > WIRE_RESUME_MS * NS_PER_MS;
	if (self->state != SESSION_LOST || !over)
		return false;
	session_destroy(self);
	return true;
}

/* ---- resumed ----------------------------------------------------------------------------------- */

/* Exchanges the connections of two sessions, with all that belongs to a connection. */
static void swap_streams(struct session *self, struct session *other)
{
	struct stream *stream = self->stream;
	struct peer peer = self->peer;
	bool counted_as_greeting = self->counted_as_greeting;
	self->stream = other->stream;
	self->peer = other->peer;
	self->counted_as_greeting = other->counted_as_greeting;
	other->stream = stream;
	other->peer = peer;
	other->counted_as_greeting = counted_as_greeting;
	if (self->stream != NULL)
		self->stream->context = self;
	if (other->stream != NULL)
		other->stream->context = other;
	outbox_detach(&self->outbox);
	outbox_detach(&other->outbox);
	outbox_attach(&self->outbox, self->stream);
	outbox_attach(&other->outbox, other->stream);
}

/* The lost session takes over the greeting session's connection and becomes OPEN; the greeting
 * session leaves with the old stream. */
static void take_over(struct session *greeting, struct session *lost, struct handshake *fresh)
{
	struct service *service = lost->service;
	service->sessions.lost -= lost->state == SESSION_LOST;
	swap_streams(lost, greeting);
	session_greeted(lost);
	lost->handshake = *fresh;
	lost->outbox.frame_max = fresh->limits.frame_down;
	lost->state = SESSION_OPEN;
	lost->heard_at = io_now(service->io);
	lost->frame_since = INSTANT_NEVER;
	lost->pinged = lost->short_of_memory = false;
	lost->input.count = 0;
	memcpy(lost->token_before_hash, lost->token_hash, sizeof lost->token_hash);
	memcpy(lost->token_hash, greeting->token_hash, sizeof lost->token_hash);
	memcpy(lost->token, greeting->token, sizeof lost->token);
	lost->has_token_before = true;
	lost->has_token_next = false;
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

/* A client must be able to resume with the token of its WELCOME, also if the daemon is killed right after
 * it. So the token is stored first, as that of `stored`, and the HELLO is looked at again then
 * (remember.h). */
static bool wait_for_disk(struct session *self, struct session *stored)
{
	struct store *store = self->service->store;
	if (self->resume_at == 0) {
		remember_session(stored);
		self->resume_at = session_file_changes(store);
	}
	self->resume_waits = session_file_written(store) < self->resume_at;
	return self->resume_waits;
}

static bool wait_for_resume(struct session *self, struct session *lost)
{
	if (self->service->store == NULL)
		return false;
	if (self->resume_at == 0) {
		memcpy(lost->token_next_hash, self->token_hash, sizeof lost->token_next_hash);
		lost->has_token_next = true;
	}
	return wait_for_disk(self, lost);
}

/* A HELLO is accepted once, because that may use up its token (handshake.h). */
enum status resume_receive_new(struct session *self, const struct message *hello,
			       struct message *reply)
{
	if (self->accepted != NULL) {
		if (wait_for_disk(self, self))
			return STATUS_AGAIN;
		self->handshake = *self->accepted;
		heap_free(self->accepted);
		self->accepted = NULL;
		handshake_accepted(&self->handshake, reply);
		return STATUS_OK;
	}
	struct handshake before = self->handshake;
	enum status status = handshake_receive(&self->handshake, hello, reply);
	if (status != STATUS_OK || self->service->store == NULL || !resume_is_possible(self) ||
	    !wait_for_disk(self, self))
		return status;
	self->accepted = heap_alloc(sizeof *self->accepted);
	if (self->accepted == NULL) {
		self->resume_waits = false; /* it cannot be resumed after a kill at this moment */
		return STATUS_OK;
	}
	*self->accepted = self->handshake;
	self->handshake = before;
	return STATUS_AGAIN;
}

bool resume_receive_hello(struct session *self, const struct message *hello)
{
	struct message reply;
	struct reason why;
	if (hello->type != MESSAGE_HELLO || hello->hello.resume.bytes == 0 ||
	    hello->hello.protocol.major != WIRE_MAJOR)
		return false;
	uint8_t shown[SHA256_BYTES];
	struct session *lost =
		self->has_token ? find_by_token(self->service, hello->hello.resume, shown) : NULL;
	if (lost == NULL) {
		reason_set(&why, STATUS_EXPIRED, -1, "resume",
			   "the session has ended or the token is unknown; open a new session");
		session_refuse(self, hello, &why);
		return true;
	}
	/* As for every other token (session.c, admit). */
	if (!self->peer.local && !self->peer.secure &&
	    !self->service->options->insecure_plaintext) {
		reason_set(
			&why, STATUS_AUTH, -1, "resume",
			"this connection is not encrypted, so it must not carry a token; use TLS");
		session_refuse(self, hello, &why);
		return true;
	}
	settle_token(lost, shown);
	if (wait_for_resume(self, lost))
		return true;
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
	take_over(self, lost, &fresh);
	remember_session(lost);
	reply.welcome.resume_token = (struct wire_slice){ lost->token, sizeof lost->token };
	session_send(lost, &reply);
	lost->service->calls->resume(lost, &hello->hello.applied);
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
		session_goodbye(lost, STATUS_CLOSED, "no memory for the client's input");
	self->input.count = 0;
	return lost;
}
