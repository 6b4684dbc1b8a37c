/* service.h: what all rooms of the daemon from the sessions up share: who is there, what is borrowed from
 * below, and what a turn of the loop has done.
 *
 * Sessions know nothing of worlds but that there are some: what they ask of them, and what is to be done
 * with their messages, goes up through struct service_calls, which the rooms above fill in.
 */
#ifndef CAIRN_SESSION_SERVICE_H
#define CAIRN_SESSION_SERVICE_H

#include "server/io/executor.h"
#include "server/io/io.h"
#include "server/io/outbox.h"
#include "server/io/tls_stream.h"
#include "server/options.h"
#include "server/session/crowd.h"
#include "server/session/keyring.h"
#include "server/session/registry.h"
#include "server/store/store.h"
#include "server/sync/allowance.h"
#include "server/tick/pool.h"

struct service;
struct session;
struct worlds;
struct stream;

/* Name and version a client is told. */
#define SERVER_NAME "cairnd"

/* How long the last rounds of fan-out took, from a world's report to the last write it led to. */
enum { ROUNDS_KEPT = 128 };
struct round_times {
	uint32_t ns[ROUNDS_KEPT];
	uint64_t count; /* ever */
	uint32_t open;	/* under way */
};

/* One turn of the loop: from one wait for the kernel to the next. What may wait is done until the turn's work
 * is done, and goes on in the next one, so that sockets, timers and signals always get theirs. Each kind
 * has work of its own: none of them keeps another from its turn. */
enum turn_kind { TURN_READING, TURN_REPORTS, TURN_SERVING, TURN_KINDS };
enum {
	TURN_WORK_MAX = 8192
}; /* of a kind: watched changes, or what costs as much; some milliseconds */
struct turn {
	uint64_t work[TURN_KINDS];
	uint64_t number;
};

/* What is above the sessions, as they see it. */
struct service_calls {
	/* One message of an open session. */
	void (*dispatch)(struct session *session, const struct message *message);
	/* A batch that is over a quota, or cannot be read; false: it is no COMMANDS for a world it is in. */
	bool (*refuse_commands)(struct session *session, const struct message *message,
				const struct reason *why);
	/* Whether a world of that name is in service. */
	bool (*has_world)(const struct service *service, const char *name);
	/* The client has room again for parts of frames that wait. */
	void (*go_on)(struct session *session);
	/* A client has come back: what it may have missed of its worlds. `applied` is HELLO's. */
	void (*resume)(struct session *session, const struct wire_list *applied);
	/* A session ends: it leaves the worlds that it is in. */
	void (*leave_worlds)(struct session *session);
	/* A connection that somebody has accepted; the stream is taken. */
	void (*accept)(struct service *service, struct stream *stream);
	/* The daemon is to end, gracefully. */
	void (*drain)(struct service *service);
	/* One more has come to its end. */
	void (*session_ended)(struct service *service);
	void (*world_ended)(struct service *service);
};

struct service {
	const struct service_calls *calls;
	struct worlds *worlds;	   /* borrowed */
	struct io *io;		   /* borrowed */
	struct executor *executor; /* borrowed */
	struct options *options;   /* borrowed; CONFIG and SIGHUP change the live ones */
	struct frame_pool *frames;
	struct pool *pool;
	struct store *store; /* NULL without --data */
	struct registry sessions;
	struct crowd crowd;
	struct keyring keyring;	      /* tokens it knows; loaded by who can read files */
	enum wire_role loopback_role; /* of a peer on this machine that shows none */
	struct outbox_set outboxes;
	struct shape_library
		library; /* shapes cooked in this process, by name; trimmed (handlers_shape.c) */
	uint64_t library_trim_at; /* bytes at which it is looked through again */
	struct tls_context *tls; /* owned; NULL without a certificate; made by who can read files */
	struct round_times rounds;
	struct turn turn;
	struct wakeup serving;	 /* a world has more clients to serve in this round */
	struct wakeup reporting; /* a world has more reports */
	struct wakeup reading;	 /* a session has said more than is read in a turn */
	struct wakeup roomy;	 /* a client has taken all, and parts of a frame wait for it */
	struct session *held_first,
		*held_last; /* those sessions, in the order in which they wait */
	struct allowance_pool watching[WIRE_ROLES]; /* of all sessions of a role */
	struct io_timer *rest;			    /* worlds that may have come to rest */
	struct io_timer *pause;			    /* of sessions that have said much in a turn */
	bool rest_armed, pause_armed;
	bool executor_stopped;
	bool draining, closing;
	char redirect[257]; /* where a drain sends clients; "": nowhere */
	uint32_t monitors;  /* sessions that want MONITOR_LINEs */
	char abi[32];
	uint32_t own_uid; /* of this process: a Unix peer with it is an administrator */
};

/* Whether more of a kind is done in this turn. */
static inline bool service_turn_has_room(const struct service *self, enum turn_kind kind)
{
	return self->turn.work[kind] < TURN_WORK_MAX;
}
static inline void service_turn_spend(struct service *self, enum turn_kind kind, uint64_t work)
{
	self->turn.work[kind] += work;
}

#endif
