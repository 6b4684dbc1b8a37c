/* pool.h: worlds pinned to workers.
 *
 * Each worker keeps its runnables in a heap by (due, id) and sets its alarm to the earliest. On every
 * alarm it runs each due runnable once, then its thread's queue is served before the next round, so a
 * world that catches up takes turns with its neighbours. A new runnable goes to the least loaded
 * worker; pool_balance moves some, only between slices. Load is the smoothed share of time
 * that a worker's runnables take, then their count. Runnables that wait behind a long slice move at
 * once (pool_relieve). A runnable's tasks run a few at a time, with due slices in between.
 *
 * Two hand-overs between sleeping threads cost some 40 µs, ten times as much as the step of a small
 * world. So LOOP may borrow a runnable that is idle and has no tasks waiting, and run its slice itself:
 *
 *	if (pool_borrow(r, n)) { …; while (pool_slice(r)) …; pool_give_back(r); } else pool_post(r, …);
 *
 * pool_borrow refuses a runnable that its worker is running or about to serve, so that tasks posted
 * before keep their order. It also refuses where `steps` times the cost of a step in the last slice exceeds
 * what is left of the turn's `borrow_ns`, so that one world does not delay the others. A worker
 * skips a borrowed runnable and is woken when it is given back.
 *
 * Functions are for the LOOP thread unless they say otherwise.
 */
#ifndef CAIRN_TICK_POOL_H
#define CAIRN_TICK_POOL_H

#include "server/base/base.h"
#include "server/base/status.h"
#include "server/io/executor.h"
#include "server/tick/runnable.h"

struct pool;

typedef void pool_removed(struct runnable *runnable, void *context);

struct pool_options {
	uint32_t runnables_max;
	uint32_t tasks_max; /* tasks waiting per runnable */
	/* Time of one turn that LOOP may spend in borrowed runnables: sockets and timers wait at
	 * most this long for it. Above some 80 µs a worker is as fast, and runs in parallel with
	 * other worlds. 0: every borrow is refused. */
	uint64_t borrow_ns;
	/* Time in which a slice of a worker may begin further steps on request: a hand-over costs
	 * some 20 µs, as much as ten steps of a small world. Other worlds of the worker wait at most
	 * this long and one step. 0: a slice is one step. */
	uint64_t slice_ns;
};

extern const struct pool_options pool_options_default; /* 1024, 256, 100 µs, 500 µs */

/* Before executor_start: takes over the workers' alarms. `executor` is borrowed. Returned owned. */
MUST_CHECK enum status pool_create(struct executor *executor, const struct pool_options *options,
				   struct pool **out);
/* After executor_stop. Runnables still in the pool are dropped without `removed`. */
void pool_destroy(struct pool *pool);

/* Pins it to the least loaded worker. LIMIT at runnables_max, NO_MEMORY. */
MUST_CHECK enum status pool_add(struct pool *pool, struct runnable *runnable);
/* Runs the tasks already accepted, then removes the runnable from its worker. `removed` is called
 * on LOOP; from then on the owner may free the storage. A task posted afterwards is CLOSED. */
void pool_remove(struct pool *pool, struct runnable *runnable, pool_removed *removed,
		 void *context);
/* Any thread: queues a task for the runnable and wakes its worker. First in, first out. FULL,
 * NO_MEMORY, or CLOSED once the runnable is being removed. */
MUST_CHECK enum status pool_post(struct runnable *runnable, runnable_task *task, void *context);
/* The same for a task that takes microseconds: reports of worlds before it may wait for it. */
MUST_CHECK enum status pool_post_brief(struct runnable *runnable, runnable_task *task,
				       void *context);
/* The same for a task that can be posted again later: FULL already at half of `tasks_max`, so that
 * a thousand of them at once leave space for requests of clients. */
MUST_CHECK enum status pool_post_deferrable(struct runnable *runnable, runnable_task *task,
					    void *context);
/* Any thread: the worker calls the runnable's `due` again. Cannot fail. */
void pool_wake(struct runnable *runnable);
/* Moves one runnable from the busiest worker to the idlest, if that narrows the gap between them by at
 * least a tenth of a worker's time, or many small ones, if the gap is one and a half tenths; call about
 * once a second. True: some are being moved. */
bool pool_balance(struct pool *pool);

/* A worker that has been inside one slice or task for more than 5 ms loses the runnables that wait for
 * it to workers that are free; call about every 10 ms while runnables run. Returns how many moved. */
uint32_t pool_relieve(struct pool *pool);

/* LOOP alone uses the runnable until pool_give_back, which it calls in the same turn; it intends to
 * make up to `steps` steps. False: refused, nothing has changed. A runnable whose workers have
 * never run a slice is refused, because its cost is unknown (`steps` 0 is granted). */
MUST_CHECK bool pool_borrow(struct runnable *runnable, uint32_t steps);
/* Runs a slice of the borrowed runnable if it is due; else false. */
bool pool_slice(struct runnable *runnable);
/* Returns the runnable to its worker, which is woken if the runnable is due earlier than the worker's
 * heap says, or if the worker met it while it was borrowed. */
void pool_give_back(struct runnable *runnable);
/* A turn of LOOP ends: the next one may spend the whole of borrow_ns again. */
void pool_end_turn(struct pool *pool);

struct pool_counters {
	uint64_t borrowed; /* borrows granted */
	uint64_t slices;   /* run by LOOP */
	uint64_t busy;	   /* refused: a worker was running it, or had tasks or a wakeup for it */
	uint64_t costly;   /* refused: the steps would have taken too long */
	uint64_t relieved; /* runnables taken from a worker that was long inside another one */
};
void pool_counters(const struct pool *pool, struct pool_counters *out);

/* The worker (0 …) it is pinned to now; for information. */
uint32_t pool_worker_of(const struct runnable *runnable);

#endif
