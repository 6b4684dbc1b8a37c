/* host.h: a world in service: engine, schedule and inbox together, driven by a worker.
 *
 * LOOP ──host_* requests (mail)──► worker: boundary { inbox → world_apply → world_step → journal }
 *	LOOP ◄──────── reports ───────── (report.h)                     │
 *	STORE ◄──────────────── journal records (store/journal.h) ──────┘
 *
 * Every call here is for the LOOP thread and returns at once; what came of it arrives as a report.
 * The world itself is touched only by its worker, but for a STEP that is cheaper than the way
 * there and back: then LOOP borrows it (tick/pool.h) for so long. Which thread makes a tick is no
 * part of its result. Modes:
 *
 *	          resume                   lease taken            k sessions named
 *	PAUSED ─────────► RUNNING   any ──────────────► LOCKSTEP   any ─────────► BARRIER
 *	   ▲     pause ◄──────┘            release → PAUSED           release → PAUSED
 *    └── a limit was met, the tick does not fit its budget, or the journal failed: FAILED (paused)
 *
 * A state is named by (epoch, tick, edit). While the world is PAUSED or FAILED commands are applied at
 * once, without a tick, and each application raises `edit`; otherwise they wait for the next tick, or for
 * a STEP of no ticks.
 */
#ifndef CAIRN_HOST_HOST_H
#define CAIRN_HOST_HOST_H

#include "protocol/message.h"
#include "server/host/report.h"
#include "server/io/executor.h"
#include "server/store/journal.h"
#include "server/store/shape_library.h"
#include "server/tick/pool.h"

struct host;
struct host_request; /* host_requests.c */

/* What one player (a restricted session) may have of a world at once. */
struct player_limits {
	uint32_t
		horizon_ticks; /* how far ahead a batch may be dated, and how long a force may last */
	uint32_t pending, forces, bodies;
};

struct host_options {
	uint32_t number; /* the world's number on the wire */
	char name[WIRE_NAME_MAX + 1];
	uint32_t budget;	   /* thousandths of the period; 0 none */
	uint32_t checkpoint_ticks; /* between checkpoints; 0: only at start and at SAVE */
	uint32_t inbox_batches;	   /* waiting at most */
	uint32_t inbox_bytes;
	uint32_t snapshots_max;	     /* kept by name */
	uint64_t snapshot_bytes_max; /* all together */
	struct player_limits players;
	struct journal_pace pace; /* how it starts; speed 0: the clock's */
	struct journal *journal;  /* taken; NULL: nothing is kept on disk */
};
struct host_options host_options_default(void);

/* Reports wait: rung for LOOP. Drain with host_take_report until NULL. Borrowed context. */
typedef void host_reports(struct host *host, void *context);

/* Takes `world` and the contents of `shapes` (the shapes it may use) on success. The host is not
 * running yet. The first report is `whole`. */
MUST_CHECK enum status host_create(const struct host_options *options, struct world *world,
				   struct shape_library *shapes, struct executor *executor,
				   host_reports *reports, void *context, struct host **out);
/* Before host_start: a snapshot from the world's file. `image` is taken on OK. */
MUST_CHECK enum status host_add_snapshot(struct host *host, const char *name, uint64_t tick,
					 uint64_t state_hash, struct bytes *image);
/* Gives it to the pool's workers. */
MUST_CHECK enum status host_start(struct host *host, struct pool *pool);
typedef void host_stopped(struct host *host, void *context);
/* Ends after the mail already accepted; writes a last checkpoint, closes the journal. `stopped`
 * comes on LOOP; host_destroy is then allowed. */
void host_stop(struct host *host, host_stopped *stopped, void *context);
void host_destroy(struct host *host);

/* The oldest report, returned owned, or NULL. */
struct report *host_take_report(struct host *host);
/* One that has been read; taken. */
void host_return_report(struct host *host, struct report *report);

const char *host_name(const struct host *host);

/* ---- requests ----------------------------------------------------------------------------------
 * FULL: the mailbox or inbox is full, nothing happened; NO_MEMORY likewise. What is accepted is
 * answered. */

struct host_batch {
	uint32_t session;
	uint64_t batch;
	uint64_t at;	       /* 0: the next boundary */
	uint8_t late;	       /* enum late_policy */
	bool restricted;       /* the session is a player */
	struct wire_list list; /* packed commands; copied */
};
/* BUSY over the inbox's bounds. The result comes in a TICK report, also when the commands cannot
 * even be decoded. */
MUST_CHECK enum status host_submit(struct host *host, const struct host_batch *batch);

struct host_step {
	uint32_t session;
	uint64_t request;
	struct wire_option from;
	uint32_t n;	       /* ≤ WIRE_STEPS_MAX */
	struct wire_list list; /* packed commands; copied */
	uint8_t want;	       /* enum wire_want bits */
	bool anyway;	       /* the ticks are made even where the commands are refused */
	bool restricted;
};
/* Where the world is small and its worker has nothing to do with it, the ticks are made here and
 * now, and the reports come before this returns. */
MUST_CHECK enum status host_step(struct host *host, const struct host_step *step);

MUST_CHECK enum status host_control(struct host *host, uint32_t session, uint64_t ref,
				    enum wire_control action, double value);
/* The word that a session is gone, made while there is memory (NULL: there is none), so that it
 * always arrives. Returned owned: for host_session_gone or letter_destroy. */
struct host_request *host_closing_request(uint32_t session);
void host_request_destroy(struct host_request *request);
/* The session is gone: its lease, its place at the barrier and its unanswered steps end.
 * `closing` is taken. */
void host_session_gone(struct host *host, struct host_request *closing);
/* The journal said `failed`: the world stops and says so. Cannot fail. */
void host_journal_failed(struct host *host);
/* Now and then: sends what found the mailbox full. */
void host_look_after(struct host *host);
/* A query as packed on the wire (protocol/query_wire.h), answered between ticks on the live world.
 * */
MUST_CHECK enum status host_query(struct host *host, uint32_t session, uint64_t id,
				  struct wire_list query);
MUST_CHECK enum status host_save(struct host *host, uint32_t session, uint64_t ref,
				 const char *name);
MUST_CHECK enum status host_restore(struct host *host, uint32_t session, uint64_t ref,
				    const char *name);
/* snapshot "": as it stands. The copy comes back in REPLY_FORKED with the new world's `name`. */
MUST_CHECK enum status host_fork(struct host *host, uint32_t session, uint64_t ref,
				 const char *name, const char *snapshot);
/* Makes a cooked shape known to the world (and its journal); retained. */
MUST_CHECK enum status host_shape(struct host *host, uint32_t session, uint64_t ref,
				  const struct shape *shape);

/* The next report lists every body: the loop's mirror was lost. NO_MEMORY: ask again. */
MUST_CHECK enum status host_report_whole(struct host *host);

/* Whether reports tell contacts from now on; the first that does tells those of all bodies. NO_MEMORY: ask
 * again. */
MUST_CHECK enum status host_watch_contacts(struct host *host, bool wanted);
/* The same of joints. */
MUST_CHECK enum status host_watch_joints(struct host *host, bool wanted);

struct host_counters {
	uint64_t ticks, late, dropped, stalls, batches, refused, fallbacks;
	uint64_t here; /* steps made on LOOP */
	uint32_t inbox, reports, bodies;
};
/* Any time; a copy as of the last report taken. */
void host_counters(const struct host *host, struct host_counters *out);

#endif
