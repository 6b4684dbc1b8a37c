/* no_order.c: replaces AMD if its library is missing: rows in the given order. No golden hash
 * depends on an elimination order. */
#include "server/engine/linalg/order_amd.h"

size_t order_amd_words(uint32_t count, uint32_t entries)
{
	UNUSED(count);
	UNUSED(entries);
	return 0;
}

void order_amd(uint32_t count, const uint32_t *start, const uint32_t *column, uint32_t *order,
	       uint32_t *work)
{
	UNUSED(start);
	UNUSED(column);
	UNUSED(work);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
}
