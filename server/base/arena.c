/* arena.c: a list of blocks, of which one is being filled.
 *
 * Invariants: (1) `first` is NULL exactly when `current` is; (2) blocks after `current` are empty
 * and kept for later; (3) used ≤ current->bytes, and both are multiples of 64. The rest of a block
 * that is too small for a push stays unused until the arena is rewound before it. Therefore a
 * reservation gets one block that holds all of it.
 */
#include "server/base/arena.h"

#include "server/base/heap.h"

#include <string.h>

struct arena_block {
	struct arena_block *next;
	size_t bytes; /* room after this header */
	uint8_t padding[HEAP_LINE_BYTES - sizeof(void *) - sizeof(size_t)];
};

_Static_assert(sizeof(struct arena_block) == HEAP_LINE_BYTES, "items start on a line");

enum { ARENA_BLOCK_MIN = 16 * 1024 };

/* Rounds up to whole lines; 0 stays 0. SIZE_MAX when there is no such number. */
static size_t arena_round(size_t bytes)
{
	if (bytes > SIZE_MAX - 2 * HEAP_LINE_BYTES)
		return SIZE_MAX;
	return (bytes + HEAP_LINE_BYTES - 1) / HEAP_LINE_BYTES * HEAP_LINE_BYTES;
}

/* A new block of at least `bytes` (rounded), linked after `current`. */
static struct arena_block *arena_add(struct arena *self, size_t bytes)
{
	VALIDATE(bytes % HEAP_LINE_BYTES == 0);
	if (bytes > SIZE_MAX - sizeof(struct arena_block))
		return NULL;
	struct arena_block *block = heap_alloc_aligned(sizeof *block + bytes);
	if (block == NULL)
		return NULL;
	block->bytes = bytes;
	if (self->current == NULL) {
		block->next = NULL;
		self->first = self->current = block;
	} else {
		block->next = self->current->next;
		self->current->next = block;
	}
	return block;
}

/* Makes `block`, somewhere after `current`, the one that is filled. */
static void arena_move_to(struct arena *self, struct arena_block *block)
{
	if (block == self->current)
		return;
	VALIDATE(self->used <= self->current->bytes);
	self->used_before += self->used;
	self->current = block;
	self->used = 0;
}

/* The first block from `current` on with room for `bytes`; NULL when none has. */
static struct arena_block *arena_roomy(const struct arena *self, size_t bytes)
{
	if (self->current == NULL)
		return NULL;
	VALIDATE(self->used <= self->current->bytes);
	if (self->current->bytes - self->used >= bytes)
		return self->current;
	for (struct arena_block *block = self->current->next; block != NULL; block = block->next)
		if (block->bytes >= bytes)
			return block;
	return NULL;
}

/* Bytes of all blocks. */
static size_t arena_room(const struct arena *self)
{
	size_t bytes = 0;
	for (struct arena_block *block = self->first; block != NULL; block = block->next)
		bytes += block->bytes;
	return bytes;
}

static void arena_free_blocks(struct arena_block *block)
{
	while (block != NULL) {
		struct arena_block *next = block->next;
		heap_free(block);
		block = next;
	}
}

enum status arena_init(struct arena *self, size_t bytes)
{
	*self = (struct arena){ 0 };
	return arena_reserve(self, bytes);
}

void arena_release(struct arena *self)
{
	arena_free_blocks(self->first);
	*self = (struct arena){ 0 };
}

/* A quarter more than what an empty arena lacks room for: what is reserved for each tick grows a little in
 * many of them while bodies fall, and each new block is memory that is touched for the first time. */
static size_t with_headroom(size_t bytes)
{
	return bytes > SIZE_MAX / 2 ? bytes : arena_round(bytes + bytes / 4);
}

/* The blocks of an empty arena are replaced by a single one, as large as all of them and at least `bytes`. */
static enum status arena_join(struct arena *self, size_t bytes)
{
	VALIDATE(arena_used(self) == 0);
	size_t room = MAX_OF(bytes, arena_room(self));
	struct arena_block *old = self->first;
	struct arena fresh = { .peak = self->peak, .growths = self->growths };
	if (arena_add(&fresh, room) == NULL)
		return STATUS_NO_MEMORY;
	arena_free_blocks(old);
	*self = fresh;
	return STATUS_OK;
}

enum status arena_reserve(struct arena *self, size_t bytes)
{
	bytes = arena_round(bytes);
	if (bytes == 0)
		return STATUS_OK;
	if (bytes == SIZE_MAX)
		return STATUS_NO_MEMORY;
	struct arena_block *block = arena_roomy(self, bytes);
	bool empty = arena_used(self) == 0;
	size_t room = block == NULL && empty ? with_headroom(bytes) : bytes;
	if (empty && self->first != NULL && (block == NULL || self->first->next != NULL))
		return arena_join(self, room);
	if (block == NULL)
		block = arena_add(self, MAX_OF(room, (size_t)ARENA_BLOCK_MIN));
	if (block == NULL)
		return STATUS_NO_MEMORY;
	arena_move_to(self, block);
	ASSERT(self->current->bytes - self->used >= bytes);
	return STATUS_OK;
}

void *arena_push(struct arena *self, size_t bytes)
{
	bytes = arena_round(bytes);
	if (bytes == SIZE_MAX)
		return NULL;
	struct arena_block *block = arena_roomy(self, bytes);
	if (block == NULL) {
		/* Doubles the arena, so that growth is rare. */
		size_t room = arena_room(self);
		block = arena_add(self, MAX_OF(MAX_OF(bytes, room), (size_t)ARENA_BLOCK_MIN));
		if (block == NULL)
			return NULL;
		self->growths++;
	}
	arena_move_to(self, block);
	ASSERT(bytes <= block->bytes - self->used);
	uint8_t *at = (uint8_t *)(block + 1) + self->used;
	self->used += bytes;
	self->peak = MAX_OF(self->peak, arena_used(self));
	return at;
}

void *arena_push_zero(struct arena *self, size_t bytes)
{
	void *at = arena_push(self, bytes);
	if (at != NULL)
		memset(at, 0, bytes);
	return at;
}

void *arena_push_array(struct arena *self, size_t count, size_t item_bytes)
{
	if (item_bytes > 0 && count > SIZE_MAX / item_bytes)
		return NULL;
	return arena_push(self, count * item_bytes);
}

struct arena_mark arena_mark(const struct arena *self)
{
	VALIDATE(self->used % HEAP_LINE_BYTES == 0);
	return (struct arena_mark){ self->current, self->used, self->used_before };
}

void arena_rewind(struct arena *self, struct arena_mark mark)
{
	/* A mark of the empty arena names no block, because a later reservation may have joined
	 * the blocks. */
	if (mark.used_before + mark.used == 0) {
		arena_reset(self);
		return;
	}
	ASSERT(mark.used_before + mark.used <= arena_used(self));
	ASSERT(mark.used <= mark.block->bytes);
	self->current = mark.block;
	self->used = mark.used;
	self->used_before = mark.used_before;
}

void arena_reset(struct arena *self)
{
	self->current = self->first;
	self->used = self->used_before = 0;
}

size_t arena_used(const struct arena *self)
{
	return self->used_before + self->used;
}
