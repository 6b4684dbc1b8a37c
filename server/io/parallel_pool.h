/* parallel_pool.h: threads for the inside of a step: a supplier of `struct parallel`.
 *
 * The caller takes part; helpers claim runs of items from one atomic counter. The result does not
 * depend on which thread takes which items: that is the contract of parallel.h. Used by `cairnd run
 * --workers` and, through executor_parallel, by the daemon.
 */
#ifndef CAIRN_IO_PARALLEL_POOL_H
#define CAIRN_IO_PARALLEL_POOL_H

#include "server/base/base.h"
#include "server/base/parallel.h"
#include "server/base/status.h"

struct parallel_pool;

/* `workers` (1 … PARALLEL_WORKERS_MAX) counts the caller: workers − 1 threads are started. Returned
 * owned. RANGE, NO_MEMORY, IO when a thread cannot be started. */
MUST_CHECK enum status parallel_pool_create(uint32_t workers, struct parallel_pool **out);
/* Ends and joins the threads. No caller may be in `run`. */
void parallel_pool_destroy(struct parallel_pool *pool);
/* Borrowed, valid as long as the pool. Any thread may run it; one at a time is helped, another that
 * comes meanwhile does its work alone. */
const struct parallel *parallel_pool_parallel(const struct parallel_pool *pool);

#endif
