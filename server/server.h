/* server.h: the daemon as a whole: owns every part, in one order of start and stop.
 *
 *	start  store → recovered worlds, scenes → threads → listeners
 *	stop   listeners → GOODBYE to every session → worlds (last checkpoints) → threads → store
 *
 * It is made on an io and an executor (io.h, executor.h), real or simulated, and knows neither.
 */
#ifndef CAIRN_SERVER_H
#define CAIRN_SERVER_H

#include "server/session/service.h"
#include "server/worlds/worlds.h"

struct server {
	struct service service; /* what its rooms share; first, because they give it back */
	struct worlds worlds;
	struct io_listener *listeners[2 * OPTION_ADDRESSES_MAX];
	uint32_t listener_count;
	struct io_timer *guard; /* workers that are inside one world for long */
	struct io_timer *timer; /* a quarter second: deadlines, pings, balance */
	bool guard_armed, executor_started;
	uint64_t drain_until; /* instant */
	uint32_t looks;	      /* rounds of the timer */
};

/* Prepares everything; nothing runs yet. `own_uid` is the user this process runs as. Errors name
 * the option, scene or file. */
MUST_CHECK enum status server_create(struct io *io, struct executor *executor,
				     struct options *options, uint32_t own_uid, struct server **out,
				     struct reason *why);
/* Starts threads, worlds and listeners; afterwards run the io. */
MUST_CHECK enum status server_start(struct server *self, struct reason *why);
/* Graceful end: no new sessions, GOODBYE to all, worlds are closed, then io_stop. A second call
 * ends at once. */
void server_drain(struct server *self);
/* After the io has stopped. Stops the executor. */
void server_destroy(struct server *self);
/* The tokens file has been read again: sessions whose bearer's line is gone, or allows less, are ended
 * for good. */
void server_revoke(struct server *self);

#endif
