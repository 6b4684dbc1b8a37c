/* fanout.h: one world's subscriptions, served from one mirror: every frame is encoded once for each
 * group of subscriptions that need the same bytes, and shared.
 *
 * A group is (what they stand on, profile, fields, frame size): those that skipped form their own
 * until their next frame. Groups live until the next report, so late joiners of the same tick
 * share one SNAPSHOT.
 */
#ifndef CAIRN_SYNC_FANOUT_H
#define CAIRN_SYNC_FANOUT_H

#include "server/sync/subscription.h"

struct fanout;

struct fanout_counters {
	uint64_t frames, skipped, events_lost; /* sent, not sent, dropped */
	uint64_t encoded;		       /* groups encoded: the work done once */
	uint64_t bytes;
	uint32_t subscriptions;
};

/* `pool` is borrowed. */
MUST_CHECK enum status fanout_create(struct frame_pool *pool, struct fanout **out);
void fanout_destroy(struct fanout *self);

/* The world's next report. Not OK: the mirror is lost until a `whole` report comes; ask the host
 * for one. */
MUST_CHECK enum status fanout_report(struct fanout *self, const struct tick_report *report,
				     uint64_t now);

/* Adds a subscription; its SNAPSHOT goes out at once if the mirror stands. Refusals name the
 * field. */
MUST_CHECK enum status fanout_subscribe(struct fanout *self, const struct msg_subscribe *ask,
					struct outbox *outbox, bool has_ack, uint32_t frame_max,
					uint64_t now, struct subscription **out,
					struct reason *why);
void fanout_unsubscribe(struct fanout *self, struct subscription *subscription);
/* The next frame is a SNAPSHOT, sent as soon as there is room. */
void fanout_resync(struct fanout *self, struct subscription *subscription, uint64_t now);
/* The client has taken what waited: goes on with a frame of many parts. */
void fanout_go_on(struct fanout *self, struct subscription *subscription, uint64_t now);
/* Now and then: brings up to date whoever was skipped and has room, also while the world stands still;
 * gives up frames that are stuck. */
void fanout_look_after(struct fanout *self, uint64_t now);
/* Whether the mirror is good. */
bool fanout_stands(const struct fanout *self);

const struct view *fanout_view(const struct fanout *self);
void fanout_counters(const struct fanout *self, struct fanout_counters *out);

#endif
