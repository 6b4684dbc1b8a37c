/* io_uv.h: `struct io` on a libuv loop. See io.h for its functions. */
#ifndef CAIRN_IO_IO_UV_H
#define CAIRN_IO_IO_UV_H

#include "server/io/io.h"

struct uv_loop_s;

/* A loop of its own, returned owned; SIGPIPE is ignored in this process from now on.
 * `limits` is copied. NO_MEMORY, or IO when the system refuses. */
MUST_CHECK enum status io_uv_create(const struct io_limits *limits, struct io **out);
/* Closes what is still open (their `closed` callbacks come from in here) and frees the loop. Timers
 * and listeners must be gone. */
void io_uv_destroy(struct io *io);
/* The libuv loop, for files of server/io and server/web. Borrowed. */
struct uv_loop_s *io_uv_loop(struct io *io);

#endif
