/* heap.c: malloc, counted. Counters are relaxed atomics, because no other memory access is
 * ordered by them. */
#include "server/base/heap.h"

#include <stdatomic.h>
#include <stdlib.h>

static _Thread_local uint64_t calls_here;
static atomic_uint_fast64_t calls_everywhere;
static atomic_int_fast64_t live;
static atomic_int_fast64_t fail_in; /* calls until the one that fails; 0 = never */

/* Counts one allocating call; false: this is the one that must fail. */
static bool heap_admit(void)
{
	calls_here++;
	atomic_fetch_add_explicit(&calls_everywhere, 1, memory_order_relaxed);
	if (atomic_load_explicit(&fail_in, memory_order_relaxed) <= 0)
		return true;
	return atomic_fetch_sub_explicit(&fail_in, 1, memory_order_relaxed) != 1;
}

static void *heap_count(void *block)
{
	VALIDATE((uintptr_t)block % 16 == 0);
	if (block != NULL)
		atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
	return block;
}

void *heap_alloc(size_t bytes)
{
	if (!heap_admit())
		return NULL;
	return heap_count(malloc(bytes > 0 ? bytes : 1));
}

void *heap_alloc_zero(size_t bytes)
{
	if (!heap_admit())
		return NULL;
	return heap_count(calloc(1, bytes > 0 ? bytes : 1));
}

void *heap_alloc_aligned(size_t bytes)
{
	if (!heap_admit())
		return NULL;
	if (bytes > SIZE_MAX - HEAP_LINE_BYTES)
		return NULL;
	size_t lines = bytes / HEAP_LINE_BYTES + (bytes % HEAP_LINE_BYTES != 0 || bytes == 0);
	ASSERT(lines > 0 && lines <= SIZE_MAX / HEAP_LINE_BYTES);
	return heap_count(aligned_alloc(HEAP_LINE_BYTES, lines * HEAP_LINE_BYTES));
}

void *heap_realloc(void *block, size_t bytes)
{
	if (!heap_admit())
		return NULL;
	if (block == NULL)
		return heap_count(malloc(bytes > 0 ? bytes : 1));
	return realloc(block, bytes > 0 ? bytes : 1);
}

void heap_free(void *block)
{
	if (block == NULL)
		return;
	int_fast64_t before = atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
	ASSERT(before > 0);
	free(block);
}

uint64_t heap_calls(void)
{
	return calls_here;
}

uint64_t heap_calls_total(void)
{
	return atomic_load_explicit(&calls_everywhere, memory_order_relaxed);
}

int64_t heap_live(void)
{
	return atomic_load_explicit(&live, memory_order_relaxed);
}

void heap_fail_at(uint64_t n)
{
	atomic_store_explicit(&fail_in, (int_fast64_t)n, memory_order_relaxed);
}

bool heap_fail_pending(void)
{
	return atomic_load_explicit(&fail_in, memory_order_relaxed) > 0;
}
