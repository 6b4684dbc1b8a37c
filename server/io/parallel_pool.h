/* parallel_pool.h: a supplier of `struct parallel` (threads inside one step).
 *
 * The caller takes part; all threads claim runs of items from one atomic counter. By the contract
 * of parallel.h the result does not depend on which thread runs which items. Used by `cairnd run
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
/* Borrowed, valid as long as the pool. Any thread may run it. While one caller uses the helpers,
 * another runs its items alone. */
const struct parallel *parallel_pool_parallel(const struct parallel_pool *pool);

#endif
