/* frame.h: reference-counted bytes: written once, read by many, freed by the last holder.
 *
 * A frame is filled by one thread while it alone holds it; from the first hand-over (retain, post,
 * stream_write) it is immutable and any thread may retain and release it. The pool keeps released
 * frames by size class, so a steady tick makes and drops frames without asking the heap.
 */
#ifndef CAIRN_IO_FRAME_H
#define CAIRN_IO_FRAME_H

#include <stdatomic.h>

#include "server/base/base.h"
#include "server/base/status.h"

struct frame_pool;

enum { FRAME_ROOM = 16 }; /* bytes */

struct frame {
	atomic_uint refs;	 /* 1 when made */
	uint32_t bytes;		 /* in use, ≤ capacity; set by the maker */
	uint32_t capacity;	 /* room in data */
	uint32_t class;		 /* the pool's own */
	struct frame_pool *pool; /* to which it returns */
	struct frame *next;	 /* the pool's own */
	/* A transport may write its own header in front of the data, and puts back what it overwrote
	 * there before it returns; only on the loop's thread. */
	uint8_t room[FRAME_ROOM];
	uint8_t data[];
};

enum { FRAME_CAPACITY_MAX = 2 << 20 }; /* over the largest frame of the protocol, 1 MiB */

struct frame_pool_counters {
	uint64_t made;	     /* frames taken from the heap, since the start */
	uint64_t reused;     /* frames taken from the free lists */
	uint64_t live;	     /* frames that are in use */
	uint64_t idle_bytes; /* kept in free lists */
};

/* `idle_bytes_max`: how much the free lists keep before frames go back to the heap. */
MUST_CHECK enum status frame_pool_create(uint64_t idle_bytes_max, struct frame_pool **out);
/* Every frame must have come back. */
void frame_pool_destroy(struct frame_pool *pool);
void frame_pool_counters(struct frame_pool *pool, struct frame_pool_counters *out);

/* A frame with room for `capacity` bytes (1 … FRAME_CAPACITY_MAX), bytes = 0, returned owned.
 * Thread-safe. NO_MEMORY, or TOO_LARGE over the maximum. */
MUST_CHECK enum status frame_create(struct frame_pool *pool, uint32_t capacity, struct frame **out);
/* One reference more; returns its argument. Thread-safe. */
struct frame *frame_retain(struct frame *frame);
/* One reference less; the last one gives the frame back to its pool. NULL is allowed.
 * Thread-safe. */
void frame_release(struct frame *frame);

#endif
