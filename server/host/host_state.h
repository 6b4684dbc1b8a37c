/* host_state.h: the inside of a host, shared by the files of this room only.
 *
 *	host.c           life, mail, requests, the report queue's bell
 *	host_boundary.c  one slice: inbox → apply → step → journal → report
 *	host_report.c    building a TICK report
 *	host_modes.c     pause, speed, lease, barrier, the queue of STEP requests
 *	host_snapshots.c SAVE, RESTORE, FORK and periodic checkpoints
 *	host_query.c     answers and observations, packed
 *	shape_book.c     shapes the world may use, by name
 *	report_queue.c   reports from the worker to the loop
 */
#ifndef CAIRN_HOST_HOST_STATE_H
#define CAIRN_HOST_HOST_STATE_H

#include "server/base/arena.h"
#include "server/base/array.h"
#include "server/host/host.h"
#include "server/host/report_queue.h"
#include "server/host/shape_book.h"
#include "server/tick/inbox.h"
#include "server/tick/schedule.h"

/* A batch on its way: from the loop into the inbox, to the boundary. One allocation. */
struct waiting_batch {
	struct host_batch batch; /* `list.at` points behind this struct */
};

/* STEP's commands are a batch too, numbered by the request with this bit set: within a tick they come
 * after what the same session sent as COMMANDS, and the two kinds of numbers never meet. */
#define HOST_STEP_BATCH (UINT64_C(1) << 63)

/* A STEP that is waiting or being done. */
struct step_job {
	uint32_t session;
	uint64_t request;
	struct wire_option from;
	uint32_t left; /* ticks still to make */
	uint8_t want;
	bool restricted;
	bool begun; /* its commands have been applied */
	struct waiting_batch *commands; /* owned, NULL when none came or once applied */
	struct bytes results;		/* packed, for STEPPED */
	uint32_t result_count;
};
enum { STEP_JOBS_MAX = 256 };

struct snapshot {
	char name[WIRE_NAME_MAX + 1];
	uint64_t tick;
	uint64_t state_hash;
	struct bytes image; /* owned */
};

struct host {
	struct runnable runnable; /* first */
	struct host_options options;
	struct world *world; /* owned; its worker's */
	struct executor *executor;
	struct journal *journal; /* owned, or NULL */
	struct schedule schedule;
	struct inbox *inbox;
	struct shape_book shapes;
	struct arena scratch; /* decoded commands of one boundary */

	enum wire_mode mode;
	uint32_t lease;	  /* session that may step, 0 nobody's */
	uint32_t barrier; /* sessions needed, 0 none */
	ARRAY_OF(struct step_job) jobs;		/* first come first */
	ARRAY_OF(struct snapshot) snapshots;	/* by name, any order; looked up */
	uint64_t snapshot_bytes;
	uint64_t checkpoint_tick; /* of the last one */
	bool whole_due;		  /* the next report lists every body */
	bool waiting_for_loop;	  /* reports full: not due until the loop has taken some */

	struct report_queue reports; /* worker → LOOP */
	struct bell bell;	     /* rung for LOOP when reports wait */
	host_reports *on_reports;
	void *reports_context;
	struct pool *pool;
	host_stopped *on_stopped;
	void *stopped_context;

	uint64_t stalls, batches, refused; /* the worker's counters */
	struct host_counters seen;	   /* LOOP's copy, from the last report taken */
};

/* ---- host.c ---- */
void host_send(struct host *host, struct report *report); /* taken */
/* A reply to `session`, filled with the world's present name of its state. NULL: out of memory. */
struct report *host_reply_new(struct host *host, enum reply_kind kind, uint8_t about,
			      uint32_t session, uint64_t ref);
/* The same with a refusal, sent. */
void host_refuse(struct host *host, enum reply_kind kind, uint8_t about, uint32_t session,
		 uint64_t ref, const struct reason *why);

/* ---- host_boundary.c ---- */
void host_run(struct runnable *runnable, uint64_t now);
uint64_t host_due(struct runnable *runnable);
void waiting_batch_destroy(void *batch, void *context);

/* ---- host_report.c ---- */
/* Reports what the last boundary changed. False: out of memory, and the next one will be whole. */
bool host_report_tick(struct host *host, const struct schedule_turn *turn, uint64_t cost_ns,
		      const struct batch_result *results, uint32_t result_count);

/* ---- host_modes.c ---- */
void host_do_control(struct host *host, uint32_t session, uint64_t ref, enum wire_control action,
		     double value);
void host_do_session_gone(struct host *host, uint32_t session);
void host_do_step(struct host *host, struct step_job *job); /* contents taken */
/* Whether requested ticks can be made now. */
bool host_step_wanted(const struct host *host);
/* Jobs that take part in the next tick: indices into jobs, at most `capacity`. */
uint32_t host_step_participants(const struct host *host, uint32_t *indices, uint32_t capacity);
/* A requested tick was made (or failed with `status`): counts down, answers those that are done. */
void host_step_done(struct host *host, const uint32_t *indices, uint32_t count, enum status status,
		    const struct reason *why);
/* Ends one job with a refusal; later indices move down by one. */
void host_step_refuse(struct host *host, uint32_t index, const struct reason *why);
/* Packs the result of a job's commands, for its answer. */
void host_step_result(struct step_job *job, const struct batch_result *result);
void step_job_release(struct step_job *job);
/* Stops stepping for a reason of the server's own. */
void host_halt(struct host *host);
/* The same, and refuses every STEP that waits. */
void host_fail(struct host *host, const struct reason *why);

/* ---- host_snapshots.c ---- */
void host_do_save(struct host *host, uint32_t session, uint64_t ref, const char *name);
void host_do_restore(struct host *host, uint32_t session, uint64_t ref, const char *name);
void host_do_fork(struct host *host, uint32_t session, uint64_t ref, const char *name,
		  const char *snapshot);
/* Writes a checkpoint to the journal; `image` NULL: of the world as it stands. */
enum status host_checkpoint(struct host *host, const char *name, const struct bytes *image);
void host_snapshots_release(struct host *host);

/* ---- host_query.c ---- */
void host_do_query(struct host *host, uint32_t session, uint64_t id, struct wire_list query);
/* Packs STEPPED's observation; `want` of enum wire_want. */
enum status host_observe(struct host *host, uint8_t want, struct bytes *out);

#endif
