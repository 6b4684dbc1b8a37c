/* service.h: the state shared by the rooms from session upwards: the sessions, borrowed parts of
 * the rooms below, and the work done in the current turn of the loop.
 *
 * Sessions do not depend on worlds. They pass messages and queries about worlds upwards through
 * struct service_calls, which server.c fills in.
 */
#ifndef CAIRN_SESSION_SERVICE_H
#define CAIRN_SESSION_SERVICE_H

#include <string.h>

#include "server/io/executor.h"
#include "server/io/io.h"
#include "server/io/outbox.h"
#include "server/io/tls_stream.h"
#include "server/options.h"
#include "server/session/address_limits.h"
#include "server/session/keyring.h"
#include "server/session/registry.h"
#include "server/store/store.h"
#include "server/sync/allowance.h"
#include "server/tick/pool.h"

struct service;
struct session;
struct worlds;
struct stream;
struct past_desk;

/* The server's name in WELCOME. */
#define SERVER_NAME "cairnd"

/* Durations of the last rounds of fan-out, each from a world's report to the last write that it
 * caused. */
enum { ROUNDS_KEPT = 128 };
struct round_times {
	uint32_t ns[ROUNDS_KEPT];
	uint64_t count; /* rounds since the start; entry count % ROUNDS_KEPT is written next */
	uint32_t open;	/* rounds in progress */
};

/* One turn of the loop: from one wait for the kernel to the next. Deferrable work is done until its
 * budget for the turn is used up and continues in the next turn, so that sockets, timers and
 * signals are served in between. Each kind of work has its own budget, so no kind delays
 * another. */
enum turn_kind { TURN_READING, TURN_REPORTS, TURN_SERVING, TURN_KINDS };
/* Budget of one kind, in watched changes or work of the same cost: a few milliseconds. A larger
 * budget delays sockets and timers, a smaller one makes more turns. */
enum { TURN_WORK_MAX = 8192 };
struct turn {
	uint64_t work[TURN_KINDS]; /* done in this turn */
	uint64_t number;
};

/* Calls from sessions into the rooms above them. */
struct service_calls {
	/* Handles one message of an open session. */
	void (*dispatch)(struct session *session, const struct message *message);
	/* Refuses a batch that is over a quota or cannot be read; false: the message is no COMMANDS
	 * for a world that the session has joined, and nothing was sent. */
	bool (*refuse_commands)(struct session *session, const struct message *message,
				const struct reason *why);
	/* True if a world of that name is in service. */
	bool (*has_world)(const struct service *service, const char *name);
	/* The session's outbox is empty again: parts of frames that wait can be written. */
	void (*on_writable)(struct session *session);
	/* The session has been resumed: sends the events and states that the client may have
	 * missed. `applied` is HELLO's. */
	void (*resume)(struct session *session, const struct wire_list *applied);
	/* The session ends: it leaves all its worlds. */
	void (*leave_worlds)(struct session *session);
	/* Opens a session for an accepted connection; `stream` is taken. */
	void (*accept)(struct service *service, struct stream *stream);
	/* Starts a graceful end of the daemon. */
	void (*drain)(struct service *service);
	/* A session, or a world, has been freed. */
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
	struct store *store;	  /* NULL without --data */
	struct past_desk *past;	  /* owned; NULL without --data */
	enum wire_role past_role; /* least role that may see the past */
	uint64_t alive_at;	  /* instant of the next sign of life in the file of sessions */
	struct registry sessions;
	struct address_limits address_limits;
	struct keyring keyring;	      /* accepted tokens; main.c loads the file */
	enum wire_role loopback_role; /* of a peer on this machine without a token */
	struct outbox_set outboxes;
	/* Shapes cooked in this process, by name (handlers_shape.c). */
	struct shape_library library;
	uint32_t scene_jobs;	  /* requests for scenes on HELPER (handlers_scene.c) */
	uint64_t library_trim_at; /* size in bytes at which unused shapes are next removed */
	struct tls_context *tls;  /* owned; NULL without a certificate; main.c makes it */
	struct round_times rounds;
	struct turn turn;
	struct wakeup serving;	 /* a world's fan-out has more subscriptions to serve */
	struct wakeup reporting; /* a world has more reports */
	struct wakeup reading;	 /* held sessions may be resumed */
	struct wakeup writable;	 /* an outbox is empty again, and parts of frames wait for it */
	/* Queue of held sessions (reading.h). */
	struct session *held_first, *held_last;
	struct allowance_pool watching[WIRE_ROLES]; /* shared by all sessions of a role */
	struct io_timer *rest;			    /* shows worlds that have stopped changing */
	struct io_timer *pause;			    /* ends the pause of paused sessions */
	struct io_timer *travel;		    /* moves views of the past that are played */
	bool rest_armed, pause_armed, travel_armed;
	bool executor_stopped;
	bool draining, closing;
	char redirect[257]; /* where a drain sends clients; "": nowhere */
	uint32_t monitors;  /* sessions with MONITOR on */
	char abi[32];	    /* of the engine, in WELCOME and INFO */
	uint32_t
		own_uid; /* user of this process; a Unix peer of the same user is an administrator */
};

/* Durability of a world that does not choose one. */
static inline enum durability service_durability(const struct service *self)
{
	enum durability durability = DURABILITY_TICK;
	const char *name = self->options->durability;
	/* The option has been validated. */
	(void)!durability_parse(name, strlen(name), &durability);
	return self->store != NULL ? durability : DURABILITY_OFF;
}
/* True if more work of that kind may be done in this turn. */
static inline bool service_turn_has_budget(const struct service *self, enum turn_kind kind)
{
	return self->turn.work[kind] < TURN_WORK_MAX;
}
static inline void service_turn_spend(struct service *self, enum turn_kind kind, uint64_t work)
{
	self->turn.work[kind] += work;
}

#endif
