/* See frame.h. Size classes are powers of two from 256 bytes to FRAME_CAPACITY_MAX; a frame, header
 * included, occupies one class. One lock for all free lists is enough, because a frame is created
 * and released once per group and tick, not once per client. */
#include "server/io/frame.h"

#include "server/base/heap.h"
#include "server/io/lock.h"

enum { CLASS_SMALLEST_LOG2 = 8, CLASS_COUNT = 15 };

struct frame_pool {
	struct lock lock;
	uint64_t idle_bytes_max;
	struct frame_pool_counters counters;
	struct frame *idle[CLASS_COUNT];
};

static uint64_t class_bytes(uint32_t class)
{
	return UINT64_C(1) << (CLASS_SMALLEST_LOG2 + class);
}

static uint32_t class_of(uint64_t bytes)
{
	uint32_t class = 0;
	while (class_bytes(class) < bytes)
		class ++;
	ASSERT(class < CLASS_COUNT);
	return class;
}

enum status frame_pool_create(uint64_t idle_bytes_max, struct frame_pool **out)
{
	struct frame_pool *self = heap_alloc_zero(sizeof *self);
	if (self == NULL)
		return STATUS_NO_MEMORY;
	lock_init(&self->lock);
	self->idle_bytes_max = idle_bytes_max;
	*out = self;
	return STATUS_OK;
}

void frame_pool_destroy(struct frame_pool *pool)
{
	ASSERT(pool->counters.live == 0);
	for (uint32_t class = 0; class < CLASS_COUNT; class ++) {
		while (pool->idle[class] != NULL) {
			struct frame *frame = pool->idle[class];
			pool->idle[class] = frame->next;
			heap_free(frame);
		}
	}
	lock_release(&pool->lock);
	heap_free(pool);
}

void frame_pool_counters(struct frame_pool *pool, struct frame_pool_counters *out)
{
	lock_take(&pool->lock);
	*out = pool->counters;
	lock_give(&pool->lock);
}

/* Takes an idle frame of the class, or NULL. Counts one more live frame in both cases. */
static struct frame *take_idle(struct frame_pool *pool, uint32_t class)
{
	lock_take(&pool->lock);
	struct frame *frame = pool->idle[class];
	if (frame != NULL) {
		pool->idle[class] = frame->next;
		pool->counters.idle_bytes -= class_bytes(class);
		pool->counters.reused++;
	} else {
		pool->counters.made++;
	}
	pool->counters.live++;
	lock_give(&pool->lock);
	return frame;
}

static void uncount_frame(struct frame_pool *pool)
{
	lock_take(&pool->lock);
	pool->counters.live--;
	pool->counters.made--;
	lock_give(&pool->lock);
}

enum status frame_create(struct frame_pool *pool, uint32_t capacity, struct frame **out)
{
	ASSERT(capacity > 0);
	if (capacity > FRAME_CAPACITY_MAX)
		return STATUS_TOO_LARGE;
	uint32_t class = class_of(sizeof(struct frame) + (uint64_t)capacity);
	struct frame *frame = take_idle(pool, class);
	if (frame == NULL)
		frame = heap_alloc(class_bytes(class));
	if (frame == NULL) {
		uncount_frame(pool);
		return STATUS_NO_MEMORY;
	}
	atomic_init(&frame->refs, 1);
	frame->bytes = 0;
	frame->capacity = (uint32_t)(class_bytes(class) - sizeof(struct frame));
	frame->class = class;
	frame->pool = pool;
	frame->next = NULL;
	*out = frame;
	return STATUS_OK;
}

struct frame *frame_retain(struct frame *frame)
{
	uint32_t before = atomic_fetch_add_explicit(&frame->refs, 1, memory_order_relaxed);
	ASSERT(before > 0);
	return frame;
}

static void give_back(struct frame *frame)
{
	struct frame_pool *pool = frame->pool;
	uint64_t bytes = class_bytes(frame->class);
	lock_take(&pool->lock);
	bool keep = pool->counters.idle_bytes + bytes <= pool->idle_bytes_max;
	if (keep) {
		frame->next = pool->idle[frame->class];
		pool->idle[frame->class] = frame;
		pool->counters.idle_bytes += bytes;
	}
	pool->counters.live--;
	lock_give(&pool->lock);
	if (!keep)
		heap_free(frame);
}

void frame_release(struct frame *frame)
{
	if (frame == NULL)
		return;
	/* Acquire and release: reads by all other holders end before the memory is used again. */
	uint32_t before = atomic_fetch_sub_explicit(&frame->refs, 1, memory_order_acq_rel);
	ASSERT(before > 0);
	if (before == 1)
		give_back(frame);
}
