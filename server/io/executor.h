/* executor.h: the threads of the daemon and how work passes between them.
 *
 *	LOOP      owns the sockets (the thread that runs `struct io`)
 *	STORE     owns SQLite
 *	HELPER    cooks shapes
 *	ANSWERS   answers long questions on an immutable image
 *	WORKER+i  step the worlds pinned to them
 *
 * Nothing is shared but what is handed over, in one of two ways:
 *
 *   post   "do this": a function and its context go through a bounded queue, first in first out
 *          per receiving thread. A full queue is STATUS_FULL and nothing happened; it is counted.
 *   ring   "look again": a bell, embedded in the thing to look at. Ringing a bell that has been
 *          rung and not yet answered changes nothing, so it needs no room and cannot fail. Use it
 *          where the receiver drains a queue of its own, and where losing the message must be
 *          impossible.
 *
 * HELPER and ANSWERS are two, because neither is to wait for the other: a mesh of two million triangles is
 * cooked for seconds. What they do can wait where a tick cannot, so both run at a lower priority (nice 10).
 *
 * Each thread but LOOP also has one alarm: an absolute instant at which it is called. For workers
 * it is a timerfd through uv_poll, precise to microseconds; a repeating uv_timer would drift (ticks
 * at 60 Hz came at 61.9, and at 40.7 once the step took half the period).
 *
 * A hand-over to a thread that sleeps and back costs some 40 µs (bench_round_trip): what is
 * cheaper than that and somebody waits for is done where it arrives (pool_borrow, tick/pool.h).
 * Tried and dropped (2026-11-20): letting LOOP, or both, look for an answer for 50 µs before they
 * sleep. On two processors it kept the worker from the one it was to be woken on, and the median
 * doubled.
 *
 * Behind this door: `executor_uv.h` (threads) and `tests/lib/io_sim.h` (one thread plays all of
 * them, taking turns in an order drawn from the seed, under a virtual clock).
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

/* Zero-initialised by wakeup_init, embedded, and kept alive until it can no longer ring. */
struct wakeup {
	executor_work *answer; /* called on the thread it was rung for */
	void *context;	       /* borrowed */
	struct wakeup *next;   /* the executor's own */
	atomic_bool pending;   /* rung and not yet answered */
};

static inline void wakeup_init(struct wakeup *wakeup, executor_work *answer, void *context)
{
	wakeup->answer = answer;
	wakeup->context = context;
	wakeup->next = NULL;
	atomic_init(&wakeup->pending, false);
}

struct executor_options {
	uint32_t workers; /* 1 … EXECUTOR_WORKERS_MAX */
	/* Threads inside a step, 1 … PARALLEL_WORKERS_MAX; 1: none but the caller. */
	uint32_t step_workers;
	uint32_t queue_length; /* posts waiting per thread; rounded up to a power of two */
	/* SCHED_FIFO for workers, 0 for none; refused quietly where not allowed. */
	int fifo_priority;
};

/* cores − 1 workers (at least 2), 1 step worker, 4096 posts, no FIFO. */
struct executor_options executor_options_default(void);

struct executor_counters {
	uint64_t posts[EXECUTOR_THREADS_MAX];	/* accepted, per receiver */
	uint64_t refused[EXECUTOR_THREADS_MAX]; /* queue full */
	uint64_t wakeups[EXECUTOR_THREADS_MAX]; /* that were not already rung */
	uint32_t depth_max[EXECUTOR_THREADS_MAX];
};

/* Hands `work` to `to`. Any thread may call. Order is kept per receiver (for one sender).
 * FULL: the queue is full. CLOSED: the executor is stopping. Borrowed context. */
enum status executor_post(struct executor *self, enum executor_thread to, executor_work *work,
			  void *context) MUST_CHECK;
/* Has `bell` answered on `to`. Any thread may call. A bell that is already rung stays with the
 * thread it was rung for first. After executor_stop it does nothing. */
void executor_wake(struct executor *self, enum executor_thread to, struct wakeup *wakeup);

/* Calls `due(context)` on `thread` at the instant its alarm is set to. Before executor_start. */
void executor_on_alarm(struct executor *self, enum executor_thread thread, executor_work *due,
		       void *context);
/* Sets the alarm of the calling thread (not LOOP); it goes off once. INSTANT_NEVER disarms; the
 * past means as soon as the thread is back at its loop. */
void executor_set_alarm(struct executor *self, uint64_t at);

/* Starts the threads. Posts made before wait for it. */
enum status executor_start(struct executor *self, struct reason *why) MUST_CHECK;
/* Called on LOOP, once: lets every other thread do what is already queued for it, then ends and
 * joins it, and does what they left for LOOP. Posts by the working off threads are still accepted.
 * Workers end first, then ANSWERS and HELPER, then STORE, so that what workers hand to the store is
 * stored. */
void executor_stop(struct executor *self);
/* After executor_stop (or if never started). */
void executor_destroy(struct executor *self);

uint32_t executor_workers(const struct executor *self);
/* The thread this is called on; EXECUTOR_THREADS_MAX for one that is not the executor's. */
enum executor_thread executor_current(const struct executor *self);
uint64_t executor_now(const struct executor *self);
/* Processor time the calling thread has used, in ns: what the cost of a step is measured by, so
 * that a busy machine is not mistaken for a costly world. (The twin's is its clock.) */
uint64_t executor_used(const struct executor *self);
/* For use inside a step, from any worker (when two use it at once, the second runs alone). */
const struct parallel *executor_parallel(const struct executor *self);
/* A copy, for INFO and metrics; LOOP only. */
void executor_counters(struct executor *self, struct executor_counters *out);

/* ---- for those who stand behind this door ---------------------------------------------------- */
struct executor_ops {
	enum status (*post)(struct executor *, enum executor_thread, executor_work *, void *);
	void (*wake)(struct executor *, enum executor_thread, struct wakeup *);
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

/* The first member of the maker's own struct. */
struct executor {
	const struct executor_ops *ops;
	struct executor_options options;
	const struct parallel *parallel;
};

#endif
