/* executor_uv.h: the real executor: threads, each with a libuv loop, an inbox woken by eventfd and a
 * timerfd. */
#ifndef CAIRN_IO_EXECUTOR_UV_H
#define CAIRN_IO_EXECUTOR_UV_H

#include "server/io/executor.h"

struct io;

/* LOOP is the thread that runs `io`, made by io_uv_create (borrowed, must outlive the executor).
 * Returned owned, not started. NO_MEMORY; RANGE for options out of range; IO. */
MUST_CHECK enum status executor_uv_create(struct io *io, const struct executor_options *options,
					  struct executor **out);

#endif
