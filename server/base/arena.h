/* arena.h: memory that lives for one tick and is freed all at once.
 *
 * A stack of bytes in a few large blocks. Pushes are aligned to 64 bytes and cost an addition.
 * arena_reserve(n) promises that the next pushes, each counted as its size rounded up to 64, will
 * succeed without a heap call if they sum to at most n. A tick allocates here, in its prepare
 * phase, and nowhere else. A push beyond what is reserved adds a block, which is counted in
 * `growths` (a steady tick has none); it returns NULL only when the heap is exhausted. Reserving in
 * an empty arena that had to grow joins its blocks into one.
 */
#ifndef CAIRN_BASE_ARENA_H
#define CAIRN_BASE_ARENA_H

#include "server/base/status.h"

struct arena_block; /* private */

struct arena {
	struct arena_block *first, *current; /* owned list; `current` is where pushes go */
	size_t used;			     /* bytes used in `current` */
	size_t used_before;		     /* bytes used in the blocks before it */
	size_t peak;			     /* most bytes ever in use */
	uint64_t growths;		     /* blocks added by pushes that were not reserved for */
};

struct arena_mark {
	struct arena_block *block;
	size_t used, used_before;
};

/* Reserves `bytes` at once (may be 0). STATUS_NO_MEMORY leaves a valid, empty arena. */
MUST_CHECK enum status arena_init(struct arena *self, size_t bytes);
/* Frees all blocks; the arena is as after init with 0 bytes. */
void arena_release(struct arena *self);
MUST_CHECK enum status arena_reserve(struct arena *self, size_t bytes);
/* Borrowed until the arena is rewound past it; contents undefined. 0 bytes is valid. */
MUST_CHECK void *arena_push(struct arena *self, size_t bytes);
/* Same, zero-filled. */
MUST_CHECK void *arena_push_zero(struct arena *self, size_t bytes);
/* `count` items of `item_bytes`; NULL also when the product overflows. */
MUST_CHECK void *arena_push_array(struct arena *self, size_t count, size_t item_bytes);

struct arena_mark arena_mark(const struct arena *self);
/* Drops everything pushed since `mark`; the memory stays reserved. */
void arena_rewind(struct arena *self, struct arena_mark mark);
/* Drops everything; the memory stays reserved. */
void arena_reset(struct arena *self);
/* Bytes in use now, including rounding. */
size_t arena_used(const struct arena *self);

#define ARENA_ARRAY(arena, type, count) ((type *)arena_push_array((arena), (count), sizeof(type)))

#endif
