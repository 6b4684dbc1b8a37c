/* subscription.h: the frames of one client about one world, and how fast the client can take them.
 *
 *	           room?  no ──► skipped: nothing is encoded, events wait (bounded)
 *	report ──► due?   yes ─► base known? ─ yes ─► DELTA ─┐
 *	                                     └ no ──► SNAPSHOT ┴─► EVENTS, (NOTICE) ──► outbox
 *
 * Room (PROTOCOL, flow control): with capability `ack` at most max(2 frames, round trip + 250 ms)
 * are unacknowledged and little is still queued; without it nothing may be queued. The divisor of a
 * client that keeps running out of room is doubled; after two seconds without a skip it is halved.
 * A skip costs only that the next frame covers the gap: frames are skipped before they are encoded,
 * never after. Events of skipped states wait packed, in a bounded number of bytes; events that do
 * not fit are counted, and NOTICE reports them.
 *
 * A frame of many parts is shared with the other subscriptions of its group. Its parts are queued a
 * few at a time, as the client takes them (`pending`); until the last part is queued nothing else
 * of the subscription is sent.
 */
#ifndef CAIRN_SYNC_SUBSCRIPTION_H
#define CAIRN_SYNC_SUBSCRIPTION_H

#include "server/base/bytes.h"
#include "server/io/outbox.h"
#include "server/sync/allowance.h"
#include "server/sync/interest.h"
#include "server/sync/ration.h"
#include "server/sync/view.h"

enum {
	SUBSCRIPTION_UNACKED_MAX = 256, /* unacknowledged frames; at more, frames are skipped */
	/* Bytes of events waiting for one client; beyond it the newest are dropped and counted. */
	SUBSCRIPTION_EVENT_BYTES = 120 << 10,
	SUBSCRIPTION_DIVISOR_MAX = 64, /* factor by which the server slows a client down at most */
	SUBSCRIPTION_STUCK_MS = 10000, /* a frame is dropped after this time without a part taken */
	SUBSCRIPTION_GRACE_MS = 250,
	SUBSCRIPTION_GOOD_MS = 2000,
};

/* A frame that was sent whole, with its place in history, so that a resumed client can use it as a
 * base. */
struct sent_frame {
	uint64_t tick, sent_at, serial;
	struct interest_mark mark;
	uint32_t epoch, edit;
};

/* Events of one state that wait, packed in `event_bytes` behind those of earlier states. */
struct event_run {
	uint64_t tick;
	uint32_t edit, epoch, count, bytes;
};

/* The parts of a frame (borrowed), without their heads. */
struct frame_parts {
	struct frame *const *items;
	uint32_t count;
	uint32_t bodies; /* the first ones, of SNAPSHOT or DELTA; */
	uint32_t rows;	 /* up to here of ROWS; the others are of BLOCKS */
	bool snapshot;
};

struct subscription {
	uint64_t sub;	       /* the client's number */
	struct outbox *outbox; /* borrowed */
	/* Borrowed; charged for the cost of its frames; NULL: no bound. */
	struct allowance *allowance;
	enum wire_profile profile;
	wire_mask fields;
	wire_mask joints;		     /* columns of joints, 0 none */
	wire_mask particles;		     /* columns of particles, 0 none */
	uint32_t sample;		     /* particles whose serial number is a multiple of it */
	uint32_t frame_max;		     /* content bytes of a frame this client takes */
	uint64_t event_mask;		     /* bit k: kind k */
	uint32_t divisor_requested, divisor; /* requested; in force: that × a power of two */
	bool has_ack;
	uint32_t hash_every; /* frames from one hash to the next, 0 none */

	uint64_t base; /* serial of the last frame, 0 none */
	uint64_t base_tick;
	uint32_t base_edit;
	/* The watched part of the world; NULL: all of it. An own reference. */
	struct interest *interest;
	struct interest_mark mark; /* of the last frame */
	struct ration *ration;	   /* owned; NULL without a budget */
	/* FOCUS that takes effect with the next frame; owned, NULL none. */
	struct interest_set *focus;
	bool focus_limited; /* `focus` is a part of the world, not all of it */
	bool partial;	    /* the last frame left something out */
	bool snapshot_due;
	uint64_t served; /* the view's steps at the last frame */

	/* The frame being sent: its parts that are not in the outbox yet (owned references). */
	ARRAY_OF(struct frame *) pending;
	/* Next part; index of the first part of ROWS, behind those of SNAPSHOT or DELTA; of BLOCKS.
	 * */
	uint32_t pending_next, pending_bodies, pending_rows;
	uint64_t pending_bytes; /* of those left */
	uint64_t pending_serial, pending_tick, pending_moved_at;
	uint32_t pending_epoch, pending_edit;
	bool pending_snapshot;

	uint32_t unacked_first, unacked_count;
	uint64_t round_trip;   /* ns, smoothed */
	uint64_t congested_at; /* instant of the last skip for lack of room, INSTANT_NEVER none */
	uint64_t changed_at;   /* last change of the divisor */

	uint64_t skipped, lost; /* since the last NOTICE */
	uint64_t skipped_total, lost_total, frames_total;
	uint64_t events_sent; /* so far */
	bool notice_due;
	bool short_of;			 /* frames were skipped because the allowance was empty */
	ARRAY_OF(struct event_run) runs; /* waiting, oldest first */
	struct bytes event_bytes;

	struct sent_frame acked; /* the latest; serial 0 none */
	/* A resumed client named this state, which more than one frame, or none, had: until it
	 * acknowledges another state, an ACK of this one does not say which frame it has. Epoch 0:
	 * none. */
	uint32_t doubted_epoch;
	uint64_t doubted_tick;
	/* Owned ring of unacknowledged frames; it doubles as it fills, up to
	 * SUBSCRIPTION_UNACKED_MAX. It is a separate block, so that the fields that each tick reads
	 * are close together. */
	struct sent_frame *unacked;
	uint32_t unacked_room;
};

/* Makes a subscription without interest and ration. Refusals name the field. */
MUST_CHECK enum status subscription_create(const struct msg_subscribe *ask, struct outbox *outbox,
					   bool has_ack, uint32_t frame_max,
					   struct subscription **out, struct reason *why);
/* Only after its interest has been released. */
void subscription_destroy(struct subscription *self);

/* True if the client has room for a frame at instant `now`. */
bool subscription_may_send(const struct subscription *self, uint64_t now);
/* The same; false counts a skip and may slow the subscription down. */
bool subscription_has_room(struct subscription *self, uint64_t now);
/* Counts a frame skipped because the allowance was empty. */
void subscription_note_shortage(struct subscription *self);
/* True if as many steps as the divisor says were made since the last frame. */
bool subscription_is_due(const struct subscription *self, const struct view *view);
/* True if the next frame carries a hash. */
bool subscription_is_hashed(const struct subscription *self);
static inline bool subscription_is_busy(const struct subscription *self)
{
	return self->pending_next < self->pending.count;
}
/* Begins to send a frame of the view's state, which becomes the subscription's base; takes
 * references to its parts. NO_MEMORY: nothing has changed. */
MUST_CHECK enum status subscription_set_frame(struct subscription *self, const struct view *view,
					      struct interest_mark mark,
					      const struct frame_parts *parts, uint64_t now);
/* The view's state becomes the base without a frame, because nothing has changed; the client's tick
 * stays. */
void subscription_advance(struct subscription *self, const struct view *view,
			  struct interest_mark mark);
/* Queues parts in the outbox while there is room; *bytes is what was queued. NO_MEMORY: the frame
 * is dropped, and the next one will be a SNAPSHOT. */
MUST_CHECK enum status subscription_send_parts(struct subscription *self, uint64_t now,
					       uint64_t *bytes);
/* Drops the frame being sent: the next one is a SNAPSHOT. */
void subscription_drop_frame(struct subscription *self);
/* ACK: frames up to that one have been applied. */
void subscription_ack(struct subscription *self, uint32_t epoch, uint64_t tick, uint32_t edit,
		      uint64_t now);
/* The next frame is a SNAPSHOT of another fanout's view: its history, what waits and what is being
 * sent are dropped. */
void subscription_leave_base(struct subscription *self);
/* The connection is gone, but may be resumed: drops the frame being sent. */
void subscription_detach(struct subscription *self);
/* The client has resumed, having applied that frame last: the next DELTA is based on it, if history
 * still has it, else a SNAPSHOT follows. `edit` -1: the client did not say. It has received
 * `events` events so far. */
void subscription_resume(struct subscription *self, uint32_t epoch, uint64_t tick, int64_t edit,
			 uint64_t events);

/* Queues a packed event of the state (epoch, tick, edit), of a kind that the subscription selects.
 * */
void subscription_queue_event(struct subscription *self, uint64_t tick, uint32_t edit,
			      uint32_t epoch, const uint8_t *packed, uint32_t bytes);
/* Counts events dropped for lack of memory or allowance. */
void subscription_count_lost_events(struct subscription *self, uint64_t count);
/* Puts the events of all states up to the one sent last into the outbox. */
void subscription_send_events(struct subscription *self);
/* Sends NOTICE with the counts of skipped frames and dropped events, if there are any. */
void subscription_send_notice(struct subscription *self);

#endif
