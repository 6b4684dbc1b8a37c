/* frame.h: reference-counted bytes: written once, read by many, released by the last holder.
 *
 * One thread fills a frame while it has the only reference. After the first retain, post or
 * stream_write the frame is immutable, and any thread may retain and release it. The pool stores
 * released frames by size class, so a steady tick creates and releases frames without heap calls.
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
	uint32_t bytes;		 /* in use, ≤ capacity; set by the thread that fills it */
	uint32_t capacity;	 /* room in data */
	uint32_t class;		 /* private to the pool */
	struct frame_pool *pool; /* to which it returns */
	struct frame *next;	 /* private to the pool */
	/* A transport may write its own header in front of the data. It restores the bytes that it
	 * overwrote before it returns; only on the loop's thread. */
	uint8_t room[FRAME_ROOM];
	uint8_t data[];
};

enum { FRAME_CAPACITY_MAX = 2 << 20 }; /* over the largest frame of the protocol, 1 MiB */

struct frame_pool_counters {
	uint64_t made;	     /* frames allocated from the heap since the start */
	uint64_t reused;     /* frames taken from the free lists */
	uint64_t live;	     /* frames that are in use */
	uint64_t idle_bytes; /* in free lists */
};

/* `idle_bytes_max`: bytes in free lists, above which released frames are freed. */
MUST_CHECK enum status frame_pool_create(uint64_t idle_bytes_max, struct frame_pool **out);
/* Every frame must have been released. */
void frame_pool_destroy(struct frame_pool *pool);
void frame_pool_counters(struct frame_pool *pool, struct frame_pool_counters *out);

/* A frame with room for `capacity` bytes (1 … FRAME_CAPACITY_MAX), bytes = 0, returned owned.
 * Thread-safe. NO_MEMORY, or TOO_LARGE over the maximum. */
MUST_CHECK enum status frame_create(struct frame_pool *pool, uint32_t capacity, struct frame **out);
/* Adds a reference; returns its argument. Thread-safe. */
struct frame *frame_retain(struct frame *frame);
/* Drops a reference; the last one returns the frame to its pool. NULL is allowed. Thread-safe. */
void frame_release(struct frame *frame);

#endif
