/* pool.h: worlds pinned to workers.
 *
 * Each worker keeps its runnables in a heap by (due, id), sets its alarm to the earliest, and on
 * every alarm runs each one that is due once, then lets its queue be served before the next round:
 * a world that catches up takes turns with its neighbours. A new runnable goes to the least loaded
 * worker; pool_balance moves one at a time, only between slices. Load is the smoothed share of time
 * its runnables take, then their count. Where a slice takes long, what waits behind it moves at once
 * (pool_relieve). Letters are opened a few at a time, with ticks in between.
 *
 * Two hand-overs between threads that sleep cost some 40 µs, ten times what a small world's step
 * does. So LOOP may borrow a runnable that nobody is in and nobody has left anything for, and do
 * its slice itself:
 *
 *	if (pool_borrow(r, n)) { …; while (pool_slice(r)) …; pool_give_back(r); } else pool_post(r, …);
 *
 * It is refused where its worker is in it or on its way to it, so that nothing overtakes the
 * letters sent before; and where `slices` of what its last one cost do not fit into what is left
 * of the turn's `borrow_ns`, so that no world keeps LOOP from the others. A worker that comes upon
 * a borrowed runnable leaves it alone, and is rung when it is given back.
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
	uint32_t tasks_max; /* letters waiting per runnable */
	/* Of a turn of LOOP, which it may spend in borrowed runnables: the longest that others
	 * have to wait for it. Above some 80 µs a worker answers as soon, beside other worlds. 0:
	 * nothing is lent. */
	uint64_t borrow_ns;
};

extern const struct pool_options pool_options_default; /* 1024, 256, 100 µs */

struct pool_worker_load {
	uint32_t runnables;
	double share; /* of its time spent in slices, smoothed over about a second; 0 … 1 */
};

/* Before executor_start: takes over the workers' alarms. `executor` is borrowed. Returned owned. */
enum status pool_create(struct executor *executor, const struct pool_options *options,
			struct pool **out) MUST_CHECK;
/* After executor_stop. What is still inside is forgotten. */
void pool_destroy(struct pool *pool);

/* Pins it to the least loaded worker. LIMIT at runnables_max, NO_MEMORY. */
enum status pool_add(struct pool *pool, struct runnable *runnable) MUST_CHECK;
/* Delivers the mail already accepted, then takes it off its worker; `removed` is called on LOOP and
 * the storage is the owner's again. Mail sent afterwards is CLOSED. */
void pool_remove(struct pool *pool, struct runnable *runnable, pool_removed *removed,
		 void *context);
/* Any thread: puts a letter into the runnable's box and wakes its worker. First in, first out.
 * FULL, NO_MEMORY, or CLOSED once it is being removed. */
enum status pool_post(struct runnable *runnable, runnable_task *task, void *context) MUST_CHECK;
/* The same for what can wait: FULL already where half the box is taken, so that a thousand of them at
 * once leave room for what somebody asks. */
enum status pool_post_deferrable(struct runnable *runnable, runnable_task *task,
				 void *context) MUST_CHECK;
/* Any thread: has its `due` asked again. Cannot fail. */
void pool_wake(struct runnable *runnable);
/* Moves at most one runnable from the busiest worker to the idlest, when that narrows the gap by
 * more than it risks; call about once a second. Returns true if one is on its way. */
bool pool_balance(struct pool *pool);

/* Takes what waits for a worker that is inside one slice or letter for more than 5 ms to workers that
 * are not; call about every 10 ms while runnables run. Returns how many were moved. */
uint32_t pool_relieve(struct pool *pool);

/* Has the runnable to itself until pool_give_back, which comes before LOOP is back in its loop. Up
 * to `slices` are meant to be run. False: not now, and nothing happened. What it has never run it
 * does not lend: the cost is not known. */
bool pool_borrow(struct runnable *runnable, uint32_t slices) MUST_CHECK;
/* A slice of what is borrowed, if it is due; else false. */
bool pool_slice(struct runnable *runnable);
/* It is its worker's again, which is rung if it is due before the worker would look, or if it has
 * been missed. */
void pool_give_back(struct runnable *runnable);
/* A turn of LOOP ends: the next one has the whole of borrow_ns. */
void pool_end_turn(struct pool *pool);

struct pool_counters {
	uint64_t borrowed; /* times */
	uint64_t slices;   /* run by LOOP */
	uint64_t busy;	   /* refused: a worker was in it or had something to do for it */
	uint64_t costly;   /* refused: it would have taken too long */
	uint64_t relieved; /* taken from a worker that was inside another runnable for long */
};
void pool_counters(const struct pool *pool, struct pool_counters *out);

/* The worker (0 …) it is pinned to now; for information. */
uint32_t pool_worker_of(const struct runnable *runnable);
void pool_load(const struct pool *pool, uint32_t worker, struct pool_worker_load *out);

#endif
