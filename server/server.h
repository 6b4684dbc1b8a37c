/* server.h: the daemon as a whole: owns every part, in one order of start and stop.
 *
 *	start  store → recovered worlds, scenes → threads → listeners
 *	stop   listeners → GOODBYE to every session → worlds (last checkpoints) → threads → store
 *
 * It runs on an io and an executor (io.h, executor.h), real or simulated, and does not depend on
 * which.
 */
#ifndef CAIRN_SERVER_H
#define CAIRN_SERVER_H

#include "server/session/service.h"
#include "server/worlds/worlds.h"

struct server {
	struct service service; /* first, because server_of casts it back */
	struct worlds worlds;
	struct io_listener *listeners[2 * OPTION_ADDRESSES_MAX];
	uint32_t listener_count;
	struct io_timer
		*guard; /* each 10 ms: moves worlds away from a worker that is busy for long */
	struct io_timer *timer; /* each quarter second: deadlines, pings, balance */
	bool guard_armed, executor_started;
	uint64_t drain_until; /* instant */
	uint32_t checks;      /* firings of the timer */
};

/* Makes all parts; nothing runs yet. io, executor and options are borrowed. `own_uid` is the user
 * of this process. Errors name the option, scene or file; then nothing is left to destroy. */
MUST_CHECK enum status server_create(struct io *io, struct executor *executor,
				     struct options *options, uint32_t own_uid, struct server **out,
				     struct reason *why);
/* Starts threads, worlds and listeners; then the caller runs the io. After a failure,
 * server_destroy. */
MUST_CHECK enum status server_start(struct server *self, struct reason *why);
/* Graceful end: no new sessions, GOODBYE to all, worlds are closed, then io_stop. A second call
 * ends at once. */
void server_drain(struct server *self);
/* Only after the io has stopped. Stops the executor and frees everything but what is borrowed. */
void server_destroy(struct server *self);
/* After the tokens file was read again: ends sessions whose bearer line is gone, or allows less.
 * They cannot be resumed. */
void server_revoke(struct server *self);

#endif
