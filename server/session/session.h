/* session.h: one client: from its first byte to its goodbye.
 *
 *	           HELLO ok               GOODBYE sent, or the peer left
 *	GREETING ───────────► OPEN ─────────────────────────────────────► LEAVING ──► gone
 *	   │ late, malformed, refused for good                               ▲
 *	   └────────────────────────────────────────────────────────────────┘
 *
 * Bytes are split into frames, frames are validated whole, messages are unpacked and dispatched;
 * what a session may send is the role table of messages.def. Whatever has an end that can be told is
 * answered when it is refused, and counted (quota.h); the session ends where the bytes are no frames, where
 * it is over its quota for too long, and where it is silent or does not read. Everything here runs on the
 * loop thread.
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
	SESSION_WORLDS_MAX = 64, /* joined; and as many left whose answers are kept for repeats */
	SESSION_SUBSCRIPTIONS_MAX = 64,
	SESSION_UPLOADS_MAX = 16,	     /* at once */
	SESSION_UPLOAD_BYTES_MAX = 56 << 20, /* at once, all together */
};

enum { RESUME_TOKEN_BYTES = 16 };

/* LOST: without a connection, kept for one that resumes it (resume.h). */
enum session_state { SESSION_GREETING, SESSION_OPEN, SESSION_LEAVING, SESSION_LOST };

struct service;
struct served_world;

/* A world this session has joined, or has been in: numbers of batches and STEPs go on where they were
 * when it joins again, so that no number ever means two things. */
struct membership {
	uint32_t number;	      /* the world's */
	struct served_world *world;   /* borrowed; NULL since it left */
	struct host_request *closing; /* owned: tells the host that it is gone */
	uint64_t left;		      /* when it left: counts the session's leavings */
	struct ledger ledger;
	uint64_t step;		  /* number of the last STEP that was answered STEPPED */
	struct frame *stepped;	  /* its answer, kept for a repeat */
	uint64_t step_last;	  /* highest number sent so far */
	ARRAY_OF(uint64_t) steps; /* numbers of those being done, in the order they came */
};

struct session_subscription {
	struct served_world *world;
	struct subscription *subscription; /* owned by the world's fanout */
	bool resumed;			   /* while a client comes back: it has been named */
};

/* Geometry on its way in, or being cooked. */
struct upload {
	uint64_t ref;
	uint32_t world; /* number */
	struct wire_name name;
	uint32_t next, of; /* part awaited; == of: complete, being cooked */
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
	struct allowance allowance; /* for what it watches; none before HELLO */
	struct reading reading;
	struct bytes input;	      /* a frame in the making */
	size_t passing;		      /* bytes to come of a frame that was too large: left out */
	bool starved;		      /* there was no memory to read into: asked again later */
	uint64_t opened_at, heard_at; /* instants */
	uint64_t frame_since;	      /* first byte of a partial frame, or INSTANT_NEVER */
	bool pinged;		      /* a PING is not answered yet */
	uint64_t pinged_at;	      /* instant */
	ARRAY_OF(struct membership) memberships;
	uint64_t leavings;
	ARRAY_OF(struct session_subscription) subscriptions;
	ARRAY_OF(struct upload) uploads;
	struct peer peer;
	bool crowd_greeting; /* as its address is counted (crowd.h): it goes with the connection */
	struct grant *grant; /* owned; what its token allows; NULL: it came without */
	/* Coming back. */
	uint8_t token[RESUME_TOKEN_BYTES], token_before[RESUME_TOKEN_BYTES];
	bool has_token, has_token_before;
	bool heard_anew;  /* since it has come back: the token before is void */
	bool ended;	  /* it is not to be kept */
	uint64_t lost_at; /* instant */
	struct session
		*successor; /* has taken over this one's connection, in the midst of its input */
	uint64_t frames_in, errors;
	struct log_site log; /* what its own lines in the log are held back by */
	bool proxied;	     /* a PROXY header comes first */
	char client[64];     /* what it calls itself; bytes of a stranger */
	bool monitors;	     /* wants MONITOR_LINEs */
	uint64_t monitor_lost;
};

/* A session for a new connection, greeting. On failure the stream is closed. */
void session_open(struct service *service, struct stream *stream);
/* Called about every quarter second: deadlines, pings, slow clients. */
void session_look_after(struct session *self, uint64_t now);
/* It is held no longer: takes in what waits, and is read again. It may be gone afterwards. */
void session_read_on(struct session *self);
/* Its connection is no more one of those that have not said HELLO. */
void session_greeted(struct session *self);
/* Says GOODBYE and lets the stream finish. */
void session_goodbye(struct session *self, enum status status, const char *text);
static inline enum wire_role session_role(const struct session *self)
{
	return self->state == SESSION_OPEN ? self->handshake.role : WIRE_ROLE_NOBODY;
}

/* Whose limit a line about it counts against: its own, where it has shown who it is; strangers share
 * the place's, because they could come back as somebody new for each line. */
struct log_site *session_log(struct session *self);

/* Takes the session out of every world and frees it; the stream is gone. */
void session_destroy(struct session *self);

/* ---- for handlers ------------------------------------------------------------------------------
 * */
/* Not OK: it does not fit the client's frames (FULL), and nothing was sent. Without memory for it the
 * session ends: an answer is never left out. */
enum status session_send(struct session *self, const struct message *message);
/* ERROR about a message. */
void session_refuse(struct session *self, const struct message *about, const struct reason *why);
void session_refuse_status(struct session *self, const struct message *about, enum status status);
/* Where the session's token is not for a world of that name: refuses the message, true. */
bool session_refuses_world(struct session *self, const struct message *about, const char *world);
/* Whether its token names the worlds it is for: it is told of them alone. */
static inline bool session_limited(const struct session *self)
{
	return self->grant != NULL && self->grant->world_count > 0;
}
/* REPLY with nothing in it: done. */
void session_done(struct session *self, const struct message *about);
/* NULL where the session has not joined it. */
struct membership *session_membership(struct session *self, uint32_t world);
/* The same, also where it has left it again. */
struct membership *session_past(struct session *self, uint32_t world);
/* A STEP is done, or refused. */
void session_step_answered(struct membership *membership, uint64_t request);
struct session_subscription *session_subscription(struct session *self, uint64_t sub);
/* Of worlds that were left, the answers kept for repeats are given up where too many have some. */
void session_forget_answers(struct session *self);
void membership_release(struct membership *membership);

/* Tells the monitors what this session has sent. */
void session_observe(struct session *self, const struct message *message, uint32_t bytes);
/* It wants no lines any more. */
void session_end_monitor(struct session *self);
#endif
