/* subscription.h: what one client is shown of one world, and how fast it can take it.
 *
 *	           room?  no ──► skipped: nothing is encoded, events wait (bounded)
 *	report ──► due?   yes ─► base known? ─ yes ─► DELTA ─┐
 *	                                     └ no ──► SNAPSHOT ┴─► EVENTS, (NOTICE) ──► outbox
 *
 * Room (PROTOCOL, flow control): with capability `ack` at most max(2 frames, round trip + 250
 * ms) unacknowledged and little still queued; without it, nothing may still be queued. A client
 * that keeps running out of credit has its divisor doubled; two good seconds halve it again. A
 * skip costs nothing but the next frame's covering the gap: frames are skipped before they are
 * encoded, never after. Events of skipped states wait packed, in a bounded number of bytes; what does not
 * fit is counted, and NOTICE says so.
 *
 * A frame of many parts is shared with whoever needs the same and goes out a few parts at a time, as
 * the client takes them (`pending`); until the last has gone nothing else of the subscription is sent.
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
	SUBSCRIPTION_UNACKED_MAX = 256, /* frames; more are skipped whatever the time */
	/* Waiting for one client; beyond, the newest are lost and counted. */
	SUBSCRIPTION_EVENT_BYTES = 120 << 10,
	SUBSCRIPTION_DIVISOR_MAX = 64, /* of the server's own slowing down */
	SUBSCRIPTION_STUCK_MS = 10000, /* without a part taken, a frame is given up */
	SUBSCRIPTION_GRACE_MS = 250,
	SUBSCRIPTION_GOOD_MS = 2000,
};

/* A frame that was sent whole, and where history stood then: the client may come back and stand on it. */
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
	uint32_t bodies; /* the first ones, of SNAPSHOT or DELTA; the others are of ROWS */
	bool snapshot;
};

struct subscription {
	uint64_t sub;	       /* the client's number */
	struct outbox *outbox; /* borrowed */
	struct allowance
		*allowance; /* borrowed; what its frames cost is taken from; NULL: without bound */
	enum wire_profile profile;
	wire_mask fields;
	wire_mask joints;		 /* columns of joints, 0 none */
	uint32_t frame_max;		 /* content bytes of a frame this client takes */
	uint64_t event_mask;		 /* bit k: kind k */
	uint32_t divisor_asked, divisor; /* in force: asked × a power of two */
	bool has_ack;
	uint32_t hash_every; /* frames from one hash to the next, 0 none */

	uint64_t base; /* serial of the last frame, 0 none */
	uint64_t base_tick;
	uint32_t base_edit;
	/* What it watches; NULL: the whole world. A reference of the subscription's own. */
	struct interest *interest;
	struct interest_mark mark; /* of the last frame */
	struct ration *ration;	   /* owned; NULL without a budget */
	/* FOCUS that takes effect with the next frame; owned, NULL none. */
	struct interest_set *focus;
	bool focus_limited; /* it is a part of the world */
	bool partial;	    /* the last frame left something out */
	bool snapshot_due;
	uint64_t served; /* the view's steps at the last frame */

	/* The frame that is on its way: parts not yet in the outbox (owned references). */
	ARRAY_OF(struct frame *) pending;
	uint32_t pending_next,
		pending_bodies; /* those before are of SNAPSHOT or DELTA, then ROWS */
	uint64_t pending_bytes; /* of those left */
	uint64_t pending_serial, pending_tick, pending_moved_at;
	uint32_t pending_epoch, pending_edit;
	bool pending_snapshot;

	uint32_t unacked_first, unacked_count;
	uint64_t round_trip;   /* ns, smoothed */
	uint64_t congested_at; /* last skip for want of room, INSTANT_NEVER none */
	uint64_t changed_at;   /* last change of the divisor */

	uint64_t skipped, lost; /* since the last NOTICE */
	uint64_t skipped_total, lost_total, frames_total;
	uint64_t events_sent; /* so far */
	bool notice_due;
	bool short_of;			 /* some were skipped for want of allowance */
	ARRAY_OF(struct event_run) runs; /* waiting, oldest first */
	struct bytes event_bytes;

	struct sent_frame acked; /* the latest; serial 0 none */
	/* A client that came back named this state, and it was no one frame: until it acknowledges another, a
	 * frame of the same name says nothing about what it has. Epoch 0: none. */
	uint32_t doubted_epoch;
	uint64_t doubted_tick;
	/* Owned ring; it doubles as it fills, up to SUBSCRIPTION_UNACKED_MAX. Elsewhere, so that what each
	 * tick looks at lies together, also that of several subscriptions. */
	struct sent_frame *unacked;
	uint32_t unacked_room;
};

/* Without an interest or a ration yet. */
MUST_CHECK enum status subscription_create(const struct msg_subscribe *ask, struct outbox *outbox,
					   bool has_ack, uint32_t frame_max,
					   struct subscription **out, struct reason *why);
/* The interest must have been released. */
void subscription_destroy(struct subscription *self);

/* Whether a frame may be sent at `now`. */
bool subscription_may_send(const struct subscription *self, uint64_t now);
/* The same; false counts a skip and may slow the subscription down. */
bool subscription_has_room(struct subscription *self, uint64_t now);
/* A frame is skipped for want of allowance. */
void subscription_note_shortage(struct subscription *self);
/* Whether the divisor lets a frame through. */
bool subscription_is_due(const struct subscription *self, const struct view *view);
/* Whether the next frame carries a hash. */
bool subscription_is_hashed(const struct subscription *self);
static inline bool subscription_is_busy(const struct subscription *self)
{
	return self->pending_next < self->pending.count;
}
/* Takes references to the parts of a frame of the view's state, which is the subscription's base from now
 * on. NO_MEMORY: nothing has changed. */
MUST_CHECK enum status subscription_set_frame(struct subscription *self, const struct view *view,
					      struct interest_mark mark,
					      const struct frame_parts *parts, uint64_t now);
/* Nothing has changed: it stands at the view's state without a frame; the client's tick stays. */
void subscription_advance(struct subscription *self, const struct view *view,
			  struct interest_mark mark);
/* Puts parts into the outbox while there is room; returns the bytes put. NO_MEMORY: the frame is given up,
 * and the next one will be a SNAPSHOT. */
MUST_CHECK enum status subscription_send_parts(struct subscription *self, uint64_t now,
					       uint64_t *bytes);
/* Gives the frame up: the next one is a SNAPSHOT. */
void subscription_drop_frame(struct subscription *self);
/* ACK: frames up to that one have been applied. */
void subscription_ack(struct subscription *self, uint32_t epoch, uint64_t tick, uint32_t edit,
		      uint64_t now);
/* The connection is gone, but the client may come back: what was on its way is dropped. */
void subscription_detach(struct subscription *self);
/* It has come back, having applied that frame last: the next DELTA stands on it, where history still knows
 * it; else there will be a SNAPSHOT. `edit` −1: it did not say. Of the events so far it has got `events`. */
void subscription_resume(struct subscription *self, uint32_t epoch, uint64_t tick, int64_t edit,
			 uint64_t events);

/* Keeps an event of the state (epoch, tick, edit), packed, that it asked for. */
void subscription_queue_event(struct subscription *self, uint64_t tick, uint32_t edit,
			      uint32_t epoch, const uint8_t *packed, uint32_t bytes);
/* So many there was no memory or no allowance for. */
void subscription_count_lost_events(struct subscription *self, uint64_t count);
/* Queues the events of states up to the one sent last. */
void subscription_send_events(struct subscription *self);
/* Says what was skipped and lost, if anything was. */
void subscription_send_notice(struct subscription *self);

#endif
