/* parallel.h: how the engine runs independent work on several threads.
 *
 * The engine creates no threads. The caller of world_step supplies a `struct parallel`, which runs
 * pieces of work. Contract, so that results are identical for any number of workers: piece i reads
 * only data that was final before `run`, and writes only slots that belong to i; the results of the
 * pieces are merged afterwards by index. `run` returns when all pieces are done.
 */
#ifndef CAIRN_BASE_PARALLEL_H
#define CAIRN_BASE_PARALLEL_H

#include "server/base/base.h"

/* One piece: items first … last-1 of the range, on worker `worker` (0 … workers-1; only for the
 * choice of scratch memory, never for the place of a result). */
typedef void parallel_piece(uint32_t first, uint32_t last, uint32_t worker, void *context);

struct parallel {
	/* Calls `piece` for ranges of at least `grain` items (the last may be shorter) that
	 * together are [0, count), on any workers. Returns when all have returned. The context is
	 * borrowed for the call. */
	void (*run)(const struct parallel *self, uint32_t count, uint32_t grain,
		    parallel_piece *piece, void *context);
	uint32_t workers; /* 1 … PARALLEL_WORKERS_MAX */
	void *pool;	  /* private to the supplier; NULL for the serial one */
};

enum { PARALLEL_WORKERS_MAX = 32 };

/* Runs everything on the caller's thread, in order. */
extern const struct parallel parallel_serial;

static inline void parallel_run(const struct parallel *self, uint32_t count, uint32_t grain,
				parallel_piece *piece, void *context)
{
	if (count > 0)
		self->run(self, count, grain, piece, context);
}

#endif
