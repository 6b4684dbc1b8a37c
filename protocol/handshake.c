/* See handshake.h. */
#include "protocol/handshake.h"

#include <string.h>

#include "protocol/capabilities.h"
#include "protocol/unpack.h"

void handshake_init(struct handshake *self, const struct handshake_offer *offer)
{
	memset(self, 0, sizeof *self);
	self->offer = *offer;
	if (self->offer.limits.frame_up == 0)
		self->offer.limits.frame_up = WIRE_FRAME_UP;
	if (self->offer.limits.frame_down == 0)
		self->offer.limits.frame_down = WIRE_FRAME_DOWN;
}

/* The smaller of two limits (0: none requested), but at least WIRE_FRAME_MIN, which every message fits. */
static uint32_t limit_of(uint32_t own, uint32_t theirs)
{
	uint32_t least = theirs == 0 || theirs > own ? own : theirs;
	return MAX_OF(least, WIRE_FRAME_MIN);
}

static void agree(struct handshake *self, struct wire_version version, uint32_t caps,
		  const struct wire_limits *limits)
{
	uint32_t minor = WIRE_MINOR;
	self->minor = version.minor < minor ? version.minor : minor;
	self->caps = self->offer.caps & caps;
	uint32_t up = self->role >= WIRE_ROLE_CONTROLLER
			      ? self->offer.limits.frame_up
			      : MIN_OF(self->offer.limits.frame_up, (uint32_t)WIRE_FRAME_UP_GUEST);
	self->limits.frame_up = limit_of(up, limits->frame_up);
	self->limits.frame_down = limit_of(self->offer.limits.frame_down, limits->frame_down);
	self->state = HANDSHAKE_OPEN;
}

/* The highest role of the peer: that of its token, or without a token that of the transport. */
static enum status check_token(struct handshake *self, struct wire_slice token,
			       enum wire_role *most)
{
	*most = self->offer.role;
	if (token.bytes == 0 && *most == WIRE_ROLE_NOBODY)
		return reason_set(&self->why, STATUS_AUTH, -1, "token",
				  "a token is required here; give one in HELLO.token");
	if (token.bytes == 0)
		return STATUS_OK;
	if (self->offer.admit == NULL)
		return reason_set(&self->why, STATUS_UNSUPPORTED, -1, "token",
				  "tokens are not accepted here");
	return self->offer.admit(self->offer.admit_context, token, most, &self->why);
}

static enum status check_role(struct handshake *self, struct wire_slice name, enum wire_role most)
{
	self->role = most;
	if (name.bytes == 0)
		return STATUS_OK;
	enum wire_role role;
	if (wire_role_parse(name, &role) != STATUS_OK)
		return reason_set(&self->why, STATUS_RANGE, -1, "role",
				  "unknown role; give observer, player, controller or admin");
	if (role > most)
		return reason_set(&self->why, STATUS_FORBIDDEN, -1, "role",
				  "the highest role of this connection is %s",
				  wire_role_name(most));
	self->role = role;
	return STATUS_OK;
}

static enum status check_hello(struct handshake *self, const struct msg_hello *hello)
{
	if (hello->protocol.major != WIRE_MAJOR)
		return reason_set(&self->why, STATUS_HANDSHAKE, -1, "protocol",
				  "the server has protocol %u; the client has %u",
				  (unsigned)WIRE_MAJOR, (unsigned)hello->protocol.major);
	if (hello->resume.bytes > 0 && !self->offer.resumes)
		return reason_set(
			&self->why, STATUS_EXPIRED, -1, "resume",
			"the session has expired or never existed; send HELLO without resume");
	/* The resume token identifies the session, so no connect token is checked again. */
	if (self->offer.resumes)
		return check_role(self, hello->role, self->offer.role);
	enum wire_role most;
	enum status status = check_token(self, hello->token, &most);
	if (status == STATUS_OK)
		status = check_role(self, hello->role, most);
	if (status == STATUS_OK && hello->token.bytes > 0 && self->offer.admitted != NULL)
		status = self->offer.admitted(self->offer.admit_context, self->role, &self->why);
	return status;
}

static enum status check_message(struct handshake *self, const struct message *message)
{
	if (self->state != HANDSHAKE_EXPECTING)
		return reason_set(&self->why, STATUS_PROTOCOL, -1, "type",
				  "the session is open already");
	if (message->type != MESSAGE_HELLO)
		return reason_set(&self->why, STATUS_HANDSHAKE, -1, "type",
				  "HELLO must come first");
	return check_hello(self, &message->hello);
}

void handshake_accepted(const struct handshake *self, struct message *reply)
{
	message_init(reply, MESSAGE_WELCOME);
	struct msg_welcome *welcome = &reply->welcome;
	welcome->protocol = (struct wire_version){ WIRE_MAJOR, self->minor };
	welcome->server = wire_text(self->offer.name);
	welcome->build = wire_text(self->offer.build);
	welcome->abi = wire_text(self->offer.abi);
	welcome->caps = self->caps;
	welcome->limits = self->limits;
	welcome->session = self->session;
	if (self->caps & WIRE_CAP_RESUME)
		welcome->resume_token = self->offer.resume_token;
	welcome->role = wire_text(wire_role_name(self->role));
	welcome->time_us = self->offer.time_us;
}

enum status handshake_receive(struct handshake *self, const struct message *message,
			      struct message *reply)
{
	enum status status = check_message(self, message);
	if (status != STATUS_OK) {
		message_error(reply, message, &self->why);
		/* A wrong token closes, so that a peer cannot try many tokens on one connection. */
		if (wire_status_closes(status))
			self->state = HANDSHAKE_CLOSED;
		return status;
	}
	self->session = self->offer.session;
	agree(self, message->hello.protocol, message->hello.caps, &message->hello.limits);
	handshake_accepted(self, reply);
	return STATUS_OK;
}

void handshake_hello(const struct handshake *self, struct message *hello)
{
	message_init(hello, MESSAGE_HELLO);
	hello->hello.protocol = (struct wire_version){ WIRE_MAJOR, WIRE_MINOR };
	hello->hello.client = wire_text(self->offer.name);
	hello->hello.caps = self->offer.caps;
	hello->hello.limits = self->offer.limits;
	hello->hello.token = self->offer.token;
	hello->hello.resume = self->offer.resume;
	hello->hello.applied = self->offer.applied;
	if (self->offer.role != WIRE_ROLE_NOBODY)
		hello->hello.role = wire_text(wire_role_name(self->offer.role));
}

static enum status check_answer(struct handshake *self, const struct message *message)
{
	if (self->state != HANDSHAKE_EXPECTING)
		return reason_set(&self->why, STATUS_PROTOCOL, -1, "type", "a second WELCOME");
	if (message->type == MESSAGE_ERROR)
		return reason_set(
			&self->why, (enum status)message->error.code, -1, "", "%.*s",
			(int)message->error.text.bytes,
			message->error.text.bytes == 0 ? "" : (const char *)message->error.text.at);
	if (message->type != MESSAGE_WELCOME)
		return reason_set(&self->why, STATUS_HANDSHAKE, -1, "type",
				  "WELCOME must come first");
	if (message->welcome.protocol.major != WIRE_MAJOR)
		return reason_set(&self->why, STATUS_HANDSHAKE, -1, "protocol",
				  "the server has another protocol: %u",
				  (unsigned)message->welcome.protocol.major);
	if (wire_role_parse(message->welcome.role, &self->role) != STATUS_OK)
		return reason_set(&self->why, STATUS_HANDSHAKE, -1, "role",
				  "the server granted an unknown role");
	return STATUS_OK;
}

enum status handshake_welcome(struct handshake *self, const struct message *message)
{
	enum status status = check_answer(self, message);
	/* An ERROR with STATUS_OK is not a WELCOME either. */
	if (status == STATUS_OK && message->type != MESSAGE_WELCOME)
		status = STATUS_HANDSHAKE;
	if (status != STATUS_OK) {
		self->state = HANDSHAKE_CLOSED;
		return status;
	}
	self->session = (uint32_t)message->welcome.session;
	agree(self, message->welcome.protocol, message->welcome.caps, &message->welcome.limits);
	return STATUS_OK;
}
