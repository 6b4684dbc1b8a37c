/* server.h: the daemon as a whole: owns every part, in one order of start and stop.
 *
 *	start  store → recovered worlds, scenes → threads → listeners
 *	stop   listeners → GOODBYE to every session → worlds (last checkpoints) → threads → store
 *
 * It is made on an io and an executor (io.h, executor.h), real or simulated, and knows neither.
 */
#ifndef CAIRN_SERVER_H
#define CAIRN_SERVER_H

#include "server/io/executor.h"
#include "server/io/io.h"
#include "server/io/tls_stream.h"
#include "server/options.h"
#include "server/session/crowd.h"
#include "server/session/keyring.h"
#include "server/session/registry.h"
#include "server/store/store.h"
#include "server/tick/pool.h"
#include "server/worlds/worlds.h"

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
enum { TURN_WORK_MAX = 8192 }; /* of a kind: watched changes, or what costs as much; some milliseconds */
struct turn {
	uint64_t work[TURN_KINDS];
	uint64_t number;
};

struct server {
	struct io *io;		     /* borrowed */
	struct executor *executor;   /* borrowed */
	struct options *options; /* borrowed; CONFIG and SIGHUP change the live ones */
	struct frame_pool *frames;
	struct pool *pool;
	struct store *store; /* NULL without --data */
	struct worlds worlds;
	struct registry sessions;
	struct crowd crowd;
	struct keyring keyring; /* tokens it knows; loaded by who can read files */
	enum wire_role loopback_role; /* of a peer on this machine that shows none */
	struct outbox_set outboxes;
	struct shape_book library; /* shapes cooked in this process, by name; trimmed (handlers_shape.c) */
	uint64_t library_trim_at;  /* bytes at which it is looked through again */
	struct tls_context *tls; /* owned; NULL without a certificate; made by who can read files */
	struct io_listener *listeners[2 * OPTION_ADDRESSES_MAX];
	uint32_t listener_count;
	struct round_times rounds;
	struct turn turn;
	struct bell serving;	/* a world has more clients to serve in this round */
	struct bell reporting;	/* a world has more reports */
	struct bell reading;	/* a session has said more than is read in a turn */
	struct bell roomy;	/* a client has taken all, and parts of a frame wait for it */
	struct session *held_first, *held_last; /* those sessions, in the order in which they wait */
	struct allowance_pool watching[WIRE_ROLES]; /* of all sessions of a role */
	struct io_timer *rest;	/* worlds that may have come to rest */
	struct io_timer *guard; /* workers that are inside one world for long */
	struct io_timer *pause; /* of sessions that have said much in a turn */
	bool rest_armed, guard_armed, pause_armed;
	struct io_timer *timer; /* a quarter second: deadlines, pings, balance */
	bool executor_started, executor_stopped;
	bool draining, closing;
	char redirect[257];   /* where a drain sends clients; "": nowhere */
	uint32_t monitors;    /* sessions that want MONITOR_LINEs */
	uint64_t drain_until; /* instant */
	uint32_t looks;	      /* rounds of the timer */
	char abi[32];
	uint32_t own_uid; /* of this process: a Unix peer with it is an administrator */
};

/* Prepares everything; nothing runs yet. `own_uid` is the user this process runs as. Errors name
 * the option, scene or file. */
MUST_CHECK enum status server_create(struct io *io, struct executor *executor,
				     struct options *options, uint32_t own_uid,
				     struct server **out, struct reason *why);
/* Starts threads, worlds and listeners; afterwards run the io. */
MUST_CHECK enum status server_start(struct server *self, struct reason *why);
/* A session for a connection that somebody else has accepted, or its end. The stream is taken. */
void server_accept(struct server *self, struct stream *stream);
/* Graceful end: no new sessions, GOODBYE to all, worlds are closed, then io_stop. A second call
 * ends at once. */
void server_drain(struct server *self);
/* After the io has stopped. Stops the executor. */
void server_destroy(struct server *self);
/* Whether more of a kind is done in this turn. */
static inline bool server_turn_has_room(const struct server *self, enum turn_kind kind)
{
	return self->turn.work[kind] < TURN_WORK_MAX;
}
static inline void server_turn_spend(struct server *self, enum turn_kind kind, uint64_t work)
{
	self->turn.work[kind] += work;
}
/* The tokens file has been read again: sessions whose bearer's line is gone, or allows less, are ended
 * for good. */
void server_revoke(struct server *self);
/* For session.c and worlds.c: one more has come to its end. */
void server_session_ended(struct server *self);
void server_world_ended(struct server *self);

#endif
