/* pool_state.h: the pool's data, for pool.c, which runs runnables, and pool_balance.c, which moves them. */
#ifndef CAIRN_TICK_POOL_STATE_H
#define CAIRN_TICK_POOL_STATE_H

#include "server/base/ring.h"
#include "server/io/lock.h"
#include "server/tick/pool.h"

enum { POOL_NOWHERE = UINT32_MAX }; /* no worker, no place */

enum holder { NOBODY, WORKER, LOOP };

struct task {
	runnable_task *run;
	void *context;
	bool brief; /* LOOP's wakeups may be held while it runs */
};

struct pooled {
	struct runnable *runnable;
	struct pool *pool;
	struct pooled *next, *previous; /* the pool's list, under its lock */
	struct wakeup gone;		/* reports to LOOP that it has left */
	/* under `lock` */
	struct lock lock;
	struct ring tasks; /* in `slots`, which double as they fill, up to tasks_max */
	struct task *slots;
	uint32_t worker; /* that runs it, or will insert it next */
	uint32_t target; /* that shall run it; ≠ worker: a move is requested */
	uint32_t refs;
	enum holder holder;
	bool pending; /* in a pending list, or about to be served from there */
	bool leaving;
	bool missed; /* its worker met it while LOOP held it */
	bool stale;  /* LOOP held it since its worker last called `due` */
	/* under its run queue's lock */
	uint32_t slot;	/* in the heap, POOL_NOWHERE: not inserted, or missed */
	uint32_t round; /* in the present round, POOL_NOWHERE: not waiting there */
	bool picked;	/* taken from the round, not yet occupied: pool_relieve leaves it alone */
	bool listed;
	struct pooled *next_pending;
	/* the holder's */
	bool left;	    /* for good */
	uint64_t due;	    /* as the heap has it; written by the worker */
	uint64_t cost;	    /* ns a step in the last slice; INSTANT_NEVER: none has run */
	atomic_ullong busy; /* ns in slices of workers; read by LOOP */
	/* LOOP's */
	bool removed_reported; /* its owner has been informed, so the runnable must not be used */
	uint64_t busy_before;
	double share;
	pool_removed *removed;
	void *removed_context;
};

/* One worker's runnables, a heap with the least (due, id) on top, and those of the round at
 * hand. */
struct run_queue {
	struct pool *pool;
	uint32_t worker;
	struct wakeup wakeup; /* the pending list is not empty */
	/* the worker's own */
	uint64_t used; /* processor time at the end of its last slice, or when it began to serve */
	uint64_t
		held_at; /* instant since which it holds LOOP's wakeups; INSTANT_NEVER: it does not */
	atomic_ullong
		inside_since; /* instant at which the present slice or task began; 0: none runs */
	/* under `lock` */
	struct lock lock;
	uint32_t count;
	struct pooled **heap;
	struct pooled **round;
	struct pooled *pending_first, *pending_last;
};

struct pool_load {
	uint32_t runnables;
	double share; /* of its time spent in slices, smoothed over about a second; 0 … 1 */
};

struct pool {
	struct executor *executor;
	struct pool_options options;
	struct lock lock;
	struct pooled *first; /* under the lock */
	/* LOOP's */
	uint32_t count;
	uint64_t balanced_at;
	uint64_t spent; /* ns of this turn in borrowed runnables */
	uint64_t borrowed_at;
	uint32_t borrowed_steps; /* made since then; a slice without a step counts as one */
	bool borrowed_first;	 /* no slice has run since then */
	struct pool_counters counters;
	struct pool_load loads[EXECUTOR_WORKERS_MAX];
	struct run_queue queues[EXECUTOR_WORKERS_MAX];
};

/* Sixteenths of a worker's time, then how many it has: small differences of share are noise, and
 * must not send every new world to the same place. */
static inline uint64_t pool_load_score(const struct pool_load *load)
{
	uint64_t sixteenths = (uint64_t)(load->share * 16);
	return sixteenths << 32 | load->runnables;
}

/* Under the queue's lock: takes a runnable out of the heap, if it is there; out of the pending list. */
void pooled_leave_heap(struct run_queue *queue, struct pooled *pooled);
void pooled_leave_pending(struct run_queue *queue, struct pooled *pooled);
/* Appends a runnable to a queue's pending list. */
void pooled_put_pending(struct run_queue *queue, struct pooled *pooled);
/* Under the runnable's lock: appends it to its queue's pending list. Returns the worker to wake once the
 * lock is given back (pooled_unlock_and_wake), or POOL_NOWHERE; woken earlier, it would meet the lock at
 * once. The list's own reference keeps the runnable until then. */
uint32_t pooled_note_wakeup(struct pooled *pooled);
void pooled_unlock_and_wake(struct pooled *pooled, uint32_t worker);

#endif
