/* travel.h: subscriptions that show a tick of their world's past, and requests about it.
 *
 *	SEEK ─► past_ask(STATES) ─► whole states ─► differences ─► a private fanout ─► the same subscription
 *
 * A *travel* is a private view of one subscription: a fanout of its own, fed with states of the past. The
 * world, its own fanout and its other clients are not involved. The subscription leaves the world's fanout at
 * once: frames of the present, sent while the first state is computed, would only delay a client that has
 * asked for another tick, and its PONG. A first SEEK that is refused returns it, with a SNAPSHOT.
 *
 * Played, the view has a clock, and a buffer of states ahead; the stride of states follows from the speed,
 * for at most TRAVEL_RATE states a second. A clock that finds no state waits for it, so a slow computation
 * plays slowly and skips nothing. The buffers of all travels share TRAVEL_BYTES.
 */
#ifndef CAIRN_TRAVEL_H
#define CAIRN_TRAVEL_H

#include "server/past/past.h"
#include "server/session/session.h"
#include "server/worlds/worlds.h"

enum { TRAVEL_RATE = 60, TRAVEL_STATES_MAX = 64 };
#define TRAVEL_BYTES ((uint64_t)64 << 20)

struct travel;

/* The fanout that serves the subscription now. */
struct fanout *travel_fanout(const struct session_subscription *entry);
/* SEEK with a tick: `place` and `speed` as in the message. Refusals are for the message, at once or later. */
MUST_CHECK enum status travel_seek(struct session *session, struct session_subscription *entry,
				   const struct msg_seek *seek, struct reason *why);
/* Back to the present; nothing happens to a subscription that shows it. */
void travel_end(struct session_subscription *entry);
/* The client has acknowledged a frame, or moved its focus. */
void travel_show(struct session_subscription *entry, uint64_t now);
/* Each quarter second: retries frames that were held back. */
void travels_check(struct service *service, uint64_t now);
/* Timer: moves the views that are played. `context` is the service. */
void travels_play(void *context);

/* RESTORE and FORK at a tick, and queries of the past: answered to the session. `name` is of the new world.
 * Not OK: refused, with the reason. */
MUST_CHECK enum status travel_restore(struct session *session, struct served_world *world,
				      uint64_t ref, struct recorded_place place,
				      struct reason *why);
MUST_CHECK enum status travel_fork(struct session *session, struct served_world *world,
				   const struct msg_fork *ask, const char *name,
				   struct reason *why);
MUST_CHECK enum status travel_query(struct session *session, struct served_world *world,
				    uint64_t id, const struct wire_query *query,
				    struct reason *why);

/* True if the world has been at the place in its present epoch, so its file has it, or soon will. */
bool travel_is_present(const struct served_world *world, struct recorded_place place);

/* Each quarter second: begins a check of the ticks between two keyframes of a world (--sync-test). */
void travel_sync_test(struct service *service, uint64_t now);

#endif
