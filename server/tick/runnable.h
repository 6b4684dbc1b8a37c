/* runnable.h: the interface between the pool and a world: it is due at an instant and runs one
 * slice.
 *
 * host/host.h implements it with schedule, inbox and engine. Between two calls on it, a runnable may
 * be moved to another worker, or LOOP may borrow it (pool.h); calls on one runnable never overlap.
 */
#ifndef CAIRN_TICK_RUNNABLE_H
#define CAIRN_TICK_RUNNABLE_H

#include "server/base/base.h"
#include "server/io/instant.h"

struct runnable;

struct runnable_ops {
	/* The instant of its next slice; INSTANT_NEVER while paused; 0 for steps on request, of which a
	 * slice may take several runs. Called after every run and task. */
	uint64_t (*due)(struct runnable *self);
	/* A part of a slice: a step at most, so that neighbours on the worker take turns while it catches up;
	 * further steps only on request, each begun before the instant `until`. `now` is the
	 * instant of the call, not before the one that `due` returned. Returns the steps made. */
	uint32_t (*run)(struct runnable *self, uint64_t now, uint64_t until);
};

/* A task: work for the thread that runs the runnable, between slices: a query, a control, a snapshot. */
typedef void runnable_task(struct runnable *self, void *context);

/* The first member of the owner's struct; storage is the owner's. `pooled` belongs to the pool from
 * pool_add to the `removed` callback. */
struct runnable {
	const struct runnable_ops *ops;
	uint64_t id; /* unique in the pool; the tie-break wherever order matters */
	struct pooled *pooled;
};

#endif
