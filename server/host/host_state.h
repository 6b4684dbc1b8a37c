/* host_state.h: the inside of a host, shared by the files of this room only.
 *
 * *       host.c              start and end, replies, batches, the report queue's wakeup *
 * host_requests.c     requests of the loop, posted as tasks *     host_boundary.c     one slice:
 * inbox → apply → step → journal → report *        host_report.c       builds a TICK report;
 * host_report_joints.c its joints *     host_players.c      limits of players, and the batches that
 * end what a session leaves behind *  host_modes.c        pause, speed, lease, barrier, the queue
 * of STEP requests *  host_plan.c         the steps of one world of a STEP_WORLDS: their commands,
 * observations and answer *  host_snapshots.c    SAVE, RESTORE, FORK and periodic checkpoints *
 * host_moments.c      moments: states to return to, kept in memory *      host_past.c         the
 * snapshot "start", and keyframes *       host_query.c        queries and observations, packed;
 * host_joints.c, host_lists.c *     host_shape_query.c  queries of shapes; long ones are answered
 * by the ANSWERS thread *   report_queue.c      reports from the worker to the loop
 * */
#ifndef CAIRN_HOST_HOST_STATE_H
#define CAIRN_HOST_HOST_STATE_H

#include <stdatomic.h>

#include "protocol/query_wire.h"
#include "server/base/arena.h"
#include "server/base/array.h"
#include "server/host/host.h"
#include "server/host/report_queue.h"
#include "server/store/shape_library.h"
#include "server/tick/inbox.h"
#include "server/tick/profile_credit.h"
#include "server/tick/schedule.h"

/* A batch between host_submit and its boundary: in the inbox, then in the boundary. One
 * allocation. */
struct waiting_batch {
	struct host_batch batch; /* `list.at` points behind this struct */
};

/* The session that sent a request, and its number for the request. The report for the answer is
 * allocated when the request is accepted, so every accepted request is answered even if memory
 * runs out. */
struct requester {
	uint32_t session;
	uint64_t ref; /* ref, id or request */
	enum reply_kind kind;
	uint8_t about;	       /* number of the message that is answered */
	struct report *report; /* owned until it is sent */
};

/* A STEP that waits or whose ticks are being made. */
struct step_job {
	struct requester requester;
	struct wire_option from;
	uint32_t ticks_left; /* ticks still to make */
	uint8_t want;
	bool anyway;	 /* its ticks are made even where its commands are refused */
	bool refused;	 /* its commands were refused */
	bool begun;	 /* its commands have been applied */
	bool takes_part; /* in the present boundary */
	struct waiting_batch
		*commands;    /* owned; NULL if there are none, and after they are applied */
	struct bytes results; /* packed, for STEPPED; with a plan: ids that its own commands made */
	uint32_t result_count;
	/* Of STEP_WORLDS (host_plan.c); NULL: the job is a STEP. */
	struct step_plan *plan; /* a reference */
	uint32_t row, step;	/* its world in the plan; steps that are done */
	uint32_t n, own;	/* ticks of a step; commands of its own before the first action */
	bool restricted;
	struct reason why;     /* of the first refused commands; status OK: none were */
	struct bytes observed; /* f64 little-endian, of the steps that are done */
	/* Moments: where to return before the commands (emptied once it is done), and as what to
	 * keep the state after the last tick; "": none. */
	char back[WIRE_NAME_MAX + 1], keep[WIRE_NAME_MAX + 1];
};
enum { STEP_JOBS_MAX = 256 };
enum { HOST_POSTED_MAX = 16 }; /* shape queries of one world at ANSWERS */

/* The boundary in progress (host_boundary.c). If memory or room in the journal is short, it
 * stays at its stage and continues from there 10 ms later: no stage is skipped or repeated. */
enum boundary_stage {
	BOUNDARY_IDLE,
	BOUNDARY_BEGIN,	  /* the journal's beginning, once for each host */
	BOUNDARY_RESTORE, /* to the journal: the world was restored from a snapshot */
	BOUNDARY_COLLECT, /* batches of the inbox and of STEPs, decoded */
	BOUNDARY_APPLY,
	BOUNDARY_RECORD, /* to the journal: the applied batches */
	BOUNDARY_EDIT,	 /* results of STEPs' commands; decides whether a tick is made */
	BOUNDARY_STEP,
	BOUNDARY_HASH,	 /* to the journal: the tick */
	BOUNDARY_REPORT, /* to the loop */
	BOUNDARY_ANSWER, /* STEPs that are done */
};
struct boundary {
	enum boundary_stage stage;
	uint64_t retry_at; /* instant of the next try */
	bool stepping; /* commands or a tick; false: only mode, speed or a restore is reported */
	bool edits;    /* no tick: commands are applied to a world that does not run */
	struct schedule_turn turn;
	uint64_t cost;	  /* ns of processor time of the tick so far; of several the largest */
	uint64_t tick_at; /* instant at which the present slice began, or its last tick ended */
	uint64_t until;	  /* instant before which the present slice may begin further ticks */
	uint32_t ticks;	  /* made in the present slice */
	struct arena_mark mark;
	/* The inbox's array; the payloads are owned until all batches are applied. */
	const struct inbox_entry *entries;
	uint32_t entry_count;
	/* From COLLECT on, in the scratch arena; `commands` are those of STEPs, owned. */
	struct waiting_batch **commands;
	struct batch *batches;
	struct journal_batch *records; /* the same batches packed, by the same index */
	struct batch_result *results, *refused;
	uint32_t command_count, count, refused_count;
	enum status status; /* of the step */
	struct reason why;
	/* `shares` is by the index of host->players, and empty if no batch needs it. `own_count`
	 * is the number of the host's own batches, which follow the `count` others. */
	struct world_share *shares;
	uint32_t share_count, own_count;
};

/* A restricted session that has sent a batch since it entered (host_players.c). */
struct player {
	uint32_t session;
	bool has_left;		       /* its waiting batches are withdrawn at the next boundary */
	uint64_t made, removed, given; /* bodies, by its commands that were applied or stored */
	uint32_t epoch;		       /* of the ticks below */
	uint32_t forces_requested;     /* of more than one tick, in the present boundary */
	ARRAY_OF(uint64_t) forces;     /* last tick of each of its forces that last */
};

struct snapshot {
	char name[WIRE_NAME_MAX + 1];
	uint64_t tick;
	uint64_t state_hash;
	struct bytes image; /* owned */
};

/* A state to return to (host_moments.c). */
struct moment {
	char name[WIRE_NAME_MAX + 1];
	uint64_t tick;
	uint64_t departures;	    /* of the host when it was kept */
	struct rollback_base *base; /* one of the host's moment_bases */
	struct bytes image;	    /* owned */
};
struct moment_base {
	struct rollback_base *base; /* owned */
	uint32_t moments;	    /* that need it */
};

/* The present span of keyframes (host_past.c): the ticks after `from`, the last of which is
 * `seen`. */
struct follow {
	bool begun, bounded, moved;
	uint32_t epoch;
	uint64_t from, seen;
	uint64_t kept_at; /* instant of the last keyframe */
	struct keyframe_bounds_list bounds;
};

struct host {
	struct runnable runnable; /* first */
	struct host_options options;
	struct world *world; /* owned; its worker's */
	struct executor *executor;
	struct journal *journal; /* owned, or NULL */
	struct schedule schedule;
	struct inbox *inbox;
	struct shape_library shapes;
	struct arena scratch; /* decoded commands of one boundary */

	enum wire_mode mode;
	uint32_t lease;			 /* session that may step, 0: none */
	uint32_t barrier;		 /* sessions needed, 0 none */
	ARRAY_OF(struct step_job) jobs;	 /* in order of arrival */
	ARRAY_OF(struct player) players; /* ascending by session */
	/* Closing requests of sessions that left drags or batches in the world: in `leaving`
	 * until the next boundary takes them, then in `closing` until that boundary is recorded. */
	struct host_request *leaving, *closing;
	bool drags_due; /* one of them owns drags: a world that does not run is edited to remove them */
	bool all_drags_due; /* all drags are removed, because their sessions do not exist here */
	ARRAY_OF(struct snapshot) snapshots; /* by name, any order; looked up */
	uint64_t snapshot_bytes;
	ARRAY_OF(struct moment) moments;	   /* by name, any order; looked up */
	ARRAY_OF(struct moment_base) moment_bases; /* the last is that of new moments */
	uint64_t moment_bytes;			   /* of images and bases */
	struct bytes moment_image;		   /* work */
	uint64_t departures;			   /* sessions that have left the world so far */
	/* What LOOP tells of moments. */
	atomic_uint moments_kept;
	atomic_ullong moments_bytes, rollbacks;
	bool start_due; /* the next step is the world's first one */
	struct follow follow;
	struct bytes image;	/* of checkpoints: kept memory, exchanged with the journal's */
	uint64_t steps_unsaved; /* made since the last checkpoint; a RESTORE does not change it */
	bool whole_due;		/* the next report lists every body */
	bool control_due;	/* a report of mode and pace is due */
	bool pace_due;		/* a journal record of mode and pace is due */
	bool contacts_watched;	/* reports contain contacts */
	bool contacts_due;	/* the next report contains those of all bodies */
	bool joints_watched;	/* reports contain joints */
	bool joints_due;	/* the next report contains all joints */
	bool particles_watched; /* reports contain all particles */
	atomic_bool ticks_watched; /* each tick has a report of its own */
	bool waiting_for_loop; /* the report queue is full: not due until LOOP has taken reports */
	bool journal_failed;   /* and the world does not go on */
	bool journal_lost;     /* it failed and was optional: the world goes on without it */
	struct boundary boundary;
	uint32_t shapes_recorded; /* of the shapes known at the beginning */
	/* A step that could not be made leaves the engine's boundary open: its changes, events and
	 * results accumulate. The first `stored_reported` results of stored batches have been
	 * reported. */
	bool open;
	uint32_t stored_reported;
	/* Batches that waited in the world when the host was created, in the order of
	 * application. They are from the world of which this one is a copy, so their session
	 * numbers are not of this host's sessions: the batches are applied, and no session gets
	 * a result. */
	ARRAY_OF(struct pending_batch) inherited;
	struct reason failure; /* why the mode is FAILED */
	/* A RESTORE that is done and not yet recorded, reported and answered. */
	struct requester restorer;
	char restored[WIRE_NAME_MAX + 1];
	bool restored_other_bits;

	struct report_queue reports;  /* worker → LOOP */
	struct wakeup wakeup;	      /* for LOOP: reports wait */
	bool in_slice, sent_in_slice; /* all reports of a slice cause one wakeup, at its end */
	atomic_bool
		not_running; /* the mode is not RUNNING: a new batch makes the world due at once */
	bool on_loop;	     /* LOOP has borrowed the host and takes its reports without a wakeup */
	host_reports *on_reports;
	void *reports_context;
	struct pool *pool;
	host_stopped *on_stopped;
	/* The number of shape queries at ANSWERS, and by slot the session that sent the query;
	 * 0: the slot is free. */
	atomic_uint posted, posted_by[HOST_POSTED_MAX];
	atomic_ullong posted_bytes; /* of their images */
	atomic_bool ending;	    /* ANSWERS refuses queries that it has not begun */
	bool stop_due; /* LOOP's: stopped, but the wakeup is pending or shape queries are at ANSWERS */
	void *stopped_context;

	/* LOOP's: notes that found the task queue half full, oldest first (last_note is valid
	 * while there are some), and the note of a failed journal, allocated beforehand. */
	struct host_request *notes, *last_note, *journal_note;
	bool journal_noted;   /* it has been posted */
	bool inbox_filled;    /* LOOP's: the inbox may contain batches */
	struct report *spare; /* LOOP's: a reply that was read, for the next request; or NULL */

	uint64_t stalls, batches, refused; /* the worker's counters */
	struct tick_costs costs;	   /* of all ticks; the worker's */
	struct profile profile;		   /* of some slices; the worker's */
	struct profile_credit credit;	   /* decides of which */
	struct profile *profiling;	   /* of the present slice; NULL: none */
	struct host_counters counters;	   /* LOOP's copy, from the last report taken */
};

/* The journal that gets the world's records; NULL: none. */
static inline struct journal *host_journal(const struct host *host)
{
	return host->journal_lost ? NULL : host->journal;
}

/* ---- host.c ---- */
void host_send(struct host *host, struct report *report); /* taken */
/* The requester's report, returned owned, filled with epoch, tick, edit and mode of the world
 * now. */
struct report *host_reply(struct host *host, struct requester *requester);
/* Sends the requester's report with a refusal. */
void host_refuse(struct host *host, struct requester *requester, const struct reason *why);
/* If a boundary is in progress (it waits for memory or the journal), the state has no (epoch, tick,
 * edit): then refuses the request and returns true. */
bool host_refuse_in_boundary(struct host *host, struct requester *requester);
/* LOOP: a report for the answer of a request, to be filled. Returned owned; NULL: out of memory. */
struct report *host_take_spare(struct host *host);
void requester_release(struct requester *requester);

struct waiting_batch *waiting_batch_of(const struct host_batch *batch);

/* ---- host_requests.c ---- */
uint32_t host_request_session(const struct host_request *request);
/* Lists of requests, which own them. host_request_take returns the first, owned; NULL if the
 * list is empty. */
struct host_request *host_request_next(const struct host_request *request);
void host_request_put(struct host_request **list, struct host_request *request);
struct host_request *host_request_take(struct host_request **list);
/* NULL: out of memory. */
struct host_request *host_journal_note(void);
void host_notes_release(struct host *host);

/* ---- host_boundary.c ---- */
uint32_t host_run(struct runnable *runnable, uint64_t now, uint64_t until);
uint64_t host_due(struct runnable *runnable);
void waiting_batch_destroy(void *batch, void *context);
/* Runs the stages of the present boundary until it is done or has to wait. */
void host_run_stages(struct host *host);
/* Reports mode and pace, after a restore also the whole state: now, or as soon as there is
 * memory. */
void host_report_control(struct host *host);
/* The world was restored from snapshot `restored`, "" for another state of its past: records,
 * reports and answers that. `drags_end`: all drags are removed. */
void host_boundary_restored(struct host *host, bool drags_end);
/* The first records and the first report. */
void host_boundary_begin(struct host *host);
/* Frees the batches that a boundary in progress owns. */
void host_boundary_release(struct host *host);

/* ---- host_players.c ---- */
/* Counts the resources that players use as the boundary begins, and an upper bound of the host's
 * own batches. */
MUST_CHECK enum status host_players_begin(struct host *host, struct boundary *boundary);
/* OK: a restricted batch is within its session's limits; else RANGE, LIMIT, NO_MEMORY. */
MUST_CHECK enum status host_players_check(struct host *host, struct boundary *boundary,
					  const struct host_batch *from,
					  const struct command *commands, struct reason *why);
/* Appends the batches that withdraw waiting batches and end drags of sessions that have left. */
void host_players_leave(struct host *host, struct boundary *boundary);
/* Counts bodies and forces of the batches that were applied. */
void host_players_applied(struct host *host, const struct boundary *boundary);
/* After the boundary is recorded: removes the players whose sessions have left. */
void host_players_end(struct host *host);
/* `closing` is taken. */
void host_players_gone(struct host *host, struct host_request *closing);
void host_players_release(struct host *host);

/* ---- host_report.c ---- */
/* Reports the changes of the boundary; without a step only those of mode and pace. NO_MEMORY:
 * nothing is lost, call again. */
MUST_CHECK enum status host_report_tick(struct host *host, const struct boundary *boundary);
/* ---- host_report_joints.c ---- */
/* Adds the joints that the boundary changed, while joints are watched. `ticked->whole` is set.
 * NO_MEMORY. */
MUST_CHECK enum status host_report_joints(struct host *host, bool stepping,
					  struct tick_report *ticked);

/* ---- host_modes.c ---- */
void host_set_mode(struct host *host, enum wire_mode mode);
void host_do_control(struct host *host, struct requester *requester, enum wire_control action,
		     double value);
void host_do_session_gone(struct host *host, struct host_request *closing); /* taken */
void host_do_step(struct host *host, struct step_job *job);		    /* contents taken */
/* If it is the turn of a job that begins at a moment, returns there. The boundary may not be
 * finished then. */
void host_step_go_back(struct host *host);
/* True: requested ticks can be made now. */
bool host_step_wanted(const struct host *host);
/* True: commands wait that can be applied without a tick, because the world does not run. */
bool host_edit_wanted(const struct host *host);
/* True if batches wait in the inbox. */
bool host_inbox_filled(const struct host *host);
/* Marks the jobs that take part in the next tick, or (edits) in an application without one;
 * returns how many. */
uint32_t host_step_enlist(struct host *host, bool edits);
/* After the commands were applied: jobs whose commands were refused need no tick. True if a tick
 * is still to be made. */
bool host_step_needs_tick(struct host *host);
/* The job after `after` (NULL: the first) of those that take part, by session; NULL after the
 * last. */
struct step_job *host_step_next(struct host *host, const struct step_job *after);
/* Packs the result of a job's commands, for its answer. */
MUST_CHECK enum status host_step_result(struct step_job *job, const struct batch_result *result);
/* After a tick: answers the jobs that it completes. NO_MEMORY: some are not answered yet. */
MUST_CHECK enum status host_step_answer(struct host *host);
/* Refuses all waiting jobs, because their ticks cannot be made. */
void host_refuse_all_jobs(struct host *host, const struct reason *why);
void step_job_release(struct step_job *job);
/* Sets mode FAILED for `why`. */
void host_fail(struct host *host, const struct reason *why);
/* The journal has failed for `why`: FAILED, or without the journal from now on if it is
 * optional. */
void host_fail_journal(struct host *host, const struct reason *why);

/* ---- host_plan.c ---- */
/* The commands of the job's present step, owned: those in `own` (of the first step), then the
 * actions. NULL in *out: there are none. NO_MEMORY. */
MUST_CHECK enum status host_plan_commands(struct step_job *job, bool restricted,
					  const struct wire_list *own, struct waiting_batch **out);
/* NOT_FINITE: a number of the job's actions, of any step. */
MUST_CHECK enum status host_plan_check(const struct step_job *job, struct reason *why);
/* Stores the outcome of the commands of a step. NO_MEMORY. */
MUST_CHECK enum status host_plan_result(struct step_job *job, const struct batch_result *result);
/* The ticks of a step are made: observes, and prepares the next step (then *done is false), or
 * answers. NO_MEMORY: nothing has changed. */
MUST_CHECK enum status host_plan_step(struct host *host, struct step_job *job, bool *done);
/* Answers the job with what it has done so far, and with why it does no more. */
void host_plan_refuse(struct host *host, struct step_job *job, const struct reason *why);

/* ---- host_snapshots.c ---- */
void host_do_save(struct host *host, struct requester *requester, const char *name);
void host_do_restore(struct host *host, struct requester *requester, const char *name);
void host_do_fork(struct host *host, struct requester *requester, const char *name,
		  const char *snapshot);
/* Writes a checkpoint to the journal; `image` NULL: of the present state. */
MUST_CHECK enum status host_checkpoint(struct host *host, const char *name,
				       const struct bytes *image);
void host_snapshots_release(struct host *host);

/* OK: the world may be restored; else the journal has failed. */
MUST_CHECK enum status host_check_restore(const struct host *host, struct reason *why);
/* The state was replaced by that of snapshot `name` ("": another one): begins a new epoch, which
 * is recorded in the journal, reported, and answered if `requester`, taken, has a report. */
void host_restored(struct host *host, struct requester *requester, const char *name,
		   bool other_bits, bool drags_end);
/* OK: the present state is stored under `name`, here and in the journal. LIMIT, NO_MEMORY, FULL. */
MUST_CHECK enum status host_store_snapshot(struct host *host, const char *name, uint64_t hash,
					   struct reason *why);
void host_do_restore_state(struct host *host, struct requester *requester,
			   const struct bytes *image);

/* ---- host_moments.c ---- */
/* SAVE and RESTORE of moments. */
void host_do_keep(struct host *host, struct requester *requester, const char *name);
void host_do_go_back(struct host *host, struct requester *requester, const char *name);
/* Keeps the present state as a moment. LIMIT, NO_MEMORY: nothing has changed. */
MUST_CHECK enum status host_keep_moment(struct host *host, const char *name, struct reason *why);
/* The tick of a moment. UNKNOWN_SNAPSHOT. */
MUST_CHECK enum status host_moment_tick(const struct host *host, const char *name, uint64_t *tick,
					struct reason *why);
/* Outside a boundary: returns to a moment, as host_restored says. UNKNOWN_SNAPSHOT, and errors of
 * world_restore_rollback: nothing has changed, and `requester` still has its report. */
MUST_CHECK enum status host_go_back(struct host *host, struct requester *requester,
				    const char *name, struct reason *why);
void host_moments_release(struct host *host);
/* `keep` NULL: a checkpoint only. */
void host_do_record(struct host *host, struct requester *requester,
		    const struct journal_keep *keep);
void host_do_record_end(struct host *host);

/* ---- host_past.c ---- */
/* The name of the snapshot that is made before a world's first step. */
#define HOST_START "start"
/* Makes it if it is due. NO_MEMORY, FULL: call again. */
MUST_CHECK enum status host_keep_start(struct host *host);
/* True if keyframes are kept, whose bounds need the bodies of every report. */
bool host_is_followed(const struct host *host);
/* Follows the world with the report that is about to be sent. */
void host_follow(struct host *host, const struct tick_report *ticked);
/* Follows the world at a tick whose report is that of a later one. */
void host_follow_tick(struct host *host);
void host_follow_release(struct host *host);

/* ---- host_query.c ---- */
void host_do_query(struct host *host, struct requester *requester, struct wire_list query);
void host_do_looks(struct host *host, struct requester *requester, uint32_t from,
		   enum host_look what);
/* Packs STEPPED's observation; `want` of enum wire_want. */
MUST_CHECK enum status host_observe(struct host *host, uint8_t want, struct bytes *out);

/* ---- host_joints.c ---- */
/* Hash of all joints, as ROWS of profile exact with all columns. NO_MEMORY. */
MUST_CHECK enum status host_hash_joints(struct host *host, struct wire_hash *out);

/* ---- host_shape_query.c ---- */
void host_do_shape_query(struct host *host, struct requester *requester,
			 const struct wire_query *query);
/* LOOP, host.c: a query has returned and its answer is in the report queue. The call may destroy
 * the host. */
void host_shape_query_returned(struct host *host);

#endif
