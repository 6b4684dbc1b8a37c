/* prefetch.h: loads memory into the cache before it is read.
 *
 * A hint to the processor: any address is valid, and the program's state does not change. It saves
 * time where many objects far apart in memory are visited once each, in an order that is known
 * beforehand.
 */
#ifndef CAIRN_BASE_PREFETCH_H
#define CAIRN_BASE_PREFETCH_H

#include <stddef.h>
#include <stdint.h>

enum { PREFETCH_LINE = 64 };

static inline void prefetch(const void *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i += PREFETCH_LINE)
		__builtin_prefetch((const void *)((uintptr_t)at + i));
}

#endif
