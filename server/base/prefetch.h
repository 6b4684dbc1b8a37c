/* prefetch.h: asks for memory that is looked at soon, so that it is there by then.
 *
 * A hint: the address may be anything, nothing is read that a program could see. Worth it where many
 * things that lie far apart are visited once each, in an order that is known beforehand.
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
