/* array.h: growing typed arrays over the heap.
 *
 *   struct { struct thing *items; uint32_t count, capacity; } things = { 0 };
 *   status = ARRAY_RESERVE(&things, things.count + 1);    // may move items; OK or NO_MEMORY
 *   things.items[things.count++] = thing;
 *   ARRAY_RELEASE(&things);
 *
 * Any struct with members `items`, `count` and `capacity` (both uint32_t) is an array.
 */
#ifndef CAIRN_BASE_ARRAY_H
#define CAIRN_BASE_ARRAY_H

#include "server/base/heap.h"
#include "server/base/status.h"

#include <string.h>

#define ARRAY_OF(type)                                                                             \
	struct {                                                                                   \
		type *items;                                                                       \
		uint32_t count, capacity;                                                          \
	}

/* Grows the capacity to `wanted` items in all, at least doubling it. On failure nothing changes. */
MUST_CHECK static inline enum status array_reserve(void *items_address, uint32_t *capacity,
						   uint64_t wanted, size_t item_bytes)
{
	ASSERT(item_bytes > 0);
	if (wanted <= *capacity)
		return STATUS_OK;
	if (wanted > UINT32_MAX)
		return STATUS_NO_MEMORY;
	uint64_t room = MAX_OF(wanted, MIN_OF((uint64_t)*capacity * 2, (uint64_t)UINT32_MAX));
	room = MAX_OF(room, 8u);
	if (room > SIZE_MAX / item_bytes)
		return STATUS_NO_MEMORY;
	void *items;
	memcpy(&items, items_address, sizeof items);
	items = heap_realloc(items, (size_t)room * item_bytes);
	if (items == NULL)
		return STATUS_NO_MEMORY;
	memcpy(items_address, &items, sizeof items);
	*capacity = (uint32_t)room;
	return STATUS_OK;
}

#define ARRAY_RESERVE(array, wanted)                                                               \
	array_reserve(&(array)->items, &(array)->capacity, (wanted), sizeof *(array)->items)

#define ARRAY_RELEASE(array)                                                                       \
	do {                                                                                       \
		heap_free((array)->items);                                                         \
		(array)->items = NULL;                                                             \
		(array)->count = (array)->capacity = 0;                                            \
	} while (0)

#endif
