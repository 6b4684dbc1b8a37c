/* watchers.h: clients of one world's fan-out in memory, each with a mirror, that subscribe,
 * unsubscribe, stall and continue at random. Whenever a mirror is complete at the present tick it
 * is compared with the world, number by number: doubles bit for bit, in `view` and `sim` the
 * integers. */
#ifndef CAIRN_TESTS_WATCHERS_H
#define CAIRN_TESTS_WATCHERS_H

#include "protocol/mirror.h"
#include "server/base/rng.h"
#include "server/sync/fanout.h"

enum { WATCHERS_MAX = 16, WATCHER_PROFILES = 4 };

struct watcher_counts {
	uint64_t frames, compared;		   /* complete; compared with the world */
	uint64_t snapshots, absolute, differences; /* by kind; `absolute` are deltas */
	uint64_t bytes, rows; /* of deltas: whole frames with their headers, changed bodies */
	uint64_t joins, leaves, skips; /* subscriptions begun and ended, ticks without a frame */
	uint64_t gap_max;	       /* ticks that one delta covered, at most */
};

struct watcher {
	struct stream stream;
	struct outbox outbox;
	struct subscription *subscription; /* NULL: not subscribed */
	struct mirror mirror;
	struct bytes in;
	size_t queued;
	uint32_t stalled; /* remaining ticks */
	bool fresh;	  /* a frame was completed in this tick */
	bool steady;	  /* takes every frame and never leaves or stalls */
	struct watchers *all;
	enum wire_profile profile;
	/* Received, reported as lost; the highest `value` of an event, by which they must ascend. */
	uint64_t events, events_lost, last_event;
};

struct watchers {
	struct fanout *fanout;
	struct frame_pool *pool;
	struct outbox_set set;
	struct rng rng;
	uint64_t now;
	uint32_t count;
	struct watcher watchers[WATCHERS_MAX];
	struct watcher_counts counts[WATCHER_PROFILES];
	bool restless;	     /* they subscribe, unsubscribe and stall */
	uint64_t event_mask; /* of new subscriptions */
};

void watchers_start(struct watchers *self, uint32_t count, uint64_t seed, bool restless);
void watchers_finish(struct watchers *self);
/* Subscribes with these settings until the client leaves at random; `steady` ones never leave. */
void watchers_enter(struct watchers *self, uint32_t who, enum wire_profile profile,
		    wire_mask fields, uint32_t divisor);
/* A tick of the world (report: taken), whose whole state is `bodies`; compares the mirrors that are
 * complete. */
void watchers_tick(struct watchers *self, struct report *report, const struct wire_body *bodies,
		   uint32_t count);

#endif
