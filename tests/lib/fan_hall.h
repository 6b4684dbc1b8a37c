/* fan_hall.h: a fan-out in memory with clients whose streams accept as many bytes as the test
 * allows: each client reads every byte into a mirror and counts what arrived. The test decides what
 * they subscribe to and when. A violated invariant ends the program. (watchers.h is for many
 * clients that come and go at random.) */
#ifndef CAIRN_TESTS_FAN_HALL_H
#define CAIRN_TESTS_FAN_HALL_H

#include "protocol/area.h"
#include "protocol/mirror.h"
#include "server/sync/fanout.h"

enum { FAN_CLIENTS = 8 };

struct fan_client {
	struct stream stream; /* first */
	struct outbox outbox;
	struct subscription *subscription; /* NULL: not subscribed yet */
	struct mirror mirror;
	struct bytes in;
	size_t queued; /* bytes that the stream reports as queued */
	bool partial,
		fresh; /* of the last frame; a frame was completed since the test cleared it */
	uint32_t frames, snapshots, deltas, rows,
		wholes; /* complete ones, with their rows; by kind */
	uint32_t notices, events, parts_max, created, removed;
	uint64_t bytes, skipped, lost;
	uint64_t heard;	  /* bit `value` of each event */
	uint32_t divisor; /* as in the last NOTICE */
	/* What it sees, if that is not the whole world; set by the test. */
	bool part;
	struct wire_area areas[WIRE_AREAS_MAX];
	uint32_t area_count, follow[WIRE_FOLLOW_MAX], follow_count;
};

struct fan_hall {
	struct fanout *fanout;
	struct frame_pool *pool;
	struct outbox_set set;
	struct fan_client clients[FAN_CLIENTS];
	uint64_t now;
};

void fan_open(struct fan_hall *self);
/* Ends the program if a frame is left. */
void fan_close(struct fan_hall *self);
/* Subscribes, with columns of joints and particles if `ask` has some; reads what arrives at once. */
void fan_enter(struct fan_hall *self, uint32_t who, const struct msg_subscribe *ask, bool has_ack,
	       uint32_t frame_max);
void fan_acknowledge(struct fan_hall *self, uint32_t who);
/* The next report (taken), `ns` later: the first slice of its round, or (served) all of it. */
void fan_report(struct fan_hall *self, struct report *report, uint64_t ns, bool served);
/* Runs the server's periodic work, to the end of the round that it begins. */
void fan_look_after(struct fan_hall *self, uint64_t now);

#endif
