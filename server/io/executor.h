/* executor.h: the threads of the daemon, and how they pass work to each other.
 *
 *	LOOP      owns the sockets (the thread that runs `struct io`)
 *	STORE     owns SQLite
 *	HELPER    cooks shapes
 *	ANSWERS   answers long queries on an immutable image
 *	WORKER+i  step the worlds pinned to them
 *
 * Threads share only data that one passes to another, in one of two ways:
 *
 *   post   a function and its context go through a bounded queue, first in first out per receiving
 *          thread. If the queue is full, post returns STATUS_FULL, changes nothing and counts it.
 *   wake   a wakeup, embedded in a struct, becomes pending for a thread, which calls its function
 *          once. Waking again while it is pending changes nothing, so it needs no memory and cannot
 *          fail. For a receiver that drains a queue of its own, and for messages that must never
 *          be lost.
 *
 * HELPER and ANSWERS are two threads, because neither may wait for the other: cooking a mesh of two million
 * triangles takes seconds. Their work can wait and ticks cannot, so both have a lower priority (nice 10).
 *
 * Each thread but LOOP also has one alarm: an absolute instant at which it is called. For workers
 * it is a timerfd through uv_poll, precise to microseconds; a repeating uv_timer would drift (ticks
 * at 60 Hz came at 61.9, and at 40.7 once the step took half the period).
 *
 * A hand-over to a sleeping thread and back costs some 40 µs (bench_round_trip): cheaper work that a client
 * waits for is done on the thread where it arrives (pool_borrow, tick/pool.h). Tried and dropped
 * (2026-11-20): LOOP, or both threads, poll for an answer for 50 µs before they sleep. On two processors
 * this occupied the processor on which the worker was to run, and the median doubled.
 *
 * Implementations: `executor_uv.h` (threads) and `tests/lib/io_sim.h` (one thread runs the work of all of
 * them, in an order drawn from the seed, under a virtual clock).
 */
#ifndef CAIRN_IO_EXECUTOR_H
#define CAIRN_IO_EXECUTOR_H

#include <stdatomic.h>

#include "server/base/base.h"
#include "server/base/parallel.h"
#include "server/base/status.h"
#include "server/io/instant.h"

enum executor_thread {
	EXECUTOR_LOOP,
	EXECUTOR_STORE,
	EXECUTOR_HELPER,
	EXECUTOR_ANSWERS,
	EXECUTOR_WORKER, /* the first; worker i is EXECUTOR_WORKER + i */
	EXECUTOR_WORKERS_MAX = 32,
	EXECUTOR_THREADS_MAX = EXECUTOR_WORKER + EXECUTOR_WORKERS_MAX
};

struct executor;

typedef void executor_work(void *context);

/* A pending callback of a thread. Embedded, initialised by wakeup_init, and valid until its last
 * callback has returned. */
struct wakeup {
	executor_work *callback; /* called on the thread it was made pending for */
	void *context;		 /* borrowed */
	struct wakeup *next;	 /* private to the executor */
	atomic_bool pending;	 /* the callback has not been called yet */
};

static inline void wakeup_init(struct wakeup *wakeup, executor_work *callback, void *context)
{
	wakeup->callback = callback;
	wakeup->context = context;
	wakeup->next = NULL;
	atomic_init(&wakeup->pending, false);
}

struct executor_options {
	uint32_t workers; /* 1 … EXECUTOR_WORKERS_MAX */
	/* Threads inside a step, 1 … PARALLEL_WORKERS_MAX; 1: none but the caller. */
	uint32_t step_workers;
	uint32_t queue_length; /* posts waiting per thread; rounded up to a power of two */
	/* SCHED_FIFO priority of workers, 0 for none; logged and ignored where not allowed. */
	int fifo_priority;
};

/* cores − 1 workers (at least 2), 1 step worker, 4096 posts, no FIFO. */
struct executor_options executor_options_default(void);

struct executor_counters {
	uint64_t posts[EXECUTOR_THREADS_MAX];	/* accepted, per receiver */
	uint64_t refused[EXECUTOR_THREADS_MAX]; /* queue full */
	uint64_t wakeups[EXECUTOR_THREADS_MAX]; /* that were not pending already */
	uint32_t depth_max[EXECUTOR_THREADS_MAX];
};

/* Queues `work` for thread `to`. Any thread may call. Posts of one sender to one receiver keep
 * their order. FULL: the queue is full. CLOSED: the executor is stopping. Borrowed context. */
MUST_CHECK enum status executor_post(struct executor *self, enum executor_thread to,
				     executor_work *work, void *context);
/* Makes `wakeup` pending: its callback is called on `to`. Any thread may call. If it is pending
 * already, nothing changes, not even its thread. After executor_stop it does nothing. */
void executor_wake(struct executor *self, enum executor_thread to, struct wakeup *wakeup);
/* Between hold and ring, wakeups that the calling worker makes pending for LOOP do not interrupt LOOP while
 * it sleeps; it is rung once, by executor_ring. A worker that runs many small worlds in a row so costs
 * LOOP one turn and not one for each. Another thread's post or wakeup rings LOOP for all. */
void executor_hold(struct executor *self);
void executor_ring(struct executor *self); /* nothing, if nothing is held */

/* Calls `due(context)` on `thread` at the instant its alarm is set to. Before executor_start. */
void executor_on_alarm(struct executor *self, enum executor_thread thread, executor_work *due,
		       void *context);
/* Sets the alarm of the calling thread (not LOOP); it fires once. INSTANT_NEVER disarms it. An
 * instant in the past fires when the thread next waits for events. */
void executor_set_alarm(struct executor *self, uint64_t at);

/* Starts the threads, which then run the posts made before. */
MUST_CHECK enum status executor_start(struct executor *self, struct reason *why);
/* Called on LOOP, once: every other thread runs the work already queued for it, ends and is joined;
 * work that they post to LOOP is run too. Posts by the ending threads are still accepted. Workers
 * end first, then ANSWERS and HELPER, then STORE, so that records from the workers are stored. */
void executor_stop(struct executor *self);
/* After executor_stop (or if never started). */
void executor_destroy(struct executor *self);

uint32_t executor_workers(const struct executor *self);
/* The calling thread; EXECUTOR_THREADS_MAX for a thread that is not of the executor. */
enum executor_thread executor_current(const struct executor *self);
uint64_t executor_now(const struct executor *self);
/* Processor time that the calling thread has used, in ns. The cost of a step is measured by it, so that a
 * busy machine is not mistaken for a costly world. (In io_sim it is the virtual clock.) */
uint64_t executor_used(const struct executor *self);
/* For use inside a step, from any worker. While one worker uses it, a second one runs its items
 * serially. */
const struct parallel *executor_parallel(const struct executor *self);
/* A copy, for INFO and metrics; LOOP only. */
void executor_counters(struct executor *self, struct executor_counters *out);

/* ---- for implementations --------------------------------------------------------------------- */
struct executor_ops {
	enum status (*post)(struct executor *, enum executor_thread, executor_work *, void *);
	void (*wake)(struct executor *, enum executor_thread, struct wakeup *);
	void (*hold)(struct executor *); /* NULL: wakeups are never held */
	void (*ring)(struct executor *);
	void (*on_alarm)(struct executor *, enum executor_thread, executor_work *, void *);
	void (*set_alarm)(struct executor *, uint64_t);
	enum status (*start)(struct executor *, struct reason *);
	void (*stop)(struct executor *);
	void (*destroy)(struct executor *);
	enum executor_thread (*current)(const struct executor *);
	uint64_t (*now)(const struct executor *);
	uint64_t (*used)(const struct executor *);
	void (*counters)(struct executor *, struct executor_counters *);
};

/* The first member of the implementation's own struct. */
struct executor {
	const struct executor_ops *ops;
	struct executor_options options;
	const struct parallel *parallel;
};

#endif
