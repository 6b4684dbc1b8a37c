/* outbox.h: the frames to be sent to one client next, passed to its stream in one write.
 *
 * All frames that a turn of the loop produces for a client are put here; io's flush (io_set_flush) then
 * writes every outbox that is not empty with one system call each. There are two kinds of frames:
 *
 *   state    SNAPSHOT, DELTA: replaceable. The sender checks outbox_keeps_up or credit first and skips a
 *            frame instead of queueing it, so they never accumulate here.
 *   control  answers, results, events: never dropped. A client over the soft bound for longer than
 *            OUTBOX_SOFT_MS, or over the hard bound, is too slow: `outbox_verdict` reports it, and the
 *            session ends with GOODBYE.
 *
 * The frames of an answer of any length (a list) wait apart, and are queued as the client takes those
 * before them, so that a list larger than the hard bound reaches a client that reads. They count for
 * the soft bound.
 */
#ifndef CAIRN_IO_OUTBOX_H
#define CAIRN_IO_OUTBOX_H

#include "protocol/message.h"
#include "server/base/array.h"
#include "server/base/prefetch.h"
#include "server/io/io.h"

enum {
	OUTBOX_STATE_BYTES = 64 << 10, /* queued bytes of all kinds, above which state is skipped */
	OUTBOX_SOFT_BYTES = 256 << 10,
	OUTBOX_HARD_BYTES = 1 << 20,
	OUTBOX_SOFT_MS = 5000,	/* above the soft bound no longer than this */
	STREAM_HOT_BYTES = 320, /* of a stream, read by each write */
};

/* State frames may be queued again: called after the outbox has been flushed or the stream has
 * drained. */
typedef void outbox_called(void *context);

struct outbox {
	struct stream *stream;		 /* borrowed; NULL after it has closed */
	struct frame_pool *pool;	 /* borrowed */
	uint32_t frame_max;		 /* content bytes of a frame, the client's limit */
	ARRAY_OF(struct frame *) frames; /* owned references, in order */
	uint64_t bytes;			 /* of these frames */
	uint64_t state_bytes; /* of state since it was last idle; outbox_verdict subtracts it */
	ARRAY_OF(struct frame *) list; /* owned from `listed` on: the frames of a list */
	uint32_t listed;
	uint64_t list_bytes; /* of those */
	uint64_t soft_since; /* instant, or INSTANT_NEVER */
	uint64_t sent_frames, sent_bytes;
	bool failed;		   /* a frame could not be queued; the session must end */
	bool parts_wait;	   /* the owner has further parts of a state frame */
	outbox_called *on_room;	   /* may be NULL; both are set by its owner */
	void *context;		   /* borrowed */
	struct outbox *next_dirty; /* private to the set */
	struct outbox *next_roomy;
	bool dirty, roomy;
	struct outbox_set *set;
};

/* The outboxes with frames to send in this round, in the order in which they got them. For fairness
 * the sender of state begins with another client in each round. */
struct outbox_set {
	struct outbox *dirty, *last;
	struct outbox *roomy; /* flushed, with further parts to send; linked by next_roomy */
};

void outbox_init(struct outbox *self, struct outbox_set *set, struct stream *stream,
		 struct frame_pool *pool);
void outbox_release(struct outbox *self);
/* Detach: the stream has closed, and its queue is lost. Attach: a stream, at the start or after a
 * detach. */
void outbox_detach(struct outbox *self);
void outbox_attach(struct outbox *self, struct stream *stream);
/* Queues one frame and takes over the reference. */
void outbox_put(struct outbox *self, struct frame *frame);
/* The same for a state frame. */
void outbox_put_state(struct outbox *self, struct frame *frame);
/* True: at most OUTBOX_STATE_BYTES are queued, so another state frame may be queued. */
bool outbox_takes_state(const struct outbox *self);
/* Packs a message into a frame of its own, returned owned. FULL: it does not fit the client's frames;
 * NO_MEMORY; RANGE …: as message_pack. */
MUST_CHECK enum status outbox_pack(struct outbox *self, const struct message *message,
				   struct frame **out);
/* Packs a message and queues it. Not OK: nothing was queued. After NO_MEMORY the session must end,
 * because control is never dropped. */
enum status outbox_send(struct outbox *self, const struct message *message);
/* Packs a message of a list; outbox_list_more queues it. Status as outbox_send. */
enum status outbox_send_listed(struct outbox *self, const struct message *message);
/* Queues frames of the list while at most OUTBOX_STATE_BYTES are queued. Call it after the last message
 * of a list, and in on_room while outbox_has_list. */
void outbox_list_more(struct outbox *self);
static inline bool outbox_has_list(const struct outbox *self)
{
	return self->listed < self->list.count;
}
/* Writes the queued frames. */
void outbox_flush(struct outbox *self);
/* Flushes every dirty outbox of the set, in the order of the list. True: owners of idle outboxes
 * have further parts; call outbox_set_resume in the next turn. */
bool outbox_set_flush(struct outbox_set *set);
/* Calls on_room of those owners. */
void outbox_set_resume(struct outbox_set *set);
/* Bytes waiting here and in the stream's queue. */
uint64_t outbox_queued(const struct outbox *self);
static inline bool outbox_idle(const struct outbox *self)
{
	return outbox_queued(self) == 0;
}
/* True: the stream has no queue, and at most OUTBOX_STATE_BYTES wait for the flush of this turn.
 * Frames that wait for the flush do not count as a slow client. */
bool outbox_keeps_up(const struct outbox *self);
/* Prefetch the outbox, and the stream that it writes to. */
static inline void outbox_prefetch(const struct outbox *self)
{
	prefetch(self, sizeof *self);
}
static inline void outbox_prefetch_stream(const struct outbox *self)
{
	prefetch(self->stream, STREAM_HOT_BYTES);
	prefetch(self->frames.items, 1);
}
/* OK, or SLOW if the bounds are exceeded at instant `now`. */
MUST_CHECK enum status outbox_verdict(struct outbox *self, uint64_t now);

#endif
