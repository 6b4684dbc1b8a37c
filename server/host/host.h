/* host.h: a world in service: engine, schedule and inbox together, driven by a worker.
 *
 * LOOP ──host_* requests (tasks)──► worker: boundary { inbox → world_apply → world_step → journal }
 * *     LOOP ◄──────── reports ───────── (report.h)                     │ *     STORE
 * ◄──────────────── journal records (store/journal.h) ──────┘
 *
 * Every call here is for the LOOP thread and returns at once; its outcome arrives as a report. Only
 * the worker touches the world, except for a STEP that costs less than the hand-over to the worker
 * and back: LOOP then borrows the world (tick/pool.h) and makes the ticks itself. The result of a
 * tick does not depend on the thread that makes it. Modes:
 *
 * *                 resume                   lease taken            k sessions named *    PAUSED
 * ─────────► RUNNING   any ──────────────► LOCKSTEP   any ─────────► BARRIER *        ▲     pause
 * ◄──────┘            release → PAUSED           release → PAUSED *           └── a limit was met,
 * the tick does not fit its budget, or the journal failed and is not *           optional: FAILED
 * (paused)
 *
 * A state is named by (epoch, tick, edit). While the world is PAUSED or FAILED commands are applied
 * at once, without a tick, and each application raises `edit`; otherwise they wait for the next
 * tick, or for a STEP of no ticks.
 * */
#ifndef CAIRN_HOST_HOST_H
#define CAIRN_HOST_HOST_H

#include "protocol/message.h"
#include "server/host/report.h"
#include "server/host/step_plan.h"
#include "server/io/executor.h"
#include "server/store/journal.h"
#include "server/store/keyframes.h"
#include "server/store/shape_library.h"
#include "server/tick/pool.h"

struct host;
struct host_request; /* host_requests.c */

/* The most that one player (a restricted session) may have in a world at once. */
struct player_limits {
	uint32_t
		horizon_ticks; /* how far ahead a batch may be dated, and how long a force may last */
	uint32_t pending, forces, bodies; /* batches that wait, forces that last, bodies */
};

struct host_options {
	uint32_t number; /* the world's number on the wire */
	char name[WIRE_NAME_MAX + 1];
	uint32_t budget;	     /* thousandths of the period; 0 none */
	uint32_t checkpoint_ticks;   /* between checkpoints; 0: only at start and at SAVE */
	uint32_t inbox_batches;	     /* waiting at most */
	uint32_t inbox_bytes;	     /* of those batches, at most */
	uint32_t snapshots_max;	     /* stored by name */
	uint64_t snapshot_bytes_max; /* of all snapshots */
	uint32_t moments_max;	     /* kept in memory by name */
	uint64_t moment_bytes_max;   /* of all moments */
	struct player_limits players;
	struct journal_pace pace;    /* mode and speed at the start; speed 0: normal */
	struct journal *journal;     /* taken; NULL: nothing is stored on disk */
	struct keyframes *keyframes; /* a reference, taken on success; NULL: none are made */
	bool is_new;		     /* its next step is the world's first one */
	bool knows_sessions; /* results of batches that wait in the world are of sessions of this data
			      * directory; false: of the world that it is a copy of */
	bool journal_optional; /* the world goes on without its journal if that fails */
};
struct host_options host_options_default(void);

/* Called on LOOP when reports wait. Drain with host_take_report until NULL. Borrowed context. */
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
/* Ends after the requests already accepted; writes a last checkpoint, closes the journal.
 * `stopped` is called on LOOP; host_destroy is allowed from then on. */
void host_stop(struct host *host, host_stopped *stopped, void *context);
void host_destroy(struct host *host);

/* The oldest report, returned owned, or NULL. */
struct report *host_take_report(struct host *host);
/* Returns a report that has been read; taken. */
void host_return_report(struct host *host, struct report *report);

const char *host_name(const struct host *host);

/* ---- requests
 * ---------------------------------------------------------------------------------- FULL: the
 * world's task queue is full, nothing happened; NO_MEMORY likewise. Every accepted request is
 * answered. */

struct host_batch {
	uint32_t session;
	uint64_t batch;
	uint64_t at;	       /* 0: the next boundary */
	uint8_t late;	       /* enum late_policy */
	bool restricted;       /* the session is a player */
	struct wire_list list; /* packed commands; copied */
};
/* BUSY over the inbox's bounds. The result comes in a TICK report, also where the commands
 * cannot be decoded. */
MUST_CHECK enum status host_submit(struct host *host, const struct host_batch *batch);

/* The commands of a STEP are a batch whose number is that of the request, with this bit set.
 * Within a tick they are therefore applied after the session's COMMANDS, and the two kinds of
 * numbers never collide. */
#define HOST_STEP_BATCH (UINT64_C(1) << 63)
struct host_step {
	uint32_t session;
	uint64_t request;
	struct wire_option from;
	uint32_t n;	       /* ≤ WIRE_STEPS_MAX */
	struct wire_list list; /* packed commands; copied */
	const char *back; /* moment to return to before the commands; NULL or "": none. Copied */
	const char *
		keep; /* name under which the state after the ticks is kept as a moment; likewise */
	uint8_t want; /* enum wire_want bits */
	bool anyway;  /* the ticks are made even where the commands are refused */
	bool restricted;
	/* Of STEP_WORLDS: `n` ticks after each of the plan's steps, for the world of this row;
	 * retained. NULL: one STEP. */
	struct step_plan *plan;
	uint32_t row;
};
/* If the world is small and idle, LOOP makes the ticks in this call, and the reports are delivered
 * before it returns. */
MUST_CHECK enum status host_step(struct host *host, const struct host_step *step);

MUST_CHECK enum status host_control(struct host *host, uint32_t session, uint64_t ref,
				    enum wire_control action, double value);
/* The request that closes a session's part in a world. It is made when the session enters, so
 * that leaving never fails for want of memory. Returned owned, for host_session_gone or
 * host_request_destroy; NULL: out of memory. */
struct host_request *host_closing_request(uint32_t session);
void host_request_destroy(struct host_request *request);
/* The session has left: its lease, its place at the barrier and its unanswered steps end.
 * `closing` is taken. Cannot fail. */
void host_session_gone(struct host *host, struct host_request *closing);
/* The journal has failed: the world goes to FAILED and reports it, or goes on without it if it is
 * optional. Cannot fail. */
void host_journal_failed(struct host *host);
/* Posts deferred requests that found the task queue half full. Call it periodically. */
void host_post_notes(struct host *host);
/* A query as packed on the wire (protocol/query_wire.h), answered between two ticks. */
MUST_CHECK enum status host_query(struct host *host, uint32_t session, uint64_t id,
				  struct wire_list query);
/* The colours or visuals of the bodies, or names of bodies or joints, from id `from` on, as REPLY of
 * LOOKS has them; as its `what`. */
enum host_look { LOOK_COLOURS, LOOK_VISUALS, LOOK_BODY_NAMES, LOOK_JOINT_NAMES };
MUST_CHECK enum status host_looks(struct host *host, uint32_t session, uint64_t ref, uint32_t from,
				  enum host_look what);
/* A snapshot, or a moment: a state in memory to which a rollback returns (host_moments.c). */
MUST_CHECK enum status host_save(struct host *host, uint32_t session, uint64_t ref,
				 const char *name, bool moment);
MUST_CHECK enum status host_restore(struct host *host, uint32_t session, uint64_t ref,
				    const char *name, bool moment);
/* Returns to a state of the world's past, given as an image; its contents are taken on OK. */
MUST_CHECK enum status host_restore_state(struct host *host, uint32_t session, uint64_t ref,
					  struct bytes *image);
/* Writes a checkpoint, and unless `keep` is NULL the beginning of a recording. REPLY_RECORDED. */
MUST_CHECK enum status host_record(struct host *host, uint32_t session, uint64_t ref,
				   const struct journal_keep *keep);
/* The running recording ends. NO_MEMORY. */
MUST_CHECK enum status host_record_end(struct host *host);
/* Copies snapshot `snapshot`, or the present state if "". The copy comes in REPLY_FORKED with
 * the new world's `name`. */
MUST_CHECK enum status host_fork(struct host *host, uint32_t session, uint64_t ref,
				 const char *name, const char *snapshot);
/* Adds a cooked shape to the world's library (and its journal); retained. */
MUST_CHECK enum status host_shape(struct host *host, uint32_t session, uint64_t ref,
				  const struct shape *shape);

/* The next report lists every body, because the loop's mirror was lost. NO_MEMORY: call again. */
MUST_CHECK enum status host_report_whole(struct host *host);

/* Reports contain contacts from now on, or no longer; the first such report has those of all
 * bodies. NO_MEMORY: call again. */
MUST_CHECK enum status host_watch_contacts(struct host *host, bool watch);
/* The same for joints. */
MUST_CHECK enum status host_watch_joints(struct host *host, bool watch);
/* The same for particles; a report contains all of them, or none. */
MUST_CHECK enum status host_watch_particles(struct host *host, bool watch);
/* Whether anybody sees single ticks. If nobody does, ticks that a STEP requests may share a
 * report, which lists the changes of all of them. Cannot fail; at first true. */
void host_watch_ticks(struct host *host, bool watch);

struct host_counters {
	struct tick_costs costs;    /* of all ticks */
	struct profile_sums stages; /* of the ticks that were profiled */
	uint64_t late, dropped, stalls, batches, refused, fallbacks;
	uint64_t slices_on_loop;
	uint32_t inbox, reports, bodies;
	uint32_t moments; /* kept at present */
	uint64_t moment_bytes, rollbacks;
};
/* Any time; a copy as of the last report taken. */
void host_counters(const struct host *host, struct host_counters *out);

#endif
