/* heap.h: the only calls of malloc.
 *
 * Every call that may allocate is counted, so that a test can check that a steady tick makes none.
 * Any one call can be made to fail, so that a test can run every out-of-memory path. NULL means out
 * of memory; nothing is printed and the process continues. Memory is aligned to 16 bytes unless the
 * name says otherwise. A request for 0 bytes returns a valid, unique pointer.
 */
#ifndef CAIRN_BASE_HEAP_H
#define CAIRN_BASE_HEAP_H

#include "server/base/base.h"

enum { HEAP_LINE_BYTES = 64 }; /* a cache line; the alignment of heap_alloc_aligned and of arenas */

/* Returned owned, for heap_free. Contents are undefined. */
MUST_CHECK void *heap_alloc(size_t bytes);
/* Returned owned, filled with zero bytes. */
MUST_CHECK void *heap_alloc_zero(size_t bytes);
/* Returned owned, aligned to HEAP_LINE_BYTES; not for heap_realloc. */
MUST_CHECK void *heap_alloc_aligned(size_t bytes);
/* `block` is taken on success (may be NULL: allocates); on NULL it still belongs to the caller. */
MUST_CHECK void *heap_realloc(void *block, size_t bytes);
/* `block` is taken; NULL is ignored. */
void heap_free(void *block);

/* Allocating calls (alloc, alloc_zero, alloc_aligned, realloc) made so far by this
 * thread, and by all threads. */
uint64_t heap_calls(void);
uint64_t heap_calls_total(void);
/* Blocks not yet freed in the whole process. */
int64_t heap_live(void);

/* For tests: the n-th allocating call from now on, of any thread, returns NULL (1: the next one).
 * One call fails; 0 cancels. heap_fail_pending: that call has not been made yet. */
void heap_fail_at(uint64_t n);
bool heap_fail_pending(void);

#endif
