/* heap.h: the only door to malloc.
 *
 * Every call that may allocate is counted, so that a test can say "a steady tick makes none", and
 * any one of them can be made to fail, so that a test can walk through every out-of-memory path.
 * NULL means out of memory; nothing is printed and nothing is ended. Memory is aligned to 16 bytes
 * unless the name says otherwise. Asking for 0 bytes gives a valid, unique pointer.
 */
#ifndef CAIRN_BASE_HEAP_H
#define CAIRN_BASE_HEAP_H

#include "server/base/base.h"

enum { HEAP_LINE_BYTES = 64 }; /* a cache line; the alignment of heap_alloc_aligned and of arenas */

/* Returned owned; to be given to heap_free. Contents are undefined. */
MUST_CHECK void *heap_alloc(size_t bytes);
/* Returned owned, filled with zero bytes. */
MUST_CHECK void *heap_alloc_zero(size_t bytes);
/* Returned owned, aligned to HEAP_LINE_BYTES; may not be given to heap_realloc. */
MUST_CHECK void *heap_alloc_aligned(size_t bytes);
/* `block` is taken on success (may be NULL: allocates); on NULL it still belongs to the caller. */
MUST_CHECK void *heap_realloc(void *block, size_t bytes);
/* `block` is taken; NULL is ignored. */
void heap_free(void *block);

/* Allocating calls (alloc, alloc_zero, alloc_aligned, realloc) made so far by this
 * thread, and by all threads. */
uint64_t heap_calls(void);
uint64_t heap_calls_total(void);
/* Blocks alive in the whole process. */
int64_t heap_live(void);

/* Test door: the n-th allocating call from now on, of any thread, returns NULL (1: the very next);
 * 0 switches it off. It fails once. heap_fail_pending tells whether it is still to come. */
void heap_fail_at(uint64_t n);
bool heap_fail_pending(void);

#endif
