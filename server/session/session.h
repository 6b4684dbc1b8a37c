/* session.h: one client, from its first byte to GOODBYE.
 *
 *	           HELLO ok               GOODBYE sent, or the peer left
 *	GREETING ───────────► OPEN ─────────────────────────────────────► LEAVING ──► gone
 *	   │ late, malformed, refused for good                               ▲
 *	   └────────────────────────────────────────────────────────────────┘
 *
 * Bytes are split into frames, frames are validated whole, messages are unpacked and dispatched.
 * The role table of messages.def says which messages a session may send. A refused message is
 * answered with an error and counted (quota.h) wherever its end in the stream is known. The session
 * ends where the bytes are not frames, where it exceeds its quota for too long, and where it is
 * silent or does not read. Everything here runs on the loop thread.
 */
#ifndef CAIRN_SESSION_SESSION_H
#define CAIRN_SESSION_SESSION_H

#include "protocol/handshake.h"
#include "server/base/array.h"
#include "server/io/log.h"
#include "server/io/outbox.h"
#include "server/session/keyring.h"
#include "server/session/ledger.h"
#include "server/session/quota.h"
#include "server/session/reading.h"
#include "server/sync/subscription.h"

enum {
	SESSION_WORLDS_MAX =
		WIRE_GROUP_MAX, /* joined; and as many left worlds whose answers are stored for repeats */
	SESSION_SUBSCRIPTIONS_MAX = 64,
	SESSION_UPLOADS_MAX = 16,	     /* at once */
	SESSION_UPLOAD_BYTES_MAX = 56 << 20, /* of all uploads of a session together */
};

enum { RESUME_TOKEN_BYTES = 16 };

/* LOST: without a connection, but may be resumed (resume.h). */
enum session_state { SESSION_GREETING, SESSION_OPEN, SESSION_LEAVING, SESSION_LOST };

struct service;
struct served_world;
struct step_groups; /* worlds/step_groups.h */
struct travel;

/* A world that the session has joined, or has left again. Numbers of batches and STEPs continue
 * where they were when it joins again, so that no number ever means two things. */
struct membership {
	uint32_t number;	    /* the world's */
	struct served_world *world; /* borrowed; NULL after the session left */
	struct host_request
		*closing; /* owned; reports the leaving to the host, allocated beforehand */
	uint64_t left;	  /* when it left, counted in leavings of the session */
	struct ledger ledger;
	uint64_t step;		  /* number of the last STEP that was answered STEPPED */
	struct frame *stepped;	  /* that answer, for a repeat */
	uint64_t step_last;	  /* highest number sent so far */
	ARRAY_OF(uint64_t) steps; /* numbers of the pending STEPs, in order of arrival */
};

struct session_subscription {
	struct served_world *world;
	struct subscription *subscription; /* owned by the world's fanout, or its travel's */
	bool resumed;			   /* during a resume: HELLO.applied has named it */
	struct travel *travel; /* of worlds/travel.c: it shows the past; NULL: the present */
};

/* Geometry that is being received or cooked. */
struct upload {
	uint64_t ref;
	uint32_t world; /* number */
	struct wire_name name;
	uint32_t next, of; /* part expected next; == of: complete, being cooked */
	struct bytes data;
};

struct session {
	struct service *service; /* borrowed */
	struct stream *stream;	 /* NULL once it is gone */
	uint32_t number;	 /* never used twice in the life of a data directory */
	enum session_state state;
	struct handshake handshake;
	struct outbox outbox;
	struct quota quota;
	struct allowance allowance; /* for watched changes; none before HELLO */
	struct reading reading;
	struct bytes input;	      /* received bytes that are not processed yet */
	size_t skip_bytes;	      /* bytes to skip of a frame that was too large */
	bool short_of_memory;	      /* no memory for the input: reading is retried later */
	uint64_t opened_at, heard_at; /* instants */
	uint64_t frame_since;	      /* first byte of a partial frame, or INSTANT_NEVER */
	bool pinged;		      /* nothing was received since the last PING */
	uint64_t pinged_at;	      /* instant */
	ARRAY_OF(struct membership) memberships;
	uint64_t leavings;
	struct step_groups *groups; /* owned by worlds/; pending STEP_WORLDS; NULL: none so far */
	ARRAY_OF(struct session_subscription) subscriptions;
	ARRAY_OF(struct upload) uploads;
	struct peer peer;
	bool counted_as_greeting; /* in address_limits; belongs to the connection, as `peer` does */
	struct grant *grant;	  /* owned; what its token allows; NULL: no token */
	/* Resuming (resume.h). */
	uint8_t token[RESUME_TOKEN_BYTES]; /* for WELCOME */
	uint8_t token_hash[SHA256_BYTES], token_before_hash[SHA256_BYTES];
	uint8_t token_next_hash
		[SHA256_BYTES]; /* of a resume in progress, also in the last daemon */
	bool has_token, has_token_before, has_token_next;
	/* Of a greeting session that can be resumed: the change of the file of sessions that must be on disk
	 * before the WELCOME; 0: none. The HELLO stays in the input until then. */
	uint64_t resume_at;
	bool resume_waits;
	struct handshake
		*accepted; /* owned; of a new session that waits so, its handshake after that */
	bool heard_anew;   /* a message has arrived since the resume: token_before is void */
	bool ended;	   /* must not become LOST */
	bool remembered;   /* it is in the file of sessions (remember.h) */
	uint64_t lost_at;  /* instant; 0: of an earlier daemon, and not counted yet */
	/* The resumed session that has taken over this one's connection, and gets the rest of its
	 * input. */
	struct session *successor;
	uint32_t past_requests; /* about the past, under way */
	uint64_t frames_in, errors;
	struct log_site log;   /* rate limit of its log lines */
	bool proxied;	       /* a PROXY header is expected first */
	char client[64];       /* name from HELLO; untrusted bytes */
	bool monitors;	       /* MONITOR is on */
	uint64_t monitor_lost; /* lines left out since the last one sent */
};

/* Opens a session for a new connection, GREETING; `stream` is taken. On failure the stream is
 * closed. */
void session_open(struct service *service, struct stream *stream);
/* Empty outbox and full quotas of an open session without a connection. */
void session_prepare(struct session *self);
/* Each quarter second: deadlines, pings, slow clients. May end a lost session. */
void session_check_deadlines(struct session *self, uint64_t now);
/* The session is held no longer: processes its input and reads the stream again. May free the
 * session. */
void session_resume_reading(struct session *self);
/* HELLO was accepted on its connection: address_limits no longer counts it as greeting. */
void session_greeted(struct session *self);
/* Sends GOODBYE and closes the stream after what is queued; at once where the status is SLOW. */
void session_goodbye(struct session *self, enum status status, const char *text);
static inline enum wire_role session_role(const struct session *self)
{
	return self->state == SESSION_OPEN ? self->handshake.role : WIRE_ROLE_NOBODY;
}

/* The rate limit for log lines about the session: its own, where it has shown a token or is at
 * least a controller. Strangers share the call site's limit (NULL), because they could reconnect as
 * somebody new for each line. */
struct log_site *session_log(struct session *self);

/* Takes the session out of every world and frees it; the stream is gone. */
void session_destroy(struct session *self);

/* ---- for handlers ---------------------------------------------------------------------------- */
/* FULL: the message exceeds the client's frame limit, and nothing was sent. Without memory for it the
 * session ends, because an answer is never left out. */
enum status session_send(struct session *self, const struct message *message);
/* The same for a message of a list of any length; outbox_list_more after the last one. */
enum status session_send_listed(struct session *self, const struct message *message);
/* ERROR about a message. */
void session_refuse(struct session *self, const struct message *about, const struct reason *why);
void session_refuse_status(struct session *self, const struct message *about, enum status status);
/* True: the session's token does not allow a world of that name, and the message has been refused. */
bool session_refuses_world(struct session *self, const struct message *about, const char *world);
/* True if its token lists worlds: other worlds are invisible to the session. */
static inline bool session_has_world_list(const struct session *self)
{
	return self->grant != NULL && self->grant->world_count > 0;
}
/* An empty REPLY: the request has been carried out. */
void session_done(struct session *self, const struct message *about);
/* NULL where the session has not joined it. */
struct membership *session_membership(struct session *self, uint32_t world);
/* The same, also where the session has left the world again. */
struct membership *session_membership_or_past(struct session *self, uint32_t world);
/* A STEP has been answered or refused: it is no longer pending. */
void session_step_answered(struct membership *membership, uint64_t request);
struct session_subscription *session_subscription(struct session *self, uint64_t sub);
/* Frees the stored answers of the world left longest ago, where more than SESSION_WORLDS_MAX left
 * worlds have some. */
void session_trim_answers(struct session *self);
void membership_release(struct membership *membership);

/* Reports a message of this session to the sessions that monitor. */
void session_observe(struct session *self, const struct message *message, uint32_t bytes);
/* Turns MONITOR off for the session. */
void session_end_monitor(struct session *self);
#endif
