/* no_order.c: stands in for AMD where its library is not: rows as they come. Nothing golden orders.
 */
#include "server/engine/linalg/order_amd.h"

enum status order_amd(uint32_t count, const uint32_t *start, const uint32_t *column,
		      uint32_t *order)
{
	UNUSED(start);
	UNUSED(column);
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	return STATUS_OK;
}
